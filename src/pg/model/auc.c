/*
 * auc.c
 *	  The aggregate wml_auc: how well scores tell two classes apart.
 *
 * Its state holds all scores and doubles when it is full.  It is changed in
 * place inside the aggregate, and travels between processes like any other value
 * (see auc_state.h).
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "core/model/auc.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/model/auc_state.h"

PG_FUNCTION_INFO_V1(wml_auc_accum);
PG_FUNCTION_INFO_V1(wml_auc_accum_bool);
PG_FUNCTION_INFO_V1(wml_auc_combine);
PG_FUNCTION_INFO_V1(wml_auc_final);

#define FIRST_CAPACITY 16

/*
 * A state with room for `more` scores: this one, or a larger copy, which the
 * server moves to the aggregate's memory.
 */
static WmlAucState *
make_room(WmlAucState *state, int64 more)
{
	int64		used = state == NULL ? 0 : (int64) state->positives + state->negatives;
	int64		capacity = FIRST_CAPACITY;
	WmlAucState *larger;

	if (state != NULL && used + more <= wml_auc_capacity(state))
		return state;
	if (used + more > WML_AUC_MAX_SCORES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows for one wml_auc"),
				 errdetail("It takes at most " INT64_FORMAT " rows.", WML_AUC_MAX_SCORES)));
	while (capacity < used + more)
		capacity = Min(2 * capacity, WML_AUC_MAX_SCORES);
	larger = wml_auc_state_create(capacity);
	if (state != NULL)
	{
		larger->positives = state->positives;
		larger->negatives = state->negatives;
		memcpy(larger->scores, state->scores, state->positives * sizeof(double));
		memcpy(wml_auc_negatives(larger), wml_auc_negatives(state), state->negatives * sizeof(double));
	}

	/* what lies between may travel to another process */
	memset(larger->scores + larger->positives, 0, (capacity - used) * sizeof(double));
	return larger;
}

static Datum
accumulate(FunctionCallInfo fcinfo, double score, bool positive)
{
	WmlAucState *state = PG_ARGISNULL(0) ? NULL : wml_auc_state_from_datum(PG_GETARG_DATUM(0));

	if (isnan(score))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("score must not be NaN")));
	state = make_room(state, 1);
	if (positive)
		state->scores[state->positives++] = score;
	else
	{
		state->negatives++;
		*wml_auc_negatives(state) = score;
	}
	PG_RETURN_POINTER(state);
}

Datum
wml_auc_accum(PG_FUNCTION_ARGS)
{
	double		label;

	if (wml_pair_is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	label = PG_GETARG_FLOAT8(2);
	if (isnan(label))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("label must not be NaN")));
	return accumulate(fcinfo, PG_GETARG_FLOAT8(1), label > 0.0);
}

Datum
wml_auc_accum_bool(PG_FUNCTION_ARGS)
{
	if (wml_pair_is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	return accumulate(fcinfo, PG_GETARG_FLOAT8(1), PG_GETARG_BOOL(2));
}

Datum
wml_auc_combine(PG_FUNCTION_ARGS)
{
	WmlAucState *state;
	WmlAucState *other;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		return wml_unchanged_state(fcinfo);
	other = wml_auc_state_from_datum(PG_GETARG_DATUM(1));
	wml_auc_state_check_scores(other);
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(other);
	state = wml_auc_state_from_datum(PG_GETARG_DATUM(0));
	state = make_room(state, (int64) other->positives + other->negatives);
	memcpy(state->scores + state->positives, other->scores, other->positives * sizeof(double));
	state->positives += other->positives;
	state->negatives += other->negatives;
	memcpy(wml_auc_negatives(state), wml_auc_negatives(other), other->negatives * sizeof(double));
	PG_RETURN_POINTER(state);
}

/* The server's sort can be left from here: it holds nothing but the array. */
static int
compare_scores(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	CHECK_FOR_INTERRUPTS();
	return (x > y) - (x < y);
}

/*
 * Sorting the scores where they are leaves the state what it was, a set of
 * scores, so a window may go on with it.
 */
Datum
wml_auc_final(PG_FUNCTION_ARGS)
{
	WmlAucState *state;
	double		area;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = wml_auc_state_from_datum(PG_GETARG_DATUM(0));
	wml_auc_state_check_scores(state);
	if (state->positives == 0 || state->negatives == 0)
		PG_RETURN_NULL();
	qsort(state->scores, state->positives, sizeof(double), compare_scores);
	qsort(wml_auc_negatives(state), state->negatives, sizeof(double), compare_scores);
	wml_check(wmlc_auc(state->scores, state->positives, wml_auc_negatives(state),
					   state->negatives, &area, wml_poll));
	PG_RETURN_FLOAT8(area);
}
