/*
 * prior_fit.c
 *	  The iteration: damped Newton steps on T = Lambda Lambda', mu and s2 being
 *	  profiled out, until the model expects no gain worth having.
 *
 * Directions in which T has died out are dropped from Lambda, which then has
 * fewer columns.  The slope of the objective along them says whether T ought to
 * grow there after all: at an optimum on the boundary it is positive
 * semidefinite.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/prior/prior_internal.h"

/* Expected decrease from which on second derivatives are taken as they are. */
#define CLOSE 3.0

/* A direction whose share of information is below this has died out. */
#define DEAD 1e-12

/* After convergence, a direction below this is tried without. */
#define NEARLY_DEAD 1e-7

/* A dead direction along which the relative slope is below this comes back. */
#define REVIVED -1e-4
#define MOST_HALVINGS 8

/* Nor is a gain of more than this left to a direction that stays dead, whatever the tolerance. */
#define LARGEST_LOSS 1e-5

/*
 * The first T is a multiple of the identity, relative to the information of a
 * task: powers of this are tried while they get better.
 */
#define FIRST_RATIO 4.0
#define MOST_FIRST 16

/* With the noise at its floor there is no maximum, only a rest of shape to find. */
#define MOST_AT_FLOOR 30

/*
 * Robust fits: rounds of tasks and T, at the most, and the relative change of
 * tasks' precisions at which they end.
 */
#define MOST_ROUNDS 60
#define SETTLED 1e-3

/* How often tasks that are left out judge the smooth part. */
#define JUDGEMENTS 2

/* Damping that is added after a failed and taken away after a good step. */
#define FIRST_DAMPING 1e-6
#define LARGEST_DAMPING 1e6

void
wmlc_fit_layout(WmlcPriorFit *fit, int dims, size_t count, const WmlcPriorOptions *options,
				WmlcArena *arena)
{
	size_t		d = dims;
	size_t		q = wmlc_count_random(dims, options);
	size_t		packed = wmlc_triangle_size((int) q);
	bool		full = options->covariance == WMLC_PRIOR_FULL;

	fit->options = options;
	wmlc_sweep_layout(&fit->sweep, dims, options, arena);
	wmlc_model_layout(&fit->model, dims, options, arena);
	wmlc_span_layout(&fit->span, dims, options, arena);
	wmlc_smooth_layout(&fit->smooth, dims, options, arena);
	wmlc_leave_layout(&fit->leave, dims, count, options, arena);
	fit->smooth_fixed = false;
	wmlc_task_layout(&fit->task_prior, count, options, arena);
	fit->features = wmlc_arena_take(arena, q, sizeof(int));
	fit->slope.information = wmlc_arena_doubles(arena, packed);
	fit->slope.score = wmlc_arena_doubles(arena, packed);
	fit->slope.excess = wmlc_arena_doubles(arena, packed);
	fit->slope.curvature = wmlc_arena_doubles(arena, full ? packed * packed : packed);
	fit->slope.coupling = wmlc_arena_doubles(arena, full ? d * q * q : d * q);
	fit->slope.products = NULL;
	if (wmlc_keeps_products(dims, options))
		fit->slope.products = wmlc_arena_doubles(arena, full ? packed * packed
												 : q * wmlc_triangle_size(dims));
	wmlc_point_layout(&fit->current, d, arena);
	wmlc_point_layout(&fit->trial, d, arena);
	fit->pull = wmlc_arena_doubles(arena, d);
	fit->phi = wmlc_arena_doubles(arena, d * d + WMLC_PRIOR_TILE);
	fit->scratch = wmlc_arena_doubles(arena, d * d);
}

/* ---- Lambda ---- */

/* target (r x m) = source (r x n) times an n x m matrix; all but this one by rows */
static void
multiply_lambda(int r, int n, int m, const double *source, const double *matrix, double *target)
{
	/* By rows, that is transposed by columns: target' = matrix' source'. */
	cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, r, n, 1.0, matrix, n, source, n, 0.0,
				target, m);
}

/* Keep the columns of lambda that are marked. */
static void
select_columns(WmlcPriorPoint *point, int r, const double *keep)
{
	int			m = point->directions;
	int			left = 0;

	for (int k = 0; k < m; k++)
		if (keep[k] != 0.0)
			point->feature[left++] = point->feature[k];
	for (int i = 0; i < r; i++)
	{
		int			to = 0;

		for (int k = 0; k < m; k++)
			if (keep[k] != 0.0)
				point->lambda[(size_t) i * left + to++] = point->lambda[(size_t) i * m + k];
	}
	point->directions = left;
}

/*
 * Each direction's share of information, diag(Lambda'P Lambda) / sum alpha, to
 * model->values.  If S is full, Lambda is rotated first so that the matrix is
 * diagonal; T stays the same.
 */
static void
find_shares(WmlcPriorFit *fit, WmlcPriorPoint *point)
{
	WmlcPriorModel *model = &fit->model;
	int			r = fit->reduced.rank;
	int			m = point->directions;

	if (m == 0)
		return;
	cblas_dsymm(CblasColMajor, CblasRight, CblasLower, m, r, 1.0, point->precision, r,
				point->lambda, m, 0.0, fit->phi, m);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, r, 1.0 / fit->reduced.weight,
				fit->phi, m, point->lambda, m, 0.0, model->vectors, m);
	if (model->covariance == WMLC_PRIOR_DIAGONAL)
	{
		for (int k = 0; k < m; k++)
			model->values[k] = model->vectors[k + (size_t) k * m];
		return;
	}
	wmlc_model_eigen(model, m, model->vectors, model->values);
	memcpy(fit->phi, point->lambda, (size_t) r * m * sizeof(double));
	multiply_lambda(r, m, m, fit->phi, model->vectors, point->lambda);
}

/*
 * Drop directions with a share up to the threshold; a penalty keeps them alive
 * unless all die together.
 */
static void
drop_directions(WmlcPriorFit *fit, WmlcPriorPoint *point, double threshold)
{
	double	   *shares = fit->model.values;
	int			m = point->directions;
	bool		any_alive = false;

	for (int k = 0; k < m; k++)
	{
		shares[k] = shares[k] > threshold;
		any_alive |= shares[k] != 0.0;
	}
	if (fit->options->evenness == 0.0 || !any_alive)
		select_columns(point, fit->reduced.rank, shares);
}

/*
 * The frame: Lambda, and before it, if S is full, the directions that carry
 * information but no spread, scaled to the information of one task.
 */
static void
make_frame(WmlcPriorFit *fit)
{
	const WmlcPriorPoint *point = &fit->current;
	WmlcPriorModel *model = &fit->model;
	int			r = fit->reduced.rank;
	int			h = fit->reduced.height;
	int			m = point->directions;
	int			n = model->covariance == WMLC_PRIOR_FULL ? h : m;
	double	   *q = fit->scratch;

	model->directions = n;
	model->dead = n - m;
	if (model->dead > 0)
	{
		/*
		 * Orthogonal to Lambda in the metric P = F F': complete F'Lambda, in the
		 * coordinates that T reaches.
		 */
		memset(q, 0, (size_t) h * h * sizeof(double));
		for (int i = 0; i < h; i++)
			for (int k = 0; k < m; k++)
				q[i + (size_t) k * h] = point->lambda[(size_t) i * m + k];
		cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, h, m, 1.0,
					point->precision_factor, r, q, h);
		(void) LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, h, m, q, h, model->values, model->lapack,
								   64 * h + 64);
		(void) LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, h, h, m, q, h, model->values, model->lapack,
								   64 * h + 64);
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, h, h,
					sqrt(fit->reduced.weight), point->precision_factor, r, q, h);
	}
	for (int i = 0; i < r; i++)
	{
		double	   *row = fit->phi + (size_t) i * n;

		for (int k = 0; k < model->dead; k++)
			row[k] = i < h ? q[i + (size_t) (m + k) * h] : 0.0;
		memcpy(row + model->dead, point->lambda + (size_t) i * m, m * sizeof(double));
	}
}

/* Phi'P Phi along each direction of the frame, which is orthogonal in that metric */
static void
find_metric(WmlcPriorFit *fit)
{
	WmlcPriorModel *model = &fit->model;
	int			r = fit->reduced.rank;
	int			n = model->directions;
	double	   *column = fit->scratch;

	for (int k = 0; k < n; k++)
	{
		cblas_dcopy(r, fit->phi + k, n, column, 1);
		cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r,
					fit->current.precision_factor, r, column, 1);
		model->metric[k] = cblas_dnrm2(r, column, 1);
	}
}

/* ---- steps ---- */

/* Evaluate Phi (J + E) as the trial point. */
static WmlcStatus
try_change(WmlcPriorFit *fit)
{
	const WmlcPriorModel *model = &fit->model;
	int			r = fit->reduced.rank;
	int			m = fit->current.directions;

	fit->trial.directions = m;
	memcpy(fit->trial.feature, fit->current.feature, m * sizeof(int));
	memcpy(fit->trial.mean, fit->current.mean, r * sizeof(double));
	multiply_lambda(r, model->directions, m, fit->phi, model->change, fit->trial.lambda);
	return wmlc_point_evaluate(fit, &fit->trial);
}

static double
tolerance(const WmlcPriorFit *fit)
{
	return fit->options->tolerance > 0.0 ? fit->options->tolerance : WMLC_PRIOR_TOLERANCE;
}

/* Differences of the objective below this are rounding. */
static double
rounding(const WmlcPriorFit *fit)
{
	return 8.0 * DBL_EPSILON * (fabs(fit->current.objective) + fit->degrees);
}

/*
 * One accepted step, or none if there is nothing to gain; expected is what the
 * last one tried was to bring.
 */
static WmlcStatus
newton_step(WmlcPriorFit *fit, double *damping, double *expected)
{
	while (*damping <= LARGEST_DAMPING)
	{
		double		gain;
		WmlcStatus	status;

		if (!wmlc_model_newton(&fit->model, *damping, expected))
		{
			if (fit->model.interrupted)
				return WMLC_INTERRUPTED;
			*damping = fmax(10.0 * *damping, FIRST_DAMPING);
			continue;
		}
		status = try_change(fit);
		if (status != WMLC_OK)
			return status;
		gain = fit->current.objective - fit->trial.objective;
		if (gain >= 0.0)
			wmlc_points_swap(fit);
		if (gain < 0.25 * *expected)
			*damping = fmax(10.0 * *damping, FIRST_DAMPING);
		else if (gain > 0.75 * *expected)
			*damping = *damping > FIRST_DAMPING ? 0.1 * *damping : 0.0;
		if (gain >= 0.0 || *expected <= rounding(fit))
			return WMLC_OK;
	}
	return WMLC_OK;
}

static WmlcStatus
take_slope(WmlcPriorFit *fit, WmlcSlopeKind kind)
{
	const WmlcPriorPoint *point = &fit->current;
	WmlcStatus	status;

	make_frame(fit);
	find_metric(fit);
	fit->slope.kind = kind;
	status = wmlc_sweep_slope(&fit->sweep, point, fit->phi, fit->model.directions, &fit->slope);
	if (status == WMLC_OK)
		wmlc_model_slope(&fit->model, &fit->slope, point, &fit->reduced, fit->options->evenness);
	return status;
}

static void
report(const WmlcPriorFit *fit)
{
	if (fit->options->trace != NULL)
		fit->options->trace(fit->options->trace_arg, fit->iterations,
							-0.5 * (fit->current.objective + fit->offset));
}

/* ---- the boundary ---- */

/* Leave out directions that are all but dead if the objective is the better for it. */
static WmlcStatus
settle(WmlcPriorFit *fit)
{
	WmlcStatus	status;

	find_shares(fit, &fit->current);
	wmlc_point_copy(fit, &fit->current, &fit->trial);
	drop_directions(fit, &fit->trial, NEARLY_DEAD);
	if (fit->trial.directions == fit->current.directions)
		return WMLC_OK;
	status = wmlc_point_evaluate(fit, &fit->trial);
	if (status == WMLC_OK && fit->trial.objective <= fit->current.objective + rounding(fit))
		wmlc_points_swap(fit);
	return status;
}

/*
 * Candidates for new columns of Lambda: to fit->scratch, by rows, scaled to the
 * information of one task, and the slopes along them, relative to that, to
 * model->values.  For a full S they are the principal directions of the slope
 * among the dead directions of the frame.
 */
static int
find_dead_directions(WmlcPriorFit *fit)
{
	WmlcPriorModel *model = &fit->model;
	int			r = fit->reduced.rank;
	int			n = model->directions;
	int			dead = model->dead;

	for (int k = 0; k < dead; k++)
		for (int l = 0; l < dead; l++)
			model->vectors[k + (size_t) l * dead] = model->slope[k + (size_t) l * n]
				/ fit->reduced.weight;
	wmlc_model_eigen(model, dead, model->vectors, model->values);
	memset(fit->scratch, 0, (size_t) r * dead * sizeof(double));
	for (int i = 0; i < fit->reduced.height && dead > 0; i++)
		cblas_dgemv(CblasColMajor, CblasTrans, dead, dead, 1.0, model->vectors, dead,
					fit->phi + (size_t) i * n, 1, 0.0, fit->scratch + (size_t) i * dead, 1);
	return dead;
}

/* For a diagonal S they are the features, of which those in Lambda do not count. */
static WmlcStatus
find_dead_features(WmlcPriorFit *fit)
{
	const WmlcReduced *reduced = &fit->reduced;
	double	   *slopes = fit->model.values;
	int			r = reduced->rank;
	int			d = fit->feature_count;
	WmlcStatus	status;

	for (int k = 0; k < d; k++)
		cblas_dcopy(r, reduced->loadings + (size_t) fit->features[k] * r, 1, fit->phi + k, d);
	fit->slope.kind = WMLC_SLOPE_FIRST;
	status = wmlc_sweep_slope(&fit->sweep, &fit->current, fit->phi, d, &fit->slope);
	if (status != WMLC_OK)
		return status;
	memcpy(fit->scratch, fit->phi, (size_t) r * d * sizeof(double));
	for (int k = 0; k < d; k++)
	{
		double		information = fit->slope.information[wmlc_triangle_index(d, k, k)];

		slopes[k] = 0.0;
		if (information == 0.0)
			continue;
		slopes[k] = 1.0 - fit->slope.excess[wmlc_triangle_index(d, k, k)] / information;
		cblas_dscal(r, sqrt(reduced->weight / information), fit->scratch + k, d);
	}
	for (int k = 0; k < fit->current.directions; k++)
		slopes[fit->current.feature[k]] = 0.0;
	return WMLC_OK;
}

/* Make the trial point the current one with new columns of the given length. */
static void
add_directions(WmlcPriorFit *fit, int candidates, double length)
{
	const WmlcPriorPoint *current = &fit->current;
	WmlcPriorPoint *trial = &fit->trial;
	const double *slopes = fit->model.values;
	int			r = fit->reduced.rank;
	int			m = current->directions;

	wmlc_point_copy(fit, current, trial);
	for (int k = 0; k < candidates; k++)
		if (slopes[k] < REVIVED)
			trial->feature[trial->directions++] = k;
	for (int i = 0; i < r; i++)
	{
		double	   *row = trial->lambda + (size_t) i * trial->directions;

		memcpy(row, current->lambda + (size_t) i * m, m * sizeof(double));
		for (int k = m; k < trial->directions; k++)
			row[k] = length * sqrt(-slopes[trial->feature[k]])
				* fit->scratch[(size_t) i * candidates + trial->feature[k]];
	}
}

/*
 * Let T grow in dead directions along which the objective falls, if any.  If S
 * is full, the slope of the current point must be there.  Under a penalty
 * either nothing is dead or everything, and stays so.
 */
static WmlcStatus
revive(WmlcPriorFit *fit, bool *revived)
{
	bool		full = fit->options->covariance == WMLC_PRIOR_FULL;
	int			candidates = fit->feature_count;
	double		length = 1.0;
	WmlcStatus	status = WMLC_OK;

	*revived = false;
	if (fit->options->evenness != 0.0)
		return WMLC_OK;
	if (full)
		candidates = find_dead_directions(fit);
	else
		status = find_dead_features(fit);
	for (int k = 0; k < MOST_HALVINGS && status == WMLC_OK && !*revived; k++)
	{
		add_directions(fit, candidates, length);
		if (fit->trial.directions == fit->current.directions)
			return WMLC_OK;
		status = wmlc_point_evaluate(fit, &fit->trial);
		*revived = fit->trial.objective < fit->current.objective - fmin(tolerance(fit), LARGEST_LOSS);
		length *= 0.5;
	}
	if (*revived)
		wmlc_points_swap(fit);
	return status;
}

/* The end of an iteration that expects no more gain, unless something dead revives. */
static WmlcStatus
finish(WmlcPriorFit *fit)
{
	bool		full = fit->options->covariance == WMLC_PRIOR_FULL;
	bool		revived = false;
	WmlcStatus	status = settle(fit);

	if (status == WMLC_OK && !(full && fit->current.directions == fit->reduced.height))
	{
		if (full)
			status = take_slope(fit, WMLC_SLOPE_FIRST);
		if (status == WMLC_OK)
			status = revive(fit, &revived);
	}
	fit->converged = !revived;
	return status;
}

/* ---- the iteration ---- */

/* The best multiple of the first Lambda. */
static WmlcStatus
find_first(WmlcPriorFit *fit)
{
	size_t		size = (size_t) fit->reduced.rank * fit->current.directions;
	WmlcStatus	status = wmlc_point_evaluate(fit, &fit->current);

	for (int k = 0; k < MOST_FIRST && status == WMLC_OK; k++)
	{
		wmlc_point_copy(fit, &fit->current, &fit->trial);
		cblas_dscal(size, FIRST_RATIO, fit->trial.lambda, 1);
		status = wmlc_point_evaluate(fit, &fit->trial);
		if (!(fit->trial.objective < fit->current.objective))
			break;
		wmlc_points_swap(fit);
	}
	return status;
}

static bool
starts_near(const WmlcPriorFit *fit)
{
	return fit->options->near != NULL && fit->reduced.fixed_noise > 0.0
		&& fit->options->evenness == 0.0;
}

/*
 * The best size of the smooth part for T as it is; `gain` is what the objective
 * has fallen by.
 */
static WmlcStatus
improve_smooth(WmlcPriorFit *fit, double *gain)
{
	double		before = fit->smooth.penalty;
	WmlcStatus	status;

	*gain = 0.0;
	if (fit->smooth.count == 0 || fit->smooth_fixed || !isfinite(fit->current.objective))
		return WMLC_OK;
	fit->smooth.penalty = wmlc_smooth_choose(&fit->smooth, &fit->reduced, &fit->current,
											 fit->degrees);
	wmlc_point_copy(fit, &fit->current, &fit->trial);
	status = wmlc_point_evaluate(fit, &fit->trial);
	*gain = fmax(fit->current.objective - fit->trial.objective, 0.0);
	if (*gain > 0.0)
		wmlc_points_swap(fit);
	else
		fit->smooth.penalty = before;
	return status;
}

/*
 * One iteration.  Damping and the gain expected of a step are carried from one
 * to the next.
 */
static WmlcStatus
advance(WmlcPriorFit *fit, double *damping, double *expected)
{
	WmlcSlopeKind kind = *expected > CLOSE ? WMLC_SLOPE_EXPECTED : WMLC_SLOPE_OBSERVED;
	double		gain;
	WmlcStatus	status = improve_smooth(fit, &gain);

	if (status != WMLC_OK)
		return status;
	find_shares(fit, &fit->current);
	drop_directions(fit, &fit->current, DEAD);
	status = take_slope(fit, kind);
	if (status != WMLC_OK)
		return status;
	*expected = 0.0;
	if (fit->current.directions > 0)
	{
		wmlc_model_build(&fit->model, &fit->slope, &fit->current, &fit->reduced, fit->degrees,
						 fit->options->evenness);
		if (!fit->model.interrupted)
			status = newton_step(fit, damping, expected);
	}
	if (fit->model.interrupted)
		return WMLC_INTERRUPTED;
	if (status == WMLC_OK && kind == WMLC_SLOPE_OBSERVED
		&& *expected + gain <= fmax(tolerance(fit), rounding(fit)))
		status = finish(fit);
	return status;
}

static WmlcStatus
iterate(WmlcPriorFit *fit)
{
	int			limit = fit->iterations + (fit->options->max_iterations > 0
										   ? fit->options->max_iterations : WMLC_PRIOR_ITERATIONS);
	double		damping = 0.0;
	double		expected = fit->options->close && starts_near(fit) ? 0.0 : INFINITY;
	int			at_floor = 0;

	fit->converged = false;
	while (!fit->converged && fit->iterations < limit && damping <= LARGEST_DAMPING
		   && at_floor < MOST_AT_FLOOR)
	{
		WmlcStatus	status;

		fit->iterations++;
		status = advance(fit, &damping, &expected);
		if (status != WMLC_OK)
			return status;
		at_floor += !wmlc_noise_is_free(&fit->reduced, &fit->current)
			&& fit->reduced.fixed_noise == 0.0;
		report(fit);
	}
	return WMLC_OK;
}

/* Set up what the objective needs beside the tasks. */
static void
prepare(WmlcPriorFit *fit)
{
	const WmlcReduced *reduced = &fit->reduced;
	size_t		lambda_bytes = ((size_t) reduced->dims * reduced->dims + WMLC_PRIOR_TILE) * sizeof(double);

	fit->sweep.reduced = reduced;
	fit->sweep.poll = fit->options->poll;
	wmlc_sweep_prepare(&fit->sweep);
	memset(fit->trial.lambda, 0, lambda_bytes);
	memset(fit->phi, 0, lambda_bytes);
	fit->slope.reml = fit->options->method == WMLC_PRIOR_REML;
	fit->iterations = 0;
	fit->converged = false;
	fit->feature_count = 0;
	for (int k = 0; k < reduced->dims; k++)
		if (fit->options->random == NULL || fit->options->random[k])
			fit->features[fit->feature_count++] = k;
}

/* After the smooth part is known, which takes up no degrees of freedom. */
static void
count_degrees(WmlcPriorFit *fit)
{
	const WmlcReduced *reduced = &fit->reduced;
	int			free = reduced->rank - fit->smooth.count;

	fit->degrees = reduced->rows;
	fit->offset = 0.0;
	if (fit->slope.reml)
	{
		/* With no more rows than features nothing is left, but something must be. */
		fit->degrees = reduced->rows > free ? reduced->rows - free : 1.0;
		fit->offset = reduced->log_volume - fit->smooth.volume;
	}
	if (reduced->response_unit > 0.0)
		fit->offset += 2.0 * fit->degrees
			* log(reduced->response_unit / reduced->scale[reduced->dims]);
}

/*
 * Robust fits: noise and scale of the tasks in turn with steps for T.  Steps are
 * Newton's, for the tasks' numbers as they are; when these no longer change, the
 * iteration ends as that of the plain model.
 */
static WmlcStatus
iterate_robust(WmlcPriorFit *fit)
{
	double		damping = 0.0;
	double		expected = INFINITY;
	double		change = INFINITY;
	double		gain;
	WmlcStatus	status = WMLC_OK;

	for (int k = 0; k < MOST_ROUNDS && status == WMLC_OK && change > SETTLED; k++)
	{
		status = wmlc_task_update(&fit->task_prior, &fit->sweep, &fit->reduced, &fit->current,
								  &change);
		if (status == WMLC_OK)
			status = wmlc_point_evaluate(fit, &fit->current);
		if (status == WMLC_OK && fit->current.directions > 0)
		{
			fit->iterations++;
			damping = fmin(damping, 1.0);
			status = advance(fit, &damping, &expected);
		}
		else if (status == WMLC_OK)
			status = improve_smooth(fit, &gain);
		if (status == WMLC_OK)
			report(fit);
	}
	if (status == WMLC_OK)
		status = iterate(fit);
	fit->converged = fit->converged && change <= SETTLED;
	return status;
}

/*
 * With the penalty that the likelihood found as the least, let tasks that are left
 * out have their say, and find T again; a second time because they were judged
 * by the first.  Where the smooth part had explained how tasks differ in some direction, T is
 * nothing there, which it may remain: it begins anew.
 */
static WmlcStatus
judge_smooth(WmlcPriorFit *fit, int directions)
{
	double		least = fit->smooth.penalty;
	WmlcStatus	status = WMLC_OK;

	fit->smooth_fixed = true;
	for (int k = 0; k < JUDGEMENTS && status == WMLC_OK; k++)
	{
		fit->smooth.penalty = least;
		status = wmlc_leave_choose(&fit->leave, &fit->smooth, &fit->sweep, &fit->reduced,
								   &fit->current);
		if (status == WMLC_OK && fit->current.directions < directions)
		{
			wmlc_point_start(fit);
			status = find_first(fit);
		}
		else if (status == WMLC_OK)
			status = wmlc_point_evaluate(fit, &fit->current);
		if (status == WMLC_OK)
			status = iterate(fit);
	}
	return status;
}

static bool
is_robust(const WmlcPriorFit *fit)
{
	return fit->task_prior.own_noise || fit->task_prior.student;
}

WmlcStatus
wmlc_fit_run(WmlcPriorFit *fit, bool spread)
{
	double		gain = INFINITY;
	int			directions;
	WmlcStatus	status;

	prepare(fit);
	status = wmlc_span_rotate(&fit->span, &fit->reduced, fit->features, fit->feature_count,
							  fit->options->poll);
	if (status != WMLC_OK)
		return status;
	if (fit->options->smooth != NULL)
		wmlc_smooth_start(&fit->smooth, &fit->reduced);
	count_degrees(fit);
	if (is_robust(fit))
		wmlc_task_start(&fit->task_prior, &fit->reduced, fit->options);
	if (fit->task_prior.own_noise)
		fit->reduced.fixed_noise = 1.0;
	status = wmlc_sum_fixed(&fit->reduced, fit->options->poll);
	if (status != WMLC_OK)
		return status;
	wmlc_point_start(fit);
	directions = fit->current.directions;
	if (spread && directions > 0)
	{
		if (starts_near(fit))
		{
			wmlc_point_start_near(fit, fit->options->near);
			status = wmlc_point_evaluate(fit, &fit->current);
		}
		else
			status = find_first(fit);
		if (status != WMLC_OK)
			return status;
		status = is_robust(fit) ? iterate_robust(fit) : iterate(fit);
		return status == WMLC_OK && fit->smooth.count > 0 ? judge_smooth(fit, directions) : status;
	}
	fit->current.directions = 0;
	status = wmlc_point_evaluate(fit, &fit->current);
	while (status == WMLC_OK && gain > tolerance(fit))
		status = improve_smooth(fit, &gain);
	if (status == WMLC_OK && is_robust(fit))
		status = iterate_robust(fit);
	fit->converged = true;
	return status;
}
