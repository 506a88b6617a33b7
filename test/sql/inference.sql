-- Tests and intervals: of a regression, of all tasks together, of two tasks, of priors.
\set VERBOSITY terse
-- the same numbers in every version of the server, whose random() they would not be
CREATE TEMP SEQUENCE draw;
CREATE FUNCTION pg_temp.uniform() RETURNS float8 LANGUAGE sql VOLATILE
AS $$ SELECT (('x' || substr(md5(nextval('draw')::text), 1, 12))::bit(48)::bigint + 0.5) / 2 ^ 48 $$;
CREATE TEMP TABLE example AS
SELECT task, i, x, 1 + 2 * x + (task % 5) + (pg_temp.uniform() - 0.5) * (1 + task % 3) AS y
FROM generate_series(1, 12) AS task, LATERAL (SELECT i, pg_temp.uniform() * 4 AS x FROM generate_series(1, 9) AS i WHERE task = task) AS r;
CREATE TEMP TABLE task AS SELECT task, wml_gram(ARRAY[1, x], y) AS gram FROM example GROUP BY task;

-- a regression's interval is its coefficient and the quantile of t times the error; R: confint(lm(dist ~ speed, cars))
CREATE TEMP TABLE cars (speed, dist) AS VALUES (4,2),(4,10),(7,4),(7,22),(8,16),(9,10),(10,18),(10,26),(10,34),(11,17),(11,28),(12,14),(12,20),(12,24),(12,28),(13,26),(13,34),(13,34),(13,46),(14,26),(14,36),(14,60),(14,80),(15,20),(15,26),(15,54),(16,32),(16,40),(17,32),(17,40),(17,50),(18,42),(18,56),(18,76),(18,84),(19,36),(19,46),(19,68),(20,32),(20,48),(20,52),(20,56),(20,64),(22,66),(23,54),(24,70),(24,92),(24,93),(24,120),(25,85);
SELECT feature, round(coefficient::numeric, 4) AS coefficient, round(std_error::numeric, 4) AS std_error, round(t::numeric, 3) AS t, round(p_value::numeric, 14) AS p_value,
	round(lower::numeric, 4) AS lower, round(upper::numeric, 4) AS upper
FROM (SELECT wml_gram(ARRAY[1, speed], dist) AS gram FROM cars) AS g, wml_linregr(gram, '{one,speed}');
SELECT bool_and(upper - lower < wider) AS narrower FROM (SELECT wml_gram(ARRAY[1, speed], dist) AS gram FROM cars) AS g, wml_linregr(gram, level => 0.5) AS half,
	LATERAL (SELECT upper - lower AS wider FROM wml_linregr(gram) AS whole WHERE whole.position = half.position) AS w;
SELECT wml_linregr(gram, level => 1) FROM task WHERE task = 1;
SELECT coefficient, std_error, p_value, lower FROM (SELECT wml_gram('{1}', 2) AS gram) AS one_row, wml_linregr(gram);

-- rows as clusters: the error of a mean is the usual one; tasks as clusters: from the rows' residuals by hand
SELECT abs(std_error / sd - 1) < 1e-12 AS mean FROM (SELECT array_agg(gram) AS grams, stddev(y) / sqrt(count(*)) AS sd FROM (SELECT y, wml_gram('{1}', y) AS gram FROM example GROUP BY task, i, y) AS r) AS g,
	wml_linregr_clustered(grams);
WITH pooled AS (SELECT regr_slope(y, x) AS b, regr_intercept(y, x) AS a, avg(x) AS mean_x, regr_sxx(y, x) AS sxx, count(*) AS n FROM example),
	score AS (SELECT sum((x - mean_x) * (y - a - b * x)) / sxx AS u FROM example, pooled GROUP BY task, sxx),
	expected AS (SELECT sqrt(12.0 / 11 * (n - 1) / (n - 2) * (SELECT sum(u ^ 2) FROM score)) AS error, b FROM pooled)
SELECT abs(std_error / error - 1) < 1e-10 AS std_error, abs(coefficient / b - 1) < 1e-10 AS coefficient, std_error > 0 AND p_value < 0.001 AS tested
FROM expected, (SELECT array_agg(gram) AS grams FROM task) AS g, wml_linregr_clustered(grams) WHERE position = 2;
SELECT std_error IS NULL AS one_cluster FROM task, wml_linregr_clustered(ARRAY[gram]) WHERE task = 1 AND position = 1;
SELECT wml_linregr_clustered('{}'::wml_gram[]);

-- has the task changed?  F from the residuals by hand
SELECT abs(f / ((both_ - apart) / 2 / (apart / 14)) - 1) < 1e-9 AS f, numerator, denominator, p_value BETWEEN 0 AND 1 AS p
FROM (SELECT a.gram AS a, b.gram AS b FROM task AS a, task AS b WHERE a.task = 1 AND b.task = 2) AS g, wml_chow(a, b),
	LATERAL (SELECT 9 * wml_mse(a, wml_coef(a)) + 9 * wml_mse(b, wml_coef(b)) AS apart, 18 * wml_mse(a + b, wml_coef(a + b)) AS both_) AS r;
SELECT p_value < 1e-4 AS other_level FROM task AS a, task AS b, wml_chow(a.gram, b.gram) WHERE a.task = 5 AND b.task = 4;
SELECT f, p_value FROM (SELECT wml_gram('{1,2}', 3) AS g) AS one, wml_chow(g, g);
SELECT wml_chow(NULL, gram) IS NULL AS nothing FROM task WHERE task = 1;

-- nested priors
CREATE TEMP TABLE nested AS
SELECT wml_prior(array_agg(gram ORDER BY task), fixed => '{2}') AS small, wml_prior(array_agg(gram ORDER BY task), covariance => 'diagonal', noise => 'own') AS large,
	wml_prior(array_agg(gram ORDER BY task), method => 'reml') AS reml FROM task;
SELECT degrees, abs(statistic - 2 * (wml_loglik(large) - wml_loglik(small))) < 1e-9 AS statistic, p_value BETWEEN 0 AND 1 AS p,
	abs(aic_smaller - (8 - 2 * wml_loglik(small))) < 1e-9 AS aic, abs(bic_larger - (ln(108::float8) * 7 - 2 * wml_loglik(large))) < 1e-9 AS bic
FROM nested, wml_prior_test(small, large);
SELECT wml_prior_test(large, small) FROM nested;
SELECT wml_prior_test(small, reml) FROM nested;
SELECT position, feature, descriptor, abs(mean - (wml_prior_mean(small))[position]) < 1e-12 AS mean, round(degrees::numeric, 1) AS degrees, p_value < 0.01 AS tested, lower < mean AND mean < upper AS bounds
FROM nested, wml_prior_mean_test(small, '{one,x}');
