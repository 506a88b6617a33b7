/*
 * simplex_nearest.c
 *	  The nearest point of a convex hull to the origin (P. Wolfe, "Finding the
 *	  nearest point in a polytope", Mathematical Programming 11, 1976).
 *
 * A corral is an affinely independent set of points whose affine hull has its
 * nearest point x strictly inside their convex hull.  A step looks for a
 * point beyond the plane through x that is orthogonal to x (e_j.x < x.x);
 * where there is none, x is the answer.  Otherwise the point joins, and points
 * leave until the set is a corral again.  |x| falls strictly, so no corral
 * comes twice and the method is finite.
 *
 * The affine minimisation is solved through a QR factorisation of the matrix
 * with the columns (c, e_j), c > 0, which has full rank exactly where the
 * points are affinely independent.  The mixture lambda proportional to
 * argmin_u | sum_j u_j (c, e_j) - (1, 0) | is the affine minimiser: a least
 * squares problem, solved stably as R u = Q'(1, 0).  Q is kept explicitly, so
 * that columns join by Gram-Schmidt (a second time where the first took most
 * of the column: twice is enough) and leave by rotations.
 *
 * A ridge r gives every point a coordinate of its own, of size sqrt(r):
 * | sum_j alpha_j (e_j, sqrt(r) 1_j) |^2 is the objective with ridge.  The same
 * method then solves it, however small the ridge, as long as the support does
 * not outgrow the corral's room.  (simplex_ridge.c has no such limit, and is
 * faster; this is for the problems it does not like.)
 *
 * A pass over all J points is bound by memory, a step on a few hundred of
 * them is not.  So a pass picks candidates, the problem is solved on these,
 * and the next pass looks for points that were missed.  A point's price can
 * fall by no more than its length times what x has moved; a point that stays
 * dear by this bound is not even read.
 */
#include <string.h>

#include "core/simplex/simplex_internal.h"

/* Candidates taken from one pass. */
#define CANDIDATES 256

/* Points the corral has room for beyond the dimensions, with a ridge. */
#define EXTRA_ROOM 256

/*
 * Steps, beyond one per dimension, and rounds that may leave the objective
 * where it was.  Near the end it changes by less than its own rounding, so
 * that a strict decrease cannot be asked for.
 */
#define STALLED_STEPS 100
#define STALLED_ROUNDS 10

/* A nearest point this close is the origin; its square would underflow. */
#define AT_ORIGIN 0x1p-400

typedef struct Corral
{
	const WmlcPoints *points;
	double		own;			/* sqrt(ridge): a point's own coordinate */
	size_t		rows;			/* 1 + dims, and with ridge the own coordinates */
	size_t		capacity;		/* most columns: no more are independent */
	size_t		size;
	size_t	   *point;
	size_t	   *slot;			/* which own coordinate; the free ones follow */
	double	   *weight;			/* of the current x, all positive but the newcomer's */
	double	   *target;			/* the affine minimiser's weights */
	double	   *q;				/* rows x capacity, orthonormal columns */
	double	   *r;				/* capacity x capacity, upper triangle */
	double	   *column;			/* scratch */
	double	   *coef;			/* scratch */
	double		lift;			/* c */
} Corral;

/* Candidates in a heap whose root is the one to be given up first. */
typedef struct Candidates
{
	size_t		size;
	size_t		capacity;
	size_t	   *point;
	double	   *score;
	double	   *price;
} Candidates;

typedef struct Solver
{
	Corral		corral;
	Candidates	candidates;
	double		ridge;
	double	   *alpha;			/* the weights of all points */
	double	   *price;			/* lower bound of e_j.x for every point */
	double	   *x;
	double	   *x_priced;		/* x of the last full pass */
	double	   *z;				/* x as the points see it: times scale1 */
	double		objective;		/* x.x + ridge |alpha|^2 */
	double		spread;			/* sum of weight times length: rounding of x */
	double		lowest;			/* of all prices e_j.x + ridge alpha_j, or less */
	bool		full;			/* a point was to join and found no room */
	int			steps;
	double		passes;
	WmlcPoll	poll;
} Solver;

/* hypot, whose care for overflow is not needed here */
static double
length_of(double a, double b)
{
	return sqrt(a * a + b * b);
}

/* Without ridge, no more than dims + 1 points are affinely independent. */
static size_t
corral_capacity(size_t count, size_t dims, double ridge)
{
	return wmlc_smaller(count, dims + 1 + (ridge > 0.0 ? EXTRA_ROOM : 0));
}

static size_t
corral_rows(size_t count, size_t dims, double ridge)
{
	return 1 + dims + (ridge > 0.0 ? corral_capacity(count, dims, ridge) : 0);
}

static void
lay_out(Solver *solver, size_t count, size_t dims, double ridge, WmlcArena *arena)
{
	Corral	   *corral = &solver->corral;
	Candidates *candidates = &solver->candidates;
	size_t		most = corral_capacity(count, dims, ridge);

	corral->rows = corral_rows(count, dims, ridge);
	corral->capacity = most;
	corral->point = wmlc_arena_take(arena, most, sizeof(size_t));
	corral->slot = wmlc_arena_take(arena, most, sizeof(size_t));
	corral->weight = wmlc_arena_doubles(arena, most);
	corral->target = wmlc_arena_doubles(arena, most);
	corral->coef = wmlc_arena_doubles(arena, most);
	corral->q = wmlc_arena_doubles(arena, corral->rows * most);
	corral->r = wmlc_arena_doubles(arena, most * most);
	corral->column = wmlc_arena_doubles(arena, corral->rows);
	candidates->capacity = wmlc_smaller(count, CANDIDATES);
	candidates->point = wmlc_arena_take(arena, candidates->capacity, sizeof(size_t));
	candidates->score = wmlc_arena_doubles(arena, candidates->capacity);
	candidates->price = wmlc_arena_doubles(arena, candidates->capacity);
	solver->x = wmlc_arena_doubles(arena, dims);
	solver->x_priced = wmlc_arena_doubles(arena, dims);
	solver->z = wmlc_arena_doubles(arena, dims);
}

size_t
wmlc_nearest_workspace(size_t count, size_t dims, double ridge)
{
	WmlcArena	arena = {NULL, 0};
	Solver		solver;

	lay_out(&solver, count, dims, ridge, &arena);
	return arena.used;
}

static void
solver_init(Solver *solver, const WmlcPoints *points, double ridge, double *price, double *alpha,
			WmlcArena arena, WmlcPoll poll)
{
	Corral	   *corral = &solver->corral;

	lay_out(solver, points->count, points->dims, ridge, &arena);
	corral->points = points;
	corral->own = sqrt(ridge);
	corral->size = 0;
	for (size_t i = 0; i < corral->capacity; i++)
		corral->slot[i] = i;

	/* With c the shortest length, x is good to rounding of that length. */
	corral->lift = wmlc_max(length_of(points->norm[points->nearest], corral->own), AT_ORIGIN);

	solver->candidates.size = 0;
	solver->ridge = ridge;
	solver->price = price;
	solver->alpha = alpha;
	solver->full = false;

	/* As if all points had been priced at x = 0: the bounds then hold. */
	memset(solver->x_priced, 0, points->dims * sizeof(double));
	memset(price, 0, points->count * sizeof(double));
	memset(alpha, 0, points->count * sizeof(double));
	solver->steps = 0;
	solver->passes = 0.0;
	solver->poll = poll;
}

/* ---------- the corral ---------- */

/* column -= Q (Q' column); the coefficients are added to coef.  What is left? */
static double
orthogonalize(Corral *corral, double *coef)
{
	double	   *h = corral->target;	/* free until the next affine minimiser */

	wmlc_dots(corral->q, corral->rows, corral->rows, NULL, 0, corral->size, corral->column, h);
	for (size_t i = 0; i < corral->size; i++)
	{
		coef[i] += h[i];
		h[i] = -h[i];
	}
	wmlc_combine(corral->q, corral->rows, corral->rows, NULL, 0, corral->size, h, corral->column);
	return sqrt(wmlc_dot(corral->column, corral->column, corral->rows));
}

/*
 * Let a point join with weight 0.  False where it lies in the affine hull of
 * the corral as far as rounding can tell.
 */
static bool
corral_join(Corral *corral, size_t point)
{
	const WmlcPoints *points = corral->points;
	const double *p = wmlc_point(points, point);
	size_t		k = corral->size;
	double	   *r = corral->r + k * corral->capacity;
	double		length;
	double		distance;

	corral->column[0] = corral->lift;
	for (size_t i = 0; i < points->dims; i++)
		corral->column[i + 1] = p[i] * points->scale1 * points->scale2;
	if (corral->own > 0.0)
	{
		memset(corral->column + 1 + points->dims, 0, corral->capacity * sizeof(double));
		corral->column[1 + points->dims + corral->slot[k]] = corral->own;
	}
	length = length_of(length_of(corral->lift, corral->own), points->norm[point]);

	memset(r, 0, k * sizeof(double));
	distance = orthogonalize(corral, r);
	if (distance < 0.7 * length)
		distance = orthogonalize(corral, r);
	if (distance <= 2.0 * DBL_EPSILON * length)
		return false;

	r[k] = distance;
	for (size_t i = 0; i < corral->rows; i++)
		corral->q[k * corral->rows + i] = corral->column[i] / distance;
	corral->point[k] = point;
	corral->weight[k] = 0.0;
	corral->size++;
	return true;
}

/* Let column k go: a Hessenberg R is rotated back to a triangle, and Q with it. */
static void
corral_leave(Corral *corral, size_t k)
{
	size_t		ld = corral->capacity;
	size_t		after = corral->size - k - 1;
	size_t		slot = corral->slot[k];

	memmove(corral->point + k, corral->point + k + 1, after * sizeof(size_t));
	memmove(corral->slot + k, corral->slot + k + 1, after * sizeof(size_t));
	memmove(corral->weight + k, corral->weight + k + 1, after * sizeof(double));
	memmove(corral->r + k * ld, corral->r + (k + 1) * ld, after * ld * sizeof(double));
	corral->size--;
	corral->slot[corral->size] = slot;

	for (size_t i = k; i < corral->size; i++)
	{
		double	   *pivot = corral->r + i * ld + i;
		double		norm = length_of(pivot[0], pivot[1]);
		double		c = pivot[0] / norm;
		double		s = pivot[1] / norm;
		double	   *q0 = corral->q + i * corral->rows;
		double	   *q1 = q0 + corral->rows;

		pivot[0] = norm;
		for (size_t j = i + 1; j < corral->size; j++)
		{
			double	   *pair = corral->r + j * ld + i;
			double		upper = c * pair[0] + s * pair[1];

			pair[1] = c * pair[1] - s * pair[0];
			pair[0] = upper;
		}
		for (size_t j = 0; j < corral->rows; j++)
		{
			double		first = c * q0[j] + s * q1[j];

			q1[j] = c * q1[j] - s * q0[j];
			q0[j] = first;
		}
	}

	/* No column has a part in its own coordinate now; clear the rounding. */
	for (size_t i = 0; corral->own > 0.0 && i < corral->size; i++)
		corral->q[i * corral->rows + 1 + corral->points->dims + slot] = 0.0;
}

/* target = weights, possibly negative, of the affine hull's nearest point */
static void
affine_minimizer(Corral *corral)
{
	double	   *u = corral->target;
	double		sum = 0.0;

	for (size_t i = 0; i < corral->size; i++)
		u[i] = corral->q[i * corral->rows];
	for (size_t j = corral->size; j-- > 0;)
	{
		const double *r = corral->r + j * corral->capacity;

		double		minus;

		u[j] /= r[j];
		minus = -u[j];
		wmlc_combine(r, 0, j, NULL, 0, 1, &minus, u);
		sum += u[j];
	}

	/* The sum is positive but for rounding; then stay where we are. */
	if (!(sum > 0.0))
		memcpy(u, corral->weight, corral->size * sizeof(double));
	else
	{
		for (size_t i = 0; i < corral->size; i++)
			u[i] /= sum;
	}
}

/*
 * Move the weights towards the affine minimiser until one of them vanishes,
 * and let it go; false when all stay positive, and the minimiser is reached.
 */
static bool
corral_shrink(Corral *corral, double *alpha)
{
	double		step = 1.0;
	size_t		blocking = corral->size;

	for (size_t i = 0; i < corral->size; i++)
	{
		if (!(corral->target[i] > 0.0))
		{
			double		weight = corral->weight[i];
			double		ratio = weight > 0.0 ? weight / (weight - corral->target[i]) : 0.0;

			if (blocking == corral->size || ratio < step)
			{
				step = ratio;
				blocking = i;
			}
		}
	}
	if (blocking == corral->size)
	{
		memcpy(corral->weight, corral->target, corral->size * sizeof(double));
		return false;
	}
	for (size_t i = 0; i < corral->size; i++)
	{
		double		moved = corral->weight[i] + step * (corral->target[i] - corral->weight[i]);

		corral->weight[i] = moved > 0.0 ? moved : 0.0;
	}
	alpha[corral->point[blocking]] = 0.0;
	corral_leave(corral, blocking);
	return true;
}

/* ---------- prices and candidates ---------- */

/* Bring x and what follows from it up to date with the corral's weights. */
static void
update_x(Solver *solver)
{
	Corral	   *corral = &solver->corral;
	const WmlcPoints *points = corral->points;
	double		square = 0.0;

	memset(solver->x, 0, points->dims * sizeof(double));
	solver->spread = 0.0;
	for (size_t i = 0; i < corral->size; i++)
	{
		double		weight = corral->weight[i];

		corral->coef[i] = weight * points->scale1;
		solver->alpha[corral->point[i]] = weight;
		solver->spread += weight * points->norm[corral->point[i]];
		square += weight * weight;
	}
	wmlc_combine(points->at, points->stride, points->dims, corral->point, 0, corral->size,
				 corral->coef, solver->x);
	for (size_t i = 0; i < points->dims; i++)
	{
		solver->x[i] *= points->scale2;
		solver->z[i] = solver->x[i] * points->scale1;
	}
	solver->objective = wmlc_dot(solver->x, solver->x, points->dims) + solver->ridge * square;
}

/* Is a point at this price beyond the plane through x, by more than rounding? */
static bool
is_beyond(const Solver *solver, size_t point, double price)
{
	const WmlcPoints *points = solver->corral.points;

	return solver->objective - price >
		points->noise * wmlc_max(points->norm[point] * solver->spread, solver->objective);
}

/*
 * How much a step towards the point would take off the objective, at least; 0
 * for a point that has no business in the corral, or is there already.
 */
static double
score(const Solver *solver, size_t point, double price)
{
	double		norm = solver->corral.points->norm[point];
	double		square = norm * norm + solver->ridge;
	double		beyond = solver->objective - price;
	double		away = square - 2.0 * price + solver->objective;

	if (solver->alpha[point] > 0.0 || !is_beyond(solver, point, price))
		return 0.0;
	return beyond * (beyond / wmlc_max(away, DBL_EPSILON * square));
}

/* Is candidate a to be given up before b?  Of equals, the later one. */
static bool
worse(const Candidates *c, size_t a, size_t b)
{
	return c->score[a] < c->score[b] ||
		(c->score[a] == c->score[b] && c->point[a] > c->point[b]);
}

static void
swap(Candidates *c, size_t a, size_t b)
{
	size_t		point = c->point[a];
	double		value = c->score[a];

	c->point[a] = c->point[b];
	c->score[a] = c->score[b];
	c->point[b] = point;
	c->score[b] = value;
}

/* Keep the best of the points offered. */
static void
offer(Candidates *c, size_t point, double value)
{
	size_t		i;

	if (c->size < c->capacity)
	{
		i = c->size++;
		c->point[i] = point;
		c->score[i] = value;
		for (; i > 0 && worse(c, i, (i - 1) / 2); i = (i - 1) / 2)
			swap(c, i, (i - 1) / 2);
		return;
	}
	if (value < c->score[0] || (value == c->score[0] && point > c->point[0]))
		return;
	c->point[0] = point;
	c->score[0] = value;
	for (i = 0; 2 * i + 1 < c->size;)
	{
		size_t		child = 2 * i + 1;

		if (child + 1 < c->size && worse(c, child + 1, child))
			child++;
		if (!worse(c, child, i))
			break;
		swap(c, i, child);
		i = child;
	}
}

/* The first candidates are the points nearest to the origin. */
static void
nearest_candidates(Solver *solver)
{
	const WmlcPoints *points = solver->corral.points;

	for (size_t j = 0; j < points->count; j++)
		offer(&solver->candidates, j, -points->norm[j]);
}

/* A pass over all points: those beyond the plane become the candidates. */
static WmlcStatus
price_all(Solver *solver)
{
	const WmlcPoints *points = solver->corral.points;
	Candidates *candidates = &solver->candidates;
	double		moved = 0.0;
	size_t		priced = 0;
	size_t		list[WMLC_CHUNK];
	double		price[WMLC_CHUNK];

	for (size_t i = 0; i < points->dims; i++)
	{
		double		d = solver->x[i] - solver->x_priced[i];

		moved += d * d;
	}
	moved = sqrt(moved);
	memcpy(solver->x_priced, solver->x, points->dims * sizeof(double));

	candidates->size = 0;
	solver->lowest = solver->objective;
	for (size_t j = 0; j < points->count;)
	{
		size_t		n = 0;

		for (; j < points->count && n < WMLC_CHUNK; j++)
		{
			double		bound;

			solver->price[j] -= points->norm[j] * moved;
			bound = solver->price[j] + solver->ridge * solver->alpha[j];
			if (is_beyond(solver, j, bound))
				list[n++] = j;
			else
				solver->lowest = wmlc_min(solver->lowest, bound);
		}
		wmlc_dots(points->at, points->stride, points->dims, list, 0, n, solver->z, price);
		for (size_t k = 0; k < n; k++)
		{
			double		value;

			price[k] *= points->scale2;
			solver->price[list[k]] = price[k];
			price[k] += solver->ridge * solver->alpha[list[k]];
			solver->lowest = wmlc_min(solver->lowest, price[k]);
			value = score(solver, list[k], price[k]);
			if (value > 0.0)
				offer(candidates, list[k], value);
		}
		priced += n;
		if (wmlc_interrupted(solver->poll))
			return WMLC_INTERRUPTED;
	}
	solver->passes += (double) priced / (double) points->count;
	return WMLC_OK;
}

/* ---------- the two loops ---------- */

/* The position of the best candidate, or candidates->size for none. */
static size_t
best_candidate(Solver *solver)
{
	const WmlcPoints *points = solver->corral.points;
	Candidates *candidates = &solver->candidates;
	size_t		best = candidates->size;
	double		best_score = 0.0;

	wmlc_dots(points->at, points->stride, points->dims, candidates->point, 0, candidates->size,
			  solver->z, candidates->price);
	for (size_t k = 0; k < candidates->size; k++)
	{
		size_t		point = candidates->point[k];
		double		price = candidates->price[k] * points->scale2 + solver->ridge * solver->alpha[point];
		double		value = score(solver, point, price);

		if (value > best_score ||
			(value > 0.0 && value == best_score && point < candidates->point[best]))
		{
			best_score = value;
			best = k;
		}
	}
	return best;
}

/* One step of Wolfe's: false where rounding keeps the point out. */
static bool
step(Solver *solver, size_t point)
{
	Corral	   *corral = &solver->corral;

	if (corral->size == corral->capacity)
	{
		solver->full = solver->ridge > 0.0;
		return false;
	}
	if (!corral_join(corral, point))
		return false;
	affine_minimizer(corral);
	if (!(corral->target[corral->size - 1] > 0.0))
	{
		corral_leave(corral, corral->size - 1);
		return false;
	}
	while (corral_shrink(corral, solver->alpha))
		affine_minimizer(corral);
	update_x(solver);
	solver->steps++;
	return true;
}

/* Solve on the candidates, or until the corral is full. */
static WmlcStatus
solve_candidates(Solver *solver)
{
	Candidates *candidates = &solver->candidates;
	double		lowest_objective = solver->objective;
	size_t		stalled = 0;

	while (stalled <= STALLED_STEPS + solver->corral.rows)
	{
		size_t		best = best_candidate(solver);

		if (best == candidates->size)
			break;
		if (!step(solver, candidates->point[best]))
		{
			if (solver->full)
				break;

			/* At the limit of rounding: do without it in this round. */
			candidates->size--;
			candidates->point[best] = candidates->point[candidates->size];
			continue;
		}
		stalled++;
		if (solver->objective < lowest_objective)
		{
			lowest_objective = solver->objective;
			stalled = 0;
		}
		if (wmlc_interrupted(solver->poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* Rounds of solving on candidates and looking for better ones. */
static WmlcStatus
solve_rounds(Solver *solver)
{
	double		lowest_objective = solver->objective;
	int			stalled = 0;

	nearest_candidates(solver);
	for (bool priced = false; stalled <= STALLED_ROUNDS; priced = true)
	{
		int			steps = solver->steps;
		WmlcStatus	status = solve_candidates(solver);

		if (status != WMLC_OK)
			return status;
		if (solver->full || (priced && solver->steps == steps))
			break;
		status = price_all(solver);
		if (status != WMLC_OK)
			return status;
		if (solver->candidates.size == 0)
			break;
		stalled++;
		if (solver->objective < lowest_objective)
		{
			lowest_objective = solver->objective;
			stalled = 0;
		}
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_nearest(const WmlcPoints *points, double ridge, double *price, double *alpha,
			 WmlcNearest *nearest, WmlcArena arena, WmlcPoll poll)
{
	Solver		solver;
	WmlcStatus	status = WMLC_OK;

	solver_init(&solver, points, ridge, price, alpha, arena, poll);
	corral_join(&solver.corral, points->nearest);
	solver.corral.weight[0] = 1.0;
	update_x(&solver);
	if (solver.corral.lift > AT_ORIGIN)
		status = solve_rounds(&solver);
	else
		solver.lowest = -solver.corral.lift * points->longest;
	nearest->complete = !solver.full;
	nearest->support = solver.corral.size;
	nearest->point = solver.corral.point;
	nearest->x = solver.x;
	nearest->objective = solver.objective;
	nearest->lowest = solver.lowest;
	nearest->steps = solver.steps;
	nearest->passes = solver.passes;
	return status;
}
