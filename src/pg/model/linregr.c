/*
 * linregr.c
 *	  Ordinary regression of one task from its gram: wml_coef, wml_linregr and
 *	  wml_linregr_summary.
 */
#include "postgres.h"

#include "core/model/adapt.h"
#include "core/model/model.h"
#include "core/linalg/solve.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_linregr);
PG_FUNCTION_INFO_V1(wml_linregr_summary);
PG_FUNCTION_INFO_V1(wml_coef);

typedef struct Regression
{
	const WmlcGram *gram;
	WmlcSolver	solver;
	double	   *w;				/* coefficients */
	int64		freedom;		/* rows minus rank */
	double		residual_variance;	/* NaN without degrees of freedom */
} Regression;

static Regression
regress(const WmlcGram *gram)
{
	Regression	regression = {.gram = gram};
	int			d = gram->dims;
	int64		rows = wmlc_gram_weighted_rows(gram);
	WmlcDd	   *b = (WmlcDd *) palloc(d * sizeof(WmlcDd));
	WmlcDd	   *w = (WmlcDd *) palloc(d * sizeof(WmlcDd));
	double		mse;

	wml_gram_check_solvable(gram, "regression");
	regression.w = (double *) palloc(d * sizeof(double));
	for (int i = 0; i < d; i++)
		b[i] = wmlc_gram_sum(gram, i, d);
	wml_check(wmlc_solve_factor(&regression.solver, d, d + 1, gram->sums,
								gram->sums + wmlc_gram_entries(d), (double) rows, 0.0,
								palloc(wmlc_solve_workspace(d)), wml_poll));
	wml_check(wmlc_solve(&regression.solver, b, w, wml_poll));
	for (int i = 0; i < d; i++)
		regression.w[i] = wmlc_dd_value(w[i]);
	regression.freedom = rows - regression.solver.factor.rank;
	wml_check(wmlc_mse(gram, regression.w, &mse));
	regression.residual_variance = regression.freedom > 0
		? mse * wmlc_dd_value(gram->weight) / (double) regression.freedom : NAN;
	return regression;
}

Datum
wml_linregr(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	const WmlcGram *gram;
	Regression	regression;
	WmlcDd	   *inverse;
	Datum	   *names;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	gram = PG_GETARG_GRAM(0);
	regression = regress(gram);
	names = wml_feature_names(fcinfo, 1, gram->dims);
	inverse = (WmlcDd *) palloc(gram->dims * sizeof(WmlcDd));
	wml_check(wmlc_solve_inverse_diagonal(&regression.solver, inverse, wml_poll));
	for (int i = 0; i < gram->dims; i++)
	{
		double		error = sqrt(regression.residual_variance * wmlc_dd_value(inverse[i]));
		Datum		values[5] = {
			Int32GetDatum(i + 1),
			names ? names[i] : (Datum) 0,
			Float8GetDatum(regression.w[i]),
			Float8GetDatum(error),
			Float8GetDatum(regression.w[i] / error)
		};
		bool		nulls[5] = {false, names == NULL, false, isnan(error), !(error > 0.0)};

		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}

Datum
wml_linregr_summary(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	Regression	regression = regress(gram);
	double		r2,
				condition;

	wml_check(wmlc_r2(gram, regression.w, gram->constant, &r2));
	wml_check(wmlc_solve_condition(&regression.solver, &condition,
								   wml_allocate(wmlc_solve_condition_workspace(gram->dims), 1),
								   wml_poll));
	{
		/* the condition of X, not of X'X, is what other programs print */
		Datum		values[6] = {
			Int64GetDatum(wmlc_gram_weighted_rows(gram)),
			Int32GetDatum(regression.solver.factor.rank),
			Int64GetDatum(regression.freedom),
			Float8GetDatum(r2),
			Float8GetDatum(sqrt(regression.residual_variance)),
			Float8GetDatum(sqrt(condition))
		};
		bool		nulls[6] = {false, false, false, isnan(r2), isnan(regression.residual_variance), false};

		return wml_composite(fcinfo, values, nulls);
	}
}

/* wml_coef(gram, ridge): least squares, and nothing else */
Datum
wml_coef(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	double		ridge = wml_check_not_negative(PG_GETARG_FLOAT8(1), "ridge");
	int			d = gram->dims;
	WmlcModelOptions options = wmlc_default_options;
	ArrayType  *result;
	double	   *sum;
	double	   *w;
	void	   *work;

	wml_gram_check_solvable(gram, "regression");
	options.ridge = ridge;
	sum = (double *) palloc0(wmlc_model_doubles(WMLC_ERM, d) * sizeof(double));
	work = palloc(wmlc_model_workspace(WMLC_ERM, d));
	result = wml_array_new_vector(d, &w);
	wml_check(wmlc_model_add(WMLC_ERM, &options, gram, 1.0, sum, work, wml_poll));
	wml_check(wmlc_model_fit(WMLC_ERM, &options, d, sum, w, work, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}
