-- Priors for tables that break the plain model: noises of tasks, tasks that do not belong, fixed features, descriptors.
\set VERBOSITY terse
SET client_min_messages = warning;
-- the same numbers in every version of the server, whose random() they would not be
CREATE TEMP SEQUENCE draw;
CREATE FUNCTION pg_temp.uniform() RETURNS float8 LANGUAGE sql VOLATILE
AS $$ SELECT (('x' || substr(md5(nextval('draw')::text), 1, 12))::bit(48)::bigint + 0.5) / 2 ^ 48 $$;
CREATE FUNCTION pg_temp.normal() RETURNS float8 LANGUAGE sql VOLATILE
AS $$ SELECT sqrt(-2 * ln(1 - pg_temp.uniform())) * cos(2 * pi() * pg_temp.uniform()) $$;

-- tasks whose slope follows a descriptor, with noises of their own; every tenth does not belong
CREATE TEMP TABLE example AS
SELECT task, size, task % 10 = 0 AS strange, i, ARRAY[1, a, b]::float8[] AS x,
	1 + u + (2 + 0.5 * size + v) * a - b + noise * e + CASE WHEN task % 10 = 0 THEN 30 * a ELSE 0 END AS y
FROM (SELECT task, task % 7 AS size, pg_temp.normal() AS u, 0.3 * pg_temp.normal() AS v, exp(0.7 * pg_temp.normal()) AS noise
	  FROM generate_series(1, 80) AS task) AS t,
	LATERAL (SELECT i, pg_temp.normal() AS a, pg_temp.normal() AS b, pg_temp.normal() AS e FROM generate_series(1, 25) AS i WHERE task = task) AS r;
CREATE TEMP TABLE task AS
SELECT task, strange, array_agg(DISTINCT size::float8) AS size, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE i <= 5) AS few
FROM example GROUP BY task, strange;

-- the array and the aggregate are the same; options without meaning are refused
SELECT wml_prior(array_agg(gram ORDER BY task))::text = wml_prior(gram ORDER BY task)::text AS plain,
	wml_prior(array_agg(gram ORDER BY task), array_agg(task::float8 ORDER BY task))::text = wml_prior(gram, task::float8 ORDER BY task)::text AS weighted,
	wml_prior(array_agg(gram ORDER BY task), method => 'reml', noise => 'own', tasks => 't', fixed => '{3}')::text
		= wml_prior(gram, 1, wml_prior_options(method => 'reml', noise => 'own', tasks => 't', fixed => '{3}') ORDER BY task)::text AS robust,
	wml_prior(array_agg(gram ORDER BY task), descriptors => array_agg(size ORDER BY task))::text
		= wml_prior(gram, 1, wml_prior_options(), size ORDER BY task)::text AS described
FROM task;
SELECT wml_prior(gram) IS NULL AS nothing FROM task WHERE task < 0;
SELECT wml_prior(gram, 1, ROW(1, 2)) FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(), CASE WHEN task > 5 THEN '{1,2}' ELSE '{1}'::float8[] END) FROM task;
SELECT wml_prior_options(noise => 'loud');
SELECT wml_prior_options(tasks => 'odd');
SELECT wml_prior_options(degrees => 0.5);
SELECT wml_prior(array_agg(gram), fixed => '{4}') FROM task;
SELECT wml_prior(array_agg(gram), fixed => '{price}', features => '{one,a}') FROM task;
SELECT wml_prior(array_agg(gram), descriptors => '{{1},{2}}') FROM task;

-- everything learned: the model, the noises, who does not belong
CREATE TEMP TABLE learned AS
SELECT kind, wml_prior(gram, 1, wml_prior_options(method => 'reml', noise => noise, tasks => tasks) ORDER BY task) AS prior
FROM task, (VALUES ('plain', 'common', 'normal'), ('robust', 'own', 't')) AS k (kind, noise, tasks) GROUP BY kind;
SELECT kind, converged, noise_shape BETWEEN 0.5 AND 3 AS shape, spread_degrees < 5 AS tails, sqrt((wml_prior_covariance(prior))[2][2]) > 5 AS misled
FROM learned, wml_prior_info(prior) ORDER BY kind;
SELECT bool_and((weight < 0.05) = strange) AS named FROM learned, task, wml_task_fit(prior, gram) WHERE kind = 'robust';
SELECT bool_and(weight = 1) AS all_alike, count(DISTINCT noise) AS noises FROM learned, task, wml_task_fit(prior, gram) WHERE kind = 'plain';

-- 'auto' is robust where that is worth its parameters, and plain where it is not; what is given stays
CREATE TEMP TABLE alike AS
SELECT task, wml_gram(ARRAY[1, a], u + a + pg_temp.normal()) AS gram, wml_gram(ARRAY[1, a], (u + a + pg_temp.normal()) * CASE WHEN task = 2 AND i = 1 THEN 100 ELSE 1 END) AS typed
FROM (SELECT task, pg_temp.normal() AS u FROM generate_series(1, 6) AS task) AS t, LATERAL (SELECT i, pg_temp.normal() AS a FROM generate_series(1, 15) AS i WHERE task = task) AS r GROUP BY task;
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', noise => 'auto', tasks => 'auto') ORDER BY task)::text = (SELECT prior::text FROM learned WHERE kind = 'robust') AS robust
FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(noise => 'auto', tasks => 'auto') ORDER BY task)::text = wml_prior(gram ORDER BY task)::text AS plain,
	wml_prior(array_agg(gram ORDER BY task), noise => 'auto', tasks => 't')::text = wml_prior(array_agg(gram ORDER BY task), tasks => 't')::text AS t_alone,
	wml_prior(typed, 1, wml_prior_options(noise => 'auto', tasks => 'auto') ORDER BY task)::text = wml_prior(typed, 1, wml_prior_options(noise => 'own', tasks => 't') ORDER BY task)::text AS typed,
	wml_prior(typed, 1, wml_prior_options(noise => 'auto') ORDER BY task)::text = wml_prior(typed, 1, wml_prior_options(noise => 'own') ORDER BY task)::text AS own_alone,
	wml_prior(array_agg(wml_gram), noise => 'auto', tasks => 'auto')::text = wml_prior(array_agg(wml_gram))::text AS exact
FROM alike, LATERAL (SELECT wml_gram(ARRAY[1, i], i + task) FROM generate_series(1, 5) AS i) AS e;

-- text and binary form keep it all
SELECT bool_and(prior::text::wml_prior::text = prior::text) AS exact FROM learned;

-- five rows of each task, predictions of the others: better, and covered as often as promised, in each kind of noise
SELECT kind, round(avg((y BETWEEN lower AND upper)::int), 2) BETWEEN 0.85 AND 0.95 AS covered,
	avg((y BETWEEN lower AND upper)::int) FILTER (WHERE noisy) > 0.8 AS covered_where_noisy
FROM (SELECT *, ntile(4) OVER (PARTITION BY kind ORDER BY sd) = 4 AS noisy
	  FROM (SELECT kind, e.task, y, lower, upper, stddev(y - estimate) OVER (PARTITION BY kind, e.task) AS sd
			FROM learned, task AS t JOIN example AS e USING (task), wml_predict_interval(prior, few, x, 0.9) WHERE i > 5 AND NOT t.strange) AS p) AS q
GROUP BY kind ORDER BY kind;
SELECT sum(CASE kind WHEN 'robust' THEN error END) < 0.9 * sum(CASE kind WHEN 'plain' THEN error END) AS better
FROM (SELECT kind, sum((estimate - y) ^ 2) AS error FROM learned, task AS t JOIN example AS e USING (task), wml_predict_interval(prior, few, x)
	  WHERE i > 5 AND NOT t.strange GROUP BY kind) AS e;

-- the posterior kept between rows is the one asked for, whatever the order of tasks
SELECT bool_and(abs(a.estimate - wml_predict(wml_posterior_coef(prior, few), x)) < 1e-9) AS same
FROM (SELECT task, x FROM example ORDER BY i, task LIMIT 400) AS e JOIN task USING (task), learned, wml_predict_interval(prior, few, x) AS a;

-- fixed features have no spread, by position or by name, and the same coefficient in all tasks
SELECT (wml_prior_covariance(prior))[3][3] = 0 AS no_spread, prior::text = named::text AS by_name,
	(SELECT count(DISTINCT (wml_posterior_coef(prior, gram))[3]) FROM task) AS coefficients, rank, parameters
FROM (SELECT wml_prior(array_agg(gram ORDER BY task), fixed => '{3}') AS prior,
		wml_prior(array_agg(gram ORDER BY task), fixed => '{b}', features => '{one,a,b}') AS named FROM task) AS fit, wml_prior_info(prior);
SELECT rank, wml_prior_covariance(prior) = '{{0,0,0},{0,0,0},{0,0,0}}' AS all_fixed, bool_and(abs(a - b) < 1e-6) AS least_squares
FROM (SELECT wml_prior(array_agg(gram), fixed => '{1,2,3}') AS prior, wml_erm(gram, wml_n(gram)) AS coef FROM task) AS fit, wml_prior_info(prior),
	unnest(wml_prior_mean(prior), coef) AS pair (a, b) GROUP BY 1, 2;

-- descriptors move the mean: a task without rows is predicted from its own
SELECT abs(mean[2][2] - 0.5) < 0.15 AS slope_by_size, error[2][2] < 0.1 AS error, d.descriptors, wml_loglik(prior, grams, descriptors => sizes) - wml_loglik(prior) < 1e-6 AS loglik,
	abs((wml_posterior_coef(prior, NULL, '{6}'))[2] - (mean[2][1] + 6 * mean[2][2])) < 1e-9 AS new_task
FROM (SELECT wml_prior(array_agg(gram), descriptors => array_agg(size)) AS prior, array_agg(gram) AS grams, array_agg(size) AS sizes FROM task WHERE NOT strange) AS fit,
	wml_prior_mean(prior) AS mean, wml_prior_mean_error(prior) AS error, wml_prior_info(prior) AS d;
-- which feature comes first does not matter, even where tasks have different rows
SET wml.warnings = off;
SELECT abs(wide.upper - turned.upper) < 1e-9 * (wide.upper - wide.lower) AS same
FROM (SELECT wml_prior(ahead, 1, wml_prior_options(), size) AS prior, wml_prior(back, 1, wml_prior_options(), size) AS other
	  FROM (SELECT array_agg(DISTINCT size::float8) AS size, wml_gram(x, y) AS ahead, wml_gram(ARRAY[x[3], x[2], x[1]], y) AS back
			FROM example WHERE task < 30 AND i <= 3 + task GROUP BY task) AS g) AS fit,
	(SELECT wml_gram(x, y) AS ahead, wml_gram(ARRAY[x[3], x[2], x[1]], y) AS back FROM example WHERE task = 31 AND i <= 3) AS target,
	wml_predict_interval(prior, ahead, '{1,2,3}', descriptor => '{6}') AS wide,
	wml_predict_interval(other, back, '{3,2,1}', descriptor => '{6}') AS turned;
RESET wml.warnings;
SELECT wml_posterior_coef(prior, NULL) FROM (SELECT wml_prior(array_agg(gram), descriptors => array_agg(size)) AS prior FROM task) AS fit;
SELECT wml_predict_interval(prior, NULL, '{1,2,3}', descriptor => '{1,2}') FROM (SELECT wml_prior(array_agg(gram), descriptors => array_agg(size)) AS prior FROM task) AS fit;

-- a prior without noise: likelihoods are infinite, and say so
SELECT wml_prior_noise(prior) AS noise, wml_loglik(prior) AS loglik, wml_loglik(prior, grams) AS of_sources, wml_loglik(prior, ARRAY[other]) AS of_another
FROM (SELECT wml_prior(array_agg(g)) AS prior, array_agg(g) AS grams
	  FROM (SELECT wml_gram(x, y) AS g FROM (VALUES (1, '{1,-0.9,-0.1}'::float8[], -1.1), (2, '{1,-0.2,0.2}', 2), (3, '{1,-0.2,-0.8}', -2.1)) AS v (t, x, y) GROUP BY t) AS s) AS fit,
	(SELECT wml_gram('{1,0,0}', 77) AS other) AS o;

-- NULL in, NULL out, and the row of the other side stays
SELECT n, dims, estimate FROM generate_series(1, 2) AS n LEFT JOIN (SELECT 1 AS n, prior FROM learned WHERE kind = 'plain') AS l USING (n),
	wml_prior_info(prior), wml_predict_interval(prior, NULL, NULL) ORDER BY n;

-- one task says nothing of how tasks differ
RESET client_min_messages;
\set VERBOSITY default
SELECT wml_prior(gram) IS NOT NULL AS alone FROM task WHERE task = 1;
