-- Choosing a method by cross-validation.
\set VERBOSITY terse

CREATE TEMP TABLE example AS
SELECT task, i, ARRAY[1, sin(i * task), cos(i + task * task)]::float8[] AS x,
	2 + 0.1 * task * sin(i * task) - cos(i + task * task) + 0.3 * sin(17 * i * i + task) AS y
FROM generate_series(1, 8) AS task, generate_series(1, 25) AS i;
CREATE TEMP TABLE arranged AS
SELECT (SELECT array_agg(gram ORDER BY task) FROM (SELECT task, wml_gram(x, y) AS gram FROM example WHERE task < 8 GROUP BY task) AS s) AS sources,
	(SELECT array_agg(gram ORDER BY i) FROM (SELECT i, wml_gram(x, y) AS gram FROM example WHERE task = 8 AND i <= 10 GROUP BY i) AS f) AS folds;
CREATE TEMP TABLE judged AS SELECT c.* FROM arranged, wml_compare(sources, folds) AS c;

-- best first, both baselines there, one method chosen, no method twice
SELECT bool_and(rmse >= before) AS ordered FROM (SELECT rmse, lag(rmse, 1, 0::float8) OVER (ORDER BY rank) AS before FROM judged) AS pair;
SELECT count(*) > 50 AS many, count(*) = count(DISTINCT (model, weights, eta, ridge, shrink, whiten, adapt_steps, source_rows)) AS different,
	count(*) FILTER (WHERE chosen) AS chosen, count(*) FILTER (WHERE model = 'target') AS target_only,
	count(*) FILTER (WHERE model = 'erm' AND weights = 'uniform' AND source_rows = 'Infinity' AND adapt_steps = 0 AND NOT whiten) AS uniform
FROM judged;

-- uniform joint training does not look at the target: its error is that on all its rows
SELECT abs(c.rmse - wml_rmse(target, coef)) < 1e-12 AS uniform_rmse
FROM judged AS c, (SELECT wml_merge(gram) AS target FROM arranged, unnest(folds) AS gram) AS whole,
	(SELECT wml_erm(gram, 1) AS coef FROM arranged, unnest(sources) AS gram) AS fit
WHERE model = 'erm' AND weights = 'uniform' AND source_rows = 'Infinity' AND adapt_steps = 0 AND NOT whiten;

-- the target alone: leave-one-out error from the rows
SELECT abs(c.rmse / sqrt(avg((y - wml_predict(coef, x)) ^ 2)) - 1) < 1e-9 AS target_rmse
FROM judged AS c, example AS out, LATERAL (SELECT wml_erm(gram, 1) AS coef FROM (SELECT wml_gram(x, y) AS gram FROM example AS known
	WHERE known.task = 8 AND known.i <= 10 AND known.i <> out.i) AS rest) AS fit
WHERE out.task = 8 AND out.i <= 10 AND model = 'target' GROUP BY c.rmse;

-- the user's own grid; wml_tune gives what the chosen method gives with the whole target
SELECT model, weights, adapt_steps, chosen FROM arranged, wml_compare(sources, folds, models => '{erm}', weights => '{uniform}', shrinks => '{0}',
	whitens => '{f}', adapt_steps => '{0}', source_rows => '{Infinity}') ORDER BY rank;
SELECT bool_and(abs(a / b - 1) < 1e-12) AS tuned
FROM arranged, LATERAL (SELECT wml_erm(gram, 1) AS coef FROM (SELECT wml_merge(gram) AS gram FROM unnest(folds) AS gram) AS whole) AS fit,
	unnest(wml_tune(sources, folds, models => '{erm}', weights => '{uniform}', shrinks => '{0}', whitens => '{f}', adapt_steps => '{0}', source_rows => '{Infinity}'), coef) AS pair (a, b);
SELECT wml_tune(sources, folds) = wml_tune(sources, folds) AS deterministic,
	cardinality(wml_tune(sources, folds)) AS coefficients FROM arranged;

-- more features than rows in a fold's rest is no obstacle
SELECT count(*) > 1 AS answered FROM arranged, wml_compare(sources, folds[1:2]);

-- errors
SELECT wml_compare(NULL, folds) FROM arranged;
SELECT wml_compare(sources, NULL) FROM arranged;
SELECT wml_compare(sources, folds[1:1]) FROM arranged;
SELECT wml_compare('{}', folds) FROM arranged;
SELECT wml_compare(sources, folds, models => '{lasso}') FROM arranged;
SELECT wml_compare(sources, folds, weights => '{heavy}') FROM arranged;
SELECT wml_compare(sources, folds, etas => '{-1}') FROM arranged;
SELECT wml_compare(sources, folds, ridges => '{NaN}') FROM arranged;
SELECT wml_compare(sources, ARRAY[(SELECT wml_gram('{1,2}', 3)), (SELECT wml_gram('{1,3}', 3))]) FROM arranged;
SELECT wml_tune(sources, folds || (SELECT wml_gram('{1,2,3}', 'NaN'))) FROM arranged;
