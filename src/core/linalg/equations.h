/*
 * equations.h
 *	  Weighted least squares from equations g'w = h that arrive one by one and
 *	  whose weights may differ by any number of orders of magnitude.
 *
 * The state is the triangular factor R of a QR decomposition of the equations
 * so far, R w = q, updated by plane rotations.  Weights of 1e40 beside 1 would
 * wipe the light equations out of a sum of g g'.  A rotation mixes two rows and
 * keeps each to its own relative precision, whichever of them is the heavier;
 * see Cox and Higham, "Stability of Householder QR factorization for weighted
 * least squares problems" (1998), on why that matters.
 *
 * The one danger is a row that begins with something tiny compared to the rest
 * of it: where a zero should be, say, after rounding.  Rotated with a light row,
 * it would put much of itself into that.  So what is below 2^-53 of the row's
 * largest entry, with columns of like size, is taken for zero.  At worst half
 * of the digits are lost, if it was not; or if something just larger was.
 */
#ifndef WMLC_EQUATIONS_H
#define WMLC_EQUATIONS_H

#include "core/dd/dd_vector.h"
#include "core/base/status.h"

typedef struct WmlcEquations
{
	int			d;				/* unknowns */

	/*
	 * Powers of two by which the columns are multiplied, to bring them to about
	 * the same size.
	 */
	const double *scale;

	/*
	 * The rows of R, columns scaled, with q behind them, packed as the triangle
	 * of a gram (the corner is not used).  Row i begins with a nonzero, or is
	 * all zeros when no equation determines unknown i from the later ones.
	 * All zeros is the empty system.
	 */
	WmlcDdSpan	triangle;

	/* So many of the unknowns, the first, are auxiliary and of any size. */
	int			auxiliary;
} WmlcEquations;

/* The scale for a column with this sum of squares. */
extern double wmlc_equations_scale(double sum_of_squares);

/* Row i of R: the entries from column i on, columns scaled, and q_i. */
extern WmlcDdSpan wmlc_equations_row(const WmlcEquations *equations, int i);

/*
 * Add the equation row_0 w_0 + ... + row_(d-1) w_(d-1) = row_d, whose weight is
 * the square of its length; the row is used up.  WMLC_NOT_FINITE: so is the row.
 */
extern WmlcStatus wmlc_equations_add(const WmlcEquations *equations, WmlcDdSpan row);

/*
 * Add all of the other's equations, multiplied by `factor`; `row` is scratch of d
 * + 1 entries.
 */
extern WmlcStatus wmlc_equations_merge(const WmlcEquations *equations,
									   const WmlcEquations *other, WmlcDd factor,
									   WmlcDdSpan row, WmlcPoll poll);

/*
 * A least-squares solution, and how many unknowns the equations determine; the
 * others are 0.  WMLC_NOT_FINITE: something overflowed.
 */
extern WmlcStatus wmlc_equations_solve(const WmlcEquations *equations, WmlcDd *w, int *rank);

#endif							/* WMLC_EQUATIONS_H */
