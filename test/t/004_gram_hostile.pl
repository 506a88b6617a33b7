# Grams from outside are untrusted: thousands of mutated values, in binary and in text form, are each
# an error or a valid gram, and no function falls over those that get in, nor over those that are
# damaged on disk.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

srand(20);    # the same mutations every time

my $node = PostgreSQL::Test::Cluster->new('hostile');
# a page is to be damaged without the server's knowledge
$node->init(no_data_checksums => 1, extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my $directory = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TABLE good (gram wml_gram);
	INSERT INTO good
	SELECT wml_gram(ARRAY[1, sin(i), cos(i * i)], exp(sin(i)), w) FROM generate_series(1, 9) AS i, (VALUES (1), (2.5), (0)) AS v (w) GROUP BY w
	UNION ALL
	SELECT wml_gram(ARRAY[sqrt(i)], i) FROM generate_series(1, 9) AS i
	UNION ALL
	SELECT wml_gram(NULL, 1)
	UNION ALL
	SELECT wml_gram(ARRAY[1, 'NaN'::float8], 1e200);
	CREATE TABLE hostile (gram wml_gram);

));

# try_all: all that can be done with a gram that has been let in; what it says does not matter.  A
# gram from a damaged page may be said to be damaged, or be no gram when it is read back from text.
for my $kind ([ 'try_all', 'data_exception', '' ], [ 'try_damaged', 'data_exception OR data_corrupted', q('$1::text::wml_gram',) ])
{
	my ($name, $expected, $more) = @$kind;
	$node->safe_psql(
		'postgres', qq(
	CREATE FUNCTION $name(gram wml_gram) RETURNS void AS \$\$
	DECLARE
		statement text;
		-- the functions that take nothing but grams, operators among them
		gram_calls text[] := ARRAY(
			SELECT proname || '(' || array_to_string(array_fill('\$1'::text, ARRAY[required]), ', ') || ')'
			FROM pg_proc, LATERAL (SELECT pronargs - pronargdefaults AS required) AS n
			WHERE prokind = 'f' AND pronamespace = 'public'::regnamespace AND proname ~ '^wml_' AND proname <> 'wml_gram_combine' AND required > 0 AND
				  'wml_gram'::regtype = ALL (proargtypes[0:required - 1]));
	BEGIN
		IF '$name' = 'try_all' AND (gram::text::wml_gram <> gram OR gram::text::wml_gram::text <> gram::text) THEN
			RAISE 'does not survive text: %', gram;
		END IF;
		FOREACH statement IN ARRAY ARRAY[$more
			'\$1 + \$1 - \$1',
			'wml_transform(\$1, array_fill(0.1::float8, ARRAY[2, wml_dims(\$1) + 1]))',
			'wml_merge(gram) FROM (SELECT \$1 AS gram UNION ALL SELECT \$1) AS t',
			'wml_merge(gram) OVER (ROWS 1 PRECEDING) FROM (SELECT \$1 AS gram UNION ALL SELECT \$1) AS t',
			'wml_alpha(gram, \$1) OVER () FROM (SELECT \$1 AS gram UNION ALL SELECT \$1) AS t',
			'wml_erm(\$1, 1)'
			] || gram_calls
		LOOP
			BEGIN
				EXECUTE 'SELECT ' || statement USING gram;
			EXCEPTION WHEN $expected THEN
			END;
		END LOOP;
	END
	\$\$ LANGUAGE plpgsql;
));
}

# Bytes of a COPY file with one column and one row, which is all that lies around the value.
my $head = "PGCOPY\n\xff\r\n\0" . pack('NNn', 0, 0, 1);
my $tail = pack('n', 0xffff);
my @good;
for my $i (0 .. 5)
{
	$node->safe_psql('postgres',
		"COPY (SELECT gram FROM good ORDER BY gram::text OFFSET $i LIMIT 1) TO '$directory/good' WITH (FORMAT binary)");
	my $file = slurp_file("$directory/good");
	push @good, substr($file, length($head) + 4, length($file) - length($head) - 4 - length($tail));
}

# Each part of the head is looked at: what stands where, and what is said about something else.
my ($wide) = sort { length $b <=> length $a } @good;
for my $change (
	[ 0, 'n', 3, qr/unsupported version.*The value has version 3 and flags 0; this is version 2/s ],
	[ 0, 'n', 0, qr/unsupported version.*The value has version 0 and flags 0; this is version 2/s ],
	[ 0, 'n', 1, qr/invalid message format/ ],
	[ 2, 'n', 1, qr/unsupported version.*The value has version 2 and flags 1/s ],
	[ 4, 'N', -1, qr/number of features of type wml_gram is out of range: -1/ ],
	[ 4, 'N', 1025, qr/number of features of type wml_gram is out of range: 1025/ ],
	[ 4, 'N', 1024, qr/insufficient data left in message/ ],
	[ 4, 'N', 1, qr/invalid message format/ ],
	[ 8, 'N', 3, qr/its constant feature is out of range/ ],
	[ 8, 'N', -2, qr/its constant feature is out of range/ ],
	[ 12, 'q>', -1, qr/its row counts are out of range/ ],
	[ 20, 'q>', -1, qr/its row counts are out of range/ ],
	[ 28, 'q>', 1e6, qr/its row counts are out of range/ ],
	[ 36, 'q>', -1, qr/its row counts are out of range/ ],
	[ 36, 'q>', 1e6, qr/its row counts are out of range/ ],
	[ 44, 'q>', 1, qr/the unit of its squared weights is unknown/ ],
	[ 52, 'd>', -1, qr/a sum of squares or weights is not a non-negative double-double number/ ],
	[ 52, 'd>', 0, qr/it has rows but no weight/ ],
	[ 60, 'd>', 1, qr/a sum of squares or weights is not a non-negative double-double number/ ],
	[ 132, 'd>', -1, qr/a sum is not a double-double number/ ],
	[ length($wide) - 72, 'd>', 1, qr/a sum is not a double-double number/ ],
	[ length($wide) - 64, 'q>', 1, qr/its constant feature is not 1 in every row/ ],
	[ length($wide) - 56, 'q>', 1e6, qr/a feature differs from 1 in more rows than there are/ ],
	[ length($wide) - 8, 'q>', 1, qr/its counts of values that are not finite are out of range/ ])
{
	my ($offset, $format, $value, $message) = @$change;
	my $bytes = pack $format, $value;
	my $changed = $wide;
	substr($changed, $offset, length $bytes) = $bytes;
	open my $file, '>:raw', "$directory/changed" or die;
	print $file $head, pack('N', length $changed), $changed, $tail;
	close $file;
	my ($status, $stdout, $stderr) =
	  $node->psql('postgres', "COPY hostile FROM '$directory/changed' WITH (FORMAT binary)");
	like($stderr, $message, "binary: $value at $offset");
}

my @words = map { pack('H*', $_) } qw(
  0000000000000000 ffffffffffffffff 8000000000000000 7fffffffffffffff 7ff0000000000000 fff0000000000000
  7ff8000000000000 7ff4000000000001 0000000000000001 7fefffffffffffff ffefffffffffffff 0010000000000000
  3ff0000000000000 bff0000000000000 4340000000000000 0000000100000001 0001000000000003);

sub mutated
{
	my $value = $good[ rand @good ];
	for (0 .. rand 3)
	{
		my $kind = int rand 6;
		my $at = int rand length $value;
		if ($kind == 0) { vec($value, $at * 8 + rand 8, 1) ^= 1; }
		elsif ($kind == 1) { substr($value, $at, 1) = chr rand 256; }
		elsif ($kind == 2 && length $value >= 12)
		{
			# the words begin behind version, flags, number of features and constant
			my $word = 4 + 8 * int rand((length($value) - 4) / 8);
			substr($value, $word, 8) = $words[ rand @words ];
		}
		elsif ($kind == 3 && length $value >= 8) { substr($value, 4, 4) = pack 'N', rand 6; }
		elsif ($kind == 4) { $value = substr $value, 0, $at; }
		else { $value .= $words[ rand @words ] for 0 .. rand 4; }
		last if $value eq '';
	}
	return $value;
}

my $mutations = 4000;
for my $i (1 .. $mutations)
{
	my $value = mutated();
	open my $file, '>:raw', "$directory/$i" or die;
	print $file $head, pack('N', length $value), $value, $tail;
	close $file;
}
my $result = $node->safe_psql(
	'postgres', qq(
	CREATE TABLE outcome (state text);
	DO \$\$
	BEGIN
		FOR i IN 1 .. $mutations LOOP
			BEGIN
				EXECUTE format('COPY hostile FROM %L WITH (FORMAT binary)', '$directory/' || i);
				INSERT INTO outcome VALUES ('accepted');
			EXCEPTION WHEN OTHERS THEN
				INSERT INTO outcome VALUES (SQLSTATE);
			END;
		END LOOP;
	END
	\$\$;
	SELECT state, count(*) > $mutations / 50 FROM outcome GROUP BY state ORDER BY state;
));
is($result, "08P01|t\n22P03|t\naccepted|t", 'binary: accepted, too short, or invalid');
is($node->safe_psql('postgres', 'SELECT count(try_all(gram)) > 0 FROM hostile'), 't', 'binary: all that was accepted can be used');

# Text: characters, numbers and words exchanged, left out and repeated.
$result = $node->safe_psql(
	'postgres', qq(
	TRUNCATE hostile, outcome;
	SELECT setseed(0.5);
	DO \$\$
	DECLARE
		tokens text[] := ARRAY['', ' ', '0', '1', '-1', '-', '+', '.', 'e', 'E308', '1e309', '1e-400', 'NaN', 'Infinity', '-Infinity',
			'0x1p9', '9223372036854775807', '99999999999999999999', ';', ']', '}', '[', '=', 'd=', 'n=', '\\', '%s', U&'\\00e9', U&'\\2014'];
		good text[] := ARRAY(SELECT gram::text FROM good ORDER BY 1);
		input text;
		parts text[];
		at int;
	BEGIN
		FOR i IN 1 .. $mutations LOOP
			input := good[1 + i % array_length(good, 1)];
			FOR k IN 0 .. floor(random() * 3) LOOP
				-- one of the numbers, or any stretch of characters
				IF random() < 0.5 THEN
					parts := ARRAY(SELECT m[1] FROM regexp_matches(input, '[-+0-9.e]+|[^-+0-9.e]+', 'g') AS m);
					at := 1 + floor(random() * array_length(parts, 1));
					parts[at] := tokens[1 + floor(random() * array_length(tokens, 1))];
					input := array_to_string(parts, '');
				ELSE
					input := overlay(input PLACING tokens[1 + floor(random() * array_length(tokens, 1))]
						FROM 1 + floor(random() * length(input))::int FOR floor(random() * 4)::int);
				END IF;
				EXIT WHEN input = '';
			END LOOP;
			BEGIN
				INSERT INTO hostile VALUES (input::wml_gram);
				INSERT INTO outcome VALUES ('accepted');
			EXCEPTION WHEN OTHERS THEN
				INSERT INTO outcome VALUES (SQLSTATE);
			END;
		END LOOP;
	END
	\$\$;
	SELECT state, count(*) > $mutations / 50 FROM outcome GROUP BY state ORDER BY state;
));
is($result, "\n22P02|t\naccepted|t", 'text: accepted or invalid');
is($node->safe_psql('postgres', 'SELECT count(try_all(gram)) > 0 FROM hostile'), 't', 'text: all that was accepted can be used');

# An error quotes the input, but never half a character, which another encoding could not show.
my ($status, $stdout, $stderr) = $node->psql('postgres',
	q(SET client_encoding = latin1; SELECT (repeat('x', k) || repeat(U&'\00e9', 60))::wml_gram FROM generate_series(1, 1) AS k));
like($stderr, qr/invalid input syntax for type wml_gram: "x\xe9+"/, 'a clipped quotation');

# Pages can be damaged without anybody noticing.  The bytes of each gram are found in the file by what
# they are, and changed behind the length, which is the server's own to trust.
my $copies = 500;
$node->safe_psql(
	'postgres', qq(
	CREATE TABLE damaged (gram wml_gram);
	INSERT INTO damaged SELECT gram FROM good, generate_series(1, $copies);
	CHECKPOINT;
));
my $path = $node->data_dir . '/' . $node->safe_psql('postgres', q(SELECT pg_relation_filepath('damaged')));
$node->stop;
my $pages = slurp_file($path);
my $damaged = 0;
for my $good (@good)
{
	# the same numbers, in the order of this machine's bytes
	my ($version, $flags, $dims, $constant, @sums) = unpack 'nnNNQ>*', $good;
	my $stored = pack 'SSLLQ*', $version, $flags, $dims, $constant, @sums;
	my $from = 0;
	while ((my $at = index $pages, $stored, $from) >= 0)
	{
		$from = $at + length $stored;
		$damaged++;
		if ($damaged % 4 == 0)
		{
			# what is an index or a size: dims and constant
			substr($pages, $at + 4 + 4 * int rand 2, 4) = pack 'l', (-3 - $dims, 1024, -2, $dims + 1, 1e9, -1e9, 0, 1)[ rand 8 ];
			next;
		}
		for (0 .. rand 3)
		{
			# half of the time in the head
			my $place = $at + int rand(rand() < 0.5 && length $stored > 40 ? 40 : length $stored);
			if (rand() < 0.7) { substr($pages, $place, 1) ^= chr(1 << rand 8); }
			else { substr($pages, $at + 4 + 8 * int rand((length($stored) - 4) / 8), 8) = $words[ rand @words ]; }
		}
	}
}
is($damaged, $copies * @good, 'all grams are found in the file');
open my $relation, '>:raw', $path or die;
print $relation $pages;
close $relation;
$node->start;
is( $node->safe_psql('postgres', 'SELECT count(try_damaged(gram)) FROM damaged'),
	$damaged, 'grams on damaged pages are said to be damaged, or can be used');
like(($node->psql('postgres', 'SELECT sum(wml_n(gram)) FROM damaged'))[2],
	qr/stored gram is corrupted.*The gram is not valid: it/s, 'an error says so');

unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'the server never crashed');
$node->stop;
done_testing();
