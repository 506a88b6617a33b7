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
#include <stdint.h>

/* Every piece starts this many bytes after another: a line of the cache. */
#define WMLC_ARENA_UNIT 64

typedef struct WmlcArena
{
	char	   *base;
	size_t		used;
} WmlcArena;

static inline void *
wmlc_arena_take(WmlcArena *arena, size_t count, size_t size)
{
	void	   *taken = arena->base == NULL ? NULL : arena->base + arena->used;

	arena->used += (count * size + WMLC_ARENA_UNIT - 1) / WMLC_ARENA_UNIT * WMLC_ARENA_UNIT;
	return taken;
}

static inline double *
wmlc_arena_doubles(WmlcArena *arena, size_t count)
{
	return wmlc_arena_take(arena, count, sizeof(double));
}

/*
 * For loops that want their pieces at the start of a line: the caller's block
 * may begin anywhere, and must be larger by what is skipped.
 */
static inline WmlcArena
wmlc_arena_aligned(void *work)
{
	size_t		beyond = (uintptr_t) work % WMLC_ARENA_UNIT;

	return (WmlcArena) {(char *) work + (beyond == 0 ? 0 : WMLC_ARENA_UNIT - beyond), 0};
}

static inline size_t
wmlc_arena_aligned_size(const WmlcArena *arena)
{
	return arena->used + WMLC_ARENA_UNIT - 1;
}

/* What suffices for either of two uses, and for both of two limits. */
static inline size_t
wmlc_larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static inline size_t
wmlc_smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

#endif							/* WMLC_ARENA_H */
