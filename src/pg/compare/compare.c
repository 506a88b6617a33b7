/*
 * compare.c
 *	  Choosing a method by trying all of them: wml_compare and wml_tune.
 *
 * Every method of a grid learns from the sources and from all folds of the
 * target but one, and is judged by that one.  Beside the folds there are
 * rehearsals, in which sources play the target.  See core/compare_choice.h for
 * how the choice is made.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "core/model/adapt.h"
#include "core/compare/compare.h"
#include "core/compare/compare_choice.h"
#include "core/compare/compare_grid.h"
#include "core/compare/rehearse.h"
#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_compare);
PG_FUNCTION_INFO_V1(wml_tune);

/* More methods than this are a mistake, and would take forever. */
#define MAX_METHODS 10000

/* Rehearsals: about as many, and of no more rows than this. */
#define REHEARSALS 32
#define MAX_REHEARSED_ROWS 1000

enum
{
	ARG_SOURCES,
	ARG_FOLDS,
	ARG_MODELS,
	ARG_WEIGHTS,
	ARG_ETAS,
	ARG_RIDGES,
	ARG_SHRINKS,
	ARG_EVENNESSES,
	ARG_WHITENS,
	ARG_ADAPT_STEPS,
	ARG_SOURCE_ROWS
};

/* A comparison and all that it came to. */
typedef struct Contest
{
	WmlcComparison comparison;
	const WmlcGram **sources;
	const WmlcGram **folds;
	int			fold_count;
	WmlcGram   *pooled;			/* all sources */
	WmlcGram   *target;			/* all folds */
	size_t		rehearsal_count;
	WmlcTrial  *trials;			/* the folds, the whole target, the rehearsals */
	WmlcGrid	grid;
	double	   *coefficients;
	double	   *errors;
	WmlcVerdict *verdicts;
	int			chosen;
} Contest;

/*
 * Arguments
 */

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

static const WmlcRule *
get_weights(FunctionCallInfo fcinfo, int *count)
{
	Datum	   *datums = get_list(fcinfo, ARG_WEIGHTS, "weights", count);
	WmlcRule   *kinds = (WmlcRule *) palloc(Max(*count, 1) * sizeof(WmlcRule));

	for (int i = 0; i < *count; i++)
		kinds[i] = wml_arg_word(DatumGetTextPP(datums[i]), &wmlc_rule_words, "weights");
	return datums == NULL ? NULL : kinds;
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
get_folds(FunctionCallInfo fcinfo, Contest *contest)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(ARG_FOLDS);
	WmlSources	folds = wml_sources_from_array(array);

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

		if (fold == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("folds must not contain NULL"),
					 errhint("Leave NULL out: array_agg(gram) FILTER (WHERE gram IS NOT NULL).")));
		wml_gram_check_solvable(fold, "fold");
		wml_gram_check_same_dims(fold, i == 0 ? fold : contest->folds[0]);
		contest->folds[i] = fold;
	}
	contest->target = &wml_gram_create(contest->folds[0]->dims)->body;
	for (int i = 0; i < contest->fold_count; i++)
		wml_check(wmlc_gram_merge(contest->target, contest->folds[i]));
	wml_gram_check_solvable(contest->target, "target");
}

static void
get_sources(FunctionCallInfo fcinfo, Contest *contest)
{
	WmlSources	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_SOURCES));
	WmlcComparison *comparison = &contest->comparison;

	contest->sources = (const WmlcGram **) palloc(Max(sources.count, 1) * sizeof(WmlcGram *));
	contest->pooled = &wml_gram_create(contest->target->dims)->body;
	comparison->source_count = 0;
	for (int64 i = 0; i < sources.count; i++)
	{
		const WmlcGram *source = sources.source(sources.arg, i);

		if (source == NULL)
			continue;
		wml_gram_check_solvable(source, "source");
		wml_gram_check_same_dims(source, contest->target);
		wml_check(wmlc_gram_merge(contest->pooled, source));
		contest->sources[comparison->source_count++] = source;
	}
	if (comparison->source_count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from")));
	wml_gram_check_solvable(contest->pooled, "pooled source");
}

/*
 * The contest
 */

static WmlcGram *
copy_gram(const WmlcGram *gram)
{
	WmlGram    *copy = wml_gram_create(gram->dims);

	wml_check(wmlc_gram_merge(&copy->body, gram));
	return &copy->body;
}

/* For each fold the sum of all others: those before it and those behind it. */
static WmlcGram **
complements(const Contest *contest)
{
	int			count = contest->fold_count;
	WmlcGram  **others = (WmlcGram **) palloc(count * sizeof(WmlcGram *));
	WmlcGram   *sum = &wml_gram_create(contest->target->dims)->body;

	for (int i = 0; i < count; i++)
	{
		others[i] = copy_gram(sum);
		wml_check(wmlc_gram_merge(sum, contest->folds[i]));
	}
	sum = &wml_gram_create(contest->target->dims)->body;
	for (int i = count - 1; i >= 0; i--)
	{
		wml_check(wmlc_gram_merge(others[i], sum));
		wml_check(wmlc_gram_merge(sum, contest->folds[i]));
	}
	return others;
}

/*
 * What all sources have in common, or NULL where they cannot rehearse: a single
 * one has nobody to learn from.
 */
static WmlcEnsemble *
create_ensemble(const Contest *contest, void *work)
{
	const WmlcComparison *comparison = &contest->comparison;
	WmlcEnsemble *ensemble = (WmlcEnsemble *) palloc(sizeof(WmlcEnsemble));

	if (comparison->source_count < 2)
		return NULL;
	ensemble->coefficients = (double *) palloc(contest->target->dims * sizeof(double));
	wml_check(wmlc_ensemble(ensemble, contest->target->dims, comparison->source_count,
							contest->sources, work, wml_poll));
	return ensemble->degrees > 0.0 ? ensemble : NULL;
}

/* Rehearsals are spread evenly over the sources, or several fall on each. */
static size_t
count_rehearsals(size_t source_count)
{
	return source_count >= REHEARSALS ? REHEARSALS : REHEARSALS / source_count * source_count;
}

static WmlcTrial
create_rehearsal(const Contest *contest, const WmlcEnsemble *ensemble, size_t number, void *work)
{
	size_t		actor = number * contest->comparison.source_count / contest->rehearsal_count;
	int			d = contest->target->dims;
	WmlcGram   *role = &wml_gram_create(d)->body;
	WmlcGram   *known = &wml_gram_create(d)->body;
	int64		rows = Min(wmlc_gram_weighted_rows(contest->target), MAX_REHEARSED_ROWS);

	CHECK_FOR_INTERRUPTS();
	wml_check(wmlc_rehearse_role(ensemble, contest->sources[actor], role, work, wml_poll));
	wml_check(wmlc_rehearse_rows(role, rows, number, known, work));
	return (WmlcTrial) {.known = known, .unknown = role, .left_out = actor};
}

static void
create_trials(Contest *contest)
{
	WmlcComparison *comparison = &contest->comparison;
	WmlcGram  **others = complements(contest);
	void	   *work = wml_allocate(wmlc_rehearse_workspace(contest->target->dims), 1);
	WmlcEnsemble *ensemble = create_ensemble(contest, work);
	WmlcTrial  *next;

	contest->rehearsal_count = ensemble == NULL ? 0 : count_rehearsals(comparison->source_count);
	comparison->trial_count = contest->fold_count + 1 + contest->rehearsal_count;
	contest->trials = next = (WmlcTrial *) wml_allocate(comparison->trial_count, sizeof(WmlcTrial));
	for (int i = 0; i < contest->fold_count; i++)
		*next++ = (WmlcTrial) {
			.known = others[i],
			.unknown = contest->folds[i],
			.left_out = WMLC_NO_SOURCE
		};
	*next++ = (WmlcTrial) {.known = contest->target, .left_out = WMLC_NO_SOURCE};
	for (size_t i = 0; i < contest->rehearsal_count; i++)
		*next++ = create_rehearsal(contest, ensemble, i, work);
}

static void
create_grid(Contest *contest, WmlcGridOptions *options)
{
	double		learners,
				weightings,
				methods,
				stable_eta;

	wml_check(wmlc_largest_stable_eta(contest->pooled, &stable_eta,
									  wml_allocate(wmlc_adapt_workspace(contest->target->dims), 1)));
	options->d = contest->target->dims;
	options->curvature = isinf(stable_eta) ? 1.0 : 2.0 / stable_eta;
	wmlc_grid_bounds(options, &learners, &weightings, &methods);
	if (methods > MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many combinations of options"),
				 errdetail("There may be %.0f, but not more than %d.", methods, MAX_METHODS),
				 errhint("Pass shorter arrays.")));
	contest->grid.learners = (WmlcLearner *) palloc((Size) learners * sizeof(WmlcLearner));
	contest->grid.weightings = (WmlcWeighting *) palloc((Size) weightings * sizeof(WmlcWeighting));
	contest->grid.methods = (WmlcMethod *) palloc((Size) methods * sizeof(WmlcMethod));
	wmlc_grid_build(options, &contest->grid);
}

/* What takes most of it, if there is one, is a prior of many features. */
static void *
allocate_comparison(const WmlcComparison *comparison)
{
	Size		bytes = wmlc_compare_workspace(comparison);
	void	   *work = wml_allocate_if_possible(bytes);

	if (work == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory to compare methods with %d features", comparison->d),
				 errdetail("The comparison takes %.0f MB.", bytes / 1e6),
				 errhint("Leave model \"prior\" out, or use fewer features or sources.")));
	return work;
}

static void
run(Contest *contest)
{
	WmlcComparison *comparison = &contest->comparison;
	Size		places;

	comparison->d = contest->target->dims;
	comparison->sources = contest->sources;
	comparison->target = contest->target;
	comparison->learner_count = contest->grid.learner_count;
	comparison->learners = contest->grid.learners;
	comparison->weighting_count = contest->grid.weighting_count;
	comparison->weightings = contest->grid.weightings;
	comparison->method_count = contest->grid.method_count;
	comparison->methods = contest->grid.methods;
	comparison->trials = contest->trials;
	places = comparison->trial_count * comparison->method_count;
	contest->coefficients = (double *) wml_allocate(places, comparison->d * sizeof(double));
	contest->errors = (double *) wml_allocate(places, sizeof(double));
	wml_check(wmlc_compare(comparison, contest->coefficients, contest->errors,
						   allocate_comparison(comparison), wml_poll));
}

/* Coefficients of a method that learned from the whole target. */
static const double *
final_coefficients(const Contest *contest, int method)
{
	const WmlcComparison *comparison = &contest->comparison;

	return contest->coefficients +
		((Size) contest->fold_count * comparison->method_count + method) * comparison->d;
}

/* The errors of consecutive trials, as the choice wants them. */
static WmlcErrors
get_errors(const Contest *contest, size_t first, size_t count, double size)
{
	double	   *shares = (double *) wml_allocate(count, sizeof(double));
	double	   *responses = (double *) wml_allocate(count, sizeof(double));

	for (size_t i = 0; i < count; i++)
	{
		const WmlcTrial *trial = &contest->trials[first + i];
		const WmlcGram *task = trial->left_out == WMLC_NO_SOURCE ? contest->target : trial->unknown;

		shares[i] = wmlc_dd_value(trial->unknown->weight) / wmlc_dd_value(task->weight);
		responses[i] = wmlc_dd_value(wmlc_gram_moment(task, task->dims, task->dims));
	}
	return (WmlcErrors) {
		.trials = count,
		.size = size,
		.errors = contest->errors + first * contest->comparison.method_count,
		.shares = shares,
		.responses = responses
	};
}

static void
choose(Contest *contest)
{
	int			count = contest->comparison.method_count;
	WmlcErrors	folds = get_errors(contest, 0, contest->fold_count,
								   wmlc_gram_effective_rows(contest->target));
	WmlcErrors	rehearsals = get_errors(contest, contest->fold_count + 1, contest->rehearsal_count,
										Min(contest->rehearsal_count, contest->comparison.source_count));
	bool	   *eligible = (bool *) palloc(count * sizeof(bool));
	bool	   *priors = (bool *) palloc(count * sizeof(bool));

	for (int i = 0; i < count; i++)
	{
		eligible[i] = wmlc_is_plausible(contest->pooled, contest->target,
										final_coefficients(contest, i));
		priors[i] = contest->grid.learners[contest->grid.methods[i].learner].kind == WMLC_LEARN_PRIOR;
	}
	contest->verdicts = (WmlcVerdict *) palloc(count * sizeof(WmlcVerdict));
	contest->chosen = wmlc_choose(count, WMLC_BASELINE_UNIFORM, &folds, &rehearsals, eligible,
								  priors, contest->verdicts);
}

static Contest *
hold_contest(FunctionCallInfo fcinfo)
{
	Contest    *contest = (Contest *) palloc0(sizeof(Contest));
	WmlcGridOptions options;

	wml_require_arg(fcinfo, ARG_SOURCES, "sources");
	wml_require_arg(fcinfo, ARG_FOLDS, "folds");
	options = get_options(fcinfo);
	get_folds(fcinfo, contest);
	get_sources(fcinfo, contest);
	create_grid(contest, &options);
	create_trials(contest);
	run(contest);
	choose(contest);
	return contest;
}

/*
 * Results
 */

static int
compare_verdicts(const void *a, const void *b, void *arg)
{
	const WmlcVerdict *verdicts = (const WmlcVerdict *) arg;
	int			i = *(const int *) a;
	int			j = *(const int *) b;

	if (verdicts[i].rmse != verdicts[j].rmse)
		return verdicts[i].rmse < verdicts[j].rmse ? -1 : 1;
	return i - j;
}

static void
put_method(WmlRows *rows, const Contest *contest, int rank, int number)
{
	const WmlcMethod *method = &contest->grid.methods[number];
	const WmlcLearner *learner = &contest->grid.learners[method->learner];
	const WmlcWeighting *weighting = &contest->grid.weightings[method->weighting];
	const WmlcVerdict *verdict = &contest->verdicts[number];
	bool		alone = method->source_rows == 0.0;
	Datum		values[] = {
		Int32GetDatum(rank),
		CStringGetTextDatum(alone ? "target" : wmlc_word(&wmlc_learner_words, learner->kind)),
		CStringGetTextDatum(wmlc_word(&wmlc_rule_words, weighting->kind)),
		Float8GetDatum(learner->eta),
		Float8GetDatum(method->ridge),
		Float8GetDatum(weighting->shrink),
		Float8GetDatum(learner->evenness),
		BoolGetDatum(learner->whiten),
		Int32GetDatum(method->adapt_steps),
		Float8GetDatum(method->source_rows),
		Float8GetDatum(verdict->rmse),
		Float8GetDatum(verdict->spread),
		Float8GetDatum(verdict->rehearsal),
		BoolGetDatum(number == contest->chosen)
	};
	bool		nulls[lengthof(values)] = {false};

	nulls[2] = alone;
	nulls[12] = isnan(verdict->rehearsal);
	wml_rows_put(rows, values, nulls);
}

Datum
wml_compare(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	Contest    *contest = hold_contest(fcinfo);
	int			count = contest->comparison.method_count;
	int		   *order = (int *) palloc(count * sizeof(int));

	for (int i = 0; i < count; i++)
		order[i] = i;
	qsort_arg(order, count, sizeof(int), compare_verdicts, contest->verdicts);
	for (int i = 0; i < count; i++)
		put_method(&rows, contest, i + 1, order[i]);
	return (Datum) 0;
}

Datum
wml_tune(PG_FUNCTION_ARGS)
{
	Contest    *contest = hold_contest(fcinfo);
	double	   *w;
	ArrayType  *result = wml_array_new_vector(contest->comparison.d, &w);

	memcpy(w, final_coefficients(contest, contest->chosen), contest->comparison.d * sizeof(double));
	PG_RETURN_ARRAYTYPE_P(result);
}
