/*
 * compare.c
 *	  Many ways to learn from the same sources, tried on the same targets.
 */
#include "core/compare/compare.h"

#include <string.h>

#include "core/model/adapt.h"
#include "core/base/arena.h"
#include "core/compare/compare_prior.h"
#include "core/compare/compare_stack.h"
#include "core/compare/compare_weights.h"
#include "core/weights/embedding.h"
#include "core/model/objective.h"

static const char *const learner_words[] = {"prior", "stack", "smooth", "robust"};

const WmlcWords wmlc_learner_words = WMLC_MORE_WORDS(&wmlc_objective_words, learner_words);

/* Folds, in which all sources take part, and rehearsals. */
#define STAGES 2

typedef struct State
{
	const WmlcComparison *comparison;
	WmlcPoll	poll;
	double	   *coefficients;
	WmlcStatus *statuses;
	size_t		done;			/* steps of all, for the trace */

	WmlcGram   *pooled;			/* all sources and the target */
	WmlcWhitener feature_whitener;	/* of psi, for learners */
	WmlcStatus	feature_status; /* of the latter */
	WmlcDd	   *basis;			/* z -> (R psi, y), by rows */
	double	   *back;			/* R, rounded: coefficients w = R' v */

	WmlcCompareWeights weights;
	bool	   *acts;			/* which sources are left out of some trial */
	size_t		stayer;			/* one that never is, or WMLC_NO_SOURCE */
	double	   *source_sums;	/* objective of each source under one learner */
	double	   *stayer_sums;	/* that of all stayers, for each rule by size and stage */
	double	   *sum;			/* weighted sum of the sources' objectives */
	double	   *joint;			/* likewise, with the target */
	WmlcGram   *whitened;		/* one task in the whitened basis */
	double	   *v;				/* coefficients in the learner's basis */
	void	   *whitener_work;
	void	   *work;			/* of whatever runs at the moment */
} State;

/* The largest need of all the functions that run one after the other. */
static size_t
shared_workspace(const WmlcComparison *c)
{
	size_t		bytes = wmlc_larger(wmlc_compare_weigh_workspace(c), wmlc_adapt_workspace(c->d));

	bytes = wmlc_larger(bytes, 2 * (size_t) (c->d + 1) * (c->d + 1) * sizeof(WmlcDd));
	for (int i = 0; i < c->learner_count; i++)
	{
		if (wmlc_learns_prior(c->learners[i].kind))
			bytes = wmlc_larger(bytes, wmlc_compare_prior_workspace(c, c->learners[i].kind));
		else if (c->learners[i].kind == WMLC_LEARN_STACK)
			bytes = wmlc_larger(bytes, wmlc_compare_stack_workspace(c));
		else
			bytes = wmlc_larger(bytes, wmlc_objective_workspace(c->learners[i].kind, c->d));
	}
	return bytes;
}

static size_t
lay_out(State *state, const WmlcComparison *c, void *base)
{
	WmlcArena	arena = {base, 0};
	size_t		p = (size_t) c->d + 1;
	size_t		objective = 0;

	for (int i = 0; i < c->learner_count; i++)
	{
		if (c->learners[i].kind < WMLC_OBJECTIVES)
			objective = wmlc_larger(objective, wmlc_objective_doubles(c->learners[i].kind, c->d));
	}
	state->pooled = wmlc_arena_take(&arena, wmlc_gram_bytes(c->d), 1);
	state->basis = wmlc_arena_take(&arena, p * p, sizeof(WmlcDd));
	state->back = wmlc_arena_doubles(&arena, p * p);
	wmlc_compare_weights_lay_out(&state->weights, c, &arena);
	state->acts = wmlc_arena_take(&arena, c->source_count, sizeof(bool));
	state->whitener_work = wmlc_arena_take(&arena, wmlc_whitener_workspace(c->d), 1);
	state->source_sums = wmlc_arena_doubles(&arena, c->source_count * objective);
	state->stayer_sums = wmlc_arena_doubles(&arena, WMLC_RULES * STAGES * objective);
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

/* The basis of the learners: directions that only the target knows must not get lost. */
static WmlcStatus
create_feature_basis(State *state)
{
	const WmlcComparison *c = state->comparison;
	const WmlcWhitener *whitener = &state->feature_whitener;
	WmlcStatus	status = wmlc_gram_merge(state->pooled, c->target);
	int			rank;

	if (status == WMLC_OK)
		status = wmlc_whitener_create(&state->feature_whitener, state->pooled, WMLC_HINGE,
									  state->whitener_work, state->poll);
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

/* Pool the sources and whiten.  A basis that cannot be had is the fault of the methods that want it. */
static WmlcStatus
create_bases(State *state)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status;

	status = wmlc_compare_pool(state->pooled, c->d, c->source_count, c->sources, state->poll);
	if (status == WMLC_OK)
		status = wmlc_compare_weights_prepare(&state->weights, state->poll);
	if (status != WMLC_OK)
		return status;
	state->feature_status = create_feature_basis(state);
	return state->feature_status == WMLC_INTERRUPTED ? WMLC_INTERRUPTED : WMLC_OK;
}

/* Which sources are left out of some trial. */
static void
find_actors(State *state)
{
	const WmlcComparison *c = state->comparison;

	memset(state->acts, 0, c->source_count * sizeof(bool));
	for (size_t i = 0; i < c->trial_count; i++)
	{
		if (c->trials[i].left_out != WMLC_NO_SOURCE)
			state->acts[c->trials[i].left_out] = true;
	}
	state->stayer = WMLC_NO_SOURCE;
	for (size_t j = c->source_count; j-- > 0;)
	{
		if (!state->acts[j] && wmlc_takes_part(c, &(WmlcTrial) {.left_out = c->source_count}, j))
			state->stayer = j;
	}
}

/* Another trial is through, with weights or with one learner. */
static void
report(State *state)
{
	const WmlcComparison *c = state->comparison;

	state->done++;
	if (c->trace != NULL)
		c->trace(c->trace_arg, state->done, c->trial_count * (1 + (size_t) c->learner_count));
}

/* The same rows in the whitened basis. */
static WmlcStatus
whiten(State *state, const WmlcGram *gram)
{
	int			rank = state->feature_whitener.rank;

	if (state->feature_status != WMLC_OK)
		return state->feature_status;
	wmlc_gram_init(state->whitened, rank);
	return wmlc_gram_transform(gram, state->basis, rank + 1, state->whitened, state->work,
							   state->poll);
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

	/* weights of one stayer in the sums of all; 0 while there is none */
	double		stayer_alpha[WMLC_RULES * STAGES];
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

/* Add the objectives of some sources: all, those that stay or those that act. */
typedef enum Part
{
	ALL_SOURCES,
	STAYERS,
	ACTORS
} Part;

static WmlcStatus
add_weighted(State *state, const Lesson *lesson, const WmlcObjectiveSum *sum, const double *alpha,
			 Part part)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = WMLC_OK;

	for (size_t j = 0; j < c->source_count && status == WMLC_OK; j++)
	{
		WmlcObjectiveSum source;

		if (j % WMLC_COMPARE_POLL_INTERVAL == 0 && wmlc_interrupted(state->poll))
			return WMLC_INTERRUPTED;
		if (alpha[j] == 0.0 || (part != ALL_SOURCES && state->acts[j] != (part == ACTORS)))
			continue;
		source = attach(lesson, state->source_sums + j * lesson->doubles);
		status = wmlc_objective_merge(sum, &source, alpha[j], state->work, state->poll);
	}
	return status;
}

/*
 * The weighted sum of all sources.  Where only sizes count, the sources that take
 * part in every trial have the same sum in all of them, up to a factor.
 */
static WmlcStatus
weigh_sources(State *state, Lesson *lesson, size_t trial, int weighting)
{
	const WmlcComparison *c = state->comparison;
	WmlcRule	weights = c->weightings[weighting].rule;
	const double *alpha = wmlc_compare_weights_at(&state->weights, trial, weighting);
	bool		rehearsal = c->trials[trial].left_out != WMLC_NO_SOURCE;
	int			rule = weights * STAGES + rehearsal;
	double	   *array = state->stayer_sums + rule * lesson->doubles;
	WmlcObjectiveSum stayers;
	WmlcStatus	status = state->weights.statuses[trial * c->weighting_count + weighting];

	lesson->sum = attach_empty(lesson, state->sum);
	if (status != WMLC_OK)
		return status;
	if (wmlc_rule_is_spatial(weights) || state->stayer == WMLC_NO_SOURCE)
		return add_weighted(state, lesson, &lesson->sum, alpha, ALL_SOURCES);
	if (lesson->stayer_alpha[rule] == 0.0)
	{
		stayers = attach_empty(lesson, array);
		status = add_weighted(state, lesson, &stayers, alpha, STAYERS);
		lesson->stayer_alpha[rule] = alpha[state->stayer];
	}
	stayers = attach(lesson, array);
	if (status == WMLC_OK)
		status = wmlc_objective_merge(&lesson->sum, &stayers,
									  alpha[state->stayer] / lesson->stayer_alpha[rule],
									  state->work, state->poll);
	if (status == WMLC_OK)
		status = add_weighted(state, lesson, &lesson->sum, alpha, ACTORS);
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

/*
 * What cannot be computed is the failure of methods first to last - 1, not ours:
 * go on, unless interrupted.
 */
static WmlcStatus
forgive(State *state, WmlcStatus status, size_t trial, int first, int last)
{
	const WmlcComparison *c = state->comparison;

	if (status == WMLC_OK || status == WMLC_INTERRUPTED)
		return status;
	for (int i = first; i < last; i++)
	{
		double	   *w = state->coefficients + (trial * c->method_count + i) * c->d;

		for (int k = 0; k < c->d; k++)
			w[k] = NAN;
		if (state->statuses[i] == WMLC_OK)
			state->statuses[i] = status;
	}
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
			weighed = weigh_sources(state, lesson, trial, weighting);
		}
		status = weighed == WMLC_OK ? fit(state, lesson, method) : weighed;
		if (status == WMLC_OK)
			put_coefficients(state, lesson, w);
		status = forgive(state, status, trial, i, i + 1);
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
	lesson.d = lesson.learner->whiten && state->feature_status == WMLC_OK
		? state->feature_whitener.rank : c->d;
	lesson.doubles = wmlc_objective_doubles(lesson.objective.kind, lesson.d);
	added = add_sources(state, &lesson);
	for (size_t trial = 0; trial < c->trial_count && status == WMLC_OK; trial++)
	{
		status = added == WMLC_OK ? learn_trial(state, &lesson, trial, first, last) : added;
		status = forgive(state, status, trial, first, last);
		report(state);
	}
	return status;
}

/* Methods first to last - 1 share the learner. */
static WmlcStatus
learn(State *state, int first, int last)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = WMLC_OK;

	int			kind = c->learners[c->methods[first].learner].kind;

	if (kind < WMLC_OBJECTIVES)
		return learn_objective(state, first, last);
	if (kind == WMLC_LEARN_STACK)
		status = wmlc_compare_stack(c, first, last, state->weights.alpha, state->coefficients,
									state->statuses, state->work, state->poll);
	for (int i = first; i < last && status == WMLC_OK && wmlc_learns_prior(kind); i++)
		status = wmlc_compare_prior(c, i, state->coefficients, &state->statuses[i], state->work,
									state->poll);
	state->done += c->trial_count - 1;
	report(state);
	return status;
}

/*
 * Judging
 */

static WmlcStatus
judge(const State *state, double *errors)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status;

	for (size_t trial = 0; trial < c->trial_count; trial++)
	{
		const WmlcGram *unknown = c->trials[trial].unknown;

		if (wmlc_interrupted(state->poll))
			return WMLC_INTERRUPTED;
		for (int i = 0; i < c->method_count && unknown != NULL; i++)
		{
			size_t		place = trial * c->method_count + i;

			status = wmlc_mse(unknown, state->coefficients + place * c->d, &errors[place]);
			if (status == WMLC_OK)
				continue;
			errors[place] = INFINITY;
			if (state->statuses[i] == WMLC_OK)
				state->statuses[i] = status;
		}
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_compare(const WmlcComparison *comparison, double *coefficients, double *errors,
			 WmlcStatus *statuses, void *work, WmlcPoll poll)
{
	State		state;
	WmlcStatus	status;
	int			first = 0;

	lay_out(&state, comparison, work);
	state.comparison = comparison;
	state.poll = poll;
	state.coefficients = coefficients;
	state.statuses = statuses;
	state.done = 0;
	for (int i = 0; i < comparison->method_count; i++)
		statuses[i] = WMLC_OK;
	find_actors(&state);
	status = create_bases(&state);
	for (size_t trial = 0; trial < comparison->trial_count && status == WMLC_OK; trial++)
	{
		status = wmlc_compare_weigh(&state.weights, trial, state.work, poll);
		report(&state);
	}
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

WmlcStatus
wmlc_compare_fits(const WmlcComparison *comparison, size_t first_trial, int alone,
				  const double *coefficients, double *fits, WmlcPoll poll)
{
	int			methods = comparison->method_count;

	for (size_t trial = first_trial; trial < comparison->trial_count; trial++)
	{
		const WmlcGram *known = comparison->trials[trial].known;
		const double *w = coefficients + trial * methods * comparison->d;
		double		least;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (wmlc_mse(known, w + (size_t) alone * comparison->d, &least) != WMLC_OK)
			least = 0.0;
		for (int i = 0; i < methods; i++, fits++)
		{
			if (wmlc_mse(known, w + (size_t) i * comparison->d, fits) != WMLC_OK)
				*fits = INFINITY;
			*fits = fmax(*fits - least, 0.0);
		}
	}
	return WMLC_OK;
}

const double *
wmlc_compare_alpha(const WmlcComparison *comparison, size_t trial, int weighting, void *work)
{
	State		state;

	lay_out(&state, comparison, work);
	return wmlc_compare_weights_at(&state.weights, trial, weighting);
}
