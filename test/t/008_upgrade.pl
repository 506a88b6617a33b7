# Version 0.1.0, upgraded, has the catalog of a fresh installation, and what 0.1.0 stored is read to the
# bit.  test/bin/with-postgres puts the script of 0.1.0 beside the installed ones.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->start;
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'fresh', 'upgraded';
$node->safe_psql('fresh', 'CREATE EXTENSION wml');
$node->safe_psql('upgraded', q(CREATE EXTENSION wml VERSION '0.1.0'));

# Tables that hold the types stay; the bytes on their pages are those that 0.1.0 wrote.
$node->safe_psql('upgraded', slurp_file('test/upgrade/values_0.1.0.sql'));
foreach my $type ('wml_gram', 'wml_prior', 'wml_mlp')
{
	$node->safe_psql('upgraded', qq(
		CREATE TABLE old_$type (value bytea, number int);
		ALTER TABLE old_$type ALTER value SET STORAGE external;
		INSERT INTO old_$type SELECT stored, number FROM stored_by_0_1_0 WHERE type = '$type';
		UPDATE pg_attribute SET atttypid = '$type'::regtype, attalign = 'd' WHERE attrelid = 'old_$type'::regclass AND attname = 'value';
	));
}
$node->safe_psql('upgraded', 'ALTER EXTENSION wml UPDATE');
is($node->safe_psql('upgraded', q(SELECT extversion FROM pg_extension WHERE extname = 'wml')),
	$node->safe_psql('fresh', q(SELECT extversion FROM pg_extension WHERE extname = 'wml')), 'the newest version');

# All that the catalogs say of the members, but for their numbers.
my $catalog = q(
	WITH member AS (
		SELECT classid, objid, pg_describe_object(classid, objid, 0) AS name FROM pg_depend
		WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'wml') AND deptype = 'e'
	)
	SELECT concat_ws(' | ', name, obj_description(objid, classid::regclass::name),
		(SELECT concat_ws(' ', proargnames, pg_get_function_arguments(oid), pg_get_function_result(oid), prosrc, probin, procost, prorows, provolatile, proisstrict,
						  proretset, proparallel, prosecdef, proconfig, prosupport, proacl)
		 FROM pg_proc WHERE classid = 'pg_proc'::regclass AND oid = objid),
		(SELECT concat_ws(' ', aggkind, aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn, aggfinalextra,
						  aggfinalmodify, aggtranstype::regtype, aggtransspace, aggmtranstype::regtype, aggmtransspace, agginitval, aggminitval)
		 FROM pg_aggregate WHERE classid = 'pg_proc'::regclass AND aggfnoid = objid),
		(SELECT concat_ws(' ', typlen, typbyval, typtype, typinput, typoutput, typreceive, typsend, typalign, typstorage,
						  (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = typrelid AND attnum > 0))
		 FROM pg_type WHERE classid = 'pg_type'::regclass AND oid = objid),
		(SELECT concat_ws(' ', oprcode, oprcom::regoperator, oprnegate::regoperator, oprrest, oprjoin, oprcanmerge, oprcanhash)
		 FROM pg_operator WHERE classid = 'pg_operator'::regclass AND oid = objid),
		(SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull, ', ' ORDER BY attnum) FROM pg_attribute
		 WHERE classid = 'pg_class'::regclass AND attrelid = objid AND attnum > 0),
		(SELECT relacl::text FROM pg_class WHERE classid = 'pg_class'::regclass AND oid = objid))
	FROM member ORDER BY 1);
my %fresh = map { $_ => 1 } split /\n/, $node->safe_psql('fresh', $catalog);
my %upgraded = map { $_ => 1 } split /\n/, $node->safe_psql('upgraded', $catalog);
is_deeply([ grep { !$upgraded{$_} } sort keys %fresh ], [], 'nothing is missing after the upgrade');
is_deeply([ grep { !$fresh{$_} } sort keys %upgraded ], [], 'nothing is left of before');
cmp_ok(scalar keys %fresh, '>', 100, 'there was something to compare');

# What 0.1.0 stored says the same in every figure, from the page, from text and from binary.
is($node->safe_psql('upgraded', q(
	SELECT count(*) FROM old_wml_gram JOIN stored_by_0_1_0 AS s USING (number)
	WHERE s.type = 'wml_gram' AND (value::text = as_text::wml_gram::text) IS NOT TRUE)), '0', 'grams on pages are those of the text form');
is($node->safe_psql('upgraded', q(
	SELECT (wml_n(value), wml_skipped(value), wml_weight(value), wml_second_moment(value), wml_mean(value)) FROM old_wml_gram WHERE number = 1)),
	$node->safe_psql('fresh', q(
	SELECT (wml_n(value), wml_skipped(value), wml_weight(value), wml_second_moment(value), wml_mean(value))
	FROM (SELECT wml_gram(ARRAY[1, i / 3.0, sin(i)], exp(sin(i)) * 1e3) AS value FROM generate_series(1, 30) AS i) AS t)), 'the same rows collected today');
is($node->safe_psql('upgraded', q(
	SELECT bool_and(value = (as_text::wml_gram)) FROM old_wml_gram JOIN stored_by_0_1_0 AS s USING (number) WHERE s.type = 'wml_gram' AND number IN (1, 2, 5, 6))), 't', 'equal');
is($node->safe_psql('upgraded', q(
	SELECT wml_prior_mean(value) = wml_prior_mean(as_text::wml_prior) AND wml_prior_covariance(value) = wml_prior_covariance(as_text::wml_prior) AND
		   wml_prior_noise(value) = wml_prior_noise(as_text::wml_prior)
	FROM old_wml_prior JOIN stored_by_0_1_0 AS s USING (number) WHERE s.type = 'wml_prior')), 't', 'a prior');
is($node->safe_psql('upgraded', q(
	SELECT value::text = as_text FROM old_wml_mlp JOIN stored_by_0_1_0 AS s USING (number) WHERE s.type = 'wml_mlp')), 't', 'a network');

# Binary forms of 0.1.0, as a client or COPY sends them.
my $directory = PostgreSQL::Test::Utils::tempdir();
foreach my $type ('wml_gram', 'wml_prior', 'wml_mlp')
{
	my @hex = split /\n/, $node->safe_psql('upgraded', "SELECT encode(as_binary, 'hex') FROM stored_by_0_1_0 WHERE type = '$type' ORDER BY number");
	open my $file, '>:raw', "$directory/$type" or die $!;
	print $file "PGCOPY\n\xff\r\n\0", pack('NN', 0, 0);
	foreach my $bytes (map { pack 'H*', $_ } @hex)
	{
		print $file pack('nN', 1, length $bytes), $bytes;
	}
	print $file pack('n', 0xffff);
	close $file;
	$node->safe_psql('upgraded', "CREATE TABLE sent_$type (value $type, number int GENERATED ALWAYS AS IDENTITY);\n\\copy sent_$type (value) FROM '$directory/$type' BINARY");
	is($node->safe_psql('upgraded', "SELECT bool_and(sent.value::text = old.value::text) FROM sent_$type AS sent JOIN old_$type AS old USING (number)"),
		't', "$type in binary form");
}

$node->stop;
done_testing();
