/*
 * gamma.c
 *	  Derivatives of the logarithm of the gamma function: recurrence, then the
 *	  asymptotic series (Abramowitz, Stegun 6.3, 6.4).
 */
#include "core/base/gamma.h"

#include <math.h>

double
wmlc_digamma(double x)
{
	double		shift = 0.0;
	double		i;

	for (; x < 8.0; x += 1.0)
		shift -= 1.0 / x;
	i = 1.0 / (x * x);
	return shift + log(x) - 0.5 / x
		- i * (1.0 / 12 - i * (1.0 / 120 - i * (1.0 / 252 - i * (1.0 / 240 - i / 132))));
}

double
wmlc_trigamma(double x)
{
	double		shift = 0.0;
	double		i;

	for (; x < 8.0; x += 1.0)
		shift += 1.0 / (x * x);
	i = 1.0 / (x * x);
	return shift + 1.0 / x + 0.5 * i
		+ i / x * (1.0 / 6 - i * (1.0 / 30 - i * (1.0 / 42 - i * (1.0 / 30 - i * 5.0 / 66))));
}

/* By bisection of log x: 1 / x < trigamma(x) < 1 / x + 1 / x^2. */
double
wmlc_inverse_trigamma(double y)
{
	double		low = -log(y);
	double		high = log(0.5 + sqrt(0.25 + y)) - log(y);

	for (int i = 0; i < 60; i++)
	{
		double		middle = 0.5 * (low + high);

		if (wmlc_trigamma(exp(middle)) > y)
			low = middle;
		else
			high = middle;
	}
	return exp(0.5 * (low + high));
}
