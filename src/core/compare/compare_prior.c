/*
 * compare_prior.c
 *	  The learned prior among the methods of a comparison.
 *
 * A posterior costs next to nothing, a prior much.  It depends on the sources
 * alone, so one prior serves all folds.  In a rehearsal the actor must not take
 * part, but that one or another source of many is missing as well makes hardly a
 * difference: several rehearsals share a prior that was learned without any of
 * their actors, who are at most an eighth of the sources.  Then all rehearsals
 * together take about eight fits, or a single one if there are many sources.  Of
 * thousands of sources a sample tells as much: it leaves out all actors, and one
 * prior serves folds and rehearsals.
 *
 * The likelihood is the restricted one.  The ordinary one counts all J tasks,
 * though they vary about their own mean in J - 1 directions at most: with a
 * handful of tasks it finds too little spread, or none.
 *
 * A prior local to the target, with the weights of a mixture, would need a fit
 * for every trial.  On real and synthetic families of tasks it is no better.
 */
#include "core/compare/compare_prior.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/prior/belong.h"
#include "core/prior/posterior.h"
#include "core/prior/prior.h"

/* Fewer tasks than these do not tell who does not belong, and not more than one in so many is a stranger. */
#define LEAST_SCREENED 4
#define TASKS_PER_STRANGER 5

/* At most one source in so many is missing for the sake of other rehearsals. */
#define SOURCES_PER_ABSENT 8

/* More tasks than this hardly change a prior: its variances are known to 3 %. */
#define MOST_TASKS 2000

typedef struct State
{
	const WmlcComparison *comparison;
	WmlcPriorOptions options;
	int			dims;			/* features that it looks at, and their places */
	int		   *feature;
	bool	   *random;
	double	   *known;			/* the sums of a target, likewise */
	WmlcPriorTasks tasks;
	WmlcPrior	prior;
	double	   *moments;		/* what tasks points to */
	double	   *moments_lo;
	double	   *rows;
	double	   *alpha;			/* 0 for sources that are absent, else 1 */
	bool	   *acts;			/* of a sample: which sources are absent in some trial */
	void	   *work;			/* of the fit, then of posteriors */
} State;

/* Room for lists of features, as large as keeps what comes behind aligned. */
static size_t
list_bytes(const WmlcComparison *c)
{
	return (c->d * (sizeof(int) + sizeof(bool)) + 63) / 64 * 64;
}

/*
 * The features that a prior looks at, and which of them are smooth; the lists take
 * the beginning of `work`, of which the rest is returned.
 */
static void *
set_features(State *state, int kind, void *work)
{
	const WmlcComparison *c = state->comparison;
	bool		all = c->smooth == NULL || kind == WMLC_LEARN_SMOOTH;

	state->options.method = WMLC_PRIOR_REML;
	state->options.covariance = WMLC_PRIOR_FULL;
	state->options.own_noise = state->options.student = kind == WMLC_LEARN_ROBUST;
	state->dims = 0;
	for (int i = 0; i < c->d; i++)
		state->dims += all || !c->smooth[i];
	if (kind == WMLC_LEARN_SMOOTH)
		state->options.smooth = c->smooth;
	if (work == NULL)
		return NULL;
	state->feature = work;
	state->random = (bool *) (state->feature + c->d);
	for (int i = 0, n = 0; i < c->d; i++)
	{
		if (all || !c->smooth[i])
			state->feature[n++] = i;
		state->random[i] = c->smooth == NULL || !c->smooth[i];
	}
	if (kind == WMLC_LEARN_SMOOTH)
		state->options.random = state->random;
	return (char *) work + list_bytes(c);
}

static size_t
lay_out(State *state, const WmlcComparison *c, void *base)
{
	WmlcArena	arena = {base, 0};
	size_t		d = state->dims;
	size_t		count = c->source_count < MOST_TASKS ? c->source_count : MOST_TASKS;
	size_t		entries = count * wmlc_gram_entries(state->dims);
	size_t		fit = wmlc_prior_fit_workspace(state->dims, count, &state->options);
	size_t		posterior = wmlc_posterior_workspace(state->dims);

	state->known = wmlc_arena_doubles(&arena, 2 * wmlc_gram_entries(state->dims));
	state->prior.mean = wmlc_arena_doubles(&arena, d);
	state->prior.factor = wmlc_arena_doubles(&arena, d * d);
	state->prior.mean_factor = wmlc_arena_doubles(&arena, d * d);
	state->moments = wmlc_arena_doubles(&arena, entries);
	state->moments_lo = wmlc_arena_doubles(&arena, entries);
	state->rows = wmlc_arena_doubles(&arena, count);
	state->alpha = wmlc_arena_doubles(&arena, count);
	state->acts = wmlc_arena_take(&arena, c->source_count, sizeof(bool));
	state->work = wmlc_arena_take(&arena, fit > posterior ? fit : posterior, 1);
	return arena.used;
}

size_t
wmlc_compare_prior_workspace(const WmlcComparison *comparison, int kind)
{
	State		state = {.comparison = comparison};

	set_features(&state, kind, NULL);
	return list_bytes(comparison) + lay_out(&state, comparison, NULL);
}

/* Of the sums of a gram, those of the features that the prior looks at. */
static void
select_sums(const State *state, const WmlcGram *gram, double *hi, double *lo)
{
	size_t		entries = wmlc_gram_entries(gram->dims);
	size_t		k = 0;

	for (int i = 0; i <= state->dims; i++)
	{
		int			a = i < state->dims ? state->feature[i] : gram->dims;

		for (int j = i; j <= state->dims; j++, k++)
		{
			size_t		at = wmlc_triangle_index(gram->dims + 1, a,
												 j < state->dims ? state->feature[j] : gram->dims);

			hi[k] = gram->sums[at];
			lo[k] = gram->sums[entries + at];
		}
	}
}

/* A source beside the others, as the prior wants it. */
static void
gather_task(State *state, const WmlcGram *source)
{
	size_t		entries = wmlc_gram_entries(state->dims);
	size_t		j = state->tasks.count++;

	select_sums(state, source, state->moments + j * entries, state->moments_lo + j * entries);
	state->rows[j] = (double) wmlc_gram_weighted_rows(source);
	state->alpha[j] = 1.0;
}

/* A sample, spread evenly over the sources that take part in all trials. */
static void
gather_sample(State *state)
{
	const WmlcComparison *c = state->comparison;
	size_t		able = c->source_count;
	size_t		wanted;
	size_t		seen = 0;

	memset(state->acts, 0, c->source_count * sizeof(bool));
	for (size_t i = 0; i < c->trial_count; i++)
	{
		size_t		actor = c->trials[i].left_out;

		if (actor != WMLC_NO_SOURCE && !state->acts[actor])
		{
			state->acts[actor] = true;
			able--;
		}
	}
	wanted = able < MOST_TASKS ? able : MOST_TASKS;
	for (size_t j = 0; j < c->source_count; j++)
	{
		if (!state->acts[j] && seen++ * wanted / able >= state->tasks.count)
			gather_task(state, c->sources[j]);
	}
}

/* What the prior is learned from: all sources, or a sample. */
static void
gather_tasks(State *state)
{
	const WmlcComparison *c = state->comparison;

	state->tasks = (WmlcPriorTasks) {
		.dims = state->dims,
		.moments = state->moments,
		.moments_lo = state->moments_lo,
		.rows = state->rows,
		.alpha = state->alpha
	};
	if (c->source_count > MOST_TASKS)
		gather_sample(state);
	for (size_t j = 0; j < c->source_count && c->source_count <= MOST_TASKS; j++)
		gather_task(state, c->sources[j]);
}

/*
 * Which trials share a prior: those from `first` up to the one returned, not
 * included.  The sources that are absent in any of them get alpha = 0.
 */
static size_t
share_prior(State *state, size_t first)
{
	const WmlcComparison *c = state->comparison;
	bool		rehearsal = c->trials[first].left_out != WMLC_NO_SOURCE;
	size_t		most_absent = c->source_count / SOURCES_PER_ABSENT;
	size_t		absent = 0;
	size_t		trial = first;

	if (c->source_count > MOST_TASKS)
		return c->trial_count;
	for (size_t j = 0; j < c->source_count; j++)
		state->alpha[j] = 1.0;
	for (; trial < c->trial_count; trial++)
	{
		size_t		actor = c->trials[trial].left_out;

		if ((actor != WMLC_NO_SOURCE) != rehearsal)
			break;
		if (!rehearsal || state->alpha[actor] == 0.0)
			continue;
		if (absent > 0 && absent >= most_absent)
			break;
		state->alpha[actor] = 0.0;
		absent++;
	}
	return trial;
}

static WmlcStatus
find_posterior(const State *state, const WmlcGram *known, WmlcPosterior *posterior)
{
	double	   *lo = state->known + wmlc_gram_entries(state->dims);
	WmlcTarget	target = {
		.moments = state->known,
		.moments_lo = lo,
		.rows = (double) wmlc_gram_weighted_rows(known),
		.poll = state->options.poll,
		.mean_only = true
	};

	select_sums(state, known, state->known, lo);
	return wmlc_posterior_of(&state->prior, &target, posterior, state->work);
}

/* The posterior mean of a target's known rows. */
static WmlcStatus
predict_coefficients(const State *state, const WmlcGram *known, double *w)
{
	WmlcPosterior posterior;
	WmlcStatus	status = find_posterior(state, known, &posterior);

	memset(w, 0, known->dims * sizeof(double));
	for (int i = 0; i < state->dims && status == WMLC_OK; i++)
		w[state->feature[i]] = posterior.coef[i];
	return status;
}

WmlcStatus
wmlc_compare_prior(const WmlcComparison *comparison, int method, double *coefficients,
				   WmlcStatus *failure, void *work, WmlcPoll poll)
{
	const WmlcLearner *learner = &comparison->learners[comparison->methods[method].learner];
	State		state = {.comparison = comparison};
	size_t		trial = 0;

	work = set_features(&state, learner->kind, work);
	state.options.evenness = learner->evenness;
	state.options.poll = poll;
	lay_out(&state, comparison, work);
	gather_tasks(&state);
	while (trial < comparison->trial_count)
	{
		size_t		end = share_prior(&state, trial);
		WmlcStatus	fitted = wmlc_prior_fit(&state.tasks, &state.options, &state.prior, state.work);

		for (; trial < end; trial++)
		{
			double	   *w = coefficients +
				(trial * comparison->method_count + method) * comparison->d;
			WmlcStatus	status = fitted;

			if (status == WMLC_OK)
				status = predict_coefficients(&state, comparison->trials[trial].known, w);
			if (status == WMLC_INTERRUPTED)
				return status;
			if (status == WMLC_OK)
				continue;
			for (int i = 0; i < comparison->d; i++)
				w[i] = NAN;
			if (*failure == WMLC_OK)
				*failure = status;
		}
	}
	return WMLC_OK;
}

/* Features of the sources in which they are compared: those that are not smooth. */
static bool
can_screen(const WmlcComparison *c)
{
	int			dims = 0;

	for (int i = 0; i < c->d; i++)
		dims += c->smooth == NULL || !c->smooth[i];
	return dims <= WMLC_MOST_PRIOR_DIMS && c->source_count >= LEAST_SCREENED;
}

size_t
wmlc_compare_screen_workspace(const WmlcComparison *comparison)
{
	return can_screen(comparison) ? wmlc_compare_prior_workspace(comparison, WMLC_LEARN_ROBUST) : 0;
}

/* Who belongs under the prior, and how many do not. */
static WmlcStatus
find_strangers(const State *state, bool *belongs, size_t *strangers)
{
	const WmlcComparison *c = state->comparison;

	*strangers = 0;
	for (size_t j = 0; j < c->source_count; j++)
	{
		WmlcPosterior posterior;
		WmlcStatus	status = wmlc_interrupted(state->options.poll) ? WMLC_INTERRUPTED
			: find_posterior(state, c->sources[j], &posterior);

		if (status != WMLC_OK)
			return status;
		belongs[j] = wmlc_belongs(&posterior);
		*strangers += !belongs[j];
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_compare_screen(const WmlcComparison *comparison, bool *belongs, void *work, WmlcPoll poll)
{
	State		state = {.comparison = comparison};
	size_t		strangers = 0;
	WmlcStatus	status = WMLC_OK;

	if (can_screen(comparison))
	{
		work = set_features(&state, WMLC_LEARN_ROBUST, work);
		state.options.evenness = state.dims;
		state.options.poll = poll;
		lay_out(&state, comparison, work);
		gather_tasks(&state);
		status = wmlc_prior_fit(&state.tasks, &state.options, &state.prior, state.work);
		if (status == WMLC_OK)
			status = find_strangers(&state, belongs, &strangers);
	}

	/* what cannot be fitted is for the methods to say */
	for (size_t j = 0; j < comparison->source_count; j++)
	{
		if (status != WMLC_OK || strangers == 0 ||
			(strangers > 1 && strangers * TASKS_PER_STRANGER > comparison->source_count))
			belongs[j] = true;
	}
	return status == WMLC_INTERRUPTED ? status : WMLC_OK;
}
