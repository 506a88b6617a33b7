# Rows on other servers: grams are collected there, and only grams travel.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $here = PostgreSQL::Test::Cluster->new('here');
my @far = map { PostgreSQL::Test::Cluster->new("far$_") } 1, 2;
foreach my $node ($here, @far)
{
	$node->init;
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION wml');
}
plan skip_all => 'postgres_fdw is not installed'
  unless $here->safe_psql('postgres', q(SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'));
my $version = $here->safe_psql('postgres', q(SELECT current_setting('server_version_num')::int / 10000));

# Tasks 1 to 20 by number on two servers; the rows of `visit` by day, so that every task is on both.
my $rows = q(SELECT i % 20 + 1 AS task, i % 100 AS day, ARRAY[1, sin(i), i * 1e5] AS x, i + cos(i) AS y FROM generate_series(1, 4000) AS i);
$here->safe_psql('postgres', "CREATE TABLE local_row AS $rows; CREATE EXTENSION postgres_fdw");
$here->safe_psql('postgres', q(
	CREATE TABLE sale (task int, day int, x float8[], y float8) PARTITION BY RANGE (task);
	CREATE TABLE visit (task int, day int, x float8[], y float8) PARTITION BY RANGE (day);
	CREATE TABLE visit_gram (task int, gram wml_gram);
));
foreach my $i (0, 1)
{
	my $node = $far[$i];
	my ($host, $port) = ($node->host, $node->port);
	my $async = $version >= 14 ? ", async_capable 'true'" : '';
	my @tasks = (10 * $i + 1, 10 * $i + 11);
	my @days = (50 * $i, 50 * $i + 50);

	$node->safe_psql('postgres', qq(
		CREATE TABLE sale AS SELECT * FROM ($rows) AS r WHERE task >= $tasks[0] AND task < $tasks[1];
		CREATE TABLE visit AS SELECT * FROM ($rows) AS r WHERE day >= $days[0] AND day < $days[1];
		CREATE VIEW visit_gram AS SELECT task, wml_gram(x, y) AS gram FROM visit GROUP BY task;
		ANALYZE;
	));
	$here->safe_psql('postgres', qq(
		CREATE SERVER far$i FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'wml', use_remote_estimate 'true'$async);
		CREATE USER MAPPING FOR PUBLIC SERVER far$i;
		CREATE FOREIGN TABLE sale$i PARTITION OF sale FOR VALUES FROM ($tasks[0]) TO ($tasks[1]) SERVER far$i OPTIONS (table_name 'sale');
		CREATE FOREIGN TABLE visit$i PARTITION OF visit FOR VALUES FROM ($days[0]) TO ($days[1]) SERVER far$i OPTIONS (table_name 'visit');
		CREATE FOREIGN TABLE visit_gram$i () INHERITS (visit_gram) SERVER far$i OPTIONS (table_name 'visit_gram');
	));
}

my $local = $here->safe_psql('postgres', q(
	SELECT task, wml_second_moment(wml_gram(x, y)), wml_n(wml_gram(x, y)) FROM local_row GROUP BY task ORDER BY task));

# A task lies on one server: the whole aggregate is made there.
my $by_task = q(SELECT task, wml_gram(x, y) AS gram FROM sale GROUP BY task);
my $plan = $here->safe_psql('postgres', "SET enable_partitionwise_aggregate = on; EXPLAIN (VERBOSE, COSTS OFF) $by_task");
my $pushed = () = $plan =~ /Remote SQL: SELECT task, [\w.]*wml_gram\(x, y\)/g;
is($pushed, 2, 'wml_gram runs on both servers') or diag($plan);
is( $here->safe_psql('postgres', "SET enable_partitionwise_aggregate = on; SELECT task, wml_second_moment(gram), wml_n(gram) FROM ($by_task) AS g ORDER BY task"),
	$local, 'to the last bit as here');

# A task's rows lie on both servers: each makes its grams, and here they are merged.
my $merged = q(SELECT task, wml_merge(gram) AS gram FROM visit_gram GROUP BY task);
$plan = $here->safe_psql('postgres', "EXPLAIN (VERBOSE, COSTS OFF) $merged");
like($plan, qr/Remote SQL: SELECT task, gram FROM public\.visit_gram/, 'only grams travel');
like($here->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT wml_merge(gram) FROM visit_gram'), qr/Async Foreign Scan/, 'both servers work at once')
  if $version >= 14;
is($here->safe_psql('postgres', "SELECT task, wml_second_moment(gram), wml_n(gram) FROM ($merged) AS g ORDER BY task"),
	$local, 'merged to the last bit as here');
is($here->safe_psql('postgres', 'SELECT task, wml_second_moment(wml_gram(x, y)), wml_n(wml_gram(x, y)) FROM visit GROUP BY task ORDER BY task'),
	$local, 'and so are grams of rows that travelled');

# What needs all tasks at once is decided here, from grams.
is( $here->safe_psql('postgres', "SELECT wml_alpha(array_agg(gram ORDER BY task) FILTER (WHERE task > 1), (array_agg(gram) FILTER (WHERE task = 1))[1]) FROM ($merged) AS g"),
	$here->safe_psql('postgres', q(
		SELECT wml_alpha(array_agg(gram ORDER BY task) FILTER (WHERE task > 1), (array_agg(gram) FILTER (WHERE task = 1))[1])
		FROM (SELECT task, wml_gram(x, y) AS gram FROM local_row GROUP BY task) AS g)),
	'weights');

$_->stop foreach $here, @far;
done_testing();
