/*
 * bench_loops.c
 *	  The hand-written loops of the core beside what BLAS and LAPACK take for the
 *	  same work; for sums in double-double, which they do not know, beside the
 *	  same sums in plain doubles.  From the top of the tree:
 *
 *		make -f test/unit/Makefile OUT=/tmp/wml /tmp/wml/bench_loops && /tmp/wml/bench_loops
 *
 * With --check it times nothing but compares what both compute, as the tests do.
 */
#include <cblas.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "core/base/random.h"
#include "core/dd/dd_vector.h"
#include "core/gram/gram.h"
#include "core/linalg/definite.h"
#include "core/prior/prior_internal.h"
#include "core/simplex/simplex_internal.h"
#include "core/weights/kernel_points.h"

static bool checking;
static uint64_t random_state = 1;
static volatile double sink;

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

/* What both leave in their results must be the same. */
typedef struct Result
{
	double	   *own;
	double	   *other;
	size_t		count;
} Result;

static void
check(void (*own) (void), void (*other) (void), Result result)
{
	double		largest = 0.0;
	double		difference = 0.0;

	memset(result.own, 0, result.count * sizeof(double));
	memset(result.other, 0, result.count * sizeof(double));
	own();
	other();
	for (size_t i = 0; i < result.count; i++)
	{
		largest = fmax(largest, fabs(result.other[i]));
		difference = fmax(difference, fabs(result.own[i] - result.other[i]));
	}
	CHECK(largest > 0.0 && difference <= 1e-10 * largest, "%g of %g", difference, largest);
}

static void
compare(const char *what, double times, const char *unit, void (*own) (void), const char *library,
		void (*other) (void), Result result)
{
	double		here;
	double		there;

	if (checking)
	{
		check(own, other, result);
		return;
	}
	here = time_of(own) / times;
	there = time_of(other) / times;
	printf("%-44s %9.1f ns per %-6s %5.2f x %s (%.1f)\n", what, here, unit, there / here, library, there);
}

static double *
numbers(size_t count)
{
	return aligned_alloc(64, (count * sizeof(double) + 63) / 64 * 64);
}

static double *
random_numbers(size_t count)
{
	double	   *x = numbers(count);

	for (size_t i = 0; i < count; i++)
		x[i] = wmlc_random_half_open(wmlc_random_next(&random_state)) - 0.5;
	return x;
}

/* ---- weight solver ---- */

#define POINTS 10000
#define DIMS 66
#define SIZE 80					/* of the scatter matrix */
#define COLUMNS 64

static double *points,
		   *vector,
		   *own_out,
		   *blas_out;

static void
own_dots(void)
{
	wmlc_dots(points, DIMS, DIMS, NULL, 0, POINTS, vector, own_out);
}

static void
blas_dots(void)
{
	cblas_dgemv(CblasColMajor, CblasTrans, DIMS, POINTS, 1.0, points, DIMS, vector, 1, 0.0, blas_out, 1);
}

static void
own_combine(void)
{
	wmlc_combine(points, DIMS, DIMS, NULL, 0, POINTS, vector, own_out);
}

static void
blas_combine(void)
{
	cblas_dgemv(CblasColMajor, CblasNoTrans, DIMS, POINTS, 1.0, points, DIMS, vector, 1, 1.0, blas_out, 1);
}

static void
own_scatter(void)
{
	wmlc_scatter(points, SIZE, COLUMNS, own_out);
	for (int i = 0; i < SIZE; i++)	/* whole tiles: more than the triangle */
		memset(own_out + i * SIZE + i + 1, 0, (SIZE - i - 1) * sizeof(double));
}

static void
blas_scatter(void)
{
	cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, SIZE, COLUMNS, 1.0, points, SIZE, 1.0, blas_out,
				SIZE);
}

static void
compare_simplex(void)
{
	points = random_numbers(POINTS * DIMS);
	vector = random_numbers(POINTS);
	own_out = random_numbers(POINTS);
	blas_out = random_numbers(POINTS);
	compare("simplex_loops: prices of 10000 points of 66", POINTS, "point", own_dots, "dgemv", blas_dots,
			(Result) {own_out, blas_out, POINTS});
	compare("simplex_loops: weighted sum of them", POINTS, "point", own_combine, "dgemv", blas_combine,
			(Result) {own_out, blas_out, DIMS});
	compare("simplex_loops: scatter of columns of 80", COLUMNS, "column", own_scatter, "dsyrk", blas_scatter,
			(Result) {own_out, blas_out, SIZE * SIZE});
}

/* ---- points of a kernel ---- */

#define KERNEL 300

static double *kernel;
static size_t kernel_dims;
static void *kernel_work;
static lapack_int pivots[KERNEL];

/* What the results are compared by, since the points themselves may turn. */
static void
multiply_points(const double *at, double *products)
{
	if (checking)
		cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, KERNEL, KERNEL, 1.0, at, KERNEL, 0.0, products,
					KERNEL);
}

static void
own_kernel(void)
{
	(void) wmlc_kernel_points(kernel, KERNEL, points, &kernel_dims, kernel_work, NULL);
	multiply_points(points, own_out);
}

static void
lapack_kernel(void)
{
	static double work[2 * KERNEL];
	lapack_int	rank;

	memcpy(points, kernel, KERNEL * KERNEL * sizeof(double));
	(void) LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'U', KERNEL, points, KERNEL, pivots, &rank, -1.0, work);
	if (!checking)
		return;
	for (int j = 0; j < KERNEL; j++)	/* back in order, and only the triangle */
	{
		double	   *to = points + (KERNEL + pivots[j] - 1) * KERNEL;

		memset(to, 0, KERNEL * sizeof(double));
		memcpy(to, points + j * KERNEL, (j < rank ? j + 1 : rank) * sizeof(double));
	}
	multiply_points(points + KERNEL * KERNEL, blas_out);
}

static void
compare_kernel(void)
{
	double	   *x = random_numbers(KERNEL * DIMS);

	points = numbers(2 * KERNEL * KERNEL);
	kernel = numbers(KERNEL * KERNEL);
	own_out = numbers(KERNEL * KERNEL);
	blas_out = numbers(KERNEL * KERNEL);
	kernel_work = malloc(wmlc_kernel_points_workspace(KERNEL));
	cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, KERNEL, KERNEL, DIMS, 1.0, x, DIMS, x, DIMS, 0.0,
				kernel, KERNEL);
	compare("kernel_points: 300 points of rank 66", KERNEL, "point", own_kernel, "dpstrf", lapack_kernel,
			(Result) {own_out, blas_out, KERNEL * KERNEL});
}

/* ---- grams ---- */

#define ROWS 1024

static int	row_dims;
static double *rows;
static WmlcGram *gram;

static void
own_rows(void)
{
	int			p = row_dims + 1;

	if (checking)
		wmlc_gram_init(gram, row_dims);
	for (int r = 0; r < ROWS; r += WMLC_LOOP_ROWS)
		wmlc_gram_add_rows(gram, rows + (size_t) r * p, p, NULL, WMLC_LOOP_ROWS);
	for (int i = 0; i < p && checking; i++)
		for (int j = 0; j <= i; j++)
			own_out[i * p + j] = ROWS * wmlc_dd_value(wmlc_gram_moment(gram, j, i));
}

static void
blas_rows(void)
{
	int			p = row_dims + 1;

	for (int r = 0; r < ROWS; r += WMLC_LOOP_ROWS)
		cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, p, WMLC_LOOP_ROWS, 1.0,
					rows + (size_t) r * p, p, 1.0, blas_out, p);
}

static void
compare_grams(void)
{
	for (int d = 4; d <= 64; d *= 4)
	{
		size_t		p = d + 1;
		char		what[64];

		row_dims = d;
		rows = random_numbers(ROWS * p + WMLC_ROW_PADDING);
		memset(rows + ROWS * p, 0, WMLC_ROW_PADDING * sizeof(double));
		own_out = random_numbers(p * p);
		blas_out = random_numbers(p * p);
		gram = malloc(wmlc_gram_bytes(d));
		wmlc_gram_init(gram, d);
		snprintf(what, sizeof(what), "gram_loops: a row of %d features, exactly", d);
		compare(what, ROWS, "row", own_rows, "dsyrk in double", blas_rows,
				(Result) {own_out, blas_out, p * p});
	}
}

/* ---- double-double ---- */

#define TERMS 64

static void
own_dot(void)
{
	WmlcDdSpan	x = {points, points + TERMS};
	WmlcDdSpan	y = {points + 2 * TERMS, points + 3 * TERMS};
	const WmlcDdLoops *loops = wmlc_dd_loops();

	for (int i = 0; i < 1000; i++)
		sink = loops->dot(TERMS, x, y).hi;
	own_out[0] = sink;
}

static void
blas_dot(void)
{
	for (int i = 0; i < 1000; i++)
		sink = cblas_ddot(TERMS, points, 1, points + 2 * TERMS, 1);
	blas_out[0] = sink;
}

static void
compare_dot(void)
{
	points = random_numbers(4 * TERMS);
	for (int i = 0; i < TERMS; i++)	/* the low halves */
		points[TERMS + i] = points[3 * TERMS + i] = 0.0;
	compare("dd_dot: 64 terms in double-double", 1000, "dot", own_dot, "ddot in double", blas_dot,
			(Result) {own_out, blas_out, 1});
}

/* ---- small triangles ---- */

#define UNITS 42

static double *moment;

static void
own_semidefinite(void)
{
	memcpy(points, moment, UNITS * UNITS * sizeof(double));
	memset(own_out, 0, UNITS * UNITS * sizeof(double));
	(void) wmlc_semidefinite_factor(UNITS, points, UNITS, 1e-13, NULL);
	wmlc_semidefinite_inverse(UNITS, points, UNITS, own_out);
}

static void
lapack_semidefinite(void)
{
	memset(blas_out, 0, UNITS * UNITS * sizeof(double));
	for (int i = 0; i < UNITS; i++)
		memcpy(blas_out + i * UNITS, moment + i * UNITS, (i + 1) * sizeof(double));
	(void) LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', UNITS, blas_out, UNITS);
	(void) LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', UNITS, blas_out, UNITS);
	for (int i = 0; i < UNITS && checking; i++) /* transposed */
		for (int j = 0; j < i; j++)
		{
			blas_out[j * UNITS + i] = blas_out[i * UNITS + j];
			blas_out[i * UNITS + j] = 0.0;
		}
}

#define TASK 9					/* eight features and the response */

static WmlcTriangle triangle;
static double packed[TASK * (TASK + 1) / 2];

static void
own_triangle(void)
{
	for (int i = 0; i < 100; i++)
		(void) wmlc_triangle_read(&triangle, &(WmlcTriangleSource) {.p = TASK, .hi = packed, .rows = 50.0}, NULL);
	for (int i = 0; i < TASK; i++)
		for (int j = 0; j <= i; j++)
			own_out[i * TASK + j] = wmlc_dd_value(wmlc_triangle_get(&triangle, i, j));
}

static void
lapack_triangle(void)
{
	for (int n = 0; n < 100; n++)
	{
		for (int i = 0; i < TASK; i++)
			for (int j = 0; j <= i; j++)
				blas_out[i * TASK + j] = packed[wmlc_triangle_index(TASK, j, i)];
		(void) LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', TASK, blas_out, TASK);
	}
}

static void
compare_triangles(void)
{
	double	   *x = random_numbers(100 * UNITS);
	WmlcArena	arena = {NULL, 0};

	moment = numbers(UNITS * UNITS);
	points = numbers(UNITS * UNITS);
	own_out = numbers(UNITS * UNITS);
	blas_out = numbers(UNITS * UNITS);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, UNITS, UNITS, 100, 1.0, x, UNITS, x, UNITS, 0.0,
				moment, UNITS);
	compare("definite: dependent units drop out, 42", 1, "factor", own_semidefinite, "dpotrf, dtrtri",
			lapack_semidefinite, (Result) {own_out, blas_out, UNITS * UNITS});

	for (int i = 0; i < TASK; i++)
		for (int j = i; j < TASK; j++)
			packed[wmlc_triangle_index(TASK, i, j)] = moment[i * UNITS + j];
	wmlc_triangle_layout(&triangle, TASK, &arena);
	arena = (WmlcArena) {aligned_alloc(64, arena.used), 0};
	wmlc_triangle_layout(&triangle, TASK, &arena);
	compare("prior_triangle: a task of 8 features", 100, "task", own_triangle, "dpotrf in double",
			lapack_triangle, (Result) {own_out, blas_out, TASK * TASK});
}

/* ---- the prior's sweep ---- */

#define TASKS 4096
#define RANK 8

static WmlcSweep sweep;
static WmlcPriorPoint point;
static WmlcReduced reduced;
static double *triangles;		/* the same tasks, R by columns */

static void
own_sweep(void)
{
	double		pull[RANK];
	double		squares;

	(void) wmlc_sweep_value(&sweep, &point, pull, own_out, &squares);
	memcpy(own_out + 1, point.precision, RANK * RANK * sizeof(double));
	for (int i = 0; i < RANK; i++)	/* one triangle of it */
		memset(own_out + 1 + i * RANK, 0, i * sizeof(double));
}

/* The same of one task after another: V = I + (R Lambda)(R Lambda)', V = K K', Z = K^-1 R, P += Z'Z. */
static void
lapack_sweep(void)
{
	double	   *precision = blas_out + 1;
	double		log_det = 0.0;

	memset(precision, 0, RANK * RANK * sizeof(double));
	for (int j = 0; j < TASKS; j++)
	{
		double		r[RANK * RANK],
					spread[RANK * RANK],
					v[RANK * RANK] = {0.0};

		memcpy(r, triangles + (size_t) j * RANK * RANK, sizeof(r));
		memcpy(spread, r, sizeof(r));
		cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, RANK, RANK, 1.0,
					point.lambda, RANK, spread, RANK);
		for (int i = 0; i < RANK; i++)
			v[i * (RANK + 1)] = 1.0;
		cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, RANK, RANK, 1.0, spread, RANK, 1.0, v, RANK);
		(void) LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', RANK, v, RANK);
		cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, RANK, RANK, 1.0, v,
					RANK, r, RANK);
		cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, RANK, RANK, 1.0, r, RANK, 1.0, precision, RANK);
		for (int i = 0; i < RANK; i++)
			log_det += 2.0 * log(v[i * (RANK + 1)]);
	}
	blas_out[0] = log_det;
}

/* Triangles R, all tasks of weight one. */
static void
make_tasks(void)
{
	triangles = random_numbers((size_t) TASKS * RANK * RANK);
	for (int j = 0; j < TASKS; j++)
	{
		WmlcLanes  *block = reduced.tasks + j / WMLC_PRIOR_LANES * wmlc_reduced_stride(RANK);
		WmlcLanes  *unit = wmlc_reduced_numbers(&reduced, j / WMLC_PRIOR_LANES);
		int			lane = j % WMLC_PRIOR_LANES;

		for (int i = 0; i < RANK; i++)
			for (int k = 0; k < RANK; k++)
			{
				double	   *entry = &triangles[((size_t) j * RANK + k) * RANK + i];

				if (k < i)
					*entry = 0.0;
				else
					block[wmlc_triangle_index(RANK, i, k)][lane] = *entry;
			}
		unit[WMLC_TASK_ALPHA][lane] = unit[WMLC_TASK_SCALE][lane] = unit[WMLC_TASK_GAIN][lane] = 1.0;
	}
}

static void
compare_sweep(void)
{
	WmlcPriorOptions options = {.method = WMLC_PRIOR_ML, .covariance = WMLC_PRIOR_FULL};
	size_t		size = TASKS / WMLC_PRIOR_LANES * wmlc_reduced_stride(RANK) * sizeof(WmlcLanes);
	WmlcArena	arena = {NULL, 0};
	double	   *lambda = random_numbers(RANK * RANK);

	own_out = numbers(RANK * RANK + 1);
	blas_out = numbers(RANK * RANK + 1);
	reduced.dims = reduced.rank = reduced.height = RANK;
	reduced.blocks = TASKS / WMLC_PRIOR_LANES;
	reduced.tasks = aligned_alloc(64, size);
	memset(reduced.tasks, 0, size);
	make_tasks();
	for (int i = 0; i < RANK; i++)	/* lower triangular for both: by rows here, by columns there */
		for (int k = 0; k < RANK; k++)
			lambda[i * RANK + k] = i == k ? 0.5 : 0.0;
	wmlc_sweep_layout(&sweep, RANK, &options, &arena);
	arena = (WmlcArena) {aligned_alloc(64, arena.used), 0};
	wmlc_sweep_layout(&sweep, RANK, &options, &arena);
	sweep.reduced = &reduced;
	point = (WmlcPriorPoint) {
		.directions = RANK, .lambda = lambda, .mean = random_numbers(RANK),
		.precision = numbers(RANK * RANK)
	};
	compare("prior_lanes: a task of 8 features", TASKS, "task", own_sweep, "LAPACK, task by task",
			lapack_sweep, (Result) {own_out, blas_out, RANK * RANK + 1});
}

int
main(int argc, char **argv)
{
	checking = argc > 1 && strcmp(argv[1], "--check") == 0;
	compare_simplex();
	compare_kernel();
	compare_grams();
	compare_dot();
	compare_triangles();
	compare_sweep();
	return checking ? check_summary() : 0;
}
