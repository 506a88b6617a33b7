/*
 * glm.c
 *	  A generalised linear model of one set of rows: see glm.h.
 */
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/golden.h"
#include "core/glm/glm.h"
#include "core/linalg/solve.h"

/*
 * The iteration ends when the square of the step, in standard errors, is below
 * this, or when it is small and rounding keeps it from getting smaller.
 */
#define LEAST_STEP 1e-18
#define SMALL_STEP 1e-14

/*
 * Rows that are perfectly told apart move by about 1 in each iteration, however
 * little that gains.
 */
#define SEPARATED_MOVE 0.3
#define SEPARATED_STEP 1e-4
#define SEPARATED_TIMES 3

/* Under Firth's penalty no predictor moves further in one iteration. */
#define LARGEST_MOVE 2.0
#define MOST_HALVINGS 30
#define DISPERSION_ROUNDS 50
#define DISPERSION_TOLERANCE 1e-7
#define DISPERSION_WIDTH 1e-8
#define LEAST_LOG_DISPERSION -16.0
#define LARGEST_LOG_DISPERSION 10.0

typedef struct Fit
{
	const WmlcGlmRows *rows;
	const WmlcGlmOptions *options;
	WmlcLikelihood likelihood;
	WmlcGlm    *model;
	WmlcSolver	solver;
	WmlcGram   *gram;
	double	   *space;			/* of wmlc_working_gram */
	void	   *solver_work;
	WmlcDd	   *rhs;
	WmlcDd	   *solution;
	double	   *coef;			/* where the gram is taken */
	double	   *last;			/* the point before */
	double	   *step;
	double	   *inverse;		/* of X'VX, for leverages */
	double	   *pull;			/* what Firth's penalty adds to the score */
	double		leverage;		/* the largest of a row */
} Fit;

static size_t
fit_layout(Fit *fit, int dims, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;

	fit->gram = wmlc_arena_take(&arena, 1, wmlc_gram_bytes(dims));
	fit->space = wmlc_arena_doubles(&arena, wmlc_row_batch_doubles(dims));
	fit->solver_work = wmlc_arena_take(&arena, 1, wmlc_solve_workspace(dims));
	fit->rhs = wmlc_arena_take(&arena, d, sizeof(WmlcDd));
	fit->solution = wmlc_arena_take(&arena, d, sizeof(WmlcDd));
	fit->coef = wmlc_arena_doubles(&arena, d);
	fit->last = wmlc_arena_doubles(&arena, d);
	fit->step = wmlc_arena_doubles(&arena, d);
	fit->inverse = wmlc_arena_doubles(&arena, d * d);
	fit->pull = wmlc_arena_doubles(&arena, d);
	return arena.used;
}

size_t
wmlc_glm_workspace(int dims)
{
	Fit			fit;

	return fit_layout(&fit, dims, NULL);
}

/* Deviance plus penalty at the coefficients; infinite where it overflows. */
static double
find_objective(const Fit *fit, double *deviance)
{
	const WmlcGlmRows *rows = fit->rows;
	int			d = rows->dims;
	double		sum = 0.0,
				squares = 0.0;

	for (size_t i = 0; i < rows->count; i++)
	{
		WmlcResponse response = wmlc_glm_response(rows, i);

		sum += wmlc_likelihood_deviance(&fit->likelihood, &response,
										wmlc_predictor(d, rows->x + i * d, fit->coef));
	}
	for (int i = 0; i < d; i++)
		squares += fit->coef[i] * fit->coef[i];
	if (deviance != NULL)
		*deviance = sum;
	sum += fit->options->ridge * squares;
	return isfinite(sum) ? sum : INFINITY;
}

static WmlcStatus
collect(Fit *fit, const double *coef)
{
	double		ignored = 0.0;

	return wmlc_working_gram(&fit->likelihood, fit->rows, 0, fit->rows->count, coef, NULL,
							 fit->gram, &ignored, fit->space, fit->options->poll);
}

static WmlcStatus
factor(Fit *fit)
{
	int			d = fit->rows->dims;

	return wmlc_solve_factor(&fit->solver, d, d + 1, fit->gram->sums,
							 fit->gram->sums + wmlc_gram_entries(d),
							 (double) wmlc_gram_weighted_rows(fit->gram), fit->options->ridge,
							 fit->solver_work, fit->options->poll);
}

/* The factored system's solution, with Firth's pull or without. */
static WmlcStatus
solve(Fit *fit, bool firth, double *w)
{
	int			d = fit->rows->dims;
	WmlcStatus	status;

	for (int i = 0; i < d; i++)
	{
		fit->rhs[i] = wmlc_gram_sum(fit->gram, i, d);
		if (firth)
			fit->rhs[i] = wmlc_dd_add(fit->rhs[i], wmlc_dd(fit->pull[i]));
	}
	status = wmlc_solve(&fit->solver, fit->rhs, fit->solution, fit->options->poll);
	for (int i = 0; status == WMLC_OK && i < d; i++)
		w[i] = wmlc_dd_value(fit->solution[i]);
	return status;
}

/* What the step from coef is worth, in squared standard errors. */
static double
step_size(const Fit *fit)
{
	int			d = fit->rows->dims;
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
	{
		double		product = fit->options->ridge * fit->step[i];

		for (int j = 0; j < d; j++)
			product += wmlc_dd_value(wmlc_gram_sum(fit->gram, i, j)) * fit->step[j];
		sum += product * fit->step[i];
	}
	return sum;
}

/* The furthest that the step moves the predictor of a row with weight. */
static double
largest_move(const Fit *fit)
{
	const WmlcGlmRows *rows = fit->rows;
	int			d = rows->dims;
	double		largest = 0.0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->weight == NULL || rows->weight[i] > 0.0)
			largest = fmax(largest, fabs(wmlc_predictor(d, rows->x + i * d, fit->step)));
	return largest;
}

/* The inverse of the factored matrix, by columns. */
static WmlcStatus
invert(Fit *fit)
{
	int			d = fit->rows->dims;

	for (int k = 0; k < d; k++)
	{
		WmlcStatus	status;

		for (int i = 0; i < d; i++)
			fit->rhs[i] = wmlc_dd(i == k ? 1.0 : 0.0);
		status = wmlc_solve(&fit->solver, fit->rhs, fit->solution, fit->options->poll);
		if (status != WMLC_OK)
			return status;
		for (int i = 0; i < d; i++)
			fit->inverse[i + (size_t) k * d] = wmlc_dd_value(fit->solution[i]);
	}
	return WMLC_OK;
}

static WmlcStatus
find_pull(Fit *fit)
{
	const WmlcGlmRows *rows = fit->rows;
	int			d = rows->dims;
	WmlcStatus	status = invert(fit);

	if (status != WMLC_OK)
		return status;
	memset(fit->pull, 0, d * sizeof(double));
	fit->leverage = 0.0;
	for (size_t i = 0; i < rows->count; i++)
	{
		const double *x = rows->x + i * d;
		WmlcResponse response = wmlc_glm_response(rows, i);
		double		eta = wmlc_predictor(d, x, fit->coef);
		WmlcWorkingRow row = wmlc_working_row(&fit->likelihood, &response, eta, WMLC_POINT);
		double		leverage = row.weight * wmlc_predictor_variance(d, x, fit->inverse);
		double		pull = leverage * wmlc_likelihood_firth(&fit->likelihood, &response, eta);

		if (i % 4096 == 0 && wmlc_interrupted(fit->options->poll))
			return WMLC_INTERRUPTED;
		fit->leverage = fmax(fit->leverage, leverage);
		for (int k = 0; k < d; k++)
			fit->pull[k] += pull * x[k];
	}
	return WMLC_OK;
}

static void
set_step(Fit *fit)
{
	for (int i = 0; i < fit->rows->dims; i++)
		fit->step[i] -= fit->coef[i];
}

static void
make_step(Fit *fit, double share)
{
	int			d = fit->rows->dims;

	memcpy(fit->last, fit->coef, d * sizeof(double));
	for (int i = 0; i < d; i++)
		fit->coef[i] += share * fit->step[i];
}

/*
 * Come back half of the way while the objective is worse than it was.  Returns
 * the objective; infinite when there is no way out.
 */
static double
come_back(Fit *fit, double before)
{
	double		objective = find_objective(fit, NULL);

	for (int i = 0; i < MOST_HALVINGS; i++)
	{
		if (objective <= before + 1e-9 * fabs(before))
			break;
		for (int k = 0; k < fit->rows->dims; k++)
			fit->coef[k] = 0.5 * (fit->coef[k] + fit->last[k]);
		objective = find_objective(fit, NULL);
	}
	return objective;
}

static bool
is_last_step(double size, double size_before)
{
	return size <= LEAST_STEP || (size <= SMALL_STEP && size >= size_before);
}

static int
most_iterations(const WmlcGlmOptions *options)
{
	return options->max_iterations > 0 ? options->max_iterations : WMLC_GLM_ITERATIONS;
}

/* Newton's method from fit->coef. */
static WmlcStatus
iterate(Fit *fit)
{
	WmlcGlm    *model = fit->model;
	double		objective = find_objective(fit, NULL);
	double		size = INFINITY;
	int			times = 0;

	model->converged = model->separated = false;
	while (!model->converged && model->iterations < most_iterations(fit->options))
	{
		WmlcStatus	status = collect(fit, fit->coef);
		double		size_before = size;

		if (status == WMLC_OK)
			status = factor(fit);
		if (status == WMLC_OK)
			status = solve(fit, false, fit->step);
		if (status != WMLC_OK)
			return status;
		model->iterations++;
		set_step(fit);
		size = step_size(fit);
		model->converged = is_last_step(size, size_before);
		times = size < SEPARATED_STEP && largest_move(fit) > SEPARATED_MOVE ? times + 1 : 0;
		if (times == SEPARATED_TIMES)
		{
			model->separated = true;
			return WMLC_OK;
		}
		make_step(fit, 1.0);
		if (!model->converged)
			objective = come_back(fit, objective);
		if (!isfinite(objective))
			return WMLC_NOT_FINITE;
	}
	return WMLC_OK;
}

/*
 * The same under Firth's penalty, from zero, in small steps.  The information of a
 * row with the leverage h is about 1 + h times what the working gram says.
 */
static WmlcStatus
iterate_firth(Fit *fit)
{
	WmlcGlm    *model = fit->model;
	double		size = INFINITY;

	memset(fit->coef, 0, fit->rows->dims * sizeof(double));
	model->converged = false;
	for (int i = 0; !model->converged && i < 5 * most_iterations(fit->options); i++)
	{
		WmlcStatus	status = collect(fit, fit->coef);
		double		size_before = size,
					move;

		if (status == WMLC_OK)
			status = factor(fit);
		if (status == WMLC_OK)
			status = find_pull(fit);
		if (status == WMLC_OK)
			status = solve(fit, true, fit->step);
		if (status != WMLC_OK)
			return status;
		model->iterations++;
		set_step(fit);
		size = step_size(fit);
		model->converged = is_last_step(size, size_before);
		move = largest_move(fit);
		make_step(fit, fmin(1.0 / (1.0 + fit->leverage), LARGEST_MOVE / fmax(move, LARGEST_MOVE)));
	}
	return WMLC_OK;
}

static double
find_loglik(const Fit *fit)
{
	const WmlcGlmRows *rows = fit->rows;
	int			d = rows->dims;
	double		sum = 0.0;

	for (size_t i = 0; i < rows->count; i++)
	{
		WmlcResponse response = wmlc_glm_response(rows, i);
		double		eta = wmlc_predictor(d, rows->x + i * d, fit->coef);

		sum += response.weight * (wmlc_likelihood_shape(&fit->likelihood, &response, eta)
								  + wmlc_likelihood_constant(&fit->likelihood, &response));
	}
	return sum;
}

/* How unlikely the rows are at this dispersion and these coefficients. */
static double
unlikely_at(void *arg, double log_dispersion)
{
	Fit		   *fit = arg;

	fit->likelihood.dispersion = exp(log_dispersion);
	return -find_loglik(fit);
}

/* Coefficients and dispersion in turn. */
static WmlcStatus
iterate_dispersion(Fit *fit)
{
	double		width = INFINITY;

	for (int i = 0; i < DISPERSION_ROUNDS; i++)
	{
		double		before = log(fit->likelihood.dispersion);
		double		best;
		double		change;
		WmlcStatus	status;

		best = wmlc_golden_section(unlikely_at, fit, fmax(before - width, LEAST_LOG_DISPERSION),
								   fmin(before + width, LARGEST_LOG_DISPERSION),
								   DISPERSION_WIDTH, fit->options->poll);
		fit->likelihood.dispersion = exp(best);
		change = fabs(best - before);
		fit->model->iterations = 0;
		status = iterate(fit);
		if (status != WMLC_OK || fit->model->separated || change < DISPERSION_TOLERANCE)
			return status;
		width = i > 2 ? fmax(10.0 * change, 1e-4) : INFINITY;
	}
	fit->model->converged = false;
	return WMLC_OK;
}

static WmlcStatus
write_model(Fit *fit)
{
	WmlcGlm    *model = fit->model;
	int			d = fit->rows->dims;
	double		scale = 1.0;
	WmlcStatus	status = collect(fit, fit->coef);

	if (status == WMLC_OK)
		status = factor(fit);
	if (status == WMLC_OK)
		status = wmlc_solve_inverse_diagonal(&fit->solver, fit->solution, fit->options->poll);
	if (status != WMLC_OK)
		return status;
	(void) find_objective(fit, &model->deviance);
	model->rank = fit->solver.factor.rank;
	model->dispersion = fit->likelihood.dispersion;
	model->loglik = find_loglik(fit);
	if (fit->likelihood.family == WMLC_GAUSSIAN)
	{
		double		n = (double) wmlc_gram_weighted_rows(fit->gram);

		scale = model->dispersion = n > model->rank ? model->deviance / (n - model->rank) : NAN;
		model->loglik = -0.5 * n * (log(2.0 * M_PI * model->deviance / n) + 1.0);
	}
	for (int i = 0; i < d; i++)
	{
		model->coef[i] = fit->coef[i];
		model->std_error[i] = sqrt(scale * wmlc_dd_value(fit->solution[i]));
		if (!isfinite(model->coef[i]))
			return WMLC_NOT_FINITE;
	}
	return WMLC_OK;
}

/* From the responses alone, if that is better than zero. */
static WmlcStatus
start(Fit *fit)
{
	int			d = fit->rows->dims;
	double		at_zero;
	WmlcStatus	status;

	memset(fit->coef, 0, d * sizeof(double));
	at_zero = find_objective(fit, NULL);
	status = collect(fit, NULL);
	if (status == WMLC_OK)
		status = factor(fit);
	if (status == WMLC_OK)
		status = solve(fit, false, fit->coef);
	if (status == WMLC_OK && !(find_objective(fit, NULL) <= at_zero))
		memset(fit->coef, 0, d * sizeof(double));
	return status;
}

WmlcStatus
wmlc_glm_fit(const WmlcGlmRows *rows, const WmlcGlmOptions *options, WmlcGlm *model, void *work)
{
	Fit			fit = {.rows = rows, .options = options, .likelihood = options->likelihood,
	.model = model};
	bool		firth = options->firth;
	WmlcStatus	status;

	(void) fit_layout(&fit, rows->dims, work);
	model->iterations = 0;
	model->separated = model->converged = false;
	if (options->find_dispersion)
		fit.likelihood.dispersion = 1.0;
	status = start(&fit);
	if (status == WMLC_OK && !firth)
		status = iterate(&fit);
	if (status == WMLC_OK && !firth && options->find_dispersion && !model->separated)
		status = iterate_dispersion(&fit);
	if (status == WMLC_OK && (firth || model->separated))
		status = iterate_firth(&fit);
	return status == WMLC_OK ? write_model(&fit) : status;
}
