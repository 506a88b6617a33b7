/*
 * posterior.c
 *	  What a prior says about one task: wml_posterior, wml_posterior_coef and
 *	  wml_predict_interval.
 *
 * A NULL gram, or one without rows, is a task of which nothing is known yet:
 * the prior itself.
 */
#include "postgres.h"

#include "core/prior/posterior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_posterior);
PG_FUNCTION_INFO_V1(wml_posterior_coef);
PG_FUNCTION_INFO_V1(wml_predict_interval);

/* The posterior of the arguments (prior, gram). */
static void
get_posterior(FunctionCallInfo fcinfo, WmlcPrior *prior, WmlcPosterior *posterior)
{
	const double *hi = NULL;
	const double *lo = NULL;

	*prior = wml_prior_view(PG_GETARG_PRIOR(0));
	if (!PG_ARGISNULL(1))
	{
		const WmlcGram *gram = PG_GETARG_GRAM(1);

		if (wmlc_gram_weighted_rows(gram) > 0)
		{
			wml_gram_check_solvable(gram, "target");
			if (gram->dims != prior->dims)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_EXCEPTION),
						 errmsg("gram does not match the prior"),
						 errdetail("The gram has %d features, the prior %d.", gram->dims, prior->dims)));
			hi = gram->sums;
			lo = gram->sums + wmlc_gram_entries(gram->dims);
		}
	}
	wml_check(wmlc_posterior(prior, hi, lo, posterior,
							 palloc(wmlc_posterior_workspace(prior->dims))));
}

Datum
wml_posterior_coef(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlcPosterior posterior;
	double	   *element;
	ArrayType  *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	get_posterior(fcinfo, &prior, &posterior);
	result = wml_array_new_vector(prior.dims, &element);
	memcpy(element, posterior.coef, prior.dims * sizeof(double));
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_posterior(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlcPrior	prior;
	WmlcPosterior posterior;
	double	   *covariance;
	double	   *prior_covariance;
	Datum	   *names;
	int			d;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	get_posterior(fcinfo, &prior, &posterior);
	d = prior.dims;
	names = wml_feature_names(fcinfo, 2, d);
	covariance = (double *) palloc((Size) d * d * sizeof(double));
	prior_covariance = (double *) palloc((Size) d * d * sizeof(double));
	wmlc_posterior_covariance(&posterior, covariance);
	wmlc_prior_covariance(&prior, prior_covariance);
	for (int i = 0; i < d; i++)
	{
		double		prior_sd = sqrt(prior_covariance[(Size) i * d + i]);
		double		moved = (posterior.coef[i] - prior.mean[i]) / prior_sd;
		Datum		values[7] = {
			Int32GetDatum(i + 1),
			names ? names[i] : (Datum) 0,
			Float8GetDatum(posterior.coef[i]),
			Float8GetDatum(sqrt(covariance[(Size) i * d + i])),
			Float8GetDatum(prior.mean[i]),
			Float8GetDatum(prior_sd),
			Float8GetDatum(moved)
		};
		bool		nulls[7] = {false, names == NULL, false, false, false, false, !isfinite(moved)};

		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}

/* wml_predict_interval(prior, gram, x, level) */
Datum
wml_predict_interval(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlcPrior	prior;
	WmlcPosterior posterior;
	WmlcPrediction prediction;
	double	   *x;
	double		level;
	int			count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		return (Datum) 0;
	wml_require_arg(fcinfo, 3, "level");
	level = PG_GETARG_FLOAT8(3);
	if (!(level > 0.0 && level < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1: %g", level)));
	get_posterior(fcinfo, &prior, &posterior);
	x = wml_array_vector(PG_GETARG_ARRAYTYPE_P(2), "features", &count);
	if (count != prior.dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features do not match the prior"),
				 errdetail("There are %d features, the prior has %d.", count, prior.dims)));
	wml_array_check_finite(x, count, "features");
	wmlc_posterior_predict(&posterior, x, level, &prediction);
	{
		Datum		values[5] = {
			Float8GetDatum(prediction.estimate),
			Float8GetDatum(prediction.lower),
			Float8GetDatum(prediction.upper),
			Float8GetDatum(prediction.mean_lower),
			Float8GetDatum(prediction.mean_upper)
		};

		wml_rows_put(&rows, values, NULL);
	}
	return (Datum) 0;
}
