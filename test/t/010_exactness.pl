# Coefficients, r2 and standard errors against exact arithmetic, on problems that plain doubles fail.
use strict;
use warnings;
no warnings "portable";

use Math::BigInt;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('exactness');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION wml');

# A double as an integer and an exponent of 2.
sub parts
{
	my $bits = unpack 'Q', pack 'd', shift;
	my $exponent = $bits >> 52 & 0x7ff;
	my $mantissa = Math::BigInt->new($bits & 0xfffffffffffff);
	$mantissa += Math::BigInt->new(2)**52 if $exponent > 0;
	$mantissa->bneg if $bits >> 63;
	return ($mantissa, ($exponent || 1) - 1075);
}

# A number times a power of 2, as a fraction: its numerator and denominator, not in lowest terms.
sub fraction
{
	my ($number, $exponent) = @_;
	my $power = Math::BigInt->new(2)**abs($exponent);
	return $exponent < 0 ? [ $number, $power ] : [ $number * $power, Math::BigInt->bone ];
}

sub product
{
	my $product = [ Math::BigInt->bone, Math::BigInt->bone ];
	$product = [ $product->[0] * $_->[0], $product->[1] * $_->[1] ] for @_;
	return $product;
}

# Doubles as integers, and the exponent of 2 that they all are to be multiplied with.
sub common_exponent
{
	my @parts = map { [ parts($_) ] } @_;
	my ($least) = sort { $a <=> $b } map { $_->[1] } grep { !$_->[0]->is_zero } @parts;
	return ($least, map { $_->[0]->is_zero ? $_->[0] : $_->[0] * Math::BigInt->new(2)**($_->[1] - $least) } @parts);
}

# Least squares on rows [x..., y], the first x being 1, in integers: the coefficients, r2 and the
# squares of the coefficients' standard errors (undef without degrees of freedom) as fractions.
sub solve_exactly
{
	my @rows = @_;
	my $n = @rows;
	my $d = $#{ $rows[0] };
	my (@exponent, @column);
	for my $j (0 .. $d)
	{
		($exponent[$j], @{ $column[$j] }) = common_exponent(map { $_->[$j] } @rows);
	}
	my @gram;
	for my $i (0 .. $d)
	{
		for my $j ($i .. $d)
		{
			my $sum = Math::BigInt->bzero;
			$sum += $column[$i][$_] * $column[$j][$_] for 0 .. $n - 1;
			$gram[$i][$j] = $gram[$j][$i] = $sum;
		}
	}

	# E. H. Bareiss, Math. Comp. 22 (1968): every division leaves no remainder.  Beside the right-hand
	# side stand those of the inverse.
	my @system = map {
		my $i = $_;
		[ @{ $gram[$i] }[ 0 .. $d ], map { Math::BigInt->new($_ == $i ? 1 : 0) } 0 .. $d - 1 ]
	} 0 .. $d - 1;
	my $last = Math::BigInt->bone;
	for my $k (0 .. $d - 1)
	{
		my $pivot = $system[$k];
		for my $row (@system[ $k + 1 .. $d - 1 ])
		{
			$row->[$_] = ($pivot->[$k] * $row->[$_] - $row->[$k] * $pivot->[$_]) / $last for $k + 1 .. 2 * $d;
		}
		$last = $pivot->[$k];
	}
	my $determinant = $last;
	my $solve = sub {
		my ($c) = @_;
		my @x;
		for my $i (reverse 0 .. $d - 1)
		{
			my $sum = $determinant * $system[$i][$c];
			$sum -= $system[$i][$_] * $x[$_] for $i + 1 .. $d - 1;
			$x[$i] = $sum / $system[$i][$i];
		}
		return @x;
	};

	# everything below is multiplied by the determinant
	my @x = $solve->($d);
	my $residual = $determinant * $gram[$d][$d];
	$residual -= $x[$_] * $gram[$_][$d] for 0 .. $d - 1;
	my $total = Math::BigInt->bzero;
	$total += $_ for @{ $column[$d] };
	my $variation = $gram[$d][$d] * $n - $total * $total;

	my (@w, @error);
	for my $i (0 .. $d - 1)
	{
		my $unit = $exponent[$d] - $exponent[$i];
		push @w, product(fraction($x[$i], $unit), [ 1, $determinant ]);
		push @error, $n == $d ? undef
		  : product(fraction($residual * ($solve->($d + 1 + $i))[$i], 2 * $unit), [ 1, $determinant * $determinant * ($n - $d) ]);
	}
	return (\@w, [ $determinant * $variation - $n * $residual, $determinant * $variation ], \@error);
}

# How many digits of a fraction are right.
sub digits
{
	my ($figure, $exact) = @_;
	my $difference = $figure->[0] * $exact->[1] - $exact->[0] * $figure->[1];
	my $whole = $exact->[0]->is_zero ? $figure->[1] * $exact->[1] : $exact->[0] * $figure->[1];
	my $error = (abs($difference) * Math::BigInt->new(10)**40 / abs($whole))->numify / 1e40;
	return $error < 1e-17 ? 17 : -log($error) / log(10);
}

# Check that a list of figures has at least so many right digits.
sub check_figures
{
	my ($name, $least, $figures, $exact) = @_;
	my $worst = 17;
	for my $i (0 .. $#$exact)
	{
		my $right = digits($figures->[$i], $exact->[$i]);
		$worst = $right if $right < $worst;
	}
	cmp_ok($worst, '>=', $least, sprintf '%s to %d digits (%.1f)', $name, $least, $worst);
	return;
}

sub check
{
	my ($name, $least, @rows) = @_;
	my ($w, $r2, $error) = solve_exactly(@rows);
	my $values = join ', ', map {
		my @row = map { sprintf '%.17g', $_ } @$_;
		my $y = pop @row;
		"(ARRAY[" . join(', ', map { "'$_'::float8" } @row) . "], '$y'::float8)"
	} @rows;
	my ($coefficients, $parts, $figure, $errors) = split /\|/, $node->safe_psql('postgres', qq(
		WITH example AS (SELECT x, y, row_number() OVER () % 3 AS part FROM (VALUES $values) AS example (x, y)),
			 task AS (SELECT wml_gram(x, y) AS gram FROM example)
		SELECT array_to_string(wml_erm(gram, 1), ','),
			   (SELECT array_to_string(wml_erm(gram, wml_n(gram)), ',') FROM (SELECT wml_gram(x, y) AS gram FROM example GROUP BY part) AS p),
			   wml_r2((array_agg(gram))[1], wml_erm(gram, 1)),
			   (SELECT string_agg(std_error::text, ',' ORDER BY position) FROM task, wml_linregr(gram)) FROM task));
	my @figures = map { fraction(parts($_)) } split /,/, $coefficients;
	check_figures("$name: coefficients", $least, \@figures, $w);
	@figures = map { fraction(parts($_)) } split /,/, $parts;
	check_figures("$name: coefficients from three tasks", $least, \@figures, $w);
	check_figures("$name: r2", $least, [ fraction(parts($figure)) ], [$r2]);
	return if digits($r2, [ Math::BigInt->bone, Math::BigInt->bone ]) == 17;    # errors too small for the sums
	my @squares = map { product($_, $_) } map { fraction(parts($_)) } split /,/, $errors;
	check_figures("$name: squared standard errors", $least - 1, \@squares, $error);
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

# A. Filippelli, NIST: a polynomial of degree 10; x, y
my @filip = (
	[ -6.860120914, 0.8116 ], [ -4.324130045, 0.9072 ], [ -4.358625055, 0.9052 ], [ -4.358426747, 0.9039 ],
	[ -6.955852379, 0.8053 ], [ -6.661145254, 0.8377 ], [ -6.355462942, 0.8667 ], [ -6.118102026, 0.8809 ],
	[ -7.115148017, 0.7975 ], [ -6.815308569, 0.8162 ], [ -6.519993057, 0.8515 ], [ -6.204119983, 0.8766 ],
	[ -5.853871964, 0.8885 ], [ -6.109523091, 0.8859 ], [ -5.79832982, 0.8959 ], [ -5.482672118, 0.8913 ],
	[ -5.171791386, 0.8959 ], [ -4.851705903, 0.8971 ], [ -4.517126416, 0.9021 ], [ -4.143573228, 0.909 ],
	[ -3.709075441, 0.9139 ], [ -3.499489089, 0.9199 ], [ -6.300769497, 0.8692 ], [ -5.953504836, 0.8872 ],
	[ -5.642065153, 0.89 ], [ -5.031376979, 0.891 ], [ -4.680685696, 0.8977 ], [ -4.329846955, 0.9035 ],
	[ -3.928486195, 0.9078 ], [ -8.56735134, 0.7675 ], [ -8.363211311, 0.7705 ], [ -8.107682739, 0.7713 ],
	[ -7.823908741, 0.7736 ], [ -7.522878745, 0.7775 ], [ -7.218819279, 0.7841 ], [ -6.920818754, 0.7971 ],
	[ -6.628932138, 0.8329 ], [ -6.323946875, 0.8641 ], [ -5.991399828, 0.8804 ], [ -8.781464495, 0.7668 ],
	[ -8.663140179, 0.7633 ], [ -8.473531488, 0.7678 ], [ -8.247337057, 0.7697 ], [ -7.971428747, 0.77 ],
	[ -7.676129393, 0.7749 ], [ -7.352812702, 0.7796 ], [ -7.072065318, 0.7897 ], [ -6.774174009, 0.8131 ],
	[ -6.478861916, 0.8498 ], [ -6.159517513, 0.8741 ], [ -6.835647144, 0.8061 ], [ -6.53165267, 0.846 ],
	[ -6.224098421, 0.8751 ], [ -5.910094889, 0.8856 ], [ -5.598599459, 0.8919 ], [ -5.290645224, 0.8934 ],
	[ -4.974284616, 0.894 ], [ -4.64454848, 0.8957 ], [ -4.290560426, 0.9047 ], [ -3.885055584, 0.9129 ],
	[ -3.408378962, 0.9209 ], [ -3.13200249, 0.9219 ], [ -8.726767166, 0.7739 ], [ -8.66695597, 0.7681 ],
	[ -8.511026475, 0.7665 ], [ -8.165388579, 0.7703 ], [ -7.886056648, 0.7702 ], [ -7.588043762, 0.7761 ],
	[ -7.283412422, 0.7809 ], [ -6.995678626, 0.7961 ], [ -6.691862621, 0.8253 ], [ -6.392544977, 0.8602 ],
	[ -6.067374056, 0.8809 ], [ -6.684029655, 0.8301 ], [ -6.378719832, 0.8664 ], [ -6.065855188, 0.8834 ],
	[ -5.752272167, 0.8898 ], [ -5.132414673, 0.8964 ], [ -4.811352704, 0.8963 ], [ -4.098269308, 0.9074 ],
	[ -3.66174277, 0.9119 ], [ -3.2644011, 0.9228 ]);
check('Filip', 12, map { [ powers($_->[0], 10), $_->[1] ] } @filip);

check('polynomial of degree 10', 15, map { [ powers($_, 10), polynomial($_, (1) x 11) ] } 0 .. 20);
check('cubic in the year', 13,
	map { [ powers($_, 3), 1e-3 * ($_ - 1985)**3 + 20 * noise($_) ] } 1950 .. 2020);
check('epoch seconds', 13, map { [ 1, 1.7e9 + $_, 3 + 0.25 * $_ + noise($_) ] } 0 .. 100);
check('x offset by 1e6, y by 1e9', 12,
	map { [ 1, 1e6 + $_, 1e6 - $_ * $_ % 17, 1e9 + 2 * $_ + noise($_) ] } 1 .. 50);
check('columns of size 1e6 beside 1e-3', 13,
	map { [ 1, 1e6 * noise($_), 1e-3 * noise(3 * $_), noise(5 * $_) ] } 1 .. 40);

check('columns that differ by 1e-8', 14,
	map { [ 1, noise($_), noise($_) + 1e-8 * noise(2 * $_), noise(3 * $_) ] } 1 .. 40);
check('scales from 1e-12 to 1e12', 13,
	map { [ 1, 1e-12 * (5 + noise($_)), 1e-6 * noise(3 * $_), 1e6 * noise(5 * $_), 1e12 * (5 + noise(7 * $_)), noise(11 * $_) ] } 1 .. 40);

$node->stop;
done_testing();
