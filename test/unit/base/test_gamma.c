/*
 * test_gamma.c
 *	  Digamma and trigamma against closed forms, recurrences and each other.
 */
#include "check.h"
#include "core/base/gamma.h"

#define EULER 0.57721566490153286061

int
main(void)
{
	double		harmonic = 0.0;
	double		squares = 0.0;

	/* whole and half numbers */
	for (int n = 1; n < 60; n++)
	{
		CHECK_NEAR(wmlc_digamma(n), harmonic - EULER, 1e-12);
		CHECK_NEAR(wmlc_trigamma(n), M_PI * M_PI / 6.0 - squares, 1e-12);
		harmonic += 1.0 / n;
		squares += 1.0 / ((double) n * n);
	}
	CHECK_NEAR(wmlc_digamma(0.5), -EULER - 2.0 * M_LN2, 1e-12);
	CHECK_NEAR(wmlc_trigamma(0.5), M_PI * M_PI / 2.0, 1e-12);

	/* slopes, and back again */
	for (double x = 0.05; x < 1e4; x *= 1.7)
	{
		double		h = 1e-4 * x;

		CHECK_NEAR((lgamma(x + h) - lgamma(x - h)) / (2.0 * h) / wmlc_digamma(x), 1.0, 1e-5);
		CHECK_NEAR((wmlc_digamma(x + h) - wmlc_digamma(x - h)) / (2.0 * h) / wmlc_trigamma(x), 1.0, 1e-5);
		CHECK_NEAR(wmlc_inverse_trigamma(wmlc_trigamma(x)) / x, 1.0, 1e-9);
	}
	CHECK(wmlc_inverse_trigamma(1e-12) > 1e11 && wmlc_inverse_trigamma(1e12) < 1e-5, "far out");
	return check_summary();
}
