-- Tasks that do not belong to the others: they are named, nobody learns from them, and forecasts are as without them.
\set VERBOSITY terse
SET wml.progress = off;

-- thirty tasks and a target, known at the times 1 to 6 of 16; in task 7, one response is a hundred times as large
CREATE FUNCTION pg_temp.noise(a int, b int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT sum(('x' || substr(md5(a || ' ' || b), 1 + 7 * k, 7))::bit(28)::int / 268435456.0 - 0.5) * sqrt(3)
	FROM generate_series(0, 3) AS k
$$;
CREATE TABLE stranger_rows AS
SELECT task, t, 5 + 2 * pg_temp.noise(task, 101) + (1 + pg_temp.noise(task, 102)) * t / 8.0 + 0.5 * pg_temp.noise(task, 103) * (t / 8.0) ^ 2 + 0.2 * pg_temp.noise(task, t) AS clean, 0::float8 AS y
FROM generate_series(0, 30) AS task, generate_series(1, 16) AS t;
UPDATE stranger_rows SET y = CASE WHEN task = 7 AND t = 3 THEN 100 * clean ELSE clean END;
CREATE TABLE stranger_task AS
SELECT task, wml_gram(x, clean) AS clean, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE t <= 6) AS known
FROM stranger_rows, LATERAL (SELECT ARRAY[1, t / 8.0, (t / 8.0) ^ 2]::float8[] AS x) AS features GROUP BY task;
CREATE VIEW stranger_given AS
SELECT array_agg(gram ORDER BY task) AS typed, array_agg(clean ORDER BY task) AS clean, array_agg(known ORDER BY task) AS windows,
	array_agg(gram ORDER BY task) FILTER (WHERE task <> 7) AS others, array_agg(known ORDER BY task) FILTER (WHERE task <> 7) AS other_windows,
	(SELECT known FROM stranger_task WHERE task = 0) AS target,
	(SELECT array_agg(g ORDER BY t) FROM (SELECT t, wml_gram(ARRAY[1, t / 8.0, (t / 8.0) ^ 2], y) AS g FROM stranger_rows WHERE task = 0 AND t <= 6 GROUP BY t) AS f) AS folds
FROM stranger_task WHERE task > 0;

-- every figure is that of a comparison without the stranger; clean tasks all take part
SELECT (with_stranger).left_out, (without).left_out AS without, (with_stranger).coef = (without).coef AS same_coef, (with_stranger).surprises = (without).surprises AS same_intervals,
	(with_stranger).sources = ARRAY(SELECT i + (i >= 7)::int FROM unnest((without).sources) WITH ORDINALITY AS u (i, n) ORDER BY n) AS same_sources
FROM stranger_given, LATERAL (VALUES (wml_tune(typed, target), wml_tune(others, target)), (wml_tune(typed, target, windows), wml_tune(others, target, other_windows)), (wml_tune(typed, folds), wml_tune(others, folds))) AS t (with_stranger, without);
SELECT (wml_tune(clean, target)).left_out FROM stranger_given;
SELECT count(*) = 0 AS same_comparison FROM stranger_given, LATERAL (
	(SELECT * FROM wml_compare(typed, target) EXCEPT SELECT * FROM wml_compare(others, target))
	UNION ALL (SELECT * FROM wml_compare(others, target) EXCEPT SELECT * FROM wml_compare(typed, target))) AS difference;

-- the order makes no difference; three sources cannot tell who is the stranger, and of four one can be told, but not two
SELECT (wml_tune(ARRAY(SELECT gram FROM stranger_task WHERE task > 0 ORDER BY task DESC), target)).left_out FROM stranger_given;
SELECT count, (wml_tune(ARRAY(SELECT gram FROM stranger_task WHERE task BETWEEN 8 - count AND 7 ORDER BY task), target, models => '{prior}')).left_out FROM stranger_given, unnest('{3,4,5}'::int[]) AS count;
SELECT (wml_tune(ARRAY(SELECT CASE WHEN task < 6 THEN gram + (SELECT wml_gram('{1,0,0}', 1000 * task)) ELSE clean END FROM stranger_task WHERE task BETWEEN 4 AND 7), target, models => '{prior}')).left_out FROM stranger_given;

-- a robust prior, as it is chosen and as it is learned by itself
SELECT (t).model, max(abs(a / b - 1)) < 1e-5 AS equal
FROM stranger_given, LATERAL (SELECT wml_tune(clean, target, models => '{robust}') AS t, wml_posterior_coef(wml_prior(clean, method => 'reml', evenness => 3, noise => 'own', tasks => 't'), target) AS coef) AS r,
	unnest((t).coef, coef) AS pair (a, b) GROUP BY model;

-- which tasks belong, one by one
CREATE VIEW stranger_prior AS
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', noise => 'own', tasks => 't')) AS robust, wml_prior(gram) AS plain FROM stranger_task;
SELECT array_agg(task) FILTER (WHERE NOT r.belongs) AS strangers, bool_and(p.belongs) AS plain_tells_nothing
FROM stranger_prior, stranger_task, wml_task_fit(robust, gram) AS r, wml_task_fit(plain, gram) AS p;
SELECT (wml_task_fit(robust, NULL)).belongs AS nothing, (wml_task_fit(robust, (SELECT wml_gram('{1,1,1}', 1e6)))).belongs AS one_row_far_away,
	(wml_task_fit(robust::text::wml_prior, gram)).belongs AS as_text
FROM stranger_prior, stranger_task WHERE task = 7;

-- task sets: a notice names the stranger, others are forecast as well as from clean rows, and the stranger sensibly
SELECT tasks, rows FROM wml_learn('stranger_typed', 'stranger_rows', task => 'task', response => 'y', features => 'wml_poly(ARRAY[t / 8.0], 2) AS trend', along => 't');
SELECT tasks, rows FROM wml_learn('stranger_clean', 'stranger_rows', task => 'task', response => 'clean', features => 'wml_poly(ARRAY[t / 8.0], 2) AS trend', along => 't');
SELECT tasks, rows FROM wml_learn('stranger_quick', 'stranger_rows', task => 'task', response => 'y', features => 'wml_poly(ARRAY[t / 8.0], 2) AS trend', rehearse => 0);
CREATE VIEW stranger_asked AS SELECT task, 17 AS t FROM generate_series(1, 31) AS task;
SELECT name, max(abs(f.estimate - c.estimate)) FILTER (WHERE f.task NOT IN ('7', '31')) < 0.5 AS others, max(abs(f.estimate - c.estimate)) FILTER (WHERE f.task = '31') < 0.5 AS new_task,
	max(abs(f.estimate - c.estimate)) FILTER (WHERE f.task = '7') < 5 AS stranger, min(f.model) FILTER (WHERE f.task IN ('7', '31')) AS model, count(*) FILTER (WHERE f.status <> 'ok') AS not_ok,
	avg(f.upper - f.lower) FILTER (WHERE f.task <> '7') < 1.5 * avg(c.upper - c.lower) AS narrow
FROM unnest('{stranger_typed,stranger_quick}'::text[]) AS name, wml_forecast(name, 'stranger_asked') AS f JOIN wml_forecast('stranger_clean', 'stranger_asked') AS c USING (task) GROUP BY name ORDER BY name;
SELECT max(estimate) BETWEEN 0 AND 30 AS robust_on_request FROM wml_forecast('stranger_typed', 'stranger_asked', method => 'robust');
SELECT item, value > 100 AS noisy FROM wml_explain('stranger_typed', 1) WHERE part = 'left out';
SELECT count(*) FROM wml_explain('stranger_clean', 1) WHERE part = 'left out';
SELECT count(*) FILTER (WHERE item = '7') AS stranger, count(*) > 0 AS sources FROM wml_explain('stranger_quick', 1) WHERE part = 'source';
SELECT part, value BETWEEN -30 AND 30 AS sensible FROM wml_explain('stranger_typed', 7) WHERE part IN ('coefficient', 'left out');
-- it may be as far off as it likes, for all others and for the robust prior of all
CREATE TABLE stranger_far AS
SELECT far, wml_prior(array_agg(gram), noise => 'own', tasks => 't') AS robust, wml_prior(array_agg(gram), noise => 'auto', tasks => 'auto') AS auto
FROM (SELECT far, task, wml_gram(ARRAY[1, t / 8.0, (t / 8.0) ^ 2], CASE WHEN task = 7 AND t = 3 THEN far ELSE clean END) AS gram
	FROM stranger_rows, unnest('{1e4,1e7,1e12,1e50}'::float8[]) AS far GROUP BY far, task) AS typed GROUP BY far;
SELECT f.far, bool_and(abs(a - b) < 1e-2) AS same_mean, wml_prior_noise(f.robust) / wml_prior_noise(n.robust) BETWEEN 0.99 AND 1.01 AS same_noise,
	f.robust::text = f.auto::text AS chosen, (wml_task_fit(f.robust, (SELECT gram FROM stranger_task WHERE task = 7))).belongs
FROM stranger_far AS f, stranger_far AS n, unnest(wml_prior_mean(f.robust), wml_prior_mean(n.robust)) AS pair (a, b)
WHERE n.far = 1e4 GROUP BY f.far, f.robust::text, f.auto::text, wml_prior_noise(f.robust), wml_prior_noise(n.robust), (wml_task_fit(f.robust, (SELECT gram FROM stranger_task WHERE task = 7))).belongs ORDER BY f.far;
UPDATE stranger_rows SET y = 4e12 WHERE task = 7 AND t = 3;
SELECT wml_refresh('stranger_quick');
SELECT max(abs(f.estimate - c.estimate)) < 0.5 AS others, avg(f.upper - f.lower) < 1.5 * avg(c.upper - c.lower) AS narrow
FROM wml_forecast('stranger_quick', 'stranger_asked') AS f JOIN wml_forecast('stranger_clean', 'stranger_asked') AS c USING (task) WHERE f.task <> '7';
DROP TABLE stranger_far;
-- one that is not finite has no method of its own
UPDATE stranger_rows SET y = 'NaN' WHERE task = 7 AND t = 3;
SELECT tasks FROM wml_learn('stranger_mixed', 'stranger_rows', task => 'task', response => 'y', features => 'wml_poly(ARRAY[t / 8.0], 2) AS trend');
UPDATE wml_task_set SET method = method || '{"model": "erm", "weights": "mixture", "known": 4}' WHERE set_name = 'stranger_mixed';
SELECT task, status FROM wml_forecast('stranger_mixed', 'SELECT task, 17 AS t FROM generate_series(6, 7) AS task');
SELECT wml_drop(set_name) FROM wml_task_sets WHERE set_name LIKE 'stranger%';
DROP VIEW stranger_asked, stranger_prior, stranger_given;
DROP TABLE stranger_task, stranger_rows;
