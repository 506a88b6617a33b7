-- wml_gram_columns: features as arguments of their own

CREATE DOMAIN percent AS float8;
CREATE TABLE col AS
SELECT i % 7 AS task, i AS day, sin(i) AS a, i::smallint AS b, i * 1000003::bigint AS c, (i / 7.0)::numeric AS d, cos(i)::real AS e, i % 2 = 0 AS f,
	   (i % 100)::percent AS g, CASE WHEN i % 11 > 0 THEN tan(i) END AS h, CASE WHEN i % 13 > 0 THEN sin(i * i) END AS y
FROM generate_series(1, 3000) AS i;

-- every type, and NULL in features and response, as by wml_gram
CREATE VIEW by_columns AS
SELECT task, wml_gram_columns(y, 1, a, b, c, d, e, f, g, h) AS gram FROM col GROUP BY task;
CREATE VIEW by_array AS
SELECT task, wml_gram(ARRAY[1, a, b, c, d, e, f::int, g, h], y) AS gram FROM col GROUP BY task;
SELECT task, c.gram::text = a.gram::text AS same, wml_dims(c.gram), wml_n(c.gram), wml_skipped(c.gram)
FROM by_columns AS c JOIN by_array AS a USING (task) ORDER BY task;

-- in parallel
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT wml_gram_columns(y, 1, a, h) FROM col;
SELECT wml_gram_columns(y, 1, a, h) = (SELECT wml_gram(ARRAY[1, a, h], y) FROM col) AS same FROM col;
COMMIT;

-- in a moving window, in grouping sets, with DISTINCT and FILTER
SELECT count(*), bool_and(columns = arrays) AS same
FROM (SELECT wml_gram_columns(y, 1, a, h) OVER w AS columns, wml_gram(ARRAY[1, a, h], y) OVER w AS arrays
	  FROM col WINDOW w AS (PARTITION BY task ORDER BY day ROWS 20 PRECEDING)) AS t;
SELECT task, wml_n(wml_gram_columns(y, 1, b)) AS rows, wml_n(wml_gram_columns(y, 1) FILTER (WHERE f)) AS even, wml_gram_columns(1, f, b % 3) = wml_gram(ARRAY[f::int, b % 3], 1) AS same
FROM col WHERE task < 2 GROUP BY GROUPING SETS (task, ()) ORDER BY task;
SELECT wml_n(wml_gram_columns(DISTINCT 1, f, b % 3)) FROM col;

-- nothing but NULL, and nothing
SELECT wml_n(gram), wml_skipped(gram), wml_dims(gram) FROM (SELECT wml_gram_columns(y, NULL::float8) AS gram FROM col) AS t;
SELECT wml_gram_columns(y, a) IS NULL AS no_rows FROM col WHERE false;

-- what is no number
SELECT wml_gram_columns(y, 1, now()) FROM col;
SELECT wml_gram_columns(y, ARRAY[1, a]) FROM col;
SELECT wml_gram_columns(y, 'x') FROM col;
SELECT wml_gram_columns(y, VARIADIC ARRAY[1, a]) FROM col;
SELECT wml_gram_columns_accum(NULL, 1, 2);

DROP VIEW by_columns, by_array;
DROP TABLE col;
DROP DOMAIN percent;
