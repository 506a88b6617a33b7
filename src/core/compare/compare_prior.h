/*
 * compare_prior.h
 *	  The learned prior among the methods of a comparison.
 */
#ifndef WMLC_COMPARE_PRIOR_H
#define WMLC_COMPARE_PRIOR_H

#include "core/compare/compare.h"

#define WMLC_KINDS_OF_PRIORS 3

/*
 * The memory of a prior grows with the fourth power of the features, its time
 * even faster; beyond so many of them it is there only for those who ask.
 */
#define WMLC_MOST_PRIOR_DIMS 40

/* Is a learner a prior, of whichever form? */
static inline bool
wmlc_learns_prior(int kind)
{
	return kind == WMLC_LEARN_PRIOR || kind == WMLC_LEARN_SMOOTH || kind == WMLC_LEARN_ROBUST;
}

/* Bytes of workspace of a prior of that kind. */
extern size_t wmlc_compare_prior_workspace(const WmlcComparison *comparison, int kind);

/*
 * Coefficients of one method, whose learner is a prior, in all trials: the
 * posterior mean of the known rows.  They go to their places among those of all
 * methods.  Where they cannot be computed they are NaN, and *failure tells why.
 */
extern WmlcStatus wmlc_compare_prior(const WmlcComparison *comparison, int method,
									 double *coefficients, WmlcStatus *failure, void *work,
									 WmlcPoll poll);

/*
 * Which sources belong to the others, under a robust prior of them all or of a sample
 * (core/prior/belong.h).  Where more than a few do not, or where there are too few sources
 * or too many features to tell, all do.
 */
extern size_t wmlc_compare_screen_workspace(const WmlcComparison *comparison);
extern WmlcStatus wmlc_compare_screen(const WmlcComparison *comparison, bool *belongs, void *work,
									  WmlcPoll poll);

#endif							/* WMLC_COMPARE_PRIOR_H */
