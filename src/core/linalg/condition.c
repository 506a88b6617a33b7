/*
 * condition.c
 *	  The condition number of a factored matrix.
 *
 * The largest eigenvalues of M and of M^-1.  Those LAPACK finds to nearly all
 * digits of a double, while the smallest eigenvalue of M would have none left
 * of a condition beyond 1e16; and M^-1 is known in double-double.
 */
#include "core/linalg/eigenvalue.h"
#include "core/linalg/solve.h"

size_t
wmlc_solve_condition_workspace(int d)
{
	return (size_t) d * (d + WMLC_EIGENVALUE_WORK) * sizeof(double);
}

WmlcStatus
wmlc_solve_condition(WmlcSolver *solver, double *condition, void *work, WmlcPoll poll)
{
	int			d = solver->factor.d;
	double	   *matrix = (double *) work;
	double	   *scratch = matrix + (size_t) d * d;
	size_t		scratch_doubles = (size_t) d * WMLC_EIGENVALUE_WORK;
	double		least_scale = INFINITY;
	double		largest,
				largest_inverse;
	WmlcStatus	status;

	*condition = INFINITY;
	if (solver->factor.rank < d)
		return WMLC_OK;

	/* In the caller's units M is matrix_ij / (scale_i scale_j), but for a common factor. */
	for (int i = 0; i < d; i++)
		least_scale = fmin(least_scale, solver->factor.scale[i]);
	for (int j = 0; j < d; j++)
		for (int i = j; i < d; i++)
			matrix[i + (size_t) j * d] = wmlc_square_row(solver->factor.matrix, i).hi[j]
				* (least_scale / solver->factor.scale[i]) * (least_scale / solver->factor.scale[j]);
	status = wmlc_largest_eigenvalue(d, matrix, d, scratch, scratch_doubles, &largest);
	if (status != WMLC_OK)
		return status;
	for (int j = 0; j < d; j++)
	{
		WmlcDdSpan	x = solver->solution;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int i = 0; i < d; i++)
			wmlc_dd_set(x, i, wmlc_dd(i == j ? 1.0 : 0.0));
		wmlc_cholesky_solve(solver->factor.loops, solver->factor.square, d, x);
		for (int i = j; i < d; i++)
			matrix[i + (size_t) j * d] = wmlc_dd_value(wmlc_dd_get(x, i))
				* (solver->factor.scale[i] / least_scale) * (solver->factor.scale[j] / least_scale);
	}
	status = wmlc_largest_eigenvalue(d, matrix, d, scratch, scratch_doubles, &largest_inverse);
	*condition = largest * largest_inverse;
	return status == WMLC_OK && isnan(*condition) ? WMLC_NOT_FINITE : status;
}
