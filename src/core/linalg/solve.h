/*
 * solve.h
 *	  Solves (A + ridge I) w = b for symmetric positive semidefinite A given in
 *	  double-double, so that no digit the sums hold is lost on the way to w.
 *
 * Use: wmlc_solve_factor once, then any of the questions below in any order.
 *
 * A is the leading d x d block of a p x p triangle, p >= d, stored row by row
 * as grams are (wmlc_triangle_index), hi and lo parts in arrays of their own.
 * A gram is such a triangle with p = d + 1, whose last column holds b.
 *
 * Where A + ridge I is singular, its inverse below means the pseudoinverse, and
 * w is the least-squares solution of least Euclidean norm in the units of the
 * caller, pinv(A) b.
 */
#ifndef WMLC_SOLVE_H
#define WMLC_SOLVE_H

#include <stddef.h>

#include "core/linalg/factor.h"

/* All but the factor is private to solve.c, min_norm.c and condition.c. */
typedef struct WmlcSolver
{
	WmlcFactor	factor;			/* of A + ridge I, and the scaled matrix */
	WmlcSquare	overlap;		/* see min_norm.c; only when rank < d */

	/* in the order of elimination: */
	WmlcDdSpan	vector;			/* the caller's b, then w */
	WmlcDdSpan	rhs;			/* scratch of wmlc_solve_leading */
	WmlcDdSpan	solution;
	WmlcDdSpan	correction;
} WmlcSolver;

/* Bytes of workspace, aligned for double, that a system of d unknowns takes. */
extern size_t wmlc_solve_workspace(int d);

/*
 * Factor A + ridge I.  `rows` is how many rows A sums over, 0 when it is no such
 * sum: every row adds rounding noise, above which a column must stand out to
 * count as independent.  The solver keeps pointers into `work`, none to the
 * triangle.  WMLC_NOT_FINITE: NaN or infinity in A or ridge.  WMLC_NOT_POSITIVE:
 * A + ridge I has an eigenvalue too negative to be rounding.
 */
extern WmlcStatus wmlc_solve_factor(WmlcSolver *solver, int d, int p,
									const double *hi, const double *lo, double rows,
									double ridge, void *work, WmlcPoll poll);

/* w = (A + ridge I)^-1 b.  WMLC_NOT_FINITE: b is not finite, or w overflows. */
extern WmlcStatus wmlc_solve(WmlcSolver *solver, const WmlcDd *b, WmlcDd *w, WmlcPoll poll);

/* The diagonal of (A + ridge I)^-1, for standard errors. */
extern WmlcStatus wmlc_solve_inverse_diagonal(WmlcSolver *solver, WmlcDd *diagonal,
											  WmlcPoll poll);

/*
 * The largest eigenvalue of A + ridge I over the smallest; infinite when
 * singular.  Its square root is what R's kappa(exact = TRUE) and
 * numpy.linalg.cond() say of a design X with X'X = A.
 */
extern size_t wmlc_solve_condition_workspace(int d);
extern WmlcStatus wmlc_solve_condition(WmlcSolver *solver, double *condition, void *work,
									   WmlcPoll poll);

/*
 * For min_norm.c: v = (leading n x n block of A + ridge I)^-1 v, in the order of
 * elimination; n <= rank.
 */
extern WmlcStatus wmlc_solve_leading(WmlcSolver *solver, int n, WmlcDdSpan v, WmlcPoll poll);

#endif							/* WMLC_SOLVE_H */
