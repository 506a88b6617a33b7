/*
 * state_pool.c
 *	  Memory for the states of an aggregate: see state_pool.h.
 *
 * A context of its own for each state would cost more than a small state, and
 * palloc would round each up to a power of two.  So states are cut from slabs,
 * which are chunks of one memory context and become larger as states become
 * more: by an eighth of what there is, which is the most that is ever unused.
 * Large slabs ask for huge pages: with many groups each row touches another
 * state, and to find its page would take longer than to add the row.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/base/memory.h"
#include "pg/gram/state_pool.h"

#define LARGEST_SLAB ((Size) 16 * 1024 * 1024)

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

void *
wml_state_pool_alloc(WmlStatePool *pool, Size size)
{
	void	   *piece;

	size = MAXALIGN(size);
	if (size > pool->left)
	{
		pool->left = Max(size, Min(pool->total / 8, LARGEST_SLAB));
		pool->next = (char *) MemoryContextAllocHuge(pool->context, pool->left);
		pool->total += pool->left;
		wml_ask_for_huge_pages(pool->next, pool->left);
	}
	piece = pool->next;
	pool->next += size;
	pool->left -= size;
	return piece;
}
