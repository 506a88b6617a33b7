/*
 * compare_stack.h
 *	  Stacked models among the methods of a comparison.
 */
#ifndef WMLC_COMPARE_STACK_H
#define WMLC_COMPARE_STACK_H

#include "core/compare/compare.h"

/* Bytes of workspace. */
extern size_t wmlc_compare_stack_workspace(const WmlcComparison *comparison);

/*
 * Weights and coefficients of methods first to last - 1, whose learner is a stack,
 * in all trials.  They go to their places among those of all weightings and
 * methods.  Where they cannot be computed they are NaN, and statuses tells why.
 */
extern WmlcStatus wmlc_compare_stack(const WmlcComparison *comparison, int first, int last,
									 double *alpha, double *coefficients, WmlcStatus *statuses,
									 void *work, WmlcPoll poll);

#endif							/* WMLC_COMPARE_STACK_H */
