/*
 * count_lanes.h
 *	  Working rows (working.h) of counts, eight of them side by side, one in each
 *	  lane of a vector.
 *
 * At nodes an even distance apart the rate is that of the node before times a
 * factor, so that a node takes one exponential, and with a dispersion a logarithm.
 */
#ifndef WMLC_COUNT_LANES_H
#define WMLC_COUNT_LANES_H

#define WMLC_COUNT_LANES 8

typedef struct WmlcCountLanes
{
	/* In: eta's mean and variance, and the response with its exposure and weight. */
	double		eta[WMLC_COUNT_LANES];
	double		variance[WMLC_COUNT_LANES];
	double		y[WMLC_COUNT_LANES];
	double		exposure[WMLC_COUNT_LANES];
	double		row_weight[WMLC_COUNT_LANES];

	/* In and out: as in WmlcWorkingRow. */
	double		response[WMLC_COUNT_LANES];
	double		weight[WMLC_COUNT_LANES];

	/* Out, likewise. */
	double		log_scale[WMLC_COUNT_LANES];
	double		skew[WMLC_COUNT_LANES];
	double		excess[WMLC_COUNT_LANES];
} WmlcCountLanes;

/*
 * One step of expectation propagation from the working rows that are there, as
 * in working_lanes.h, with a dispersion, or 0 for Poisson.  The answer has a bit
 * for each lane for which that is too coarse; those keep what they had, and what is
 * only out means nothing there.
 */
extern unsigned wmlc_count_lanes_step(WmlcCountLanes *rows, double dispersion);

#endif							/* WMLC_COUNT_LANES_H */
