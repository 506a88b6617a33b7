/*
 * belong.c
 *	  Whether a task belongs to those that a robust prior was learned from.
 */
#include "core/prior/belong.h"

#include <math.h>

#include "core/base/student.h"

/* One task that is far enough makes the tails as heavy as it takes; so heavy they are by themselves at the most. */
#define HEAVIEST 4.0

static bool
is_noisy(const WmlcPosterior *posterior)
{
	double		limit = posterior->prior->noise_limit;

	return limit > 0.0 && posterior->sd * posterior->sd > limit;
}

static bool
is_far(const WmlcPosterior *posterior)
{
	const WmlcPrior *prior = posterior->prior;
	double		ratio = posterior->distance / posterior->weight / posterior->used;

	return prior->spread_degrees > 0.0 && posterior->used > 0.0 &&
		ratio > WMLC_FAR_OFF * WMLC_FAR_OFF &&
		wmlc_f_tail(ratio, posterior->used, fmax(prior->spread_degrees, HEAVIEST)) * prior->tasks < WMLC_STRANGE;
}

bool
wmlc_belongs(const WmlcPosterior *posterior)
{
	return !is_noisy(posterior) && !is_far(posterior);
}
