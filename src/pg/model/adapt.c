/*
 * adapt.c
 *	  Fast adaptation of coefficients to a task: wml_adapt and wml_adapt_path;
 *	  and coefficients of standardised grams in the user's units:
 *	  wml_unstandardize.
 */
#include "postgres.h"

#include <math.h>

#include "core/model/adapt.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/srf.h"
#include "pg/model/step.h"

PG_FUNCTION_INFO_V1(wml_adapt);
PG_FUNCTION_INFO_V1(wml_adapt_path);
PG_FUNCTION_INFO_V1(wml_unstandardize);

/* The arguments (gram, coef, eta, steps, share), checked. */
typedef struct Adaptation
{
	const double *start;
	const WmlcGram *gram;
	double		eta;
	int			steps;
	void	   *work;
} Adaptation;

static bool
diverges(const Adaptation *adaptation, double eta)
{
	bool		result;

	wml_check(wmlc_adaptation_diverges(adaptation->gram, eta, &result, adaptation->work));
	return result;
}

/* The largest stable step size in six digits, rounded down if it must be. */
static char *
largest_stable_eta(const Adaptation *adaptation)
{
	double		largest;
	char	   *digits;

	wml_check(wmlc_largest_stable_eta(adaptation->gram, &largest, adaptation->work));
	digits = psprintf("%g", largest);
	if (diverges(adaptation, strtod(digits, NULL)))
		digits = psprintf("%g", largest - 0.5 * pow(10.0, floor(log10(largest)) - 5.0));
	return digits;
}

/* A step size that diverges is an error which tells one that does not. */
static void
check_converges(const Adaptation *adaptation)
{
	if (diverges(adaptation, adaptation->eta))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("adaptation diverges with a step size of %g", adaptation->eta),
				 errdetail("Each step multiplies the error in some direction by more than one."),
				 errhint("The largest stable step size on this gram is %s.",
						 largest_stable_eta(adaptation))));
}

/* The step size that is given, or the share of the largest stable one. */
static double
get_eta(const Adaptation *adaptation, const WmlcModelOptions *options)
{
	double		largest;

	if (!(options->share > 0.0))
		return options->eta;
	wml_check(wmlc_largest_stable_eta(adaptation->gram, &largest, adaptation->work));
	return isinf(largest) ? 0.0 : options->share * largest;
}

/* Without gram, coefficients or steps there is no answer. */
static bool
is_skipped(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3);
}

static Adaptation
get_adaptation(FunctionCallInfo fcinfo)
{
	WmlcModelOptions options = wmlc_default_options;
	Adaptation	adaptation;
	int			count;

	adaptation.gram = PG_GETARG_GRAM(0);
	adaptation.start = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "coefficients", &count);
	wml_set_step_size(&options, wml_get_number(fcinfo, 2, "eta"), wml_get_number(fcinfo, 4, "share"));
	adaptation.steps = wml_check_steps(PG_GETARG_INT32(3));
	wml_gram_check_solvable(adaptation.gram, "target");
	wml_gram_check_coefficients(adaptation.gram, count);
	wml_array_check_finite(adaptation.start, count, "coefficients");
	adaptation.work = palloc(wmlc_adapt_workspace(count));
	adaptation.eta = get_eta(&adaptation, &options);
	check_converges(&adaptation);
	return adaptation;
}

Datum
wml_adapt(PG_FUNCTION_ARGS)
{
	Adaptation	adaptation;
	ArrayType  *result;
	double	   *w;

	if (is_skipped(fcinfo))
		PG_RETURN_NULL();
	adaptation = get_adaptation(fcinfo);
	result = wml_array_new_vector(adaptation.gram->dims, &w);
	wml_check(wmlc_adapt(adaptation.gram, adaptation.eta, adaptation.steps, adaptation.start, w,
						 adaptation.work, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}

static void
put_step(WmlRows *rows, int step, const WmlcGram *gram, const double *coefficients)
{
	double	   *w;
	ArrayType  *array = wml_array_new_vector(gram->dims, &w);
	Datum		values[3];
	double		mse;

	memcpy(w, coefficients, gram->dims * sizeof(double));
	wml_check(wmlc_mse(gram, w, &mse));
	values[0] = Int32GetDatum(step);
	values[1] = PointerGetDatum(array);
	values[2] = Float8GetDatum(mse);
	wml_rows_put(rows, values, NULL);
	pfree(array);
}

Datum
wml_adapt_path(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	Adaptation	adaptation;
	WmlcDescent descent;
	double	   *w;

	if (is_skipped(fcinfo))
		return (Datum) 0;
	adaptation = get_adaptation(fcinfo);
	w = (double *) palloc(adaptation.gram->dims * sizeof(double));
	wml_check(wmlc_descent_start(&descent, adaptation.gram, adaptation.eta, adaptation.start,
								 adaptation.work));
	put_step(&rows, 0, adaptation.gram, adaptation.start);
	for (int step = 1; step <= adaptation.steps; step++)
	{
		wml_poll();
		wml_check(wmlc_descent_step(&descent, w));
		put_step(&rows, step, adaptation.gram, w);
	}
	return (Datum) 0;
}

/*
 * Coefficients of grams that wml_standardize made by this reference, in the
 * units of the reference: y' = w'.x' with x' = S x, y' = (y - m) / s becomes
 * y = s w'.S x + m, and m is the constant's.
 */
Datum
wml_unstandardize(PG_FUNCTION_ARGS)
{
	const WmlcGram *reference = PG_GETARG_GRAM(0);
	int			d = reference->dims;
	int			count;
	double	   *w = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "coefficients", &count);
	WmlcDd	   *matrix;
	WmlcDd		scale;
	double	   *element;
	ArrayType  *result;

	wml_gram_check_coefficients(reference, count);
	wml_array_check_finite(w, count, "coefficients");
	wml_gram_check_reference(reference);
	matrix = (WmlcDd *) palloc((Size) (d + 1) * (d + 1) * sizeof(WmlcDd));
	wmlc_gram_standardizer(reference, matrix);
	scale = wmlc_dd_div(wmlc_dd(1.0), matrix[(Size) d * (d + 1) + d]);
	result = wml_array_new_vector(d, &element);
	for (int j = 0; j < d; j++)
	{
		WmlcDd		sum = {0.0, 0.0};

		for (int i = 0; i < d; i++)
			sum = wmlc_dd_add(sum, wmlc_dd_mul_d(matrix[(Size) i * (d + 1) + j], w[i]));
		if (j == reference->constant)
			sum = wmlc_dd_sub(sum, matrix[(Size) d * (d + 1) + j]);
		element[j] = wmlc_dd_value(wmlc_dd_mul(sum, scale));
	}
	PG_RETURN_ARRAYTYPE_P(result);
}
