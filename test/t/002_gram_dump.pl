# Dump and restore, and COPY in both formats, keep every bit of a gram.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump');
$node->init;
$node->start;
my $directory = PostgreSQL::Test::Utils::tempdir();

# Sums that need all their bits, of few and of many features, and the exceptional ones.
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TABLE task AS
	SELECT d, kind, wml_gram(x, y, w) AS gram
	FROM (SELECT d, kind, i, array_agg(CASE j WHEN 1 THEN 1 ELSE sin(i * j) * 10.0::float8 ^ (j % 9 - 4) END ORDER BY j) AS x,
				 cos(i) AS y, CASE kind WHEN 0 THEN 1 ELSE i % 5 + 1.0 / i END AS w
		  FROM unnest(ARRAY[1, 2, 7, 30, 200]) AS d, generate_series(0, 1) AS kind, generate_series(1, 20) AS i, generate_series(1, d) AS j
		  GROUP BY d, kind, i) AS row
	GROUP BY d, kind;
	INSERT INTO task SELECT 0, 2, wml_gram(NULL, 1);
	INSERT INTO task SELECT 2, 3, wml_gram(ARRAY[1, 2], 3, 0);
	INSERT INTO task SELECT 2, 4, wml_gram(ARRAY[1, 'Infinity'::float8], -1e300);
	INSERT INTO task SELECT d, 5, wml_gram(array_fill(1e-170::float8, ARRAY[d]), 3e-160) FROM generate_series(1, 3) AS d GROUP BY d;
	INSERT INTO task SELECT 1, 6, NULL;
	CREATE DOMAIN task_gram AS wml_gram CHECK (wml_n(VALUE) >= 0);
	CREATE TABLE several (grams wml_gram[], one task_gram, pair task);
	INSERT INTO several SELECT array_agg(gram ORDER BY d, kind), wml_merge(gram) FILTER (WHERE d = 2), NULL FROM task;
	UPDATE several SET pair = task FROM task WHERE d = 30 AND kind = 1;
));

my $bytes = q(
	SELECT d, kind, md5(wml_gram_send(gram)) FROM task
	UNION ALL
	SELECT -1, ordinality, md5(wml_gram_send(gram)) FROM several, unnest(grams) WITH ORDINALITY AS g (gram, ordinality)
	UNION ALL
	SELECT -2, 0, md5(wml_gram_send((pair).gram)) FROM several
	ORDER BY 1, 2);
my $figures = q(SELECT d, kind, gram FROM task UNION ALL SELECT -1, 0, one FROM several ORDER BY 1, 2);
my $expected = $node->safe_psql('postgres', $bytes);
my $expected_figures = $node->safe_psql('postgres', $figures);
like($expected, qr/^(\S+\n){30,}/, 'there is something to compare');

for my $format ('plain', 'custom', 'inserts')
{
	my $file = "$directory/$format.dump";
	my @options = $format eq 'inserts' ? '--inserts' : "--format=$format";
	$node->command_ok([ 'pg_dump', @options, '--file', $file, '--dbname', $node->connstr('postgres') ], "dump: $format");
	$node->safe_psql('postgres', "CREATE DATABASE $format");
	$node->command_ok(
		$format eq 'custom'
		? [ 'pg_restore', '--exit-on-error', '--dbname', $node->connstr($format), $file ]
		: [ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--file', $file, '--dbname', $node->connstr($format) ],
		"restore: $format");
	is($node->safe_psql($format, $bytes), $expected, "the same bytes: $format");
	is($node->safe_psql($format, $figures), $expected_figures, "the same figures: $format");
}

for my $format ('text', 'csv', 'binary')
{
	$node->safe_psql(
		'postgres', qq(
		COPY task TO '$directory/task.$format' WITH (FORMAT $format);
		TRUNCATE task;
		SET extra_float_digits = -15;
		COPY task FROM '$directory/task.$format' WITH (FORMAT $format);
	));
	is($node->safe_psql('postgres', $bytes), $expected, "the same bytes: COPY in $format format");
}

$node->stop;
done_testing();
