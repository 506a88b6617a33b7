# Live task sets under concurrent writers, after a crash, after dump and restore, and on a logical
# replica: every gram is that of a recount.  WML_TASK_CHANGES=100000 makes the many changes of it.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $changes = $ENV{WML_TASK_CHANGES} || 6000;
my $sessions = 4;

my $node = PostgreSQL::Test::Cluster->new('tasks');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "log_statement = none");
$node->start;

# Rows with all that makes sums difficult: NULL, NaN, outliers, categories that nobody has seen.
$node->safe_psql(
	'postgres', q(
	CREATE EXTENSION wml;
	CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
	CREATE TABLE sales (id bigint PRIMARY KEY, shop int, price float8, colour colour, kind text, units float8);
	CREATE INDEX ON sales (shop);
	CREATE FUNCTION made(i bigint, OUT shop int, OUT price float8, OUT colour colour, OUT kind text, OUT units float8) LANGUAGE sql AS $$
		SELECT CASE WHEN i % 61 = 0 THEN NULL ELSE (i * 7919 % 40)::int END,
			CASE WHEN i % 503 = 0 THEN 'NaN' WHEN i % 307 = 0 THEN 1e12 WHEN i % 71 = 0 THEN NULL ELSE 5 + sin(i) END,
			(ARRAY['red', 'green', 'blue'])[1 + i % 3]::colour, CASE WHEN i % 97 = 0 THEN 'unseen' ELSE (ARRAY['a', 'b'])[1 + i % 2] END,
			CASE WHEN i % 1009 = 0 THEN '-Infinity' ELSE cos(i) * 10.0 ^ (i % 7 - 3) END
	$$;
	INSERT INTO sales SELECT i, (made(i)).* FROM generate_series(1, 2000) AS i;
	SELECT wml_learn('shops', 'sales', task => 'shop', response => 'units', features => 'price, colour, kind', levels => '{"kind": ["a", "b"]}', live => true);
	SELECT wml_learn('shops_too', 'sales', task => 'shop', response => 'units', features => 'price, colour', append => true);
	SELECT wml_learn('shops_sold', 'sales', task => 'shop', response => 'units > 0', features => 'colour', family => 'binomial', live => true);

	-- inserts, updates of the key and of values, deletes and upserts, of 1 to 1000 rows
	CREATE PROCEDURE write_rows(session int, changes int) LANGUAGE plpgsql AS $$
	DECLARE
		done int := 0;
		batch int;
		first bigint;
	BEGIN
		PERFORM setseed(session / 10.0);
		WHILE done < changes LOOP
			batch := least(changes - done, ceil(1000 ^ random()));
			first := floor(random() * 20000);
			CASE floor(random() * 5)
			WHEN 0 THEN
				INSERT INTO sales SELECT i, (made(i * session)).* FROM generate_series(first, first + batch - 1) AS i ON CONFLICT DO NOTHING;
			WHEN 1 THEN
				INSERT INTO sales SELECT i, (made(i + session)).* FROM generate_series(first, first + batch - 1) AS i ORDER BY i
				ON CONFLICT (id) DO UPDATE SET shop = excluded.shop, price = excluded.price, units = excluded.units;
			WHEN 2 THEN
				UPDATE sales SET shop = (shop + session) % 45, units = units + 0.1
				WHERE id IN (SELECT id FROM sales WHERE id >= first ORDER BY id LIMIT batch FOR UPDATE);
			WHEN 3 THEN
				UPDATE sales SET price = 2 + sin(id + session), colour = 'red', kind = 'b'
				WHERE id IN (SELECT id FROM sales WHERE id >= first ORDER BY id LIMIT batch FOR UPDATE);
			ELSE
				DELETE FROM sales WHERE id IN (SELECT id FROM sales WHERE id >= first ORDER BY id LIMIT batch FOR UPDATE);
			END CASE;
			done := done + batch;
			IF random() < 0.1 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END $$;
));

my $wrong = q(SELECT (SELECT count(*) FROM wml_check('shops')), (SELECT count(*) FROM wml_check('shops_too')),
	(SELECT count(*) FROM shops_pending), (SELECT count(*) FROM shops WHERE removed IS NOT NULL OR gram IS NULL) + (SELECT count(*) FROM wml_check('shops_sold')));

# the sessions together
my @running = map {
	my ($in, $out, $err) = ("SET deadlock_timeout = '100ms';\nCALL write_rows($_, " . int($changes / $sessions) . ");\n", '', '');
	my $run = { out => \$out, err => \$err };
	$run->{handle} = IPC::Run::start([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$err);
	$run;
} 1 .. $sessions;
foreach my $run (@running)
{
	$run->{handle}->finish;
	is(${ $run->{err} }, '', 'a session wrote without an error, and without a deadlock');
}
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM sales'), '>', 100, 'there are rows');
is($node->safe_psql('postgres', $wrong), '0|0|0|0', "every gram is that of a recount after $changes changes");
$node->safe_psql('postgres', q(SELECT wml_fold('shops_too')));
is($node->safe_psql('postgres', q(SELECT count(*) FROM shops_too_pending)), '0', 'all is folded');
is($node->safe_psql('postgres', $wrong), '0|0|0|0', 'and right');

# writers of one task, with and without append, and folds among them
$node->safe_psql(
	'postgres', q(
	CREATE TABLE hot (shop int, price float8, units float8);
	INSERT INTO hot SELECT 1, sin(i), cos(i) FROM generate_series(1, 10) AS i;
	SELECT wml_learn('hot_shops', 'hot', task => 'shop', response => 'units', features => 'price', append => true)));
my $script = PostgreSQL::Test::Utils::tempdir() . '/hot.sql';
append_to_file($script, "\\set r random(1, 1000)\nINSERT INTO hot VALUES (1, sin(:r), cos(:r));\n");
$node->command_ok([ 'pgbench', '-n', '-c', 4, '-t', 50, '-f', $script, '-d', 'postgres', '-h', $node->host, '-p', $node->port ], 'hot writers');
$node->command_ok([ 'pgbench', '-n', '-c', 4, '-t', 20, '-f', "$script\@9", '-f', do { my $f = "$script.fold"; append_to_file($f, "SELECT wml_fold('hot_shops');\n"); "$f\@1" },
	'-d', 'postgres', '-h', $node->host, '-p', $node->port ], 'hot writers and folds');
is($node->safe_psql('postgres', q(SELECT count(*) FROM wml_check('hot_shops'))), '0', 'a hot task is right');
is($node->safe_psql('postgres', q(SELECT wml_fold('hot_shops') >= 0; SELECT (SELECT count(*) FROM wml_check('hot_shops')), (SELECT wml_n(gram) = (SELECT count(*) FROM hot) FROM hot_shops))),
	"t\n0|t", 'also when folded');

# a crash in the middle of a write
my $background = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres') ], '<', \"CALL write_rows(7, 1000000);\n", '>', \my $nothing, '2>', \my $lost);
sleep 2;
$node->stop('immediate');
$background->finish;
$node->start;
is($node->safe_psql('postgres', $wrong), '0|0|0|0', 'right after a crash');

# dump and restore, and writes after it
my $dump = PostgreSQL::Test::Utils::tempdir() . '/tasks.dump';
$node->command_ok([ 'pg_dump', '--format=custom', "--file=$dump", $node->connstr('postgres') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--dbname=' . $node->connstr('restored'), $dump ], 'restored');
is($node->safe_psql('restored', $wrong), '0|0|0|0', 'right when restored');
is($node->safe_psql('restored', 'SELECT md5(string_agg(gram::text, $$;$$ ORDER BY shop)) FROM shops'),
	$node->safe_psql('postgres', 'SELECT md5(string_agg(gram::text, $$;$$ ORDER BY shop)) FROM shops'), 'every bit is back');
$node->safe_psql('restored', 'CALL write_rows(3, 500)');
is($node->safe_psql('restored', $wrong), '0|0|0|0', 'and stays right');
is($node->safe_psql('restored', q(SELECT count(*), count(estimate) > 0 FROM wml_forecast('shops', 'SELECT 5 AS shop, 4 AS price, ''red'' AS colour, ''a'' AS kind'))), '1|t',
	'the description is there');

# a logical replica
my $replica = PostgreSQL::Test::Cluster->new('replica');
$replica->init;
$replica->start;
$node->command_ok([ 'pg_dump', '--schema-only', "--file=$dump.sql", $node->connstr('postgres') ], 'schema dumped');
$replica->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.sql", $replica->connstr('postgres') ], 'schema restored');
$node->safe_psql('postgres', 'CREATE PUBLICATION all_of_it FOR TABLE sales, shops, wml_task_set');
$replica->safe_psql('postgres', q(ALTER TABLE sales DISABLE TRIGGER USER));
$replica->safe_psql('postgres', "CREATE SUBSCRIPTION it CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION all_of_it");
$replica->poll_query_until('postgres', q(SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's'))) or die 'no synchronisation';
$node->safe_psql('postgres', 'CALL write_rows(5, 1000)');
$node->wait_for_catchup('it');
my $replicated = q(SELECT count(*) FROM wml_check('shops'));
is($replica->safe_psql('postgres', $replicated), '0', 'right on a replica');
is($replica->safe_psql('postgres', 'SELECT md5(string_agg(gram::text, $$;$$ ORDER BY shop)) FROM shops'),
	$node->safe_psql('postgres', 'SELECT md5(string_agg(gram::text, $$;$$ ORDER BY shop)) FROM shops'), 'every bit, too');
$replica->stop('fast');
$node->stop('fast');

done_testing();
