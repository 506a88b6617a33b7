/*
 * state_pool.c
 *	  Memory for the states of an aggregate: see state_pool.h.
 *
 * A context of its own for each state would cost more than a small state, and
 * palloc would round each up to a power of two.  So states are cut from slabs,
 * which are chunks of one memory context and become larger as states become
 * more: first by an eighth of what there is, then by a quarter of it, in whole
 * huge pages; no more than that is ever unused.  With many groups each row
 * touches another state, and to find its small page would take longer than to
 * add the row.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "core/base/stream.h"
#include "pg/base/memory.h"
#include "pg/gram/state_pool.h"

#define LARGEST_SLAB ((Size) 32 * 1024 * 1024)

/* The server and the C library put a few words before a slab. */
#define SLAB_OVERHEAD 256

/* So many heads come at once, when there are as many. */
#define MOST_HEADS 32

/*
 * The pools of one call, in the memory that lasts as long as what the server
 * knows of the call: one for each grouping set.
 */
typedef struct WmlStatePools
{
	WmlStatePool *first;
	void	   *extra;			/* the user's own */
	MemoryContextCallback gone;
} WmlStatePools;

/* Either may go before the other, and tells it so. */
static void
pools_gone(void *arg)
{
	WmlStatePools *pools = (WmlStatePools *) arg;

	for (WmlStatePool *pool = pools->first; pool != NULL; pool = pool->following)
		pool->pools = NULL;
}

static void
pool_gone(void *arg)
{
	WmlStatePool *pool = (WmlStatePool *) arg;
	WmlStatePool **link;

	if (pool->pools == NULL)
		return;
	for (link = &pool->pools->first; *link != pool; link = &(*link)->following)
		;
	*link = pool->following;
}

static WmlStatePools *
pools_of_call(FmgrInfo *flinfo)
{
	WmlStatePools *pools = (WmlStatePools *) flinfo->fn_extra;

	if (pools == NULL)
	{
		pools = (WmlStatePools *) MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(WmlStatePools));
		pools->gone.func = pools_gone;
		pools->gone.arg = pools;
		MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &pools->gone);
		flinfo->fn_extra = pools;
	}
	return pools;
}

void **
wml_state_pools_extra(FmgrInfo *flinfo)
{
	return &pools_of_call(flinfo)->extra;
}

WmlStatePool *
wml_state_pool(FunctionCallInfo fcinfo, MemoryContext aggregate_context)
{
	WmlStatePools *pools = pools_of_call(fcinfo->flinfo);
	MemoryContext context;
	WmlStatePool *pool;

	for (pool = pools->first; pool != NULL; pool = pool->following)
	{
		if (pool->aggregate_context == aggregate_context)
			return pool;
	}
	context = AllocSetContextCreate(aggregate_context, "wml states", ALLOCSET_SMALL_SIZES);
	pool = (WmlStatePool *) MemoryContextAllocZero(context, sizeof(WmlStatePool));
	pool->context = context;
	pool->aggregate_context = aggregate_context;
	pool->pools = pools;
	pool->following = pools->first;
	pools->first = pool;
	pool->gone.func = pool_gone;
	pool->gone.arg = pool;
	MemoryContextRegisterResetCallback(context, &pool->gone);
	return pool;
}

static Size
slab_size(const WmlStatePool *pool, Size piece)
{
	Size		size;

	if (pool->total < WML_HUGE_PAGE / 2)
		return Max(piece, pool->total / 8);
	size = Max(piece + SLAB_OVERHEAD, Min(pool->total / 4, LARGEST_SLAB));
	return TYPEALIGN(WML_HUGE_PAGE, size) - SLAB_OVERHEAD;
}

void *
wml_state_pool_alloc(WmlStatePool *pool, Size size)
{
	void	   *piece;

	size = MAXALIGN(size);
	if (size > pool->left)
	{
		pool->left = slab_size(pool, size);
		pool->next = (char *) MemoryContextAllocHuge(pool->context, pool->left);
		pool->total += pool->left;
		wml_ask_for_huge_pages(pool->next, pool->left);
	}
	piece = pool->next;
	pool->next += size;
	pool->left -= size;
	return piece;
}

void *
wml_state_pool_alloc_head(WmlStatePool *pool, Size size)
{
	Size		step = TYPEALIGN(WMLC_CACHE_LINE, size);
	void	   *head;

	if (pool->heads_left == 0)
	{
		pool->heads_left = Max(1, Min(pool->heads, MOST_HEADS));
		pool->next_head = (char *)
			TYPEALIGN(WMLC_CACHE_LINE, wml_state_pool_alloc(pool, pool->heads_left * step + WMLC_CACHE_LINE));
	}
	head = pool->next_head;
	pool->next_head += step;
	pool->heads_left--;
	pool->heads++;
	return head;
}
