/*
 * compare_weights.h
 *	  The weights of the sources in every trial of a comparison, by every
 *	  weighting but the stacked ones.
 */
#ifndef WMLC_COMPARE_WEIGHTS_H
#define WMLC_COMPARE_WEIGHTS_H

#include "core/base/arena.h"
#include "core/compare/compare.h"
#include "core/weights/embedding.h"

/* Bases of the rows: as they are, and whitened. */
#define WMLC_COMPARE_BASES 2

/* How often loops over sources ask whether to stop. */
#define WMLC_COMPARE_POLL_INTERVAL 1024

/*
 * Where weights are found: the embeddings in one basis.  Those of the sources'
 * windows are taken once, as differences to their pool; so no digits are lost,
 * and the points of a trial are differences of these.
 */
typedef struct WmlcCompareSpace
{
	bool		is_ready;
	WmlcStatus	status;
	WmlcWhitener *whitener;		/* or NULL */
	WmlcEmbeddingFrame frame;
	void	   *frame_work;
	double	   *deviations;		/* windows minus pool, one row each */
	double	   *place;			/* a target minus pool */
	double	   *points;			/* windows minus target, one row each */
} WmlcCompareSpace;

typedef struct WmlcCompareWeights
{
	const WmlcComparison *comparison;
	WmlcGram   *pooled;			/* all windows */
	WmlcWhitener whitener;		/* of z = (psi, y) */
	void	   *whitener_work;
	double	   *sizes;			/* of the sources in a trial */
	WmlcCompareSpace spaces[WMLC_COMPARE_BASES];

	double	   *alpha;			/* trials x weightings x sources; NaN where it failed */
	WmlcStatus *statuses;		/* trials x weightings */
} WmlcCompareWeights;

/* What the weights keep, from an arena of the caller's. */
extern void wmlc_compare_weights_lay_out(WmlcCompareWeights *weights,
										 const WmlcComparison *comparison, WmlcArena *arena);

/* Bytes of workspace that wmlc_compare_weigh needs beside. */
extern size_t wmlc_compare_weigh_workspace(const WmlcComparison *comparison);

/* Before the first trial. */
extern WmlcStatus wmlc_compare_weights_prepare(WmlcCompareWeights *weights, WmlcPoll poll);

/* The weights of one trial under all weightings. */
extern WmlcStatus wmlc_compare_weigh(WmlcCompareWeights *weights, size_t trial, void *work,
									 WmlcPoll poll);

static inline double *
wmlc_compare_weights_at(const WmlcCompareWeights *weights, size_t trial, int weighting)
{
	const WmlcComparison *c = weights->comparison;

	return weights->alpha + (trial * c->weighting_count + weighting) * c->source_count;
}

/* All rows of some grams of d features. */
extern WmlcStatus wmlc_compare_pool(WmlcGram *pooled, int d, size_t count,
									const WmlcGram *const *grams, WmlcPoll poll);

#endif							/* WMLC_COMPARE_WEIGHTS_H */
