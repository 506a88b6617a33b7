/*
 * predict.c
 *	  Probabilities and rates: of given coefficients, and of a task under a prior,
 *	  with intervals.
 *
 * The mean response at x is the link's inverse of x.w, and w has a posterior.  Its
 * expectation is integrated over that; the bounds are those of x.w, through the
 * link, which keeps them between 0 and 1 or above 0.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "core/glm/working.h"
#include "core/prior/posterior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/srf.h"
#include "pg/glm/glm.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior.h"

PG_FUNCTION_INFO_V1(wml_predict_probability);
PG_FUNCTION_INFO_V1(wml_predict_probability_coef);
PG_FUNCTION_INFO_V1(wml_predict_rate);
PG_FUNCTION_INFO_V1(wml_predict_rate_coef);
PG_FUNCTION_INFO_V1(wml_class_probabilities);

void
wml_get_posterior(const WmlcPrior *prior, const WmlcGram *gram, WmlcPosterior *posterior)
{
	WmlcTarget	target = {.poll = wml_poll};

	if (gram != NULL && wmlc_gram_weighted_rows(gram) > 0)
	{
		wml_gram_check_solvable(gram, "target");
		wml_check_feature_count(gram->dims, prior->dims);
		target.moments = gram->sums;
		target.moments_lo = gram->sums + wmlc_gram_entries(gram->dims);
	}
	wml_check(wmlc_posterior_of(prior, &target, posterior,
								wml_allocate(wmlc_posterior_workspace(prior->dims), 1)));
}

/* ---- of given coefficients ---- */

/* x.w of the arguments (coef, x) */
static double
predictor_of_args(FunctionCallInfo fcinfo)
{
	double	   *coef;
	double	   *x;
	int			coefficients,
				features;

	coef = wml_array_vector(PG_GETARG_ARRAYTYPE_P(0), "coefficients", &coefficients);
	x = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "features", &features);
	wml_check_feature_count(features, coefficients);
	return wmlc_predictor(features, x, coef);
}

Datum
wml_predict_probability_coef(PG_FUNCTION_ARGS)
{
	WmlcLikelihood likelihood = {.family = WMLC_BINOMIAL};

	PG_RETURN_FLOAT8(wmlc_likelihood_mean(&likelihood, predictor_of_args(fcinfo)));
}

double
wml_check_exposure(double exposure)
{
	if (!(exposure > 0.0) || isinf(exposure))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("exposure must be positive and finite: %g", exposure)));
	return exposure;
}

double
wml_times_exposure(double rate, double exposure)
{
	double		product = rate * exposure;

	if (isinf(product))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("rate %g times exposure %g overflows", rate, exposure)));
	return product;
}

Datum
wml_predict_rate_coef(PG_FUNCTION_ARGS)
{
	WmlcLikelihood likelihood = {.family = WMLC_POISSON};
	double		exposure = wml_check_exposure(PG_GETARG_FLOAT8(2));

	PG_RETURN_FLOAT8(wml_times_exposure(wmlc_likelihood_mean(&likelihood, predictor_of_args(fcinfo)),
										exposure));
}

/* ---- of a task under a prior ---- */

void
wml_predict_args(FunctionCallInfo fcinfo, const WmlcPrior *prior, WmlcPrediction *prediction)
{
	WmlcPosterior posterior;
	WmlcBounds	bounds;
	double	   *x;
	double		level;
	int			count;

	wml_require_arg(fcinfo, 3, "level");
	level = PG_GETARG_FLOAT8(3);
	if (!(level > 0.0 && level < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1: %g", level)));
	wml_get_posterior(prior, PG_ARGISNULL(1) ? NULL : PG_GETARG_GRAM(1), &posterior);
	x = wml_array_vector(PG_GETARG_ARRAYTYPE_P(2), "features", &count);
	wml_check_feature_count(count, prior->dims);
	wml_array_check_finite(x, count, "features");
	bounds = wmlc_posterior_bounds(&posterior, level);
	wmlc_posterior_predict(&posterior, x, &bounds, prediction);
}

/* The expected mean response at x, and an interval for it. */
static Datum
predict_mean(FunctionCallInfo fcinfo, const WmlcPrior *prior, double exposure)
{
	WmlcLikelihood likelihood = {.family = prior->family, .dispersion = prior->dispersion};
	WmlcPrediction prediction;
	double		means[3];
	Datum		values[3];

	wml_predict_args(fcinfo, prior, &prediction);
	means[0] = wmlc_likelihood_expected_mean(&likelihood, prediction.estimate,
											 prediction.mean_variance);
	means[1] = wmlc_likelihood_mean(&likelihood, prediction.mean_lower);
	means[2] = wmlc_likelihood_mean(&likelihood, prediction.mean_upper);
	for (int i = 0; i < 3; i++)
		values[i] = Float8GetDatum(wml_times_exposure(means[i], exposure));
	return wml_composite(fcinfo, values, NULL);
}

/* wml_predict_probability(prior, gram, x, level) */
Datum
wml_predict_probability(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	if (prior.family != WMLC_BINOMIAL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior is of the %s family and has no probabilities", wmlc_word(&wmlc_families, prior.family)),
				 errhint("Use wml_predict_rate for counts and wml_predict_interval for measurements.")));
	return predict_mean(fcinfo, &prior, 1.0);
}

/* wml_predict_rate(prior, gram, x, level, exposure) */
Datum
wml_predict_rate(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	double		exposure;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	exposure = wml_check_exposure(PG_GETARG_FLOAT8(4));
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	if (prior.family != WMLC_POISSON && prior.family != WMLC_NEGATIVE_BINOMIAL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("prior is of the %s family and has no rates", wmlc_word(&wmlc_families, prior.family)),
				 errhint("Use wml_predict_probability for yes-or-no responses and wml_predict_interval for measurements.")));
	return predict_mean(fcinfo, &prior, exposure);
}

/* ---- classes ---- */

/*
 * wml_class_probabilities(odds): classes 2 and up against class 1, each by the
 * probability that a row of either is of the former, to probabilities of all.
 */
Datum
wml_class_probabilities(PG_FUNCTION_ARGS)
{
	double	   *pair;
	double	   *result;
	ArrayType  *array;
	double		total = 0.0,
				likeliest = 0.0;
	int			count;

	pair = wml_array_vector(PG_GETARG_ARRAYTYPE_P(0), "probabilities", &count);
	array = wml_array_new_vector(count + 1, &result);
	result[0] = 0.0;
	for (int i = 0; i < count; i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!(pair[i] >= 0.0 && pair[i] <= 1.0))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("probability must be between 0 and 1: %g", pair[i])));
		/* log odds, bounded so that certainties can be weighed against each other */
		result[i + 1] = fmax(fmin(log(pair[i]) - log1p(-pair[i]), WMLC_LARGEST_PREDICTOR),
							 -WMLC_LARGEST_PREDICTOR);
		likeliest = fmax(likeliest, result[i + 1]);
	}
	for (int i = 0; i <= count; i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		total += result[i] = exp(result[i] - likeliest);
	}
	for (int i = 0; i <= count; i++)
		result[i] /= total;
	PG_RETURN_ARRAYTYPE_P(array);
}
