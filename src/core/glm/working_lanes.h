/*
 * working_lanes.h
 *	  Working rows (working.h) of single yes-or-no responses, eight of them side by
 *	  side, one in each lane of a vector.
 *
 * The likelihood of such a row is the logistic function of eta.  At nodes an even
 * distance apart it, and the exponential of a parabola, are those of the node
 * before times a factor: a row takes a handful of exponentials instead of some for
 * each node and step.
 */
#ifndef WMLC_WORKING_LANES_H
#define WMLC_WORKING_LANES_H

#include <stdbool.h>

#define WMLC_WORKING_LANES 8

typedef struct WmlcWorkingLanes
{
	/* In: eta's mean and variance, all of them positive or all 0; 1 for yes, -1 for no. */
	double		eta[WMLC_WORKING_LANES];
	double		variance[WMLC_WORKING_LANES];
	double		sign[WMLC_WORKING_LANES];

	/* Out: as in WmlcWorkingRow; in also, for a step from such rows. */
	double		response[WMLC_WORKING_LANES];
	double		weight[WMLC_WORKING_LANES];
	double		log_scale[WMLC_WORKING_LANES];
	double		skew[WMLC_WORKING_LANES];
	double		excess[WMLC_WORKING_LANES];
} WmlcWorkingLanes;

/*
 * Fill in the working rows.  The answer has a bit for each lane that is too
 * hard for this: to be done by wmlc_working_row.
 */
extern unsigned wmlc_working_lanes(WmlcWorkingLanes *rows);

/*
 * One step of expectation propagation: take the rows that are there out of eta's
 * distribution, put the likelihoods in, and make the working rows those that leave
 * the same means and variances.  False, and nothing done, where that is too coarse for some lane.
 */
extern bool wmlc_working_lanes_step(WmlcWorkingLanes *rows);

/* Bounds that all working rows observe: see working.c. */
#define WMLC_LEAST_WORKING_WEIGHT 1e-10
#define WMLC_FARTHEST_RESPONSE 100.0
#define WMLC_NARROW 1e-3

#endif							/* WMLC_WORKING_LANES_H */
