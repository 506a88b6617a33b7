/*
 * reduce_points.c
 *	  Points of many dimensions as points of no more dimensions than there are
 *	  points: all that the weights depend on are their inner products.
 *
 * The points' common scale is taken out first, so that no product overflows.
 */
#include "core/weights/reduce_points.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/simplex/simplex_internal.h"
#include "core/weights/kernel_points.h"

/* Coordinates of all points that are multiplied at a time; of very many points, fewer, to be able to stop. */
#define MOST_COLUMNS 64
#define FEWEST_COLUMNS 8
#define MANY_POINTS 2048

/* Points that are turned into columns at a time: a line of the cache. */
#define TOGETHER 8

/* Of the unit: 2^1000 and its inverse are both far from overflow. */
#define MOST_EXPONENT 1000

typedef struct Reduction
{
	size_t		stride;			/* count, as wmlc_scatter wants it */
	double	   *products;		/* inner products, stride x stride */
	double	   *columns;		/* coordinates of all points, stride for each */
	void	   *rest;
} Reduction;

static void
lay_out(Reduction *reduction, size_t count, WmlcArena *arena)
{
	reduction->stride = wmlc_scatter_stride(count);
	reduction->products = wmlc_arena_doubles(arena, reduction->stride * reduction->stride);
	reduction->columns = wmlc_arena_doubles(arena, MOST_COLUMNS * reduction->stride);
	reduction->rest = wmlc_arena_take(arena, wmlc_kernel_points_workspace(count), 1);
}

size_t
wmlc_reduce_points_workspace(size_t count)
{
	WmlcArena	arena = {NULL, 0};
	Reduction	reduction;

	lay_out(&reduction, count, &arena);
	return arena.used;
}

static int
clamp(int exponent)
{
	return exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent;
}

/*
 * A power of two that brings the longest point to a length of about 1; 0 where
 * there is none.
 */
static double
find_unit(const WmlcSimplex *problem)
{
	double		longest = 0.0;

	for (size_t j = 0; j < problem->count; j++)
	{
		double		length = wmlc_length(problem->points + j * problem->stride, problem->dims);

		if (!isfinite(length))
			return 0.0;
		longest = wmlc_max(longest, length);
	}
	return longest == 0.0 ? 1.0 : ldexp(1.0, -clamp(ilogb(longest)));
}

/* n coordinates of a few points, as columns; constant bounds let the compiler unroll. */
static inline __attribute__((always_inline)) void
turn(const double *points, size_t point_stride, size_t count, size_t n, double unit, double *columns, size_t stride)
{
	for (size_t k = 0; k < n; k++)
	{
#pragma GCC unroll 8
		for (size_t i = 0; i < count; i++)
			columns[k * stride + i] = points[i * point_stride + k] * unit;
	}
}

/* The lower triangle of the inner products. */
static WmlcStatus
find_products(const Reduction *reduction, const WmlcSimplex *problem, double unit, WmlcPoll poll)
{
	size_t		stride = reduction->stride;
	size_t		most = problem->count > MANY_POINTS ? FEWEST_COLUMNS : MOST_COLUMNS;

	memset(reduction->products, 0, stride * stride * sizeof(double));
	memset(reduction->columns, 0, MOST_COLUMNS * stride * sizeof(double));
	for (size_t first = 0; first < problem->dims; first += most)
	{
		size_t		n = wmlc_smaller(problem->dims - first, most);

		for (size_t j = 0; j < problem->count; j += TOGETHER)
		{
			const double *points = problem->points + j * problem->stride + first;

			if (problem->count - j >= TOGETHER)
				turn(points, problem->stride, TOGETHER, n, unit, reduction->columns + j, stride);
			else
				turn(points, problem->stride, problem->count - j, n, unit, reduction->columns + j, stride);
		}
		wmlc_scatter(reduction->columns, stride, n, reduction->products);
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* Both triangles, without padding; row i never reaches into what is unread. */
static void
fill_kernel(double *products, size_t stride, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memmove(products + i * count, products + i * stride, (i + 1) * sizeof(double));
	for (size_t i = 0; i < count; i++)
	{
		for (size_t j = 0; j < i; j++)
			products[j * count + i] = products[i * count + j];
	}
}

WmlcStatus
wmlc_reduce_points(WmlcSimplex *problem, double *reduced, void *work, WmlcPoll poll)
{
	size_t		count = problem->count;
	WmlcArena	arena = {work, 0};
	Reduction	reduction;
	double		unit = find_unit(problem);
	WmlcStatus	status = unit > 0.0 ? WMLC_OK : WMLC_NOT_FINITE;

	lay_out(&reduction, count, &arena);
	if (status == WMLC_OK)
		status = find_products(&reduction, problem, unit, poll);
	if (status != WMLC_OK)
		return status;
	fill_kernel(reduction.products, reduction.stride, count);
	status = wmlc_kernel_points(reduction.products, count, reduced, &problem->dims, reduction.rest, poll);
	for (size_t i = 0; i < count * count; i++)
		reduced[i] *= 1.0 / unit;
	problem->points = reduced;
	problem->stride = count;

	/* inner products of finite points are never indefinite */
	return status == WMLC_NOT_POSITIVE ? WMLC_NOT_FINITE : status;
}
