/*
 * solve.c
 *	  Symmetric positive semidefinite systems in double-double.
 *
 * 1. Scale, and factor with diagonal pivoting, in double-double: factor.c.  It
 *	  finds the rank.
 * 2. Refine the solution with residuals in about 159 bits (Higham, "Accuracy
 *	  and Stability of Numerical Algorithms", chapter 12).  As long as the factor
 *	  is good to a few bits, that is for condition numbers up to about 1e28, the
 *	  solution becomes that of the sums as given, right to 15 digits or more; what
 *	  error is left is the error of the sums.
 * 3. Singular matrices continue in min_norm.c.
 */
#include "core/linalg/solve.h"

#include "core/linalg/min_norm.h"
#include "core/linalg/tolerance.h"

/* Refinement ends with a correction this small relative to the solution. */
#define SMALL_CORRECTION 0x1p-80

/* From this pivot on the factor alone gives the inverse to 16 digits. */
#define EASY_PIVOT 0x1p-40

static void
lay_out(WmlcSolver *solver, int d, WmlcArena *arena)
{
	size_t		n = (size_t) d;

	wmlc_factor_layout(&solver->factor, d, false, arena);
	solver->factor.square = (WmlcSquare) {d, wmlc_arena_span(arena, n * n)};
	solver->factor.matrix = (WmlcSquare) {d, wmlc_arena_span(arena, n * n)};
	solver->overlap = (WmlcSquare) {d, wmlc_arena_span(arena, n * n)};
	solver->vector = wmlc_arena_span(arena, n);
	solver->rhs = wmlc_arena_span(arena, n);
	solver->solution = wmlc_arena_span(arena, n);
	solver->correction = wmlc_arena_span(arena, n);
}

size_t
wmlc_solve_workspace(int d)
{
	WmlcArena	arena = {NULL, 0};
	WmlcSolver	solver;

	lay_out(&solver, d, &arena);
	return arena.used;
}

WmlcStatus
wmlc_solve_factor(WmlcSolver *solver, int d, int p, const double *hi, const double *lo,
				  double rows, double ridge, void *work, WmlcPoll poll)
{
	WmlcArena	arena = {work, 0};
	WmlcStatus	status;

	lay_out(solver, d, &arena);
	wmlc_factor_load(&solver->factor, p, hi, lo, ridge);
	status = wmlc_factor(&solver->factor, wmlc_zero_pivot(d, rows), poll);
	if (status == WMLC_OK && solver->factor.rank < d)
		status = wmlc_min_norm_prepare(solver, poll);
	return status;
}

static double
largest_entry(int n, WmlcDdSpan x)
{
	double		largest = 0.0;

	for (int i = 0; i < n; i++)
		largest = fmax(largest, fabs(x.hi[i]));
	return largest;
}

/* Solution of the leading n x n block of the equilibrated matrix for `rhs`. */
static WmlcStatus
solve_refined(WmlcSolver *solver, int n, WmlcPoll poll)
{
	WmlcDdSpan	rhs = solver->rhs;
	WmlcDdSpan	x = solver->solution;
	WmlcDdSpan	correction = solver->correction;
	double		previous = INFINITY;

	for (int i = 0; i < n; i++)
	{
		wmlc_dd_set(x, i, wmlc_dd(0.0));
		wmlc_dd_set(correction, i, wmlc_dd_get(rhs, i));
	}
	for (;;)
	{
		double		size;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		wmlc_cholesky_solve(solver->factor.loops, solver->factor.square, n, correction);
		size = largest_entry(n, correction);
		if (size > previous / 2.0)
			return WMLC_OK;		/* no more progress */
		for (int i = 0; i < n; i++)
			wmlc_dd_set(x, i, wmlc_dd_add(wmlc_dd_get(x, i), wmlc_dd_get(correction, i)));
		if (!(size > SMALL_CORRECTION * largest_entry(n, x)))
			return WMLC_OK;
		previous = size;
		for (int i = 0; i < n; i++)
			wmlc_dd_set(correction, i,
						solver->factor.loops->residual(wmlc_dd_get(rhs, i), n,
												  wmlc_square_row(solver->factor.matrix, i), x));
	}
}

WmlcStatus
wmlc_solve_leading(WmlcSolver *solver, int n, WmlcDdSpan v, WmlcPoll poll)
{
	WmlcStatus	status;

	for (int i = 0; i < n; i++)
		wmlc_dd_set(solver->rhs, i, wmlc_dd_scale(wmlc_dd_get(v, i), solver->factor.scale[i]));
	status = solve_refined(solver, n, poll);
	for (int i = 0; i < n; i++)
		wmlc_dd_set(v, i, wmlc_dd_scale(wmlc_dd_get(solver->solution, i), solver->factor.scale[i]));
	return status;
}

/* solver->vector = (A + ridge I)^-1 solver->vector */
static WmlcStatus
solve_vector(WmlcSolver *solver, WmlcPoll poll)
{
	if (solver->factor.rank < solver->factor.d)
		return wmlc_min_norm_solve(solver, solver->vector, poll);
	return wmlc_solve_leading(solver, solver->factor.d, solver->vector, poll);
}

WmlcStatus
wmlc_solve(WmlcSolver *solver, const WmlcDd *b, WmlcDd *w, WmlcPoll poll)
{
	double		largest = 0.0;
	double		unit;
	WmlcStatus	status;

	for (int i = 0; i < solver->factor.d; i++)
	{
		if (!isfinite(b[i].hi) || !isfinite(b[i].lo))
			return WMLC_NOT_FINITE;
		largest = fmax(largest, fabs(b[i].hi));
	}

	/* keep products of b away from underflow and overflow */
	unit = largest == 0.0 ? 1.0 : ldexp(1.0, ilogb(largest) < -1000 ? -1000 : ilogb(largest));
	for (int i = 0; i < solver->factor.d; i++)
		wmlc_dd_set(solver->vector, i,
					wmlc_dd_scale(wmlc_dd_normalize(b[solver->factor.column[i]]), 1.0 / unit));
	status = solve_vector(solver, poll);
	if (status != WMLC_OK)
		return status;
	for (int i = 0; i < solver->factor.d; i++)
	{
		WmlcDd		value = wmlc_dd_scale(wmlc_dd_get(solver->vector, i), unit);

		if (!isfinite(value.hi) || !isfinite(value.lo))
			return WMLC_NOT_FINITE;
		w[solver->factor.column[i]] = value;
	}
	return WMLC_OK;
}

/* Entry (i, i) of the inverse, from the factor alone or by refinement. */
static WmlcStatus
inverse_entry(WmlcSolver *solver, int i, WmlcDd *entry, WmlcPoll poll)
{
	WmlcDdSpan	v = solver->vector;
	WmlcStatus	status;

	for (int k = 0; k < solver->factor.d; k++)
		wmlc_dd_set(v, k, wmlc_dd(k == i ? 1.0 : 0.0));
	if (solver->factor.rank == solver->factor.d && solver->factor.smallest_pivot > EASY_PIVOT)
	{
		WmlcDdSpan	tail = wmlc_dd_from(v, i);

		/* the squared length of column i of L^-1 */
		wmlc_cholesky_forward(solver->factor.loops, solver->factor.square, i, solver->factor.d, v);
		*entry = solver->factor.loops->dot(solver->factor.d - i, tail, tail);
		*entry = wmlc_dd_scale(*entry, solver->factor.scale[i]);
		*entry = wmlc_dd_scale(*entry, solver->factor.scale[i]);
		return wmlc_interrupted(poll) ? WMLC_INTERRUPTED : WMLC_OK;
	}
	status = solve_vector(solver, poll);
	*entry = wmlc_dd_get(v, i);
	return status;
}

WmlcStatus
wmlc_solve_inverse_diagonal(WmlcSolver *solver, WmlcDd *diagonal, WmlcPoll poll)
{
	for (int i = 0; i < solver->factor.d; i++)
	{
		WmlcDd	   *entry = &diagonal[solver->factor.column[i]];
		WmlcStatus	status = inverse_entry(solver, i, entry, poll);

		if (status != WMLC_OK)
			return status;
		if (!isfinite(entry->hi) || !isfinite(entry->lo))
			return WMLC_NOT_FINITE;
	}
	return WMLC_OK;
}
