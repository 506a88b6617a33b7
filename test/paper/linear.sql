-- Straight lines: ten source tasks with 30 rows, and a target with 5.
--
-- Variables: trials (200), each with sources and a target of its own.
\ir common.sql
\if :{?trials} \else \set trials 200 \endif

-- Task 0 is the target, with 5 known rows; y = slope * x + level + noise
CREATE TEMP TABLE line AS
SELECT trial, task, CASE task WHEN 0 THEN 5 ELSE 30 END AS n,
	CASE task WHEN 0 THEN 1.5 ELSE -2.75 + 0.5 * task END AS slope,
	0.5 * pg_temp.normal('level', trial::text, task::text) AS level,
	pg_temp.uniform('middle', trial::text, task::text) - 0.5 AS middle
FROM generate_series(1, :trials) AS trial, generate_series(0, 10) AS task;

CREATE TEMP TABLE point AS
SELECT trial, task, x, slope * x + level + pg_temp.normal('y', trial::text, task::text, i::text) AS y
FROM line, generate_series(1, n) AS i,
	LATERAL (SELECT middle + 4 * pg_temp.uniform('x', trial::text, task::text, i::text) - 2) AS place (x);

CREATE TEMP TABLE source AS
SELECT trial, task, wml_gram(ARRAY[1, x], y) AS gram FROM point WHERE task > 0 GROUP BY trial, task;

-- What is known of the target, and the line itself to judge by
CREATE TEMP TABLE target AS
SELECT trial, known, truth
FROM (SELECT trial, wml_gram(ARRAY[1, x], y) AS known FROM point WHERE task = 0 GROUP BY trial) AS k
JOIN (SELECT trial, wml_gram(ARRAY[1, x], slope * x + level) AS truth
	  FROM line, generate_series(-2, 2, 0.05) AS x WHERE task = 0 GROUP BY trial) AS t USING (trial);

CREATE TEMP TABLE weighted AS
SELECT trial, task, gram, wml_alpha(gram, known) OVER (PARTITION BY trial) AS alpha FROM source JOIN target USING (trial);

CREATE TEMP TABLE model AS
SELECT trial, method, coef
FROM (SELECT trial, wml_erm(gram, 1) AS erm, wml_maml(gram, 1, wml_step(eta => 0.3)) AS maml,
		wml_erm(gram, alpha) AS alpha_erm, wml_maml(gram, alpha, wml_step(eta => 0.3)) AS alpha_maml
	  FROM weighted GROUP BY trial) AS learned
JOIN (SELECT trial, wml_erm(known, 1) AS alone, wml_erm(truth, 1) AS truth FROM target GROUP BY trial) AS own USING (trial),
LATERAL (VALUES ('truth', truth), ('target', alone), ('erm', erm), ('maml', maml), ('alpha erm', alpha_erm),
	('alpha maml', alpha_maml)) AS m (method, coef);

\set title 'RMSE against the true line, mean and standard deviation over ' :trials ' trials:'
\pset title :title
SELECT label AS "learn from", pg_temp.mean_and_spread(array_agg(start)) AS start,
	pg_temp.mean_and_spread(array_agg(adapted)) AS "after 10 steps"
FROM (VALUES (1, 'target', 'the target alone'), (2, 'erm', 'all tasks alike: joint training'), (3, 'maml', 'all tasks alike: MAML'),
	(4, 'alpha erm', 'weights: α-ERM'), (5, 'alpha maml', 'weights: α-MAML')) AS list (rank, method, label)
JOIN (SELECT method, wml_rmse(truth, coef) AS start,
		CASE WHEN method <> 'target' THEN wml_rmse(truth, wml_adapt(known, coef, 0.3, 10)) END AS adapted
	  FROM model JOIN target USING (trial)) AS judged USING (method)
GROUP BY rank, label ORDER BY rank
\g (format=aligned border=2) :out/linear.table

-- The figure shows the first trial
SELECT x, y FROM point WHERE trial = 1 AND task = 0
\g :out/linear_points.csv
SELECT x, max(y) FILTER (WHERE method = 'truth') AS truth, max(y) FILTER (WHERE method = 'target') AS target,
	max(y) FILTER (WHERE method = 'erm') AS erm, max(y) FILTER (WHERE method = 'maml') AS maml,
	max(y) FILTER (WHERE method = 'alpha erm') AS alpha_erm, max(y) FILTER (WHERE method = 'alpha maml') AS alpha_maml
FROM model, unnest(ARRAY[-2.5, 2.5]) AS x, wml_predict(coef, ARRAY[1, x]) AS y WHERE trial = 1 GROUP BY x ORDER BY x
\g :out/linear_lines.csv
SELECT slope, alpha FROM weighted JOIN line USING (trial, task) WHERE trial = 1 ORDER BY task
\g :out/linear_sources.csv
