/*
 * svm.c
 *	  Support vector machines on the rows of a query: wml_svm_train.
 *
 * Other than the models made from grams, this one needs the rows themselves.
 * They come from a query of the user's, run with the user's own rights through
 * a cursor, and stay in memory while the machine is trained.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/gram.h"
#include "core/svm.h"
#include "pg/args.h"
#include "pg/array.h"
#include "pg/error.h"
#include "pg/memory.h"
#include "pg/progress.h"
#include "pg/srf.h"

PG_FUNCTION_INFO_V1(wml_svm_train);

#define FETCH_ROWS 1000
#define FIRST_CAPACITY 1024

/* Passes after which another method is tried. */
#define PATIENCE 100

enum
{
	ARG_QUERY,
	ARG_COST,
	ARG_TOLERANCE,
	ARG_PASSES,
	ARG_SEED
};

static const char *const argument_names[] = {"query", "cost", "tolerance", "passes", "seed"};

/* The query's columns, by position. */
enum
{
	COLUMN_X,
	COLUMN_Y,
	COLUMN_WEIGHT
};

/* The rows of the query, in the memory of the function's call. */
typedef struct Rows
{
	MemoryContext context;
	int			columns;
	Oid			cast[3];		/* to float8, or invalid where none is needed */
	int			dims;
	int64		count;
	int64		capacity;
	int64		skipped;		/* for a NULL */
	double	   *x;
	double	   *y;
	double	   *cost;
} Rows;

/* What the query gives, for an error message: "x integer[], y text". */
static char *
describe_columns(TupleDesc descriptor)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);

		appendStringInfo(&out, "%s%s %s", i == 0 ? "" : ", ", NameStr(attribute->attname),
						 format_type_be(attribute->atttypid));
	}
	return out.data;
}

/* The function that turns a number into float8; false if there is none. */
static bool
find_cast(Oid type, Oid *cast)
{
	type = getBaseType(type);
	*cast = InvalidOid;
	if (type == FLOAT8OID)
		return true;
	return find_coercion_pathway(FLOAT8OID, type, COERCION_IMPLICIT, cast) == COERCION_PATH_FUNC;
}

static void
check_columns(Rows *rows, TupleDesc descriptor)
{
	bool		fits = descriptor->natts == 2 || descriptor->natts == 3;

	fits = fits && getBaseType(TupleDescAttr(descriptor, COLUMN_X)->atttypid) == FLOAT8ARRAYOID;
	for (int i = COLUMN_Y; i < descriptor->natts && fits; i++)
		fits = find_cast(TupleDescAttr(descriptor, i)->atttypid, &rows->cast[i]);
	if (!fits)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("query has the wrong columns"),
				 errdetail("Its columns are: %s.", describe_columns(descriptor)),
				 errhint("The query must give, in this order, the features as double precision[] (cast them with ::float8[]), the class as a number -1 or 1, and, if rows are weighted, the weight as a number.")));
	rows->columns = descriptor->natts;
}

/* Room for one row more. */
static void
make_room(Rows *rows)
{
	MemoryContext old_context;

	if (rows->count < rows->capacity)
		return;
	old_context = MemoryContextSwitchTo(rows->context);
	if (rows->capacity == 0)
	{
		rows->capacity = FIRST_CAPACITY;
		rows->x = (double *) wml_allocate(rows->capacity * rows->dims, sizeof(double));
		rows->y = (double *) wml_allocate(rows->capacity, sizeof(double));
		rows->cost = (double *) wml_allocate(rows->capacity, sizeof(double));
	}
	else
	{
		rows->capacity *= 2;
		rows->x = (double *) repalloc_huge(rows->x, rows->capacity * rows->dims * sizeof(double));
		rows->y = (double *) repalloc_huge(rows->y, rows->capacity * sizeof(double));
		rows->cost = (double *) repalloc_huge(rows->cost, rows->capacity * sizeof(double));
	}
	MemoryContextSwitchTo(old_context);
}

static double
check_finite(double value, const char *what)
{
	if (!isfinite(value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s must be a finite number: %g", what, value)));
	return value;
}

static void
check_dims(Rows *rows, int dims)
{
	if (rows->dims == 0)
	{
		if (dims > WMLC_MAX_DIMS)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many features: %d", dims),
					 errdetail("There may be at most %d.", WMLC_MAX_DIMS)));
		rows->dims = dims;
	}
	else if (rows->dims != dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows have different numbers of features"),
				 errdetail("One has %d features, another %d.", rows->dims, dims)));
}

/* One row of the query; a NULL in it leaves it out. */
static void
add_row(Rows *rows, HeapTuple tuple, TupleDesc descriptor, double cost)
{
	double		number[3] = {[COLUMN_WEIGHT] = 1.0};
	ArrayType  *array = NULL;
	double	   *x;
	int			dims;

	for (int i = 0; i < rows->columns; i++)
	{
		bool		is_null;
		Datum		datum = SPI_getbinval(tuple, descriptor, i + 1, &is_null);

		if (!is_null && i == COLUMN_X)
			array = DatumGetArrayTypeP(datum);
		if (is_null || (i == COLUMN_X && array_contains_nulls(array)))
		{
			rows->skipped++;
			return;
		}
		if (i != COLUMN_X)
			number[i] = DatumGetFloat8(OidIsValid(rows->cast[i]) ? OidFunctionCall1(rows->cast[i], datum) : datum);
	}
	if (fabs(number[COLUMN_Y]) != 1.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("class must be -1 or 1: %g", number[COLUMN_Y])));
	wml_check_not_negative(number[COLUMN_WEIGHT], "weight");
	x = wml_array_vector(array, "features", &dims);
	check_dims(rows, dims);
	make_room(rows);
	for (int k = 0; k < dims; k++)
		rows->x[rows->count * dims + k] = check_finite(x[k], "feature");
	rows->y[rows->count] = number[COLUMN_Y];
	rows->cost[rows->count] = cost * number[COLUMN_WEIGHT];
	rows->count++;
}

static Portal
open_query(const char *query)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	if (!SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("query must be a single SELECT"),
				 errdetail("It returns no rows, or is more than one command.")));
	return SPI_cursor_open(NULL, plan, NULL, NULL, true);
}

/* Run the query and keep its rows. */
static void
read_rows(Rows *rows, const char *query, double cost)
{
	MemoryContext batch_context;
	WmlProgress progress = {0};
	Portal		portal;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = open_query(query);
	check_columns(rows, portal->tupDesc);
	batch_context = AllocSetContextCreate(CurrentMemoryContext, "wml_svm_train batch",
										  ALLOCSET_DEFAULT_SIZES);
	for (;;)
	{
		MemoryContext old_context;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		old_context = MemoryContextSwitchTo(batch_context);
		for (uint64 i = 0; i < SPI_processed; i++)
			add_row(rows, SPI_tuptable->vals[i], SPI_tuptable->tupdesc, cost);
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(batch_context);
		SPI_freetuptable(SPI_tuptable);
		CHECK_FOR_INTERRUPTS();
		if (wml_progress_due(&progress))
			ereport(NOTICE, (errmsg("read " INT64_FORMAT " rows", rows->count)));
	}
	SPI_cursor_close(portal);
	SPI_finish();
	if (rows->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query gave no rows to learn from"),
				 errdetail("It gave " INT64_FORMAT " rows with NULL.", rows->skipped)));
}

static bool
has_converged(const WmlcSvm *svm, double tolerance)
{
	return svm->gap <= tolerance * svm->objective;
}

/*
 * Pass over the rows until the gap is small; returns the number of passes.
 * Features of unlike size make the passes useless, but not the interior-point
 * method, whose turn comes when they have not led to the end in good time.
 */
static int
train(WmlcSvm *svm, double tolerance, int passes)
{
	WmlProgress progress = {0};
	bool		tried_interior = false;
	int			next = 1;		/* pass after which to look at the gap */

	for (int pass = 1;; pass++)
	{
		wml_check(wmlc_svm_pass(svm, wml_poll));
		if (pass < next && pass < passes)
			continue;

		/* certifying costs as much as a pass, so the more passes, the rarer */
		next = pass + 1 + pass / 8;
		wml_check(wmlc_svm_certify(svm, NULL, wml_poll));
		if (!has_converged(svm, tolerance) && pass >= PATIENCE && !tried_interior)
		{
			void	   *work = wml_allocate(wmlc_svm_interior_workspace(svm->rows, svm->dims), 1);

			wml_check(wmlc_svm_interior(svm, tolerance, work, wml_poll));
			tried_interior = true;
		}
		if (has_converged(svm, tolerance))
			return pass;
		if (pass >= passes)
		{
			ereport(WARNING,
					(errmsg("support vector machine stopped after %d passes", pass),
					 errdetail("Its objective is %g, at most %g above the minimum.", svm->objective, svm->gap),
					 errhint("Allow more passes, standardise the features, or use a smaller cost.")));
			return pass;
		}
		if (wml_progress_due(&progress))
			ereport(NOTICE,
					(errmsg("pass %d: objective %g, at most %g above the minimum", pass, svm->objective, svm->gap)));
	}
}

/* wml_svm_train(query, cost, tolerance, passes, seed) */
Datum
wml_svm_train(PG_FUNCTION_ARGS)
{
	WmlRows		result = wml_rows_begin(fcinfo);
	Rows		rows = {.context = CurrentMemoryContext};
	WmlcSvm		svm;
	ArrayType  *coefficients;
	double	   *w;
	double		cost,
				tolerance;
	int			passes;

	for (int i = ARG_QUERY; i <= ARG_SEED; i++)
		wml_require_arg(fcinfo, i, argument_names[i]);
	cost = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_COST), "cost");
	tolerance = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_TOLERANCE), "tolerance");
	passes = PG_GETARG_INT32(ARG_PASSES);
	if (passes < 1 || passes > WML_MAX_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("passes must be between 1 and %d: %d", WML_MAX_STEPS, passes)));

	read_rows(&rows, text_to_cstring(PG_GETARG_TEXT_PP(ARG_QUERY)), cost);
	wml_check(wmlc_svm_start(&svm, rows.x, rows.y, rows.cost, rows.count, rows.dims,
							 (uint64_t) PG_GETARG_INT64(ARG_SEED),
							 wml_allocate(wmlc_svm_workspace(rows.count, rows.dims), 1)));
	passes = train(&svm, tolerance, passes);
	coefficients = wml_array_new_vector(rows.dims, &w);
	memcpy(w, svm.w, rows.dims * sizeof(double));
	{
		Datum		values[7] = {
			PointerGetDatum(coefficients),
			Float8GetDatum(svm.objective),
			Float8GetDatum(svm.gap),
			Int64GetDatum(rows.count),
			Int64GetDatum(rows.skipped),
			Int64GetDatum((int64) svm.support),
			Int32GetDatum(passes)
		};

		wml_rows_put(&result, values, NULL);
	}
	return (Datum) 0;
}
