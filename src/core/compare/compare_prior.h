/*
 * compare_prior.h
 *	  The learned prior among the methods of a comparison.
 */
#ifndef WMLC_COMPARE_PRIOR_H
#define WMLC_COMPARE_PRIOR_H

#include "core/compare/compare.h"

/* Is a learner a prior, with or without a smooth part? */
static inline bool
wmlc_learns_prior(int kind)
{
	return kind == WMLC_LEARN_PRIOR || kind == WMLC_LEARN_SMOOTH;
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

#endif							/* WMLC_COMPARE_PRIOR_H */
