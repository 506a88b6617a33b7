/*
 * calibrate.c
 *	  How far off predictions may be, learned from rehearsals.
 */
#include "core/compare/calibrate.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/student.h"
#include "core/model/adapt.h"
#include "core/model/ensemble.h"

/* Predictions are not surer than to so much of the squared error, whatever rehearsals say. */
#define LEAST_SURPRISE 1e-6

typedef struct State
{
	double	   *truth;
	double	   *residuals;		/* mean squared, of the truth on the unknown rows */
	double	   *errors;			/* of what was found */
	void	   *work;
} State;

static size_t
lay_out(State *state, int d, size_t count, void *base)
{
	WmlcArena	arena = {base, 0};

	state->truth = wmlc_arena_doubles(&arena, d);
	state->residuals = wmlc_arena_doubles(&arena, count);
	state->errors = wmlc_arena_doubles(&arena, count);
	state->work = wmlc_arena_take(&arena, wmlc_ensemble_workspace(d), 1);
	return arena.used;
}

size_t
wmlc_calibrate_workspace(int d, size_t count)
{
	State		state;

	return lay_out(&state, d, count, NULL);
}

/* Sum of C_ij A_ij, A the second moment of the features. */
static double
mean_variance(const WmlcCalibration *calibration, const WmlcGram *gram)
{
	int			d = gram->dims;
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
	{
		for (int j = 0; j < d; j++)
			sum += calibration->covariance[(size_t) i * d + j] *
				wmlc_dd_value(wmlc_gram_moment(gram, i, j));
	}
	return fmax(sum, 0.0);
}

/* One rehearsal's share in C; its errors. */
static WmlcStatus
add_rehearsal(WmlcCalibration *calibration, const WmlcTrial *trial, const double *w, double share,
			  State *state, double *residual, double *error, WmlcPoll poll)
{
	int			d = trial->whole->dims;
	WmlcStatus	status = wmlc_task_coefficients(trial->whole, state->truth, state->work, poll);

	if (status == WMLC_OK)
		status = wmlc_mse(trial->unknown, state->truth, residual);
	if (status == WMLC_OK)
		status = wmlc_mse(trial->unknown, w, error);
	for (int i = 0; i < d && status == WMLC_OK; i++)
	{
		for (int j = 0; j < d; j++)
			calibration->covariance[(size_t) i * d + j] += share *
				(w[i] - state->truth[i]) * (w[j] - state->truth[j]);
	}
	return status;
}

WmlcStatus
wmlc_calibrate(WmlcCalibration *calibration, int d, size_t count, const WmlcTrial *trials,
			   const double *coefficients, size_t stride, double actors, void *work, WmlcPoll poll)
{
	State		state;

	lay_out(&state, d, count, work);
	memset(calibration->covariance, 0, (size_t) d * d * sizeof(double));
	calibration->noise = 0.0;
	calibration->count = count;
	calibration->degrees = fmax(actors - 1.0, 1.0);
	for (size_t r = 0; r < count; r++)
	{
		WmlcStatus	status = add_rehearsal(calibration, &trials[r], coefficients + r * stride,
										   1.0 / (double) count, &state, &state.residuals[r],
										   &state.errors[r], poll);

		if (status != WMLC_OK)
			return status;
		calibration->noise += state.residuals[r] / (double) count;
	}
	for (size_t r = 0; r < count; r++)
	{
		double		expected = calibration->noise + mean_variance(calibration, trials[r].unknown);

		calibration->surprises[r] = expected > 0.0
			? fmax(state.errors[r] / expected, LEAST_SURPRISE) : 1.0;
	}
	return WMLC_OK;
}

/* The probability that an error stays below so many times sqrt(v). */
static double
probability(const WmlcCalibration *calibration, double bound)
{
	double		tails = 0.0;

	for (size_t r = 0; r < calibration->count; r++)
		tails += wmlc_student_tail(bound / sqrt(calibration->surprises[r]), calibration->degrees);
	return 1.0 - 2.0 * tails / (double) calibration->count;
}

double
wmlc_calibrated_bound(const WmlcCalibration *calibration, double level)
{
	double		low = INFINITY;
	double		high = 0.0;
	double		bound = wmlc_student_bound(level, calibration->degrees);

	if (calibration->count == 0)
		return NAN;

	/* between what the easiest and the hardest rehearsal alone would need */
	for (size_t r = 0; r < calibration->count; r++)
	{
		low = fmin(low, sqrt(calibration->surprises[r]) * bound);
		high = fmax(high, sqrt(calibration->surprises[r]) * bound);
	}
	for (int i = 0; i < 100 && high - low > 1e-12 * high; i++)
	{
		double		middle = 0.5 * (low + high);

		if (probability(calibration, middle) < level)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double
wmlc_calibrated_variance(const WmlcCalibration *calibration, int d, const double *x)
{
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
	{
		for (int j = 0; j < d; j++)
			sum += x[i] * x[j] * calibration->covariance[(size_t) i * d + j];
	}
	return fmax(sum, 0.0);
}
