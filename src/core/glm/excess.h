/*
 * excess.h
 *	  Do counts vary more than a Poisson distribution allows?
 *
 * (y - mu)^2 - y has mean 0 and variance 2 mu^2 under it, whatever mu is.  This is
 * also, but for a factor, the derivative of the log-likelihood by the dispersion of a
 * negative binomial where that is 0 (Dean, Lawless 1989).  Of a hierarchical model it is the
 * mean over the posterior that has mean 0 (Fisher's identity), however few rows a task has
 * and however small its counts are; and its variance is no larger than if mu
 * were known.  With N(m, V) in place of eta's posterior and a working row with slope
 * g = weight (response - m) at m, integration by parts gives
 *
 *	  E mu = y - g,		E (y - mu)^2 = g^2 - weight (1 - weight V) + E mu.
 *
 * The sum over rows is skewed where counts are small: it is compared with a gamma
 * distribution of the same variance and third moment.
 */
#ifndef WMLC_EXCESS_H
#define WMLC_EXCESS_H

#include "core/glm/hierarchy.h"

typedef struct WmlcExcess
{
	double		excess;			/* of the squares over the counts */
	double		mean;			/* of the counts */
	double		variance;		/* of the excess, at the most */
	double		third;			/* its third moment */
} WmlcExcess;

/* Add the row at eta with this variance; `working` is its working row there. */
extern void wmlc_excess_add(WmlcExcess *sums, const WmlcResponse *row,
							const WmlcWorkingRow *working, double eta, double variance);

/* The rows of a model with these coefficients. */
extern WmlcStatus wmlc_excess_of_rows(WmlcExcess *sums, const WmlcGlmRows *rows,
									  const double *coef, WmlcPoll poll);

/* The rows that a hierarchical model was fitted to; nothing where it was not fitted. */
extern WmlcStatus wmlc_excess_of_tasks(WmlcExcess *sums, const WmlcHierarchyRows *rows,
									   const WmlcHierarchy *hierarchy);

/* Is it there beyond doubt, and large enough to matter? */
extern bool wmlc_excess_is_clear(const WmlcExcess *sums);

#endif							/* WMLC_EXCESS_H */
