/*
 * fuzz_model.c
 *	  Numbers as the sum of a model's tasks, which travels between processes: what the
 *	  validator lets through can be merged and fitted.
 */
#include "fuzz.h"

#include <math.h>

#include "core/model/model.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Bytes		bytes = {data, size};
	int			kind = take_byte(&bytes) % WMLC_MODELS;
	int			d = 1 + take_byte(&bytes) % 4;
	size_t		doubles = wmlc_model_doubles(kind, d);
	WmlcModelOptions options = wmlc_default_options;
	double	   *sum = allocate(doubles * sizeof(double));
	double	   *twice = allocate(doubles * sizeof(double));
	double	   *coef = allocate(d * sizeof(double));
	void	   *work = allocate(wmlc_model_workspace(kind, d));

	options.steps = take_byte(&bytes) % 8;
	options.ridge = take_byte(&bytes) % 2;
	fuzz_polls = 0;
	/* a sum of tasks with words changed */
	for (int task = take_byte(&bytes) % 4; task > 0; task--)
	{
		WmlcGram   *gram = allocate(wmlc_gram_bytes(d));

		wmlc_gram_init(gram, d);
		for (int i = 0; i < 6; i++)
		{
			double		row[5 + WMLC_ROW_PADDING] = {1.0, i - task, i * i, 1.0 / (1 + i), 0.0};

			for (int k = d; k < 5; k++)
				row[k] = k > d ? 0.0 : i % 2 == 0 ? 1.0 : -1.0;
			(void) wmlc_gram_add_row(gram, row, 1.0);
		}
		(void) wmlc_model_add(kind, &options, gram, task, sum, work, fuzz_poll);
		free(gram);
	}
	change_words(&bytes, sum, doubles * sizeof(double));
	if (wmlc_model_invalid(kind, d, sum) == NULL && wmlc_model_is_finite(kind, d, sum) && wmlc_model_alpha(sum) > 0.0)
	{
		memcpy(twice, sum, doubles * sizeof(double));
		if (wmlc_model_merge(kind, d, twice, sum, work, fuzz_poll) == WMLC_OK && wmlc_model_is_finite(kind, d, twice))
			(void) wmlc_model_fit(kind, &options, d, twice, coef, work, fuzz_poll);
		if (wmlc_model_fit(kind, &options, d, sum, coef, work, fuzz_poll) == WMLC_OK)
		{
			for (int i = 0; i < d; i++)
				require(isfinite(coef[i]), "coefficients are finite");
		}
	}
	free(sum);
	free(twice);
	free(coef);
	free(work);
	return 0;
}
