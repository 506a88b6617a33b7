/*
 * test_prior_check.c
 *	  Numbers that are a prior's, and each way in which they are not.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "core/prior/prior.h"

#define DIMS 2
#define MEANS 4					/* two descriptors */

typedef struct Numbers
{
	double		mean[MEANS];
	double		factor[DIMS * DIMS];
	double		mean_factor[MEANS * MEANS];
} Numbers;

static WmlcPrior
create(Numbers *numbers)
{
	memset(numbers, 0, sizeof(*numbers));
	for (int i = 0; i < DIMS; i++)
		numbers->factor[i + i * DIMS] = 1.0;
	numbers->factor[1] = -3.0;
	for (int i = 0; i < MEANS; i++)
		numbers->mean_factor[i + i * MEANS] = 2.0;
	return (WmlcPrior) {
		.dims = DIMS,
		.descriptors = MEANS / DIMS,
		.mean = numbers->mean,
		.factor = numbers->factor,
		.mean_factor = numbers->mean_factor,
		.noise = 1.0,
		.tasks = 3.0,
		.effective_tasks = 3.0,
		.loglik = -INFINITY,
		.rank = DIMS,
		.design_rank = MEANS
	};
}

static void
refuse(const WmlcPrior *prior, const char *what)
{
	CHECK(wmlc_prior_problem(prior) != NULL, "%s", what);
}

static void
test_arrays(void)
{
	Numbers		numbers;
	WmlcPrior	prior = create(&numbers);

	CHECK(wmlc_prior_problem(&prior) == NULL, "valid: %s", wmlc_prior_problem(&prior));
	numbers.mean[MEANS - 1] = NAN;
	refuse(&prior, "NaN in the mean");
	prior = create(&numbers);
	numbers.factor[DIMS * DIMS - 1] = INFINITY;
	refuse(&prior, "infinity in the factor");
	prior = create(&numbers);
	numbers.factor[2] = 1e-300;
	refuse(&prior, "not triangular");
	prior = create(&numbers);
	numbers.factor[3] = -1.0;
	refuse(&prior, "negative diagonal of the factor");
	prior = create(&numbers);
	numbers.mean_factor[MEANS * MEANS - 1] = -1.0;
	refuse(&prior, "negative variance of a mean");
	prior = create(&numbers);
	numbers.mean_factor[MEANS * MEANS - 2] = 0.5;
	refuse(&prior, "not symmetric");
	prior = create(&numbers);
	numbers.mean_factor[MEANS * MEANS - 1] = NAN;
	refuse(&prior, "NaN among variances of means");
}

static void
test_numbers(void)
{
	Numbers		numbers;
	WmlcPrior	prior = create(&numbers);
	double	   *amounts[] = {&prior.noise, &prior.tasks, &prior.effective_tasks, &prior.rows, &prior.noise_degrees,
		&prior.parameters, &prior.noise_shape, &prior.noise_power, &prior.noise_limit, &prior.spread_degrees, &prior.dispersion, &prior.smooth_sd,
	&prior.smooth_degrees};
	int		   *counts[] = {&prior.rank, &prior.design_rank, &prior.iterations};

	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
	{
		double		bad[] = {-1e-300, NAN, INFINITY};

		for (int k = 0; k < 3; k++)
		{
			prior = create(&numbers);
			*amounts[i] = bad[k];
			refuse(&prior, "an amount");
		}
	}
	prior = create(&numbers);
	prior.noise_power = 1.0 + 1e-15;
	refuse(&prior, "a power above one");
	for (int i = 0; i < 3; i++)
	{
		prior = create(&numbers);
		*counts[i] = -1;
		refuse(&prior, "a negative count");
	}
	prior = create(&numbers);
	prior.rank = DIMS + 1;
	refuse(&prior, "rank");
	prior = create(&numbers);
	prior.design_rank = MEANS + 1;
	refuse(&prior, "rank of the design");
	prior = create(&numbers);
	prior.family = (WmlcFamily) WMLC_FAMILIES;
	refuse(&prior, "family");
	prior = create(&numbers);
	prior.loglik = NAN;
	refuse(&prior, "likelihood");
}

int
main(void)
{
	test_arrays();
	test_numbers();
	return check_summary();
}
