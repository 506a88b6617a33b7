-- Partial aggregation: parallel workers and partitions give the same bits as one process.
CREATE TABLE gram_parallel (task int, x float8[], y float8, w float8);
INSERT INTO gram_parallel
SELECT i % 7, CASE WHEN i % 11 <> 0 THEN ARRAY[1, sin(i), 1000 * cos(i * i), 1.0 / i] END, exp(sin(i)),
	   CASE WHEN i % 13 = 0 THEN 0 ELSE 1 + cos(i) END
FROM generate_series(1, 20000) AS i;
ANALYZE gram_parallel;
CREATE TABLE gram_parallel_wide AS
SELECT i % 3 AS task, ARRAY(SELECT sin(i * j) FROM generate_series(1, 40) AS j) AS x, cos(i) AS y, 1 + sin(i) AS w
FROM generate_series(1, 2000) AS i;
ANALYZE gram_parallel_wide;
CREATE FUNCTION gram_parallel_same(a wml_gram, b wml_gram) RETURNS bool AS $$
	SELECT a = b AND wml_second_moment(a) = wml_second_moment(b) AND wml_weight(a) = wml_weight(b) AND
		   wml_effective_n(a) = wml_effective_n(b) AND wml_n(a) = wml_n(b) AND wml_skipped(a) = wml_skipped(b) AND
		   wml_mean(a) IS NOT DISTINCT FROM wml_mean(b)
$$ LANGUAGE sql;

-- the aggregates in a query's plan
CREATE FUNCTION gram_parallel_plan(query text) RETURNS SETOF text AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Aggregate|Gather' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END
$$ LANGUAGE plpgsql;

SET max_parallel_workers_per_gather = 0;
CREATE TABLE gram_serial AS
SELECT task, wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted FROM gram_parallel GROUP BY task;
CREATE TABLE gram_serial_wide AS
SELECT task, wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted FROM gram_parallel_wide GROUP BY task;

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;

SELECT gram_parallel_plan('SELECT wml_gram(x, y) FROM gram_parallel');
SELECT gram_parallel_plan('SELECT wml_gram(x, y, w) FROM gram_parallel');
SELECT gram_parallel_plan('SELECT wml_merge(plain) FROM gram_serial');
SELECT gram_parallel_plan('SELECT wml_gram(x, y) FILTER (WHERE task = 1) FROM gram_parallel');

SET parallel_leader_participation = off;
SELECT gram_parallel_same(a.gram, b.gram), gram_parallel_same(a.weighted, b.weighted), wml_n(a.gram), wml_skipped(a.gram)
FROM (SELECT wml_gram(x, y) AS gram, wml_gram(x, y, w) AS weighted FROM gram_parallel) AS a,
	 (SELECT wml_merge(plain) AS gram, wml_merge(weighted) AS weighted FROM gram_serial) AS b;
SELECT count(*), bool_and(gram_parallel_same(a.plain, b.plain)), bool_and(gram_parallel_same(a.weighted, b.weighted))
FROM (SELECT task, wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted FROM gram_parallel GROUP BY task) AS a
	 JOIN gram_serial AS b USING (task);
SELECT count(*), bool_and(gram_parallel_same(a.plain, b.plain)), bool_and(gram_parallel_same(a.weighted, b.weighted))
FROM (SELECT task, wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted FROM gram_parallel_wide GROUP BY task) AS a
	 JOIN gram_serial_wide AS b USING (task);
RESET parallel_leader_participation;
-- by sorting and by hashing
SET enable_hashagg = off;
SELECT count(*), bool_and(gram_parallel_same(a.plain, b.plain))
FROM (SELECT task, wml_gram(x, y) AS plain FROM gram_parallel GROUP BY task) AS a JOIN gram_serial AS b USING (task);
RESET enable_hashagg;
SET enable_sort = off;
SELECT count(*), bool_and(gram_parallel_same(a.plain, b.plain))
FROM (SELECT task, wml_gram(x, y) AS plain FROM gram_parallel GROUP BY task) AS a JOIN gram_serial AS b USING (task);
RESET enable_sort;

-- workers that find no rows, or only rows to skip
SELECT wml_gram(x, y) FROM gram_parallel WHERE y > 100;
SELECT wml_n(gram), wml_skipped(gram), wml_dims(gram)
FROM (SELECT wml_gram(x, y) AS gram FROM gram_parallel WHERE x IS NULL) AS t;
SELECT wml_n(gram), wml_skipped(gram), wml_dims(gram)
FROM (SELECT wml_gram(x, y) AS gram FROM gram_parallel WHERE x IS NULL OR x[4] = 1) AS t;
-- errors in workers
\set VERBOSITY sqlstate
SELECT wml_gram(x, y, w - 1) FROM gram_parallel;
SELECT wml_gram(CASE task WHEN 3 THEN x || 1::float8 ELSE x END, y) FROM gram_parallel;
\set VERBOSITY default

-- partitions, each aggregated by itself
CREATE TABLE gram_partitioned (LIKE gram_parallel) PARTITION BY LIST (task);
CREATE TABLE gram_partition_1 PARTITION OF gram_partitioned FOR VALUES IN (0, 1, 2);
CREATE TABLE gram_partition_2 PARTITION OF gram_partitioned FOR VALUES IN (3, 4);
CREATE TABLE gram_partition_3 PARTITION OF gram_partitioned DEFAULT;
INSERT INTO gram_partitioned SELECT * FROM gram_parallel;
ANALYZE gram_partitioned;
SET max_parallel_workers_per_gather = 0;
SET enable_partitionwise_aggregate = on;
SELECT gram_parallel_plan('SELECT wml_gram(x, y) FROM gram_partitioned');
SELECT gram_parallel_same(a.gram, b.gram)
FROM (SELECT wml_gram(x, y) AS gram FROM gram_partitioned) AS a, (SELECT wml_merge(plain) AS gram FROM gram_serial) AS b;
SELECT count(*), bool_and(gram_parallel_same(a.gram, b.gram))
FROM (SELECT w = 0 AS zero, wml_gram(x, y) AS gram FROM gram_partitioned GROUP BY 1) AS a
	 JOIN (SELECT w = 0 AS zero, wml_gram(x, y) AS gram FROM gram_parallel GROUP BY 1) AS b USING (zero);

-- all functions may run in workers
SELECT count(*) > 20, bool_and(proparallel = 's' AND provolatile = 'i')
FROM pg_depend JOIN pg_proc ON pg_proc.oid = objid AND classid = 'pg_proc'::regclass
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'wml') AND deptype = 'e' AND proname ~ 'gram|^wml_(n|skipped|merge|mean)';

DROP TABLE gram_parallel, gram_parallel_wide, gram_serial, gram_serial_wide, gram_partitioned;
DROP FUNCTION gram_parallel_same, gram_parallel_plan;
