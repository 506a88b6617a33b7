/*
 * array.c
 *	  Between float8 arrays and C: arrays of float8 without NULLs are C arrays
 *	  behind a header, so nothing needs to be taken apart element by element.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

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
