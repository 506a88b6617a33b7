-- The sine waves beside the paper's table, from the networks that sine.sql has left in the same database
\ir common.sql

SELECT count(DISTINCT trial) AS trials, max(iteration) AS iterations FROM sine_network, wml_mlp_history(model) \gset
\set title 'RMSE over the whole wave, mean and standard deviation over ' :trials ' trials of ' :iterations ' iterations, and in how many of the trials it is lower than that of MAML:'
\pset title :title
WITH paper AS (
	SELECT rank, weights, label, shots, start, adapted
	FROM (VALUES
		(1, 'uniform', 'uniform: MAML', ARRAY[3.90, 3.57, 4.11], ARRAY[4.24, 1.90, 2.06]),
		(2, 'mixture', 'mixture: α-MAML', ARRAY[3.21, 2.93, 3.05], ARRAY[2.65, 1.68, 1.67]),
		(3, 'closest', 'closest', ARRAY[2.83, 3.17, 3.26], ARRAY[2.35, 2.01, 2.01]),
		(4, 'bound', 'bound', NULL, NULL)) AS printed (rank, weights, label, starts, ends),
		unnest(ARRAY[5, 10, 20], starts, ends) AS p (shots, start, adapted)
)
SELECT shots, label AS weights, start AS "paper: start", pg_temp.mean_and_spread(array_agg(ours.before)) AS "ours: start",
	adapted AS "paper: after 10 steps", pg_temp.mean_and_spread(array_agg(ours.after)) AS "ours: after 10 steps",
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ours.after)::numeric, 2) AS "ours, median",
	CASE WHEN ours.weights <> 'uniform' THEN count(*) FILTER (WHERE ours.before < maml.before) END AS "start below MAML",
	CASE WHEN ours.weights <> 'uniform' THEN count(*) FILTER (WHERE ours.after < maml.after) END AS "end below MAML"
FROM paper
JOIN sine_network AS ours USING (shots, weights)
JOIN sine_network AS maml USING (shots, trial)
WHERE maml.weights = 'uniform'
GROUP BY rank, shots, ours.weights, label, start, adapted ORDER BY shots, rank
\g (format=aligned border=2) :out/sine.table
