/*
 * test_predictive.c
 *	  Quantiles of counts: against sums of probabilities, and against many
 *	  draws' worth of a finer integration.
 */
#include "check.h"
#include "core/glm/predictive.h"

/* log P(count = k), as the textbooks have it */
static double
log_mass(const WmlcLikelihood *likelihood, double mean, double k)
{
	double		size = 1.0 / likelihood->dispersion;

	if (likelihood->family == WMLC_POISSON)
		return k * log(mean) - mean - lgamma(k + 1.0);
	return lgamma(k + size) - lgamma(size) - lgamma(k + 1.0) +
		size * log(size / (size + mean)) + k * log(mean / (size + mean));
}

static void
check_probabilities(const WmlcLikelihood *likelihood, double mean)
{
	double		sum = 0.0;

	CHECK(wmlc_count_probability(likelihood, mean, -1.0) == 0.0, "mean %g", mean);
	for (int k = 0; k < 400; k++)
	{
		sum += exp(log_mass(likelihood, mean, k));
		CHECK_NEAR(wmlc_count_probability(likelihood, mean, k), sum, 1e-9);
		CHECK_NEAR(wmlc_count_probability(likelihood, mean, k + 0.7), sum, 1e-9);
	}
}

/* P(count <= k) over eta, by a rule much finer than the code's */
static double
fine_probability(const WmlcLikelihood *likelihood, double eta, double sd, double exposure, double k)
{
	double		sum = 0.0,
				total = 0.0;

	for (int i = -1600; i <= 1600; i++)
	{
		double		z = i / 200.0;

		sum += exp(-0.5 * z * z) *
			wmlc_count_probability(likelihood, exposure * exp(eta + sd * z), k);
		total += exp(-0.5 * z * z);
	}
	return sum / total;
}

static void
check_quantiles(const WmlcLikelihood *likelihood, double eta, double sd, double exposure, double slack)
{
	static const double levels[] = {0.01, 0.05, 0.5, 0.95, 0.99};

	for (int i = 0; i < 5; i++)
	{
		double		k = wmlc_count_quantile(likelihood, eta, sd, exposure, levels[i]);

		CHECK(k == floor(k) && k >= 0.0, "%g", k);
		CHECK(fine_probability(likelihood, eta, sd, exposure, k) > levels[i] - slack,
			  "%g at eta %g, sd %g, level %g", k, eta, sd, levels[i]);
		CHECK(k == 0.0 || fine_probability(likelihood, eta, sd, exposure, k - 1.0) < levels[i] + slack,
			  "%g at eta %g, sd %g, level %g", k, eta, sd, levels[i]);
	}
}

int
main(void)
{
	WmlcLikelihood poisson = {.family = WMLC_POISSON};
	WmlcLikelihood dispersed = {.family = WMLC_NEGATIVE_BINOMIAL,.dispersion = 0.5};
	WmlcLikelihood slightly = {.family = WMLC_NEGATIVE_BINOMIAL,.dispersion = 0.01};

	for (double mean = 0.01; mean < 200.0; mean *= 3.0)
	{
		check_probabilities(&poisson, mean);
		check_probabilities(&dispersed, mean);
		check_probabilities(&slightly, mean);
	}
	/* where the formulas change */
	for (double z = -2.0; z <= 2.0; z += 0.5)
	{
		double		k = floor(1e5 + z * sqrt(1e5)), wide = floor(1e5 * (1.0 + 0.6 * (z + 0.5)));

		CHECK_NEAR(wmlc_count_probability(&poisson, 1e5 * (1 - 1e-9), k),
				   wmlc_count_probability(&poisson, 1e5 * (1 + 1e-9), k), 1e-3);
		CHECK_NEAR(wmlc_count_probability(&dispersed, 1e5 * (1 - 1e-9), wide),
				   wmlc_count_probability(&dispersed, 1e5 * (1 + 1e-9), wide), 1e-3);
	}
	for (double sd = 0.0; sd < 2.0; sd += 0.35)
	{
		check_quantiles(&poisson, -1.0, sd, 1.0, 1e-6);
		check_quantiles(&poisson, 2.0, sd, 3.0, 1e-4);
		check_quantiles(&poisson, 9.0, sd, 1.0, 0.02);
		check_quantiles(&dispersed, 2.0, sd, 0.5, 1e-4);
		check_quantiles(&slightly, 1.0, sd, 1.0, 1e-4);
	}
	/* nothing, and more than there is */
	CHECK(wmlc_count_quantile(&poisson, -300.0, 0.5, 1.0, 0.95) == 0.0, "of nothing");
	CHECK(wmlc_count_quantile(&poisson, 300.0, 1.0, 1e300, 0.95) == INFINITY, "of everything");
	return check_summary();
}
