/*
 * metrics.c
 *	  How good probabilities are: the aggregates wml_log_loss, wml_brier and
 *	  wml_calibration.
 *
 * The first two are means, and have the state, combine and final functions of
 * avg(float8) behind them.  The state of wml_calibration is an array of sums,
 * three for each bin.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/base/args.h"
#include "pg/base/array.h"

PG_FUNCTION_INFO_V1(wml_log_loss_accum);
PG_FUNCTION_INFO_V1(wml_log_loss_accum_class);
PG_FUNCTION_INFO_V1(wml_brier_accum);
PG_FUNCTION_INFO_V1(wml_calibration_accum);
PG_FUNCTION_INFO_V1(wml_calibration_combine);
PG_FUNCTION_INFO_V1(wml_calibration_final);

#define MOST_BINS 1000

/* Sums of each bin. */
enum
{
	BIN_COUNT,
	BIN_PREDICTED,
	BIN_OBSERVED,
	BIN_SUMS
};

static double
check_probability(double probability)
{
	if (!(probability >= 0.0 && probability <= 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("probability must be between 0 and 1: %g", probability)));
	return probability;
}

/* Hand one more value to the state of avg(float8), which anyone may have made. */
static Datum
add_value(FunctionCallInfo fcinfo, double value)
{
	LOCAL_FCINFO(inner, 2);
	ArrayType  *state = PG_ARGISNULL(0) ? NULL : PG_GETARG_ARRAYTYPE_P(0);
	Datum		result;

	if (state == NULL || ARR_NDIM(state) != 1 || ARR_DIMS(state)[0] != 3 || ARR_HASNULL(state))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of a mean is not an array of three numbers")));
	InitFunctionCallInfoData(*inner, fcinfo->flinfo, 2, fcinfo->fncollation, fcinfo->context, NULL);
	inner->args[0] = fcinfo->args[0];
	inner->args[1].value = Float8GetDatum(value);
	inner->args[1].isnull = false;
	result = float8_accum(inner);
	fcinfo->isnull = inner->isnull;
	return result;
}

/* wml_log_loss(probability float8, label bool) */
Datum
wml_log_loss_accum(PG_FUNCTION_ARGS)
{
	double		p;

	if (wml_pair_is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	p = check_probability(PG_GETARG_FLOAT8(1));
	return add_value(fcinfo, PG_GETARG_BOOL(2) ? -log(p) : -log1p(-p));
}

/* wml_log_loss(probabilities float8[], class int) */
Datum
wml_log_loss_accum_class(PG_FUNCTION_ARGS)
{
	double	   *probabilities;
	int			count,
				class;

	if (wml_pair_is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	probabilities = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "probabilities", &count);
	class = PG_GETARG_INT32(2);
	if (class < 1 || class > count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("class must be between 1 and %d, the number of probabilities: %d", count, class)));
	return add_value(fcinfo, -log(check_probability(probabilities[class - 1])));
}

/* wml_brier(probability float8, label bool) */
Datum
wml_brier_accum(PG_FUNCTION_ARGS)
{
	double		error;

	if (wml_pair_is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	error = check_probability(PG_GETARG_FLOAT8(1)) - (PG_GETARG_BOOL(2) ? 1.0 : 0.0);
	return add_value(fcinfo, error * error);
}

/* ---- calibration ---- */

/* The sums of a state, which is not trusted. */
static double *
bin_sums(ArrayType *state, int *bins)
{
	int			count;
	double	   *sums = wml_array_vector(state, "state of wml_calibration", &count);

	if (count == 0 || count % BIN_SUMS != 0 || count / BIN_SUMS > MOST_BINS)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of wml_calibration has a wrong length")));
	*bins = count / BIN_SUMS;
	return sums;
}

/* wml_calibration(probability, label, bins) */
Datum
wml_calibration_accum(PG_FUNCTION_ARGS)
{
	ArrayType  *state;
	double	   *sums;
	double		p;
	int			bins,
				known,
				bin;

	if (wml_pair_is_skipped(fcinfo))
		return wml_unchanged_state(fcinfo);
	wml_require_arg(fcinfo, 3, "bins");
	bins = PG_GETARG_INT32(3);
	if (bins < 1 || bins > MOST_BINS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bins must be between 1 and %d: %d", MOST_BINS, bins)));
	p = check_probability(PG_GETARG_FLOAT8(1));
	if (PG_ARGISNULL(0))
	{
		state = wml_array_new_vector(bins * BIN_SUMS, &sums);
		memset(sums, 0, bins * BIN_SUMS * sizeof(double));
	}
	else
	{
		/* inside an aggregate the state is ours to change */
		state = PG_GETARG_ARRAYTYPE_P(0);
		sums = bin_sums(state, &known);
		if (known != bins)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bins must be the same in all rows")));
	}
	bin = Min((int) (p * bins), bins - 1);
	sums[bin * BIN_SUMS + BIN_COUNT] += 1.0;
	sums[bin * BIN_SUMS + BIN_PREDICTED] += p;
	sums[bin * BIN_SUMS + BIN_OBSERVED] += PG_GETARG_BOOL(2) ? 1.0 : 0.0;
	PG_RETURN_ARRAYTYPE_P(state);
}

Datum
wml_calibration_combine(PG_FUNCTION_ARGS)
{
	ArrayType  *state;
	double	   *sums;
	double	   *other;
	int			bins,
				other_bins;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(1))
		return wml_unchanged_state(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	state = PG_GETARG_ARRAYTYPE_P(0);
	sums = bin_sums(state, &bins);
	other = bin_sums(PG_GETARG_ARRAYTYPE_P(1), &other_bins);
	if (bins != other_bins)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bins must be the same in all rows")));
	for (int i = 0; i < bins * BIN_SUMS; i++)
		sums[i] += other[i];
	PG_RETURN_ARRAYTYPE_P(state);
}

/* One row of the table. */
static Datum
bin_row(TupleDesc descriptor, const double *sums, int bin, int bins)
{
	const double *own = sums + bin * BIN_SUMS;
	double		n = own[BIN_COUNT];
	Datum		values[5] = {
		Float8GetDatum((double) bin / bins),
		Float8GetDatum((double) (bin + 1) / bins),
		Int64GetDatum(n >= 0.0 && n < 9e18 ? (int64) n : 0),
		Float8GetDatum(own[BIN_PREDICTED] / n),
		Float8GetDatum(own[BIN_OBSERVED] / n)
	};
	bool		nulls[5] = {false, false, false, !(n > 0.0), !(n > 0.0)};

	return HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls));
}

Datum
wml_calibration_final(PG_FUNCTION_ARGS)
{
	Oid			type = get_element_type(get_fn_expr_rettype(fcinfo->flinfo));
	TupleDesc	descriptor;
	Datum	   *rows;
	double	   *sums;
	int			bins;

	wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!OidIsValid(type))
		elog(ERROR, "result of wml_calibration is not an array");
	sums = bin_sums(PG_GETARG_ARRAYTYPE_P(0), &bins);
	descriptor = lookup_rowtype_tupdesc_copy(type, -1);
	rows = (Datum *) palloc(bins * sizeof(Datum));
	for (int i = 0; i < bins; i++)
		rows[i] = bin_row(descriptor, sums, i, bins);
	PG_RETURN_ARRAYTYPE_P(construct_array(rows, bins, type, -1, false, TYPALIGN_DOUBLE));
}
