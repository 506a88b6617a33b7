/*
 * test_prior_singular.c
 *	  Priors on the boundary and from data that leave something undetermined:
 *	  the fit must end cleanly, be the best there is, and say what happened.
 */
#include "prior/prior_fixture.h"

/* No spread at all, no spread of one coefficient, perfect correlation. */
static void
test_boundary(void)
{
	const double mean[2] = {1.0, 2.0};
	const double nothing[4] = {0};
	const double one[4] = {2.0, 0.0, 0.0, 0.0};
	const double line[4] = {2.0, 0.0, -1.0, 0.0};
	uint64_t	state = 41;
	int			flat = 0,
				single = 0;

	for (int round = 0; round < 10; round++)
	{
		TaskSet		set = draw_tasks(2, 40, 8, 8, mean, nothing, 1.0, &state);
		WmlcPrior	prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);

		check_finite(&prior);
		CHECK(prior.converged && prior.singular == (prior.rank < 2), "rank %d", prior.rank);
		flat += prior.rank == 0;
		check_maximum(&set, &prior, false, false);
		free_prior(&prior);
		free_tasks(&set);

		set = draw_tasks(2, 40, 8, 8, mean, one, 1.0, &state);
		prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_DIAGONAL, 0.0);
		CHECK(prior.converged && prior.factor[0] > 1.0 && prior.factor[1] == 0.0, "%g", prior.factor[0]);
		single += prior.rank == 1 && prior.factor[3] == 0.0;
		check_maximum(&set, &prior, false, true);
		free_prior(&prior);
		free_tasks(&set);

		set = draw_tasks(2, 40, 8, 8, mean, line, 0.01, &state);
		prior = fitted(&set, WMLC_PRIOR_REML, WMLC_PRIOR_FULL, 0.0);
		CHECK(prior.converged, "round %d", round);
		CHECK(covariance_entry(&prior, 0, 1) / sqrt(covariance_entry(&prior, 0, 0)
													 * covariance_entry(&prior, 1, 1)) < -0.999,
			  "round %d", round);
		free_prior(&prior);
		free_tasks(&set);
	}
	CHECK(flat >= 1 && flat <= 8 && single >= 2, "%d flat, %d single", flat, single);
}

/*
 * Draws on which the iteration loses a direction too early, found by search: the
 * slope at the end must bring it back.
 */
static void
test_revival(void)
{
	const double mean[6] = {1, 2, 3, 4, 5, 6};
	const struct
	{
		int			seed;
		WmlcPriorMethod method;
	}			cases[] = {{263, WMLC_PRIOR_REML}, {547, WMLC_PRIOR_REML}, {2703, WMLC_PRIOR_ML}};

	for (int c = 0; c < 3; c++)
	{
		uint64_t	state = cases[c].seed;
		int			d = 2 + cases[c].seed % 4;
		double		factor[36];
		int			last,
					tasks,
					rows;
		double		noise_sd;
		TaskSet		set;
		WmlcPrior	prior;

		(void) check_random(&state);
		(void) check_random(&state);
		last = (int) (check_random(&state) * d);
		for (int i = 0; i < d; i++)
			for (int k = 0; k < d; k++)
			{
				double		g = k <= last ? check_normal(&state) : 0.0;

				factor[i * d + k] = k <= last ? g * pow(10.0, check_random(&state) * 2.0 - 1.5) : 0.0;
			}
		tasks = 3 + (int) (check_random(&state) * 15.0);
		rows = 3 + (int) (check_random(&state) * 15.0);
		noise_sd = pow(10.0, check_random(&state) * 2.0 - 1.5);
		set = draw_tasks(d, tasks, 1, rows, mean, factor, noise_sd, &state);
		prior = fitted(&set, cases[c].method, WMLC_PRIOR_DIAGONAL, 0.0);
		CHECK(prior.converged, "seed %d", cases[c].seed);
		check_maximum(&set, &prior, cases[c].method == WMLC_PRIOR_REML, true);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/*
 * -2 log of the density of one task's rows but for 2 pi, V = s2 I + (X F)(X F)'.
 * In long double and from the factor F of S: at the least noise, 1e-10 of the
 * rest, plain doubles and S itself, rounded, leave only five digits of it.
 */
static long double
long_deviance(const TaskSet *set, const WmlcPrior *prior, int j)
{
	int			n = (int) set->rows[j];
	int			d = set->dims;
	long double *v = calloc((size_t) n * (n + d + 1) + 1, sizeof(long double));
	long double *spread = v + (size_t) n * n;
	long double *residual = spread + (size_t) n * d;
	long double deviance = 0.0L;

	for (int a = 0; a < n; a++)
	{
		const double *row = set->data[j] + (size_t) a * (d + 1);

		residual[a] = row[d];
		for (int i = 0; i < d; i++)
		{
			residual[a] -= (long double) row[i] * prior->mean[i];
			for (int k = 0; k < d; k++)
				spread[a * d + k] += (long double) row[i] * prior->factor[i + k * d];
		}
		for (int b = 0; b <= a; b++)
		{
			long double *entry = &v[a * n + b];

			*entry = a == b ? prior->noise : 0.0L;
			for (int k = 0; k < d; k++)
				*entry += spread[a * d + k] * spread[b * d + k];
			for (int k = 0; k < b; k++)
				*entry -= v[a * n + k] * v[b * n + k];
			*entry = a == b ? sqrtl(*entry) : *entry / v[b * n + b];
			residual[a] -= a == b ? 0.0L : *entry * residual[b];
		}
		residual[a] /= v[a * n + a];
		deviance += 2.0L * logl(v[a * n + a]) + residual[a] * residual[a];
	}
	free(v);
	return deviance;
}

static double
long_loglik(const TaskSet *set, const WmlcPrior *prior)
{
	long double sum = 0.0L;

	for (int j = 0; j < set->count; j++)
		sum += long_deviance(set, prior, j) + set->rows[j] * logl(2.0L * M_PI);
	return (double) (-0.5L * sum);
}

/* More features than tasks, fewer rows than features, tasks without rows. */
static void
test_small(void)
{
	const double mean[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint64_t	state = 51;

	for (int round = 0; round < 60; round++)
	{
		int			d = 1 + round % 8;
		double		square[64] = {0};
		TaskSet		set;
		WmlcPrior	prior;

		for (int i = 0; i < d; i++)
			square[i * (d + 1)] = 0.5;
		set = draw_tasks(d, 1 + round % 5, round % 3 == 0 ? 0 : 1, 1 + round % 11, mean, square,
						 0.3, &state);
		for (int k = 0; k < 4; k++)
		{
			prior = fitted(&set, k % 2, k / 2, round % 2);
			check_finite(&prior);
			if (prior.tasks == 1.0)
				CHECK(prior.rank == 0 && prior.converged, "rank %d of one task", prior.rank);
			if (prior.tasks > 0.0 && prior.noise > 0.0)
				CHECK_NEAR(given_loglik(&set, &prior), long_loglik(&set, &prior), 1e-8);
			free_prior(&prior);
		}
		free_tasks(&set);
	}
}

/*
 * A feature that repeats another, one that is zero, one that is the sum of two:
 * predictions are those without it, coefficients the smallest that give them.
 */
static void
test_collinear(void)
{
	const double mean[2] = {1.0, -2.0};
	const double factor[4] = {1.0, 0.0, 0.4, 0.6};
	uint64_t	state = 61;
	TaskSet		two = draw_tasks(2, 30, 1, 9, mean, factor, 0.5, &state);
	int			rows[30];
	TaskSet		five;
	WmlcPrior	small,
				large;

	for (int j = 0; j < 30; j++)
		rows[j] = (int) two.rows[j];
	five = new_tasks(5, 30, rows);
	for (int j = 0; j < 30; j++)
		for (int i = 0; i < rows[j]; i++)
		{
			const double *z = two.data[j] + 3 * i;
			double	   *w = five.data[j] + 6 * i;

			w[0] = z[1];
			w[1] = 0.0;
			w[2] = z[0];
			w[3] = z[1] * 3.0;
			w[4] = z[0] + z[1];
			w[5] = z[2];
		}
	sum_tasks(&five);
	for (int k = 0; k < 2; k++)
	{
		small = fitted(&two, k, WMLC_PRIOR_FULL, 0.0);
		large = fitted(&five, k, WMLC_PRIOR_FULL, 0.0);
		check_finite(&large);
		CHECK(large.converged && large.rank == 2 && large.singular, "rank %d", large.rank);
		CHECK_NEAR(large.noise, small.noise, 1e-8);
		for (int i = 0; i < 3; i++)
		{
			const double x[3][2] = {{1, 0}, {0, 1}, {1, 1}};
			double		p[5] = {x[i][1], 0.0, x[i][0], 3.0 * x[i][1], x[i][0] + x[i][1]};
			double		mean_small = 0.0,
						mean_large = 0.0,
						variance_small = 0.0,
						variance_large = 0.0;

			for (int a = 0; a < 2; a++)
			{
				mean_small += x[i][a] * small.mean[a];
				for (int b = 0; b < 2; b++)
					variance_small += x[i][a] * x[i][b] * covariance_entry(&small, a, b);
			}
			for (int a = 0; a < 5; a++)
			{
				mean_large += p[a] * large.mean[a];
				for (int b = 0; b < 5; b++)
					variance_large += p[a] * p[b] * covariance_entry(&large, a, b);
			}
			CHECK_NEAR(mean_large, mean_small, 1e-7);
			CHECK_NEAR(variance_large, variance_small, 1e-6);
		}
		/* Least norm in standardised units: 1 and 3 share their effect evenly. */
		CHECK_NEAR(large.mean[3] * 3.0, large.mean[0], 1e-7);
		CHECK(large.mean[1] == 0.0, "%g", large.mean[1]);
		if (k == 0)
			CHECK_NEAR(large.loglik, small.loglik, 1e-10);
		free_prior(&small);
		free_prior(&large);

		/* A diagonal S gives every feature its own spread. */
		large = fitted(&five, k, WMLC_PRIOR_DIAGONAL, 0.0);
		check_finite(&large);
		CHECK(large.converged, "diagonal");
		free_prior(&large);
	}
	free_tasks(&two);
	free_tasks(&five);
}

/* Responses that are constant, zero, or exactly linear, in each task or in all. */
static void
test_exact_responses(void)
{
	const double mean[2] = {3.0, -1.0};
	const double none[4] = {0};
	const double factor[4] = {1.0, 0.0, 0.5, 0.5};
	uint64_t	state = 71;

	for (int k = 0; k < 4; k++)
	{
		TaskSet		set = draw_tasks(2, 12, 4, 9, mean, k < 3 ? none : factor, 0.0, &state);
		WmlcPrior	prior;

		if (k < 2)
			for (int j = 0; j < 12; j++)
				for (int i = 0; i < (int) set.rows[j]; i++)
					set.data[j][3 * i + 2] = k == 0 ? 0.0 : 42.0;
		sum_tasks(&set);
		for (int option = 0; option < 4; option++)
		{
			prior = fitted(&set, option % 2, option / 2, 0.0);
			check_finite(&prior);
			if (k < 3)
			{
				CHECK_NEAR(prior.mean[0], k == 0 ? 0.0 : k == 1 ? 42.0 : 3.0, 1e-12);
				CHECK_NEAR(prior.mean[1], k < 2 ? 0.0 : -1.0, 1e-12);
				CHECK(prior.rank == 0, "rank %d", prior.rank);
			}
			else
			{
				/* Every w_j is known: S is their covariance about their mean. */
				CHECK(prior.noise < 1e-6, "noise %g", prior.noise);
				CHECK(prior.saturated, "noise %g", prior.noise);
				if (option == 0)
					CHECK(fabs(sqrt(covariance_entry(&prior, 0, 0)) - 1.0) < 0.6, "%g",
						  covariance_entry(&prior, 0, 0));
			}
			free_prior(&prior);
		}
		free_tasks(&set);
	}
}

/* Features that are all zero: noise is all there is. */
static void
test_no_features(void)
{
	const double mean[2] = {0};
	const double none[4] = {0};
	uint64_t	state = 77;
	TaskSet		set = draw_tasks(2, 10, 3, 6, mean, none, 2.0, &state);
	double		squares = 0.0,
				rows = 0.0;

	for (int j = 0; j < 10; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			set.data[j][3 * i] = set.data[j][3 * i + 1] = 0.0;
			squares += set.data[j][3 * i + 2] * set.data[j][3 * i + 2];
			rows += 1.0;
		}
	sum_tasks(&set);
	for (int option = 0; option < 4; option++)
	{
		WmlcPrior	prior = fitted(&set, option % 2, option / 2, 0.0);

		check_finite(&prior);
		CHECK(prior.converged && prior.rank == 0 && prior.mean[0] == 0.0, "rank %d", prior.rank);
		CHECK_NEAR(prior.noise, squares / rows, 1e-12);
		free_prior(&prior);
	}
	free_tasks(&set);
}

/* Offsets that leave plain sums of squares without a digit. */
static void
test_offsets(void)
{
	const double mean[2] = {1.0, 2.0};
	const double factor[4] = {1.0, 0.0, 0.3, 0.5};
	uint64_t	state = 81;
	TaskSet		set = draw_tasks(2, 25, 3, 9, mean, factor, 0.5, &state);
	WmlcPrior	near = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	WmlcPrior	far;

	for (int j = 0; j < 25; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			/* Powers of two, so that the shift rounds nothing away. */
			set.data[j][3 * i + 1] = ldexp(rint(ldexp(set.data[j][3 * i + 1], 20)), -20);
			set.data[j][3 * i + 2] = ldexp(rint(ldexp(set.data[j][3 * i + 2], 20)), -20);
		}
	sum_tasks(&set);
	free_prior(&near);
	near = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	for (int j = 0; j < 25; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			set.data[j][3 * i + 1] += 0x1p30;
			set.data[j][3 * i + 2] += 0x1p31;
		}
	sum_tasks(&set);
	far = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	CHECK_NEAR(far.loglik, near.loglik, 1e-8);
	CHECK_NEAR(far.noise, near.noise, 1e-8);
	CHECK_NEAR(far.mean[1], near.mean[1], 1e-8);
	CHECK_NEAR(covariance_entry(&far, 1, 1), covariance_entry(&near, 1, 1), 1e-7);
	free_prior(&near);
	free_prior(&far);
	free_tasks(&set);
}

int
main(void)
{
	test_boundary();
	test_revival();
	test_small();
	test_collinear();
	test_exact_responses();
	test_no_features();
	test_offsets();
	return check_summary();
}
