/*
 * memory.c
 *	  Workspaces for the core, which may exceed a gigabyte, and values that come
 *	  without alignment.
 */
#include "postgres.h"

#ifndef WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "fmgr.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#include "pg/base/compat.h"
#include "pg/base/memory.h"

/*
 * The operating system may promise more memory than there is, and end the whole
 * server when it is used.
 */
static bool
exceeds_machine(Size bytes)
{
#ifdef _SC_PHYS_PAGES
	long		pages = sysconf(_SC_PHYS_PAGES);
	long		page_size = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_size > 0 && bytes / page_size >= (Size) pages;
#else
	(void) bytes;
	return false;				/* nobody to ask */
#endif
}

void *
wml_allocate(Size count, Size size)
{
	if (count != 0 && size > MaxAllocHugeSize / count)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many tasks with too many features")));
	if (count * size > MaxAllocSize && exceeds_machine(count * size))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("The computation takes %.0f MB, more than the machine has.", count * size / 1e6)));
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(count * size, 1));
}

void *
wml_allocate_if_possible(Size bytes)
{
	if (exceeds_machine(bytes) || bytes > MaxAllocHugeSize)
		return NULL;
	return MemoryContextAllocExtended(CurrentMemoryContext, Max(bytes, 1),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
}

/* Linux 6.1; older ones refuse it, which does no harm. */
#if defined(__linux__) && !defined(MADV_COLLAPSE)
#define MADV_COLLAPSE 25
#endif

#ifdef MADV_COLLAPSE
/* MADV_COLLAPSE does not ask whether the administrator wants huge pages; MADV_HUGEPAGE does. */
static bool
huge_pages_are_wanted(void)
{
	char		words[64];
	FILE	   *file = AllocateFile("/sys/kernel/mm/transparent_hugepage/enabled", "r");
	bool		wanted = file != NULL && fgets(words, sizeof(words), file) != NULL &&
		strstr(words, "[never]") == NULL;

	if (file != NULL)
		FreeFile(file);
	return wanted;
}
#endif

/*
 * The allocator has written before the memory, so that a small page is already
 * there where the first huge one could be: that is exchanged.
 */
void
wml_ask_for_huge_pages(void *memory, Size size)
{
#if defined(MADV_HUGEPAGE) && defined(MADV_COLLAPSE)
	Size		page = (Size) sysconf(_SC_PAGESIZE);
	char	   *start = (char *) TYPEALIGN_DOWN(page, memory);
	char	   *end = (char *) TYPEALIGN(page, (char *) memory + size);

	if (end - start < (ptrdiff_t) WML_HUGE_PAGE)
		return;
	(void) madvise(start, end - start, MADV_HUGEPAGE);
	if ((uintptr_t) start % WML_HUGE_PAGE == 0 && huge_pages_are_wanted())
		(void) madvise(start, WML_HUGE_PAGE, MADV_COLLAPSE);
#else
	(void) memory;
	(void) size;
#endif
}

void *
wml_aligned_value(Datum datum)
{
	bytea	   *value = DatumGetByteaP(datum);

	if ((uintptr_t) value % sizeof(double) != 0)
		value = (bytea *) memcpy(palloc(VARSIZE(value)), value, VARSIZE(value));
	return value;
}
