/*
 * basis.c
 *	  Basis expansions with the same bits on every machine.
 *
 * Additions, multiplications, divisions and square roots are correctly rounded
 * by IEEE 754, fmod and frexp are exact; everything else is built from them in
 * a fixed order.  Angles are counted in turns, so that reducing them to one
 * turn is exact whatever their size, which in radians it is not.
 */
#include "core/basis/basis.h"

#include <limits.h>

#include "core/base/random.h"

/* Two doubles at a time, the width of a register on every 64-bit processor. */
typedef double Pair __attribute__((vector_size(16)));
typedef int64_t PairMask __attribute__((vector_size(16)));

/* Adding and subtracting this rounds to an integer what is below 2^51. */
#define ROUNDER 0x1.8p52
#define ROUNDABLE 0x1p51

/* 2 pi = TWO_PI + TWO_PI_LOW, and TWO_PI = TWO_PI_HEAD + TWO_PI_TAIL of 26 bits each */
#define TWO_PI 0x1.921fb54442d18p+2
#define TWO_PI_LOW 0x1.1a62633145c07p-52
#define TWO_PI_HEAD 0x1.921fb58p+2
#define TWO_PI_TAIL (-0x1.dde974p-25)

/* log 2 = LOG2_HEAD + LOG2_TAIL, the head short enough to be multiplied exactly */
#define LOG2_HEAD 0x1.62e42fefa2p-1
#define LOG2_TAIL 0x1.9ef35793c7673p-41

/* Veltkamp's splitter */
#define SPLITTER 134217729.0

static inline Pair
pair_of(double x)
{
	return (Pair) {x, x};
}

/*
 * Sine and cosine of 2 pi (turns + low), |turns| <= 1/8.  The angle is a + b in
 * radians; then Taylor's series in a, exact to 2^-60, with b as a correction and
 * the leading terms added last.
 */
static inline void
sincos_eighth(Pair turns, Pair low, Pair *sine, Pair *cosine)
{
	Pair		a = turns * TWO_PI;
	Pair		shifted = turns * SPLITTER;
	Pair		head = shifted - (shifted - turns);
	Pair		tail = turns - head;
	Pair		product_error = ((head * TWO_PI_HEAD - a) + head * TWO_PI_TAIL +
								 tail * TWO_PI_HEAD) + tail * TWO_PI_TAIL;
	Pair		b = product_error + (turns * TWO_PI_LOW + low * TWO_PI);
	Pair		z = a * a;
	Pair		s = pair_of(1.0 / 355687428096000.0);
	Pair		c = pair_of(-1.0 / 6402373705728000.0);
	Pair		half = 0.5 * z;
	Pair		lead = 1.0 - half;

	s = s * z - 1.0 / 1307674368000.0;
	s = s * z + 1.0 / 6227020800.0;
	s = s * z - 1.0 / 39916800.0;
	s = s * z + 1.0 / 362880.0;
	s = s * z - 1.0 / 5040.0;
	s = s * z + 1.0 / 120.0;
	s = s * z - 1.0 / 6.0;
	*sine = a + (s * (z * a) + b * lead);

	c = c * z + 1.0 / 20922789888000.0;
	c = c * z - 1.0 / 87178291200.0;
	c = c * z + 1.0 / 479001600.0;
	c = c * z - 1.0 / 3628800.0;
	c = c * z + 1.0 / 40320.0;
	c = c * z - 1.0 / 720.0;
	c = c * z + 1.0 / 24.0;
	*cosine = lead + (((1.0 - lead) - half) + (c * (z * z) - a * b));
}

void
wmlc_sincos_turns(WmlcDd turns, double *sine, double *cosine)
{
	double		whole = rint(turns.hi);
	WmlcDd		part = wmlc_two_sum(turns.hi - whole, turns.lo);
	double		quarters = rint(4.0 * part.hi);
	WmlcDd		rest = wmlc_two_sum(part.hi - 0.25 * quarters, part.lo);
	Pair		s,
				c;

	if (!isfinite(turns.hi))
	{
		*sine = *cosine = NAN;
		return;
	}
	sincos_eighth(pair_of(rest.hi), pair_of(rest.lo), &s, &c);
	switch ((int) quarters)
	{
		case 0:
			*sine = s[0];
			*cosine = c[0];
			break;
		case 1:
			*sine = c[0];
			*cosine = -s[0];
			break;
		case -1:
			*sine = -c[0];
			*cosine = s[0];
			break;
		default:
			*sine = -s[0];
			*cosine = -c[0];
	}
}

/* Cosine of 2 pi turns, for what can be rounded with ROUNDER. */
static inline Pair
cos_turns(Pair turns)
{
	const PairMask all_but_sign = {INT64_MAX, INT64_MAX};
	Pair		part = turns - ((turns + ROUNDER) - ROUNDER);
	Pair		size = (Pair) ((PairMask) part & all_but_sign);
	Pair		quarters = (4.0 * size + ROUNDER) - ROUNDER;
	Pair		s,
				c;

	sincos_eighth(size - 0.25 * quarters, pair_of(0.0), &s, &c);

	/* the cosine of 0, 1 or 2 quarters and something is its cos, -sin or -cos */
	return (1.0 - quarters) * c + (quarters * (quarters - 2.0)) * s;
}

double
wmlc_log(double x)
{
	int			exponent;
	double		mantissa = frexp(x, &exponent);
	double		f,
				z,
				series;

	if (mantissa < 0x1.6a09e667f3bcdp-1)
	{
		mantissa *= 2.0;
		exponent--;
	}

	/* log m = 2 artanh f = 2 (f + f^3 / 3 + f^5 / 5 + ...), |f| < 0.172 */
	f = (mantissa - 1.0) / (mantissa + 1.0);
	z = f * f;
	series = 1.0 / 23.0;
	for (int n = 21; n >= 3; n -= 2)
		series = series * z + 1.0 / n;
	return exponent * LOG2_HEAD + (2.0 * f + (2.0 * f * z * series + exponent * LOG2_TAIL));
}

/* Uniform on (0, 1), a function of its arguments alone. */
static double
uniform(uint64_t seed, uint64_t feature, uint64_t draw)
{
	uint64_t	bits = wmlc_random_at(wmlc_random_at(seed, 0), feature);

	return wmlc_random_open(wmlc_random_at(bits, draw));
}

/* Phase of a feature, in turns. */
static double
rff_phase(uint64_t seed, int feature)
{
	return uniform(seed, feature, 0);
}

/* Frequency of a feature along a coordinate, in turns; Box and Muller 1958. */
static double
rff_frequency(uint64_t seed, int feature, int coordinate, double lengthscale)
{
	double		radius = sqrt(-2.0 * wmlc_log(uniform(seed, feature, 2 * (uint64_t) coordinate + 1)));
	double		turns = uniform(seed, feature, 2 * (uint64_t) coordinate + 2);
	Pair		cosine = cos_turns(pair_of(turns));

	return radius * cosine[0] / TWO_PI / lengthscale;
}

/* sqrt(2 / m) cos(2 pi turns) */
static inline Pair
rff_value(Pair turns, double scale)
{
	PairMask	roundable = (turns > -ROUNDABLE) & (turns < ROUNDABLE);

	/* beyond, next to nothing is left of the phase; NaN goes this way, too */
	if (__builtin_expect((roundable[0] & roundable[1]) == 0, 0))
		turns = (Pair) {turns[0] - rint(turns[0]), turns[1] - rint(turns[1])};
	return scale * cos_turns(turns);
}

size_t
wmlc_rff_doubles(int k, int m)
{
	return ((size_t) k + 1) * m;
}

/* Phases first, then the frequencies along each coordinate. */
WmlcStatus
wmlc_rff_prepare(int k, int m, double lengthscale, uint64_t seed, double *frequencies,
				 WmlcPoll poll)
{
	for (int j = 0; j < m; j++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		frequencies[j] = rff_phase(seed, j);
		for (int i = 0; i < k; i++)
			frequencies[(i + 1) * (size_t) m + j] = rff_frequency(seed, j, i, lengthscale);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_rff_apply(int k, const double *x, int m, const double *frequencies, double *out,
			   WmlcPoll poll)
{
	double		scale = sqrt(2.0 / m);

	for (int j = 0; j < m; j += 2)
	{
		int			other = j + 1 < m ? j + 1 : j;
		Pair		turns = {frequencies[j], frequencies[other]};
		Pair		value;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int i = 0; i < k; i++)
		{
			const double *along = frequencies + (i + 1) * (size_t) m;

			turns += (Pair) {along[j], along[other]} * x[i];
		}
		value = rff_value(turns, scale);
		out[j] = value[0];
		out[other] = j == other ? value[0] : value[1];
	}
	return WMLC_OK;
}

/* n + k over k when that is an int, else -1 */
static int
binomial(int n, int k)
{
	int64_t		count = 1;

	for (int i = 1; i <= k; i++)
	{
		count = count * ((int64_t) n + i) / i;
		if (count > INT_MAX)
			return -1;
	}
	return (int) count;
}

int
wmlc_poly_count(int k, int degree)
{
	return k < degree ? binomial(degree, k) : binomial(k, degree);
}

/*
 * The monomials of degree g are x_0 times all of degree g - 1, then x_1 times
 * those without x_0, then x_2 times those without x_0 and x_1, and so on; those
 * without the first i variables stand last.
 */
void
wmlc_poly(int k, const double *x, int degree, double *out)
{
	double	   *end = out + 1;	/* of what is there */

	*out = 1.0;
	for (int g = 1; g <= degree; g++)
	{
		const double *lower_end = end;

		for (int i = 0; i < k; i++)
		{
			/* monomials of degree g - 1 in the k - i variables left */
			const double *lower = lower_end - binomial(k - i - 1, g - 1);

			while (lower < lower_end)
				*end++ = x[i] * *lower++;
		}
	}
}

void
wmlc_fourier(double t, double period, int harmonics, double *out)
{
	double		rest = fmod(t, period);
	double		turns = rest / period;
	WmlcDd		product = wmlc_two_prod(turns, period);
	WmlcDd		exact = {turns, ((rest - product.hi) - product.lo) / period};

	*out++ = 1.0;
	for (int h = 1; h <= harmonics; h++)
	{
		wmlc_sincos_turns(wmlc_dd_mul_d(exact, h), &out[1], &out[0]);
		out += 2;
	}
}
