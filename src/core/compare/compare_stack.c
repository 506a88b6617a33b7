/*
 * compare_stack.c
 *	  Stacked models among the methods of a comparison.
 *
 * The sources' coefficients are found once, from all their rows; a trial only
 * tells where its known rows lie.  What all sources have in common, towards which
 * the coefficients are shrunken, must not know the actor of a rehearsal, unless he
 * is one of very many.
 */
#include "core/compare/compare_stack.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/model/ensemble.h"
#include "core/weights/stacked.h"

/* One source of so many has no part in the ensemble worth speaking of. */
#define MANY_SOURCES 100

typedef struct State
{
	const WmlcComparison *comparison;
	WmlcPoll	poll;
	WmlcEnsemble ensemble;
	size_t		absent;			/* who is not in the ensemble; at first there is none */
	WmlcTaskFit *fits;
	double	   *models;			/* shrunken coefficients, sources x d */
	double	   *points;			/* of the sources that take part, one row each */
	double	   *weights;		/* of these */
	void	   *stacked_work;
	void	   *work;
} State;

/* Stacked weights are those of a mixture, of other points. */
static WmlcWeighting
as_mixture(const WmlcWeighting *stacked)
{
	return (WmlcWeighting) {.rule = WMLC_MIXTURE, .shrink = stacked->shrink};
}

static size_t
lay_out(State *state, const WmlcComparison *c, void *base)
{
	WmlcArena	arena = {base, 0};
	size_t		d = c->d;
	size_t		need = wmlc_ensemble_workspace(c->d);

	for (int i = 0; i < c->weighting_count; i++)
	{
		WmlcWeighting mixture = as_mixture(&c->weightings[i]);

		need = wmlc_larger(need, wmlc_weigh_workspace(&mixture, c->source_count, d + 1));
	}
	state->ensemble.coefficients = wmlc_arena_doubles(&arena, d);
	state->fits = wmlc_arena_take(&arena, c->source_count, sizeof(WmlcTaskFit));
	for (size_t j = 0; j < c->source_count; j++)
	{
		double	   *coefficients = wmlc_arena_doubles(&arena, d);

		if (base != NULL)
			state->fits[j].coefficients = coefficients;
	}
	state->models = wmlc_arena_doubles(&arena, c->source_count * d);
	state->points = wmlc_arena_doubles(&arena, c->source_count * (d + 1));
	state->weights = wmlc_arena_doubles(&arena, c->source_count);
	state->stacked_work = wmlc_arena_take(&arena, wmlc_stacked_workspace(c->d), 1);
	state->work = wmlc_arena_take(&arena, need, 1);
	return arena.used;
}

size_t
wmlc_compare_stack_workspace(const WmlcComparison *comparison)
{
	State		state;

	return lay_out(&state, comparison, NULL);
}

/* The coefficients of all sources. */
static WmlcStatus
fit_sources(State *state)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = WMLC_OK;

	for (size_t j = 0; j < c->source_count && status == WMLC_OK; j++)
		status = wmlc_task_fit(c->sources[j], &state->fits[j], state->work, state->poll);
	return status;
}

/* The shrunken coefficients of all sources, as one of them must not know them. */
static WmlcStatus
shrink_models(State *state, size_t absent)
{
	const WmlcComparison *c = state->comparison;
	WmlcStatus	status = wmlc_ensemble_of_fits(&state->ensemble, c->d, c->source_count, c->sources,
											   state->fits, absent, state->work, state->poll);

	for (size_t j = 0; j < c->source_count && status == WMLC_OK; j++)
	{
		double		noise;

		wmlc_ensemble_shrink(&state->ensemble, c->sources[j], &state->fits[j],
							 state->models + j * c->d, &noise);
	}
	state->absent = absent;
	return status;
}

/* Points of all sources that take part in the trial. */
static WmlcStatus
create_points(State *state, const WmlcTrial *trial, WmlcCandidates *candidates)
{
	const WmlcComparison *c = state->comparison;
	size_t		absent = c->source_count >= MANY_SOURCES ? WMLC_NO_SOURCE : trial->left_out;
	WmlcStacked stacked;
	WmlcStatus	status = wmlc_stacked_create(&stacked, trial->known, state->stacked_work, state->poll);

	if (status == WMLC_OK && absent != state->absent)
		status = shrink_models(state, absent);
	if (status != WMLC_OK)
		return status;
	*candidates = (WmlcCandidates) {
		.points = state->points, .dims = stacked.rank, .stride = stacked.rank,
		.variance = wmlc_stacked_variance(trial->known, state->ensemble.noise)
	};
	for (size_t j = 0; j < c->source_count; j++)
	{
		if (!wmlc_takes_part(c, trial, j))
			continue;
		wmlc_stacked_point(&stacked, state->models + j * c->d,
						   state->points + candidates->count * candidates->stride);
		candidates->count++;
	}
	return WMLC_OK;
}

/* Weights of all sources, zero for the one left out, and the model that they make. */
static void
combine(const State *state, const WmlcTrial *trial, double *alpha, double *w)
{
	const WmlcComparison *c = state->comparison;
	const double *next = state->weights;

	memset(w, 0, c->d * sizeof(double));
	for (size_t j = 0; j < c->source_count; j++)
	{
		alpha[j] = wmlc_takes_part(c, trial, j) ? *next++ : 0.0;
		for (int i = 0; i < c->d && alpha[j] > 0.0; i++)
			w[i] += alpha[j] * state->models[j * c->d + i];
	}
}

static WmlcStatus
learn(State *state, const WmlcTrial *trial, const WmlcCandidates *candidates,
	  const WmlcWeighting *weighting, double *alpha, double *w)
{
	WmlcWeighting mixture = as_mixture(weighting);
	WmlcSimplexReport report;
	WmlcStatus	status = wmlc_weigh(&mixture, candidates, state->weights, &report, state->work, state->poll);

	if (status == WMLC_OK)
		combine(state, trial, alpha, w);
	return status;
}

WmlcStatus
wmlc_compare_stack(const WmlcComparison *c, int first, int last, double *alpha,
				   double *coefficients, WmlcStatus *statuses, void *work, WmlcPoll poll)
{
	State		state = {.comparison = c, .poll = poll, .absent = c->source_count};
	WmlcStatus	learned;

	lay_out(&state, c, work);
	learned = fit_sources(&state);
	for (size_t t = 0; t < c->trial_count; t++)
	{
		WmlcCandidates candidates;
		WmlcStatus	placed = learned == WMLC_OK ? create_points(&state, &c->trials[t], &candidates) : learned;

		for (int i = first; i < last; i++)
		{
			const WmlcMethod *method = &c->methods[i];
			double	   *weights = alpha + (t * c->weighting_count + method->weighting) * c->source_count;
			double	   *w = coefficients + (t * c->method_count + i) * c->d;
			WmlcStatus	status = placed;

			if (status == WMLC_OK)
				status = learn(&state, &c->trials[t], &candidates, &c->weightings[method->weighting], weights, w);
			if (status == WMLC_INTERRUPTED)
				return status;
			if (status == WMLC_OK)
				continue;
			weights[0] = NAN;
			for (int k = 0; k < c->d; k++)
				w[k] = NAN;
			if (statuses[i] == WMLC_OK)
				statuses[i] = status;
		}
	}
	return WMLC_OK;
}
