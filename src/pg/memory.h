/*
 * memory.h
 *	  Workspaces for the core, which may exceed a gigabyte.
 */
#ifndef WML_MEMORY_H
#define WML_MEMORY_H

#include "postgres.h"

/* count * size bytes in the current context, at least one. */
extern void *wml_allocate(Size count, Size size);

#endif							/* WML_MEMORY_H */
