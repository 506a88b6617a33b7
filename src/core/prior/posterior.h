/*
 * posterior.h
 *	  What a learned prior says about one task, given the task's own sums.
 *
 * With A = X'X, b = X'y of the task and S = L L',
 *
 *	  V = (A / s2 + S^-1)^-1 = L M^-1 L',		M = I + L'A L / s2
 *	  m = V (b / s2 + S^-1 mu) = mu + L M^-1 L'(b - A mu) / s2
 *
 * so S may be singular.  A task without rows has the prior itself.
 *
 * Intervals add to V what is not known of the prior, H (C + E) H': see uncertainty.h, which also says
 * how many degrees of freedom S has.
 *
 * The error is then the sum of a part that goes with S, and of
 * one that goes with s2, both with Student's t.  If variances of tasks are drawn from a
 * distribution, the bound b of such a sum is near
 *
 *	  b^e = b_1^e + b_2^e,
 *
 * b_1 and b_2 being the bounds of either alone and e = 2 but for small levels and few degrees of
 * freedom.  If they are estimates, that is too wide on average over sources, by the order of 1 / n.
 * Student's t with Welch's degrees of freedom is right then from four degrees on, and too narrow
 * below.  So the bound is Welch's and that of the sum, the latter with the share of 1 / degrees
 * that is drawn, and with 1 / n^2, or half, of the rest.  On average over sources, bounds of 50 to
 * 99 % are then of their level within two points from two degrees of freedom of the spread and
 * eight of the noise on, and within six from one.
 */
#ifndef WMLC_POSTERIOR_H
#define WMLC_POSTERIOR_H

#include "core/base/student.h"
#include "core/prior/prior.h"

/* The task.  Sums are laid out as in prior.h; NULL moments are a task without rows. */
typedef struct WmlcTarget
{
	const double *moments;
	const double *moments_lo;
	double		rows;			/* 0: unknown; then its noise is the prior's */
	WmlcPoll	poll;
	const double *descriptor;	/* g of them, or NULL if the prior has but the constant */
	bool		mean_only;		/* nobody asks for bounds, which cost as much again */
} WmlcTarget;

typedef struct WmlcPosterior
{
	const WmlcPrior *prior;
	const double *mean;			/* the prior's, for this task */
	double	   *mean_factor;	/* F, F F' being the covariance of mu with what is not known of S on top */
	double	   *mean_rows;		/* R F */
	double		tasks_left;		/* degrees of freedom of S, one at the least */
	double	   *coef;			/* m */
	double	   *factor;			/* L / sqrt(precision), d x d by columns */
	double	   *triangle;		/* R of the task, d x d by columns */
	double	   *spread;			/* R L / (s sqrt(precision)) */
	double	   *inner;			/* lower triangular K, K K' = M */
	double		sd;				/* s, of this task */
	double		weight;			/* tau; 1 unless w has Student's t */
	double		power;			/* of s2 that S goes with: the prior's, less where s2 is out of the way */
	double		precision;		/* tau (s2 / noise)^-power, what S is divided by */
	double		noise_degrees;	/* of freedom of s, infinite if it is the same for all */
	double		spread_degrees; /* of tau, likewise */
	double		evidence;		/* log-likelihood of the noise and tau integrated out */
	double		log_det;		/* log |M| */
	double		residual_squares;	/* of the rows about m */
	double		distance;		/* (m - mu)'S^-1(m - mu) precision, expected to be `used` */
	double		used;			/* q: degrees of freedom that the coefficients took up */
	double		own_share;		/* k: of them, a direction's own */
	double	   *scratch;		/* d x (d + 3) */
	double	   *wide;			/* d more */
	double	   *forms;			/* what takes x to parts of its variance, by their squares, d x d each */
	bool		prepared;		/* they are there */
	WmlcPoll	poll;			/* the target's */
} WmlcPosterior;

typedef struct WmlcPrediction
{
	double		estimate;		/* x . m */
	double		mean_variance;	/* of the estimate */
	double		variance;		/* of a new observation about the estimate */
	double		mean_lower;		/* bounds for the mean response at x */
	double		mean_upper;
	double		lower;			/* bounds for a new observation */
	double		upper;
} WmlcPrediction;

extern size_t wmlc_posterior_workspace(int dims);

/*
 * The posterior of a task.  It refers to prior and work, and a call with the
 * same work replaces it.  Of the prior it takes dims, descriptors, mean, factor,
 * noise, noise_shape, noise_power and spread_degrees; predictions also mean_factor, rank,
 * effective_tasks and noise_degrees.
 */
extern WmlcStatus wmlc_posterior_of(const WmlcPrior *prior, const WmlcTarget *target,
									WmlcPosterior *posterior, void *work);

/* The same for a task whose number of rows does not matter. */
extern WmlcStatus wmlc_posterior(const WmlcPrior *prior, const double *moments,
								 const double *moments_lo, WmlcPosterior *posterior, void *work);

/* The log-likelihood of the task's rows, so many; see prior_loglik.c. */
extern double wmlc_posterior_loglik(const WmlcPosterior *posterior, double rows);

/* V, d x d by columns, without the uncertainty of mu */
extern WmlcStatus wmlc_posterior_covariance(const WmlcPosterior *posterior, double *covariance);

/*
 * What many predictions of one posterior share; without it each takes a little
 * longer.
 */
extern void wmlc_posterior_prepare(WmlcPosterior *posterior);

/* What bounds of one probability take of a posterior. */
typedef struct WmlcBounds
{
	double		level;
	const WmlcStudentTable *table;	/* of the level, or NULL */
	double		spread_degrees; /* of freedom of either part */
	double		noise_degrees;
	double		spread;			/* Student's t with these */
	double		noise;
	double		power;			/* e */
	double		drawn;			/* share of the sum's bound */
} WmlcBounds;

extern WmlcBounds wmlc_posterior_bounds(const WmlcPosterior *posterior, double level);

/* The same from a table of the level, which the bounds refer to, for many predictions. */
extern WmlcBounds wmlc_posterior_look_up(const WmlcPosterior *posterior,
										 const WmlcStudentTable *table);

/* At features x */
extern void wmlc_posterior_predict(const WmlcPosterior *posterior, const double *x,
								   const WmlcBounds *bounds, WmlcPrediction *prediction);

#endif							/* WMLC_POSTERIOR_H */
