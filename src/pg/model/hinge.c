/*
 * hinge.c
 *	  Linear classifiers under the hinge loss: wml_unit and wml_hinge_adapt.  The
 *	  aggregates are those of model.c.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "core/model/hinge.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/model/hinge.h"

PG_FUNCTION_INFO_V1(wml_unit);
PG_FUNCTION_INFO_V1(wml_hinge_adapt);

double
wml_check_radius(double radius)
{
	if (!(radius > 0.0) || isinf(radius))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius must be a finite number and positive: %g", radius)));
	return radius;
}

void
wml_check_unit_ball(const WmlcGram *gram, double radius, const char *role)
{
	double		length = sqrt(gram->max_norm_square);

	if (wmlc_hinge_is_linear(gram, radius))
		return;
	if (isinf(gram->max_norm_square) || isinf(gram->max_response))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("it is not known whether the rows of the %s lie in the unit ball", role),
				 errdetail("A change of basis has lost the largest length of their features."),
				 errhint("Transform the rows before they are collected, with wml_unit at the end.")));
	if (length <= 1.0 + 1e-9 && gram->max_response <= 1.0 + 1e-9)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("radius is too large for the rows of the %s: %g", role, radius),
				 errdetail("The longest features have length %g and the largest response is %g: margins up to %g exceed 1, where the hinge loss is no longer linear.",
						   length, gram->max_response, radius * length * gram->max_response)));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("rows of the %s do not lie in the unit ball", role),
			 errdetail("The longest features have length %g and the largest response is %g; neither may exceed 1.",
					   length, gram->max_response),
			 errhint("Collect the gram of wml_unit(x, radius) with responses from -1 to 1. Where rows were taken away from the gram, those still count: then collect it anew.")));
}

/* x / max(radius, |x|); NULL when a feature is NULL */
Datum
wml_unit(PG_FUNCTION_ARGS)
{
	ArrayType  *features = PG_GETARG_ARRAYTYPE_P(0);
	double		radius = wml_check_radius(PG_GETARG_FLOAT8(1));
	ArrayType  *result;
	int			count;
	double	   *x;
	double	   *scaled;

	if (array_contains_nulls(features))
		PG_RETURN_NULL();
	x = wml_array_vector(features, "features", &count);
	wml_array_check_finite(x, count, "features");
	result = wml_array_new_vector(count, &scaled);
	wmlc_unit(x, count, radius, scaled);
	PG_RETURN_ARRAYTYPE_P(result);
}

/* wml_hinge_adapt(coef, gram, eta, steps, radius) */
Datum
wml_hinge_adapt(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(1);
	double		eta = wml_check_not_negative(PG_GETARG_FLOAT8(2), "eta");
	int			steps = wml_check_steps(PG_GETARG_INT32(3));
	double		radius = wml_check_radius(PG_GETARG_FLOAT8(4));
	ArrayType  *result;
	int			count;
	double	   *coefficients = wml_array_vector(PG_GETARG_ARRAYTYPE_P(0), "coefficients", &count);
	double	   *w;

	wml_gram_check_solvable(gram, "target");
	wml_gram_check_coefficients(gram, count);
	wml_check_unit_ball(gram, radius, "target");
	wml_array_check_finite(coefficients, count, "coefficients");
	result = wml_array_new_vector(count, &w);
	memcpy(w, coefficients, count * sizeof(double));
	wml_check(wmlc_hinge_adapt(w, gram, eta, steps, radius, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}
