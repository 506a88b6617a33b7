/*
 * tuned.c
 *	  Predictions of a tuned model: wml_predict_interval(tuned, x, level).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "utils/array.h"

#include "core/compare/calibrate.h"
#include "pg/base/args.h"
#include "pg/base/array.h"

PG_FUNCTION_INFO_V1(wml_predict_interval_tuned);

/* A tuned model, as far as predictions need it. */
typedef struct Tuned
{
	int			d;
	double	   *coef;
	WmlcCalibration calibration;	/* count is 0 where there is none */
} Tuned;

/* An array of the composite, or NULL; anybody may have made it, so check its size. */
static double *
get_array(HeapTupleHeader tuple, const char *name, int *count)
{
	bool		null;
	Datum		datum = GetAttributeByName(tuple, name, &null);
	double	   *numbers;
	int			rows,
				columns;

	*count = 0;
	if (null)
		return NULL;
	if (ARR_NDIM(DatumGetArrayTypeP(datum)) < 2)
		numbers = wml_array_vector(DatumGetArrayTypeP(datum), name, count);
	else
	{
		numbers = wml_array_matrix(DatumGetArrayTypeP(datum), name, &rows, &columns);
		*count = rows * columns;
	}
	wml_array_check_finite(numbers, *count, name);
	return numbers;
}

static double
get_number(HeapTupleHeader tuple, const char *name)
{
	bool		null;
	Datum		datum = GetAttributeByName(tuple, name, &null);

	return null ? NAN : DatumGetFloat8(datum);
}

/* NULL where there is no model in it. */
static Tuned *
get_tuned(HeapTupleHeader tuple)
{
	Tuned	   *tuned = (Tuned *) palloc0(sizeof(Tuned));
	WmlcCalibration *calibration = &tuned->calibration;
	int			covariance_count,
				surprise_count;
	bool		usable;

	tuned->coef = get_array(tuple, "coef", &tuned->d);
	if (tuned->coef == NULL)
		return NULL;
	calibration->covariance = get_array(tuple, "covariance", &covariance_count);
	calibration->surprises = get_array(tuple, "surprises", &surprise_count);
	calibration->noise = get_number(tuple, "noise");
	calibration->degrees = get_number(tuple, "degrees");
	if (calibration->covariance == NULL)
		return tuned;
	usable = covariance_count == (int64) tuned->d * tuned->d && surprise_count > 0 &&
		calibration->noise >= 0.0 && calibration->degrees > 0.0;
	for (int i = 0; i < surprise_count; i++)
		usable = usable && calibration->surprises[i] > 0.0;
	if (!usable)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("parts of the tuned model do not match"),
				 errhint("Pass the result of wml_tune as it is.")));
	calibration->count = surprise_count;
	return tuned;
}

/* wml_predict_interval(tuned, x, level) */
Datum
wml_predict_interval_tuned(PG_FUNCTION_ARGS)
{
	Tuned	   *tuned = get_tuned(PG_GETARG_HEAPTUPLEHEADER(0));
	double		level = PG_GETARG_FLOAT8(2);
	double		estimate = 0.0;
	double		variance,
				bound;
	double	   *x;
	int			count;
	Datum		values[5];
	bool		nulls[5];
	TupleDesc	descriptor;

	if (!(level > 0.0 && level < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1: %g", level)));
	if (tuned == NULL)
		PG_RETURN_NULL();
	x = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "features", &count);
	if (count != tuned->d)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features do not match the model"),
				 errdetail("There are %d features for %d coefficients.", count, tuned->d)));
	wml_array_check_finite(x, count, "features");
	for (int i = 0; i < count; i++)
		estimate += tuned->coef[i] * x[i];
	bound = wmlc_calibrated_bound(&tuned->calibration, level);
	variance = isnan(bound) ? NAN : wmlc_calibrated_variance(&tuned->calibration, count, x);
	values[0] = Float8GetDatum(estimate);
	values[1] = Float8GetDatum(estimate - bound * sqrt(variance + tuned->calibration.noise));
	values[2] = Float8GetDatum(estimate + bound * sqrt(variance + tuned->calibration.noise));
	values[3] = Float8GetDatum(estimate - bound * sqrt(variance));
	values[4] = Float8GetDatum(estimate + bound * sqrt(variance));
	for (int i = 0; i < 5; i++)
		nulls[i] = i > 0 && isnan(bound);
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
