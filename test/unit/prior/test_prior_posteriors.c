/*
 * test_prior_posteriors.c
 *	  Posteriors of all tasks of a fit against those of posterior.c, one by one; and
 *	  fits that start near the answer against those that do not.
 */
#include "core/prior/posterior.h"
#include "prior/prior_fixture.h"

#define DIMS 4
#define TASKS 23

static const double mean[DIMS] = {1.0, -2.0, 0.5, 0.0};
static const double factor[DIMS * DIMS] = {
	1.0, 0.0, 0.0, 0.0, 0.5, 0.7, 0.0, 0.0, -0.2, 0.1, 0.4, 0.0, 0.0, 0.3, 0.0, 0.8
};

/* Tasks some of which have no rows or weigh nothing, one with fewer rows than features. */
static TaskSet
draw_set(double offset, uint64_t *seed)
{
	TaskSet		set = draw_tasks(DIMS, TASKS, 3, 20, mean, factor, 1.0, seed);

	for (int j = 0; j < TASKS; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
			set.data[j][i * (DIMS + 1) + 1] += offset;
	set.rows[5] = 0.0;
	sum_tasks(&set);
	return set;
}

static void
check_posteriors(const TaskSet *set, WmlcPriorOptions options, const double *alpha, double tolerance)
{
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPrior	prior = new_prior(DIMS);
	void	   *work = malloc(wmlc_prior_fit_workspace(DIMS, TASKS, &options));
	void	   *posterior_work = malloc(wmlc_posterior_workspace(DIMS));
	double		coef[TASKS * DIMS];
	double		covariance[TASKS * DIMS * DIMS];

	tasks.alpha = alpha;
	CHECK(wmlc_prior_fit(&tasks, &options, &prior, work) == WMLC_OK, "fit");

	/* another prior than the one found */
	prior.mean[0] += 0.3;
	prior.factor[1] += options.covariance == WMLC_PRIOR_FULL && options.random == NULL ? 0.1 : 0.0;
	CHECK(wmlc_prior_posteriors(&prior, coef, covariance, work) == WMLC_OK, "posteriors");
	for (int j = 0; j < TASKS; j++)
	{
		WmlcPosterior posterior;
		double		right[DIMS * DIMS];
		bool		none = set->rows[j] == 0.0 || (alpha != NULL && alpha[j] == 0.0);
		size_t		entries = triangle(DIMS + 1);

		CHECK(wmlc_posterior(&prior, none ? NULL : set->moments + j * entries,
							 none ? NULL : set->moments_lo + j * entries, &posterior,
							 posterior_work) == WMLC_OK, "posterior");
		wmlc_posterior_covariance(&posterior, right);
		for (int i = 0; i < DIMS; i++)
			CHECK_NEAR(coef[j * DIMS + i], posterior.coef[i], tolerance * (1.0 + fabs(posterior.coef[i])));
		for (int i = 0; i < DIMS * DIMS; i++)
			CHECK_NEAR(covariance[j * DIMS * DIMS + i], right[i], tolerance * (1.0 + fabs(right[i])));
	}
	free(work);
	free(posterior_work);
	free_prior(&prior);
}

static void
test_posteriors(void)
{
	uint64_t	seed = 31;
	const bool	random[DIMS] = {true, false, true, false};
	double		alpha[TASKS];

	for (int j = 0; j < TASKS; j++)
		alpha[j] = j % 4 == 3 ? 0.0 : 1.0 + j;
	for (int i = 0; i < 5; i++)
	{
		TaskSet		set = draw_set(i == 4 ? 1e5 : 0.0, &seed);
		double		tolerance = i == 4 ? 1e-6 : 1e-11;

		check_posteriors(&set, (WmlcPriorOptions) {.fixed_noise = 1.0}, NULL, tolerance);
		check_posteriors(&set, (WmlcPriorOptions) {.fixed_noise = 1.0}, alpha, tolerance);
		check_posteriors(&set, (WmlcPriorOptions) {.method = WMLC_PRIOR_REML}, NULL, tolerance);
		check_posteriors(&set, (WmlcPriorOptions) {.covariance = WMLC_PRIOR_DIAGONAL}, NULL, tolerance);
		check_posteriors(&set, (WmlcPriorOptions) {.fixed_noise = 1.0, .random = random}, NULL, tolerance);
		free_tasks(&set);
	}
}

/* Collinear features: all coefficients of the same predictions are as good. */
static void
test_collinear(void)
{
	uint64_t	seed = 32;
	TaskSet		set = draw_set(0.0, &seed);

	for (int j = 0; j < TASKS; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
			set.data[j][i * (DIMS + 1) + 3] = 2.0 * set.data[j][i * (DIMS + 1) + 1];
	sum_tasks(&set);
	check_posteriors(&set, (WmlcPriorOptions) {.fixed_noise = 1.0}, NULL, 1e-10);
	free_tasks(&set);
}

/* Where a fit starts makes no difference, be it near or far. */
static void
check_near(const TaskSet *set, WmlcPriorOptions options, bool dead)
{
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPrior	cold = new_prior(DIMS);
	WmlcPrior	near = new_prior(DIMS);
	WmlcPrior	warm = new_prior(DIMS);

	CHECK(fit_tasks(&tasks, options, &cold) == WMLC_OK, "cold");
	for (int i = 0; i < DIMS * DIMS; i++)
		near.factor[i] = dead ? 0.0 : 1.3 * cold.factor[i];
	options.near = &near;
	CHECK(fit_tasks(&tasks, options, &warm) == WMLC_OK, "warm");
	CHECK_NEAR(warm.loglik, cold.loglik, 1e-8 * fabs(cold.loglik));
	for (int i = 0; i < DIMS; i++)
	{
		CHECK_NEAR(warm.mean[i], cold.mean[i], 1e-5);
		for (int j = 0; j <= i; j++)
			CHECK_NEAR(covariance_entry(&warm, i, j), covariance_entry(&cold, i, j), 1e-4);
	}
	if (!dead)
		CHECK(warm.iterations <= cold.iterations, "%d iterations instead of %d", warm.iterations, cold.iterations);
	free_prior(&cold);
	free_prior(&near);
	free_prior(&warm);
}

static void
test_near(void)
{
	uint64_t	seed = 33;
	const bool	random[DIMS] = {true, false, true, false};

	for (int i = 0; i < 10; i++)
	{
		TaskSet		set = draw_set(0.0, &seed);

		for (int dead = 0; dead < 2; dead++)
		{
			check_near(&set, (WmlcPriorOptions) {.fixed_noise = 1.0}, dead);
			check_near(&set, (WmlcPriorOptions) {.fixed_noise = 1.0, .method = WMLC_PRIOR_REML}, dead);
			check_near(&set, (WmlcPriorOptions) {.fixed_noise = 1.0, .covariance = WMLC_PRIOR_DIAGONAL}, dead);
			check_near(&set, (WmlcPriorOptions) {.fixed_noise = 1.0, .random = random}, dead);
		}
		free_tasks(&set);
	}
}

int
main(void)
{
	test_posteriors();
	test_collinear();
	test_near();
	return check_summary();
}
