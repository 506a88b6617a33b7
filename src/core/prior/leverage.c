/*
 * leverage.c
 *	  A feature that varies much more in a few tasks than in all others.
 */
#include "core/prior/leverage.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/prior/prior_internal.h"

/* A variance below this share of the mean square is rounding. */
#define NO_VARIANCE 0x1p-90

/* The largest share of a task's rows that is taken for mistyped, one row at the least */
#define MOST_ROWS 0.1

static WmlcDd
moment(const WmlcPriorTasks *tasks, size_t task, int i, int j)
{
	int			p = tasks->dims + 1;
	size_t		at = task * wmlc_triangle_size(p) + wmlc_triangle_index(p, i < j ? i : j, i < j ? j : i);

	return wmlc_dd_normalize((WmlcDd) {tasks->moments[at], tasks->moments_lo == NULL ? 0.0 : tasks->moments_lo[at]});
}

static bool
counts(const WmlcPriorTasks *tasks, size_t task)
{
	return tasks->rows[task] > 0.0 && (tasks->alpha == NULL || tasks->alpha[task] > 0.0);
}

/* A feature in one task: the logarithm of its variance is as small as can be if there is none. */
typedef struct Feature
{
	double		mean;
	double		variance;
	double		log_variance;
} Feature;

static Feature
describe(const WmlcPriorTasks *tasks, size_t task, int constant, int feature)
{
	WmlcDd		weight = moment(tasks, task, constant, constant);
	WmlcDd		mean = wmlc_dd_div(moment(tasks, task, constant, feature), weight);
	WmlcDd		square = wmlc_dd_div(moment(tasks, task, feature, feature), weight);
	double		variance = wmlc_dd_sub(square, wmlc_dd_mul(mean, mean)).hi;
	bool		varies = variance > NO_VARIANCE * square.hi && variance >= DBL_MIN && variance <= DBL_MAX;

	return (Feature) {.mean = mean.hi, .variance = variance, .log_variance = log(varies ? variance : DBL_MIN)};
}

/*
 * A share s of rows far away on one side moves the mean by the square root of s / (1 - s) standard deviations.
 * A mean much farther than a few rows would move it is that of a task which is elsewhere, a long history
 * among short ones for instance.
 */
static bool
is_elsewhere(const Feature *feature, double rows, double usual_mean)
{
	double		shift = feature->mean - usual_mean;

	return shift * shift > 2.0 * fmax(1.0 / fmax(rows - 1.0, 1.0), MOST_ROWS) * feature->variance;
}

static double
median_mean(const WmlcPriorTasks *tasks, int constant, int feature, double *sorted)
{
	size_t		count = 0;

	for (size_t j = 0; j < tasks->count; j++)
		if (counts(tasks, j))
			sorted[count++] = describe(tasks, j, constant, feature).mean;
	wmlc_sort(sorted, count);
	return sorted[(count - 1) / 2];
}

/* Judge one feature, and keep it if it is farther beyond its limit than the one before. */
static WmlcStatus
judge(const WmlcPriorTasks *tasks, int constant, int feature, WmlcPoll poll, double *sorted, bool *marked,
	  double *farthest, WmlcLeverage *leverage)
{
	size_t		count = 0;
	double		most = -INFINITY;
	double		middle,
				limit,
				usual_mean;
	WmlcLeverage found = {.feature = feature};

	for (size_t j = 0; j < tasks->count; j++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (counts(tasks, j))
			sorted[count++] = describe(tasks, j, constant, feature).log_variance;
	}
	if (count < WMLC_LEVERAGE_TASKS)
		return WMLC_OK;
	wmlc_sort(sorted, count);
	middle = sorted[(count - 1) / 2];
	limit = wmlc_upper_limit(sorted, count, WMLC_LEVERAGE_FAR);

	/* where the feature is the same in all rows of most tasks, any variance would be too much */
	if (!(middle > log(DBL_MIN) && sorted[count - 1] > limit))
		return WMLC_OK;
	usual_mean = median_mean(tasks, constant, feature, sorted);
	for (size_t j = 0; j < tasks->count; j++)
	{
		Feature		own;

		if (!counts(tasks, j))
			continue;
		own = describe(tasks, j, constant, feature);
		if (!(own.log_variance > limit) || is_elsewhere(&own, tasks->rows[j], usual_mean))
			continue;
		marked[j] = true;
		found.tasks++;
		if (!(own.log_variance > most))
			continue;
		most = own.log_variance;
		found.worst = j;
	}
	found.ratio = exp(0.5 * (most - middle));
	if (most - limit > *farthest)
	{
		*farthest = most - limit;
		*leverage = found;
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_leverage(const WmlcPriorTasks *tasks, int constant, WmlcPoll poll, double *work, bool *marked,
			  WmlcLeverage *leverage)
{
	double		farthest = 0.0;
	WmlcStatus	status = WMLC_OK;

	*leverage = (WmlcLeverage) {.feature = -1};
	memset(marked, false, tasks->count * sizeof(bool));
	for (int i = 0; i < tasks->dims && status == WMLC_OK; i++)
		status = i == constant ? WMLC_OK
			: judge(tasks, constant, i, poll, work, marked, &farthest, leverage);
	return status;
}
