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

/* Means of them do not overflow. */
#define MOST_SURPRISE 1e100

/* How much known rows count in a scale: not at all, or up to 2^10 times as much as the prior. */
#define SHARES 17
#define LEAST_ODDS 0x1p-5

typedef struct State
{
	const WmlcRehearsed *rehearsed;
	WmlcCalibration *calibration;
	double	   *differences;	/* between what was found and the truth, count x d */
	size_t		determined;		/* how many have enough rows to tell the truth */
	double	   *residuals;		/* mean squared, of the truth on the unknown rows */
	double	   *errors;			/* of what was found there */
	double	   *known;			/* on the known rows; then relative to what is expected */
	double		mean_known;		/* of those */
	double		mean_rows;		/* known rows of a rehearsal */
	double	   *scales;
	void	   *work;
} State;

static size_t
lay_out(State *state, int d, size_t count, void *base)
{
	WmlcArena	arena = {base, 0};

	state->differences = wmlc_arena_doubles(&arena, count * d);
	state->residuals = wmlc_arena_doubles(&arena, count);
	state->errors = wmlc_arena_doubles(&arena, count);
	state->known = wmlc_arena_doubles(&arena, count);
	state->scales = wmlc_arena_doubles(&arena, count);
	state->work = wmlc_arena_take(&arena, wmlc_ensemble_workspace(d), 1);
	return arena.used;
}

size_t
wmlc_calibrate_workspace(int d, size_t count)
{
	State		state;

	return lay_out(&state, d, count, NULL);
}

/* v on average over the rows of a gram: s2 + sum of C_ij A_ij, A their second moment. */
static double
expected_square(const WmlcCalibration *calibration, const WmlcGram *gram)
{
	int			d = gram->dims;
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
	{
		for (int j = 0; j < d; j++)
			sum += calibration->covariance[(size_t) i * d + j] *
				wmlc_dd_value(wmlc_gram_moment(gram, i, j));
	}
	return calibration->noise + fmax(sum, 0.0);
}

/* How many times larger than expected a squared error is. */
static double
surprise(const WmlcCalibration *calibration, const WmlcGram *gram, double error)
{
	double		expected = expected_square(calibration, gram);

	return expected > 0.0 ? fmin(fmax(error / expected, LEAST_SURPRISE), MOST_SURPRISE) : 1.0;
}

/*
 * Whether the rows of a task determine its coefficients.  Those of a task that has
 * just begun are far from the truth, and its residuals vanish.
 */
static bool
is_determined(const WmlcTrial *trial)
{
	return wmlc_gram_effective_rows(trial->whole) > trial->whole->dims;
}

/* How far off each rehearsal was. */
static WmlcStatus
look_back(State *state, WmlcPoll poll)
{
	const WmlcRehearsed *rehearsed = state->rehearsed;
	int			d = rehearsed->d;
	WmlcStatus	status = WMLC_OK;

	for (size_t r = 0; r < rehearsed->count && status == WMLC_OK; r++)
	{
		const WmlcTrial *trial = &rehearsed->trials[r];
		const double *w = rehearsed->coefficients + r * rehearsed->stride;
		double	   *difference = state->differences + r * d;

		status = wmlc_task_coefficients(trial->whole, difference, state->work, poll);
		if (status == WMLC_OK)
			status = wmlc_mse(trial->unknown, difference, &state->residuals[r]);
		if (status == WMLC_OK)
			status = wmlc_mse(trial->unknown, w, &state->errors[r]);
		if (status == WMLC_OK)
			status = wmlc_mse(trial->known, w, &state->known[r]);
		for (int i = 0; i < d; i++)
			difference[i] = w[i] - difference[i];
		state->scales[r] = 1.0;
		state->determined += is_determined(trial);
	}
	return status;
}

/*
 * C and s2 for tasks of scale 1, of those that are determined, or of all if none is;
 * what the rehearsals have beyond their scales.
 */
static void
take_means(const State *state)
{
	const WmlcRehearsed *rehearsed = state->rehearsed;
	WmlcCalibration *calibration = state->calibration;
	int			d = rehearsed->d;
	size_t		count = state->determined > 0 ? state->determined : rehearsed->count;

	memset(calibration->covariance, 0, (size_t) d * d * sizeof(double));
	calibration->noise = 0.0;
	for (size_t r = 0; r < rehearsed->count; r++)
	{
		const double *difference = state->differences + r * d;
		double		share = 1.0 / state->scales[r] / (double) count;

		if (state->determined > 0 && !is_determined(&rehearsed->trials[r]))
			continue;
		calibration->noise += share * state->residuals[r];
		for (int i = 0; i < d; i++)
		{
			for (int j = 0; j < d; j++)
				calibration->covariance[(size_t) i * d + j] += share * difference[i] * difference[j];
		}
	}
	for (size_t r = 0; r < rehearsed->count; r++)
		calibration->surprises[r] = surprise(calibration, rehearsed->trials[r].unknown,
											 state->errors[r] / state->scales[r]);
}

/*
 * The scale of a task of which so many rows are known, with squared error k, if
 * `share` is the part that they would have in it were there as many of them as
 * rehearsals have on average: (a + n k / mean k) / (a + n).
 */
static double
find_scale(const State *state, double share, const WmlcGram *known, double k)
{
	double		rows = share * wmlc_gram_effective_rows(known);
	double		prior = (1.0 - share) * state->mean_rows;

	return (prior + rows * k / state->mean_known) / (prior + rows);
}

/* The sum of squares of log u that scales do not explain. */
static double
unexplained(const State *state, double share)
{
	size_t		count = state->rehearsed->count;
	double		mean = 0.0;
	double		squares = 0.0;

	for (size_t r = 0; r < count; r++)
	{
		state->scales[r] = find_scale(state, share, state->rehearsed->trials[r].known, state->known[r]);
		mean += log(state->calibration->surprises[r] / state->scales[r]) / (double) count;
	}
	for (size_t r = 0; r < count; r++)
		squares += pow(log(state->calibration->surprises[r] / state->scales[r]) - mean, 2.0);
	return squares;
}

/*
 * The smallest share that explains the surprises as well as the best one, within a
 * standard error.  Several rehearsals of one task tell hardly more than one.
 */
static double
fit_share(const State *state)
{
	double		shares[SHARES] = {0.0};
	double		rests[SHARES];
	double		limit = INFINITY;
	int			i;

	if (state->rehearsed->actors <= 2.0)
		return 0.0;
	for (i = 0; i < SHARES; i++)
	{
		double		odds = ldexp(LEAST_ODDS, i - 1);

		shares[i] = i == 0 ? 0.0 : odds / (1.0 + odds);
		rests[i] = unexplained(state, shares[i]);
		limit = fmin(limit, rests[i]);
	}
	limit *= 1.0 + 1.0 / (state->rehearsed->actors - 2.0);
	i = 0;
	while (i < SHARES - 1 && rests[i] > limit)
		i++;
	if (i == 0)
		return 0.0;
	return shares[i] - (limit - rests[i]) / (rests[i - 1] - rests[i]) * (shares[i] - shares[i - 1]);
}

/* Let the known rows tell the scales, as far as they do. */
static WmlcStatus
find_scales(State *state, double *target_scale)
{
	const WmlcRehearsed *rehearsed = state->rehearsed;
	double		count = (double) rehearsed->count;
	double		error,
				share;
	WmlcStatus	status = wmlc_mse(rehearsed->target, rehearsed->target_coefficients, &error);

	if (status != WMLC_OK)
		return status;
	for (size_t r = 0; r < rehearsed->count; r++)
	{
		const WmlcGram *known = rehearsed->trials[r].known;

		state->known[r] = surprise(state->calibration, known, state->known[r]);
		state->mean_known += state->known[r] / count;
		state->mean_rows += wmlc_gram_effective_rows(known) / count;
	}
	share = fit_share(state);
	for (size_t r = 0; r < rehearsed->count; r++)
		state->scales[r] = find_scale(state, share, rehearsed->trials[r].known, state->known[r]);
	*target_scale = find_scale(state, share, rehearsed->target,
							   surprise(state->calibration, rehearsed->target, error));
	return WMLC_OK;
}

/*
 * Degrees of freedom.  C is as uncertain as a variance of so many tasks.  Where
 * rows are made up, s2 is that of all rows, and counts by its share (Satterthwaite
 * 1946); in real forecasts, what is hard about tasks is in both.
 */
static double
count_degrees(const State *state)
{
	const WmlcRehearsed *rehearsed = state->rehearsed;
	const WmlcCalibration *calibration = state->calibration;
	double		count = (double) rehearsed->count;
	double		tasks = fmax(rehearsed->actors - 1.0, 1.0);
	double		share = 0.0;
	double		rows = 0.0;

	if (!rehearsed->made_up)
		return tasks;
	for (size_t r = 0; r < rehearsed->count; r++)
	{
		double		expected = expected_square(calibration, rehearsed->trials[r].unknown);

		share += expected > 0.0 ? calibration->noise / expected / count : 1.0 / count;
		rows += wmlc_gram_effective_rows(rehearsed->trials[r].whole) / count;
	}
	rows = fmax(rehearsed->actors * (rows - rehearsed->d), tasks);
	return 1.0 / (share * share / rows + (1.0 - share) * (1.0 - share) / tasks);
}

WmlcStatus
wmlc_calibrate(WmlcCalibration *calibration, const WmlcRehearsed *rehearsed, void *work,
			   WmlcPoll poll)
{
	State		state = {.rehearsed = rehearsed, .calibration = calibration};
	double		scale;
	WmlcStatus	status;

	lay_out(&state, rehearsed->d, rehearsed->count, work);
	calibration->count = rehearsed->count;
	status = look_back(&state, poll);
	if (status != WMLC_OK)
		return status;
	take_means(&state);
	status = find_scales(&state, &scale);
	if (status != WMLC_OK)
		return status;
	take_means(&state);
	calibration->degrees = count_degrees(&state);
	calibration->noise *= scale;
	for (size_t i = 0; i < (size_t) rehearsed->d * rehearsed->d; i++)
		calibration->covariance[i] *= scale;
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
