/*
 * hierarchy.c
 *	  The hierarchical generalised linear model: see hierarchy.h.
 */
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/glm/hierarchy.h"
#include "core/prior/posterior.h"

/* A dispersion is known far less well than means. */
#define DISPERSION_SLACK 10.0

/* Corrections begin when the iteration has come so near. */
#define CORRECTION_SLACK 100.0

/* Bounds for the secant. */
#define LARGEST_SHARE 0.3
#define LARGEST_STRETCH 4.0
#define LARGEST_SECANT 1.0

/*
 * Fits to working grams need not be more exact than the iteration: what the last
 * step of a fit is to gain, in twice the log-likelihood, as a share of how far the
 * prior moved the last time.  The step is taken, too, and being Newton's leaves less
 * than the square of that to be gained.
 */
#define FIT_TOLERANCE 0.1
#define MOST_FIT_TOLERANCE 0.03

/* A prior that moved no further is a close start for the next fit. */
#define CLOSE 0.3

/* So many steps that lead away, and new working grams enter by half. */
#define TIMES_WORSE 4
#define LEAST_GRAM_SHARE 0.125

/*
 * Posterior means agree to this, in posterior standard deviations.  Nodes change
 * with the variance of a row, so a few rows may keep it from getting much better.
 */
#define TARGET_TOLERANCE 1e-7
#define TARGET_FINE 1e-3
#define TARGET_ITERATIONS 200

/* After so many iterations steps are halved, and again each time that so many more went by. */
#define TARGET_PATIENCE 30
#define TARGET_SLOWER 40
#define LEAST_TARGET_SHARE 0.125

/*
 * One iteration maps a prior, under which posteriors and working grams are
 * found, to the prior fitted to those.  `used` and `found` are such a pair, and
 * the next prior to use is found by the secant through this pair and the last
 * (Anderson 1965, with one pair remembered): a plain iteration gains a digit in
 * three or four passes over the rows where tasks have a handful of rows.  Means
 * stand before factors.
 */
typedef struct Memory
{
	double	   *used;
	double	   *found;
	double	   *last_used;
	double	   *last_found;
	double	   *unit;			/* of each coefficient */
	double		last_change;
	int			times_worse;
	double		share;			/* of new working grams; the rest is the old ones */
	double	   *old_moments;
	double	   *old_moments_lo;
	WmlcPrior	prior;			/* with the used mean and factor */
	double	   *alpha;
	void	   *fit;
	void	   *widen;
	void	   *loglik;
} Memory;

static size_t
layout(WmlcHierarchy *hierarchy, Memory *memory, int dims, size_t tasks,
	   const WmlcHierarchyOptions *options, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;
	size_t		entries = wmlc_triangle_size(dims + 1);

	hierarchy->coef = wmlc_arena_doubles(&arena, tasks * d);
	hierarchy->covariance = options->points ? NULL : wmlc_arena_doubles(&arena, tasks * d * d);
	hierarchy->moments = wmlc_arena_doubles(&arena, tasks * entries);
	hierarchy->moments_lo = wmlc_arena_doubles(&arena, tasks * entries);
	hierarchy->rows = wmlc_arena_doubles(&arena, tasks);
	memory->used = wmlc_arena_doubles(&arena, d + d * d);
	memory->found = wmlc_arena_doubles(&arena, d + d * d);
	memory->last_used = wmlc_arena_doubles(&arena, d + d * d);
	memory->last_found = wmlc_arena_doubles(&arena, d + d * d);
	memory->unit = wmlc_arena_doubles(&arena, d);
	memory->old_moments = wmlc_arena_doubles(&arena, tasks * entries);
	memory->old_moments_lo = wmlc_arena_doubles(&arena, tasks * entries);
	memory->alpha = wmlc_arena_doubles(&arena, options->alpha == NULL ? 0 : tasks);
	memory->fit = wmlc_arena_take(&arena, 1,
								  wmlc_prior_fit_workspace(dims, tasks, &options->prior));
	memory->widen = wmlc_arena_take(&arena, 1, wmlc_prior_widen_workspace(dims, &options->prior));
	memory->loglik = wmlc_arena_take(&arena, 1, wmlc_prior_loglik_workspace(dims, tasks));
	return arena.used;
}

size_t
wmlc_hierarchy_workspace(int dims, size_t tasks, const WmlcHierarchyOptions *options)
{
	WmlcHierarchy hierarchy;
	Memory		memory;

	return layout(&hierarchy, &memory, dims, tasks, options, NULL);
}

/*
 * Collect working grams, and take a part of the old ones with them where the
 * iteration has not settled by itself.  Shares are powers of two, so that a gram
 * of fewer rows than features stays singular to the last digit.
 */
static WmlcStatus
collect(WmlcHierarchy *hierarchy, const WmlcHierarchyOptions *options, Memory *memory)
{
	size_t		count = hierarchy->tasks * wmlc_triangle_size(hierarchy->dims + 1);
	WmlcStatus	status = options->collect(options->collect_arg, hierarchy);

	if (status != WMLC_OK)
		return status;
	for (size_t i = 0; i < count && hierarchy->started && memory->share < 1.0; i++)
	{
		WmlcDd		old = {memory->old_moments[i], memory->old_moments_lo[i]};
		WmlcDd		new = {hierarchy->moments[i], hierarchy->moments_lo[i]};
		WmlcDd		mixed = wmlc_dd_add(wmlc_dd_mul_d(old, 1.0 - memory->share),
										wmlc_dd_mul_d(new, memory->share));

		hierarchy->moments[i] = mixed.hi;
		hierarchy->moments_lo[i] = mixed.lo;
	}
	memcpy(memory->old_moments, hierarchy->moments, count * sizeof(double));
	memcpy(memory->old_moments_lo, hierarchy->moments_lo, count * sizeof(double));
	return WMLC_OK;
}

static double
tolerance_of(const WmlcHierarchyOptions *options)
{
	return options->tolerance > 0.0 ? options->tolerance : WMLC_HIERARCHY_TOLERANCE;
}

WmlcPriorTasks
wmlc_hierarchy_tasks(const WmlcHierarchy *hierarchy, const WmlcHierarchyOptions *options)
{
	return (WmlcPriorTasks) {
		.dims = hierarchy->dims,
		.count = hierarchy->tasks,
		.moments = hierarchy->moments,
		.moments_lo = hierarchy->moments_lo,
		.rows = hierarchy->rows,
		.alpha = options->alpha,
		.temper = options->temper
	};
}

static WmlcStatus
fit_prior(const WmlcHierarchy *hierarchy, const WmlcHierarchyOptions *options, WmlcPrior *prior,
		  void *work)
{
	WmlcPriorOptions prior_options = options->prior;
	WmlcPriorTasks tasks = wmlc_hierarchy_tasks(hierarchy, options);
	double		share = fmin(FIT_TOLERANCE * hierarchy->change, MOST_FIT_TOLERANCE);

	/* of normal responses there is one fit alone */
	if (hierarchy->likelihood.family == WMLC_GAUSSIAN)
		share = 0.0;
	prior_options.fixed_noise = 1.0;
	prior_options.tolerance = fmax(fmax(share, tolerance_of(options)), WMLC_PRIOR_TOLERANCE);
	prior_options.near = hierarchy->started ? hierarchy->used : NULL;
	prior_options.close = hierarchy->change <= CLOSE;
	return wmlc_prior_fit(&tasks, &prior_options, prior, work);
}

/* Every task's posterior under the prior to use. */
static WmlcStatus
find_posteriors(WmlcHierarchy *hierarchy, const WmlcPrior *found, Memory *memory)
{
	size_t		d = hierarchy->dims;

	memory->prior = *found;
	memory->prior.mean = memory->used;
	memory->prior.factor = memory->used + d;
	hierarchy->used = &memory->prior;
	hierarchy->started = true;
	return wmlc_prior_posteriors(&memory->prior, hierarchy->coef, hierarchy->covariance,
								 memory->fit);
}

/*
 * The units in which changes are measured: the coefficients' standard deviations
 * and the errors of their means.
 */
static void
choose_units(const WmlcPrior *prior, double *unit)
{
	int			d = prior->dims;

	for (int i = 0; i < d; i++)
	{
		double		variance = wmlc_mean_covariance(prior, i, i);

		for (int k = 0; k <= i; k++)
			variance += prior->factor[i + (size_t) k * d] * prior->factor[i + (size_t) k * d];
		unit[i] = variance > 0.0 ? sqrt(variance) : 1.0;
	}
}

/* How far the prior that was found is from the one that was used. */
static double
find_change(const Memory *memory, int d)
{
	double		largest = 0.0;

	for (int i = 0; i < d + d * d; i++)
		largest = fmax(largest, fabs(memory->found[i] - memory->used[i]) / memory->unit[i % d]);
	return largest;
}

/* How much of the last pair's difference the secant takes off. */
static double
secant_share(const Memory *memory, int d)
{
	double		product = 0.0,
				square = 0.0,
				share;

	for (int i = 0; i < d + d * d; i++)
	{
		double		unit = memory->unit[i % d];
		double		rest = (memory->found[i] - memory->used[i]) / unit;
		double		last_rest = (memory->last_found[i] - memory->last_used[i]) / unit;

		product += rest * (rest - last_rest);
		square += (rest - last_rest) * (rest - last_rest);
	}
	share = square > 0.0 ? product / square : 0.0;
	return fmax(fmin(share, LARGEST_SHARE), -LARGEST_STRETCH);
}

/*
 * Choose the prior to use next.  While it is far off, or gets no nearer, what was
 * found is taken as it is, or half of the way to it.
 */
static void
choose_next(Memory *memory, int d, double change, double tolerance)
{
	bool		worse = change > fmax(memory->last_change, tolerance);
	bool		plain = worse || change > LARGEST_SECANT || isinf(memory->last_change);
	double		share = plain ? 0.0 : secant_share(memory, d);
	double	   *used = memory->used;
	double	   *found = memory->found;

	memory->used = memory->last_used;
	memory->found = memory->last_found;
	memory->last_used = used;
	memory->last_found = found;
	for (int i = 0; i < d + d * d; i++)
	{
		if (worse)
			memory->used[i] = 0.5 * (used[i] + found[i]);
		else if (share == 0.0)
			memory->used[i] = found[i];
		else
			memory->used[i] = found[i] - share * (found[i] - memory->found[i]);
	}
	memory->times_worse = worse ? memory->times_worse + 1 : memory->times_worse;
	if (memory->times_worse >= TIMES_WORSE)
	{
		memory->share = fmax(0.5 * memory->share, LEAST_GRAM_SHARE);
		memory->times_worse = 0;
	}
	memory->last_change = change;
}

/* Fit the prior to the working grams, and see how far it moved. */
static WmlcStatus
iterate(WmlcHierarchy *hierarchy, const WmlcHierarchyOptions *options, WmlcPrior *prior,
		Memory *memory)
{
	size_t		d = hierarchy->dims;
	WmlcStatus	status = fit_prior(hierarchy, options, prior, memory->fit);

	if (status != WMLC_OK || prior->tasks == 0.0)
		return status;
	hierarchy->iterations++;
	memcpy(memory->found, prior->mean, d * sizeof(double));
	memcpy(memory->found + d, prior->factor, d * d * sizeof(double));
	choose_units(prior, memory->unit);
	hierarchy->change = hierarchy->started ? find_change(memory, hierarchy->dims) : INFINITY;
	if (options->trace != NULL)
		options->trace(options->trace_arg, hierarchy->iterations, hierarchy->change);
	return WMLC_OK;
}

/* Weights of tasks as wmlc_prior_fit scales them, for what is summed beside it. */
static const double *
scale_alpha(const double *alpha, size_t tasks, double *scaled)
{
	double		sum = 0.0,
				squares = 0.0;

	if (alpha == NULL)
		return NULL;
	for (size_t j = 0; j < tasks; j++)
	{
		sum += alpha[j];
		squares += alpha[j] * alpha[j];
	}
	for (size_t j = 0; j < tasks; j++)
		scaled[j] = squares > 0.0 ? alpha[j] * sum / squares : 0.0;
	return scaled;
}

/*
 * The evidence: that of the linear model, without the normalising factors of its
 * rows, times the rows' scales.  Of grams that are partly old ones it would be wrong.
 */
static WmlcStatus
find_loglik(WmlcHierarchy *hierarchy, const WmlcHierarchyOptions *options, Memory *memory,
			WmlcPrior *prior)
{
	WmlcStatus	status = WMLC_OK;

	if (memory->share < 1.0)
	{
		WmlcPriorTasks tasks = wmlc_hierarchy_tasks(hierarchy, options);
		bool		find_dispersion = hierarchy->find_dispersion;

		hierarchy->find_dispersion = false;
		status = options->collect(options->collect_arg, hierarchy);
		hierarchy->find_dispersion = find_dispersion;
		if (status == WMLC_OK)
			status = wmlc_prior_loglik(prior, &tasks, options->prior.poll, &prior->loglik,
									   memory->loglik);
	}
	prior->loglik += 0.5 * prior->rows * log(2.0 * M_PI) + hierarchy->log_scale;
	return status;
}

WmlcStatus
wmlc_hierarchy_fit(WmlcHierarchy *hierarchy, int dims, size_t tasks,
				   const WmlcHierarchyOptions *options, WmlcPrior *prior, void *work)
{
	Memory		memory;
	double		tolerance = tolerance_of(options);
	int			most = options->max_iterations > 0 ? options->max_iterations
		: WMLC_HIERARCHY_ITERATIONS;
	WmlcStatus	status;

	(void) layout(hierarchy, &memory, dims, tasks, options, work);
	hierarchy->dims = dims;
	hierarchy->tasks = tasks;
	hierarchy->alpha = scale_alpha(options->alpha, tasks, memory.alpha);
	hierarchy->started = hierarchy->converged = hierarchy->careful = hierarchy->correct = false;
	hierarchy->iterations = 0;
	hierarchy->dispersion_change = 0.0;
	hierarchy->last_log_dispersion = hierarchy->last_dispersion_move = NAN;
	hierarchy->change = INFINITY;
	memory.last_change = INFINITY;
	memory.times_worse = 0;
	memory.share = 1.0;
	for (;;)
	{
		status = collect(hierarchy, options, &memory);
		if (status == WMLC_OK)
			status = iterate(hierarchy, options, prior, &memory);
		if (status != WMLC_OK || prior->tasks == 0.0)
			return status;
		hierarchy->converged = hierarchy->change <= tolerance &&
			hierarchy->correct == options->corrected &&
			hierarchy->dispersion_change <= DISPERSION_SLACK * tolerance;
		if (hierarchy->converged || hierarchy->iterations >= most)
			break;
		choose_next(&memory, dims, hierarchy->change, tolerance);
		hierarchy->careful = memory.share < 1.0;
		if (options->corrected && !hierarchy->correct
			&& hierarchy->change <= CORRECTION_SLACK * tolerance)
		{
			hierarchy->correct = true;
			memory.last_change = INFINITY;
		}
		status = find_posteriors(hierarchy, prior, &memory);
		if (status != WMLC_OK)
			return status;
	}
	if (hierarchy->likelihood.family != WMLC_GAUSSIAN)
		status = wmlc_prior_widen(prior, memory.fit, memory.widen);
	if (status == WMLC_OK)
		status = find_loglik(hierarchy, options, &memory, prior);
	prior->family = hierarchy->likelihood.family;
	prior->dispersion = hierarchy->likelihood.dispersion;
	prior->iterations = hierarchy->iterations;
	prior->converged &= hierarchy->converged;
	return status;
}

/* ---- one task under a given prior ---- */

typedef struct Target
{
	double	   *coef;
	double	   *covariance;
	double	   *new_covariance;
	double	   *space;
	void	   *posterior;
} Target;

static size_t
target_layout(Target *target, int dims, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;

	target->coef = wmlc_arena_doubles(&arena, d);
	target->covariance = wmlc_arena_doubles(&arena, d * d);
	target->new_covariance = wmlc_arena_doubles(&arena, d * d);
	target->space = wmlc_arena_doubles(&arena, wmlc_row_batch_doubles(dims));
	target->posterior = wmlc_arena_take(&arena, 1, wmlc_posterior_workspace(dims));
	return arena.used;
}

size_t
wmlc_target_gram_workspace(int dims)
{
	Target		target;

	return target_layout(&target, dims, NULL);
}

/*
 * Could a gram hold the features, weighing 1?  The working rows of larger ones may
 * be small enough, and where they end is up to rounding.
 */
static WmlcStatus
check_features(const WmlcGlmRows *rows, WmlcPoll poll)
{
	int			d = rows->dims;

	for (size_t i = 0; i < rows->count; i++)
	{
		const double *x = rows->x + i * d;
		double		squares = wmlc_predictor(d, x, x);

		if (i % 4096 == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (!isfinite(squares * squares))
			return WMLC_NOT_FINITE;
	}
	return WMLC_OK;
}

static double
target_share(int iteration)
{
	if (iteration < TARGET_PATIENCE)
		return 1.0;
	return fmax(ldexp(0.5, (TARGET_PATIENCE - iteration) / TARGET_SLOWER), LEAST_TARGET_SHARE);
}

/* Move towards the new posterior; how far that is. */
static double
move_posterior(Target *target, const WmlcPosterior *posterior, double share)
{
	int			d = posterior->prior->dims;
	double		largest = 0.0;

	wmlc_posterior_covariance(posterior, target->new_covariance);
	for (int i = 0; i < d; i++)
	{
		size_t		diagonal = i + (size_t) i * d;
		double		variance = target->new_covariance[diagonal];
		double		change = posterior->coef[i] - target->coef[i];

		if (variance > 0.0)
		{
			largest = fmax(largest, fabs(change) / sqrt(variance));
			largest = fmax(largest, fabs(variance - target->covariance[diagonal]) / variance);
		}
		target->coef[i] += share * change;
	}
	for (int i = 0; i < d * d; i++)
		target->covariance[i] += share * (target->new_covariance[i] - target->covariance[i]);
	return largest;
}

WmlcStatus
wmlc_target_gram(const WmlcPrior *prior, const WmlcGlmRows *rows, bool points, WmlcGram *gram,
				 bool *converged, void *work, WmlcPoll poll)
{
	WmlcLikelihood likelihood = {prior->family, prior->dispersion};
	Target		target;
	size_t		d = prior->dims;
	size_t		entries = wmlc_triangle_size(prior->dims + 1);
	WmlcStatus	status = check_features(rows, poll);

	*converged = false;
	if (status != WMLC_OK)
		return status;
	(void) target_layout(&target, prior->dims, work);
	memcpy(target.coef, prior->mean, d * sizeof(double));
	if (wmlc_prior_covariance(prior, target.covariance, poll) != WMLC_OK)
		return WMLC_INTERRUPTED;
	for (int i = 0; i < TARGET_ITERATIONS; i++)
	{
		WmlcPosterior posterior;
		double		ignored = 0.0,
					move;

		status = wmlc_working_gram(&likelihood, rows, 0, rows->count, target.coef,
								   points ? NULL : target.covariance, gram, &ignored,
								   target.space, poll);
		if (status == WMLC_OK)
			status = wmlc_posterior_of(prior, &(WmlcTarget) {
				.moments = gram->sums,
				.moments_lo = gram->sums + entries,
				.poll = poll,
				.mean_only = true
			}, &posterior, target.posterior);
		if (status != WMLC_OK)
			return status;
		move = move_posterior(&target, &posterior, target_share(i));
		*converged = move <= TARGET_FINE;
		if (move <= TARGET_TOLERANCE)
			break;
	}
	return WMLC_OK;
}
