-- The experiments of test/paper run, on a few splits, and find what the paper finds.
\set ECHO none
\set out results
\set splits 4
\set trials 20

\i test/paper/gaussians.sql
\pset format aligned
\pset title
\set ECHO all

-- The mixture's weights are optimal, and the other rule takes the closest source.
SELECT wml_alpha_gap(array_agg(s.gram), min(t.gram::text)::wml_gram, array_agg(mixture)) < 1e-9 * max(distance) ^ 2 AS optimal,
	max(distance) FILTER (WHERE closest = 1) = min(distance) AS closest, count(*) FILTER (WHERE mixture > 0) AS used
FROM weighted JOIN task AS s USING (task), task AS t WHERE t.task = 'target';

\set ECHO none
\c -
\i test/paper/linear.sql
\pset format aligned
\pset title
\set ECHO all

-- Weighted lines start closer to the truth than unweighted ones.
SELECT count(*) AS trials, count(*) FILTER (WHERE wml_rmse(truth, w.coef) < wml_rmse(truth, u.coef)) >= 18 AS better
FROM target JOIN model AS w USING (draw, reading) JOIN model AS u USING (draw, reading)
WHERE w.method = 'alpha erm' AND u.method = 'erm' AND reading = 'with a constant';

\set ECHO none
\c -
\i test/paper/diabetes.sql
\pset format aligned
\pset title
\set ECHO all

-- The patients of 49 to 52 years learn from those of 39 to 48 and 64 to 79, not from the youngest.
SELECT avg(alpha) FILTER (WHERE task IN ('39-48', '64-79')) * 2 > 0.6 AS mostly, avg(alpha) FILTER (WHERE task = '19-28') < 0.05 AS hardly
FROM weighted WHERE choice = 'mixture';
SELECT count(DISTINCT method) AS methods, count(*) AS errors, bool_and(rmse BETWEEN 30 AND 300) AS plausible FROM error;
DROP TABLE diabetes;
