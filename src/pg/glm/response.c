/*
 * response.c
 *	  Responses of any family under one name: predictions in their own units,
 *	  whether the family can have one, and which family a prior is of.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "core/base/student.h"
#include "core/glm/predictive.h"
#include "pg/base/srf.h"
#include "pg/glm/glm.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior.h"

PG_FUNCTION_INFO_V1(wml_predict_response);
PG_FUNCTION_INFO_V1(wml_deviance);
PG_FUNCTION_INFO_V1(wml_possible_response);
PG_FUNCTION_INFO_V1(wml_family);

/*
 * What a prediction is in the response's own units; `bounds` are lower, upper,
 * mean_lower, mean_upper.
 */
static double
response_of_prediction(const WmlcLikelihood *likelihood, const WmlcPrediction *prediction,
					   double level, double exposure, double bounds[4])
{
	double		eta = prediction->estimate;
	double		sd;

	bounds[2] = wml_times_exposure(wmlc_likelihood_mean(likelihood, prediction->mean_lower),
								   exposure);
	bounds[3] = wml_times_exposure(wmlc_likelihood_mean(likelihood, prediction->mean_upper),
								   exposure);
	switch (likelihood->family)
	{
		case WMLC_GAUSSIAN:
			bounds[0] = prediction->lower;
			bounds[1] = prediction->upper;
			break;
		case WMLC_BINOMIAL:
			/* a single yes or no has no bounds but its probability's */
			bounds[0] = bounds[2];
			bounds[1] = bounds[3];
			break;
		default:
			/* the normal distribution with the same bounds stands in for Student's t */
			sd = 0.5 * (prediction->mean_upper - prediction->mean_lower)
				/ wmlc_student_bound(level, INFINITY);
			bounds[0] = wmlc_count_quantile(likelihood, eta, sd, exposure, 0.5 * (1.0 - level));
			bounds[1] = wmlc_count_quantile(likelihood, eta, sd, exposure, 0.5 * (1.0 + level));
	}
	return wml_times_exposure(wmlc_likelihood_expected_mean(likelihood, eta,
															prediction->mean_variance), exposure);
}

/* wml_predict_response(prior, gram, x, level, exposure) */
Datum
wml_predict_response(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlcPrediction prediction;
	double		exposure;
	double		estimate;
	double		bounds[4];

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	exposure = wml_check_exposure(PG_GETARG_FLOAT8(4));
	wml_predict_args(fcinfo, &prior, &prediction);
	{
		WmlcLikelihood likelihood = {.family = prior.family, .dispersion = prior.dispersion};
		bool		is_count = prior.family == WMLC_POISSON || prior.family == WMLC_NEGATIVE_BINOMIAL;

		estimate = response_of_prediction(&likelihood, &prediction, PG_GETARG_FLOAT8(3),
										  is_count ? exposure : 1.0, bounds);
	}
	{
		Datum		values[5] = {
			Float8GetDatum(estimate), Float8GetDatum(bounds[0]), Float8GetDatum(bounds[1]),
			Float8GetDatum(bounds[2]), Float8GetDatum(bounds[3])
		};

		return wml_composite(fcinfo, values, NULL);
	}
}

/* The first argument, mostly the same in all rows. */
static const WmlcLikelihood *
family_arg(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(WmlFamilyCache));
	return wml_likelihood_cached((WmlFamilyCache *) flinfo->fn_extra, flinfo->fn_mcxt, PG_GETARG_TEXT_PP(0));
}

/* The linear predictor of a probability, or of an expected count over the exposure. */
static double
link_of(WmlcFamily family, double estimate, double exposure)
{
	double		eta;

	switch (family)
	{
		case WMLC_GAUSSIAN:
			return estimate;
		case WMLC_BINOMIAL:
			eta = log(estimate) - log1p(-estimate);
			break;
		default:
			eta = log(estimate / exposure);
	}
	return fmin(fmax(eta, -WMLC_LARGEST_PREDICTOR), WMLC_LARGEST_PREDICTOR);
}

/* wml_deviance(family, y, estimate, exposure) */
Datum
wml_deviance(PG_FUNCTION_ARGS)
{
	WmlcLikelihood likelihood = *wml_check_dispersion(family_arg(fcinfo));
	WmlcResponse row = {PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(3), 1.0};
	double		estimate = PG_GETARG_FLOAT8(2);

	wml_check_response(&likelihood, &row);
	if (!(likelihood.family == WMLC_GAUSSIAN ? isfinite(estimate) : estimate >= 0.0) || isinf(estimate) ||
		(likelihood.family == WMLC_BINOMIAL && estimate > 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the %s family cannot have the estimate %g", wmlc_word(&wmlc_families, likelihood.family), estimate)));
	PG_RETURN_FLOAT8(wmlc_likelihood_deviance(&likelihood, &row, link_of(likelihood.family, estimate, row.exposure)));
}

/* wml_possible_response(family, y, exposure, weight): y, NULL if the family cannot have it. */
Datum
wml_possible_response(PG_FUNCTION_ARGS)
{
	const WmlcLikelihood *likelihood = family_arg(fcinfo);
	WmlcResponse row = {PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)};

	if (wmlc_response_error(likelihood, &row) != WMLC_RESPONSE_FINE)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(row.y);
}

/* wml_family(prior): as it is written for the functions that take a family. */
Datum
wml_family(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	const char *word = wmlc_word(&wmlc_families, prior.family);

	if (prior.family == WMLC_NEGATIVE_BINOMIAL)
		word = psprintf("%s(%.17g)", word, prior.dispersion);
	PG_RETURN_TEXT_P(cstring_to_text(word));
}
