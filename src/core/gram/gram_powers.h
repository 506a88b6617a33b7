/*
 * gram_powers.h
 *	  What rows add to a gram beside the triangle: sums of fourth powers, and
 *	  how large the rows are.
 */
#ifndef WMLC_GRAM_POWERS_H
#define WMLC_GRAM_POWERS_H

#include "core/dd/dd.h"

typedef struct WmlcPowers
{
	WmlcDd		q;				/* sum of weight (|psi|^2 + y^2)^2; lo may be large */
	WmlcDd		h;				/* sum of weight y^2 |psi|^2; likewise */
	double		max_norm_square;	/* the largest |psi|^2, infinite if one is NaN */
	double		max_response;	/* the largest |y|, likewise */
} WmlcPowers;

/*
 * For `count` rows (psi, y) that lie `stride` apart, with psi of length dims.
 * No weights means that all are 1.  Which instructions the machine has shows in
 * the last bits of lo at most.
 */
extern WmlcPowers wmlc_gram_powers(int dims, int count, const double *rows, int stride,
								   const double *weights);

/* The same without any special instructions. */
extern WmlcPowers wmlc_gram_powers_plain(int dims, int count, const double *rows, int stride,
										 const double *weights);

#endif							/* WMLC_GRAM_POWERS_H */
