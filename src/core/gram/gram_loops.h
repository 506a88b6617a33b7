/*
 * gram_loops.h
 *	  The hot loop of the extension: adding rows to a triangle of double-double
 *	  sums.
 *
 * It uses the best instructions of the machine it runs on.  Which ones, and
 * how many rows come in one call, shows in the last bits of lo at most.
 */
#ifndef WMLC_GRAM_LOOPS_H
#define WMLC_GRAM_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/triangle.h"
#include "core/dd/dd.h"

/*
 * The last row handed to the loops is followed by this many zeros, so that a
 * vector load which starts at its last entry finds something there.
 */
#define WMLC_ROW_PADDING 7

/* How many rows one call can take. */
#define WMLC_LOOP_ROWS 128

/*
 * hi + lo += sum over the rows of weight * z z', for `count` rows of length p
 * that lie `stride` apart; no weights means that all are 1.  Infinities and NaN
 * end up where sum(float8) would put them.
 */
extern void wmlc_gram_add_products(int p, int count, const double *rows, int stride,
							 const double *weights, double *hi, double *lo);

/* The same without any special instructions. */
extern void wmlc_gram_add_products_plain(int p, int count, const double *rows, int stride,
								   const double *weights, double *hi, double *lo);

/*
 * The same for several triangles side by side, one in each lane: entry k of row r of
 * lane l is rows[(r * (p + 1) + k) * WMLC_GRAM_LANES + l], the row's weight stands behind its p
 * entries, and hi[e * WMLC_GRAM_LANES + l] has entry e of the lane's triangle.  Good
 * for short rows, of which a vector would hold many.
 */
#define WMLC_GRAM_LANES 8

extern void wmlc_gram_add_lanes(int p, int count, const double *rows, double *hi, double *lo);

/*
 * counts[i] += the number of rows in which column i < d is not 1.  The rows are
 * followed by zeros as above.
 */
extern void wmlc_gram_count_not_one(int d, int count, const double *rows, int stride, int64_t *counts);
extern void wmlc_gram_count_not_one_plain(int d, int count, const double *rows, int stride,
										  int64_t *counts);

/* hi + lo += other sums, entry by entry; what is not finite ends up likewise. */
extern void wmlc_gram_add_sums(size_t entries, const double *other_hi, const double *other_lo,
							   double *hi, double *lo);

#endif							/* WMLC_GRAM_LOOPS_H */
