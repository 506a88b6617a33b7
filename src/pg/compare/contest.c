/*
 * contest.c
 *	  All methods tried on a target, from the arguments of wml_compare and
 *	  wml_tune.
 *
 * Every method of a grid learns from the sources and from all folds of the
 * target but one, and is judged by that one.  Beside the folds there are
 * rehearsals, in which sources play the target.  Where windows tell which of
 * their rows correspond to those known of the target, they play it as they
 * are: the window is known, the rest is to be forecast.  See
 * core/compare/compare_choice.h for how the choice is made.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/model/adapt.h"
#include "core/compare/compare_prior.h"
#include "core/compare/rehearse.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"
#include "pg/compare/contest.h"

/* More methods than this are a mistake, and would take forever. */
#define MAX_METHODS 10000

/* Rehearsals: about as many, and of no more rows than this. */
#define REHEARSALS 32
#define MAX_REHEARSED_ROWS 1000

/* Forecasts need no rows made up, and so many of them are worth their time. */
#define FORECASTS 64

/* Rows of a target that are at most this part of a window's are few. */
#define FAR_FEWER 2

/* A source with all that belongs to it. */
typedef struct Lot
{
	uint64		lot;
	const WmlcGram *source;
	const WmlcGram *window;		/* or NULL */
	const WmlcGram *rest;
	int			position;
} Lot;

static int
compare_lots(const void *a, const void *b)
{
	const Lot  *left = (const Lot *) a;
	const Lot  *right = (const Lot *) b;
	int			order = (left->lot > right->lot) - (left->lot < right->lot);

	if (order == 0)
		order = wmlc_gram_compare(left->source, right->source);
	if (order == 0 && left->window != NULL)
		order = wmlc_gram_compare(left->window, right->window);
	return order != 0 ? order : left->position - right->position;
}

/*
 * Shuffle the sources by lots that they draw themselves.  Then it makes no difference
 * in which order they came, neither to who rehearses nor to the last bit of a sum;
 * and those that rehearse are a fair sample, whatever they were sorted by.
 */
static void
shuffle_sources(WmlContest *contest)
{
	size_t		count = contest->comparison.source_count;
	Lot		   *lots = (Lot *) wml_allocate(count, sizeof(Lot));

	for (size_t j = 0; j < count; j++)
		lots[j] = (Lot) {
			.lot = wmlc_gram_lot(contest->sources[j]),
			.source = contest->sources[j],
			.window = contest->windows == NULL ? NULL : contest->windows[j],
			.rest = contest->rests == NULL ? NULL : contest->rests[j],
			.position = contest->positions[j]
		};
	qsort(lots, count, sizeof(Lot), compare_lots);
	for (size_t j = 0; j < count; j++)
	{
		contest->sources[j] = lots[j].source;
		contest->positions[j] = lots[j].position;
		if (contest->windows == NULL)
			continue;
		contest->windows[j] = lots[j].window;
		contest->rests[j] = lots[j].rest;
	}
	pfree(lots);
}

static int
compare_positions(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

/*
 * Sources that do not belong, because a row was mistyped or they are of another
 * kind, would mislead all methods but a robust prior, and the rehearsals even more:
 * nobody forecasts them, and their part in what all have in common hides the
 * differences between methods.
 */
static void
leave_out_strangers(WmlContest *contest)
{
	WmlcComparison *comparison = &contest->comparison;
	size_t		count = comparison->source_count;
	size_t		kept = 0;
	bool	   *belongs = (bool *) wml_allocate(count, sizeof(bool));
	void	   *work;

	comparison->d = contest->target->dims;
	comparison->sources = contest->sources;
	contest->left_out = (int *) wml_allocate(count, sizeof(int));
	work = wml_allocate(wmlc_compare_screen_workspace(comparison), 1);
	wml_check(wmlc_compare_screen(comparison, belongs, work, wml_poll));
	pfree(work);
	for (size_t j = 0; j < count; j++)
	{
		if (!belongs[j])
		{
			contest->left_out[contest->left_out_count++] = contest->positions[j];
			continue;
		}
		contest->sources[kept] = contest->sources[j];
		contest->positions[kept] = contest->positions[j];
		if (contest->windows != NULL)
		{
			contest->windows[kept] = contest->windows[j];
			contest->rests[kept] = contest->rests[j];
		}
		kept++;
	}
	comparison->source_count = kept;
	qsort(contest->left_out, contest->left_out_count, sizeof(int), compare_positions);
}

static void
pool_sources(WmlContest *contest)
{
	contest->pooled = &wml_gram_create(contest->target->dims)->body;
	for (size_t j = 0; j < contest->comparison.source_count; j++)
	{
		CHECK_FOR_INTERRUPTS();
		wml_check(wmlc_gram_merge(contest->pooled, contest->sources[j]));
	}
	wml_gram_check_solvable(contest->pooled, "pooled source");
}

static WmlcGram *
copy_gram(const WmlcGram *gram)
{
	WmlGram    *copy = wml_gram_create(gram->dims);

	wml_check(wmlc_gram_merge(&copy->body, gram));
	return &copy->body;
}

/* For each fold the sum of all others: those before it and those behind it. */
static WmlcGram **
complements(const WmlContest *contest)
{
	int			count = contest->fold_count;
	WmlcGram  **others = (WmlcGram **) palloc(count * sizeof(WmlcGram *));
	WmlcGram   *sum = &wml_gram_create(contest->target->dims)->body;

	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		others[i] = copy_gram(sum);
		wml_check(wmlc_gram_merge(sum, contest->folds[i]));
	}
	sum = &wml_gram_create(contest->target->dims)->body;
	for (int i = count - 1; i >= 0; i--)
	{
		CHECK_FOR_INTERRUPTS();
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
create_ensemble(const WmlContest *contest, void *work)
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
create_rehearsal(const WmlContest *contest, const WmlcEnsemble *ensemble, size_t number, void *work)
{
	size_t		actor = number * contest->comparison.source_count / contest->rehearsal_count;
	int			d = contest->target->dims;
	WmlcGram   *role = &wml_gram_create(d)->body;
	WmlcGram   *known = &wml_gram_create(d)->body;
	int64		rows = Min(wmlc_gram_weighted_rows(contest->target), MAX_REHEARSED_ROWS);

	CHECK_FOR_INTERRUPTS();
	wml_check(wmlc_rehearse_role(ensemble, contest->sources[actor], role, work, wml_poll));
	wml_check(wmlc_rehearse_rows(role, rows, number, known, work, wml_poll));
	return (WmlcTrial) {.known = known, .unknown = role, .whole = role, .left_out = actor};
}

/* Sources play the target with rows that are made up. */
static void
create_rehearsals(WmlContest *contest)
{
	void	   *work = wml_allocate(wmlc_rehearse_workspace(contest->target->dims), 1);
	WmlcEnsemble *ensemble = create_ensemble(contest, work);
	WmlcTrial  *trials = contest->trials + wml_contest_rehearsals(contest);

	contest->rehearsal_count = ensemble == NULL ? 0
		: count_rehearsals(contest->comparison.source_count);
	contest->actors = Min(contest->rehearsal_count, contest->comparison.source_count);
	for (size_t i = 0; i < contest->rehearsal_count; i++)
		trials[i] = create_rehearsal(contest, ensemble, i, work);
}

/*
 * What a source knows when it forecasts: its window.  Where the target has far fewer
 * rows there, as one with gaps has, who knows the whole window would learn more than
 * the target can, and be surer: then so many rows are drawn.
 */
static const WmlcGram *
known_of_window(const WmlContest *contest, size_t source)
{
	const WmlcGram *window = contest->windows[source];
	int64		rows = Min(wmlc_gram_weighted_rows(contest->target), MAX_REHEARSED_ROWS);
	int			d = window->dims;
	WmlcGram   *known;
	void	   *work;

	if (FAR_FEWER * rows > wmlc_gram_weighted_rows(window))
		return window;
	known = &wml_gram_create(d)->body;
	work = wml_allocate(wmlc_rehearse_workspace(d), 1);
	wml_check(wmlc_rehearse_rows(window, rows, source, known, work, wml_poll));
	pfree(work);
	return known;
}

WmlcTrial
wml_contest_forecast(const WmlContest *contest, size_t source)
{
	CHECK_FOR_INTERRUPTS();
	return (WmlcTrial) {
		.known = known_of_window(contest, source),
		.unknown = contest->rests[source],
		.whole = contest->sources[source],
		.left_out = source
	};
}

/* Sources forecast from their windows what they have beside them. */
static void
create_forecasts(WmlContest *contest)
{
	size_t		count = contest->comparison.source_count;
	WmlcTrial  *trials = contest->trials + wml_contest_rehearsals(contest);
	size_t		able = 0;
	size_t		seen = 0;
	size_t		wanted;

	for (size_t j = 0; j < count; j++)
		able += contest->rests[j] != NULL;
	wanted = count < 2 ? 0 : Min(able, FORECASTS);

	/* spread evenly over those that are able */
	for (size_t j = 0; j < count && contest->rehearsal_count < wanted; j++)
	{
		if (contest->rests[j] == NULL)
			continue;
		if (seen++ * wanted / able >= contest->rehearsal_count)
			trials[contest->rehearsal_count++] = wml_contest_forecast(contest, j);
	}
	contest->actors = contest->rehearsal_count;
}

static void
create_trials(WmlContest *contest)
{
	WmlcGram  **others = contest->fold_count > 0 ? complements(contest) : NULL;
	WmlcTrial  *next;

	contest->trials = next = (WmlcTrial *) wml_allocate(contest->fold_count + 1 + Max(REHEARSALS, FORECASTS),
														sizeof(WmlcTrial));
	for (int i = 0; i < contest->fold_count; i++)
		*next++ = (WmlcTrial) {
			.known = others[i],
			.unknown = contest->folds[i],
			.left_out = WMLC_NO_SOURCE
		};
	*next++ = (WmlcTrial) {.known = contest->target, .left_out = WMLC_NO_SOURCE};
	if (contest->windows == NULL)
		create_rehearsals(contest);
	else
		create_forecasts(contest);
	contest->comparison.trial_count = wml_contest_rehearsals(contest) + contest->rehearsal_count;
}

static void
create_grid(WmlContest *contest, WmlcGridOptions *options)
{
	double		learners,
				weightings,
				methods,
				stable_eta;

	wml_check(wmlc_largest_stable_eta(contest->pooled, &stable_eta,
									  wml_allocate(wmlc_adapt_workspace(contest->target->dims), 1)));
	options->d = contest->target->dims;
	options->windows = contest->windows != NULL;
	options->curvature = isinf(stable_eta) ? 1.0 : 2.0 / stable_eta;
	wmlc_grid_bounds(options, &learners, &weightings, &methods);
	if (methods > MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many combinations of options"),
				 errdetail("There are %.0f; the maximum is %d.", methods, MAX_METHODS),
				 errhint("Pass shorter arrays.")));
	contest->grid.learners = (WmlcLearner *) palloc((Size) learners * sizeof(WmlcLearner));
	contest->grid.weightings = (WmlcWeighting *) palloc((Size) weightings * sizeof(WmlcWeighting));
	contest->grid.methods = (WmlcMethod *) palloc((Size) methods * sizeof(WmlcMethod));
	wmlc_grid_build(options, &contest->grid);
}

/* Room to work in.  What takes most of it, if there is one, is a prior of many features. */
static void *
allocate_work(const WmlcComparison *comparison)
{
	Size		bytes = wmlc_compare_workspace(comparison);
	void	   *work = wml_allocate_if_possible(bytes);

	if (work == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory to compare methods with %d features", comparison->d),
				 errdetail("The comparison takes %.0f MB.", bytes / 1e6),
				 errhint("Omit model \"prior\", or use fewer features or sources.")));
	return work;
}

static void
report_progress(void *arg, size_t done, size_t total)
{
	WmlContest *contest = (WmlContest *) arg;

	if (wml_progress_due(&contest->progress))
		ereport(NOTICE,
				(errmsg("comparing %s: %.0f %% done", contest->what, 100.0 * (double) done / (double) total)));
}

void
wml_run_contest(WmlContest *contest, const char *what)
{
	WmlcComparison *comparison = &contest->comparison;
	const WmlcGrid *grid = &contest->grid;
	Size		places = comparison->trial_count * grid->method_count;

	comparison->d = contest->target->dims;
	comparison->sources = contest->sources;
	comparison->windows = contest->windows;
	comparison->target = contest->target;
	comparison->learner_count = grid->learner_count;
	comparison->learners = grid->learners;
	comparison->weighting_count = grid->weighting_count;
	comparison->weightings = grid->weightings;
	comparison->method_count = grid->method_count;
	comparison->methods = grid->methods;
	comparison->trials = contest->trials;
	comparison->trace = report_progress;
	comparison->trace_arg = contest;
	contest->what = what;
	contest->coefficients = (double *) wml_allocate(places, comparison->d * sizeof(double));
	contest->errors = (double *) wml_allocate(places, sizeof(double));
	contest->statuses = (WmlcStatus *) wml_allocate(comparison->method_count, sizeof(WmlcStatus));
	contest->work = allocate_work(comparison);
	wml_check(wmlc_compare(comparison, contest->coefficients, contest->errors, contest->statuses,
						   contest->work, wml_poll));
}

const double *
wml_contest_coefficients(const WmlContest *contest, int method)
{
	const WmlcComparison *comparison = &contest->comparison;

	return contest->coefficients +
		((Size) contest->fold_count * comparison->method_count + method) * comparison->d;
}

static double
mean_square_response(const WmlcGram *gram)
{
	return wmlc_dd_value(wmlc_gram_moment(gram, gram->dims, gram->dims));
}

/* The errors over the folds, as the choice wants them. */
static WmlcErrors
get_fold_errors(const WmlContest *contest, double size)
{
	size_t		count = contest->fold_count;
	double	   *shares = (double *) wml_allocate(count, sizeof(double));
	double	   *responses = (double *) wml_allocate(count, sizeof(double));

	for (size_t i = 0; i < count; i++)
	{
		shares[i] = wmlc_dd_value(contest->folds[i]->weight) / wmlc_dd_value(contest->target->weight);
		responses[i] = mean_square_response(contest->target);
	}
	return (WmlcErrors) {
		.trials = count,
		.size = size,
		.errors = contest->errors,
		.shares = shares,
		.responses = responses
	};
}

void
wml_contest_sizes(const WmlContest *contest, const WmlcTrial *trials, size_t count,
				  double *responses, double *likeness)
{
	for (size_t i = 0; i < count; i++)
	{
		responses[i] = mean_square_response(trials[i].unknown);
		likeness[i] = wmlc_likeness(mean_square_response(contest->target),
									mean_square_response(trials[i].known));
	}
}

static WmlcErrors
get_rehearsal_errors(const WmlContest *contest)
{
	int			methods = contest->comparison.method_count;
	size_t		first = wml_contest_rehearsals(contest);
	size_t		count = contest->rehearsal_count;
	double	   *responses = (double *) wml_allocate(count, sizeof(double));
	double	   *likeness = (double *) wml_allocate(count, sizeof(double));

	wml_contest_sizes(contest, contest->trials + first, count, responses, likeness);
	return wmlc_rehearsal_errors(methods, count, contest->actors, contest->errors + first * methods,
								 responses, likeness, contest->windows == NULL);
}

/* How far off the methods are on what the target knows, and the rehearsals. */
static WmlcFits
get_fits(const WmlContest *contest)
{
	Size		methods = contest->comparison.method_count;
	double	   *fits = (double *) wml_allocate((contest->rehearsal_count + 1) * methods, sizeof(double));

	/* the trial of the target stands before the rehearsals */
	wml_check(wmlc_compare_fits(&contest->comparison, contest->fold_count, WMLC_BASELINE_TARGET,
								contest->coefficients, fits, wml_poll));
	return (WmlcFits) {
		.target = fits,
		.rehearsed = fits + methods,
		.misfits = (bool *) wml_allocate(methods, sizeof(bool))
	};
}

/*
 * The baselines are there to compare with; of those who named models, only those
 * who named joint training want them to be chosen.
 */
static bool
is_wanted(const WmlContest *contest, int method)
{
	return contest->baselines_compete ||
		(method != WMLC_BASELINE_UNIFORM && method != WMLC_BASELINE_TARGET);
}

static void
choose(WmlContest *contest)
{
	int			count = contest->comparison.method_count;
	bool		forecast = contest->windows != NULL && contest->rehearsal_count > 0;
	double		rows = wmlc_gram_effective_rows(contest->target);
	WmlcErrors	folds = get_fold_errors(contest, forecast || contest->fold_count == 0 ? 0.0 : rows);
	WmlcErrors	rehearsals = get_rehearsal_errors(contest);
	WmlcFits	fits = get_fits(contest);
	WmlcStanding *standings = (WmlcStanding *) palloc(count * sizeof(WmlcStanding));

	for (int i = 0; i < count; i++)
		standings[i] = is_wanted(contest, i) && wmlc_is_plausible(contest->pooled, contest->target,
																  wml_contest_coefficients(contest, i))
			? wmlc_grid_standing(&contest->grid, i) : WMLC_BARRED;
	wmlc_bar_misfits(count, &rehearsals, &fits, standings);
	wmlc_bar_strays(count, WMLC_BASELINE_UNIFORM, &folds, &rehearsals, &fits, contest->pooled,
					wml_contest_coefficients(contest, 0), standings);
	contest->verdicts = (WmlcVerdict *) palloc(count * sizeof(WmlcVerdict));
	contest->chosen = wmlc_choose(count, WMLC_BASELINE_UNIFORM, &folds, &rehearsals, standings,
								  contest->verdicts);
	if (forecast)
		wml_hold_finals(contest, &rehearsals, standings);

	/*
	 * Tasks of fewer rows than features cannot rehearse.  The size of a smooth part
	 * has been judged by tasks that were left out, so it is the one to take.
	 */
	for (int i = 0; i < count && contest->fold_count == 0 && contest->rehearsal_count == 0; i++)
	{
		if (standings[i] != WMLC_BARRED &&
			contest->grid.learners[contest->grid.methods[i].learner].kind == WMLC_LEARN_SMOOTH)
			contest->chosen = i;
	}
}

WmlContest *
wml_hold_contest(FunctionCallInfo fcinfo, bool in_folds)
{
	WmlContest *contest = (WmlContest *) palloc0(sizeof(WmlContest));
	WmlcGridOptions options;

	(void) wml_progress_due(&contest->progress);
	wml_read_contest(fcinfo, in_folds, contest, &options);
	shuffle_sources(contest);
	leave_out_strangers(contest);
	pool_sources(contest);
	create_grid(contest, &options);
	create_trials(contest);
	wml_run_contest(contest, "methods");
	choose(contest);
	return contest;
}
