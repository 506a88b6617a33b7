/*
 * embedding.h
 *	  Where a task lies in the space of its loss: kernels and distances between
 *	  grams, and the differences from which weights are solved.
 *
 * Square loss: the mean of phi(z) = z z' is M = G / W, so that the kernel of two
 * tasks is the Frobenius product <M_a, M_b>.  Packed into p (p + 1) / 2 numbers
 * with the off-diagonals times sqrt 2, it is a plain dot product.  Hinge loss:
 * phi(z) = (y psi, 1) with mean (b, 1).
 */
#ifndef WMLC_EMBEDDING_H
#define WMLC_EMBEDDING_H

#include "core/dd/dd_vector.h"
#include "core/gram/gram.h"
#include "core/base/status.h"
#include "core/base/words.h"

typedef enum WmlcLoss
{
	WMLC_SQUARE,
	WMLC_HINGE
} WmlcLoss;

extern const WmlcWords wmlc_loss_words;

/* Numbers in the embedding of a gram with so many features. */
extern size_t wmlc_embedding_dims(WmlcLoss loss, int dims);

/* The embedding itself, rounded to double. */
extern void wmlc_embedding(const WmlcGram *gram, WmlcLoss loss, double *result);

/*
 * Mean kernel and kernel distance (MMD) of two tasks of equal dims.  The
 * distance between grams of the same rows is 0, in whichever order these were
 * added up.  The kernel is not finite where it overflows.
 */
extern double wmlc_kernel(const WmlcGram *a, const WmlcGram *b, WmlcLoss loss);
extern double wmlc_distance(const WmlcGram *a, const WmlcGram *b, WmlcLoss loss);

/*
 * A change of basis z -> R z after which the pooled second moment of the
 * sources is the identity.  Directions in which the sources do not vary are
 * left out: R has `rank` rows.  For hinge loss it changes psi alone.
 */
typedef struct WmlcWhitener
{
	int			rank;
	int			size;			/* columns: p, or d for hinge loss */
	WmlcDdSpan	matrix;			/* R by rows, `size` apart */
	WmlcDdSpan	transposed;		/* R' by rows, wmlc_dd_stride(rank) apart */
} WmlcWhitener;

extern size_t wmlc_whitener_workspace(int dims);

/*
 * R from the merged gram of all sources; `work` belongs to the whitener from
 * then on.
 */
extern WmlcStatus wmlc_whitener_create(WmlcWhitener *whitener, const WmlcGram *pooled,
									   WmlcLoss loss, void *work, WmlcPoll poll);

/*
 * What the differences "source minus target" are taken with: the target, and a
 * whitener or NULL.
 */
typedef struct WmlcEmbeddingFrame
{
	WmlcLoss	loss;
	const WmlcGram *target;
	const WmlcWhitener *whitener;
	WmlcPoll	poll;
	const WmlcDdVectorLoops *loops;

	/* the moments that the loss looks at: the triangle of M, or b */
	size_t		moments;
	WmlcDdSpan	target_moments;
	WmlcDdSpan	sums;			/* scratch, like all below */
	WmlcDdSpan	difference;
	WmlcDdSpan	square;
	WmlcDdSpan	product;
	WmlcDdSpan	row;
} WmlcEmbeddingFrame;

/* `work` belongs to the frame, and target and whitener must outlive it. */
extern size_t wmlc_embedding_frame_workspace(int dims);
extern void wmlc_embedding_frame_create(WmlcEmbeddingFrame *frame, WmlcLoss loss,
										const WmlcGram *target, const WmlcWhitener *whitener,
										void *work, WmlcPoll poll);

/* Numbers in a difference. */
extern size_t wmlc_difference_dims(const WmlcEmbeddingFrame *frame);

/*
 * Embedding of the source minus embedding of the target, subtracted before it
 * is rounded to double.
 */
extern WmlcStatus wmlc_difference(const WmlcEmbeddingFrame *frame, const WmlcGram *source,
								  double *result);

/*
 * A difference in the basis of the frame's whitener, from one that a frame
 * without whitener made.  It has been rounded before, so that digits may be lost
 * where features nearly depend on each other.  Both may overlap.
 */
extern WmlcStatus wmlc_whiten_difference(const WmlcEmbeddingFrame *frame, const double *plain,
										 double *result);

/*
 * Sampling variance of the target's embedding, the sum over its coordinates.
 * In the target's own basis it comes from the sums q and h.  After a change of
 * basis these are unknown, and the fourth moments of a normal distribution
 * with the same second moments (and mean, where a constant feature tells it)
 * take their place.  NaN when the target has a single row.
 */
extern WmlcStatus wmlc_sampling_variance(const WmlcEmbeddingFrame *frame, double *variance);

#endif							/* WMLC_EMBEDDING_H */
