# The owner of a database, who is no superuser, installs the extension, although somebody has put
# objects of the same names where they are found first; and dumps and restores what is made of it.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('trusted');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE guest LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE first OWNER owner');
$node->safe_psql('postgres', 'CREATE DATABASE second OWNER owner');

# as SQL of the owner
sub owner
{
	my ($database, $sql) = @_;
	return $node->safe_psql($database, $sql, extra_params => [ '-U', 'owner' ]);
}

# Traps: functions that any use of them would show, under the names of ours and of what ours rest on.
my $traps = q(
	CREATE SCHEMA trap;
	CREATE TABLE trap.sprung (what text);
	GRANT USAGE ON SCHEMA trap TO PUBLIC;
	GRANT INSERT ON trap.sprung TO PUBLIC;
	CREATE FUNCTION trap.spring(what text) RETURNS void LANGUAGE sql AS 'INSERT INTO trap.sprung VALUES (what)';
	CREATE TYPE trap.wml_gram AS (n int);
	CREATE FUNCTION trap.wml_n(trap.wml_gram) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN PERFORM trap.spring(''wml_n''); RETURN 0; END';
	CREATE FUNCTION trap.format(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM trap.spring(''format''); RETURN ''''; END';
	CREATE FUNCTION trap.plus(float8, float8) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN PERFORM trap.spring(''+''); RETURN 0; END';
	CREATE FUNCTION trap.equal(text, text) RETURNS bool LANGUAGE plpgsql AS 'BEGIN PERFORM trap.spring(''=''); RETURN true; END';
	CREATE FUNCTION trap.join_text(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM trap.spring(''||''); RETURN ''''; END';
	CREATE OPERATOR trap.+ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = trap.plus);
	CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.equal);
	CREATE OPERATOR trap.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.join_text);
);
$node->safe_psql('first', $traps);

# A guest has no right to.
my ($status, $out, $err) = $node->psql('first', 'CREATE EXTENSION wml', extra_params => [ '-U', 'guest' ]);
like($err, qr/permission denied to create extension "wml"/, 'not a guest');

owner('first', 'CREATE SCHEMA stats; SET search_path = trap, stats, pg_catalog; CREATE EXTENSION wml SCHEMA stats');
is( $node->safe_psql(
		'first', q(
	SELECT count(*) FROM pg_depend AS d
	WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = 'trap'::regnamespace AND
		  EXISTS (SELECT FROM pg_depend AS e WHERE e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e')
)), '0', 'nothing of the extension lies in the trap');
is( $node->safe_psql(
		'first', q(
	SELECT count(*)
	FROM pg_depend AS d JOIN pg_depend AS e ON e.classid = d.classid AND e.objid = d.objid AND e.deptype = 'e'
	WHERE d.refclassid = 'pg_proc'::regclass AND d.refobjid IN (SELECT oid FROM pg_proc WHERE pronamespace = 'trap'::regnamespace)
)), '0', 'nothing of the extension rests on the trap');

# Use with the trap first in the path: SQL that names our schema is ours.
is( owner(
		'first', q(
	SET search_path = trap, stats, pg_catalog;
	CREATE TABLE stats.task AS
	SELECT i % 4 AS task, stats.wml_gram(ARRAY[1, sin(i)], i) AS gram FROM generate_series(1, 40) AS i GROUP BY 1;
	SELECT sum(stats.wml_n(gram)) FROM stats.task;
)), '40', 'used by the owner');
is( owner(
		'first', q(
	SET search_path = trap, stats, pg_catalog;
	SELECT cardinality(stats.wml_alpha(array_agg(gram), min(gram::text)::stats.wml_gram)) FROM stats.task;
)), '4', 'a solver too');
is($node->safe_psql('first', 'SELECT count(*) FROM trap.sprung'), '0', 'no trap was sprung');

# The owner dumps and restores.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/first.dump';
$node->command_ok([ 'pg_dump', '--format=custom', '--exclude-schema=trap', "--file=$dump", $node->connstr('first') . ' user=owner' ], 'dumped');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname=' . $node->connstr('second') . ' user=owner', $dump ], 'restored');
is( $node->safe_psql('second', 'SELECT string_agg(gram::text, $$;$$ ORDER BY task) FROM stats.task'),
	$node->safe_psql('first', 'SELECT string_agg(gram::text, $$;$$ ORDER BY task) FROM stats.task'),
	'every bit is back');

$node->stop;
done_testing();
