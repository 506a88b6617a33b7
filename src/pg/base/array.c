/*
 * array.c
 *	  Between float8 arrays and C: arrays of float8 without NULLs are C arrays
 *	  behind a header, so nothing needs to be taken apart element by element.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "pg/base/args.h"
#include "pg/base/array.h"

static double *
elements_of(ArrayType *array, int ndim, const char *what)
{
	if (ARR_NDIM(array) != ndim)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s must be a %s array", what,
						ndim == 1 ? "one-dimensional" : "two-dimensional"),
				 errdetail("It has %d dimensions.", ARR_NDIM(array))));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not contain NULL", what)));
	if (ARR_ELEMTYPE(array) != FLOAT8OID)
		elog(ERROR, "%s is not an array of double precision", what);
	return (double *) ARR_DATA_PTR(array);
}

double *
wml_array_vector(ArrayType *array, const char *what, int *count)
{
	double	   *elements = elements_of(array, 1, what);

	*count = ARR_DIMS(array)[0];
	return elements;
}

double *
wml_array_matrix(ArrayType *array, const char *what, int *rows, int *columns)
{
	double	   *elements = elements_of(array, 2, what);

	*rows = ARR_DIMS(array)[0];
	*columns = ARR_DIMS(array)[1];
	return elements;
}

static ArrayType *
new_array(int ndim, const int *dims, double **elements)
{
	Size		count = ndim == 2 ? (Size) dims[0] * dims[1] : (Size) dims[0];
	Size		bytes = ARR_OVERHEAD_NONULLS(ndim) + count * sizeof(double);
	ArrayType  *array = (ArrayType *) palloc0(bytes);

	SET_VARSIZE(array, bytes);
	array->ndim = ndim;
	array->dataoffset = 0;
	array->elemtype = FLOAT8OID;
	for (int i = 0; i < ndim; i++)
	{
		ARR_DIMS(array)[i] = dims[i];
		ARR_LBOUND(array)[i] = 1;
	}
	*elements = (double *) ARR_DATA_PTR(array);
	return array;
}

void
wml_array_check_finite(const double *elements, int64 count, const char *what)
{
	for (int64 i = 0; i < count; i++)
	{
		if (!isfinite(elements[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("%s must be finite numbers", what),
					 errdetail("Element " INT64_FORMAT " is %g.", i + 1, elements[i])));
	}
}

double *
wml_array_weights(ArrayType *array, int64 sources)
{
	double	   *alpha;
	Datum	   *datums;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &datums, &nulls, &count);
	if (count != sources)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one weight for each source"),
				 errdetail("There are %d weights for " INT64_FORMAT " sources.", count, sources)));
	alpha = (double *) palloc(Max(count, 1) * sizeof(double));
	for (int i = 0; i < count; i++)
		alpha[i] = nulls[i] ? 0.0 : wml_check_not_negative(DatumGetFloat8(datums[i]), "weight");
	return alpha;
}

double
wml_check_weights_sum(const double *alpha, int64 count)
{
	double		sum = 0.0;

	for (int64 i = 0; i < count; i++)
		sum += alpha[i];
	if (!(fabs(sum - 1.0) <= 1e-6))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights must sum to 1"),
				 errdetail("They sum to %g.", sum)));
	return sum;
}

ArrayType *
wml_array_new_vector(int count, double **elements)
{
	return new_array(1, &count, elements);
}

ArrayType *
wml_array_new_matrix(int rows, int columns, double **elements)
{
	int			dims[2] = {rows, columns};

	return new_array(2, dims, elements);
}
