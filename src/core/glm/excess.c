/*
 * excess.c
 *	  Counts that vary more than a Poisson distribution allows: see excess.h.
 */
#include <math.h>
#include <string.h>

#include "core/glm/excess.h"

/* In standard deviations: chance gets there once in thirty thousand times. */
#define CLEAR 4.0

/* With less than this share of variance on top, intervals are hardly wrong. */
#define LEAST_EXCESS 0.1

#define POLL_ROWS 4096

void
wmlc_excess_add(WmlcExcess *sums, const WmlcResponse *row, const WmlcWorkingRow *working,
				double eta, double variance)
{
	double		y = row->y;
	double		weight = working->weight;
	double		slope = weight * (working->response - eta);
	double		mean = fmax(y - slope, 0.0);
	double		excess = slope * slope - slope - weight * (1.0 - weight * variance);

	/* E mu^2, which rounding may leave below the square of the mean */
	double		square = fmax(excess + y + y * y - 2.0 * y * slope, mean * mean);

	/* out there a rate is not the model's but the least or largest there is */
	if (fabs(eta) > WMLC_LARGEST_PREDICTOR)
		return;
	sums->excess += excess;
	sums->mean += mean;
	sums->variance += 2.0 * square;
	sums->third += 4.0 * square + 8.0 * square * sqrt(square);
}

WmlcStatus
wmlc_excess_of_rows(WmlcExcess *sums, const WmlcGlmRows *rows, const double *coef, WmlcPoll poll)
{
	const WmlcLikelihood poisson = {WMLC_POISSON, 0.0};

	memset(sums, 0, sizeof(WmlcExcess));
	for (size_t i = 0; i < rows->count; i++)
	{
		WmlcResponse row = wmlc_glm_response(rows, i);
		double		eta = wmlc_predictor(rows->dims, rows->x + i * rows->dims, coef);
		WmlcWorkingRow working = wmlc_working_row(&poisson, &row, eta, WMLC_POINT);

		if (i % POLL_ROWS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		wmlc_excess_add(sums, &row, &working, eta, 0.0);
	}
	return WMLC_OK;
}

/* Wilson and Hilferty's normal score of a gamma distribution. */
bool
wmlc_excess_is_clear(const WmlcExcess *sums)
{
	double		skewness = sums->third / (sums->variance * sqrt(sums->variance));
	double		score = sums->excess / sqrt(sums->variance);

	score = (cbrt(1.0 + 0.5 * skewness * score) - 1.0) * 6.0 / skewness + skewness / 6.0;
	return score > CLEAR && sums->excess > LEAST_EXCESS * sums->mean;
}
