/*
 * student.c
 *	  Quantiles of Student's t and of the normal distribution, and tails of F and
 *	  of chi-square.
 *
 * The tail of t is an incomplete beta function (Abramowitz, Stegun 26.7.1),
 * taken from its continued fraction (26.5.8) by Lentz's method.  Quantiles are
 * found by Newton's method on the logarithm of the tail, inside a bracket.
 */
#include <float.h>
#include <math.h>

#include "core/base/student.h"

#define MOST_TERMS 500
#define MOST_STEPS 100

/*
 * The continued fraction takes about sqrt(degrees) terms.  From here on two terms
 * of Fisher's expansion in 1 / degrees are as good.
 */
#define LARGE_DEGREES 1e5

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

/*
 * log of gamma(a + 1/2) / gamma(a).  The two nearly cancel for large a, so take
 * the asymptotic series there (Abramowitz, Stegun 6.1.40, differences of).
 */
static double
log_gamma_step(double a)
{
	double		i = 1.0 / a;

	if (a < 25.0)
		return lgamma(a + 0.5) - lgamma(a);
	return 0.5 * log(a) - i / 8.0
		+ i * i * i * (1.0 / 192.0 - i * i * (1.0 / 640.0 - i * i * 17.0 / 14336.0));
}

/* The normal deviate with the same tail; x is not too large for many degrees. */
static double
normal_equivalent(double x, double degrees)
{
	double		i = 1.0 / degrees;
	double		square = x * x;

	if (isinf(degrees) || square * square > degrees)
		return x;
	return x * (1.0 - i * (square + 1.0) / 4.0
				+ i * i * ((13.0 * square + 8.0) * square + 3.0) / 96.0);
}

double
wmlc_student_tail(double x, double degrees)
{
	double		a = 0.5 * degrees;
	double		b = 0.5;
	double		square = x * x / degrees;
	double		y = 1.0 / (1.0 + square);
	double		rest = square / (1.0 + square);
	double		term;			/* y^a rest^b / B(a, b) */

	if (degrees >= LARGE_DEGREES)
		return 0.5 * erfc(normal_equivalent(x, degrees) * M_SQRT1_2);
	if (x == 0.0)
		return 0.5;
	if (isinf(x))
		return 0.0;
	term = exp(log_gamma_step(a) - a * log1p(square)) * sqrt(rest / M_PI);
	if (y < (a + 1.0) / (a + b + 2.0))
		return 0.5 * term * beta_fraction(y, a, b) / a;
	return 0.5 - 0.5 * term * beta_fraction(rest, b, a) / b;
}

/* An incomplete beta function again (Abramowitz, Stegun 26.6.2). */
double
wmlc_f_tail(double x, double numerator, double denominator)
{
	double		a = 0.5 * denominator;
	double		b = 0.5 * numerator;
	double		y = denominator / (denominator + numerator * x);
	double		term;

	if (!(x > 0.0))
		return isnan(x) ? NAN : 1.0;
	if (!(y > 0.0))
		return 0.0;
	term = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(y) + b * log1p(-y));
	if (y < (a + 1.0) / (a + b + 2.0))
		return term * beta_fraction(y, a, b) / a;
	return 1.0 - term * beta_fraction(1.0 - y, b, a) / b;
}

/*
 * An incomplete gamma function, from its series (Abramowitz, Stegun 6.5.29) or
 * its continued fraction (6.5.31).
 */
double
wmlc_chi_square_tail(double x, double degrees)
{
	double		a = 0.5 * degrees;
	double		y = 0.5 * x;
	double		scale;

	if (!(x > 0.0))
		return isnan(x) ? NAN : 1.0;
	if (isinf(x))
		return 0.0;
	scale = exp(a * log(y) - y - lgamma(a));
	if (y < a + 1.0)
	{
		double		term = 1.0 / a;
		double		sum = term;

		for (int k = 1; k < 100 * MOST_TERMS && term > DBL_EPSILON * sum; k++)
		{
			term *= y / (a + k);
			sum += term;
		}
		return fmax(1.0 - scale * sum, 0.0);
	}
	else
	{
		double		b = y + 1.0 - a;
		double		c = 1.0 / DBL_MIN;
		double		d = 1.0 / b;
		double		h = d;

		for (int k = 1; k < 100 * MOST_TERMS; k++)
		{
			double		an = -k * (k - a);
			double		change;

			b += 2.0;
			d = 1.0 / (an * d + b);
			c = b + an / c;
			change = c * d;
			h *= change;
			if (fabs(change - 1.0) < DBL_EPSILON)
				break;
		}
		return scale * h;
	}
}

static double
student_density(double x, double degrees)
{
	if (isinf(degrees))
		return exp(-0.5 * x * x) / sqrt(2.0 * M_PI);
	return exp(log_gamma_step(0.5 * degrees) - 0.5 * (degrees + 1.0) * log1p(x * x / degrees))
		/ sqrt(M_PI * degrees);
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

void
wmlc_student_table(double level, WmlcStudentTable *table)
{
	double		values[WMLC_STUDENT_TERMS];
	int			n = WMLC_STUDENT_TERMS;

	table->level = level;
	for (int k = 0; k < n; k++)
	{
		double		inverse = 0.5 + 0.5 * cos(M_PI * (k + 0.5) / n);

		values[k] = log(wmlc_student_bound(level, 1.0 / inverse));
	}
	for (int i = 0; i < n; i++)
	{
		double		sum = 0.0;

		for (int k = 0; k < n; k++)
			sum += values[k] * cos(M_PI * i * (k + 0.5) / n);
		table->terms[i] = (i == 0 ? 1.0 : 2.0) * sum / n;
	}
}

/* Clenshaw's recurrence */
double
wmlc_student_look_up(const WmlcStudentTable *table, double degrees)
{
	double		x = 2.0 / degrees - 1.0;
	double		b1 = 0.0;
	double		b2 = 0.0;

	if (!(degrees >= 1.0))
		return wmlc_student_bound(table->level, degrees);
	for (int i = WMLC_STUDENT_TERMS - 1; i > 0; i--)
	{
		double		next = table->terms[i] + 2.0 * x * b1 - b2;

		b2 = b1;
		b1 = next;
	}
	return exp(table->terms[0] + x * b1 - b2);
}
