-- Hierarchical models of yes-or-no responses and counts
SET extra_float_digits = 0;
CREATE FUNCTION hash_normal(VARIADIC int[]) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT sum(('x' || substr(md5($1::text), 1 + 8 * k, 8))::bit(32)::int / 2147483648.0) * sqrt(3.0 / 4) FROM generate_series(0, 3) AS k $$;
CREATE FUNCTION hash_uniform(VARIADIC int[]) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT 0.5 + ('x' || left(md5($1::text), 8))::bit(32)::int / 4294967296.0 $$;
CREATE FUNCTION near(a float8[], b float8[], tolerance float8) RETURNS bool LANGUAGE sql IMMUTABLE
AS $$ SELECT bool_and(abs(u - v) <= tolerance * (1 + abs(v))) FROM unnest(a, b) AS pair (u, v) $$;

-- coefficients (-0.5, 0.7) on average, with standard deviations 1 and 0.5; ten rows a task
CREATE TABLE visit AS
SELECT task, i, x, (hash_uniform(task, i, 3) < 1 / (1 + exp(-eta)))::int AS bought, 1 + (i % 3) AS days,
	(SELECT count(*) FROM generate_series(1, 20) AS k WHERE hash_uniform(task, i, 100 + k) < exp(0.5 * eta) * (1 + (i % 3)) / 20) AS calls
FROM (SELECT task, -0.5 + hash_normal(task, 1) AS a, 0.7 + 0.5 * hash_normal(task, 2) AS b FROM generate_series(1, 400) AS task) AS t,
	generate_series(1, 10) AS i, LATERAL (SELECT ARRAY[1, hash_normal(task, i, 1)] AS x) AS feature,
	LATERAL (SELECT a * x[1] + b * x[2] AS eta) AS predictor;

CREATE TABLE learned AS
SELECT 'ep' AS how, wml_glm_prior('SELECT task, x, bought FROM visit WHERE task > 5', approximation => 'ep') AS prior
UNION ALL SELECT 'corrected', wml_glm_prior('SELECT task, x, bought FROM visit WHERE task > 5')
UNION ALL SELECT 'again', wml_glm_prior('SELECT task, x, bought FROM visit WHERE task > 5', reread => true)
UNION ALL SELECT 'pql', wml_glm_prior('SELECT task, x, bought FROM visit WHERE task > 5', 'Binomial', approximation => 'PQL')
UNION ALL SELECT 'pql again', wml_glm_prior('SELECT task, x, bought FROM visit WHERE task > 5', 'Binomial', approximation => 'PQL', reread => true)
UNION ALL SELECT 'calls', wml_glm_prior('SELECT task, x, calls, days FROM visit WHERE task > 5', 'poisson', approximation => 'ep')
UNION ALL SELECT 'calls again', wml_glm_prior('SELECT task, x, calls, days FROM visit WHERE task > 5', 'poisson', reread => true)
UNION ALL SELECT 'diagonal', wml_glm_prior('SELECT task, x, bought FROM visit WHERE task > 5', covariance => 'diagonal', method => 'reml');

SELECT how, converged, iterations <= 15 AS few_iterations, tasks, singular, abs(mean[1] / CASE WHEN how LIKE 'calls%' THEN 0.5 ELSE 1 END + 0.5) < 0.2 AS mean1, abs(mean[2] / CASE WHEN how LIKE 'calls%' THEN 0.5 ELSE 1 END - 0.7) < 0.2 AS mean2,
	round(sqrt(cov[1][1])::numeric, 1) AS sd1, round(sqrt(cov[2][2])::numeric, 1) AS sd2, wml_prior_noise(prior) AS noise
FROM learned, wml_prior_info(prior), LATERAL (SELECT wml_prior_mean(prior) AS mean, wml_prior_covariance(prior) AS cov) AS part ORDER BY how;

-- the query run again and again is the same as rows in memory, to the evidence; each ends when it moves by less than 1e-3
SELECT a.how, near(wml_prior_mean(a.prior), wml_prior_mean(b.prior), 3e-3) AS mean,
	near(ARRAY(SELECT unnest(wml_prior_covariance(a.prior))), ARRAY(SELECT unnest(wml_prior_covariance(b.prior))), 3e-3) AS covariance,
	abs(wml_loglik(a.prior) / wml_loglik(b.prior) - 1) < 1e-5 AS loglik
FROM learned AS a JOIN learned AS b ON (a.how, b.how) IN (('again', 'ep'), ('calls again', 'calls'), ('pql again', 'pql')) ORDER BY a.how;
SELECT wml_loglik(a.prior) > wml_loglik(b.prior) AS more_likely FROM learned AS a, learned AS b WHERE a.how = 'ep' AND b.how = 'pql';
-- corrections find somewhat more spread
SELECT k, c[k][k] / e[k][k] BETWEEN 1.01 AND 1.1 AS more, abs(wml_loglik(a.prior) / wml_loglik(b.prior) - 1) < 1e-3 AS loglik
FROM learned AS a, learned AS b, LATERAL (SELECT wml_prior_covariance(a.prior) AS c, wml_prior_covariance(b.prior) AS e) AS s, generate_series(1, 2) AS k
WHERE a.how = 'corrected' AND b.how = 'ep';
-- the family stays in the prior
SELECT how, prior::text LIKE '%family=binomial%' AS binomial, prior::text LIKE '%family=poisson%' AS poisson, prior::text::wml_prior::text = prior::text AS round_trip
FROM learned ORDER BY how;

-- an iteration in SQL: working grams at the posteriors, a prior from them, and so on, to the same end
CREATE FUNCTION iterate(steps int) RETURNS wml_prior LANGUAGE plpgsql AS $$
DECLARE
	prior wml_prior;
BEGIN
	CREATE TEMP TABLE state AS SELECT task, wml_working_gram(x, bought, 'binomial', NULL) AS gram FROM visit WHERE task > 5 GROUP BY task;
	FOR step IN 1 .. steps LOOP
		SELECT wml_glm_prior(array_agg(gram), 'binomial') INTO prior FROM state;
		CREATE TEMP TABLE next AS
		SELECT task, wml_working_gram(x, bought, 'binomial', coef, 1, 1, covariance) AS gram
		FROM visit JOIN (SELECT task, wml_posterior_coef(prior, gram) AS coef, wml_posterior_covariance(prior, gram) AS covariance FROM state) AS last USING (task)
		GROUP BY task;
		DROP TABLE state;
		ALTER TABLE next RENAME TO state;
	END LOOP;
	DROP TABLE state;
	RETURN prior;
END $$;
SELECT near(wml_prior_mean(iterate(25)), wml_prior_mean(prior), 1e-3) AS same FROM learned WHERE how = 'ep';

-- features with the same coefficient in all tasks: lme4's cbpp, cbind(incidence, size - incidence) ~ period + (1 | herd); glmer with nAGQ = 25
CREATE TABLE cbpp AS
SELECT herd, ARRAY[1, (period = 2)::int, (period = 3)::int, (period = 4)::int] AS x, incidence, size
FROM (VALUES (1, '{1,2,3,4}'::int[], '{2,3,4,0}'::int[], '{14,12,9,5}'::int[]), (2, '{1,2,3}', '{3,1,1}', '{22,18,21}'), (3, '{1,2,3,4}', '{8,2,0,2}', '{22,16,16,20}'),
	(4, '{1,2,3,4}', '{2,0,2,0}', '{10,10,9,6}'), (5, '{1,2,3,4}', '{5,0,0,1}', '{18,25,24,4}'), (6, '{1,2,3,4}', '{3,0,0,1}', '{17,17,18,20}'),
	(7, '{1,2,3,4}', '{8,1,3,0}', '{16,10,9,5}'), (8, '{1}', '{12}', '{34}'), (9, '{1,2,3,4}', '{2,0,0,0}', '{9,6,8,6}'),
	(10, '{1,2,3,4}', '{1,1,0,2}', '{22,22,18,22}'), (11, '{1,2,3,4}', '{0,5,3,1}', '{25,27,22,22}'), (12, '{1,2,3,4}', '{2,1,0,0}', '{10,8,6,5}'),
	(13, '{1,2,3,4}', '{1,2,0,0}', '{21,24,19,23}'), (14, '{1,2,3,4}', '{11,0,0,0}', '{19,2,3,2}'), (15, '{1,2,3,4}', '{1,1,1,0}', '{19,15,15,15}')) AS h (herd, periods, cases, sizes),
	unnest(periods, cases, sizes) AS u (period, incidence, size);
SELECT near(wml_prior_mean(prior), '{-1.399224,-0.991409,-1.127810,-1.579481}', 0.002) AS mean,
	near(wml_prior_mean_error(prior), '{0.233511,0.306768,0.326767,0.427596}', 0.005) AS error, abs(sqrt((wml_prior_covariance(prior))[1][1]) - 0.6475) < 0.003 AS sd,
	(wml_prior_covariance(prior))[2][2] AS spread, rank FROM (SELECT wml_glm_prior('SELECT herd, x, incidence, size FROM cbpp', fixed => '{2,3,4}', tolerance => 1e-6) AS prior) AS p, wml_prior_info(prior);
SELECT wml_glm_prior('SELECT herd, x, incidence, size FROM cbpp', fixed => '{5}');
DROP TABLE cbpp;

-- a target: its rows as a gram at their own posterior, which is a fixed point
CREATE TABLE target AS
SELECT task, how, wml_target_gram(x, bought, prior) AS gram FROM visit, learned WHERE task <= 3 AND how = 'ep' GROUP BY task, how
UNION ALL SELECT task, how, wml_target_gram(x, calls, prior, days) FROM visit, learned WHERE task <= 3 AND how = 'calls' GROUP BY task, how;
SELECT t.task, t.how, near(wml_posterior_coef(prior, t.gram), wml_posterior_coef(prior, again.gram), 1e-5) AS fixed_point
FROM target AS t JOIN learned USING (how), LATERAL (
	SELECT CASE how WHEN 'ep' THEN wml_working_gram(x, bought, 'binomial', coef, 1, 1, cov) ELSE wml_working_gram(x, calls, 'poisson', coef, days, 1, cov) END AS gram
	FROM visit, (SELECT wml_posterior_coef(prior, t.gram) AS coef, wml_posterior_covariance(prior, t.gram) AS cov) AS p WHERE visit.task = t.task) AS again
ORDER BY how, task;
SELECT wml_target_gram(x, bought, prior) IS NULL AS nothing FROM visit, learned WHERE false;
SELECT wml_target_gram(ARRAY[1], 1, prior) FROM learned WHERE how = 'ep';
SELECT wml_target_gram(ARRAY[1, 2], 2, prior) FROM learned WHERE how = 'ep';
SELECT wml_target_gram(ARRAY[1, 2], 1, prior, 'nan') FROM learned WHERE how = 'ep';

-- probabilities lie within their bounds, which widen with the level and without rows
SELECT p.probability BETWEEN p.lower AND p.upper AND p.lower > 0 AND p.upper < 1 AS within, w.upper - w.lower > p.upper - p.lower AS wider,
	n.upper - n.lower > p.upper - p.lower AS without_rows
FROM learned JOIN target USING (how), wml_predict_probability(prior, gram, '{1,0.3}', 0.8) AS p, wml_predict_probability(prior, gram, '{1,0.3}', 0.99) AS w,
	wml_predict_probability(prior, NULL, '{1,0.3}', 0.8) AS n WHERE how = 'ep' ORDER BY task;
SELECT abs(r.rate / a.rate - 2.5) < 1e-12 AS proportional, a.rate BETWEEN a.lower AND a.upper AS within
FROM learned JOIN target USING (how), wml_predict_rate(prior, gram, '{1,0.3}') AS a, wml_predict_rate(prior, gram, '{1,0.3}', exposure => 2.5) AS r WHERE how = 'calls' ORDER BY task;
-- a row survives a NULL
SELECT task, p.* FROM generate_series(1, 2) AS task, wml_predict_probability(NULL::wml_prior, NULL, '{1,2}') AS p;
-- the quality of probabilities for rows not known
CREATE TABLE judged AS
SELECT visit.task, i, bought, p.probability, wml_predict_probability(m.coef, x) AS pooled
FROM visit JOIN (SELECT task, wml_target_gram(x, bought, prior) AS gram FROM visit, learned WHERE how = 'ep' AND i <= 5 GROUP BY task) AS t USING (task),
	learned, wml_predict_probability(prior, gram, x) AS p, wml_glm_train('SELECT x, bought FROM visit WHERE i <= 5') AS m
WHERE how = 'ep' AND i > 5;
SELECT wml_log_loss(probability, bought = 1) < wml_log_loss(pooled, bought = 1) - 0.02 AS log_loss, wml_brier(probability, bought = 1) < wml_brier(pooled, bought = 1) AS brier,
	wml_auc(probability, bought = 1) > wml_auc(pooled, bought = 1) AS auc FROM judged;

-- classes against the first one
SELECT wml_class_probabilities('{0.5,0.75}') AS p, wml_class_probabilities('{1,0}') AS certain;
SELECT wml_class_probabilities('{0.5,1.5}');
SELECT round(wml_predict_probability('{1,2}', '{1,0.5}')::numeric, 6) AS p, round(wml_predict_rate('{1,2}', '{1,0.5}', 2)::numeric, 6) AS rate, wml_predict_probability('{1000}', '{1}') AS certain;
SELECT wml_predict_probability('{1,2}', '{1}');
SELECT wml_predict_rate('{1,2}', '{1,1}', -1);
SELECT wml_predict_rate(prior, NULL, '{1,2}') FROM learned WHERE how = 'ep';
SELECT wml_predict_probability(prior, NULL, '{1,2}') FROM learned WHERE how = 'calls';
SELECT wml_predict_probability(prior, NULL, '{1}') FROM learned WHERE how = 'ep';
SELECT wml_predict_probability(prior, NULL, '{1,inf}') FROM learned WHERE how = 'ep';
SELECT wml_predict_probability(prior, NULL, '{1,2}', 1) FROM learned WHERE how = 'ep';

-- a task of one class is nothing special; one class everywhere is an error
SELECT abs((wml_prior_mean(prior))[1]) < 5 AS finite, converged FROM (SELECT wml_glm_prior('SELECT task, x, CASE WHEN task % 2 = 0 THEN bought ELSE 0 END FROM visit WHERE task < 100') AS prior) AS p, wml_prior_info(prior);
SELECT wml_glm_prior('SELECT task, x, 0 FROM visit');
SELECT wml_glm_prior('SELECT task, x, days, days FROM visit');
SELECT wml_glm_prior('SELECT task, x, 0 FROM visit', 'poisson');
SELECT wml_glm_prior('SELECT task, x, 0 FROM visit', reread => true);
SELECT wml_glm_prior('SELECT task, x, 2 FROM visit');
SELECT wml_glm_prior('SELECT task, x, -1 FROM visit', 'poisson');
SELECT wml_glm_prior('SELECT task, x, 2 FROM visit', reread => true);
SELECT wml_glm_prior('SELECT task, x, 1, 0 FROM visit');
SELECT wml_glm_prior('SELECT task, x, bought FROM visit WHERE false');
SELECT wml_glm_prior('SELECT task, x, bought FROM visit WHERE false', reread => true);
SELECT wml_glm_prior('SELECT x, bought FROM visit');
SELECT wml_glm_prior('SELECT x, bought FROM visit', reread => true);
SELECT wml_glm_prior('SELECT task, x, bought FROM visit; DROP TABLE visit', reread => true);
SELECT wml_glm_prior('SELECT task, x, bought FROM visit', approximation => 'laplace');
SELECT wml_glm_prior('SELECT task, x, bought FROM visit', approximation => 'corrected', reread => true);
SELECT wml_glm_prior('SELECT task, x, bought FROM visit', iterations => 0);
SELECT wml_glm_prior('SELECT task, x, calls FROM visit', 'negative_binomial', reread => true);
SELECT wml_glm_prior('SELECT task, x, bought FROM visit', NULL);
SELECT wml_glm_prior(ARRAY[NULL]::wml_gram[], 'binomial');
SELECT wml_glm_prior('SELECT task, x, calls * 1e16 FROM visit', 'poisson');
SELECT wml_glm_prior('SELECT task, x, bought, 1e16 FROM visit', reread => true);
SELECT wml_predict_rate(prior, NULL, '{100,0}', 0.9, 1e300) FROM learned WHERE how = 'calls';
SELECT wml_predict_response(prior, NULL, '{1000,0}', 0.9, 1e300) FROM learned WHERE how = 'calls';
-- a class that never occurs, or a first class that never does, is an error; a target without rows of a class gets what the prior says
SELECT wml_glm_prior('SELECT task, x, (kind = 3)::int FROM (SELECT task, x, 1 + bought AS kind FROM visit) AS v WHERE kind IN (1, 3)');
SELECT wml_glm_prior('SELECT task, x, (kind = 3)::int FROM (SELECT task, x, 2 + bought AS kind FROM visit) AS v WHERE kind IN (1, 3)');
SELECT wml_predict_probability(prior, (SELECT wml_target_gram(x, bought, prior) FROM visit WHERE false), '{1,2}') = wml_predict_probability(prior, NULL, '{1,2}') AS as_prior FROM learned WHERE how = 'ep';
-- too few iterations
SELECT wml_glm_prior('SELECT task, x, bought FROM visit WHERE task < 50', iterations => 2) IS NOT NULL AS made;
-- counts with a dispersion of their own
SELECT abs((wml_prior_mean(prior))[1] + 0.25) < 0.2 AS mean, converged FROM (SELECT wml_glm_prior('SELECT task, x, calls, days FROM visit WHERE task < 200', 'negative_binomial') AS prior) AS p, wml_prior_info(prior);
-- that vary less than Poisson's: the dispersion goes to zero, and settles there
SELECT converged, iterations <= 20 AS soon, near(wml_prior_mean(prior), wml_prior_mean(poisson), 1e-3) AS as_poisson
FROM (SELECT wml_glm_prior(rows_of, 'negative_binomial') AS prior, wml_glm_prior(rows_of, 'poisson') AS poisson FROM (SELECT 'SELECT task, x, (i + task) % 3, 10 FROM visit WHERE task < 50' AS rows_of) AS q) AS p, wml_prior_info(prior);

-- counts that are mostly 0: with a dispersion that leaves nothing of the spread, all ways find the one rate of all tasks
CREATE TABLE zeros AS
SELECT task, i, ARRAY[1]::float8[] AS x, (CASE WHEN (task * 7 + i * 13) % 10 = 0 THEN 1 + task * i % 9 ELSE 0 END)::float8 AS y
FROM generate_series(1, 40) AS task, generate_series(1, 20) AS i;
SET wml.progress = off;
CALL wml_glm_iterate('zeros_ep', 'zeros', 'task', 'x', 'y', 'negative_binomial(20)');
CALL wml_glm_iterate('zeros_pql', 'zeros', 'task', 'x', 'y', 'negative_binomial(20)', approximation => 'pql');
RESET wml.progress;
SELECT way, round((wml_prior_mean(prior))[1]::numeric, 4) AS mean, round(sqrt((wml_prior_covariance(prior))[1][1])::numeric, 4) AS sd, converged
FROM (
	SELECT way, wml_glm_prior('SELECT task, x, y FROM zeros', 'negative_binomial(20)', approximation => substring(way FROM '[a-z]+'), reread => way LIKE '% again') AS prior
	FROM unnest(ARRAY['corrected', 'ep', 'ep again', 'pql', 'pql again']) AS way
	UNION ALL SELECT 'ep step by step', wml_glm_prior(array_agg(gram), 'negative_binomial(20)') FROM zeros_ep
	UNION ALL SELECT 'pql step by step', wml_glm_prior(array_agg(gram), 'negative_binomial(20)') FROM zeros_pql
) AS p, wml_prior_info(prior);
-- with less dispersion some spread is left, the same whether the rows are kept or read again
SELECT approximation, abs((wml_prior_covariance(kept))[1][1] / (wml_prior_covariance(again))[1][1] - 1) < 0.01 AS same
FROM unnest(ARRAY['ep', 'pql']) AS approximation,
	LATERAL (SELECT wml_glm_prior('SELECT task, x, y FROM zeros', 'negative_binomial(1)', approximation => approximation) AS kept,
		wml_glm_prior('SELECT task, x, y FROM zeros', 'negative_binomial(1)', approximation => approximation, reread => true) AS again) AS p;
DROP TABLE zeros, zeros_ep, zeros_pql;

-- weights of tasks: 0 and 1 are the same as leaving tasks out, whatever the factor, and the evidence too
CREATE TABLE weighed AS
SELECT 'fewer' AS how, wml_glm_prior('SELECT task, x, bought FROM visit WHERE task <= 60', approximation => 'ep') AS prior
UNION ALL SELECT 'alpha', wml_glm_prior('SELECT task, x, bought, 1, 1, CASE WHEN task <= 60 THEN 7 ELSE 0 END FROM visit WHERE task <= 90', approximation => 'ep')
UNION ALL SELECT 'alpha again', wml_glm_prior('SELECT task, x, bought, 1, 1, CASE WHEN task <= 60 THEN 7 ELSE 0 END FROM visit WHERE task <= 90', reread => true)
UNION ALL SELECT 'uneven', wml_glm_prior('SELECT task, x, bought, 1, 1, task FROM visit WHERE task <= 60', approximation => 'ep')
UNION ALL SELECT 'uneven again', wml_glm_prior('SELECT task, x, bought, 1, 1, task FROM visit WHERE task <= 60', reread => true);
SELECT a.how, b.how, near(wml_prior_mean(a.prior), wml_prior_mean(b.prior), 2e-3) AS mean, abs(wml_loglik(a.prior) / wml_loglik(b.prior) - 1) < 1e-4 AS loglik
FROM weighed AS a JOIN weighed AS b ON (a.how, b.how) IN (('alpha', 'fewer'), ('alpha again', 'fewer'), ('uneven again', 'uneven'), ('uneven', 'fewer')) ORDER BY a.how;
SELECT wml_glm_prior('SELECT task, x, bought, 1, 1, i FROM visit WHERE task <= 60');
SELECT wml_glm_prior('SELECT task, x, bought, 1, 1, i FROM visit WHERE task <= 60', reread => true);
SELECT wml_glm_prior('SELECT task, x, bought, 1, 1, -1 FROM visit WHERE task <= 60');
SELECT wml_glm_prior('SELECT task, x, bought, 1, 1, 0 FROM visit WHERE task <= 60');

-- pass after pass over a table, in a table
SET wml.progress = off;
CALL wml_glm_iterate('visit_state', 'visit', 'CASE WHEN task > 5 THEN task END', 'x', 'bought', tolerance => 1e-5);
SELECT count(*) AS tasks, near(wml_prior_mean(wml_glm_prior(array_agg(gram), 'binomial')), (SELECT wml_prior_mean(prior) FROM learned WHERE how = 'ep'), 1e-3) AS mean,
	near(wml_prior_mean_error(wml_glm_prior(array_agg(gram), 'binomial')), (SELECT wml_prior_mean_error(prior) FROM learned WHERE how = 'ep'), 1e-3) AS error
FROM visit_state;
-- it goes on from what is there
CALL wml_glm_iterate('visit_state', 'visit', 'CASE WHEN task > 5 THEN task END', 'x', 'bought', tolerance => 1e-4, iterations => 1, commits => true);
-- weights of tasks, the same in all rows of one
CALL wml_glm_iterate('visit_weighed', 'visit', 'task', 'x', 'bought', alpha => 'CASE WHEN task > 5 THEN 2 ELSE 0 END', tolerance => 1e-5);
SELECT near(wml_prior_mean(wml_glm_prior(array_agg(gram), 'binomial', array_agg(alpha))), (SELECT wml_prior_mean(prior) FROM learned WHERE how = 'ep'), 1e-3) AS mean,
	array_agg(DISTINCT alpha) AS alpha FROM visit_weighed;
\set SHOW_CONTEXT never
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x', 'bought', alpha => 'x[2]');
RESET wml.progress;
CALL wml_glm_iterate('visit_rates', 'visit', 'task', 'x', 'calls', 'poisson', exposure => 'days', weight => '1', approximation => 'pql', iterations => 3, tolerance => 0);
SELECT count(*) AS tasks FROM visit_rates;
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x', '2');
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x', 'bought', approximation => 'laplace');
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x', 'bought', iterations => 0);
-- what is no expression and no name does not get into a statement
CALL wml_glm_iterate('visit_wrong', 'visit', 'task) FROM visit; DROP TABLE visit; --', 'x', 'bought');
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x', 'bought FROM visit; DROP TABLE visit; --');
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x, x', 'bought');
CALL wml_glm_iterate('visit_wrong', 'visit', 'task', 'x', 'bought', weight => NULL);
CALL wml_glm_iterate('visit_wrong AS SELECT 1; DROP TABLE visit; --', 'visit', 'task', 'x', 'bought');
\set SHOW_CONTEXT errors
SELECT to_regclass('visit_wrong');
DROP TABLE visit_state, visit_weighed, visit_rates, weighed;

-- hard data: what separates all tasks, what is huge, what depends on other features
SELECT how, abs((wml_prior_mean(prior))[2]) < 1e6 AS finite FROM (SELECT 'ep' AS how, wml_glm_prior('SELECT task, x, (x[2] > 0)::int FROM visit WHERE task <= 50', iterations => 5) AS prior
	UNION ALL SELECT 'pql', wml_glm_prior('SELECT task, x, (x[2] > 0)::int FROM visit WHERE task <= 50', approximation => 'pql', iterations => 5)) AS separated ORDER BY how;
SELECT near(ARRAY[(wml_prior_mean(huge))[1], (wml_prior_mean(huge))[2] * 1e6], wml_prior_mean(plain), 2e-2) AS units, near(ARRAY[(wml_prior_mean(shifted))[1] + 1e3 * (wml_prior_mean(shifted))[2], (wml_prior_mean(shifted))[2]], wml_prior_mean(plain), 2e-2) AS shifts
FROM (SELECT wml_glm_prior('SELECT task, x, bought FROM visit WHERE task <= 100') AS plain, wml_glm_prior('SELECT task, ARRAY[1, 1e6 * x[2]], bought FROM visit WHERE task <= 100') AS huge,
	wml_glm_prior('SELECT task, ARRAY[1, 1e3 + x[2]], bought FROM visit WHERE task <= 100') AS shifted) AS fit;
SELECT round(((wml_prior_mean(prior))[2] / (wml_prior_mean(prior))[3])::numeric, 3) AS ratio, converged FROM (SELECT wml_glm_prior('SELECT task, ARRAY[1, x[2], 2 * x[2]], bought FROM visit WHERE task <= 100') AS prior) AS collinear, wml_prior_info(prior);
SELECT wml_glm_prior('SELECT task, ARRAY[1, ''inf''::float8], bought FROM visit WHERE task <= 100');
SELECT wml_glm_prior('SELECT task, ARRAY[1, ''NaN''::float8], bought FROM visit WHERE task <= 100');
SELECT wml_glm_prior('SELECT task, x, calls, 1e308 FROM visit WHERE task <= 100', 'poisson') IS NOT NULL AS made;
SELECT wml_glm_prior('SELECT task, x, calls, ''inf''::float8 FROM visit WHERE task <= 100', 'poisson');
SELECT abs((wml_prior_mean(a))[1] - (wml_prior_mean(b))[1]) < 1e-6 AS poisson FROM (SELECT wml_glm_prior('SELECT task, x, calls, days FROM visit WHERE task < 100', 'poisson') AS a, wml_glm_prior('SELECT task, x, calls, days FROM visit WHERE task < 100', 'negative_binomial(0)') AS b) AS pair;
-- rare events: three yeses in a thousand rows
SELECT approximation, abs((wml_prior_mean(prior))[1]) < 50 AS finite FROM (SELECT a AS approximation, wml_glm_prior('SELECT task, ARRAY[1], (i = 1 AND task IN (3, 33, 63))::int FROM visit WHERE task <= 100', approximation => a) AS prior FROM unnest('{ep,pql}'::text[]) AS a) AS rare;

-- counts that vary more than chance explains: a warning under poisson, wherever it is fitted to rows
CREATE TABLE excess AS
SELECT task, i, x, x[2] AS b, calls, 3 * calls AS tripled, days FROM visit WHERE task <= 120;
SELECT wml_family(wml_glm_prior('SELECT task, x, tripled, days FROM excess', 'poisson'));
SELECT wml_family(wml_glm_prior('SELECT task, x, tripled, days FROM excess', 'poisson', approximation => 'pql'));
SELECT tasks FROM wml_learn('excess_set', 'excess', task => 'task', response => 'tripled', features => 'b', exposure => 'days', family => 'poisson', rehearse => 0);
SELECT converged FROM wml_glm_train('SELECT x, tripled, days FROM excess', 'poisson');
SELECT (wml_glm(x, tripled, 'poisson', days)).converged FROM excess;
-- not where there is no such excess, where another family allows for it, nor where weights change what chance does
SELECT wml_family(wml_glm_prior('SELECT task, x, calls, days FROM excess', 'poisson'));
SELECT wml_family(wml_glm_prior('SELECT task, x, tripled, days FROM excess', 'negative_binomial')) LIKE 'negative%' AS dispersed;
SELECT wml_family(wml_glm_prior('SELECT task, x, tripled, days, 0.5 FROM excess', 'poisson'));
SELECT converged FROM wml_glm_train('SELECT x, tripled, days, 2 FROM excess', 'poisson');
SELECT wml_drop('excess_set');
DROP TABLE excess;
DROP TABLE visit, learned, target, judged;
DROP FUNCTION hash_normal, hash_uniform, near, iterate;
