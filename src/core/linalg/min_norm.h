/*
 * min_norm.h
 *	  The part of solve.c that deals with singular matrices.
 */
#ifndef WMLC_MIN_NORM_H
#define WMLC_MIN_NORM_H

#include "core/linalg/solve.h"

/* After the factorisation of a solver with rank < d. */
extern WmlcStatus wmlc_min_norm_prepare(WmlcSolver *solver, WmlcPoll poll);

/*
 * x = pinv(A) b; both in the order of elimination and in the units of the
 * caller, overwriting b.
 */
extern WmlcStatus wmlc_min_norm_solve(WmlcSolver *solver, WmlcDdSpan b, WmlcPoll poll);

#endif							/* WMLC_MIN_NORM_H */
