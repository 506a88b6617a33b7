/*
 * judge.c
 *	  Using and judging coefficients: wml_predict, wml_mse, wml_rmse, wml_r2.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/model/adapt.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_predict);
PG_FUNCTION_INFO_V1(wml_mse);
PG_FUNCTION_INFO_V1(wml_rmse);
PG_FUNCTION_INFO_V1(wml_r2);

/* Features between two looks for interrupts. */
#define POLL_FEATURES 65536

/* coefficients . features, rounded once; NULL when a feature is NULL */
Datum
wml_predict(PG_FUNCTION_ARGS)
{
	ArrayType  *features = PG_GETARG_ARRAYTYPE_P(1);
	int			count,
				dims;
	double	   *w = wml_array_vector(PG_GETARG_ARRAYTYPE_P(0), "coefficients", &count);
	double	   *x;
	WmlcDd		sum = {0.0, 0.0};
	double		plain = 0.0;

	if (array_contains_nulls(features))
		PG_RETURN_NULL();
	x = wml_array_vector(features, "features", &dims);
	if (count != dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("coefficients do not match the features"),
				 errdetail("There are %d coefficients for %d features.", count, dims)));
	for (int i = 0; i < dims; i++)
	{
		if (i % POLL_FEATURES == 0)
			CHECK_FOR_INTERRUPTS();
		sum = wmlc_dd_add(sum, wmlc_two_prod(w[i], x[i]));
		plain += w[i] * x[i];
	}
	PG_RETURN_FLOAT8(isfinite(plain) ? wmlc_dd_value(sum) : plain);
}

/* The gram and the coefficients of the functions below, checked. */
static const WmlcGram *
get_judged(FunctionCallInfo fcinfo, double **w)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	int			count;

	*w = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "coefficients", &count);
	wml_gram_check_solvable(gram, "judging");
	wml_gram_check_coefficients(gram, count);
	wml_array_check_finite(*w, count, "coefficients");
	return gram;
}

static double
get_mse(FunctionCallInfo fcinfo)
{
	double	   *w;
	const WmlcGram *gram = get_judged(fcinfo, &w);
	double		mse;

	wml_check(wmlc_mse(gram, w, &mse));
	return mse;
}

Datum
wml_mse(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(get_mse(fcinfo));
}

Datum
wml_rmse(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(sqrt(get_mse(fcinfo)));
}

Datum
wml_r2(PG_FUNCTION_ARGS)
{
	double	   *w;
	const WmlcGram *gram = get_judged(fcinfo, &w);
	double		r2;

	wml_check(wmlc_r2(gram, w, gram->constant, &r2));
	if (isnan(r2))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(r2);
}
