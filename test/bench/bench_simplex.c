/*
 * bench_simplex.c
 *	  The weight solver alone: milliseconds, and their ratios to one pass over
 *	  the points and to the same problem without ridge.
 *
 * Sources are tasks of linear regression with their own means, scales and
 * coefficients; their embeddings are packed second moments (10 features, 66
 * numbers).  The target has 10 rows.  Optional argument: the most sources, up
 * to 1000000.  From the top of the tree:
 *
 *		make -f test/unit/Makefile OUT=/tmp/wml /tmp/wml/bench_simplex && /tmp/wml/bench_simplex
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/simplex/simplex.h"

#define FEATURES 10
#define ROW (FEATURES + 1)
#define DIMS (ROW * (ROW + 1) / 2)

/* Processor time: the solver has one thread, and the machine may have others. */
static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static double
uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double) (*state >> 11) * 0x1p-53;
}

/* Near enough to normal, and quick: a million tasks take a while. */
static double
normal(uint64_t *state)
{
	double		sum = -6.0;

	for (int i = 0; i < 12; i++)
		sum += uniform(state);
	return sum;
}

/* The embedding of a new task, and the sampling variance of it. */
static double
make_task(int rows, double *embedding, uint64_t *seed)
{
	double		moment[ROW][ROW] = {{0}};
	double		mean[FEATURES];
	double		scale[FEATURES];
	double		coefficient[FEATURES];
	double		fourth = 0.0;
	double		square = 0.0;
	size_t		k = 0;

	for (int i = 0; i < FEATURES; i++)
	{
		mean[i] = 0.5 * normal(seed);
		scale[i] = exp(0.3 * normal(seed));
		coefficient[i] = sin(i) + 0.5 * normal(seed);
	}
	for (int r = 0; r < rows; r++)
	{
		double		z[ROW];
		double		length = 0.0;

		z[FEATURES] = 0.5 * normal(seed);
		for (int i = 0; i < FEATURES; i++)
		{
			z[i] = i == 0 ? 1.0 : mean[i] + scale[i] * normal(seed);
			z[FEATURES] += coefficient[i] * z[i];
		}
		for (int i = 0; i < ROW; i++)
		{
			length += z[i] * z[i];
			for (int j = 0; j <= i; j++)
				moment[i][j] += z[i] * z[j] / rows;
		}
		fourth += length * length / rows;
	}
	for (int i = 0; i < ROW; i++)
	{
		for (int j = 0; j <= i; j++)
		{
			embedding[k] = i == j ? moment[i][j] : sqrt(2.0) * moment[i][j];
			square += embedding[k] * embedding[k];
			k++;
		}
	}
	return (fourth - square) / (rows - 1);
}

/* The least time of a few solves. */
static double
time_solve(const WmlcSimplex *problem, WmlcSimplexReport *report)
{
	double	   *alpha = malloc(problem->count * sizeof(double));
	void	   *work = malloc(wmlc_simplex_workspace(problem->count, problem->dims, problem->ridge));
	double		best = INFINITY;
	double		spent = 0.0;

	for (int i = 0; i < 3 || (spent < 0.2 && i < 1000); i++)
	{
		double		start = seconds();
		double		time;

		if (wmlc_simplex_solve(problem, alpha, report, work, NULL) != WMLC_OK)
		{
			fprintf(stderr, "no solution\n");
			exit(1);
		}
		time = seconds() - start;
		spent += time;
		best = time < best ? time : best;
	}
	free(alpha);
	free(work);
	return best;
}

/* Reading the points once, and doing next to nothing with them. */
static double
time_pass(const WmlcSimplex *problem)
{
	volatile double sink;
	double		best = INFINITY;

	for (int i = 0; i < 5; i++)
	{
		double		start = seconds();
		double		sum[4] = {0};

		for (size_t k = 0; k + 4 <= problem->count * problem->dims; k += 4)
		{
			for (int l = 0; l < 4; l++)
				sum[l] += problem->points[k + l];
		}
		sink = sum[0] + sum[1] + sum[2] + sum[3];
		(void) sink;
		best = fmin(best, seconds() - start);
	}
	return best;
}

static void
run(size_t count)
{
	uint64_t	seed = count;
	double	   *points = malloc(count * DIMS * sizeof(double));
	double		target[DIMS];
	double		variance = make_task(10, target, &seed);
	double		shrinks[] = {0.0, 0.01, 3.0, 1000.0};
	double		pass;
	double		without = 0.0;

	for (size_t j = 0; j < count; j++)
	{
		make_task(30, points + j * DIMS, &seed);
		for (size_t i = 0; i < DIMS; i++)
			points[j * DIMS + i] -= target[i];
	}
	for (int s = 0; s < 4; s++)
	{
		WmlcSimplex problem = {points, count, DIMS, DIMS, shrinks[s] * variance};
		WmlcSimplexReport report;
		double		time = time_solve(&problem, &report);

		pass = time_pass(&problem);
		without = s == 0 ? time : without;
		printf("%8zu sources, shrink %6g: %9.3f ms = %5.1f passes = %5.1f x without; support %7zu, gap %.0e\n",
			   count, shrinks[s], 1e3 * time, time / pass, time / without, report.support, report.relative_gap);
	}
	free(points);
}

int
main(int argc, char **argv)
{
	size_t		most = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	size_t		counts[] = {300, 10000, 100000, 1000000};

	for (int i = 0; i < 4 && counts[i] <= most; i++)
		run(counts[i]);
	return 0;
}
