/*
 * prior.c
 *	  From the caller's sums to the fit and back to the caller's units.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/linalg/panels.h"
#include "core/prior/prior_internal.h"

/*
 * Bytes of everything a fit uses, and where it is.  It stands at the beginning of
 * the workspace itself, where wmlc_prior_posteriors finds it.
 */
typedef struct FitMemory
{
	size_t		count;			/* of tasks */
	WmlcPriorOptions options;	/* the caller's, whose own may be gone when the fit is asked again */
	WmlcPriorFit fit;
	WmlcPriorWeights weights;
	double	   *vectors;		/* d x (2 d + 1): mean, factors of S and of mu's covariance */
	double	   *dependent;		/* d x d: combinations of features that are zero */
	double	   *lapack;			/* 64 (d + 1) */
	double	   *norms;			/* d */
	double	   *coefficients;	/* d x (2 d + 1) */
	WmlcArena	scratch;
} FitMemory;

static const char *const method_words[] = {
	[WMLC_PRIOR_ML] = "ml",
	[WMLC_PRIOR_REML] = "reml"
};

const WmlcWords wmlc_prior_method_words = WMLC_WORDS(method_words);

static const char *const covariance_words[] = {
	[WMLC_PRIOR_FULL] = "full",
	[WMLC_PRIOR_DIAGONAL] = "diagonal"
};

const WmlcWords wmlc_prior_covariance_words = WMLC_WORDS(covariance_words);

static size_t
fit_layout(FitMemory *memory, int dims, size_t count, const WmlcPriorOptions *options, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;

	(void) wmlc_arena_take(&arena, 1, sizeof(FitMemory));
	memory->count = count;
	memory->weights.alpha = wmlc_arena_doubles(&arena, count);
	wmlc_prior_reduce_layout(&memory->fit.reduced, dims, count, &arena);
	memory->vectors = wmlc_arena_doubles(&arena, d * (2 * d + 1));
	memory->dependent = wmlc_arena_doubles(&arena, d * d);
	memory->coefficients = wmlc_arena_doubles(&arena, d * (2 * d + 1));
	memory->lapack = wmlc_arena_doubles(&arena, 64 * (d + 1));
	memory->norms = wmlc_arena_doubles(&arena, d);
	wmlc_fit_layout(&memory->fit, dims, count, options, &arena);
	memory->scratch.base = work == NULL ? NULL : arena.base + arena.used;
	memory->scratch.used = 0;
	return arena.used + wmlc_prior_reduce_scratch(dims);
}

size_t
wmlc_prior_fit_workspace(int dims, size_t count, const WmlcPriorOptions *options)
{
	FitMemory	memory;

	return fit_layout(&memory, dims, count, options, NULL);
}

static void
clear_prior(WmlcPrior *prior, int dims)
{
	size_t		square = (size_t) dims * dims;

	prior->dims = dims;
	memset(prior->mean, 0, dims * sizeof(double));
	memset(prior->factor, 0, square * sizeof(double));
	memset(prior->mean_factor, 0, square * sizeof(double));
	prior->noise = prior->tasks = prior->effective_tasks = prior->rows = 0.0;
	prior->noise_degrees = prior->loglik = prior->parameters = 0.0;
	prior->outlying = prior->dominance = 0.0;
	prior->smooth_sd = prior->smooth_degrees = 0.0;
	prior->noise_shape = prior->noise_power = prior->noise_limit = prior->spread_degrees = prior->dispersion = 0.0;
	prior->family = WMLC_GAUSSIAN;
	prior->descriptors = 1;
	prior->iterations = prior->rank = prior->design_rank = 0;
	prior->converged = prior->singular = prior->saturated = false;
}

/* ---- back to the caller's units ---- */

/*
 * Columns in scaled features: mu; the factor of S, m columns; the factor of
 * mu's covariance, r columns.  Features outside the basis have zeros.
 */
static void
expand_vectors(FitMemory *memory)
{
	const WmlcReduced *reduced = &memory->fit.reduced;
	const WmlcPriorPoint *point = &memory->fit.current;
	int			d = reduced->dims;
	int			r = reduced->rank;
	int			m = point->directions;
	int			columns = 1 + m + r;
	double		unit = reduced->response_unit;
	double		sd = unit * sqrt(point->noise);
	double	   *c = memory->coefficients;

	memset(memory->vectors, 0, (size_t) d * columns * sizeof(double));
	if (r == 0)
		return;
	memset(c, 0, (size_t) r * columns * sizeof(double));
	for (int i = 0; i < r; i++)
	{
		c[i] = unit * point->mean[i];
		for (int k = 0; k < m; k++)
			c[i + (size_t) (1 + k) * r] = sd * point->lambda[(size_t) i * m + k];
		c[i + (size_t) (1 + m + i) * r] = sd;
	}
	(void) wmlc_panel_solve(CblasLower, CblasTrans, r, point->precision_factor, r,
							c + (size_t) (1 + m) * r, memory->fit.sweep.poll);
	for (int k = 0; k < columns; k++)
	{
		double	   *column = memory->norms;

		cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, 1.0, reduced->basis, r,
					c + (size_t) k * r, 1, 0.0, column, 1);
		if (k == 0)
			cblas_daxpy(r, 1.0, reduced->center, 1, column, 1);
		for (int i = 0; i < r; i++)
			memory->vectors[reduced->kept[i] + (size_t) k * d] = column[i];
	}

	/* Fixed features have no spread, not even by rounding. */
	if (memory->fit.feature_count < d)
	{
		wmlc_span_solve(&memory->fit.span, reduced, point, memory->vectors + d);
		cblas_dscal(d * m, sd, memory->vectors + d, 1);
	}
}

static bool
is_kept(const WmlcReduced *reduced, int feature)
{
	for (int i = 0; i < reduced->rank; i++)
		if (reduced->kept[i] == feature)
			return true;
	return false;
}

/*
 * An orthonormal basis, in standardised features, of the combinations of
 * features that are zero in every row.
 */
static int
find_dependent(FitMemory *memory)
{
	const WmlcReduced *reduced = &memory->fit.reduced;
	int			d = reduced->dims;
	int			r = reduced->rank;
	int			count = 0;

	memset(memory->dependent, 0, (size_t) d * d * sizeof(double));
	for (int k = 0; k < d; k++)
	{
		double	   *column = memory->dependent + (size_t) count * d;
		double	   *c = memory->coefficients;

		memory->norms[k] = cblas_dnrm2(r, reduced->loadings + (size_t) k * r, 1);
		if (memory->norms[k] == 0.0 || is_kept(reduced, k))
			continue;
		cblas_dcopy(r, reduced->loadings + (size_t) k * r, 1, c, 1);
		cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, 1.0, reduced->basis, r, c, 1, 0.0, c + r, 1);
		for (int i = 0; i < r; i++)
			column[reduced->kept[i]] = c[r + i];
		column[k] = -1.0;
		count++;
	}
	if (count == 0)
		return 0;
	for (int k = 0; k < d; k++)
		cblas_dscal(count, memory->norms[k], memory->dependent + k, d);
	(void) LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, d, count, memory->dependent, d,
							   memory->coefficients, memory->lapack, 64 * (d + 1));
	(void) LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, d, count, count, memory->dependent, d,
							   memory->coefficients, memory->lapack, 64 * (d + 1));
	return count;
}

/* Of all coefficients with the same predictions take those of least norm. */
static void
take_least_norm(FitMemory *memory, double *column, int dependent)
{
	int			d = memory->fit.reduced.dims;
	double	   *c = memory->coefficients;

	for (int k = 0; k < d; k++)
		column[k] *= memory->norms[k];
	cblas_dgemv(CblasColMajor, CblasTrans, d, dependent, 1.0, memory->dependent, d, column, 1,
				0.0, c, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, d, dependent, -1.0, memory->dependent, d, c, 1,
				1.0, column, 1);
	for (int k = 0; k < d; k++)
		if (memory->norms[k] > 0.0)
			column[k] /= memory->norms[k];
}

/* Make d x m columns a lower triangle with the same product with its transpose. */
static void
triangulate(FitMemory *memory, double *columns, int m, double *factor)
{
	int			d = memory->fit.reduced.dims;

	if (m > 0)
		(void) LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, d, m, columns, d, memory->coefficients,
								   memory->lapack, 64 * (d + 1));
	for (int k = 0; k < m; k++)
	{
		double		sign = columns[k + (size_t) k * d] < 0.0 ? -1.0 : 1.0;

		for (int i = k; i < d; i++)
			factor[i + (size_t) k * d] = sign * columns[i + (size_t) k * d];
	}
}

/* The factor of a diagonal S: columns of Lambda are multiples of loadings. */
static void
spread_diagonal(const FitMemory *memory, const double *unit, double *factor)
{
	const WmlcReduced *reduced = &memory->fit.reduced;
	const WmlcPriorPoint *point = &memory->fit.current;
	int			r = reduced->rank;
	int			m = point->directions;
	double		sd = reduced->response_unit * sqrt(point->noise);

	for (int k = 0; k < m; k++)
	{
		int			feature = memory->fit.features[point->feature[k]];
		const double *loading = reduced->loadings + (size_t) feature * r;
		double		multiple = cblas_ddot(r, point->lambda + k, m, loading, 1)
			/ cblas_ddot(r, loading, 1, loading, 1);

		factor[feature + (size_t) feature * reduced->dims] = fabs(sd * multiple * unit[feature]);
	}
}

static void
write_prior(FitMemory *memory, WmlcPrior *prior)
{
	const WmlcReduced *reduced = &memory->fit.reduced;
	int			d = reduced->dims;
	int			r = reduced->rank;
	int			m = memory->fit.current.directions;
	bool		full = memory->fit.options->covariance == WMLC_PRIOR_FULL;
	bool		all_random = memory->fit.feature_count == d;
	int			dependent;
	double	   *mean_factor = memory->vectors + (size_t) (1 + m) * d;
	double	   *unit = reduced->scale;

	expand_vectors(memory);
	dependent = find_dependent(memory);
	for (int k = 0; k < d; k++)
		unit[k] /= reduced->scale[d];
	for (int k = 0; k < 1 + m + r; k++)
	{
		double	   *column = memory->vectors + (size_t) k * d;

		if (dependent > 0 && (k == 0 || k > m || all_random))
			take_least_norm(memory, column, dependent);
		for (int i = 0; i < d; i++)
			column[i] *= unit[i];
	}
	cblas_dcopy(d, memory->vectors, 1, prior->mean, 1);
	if (full)
		triangulate(memory, memory->vectors + d, m, prior->factor);
	else
		spread_diagonal(memory, unit, prior->factor);
	triangulate(memory, mean_factor, r, prior->mean_factor);
}

/* A smooth part that has no size is nothing, not even by rounding. */
static void
clear_smooth(const WmlcReduced *reduced, WmlcPrior *prior)
{
	int			d = prior->dims;

	for (int k = 0; k < d; k++)
	{
		if (reduced->smooth[k] == 0.0)
			continue;
		prior->mean[k] = 0.0;
		for (int i = 0; i <= k; i++)
			prior->mean_factor[k + (size_t) i * d] = 0.0;
	}
}

/* The factor of the mean's covariance once more, for another precision_factor. */
static void
rewrite_mean_factor(FitMemory *memory, WmlcPrior *prior)
{
	const WmlcReduced *reduced = &memory->fit.reduced;
	int			d = reduced->dims;
	int			r = reduced->rank;
	double	   *mean_factor = memory->vectors + (size_t) (1 + memory->fit.current.directions) * d;
	int			dependent;

	expand_vectors(memory);
	dependent = find_dependent(memory);
	for (int k = 0; k < r; k++)
	{
		double	   *column = mean_factor + (size_t) k * d;

		if (dependent > 0)
			take_least_norm(memory, column, dependent);
		for (int i = 0; i < d; i++)
			column[i] *= reduced->scale[i];
	}
	memset(prior->mean_factor, 0, (size_t) d * d * sizeof(double));
	triangulate(memory, mean_factor, r, prior->mean_factor);
}

/* The objective without penalty, in the caller's units, as a log-likelihood. */
static double
find_loglik(WmlcPriorFit *fit)
{
	double		penalty = wmlc_model_penalty(&fit->model, &fit->reduced, &fit->current,
											 fit->options->evenness);

	if (fit->reduced.response_unit == 0.0 && fit->options->fixed_noise == 0.0)
		return INFINITY;
	return -0.5 * (fit->current.objective - penalty + fit->offset) + fit->task_prior.correction;
}

/*
 * Rows less the coefficients in use: r of mu, and of each task's as many as its
 * rows rather than the prior determine, tr Q; the sum is tr Lambda'P Lambda, unless P
 * weighs the tasks.
 */
static double
find_noise_degrees(const WmlcPriorFit *fit, double smooth_degrees)
{
	const WmlcPriorPoint *point = &fit->current;
	int			r = fit->reduced.rank;
	int			m = point->directions;
	double		used = r - fit->smooth.count + smooth_degrees;

	if (fit->task_prior.own_noise || fit->task_prior.student)
		return fmax(fit->reduced.rows - used - fit->task_prior.used, 1.0);
	for (int i = 0; i < r; i++)
		for (int j = 0; j < r; j++)
			used += point->precision[i + (size_t) j * r]
				* cblas_ddot(m, point->lambda + (size_t) i * m, 1,
							 point->lambda + (size_t) j * m, 1);
	return fmax(fit->reduced.rows - used, 1.0);
}

/* Means, variances and covariances that the data could tell, and the noise. */
static double
count_parameters(const WmlcPriorFit *fit)
{
	int			r = fit->reduced.rank;
	double		spread = fit->options->covariance == WMLC_PRIOR_FULL
		? (double) wmlc_triangle_size(fit->reduced.height) : fit->feature_count;

	return r - fit->smooth.count + (fit->smooth.count > 0) + spread
		+ (fit->options->fixed_noise == 0.0) + 2 * fit->task_prior.own_noise
		+ (fit->task_prior.student && !fit->task_prior.fixed_degrees);
}

/* In the caller's units numbers may overflow. */
static bool
is_finite(const WmlcPrior *prior)
{
	int			d = prior->dims;
	bool		finite = isfinite(prior->noise);

	for (int i = 0; i < d; i++)
		finite &= isfinite(prior->mean[i]);
	for (int i = 0; i < d * d; i++)
		finite &= isfinite(prior->factor[i]) && isfinite(prior->mean_factor[i]);
	return finite;
}

/* What the fit has found, in the caller's units; response_scale is one internal unit of the response. */
static void
describe(FitMemory *memory, double response_scale, WmlcPrior *prior)
{
	WmlcPriorFit *fit = &memory->fit;
	const WmlcPriorOptions *options = fit->options;

	prior->noise = fit->current.noise * response_scale * response_scale;
	if (options->fixed_noise > 0.0)
		prior->noise = options->fixed_noise;
	else if (fit->reduced.response_unit == 0.0)
		prior->noise = 0.0;
	prior->tasks = memory->weights.tasks;
	prior->effective_tasks = memory->weights.total;
	prior->rows = memory->weights.rows;
	prior->smooth_degrees = wmlc_smooth_degrees(&fit->smooth, &fit->reduced, &fit->current);
	prior->smooth_sd = wmlc_smooth_sd(&fit->smooth, &fit->reduced, &fit->current) * response_scale;
	prior->noise_degrees = find_noise_degrees(fit, prior->smooth_degrees);
	prior->loglik = find_loglik(fit);
	prior->iterations = fit->iterations;
	prior->restricted = options->method == WMLC_PRIOR_REML;
	prior->evenness = options->evenness;
	prior->unevenness = options->evenness > 0.0
		? wmlc_model_unevenness(&fit->model, &fit->reduced, &fit->current) : 0.0;
	prior->rank = fit->current.directions;
	prior->design_rank = fit->reduced.rank;
	prior->converged = fit->converged;
	prior->singular = prior->rank < fit->feature_count;
	prior->saturated = options->fixed_noise == 0.0 && !options->own_noise
		&& fit->current.noise <= fit->reduced.floor;
	if (options->own_noise && fit->reduced.response_unit > 0.0)
	{
		prior->noise_shape = fit->task_prior.noise_shape;
		prior->noise_power = fit->task_prior.noise_power;
		prior->noise = fit->task_prior.noise_rate / prior->noise_shape
			* response_scale * response_scale;
		prior->noise_limit = fmin(wmlc_noise_limit(&fit->task_prior, &fit->reduced)
								  * response_scale * response_scale, DBL_MAX);
	}
	if (options->student)
		prior->spread_degrees = fit->task_prior.degrees;
	prior->parameters = count_parameters(fit);
	write_prior(memory, prior);
	if (prior->smooth_sd == 0.0)
		clear_smooth(&fit->reduced, prior);
}

WmlcStatus
wmlc_prior_fit(const WmlcPriorTasks *tasks, const WmlcPriorOptions *options, WmlcPrior *prior,
			   void *work)
{
	FitMemory  *memory = work;
	WmlcPriorFit *fit = &memory->fit;
	WmlcStatus	status;
	double		unit,
				response_scale;

	clear_prior(prior, tasks->dims);
	memory->options = *options;
	(void) fit_layout(memory, tasks->dims, tasks->count, &memory->options, work);
	fit->task_prior.correction = 0.0;
	status = wmlc_prior_weigh(tasks, &memory->weights);
	if (status != WMLC_OK || memory->weights.tasks == 0.0)
		return status;
	status = wmlc_prior_reduce(tasks, &memory->weights, options->smooth, options->own_noise, &fit->reduced,
							   memory->scratch, options->poll);
	if (status != WMLC_OK)
		return status;

	unit = fit->reduced.response_unit > 0.0 ? fit->reduced.response_unit : 1.0;
	response_scale = unit / fit->reduced.scale[tasks->dims];
	fit->reduced.fixed_noise = options->fixed_noise / (response_scale * response_scale);

	/* One task, or one regression through all rows, shows no spread. */
	status = wmlc_fit_run(fit, memory->weights.tasks > 1.0 && fit->reduced.response_unit > 0.0);
	if (status != WMLC_OK)
		return status;
	if (!isfinite(fit->current.objective))
		return WMLC_NOT_FINITE;
	/* of working grams, whose noise is 1, nobody asks */
	if (fit->current.directions > 0 && !options->student && options->fixed_noise == 0.0)
	{
		double		tasks = memory->weights.tasks;
		double		most = tasks - 1.0;

		/* REML divides the squares about the mean by one less */
		status = wmlc_count_outlying(&fit->task_prior, &fit->sweep, &fit->current, tasks,
									 options->method == WMLC_PRIOR_REML ? most * most / tasks : most,
									 &prior->outlying, &prior->dominance);
	}
	if (status != WMLC_OK)
		return status;

	describe(memory, response_scale, prior);
	return is_finite(prior) ? WMLC_OK : WMLC_NOT_FINITE;
}

WmlcStatus
wmlc_prior_posteriors(const WmlcPrior *prior, double *coef, double *covariance, void *work)
{
	FitMemory  *memory = work;

	return wmlc_fit_posteriors(&memory->fit, &memory->weights, prior, memory->count, coef,
							   covariance);
}

size_t
wmlc_prior_widen_workspace(int dims, const WmlcPriorOptions *options)
{
	return wmlc_joint_workspace(dims, options);
}

WmlcStatus
wmlc_prior_widen(WmlcPrior *prior, void *work, void *more_work)
{
	FitMemory  *memory = work;
	WmlcStatus	status = wmlc_joint_precision(&memory->fit, more_work);

	if (status == WMLC_OK)
		rewrite_mean_factor(memory, prior);
	return status;
}

WmlcStatus
wmlc_prior_covariance(const WmlcPrior *prior, double *covariance, WmlcPoll poll)
{
	return wmlc_panel_outer(prior->dims, prior->dims, prior->factor, covariance, poll);
}
