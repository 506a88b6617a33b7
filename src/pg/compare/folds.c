/*
 * folds.c
 *	  The aggregate wml_folds: the rows of a target dealt out to folds, one
 *	  gram for each, for wml_compare and wml_tune.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_folds_accum);
PG_FUNCTION_INFO_V1(wml_folds_final);

#define DEFAULT_FOLDS 10
#define MAX_FOLDS 1000

/* Rows go to the folds in turn. */
typedef struct Folds
{
	int64		rows;
	int			dims;
	int			count;
	double	   *z;				/* the row at hand, and the zeros behind it */
	WmlGram   **grams;
} Folds;

static int
get_count(FunctionCallInfo fcinfo)
{
	int			count;

	if (PG_NARGS() < 4)
		return DEFAULT_FOLDS;
	wml_require_arg(fcinfo, 3, "count");
	count = PG_GETARG_INT32(3);
	if (count < 2 || count > MAX_FOLDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("count of folds must be between 2 and %d: %d", MAX_FOLDS, count)));
	return count;
}

static Folds *
create_folds(FunctionCallInfo fcinfo, int dims)
{
	Folds	   *folds = (Folds *) palloc0(sizeof(Folds));

	if (dims < 1 || dims > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a row must have between 1 and %d features: %d", WMLC_MAX_DIMS, dims)));
	folds->dims = dims;
	folds->count = get_count(fcinfo);
	folds->z = (double *) palloc0((dims + 1 + WMLC_ROW_PADDING) * sizeof(double));
	folds->grams = (WmlGram **) palloc0(folds->count * sizeof(WmlGram *));
	return folds;
}

/* wml_folds_accum(state, x, y [, count]) */
Datum
wml_folds_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	Folds	   *folds = PG_ARGISNULL(0) ? NULL : (Folds *) PG_GETARG_POINTER(0);
	MemoryContext old_context;
	WmlGram   **gram;
	double	   *x;
	int			dims;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || array_contains_nulls(PG_GETARG_ARRAYTYPE_P(1)))
		return wml_unchanged_state(fcinfo);
	x = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "features", &dims);
	old_context = MemoryContextSwitchTo(context);
	if (folds == NULL)
		folds = create_folds(fcinfo, dims);
	if (dims != folds->dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of one gram must have the same number of features"),
				 errdetail("This row has %d features, the first row of the group had %d.", dims, folds->dims)));
	gram = &folds->grams[folds->rows++ % folds->count];
	if (*gram == NULL)
		*gram = wml_gram_create(dims);
	MemoryContextSwitchTo(old_context);
	memcpy(folds->z, x, dims * sizeof(double));
	folds->z[dims] = PG_GETARG_FLOAT8(2);
	wmlc_gram_add_row(&(*gram)->body, folds->z, 1.0);
	PG_RETURN_POINTER(folds);
}

Datum
wml_folds_final(PG_FUNCTION_ARGS)
{
	Folds	   *folds = PG_ARGISNULL(0) ? NULL : (Folds *) PG_GETARG_POINTER(0);
	Oid			type = get_element_type(get_fn_expr_rettype(fcinfo->flinfo));
	Datum	   *datums;
	int			count;

	(void) wml_aggregate_context(fcinfo);
	if (folds == NULL)
		PG_RETURN_NULL();
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of the result");
	count = (int) Min(folds->rows, folds->count);
	datums = (Datum *) palloc(count * sizeof(Datum));
	for (int i = 0; i < count; i++)
		datums[i] = PointerGetDatum(folds->grams[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(datums, count, type, -1, false, TYPALIGN_DOUBLE));
}
