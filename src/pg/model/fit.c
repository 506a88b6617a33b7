/*
 * fit.c
 *	  The one-call form: weights and model together, one row for each
 *	  coefficient (wml_fit) or for each source (wml_fit_weights).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "core/model/objective.h"
#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/gram/window.h"
#include "pg/model/step.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_fit);
PG_FUNCTION_INFO_V1(wml_fit_weights);

enum
{
	ARG_SOURCES,
	ARG_TARGET,
	ARG_MODEL,
	ARG_WEIGHTS,
	ARG_ETA,
	ARG_STEPS,
	ARG_RIDGE,
	ARG_SHRINK,
	ARG_WHITEN,
	ARG_WINDOWS,
	ARG_FEATURES
};

static const char *const argument_names[] = {
	"sources", "target", "model", "weights", "eta", "steps", "ridge", "shrink", "whiten"
};

/* Everything the arguments ask for, and the weights. */
typedef struct Fit
{
	WmlSources	sources;
	WmlSources	windows;		/* what is compared with the target: the sources, unless told */
	const WmlcGram *target;
	WmlcObjective objective;
	double		ridge;
	double	   *alpha;			/* NaN for NULL sources */
} Fit;

/* The windows of sources that are not NULL. */
typedef struct Windows
{
	WmlSources	sources;
	WmlSources	windows;
} Windows;

static const WmlcGram *
window_of_source(void *arg, int64 i)
{
	Windows    *windows = (Windows *) arg;

	return windows->sources.source(windows->sources.arg, i) == NULL ? NULL
		: windows->windows.source(windows->windows.arg, i);
}

/* The argument `windows`, each of them a part of its source. */
static WmlSources
get_windows(FunctionCallInfo fcinfo, const WmlSources *sources)
{
	Windows    *windows = (Windows *) palloc(sizeof(Windows));

	windows->sources = *sources;
	windows->windows = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_WINDOWS));
	wml_window_check_count(windows->windows.count, sources->count);
	for (int64 i = 0; i < sources->count; i++)
	{
		const WmlcGram *source = sources->source(sources->arg, i);
		WmlcGram   *rest;

		CHECK_FOR_INTERRUPTS();
		if (source == NULL)
			continue;
		wml_gram_check_solvable(source, "source");
		rest = wml_window_rest(source, windows->windows.source(windows->windows.arg, i), i + 1);
		if (rest != NULL)
			wml_window_free(rest);
	}
	return (WmlSources) {.count = sources->count, .source = window_of_source, .arg = windows};
}

static Fit
get_fit(FunctionCallInfo fcinfo)
{
	Fit			fit;
	WmlcWeighting options = {.loss = WMLC_SQUARE};
	WmlcModelOptions step = wmlc_default_options;

	for (int i = ARG_SOURCES; i <= ARG_WHITEN; i++)
	{
		if (i != ARG_ETA)
			wml_require_arg(fcinfo, i, argument_names[i]);
	}
	fit.objective.kind = wml_arg_word(PG_GETARG_TEXT_PP(ARG_MODEL), &wmlc_objective_words, "model");
	fit.objective.scale = WMLC_SCALE_MEAN;
	wml_set_step_size(&step, wml_get_number(fcinfo, ARG_ETA, "eta"), NAN);
	fit.objective.eta = step.eta;
	fit.objective.share = step.share;
	fit.objective.steps = wml_check_steps(PG_GETARG_INT32(ARG_STEPS));
	fit.ridge = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_RIDGE), "ridge");
	options.rule = wml_arg_word(PG_GETARG_TEXT_PP(ARG_WEIGHTS), &wmlc_rule_words, "weights");
	options.shrink = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_SHRINK), "shrink");
	options.whiten = PG_GETARG_BOOL(ARG_WHITEN);

	fit.sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_SOURCES));
	fit.target = PG_GETARG_GRAM(ARG_TARGET);
	fit.windows = PG_ARGISNULL(ARG_WINDOWS) ? fit.sources : get_windows(fcinfo, &fit.sources);
	fit.alpha = (double *) palloc(Max(fit.sources.count, 1) * sizeof(double));
	wml_alpha_solve(wmlc_rule_is_spatial(options.rule) ? &fit.windows : &fit.sources, fit.target, &options,
					fit.alpha);
	return fit;
}

/* The coefficients under the weights. */
static double *
solve(const Fit *fit)
{
	int			d = fit->target->dims;
	WmlcObjectiveKind kind = fit->objective.kind;
	double	   *array = (double *) palloc0(wmlc_objective_doubles(kind, d) * sizeof(double));
	void	   *work = palloc(wmlc_objective_workspace(kind, d));
	double	   *w = (double *) palloc(d * sizeof(double));
	WmlcObjectiveSum sum;
	int			rank;

	wmlc_objective_attach(&sum, kind, d, array);
	for (int64 i = 0; i < fit->sources.count; i++)
	{
		if (fit->alpha[i] > 0.0)
			wml_check(wmlc_objective_add(&sum, &fit->objective,
										 fit->sources.source(fit->sources.arg, i),
										 fit->alpha[i], work, wml_poll));
	}
	if (sum.alpha[0] == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from")));
	wml_check(wmlc_objective_fit(&sum, fit->ridge, w, &rank, work, wml_poll));
	return w;
}

Datum
wml_fit(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	Fit			fit = get_fit(fcinfo);
	Datum	   *names = wml_feature_names(fcinfo, ARG_FEATURES, fit.target->dims);
	double	   *w = solve(&fit);

	for (int i = 0; i < fit.target->dims; i++)
	{
		Datum		values[3] = {
			Int32GetDatum(i + 1),
			names ? names[i] : (Datum) 0,
			Float8GetDatum(w[i])
		};
		bool		nulls[3] = {false, names == NULL, false};

		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}

Datum
wml_fit_weights(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	Fit			fit = get_fit(fcinfo);

	for (int64 i = 0; i < fit.sources.count; i++)
	{
		bool		missing = isnan(fit.alpha[i]);
		Datum		values[3] = {
			Int32GetDatum((int32) i + 1),
			Float8GetDatum(fit.alpha[i]),
			Float8GetDatum(missing ? NAN : wmlc_distance(fit.windows.source(fit.windows.arg, i),
														 fit.target, WMLC_SQUARE))
		};
		bool		nulls[3] = {false, missing, missing};

		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}
