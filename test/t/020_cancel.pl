# A cancel during a long solve or fit is heard at once, not when the work is over.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no /proc to read processor time from' unless -r '/proc/self/schedstat';

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init;
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;

# Random tasks with many features; all their rows together are inside their hull, which makes the solver mix many.
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	SELECT setseed(0.5);
	CREATE FUNCTION tasks(count int, dims int) RETURNS SETOF wml_gram LANGUAGE sql AS $$
		SELECT wml_gram(x, random())
		FROM (SELECT task, array_agg(random()) AS x
			  FROM generate_series(1, count) AS task, generate_series(1, 3) AS i, generate_series(1, dims) AS k
			  GROUP BY task, i) AS example
		GROUP BY task
	$$;
	CREATE TABLE many AS SELECT gram FROM tasks(3000, 30) AS gram;
	CREATE TABLE wide AS SELECT gram FROM tasks(60, 150) AS gram;
	CREATE TABLE kernel AS
	SELECT array_agg(sums ORDER BY i) AS sums, array_fill(1::float8, ARRAY[500]) AS sizes
	FROM (SELECT i, array_agg(exp(-abs(i - j) / 300.0::float8) ORDER BY j) AS sums
		  FROM generate_series(1, 500) AS i, generate_series(1, 500) AS j GROUP BY i) AS by_row;
	CREATE TABLE example AS
	SELECT i % 500 AS task, x, (random() < 0.5)::int AS y, (random() * 10)::int AS count
	FROM (SELECT i, array_agg(random() - 0.5) AS x FROM generate_series(1, 50000) AS i, generate_series(1, 8) AS k GROUP BY i) AS rows;
));

# milliseconds(TIMEOUT, QUERY): how much processor time a session of its own spent on a query with such a timeout, and
# how it ended.  Not the time that passed, of which other programs may have had most: a busy machine only makes the
# timeout come earlier in the work.
sub milliseconds
{
	my ($timeout, $query) = @_;
	my ($result, $stdout, $stderr) = $node->psql(
		'postgres', qq(
		\\set VERBOSITY sqlstate
		SET statement_timeout = $timeout;
		$query;
		SET statement_timeout = 0;
		SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::bigint / 1000000),
		on_error_stop => 0);
	return ((split /\n/, $stdout)[-1], $stderr);
}

my %solve = (
	'a mixture' => 'SELECT wml_alpha(gram, (SELECT wml_merge(gram) FROM many)) OVER () FROM many',
	'a mixture with shrink' =>
	  'SELECT wml_alpha(gram, (SELECT wml_merge(gram) FROM many), shrink => 1e-9) OVER () FROM many',
	'an array' => 'SELECT wml_alpha(array_agg(gram), wml_merge(gram)) FROM many',
	'whitening' => 'SELECT wml_alpha(array_agg(gram), wml_merge(gram), whiten => true) FROM wide',
	'an own kernel' => 'SELECT wml_alpha_kernel(sums, sizes) FROM kernel');

foreach my $name (sort keys %solve)
{
	my ($whole, $none) = milliseconds(0, $solve{$name});
	is($none, '', "$name: comes to an end");
	my $timeout = int(0.3 * $whole);
	my ($cancelled, $state) = milliseconds($timeout, $solve{$name});
	like($state, qr/57014/, "$name: cancelled");
	note("$name: $whole ms, cancelled after $timeout ms: $cancelled ms");
	cmp_ok($cancelled, '<', 0.8 * $whole, "$name: and not only at the end");
}

# Of generalised linear models, with a tolerance that is never reached.
my %fit = (
	'rows in memory' => q(SELECT wml_glm_prior('SELECT task, x, y FROM example', tolerance => 1e-300, iterations => 1000000)),
	'a query run again' => q(SELECT wml_glm_prior('SELECT task, x, y FROM example', reread => true, tolerance => 1e-300, iterations => 1000000)),
	'a dispersion' => q(SELECT wml_glm_prior('SELECT task, x, count FROM example', 'negative_binomial', tolerance => 1e-300, iterations => 1000000)));

foreach my $name (sort keys %fit)
{
	my ($spent, $state) = milliseconds(1000, $fit{$name});
	like($state, qr/57014/, "$name: cancelled");
	cmp_ok($spent, '<', 3000, "$name: soon");
}

# Nothing is left open.
is($node->safe_psql('postgres', q(SELECT (wml_glm_train('SELECT x, y FROM example')).converged)), 't', 'fits afterwards');

$node->stop;
done_testing();
