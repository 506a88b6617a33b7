/*
 * compare_prior.h
 *	  The learned prior among the methods of a comparison.
 */
#ifndef WMLC_COMPARE_PRIOR_H
#define WMLC_COMPARE_PRIOR_H

#include "core/compare/compare.h"

/* Bytes of workspace. */
extern size_t wmlc_compare_prior_workspace(const WmlcComparison *comparison);

/*
 * Coefficients of one method, whose learner is a prior, in all trials: the
 * posterior mean of the known rows.  They go to their places among those of all
 * methods.  Where they cannot be computed they are NaN, and *failure tells why.
 */
extern WmlcStatus wmlc_compare_prior(const WmlcComparison *comparison, int method,
									 double *coefficients, WmlcStatus *failure, void *work,
									 WmlcPoll poll);

#endif							/* WMLC_COMPARE_PRIOR_H */
