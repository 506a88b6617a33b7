/*
 * definite.c
 *	  Cholesky's factors of matrices of doubles: see definite.h.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "core/linalg/definite.h"

/* Rows between two polls; the blocks of rows behind take n times as long. */
#define BLOCK 128

/* Our lower triangle by rows is BLAS's upper triangle by columns, L' = U. */
WmlcStatus
wmlc_definite_factor(int n, double *matrix, int stride, WmlcPoll poll)
{
	for (int k = 0; k < n; k += BLOCK)
	{
		int			size = n - k < BLOCK ? n - k : BLOCK;
		int			rest = n - k - size;
		double	   *corner = matrix + (size_t) k * stride + k;
		double	   *right = corner + (size_t) size * stride;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', size, corner, stride) != 0)
			return WMLC_NOT_POSITIVE;
		if (rest == 0)
			break;
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, size, rest,
					1.0, corner, stride, right, stride);
		cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, rest, size, -1.0, right, stride, 1.0,
					right + size, stride);
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
