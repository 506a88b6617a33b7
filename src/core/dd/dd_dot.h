/*
 * dd_dot.h
 *	  Dot products of double-double vectors, the inner loops of all dense linear
 *	  algebra on grams.
 *
 * Vectors keep their hi and lo parts in two separate arrays, as grams do, so
 * that both stream through vector registers.
 */
#ifndef WMLC_DD_DOT_H
#define WMLC_DD_DOT_H

#include <stddef.h>

#include "core/base/arena.h"
#include "core/dd/dd.h"

/* A run of double-doubles: element i is hi[i] + lo[i]. */
typedef struct WmlcDdSpan
{
	double	   *hi;
	double	   *lo;
} WmlcDdSpan;

typedef struct WmlcDdLoops
{
	/* sum of x_i y_i, accumulated with about 106 bits */
	WmlcDd		(*dot) (int n, WmlcDdSpan x, WmlcDdSpan y);

	/*
	 * b - sum of x_i y_i, accumulated with about 159 bits and rounded to
	 * double-double once, at the end
	 */
	WmlcDd		(*residual) (WmlcDd b, int n, WmlcDdSpan x, WmlcDdSpan y);
} WmlcDdLoops;

/* Portable C; the fast loops answer the same bits. */
extern const WmlcDdLoops wmlc_dd_loops_plain;

/* The fastest loops this processor runs. */
extern const WmlcDdLoops *wmlc_dd_loops(void);

static inline WmlcDdSpan
wmlc_dd_from(WmlcDdSpan x, size_t first)
{
	return (WmlcDdSpan) {x.hi + first, x.lo + first};
}

static inline WmlcDdSpan
wmlc_arena_span(WmlcArena *arena, size_t count)
{
	double	   *hi = wmlc_arena_doubles(arena, count);

	return (WmlcDdSpan) {hi, wmlc_arena_doubles(arena, count)};
}

static inline WmlcDd
wmlc_dd_get(WmlcDdSpan x, size_t i)
{
	return (WmlcDd) {x.hi[i], x.lo[i]};
}

static inline void
wmlc_dd_set(WmlcDdSpan x, size_t i, WmlcDd value)
{
	x.hi[i] = value.hi;
	x.lo[i] = value.lo;
}

#endif							/* WMLC_DD_DOT_H */
