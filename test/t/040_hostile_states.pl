# States of aggregates are untrusted, whatever their type: anybody may feed the transition, combine and final
# functions through an aggregate of their own, and a damaged page passes no input function.  Mutated states, as raw
# bytes and in binary and text form, are each an error or an answer; none ends the server.
#
# HOSTILE_STATES: how many for each function, 1200 unless told; the models share those of a function.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $count = $ENV{HOSTILE_STATES} || 1200;
$| = 1;
srand(40);    # the same mutations every time

my $node = PostgreSQL::Test::Cluster->new('states');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "fsync = off\nlog_min_messages = fatal");
$node->start;
my $directory = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;

	-- raw bytes of a state and back, past every check: only a superuser can make these
	CREATE FUNCTION bytes(wml_model_state, int) RETURNS bytea AS 'bytea_substr_no_len' LANGUAGE internal IMMUTABLE STRICT;
	CREATE FUNCTION bytes(wml_auc_state, int) RETURNS bytea AS 'bytea_substr_no_len' LANGUAGE internal IMMUTABLE STRICT;
	CREATE FUNCTION model_state(bytea, int) RETURNS wml_model_state AS 'bytea_substr_no_len' LANGUAGE internal IMMUTABLE STRICT;
	CREATE FUNCTION auc_state(bytea, int) RETURNS wml_auc_state AS 'bytea_substr_no_len' LANGUAGE internal IMMUTABLE STRICT;
	CREATE TABLE good (gram wml_gram, task int);
	INSERT INTO good
	SELECT wml_gram(wml_unit(ARRAY[1, sin(i * task), 3 * cos(i * i + task)], 4), sign(sin(i + task))), task
	FROM generate_series(1, 9) AS i, generate_series(1, 6) AS task GROUP BY task;
));

# For each model an aggregate that gives its state, and what to do with a state: each function by itself.  Large
# steps make equations and, for first-order MAML and Reptile, saddle points.
my %models = (
	erm => 'wml_step(ridge => 0.1)',
	maml => 'wml_step(eta => 40, steps => 9)',
	fomaml => 'wml_step(eta => 40, steps => 9)',
	reptile => 'wml_step(eta => 40, steps => 8)',
	hinge => 'wml_step()',
	hinge_maml => 'wml_step(steps => 3)');
for my $model (sort keys %models)
{
	$node->safe_psql(
		'postgres', qq(
		CREATE AGGREGATE ${model}_state(wml_gram, float8, wml_step) (SFUNC = wml_model_accum, STYPE = wml_model_state, INITCOND = '{v=1 model=$model}');
		CREATE TABLE state_$model AS
		SELECT bytes(${model}_state(gram, task, $models{$model}), 1) AS state FROM good
		UNION ALL SELECT bytes(${model}_state(gram, task, wml_step()), 1) FROM good
		UNION ALL SELECT bytes('{v=1 model=$model}'::wml_model_state, 1);
	));
}
$node->safe_psql(
	'postgres', q(
	CREATE AGGREGATE auc_state(float8, float8) (SFUNC = wml_auc_accum, STYPE = wml_auc_state);
	CREATE TABLE state_auc AS SELECT bytes(auc_state(sin(i), cos(3 * i)), 1) AS state FROM generate_series(1, 40) AS i GROUP BY i % 3;

	-- SFUNC returns the state that is given, so that the final function sees it
	CREATE FUNCTION given(wml_model_state, bytea) RETURNS wml_model_state LANGUAGE sql AS 'SELECT model_state($2, 1)';
	CREATE FUNCTION given(wml_auc_state, bytea) RETURNS wml_auc_state LANGUAGE sql AS 'SELECT auc_state($2, 1)';
	CREATE AGGREGATE model_final(bytea) (SFUNC = given, STYPE = wml_model_state, FINALFUNC = wml_model_final);
	CREATE AGGREGATE auc_final(bytea) (SFUNC = given, STYPE = wml_auc_state, FINALFUNC = wml_auc_final);

	CREATE AGGREGATE model_combine_final(wml_model_state) (SFUNC = wml_model_combine, STYPE = wml_model_state, FINALFUNC = wml_model_final);
	CREATE AGGREGATE auc_combine(wml_auc_state) (SFUNC = wml_auc_combine, STYPE = wml_auc_state, FINALFUNC = wml_auc_final);

	-- the outcome of a statement, as an SQLSTATE
	CREATE FUNCTION outcome(statement text, state bytea, good bytea) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE statement USING state, good;
		RETURN 'answered';
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END $$;

	CREATE FUNCTION mutated(state bytea) RETURNS bytea LANGUAGE plpgsql VOLATILE AS $$
	DECLARE
		words bytea[] := ARRAY['\x0000000000000000', '\xffffffffffffffff', '\x0000000000000080', '\xffffffffffffff7f', '\x000000000000f07f',
			'\x000000000000f0ff', '\x000000000000f87f', '\x0100000000000000', '\xffffffffffffef7f', '\xffffffffffffefff', '\x0000000000001000',
			'\x000000000000f03f', '\x000000000000f0bf', '\x0000000000000040', '\x000000000000e03f', '\x0100000001000000'];
		deep bool := random() < 0.7;
		kind int;
		place int;
	BEGIN
		FOR i IN 0 .. floor(random() * 3) LOOP
			kind := floor(random() * 8);
			CONTINUE WHEN length(state) < 64;
			-- mostly among the sums, whose flags and counts come first; the head is soon refused
			IF deep OR kind = 2 THEN
				place := floor(random() * random() * ((length(state) - 52) / 8))::int;
				state := overlay(state PLACING words[1 + floor(random() * cardinality(words))::int] FROM 53 + 8 * place FOR 8);
			ELSIF kind = 0 THEN state := set_bit(state, floor(random() * length(state) * 8)::int, floor(random() * 2)::int);
			ELSIF kind = 1 THEN state := set_byte(state, floor(random() * length(state))::int, floor(random() * 256)::int);
			ELSIF kind <= 4 THEN
				place := floor(random() * 6)::int;
				state := overlay(state PLACING words[1 + floor(random() * cardinality(words))::int] FROM 5 + 8 * place FOR 8);
			ELSIF kind = 5 THEN state := set_byte(state, floor(random() * 16)::int, floor(random() * 8)::int);
			ELSIF kind = 6 THEN state := substr(state, 1, floor(random() * length(state))::int);
			ELSE state := state || words[1 + floor(random() * cardinality(words))::int];
			END IF;
		END LOOP;
		RETURN state;
	END $$;
));

my @uses = (
	[ 'wml_model_final', 'SELECT model_final($1)' ],
	[ 'wml_model_combine', 'SELECT model_combine_final(model_state(s, 1)) FROM unnest(ARRAY[$2, $1]) AS s' ],
	[ 'wml_model_state_out', 'SELECT model_state($1, 1)::text' ],
	[ 'wml_model_state_send', 'SELECT wml_model_state_send(model_state($1, 1))' ]);
my @auc_uses = (
	[ 'wml_auc_final', 'SELECT auc_final($1)' ],
	[ 'wml_auc_combine', 'SELECT auc_combine(auc_state(s, 1)) FROM unnest(ARRAY[$2, $1, $2]) AS s' ],
	[ 'wml_auc_state_out', 'SELECT auc_state($1, 1)::text' ],
	[ 'wml_auc_state_send', 'SELECT wml_auc_state_send(auc_state($1, 1))' ]);

my $share = int($count / keys %models);

# What a mutated state may lead to: an answer, or one of these: corrupted, out of range, other data exceptions.
my $allowed = qr/^(answered|XX001|22003|22000|22023|22004|54000)$/;

sub check_outcomes
{
	my ($name, $table, $statement, $count) = @_;
	my $outcomes = $node->safe_psql(
		'postgres', qq(
		SELECT setseed(0.4);
		SELECT outcome, count(*)
		FROM (SELECT outcome(\$s\$$statement\$s\$, mutated(state), other) AS outcome
			  FROM (SELECT row_number() OVER () AS place, state, first_value(state) OVER () AS other FROM $table) AS states,
				   generate_series(1, $count) AS i WHERE i % (SELECT count(*) FROM $table) = place - 1) AS tried
		GROUP BY outcome ORDER BY outcome));
	my %seen = map { split /\|/ } grep { /\|/ } split /\n/, $outcomes;
	my @bad = grep { $_ !~ $allowed } keys %seen;
	my $total = 0;
	$total += $_ for values %seen;
	ok(!@bad && $total == $count, "$name, $table: " . join(', ', map { "$_ $seen{$_}" } sort keys %seen));
}

for my $model (sort keys %models)
{
	check_outcomes($_->[0], "state_$model", $_->[1], $share) for @uses;
}
check_outcomes($_->[0], 'state_auc', $_->[1], $count) for @auc_uses;

# Binary form: files of COPY with one column and one row, which is all that lies around the value.
my $head = "PGCOPY\n\xff\r\n\0" . pack('NNn', 0, 0, 1);
my $tail = pack('n', 0xffff);
my @words = map { pack('H*', $_) } qw(
  0000000000000000 ffffffffffffffff 8000000000000000 7ff0000000000000 7ff8000000000000 0000000000000001
  7fefffffffffffff 3ff0000000000000 bff0000000000000 3fe0000000000000 0000000100000001);

sub mutated_binary
{
	my ($value) = @_;
	for (0 .. rand 3)
	{
		my $kind = int rand 5;
		last if length $value < 16;
		if ($kind == 0) { substr($value, int rand length $value, 1) = chr rand 256; }
		elsif ($kind == 1) { substr($value, int rand 16, 1) = chr rand 8; }
		elsif ($kind == 2) { substr($value, 8 * int rand(length($value) / 8), 8) = $words[ rand @words ]; }
		elsif ($kind == 3) { $value = substr $value, 0, int rand length $value; }
		else { $value .= $words[ rand @words ]; }
	}
	return $value;
}

for my $type ('model', 'auc')
{
	my $tables = $type eq 'auc' ? 'state_auc' : 'state_fomaml';
	my @good = map { pack 'H*', $_ } split /\n/, $node->safe_psql('postgres',
		"SELECT encode(wml_${type}_state_send(${type}_state(state, 1)), 'hex') FROM $tables");
	$node->safe_psql('postgres', "CREATE TABLE received_$type (state wml_${type}_state)");
	for my $i (1 .. $count)
	{
		my $value = mutated_binary($good[ rand @good ]);
		open my $file, '>:raw', "$directory/$i" or die;
		print $file $head, pack('N', length $value), $value, $tail;
		close $file;
	}
	my $final = $type eq 'auc' ? 'auc_combine' : 'model_combine_final';
	my $outcomes = $node->safe_psql(
		'postgres', qq(
		CREATE FUNCTION receive_$type(i int) RETURNS text LANGUAGE plpgsql AS \$\$
		BEGIN
			DELETE FROM received_$type;
			EXECUTE format('COPY received_$type FROM %L WITH (FORMAT binary)', '$directory/' || i);
			PERFORM $final(state) FROM received_$type;
			IF EXISTS (SELECT FROM received_$type WHERE state::text::wml_${type}_state::text <> state::text) THEN
				RETURN 'text differs';
			END IF;
			RETURN 'answered';
		EXCEPTION WHEN OTHERS THEN
			RETURN SQLSTATE;
		END \$\$;
		CREATE TABLE received_outcome_$type (outcome text);
		CREATE PROCEDURE receive_all_$type() LANGUAGE plpgsql AS \$\$
		BEGIN
			FOR i IN 1 .. $count LOOP
				INSERT INTO received_outcome_$type VALUES (receive_$type(i));
				COMMIT;
			END LOOP;
		END \$\$;
		CALL receive_all_$type();
		SELECT outcome, count(*) FROM received_outcome_$type GROUP BY outcome ORDER BY outcome));
	my %seen = map { split /\|/ } split /\n/, $outcomes;
	my @bad = grep { $_ !~ /^(answered|22P03|08P01|22003|22000)$/ } keys %seen;
	ok(!@bad && $seen{answered} && $seen{'22P03'}, "wml_${type}_state_recv: " . join(', ', map { "$_ $seen{$_}" } sort keys %seen));
}

# What a transition function finds as its state comes from INITCOND and so through the input function, unless the
# catalog is changed: now it takes any bytes.
$node->safe_psql(
	'postgres', q(
	CREATE AGGREGATE forged_accum(wml_gram, float8, wml_step) (SFUNC = wml_model_accum, STYPE = wml_model_state, FINALFUNC = wml_model_final, INITCOND = '{v=1 model=erm}');
	CREATE AGGREGATE forged_combine(wml_model_state) (SFUNC = wml_model_combine, STYPE = wml_model_state, FINALFUNC = wml_model_final, INITCOND = '{v=1 model=erm}');
	CREATE AGGREGATE forged_auc_accum(float8, float8) (SFUNC = wml_auc_accum, STYPE = wml_auc_state, FINALFUNC = wml_auc_final, INITCOND = '{v=1 positives=0 negatives=0 scores=[;]}');
	CREATE AGGREGATE forged_auc_combine(wml_auc_state) (SFUNC = wml_auc_combine, STYPE = wml_auc_state, FINALFUNC = wml_auc_final, INITCOND = '{v=1 positives=0 negatives=0 scores=[;]}');
	UPDATE pg_type SET typinput = 'byteain'::regproc WHERE typname IN ('wml_model_state', 'wml_auc_state');
	CREATE TABLE tried (outcome text);
	CREATE PROCEDURE forge(aggregate regproc, states regclass, statement text, count int) LANGUAGE plpgsql AS $$
	DECLARE
		honest bytea[];
		state bytea;
	BEGIN
		TRUNCATE tried;
		EXECUTE 'SELECT array_agg(state) FROM ' || states INTO honest;
		FOR i IN 1 .. count LOOP
			state := mutated(honest[1 + i % cardinality(honest)]);
			UPDATE pg_aggregate SET agginitval = state::text WHERE aggfnoid = aggregate;
			INSERT INTO tried VALUES (outcome(statement, state, honest[1]));
			IF i % 20 = 0 THEN COMMIT; END IF;
		END LOOP;
	END $$;
));

sub check_forged
{
	my ($aggregate, $table, $statement, $count) = @_;
	my $outcomes = $node->safe_psql(
		'postgres', qq(
		SELECT setseed(0.4);
		CALL forge('$aggregate', '$table', \$s\$$statement\$s\$, $count);
		SELECT outcome, count(*) FROM tried GROUP BY outcome));
	my %seen = map { split /\|/ } grep { /\|/ } split /\n/, $outcomes;
	my @bad = grep { $_ !~ $allowed } keys %seen;
	my $total = 0;
	$total += $_ for values %seen;
	ok(!@bad && $total == $count && $seen{answered} && $seen{XX001},
		"$aggregate, $table: " . join(', ', map { "$_ $seen{$_}" } sort keys %seen));
}

for my $model (sort keys %models)
{
	check_forged('forged_accum', "state_$model", "SELECT forged_accum(gram, 1, $models{$model}) FROM good", $share);
	check_forged('forged_combine', "state_$model", 'SELECT forged_combine(model_state($2, 1))', $share);
}
check_forged('forged_auc_accum', 'state_auc', 'SELECT forged_auc_accum(sin(i), cos(i)) FROM generate_series(1, 20) AS i', $count);
check_forged('forged_auc_combine', 'state_auc', 'SELECT forged_auc_combine(auc_state($2, 1))', $count);

# Nothing that takes a state of ours is missing here.  States that are grams or arrays are made by test/fuzz.
is( $node->safe_psql(
		'postgres', q(
	SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM pg_proc, unnest(proargtypes) AS argument
	WHERE proname LIKE 'wml%' AND argument IN (SELECT oid FROM pg_type WHERE typname LIKE 'wml%state'))),
	'wml_auc_accum wml_auc_combine wml_auc_final wml_auc_state_out wml_auc_state_send '
	  . 'wml_model_accum wml_model_combine wml_model_final wml_model_state_out wml_model_state_send',
	'functions that take a state');

# No server process has ended in the meantime.
unlike(slurp_file($node->logfile), qr/terminated by signal/, 'no crash');
$node->stop;
done_testing();
