/*
 * gram_internal.h
 *	  What the files that make and change grams share.
 */
#ifndef WMLC_GRAM_INTERNAL_H
#define WMLC_GRAM_INTERNAL_H

#include "core/gram/gram.h"

/*
 * Rounding leaves at most some (2^-97 + n 2^-105) sqrt(G_ii G_jj) in an entry
 * (docs/mathematics.md).  A sum below this fraction of that scale is noise
 * around zero: it would depend on the order of the rows and tells nothing.
 */
#define WMLC_GRAM_NOISE 0x1p-90

/* a + b; what is not finite propagates as it does in plain doubles. */
static inline WmlcDd
wmlc_add_or_propagate(WmlcDd a, WmlcDd b)
{
	double		plain = a.hi + b.hi;

	return isfinite(plain) ? wmlc_dd_add(a, b) : wmlc_dd(plain);
}

/* A bound of what a bounds, and of b: NaN has none. */
static inline double
wmlc_larger_bound(double a, double b)
{
	return isnan(b) ? INFINITY : (a > b ? a : b);
}

/* Can the other be added to the gram, or taken away? */
static inline WmlcStatus
wmlc_gram_check_dims(const WmlcGram *gram, const WmlcGram *other)
{
	return gram->dims == other->dims || other->dims == 0 ? WMLC_OK : WMLC_DIMENSION_MISMATCH;
}

/* False when the sum of the counts is too large. */
static inline bool
wmlc_add_count(int64_t *count, int64_t other)
{
	return !__builtin_add_overflow(*count, other, count);
}

/*
 * Squares of weights below 2^-400 or above 2^400 are kept in a unit of their
 * own, for they would be lost otherwise, or their sum.
 */
#define WMLC_WEIGHT_EXPONENT 640

static inline int64_t
wmlc_weight_exponent(double weight)
{
	return weight > 0x1p400 ? WMLC_WEIGHT_EXPONENT : weight < 0x1p-400 ? -WMLC_WEIGHT_EXPONENT : 0;
}

/* The square in the unit of that exponent. */
static inline WmlcDd
wmlc_weight_square(double weight, int64_t exponent)
{
	if (exponent != 0)
		weight = ldexp(weight, (int) -exponent);
	return wmlc_two_prod(weight, weight);
}

/* a 2^exponent */
static inline WmlcDd
wmlc_dd_ldexp(WmlcDd a, int64_t exponent)
{
	return wmlc_dd_normalize((WmlcDd) {ldexp(a.hi, (int) exponent), ldexp(a.lo, (int) exponent)});
}

/* A sum of squares in the larger one of the two units, which becomes the gram's. */
static inline WmlcDd
wmlc_align_weight_squares(WmlcGram *gram, WmlcDd squares, int64_t exponent)
{
	if (gram->weight_exponent == exponent)
		return squares;
	if (gram->weight_squares.hi == 0.0 || gram->weight_exponent < exponent)
	{
		gram->weight_squares = wmlc_dd_ldexp(gram->weight_squares, 2 * (gram->weight_exponent - exponent));
		gram->weight_exponent = exponent;
		return squares;
	}
	return wmlc_dd_ldexp(squares, 2 * (exponent - gram->weight_exponent));
}

/*
 * A row whose powers are not finite comes (change 1) or goes (-1): it is counted
 * among the exceptions, and its bad entries by column.  Its finite part, zero
 * where there is none and padded, is what is in the sums; false when it has none
 * because of its weight.
 */
extern bool wmlc_gram_count_exception(WmlcGram *gram, const double *z, double weight, int change,
									  double *finite);

#endif							/* WMLC_GRAM_INTERNAL_H */
