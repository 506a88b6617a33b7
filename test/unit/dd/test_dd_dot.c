/*
 * test_dd_dot.c
 *	  The dot products that dense linear algebra on grams is made of.
 */
#include "core/dd/dd_dot.h"

#include "check.h"

static uint64_t seed = 7;

static int64_t
random_integer(void)
{
	return (int64_t) floor(check_random(&seed) * 2000001.0) - 1000000;
}

static WmlcDdSpan
random_span(double *space, int n)
{
	WmlcDdSpan	x = {space, space + n};

	for (int i = 0; i < n; i++)
		wmlc_dd_set(x, i, wmlc_two_sum(check_normal(&seed), 1e-17 * check_normal(&seed)));
	return x;
}

static void
test_loops_agree(void)
{
	const WmlcDdLoops *fast = wmlc_dd_loops();
	double		space[4][100];

	for (int n = 0; n <= 50; n++)
	{
		WmlcDdSpan	x = random_span(space[0], n);
		WmlcDdSpan	y = random_span(space[2], n);
		WmlcDd		a = fast->dot(n, x, y);
		WmlcDd		b = wmlc_dd_loops_plain.dot(n, x, y);

		CHECK(a.hi == b.hi && a.lo == b.lo, "dot of length %d", n);
		b = fast->residual(a, n, x, y);
		a = wmlc_dd_loops_plain.residual(a, n, x, y);
		CHECK(a.hi == b.hi && a.lo == b.lo, "residual of length %d", n);
		CHECK(fabs(a.hi) < 1e-29, "dot and residual of length %d differ by %g", n, a.hi);
	}
}

/*
 * Parts 2^80 apart: the products of the hi parts, the mixed ones and those of
 * the lo parts are three integers that do not overlap.  b cancels the first
 * two, so that the residual is what lies below 2^-160 of the sum.
 */
static void
test_residual_digits(void)
{
	double		space[2][40];
	WmlcDdSpan	x = {space[0], space[0] + 20};
	WmlcDdSpan	y = {space[1], space[1] + 20};
	int64_t		high = 0,
				mixed = 0,
				low = 0;
	WmlcDd		b;
	WmlcDd		residual;

	for (int i = 0; i < 20; i++)
	{
		int64_t		x_hi = random_integer();
		int64_t		x_lo = random_integer();
		int64_t		y_hi = random_integer();
		int64_t		y_lo = random_integer();

		wmlc_dd_set(x, i, (WmlcDd) {(double) x_hi * 0x1p40, (double) x_lo * 0x1p-40});
		wmlc_dd_set(y, i, (WmlcDd) {(double) y_hi * 0x1p40, (double) y_lo * 0x1p-40});
		high += x_hi * y_hi;
		mixed += x_hi * y_lo + x_lo * y_hi;
		low += x_lo * y_lo;
	}
	b = (WmlcDd) {(double) high * 0x1p80, (double) mixed};
	residual = wmlc_dd_loops()->residual(b, 20, x, y);
	CHECK(residual.hi == (double) -low * 0x1p-80 && residual.lo == 0.0,
		  "%.17g instead of %.17g", residual.hi * 0x1p80, (double) -low);
}

int
main(void)
{
	test_loops_agree();
	test_residual_digits();
	return check_summary();
}
