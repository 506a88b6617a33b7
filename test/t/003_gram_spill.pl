# A hundred thousand groups do not fit into a small work_mem: they spill to disk and stay right.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('spill');
$node->init;
$node->append_conf(
	'postgresql.conf', q(
work_mem = 4MB
hash_mem_multiplier = 1.0
max_parallel_workers_per_gather = 0
jit = off
));
$node->start;

# Three rows a task, far apart from each other; some to be skipped; integers, whose sums are known.
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TABLE row AS
	SELECT i % 100000 AS task, CASE WHEN i % 7 > 0 THEN ARRAY[1, i % 1009, i % 31] END::float8[] AS x, (i % 17)::float8 AS y
	FROM generate_series(0, 299999) AS i;
	ANALYZE row;
	SET enable_sort = off;
	CREATE TABLE by_hash AS SELECT task, wml_gram(x, y) AS gram FROM row GROUP BY task;
));

my $plan = $node->safe_psql('postgres', q(SET enable_sort = off; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT task, wml_gram(x, y) FROM row GROUP BY task));
like($plan, qr/HashAggregate/, 'hashed');
like($plan, qr/Batches: [0-9]+ .*Disk Usage: [0-9]+kB/, 'and spilled');
my ($memory) = $plan =~ /Memory Usage: ([0-9]+)kB/;
cmp_ok($memory, '<', 16 * 1024, 'within a few times work_mem');

# Against plain sums.
is( $node->safe_psql(
		'postgres', q(
	SELECT count(*), sum(wml_n(gram)), sum(wml_skipped(gram)),
		   bool_and(CASE WHEN n > 0 THEN wml_second_moment(gram)::text = ARRAY[
				[1, a / n, b / n, y / n], [a / n, aa / n, ab / n, ay / n],
				[b / n, ab / n, bb / n, by / n], [y / n, ay / n, by / n, yy / n]]::text
			ELSE wml_second_moment(gram) IS NULL END)
	FROM by_hash JOIN (
		SELECT task, count(x)::float8 AS n, sum(x[2]) AS a, sum(x[3]) AS b, sum(y) FILTER (WHERE x IS NOT NULL) AS y,
			   sum(x[2] * x[2]) AS aa, sum(x[2] * x[3]) AS ab, sum(x[2] * y) AS ay, sum(x[3] * x[3]) AS bb,
			   sum(x[3] * y) AS by, sum(y * y) FILTER (WHERE x IS NOT NULL) AS yy
		FROM row GROUP BY task) AS sums USING (task)
)), '100000|257142|42858|t', 'every task has the sums of its rows');

is( $node->safe_psql(
		'postgres', q(
	SET enable_hashagg = off;
	SELECT count(*), bool_and(h.gram = s.gram)
	FROM by_hash AS h JOIN (SELECT task, wml_gram(x, y) AS gram FROM row GROUP BY task) AS s USING (task)
)), '100000|t', 'and the same gram as after sorting');

# Grams themselves as input, and many features, where rows wait in the states that spill.
is( $node->safe_psql(
		'postgres', q(
	SET enable_sort = off;
	SELECT count(*), bool_and(m.gram = r.gram)
	FROM (SELECT task % 50000 AS task, wml_merge(gram) AS gram FROM by_hash GROUP BY 1) AS m
		 JOIN (SELECT task % 50000 AS task, wml_gram(x, y) AS gram FROM row GROUP BY 1) AS r USING (task)
)), '50000|t', 'merged grams');
is( $node->safe_psql(
		'postgres', q(
	SET enable_sort = off;
	CREATE TABLE wide AS
	SELECT i % 2000 AS task, array_fill((i % 11)::float8, ARRAY[40]) AS x, (i % 5)::float8 AS y FROM generate_series(1, 20000) AS i;
	ANALYZE wide;
	SELECT count(*), bool_and(wml_n(gram) = 10 AND (wml_second_moment(gram))[1][40]::text = (aa / 10)::text AND (wml_second_moment(gram))[7][41]::text = (ay / 10)::text)
	FROM (SELECT task, wml_gram(x, y) AS gram FROM wide GROUP BY task) AS g
		 JOIN (SELECT task, sum(x[1] * x[1]) AS aa, sum(x[1] * y) AS ay FROM wide GROUP BY task) AS sums USING (task)
)), '2000|t', 'many features');

# With memory enough: little more than the gram, which takes 1368 bytes for 10 features.
$plan = $node->safe_psql(
	'postgres', q(
	SET work_mem = '1GB';
	SET enable_sort = off;
	EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
	SELECT i % 20000, wml_gram(array_fill(i::float8, ARRAY[10]), i) FROM generate_series(1, 40000) AS i GROUP BY 1));
($memory) = $plan =~ /Batches: 1  Memory Usage: ([0-9]+)kB/;
cmp_ok($memory / 20, '<', 1700, 'bytes for a group');

# The buffers of all groups together stay within their 64 MB, also beside an aggregate that has a
# memory context for each group.
my @memory = map {
	$node->safe_psql(
		'postgres', qq(
		SET work_mem = '2GB';
		SET enable_sort = off;
		CREATE AGGREGATE pg_temp.collect(int) (SFUNC = array_append, STYPE = int[], INITCOND = '{}');
		EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT i % 3000, $_ FROM generate_series(1, 60000) AS i GROUP BY 1)) =~ /Batches: 1  Memory Usage: ([0-9]+)kB/
} ('wml_gram(array_fill(i::float8, ARRAY[60]), i)', 'pg_temp.collect(i)', 'wml_gram(array_fill(i::float8, ARRAY[60]), i), pg_temp.collect(i)');
is(@memory, 3, 'there is something to compare');
cmp_ok($memory[2], '<', $memory[0] + $memory[1] + 1024, 'an aggregate beside another');

$node->stop;
done_testing();
