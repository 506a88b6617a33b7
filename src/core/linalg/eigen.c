/*
 * eigen.c
 *	  Eigenvalues and eigenvectors: see eigen.h.
 *
 * What LAPACK's dsyev does.  Its last step, dsteqr, takes a second for a thousand
 * columns, and nothing inside can be interrupted; beyond LARGE, the same implicit QL
 * iteration (Golub and Van Loan, "Matrix Computations", 8.3) runs here, with a poll
 * in each sweep.
 */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>

#include "core/linalg/eigen.h"

#define LARGE 256
#define MOST_SWEEPS 60

/* The first place from `first` on where the matrix falls into two; rounding is about `noise`. */
static int
split_at(int first, int n, const double *beside, double noise)
{
	int			m = first;

	while (m < n - 1 && fabs(beside[m]) > noise)
		m++;
	return m;
}

static double
largest_of(int n, const double *a, const double *b)
{
	double		largest = 0.0;

	for (int i = 0; i < n; i++)
		largest = fmax(largest, fmax(fabs(a[i]), fabs(b[i])));
	return largest;
}

/* One implicit QL sweep over the part from l to m, with Wilkinson's shift. */
static void
sweep(int n, int l, int m, double *values, double *beside, double *vectors)
{
	double		g = (values[l + 1] - values[l]) / (2.0 * beside[l]);
	double		r = hypot(g, 1.0);
	double		s = 1.0;
	double		c = 1.0;
	double		p = 0.0;

	g = values[m] - values[l] + beside[l] / (g + copysign(r, g));
	for (int i = m - 1; i >= l; i--)
	{
		double		f = s * beside[i];
		double		b = c * beside[i];

		r = hypot(f, g);
		beside[i + 1] = r;
		if (r == 0.0)
		{
			values[i + 1] -= p;
			beside[m] = 0.0;
			return;
		}
		s = f / r;
		c = g / r;
		g = values[i + 1] - p;
		r = (values[i] - g) * s + 2.0 * c * b;
		p = s * r;
		values[i + 1] = g + p;
		g = c * r - b;
		cblas_drot(n, vectors + (size_t) (i + 1) * n, 1, vectors + (size_t) i * n, 1, c, s);
	}
	values[l] -= p;
	beside[l] = g;
	beside[m] = 0.0;
}

static void
sort(int n, double *values, double *vectors)
{
	for (int i = 0; i < n - 1; i++)
	{
		int			least = i;
		double		value;

		for (int j = i + 1; j < n; j++)
			if (values[j] < values[least])
				least = j;
		if (least == i)
			continue;
		value = values[i];
		values[i] = values[least];
		values[least] = value;
		cblas_dswap(n, vectors + (size_t) i * n, 1, vectors + (size_t) least * n, 1);
	}
}

/* The part from l to m in the opposite order. */
static void
reverse(int n, int l, int m, double *values, double *beside, double *vectors)
{
	for (; l < m; l++, m--)
	{
		double		value = values[l];
		double		entry = beside[l];

		values[l] = values[m];
		values[m] = value;
		beside[l] = beside[m - 1];
		beside[m - 1] = entry;
		cblas_dswap(n, vectors + (size_t) l * n, 1, vectors + (size_t) m * n, 1);
	}
}

static WmlcStatus
iterate(int n, double *values, double *beside, double *vectors, WmlcPoll poll)
{
	double		noise;

	beside[n - 1] = 0.0;
	noise = DBL_EPSILON * largest_of(n, values, beside);
	for (int l = 0; l < n; l++)
	{
		int			m;

		for (int count = 0; (m = split_at(l, n, beside, noise)) > l; count++)
		{
			if (wmlc_interrupted(poll))
				return WMLC_INTERRUPTED;
			if (count == MOST_SWEEPS)
				return WMLC_NO_CONVERGENCE;
			/* it converges from the top, and to small values first */
			if (count == 0 && fabs(values[l]) > fabs(values[m]))
				reverse(n, l, m, values, beside, vectors);
			sweep(n, l, m, values, beside, vectors);
		}
	}
	sort(n, values, vectors);
	return WMLC_OK;
}

WmlcStatus
wmlc_eigen(int n, double *a, double *values, double *work, WmlcPoll poll)
{
	double	   *beside = work;
	double	   *reflections = beside + n;
	double	   *lapack = reflections + n;
	lapack_int	size = 36 * n;

	if (wmlc_interrupted(poll))
		return WMLC_INTERRUPTED;
	if (LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', n, a, n, values, beside, reflections, lapack, size) != 0)
		return WMLC_NO_CONVERGENCE;
	if (wmlc_interrupted(poll))
		return WMLC_INTERRUPTED;
	if (LAPACKE_dorgtr_work(LAPACK_COL_MAJOR, 'U', n, a, n, reflections, lapack, size) != 0)
		return WMLC_NO_CONVERGENCE;
	if (n > LARGE)
		return iterate(n, values, beside, a, poll);
	return LAPACKE_dsteqr_work(LAPACK_COL_MAJOR, 'V', n, values, beside, a, n, lapack) == 0
		? WMLC_OK : WMLC_NO_CONVERGENCE;
}
