-- Choosing a method by cross-validation.
\set VERBOSITY terse
SET wml.progress = off;

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
SELECT count(*) > 50 AS many, count(*) = count(DISTINCT (model, weights, eta, ridge, shrink, evenness, whiten, adapt_steps, source_rows)) AS different,
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
	unnest((wml_tune(sources, folds, models => '{erm}', weights => '{uniform}', shrinks => '{0}', whitens => '{f}', adapt_steps => '{0}', source_rows => '{Infinity}')).coef, coef) AS pair (a, b);
SELECT (wml_tune(sources, folds)).coef = (wml_tune(sources, folds)).coef AS deterministic,
	cardinality((wml_tune(sources, folds)).coef) AS coefficients FROM arranged;

-- the prior is among the methods, once, and its error is that of posterior means by hand
SELECT model, weights, eta, ridge, shrink, evenness, whiten, adapt_steps, source_rows FROM judged WHERE model = 'prior';
SELECT evenness, abs(c.rmse / sqrt(avg(wml_mse(unknown, wml_posterior_coef(wml_prior(sources, method => 'reml', evenness => evenness), known)))) - 1) < 1e-6 AS prior_rmse
FROM arranged, wml_compare(sources, folds, models => '{prior}', evennesses => '{0,2,5}') AS c,
	LATERAL (SELECT unknown, (SELECT wml_merge(gram) FROM unnest(folds) WITH ORDINALITY AS f (gram, j) WHERE j <> i) AS known
		FROM unnest(folds) WITH ORDINALITY AS fold (unknown, i)) AS trial
WHERE model = 'prior' GROUP BY evenness, c.rmse ORDER BY evenness;

-- whatever weights and bases are asked for: a prior takes all sources alike
SELECT model, weights, whiten, adapt_steps FROM arranged, wml_compare(sources, folds, models => '{prior,prior}', weights => '{mixture,closest}', whitens => '{t}',
	adapt_steps => '{0,5}', ridges => '{0,1}', shrinks => '{1,1}') ORDER BY model;

-- where it is chosen, wml_tune gives its posterior mean for the whole target
CREATE FUNCTION pg_temp.noise(a int, b int, c int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT sum(('x' || substr(md5(a || ' ' || b || ' ' || c), 1 + 7 * k, 7))::bit(28)::int / 268435456.0 - 0.5) * sqrt(3)
	FROM generate_series(0, 3) AS k
$$;
CREATE TEMP TABLE family AS
SELECT kind, task, i, x, (CASE kind WHEN 'alike' THEN 2 WHEN 'levels' THEN 2 + 3 * pg_temp.noise(task, 0, 0) ELSE 3 * pg_temp.noise(task, 0, 0) END)
	+ x[2] * CASE kind WHEN 'strangers' THEN 3 * pg_temp.noise(task, 0, 1) ELSE 1 END
	- x[3] * CASE kind WHEN 'strangers' THEN 3 * pg_temp.noise(task, 0, 2) ELSE 1 END + 0.7 * pg_temp.noise(task, i, 3) AS y
FROM unnest(ARRAY['alike', 'levels', 'strangers']) AS kind, generate_series(1, 32) AS task, generate_series(1, 40) AS i,
	LATERAL (SELECT ARRAY[1, pg_temp.noise(task, i, 4), pg_temp.noise(task, i, 5)] AS x) AS features;
CREATE TEMP TABLE problem AS
SELECT kind, target, (SELECT array_agg(g) FROM (SELECT wml_gram(x, y) AS g FROM family AS f WHERE f.kind = k.kind AND f.task <= 24 GROUP BY task) AS s) AS sources,
	(SELECT array_agg(g) FROM (SELECT wml_gram(x, y) AS g FROM family AS f WHERE f.kind = k.kind AND f.task = target AND i <= 10 GROUP BY i) AS t) AS folds,
	(SELECT wml_gram(x, y) FROM family AS f WHERE f.kind = k.kind AND f.task = target AND i <= 10) AS known,
	(SELECT wml_gram(x, y) FROM family AS f WHERE f.kind = k.kind AND f.task = target AND i > 10) AS unknown
FROM unnest(ARRAY['alike', 'levels', 'strangers']) AS k (kind), generate_series(25, 32) AS target;
SELECT model, bool_and(abs(a / b - 1) < 1e-9) AS tuned
FROM problem, LATERAL (SELECT model FROM wml_compare(sources, folds, models => '{prior}') WHERE chosen) AS best,
	unnest((wml_tune(sources, folds, models => '{prior}')).coef, wml_posterior_coef(wml_prior(sources, method => 'reml', evenness => 3), known)) AS pair (a, b)
WHERE kind = 'levels' AND target < 29 GROUP BY model;

-- what it is for: with ten rows, never much worse than uniform weights, the prior or the target alone, and better where something can be learned
CREATE TEMP TABLE result AS
SELECT kind, wml_rmse(unknown, (wml_tune(sources, folds)).coef) AS tuned, wml_rmse(unknown, (SELECT wml_erm(s, 1) FROM unnest(sources) AS s)) AS uniform,
	wml_rmse(unknown, wml_posterior_coef(wml_prior(sources, method => 'reml', evenness => 3), known)) AS prior, wml_rmse(unknown, (SELECT wml_erm(f, wml_n(f)) FROM unnest(folds) AS f)) AS alone
FROM problem;
SELECT kind, avg(tuned) < 1.02 * least(avg(uniform), avg(prior), avg(alone)) AS as_good_as_the_best, avg(tuned) < 0.9 * avg(uniform) AS much_better_than_uniform,
	avg(tuned) < 0.95 * avg(alone) AS better_than_alone
FROM result GROUP BY kind ORDER BY kind;

-- a target unlike its sources: rehearsals would mislead, its own rows decide
SELECT avg(wml_rmse(unknown, (wml_tune(sources, folds)).coef)) < 0.3 * avg(wml_rmse(unknown, wml_posterior_coef(wml_prior(sources, method => 'reml', evenness => 3), known))) AS told_by_its_rows
FROM (SELECT (SELECT sources FROM problem AS alike WHERE alike.kind = 'alike' AND alike.target = problem.target) AS sources, folds, known, unknown
	FROM problem WHERE kind = 'strangers') AS foreign_target;

-- twenty smooth functions of the week, which all but depend on each other
WITH weekly AS (
	SELECT task, week, wml_rff(ARRAY[week], 20, 15, 1) AS x, 5 + sin(week / 8.0 + task) + pg_temp.noise(task, week, 0) AS y
	FROM generate_series(0, 12) AS task, generate_series(0, 51) AS week WHERE task > 0 OR week < 10
)
SELECT count(*) > 50 AS answered, bool_and(rmse < 'Infinity') AS finite
FROM wml_compare(ARRAY(SELECT wml_gram(x, y) FROM weekly WHERE task > 0 GROUP BY task), ARRAY(SELECT wml_gram(x, y) FROM weekly WHERE task = 0 GROUP BY week));

-- very many features: no prior unless asked for
SELECT count(*) FILTER (WHERE model = 'prior') AS priors FROM (SELECT array_agg(gram) AS grams FROM (
	SELECT wml_gram(ARRAY(SELECT sin(t * i) FROM generate_series(1, 41) AS i), t) AS gram FROM generate_series(1, 4) AS t GROUP BY t) AS s) AS s, wml_compare(grams, grams);

-- more features than rows in a fold's rest is no obstacle
SELECT count(*) > 1 AS answered FROM arranged, wml_compare(sources, folds[1:2]);

-- folds made of rows: dealt out in turn, one for each row where there are few
SELECT (SELECT wml_folds(x, y ORDER BY i) FROM example WHERE task = 8 AND i <= 10) = folds AS one_row_each,
	(SELECT array_agg(wml_n(f)) FROM unnest((SELECT wml_folds(x, y, 4 ORDER BY i) FROM example WHERE task = 8)) AS f) AS sizes,
	(SELECT wml_merge(f) FROM unnest((SELECT wml_folds(x, y, 4 ORDER BY i) FROM example WHERE task = 8)) AS f) = (SELECT wml_gram(x, y) FROM example WHERE task = 8) AS all_rows
FROM arranged;
SELECT wml_folds(x, y) AS none FROM example WHERE false;
SELECT cardinality(wml_folds(x, CASE WHEN i > 3 THEN y END)) AS skipped FROM example WHERE task = 8 AND i <= 10;
SELECT wml_folds(x, y, 1) FROM example;
SELECT wml_folds(CASE i WHEN 2 THEN '{1}' ELSE x END, y) FROM example;

-- errors
SELECT wml_compare(NULL, folds) FROM arranged;
SELECT wml_compare(sources, NULL::wml_gram[]) FROM arranged;
SELECT wml_compare(sources, folds[1:1]) FROM arranged;
SELECT wml_compare('{}', folds) FROM arranged;
SELECT wml_compare(sources, folds, models => '{lasso}') FROM arranged;
SELECT wml_compare(sources, folds, models => '{prior,NULL}') FROM arranged;
SELECT wml_compare(sources, folds, models => '{prior}', evennesses => '{-2}') FROM arranged;
SELECT wml_compare(sources, folds, weights => '{heavy}') FROM arranged;
SELECT wml_compare(sources, folds, etas => '{-1}') FROM arranged;
SELECT wml_compare(sources, folds, ridges => '{NaN}') FROM arranged;
SELECT wml_compare(sources, ARRAY[(SELECT wml_gram('{1,2}', 3)), (SELECT wml_gram('{1,3}', 3))]) FROM arranged;
SELECT wml_tune(sources, folds || (SELECT wml_gram('{1,2,3}', 'NaN'))) FROM arranged;
SELECT wml_compare(ARRAY[gram, gram], ARRAY[gram, gram], models => '{prior}') FROM (SELECT wml_gram(array_fill(1::float8, ARRAY[800]), 1) AS gram) AS wide;
\set VERBOSITY default
SELECT wml_compare(sources, folds, models => '{lasso}') FROM arranged;

-- of tasks that are all alike, joint training errs least; who asks for other models gets one of them
CREATE VIEW compare_alike AS
SELECT array_agg(gram ORDER BY j) AS grams
FROM (SELECT j, wml_gram(ARRAY[1, i * 31 % 11], sin(i * j + j)) AS gram FROM generate_series(1, 10) AS i, generate_series(1, 4) AS j GROUP BY j) AS t;
SELECT (wml_tune(grams[2:], grams[1])).model AS any, (wml_tune(grams[2:], grams[1], models => '{prior}')).model AS prior,
	(wml_tune(grams[2:], grams[1], models => '{stack}')).model AS stack, (wml_tune(grams[2:], grams[1], models => '{prior,erm}')).model AS either
FROM compare_alike;
SELECT model, weights, chosen FROM compare_alike, wml_compare(grams[2:], grams[1], models => '{prior}') ORDER BY rank;
DROP VIEW compare_alike;
