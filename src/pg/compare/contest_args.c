/*
 * contest_args.c
 *	  What wml_compare and wml_tune are asked: sources, target, windows and the
 *	  options of the grid.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/gram/window.h"
#include "pg/base/memory.h"
#include "pg/compare/contest.h"
#include "pg/prior/prior_fit.h"

/* Fewer sources than these, and a minority, tell too little of forecasts. */
#define FEW_FORECASTS 10

enum
{
	ARG_SOURCES,
	ARG_TARGET,
	ARG_WINDOWS,
	ARG_MODELS,
	ARG_WEIGHTS,
	ARG_ETAS,
	ARG_RIDGES,
	ARG_SHRINKS,
	ARG_EVENNESSES,
	ARG_WHITENS,
	ARG_ADAPT_STEPS,
	ARG_SOURCE_ROWS,
	ARG_SMOOTH
};

/* The elements of an array argument without NULLs; NULL means the default. */
static Datum *
get_list(FunctionCallInfo fcinfo, int argument, const char *name, int *count)
{
	ArrayType  *array;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *datums;
	bool	   *nulls;

	*count = 0;
	if (PG_ARGISNULL(argument))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(argument);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &datums, &nulls, count);
	if (*count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be empty", name),
				 errhint("NULL stands for the default.")));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain NULL", name)));
	}
	return datums;
}

static const double *
get_numbers(FunctionCallInfo fcinfo, int argument, const char *list_name, const char *name,
			bool may_be_infinite, int *count)
{
	Datum	   *datums = get_list(fcinfo, argument, list_name, count);
	double	   *numbers;

	if (datums == NULL)
		return NULL;
	numbers = (double *) palloc(*count * sizeof(double));
	for (int i = 0; i < *count; i++)
	{
		numbers[i] = DatumGetFloat8(datums[i]);
		if (!may_be_infinite)
			wml_check_not_negative(numbers[i], name);
		else if (!(numbers[i] >= 0.0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s must not be negative: %g", name, numbers[i])));
	}
	return numbers;
}

static const int *
get_models(FunctionCallInfo fcinfo, int *count)
{
	Datum	   *datums = get_list(fcinfo, ARG_MODELS, "models", count);
	int *models = (int *) palloc(Max(*count, 1) * sizeof(int));

	for (int i = 0; i < *count; i++)
		models[i] = wml_arg_word(DatumGetTextPP(datums[i]), &wmlc_learner_words, "model");
	return datums == NULL ? NULL : models;
}

/*
 * Stacked weights go with the model "stack", and with it alone: the word is
 * known, so that what a comparison answers can be asked for again, but adds
 * nothing.
 */
static const WmlcRule *
get_weights(FunctionCallInfo fcinfo, int *count)
{
	Datum	   *datums = get_list(fcinfo, ARG_WEIGHTS, "weights", count);
	WmlcRule   *kinds = (WmlcRule *) palloc(Max(*count, 1) * sizeof(WmlcRule));
	int			others = 0;

	for (int i = 0; i < *count; i++)
	{
		WmlcRule	rule = wml_arg_word(DatumGetTextPP(datums[i]), &wmlc_weighting_words, "weights");

		if (rule != WMLC_STACKED)
			kinds[others++] = rule;
	}
	*count = others;
	return others == 0 ? NULL : kinds;
}

static const bool *
get_whitens(FunctionCallInfo fcinfo, int *count)
{
	Datum	   *datums = get_list(fcinfo, ARG_WHITENS, "whitens", count);
	bool	   *whitens = (bool *) palloc(Max(*count, 1) * sizeof(bool));

	for (int i = 0; i < *count; i++)
		whitens[i] = DatumGetBool(datums[i]);
	return datums == NULL ? NULL : whitens;
}

static const int *
get_adapt_steps(FunctionCallInfo fcinfo, int *count)
{
	Datum	   *datums = get_list(fcinfo, ARG_ADAPT_STEPS, "adapt_steps", count);
	int		   *steps = (int *) palloc(Max(*count, 1) * sizeof(int));

	for (int i = 0; i < *count; i++)
		steps[i] = wml_check_steps(DatumGetInt32(datums[i]));
	return datums == NULL ? NULL : steps;
}

static WmlcGridOptions
get_options(FunctionCallInfo fcinfo)
{
	WmlcGridOptions options;

	options.models = get_models(fcinfo, &options.model_count);
	options.weights = get_weights(fcinfo, &options.weights_count);
	options.etas = get_numbers(fcinfo, ARG_ETAS, "etas", "eta", false, &options.eta_count);
	options.ridges = get_numbers(fcinfo, ARG_RIDGES, "ridges", "ridge", false,
								 &options.ridge_count);
	options.shrinks = get_numbers(fcinfo, ARG_SHRINKS, "shrinks", "shrink", false,
								  &options.shrink_count);
	options.evennesses = get_numbers(fcinfo, ARG_EVENNESSES, "evennesses", "evenness", false,
									 &options.evenness_count);
	options.whitens = get_whitens(fcinfo, &options.whiten_count);
	options.adapt_steps = get_adapt_steps(fcinfo, &options.adapt_steps_count);
	options.source_rows = get_numbers(fcinfo, ARG_SOURCE_ROWS, "source_rows", "source_rows", true,
									  &options.source_rows_count);
	return options;
}

/* The target: its folds, and their sum. */
static void
get_folds(FunctionCallInfo fcinfo, WmlContest *contest)
{
	WmlSources	folds = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_TARGET));
	WmlcGram   *target;

	if (folds.count < 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("the target must come in at least two folds"),
				 errdetail("Each fold is predicted from the others."),
				 errhint("Collect one gram for every row of the target, or for every few rows.")));
	contest->fold_count = (int) folds.count;
	contest->folds = (const WmlcGram **) palloc(folds.count * sizeof(WmlcGram *));
	for (int i = 0; i < contest->fold_count; i++)
	{
		const WmlcGram *fold = folds.source(folds.arg, i);

		CHECK_FOR_INTERRUPTS();
		if (fold == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("folds must not contain NULL"),
					 errhint("Exclude NULL: array_agg(gram) FILTER (WHERE gram IS NOT NULL).")));
		wml_gram_check_solvable(fold, "fold");
		wml_gram_check_same_dims(fold, i == 0 ? fold : contest->folds[0]);
		contest->folds[i] = fold;
	}
	target = &wml_gram_create(contest->folds[0]->dims)->body;
	for (int i = 0; i < contest->fold_count; i++)
		wml_check(wmlc_gram_merge(target, contest->folds[i]));
	contest->target = target;
}

/* The target: its folds, or one gram of all that is known. */
static void
get_target(FunctionCallInfo fcinfo, bool in_folds, WmlContest *contest)
{
	if (in_folds)
		get_folds(fcinfo, contest);
	else
		contest->target = PG_GETARG_GRAM(ARG_TARGET);
	wml_gram_check_solvable(contest->target, "target");
}

static void
get_sources(FunctionCallInfo fcinfo, WmlContest *contest)
{
	WmlSources	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_SOURCES));
	WmlcComparison *comparison = &contest->comparison;

	contest->sources = (const WmlcGram **) palloc(Max(sources.count, 1) * sizeof(WmlcGram *));
	contest->positions = (int *) palloc(Max(sources.count, 1) * sizeof(int));
	comparison->source_count = 0;
	for (int64 i = 0; i < sources.count; i++)
	{
		const WmlcGram *source = sources.source(sources.arg, i);

		CHECK_FOR_INTERRUPTS();
		if (source == NULL)
			continue;
		wml_gram_check_solvable(source, "source");
		wml_gram_check_same_dims(source, contest->target);
		contest->positions[comparison->source_count] = (int) i + 1;
		contest->sources[comparison->source_count++] = source;
	}
	if (comparison->source_count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from")));
}

/*
 * The rows of each source that correspond to those known of the target.  Where
 * they are all rows of nearly every source, as those of a task that has been there
 * as long as the others, hardly anybody can forecast, and it is as if there were no
 * windows: a single row of a single source must not choose the method.
 */
static void
get_windows(FunctionCallInfo fcinfo, WmlContest *contest)
{
	ArrayType  *sources = PG_GETARG_ARRAYTYPE_P(ARG_SOURCES);
	WmlSources	windows;
	size_t		count = contest->comparison.source_count;
	size_t		able = 0;

	if (PG_ARGISNULL(ARG_WINDOWS))
		return;
	windows = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_WINDOWS));
	wml_window_check_count(windows.count, ArrayGetNItems(ARR_NDIM(sources), ARR_DIMS(sources)));
	contest->windows = (const WmlcGram **) palloc(count * sizeof(WmlcGram *));
	contest->rests = (const WmlcGram **) palloc(count * sizeof(WmlcGram *));
	for (size_t j = 0; j < count; j++)
	{
		int			position = contest->positions[j];

		CHECK_FOR_INTERRUPTS();
		contest->windows[j] = windows.source(windows.arg, position - 1);
		contest->rests[j] = wml_window_rest(contest->sources[j], contest->windows[j], position);
		able += contest->rests[j] != NULL;
	}
	if (able < FEW_FORECASTS && 2 * able < count)
		contest->windows = contest->rests = NULL;
}

/* The features of a smooth part, where some are named. */
static void
get_smooth(FunctionCallInfo fcinfo, WmlContest *contest, WmlcGridOptions *options)
{
	int			d = contest->target->dims;
	int			count;
	Datum	   *words = get_list(fcinfo, ARG_SMOOTH, "smooth", &count);
	bool	   *smooth = (bool *) palloc0(d * sizeof(bool));

	options->smooth = 0;
	wml_mark_features(words, count, NULL, 0, d, true, smooth);
	for (int i = 0; i < d; i++)
		options->smooth += smooth[i];
	if (options->smooth == d)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("some features must not be smooth"),
				 errhint("Tasks differ in the coefficients of the others, a constant at least.")));
	for (int i = 0; i < options->model_count && options->smooth == 0; i++)
	{
		if (options->models[i] == WMLC_LEARN_SMOOTH)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("model \"smooth\" needs smooth features"),
					 errhint("Name them by the argument smooth.")));
	}
	if (options->smooth > 0)
		contest->comparison.smooth = smooth;
}

void
wml_read_contest(FunctionCallInfo fcinfo, bool in_folds, WmlContest *contest, WmlcGridOptions *options)
{
	wml_require_arg(fcinfo, ARG_SOURCES, "sources");
	wml_require_arg(fcinfo, ARG_TARGET, in_folds ? "folds" : "target");
	*options = get_options(fcinfo);
	contest->baselines_compete = options->models == NULL;
	for (int i = 0; i < options->model_count; i++)
		contest->baselines_compete |= options->models[i] == WMLC_ERM;
	get_target(fcinfo, in_folds, contest);
	get_sources(fcinfo, contest);
	get_windows(fcinfo, contest);
	get_smooth(fcinfo, contest, options);
}
