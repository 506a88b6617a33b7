/*
 * dd_vector.h
 *	  Vector operations on double-doubles: what matrix products, rotations and
 *	  weighted sums of grams spend their time in.
 */
#ifndef WMLC_DD_VECTOR_H
#define WMLC_DD_VECTOR_H

#include "core/dd/dd_dot.h"

/* Matrices have rows of a multiple of this length, to fill vectors. */
#define WMLC_DD_LANES 4

typedef struct WmlcDdVectorLoops
{
	/* y += a x */
	void		(*add_multiple) (int n, WmlcDd a, WmlcDdSpan x, WmlcDdSpan y);

	/* (x, y) = (c x + s y, c y - s x) */
	void		(*rotate) (int n, WmlcDd c, WmlcDd s, WmlcDdSpan x, WmlcDdSpan y);

	/*
	 * result_j = sum over k < rows of weights_k matrix_kj for j < n, where n is
	 * a multiple of WMLC_DD_LANES and rows of the matrix are `stride` apart.
	 * The result overlaps neither operand.  The error is about rows * 2^-105
	 * times the sum of |weights_k matrix_kj|.
	 */
	void		(*combine) (int rows, WmlcDdSpan weights, WmlcDdSpan matrix, int stride,
							int n, WmlcDdSpan result);
} WmlcDdVectorLoops;

/* Portable C; the fast loops answer the same bits. */
extern const WmlcDdVectorLoops wmlc_dd_vector_loops_plain;

/* The fastest loops this processor runs. */
extern const WmlcDdVectorLoops *wmlc_dd_vector_loops(void);

static inline int
wmlc_dd_stride(int n)
{
	return (n + WMLC_DD_LANES - 1) / WMLC_DD_LANES * WMLC_DD_LANES;
}

#endif							/* WMLC_DD_VECTOR_H */
