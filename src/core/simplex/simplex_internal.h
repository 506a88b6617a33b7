/*
 * simplex_internal.h
 *	  What the files of the weight solver share: the scaled view of the points
 *	  and the loops over them.  Not for callers; they use simplex.h.
 */
#ifndef WMLC_SIMPLEX_INTERNAL_H
#define WMLC_SIMPLEX_INTERNAL_H

#include <float.h>
#include <math.h>

#include "core/base/arena.h"
#include "core/simplex/simplex.h"

/* Points are visited in chunks small enough for a buffer on the stack. */
#define WMLC_CHUNK 256

/*
 * The points, with a power of two that brings the longest to a length between
 * 1 and 2, so that no square overflows or underflows.  It is kept as two
 * factors because its full range does not fit one double; the points
 * themselves are never copied.  Every quantity below is in scaled units.
 */
typedef struct WmlcPoints
{
	const double *at;
	size_t		count;
	size_t		dims;
	size_t		stride;
	double		scale1;
	double		scale2;
	double	   *norm;			/* Euclidean length of every point */
	double		longest;
	size_t		nearest;		/* the shortest, the first of equals */
	double		noise;			/* rounding of an inner product, relative to the lengths */
	double		ridge;			/* scaled, and no larger than makes a difference */
	double		given_ridge;	/* as the caller has it */
} WmlcPoints;

/* Where the active-set method ended; pointers into its workspace. */
typedef struct WmlcNearest
{
	bool		complete;		/* false: the support outgrew the room for it */
	size_t		support;
	const size_t *point;		/* the support's points */
	const double *x;			/* sum_j alpha_j e_j */
	double		objective;
	double		lowest;			/* of the prices g_j, or less */
	int			steps;
	double		passes;			/* points priced in full passes, in units of J */
} WmlcNearest;

/* fmin and fmax without their care for NaN, which costs a call */
static inline double
wmlc_min(double a, double b)
{
	return a < b ? a : b;
}

static inline double
wmlc_max(double a, double b)
{
	return a > b ? a : b;
}

static inline const double *
wmlc_point(const WmlcPoints *points, size_t j)
{
	return points->at + j * points->stride;
}

/* out[k] = p_k . z for the points list[k], or first + k where list is NULL */
extern void wmlc_dots(const double *at, size_t stride, size_t dims,
					  const size_t *list, size_t first, size_t count,
					  const double *z, double *out);

/* out[k] = p_k . p_k, likewise */
extern void wmlc_squares(const double *at, size_t stride, size_t dims,
						 size_t first, size_t count, double *out);

/* sum += sum_k weight[k] p_k, likewise */
extern void wmlc_combine(const double *at, size_t stride, size_t dims,
						 const size_t *list, size_t first, size_t count,
						 const double *weight, double *sum);

/*
 * The lower triangle of the stride x stride matrix += sum of a_k a_k', for
 * count columns a_k of stride numbers: dims, rounded up to whole tiles
 */
#define WMLC_SCATTER_TILE 8

static inline size_t
wmlc_scatter_stride(size_t dims)
{
	return (dims + WMLC_SCATTER_TILE - 1) / WMLC_SCATTER_TILE * WMLC_SCATTER_TILE;
}

extern void wmlc_scatter(const double *columns, size_t stride, size_t count, double *matrix);

static inline double
wmlc_dot(const double *a, const double *b, size_t dims)
{
	double		out;

	wmlc_dots(a, 0, dims, NULL, 0, 1, b, &out);
	return out;
}

/* |p|, whatever its size; NaN where an entry is not finite. */
extern double wmlc_length(const double *p, size_t dims);

/* The active-set method: simplex_nearest.c */
extern size_t wmlc_nearest_workspace(size_t count, size_t dims, double ridge);
extern WmlcStatus wmlc_nearest(const WmlcPoints *points, double ridge, double *price, double *alpha,
							   WmlcNearest *nearest, WmlcArena arena, WmlcPoll poll);

/* Newton's method, at most so many steps from a start for x: simplex_ridge.c */
extern size_t wmlc_ridge_workspace(size_t count, size_t dims);
extern WmlcStatus wmlc_ridge(const WmlcPoints *points, const double *start, int most, double *slack,
							 double *alpha, bool *settled, WmlcArena arena, WmlcPoll poll);

#endif							/* WMLC_SIMPLEX_INTERNAL_H */
