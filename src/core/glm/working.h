/*
 * working.h
 *	  Working rows: at given coefficients, a row of a generalised linear model
 *	  is as good as a row of a linear one with another response and a weight.
 *
 * At eta = x.w the row's log-likelihood has a slope g and a curvature -v; the
 * parabola with the same is that of a response z = eta + g / v with weight v.
 * The gram of the rows (x, z) with weights v, the working gram, is all that one
 * iteration towards the best w needs to know of them.
 *
 * Where w is not a point but has a distribution, N(m, V), as in the posterior
 * of a task with a few rows, eta = x.w is N(x.m, x'Vx), and the parabola at its
 * centre is a poor stand-in for the likelihood over the whole of it.  The
 * parabola is then the one for which the following holds: dividing the
 * distribution by the parabola's exponential and multiplying by the likelihood
 * instead changes neither its mean nor its variance.  A working gram that
 * agrees with the posterior it leads to is a fixed point of expectation
 * propagation (Minka 2001).  The usual way there keeps a parabola for each row
 * from one iteration to the next; here it is found anew from eta's distribution,
 * as the minimum of a convex function of two variables, so that an iteration is
 * one pass over rows in any order and nothing is kept of them.
 */
#ifndef WMLC_WORKING_H
#define WMLC_WORKING_H

#include "core/glm/count_lanes.h"
#include "core/glm/family.h"
#include "core/glm/working_lanes.h"
#include "core/gram/gram.h"

typedef struct WmlcWorkingRow
{
	double		response;		/* z */
	double		weight;			/* v, positive unless the row's weight is 0 */

	/*
	 * log E exp (log-likelihood + v / 2 (eta - z)^2) over eta's distribution:
	 * what the row contributes to the logarithm of the evidence beside its
	 * parabola.
	 */
	double		log_scale;

	/*
	 * Skewness and excess of eta's distribution with the likelihood in place of the
	 * parabola: see hierarchy_correct.h; 0 where a parabola will do.
	 */
	double		skew;
	double		excess;
} WmlcWorkingRow;

/*
 * The variance of an eta that is a point and has no distribution.  The curvature of a
 * negative binomial row is then the one that its responses have on average, as in standard
 * errors of generalised linear models; over a distribution, however narrow, it is its own.
 */
#define WMLC_POINT (-1.0)

/* At eta with this variance, which may be 0. */
extern WmlcWorkingRow wmlc_working_row(const WmlcLikelihood *likelihood, const WmlcResponse *row,
									   double eta, double variance);

/* The same without lanes. */
extern WmlcWorkingRow wmlc_working_row_alone(const WmlcLikelihood *likelihood,
											 const WmlcResponse *row, double eta, double variance);

/*
 * One step of expectation propagation, as for lanes: the parabola of the last pass
 * is taken out of eta's distribution, the likelihood put in, and the new parabola
 * leaves the same mean and variance.  False where that is too coarse.
 */
extern bool wmlc_working_row_step(const WmlcLikelihood *likelihood, const WmlcResponse *row,
								  double eta, double variance, WmlcWorkingRow *place);

/* At no coefficients yet. */
extern WmlcWorkingRow wmlc_working_start(const WmlcLikelihood *likelihood,
										 const WmlcResponse *row);

/*
 * Working rows that are kept from one pass to the next, and found many at a time.
 * Each row goes to its place, which until then has the row of the last pass, if
 * there was one: it then takes the usual step of expectation propagation, which is
 * cheaper than finding the parabola anew, and converges in fewer passes.  Both end at
 * the same parabola.  Single yes-or-no responses, and the steps of counts, are done
 * side by side.
 */
typedef struct WmlcRowQueue
{
	const WmlcLikelihood *likelihood;
	bool		again;			/* places have the rows of the last pass */
	int			count;
	WmlcWorkingLanes lanes;		/* of a binomial family, */
	WmlcCountLanes counts;		/* or of counts */
	WmlcWorkingRow *place[WMLC_WORKING_LANES];
} WmlcRowQueue;

/* A single yes or no, of which working_lanes.h knows how to do many at once. */
static inline bool
wmlc_is_single(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	return likelihood->family == WMLC_BINOMIAL && row->exposure == 1.0 && row->weight == 1.0
		&& (row->y == 0.0 || row->y == 1.0);
}

static inline void
wmlc_set_lane(WmlcWorkingLanes *lanes, int l, double y, double eta, double variance)
{
	lanes->eta[l] = eta;
	lanes->variance[l] = variance;
	lanes->sign[l] = y > 0.0 ? 1.0 : -1.0;
}

extern void wmlc_row_queue_flush(WmlcRowQueue *queue);

/* A row that is not a single yes or no. */
extern void wmlc_row_queue_other(WmlcRowQueue *queue, const WmlcResponse *row, double eta,
								 double variance, WmlcWorkingRow *place);

static inline void
wmlc_row_queue_add(WmlcRowQueue *queue, const WmlcResponse *row, double eta, double variance,
				   WmlcWorkingRow *place)
{
	int			l = queue->count;

	if (!wmlc_is_single(queue->likelihood, row)
		|| (l > 0 && (variance > 0.0) != (queue->lanes.variance[0] > 0.0)))
	{
		wmlc_row_queue_other(queue, row, eta, variance, place);
		return;
	}
	wmlc_set_lane(&queue->lanes, l, row->y, eta, variance);
	queue->lanes.response[l] = place->response;
	queue->lanes.weight[l] = place->weight;
	queue->place[l] = place;
	if (++queue->count == WMLC_WORKING_LANES)
		wmlc_row_queue_flush(queue);
}

/*
 * A row of the first pass, when nothing is known but that predictors are somewhere
 * around `eta`; by itself where eta is NAN.
 */
extern void wmlc_row_queue_start(WmlcRowQueue *queue, const WmlcResponse *row, double eta,
								 WmlcWorkingRow *place);

/*
 * E of the mean for exposure 1, over eta's normal distribution.  Of a rate whose logarithm
 * varies by more than this it is that of the distribution with this variance: beyond, it says
 * how far normal tails reach, which no tasks show, and soon exceeds all rates by many orders
 * of magnitude.
 */
#define WMLC_MOST_RATE_VARIANCE 4.0

extern double wmlc_likelihood_expected_mean(const WmlcLikelihood *likelihood, double eta,
											double variance);

/*
 * Rows with their features, by rows; no exposures or weights means that all are
 * 1.
 */
typedef struct WmlcGlmRows
{
	int			dims;
	size_t		count;
	const double *x;
	const double *y;
	const double *exposure;
	const double *weight;
} WmlcGlmRows;

static inline WmlcResponse
wmlc_glm_response(const WmlcGlmRows *rows, size_t i)
{
	return (WmlcResponse) {
		rows->y[i],
		rows->exposure == NULL ? 1.0 : rows->exposure[i],
		rows->weight == NULL ? 1.0 : rows->weight[i]
	};
}

/* x.w */
static inline double
wmlc_predictor(int d, const double *x, const double *w)
{
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
		sum += x[i] * w[i];
	return sum;
}

/* x'Vx for a symmetric V */
static inline double
wmlc_predictor_variance(int d, const double *x, const double *covariance)
{
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
	{
		const double *column = covariance + (size_t) i * d;
		double		part = 0.5 * column[i] * x[i];

		for (int j = 0; j < i; j++)
			part += column[j] * x[j];
		sum += 2.0 * x[i] * part;
	}
	return sum > 0.0 ? sum : 0.0;
}

/* Room for rows, each with its response, that are added to sums together. */
static inline size_t
wmlc_row_batch_doubles(int d)
{
	return (size_t) WMLC_LOOP_ROWS * (d + 1) + WMLC_ROW_PADDING;
}

/*
 * Make `gram` the working gram of rows first up to end at N(coef, covariance),
 * or at coef alone; at no coefficients yet when coef is NULL.  Adds the rows'
 * log_scale to *log_scale.  `space` holds wmlc_row_batch_doubles(d).
 */
extern WmlcStatus wmlc_working_gram(const WmlcLikelihood *likelihood, const WmlcGlmRows *rows,
									size_t first, size_t end, const double *coef,
									const double *covariance, WmlcGram *gram,
									double *log_scale, double *space, WmlcPoll poll);

#endif							/* WMLC_WORKING_H */
