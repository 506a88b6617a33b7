# A long training can be cancelled, tells how it goes on, leaks nothing, and reads with the caller's rights.
# Networks survive every way out of and into a table, and bytes that are no network stay out.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use IPC::Run;

my $node = PostgreSQL::Test::Cluster->new('network');
$node->init;
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TABLE wave AS
	SELECT task, ARRAY[x] AS x, (1 + task % 5) * sin(x + task % 3) AS y
	FROM generate_series(1, 100) AS task, generate_series(-4.9, 4.9, 0.25) AS x;
	CREATE TABLE few AS SELECT ARRAY[x] AS x, 4 * sin(x + 1) AS y FROM unnest('{-4,-2,-0.5,1,2.5,4}'::float8[]) AS x;
	CREATE ROLE stranger;
));

sub training
{
	my ($options) = @_;
	return "SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', $options) IS NOT NULL";
}

# To the end these would take hours: that this test ends is the proof.  Some have long iterations, too.
my %endless = (
	'uniform weights' => training(q(iterations => 2000000000, weights => 'uniform')),
	'a mixture' => training('iterations => 2000000000, shrink => 1, whiten => true'),
	'the bound' => training(q(iterations => 2000000000, weights => 'bound')),
	'long iterations' => training('iterations => 2000000000, steps => 100000'),
	'wide layers' => training('iterations => 2000000000, hidden => \'{1024,1024,1024}\''));

foreach my $name (sort keys %endless)
{
	my ($result, $stdout, $stderr) = $node->psql(
		'postgres', qq(
		\\set VERBOSITY sqlstate
		SET statement_timeout = 300;
		$endless{$name};
		SET statement_timeout = 0;
		SELECT 'the session goes on', count(*) FROM few;
	), on_error_stop => 0, timeout => $PostgreSQL::Test::Utils::timeout_default);
	like($stderr, qr/^\S+ ERROR:  57014$/m, "$name: cancelled by a timeout");
	is($stdout, 'the session goes on|6', "$name: and the session goes on");
}


# start_training(SETTING): an endless training in a session of its own, with what it says
sub start_training
{
	my ($setting) = @_;
	my $session = { said => '' };
	$session->{run} = IPC::Run::start(
		[ 'psql', '--no-psqlrc', '--quiet', '--set=VERBOSITY=verbose', '--dbname', $node->connstr('postgres'),
		  '--command', "SET application_name = 'training'; SET wml.progress = $setting", '--command', $endless{'uniform weights'} ],
		'>', \$session->{result}, '2>', \$session->{said}, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return $session;
}

# The silent one starts first and would have spoken first.
my $silent = start_training('off');
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'training' AND query ~ 'wml_mlp_train'));
my $speaking = start_training('on');
$speaking->{run}->pump until $speaking->{said} =~ /left\n/;
like($speaking->{said},
	qr/NOTICE:  00000: iteration [0-9]+ of 2000000000: rmse [0-9.e+-]+, (distance [0-9.e+-]+, )?100 sources in use, about [0-9]+ s left/,
	'progress is told');
is($node->safe_psql('postgres', q(SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'training')),
	2, 'both are cancelled by another session');
$_->{run}->finish foreach $silent, $speaking;
like($speaking->{said}, qr/ERROR:  57014/, 'the one that tells ends');
like($silent->{said}, qr/^ERROR:  57014/, 'the one that does not ends without another word');

# Rights are the caller's, whoever owns the function.
sub state_of
{
	my ($query) = @_;
	my ($result, $stdout, $stderr) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSET ROLE stranger;\n$query");
	return $stderr =~ /ERROR:  (\w+)/ ? $1 : $stdout;
}
my $short = training('iterations => 2');
is(state_of($short), '42501', 'without the right to read the sources');
$node->safe_psql('postgres', 'GRANT SELECT ON wave TO stranger');
is(state_of($short), '42501', 'nor with that of the sources alone');
$node->safe_psql('postgres', 'GRANT SELECT ON few TO stranger');
is(state_of($short), 't', 'with both');

# Many trainings in one backend, also failed ones, leave nothing behind.
SKIP:
{
	skip 'no /proc to read memory from', 4 unless -r '/proc/self/status';
	skip 'no view of memory contexts before PostgreSQL 14', 4
	  if $node->safe_psql('postgres', 'SHOW server_version_num') < 140000;
	my $memory = q(
		SELECT (SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts)::int || ' ' ||
			substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)'));
	my $train = q(
		PERFORM wml_predict(wml_adapt(wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', iterations => 2,
			standardize => true, shrink => 1, whiten => true), '{{1},{2}}', '{1,2}', 0.01, 3), '{1}'));
	my $fail = q(
		BEGIN
			PERFORM wml_mlp_train('SELECT task, x, CASE WHEN task < 100 THEN y ELSE ''NaN'' END FROM wave', 'SELECT x, y FROM few');
		EXCEPTION WHEN numeric_value_out_of_range THEN
		END);
	# The address sanitizer keeps freed memory for a while.
	my $quarantine = $node->safe_psql('postgres', "SELECT setting LIKE '%sanitize=address%' FROM pg_config WHERE name = 'CFLAGS'") eq 't';
	foreach my $repeated ([ 'trainings', $train ], [ 'failures', $fail ])
	{
		my ($name, $statement) = @$repeated;
		my $repeat = "DO \$\$ BEGIN FOR i IN 1 .. %d LOOP $statement; END LOOP; END \$\$;";
		my $measured = "$repeat $memory;";

		# the heap finds its final shape only after the first look at it
		my @lines = split /\n/, $node->safe_psql('postgres', sprintf("$measured $measured $measured", 5, 5, 50));
		my ($books, $system) = split / /, $lines[1];
		my ($books_after, $system_after) = split / /, $lines[2];
		note("$name: $lines[1] kB, then $lines[2] kB");
		cmp_ok($books_after - $books, '<', 64, "$name: memory contexts stay as they are");
		SKIP:
		{
			skip 'the address sanitizer keeps freed memory', 1 if $quarantine;
			cmp_ok($system_after - $system, '<', 1024, "$name: and so does the process");
		}
	}
}

# Every bit is kept, compressed or not, whatever the session's settings.
my $directory = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql(
	'postgres', q(
	CREATE TABLE network AS
	SELECT depth, wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', iterations => 20, weights => 'uniform',
		standardize => depth > 1, hidden => array_fill(7, ARRAY[depth])) AS model
	FROM generate_series(0, 3) AS depth;
));
my $bytes = 'SELECT depth, md5(wml_mlp_send(model)), md5(model::text) FROM network ORDER BY depth';
my $expected = $node->safe_psql('postgres', $bytes);
for my $format ('text', 'csv', 'binary')
{
	$node->safe_psql(
		'postgres', qq(
		COPY network TO '$directory/network.$format' WITH (FORMAT $format);
		TRUNCATE network;
		SET extra_float_digits = -15;
		COPY network FROM '$directory/network.$format' WITH (FORMAT $format);
	));
	is($node->safe_psql('postgres', $bytes), $expected, "the same bytes: COPY in $format format");
}

# The head of the binary form: version, flags, inputs, depth, eight widths, records; then numbers.
my $head = "PGCOPY\n\xff\r\n\0" . pack('NNn', 0, 0, 1);
my $tail = pack('n', 0xffff);
$node->safe_psql('postgres', "COPY (SELECT model FROM network WHERE depth = 2) TO '$directory/good' WITH (FORMAT binary)");
my $good = slurp_file("$directory/good");
$good = substr($good, length($head) + 4, length($good) - length($head) - 4 - length($tail));
$node->safe_psql('postgres', 'CREATE TABLE hostile (model wml_mlp)');

sub load
{
	my ($value) = @_;
	open my $file, '>:raw', "$directory/hostile" or die $!;
	print $file $head, pack('N', length $value), $value, $tail;
	close $file;
	my ($result, $stdout, $stderr) = $node->psql('postgres', "COPY hostile FROM '$directory/hostile' WITH (FORMAT binary)");
	return $stderr;
}
is(load($good), '', 'a network from outside');
for my $change (
	[ 0, 'n', 2 ], [ 2, 'n', 2 ], [ 4, 'N', 0 ], [ 4, 'N', 2 ], [ 4, 'N', 0x7fffffff ], [ 8, 'N', -1 ], [ 8, 'N', 3 ],
	[ 8, 'N', 9 ], [ 12, 'N', 0 ], [ 12, 'N', 1025 ], [ 16, 'N', 8 ], [ 20, 'N', 1 ], [ 44, 'N', -1 ], [ 44, 'N', 1 << 30 ])
{
	my ($offset, $format, $number) = @$change;
	my $value = $good;
	substr($value, $offset, length pack($format, 0)) = pack($format, $number);
	like(load($value), qr/unsupported version or size of type wml_mlp/, "no network: $number at byte $offset");
}
like(load(substr($good, 0, length($good) - 8)), qr/unsupported version or size/, 'no network: one number too few');
like(load($good . "\0" x 8), qr/unsupported version or size/, 'no network: one number too many');
like(load(substr($good, 0, 30)), qr/insufficient data left in message/, 'no network: half a head');
my $first_number = 48;
for my $change ([ 0, 'NaN', qr/a shift or scale is out of range/ ], [ 2, 0, qr/a shift or scale is out of range/ ], [ 4, 'Inf', qr/a parameter is not finite/ ])
{
	my ($index, $number, $error) = @$change;
	my $value = $good;
	substr($value, $first_number + 8 * $index, 8) = pack('d>', $number);
	like(load($value), $error, "no network: $number as number $index");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM hostile'), 1, 'nothing else got in');

$node->stop;
done_testing();
