/*
 * inference.c
 *	  Tests and intervals of priors: wml_prior_test and wml_prior_mean_test.
 */
#include "postgres.h"

#include <math.h>

#include "core/base/student.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/srf.h"
#include "pg/prior/prior.h"

PG_FUNCTION_INFO_V1(wml_prior_test);
PG_FUNCTION_INFO_V1(wml_prior_mean_test);

/* Likelihoods can be compared if they are of the same rows, and of the same kind. */
static void
check_comparable(const WmlPrior *a, const WmlPrior *b)
{
	const char *problem = NULL;

	if (a->tasks != b->tasks || a->rows != b->rows || a->dims != b->dims)
		problem = "They were learned from other tasks or features.";
	else if ((a->flags & WML_PRIOR_REML) != (b->flags & WML_PRIOR_REML))
		problem = "One was fitted by ml, the other by reml.";
	else if ((a->flags & WML_PRIOR_REML) != 0 && a->descriptors != b->descriptors)
		problem = "Restricted likelihoods of different means say nothing of each other.";
	else if (a->family != b->family)
		problem = "They are of different families.";
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("priors cannot be compared"),
				 errdetail("%s", problem),
				 errhint("Fit both to the same sources by method => 'ml'.")));
}

static double
aic(const WmlPrior *prior)
{
	return 2.0 * (prior->parameters - prior->loglik);
}

static double
bic(const WmlPrior *prior)
{
	return log(prior->rows) * prior->parameters - 2.0 * prior->loglik;
}

/* wml_prior_test(smaller, larger) */
Datum
wml_prior_test(PG_FUNCTION_ARGS)
{
	WmlPrior   *smaller = PG_GETARG_PRIOR(0);
	WmlPrior   *larger = PG_GETARG_PRIOR(1);
	double		degrees = larger->parameters - smaller->parameters;
	double		statistic;

	check_comparable(smaller, larger);
	if (!(degrees > 0.0))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("the second prior must have more parameters than the first"),
				 errdetail("They have %g and %g.", larger->parameters, smaller->parameters)));
	statistic = fmax(2.0 * (larger->loglik - smaller->loglik), 0.0);
	{
		Datum		values[] = {
			Float8GetDatum(statistic),
			Float8GetDatum(degrees),
			Float8GetDatum(wmlc_chi_square_tail(statistic, degrees)),
			Float8GetDatum(aic(smaller)),
			Float8GetDatum(aic(larger)),
			Float8GetDatum(bic(smaller)),
			Float8GetDatum(bic(larger))
		};

		return wml_composite(fcinfo, values, NULL);
	}
}

/*
 * Degrees of freedom of a mean: of a coefficient with spread those of the tasks,
 * of a fixed one those of the rows.
 */
static double
mean_degrees(const WmlcPrior *prior, int feature)
{
	int			d = prior->dims;
	double		spread = 0.0;

	for (int k = 0; k < d; k++)
		spread += fabs(prior->factor[feature + (Size) k * d]);
	return spread > 0.0 ? Max(prior->effective_tasks - prior->descriptors, 1.0)
		: Max(prior->noise_degrees, 1.0);
}

/* wml_prior_mean_test(prior, features, level) */
Datum
wml_prior_mean_test(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlcPrior	prior;
	Datum	   *names;
	double		level;
	Size		means;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	wml_require_arg(fcinfo, 2, "level");
	level = PG_GETARG_FLOAT8(2);
	if (!(level > 0.0 && level < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1: %g", level)));
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	names = wml_feature_names(fcinfo, 1, prior.dims);
	means = (Size) prior.dims * prior.descriptors;
	for (Size at = 0; at < means; at++)
	{
		int			i = (int) (at % prior.dims);
		double		mean = prior.mean[at];
		double		error = sqrt(wmlc_mean_covariance(&prior, at, at));
		double		degrees = mean_degrees(&prior, i);
		double		bound = wmlc_student_bound(level, degrees) * error;
		Datum		values[] = {
			Int32GetDatum(i + 1),
			names ? names[i] : (Datum) 0,
			Int32GetDatum((int32) (at / prior.dims)),
			Float8GetDatum(mean),
			Float8GetDatum(error),
			Float8GetDatum(degrees),
			Float8GetDatum(mean / error),
			Float8GetDatum(2.0 * wmlc_student_tail(fabs(mean / error), degrees)),
			Float8GetDatum(mean - bound),
			Float8GetDatum(mean + bound)
		};
		bool		nulls[lengthof(values)] = {false};

		nulls[1] = names == NULL;
		nulls[6] = nulls[7] = !(error > 0.0);
		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}
