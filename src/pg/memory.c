/*
 * memory.c
 *	  Workspaces for the core, which may exceed a gigabyte.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/memory.h"

void *
wml_allocate(Size count, Size size)
{
	if (count != 0 && size > MaxAllocHugeSize / count)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many tasks with too many features")));
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(count * size, 1));
}
