/*
 * gram_state.h
 *	  A gram that is being built: the expanded form of wml_gram.
 *
 * The transition type of the aggregates is wml_gram itself, so that partial
 * aggregates travel between processes (and to shards) like any other value.
 * In memory the state is an expanded object: it is changed in place, it can
 * keep rows waiting for the next pass over the sums, and the server flattens
 * it wherever it leaves the aggregate.
 */
#ifndef WML_GRAM_STATE_H
#define WML_GRAM_STATE_H

#include "postgres.h"

#include "utils/expandeddatum.h"

#include "pg/gram.h"

/* Rows that wait, and what a moving window must remember. */
typedef struct WmlGramExtra
{
	int			pending;		/* rows counted but not yet in the sums */
	double		weights[WMLC_KERNEL_ROWS];
	double	   *rows;			/* of the pending ones; NULL for few features */
	WmlcGramWatch *watch;		/* NULL outside moving windows */
} WmlGramExtra;

typedef struct WmlGramState
{
	ExpandedObjectHeader header;
	uint32		magic;
	WmlGramExtra *extra;		/* NULL unless needed */
	WmlcGram	gram;
} WmlGramState;

/* The state behind a datum that may be changed, or NULL if it is none. */
extern WmlGramState *wml_gram_state_from_datum(Datum datum);

/* A new state without rows inside an aggregate's memory context. */
extern WmlGramState *wml_gram_state_create(MemoryContext aggregate_context, int dims);

static inline Datum
wml_gram_state_datum(WmlGramState *state)
{
	return EOHPGetRWDatum(&state->header);
}

/* Add one row of p values with their padding. */
extern void wml_gram_state_add(WmlGramState *state, const double *z, double weight);

/* Bring the sums up to date with the rows that wait. */
extern void wml_gram_state_flush(WmlGramState *state);

/* For moving windows: start to watch for lost digits; take a row away. */
extern void wml_gram_state_watch(WmlGramState *state);
extern bool wml_gram_state_retract(WmlGramState *state, const double *z, double weight);

#endif							/* WML_GRAM_STATE_H */
