/*
 * definite.c
 *	  Cholesky's factors of matrices of doubles: see definite.h.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "core/linalg/definite.h"

/* Rows of the factor at a time, and columns of what is behind them between two polls. */
#define BLOCK 128
#define BEHIND 512

/* The rows of a block, whose corner is factored, and what they take off from all behind it. */
static WmlcStatus
factor_rest(int size, int rest, const double *corner, double *right, int stride, WmlcPoll poll)
{
	double	   *square = right + size;

	for (int j = 0; j < rest; j += BEHIND)
	{
		int			width = rest - j < BEHIND ? rest - j : BEHIND;
		double	   *panel = right + (size_t) j * stride;
		double	   *target = square + (size_t) j * stride;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, size, width,
					1.0, corner, stride, panel, stride);
		if (j > 0)
			cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, j, width, size, -1.0, right, stride,
						panel, stride, 1.0, target, stride);
		cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, width, size, -1.0, panel, stride, 1.0,
					target + j, stride);
	}
	return WMLC_OK;
}

/* Our lower triangle by rows is BLAS's upper triangle by columns, L' = U. */
WmlcStatus
wmlc_definite_factor(int n, double *matrix, int stride, WmlcPoll poll)
{
	for (int k = 0; k < n; k += BLOCK)
	{
		int			size = n - k < BLOCK ? n - k : BLOCK;
		int			rest = n - k - size;
		double	   *corner = matrix + (size_t) k * stride + k;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', size, corner, stride) != 0)
			return WMLC_NOT_POSITIVE;
		if (factor_rest(size, rest, corner, corner + (size_t) size * stride, stride, poll) != WMLC_OK)
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

void
wmlc_definite_solve(int n, const double *factor, int stride, double *x)
{
	cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, n, factor, stride, x, 1);
	cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, n, factor, stride, x, 1);
}

/*
 * Row by row.  LAPACK's dpotrf stops at a zero pivot, and dpstrf goes on only by
 * changing the order.  With 42 columns factor and inverse take 20 us, twice the
 * time of dpotrf and dtrtri (test/bench/bench_loops.c), in iterations of a
 * network's training that take over a thousand.
 */
WmlcStatus
wmlc_semidefinite_factor(int n, double *matrix, int stride, double tolerance, WmlcPoll poll)
{
	for (int i = 0; i < n; i++)
	{
		double	   *row = matrix + (size_t) i * stride;
		double		pivot;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int j = 0; j < i; j++)
		{
			const double *other = matrix + (size_t) j * stride;

			row[j] = other[j] > 0.0 ? (row[j] - cblas_ddot(j, row, 1, other, 1)) / other[j] : 0.0;
		}
		pivot = row[i] - cblas_ddot(i, row, 1, row, 1);
		row[i] = pivot > tolerance * row[i] ? sqrt(pivot) : 0.0;
	}
	return WMLC_OK;
}

/* Column i is row i of the inverse of L. */
void
wmlc_semidefinite_inverse(int n, const double *factor, int stride, double *inverse)
{
	for (int i = 0; i < n; i++)
	{
		const double *row = factor + (size_t) i * stride;

		if (row[i] == 0.0)
			continue;
		for (int k = 0; k < i; k++)
		{
			double	   *to = inverse + (size_t) k * stride;

			to[i] = -cblas_ddot(i - k, to + k, 1, row + k, 1) / row[i];
		}
		inverse[(size_t) i * stride + i] = 1.0 / row[i];
	}
}
