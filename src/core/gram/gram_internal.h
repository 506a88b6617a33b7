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

/* Is feature i equal to 1 in every row? */
extern bool wmlc_gram_is_constant(const WmlcGram *gram, int i);

#endif							/* WMLC_GRAM_INTERNAL_H */
