/*
 * test_prior_tasks.c
 *	  Noise and scale of the tasks' own, and fixed features.
 */
#include "prior/prior_fixture.h"

#include "core/prior/posterior.h"
#include "core/prior/prior_internal.h"

static WmlcPrior
robust_fit(const TaskSet *set, const WmlcPriorOptions *options)
{
	WmlcPriorTasks tasks = as_tasks(set);
	size_t		d = set->dims;
	WmlcPrior	prior = {.mean = malloc(d * sizeof(double)), .factor = malloc(d * d * sizeof(double)),
		.mean_factor = malloc(d * d * sizeof(double))};
	void	   *work = malloc(wmlc_prior_fit_workspace(set->dims, set->count, options));

	CHECK(wmlc_prior_fit(&tasks, options, &prior, work) == WMLC_OK, "fit");
	free(work);
	return prior;
}

static double
loglik_of(const WmlcPrior *prior, const TaskSet *set)
{
	WmlcPriorTasks tasks = as_tasks(set);
	void	   *work = malloc(wmlc_prior_loglik_workspace(set->dims, set->count));
	double		loglik = NAN;

	CHECK(wmlc_prior_loglik(prior, &tasks, NULL, &loglik, work) == WMLC_OK, "loglik");
	free(work);
	return loglik;
}

/* Multiply a task's responses, in all its sums. */
static void
scale_responses(TaskSet *set, size_t task, double factor)
{
	int			p = set->dims + 1;
	size_t		size = wmlc_triangle_size(p);

	for (int i = 0; i < p; i++)
	{
		size_t		at = task * size + wmlc_triangle_index(p, i, p - 1);

		set->moments[at] *= i == p - 1 ? factor * factor : factor;
		set->moments_lo[at] *= i == p - 1 ? factor * factor : factor;
	}
}

/* Add to a task's coefficients. */
static void
shift_coefficients(TaskSet *set, int task, const double *shift)
{
	int			d = set->dims;
	double	   *g = set->moments + task * wmlc_triangle_size(d + 1);
	double	   *lo = set->moments_lo + task * wmlc_triangle_size(d + 1);
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
	{
		double		moved = 0.0;

		for (int j = 0; j < d; j++)
			moved += g[i <= j ? wmlc_triangle_index(d + 1, i, j) : wmlc_triangle_index(d + 1, j, i)] * shift[j];
		sum += shift[i] * (2.0 * g[wmlc_triangle_index(d + 1, i, d)] + moved);
		g[wmlc_triangle_index(d + 1, i, d)] += moved;
		lo[wmlc_triangle_index(d + 1, i, d)] = 0.0;
	}
	g[wmlc_triangle_index(d + 1, d, d)] += sum;
	lo[wmlc_triangle_index(d + 1, d, d)] = 0.0;
}

/*
 * The fit's own log-likelihood is that of the prior it returns, task by task, and
 * without a difference between tasks that of the plain fit.
 */
static void
test_likelihood(void)
{
	const double mean[3] = {1.0, -2.0, 0.5};
	const double factor[9] = {1.0, 0.5, -0.3, 0.0, 0.8, 0.2, 0.0, 0.0, 0.4};
	uint64_t	state = 5;

	for (int round = 0; round < 8; round++)
	{
		TaskSet		set = draw_tasks(3, 40, 6, 14, mean, factor, 0.7, &state);
		WmlcPriorOptions options = {.covariance = round / 4, .own_noise = round % 2,
			.student = round / 2 % 2};
		WmlcPriorOptions plain = {.covariance = round / 4};
		WmlcPrior	prior,
					other;

		for (int j = 0; j < (int) set.count && options.own_noise; j++)
			scale_responses(&set, j, j % 4 == 0 ? 5.0 : 1.0);
		prior = robust_fit(&set, &options);
		other = robust_fit(&set, &plain);
		CHECK(prior.converged, "round %d", round);
		CHECK(fabs(prior.loglik - loglik_of(&prior, &set)) < 1e-3, "round %d: %.9g, not %.9g", round,
			  prior.loglik, loglik_of(&prior, &set));
		CHECK((prior.noise_shape > 0.0) == options.own_noise
			  && (prior.spread_degrees > 0.0) == options.student, "round %d", round);
		if (options.own_noise)
			CHECK(prior.loglik > other.loglik + 5.0, "round %d: %g, not above %g", round,
				  prior.loglik, other.loglik);
		free_prior(&prior);
		free_prior(&other);
		free_tasks(&set);
	}
}

/* In each of the first tasks, of two features, a row at (1, 0) whose response is so much more. */
static void
mistype(TaskSet *set, int count, double more)
{
	for (int j = 0; j < count; j++)
	{
		double	   *g = set->moments + j * triangle(3);

		g[wmlc_triangle_index(3, 0, 2)] += more;
		g[wmlc_triangle_index(3, 2, 2)] += more * more;
	}
}

/*
 * Tasks of one noise, and a mistyped row: however certain the distribution of noises is, the robust
 * fit is the likelier one, and the plain one where no row is mistyped.
 */
static void
test_strange_likelihood(void)
{
	const double mean[2] = {1.0, -1.0};
	const double factor[4] = {0.5, 0.2, 0.0, 0.5};
	uint64_t	state = 23;
	TaskSet		set = draw_tasks(2, 12, 15, 15, mean, factor, 0.5, &state);
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .student = true, .own_noise = true};
	WmlcPriorOptions plain_options = {.method = WMLC_PRIOR_REML};

	for (int wrong = 0; wrong < 2; wrong++)
	{
		WmlcPrior	robust = robust_fit(&set, &options);
		WmlcPrior	plain = robust_fit(&set, &plain_options);
		double		gain = robust.loglik - plain.loglik;

		CHECK(wrong ? gain > 100.0 : gain < 5.0, "%d: %g, %g", wrong, robust.loglik, plain.loglik);
		CHECK(robust.noise_shape > 20.0, "%d: %g", wrong, robust.noise_shape);
		CHECK(wmlc_prior_is_worth(&robust, &plain) == wrong, "%d: gain %g", wrong, gain);
		free_prior(&robust);
		free_prior(&plain);
		mistype(&set, 1, 100.0);
	}
	free_tasks(&set);
}

/* Tasks whose noise, and with `together` also their spread, differs by a factor of up to exp(2) either way */
static TaskSet
draw_unequal(bool together, uint64_t *state)
{
	const double mean[2] = {0.0, 0.0};
	const double factor[4] = {1.0, 0.3, 0.0, 0.6};
	const double none[4] = {0};
	TaskSet		set = draw_tasks(2, 80, 10, 20, mean, together ? factor : none, 0.4, state);

	for (int j = 0; j < set.count; j++)
	{
		double		w[2] = {check_normal(state), 0.6 * check_normal(state)};

		scale_responses(&set, j, exp(4.0 * check_random(state) - 2.0));
		if (!together)
			shift_coefficients(&set, j, w);
	}
	return set;
}

/*
 * Does the spread go with the noise?  The power is found, and no other is more likely but for
 * what is believed beforehand, a slope of 2 * 8 (1 - power).
 */
static void
test_power(void)
{
	uint64_t	state = 21;

	for (int round = 0; round < 6; round++)
	{
		bool		together = round % 2;
		TaskSet		set = draw_unequal(together, &state);
		WmlcPriorOptions options = {.own_noise = true, .student = round >= 4};
		WmlcPrior	prior = robust_fit(&set, &options);
		double		power = prior.noise_power;
		double		step = 1e-3;
		double		slope;

		CHECK(prior.converged, "round %d", round);
		CHECK(together ? power > 0.8 : power < 0.25, "round %d: %g", round, power);
		prior.noise_power = power + step;
		slope = loglik_of(&prior, &set);
		prior.noise_power = power - step;
		slope = (slope - loglik_of(&prior, &set)) / (2.0 * step);
		if (power > 0.0 && power < 1.0)
			CHECK(fabs(slope + 16.0 * (1.0 - power)) < 1.0, "round %d: slope %g at %g", round, slope, power);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/* Slope and curvature in log v of what the distance adds are those of the likelihood. */
static void
test_distance(void)
{
	const double h = 1e-4;
	double		noise = 0.3;
	double		used = 1.2;

	for (double power = 0.0; power <= 1.0; power += 0.25)
		for (double distance = 0.0; distance <= 2.0; distance += 0.5)
		{
			double		degrees = 0.0;
			double		squares = 0.0;
			double		like[3],
						true_like[3];

			wmlc_add_distance(power, noise, used, distance, &degrees, &squares);
			for (int k = 0; k < 3; k++)
			{
				double		g = (k - 1) * h;

				like[k] = degrees * g + squares / noise * exp(-g);
				true_like[k] = power * used * g + distance * exp(-power * g);
			}
			CHECK(degrees >= 0.0, "%g, %g: %g degrees", power, distance, degrees);
			CHECK(fabs(like[2] - like[0] - true_like[2] + true_like[0]) < 1e-7 * h + 1e-13, "%g, %g: slope", power, distance);
			if (degrees > 0.0)
				CHECK(fabs(like[2] + like[0] - 2.0 * like[1] - true_like[2] - true_like[0] + 2.0 * true_like[1]) < 1e-4 * h * h,
					  "%g, %g: curvature", power, distance);
		}
}

/* A mistyped row in some tasks leaves the distribution of noises as it is. */
static void
test_mistyped(void)
{
	const double mean[2] = {1.0, -1.0};
	const double factor[4] = {0.5, 0.2, 0.0, 0.5};
	uint64_t	state = 13;
	TaskSet		set = draw_tasks(2, 60, 12, 12, mean, factor, 0.5, &state);
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .student = true, .own_noise = true};
	WmlcPrior	clean,
				wrong;

	for (int j = 0; j < set.count; j++)
		scale_responses(&set, j, j % 2 == 0 ? 1.5 : 1.0);
	clean = robust_fit(&set, &options);
	mistype(&set, 3, 50.0);
	wrong = robust_fit(&set, &options);
	CHECK(wrong.noise_shape > 0.6 * clean.noise_shape && wrong.noise_shape < 1.7 * clean.noise_shape, "%g, not %g",
		  wrong.noise_shape, clean.noise_shape);
	CHECK(fabs(log(wrong.noise / clean.noise)) < 0.2, "%g, not %g", wrong.noise, clean.noise);
	free_prior(&clean);
	free_prior(&wrong);
	free_tasks(&set);
}

/*
 * Where noises differ by orders of magnitude, a gamma distribution that fits the quiet ones takes
 * nearly any for its own; the noises above the median know better.
 */
static void
test_mistyped_beside_quiet(void)
{
	const double mean[2] = {1.0, -1.0};
	const double factor[4] = {0.5, 0.2, 0.0, 0.5};
	uint64_t	state = 17;
	TaskSet		set = draw_tasks(2, 200, 12, 12, mean, factor, 0.5, &state);
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .student = true, .own_noise = true};
	WmlcPrior	clean,
				wrong;

	for (int j = 0; j < set.count; j++)
		scale_responses(&set, j, exp(-fabs(check_normal(&state))));
	clean = robust_fit(&set, &options);
	mistype(&set, 10, 500.0);
	wrong = robust_fit(&set, &options);
	CHECK(fabs(log(wrong.noise_shape / clean.noise_shape)) < 0.1, "%g, not %g", wrong.noise_shape, clean.noise_shape);
	CHECK(fabs(log(wrong.noise / clean.noise)) < 0.1, "%g, not %g", wrong.noise, clean.noise);
	CHECK(fabs(log(wrong.factor[0] / clean.factor[0])) < 0.1, "%g, not %g", wrong.factor[0], clean.factor[0]);
	free_prior(&clean);
	free_prior(&wrong);
	free_tasks(&set);
}

/* Tasks that do not belong weigh little, and the others' mean stays where it is. */
static void
test_outliers(void)
{
	const double mean[2] = {1.0, -1.0};
	const double factor[4] = {0.5, 0.2, 0.0, 0.5};
	uint64_t	state = 11;
	TaskSet		set = draw_tasks(2, 60, 10, 10, mean, factor, 0.5, &state);
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .student = true, .own_noise = true};
	WmlcPrior	clean = robust_fit(&set, &options);
	WmlcPrior	robust,
				plain;
	WmlcPosterior posterior;
	void	   *work = malloc(wmlc_posterior_workspace(2));
	size_t		size = wmlc_triangle_size(3);

	for (int j = 0; j < 3; j++)
		shift_coefficients(&set, j, (double[]) {20.0, -20.0});
	robust = robust_fit(&set, &options);
	options.student = options.own_noise = false;
	plain = robust_fit(&set, &options);
	for (int i = 0; i < 2; i++)
		CHECK(fabs(robust.mean[i] - clean.mean[i]) < 0.2, "%g, not %g", robust.mean[i],
			  clean.mean[i]);
	CHECK(plain.factor[0] > 5.0 * robust.factor[0], "%g beside %g", plain.factor[0],
		  robust.factor[0]);
	for (int j = 0; j < (int) set.count; j++)
	{
		WmlcTarget	target = {.moments = set.moments + j * size,
			.moments_lo = set.moments_lo + j * size, .rows = set.rows[j]};

		CHECK(wmlc_posterior_of(&robust, &target, &posterior, work) == WMLC_OK, "task %d", j);
		CHECK((posterior.weight < 0.05) == (j < 3), "task %d weighs %g", j, posterior.weight);
	}
	free(work);
	free_prior(&clean);
	free_prior(&robust);
	free_prior(&plain);
	free_tasks(&set);
}

/* A handful of tasks is no evidence of heavy tails: as many as directions lie equally far in an S of their own. */
static void
test_few_tasks(void)
{
	const double mean[3] = {1.0, -1.0, 0.5};
	const double factor[9] = {3.0, 0.2, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.2};
	uint64_t	state = 43;
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .student = true, .own_noise = true, .evenness = 3.0};

	for (int draw = 0; draw < 20; draw++)
	{
		TaskSet		set = draw_tasks(3, 4 + draw % 3, 50, 80, mean, factor, 0.5, &state);
		WmlcPrior	prior;

		for (int j = 0; j < set.count; j++)
			scale_responses(&set, j, exp(1.5 * check_normal(&state)));
		prior = robust_fit(&set, &options);
		CHECK(prior.spread_degrees > 10.0, "%d tasks: %g", set.count, prior.spread_degrees);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/*
 * Fixed features: no spread, not even a little; and no other spread of the others is
 * more likely.
 */
static void
test_fixed(void)
{
	const double mean[4] = {1.0, -2.0, 0.5, 3.0};
	const double factor[16] = {1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0};
	const bool	random[4] = {true, false, true, false};
	uint64_t	state = 3;

	for (int round = 0; round < 8; round++)
	{
		TaskSet		set = draw_tasks(4, 30, 3, 9, mean, factor, 0.7, &state);
		WmlcPriorOptions options = {.method = round % 2, .covariance = round / 2 % 2,
			.random = random};
		WmlcPrior	prior = robust_fit(&set, &options);
		double		best = options.method == WMLC_PRIOR_ML ? prior.loglik : NAN;

		CHECK(prior.converged && prior.rank <= 2, "round %d: rank %d", round, prior.rank);
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++)
				if (!random[i])
					CHECK(prior.factor[i + 4 * j] == 0.0, "round %d: spread of %d", round, i);
		CHECK(isnan(best) || fabs(loglik_of(&prior, &set) - best) < 1e-7, "round %d", round);
		for (int k = 0; k < 20 && !isnan(best); k++)
		{
			static const int at[3] = {0, 2, 10};
			double		kept = prior.factor[at[k % 3]];

			if (k % 3 == 1 && options.covariance == WMLC_PRIOR_DIAGONAL)
				continue;
			prior.factor[at[k % 3]] += 0.02 * check_normal(&state);
			CHECK(loglik_of(&prior, &set) < best + 1e-9, "round %d: another spread is better", round);
			prior.factor[at[k % 3]] = kept;
			kept = prior.mean[k % 4];
			prior.mean[k % 4] += 0.02 * check_normal(&state);
			CHECK(loglik_of(&prior, &set) < best + 1e-9, "round %d: another mean is better", round);
			prior.mean[k % 4] = kept;
		}
		free_prior(&prior);
		free_tasks(&set);
	}
}

int
main(void)
{
	test_likelihood();
	test_strange_likelihood();
	test_power();
	test_distance();
	test_mistyped();
	test_mistyped_beside_quiet();
	test_outliers();
	test_few_tasks();
	test_fixed();
	return check_summary();
}
