/*
 * mlp_loops.h
 *	  Small dense products, the one hot loop of training a network.
 *
 * Matrices are row-major and their rows padded with zeros to a multiple of
 * WMLC_MLP_PAD doubles, so that no loop over columns has a tail.  The products
 * of one task are far too small (40 x 40 x 40) to pay for the packing and the
 * dispatch of a general BLAS, and what surrounds them (bias, ReLU, mask) costs
 * as much as a product unless it happens while the result is in registers.
 * Products of 40 x 40 run at 59 Gflop/s here and at 9 in dgemm, those of 512 x
 * 512 at 21 and 10 (test/bench/bench_mlp.c).
 */
#ifndef WMLC_MLP_LOOPS_H
#define WMLC_MLP_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

/* Doubles in the widest vector: the padding of rows and of addresses. */
#define WMLC_MLP_PAD 8

static inline size_t
wmlc_mlp_padded(size_t n)
{
	return (n + WMLC_MLP_PAD - 1) / WMLC_MLP_PAD * WMLC_MLP_PAD;
}

/*
 * C = finish(start + A B).
 *
 * Element (i, l) of A is a[i * a_row + l * a_step], which covers A, its
 * transpose, a column and a constant; B has `depth` rows and C has `rows`.
 * Each element of C is summed in the order of l, by fused multiply-adds where
 * the processor has them, so its bits do not depend on the vectors' width.
 *
 * Behind a ReLU half of A is zero, and a loop may leave those terms out; the
 * numbers of B are to be finite, or it depends on the loop what 0 times them
 * is.
 */
typedef struct WmlcMlpProduct
{
	int			rows;
	int			columns;		/* multiple of WMLC_MLP_PAD */
	int			depth;
	const double *a;
	ptrdiff_t	a_row;
	ptrdiff_t	a_step;
	const double *b;
	ptrdiff_t	b_stride;
	double	   *c;
	ptrdiff_t	c_stride;
	const double *start;		/* NULL: zeros; stride 0: the same row for all */
	ptrdiff_t	start_stride;
	bool		relu;			/* negative results become 0; NaN stays */
	const double *mask;			/* unless NULL, of C's stride: results where the
								 * mask is not positive become 0 */
} WmlcMlpProduct;

typedef struct WmlcMlpLoops
{
	void		(*product) (const WmlcMlpProduct *p);

	/* out[i] += a_i . w for rows a_i that lie `columns` apart */
	void		(*dots) (int rows, int columns, const double *a, const double *w, double *out);

	/* to[j * to_stride + i] = from[i * from_stride + j] */
	void		(*transpose) (int rows, int columns, const double *from, ptrdiff_t from_stride,
							  double *to, ptrdiff_t to_stride);
} WmlcMlpLoops;

/*
 * The loops this processor can run: rank 0 is the fastest, the last one
 * needs no special instructions, and after it comes NULL.  All but the last
 * agree to the bit; that one rounds products, too, where it has to do without
 * fused multiply-adds.
 */
extern const WmlcMlpLoops *wmlc_mlp_loops(int rank);

#endif							/* WMLC_MLP_LOOPS_H */
