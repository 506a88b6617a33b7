/*
 * factor.h
 *	  The pivoted Cholesky factor of a positive semidefinite matrix of
 *	  double-doubles: which columns are independent, and how the others hang on
 *	  them.  Everything that needs the rank of a gram takes it from here.
 *
 * Rows and columns are first scaled by powers of two, which is exact, to a
 * diagonal of about 1.  The condition number is then within a factor d of the
 * least any scaling can reach (van der Sluis 1969): units of features cost no
 * digits.
 *
 * Use: lay out, fill the square (wmlc_factor_load does so from a packed
 * triangle), factor.  In the order of elimination, column k of the factor L is
 * then in column k of the square and, transposed, in row k.
 */
#ifndef WMLC_FACTOR_H
#define WMLC_FACTOR_H

#include "core/base/arena.h"
#include "core/base/status.h"
#include "core/linalg/cholesky.h"

typedef struct WmlcFactor
{
	int			d;				/* columns to choose pivots from */

	/*
	 * d, or d + 1 with a passenger: a last column, a response say, that is
	 * explained by the others but explains nothing, and keeps its position.
	 * Nothing is asked of it but that it is finite.
	 */
	int			size;
	int			rank;

	/*
	 * Set by a caller to whom it matters that the order does not depend on units:
	 * always take the column of which the largest share is left.
	 */
	bool		by_share;

	/*
	 * The least share of a column's squared length that the columns eliminated
	 * before it leave unexplained, over the independent columns: 1 when all
	 * are orthogonal, and roughly 1 / condition.
	 */
	double		smallest_pivot;
	double		tolerance;		/* a pivot at or below it counts as zero */

	/*
	 * The order of elimination: position i stands for column column[i] of the
	 * matrix.  The first `rank` are independent; position i from there on
	 * depends on the first depends_on[i], and L has zeros behind those.
	 */
	int		   *column;
	int		   *depends_on;

	/* in that order: */
	double	   *scale;			/* powers of two */
	double	   *diagonal;		/* of the scaled matrix */
	WmlcDdSpan	remainder;		/* of it, what is not explained */
	WmlcSquare	square;			/* the matrix, then the factor */
	WmlcSquare	matrix;			/* the scaled matrix, if the caller has room for it */
	const WmlcDdLoops *loops;
} WmlcFactor;

/* All but the squares, which are the caller's; without `matrix` there is none. */
extern void wmlc_factor_layout(WmlcFactor *factor, int d, bool passenger, WmlcArena *arena);

/*
 * Fill the square from the leading block of a p x p triangle, packed as grams
 * are, with ridge added to the diagonal.
 */
extern void wmlc_factor_load(const WmlcFactor *factor, int p, const double *hi, const double *lo,
							 double ridge);

/*
 * Factor the square, of which both triangles are filled.  The tolerance is one
 * of tolerance.h; the factor may raise it by the noise that it sees.
 * WMLC_NOT_FINITE: NaN or infinity in the matrix.  WMLC_NOT_POSITIVE: an
 * eigenvalue is too negative to be rounding.
 */
extern WmlcStatus wmlc_factor(WmlcFactor *factor, double tolerance, WmlcPoll poll);

/* The power of two that brings a positive diagonal entry into [1/2, 2), by its square. */
extern double wmlc_equilibrating_scale(double diagonal);

/* Entry (i, k) of L in the order of elimination, i >= k. */
static inline WmlcDd
wmlc_factor_entry(const WmlcFactor *factor, int i, int k)
{
	bool		beyond = i >= factor->rank && i < factor->d && k >= factor->depends_on[i];

	return beyond ? (WmlcDd) {0.0, 0.0} : wmlc_dd_get(wmlc_square_row(factor->square, k), i);
}

/*
 * The whitening basis of the matrix: R with R A R' = I, `rank` rows of d entries
 * in the caller's columns and units, zero in dependent columns.  `column` is
 * scratch of d entries.
 */
extern void wmlc_factor_inverse(const WmlcFactor *factor, WmlcSquare inverse, WmlcDdSpan column);

#endif							/* WMLC_FACTOR_H */
