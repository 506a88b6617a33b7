/*
 * hinge.c
 *	  Linear classifiers under the hinge loss: wml_unit, the aggregates wml_hinge
 *	  and wml_hinge_maml, and wml_hinge_adapt.
 *
 * The aggregates' state is a bytea rather than internal, so that partial
 * aggregates travel between processes and to shards as they are.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "core/model/hinge.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/model/hinge.h"
#include "pg/base/memory.h"

PG_FUNCTION_INFO_V1(wml_unit);
PG_FUNCTION_INFO_V1(wml_hinge_accum);
PG_FUNCTION_INFO_V1(wml_hinge_maml_accum);
PG_FUNCTION_INFO_V1(wml_hinge_combine);
PG_FUNCTION_INFO_V1(wml_hinge_final);
PG_FUNCTION_INFO_V1(wml_hinge_adapt);

#define HINGE_STATE_VERSION 1

/* What is asked for; equal for all rows of one aggregate. */
typedef struct HingeParameters
{
	double		length;			/* of MAML's way, or -1: all the way (ERM) */
	double		radius;
} HingeParameters;

typedef struct HingeState
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		version;
	int64		dims;
	HingeParameters parameters;
	double		sums[FLEXIBLE_ARRAY_MEMBER];
} HingeState;

double
wml_check_radius(double radius)
{
	if (!(radius > 0.0) || isinf(radius))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius must be a finite number and positive: %g", radius)));
	return radius;
}

void
wml_check_unit_ball(const WmlcGram *gram, double radius, const char *role)
{
	double		length = sqrt(gram->max_norm_square);

	if (wmlc_hinge_is_linear(gram, radius))
		return;
	if (isinf(gram->max_norm_square) || isinf(gram->max_response))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("it is not known whether the rows of the %s lie in the unit ball", role),
				 errdetail("A change of basis has lost the largest length of their features."),
				 errhint("Transform the rows before they are collected, with wml_unit at the end.")));
	if (length <= 1.0 + 1e-9 && gram->max_response <= 1.0 + 1e-9)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius is too large for the rows of the %s: %g", role, radius),
				 errdetail("The longest features have length %g and the largest response is %g: margins up to %g exceed 1, where the hinge loss is no longer linear.",
						   length, gram->max_response, radius * length * gram->max_response)));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("rows of the %s do not lie in the unit ball", role),
			 errdetail("The longest features have length %g and the largest response is %g; neither may exceed 1.",
					   length, gram->max_response),
			 errhint("Collect the gram of wml_unit(x, radius) with responses from -1 to 1. Where rows were taken away from the gram, those still count: then collect it anew.")));
}

/* x / max(radius, |x|); NULL when a feature is NULL */
Datum
wml_unit(PG_FUNCTION_ARGS)
{
	ArrayType  *features = PG_GETARG_ARRAYTYPE_P(0);
	double		radius = wml_check_radius(PG_GETARG_FLOAT8(1));
	ArrayType  *result;
	int			count;
	double	   *x;
	double	   *scaled;

	if (array_contains_nulls(features))
		PG_RETURN_NULL();
	x = wml_array_vector(features, "features", &count);
	wml_array_check_finite(x, count, "features");
	result = wml_array_new_vector(count, &scaled);
	wmlc_unit(x, count, radius, scaled);
	PG_RETURN_ARRAYTYPE_P(result);
}

static Size
state_size(int64 dims)
{
	return offsetof(HingeState, sums) + wmlc_hinge_doubles((int) dims) * sizeof(double);
}

/* The bytes of a bytea as a state. */
static HingeState *
state_from_datum(Datum datum)
{
	HingeState *state = (HingeState *) wml_aligned_bytea(datum);
	Size		size = VARSIZE(state);

	if (size < offsetof(HingeState, sums) || state->version != HINGE_STATE_VERSION ||
		state->dims < 1 || state->dims > WMLC_MAX_DIMS || size != state_size(state->dims))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of a hinge aggregate has an unknown version or a wrong length")));
	return state;
}

static void
check_same(const HingeState *state, const HingeParameters *parameters, int64 dims)
{
	if (state->parameters.length != parameters->length ||
		state->parameters.radius != parameters->radius)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameters of the model differ between rows"),
				 errhint("Step size, steps and radius must be the same for all tasks of one model.")));
	if (state->dims != dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("grams have different numbers of features"),
				 errdetail("One has %d features, the other %d.", (int) state->dims, (int) dims)));
}

static HingeState *
create_state(const HingeParameters *parameters, int dims)
{
	HingeState *state = (HingeState *) palloc0(state_size(dims));

	SET_VARSIZE(state, state_size(dims));
	state->version = HINGE_STATE_VERSION;
	state->dims = dims;
	state->parameters = *parameters;
	return state;
}

/* The radius behind the other arguments, where there is one. */
static double
get_radius(FunctionCallInfo fcinfo, int position)
{
	if (position >= PG_NARGS())
		return 1.0;
	wml_require_arg(fcinfo, position, "radius");
	return wml_check_radius(PG_GETARG_FLOAT8(position));
}

static Datum
accumulate(FunctionCallInfo fcinfo, const HingeParameters *parameters)
{
	const WmlcGram *gram = PG_GETARG_GRAM(1);
	double		alpha = wml_check_not_negative(PG_GETARG_FLOAT8(2), "alpha");
	HingeState *state;

	if (alpha > 0.0)
	{
		wml_gram_check_solvable(gram, "source");
		wml_check_unit_ball(gram, parameters->radius, "source");
	}
	else if (gram->dims == 0)
		return wml_unchanged_state(fcinfo);	/* no rows and no weight: nothing is said */
	if (PG_ARGISNULL(0))
		state = create_state(parameters, gram->dims);
	else
	{
		state = state_from_datum(PG_GETARG_DATUM(0));
		check_same(state, parameters, gram->dims);
	}
	wmlc_hinge_add(state->sums, gram, alpha);
	PG_RETURN_POINTER(state);
}

/* Does the row say nothing, for want of a gram or a weight? */
static bool
is_skipped(FunctionCallInfo fcinfo)
{
	wml_aggregate_context(fcinfo);
	return PG_ARGISNULL(1) || PG_ARGISNULL(2);
}

/* (state, gram, alpha [, radius]) */
Datum
wml_hinge_accum(PG_FUNCTION_ARGS)
{
	HingeParameters parameters = {.length = -1.0};

	if (is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	parameters.radius = get_radius(fcinfo, 3);
	return accumulate(fcinfo, &parameters);
}

/* (state, gram, alpha, eta [, steps [, radius]]) */
Datum
wml_hinge_maml_accum(PG_FUNCTION_ARGS)
{
	HingeParameters parameters;
	int			steps = 1;

	if (is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	wml_require_arg(fcinfo, 3, "eta");
	if (PG_NARGS() > 4)
	{
		wml_require_arg(fcinfo, 4, "steps");
		steps = wml_check_steps(PG_GETARG_INT32(4));
	}
	parameters.length = steps * wml_check_not_negative(PG_GETARG_FLOAT8(3), "eta");
	parameters.radius = get_radius(fcinfo, 5);
	return accumulate(fcinfo, &parameters);
}

Datum
wml_hinge_combine(PG_FUNCTION_ARGS)
{
	HingeState *state;
	HingeState *other;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		return wml_unchanged_state(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	state = state_from_datum(PG_GETARG_DATUM(0));
	other = state_from_datum(PG_GETARG_DATUM(1));
	check_same(state, &other->parameters, other->dims);
	wmlc_hinge_merge(state->sums, other->sums, (int) state->dims);
	PG_RETURN_POINTER(state);
}

Datum
wml_hinge_final(PG_FUNCTION_ARGS)
{
	HingeState *state;
	ArrayType  *result;
	double	   *w;
	int			d;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = state_from_datum(PG_GETARG_DATUM(0));
	if (state->sums[0] == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	d = (int) state->dims;
	result = wml_array_new_vector(d, &w);
	if (state->parameters.length < 0.0)
		wmlc_hinge_erm(state->sums, d, state->parameters.radius, w);
	else
		wmlc_hinge_maml(state->sums, d, state->parameters.length, state->parameters.radius, w);
	PG_RETURN_ARRAYTYPE_P(result);
}

/* wml_hinge_adapt(coef, gram, eta, steps, radius) */
Datum
wml_hinge_adapt(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(1);
	double		eta = wml_check_not_negative(PG_GETARG_FLOAT8(2), "eta");
	int			steps = wml_check_steps(PG_GETARG_INT32(3));
	double		radius = wml_check_radius(PG_GETARG_FLOAT8(4));
	ArrayType  *result;
	int			count;
	double	   *coefficients = wml_array_vector(PG_GETARG_ARRAYTYPE_P(0), "coefficients", &count);
	double	   *w;

	wml_gram_check_solvable(gram, "target");
	wml_gram_check_coefficients(gram, count);
	wml_check_unit_ball(gram, radius, "target");
	wml_array_check_finite(coefficients, count, "coefficients");
	result = wml_array_new_vector(count, &w);
	memcpy(w, coefficients, count * sizeof(double));
	wml_check(wmlc_hinge_adapt(w, gram, eta, steps, radius, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}
