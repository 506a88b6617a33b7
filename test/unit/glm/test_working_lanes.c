/*
 * test_working_lanes.c
 *	  Yes-or-no rows side by side: at a point against the derivatives, over a
 *	  distribution by integration over a grid too fine to be wrong, steps likewise,
 *	  and in lanes that differ.
 */
#include "check.h"
#include "core/glm/working.h"
#include "core/glm/working_lanes.h"

static WmlcWorkingLanes
draw_lanes(double widest, uint64_t *seed)
{
	WmlcWorkingLanes lanes;

	for (int l = 0; l < WMLC_WORKING_LANES; l++)
	{
		lanes.eta[l] = 3.0 * check_normal(seed);
		lanes.variance[l] = widest * check_random(seed);
		lanes.sign[l] = check_random(seed) < 0.5 ? 1.0 : -1.0;
	}
	return lanes;
}

static void
test_points(void)
{
	const WmlcLikelihood binomial = {WMLC_BINOMIAL, 0};
	uint64_t	seed = 5;

	for (int i = 0; i < 100; i++)
	{
		WmlcWorkingLanes lanes = draw_lanes(0.0, &seed);

		CHECK(wmlc_working_lanes(&lanes) == 0, "hard");
		for (int l = 0; l < WMLC_WORKING_LANES; l++)
		{
			WmlcResponse row = {lanes.sign[l] > 0.0, 1.0, 1.0};
			WmlcWorkingRow right = wmlc_working_row(&binomial, &row, lanes.eta[l], 0.0);

			CHECK_NEAR(lanes.weight[l] / right.weight, 1.0, 1e-13);
			CHECK_NEAR(lanes.response[l], right.response, 1e-12 * (1.0 + fabs(right.response)));
			CHECK_NEAR(lanes.log_scale[l], right.log_scale, 1e-12 * (1.0 + right.log_scale));
		}
	}
}

/* What defines a working row: see test_moments of test_working.c. */
static void
check_lane(const WmlcWorkingLanes *lanes, int l)
{
	double		eta = lanes->eta[l],
				sd = sqrt(lanes->variance[l]),
				step = fmin(0.02, 0.05 / sd);
	double		sum[3] = {0.0};
	double		shift;

	/* nodes are as close, and reach as far, as ordinary rows ask for */
	double		tolerance = lanes->variance[l] < 2.0 && lanes->weight[l] * lanes->variance[l] < 0.5 ? 5e-6 : 1e-3;

	for (double t = -40.0; t <= 40.0; t += step)
	{
		double		s = eta + t * sd;
		double		term;

		shift = s - lanes->response[l];
		term = exp(0.5 * lanes->weight[l] * shift * shift - 0.5 * t * t) / (1.0 + exp(-lanes->sign[l] * s))
			* step / sqrt(2.0 * M_PI);
		sum[0] += term;
		sum[1] += term * t;
		sum[2] += term * t * t;
	}
	CHECK_NEAR(sum[1] / sum[0], 0.0, tolerance);
	CHECK_NEAR(sum[2] / sum[0], 1.0, tolerance);
	CHECK_NEAR(lanes->log_scale[l], log(sum[0]), tolerance);
}

static void
test_moments(void)
{
	const double widest[] = {0.1, 1.0, 5.0, 90.0};
	uint64_t	seed = 6;

	for (int k = 0; k < 4; k++)
	{
		int			hard_lanes = 0;

		for (int i = 0; i < 50; i++)
		{
			WmlcWorkingLanes lanes = draw_lanes(widest[k], &seed);
			unsigned	hard = wmlc_working_lanes(&lanes);

			for (int l = 0; l < WMLC_WORKING_LANES; l++)
			{
				double		p = 1.0 / (1.0 + exp(-lanes.eta[l]));

				if (hard & (1U << l))
					hard_lanes++;
				else if (p * (1.0 - p) * lanes.variance[l] > WMLC_NARROW)
					check_lane(&lanes, l);
			}
		}
		CHECK(k == 3 || hard_lanes < 20, "up to %g %d of 400 are hard", widest[k], hard_lanes);
	}
}

/*
 * A step: what the rows found so far leave of the distribution, times the likelihood,
 * has the mean and variance that the new rows give it.
 */
static void
check_step(const WmlcWorkingLanes *before, const WmlcWorkingLanes *after, int l)
{
	double		share = before->weight[l] * before->variance[l];
	double		variance = before->variance[l] / (1.0 - share);
	double		mean = (before->eta[l] - share * before->response[l]) / (1.0 - share);
	double		sd = sqrt(variance),
				step = fmin(0.02, 0.05 / sd),
				precision = 1.0 / variance + after->weight[l];
	double		sum[3] = {0.0};
	double		shift;

	/* as in check_lane */
	double		tolerance = variance < 2.0 ? 5e-5 : 3e-4;

	for (double t = -40.0; t <= 40.0; t += step)
	{
		double		term = exp(-0.5 * t * t) / (1.0 + exp(-after->sign[l] * (mean + t * sd)));

		sum[0] += term;
		sum[1] += term * t;
		sum[2] += term * t * t;
	}
	sum[1] /= sum[0];
	sum[2] = variance * (sum[2] / sum[0] - sum[1] * sum[1]);
	CHECK_NEAR(sum[2] * precision, 1.0, tolerance);
	CHECK_NEAR(mean + sd * sum[1], (mean / variance + after->weight[l] * after->response[l]) / precision,
			   tolerance * (1.0 + sd));
	shift = mean - after->response[l];
	CHECK_NEAR(after->log_scale[l], log(sum[0] * step / sqrt(2.0 * M_PI)) + 0.5 * log(variance * precision)
			   + 0.5 * after->weight[l] * shift * shift / (variance * precision), tolerance);
}

static void
test_steps(void)
{
	uint64_t	seed = 8;
	int			done = 0;

	for (int i = 0; i < 200; i++)
	{
		WmlcWorkingLanes lanes = draw_lanes(3.0, &seed);
		WmlcWorkingLanes before;

		for (int l = 0; l < WMLC_WORKING_LANES; l++)
		{
			lanes.variance[l] += 0.1;
			lanes.eta[l] *= 0.5;
			lanes.weight[l] = i % 4 == 0 ? 0.0 : 0.8 * check_random(&seed) / lanes.variance[l];
			lanes.response[l] = lanes.eta[l] + check_normal(&seed);
		}
		before = lanes;
		if (!wmlc_working_lanes_step(&lanes))
			continue;
		done++;
		for (int l = 0; l < WMLC_WORKING_LANES; l++)
			check_step(&before, &lanes, l);
	}
	CHECK(done > 150, "%d of 200 done", done);
}

/* Where the parabola found anew stands, a step stays. */
static void
test_rest(void)
{
	uint64_t	seed = 9;
	int			done = 0;

	for (int i = 0; i < 200; i++)
	{
		WmlcWorkingLanes lanes = draw_lanes(1.0, &seed);
		WmlcWorkingLanes step;

		if (wmlc_working_lanes(&lanes) != 0)
			continue;
		step = lanes;
		if (!wmlc_working_lanes_step(&step))
			continue;
		done++;
		for (int l = 0; l < WMLC_WORKING_LANES; l++)
		{
			CHECK_NEAR(step.weight[l] / lanes.weight[l], 1.0, 1e-4);
			CHECK_NEAR(step.response[l], lanes.response[l], 1e-4 * (1.0 + fabs(lanes.response[l])));
			CHECK_NEAR(step.log_scale[l], lanes.log_scale[l], 1e-5);
		}
	}
	CHECK(done > 20, "%d of 200 done", done);
}

/* No step where the rows leave nothing of the distribution, or it is hopeless. */
static void
test_no_step(void)
{
	const double bad[][3] = {{0.0, 1.0, 1.0}, {0.0, 1.0, 1.5}, {-1e6, 1.0, 0.1}, {0.0, 1e6, 0.0}, {NAN, 1.0, 0.1}, {0.0, 0.0, 0.1}};

	for (int i = 0; i < 6; i++)
	{
		WmlcWorkingLanes lanes;

		for (int l = 0; l < WMLC_WORKING_LANES; l++)
		{
			lanes.eta[l] = l == 5 ? bad[i][0] : 0.3;
			lanes.variance[l] = l == 5 ? bad[i][1] : 1.0;
			lanes.weight[l] = l == 5 ? bad[i][2] : 0.1;
			lanes.response[l] = 0.5;
			lanes.sign[l] = 1.0;
		}
		CHECK(!wmlc_working_lanes_step(&lanes), "bad lane %d", i);
	}
}

/* A row is the same whatever stands beside it, but for the last digits. */
static void
test_neighbours(void)
{
	uint64_t	seed = 7;

	for (int i = 0; i < 100; i++)
	{
		WmlcWorkingLanes lanes = draw_lanes(4.0, &seed);
		WmlcWorkingLanes other = draw_lanes(50.0, &seed);
		unsigned	hard = wmlc_working_lanes(&lanes);

		other.eta[3] = lanes.eta[3];
		other.variance[3] = lanes.variance[3];
		other.sign[3] = lanes.sign[3];
		hard |= wmlc_working_lanes(&other);
		if (hard & (1U << 3))
			continue;
		CHECK_NEAR(other.weight[3] / lanes.weight[3], 1.0, 1e-9);
		CHECK_NEAR(other.response[3], lanes.response[3], 1e-9 * (1.0 + fabs(lanes.response[3])));
		CHECK_NEAR(other.log_scale[3], lanes.log_scale[3], 1e-9 * (1.0 + fabs(lanes.log_scale[3])));
	}
}

/* Far off a lane may be hard; it is never wrong without a word. */
static void
test_extremes(void)
{
	for (double eta = -1e6; eta <= 1e6; eta += 7.3e4)
		for (double variance = 1e-12; variance <= 1e12; variance *= 100.0)
		{
			WmlcWorkingLanes lanes;
			unsigned	hard;

			for (int l = 0; l < WMLC_WORKING_LANES; l++)
			{
				lanes.eta[l] = l % 2 == 0 ? eta : eta / 1e5;
				lanes.variance[l] = l < 4 ? variance : 1.0;
				lanes.sign[l] = l % 3 == 0 ? 1.0 : -1.0;
			}
			hard = wmlc_working_lanes(&lanes);
			for (int l = 0; l < WMLC_WORKING_LANES; l++)
				CHECK((hard & (1U << l)) || (isfinite(lanes.response[l]) && isfinite(lanes.log_scale[l])
											 && lanes.weight[l] >= WMLC_LEAST_WORKING_WEIGHT),
					  "%g, %g: %g %g", eta, variance, lanes.response[l], lanes.weight[l]);
		}
}

int
main(void)
{
	test_points();
	test_moments();
	test_steps();
	test_rest();
	test_no_step();
	test_neighbours();
	test_extremes();
	return check_summary();
}
