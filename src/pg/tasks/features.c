/*
 * features.c
 *	  From the columns of a row to its feature array: wml_features joins numbers,
 *	  truth values and arrays, wml_category turns a category into zeros and a one.
 *
 * Both are strict, and a value that cannot be told makes the whole array NULL,
 * which the aggregates then skip and count: columns never shift.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/gram/gram.h"
#include "pg/base/array.h"
#include "pg/base/compat.h"
#include "pg/base/numbers.h"

PG_FUNCTION_INFO_V1(wml_features);
PG_FUNCTION_INFO_V1(wml_category);
PG_FUNCTION_INFO_V1(wml_finite);
PG_FUNCTION_INFO_V1(wml_finite_features);

static void
check_count(int64 count)
{
	if (count > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many features: " INT64_FORMAT, count),
				 errdetail("A gram has at most %d features.", WMLC_MAX_DIMS)));
}

Datum
wml_features(PG_FUNCTION_ARGS)
{
	WmlNumbers *reading = (WmlNumbers *) fcinfo->flinfo->fn_extra;
	ArrayType **arrays = NULL;
	int64		count = 0;
	ArrayType  *result;
	double	   *out;

	if (reading == NULL)
	{
		reading = wml_numbers(fcinfo->flinfo, 0, PG_NARGS(), true, "wml_features", 0);
		fcinfo->flinfo->fn_extra = reading;
	}
	for (int i = 0; i < reading->count; i++)
	{
		ArrayType  *array;

		if (reading->type[i] != FLOAT8ARRAYOID)
		{
			count++;
			continue;
		}
		array = PG_GETARG_ARRAYTYPE_P(i);
		if (ARR_NDIM(array) > 1)
			ereport(ERROR,
					(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
					 errmsg("argument %d of wml_features must be a one-dimensional array", i + 1)));
		if (array_contains_nulls(array))
			PG_RETURN_NULL();
		if (arrays == NULL)
			arrays = (ArrayType **) palloc0(reading->count * sizeof(ArrayType *));
		arrays[i] = array;
		count += ARR_NDIM(array) == 0 ? 0 : ARR_DIMS(array)[0];
	}
	check_count(count);
	if (count == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(FLOAT8OID));
	result = wml_array_new_vector((int) count, &out);
	for (int i = 0; i < reading->count; i++)
	{
		if (reading->type[i] != FLOAT8ARRAYOID)
			*out++ = wml_number(PG_GETARG_DATUM(i), reading->type[i]);
		else if (ARR_NDIM(arrays[i]) == 1)
		{
			int			length = ARR_DIMS(arrays[i])[0];

			memcpy(out, ARR_DATA_PTR(arrays[i]), length * sizeof(double));
			out += length;
		}
	}
	PG_RETURN_ARRAYTYPE_P(result);
}

/* The levels of a category, sorted by their bytes so that they are found fast. */
typedef struct Level
{
	const char *bytes;
	int			length;
	int			number;			/* its place among the levels; 0 is the reference */
} Level;

typedef struct Levels
{
	ArrayType  *array;			/* what they were made from */
	int			count;
	Level		level[FLEXIBLE_ARRAY_MEMBER];
} Levels;

static int
compare_levels(const void *left, const void *right)
{
	const Level *a = (const Level *) left;
	const Level *b = (const Level *) right;

	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->length);
}

static Levels *
make_levels(ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	int			count;
	Levels	   *levels;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
	check_count(count);
	levels = (Levels *) palloc(offsetof(Levels, level) + count * sizeof(Level));
	levels->array = array;
	levels->count = count;
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("levels of a category must not be NULL")));
		levels->level[i].bytes = VARDATA_ANY(DatumGetPointer(values[i]));
		levels->level[i].length = VARSIZE_ANY_EXHDR(DatumGetPointer(values[i]));
		levels->level[i].number = i;
	}
	if (count < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a category needs at least two levels"),
				 errdetail("The first level is the reference, and each of the others becomes a feature.")));
	qsort(levels->level, count, sizeof(Level), compare_levels);
	for (int i = 1; i < count; i++)
	{
		if (compare_levels(&levels->level[i - 1], &levels->level[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("levels of a category must differ"),
					 errdetail("\"%.*s\" is among them more than once.",
							   levels->level[i].length, levels->level[i].bytes)));
	}
	return levels;
}

/*
 * Mostly the levels are the same in all rows, and then sorted but once.  They are kept
 * only where they cannot change within a query; a loop of PL/pgSQL is many queries.
 */
static Levels *
get_levels(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Levels	   *levels = (Levels *) flinfo->fn_extra;
	MemoryContext old_context;

	if (levels != NULL && VARSIZE(levels->array) == VARSIZE(array) &&
		memcmp(levels->array, array, VARSIZE(array)) == 0)
		return levels;
	if (levels != NULL || !get_fn_expr_arg_stable(flinfo, 1))
		return make_levels(array);
	old_context = MemoryContextSwitchTo(flinfo->fn_mcxt);
	levels = make_levels(PG_GETARG_ARRAYTYPE_P_COPY(1));
	MemoryContextSwitchTo(old_context);
	flinfo->fn_extra = levels;
	return levels;
}

Datum
wml_category(PG_FUNCTION_ARGS)
{
	text	   *value = PG_GETARG_TEXT_PP(0);
	Levels	   *levels = get_levels(fcinfo);
	Level		key = {.bytes = VARDATA_ANY(value), .length = VARSIZE_ANY_EXHDR(value)};
	Level	   *found = bsearch(&key, levels->level, levels->count, sizeof(Level), compare_levels);
	ArrayType  *result;
	double	   *out;

	if (found == NULL)
		PG_RETURN_NULL();
	result = wml_array_new_vector(levels->count - 1, &out);
	memset(out, 0, (levels->count - 1) * sizeof(double));
	if (found->number > 0)
		out[found->number - 1] = 1.0;
	PG_RETURN_ARRAYTYPE_P(result);
}

/* No NaN, no infinity, and nothing NULL. */
static bool
is_finite(ArrayType *array)
{
	const double *x = (const double *) ARR_DATA_PTR(array);
	int			count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (array_contains_nulls(array))
		return false;
	for (int i = 0; i < count; i++)
	{
		if (!isfinite(x[i]))
			return false;
	}
	return true;
}

Datum
wml_finite(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(is_finite(PG_GETARG_ARRAYTYPE_P(0)));
}

Datum
wml_finite_features(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);

	if (!is_finite(array))
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(array);
}
