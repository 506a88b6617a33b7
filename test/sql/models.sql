-- Models under task weights, judged against their definitions on the rows.
\set VERBOSITY terse

CREATE TEMP TABLE example AS
SELECT task, ARRAY[1, sin(i * task), cos(i + task * task)]::float8[] AS x,
	2 + task * 0.1 * sin(i * task) - cos(i + task * task) + 0.3 * sin(17 * i * i + task) AS y
FROM generate_series(1, 4) AS task, generate_series(1, 12 + 0) AS i;
CREATE TEMP TABLE task_gram AS
SELECT task, wml_gram(x, y) AS gram, 1.0 / task AS alpha FROM example GROUP BY task;

-- one feature and a constant: what regr_* say
SELECT abs(coef[1] / intercept - 1) < 1e-14 AS intercept, abs(coef[2] / slope - 1) < 1e-14 AS slope,
	abs(wml_r2(gram, coef) / r2 - 1) < 1e-13 AS r2
FROM (SELECT (array_agg(gram))[1] AS gram, wml_erm(gram, 1) AS coef
	FROM (SELECT wml_gram(ARRAY[1, x[2]], y) AS gram FROM example) AS g) AS ours,
	(SELECT regr_intercept(y, x[2]) AS intercept, regr_slope(y, x[2]) AS slope, regr_r2(y, x[2]) AS r2
	FROM example) AS theirs;

-- the error of coefficients, from the gram and from the rows
SELECT task, abs(wml_mse(gram, '{1,2,3}') / mse - 1) < 1e-14 AS mse, abs(wml_rmse(gram, '{1,2,3}') / sqrt(mse) - 1) < 1e-14 AS rmse
FROM task_gram JOIN (SELECT task, avg((y - wml_predict('{1,2,3}', x)) ^ 2) AS mse FROM example GROUP BY task) AS rows
	USING (task) ORDER BY task;

-- the meta-objective by its definition: k gradient steps on the task's rows, then the error there
CREATE FUNCTION adapted(w float8[], t int, eta float8, steps int) RETURNS float8[] LANGUAGE plpgsql AS $$
BEGIN
	FOR step IN 1 .. steps LOOP
		SELECT array_agg(w[k] - eta * slope ORDER BY k) INTO w
		FROM (SELECT k, avg((wml_predict(w, x) - y) * x[k]) AS slope
			FROM example, generate_series(1, 3) AS k WHERE task = t GROUP BY k) AS gradient;
	END LOOP;
	RETURN w;
END $$;
CREATE FUNCTION meta_loss(w float8[], eta float8, steps int) RETURNS float8 LANGUAGE sql AS $$
	SELECT sum(alpha * (SELECT avg((y - wml_predict(adapted, x)) ^ 2) FROM example WHERE example.task = task_gram.task))
	FROM task_gram, LATERAL adapted(w, task, eta, steps)
$$;
CREATE FUNCTION moved(w float8[], k int, h float8) RETURNS float8[] LANGUAGE sql AS $$
	SELECT array_agg(w[i] + CASE WHEN i = k THEN h ELSE 0 END ORDER BY i) FROM generate_series(1, cardinality(w)) AS i
$$;

-- its gradient, by central differences, vanishes at the answer (and not elsewhere)
SELECT eta, steps,
	max(abs(meta_loss(moved(coef, k, 1e-4), eta, steps) - meta_loss(moved(coef, k, -1e-4), eta, steps)) / 2e-4) < 1e-7 * least AS stationary,
	max(abs(meta_loss(moved(erm, k, 1e-4), eta, steps) - meta_loss(moved(erm, k, -1e-4), eta, steps)) / 2e-4) > 1e-4 * least AS elsewhere
FROM (VALUES (0.1, 1), (0.5, 2), (3.0, 1), (3.0, 3)) AS setting (eta, steps),
	LATERAL (SELECT wml_maml(gram, alpha, wml_step(eta => eta, steps => steps)) AS coef, wml_erm(gram, alpha) AS erm FROM task_gram) AS fit,
	LATERAL (SELECT meta_loss(coef, eta, steps) AS least) AS value, generate_series(1, 3) AS k
GROUP BY eta, steps, least ORDER BY eta, steps;

-- first-order MAML and Reptile: their update directions vanish
CREATE FUNCTION direction(model text, w float8[], k int, eta float8, steps int) RETURNS float8 LANGUAGE sql AS $$
	SELECT sum(alpha * CASE model
		WHEN 'fomaml' THEN (SELECT avg((wml_predict(a, x) - y) * x[k]) FROM example WHERE example.task = task_gram.task)
		ELSE w[k] - a[k] END)
	FROM task_gram, LATERAL adapted(w, task, eta, steps) AS a
$$;
SELECT steps, max(abs(direction('fomaml', fomaml, k, 0.4, steps))) < 1e-14 AS fomaml,
	max(abs(direction('reptile', reptile, k, 0.4, steps))) < 1e-14 AS reptile
FROM generate_series(1, 3) AS steps, LATERAL (SELECT wml_fomaml(gram, alpha, wml_step(eta => 0.4, steps => steps)) AS fomaml,
	wml_reptile(gram, alpha, wml_step(eta => 0.4, steps => steps)) AS reptile FROM task_gram) AS fit, generate_series(1, 3) AS k
GROUP BY steps ORDER BY steps;

-- no step at all is joint training, to the bit; so are weights in another unit, up to rounding
SELECT wml_maml(gram, alpha, wml_step(eta => 0)) = wml_erm(gram, alpha) AS maml, wml_fomaml(gram, alpha, wml_step(eta => 0, steps => 3)) = wml_erm(gram, alpha) AS fomaml,
	wml_reptile(gram, alpha, wml_step(eta => 0)) = wml_erm(gram, alpha) AS reptile, wml_maml(gram, alpha, wml_step(eta => 0.3, steps => 0)) = wml_erm(gram, alpha) AS no_steps
FROM task_gram;
SELECT bool_and(abs(a / b - 1) < 1e-13) AS scale_free
FROM (SELECT wml_maml(gram, alpha, wml_step(eta => 0.3, steps => 2, ridge => 0.1)) AS one, wml_maml(gram, 1e6 * alpha, wml_step(eta => 0.3, steps => 2, ridge => 0.1)) AS other FROM task_gram) AS fit,
	unnest(one, other) AS pair (a, b);

-- scale sum is scale mean with n times the step and the weight (12 rows in each task)
SELECT bool_and(abs(a / b - 1) < 1e-12) AS sum_scale
FROM (SELECT wml_maml(gram, alpha, wml_step(eta => 0.02, steps => 2, scale => 'sum')) AS one, wml_maml(gram, alpha * 12, wml_step(eta => 0.24, steps => 2)) AS other FROM task_gram) AS fit,
	unnest(one, other) AS pair (a, b);

-- ridge, as the solution of its equations: (A + ridge) w = b
SELECT max(abs(residual)) < 1e-14 AS ridge
FROM (SELECT avg((wml_predict(coef, x) - y) * x[k]) + 0.7 * coef[k] AS residual
	FROM example, (SELECT wml_erm(wml_gram, 1, wml_step(ridge => 0.7)) AS coef FROM (SELECT wml_gram(x, y) FROM example) AS all_rows) AS fit,
		generate_series(1, 3) AS k GROUP BY k, coef) AS equation;

-- more features than rows: the solution of least norm
SELECT (SELECT round(max(abs(w - expected))::numeric, 14) FROM unnest(coef, '{0.4,0.8}'::float8[]) AS pair (w, expected)) AS error
FROM (SELECT wml_erm(gram, 1) AS coef FROM (SELECT wml_gram(ARRAY[1, 2], 2) AS gram) AS one_row) AS fit;

-- NULL grams and weights take no part; a task of weight 0 may hold anything
SELECT wml_erm(gram, alpha) = (SELECT wml_erm(gram, alpha) FROM task_gram) AS same
FROM (SELECT gram, alpha FROM task_gram UNION ALL VALUES (NULL, 1), ((SELECT wml_gram('{1,1,1}', 'NaN')), 0)
	UNION ALL SELECT gram, NULL FROM task_gram) AS more;
SELECT wml_erm(gram, alpha) FROM task_gram WHERE false;

-- partial aggregates give the same bits
CREATE TABLE many AS SELECT wml_gram(ARRAY[1, sin(i), cos(i * i)], sin(3 * i)) AS gram, 1 + i % 3 AS alpha
FROM generate_series(1, 20000) AS i GROUP BY i / 4, i % 3;
ALTER TABLE many SET (parallel_workers = 2);
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT wml_maml(gram, alpha, wml_step(eta => 0.1)) FROM many;
CREATE TABLE parallel_result AS SELECT wml_erm(gram, alpha) AS erm, wml_maml(gram, alpha, wml_step(eta => 0.1)) AS maml FROM many;
SET max_parallel_workers_per_gather = 0;
SELECT bool_and(abs(a / b - 1) < 1e-14) AS same
FROM (SELECT erm || maml AS one FROM parallel_result) AS parallel,
	(SELECT wml_erm(gram, alpha) || wml_maml(gram, alpha, wml_step(eta => 0.1)) AS other FROM many) AS serial, unnest(one, other) AS pair (a, b);
RESET max_parallel_workers_per_gather;

-- everything in one call
CREATE TEMP TABLE arranged AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task < 4) AS sources, (array_agg(gram) FILTER (WHERE task = 4))[1] AS target FROM task_gram;
SELECT bool_and(coefficient = (SELECT wml_maml(source, alpha, wml_step(eta => 0.2, steps => 2, ridge => 0.01))
		FROM unnest(sources, wml_alpha(sources, target, 'mixture', 'square', 1, true)) AS pair (source, alpha))[position]) AS fit,
	string_agg(feature, ',' ORDER BY position) AS features
FROM arranged, wml_fit(sources, target, eta => 0.2, steps => 2, ridge => 0.01, shrink => 1, whiten => true,
	features => '{constant,a,b}');
SELECT bool_and(alpha = (wml_alpha(sources, target, shrink => 3, whiten => true))[source] AND distance = sources[source] <-> target) AS weights, count(*)
FROM arranged, wml_fit_weights(sources, target);
SELECT wml_fit(sources, target, features => '{a,b}') FROM arranged;
SELECT wml_fit(sources, target, 'lasso') FROM arranged;
SELECT wml_fit('{}', target) FROM arranged;

-- regression of one task: simple regression's textbook formulas
SELECT bool_and(abs(coefficient / expected - 1) < 1e-13 AND abs(std_error / error - 1) < 1e-13 AND abs(t * std_error / coefficient - 1) < 1e-14) AS lines
FROM (SELECT wml_gram(ARRAY[1, x[2]], y) AS gram FROM example) AS task, LATERAL wml_linregr(gram) AS line,
	LATERAL (SELECT CASE position WHEN 1 THEN regr_intercept(y, x[2]) ELSE regr_slope(y, x[2]) END AS expected,
		sqrt((regr_syy(y, x[2]) - regr_sxy(y, x[2]) ^ 2 / regr_sxx(y, x[2])) / (count(*) - 2)
			* CASE position WHEN 1 THEN avg(x[2] * x[2]) ELSE 1 END / regr_sxx(y, x[2])) AS error
		FROM example) AS textbook;
SELECT n, rank, freedom, abs(s.r2 / regr.r2 - 1) < 1e-13 AS r2, abs(residual_std_error / regr.error - 1) < 1e-13 AS residual, condition < 2 AS condition
FROM (SELECT wml_gram(ARRAY[1, x[2]], y) AS gram FROM example) AS task, LATERAL wml_linregr_summary(gram) AS s,
	(SELECT regr_r2(y, x[2]) AS r2, sqrt((regr_syy(y, x[2]) - regr_sxy(y, x[2]) ^ 2 / regr_sxx(y, x[2])) / (count(*) - 2)) AS error FROM example) AS regr;
SELECT abs(condition - sqrt(3)) < 1e-14 AS condition
FROM (SELECT wml_gram(x, 1) AS gram FROM (VALUES ('{1,1}'::float8[]), ('{1,0}'), ('{0,1}')) AS v (x)) AS task, LATERAL wml_linregr_summary(gram);
-- collinear and underdetermined: rank, and no errors out of nothing
SELECT s.n, s.rank, s.freedom, s.residual_std_error, s.condition, l.feature, l.std_error
FROM (SELECT wml_gram(ARRAY[1, i, 2 * i], i) AS gram FROM generate_series(1, 2) AS i) AS task,
	LATERAL wml_linregr_summary(gram) AS s, LATERAL wml_linregr(gram, '{c,a,b}') AS l;
-- without rows a gram has no features either, but that is not what is wrong
SELECT wml_linregr(gram, '{a}') FROM (SELECT wml_gram(ARRAY[1], NULL) AS gram) AS no_rows;

-- the coefficients alone
SELECT bool_and(wml_coef(gram) = ARRAY(SELECT coefficient FROM wml_linregr(gram) ORDER BY position)) AS linregr,
	bool_and(wml_coef(gram, 0.7) = (SELECT wml_erm(g, 1, wml_step(ridge => 0.7)) FROM (VALUES (gram)) AS v (g))) AS ridge
FROM task_gram;
SELECT wml_coef(NULL), wml_linregr_summary(NULL) IS NULL AS summary;
SELECT task, rank FROM (SELECT task, CASE WHEN task > 2 THEN gram END AS gram FROM task_gram) AS v, wml_linregr_summary(gram) ORDER BY task;
SELECT wml_coef(gram, -1) FROM task_gram;
SELECT wml_coef(wml_gram(ARRAY[1], NULL));

-- adaptation: the definition, its path, and step sizes that diverge
SELECT bool_and(abs(a - b) < 1e-14) AS adapted
FROM task_gram, unnest(wml_adapt(gram, '{1,2,3}', 0.3, 5), adapted('{1,2,3}', task, 0.3, 5)) AS pair (a, b);
SELECT count(*) AS steps, bool_and(abs(mse / wml_mse(gram, coef) - 1) < 1e-14) AS mse,
	bool_and(coef = wml_adapt(gram, '{1,2,3}', 0.3, step)) AS coef
FROM (SELECT gram FROM task_gram WHERE task = 1) AS one, LATERAL wml_adapt_path(gram, '{1,2,3}', 0.3, 5);
-- without a step size, the share of the largest stable one; without coefficients no answer
SELECT bool_and(abs(a - b) < 1e-14) AS share
FROM (SELECT wml_gram(ARRAY[3 * i, 4 * i], i) AS gram, avg(25.0 * i * i) AS eigenvalue FROM generate_series(1, 9) AS i) AS task,
	unnest(wml_adapt(gram, '{1,2}', steps => 3), wml_adapt(gram, '{1,2}', 0.05 * 2 / eigenvalue, 3)) AS pair (a, b);
SELECT wml_adapt(gram, NULL, 0.1, 3), wml_adapt(NULL, '{1,2,3}'), wml_adapt(gram, '{1,2,3}', steps => NULL),
	(SELECT count(*) FROM wml_adapt_path(gram, NULL, 0.1, 3)) FROM task_gram WHERE task = 1;
SELECT wml_adapt(gram, '{1,2,3}', 0.1, 1, 0.1) FROM task_gram;
\set VERBOSITY default
SELECT wml_adapt(wml_gram, '{1,2}', 1.5, 3) FROM (SELECT wml_gram(ARRAY[2, 0], 1)) AS one;
SELECT wml_adapt(wml_gram, '{1,2}', 0.5, 3) FROM (SELECT wml_gram(ARRAY[2, 0], 1)) AS one;
SELECT wml_adapt(wml_gram, '{1,1,1}', 1, 3) FROM (SELECT wml_gram(ARRAY[1, 1, 1], 1)) AS one;
SELECT wml_adapt(wml_gram, '{1,1,1}', 0.666666, 1) IS NOT NULL AS stable FROM (SELECT wml_gram(ARRAY[1, 1, 1], 1)) AS one;
\set VERBOSITY terse
SELECT wml_adapt(wml_gram, '{1,2,3}', 0.1, 3) FROM (SELECT wml_gram(ARRAY[2, 0], 1)) AS one;
SELECT wml_adapt(wml_gram, '{1,2}', -0.1, 3) FROM (SELECT wml_gram(ARRAY[2, 0], 1)) AS one;

-- coefficients of standardised grams in the user's units
SELECT bool_and(abs(a / b - 1) < 1e-12) AS unstandardized
FROM (SELECT wml_merge(gram) AS reference FROM task_gram) AS merged,
	LATERAL (SELECT wml_unstandardize(reference, wml_erm(wml_standardize(gram, reference), alpha)) AS one,
		wml_erm(gram, alpha) AS other FROM task_gram) AS fit, unnest(one, other) AS pair (a, b);

-- bases
SELECT wml_poly('{2,3}', 2), wml_poly('{5}', 4), wml_poly('{1,2,3}', 0), cardinality(wml_poly('{1,2,3,4}', 5)) AS count;
SELECT max(abs(a - b)) < 1e-14 AS fourier
FROM generate_series(0, 51) AS week, unnest(wml_fourier(week, 52, 2),
	ARRAY[1, cos(2 * pi() * week / 52), sin(2 * pi() * week / 52), cos(4 * pi() * week / 52), sin(4 * pi() * week / 52)]) AS pair (a, b);
SELECT wml_fourier(1e15 + 13, 52, 1) = wml_fourier((1000000000000013::bigint % 52), 52, 1) AS exact_period;
-- the same bits everywhere: these are part of the promise
SET extra_float_digits = 3;
SELECT wml_rff('{0.5,-1.25}', 3, 1.5, 42);
RESET extra_float_digits;
SELECT abs(sum(a * b) - exp(-0.5 * (0.3 ^ 2 + 0.4 ^ 2) / 4)) < 0.05 AS gaussian_kernel
FROM unnest(wml_rff('{1,2}', 1000, 2, 7), wml_rff('{1.3,2.4}', 1000, 2, 7)) AS pair (a, b);
SELECT wml_rff('{1,NULL}', 3, 1, 1), wml_poly(NULL, 2);
SELECT wml_rff('{1}', 0, 1, 1);
SELECT wml_rff('{1}', 3, 0, 1);
SELECT wml_poly('{1,2}', -1);
SELECT wml_poly('{1,2,3,4,5,6,7,8,9}', 9);
SELECT wml_fourier(1, -52, 1);

-- errors
SELECT wml_erm(gram, -1) FROM task_gram;
SELECT wml_erm(gram, 'NaN') FROM task_gram;
SELECT wml_erm(gram, 0) FROM task_gram;
SELECT wml_erm(gram, 1, wml_step(ridge => -1)) FROM task_gram;
SELECT wml_erm(gram, 1, wml_step(ridge => NULL)) = wml_erm(gram, 1) AS same FROM task_gram;
SELECT wml_erm(gram, 1, wml_step(ridge => task)) FROM task_gram;
SELECT wml_maml(gram, 1, wml_step(eta => -0.1)) FROM task_gram;
SELECT wml_maml(gram, 1, wml_step(eta => 0.1, steps => -1)) FROM task_gram;
SELECT wml_maml(gram, 1, wml_step(eta => 0.1, steps => 1, scale => 'median')) FROM task_gram;
SELECT wml_erm(gram, 1) FROM (SELECT gram FROM task_gram UNION ALL SELECT wml_gram('{1,2}', 3)) AS mixed;
SELECT wml_erm(wml_gram, 1) FROM (SELECT wml_gram('{1,2}', 'NaN')) AS bad;
SELECT wml_erm(wml_gram, 1) FROM (SELECT wml_gram(NULL, 1)) AS bad;
SELECT wml_predict('{1,2}', '{1,2,3}'), 1;
SELECT wml_predict('{1,2}', '{1,NULL}') AS null_feature;
SELECT wml_mse(gram, '{1,2}') FROM task_gram;

DROP TABLE many, parallel_result;
DROP FUNCTION direction, meta_loss, adapted, moved;

-- options by name: what is not given is the model's, what it does not have is an error
SELECT wml_step(), wml_step(steps => 3, eta => 0.1), wml_step(0.25, 2, 0.5, 'SUM', 0.75), wml_step(share => 0.2);
SELECT '{ steps=3  eta=0.1 }'::wml_step, '{}'::wml_step, '{scale=mean share=1}'::wml_step;
SELECT wml_maml(gram, alpha, '{eta=0.1 steps=2}') = wml_maml(gram, alpha, wml_step(eta => 0.1, steps => 2)) AS literal,
	wml_maml(gram, alpha) = wml_maml(gram, alpha, wml_step()) AS none, wml_maml(gram, alpha) = wml_maml(gram, alpha, wml_step(share => 0.05)) AS share
FROM task_gram;
SELECT wml_erm(gram, 1, wml_step(eta => 0.1)) FROM task_gram;
SELECT wml_maml(gram, 1, wml_step(radius => 0.1, ridge => 1)) FROM task_gram;
SELECT wml_maml(gram, 1, NULL) FROM task_gram;
SELECT wml_step(eta => 0.1, share => 0.1);
SELECT wml_step(share => 0);
SELECT wml_step(share => 1.5);
SELECT wml_step(eta => 'NaN');
SELECT wml_step(radius => 0);
SELECT '{eta=0.1 eta=0.2}'::wml_step;
SELECT '{eta=0.1 share=0.2}'::wml_step;
SELECT '{eta=-1}'::wml_step;
SELECT '{steps=1000001}'::wml_step;
SELECT '{scale=median}'::wml_step;
SELECT '{eta=0.1'::wml_step;
SELECT 'eta=0.1'::wml_step;

-- the default step is a share of each task's largest stable one: by hand for one task, and the same in any units
SELECT bool_and(abs(a / b - 1) < 1e-10) AS stable_step
FROM (SELECT wml_gram(ARRAY[3 * i, 4 * i], sin(i)) AS gram, avg(25.0 * i * i) AS eigenvalue FROM generate_series(1, 9) AS i) AS task,
	LATERAL (SELECT wml_maml(g, 1, wml_step(steps => 2, share => 0.3, ridge => 0.1)) AS one,
		wml_maml(g, 1, wml_step(steps => 2, eta => 0.3 * 2 / eigenvalue, ridge => 0.1)) AS other
		FROM (VALUES (gram)) AS v (g)) AS fit, unnest(one, other) AS pair (a, b);
SELECT model, bool_and(abs(a / b / 1000 - 1) < 1e-9) AS any_units
FROM (SELECT wml_maml(gram, alpha, wml_step(steps => 3)) AS maml, wml_fomaml(gram, alpha) AS fomaml, wml_reptile(gram, alpha, wml_step(steps => 3)) AS reptile FROM task_gram) AS one,
	(SELECT wml_maml(gram, alpha, wml_step(steps => 3)) AS maml, wml_fomaml(gram, alpha) AS fomaml, wml_reptile(gram, alpha, wml_step(steps => 3)) AS reptile
	FROM (SELECT wml_transform(gram, '{{1000,0,0,0},{0,1000,0,0},{0,0,1000,0},{0,0,0,1}}') AS gram, alpha FROM task_gram) AS rescaled) AS other,
	LATERAL (VALUES ('maml', one.maml, other.maml), ('fomaml', one.fomaml, other.fomaml), ('reptile', one.reptile, other.reptile)) AS v (model, x, y),
	unnest(x, y) AS pair (a, b)
GROUP BY model ORDER BY model;
-- with the whole of it nothing is left of the one direction that a task has
SELECT wml_maml(gram, 1, wml_step(share => 0.5)) AS zero FROM (SELECT wml_gram(ARRAY[2], 3) AS gram) AS one;

-- states are values: they survive text and combine; what no aggregate comes to is refused
CREATE AGGREGATE pg_temp.state_of(wml_gram, float8, wml_step) (SFUNC = wml_model_accum, STYPE = wml_model_state, INITCOND = '{v=1 model=fomaml}');
CREATE AGGREGATE pg_temp.fit_of(wml_model_state) (SFUNC = wml_model_combine, STYPE = wml_model_state, FINALFUNC = wml_model_final);
CREATE TEMP TABLE state AS
SELECT task % 2 AS part, pg_temp.state_of(gram, alpha, wml_step(eta => 3, steps => 31)) AS state FROM task_gram GROUP BY part;
SELECT bool_and(state::text::wml_model_state::text = state::text) AS text_round_trip,
	bool_and(abs(a / b - 1) < 1e-9) AS same_fit
FROM state, (SELECT pg_temp.fit_of(state::text::wml_model_state) AS one FROM state) AS combined,
	(SELECT wml_fomaml(gram, alpha, wml_step(eta => 3, steps => 31)) AS other FROM task_gram) AS straight, unnest(one, other) AS pair (a, b);
SELECT '{v=1 model=maml}'::wml_model_state, pg_temp.fit_of('{v=1 model=maml}');
SELECT '{v=2 model=maml}'::wml_model_state;
SELECT '{v=1 model=lasso}'::wml_model_state;
SELECT '{v=1 model=erm d=1 steps=1 scale=0 eta=0 share=0 ridge=0 radius=1 sums=[1 0 1 0 0 0.5 0 1 1 1 0 0 0]}'::wml_model_state;
SELECT '{v=1 model=erm d=1 steps=1 scale=0 eta=0 share=0 ridge=0 radius=1 sums=[1 0 1 1 0 0.5 0 1 1 1 0 0 0]}'::wml_model_state;
SELECT '{v=1 model=erm d=1 steps=1 scale=0 eta=0 share=0 ridge=0 radius=1 sums=[1 0 1 0 0.5 0.5 0 1 1 1 0 0 0]}'::wml_model_state;
SELECT '{v=1 model=erm d=1 steps=1 scale=0 eta=0 share=0 ridge=0 radius=1 sums=[1 0 1 0 0 0.5 0 1 NaN 1 0 0 0]}'::wml_model_state;
SELECT '{v=1 model=erm d=1 steps=1 scale=7 eta=0 share=0 ridge=0 radius=1 sums=[1 0 1 0 0 0.5 0 1 1 1 0 0 0]}'::wml_model_state;
SELECT '{v=1 model=erm d=1 steps=1 scale=0 eta=0 share=0 ridge=0 radius=1 sums=[1 0 1 0 0 0.5 0 1 1 1 0 0]}'::wml_model_state;
SELECT pg_temp.fit_of(s) FROM unnest('{"{v=1 model=maml}","{v=1 model=erm}"}'::wml_model_state[]) AS s;
CREATE AGGREGATE pg_temp.no_model(wml_gram, float8) (SFUNC = wml_model_accum, STYPE = wml_model_state);
SELECT pg_temp.no_model(gram, alpha) FROM task_gram;

-- figures that overflow are errors
SELECT wml_rmse('{v=1 d=2 n=4 skipped=0 weightless=0 constant=0 weight=1e-300 weight2=1e-300 q=0 h=0 norm2=0 response=0 sums=[1e-300 20 36; 108 -1e+250; 342]}', '{1,1}');
SELECT wml_rff(array_fill(1::float8, ARRAY[16385]), 2, 1, 1);

-- distances near the largest numbers are those of small ones
SELECT large.source, large.distance / power(2::float8, 1002) = small.distance AS same, large.distance > 1e301 AS huge
FROM (SELECT array_agg(gram ORDER BY j) AS grams, array_agg(huge ORDER BY j) AS huge
	FROM (SELECT j, wml_gram(ARRAY[i + j], i * j % 5) AS gram, wml_gram(ARRAY[(i + j) * power(2::float8, 501)], (i * j % 5) * power(2::float8, 501)) AS huge
		FROM generate_series(1, 7) AS i, generate_series(1, 3) AS j GROUP BY j) AS t) AS g,
	wml_fit_weights(huge, huge[1]) AS large JOIN LATERAL wml_fit_weights(grams, grams[1]) AS small USING (source)
ORDER BY source;
