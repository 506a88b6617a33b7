/*
 * simplex.c
 *	  The weight solver's entry points: look at the points once, choose the
 *	  method, certify the answer.  The methods are in simplex_nearest.c and,
 *	  with a ridge, simplex_ridge.c.
 */
#include <string.h>

#include "core/simplex/simplex_internal.h"

/* Squares between these bounds have neither overflowed nor lost digits. */
#define SMALL_SQUARE 0x1p-900
#define LARGE_SQUARE 0x1p1000

/* A ridge this far above the largest squared distance means equal weights. */
#define LARGE_RIDGE 0x1p200

/* Steps of Newton's method: usual are 2 to 8, and hundreds have been seen. */
#define FEW_STEPS 12
#define MANY_STEPS 10000

/* What the solver keeps beside the workspace of its methods. */
typedef struct Memory
{
	double	   *norm;			/* of every point */
	double	   *price;
	size_t	   *point;			/* the support without a ridge */
	double	   *weight;			/* and its weights */
	double	   *start;			/* where Newton's method starts */
} Memory;

static void
lay_out(Memory *memory, size_t count, size_t dims, WmlcArena *arena)
{
	memory->norm = wmlc_arena_doubles(arena, count);
	memory->price = wmlc_arena_doubles(arena, count);
	memory->point = wmlc_arena_take(arena, dims + 1, sizeof(size_t));
	memory->weight = wmlc_arena_doubles(arena, dims + 1);
	memory->start = wmlc_arena_doubles(arena, dims + 1);
}

size_t
wmlc_simplex_workspace(size_t count, size_t dims, double ridge)
{
	size_t		nearest = wmlc_nearest_workspace(count, dims, ridge);
	size_t		newton = ridge > 0.0 ? wmlc_ridge_workspace(count, dims) : 0;
	WmlcArena	arena = {NULL, 0};
	Memory		memory;

	lay_out(&memory, count, dims, &arena);
	return arena.used + (nearest > newton ? nearest : newton);
}

/* The length of a vector whose squares leave the range of a double. */
static double
careful_norm(const double *p, size_t dims)
{
	double		largest = 0.0;
	double		sum = 0.0;
	int			exponent;

	for (size_t i = 0; i < dims; i++)
	{
		if (!isfinite(p[i]))
			return NAN;
		largest = fmax(largest, fabs(p[i]));
	}
	if (largest == 0.0)
		return 0.0;
	frexp(largest, &exponent);
	for (size_t i = 0; i < dims; i++)
	{
		double		scaled = ldexp(p[i], -exponent);

		sum += scaled * scaled;
	}
	return ldexp(sqrt(sum), exponent);
}

double
wmlc_length(const double *p, size_t dims)
{
	double		square = wmlc_dot(p, p, dims);

	return square >= SMALL_SQUARE && square <= LARGE_SQUARE ? sqrt(square) : careful_norm(p, dims);
}

/* Lengths of all points, and the scale that follows from the longest. */
static WmlcStatus
scan(WmlcPoints *points, WmlcPoll poll)
{
	int			exponent = 0;

	points->longest = 0.0;
	points->nearest = 0;
	for (size_t j = 0; j < points->count; j += WMLC_CHUNK)
	{
		size_t		n = wmlc_smaller(points->count - j, WMLC_CHUNK);

		wmlc_squares(points->at, points->stride, points->dims, j, n, points->norm + j);
		for (size_t k = j; k < j + n; k++)
		{
			double		square = points->norm[k];

			if (square >= SMALL_SQUARE && square <= LARGE_SQUARE)
				points->norm[k] = sqrt(square);
			else
				points->norm[k] = careful_norm(wmlc_point(points, k), points->dims);
			if (!isfinite(points->norm[k]))
				return WMLC_NOT_FINITE;
			if (points->norm[k] < points->norm[points->nearest])
				points->nearest = k;
			points->longest = wmlc_max(points->longest, points->norm[k]);
		}
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	if (points->longest > 0.0)
		exponent = -ilogb(points->longest);
	points->scale1 = ldexp(1.0, exponent / 2);
	points->scale2 = ldexp(1.0, exponent - exponent / 2);
	points->longest = points->longest * points->scale1 * points->scale2;
	for (size_t j = 0; j < points->count; j++)
		points->norm[j] = points->norm[j] * points->scale1 * points->scale2;
	return WMLC_OK;
}

/* Squares and ridges between the caller's units and the scaled ones. */
static double
scaled_square(const WmlcPoints *points, double value)
{
	return value * points->scale1 * points->scale2 * points->scale1 * points->scale2;
}

static double
unscaled_square(const WmlcPoints *points, double value)
{
	return value / points->scale1 / points->scale2 / points->scale1 / points->scale2;
}

static WmlcStatus
prepare(const WmlcSimplex *problem, WmlcPoints *points, double *norm, WmlcPoll poll)
{
	WmlcStatus	status;

	if (problem->count == 0)
		return WMLC_EMPTY;
	if (problem->stride < problem->dims)
		return WMLC_DIMENSION_MISMATCH;
	if (problem->ridge < 0.0)
		return WMLC_OUT_OF_RANGE;
	if (!isfinite(problem->ridge))
		return WMLC_NOT_FINITE;
	points->at = problem->points;
	points->count = problem->count;
	points->dims = problem->dims;
	points->stride = problem->stride;

	/* Summed in 16 lanes, errors grow slowly; twice this is the usual gap. */
	points->noise = (8.0 + 0.25 * sqrt((double) problem->dims)) * DBL_EPSILON;
	points->norm = norm;
	points->given_ridge = problem->ridge;
	status = scan(points, poll);
	if (status == WMLC_OK)
		points->ridge = fmin(scaled_square(points, problem->ridge), LARGE_RIDGE);
	return status;
}

/* From x.x, |alpha|^2 and the lowest price, all scaled. */
static void
fill_report(WmlcSimplexReport *report, const WmlcPoints *points, double x_square, double alpha_square,
			double lowest)
{
	double		ridge = points->ridge;
	double		largest = points->longest * points->longest;
	double		gap = 2.0 * fmax(0.0, x_square + ridge * alpha_square - lowest);

	report->relative_gap = gap > 0.0 ? gap / (largest + ridge) : 0.0;
	report->largest = unscaled_square(points, largest);
	report->objective = unscaled_square(points, x_square) + points->given_ridge * alpha_square;
	report->gap = ridge < LARGE_RIDGE ?
		unscaled_square(points, gap) : points->given_ridge * report->relative_gap;
}

/* The certificate from x alone; see simplex.h */
static WmlcStatus
certify(const WmlcPoints *points, const double *alpha, WmlcSimplexReport *report, WmlcArena arena,
		WmlcPoll poll)
{
	double	   *x = wmlc_arena_doubles(&arena, points->dims);
	double	   *z = wmlc_arena_doubles(&arena, points->dims);
	double		square = 0.0;
	double		lowest = INFINITY;
	double		x_square;
	double		buffer[WMLC_CHUNK];

	report->support = 0;
	memset(x, 0, points->dims * sizeof(double));
	for (size_t j = 0; j < points->count; j += WMLC_CHUNK)
	{
		size_t		n = wmlc_smaller(points->count - j, WMLC_CHUNK);

		for (size_t k = 0; k < n; k++)
		{
			buffer[k] = alpha[j + k] * points->scale1;
			square += alpha[j + k] * alpha[j + k];
			report->support += alpha[j + k] != 0.0;
		}
		wmlc_combine(points->at, points->stride, points->dims, NULL, j, n, buffer, x);
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	for (size_t i = 0; i < points->dims; i++)
	{
		x[i] *= points->scale2;
		z[i] = x[i] * points->scale1;
	}
	for (size_t j = 0; j < points->count; j += WMLC_CHUNK)
	{
		size_t		n = wmlc_smaller(points->count - j, WMLC_CHUNK);

		wmlc_dots(points->at, points->stride, points->dims, NULL, j, n, z, buffer);
		for (size_t k = 0; k < n; k++)
			lowest = wmlc_min(lowest, buffer[k] * points->scale2 + points->ridge * alpha[j + k]);
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	x_square = wmlc_dot(x, x, points->dims);
	if (!isfinite(x_square + square))
		return WMLC_NOT_FINITE;
	fill_report(report, points, x_square, square, lowest);
	return WMLC_OK;
}

WmlcStatus
wmlc_simplex_gap(const WmlcSimplex *problem, const double *alpha, WmlcSimplexReport *report,
				 void *work, WmlcPoll poll)
{
	WmlcPoints	points;
	WmlcArena	arena = {work, 0};
	Memory		memory;
	WmlcStatus	status;

	memset(report, 0, sizeof(*report));
	lay_out(&memory, problem->count, problem->dims, &arena);
	status = prepare(problem, &points, memory.norm, poll);
	if (status == WMLC_OK)
		status = certify(&points, alpha, report, arena, poll);
	return status;
}

/*
 * With a ridge: a few steps of Newton's method from the answer without.  If
 * they do not settle it, the support is usually small and the active-set
 * method better; if the support outgrows that, as many steps as it takes.
 */
static WmlcStatus
solve_ridge(const WmlcPoints *points, const Memory *memory, double *alpha, WmlcArena arena,
			WmlcPoll poll)
{
	double	   *start = memory->start;
	double	   *price = memory->price;
	WmlcNearest nearest;
	bool		settled;
	WmlcStatus	status = wmlc_ridge(points, start, FEW_STEPS, price, alpha, &settled, arena, poll);

	if (status != WMLC_OK || settled)
		return status;
	status = wmlc_nearest(points, points->ridge, price, alpha, &nearest, arena, poll);
	if (status != WMLC_OK || nearest.complete)
		return status;
	memcpy(start, nearest.x, points->dims * sizeof(double));
	return wmlc_ridge(points, start, MANY_STEPS, price, alpha, &settled, arena, poll);
}

WmlcStatus
wmlc_simplex_solve(const WmlcSimplex *problem, double *alpha, WmlcSimplexReport *report,
				   void *work, WmlcPoll poll)
{
	WmlcPoints	points;
	WmlcNearest nearest;
	WmlcArena	arena = {work, 0};
	Memory		memory;
	double		square = 0.0;
	WmlcStatus	status;

	memset(report, 0, sizeof(*report));
	lay_out(&memory, problem->count, problem->dims, &arena);
	status = prepare(problem, &points, memory.norm, poll);
	if (status != WMLC_OK)
		return status;
	status = wmlc_nearest(&points, 0.0, memory.price, alpha, &nearest, arena, poll);
	if (status != WMLC_OK)
		return status;
	report->support = nearest.support;
	for (size_t i = 0; i < nearest.support; i++)
	{
		memory.point[i] = nearest.point[i];
		memory.weight[i] = alpha[nearest.point[i]];
		square += memory.weight[i] * memory.weight[i];
	}
	fill_report(report, &points, nearest.objective, square, nearest.lowest);
	if (points.ridge > 0.0)
	{
		WmlcSimplexReport without = *report;

		memcpy(memory.start, nearest.x, points.dims * sizeof(double));
		status = solve_ridge(&points, &memory, alpha, arena, poll);
		if (status == WMLC_OK)
			status = certify(&points, alpha, report, arena, poll);
		if (status != WMLC_OK)
			return status;

		/* A ridge below rounding can do worse than none. */
		if (!(report->relative_gap <= without.relative_gap))
		{
			memset(alpha, 0, points.count * sizeof(double));
			for (size_t i = 0; i < without.support; i++)
				alpha[memory.point[i]] = memory.weight[i];
			*report = without;
		}
	}
	report->steps = nearest.steps;
	report->passes = nearest.passes;
	return report->relative_gap <= WMLC_SIMPLEX_GAP ? WMLC_OK : WMLC_NO_CONVERGENCE;
}
