/*
 * gram_ops.c
 *	  Operators, accessors and changes of basis of wml_gram, and the checks
 *	  that other functions make before they use a gram.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"

#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_gram_add);
PG_FUNCTION_INFO_V1(wml_gram_subtract);
PG_FUNCTION_INFO_V1(wml_gram_eq);
PG_FUNCTION_INFO_V1(wml_gram_ne);
PG_FUNCTION_INFO_V1(wml_add);
PG_FUNCTION_INFO_V1(wml_gram_scale);
PG_FUNCTION_INFO_V1(wml_gram_scale_commuted);
PG_FUNCTION_INFO_V1(wml_gram_lt);
PG_FUNCTION_INFO_V1(wml_gram_le);
PG_FUNCTION_INFO_V1(wml_gram_gt);
PG_FUNCTION_INFO_V1(wml_gram_ge);
PG_FUNCTION_INFO_V1(wml_gram_cmp);
PG_FUNCTION_INFO_V1(wml_gram_hash);
PG_FUNCTION_INFO_V1(wml_gram_hash_extended);
PG_FUNCTION_INFO_V1(wml_n);
PG_FUNCTION_INFO_V1(wml_skipped);
PG_FUNCTION_INFO_V1(wml_weight);
PG_FUNCTION_INFO_V1(wml_effective_n);
PG_FUNCTION_INFO_V1(wml_dims);
PG_FUNCTION_INFO_V1(wml_second_moment);
PG_FUNCTION_INFO_V1(wml_mean);
PG_FUNCTION_INFO_V1(wml_mean_response);
PG_FUNCTION_INFO_V1(wml_transform);
PG_FUNCTION_INFO_V1(wml_standardize);

void
wml_gram_check_solvable(const WmlcGram *gram, const char *role)
{
	if (wmlc_gram_weighted_rows(gram) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("%s gram has no rows", role),
				 errdetail("Rows counted: " INT64_FORMAT ", of which without weight: " INT64_FORMAT
						   "; rows skipped because of NULL: " INT64_FORMAT ".",
						   gram->rows, gram->weightless, gram->skipped),
				 errhint("Exclude such tasks with WHERE wml_n(gram) > 0.")));
	if (!wmlc_gram_is_finite(gram))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s gram is not finite", role),
				 errdetail("Its rows contain NaN or infinity, or values too large to square."),
				 errhint("Filter such rows out before collecting the gram.")));
}

void
wml_gram_check_same_dims(const WmlcGram *a, const WmlcGram *b)
{
	if (a->dims != b->dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("grams have different numbers of features"),
				 errdetail("One has %d features, the other %d.", a->dims, b->dims)));
}

void
wml_gram_check_coefficients(const WmlcGram *gram, int count)
{
	if (count != gram->dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("coefficients do not match the gram"),
				 errdetail("There are %d coefficients for %d features.", count, gram->dims)));
}

void
wml_gram_check_reference(const WmlcGram *reference)
{
	wml_gram_check_solvable(reference, "reference");
	if (reference->constant < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("reference gram has no constant feature"),
				 errdetail("A gram has means only if one of its features is 1 in every row."),
				 errhint("Collect the grams with a constant: wml_gram(ARRAY[1, ...], y).")));
}

/* A copy of a, with room for the features of b when a has none of its own. */
static WmlGram *
copy_for_change(const WmlcGram *a, const WmlcGram *b)
{
	WmlGram    *result;

	if (a->dims != 0 && b->dims != 0)
		wml_gram_check_same_dims(a, b);
	result = wml_gram_create(Max(a->dims, b->dims));
	wml_check(wmlc_gram_merge(&result->body, a));
	return result;
}

Datum
wml_gram_add(PG_FUNCTION_ARGS)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);
	WmlGram    *result = copy_for_change(a, b);

	wml_check(wmlc_gram_merge(&result->body, b));
	PG_RETURN_GRAM(result);
}

Datum
wml_gram_subtract(PG_FUNCTION_ARGS)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);
	WmlGram    *result = copy_for_change(a, b);

	wml_check(wmlc_gram_subtract(&result->body, b));
	SET_VARSIZE(result, wml_gram_size(result->body.dims));
	PG_RETURN_GRAM(result);
}

/* + where NULL is the gram of no rows. */
Datum
wml_add(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0));
	return wml_gram_add(fcinfo);
}

static Datum
scaled(const WmlcGram *gram, double factor)
{
	WmlGram    *result = wml_gram_create(gram->dims);

	if (!(factor >= 0.0) || isinf(factor))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("factor of a gram must be a finite number and not negative: %g", factor)));
	memcpy(&result->body, gram, wmlc_gram_bytes(gram->dims));
	wml_check(wmlc_gram_scale(&result->body, factor));
	PG_RETURN_GRAM(result);
}

Datum
wml_gram_scale(PG_FUNCTION_ARGS)
{
	return scaled(PG_GETARG_GRAM(0), PG_GETARG_FLOAT8(1));
}

Datum
wml_gram_scale_commuted(PG_FUNCTION_ARGS)
{
	return scaled(PG_GETARG_GRAM(1), PG_GETARG_FLOAT8(0));
}

Datum
wml_gram_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(wmlc_gram_equal(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)));
}

Datum
wml_gram_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!wmlc_gram_equal(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)));
}

Datum
wml_gram_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(wmlc_gram_compare(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)) < 0);
}

Datum
wml_gram_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(wmlc_gram_compare(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)) <= 0);
}

Datum
wml_gram_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(wmlc_gram_compare(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)) > 0);
}

Datum
wml_gram_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(wmlc_gram_compare(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)) >= 0);
}

Datum
wml_gram_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(wmlc_gram_compare(PG_GETARG_GRAM(0), PG_GETARG_GRAM(1)));
}

/* What equal grams have in common to the last bit, as bytes. */
static unsigned char *
key_of(const WmlcGram *gram, int *bytes)
{
	Size		size = wmlc_gram_key_size(gram->dims) * sizeof(double);
	double	   *key = (double *) palloc(size);

	wmlc_gram_key(gram, key);
	*bytes = (int) size;
	return (unsigned char *) key;
}

Datum
wml_gram_hash(PG_FUNCTION_ARGS)
{
	int			bytes;
	unsigned char *key = key_of(PG_GETARG_GRAM(0), &bytes);

	return hash_any(key, bytes);
}

Datum
wml_gram_hash_extended(PG_FUNCTION_ARGS)
{
	int			bytes;
	unsigned char *key = key_of(PG_GETARG_GRAM(0), &bytes);

	return hash_any_extended(key, bytes, PG_GETARG_INT64(1));
}

Datum
wml_n(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(PG_GETARG_GRAM(0)->rows);
}

Datum
wml_skipped(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(PG_GETARG_GRAM(0)->skipped);
}

Datum
wml_weight(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(wmlc_dd_value(wmlc_gram_weight(PG_GETARG_GRAM(0))));
}

Datum
wml_effective_n(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(wmlc_gram_effective_rows(PG_GETARG_GRAM(0)));
}

Datum
wml_dims(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(PG_GETARG_GRAM(0)->dims);
}

Datum
wml_second_moment(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	int			p = gram->dims + 1;
	ArrayType  *result;
	double	   *element;

	if (wmlc_gram_weighted_rows(gram) == 0)
		PG_RETURN_NULL();
	result = wml_array_new_matrix(p, p, &element);
	for (int i = 0; i < p; i++)
	{
		for (int j = 0; j < p; j++)
			*element++ = wmlc_dd_value(wmlc_gram_moment(gram, i, j));
	}
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_mean(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	ArrayType  *result;
	double	   *element;

	if (gram->constant < 0)
		PG_RETURN_NULL();
	result = wml_array_new_vector(gram->dims + 1, &element);
	for (int i = 0; i <= gram->dims; i++)
		element[i] = wmlc_dd_value(wmlc_gram_moment(gram, i, gram->constant));
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_mean_response(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);

	if (gram->constant < 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(wmlc_dd_value(wmlc_gram_moment(gram, gram->dims, gram->constant)));
}

/* The gram of T z for a matrix of m rows. */
static WmlGram *
transformed(const WmlcGram *gram, const WmlcDd *matrix, int m)
{
	WmlGram    *result = wml_gram_create(m - 1);
	void	   *work = palloc(wmlc_gram_transform_workspace(gram->dims, m));

	wml_check(wmlc_gram_transform(gram, matrix, m, &result->body, work, wml_poll));
	pfree(work);
	return result;
}

Datum
wml_transform(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	int			rows,
				columns;
	double	   *elements = wml_array_matrix(PG_GETARG_ARRAYTYPE_P(1), "matrix", &rows, &columns);
	WmlcDd	   *matrix;

	/* a task whose rows were all skipped has nothing to change */
	if (gram->rows == 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (columns != gram->dims + 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("matrix does not match the gram"),
				 errdetail("The matrix has %d columns; a gram of %d features and a response needs %d.",
						   columns, gram->dims, gram->dims + 1),
				 errhint("The last row and the last column of the matrix belong to the response.")));
	if (rows < 2 || rows > WMLC_MAX_DIMS + 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("matrix has %d rows", rows),
				 errdetail("A gram has 1 to %d features and one response.", WMLC_MAX_DIMS)));
	matrix = (WmlcDd *) palloc((Size) rows * columns * sizeof(WmlcDd));
	for (int k = 0; k < rows * columns; k++)
	{
		if (!isfinite(elements[k]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("matrix must not contain NaN or infinity")));
		matrix[k] = wmlc_dd(elements[k]);
	}
	PG_RETURN_GRAM(transformed(gram, matrix, rows));
}

Datum
wml_standardize(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	const WmlcGram *reference = PG_GETARG_GRAM(1);
	int			p = reference->dims + 1;
	WmlcDd	   *matrix;

	wml_gram_check_reference(reference);
	if (gram->rows == 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	wml_gram_check_same_dims(gram, reference);
	matrix = (WmlcDd *) palloc((Size) p * p * sizeof(WmlcDd));
	wmlc_gram_standardizer(reference, matrix);
	PG_RETURN_GRAM(transformed(gram, matrix, p));
}
