/*
 * panels.c
 *	  BLAS and LAPACK in parts: see panels.h.
 */
#include <lapacke.h>
#include <string.h>

#include "core/linalg/panels.h"

/* Reflections that are applied together, and columns that they are applied to at a time. */
#define REFLECTIONS 32
#define REFLECTED 64

static int
width_at(int first, int count)
{
	return count - first < WMLC_PANEL ? count - first : WMLC_PANEL;
}

/* b = op(a) b or b op(a), or with the inverse of op(a), by columns of b or by rows. */
static WmlcStatus
apply_triangle(CBLAS_SIDE side, bool invert, CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a,
			   int m, double *b, WmlcPoll poll)
{
	bool		left = side == CblasLeft;
	int			stride = left ? n : m;

	for (int k = 0; k < m; k += WMLC_PANEL)
	{
		int			rows = left ? n : width_at(k, m);
		int			columns = left ? width_at(k, m) : n;
		double	   *part = left ? b + (size_t) k * n : b + k;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (invert)
			cblas_dtrsm(CblasColMajor, side, half, op, CblasNonUnit, rows, columns, 1.0, a, n, part, stride);
		else
			cblas_dtrmm(CblasColMajor, side, half, op, CblasNonUnit, rows, columns, 1.0, a, n, part, stride);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_panel_solve(CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a, int m, double *b,
				 WmlcPoll poll)
{
	return apply_triangle(CblasLeft, true, half, op, n, a, m, b, poll);
}

WmlcStatus
wmlc_panel_multiply(CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a, int m, double *b,
					WmlcPoll poll)
{
	return apply_triangle(CblasLeft, false, half, op, n, a, m, b, poll);
}

WmlcStatus
wmlc_panel_solve_right(CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a, int m, double *b,
					   WmlcPoll poll)
{
	return apply_triangle(CblasRight, true, half, op, n, a, m, b, poll);
}

WmlcStatus
wmlc_panel_product(int n, const double *a, const double *b, double *c, WmlcPoll poll)
{
	for (int k = 0; k < n; k += WMLC_PANEL)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, width_at(k, n), n, 1.0, a, n,
					b + (size_t) k * n, n, 0.0, c + (size_t) k * n, n);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_panel_outer(int n, int k, const double *a, double *result, WmlcPoll poll)
{
	memset(result, 0, (size_t) n * n * sizeof(double));
	for (int j = 0; j < n && k > 0; j += WMLC_PANEL)
	{
		int			width = width_at(j, n);
		int			below = n - j - width;
		double	   *corner = result + j + (size_t) j * n;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, width, k, 1.0, a + j, n, 0.0, corner, n);
		if (below > 0)
			cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, below, width, k, 1.0, a + j + width, n,
						a + j, n, 0.0, corner + width, n);
	}
	for (int j = 0; j < n; j++)
		for (int i = j + 1; i < n; i++)
			result[j + (size_t) i * n] = result[i + (size_t) j * n];
	return WMLC_OK;
}

/*
 * The reflections of a panel, applied to the columns behind it.  LAPACK's dormqr would do
 * it, but joins strings, for which it takes the library of a Fortran compiler.
 */
static WmlcStatus
reflect_rest(int height, int stride, int width, const double *panel, const double *tau, int rest,
			 double *behind, double *work, WmlcPoll poll)
{
	double	   *t = work;
	double	   *space = t + REFLECTIONS * REFLECTIONS;

	(void) LAPACKE_dlarft_work(LAPACK_COL_MAJOR, 'F', 'C', height, width, panel, stride, tau, t, REFLECTIONS);
	for (int j = 0; j < rest; j += REFLECTED)
	{
		int			count = rest - j < REFLECTED ? rest - j : REFLECTED;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		(void) LAPACKE_dlarfb_work(LAPACK_COL_MAJOR, 'L', 'T', 'F', 'C', height, count, width, panel, stride,
								   t, REFLECTIONS, behind + (size_t) j * stride, stride, space, REFLECTED);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_panel_qr(int rows, int n, double *a, double *tau, double *work, int size, WmlcPoll poll)
{
	int			columns = n < rows ? n : rows;

	if (wmlc_interrupted(poll))
		return WMLC_INTERRUPTED;
	if (n <= WMLC_PANEL)
	{
		if (n > 0)
			(void) LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, n, a, rows, tau, work, size);
		return WMLC_OK;
	}
	for (int k = 0; k < columns; k += REFLECTIONS)
	{
		int			width = columns - k < REFLECTIONS ? columns - k : REFLECTIONS;
		double	   *panel = a + k + (size_t) k * rows;

		(void) LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows - k, width, panel, rows, tau + k, work, size);
		if (k + width < n &&
			reflect_rest(rows - k, rows, width, panel, tau + k, n - k - width, panel + (size_t) width * rows,
						 work, poll) != WMLC_OK)
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}
