/*
 * condition.c
 *	  The condition number of a factored matrix.
 *
 * The largest eigenvalues of M and of M^-1.  Those LAPACK finds to nearly all
 * digits of a double, while the smallest eigenvalue of M would have none left
 * of a condition beyond 1e16; and M^-1 is known in double-double.
 */
#include "solve.h"

#include <lapacke.h>

/* Doubles of LAPACK's own workspace for each column: its blocks, and three more. */
#define LAPACK_DOUBLES 35

size_t
wmlc_solve_condition_workspace(int d)
{
	return (size_t) d * (d + 1 + LAPACK_DOUBLES) * sizeof(double);
}

/* The largest eigenvalue of a symmetric matrix, of which the lower triangle is there. */
static double
largest_eigenvalue(int d, double *matrix, double *work)
{
	for (int j = 0; j < d; j++)
		for (int i = j; i < d; i++)
			if (!isfinite(matrix[i + (size_t) j * d]))
				return INFINITY;
	if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', d, matrix, d, work, work + d,
						   LAPACK_DOUBLES * d) != 0)
		return NAN;
	return work[d - 1];
}

WmlcStatus
wmlc_solve_condition(WmlcSolver *solver, double *condition, void *work, WmlcPoll poll)
{
	int			d = solver->d;
	double	   *matrix = (double *) work;
	double	   *scratch = matrix + (size_t) d * d;
	double		largest_unit = INFINITY;
	double		largest;

	*condition = INFINITY;
	if (solver->rank < d)
		return WMLC_OK;

	/* In the caller's units M is unit_i matrix_ij unit_j, but for a common factor. */
	for (int i = 0; i < d; i++)
		largest_unit = fmin(largest_unit, solver->scale[i]);
	for (int j = 0; j < d; j++)
		for (int i = j; i < d; i++)
			matrix[i + (size_t) j * d] = wmlc_square_row(solver->matrix, i).hi[j]
				* (largest_unit / solver->scale[i]) * (largest_unit / solver->scale[j]);
	largest = largest_eigenvalue(d, matrix, scratch);
	for (int j = 0; j < d; j++)
	{
		WmlcDdSpan	x = solver->solution;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int i = 0; i < d; i++)
			wmlc_dd_set(x, i, wmlc_dd(i == j ? 1.0 : 0.0));
		wmlc_cholesky_solve(solver->kernels, solver->factor, d, x);
		for (int i = j; i < d; i++)
			matrix[i + (size_t) j * d] = wmlc_dd_value(wmlc_dd_get(x, i))
				* (solver->scale[i] / largest_unit) * (solver->scale[j] / largest_unit);
	}
	*condition = largest * largest_eigenvalue(d, matrix, scratch);
	return isnan(*condition) ? WMLC_NOT_FINITE : WMLC_OK;
}
