/*
 * condition.c
 *	  Estimates the condition number of a factored matrix.
 *
 * Hager's method as given by Higham (ACM TOMS 14, 1988): climb the convex
 * function |M^-1 x|_1 over the unit ball from vertex to vertex, which takes a
 * few solves instead of the d that the inverse would.
 */
#include "solve.h"

#define MAX_CLIMBS 5

/* x_i = x_i unit_i */
static void
rescale(int d, WmlcDdSpan x, const double *unit)
{
	if (unit != NULL)
		for (int i = 0; i < d; i++)
			wmlc_dd_set(x, i, wmlc_dd_scale(wmlc_dd_get(x, i), unit[i]));
}

/* x = M^-1 x; returns |M^-1 x|_1 */
static double
apply_inverse(WmlcSolver *solver, WmlcDdSpan x, const double *unit)
{
	double		norm = 0.0;

	rescale(solver->d, x, unit);
	wmlc_cholesky_solve(solver->kernels, solver->factor, solver->d, x);
	rescale(solver->d, x, unit);
	for (int i = 0; i < solver->d; i++)
		norm += fabs(x.hi[i]);
	return norm;
}

/* The vertex on which the function rises steepest, from x = M^-1 (last vertex). */
static int
steepest_vertex(WmlcSolver *solver, WmlcDdSpan x, const double *unit)
{
	int			best = 0;

	for (int i = 0; i < solver->d; i++)
		wmlc_dd_set(x, i, wmlc_dd(x.hi[i] < 0.0 ? -1.0 : 1.0));
	apply_inverse(solver, x, unit);
	for (int i = 1; i < solver->d; i++)
		if (fabs(x.hi[i]) > fabs(x.hi[best]))
			best = i;
	return best;
}

static double
inverse_norm(WmlcSolver *solver, const double *unit)
{
	int			d = solver->d;
	WmlcDdSpan	x = solver->solution;
	double		norm;

	for (int i = 0; i < d; i++)
		wmlc_dd_set(x, i, wmlc_dd(1.0 / d));
	norm = apply_inverse(solver, x, unit);
	for (int climb = 0; climb < MAX_CLIMBS; climb++)
	{
		int			vertex = steepest_vertex(solver, x, unit);
		double		higher;

		for (int i = 0; i < d; i++)
			wmlc_dd_set(x, i, wmlc_dd(i == vertex ? 1.0 : 0.0));
		higher = apply_inverse(solver, x, unit);
		if (!(higher > norm))
			break;
		norm = higher;
	}

	/* Higham's safeguard against matrices on which the climb stalls */
	for (int i = 0; i < d; i++)
		wmlc_dd_set(x, i, wmlc_dd((i % 2 == 0 ? 1.0 : -1.0) * (1.0 + (double) i / d)));
	return fmax(norm, 2.0 * apply_inverse(solver, x, unit) / (3.0 * d));
}

static double
matrix_norm(const WmlcSolver *solver, const double *unit)
{
	double		norm = 0.0;

	for (int i = 0; i < solver->d; i++)
	{
		WmlcDdSpan	row = wmlc_square_row(solver->matrix, i);
		double		sum = 0.0;

		for (int j = 0; j < solver->d; j++)
			sum += unit == NULL ? fabs(row.hi[j]) : fabs(row.hi[j]) / unit[i] / unit[j];
		norm = fmax(norm, sum);
	}
	return norm;
}

void
wmlc_solve_condition(WmlcSolver *solver, double *user, double *equilibrated)
{
	*user = INFINITY;
	*equilibrated = INFINITY;
	if (solver->rank == solver->d)
	{
		*user = matrix_norm(solver, solver->scale) * inverse_norm(solver, solver->scale);
		*equilibrated = matrix_norm(solver, NULL) * inverse_norm(solver, NULL);
	}
}
