# Coefficients and r2 against exact rational arithmetic, on problems that plain doubles fail.
use strict;
use warnings;
no warnings "portable";

use Math::BigInt;
use Math::BigRat;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('exactness');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION wml');

# The rational number that a double is.
sub rational
{
	my $bits = unpack 'Q', pack 'd', shift;
	my $exponent = $bits >> 52 & 0x7ff;
	my $mantissa = Math::BigInt->new($bits & 0xfffffffffffff);
	$mantissa += Math::BigInt->new(2)**52 if $exponent > 0;
	$exponent = 1 if $exponent == 0;
	my $value = Math::BigRat->new($mantissa);
	my $power = Math::BigInt->new(2)**abs($exponent - 1075);
	$value = $exponent >= 1075 ? $value * $power : $value / Math::BigRat->new($power);
	return $bits >> 63 ? -$value : $value;
}

# The exact least-squares coefficients and r2 (around the mean) of rows [x..., y].
sub solve_exactly
{
	my @rows = map { [ map { rational($_) } @$_ ] } @_;
	my $p = @{ $rows[0] };
	my $d = $p - 1;
	my @gram = map { [ (Math::BigRat->bzero) x $p ] } 1 .. $p;
	for my $row (@rows)
	{
		for my $i (0 .. $d)
		{
			$gram[$i][$_] = $gram[$i][$_] + $row->[$i] * $row->[$_] for $i .. $d;
		}
	}
	for my $i (1 .. $d) { $gram[$i][$_] = $gram[$_][$i] for 0 .. $i - 1 }

	my @system = map { [@$_] } @gram[ 0 .. $d - 1 ];
	for my $k (0 .. $d - 1)
	{
		for my $i ($k + 1 .. $d - 1)
		{
			my $factor = $system[$i][$k] / $system[$k][$k];
			$system[$i][$_] = $system[$i][$_] - $factor * $system[$k][$_] for $k .. $d;
		}
	}
	my @w;
	for my $k (reverse 0 .. $d - 1)
	{
		my $sum = $system[$k][$d]->copy;
		$sum = $sum - $system[$k][$_] * $w[$_] for $k + 1 .. $d - 1;
		$w[$k] = $sum / $system[$k][$k];
	}

	# residual sum of squares and total sum of squares around the mean
	my ($residual, $sum) = (Math::BigRat->bzero, Math::BigRat->bzero);
	for my $row (@rows)
	{
		my $rest = $row->[$d]->copy;
		$rest = $rest - $w[$_] * $row->[$_] for 0 .. $d - 1;
		$residual = $residual + $rest * $rest;
		$sum = $sum + $row->[$d];
	}
	my $total = $gram[$d][$d] - $sum * $sum / Math::BigRat->new(scalar @rows);
	return (\@w, Math::BigRat->bone - $residual / $total);
}

# How many digits of the figure are right.
sub digits
{
	my ($figure, $exact) = @_;
	my $error = (rational($figure) - $exact)->babs;
	return 17 if $error->is_zero;
	$error = $error / $exact->copy->babs unless $exact->is_zero;
	return -log($error->numify) / log(10);
}

sub check
{
	my ($name, $least, @rows) = @_;
	my ($w, $r2) = solve_exactly(@rows);
	my $values = join ', ', map {
		my @row = map { sprintf '%.17g', $_ } @$_;
		my $y = pop @row;
		"(ARRAY[" . join(', ', map { "'$_'::float8" } @row) . "], '$y'::float8)"
	} @rows;
	my ($coefficients, $figure) = split /\|/, $node->safe_psql('postgres', qq(
		WITH task AS (SELECT wml_gram(x, y) AS gram FROM (VALUES $values) AS example (x, y))
		SELECT array_to_string(wml_erm(gram, 1), ','), wml_r2((array_agg(gram))[1], wml_erm(gram, 1)) FROM task));
	my @found = split /,/, $coefficients;
	my $worst = 17;
	for my $i (0 .. $#found)
	{
		my $right = digits($found[$i], $w->[$i]);
		$worst = $right if $right < $worst;
	}
	cmp_ok($worst, '>=', $least, sprintf '%s: coefficients to %d digits (%.1f)', $name, $least, $worst);
	my $right = digits($figure, $r2);
	cmp_ok($right, '>=', $least, sprintf '%s: r2 to %d digits (%.1f)', $name, $least, $right);
	return;
}

sub powers
{
	my ($x, $degree) = @_;
	return map { $x**$_ } 0 .. $degree;
}

# a reproducible disturbance between -1 and 1
sub noise { return sin(12.9898 * $_[0] + 78.233 * ($_[0] % 7)) }

sub polynomial
{
	my ($x, @coefficients) = @_;
	my $y = 0;
	$y = $y * $x + $_ for reverse @coefficients;
	return $y;
}

check('Wampler 1', 14, map { [ powers($_, 5), polynomial($_, (1) x 6) ] } 0 .. 20);
check('Wampler 2', 13, map { [ powers($_, 5), polynomial($_, map { 10**-$_ } 0 .. 5) ] } 0 .. 20);

# J. W. Longley, JASA 62 (1967): GNP deflator, GNP, unemployed, armed forces, population, year; employed
my @longley = (
	[ 83.0,  234.289, 235.6, 159.0, 107.608, 1947, 60.323 ],
	[ 88.5,  259.426, 232.5, 145.6, 108.632, 1948, 61.122 ],
	[ 88.2,  258.054, 368.2, 161.6, 109.773, 1949, 60.171 ],
	[ 89.5,  284.599, 335.1, 165.0, 110.929, 1950, 61.187 ],
	[ 96.2,  328.975, 209.9, 309.9, 112.075, 1951, 63.221 ],
	[ 98.1,  346.999, 193.2, 359.4, 113.270, 1952, 63.639 ],
	[ 99.0,  365.385, 187.0, 354.7, 115.094, 1953, 64.989 ],
	[ 100.0, 363.112, 357.8, 335.0, 116.219, 1954, 63.761 ],
	[ 101.2, 397.469, 290.4, 304.8, 117.388, 1955, 66.019 ],
	[ 104.6, 419.180, 282.2, 285.7, 118.734, 1956, 67.857 ],
	[ 108.4, 442.769, 293.6, 279.8, 120.445, 1957, 68.169 ],
	[ 110.8, 444.546, 468.1, 263.7, 121.950, 1958, 66.513 ],
	[ 112.6, 482.704, 381.3, 255.2, 123.366, 1959, 68.655 ],
	[ 114.2, 502.601, 393.1, 251.4, 125.368, 1960, 69.564 ],
	[ 115.7, 518.173, 480.6, 257.2, 127.852, 1961, 69.331 ],
	[ 116.9, 554.894, 400.7, 282.7, 130.081, 1962, 70.551 ]);
check('Longley', 14, map { [ 1, @$_ ] } @longley);

check('cubic in the year', 13,
	map { [ powers($_, 3), 1e-3 * ($_ - 1985)**3 + 20 * noise($_) ] } 1950 .. 2020);
check('epoch seconds', 13, map { [ 1, 1.7e9 + $_, 3 + 0.25 * $_ + noise($_) ] } 0 .. 100);
check('x offset by 1e6, y by 1e9', 12,
	map { [ 1, 1e6 + $_, 1e6 - $_ * $_ % 17, 1e9 + 2 * $_ + noise($_) ] } 1 .. 50);
check('columns of size 1e6 beside 1e-3', 13,
	map { [ 1, 1e6 * noise($_), 1e-3 * noise(3 * $_), noise(5 * $_) ] } 1 .. 40);

$node->stop;
done_testing();
