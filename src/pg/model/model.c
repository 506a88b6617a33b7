/*
 * model.c
 *	  The aggregates that fit a model to weighted grams: wml_erm, wml_maml,
 *	  wml_fomaml and wml_reptile.
 *
 * Their state is a bytea rather than internal, so that partial aggregates
 * travel between processes and to shards as they are.
 */
#include "postgres.h"

#include "core/model/objective.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"

PG_FUNCTION_INFO_V1(wml_erm_accum);
PG_FUNCTION_INFO_V1(wml_maml_accum);
PG_FUNCTION_INFO_V1(wml_fomaml_accum);
PG_FUNCTION_INFO_V1(wml_reptile_accum);
PG_FUNCTION_INFO_V1(wml_model_combine);
PG_FUNCTION_INFO_V1(wml_model_final);

#define MODEL_STATE_VERSION 1

typedef struct ModelState
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int16		version;
	int8		kind;			/* WmlcObjectiveKind */
	int8		scale;			/* WmlcScale */
	int32		dims;
	int32		steps;
	double		eta;
	double		ridge;
	double		sums[FLEXIBLE_ARRAY_MEMBER];
} ModelState;

static Size
state_size(WmlcObjectiveKind kind, int dims)
{
	return offsetof(ModelState, sums) + wmlc_objective_doubles(kind, dims) * sizeof(double);
}

/* The bytes of a bytea as a state. */
static ModelState *
state_from_datum(Datum datum)
{
	ModelState *state = (ModelState *) wml_aligned_bytea(datum);
	Size		size = VARSIZE(state);

	if (size < offsetof(ModelState, sums) || state->version != MODEL_STATE_VERSION ||
		state->kind < WMLC_ERM || state->kind > WMLC_REPTILE ||
		state->dims < 1 || state->dims > WMLC_MAX_DIMS ||
		size != state_size(state->kind, state->dims))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of a model aggregate has an unknown version or a wrong length")));
	return state;
}

static WmlcObjectiveSum
state_sum(ModelState *state)
{
	WmlcObjectiveSum sum;

	wmlc_objective_attach(&sum, state->kind, state->dims, state->sums);
	return sum;
}

/* A parameter of the model; it may not be NULL. */
static bool
has_parameter(FunctionCallInfo fcinfo, int position, const char *name)
{
	if (position >= PG_NARGS())
		return false;
	wml_require_arg(fcinfo, position, name);
	return true;
}

/*
 * The parameters behind (state, gram, alpha): ridge and scale for joint
 * training, eta, steps, ridge and scale for the others.
 */
static void
get_parameters(FunctionCallInfo fcinfo, WmlcObjective *objective, double *ridge)
{
	int			position = 3;

	objective->eta = 0.0;
	objective->steps = 1;
	objective->scale = WMLC_SCALE_MEAN;
	*ridge = 0.0;
	if (objective->kind != WMLC_ERM)
	{
		if (has_parameter(fcinfo, position, "eta"))
			objective->eta = wml_check_not_negative(PG_GETARG_FLOAT8(position), "eta");
		position++;
		if (has_parameter(fcinfo, position, "steps"))
			objective->steps = wml_check_steps(PG_GETARG_INT32(position));
		position++;
	}
	if (has_parameter(fcinfo, position, "ridge"))
		*ridge = wml_check_not_negative(PG_GETARG_FLOAT8(position), "ridge");
	position++;
	if (has_parameter(fcinfo, position, "scale"))
		objective->scale = wml_arg_word(PG_GETARG_TEXT_PP(position), &wmlc_scale_words, "scale");
}

static void
check_same_parameters(const ModelState *state, const WmlcObjective *objective, double ridge)
{
	if (state->kind != (int) objective->kind || state->scale != (int) objective->scale ||
		state->steps != objective->steps || state->eta != objective->eta || state->ridge != ridge)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameters of the model differ between rows"),
				 errhint("Step size, steps, ridge and scale must be the same for all tasks of one model.")));
}

static void
check_same_dims(const ModelState *state, int dims)
{
	if (state->dims != dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("grams have different numbers of features"),
				 errdetail("One has %d features, the other %d.", state->dims, dims)));
}

static ModelState *
create_state(const WmlcObjective *objective, double ridge, int dims)
{
	Size		size = state_size(objective->kind, dims);
	ModelState *state = (ModelState *) palloc0(size);

	SET_VARSIZE(state, size);
	state->version = MODEL_STATE_VERSION;
	state->kind = objective->kind;
	state->scale = objective->scale;
	state->dims = dims;
	state->steps = objective->steps;
	state->eta = objective->eta;
	state->ridge = ridge;
	return state;
}

static Datum
accumulate(FunctionCallInfo fcinfo, WmlcObjectiveKind kind)
{
	WmlcObjective objective = {.kind = kind};
	double		ridge;
	double		alpha;
	const WmlcGram *gram;
	ModelState *state;
	WmlcObjectiveSum sum;
	void	   *work;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return wml_unchanged_state(fcinfo);
	get_parameters(fcinfo, &objective, &ridge);
	gram = PG_GETARG_GRAM(1);
	alpha = wml_check_not_negative(PG_GETARG_FLOAT8(2), "alpha");
	if (alpha > 0.0)
		wml_gram_check_solvable(gram, "source");
	else if (gram->dims == 0)
		return wml_unchanged_state(fcinfo); /* no rows and no weight: nothing is said */

	if (PG_ARGISNULL(0))
		state = create_state(&objective, ridge, gram->dims);
	else
	{
		state = state_from_datum(PG_GETARG_DATUM(0));
		check_same_parameters(state, &objective, ridge);
		check_same_dims(state, gram->dims);
	}
	sum = state_sum(state);
	work = palloc(wmlc_objective_workspace(kind, gram->dims));
	wml_check(wmlc_objective_add(&sum, &objective, gram, alpha, work, wml_poll));
	pfree(work);
	PG_RETURN_POINTER(state);
}

Datum
wml_erm_accum(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, WMLC_ERM);
}

Datum
wml_maml_accum(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, WMLC_MAML);
}

Datum
wml_fomaml_accum(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, WMLC_FOMAML);
}

Datum
wml_reptile_accum(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, WMLC_REPTILE);
}

Datum
wml_model_combine(PG_FUNCTION_ARGS)
{
	ModelState *state;
	ModelState *other;
	WmlcObjective objective;
	WmlcObjectiveSum sum,
				other_sum;
	void	   *work;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		return wml_unchanged_state(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	state = state_from_datum(PG_GETARG_DATUM(0));
	other = state_from_datum(PG_GETARG_DATUM(1));
	objective = (WmlcObjective) {
		.kind = other->kind,
		.scale = other->scale,
		.eta = other->eta,
		.steps = other->steps
	};
	check_same_parameters(state, &objective, other->ridge);
	check_same_dims(state, other->dims);
	sum = state_sum(state);
	other_sum = state_sum(other);
	work = palloc(wmlc_objective_workspace(state->kind, state->dims));
	wml_check(wmlc_objective_merge(&sum, &other_sum, 1.0, work));
	pfree(work);
	PG_RETURN_POINTER(state);
}

Datum
wml_model_final(PG_FUNCTION_ARGS)
{
	ModelState *state;
	WmlcObjectiveSum sum;
	ArrayType  *result;
	double	   *w;
	int			rank;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = state_from_datum(PG_GETARG_DATUM(0));
	sum = state_sum(state);
	if (sum.alpha[0] == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	result = wml_array_new_vector(state->dims, &w);
	wml_check(wmlc_objective_fit(&sum, state->ridge, w, &rank,
								 palloc(wmlc_objective_workspace(state->kind, state->dims)),
								 wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}
