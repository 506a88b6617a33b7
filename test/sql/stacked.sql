-- Stacked weights: the combination of the sources' own models that errs least on the target's rows.
\set VERBOSITY terse
SET wml.progress = off;

CREATE FUNCTION pg_temp.noise(a int, b int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT sum(('x' || substr(md5(a || ' ' || b), 1 + 7 * k, 7))::bit(28)::int / 268435456.0 - 0.5) * sqrt(3)
	FROM generate_series(0, 3) AS k
$$;
-- tasks whose features lie far apart, so that their grams tell little of how alike their models are
CREATE TEMP TABLE row_of AS
SELECT task, i, ARRAY[1, u] AS x, a + b * u + 0.7 * pg_temp.noise(task, i + 100) AS y
FROM (SELECT task, i, task % 3 - 1 + pg_temp.noise(task, i) AS u, (task % 4)::float8 AS a, (task % 5) / 2.0 AS b
	FROM generate_series(0, 20) AS task, generate_series(1, 30) AS i) AS f;
CREATE TEMP TABLE given AS
SELECT (SELECT array_agg(g ORDER BY task) FROM (SELECT task, wml_gram(x, y) AS g FROM row_of WHERE task > 0 GROUP BY task) AS s) AS sources,
	(SELECT wml_gram(x, y) FROM row_of WHERE task = 0 AND i <= 8) AS target, (SELECT wml_gram(x, y) FROM row_of WHERE task = 0 AND i > 8) AS later,
	(SELECT wml_folds(x, y ORDER BY i) FROM row_of WHERE task = 0 AND i <= 8) AS folds;
CREATE TEMP TABLE stacked AS
SELECT shrink, wml_alpha(sources, target, 'stacked', shrink => shrink) AS alpha FROM given, unnest(ARRAY[0, 1, 3]::float8[]) AS shrink;

-- on the simplex, in any form, with words in any case
SELECT shrink, abs(sum(a) - 1) < 1e-12 AS one, min(a) >= 0 AS not_negative FROM stacked, unnest(alpha) AS a GROUP BY shrink ORDER BY shrink;
SELECT bool_and(window_alpha = array_alpha) AS same
FROM given, LATERAL (SELECT i, wml_alpha(g, target, 'Stacked', 'square', 1, false) OVER () AS window_alpha FROM unnest(sources) WITH ORDINALITY AS s (g, i)) AS w,
	LATERAL (SELECT j, array_alpha FROM stacked, unnest(alpha) WITH ORDINALITY AS a (array_alpha, j) WHERE shrink = 1) AS a WHERE i = j;

-- without shrink, no other combination errs less on the target: not that of any source alone, nor halfway to it
SELECT bool_and(wml_mse(target, coef) <= wml_mse(target, other) + 1e-12) AS best
FROM given, LATERAL (SELECT wml_stack(g, a) AS coef FROM stacked, unnest(sources, alpha) AS s (g, a) WHERE shrink = 0) AS fit,
	generate_series(1, 20) AS j, unnest(ARRAY[1, 0.5, 0.01]) AS step,
	LATERAL (SELECT wml_stack(g, (1 - step) * a + step * (i = j)::int) AS other
		FROM stacked, unnest(sources, alpha) WITH ORDINALITY AS s (g, a, i) WHERE shrink = 0) AS moved;

-- the penalty evens the weights out; very much of it makes them equal
SELECT bool_and(square <= before) AS evened FROM (SELECT square, lag(square, 1, 1::float8) OVER (ORDER BY shrink) AS before
	FROM (SELECT shrink, sum(a * a) AS square FROM stacked, unnest(alpha) AS a GROUP BY shrink) AS s) AS pair;
SELECT bool_and(abs(a - 1.0 / 20) < 1e-6) AS equal FROM given, unnest(wml_alpha(sources, target, 'stacked', shrink => 1e12)) AS a;

-- the model: linear in the weights, each source's own coefficients drawn towards the common ones
SELECT bool_and(abs(w - (0.25 * a + 0.75 * b)) < 1e-12) AS linear
FROM given, LATERAL (SELECT wml_stack(g, CASE i WHEN 1 THEN 0.5 WHEN 2 THEN 1.5 ELSE 0 END) AS mixed, wml_stack(g, (i = 1)::int) AS first, wml_stack(g, (i = 2)::int) AS second
	FROM unnest(sources) WITH ORDINALITY AS s (g, i)) AS fit, unnest(mixed, first, second) AS c (w, a, b);
SELECT bool_and((w - own) * (w - common) <= 1e-12) AS between
FROM given, LATERAL (SELECT wml_stack(g, (i = 1)::int) AS shrunken, wml_erm(g, (i = 1)::int) AS alone, wml_erm(g, 1) AS joint
	FROM unnest(sources) WITH ORDINALITY AS s (g, i)) AS fit, unnest(shrunken, alone, joint) AS c (w, own, common);

-- what it is for: it predicts about as well as if all later rows had been known; wml_tune's model is that of the weights
SELECT wml_rmse(later, coef) < 1.2 * wml_rmse(later, (SELECT wml_erm(g, 1) FROM unnest(ARRAY[later]) AS g)) AS good FROM given,
	LATERAL (SELECT wml_stack(g, a) AS coef FROM stacked, unnest(sources, alpha) AS s (g, a) WHERE shrink = 1) AS fit;
SELECT (t).model, (t).weights, (t).shrink, bool_and(abs(a - b) < 1e-9) AS same
FROM given, LATERAL (SELECT wml_stack(g, a) AS coef FROM stacked, unnest(sources, alpha) AS s (g, a) WHERE shrink = 1) AS fit,
	LATERAL (SELECT wml_tune(sources, folds, models => '{stack}', shrinks => '{1}') AS t OFFSET 0) AS t, unnest((t).coef, coef) AS pair (a, b) GROUP BY 1, 2, 3;
SELECT count(*) FILTER (WHERE model = 'stack') AS stacks, bool_and(weights = 'stacked') FILTER (WHERE model = 'stack') AS stacked FROM given, wml_compare(sources, folds);

-- NULLs take no part
SELECT (wml_alpha(sources || NULL::wml_gram, target, 'stacked', shrink => 1))[21] IS NULL AS none, wml_alpha('{}'::wml_gram[], target, 'stacked') AS empty FROM given;
SELECT wml_stack(NULL::wml_gram, 1) IS NULL AS nothing;

-- errors
SELECT wml_alpha(sources, target, 'stacked', 'hinge') FROM given;
SELECT wml_alpha(sources, target, 'stack') FROM given;
SELECT wml_stack(g, 0) FROM given, unnest(sources) AS g;
SELECT wml_stack(g, -1) FROM given, unnest(sources) AS g;
SELECT wml_stack(g, 1) FROM (SELECT wml_gram(ARRAY[1], 1) AS g UNION ALL SELECT wml_gram(ARRAY[1, 2], 1)) AS s;
