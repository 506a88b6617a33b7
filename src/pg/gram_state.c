/*
 * gram_state.c
 *	  The expanded form of wml_gram: see gram_state.h.
 *
 * All states of one aggregate context share one memory context below it.  A
 * context of its own for each would cost more than a small gram, and palloc
 * would round each up to a power of two; a generation context packs them.
 * The server deletes an expanded object's context only when a transition
 * function replaces the object, which ours never do.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/gram_state.h"

#define STATE_MAGIC 0x776d6c67	/* "wmlg" */

/*
 * From this many features on, rows wait and enter the sums several at a time:
 * the pass over the sums, which no longer fit the cache when there are many
 * groups, is then shared.  So many rows wait that the buffer stays below about
 * half of the gram.
 */
#define BUFFERED_DIMS 24

static inline int
buffer_capacity(int dims)
{
	return Min(dims / 2, WMLC_KERNEL_ROWS);
}

static const char state_context_name[] = "wml_gram states";

static Size state_flat_size(ExpandedObjectHeader *header);
static void state_flatten(ExpandedObjectHeader *header, void *result, Size size);

static const ExpandedObjectMethods state_methods = {
	state_flat_size,
	state_flatten
};

static Size
state_flat_size(ExpandedObjectHeader *header)
{
	return wml_gram_size(((WmlGramState *) header)->gram.dims);
}

static inline bool
is_watched(const WmlGramState *state)
{
	return state->extra != NULL && state->extra->watch != NULL;
}

static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	WmlGramState *state = (WmlGramState *) header;
	WmlGram    *flat = (WmlGram *) result;

	wml_gram_state_flush(state);
	SET_VARSIZE(flat, size);
	flat->version = WML_GRAM_VERSION;
	flat->flags = 0;
	memcpy(&flat->body, &state->gram, wmlc_gram_bytes(state->gram.dims));
	if (is_watched(state))
		wmlc_gram_settle(&flat->body, state->extra->watch);
}

/*
 * Our context below an aggregate's.  It is found again by its name; only the
 * newest children are looked at, because other aggregates may create one for
 * each of a million groups.
 */
static MemoryContext
state_context(MemoryContext aggregate_context)
{
	MemoryContext child = aggregate_context->firstchild;

	for (int i = 0; i < 8 && child != NULL; i++, child = child->nextchild)
	{
		if (child->name == state_context_name)
			return child;
	}
#if PG_VERSION_NUM >= 150000
	return GenerationContextCreate(aggregate_context, state_context_name, ALLOCSET_DEFAULT_SIZES);
#else
	return GenerationContextCreate(aggregate_context, state_context_name, 64 * 1024);
#endif
}

WmlGramState *
wml_gram_state_create(MemoryContext aggregate_context, int dims)
{
	MemoryContext context = state_context(aggregate_context);
	Size		size = offsetof(WmlGramState, gram) + wmlc_gram_bytes(dims);
	WmlGramState *state = (WmlGramState *) MemoryContextAlloc(context, size);

	EOH_init_header(&state->header, &state_methods, context);
	state->magic = STATE_MAGIC;
	state->extra = NULL;
	wmlc_gram_init(&state->gram, dims);
	return state;
}

static WmlGramState *
state_of_expanded(Datum datum)
{
	WmlGramState *state = (WmlGramState *) DatumGetEOHP(datum);

	return state->header.eoh_methods == &state_methods && state->magic == STATE_MAGIC ? state : NULL;
}

WmlGramState *
wml_gram_state_from_datum(Datum datum)
{
	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	return state_of_expanded(datum);
}

const WmlcGram *
wml_gram_from_datum(Datum datum)
{
	WmlGram    *flat;

	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
	{
		WmlGramState *state = state_of_expanded(datum);

		/* a moving window's sums must be settled, in a flat copy */
		if (state != NULL && !is_watched(state))
		{
			wml_gram_state_flush(state);
			return &state->gram;
		}
	}
	flat = (WmlGram *) PG_DETOAST_DATUM(datum);
	if (VARSIZE(flat) < wml_gram_size(0) || flat->version != WML_GRAM_VERSION ||
		flat->flags != 0 || VARSIZE(flat) != wml_gram_size(flat->body.dims))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored gram has an unknown version or a wrong length")));
	return &flat->body;
}

static WmlGramExtra *
state_extra(WmlGramState *state)
{
	if (state->extra == NULL)
		state->extra = (WmlGramExtra *) MemoryContextAllocZero(state->header.eoh_context,
															   sizeof(WmlGramExtra));
	return state->extra;
}

void
wml_gram_state_flush(WmlGramState *state)
{
	WmlGramExtra *extra = state->extra;

	if (extra == NULL || extra->pending == 0)
		return;
	wmlc_gram_flush(&state->gram, extra->rows, state->gram.dims + 1 + WMLC_ROW_PADDING,
					extra->weights, extra->pending);
	extra->pending = 0;
}

/* Do rows of this state wait? */
static inline bool
is_buffered(const WmlGramState *state)
{
	return state->gram.dims >= BUFFERED_DIMS && !is_watched(state);
}

/*
 * Bring the place of the next waiting row near while other groups have their
 * turn: with many groups it is in no cache, and writing there would stall.
 */
static inline void
prefetch_row(const double *place, int length)
{
	for (int i = 0; i < length; i += 8)
		__builtin_prefetch(place + i, 1);
}

static void
add_buffered(WmlGramState *state, const double *z, double weight)
{
	WmlGramExtra *extra = state_extra(state);
	int			stride = state->gram.dims + 1 + WMLC_ROW_PADDING;

	if (extra->rows == NULL)
		extra->rows = (double *) MemoryContextAlloc(state->header.eoh_context,
													buffer_capacity(state->gram.dims) * stride * sizeof(double));
	if (wmlc_gram_needs_flush(&state->gram, z, weight))
		wml_gram_state_flush(state);
	wmlc_gram_count(&state->gram, z, weight);
	if (weight == 0.0)
		return;
	memcpy(extra->rows + extra->pending * stride, z, stride * sizeof(double));
	extra->weights[extra->pending++] = weight;
	if (extra->pending == buffer_capacity(state->gram.dims))
		wml_gram_state_flush(state);
	prefetch_row(extra->rows + extra->pending * stride, stride);
}

void
wml_gram_state_add(WmlGramState *state, const double *z, double weight)
{
	if (is_buffered(state))
	{
		add_buffered(state, z, weight);
		return;
	}
	wmlc_gram_count(&state->gram, z, weight);
	if (weight != 0.0)
		wmlc_gram_flush(&state->gram, z, 0, &weight, 1);
	if (is_watched(state))
		wmlc_gram_watch_row(state->extra->watch, &state->gram, z, weight);
}

void
wml_gram_state_watch(WmlGramState *state)
{
	WmlGramExtra *extra = state_extra(state);

	if (extra->watch != NULL)
		return;
	wml_gram_state_flush(state);
	extra->watch = (WmlcGramWatch *) MemoryContextAlloc(state->header.eoh_context,
														wmlc_gram_watch_bytes(state->gram.dims));
	wmlc_gram_watch(extra->watch, &state->gram);
}

bool
wml_gram_state_retract(WmlGramState *state, const double *z, double weight)
{
	wml_gram_state_watch(state);
	return wmlc_gram_retract(&state->gram, z, weight, state->extra->watch);
}
