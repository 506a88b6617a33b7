/*
 * query.c
 *	  Rows of tasks from a query that the user gives as text.
 *
 * The query runs through SPI in the caller's snapshot and with the caller's
 * rights, while the transaction is set to read only.  Tasks are told apart by the default equality of their type.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "pg/base/progress.h"
#include "pg/base/query.h"

/* So few that the memory of a batch is taken once and used by all of them. */
#define FETCH_ROWS 250
#define FIRST_CAPACITY 1024
#define MAX_COLUMNS 6

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
	WmlQueryColumns columns;
	MemoryContext context;		/* of the result */
	int			x_column;
	int			y_column;
	int			exposure_column;	/* 0 without exposures */
	int			weight_column;	/* 0 without weights */
	int			alpha_column;	/* 0 without weights of tasks */

	TypeCacheEntry *task_type;	/* NULL without tasks */
	Oid			task_collation;
	MemoryContext known_context;
	KnownTask  *known;
	int64		slots;			/* a power of two */

	WmlQueryRows rows;
	int64		capacity;
	int64	   *task;			/* of each row */
	Datum		last_task;		/* the key of the last one, where it is by value */
	bool		mixed;			/* rows of some task came apart from each other */
} Reader;

static void
report_columns(const Reader *reader, TupleDesc descriptor)
{
	static const char *const wanted[] = {
		[WML_QUERY_PLAIN] = "It must return (x double precision[], y double precision).",
		[WML_QUERY_TASKS] = "It must return (task, x double precision[], y double precision).",
		[WML_QUERY_WEIGHTS] = "It must return (x double precision[], y double precision) or (x double precision[], y double precision, weight double precision).",
		[WML_QUERY_EXPOSURES] = "It must return (x double precision[], y double precision), and may go on with an exposure and a weight, both double precision.",
		[WML_QUERY_TASK_EXPOSURES] = "It must return (task, x double precision[], y double precision), and may go on with an exposure, a weight, and the task's alpha, all double precision."
	};
	StringInfoData found;

	initStringInfo(&found);
	for (int i = 0; i < descriptor->natts; i++)
		appendStringInfo(&found, "%s%s %s", i == 0 ? "" : ", ",
						 NameStr(TupleDescAttr(descriptor, i)->attname),
						 format_type_be(TupleDescAttr(descriptor, i)->atttypid));
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("query of the %s returns the wrong columns", reader->role),
			 errdetail("It returns (%s).", found.data),
			 errhint("%s", wanted[reader->columns])));
}

static bool
is_numeric(Oid type)
{
	return OidIsValid(type) && TypeCategory(getBaseType(type)) == TYPCATEGORY_NUMERIC;
}

static void
set_task_type(Reader *reader, TupleDesc descriptor)
{
	Oid			type = SPI_gettypeid(descriptor, 1);

	reader->task_type = lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_PROC_FINFO);
	reader->task_collation = TupleDescAttr(descriptor, 0)->attcollation;
	if (!OidIsValid(reader->task_type->hash_proc_finfo.fn_oid) ||
		!OidIsValid(reader->task_type->eq_opr_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a hash function for type %s", format_type_be(type)),
				 errhint("Cast the tasks to text.")));
}

static bool
has_tasks(const Reader *reader)
{
	return reader->columns == WML_QUERY_TASKS || reader->columns == WML_QUERY_TASK_EXPOSURES;
}

/* Columns behind y are optional, but come in order; returns the last column. */
static int
find_optional_columns(Reader *reader, int columns)
{
	int			last = reader->y_column;

	if (columns > last && (reader->columns == WML_QUERY_EXPOSURES ||
						   reader->columns == WML_QUERY_TASK_EXPOSURES))
		reader->exposure_column = ++last;
	if (columns > last && (reader->columns == WML_QUERY_WEIGHTS || reader->exposure_column > 0))
		reader->weight_column = ++last;
	if (columns > last && reader->weight_column > 0 && reader->columns == WML_QUERY_TASK_EXPOSURES)
		reader->alpha_column = ++last;
	return last;
}

static void
check_columns(Reader *reader, TupleDesc descriptor)
{
	bool		fits;
	int			last;

	reader->x_column = has_tasks(reader) ? 2 : 1;
	reader->y_column = reader->x_column + 1;
	last = find_optional_columns(reader, descriptor->natts);

	fits = descriptor->natts == last &&
		is_numeric(get_element_type(getBaseType(SPI_gettypeid(descriptor, reader->x_column))));
	for (int i = reader->y_column; i <= last && fits; i++)
		fits = is_numeric(SPI_gettypeid(descriptor, i));
	if (!fits)
		report_columns(reader, descriptor);
	if (has_tasks(reader))
		set_task_type(reader, descriptor);
}

/*
 * The query, with its columns cast to what we read.  A first look at its plan
 * has told that the columns are there and can be cast, and where the statement
 * ends: a semicolon and what follows it stay out.  It may end in a comment, so
 * the line does, too.
 */
static char *
cast_query(const Reader *reader, const char *query, const RawStmt *statement)
{
	const char *task = reader->task_type != NULL ? "task, " : "";
	const char *start = query + Max(statement->stmt_location, 0);
	int			length = statement->stmt_len > 0 ? statement->stmt_len : (int) strlen(start);

	return psprintf("SELECT %sx::pg_catalog.float8[], y::pg_catalog.float8%s%s%s FROM (%.*s\n) AS query (%sx, y%s%s%s)",
					task, reader->exposure_column > 0 ? ", exposure::pg_catalog.float8" : "",
					reader->weight_column > 0 ? ", weight::pg_catalog.float8" : "",
					reader->alpha_column > 0 ? ", alpha::pg_catalog.float8" : "",
					length, start, task, reader->exposure_column > 0 ? ", exposure" : "",
					reader->weight_column > 0 ? ", weight" : "",
					reader->alpha_column > 0 ? ", alpha" : "");
}

static void
grow_known(Reader *reader)
{
	int64		old_slots = reader->slots;
	KnownTask  *old = reader->known;

	reader->slots = Max(old_slots * 2, 1024);
	reader->known = (KnownTask *) MemoryContextAllocHuge(reader->known_context,
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
	MemoryContext old_context;
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
	old_context = MemoryContextSwitchTo(reader->known_context);
	reader->known[slot].id = reader->rows.tasks++;
	reader->known[slot].hash = hash;
	reader->known[slot].key = datumCopy(key, type->typbyval, type->typlen);
	MemoryContextSwitchTo(old_context);
	return reader->known[slot].id;
}

/* Room at `values` for as many rows as the capacity says, so many bytes each. */
static void *
resize(const Reader *reader, void *values, Size row_size)
{
	Size		size = reader->capacity * row_size;

	return values == NULL ? MemoryContextAllocHuge(reader->context, size)
		: repalloc_huge(values, size);
}

/* Room for one more row. */
static void
reserve_row(Reader *reader)
{
	WmlQueryRows *rows = &reader->rows;

	if (rows->count < reader->capacity)
		return;
	reader->capacity = Max(2 * reader->capacity, FIRST_CAPACITY);
	rows->x = (double *) resize(reader, rows->x, rows->inputs * sizeof(double));
	rows->y = (double *) resize(reader, rows->y, sizeof(double));
	if (reader->exposure_column > 0)
		rows->exposure = (double *) resize(reader, rows->exposure, sizeof(double));
	if (reader->weight_column > 0)
		rows->weight = (double *) resize(reader, rows->weight, sizeof(double));
	if (reader->alpha_column > 0)
		rows->alpha = (double *) resize(reader, rows->alpha, sizeof(double));
	if (reader->task_type != NULL)
		reader->task = (int64 *) resize(reader, reader->task, sizeof(int64));
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
				 errmsg("rows of the %s must have the same number of inputs", reader->role),
				 errdetail("One row has %d inputs, an earlier one %d.",
						   ARR_DIMS(x)[0], reader->rows.inputs)));
}

/* Small arrays come with a short header and must be copied to be read; not to the heap. */
typedef union ShortArray
{
	ArrayType	array;
	double		aligned;
	char		bytes[VARATT_SHORT_MAX + VARHDRSZ];
} ShortArray;

static ArrayType *
get_array(Datum value, ShortArray *space)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	Size		size = VARSIZE_ANY_EXHDR(packed);

	if (!VARATT_IS_SHORT(packed))
		return (ArrayType *) packed;
	SET_VARSIZE(space->bytes, size + VARHDRSZ);
	memcpy(VARDATA(space->bytes), VARDATA_ANY(packed), size);
	return &space->array;
}

/* The values that a row needs; false when one of them is NULL. */
static bool
get_values(const Reader *reader, HeapTuple tuple, TupleDesc descriptor, Datum *values,
		   ShortArray *space)
{
	ArrayType  *x;
	bool		nulls[MAX_COLUMNS];

	heap_deform_tuple(tuple, descriptor, values, nulls);
	for (int i = 0; i < descriptor->natts; i++)
		if (nulls[i])
			return false;
	x = get_array(values[reader->x_column - 1], space);
	values[reader->x_column - 1] = PointerGetDatum(x);
	return !array_contains_nulls(x);
}

static double
check_finite(const Reader *reader, double number)
{
	if (!isfinite(number))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("rows of the %s contain NaN or infinity", reader->role),
				 errhint("Filter such rows out in the query.")));
	return number;
}

/* The task of the row that is being read; tasks are numbered as they come. */
static void
enter_task(Reader *reader, Datum key)
{
	int64		row = reader->rows.count;
	int64		known = reader->rows.tasks;
	int64		task;

	if (row > 0 && reader->task_type->typbyval && key == reader->last_task)
		task = reader->task[row - 1];
	else
		task = task_number(reader, key);
	reader->task[row] = task;
	reader->last_task = key;
	reader->mixed |= row > 0 && task < known && task != reader->task[row - 1];
}

static void
read_row(Reader *reader, HeapTuple tuple, TupleDesc descriptor)
{
	WmlQueryRows *rows = &reader->rows;
	Datum		values[MAX_COLUMNS];
	ShortArray	space;
	ArrayType  *array;
	const double *x;

	if (!get_values(reader, tuple, descriptor, values, &space))
	{
		rows->skipped++;
		return;
	}
	array = (ArrayType *) DatumGetPointer(values[reader->x_column - 1]);
	check_inputs(reader, array);
	reserve_row(reader);
	x = (const double *) ARR_DATA_PTR(array);
	for (int i = 0; i < rows->inputs; i++)
		rows->x[rows->count * rows->inputs + i] = check_finite(reader, x[i]);
	rows->y[rows->count] = check_finite(reader, DatumGetFloat8(values[reader->y_column - 1]));
	if (reader->exposure_column > 0)
		rows->exposure[rows->count] =
			check_finite(reader, DatumGetFloat8(values[reader->exposure_column - 1]));
	if (reader->weight_column > 0)
		rows->weight[rows->count] =
			check_finite(reader, DatumGetFloat8(values[reader->weight_column - 1]));
	if (reader->alpha_column > 0)
		rows->alpha[rows->count] =
			check_finite(reader, DatumGetFloat8(values[reader->alpha_column - 1]));
	if (reader->task_type != NULL)
		enter_task(reader, values[0]);
	rows->count++;
}

/*
 * The values of each row, `width` of them, in the order of tasks and as they came
 * within a task; `next` says where the next row of each task goes and moves on.
 */
static double *
arrange_values(Reader *reader, double *values, int width, int64 *next)
{
	WmlQueryRows *rows = &reader->rows;
	double	   *arranged;

	if (values == NULL)
		return NULL;
	arranged = (double *) resize(reader, NULL, width * sizeof(double));
	memcpy(next, rows->start, (rows->tasks + 1) * sizeof(int64));
	for (int64 i = 0; i < rows->count; i++)
	{
		int64		place = next[reader->task[i]]++;

		CHECK_FOR_INTERRUPTS();
		memcpy(arranged + place * width, values + i * width, width * sizeof(double));
	}
	pfree(values);
	return arranged;
}

/* Put the rows of each task side by side. */
static void
arrange(Reader *reader)
{
	WmlQueryRows *rows = &reader->rows;
	int64	   *next = (int64 *) MemoryContextAllocHuge(reader->context, (rows->tasks + 1) * sizeof(int64));

	rows->x = arrange_values(reader, rows->x, rows->inputs, next);
	rows->y = arrange_values(reader, rows->y, 1, next);
	rows->exposure = arrange_values(reader, rows->exposure, 1, next);
	rows->weight = arrange_values(reader, rows->weight, 1, next);
	rows->alpha = arrange_values(reader, rows->alpha, 1, next);
	pfree(next);
}

/* Say where tasks begin and end. */
static void
delimit_tasks(Reader *reader)
{
	WmlQueryRows *rows = &reader->rows;

	if (reader->task_type == NULL)
		rows->tasks = rows->count > 0 ? 1 : 0;
	rows->start = (int64 *) MemoryContextAllocHuge(reader->context, (rows->tasks + 1) * sizeof(int64));
	memset(rows->start, 0, (rows->tasks + 1) * sizeof(int64));
	if (rows->count == 0 || reader->task_type == NULL)
	{
		rows->start[rows->tasks] = rows->count;
		return;
	}
	for (int64 i = 0; i < rows->count; i++)
		rows->start[reader->task[i] + 1]++;
	for (int64 j = 0; j < rows->tasks; j++)
		rows->start[j + 1] += rows->start[j];
	if (reader->mixed)
		arrange(reader);
	pfree(reader->task);
}

static CachedPlanSource *
plan_source(SPIPlanPtr plan)
{
	return (CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan));
}

/* A cursor may also run INSERT, UPDATE or DELETE with RETURNING. */
static bool
only_reads(SPIPlanPtr plan)
{
	Query	   *query = linitial_node(Query, plan_source(plan)->query_list);

	return query->commandType == CMD_SELECT && !query->hasModifyingCTE && query->rowMarks == NIL;
}

static SPIPlanPtr
prepare_select(const char *query, const char *role)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	if (!SPI_is_cursor_plan(plan) || !only_reads(plan))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("query of the %s must be a single SELECT", role),
				 errdetail("It changes data, locks rows, returns no rows, or is more than one command.")));
	return plan;
}

/* Open a cursor that only reads. */
static Portal
open_cursor(SPIPlanPtr plan)
{
	Portal		portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);

	if (portal == NULL)
		elog(ERROR, "SPI_cursor_open failed: %s", SPI_result_code_string(SPI_result));
	return portal;
}

/* Read all rows; what their values take besides is freed now and then. */
static void
read_rows(Reader *reader, Portal portal)
{
	WmlProgress progress = {0};
	MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "wml query rows",
												ALLOCSET_DEFAULT_SIZES);

	for (;;)
	{
		MemoryContext old_context;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		CHECK_FOR_INTERRUPTS();
		old_context = MemoryContextSwitchTo(batch);
		for (uint64 i = 0; i < SPI_processed; i++)
			read_row(reader, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
		MemoryContextSwitchTo(old_context);
		MemoryContextReset(batch);
		SPI_freetuptable(SPI_tuptable);
		if (wml_progress_due(&progress))
			ereport(NOTICE,
					(errmsg("read " INT64_FORMAT " rows of the %s", reader->rows.count, reader->role)));
	}
}

/*
 * The server's own variable, because functions may not set the parameter
 * transaction_read_only from PostgreSQL 18 on.  After an error, the end of the
 * (sub)transaction sets it back.
 */
bool
wml_begin_read_only(void)
{
	bool		before = XactReadOnly;

	XactReadOnly = true;
	return before;
}

void
wml_end_read_only(bool before)
{
	XactReadOnly = before;
}

/* The query with its columns checked and cast, in SPI's memory. */
static char *
check_query(Reader *reader, const char *query, int *columns)
{
	SPIPlanPtr	plan = prepare_select(query, reader->role);
	Portal		portal = open_cursor(plan);

	check_columns(reader, portal->tupDesc);
	*columns = portal->tupDesc->natts;
	SPI_cursor_close(portal);
	return cast_query(reader, query, plan_source(plan)->raw_parse_tree);
}

WmlQueryRows
wml_query_rows(const char *query, WmlQueryColumns columns, const char *role)
{
	Reader		reader = {.role = role, .columns = columns, .context = CurrentMemoryContext};
	Portal		portal;
	bool		was_read_only = wml_begin_read_only();
	int			count;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	reader.known_context = CurrentMemoryContext;
	portal = open_cursor(prepare_select(check_query(&reader, query, &count), role));
	read_rows(&reader, portal);
	SPI_cursor_close(portal);
	delimit_tasks(&reader);
	SPI_finish();
	wml_end_read_only(was_read_only);
	return reader.rows;
}

char *
wml_query_check(const char *query, WmlQueryColumns columns, const char *role, int *count)
{
	Reader		reader = {.role = role, .columns = columns};
	MemoryContext context = CurrentMemoryContext;
	char	   *checked;
	bool		was_read_only = wml_begin_read_only();

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	checked = MemoryContextStrdup(context, check_query(&reader, query, count));
	SPI_finish();
	wml_end_read_only(was_read_only);
	return checked;
}

char *
wml_query_operator(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = psprintf("OPERATOR(%s.%s)", quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
}
