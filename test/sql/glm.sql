-- Generalised linear models of one set of rows, against R's glm, and measures of probabilities
CREATE TABLE glm_row AS
SELECT i, i % 8 AS task, ARRAY[1, sin(i), cos(2 * i)] AS x, (sin(3.7 * i) + 0.8 * sin(i) > 0)::int AS y,
	(1 + i % 4)::float8 AS trials, floor((1 + i % 4) * (0.5 + 0.5 * sin(1.3 * i))) AS successes,
	floor(3 * exp(0.5 * sin(i)) * (1 + sin(2.1 * i)) ^ 2) AS count, 0.5 + i % 5 AS exposure, 0.25 * (1 + i % 3) AS weight
FROM (SELECT i::float8::int AS i FROM generate_series(1, 400) AS i) AS n;

-- coefficients, standard errors, deviance, log-likelihood of glm with epsilon = 1e-15; of MASS's theta.ml for the negative binomial
CREATE TABLE glm_r (model text, coef float8[], std_error float8[], deviance float8, loglik float8);
INSERT INTO glm_r VALUES
	('logistic', '{-0.00518104540929283,1.32549884304261112,0.01626825248443945}', '{0.111566900299067,0.164711809036997,0.157353232461333}', 479.033717471683, -239.516858735842),
	('successes', '{-0.82374084035405903,-0.00326589907653305,0.03416370321813254}', '{0.0686934086259891,0.0975215686376078,0.0971061424749711}', 532.203644871997, -412.02754236156),
	('poisson', '{1.4091563823171418,0.5471493505983707,0.0515340560879932}', '{0.0256855479912395,0.0373468639701733,0.0350094637759426}', 2178.21143680018, -1540.46043067553),
	('exposure', '{0.4928730243214532,0.5438879932419262,0.0457601140045728}', '{0.0256858584859860,0.0373499375653548,0.0349530383186744}', 3003.86115076558, -1953.28528765824),
	('weighted', '{-0.0477077950195652,1.3447379728817233,0.1152590824157231}', '{0.158491247449388,0.234454658777062,0.223504897434331}', 238.497030412991, NULL),
	('gaussian', '{4.399408995337296,2.264987778004144,-0.087171208825213}', '{0.240298660740675,0.339648805150517,0.340094625125905}', 9169.52974528781, -1194.01076027416);

CREATE TABLE glm_fit AS
SELECT 'logistic' AS model, fit.* FROM wml_glm_train('SELECT x, y FROM glm_row') AS fit
UNION ALL SELECT 'successes', fit.* FROM wml_glm_train('SELECT x, successes, trials FROM glm_row', 'binomial') AS fit
UNION ALL SELECT 'poisson', fit.* FROM wml_glm_train('SELECT x, count FROM glm_row', 'Poisson') AS fit
UNION ALL SELECT 'exposure', fit.* FROM wml_glm_train('SELECT x, count, exposure FROM glm_row', 'poisson') AS fit
UNION ALL SELECT 'weighted', fit.* FROM wml_glm_train('SELECT x, y, 1, weight FROM glm_row', 'binomial') AS fit
UNION ALL SELECT 'gaussian', fit.* FROM wml_glm_train('SELECT x, count FROM glm_row', 'gaussian') AS fit;

SELECT model, n, rank, iterations <= 8 AS few_iterations, converged, separated,
	(SELECT max(abs(a - b)) < 1e-8 FROM unnest(f.coef, r.coef) AS pair (a, b)) AS coef,
	(SELECT max(abs(a / b - 1)) < 1e-8 FROM unnest(f.std_error, r.std_error) AS pair (a, b)) AS std_error,
	abs(f.deviance / r.deviance - 1) < 1e-10 AS deviance, abs(f.loglik / r.loglik - 1) < 1e-10 AS loglik
FROM glm_fit AS f JOIN glm_r AS r USING (model) ORDER BY model;

SELECT max(abs(a - b)) < 1e-6 AS coef, abs(dispersion / 1.70728863067488 - 1) < 1e-5 AS dispersion, abs(deviance / 439.374251631023 - 1) < 1e-6 AS deviance
FROM wml_glm_train('SELECT x, count FROM glm_row', 'negative_binomial') AS f,
	unnest(coef || std_error, '{1.4092831049492101,0.5463719974973014,0.0485004854745818,0.0701983110982436,0.0996187811988216,0.0992878006046056}'::float8[]) AS pair (a, b)
GROUP BY f.dispersion, f.deviance;

-- the aggregate is the same, and one model for each task
SELECT (wml_glm(x, y, 'binomial')).coef = (SELECT coef FROM glm_fit WHERE model = 'logistic') AS same,
	(wml_glm(x, successes, 'binomial', trials)).coef = (SELECT coef FROM glm_fit WHERE model = 'successes') AS same_successes,
	(wml_glm(x, y, 'binomial', 1, weight)).coef = (SELECT coef FROM glm_fit WHERE model = 'weighted') AS same_weighted FROM glm_row;
SELECT count(*), bool_and((m).converged AND NOT (m).separated) AS fine, sum((m).n) AS n
FROM (SELECT task, wml_glm(x, y, 'binomial') AS m FROM glm_row GROUP BY task) AS model;

-- rows with NULL are skipped; without rows there is no model
SELECT (m).n, (m).skipped FROM (SELECT wml_glm(x, nullif(y, 2), 'binomial') AS m FROM (
	SELECT x, y FROM glm_row UNION ALL SELECT NULL, 1 UNION ALL SELECT '{1,2,3}', NULL UNION ALL SELECT '{1,NULL,3}', 1) AS r) AS model;
SELECT wml_glm(x, y, 'binomial') IS NULL AS none FROM glm_row WHERE false;

-- a coefficient of the ridge: the penalised score is zero
SELECT max(abs(score - 2 * w)) < 1e-9 AS is_zero
FROM (SELECT k, coef[k] AS w, sum(x[k] * (y - 1 / (1 + exp(-wml_predict(coef, x))))) AS score
	FROM wml_glm_train('SELECT x, y FROM glm_row', ridge => 2) AS m, glm_row, generate_series(1, 3) AS k GROUP BY k, coef) AS s;

-- separated classes: finite, with a warning; Firth's estimate of y = 0 0 0 0 is the logit of (0 + 1/2) / (4 + 1)
SELECT round(coef[1]::numeric, 6) AS coef, round(ln(0.5 / 4.5)::numeric, 6) AS expected, separated, converged
FROM wml_glm_train('SELECT ARRAY[1], 0 FROM generate_series(1, 4)');
SELECT round(coef[1]::numeric, 6) AS coef, round(ln(0.5 / 4)::numeric, 6) AS expected, separated, converged
FROM wml_glm_train('SELECT ARRAY[1], 0 FROM generate_series(1, 4)', 'poisson');
SELECT separated, converged, coef[2] BETWEEN 0.1 AND 10 AS finite FROM wml_glm_train('SELECT ARRAY[1, i], (i > 5)::int FROM generate_series(1, 10) AS i');
SELECT separated, converged, coef[2] BETWEEN 0.1 AND 10 AS finite FROM wml_glm_train('SELECT ARRAY[1, i], (i > 5)::int FROM generate_series(1, 10) AS i', ridge => 0.1);
-- nearly separated is not separated
SELECT separated, converged FROM wml_glm_train('SELECT ARRAY[1, i], (i > 5 AND i <> 7 OR i = 3)::int FROM generate_series(1, 40) AS i');
SELECT separated, converged FROM wml_glm_train('SELECT ARRAY[1, i * 1e6], (i > 5 AND i <> 7 OR i = 3)::int FROM generate_series(1, 1000) AS i');
-- collinear features, more features than rows
SELECT rank, converged, abs(coef[2] - coef[3]) < 1e-9 AS least_norm FROM wml_glm_train('SELECT ARRAY[1, x[2], x[2]], y FROM glm_row');
SELECT rank, converged, separated FROM wml_glm_train('SELECT x || ARRAY[sin(5 * i), sin(7 * i)], y FROM glm_row WHERE i < 4');

-- what a family cannot have
SELECT wml_glm_train('SELECT ARRAY[1], 2');
SELECT wml_glm_train('SELECT ARRAY[1], -1');
SELECT wml_glm_train('SELECT ARRAY[1], 3, 2');
SELECT wml_glm_train('SELECT ARRAY[1], -1', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1, 0', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1, ''inf''::float8', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], ''nan''::float8', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1, 1, -1', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1, 1, 0', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1 WHERE false', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1', 'logit');
SELECT wml_glm_train('SELECT ARRAY[1], 1', 'poisson(2)');
SELECT wml_glm_train('SELECT ARRAY[1], 1', 'negative_binomial(x)');
SELECT wml_glm_train('SELECT ARRAY[1], 1', ridge => -1);
SELECT wml_glm_train('SELECT ARRAY[1], 1', ridge => 1, firth => true);
SELECT wml_glm_train('SELECT 1, 1');
SELECT wml_glm(ARRAY[1], 'nan', 'poisson');
SELECT wml_glm(ARRAY[1], 2, 'binomial');
SELECT wml_glm(ARRAY['inf'::float8], 1, 'binomial');
SELECT wml_glm(ARRAY[[1]], 1, 'binomial');
SELECT wml_glm(x, 1, 'binomial') FROM (VALUES (ARRAY[1, 2]), (ARRAY[1])) AS v (x);

-- an offset that overflows as an exposure, and one that does not
SELECT wml_glm_train('SELECT ARRAY[1], 1, exp(800::float8)', 'poisson');
-- counts and trials that are no longer whole numbers, exposures that no coefficients can make up for
SELECT wml_glm_train('SELECT ARRAY[1], 1e16', 'poisson');
SELECT wml_glm_train('SELECT ARRAY[1], 1e200', 'negative_binomial');
SELECT wml_glm_train('SELECT ARRAY[1], 1, 1e16');
SELECT wml_glm_train('SELECT ARRAY[1], 1, exp(700 * i::float8) FROM unnest(ARRAY[-1, 1]) AS i', 'poisson');
SELECT wml_predict_rate('{800}', '{1}') = exp(300::float8) AS bounded, wml_predict_rate('{-800}', '{1}') = exp(-300::float8) AS positive;
SELECT wml_predict_rate('{300}', '{1}', 1e300);
SELECT abs(coef[1] - (ln(2) - 600)) < 1e-9 AS fine FROM wml_glm_train('SELECT ARRAY[1], 2, exp(600::float8)', 'poisson') AS m;

-- the working gram at the fit has the fit for its solution, whichever way the rows come
SELECT family, (SELECT max(abs(a - b)) < 1e-9 FROM unnest(again, coef) AS pair (a, b)) AS fixed_point
FROM (SELECT 'binomial' AS family, m.coef, (SELECT array_agg(l.coefficient ORDER BY position) FROM wml_linregr(wml_working_gram(x, y, 'binomial', m.coef)) AS l) AS again
	FROM glm_fit AS m, glm_row WHERE model = 'logistic' GROUP BY m.coef
	UNION ALL SELECT 'poisson', m.coef, (SELECT array_agg(l.coefficient ORDER BY position) FROM wml_linregr(wml_working_gram(x, count, 'poisson', m.coef, exposure)) AS l)
	FROM glm_fit AS m, glm_row WHERE model = 'exposure' GROUP BY m.coef) AS again;
SELECT wml_working_gram(x, y, 'binomial', '{1,2,3}'::float8[]) = (SELECT wml_merge(gram) FROM (
	SELECT wml_working_gram(x, y, 'binomial', '{1,2,3}'::float8[]) AS gram FROM glm_row GROUP BY task) AS part) AS merged FROM glm_row;
SELECT wml_n(wml_working_gram(x, y, 'binomial', NULL)), wml_skipped(wml_working_gram(CASE WHEN i > 5 THEN x END, y, 'binomial', NULL)) FROM glm_row;
SELECT wml_working_gram(x, y, 'binomial', '{1,2}'::float8[]) FROM glm_row;
SELECT wml_working_gram(x, y + 1, 'binomial', '{1,2,3}'::float8[]) FROM glm_row;
SELECT wml_working_gram(x, y, 'negative_binomial', '{1,2,3}'::float8[]) FROM glm_row;
SELECT wml_working_gram(x, y, 'binomial', '{nan,2,3}'::float8[]) FROM glm_row;
SELECT wml_working_gram(x, y, 'binomial', '{1,2,3}'::float8[], 1, 1, '{{1}}') FROM glm_row;
SELECT wml_n(wml_working_gram(x, y, 'binomial', '{1e9,2,3}'::float8[])) AS n FROM glm_row;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE glm_row SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT wml_working_gram(x, y, 'binomial', '{1,2,3}'::float8[]) FROM glm_row;
EXPLAIN (COSTS OFF) SELECT wml_log_loss(0.5, y = 1), wml_brier(0.5, y = 1), wml_calibration(0.5, y = 1, 3) FROM glm_row;
SELECT n, round(predicted::numeric, 4) AS predicted, round(observed::numeric, 4) AS observed
FROM unnest((SELECT wml_calibration(0.5 + 0.49 * sin(i), y = 1, 3) FROM glm_row)) AS bin;
RESET ALL;

-- measures
SELECT round(wml_log_loss(p, y)::numeric, 12) AS log_loss, round(-(ln(0.8) + ln(0.7)) / 2, 12) AS expected, round(wml_brier(p, y)::numeric, 12) AS brier FROM (VALUES (0.8, true), (0.3, false), (NULL, true)) AS v (p, y);
SELECT round(wml_log_loss(p, c)::numeric, 12) AS log_loss, round(-(ln(0.5) + ln(0.2)) / 2, 12) AS expected FROM (VALUES ('{0.2,0.5,0.3}'::float8[], 2), ('{0.2,0.5,0.3}', 1)) AS v (p, c);
SELECT wml_log_loss(0::float8, true) AS certain_and_wrong, wml_log_loss(NULL::float8, true) AS nothing;
SELECT wml_log_loss(1.5, true);
SELECT wml_brier('nan', true);
SELECT wml_log_loss('{0.5,0.5}'::float8[], 3);
SELECT wml_calibration(0.5, true, 0);
SELECT wml_calibration(0.5, true, b) FROM generate_series(1, 2) AS b;
SELECT wml_calibration(p, true, 2) FROM (VALUES (0.0), (0.5), (1.0)) AS v (p);

DROP TABLE glm_row, glm_r, glm_fit;
