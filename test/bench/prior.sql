-- Plain and robust priors on simulated tasks; see prior.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS wml;
SELECT setseed(0.4) \g /dev/null
CREATE FUNCTION pg_temp.normal() RETURNS float8 LANGUAGE sql VOLATILE
AS $$ SELECT sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;

-- 60 targets and 80 sources of each kind; sources that do not belong have coefficients 15 times as far away
CREATE TEMP TABLE task AS
SELECT kind, task, sd, ARRAY[2 + far * a, 1 + far * 0.8 * b, -1 + far * 0.5 * (a + c), far * 0.7 * d] AS w
FROM (VALUES ('as the model has it'), ('noises differ'), ('10 % do not belong'), ('heavy tails')) AS k (kind), generate_series(1, 140) AS task,
	LATERAL (SELECT pg_temp.normal() AS a, pg_temp.normal() AS b, pg_temp.normal() AS c, pg_temp.normal() AS d,
		CASE WHEN kind = 'noises differ' THEN exp(0.9 * pg_temp.normal()) ELSE 1 END AS sd,
		CASE WHEN kind = '10 % do not belong' AND task > 60 AND random() < 0.1 THEN 15
			WHEN kind = 'heavy tails' THEN 1 / sqrt(-ln(random())) ELSE 1 END AS far
		WHERE task = task AND kind = kind) AS e;
CREATE TEMP TABLE example AS
SELECT kind, task, i, x, wml_predict(w, x) AS truth, wml_predict(w, x) + sd * noise AS y
FROM (SELECT kind, task, i, sd, w, ARRAY[1, a, b, c]::float8[] AS x, noise
	  FROM task, LATERAL (SELECT i, pg_temp.normal() AS a, pg_temp.normal() AS b, pg_temp.normal() AS c, pg_temp.normal() AS noise
						  FROM generate_series(1, 40) AS i WHERE task = task AND kind = kind) AS r) AS q;
CREATE TEMP TABLE learned AS
SELECT kind, model, wml_prior(gram, 1, wml_prior_options(method => 'reml', noise => noise, tasks => tasks)) AS prior
FROM (SELECT kind, task, wml_gram(x, y) AS gram FROM example WHERE task > 60 GROUP BY kind, task) AS source,
	(VALUES ('plain', 'common', 'normal'), ('robust', 'own', 't')) AS m (model, noise, tasks) GROUP BY kind, model;
CREATE TEMP TABLE result AS
SELECT kind, known, model, sqrt(avg((estimate - truth) ^ 2)) AS error, avg((y BETWEEN lower AND upper)::int) AS covered
FROM learned JOIN (SELECT kind, task, known, wml_gram(x, y) AS gram FROM example, unnest('{3,6,12}'::int[]) AS known
				   WHERE task <= 60 AND i <= known GROUP BY kind, task, known) AS target USING (kind)
	JOIN example USING (kind, task), wml_predict_interval(prior, gram, x, 0.9) WHERE i > 12 GROUP BY kind, known, model;
SELECT format('| %s | %s | %s | %s | %s | %s |', p.kind, known, round(p.error::numeric, 2), round(r.error::numeric, 2),
	round(p.covered, 2), round(r.covered, 2))
FROM result AS p JOIN result AS r USING (kind, known) WHERE p.model = 'plain' AND r.model = 'robust'
ORDER BY array_position('{as the model has it,noises differ,10 % do not belong,heavy tails}', p.kind), known;

-- time
CREATE TEMP TABLE many AS
SELECT task, wml_gram(x, y) AS gram
FROM (SELECT task, x, (SELECT sum(v * (1 + 0.3 * sin(task * k))) FROM unnest(x) WITH ORDINALITY AS u (v, k)) + (0.5 + (task % 7) / 7.0) * noise AS y
	  FROM generate_series(1, 3000) AS task, LATERAL (SELECT ARRAY[1, random(), random(), random(), random(), random(), random(), random(), random(), random()]::float8[] AS x,
		pg_temp.normal() AS noise FROM generate_series(1, 15) WHERE task = task) AS r) AS q GROUP BY task;
SELECT clock_timestamp() AS start \gset
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml')) IS NULL FROM many \g /dev/null
SELECT clock_timestamp() AS middle \gset
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', noise => 'own', tasks => 't')) IS NULL FROM many \g /dev/null
SELECT format('3000 tasks of 10 features: plain %s s, robust %s s, %s times as long', round(extract(epoch FROM :'middle'::timestamptz - :'start')::numeric, 2),
	round(extract(epoch FROM clock_timestamp() - :'middle')::numeric, 2),
	round((extract(epoch FROM clock_timestamp() - :'middle') / extract(epoch FROM :'middle'::timestamptz - :'start'))::numeric, 1));
