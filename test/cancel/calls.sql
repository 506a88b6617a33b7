-- Calls at sizes near the limits, for test/cancel/run: each function that can compute for long, with the data and the
-- options that make it take longest at one go.  "prepare" runs before, in the same session, unmeasured.

CREATE FUNCTION longest_stretch() RETURNS float8 AS :'module' LANGUAGE C VOLATILE;

CREATE TABLE call (place serial, name text PRIMARY KEY, statement text, prepare text);

-- Rows of as many features as asked, random enough for full rank, with a constant; every task has a function of its own.
CREATE FUNCTION features(task int, i int, dims int) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
	SELECT ARRAY[1::float8] || wml_rff(ARRAY[sin(0.37 * i) + 0.1 * task, cos(1.7 * i * i), i / 1000.0], dims - 1, 0.2, 7)
$$;
CREATE FUNCTION tasks(count int, dims int, size int) RETURNS TABLE (task int, gram wml_gram) LANGUAGE sql AS $$
	SELECT task, wml_gram(features(task, i, dims), sin(i * 0.1) + cos(task))
	FROM generate_series(1, count) AS task, generate_series(1, size) AS i GROUP BY task
$$;
CREATE TABLE wide AS SELECT * FROM tasks(4, 1024, 1100);
CREATE TABLE broad AS SELECT * FROM tasks(5, 400, 450);
CREATE TABLE medium AS SELECT * FROM tasks(40, 120, 150);
CREATE TABLE large AS SELECT * FROM tasks(41, 200, 30);
CREATE TABLE many AS SELECT * FROM tasks(3000, 12, 15);
CREATE TABLE narrow AS SELECT * FROM tasks(20, 6, 15);
CREATE TABLE example AS
SELECT i % 300 AS task, i, features(i % 300, i, 12) AS x, (sin(i) > 0)::int AS y, sin(i * 0.1) AS z FROM generate_series(1, 60000) AS i;
CREATE TABLE wide_example AS
SELECT i % 3 AS task, features(i % 3, i, 1024) AS x, (sin(i) > 0)::int AS y FROM generate_series(1, 3000) AS i;
ANALYZE;


-- A prior with a full covariance of 1024 features, which nobody could learn, but anybody can write
CREATE FUNCTION triangle(dims int) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE WHEN i = j THEN (1 + 1.0 / i)::text ELSE sin(i * j)::text END, ' ' ORDER BY i, j)
	FROM generate_series(1, dims) AS i, generate_series(1, i) AS j
$$;
CREATE FUNCTION written_prior(dims int, family text) RETURNS wml_prior LANGUAGE sql AS $$
	SELECT format('{v=2 d=%1$s descriptors=1 family=%2$s flags=0 rank=%1$s iterations=1 noise=1 tasks=9 effective=9 rows=9999 degrees=99 '
				  'loglik=0 parameters=0 shape=0 power=0 spread=0 dispersion=0 smooth=0 smooth_degrees=0 design_rank=0 mean=[%3$s] factor=[%4$s] mean_covariance=[%5$s]}',
				  dims, family, (SELECT string_agg(sin(i)::text, ' ') FROM generate_series(1, dims) AS i), triangle(dims), triangle(dims))::wml_prior
$$;
CREATE TABLE wide_prior AS
SELECT written_prior(1024, 'gaussian') AS prior, written_prior(1024, 'binomial') AS binomial, written_prior(1024, 'poisson') AS poisson;

-- What stands for the arguments: arrays of all grams, a target, rows
CREATE FUNCTION calls(name text, statement text, prepare text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	INSERT INTO call (name, statement, prepare)
	SELECT name,
		   regexp_replace(regexp_replace(regexp_replace(statement,
			   '\{(wide|broad|medium|large|many|narrow)\}', '(SELECT array_agg(gram ORDER BY task) FROM \1 WHERE task > 1)', 'g'),
			   '\{(wide|broad|medium|many|narrow) target\}', '(SELECT gram FROM \1 WHERE task = 1)', 'g'),
			   '\{(prior|binomial|poisson)\}', '(SELECT \1 FROM wide_prior)', 'g'),
		   prepare
$$;

-- grams
SELECT calls('text of a gram, 1024 features', 'SELECT length({wide target}::text)');
SELECT calls('text of a gram read', 'SELECT wml_n(gram::wml_gram) FROM written', 'CREATE TEMP TABLE written AS SELECT gram::text FROM wide WHERE task = 1');
SELECT calls('gram of 1024 features', 'SELECT wml_n(wml_gram(x, y)) FROM wide_example');
SELECT calls('gram in a moving window', 'SELECT wml_n(wml_gram(x, y) OVER (ROWS 2 PRECEDING)) FROM wide_example LIMIT 300');
SELECT calls('operators of grams', $c$SELECT wml_n(g + h), wml_n(g + h - h), wml_n(2 * g), g < h, g = h, wml_usable(g), g <-> h, wml_kernel(g, h), wml_distance(g, h, 'hinge')
			  FROM (SELECT {wide target} AS g, {wide}[1] AS h) AS w$c$);
SELECT calls('wml_transform, wml_standardize', 'SELECT wml_n(wml_standardize({wide target}, {wide}[1])), wml_n(wml_transform({wide target}, m)) FROM matrix',
	'CREATE TEMP TABLE matrix AS SELECT array_agg(r) AS m FROM (SELECT array_agg(sin(i * j)) AS r FROM generate_series(1, 1024) AS i, generate_series(1, 1024) AS j GROUP BY i) AS s');
SELECT calls('wml_second_moment, wml_embedding', 'SELECT cardinality(wml_second_moment({wide target})), cardinality(wml_embedding({wide target}))');
SELECT calls('wml_rff at its limits', 'SELECT wml_rff(array_fill(0.5::float8, ARRAY[16384]), 1024, 1, 1)');
SELECT calls('wml_poly', 'SELECT cardinality(wml_poly(array_fill(0.5::float8, ARRAY[43]), 2)), cardinality(wml_poly(ARRAY[0.5::float8], 1000))');

-- weights
SELECT calls('wml_alpha, 1024 features', 'SELECT wml_alpha({wide}, {wide target})');
SELECT calls('wml_alpha, whiten, shrink, 1024 features', $c$SELECT wml_alpha({wide}, {wide target}, 'mixture', 'square', 3, true)$c$);
SELECT calls('wml_alpha_gap, whiten, 1024 features', $c$SELECT wml_alpha_gap({wide}, {wide target}, ARRAY[0.4, 0.3, 0.3], 'square', 0, true)$c$);
SELECT calls('wml_alpha, 3000 sources, shrink', $c$SELECT wml_alpha({many}, {many target}, shrink => 1e-9)$c$);
SELECT calls('wml_weights, 3000 sources, whiten', $c$SELECT wml_weights(gram, {many target}, 'mixture', 'square', 1e-6, true) FROM many$c$);
CREATE FUNCTION kernel(size int) RETURNS float8[] AS :'module' LANGUAGE C VOLATILE;
SELECT calls('wml_alpha_kernel, 11000 x 11000', 'SELECT wml_alpha_kernel(kernel(11000), array_fill(1::float8, ARRAY[11000]))');
SELECT calls('wml_alpha_kernel, shrink, 11000 x 11000', $c$SELECT wml_alpha_kernel(kernel(11000), array_fill(1::float8, ARRAY[11000]), 'mixture', 0.1)$c$);

-- models
SELECT calls('wml_coef, 1024 features', 'SELECT wml_coef({wide target}, 0.1), wml_coef({wide}[1])');
SELECT calls('wml_erm, 1024 features', 'SELECT wml_erm(gram, 1) FROM wide');
SELECT calls('wml_maml, 1024 features', 'SELECT wml_maml(gram, 1, wml_step(eta => 0.01, steps => 3)) FROM wide');
SELECT calls('wml_maml, large steps', 'SELECT wml_maml(gram, 1, wml_step(eta => 40, steps => 9)) FROM wide');
SELECT calls('wml_fomaml, large steps', 'SELECT wml_fomaml(gram, 1, wml_step(eta => 40, steps => 9)) FROM wide');
SELECT calls('wml_reptile, large steps', 'SELECT wml_reptile(gram, 1, wml_step(eta => 40, steps => 9)) FROM wide');
SELECT calls('wml_hinge, 1024 features', 'SELECT wml_hinge_maml(gram, 1, wml_step(steps => 3)), wml_hinge(gram, 1) FROM hinge',
	'CREATE TEMP TABLE hinge AS SELECT task, wml_gram(wml_unit(x, 40), 2 * y - 1) AS gram FROM wide_example GROUP BY task');
SELECT calls('wml_fit, 1024 features', 'SELECT count(*) FROM wml_fit({wide}, {wide target})');
SELECT calls('wml_fit_weights, 1024 features', 'SELECT count(*) FROM wml_fit_weights({wide}, {wide target})');
SELECT calls('wml_fit, stacked, 1024 features', $c$SELECT count(*) FROM wml_fit({wide}, {wide target}, weights => 'stacked')$c$);
SELECT calls('wml_stack, 1024 features', 'SELECT wml_stack(gram, 1) FROM wide');
SELECT calls('wml_adapt, 1024 features', 'SELECT wml_adapt({wide target}, array_fill(0::float8, ARRAY[1024]), 0.01, 100000)');
SELECT calls('wml_adapt_path, 1024 features', 'SELECT count(*) FROM wml_adapt_path({wide target}, array_fill(0::float8, ARRAY[1024]), 0.01, 1000)');
SELECT calls('wml_linregr, 1024 features', 'SELECT count(*) FROM wml_linregr({wide target})');
SELECT calls('wml_linregr_clustered, 1024 features', 'SELECT count(*) FROM wml_linregr_clustered({wide})');
SELECT calls('wml_linregr_summary, wml_chow', 'SELECT wml_linregr_summary({wide target}), wml_chow({wide target}, {wide}[1])');
SELECT calls('wml_mse, wml_r2, 1024 features', 'SELECT wml_mse({wide target}, c), wml_r2({wide target}, c) FROM (SELECT array_fill(0.1::float8, ARRAY[1024]) AS c) AS z');
SELECT calls('wml_bound, 1024 features', 'SELECT wml_bound({wide}, {wide target}, ARRAY[0.4, 0.3, 0.3], 1, 0.1, radius => 100, coef => array_fill(0.1::float8, ARRAY[1024]))');
SELECT calls('wml_minimize_bound, 1024 features', 'SELECT objective FROM wml_minimize_bound({wide}, {wide target})');
SELECT calls('wml_minimize_bound, 3000 sources', 'SELECT objective FROM wml_minimize_bound({many}, {many target})');

-- priors
SELECT calls('wml_prior, diagonal, 1024 features', $c$SELECT wml_loglik(wml_prior({wide}, covariance => 'diagonal'))$c$);
SELECT calls('wml_prior, diagonal, reml, 1024 features', $c$SELECT wml_loglik(wml_prior({wide}, covariance => 'diagonal', method => 'reml'))$c$);
SELECT calls('wml_prior, full, 120 features', $c$SELECT wml_loglik(wml_prior({medium}))$c$);
SELECT calls('wml_prior, full, reml, 120 features', $c$SELECT wml_loglik(wml_prior({medium}, method => 'reml'))$c$);
SELECT calls('wml_prior, full, reml, evenness, 200 features', $c$SELECT wml_loglik(wml_prior({large}, method => 'reml', evenness => 200))$c$);
SELECT calls('wml_prior, full, reml, 200 features', $c$SELECT wml_loglik(wml_prior({large}, method => 'reml'))$c$);
SELECT calls('wml_prior, diagonal, reml, 120 features', $c$SELECT wml_loglik(wml_prior({medium}, covariance => 'diagonal', method => 'reml'))$c$);
SELECT calls('wml_prior, robust, 120 features', $c$SELECT wml_loglik(wml_prior({medium}, covariance => 'diagonal', noise => 'own', tasks => 't'))$c$);
SELECT calls('wml_prior, robust, full, 120 features', $c$SELECT wml_loglik(wml_prior({medium}, noise => 'own', tasks => 't'))$c$);
SELECT calls('wml_prior, smooth, 120 features', $c$SELECT wml_loglik(wml_prior({medium}, smooth => '{4-120}', method => 'reml'))$c$);
SELECT calls('wml_prior, smooth, 1024 features', $c$SELECT wml_loglik(wml_prior({wide}, smooth => '{2-1024}', method => 'reml'))$c$);
SELECT calls('wml_prior, fixed, 1024 features', $c$SELECT wml_loglik(wml_prior({wide}, fixed => '{2-1024}'))$c$);
SELECT calls('wml_prior, 3000 tasks', $c$SELECT wml_loglik(wml_prior({many}))$c$);
SELECT calls('wml_prior, 3000 tasks, descriptors', $c$SELECT wml_loglik(wml_prior(gram, 1, wml_prior_options(noise => 'own', tasks => 't'), array_fill(sin(task), ARRAY[40]) || cos(task))) FROM many$c$);
SELECT calls('text of a prior, 1024 features', 'SELECT length({prior}::text)');
SELECT calls('text of a prior read', 'SELECT wml_prior_noise(prior::wml_prior) FROM written', 'CREATE TEMP TABLE written AS SELECT prior::text FROM wide_prior');
SELECT calls('binary of a prior, 1024 features', 'SELECT length(wml_prior_send({prior}))');
SELECT calls('wml_posterior, 1024 features', 'SELECT count(*) FROM wml_posterior({prior}, {wide target})');
SELECT calls('wml_posterior_coef, 1024 features', 'SELECT wml_posterior_coef({prior}, {wide target})');
SELECT calls('wml_posterior_covariance, 1024 features', 'SELECT cardinality(wml_posterior_covariance({prior}, {wide target}))');
SELECT calls('wml_prior_covariance, 1024 features', 'SELECT cardinality(wml_prior_covariance({prior}))');
SELECT calls('wml_predict_interval, 1024 features', 'SELECT wml_predict_interval({prior}, {wide target}, x) FROM wide_example LIMIT 3');
SELECT calls('wml_task_fit, 1024 features', 'SELECT wml_task_fit({prior}, {wide target})');
SELECT calls('wml_loglik, 1024 features', 'SELECT wml_loglik({prior}, {wide})');
SELECT calls('wml_prior_test, wml_prior_mean_test', 'SELECT count(*), max(t) FROM wml_prior_mean_test({prior})');
SELECT calls('wml_prior_change, 1024 features', 'SELECT wml_prior_change({prior}, {prior})');

-- classes and counts
SELECT calls('wml_predict_probability, 1024 features', 'SELECT wml_predict_probability({binomial}, {wide target}, x) FROM wide_example LIMIT 3');
SELECT calls('wml_predict_rate, 1024 features', 'SELECT wml_predict_rate({poisson}, {wide target}, x) FROM wide_example LIMIT 3');
SELECT calls('wml_target_gram, 1024 features', 'SELECT wml_n(wml_target_gram(x, y, {binomial})) FROM wide_example');
SELECT calls('wml_glm, 1024 features', $c$SELECT (wml_glm(x, y, 'binomial')).converged FROM wide_example$c$);
SELECT calls('wml_glm_train, 1024 features', $c$SELECT converged FROM wml_glm_train('SELECT x, y FROM wide_example', ridge => 1)$c$);
SELECT calls('wml_working_gram, 1024 features', $c$SELECT wml_n(wml_working_gram(x, y, 'binomial', array_fill(0.1::float8, ARRAY[1024]))) FROM wide_example$c$);
SELECT calls('wml_glm_prior, 300 tasks', $c$SELECT wml_loglik(wml_glm_prior('SELECT task, x, y FROM example'))$c$);
SELECT calls('wml_glm_prior, diagonal, 1024 features', $c$SELECT wml_loglik(wml_glm_prior('SELECT task, x, y FROM wide_example', covariance => 'diagonal'))$c$);
SELECT calls('wml_glm_prior, 120 features', $c$SELECT wml_loglik(wml_glm_prior('SELECT task, x[1:120], y FROM wide_example'))$c$);
SELECT calls('wml_glm_prior of counts, two large tasks', $c$SELECT wml_loglik(wml_glm_prior('SELECT task, x, y FROM counted', 'poisson', covariance => 'diagonal', iterations => 3))$c$,
			 'CREATE TEMP TABLE counted AS SELECT i % 2 AS task, features(i % 2, i, 200) AS x, i * 7 % 5 AS y FROM generate_series(1, 40000) AS i');
SELECT calls('wml_glm_prior of grams', $c$SELECT wml_loglik(wml_glm_prior({medium}, 'binomial'))$c$);
SELECT calls('wml_svm_train, 1024 features', $c$SELECT wml_svm_train('SELECT x, 2 * y - 1 FROM wide_example')$c$);
SELECT calls('wml_svm_train, 60000 rows', $c$SELECT wml_svm_train('SELECT x, 2 * y - 1 FROM example', tolerance => 1e-12)$c$);
SELECT calls('wml_auc, 10 million rows', 'SELECT wml_auc(score, label) FROM scores',
	'CREATE TEMP TABLE scores AS SELECT sin(i) AS score, cos(3.7 * i) > 0 AS label FROM generate_series(1, 10000000) AS i');
SELECT calls('wml_log_loss, wml_calibration', $c$SELECT wml_log_loss(abs(sin(i)), i % 3 = 0), wml_calibration(abs(sin(i)), i % 3 = 0, 1000) FROM generate_series(1, 300000) AS i$c$);

-- networks
SELECT calls('wml_mlp_train, widest', $c$SELECT length(wml_mlp_train('SELECT task, x, z FROM example', 'SELECT x, z FROM example WHERE task = 1', '{1024,1024,1024,1024}', iterations => 3, standardize => true)::text)$c$);
SELECT calls('wml_mlp_train, bound', $c$SELECT count(*) FROM wml_mlp_history(wml_mlp_train('SELECT task, x, z FROM example', 'SELECT x, z FROM example WHERE task = 1', weights => 'bound', iterations => 30, whiten => true))$c$);
SELECT calls('wml_predict, wml_adapt of networks', $c$SELECT wml_predict(wml_adapt(m, x, y, 0.01, 100), x[1:12][1]::float8[]) FROM network, (SELECT array_agg(x) AS x, array_agg(z) AS y FROM example) AS e$c$,
	$c$CREATE TEMP TABLE network AS SELECT wml_mlp_train('SELECT task, x, z FROM example', 'SELECT x, z FROM example WHERE task = 1', '{1024,1024}', iterations => 1) AS m$c$);

-- choosing
SELECT calls('wml_compare, 1024 features', 'SELECT count(*) FROM wml_compare({wide}, {wide target})');
SELECT calls('wml_compare, 400 features', 'SELECT count(*) FROM wml_compare({broad}, {broad target})');
SELECT calls('wml_compare, 120 features', 'SELECT count(*) FROM wml_compare({medium}, {medium target})');
SELECT calls('wml_compare, smooth', $c$SELECT count(*) FROM wml_compare({medium}, {medium target}, smooth => '{4-120}')$c$);
SELECT calls('wml_tune, 3000 sources', 'SELECT (wml_tune({many}, {many target})).model');
SELECT calls('wml_tune, 120 features, windows', 'SELECT (wml_tune({medium}, {medium target}, windows => {medium})).model');
SELECT calls('wml_folds, 1024 features', 'SELECT cardinality(wml_folds(x, y, 10)) FROM wide_example');

-- task sets
CREATE TABLE sale AS
SELECT i % 300 AS product, i / 300 AS week, sin(i) AS price, (abs(sin(i)) * 10)::int AS sold, sin(i * 0.1) AS level
FROM generate_series(1, 90000) AS i;
SELECT calls('wml_learn, 300 tasks', $c$SELECT wml_learn('demand', 'sale', 'product', 'level', 'price, week', along => 'week')$c$);
SELECT calls('wml_learn, poisson', $c$SELECT wml_learn('counts', 'sale', 'product', 'sold', 'price, week', family => 'poisson')$c$);
SELECT calls('wml_rehearse', $c$SELECT wml_rehearse('learned')$c$, $c$SELECT wml_learn('learned', 'sale', 'product', 'level', 'price, week', along => 'week')$c$);
SELECT calls('wml_forecast of 90000 rows', $c$SELECT count(*) FROM wml_forecast('learned', 'SELECT * FROM sale')$c$);
SELECT calls('wml_explain', $c$SELECT count(*) FROM wml_explain('learned', 7)$c$);
SELECT calls('wml_refresh, wml_check', $c$SELECT wml_refresh('learned'), (SELECT count(*) FROM wml_check('learned'))$c$);
