/*
 * weights.c
 *	  How much to learn from each source; see weights.h.
 *
 * A rule is a line in the table below and the function that it names.
 */
#include "core/weights/weights.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/simplex/simplex_internal.h"
#include "core/weights/kernel_points.h"
#include "core/weights/reduce_points.h"

/* Everything a rule may look at. */
typedef struct Question
{
	const WmlcWeighting *weighting;
	const WmlcCandidates *candidates;
	WmlcSimplexReport *report;
	void	   *work;
	WmlcPoll	poll;
} Question;

static WmlcStatus weigh_mixture(const Question *question, double *alpha);
static WmlcStatus weigh_closest(const Question *question, double *alpha);
static WmlcStatus weigh_uniform(const Question *question, double *alpha);
static WmlcStatus weigh_pooled(const Question *question, double *alpha);

/* What a rule needs to know of a source. */
typedef enum Need
{
	NEEDS_NOTHING,
	NEEDS_SIZE,
	NEEDS_DISTANCE,
	NEEDS_POINT
} Need;

static const char *const rule_words[] = {
	[WMLC_MIXTURE] = "mixture",
	[WMLC_CLOSEST] = "closest",
	[WMLC_UNIFORM] = "uniform",
	[WMLC_POOLED] = "pooled"
};

static const struct
{
	Need		need;
	WmlcStatus	(*weigh) (const Question *question, double *alpha);
}			rules[] = {
	[WMLC_MIXTURE] = {NEEDS_POINT, weigh_mixture},
	[WMLC_CLOSEST] = {NEEDS_DISTANCE, weigh_closest},
	[WMLC_UNIFORM] = {NEEDS_NOTHING, weigh_uniform},
	[WMLC_POOLED] = {NEEDS_SIZE, weigh_pooled}
};

const WmlcWords wmlc_rule_words = WMLC_WORDS(rule_words);

bool
wmlc_rule_is_spatial(WmlcRule rule)
{
	return rules[rule].need >= NEEDS_DISTANCE;
}

/* |point|, infinite where it is not finite. */
static double
point_length(const double *point, size_t dims)
{
	double		length = wmlc_length(point, dims);

	return isfinite(length) ? length : INFINITY;
}

static WmlcSimplex
simplex_of(const WmlcCandidates *candidates, double ridge)
{
	return (WmlcSimplex) {
		.points = candidates->points,
		.count = candidates->count,
		.dims = candidates->dims,
		.stride = candidates->stride,
		.ridge = ridge
	};
}

/*
 * With a ridge the solver works on a D x D matrix.  Points that are far fewer
 * than D span fewer dimensions, and are first turned into these.
 */
static bool
reduction_pays(const WmlcWeighting *weighting, size_t count, size_t dims)
{
	return weighting->shrink > 0.0 && dims / 2 > count;
}

/* What a mixture works in: reduced points, if it pays, and room for each step. */
typedef struct Room
{
	double	   *reduced;		/* or NULL */
	void	   *step;
} Room;

static void
lay_out(Room *room, const WmlcWeighting *weighting, size_t count, size_t dims, WmlcArena *arena)
{
	room->reduced = NULL;
	if (reduction_pays(weighting, count, dims))
	{
		room->reduced = wmlc_arena_doubles(arena, count * count);
		room->step = wmlc_arena_take(arena, wmlc_larger(wmlc_simplex_workspace(count, count, weighting->shrink),
												   wmlc_reduce_points_workspace(count)), 1);
	}
	else
		room->step = wmlc_arena_take(arena, wmlc_simplex_workspace(count, dims, weighting->shrink), 1);
}

/* Fewer candidates than there might be can take more: as many as are just reduced, or just not. */
size_t
wmlc_weigh_workspace(const WmlcWeighting *weighting, size_t count, size_t dims)
{
	WmlcArena	reduced = {NULL, 0};
	WmlcArena	plain = {NULL, 0};
	Room		room;

	if (weighting->rule != WMLC_MIXTURE)
		return 0;
	if (reduction_pays(weighting, 1, dims))
		lay_out(&room, weighting, wmlc_smaller(count, dims / 2 - 1), dims, &reduced);
	if (reduction_pays(weighting, count, dims))
		dims = 2 * count + 1;
	lay_out(&room, weighting, count, dims, &plain);
	return wmlc_larger(reduced.used, plain.used);
}

static WmlcStatus
weigh_mixture(const Question *question, double *alpha)
{
	const WmlcWeighting *weighting = question->weighting;
	const WmlcCandidates *candidates = question->candidates;
	WmlcSimplex problem = simplex_of(candidates, wmlc_weighting_ridge(weighting, candidates->variance));
	WmlcArena	arena = {question->work, 0};
	Room		room;
	WmlcStatus	status = WMLC_OK;

	if (!isfinite(problem.ridge))
		return weigh_uniform(question, alpha);
	lay_out(&room, weighting, problem.count, problem.dims, &arena);
	if (room.reduced != NULL)
		status = wmlc_reduce_points(&problem, room.reduced, room.step, question->poll);
	if (status == WMLC_OK)
		status = wmlc_simplex_solve(&problem, alpha, question->report, room.step, question->poll);
	return status == WMLC_NO_CONVERGENCE ? WMLC_OK : status;
}

static WmlcStatus
weigh_closest(const Question *question, double *alpha)
{
	const WmlcCandidates *candidates = question->candidates;
	double		least = INFINITY;
	size_t		closest = 0;

	for (size_t j = 0; j < candidates->count; j++)
	{
		double		distance = candidates->distances != NULL ? candidates->distances[j]
			: point_length(candidates->points + j * candidates->stride, candidates->dims);

		if (distance < least)
		{
			least = distance;
			closest = j;
		}
		alpha[j] = 0.0;
		if (j % WMLC_CHUNK == 0 && wmlc_interrupted(question->poll))
			return WMLC_INTERRUPTED;
	}
	alpha[closest] = 1.0;
	return isfinite(least) ? WMLC_OK : WMLC_NOT_FINITE;
}

static WmlcStatus
weigh_uniform(const Question *question, double *alpha)
{
	for (size_t j = 0; j < question->candidates->count; j++)
		alpha[j] = 1.0 / (double) question->candidates->count;
	return WMLC_OK;
}

/* As shares of the largest, whose sum cannot overflow. */
static WmlcStatus
weigh_pooled(const Question *question, double *alpha)
{
	const WmlcCandidates *candidates = question->candidates;
	double		largest = 0.0;
	double		total = 0.0;

	for (size_t j = 0; j < candidates->count; j++)
		largest = fmax(largest, candidates->sizes[j]);
	for (size_t j = 0; j < candidates->count; j++)
	{
		alpha[j] = candidates->sizes[j] / largest;
		total += alpha[j];
	}
	for (size_t j = 0; j < candidates->count; j++)
		alpha[j] /= total;
	return isfinite(total) ? WMLC_OK : WMLC_NOT_FINITE;
}

WmlcStatus
wmlc_weigh(const WmlcWeighting *weighting, const WmlcCandidates *candidates, double *alpha,
		   WmlcSimplexReport *report, void *work, WmlcPoll poll)
{
	Question	question = {weighting, candidates, report, work, poll};

	memset(report, 0, sizeof(*report));
	return rules[weighting->rule].weigh(&question, alpha);
}

size_t
wmlc_weigh_kernel_workspace(const WmlcWeighting *weighting, size_t count)
{
	WmlcArena	arena = {NULL, 0};

	wmlc_arena_doubles(&arena, count * count);
	wmlc_arena_take(&arena, wmlc_larger(wmlc_kernel_points_workspace(count),
								   wmlc_weigh_workspace(weighting, count - 1, count)), 1);
	return arena.used;
}

WmlcStatus
wmlc_weigh_kernel(const WmlcWeighting *weighting, const double *kernel, const double *sizes, size_t count,
				  double *alpha, WmlcSimplexReport *report, void *work, WmlcPoll poll)
{
	WmlcArena	arena = {work, 0};
	double	   *points = wmlc_arena_doubles(&arena, count * count);
	void	   *rest = wmlc_arena_take(&arena, 0, 1);
	const double *target = points + (count - 1) * count;
	WmlcCandidates candidates = {
		.count = count - 1,
		.points = points,
		.stride = count,
		.sizes = sizes,
		.variance = kernel[count * count - 1] / sizes[count - 1]
	};
	WmlcStatus	status = wmlc_kernel_points(kernel, count, points, &candidates.dims, rest, poll);

	if (status != WMLC_OK)
		return status;
	for (size_t i = 0; i < count - 1; i++)
	{
		for (size_t k = 0; k < candidates.dims; k++)
			points[i * count + k] -= target[k];
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	return wmlc_weigh(weighting, &candidates, alpha, report, rest, poll);
}

/* For a ridge beyond all numbers: 0 for equal weights, and infinite for others. */
static double
gap_from_equal(const double *alpha, size_t count)
{
	for (size_t j = 0; j < count; j++)
	{
		if (fabs(alpha[j] - 1.0 / (double) count) > 4.0 * DBL_EPSILON)
			return INFINITY;
	}
	return 0.0;
}

size_t
wmlc_weigh_gap_workspace(const WmlcCandidates *candidates)
{
	return wmlc_simplex_workspace(candidates->count, candidates->dims, 0.0);
}

WmlcStatus
wmlc_weigh_gap(const WmlcWeighting *weighting, const WmlcCandidates *candidates, const double *alpha,
			   double *gap, void *work, WmlcPoll poll)
{
	WmlcSimplex problem = simplex_of(candidates, wmlc_weighting_ridge(weighting, candidates->variance));
	WmlcSimplexReport report = {0};
	WmlcStatus	status = WMLC_OK;

	if (!isfinite(problem.ridge))
		report.gap = gap_from_equal(alpha, problem.count);
	else
		status = wmlc_simplex_gap(&problem, alpha, &report, work, poll);
	*gap = report.gap;
	return status;
}

size_t
wmlc_weigher_workspace(const WmlcWeighting *weighting, int dims)
{
	WmlcArena	arena = {NULL, 0};

	if (wmlc_rule_is_spatial(weighting->rule))
	{
		wmlc_arena_take(&arena, wmlc_embedding_frame_workspace(dims), 1);
		wmlc_arena_doubles(&arena, wmlc_embedding_dims(weighting->loss, dims));
	}
	return arena.used;
}

/* Numbers that a rule keeps of a source. */
static size_t
width_of(Need need, const WmlcEmbeddingFrame *frame)
{
	switch (need)
	{
		case NEEDS_NOTHING:
			break;
		case NEEDS_SIZE:
		case NEEDS_DISTANCE:
			return 1;
		case NEEDS_POINT:
			return wmlc_difference_dims(frame);
	}
	return 0;
}

WmlcStatus
wmlc_weigher_create(WmlcWeigher *weigher, const WmlcWeighting *weighting, const WmlcGram *target,
					const WmlcWhitener *whitener, void *work, WmlcPoll poll)
{
	WmlcArena	arena = {work, 0};
	WmlcStatus	status = WMLC_OK;

	weigher->weighting = *weighting;
	weigher->poll = poll;
	weigher->variance = NAN;
	if (wmlc_rule_is_spatial(weighting->rule))
	{
		void	   *frame_work = wmlc_arena_take(&arena, wmlc_embedding_frame_workspace(target->dims), 1);

		weigher->point = wmlc_arena_doubles(&arena, wmlc_embedding_dims(weighting->loss, target->dims));
		wmlc_embedding_frame_create(&weigher->frame, weighting->loss, target, whitener, frame_work, poll);
		if (weighting->rule == WMLC_MIXTURE && weighting->shrink > 0.0)
			status = wmlc_sampling_variance(&weigher->frame, &weigher->variance);
	}
	weigher->width = width_of(rules[weighting->rule].need, &weigher->frame);
	return status;
}

WmlcStatus
wmlc_weigher_keep(const WmlcWeigher *weigher, const WmlcGram *source, double *kept)
{
	WmlcStatus	status = WMLC_OK;

	switch (rules[weigher->weighting.rule].need)
	{
		case NEEDS_NOTHING:
			break;
		case NEEDS_SIZE:
			*kept = wmlc_dd_value(source->weight);
			break;
		case NEEDS_DISTANCE:
			status = wmlc_difference(&weigher->frame, source, weigher->point);
			*kept = point_length(weigher->point, wmlc_difference_dims(&weigher->frame));
			break;
		case NEEDS_POINT:
			status = wmlc_difference(&weigher->frame, source, kept);
			break;
	}
	return status;
}

WmlcStatus
wmlc_weigher_keep_point(const WmlcWeigher *weigher, const double *plain, double *kept)
{
	WmlcStatus	status;

	if (rules[weigher->weighting.rule].need == NEEDS_POINT)
		return wmlc_whiten_difference(&weigher->frame, plain, kept);
	status = wmlc_whiten_difference(&weigher->frame, plain, weigher->point);
	*kept = point_length(weigher->point, wmlc_difference_dims(&weigher->frame));
	return status;
}

WmlcCandidates
wmlc_weigher_candidates(const WmlcWeigher *weigher, const double *kept, size_t count)
{
	WmlcCandidates candidates = {.count = count, .variance = weigher->variance};

	switch (rules[weigher->weighting.rule].need)
	{
		case NEEDS_NOTHING:
			break;
		case NEEDS_SIZE:
			candidates.sizes = kept;
			break;
		case NEEDS_DISTANCE:
			candidates.distances = kept;
			break;
		case NEEDS_POINT:
			candidates.points = kept;
			candidates.dims = candidates.stride = weigher->width;
			break;
	}
	return candidates;
}
