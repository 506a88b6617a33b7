/*
 * glm.c
 *	  Generalised linear models of one set of rows: the aggregate wml_glm, and
 *	  wml_glm_train on the rows of a query.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/glm/glm.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/base/srf.h"
#include "pg/glm/glm.h"

PG_FUNCTION_INFO_V1(wml_glm_accum);
PG_FUNCTION_INFO_V1(wml_glm_final);
PG_FUNCTION_INFO_V1(wml_glm_train);

/* The row of type wml_glm that a fit makes. */
static Datum
fit_rows(FunctionCallInfo fcinfo, const WmlcGlmRows *rows, const WmlcGlmOptions *options,
		 int64 skipped)
{
	WmlcGlm		model;
	ArrayType  *coef = wml_array_new_vector(rows->dims, &model.coef);
	ArrayType  *std_error = wml_array_new_vector(rows->dims, &model.std_error);

	wml_check(wmlc_glm_fit(rows, options, &model,
						   wml_allocate(wmlc_glm_workspace(rows->dims), 1)));
	if (model.separated)
		ereport(WML_WARNING,
				(errmsg("the features separate some responses perfectly"),
				 errdetail("The likelihood has no maximum; Firth's penalty keeps the coefficients finite."),
				 errhint("Learn from more tasks with wml_glm_prior, use fewer features, or set a ridge.")));
	if (!model.converged)
		ereport(WML_WARNING,
				(errmsg("fit stopped after %d iterations", model.iterations)));
	if (wml_excess_can_be_told(&options->likelihood, rows))
	{
		WmlcExcess	excess;

		wml_check(wmlc_excess_of_rows(&excess, rows, model.coef, options->poll));
		wml_warn_of_excess(&excess, "Use family => 'negative_binomial'; if the rows are of tasks with rates of their own, wml_glm_prior.");
	}
	{
		Datum		values[11] = {
			PointerGetDatum(coef),
			PointerGetDatum(std_error),
			Float8GetDatum(model.deviance),
			Float8GetDatum(model.loglik),
			Float8GetDatum(model.dispersion),
			Int64GetDatum((int64) rows->count),
			Int64GetDatum(skipped),
			Int32GetDatum(model.rank),
			Int32GetDatum(model.iterations),
			BoolGetDatum(model.converged),
			BoolGetDatum(model.separated)
		};
		bool		nulls[11] = {false};

		nulls[4] = !(model.dispersion > 0.0);
		return wml_composite(fcinfo, values, nulls);
	}
}

/* Somewhere there must be a row to learn from. */
static bool
has_weight(const WmlcGlmRows *rows)
{
	for (Size i = 0; i < rows->count; i++)
		if (rows->weight == NULL || rows->weight[i] > 0.0)
			return true;
	return false;
}

/* ---- the aggregate ---- */

typedef struct GlmState
{
	WmlKeptRows rows;
	WmlcLikelihood likelihood;
} GlmState;

enum
{
	ARG_X = 1,
	ARG_Y,
	ARG_FAMILY,
	ARG_EXPOSURE
};

/* wml_glm(x, y, family [, exposure [, weight]]) */
Datum
wml_glm_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	GlmState   *state = PG_ARGISNULL(0) ? NULL : (GlmState *) PG_GETARG_POINTER(0);
	WmlcResponse response;

	if (state == NULL)
	{
		wml_require_arg(fcinfo, ARG_FAMILY, "family");
		state = (GlmState *) MemoryContextAllocZero(context, sizeof(GlmState));
		state->rows.context = context;
		state->likelihood = wml_likelihood_from_text(PG_GETARG_TEXT_PP(ARG_FAMILY));
	}
	if (PG_ARGISNULL(ARG_X) || !wml_get_response(fcinfo, ARG_Y, ARG_EXPOSURE, &response))
		state->rows.skipped++;
	else
	{
		wml_check_response(&state->likelihood, &response);
		wml_keep_row(&state->rows, PG_GETARG_ARRAYTYPE_P(ARG_X), &response);
	}
	PG_RETURN_POINTER(state);
}

Datum
wml_glm_final(PG_FUNCTION_ARGS)
{
	GlmState   *state = PG_ARGISNULL(0) ? NULL : (GlmState *) PG_GETARG_POINTER(0);
	WmlcGlmRows rows;
	WmlcGlmOptions options = {.poll = wml_poll};

	wml_aggregate_context(fcinfo);
	if (state == NULL)
		PG_RETURN_NULL();
	rows = wml_kept_rows_view(&state->rows);
	if (!has_weight(&rows))
		PG_RETURN_NULL();
	options.likelihood = state->likelihood;
	options.find_dispersion = isnan(state->likelihood.dispersion);
	return fit_rows(fcinfo, &rows, &options, state->rows.skipped);
}

/* ---- the rows of a query ---- */

enum
{
	TRAIN_QUERY,
	TRAIN_FAMILY,
	TRAIN_RIDGE,
	TRAIN_FIRTH
};

static const char *const train_names[] = {"query", "family", "ridge", "firth"};

/* wml_glm_train(query, family, ridge, firth) */
Datum
wml_glm_train(PG_FUNCTION_ARGS)
{
	WmlcGlmOptions options = {.poll = wml_poll};
	WmlQueryRows read;
	WmlcGlmRows rows;

	for (int i = TRAIN_QUERY; i <= TRAIN_FIRTH; i++)
		wml_require_arg(fcinfo, i, train_names[i]);
	options.likelihood = wml_likelihood_from_text(PG_GETARG_TEXT_PP(TRAIN_FAMILY));
	options.find_dispersion = isnan(options.likelihood.dispersion);
	options.ridge = wml_check_not_negative(PG_GETARG_FLOAT8(TRAIN_RIDGE), "ridge");
	options.firth = PG_GETARG_BOOL(TRAIN_FIRTH);
	if (options.firth && options.ridge > 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("ridge and Firth's penalty exclude each other")));
	read = wml_query_rows(text_to_cstring(PG_GETARG_TEXT_PP(TRAIN_QUERY)), WML_QUERY_EXPOSURES,
						  "training set");
	rows = wml_query_rows_view(&read);
	for (Size i = 0; i < rows.count; i++)
	{
		WmlcResponse response = wmlc_glm_response(&rows, i);

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		wml_check_response(&options.likelihood, &response);
	}
	if (!has_weight(&rows))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query returned no rows to learn from"),
				 errdetail("It returned " INT64_FORMAT " rows with NULL and " INT64_FORMAT " without weight.",
						   read.skipped, read.count)));
	if (rows.dims > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many features: %d", rows.dims),
				 errdetail("The maximum is %d.", WMLC_MAX_DIMS)));
	return fit_rows(fcinfo, &rows, &options, read.skipped);
}
