/*
 * gram_agg.c
 *	  The aggregates wml_gram and wml_merge: transition, combine and inverse
 *	  transition functions.
 *
 * A state is the expanded object of gram_state.h as soon as a row has settled
 * the number of features, and a flat wml_gram of no features before that,
 * when there are only skipped rows to count.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pg/error.h"
#include "pg/gram_state.h"

PG_FUNCTION_INFO_V1(wml_gram_accum);
PG_FUNCTION_INFO_V1(wml_gram_accum_moving);
PG_FUNCTION_INFO_V1(wml_gram_retract);
PG_FUNCTION_INFO_V1(wml_gram_combine);

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate function called in non-aggregate context")));
	return context;
}

/*
 * The float8[] argument, read where it lies.  Arrays in tables mostly have the
 * short varlena header, and unpacking them would cost a copy for every row, so
 * the fields are fetched from wherever they are: ArrayType without its first
 * four bytes.
 */
typedef struct ArrayFields
{
	int32		ndim;
	int32		dataoffset;
	Oid			elemtype;
	int32		length;			/* the first dimension */
	int32		lower_bound;
} ArrayFields;

#define HEADER_BYTES ((int) offsetof(ArrayType, ndim))

StaticAssertDecl(HEADER_BYTES + sizeof(ArrayFields) == ARR_OVERHEAD_NONULLS(1),
				 "ArrayFields must mirror the header of a one-dimensional array");

static void
check_shape(const ArrayFields *array)
{
	if (array->ndim != 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg(array->ndim == 0 ? "features must not be an empty array"
						: "features must be a one-dimensional array"),
				 errhint("Write one row's features as ARRAY[1, a, b, ...].")));
	if (array->length > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many features: %d", array->length),
				 errdetail("A gram has at most %d features.", WMLC_MAX_DIMS)));
	if (array->elemtype != FLOAT8OID)
		elog(ERROR, "features are not an array of double precision");
}

static bool
has_null_element(const char *bitmap, int length)
{
	for (int i = 0; i < length; i++)
	{
		if ((bitmap[i / 8] & (1 << (i % 8))) == 0)
			return true;
	}
	return false;
}

/*
 * Arguments of wml_gram(x, y [, weight]) as a row z = (x, y) with its padding.
 * Returns the number of features, or 0 for a row to be skipped.
 */
static int
get_row(FunctionCallInfo fcinfo, double *z, double *weight)
{
	struct varlena *value;
	const char *data;
	ArrayFields array;

	*weight = 1.0;
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return 0;
	if (PG_NARGS() > 3)
	{
		if (PG_ARGISNULL(3))
			return 0;
		*weight = PG_GETARG_FLOAT8(3);
		if (*weight < 0.0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight must not be negative: %g", *weight)));
	}

	value = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
	data = VARDATA_ANY(value);
	array.ndim = 0;
	memcpy(&array, data, Min(VARSIZE_ANY_EXHDR(value), sizeof(array)));
	check_shape(&array);
	if (array.dataoffset != 0)
	{
		if (has_null_element(data + sizeof(array), array.length))
			return 0;
		data += array.dataoffset - HEADER_BYTES;
	}
	else
		data += sizeof(array);
	memcpy(z, data, array.length * sizeof(double));
	z[array.length] = PG_GETARG_FLOAT8(2);
	memset(z + array.length + 1, 0, WMLC_ROW_PADDING * sizeof(double));
	return array.length;
}

static void
check_length(const WmlGramState *state, int dims)
{
	if (dims != state->gram.dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of one gram must have equally many features"),
				 errdetail("This row has %d features, the first row of the group had %d.",
						   dims, state->gram.dims)));
}

/*
 * The state in the first argument, ready to take rows of `dims` features.  A
 * flat one (from a shard, or one that has seen skipped rows only) is expanded.
 */
static WmlGramState *
state_for_update(FunctionCallInfo fcinfo, MemoryContext context, int dims)
{
	WmlGramState *state;
	const WmlcGram *flat;

	if (PG_ARGISNULL(0))
		return wml_gram_state_create(context, dims);
	state = wml_gram_state_from_datum(PG_GETARG_DATUM(0));
	if (state != NULL)
		return state;
	flat = PG_GETARG_GRAM(0);
	state = wml_gram_state_create(context, flat->dims == 0 ? dims : flat->dims);
	wml_check(wmlc_gram_merge(&state->gram, flat));
	return state;
}

/* Count a skipped row, also when nothing else is known yet. */
static Datum
count_skipped(FunctionCallInfo fcinfo, int64 change)
{
	WmlGramState *state;
	const WmlcGram *old;
	WmlGram    *flat;

	if (PG_ARGISNULL(0))
	{
		flat = wml_gram_create(0);
		flat->body.skipped = change;
		PG_RETURN_GRAM(flat);
	}
	state = wml_gram_state_from_datum(PG_GETARG_DATUM(0));
	if (state != NULL)
	{
		state->gram.skipped += change;
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	old = PG_GETARG_GRAM(0);
	flat = wml_gram_create(old->dims);
	memcpy(&flat->body, old, wmlc_gram_bytes(old->dims));
	flat->body.skipped += change;
	PG_RETURN_GRAM(flat);
}

static Datum
accumulate(FunctionCallInfo fcinfo, bool moving)
{
	MemoryContext context = aggregate_context(fcinfo);
	double		z[WMLC_ROW_SIZE];
	double		weight;
	int			dims = get_row(fcinfo, z, &weight);
	WmlGramState *state;

	if (dims == 0)
		return count_skipped(fcinfo, 1);
	state = state_for_update(fcinfo, context, dims);
	check_length(state, dims);
	if (moving)
		wml_gram_state_watch(state);
	wml_gram_state_add(state, z, weight);
	PG_RETURN_DATUM(wml_gram_state_datum(state));
}

Datum
wml_gram_accum(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, false);
}

Datum
wml_gram_accum_moving(PG_FUNCTION_ARGS)
{
	return accumulate(fcinfo, true);
}

/*
 * Inverse transition of the moving window.  NULL asks the server to add up the
 * frame anew; that is how the window stays exact when digits would be lost.
 */
Datum
wml_gram_retract(PG_FUNCTION_ARGS)
{
	double		z[WMLC_ROW_SIZE];
	double		weight;
	int			dims;
	WmlGramState *state;

	aggregate_context(fcinfo);
	dims = get_row(fcinfo, z, &weight);
	if (PG_ARGISNULL(0))
		elog(ERROR, "inverse transition of wml_gram called with NULL state");
	if (dims == 0)
		return count_skipped(fcinfo, -1);
	state = wml_gram_state_from_datum(PG_GETARG_DATUM(0));
	if (state == NULL || dims != state->gram.dims || state->gram.rows <= 1 ||
		!wml_gram_state_retract(state, z, weight))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(wml_gram_state_datum(state));
}

/* Combine function of wml_gram and transition function of wml_merge. */
Datum
wml_gram_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	const WmlcGram *other;
	WmlGramState *state;

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	other = PG_GETARG_GRAM(1);
	if (other->dims == 0)
		return count_skipped(fcinfo, other->skipped);
	state = state_for_update(fcinfo, context, other->dims);
	wml_gram_state_flush(state);
	wml_gram_check_same_dims(&state->gram, other);
	wml_check(wmlc_gram_merge(&state->gram, other));
	PG_RETURN_DATUM(wml_gram_state_datum(state));
}
