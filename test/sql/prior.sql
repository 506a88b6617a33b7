-- A prior learned from the sources: sleepstudy against the published fit, and what must hold.
\set VERBOSITY terse

-- Reaction times (ms) of 18 subjects on days 0 to 9 of sleep restriction: Belenky et al., J. Sleep
-- Res. 12 (2003) 1-12; the fit: Bates et al., J. Stat. Softw. 67 (2015).
CREATE TEMP TABLE sleepstudy AS
SELECT subject, day - 1 AS day, reaction
FROM (SELECT row_number() OVER () AS subject, times FROM (VALUES
	('{249.56,258.7047,250.8006,321.4398,356.8519,414.6901,382.2038,290.1486,430.5853,466.3535}'),
	('{222.7339,205.2658,202.9778,204.707,207.7161,215.9618,213.6303,217.7272,224.2957,237.3142}'),
	('{199.0539,194.3322,234.32,232.8416,229.3074,220.4579,235.4208,255.7511,261.0125,247.5153}'),
	('{321.5426,300.4002,283.8565,285.133,285.7973,297.5855,280.2396,318.2613,305.3495,354.0487}'),
	('{287.6079,285,301.8206,320.1153,316.2773,293.3187,290.075,334.8177,293.7469,371.5811}'),
	('{234.8606,242.8118,272.9613,309.7688,317.4629,309.9976,454.1619,346.8311,330.3003,253.8644}'),
	('{283.8424,289.555,276.7693,299.8097,297.171,338.1665,332.0265,348.8399,333.36,362.0428}'),
	('{265.4731,276.2012,243.3647,254.6723,279.0244,284.1912,305.5248,331.5229,335.7469,377.299}'),
	('{241.6083,273.9472,254.4907,270.8021,251.4519,254.6362,245.4523,235.311,235.7541,237.2466}'),
	('{312.3666,313.8058,291.6112,346.1222,365.7324,391.8385,404.2601,416.6923,455.8643,458.9167}'),
	('{236.1032,230.3167,238.9256,254.922,250.7103,269.7744,281.5648,308.102,336.2806,351.6451}'),
	('{256.2968,243.4543,256.2046,255.5271,268.9165,329.7247,379.4445,362.9184,394.4872,389.0527}'),
	('{250.5265,300.0576,269.8939,280.5891,271.8274,304.6336,287.7466,266.5955,321.5418,347.5655}'),
	('{221.6771,298.1939,326.8785,346.8555,348.7402,352.8287,354.4266,360.4326,375.6406,388.5417}'),
	('{271.9235,268.4369,257.2424,277.6566,314.8222,317.2135,298.1353,348.1229,340.28,366.5131}'),
	('{225.264,234.5235,238.9008,240.473,267.5373,344.1937,281.1481,347.5855,365.163,372.2288}'),
	('{269.8804,272.4428,277.8989,281.7895,279.1705,284.512,259.2658,304.6306,350.7807,369.4692}'),
	('{269.4117,273.474,297.5968,310.6316,287.1726,329.6076,334.4818,343.2199,369.1417,364.1236}')
	) AS measured (times)) AS one, unnest(times::float8[]) WITH ORDINALITY AS t (reaction, day);
CREATE TEMP TABLE task_gram AS
SELECT subject, wml_gram(ARRAY[1, day], reaction) AS gram FROM sleepstudy GROUP BY subject;

-- restricted maximum likelihood: 251.405, 10.467; 24.741, 5.922, 0.066; 25.592
CREATE TEMP TABLE fitted AS
SELECT method, wml_prior(array_agg(gram ORDER BY subject), method => method) AS prior
FROM task_gram, unnest('{ml,reml}'::text[]) AS method GROUP BY method;
SELECT method, round(mean[1]::numeric, 3) AS intercept, round(mean[2]::numeric, 3) AS slope,
	round(sqrt(cov[1][1])::numeric, 3) AS sd_intercept, round(sqrt(cov[2][2])::numeric, 3) AS sd_slope,
	round((cov[1][2] / sqrt(cov[1][1] * cov[2][2]))::numeric, 3) AS correlation,
	round(sqrt(wml_prior_noise(prior))::numeric, 3) AS residual, round(wml_loglik(prior)::numeric, 2) AS loglik,
	round(error[1]::numeric, 3) AS intercept_error, round(error[2]::numeric, 3) AS slope_error
FROM fitted, LATERAL (SELECT wml_prior_mean(prior) AS mean, wml_prior_covariance(prior) AS cov, wml_prior_mean_error(prior) AS error) AS part
ORDER BY method;
SELECT info.method, dims, tasks, effective_tasks, iterations < 30 AS fast, converged, singular, rank, saturated, covariance
FROM fitted, wml_prior_info(prior) AS info ORDER BY method;

-- lmer's Reaction ~ Days + (1 | Subject): 251.405105, 10.467286; 37.1238, 30.9912, -893.2325427; (Days || Subject): 25.0513, 5.9882, 25.5653, -871.8346468
SELECT model, round(mean[1]::numeric, 4) AS intercept, round(mean[2]::numeric, 4) AS slope, round(sqrt(cov[1][1])::numeric, 2) AS sd_intercept, round(sqrt(cov[2][2])::numeric, 3) AS sd_slope,
	round(sqrt(wml_prior_noise(prior))::numeric, 3) AS residual, round(wml_loglik(prior)::numeric, 6) AS loglik
FROM (SELECT 'intercepts' AS model, wml_prior(array_agg(gram), method => 'reml', fixed => '{2}') AS prior FROM task_gram
	UNION ALL SELECT 'uncorrelated', wml_prior(array_agg(gram), method => 'reml', covariance => 'diagonal') FROM task_gram) AS fit,
	wml_prior_mean(prior) AS mean, wml_prior_covariance(prior) AS cov ORDER BY model;
-- and Reaction ~ Days * z + (Days | Subject): 249.2554155, 14.8844716, 1.0748447, -2.2085928; 25.731, 5.292, 25.592; -866.2523455
SELECT round(mean[1][1]::numeric, 4) AS intercept, round(mean[2][1]::numeric, 4) AS slope, round(mean[1][2]::numeric, 4) AS z, round(mean[2][2]::numeric, 4) AS slope_z,
	round(sqrt(cov[1][1])::numeric, 1) AS sd_intercept, round(sqrt(cov[2][2])::numeric, 3) AS sd_slope, round(wml_loglik(prior)::numeric, 5) AS loglik
FROM (SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml'), ARRAY[subject % 5]::float8[]) AS prior FROM task_gram) AS fit,
	wml_prior_mean(prior) AS mean, wml_prior_covariance(prior) AS cov;

-- the likelihood of the sources under the prior is the one that the fit reports, and no other prior's is larger
SELECT abs(wml_loglik(prior, (SELECT array_agg(gram) FROM task_gram)) - wml_loglik(prior)) < 1e-8 AS same
FROM fitted WHERE method = 'ml';
SELECT wml_loglik(ml.prior) > wml_loglik(reml.prior, (SELECT array_agg(gram) FROM task_gram)) AS ml_is_most_likely
FROM fitted AS ml, fitted AS reml WHERE ml.method = 'ml' AND reml.method = 'reml';

-- a text or binary round trip keeps every bit
SET extra_float_digits = 0;
SELECT bool_and(prior::text::wml_prior::text = prior::text AND wml_prior_send(prior::text::wml_prior) = wml_prior_send(prior)) AS exact FROM fitted;
RESET extra_float_digits;

-- the posterior lies between the prior and the task's own fit; nothing known gives the prior
SELECT position, feature, round(coefficient::numeric, 2) AS coefficient, round(sd::numeric, 2) AS sd,
	round(prior_mean::numeric, 2) AS prior_mean, round(moved::numeric, 2) AS moved
FROM fitted, task_gram, wml_posterior(prior, gram, '{intercept,day}') WHERE method = 'reml' AND subject = 1;
-- errors include what is not known of the prior, as the bounds of the mean response do, whose Student's t is wider than the
-- normal distribution; a coefficient that is the same in all tasks has that error alone
SELECT bool_and(error > sd) AS more_than_sd, bool_and((mean_upper - estimate) / error BETWEEN 1 AND 1.1) AS as_the_bounds
FROM fitted, task_gram, wml_posterior(prior, gram, '{intercept,day}') AS p,
	wml_predict_interval(prior, gram, ARRAY[(position = 1)::int, (position = 2)::int], 0.6826894921370859) WHERE method = 'reml';
SELECT feature, bool_and(sd = 0) AS same_in_all, bool_and(error > 0) AS error, bool_and(abs(error / mean_error - 1) < 0.25) AS that_of_the_mean
FROM (SELECT wml_prior(array_agg(gram ORDER BY subject), fixed => '{day}', features => '{intercept,day}') AS prior FROM task_gram) AS one,
	task_gram, wml_posterior(prior, gram, '{intercept,day}') AS p, LATERAL (SELECT (wml_prior_mean_error(prior))[position] AS mean_error) AS e
WHERE position = 2 GROUP BY feature;
SELECT wml_posterior_coef(prior, NULL) = wml_prior_mean(prior) AS null_gram,
	wml_posterior_coef(prior, (SELECT wml_gram(NULL, 1))) = wml_prior_mean(prior) AS empty_gram FROM fitted WHERE method = 'ml';
SELECT count(*) AS subjects, bool_and(abs(coef[1] - mean[1]) <= abs(own[1] - mean[1]) + 3) AS shrunk
FROM (SELECT wml_posterior_coef(prior, gram) AS coef, wml_prior_mean(prior) AS mean,
		(SELECT array_agg(coefficient ORDER BY position) FROM wml_linregr(gram)) AS own
	FROM fitted, task_gram WHERE method = 'ml') AS compared;

-- the formula of the posterior mean: (n A / s2 + S^-1) m = n b / s2 + S^-1 mu, for two features
SELECT bool_and(abs(left_1 - right_1) < 1e-9 * abs(right_1) AND abs(left_2 - right_2) < 1e-9 * abs(right_2)) AS normal_equations
FROM (SELECT (n * a[1][1] / s2 + cov[2][2] / det) * m[1] + (n * a[1][2] / s2 - cov[1][2] / det) * m[2] AS left_1,
		n * a[1][3] / s2 + (cov[2][2] * mu[1] - cov[1][2] * mu[2]) / det AS right_1,
		(n * a[1][2] / s2 - cov[1][2] / det) * m[1] + (n * a[2][2] / s2 + cov[1][1] / det) * m[2] AS left_2,
		n * a[2][3] / s2 + (cov[1][1] * mu[2] - cov[1][2] * mu[1]) / det AS right_2
	FROM (SELECT wml_n(gram) AS n, wml_second_moment(gram) AS a, wml_prior_noise(prior) AS s2, wml_prior_covariance(prior) AS cov,
			wml_posterior_coef(prior, gram) AS m, wml_prior_mean(prior) AS mu FROM fitted, task_gram WHERE method = 'reml') AS parts,
		LATERAL (SELECT cov[1][1] * cov[2][2] - cov[1][2] * cov[1][2] AS det) AS d) AS equation;

-- intervals: those for the mean lie inside those for an observation; more rows and less confidence narrow them
SELECT upper - lower > mean_upper - mean_lower AS mean_inside, abs(estimate - wml_predict(wml_posterior_coef(prior, gram), '{1,5}')) < 1e-9 AS estimate,
	upper - lower < unknown_width AS rows_narrow, upper - lower > half_width AS level_widens
FROM fitted, task_gram, wml_predict_interval(prior, gram, '{1,5}'),
	LATERAL (SELECT i.upper - i.lower AS unknown_width FROM wml_predict_interval(prior, NULL, '{1,5}') AS i) AS unknown,
	LATERAL (SELECT i.upper - i.lower AS half_width FROM wml_predict_interval(prior, gram, '{1,5}', 0.5) AS i) AS half
WHERE method = 'reml' AND subject = 2;

-- also with few tasks, where the mean has few degrees of freedom
SELECT bool_and(lower <= mean_lower AND mean_upper <= upper) AS nested
FROM (SELECT wml_prior(array_agg(gram)) AS prior FROM task_gram WHERE subject <= 4) AS few, unnest('{0.5,0.9,0.99,0.9999}'::float8[]) AS level,
	wml_predict_interval(prior, NULL, '{1,5}', level);

-- neither the order of tasks nor the units of features matter
SELECT bool_and(abs(a / b - 1) < 1e-6) AS units
FROM fitted, (SELECT wml_prior(array_agg(gram ORDER BY -subject), method => 'reml') AS other
	FROM (SELECT subject, wml_gram(ARRAY[1000, day / 24.0], reaction) AS gram FROM sleepstudy GROUP BY subject) AS g) AS scaled,
	LATERAL unnest(ARRAY[(wml_prior_mean(prior))[1], (wml_prior_mean(prior))[2], (wml_prior_covariance(prior))[2][2], wml_prior_noise(prior)],
		ARRAY[(wml_prior_mean(other))[1] * 1000, (wml_prior_mean(other))[2] / 24, (wml_prior_covariance(other))[2][2] / 576, wml_prior_noise(other)]) AS pair (a, b)
WHERE method = 'reml';

-- weights of 0 and 1 are the same as leaving tasks out; NULL tasks take no part
SELECT abs(wml_loglik(weighted) - wml_loglik(fewer)) < 1e-7 AS zero_one, abs(wml_loglik(fewer) - wml_loglik(padded)) < 1e-7 AS nulls,
	(SELECT tasks FROM wml_prior_info(weighted))
FROM (SELECT wml_prior(array_agg(gram ORDER BY subject), array_agg((subject <= 10)::int::float8 ORDER BY subject)) AS weighted,
		wml_prior(array_agg(gram ORDER BY subject) FILTER (WHERE subject <= 10)) AS fewer,
		wml_prior(array_agg(gram ORDER BY subject) FILTER (WHERE subject <= 10) || NULL::wml_gram || (SELECT wml_gram(NULL, 1))) AS padded
	FROM task_gram) AS fit;

-- no spread between tasks: the fit is on the boundary and says so
SELECT singular, rank, converged, round(wml_prior_noise(prior)::numeric, 2) >= 0 AS noise
FROM (SELECT wml_prior(array_agg(gram)) AS prior FROM (SELECT wml_gram(ARRAY[1, x], 3 + 2 * x + CASE WHEN (x + task) % 2 = 0 THEN 1 ELSE -1 END) AS gram
	FROM generate_series(1, 8) AS task, generate_series(1, 10) AS x GROUP BY task) AS alike) AS fit, wml_prior_info(prior);

-- errors
SELECT wml_prior(NULL::wml_gram[]);
SELECT wml_prior('{}'::wml_gram[]);
SELECT wml_prior(array_agg(gram), covariance => 'round') FROM task_gram;
SELECT wml_prior(array_agg(gram), method => 'mcmc') FROM task_gram;
SELECT wml_prior(array_agg(gram), '{1,2}') FROM task_gram;
SELECT wml_prior(array_agg(gram), array_agg(0.0)) FROM task_gram;
SELECT wml_prior(array_agg(gram), temper => 2) FROM task_gram;
SELECT wml_prior(array_agg(gram)) FROM (SELECT gram FROM task_gram UNION ALL SELECT wml_gram('{1}', 2)) AS mixed;
SELECT wml_prior(array_agg(gram)) FROM (SELECT gram FROM task_gram UNION ALL SELECT wml_gram('{1,2}', 'NaN')) AS bad;
SELECT wml_posterior_coef(prior, (SELECT wml_gram('{1}', 2))) FROM fitted;
SELECT wml_posterior(prior, NULL, '{a}') FROM fitted;
SELECT wml_predict_interval(prior, NULL, '{1}') FROM fitted;
SELECT wml_predict_interval(prior, NULL, '{1,NaN}') FROM fitted;
SELECT wml_predict_interval(prior, NULL, '{1,2}', 1) FROM fitted;
SELECT 'nonsense'::wml_prior;
SELECT '{v=1 d=1 flags=0 rank=1 iterations=1 noise=-1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 mean=[1] factor=[1] mean_covariance=[1]}'::wml_prior;
SELECT '{v=1 d=1 flags=0 rank=1 iterations=1 noise=1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 mean=[1] factor=[1] mean_covariance=[1]}'::wml_prior;
-- versions 1 and 2 had the covariance of the mean, today's has its factor
SELECT substring('{v=1 d=2 flags=0 rank=1 iterations=1 noise=1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 mean=[1 2] factor=[1; 0 1] mean_covariance=[4; 2 5]}'::wml_prior::text FROM 'mean_factor=.*') AS factored,
	wml_prior_mean_error('{v=1 d=2 flags=0 rank=1 iterations=1 noise=1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 mean=[1 2] factor=[1; 0 1] mean_covariance=[4; 0 9]}');
SELECT '{v=1 d=1 flags=0 rank=1 iterations=1 noise=1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 mean=[1] factor=[1] mean_covariance=[-1]}'::wml_prior;
SELECT '{v=1 d=2 flags=0 rank=1 iterations=1 noise=1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 mean=[1 2] factor=[1; 0 1] mean_covariance=[1e-300; 1e300 1]}'::wml_prior;
-- bytes stored by version 2, whose header ended 16 bytes earlier, and others that are none
SET client_min_messages = error;
CREATE TYPE image;
CREATE FUNCTION image_in(cstring) RETURNS image LANGUAGE internal STRICT IMMUTABLE AS 'byteain';
CREATE FUNCTION image_out(image) RETURNS cstring LANGUAGE internal STRICT IMMUTABLE AS 'byteaout';
CREATE TYPE image (INPUT = image_in, OUTPUT = image_out, ALIGNMENT = double, STORAGE = extended);
CREATE CAST (wml_prior AS image) WITHOUT FUNCTION;
CREATE CAST (image AS wml_prior) WITHOUT FUNCTION;
RESET client_min_messages;
CREATE TEMP TABLE stored AS
SELECT prior, overlay(set_byte(bytes, CASE get_byte(bytes, 0) WHEN 3 THEN 0 ELSE 1 END, 2) PLACING '' FROM 141 FOR 16) AS old
FROM (SELECT prior, prior::image::text::bytea AS bytes FROM (VALUES ('{v=3 d=1 descriptors=1 family=gaussian flags=1 rank=1 iterations=1 noise=1 tasks=3 effective=3 rows=9 degrees=5 loglik=-4 parameters=3 shape=0 power=0 limit=0 spread=0 dispersion=0 smooth=0 smooth_degrees=0 design_rank=1 evenness=0 unevenness=0 mean=[7] factor=[2] mean_factor=[1]}'::wml_prior), ('{v=3 d=2 descriptors=1 family=gaussian flags=1 rank=1 iterations=1 noise=1 tasks=3 effective=3 rows=9 degrees=5 loglik=-4 parameters=3 shape=0 power=0 limit=0 spread=0 dispersion=0 smooth=0 smooth_degrees=0 design_rank=1 evenness=0 unevenness=0 mean=[7 8] factor=[2; 1 0] mean_factor=[1; 0 1]}')) AS v (prior)) AS f;
SELECT old::text::image::wml_prior::text = prior::text AS same FROM stored;
SELECT substring(old FROM 1 FOR length(old) - 1)::text::image::wml_prior FROM stored;
SELECT substring(old FROM 1 FOR 139)::text::image::wml_prior FROM stored;
SELECT (old || '\x00')::text::image::wml_prior FROM stored;
SET client_min_messages = error;
DROP TYPE image CASCADE;
RESET client_min_messages;
SELECT wml_prior(ARRAY[gram, gram]) FROM (SELECT wml_gram(array_fill(1::float8, ARRAY[800]), 1) AS gram) AS wide;

-- responses without noise: the prior is there, with a warning
\set VERBOSITY default
SELECT saturated, wml_prior_noise(prior) < 1e-6 AS no_noise
FROM (SELECT wml_prior(array_agg(gram)) AS prior FROM (SELECT wml_gram(ARRAY[1, i], task + i * task * task) AS gram
	FROM generate_series(1, 4) AS task, generate_series(1, 5) AS i GROUP BY task) AS exact) AS learned, wml_prior_info(prior);
SET wml.warnings = off;
SELECT saturated, wml_prior_noise(prior) < 1e-6 AS no_noise
FROM (SELECT wml_prior(array_agg(gram)) AS prior FROM (SELECT wml_gram(ARRAY[1, i], task + i * task * task) AS gram
	FROM generate_series(1, 4) AS task, generate_series(1, 5) AS i GROUP BY task) AS exact) AS learned, wml_prior_info(prior);
RESET wml.warnings;

-- the rank of the features, as wml_linregr counts it: one too many, a temperature twice, years cubed, fewer rows than features
SET client_min_messages = error;
WITH design AS (
	SELECT name, g, row, ARRAY[1, row, x * x] || CASE name WHEN 'sum' THEN ARRAY[1 + row] WHEN 'celsius' THEN ARRAY[x, 32 + 1.8 * x]
		WHEN 'years' THEN ARRAY[(1950 + row) ^ 2, (1950 + row) ^ 3]::float8[] WHEN 'few' THEN ARRAY[sin(row), sin(2 * row), sin(3 * row)] END AS f, sin(7.0 * row + g) AS y
	FROM unnest('{sum,celsius,years,few}'::text[]) AS name, generate_series(1, 4) AS g, generate_series(1, 10) AS row, sin(row * g) AS x
	WHERE name <> 'few' OR (row + g) % 10 = 0
), task AS (SELECT name, g, wml_gram(f, y) AS gram FROM design GROUP BY name, g
), pool AS (SELECT name, wml_merge(gram) AS gram, array_agg(gram ORDER BY g) AS grams FROM task GROUP BY name)
SELECT name, wml_dims(gram) AS features, s.rank, i.design_rank, c.rank AS rank_of_one, o.design_rank AS of_one
FROM pool, wml_linregr_summary(gram) AS s, wml_prior_info(wml_prior(grams)) AS i, wml_linregr_summary(grams[1]) AS c, wml_prior_info(wml_prior(grams[1:1])) AS o ORDER BY name;
RESET client_min_messages;
