/*
 * srf.c
 *	  Set-returning functions that put all their rows into a tuplestore.
 *
 * The server has a helper for this since version 15, under two names; this one
 * serves all versions.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "pg/base/srf.h"

Datum
wml_composite(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	bool		none[MaxTupleAttributeNumber] = {false};
	TupleDesc	descriptor;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values,
											 nulls == NULL ? none : nulls));
}

WmlRows
wml_rows_begin(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old_context;
	WmlRows		rows;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		(result->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	old_context = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	if (get_call_result_type(fcinfo, NULL, &rows.descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	rows.descriptor = BlessTupleDesc(rows.descriptor);
	rows.store = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0,
									   false, work_mem);
	result->returnMode = SFRM_Materialize;
	result->setResult = rows.store;
	result->setDesc = rows.descriptor;
	MemoryContextSwitchTo(old_context);
	return rows;
}

void
wml_rows_put(WmlRows *rows, Datum *values, bool *nulls)
{
	bool		none[MaxTupleAttributeNumber] = {false};

	tuplestore_putvalues(rows->store, rows->descriptor, values, nulls == NULL ? none : nulls);
}

Datum *
wml_feature_names(FunctionCallInfo fcinfo, int argument, int count)
{
	ArrayType  *array;
	Datum	   *names;
	bool	   *nulls;
	int			length;

	if (PG_ARGISNULL(argument))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(argument);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &length);
	if (length != count)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one name for each feature"),
				 errdetail("There are %d names for %d features.", length, count)));
	for (int i = 0; i < length; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("names of features must not be NULL")));
	}
	return names;
}
