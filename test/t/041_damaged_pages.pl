# Bytes change on disk without anybody noticing: priors, networks and states of aggregates from damaged pages
# are each an error or an answer in every function that takes them.  Grams are in 004_gram_hostile.pl.
#
# DAMAGED_VALUES: how many of each type, 200 unless told.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $count = $ENV{DAMAGED_VALUES} || 200;
srand(41);    # the same damage every time

my $node = PostgreSQL::Test::Cluster->new('pages');
$node->init(no_data_checksums => 1, extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', 'log_min_messages = fatal');
$node->start;
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TABLE example AS
	SELECT task, ARRAY[1, sin(i * task), cos(i * i)] AS x, sign(sin(i + task)) AS y
	FROM generate_series(1, 9) AS i, generate_series(1, 6) AS task;
	CREATE TABLE gram AS SELECT task, wml_gram(x, y) AS gram, wml_gram(wml_unit(x, 4), y) AS unit FROM example GROUP BY task;
	CREATE AGGREGATE model_state(wml_gram, float8, wml_step) (SFUNC = wml_model_accum, STYPE = wml_model_state, INITCOND = '{v=1 model=fomaml}');
	CREATE AGGREGATE hinge_state(wml_gram, float8, wml_step) (SFUNC = wml_model_accum, STYPE = wml_model_state, INITCOND = '{v=1 model=hinge}');
	CREATE AGGREGATE auc_state(float8, float8) (SFUNC = wml_auc_accum, STYPE = wml_auc_state);
	-- transition and combine functions are called in aggregates only
	CREATE AGGREGATE any_model(wml_model_state) (SFUNC = wml_model_combine, STYPE = wml_model_state, FINALFUNC = wml_model_final);
	CREATE AGGREGATE any_auc(wml_auc_state) (SFUNC = wml_auc_combine, STYPE = wml_auc_state, FINALFUNC = wml_auc_final);
));

my %honest = (
	wml_prior => q(
		SELECT wml_prior(array_agg(gram)) FROM gram
		UNION ALL SELECT wml_prior(array_agg(gram), covariance => 'diagonal', noise => 'own', tasks => 't') FROM gram
		UNION ALL SELECT wml_prior(gram, 1, wml_prior_options(), ARRAY[task]::float8[]) FROM gram
		UNION ALL SELECT wml_glm_prior('SELECT task, x, (y > 0)::int FROM example', iterations => 3)
		UNION ALL SELECT wml_glm_prior('SELECT task, x, y + 1 FROM example', 'poisson', iterations => 3)),
	wml_mlp => q(
		SELECT wml_mlp_train('SELECT task, x, y FROM example', 'SELECT x, y FROM example', '{3}', iterations => 3)
		UNION ALL SELECT wml_mlp_train('SELECT task, x, y FROM example', 'SELECT x, y FROM example', '{2,4}', iterations => 3, standardize => true)),
	wml_model_state => q(
		SELECT model_state(gram, 1, wml_step(eta => 40, steps => 9)) FROM gram
		UNION ALL SELECT model_state(gram, 1, wml_step()) FROM gram
		UNION ALL SELECT hinge_state(unit, 1, wml_step()) FROM gram),
	wml_auc_state => 'SELECT auc_state(x[2], y) FROM example GROUP BY task');

# What the catalog does not tell how to call; $1 is the value.
my %calls = (
	wml_prior => [ 'wml_target_gram(x, 1, $1) FROM example', '$1::text::wml_prior' ],
	wml_mlp => ['$1::text::wml_mlp'],
	wml_model_state => [ 'any_model($1)', 'any_model(s) FROM unnest(ARRAY[$1, $1]) AS s', '$1::text::wml_model_state' ],
	wml_auc_state => [ 'any_auc($1)', 'any_auc(s) FROM unnest(ARRAY[$1, $1]) AS s', '$1::text::wml_auc_state' ]);

my @doubles = map { pack 'd', $_ } 0, 1, -1, 0.5, 9**9**9, -9**9**9, -sin(9**9**9), 1e308, -1e308, 5e-324, 1e154, 1e9;
my @integers = (0, 1, 2, 3, 4, 255, 1023, 1024, 1025, 65535, 2**31 - 1, -2**31, -1, -2, -3, -4, 1e9, -1e9);

# One of the values, with some bytes changed behind its length, which is the server's own to trust.
sub damaged
{
	my ($value) = @_;
	my $head = length $value < 60 ? length $value : 60;
	for (0 .. rand 3)
	{
		my $kind = int rand 5;
		if ($kind < 2) { substr($value, 4 * int rand($head / 4), 4) = pack 'l', $integers[ rand @integers ]; }
		elsif ($kind == 2) { substr($value, 2 * int rand($head / 2), 2) = pack 's', $integers[ rand 10 ]; }
		elsif ($kind == 3) { substr($value, int rand length $value, 1) ^= chr(1 << rand 8); }
		elsif (length $value >= 12) { substr($value, 4 + 8 * int rand((length($value) - 4) / 8), 8) = $doubles[ rand @doubles ]; }
	}
	return $value;
}

my %files;
for my $type (sort keys %honest)
{
	$node->safe_psql(
		'postgres', qq(
		CREATE FUNCTION bytes($type, int) RETURNS bytea AS 'bytea_substr_no_len' LANGUAGE internal IMMUTABLE STRICT;
		CREATE TABLE page_$type (value $type);
		ALTER TABLE page_$type ALTER value SET STORAGE plain;
		INSERT INTO page_$type SELECT value FROM ($honest{$type}) AS h (value), generate_series(1, $count) AS i
		WHERE i % (SELECT count(*) FROM ($honest{$type}) AS h) = 0;
	));
	$files{$type} = {
		path => $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('page_$type')"),
		values => [ map { pack 'H*', $_ } split /\n/, $node->safe_psql('postgres', "SELECT DISTINCT encode(bytes(value, 1), 'hex') FROM page_$type") ]
	};
}
$node->stop;
for my $type (sort keys %files)
{
	my $pages = slurp_file($files{$type}{path});
	my $found = 0;
	for my $value (@{ $files{$type}{values} })
	{
		for (my $at = 0; ($at = index $pages, $value, $at) >= 0; $at += length $value)
		{
			substr($pages, $at, length $value) = damaged($value);
			$found++;
		}
	}
	$files{$type}{found} = $found;
	open my $file, '>:raw', $files{$type}{path} or die;
	print $file $pages;
	close $file;
}
$node->start;

# Every function with sample values for its other arguments; those that need more than that are above, or in
# 040_hostile_states.pl.
$node->safe_psql(
	'postgres', q(
	CREATE TABLE outcome (type regtype, state text);
	CREATE FUNCTION calls(wanted regtype) RETURNS SETOF text LANGUAGE sql AS $$
		SELECT format('%I.%I(%s)', nspname, proname, string_agg(given, ', ' ORDER BY place))
		FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace,
			unnest(proargtypes[0:pronargs - pronargdefaults - 1]) WITH ORDINALITY AS a (type, place),
			LATERAL (SELECT CASE type WHEN wanted THEN '$1' WHEN 'wml_gram'::regtype THEN '(SELECT gram FROM gram WHERE task = 1)'
				WHEN 'wml_gram[]'::regtype THEN '(SELECT array_agg(gram) FROM gram)' WHEN 'float8[]'::regtype THEN 'ARRAY[1, 0.3, 0.1]::float8[]'
				WHEN 'float8'::regtype THEN '0.5::float8' WHEN 'int4'::regtype THEN '3' WHEN 'bool'::regtype THEN 'true' END AS given) AS v
		WHERE prokind = 'f' AND proname LIKE 'wml%'
		GROUP BY p.oid, nspname, proname HAVING count(given) = count(*) AND bool_or(type = wanted)
	$$;
	CREATE PROCEDURE try_all(wanted regtype, more text[]) LANGUAGE plpgsql AS $$
	DECLARE
		statement text;
		statements text[] := ARRAY(SELECT calls(wanted)) || more;
		state text;
		place tid;
	BEGIN
		FOR place IN EXECUTE format('SELECT ctid FROM page_%s', wanted) LOOP
			FOREACH statement IN ARRAY statements LOOP
				BEGIN
					EXECUTE 'SELECT ' || replace(statement, '$1', format('(SELECT value FROM page_%s WHERE ctid = %L)', wanted, place));
					state := 'answered';
				EXCEPTION WHEN OTHERS THEN
					state := SQLSTATE;
				END;
				INSERT INTO outcome VALUES (wanted, state);
			END LOOP;
		END LOOP;
	END $$;
));
for my $type (sort keys %files)
{
	my $more = join ', ', map { "\$s\$$_\$s\$" } @{ $calls{$type} };
	$node->safe_psql('postgres', "SET client_min_messages = error; CALL try_all('$type', ARRAY[$more])");
	my %seen = map { split /\|/ } split /\n/,
	  $node->safe_psql('postgres', "SELECT state, count(*) FROM outcome WHERE type = '$type'::regtype GROUP BY state ORDER BY state");
	my @bad = grep { $_ !~ /^(answered|XX001|22...|0A000|54000|53200)$/ } keys %seen;
	ok( $files{$type}{found} > $count / 2 && !@bad && $seen{answered} && $seen{XX001},
		"$type, $files{$type}{found} values: " . join(', ', map { "$_ $seen{$_}" } sort keys %seen));
}
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'the server never crashed');
$node->stop;
done_testing();
