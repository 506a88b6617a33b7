-- One target of which few rows are known, in many random splits: what is it best to learn from?
--
-- Included by diabetes.sql and boston.sql, which prepare the tables
--     source (task, gram)      the tasks to learn from
--     target_row (id, x, y)    all rows of the target
--     paper (method, printed)  what the paper prints
-- and the variables name, known (rows of the target), eta (size of gradient steps), digits, splits.
CREATE TEMP TABLE shuffled AS
SELECT split, x, y, row_number() OVER (PARTITION BY split ORDER BY md5(split || ' ' || id)) AS place
FROM target_row, generate_series(1, :splits) AS split;

CREATE TEMP TABLE target AS
SELECT split, wml_gram(x, y) FILTER (WHERE place <= :known) AS known,
	wml_gram(x, y) FILTER (WHERE place > :known) AS unknown
FROM shuffled GROUP BY split;

CREATE TEMP TABLE weighted AS
SELECT split, choice, task, gram,
	wml_alpha(gram, known, weights, 'square', shrink, whiten) OVER (PARTITION BY split, choice) AS alpha
FROM source, target, choice;

-- The models; wml_tune leaves out each known row in turn, so each is a fold
CREATE TEMP TABLE model AS
SELECT split, 'erm ' || choice AS method, wml_erm(gram, alpha) AS coef FROM weighted GROUP BY split, choice
UNION ALL
SELECT split, 'maml ' || choice, wml_maml(gram, alpha, wml_step(eta => :eta)) FROM weighted
WHERE choice IN ('uniform', 'mixture') GROUP BY split, choice
UNION ALL
SELECT split, 'target', wml_erm(known, 1) FROM target GROUP BY split
UNION ALL
SELECT split, method, wml_posterior_coef(prior, known)
FROM target, (SELECT 'prior' AS method, wml_prior(array_agg(gram ORDER BY task)) AS prior FROM source
			  UNION ALL
			  SELECT 'prior even', wml_prior(array_agg(gram ORDER BY task), method => 'reml', evenness => min(wml_dims(gram)))
			  FROM source) AS learned
UNION ALL
SELECT split, 'tune', (wml_tune(sources, folds)).coef
FROM (SELECT array_agg(gram ORDER BY task) AS sources FROM source) AS s,
	(SELECT split, array_agg(gram ORDER BY place) AS folds
	 FROM (SELECT split, place, wml_gram(x, y) AS gram FROM shuffled WHERE place <= :known GROUP BY split, place) AS fold
	 GROUP BY split) AS f;

-- The errors on the rows that were not known, as the models start and after ten gradient steps on the known ones
CREATE TEMP TABLE error AS
SELECT split, method, wml_rmse(unknown, coef) AS rmse,
	CASE WHEN method ~ '^(erm|maml)' THEN wml_rmse(unknown, wml_adapt(known, coef, :eta, 10)) END AS adapted
FROM model JOIN target USING (split);

CREATE TEMP TABLE summary AS
SELECT rank, label, printed, method = 'erm uniform' AS is_joint, avg((error.rmse < printed)::int) AS below,
	percentile_cont(ARRAY[0.05, 0.5, 0.95]) WITHIN GROUP (ORDER BY error.rmse) AS quantile,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY adapted) AS adapted,
	avg((error.rmse < joint.rmse)::int) AS better
FROM (VALUES
	(1, 'target', 'the target alone'),
	(2, 'erm uniform', 'all tasks alike: joint training'),
	(3, 'erm mixture', 'weights: α-ERM'),
	(4, 'maml uniform', 'all tasks alike: MAML'),
	(5, 'maml mixture', 'weights: α-MAML'),
	(6, 'erm closest', 'the closest task'),
	(7, 'erm shrink', 'weights, shrink'),
	(8, 'erm whiten', 'weights, whiten'),
	(9, 'erm whiten and shrink', 'weights, whiten and shrink'),
	(10, 'prior', 'a prior'),
	(11, 'prior even', 'a prior, evenness'),
	(12, 'tune', 'what `wml_tune` chooses')) AS list (rank, method, label)
LEFT JOIN paper USING (method)
JOIN error USING (method)
JOIN (SELECT split, rmse FROM error WHERE method = 'erm uniform') AS joint USING (split)
GROUP BY rank, method, label, printed;

\set title 'RMSE on the rows that were not known, over ' :splits ' random splits:'
\pset title :title
SELECT label AS "learn from", printed AS paper, round(100 * below) || ' %' AS "splits below the paper",
	round(quantile[1]::numeric, :digits) AS "5 %", round(quantile[2]::numeric, :digits) AS median,
	round(quantile[3]::numeric, :digits) AS "95 %", round(adapted::numeric, :digits) AS "median, adapted",
	CASE WHEN NOT is_joint THEN round(100 * better) || ' %' END AS "better than joint"
FROM summary ORDER BY rank
\g (format=aligned border=2) :out/:name.table

-- What a step of 0.0001, as the paper prints it, means in each reading: second moments as means over the rows or as sums,
-- features and response as they are or with mean 0 and variance 1 over the sources.  Errors are in the response's own units.
CREATE TEMP TABLE scaled AS
SELECT features, task, CASE features WHEN 'raw' THEN gram ELSE wml_standardize(gram, pooled) END AS gram,
	CASE features WHEN 'raw' THEN 1 ELSE sqrt(moment[wml_dims(pooled) + 1][wml_dims(pooled) + 1] - wml_mean_response(pooled) ^ 2) END AS unit, pooled
FROM (VALUES ('raw'), ('standardised')) AS f (features), source,
	(SELECT pooled, wml_second_moment(pooled) AS moment FROM (SELECT wml_merge(gram) AS pooled FROM source) AS p) AS all_sources;

CREATE TEMP TABLE read AS
SELECT split, features, scale, choice, unit * wml_rmse(CASE features WHEN 'raw' THEN unknown ELSE wml_standardize(unknown, pooled) END, coef) AS rmse
FROM target, (VALUES ('mean'), ('sum')) AS s (scale), (VALUES ('raw'), ('standardised')) AS f (features),
	(VALUES ('uniform'), ('mixture')) AS c (choice),
	LATERAL (SELECT min(unit) AS unit, (array_agg(pooled))[1] AS pooled, wml_maml(gram, alpha, wml_step(eta => 0.0001, scale => s.scale)) AS coef
			 FROM (SELECT gram, unit, pooled,
					wml_alpha(gram, CASE f.features WHEN 'raw' THEN known ELSE wml_standardize(known, pooled) END, c.choice) OVER () AS alpha
				   FROM scaled WHERE scaled.features = f.features) AS w) AS fit;

\set title 'MAML with steps of 0.0001, median RMSE over ' :splits ' splits, in each reading of the set-up:'
\pset title :title
SELECT features, scale AS "second moments as", round(percentile_cont(0.5) WITHIN GROUP (ORDER BY rmse) FILTER (WHERE choice = 'uniform')::numeric, :digits) AS "MAML",
	min(printed) FILTER (WHERE choice = 'uniform') AS "paper: MAML",
	round(percentile_cont(0.5) WITHIN GROUP (ORDER BY rmse) FILTER (WHERE choice = 'mixture')::numeric, :digits) AS "α-MAML",
	min(printed) FILTER (WHERE choice = 'mixture') AS "paper: α-MAML"
FROM read JOIN paper ON method = 'maml ' || choice GROUP BY features, scale ORDER BY features, scale
\g (format=aligned border=2) :out/readings_:name.table

SELECT replace(label, '`', '') AS label, quantile[1] AS low, quantile[2] AS median, quantile[3] AS high, printed AS paper
FROM summary ORDER BY rank
\g :out/splits_:name.csv

-- The weights over the splits
SELECT task, avg(alpha) FILTER (WHERE choice = 'mixture') AS mixture,
	percentile_cont(0.05) WITHIN GROUP (ORDER BY alpha) FILTER (WHERE choice = 'mixture') AS mixture_low,
	percentile_cont(0.95) WITHIN GROUP (ORDER BY alpha) FILTER (WHERE choice = 'mixture') AS mixture_high,
	avg(alpha) FILTER (WHERE choice = 'whiten and shrink') AS careful,
	percentile_cont(0.05) WITHIN GROUP (ORDER BY alpha) FILTER (WHERE choice = 'whiten and shrink') AS careful_low,
	percentile_cont(0.95) WITHIN GROUP (ORDER BY alpha) FILTER (WHERE choice = 'whiten and shrink') AS careful_high
FROM weighted GROUP BY task ORDER BY split_part(task, '-', 1)::int
\g :out/alpha_:name.csv
