# Grams that the first version of the format wrote, as text, in binary and stored, are read with every
# figure the same to the bit.  test/data/gram_version_1.txt has what that version printed: a name, the
# text form, the binary form, the second moments and the means.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('version_1');
$node->init;
$node->start;
my $directory = PostgreSQL::Test::Utils::tempdir();

# What is stored is given as bytes, through a type that has nothing else.
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TYPE raw_bytes;
	CREATE FUNCTION raw_in(cstring) RETURNS raw_bytes LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
	CREATE FUNCTION raw_out(raw_bytes) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
	CREATE TYPE raw_bytes (INPUT = raw_in, OUTPUT = raw_out, ALIGNMENT = double, STORAGE = extended);
	CREATE CAST (raw_bytes AS wml_gram) WITHOUT FUNCTION;
	CREATE TABLE written (kind text, form text, gram wml_gram);
	CREATE TABLE expected (kind text, moments text, means text);
	CREATE TABLE received (gram wml_gram);
));

my $cases = 0;
for my $line (split /\n/, slurp_file('test/data/gram_version_1.txt'))
{
	my ($kind, $text, $sent, $moments, $means) = split /\|/, $line, -1;
	my $bytes = pack 'H*', $sent;
	my ($version, $flags, $dims, $constant, @words) = unpack 'nnNNQ>*', $bytes;
	my $stored = unpack 'H*', pack 'SSLLQ*', $version, $flags, $dims, $constant, @words;

	open my $file, '>:raw', "$directory/sent" or die;
	print $file "PGCOPY\n\xff\r\n\0", pack('NNn', 0, 0, 1), pack('N', length $bytes), $bytes, pack('n', 0xffff);
	close $file;
	$node->safe_psql(
		'postgres', qq(
		INSERT INTO expected VALUES ('$kind', '$moments', '$means');
		INSERT INTO written VALUES ('$kind', 'text', '$text'), ('$kind', 'stored', '\\x$stored'::raw_bytes::wml_gram);
		COPY received FROM '$directory/sent' WITH (FORMAT binary);
		INSERT INTO written SELECT '$kind', 'binary', gram FROM received;
		TRUNCATE received;
	));
	$cases++;
}
is($cases, 7, 'there is something to read');

is( $node->safe_psql(
		'postgres', q(
		SELECT kind, form FROM written JOIN expected USING (kind)
		WHERE coalesce(wml_second_moment(gram)::text, '') <> moments OR coalesce(wml_mean(gram)::text, '') <> means)),
	'', 'every figure is the same');
is( $node->safe_psql('postgres', q(SELECT count(DISTINCT md5(wml_gram_send(gram))) FROM written WHERE kind <> 'infinite' AND kind <> 'NaN')),
	5, 'the three forms say the same to the bit');
is( $node->safe_psql(
		'postgres', q(
		SELECT kind, form FROM written
		WHERE gram::text NOT LIKE '{v=2 %' OR wml_gram_send(gram::text::wml_gram) <> wml_gram_send(gram) OR gram <> gram::text::wml_gram)),
	'', 'they are written as they are now');
is( $node->safe_psql(
		'postgres', q(
		SELECT kind, form FROM written
		JOIN (SELECT d, wml_gram(array_fill(3.5::float8, ARRAY[d]), 2) AS other FROM generate_series(1, 2) AS d GROUP BY d) AS added ON d = wml_dims(gram)
		WHERE kind NOT IN ('NaN', 'infinite') AND
			  (gram + other - other <> gram OR wml_mean(gram + other - other) IS DISTINCT FROM wml_mean(gram)))),
	'', 'rows come and go in them');
is( $node->safe_psql(
		'postgres', q(
		SELECT bool_and(a.gram + b.gram + c.gram = merged)
		FROM written AS a JOIN written AS b USING (kind) JOIN written AS c USING (kind)
		JOIN (SELECT kind, wml_merge(gram) AS merged FROM written GROUP BY kind) AS m USING (kind)
		WHERE (a.form, b.form, c.form) = ('text', 'stored', 'binary'))),
	't', 'they merge');

# Damaged ones are said to be damaged.
for my $damaged ('', '01', '0100', '01000000', '03000000' . '00' x 112, '01000100' . '00' x 112,
	'01000000' . unpack('H*', pack 'll', -4, -1) . '00' x 104,
	'01000000' . unpack('H*', pack 'llqqq', 1, 1024, 1, 0, 0) . '00' x (104 - 24 + 48),
	'01000000' . unpack('H*', pack 'llqqq', 1, -1, -1, 0, 0) . '00' x (104 - 24 + 48),
	'02000000' . '00' x 112, '02000000' . unpack('H*', pack 'll', -4, -1) . '00' x 120)
{
	like(($node->psql('postgres', "SELECT wml_n('\\x$damaged'::raw_bytes::wml_gram)"))[2],
		qr/stored gram is corrupted.*The gram is not valid: it/s, 'damaged: ' . substr $damaged, 0, 40);
}

$node->stop;
done_testing();
