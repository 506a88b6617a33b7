/*
 * definite.c
 *	  Cholesky's factor of a matrix of doubles: see definite.h.
 */
#include <cblas.h>
#include <lapacke.h>

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
