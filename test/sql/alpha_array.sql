-- wml_alpha for an array of sources, and the gap of any weights.
CREATE TEMP TABLE task AS
SELECT task, wml_gram(ARRAY[1, sin(task) + sin(1.7 * task * i), cos(2 * task) + cos(i)], cos(3 * task) * sin(i) + sin(task * i)) AS gram
FROM generate_series(1, 8) AS task, generate_series(1, 5 + task) AS i GROUP BY task;
CREATE TEMP TABLE problem AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task < 8) AS sources,
	(SELECT gram FROM task WHERE task = 8) AS target FROM task;

-- every kind of weights: on the simplex, in the order of the sources
SELECT weights, cardinality(alpha) AS count, abs((SELECT sum(a) FROM unnest(alpha) AS a) - 1) < 1e-12 AS sum_one, 0 <= ALL (alpha) AS not_negative
FROM problem, unnest(ARRAY['mixture', 'closest', 'uniform', 'pooled']) AS weights, LATERAL (SELECT wml_alpha(sources, target, weights) AS alpha) AS solved
ORDER BY weights;
SELECT wml_alpha(sources, target, 'uniform') = array_fill(1 / 7.0::float8, ARRAY[7]) AS uniform,
	(SELECT max(abs(a - wml_n(gram) / 63.0)) < 1e-15 FROM unnest(wml_alpha(sources, target, 'pooled'), sources) AS weight (a, gram)) AS pooled,
	(SELECT bool_and((a = 1) = (gram <-> target = least)) FROM unnest(wml_alpha(sources, target, 'closest'), sources) AS weight (a, gram),
		(SELECT min(gram <-> target) AS least FROM unnest(sources) AS gram) AS closest) AS closest
FROM problem;
-- weights of rows count in pooled weights
SELECT wml_alpha(ARRAY[wml_gram(ARRAY[1, i], i, 3), wml_gram(ARRAY[1, i], i, 1)], wml_gram(ARRAY[1, i], i), 'pooled') AS pooled
FROM generate_series(1, 4) AS i;

-- the order of the sources is the order of the weights
SELECT bool_and(abs(a - b) < 1e-12) AS follows
FROM problem, LATERAL (SELECT array_agg(gram ORDER BY j DESC) AS backwards FROM unnest(sources) WITH ORDINALITY AS source (gram, j)) AS reversed,
	LATERAL (SELECT array_agg(a ORDER BY j DESC) AS restored FROM unnest(wml_alpha(backwards, target)) WITH ORDINALITY AS weight (a, j)) AS solved,
	unnest(wml_alpha(sources, target), restored) AS weight (a, b);

-- NULLs take no part, whatever the weights
SELECT weights, whiten, (SELECT array_agg(a IS NULL) FROM unnest(alpha) AS a) AS nulls,
	(SELECT array_agg(a) FILTER (WHERE a IS NOT NULL) FROM unnest(alpha) AS a) = wml_alpha(sources[1:2], target, weights, whiten => whiten) AS others
FROM problem, unnest(ARRAY['mixture', 'closest', 'uniform', 'pooled']) AS weights, unnest(ARRAY[false, true]) AS whiten,
	LATERAL (SELECT wml_alpha(ARRAY[NULL, sources[1], NULL, sources[2]], target, weights, whiten => whiten) AS alpha) AS solved
ORDER BY weights, whiten;
SELECT wml_alpha(ARRAY[NULL, NULL]::wml_gram[], target) AS only_nulls, wml_alpha('{}'::wml_gram[], target) AS none,
	wml_alpha_gap(ARRAY[NULL, NULL]::wml_gram[], target, ARRAY[NULL, NULL]::float8[]) IS NULL AS no_gap,
	wml_alpha_gap('{}', target, '{}') IS NULL AS no_gap_either
FROM problem;
SELECT wml_alpha_gap(ARRAY[NULL, sources[1], sources[2]], target, wml_alpha(ARRAY[NULL, sources[1], sources[2]], target)) < 1e-12 AS gap,
	wml_alpha_gap(ARRAY[NULL, sources[1], sources[2]], target, ARRAY[NULL, 1, 0]) > 0 AS poor FROM problem;

-- an array whose numbering starts elsewhere
SELECT wml_alpha(('[5:6]=' || ARRAY[sources[1], sources[2]]::text)::wml_gram[], target) = wml_alpha(sources[1:2], target) AS same FROM problem;

-- the gap of a vertex, by hand: the squared distance f and the lowest price g give 2 (f - g)
SELECT abs(wml_alpha_gap(ARRAY[a, b], target, ARRAY[1, 0]) - 2 * (f - least(f, g))) < 1e-13 AS gap
FROM (SELECT sources[1] AS a, sources[2] AS b, target FROM problem) AS two,
	LATERAL (SELECT wml_kernel(a, a) - 2 * wml_kernel(a, target) + wml_kernel(target, target) AS f,
				wml_kernel(a, b) - wml_kernel(a, target) - wml_kernel(b, target) + wml_kernel(target, target) AS g) AS price;
-- with every option, the weights have no gap left and others do
SELECT loss, shrink, whiten, wml_alpha_gap(sources, target, alpha, loss, shrink, whiten) <= 1e-10 * uniform_gap AS none_left, uniform_gap > 0 AS uniform
FROM problem, unnest(ARRAY['square', 'hinge']) AS loss, unnest(ARRAY[0, 1.5]) AS shrink, unnest(ARRAY[false, true]) AS whiten,
	LATERAL (SELECT wml_alpha(sources, target, 'mixture', loss, shrink, whiten) AS alpha,
				wml_alpha_gap(sources, target, wml_alpha(sources, target, 'uniform'), loss, shrink, whiten) AS uniform_gap) AS solved
ORDER BY loss DESC, shrink, whiten;
