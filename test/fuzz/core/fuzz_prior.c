/*
 * fuzz_prior.c
 *	  A stored prior of any bytes: refused by its validator, or one that the posterior of
 *	  a task, its covariance and likelihoods can be computed from.
 */
#include "fuzz.h"

#include <math.h>

#include "core/gram/gram.h"
#include "core/prior/posterior.h"

/* The numbers that are no array's */
typedef struct Head
{
	double		noise,
				noise_shape,
				noise_power,
				noise_limit,
				spread_degrees,
				dispersion,
				smooth_sd,
				smooth_degrees,
				parameters,
				tasks,
				effective_tasks,
				rows,
				noise_degrees,
				loglik,
				evenness,
				unevenness;
	int32_t		iterations,
				rank,
				design_rank,
				family;
} Head;

static WmlcPrior
assemble(const Head *head, int d, int g, double *numbers)
{
	return (WmlcPrior) {
		.dims = d,
		.mean = numbers,
		.factor = numbers + d * g,
		.mean_factor = numbers + d * g + d * d,
		.noise = head->noise,
		.noise_shape = head->noise_shape,
		.noise_power = head->noise_power,
		.noise_limit = head->noise_limit,
		.spread_degrees = head->spread_degrees,
		.dispersion = head->dispersion,
		.family = (WmlcFamily) head->family,
		.descriptors = g,
		.smooth_sd = head->smooth_sd,
		.smooth_degrees = head->smooth_degrees,
		.parameters = head->parameters,
		.tasks = head->tasks,
		.effective_tasks = head->effective_tasks,
		.rows = head->rows,
		.noise_degrees = head->noise_degrees,
		.loglik = head->loglik,
		.evenness = head->evenness,
		.unevenness = head->unevenness,
		.iterations = head->iterations,
		.rank = head->rank,
		.design_rank = head->design_rank
	};
}

/* All that is computed from a valid prior, for a task of three rows with feature k being 1, 2, 3 to the k-th. */
static void
use(const WmlcPrior *prior)
{
	int			d = prior->dims;
	int			p = d + 1;
	size_t		entries = wmlc_gram_entries(d);
	double	   *moments = allocate(2 * entries * sizeof(double));
	double	   *covariance = allocate((size_t) d * d * sizeof(double));
	double	   *descriptors = allocate(prior->descriptors * sizeof(double));
	double	   *x = allocate(d * sizeof(double));
	void	   *work = allocate(wmlc_posterior_workspace(d));
	void	   *more = allocate(wmlc_prior_loglik_workspace(d, 1));
	double		three = 3.0;
	double		loglik;
	WmlcPosterior posterior;
	WmlcPrediction prediction;
	WmlcPriorTasks tasks = {
		.dims = d,
		.count = 1,
		.moments = moments,
		.moments_lo = moments + entries,
		.rows = &three,
		.descriptors = descriptors
	};

	for (int i = 0; i < p; i++)
		for (int j = i; j < p; j++)
			for (int row = 1; row <= 3; row++)
				moments[wmlc_triangle_index(p, i, j)] += pow(row, i + j);
	for (int k = 0; k < prior->descriptors; k++)
		descriptors[k] = 1.0 - k;
	for (int k = 0; k < d; k++)
		x[k] = k;
	fuzz_polls = 0;
	(void) wmlc_prior_covariance(prior, covariance, fuzz_poll);
	for (int i = 0; i < d; i++)
		require(!(covariance[i + (size_t) i * d] < 0.0), "variances of a prior");
	(void) wmlc_prior_loglik(prior, &tasks, fuzz_poll, &loglik, more);
	if (wmlc_posterior_of(prior, &(WmlcTarget) {
		.moments = moments,
		.moments_lo = moments + entries,
		.rows = 3.0,
		.poll = fuzz_poll,
		.descriptor = descriptors
	}, &posterior, work) == WMLC_OK)
	{
		WmlcBounds	bounds = wmlc_posterior_bounds(&posterior, 0.9);

		wmlc_posterior_predict(&posterior, x, &bounds, &prediction);
		require(!(prediction.lower > prediction.upper), "bounds are in order");
		(void) wmlc_posterior_covariance(&posterior, covariance);
	}
	free(moments);
	free(covariance);
	free(descriptors);
	free(x);
	free(work);
	free(more);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bytes		bytes = {data, size};
	int			d = 1 + take_byte(&bytes) % 4;
	int			g = 1 + take_byte(&bytes) % 3;
	size_t		count = (size_t) d * g + d * d + (size_t) d * g * d * g;
	double	   *numbers = allocate(sizeof(Head) + count * sizeof(double));
	Head	   *head = (Head *) numbers;
	double	   *arrays = (double *) (head + 1);
	WmlcPrior	prior;

	*head = (Head) {.noise = 1.0,.tasks = 9.0,.effective_tasks = 8.0,.rows = 30.0,.noise_degrees = 20.0,.rank = d};
	for (int i = 0; i < d; i++)
		arrays[d * g + i + i * d] = 1.0;
	change_words(&bytes, numbers, sizeof(Head) + count * sizeof(double));
	prior = assemble(head, d, g, arrays);
	if (wmlc_prior_problem(&prior) == NULL)
		use(&prior);
	free(numbers);
	return 0;
}
