# The same solve a thousand times in one backend keeps its memory flat.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no /proc to read memory from' unless -r '/proc/self/status';

my $node = PostgreSQL::Test::Cluster->new('alpha_memory');
$node->init;
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;
plan skip_all => 'no view of memory contexts before PostgreSQL 14'
  if $node->safe_psql('postgres', 'SHOW server_version_num') < 140000;
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TABLE task AS
	SELECT task, wml_gram(ARRAY[1, sin(task * i), cos(task + i), sin(i * i)], cos(task * i * i)) AS gram
	FROM generate_series(1, 200) AS task, generate_series(1, 10) AS i GROUP BY task;
	CREATE TABLE kernel AS
	SELECT array_agg(sums ORDER BY i) AS sums, array_fill(1::float8, ARRAY[60]) AS sizes
	FROM (SELECT i, array_agg(exp(-abs(i - j) / 30.0::float8) ORDER BY j) AS sums
		  FROM generate_series(1, 60) AS i, generate_series(1, 60) AS j GROUP BY i) AS by_row;
));

# kilobytes that the backend holds, by its own books and by the system's
my $memory = q(
	SELECT (SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts)::int || ' ' ||
		substring(pg_read_file('/proc/self/status') FROM 'VmRSS:\s+(\d+)'));

my %solve = (
	'window' => q(
		PERFORM sum(alpha)
		FROM (SELECT wml_alpha(s.gram, t.gram) OVER (PARTITION BY t.task) AS alpha
			  FROM task AS s, task AS t WHERE s.task > 2 AND t.task <= 2) AS weighted),
	'window, with shrink and whiten' => q(
		PERFORM sum(alpha)
		FROM (SELECT wml_alpha(gram, (SELECT gram FROM task WHERE task = 1), shrink => 3, whiten => true) OVER () AS alpha
			  FROM task) AS weighted),
	'array' => q(
		PERFORM wml_alpha(array_agg(s.gram), (SELECT gram FROM task WHERE task = 1), 'mixture', 'hinge', 1, true),
			wml_alpha_gap(array_agg(s.gram), (SELECT gram FROM task WHERE task = 1), array_fill(0.005::float8, ARRAY[200]))
		FROM task AS s),
	'own kernel' => 'PERFORM wml_alpha_kernel(sums, sizes) FROM kernel',
	'error' => q(
		BEGIN
			PERFORM wml_alpha(gram, gram) OVER () FROM task;
		EXCEPTION WHEN data_exception THEN
		END));

# The address sanitizer keeps freed memory for a while.
my $quarantine = $node->safe_psql('postgres', "SELECT setting LIKE '%sanitize=address%' FROM pg_config WHERE name = 'CFLAGS'") eq 't';
foreach my $name (sort keys %solve)
{
	my $repeat = "DO \$\$ BEGIN FOR i IN 1 .. %d LOOP $solve{$name}; END LOOP; END \$\$;";
	# The first look fills the catalog caches that looking needs.
	my (undef, @lines) = split /\n/,
	  $node->safe_psql('postgres', sprintf("$memory; $repeat $memory; $repeat $memory;", 100, 1000));
	my ($books, $system) = split / /, $lines[0];
	my ($books_after, $system_after) = split / /, $lines[1];
	note("$name: $lines[0] kB, then $lines[1] kB");
	cmp_ok($books_after - $books, '<', 64, "$name: memory contexts stay as they are");
	SKIP:
	{
		skip 'the address sanitizer keeps freed memory', 1 if $quarantine;
		cmp_ok($system_after - $system, '<', 1024, "$name: and so does the process");
	}
}

$node->stop;
done_testing();
