/*
 * srf.h
 *	  Set-returning functions that put all their rows into a tuplestore.
 */
#ifndef WML_SRF_H
#define WML_SRF_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"
#include "utils/tuplestore.h"

typedef struct WmlRows
{
	TupleDesc	descriptor;
	Tuplestorestate *store;
} WmlRows;

/* The one row of a function with OUT parameters; NULL for `nulls` means none is. */
extern Datum wml_composite(FunctionCallInfo fcinfo, Datum *values, bool *nulls);

/* Start the result of a set-returning function; it then returns (Datum) 0. */
extern WmlRows wml_rows_begin(FunctionCallInfo fcinfo);

/* Add a row.  NULL for `nulls` means that nothing is NULL. */
extern void wml_rows_put(WmlRows *rows, Datum *values, bool *nulls);

/*
 * Names for `count` features from a text[] argument that may be NULL; NULL
 * then.  A wrong number of names is an error.
 */
extern Datum *wml_feature_names(FunctionCallInfo fcinfo, int argument, int count);

#endif							/* WML_SRF_H */
