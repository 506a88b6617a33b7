/*
 * test_excess.c
 *	  Counts that vary too much: what the test adds up against integration over the
 *	  posterior and over all counts, and what it says of simulated tasks.
 */
#include <stdlib.h>

#include "check.h"
#include "core/glm/excess.h"

#define GRID 4001
#define MOST_COUNT 400

/*
 * Of a row with eta ~ N(m, s2) before its count is known: the posterior's moments
 * by a grid, and the working row that leads there.
 */
typedef struct Known
{
	double		chance;			/* of the count */
	double		mean;			/* E mu, E mu^2 */
	double		square;
	double		eta;
	double		variance;
	WmlcWorkingRow working;
} Known;

static Known
integrate(double m, double s2, double exposure, double y)
{
	double		sum[5] = {0.0};
	Known		known;

	for (int i = 0; i < GRID; i++)
	{
		double		t = -10.0 + 20.0 * i / (GRID - 1);
		double		eta = m + sqrt(s2) * t;
		double		mu = exposure * exp(eta);
		double		p = exp(-0.5 * t * t + y * log(mu) - mu - lgamma(y + 1.0));

		sum[0] += p;
		sum[1] += p * mu;
		sum[2] += p * mu * mu;
		sum[3] += p * eta;
		sum[4] += p * eta * eta;
	}
	known.chance = sum[0] * 20.0 / (GRID - 1) / sqrt(2.0 * M_PI);
	known.mean = sum[1] / sum[0];
	known.square = sum[2] / sum[0];
	known.eta = sum[3] / sum[0];
	known.variance = sum[4] / sum[0] - known.eta * known.eta;
	known.working.weight = 1.0 / known.variance - 1.0 / s2;
	known.working.response = (known.eta / known.variance - m / s2) / known.working.weight;
	return known;
}

/* What a row adds is the mean over its posterior; its mean over counts is 0, its variance no larger than said. */
static void
test_moments(void)
{
	const double cases[][3] = {{0.5, 0.8, 1.0}, {-2.0, 1.5, 1.0}, {2.0, 0.1, 3.0}, {-3.0, 0.3, 0.5}};

	for (int c = 0; c < 4; c++)
	{
		double		total = 0.0,
					mean = 0.0,
					squares = 0.0,
					variance = 0.0;

		for (int y = 0; y < MOST_COUNT; y++)
		{
			Known		known = integrate(cases[c][0], cases[c][1], cases[c][2], y);
			WmlcResponse row = {y, cases[c][2], 1.0};
			WmlcExcess	sums = {.excess = 0.0};
			double		right = y * (double) y - 2.0 * y * known.mean + known.square - y;

			wmlc_excess_add(&sums, &row, &known.working, known.eta, known.variance);
			if (!(known.chance > 1e-14))
				continue;
			if (known.chance > 1e-6)
			{
				CHECK_NEAR(sums.excess, right, 1e-5 * (1.0 + y * (double) y));
				CHECK_NEAR(sums.mean, known.mean, 1e-6 * (1.0 + y));
				CHECK_NEAR(sums.variance, 2.0 * known.square, 1e-5 * (1.0 + y * (double) y));
			}
			total += known.chance;
			mean += known.chance * right;
			squares += known.chance * right * right;
			variance += known.chance * 2.0 * known.square;
		}
		CHECK_NEAR(total, 1.0, 1e-6);
		CHECK_NEAR(mean, 0.0, 1e-3 * sqrt(variance));
		CHECK(squares < 1.001 * variance, "%g > %g", squares, variance);
	}
}

/* A count with mean m; with a dispersion of one half where that is said. */
static double
draw(double m, bool dispersed, uint64_t *seed)
{
	double		left = 1.0,
				count = -1.0;

	if (dispersed)
		m *= -0.5 * log(check_random(seed) * check_random(seed));
	for (; left > exp(-m); count++)
		left *= check_random(seed);
	return count;
}

typedef struct Scene
{
	int			tasks;
	int			rows;
	double		constant;
	double		spread;
} Scene;

/* Is the excess of a drawn set of this kind clear? */
static bool
is_clear(const Scene *scene, bool dispersed, uint64_t *seed)
{
	size_t		count = (size_t) scene->tasks * scene->rows;
	double	   *x = malloc(count * sizeof(double));
	double	   *y = malloc(count * sizeof(double));
	int64_t    *start = malloc((scene->tasks + 1) * sizeof(int64_t));
	WmlcHierarchyRows rows = {
		.rows = {.dims = 1, .count = count, .x = x, .y = y},
		.start = start,
		.work = malloc(wmlc_hierarchy_rows_workspace(1, count, scene->tasks))
	};
	WmlcHierarchyOptions options = {.corrected = true, .collect = wmlc_hierarchy_collect_rows, .collect_arg = &rows};
	double		mean,
				factor,
				error;
	WmlcPrior	prior = {.mean = &mean, .factor = &factor, .mean_factor = &error};
	WmlcHierarchy hierarchy = {.likelihood = {WMLC_POISSON, 0.0}};
	WmlcExcess	sums;
	void	   *work = malloc(wmlc_hierarchy_workspace(1, scene->tasks, &options));

	for (int j = 0; j <= scene->tasks; j++)
	{
		double		eta = scene->constant + scene->spread * check_normal(seed);

		start[j] = (int64_t) j * scene->rows;
		for (int i = 0; i < scene->rows && j < scene->tasks; i++)
		{
			x[start[j] + i] = 1.0;
			y[start[j] + i] = draw(exp(eta), dispersed, seed);
		}
	}
	y[0] += 1.0;				/* there is some count */
	CHECK(wmlc_hierarchy_fit(&hierarchy, 1, scene->tasks, &options, &prior, work) == WMLC_OK, "fit");
	CHECK(wmlc_excess_of_tasks(&sums, &rows, &hierarchy) == WMLC_OK, "excess");
	free(x);
	free(y);
	free(start);
	free(rows.work);
	free(work);
	return wmlc_excess_is_clear(&sums);
}

static void
test_tasks(void)
{
	const Scene scenes[] = {{100, 10, 0.0, 1.0}, {200, 3, 1.0, 2.0}, {5, 60, 1.0, 0.5}, {60, 5, -3.0, 1.5}, {200, 1, 1.0, 1.0}};
	uint64_t	seed = 3;

	for (int s = 0; s < 5; s++)
	{
		int			clear = 0,
					false_alarms = 0;

		for (int i = 0; i < 20; i++)
		{
			false_alarms += is_clear(&scenes[s], false, &seed);
			clear += is_clear(&scenes[s], true, &seed);
		}
		CHECK(false_alarms == 0, "scene %d: %d false alarms", s, false_alarms);

		/* of tasks with one row, or hardly any counts, nobody can tell */
		CHECK(s > 2 || clear >= 18, "scene %d: %d of 20", s, clear);
		CHECK(s < 4 || clear == 0, "scene %d: %d of 20", s, clear);
	}
}

/* One model of all rows: the same sums with exact rates. */
static void
test_rows(void)
{
	const double x[] = {1.0, 1.0, 1.0, 1.0};
	const double y[] = {0.0, 3.0, 1.0, 8.0};
	const double coef = log(3.0);
	WmlcGlmRows rows = {.dims = 1, .count = 4, .x = x, .y = y};
	WmlcExcess	sums;

	CHECK(wmlc_excess_of_rows(&sums, &rows, &coef, NULL) == WMLC_OK, "rows");
	CHECK_NEAR(sums.excess, 9.0 + 0.0 + 4.0 + 25.0 - 12.0, 1e-12);
	CHECK_NEAR(sums.mean, 12.0, 1e-12);
	CHECK_NEAR(sums.variance, 4 * 2.0 * 9.0, 1e-12);
	CHECK_NEAR(sums.third, 4 * (4.0 * 9.0 + 8.0 * 27.0), 1e-11);
	CHECK(!wmlc_excess_is_clear(&sums), "clear");
	CHECK(!wmlc_excess_is_clear(&(WmlcExcess) {.excess = 0.0}), "clear of nothing");
	CHECK(!wmlc_excess_is_clear(&(WmlcExcess) {NAN, NAN, NAN, NAN}), "clear of NaN");
}

int
main(void)
{
	test_moments();
	test_tasks();
	test_rows();
	return check_summary();
}
