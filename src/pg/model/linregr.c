/*
 * linregr.c
 *	  Ordinary regression of one task from its gram: wml_coef, wml_linregr and
 *	  wml_linregr_summary.
 */
#include "postgres.h"

#include "core/base/student.h"
#include "core/model/adapt.h"
#include "core/model/model.h"
#include "core/linalg/solve.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"
#include "pg/base/srf.h"
#include "pg/weights/alpha.h"

PG_FUNCTION_INFO_V1(wml_linregr);
PG_FUNCTION_INFO_V1(wml_linregr_summary);
PG_FUNCTION_INFO_V1(wml_coef);
PG_FUNCTION_INFO_V1(wml_linregr_clustered);
PG_FUNCTION_INFO_V1(wml_chow);

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

static double
get_level(FunctionCallInfo fcinfo, int argument)
{
	double		level;

	wml_require_arg(fcinfo, argument, "level");
	level = PG_GETARG_FLOAT8(argument);
	if (!(level > 0.0 && level < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1: %g", level)));
	return level;
}

/* A row for one coefficient; without an error there are neither tests nor bounds. */
static void
put_coefficient(WmlRows *rows, int i, const Datum *names, double coefficient, double error,
				double degrees, double level)
{
	bool		known = degrees > 0.0 && isfinite(error);
	bool		positive = known && error > 0.0;
	double		bound = known ? wmlc_student_bound(level, degrees) * error : 0.0;
	Datum		values[8] = {
		Int32GetDatum(i + 1),
		names ? names[i] : (Datum) 0,
		Float8GetDatum(coefficient),
		Float8GetDatum(error),
		Float8GetDatum(positive ? coefficient / error : 0.0),
		Float8GetDatum(positive ? 2.0 * wmlc_student_tail(fabs(coefficient / error), degrees) : 0.0),
		Float8GetDatum(coefficient - bound),
		Float8GetDatum(coefficient + bound)
	};
	bool		nulls[8] = {false, names == NULL, false, !known, !positive, !positive, !known, !known};

	wml_rows_put(rows, values, nulls);
}

/* wml_linregr(gram, features, level) */
Datum
wml_linregr(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	const WmlcGram *gram;
	Regression	regression;
	WmlcDd	   *inverse;
	Datum	   *names;
	double		level;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	level = get_level(fcinfo, 2);
	gram = PG_GETARG_GRAM(0);
	regression = regress(gram);
	names = wml_feature_names(fcinfo, 1, gram->dims);
	inverse = (WmlcDd *) palloc(gram->dims * sizeof(WmlcDd));
	wml_check(wmlc_solve_inverse_diagonal(&regression.solver, inverse, wml_poll));
	for (int i = 0; i < gram->dims; i++)
		put_coefficient(&rows, i, names, regression.w[i],
						sqrt(regression.residual_variance * wmlc_dd_value(inverse[i])),
						(double) regression.freedom, level);
	return (Datum) 0;
}

/*
 * The scores X'(y - X w) of one task, and what they move the coefficients by;
 * their squares to the sums.
 */
static void
add_cluster(Regression *regression, const WmlcGram *gram, double *squares)
{
	int			d = gram->dims;
	WmlcDd	   *score = (WmlcDd *) palloc(d * sizeof(WmlcDd));
	WmlcDd	   *moved = (WmlcDd *) palloc(d * sizeof(WmlcDd));

	for (int i = 0; i < d; i++)
	{
		score[i] = wmlc_gram_sum(gram, i, d);
		for (int j = 0; j < d; j++)
			score[i] = wmlc_dd_sub(score[i], wmlc_dd_mul_d(wmlc_gram_sum(gram, i, j),
														   regression->w[j]));
	}
	wml_check(wmlc_solve(&regression->solver, score, moved, wml_poll));
	for (int i = 0; i < d; i++)
		squares[i] += wmlc_dd_value(moved[i]) * wmlc_dd_value(moved[i]);
	pfree(score);
	pfree(moved);
}

/* wml_linregr_clustered(sources, features, level): errors that tasks share */
Datum
wml_linregr_clustered(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlSources	sources;
	WmlcGram   *pooled = NULL;
	Regression	regression;
	Datum	   *names;
	double	   *squares;
	double		level;
	double		clusters = 0.0;
	double		n,
				factor;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	level = get_level(fcinfo, 2);
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	for (int64 j = 0; j < sources.count; j++)
	{
		const WmlcGram *gram = sources.source(sources.arg, j);

		if (gram == NULL || wmlc_gram_weighted_rows(gram) == 0)
			continue;
		wml_gram_check_solvable(gram, "source");
		if (pooled == NULL)
			pooled = &wml_gram_create(gram->dims)->body;
		wml_gram_check_same_dims(gram, pooled);
		wml_check(wmlc_gram_merge(pooled, gram));
		clusters += 1.0;
	}
	if (pooled == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from")));
	regression = regress(pooled);
	names = wml_feature_names(fcinfo, 1, pooled->dims);
	squares = (double *) palloc0(pooled->dims * sizeof(double));
	for (int64 j = 0; j < sources.count; j++)
	{
		const WmlcGram *gram = sources.source(sources.arg, j);

		if (gram != NULL && wmlc_gram_weighted_rows(gram) > 0)
			add_cluster(&regression, gram, squares);
	}

	/* the usual correction for few clusters */
	n = (double) wmlc_gram_weighted_rows(pooled);
	factor = clusters / (clusters - 1.0) * (n - 1.0) / (double) regression.freedom;
	for (int i = 0; i < pooled->dims; i++)
		put_coefficient(&rows, i, names, regression.w[i],
						clusters > 1.0 && regression.freedom > 0 ? sqrt(factor * squares[i]) : NAN,
						clusters - 1.0, level);
	return (Datum) 0;
}

/* Residual squares of a regression */
static double
residual_squares(const Regression *regression)
{
	return regression->freedom > 0
		? regression->residual_variance * (double) regression->freedom : 0.0;
}

/* wml_chow(a, b): do two tasks have the same coefficients? */
Datum
wml_chow(PG_FUNCTION_ARGS)
{
	const WmlcGram *a = PG_GETARG_GRAM(0);
	const WmlcGram *b = PG_GETARG_GRAM(1);
	WmlcGram   *both;
	Regression	of_a,
				of_b,
				of_both;
	double		apart,
				numerator,
				denominator,
				f;

	wml_gram_check_same_dims(a, b);
	both = &wml_gram_create(a->dims)->body;
	wml_check(wmlc_gram_merge(both, a));
	wml_check(wmlc_gram_merge(both, b));
	of_a = regress(a);
	of_b = regress(b);
	of_both = regress(both);
	apart = residual_squares(&of_a) + residual_squares(&of_b);
	denominator = (double) (of_a.freedom + of_b.freedom);
	numerator = (double) of_both.freedom - denominator;
	f = fmax(residual_squares(&of_both) - apart, 0.0) / numerator / (apart / denominator);
	{
		Datum		values[] = {
			Float8GetDatum(f),
			Float8GetDatum(numerator),
			Float8GetDatum(denominator),
			Float8GetDatum(wmlc_f_tail(f, numerator, denominator))
		};
		bool		unknown = !(numerator > 0.0 && denominator > 0.0 && isfinite(f));
		bool		nulls[] = {unknown, false, false, unknown};

		return wml_composite(fcinfo, values, nulls);
	}
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
