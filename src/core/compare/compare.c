/*
 * compare.c
 *	  Many ways to learn from the same sources, tried on the same targets.
 */
#include "core/compare/compare.h"

#include <string.h>

#include "core/model/adapt.h"
#include "core/base/arena.h"
#include "core/compare/compare_prior.h"
#include "core/weights/embedding.h"
#include "core/model/objective.h"
#include "core/simplex/simplex.h"

static const char *const learner_words[] = {"prior"};

const WmlcWords wmlc_learner_words = WMLC_MORE_WORDS(&wmlc_objective_words, learner_words);

/* Bases of the rows: as they are, and whitened. */
#define BASES 2

typedef struct State
{
	const WmlcComparison *comparison;
	WmlcPoll	poll;
	double	   *coefficients;

	WmlcGram   *pooled;			/* all sources; then the target, too */
	WmlcWhitener embedding_whitener;	/* of z = (psi, y), for weights */
	WmlcWhitener feature_whitener;	/* of psi, for learners */
	WmlcDd	   *basis;			/* z -> (R psi, y), by rows */
	double	   *back;			/* R, rounded: coefficients w = R' v */

	double	   *alpha;			/* trials x weightings x sources */
	double	   *points[BASES];	/* sources minus target, one row each */
	double	   *source_sums;	/* objective of each source under one learner */
	double	   *sum;			/* their weighted sum */
	double	   *joint;			/* likewise, with the target */
	WmlcGram   *whitened;		/* one task in the whitened basis */
	double	   *v;				/* coefficients in the learner's basis */
	void	   *whitener_work[BASES];
	void	   *work;			/* of whatever runs at the moment */
} State;

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The largest need of all the functions that run one after the other. */
static size_t
shared_workspace(const WmlcComparison *c)
{
	size_t		embedding = wmlc_embedding_dims(WMLC_SQUARE, c->d);
	size_t		bytes = wmlc_embedding_frame_workspace(c->d);

	bytes = larger(bytes, wmlc_simplex_workspace(c->source_count, embedding, 0.0));
	bytes = larger(bytes, wmlc_simplex_workspace(c->source_count, embedding, 1.0));
	bytes = larger(bytes, wmlc_adapt_workspace(c->d));
	bytes = larger(bytes, 2 * (size_t) (c->d + 1) * (c->d + 1) * sizeof(WmlcDd));
	for (int i = 0; i < c->learner_count; i++)
	{
		if (c->learners[i].kind == WMLC_LEARN_PRIOR)
			bytes = larger(bytes, wmlc_compare_prior_workspace(c));
		else
			bytes = larger(bytes, wmlc_objective_workspace(c->learners[i].kind, c->d));
	}
	return bytes;
}

static size_t
lay_out(State *state, const WmlcComparison *c, void *base)
{
	WmlcArena	arena = {base, 0};
	size_t		p = (size_t) c->d + 1;
	size_t		embedding = wmlc_embedding_dims(WMLC_SQUARE, c->d);
	size_t		objective = 0;

	for (int i = 0; i < c->learner_count; i++)
	{
		if (c->learners[i].kind != WMLC_LEARN_PRIOR)
			objective = larger(objective, wmlc_objective_doubles(c->learners[i].kind, c->d));
	}
	state->pooled = wmlc_arena_take(&arena, wmlc_gram_bytes(c->d), 1);
	state->basis = wmlc_arena_take(&arena, p * p, sizeof(WmlcDd));
	state->back = wmlc_arena_doubles(&arena, p * p);
	state->alpha = wmlc_arena_doubles(&arena, c->trial_count * c->weighting_count * c->source_count);
	for (int i = 0; i < BASES; i++)
	{
		state->points[i] = wmlc_arena_doubles(&arena, c->source_count * embedding);
		state->whitener_work[i] = wmlc_arena_take(&arena, wmlc_whitener_workspace(c->d), 1);
	}
	state->source_sums = wmlc_arena_doubles(&arena, c->source_count * objective);
	state->sum = wmlc_arena_doubles(&arena, objective);
	state->joint = wmlc_arena_doubles(&arena, objective);
	state->whitened = wmlc_arena_take(&arena, wmlc_gram_bytes(c->d), 1);
	state->v = wmlc_arena_doubles(&arena, p);
	state->work = wmlc_arena_take(&arena, shared_workspace(c), 1);
	return arena.used;
}

size_t
wmlc_compare_workspace(const WmlcComparison *comparison)
{
	State		state;

	return lay_out(&state, comparison, NULL);
}

/*
 * How many rows of R to use.  They come in the order of how much the direction
 * varies beside the earlier ones.  Later ones magnify rounding: a direction of
 * 2^-32 of a feature's length leaves 40 bits of the sums to what is squared, and
 * with less than that, moments may look as if no rows had them.
 */
static int
usable_rank(const WmlcWhitener *whitener, const WmlcGram *pooled)
{
	for (int i = 0; i < whitener->rank; i++)
	{
		for (int k = 0; k < whitener->size; k++)
		{
			double		entry = whitener->matrix.hi[(size_t) i * whitener->size + k];

			if (fabs(entry) * sqrt(wmlc_gram_moment(pooled, k, k).hi) > 0x1p32)
				return i;
		}
	}
	return whitener->rank;
}

/* Pool the sources and whiten: weights by the sources alone, as wml_alpha does. */
static WmlcStatus
create_bases(State *state)
{
	const WmlcComparison *c = state->comparison;
	const WmlcWhitener *whitener = &state->feature_whitener;
	WmlcStatus	status = WMLC_OK;
	int			rank;

	wmlc_gram_init(state->pooled, c->d);
	for (size_t j = 0; j < c->source_count && status == WMLC_OK; j++)
		status = wmlc_gram_merge(state->pooled, c->sources[j]);
	if (status == WMLC_OK)
		status = wmlc_whitener_create(&state->embedding_whitener, state->pooled, WMLC_SQUARE,
									  state->whitener_work[0], state->poll);

	/* directions that only the target knows must not get lost in the models */
	if (status == WMLC_OK)
		status = wmlc_gram_merge(state->pooled, c->target);
	if (status == WMLC_OK)
		status = wmlc_whitener_create(&state->feature_whitener, state->pooled, WMLC_HINGE,
									  state->whitener_work[1], state->poll);
	if (status != WMLC_OK)
		return status;

	state->feature_whitener.rank = rank = usable_rank(whitener, state->pooled);
	for (int i = 0; i <= rank; i++)
	{
		for (int k = 0; k <= c->d; k++)
		{
			WmlcDd		entry = wmlc_dd(i == rank && k == c->d ? 1.0 : 0.0);

			if (i < rank && k < c->d)
			{
				entry = wmlc_dd_get(whitener->matrix, (size_t) i * c->d + k);
				state->back[(size_t) i * c->d + k] = wmlc_dd_value(entry);
			}
			state->basis[(size_t) i * (c->d + 1) + k] = entry;
		}
	}
	return WMLC_OK;
}

/* The same rows in the whitened basis. */
static WmlcStatus
whiten(State *state, const WmlcGram *gram)
{
	int			rank = state->feature_whitener.rank;

	wmlc_gram_init(state->whitened, rank);
	return wmlc_gram_transform(gram, state->basis, rank + 1, state->whitened, state->work,
							   state->poll);
}

/*
 * Weights
 */

static double *
alpha_of(const State *state, size_t trial, int weighting)
{
	const WmlcComparison *c = state->comparison;

	return state->alpha + (trial * c->weighting_count + weighting) * c->source_count;
}

/* The differences of all sources that take part, in one basis. */
static WmlcStatus
create_points(State *state, const WmlcTrial *trial, int basis, WmlcSimplex *points,
			  double *variance)
{
	const WmlcComparison *c = state->comparison;
	WmlcEmbeddingFrame frame;
	double	   *next = state->points[basis];
	WmlcStatus	status = WMLC_OK;

	wmlc_embedding_frame_create(&frame, WMLC_SQUARE, trial->known,
								basis == 0 ? NULL : &state->embedding_whitener,
								state->work, state->poll);
	points->points = next;
	points->count = 0;
	points->dims = points->stride = wmlc_difference_dims(&frame);
	for (size_t j = 0; j < c->source_count && status == WMLC_OK; j++)
	{
		if (j == trial->left_out)
			continue;
		status = wmlc_difference(&frame, c->sources[j], next);
		next += points->dims;
		points->count++;
	}
	if (status == WMLC_OK)
		status = wmlc_sampling_variance(&frame, variance);
	return status;
}

/*
 * A mixture.  A single row says nothing of its sampling variance, which may be
 * anything: the most careful answer are equal weights.
 */
static WmlcStatus
weigh_mixture(State *state, WmlcSimplex *points, double shrink, double variance, double *alpha)
{
	WmlcSimplexReport report;
	WmlcStatus	status;

	points->ridge = shrink == 0.0 ? 0.0 : shrink * variance;
	if (isnan(points->ridge))
	{
		for (size_t j = 0; j < points->count; j++)
			alpha[j] = 1.0 / (double) points->count;
		return WMLC_OK;
	}
	status = wmlc_simplex_solve(points, alpha, &report, state->work, state->poll);

	/* weights that are not quite the best are weights still */
	return status == WMLC_NO_CONVERGENCE ? WMLC_OK : status;
}

static void
weigh_closest(const WmlcSimplex *points, double *alpha)
{
	double		least = INFINITY;
	size_t		closest = 0;

	for (size_t j = 0; j < points->count; j++)
	{
		const double *e = points->points + j * points->stride;
		double		square = 0.0;

		for (size_t k = 0; k < points->dims; k++)
			square += e[k] * e[k];
		if (square < least)
		{
			least = square;
			closest = j;
		}
		alpha[j] = 0.0;
	}
	alpha[closest] = 1.0;
}

static void
weigh_by_size(const State *state, const WmlcTrial *trial, bool uniform, double *alpha)
{
	const WmlcComparison *c = state->comparison;
	double		total = 0.0;
	size_t		count = 0;

	for (size_t j = 0; j < c->source_count; j++)
	{
		if (j == trial->left_out)
			continue;
		alpha[count] = uniform ? 1.0 : wmlc_dd_value(c->sources[j]->weight);
		total += alpha[count++];
	}
	for (size_t j = 0; j < count; j++)
		alpha[j] /= total;
}

/* Make room for the source left out, with weight zero. */
static void
spread(const WmlcTrial *trial, size_t source_count, double *alpha)
{
	size_t		gap = trial->left_out;

	if (gap == WMLC_NO_SOURCE)
		return;
	memmove(alpha + gap + 1, alpha + gap, (source_count - 1 - gap) * sizeof(double));
	alpha[gap] = 0.0;
}

/* The weights of one trial under all weightings. */
static WmlcStatus
weigh(State *state, size_t number)
{
	const WmlcComparison *c = state->comparison;
	const WmlcTrial *trial = &c->trials[number];
	WmlcSimplex points[BASES] = {{.count = 0}, {.count = 0}};
	double		variance[BASES];
	WmlcStatus	status = WMLC_OK;

	for (int i = 0; i < c->weighting_count && status == WMLC_OK; i++)
	{
		const WmlcWeighting *weighting = &c->weightings[i];
		int			basis = weighting->whiten;
		bool		by_size = weighting->kind == WMLC_UNIFORM ||
			weighting->kind == WMLC_POOLED;
		double	   *alpha = alpha_of(state, number, i);

		if (!by_size && points[basis].count == 0)
			status = create_points(state, trial, basis, &points[basis], &variance[basis]);
		if (status != WMLC_OK)
			break;
		if (by_size)
			weigh_by_size(state, trial, weighting->kind == WMLC_UNIFORM, alpha);
		else if (weighting->kind == WMLC_CLOSEST)
			weigh_closest(&points[basis], alpha);
		else
			status = weigh_mixture(state, &points[basis], weighting->shrink, variance[basis],
								   alpha);
		spread(trial, c->source_count, alpha);
	}
	return status;
}

/*
 * Learning
 */

/* What one learner works with, in its basis. */
typedef struct Lesson
{
	const WmlcLearner *learner;
	WmlcObjective objective;
	int			d;
	size_t		doubles;		/* of an objective's sum */
	const WmlcGram *known;
	WmlcObjectiveSum sum;
} Lesson;

static WmlcObjectiveSum
attach(const Lesson *lesson, double *array)
{
	WmlcObjectiveSum sum;

	wmlc_objective_attach(&sum, lesson->objective.kind, lesson->d, array);
	return sum;
}

static WmlcObjectiveSum
attach_empty(const Lesson *lesson, double *array)
{
	memset(array, 0, lesson->doubles * sizeof(double));
	return attach(lesson, array);
}

/* The gram in the learner's basis. */
static WmlcStatus
change_basis(State *state, const Lesson *lesson, const WmlcGram **gram)
{
	WmlcStatus	status = WMLC_OK;

	if (lesson->learner->whiten)
	{
		status = whiten(state, *gram);
		*gram = state->whitened;
	}
	return status;
}

/* Each source's objective, once for all trials and weights. */
static WmlcStatus
add_sources(State *state, const Lesson *lesson)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = WMLC_OK;

	for (size_t j = 0; j < c->source_count && status == WMLC_OK; j++)
	{
		const WmlcGram *source = c->sources[j];
		WmlcObjectiveSum sum = attach_empty(lesson, state->source_sums + j * lesson->doubles);

		status = change_basis(state, lesson, &source);
		if (status == WMLC_OK)
			status = wmlc_objective_add(&sum, &lesson->objective, source, 1.0, state->work,
										state->poll);
	}
	return status;
}

static WmlcStatus
weigh_sources(State *state, Lesson *lesson, const double *alpha)
{
	WmlcStatus	status = WMLC_OK;

	lesson->sum = attach_empty(lesson, state->sum);
	for (size_t j = 0; j < state->comparison->source_count && status == WMLC_OK; j++)
	{
		WmlcObjectiveSum source = attach(lesson, state->source_sums + j * lesson->doubles);

		status = wmlc_objective_merge(&lesson->sum, &source, alpha[j], state->work);
	}
	return status;
}

/* The sources, whose weights sum to 1, together with the target. */
static WmlcStatus
join_target(State *state, const Lesson *lesson, double source_rows, WmlcObjectiveSum *joint)
{
	double		rows = wmlc_gram_effective_rows(lesson->known);

	if (source_rows == 0.0)
		*joint = attach_empty(lesson, state->joint);
	else
	{
		memcpy(state->joint, state->sum, lesson->doubles * sizeof(double));
		*joint = attach(lesson, state->joint);
	}
	return wmlc_objective_add(joint, &lesson->objective, lesson->known,
							  source_rows == 0.0 ? 1.0 : rows / source_rows,
							  state->work, state->poll);
}

/* Coefficients into state->v, from the weighted sources. */
static WmlcStatus
fit(State *state, const Lesson *lesson, const WmlcMethod *method)
{
	WmlcObjectiveSum sum = lesson->sum;
	WmlcStatus	status = WMLC_OK;
	int			rank;

	if (!isinf(method->source_rows))
		status = join_target(state, lesson, method->source_rows, &sum);
	if (status == WMLC_OK)
		status = wmlc_objective_fit(&sum, method->ridge, state->v, &rank, state->work,
									state->poll);
	if (status == WMLC_OK && method->adapt_steps > 0)
		status = wmlc_adapt(lesson->known, lesson->learner->eta, method->adapt_steps,
							state->v, state->v, state->work, state->poll);
	return status;
}

/* state->v in the units of the grams. */
static void
put_coefficients(const State *state, const Lesson *lesson, double *w)
{
	int			d = state->comparison->d;

	if (!lesson->learner->whiten)
	{
		memcpy(w, state->v, d * sizeof(double));
		return;
	}
	for (int k = 0; k < d; k++)
	{
		WmlcDd		entry = {0.0, 0.0};

		for (int i = 0; i < lesson->d; i++)
			entry = wmlc_dd_add(entry, wmlc_two_prod(state->back[(size_t) i * d + k], state->v[i]));
		w[k] = wmlc_dd_value(entry);
	}
}

/* Overflow is the method's failure, not ours. */
static WmlcStatus
forgive(WmlcStatus status, double *w, size_t count)
{
	if (status != WMLC_NOT_FINITE)
		return status;
	for (size_t i = 0; i < count; i++)
		w[i] = NAN;
	return WMLC_OK;
}

/* Methods first to last - 1 share the learner, on one trial. */
static WmlcStatus
learn_trial(State *state, Lesson *lesson, size_t trial, int first, int last)
{
	const WmlcComparison *c = state->comparison;
	int			weighting = -1;
	WmlcStatus	weighed = WMLC_OK;
	WmlcStatus	status;

	lesson->known = c->trials[trial].known;
	status = change_basis(state, lesson, &lesson->known);
	for (int i = first; i < last && status == WMLC_OK; i++)
	{
		const WmlcMethod *method = &c->methods[i];
		double	   *w = state->coefficients + (trial * c->method_count + i) * c->d;

		if (method->weighting != weighting)
		{
			weighting = method->weighting;
			weighed = weigh_sources(state, lesson, alpha_of(state, trial, weighting));
		}
		status = weighed == WMLC_OK ? fit(state, lesson, method) : weighed;
		if (status == WMLC_OK)
			put_coefficients(state, lesson, w);
		status = forgive(status, w, c->d);
	}
	return status;
}

/* Methods first to last - 1 share an objective, on all trials. */
static WmlcStatus
learn_objective(State *state, int first, int last)
{
	const WmlcComparison *c = state->comparison;
	Lesson		lesson = {.learner = &c->learners[c->methods[first].learner]};
	WmlcStatus	added;
	WmlcStatus	status = WMLC_OK;

	lesson.objective = (WmlcObjective) {
		.kind = lesson.learner->kind,
		.scale = WMLC_SCALE_MEAN,
		.eta = lesson.learner->kind == WMLC_ERM ? 0.0 : lesson.learner->eta,
		.steps = 1
	};
	lesson.d = lesson.learner->whiten ? state->feature_whitener.rank : c->d;
	lesson.doubles = wmlc_objective_doubles(lesson.objective.kind, lesson.d);
	added = add_sources(state, &lesson);
	for (size_t trial = 0; trial < c->trial_count && status == WMLC_OK; trial++)
	{
		size_t		begin = trial * c->method_count + first;

		status = added == WMLC_OK ? learn_trial(state, &lesson, trial, first, last) : added;
		status = forgive(status, state->coefficients + begin * c->d,
						 (size_t) (last - first) * c->d);
	}
	return status;
}

/* Methods first to last - 1 share the learner. */
static WmlcStatus
learn(State *state, int first, int last)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = WMLC_OK;

	if (c->learners[c->methods[first].learner].kind != WMLC_LEARN_PRIOR)
		return learn_objective(state, first, last);
	for (int i = first; i < last && status == WMLC_OK; i++)
		status = wmlc_compare_prior(c, i, state->coefficients, state->work, state->poll);
	return status;
}

/*
 * Judging
 */

static WmlcStatus
judge(const State *state, double *errors)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = WMLC_OK;

	for (size_t trial = 0; trial < c->trial_count; trial++)
	{
		const WmlcGram *unknown = c->trials[trial].unknown;

		if (wmlc_interrupted(state->poll))
			return WMLC_INTERRUPTED;
		for (int i = 0; i < c->method_count && unknown != NULL; i++)
		{
			size_t		place = trial * c->method_count + i;

			status = wmlc_mse(unknown, state->coefficients + place * c->d, &errors[place]);
			if (status == WMLC_NOT_FINITE)
				errors[place] = INFINITY;
			else if (status != WMLC_OK)
				return status;
		}
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_compare(const WmlcComparison *comparison, double *coefficients, double *errors,
			 void *work, WmlcPoll poll)
{
	State		state;
	WmlcStatus	status;
	int			first = 0;

	lay_out(&state, comparison, work);
	state.comparison = comparison;
	state.poll = poll;
	state.coefficients = coefficients;
	status = create_bases(&state);
	for (size_t trial = 0; trial < comparison->trial_count && status == WMLC_OK; trial++)
		status = weigh(&state, trial);
	for (int i = 1; i <= comparison->method_count && status == WMLC_OK; i++)
	{
		if (i < comparison->method_count &&
			comparison->methods[i].learner == comparison->methods[first].learner)
			continue;
		status = learn(&state, first, i);
		first = i;
	}
	return status == WMLC_OK ? judge(&state, errors) : status;
}
