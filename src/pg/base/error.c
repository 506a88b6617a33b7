/*
 * error.c
 *	  The one place that maps the core's status to an SQLSTATE.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg/base/error.h"

/*
 * The core holds no resources, so it is safe to leave it by longjmp from here.
 * Returning true instead would throw away the work for interrupts that are
 * handled and forgotten, such as a configuration reload.
 */
bool
wml_poll(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

void
wml_check(WmlcStatus status)
{
	switch (status)
	{
		case WMLC_OK:
			return;
		case WMLC_INTERRUPTED:
			elog(ERROR, "computation stopped without an interrupt");
			break;
		case WMLC_NOT_FINITE:
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("computation met NaN, infinity or an overflow"),
					 errdetail("A value is not finite, or an intermediate result overflowed."),
					 errhint("Rescale the features, or use smaller weights, steps and other options.")));
			break;
		case WMLC_NOT_POSITIVE:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("matrix is not positive semidefinite"),
					 errdetail("No set of rows has these second moments.")));
			break;
		case WMLC_NO_CONVERGENCE:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("iteration did not converge"),
					 errdetail("The iteration limit was reached before the result was certain."),
					 errhint("Rescale the features, or exclude tasks that are many orders of magnitude larger than the others.")));
			break;
		case WMLC_DIMENSION_MISMATCH:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("operands have different numbers of features"),
					 errhint("Collect all grams from the same list of features.")));
			break;
		case WMLC_NOT_CONTAINED:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("cannot subtract rows that were never added"),
					 errdetail("The gram to subtract is not part of the other one.")));
			break;
		case WMLC_COUNT_OVERFLOW:
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("too many rows to count"),
					 errdetail("A gram counts up to 2^63 - 1 rows.")));
			break;
		case WMLC_OUT_OF_RANGE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option is out of range"),
					 errdetail("A weight, a penalty or a number of steps is negative.")));
			break;
		case WMLC_EMPTY:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("there are no tasks to learn from"),
					 errdetail("No task has rows and a positive weight.")));
			break;
	}
	elog(ERROR, "unrecognized status: %d", (int) status);
}
