/*
 * working.c
 *	  Working grams as aggregates: at given coefficients, rows entering one by
 *	  one, and at the posterior under a prior, rows being kept for it.
 *
 * The first has the transition of wml_gram behind it, and the same state, so it
 * runs in parallel and on shards.
 */
#include "postgres.h"

#include <math.h>

#include "utils/array.h"
#include "utils/builtins.h"

#include "core/glm/hierarchy.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/glm/glm.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior.h"

PG_FUNCTION_INFO_V1(wml_working_gram_accum);
PG_FUNCTION_INFO_V1(wml_working_scale);
PG_FUNCTION_INFO_V1(wml_target_gram_accum);
PG_FUNCTION_INFO_V1(wml_target_gram_final);
PG_FUNCTION_INFO_V1(wml_kept_gram_final);

extern Datum wml_gram_accum(PG_FUNCTION_ARGS);

/* Arguments behind the state. */
enum
{
	ARG_X = 1,
	ARG_Y,
	ARG_FAMILY,
	ARG_COEF,
	ARG_EXPOSURE,
	ARG_WEIGHT,
	ARG_COVARIANCE
};

/* What was found out for the last row, mostly the same for the next one. */
typedef struct Cache
{
	WmlFamilyCache family;
	FmgrInfo	gram_accum;		/* for wml_gram_accum, which keeps something behind it, too */
} Cache;

static Cache *
get_cache(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	Cache	   *cache = (Cache *) flinfo->fn_extra;

	if (cache == NULL)
	{
		cache = (Cache *) MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Cache));
		cache->gram_accum = *flinfo;
		cache->gram_accum.fn_extra = NULL;
		flinfo->fn_extra = cache;
	}
	return cache;
}

static const WmlcLikelihood *
get_likelihood(FunctionCallInfo fcinfo)
{
	wml_require_arg(fcinfo, ARG_FAMILY, "family");
	return wml_check_dispersion(wml_likelihood_cached(&get_cache(fcinfo)->family,
													  fcinfo->flinfo->fn_mcxt,
													  PG_GETARG_TEXT_PP(ARG_FAMILY)));
}

static double
get_variance(FunctionCallInfo fcinfo, const double *x, int dims)
{
	double	   *covariance;
	int			rows,
				columns;

	if (PG_NARGS() <= ARG_COVARIANCE || PG_ARGISNULL(ARG_COVARIANCE))
		return WMLC_POINT;
	covariance = wml_array_matrix(PG_GETARG_ARRAYTYPE_P(ARG_COVARIANCE), "covariance", &rows, &columns);
	if (rows != dims || columns != dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("covariance does not match the coefficients"),
				 errdetail("It is %d by %d, and there are %d coefficients.", rows, columns, dims)));
	return wmlc_predictor_variance(dims, x, covariance);
}

/* The working row of the arguments; false for a row to be skipped. */
static bool
get_working_row(FunctionCallInfo fcinfo, WmlcWorkingRow *row)
{
	const WmlcLikelihood *likelihood = get_likelihood(fcinfo);
	WmlcResponse response;
	ArrayType  *array;
	double	   *x;
	double	   *coef;
	double		eta,
				variance;
	int			dims,
				count;

	if (PG_ARGISNULL(ARG_X) || !wml_get_response(fcinfo, ARG_Y, ARG_EXPOSURE, &response))
		return false;
	array = PG_GETARG_ARRAYTYPE_P(ARG_X);
	if (array_contains_nulls(array))
		return false;
	wml_check_response(likelihood, &response);
	if (PG_ARGISNULL(ARG_COEF))
	{
		*row = wmlc_working_start(likelihood, &response);
		return true;
	}
	x = wml_array_vector(array, "features", &dims);
	coef = wml_array_vector(PG_GETARG_ARRAYTYPE_P(ARG_COEF), "coefficients", &count);
	wml_check_feature_count(dims, count);
	eta = wmlc_predictor(dims, x, coef);
	variance = get_variance(fcinfo, x, dims);
	if (!isfinite(eta) || !isfinite(variance))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("linear predictor of a row is not finite"),
				 errdetail("It is %g with variance %g.", eta, fmax(variance, 0.0))));
	*row = wmlc_working_row(likelihood, &response, eta, variance);
	return true;
}

/* wml_working_gram(x, y, family, coef [, exposure [, weight [, covariance]]]) */
Datum
wml_working_gram_accum(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(inner, 4);
	WmlcWorkingRow row = {0};
	bool		skip = !get_working_row(fcinfo, &row);

	wml_aggregate_context(fcinfo);
	InitFunctionCallInfoData(*inner, &get_cache(fcinfo)->gram_accum, 4, fcinfo->fncollation,
							 fcinfo->context, NULL);
	inner->args[0] = fcinfo->args[0];
	inner->args[1] = fcinfo->args[ARG_X];
	inner->args[2].value = Float8GetDatum(row.response);
	inner->args[2].isnull = skip;
	inner->args[3].value = Float8GetDatum(row.weight);
	inner->args[3].isnull = skip;
	{
		Datum		result = wml_gram_accum(inner);

		fcinfo->isnull = inner->isnull;
		return result;
	}
}

/*
 * wml_working_scale(x, y, family, coef, exposure, weight, covariance): the part of
 * the row in the evidence.  The arguments stand one to the left of an aggregate's.
 */
Datum
wml_working_scale(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(inner, ARG_COVARIANCE + 1);
	WmlcWorkingRow row;
	WmlcResponse response;

	InitFunctionCallInfoData(*inner, fcinfo->flinfo, ARG_COVARIANCE + 1, fcinfo->fncollation,
							 fcinfo->context, NULL);
	inner->args[0].isnull = true;
	for (int i = ARG_X; i <= ARG_COVARIANCE; i++)
		inner->args[i] = fcinfo->args[i - 1];
	if (!get_working_row(inner, &row) || !wml_get_response(inner, ARG_Y, ARG_EXPOSURE, &response))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(row.log_scale +
					 response.weight * wmlc_likelihood_constant(get_likelihood(inner), &response));
}

/* ---- at the posterior under a prior ---- */

typedef struct TargetState
{
	WmlKeptRows rows;
	WmlPrior   *prior;
	WmlcLikelihood likelihood;
} TargetState;

enum
{
	KEEP_X = 1,
	KEEP_Y,
	KEEP_PRIOR,
	KEEP_EXPOSURE
};

static TargetState *
start_target(FunctionCallInfo fcinfo, MemoryContext context)
{
	MemoryContext old_context = MemoryContextSwitchTo(context);
	TargetState *state = (TargetState *) palloc0(sizeof(TargetState));
	const WmlPrior *prior = PG_GETARG_PRIOR(KEEP_PRIOR);

	state->rows.context = context;
	state->prior = (WmlPrior *) palloc(VARSIZE(prior));
	memcpy(state->prior, prior, VARSIZE(prior));
	state->likelihood.family = (WmlcFamily) prior->family;
	state->likelihood.dispersion = prior->dispersion;
	MemoryContextSwitchTo(old_context);
	return state;
}

/* wml_target_gram(x, y, prior [, exposure [, weight]]) */
Datum
wml_target_gram_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	TargetState *state = PG_ARGISNULL(0) ? NULL : (TargetState *) PG_GETARG_POINTER(0);
	WmlcResponse response;

	if (state == NULL)
	{
		if (PG_ARGISNULL(KEEP_PRIOR))
			PG_RETURN_NULL();
		state = start_target(fcinfo, context);
	}
	if (PG_ARGISNULL(KEEP_X) || !wml_get_response(fcinfo, KEEP_Y, KEEP_EXPOSURE, &response))
		state->rows.skipped++;
	else
	{
		wml_check_response(&state->likelihood, &response);
		wml_keep_row(&state->rows, PG_GETARG_ARRAYTYPE_P(KEEP_X), &response);
	}
	PG_RETURN_POINTER(state);
}

/* The working gram of the rows, and whether it could be found and settled; NULL without rows. */
static WmlGram *
target_gram(FunctionCallInfo fcinfo, WmlcStatus *status, bool *converged)
{
	TargetState *state = PG_ARGISNULL(0) ? NULL : (TargetState *) PG_GETARG_POINTER(0);
	WmlGram    *gram;
	WmlcPrior	prior;
	WmlcGlmRows rows;

	wml_aggregate_context(fcinfo);
	if (state == NULL || state->rows.count == 0)
		return NULL;
	prior = wml_prior_view(state->prior);
	wml_check_feature_count(state->rows.dims, prior.dims);
	gram = wml_gram_create(prior.dims);
	rows = wml_kept_rows_view(&state->rows);
	*converged = false;
	*status = wmlc_target_gram(&prior, &rows, false, &gram->body, converged,
							   wml_allocate(wmlc_target_gram_workspace(prior.dims), 1), wml_poll);
	gram->body.skipped = state->rows.skipped;
	return gram;
}

Datum
wml_target_gram_final(PG_FUNCTION_ARGS)
{
	WmlcStatus	status;
	bool		converged;
	WmlGram    *gram = target_gram(fcinfo, &status, &converged);

	if (gram == NULL)
		PG_RETURN_NULL();
	wml_check(status);
	if (!converged)
		ereport(WML_WARNING,
				(errmsg("working gram has not converged to its own posterior"),
				 errdetail("The iteration stopped before it converged.")));
	PG_RETURN_GRAM(gram);
}

/*
 * The same for those who only keep it: rows that no posterior could be found
 * for count as rows that are not finite.
 */
Datum
wml_kept_gram_final(PG_FUNCTION_ARGS)
{
	WmlcStatus	status;
	bool		converged;
	WmlGram    *gram = target_gram(fcinfo, &status, &converged);
	const WmlKeptRows *rows;
	double	   *row;

	if (gram == NULL)
		PG_RETURN_NULL();
	if (status == WMLC_INTERRUPTED)
		wml_check(status);
	if (status == WMLC_OK && converged)
		PG_RETURN_GRAM(gram);
	rows = &((TargetState *) PG_GETARG_POINTER(0))->rows;
	gram = wml_gram_create(rows->dims);
	gram->body.skipped = rows->skipped;
	row = (double *) palloc0((rows->dims + 1 + WMLC_ROW_PADDING) * sizeof(double));
	for (int i = 0; i <= rows->dims; i++)
		row[i] = NAN;
	for (int64 i = 0; i < rows->count; i++)
	{
		wml_poll();
		wml_check(wmlc_gram_add_row(&gram->body, row, 1.0));
	}
	PG_RETURN_GRAM(gram);
}
