/*
 * test_uncertainty.c
 *	  What sources leave open about a prior: against the formulas in one direction, in
 *	  another basis, and by how often intervals hold that few sources have taught.
 */
#include "core/prior/posterior.h"
#include "prior/prior_fixture.h"

/* E of one direction, from the formulas: what is added to the covariance of the mean */
static double
extra_of_one(const WmlcPrior *prior, double information, double residual)
{
	double		tasks = prior->effective_tasks;
	double		n = tasks - 1.0;
	double		all = n + prior->evenness;
	double		spread = prior->factor[0] * prior->factor[0];
	double		typical = tasks * wmlc_mean_covariance(prior, 0, 0);
	double		extra = prior->evenness / n * prior->unevenness * spread
		+ (prior->restricted ? 0.0 : (tasks / n - 1.0) * typical);
	double		errors = fmin(2.0 * sqrt(2.0 / all), 1.0);
	double		gain = (n - prior->evenness) / all;
	double		own = spread / (spread + 1.0 / information);
	double		scale,
				share,
				distance;

	typical += extra;
	scale = (1.0 - errors) * (spread + extra) + errors * typical;
	share = typical / (scale + 1.0 / information);
	distance = residual * residual * typical / pow(scale + 1.0 / information, 2.0);
	scale = (all + distance + (gain + 2.0) * share) / all - 1.0;
	scale *= pow(spread / typical, 0.5 * 0.5 / all);
	return extra + (scale + (all / fmax(all - gain * (share - own), 1.0) - 1.0) / tasks) * typical;
}

static void
test_one_direction(void)
{
	uint64_t	state = 41;
	void	   *work = malloc(wmlc_posterior_workspace(1));

	for (int round = 0; round < 40; round++)
	{
		WmlcPrior	prior = new_prior(1);
		double		known = 1.0 + 20.0 * check_random(&state);
		double		residual = check_normal(&state);
		double		moments[3] = {known, 0.0, 0.0};
		WmlcPosterior posterior;

		prior.rank = 1;
		prior.noise = 0.2 + check_random(&state);
		prior.mean[0] = check_normal(&state);
		prior.factor[0] = 0.5 + check_random(&state);
		/* a gram of rows with the constant alone */
		moments[1] = known * (prior.mean[0] + residual);
		moments[2] = moments[1] * moments[1] / known + 3.0;
		prior.descriptors = 1;
		prior.restricted = round % 2 == 0;
		prior.evenness = round % 3;
		prior.unevenness = round % 3 == 0 ? 0.0 : 0.3 * check_random(&state);
		prior.effective_tasks = 2.0 + 10.0 * check_random(&state);
		prior.mean_factor[0] = prior.factor[0] * sqrt((1.1 + check_random(&state)) / prior.effective_tasks);
		CHECK(wmlc_posterior(&prior, moments, NULL, &posterior, work) == WMLC_OK, "round %d", round);
		CHECK_NEAR(posterior.mean_factor[0] * posterior.mean_factor[0],
				   wmlc_mean_covariance(&prior, 0, 0) + extra_of_one(&prior, known / prior.noise, residual), 1e-9);
		free_prior(&prior);
	}
	free(work);
}

/* z = B x, so w_x = B'w_z; the three features' prior from that of x, to that of z */
static void
change_prior(const WmlcPrior *from, const double b[9], WmlcPrior *to)
{
	double		s[9];
	double		inverse[9];
	double		left[9];

	/* B is lower triangular with a unit diagonal, and so is its inverse. */
	memset(inverse, 0, sizeof(inverse));
	for (int k = 0; k < 3; k++)
	{
		inverse[k + 3 * k] = 1.0;
		dense_forward(3, b, inverse + 3 * k);
	}
	for (int part = 0; part < 2; part++)
	{
		double	   *result = part == 0 ? to->factor : to->mean_factor;

		if (part == 0)
			wmlc_prior_covariance(from, s, NULL);
		else
			for (int i = 0; i < 9; i++)
				s[i] = wmlc_mean_covariance(from, i % 3, i / 3);
		/* B'^-1 S B^-1, B^-1 being inverse by columns */
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
			{
				left[i + 3 * j] = 0.0;
				for (int k = 0; k < 3; k++)
					left[i + 3 * j] += inverse[k + 3 * i] * s[k + 3 * j];
			}
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
			{
				result[i + 3 * j] = 0.0;
				for (int k = 0; k < 3; k++)
					result[i + 3 * j] += left[i + 3 * k] * inverse[k + 3 * j];
			}
		CHECK(dense_cholesky(3, result), "part %d", part);
		/* by rows, to columns */
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < i; j++)
			{
				result[i + 3 * j] = result[3 * i + j];
				result[3 * i + j] = 0.0;
			}
	}
	for (int i = 0; i < 3; i++)
	{
		to->mean[i] = 0.0;
		for (int k = 0; k < 3; k++)
			to->mean[i] += inverse[k + 3 * i] * from->mean[k];
	}
}

/* Features that are nearly collinear cost intervals no more digits than the features themselves. */
static void
test_collinear(void)
{
	const double mean[3] = {1.0, -1.0, 0.5};
	const double factor[9] = {0.8, 0, 0, 0.2, 0.5, 0, -0.3, 0.2, 0.4};
	const double close = 1e-7;
	uint64_t	state = 47;
	void	   *work = malloc(wmlc_posterior_workspace(3));

	for (int round = 0; round < 6; round++)
	{
		WmlcPrediction predictions[2][2];

		for (int basis = 0; basis < 2; basis++)
		{
			uint64_t	same = state;
			TaskSet		sources = draw_tasks(3, 12, 8, 15, mean, factor, 0.5, &same);
			TaskSet		target = draw_tasks(3, 1, 1 + round, 1 + round, mean, factor, 0.5, &same);
			double		x[3] = {1.0, 0.4, basis == 0 ? -2.0 : 0.4 + close * -2.0};
			WmlcPrior	prior;
			WmlcPosterior posterior;
			WmlcBounds	bounds;

			for (int j = 0; basis == 1 && j <= sources.count; j++)
			{
				TaskSet    *set = j < sources.count ? &sources : &target;
				int			task = j < sources.count ? j : 0;

				for (int i = 0; i < (int) set->rows[task]; i++)
				{
					double	   *row = set->data[task] + 4 * i;

					row[2] = row[1] + close * row[2];
				}
			}
			sum_tasks(&sources);
			sum_tasks(&target);
			prior = fitted(&sources, WMLC_PRIOR_REML, WMLC_PRIOR_FULL, round % 2);
			CHECK(wmlc_posterior(&prior, target.moments, target.moments_lo, &posterior, work) == WMLC_OK, "basis %d", basis);
			bounds = wmlc_posterior_bounds(&posterior, 0.9);
			wmlc_posterior_predict(&posterior, x, &bounds, &predictions[basis][0]);
			wmlc_posterior_prepare(&posterior);
			wmlc_posterior_predict(&posterior, x, &bounds, &predictions[basis][1]);
			free_prior(&prior);
			free_tasks(&sources);
			free_tasks(&target);
			if (basis == 1)
				state = same;
		}
		for (int k = 0; k < 2; k++)
		{
			CHECK_NEAR(predictions[1][k].lower, predictions[0][0].lower, 1e-5);
			CHECK_NEAR(predictions[1][k].upper, predictions[0][0].upper, 1e-5);
			CHECK_NEAR(predictions[1][k].mean_upper, predictions[0][0].mean_upper, 1e-5);
		}
	}
	free(work);
}

/* A change of basis leaves intervals as they are, also where tasks are fewer than directions. */
static void
test_basis(void)
{
	const double b[9] = {1.0, 0, 0, 30.0, 1.0, 0, -4.0, 0.5, 1.0};	/* by rows */
	const double x[3] = {1.0, 0.4, -2.0};
	double		z[3] = {x[0], 30.0 * x[0] + x[1], -4.0 * x[0] + 0.5 * x[1] + x[2]};
	const double mean[3] = {1.0, -1.0, 0.5};
	const double factor[9] = {0.8, 0, 0, 0.2, 0.5, 0, -0.3, 0.2, 0.4};
	uint64_t	state = 43;
	void	   *work = malloc(wmlc_posterior_workspace(3));

	for (int round = 0; round < 12; round++)
	{
		TaskSet		sources = draw_tasks(3, 8, 8, 15, mean, factor, 0.5, &state);
		TaskSet		target = draw_tasks(3, 1, 1 + round, 1 + round, mean, factor, 0.5, &state);
		WmlcPrior	prior = fitted(&sources, WMLC_PRIOR_REML, WMLC_PRIOR_FULL, 1.0);
		WmlcPrior	changed = prior;
		WmlcPrior	copy = new_prior(3);
		WmlcPosterior posterior;
		WmlcBounds	bounds;
		WmlcPrediction before,
					after;

		/* so few that tasks are missing, or enough */
		prior.effective_tasks = changed.effective_tasks = round % 2 == 0 ? 2.5 : 8.0;
		prior.evenness = changed.evenness = round % 2;
		changed.mean = copy.mean;
		changed.factor = copy.factor;
		changed.mean_factor = copy.mean_factor;
		for (int i = 0; i < 9; i++)
			prior.mean_factor[i] *= sqrt(8.0 / prior.effective_tasks);
		change_prior(&prior, b, &changed);

		CHECK(wmlc_posterior(&prior, target.moments, target.moments_lo, &posterior, work) == WMLC_OK, "x");
		bounds = wmlc_posterior_bounds(&posterior, 0.9);
		wmlc_posterior_predict(&posterior, x, &bounds, &before);
		for (int i = 0; i < (int) target.rows[0]; i++)
		{
			double	   *row = target.data[0] + 4 * i;

			row[2] += -4.0 * row[0] + 0.5 * row[1];
			row[1] += 30.0 * row[0];
		}
		sum_tasks(&target);
		CHECK(wmlc_posterior(&changed, target.moments, target.moments_lo, &posterior, work) == WMLC_OK, "z");
		bounds = wmlc_posterior_bounds(&posterior, 0.9);
		wmlc_posterior_predict(&posterior, z, &bounds, &after);
		CHECK_NEAR(after.estimate, before.estimate, 1e-8);
		CHECK_NEAR(after.upper, before.upper, 1e-5);
		CHECK_NEAR(after.mean_upper, before.mean_upper, 1e-5);
		free_prior(&prior);
		free_prior(&copy);
		free_tasks(&sources);
		free_tasks(&target);
	}
	free(work);
}

/* One kind of sources: how many, how careful their fit is, and how many features differ */
typedef struct FewScene
{
	int			sources;
	double		evenness;
	int			differ;
	int			known;
	double		within[3];		/* of 50, 90 and 95 % */
	double		noise;			/* standard deviation */
	bool		diagonal;		/* S is, and is fitted as such */
} FewScene;

#define FEW_WORLDS 200
#define FEW_TARGETS 4
#define FEW_PLACES 4

static double
normal_below(double x)
{
	return 0.5 * erfc(-x / sqrt(2.0));
}

/* The share of new rows of a target within its bounds, from the distribution of rows that its known ones leave. */
static void
cover_few(const WmlcPrior *prior, const WmlcPrior *truth, const TaskSet *known, uint64_t *state, void *work,
		  void *truth_work, double covered[3])
{
	const double levels[] = {0.5, 0.9, 0.95};
	WmlcPosterior posterior,
				exact;
	double		v[9];
	const double *moments = known->rows[0] > 0.0 ? known->moments : NULL;

	CHECK(wmlc_posterior(prior, moments, known->moments_lo, &posterior, work) == WMLC_OK, "ok");
	CHECK(wmlc_posterior(truth, moments, known->moments_lo, &exact, truth_work) == WMLC_OK, "ok");
	wmlc_posterior_covariance(&exact, v);
	for (int i = 0; i < FEW_PLACES; i++)
	{
		double		x[3] = {1.0, check_normal(state), check_normal(state)};
		double		mean = 0.0,
					variance = truth->noise;

		for (int k = 0; k < 3; k++)
		{
			mean += x[k] * exact.coef[k];
			for (int j = 0; j < 3; j++)
				variance += x[k] * v[k + 3 * j] * x[j];
		}
		for (int l = 0; l < 3; l++)
		{
			WmlcBounds	bounds = wmlc_posterior_bounds(&posterior, levels[l]);
			WmlcPrediction p;

			wmlc_posterior_predict(&posterior, x, &bounds, &p);
			CHECK(p.mean_upper <= p.upper && p.mean_lower >= p.lower, "%g and %g", p.mean_upper, p.upper);
			covered[l] += normal_below((p.upper - mean) / sqrt(variance)) - normal_below((p.lower - mean) / sqrt(variance));
		}
	}
}

/* Intervals have the level that they claim with a handful of sources, too. */
static void
test_few_sources(void)
{
	const FewScene scenes[] = {
		{10, 0.0, 3, 0, {0.02, 0.02, 0.02}, 1.0, false},
		{10, 0.0, 3, 6, {0.02, 0.02, 0.02}, 1.0, false},
		{5, 0.0, 3, 4, {0.03, 0.025, 0.025}, 1.0, false},
		{5, 3.0, 3, 0, {0.025, 0.025, 0.02}, 1.0, false},
		{5, 3.0, 3, 4, {0.025, 0.025, 0.02}, 1.0, false},
		{3, 3.0, 3, 4, {0.03, 0.025, 0.025}, 1.0, false},
		{3, 0.0, 3, 4, {0.04, 0.04, 0.03}, 1.0, false},
		{3, 0.0, 1, 4, {0.03, 0.025, 0.02}, 1.0, false},
		{2, 3.0, 3, 4, {0.04, 0.03, 0.03}, 1.0, false},
		{3, 0.0, 3, 3, {0.04, 0.04, 0.03}, 0.3, false},
		{2, 0.0, 3, 3, {0.05, 0.04, 0.03}, 0.3, false},
		{5, 0.0, 3, 3, {0.03, 0.02, 0.02}, 1.0, true}
	};
	const double mean[3] = {1.0, -1.0, 0.5};
	const double factor[9] = {0.8, 0, 0, 0.2, 0.6, 0, -0.3, 0.2, 0.5};
	const double levels[] = {0.5, 0.9, 0.95};
	uint64_t	state = 47;
	void	   *work = malloc(wmlc_posterior_workspace(3));
	void	   *truth_work = malloc(wmlc_posterior_workspace(3));

	for (size_t n = 0; n < sizeof(scenes) / sizeof(scenes[0]); n++)
	{
		const FewScene *scene = &scenes[n];
		double		covered[3] = {0};
		const double one[9] = {0.8};
		const double apart[9] = {0.8, 0, 0, 0, 0.6, 0, 0, 0, 0.5};
		const double *spread = scene->diagonal ? apart : scene->differ == 1 ? one : factor;
		double		noise = scene->noise;
		WmlcPrior	truth = new_prior(3);

		memcpy(truth.mean, mean, sizeof(mean));
		for (int i = 0; i < 9; i++)
			truth.factor[i / 3 + i % 3 * 3] = spread[i];
		truth.noise = noise * noise;
		truth.rank = scene->differ;
		for (int world = 0; world < FEW_WORLDS; world++)
		{
			TaskSet		sources = draw_tasks(3, scene->sources, 10, 20, mean, spread, noise, &state);
			bool		random[3] = {true, scene->differ > 1, scene->differ > 1};
			WmlcPriorTasks tasks = as_tasks(&sources);
			WmlcPrior	prior = new_prior(3);

			CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {
				.method = WMLC_PRIOR_REML,
				.covariance = scene->diagonal ? WMLC_PRIOR_DIAGONAL : WMLC_PRIOR_FULL,
				.evenness = scene->evenness,
				.random = random
			}, &prior) == WMLC_OK, "fit");
			prior.descriptors = 1;
			for (int j = 0; j < FEW_TARGETS; j++)
			{
				TaskSet		known = draw_tasks(3, 1, scene->known, scene->known, mean, spread, noise, &state);

				cover_few(&prior, &truth, &known, &state, work, truth_work, covered);
				free_tasks(&known);
			}
			free_prior(&prior);
			free_tasks(&sources);
		}
		for (int l = 0; l < 3; l++)
		{
			double		share = covered[l] / (FEW_WORLDS * FEW_TARGETS * FEW_PLACES);

			CHECK(fabs(share - levels[l]) < scene->within[l], "%d sources, evenness %g, %d differ, %d known, noise %g: %.3f of %g",
				  scene->sources, scene->evenness, scene->differ, scene->known, noise, share, levels[l]);
		}
		free_prior(&truth);
	}
	free(work);
	free(truth_work);
}

int
main(void)
{
	test_one_direction();
	test_basis();
	test_collinear();
	test_few_sources();
	return check_summary();
}
