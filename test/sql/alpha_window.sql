-- wml_alpha as a window function.
CREATE TEMP TABLE example AS
SELECT task, i, ARRAY[1, sin(task) + sin(1.7 * task * i), cos(2 * task) + cos(i)] AS x, cos(3 * task) * sin(i) + sin(task * i) AS y
FROM generate_series(1, 40) AS task, generate_series(1, 6 + task % 5) AS i;
CREATE TEMP TABLE task AS SELECT task, wml_gram(x, y) AS gram FROM example GROUP BY task;
CREATE TEMP TABLE source AS SELECT * FROM task WHERE task <= 30;
CREATE TEMP TABLE target AS SELECT task AS target, gram FROM task WHERE task > 30;
ALTER TABLE target ADD PRIMARY KEY (target);
ANALYZE example, source, target;

-- each row gets its own weight: as from the array, whatever the window's order and frame
SELECT count(*) AS weights, round(sum(alpha)::numeric, 12) AS total, count(*) FILTER (WHERE alpha > 0) > 1 AS mixed,
	bool_and(alpha = expected[place] AND alpha = ordered AND alpha = framed AND alpha = subquery) AS same
FROM (SELECT row_number() OVER (ORDER BY s.task) AS place,
		wml_alpha(s.gram, t.gram) OVER (ORDER BY s.task) AS ordered,
		wml_alpha(s.gram, t.gram) OVER (ORDER BY s.task ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS framed,
		wml_alpha(s.gram, (SELECT gram FROM target WHERE target = 31)) OVER (ORDER BY s.task ROWS 2 PRECEDING) AS subquery,
		wml_alpha(s.gram, t.gram) OVER () AS alpha
	  FROM (SELECT * FROM source ORDER BY task) AS s, target AS t WHERE target = 31) AS weighted,
	(SELECT wml_alpha(array_agg(s.gram ORDER BY s.task), t.gram) AS expected FROM source AS s, target AS t WHERE target = 31 GROUP BY target) AS solved;

-- several targets in one query, and other options in the same window
WITH solved AS MATERIALIZED (
	SELECT target, wml_alpha(array_agg(s.gram ORDER BY task), t.gram) AS mixture,
		wml_alpha(array_agg(s.gram ORDER BY task), t.gram, 'mixture', 'square', 3, true) AS careful,
		(SELECT task FROM source AS s ORDER BY s.gram <-> t.gram LIMIT 1) AS closest
	FROM source AS s, target AS t GROUP BY target
), weighted AS MATERIALIZED (
	SELECT target, task, wml_n(s.gram) AS n, row_number() OVER w AS place,
		wml_alpha(s.gram, t.gram) OVER w AS mixture,
		wml_alpha(s.gram, t.gram, shrink => 3, whiten => true) OVER w AS careful,
		wml_alpha(s.gram, t.gram, 'closest') OVER w AS closest,
		wml_alpha(s.gram, t.gram, 'uniform') OVER w AS uniform,
		wml_alpha(s.gram, t.gram, 'pooled') OVER w AS pooled
	FROM source AS s, target AS t
	WINDOW w AS (PARTITION BY target ORDER BY task)
)
SELECT count(*) AS weights, count(DISTINCT target) AS targets,
	bool_and(weighted.mixture = solved.mixture[place]) AS mixture, bool_and(weighted.careful = solved.careful[place]) AS careful,
	bool_and(weighted.closest = CASE task WHEN solved.closest THEN 1 ELSE 0 END) AS closest,
	bool_and(uniform = 1 / 30.0::float8) AS uniform,
	bool_and(abs(pooled - n / (SELECT sum(wml_n(gram)) FROM source)) < 1e-15) AS pooled
FROM weighted JOIN solved USING (target);

-- straight from the aggregate, before grams have ever been stored
SELECT bool_and(alpha = stored) AS same
FROM (SELECT task, wml_alpha(wml_gram(x, y), (SELECT gram FROM target WHERE target = 31)) OVER (ORDER BY task) AS alpha
	  FROM example WHERE task <= 30 GROUP BY task) AS direct
	JOIN (SELECT task, wml_alpha(gram, (SELECT gram FROM target WHERE target = 31)) OVER (ORDER BY task) AS stored FROM source) AS indirect USING (task);

-- the target's gram may be made in each row
SELECT count(*), round(sum(alpha)::numeric, 12) AS total
FROM (SELECT wml_alpha(s.gram, t.gram + u.gram) OVER () AS alpha FROM source AS s, target AS t, target AS u WHERE t.target = 31 AND u.target = 32) AS weighted;
-- and is the same one when its rows were added in another order
SELECT count(*), round(sum(alpha)::numeric, 12) AS total
FROM (SELECT wml_alpha(s.gram, CASE WHEN task % 2 = 0 THEN forwards ELSE backwards END) OVER () AS alpha
	  FROM source AS s, (SELECT wml_gram(x, y ORDER BY i) AS forwards, wml_gram(x, y ORDER BY i DESC) AS backwards FROM example WHERE task = 31) AS t) AS weighted;

-- a NULL source gets NULL and takes no part
SELECT task, round(alpha::numeric, 6) AS alpha, round(without::numeric, 6) AS without
FROM (SELECT task, wml_alpha(CASE WHEN task IN (1, 4) THEN NULL ELSE s.gram END, t.gram) OVER (ORDER BY task) AS alpha
	  FROM source AS s, target AS t WHERE target = 31 AND task <= 6) AS weighted
	LEFT JOIN (SELECT task, wml_alpha(s.gram, t.gram) OVER (ORDER BY task) AS without
			   FROM source AS s, target AS t WHERE target = 31 AND task IN (2, 3, 5, 6)) AS others USING (task)
ORDER BY task;
SELECT weights, whiten, count(*), count(alpha)
FROM (SELECT weights, whiten, wml_alpha(NULL::wml_gram, t.gram, weights, whiten => whiten) OVER (PARTITION BY weights, whiten) AS alpha
	  FROM source AS s, target AS t, unnest(ARRAY['mixture', 'closest', 'uniform', 'pooled']) AS weights, unnest(ARRAY[false, true]) AS whiten
	  WHERE target = 31) AS weighted
GROUP BY weights, whiten ORDER BY weights, whiten;

-- no rows, and one
SELECT wml_alpha(s.gram, t.gram) OVER () FROM source AS s, target AS t WHERE false;
SELECT wml_alpha(s.gram, t.gram) OVER () AS mixture, wml_alpha(s.gram, t.gram, shrink => 5) OVER () AS shrunk,
	wml_alpha(s.gram, t.gram, 'closest') OVER () AS closest, wml_alpha(s.gram, t.gram, whiten => true) OVER () AS whitened
FROM source AS s, target AS t WHERE task = 3 AND target = 31;

-- the same bits again and again, in memory and from disk, from every plan
CREATE FUNCTION pg_temp.weights() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(alpha::text, ',' ORDER BY target, task)
	FROM (SELECT target, task, wml_alpha(s.gram, t.gram, shrink => target % 2) OVER (PARTITION BY target ORDER BY task) AS alpha
		  FROM source AS s, target AS t) AS weighted
$$;
CREATE TEMP TABLE answer AS SELECT 'first' AS way, md5(pg_temp.weights()) AS weights;
INSERT INTO answer SELECT 'again', md5(pg_temp.weights()) FROM generate_series(1, 3);
SET work_mem = '64kB';
INSERT INTO answer SELECT 'from disk', md5(pg_temp.weights());
RESET work_mem;
SET enable_nestloop = off;
SET enable_sort = off;
INSERT INTO answer SELECT 'other plan', md5(pg_temp.weights());
RESET enable_nestloop;
RESET enable_sort;
SELECT count(*) AS answers, count(DISTINCT weights) AS different FROM answer;

-- grams that are stored out of line
CREATE TEMP TABLE wide AS
SELECT task, wml_gram(x, task * sin(task * i)) AS gram
FROM (SELECT task, i, array_agg(sin(task * k) + cos(k * i) ORDER BY k) AS x
	  FROM generate_series(1, 12) AS task, generate_series(1, 20) AS i, generate_series(1, 40) AS k GROUP BY task, i) AS example
GROUP BY task;
SELECT min(pg_column_size(gram)) > 2000 AS wide, bool_and(alpha = expected[task - 1]) AS same
FROM (SELECT s.task, s.gram, wml_alpha(s.gram, t.gram, whiten => true) OVER (ORDER BY s.task) AS alpha FROM wide AS s, wide AS t WHERE s.task > 1 AND t.task = 1) AS weighted,
	(SELECT wml_alpha(array_agg(gram ORDER BY task) FILTER (WHERE task > 1), (SELECT gram FROM wide WHERE task = 1), whiten => true) AS expected FROM wide) AS solved;

-- options that are columns must be the same in every row, and then count
SELECT bool_and(alpha = expected) AS same FROM (SELECT wml_alpha(s.gram, t.gram, choice) OVER w AS alpha, wml_alpha(s.gram, t.gram, 'closest') OVER w AS expected
	FROM source AS s, target AS t, (VALUES ('closest')) AS c (choice) WHERE target = 31 WINDOW w AS (ORDER BY s.task)) AS weighted;
SELECT wml_alpha(s.gram, t.gram, shrink => s.task) OVER () FROM source AS s, target AS t WHERE target = 31;
