/*
 * trust_region.h
 *	  A convex quadratic over a ball:
 *
 *		minimise 1/2 w'A w - b.w subject to |w| <= radius
 *
 * with A positive semidefinite and b in its range, as in the risk of a task.
 * The answer solves (A + multiplier I) w = b with multiplier >= 0, which is 0
 * unless |w| = radius.
 */
#ifndef WMLC_TRUST_REGION_H
#define WMLC_TRUST_REGION_H

#include <stddef.h>

#include "core/base/status.h"

extern size_t wmlc_trust_region_workspace(int d);

/* `a` is d x d with both triangles, and is destroyed. */
extern WmlcStatus wmlc_trust_region(int d, double *a, const double *b, double radius, double *w,
									double *multiplier, void *work, WmlcPoll poll);

#endif							/* WMLC_TRUST_REGION_H */
