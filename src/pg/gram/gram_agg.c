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
#include "common/int.h"
#include "utils/array.h"

#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/gram/gram_state.h"

PG_FUNCTION_INFO_V1(wml_gram_accum);
PG_FUNCTION_INFO_V1(wml_gram_accum_moving);
PG_FUNCTION_INFO_V1(wml_gram_retract);
PG_FUNCTION_INFO_V1(wml_gram_columns_accum);
PG_FUNCTION_INFO_V1(wml_gram_columns_accum_moving);
PG_FUNCTION_INFO_V1(wml_gram_columns_retract);
PG_FUNCTION_INFO_V1(wml_gram_combine);

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
 * The next row of a table mostly lies just below this one on its page, since
 * pages are filled from the end.  Where it does not, nothing is lost.
 */
static inline void
prefetch_next_row(const WmlRow *row)
{
	for (int offset = 64; offset <= row->dims * (int) sizeof(double) + 64; offset += 64)
		__builtin_prefetch(row->features - offset);
}

/* The arguments of wml_gram(x, y [, weight]); false for a row to be skipped. */
static bool
get_row(FunctionCallInfo fcinfo, WmlRow *row)
{
	struct varlena *value;
	const char *data;
	ArrayFields array;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return false;
	row->response = PG_GETARG_FLOAT8(2);
	row->weight = 1.0;
	if (PG_NARGS() > 3)
	{
		if (PG_ARGISNULL(3))
			return false;
		row->weight = PG_GETARG_FLOAT8(3);
		if (row->weight < 0.0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight must not be negative: %g", row->weight)));
	}

	value = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
	data = VARDATA_ANY(value);
	if (VARSIZE_ANY_EXHDR(value) >= sizeof(array))
		memcpy(&array, data, sizeof(array));
	else
		array.ndim = 0;			/* an empty array has no dimensions to read */
	check_shape(&array);
	if (array.dataoffset != 0)
	{
		if (has_null_element(data + sizeof(array), array.length))
			return false;
		data += array.dataoffset - HEADER_BYTES;
	}
	else
		data += sizeof(array);
	row->dims = array.length;
	row->features = data;
	row->numbers = NULL;
	prefetch_next_row(row);
	return true;
}

/*
 * The arguments of wml_gram_columns(y, ...): the features are numbers of
 * whichever type, and no array is made of them, which would take the server
 * longer than to add the row.
 */
static bool
get_columns(FunctionCallInfo fcinfo, WmlRow *row)
{
	void	  **extra = wml_state_pools_extra(fcinfo->flinfo);
	const WmlNumbers *numbers;

	if (*extra == NULL)
		*extra = wml_numbers(fcinfo->flinfo, 2, PG_NARGS() - 2, false, "wml_gram_columns", 1);
	numbers = (const WmlNumbers *) *extra;
	if (PG_ARGISNULL(1))
		return false;
	for (int i = 0; i < numbers->count; i++)
	{
		if (PG_ARGISNULL(i + 2))
			return false;
	}
	row->response = PG_GETARG_FLOAT8(1);
	row->weight = 1.0;
	row->dims = numbers->count;
	row->numbers = numbers;
	row->arguments = &fcinfo->args[2];
	return true;
}

static void
check_length(const WmlGramState *state, int dims)
{
	if (dims != state->dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of one gram must have the same number of features"),
				 errdetail("This row has %d features, the first row of the group had %d.",
						   dims, state->dims)));
}

/*
 * The state in the first argument, ready to take rows of `dims` features.  A
 * flat one (from a shard, or one that has seen skipped rows only) is expanded.
 */
static WmlGramState *
state_for_update(FunctionCallInfo fcinfo, MemoryContext context, int dims, bool buffered)
{
	WmlGramState *state;
	const WmlcGram *flat;

	if (PG_ARGISNULL(0))
		return wml_gram_state_create(fcinfo, context, dims, buffered);
	state = wml_gram_state_from_datum(PG_GETARG_DATUM(0));
	if (state != NULL)
		return state;
	flat = PG_GETARG_GRAM(0);
	state = wml_gram_state_create(fcinfo, context, flat->dims == 0 ? dims : flat->dims, buffered);
	wml_gram_state_flush(state);
	wml_check(wmlc_gram_merge(state->gram, flat));
	return state;
}

static int64
add_counts(int64 a, int64 b)
{
	int64		sum;

	if (pg_add_s64_overflow(a, b, &sum))
		wml_check(WMLC_COUNT_OVERFLOW);
	if (sum < 0)
		wml_check(WMLC_NOT_CONTAINED);
	return sum;
}

/* Count skipped rows, also when nothing else is known yet. */
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
		state->gram->skipped = add_counts(state->gram->skipped, change);
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	old = PG_GETARG_GRAM(0);
	flat = wml_gram_create(old->dims);
	memcpy(&flat->body, old, wmlc_gram_bytes(old->dims));
	flat->body.skipped = add_counts(old->skipped, change);
	PG_RETURN_GRAM(flat);
}

/* The row is NULL if it is to be skipped. */
static inline Datum
accumulate(FunctionCallInfo fcinfo, MemoryContext context, const WmlRow *row, bool moving)
{
	WmlGramState *state;

	if (row == NULL)
		return count_skipped(fcinfo, 1);
	state = state_for_update(fcinfo, context, row->dims, !moving);
	check_length(state, row->dims);
	if (moving)
		wml_gram_state_watch(state);
	wml_gram_state_add(state, row);
	PG_RETURN_DATUM(wml_gram_state_datum(state));
}

static inline Datum
accumulate_array(FunctionCallInfo fcinfo, bool moving)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	WmlRow		row;

	if (!PG_ARGISNULL(0))
		wml_gram_state_prefetch(PG_GETARG_DATUM(0));
	return accumulate(fcinfo, context, get_row(fcinfo, &row) ? &row : NULL, moving);
}

static inline Datum
accumulate_columns(FunctionCallInfo fcinfo, bool moving)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	WmlRow		row;

	if (!PG_ARGISNULL(0))
		wml_gram_state_prefetch(PG_GETARG_DATUM(0));
	return accumulate(fcinfo, context, get_columns(fcinfo, &row) ? &row : NULL, moving);
}

Datum
wml_gram_accum(PG_FUNCTION_ARGS)
{
	return accumulate_array(fcinfo, false);
}

Datum
wml_gram_accum_moving(PG_FUNCTION_ARGS)
{
	return accumulate_array(fcinfo, true);
}

Datum
wml_gram_columns_accum(PG_FUNCTION_ARGS)
{
	return accumulate_columns(fcinfo, false);
}

Datum
wml_gram_columns_accum_moving(PG_FUNCTION_ARGS)
{
	return accumulate_columns(fcinfo, true);
}

static void
check_retraction(FunctionCallInfo fcinfo)
{
	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("there are no rows to subtract from"),
				 errdetail("The inverse transition of wml_gram was called with a NULL state.")));
}

/*
 * Inverse transition of the moving window.  NULL asks the server to add up the
 * frame anew; that is how the window stays exact when digits would be lost.
 */
static Datum
retract(FunctionCallInfo fcinfo, const WmlRow *row)
{
	WmlGramState *state;

	if (row == NULL)
		return count_skipped(fcinfo, -1);
	state = wml_gram_state_from_datum(PG_GETARG_DATUM(0));
	if (state == NULL || row->dims != state->dims || state->gram->rows <= 1)
		PG_RETURN_NULL();
	if (!wml_gram_state_retract(state, row))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(wml_gram_state_datum(state));
}

Datum
wml_gram_retract(PG_FUNCTION_ARGS)
{
	WmlRow		row;

	check_retraction(fcinfo);
	return retract(fcinfo, get_row(fcinfo, &row) ? &row : NULL);
}

Datum
wml_gram_columns_retract(PG_FUNCTION_ARGS)
{
	WmlRow		row;

	check_retraction(fcinfo);
	return retract(fcinfo, get_columns(fcinfo, &row) ? &row : NULL);
}

/* Combine function of wml_gram and transition function of wml_merge. */
Datum
wml_gram_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
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
	/* partial states of many features are large, and the leader of parallel workers is alone with all of them */
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(wml_gram_state_datum(wml_gram_state_copy(fcinfo, context, other)));
	state = state_for_update(fcinfo, context, other->dims, false);
	wml_gram_state_flush(state);
	wml_gram_check_same_dims(state->gram, other);
	wml_check(wmlc_gram_merge(state->gram, other));
	PG_RETURN_DATUM(wml_gram_state_datum(state));
}
