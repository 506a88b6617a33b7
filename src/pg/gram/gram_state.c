/*
 * gram_state.c
 *	  The expanded form of wml_gram: see gram_state.h.
 *
 * All states of one aggregate context share one pool of memory below it.  The
 * server deletes an expanded object's context only when a transition function
 * replaces the object, which ours never do.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/base/stream.h"
#include "pg/base/error.h"
#include "pg/gram/gram_state.h"

/*
 * A group that has had a few rows gets a buffer, where the next ones wait and
 * then enter the sums together: that is several times faster than one by one,
 * and with many groups the pass over sums that are in no cache is shared.  Over
 * few rows one by one is more exact, though (see gram_loops_vector.h), and where
 * rows are short they can wait longer for a buffer, for there is less to gain.
 */
static inline int
rows_before_buffer(int dims)
{
	return dims < 24 ? 32 : 4;
}

/* All buffers of an aggregate together take no more than this, nor than half of work_mem. */
#define LARGEST_BUFFERS ((Size) 64 * 1024 * 1024)

/*
 * Buffers beyond this size are in no cache when the next row comes.  Long rows
 * are then written past the caches, which other things have more use for.
 */
#define CACHED_BUFFERS ((Size) 4 * 1024 * 1024)
#define LINE ((int) (WMLC_CACHE_LINE / sizeof(double)))
#define LONG_ROW (4 * LINE)

static inline int
buffer_capacity(int dims)
{
	return Max(24, Min(dims + 2, WMLC_LOOP_ROWS));
}

/* From one row that waits to the next. */
static inline int
row_stride(const WmlGramState *state)
{
	int			p = state->dims + 1;

	return p < LONG_ROW ? p : (int) TYPEALIGN(LINE, p);
}

static inline double *
next_waiting_row(WmlGramState *state)
{
	return state->waiting + state->pending * row_stride(state);
}

/* Behind the rows and the padding of the last one. */
static inline double *
waiting_weights(WmlGramState *state)
{
	return state->waiting + state->capacity * row_stride(state) + WMLC_ROW_PADDING;
}

static void
get_buffer(WmlGramState *state)
{
	WmlStatePool *pool = state->pool;
	Size		size = WMLC_CACHE_LINE +
		(state->capacity * (row_stride(state) + 1) + WMLC_ROW_PADDING) * sizeof(double);

	/* without a lasting call there is a pool for each group, and nobody knows what all have taken */
	if (pool->pools == NULL || pool->buffers + size > Min(LARGEST_BUFFERS, (Size) work_mem * 1024 / 2))
	{
		state->capacity = 0;	/* do not ask again */
		return;
	}
	state->waiting = (double *) TYPEALIGN(WMLC_CACHE_LINE, wml_state_pool_alloc(pool, size));
	state->streamed = state->dims >= LONG_ROW && pool->buffers > CACHED_BUFFERS;
	pool->buffers += size;
}

static inline void
write_row(double *z, const WmlRow *row)
{
	if (row->numbers == NULL)
		memcpy(z, row->features, row->dims * sizeof(double));
	else
	{
		for (int i = 0; i < row->dims; i++)
			z[i] = wml_number(row->arguments[i].value, row->numbers->type[i]);
	}
	z[row->dims] = row->response;
}

/* For the functions that add a single row. */
static inline void
write_padded_row(double *z, const WmlRow *row)
{
	write_row(z, row);
	memset(z + row->dims + 1, 0, WMLC_ROW_PADDING * sizeof(double));
}

static void
add_waiting_rows(WmlGramState *state)
{
	int			stride = row_stride(state);
	double	   *end;

	if (state->pending == 0)
		return;
	end = state->waiting + (state->pending - 1) * stride + state->dims + 1;
	memset(end, 0, WMLC_ROW_PADDING * sizeof(double));
	wml_check(wmlc_gram_add_rows(state->gram, state->waiting, stride,
								 state->weighted ? waiting_weights(state) : NULL, state->pending));
	state->pending = 0;
	state->weighted = false;
}

static void
let_row_wait(WmlGramState *state, const WmlRow *row)
{
	double	   *z = next_waiting_row(state);
	double	   *weights = waiting_weights(state);

	if (row->weight == 0.0)
	{
		wml_check(wmlc_gram_add_row(state->gram, NULL, 0.0));
		return;
	}
	if (state->streamed && row->numbers == NULL)
		wmlc_stream_row(z, row->features, row->dims, row->response);
	else
		write_row(z, row);
	if (row->weight != 1.0 && !state->weighted)
	{
		for (int i = 0; i < state->pending; i++)
			weights[i] = 1.0;
		state->weighted = true;
	}
	if (state->weighted)
		weights[state->pending] = row->weight;
	state->pending++;
	if (state->pending == state->capacity)
		add_waiting_rows(state);
}

/*
 * Rows of groups without a buffer stay for a moment in a queue that all of the
 * pool share.  With many groups the state of the next row is in no cache, and
 * neither are its sums.  The queue gives both the time to arrive: the state is
 * fetched when the row comes, the sums when half of the rows in front of it have
 * gone.
 */
#define QUEUE_ROWS 4

typedef struct QueuedRow
{
	WmlGramState *state;
	double		weight;
	double	   *z;
} QueuedRow;

typedef struct RowQueue
{
	int			dims;			/* of the longest row that has room */
	unsigned	head;
	unsigned	tail;
	QueuedRow	rows[QUEUE_ROWS];
} RowQueue;

static inline QueuedRow *
queued_row(RowQueue *queue, unsigned number)
{
	return &queue->rows[number % QUEUE_ROWS];
}

/* The oldest row leaves the queue. */
static inline void
advance_queue(RowQueue *queue)
{
	QueuedRow  *row = queued_row(queue, queue->head++);

	wml_check(wmlc_gram_add_row(row->state->gram, row->z, row->weight));
}

static void
empty_queue(RowQueue *queue)
{
	while (queue->head != queue->tail)
		advance_queue(queue);
}

/* Groups of one aggregate may have rows of different lengths. */
static void
make_room_in_queue(WmlStatePool *pool, int dims)
{
	RowQueue   *queue = (RowQueue *) pool->queue;
	int			stride = dims + 1 + WMLC_ROW_PADDING;
	double	   *z;

	if (queue == NULL)
	{
		queue = (RowQueue *) wml_state_pool_alloc(pool, sizeof(RowQueue));
		memset(queue, 0, sizeof(RowQueue));
		pool->queue = queue;
	}
	if (queue->dims >= dims)
		return;
	empty_queue(queue);
	z = (double *) wml_state_pool_alloc(pool, QUEUE_ROWS * stride * sizeof(double));
	for (int i = 0; i < QUEUE_ROWS; i++)
		queue->rows[i].z = z + i * stride;
	queue->dims = dims;
}

static void
prefetch_sums(const QueuedRow *row)
{
	WmlGramState *state = row->state;
	int			count;

	/* the sums, and the counts of the features behind them */
	count = 2 * (int) wmlc_gram_entries(state->dims) + state->dims;
	for (int i = 0; i < count; i += 8)
		__builtin_prefetch(state->gram->sums + i, 1);
	__builtin_prefetch(state->gram->sums + count - 1, 1);
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
	return wml_gram_size(((WmlGramState *) header)->dims);
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
	memcpy(&flat->body, state->gram, wmlc_gram_bytes(state->dims));
	if (state->watch != NULL)
		wmlc_gram_settle(&flat->body, state->watch);
}

/*
 * A short gram lies behind its state.  The states of long ones lie side by side:
 * between two of their rows all caches are full of other rows, so what a row
 * touches of its state must be as few lines and pages as can be.
 */
static WmlGramState *
allocate_state(WmlStatePool *pool, int dims)
{
	WmlGramState *state;

	if (dims < LONG_ROW)
	{
		state = (WmlGramState *) wml_state_pool_alloc(pool, sizeof(WmlGramState) + wmlc_gram_bytes(dims));
		state->gram = (WmlcGram *) (state + 1);
	}
	else
	{
		state = (WmlGramState *) wml_state_pool_alloc_head(pool, sizeof(WmlGramState));
		state->gram = (WmlcGram *) wml_state_pool_alloc(pool, wmlc_gram_bytes(dims));
	}
	return state;
}

WmlGramState *
wml_gram_state_create(FunctionCallInfo fcinfo, MemoryContext aggregate_context, int dims, bool buffered)
{
	WmlStatePool *pool = wml_state_pool(fcinfo, aggregate_context);
	WmlGramState *state = allocate_state(pool, dims);

	if (buffered)
		make_room_in_queue(pool, dims);
	EOH_init_header(&state->header, &state_methods, pool->context);
	state->dims = (uint16) dims;
	state->pool = pool;
	state->waiting = NULL;
	state->watch = NULL;
	state->queued = buffered;
	state->weighted = false;
	state->streamed = false;
	state->capacity = (uint8) (buffered ? buffer_capacity(dims) : 0);
	state->pending = 0;
	wmlc_gram_init(state->gram, dims);
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

/* The same sums in memory of their own, for a gram that was stored by the first version. */
static const WmlcGram *
upgraded(const WmlGram *old, const char **problem)
{
	int			dims = wmlc_gram_dims_version_1(&old->body, VARSIZE(old) - offsetof(WmlGram, body));
	WmlcGram   *result;

	if (dims < 0)
	{
		*problem = "its length does not fit its number of features";
		return NULL;
	}
	result = &wml_gram_create(dims)->body;
	wmlc_gram_from_version_1(&old->body, result);
	*problem = wmlc_gram_head_invalid(result, wmlc_gram_bytes(dims));
	if (*problem == NULL)
		*problem = wmlc_gram_upgrade(result);
	return result;
}

/*
 * Pages can be damaged without the server's knowledge, so nothing that is used
 * as an index, a size or a count is taken on trust.  What the sums say does not
 * matter: numbers do no harm.
 */
static const WmlcGram *
stored_gram(const WmlGram *flat)
{
	Size		size = VARSIZE(flat);
	const WmlcGram *gram = &flat->body;
	const char *problem;

	if (size < offsetof(WmlGram, body))
		problem = "it is too short";
	else if (flat->version == WML_GRAM_VERSION && flat->flags == 0)
		problem = wmlc_gram_head_invalid(gram, size - offsetof(WmlGram, body));
	else if (flat->version == 1 && flat->flags == 0)
		gram = upgraded(flat, &problem);
	else
		problem = "its version is unknown";
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored gram is corrupted"),
				 errdetail("The gram is not valid: %s.", problem)));
	return gram;
}

const WmlcGram *
wml_gram_from_datum(Datum datum)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
	{
		WmlGramState *state = state_of_expanded(datum);

		/* a moving window's sums must be settled, in a flat copy */
		if (state != NULL && state->watch == NULL)
		{
			wml_gram_state_flush(state);
			return state->gram;
		}
	}
	return stored_gram((const WmlGram *) PG_DETOAST_DATUM(datum));
}

void
wml_gram_state_flush(WmlGramState *state)
{
	if (!state->queued)
		return;
	empty_queue((RowQueue *) state->pool->queue);
	add_waiting_rows(state);
}

static void
add_to_queue(WmlGramState *state, const WmlRow *row)
{
	RowQueue   *queue = (RowQueue *) state->pool->queue;
	QueuedRow  *place = queued_row(queue, queue->tail);

	write_padded_row(place->z, row);
	place->state = state;
	place->weight = row->weight;
	queue->tail++;
	if (queue->tail - queue->head == QUEUE_ROWS)
		advance_queue(queue);
	if (queue->tail - queue->head > QUEUE_ROWS / 2)
		prefetch_sums(queued_row(queue, queue->head + QUEUE_ROWS / 2 - 1));
}

static void
add_at_once(WmlGramState *state, const WmlRow *row)
{
	double		z[WMLC_ROW_SIZE];

	write_padded_row(z, row);
	wml_check(wmlc_gram_add_row(state->gram, z, row->weight));
	if (state->watch != NULL)
		wmlc_gram_watch_row(state->watch, state->gram, row->weight);
}

void
wml_gram_state_add(WmlGramState *state, const WmlRow *row)
{
	if (state->waiting == NULL && state->capacity > 0 &&
		state->gram->rows >= rows_before_buffer(state->dims))
		get_buffer(state);
	if (state->waiting != NULL)
		let_row_wait(state, row);
	else if (state->queued)
		add_to_queue(state, row);
	else
		add_at_once(state, row);
}

void
wml_gram_state_watch(WmlGramState *state)
{
	if (state->watch != NULL)
		return;
	wml_gram_state_flush(state);
	state->queued = false;
	state->capacity = 0;
	state->waiting = NULL;
	state->watch = (WmlcGramWatch *) MemoryContextAlloc(state->header.eoh_context,
														wmlc_gram_watch_bytes(state->dims));
	wmlc_gram_watch(state->watch, state->gram);
}

bool
wml_gram_state_retract(WmlGramState *state, const WmlRow *row)
{
	double		z[WMLC_ROW_SIZE];

	wml_gram_state_watch(state);
	write_padded_row(z, row);
	return wmlc_gram_retract(state->gram, z, row->weight, state->watch);
}
