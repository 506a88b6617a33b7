/*
 * arena.h
 *	  Workspaces that are handed out from one block.
 *
 * With a NULL base nothing is handed out but the size is counted, so that a size
 * and its use cannot disagree.
 */
#ifndef WMLC_ARENA_H
#define WMLC_ARENA_H

#include <stddef.h>

typedef struct WmlcArena
{
	char	   *base;
	size_t		used;
} WmlcArena;

static inline void *
wmlc_arena_take(WmlcArena *arena, size_t count, size_t size)
{
	void	   *taken = arena->base == NULL ? NULL : arena->base + arena->used;

	arena->used += (count * size + 63) / 64 * 64;
	return taken;
}

static inline double *
wmlc_arena_doubles(WmlcArena *arena, size_t count)
{
	return wmlc_arena_take(arena, count, sizeof(double));
}

#endif							/* WMLC_ARENA_H */
