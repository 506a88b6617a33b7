/*
 * weights_agg.c
 *	  wml_weights, the weights of sources as an aggregate.
 *
 * The window function makes the server keep all its rows, which takes far more
 * time than the solver.  Here a row leaves behind what its weight depends on:
 * the embedding of its gram, relative to that of the target.  Whitening needs
 * all sources before the first difference can be changed to its basis, so that
 * plain differences are kept and changed at the end.
 *
 * The order of rows is the order of the weights: there are no partial
 * aggregates, and the state never leaves the backend.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/gram/gram.h"
#include "pg/weights/alpha.h"

PG_FUNCTION_INFO_V1(wml_weights_accum);
PG_FUNCTION_INFO_V1(wml_weights_final);

enum
{
	ARG_STATE,
	ARG_SOURCE,
	ARG_TARGET,
	ARG_WEIGHTS					/* and those that follow */
};

#define FIRST_CAPACITY 64

typedef struct WeightsState
{
	WmlcWeighting weighting;
	WmlcGram   *target;
	WmlcWeigher keeper;			/* of plain differences, where they are to be whitened */
	WmlGram    *pooled;			/* of all sources, likewise; else NULL */
	int64		rows;
	int64		present;		/* rows whose source takes part */
	int64		capacity;		/* of either array, in rows */
	bool	   *takes_part;
	double	   *kept;			/* keeper.width numbers for each that does */
} WeightsState;

static WeightsState *
create_state(const WmlcWeighting *weighting, const WmlcGram *target)
{
	WeightsState *state = (WeightsState *) palloc0(sizeof(WeightsState));
	WmlcWeighting plain = *weighting;
	Size		size = wmlc_gram_bytes(target->dims);

	wml_gram_check_solvable(target, "target");
	state->weighting = *weighting;
	state->target = (WmlcGram *) memcpy(palloc(size), target, size);
	if (wmlc_weighting_whitens(weighting))
	{
		state->pooled = wml_gram_create(target->dims);
		plain = (WmlcWeighting) {.rule = WMLC_MIXTURE, .loss = weighting->loss};
	}
	wml_check(wmlc_weigher_create(&state->keeper, &plain, state->target, NULL,
								  wml_allocate(wmlc_weigher_workspace(&plain, target->dims), 1), wml_poll));
	state->capacity = FIRST_CAPACITY;
	state->takes_part = (bool *) palloc(state->capacity * sizeof(bool));
	state->kept = (double *) wml_allocate(state->capacity * state->keeper.width, sizeof(double));
	return state;
}

/* Large arrays grow in place where the C library can move pages. */
static void
make_room(WeightsState *state)
{
	Size		size;

	if (state->rows < state->capacity)
		return;
	state->capacity *= 2;
	state->takes_part = (bool *) repalloc_huge(state->takes_part, state->capacity * sizeof(bool));
	size = Max(state->capacity * state->keeper.width, 1) * sizeof(double);
	state->kept = (double *) repalloc_huge(state->kept, size);
	wml_ask_for_huge_pages(state->kept, size);
}

static void
check_same(const WeightsState *state, const WmlcGram *target, const WmlcWeighting *weighting)
{
	if (!wml_same_target(target, state->target))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("target differs between rows of one group"),
				 errhint("Solve for several targets with GROUP BY the target's key.")));
	if (!wml_same_weighting(weighting, &state->weighting))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("options differ between rows of one group"),
				 errhint("Compare options with GROUP BY the options.")));
}

/* wml_weights(source, target [, weights, loss, shrink, whiten]) */
Datum
wml_weights_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	WmlcWeighting weighting = PG_NARGS() <= ARG_WEIGHTS ? (WmlcWeighting) {.rule = WMLC_MIXTURE}
		: wml_get_weighting(&fcinfo->args[ARG_WEIGHTS], &wmlc_rule_words);
	WeightsState *state = PG_ARGISNULL(ARG_STATE) ? NULL : (WeightsState *) PG_GETARG_POINTER(ARG_STATE);
	const WmlcGram *target;

	wml_require_arg(fcinfo, ARG_TARGET, "target");
	target = PG_GETARG_GRAM(ARG_TARGET);
	if (state == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);

		state = create_state(&weighting, target);
		MemoryContextSwitchTo(old_context);
	}
	else
		check_same(state, target, &weighting);
	make_room(state);
	state->takes_part[state->rows] = !PG_ARGISNULL(ARG_SOURCE);
	if (!PG_ARGISNULL(ARG_SOURCE))
	{
		const WmlcGram *source = PG_GETARG_GRAM(ARG_SOURCE);

		wml_gram_check_solvable(source, "source");
		wml_gram_check_same_dims(source, state->target);
		wml_check(wmlc_weigher_keep(&state->keeper, source,
									state->kept + state->present * state->keeper.width));
		if (state->pooled != NULL)
			wml_check(wmlc_gram_merge(&state->pooled->body, source));
		state->present++;
	}
	state->rows++;
	PG_RETURN_POINTER(state);
}

/* Change what was kept to the basis in which the sources are white; the answer tells what is kept then. */
static WmlcCandidates
whiten(WeightsState *state)
{
	int			dims = state->target->dims;
	WmlcWhitener whitener;
	WmlcWeigher weigher;

	wml_check(wmlc_whitener_create(&whitener, &state->pooled->body, state->weighting.loss,
								   wml_allocate(wmlc_whitener_workspace(dims), 1), wml_poll));
	wml_check(wmlc_weigher_create(&weigher, &state->weighting, state->target, &whitener,
								  wml_allocate(wmlc_weigher_workspace(&state->weighting, dims), 1), wml_poll));
	for (int64 i = 0; i < state->present; i++)
	{
		CHECK_FOR_INTERRUPTS();
		wml_check(wmlc_weigher_keep_point(&weigher, state->kept + i * state->keeper.width,
										  state->kept + i * weigher.width));
	}
	return wmlc_weigher_candidates(&weigher, state->kept, state->present);
}

/* Changes the state, as the aggregate's definition says. */
Datum
wml_weights_final(PG_FUNCTION_ARGS)
{
	WeightsState *state;
	WmlcCandidates candidates;
	double	   *present;
	double	   *alpha;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (WeightsState *) PG_GETARG_POINTER(0);
	if (state->pooled != NULL && state->present > 0)
		candidates = whiten(state);
	else
		candidates = wmlc_weigher_candidates(&state->keeper, state->kept, state->present);
	present = (double *) wml_allocate(state->present, sizeof(double));
	wml_weigh(&state->weighting, &candidates, present);
	alpha = (double *) wml_allocate(state->rows, sizeof(double));
	for (int64 i = 0; i < state->rows; i++)
		alpha[i] = state->takes_part[i] ? *present++ : NAN;
	PG_RETURN_ARRAYTYPE_P(wml_weights_to_array(alpha, state->rows));
}
