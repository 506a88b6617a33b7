/*
 * test_hierarchy_correct.c
 *	  Means, covariances and evidence of small tasks by brute force: corrections
 *	  leave less of the error than expectation propagation, of covariances and evidence
 *	  far less, and can be undone.
 */
#include "check.h"
#include "core/glm/hierarchy_correct.h"

#define ROWS 10

typedef struct Task
{
	double		x[ROWS * 2];
	double		y[ROWS];
	WmlcWorkingRow rows[ROWS];
	double		precision[4];	/* of the working gram */
	double		pull[2];
	double		squares;
	double		log_scale;
} Task;

typedef struct Normal
{
	double		mean[2];
	double		covariance[4];
	double		log_total;
} Normal;

/* The prior: coefficients about (-1.5, 0.5), with standard deviations 1 and 0.7. */
static const double prior_mean[2] = {-1.5, 0.5};
static const double prior_precision[2] = {1.0, 1.0 / 0.49};

static void
draw_task(Task *task, uint64_t *seed)
{
	double		w[2];

	for (int k = 0; k < 2; k++)
		w[k] = prior_mean[k] + check_normal(seed) / sqrt(prior_precision[k]);
	for (int i = 0; i < ROWS; i++)
	{
		task->x[2 * i] = 1.0;
		task->x[2 * i + 1] = check_normal(seed);
		task->y[i] = check_random(seed) < 1.0 / (1.0 + exp(-w[0] - w[1] * task->x[2 * i + 1]));
		task->rows[i] = (WmlcWorkingRow) {.weight = 0.0};
	}
}

/* The posterior of the working gram, and the logarithm of what its density has as a factor. */
static Normal
find_posterior(const Task *task)
{
	double		p[3] = {task->precision[0] + prior_precision[0], task->precision[1], task->precision[3] + prior_precision[1]};
	double		h[2] = {task->pull[0] + prior_precision[0] * prior_mean[0], task->pull[1] + prior_precision[1] * prior_mean[1]};
	double		det = p[0] * p[2] - p[1] * p[1];
	Normal		result = {.covariance = {p[2] / det, -p[1] / det, -p[1] / det, p[0] / det}};

	for (int k = 0; k < 2; k++)
		result.mean[k] = result.covariance[2 * k] * h[0] + result.covariance[2 * k + 1] * h[1];
	result.log_total = 0.5 * (log(prior_precision[0] * prior_precision[1] / det) + result.mean[0] * h[0] + result.mean[1] * h[1]
							  - prior_precision[0] * prior_mean[0] * prior_mean[0] - prior_precision[1] * prior_mean[1] * prior_mean[1]
							  - task->squares) + task->log_scale;
	return result;
}

static void
gather(Task *task)
{
	task->squares = task->log_scale = 0.0;
	for (int k = 0; k < 2; k++)
	{
		task->pull[k] = 0.0;
		for (int l = 0; l < 2; l++)
			task->precision[2 * k + l] = 0.0;
	}
	for (int i = 0; i < ROWS; i++)
	{
		const WmlcWorkingRow *row = &task->rows[i];
		const double *x = task->x + 2 * i;

		for (int k = 0; k < 2; k++)
		{
			task->pull[k] += row->weight * x[k] * row->response;
			for (int l = 0; l < 2; l++)
				task->precision[2 * k + l] += row->weight * x[k] * x[l];
		}
		task->squares += row->weight * row->response * row->response;
		task->log_scale += row->log_scale;
	}
}

/* Expectation propagation under the prior. */
static Normal
propagate(Task *task)
{
	static const WmlcLikelihood binomial = {WMLC_BINOMIAL, 0.0};
	Normal		posterior;

	gather(task);
	for (int step = 0; step < 60; step++)
	{
		WmlcRowQueue queue = {.likelihood = &binomial, .again = true};

		posterior = find_posterior(task);
		for (int i = 0; i < ROWS; i++)
			wmlc_row_queue_add(&queue, &(WmlcResponse) {task->y[i], 1.0, 1.0}, wmlc_predictor(2, task->x + 2 * i, posterior.mean),
							   wmlc_predictor_variance(2, task->x + 2 * i, posterior.covariance), &task->rows[i]);
		wmlc_row_queue_flush(&queue);
		gather(task);
	}
	return find_posterior(task);
}

/* By sums over a grid. */
static Normal
integrate(const Task *task)
{
	double		sum[6] = {0.0};
	Normal		result;

	for (double a = -8.0; a <= 8.0; a += 0.05)
		for (double b = -8.0; b <= 8.0; b += 0.05)
		{
			double		w[2] = {prior_mean[0] + a, prior_mean[1] + 0.7 * b};
			double		density = exp(-0.5 * (a * a + b * b)) * 0.05 * 0.05 / (2.0 * M_PI);

			for (int i = 0; i < ROWS; i++)
				density /= 1.0 + exp((task->y[i] > 0.0 ? -1.0 : 1.0) * wmlc_predictor(2, task->x + 2 * i, w));
			sum[0] += density;
			sum[1] += density * w[0];
			sum[2] += density * w[1];
			sum[3] += density * w[0] * w[0];
			sum[4] += density * w[0] * w[1];
			sum[5] += density * w[1] * w[1];
		}
	result.log_total = log(sum[0]);
	for (int k = 0; k < 2; k++)
		result.mean[k] = sum[k + 1] / sum[0];
	for (int k = 0; k < 2; k++)
		for (int l = 0; l < 2; l++)
			result.covariance[2 * k + l] = sum[3 + k + l] / sum[0] - result.mean[k] * result.mean[l];
	return result;
}

static void
add_errors(const Normal *found, const Normal *right, double *errors)
{
	errors[0] += fabs(found->mean[0] - right->mean[0]) + fabs(found->mean[1] - right->mean[1]);
	for (int k = 0; k < 4; k++)
		errors[1] += fabs(found->covariance[k] - right->covariance[k]);
	errors[2] += fabs(found->log_total - right->log_total);
}

int
main(void)
{
	double		plain[3] = {0.0},
				corrected[3] = {0.0};
	uint64_t	seed = 4;

	for (int repeat = 0; repeat < 30; repeat++)
	{
		Task		task;
		Normal		before,
					after,
					right;
		double		precision[4],
					pull[2],
					squares;
		WmlcCorrection correction = {precision, pull};

		draw_task(&task, &seed);
		before = propagate(&task);
		right = integrate(&task);
		task.log_scale += wmlc_correction_find(2, ROWS, task.x, task.rows, before.mean, before.covariance, &correction, &squares);
		task.squares += squares;
		for (int k = 0; k < 2; k++)
		{
			task.pull[k] += pull[k];
			for (int l = 0; l < 2; l++)
				task.precision[2 * k + l] += precision[2 * k + l];
		}
		after = find_posterior(&task);
		CHECK(task.precision[0] > 0.0 && task.precision[0] * task.precision[3] > task.precision[1] * task.precision[1], "no sums of rows");
		add_errors(&before, &right, plain);
		add_errors(&after, &right, corrected);
		wmlc_correction_undo(2, &correction, after.mean, after.covariance);
		for (int k = 0; k < 2; k++)
			CHECK_NEAR(after.mean[k], before.mean[k], 1e-12);
		for (int k = 0; k < 4; k++)
			CHECK_NEAR(after.covariance[k], before.covariance[k], 1e-12);
	}
	CHECK(corrected[0] < 0.9 * plain[0], "means: %g instead of %g", corrected[0], plain[0]);
	CHECK(corrected[1] < 0.25 * plain[1], "covariances: %g instead of %g", corrected[1], plain[1]);
	CHECK(corrected[2] < 0.25 * plain[2], "evidence: %g instead of %g", corrected[2], plain[2]);
	return check_summary();
}
