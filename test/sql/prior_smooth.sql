-- A smooth function that all tasks share, beside the coefficients of their own.
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT setseed(0.75);

CREATE FUNCTION pg_temp.normal() RETURNS float8 LANGUAGE sql VOLATILE
AS $$ SELECT sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;

-- a plane of its own for each task, and sin(2 a) b for all of them
CREATE TEMP TABLE example AS
SELECT task, task > 40 AS target, i, a, b, ARRAY[1, a, b]::float8[] AS plain, ARRAY[1, a, b] || wml_rff(ARRAY[a, b], 50, 1, 7) AS x,
	u + (1 + v) * a + w * b + 1.5 * sin(2 * a) * b + 0.3 * e AS y, u + (1 + v) * a + w * b + e AS straight
FROM (SELECT task, pg_temp.normal() AS u, 0.5 * pg_temp.normal() AS v, 0.25 * pg_temp.normal() AS w FROM generate_series(1, 80) AS task) AS t,
	LATERAL (SELECT i, 3 * random() - 1.5 AS a, 3 * random() - 1.5 AS b, pg_temp.normal() AS e FROM generate_series(1, 25) AS i WHERE task = task) AS r;
CREATE TEMP TABLE task AS
SELECT task, target, wml_gram(x, y) AS gram, wml_gram(plain, y) AS plain, wml_gram(x, y) FILTER (WHERE i <= 6) AS few,
	wml_gram(plain, y) FILTER (WHERE i <= 6) AS few_plain, wml_gram(x, straight) AS straight
FROM example GROUP BY task, target;

-- the array and the aggregate; ranges, positions and names say the same
CREATE TEMP TABLE learned AS
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{4-53}') ORDER BY task) AS prior,
	wml_prior(plain, 1, wml_prior_options(method => 'reml') ORDER BY task) AS plain,
	wml_prior(straight, 1, wml_prior_options(method => 'reml', smooth => '{4-53}') ORDER BY task) AS straight,
	wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{4-53}', noise => 'own', tasks => 't') ORDER BY task) AS robust
FROM task WHERE NOT target;
SELECT prior::text = wml_prior(array_agg(gram ORDER BY task), method => 'reml', smooth => '{4-20,21,22-53}')::text AS the_array,
	prior::text = wml_prior(array_agg(gram ORDER BY task), method => 'reml', smooth => ARRAY(SELECT 'f' || k FROM generate_series(1, 50) AS k),
		features => ARRAY['one', 'a', 'b'] || ARRAY(SELECT 'f' || k FROM generate_series(1, 50) AS k))::text AS by_name
FROM learned, task WHERE NOT target GROUP BY prior::text;
SELECT prior::text::wml_prior::text = prior::text AS exact FROM learned;
SELECT wml_prior(gram, 1, wml_prior_options(smooth => '{4-53}')) FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{4-54}')) FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{5-4}')) FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{-}')) FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{curve}')) FROM task;

-- it is found where it is, and only there; coefficients do not spread
SELECT kind, converged, rank, smooth_sd > 0.5 AS large, smooth_degrees > 10 AS rich, wml_prior_noise(fit) < 0.2 AS explained,
	(wml_prior_covariance(fit))[5][5] = 0 AS shared
FROM learned, LATERAL (VALUES ('smooth', prior), ('robust', robust), ('straight', straight)) AS k (kind, fit), wml_prior_info(fit) ORDER BY kind;
SELECT bool_and(mean = 0) AS nothing_left FROM learned, unnest(wml_prior_mean(straight)) WITH ORDINALITY AS m (mean, k), wml_prior_info(straight)
WHERE k > 3 AND smooth_sd = 0;

-- targets with six rows: better than without, and covered as often as promised
SELECT sqrt(avg((s.estimate - y) ^ 2)) < 0.55 * sqrt(avg((p.estimate - y) ^ 2)) AS better, avg((y BETWEEN s.lower AND s.upper)::int) BETWEEN 0.86 AND 0.94 AS covered
FROM learned, task JOIN example USING (task, target), wml_predict_interval(prior, few, x, 0.9) AS s,
	wml_predict_interval(learned.plain, few_plain, example.plain, 0.9) AS p WHERE target AND i > 6;

-- descriptors move it, within the same penalty
SELECT descriptors, smooth_degrees > 10 AS rich, cardinality(wml_prior_mean(prior)) AS means
FROM (SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', smooth => '{4-53}'), ARRAY[task % 3]::float8[]) AS prior FROM task) AS fit, wml_prior_info(prior);

-- comparisons try it beside the plain prior, which does not look at its features
CREATE TEMP TABLE contest AS
SELECT task, sources, few, folds, rest
FROM (SELECT array_agg(gram ORDER BY task) AS sources FROM task WHERE NOT target) AS s,
	(SELECT task, wml_gram(x, y) FILTER (WHERE i > 12) AS rest, wml_folds(x, y, 4) FILTER (WHERE i <= 12) AS folds, wml_gram(x, y) FILTER (WHERE i <= 12) AS few
	 FROM example WHERE task IN (41, 42, 43) GROUP BY task) AS t;
SELECT task, string_agg(model, ' ' ORDER BY model) AS models, string_agg(model, ' ') FILTER (WHERE chosen) AS chosen FROM contest, wml_compare(sources, folds, smooth => '{4-53}') GROUP BY task ORDER BY task;
-- the same as the prior alone, but for what fits leave undone that end at an expected gain of 1e-9: 3e-5 standard errors
CREATE TEMP TABLE tuned AS
SELECT task, 'smooth' AS kind, few AS gram, wml_tune(sources, few, smooth => '{4-53}') AS tuned FROM contest
UNION ALL SELECT task, 'plain', few, wml_tune(sources, folds, models => '{prior}', smooth => '{4-53}') FROM contest WHERE task = 43;
CREATE TEMP TABLE alone AS
SELECT 'smooth' AS kind, wml_prior(gram, 1, wml_prior_options(method => 'reml', evenness => 3, smooth => '{4-53}') ORDER BY task) AS prior FROM task WHERE NOT target
UNION ALL SELECT 'plain', wml_prior(plain, 1, wml_prior_options(method => 'reml', evenness => 3) ORDER BY task) FROM task WHERE NOT target;
CREATE TEMP TABLE both_ways AS
SELECT task, kind, (tuned).model, (tuned).coef, wml_posterior_coef(prior, CASE kind WHEN 'smooth' THEN gram ELSE known END) AS coef_alone, wml_prior_noise(prior) AS noise
FROM tuned JOIN alone USING (kind) JOIN (SELECT task, wml_gram(plain, y) AS known FROM example WHERE i <= 12 GROUP BY task) AS k USING (task);
SELECT task, model, wml_rmse(rest, coef) < 0.6 AS good,
	(SELECT max(abs(wml_predict(coef, x) - wml_predict(coef_alone, CASE kind WHEN 'smooth' THEN x ELSE plain END))) < 1e-3 * sqrt(noise) FROM example WHERE example.task = b.task) AS the_same
FROM both_ways AS b JOIN contest USING (task) ORDER BY kind DESC, task;
SELECT wml_tune(sources, few, models => '{smooth}') FROM contest;
SELECT wml_tune(sources, few, smooth => '{1-53}') FROM contest;
