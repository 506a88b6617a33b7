# TimescaleDB: grams of a hypertable equal those of a plain table, and a continuous aggregate keeps grams
# by day that merge to the same.  Builds under the Apache licence, as Debian's, have no continuous
# aggregates.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
plan skip_all => 'TimescaleDB is not installed' unless -e "$share/extension/timescaledb.control";

my $node = PostgreSQL::Test::Cluster->new('timescaledb');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'timescaledb'\ntimescaledb.telemetry_level = off\n");
$node->start;
# quarters and integers: their sums are exact in any order
$node->safe_psql('postgres', q(
	CREATE EXTENSION timescaledb;
	CREATE EXTENSION wml;
	CREATE TABLE sale (at timestamptz NOT NULL, shop int, price float8, units float8);
	SELECT create_hypertable('sale', 'at', chunk_time_interval => interval '7 days');
	INSERT INTO sale
	SELECT '2026-01-01'::timestamptz + i * interval '10 minutes', i % 5, i % 7 / 4.0, i % 11 FROM generate_series(1, 10000) AS i;
	CREATE TABLE plain AS SELECT * FROM sale;
));
my $by_shop = 'SELECT shop, wml_gram(ARRAY[1, price], units) FROM %s GROUP BY shop ORDER BY shop';
my $expected = $node->safe_psql('postgres', sprintf $by_shop, 'plain');

cmp_ok($node->safe_psql('postgres', q(SELECT count(*) FROM show_chunks('sale'))), '>', 5, 'several chunks');
is($node->safe_psql('postgres', sprintf $by_shop, 'sale'), $expected, 'grams of a hypertable');
is( $node->safe_psql('postgres', "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; " . sprintf $by_shop, 'sale'),
	$expected, 'by parallel workers');

SKIP:
{
	skip 'this TimescaleDB has no continuous aggregates', 3
	  if $node->safe_psql('postgres', 'SHOW timescaledb.license') eq 'apache';

	$node->safe_psql('postgres', q(
		CREATE MATERIALIZED VIEW gram_by_day WITH (timescaledb.continuous, timescaledb.materialized_only = true) AS
		SELECT time_bucket('1 day', at) AS day, shop, wml_gram(ARRAY[1, price], units) AS gram FROM sale GROUP BY 1, 2
	));
	my $merged = 'SELECT shop, wml_merge(gram) FROM gram_by_day GROUP BY shop ORDER BY shop';
	is($node->safe_psql('postgres', $merged), $expected, 'grams by day merge to the same');

	# rows that come later, on a day that is there and on one that is not
	my $later = q(INSERT INTO %s SELECT at, 3, 2.5, 8 FROM unnest(ARRAY['2026-01-05'::timestamptz, '2026-06-01']) AS at);
	$node->safe_psql('postgres', sprintf $later, $_) foreach qw(sale plain);
	is($node->safe_psql('postgres', $merged), $expected, 'not yet refreshed');
	$node->safe_psql('postgres', q(CALL refresh_continuous_aggregate('gram_by_day', NULL, NULL)));
	is($node->safe_psql('postgres', $merged), $node->safe_psql('postgres', sprintf $by_shop, 'plain'), 'refreshed');
}
$node->stop;

done_testing();
