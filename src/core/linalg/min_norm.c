/*
 * min_norm.c
 *	  Least-squares solution of least norm for a singular positive semidefinite
 *	  matrix: w = pinv(A) b, in the units of the caller.
 *
 * The pivoted factorisation has split the columns into r independent ones and
 * the others, which are combinations W of them.  In the order of elimination,
 * with B = (I W) and A11 the leading r x r block,
 *
 *	  A = B' A11 B,		pinv(A) = B' S^-1 A11^-1 S^-1 B,	S = B B' = I + W W'.
 *
 * Read from the right this projects b onto the range of A, solves the
 * nonsingular system, and spreads the answer over dependent columns so that
 * its norm is least.  A11 is the only ill-conditioned matrix here, and it is
 * solved by refinement; W is too.  The projection S^-1 B b is computed as
 *
 *	  b1 + S^-1 W (b2 - W' b1),
 *
 * which leaves b1 alone when b is in the range, as it is but for rounding when
 * it comes from the same rows as A.
 *
 * W' and W live in the corners of the factor's square that the factorisation
 * of a matrix of rank r leaves unused, S and its factor in solver->overlap.
 */
#include "core/linalg/min_norm.h"

/* W' by row: the coefficients of dependent column j */
static WmlcDdSpan
coefficients_of(const WmlcSolver *solver, int j)
{
	return wmlc_square_row(solver->factor.square, j);
}

/* W by row: how independent column i enters the dependent ones */
static WmlcDdSpan
uses_of(const WmlcSolver *solver, int i)
{
	return wmlc_dd_from(wmlc_square_row(solver->factor.square, i), solver->factor.rank);
}

/*
 * How large a coefficient rounding can make of zero, between columns scaled to
 * the same length.  Pivots are known to within the tolerance, coefficients to
 * within it over the smallest pivot; but what shows in a double is trusted.
 */
static double
coefficient_noise(const WmlcSolver *solver)
{
	return fmin(solver->factor.tolerance / solver->factor.smallest_pivot, DBL_EPSILON / 2.0);
}

/*
 * Express a dependent column by those that it was found to depend on, and by
 * no later ones.  Coefficients that are but noise must become zero: noise times
 * the square of a ratio of units, as it comes out of S, need not be small.
 */
static WmlcStatus
find_coefficients(WmlcSolver *solver, int j, WmlcPoll poll)
{
	WmlcDdSpan	row = wmlc_square_row(solver->factor.matrix, j);
	WmlcDdSpan	v = solver->vector;
	int			n = solver->factor.depends_on[j];
	double		noise = coefficient_noise(solver);
	WmlcStatus	status;

	/* column j of A in the caller's units */
	for (int i = 0; i < n; i++)
		wmlc_dd_set(v, i, wmlc_dd_scale(wmlc_dd_scale(wmlc_dd_get(row, i),
													  1.0 / solver->factor.scale[i]),
										1.0 / solver->factor.scale[j]));
	status = wmlc_solve_leading(solver, n, v, poll);
	for (int i = 0; i < solver->factor.rank; i++)
	{
		WmlcDd		value = i < n ? wmlc_dd_get(v, i) : wmlc_dd(0.0);

		if (fabs(value.hi) * solver->factor.scale[j] <= noise * solver->factor.scale[i])
			value = wmlc_dd(0.0);
		wmlc_dd_set(coefficients_of(solver, j), i, value);
		wmlc_dd_set(uses_of(solver, i), j - solver->factor.rank, value);
	}
	return status;
}

static WmlcStatus
factor_overlap(WmlcSolver *solver, WmlcPoll poll)
{
	int			r = solver->factor.rank;

	for (int i = 0; i < r; i++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int k = 0; k <= i; k++)
		{
			WmlcDd		entry = solver->factor.loops->dot(solver->factor.d - r, uses_of(solver, i),
													 uses_of(solver, k));

			if (k == i)
			{
				entry = wmlc_dd_add_d(entry, 1.0);
				wmlc_dd_set(solver->factor.remainder, i, entry);
			}
			wmlc_dd_set(wmlc_square_row(solver->overlap, i), k, entry);
		}
	}
	for (int k = 0; k < r; k++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		wmlc_cholesky_column(solver->factor.loops, solver->overlap, k, r, solver->factor.remainder);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_min_norm_prepare(WmlcSolver *solver, WmlcPoll poll)
{
	for (int j = solver->factor.rank; j < solver->factor.d; j++)
	{
		WmlcStatus	status = find_coefficients(solver, j, poll);

		if (status != WMLC_OK)
			return status;
	}
	return factor_overlap(solver, poll);
}

/*
 * How far b_j is from the combination of b1 that column j is.  A distance that
 * the noise of W explains is zero: A11^-1 would amplify it.
 */
static WmlcDd
inconsistency(const WmlcSolver *solver, WmlcDdSpan b, int j)
{
	WmlcDdSpan	coefficients = coefficients_of(solver, j);
	WmlcDd		distance = solver->factor.loops->residual(wmlc_dd_get(b, j), solver->factor.rank,
													 coefficients, b);
	double		size = fabs(b.hi[j]);

	for (int i = 0; i < solver->factor.rank; i++)
		size += fabs(coefficients.hi[i] * b.hi[i]);
	return fabs(distance.hi) <= coefficient_noise(solver) * size ? wmlc_dd(0.0) : distance;
}

/* The first r entries of the projection of b onto the range of A. */
static void
project(WmlcSolver *solver, WmlcDdSpan b)
{
	int			r = solver->factor.rank;
	WmlcDdSpan	outside = wmlc_dd_from(b, r);
	WmlcDdSpan	shift = solver->correction;

	for (int j = r; j < solver->factor.d; j++)
		wmlc_dd_set(b, j, inconsistency(solver, b, j));
	for (int i = 0; i < r; i++)
		wmlc_dd_set(shift, i, solver->factor.loops->dot(solver->factor.d - r, uses_of(solver, i), outside));
	wmlc_cholesky_solve(solver->factor.loops, solver->overlap, r, shift);
	for (int i = 0; i < r; i++)
		wmlc_dd_set(b, i, wmlc_dd_add(wmlc_dd_get(b, i), wmlc_dd_get(shift, i)));
}

WmlcStatus
wmlc_min_norm_solve(WmlcSolver *solver, WmlcDdSpan b, WmlcPoll poll)
{
	int			r = solver->factor.rank;
	WmlcStatus	status;

	project(solver, b);
	status = wmlc_solve_leading(solver, r, b, poll);
	wmlc_cholesky_solve(solver->factor.loops, solver->overlap, r, b);
	for (int j = r; j < solver->factor.d; j++)
		wmlc_dd_set(b, j, solver->factor.loops->dot(r, coefficients_of(solver, j), b));
	return status;
}
