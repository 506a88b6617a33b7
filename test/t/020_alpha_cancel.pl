# A cancel during a long solve is heard at once, not when the solve is over.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('alpha_cancel');
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
));

# seconds(SETTING, QUERY): how long a query took in a session of its own, and how it ended
sub seconds
{
	my ($setting, $query) = @_;
	my $start = time;
	my ($result, $stdout, $stderr) = $node->psql('postgres', "SET $setting; \\set VERBOSITY sqlstate\n$query");
	return (time - $start, $stderr);
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
	my ($whole, $none) = seconds('statement_timeout = 0', $solve{$name});
	is($none, '', "$name: comes to an end");
	my $timeout = int(300 * $whole);
	my ($cancelled, $state) = seconds("statement_timeout = $timeout", $solve{$name});
	like($state, qr/57014/, "$name: cancelled");
	note("$name: $whole s, cancelled after $timeout ms: $cancelled s");
	cmp_ok($cancelled, '<', 0.8 * $whole, "$name: and not only at the end");
}

$node->stop;
done_testing();
