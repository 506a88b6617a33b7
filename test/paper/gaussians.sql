-- Nine Gaussian tasks in the plane, and a target between them: what do both rules of weighting make of it?
\ir common.sql

-- Centres on a grid, and a standard deviation of 1 in both directions
CREATE TEMP TABLE centre AS
SELECT 'source ' || row_number() OVER (ORDER BY b DESC, a) AS task, a, b, 200 AS n
FROM generate_series(-2, 2, 2) AS a, generate_series(-2, 2, 2) AS b
UNION ALL
SELECT 'target', 1.1, 0.7, 30;

CREATE TEMP TABLE point AS
SELECT task, a + pg_temp.normal(task, 'a', i::text) AS a, b + pg_temp.normal(task, 'b', i::text) AS b
FROM centre, generate_series(1, n) AS i;

-- The models predict b from a constant and a
CREATE TEMP TABLE task AS
SELECT task, wml_gram(ARRAY[1, a], b) AS gram FROM point GROUP BY task;

CREATE TEMP TABLE weighted AS
SELECT s.task, s.gram <-> t.gram AS distance,
	wml_alpha(s.gram, t.gram) OVER () AS mixture,
	wml_alpha(s.gram, t.gram, 'closest') OVER () AS closest
FROM task AS s, task AS t WHERE s.task <> 'target' AND t.task = 'target';

\pset title 'Distances and weights of the nine sources:'
SELECT substr(task, 8)::int AS source, format('(%s, %s)', a, b) AS centre, round(distance::numeric, 2) AS "distance from the target",
	round(mixture::numeric, 3) AS "weight: mixture", round(closest::numeric, 3) AS "weight: closest"
FROM weighted JOIN centre USING (task) ORDER BY distance
\g (format=aligned border=2) :out/gaussians.table

SELECT substr(task, 8)::int AS source, mixture, closest FROM weighted ORDER BY source
\g :out/gaussians.csv
-- Of each source 40 points, enough to see where it lies
SELECT round(a::numeric, 3) AS a, round(b::numeric, 3) AS b, mixture, closest
FROM (SELECT *, row_number() OVER (PARTITION BY task) AS i FROM point) AS p JOIN weighted USING (task)
WHERE i <= 40 ORDER BY task, i
\g :out/gaussians_sources.csv
SELECT a, b FROM point WHERE task = 'target'
\g :out/gaussians_target.csv
