/*
 * gram_kernel.h
 *	  The hot loops of the extension: adding rows to a triangle of double-double
 *	  sums, and the fourth powers of a row.
 *
 * They use the best instructions of the machine they run on.  Which ones, and
 * how many rows come in one call, shows in the last bits of lo at most.
 */
#ifndef WMLC_GRAM_KERNEL_H
#define WMLC_GRAM_KERNEL_H

#include <stddef.h>

#include "dd.h"

/*
 * A row handed to the kernels is followed by this many zeros, so that a vector
 * load which starts at the last entry stays inside the row.
 */
#define WMLC_ROW_PADDING 7

/* How many rows one call can take. */
#define WMLC_KERNEL_ROWS 64

/* Entries of the upper triangle of a p x p matrix. */
static inline size_t
wmlc_triangle_size(int p)
{
	return (size_t) p * (p + 1) / 2;
}

/* Where entry (i, j), i <= j, of the triangle is: row by row. */
static inline size_t
wmlc_triangle_index(int p, int i, int j)
{
	return (size_t) i * p - (size_t) i * (i - 1) / 2 + (j - i);
}

/*
 * hi + lo += sum over the rows of weight * z z', for `count` rows of length p
 * that lie `stride` apart.  Infinities and NaN end up where sum(float8) would
 * put them.
 */
extern void wmlc_gram_kernel(int p, int count, const double *rows, int stride,
							 const double *weights, double *hi, double *lo);

/* The same without any special instructions. */
extern void wmlc_gram_kernel_plain(int p, int count, const double *rows, int stride,
								   const double *weights, double *hi, double *lo);

/* What the sums q and h of a gram need of a row (psi, y). */
typedef struct WmlcRowPowers
{
	WmlcDd		norm_square;	/* |psi|^2 */
	WmlcDd		q;				/* (|psi|^2 + y^2)^2 */
	WmlcDd		h;				/* y^2 |psi|^2 */
} WmlcRowPowers;

extern WmlcRowPowers wmlc_row_powers(const double *z, int dims);

/* The same without any special instructions, to the bit. */
extern WmlcRowPowers wmlc_row_powers_plain(const double *z, int dims);

#endif							/* WMLC_GRAM_KERNEL_H */
