/*
 * family.h
 *	  The responses of generalised linear models: what a row with the linear
 *	  predictor eta = x.w says.
 *
 *	  gaussian				y normal about eta, variance 1
 *	  binomial				y successes out of n trials, logit p = eta
 *	  poisson				y counted over the exposure n, log (mu / n) = eta
 *	  negative binomial		the same with variance mu + dispersion mu^2
 *
 * The trials of a binomial row and the exposure of a count are one number here,
 * the row's exposure.  All log-likelihoods are concave in eta.
 */
#ifndef WMLC_FAMILY_H
#define WMLC_FAMILY_H

#include <stdbool.h>

#include "core/base/words.h"
#include "core/prior/prior.h"

/* The names of families. */
extern const WmlcWords wmlc_families;

typedef struct WmlcLikelihood
{
	WmlcFamily	family;
	double		dispersion;		/* of a negative binomial; 0 is Poisson */
} WmlcLikelihood;

/* A row's response, without its features. */
typedef struct WmlcResponse
{
	double		y;
	double		exposure;		/* trials or exposure, 1 if there is nothing to say */
	double		weight;			/* multiplies the row's log-likelihood */
} WmlcResponse;

/* Beyond this a double cannot tell a count from the next one. */
#define WMLC_LARGEST_COUNT 0x1p53

/* What is wrong with a row. */
typedef enum WmlcResponseError
{
	WMLC_RESPONSE_FINE,
	WMLC_RESPONSE_NOT_FINITE,	/* some number is NaN or infinite */
	WMLC_RESPONSE_BAD_EXPOSURE, /* not positive */
	WMLC_RESPONSE_BAD_WEIGHT,	/* negative */
	WMLC_RESPONSE_NEGATIVE,		/* a count below zero */
	WMLC_RESPONSE_BEYOND,		/* more successes than trials, or fewer than none */
	WMLC_RESPONSE_TOO_LARGE		/* more than WMLC_LARGEST_COUNT counted */
} WmlcResponseError;

extern WmlcResponseError wmlc_response_error(const WmlcLikelihood *likelihood,
											 const WmlcResponse *row);

/*
 * Beyond this linear predictor a row is taken to lie at it: probabilities and
 * rates are the smallest or largest that doubles have use for.
 */
#define WMLC_LARGEST_PREDICTOR 300.0

/* The log-likelihood's derivatives at eta, for weight 1. */
typedef struct WmlcLocal
{
	double		score;			/* d / d eta */
	double		curvature;		/* - d^2 / d eta^2, positive */
	double		information;	/* the same, expected over responses with this eta */
} WmlcLocal;

extern WmlcLocal wmlc_likelihood_local(const WmlcLikelihood *likelihood, const WmlcResponse *row,
									   double eta);

/* The log-likelihood for weight 1, up to what does not depend on eta. */
extern double wmlc_likelihood_shape(const WmlcLikelihood *likelihood, const WmlcResponse *row,
									double eta);

/* What wmlc_likelihood_shape leaves out. */
extern double wmlc_likelihood_constant(const WmlcLikelihood *likelihood, const WmlcResponse *row);

/* Twice the log-likelihood of the best eta less that of this one, times the weight. */
extern double wmlc_likelihood_deviance(const WmlcLikelihood *likelihood, const WmlcResponse *row,
									   double eta);

/* The mean for exposure 1: a probability, or a rate. */
extern double wmlc_likelihood_mean(const WmlcLikelihood *likelihood, double eta);

/* A linear predictor to begin with, from the response alone. */
extern double wmlc_likelihood_start(const WmlcLikelihood *likelihood, const WmlcResponse *row);

/*
 * What Firth's penalty, half the logarithm of the determinant of the
 * information, adds to the score of a row with this leverage, for weight 1.
 */
extern double wmlc_likelihood_firth(const WmlcLikelihood *likelihood, const WmlcResponse *row,
									double eta);

#endif							/* WMLC_FAMILY_H */
