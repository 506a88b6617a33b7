/*
 * alpha.h
 *	  Weights of source tasks, for all functions that need them.
 */
#ifndef WML_ALPHA_H
#define WML_ALPHA_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "core/weights/weights.h"

/*
 * Where the sources come from: source(arg, i) for 0 <= i < count, NULL for one
 * that takes no part.  It is called once or twice for each, in order, and what
 * it returns is used before the next call.
 */
typedef struct WmlSources
{
	int64		count;
	const WmlcGram *(*source) (void *arg, int64 i);
	void	   *arg;
} WmlSources;

/*
 * Weights into alpha[count], NaN for sources that take no part.  Errors name
 * what is wrong with the grams.
 */
extern void wml_alpha_solve(const WmlSources *sources, const WmlcGram *target,
							const WmlcWeighting *weighting, double *alpha);

/*
 * The weighting that four arguments in a row ask for: weights, loss, shrink, whiten.
 * Without words for the first, which is something else then, it is a mixture.
 */
extern WmlcWeighting wml_get_weighting(const NullableDatum *args, const WmlcWords *rules);

static inline bool
wml_same_weighting(const WmlcWeighting *a, const WmlcWeighting *b)
{
	return a->rule == b->rule && a->loss == b->loss && a->shrink == b->shrink && a->whiten == b->whiten;
}

/* Do two rows have equal targets?  Mostly to the last bit, which is soon seen. */
static inline bool
wml_same_target(const WmlcGram *a, const WmlcGram *b)
{
	return a->dims == b->dims &&
		(memcmp(a, b, wmlc_gram_bytes(a->dims)) == 0 || wmlc_gram_equal(a, b));
}

/* Weights as float8[], NULL for those that are NaN. */
extern ArrayType *wml_weights_to_array(const double *alpha, int64 count);

/* Of the candidates, which may be none; warns where the promised gap was not reached. */
extern void wml_weigh(const WmlcWeighting *weighting, const WmlcCandidates *candidates, double *alpha);

/* Sources from a wml_gram[], whose NULLs take no part. */
extern WmlSources wml_sources_from_array(ArrayType *array);

#endif							/* WML_ALPHA_H */
