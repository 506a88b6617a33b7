-- Comparing like with like: windows of the sources, rehearsals that forecast, tuned models and their intervals.
\set VERBOSITY terse
SET wml.progress = off;

-- thirty tasks, known at the times 1 to 6 of 16; the target is one more
CREATE FUNCTION pg_temp.noise(a int, b int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT sum(('x' || substr(md5(a || ' ' || b), 1 + 7 * k, 7))::bit(28)::int / 268435456.0 - 0.5) * sqrt(3)
	FROM generate_series(0, 3) AS k
$$;
CREATE TEMP TABLE series AS
SELECT task, t, ARRAY[1, t / 8.0, (t / 8.0) ^ 2]::float8[] AS x,
	5 + 2 * pg_temp.noise(task, 101) + (1 + pg_temp.noise(task, 102)) * t / 8.0 + 0.5 * pg_temp.noise(task, 102) * (t / 8.0) ^ 2 + 0.2 * pg_temp.noise(task, t) AS y
FROM generate_series(0, 30) AS task, generate_series(1, 16) AS t;
CREATE TEMP TABLE given AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task > 0) AS sources, array_agg(win ORDER BY task) FILTER (WHERE task > 0) AS windows,
	array_agg(gram ORDER BY -task) FILTER (WHERE task > 0) AS reversed, array_agg(win ORDER BY -task) FILTER (WHERE task > 0) AS reversed_windows,
	(array_agg(win ORDER BY task))[1] AS target, (array_agg(later ORDER BY task))[1] AS later,
	(SELECT array_agg(g ORDER BY t) FROM (SELECT t, wml_gram(x, y) AS g FROM series WHERE task = 0 AND t <= 6 GROUP BY t) AS f) AS folds
FROM (SELECT task, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE t <= 6) AS win, wml_gram(x, y) FILTER (WHERE t > 6) AS later FROM series GROUP BY task) AS s;

-- a window that is the whole gram changes nothing
SELECT count(*) = 0 AS same_as_without FROM given, LATERAL (
	(SELECT * FROM wml_compare(sources, folds, sources) EXCEPT SELECT * FROM wml_compare(sources, folds))
	UNION ALL (SELECT * FROM wml_compare(sources, folds) EXCEPT SELECT * FROM wml_compare(sources, folds, sources))) AS difference;

-- nor do windows that leave rows to forecast to a few sources only, which are no sample
SELECT able, (SELECT count(*) = 0 FROM (SELECT * FROM wml_compare(sources, folds, sources[:30 - able] || windows[31 - able:], models => '{erm}')
	EXCEPT SELECT * FROM wml_compare(sources, folds, models => '{erm}')) AS difference) AS same_as_without
FROM given, unnest('{1,9,10}'::int[]) AS able;

-- weights are those of the windows, models learn from the grams
SELECT bool_and(abs(a / b - 1) < 1e-9) AS mixture
FROM given, LATERAL (SELECT wml_erm(gram, alpha) AS coef FROM unnest(sources, wml_alpha(windows, target)) AS s (gram, alpha)) AS fit,
	LATERAL (SELECT * FROM wml_tune(sources, target, windows, models => '{erm}', weights => '{mixture}', shrinks => '{0}', whitens => '{f}', source_rows => '{Infinity}') AS t) AS t,
	unnest((t).coef, fit.coef) AS pair (a, b) WHERE (t).weights = 'mixture';
SELECT (t).weights, (t).whiten, bool_and(abs(a / b - 1) < 1e-9) AS equal
FROM given, LATERAL (SELECT wml_erm(gram, alpha) AS coef FROM unnest(sources, wml_alpha(windows, target, whiten => true)) AS s (gram, alpha)) AS fit,
	LATERAL (SELECT wml_tune(sources, target, windows, models => '{erm}', weights => '{mixture}', shrinks => '{0}', whitens => '{t}', source_rows => '{Infinity}') AS t) AS t,
	unnest((t).coef, fit.coef) AS pair (a, b) GROUP BY 1, 2;

-- likewise in one call
SELECT bool_and(abs(coefficient / b - 1) < 1e-9) AS fit
FROM given, LATERAL (SELECT wml_erm(gram, alpha) AS coef FROM unnest(sources, wml_alpha(windows, target, whiten => true)) AS s (gram, alpha)) AS fit,
	wml_fit(sources, target, 'erm', shrink => 0, whiten => true, windows => windows), unnest(fit.coef) WITH ORDINALITY AS c (b, i) WHERE i = "position";
SELECT bool_and(abs(alpha - b) < 1e-12) AS weights, bool_and(abs(distance - wml_distance(windows[source], target)) < 1e-12) AS distances
FROM given, wml_fit_weights(sources, target, 'erm', shrink => 0, whiten => false, windows => windows), unnest(wml_alpha(windows, target)) WITH ORDINALITY AS c (b, i) WHERE i = source;
SELECT count(*) = 0 AS pooled_by_source FROM given, LATERAL (
	SELECT * FROM wml_fit(sources, target, 'erm', 'pooled', windows => windows) EXCEPT SELECT * FROM wml_fit(sources, target, 'erm', 'pooled')) AS difference;
SELECT count(*) AS null_source_takes_no_part FROM given, wml_fit_weights(sources || NULL::wml_gram, target, windows => windows || NULL::wml_gram) WHERE alpha IS NOT NULL;

-- rehearsals forecast: the same by hand, leaving out each source in turn
SELECT abs(c.rehearsal / exp(avg(ln(wml_rmse(source - win, coef) / wml_rmse(source - win, uniform)))) - 1) < 1e-6 AS rehearsed
FROM given, wml_compare(sources, target, windows, models => '{erm}', weights => '{mixture}', shrinks => '{0}', whitens => '{f}', source_rows => '{Infinity}') AS c,
	unnest(sources, windows) WITH ORDINALITY AS actor (source, win, i), LATERAL (
	SELECT wml_erm(g, alpha) AS coef, wml_erm(g, 1) AS uniform
	FROM (SELECT array_agg(s ORDER BY j) AS others, array_agg(w ORDER BY j) AS other_windows FROM unnest(sources, windows) WITH ORDINALITY AS o (s, w, j) WHERE j <> i) AS o,
		unnest(others, wml_alpha(other_windows, win)) AS weighted (g, alpha)) AS fit
WHERE c.weights = 'mixture' GROUP BY c.rehearsal;

-- permuted sources and windows give permuted answers
SELECT (a).model = (b).model AND (a).weights = (b).weights AND (a).shrink = (b).shrink AND (a).whiten = (b).whiten AS same_choice,
	(SELECT bool_and(abs(p - q) < 1e-7 * (1 + abs(q))) FROM unnest((a).coef, (b).coef) AS pair (p, q)) AS same_coefficients,
	(SELECT array_agg(31 - p) FROM unnest((a).sources) AS p) = (b).sources AS permuted_sources
FROM given, LATERAL (SELECT wml_tune(sources, target, windows, models => '{erm}', weights => '{mixture}', source_rows => '{Infinity}') AS a,
	wml_tune(reversed, target, reversed_windows, models => '{erm}', weights => '{mixture}', source_rows => '{Infinity}') AS b) AS both_orders;

-- all methods, to the last bit; with folds, sources that rehearse with rows made up
SELECT (a).coef = (b).coef AND (a).noise = (b).noise AND (a).rehearsal = (b).rehearsal AND (a).alpha = (b).alpha AS same,
	(SELECT array_agg(31 - p) FROM unnest((a).sources) AS p) = (b).sources AS permuted_sources
FROM given, LATERAL (SELECT wml_tune(sources, target, windows) AS a, wml_tune(reversed, target, reversed_windows) AS b
	UNION ALL SELECT wml_tune(sources, folds), wml_tune(reversed, folds)
	UNION ALL SELECT wml_tune(sources, target), wml_tune(reversed, target)) AS both_orders;

-- of many sources, all forecast for the finalists: the same by hand; and the order of the sources makes no difference
CREATE TEMP TABLE many AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task > 0) AS sources, array_agg(win ORDER BY task) FILTER (WHERE task > 0) AS windows,
	array_agg(gram ORDER BY -task) FILTER (WHERE task > 0) AS reversed, array_agg(win ORDER BY -task) FILTER (WHERE task > 0) AS reversed_windows,
	(array_agg(win ORDER BY task))[1] AS target
FROM (SELECT task, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE t <= 5) AS win
	FROM (SELECT task, t, ARRAY[1, t / 10.0] AS x, sin(task * 7.0) + 3 * cos(task * 13.0) * t / 10.0 + 0.3 * sin(task * 3.0 + 5 * t) AS y
		FROM generate_series(0, 90) AS task, generate_series(1, 10) AS t) AS r GROUP BY task) AS s;
SELECT c.weights, abs(c.rehearsal / exp(avg(ln(wml_rmse(source - win, coef) / wml_rmse(source - win, uniform)))) - 1) < 1e-6 AS rehearsed_by_all, count(*)
FROM many, wml_compare(sources, target, windows, models => '{erm}', weights => '{mixture}', shrinks => '{0}', whitens => '{f}', source_rows => '{Infinity}') AS c,
	unnest(sources, windows) WITH ORDINALITY AS actor (source, win, i), LATERAL (
	SELECT wml_erm(g, alpha) AS coef, wml_erm(g, 1) AS uniform
	FROM (SELECT array_agg(s ORDER BY j) AS others, array_agg(w ORDER BY j) AS other_windows FROM unnest(sources, windows) WITH ORDINALITY AS o (s, w, j) WHERE j <> i) AS o,
		unnest(others, wml_alpha(other_windows, win)) AS weighted (g, alpha)) AS fit
WHERE c.weights = 'mixture' GROUP BY c.weights, c.rehearsal;
SELECT (a).coef = (b).coef AS same, (a).model = (b).model AS same_model, (SELECT array_agg(91 - p) FROM unnest((a).sources) AS p) = (b).sources AS permuted_sources
FROM many, LATERAL (SELECT wml_tune(sources, target, windows) AS a, wml_tune(reversed, target, reversed_windows) AS b
	UNION ALL SELECT wml_tune(sources, target), wml_tune(reversed, target)) AS both_orders;
SELECT bool_and(rank = 1) FILTER (WHERE chosen) AS chosen_first, count(*) FILTER (WHERE chosen) AS chosen, bool_or(model = 'prior' AND rank < 30) AS prior_in_finals
FROM many, wml_compare(sources, target, windows);

-- what it is for
SELECT wml_rmse(later, (with_windows).coef) < 0.7 * wml_rmse(later, alone) AS better_than_alone, (with_windows).rehearsal < 0.7 AS better_than_uniform,
	(with_windows).against_target < 0.7 AS said_so, cardinality((with_windows).sources) BETWEEN 1 AND 10 AS sources, (with_windows).rmse IS NULL AS no_folds
FROM given, LATERAL (SELECT wml_tune(sources, target, windows) AS with_windows, (SELECT wml_erm(g, 1) FROM unnest(ARRAY[target]) AS g) AS alone OFFSET 0) AS t;

-- each task in turn the target: 90 % intervals for what is not known hold about 90 % of it
CREATE TEMP TABLE tuned AS
SELECT i - 1 AS task, wml_tune(array_remove(all_grams, all_grams[i]), all_windows[i], array_remove(all_windows, all_windows[i])) AS model
FROM (SELECT array_agg(gram ORDER BY task) AS all_grams, array_agg(win ORDER BY task) AS all_windows
	FROM (SELECT task, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE t <= 6) AS win FROM series GROUP BY task) AS s) AS g, generate_series(1, 31) AS i;
SELECT avg((y BETWEEN lower AND upper)::int) BETWEEN 0.85 AND 0.95 AS covered, bool_and(lower < mean_lower AND mean_lower < estimate AND estimate < mean_upper AND mean_upper < upper) AS ordered
FROM series JOIN tuned USING (task), wml_predict_interval(model, x, 0.9) WHERE t > 6;
SELECT bool_and(wider.upper >= narrower.upper AND abs(wider.estimate - wml_predict((model).coef, x)) < 1e-9) AS nested
FROM series JOIN tuned USING (task), wml_predict_interval(model, x, 0.99) AS wider, wml_predict_interval(model, x) AS narrower;

-- the target as one gram, without windows; a single source cannot rehearse
SELECT rank, model, rmse, spread, rehearsal IS NOT NULL AS rehearsed, chosen FROM given,
	wml_compare(sources, target, models => '{prior}') ORDER BY rank;
SELECT (t).model, (t).weights, (t).sources, (t).noise FROM given, LATERAL (SELECT wml_tune(sources[1:1], target) AS t OFFSET 0) AS t;
SELECT lower, upper FROM given, wml_predict_interval(wml_tune(sources[1:1], target), '{1,2,3}');
SELECT lower < estimate AND estimate < upper AS interval_from_folds FROM given, wml_predict_interval(wml_tune(sources[1:1], folds), '{1,2,3}');
SELECT wml_predict_interval(NULL::wml_tuned, '{1,2,3}') IS NULL AS nothing;

-- data with an uncentred year and 0/1 columns: whatever cannot be computed says why, and something is chosen
SELECT setseed(0.03);
CREATE TEMP TABLE lv AS SELECT t, 1950 + 50 * random() AS yc, random() AS p1, random() AS p2, random() AS b FROM generate_series(1, 24) AS t;
CREATE TEMP TABLE d AS
SELECT t AS task, i, ARRAY[1, 4 + 0.1 * random(), 3 + 0.1 * random(), yr, round(2000 * random() * b), round(1 + 2 * random()), round(2 * random()),
	(e < 0.3)::int, (e BETWEEN 0.3 AND 0.6)::int, (e > 0.85)::int, (g < 0.1)::int, (g BETWEEN 0.1 AND 0.6)::int, (g > 0.9)::int]::float8[] AS x, 4 + yr / 1000 + 0.1 * b + 0.1 * random() AS y
FROM (SELECT t, i, b, round(least(2010, greatest(1950, yc + 15 * (random() - 0.5)))) AS yr, p1 * p1 + 0.5 * (random() - 0.5) AS e, p2 + 0.6 * (random() - 0.5) AS g
	FROM lv, generate_series(1, 10 + t * 8) AS i) AS q;
SELECT cardinality((wml_tune((SELECT array_agg(g) FROM (SELECT wml_gram(x, y) AS g FROM d WHERE task > 1 GROUP BY task) AS s),
	(SELECT array_agg(g) FROM (SELECT wml_gram(x, y) AS g FROM d WHERE task = 1 AND i <= 10 GROUP BY i) AS f))).coef) AS coefficients;
SET client_min_messages = error;
SELECT bool_and(abs(c) < 'Infinity') AS the_prior_itself FROM (SELECT wml_posterior_coef(wml_prior(array_agg(g) FILTER (WHERE task > 1), method => 'reml', evenness => 13), (array_agg(g))[1]) AS coef
	FROM (SELECT task, wml_gram(x, y) AS g FROM d GROUP BY task) AS s) AS p, unnest(coef) AS c;
RESET client_min_messages;

-- a method that overflows is a row that says so
SELECT model, rmse, chosen, note FROM given, wml_compare(sources, folds, models => '{maml}', weights => '{uniform}', etas => '{1e160}', whitens => '{f}', adapt_steps => '{3}') ORDER BY rank DESC LIMIT 1;
-- those that fail come last, the others by their errors
SELECT count(*) FILTER (WHERE note IS NOT NULL) > 1 AS some_failed, count(*) FILTER (WHERE note IS NULL) > 1 AS some_did_not, bool_and(rank = place) AS sorted
FROM (SELECT rank, rmse, note, row_number() OVER (ORDER BY rmse, rank) AS place
	FROM given, wml_compare(sources, folds, models => '{maml,erm}', weights => '{uniform,mixture}', etas => '{1e160,0.01}', whitens => '{f}', adapt_steps => '{0,3}')) AS compared;

-- targets of one row, however it fits, beside windows of forty rows that tell very well how noisy a task is
CREATE TEMP TABLE uneven AS
SELECT task, t, ARRAY[1, pg_temp.noise(task, 300 + t)]::float8[] AS x,
	5 + 2 * pg_temp.noise(task, 201) + (1 + 0.3 * pg_temp.noise(task, 202)) * pg_temp.noise(task, 300 + t)
	+ exp(0.7 * pg_temp.noise(task, 203)) * pg_temp.noise(task, 400 + t) AS y
FROM generate_series(1, 50) AS task, generate_series(1, 60) AS t;
CREATE TEMP TABLE asked AS
SELECT task, (SELECT wml_tune(sources, target, windows, models => '{prior}')
	FROM (SELECT array_agg(gram ORDER BY task) AS sources, array_agg(win ORDER BY task) AS windows
		FROM (SELECT task, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE t <= 40) AS win FROM uneven WHERE task <= 30 GROUP BY task) AS s) AS given) AS tuned
FROM (SELECT task, wml_gram(x, y) FILTER (WHERE t = 1) AS target FROM uneven WHERE task > 30 GROUP BY task) AS targets;
SELECT avg((y BETWEEN lower AND upper)::int) BETWEEN 0.8 AND 0.97 AS cover, min(upper - lower) > 0.5 * avg(upper - lower) AS none_is_narrow
FROM asked JOIN uneven USING (task), wml_predict_interval(tuned, x, 0.9) WHERE t > 1;

-- errors
SELECT wml_tune(sources, target, windows[1:29]) FROM given;
SELECT wml_tune(sources, target, windows[1:29] || NULL::wml_gram) FROM given;
SELECT wml_tune(sources, target, windows[2:30] || windows[1]) FROM given;
SELECT wml_tune(sources, target, windows[1:4] || sources[6] || windows[6:30]) FROM given;
SELECT wml_tune(sources, target, windows[1:4] || (SELECT wml_gram(ARRAY[1, 2, 3], 1) FILTER (WHERE false)) || windows[6:30]) FROM given;
SELECT wml_tune(sources, target, windows[1:4] || (SELECT wml_gram(ARRAY[1, 2], 1)) || windows[6:30]) FROM given;
SELECT wml_fit(sources, target, windows => windows[1:4] || windows[6] || windows[6:30]) FROM given;
SELECT wml_fit_weights(sources, target, windows => windows || NULL::wml_gram) FROM given;
SELECT wml_predict_interval((SELECT wml_tune(sources, target, windows) FROM given), '{1,2}');
SELECT wml_predict_interval((SELECT wml_tune(sources, target, windows) FROM given), '{1,2,3}', 1);
SELECT wml_predict_interval(ROW('{1,2}', 'erm', NULL, 0, 0, 0, 0, true, 0, 0, 1, 1, 1, '{}', '{}', '{}', '{{1,2},{3,4}}', -1, 1, '{1}')::wml_tuned, '{1,2}');
SELECT wml_predict_interval(ROW('{1,2}', 'erm', NULL, 0, 0, 0, 0, true, 0, 0, 1, 1, 1, '{}', '{}', '{}', '{{1,2}}', 1, 1, '{1}')::wml_tuned, '{1,2}');
