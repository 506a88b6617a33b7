/*
 * prior_fit.c
 *	  Learning a prior from grams: wml_prior, of an array and as an aggregate.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/gram/gram.h"
#include "core/prior/leverage.h"
#include "core/prior/prior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior_fit.h"
#include "pg/weights/alpha.h"

/* The largest share of tasks that a robust prior takes for mistyped, one task at the least */
#define MOST_SUSPECTS 0.1

PG_FUNCTION_INFO_V1(wml_prior_fit);
PG_FUNCTION_INFO_V1(wml_prior_accum);
PG_FUNCTION_INFO_V1(wml_prior_final);

/*
 * Tasks
 */

void
wml_tasks_begin(WmlTasks *tasks, MemoryContext context, int descriptors)
{
	if (descriptors >= WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many descriptors: %d", descriptors),
				 errdetail("The maximum is %d for one feature, and less for several.", WMLC_MAX_DIMS - 1)));
	memset(tasks, 0, sizeof(*tasks));
	tasks->context = context;
	tasks->descriptors = descriptors;
}

static double *
grow(WmlTasks *tasks, double *array, Size numbers)
{
	Size		bytes;

	if (numbers == 0)
		return array;
	if (numbers > MaxAllocHugeSize / sizeof(double) / tasks->capacity)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many tasks with too many features")));
	bytes = tasks->capacity * numbers * sizeof(double);
	return array == NULL ? (double *) MemoryContextAllocHuge(tasks->context, bytes)
		: (double *) repalloc_huge(array, bytes);
}

static void
grow_tasks(WmlTasks *tasks)
{
	Size		entries = tasks->dims == 0 ? 0 : wmlc_gram_entries(tasks->dims);

	tasks->capacity = Max(2 * tasks->capacity, 16);
	tasks->hi = grow(tasks, tasks->hi, entries);
	tasks->lo = grow(tasks, tasks->lo, entries);
	tasks->rows = grow(tasks, tasks->rows, 1);
	tasks->alpha = grow(tasks, tasks->alpha, 1);
	tasks->descriptor = grow(tasks, tasks->descriptor, tasks->descriptors);
}

/* The first task with rows says how many features there are. */
static void
set_dims(WmlTasks *tasks, int dims)
{
	Size		entries = wmlc_gram_entries(dims);

	if ((int64) dims * (tasks->descriptors + 1) > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many descriptors for the number of features"),
				 errdetail("%d descriptors and a constant of %d features each make %d; the maximum is %d.",
						   tasks->descriptors, dims, dims * (tasks->descriptors + 1), WMLC_MAX_DIMS)));
	tasks->dims = dims;
	tasks->hi = grow(tasks, NULL, entries);
	tasks->lo = grow(tasks, NULL, entries);
	memset(tasks->hi, 0, tasks->count * entries * sizeof(double));
	memset(tasks->lo, 0, tasks->count * entries * sizeof(double));
	tasks->constant = (bool *) MemoryContextAlloc(tasks->context, Max(dims, 1) * sizeof(bool));
	memset(tasks->constant, true, dims * sizeof(bool));
}

void
wml_tasks_add(WmlTasks *tasks, const WmlcGram *gram, double alpha, const double *descriptor)
{
	bool		has_rows = gram != NULL && wmlc_gram_weighted_rows(gram) > 0;
	Size		j = tasks->count;
	Size		entries;

	if (has_rows)
	{
		wml_gram_check_solvable(gram, "source");
		if (tasks->dims != 0 && gram->dims != tasks->dims)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("grams have different numbers of features"),
					 errdetail("One has %d features, the other %d.", tasks->dims, gram->dims)));
	}
	if (j == tasks->capacity)
		grow_tasks(tasks);
	if (has_rows && tasks->dims == 0)
		set_dims(tasks, gram->dims);
	entries = tasks->dims == 0 ? 0 : wmlc_gram_entries(tasks->dims);
	tasks->rows[j] = has_rows ? (double) wmlc_gram_weighted_rows(gram) : 0.0;
	tasks->alpha[j] = alpha;
	if (tasks->descriptors > 0)
		memcpy(tasks->descriptor + j * tasks->descriptors, descriptor,
			   tasks->descriptors * sizeof(double));
	if (has_rows)
	{
		const int64 *not_one = wmlc_gram_not_one(gram);

		memcpy(tasks->hi + j * entries, gram->sums, entries * sizeof(double));
		memcpy(tasks->lo + j * entries, gram->sums + entries, entries * sizeof(double));
		for (int i = 0; i < tasks->dims; i++)
			tasks->constant[i] &= not_one[i] == 0;
	}
	else if (entries > 0)
	{
		memset(tasks->hi + j * entries, 0, entries * sizeof(double));
		memset(tasks->lo + j * entries, 0, entries * sizeof(double));
	}
	tasks->count++;
}

WmlcPriorTasks
wml_tasks_view(const WmlTasks *tasks)
{
	if (tasks->dims == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from"),
				 errdetail("All grams are NULL or without rows.")));
	return (WmlcPriorTasks) {
		.dims = tasks->dims,
		.count = tasks->count,
		.moments = tasks->hi,
		.moments_lo = tasks->lo,
		.rows = tasks->rows,
		.alpha = tasks->alpha
	};
}

/*
 * The gram of the products of all features with all descriptors, the constant
 * first: descriptor by descriptor, as the columns of the prior's mean.
 */
static void
expand_task(const WmlTasks *tasks, Size task, double *hi, double *lo)
{
	int			d = tasks->dims;
	int			n = d * (tasks->descriptors + 1);
	Size		entries = wmlc_gram_entries(d);
	const double *from_hi = tasks->hi + task * entries;
	const double *from_lo = tasks->lo + task * entries;
	const double *g = tasks->descriptor + task * tasks->descriptors;

	for (int a = 0; a <= n; a++)
	{
		double		left = a < d || a == n ? 1.0 : g[a / d - 1];
		int			i = a == n ? d : a % d;

		for (int b = a; b <= n; b++)
		{
			double		right = b < d || b == n ? 1.0 : g[b / d - 1];
			int			j = b == n ? d : b % d;
			Size		at = wmlc_triangle_index(d + 1, Min(i, j), Max(i, j));
			WmlcDd		sum = wmlc_dd_normalize((WmlcDd) {from_hi[at], from_lo[at]});

			sum = wmlc_dd_mul_d(wmlc_dd_mul_d(sum, left), right);
			*hi++ = sum.hi;
			*lo++ = sum.lo;
		}
	}
}

static WmlcPriorTasks
expand_tasks(const WmlTasks *tasks)
{
	WmlcPriorTasks view = wml_tasks_view(tasks);
	int			n = tasks->dims * (tasks->descriptors + 1);
	Size		entries = wmlc_gram_entries(n);
	double	   *hi;
	double	   *lo;

	if (tasks->descriptors == 0)
		return view;
	hi = (double *) wml_allocate(tasks->count, entries * sizeof(double));
	lo = (double *) wml_allocate(tasks->count, entries * sizeof(double));
	for (Size j = 0; j < tasks->count; j++)
	{
		wml_poll();
		expand_task(tasks, j, hi + j * entries, lo + j * entries);
	}
	view.dims = n;
	view.moments = hi;
	view.moments_lo = lo;
	return view;
}

/*
 * The fit
 */

/*
 * Which features differ between tasks, and which are smooth; products with
 * descriptors only move the mean, and are smooth where their feature is.
 */
static void
set_kinds(const WmlTasks *tasks, WmlPriorOptions *options)
{
	int			d = tasks->dims;
	int			n = d * (tasks->descriptors + 1);
	bool	   *random;
	bool	   *smooth;

	if (options->features != NULL && options->feature_count != d)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one name for each feature"),
				 errdetail("There are %d names for %d features.", options->feature_count, d)));
	if (options->fixed_count == 0 && options->smooth_count == 0 && n == d)
		return;
	random = (bool *) palloc0(n * sizeof(bool));
	smooth = (bool *) palloc0(n * sizeof(bool));
	memset(random, true, d * sizeof(bool));
	wml_mark_features(options->fixed, options->fixed_count, options->features,
					  options->feature_count, d, false, random);
	wml_mark_features(options->smooth, options->smooth_count, options->features,
					  options->feature_count, d, false, random);
	wml_mark_features(options->smooth, options->smooth_count, options->features,
					  options->feature_count, d, true, smooth);
	for (int i = d; i < n; i++)
		smooth[i] = smooth[i - d];
	options->core.random = random;
	if (options->smooth_count > 0)
		options->core.smooth = smooth;
}

static int
count_random(const WmlPriorOptions *options, int dims)
{
	int			count = 0;

	for (int i = 0; i < dims; i++)
		count += options->core.random == NULL || options->core.random[i];
	return count;
}

/*
 * The workspace of a fit.  That of a full covariance grows with the fourth power
 * of the features, of which a few hundred make it too much for any machine.
 */
static void *
allocate_fit(const WmlcPriorTasks *tasks, const WmlcPriorOptions *options)
{
	Size		bytes = wmlc_prior_fit_workspace(tasks->dims, tasks->count, options);
	void	   *work = wml_allocate_if_possible(bytes);

	if (work == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory for a prior of %d features", tasks->dims),
				 errdetail("Its fit takes %.0f MB.", bytes / 1e6),
				 options->covariance == WMLC_PRIOR_FULL
				 ? errhint("Use covariance => 'diagonal', fixed features, or fewer of them.") : 0));
	return work;
}

/* In as many directions as tasks differ, at the most, a full covariance is known. */
static bool
has_few_tasks(const WmlcPrior *prior, const WmlPriorOptions *options, int columns, int random)
{
	return options->core.covariance == WMLC_PRIOR_FULL && prior->tasks > 1.0 &&
		prior->tasks - columns < random;
}

/* A fit on the boundary, or one that a few tasks spoil */
static void
warn_of_spread(const WmlcPrior *prior, const WmlPriorOptions *options, int columns, int random)
{
	if (prior->saturated)
		 /* there is a worse problem */ ;
	else if (has_few_tasks(prior, options, columns, random))
		ereport(WML_WARNING,
				(errmsg("%.0f tasks are too few to show how %d coefficients vary together", prior->tasks, random),
				 options->core.evenness > 0.0
				 ? errdetail("Intervals of tasks with known rows are too wide.")
				 : errdetail("The prior finds no spread in %d of %d directions. Intervals are too narrow there.",
							 random - prior->rank, random),
				 errhint("Make features fixed, use covariance => 'diagonal', or learn from more than %d tasks.",
						 random + columns - 1)));
	else if (prior->singular && prior->tasks > 1.0)
		ereport(WML_WARNING,
				(errmsg("the prior finds no spread in %d of %d directions", random - prior->rank, random),
				 errdetail("%.0f tasks differ there by no more than their noise explains.", prior->tasks),
				 options->core.covariance == WMLC_PRIOR_FULL
				 ? errhint("Make features fixed, use covariance => 'diagonal' or evenness, or learn from more tasks.")
				 : errhint("Make features fixed, use evenness, or learn from more tasks.")));
	if (prior->dominance > 0.0)
		ereport(WML_WARNING,
				(errmsg("one of %.0f tasks dominates the prior", prior->tasks),
				 errdetail("It accounts for %.0f %% of the spread in its direction.",
						   100.0 * prior->dominance),
				 errhint("wml_task_fit says which it is. Check its rows, or call wml_prior with tasks => 't', or with noise => 'own' if a row may be mistyped.")));
	else if (prior->outlying > 0.0)
		ereport(WML_WARNING,
				(errmsg("%.0f of %.0f tasks lie too far from the others", prior->outlying, prior->tasks),
				 errdetail("Normally distributed coefficients rarely do; these tasks inflate the spread of all others."),
				 errhint("wml_task_fit says which they are. Check their rows, or call wml_prior with tasks => 't'.")));
}

/* A fit that explains everything has learned nothing of noise. */
static void
warn(const WmlcPrior *prior)
{
	if (prior->saturated)
		ereport(WML_WARNING,
				(errmsg("the prior explains the responses of all sources exactly"),
				 errdetail("It finds no noise in %.0f rows of %.0f tasks with %d features, and would take new rows to be exact as well.",
						   prior->rows, prior->tasks, prior->dims),
				 errhint("Use fewer features, sources with more rows, or wml_prior with covariance => 'diagonal'.")));
	if (prior->tasks < 2.0)
		ereport(WML_WARNING,
				(errmsg("the prior was learned from a single task"),
				 errdetail("A single task cannot show how tasks differ, so intervals for another are too narrow."),
				 errhint("Use more sources.")));
}

/* Covariates that may be mistyped */
typedef struct Suspects
{
	bool	   *marked;			/* of the tasks, those in which a feature varies too much */
	Size		count;			/* of these */
	Size		tasks;			/* that count at all */
	bool		left_out;
	WmlcLeverage leverage;
} Suspects;

static Suspects
find_suspects(const WmlTasks *tasks, const WmlcPriorTasks *view)
{
	Suspects	suspects = {.leverage = {.feature = -1}};
	WmlcPriorTasks plain = wml_tasks_view(tasks);
	int			constant = 0;
	double	   *work;

	while (constant < tasks->dims && !tasks->constant[constant])
		constant++;
	if (constant == tasks->dims)
		return suspects;
	suspects.marked = (bool *) wml_allocate(tasks->count, sizeof(bool));
	work = (double *) wml_allocate(tasks->count, sizeof(double));
	/* temper gives a weight to tasks without one */
	if (view->temper > 0.0)
		plain.alpha = NULL;
	wml_check(wmlc_leverage(&plain, constant, wml_poll, work, suspects.marked, &suspects.leverage));
	pfree(work);
	for (Size j = 0; j < tasks->count; j++)
	{
		suspects.count += suspects.marked[j];
		suspects.tasks += plain.rows[j] > 0.0 && (plain.alpha == NULL || plain.alpha[j] > 0.0);
	}
	return suspects;
}

/* A robust prior does without them, unless they are too many to be mistakes. */
static void
leave_out(Suspects *suspects, const WmlPriorOptions *options, WmlcPriorTasks *view)
{
	double	   *rows;

	if (!(options->core.student || options->choose_tasks) || suspects->count == 0 ||
		suspects->count > Max(MOST_SUSPECTS * suspects->tasks, 1.0))
		return;
	/* without rows, because temper would raise a weight of zero */
	rows = (double *) wml_allocate(view->count, sizeof(double));
	for (Size j = 0; j < view->count; j++)
		rows[j] = suspects->marked[j] ? 0.0 : view->rows[j];
	view->rows = rows;
	suspects->left_out = true;
}

static void
warn_of_suspects(const Suspects *suspects, const WmlPriorOptions *options)
{
	const WmlcLeverage *leverage = &suspects->leverage;
	char	   *name;

	if (leverage->feature < 0)
		return;
	name = options->features != NULL ? TextDatumGetCString(options->features[leverage->feature])
		: psprintf("%d", leverage->feature + 1);
	ereport(WML_WARNING,
			(errmsg("feature %s varies too much in %zu of %zu tasks", name, leverage->tasks, suspects->tasks),
			 errdetail("Its standard deviation in source %zu is %.0f times that in the median task.%s",
					   leverage->worst + 1, leverage->ratio,
					   suspects->left_out ? " The prior was learned without such tasks." : ""),
			 errhint("Check the rows of these tasks: a mistyped value takes away what they tell of the feature. wml_second_moment and wml_mean say which they are.%s",
					 suspects->left_out ? " If nothing is mistyped, tasks => 'normal' learns from them, too." : "")));
}

static void
report_iteration(void *arg, int iteration, double objective)
{
	if (wml_progress_due((WmlProgress *) arg))
		ereport(NOTICE,
				(errmsg("prior: iteration %d, log-likelihood %.6g", iteration, objective)));
}

/* The part of the fit that is the prior: all means, the spread of the features. */
static WmlPrior *
store_prior(const WmlTasks *tasks, const WmlcPrior *fitted, int flags)
{
	int			d = tasks->dims;
	int			n = fitted->dims;
	WmlPrior   *result = wml_prior_create(d, tasks->descriptors + 1);
	WmlcPrior	view = wml_prior_view(result);

	memcpy(view.mean, fitted->mean, n * sizeof(double));
	memcpy(view.mean_factor, fitted->mean_factor, (Size) n * n * sizeof(double));
	for (int j = 0; j < d; j++)
		memcpy(view.factor + (Size) j * d, fitted->factor + (Size) j * n, d * sizeof(double));
	wml_prior_fill(result, fitted, flags);
	return result;
}

static WmlcPrior
fit_view(const WmlcPriorTasks *view, const WmlcPriorOptions *options)
{
	Size		n = view->dims;
	WmlcPrior	prior = {
		.mean = (double *) palloc(n * sizeof(double)),
		.factor = (double *) palloc(n * n * sizeof(double)),
		.mean_factor = (double *) palloc(n * n * sizeof(double))
	};
	void	   *work = allocate_fit(view, options);

	wml_check(wmlc_prior_fit(view, options, &prior, work));
	pfree(work);
	if (prior.tasks == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	return prior;
}

/* The fit as the options have it, or a robust one where these leave it open and it is worth its parameters */
static WmlcPrior
fit_chosen(const WmlcPriorTasks *view, const WmlPriorOptions *options)
{
	WmlcPrior	prior = fit_view(view, &options->core);
	WmlcPriorOptions robust_options = options->core;
	WmlcPrior	robust;

	if (!options->choose_noise && !options->choose_tasks)
		return prior;
	robust_options.own_noise |= options->choose_noise;
	robust_options.student |= options->choose_tasks;
	robust = fit_view(view, &robust_options);
	return wmlc_prior_is_worth(&robust, &prior) ? robust : prior;
}

WmlPrior *
wml_tasks_fit(const WmlTasks *tasks, WmlPriorOptions *options)
{
	WmlProgress progress = {0};
	WmlcPriorTasks view = expand_tasks(tasks);
	Suspects	suspects;
	WmlcPrior	prior;

	options->core.poll = wml_poll;
	options->core.trace = report_iteration;
	options->core.trace_arg = &progress;
	view.temper = options->temper;
	suspects = find_suspects(tasks, &view);
	set_kinds(tasks, options);
	wml_progress_due(&progress);
	leave_out(&suspects, options, &view);
	prior = fit_chosen(&view, options);
	warn(&prior);
	warn_of_spread(&prior, options, tasks->descriptors + 1, count_random(options, tasks->dims));
	warn_of_suspects(&suspects, options);
	return store_prior(tasks, &prior,
					   (options->core.method == WMLC_PRIOR_REML ? WML_PRIOR_REML : 0) |
					   (options->core.covariance == WMLC_PRIOR_DIAGONAL ? WML_PRIOR_DIAGONAL : 0));
}

/*
 * wml_prior(sources, alpha, covariance, method, temper, evenness, noise, tasks,
 * degrees, fixed, smooth, features, descriptors)
 */
Datum
wml_prior_fit(PG_FUNCTION_ARGS)
{
	Datum		values[WML_PRIOR_OPTION_COUNT];
	bool		nulls[WML_PRIOR_OPTION_COUNT];
	WmlPriorOptions options;
	WmlSources	sources;
	WmlTasks	tasks;
	double	   *alpha;
	double	   *descriptors;
	int			count;

	wml_require_arg(fcinfo, 0, "sources");
	for (int i = 0; i < WML_PRIOR_OPTION_COUNT; i++)
	{
		values[i] = PG_GETARG_DATUM(i + 2);
		nulls[i] = PG_ARGISNULL(i + 2);
	}
	wml_prior_options_read(values, nulls, &options);
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	alpha = wml_task_weights(fcinfo, 1, sources.count);
	descriptors = wml_descriptors(PG_GETARG_DATUM(WML_PRIOR_OPTION_COUNT + 2),
								  PG_ARGISNULL(WML_PRIOR_OPTION_COUNT + 2), sources.count, &count);
	wml_tasks_begin(&tasks, CurrentMemoryContext, count);
	for (int64 j = 0; j < sources.count; j++)
	{
		wml_poll();
		wml_tasks_add(&tasks, sources.source(sources.arg, j), alpha == NULL ? 1.0 : alpha[j],
					  descriptors == NULL ? NULL : descriptors + j * count);
	}
	PG_RETURN_POINTER(wml_tasks_fit(&tasks, &options));
}

/*
 * The aggregate.  Its state is internal: tasks as the fit wants them.
 */
typedef struct PriorState
{
	WmlTasks	tasks;
	WmlPriorOptions options;
} PriorState;

static PriorState *
begin_state(FunctionCallInfo fcinfo, MemoryContext context)
{
	PriorState *state = (PriorState *) MemoryContextAllocZero(context, sizeof(PriorState));
	int			descriptors = 0;

	if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
		wml_array_vector(PG_GETARG_ARRAYTYPE_P(4), "descriptor", &descriptors);
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
	{
		MemoryContext old_context = MemoryContextSwitchTo(context);

		wml_prior_options_from_record(PG_GETARG_DATUM(3), &state->options);
		MemoryContextSwitchTo(old_context);
	}
	wml_tasks_begin(&state->tasks, context, descriptors);
	return state;
}

/* (state, gram [, alpha [, options [, descriptor]]]); options are those of the first row */
Datum
wml_prior_accum(PG_FUNCTION_ARGS)
{
	MemoryContext context = wml_aggregate_context(fcinfo);
	PriorState *state = PG_ARGISNULL(0) ? begin_state(fcinfo, context)
		: (PriorState *) PG_GETARG_POINTER(0);
	double		alpha = 1.0;
	double	   *descriptor = NULL;

	if (PG_NARGS() > 2)
		alpha = PG_ARGISNULL(2) ? 0.0 : wml_check_not_negative(PG_GETARG_FLOAT8(2), "alpha");
	if (PG_NARGS() > 4 && !PG_ARGISNULL(1))
	{
		int			count = 0;

		if (!PG_ARGISNULL(4))
			descriptor = wml_array_vector(PG_GETARG_ARRAYTYPE_P(4), "descriptor", &count);
		if (count != state->tasks.descriptors)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("tasks have different numbers of descriptors"),
					 errdetail("One has %d, the other %d.", state->tasks.descriptors, count)));
		wml_array_check_finite(descriptor, count, "descriptor");
	}
	if (!PG_ARGISNULL(1))
		wml_tasks_add(&state->tasks, PG_GETARG_GRAM(1), alpha, descriptor);
	PG_RETURN_POINTER(state);
}

Datum
wml_prior_final(PG_FUNCTION_ARGS)
{
	PriorState *state;
	WmlPriorOptions options;

	(void) wml_aggregate_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (PriorState *) PG_GETARG_POINTER(0);
	if (state->tasks.dims == 0)
		PG_RETURN_NULL();
	options = state->options;
	PG_RETURN_POINTER(wml_tasks_fit(&state->tasks, &options));
}
