/*
 * bench_loops.c
 *	  The hand-written loops of the core beside what BLAS and LAPACK take for the
 *	  same work; for sums in double-double, which they do not know, beside the
 *	  same sums in plain doubles.  From the top of the tree:
 *
 *		make -f test/unit/Makefile OUT=/tmp/wml /tmp/wml/bench_loops && /tmp/wml/bench_loops
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/random.h"
#include "core/dd/dd_vector.h"
#include "core/gram/gram.h"
#include "core/prior/prior_internal.h"
#include "core/simplex/simplex_internal.h"

#define POINTS 10000
#define DIMS 66
#define TASKS 4096
#define RANK 8

static double
processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Nanoseconds of the fastest of many calls. */
static double
time_of(void (*work) (void))
{
	double		best = INFINITY;
	double		spent = 0.0;

	for (int i = 0; i < 5 || spent < 0.3; i++)
	{
		double		begin = processor_time();

		work();
		begin = processor_time() - begin;
		spent += begin;
		best = fmin(best, begin);
	}
	return 1e9 * best;
}

static void
compare(const char *what, double times, const char *unit, void (*own) (void), const char *library,
		void (*other) (void))
{
	double		here = time_of(own) / times;
	double		there = time_of(other) / times;

	printf("%-44s %9.1f ns per %-6s %5.2f x %s (%.1f)\n", what, here, unit, there / here, library, there);
}

static double *
random_numbers(size_t count)
{
	static uint64_t state = 1;
	double	   *x = aligned_alloc(64, (count * sizeof(double) + 63) / 64 * 64);

	for (size_t i = 0; i < count; i++)
		x[i] = wmlc_random_half_open(wmlc_random_next(&state)) - 0.5;
	return x;
}

/* ---- weight solver ---- */

static double *points,
		   *vector,
		   *prices,
		   *sum,
		   *scatter;

static void
own_dots(void)
{
	wmlc_dots(points, DIMS, DIMS, NULL, 0, POINTS, vector, prices);
}

static void
blas_dots(void)
{
	cblas_dgemv(CblasColMajor, CblasTrans, DIMS, POINTS, 1.0, points, DIMS, vector, 1, 0.0, prices, 1);
}

static void
own_combine(void)
{
	wmlc_combine(points, DIMS, DIMS, NULL, 0, POINTS, prices, sum);
}

static void
blas_combine(void)
{
	cblas_dgemv(CblasColMajor, CblasNoTrans, DIMS, POINTS, 1.0, points, DIMS, prices, 1, 1.0, sum, 1);
}

static void
own_scatter(void)
{
	for (size_t k = 0; k + 64 <= POINTS * DIMS / 80; k += 64)
		wmlc_scatter(points + k * 80, 80, 64, scatter);
}

static void
blas_scatter(void)
{
	for (size_t k = 0; k + 64 <= POINTS * DIMS / 80; k += 64)
		cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, 80, 64, 1.0, points + k * 80, 80, 1.0,
					scatter, 80);
}

/* ---- grams ---- */

static int	row_dims;
static double *rows;
static WmlcGram *gram;

#define ROWS 1024

static void
own_rows(void)
{
	int			p = row_dims + 1;

	for (int r = 0; r < ROWS; r += WMLC_LOOP_ROWS)
		wmlc_gram_add_rows(gram, rows + (size_t) r * p, p, NULL, WMLC_LOOP_ROWS);
}

static void
blas_rows(void)
{
	int			p = row_dims + 1;

	for (int r = 0; r < ROWS; r += WMLC_LOOP_ROWS)
		cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, p, WMLC_LOOP_ROWS, 1.0,
					rows + (size_t) r * p, p, 1.0, scatter, p);
}

/* ---- double-double ---- */

static volatile double sink;

static void
own_dot(void)
{
	WmlcDdSpan	x = {points, points + 64};
	WmlcDdSpan	y = {points + 128, points + 192};
	const WmlcDdLoops *loops = wmlc_dd_loops();

	for (int i = 0; i < 1000; i++)
		sink = loops->dot(64, x, y).hi;
}

static void
blas_dot(void)
{
	for (int i = 0; i < 1000; i++)
		sink = cblas_ddot(64, points, 1, points + 128, 1);
}

/* ---- the prior's sweep ---- */

static WmlcSweep sweep;
static WmlcPriorPoint point;
static WmlcReduced reduced;
static double *pull;

static void
own_sweep(void)
{
	double		log_det,
				squares;

	(void) wmlc_sweep_value(&sweep, &point, pull, &log_det, &squares);
	sink = log_det + squares;
}

/* The same of one task after another: V = I + (R Lambda)(R Lambda)', V = K K', Z = K^-1 R, P += Z'Z. */
static void
lapack_sweep(void)
{
	double		r[RANK * RANK],
				spread[RANK * RANK],
				v[RANK * RANK];
	double		log_det = 0.0;

	for (int j = 0; j < TASKS; j++)
	{
		memcpy(r, points + (size_t) j * RANK * RANK, sizeof(r));
		memcpy(spread, r, sizeof(r));
		cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, RANK, RANK, 1.0,
					point.lambda, RANK, spread, RANK);
		memset(v, 0, sizeof(v));
		for (int i = 0; i < RANK; i++)
			v[i * (RANK + 1)] = 1.0;
		cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, RANK, RANK, 1.0, spread, RANK, 1.0, v, RANK);
		(void) LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', RANK, v, RANK);
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, RANK, RANK, 1.0, v,
					RANK, r, RANK);
		cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, RANK, RANK, 1.0, r, RANK, 1.0, scatter, RANK);
		for (int i = 0; i < RANK; i++)
			log_det += 2.0 * log(v[i * (RANK + 1)]);
	}
	sink = log_det;
}

static void
prepare_sweep(void)
{
	size_t		stride = wmlc_reduced_stride(RANK);
	WmlcArena	arena = {NULL, 0};

	wmlc_sweep_layout(&sweep, RANK, WMLC_PRIOR_FULL, &arena);
	arena = (WmlcArena) {aligned_alloc(64, arena.used), 0};
	wmlc_sweep_layout(&sweep, RANK, WMLC_PRIOR_FULL, &arena);
	reduced.dims = reduced.rank = RANK;
	reduced.blocks = TASKS / WMLC_PRIOR_LANES;
	reduced.tasks = (WmlcLanes *) random_numbers(reduced.blocks * stride * WMLC_PRIOR_LANES);
	sweep.reduced = &reduced;
	point.directions = RANK;
	point.lambda = random_numbers(RANK * RANK);
	point.mean = random_numbers(RANK);
	point.precision = random_numbers(RANK * RANK);
	pull = random_numbers(RANK);
}

int
main(void)
{
	points = random_numbers(POINTS * DIMS);
	vector = random_numbers(DIMS);
	prices = random_numbers(POINTS);
	sum = random_numbers(80);
	scatter = random_numbers(80 * 80);
	compare("simplex_loops: prices of 10000 points of 66", POINTS, "point", own_dots, "dgemv", blas_dots);
	compare("simplex_loops: weighted sum of them", POINTS, "point", own_combine, "dgemv", blas_combine);
	compare("simplex_loops: scatter of columns of 80", POINTS * DIMS / 80 / 64 * 64, "column", own_scatter,
			"dsyrk", blas_scatter);
	for (int d = 4; d <= 64; d *= 4)
	{
		char		what[64];

		row_dims = d;
		rows = random_numbers((size_t) ROWS * (d + 1) + WMLC_ROW_PADDING + 64);
		gram = malloc(wmlc_gram_bytes(d));
		wmlc_gram_init(gram, d);
		snprintf(what, sizeof(what), "gram_loops: a row of %d features, exactly", d);
		compare(what, ROWS, "row", own_rows, "dsyrk in double", blas_rows);
	}
	compare("dd_dot: 64 terms in double-double", 1000, "dot", own_dot, "ddot in double", blas_dot);
	prepare_sweep();
	compare("prior_lanes: a task of 8 features", TASKS, "task", own_sweep, "LAPACK, task by task", lapack_sweep);
	return 0;
}
