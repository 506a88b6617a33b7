# A cancel during the fit of a generalised linear model is heard at once, whichever part of it runs.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no /proc to read processor time from' unless -r '/proc/self/schedstat';

my $node = PostgreSQL::Test::Cluster->new('glm_cancel');
$node->init;
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;

$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	SELECT setseed(0.5);
	CREATE TABLE example AS
	SELECT i % 500 AS task, x, (random() < 0.5)::int AS y, (random() * 10)::int AS count
	FROM (SELECT i, array_agg(random() - 0.5) AS x FROM generate_series(1, 50000) AS i, generate_series(1, 8) AS k GROUP BY i) AS rows;
));

# milliseconds(TIMEOUT, QUERY): how much processor time a session of its own spent on a query with such a timeout, and
# how it ended
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

# Such a tolerance is never reached.
my %fit = (
	'rows in memory' => q(SELECT wml_glm_prior('SELECT task, x, y FROM example', tolerance => 1e-300, iterations => 1000000)),
	'a query run again' => q(SELECT wml_glm_prior('SELECT task, x, y FROM example', reread => true, tolerance => 1e-300, iterations => 1000000)),
	'a dispersion' => q(SELECT wml_glm_prior('SELECT task, x, count FROM example', 'negative_binomial', tolerance => 1e-300, iterations => 1000000)));

foreach my $what (sort keys %fit)
{
	my ($spent, $error) = milliseconds(1000, $fit{$what});
	like($error, qr/57014/, "$what: cancelled");
	cmp_ok($spent, '<', 3000, "$what: soon");
}

# The backend goes on, and nothing is left open.
is( $node->safe_psql(
		'postgres', q(SELECT (wml_glm_train('SELECT x, y FROM example')).converged)),
	't',
	'fits afterwards');

done_testing();
