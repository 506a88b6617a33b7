/*
 * numbers.h
 *	  Arguments of functions declared with VARIADIC "any" that are numbers of
 *	  whichever type.
 */
#ifndef WML_NUMBERS_H
#define WML_NUMBERS_H

#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

/* How each argument from the first on is read, found out once for a call site. */
typedef struct WmlNumbers
{
	int			count;
	Oid			type[FLEXIBLE_ARRAY_MEMBER];
} WmlNumbers;

/*
 * The types of the arguments from number `first` on, in the memory of the call
 * site.  An error for those that are neither numbers nor booleans nor, where
 * these are allowed, arrays of float8.  `function` names it to the user, who
 * counts the arguments after `hidden` ones.
 */
extern WmlNumbers *wml_numbers(FmgrInfo *flinfo, int first, int count, bool arrays,
							   const char *function, int hidden);

static inline double
wml_number(Datum value, Oid type)
{
	switch (type)
	{
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case BOOLOID:
			return DatumGetBool(value) ? 1.0 : 0.0;
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return (double) DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		default:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8, value));
	}
}

#endif							/* WML_NUMBERS_H */
