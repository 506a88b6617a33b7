-- Straight lines, as section 5.1 of the paper sets them up: nine sources, and a target with 20 rows.
--
-- Task j has rows x ~ N(mu_j, 1), y = 2 mu_j x + noise N(0, 1), with mu_j uniform on (-5, 5); the numbers of rows are
-- multinomial with a parameter uniform on the simplex.  The paper does not print their sum, nor whether the model has a
-- constant: here it is 450, and there are both models.  Every source has at least two rows.
--
-- Variables: trials (200), the number of draws, each with tasks of its own.
\ir common.sql
\if :{?trials} \else \set trials 200 \endif
\set draws :trials

-- Task 0 is the target.  Exponential numbers divided by their sum are uniform on the simplex; a row goes to the source
-- on whose part of (0, 1) a uniform number falls.
CREATE TEMP TABLE line AS
SELECT draw, task, 10 * pg_temp.uniform('mu', draw::text, task::text) - 5 AS mu,
	CASE WHEN task > 0 THEN -ln(pg_temp.uniform('share', draw::text, task::text)) END AS share
FROM generate_series(1, :draws) AS draw, generate_series(0, 9) AS task;

CREATE TEMP TABLE size AS
WITH part AS (
	SELECT draw, array_agg(ends ORDER BY task) AS ends
	FROM (SELECT draw, task, sum(share) OVER (PARTITION BY draw ORDER BY task) / sum(share) OVER (PARTITION BY draw) AS ends
		  FROM line WHERE task > 0) AS p GROUP BY draw
), dealt AS (
	SELECT draw, least(width_bucket(pg_temp.uniform('row', draw::text, i::text), ends) + 1, 9) AS task FROM part, generate_series(1, 450) AS i
)
SELECT draw, task, greatest(2, count(dealt.task)) AS n
FROM (SELECT draw, task FROM line WHERE task > 0) AS l LEFT JOIN dealt USING (draw, task) GROUP BY draw, task
UNION ALL
SELECT draw, 0, 20 FROM generate_series(1, :draws) AS draw;

CREATE TEMP TABLE point AS
SELECT draw, task, x, 2 * mu * x + pg_temp.normal('y', draw::text, task::text, i::text) AS y
FROM line JOIN size USING (draw, task), generate_series(1, n) AS i,
	LATERAL (SELECT mu + pg_temp.normal('x', draw::text, task::text, i::text)) AS place (x);

CREATE TEMP TABLE reading (reading) AS VALUES ('x alone'), ('with a constant');

CREATE TEMP TABLE task AS
SELECT draw, reading, task, wml_gram(CASE reading WHEN 'x alone' THEN ARRAY[x] ELSE ARRAY[1, x] END, y) AS gram
FROM point, reading GROUP BY draw, reading, task;

-- Rows to judge by, of the target's own distribution and without noise: what is left is the error of the line
CREATE TEMP TABLE target AS
SELECT draw, reading, gram AS known, truth
FROM (SELECT draw, reading, gram FROM task WHERE task = 0) AS k
JOIN (SELECT draw, reading, wml_gram(CASE reading WHEN 'x alone' THEN ARRAY[x] ELSE ARRAY[1, x] END, 2 * mu * x) AS truth
	  FROM line, reading, generate_series(1, 100) AS i, LATERAL (SELECT mu + pg_temp.normal('test', draw::text, i::text)) AS place (x)
	  WHERE task = 0 GROUP BY draw, reading) AS t USING (draw, reading);

CREATE TEMP TABLE weighted AS
SELECT draw, reading, task, gram, wml_alpha(gram, known) OVER w AS alpha, wml_alpha(gram, known, 'closest') OVER w AS closest
FROM task JOIN target USING (draw, reading) WHERE task > 0
WINDOW w AS (PARTITION BY draw, reading);

-- eta = 0.0001 as the paper prints it
CREATE TEMP TABLE model AS
SELECT draw, reading, method, coef
FROM (SELECT draw, reading, wml_erm(gram, 1) AS erm, wml_maml(gram, 1, wml_step(eta => 0.0001)) AS maml,
		wml_erm(gram, alpha) AS alpha_erm, wml_maml(gram, alpha, wml_step(eta => 0.0001)) AS alpha_maml,
		wml_erm(gram, closest) AS closest_erm, wml_maml(gram, closest, wml_step(eta => 0.0001)) AS closest_maml
	  FROM weighted GROUP BY draw, reading) AS learned
JOIN (SELECT draw, reading, wml_coef(known) AS alone FROM target) AS own USING (draw, reading),
LATERAL (VALUES ('target', alone), ('erm', erm), ('maml', maml), ('alpha erm', alpha_erm), ('alpha maml', alpha_maml),
	('closest erm', closest_erm), ('closest maml', closest_maml)) AS m (method, coef);

CREATE TEMP TABLE error AS
SELECT draw, reading, method, wml_rmse(truth, coef) AS rmse FROM model JOIN target USING (draw, reading);

\set title 'RMSE against the true line over ' :draws ' draws, and how often it is below that of joint training and of the closest source:'
\pset title :title
SELECT label AS "learn from",
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY e.rmse) FILTER (WHERE reading = 'x alone')::numeric, 2) AS "x alone: median",
	round(avg(e.rmse) FILTER (WHERE reading = 'x alone')::numeric, 2) AS mean,
	round(100 * avg((e.rmse < joint.rmse)::int) FILTER (WHERE reading = 'x alone')) || ' %' AS "below joint",
	round(100 * avg((e.rmse < closest.rmse)::int) FILTER (WHERE reading = 'x alone')) || ' %' AS "below closest",
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY e.rmse) FILTER (WHERE reading = 'with a constant')::numeric, 2) AS "with a constant: median",
	round(avg(e.rmse) FILTER (WHERE reading = 'with a constant')::numeric, 2) AS "mean ",
	round(100 * avg((e.rmse < joint.rmse)::int) FILTER (WHERE reading = 'with a constant')) || ' %' AS "below joint ",
	round(100 * avg((e.rmse < closest.rmse)::int) FILTER (WHERE reading = 'with a constant')) || ' %' AS "below closest "
FROM (VALUES (1, 'maml', 'all tasks alike: MAML'), (2, 'erm', 'all tasks alike: joint training'), (3, 'alpha maml', 'weights: α-MAML'),
	(4, 'alpha erm', 'weights: α-ERM'), (5, 'closest maml', 'the closest source: α-MAML*'), (6, 'closest erm', 'the closest source: α-ERM*'),
	(7, 'target', 'the 20 rows alone')) AS list (rank, method, label)
JOIN error AS e USING (method)
JOIN (SELECT draw, reading, rmse FROM error WHERE method = 'erm') AS joint USING (draw, reading)
JOIN (SELECT draw, reading, rmse FROM error WHERE method = 'closest erm') AS closest USING (draw, reading)
GROUP BY rank, label ORDER BY rank
\g (format=aligned border=2) :out/linear.table

-- The figure shows the first draw, with a constant
SELECT task, x, y FROM point WHERE draw = 1 AND task > 0
\g :out/linear_sources.csv
SELECT x, y FROM point WHERE draw = 1 AND task = 0
\g :out/linear_points.csv
SELECT x, max(y) FILTER (WHERE method = 'erm') AS erm, max(y) FILTER (WHERE method = 'maml') AS maml,
	max(y) FILTER (WHERE method = 'alpha erm') AS alpha_erm, max(y) FILTER (WHERE method = 'alpha maml') AS alpha_maml,
	max(y) FILTER (WHERE method = 'closest erm') AS closest_erm, max(y) FILTER (WHERE method = 'closest maml') AS closest_maml
FROM model, unnest(ARRAY[-7, 7]) AS x, wml_predict(coef, ARRAY[1, x]) AS y WHERE draw = 1 AND reading = 'with a constant' GROUP BY x ORDER BY x
\g :out/linear_lines.csv
SELECT task, mu, 1 / 9.0 AS uniform, alpha, closest FROM weighted JOIN line USING (draw, task) WHERE draw = 1 AND reading = 'with a constant' ORDER BY task
\g :out/linear_weights.csv
