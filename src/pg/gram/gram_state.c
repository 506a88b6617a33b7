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
#define YOUNG_ROW 24			/* from here on the first rows wait, too: see settle */

static inline int
rows_before_buffer(int dims)
{
	return dims < YOUNG_ROW ? 32 : 4;
}

/* All buffers of an aggregate together take no more than this, nor than half of work_mem. */
#define LARGEST_BUFFERS ((Size) 128 * 1024 * 1024)

/*
 * Buffers beyond this size are in no cache when the next row comes.  Long rows
 * are then written past the caches, which other things have more use for.
 */
#define CACHED_BUFFERS ((Size) 4 * 1024 * 1024)
#define LINE ((int) (WMLC_CACHE_LINE / sizeof(double)))
#define LONG_ROW (4 * LINE)

/*
 * With more rows long ones share a pass among more of them; with half of the
 * memory taken, buffers are short, so that more groups get one.
 */
static inline int
buffer_capacity(int dims, bool plenty)
{
	return Max(24, plenty && dims >= YOUNG_ROW ? Min(2 * dims, WMLC_LOOP_ROWS) : Min(dims + 2, WMLC_LOOP_ROWS / 2));
}

/* From one row that waits to the next. */
static inline int
row_stride(const WmlGramState *state)
{
	int			p = state->dims + 1;

	return p < LONG_ROW ? p : (int) TYPEALIGN(LINE, p);
}

/* How many rows, with their weights, fit in place of the sums, which hold one more row than there are features. */
static inline int
young_capacity(const WmlGramState *state)
{
	int			room = 2 * (int) wmlc_gram_entries(state->dims) - LINE - WMLC_ROW_PADDING;

	return Min(room / (row_stride(state) + 1), WMLC_LOOP_ROWS);
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

static Size
buffer_size(const WmlGramState *state)
{
	return WMLC_CACHE_LINE + (state->capacity * (row_stride(state) + 1) + WMLC_ROW_PADDING) * sizeof(double);
}

static void
get_buffer(WmlGramState *state)
{
	WmlStatePool *pool = state->pool;
	Size		most = Min(LARGEST_BUFFERS, (Size) work_mem * 1024 / 2);

	state->capacity = (uint8) buffer_capacity(state->dims, true);
	if (pool->buffers + buffer_size(state) > most / 2)
		state->capacity = (uint8) buffer_capacity(state->dims, false);
	/* without a lasting call there is a pool for each group, and nobody knows what all have taken */
	if (pool->pools == NULL || pool->buffers + buffer_size(state) > most)
	{
		state->capacity = 0;	/* do not ask again */
		return;
	}
	state->waiting = (double *) TYPEALIGN(WMLC_CACHE_LINE, wml_state_pool_alloc(pool, buffer_size(state)));
	state->streamed = state->dims >= LONG_ROW && pool->buffers > CACHED_BUFFERS;
	pool->buffers += buffer_size(state);
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

/*
 * What a pass over the sums touches first, and where it ends: with many groups
 * none of it is in a cache, and it arrives while the rows are looked at.  (Not
 * inline, GCC would drop the call, since the function does nothing that it knows.)
 */
static inline __attribute__((always_inline)) void
prefetch_gram(const WmlGramState *state)
{
	const double *hi = state->gram->sums;
	const double *lo = hi + wmlc_gram_entries(state->dims);
	const double *counts = lo + wmlc_gram_entries(state->dims);

	__builtin_prefetch(state->gram, 1);
	__builtin_prefetch((const char *) state->gram + WMLC_CACHE_LINE, 1);
	for (int i = 0; i <= state->dims + LINE; i += LINE)
	{
		__builtin_prefetch(hi + i, 1);
		__builtin_prefetch(lo + i, 1);
		__builtin_prefetch(counts + i, 1);
	}
}

static void
add_rows(WmlGramState *state, double *rows, double *weights, int count)
{
	int			stride = row_stride(state);

	if (count == 0)
		return;
	memset(rows + (count - 1) * stride + state->dims + 1, 0, WMLC_ROW_PADDING * sizeof(double));
	wml_check(wmlc_gram_add_rows(state->gram, rows, stride, weights, count));
}

/*
 * The sums of a young state are not there yet: its first rows wait in their
 * place.  So these take no memory, and many groups do not fetch all of their
 * sums for one row each.  Now the rows have to leave, and the first few enter
 * the sums one by one.
 */
static void
settle(WmlGramState *state)
{
	WmlStatePool *pool = state->pool;
	Size		size = (waiting_weights(state) + state->capacity - state->waiting) * sizeof(double);
	int			stride = row_stride(state);
	int			few = Min(state->pending, rows_before_buffer(state->dims));
	double	   *rows;
	double	   *weights;

	if (pool->scratch_size < size)
	{
		pool->scratch = wml_state_pool_alloc(pool, size);
		pool->scratch_size = size;
	}
	rows = (double *) memcpy(pool->scratch, state->waiting, size);
	weights = state->weighted ? rows + (waiting_weights(state) - state->waiting) : NULL;
	wmlc_gram_forget_rows(state->gram);
	for (int i = 0; i < few; i++)
	{
		double		z[WMLC_ROW_SIZE];

		memcpy(z, rows + i * stride, (state->dims + 1) * sizeof(double));
		memset(z + state->dims + 1, 0, WMLC_ROW_PADDING * sizeof(double));
		wml_check(wmlc_gram_add_row(state->gram, z, weights == NULL ? 1.0 : weights[i]));
	}
	add_rows(state, rows + few * stride, weights == NULL ? NULL : weights + few, state->pending - few);
	state->young = false;
	state->waiting = NULL;
	state->capacity = WMLC_LOOP_ROWS;	/* if there is memory for as many: see get_buffer */
}

static void
add_waiting_rows(WmlGramState *state)
{
	if (state->young)
		settle(state);
	else if (state->pending > 0)
	{
		prefetch_gram(state);
		add_rows(state, state->waiting, state->weighted ? waiting_weights(state) : NULL, state->pending);
	}
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
	/* the last one is read at once */
	if (state->streamed && row->numbers == NULL && state->pending + 1 < state->capacity)
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

/* A state whose gram holds nothing yet. */
static WmlGramState *
new_state(WmlStatePool *pool, int dims)
{
	WmlGramState *state = allocate_state(pool, dims);

	EOH_init_header(&state->header, &state_methods, pool->context);
	state->dims = (uint16) dims;
	state->pool = pool;
	state->waiting = NULL;
	state->watch = NULL;
	state->capacity = 0;
	state->queued = false;
	state->weighted = false;
	state->streamed = false;
	state->young = false;
	state->pending = 0;
	return state;
}

WmlGramState *
wml_gram_state_create(FunctionCallInfo fcinfo, MemoryContext aggregate_context, int dims, bool buffered)
{
	WmlStatePool *pool = wml_state_pool(fcinfo, aggregate_context);
	WmlGramState *state = new_state(pool, dims);

	if (buffered)
		make_room_in_queue(pool, dims);
	state->queued = buffered;
	state->young = buffered && dims >= YOUNG_ROW && pool->pools != NULL;
	if (state->young)
	{
		wmlc_gram_init_head(state->gram, dims);
		state->waiting = (double *) TYPEALIGN(WMLC_CACHE_LINE, state->gram->sums);
		state->capacity = (uint8) young_capacity(state);
		state->streamed = dims >= LONG_ROW && pool->total > CACHED_BUFFERS;
	}
	else
	{
		wmlc_gram_init(state->gram, dims);
		state->capacity = buffered ? WMLC_LOOP_ROWS : 0;
	}
	return state;
}

WmlGramState *
wml_gram_state_copy(FunctionCallInfo fcinfo, MemoryContext aggregate_context, const WmlcGram *gram)
{
	WmlGramState *state = new_state(wml_state_pool(fcinfo, aggregate_context), gram->dims);

	memcpy(state->gram, gram, wmlc_gram_bytes(gram->dims));
	state->gram->constant = wmlc_gram_find_constant(state->gram);	/* as merging finds it */
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
