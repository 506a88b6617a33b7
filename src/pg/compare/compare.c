/*
 * compare.c
 *	  Choosing a method by trying all of them: wml_compare and wml_tune.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "core/compare/calibrate.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/srf.h"
#include "pg/compare/contest.h"

PG_FUNCTION_INFO_V1(wml_compare);
PG_FUNCTION_INFO_V1(wml_compare_folds);
PG_FUNCTION_INFO_V1(wml_tune);
PG_FUNCTION_INFO_V1(wml_tune_folds);

/* So many sources are named, the heaviest first. */
#define TOP_SOURCES 10

/* Why a method could not be computed. */
static const char *
failure_text(WmlcStatus status)
{
	switch (status)
	{
		case WMLC_NOT_FINITE:
			return "a number became too large";
		case WMLC_NOT_POSITIVE:
			return "a matrix of second moments is not positive semidefinite";
		case WMLC_NO_CONVERGENCE:
			return "an iteration did not converge";
		case WMLC_EMPTY:
			return "no source has rows and a positive weight";
		default:
			return "it could not be computed";
	}
}

/* What a method is: the columns that wml_compare and wml_tune have in common. */
enum
{
	OUT_MODEL,
	OUT_WEIGHTS,
	OUT_ETA,
	OUT_RIDGE,
	OUT_SHRINK,
	OUT_EVENNESS,
	OUT_WHITEN,
	OUT_ADAPT_STEPS,
	OUT_SOURCE_ROWS,
	OUT_METHOD_COLUMNS
};

static void
describe_method(const WmlContest *contest, int number, Datum *values, bool *nulls)
{
	const WmlcMethod *method = &contest->grid.methods[number];
	const WmlcLearner *learner = &contest->grid.learners[method->learner];
	const WmlcWeighting *weighting = &contest->grid.weightings[method->weighting];
	bool		alone = method->source_rows == 0.0;

	values[OUT_MODEL] = CStringGetTextDatum(alone ? "target" : wmlc_word(&wmlc_learner_words, learner->kind));
	values[OUT_WEIGHTS] = CStringGetTextDatum(wmlc_word(&wmlc_weighting_words, weighting->rule));
	values[OUT_ETA] = Float8GetDatum(learner->eta);
	values[OUT_RIDGE] = Float8GetDatum(method->ridge);
	values[OUT_SHRINK] = Float8GetDatum(weighting->shrink);
	values[OUT_EVENNESS] = Float8GetDatum(learner->evenness);
	values[OUT_WHITEN] = BoolGetDatum(learner->whiten || weighting->whiten);
	values[OUT_ADAPT_STEPS] = Int32GetDatum(method->adapt_steps);
	values[OUT_SOURCE_ROWS] = Float8GetDatum(method->source_rows);
	nulls[OUT_WEIGHTS] = alone;
}

/*
 * wml_compare
 */

/* By error over the folds, NaN last; without folds the one chosen, then by score, finalists first. */
static int
compare_verdicts(const void *a, const void *b, void *arg)
{
	const WmlContest *contest = (const WmlContest *) arg;
	const WmlcVerdict *verdicts = contest->verdicts;
	int			i = *(const int *) a;
	int			j = *(const int *) b;
	int			order = float8_cmp_internal(verdicts[i].rmse, verdicts[j].rmse);

	if (order == 0 && isnan(verdicts[i].rmse))
	{
		order = (j == contest->chosen) - (i == contest->chosen);
		if (order == 0 && contest->finalists != NULL)
			order = (int) contest->finalists[j] - (int) contest->finalists[i];
		if (order == 0)
			order = float8_cmp_internal(verdicts[i].score, verdicts[j].score);
	}
	return order != 0 ? order : i - j;
}

static void
put_method(WmlRows *rows, const WmlContest *contest, int rank, int number)
{
	const WmlcVerdict *verdict = &contest->verdicts[number];
	WmlcStatus	status = contest->statuses[number];
	Datum		values[1 + OUT_METHOD_COLUMNS + 5];
	bool		nulls[lengthof(values)] = {false};
	Datum	   *next = values + 1 + OUT_METHOD_COLUMNS;
	bool	   *null = nulls + 1 + OUT_METHOD_COLUMNS;

	values[0] = Int32GetDatum(rank);
	describe_method(contest, number, values + 1, nulls + 1);
	next[0] = Float8GetDatum(verdict->rmse);
	next[1] = Float8GetDatum(verdict->spread);
	next[2] = Float8GetDatum(verdict->rehearsal);
	next[3] = BoolGetDatum(number == contest->chosen);
	next[4] = status == WMLC_OK ? (Datum) 0 : CStringGetTextDatum(failure_text(status));
	null[0] = isnan(verdict->rmse);
	null[1] = isnan(verdict->spread);
	null[2] = isnan(verdict->rehearsal);
	null[4] = status == WMLC_OK;
	wml_rows_put(rows, values, nulls);
}

static Datum
compare(FunctionCallInfo fcinfo, bool in_folds)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlContest *contest = wml_hold_contest(fcinfo, in_folds);
	int			count = contest->comparison.method_count;
	int		   *order = (int *) palloc(count * sizeof(int));

	for (int i = 0; i < count; i++)
		order[i] = i;
	qsort_arg(order, count, sizeof(int), compare_verdicts, contest);
	for (int i = 0; i < count; i++)
		put_method(&rows, contest, i + 1, order[i]);
	return (Datum) 0;
}

Datum
wml_compare(PG_FUNCTION_ARGS)
{
	return compare(fcinfo, false);
}

Datum
wml_compare_folds(PG_FUNCTION_ARGS)
{
	return compare(fcinfo, true);
}

/*
 * wml_tune
 */

/* RMSE of the chosen method relative to the target alone: in rehearsals, else over the folds. */
static double
against_target(const WmlContest *contest)
{
	const WmlcVerdict *chosen = &contest->verdicts[contest->chosen];
	const WmlcVerdict *alone = &contest->verdicts[WMLC_BASELINE_TARGET];

	return isnan(chosen->rehearsal) ? chosen->rmse / alone->rmse
		: chosen->rehearsal / alone->rehearsal;
}

static Datum
integers(const int *numbers, int count)
{
	Datum	   *datums = (Datum *) palloc(Max(count, 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
		datums[i] = Int32GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(datums, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

/* Positions and weights of the heaviest sources, but those without weight. */
static void
put_top_sources(const WmlContest *contest, Datum *positions, Datum *weights)
{
	const WmlcMethod *method = &contest->grid.methods[contest->chosen];
	const double *alpha = wmlc_compare_alpha(&contest->comparison, contest->fold_count,
											 method->weighting, contest->work);
	int			top_positions[TOP_SOURCES];
	Datum		top_weights[TOP_SOURCES];
	int			top[TOP_SOURCES];
	int			count = 0;

	for (size_t j = 0; j < contest->comparison.source_count && method->source_rows > 0.0; j++)
	{
		int			place = count;

		if (!(alpha[j] > 0.0))
			continue;
		while (place > 0 && alpha[j] > alpha[top[place - 1]])
			place--;
		if (place == TOP_SOURCES)
			continue;
		count = Min(count + 1, TOP_SOURCES);
		for (int i = count - 1; i > place; i--)
			top[i] = top[i - 1];
		top[place] = (int) j;
	}
	for (int i = 0; i < count; i++)
	{
		top_positions[i] = contest->positions[top[i]];
		top_weights[i] = Float8GetDatum(alpha[top[i]]);
	}
	*positions = integers(top_positions, count);
	*weights = PointerGetDatum(construct_array(top_weights, count, FLOAT8OID, sizeof(float8),
											   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * What intervals are made of.  Without rehearsals there is the error over the
 * folds, wherever x lies; without either, nothing.
 */
static bool
calibrate(const WmlContest *contest, WmlcCalibration *calibration)
{
	const WmlcComparison *comparison = &contest->comparison;
	const WmlcVerdict *verdict = &contest->verdicts[contest->chosen];
	int			d = comparison->d;
	size_t		first = wml_contest_rehearsals(contest);

	if (contest->rehearsal_count > 0)
	{
		WmlcRehearsed rehearsed = {
			.d = d,
			.count = contest->rehearsal_count,
			.actors = (double) contest->actors,
			.made_up = contest->windows == NULL,
			.trials = contest->trials + first,
			.coefficients = contest->coefficients +
			(first * comparison->method_count + contest->chosen) * d,
			.stride = (Size) comparison->method_count * d,
			.target = contest->target,
			.target_coefficients = wml_contest_coefficients(contest, contest->chosen)
		};
		void	   *work = wml_allocate(wmlc_calibrate_workspace(d, rehearsed.count), 1);

		return wmlc_calibrate(calibration, &rehearsed, work, wml_poll) == WMLC_OK;
	}
	memset(calibration->covariance, 0, (Size) d * d * sizeof(double));
	calibration->noise = verdict->rmse * verdict->rmse;
	calibration->degrees = Max(contest->fold_count - 1, 1);
	calibration->surprises[0] = 1.0;
	calibration->count = 1;
	return isfinite(calibration->noise);
}

enum
{
	TUNED_COEF,
	TUNED_METHOD,
	TUNED_RMSE = TUNED_METHOD + OUT_METHOD_COLUMNS,
	TUNED_REHEARSAL,
	TUNED_AGAINST_TARGET,
	TUNED_SOURCES,
	TUNED_ALPHA,
	TUNED_LEFT_OUT,
	TUNED_COVARIANCE,
	TUNED_NOISE,
	TUNED_DEGREES,
	TUNED_SURPRISES,
	TUNED_COLUMNS
};

static void
put_calibration(const WmlContest *contest, Datum *values, bool *nulls)
{
	int			d = contest->comparison.d;
	WmlcCalibration calibration;
	ArrayType  *covariance = wml_array_new_matrix(d, d, &calibration.covariance);
	ArrayType  *surprises = wml_array_new_vector((int) Max(contest->rehearsal_count, 1),
												 &calibration.surprises);
	bool		known = calibrate(contest, &calibration);

	values[TUNED_COVARIANCE] = PointerGetDatum(covariance);
	values[TUNED_NOISE] = Float8GetDatum(calibration.noise);
	values[TUNED_DEGREES] = Float8GetDatum(calibration.degrees);
	values[TUNED_SURPRISES] = PointerGetDatum(surprises);
	for (int i = TUNED_COVARIANCE; i <= TUNED_SURPRISES; i++)
		nulls[i] = !known;
}

static Datum
tune(FunctionCallInfo fcinfo, bool in_folds)
{
	WmlContest *contest = wml_hold_contest(fcinfo, in_folds);
	const WmlcVerdict *verdict = &contest->verdicts[contest->chosen];
	Datum		values[TUNED_COLUMNS];
	bool		nulls[TUNED_COLUMNS] = {false};
	TupleDesc	descriptor;
	double	   *w;

	if (contest->statuses[contest->chosen] != WMLC_OK &&
		isnan(wml_contest_coefficients(contest, contest->chosen)[0]))
		wml_check(contest->statuses[contest->chosen]);
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE ||
		descriptor->natts != TUNED_COLUMNS)
		elog(ERROR, "return type must be wml_tuned");
	values[TUNED_COEF] = PointerGetDatum(wml_array_new_vector(contest->comparison.d, &w));
	memcpy(w, wml_contest_coefficients(contest, contest->chosen), contest->comparison.d * sizeof(double));
	describe_method(contest, contest->chosen, values + TUNED_METHOD, nulls + TUNED_METHOD);
	values[TUNED_RMSE] = Float8GetDatum(verdict->rmse);
	values[TUNED_REHEARSAL] = Float8GetDatum(verdict->rehearsal);
	values[TUNED_AGAINST_TARGET] = Float8GetDatum(against_target(contest));
	nulls[TUNED_RMSE] = isnan(verdict->rmse);
	nulls[TUNED_REHEARSAL] = isnan(verdict->rehearsal);
	nulls[TUNED_AGAINST_TARGET] = isnan(against_target(contest));
	put_top_sources(contest, &values[TUNED_SOURCES], &values[TUNED_ALPHA]);
	values[TUNED_LEFT_OUT] = integers(contest->left_out, contest->left_out_count);
	put_calibration(contest, values, nulls);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}

Datum
wml_tune(PG_FUNCTION_ARGS)
{
	return tune(fcinfo, false);
}

Datum
wml_tune_folds(PG_FUNCTION_ARGS)
{
	return tune(fcinfo, true);
}
