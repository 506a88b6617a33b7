/*
 * eigenvalue.c
 *	  The largest eigenvalue of a symmetric matrix: see eigenvalue.h.
 */
#include <math.h>

#include <lapacke.h>

#include "core/linalg/eigenvalue.h"

WmlcStatus
wmlc_largest_eigenvalue(int d, double *matrix, int stride, double *work, size_t work_doubles,
						double *eigenvalue)
{
	*eigenvalue = INFINITY;
	for (int j = 0; j < d; j++)
		for (int i = j; i < d; i++)
			if (!isfinite(matrix[i + (size_t) j * stride]))
				return WMLC_OK;
	if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', d, matrix, stride, work, work + d,
						   (lapack_int) work_doubles - d) != 0)
		return WMLC_NO_CONVERGENCE;
	*eigenvalue = work[d - 1];
	return WMLC_OK;
}
