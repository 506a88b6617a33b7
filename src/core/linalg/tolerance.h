/*
 * tolerance.h
 *	  When a number counts as zero in a factorisation: the one place.
 *
 * A pivot is the share of a column's squared length that is independent of the
 * columns before it.  At or below what rounding can leave of a dependent column
 * it counts as zero, and the column as dependent.  Whoever factors sums of rows
 * asks here, so that all agree on the rank of the same gram.
 */
#ifndef WMLC_TOLERANCE_H
#define WMLC_TOLERANCE_H

#include <float.h>
#include <math.h>

/*
 * Sums in double-double, d columns over so many rows.
 *
 * Below lies noise.  Columns that are dependent but for the rounding of their
 * doubles (a + b, Celsius beside Fahrenheit) leave 1e-37 to 1e-32.  The sums of
 * n rows carry a relative error of at most n 2^-106: measured on such columns,
 * up to 8e-31 for 100 rows, 4e-29 for a million rows of random values, where
 * errors cancel, and 2e-33 n for columns of few distinct values (a price and
 * the price with tax), where they need not.  The factorisation added at most
 * 2e-28, at d = 200 and rank 100.
 *
 * Above lie honest problems.  The smallest pivot of a polynomial in the year
 * 1950 to 2020 is 1e-12 (cubic), 5e-23 (degree 5), 1e-27 (degree 6), that of
 * NIST's Filip 2e-18, of Longley 7e-9.
 */
static inline double
wmlc_zero_pivot(int d, double rows)
{
	const double factorisation = 0x1p-95;	/* 2.5e-29 */
	const double row_noise = 0x1p-107;	/* 6.2e-33 */

	return d * (factorisation + rows * row_noise);
}

/*
 * Entries that were rounded to double: each is as wrong as the operations that
 * made it, and those of a factor of n columns are n.  A kernel from SQL takes a
 * few hundred, so that no smaller number is believed.
 */
static inline double
wmlc_zero_pivot_double(double n)
{
	return DBL_EPSILON * fmax(n, 256.0);
}

/*
 * A remainder further below zero than this share of its diagonal is no rounding
 * error but says that the matrix is indefinite: half the digits of a double, for
 * callers whose matrix was rounded to double on the way.
 */
#define WMLC_CLEARLY_NEGATIVE 0x1p-26

/*
 * A remainder below zero can only be noise, and so measures the noise; others
 * up to this many times its size are not trusted either.
 */
#define WMLC_NOISE_MARGIN 16.0

/*
 * Without pivoting, as in the triangle of one task, errors grow: a pivot is
 * noise if it is small by the first and makes another negative by the second,
 * and only the third says that no rows can have such sums.
 */
#define WMLC_SMALL_UNPIVOTED 1e-8
#define WMLC_NEGATIVE_UNPIVOTED 1e-12
#define WMLC_INDEFINITE_UNPIVOTED 1e-4

/*
 * A direction with less than this share of a coordinate's variance, of which
 * rehearsals draw rows, is rounding of moments that were brought to plain doubles
 * of size 1; drawing none along it changes no row by more than 1e-5 of its spread.
 */
#define WMLC_DEPENDENT_DRAW 1e-10

/*
 * Loadings of length about 1, products of plain doubles, that come this close to
 * a combination of others add nothing to their span.
 */
#define WMLC_DEPENDENT_LOADING 1e-11

#endif							/* WMLC_TOLERANCE_H */
