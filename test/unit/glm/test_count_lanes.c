/*
 * test_count_lanes.c
 *	  Counts side by side: steps against integration over a grid too fine to be
 *	  wrong, where they rest, in lanes that differ, and where they give up.
 */
#include "check.h"
#include "core/glm/count_lanes.h"
#include "core/glm/working.h"

static WmlcCountLanes
draw_lanes(uint64_t *seed)
{
	WmlcCountLanes lanes;

	for (int l = 0; l < WMLC_COUNT_LANES; l++)
	{
		double		mean;

		lanes.exposure[l] = 0.2 + 3.0 * check_random(seed);
		lanes.row_weight[l] = l % 3 == 0 ? 1.0 : 0.2 + check_random(seed);
		lanes.eta[l] = 1.5 * check_normal(seed);
		lanes.variance[l] = 0.05 + 1.5 * check_random(seed);
		mean = lanes.exposure[l] * exp(lanes.eta[l]);
		lanes.y[l] = floor(mean * 2.0 * check_random(seed));
		lanes.weight[l] = (0.05 + 0.6 * check_random(seed)) / lanes.variance[l];
		lanes.response[l] = lanes.eta[l] + 0.5 * check_normal(seed);
	}
	return lanes;
}

/*
 * What the rows found so far leave of the distribution, times the likelihood, has
 * the mean, variance, skewness and excess that the new rows say.  Nodes stand
 * as the distribution asks for where nothing moves any more, so that long steps need
 * not be exact; the answer is whether this one was short.
 */
static bool
check_step(const WmlcLikelihood *likelihood, const WmlcCountLanes *before,
		   const WmlcCountLanes *after, int l)
{
	WmlcResponse row = {before->y[l], before->exposure[l], 1.0};
	double		share = before->weight[l] * before->variance[l];
	double		variance = before->variance[l] / (1.0 - share);
	double		mean = (before->eta[l] - share * before->response[l]) / (1.0 - share);
	double		sd = sqrt(variance),
				step = 0.002,
				precision = 1.0 / variance + after->weight[l];
	double		sum[5] = {0.0};
	double		shift,
				spread;

	for (double t = -12.0; t <= 12.0; t += step)
	{
		double		term = exp(-0.5 * t * t + before->row_weight[l]
							   * wmlc_likelihood_shape(likelihood, &row, mean + t * sd));

		for (int power = 0; power < 5; power++, term *= t)
			sum[power] += term;
	}
	for (int power = 1; power < 5; power++)
		sum[power] /= sum[0];
	spread = sum[2] - sum[1] * sum[1];
	if (fabs(log(variance * spread / before->variance[l])) > 0.7
		|| fabs(mean + sd * sum[1] - before->eta[l]) > 1.5 * sqrt(before->variance[l]))
		return false;
	CHECK_NEAR(variance * spread * precision, 1.0, 2e-3);
	CHECK_NEAR(mean + sd * sum[1],
			   (mean / variance + after->weight[l] * after->response[l]) / precision, 1e-3);
	CHECK_NEAR(after->skew[l],
			   (sum[3] - sum[1] * (3.0 * sum[2] - 2.0 * sum[1] * sum[1])) / (spread * sqrt(spread)), 1e-2);
	CHECK_NEAR(after->excess[l],
			   (sum[4] - 4.0 * sum[1] * sum[3] + sum[1] * sum[1] * (6.0 * sum[2] - 3.0 * sum[1] * sum[1]))
			   / (spread * spread) - 3.0, 3e-2);
	shift = mean - after->response[l];
	CHECK_NEAR(after->log_scale[l],
			   log(sum[0] * step / sqrt(2.0 * M_PI)) + 0.5 * log(variance * precision)
			   + 0.5 * after->weight[l] * shift * shift / (variance * precision), 1e-4);
	return true;
}

static void
test_steps(void)
{
	const double dispersions[] = {0.0, 0.7, 1e-7};
	uint64_t	seed = 8;

	for (int k = 0; k < 3; k++)
	{
		WmlcLikelihood likelihood = {dispersions[k] > 0.0 ? WMLC_NEGATIVE_BINOMIAL : WMLC_POISSON, dispersions[k]};
		int			done = 0;

		for (int i = 0; i < 60; i++)
		{
			WmlcCountLanes before = draw_lanes(&seed);
			WmlcCountLanes after = before;
			unsigned	hard = wmlc_count_lanes_step(&after, dispersions[k]);

			for (int l = 0; l < WMLC_COUNT_LANES; l++)
				if (hard & (1U << l))
					CHECK(after.weight[l] == before.weight[l] && after.response[l] == before.response[l],
						  "moved");
				else
					done += check_step(&likelihood, &before, &after, l);
		}
		CHECK(done > 200, "dispersion %g: %d of 480 done", dispersions[k], done);
	}
}

/* Where the parabola found anew stands, a step stays. */
static void
test_rest(void)
{
	uint64_t	seed = 9;
	int			done = 0;

	for (int i = 0; i < 50; i++)
	{
		WmlcLikelihood likelihood = {i % 2 == 0 ? WMLC_POISSON : WMLC_NEGATIVE_BINOMIAL, i % 2 == 0 ? 0.0 : 0.5};
		WmlcCountLanes lanes = draw_lanes(&seed);
		WmlcCountLanes after;
		unsigned	hard;

		for (int l = 0; l < WMLC_COUNT_LANES; l++)
		{
			WmlcResponse row = {lanes.y[l], lanes.exposure[l], lanes.row_weight[l]};
			WmlcWorkingRow working = wmlc_working_row(&likelihood, &row, lanes.eta[l], lanes.variance[l]);

			lanes.weight[l] = working.weight;
			lanes.response[l] = working.response;
			lanes.log_scale[l] = working.log_scale;
			lanes.skew[l] = working.skew;
			lanes.excess[l] = working.excess;
		}
		after = lanes;
		hard = wmlc_count_lanes_step(&after, likelihood.dispersion);
		for (int l = 0; l < WMLC_COUNT_LANES; l++)
		{
			/* what nearly takes up all of the distribution is hard to find exactly */
			if ((hard & (1U << l)) || lanes.weight[l] * lanes.variance[l] > 0.6)
				continue;
			done++;
			CHECK_NEAR(after.weight[l] / lanes.weight[l], 1.0, 1e-4);
			CHECK_NEAR(after.response[l], lanes.response[l], 1e-4 * (1.0 + fabs(lanes.response[l])));
			CHECK_NEAR(after.log_scale[l], lanes.log_scale[l], 1e-5 * (1.0 + fabs(lanes.log_scale[l])));
			CHECK_NEAR(after.skew[l], lanes.skew[l], 1e-3);
			CHECK_NEAR(after.excess[l], lanes.excess[l], 5e-3);
		}
	}
	CHECK(done > 200, "%d of 400 done", done);
}

/* A row is the same whatever stands beside it, but for the last digits. */
static void
test_neighbours(void)
{
	uint64_t	seed = 7;

	for (int i = 0; i < 100; i++)
	{
		WmlcCountLanes lanes = draw_lanes(&seed);
		WmlcCountLanes other = draw_lanes(&seed);
		unsigned	hard;

		other.eta[3] = lanes.eta[3];
		other.variance[3] = lanes.variance[3];
		other.y[3] = lanes.y[3];
		other.exposure[3] = lanes.exposure[3];
		other.row_weight[3] = lanes.row_weight[3];
		other.weight[3] = lanes.weight[3];
		other.response[3] = lanes.response[3];
		hard = wmlc_count_lanes_step(&lanes, 0.0);
		hard |= wmlc_count_lanes_step(&other, 0.0);
		if (hard & (1U << 3))
			continue;
		CHECK_NEAR(other.weight[3] / lanes.weight[3], 1.0, 1e-3);
		CHECK_NEAR(other.response[3], lanes.response[3], 1e-3 * (1.0 + fabs(lanes.response[3])));
	}
}

/* Far off a lane is hard, or else what it says is finite. */
static void
test_extremes(void)
{
	const double numbers[] = {0.0, 1e-300, 1e-9, 0.5, 1.0, 3.0, 1e5, 0x1p53, 1e300, NAN, INFINITY, -1.0};
	const int	count = sizeof(numbers) / sizeof(numbers[0]);
	uint64_t	seed = 11;

	for (int i = 0; i < 20000; i++)
	{
		WmlcCountLanes lanes;
		double	   *const fields[] = {lanes.eta, lanes.variance, lanes.y, lanes.exposure, lanes.row_weight, lanes.weight, lanes.response};
		unsigned	hard;

		for (int f = 0; f < 7; f++)
			for (int l = 0; l < WMLC_COUNT_LANES; l++)
				fields[f][l] = numbers[(int) (check_random(&seed) * count)];
		hard = wmlc_count_lanes_step(&lanes, i % 2 == 0 ? 0.0 : numbers[(int) (check_random(&seed) * 9)]);
		for (int l = 0; l < WMLC_COUNT_LANES; l++)
			CHECK((hard & (1U << l)) || (isfinite(lanes.response[l]) && isfinite(lanes.log_scale[l])
										 && lanes.weight[l] > 0.0 && isfinite(lanes.weight[l])),
				  "%g %g %g %g", lanes.eta[l], lanes.variance[l], lanes.response[l], lanes.weight[l]);
	}
}

int
main(void)
{
	test_steps();
	test_rest();
	test_neighbours();
	test_extremes();
	return check_summary();
}
