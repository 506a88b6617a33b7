/*
 * simplex_ridge.c
 *	  Weights with a ridge: a semismooth Newton method on the dual.
 *
 * Stationarity of |x|^2 + r |alpha|^2 over the simplex, x = sum_j alpha_j e_j,
 * says alpha_j = max(0, slack_j) / r with slack_j = mu - e_j.x.  So (u, mu)
 * in D + 1 dimensions, with u for x, determine all J weights; they minimise
 * the dual, a convex, once differentiable, piecewise quadratic function
 *
 *		psi(u, mu) = |u|^2 / 2 + sum_j max(0, mu - e_j.u)^2 / (2 r) - mu
 *
 * whose gradient is u - x(alpha) and sum(alpha) - 1.  For a given u the best
 * mu follows from the slacks alone.  With A the points of the support as
 * columns, less their mean m, the Newton step in u is
 *
 *		du = -r (r I + A A')^-1 (u - x)
 *
 * by a D x D matrix, or by Woodbury's identity |S| x |S|, whichever is
 * smaller.  It is exact once the support is right; a line search on psi makes
 * the method converge from anywhere (Qi and Sun, Mathematical Programming 58,
 * 1993).  From the answer without ridge it takes a handful of steps.
 *
 * The exception are small ridges where that answer is at or near the origin
 * (the target is one of the sources): the steps are then many and short, up
 * to hundreds.
 */
#include <string.h>

#include "core/dd/dd.h"
#include "core/linalg/definite.h"
#include "core/simplex/simplex_internal.h"

/* Columns of A taken at a time; with 66 dimensions they fit the first cache. */
#define COLUMNS 64

/* The part of x that may remain unexplained, in units of its rounding. */
#define SETTLED 64.0

/* Slope, relative to the first, at which a line search is done. */
#define FLAT 0.1

typedef struct Dual
{
	const WmlcPoints *points;
	double		ridge;
	double	   *u;
	double	   *slack;			/* J: mu - e_j.u */
	double	   *change;			/* J: what a step adds to it */
	bool	   *member;			/* J: is the point in the support, its slack positive? */
	size_t		support;		/* how many are */
	bool		changed;		/* did the last step change the support? */
	bool		factored;		/* are mean and matrix those of the support? */
	double	   *x;				/* sum of alpha_j e_j */
	double		spread;			/* sum of weight times length: rounding of x */
	double	   *gradient;		/* u - x */
	double	   *du;
	double	   *mean;			/* m, of the support's points */
	double	   *columns;		/* A, or a chunk of it */
	size_t		stride;			/* of columns: dims, padded with zeros */
	double	   *matrix;			/* r I + A A' or r I + A'A, as L L', rows contiguous */
	size_t		order;			/* of that matrix: dims or |S| */
	size_t		row;			/* its row length */
	double	   *gain;			/* as many numbers as a small support has points */
	double	   *scratch;
	WmlcPoll	poll;
} Dual;

static inline double
positive(double a)
{
	return wmlc_max(0.0, a);
}

/* Columns of A held at a time: a chunk, or all of a small support. */
static size_t
columns_capacity(size_t count, size_t dims)
{
	size_t		most = wmlc_smaller(count, dims);

	return most < COLUMNS ? COLUMNS : most;
}

static void
lay_out(Dual *dual, size_t count, size_t dims, WmlcArena *arena)
{
	dual->member = wmlc_arena_take(arena, count, sizeof(bool));
	dual->u = wmlc_arena_doubles(arena, dims);
	dual->x = wmlc_arena_doubles(arena, dims);
	dual->gradient = wmlc_arena_doubles(arena, dims);
	dual->du = wmlc_arena_doubles(arena, dims);
	dual->mean = wmlc_arena_doubles(arena, dims);
	dual->gain = wmlc_arena_doubles(arena, dims);
	dual->scratch = wmlc_arena_doubles(arena, dims);
	dual->stride = wmlc_scatter_stride(dims);
	dual->matrix = wmlc_arena_doubles(arena, dual->stride * dual->stride);
	dual->columns = wmlc_arena_doubles(arena, columns_capacity(count, dims) * dual->stride);
}

size_t
wmlc_ridge_workspace(size_t count, size_t dims)
{
	WmlcArena	arena = {NULL, 0};
	Dual		dual;

	lay_out(&dual, count, dims, &arena);
	return arena.used;
}

/* ---------- slacks ---------- */

/* out_j = -e_j.v for every point */
static WmlcStatus
slopes(const Dual *dual, const double *v, double *out)
{
	const WmlcPoints *points = dual->points;

	for (size_t i = 0; i < points->dims; i++)
		dual->scratch[i] = -v[i] * points->scale1;
	for (size_t j = 0; j < points->count; j += WMLC_CHUNK)
	{
		size_t		n = wmlc_smaller(points->count - j, WMLC_CHUNK);

		wmlc_dots(points->at, points->stride, points->dims, NULL, j, n, dual->scratch, out + j);
		for (size_t k = 0; k < n; k++)
			out[j + k] *= points->scale2;
		if (wmlc_interrupted(dual->poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/*
 * Add a constant to all slacks so that their positive parts sum to the ridge:
 * the best mu for the current u.  It is the root of a convex, increasing,
 * piecewise linear function, and Newton's method comes down to it from above
 * in a few steps.  Small slacks keep their digits: a sum that is right to
 * rounding is left alone, and only slacks that are far off are first counted
 * from the highest.
 */
static void
level(Dual *dual)
{
	size_t		count = dual->points->count;
	double	   *slack = dual->slack;
	double		ridge = dual->ridge;
	double		highest = -INFINITY;
	double		sum = 0.0;
	double		support = 0.0;
	double		shift = INFINITY;
	double		next;

	for (size_t j = 0; j < count; j++)
	{
		highest = wmlc_max(highest, slack[j]);
		sum += positive(slack[j]);
		support += slack[j] > 0.0 ? 1.0 : 0.0;
	}
	if (fabs(sum - ridge) <= 4.0 * DBL_EPSILON * ridge)
		return;
	next = (ridge - sum) / support;
	if (!(highest > 0.0 && highest < 2.0 * ridge))
	{
		for (size_t j = 0; j < count; j++)
			slack[j] -= highest;
		next = ridge;
	}
	while (next < shift)
	{
		shift = next;
		sum = 0.0;
		support = 0.0;
		for (size_t j = 0; j < count; j++)
		{
			bool		in = slack[j] + shift > 0.0;

			sum += in ? slack[j] : 0.0;
			support += in ? 1.0 : 0.0;
		}
		next = (ridge - sum) / support;
	}
	for (size_t j = 0; j < count; j++)
		slack[j] += shift;
}

/*
 * sum += the points of the support, each weighted by alpha, or by 1 where
 * alpha is not wanted
 */
static WmlcStatus
combine_support(const Dual *dual, bool weighted, double *sum)
{
	const WmlcPoints *points = dual->points;
	size_t		list[WMLC_CHUNK];
	double		weight[WMLC_CHUNK];

	memset(sum, 0, points->dims * sizeof(double));
	for (size_t j = 0; j < points->count;)
	{
		size_t		n = 0;

		for (; j < points->count && n < WMLC_CHUNK; j++)
		{
			if (dual->member[j])
			{
				list[n] = j;
				weight[n] = (weighted ? dual->slack[j] / dual->ridge : 1.0) * points->scale1;
				n++;
			}
		}
		wmlc_combine(points->at, points->stride, points->dims, list, 0, n, weight, sum);
		if (wmlc_interrupted(dual->poll))
			return WMLC_INTERRUPTED;
	}
	for (size_t i = 0; i < points->dims; i++)
		sum[i] *= points->scale2;
	return WMLC_OK;
}

/* What follows from the slacks: support, x, spread and gradient. */
static WmlcStatus
evaluate(Dual *dual)
{
	const WmlcPoints *points = dual->points;
	WmlcStatus	status;

	dual->changed = false;
	dual->support = 0;
	dual->spread = 0.0;
	for (size_t j = 0; j < points->count; j++)
	{
		bool		in = dual->slack[j] > 0.0;

		dual->changed |= in != dual->member[j];
		dual->member[j] = in;
		dual->support += in;
		dual->spread += positive(dual->slack[j]) * points->norm[j];
	}
	dual->spread /= dual->ridge;
	dual->factored = dual->factored && !dual->changed;
	status = combine_support(dual, true, dual->x);
	for (size_t i = 0; i < points->dims; i++)
		dual->gradient[i] = dual->u[i] - dual->x[i];
	return status;
}

/* ---------- the matrix of the support ---------- */

/* Few points: the |S| x |S| matrix is the smaller one. */
static bool
by_support(const Dual *dual)
{
	return dual->support <= dual->points->dims;
}

/* Copy up to most columns of A, from point *next on; how many */
static size_t
gather(const Dual *dual, size_t *next, size_t most)
{
	const WmlcPoints *points = dual->points;
	size_t		n = 0;

	for (; *next < points->count && n < most; (*next)++)
	{
		const double *p = wmlc_point(points, *next);
		double	   *column = dual->columns + n * dual->stride;

		if (!dual->member[*next])
			continue;
		for (size_t i = 0; i < points->dims; i++)
			column[i] = p[i] * points->scale1 * points->scale2 - dual->mean[i];
		memset(column + points->dims, 0, (dual->stride - points->dims) * sizeof(double));
		n++;
	}
	return n;
}

/* A'A, or A A', in the lower triangle of the matrix */
static WmlcStatus
form_matrix(Dual *dual)
{
	size_t		dims = dual->points->dims;
	size_t		next = 0;
	size_t		n;

	if (by_support(dual))
	{
		dual->order = dual->row = dual->support;
		gather(dual, &next, dual->support);
		for (size_t i = 0; i < dual->order; i++)
		{
			wmlc_dots(dual->columns, dual->stride, dims, NULL, 0, i + 1,
					  dual->columns + i * dual->stride, dual->matrix + i * dual->row);
			if (wmlc_interrupted(dual->poll))
				return WMLC_INTERRUPTED;
		}
		return WMLC_OK;
	}
	dual->order = dims;
	dual->row = dual->stride;
	memset(dual->matrix, 0, dual->row * dual->row * sizeof(double));
	while ((n = gather(dual, &next, COLUMNS)) > 0)
	{
		wmlc_scatter(dual->columns, dual->stride, n, dual->matrix);
		if (wmlc_interrupted(dual->poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* Add the ridge to the diagonal and factor: WMLC_NOT_POSITIVE where it is lost in rounding. */
static WmlcStatus
factor_matrix(Dual *dual)
{
	for (size_t i = 0; i < dual->order; i++)
		dual->matrix[i * dual->row + i] += dual->ridge;
	return wmlc_definite_factor((int) dual->order, dual->matrix, (int) dual->row, dual->poll);
}

/* Mean and factored matrix of the support, unless they are known. */
static WmlcStatus
factor(Dual *dual)
{
	WmlcStatus	status;

	if (dual->factored)
		return WMLC_OK;
	status = combine_support(dual, false, dual->mean);
	for (size_t i = 0; i < dual->points->dims; i++)
		dual->mean[i] /= (double) dual->support;
	if (status == WMLC_OK)
		status = form_matrix(dual);
	if (status == WMLC_OK)
		status = factor_matrix(dual);
	dual->factored = status == WMLC_OK;
	return status;
}

/* b = (L L')^-1 b */
static void
solve_factored(const Dual *dual, double *b)
{
	wmlc_definite_solve((int) dual->order, dual->matrix, (int) dual->row, b);
}

/*
 * du = -r (r I + A A')^-1 gradient, which Woodbury's identity makes
 * -gradient + A gain with gain = (r I + A'A)^-1 A' gradient
 */
static void
newton_direction(Dual *dual)
{
	size_t		dims = dual->points->dims;

	if (by_support(dual))
	{
		wmlc_dots(dual->columns, dual->stride, dims, NULL, 0, dual->support, dual->gradient, dual->gain);
		solve_factored(dual, dual->gain);
		for (size_t i = 0; i < dims; i++)
			dual->du[i] = -dual->gradient[i];
		wmlc_combine(dual->columns, dual->stride, dims, NULL, 0, dual->support, dual->gain, dual->du);
	}
	else
	{
		for (size_t i = 0; i < dims; i++)
			dual->du[i] = -dual->ridge * dual->gradient[i];
		solve_factored(dual, dual->du);
	}
}

/* ---------- Newton's method on the dual ---------- */

/* Derivative of psi at t along the step, from its value at 0. */
static double
slope_at(const Dual *dual, double slope0, double square, double t)
{
	double		sum = 0.0;

	for (size_t j = 0; j < dual->points->count; j++)
		sum += (positive(dual->slack[j] + t * dual->change[j]) - positive(dual->slack[j])) *
			dual->change[j];
	return slope0 + t * square + sum / dual->ridge;
}

/* The part of the step that makes psi flat: 1, or less where that is too far. */
static double
step_length(const Dual *dual)
{
	double		slope0 = wmlc_dot(dual->gradient, dual->du, dual->points->dims);
	double		square = wmlc_dot(dual->du, dual->du, dual->points->dims);
	double		low = 0.0;
	double		high = 1.0;

	if (!(slope0 < 0.0) || slope_at(dual, slope0, square, 1.0) <= -FLAT * slope0)
		return 1.0;
	for (int i = 0; i < 60; i++)
	{
		double		middle = 0.5 * (low + high);
		double		slope = slope_at(dual, slope0, square, middle);

		if (fabs(slope) <= -FLAT * slope0)
			return middle;
		if (slope > 0.0)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Move along du as far as it helps. */
static WmlcStatus
move(Dual *dual)
{
	const WmlcPoints *points = dual->points;
	double		length = step_length(dual);

	for (size_t j = 0; j < points->count; j++)
		dual->slack[j] += length * dual->change[j];
	for (size_t i = 0; i < points->dims; i++)
		dual->u[i] += length * dual->du[i];
	level(dual);
	return evaluate(dual);
}

static WmlcStatus
begin(Dual *dual, const double *start)
{
	WmlcStatus	status;

	memcpy(dual->u, start, dual->points->dims * sizeof(double));
	status = slopes(dual, dual->u, dual->slack);
	if (status != WMLC_OK)
		return status;
	level(dual);
	return evaluate(dual);
}

static WmlcStatus
newton_step(Dual *dual)
{
	const WmlcPoints *points = dual->points;
	WmlcStatus	status = factor(dual);
	double		shift;

	if (status != WMLC_OK)
		return status;
	newton_direction(dual);
	status = slopes(dual, dual->du, dual->change);
	if (status != WMLC_OK)
		return status;
	shift = wmlc_dot(dual->mean, dual->du, points->dims);
	for (size_t j = 0; j < points->count; j++)
		dual->change[j] += shift;
	return move(dual);
}

/* At most so many steps, until rounding stops them; is it the minimum? */
static WmlcStatus
newton(Dual *dual, int most, bool *settled)
{
	double		before = INFINITY;
	WmlcStatus	status = WMLC_OK;

	for (int i = 0; i < most && status == WMLC_OK; i++)
	{
		double		norm = sqrt(wmlc_dot(dual->gradient, dual->gradient, dual->points->dims));

		if (norm <= dual->points->noise * dual->spread || (!dual->changed && norm > 0.5 * before))
		{
			*settled = norm <= SETTLED * dual->points->noise * dual->spread;
			break;
		}
		before = norm;
		status = newton_step(dual);
	}
	return status;
}

/* alpha = max(0, slack) over its sum; that sum must be right for any J. */
static void
set_weights(const Dual *dual, double *alpha)
{
	WmlcDd		sum = {0.0, 0.0};
	double		total;

	for (size_t j = 0; j < dual->points->count; j++)
	{
		alpha[j] = positive(dual->slack[j]);
		sum = wmlc_dd_add_d(sum, alpha[j]);
	}
	total = wmlc_dd_value(sum);
	for (size_t j = 0; j < dual->points->count; j++)
		alpha[j] /= total;
}

WmlcStatus
wmlc_ridge(const WmlcPoints *points, const double *start, int most, double *slack, double *alpha,
		   bool *settled, WmlcArena arena, WmlcPoll poll)
{
	Dual		dual = {
		.points = points, .ridge = points->ridge, .slack = slack, .change = alpha, .poll = poll
	};
	WmlcStatus	status;

	lay_out(&dual, points->count, points->dims, &arena);
	memset(dual.member, 0, points->count * sizeof(bool));
	*settled = false;
	status = begin(&dual, start);
	if (status == WMLC_OK)
		status = newton(&dual, most, settled);
	if (status == WMLC_INTERRUPTED)
		return status;
	set_weights(&dual, alpha);
	return WMLC_OK;
}
