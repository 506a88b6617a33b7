/*
 * numbers.c
 *	  Arguments that are numbers of whichever type: see numbers.h.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "pg/base/numbers.h"

static bool
is_number(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return true;
		default:
			return false;
	}
}

WmlNumbers *
wml_numbers(FmgrInfo *flinfo, int first, int count, bool arrays, const char *function, int hidden)
{
	WmlNumbers *numbers;

	if (get_fn_expr_variadic(flinfo))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s does not take VARIADIC arrays", function),
				 arrays ? errhint("An array may be one of the arguments: its elements become features.")
				 : errhint("Collect arrays with wml_gram.")));
	numbers = (WmlNumbers *) MemoryContextAlloc(flinfo->fn_mcxt,
												offsetof(WmlNumbers, type) + count * sizeof(Oid));
	numbers->count = count;
	for (int i = 0; i < count; i++)
	{
		Oid			type = get_fn_expr_argtype(flinfo, first + i);

		if (OidIsValid(type))
			type = getBaseType(type);
		if (!is_number(type) && !(arrays && type == FLOAT8ARRAYOID))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("argument %d of %s is of type %s", first + i + 1 - hidden, function,
							OidIsValid(type) ? format_type_be(type) : "unknown"),
					 arrays ? errdetail("Features are numbers, booleans or arrays of double precision.")
					 : errdetail("Features are numbers or booleans."),
					 errhint("Cast it, or use wml_category for a category and extract or wml_fourier for a time.")));
		numbers->type[i] = type;
	}
	return numbers;
}
