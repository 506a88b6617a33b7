/*
 * test_basis.c
 *	  Basis expansions: against long double and quadruple precision, against the
 *	  kernel they approximate, and against themselves computed another way.
 */
#include <string.h>

#include "core/basis/basis.h"

#include "check.h"
#include "quad.h"

static uint64_t seed = 4;

/* Distance in units of the last place of the exact value. */
static double
ulps(double value, long double exact)
{
	double		size = fabs((double) exact);
	double		unit = size < 0x1p-1000 ? 0x1p-1074 : nextafter(size, INFINITY) - size;

	return (double) fabsl(value - exact) / unit;
}

/* Over all octants, from tiny angles to a million million turns. */
static void
test_sincos(void)
{
	const long double two_pi = 6.283185307179586476925286766559005768L;
	double		worst = 0.0;

	for (int i = 0; i < 300000; i++)
	{
		int			exponent = (int) (check_random(&seed) * 80) - 39;
		double		turns = ldexp(check_random(&seed) - 0.5, exponent);
		long double part = (long double) turns - rintl(turns);
		double		sine,
					cosine;

		wmlc_sincos_turns(wmlc_dd(turns), &sine, &cosine);

		/* the library is exact near the sine's zero at 0 only */
		worst = fmax(worst, ulps(cosine, sinl(two_pi * (0.25L - fabsl(part)))));
		if (fabsl(part) > 0.25L)
			part = (part > 0.0L ? 0.5L : -0.5L) - part;
		worst = fmax(worst, ulps(sine, sinl(two_pi * part)));
	}
	CHECK(worst < 1.0, "%g units in the last place", worst);

	for (int quarter = -9; quarter <= 9; quarter++)
	{
		double		sine,
					cosine;

		wmlc_sincos_turns(wmlc_dd(quarter * 0.25), &sine, &cosine);
		CHECK(sine == (quarter % 2 == 0 ? 0 : (quarter & 3) == 1 ? 1 : -1), "sine %g", sine);
		CHECK(cosine == (quarter % 2 != 0 ? 0 : (quarter & 3) == 0 ? 1 : -1), "cosine %g", cosine);
	}
	{
		double		sine = 0.0,
					cosine = 0.0;

		wmlc_sincos_turns(wmlc_dd(INFINITY), &sine, &cosine);
		CHECK(isnan(sine) && isnan(cosine), "infinite turns");
	}
}

static void
test_log(void)
{
	double		worst = 0.0;

	for (int i = 0; i < 200000; i++)
	{
		int			exponent = (int) (check_random(&seed) * 140) - 70;
		double		value = ldexp(0.5 + check_random(&seed), exponent);

		worst = fmax(worst, ulps(wmlc_log(value), logl(value)));
	}
	CHECK(worst < 2.0, "%g units in the last place", worst);
	CHECK(wmlc_log(1.0) == 0.0, "log 1");
}

static void
rff(int k, const double *x, int m, double lengthscale, uint64_t seed, double *out)
{
	double	   *frequencies = malloc(wmlc_rff_doubles(k, m) * sizeof(double));

	wmlc_rff_prepare(k, m, lengthscale, seed, frequencies, NULL);
	wmlc_rff_apply(k, x, m, frequencies, out, NULL);
	free(frequencies);
}

/* Inner products of features approximate the Gaussian kernel, as 1 / sqrt(m). */
static void
test_rff_kernel(void)
{
	enum
	{
		M = 20000
	};
	static double a[M],
				b[M];

	for (int k = 1; k <= 4; k++)
	{
		for (int round = 0; round < 4; round++)
		{
			double		lengthscale = 0.5 + round;
			double		x[4],
						y[4];
			double		square = 0.0,
						dot = 0.0;

			for (int i = 0; i < k; i++)
			{
				x[i] = 100.0 * check_normal(&seed);
				y[i] = x[i] + 0.6 * lengthscale * check_normal(&seed);
				square += (x[i] - y[i]) * (x[i] - y[i]);
			}
			rff(k, x, M, lengthscale, 12345 + round, a);
			rff(k, y, M, lengthscale, 12345 + round, b);
			for (int j = 0; j < M; j++)
				dot += a[j] * b[j];
			CHECK(fabs(dot - exp(-square / (2.0 * lengthscale * lengthscale))) < 5.0 / sqrt(M),
				  "%g instead of %g", dot, exp(-square / (2.0 * lengthscale * lengthscale)));
		}
	}
}

/*
 * The frequencies themselves: moments of the normal distribution, phases all
 * around, no relation between neighbours.
 */
static void
test_rff_distribution(void)
{
	enum
	{
		M = 100000
	};
	double	   *frequencies = malloc(wmlc_rff_doubles(2, M) * sizeof(double));
	double		moment[5] = {0.0};
	double		phase = 0.0,
				phase_square = 0.0,
				across = 0.0,
				along = 0.0;

	wmlc_rff_prepare(2, M, 1.0 / 6.283185307179586, 42, frequencies, NULL);
	for (int j = 0; j < M; j++)
	{
		double		u = frequencies[j];
		double		v = frequencies[M + j];
		double		w = frequencies[2 * M + j];

		for (int n = 1; n <= 4; n++)
			moment[n] += (pow(v, n) + pow(w, n)) / (2.0 * M);
		phase += u / M;
		phase_square += u * u / M;
		across += v * w / M;
		if (j > 0)
			along += v * frequencies[M + j - 1] / M;
		CHECK(u > 0.0 && u < 1.0, "phase %g", u);
	}
	CHECK(fabs(moment[1]) < 0.01 && fabs(moment[2] - 1.0) < 0.015, "moments %g, %g", moment[1],
		  moment[2]);
	CHECK(fabs(moment[3]) < 0.04 && fabs(moment[4] - 3.0) < 0.1, "moments %g, %g", moment[3],
		  moment[4]);
	CHECK(fabs(phase - 0.5) < 0.005 && fabs(phase_square - 1.0 / 3.0) < 0.005, "phases");
	CHECK(fabs(across) < 0.015 && fabs(along) < 0.015, "correlations %g, %g", across, along);
	free(frequencies);
}

/* First features or all, one seed or another, and what is not finite. */
static void
test_rff_bits(void)
{
	double		x[3] = {0.7, -1e4, 3e7};
	double		single[9],
				many[9],
				fewer[5],
				frequencies[4 * 9];

	CHECK(wmlc_rff_doubles(3, 9) == 36, "space");
	wmlc_rff_prepare(3, 9, 2.5, UINT64_MAX, frequencies, NULL);
	wmlc_rff_apply(3, x, 9, frequencies, many, NULL);
	memcpy(single, many, sizeof(many));
	rff(3, x, 5, 2.5, UINT64_MAX, fewer);
	for (int j = 0; j < 5; j++)
		CHECK_NEAR(fewer[j] / sqrt(2.0 / 5.0), many[j] / sqrt(2.0 / 9.0), 1e-15);
	rff(3, x, 9, 2.5, 1, many);
	CHECK(memcmp(single, many, sizeof(many)) != 0, "the seed does nothing");
	x[1] = INFINITY;
	wmlc_rff_apply(3, x, 9, frequencies, many, NULL);
	CHECK(isnan(many[0]) && isnan(many[8]), "infinite coordinate");
	x[1] = 1e300;
	wmlc_rff_apply(3, x, 9, frequencies, many, NULL);
	CHECK(fabs(many[0]) <= sqrt(2.0 / 9.0), "huge coordinate");

	/* a fixed point of reference for other machines and later versions */
	x[1] = 0.25;
	x[2] = 17.0;
	rff(3, x, 4, 2.0, 7, many);
	CHECK(many[0] == -0x1.faac74354b0b7p-2 && many[1] == 0x1.7f052be7a2b9ep-2 &&
		  many[2] == -0x1.975d4a4eabb8p-2 && many[3] == 0x1.86cebd5830acbp-3,
		  "%a %a %a %a", many[0], many[1], many[2], many[3]);
}

/* All exponents in the documented order, by brute force. */
static void
check_poly(int k, int degree)
{
	static double out[2000];
	double		x[5];
	int			count = wmlc_poly_count(k, degree);
	int			position = 0;

	for (int i = 0; i < k; i++)
		x[i] = 0.5 + check_random(&seed);
	CHECK(count > 0 && count <= 2000, "%d monomials", count);
	wmlc_poly(k, x, degree, out);
	for (int total = 0; total <= degree; total++)
	{
		/* the variables of a monomial, lowest first */
		int			variable[8] = {0};
		bool		more = true;

		while (more)
		{
			double		product = 1.0;
			int			last = total - 1;

			for (int v = 0; v < total; v++)
				product *= x[variable[v]];
			CHECK_NEAR(out[position], product, 1e-14);
			position++;
			while (last >= 0 && variable[last] == k - 1)
				last--;
			more = last >= 0;
			for (int v = total - 1; more && v >= last; v--)
				variable[v] = variable[last] + 1;
		}
	}
	CHECK(position == count, "%d monomials instead of %d", count, position);
}

static void
test_poly(void)
{
	const double x[2] = {2.0, 3.0};
	const double expected[10] = {1, 2, 3, 4, 6, 9, 8, 12, 18, 27};
	double		out[10];

	wmlc_poly(2, x, 3, out);
	CHECK(memcmp(out, expected, sizeof(out)) == 0, "order of the monomials");
	for (int k = 1; k <= 5; k++)
	{
		for (int degree = 0; degree <= 6; degree++)
			check_poly(k, degree);
	}
	CHECK(wmlc_poly_count(3, 0) == 1 && wmlc_poly_count(1, 1000000) == 1000001, "counts");
	CHECK(wmlc_poly_count(30, 5) == 324632 && wmlc_poly_count(5, 30) == 324632, "counts");
	CHECK(wmlc_poly_count(46340, 2) == 1073767311, "counts");
	CHECK(wmlc_poly_count(100000, 2) == -1 && wmlc_poly_count(1000, 1000) == -1 &&
		  wmlc_poly_count(INT32_MAX, INT32_MAX) == -1, "overflow");
}

/* Orthogonal over a period, and right to the last digits after many periods. */
static void
test_fourier(void)
{
	const int	n = 64;
	double		sums[7][7] = {{0.0}};
	double		out[201];
	double		worst = 0.0;

	for (int r = 0; r < n; r++)
	{
		wmlc_fourier(1.7e9 + 86400.0 * 7.0 * r / n, 86400.0 * 7.0, 3, out);
		for (int i = 0; i < 7; i++)
		{
			for (int j = 0; j < 7; j++)
				sums[i][j] += out[i] * out[j] / n;
		}
	}
	for (int i = 0; i < 7; i++)
	{
		for (int j = 0; j < 7; j++)
			CHECK(fabs(sums[i][j] - (i != j ? 0.0 : i == 0 ? 1.0 : 0.5)) < 1e-14,
				  "inner product of %d and %d: %g", i, j, sums[i][j]);
	}

	for (int round = 0; round < 2000; round++)
	{
		double		period = ldexp(0.1 + check_random(&seed), (int) (check_random(&seed) * 40) - 20);
		double		t = (check_random(&seed) - 0.5) * ldexp(period, (int) (check_random(&seed) * 40));
		Quad		turns = (Quad) t / period;

		wmlc_fourier(t, period, 100, out);
		CHECK(out[0] == 1.0, "constant");
		for (int h = 1; h <= 100; h += 9)
		{
			Quad		angle = h * turns;
			long double part;

			angle -= (Quad) rintl((long double) angle);
			part = (long double) angle * 6.283185307179586476925286766559005768L;
			worst = fmax(worst, fabs(out[2 * h - 1] - (double) cosl(part)));
			worst = fmax(worst, fabs(out[2 * h] - (double) sinl(part)));
		}
	}
	CHECK(worst < 2.3e-16, "error %g", worst);

	/* 10^22 is a double, and 1 more than a multiple of 3 */
	wmlc_fourier(1e22, 3.0, 1, out);
	CHECK_NEAR(out[1], -0.5, 2e-16);
	CHECK_NEAR(out[2], 0.8660254037844386, 2e-16);

	wmlc_fourier(-2.5, 10.0, 2, out);
	CHECK(out[1] == 0.0 && out[2] == -1.0 && out[3] == -1.0 && out[4] == 0.0, "a quarter before");
	wmlc_fourier(NAN, 10.0, 1, out);
	CHECK(out[0] == 1.0 && isnan(out[1]) && isnan(out[2]), "NaN");
	wmlc_fourier(3.0, 10.0, 0, out);
	CHECK(out[0] == 1.0, "no harmonics");
}

int
main(void)
{
	test_sincos();
	test_log();
	test_rff_kernel();
	test_rff_distribution();
	test_rff_bits();
	test_poly();
	test_fourier();
	return check_summary();
}
