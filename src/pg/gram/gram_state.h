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

#include "pg/base/numbers.h"
#include "pg/gram/gram.h"
#include "pg/gram/state_pool.h"

/* What every row touches lies together at the beginning: one line of the cache. */
typedef struct WmlGramState
{
	ExpandedObjectHeader header;
	double	   *waiting;		/* rows that wait for the next pass, see gram_state.c, or NULL */
	uint16		dims;			/* the gram's */
	uint8		pending;		/* how many rows wait */
	uint8		capacity;		/* how many can wait; 0: there never will be a buffer */
	bool		weighted;		/* some of them have another weight than 1 */
	bool		streamed;		/* they are written past the caches */
	bool		queued;			/* without a buffer, rows go through the pool's queue */
	bool		young;			/* the rows wait in place of the sums */

	WmlcGram   *gram;
	WmlStatePool *pool;			/* where both lie */
	WmlcGramWatch *watch;		/* NULL outside moving windows */
} WmlGramState;

/* The state behind a datum that may be changed, or NULL if it is none. */
extern WmlGramState *wml_gram_state_from_datum(Datum datum);

/*
 * A new state without rows inside an aggregate's memory context.  `buffered`
 * says that it will receive many rows, and take none away.
 */
extern WmlGramState *wml_gram_state_create(FunctionCallInfo fcinfo, MemoryContext aggregate_context,
										   int dims, bool buffered);

/* The same with the sums of a gram that has features, to which others will be added. */
extern WmlGramState *wml_gram_state_copy(FunctionCallInfo fcinfo, MemoryContext aggregate_context,
										 const WmlcGram *gram);

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

	/* and the beginning of a gram that lies behind it */
	for (int i = 0; i < (int) (sizeof(WmlGramState) + sizeof(WmlcGram)); i += 64)
		__builtin_prefetch(state + i, 1);
}

/*
 * A row as the aggregate's arguments give it.  Its features lie in an array that
 * need not be aligned, or are arguments themselves.  These are converted where
 * they go: a vector load of numbers that were stored one by one a moment ago
 * would wait for all of them to reach the cache.
 */
typedef struct WmlRow
{
	int			dims;
	const char *features;
	const WmlNumbers *numbers;	/* NULL if they are in the array */
	const NullableDatum *arguments;
	double		response;
	double		weight;
} WmlRow;

/* Add a row that has as many features as the gram. */
extern void wml_gram_state_add(WmlGramState *state, const WmlRow *row);

/* Bring the sums up to date with the rows that wait. */
extern void wml_gram_state_flush(WmlGramState *state);

/* For moving windows: start to watch for lost digits; take a row away. */
extern void wml_gram_state_watch(WmlGramState *state);
extern bool wml_gram_state_retract(WmlGramState *state, const WmlRow *row);

#endif							/* WML_GRAM_STATE_H */
