/*
 * glm.h
 *	  A generalised linear model of one set of rows: iteratively reweighted
 *	  least squares on working grams.
 *
 * Where some direction separates the classes (or the counts that are zero from
 * the others), the likelihood has no maximum.  That shows in predictors which
 * keep growing while nothing is gained any more.  Firth's penalty (1993), half
 * of log |X'VX|, then gives a finite answer: the mode under Jeffreys's prior.
 */
#ifndef WMLC_GLM_H
#define WMLC_GLM_H

#include "core/glm/working.h"

typedef struct WmlcGlmOptions
{
	WmlcLikelihood likelihood;
	bool		find_dispersion;	/* of a negative binomial, by maximum likelihood */
	double		ridge;			/* ridge / 2 |w|^2 is the penalty */
	bool		firth;			/* from the outset */
	int			max_iterations; /* 0: WMLC_GLM_ITERATIONS */
	WmlcPoll	poll;
} WmlcGlmOptions;

#define WMLC_GLM_ITERATIONS 100

typedef struct WmlcGlm
{
	double	   *coef;			/* the caller's, d each */
	double	   *std_error;
	double		deviance;
	double		loglik;
	double		dispersion;		/* of a negative binomial; the variance of a gaussian */
	int			rank;
	int			iterations;
	bool		converged;
	bool		separated;		/* Firth's penalty had to help */
} WmlcGlm;

extern size_t wmlc_glm_workspace(int dims);

/*
 * Fit.  All rows fit the family; there is at least one with a weight.
 * WMLC_NOT_FINITE: the features are too large or not finite.  Collinear features
 * get the coefficients of least norm.
 */
extern WmlcStatus wmlc_glm_fit(const WmlcGlmRows *rows, const WmlcGlmOptions *options,
							   WmlcGlm *model, void *work);

#endif							/* WMLC_GLM_H */
