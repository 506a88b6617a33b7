/*
 * predictive.h
 *	  What a count will be: quantiles of a count whose linear predictor is known
 *	  but for a normal error.
 */
#ifndef WMLC_PREDICTIVE_H
#define WMLC_PREDICTIVE_H

#include "core/glm/family.h"

/* P(count <= k) for a count with this mean; k need not be whole. */
extern double wmlc_count_probability(const WmlcLikelihood *likelihood, double mean, double k);

/*
 * The least count that is not exceeded with probability p, for the linear
 * predictor N(eta, sd^2) and the exposure; infinite where no double is as large.
 */
extern double wmlc_count_quantile(const WmlcLikelihood *likelihood, double eta, double sd,
								  double exposure, double p);

#endif							/* WMLC_PREDICTIVE_H */
