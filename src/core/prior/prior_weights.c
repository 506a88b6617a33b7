/*
 * prior_weights.c
 *	  The weights with which tasks enter a prior's likelihood.
 */
#include "core/prior/prior_internal.h"

/* One weight per task, before any scaling; zero for a task without rows. */
static WmlcStatus
raw_weights(const WmlcPriorTasks *tasks, double *alpha)
{
	for (size_t j = 0; j < tasks->count; j++)
	{
		double		rows = tasks->rows[j];
		double		weight = tasks->alpha == NULL ? 1.0 : tasks->alpha[j];

		if (!isfinite(rows) || !isfinite(weight))
			return WMLC_NOT_FINITE;
		if (rows < 0.0 || weight < 0.0)
			return WMLC_OUT_OF_RANGE;
		alpha[j] = rows > 0.0 ? weight : 0.0;
	}
	return WMLC_OK;
}

/* Make the largest weight one: sums do not overflow, equal weights are exact. */
static void
scale_weights(size_t count, double *alpha)
{
	double		largest = 0.0;

	for (size_t j = 0; j < count; j++)
		largest = fmax(largest, alpha[j]);
	for (size_t j = 0; j < count && largest > 0.0; j++)
		alpha[j] /= largest;
}

/* (1 - temper) alpha / sum alpha + temper / J, up to a factor, over tasks with rows */
static void
temper_weights(const WmlcPriorTasks *tasks, double *alpha)
{
	double		sum = 0.0;
	double		with_rows = 0.0;

	for (size_t j = 0; j < tasks->count; j++)
	{
		sum += alpha[j];
		with_rows += tasks->rows[j] > 0.0;
	}
	for (size_t j = 0; j < tasks->count && sum > 0.0; j++)
		if (tasks->rows[j] > 0.0)
			alpha[j] = (1.0 - tasks->temper) * alpha[j] + tasks->temper * (sum / with_rows);
}

WmlcStatus
wmlc_prior_weigh(const WmlcPriorTasks *tasks, WmlcPriorWeights *weights)
{
	double	   *alpha = weights->alpha;
	double		sum = 0.0;
	double		squares = 0.0;
	WmlcStatus	status = raw_weights(tasks, alpha);

	if (status != WMLC_OK)
		return status;
	scale_weights(tasks->count, alpha);
	if (tasks->temper != 0.0)
		temper_weights(tasks, alpha);

	weights->tasks = weights->total = weights->rows = 0.0;
	for (size_t j = 0; j < tasks->count; j++)
	{
		sum += alpha[j];
		squares += alpha[j] * alpha[j];
	}
	for (size_t j = 0; j < tasks->count; j++)
	{
		if (alpha[j] == 0.0)
			continue;
		alpha[j] *= sum / squares;
		weights->tasks += 1.0;
		weights->total += alpha[j];
		weights->rows += alpha[j] * tasks->rows[j];
	}
	return isfinite(weights->rows) ? WMLC_OK : WMLC_NOT_FINITE;
}
