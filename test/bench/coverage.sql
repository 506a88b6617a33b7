-- Coverage in one set of tasks; see coverage.
\getenv simulation simulation
\getenv here here
SELECT :simulation > 0 AS simulated \gset
\if :simulated
\i :here/simulate.sql
\else
ALTER TABLE example ADD centre float8, ADD sd float8;
\endif
CREATE FUNCTION pg_temp.normal_cdf(z float8) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ -- to 1e-7 (Abramowitz, Stegun 1964, 26.2.17)
	SELECT CASE WHEN z < 0 THEN tail ELSE 1 - tail END FROM (SELECT 1 / (1 + 0.2316419 * abs(z)) AS t) AS a,
	LATERAL (SELECT exp(-(least(abs(z), 30) ^ 2) / 2) / sqrt(2 * pi()) * t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))) AS tail) AS b $$;
-- The share of tasks whose coverage p is within 5 points of 90 %, if it has a beta distribution of this mean and variance.  The density may be infinite
-- at 1; hence t, a power of 1 - p.
CREATE FUNCTION pg_temp.near(mean float8, variance float8) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN variance < 1e-5 OR mean >= 1 THEN (abs(mean - 0.9) <= 0.05)::int ELSE
	(SELECT sum(density) FILTER (WHERE p BETWEEN 0.85 AND 0.95) / sum(density)
	 FROM (SELECT greatest(mean * (1 - mean) / variance - 1, 0.5) AS size) AS s, LATERAL (SELECT mean * size AS a, (1 - mean) * size AS b) AS shape, generate_series(0.0005, 0.9995, 0.001) AS g, LATERAL (SELECT g::float8 AS t) AS points,
		LATERAL (SELECT 1 - exp(greatest(ln(t) * greatest(1 / b, 1), -600)) AS p) AS at,
		LATERAL (SELECT exp(greatest((a - 1) * ln(p / mean) + CASE WHEN b > 1 THEN (b - 1) * ln((1 - p) / (1 - mean)) ELSE 0 END, -600)) AS density) AS d) END $$;

CREATE TEMP TABLE learned AS
SELECT part, model, wml_prior(gram, (part <> own)::int, wml_prior_options(method => 'reml', evenness => d, noise => noise, tasks => tasks) ORDER BY task) AS prior
FROM (SELECT part AS own, task, cardinality(min(u)) + 1 AS d, wml_gram(1 || u, y) AS gram FROM example GROUP BY part, task) AS source, (SELECT DISTINCT part FROM example) AS part,
	(VALUES ('plain', 'common', 'normal'), ('robust', 'own', 't')) AS m (model, noise, tasks) WHERE model = 'robust' OR NOT :'simulated' GROUP BY part, model;
\if :simulated
INSERT INTO learned SELECT part, 'told', prior FROM (SELECT DISTINCT part FROM example) AS part, truth;
\endif
CREATE TEMP TABLE half AS SELECT id, row_number() OVER (PARTITION BY task ORDER BY md5('half ' || id)) % 2 = 0 AS first FROM example;
CREATE TEMP TABLE noise AS
SELECT task, ntile(5) OVER (ORDER BY wml_rmse(gram, wml_posterior_coef(prior, gram)), task) AS fifth
FROM (SELECT part, task, wml_gram(1 || u, y) AS gram FROM example JOIN half USING (id) WHERE first GROUP BY part, task) AS t JOIN learned USING (part) WHERE model = 'robust';

CREATE TEMP TABLE target AS
SELECT part, task, repeat, known, wml_gram(1 || u, y) FILTER (WHERE place <= known) AS gram
FROM lot JOIN example USING (id, task), unnest('{0,5,10,20}'::int[]) AS known
WHERE size >= known + 3 AND task IN (SELECT task FROM example GROUP BY task ORDER BY md5(task) LIMIT 100) GROUP BY part, task, repeat, known;
CREATE TEMP TABLE hit AS
SELECT model, known, task, level, avg((y BETWEEN lower AND upper)::int) AS covered, count(DISTINCT id) AS size, avg((y BETWEEN lower AND upper)::int) FILTER (WHERE NOT first) AS covered_half,
	avg(pg_temp.normal_cdf((upper - centre) / sd) - pg_temp.normal_cdf((lower - centre) / sd)) AS expected
FROM (SELECT * FROM target JOIN lot USING (task, repeat) JOIN example USING (part, task, id) JOIN half USING (id) JOIN learned USING (part), unnest(CASE WHEN :'simulated' THEN '{0.9}' ELSE '{0.5,0.9,0.95}'::float8[] END) AS level
	  WHERE place BETWEEN known + 1 AND known + 30 ORDER BY model, task, repeat, known, level OFFSET 0) AS row_of, wml_predict_interval(prior, gram, 1 || u, level)
GROUP BY model, known, task, level;
INSERT INTO coverage_result
SELECT :'name', :simulation, model, known, level, tasks, mean, quiet, noisy, variance, low, CASE WHEN level = 0.9 THEN pg_temp.near(mean, variance) END, expected_sd, expected_near
FROM (SELECT model, known, level, count(*) AS tasks, avg(covered) AS mean, avg(covered_half) FILTER (WHERE fifth = 1) AS quiet, avg(covered_half) FILTER (WHERE fifth = 5) AS noisy,
		var_samp(covered) - avg(covered * (1 - covered) / greatest(size - 1, 1)) AS variance, percentile_cont(0.05) WITHIN GROUP (ORDER BY covered) AS low,
		stddev(expected) AS expected_sd, avg((abs(expected - 0.9) <= 0.05)::int) AS expected_near
	  FROM hit JOIN noise USING (task) GROUP BY model, known, level) AS result;
\if :simulated
\q
\endif
SELECT format('%-18s %5s %5s  %s', :'name', max(tasks), known, string_agg(one, '   ' ORDER BY model))
FROM (SELECT known, model, max(tasks) AS tasks, format('%s: %s', model, string_agg(to_char(covered, 'FM0.000') || CASE level WHEN 0.9 THEN format(' [%s %s; %s]', to_char(quiet, 'FM0.00'), to_char(noisy, 'FM0.00'),
	to_char(sqrt(greatest(variance, 0)), 'FM0.00')) ELSE '' END, ' ' ORDER BY level)) AS one FROM coverage_result WHERE set = :'name' AND simulation = 0 GROUP BY known, model) AS line GROUP BY known ORDER BY known;
