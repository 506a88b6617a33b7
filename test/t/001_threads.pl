# BLAS must not start threads in a backend: PostgreSQL's signal handling and fork assume one.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no /proc to count threads in' unless -r '/proc/self/status';

my $node = PostgreSQL::Test::Cluster->new('threads');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION wml');

# A hundred features, for BLAS does not share out small matrices; then the backend looks at itself.
my $threads = $node->safe_psql(
	'postgres', q(
	DO $$
	BEGIN
		PERFORM wml_erm(gram, 1)
		FROM (SELECT wml_gram(x, y) AS gram
			  FROM (SELECT array_agg(sin(i * j)) AS x, cos(i) AS y
					FROM generate_series(1, 500) AS i, generate_series(1, 100) AS j
					GROUP BY i) AS example) AS task;
	END
	$$;
	SELECT substring(pg_read_file('/proc/self/status') FROM 'Threads:\s+(\d+)');
));
is($threads, 1, 'a backend that has used wml has one thread');

$node->stop;
done_testing();
