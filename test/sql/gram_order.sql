-- What sorting needs, multiples of grams, sums that NULL does not spoil, and states from strangers.
CREATE TEMP TABLE way AS
SELECT task, way, wml_gram(ARRAY[1, sin(i * task), CASE WHEN task = 3 AND i = 5 THEN 'NaN'::float8 ELSE 1 END], cos(i) ORDER BY CASE way WHEN 1 THEN i WHEN 2 THEN -i ELSE sin(i) END) AS gram
FROM generate_series(1, 6) AS task, generate_series(1, 3) AS way, generate_series(1, 50 + task % 2) AS i GROUP BY task, way;
INSERT INTO way SELECT 7, way, wml_gram(NULL, 1) FROM generate_series(1, 3) AS way GROUP BY way;

-- equal grams sort together, whichever way the server goes
SET enable_hashagg = off;
SELECT count(*), min(n), max(n) FROM (SELECT gram, count(*) AS n FROM way GROUP BY gram) AS g;
SELECT count(DISTINCT gram), count(*) FROM way;
SELECT gram FROM way WHERE way = 1 EXCEPT SELECT gram FROM way WHERE way = 2;
RESET enable_hashagg;
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM way AS a JOIN way AS b USING (gram);
SELECT count(*) FROM way AS a JOIN way AS b USING (gram);
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT bool_and((a.gram < b.gram) = (a.place < b.place) AND (a.gram <= b.gram) = (a.place <= b.place) AND (a.gram > b.gram) = (a.place > b.place) AND
				(a.gram >= b.gram) = (a.place >= b.place) AND (a.gram = b.gram) = (a.place = b.place) AND wml_gram_cmp(a.gram, b.gram) = sign(a.place - b.place)) AS consistent
FROM (SELECT gram, dense_rank() OVER (ORDER BY gram) AS place FROM way) AS a, (SELECT gram, dense_rank() OVER (ORDER BY gram) AS place FROM way) AS b;
CREATE UNIQUE INDEX ON way (gram, way);
SET enable_seqscan = off;
SELECT count(*) FROM way WHERE gram = (SELECT gram FROM way WHERE task = 4 AND way = 2);
RESET enable_seqscan;
\set VERBOSITY terse
INSERT INTO way SELECT 0, way, gram FROM way WHERE task = 2 AND way = 3;
\set VERBOSITY default

-- a multiple has the weights multiplied, and the same rows
SELECT factor, (whole * factor = weighted) AS right_side, (factor * whole = weighted) AS left_side, wml_n(whole * factor) AS n, wml_weight(whole * factor) AS weight,
	   wml_mean(whole * factor) = wml_mean(whole) AS mean, abs(wml_effective_n(whole * factor) - wml_effective_n(whole)) < 1e-12 AS effective_n
FROM (SELECT factor, wml_gram(ARRAY[1, sin(i)], cos(i), i) AS whole, wml_gram(ARRAY[1, sin(i)], cos(i), i * factor) AS weighted
	  FROM generate_series(1, 20) AS i, unnest(ARRAY[0, 0.25, 0.5, 1, 3, 2::float8 ^ 600, 2::float8 ^ -600]) AS factor GROUP BY factor) AS t ORDER BY factor;
-- decay of a running sum: yesterday counts half
SELECT wml_n(kept), wml_weight(kept), wml_mean_response(kept)
FROM (SELECT (wml_gram(ARRAY[1], 10) * 0.5 + wml_gram(ARRAY[1], 20)) * 0.5 + wml_gram(ARRAY[1], 30) AS kept) AS t;
SELECT gram * 2 = gram + gram AS rows_count, wml_second_moment(gram * 2) = wml_second_moment(gram + gram) AS same_moments
FROM (SELECT wml_gram(ARRAY[1, 'Infinity'::float8], 3, 4) AS gram) AS t;
SELECT wml_gram(ARRAY[1], 1) * -1;
SELECT wml_gram(ARRAY[1], 1) * 'NaN'::float8;
SELECT 'Infinity'::float8 * wml_gram(ARRAY[1], 1);
SELECT wml_gram(ARRAY[1], 1e100) * 1e300;
SELECT wml_gram(ARRAY[1], 1, 1e-300) * 1e-300;
SELECT wml_gram(ARRAY[1], 1) * NULL::float8 IS NULL AS unknown;

-- sums that no rows do not spoil
SELECT wml_add(NULL, NULL) IS NULL AS nothing, wml_add(NULL, g) = g AS left_side, wml_add(g, NULL) = g AS right_side, wml_add(g, g) = g + g AS both_sides
FROM (SELECT wml_gram(ARRAY[1, 2], 3) AS g) AS t;

-- the same gram merged k times is that of the rows k times over: so may the server aggregate before a join
SELECT bool_and(after = before) AS equal
FROM (SELECT s.task, wml_gram(ARRAY[1, sin(s.i)], cos(s.i)) AS after
	  FROM (SELECT i % 4 AS task, i FROM generate_series(1, 200) AS i) AS s JOIN (SELECT k % 4 AS task FROM generate_series(1, 90) AS k) AS r USING (task) GROUP BY s.task) AS a
JOIN (SELECT task, wml_merge(part) AS before
	  FROM (SELECT i % 4 AS task, wml_gram(ARRAY[1, sin(i)], cos(i)) AS part FROM generate_series(1, 200) AS i GROUP BY 1) AS p
	  JOIN (SELECT k % 4 AS task FROM generate_series(1, 90) AS k) AS r USING (task) GROUP BY task) AS b USING (task);

-- states from strangers
CREATE AGGREGATE pg_temp.full_count(float8[], float8) (SFUNC = wml_gram_accum, STYPE = wml_gram,
	INITCOND = '{v=2 d=1 n=9223372036854775806 skipped=0 weightless=0 weight=4 weight2=4 q=54010 h=7452 norm2=50 response=12 not1=[0] sums=[4 0; 1]}');
SELECT wml_n(pg_temp.full_count(ARRAY[1.0], 1)) FROM generate_series(1, 1);
SELECT wml_n(pg_temp.full_count(ARRAY[1.0], 1)) FROM generate_series(1, 2);
CREATE AGGREGATE pg_temp.only_takes(float8[], float8) (SFUNC = wml_gram_retract, STYPE = wml_gram);
SELECT pg_temp.only_takes(ARRAY[1.0], 1);
CREATE AGGREGATE pg_temp.takes_more(float8[], float8) (SFUNC = wml_gram_retract, STYPE = wml_gram,
	INITCOND = '{v=2 d=1 n=3 skipped=0 weightless=0 weight=3 weight2=3 q=30 h=9 norm2=1 response=2 not1=[0] sums=[3 6; 12]}');
SELECT pg_temp.takes_more(NULL, 1);
SELECT pg_temp.takes_more(ARRAY[1.0], 1) IS NULL AS starts_anew;

-- groups of rows of different lengths, several grouping sets, and a sorted and a hashed one beside an aggregate that has
-- a memory context for each group
CREATE AGGREGATE pg_temp.collect(int) (SFUNC = array_append, STYPE = int[], INITCOND = '{}');
CREATE TEMP TABLE mixed AS SELECT i, i % 50 AS a, i % 7 AS b FROM generate_series(1, 3000) AS i;
ANALYZE mixed;
CREATE FUNCTION pg_temp.check_sets() RETURNS TABLE (groups bigint, rows numeric, right_sums bool) AS $$
	SELECT count(*), sum(wml_n(gram)), bool_and((wml_second_moment(gram))[wml_dims(gram)][wml_dims(gram) + 1] = average AND cardinality(ids) = wml_n(gram))
	FROM (SELECT a, b, wml_gram(array_fill(i::float8, ARRAY[1 + a % 5]), i) AS gram, avg(i::float8 * i) AS average, pg_temp.collect(i) AS ids
		  FROM mixed GROUP BY GROUPING SETS ((a), (a, b))) AS s
$$ LANGUAGE sql;
SELECT * FROM pg_temp.check_sets();
SET enable_hashagg = off;
SELECT * FROM pg_temp.check_sets();
RESET enable_hashagg;
