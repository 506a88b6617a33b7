-- How well methods forecast; test/bench/forecast runs this.
--
-- The table example (task, is_source, is_target, is_known, x, y) holds the rows of all tasks.  Each target learns
-- from all sources but itself and from its own rows that are known.  Weights come from the grams of whole tasks,
-- or compare like with like: the same rows of the sources as are known of the target.
-- Variables: name, targets.
\set ON_ERROR_STOP on
\set QUIET on

CREATE TEMP TABLE task AS
SELECT task, bool_or(is_source) AS is_source, bool_or(is_target) AS is_target, wml_gram(x, y) AS gram,
	wml_gram(x, y) FILTER (WHERE is_known) AS known, wml_gram(x, y) FILTER (WHERE NOT is_known) AS unknown
FROM example GROUP BY task;

CREATE TEMP TABLE given AS
SELECT task, known, unknown, sources, windows, folds
FROM (SELECT * FROM task WHERE is_target ORDER BY md5(task) LIMIT :targets) AS target,
	LATERAL (SELECT array_agg(gram ORDER BY task) AS sources, array_agg(known ORDER BY task) AS windows
		FROM task WHERE is_source AND task.task <> target.task) AS s,
	LATERAL (SELECT array_agg(wml_gram) AS folds FROM (SELECT wml_gram(x, y) FROM example
		WHERE example.task = target.task AND is_known GROUP BY x) AS f) AS f;

CREATE TEMP TABLE tuned AS SELECT task, wml_tune(sources, known, windows) AS tuned FROM given;

CREATE TEMP TABLE error AS
SELECT task, number, method, wml_rmse(unknown, coef) AS rmse
FROM given JOIN tuned USING (task), LATERAL (
	SELECT 1, 'the target alone', (SELECT wml_erm(gram, 1) FROM unnest(ARRAY[known]) AS gram)
	UNION ALL SELECT 2, 'all alike', (SELECT wml_erm(gram, 1) FROM unnest(sources) AS gram)
	UNION ALL SELECT 3, 'mixture', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(sources, known)) AS s (gram, alpha))
	UNION ALL SELECT 4, 'mixture, whiten', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(sources, known, whiten => true)) AS s (gram, alpha))
	UNION ALL SELECT 5, 'mixture, same rows', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(windows, known)) AS s (gram, alpha))
	UNION ALL SELECT 6, 'mixture, same rows, shrink 0.1', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(windows, known, shrink => 0.1)) AS s (gram, alpha))
	UNION ALL SELECT 7, 'mixture, same rows, whiten', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(windows, known, whiten => true)) AS s (gram, alpha))
	UNION ALL SELECT 8, 'mixture, same rows, whiten and shrink 0.1', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(windows, known, shrink => 0.1, whiten => true)) AS s (gram, alpha))
	UNION ALL SELECT 9, 'closest, same rows', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(windows, known, 'closest')) AS s (gram, alpha))
	UNION ALL SELECT 10, 'prior', wml_posterior_coef(wml_prior(sources), known)
	UNION ALL SELECT 11, 'wml_tune', (wml_tune(sources, folds)).coef
	UNION ALL SELECT 12, 'wml_tune, windows', (tuned).coef
) AS fit (number, method, coef);

\pset footer off
\echo
\echo :name
SELECT method, round(avg(rmse)::numeric, 3) AS mean, round(sqrt(avg(rmse ^ 2))::numeric, 3) AS "root mean square" FROM error GROUP BY number, method ORDER BY number;

SELECT round(avg((y BETWEEN lower AND upper)::int)::numeric, 3) AS "90 % intervals of wml_tune, windows, cover"
FROM tuned JOIN example USING (task), wml_predict_interval(tuned, x, 0.9) WHERE NOT is_known;
