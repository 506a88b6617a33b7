-- Weekly sales: 300 products are the sources, and the others targets of which the first 5 or 10 weeks are known.
--
--     test/bin/with-postgres psql -X -v out=/tmp -f test/paper/sales.sql < sales_weekly.csv
--
-- The file is UCI's "Sales Transactions Dataset Weekly" of Tan and San Lau (2014): Product_Code, W0 ... W51.
-- The next 20 products stand for the paper's targets; all others show how far it depends on which ones they are.
-- Variables: features (10) and lengthscale in weeks (15) of the random Fourier features of the week.
\ir common.sql
\if :{?features} \else \set features 10 \endif
\if :{?lengthscale} \else \set lengthscale 15 \endif

CREATE TEMP TABLE line (number int GENERATED ALWAYS AS IDENTITY, text text);
\copy line (text) FROM pstdin

CREATE TEMP TABLE sales AS
SELECT product, week - 1 AS week, units::float8 AS y, wml_rff(ARRAY[week - 1], :features, :lengthscale, 1) AS x
FROM (SELECT number - 1 AS product, string_to_array(text, ',') AS field FROM line WHERE number > 1) AS record,
	unnest(field[2:53]) WITH ORDINALITY AS sold (units, week);

CREATE TEMP TABLE source AS
SELECT product, wml_gram(x, y) AS gram FROM sales WHERE product <= 300 GROUP BY product;

CREATE TEMP TABLE target_week AS
SELECT product AS target, shots, week, week < shots AS is_known, x, y
FROM sales, unnest(ARRAY[5, 10]) AS shots WHERE product > 300;

CREATE TEMP TABLE target AS
SELECT target, shots, wml_gram(x, y) FILTER (WHERE is_known) AS known, wml_gram(x, y) FILTER (WHERE NOT is_known) AS unknown
FROM target_week GROUP BY target, shots;

-- The models; wml_tune leaves out each known week in turn, so each is a fold, and takes its time
CREATE TEMP TABLE model AS
WITH fold AS (
	SELECT target, shots, week, wml_gram(x, y) AS gram FROM target_week WHERE is_known AND target <= 320
	GROUP BY target, shots, week
), everything AS (
	SELECT array_agg(gram ORDER BY product) AS sources FROM source
)
SELECT target, shots, choice AS method, coef
FROM target, choice, everything, LATERAL (
	SELECT wml_erm(gram, alpha) AS coef
	FROM unnest(sources, wml_alpha(sources, known, weights, 'square', shrink, whiten)) AS weighted (gram, alpha)) AS fit
UNION ALL
SELECT target, shots, 'prior', wml_posterior_coef(prior, known)
FROM target, (SELECT wml_prior(sources) AS prior FROM everything) AS learned
UNION ALL
SELECT target, shots, 'tune', (wml_tune(sources, folds)).coef
FROM everything, (SELECT target, shots, array_agg(gram ORDER BY week) AS folds FROM fold GROUP BY target, shots) AS f;

-- The errors in the weeks that were not known, beside those of a forecast without a model: the mean of the known weeks
CREATE TEMP TABLE error AS
SELECT target, shots, method, wml_rmse(unknown, coef) AS rmse FROM model JOIN target USING (target, shots)
UNION ALL
SELECT target, shots, 'mean', sqrt(avg((y - mean) ^ 2) FILTER (WHERE NOT is_known))
FROM (SELECT *, avg(y) FILTER (WHERE is_known) OVER (PARTITION BY target, shots) AS mean FROM target_week) AS w
GROUP BY target, shots;

SELECT count(DISTINCT target) AS targets FROM target \gset
\set title 'RMSE in units a week, mean and standard deviation over the 20 targets, and over all ' :targets ' other products:'
\pset title :title
SELECT label AS "learn from", printed AS paper,
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 5 AND target <= 320)) AS "5 weeks known",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 10 AND target <= 320)) AS "10 weeks known",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 5 AND method <> 'tune')) AS "all: 5 weeks",
	pg_temp.mean_and_spread(array_agg(rmse) FILTER (WHERE shots = 10 AND method <> 'tune')) AS "all: 10 weeks"
FROM (VALUES
	(1, 'uniform', 'all products alike', '12.9 ± 3.8'),
	(2, 'mixture', 'weights α', '2.4 ± 2.1'),
	(3, 'closest', 'the closest product', '2.5 ± 1.9'),
	(4, 'shrink', 'weights, `shrink => 3`', ''),
	(5, 'whiten', 'weights, `whiten => true`', ''),
	(6, 'whiten and shrink', 'weights, both', ''),
	(7, 'prior', 'a prior: `wml_prior`', ''),
	(8, 'tune', '`wml_tune`', ''),
	(9, 'mean', 'no other product: the mean of the known weeks', '')) AS list (rank, method, label, printed)
JOIN error USING (method)
GROUP BY rank, label, printed ORDER BY rank
\g (format=aligned border=2) :out/sales.table

-- The figure shows the first target
SELECT week, y FROM sales WHERE product = 301 ORDER BY week
\g :out/sales_weeks.csv
SELECT shots, week, max(wml_predict(coef, x)) FILTER (WHERE method = 'uniform') AS uniform,
	max(wml_predict(coef, x)) FILTER (WHERE method = 'mixture') AS mixture,
	max(wml_predict(coef, x)) FILTER (WHERE method = 'closest') AS closest,
	max(wml_predict(coef, x)) FILTER (WHERE method = 'prior') AS prior
FROM model JOIN sales ON product = target WHERE target = 301 GROUP BY shots, week ORDER BY shots, week
\g :out/sales_predictions.csv
