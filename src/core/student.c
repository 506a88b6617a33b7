/*
 * student.c
 *	  Quantiles of Student's t and of the normal distribution.
 *
 * The tail of t is an incomplete beta function (Abramowitz, Stegun 26.7.1),
 * taken from its continued fraction (26.5.8) by Lentz's method; quantiles are
 * found by Newton's method on the logarithm of the tail, which is concave
 * enough to need few steps and is kept inside a bracket all the same.
 */
#include <float.h>
#include <math.h>

#include "student.h"

#define MOST_TERMS 500
#define MOST_STEPS 100

/* From here on t is normal to double precision in all but the far tail. */
#define NORMAL_DEGREES 1e12

/* The continued fraction of I_x(a, b) for x < (a + 1) / (a + b + 2). */
static double
beta_fraction(double x, double a, double b)
{
	double		c = 1.0;
	double		d = 1.0 / (1.0 - (a + b) * x / (a + 1.0));
	double		h = d;

	for (int m = 1; m < MOST_TERMS; m++)
	{
		double		even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
		double		odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
		double		change;

		d = 1.0 / (1.0 + even * d);
		c = 1.0 + even / c;
		h *= c * d;
		d = 1.0 / (1.0 + odd * d);
		c = 1.0 + odd / c;
		change = c * d;
		h *= change;
		if (fabs(change - 1.0) < DBL_EPSILON)
			break;
	}
	return h;
}

/* log of x^a (1 - x)^b / B(a, b), given 1 - x separately */
static double
log_beta_term(double x, double rest, double a, double b)
{
	return lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest);
}

double
wmlc_student_tail(double x, double degrees)
{
	double		a = 0.5 * degrees;
	double		b = 0.5;
	double		square = x * x / degrees;
	double		y = 1.0 / (1.0 + square);
	double		rest = square / (1.0 + square);
	double		term;

	if (degrees >= NORMAL_DEGREES)
		return 0.5 * erfc(x * M_SQRT1_2);
	if (x == 0.0)
		return 0.5;
	if (isinf(x))
		return 0.0;
	term = exp(log_beta_term(y, rest, a, b));
	if (y < (a + 1.0) / (a + b + 2.0))
		return 0.5 * term * beta_fraction(y, a, b) / a;
	return 0.5 - 0.5 * term * beta_fraction(rest, b, a) / b;
}

static double
student_density(double x, double degrees)
{
	if (degrees >= NORMAL_DEGREES)
		return exp(-0.5 * x * x) / sqrt(2.0 * M_PI);
	return exp(lgamma(0.5 * (degrees + 1.0)) - lgamma(0.5 * degrees)
			   - 0.5 * (degrees + 1.0) * log1p(x * x / degrees)) / sqrt(M_PI * degrees);
}

double
wmlc_student_bound(double level, double degrees)
{
	double		target = 0.5 * (1.0 - level);
	double		low = 0.0;
	double		high = 1.0;
	double		x;

	if (level <= 0.0)
		return 0.0;
	if (level >= 1.0)
		return INFINITY;
	while (wmlc_student_tail(high, degrees) > target)
	{
		low = high;
		high *= 2.0;
		if (isinf(high))
			return INFINITY;
	}
	x = 0.5 * (low + high);
	for (int k = 0; k < MOST_STEPS && high - low > 2.0 * DBL_EPSILON * high; k++)
	{
		double		tail = wmlc_student_tail(x, degrees);
		double		next = x + log(tail / target) * tail / student_density(x, degrees);

		if (tail > target)
			low = x;
		else
			high = x;
		if (!(next > low && next < high))
			next = 0.5 * (low + high);
		if (fabs(next - x) <= DBL_EPSILON * x)
			return next;
		x = next;
	}
	return x;
}
