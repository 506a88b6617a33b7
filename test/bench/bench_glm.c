/*
 * bench_glm.c
 *	  What the hierarchical model of yes-or-no responses and counts finds of
 *	  simulated tasks: means, spreads, how often 90 % intervals of the means cover
 *	  the truth, and CPU time.
 *
 *	  make -f test/unit/Makefile OUT=/tmp/wml /tmp/wml/bench_glm && /tmp/wml/bench_glm [REPEATS [SCENE]]
 */
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "core/glm/hierarchy.h"

#define MOST 4

typedef enum Approximation
{
	CORRECTED,
	EP,
	PQL
} Approximation;

static const char *const approximation_names[] = {"corrected", "ep", "pql"};

typedef struct Scene
{
	const char *what;
	WmlcFamily	family;
	Approximation approximation;
	int			dims;
	int			tasks;
	int			rows;			/* of each task */
	double		constant;		/* on average; it spreads by 1, the others are 0.5 and spread by 0.5 */
} Scene;

typedef struct Sums
{
	double		mean[MOST];
	double		sd[MOST];
	int			covered[MOST];
	double		seconds;
	int			iterations;
} Sums;

static double
truth(const Scene *scene, int k)
{
	return k == 0 ? scene->constant : 0.5;
}

static double
draw(WmlcFamily family, double eta, uint64_t *seed)
{
	double		product = 1.0;
	int			count = -1;

	if (family == WMLC_BINOMIAL)
		return check_random(seed) < 1.0 / (1.0 + exp(-eta));
	for (; product > exp(-exp(eta)); count++)
		product *= check_random(seed);
	return count;
}

static void
draw_rows(const Scene *scene, double *x, double *y, uint64_t *seed)
{
	int			d = scene->dims;

	for (int j = 0; j < scene->tasks; j++)
	{
		double		w[MOST];

		for (int k = 0; k < d; k++)
			w[k] = truth(scene, k) + (k == 0 ? 1.0 : 0.5) * check_normal(seed);
		for (int i = j * scene->rows; i < (j + 1) * scene->rows; i++)
		{
			for (int k = 0; k < d; k++)
				x[i * d + k] = k == 0 ? 1.0 : check_normal(seed);
			y[i] = draw(scene->family, wmlc_predictor(d, x + i * d, w), seed);
		}
	}
}

static void
fit(const Scene *scene, WmlcHierarchyRows *rows, Sums *sums)
{
	int			d = scene->dims;
	WmlcHierarchyOptions options = {
		.points = scene->approximation == PQL, .corrected = scene->approximation == CORRECTED, .max_iterations = 100, .collect = wmlc_hierarchy_collect_rows, .collect_arg = rows
	};
	double		mean[MOST],
				factor[MOST * MOST],
				errors[MOST * MOST],
				covariance[MOST * MOST];
	WmlcPrior	prior = {.mean = mean, .factor = factor, .mean_factor = errors};
	WmlcHierarchy hierarchy = {.likelihood = {scene->family, 0.0}};
	void	   *work = malloc(wmlc_hierarchy_workspace(d, scene->tasks, &options));
	clock_t		before = clock();

	CHECK(wmlc_hierarchy_fit(&hierarchy, d, scene->tasks, &options, &prior, work) == WMLC_OK, "fit");
	sums->seconds += (double) (clock() - before) / CLOCKS_PER_SEC;
	sums->iterations += hierarchy.iterations;
	wmlc_prior_covariance(&prior, covariance, NULL);
	for (int k = 0; k < d; k++)
	{
		sums->mean[k] += mean[k];
		sums->sd[k] += sqrt(covariance[k * d + k]);
		sums->covered[k] += fabs(mean[k] - truth(scene, k)) < 1.6448536 * sqrt(errors[k * d + k]);
	}
	free(work);
}

static void
run(const Scene *scene, int repeats)
{
	size_t		count = (size_t) scene->tasks * scene->rows;
	double	   *x = malloc(count * scene->dims * sizeof(double));
	double	   *y = malloc(count * sizeof(double));
	int64_t    *start = malloc((scene->tasks + 1) * sizeof(int64_t));
	WmlcHierarchyRows rows = {
		.rows = {.dims = scene->dims, .count = count, .x = x, .y = y},
		.start = start,
		.work = malloc(wmlc_hierarchy_rows_workspace(scene->dims, count, scene->tasks))
	};
	Sums		sums = {.seconds = 0.0};
	uint64_t	seed = 20;

	for (int j = 0; j <= scene->tasks; j++)
		start[j] = (int64_t) j * scene->rows;
	for (int i = 0; i < repeats; i++)
	{
		draw_rows(scene, x, y, &seed);
		fit(scene, &rows, &sums);
	}
	printf("%s, %s: %d tasks, %d rows of each, %d features; %.1f iterations, %.1f ms\n", scene->what,
		   approximation_names[scene->approximation], scene->tasks, scene->rows, scene->dims,
		   (double) sums.iterations / repeats, 1000.0 * sums.seconds / repeats);
	for (int k = 0; k < scene->dims; k++)
		printf("  mean %7.3f (%4.1f)  sd %.3f (%.1f)  covered %.2f\n", sums.mean[k] / repeats, truth(scene, k),
			   sums.sd[k] / repeats, k == 0 ? 1.0 : 0.5, (double) sums.covered[k] / repeats);
	free(x);
	free(y);
	free(start);
	free(rows.work);
}

int
main(int argc, char **argv)
{
	const Scene scenes[] = {
		{"yes or no", WMLC_BINOMIAL, CORRECTED, 2, 300, 10, 0.0},
		{"yes or no", WMLC_BINOMIAL, EP, 2, 300, 10, 0.0},
		{"yes or no", WMLC_BINOMIAL, PQL, 2, 300, 10, 0.0},
		{"yes or no", WMLC_BINOMIAL, CORRECTED, 2, 1000, 10, 0.0},
		{"rare events", WMLC_BINOMIAL, CORRECTED, 2, 300, 10, -2.5},
		{"rare events", WMLC_BINOMIAL, CORRECTED, 2, 1000, 10, -2.5},
		{"rare events", WMLC_BINOMIAL, EP, 2, 1000, 10, -2.5},
		{"rare events", WMLC_BINOMIAL, PQL, 2, 1000, 10, -2.5},
		{"yes or no", WMLC_BINOMIAL, CORRECTED, 4, 60, 30, 0.0},
		{"yes or no", WMLC_BINOMIAL, CORRECTED, 4, 500, 50, -1.0},
		{"counts", WMLC_POISSON, CORRECTED, 2, 300, 10, -1.0}
	};
	int			repeats = argc > 1 ? atoi(argv[1]) : 200;

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (argc < 3 || i + 1 == (size_t) atoi(argv[2]))
			run(&scenes[i], repeats);
	return check_summary();
}
