/*
 * query.c
 *	  Rows of tasks from a query that the user gives as text.
 *
 * The query runs through SPI in the caller's snapshot and with the caller's
 * rights.  Tasks are told apart by the default equality of their type.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/query.h"

#define FETCH_ROWS 10000

/* One task met so far, in an open hash table. */
typedef struct KnownTask
{
	int64		id;				/* -1: the slot is free */
	uint32		hash;
	Datum		key;
} KnownTask;

typedef struct Reader
{
	const char *role;
	MemoryContext context;		/* of the result */
	int			x_column;
	int			y_column;

	TypeCacheEntry *task_type;	/* NULL without tasks */
	Oid			task_collation;
	KnownTask  *known;
	int64		slots;			/* a power of two */

	WmlQueryRows rows;
	int64		capacity;
	int64	   *task;			/* of each row */
} Reader;

static void
report_columns(TupleDesc descriptor, const char *role, bool has_task)
{
	StringInfoData found;

	initStringInfo(&found);
	for (int i = 0; i < descriptor->natts; i++)
		appendStringInfo(&found, "%s%s %s", i == 0 ? "" : ", ",
						 NameStr(TupleDescAttr(descriptor, i)->attname),
						 format_type_be(TupleDescAttr(descriptor, i)->atttypid));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("query of the %s returns the wrong columns", role),
			 errdetail("It returns (%s).", found.data),
			 errhint(has_task ? "It must return (task, x double precision[], y double precision)."
					 : "It must return (x double precision[], y double precision).")));
}

static bool
is_numeric(Oid type)
{
	return OidIsValid(type) && TypeCategory(getBaseType(type)) == TYPCATEGORY_NUMERIC;
}

static void
check_columns(Reader *reader, TupleDesc descriptor, bool has_task)
{
	reader->x_column = has_task ? 2 : 1;
	reader->y_column = has_task ? 3 : 2;
	if (descriptor->natts != reader->y_column)
		report_columns(descriptor, reader->role, has_task);
	if (!is_numeric(get_element_type(getBaseType(SPI_gettypeid(descriptor, reader->x_column)))) ||
		!is_numeric(SPI_gettypeid(descriptor, reader->y_column)))
		report_columns(descriptor, reader->role, has_task);
	if (has_task)
	{
		Oid			type = SPI_gettypeid(descriptor, 1);

		reader->task_type = lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_PROC_FINFO);
		reader->task_collation = TupleDescAttr(descriptor, 0)->attcollation;
		if (!OidIsValid(reader->task_type->hash_proc_finfo.fn_oid) ||
			!OidIsValid(reader->task_type->eq_opr_finfo.fn_oid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify a hash function for type %s", format_type_be(type))));
	}
}

/*
 * The query, with its columns cast to what we read.  A first look at its plan
 * has told that the columns are there and can be cast.
 */
static char *
cast_query(const char *query, bool has_task)
{
	return psprintf("SELECT %sx::pg_catalog.float8[], y::pg_catalog.float8 FROM (%s\n) AS query (%sx, y)",
					has_task ? "task, " : "", query, has_task ? "task, " : "");
}

static void
grow_known(Reader *reader)
{
	int64		old_slots = reader->slots;
	KnownTask  *old = reader->known;

	reader->slots = Max(old_slots * 2, 1024);
	reader->known = (KnownTask *) MemoryContextAllocHuge(CurrentMemoryContext,
														 reader->slots * sizeof(KnownTask));
	for (int64 i = 0; i < reader->slots; i++)
		reader->known[i].id = -1;
	for (int64 i = 0; i < old_slots; i++)
	{
		int64		slot = old[i].hash & (reader->slots - 1);

		if (old[i].id < 0)
			continue;
		while (reader->known[slot].id >= 0)
			slot = (slot + 1) & (reader->slots - 1);
		reader->known[slot] = old[i];
	}
	if (old != NULL)
		pfree(old);
}

/* The number of the task with this key, new or known. */
static int64
task_number(Reader *reader, Datum key)
{
	TypeCacheEntry *type = reader->task_type;
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(&type->hash_proc_finfo,
														reader->task_collation, key));
	int64		slot;

	if (reader->rows.tasks * 2 >= reader->slots)
		grow_known(reader);
	slot = hash & (reader->slots - 1);
	for (; reader->known[slot].id >= 0; slot = (slot + 1) & (reader->slots - 1))
	{
		if (reader->known[slot].hash == hash &&
			DatumGetBool(FunctionCall2Coll(&type->eq_opr_finfo, reader->task_collation,
										   reader->known[slot].key, key)))
			return reader->known[slot].id;
	}
	reader->known[slot].id = reader->rows.tasks++;
	reader->known[slot].hash = hash;
	reader->known[slot].key = datumCopy(key, type->typbyval, type->typlen);
	return reader->known[slot].id;
}

/* Room for one more row. */
static void
reserve_row(Reader *reader)
{
	WmlQueryRows *rows = &reader->rows;
	Size		inputs = rows->inputs;

	if (rows->count < reader->capacity)
		return;
	if (reader->capacity == 0)
	{
		reader->capacity = 1024;
		rows->x = (double *) MemoryContextAllocHuge(reader->context, reader->capacity * inputs * sizeof(double));
		rows->y = (double *) MemoryContextAllocHuge(reader->context, reader->capacity * sizeof(double));
		reader->task = (int64 *) MemoryContextAllocHuge(reader->context, reader->capacity * sizeof(int64));
		return;
	}
	reader->capacity *= 2;
	rows->x = (double *) repalloc_huge(rows->x, reader->capacity * inputs * sizeof(double));
	rows->y = (double *) repalloc_huge(rows->y, reader->capacity * sizeof(double));
	reader->task = (int64 *) repalloc_huge(reader->task, reader->capacity * sizeof(int64));
}

static void
check_inputs(Reader *reader, ArrayType *x)
{
	if (ARR_NDIM(x) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("x of the %s must be a one-dimensional array", reader->role)));
	if (reader->rows.inputs == 0)
		reader->rows.inputs = ARR_DIMS(x)[0];
	if (ARR_DIMS(x)[0] != reader->rows.inputs)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of the %s must have equally many inputs", reader->role),
				 errdetail("One row has %d inputs, an earlier one %d.",
						   ARR_DIMS(x)[0], reader->rows.inputs)));
}

static void
read_row(Reader *reader, HeapTuple tuple, TupleDesc descriptor)
{
	WmlQueryRows *rows = &reader->rows;
	bool		task_null = false,
				x_null,
				y_null;
	Datum		task = reader->task_type ? SPI_getbinval(tuple, descriptor, 1, &task_null) : (Datum) 0;
	Datum		x_datum = SPI_getbinval(tuple, descriptor, reader->x_column, &x_null);
	Datum		y_datum = SPI_getbinval(tuple, descriptor, reader->y_column, &y_null);
	ArrayType  *x;
	double		y;

	if (task_null || x_null || y_null)
	{
		rows->skipped++;
		return;
	}
	x = DatumGetArrayTypeP(x_datum);
	if (array_contains_nulls(x))
	{
		rows->skipped++;
		return;
	}
	y = DatumGetFloat8(y_datum);
	check_inputs(reader, x);
	reserve_row(reader);
	memcpy(rows->x + rows->count * rows->inputs, ARR_DATA_PTR(x), rows->inputs * sizeof(double));
	for (int i = 0; i < rows->inputs; i++)
	{
		if (!isfinite(rows->x[rows->count * rows->inputs + i]))
			y = NAN;
	}
	if (!isfinite(y))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("rows of the %s contain NaN or infinity", reader->role),
				 errhint("Filter such rows out in the query.")));
	rows->y[rows->count] = y;
	reader->task[rows->count] = reader->task_type ? task_number(reader, task) : 0;
	rows->count++;
	if (x != (ArrayType *) DatumGetPointer(x_datum))
		pfree(x);
}

/* Put the rows of each task side by side, in the order in which they came. */
static void
arrange(Reader *reader)
{
	WmlQueryRows *rows = &reader->rows;
	Size		inputs = rows->inputs;
	double	   *x = (double *) MemoryContextAllocHuge(reader->context, Max(rows->count * inputs, 1) * sizeof(double));
	double	   *y = (double *) MemoryContextAllocHuge(reader->context, Max(rows->count, 1) * sizeof(double));
	int64	   *next;

	if (reader->task_type == NULL)
		rows->tasks = rows->count > 0 ? 1 : 0;
	rows->start = (int64 *) MemoryContextAllocHuge(reader->context, (rows->tasks + 1) * sizeof(int64));
	next = (int64 *) MemoryContextAllocHuge(reader->context, (rows->tasks + 1) * sizeof(int64));
	memset(rows->start, 0, (rows->tasks + 1) * sizeof(int64));
	for (int64 i = 0; i < rows->count; i++)
		rows->start[reader->task[i] + 1]++;
	for (int64 j = 0; j < rows->tasks; j++)
		rows->start[j + 1] += rows->start[j];
	memcpy(next, rows->start, (rows->tasks + 1) * sizeof(int64));
	for (int64 i = 0; i < rows->count; i++)
	{
		int64		place = next[reader->task[i]]++;

		memcpy(x + place * inputs, rows->x + i * inputs, inputs * sizeof(double));
		y[place] = rows->y[i];
	}
	pfree(next);
	if (rows->count > 0)
	{
		pfree(rows->x);
		pfree(rows->y);
		pfree(reader->task);
	}
	rows->x = x;
	rows->y = y;
}

/* Open a cursor that only reads. */
static Portal
open_cursor(const char *query, const char *role)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	Portal		portal;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	if (!SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("query of the %s must be a SELECT", role)));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	if (portal == NULL)
		elog(ERROR, "SPI_cursor_open failed: %s", SPI_result_code_string(SPI_result));
	return portal;
}

WmlQueryRows
wml_query_rows(const char *query, bool has_task, const char *role)
{
	Reader		reader = {.role = role, .context = CurrentMemoryContext};
	Portal		portal;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = open_cursor(query, role);
	check_columns(&reader, portal->tupDesc, has_task);
	SPI_cursor_close(portal);

	portal = open_cursor(cast_query(query, has_task), role);
	for (;;)
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < SPI_processed; i++)
			read_row(&reader, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	arrange(&reader);
	SPI_finish();
	return reader.rows;
}
