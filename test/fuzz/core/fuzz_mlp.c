/*
 * fuzz_mlp.c
 *	  A stored network of any shape and numbers: refused by its validators, or one that
 *	  predicts, embeds and adapts.
 */
#include "fuzz.h"

#include "core/mlp/mlp.h"

/* Larger ones are valid, but take too long here. */
#define MOST_PARAMETERS 2000

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bytes		bytes = {data, size};
	WmlcMlp		net = {.inputs = 1 + take_byte(&bytes) % 4,.depth = take_byte(&bytes) % 4};
	bool		standardized = take_byte(&bytes) % 2;
	size_t		parameters;
	double	   *numbers;
	double	   *theta;

	for (int l = 0; l < net.depth; l++)
		net.width[l] = 1 + take_byte(&bytes) % 9;
	if (take_byte(&bytes) < 8)
		take(&bytes, &net, offsetof(WmlcMlp, shift));
	if (!wmlc_mlp_shape_valid(&net) || (parameters = wmlc_mlp_parameters(&net)) > MOST_PARAMETERS)
		return 0;
	numbers = allocate((2 * (net.inputs + 1) + parameters) * sizeof(double));
	theta = numbers + 2 * (net.inputs + 1);
	for (int i = 0; i <= net.inputs; i++)
		numbers[net.inputs + 1 + i] = 1.0;
	wmlc_mlp_init(&net, 1, theta);
	change_words(&bytes, numbers, (2 * (net.inputs + 1) + parameters) * sizeof(double));
	if (standardized)
	{
		net.shift = numbers;
		net.scale = numbers + net.inputs + 1;
	}
	if (wmlc_mlp_problem(&net, theta) == NULL)
	{
		double	   *x = allocate(3 * net.inputs * sizeof(double));
		int			diverged_at;
		double		y[3] = {1.0, -1.0, 0.5};
		double	   *basis = allocate(wmlc_mlp_basis(&net) * sizeof(double));
		void	   *work = allocate(wmlc_mlp_predict_workspace(&net));
		void	   *more = allocate(wmlc_mlp_adapt_workspace(&net));

		for (int i = 0; i < 3 * net.inputs; i++)
			x[i] = i % 5 - 2.0;
		(void) wmlc_mlp_predict(&net, theta, x, work);
		wmlc_mlp_embed(&net, theta, x, basis, work);
		fuzz_polls = 0;
		(void) wmlc_mlp_adapt(&net, theta, &(WmlcMlpRows) {x, y, 3}, 0.01, 5, NULL, NULL, &diverged_at, fuzz_poll, more);
		free(x);
		free(basis);
		free(work);
		free(more);
	}
	free(numbers);
	return 0;
}
