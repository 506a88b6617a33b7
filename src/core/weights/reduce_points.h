/*
 * reduce_points.h
 *	  Points of many dimensions as points of no more dimensions than there are
 *	  points.
 */
#ifndef WMLC_REDUCE_POINTS_H
#define WMLC_REDUCE_POINTS_H

#include "core/simplex/simplex.h"

/* Beside the `reduced` below: O(count^2). */
extern size_t wmlc_reduce_points_workspace(size_t count);

/*
 * Make the problem one of points with the same inner products up to rounding,
 * in `reduced` (count x count).  The gap of its weights is that for the points as
 * they were, up to 1e-13 of the largest squared distance.
 */
extern WmlcStatus wmlc_reduce_points(WmlcSimplex *problem, double *reduced, void *work, WmlcPoll poll);

#endif							/* WMLC_REDUCE_POINTS_H */
