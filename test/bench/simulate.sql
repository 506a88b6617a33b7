-- Tasks drawn from a prior in place of a set's own; see coverage.  The prior is the robust one of all tasks.  Of the table example, y is drawn
-- anew, and centre and sd are what it was drawn with.  Draws depend on :simulation and names alone; hence hashes, not random().
CREATE FUNCTION pg_temp.uniform(key text) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT (('x' || substr(md5(key), 1, 8))::bit(32)::bigint + 0.5) / 4294967296 $$;
CREATE FUNCTION pg_temp.normal(key text) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT sqrt(-2 * ln(pg_temp.uniform('radius ' || key))) * cos(2 * pi() * pg_temp.uniform('angle ' || key)) $$;
-- gamma with mean 1 (Marsaglia, Tsang 2000)
CREATE FUNCTION pg_temp.gamma(shape float8, key text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	d float8 := shape - 1 / 3.0 + (shape < 1)::int;
	v float8;
	z float8;
BEGIN
	FOR i IN 1..1000 LOOP
		z := pg_temp.normal('gamma ' || i || ' ' || key);
		v := greatest(1 + z / sqrt(9 * d), 0) ^ 3;
		IF v > 0 AND ln(pg_temp.uniform('accept ' || i || ' ' || key)) < z ^ 2 / 2 + d - d * v + d * ln(v) THEN
			RETURN d * v / shape * CASE WHEN shape < 1 THEN pg_temp.uniform('power ' || key) ^ (1 / shape) ELSE 1 END;
		END IF;
	END LOOP;
	RAISE 'no gamma';
END $$;

CREATE TEMP TABLE truth AS
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', evenness => d, noise => 'own', tasks => 't') ORDER BY task) AS prior
FROM (SELECT task, cardinality(min(u)) + 1 AS d, wml_gram(1 || u, y) AS gram FROM example GROUP BY task) AS source;
-- the text of a prior has the factor of its covariance
CREATE TEMP TABLE factor AS
SELECT i, string_to_array(trim(line), ' ')::float8[] AS line FROM truth, string_to_table(substring(prior::text FROM ' factor=\[([^]]*)'), ';') WITH ORDINALITY AS t (line, i);
CREATE TEMP TABLE drawn AS
SELECT task, sqrt(variance) AS sd, ARRAY(SELECT mean[i] + sqrt((variance / noise) ^ noise_power / weight) * (SELECT sum(l * pg_temp.normal(format('coefficient %s %s', j, key))) FROM unnest(line) WITH ORDINALITY AS e (l, j)) FROM factor ORDER BY i) AS w
FROM (SELECT task, key, noise_power, noise, wml_prior_mean(prior) AS mean, CASE WHEN noise_shape > 0 THEN noise / pg_temp.gamma(noise_shape, 'noise ' || key) ELSE noise END AS variance,
		CASE WHEN spread_degrees > 0 THEN pg_temp.gamma(spread_degrees / 2, 'weight ' || key) ELSE 1 END AS weight
	  FROM (SELECT DISTINCT task, format('%s %s', :simulation, task) AS key FROM example) AS t, truth, wml_prior_info(prior), wml_prior_noise(prior) AS noise) AS scale;
ALTER TABLE example ADD centre float8, ADD sd float8;
UPDATE example SET centre = (SELECT sum(a * b) FROM unnest(1 || u, w) AS e (a, b)), sd = drawn.sd FROM drawn WHERE drawn.task = example.task;
UPDATE example SET y = centre + sd * pg_temp.normal(format('row %s %s', :simulation, id));
-- nothing about it is uncertain
UPDATE truth SET prior = regexp_replace(regexp_replace(prior::text, ' tasks=\S+ effective=\S+ rows=\S+ degrees=\S+', ' tasks=1e9 effective=1e9 rows=1e12 degrees=1e9'), ' mean_factor=.*',
	' mean_factor=[' || (SELECT string_agg(repeat('0 ', cardinality(line)), '; ' ORDER BY i) FROM factor) || ']}')::wml_prior;
