/*
 * state_pool.h
 *	  Memory for the states of an aggregate: many, of any size, packed without
 *	  gaps, and gone all at once with the aggregate's memory context.
 */
#ifndef WML_STATE_POOL_H
#define WML_STATE_POOL_H

#include "postgres.h"

#include "utils/palloc.h"

typedef struct WmlStatePool
{
	MemoryContextCallback callback; /* when the pool goes; first, see state_pool.c */
	MemoryContext context;		/* a child of the aggregate's */
	char	   *next;			/* what is left of the last slab */
	Size		left;
	Size		total;			/* the sizes of all slabs */
	Size		buffers;		/* what the pool's user has taken for more than the states */
} WmlStatePool;

/*
 * The pool below an aggregate's memory context, made when it is first asked
 * for.  `forget` will be called with the pool's context when that goes.
 */
extern WmlStatePool *wml_state_pool(MemoryContext aggregate_context,
									MemoryContextCallbackFunction forget);

/* The pool whose context this is. */
extern WmlStatePool *wml_state_pool_of(MemoryContext context);

/* The next piece of the pool's memory. */
extern void *wml_state_pool_alloc(WmlStatePool *pool, Size size);

#endif							/* WML_STATE_POOL_H */
