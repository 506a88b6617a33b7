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

/*
 * What every row touches lies together at the beginning.  Behind the sums there
 * is room for `capacity` rows that wait, and then for their weights.
 */
typedef struct WmlGramState
{
	ExpandedObjectHeader header;
	bool		queued;			/* its rows go through the queue of gram_state.c */
	uint16		capacity;		/* 0: each row enters the sums at once */
	uint16		pending;		/* rows counted but not yet in the sums */
	WmlcGramWatch *watch;		/* NULL outside moving windows */
	WmlcGram	gram;
} WmlGramState;

/* The state behind a datum that may be changed, or NULL if it is none. */
extern WmlGramState *wml_gram_state_from_datum(Datum datum);

/*
 * A new state without rows inside an aggregate's memory context.  `buffered`
 * says that it will receive many rows, and take none away.
 */
extern WmlGramState *wml_gram_state_create(MemoryContext aggregate_context, int dims,
										   bool buffered);

static inline Datum
wml_gram_state_datum(WmlGramState *state)
{
	return EOHPGetRWDatum(&state->header);
}

/*
 * Begin to fetch what wml_gram_state_add will touch: with many groups it is in
 * no cache.  The datum may be anything.
 */
static inline void
wml_gram_state_prefetch(Datum datum)
{
	const char *state = DatumGetPointer(datum);

	for (int i = 0; i < (int) sizeof(WmlGramState); i += 64)
		__builtin_prefetch(state + i, 1);
}

/*
 * Add one row: write its p values with their padding to the place that
 * next_row tells, and then call add.
 */
extern double *wml_gram_state_next_row(void);
extern void wml_gram_state_add(WmlGramState *state, double weight);

/* Bring the sums up to date with the rows that wait. */
extern void wml_gram_state_flush(WmlGramState *state);

/* For moving windows: start to watch for lost digits; take a row away. */
extern void wml_gram_state_watch(WmlGramState *state);
extern bool wml_gram_state_retract(WmlGramState *state, const double *z, double weight);

#endif							/* WML_GRAM_STATE_H */
