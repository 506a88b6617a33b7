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
$node->append_conf('postgresql.conf', "extension_control_path = '$image/share:\$system'\ndynamic_library_path = '$image/lib:\$libdir'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION wml');
my $gram = '(SELECT wml_gram(ARRAY[1, i], i) AS gram FROM generate_series(1, 9) AS i)';
is($node->safe_psql('postgres', "SELECT wml_n(gram) FROM $gram AS g"), '9', 'it works');
is($node->safe_psql('postgres', "SELECT wml_n(gram), pg_read_file('/proc/self/maps') ~ '$image/lib/wml.so' FROM $gram AS g"),
	'9|t', 'with the library of the image') if -e '/proc/self/maps';
$node->stop;

done_testing();
