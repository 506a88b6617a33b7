/*
 * trust_region.c
 *	  A convex quadratic over a ball: eigenvectors, and Newton's method for the
 *	  secular equation |w(multiplier)| = radius (More and Sorensen, "Computing a
 *	  trust region step", 1983).
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/linalg/eigen.h"
#include "core/linalg/trust_region.h"

/* Newton's method doubles the digits; from far away it needs a few steps more. */
#define MAX_STEPS 200

size_t
wmlc_trust_region_workspace(int d)
{
	return (2 * (size_t) d + wmlc_eigen_work(d)) * sizeof(double);
}

/* A power of two that brings the largest entry close to 1. */
static double
unit_of(size_t count, const double *a)
{
	double		largest = 0.0;

	for (size_t k = 0; k < count; k++)
		largest = fmax(largest, fabs(a[k]));
	return largest > 0.0 ? ldexp(1.0, -ilogb(largest)) : 1.0;
}

/*
 * Sums over the eigenvectors at a multiplier: |w|^2, and the derivative of
 * -|w|^2 / 2.
 */
static void
secular_sums(int d, const double *value, const double *g, double multiplier, double *square,
			 double *slope)
{
	*square = 0.0;
	*slope = 0.0;
	for (int i = 0; i < d; i++)
	{
		double		w;

		if (g[i] == 0.0)
			continue;
		w = g[i] / (value[i] + multiplier);
		*square += w * w;
		*slope += w * w / (value[i] + multiplier);
	}
}

/*
 * Newton's method for 1 / |w| = 1 / radius, whose left side is concave: from 0
 * on, where w is too long, it climbs to the root and never passes it but for
 * rounding.
 */
static double
solve_secular(int d, const double *value, const double *g, double radius)
{
	double		multiplier = 0.0;

	for (int step = 0; step < MAX_STEPS; step++)
	{
		double		square,
					slope,
					length,
					next;

		secular_sums(d, value, g, multiplier, &square, &slope);
		length = sqrt(square);
		if (!(length > radius))
			break;
		next = multiplier + (length / radius - 1.0) * (square / slope);
		if (!(next > multiplier))
			break;
		multiplier = next;
	}
	return multiplier;
}

WmlcStatus
wmlc_trust_region(int d, double *a, const double *b, double radius, double *w, double *multiplier,
				  void *work, WmlcPoll poll)
{
	double	   *value = work;
	double	   *g = value + d;	/* b in the basis of the eigenvectors */
	double		noise,
				unit;
	WmlcStatus	status;

	for (size_t k = 0; k < (size_t) d * d; k++)
	{
		if (!isfinite(a[k]))
			return WMLC_NOT_FINITE;
	}
	unit = unit_of((size_t) d * d, a);
	for (size_t k = 0; k < (size_t) d * d; k++)
		a[k] *= unit;
	status = wmlc_eigen(d, a, value, g + d, poll);
	if (status != WMLC_OK)
		return status;
	for (int i = 0; i < d; i++)
		value[i] /= unit;

	/* b has no part where A has none but rounding */
	noise = d * DBL_EPSILON * fmax(value[d - 1], 0.0);
	for (int i = 0; i < d; i++)
		g[i] = value[i] > noise ? cblas_ddot(d, a + (size_t) i * d, 1, b, 1) : 0.0;
	*multiplier = radius > 0.0 ? solve_secular(d, value, g, radius) : 0.0;
	memset(w, 0, d * sizeof(double));
	for (int i = 0; i < d && radius > 0.0; i++)
	{
		if (g[i] != 0.0)
			cblas_daxpy(d, g[i] / (value[i] + *multiplier), a + (size_t) i * d, 1, w, 1);
	}
	for (int i = 0; i < d; i++)
	{
		if (!isfinite(w[i]))
			return WMLC_NOT_FINITE;
	}
	return isfinite(*multiplier) ? WMLC_OK : WMLC_NOT_FINITE;
}
