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

#include <sys/mman.h>

#include "utils/memutils.h"

#include "pg/gram/state_pool.h"

#define LARGEST_SLAB ((Size) 16 * 1024 * 1024)
#define HUGE_PAGE ((uintptr_t) 2 * 1024 * 1024)

static const char pool_name[] = "wml states";

/* The pool's callback is the only one of its context, and the pool is where the callback is. */
WmlStatePool *
wml_state_pool_of(MemoryContext context)
{
	return (WmlStatePool *) context->reset_cbs;
}

/*
 * The pool is found again by the name of its context; only the newest children
 * are looked at, because other aggregates may create one for each of a million
 * groups.
 */
WmlStatePool *
wml_state_pool(MemoryContext aggregate_context, MemoryContextCallbackFunction forget)
{
	MemoryContext child = aggregate_context->firstchild;
	WmlStatePool *pool;

	for (int i = 0; i < 8 && child != NULL; i++, child = child->nextchild)
	{
		if (child->name == pool_name)
			return wml_state_pool_of(child);
	}
	/* the macro around it takes only literals, whose addresses tell nothing */
	child = AllocSetContextCreateInternal(aggregate_context, pool_name, ALLOCSET_DEFAULT_SIZES);
	pool = (WmlStatePool *) MemoryContextAllocZero(child, sizeof(WmlStatePool));
	pool->context = child;
	pool->callback.func = forget;
	pool->callback.arg = child;
	MemoryContextRegisterResetCallback(child, &pool->callback);
	return pool;
}

static void
ask_for_huge_pages(char *slab, Size size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	start = TYPEALIGN(HUGE_PAGE, slab);
	uintptr_t	end = TYPEALIGN_DOWN(HUGE_PAGE, slab + size);

	/* only a hint: it does not matter whether the system takes it */
	if (start < end)
		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
#endif
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
		ask_for_huge_pages(pool->next, pool->left);
	}
	piece = pool->next;
	pool->next += size;
	pool->left -= size;
	return piece;
}
