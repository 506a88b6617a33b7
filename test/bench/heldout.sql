-- How well methods predict rows that they have not seen; test/bench/heldout runs this.
--
-- The table example (task, x, y) holds the rows of all tasks.  In every split one task, by lot, is the target,
-- and so many of its rows, by lot, are known.  Every method learns from the other tasks and from the known rows.
-- Printed are geometric means over the splits of the RMSE on the unknown rows relative to uniform weights, and how
-- many of these rows the 90 % intervals of wml_tune cover.
-- Variables: name, splits, known.
\set ON_ERROR_STOP on
\set QUIET on

CREATE TEMP TABLE task AS SELECT task, wml_gram(x, y) AS gram FROM example GROUP BY task;

SELECT NOT bool_or(wml_n(gram) >= :known + 3) AS too_short FROM task \gset
\if :too_short
	\echo :name: no task has enough rows
	\quit
\endif

CREATE TEMP TABLE chosen AS
SELECT split, (SELECT task FROM task WHERE wml_n(gram) >= :known + 3 ORDER BY md5(split || ' ' || task) LIMIT 1) AS target
FROM generate_series(1, :splits) AS split;

CREATE TEMP TABLE lot AS
SELECT split, target, x, y, row_number() OVER (PARTITION BY split ORDER BY md5(split || x::text || y::text)) AS place
FROM chosen JOIN example ON task = target;

-- what a user has: the grams of the sources, and a gram for each known row
CREATE TEMP TABLE given AS
SELECT split, (SELECT array_agg(gram ORDER BY task) FROM task WHERE task <> target) AS sources,
	(SELECT array_agg(wml_gram) FROM (SELECT wml_gram(x, y) FROM lot WHERE lot.split = chosen.split AND place <= :known GROUP BY place) AS fold) AS folds,
	(SELECT wml_gram(x, y) FROM lot WHERE lot.split = chosen.split AND place <= :known) AS known,
	(SELECT wml_gram(x, y) FROM lot WHERE lot.split = chosen.split AND place > :known) AS unknown
FROM chosen;

CREATE TEMP TABLE tuned AS SELECT split, wml_tune(sources, folds) AS tuned FROM given;

CREATE TEMP TABLE error AS
SELECT split, method, wml_rmse(unknown, coef) AS rmse
FROM given JOIN tuned USING (split), LATERAL (
	SELECT 1, 'uniform', (SELECT wml_erm(gram, 1) FROM unnest(sources) AS gram)
	UNION ALL SELECT 2, 'mixture', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(sources, known)) AS s (gram, alpha))
	UNION ALL SELECT 3, 'whiten, shrink 3', (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(sources, known, shrink => 3, whiten => true)) AS s (gram, alpha))
	UNION ALL SELECT 4, 'prior', wml_posterior_coef(wml_prior(sources, method => 'reml', evenness => wml_dims(known)), known)
	UNION ALL SELECT 5, 'wml_tune', (tuned).coef
) AS fit (number, method, coef);

\pset footer off
\pset tuples_only on
\pset format unaligned
\pset fieldsep ' '
SELECT rpad(:'name', 28), lpad((SELECT count(*) - 1 FROM task)::text, 8), lpad((SELECT wml_dims(gram) FROM task LIMIT 1)::text, 9),
	string_agg(lpad(round(relative::numeric, 3)::text, 17), ' ' ORDER BY number),
	(SELECT lpad(round(avg((y BETWEEN lower AND upper)::int)::numeric, 3)::text, 9)
	 FROM tuned JOIN lot USING (split), wml_predict_interval(tuned, x, 0.9) WHERE place > :known)
FROM (SELECT method, array_position('{uniform,mixture,"whiten, shrink 3",prior,wml_tune}', method) AS number, exp(avg(ln(a.rmse / b.rmse))) AS relative
	FROM error AS a JOIN (SELECT split, rmse FROM error WHERE method = 'uniform') AS b USING (split) GROUP BY method) AS mean;
