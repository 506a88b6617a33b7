/*
 * status.h
 *	  What every function of the core answers, and how it asks whether to stop.
 *
 * The core never allocates, prints or exits.  A function that can fail returns
 * a WmlcStatus; src/pg/base/error.c is the one place that turns it into an SQLSTATE.
 */
#ifndef WMLC_STATUS_H
#define WMLC_STATUS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum WmlcStatus
{
	WMLC_OK = 0,
	WMLC_INTERRUPTED,			/* the poll callback asked to stop */
	WMLC_NOT_FINITE,			/* NaN or infinity in the input, or overflow */
	WMLC_NOT_POSITIVE,			/* a matrix is indefinite beyond rounding */
	WMLC_NO_CONVERGENCE,		/* an iteration ran out of steps */
	WMLC_DIMENSION_MISMATCH,	/* two operands have different dimensions */
	WMLC_NOT_CONTAINED,			/* subtracting what was never added */
	WMLC_COUNT_OVERFLOW,		/* more rows than a count can hold */
	WMLC_OUT_OF_RANGE,			/* an option has a value it cannot have */
	WMLC_EMPTY					/* no rows, no tasks, or none of positive weight */
} WmlcStatus;

/*
 * Long loops call this every few milliseconds; true means "return
 * WMLC_INTERRUPTED now".  NULL is a poll that never stops.
 */
typedef bool (*WmlcPoll) (void);

static inline bool
wmlc_interrupted(WmlcPoll poll)
{
	return poll != NULL && poll();
}

#endif							/* WMLC_STATUS_H */
