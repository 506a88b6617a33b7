/*
 * leverage.h
 *	  A feature that varies much more in a few tasks than in all others.
 *
 * A row that has a hundred times its value of a feature has such leverage that its task's
 * coefficient of the feature is next to nothing, with hardly any noise, and not far from the mean
 * either.  So neither noise nor distance tells (belong.h), but what tells is the variance of
 * the feature within the task, wherever a constant feature makes it known.
 * It is too large if hardly any of so many tasks would have it by the upper half of them all, and
 * if it is also far beyond that of the median task, unless the feature is elsewhere in the task altogether.
 */
#ifndef WMLC_LEVERAGE_H
#define WMLC_LEVERAGE_H

#include "core/prior/prior.h"

/* Fewer tasks than this do not tell what is too much; and how far it is, in standard deviations. */
#define WMLC_LEVERAGE_TASKS 5
#define WMLC_LEVERAGE_FAR 10.0

typedef struct WmlcLeverage
{
	int			feature;		/* the one that is farthest beyond its limit, or -1 */
	size_t		tasks;			/* in how many tasks it varies too much */
	size_t		worst;			/* and in which one most */
	double		ratio;			/* its standard deviation there, relative to the median task's */
} WmlcLeverage;

/*
 * `constant` is a feature that is 1 in every row; work has a number for each task.  The tasks in which
 * any feature varies too much are marked.
 */
extern WmlcStatus wmlc_leverage(const WmlcPriorTasks *tasks, int constant, WmlcPoll poll,
								double *work, bool *marked, WmlcLeverage *leverage);

#endif							/* WMLC_LEVERAGE_H */
