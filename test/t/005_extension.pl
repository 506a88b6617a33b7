# The extension comes and goes without traces, in any schema.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('extension');
$node->init;
$node->start;

my $objects = q(
	SELECT (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_type), (SELECT count(*) FROM pg_operator),
		   (SELECT count(*) FROM pg_aggregate), (SELECT count(*) FROM pg_cast), (SELECT count(*) FROM pg_depend),
		   (SELECT count(*) FROM pg_description), (SELECT count(*) FROM pg_opclass), (SELECT count(*) FROM pg_namespace));
my $before = $node->safe_psql('postgres', $objects);

$node->safe_psql('postgres', 'CREATE EXTENSION wml');
isnt($node->safe_psql('postgres', $objects), $before, 'created');
$node->safe_psql('postgres', 'DROP EXTENSION wml');
is($node->safe_psql('postgres', $objects), $before, 'nothing is left behind');

# Everything is prefixed, commented on where people will look, and knows what the planner wants to know.
$node->safe_psql('postgres', 'CREATE EXTENSION wml');
is( $node->safe_psql(
		'postgres', q(
	SELECT proname FROM pg_depend JOIN pg_proc ON pg_proc.oid = objid AND classid = 'pg_proc'::regclass
	WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'wml') AND deptype = 'e' AND (proname !~ '^wml_' OR provolatile = 'v' AND prokind <> 'p' AND proname !~ '^wml_(mlp|svm|glm)_train$|^wml_glm_prior$|^wml_(learn|live|fold|follow|refresh|drop|guard|rehearse|pass_run)')
)), '', 'names and volatility of functions');
is( $node->safe_psql(
		'postgres', q(
	SELECT pg_proc.oid::regprocedure FROM pg_depend JOIN pg_proc ON pg_proc.oid = objid AND classid = 'pg_proc'::regclass
	WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'wml') AND deptype = 'e' AND obj_description(pg_proc.oid, 'pg_proc') IS NULL AND
		  -- parts of types and aggregates speak through these
		  proname !~ '_(in|out|recv|send|accum|accum_moving|retract|combine|final|serial|deserial|finish|step)$'
)), '', 'every function has a comment');

# A value in a table holds the extension, unless it goes along.
$node->safe_psql('postgres', 'CREATE TABLE task AS SELECT wml_gram(ARRAY[1, 2], 3) AS gram');
my ($status, $stdout, $stderr) = $node->psql('postgres', 'DROP EXTENSION wml');
like($stderr, qr/cannot drop extension wml because other objects depend on it/, 'a column keeps the extension');
$node->safe_psql('postgres', 'DROP TABLE task; DROP EXTENSION wml');

# In any schema.
$node->safe_psql('postgres', 'CREATE SCHEMA "Else where"; CREATE EXTENSION wml SCHEMA "Else where"');
is( $node->safe_psql(
		'postgres', q(
	SET search_path = pg_catalog;
	SELECT "Else where".wml_n("Else where".wml_gram(ARRAY[1, i], i)), "Else where".wml_mean("Else where".wml_gram(ARRAY[1, i], i))
	FROM generate_series(1, 3) AS i;
	CREATE TABLE public.task AS
	SELECT i % 2 AS task, "Else where".wml_gram(ARRAY[1, i], i) AS gram FROM generate_series(1, 9) AS i GROUP BY 1;
)), '3|{1,2,2}', 'used from another schema');
is($node->safe_psql('postgres', 'SELECT "Else where".wml_n("Else where".wml_merge(gram)) FROM task'), '9', 'and from a table');

# A role without any rights can use it.
is( $node->safe_psql(
		'postgres', q(
	CREATE ROLE guest;
	GRANT USAGE ON SCHEMA "Else where" TO guest;
	SET ROLE guest;
	SELECT "Else where".wml_n("Else where".wml_gram(ARRAY[1, 2], 3));
)), '1', 'used by a guest');

$node->stop;
done_testing();
