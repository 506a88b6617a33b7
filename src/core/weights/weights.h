/*
 * weights.h
 *	  How much to learn from each source: the rules, and all that belongs to
 *	  them.  Every function that weighs sources does it here.
 *
 * With e_j the embedding of source j minus that of the target (embedding.h):
 *
 *	  mixture	the alpha on the simplex with the least
 *				|sum_j alpha_j e_j|^2 + shrink v |alpha|^2,
 *				v the sampling variance of the target's embedding
 *	  closest	all weight on the source with the least |e_j|, the first of equals
 *	  uniform	all sources alike
 *	  pooled	in proportion to the sources' sizes
 *
 * What holds in odd cases, for all who call:
 *	- Nobody knows the sampling variance of a single row.  It may be anything, and
 *	  a mixture with shrink > 0 is then uniform, as it is for very large shrink.
 *	- Weights whose gap (simplex.h) is larger than promised are the best found,
 *	  and weights still: they are given with WMLC_OK, and the report tells.
 *	- Sizes and distances may be so large that their sums or squares overflow.
 *	  Where the answer is lost, the status is WMLC_NOT_FINITE.
 *	- Whitening with no sources to learn it from changes nothing.
 */
#ifndef WMLC_WEIGHTS_H
#define WMLC_WEIGHTS_H

#include "core/base/status.h"
#include "core/base/words.h"
#include "core/gram/gram.h"
#include "core/simplex/simplex.h"
#include "core/weights/embedding.h"

typedef enum WmlcRule
{
	WMLC_MIXTURE,
	WMLC_CLOSEST,
	WMLC_UNIFORM,
	WMLC_POOLED
} WmlcRule;

#define WMLC_RULES (WMLC_POOLED + 1)

extern const WmlcWords wmlc_rule_words;

/* Does the rule look at where the sources lie? */
extern bool wmlc_rule_is_spatial(WmlcRule rule);

typedef struct WmlcWeighting
{
	WmlcRule	rule;
	WmlcLoss	loss;
	double		shrink;			/* of a mixture, >= 0 */
	bool		whiten;			/* of spatial rules */
} WmlcWeighting;

/*
 * Sources to be weighed, as far as the rule looks at them.  A mixture needs the
 * points and, with shrink, the variance; the closest needs the distances or the
 * points; pooled weights the sizes.
 */
typedef struct WmlcCandidates
{
	size_t		count;			/* at least 1 */
	const double *points;		/* e_j: the dims numbers at points + j * stride */
	size_t		dims;
	size_t		stride;
	const double *distances;	/* |e_j|, or NULL: those of the points */
	const double *sizes;		/* > 0 */
	double		variance;		/* v; NaN when it is unknown */
} WmlcCandidates;

/* Bytes of workspace for at most so many candidates of at most so many dims. */
extern size_t wmlc_weigh_workspace(const WmlcWeighting *weighting, size_t count, size_t dims);

/*
 * The weights.  The report of rules other than a mixture is empty; a mixture
 * whose relative_gap is above WMLC_SIMPLEX_GAP is not as good as promised.
 */
extern WmlcStatus wmlc_weigh(const WmlcWeighting *weighting, const WmlcCandidates *candidates,
							 double *alpha, WmlcSimplexReport *report, void *work, WmlcPoll poll);

/*
 * The weights from any kernel: the means over pairs of rows of the sources and,
 * last, the target.  Loss and whitening make no difference.  The variance of
 * the target's embedding is bounded by that of a mean around the origin.
 */
extern size_t wmlc_weigh_kernel_workspace(const WmlcWeighting *weighting, size_t count);
extern WmlcStatus wmlc_weigh_kernel(const WmlcWeighting *weighting, const double *kernel,
									const double *sizes, size_t count, double *alpha,
									WmlcSimplexReport *report, void *work, WmlcPoll poll);

/*
 * How far weights on the simplex are from the best mixture at most, in units of
 * its objective; infinite for an unknown variance, unless they are equal.
 */
extern size_t wmlc_weigh_gap_workspace(const WmlcCandidates *candidates);
extern WmlcStatus wmlc_weigh_gap(const WmlcWeighting *weighting, const WmlcCandidates *candidates,
								 const double *alpha, double *gap, void *work, WmlcPoll poll);

/* shrink v; 0 without shrink, not finite where weights are to be equal */
static inline double
wmlc_weighting_ridge(const WmlcWeighting *weighting, double variance)
{
	return weighting->shrink == 0.0 ? 0.0 : weighting->shrink * variance;
}

/*
 * Weights from grams, source by source: the weigher keeps `width` numbers of
 * each and solves from these.  Sources and target are of equal dims, with
 * finite sums.
 */
typedef struct WmlcWeigher
{
	WmlcWeighting weighting;
	WmlcEmbeddingFrame frame;	/* of spatial rules */
	size_t		width;
	double		variance;
	double	   *point;			/* scratch */
	WmlcPoll	poll;
} WmlcWeigher;

extern size_t wmlc_weigher_workspace(const WmlcWeighting *weighting, int dims);

/*
 * `whitener` is NULL, or made from the pooled sources where the weighting asks
 * for it (wmlc_weighting_whitens).  It, the target and `work` must outlive the
 * weigher.
 */
extern WmlcStatus wmlc_weigher_create(WmlcWeigher *weigher, const WmlcWeighting *weighting,
									  const WmlcGram *target, const WmlcWhitener *whitener,
									  void *work, WmlcPoll poll);

static inline bool
wmlc_weighting_whitens(const WmlcWeighting *weighting)
{
	return weighting->whiten && wmlc_rule_is_spatial(weighting->rule);
}

/* What the weigher keeps of a source. */
extern WmlcStatus wmlc_weigher_keep(const WmlcWeigher *weigher, const WmlcGram *source, double *kept);

/*
 * The same from what a weigher of a mixture without whitening has kept of the
 * source; both may overlap.
 */
extern WmlcStatus wmlc_weigher_keep_point(const WmlcWeigher *weigher, const double *plain, double *kept);

/* The candidates that `count` kept sources are. */
extern WmlcCandidates wmlc_weigher_candidates(const WmlcWeigher *weigher, const double *kept,
											  size_t count);

#endif							/* WMLC_WEIGHTS_H */
