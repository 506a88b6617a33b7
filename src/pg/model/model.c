/*
 * model.c
 *	  The aggregates that fit a model to weighted grams: wml_erm, wml_maml,
 *	  wml_fomaml, wml_reptile, wml_hinge and wml_hinge_maml.
 *
 * They share their functions; what tells them apart is the model that the
 * state they begin with (INITCOND) names.
 */
#include "postgres.h"

#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/gram/gram.h"
#include "pg/model/hinge.h"
#include "pg/model/model_state.h"
#include "pg/model/step.h"

PG_FUNCTION_INFO_V1(wml_model_accum);
PG_FUNCTION_INFO_V1(wml_model_combine);
PG_FUNCTION_INFO_V1(wml_model_final);

static bool
same_options(const WmlcModelOptions *a, const WmlcModelOptions *b)
{
	return a->eta == b->eta && a->share == b->share && a->ridge == b->ridge &&
		a->radius == b->radius && a->steps == b->steps && a->scale == b->scale;
}

static void
check_same(const WmlModelState *state, const WmlcModelOptions *options, int dims)
{
	if (!same_options(&state->options, options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options of the model differ between rows"),
				 errhint("They must be the same for all tasks of one model.")));
	if (state->dims != dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("grams have different numbers of features"),
				 errdetail("One has %d features, the other %d.", state->dims, dims)));
}

/* A task of weight 0 may hold anything. */
static void
check_task(const WmlcGram *gram, double alpha, int kind, const WmlcModelOptions *options)
{
	if (alpha == 0.0)
		return;
	wml_gram_check_solvable(gram, "source");
	if (wmlc_model_is_hinge(kind))
		wml_check_unit_ball(gram, options->radius, "source");
}

/* (state, gram, alpha [, options]) */
Datum
wml_model_accum(PG_FUNCTION_ARGS)
{
	WmlcModelOptions options = wmlc_default_options;
	WmlModelState *state;
	const WmlcGram *gram;
	double		alpha;
	void	   *work;

	wml_aggregate_context(fcinfo);
	wml_require_arg(fcinfo, 0, "state");
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return wml_unchanged_state(fcinfo);
	state = wml_model_state_own(PG_GETARG_DATUM(0));
	if (PG_NARGS() > 3)
	{
		wml_require_arg(fcinfo, 3, "options");
		options = wml_step_options(PG_GETARG_DATUM(3), state->kind);
	}
	gram = PG_GETARG_GRAM(1);
	alpha = wml_check_not_negative(PG_GETARG_FLOAT8(2), "alpha");
	check_task(gram, alpha, state->kind, &options);
	if (gram->dims == 0)
		return wml_unchanged_state(fcinfo); /* no rows and no weight: nothing is said */
	if (state->dims == 0)
		state = wml_model_state_create(state->kind, gram->dims, &options);
	check_same(state, &options, gram->dims);
	work = palloc(wmlc_model_workspace(state->kind, gram->dims));
	wml_check(wmlc_model_add(state->kind, &options, gram, alpha, state->sums, work, wml_poll));
	pfree(work);
	PG_RETURN_POINTER(state);
}

Datum
wml_model_combine(PG_FUNCTION_ARGS)
{
	WmlModelState *state;
	WmlModelState *other;
	void	   *work;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		return wml_unchanged_state(fcinfo);
	other = wml_model_state_from_datum(PG_GETARG_DATUM(1));
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(other);
	state = wml_model_state_from_datum(PG_GETARG_DATUM(0));
	if (state->kind != other->kind)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot combine states of different models")));
	if (other->dims == 0)
		return wml_unchanged_state(fcinfo);
	if (state->dims == 0)
		PG_RETURN_POINTER(other);
	check_same(state, &other->options, other->dims);
	work = palloc(wmlc_model_workspace(state->kind, state->dims));
	wml_check(wmlc_model_merge(state->kind, state->dims, state->sums, other->sums, work,
							   wml_poll));
	pfree(work);
	PG_RETURN_POINTER(state);
}

Datum
wml_model_final(PG_FUNCTION_ARGS)
{
	WmlModelState *state;
	ArrayType  *result;
	double	   *w;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = wml_model_state_from_datum(PG_GETARG_DATUM(0));
	if (state->dims == 0)
		PG_RETURN_NULL();
	if (wmlc_model_alpha(state->sums) == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	result = wml_array_new_vector(state->dims, &w);
	wml_check(wmlc_model_fit(state->kind, &state->options, state->dims, state->sums, w,
							 palloc(wmlc_model_workspace(state->kind, state->dims)), wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}
