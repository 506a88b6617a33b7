/*
 * memory.h
 *	  Workspaces for the core, which may exceed a gigabyte, and values that come
 *	  without alignment.
 */
#ifndef WML_MEMORY_H
#define WML_MEMORY_H

#include "postgres.h"

/* count * size bytes in the current context, at least one. */
extern void *wml_allocate(Size count, Size size);

/* The same, but NULL where the machine has not so much. */
extern void *wml_allocate_if_possible(Size bytes);

/*
 * Ask the system for huge pages under memory that will be used whole, or here
 * and there by turns: only a hint, which it may not know or take.  A size just
 * below a multiple of the huge page leaves room for what allocators put before
 * the memory, and newer systems then begin it where a huge page does.
 */
#define WML_HUGE_PAGE ((Size) 2 * 1024 * 1024)
extern void wml_ask_for_huge_pages(void *memory, Size size);

/* A whole value of variable length, where doubles can be read from it; its bytes may be hostile. */
extern void *wml_aligned_value(Datum datum);

#endif							/* WML_MEMORY_H */
