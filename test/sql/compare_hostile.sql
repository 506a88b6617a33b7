-- wml_tune never fails on valid data: whatever cannot be computed says why, and something is chosen.
\set VERBOSITY terse
SET wml.progress = off;
SET client_min_messages = error;

-- sixty random sets with an uncentred year, 0/1 columns, twelve features and a constant
CREATE FUNCTION pg_temp.one_set(seed int, OUT coefficients int, OUT finite bool, OUT with_interval bool) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed(seed / 100.0);
	CREATE TEMP TABLE level AS SELECT t, 1950 + 50 * random() AS yc, random() AS p1, random() AS p2, random() AS b FROM generate_series(1, 9) AS t;
	CREATE TEMP TABLE example AS
	SELECT t AS task, i, ARRAY[1, 4 + 0.1 * random(), 3 + 0.1 * random(), yr, round(2000 * random() * b), round(1 + 2 * random()), round(2 * random()),
		(e < 0.3)::int, (e BETWEEN 0.3 AND 0.6)::int, (e > 0.85)::int, (g < 0.1)::int, (g BETWEEN 0.1 AND 0.6)::int, (g > 0.9)::int]::float8[] AS x, 4 + yr / 1000 + 0.1 * b + 0.1 * random() AS y
	FROM (SELECT t, i, b, round(least(2010, greatest(1950, yc + 15 * (random() - 0.5)))) AS yr, p1 * p1 + 0.5 * (random() - 0.5) AS e, p2 + 0.6 * (random() - 0.5) AS g
		FROM level, generate_series(1, 10 + t * 8) AS i) AS q;
	SELECT cardinality((tuned).coef), (SELECT bool_and(abs(c) < 'Infinity') FROM unnest((tuned).coef) AS c), lower < estimate AND estimate < upper
	INTO coefficients, finite, with_interval
	FROM (SELECT wml_tune((SELECT array_agg(g) FROM (SELECT wml_gram(x, y) AS g FROM example WHERE task > 1 GROUP BY task) AS s),
			(SELECT array_agg(g) FROM (SELECT wml_gram(x, y) AS g FROM example WHERE task = 1 AND i <= 5 GROUP BY i) AS f)) AS tuned OFFSET 0) AS t,
		wml_predict_interval(tuned, (SELECT x FROM example WHERE task = 1 AND i = 6));
	DROP TABLE level, example;
END
$$;
SELECT count(*) AS sets, bool_and(coefficients = 13 AND finite) AS tuned, bool_and(with_interval) AS with_intervals FROM generate_series(1, 60) AS seed, pg_temp.one_set(seed);

-- rows that spoil something: what, features and response from two normal-like numbers u and v of row i in task t
CREATE FUNCTION pg_temp.noise(a int, b int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT sum(('x' || substr(md5(a || ' ' || b), 1 + 7 * k, 7))::bit(28)::int / 268435456.0 - 0.5) * sqrt(3)
	FROM generate_series(0, 3) AS k
$$;
CREATE TEMP TABLE hostile AS
SELECT what, t, i, CASE what
		WHEN 'constant features' THEN ARRAY[1, 7, -3, u]
		WHEN 'a feature twice' THEN ARRAY[1, u, u, v]
		WHEN 'collinear' THEN ARRAY[1, u, v, 2 * u - 3 * v + 1]
		WHEN 'nearly collinear' THEN ARRAY[1, u, v, u + 1e-9 * v]
		WHEN 'all zero' THEN ARRAY[0, 0, 0, 0]
		WHEN 'zero columns' THEN ARRAY[1, 0, u, 0]
		WHEN 'offset 1e6' THEN ARRAY[1, 1e6 + u, 1e6 + v, u]
		WHEN 'epoch seconds' THEN ARRAY[1, 1.7e9 + 86400 * i, (1.7e9 + 86400 * i) ^ 2, u]
		WHEN 'tiny' THEN ARRAY[1, u, v, u * v]::float8[]
		WHEN 'wild scales' THEN ARRAY[1, 1e-12 * u, 1e12 * v, u]
		WHEN 'a feature of the target alone' THEN ARRAY[1, u, v, (t = 0)::int * u * v]
		WHEN 'a feature of the sources alone' THEN ARRAY[1, u, v, (t > 0)::int * u * v]
		ELSE ARRAY[1, u, v, u * v] END AS x,
	CASE what
		WHEN 'the same response everywhere' THEN 5
		WHEN 'no response' THEN 0
		WHEN 'no noise' THEN t + u - v
		WHEN 'tiny' THEN 1e-150 * (t + u + w)
		WHEN 'huge' THEN 1e100 * (t + u + w)
		WHEN 'offset 1e6' THEN 1e6 + t + u + w
		WHEN 'one task far off' THEN t + u + w + CASE WHEN t = 3 THEN 1e9 ELSE 0 END
		WHEN 'a strange target' THEN CASE WHEN t = 0 THEN -1e4 * (1 + u) ELSE t + u END + w
		ELSE t + u - v + w END AS y
FROM unnest(ARRAY['constant features', 'a feature twice', 'collinear', 'nearly collinear', 'all zero', 'zero columns', 'offset 1e6', 'epoch seconds', 'tiny',
		'huge', 'wild scales', 'a feature of the target alone', 'a feature of the sources alone', 'the same response everywhere', 'no response', 'no noise',
		'one task far off', 'a strange target', 'one source', 'two sources', 'sources of one row', 'a target of one row', 'the target is a source']) AS what,
	generate_series(0, 8) AS t, generate_series(1, 14) AS i,
	LATERAL (SELECT pg_temp.noise(t, i) AS u, pg_temp.noise(t, 100 + i) AS v, 0.3 * pg_temp.noise(CASE WHEN what = 'the target is a source' THEN 1 ELSE t END, 200 + i) AS w) AS drawn
WHERE t <= CASE what WHEN 'one source' THEN 1 WHEN 'two sources' THEN 2 ELSE 8 END AND i <= CASE WHEN what = 'sources of one row' AND t > 0 THEN 1 ELSE 14 END;

CREATE TEMP TABLE question AS
SELECT what, (SELECT array_agg(g ORDER BY t) FROM (SELECT t, wml_gram(x, y) AS g FROM hostile AS h WHERE h.what = w.what AND t > 0 GROUP BY t) AS s) AS sources,
	(SELECT array_agg(g ORDER BY t) FROM (SELECT t, wml_gram(x, y) AS g FROM hostile AS h WHERE h.what = w.what AND t > 0 AND i <= 5 GROUP BY t) AS s) AS windows,
	(SELECT array_agg(g ORDER BY i) FROM (SELECT i, wml_gram(x, y) AS g FROM hostile AS h WHERE h.what = w.what AND t = 0 AND i <= rows GROUP BY i) AS s) AS folds,
	(SELECT wml_gram(x, y) FROM hostile AS h WHERE h.what = w.what AND t = 0 AND i <= rows) AS target,
	(SELECT x FROM hostile AS h WHERE h.what = w.what AND t = 0 AND i = 14) AS x
FROM (SELECT what, CASE what WHEN 'a target of one row' THEN 1 ELSE 5 END AS rows FROM hostile GROUP BY what) AS w;

-- in folds, as a whole, and with windows: coefficients, and bounds about a finite estimate or none at all
SELECT what, way, cardinality((tuned).coef) AS n, (SELECT bool_and(abs(c) < 'Infinity') FROM unnest((tuned).coef) AS c) AS finite,
	CASE WHEN lower IS NULL THEN 'none' WHEN lower <= estimate AND estimate <= upper AND upper < 'Infinity' THEN 'ok' ELSE 'bad' END AS interval
FROM (SELECT what, 1 AS way, wml_tune(sources, folds) AS tuned, x FROM question WHERE cardinality(folds) > 1
	UNION ALL SELECT what, 2, wml_tune(sources, target), x FROM question
	UNION ALL SELECT what, 3, wml_tune(sources, target, windows), x FROM question) AS t, wml_predict_interval(tuned, x, 0.9)
ORDER BY what, way;
