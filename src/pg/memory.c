/*
 * memory.c
 *	  Workspaces for the core, which may exceed a gigabyte, and values that come
 *	  without alignment.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "pg/compat.h"
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

void *
wml_aligned_bytea(Datum datum)
{
	bytea	   *value = DatumGetByteaP(datum);

	if ((uintptr_t) value % sizeof(double) != 0)
		value = (bytea *) memcpy(palloc(VARSIZE(value)), value, VARSIZE(value));
	return value;
}
