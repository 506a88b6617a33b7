/*
 * family.c
 *	  The responses of generalised linear models.
 */
#include <math.h>

#include "core/glm/family.h"

static const char *const family_words[WMLC_FAMILIES] = {
	[WMLC_GAUSSIAN] = "gaussian",
	[WMLC_BINOMIAL] = "binomial",
	[WMLC_POISSON] = "poisson",
	[WMLC_NEGATIVE_BINOMIAL] = "negative_binomial"
};

const WmlcWords wmlc_families = WMLC_WORDS(family_words);

static double
bounded(double eta)
{
	return fmin(fmax(eta, -WMLC_LARGEST_PREDICTOR), WMLC_LARGEST_PREDICTOR);
}

static bool
is_count(const WmlcLikelihood *likelihood)
{
	return likelihood->family == WMLC_POISSON || likelihood->family == WMLC_NEGATIVE_BINOMIAL;
}

WmlcResponseError
wmlc_response_error(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	if (!isfinite(row->y) || !isfinite(row->exposure) || !isfinite(row->weight))
		return WMLC_RESPONSE_NOT_FINITE;
	if (!(row->exposure > 0.0))
		return WMLC_RESPONSE_BAD_EXPOSURE;
	if (row->weight < 0.0)
		return WMLC_RESPONSE_BAD_WEIGHT;
	if (is_count(likelihood) && row->y < 0.0)
		return WMLC_RESPONSE_NEGATIVE;
	if (likelihood->family == WMLC_BINOMIAL && !(row->y >= 0.0 && row->y <= row->exposure))
		return WMLC_RESPONSE_BEYOND;
	if ((is_count(likelihood) && row->y > WMLC_LARGEST_COUNT)
		|| (likelihood->family == WMLC_BINOMIAL && row->exposure > WMLC_LARGEST_COUNT))
		return WMLC_RESPONSE_TOO_LARGE;
	return WMLC_RESPONSE_FINE;
}

/* The mean of a count; an exposure may make up for a predictor far off. */
static inline double
count_mean(const WmlcResponse *row, double eta)
{
	if (fabs(eta) <= WMLC_LARGEST_PREDICTOR)
		return row->exposure * exp(eta);
	return exp(bounded(eta + log(row->exposure)));
}

/* The predictor that has this mean. */
static inline double
count_predictor(const WmlcResponse *row, double eta)
{
	double		offset;

	if (fabs(eta) <= WMLC_LARGEST_PREDICTOR)
		return eta;
	offset = log(row->exposure);
	return bounded(eta + offset) - offset;
}

/* p and 1 - p, each to full relative precision */
typedef struct Chances
{
	double		success;
	double		failure;
} Chances;

static inline Chances
chances(double eta)
{
	double		odds = exp(-fabs(eta));
	double		likely = 1.0 / (1.0 + odds);
	double		unlikely = odds * likely;

	return eta >= 0.0 ? (Chances) {likely, unlikely} : (Chances) {unlikely, likely};
}

WmlcLocal
wmlc_likelihood_local(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta)
{
	double		n = row->exposure;
	double		mu,
				spread;
	Chances		p;

	if (likelihood->family == WMLC_GAUSSIAN)
		return (WmlcLocal) {row->y - eta, 1.0, 1.0};
	if (likelihood->family == WMLC_BINOMIAL)
	{
		/* y (1 - p) - (n - y) p does not cancel for y = 0 and y = n */
		p = chances(bounded(eta));
		spread = n * p.success * p.failure;
		return (WmlcLocal) {row->y * p.failure - (n - row->y) * p.success, spread, spread};
	}
	mu = count_mean(row, eta);
	spread = 1.0 + likelihood->dispersion * mu;
	return (WmlcLocal) {
		.score = (row->y - mu) / spread,
		.curvature = mu / spread * ((1.0 + likelihood->dispersion * row->y) / spread),
		.information = mu / spread
	};
}

double
wmlc_likelihood_shape(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta)
{
	double		k = likelihood->dispersion;
	double		mu;

	if (likelihood->family == WMLC_GAUSSIAN)
		return -0.5 * (row->y - eta) * (row->y - eta);
	if (likelihood->family == WMLC_BINOMIAL)
		return (eta > 0.0 ? row->y - row->exposure : row->y) * eta
			- row->exposure * log1p(exp(-fabs(eta)));
	mu = count_mean(row, eta);
	return row->y * count_predictor(row, eta) - (k > 0.0 ? (row->y + 1.0 / k) * log1p(k * mu) : mu);
}

/* log (y!), also between whole numbers; of yes and no without much ado */
static double
log_factorial(double y)
{
	return y == 0.0 || y == 1.0 ? 0.0 : lgamma(y + 1.0);
}

double
wmlc_likelihood_constant(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	double		k = likelihood->dispersion;
	double		y = row->y;
	double		n = row->exposure;

	switch (likelihood->family)
	{
		case WMLC_GAUSSIAN:
			return -0.5 * log(2.0 * M_PI);
		case WMLC_BINOMIAL:
			return log_factorial(n) - log_factorial(y) - log_factorial(n - y);
		default:
			break;
	}

	/* (y + 1/k) log (1 + k mu) - y log (k mu) is what the shape has, but for y log k n */
	if (k > 0.0)
		return y * log(k * n) + lgamma(y + 1.0 / k) - lgamma(1.0 / k) - log_factorial(y);
	return y * log(n) - log_factorial(y);
}

/* y log (y / mu), 0 for y = 0 */
static double
relative(double y, double mu)
{
	return y > 0.0 ? y * log(y / mu) : 0.0;
}

double
wmlc_likelihood_deviance(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta)
{
	double		k = likelihood->dispersion;
	double		y = row->y;
	double		n = row->exposure;
	double		mu,
				half;
	Chances		p;

	if (likelihood->family == WMLC_GAUSSIAN)
		return row->weight * (y - eta) * (y - eta);
	if (likelihood->family == WMLC_BINOMIAL)
	{
		p = chances(bounded(eta));
		half = relative(y, n * p.success) + relative(n - y, n * p.failure);
	}
	else
	{
		mu = count_mean(row, eta);
		half = relative(y, mu);
		if (k > 0.0)
			half -= (y + 1.0 / k) * log((1.0 + k * y) / (1.0 + k * mu));
		else
			half -= y - mu;
	}
	return 2.0 * row->weight * fmax(half, 0.0);
}

double
wmlc_likelihood_mean(const WmlcLikelihood *likelihood, double eta)
{
	if (likelihood->family == WMLC_GAUSSIAN)
		return eta;
	eta = bounded(eta);
	return likelihood->family == WMLC_BINOMIAL ? chances(eta).success : exp(eta);
}

double
wmlc_likelihood_start(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	switch (likelihood->family)
	{
		case WMLC_GAUSSIAN:
			return row->y;
		case WMLC_BINOMIAL:
			return log((row->y + 0.5) / (row->exposure - row->y + 0.5));
		default:
			return log((row->y + 0.1) / row->exposure);
	}
}

/*
 * Half of the third cumulant over the second for the canonical links; with a
 * dispersion, half of d log (information) / d eta.
 */
double
wmlc_likelihood_firth(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta)
{
	Chances		p;

	if (likelihood->family == WMLC_GAUSSIAN)
		return 0.0;
	if (likelihood->family == WMLC_BINOMIAL)
	{
		p = chances(bounded(eta));
		return 0.5 * (p.failure - p.success);
	}
	return 0.5 / (1.0 + likelihood->dispersion * count_mean(row, eta));
}
