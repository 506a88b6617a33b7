-- One question, many forms: wml_alpha as a window function and for arrays, wml_weights, wml_fit_weights, wml_compare
-- and wml_alpha_kernel give the same weights, in odd cases, too.
CREATE TEMP TABLE form_task AS
SELECT task, wml_gram(ARRAY[1, 2 * sin(task) + sin(1.7 * task * i), cos(2 * task) + cos(i)], cos(3 * task) * sin(i) + sin(task * i) + task % 3) AS gram
FROM generate_series(1, 13) AS task, generate_series(1, 6 + task % 5) AS i GROUP BY task;
-- targets: one like the others, one of a single row, and one that a source is equal to
CREATE TEMP TABLE form_target AS
SELECT 'new' AS target, gram AS known FROM form_task WHERE task = 13
UNION ALL SELECT 'one row', wml_gram(ARRAY[1, 0.3, -0.5], 1.5)
UNION ALL SELECT 'a source', gram FROM form_task WHERE task = 4;
-- the fifth source is missing
CREATE TEMP TABLE form_source AS SELECT task, CASE WHEN task <> 5 THEN gram END AS gram FROM form_task WHERE task < 13;
CREATE TEMP VIEW form_sources AS SELECT array_agg(gram ORDER BY task) AS sources FROM form_source;
CREATE TEMP TABLE form_option AS
SELECT weights, loss, shrink, whiten
FROM unnest('{mixture,closest,uniform,pooled}'::text[]) AS weights, unnest('{square,hinge}'::text[]) AS loss,
	unnest('{0,0.5,30}'::float8[]) AS shrink, unnest('{f,t}'::bool[]) AS whiten;

CREATE FUNCTION pg_temp.same(a float8[], b float8[], tolerance float8) RETURNS bool LANGUAGE sql AS $$
	SELECT cardinality(a) = cardinality(b) AND bool_and((x IS NULL) = (y IS NULL) AND (x IS NULL OR abs(x - y) <= tolerance)) FROM unnest(a, b) AS pair (x, y)
$$;

CREATE TEMP TABLE form_array AS
SELECT target, form_option.*, wml_alpha(sources, known, weights, loss, shrink, whiten) AS alpha FROM form_sources, form_target, form_option;
SELECT count(*) AS questions, bool_and(cardinality(alpha) = 12 AND alpha[5] IS NULL AND (SELECT abs(sum(a) - 1) < 1e-12 AND min(a) >= 0 FROM unnest(alpha) AS a)) AS on_the_simplex FROM form_array;

-- the window function
SELECT bool_and(a.alpha IS NOT DISTINCT FROM w.alpha) AS window_is_array
FROM form_array AS a JOIN (
	SELECT target, weights, loss, shrink, whiten, array_agg(alpha ORDER BY task) AS alpha
	FROM (SELECT target, weights, loss, shrink, whiten, task, wml_alpha(gram, known, weights, loss, shrink, whiten) OVER (PARTITION BY target, weights, loss, shrink, whiten ORDER BY task
			ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS alpha
		  FROM form_source, form_target, form_option) AS weighed
	GROUP BY target, weights, loss, shrink, whiten) AS w USING (target, weights, loss, shrink, whiten);

-- the aggregate, which whitens differences that have been rounded
SELECT bool_and(CASE WHEN whiten THEN pg_temp.same(a.alpha, w.alpha, 1e-9) ELSE a.alpha = w.alpha END) AS aggregate_is_array, count(*) AS questions
FROM form_array AS a JOIN (
	SELECT target, weights, loss, shrink, whiten, wml_weights(gram, known, weights, loss, shrink, whiten ORDER BY task) AS alpha
	FROM form_source, form_target, form_option GROUP BY target, weights, loss, shrink, whiten) AS w USING (target, weights, loss, shrink, whiten);
SELECT target, wml_weights(gram, known ORDER BY task) = (SELECT alpha FROM form_array AS a WHERE a.target = t.target AND weights = 'mixture' AND loss = 'square' AND shrink = 0 AND NOT whiten) AS plain
FROM form_source, form_target AS t GROUP BY target ORDER BY target;
SELECT wml_weights(gram, gram) AS no_rows FROM form_source WHERE false;
SELECT wml_weights(NULL, known, 'mixture', 'square', 1, true) AS nulls FROM form_target, generate_series(1, 2) WHERE target = 'new';
\set VERBOSITY terse
SELECT wml_weights(gram, known) FROM form_source, form_target;
SELECT wml_weights(gram, NULL) FROM form_source;
SELECT wml_weights(gram, known, weights, 'square', 0, false) FROM form_source, form_target, unnest('{mixture,closest}'::text[]) AS weights WHERE target = 'new';
SELECT wml_weights(gram, (SELECT wml_gram(ARRAY[1], 1))) FROM form_source;
SELECT wml_weights(gram, known) OVER () FROM form_source, form_target WHERE target = 'new';
\set VERBOSITY default

-- weights and model in one call
SELECT bool_and(a.alpha IS NOT DISTINCT FROM (SELECT array_agg(f.alpha ORDER BY f.source) FROM wml_fit_weights(sources, known, weights => weights, shrink => shrink, whiten => whiten) AS f)) AS fit_is_array
FROM form_array AS a JOIN form_target USING (target), form_sources WHERE loss = 'square';

-- the kernel of the grams as one's own kernel, whose shrink means another variance
SELECT bool_and(pg_temp.same(array_remove(alpha, NULL), wml_alpha_kernel(kernel, sizes, weights), 1e-7)) AS kernel_is_array, count(*) AS questions
FROM form_array AS a JOIN (
	SELECT target, loss, array_agg(row ORDER BY i) AS kernel, array_agg(n ORDER BY i) AS sizes
	FROM (SELECT target, loss, a.task AS i, min(wml_n(a.gram))::float8 AS n, array_agg(wml_kernel(a.gram, b.gram, loss) * wml_n(a.gram) * wml_n(b.gram) ORDER BY b.task) AS row
		  FROM (SELECT target, task, gram FROM form_target, form_source WHERE gram IS NOT NULL UNION ALL SELECT target, 99, known FROM form_target) AS a
			JOIN (SELECT target, task, gram FROM form_target, form_source WHERE gram IS NOT NULL UNION ALL SELECT target, 99, known FROM form_target) AS b USING (target), unnest('{square,hinge}'::text[]) AS loss
		  GROUP BY target, loss, a.task) AS rows
	GROUP BY target, loss) AS k USING (target, loss)
WHERE NOT whiten AND shrink = 0;

-- the comparison's weights, by their errors: two folds are a target whose known part is one row
WITH folds AS (
	SELECT array_agg(gram ORDER BY i) AS folds
	FROM (SELECT i, wml_gram(ARRAY[1, 0.3 * i, cos(i)], 1.5 + sin(i)) AS gram FROM generate_series(1, 2) AS i GROUP BY i) AS f
	UNION ALL
	SELECT array_agg(gram ORDER BY i)
	FROM (SELECT i % 3 AS i, wml_gram(ARRAY[1, 0.3 * i, cos(i)], 1.5 + sin(i)) AS gram FROM generate_series(1, 9) AS i GROUP BY i % 3) AS f
), present AS (SELECT array_remove(sources, NULL) AS sources FROM form_sources),
trial AS (
	SELECT folds, unknown, (SELECT wml_merge(gram) FROM unnest(folds) WITH ORDINALITY AS f (gram, j) WHERE j <> i) AS known
	FROM folds, unnest(folds) WITH ORDINALITY AS fold (unknown, i)
)
SELECT cardinality(folds) AS folds, count(*) AS methods, bool_and(abs(c.rmse / byhand.rmse - 1) < 1e-9) AS compare_is_array
FROM folds, present, wml_compare(sources, folds, models => '{erm}', shrinks => '{0,0.5,30}', source_rows => '{Infinity}') AS c,
	LATERAL (SELECT sqrt(avg(wml_mse(unknown, coef))) AS rmse
			 FROM trial, LATERAL (SELECT wml_erm(gram, alpha) AS coef FROM unnest(sources, wml_alpha(sources, known, c.weights, 'square', c.shrink, c.whiten)) AS w (gram, alpha)) AS fit
			 WHERE trial.folds = folds.folds) AS byhand
WHERE model = 'erm'
GROUP BY folds ORDER BY folds;

-- a single row: nobody knows its sampling variance, and weights that depend on it are equal
SELECT whiten, shrink, wml_alpha(sources[1:4], known, shrink => shrink, whiten => whiten) = '{0.25,0.25,0.25,0.25}' AS equal,
	wml_alpha_gap(sources[1:4], known, '{0.25,0.25,0.25,0.25}', shrink => shrink, whiten => whiten) AS gap_of_equal,
	wml_alpha_gap(sources[1:4], known, '{0.5,0.5,0,0}', shrink => shrink, whiten => whiten) > 0 AS gap_of_others
FROM form_sources, form_target, unnest('{f,t}'::bool[]) AS whiten, unnest('{0.5,3}'::float8[]) AS shrink WHERE target = 'one row';

-- no sources at all
SELECT weights, whiten, wml_alpha('{}'::wml_gram[], known, weights, shrink => 1, whiten => whiten) AS none,
	wml_alpha(ARRAY[NULL, NULL]::wml_gram[], known, weights, shrink => 1, whiten => whiten) AS nulls
FROM form_target, unnest('{mixture,closest,uniform,pooled}'::text[]) AS weights, unnest('{f,t}'::bool[]) AS whiten WHERE target = 'new';

-- sizes whose sum overflows, and distances whose squares do
SELECT wml_alpha(ARRAY[g, g], g, 'pooled'), wml_alpha_kernel('{{1,0,0},{0,1,0},{0,0,1}}', '{1.5e308,1.5e308,1}', 'pooled')
FROM (SELECT wml_gram(ARRAY[1], 1, 1.5e308) AS g) AS heavy;
SELECT scale, wml_alpha(ARRAY[a, b, t], t, 'closest') AS equal, wml_alpha(ARRAY[a, b], t, 'closest') AS nearer, wml_alpha(ARRAY[a, b], t, 'mixture') AS mixture
FROM unnest('{1e120,1e150}'::float8[]) AS scale, LATERAL (
	SELECT wml_gram(ARRAY[1 * scale * i], i) AS a, wml_gram(ARRAY[2 * scale * i], i) AS b, wml_gram(ARRAY[2.1 * scale * i], i) AS t FROM generate_series(1, 3) AS i) AS large;

-- many features and few sources ask for little memory
SELECT abs(sum(a) - 1) < 1e-12 AS weighed, max(a) < 1 AS shared
FROM (SELECT array_agg(gram) AS sources, max(gram::text)::wml_gram AS target
	  FROM (SELECT t, wml_gram((SELECT array_agg(sin(i * j + t)) FROM generate_series(1, 300) AS j), cos(i)) AS gram FROM generate_series(1, 2) AS t, generate_series(1, 3) AS i GROUP BY t) AS wide) AS question,
	unnest(wml_alpha(sources, target, shrink => 1)) AS a;

-- nearly identical tasks: the gap is promised beside the largest squared distance and the penalty together
SELECT bool_and(wml_alpha_gap(sources, target, alpha, shrink => shrink) <= 1e-10 * (largest + shrink * variance)) AS as_promised, count(*) AS questions
FROM (SELECT spread, array_agg(gram ORDER BY t) FILTER (WHERE t > 0) AS sources, (array_agg(gram ORDER BY t))[1] AS target
	  FROM (SELECT spread, t, wml_gram(ARRAY[1, i * (1 + spread * t) * 1e4], sin(i)) AS gram
			FROM unnest('{1e-12,1e-9,1e-6,1e-3}'::float8[]) AS spread, generate_series(0, 5) AS t, generate_series(1, 6) AS i GROUP BY spread, t) AS near
	  GROUP BY spread) AS question,
	(SELECT (avg(q * q) - (SELECT sum(m * m) FROM unnest(wml_embedding(target, 'square')) AS m)) / 5 AS variance
	 FROM (SELECT wml_gram(ARRAY[1, i * 1e4], sin(i)) AS target FROM generate_series(1, 6) AS i) AS whole,
		(SELECT 1 + (i * 1e4) ^ 2 + sin(i) ^ 2 AS q FROM generate_series(1, 6) AS i) AS row GROUP BY target) AS sampling,
	unnest('{0.01,1,100}'::float8[]) AS shrink,
	LATERAL (SELECT wml_alpha(sources, target, shrink => shrink) AS alpha) AS solved,
	LATERAL (SELECT max((gram <-> target) ^ 2) AS largest FROM unnest(sources) AS gram) AS distance;
