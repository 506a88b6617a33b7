/*
 * prior_check.c
 *	  Whether numbers from outside are a prior's.
 */
#include "core/prior/prior.h"

#include <math.h>

/* Finite, and not negative */
static bool
is_amount(double value)
{
	return isfinite(value) && value >= 0.0;
}

static bool
has_amounts(const WmlcPrior *prior)
{
	return is_amount(prior->noise) && is_amount(prior->tasks) && is_amount(prior->effective_tasks) &&
		is_amount(prior->rows) && is_amount(prior->noise_degrees) && is_amount(prior->parameters) &&
		is_amount(prior->noise_shape) && is_amount(prior->noise_power) && prior->noise_power <= 1.0 &&
		is_amount(prior->noise_limit) &&
		is_amount(prior->evenness) && is_amount(prior->unevenness) &&
		is_amount(prior->spread_degrees) &&
		is_amount(prior->dispersion) && is_amount(prior->smooth_sd) &&
		is_amount(prior->smooth_degrees) && !isnan(prior->loglik);
}

static bool
all_finite(size_t count, const double *numbers)
{
	for (size_t i = 0; i < count; i++)
	{
		if (!isfinite(numbers[i]))
			return false;
	}
	return true;
}

const char *
wmlc_prior_problem(const WmlcPrior *prior)
{
	size_t		d = prior->dims;
	size_t		means = d * prior->descriptors;

	if (prior->rank < 0 || prior->rank > prior->dims || prior->iterations < 0 ||
		prior->design_rank < 0 || (size_t) prior->design_rank > means)
		return "its rank or number of iterations is out of range";
	if ((unsigned) prior->family >= WMLC_FAMILIES)
		return "its family is unknown";
	if (!all_finite(means, prior->mean) || !all_finite(d * d, prior->factor) ||
		!all_finite(means * means, prior->mean_factor))
		return "it contains NaN or infinity";
	if (!has_amounts(prior))
		return "a variance or a count is out of range";
	for (size_t j = 0; j < d; j++)
	{
		if (prior->factor[j * d + j] < 0.0)
			return "a variance or a count is out of range";
		for (size_t i = 0; i < j; i++)
		{
			if (prior->factor[j * d + i] != 0.0)
				return "the factor of its covariance is not triangular";
		}
	}
	for (size_t j = 0; j < means; j++)
	{
		if (prior->mean_factor[j * means + j] < 0.0)
			return "a variance or a count is out of range";
		for (size_t i = 0; i < j; i++)
		{
			if (prior->mean_factor[j * means + i] != 0.0)
				return "the factor of its mean's covariance is not triangular";
		}
	}
	return NULL;
}
