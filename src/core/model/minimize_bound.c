/*
 * minimize_bound.c
 *	  Direct optimisation of the bound; see minimize_bound.h.
 *
 * The best weights for given risks.  Each source is a point
 * p_j = (ball * e_j, risk_j), e_j its embedding minus the target's, and
 * sum_j alpha_j p_j = (x, s) makes F = |x| + s.  Let (x, s) be the point of the
 * hull that is nearest to (0, level), found by the weight solver, and
 * rise = s - level.  By optimality, for all j,
 *
 *		x.ball e_j + rise (risk_j - level) >= |x|^2 + rise^2
 *
 * so that for |x| <= rise the vector u = x / rise, of length at most 1, proves
 * F >= min_j (u.ball e_j + risk_j) >= s + |x|^2 / rise, against F = s + |x| of
 * these weights: they are optimal when |x| = rise.  For a very low level |x| is
 * smaller than the rise.  For a level above the minimum of F it cannot be, since
 * the lower bound would exceed that minimum.  In between lies the level to be
 * found, by bisection and secants.
 */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/model/bound.h"
#include "core/model/hinge.h"
#include "core/model/minimize_bound.h"
#include "core/linalg/trust_region.h"
#include "core/weights/weights.h"

/* The search for the level; bisection alone would end at about 60. */
#define MAX_LEVELS 100

/* Rounding in the weight solver, as a share of the largest point. */
#define NOISE 1e-14

/* The bound itself takes the place of other options. */
static const WmlcWeighting mixture = {.rule = WMLC_MIXTURE};

typedef struct Search
{
	const WmlcBoundProblem *problem;
	WmlcPoll	poll;
	int			d;
	double		ball;
	size_t		dims;			/* of an embedding; a point has one more */
	double	   *points;			/* p_j, the last entry relative to the level */
	double	   *distance;		/* gamma_j */
	double		largest;		/* of ball * gamma_j */
	double	   *risk;			/* of the present w */
	double	   *trial;			/* weights */
	double	   *best;			/* weights */
	double	   *start;			/* weights */
	double	   *start_w;
	double	   *single;			/* F of each source alone */
	double	   *sum;			/* of the points under weights */
	double	   *w;				/* of the trial */
	double	   *a;				/* d x d */
	double	   *b;				/* d, or the sums of hinge.h */
	void	   *rest;			/* for the parts below */
} Search;

static size_t
embedding_size(const WmlcBoundProblem *problem)
{
	return problem->loss == WMLC_HINGE ? (size_t) problem->target->dims
		: wmlc_gram_entries(problem->target->dims);
}

static void
lay_out(Search *search, const WmlcBoundProblem *problem, WmlcArena *arena)
{
	int			d = problem->target->dims;

	search->dims = embedding_size(problem);
	search->points = wmlc_arena_doubles(arena, problem->count * (search->dims + 1));
	search->distance = wmlc_arena_doubles(arena, problem->count);
	search->risk = wmlc_arena_doubles(arena, problem->count);
	search->trial = wmlc_arena_doubles(arena, problem->count);
	search->best = wmlc_arena_doubles(arena, problem->count);
	search->start = wmlc_arena_doubles(arena, problem->count);
	search->single = wmlc_arena_doubles(arena, problem->count);
	search->start_w = wmlc_arena_doubles(arena, d);
	search->sum = wmlc_arena_doubles(arena, search->dims + 1);
	search->w = wmlc_arena_doubles(arena, d);
	search->a = wmlc_arena_doubles(arena, (size_t) d * d);
	search->b = wmlc_arena_doubles(arena, wmlc_hinge_doubles(d));
	search->rest = wmlc_arena_take(arena, wmlc_larger(wmlc_embedding_frame_workspace(d),
												 wmlc_larger(wmlc_trust_region_workspace(d),
														wmlc_weigh_workspace(&mixture, problem->count,
																			 search->dims + 1))),
								   1);
}

size_t
wmlc_minimize_bound_workspace(const WmlcBoundProblem *problem)
{
	WmlcArena	arena = {NULL, 0};
	Search		search;

	lay_out(&search, problem, &arena);
	return arena.used;
}

/* The points without their risks, and the distances. */
static WmlcStatus
load_points(Search *search)
{
	const WmlcBoundProblem *problem = search->problem;
	WmlcEmbeddingFrame frame;

	wmlc_embedding_frame_create(&frame, problem->loss, problem->target, NULL, search->rest,
								search->poll);
	search->largest = 0.0;
	for (size_t j = 0; j < problem->count; j++)
	{
		double	   *point = search->points + j * (search->dims + 1);
		WmlcStatus	status = wmlc_difference(&frame, problem->sources[j], point);

		if (status != WMLC_OK)
			return status;
		if (wmlc_interrupted(search->poll))
			return WMLC_INTERRUPTED;
		search->distance[j] = wmlc_distance(problem->sources[j], problem->target, problem->loss);
		for (size_t k = 0; k < search->dims; k++)
			point[k] *= search->ball;
		point[search->dims] = 0.0;
		search->largest = fmax(search->largest, search->ball * search->distance[j]);
	}
	return isfinite(search->largest) ? WMLC_OK : WMLC_NOT_FINITE;
}

static WmlcStatus
start_search(Search *search, const WmlcBoundProblem *problem, void *work, WmlcPoll poll)
{
	WmlcArena	arena = {work, 0};

	lay_out(search, problem, &arena);
	search->problem = problem;
	search->poll = poll;
	search->d = problem->target->dims;
	search->ball = wmlc_loss_ball(problem->loss, problem->radius);
	return load_points(search);
}

/* A and b of the mixture, for square loss. */
static WmlcStatus
mix_moments(Search *search, const double *alpha)
{
	int			d = search->d;

	memset(search->a, 0, (size_t) d * d * sizeof(double));
	memset(search->b, 0, d * sizeof(double));
	for (size_t j = 0; j < search->problem->count; j++)
	{
		const WmlcGram *source = search->problem->sources[j];

		if (wmlc_interrupted(search->poll))
			return WMLC_INTERRUPTED;
		if (alpha[j] == 0.0)
			continue;
		for (int i = 0; i < d; i++)
		{
			for (int k = i; k < d; k++)
				search->a[(size_t) k * d + i] += alpha[j] * wmlc_dd_value(wmlc_gram_moment(source, i, k));
			search->b[i] += alpha[j] * wmlc_dd_value(wmlc_gram_moment(source, i, d));
		}
	}
	for (int i = 0; i < d; i++)
	{
		for (int k = i + 1; k < d; k++)
			search->a[(size_t) i * d + k] = search->a[(size_t) k * d + i];
	}
	return WMLC_OK;
}

/* The best w for given weights. */
static WmlcStatus
minimize_w(Search *search, const double *alpha, double *w)
{
	const WmlcBoundProblem *problem = search->problem;
	double		multiplier;

	if (problem->loss == WMLC_SQUARE)
	{
		WmlcStatus	status = mix_moments(search, alpha);

		return status != WMLC_OK ? status
			: wmlc_trust_region(search->d, search->a, search->b, problem->radius, w, &multiplier,
								search->rest, search->poll);
	}
	memset(search->b, 0, wmlc_hinge_doubles(search->d) * sizeof(double));
	for (size_t j = 0; j < problem->count; j++)
		wmlc_hinge_add(search->b, problem->sources[j], alpha[j]);
	wmlc_hinge_erm(search->b, search->d, problem->radius, w);
	return WMLC_OK;
}

/* The risks of w on all sources. */
static WmlcStatus
find_risks(Search *search, const double *w)
{
	for (size_t j = 0; j < search->problem->count; j++)
	{
		search->risk[j] = wmlc_risk(search->problem->sources[j], search->problem->loss, w);
		if (!isfinite(search->risk[j]))
			return WMLC_NOT_FINITE;
		if (wmlc_interrupted(search->poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* F and its parts for the present risks; WMLC_NOT_FINITE when it overflows. */
static WmlcStatus
evaluate(Search *search, const double *alpha, WmlcBoundMinimum *minimum)
{
	size_t		stride = search->dims + 1;
	double		square;

	minimum->source_risk = 0.0;
	memset(search->sum, 0, search->dims * sizeof(double));
	for (size_t j = 0; j < search->problem->count; j++)
	{
		if (wmlc_interrupted(search->poll))
			return WMLC_INTERRUPTED;
		if (alpha[j] == 0.0)
			continue;
		minimum->source_risk += alpha[j] * search->risk[j];
		cblas_daxpy((int) search->dims, alpha[j], search->points + j * stride, 1, search->sum, 1);
	}
	square = cblas_ddot((int) search->dims, search->sum, 1, search->sum, 1);
	minimum->distance = sqrt(square) / search->ball;
	minimum->objective = minimum->source_risk + sqrt(square);
	return isfinite(minimum->objective) ? WMLC_OK : WMLC_NOT_FINITE;
}

/* The hull's point nearest to (0, level), as |x| and the rise over the level. */
static WmlcStatus
nearest_to_level(Search *search, double level, double *alpha, double *x, double *rise)
{
	WmlcCandidates candidates = {
		.points = search->points,
		.count = search->problem->count,
		.dims = search->dims + 1,
		.stride = search->dims + 1
	};
	WmlcSimplexReport report;
	WmlcBoundMinimum value;
	WmlcStatus	status;

	for (size_t j = 0; j < candidates.count; j++)
		search->points[j * candidates.stride + search->dims] = search->risk[j] - level;
	status = wmlc_weigh(&mixture, &candidates, alpha, &report, search->rest, search->poll);
	if (status != WMLC_OK)
		return status;
	status = evaluate(search, alpha, &value);
	*x = value.distance * search->ball;
	*rise = value.source_risk - level;
	return status;
}

/*
 * min_j (u.ball e_j + risk_j) for u = x / max(rise, |x|), a lower bound of F
 * whatever the weight solver's precision.  x is the sum that it left.
 */
static double
lower_bound(const Search *search, double x, double rise)
{
	size_t		stride = search->dims + 1;
	double		scale = fmax(rise, x);
	double		least = INFINITY;

	for (size_t j = 0; j < search->problem->count; j++)
	{
		double		value = cblas_ddot((int) search->dims, search->sum, 1, search->points + j * stride, 1);

		least = fmin(least, (scale > 0.0 ? value / scale : 0.0) + search->risk[j]);
	}
	return least;
}

/*
 * The best weights for the present risks into `best`, and a lower bound of F
 * that holds for all weights.  `upper` is the F of some weights.
 */
static WmlcStatus
minimize_alpha(Search *search, double upper, double *lower)
{
	size_t		count = search->problem->count;
	double		low = INFINITY;
	double		high = upper;
	double		low_value = 0.0;	/* rise minus |x| there */
	double		high_value = 0.0;	/* 0 until it is known */
	double		least = INFINITY;
	double		tolerance = 0.1 * WMLC_BOUND_GAP * fabs(upper) + NOISE * search->largest;

	for (size_t j = 0; j < count; j++)
		low = fmin(low, search->risk[j]);
	low -= search->largest;
	*lower = -INFINITY;

	for (int step = 0; step < MAX_LEVELS; step++)
	{
		double		level = low + (high - low) / 2.0;
		double		x,
					rise,
					bound;
		WmlcStatus	status;

		if (step == 0)
			level = low;
		else if (high_value < 0.0 && step % 3 != 0)
			level = low + (high - low) * (low_value / (low_value - high_value));
		status = nearest_to_level(search, level, search->trial, &x, &rise);
		if (status != WMLC_OK)
			return status;
		if (level + rise + x < least)
		{
			least = level + rise + x;
			memcpy(search->best, search->trial, count * sizeof(double));
		}
		bound = lower_bound(search, x, rise);
		*lower = fmax(*lower, bound);

		/* inside the hull, where both are 0, rounding decides between them */
		if (rise >= x && bound >= level)
		{
			low = level;
			low_value = rise - x;
		}
		else
		{
			high = level;
			high_value = rise - x;
		}
		if (least - *lower <= tolerance ||
			(step > 0 && high - low <= DBL_EPSILON * fmax(fabs(high), fabs(low))))
			break;
	}
	return WMLC_OK;
}

/* How far a projected gradient step moves w. */
static WmlcStatus
find_residual(Search *search, const double *alpha, const double *w, double *residual)
{
	int			d = search->d;
	double	   *gradient = search->w;
	double		radius = search->problem->radius;
	double		length = 0.0;
	double		moved = 0.0;
	WmlcStatus	status;

	*residual = 0.0;
	if (search->problem->loss == WMLC_HINGE)
		return WMLC_OK;
	status = mix_moments(search, alpha);
	if (status != WMLC_OK)
		return status;
	for (int i = 0; i < d; i++)
	{
		gradient[i] = -search->b[i];
		for (int k = 0; k < d; k++)
			gradient[i] += search->a[(size_t) k * d + i] * w[k];
		length += (w[i] - gradient[i]) * (w[i] - gradient[i]);
	}
	length = sqrt(length);
	for (int i = 0; i < d; i++)
	{
		double		step = (w[i] - gradient[i]) * (length > radius ? radius / length : 1.0) - w[i];

		moved += step * step;
	}
	*residual = sqrt(moved);
	return isfinite(*residual) ? WMLC_OK : WMLC_NOT_FINITE;
}

/* Take turns, from the weights alpha on. */
static WmlcStatus
descend(Search *search, int steps, double *alpha, double *w, WmlcBoundMinimum *minimum)
{
	size_t		count = search->problem->count;
	double		lower;
	WmlcStatus	status = minimize_w(search, alpha, w);

	if (status == WMLC_OK)
		status = find_risks(search, w);
	if (status == WMLC_OK)
		status = evaluate(search, alpha, minimum);
	if (status != WMLC_OK)
		return status;
	minimum->steps = 0;
	for (;;)
	{
		WmlcBoundMinimum next;

		status = minimize_alpha(search, minimum->objective, &lower);
		if (status != WMLC_OK)
			return status;
		minimum->gap = fmax(0.0, minimum->objective - lower);
		if (minimum->steps >= steps || minimum->gap <= WMLC_BOUND_GAP * fabs(minimum->objective))
			break;
		status = minimize_w(search, search->best, search->w);
		if (status == WMLC_OK)
			status = find_risks(search, search->w);
		if (status == WMLC_OK)
			status = evaluate(search, search->best, &next);
		if (status != WMLC_OK)
			return status;

		/* rounding is all that is left */
		if (!(next.objective < minimum->objective))
			break;
		next.steps = minimum->steps + 1;
		*minimum = next;
		memcpy(alpha, search->best, count * sizeof(double));
		memcpy(w, search->w, search->d * sizeof(double));
	}
	return find_residual(search, alpha, w, &minimum->residual);
}

/* Of a single source: its best w, and F. */
static WmlcStatus
minimize_single(Search *search, size_t j, double *w, WmlcBoundMinimum *minimum)
{
	WmlcStatus	status;

	memset(search->trial, 0, search->problem->count * sizeof(double));
	search->trial[j] = 1.0;
	status = minimize_w(search, search->trial, w);
	if (status != WMLC_OK)
		return status;
	minimum->source_risk = wmlc_risk(search->problem->sources[j], search->problem->loss, w);
	minimum->distance = search->distance[j];
	minimum->objective = minimum->source_risk + search->ball * minimum->distance;
	if (!isfinite(minimum->objective))
		return WMLC_NOT_FINITE;
	return wmlc_interrupted(search->poll) ? WMLC_INTERRUPTED : WMLC_OK;
}

WmlcStatus
wmlc_minimize_weighted(const WmlcBoundProblem *problem, double *alpha, double *w,
					   WmlcBoundMinimum *minimum, void *work, WmlcPoll poll)
{
	Search		search;
	WmlcStatus	status = start_search(&search, problem, work, poll);
	size_t		winner = 0;

	for (size_t j = 0; j < problem->count && status == WMLC_OK; j++)
	{
		WmlcBoundMinimum single;

		status = minimize_single(&search, j, w, &single);
		if (status != WMLC_OK)
			return status;
		if (j == 0 || single.objective < minimum->objective)
		{
			*minimum = single;
			winner = j;
		}
	}
	if (status == WMLC_OK)
		status = minimize_single(&search, winner, w, minimum);
	if (status != WMLC_OK)
		return status;
	memcpy(alpha, search.trial, problem->count * sizeof(double));
	minimum->gap = 0.0;
	minimum->steps = 0;
	return find_residual(&search, alpha, w, &minimum->residual);
}

WmlcStatus
wmlc_descend_bound(const WmlcBoundProblem *problem, int steps, double *alpha, double *w,
				   WmlcBoundMinimum *minimum, void *work, WmlcPoll poll)
{
	Search		search;
	WmlcStatus	status = start_search(&search, problem, work, poll);

	return status == WMLC_OK ? descend(&search, steps, alpha, w, minimum) : status;
}

/* Descend from the start and keep what it leads to when it is the best so far. */
static WmlcStatus
try_start(Search *search, int steps, double *alpha, double *w, WmlcBoundMinimum *minimum)
{
	WmlcBoundMinimum found;
	WmlcStatus	status = descend(search, steps, search->start, search->start_w, &found);

	if (status != WMLC_OK || !(found.objective < minimum->objective))
		return status;
	*minimum = found;
	memcpy(alpha, search->start, search->problem->count * sizeof(double));
	memcpy(w, search->start_w, search->d * sizeof(double));
	return WMLC_OK;
}

/* The mixture closest to the target: without risks, the level does not matter. */
static WmlcStatus
start_at_mixture(Search *search)
{
	double		x,
				rise;

	memset(search->risk, 0, search->problem->count * sizeof(double));
	return nearest_to_level(search, 0.0, search->start, &x, &rise);
}

static void
start_at_equal_weights(Search *search)
{
	for (size_t j = 0; j < search->problem->count; j++)
		search->start[j] = 1.0 / (double) search->problem->count;
}

/* The source with the lowest F alone, which is then no longer a candidate. */
static void
start_at_single(Search *search)
{
	size_t		winner = 0;

	for (size_t j = 1; j < search->problem->count; j++)
	{
		if (search->single[j] < search->single[winner])
			winner = j;
	}
	search->single[winner] = INFINITY;
	memset(search->start, 0, search->problem->count * sizeof(double));
	search->start[winner] = 1.0;
}

WmlcStatus
wmlc_minimize_joint(const WmlcBoundProblem *problem, int starts, int steps, double *alpha, double *w,
					WmlcBoundMinimum *minimum, void *work, WmlcPoll poll)
{
	Search		search;
	WmlcStatus	status = start_search(&search, problem, work, poll);

	for (size_t j = 0; j < problem->count && status == WMLC_OK; j++)
	{
		WmlcBoundMinimum single;

		status = minimize_single(&search, j, search.w, &single);
		if (status != WMLC_OK)
			return status;
		search.single[j] = single.objective;
	}
	minimum->objective = INFINITY;
	if (status == WMLC_OK)
		status = start_at_mixture(&search);
	if (status == WMLC_OK)
		status = try_start(&search, steps, alpha, w, minimum);
	if (status == WMLC_OK)
	{
		start_at_equal_weights(&search);
		status = try_start(&search, steps, alpha, w, minimum);
	}
	for (size_t s = 0; s < problem->count && s < (size_t) starts && status == WMLC_OK; s++)
	{
		start_at_single(&search);
		status = try_start(&search, steps, alpha, w, minimum);
	}
	return status;
}
