/*
 * state_pool.h
 *	  Memory for the states of an aggregate: many, of any size, packed without
 *	  gaps, and gone all at once with the aggregate's memory context.
 */
#ifndef WML_STATE_POOL_H
#define WML_STATE_POOL_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/palloc.h"

typedef struct WmlStatePool
{
	MemoryContext context;		/* a child of the aggregate's */
	MemoryContext aggregate_context;
	struct WmlStatePools *pools;	/* those of the same call, or NULL when the call did not last */
	struct WmlStatePool *following;	/* the next of them */
	MemoryContextCallback gone; /* when the pool goes */
	char	   *next;			/* what is left of the last slab */
	Size		left;
	Size		total;			/* the sizes of all slabs */
	Size		buffers;		/* what the pool's user has taken for more than the states */
	char	   *next_head;		/* likewise, of the last ones of the heads */
	int			heads_left;
	int			heads;			/* how many there are */
	void	   *queue;			/* the user's own */
	void	   *scratch;		/* likewise */
	Size		scratch_size;
} WmlStatePool;

/*
 * The pool below an aggregate's memory context, made when it is first asked
 * for.  It is remembered where the server lets a function remember things from
 * call to call, so the same transition function of the same aggregate finds it
 * again.  An executor that prepares the function anew for every row gets a new
 * pool for every group.
 */
extern WmlStatePool *wml_state_pool(FunctionCallInfo fcinfo, MemoryContext aggregate_context);

/* Beside the pools of a call, something of the user's own that lasts as long: NULL at first. */
extern void **wml_state_pools_extra(FmgrInfo *flinfo);

/* The next piece of the pool's memory. */
extern void *wml_state_pool_alloc(WmlStatePool *pool, Size size);

/*
 * A small piece at the start of a cache line, beside others of the same size,
 * which is that of all such pieces of the pool.
 */
extern void *wml_state_pool_alloc_head(WmlStatePool *pool, Size size);

#endif							/* WML_STATE_POOL_H */
