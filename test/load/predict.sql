-- A prior over all tasks, and what it says of one.
\set task random(1, 20)
SELECT estimate, lower, upper
FROM (SELECT wml_prior(array_agg(gram)) AS prior FROM task) AS p, task AS t, wml_predict_interval(prior, t.gram, '{1,0.5,0.5}')
WHERE t.task = :task;
