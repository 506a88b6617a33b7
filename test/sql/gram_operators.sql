-- Operators on grams: adding, taking away, comparing.
CREATE TEMP TABLE part AS
SELECT part, wml_gram(x, y, w) AS gram
FROM (SELECT i % 4 AS part,
			 CASE WHEN i % 17 = 0 THEN NULL ELSE ARRAY[1, sin(i), 1000 * cos(i * i), CASE i % 4 WHEN 3 THEN sqrt(i) ELSE 0 END] END AS x,
			 exp(sin(i)) AS y, CASE WHEN i % 13 = 0 THEN 0 ELSE 1 + cos(i) END AS w
	  FROM generate_series(1, 400) AS i) AS example
GROUP BY part;
CREATE FUNCTION pg_temp.part(int) RETURNS wml_gram AS 'SELECT gram FROM part WHERE part = $1' LANGUAGE sql;
-- = and every figure that can be read
CREATE FUNCTION pg_temp.same(a wml_gram, b wml_gram) RETURNS bool AS $$
	SELECT a = b AND NOT a <> b AND wml_n(a) = wml_n(b) AND wml_skipped(a) = wml_skipped(b) AND
		   wml_weight(a) = wml_weight(b) AND wml_effective_n(a) = wml_effective_n(b) AND wml_dims(a) = wml_dims(b) AND
		   wml_second_moment(a) IS NOT DISTINCT FROM wml_second_moment(b) AND
		   wml_mean(a) IS NOT DISTINCT FROM wml_mean(b)
$$ LANGUAGE sql;

SELECT i, wml_n(a), wml_skipped(a), wml_weight(a) > 0 AS weight,
	   pg_temp.same(a + b, b + a) AS commutes,
	   pg_temp.same(a + b + c, a + (b + c)) AS associates,
	   pg_temp.same(a + b - b, a) AS "a + b - b",
	   pg_temp.same(b + a - b, a) AS "b + a - b",
	   pg_temp.same(a + b + c - a - c, b) AS "a + b + c - a - c",
	   pg_temp.same(a + b + c - (c + a), b) AS "a + b + c - (c + a)",
	   a <> b AS differ
FROM generate_series(0, 3) AS i,
	 LATERAL (SELECT pg_temp.part(i) AS a, pg_temp.part((i + 1) % 4) AS b, pg_temp.part((i + 2) % 4) AS c) AS grams;
-- sums agree with the aggregate over all rows, and what is left with the one over the rest
SELECT pg_temp.same(a.all, pg_temp.part(0) + pg_temp.part(1) + pg_temp.part(2) + pg_temp.part(3)) AS merged,
	   pg_temp.same(a.all - pg_temp.part(3), pg_temp.part(0) + pg_temp.part(1) + pg_temp.part(2)) AS retracted
FROM (SELECT wml_merge(gram) AS all FROM part) AS a;

-- nothing left
SELECT a - a, pg_temp.same((a - a) + a, a), (a - a) = (b - b), wml_second_moment(a - a), wml_mean(a - a)
FROM (SELECT pg_temp.part(0) AS a, wml_gram(ARRAY[1, 2], 3) AS b) AS grams;
-- skipped rows and rows without weight can be taken away, too
SELECT wml_n(whole - part), wml_skipped(whole - part), whole - part
FROM (SELECT wml_gram(x, 1, w) AS whole, wml_gram(x, 1, w) FILTER (WHERE x IS NULL OR w = 0) AS part
	  FROM (VALUES (ARRAY[1, 2], 1), (ARRAY[1, 3], 0), (NULL, 1), (NULL, 1)) AS t (x, w)) AS grams;
-- a gram that knows no features yet goes with any other
SELECT wml_n(a + b), wml_skipped(a + b), wml_dims(a + b), wml_dims(b + a), pg_temp.same(b + a - a, b), (a + b - b) = a AS back
FROM (SELECT wml_gram(NULL, 1) AS a, wml_gram(ARRAY[1, 2], 3) AS b) AS grams;

-- equality is about the figures, not about the last bits behind them
SELECT a::text = b::text AS same_text, a = b AS equal
FROM (SELECT wml_gram(ARRAY[1.0 / i], sqrt(i) ORDER BY i) AS a, wml_gram(ARRAY[1.0 / i], sqrt(i) ORDER BY i DESC) AS b
	  FROM generate_series(1, 1000) AS i) AS grams;
SELECT a = b, a <> b
FROM (SELECT '{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 2; 3]}'::wml_gram AS a) AS one,
	 (VALUES ('{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1+1e-25 2; 3-2e-26]}'::wml_gram),
			 ('{v=1 d=1 n=1 skipped=0 weightless=0 constant=1 weight=1 weight2=1 q=1 h=1 norm2=7 response=8 sums=[1 2; 3]}'),
			 ('{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1.0000000000000002 2; 3]}'),
			 ('{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 2; 2.9999999999999996]}'),
			 ('{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=2 h=1 norm2=1 response=1 sums=[1 2; 3]}'),
			 ('{v=1 d=1 n=1 skipped=1 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 2; 3]}'),
			 ('{v=1 d=1 n=2 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 2; 3]}'),
			 ('{v=1 d=1 n=2 skipped=0 weightless=1 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 2; 3]}'),
			 ('{v=1 d=2 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 2 0; 3 0; 0]}')) AS other (b);
-- NaN equals NaN, as elsewhere in the server
SELECT a = a, a <> a, a = b
FROM (SELECT wml_gram(ARRAY[1, 'NaN'::float8], 1) AS a, wml_gram(ARRAY[1, 'Infinity'::float8], 1) AS b) AS grams;

-- sums of products that cancel leave no noise behind
SELECT (wml_second_moment(gram))[1][2]
FROM (SELECT wml_gram(ARRAY[x], y) AS gram
	  FROM (SELECT sin(i) AS x, cos(i) AS y FROM generate_series(1, 99) AS i
			UNION ALL
			SELECT sin(i), -cos(i) FROM generate_series(99, 1, -1) AS i) AS t) AS task;
-- and so do features that only the rows taken away had used
SELECT wml_second_moment(whole.gram - part.gram)
FROM (SELECT wml_gram(ARRAY[1, sin(i) * (i % 2)], i % 2) AS gram FROM generate_series(1, 99) AS i) AS whole,
	 (SELECT wml_gram(ARRAY[1, sin(i) * (i % 2)], i % 2) AS gram FROM generate_series(99, 1, -2) AS i) AS part;

-- a running total that is kept up to date by adding and taking away
DO $$
DECLARE
	total wml_gram;
	fresh wml_gram;
BEGIN
	SELECT wml_gram(ARRAY[1, sin(i), ln(i)], cos(i)) INTO total FROM generate_series(1, 100) AS i;
	FOR k IN 1 .. 300 LOOP
		total := total + (SELECT wml_gram(ARRAY[1, sin(k + 100), ln(k + 100)], cos(k + 100)))
					   - (SELECT wml_gram(ARRAY[1, sin(k), ln(k)], cos(k)));
	END LOOP;
	SELECT wml_gram(ARRAY[1, sin(i), ln(i)], cos(i)) INTO fresh FROM generate_series(301, 400) AS i;
	RAISE NOTICE 'equal: %, moments: %', total = fresh, wml_second_moment(total) = wml_second_moment(fresh);
END
$$;

-- the planner knows the operators
SELECT oprname, oprcom::regoper, oprnegate::regoper, oprrest, oprjoin
FROM pg_operator WHERE oprleft = 'wml_gram'::regtype AND oprright = 'wml_gram'::regtype AND oprname IN ('+', '-', '=', '<>') ORDER BY oprname COLLATE "C";

-- equal grams have equal hashes: DISTINCT, EXCEPT and joins see what = sees
CREATE TEMP TABLE gram_way AS
SELECT task, way, wml_gram(ARRAY[1, sin(i * task)], CASE WHEN task = 3 THEN 'NaN' ELSE cos(i) END ORDER BY CASE way WHEN 1 THEN i WHEN 2 THEN -i ELSE sin(i) END) AS gram
FROM generate_series(1, 4) AS task, generate_series(1, 3) AS way, generate_series(1, 500) AS i GROUP BY task, way;
SELECT count(DISTINCT gram::text) > 4 AS not_the_same_text, count(DISTINCT wml_gram_hash(gram)) AS hashes,
	   count(DISTINCT wml_gram_hash_extended(gram, 0)) AS extended, count(DISTINCT wml_gram_hash_extended(gram, 1)) AS seeded,
	   bool_or(wml_gram_hash_extended(gram, 0) = wml_gram_hash_extended(gram, 1)) AS seed_ignored FROM gram_way;
SELECT count(*) FROM (SELECT DISTINCT gram FROM gram_way) AS one;
SELECT gram FROM gram_way WHERE way = 1 EXCEPT SELECT gram FROM gram_way WHERE way = 2;
SET enable_nestloop = off;
SELECT count(*) FROM gram_way AS a JOIN gram_way AS b USING (gram);
RESET enable_nestloop;
SELECT wml_gram_hash(wml_gram(ARRAY['-0'::float8], 0)) = wml_gram_hash(wml_gram(ARRAY[0], '-0'::float8)) AS zeros;
