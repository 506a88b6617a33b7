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
#include "pg/model/step.h"

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
				 errhint("Transform the rows before you collect them, with wml_unit last.")));
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
			 errhint("Collect the gram of wml_unit(x, radius) with responses from -1 to 1. Rows that were subtracted still count; if there are any, collect the gram again.")));
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

/* The step that leads from zero to the edge of the ball, along the gradient. */
static double
step_to_edge(const WmlcGram *gram, double radius)
{
	double		square = 0.0;

	for (int i = 0; i < gram->dims; i++)
	{
		double		b = wmlc_dd_value(wmlc_gram_moment(gram, i, gram->dims));

		square += b * b;
	}
	return square > 0.0 ? radius / sqrt(square) : 0.0;
}

/* wml_hinge_adapt(gram, coef, eta, steps, radius, share) */
Datum
wml_hinge_adapt(PG_FUNCTION_ARGS)
{
	WmlcModelOptions options = wmlc_default_options;
	const WmlcGram *gram;
	ArrayType  *result;
	int			count;
	double	   *coefficients;
	double	   *w;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	gram = PG_GETARG_GRAM(0);
	coefficients = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "coefficients", &count);
	wml_set_step_size(&options, wml_get_number(fcinfo, 2, "eta"), wml_get_number(fcinfo, 5, "share"));
	options.steps = wml_check_steps(PG_GETARG_INT32(3));
	options.radius = wml_check_radius(PG_GETARG_FLOAT8(4));
	wml_gram_check_solvable(gram, "target");
	wml_gram_check_coefficients(gram, count);
	wml_check_unit_ball(gram, options.radius, "target");
	wml_array_check_finite(coefficients, count, "coefficients");
	if (options.share > 0.0)
		options.eta = options.share * step_to_edge(gram, options.radius);
	result = wml_array_new_vector(count, &w);
	memcpy(w, coefficients, count * sizeof(double));
	wml_check(wmlc_hinge_adapt(w, gram, options.eta, options.steps, options.radius, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}
