/*
 * fuzz_posterior.c
 *	  A stored prior of any finite numbers, and a task of any: a status, or a
 *	  posterior that predicts.
 */
#include "fuzz.h"

#include <math.h>

#include "core/gram/gram.h"
#include "core/prior/posterior.h"

static double
tame(double number)
{
	return isfinite(number) ? number : 1.0;
}

static void
take_finite(Bytes *bytes, double *numbers, int count)
{
	for (int i = 0; i < count; i++)
		numbers[i] = take_byte(bytes) < 100 ? i % 3 : tame(take_double(bytes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bytes		bytes = {data, size};
	int			d = 1 + take_byte(&bytes) % 4;
	int			entries = (int) wmlc_gram_entries(d);
	double	   *numbers = allocate((d + 2 * d * d + d * d) * sizeof(double));
	double	   *moments = allocate(2 * entries * sizeof(double));
	double	   *x = allocate(d * sizeof(double));
	void	   *work = allocate(wmlc_posterior_workspace(d));
	WmlcPrior	prior = {
		.dims = d,
		.mean = numbers,
		.factor = numbers + d,
		.mean_factor = numbers + d + d * d,
		.descriptors = 1,
		.rank = take_byte(&bytes) % (d + 1),
	};
	WmlcPosterior posterior;
	WmlcPrediction prediction;

	prior.noise = fabs(tame(take_double(&bytes)));
	prior.effective_tasks = prior.tasks = take_byte(&bytes);
	prior.noise_degrees = take_byte(&bytes);
	if (take_byte(&bytes) < 64)
	{
		prior.noise_shape = fabs(tame(take_double(&bytes)));
		prior.noise_power = take_byte(&bytes) / 255.0;
	}
	if (take_byte(&bytes) < 64)
		prior.spread_degrees = fabs(tame(take_double(&bytes)));
	take_finite(&bytes, numbers, d + 2 * d * d);
	for (int j = 0; j < d; j++)
	{
		for (int i = 0; i < j; i++)
			prior.factor[i + j * d] = prior.mean_factor[i + j * d] = 0.0;
	}
	take_finite(&bytes, moments, entries);
	take_finite(&bytes, x, d);
	if (wmlc_posterior(&prior, moments, moments + entries, &posterior, work) == WMLC_OK)
	{
		WmlcBounds	bounds = wmlc_posterior_bounds(&posterior, 0.9);

		wmlc_posterior_predict(&posterior, x, &bounds, &prediction);
		wmlc_posterior_prepare(&posterior);
		wmlc_posterior_predict(&posterior, x, &bounds, &prediction);
		require(!(prediction.lower > prediction.upper), "bounds are in order");
		wmlc_posterior_covariance(&posterior, numbers + d + 2 * d * d);
	}
	free(numbers);
	free(moments);
	free(x);
	free(work);
	return 0;
}
