/*
 * gram_state.c
 *	  The expanded form of wml_gram: see gram_state.h.
 *
 * All states of one aggregate context share one pool of memory below it.  The
 * server deletes an expanded object's context only when a transition function
 * replaces the object, which ours never do.
 */
#include "postgres.h"

#include "pg/gram_state.h"
#include "pg/state_pool.h"

/*
 * From this many features on, rows wait and enter the sums several at a time:
 * the pass over the sums, which no longer fit the cache when there are many
 * groups, is then shared.  So many rows wait that the buffer stays smaller
 * than the gram.
 */
#define BUFFERED_DIMS 24

static inline int
buffer_capacity(int dims)
{
	return dims < BUFFERED_DIMS ? 0 : Min(3 * dims / 4, WMLC_KERNEL_ROWS);
}

/* From one row that waits to the next. */
static inline int
row_stride(const WmlGramState *state)
{
	return state->gram.dims + 1 + WMLC_ROW_PADDING;
}

static inline double *
waiting_rows(WmlGramState *state)
{
	return state->gram.sums + 2 * wmlc_gram_entries(state->gram.dims);
}

static inline double *
waiting_weights(WmlGramState *state)
{
	return waiting_rows(state) + state->capacity * row_stride(state);
}

/*
 * Outside moving windows, rows stay for a moment in a queue that all groups
 * share.  With many groups the state of the next row is in no cache, and neither
 * is the place that the row changes.  The queue gives both the time to arrive:
 * the state is fetched when the row comes, the place when half of the rows in
 * front of it have gone.
 */
#define QUEUE_ROWS 4

typedef struct QueuedRow
{
	WmlGramState *state;		/* NULL when it is gone */
	double		weight;
	double		z[WMLC_ROW_SIZE];
} QueuedRow;

static QueuedRow queue[QUEUE_ROWS];
static unsigned queue_head = 0;
static unsigned queue_tail = 0;

static inline QueuedRow *
queued_row(unsigned number)
{
	return &queue[number % QUEUE_ROWS];
}

/* Callback of a context of states that goes, as after an error. */
static void
forget_queued_rows(void *context)
{
	for (unsigned i = queue_head; i != queue_tail; i++)
	{
		QueuedRow  *row = queued_row(i);

		if (row->state != NULL && row->state->header.eoh_context == context)
			row->state = NULL;
	}
}

static void
flush_waiting_rows(WmlGramState *state)
{
	if (state->pending > 0)
		wmlc_gram_flush(&state->gram, waiting_rows(state), row_stride(state),
						waiting_weights(state), state->pending);
	state->pending = 0;
}

static void
add_now(WmlGramState *state, const double *z, double weight)
{
	wmlc_gram_count(&state->gram, z, weight);
	if (weight != 0.0)
		wmlc_gram_flush(&state->gram, z, 0, &weight, 1);
}

static void
add_to_waiting(WmlGramState *state, const double *z, double weight)
{
	int			stride = row_stride(state);

	if (wmlc_gram_needs_flush(&state->gram, z, weight))
		flush_waiting_rows(state);
	wmlc_gram_count(&state->gram, z, weight);
	if (weight == 0.0)
		return;
	memcpy(waiting_rows(state) + state->pending * stride, z, stride * sizeof(double));
	waiting_weights(state)[state->pending++] = weight;
	if (state->pending == state->capacity)
		flush_waiting_rows(state);
}

/* The oldest row leaves the queue. */
static void
advance_queue(void)
{
	QueuedRow  *row = queued_row(queue_head++);

	if (row->state == NULL)
		return;
	if (row->state->capacity > 0)
		add_to_waiting(row->state, row->z, row->weight);
	else
		add_now(row->state, row->z, row->weight);
}

static inline void
prefetch(const double *from, int count)
{
	for (int i = 0; i < count; i += 8)
		__builtin_prefetch(from + i, 1);
	__builtin_prefetch(from + count - 1, 1);
}

static void
prefetch_place(const QueuedRow *row)
{
	WmlGramState *state = row->state;

	if (state == NULL)
		return;
	if (state->capacity > 0)
	{
		prefetch(waiting_rows(state) + state->pending * row_stride(state), row_stride(state));
		prefetch(waiting_weights(state) + state->pending, 1);
	}
	else
		prefetch(state->gram.sums, 2 * (int) wmlc_gram_entries(state->gram.dims));
}

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
	if (state->watch != NULL)
		wmlc_gram_settle(&flat->body, state->watch);
}

WmlGramState *
wml_gram_state_create(MemoryContext aggregate_context, int dims, bool buffered)
{
	WmlStatePool *pool = wml_state_pool(aggregate_context, forget_queued_rows);
	int			capacity = buffered ? buffer_capacity(dims) : 0;
	Size		row = (dims + 1 + WMLC_ROW_PADDING + 1) * sizeof(double);
	WmlGramState *state = (WmlGramState *)
		wml_state_pool_alloc(pool, offsetof(WmlGramState, gram) + wmlc_gram_bytes(dims) + capacity * row);

	EOH_init_header(&state->header, &state_methods, pool->context);
	state->capacity = capacity;
	state->queued = buffered;
	state->pending = 0;
	state->watch = NULL;
	wmlc_gram_init(&state->gram, dims);
	return state;
}

static WmlGramState *
state_of_expanded(Datum datum)
{
	WmlGramState *state = (WmlGramState *) DatumGetEOHP(datum);

	return state->header.eoh_methods == &state_methods ? state : NULL;
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
		if (state != NULL && state->watch == NULL)
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

void
wml_gram_state_flush(WmlGramState *state)
{
	if (!state->queued)
		return;
	while (queue_head != queue_tail)
		advance_queue();
	flush_waiting_rows(state);
}

double *
wml_gram_state_next_row(void)
{
	return queued_row(queue_tail)->z;
}

static void
add_to_queue(WmlGramState *state, double weight)
{
	QueuedRow  *row = queued_row(queue_tail++);

	row->state = state;
	row->weight = weight;
	if (queue_tail - queue_head == QUEUE_ROWS)
		advance_queue();
	if (queue_tail - queue_head > QUEUE_ROWS / 2)
		prefetch_place(queued_row(queue_head + QUEUE_ROWS / 2 - 1));
}

void
wml_gram_state_add(WmlGramState *state, double weight)
{
	const double *z = wml_gram_state_next_row();

	if (state->queued)
	{
		add_to_queue(state, weight);
		return;
	}
	add_now(state, z, weight);
	if (state->watch != NULL)
		wmlc_gram_watch_row(state->watch, &state->gram, z, weight);
}

void
wml_gram_state_watch(WmlGramState *state)
{
	if (state->watch != NULL)
		return;
	wml_gram_state_flush(state);
	state->queued = false;
	state->capacity = 0;
	state->watch = (WmlcGramWatch *) MemoryContextAlloc(state->header.eoh_context,
														wmlc_gram_watch_bytes(state->gram.dims));
	wmlc_gram_watch(state->watch, &state->gram);
}

bool
wml_gram_state_retract(WmlGramState *state, const double *z, double weight)
{
	wml_gram_state_watch(state);
	return wmlc_gram_retract(&state->gram, z, weight, state->watch);
}
