/*
 * auc.c
 *	  The aggregate wml_auc: how well scores tell two classes apart.
 *
 * Its state holds all scores, those of positive rows from the front of one
 * array and those of negative rows from its end, in a bytea that doubles when
 * it is full.  It is changed in place inside the aggregate, and travels between
 * processes like any other value.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/memutils.h"

#include "core/model/auc.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"

PG_FUNCTION_INFO_V1(wml_auc_accum);
PG_FUNCTION_INFO_V1(wml_auc_accum_bool);
PG_FUNCTION_INFO_V1(wml_auc_combine);
PG_FUNCTION_INFO_V1(wml_auc_final);

#define AUC_STATE_VERSION 1
#define FIRST_CAPACITY 16

typedef struct AucState
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		version;
	int32		positives;
	int32		negatives;
	double		scores[FLEXIBLE_ARRAY_MEMBER];
} AucState;

#define MAX_CAPACITY ((int64) ((MaxAllocSize - offsetof(AucState, scores)) / sizeof(double)))

static int64
capacity_of(const AucState *state)
{
	return (VARSIZE(state) - offsetof(AucState, scores)) / sizeof(double);
}

static double *
negatives_of(AucState *state)
{
	return state->scores + capacity_of(state) - state->negatives;
}

/* The bytes of a bytea as a state. */
static AucState *
state_from_datum(Datum datum)
{
	AucState   *state = (AucState *) wml_aligned_bytea(datum);
	Size		size = VARSIZE(state);

	if (size < offsetof(AucState, scores) || state->version != AUC_STATE_VERSION ||
		state->positives < 0 || state->negatives < 0 ||
		(int64) state->positives + state->negatives > capacity_of(state))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of wml_auc has an unknown version or a wrong length")));
	return state;
}

/*
 * A state with room for `more` scores: this one, or a larger copy, which the
 * server moves to the aggregate's memory.
 */
static AucState *
make_room(AucState *state, int64 more)
{
	int64		used = state == NULL ? 0 : (int64) state->positives + state->negatives;
	int64		capacity = FIRST_CAPACITY;
	AucState   *larger;
	Size		size;

	if (state != NULL && used + more <= capacity_of(state))
		return state;
	if (used + more > MAX_CAPACITY)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows for one wml_auc"),
				 errdetail("It takes at most " INT64_FORMAT " rows.", MAX_CAPACITY)));
	while (capacity < used + more)
		capacity = Min(2 * capacity, MAX_CAPACITY);
	size = offsetof(AucState, scores) + capacity * sizeof(double);
	larger = (AucState *) palloc(size);
	memset(larger, 0, offsetof(AucState, scores));
	SET_VARSIZE(larger, size);
	larger->version = AUC_STATE_VERSION;
	if (state != NULL)
	{
		larger->positives = state->positives;
		larger->negatives = state->negatives;
		memcpy(larger->scores, state->scores, state->positives * sizeof(double));
		memcpy(negatives_of(larger), negatives_of(state), state->negatives * sizeof(double));
	}

	/* what lies between may travel to another process */
	memset(larger->scores + larger->positives, 0, (capacity - used) * sizeof(double));
	return larger;
}

static Datum
accumulate(FunctionCallInfo fcinfo, double score, bool positive)
{
	AucState   *state = PG_ARGISNULL(0) ? NULL : state_from_datum(PG_GETARG_DATUM(0));

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
		*negatives_of(state) = score;
	}
	PG_RETURN_POINTER(state);
}

/* Rows with a NULL say nothing. */
static bool
is_skipped(FunctionCallInfo fcinfo)
{
	wml_aggregate_context(fcinfo);
	return PG_ARGISNULL(1) || PG_ARGISNULL(2);
}

Datum
wml_auc_accum(PG_FUNCTION_ARGS)
{
	double		label;

	if (is_skipped(fcinfo))
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
	if (is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	return accumulate(fcinfo, PG_GETARG_FLOAT8(1), PG_GETARG_BOOL(2));
}

Datum
wml_auc_combine(PG_FUNCTION_ARGS)
{
	AucState   *state;
	AucState   *other;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		return wml_unchanged_state(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	state = state_from_datum(PG_GETARG_DATUM(0));
	other = state_from_datum(PG_GETARG_DATUM(1));
	state = make_room(state, (int64) other->positives + other->negatives);
	memcpy(state->scores + state->positives, other->scores, other->positives * sizeof(double));
	state->positives += other->positives;
	state->negatives += other->negatives;
	memcpy(negatives_of(state), negatives_of(other), other->negatives * sizeof(double));
	PG_RETURN_POINTER(state);
}

static int
compare_scores(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * Sorting the scores where they are leaves the state what it was, a set of
 * scores, so a window may go on with it.
 */
Datum
wml_auc_final(PG_FUNCTION_ARGS)
{
	AucState   *state;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = state_from_datum(PG_GETARG_DATUM(0));
	if (state->positives == 0 || state->negatives == 0)
		PG_RETURN_NULL();
	qsort(state->scores, state->positives, sizeof(double), compare_scores);
	qsort(negatives_of(state), state->negatives, sizeof(double), compare_scores);
	PG_RETURN_FLOAT8(wmlc_auc(state->scores, state->positives, negatives_of(state), state->negatives));
}
