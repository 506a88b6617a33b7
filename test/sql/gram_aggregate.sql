-- The aggregates wml_gram and wml_merge, and what can be read from their result.
SET extra_float_digits = 1;

-- a gram is the sums of all products; here they are small enough to check by eye
CREATE TEMP TABLE sale (product text, price float8, promo int, units float8, weight float8);
INSERT INTO sale VALUES
	('apple', 1.5, 0, 10, 1), ('apple', 2.5, 1, 12, 2), ('apple', 2, 0, 8, 0.5),
	('pear', 4, 1, 3, 1), ('pear', 5, 0, 2, 0),
	('plum', NULL, 1, 7, 1), ('plum', 3, 0, NULL, 1), ('plum', 3, 1, 6, NULL);

SELECT product, wml_gram(ARRAY[1, price], units) FROM sale GROUP BY product ORDER BY product;
SELECT product, wml_gram(ARRAY[1, price], units, weight) FROM sale GROUP BY product ORDER BY product;

SELECT product, wml_n(gram), wml_skipped(gram), wml_weight(gram), wml_effective_n(gram),
	   wml_dims(gram), wml_second_moment(gram), wml_mean(gram), wml_mean_response(gram)
FROM (SELECT product, wml_gram(ARRAY[1, price], units, weight) AS gram
	  FROM sale GROUP BY product) AS task
ORDER BY product;

-- without a feature that is always 1 there are no means
SELECT wml_mean(gram), wml_mean_response(gram)
FROM (SELECT wml_gram(ARRAY[price, promo], units) AS gram FROM sale) AS task;
-- any of the features may be the one
SELECT wml_mean(wml_gram(ARRAY[price, 1, promo], units)) FROM sale;

-- no rows, no gram; only skipped rows, a gram that says so
SELECT wml_gram(ARRAY[1, price], units), wml_merge(NULL) FROM sale WHERE false;
SELECT wml_merge(gram) IS NULL FROM (VALUES (NULL::wml_gram), (NULL)) AS task (gram);
SELECT wml_n(gram), wml_skipped(gram), wml_dims(gram), wml_weight(gram), wml_effective_n(gram),
	   wml_second_moment(gram), wml_mean(gram), wml_mean_response(gram)
FROM (SELECT wml_gram(NULL::float8[], units) AS gram FROM sale) AS task;
-- a row may be skipped for each of its parts
SELECT wml_n(gram), wml_skipped(gram)
FROM (SELECT wml_gram(x, y, w) AS gram
	  FROM (VALUES (ARRAY[1, 2], 3, 1), (NULL, 3, 1), (ARRAY[1, NULL], 3, 1), (ARRAY[NULL, 2], 3, 1),
				   (ARRAY[1, 2], NULL, 1), (ARRAY[1, 2], 3, NULL), (NULL, NULL, NULL)) AS t (x, y, w)) AS task;
-- a skipped row does not have to have the right length
SELECT wml_n(wml_gram(x, y)) FROM (VALUES (ARRAY[1, 2, NULL], 1), (ARRAY[1, 2], 1), (ARRAY[NULL::int], 1)) AS t (x, y);

-- arguments of other types
SELECT wml_gram(ARRAY[1, 2], 3) = wml_gram(ARRAY[1, 2]::float8[], 3::float8) AS "integer",
	   wml_gram(ARRAY[1, 2]::bigint[], 3::bigint) = wml_gram(ARRAY[1, 2]::float8[], 3) AS "bigint",
	   wml_gram(ARRAY[1, 2]::smallint[], 3::smallint) = wml_gram(ARRAY[1, 2]::float8[], 3) AS "smallint",
	   wml_gram(ARRAY[1.5, 2]::real[], 3::real) = wml_gram(ARRAY[1.5, 2]::float8[], 3) AS "real",
	   wml_gram(ARRAY[1.5, 2.25], 3.125) = wml_gram(ARRAY[1.5, 2.25]::float8[], 3.125::float8) AS "numeric",
	   wml_gram('{1.5, 2}', '3') = wml_gram(ARRAY[1.5, 2]::float8[], 3) AS "unknown",
	   wml_gram(ARRAY[1, 2], 3, 4) = wml_gram(ARRAY[1, 2]::float8[], 3, 4::numeric) AS "weight";
-- and arrays of other shapes: with lower bounds, with a null bitmap but no NULL
SELECT wml_gram('[5:6]={1, 2}'::float8[], 3) = wml_gram(ARRAY[1, 2], 3);
SELECT wml_gram((ARRAY[1, 2, NULL]::float8[])[1:2], 3) = wml_gram(ARRAY[1, 2], 3);
SELECT wml_gram(array_append(ARRAY[1, 2]::float8[], 7::float8), 3) = wml_gram(ARRAY[1, 2, 7], 3);

-- exact: fractions of 1024, so that numeric has the true sums, and 2^10 rows
CREATE TEMP TABLE exact AS
SELECT i, (i * 7919 % 100003)::numeric / 1024 AS a, (i * 104729 % 9973)::numeric / 1024 - 5 AS b,
	   (i * i % 7)::numeric / 4 AS w
FROM generate_series(1, 1024) AS i;
SELECT wml_second_moment(wml_gram(ARRAY[1, a, b], a - b)) =
	   ARRAY[[1, avg(a), avg(b), avg(a - b)],
			 [avg(a), avg(a * a), avg(a * b), avg(a * (a - b))],
			 [avg(b), avg(a * b), avg(b * b), avg(b * (a - b))],
			 [avg(a - b), avg(a * (a - b)), avg(b * (a - b)), avg((a - b) * (a - b))]]::float8[] AS exact
FROM exact;
SELECT wml_weight(gram) = sum_w, wml_effective_n(gram) = sum_w * sum_w / sum_w2,
	   wml_second_moment(gram) = ARRAY[[w_aa / sum_w, w_ab / sum_w], [w_ab / sum_w, w_bb / sum_w]]::float8[]
FROM (SELECT wml_gram(ARRAY[a], b, w) AS gram, sum(w) AS sum_w, sum(w * w) AS sum_w2,
			 sum(w * a * a) AS w_aa, sum(w * a * b) AS w_ab, sum(w * b * b) AS w_bb
	  FROM exact) AS sums;
-- where plain doubles would have lost the fraction
SELECT (wml_second_moment(wml_gram(ARRAY[1, x], x)))[1][2]
FROM (VALUES (1e20), (1), (-1e20), (1)) AS t (x);

-- rows without weight count as rows, and as nothing else
SELECT wml_n(gram), wml_weight(gram), wml_effective_n(gram), wml_dims(gram), wml_second_moment(gram), wml_mean(gram)
FROM (SELECT wml_gram(ARRAY[1, price], units, 0) AS gram FROM sale WHERE price > 0) AS task;
SELECT wml_second_moment(wml_gram(ARRAY[1, x], 1, w)) FROM (VALUES (2, 3), ('NaN'::float8, 0)) AS t (x, w);

-- NaN and infinities go where sum(float8) lets them go
SELECT wml_second_moment(wml_gram(ARRAY[1, x], y)) FROM (VALUES (1::float8, 2::float8), ('NaN', 3)) AS t (x, y);
SELECT wml_second_moment(wml_gram(ARRAY[1, x], y)) FROM (VALUES (1::float8, 2::float8), ('Infinity', 3)) AS t (x, y);
SELECT wml_second_moment(wml_gram(ARRAY[1, x], y)) FROM (VALUES (1::float8, 2::float8), (3, '-Infinity')) AS t (x, y);
SELECT wml_second_moment(wml_gram(ARRAY[1, x], y))
FROM (VALUES ('Infinity'::float8, 2::float8), ('-Infinity', 3)) AS t (x, y);
-- squares may overflow where the values do not
SELECT wml_second_moment(wml_gram(ARRAY[1, x], y)) FROM (VALUES (1e200, 2), (1e-200, 3)) AS t (x, y);
SELECT wml_weight(gram), wml_second_moment(gram)
FROM (SELECT wml_gram(ARRAY[1, 2], 3, w) AS gram FROM (VALUES (1::float8), ('Infinity')) AS t (w)) AS task;

-- what aggregates can do
SELECT wml_n(wml_gram(ARRAY[1, price], units) FILTER (WHERE promo = 1)),
	   wml_n(wml_gram(DISTINCT ARRAY[1, promo], 1)),
	   wml_gram(ARRAY[1, price], units ORDER BY units) = wml_gram(ARRAY[1, price], units ORDER BY price)
FROM sale;
SELECT product, wml_n(wml_gram(ARRAY[1, price], units)) FROM sale
GROUP BY GROUPING SETS ((product), (promo), ()) ORDER BY 1, 2;
SELECT wml_n(wml_merge(gram)), wml_skipped(wml_merge(gram))
FROM (SELECT wml_gram(ARRAY[1, price], units) AS gram FROM sale GROUP BY product) AS task;

-- many features: rows wait and enter the sums together; the result is the same
CREATE TEMP TABLE wide AS
SELECT r, d, array_agg(CASE i WHEN 1 THEN 1 ELSE sin(r * i) END ORDER BY i) AS x, cos(r) AS y, 1 + sin(r) AS w
FROM generate_series(1, 300) AS r, unnest(ARRAY[1, 23, 24, 25, 31, 64, 100]) AS d, generate_series(1, d) AS i
GROUP BY r, d;
SELECT d, count(*) = wml_n(wml_gram(x, y)) AS n,
	   wml_gram(x, y) = wml_gram(x, y ORDER BY r DESC) AS "order",
	   wml_gram(x, y, w) = wml_gram(x, y, w ORDER BY md5(r::text)) AS weighted,
	   wml_mean(wml_gram(x, y)) IS NOT NULL AS constant
FROM wide GROUP BY d ORDER BY d;
-- the rows of many groups come in turn, and those of several aggregates
SELECT count(*), bool_and(whole.gram = parts.gram AND whole.first = parts.gram) AS same
FROM (SELECT d, r % 3 AS task, wml_gram(x, y) AS gram, wml_gram(x, y, 1) AS first FROM wide GROUP BY d, r % 3) AS whole
	 JOIN (SELECT d, task, wml_merge(gram) AS gram
		   FROM (SELECT d, r % 3 AS task, wml_gram(x, y) AS gram FROM wide GROUP BY d, r) AS row
		   GROUP BY d, task) AS parts USING (d, task);
-- while others succeed or fail in between
CREATE FUNCTION pg_temp.disturb(response float8) RETURNS float8 AS $$
BEGIN
	PERFORM wml_gram(array_fill(1::float8, ARRAY[d]), i) FROM unnest(ARRAY[30, 40]) AS d, generate_series(1, 3) AS i GROUP BY d;
	PERFORM wml_gram(array_fill(1::float8, ARRAY[30 + i / 6]), i) FROM generate_series(1, 6) AS i;
	RETURN NULL;
EXCEPTION WHEN data_exception THEN
	RETURN response;
END
$$ LANGUAGE plpgsql;
SELECT d, wml_gram(x, y) = wml_gram(x, pg_temp.disturb(y)) AS same FROM wide GROUP BY d ORDER BY d;
-- figures against those of a gram of two features
SELECT d, i, j, (wml_second_moment(whole.gram))[i][j] = (wml_second_moment(part.gram))[1][2] AS same
FROM (SELECT d, wml_gram(x, y, w) AS gram FROM wide GROUP BY d) AS whole
	 JOIN (VALUES (25, 3, 17), (64, 1, 64), (64, 63, 64), (100, 99, 2), (100, 50, 51)) AS pair (d, i, j) USING (d)
	 CROSS JOIN LATERAL (SELECT wml_gram(ARRAY[x[i], x[j]], y, w) AS gram
						 FROM wide WHERE wide.d = whole.d) AS part
ORDER BY d, i, j;
-- arrays out of line and compressed
CREATE TEMP TABLE toasted (x float8[], y float8);
INSERT INTO toasted SELECT array_fill(r::float8, ARRAY[700]), r FROM generate_series(1, 4) AS r;
ALTER TABLE toasted ALTER x SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT array_fill(r::float8, ARRAY[700]), r FROM generate_series(5, 8) AS r;
SELECT wml_n(gram), wml_dims(gram), (wml_second_moment(gram))[700][701], length(gram::text) > 700 * 700
FROM (SELECT wml_gram(x, y) AS gram FROM toasted) AS task;
-- the largest there is
SELECT wml_dims(wml_gram(array_fill(1::float8, ARRAY[1024]), 1));

-- sorted groups and hashed groups
CREATE TEMP TABLE grouped AS
SELECT i % 100 AS task, ARRAY[1, sin(i), cos(i * i)] AS x, sin(i * 3) AS y FROM generate_series(1, 5000) AS i;
ANALYZE grouped;
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT task, wml_gram(x, y) FROM grouped GROUP BY task;
CREATE TEMP TABLE by_sort AS SELECT task, wml_gram(x, y) AS gram FROM grouped GROUP BY task;
SET enable_hashagg = on;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT task, wml_gram(x, y) FROM grouped GROUP BY task;
CREATE TEMP TABLE by_hash AS SELECT task, wml_gram(x, y) AS gram FROM grouped GROUP BY task;
RESET enable_sort;
SELECT count(*), bool_and(s.gram = h.gram)
FROM by_sort AS s JOIN by_hash AS h USING (task);
-- with just-in-time compilation, where the server has it
SET jit = on;
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT count(*), bool_and(s.gram = j.gram)
FROM by_sort AS s JOIN (SELECT task, wml_gram(x, y) AS gram FROM grouped GROUP BY task) AS j USING (task);
RESET jit;

-- many groups of long rows, for which there is memory to let rows wait (in so large buffers that they are written
-- past the caches), or not; with weights of 1 before others
CREATE TEMP TABLE long_row AS
SELECT i % 400 AS task, array_agg(sin(i * j) ORDER BY j) AS x, cos(i) AS y, CASE WHEN i < 8000 THEN 1 ELSE i % 3 END AS w
FROM generate_series(1, 20400) AS i, generate_series(1, 40) AS j GROUP BY i ORDER BY i;
ANALYZE long_row;
SET enable_sort = off;
SET work_mem = '64MB';
CREATE TEMP TABLE waited AS SELECT task, wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted FROM long_row GROUP BY task;
SET work_mem = '64kB';
CREATE TEMP TABLE at_once AS SELECT task, wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted FROM long_row GROUP BY task;
RESET work_mem;
RESET enable_sort;
SELECT count(*), bool_and(a.plain = b.plain AND a.weighted = b.weighted) AS same, bool_and(wml_n(a.weighted) = 51) AS all_counted
FROM waited AS a JOIN at_once AS b USING (task);

-- a user's aggregate over our functions may begin with a gram
CREATE AGGREGATE pg_temp.more(float8[], float8) (
	SFUNC = wml_gram_accum, STYPE = wml_gram,
	INITCOND = '{v=1 d=1 n=1 skipped=1 weightless=0 constant=1 weight=1 weight2=1 q=25 h=4 norm2=1 response=2 sums=[1 2; 4]}'
);
SELECT wml_n(gram), wml_skipped(gram), wml_mean(gram)
FROM (SELECT pg_temp.more(x, y) AS gram FROM (VALUES (ARRAY[1], 4), (NULL, 4), (ARRAY[1], 6)) AS t (x, y)) AS task;
-- with one so wide that rows wait in place of the sums
DO $$
BEGIN
	EXECUTE format('CREATE AGGREGATE pg_temp.more_wide(float8[], float8) (SFUNC = wml_gram_accum, STYPE = wml_gram, INITCOND = %L)',
				   (SELECT wml_gram(x, y)::text FROM wide WHERE d = 64 AND r <= 9));
END
$$;
SELECT rows, pg_temp.more_wide(x, y) FILTER (WHERE r > 9) = wml_gram(x, y) AS same
FROM unnest(ARRAY[9, 10, 66, 67, 68, 300]) AS rows JOIN wide ON r <= rows
WHERE d = 64
GROUP BY rows ORDER BY rows;
-- rows that are skipped or weigh nothing come first, between and last
SELECT d, rows, whole.gram = parts.gram AS same, wml_skipped(whole.gram) > 0 AS skipped
FROM (SELECT d, rows, wml_gram(x, CASE WHEN r % 9 > 0 THEN y END, r % 4) AS gram
	  FROM wide JOIN unnest(ARRAY[3, 12, 70]) AS rows ON r <= rows WHERE d IN (24, 64) GROUP BY d, rows) AS whole
	 JOIN (SELECT d, rows, wml_merge(gram) AS gram
		   FROM (SELECT d, rows, wml_gram(x, CASE WHEN r % 9 > 0 THEN y END, r % 4) AS gram
				 FROM wide JOIN unnest(ARRAY[3, 12, 70]) AS rows ON r <= rows WHERE d IN (24, 64) GROUP BY d, rows, r) AS row
		   GROUP BY d, rows) AS parts USING (d, rows)
ORDER BY d, rows;
