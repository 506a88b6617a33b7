/*
 * test_calibrate.c
 *	  Intervals from rehearsals: C and s2 by their definitions, the bound by
 *	  counting what a mixture draws, tasks whose known rows tell how hard they
 *	  are, and how often intervals cover where these happen to fit well.
 */
#include "core/base/student.h"
#include "core/compare/calibrate.h"
#include "core/model/adapt.h"
#include "core/model/ensemble.h"

#include "compare/compare_fixture.h"

#define D 2
#define MOST 200

/* Tasks known by some rows, and what a method found there. */
typedef struct Rehearsals
{
	int			count;
	WmlcTrial	trials[MOST];
	double		truth[MOST][D];
	double		found[MOST][D];
	WmlcGram   *target;
	double		target_found[D];
	double		target_off;		/* what this is off at (1, 2) */
	double		covariance[D * D];
	double		surprises[MOST];
	WmlcCalibration calibration;
} Rehearsals;

static WmlcGram *
draw_task(const double *w, int rows, double noise, uint64_t *seed)
{
	return task_gram(w, D, rows, noise, seed);
}

/* Tasks of some scale each, with so many known rows; the method is off by as much. */
static void
draw_known(Rehearsals *rehearsals, int count, int known_rows, const double *scales, int target_rows,
		   double target_scale, uint64_t *seed)
{
	rehearsals->count = count;
	for (int r = 0; r <= count; r++)
	{
		double		scale = r < count ? scales[r] : target_scale;
		double		w[D] = {5.0 + check_normal(seed), check_normal(seed)};
		double	   *found = r < count ? rehearsals->found[r] : rehearsals->target_found;
		WmlcGram   *known = draw_task(w, r < count ? known_rows : target_rows, scale, seed);

		for (int i = 0; i < D; i++)
			found[i] = w[i] + 0.1 * scale * check_normal(seed);
		if (r == count)
		{
			rehearsals->target = known;
			rehearsals->target_off = found[0] - w[0] + 2.0 * (found[1] - w[1]);
		}
		else
		{
			WmlcGram   *unknown = draw_task(w, 40, scale, seed);
			WmlcGram   *whole = gram_copy(known);

			CHECK(wmlc_gram_merge(whole, unknown) == WMLC_OK, "whole");
			rehearsals->trials[r] = (WmlcTrial) {known, unknown, whole, r};
		}
	}
}

static void
draw(Rehearsals *rehearsals, int count, const double *scales, double target_scale, uint64_t *seed)
{
	draw_known(rehearsals, count, 10, scales, 10, target_scale, seed);
}

static WmlcStatus
calibrate(Rehearsals *rehearsals, double actors, bool made_up)
{
	WmlcRehearsed rehearsed = {
		.d = D, .count = rehearsals->count, .actors = actors, .made_up = made_up, .trials = rehearsals->trials,
		.coefficients = rehearsals->found[0], .stride = D, .target = rehearsals->target,
		.target_coefficients = rehearsals->target_found
	};
	void	   *work = malloc(wmlc_calibrate_workspace(D, rehearsals->count));
	WmlcStatus	status;

	rehearsals->calibration.covariance = rehearsals->covariance;
	rehearsals->calibration.surprises = rehearsals->surprises;
	status = wmlc_calibrate(&rehearsals->calibration, &rehearsed, work, NULL);
	free(work);
	return status;
}

static void
forget(Rehearsals *rehearsals)
{
	for (int r = 0; r < rehearsals->count; r++)
	{
		free((void *) rehearsals->trials[r].known);
		free((void *) rehearsals->trials[r].unknown);
		free((void *) rehearsals->trials[r].whole);
	}
	free(rehearsals->target);
}

/* Two actors are too few to see how known rows tell: C, s2 and u by their definitions. */
static void
test_means(void)
{
	static Rehearsals rehearsals;
	uint64_t	seed = 81;
	const double scales[] = {1.0, 2.0, 1.0, 0.5, 3.0, 1.0};
	const int	count = 6;
	double		c[D][D] = {{0}};
	double		noise = 0.0;
	void	   *work = malloc(wmlc_ensemble_workspace(D));

	draw(&rehearsals, count, scales, 1.0, &seed);
	CHECK(calibrate(&rehearsals, 2.0, false) == WMLC_OK, "calibrate");
	for (int r = 0; r < count; r++)
	{
		double		truth[D];
		double		residual;

		wmlc_task_coefficients(rehearsals.trials[r].whole, truth, work, NULL);
		wmlc_mse(rehearsals.trials[r].unknown, truth, &residual);
		noise += residual / count;
		for (int i = 0; i < D; i++)
		{
			for (int j = 0; j < D; j++)
				c[i][j] += (rehearsals.found[r][i] - truth[i]) * (rehearsals.found[r][j] - truth[j]) / count;
		}
	}
	CHECK_NEAR(rehearsals.calibration.noise, noise, 1e-12);
	for (int i = 0; i < D * D; i++)
		CHECK_NEAR(rehearsals.covariance[i], c[i / D][i % D], 1e-12);
	for (int r = 0; r < count; r++)
	{
		const WmlcGram *unknown = rehearsals.trials[r].unknown;
		double		expected = noise;
		double		error;

		wmlc_mse(unknown, rehearsals.found[r], &error);
		for (int i = 0; i < D; i++)
		{
			for (int j = 0; j < D; j++)
				expected += c[i][j] * wmlc_dd_value(wmlc_gram_moment(unknown, i, j));
		}
		CHECK_NEAR(rehearsals.surprises[r], error / expected, 1e-12);
	}
	CHECK(rehearsals.calibration.degrees == 1.0 && rehearsals.calibration.count == 6, "%g degrees",
		  rehearsals.calibration.degrees);
	CHECK_NEAR(wmlc_calibrated_variance(&rehearsals.calibration, D, (double[]) {1.0, -2.0}),
			   c[0][0] - 4.0 * c[0][1] + 4.0 * c[1][1], 1e-12);
	free(work);
	forget(&rehearsals);
}

/* A task of two rows does not know its own coefficients: C and s2 are those of the others. */
static void
test_undetermined(void)
{
	static Rehearsals rehearsals;
	uint64_t	seed = 83;
	const double scales[] = {1.0, 1.0, 1.0, 1.0};
	double		w[D] = {5.0, 0.0};
	double		covariance[D * D];
	double		noise;
	WmlcTrial	last;

	draw(&rehearsals, 4, scales, 1.0, &seed);
	rehearsals.count = 3;
	CHECK(calibrate(&rehearsals, 2.0, false) == WMLC_OK, "calibrate three");
	memcpy(covariance, rehearsals.covariance, sizeof(covariance));
	noise = rehearsals.calibration.noise;

	rehearsals.count = 4;
	last = rehearsals.trials[3];
	rehearsals.trials[3].whole = draw_task(w, 2, 50.0, &seed);
	CHECK(calibrate(&rehearsals, 2.0, false) == WMLC_OK, "calibrate four");
	for (int i = 0; i < D * D; i++)
		CHECK_NEAR(rehearsals.covariance[i], covariance[i], 1e-12);
	CHECK_NEAR(rehearsals.calibration.noise, noise, 1e-12);
	CHECK(rehearsals.calibration.count == 4 && rehearsals.surprises[3] > 0.0, "its error counts");
	free((void *) rehearsals.trials[3].whole);
	rehearsals.trials[3] = last;
	forget(&rehearsals);
}

/* The bound, against the share of draws from the mixture that stay below it. */
static void
test_bound(void)
{
	enum
	{
		DRAWS = 200000
	};
	double		surprises[] = {0.2, 1.0, 1.0, 7.0};
	WmlcCalibration calibration = {.surprises = surprises, .count = 4, .degrees = 5.0};
	const double levels[] = {0.5, 0.9, 0.99};
	uint64_t	seed = 82;

	for (int l = 0; l < 3; l++)
	{
		double		bound = wmlc_calibrated_bound(&calibration, levels[l]);
		int			below = 0;

		for (int i = 0; i < DRAWS; i++)
		{
			double		square = 0.0;

			for (int k = 0; k < 5; k++)
				square += pow(check_normal(&seed), 2.0) / 5.0;
			below += fabs(check_normal(&seed) * sqrt(surprises[i % 4] / square)) < bound;
		}
		CHECK(fabs(below / (double) DRAWS - levels[l]) < 5.0 * sqrt(levels[l] * (1.0 - levels[l]) / DRAWS),
			  "%g of %g are below", below / (double) DRAWS, levels[l]);
	}

	/* one kind of task: Student's bound itself; none: nothing is known */
	calibration.count = 1;
	surprises[0] = 4.0;
	CHECK_NEAR(wmlc_calibrated_bound(&calibration, 0.9), 2.0 * wmlc_student_bound(0.9, 5.0), 1e-10);
	calibration.count = 0;
	CHECK(isnan(wmlc_calibrated_bound(&calibration, 0.9)), "without rehearsals");
}

/* The interval's half width at level 0.9 about x = (1, 2), relative to the target's scale. */
static double
half_width(const WmlcCalibration *calibration)
{
	double		variance = wmlc_calibrated_variance(calibration, D, (double[]) {1.0, 2.0});

	return wmlc_calibrated_bound(calibration, 0.9) * sqrt(calibration->noise + variance);
}

/*
 * Tasks whose scales spread over two orders of magnitude, and which the known
 * rows tell: intervals are as wide as the target's scale asks for.  If all scales
 * are the same, what chance makes of the known rows is not believed.
 */
static void
test_scales(void)
{
	static Rehearsals rehearsals;
	uint64_t	seed = 83;
	double		scales[100];

	for (int t = 0; t < 10; t++)
	{
		double		target = pow(10.0, 0.2 * t - 0.9);
		double		width;

		for (int r = 0; r < 100; r++)
			scales[r] = pow(10.0, 2.0 * check_random(&seed) - 1.0);
		draw(&rehearsals, 100, scales, target, &seed);
		CHECK(calibrate(&rehearsals, 100.0, false) == WMLC_OK, "calibrate");
		width = half_width(&rehearsals.calibration) / target;
		CHECK(width > 1.0 && width < 3.5, "%g times a scale of %g", width, target);
		forget(&rehearsals);

		for (int r = 0; r < 100; r++)
			scales[r] = 1.0;
		draw(&rehearsals, 100, scales, 1.0, &seed);
		CHECK(calibrate(&rehearsals, 100.0, false) == WMLC_OK, "calibrate");
		width = half_width(&rehearsals.calibration);
		CHECK(width > 1.5 && width < 1.95, "%g", width);
		forget(&rehearsals);
	}
}

/* Rows that are made up: the noise has the freedom of all rows, C that of the tasks. */
static void
test_made_up(void)
{
	static Rehearsals rehearsals;
	uint64_t	seed = 85;
	const double scales[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

	draw(&rehearsals, 6, scales, 1.0, &seed);
	CHECK(calibrate(&rehearsals, 6.0, false) == WMLC_OK && rehearsals.calibration.degrees == 5.0, "real rows");
	CHECK(calibrate(&rehearsals, 6.0, true) == WMLC_OK, "made up");
	CHECK(rehearsals.calibration.degrees > 20.0 && rehearsals.calibration.degrees < 6 * (50 - D),
		  "%g degrees", rehearsals.calibration.degrees);
	forget(&rehearsals);
}

/* As the known rows of the target fit better and better, intervals do not shrink below what a prior leaves. */
static void
test_lucky(void)
{
	static Rehearsals rehearsals;
	uint64_t	seed = 86;
	double		scales[60];
	double		widths[2];

	for (int t = 0; t < 10; t++)
	{
		for (int r = 0; r < 60; r++)
			scales[r] = exp(0.7 * check_normal(&seed));
		for (int i = 0; i < 2; i++)
		{
			uint64_t	same = seed;

			draw_known(&rehearsals, 60, 2, scales, 2, 1.0, &same);
			free(rehearsals.target);
			rehearsals.target = draw_task(rehearsals.target_found, 2, i == 0 ? 1e-2 : 1e-9, &same);
			CHECK(calibrate(&rehearsals, 60.0, false) == WMLC_OK, "calibrate");
			widths[i] = half_width(&rehearsals.calibration);
			forget(&rehearsals);
		}
		CHECK(widths[0] > 0.4 && widths[1] > 0.99 * widths[0], "%g and %g", widths[0], widths[1]);
		check_random(&seed);
	}
}

/*
 * How often intervals cover that go by five known rows, among the targets whose
 * rows happen to fit best and worst.
 */
static void
test_cover(void)
{
	enum
	{
		TARGETS = 600, NEW = 20, PARTS = 3
	};
	static Rehearsals rehearsals;
	static double fits[TARGETS];
	static double covered[TARGETS];
	uint64_t	seed = 87;
	double		scales[40];
	double		count[PARTS] = {0.0};
	double		sum[PARTS] = {0.0};

	for (int t = 0; t < TARGETS; t++)
	{
		double		target = exp(0.7 * check_normal(&seed));
		double		bound;

		for (int r = 0; r < 40; r++)
			scales[r] = exp(0.7 * check_normal(&seed));
		draw_known(&rehearsals, 40, 5, scales, 5, target, &seed);
		CHECK(calibrate(&rehearsals, 40.0, false) == WMLC_OK, "calibrate");
		wmlc_mse(rehearsals.target, rehearsals.target_found, &fits[t]);
		bound = half_width(&rehearsals.calibration);
		for (int i = 0; i < NEW; i++)
			covered[t] += fabs(target * check_normal(&seed) + rehearsals.target_off) < bound ? 1.0 / NEW : 0.0;
		forget(&rehearsals);
	}
	for (int t = 0; t < TARGETS; t++)
	{
		int			below = 0;

		for (int i = 0; i < TARGETS; i++)
			below += fits[i] < fits[t];
		count[below * PARTS / TARGETS] += 1.0;
		sum[below * PARTS / TARGETS] += covered[t];
	}
	for (int i = 0; i < PARTS; i++)
		CHECK(sum[i] / count[i] > 0.85 && sum[i] / count[i] < 0.95, "part %d: %g", i, sum[i] / count[i]);
}

/* Without noise and errors there is nothing to divide by. */
static void
test_perfect(void)
{
	static Rehearsals rehearsals;
	uint64_t	seed = 84;
	const double scales[5] = {0.0};

	draw(&rehearsals, 5, scales, 0.0, &seed);
	CHECK(calibrate(&rehearsals, 5.0, false) == WMLC_OK, "calibrate");
	CHECK(half_width(&rehearsals.calibration) < 1e-6, "%g", half_width(&rehearsals.calibration));
	for (int r = 0; r < 5; r++)
		CHECK(rehearsals.surprises[r] > 0.0, "surprise %g", rehearsals.surprises[r]);
	forget(&rehearsals);
}

int
main(void)
{
	test_means();
	test_undetermined();
	test_bound();
	test_scales();
	test_made_up();
	test_lucky();
	test_cover();
	test_perfect();
	return check_summary();
}
