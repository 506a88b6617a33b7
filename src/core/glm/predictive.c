/*
 * predictive.c
 *	  Quantiles of counts, see predictive.h.
 *
 * A Poisson count is at most k when a gamma variable of shape k + 1 exceeds the
 * mean, and a negative binomial one when a beta variable does something alike
 * (Abramowitz, Stegun 26.4.21, 26.5.26).  Over the linear predictor these are
 * integrated by the trapezoidal rule, with steps no longer than half of what the
 * count's own spread is worth in it, as far as that is sensible.
 */
#include "core/glm/predictive.h"

#include <math.h>

#include "core/base/student.h"

#define REACH 6.0				/* standard deviations that are integrated over */
#define LONGEST_STEP 0.5
#define SHORTEST_STEP 0.05
#define MOST_NODES 241			/* 2 REACH / SHORTEST_STEP + 1 */

/* From here on a Poisson count is as good as normal. */
#define LARGE_MEAN 1e5
#define LARGE_DISPERSION 1e-3

static double
normal_probability(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

double
wmlc_count_probability(const WmlcLikelihood *likelihood, double mean, double k)
{
	double		dispersion = likelihood->family == WMLC_NEGATIVE_BINOMIAL
		? likelihood->dispersion : 0.0;

	k = floor(k);
	if (k < 0.0)
		return 0.0;
	if (mean > LARGE_MEAN)
	{
		if (dispersion > LARGE_DISPERSION)
			return 1.0 - wmlc_chi_square_tail(2.0 * ((k + 0.5) / mean) / dispersion,
											  2.0 / dispersion);
		return normal_probability(((k + 0.5) / mean - 1.0) / sqrt(1.0 / mean + dispersion));
	}
	if (dispersion > 1e-8)
		return wmlc_f_tail(mean / (k + 1.0), 2.0 * (k + 1.0), 2.0 / dispersion);
	return wmlc_chi_square_tail(2.0 * mean, 2.0 * (k + 1.0));
}

/* The means at the nodes of the trapezoidal rule, and their weights, which add up to 1. */
typedef struct Mixture
{
	int			count;
	double		mean[MOST_NODES];
	double		weight[MOST_NODES];
} Mixture;

static void
make_mixture(const WmlcLikelihood *likelihood, double eta, double sd, double exposure,
			 Mixture *mixture)
{
	double		large = exposure * wmlc_likelihood_mean(likelihood, eta + 2.5 * sd);
	double		step = fmin(fmax(0.5 / (sd * sqrt(large)), SHORTEST_STEP), LONGEST_STEP);
	int			side = (int) (REACH / step + 1e-9);
	double		total = 0.0;

	if (!(sd > 0.0))
		side = 0;
	mixture->count = 2 * side + 1;
	for (int i = 0; i < mixture->count; i++)
	{
		double		z = (i - side) * step;

		mixture->mean[i] = exposure * wmlc_likelihood_mean(likelihood, eta + sd * z);
		total += mixture->weight[i] = exp(-0.5 * z * z);
	}
	for (int i = 0; i < mixture->count; i++)
		mixture->weight[i] /= total;
}

static double
mixture_probability(const WmlcLikelihood *likelihood, const Mixture *mixture, double k)
{
	double		sum = 0.0;

	for (int i = 0; i < mixture->count; i++)
		sum += mixture->weight[i] * wmlc_count_probability(likelihood, mixture->mean[i], k);
	return sum;
}

double
wmlc_count_quantile(const WmlcLikelihood *likelihood, double eta, double sd, double exposure,
					double p)
{
	Mixture		mixture;
	double		low = -1.0;
	double		high;

	make_mixture(likelihood, eta, sd, exposure, &mixture);
	if (!isfinite(mixture.mean[mixture.count - 1]))
		return INFINITY;
	/* not low, but high: first by doubling, then by halving what is between */
	high = ceil(mixture.mean[mixture.count / 2]);
	while (mixture_probability(likelihood, &mixture, high) < p)
	{
		low = high;
		high = 2.0 * high + 1.0;
		if (!(high < 1e300))
			return INFINITY;
	}
	/* beyond 2^53 halves are whole */
	while (high - low > 1.0 && high - low > 1e-12 * high)
	{
		double		middle = floor(low + 0.5 * (high - low));

		if (middle <= low || middle >= high)
			break;
		if (mixture_probability(likelihood, &mixture, middle) < p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
