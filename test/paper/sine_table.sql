-- The sine waves beside the paper's table, and the error over 200 gradient steps, from the networks that sine.sql has
-- left in the same database.  Leaves sine_adapted behind, the mean squared error on the held-out points after each of
-- some numbers of steps, for sine_figures.sql.
\ir common.sql
SET client_min_messages = error;

CREATE TABLE sine_adapted AS
WITH adapted AS MATERIALIZED (
	SELECT shots, weights, trial, step, phase, wml_adapt(model, x, y, 0.02, step) AS model
	FROM sine_network, unnest('{0,1,2,3,4,5,6,7,8,9,10,12,15,20,25,30,40,50,60,80,100,125,150,200}'::int[]) AS step
)
SELECT shots, weights, trial, step, avg((wml_predict(model, ARRAY[heldout.x]) - 6 * sin(heldout.x + phase)) ^ 2) AS mse
FROM adapted, sine_heldout AS heldout GROUP BY shots, weights, trial, step;

CREATE TEMP TABLE label (rank, weights, label, starts, ends) AS VALUES
	(1, 'uniform', 'uniform: MAML', ARRAY['3.90 ± 0.85', '3.57 ± 0.66', '4.11 ± 0.94'], ARRAY['4.24 ± 1.00', '1.90 ± 0.26', '2.06 ± 0.39']),
	(2, 'mixture', 'mixture: α-MAML', ARRAY['3.21 ± 1.12', '2.93 ± 0.75', '3.05 ± 1.09'], ARRAY['2.65 ± 1.34', '1.68 ± 0.77', '1.67 ± 0.75']),
	(3, 'closest', 'closest: threshold', ARRAY['2.83 ± 1.04', '3.17 ± 1.05', '3.26 ± 1.08'], ARRAY['2.35 ± 1.75', '2.01 ± 0.83', '2.01 ± 0.88']),
	(4, 'bound', 'bound', NULL, NULL);

SELECT count(DISTINCT trial) AS trials, count(DISTINCT trial) || ' trials' AS all_trials FROM sine_network \gset
\set title 'RMSE on 1000 held-out points, mean and standard deviation over 4 trials, as in the paper, and over ' :trials ':'
\pset title :title
SELECT shots, label AS weights, start AS "start: paper", pg_temp.mean_and_spread(array_agg(before) FILTER (WHERE trial <= 4)) AS "4 trials",
	pg_temp.mean_and_spread(array_agg(before)) AS :"all_trials",
	adapted AS "after 10 steps: paper", pg_temp.mean_and_spread(array_agg(after) FILTER (WHERE trial <= 4)) AS "4 trials",
	pg_temp.mean_and_spread(array_agg(after)) AS :"all_trials"
FROM label, unnest(ARRAY[5, 10, 20], starts, ends) AS p (shots, start, adapted) JOIN sine_network USING (shots)
WHERE sine_network.weights = label.weights
GROUP BY rank, shots, label, start, adapted ORDER BY shots, rank
\g (format=aligned border=2) :out/sine.table

\set title 'Mean squared error on the held-out points after L gradient steps, median over ' :trials ' trials; and in how many of these it is below that of MAML:'
\pset title :title
WITH compared AS (
	SELECT ours.*, ours.mse < maml.mse AS below
	FROM sine_adapted AS ours JOIN sine_adapted AS maml USING (shots, trial, step) WHERE maml.weights = 'uniform'
)
SELECT shots, label AS weights, string_agg(CASE step WHEN 0 THEN mse || below END, '') AS "L = 0",
	string_agg(CASE step WHEN 3 THEN mse || below END, '') AS "3",
	string_agg(CASE step WHEN 10 THEN mse || below END, '') AS "10",
	string_agg(CASE step WHEN 30 THEN mse || below END, '') AS "30",
	string_agg(CASE step WHEN 100 THEN mse || below END, '') AS "100",
	string_agg(CASE step WHEN 200 THEN mse || below END, '') AS "200"
FROM (
	SELECT shots, weights, step, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY mse)::numeric, 2) AS mse,
		CASE WHEN weights <> 'uniform' THEN format(' (%s)', count(*) FILTER (WHERE below)) ELSE '' END AS below
	FROM compared GROUP BY shots, weights, step
) AS medians JOIN label USING (weights)
GROUP BY rank, shots, label ORDER BY shots, rank
\g (format=aligned border=2) :out/sine_steps.table
