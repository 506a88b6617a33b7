-- Weekly sales: 300 products are the sources, and the others targets of which the first 5 or 10 weeks are known.
--
--     test/bin/with-postgres psql -X -v out=/tmp -f test/paper/sales.sql < sales_weekly.csv
--
-- The file is UCI's "Sales Transactions Dataset Weekly" of Tan and San Lau (2014): Product_Code, W0 ... W51.
-- The next 20 products stand for the paper's targets; all others show how far it depends on which ones they are.
-- Variables: features (10) and lengthscale in weeks (15) of the random Fourier features of the week; last (811), the
-- last product to take for a target.
\ir common.sql
\if :{?features} \else \set features 10 \endif
\if :{?lengthscale} \else \set lengthscale 15 \endif
\if :{?last} \else \set last 811 \endif

CREATE TEMP TABLE line (number int GENERATED ALWAYS AS IDENTITY, text text);
\copy line (text) FROM pstdin

CREATE TEMP TABLE sales AS
SELECT product, week - 1 AS week, units::float8 AS y, wml_rff(ARRAY[week - 1], :features, :lengthscale, 1) AS x
FROM (SELECT number - 1 AS product, string_to_array(text, ',') AS field FROM line WHERE number > 1) AS record,
	unnest(field[2:53]) WITH ORDINALITY AS sold (units, week);

-- Beside the grams of all weeks, those of the same weeks as are known of the targets: to compare like with like
CREATE TEMP TABLE source AS
SELECT product, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE week < 5) AS first_5, wml_gram(x, y) FILTER (WHERE week < 10) AS first_10
FROM sales WHERE product <= 300 GROUP BY product;

CREATE TEMP TABLE target_week AS
SELECT product AS target, shots, week, week < shots AS is_known, x, y
FROM sales, unnest(ARRAY[5, 10]) AS shots WHERE product BETWEEN 301 AND :last;

CREATE TEMP TABLE target AS
SELECT target, shots, wml_gram(x, y) FILTER (WHERE is_known) AS known, wml_gram(x, y) FILTER (WHERE NOT is_known) AS unknown
FROM target_week GROUP BY target, shots;

-- The models: with the weights as the paper has them, from all weeks of the sources, and with weights from the same weeks.
-- MAML's step is the paper's.  wml_tune takes its time, so it has the 20 targets only.
CREATE TEMP TABLE model AS
WITH everything AS (
	SELECT shots, array_agg(gram ORDER BY product) AS sources,
		array_agg(CASE shots WHEN 5 THEN first_5 ELSE first_10 END ORDER BY product) AS windows
	FROM source, unnest(ARRAY[5, 10]) AS shots GROUP BY shots
)
SELECT target, shots, weeks, method, coef
FROM target JOIN everything USING (shots), choice, (VALUES ('all'), ('same')) AS w (weeks), LATERAL (
	SELECT wml_erm(gram, alpha) AS erm, wml_maml(gram, alpha, wml_step(eta => 0.0001)) AS maml
	FROM unnest(sources, wml_alpha(CASE weeks WHEN 'all' THEN sources ELSE windows END, known, weights, 'square', shrink, whiten)) AS weighted (gram, alpha)) AS fit,
	LATERAL (VALUES ('erm ' || choice, erm), ('maml ' || choice, maml)) AS m (method, coef)
WHERE weights <> 'uniform' OR weeks = 'all'
UNION ALL
SELECT target, shots, 'all', 'target', wml_coef(known) FROM target
UNION ALL
SELECT target, shots, 'all', 'prior', wml_posterior_coef(prior, known)
FROM target JOIN (SELECT shots, wml_prior(sources) AS prior FROM everything) AS learned USING (shots)
UNION ALL
SELECT target, shots, weeks, 'tune', (wml_tune(sources, known, CASE weeks WHEN 'same' THEN windows END)).coef
FROM everything JOIN target USING (shots), (VALUES ('all'), ('same')) AS w (weeks) WHERE target <= 320;

-- The errors in the weeks that were not known, beside those of a forecast without a model: the mean of the known weeks
CREATE TEMP TABLE error AS
SELECT target, shots, weeks, method, wml_rmse(unknown, coef) AS rmse FROM model JOIN target USING (target, shots)
UNION ALL
SELECT target, shots, 'all', 'mean', sqrt(avg((y - mean) ^ 2) FILTER (WHERE NOT is_known))
FROM (SELECT *, avg(y) FILTER (WHERE is_known) OVER (PARTITION BY target, shots) AS mean FROM target_week) AS w
GROUP BY target, shots;

CREATE TEMP TABLE label (rank, method, label, printed_5, printed_10) AS VALUES
	(1, 'maml uniform', 'MAML', '12.86 ± 3.79', '12.69 ± 3.69'),
	(2, 'maml mixture', 'α-MAML', '2.43 ± 2.09', '2.41 ± 1.92'),
	(3, 'maml closest', 'thresh-MAML', '2.53 ± 1.94', '2.50 ± 2.03'),
	(4, 'erm uniform', 'ERM', '12.09 ± 3.53', '11.92 ± 3.43'),
	(5, 'erm mixture', 'α-ERM', '2.52 ± 2.21', '2.50 ± 2.04'),
	(6, 'erm closest', 'thresh-ERM', '2.45 ± 1.81', '2.45 ± 1.97'),
	(7, 'target', 'target', '83.63 ± 104.07', '209.06 ± 378.88'),
	(8, 'erm shrink', 'α-ERM, `shrink => 3`', '', ''),
	(9, 'erm whiten', 'α-ERM, `whiten => true`', '', ''),
	(10, 'erm whiten and shrink', 'α-ERM, both', '', ''),
	(11, 'prior', 'a prior: `wml_prior`', '', ''),
	(12, 'tune', '`wml_tune`', '', ''),
	(13, 'mean', 'no other product: the mean of the known weeks', '', '');

\pset title 'RMSE in units a week, mean and standard deviation over the 20 targets: weights from all weeks of the sources, as in the paper, and from the same weeks'
SELECT label AS "learn from", printed_5 AS "paper: 5 weeks known",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 5 AND weeks = 'all')) AS "ours",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 5 AND weeks = 'same')) AS "same weeks",
	printed_10 AS "paper: 10 weeks known",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 10 AND weeks = 'all')) AS "ours ",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 10 AND weeks = 'same')) AS "same weeks "
FROM label JOIN error USING (method) WHERE target <= 320
GROUP BY rank, label, printed_5, printed_10 ORDER BY rank
\g (format=aligned border=2) :out/sales.table

SELECT count(DISTINCT target) AS targets FROM target \gset
\set title 'The same over all ' :targets ' other products:'
\pset title :title
SELECT label AS "learn from", pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 5 AND weeks = 'all')) AS "5 weeks known",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 5 AND weeks = 'same')) AS "same weeks",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 10 AND weeks = 'all')) AS "10 weeks known",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 10 AND weeks = 'same')) AS "same weeks "
FROM label JOIN error USING (method) WHERE method <> 'tune' GROUP BY rank, label ORDER BY rank
\g (format=aligned border=2) :out/sales_all.table

-- The figure shows the first target
SELECT week, y FROM sales WHERE product = 301 ORDER BY week
\g :out/sales_weeks.csv
SELECT shots, week, max(wml_predict(coef, x)) FILTER (WHERE method = 'maml uniform' AND weeks = 'all') AS uniform,
	max(wml_predict(coef, x)) FILTER (WHERE method = 'maml mixture' AND weeks = 'all') AS mixture,
	max(wml_predict(coef, x)) FILTER (WHERE method = 'maml mixture' AND weeks = 'same') AS same,
	max(wml_predict(coef, x)) FILTER (WHERE method = 'prior') AS prior
FROM model JOIN sales ON product = target WHERE target = 301 GROUP BY shots, week ORDER BY shots, week
\g :out/sales_predictions.csv
