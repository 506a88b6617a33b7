/*
 * kernel_points.c
 *	  Points from a kernel matrix, so that own kernels use the weight solver.
 *
 * A symmetric positive semidefinite K is the matrix of inner products of some
 * points; Cholesky's factor K = U'U has them as its columns.  Diagonal
 * pivoting makes this stable for singular K and finds the rank, and what it
 * leaves over tells whether K was semidefinite at all (Higham, Accuracy and
 * Stability of Numerical Algorithms, section 10.3).  A check of this kind
 * costs as much as the factor, so nothing is saved by working on K itself.
 *
 * Everything is relative to sqrt(K_ii K_jj), as the method's own error is:
 * rows of small size keep their digits beside rows of large size.  LAPACK's
 * dpstrf compares pivots with one number instead, knows nothing of equal points
 * and checks nothing; for 300 points of rank 66 it takes 1.4 us a point, and all
 * of this 2.5 us (test/bench/bench_loops.c).
 */
#include <string.h>

#include "core/linalg/tolerance.h"
#include "core/simplex/simplex_internal.h"
#include "core/weights/kernel_points.h"

/* What may be left over, relative to sqrt(K_ii K_jj), of a semidefinite K. */
#define LEFT_OVER 1e-11

typedef struct Factor
{
	const double *kernel;
	size_t		count;
	double	   *points;
	size_t		dims;			/* coordinates so far */
	double	   *residual;		/* K_jj - |u_j|^2 */
	size_t	   *open;			/* points that were no pivots yet, in order */
	size_t		open_count;
	size_t	   *twin;			/* the first point with the same row */
	double	   *inner;			/* scratch */
} Factor;

static void
lay_out(Factor *factor, size_t count, WmlcArena *arena)
{
	factor->residual = wmlc_arena_doubles(arena, count);
	factor->inner = wmlc_arena_doubles(arena, count);
	factor->open = wmlc_arena_take(arena, count, sizeof(size_t));
	factor->twin = wmlc_arena_take(arena, count, sizeof(size_t));
}

size_t
wmlc_kernel_points_workspace(size_t count)
{
	WmlcArena	arena = {NULL, 0};
	Factor		factor;

	lay_out(&factor, count, &arena);
	return arena.used;
}

static double
entry(const Factor *factor, size_t i, size_t j)
{
	return factor->kernel[i * factor->count + j];
}

/* Finite throughout, and no negative diagonal */
static WmlcStatus
check_entries(const Factor *factor, WmlcPoll poll)
{
	for (size_t i = 0; i < factor->count; i++)
	{
		for (size_t j = 0; j < factor->count; j++)
		{
			if (!isfinite(entry(factor, i, j)))
				return WMLC_NOT_FINITE;
		}
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	for (size_t i = 0; i < factor->count; i++)
	{
		if (entry(factor, i, i) < 0.0)
			return WMLC_NOT_POSITIVE;
	}
	return WMLC_OK;
}

/*
 * Equal rows are equal points.  They are set aside, so that rounding does not
 * make a difference between them.
 */
static WmlcStatus
find_twins(Factor *factor, WmlcPoll poll)
{
	size_t		row = factor->count * sizeof(double);

	factor->open_count = 0;
	for (size_t j = 0; j < factor->count; j++)
	{
		double		square = entry(factor, j, j);

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;

		factor->twin[j] = j;
		for (size_t k = 0; k < factor->open_count && factor->twin[j] == j; k++)
		{
			size_t		i = factor->open[k];

			if (entry(factor, j, i) == square && entry(factor, i, i) == square &&
				memcmp(factor->kernel + i * factor->count, factor->kernel + j * factor->count, row) == 0)
				factor->twin[j] = i;
		}
		if (factor->twin[j] == j)
			factor->open[factor->open_count++] = j;
	}
	return WMLC_OK;
}

/* The open point with most left over, by position; open_count for none. */
static size_t
find_pivot(const Factor *factor)
{
	double		rounding = wmlc_zero_pivot_double((double) factor->count);
	size_t		pivot = factor->open_count;
	double		most = 0.0;

	for (size_t k = 0; k < factor->open_count; k++)
	{
		size_t		j = factor->open[k];

		if (factor->residual[j] > rounding * entry(factor, j, j) && factor->residual[j] > most)
		{
			pivot = k;
			most = factor->residual[j];
		}
	}
	return pivot;
}

/* The next coordinate of all open points, along the pivot's remaining part. */
static void
add_coordinate(Factor *factor, size_t position)
{
	size_t		pivot = factor->open[position];
	double		root = sqrt(factor->residual[pivot]);

	wmlc_dots(factor->points, factor->count, factor->dims, factor->open, 0, factor->open_count,
			  factor->points + pivot * factor->count, factor->inner);
	for (size_t k = 0; k < factor->open_count; k++)
	{
		size_t		j = factor->open[k];
		double		coordinate = (entry(factor, pivot, j) - factor->inner[k]) / root;

		factor->points[j * factor->count + factor->dims] = coordinate;
		factor->residual[j] -= coordinate * coordinate;
	}
	factor->open_count--;
	memmove(factor->open + position, factor->open + position + 1,
			(factor->open_count - position) * sizeof(size_t));
	factor->dims++;
}

/* Is everything that the points do not explain rounding? */
static WmlcStatus
check_left_over(const Factor *factor, WmlcPoll poll)
{
	for (size_t k = 0; k < factor->open_count; k++)
	{
		size_t		i = factor->open[k];

		wmlc_dots(factor->points, factor->count, factor->dims, factor->open, 0, k + 1,
				  factor->points + i * factor->count, factor->inner);
		for (size_t l = 0; l <= k; l++)
		{
			size_t		j = factor->open[l];
			double		tolerance = LEFT_OVER * sqrt(entry(factor, i, i)) * sqrt(entry(factor, j, j));

			if (!(fabs(entry(factor, i, j) - factor->inner[l]) <= tolerance))
				return WMLC_NOT_POSITIVE;
		}
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_kernel_points(const double *kernel, size_t count, double *points, size_t *dims, void *work,
				   WmlcPoll poll)
{
	Factor		factor = {.kernel = kernel, .count = count, .points = points};
	WmlcArena	arena = {work, 0};
	size_t		position;
	WmlcStatus	status;

	lay_out(&factor, count, &arena);
	status = check_entries(&factor, poll);
	if (status != WMLC_OK)
		return status;
	for (size_t j = 0; j < count; j++)
		factor.residual[j] = entry(&factor, j, j);
	status = find_twins(&factor, poll);
	for (size_t j = 0; j < count && status == WMLC_OK; j++)
	{
		memset(points + j * count, 0, count * sizeof(double));
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	if (status != WMLC_OK)
		return status;

	while ((position = find_pivot(&factor)) < factor.open_count)
	{
		add_coordinate(&factor, position);
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	status = check_left_over(&factor, poll);
	for (size_t j = 0; j < count; j++)
	{
		if (factor.twin[j] != j)
			memcpy(points + j * count, points + factor.twin[j] * count, count * sizeof(double));
	}
	*dims = factor.dims;
	return status;
}
