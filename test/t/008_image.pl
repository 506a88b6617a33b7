# The files of an extension image serve a server that has them mounted anywhere: from PostgreSQL 18 on
# it is told where to look, and needs none of its own.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $version = `$ENV{PG_CONFIG} --version`);
plan skip_all => 'extension_control_path came with PostgreSQL 18' unless $version =~ /(\d+)/ && $1 >= 18;

my $image = PostgreSQL::Test::Utils::tempdir;
mkdir "$image/$_" or die foreach qw(lib share share/extension);
system("cp wml.so $image/lib && cp wml.control sql/wml--*.sql $image/share/extension") == 0 or die;

my $node = PostgreSQL::Test::Cluster->new('image');
$node->init;
$node->append_conf('postgresql.conf', "extension_control_path = '$image/share'\ndynamic_library_path = '$image/lib'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION wml');
is( $node->safe_psql('postgres', q(
	SELECT round(c::numeric, 9) FROM (SELECT wml_erm(wml_gram(ARRAY[1, i], 2 + 3 * i), 1) FROM generate_series(1, 9) AS i) AS m(w), unnest(w) AS c
)), "2.000000000\n3.000000000", 'it works');
is( $node->safe_psql('postgres', "
	SELECT DISTINCT pg_read_file('/proc/self/maps') ~ '$image/lib/wml.so' FROM wml_n(wml_gram(ARRAY[1], 1))
"), 't', 'with the library of the image') if -e '/proc/self/maps';
$node->stop;

done_testing();
