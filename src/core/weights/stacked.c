/*
 * stacked.c
 *	  Stacked weights: the convex combination of the sources' models that errs
 *	  least on the target's rows.
 */
#include "core/weights/stacked.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/linalg/factor.h"
#include "core/linalg/tolerance.h"

static const char *const more_words[] = {"stacked"};

const WmlcWords wmlc_weighting_words = WMLC_MORE_WORDS(&wmlc_rule_words, more_words);

typedef struct State
{
	WmlcFactor	factor;
} State;

static size_t
lay_out(WmlcStacked *stacked, State *state, int d, void *base)
{
	WmlcArena	arena = {base, 0};
	int			p = d + 1;

	stacked->matrix = wmlc_arena_doubles(&arena, (size_t) p * p);
	stacked->z = wmlc_arena_doubles(&arena, p);
	wmlc_factor_layout(&state->factor, p, false, &arena);
	state->factor.square.stride = p;
	state->factor.square.span.hi = wmlc_arena_doubles(&arena, (size_t) p * p);
	state->factor.square.span.lo = wmlc_arena_doubles(&arena, (size_t) p * p);
	return arena.used;
}

size_t
wmlc_stacked_workspace(int d)
{
	WmlcStacked stacked;
	State		state;

	memset(&state, 0, sizeof(state));
	return lay_out(&stacked, &state, d, NULL);
}

WmlcStatus
wmlc_stacked_create(WmlcStacked *stacked, const WmlcGram *target, void *work, WmlcPoll poll)
{
	int			p = target->dims + 1;
	double		length = sqrt(wmlc_dd_value(target->weight));
	State		state;
	WmlcFactor *factor = &state.factor;
	WmlcStatus	status;

	memset(&state, 0, sizeof(state));
	lay_out(stacked, &state, target->dims, work);
	wmlc_factor_load(factor, p, target->sums, target->sums + wmlc_gram_entries(target->dims), 0.0);
	status = wmlc_factor(factor, wmlc_zero_pivot(p, (double) target->rows), poll);
	if (status != WMLC_OK)
		return status;
	stacked->d = target->dims;
	stacked->rank = factor->rank;
	memset(stacked->matrix, 0, (size_t) p * p * sizeof(double));
	for (int k = 0; k < factor->rank; k++)
	{
		for (int i = k; i < p; i++)
			stacked->matrix[(size_t) k * p + factor->column[i]] =
				wmlc_dd_value(wmlc_factor_entry(factor, i, k)) / factor->scale[i] / length;
	}
	return WMLC_OK;
}

void
wmlc_stacked_point(const WmlcStacked *stacked, const double *coefficients, double *point)
{
	int			p = stacked->d + 1;

	memcpy(stacked->z, coefficients, stacked->d * sizeof(double));
	stacked->z[stacked->d] = -1.0;
	for (int k = 0; k < stacked->rank; k++)
	{
		const double *row = stacked->matrix + (size_t) k * p;
		double		sum = 0.0;

		for (int i = 0; i < p; i++)
			sum += row[i] * stacked->z[i];
		point[k] = sum;
	}
}

double
wmlc_stacked_variance(const WmlcGram *target, double noise)
{
	return noise * target->dims / wmlc_gram_effective_rows(target);
}
