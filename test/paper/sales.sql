-- Weekly sales: 300 products as sources, the next 20 as targets of which 5 or 10 weeks are known.
--
--     test/bin/with-postgres psql -X -v data=FILE -f test/paper/sales.sql
--
-- FILE is UCI's "Sales Transactions Dataset Weekly" of Tan and San Lau (2014): Product_Code, W0 ... W51.
-- Variables: features (10) and lengthscale in weeks (15) of the random Fourier features of the week.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
\if :{?features} \else \set features 10 \endif
\if :{?lengthscale} \else \set lengthscale 15 \endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS wml;

CREATE TEMP TABLE line (number int GENERATED ALWAYS AS IDENTITY, text text);
\set copy '\\copy line (text) FROM ' :'data'
:copy
CREATE TEMP TABLE sales AS
SELECT product, week - 1 AS week, units::float8 AS y, wml_rff(ARRAY[week - 1], :features, :lengthscale, 1) AS x
FROM (SELECT number - 1 AS product, string_to_array(text, ',') AS field FROM line WHERE number > 1) AS record,
	unnest(field[2:53]) WITH ORDINALITY AS sold (units, week);

CREATE TEMP TABLE source AS
SELECT product, wml_gram(x, y) AS gram FROM sales WHERE product <= 300 GROUP BY product;

CREATE TEMP TABLE target AS
SELECT product AS target, shots, wml_gram(x, y) FILTER (WHERE week < shots) AS known,
	wml_gram(x, y) FILTER (WHERE week >= shots) AS unknown
FROM sales, (VALUES (5), (10)) AS shot (shots) WHERE product BETWEEN 301 AND 320 GROUP BY product, shots;

\timing on
WITH weighted AS (
	SELECT target, shots, weights, gram, wml_alpha(gram, known, weights) OVER (PARTITION BY target, shots, weights) AS alpha
	FROM source, target, (VALUES ('uniform'), ('mixture'), ('closest')) AS choice (weights)
), fitted AS (
	SELECT target, shots, weights, wml_erm(gram, alpha) AS coef FROM weighted GROUP BY target, shots, weights
)
SELECT shots, weights, round(avg(wml_rmse(unknown, coef))::numeric, 2) AS rmse,
	round(stddev(wml_rmse(unknown, coef))::numeric, 2) AS spread
FROM fitted JOIN target USING (target, shots) GROUP BY shots, weights ORDER BY shots, weights;
