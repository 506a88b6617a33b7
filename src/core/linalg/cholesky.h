/*
 * cholesky.h
 *	  Cholesky factor of a symmetric matrix of double-doubles, one column at a
 *	  time, and the triangular systems that go with it.
 *
 * Matrix and factor share one n x n square stored by rows.  Column k of the
 * factor goes into column k and, transposed, into row k, so that both
 * triangular systems and the next columns are dot products of contiguous runs.
 */
#ifndef WMLC_CHOLESKY_H
#define WMLC_CHOLESKY_H

#include "core/dd/dd_dot.h"

typedef struct WmlcSquare
{
	int			stride;			/* elements from row to row */
	WmlcDdSpan	span;
} WmlcSquare;

static inline WmlcDdSpan
wmlc_square_row(WmlcSquare square, int i)
{
	return wmlc_dd_from(square.span, (size_t) i * square.stride);
}

/*
 * Turn column k, rows k to n - 1, from matrix into factor; columns before k are
 * factor already.  `remainder` holds the diagonal of the Schur complement, what
 * earlier columns leave unexplained; it must be positive at k, and the new
 * column is taken off it.
 */
extern void wmlc_cholesky_column(const WmlcDdLoops *loops, WmlcSquare square,
								 int k, int n, WmlcDdSpan remainder);

/* The same for row i alone, of a column k that is factor already. */
extern void wmlc_cholesky_entry(const WmlcDdLoops *loops, WmlcSquare square,
								int k, int i, WmlcDdSpan remainder);

/* x = L^-1 x, for the leading n x n block; x is known to be 0 before `first`. */
extern void wmlc_cholesky_forward(const WmlcDdLoops *loops, WmlcSquare factor,
								  int first, int n, WmlcDdSpan x);

/* x = (L L')^-1 x, for the leading n x n block */
extern void wmlc_cholesky_solve(const WmlcDdLoops *loops, WmlcSquare factor,
								int n, WmlcDdSpan x);

#endif							/* WMLC_CHOLESKY_H */
