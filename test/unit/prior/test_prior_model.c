/*
 * test_prior_model.c
 *	  Inside the prior's fit: gradient and second derivatives of the objective
 *	  against finite differences.
 */
#include "core/prior/prior_internal.h"
#include "prior/prior_fixture.h"

/* The objective at a point, from the sums of a sweep; see prior_fit.c. */
static double
objective(WmlcPriorFit *fit, WmlcPriorPoint *point)
{
	int			r = fit->reduced.rank;
	double		log_det,
				squares,
				rss;
	double	   *p = malloc((size_t) r * r * sizeof(double));

	memset(point->mean, 0, r * sizeof(double));
	CHECK(wmlc_sweep_value(&fit->sweep, point, fit->pull, &log_det, &squares) == WMLC_OK, "sweep");
	memcpy(p, point->precision, (size_t) r * r * sizeof(double));
	CHECK(dense_cholesky(r, p), "precision");
	for (int i = 0; i < r; i++)
		for (int j = 0; j < r; j++)
			point->precision_factor[i + j * r] = j <= i ? p[i * r + j] : 0.0;
	dense_forward(r, p, fit->pull);
	rss = fit->reduced.within + squares;
	for (int i = 0; i < r; i++)
		rss -= fit->pull[i] * fit->pull[i];
	dense_backward(r, p, fit->pull);
	memcpy(point->mean, fit->pull, r * sizeof(double));
	point->noise = rss / fit->degrees;
	log_det += fit->degrees * (log(2.0 * M_PI * point->noise) + 1.0);
	for (int i = 0; i < r && fit->slope.reml; i++)
		log_det += 2.0 * log(p[i * r + i]);
	free(p);
	return log_det + wmlc_model_penalty(&fit->model, &fit->reduced, point, fit->options->evenness);
}

/* Rotate lambda so that Lambda'P Lambda is diagonal and ascending, as the model expects. */
static void
rotate(WmlcPriorFit *fit, WmlcPriorPoint *point)
{
	int			r = fit->reduced.rank;
	double		gram[16] = {0},
				values[4],
				turned[16] = {0};

	for (int k = 0; k < r; k++)
		for (int l = 0; l < r; l++)
			for (int i = 0; i < r; i++)
				for (int j = 0; j < r; j++)
					gram[k + l * r] += point->lambda[i * r + k] * point->precision[i + j * r]
						* point->lambda[j * r + l];
	wmlc_model_eigen(&fit->model, r, gram, values);
	for (int i = 0; i < r; i++)
		for (int k = 0; k < r; k++)
			for (int l = 0; l < r; l++)
				turned[i * r + k] += point->lambda[i * r + l] * gram[l + k * r];
	memcpy(point->lambda, turned, (size_t) r * r * sizeof(double));
}

/* f at Lambda (I + t E) */
static double
moved(WmlcPriorFit *fit, const double *e, double t)
{
	const WmlcPriorPoint *from = &fit->current;
	int			r = fit->reduced.rank;
	int			m = from->directions;

	fit->trial.directions = m;
	for (int i = 0; i < r; i++)
		for (int k = 0; k < m; k++)
		{
			fit->trial.lambda[i * m + k] = from->lambda[i * m + k];
			for (int l = 0; l < m; l++)
				fit->trial.lambda[i * m + k] += t * from->lambda[i * m + l] * e[l * m + k];
		}
	return objective(fit, &fit->trial);
}

/*
 * Along a random E: the gradient, and the Hessian once the slope term is put in
 * full, of which the model takes the positive part only.
 */
static void
check_derivatives(WmlcPriorFit *fit, uint64_t *state)
{
	WmlcPriorModel *model = &fit->model;
	bool		full = fit->options->covariance == WMLC_PRIOR_FULL;
	int			m = fit->current.directions;

	for (int trial = 0; trial < 5; trial++)
	{
		const double h = 2e-3;
		double		e[16] = {0},
					first = 0.0,
					second = 0.0,
					f[5];
		double		step[10] = {0};

		for (int l = 0; l < m; l++)
			for (int k = full ? 0 : l; k <= l; k++)
			{
				size_t		at = full ? triangle(l) + k : (size_t) l;

				step[at] = e[k * m + l] = check_normal(state);
				first += model->gradient[at] * step[at];
			}
		for (size_t i = 0; i < model->parameters; i++)
			for (size_t j = 0; j < model->parameters; j++)
				second += step[i] * model->hessian[i + j * model->parameters] * step[j];
		for (int l = 0; l < m; l++)
			for (int a = 0; a < m; a++)
				for (int b = 0; b < m; b++)
					if (full || a == b)
						second += 2.0 * (model->slope[a + b * m] - model->uphill[a + b * m])
							* e[a * m + l] * e[b * m + l];
		for (int k = 0; k < 5; k++)
			f[k] = moved(fit, e, (k - 2) * h);
		CHECK(fabs((8.0 * (f[3] - f[1]) - (f[4] - f[0])) / (12.0 * h) - first)
			  < 1e-6 * (1.0 + fabs(first)), "gradient %g", first);
		CHECK(fabs((16.0 * (f[3] + f[1]) - (f[4] + f[0]) - 30.0 * f[2]) / (12.0 * h * h) - second)
			  < 1e-4 * (1.0 + fabs(second)), "second derivative %.9g instead of %.9g", second,
			  (16.0 * (f[3] + f[1]) - (f[4] + f[0]) - 30.0 * f[2]) / (12.0 * h * h));
	}
}

/* Tasks with noises and scales of their own */
static void
differ(WmlcReduced *reduced, uint64_t *state)
{
	for (size_t b = 0; b < reduced->blocks; b++)
		for (int lane = 0; lane < WMLC_PRIOR_LANES; lane++)
		{
			wmlc_reduced_numbers(reduced, b)[WMLC_TASK_SCALE][lane] = exp(0.5 * check_normal(state));
			wmlc_reduced_numbers(reduced, b)[WMLC_TASK_GAIN][lane] = exp(0.5 * check_normal(state));
		}
}

static void
find_metric(WmlcPriorFit *fit)
{
	for (int k = 0; k < 3; k++)
	{
		double		sum = 0.0;

		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				sum += fit->current.lambda[i * 3 + k] * fit->current.precision[i + 3 * j]
					* fit->current.lambda[j * 3 + k];
		fit->model.metric[k] = sqrt(sum);
	}
}

static void
test_derivatives(void)
{
	const double mean[3] = {1.0, -2.0, 0.5};
	const double factor[9] = {1.0, 0.0, 0.0, 0.5, 0.8, 0.0, -0.3, 0.2, 0.4};
	uint64_t	state = 7;

	for (int round = 0; round < 16; round++)
	{
		TaskSet		set = draw_tasks(3, 6 + round, 1, 8, mean, factor, 0.7, &state);
		WmlcPriorTasks tasks = as_tasks(&set);
		WmlcPriorOptions options = {.method = round % 2, .covariance = round / 2 % 2,
			.evenness = round / 4 % 2 * 1.5};
		WmlcPriorFit fit = {.current = {0}};
		WmlcPriorWeights weights;
		WmlcArena	size = {NULL, 0},
					arena,
					scratch;

		weights.alpha = malloc(set.count * sizeof(double));
		wmlc_prior_reduce_layout(&fit.reduced, 3, set.count, &size);
		wmlc_fit_layout(&fit, 3, set.count, &options, &size);
		arena = (WmlcArena) {malloc(size.used), 0};
		scratch = (WmlcArena) {malloc(wmlc_prior_reduce_scratch(3)), 0};
		wmlc_prior_reduce_layout(&fit.reduced, 3, set.count, &arena);
		wmlc_fit_layout(&fit, 3, set.count, &options, &arena);
		CHECK(wmlc_prior_weigh(&tasks, &weights) == WMLC_OK, "weights");
		CHECK(wmlc_prior_reduce(&tasks, &weights, NULL, false, &fit.reduced, scratch, NULL) == WMLC_OK, "reduce");
		if (round >= 8)
			differ(&fit.reduced, &state);
		fit.sweep.reduced = &fit.reduced;
		fit.sweep.poll = NULL;
		fit.slope.reml = options.method == WMLC_PRIOR_REML;
		fit.slope.kind = WMLC_SLOPE_OBSERVED;
		fit.degrees = fit.reduced.rows - (fit.slope.reml ? 3.0 : 0.0);

		/* Any Lambda; for a diagonal S its columns only have to be independent. */
		fit.current.directions = 3;
		for (int i = 0; i < 9; i++)
			fit.current.lambda[i] = check_normal(&state);
		(void) objective(&fit, &fit.current);
		if (options.covariance == WMLC_PRIOR_FULL)
			rotate(&fit, &fit.current);
		(void) objective(&fit, &fit.current);
		fit.model.directions = 3;
		fit.model.dead = 0;
		CHECK(wmlc_sweep_slope(&fit.sweep, &fit.current, fit.current.lambda, 3, &fit.slope) == WMLC_OK,
			  "slope");
		find_metric(&fit);
		wmlc_model_slope(&fit.model, &fit.slope, &fit.current, &fit.reduced, options.evenness);
		wmlc_model_build(&fit.model, &fit.slope, &fit.current, &fit.reduced, fit.degrees,
						 options.evenness);
		check_derivatives(&fit, &state);

		free(arena.base);
		free(scratch.base);
		free(weights.alpha);
		free_tasks(&set);
	}
}

int
main(void)
{
	test_derivatives();
	return check_summary();
}
