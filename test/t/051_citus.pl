# A Citus cluster of a coordinator and two workers on loopback: the same queries distributed and local
# agree in every bit, groups by the distribution column are made on the shards, and others are combined
# from partial states.  Citus is not in Debian: PG_CONFIG names an installation that has it.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $share = `$ENV{PG_CONFIG} --sharedir`);
plan skip_all => 'Citus is not installed' unless -e "$share/extension/citus.control";

my @nodes = map { PostgreSQL::Test::Cluster->new($_) } qw(coordinator worker1 worker2);
foreach my $node (@nodes)
{
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'\nlisten_addresses = '127.0.0.1'\ncitus.enable_statistics_collection = off\n");
	$node->append_conf('pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus; CREATE EXTENSION wml');
}
my $here = $nodes[0];
$here->safe_psql('postgres', sprintf q(SELECT citus_set_coordinator_host('127.0.0.1', %d)), $here->port);
$here->safe_psql('postgres', sprintf q(SELECT citus_add_node('127.0.0.1', %d)), $_->port) foreach @nodes[1, 2];
$here->safe_psql('postgres', q(
	CREATE TABLE far (task int, day int, x float8[], y float8, yes bool);
	SELECT create_distributed_table('far', 'task', shard_count => 8);
	INSERT INTO far SELECT i % 20 + 1, i % 7, ARRAY[1, sin(i), i * 1e5], i + cos(i), cos(i) > 0 FROM generate_series(1, 4000) AS i;
	CREATE TABLE near AS SELECT * FROM far;
));

# the same query on the distributed and on the local table
sub same
{
	my ($what, $query, $pushed_down) = @_;
	my $settings = 'SET extra_float_digits = 3';
	is( $here->safe_psql('postgres', "$settings; " . $query =~ s/FROM rows/FROM far/gr),
		$here->safe_psql('postgres', "$settings; " . $query =~ s/FROM rows/FROM near/gr), "$what: every bit");
	my $plan = $here->safe_psql('postgres', 'EXPLAIN (COSTS OFF) ' . $query =~ s/FROM rows/FROM far/gr);
	my ($above) = split /Custom Scan/, $plan;
	is($above !~ /Aggregate|Group/ ? 1 : 0, $pushed_down, "$what: " . ($pushed_down ? 'on the shards alone' : 'combined here')) or diag($plan);
	like($plan, qr/Citus Adaptive/, "$what: distributed");
}

same('grams by task', 'SELECT task, wml_second_moment(wml_gram(x, y)) FROM rows GROUP BY task ORDER BY task', 1);
same('grams by day', 'SELECT day, wml_second_moment(wml_gram(x, y)) FROM rows GROUP BY day ORDER BY day', 0);
same('grams of all', 'SELECT wml_second_moment(wml_gram(x, y)), wml_n(wml_gram(x, y)) FROM rows', 0);
same('weighted grams', 'SELECT day, wml_second_moment(wml_gram(x, y, 1 + task)) FROM rows GROUP BY day ORDER BY day', 0);

same('grams of columns by task', 'SELECT task, wml_second_moment(wml_gram_columns(y, 1, x[2], day)) FROM rows GROUP BY task ORDER BY task', 1);
# Citus knows the arguments of an aggregate only where their number is fixed.
my (undef, undef, $refusal) = $here->psql('postgres', 'SELECT day, wml_gram_columns(y, 1, x[2]) FROM far GROUP BY day');
like($refusal, qr/could not confirm type correctness/, 'grams of columns by day: refused, so that an array is needed');
same('merged grams', 'SELECT day, wml_second_moment(wml_merge(gram)) FROM (SELECT task, day, wml_gram(x, y) AS gram FROM rows GROUP BY task, day) AS by_task GROUP BY day ORDER BY day', 0);
same('area under the curve', 'SELECT day, wml_auc(y, yes) FROM rows GROUP BY day ORDER BY day', 0);
same('working grams by task', q(SELECT task, wml_second_moment(wml_working_gram(x, yes::int, 'binomial', ARRAY[0.1, 0.2, 0])) FROM rows GROUP BY task ORDER BY task), 1);
same('working grams of all', q(SELECT wml_second_moment(wml_working_gram(x, yes::int, 'binomial', ARRAY[0.1, 0.2, 0])) FROM rows), 0);

# In two steps, as one statement: grams on the shards, decisions here.
sub decides
{
	my ($what, $decision) = @_;
	my $query = "WITH task_gram AS MATERIALIZED (SELECT task, wml_gram(x, y) AS gram FROM rows GROUP BY task) $decision";
	my ($far, $near) = map { $here->safe_psql('postgres', $query =~ s/FROM rows/FROM $_/r) } qw(far near);
	is($far, $near, "$what: every bit");
	isnt($far, '', "$what: something");
	like($here->safe_psql('postgres', 'EXPLAIN (COSTS OFF) ' . $query =~ s/FROM rows/FROM far/r), qr/Citus Adaptive(?s:.*)GroupAggregate|Citus Adaptive(?s:.*)HashAggregate/, "$what: grams from the shards");
}

decides('window of weights', q(
	SELECT task, wml_alpha(gram, (SELECT gram FROM task_gram WHERE task = 1)) OVER (ORDER BY task ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
	FROM task_gram WHERE task > 1 ORDER BY task));
decides('weights as an aggregate', 'SELECT wml_weights(gram, (SELECT gram FROM task_gram WHERE task = 1) ORDER BY task) FROM task_gram WHERE task > 1');
decides('prior as an aggregate', q(SELECT wml_prior_mean(prior), wml_prior_covariance(prior) FROM (SELECT wml_prior(gram ORDER BY task) AS prior FROM task_gram) AS fitted));

# The passes of a hierarchical model: each is a GROUP BY over the shards, and the state stays here.
foreach my $table (qw(far near))
{
	$here->safe_psql('postgres', qq(
		SET wml.progress = off;
		CALL wml_glm_iterate('state_of_$table', '$table', 'task', 'x[1:2]', 'yes::int', tolerance => 1e-6, iterations => 100);
		CREATE TABLE prior_of_$table AS SELECT wml_glm_prior(array_agg(gram ORDER BY task), 'binomial') AS prior FROM state_of_$table));
}
is( $here->safe_psql('postgres', 'SELECT wml_prior_change(f.prior, n.prior) < 1e-6, (SELECT count(*) FROM state_of_far) FROM prior_of_far AS f, prior_of_near AS n'),
	't|20', 'passes of a hierarchical model: the same prior');

# A task set is a table here, whatever it learns from; triggers cannot follow rows on the workers.
foreach my $table (qw(far near))
{
	$here->safe_psql('postgres', qq(SELECT wml_learn('set_of_$table', '$table', task => 'task', response => 'y', features => 'day')));
}
my $asked = q(SELECT task, 3 AS day FROM generate_series(1, 21, 5) AS task);
my ($forecast_far, $forecast_near) = map { $here->safe_psql('postgres',
	qq(SELECT task, round(estimate::numeric, 6), round(lower::numeric, 6), status FROM wml_forecast('set_of_$_', '$asked') ORDER BY task::int)) } qw(far near);
is($forecast_far, $forecast_near, 'task sets forecast the same');
like($forecast_far, qr/^(\d+\|.+\|.+\|ok\n){4}21\|.+\|.+\|new task$/, 'task sets forecast all');
$here->safe_psql('postgres', 'INSERT INTO far VALUES (21, 1, ARRAY[1, 0, 0], 5, true), (21, 2, ARRAY[1, 0, 0], 6, true)');
is($here->safe_psql('postgres', q(SELECT tasks, rows FROM wml_refresh('set_of_far'))), '21|4002', 'a task set is refreshed from the shards');
is($here->safe_psql('postgres', q(SELECT count(*) FROM wml_check('set_of_far'))), '0', 'and equals a recount');
(undef, undef, $refusal) = $here->psql('postgres', q(SELECT wml_learn('live_of_far', 'far', task => 'task', response => 'y', features => 'day', live => true)));
like($refusal, qr/triggers are not supported on distributed tables/, 'a live task set of a distributed table: refused');
is($here->safe_psql('postgres', q(SELECT count(*) FROM wml_task_sets WHERE set_name = 'live_of_far')), '0', 'and leaves nothing behind');

# What travels is grams: the memory of a coordinator's session does not grow with the queries it has run.
my $query = "SELECT count(wml_n(gram)) FROM (SELECT day, wml_gram(x, y) AS gram FROM far GROUP BY day) AS by_day;\n";
my $memory = "SELECT sum(used_bytes) FROM pg_backend_memory_contexts;\n";
my ($before, $after) = (split /\n/, $here->safe_psql('postgres', $query x 5 . $memory . $query x 50 . $memory))[5, 56];
cmp_ok($after, '<', $before + 100_000, "fifty more queries leave memory as it is ($before, then $after bytes)");

$_->stop foreach reverse @nodes;
done_testing();
