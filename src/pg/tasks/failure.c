/*
 * failure.c
 *	  Which of some statements fails on a row, so that a forecast can say so about
 *	  that row instead of giving up on all.
 *
 * There is no other way to learn whether an expression of a user can be
 * computed than to compute it in a subtransaction.  That takes several times as
 * long as the expression itself, so forecasts ask only after they have failed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "pg/base/compat.h"

PG_FUNCTION_INFO_V1(wml_first_failure);

/* The plans of the statements, which are the same for all rows of a query. */
typedef struct Statements
{
	ArrayType  *array;			/* what they were made from */
	int			count;
	SPIPlanPtr *plan;
	MemoryContextCallback at_end;
} Statements;

static void
free_plans(void *argument)
{
	Statements *statements = (Statements *) argument;

	for (int i = 0; i < statements->count; i++)
	{
		if (statements->plan[i] != NULL)
			SPI_freeplan(statements->plan[i]);
		statements->plan[i] = NULL;
	}
}

/* The types of the arguments behind the statements. */
static Oid *
get_types(FunctionCallInfo fcinfo)
{
	Oid		   *types = (Oid *) palloc(PG_NARGS() * sizeof(Oid));

	for (int i = 1; i < PG_NARGS(); i++)
	{
		types[i - 1] = get_fn_expr_argtype(fcinfo->flinfo, i);
		if (!OidIsValid(types[i - 1]) || types[i - 1] == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("could not determine the type of argument %d of wml_first_failure", i + 1)));
	}
	return types;
}

static Statements *
prepare(FunctionCallInfo fcinfo, ArrayType *array)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	Statements *statements = (Statements *) MemoryContextAllocZero(context, sizeof(Statements));
	Oid		   *types = get_types(fcinfo);
	Datum	   *texts;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &count);
	statements->array = (ArrayType *) MemoryContextAlloc(context, VARSIZE(array));
	memcpy(statements->array, array, VARSIZE(array));
	statements->plan = (SPIPlanPtr *) MemoryContextAllocZero(context, Max(count, 1) * sizeof(SPIPlanPtr));
	statements->count = count;
	statements->at_end.func = free_plans;
	statements->at_end.arg = statements;
	MemoryContextRegisterResetCallback(context, &statements->at_end);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("statements must not be NULL")));
		/* generic, or the first rows would be planned one by one */
		statements->plan[i] = SPI_prepare_cursor(TextDatumGetCString(texts[i]), PG_NARGS() - 1, types,
												 CURSOR_OPT_GENERIC_PLAN);
		if (statements->plan[i] == NULL)
			elog(ERROR, "SPI_prepare_cursor failed: %s", SPI_result_code_string(SPI_result));
		SPI_keepplan(statements->plan[i]);
	}
	return statements;
}

static Statements *
get_statements(FunctionCallInfo fcinfo)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Statements *known = (Statements *) fcinfo->flinfo->fn_extra;

	if (known != NULL && VARSIZE(known->array) == VARSIZE(array) &&
		memcmp(known->array, array, VARSIZE(array)) == 0)
		return known;
	if (known != NULL)
		free_plans(known);
	fcinfo->flinfo->fn_extra = NULL;
	known = prepare(fcinfo, array);
	fcinfo->flinfo->fn_extra = known;
	return known;
}

static void
run(SPIPlanPtr plan, Datum *values, const char *nulls)
{
	int			result = SPI_execute_plan(plan, values, nulls, true, 1);

	if (result < 0)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(result));
	SPI_freetuptable(SPI_tuptable);
}

/* A value that an expression or a type does not allow, and not that the server is shut down. */
static bool
is_about_values(const ErrorData *error)
{
	int			category = ERRCODE_TO_CATEGORY(error->sqlerrcode);

	return category == ERRCODE_DATA_EXCEPTION || category == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION;
}

/* Runs the statements; the number of the first that fails, or 0. */
static int
find_failure(const Statements *statements, Datum *values, const char *nulls)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile int place = 0;
	volatile int failed = 0;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		for (; place < statements->count; place++)
			run(statements->plan[place], values, nulls);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!is_about_values(error))
			ReThrowError(error);
		FreeErrorData(error);
		failed = place + 1;
	}
	PG_END_TRY();
	return failed;
}

/*
 * wml_first_failure(statements text[], VARIADIC "any"): the number of the
 * first statement that fails because of the values, which are $1, $2, ... there.
 * NULL if none does.
 */
Datum
wml_first_failure(PG_FUNCTION_ARGS)
{
	int			count = PG_NARGS() - 1;
	Datum	   *values = (Datum *) palloc(Max(count, 1) * sizeof(Datum));
	char	   *nulls = (char *) palloc(count + 1);
	int			failed;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	for (int i = 0; i < count; i++)
	{
		values[i] = PG_GETARG_DATUM(i + 1);
		nulls[i] = PG_ARGISNULL(i + 1) ? 'n' : ' ';
	}
	nulls[count] = '\0';
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	failed = find_failure(get_statements(fcinfo), values, nulls);
	SPI_finish();
	if (failed == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32(failed);
}
