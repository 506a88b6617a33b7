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

/* Coordinates of all points that are multiplied at a time, so that they stay in a cache. */
#define DIMS_AT_A_TIME 256

/* Of the unit: 2^1000 and its inverse are both far from overflow. */
#define MOST_EXPONENT 1000

size_t
wmlc_reduce_points_workspace(size_t count)
{
	WmlcArena	arena = {NULL, 0};

	wmlc_arena_doubles(&arena, count * count);
	wmlc_arena_doubles(&arena, count);
	wmlc_arena_take(&arena, wmlc_kernel_points_workspace(count), 1);
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

/* products[i, j] += inner products over some of the coordinates, j <= i */
static WmlcStatus
add_products(const WmlcSimplex *problem, size_t first, size_t dims, double unit, double *inner,
			 double *products, WmlcPoll poll)
{
	const double *points = problem->points + first;
	double		scaled[DIMS_AT_A_TIME];

	for (size_t i = 0; i < problem->count; i++)
	{
		double	   *row = products + i * problem->count;

		for (size_t k = 0; k < dims; k++)
			scaled[k] = points[i * problem->stride + k] * unit;
		wmlc_dots(points, problem->stride, dims, NULL, 0, i + 1, scaled, inner);
		for (size_t j = 0; j <= i; j++)
			row[j] += inner[j] * unit;
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_reduce_points(WmlcSimplex *problem, double *reduced, void *work, WmlcPoll poll)
{
	size_t		count = problem->count;
	WmlcArena	arena = {work, 0};
	double	   *products = wmlc_arena_doubles(&arena, count * count);
	double	   *inner = wmlc_arena_doubles(&arena, count);
	void	   *rest = wmlc_arena_take(&arena, wmlc_kernel_points_workspace(count), 1);
	double		unit = find_unit(problem);
	WmlcStatus	status = unit > 0.0 ? WMLC_OK : WMLC_NOT_FINITE;

	memset(products, 0, count * count * sizeof(double));
	for (size_t k = 0; k < problem->dims && status == WMLC_OK; k += DIMS_AT_A_TIME)
		status = add_products(problem, k, wmlc_smaller(problem->dims - k, DIMS_AT_A_TIME), unit,
							  inner, products, poll);
	if (status != WMLC_OK)
		return status;
	for (size_t i = 0; i < count; i++)
	{
		for (size_t j = 0; j < i; j++)
			products[j * count + i] = products[i * count + j];
	}
	status = wmlc_kernel_points(products, count, reduced, &problem->dims, rest, poll);
	for (size_t i = 0; i < count * count; i++)
		reduced[i] /= unit;
	problem->points = reduced;
	problem->stride = count;

	/* inner products of finite points are never indefinite */
	return status == WMLC_NOT_POSITIVE ? WMLC_NOT_FINITE : status;
}
