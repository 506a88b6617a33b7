/*
 * working_rows.c
 *	  Working rows of many rows, side by side where that is faster, and the grams of these: see
 *	  working.h.
 */
#include <math.h>
#include <string.h>

#include "core/glm/working.h"

/* Rows between two polls; where their variances take long, each batch has one. */
#define POLL_ROWS 4096
#define WIDE 64

/*
 * Predictors before anything is known of their tasks.  A count up to MOST_FIRST_COUNT is
 * a step from what makes them N(m, FIRST_VARIANCE) without it, larger ones are about
 * their logarithm.
 */
#define FIRST_VARIANCE 2.0
#define LEAST_FIRST_COUNT 0.5
#define MOST_FIRST_COUNT 4.0

/*
 * Lanes that are left over do what the first one does.  What a step from the last
 * pass is too coarse for is found anew.
 */
static void
flush_singles(WmlcRowQueue *queue)
{
	WmlcWorkingLanes *lanes = &queue->lanes;
	unsigned	hard = 0;

	for (int l = queue->count; l < WMLC_WORKING_LANES; l++)
	{
		wmlc_set_lane(lanes, l, lanes->sign[0], lanes->eta[0], lanes->variance[0]);
		lanes->response[l] = lanes->response[0];
		lanes->weight[l] = lanes->weight[0];
	}
	if (!queue->again || !wmlc_working_lanes_step(lanes))
		hard = wmlc_working_lanes(lanes);
	for (int l = 0; l < queue->count; l++)
	{
		if (hard & (1U << l))
			*queue->place[l] = wmlc_working_row_alone(queue->likelihood,
									   &(WmlcResponse) {lanes->sign[l] > 0.0, 1.0, 1.0},
									   lanes->eta[l], lanes->variance[l]);
		else
			*queue->place[l] = (WmlcWorkingRow) {
				lanes->response[l], lanes->weight[l], lanes->log_scale[l], lanes->skew[l],
				lanes->excess[l]
			};
	}
}

static bool
is_count(const WmlcLikelihood *likelihood)
{
	return likelihood->family == WMLC_POISSON || likelihood->family == WMLC_NEGATIVE_BINOMIAL;
}

static void
set_count(WmlcCountLanes *lanes, int l, const WmlcResponse *row, double eta, double variance,
		  double response, double weight)
{
	lanes->y[l] = row->y;
	lanes->exposure[l] = row->exposure;
	lanes->row_weight[l] = row->weight;
	lanes->eta[l] = eta;
	lanes->variance[l] = variance;
	lanes->response[l] = response;
	lanes->weight[l] = weight;
}

static void
flush_counts(WmlcRowQueue *queue)
{
	WmlcCountLanes *lanes = &queue->counts;
	unsigned	hard;

	for (int l = queue->count; l < WMLC_COUNT_LANES; l++)
		set_count(lanes, l, &(WmlcResponse) {lanes->y[0], lanes->exposure[0], lanes->row_weight[0]},
				  lanes->eta[0], lanes->variance[0], lanes->response[0], lanes->weight[0]);
	hard = wmlc_count_lanes_step(lanes, queue->likelihood->dispersion);
	for (int l = 0; l < queue->count; l++)
	{
		WmlcResponse row = {lanes->y[l], lanes->exposure[l], lanes->row_weight[l]};

		if (hard & (1U << l))
			*queue->place[l] = wmlc_working_row_alone(queue->likelihood, &row, lanes->eta[l], lanes->variance[l]);
		else
			*queue->place[l] = (WmlcWorkingRow) {
				lanes->response[l], lanes->weight[l], lanes->log_scale[l], lanes->skew[l],
				lanes->excess[l]
			};
	}
}

void
wmlc_row_queue_flush(WmlcRowQueue *queue)
{
	if (queue->count == 0)
		return;
	if (queue->likelihood->family == WMLC_BINOMIAL)
		flush_singles(queue);
	else
		flush_counts(queue);
	queue->count = 0;
}

static void
add_count(WmlcRowQueue *queue, const WmlcResponse *row, double eta, double variance,
		  WmlcWorkingRow *place)
{
	set_count(&queue->counts, queue->count, row, eta, variance, place->response, place->weight);
	queue->place[queue->count++] = place;
	if (queue->count == WMLC_COUNT_LANES)
		wmlc_row_queue_flush(queue);
}

/*
 * A count by itself: the gamma distribution of its rate says about where its predictor
 * is, and the row to step from leaves N(eta - FIRST_VARIANCE / 2, FIRST_VARIANCE) without it.
 */
static void
start_count(WmlcRowQueue *queue, const WmlcResponse *row, double eta, WmlcWorkingRow *place)
{
	double		prior = 1.0 / FIRST_VARIANCE;
	double		count = row->weight * row->y + LEAST_FIRST_COUNT;
	double		mean = row->weight * row->exposure * exp(eta);
	double		first = eta + log((count + prior) / (mean + prior));

	if (count > MOST_FIRST_COUNT)
	{
		*place = wmlc_working_start(queue->likelihood, row);
		return;
	}
	place->weight = count;
	place->response = first + prior / count * (first - eta + 0.5 * FIRST_VARIANCE);
	add_count(queue, row, first, 1.0 / (count + prior), place);
}

void
wmlc_row_queue_other(WmlcRowQueue *queue, const WmlcResponse *row, double eta, double variance,
					 WmlcWorkingRow *place)
{
	if (queue->again && variance > 0.0 && is_count(queue->likelihood))
		add_count(queue, row, eta, variance, place);
	else if (!queue->again || !(variance > 0.0)
			 || !wmlc_working_row_step(queue->likelihood, row, eta, variance, place))
		*place = wmlc_working_row_alone(queue->likelihood, row, eta, variance);
}

void
wmlc_row_queue_start(WmlcRowQueue *queue, const WmlcResponse *row, double eta,
					 WmlcWorkingRow *place)
{
	*place = (WmlcWorkingRow) {.weight = 0.0};
	if (!isnan(eta) && is_count(queue->likelihood) && row->weight > 0.0)
		start_count(queue, row, eta, place);
	else if (!isnan(eta) && wmlc_is_single(queue->likelihood, row))
		wmlc_row_queue_add(queue, row, eta, FIRST_VARIANCE, place);
	else
		*place = wmlc_working_start(queue->likelihood, row);
}

/* Rows that wait to enter a gram together. */
typedef struct Batch
{
	WmlcGram   *gram;
	int			count;
	double	   *rows;			/* WMLC_LOOP_ROWS x (d + 1), and the padding */
	double		weights[WMLC_LOOP_ROWS];
} Batch;

static void
flush_batch(Batch *batch)
{
	int			p = batch->gram->dims + 1;

	if (batch->count == 0)
		return;
	memset(batch->rows + (size_t) batch->count * p, 0, WMLC_ROW_PADDING * sizeof(double));
	wmlc_gram_add_rows(batch->gram, batch->rows, p, batch->weights, batch->count);
	batch->count = 0;
}

static void
add_to_batch(Batch *batch, const double *x, double response, double weight)
{
	int			d = batch->gram->dims;
	double	   *z = batch->rows + (size_t) batch->count * (d + 1);

	if (weight == 0.0)
	{
		wmlc_gram_add_row(batch->gram, NULL, 0.0);
		return;
	}
	memcpy(z, x, d * sizeof(double));
	z[d] = response;
	batch->weights[batch->count++] = weight;
	if (batch->count == WMLC_LOOP_ROWS)
		flush_batch(batch);
}

/* Rows that are found together before they enter the gram. */
#define GRAM_ROWS (4 * WMLC_WORKING_LANES)

WmlcStatus
wmlc_working_gram(const WmlcLikelihood *likelihood, const WmlcGlmRows *rows, size_t first,
				  size_t end, const double *coef, const double *covariance, WmlcGram *gram,
				  double *log_scale, double *space, WmlcPoll poll)
{
	WmlcRowQueue queue = {.likelihood = likelihood};
	Batch		batch = {.gram = gram, .rows = space};
	WmlcWorkingRow found[GRAM_ROWS];
	int			d = rows->dims;

	wmlc_gram_init(gram, d);
	for (size_t i = first; i < end; i += GRAM_ROWS)
	{
		int			count = end - i < GRAM_ROWS ? (int) (end - i) : GRAM_ROWS;

		if ((d >= WIDE || (i - first) % POLL_ROWS == 0) && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		memset(found, 0, sizeof(found));
		for (int k = 0; k < count; k++)
		{
			const double *x = rows->x + (i + k) * d;
			WmlcResponse response = wmlc_glm_response(rows, i + k);

			if (coef == NULL)
				found[k] = wmlc_working_start(likelihood, &response);
			else
				wmlc_row_queue_add(&queue, &response, wmlc_predictor(d, x, coef),
								   covariance == NULL ? WMLC_POINT
								   : wmlc_predictor_variance(d, x, covariance), &found[k]);
		}
		wmlc_row_queue_flush(&queue);
		for (int k = 0; k < count; k++)
		{
			add_to_batch(&batch, rows->x + (i + k) * d, found[k].response, found[k].weight);
			*log_scale += found[k].log_scale;
		}
	}
	flush_batch(&batch);
	return wmlc_gram_is_finite(gram) ? WMLC_OK : WMLC_NOT_FINITE;
}
