/*
 * bench_mlp.c
 *	  Speed of training the adaptive basis, on the sine tasks of the paper:
 *	  batches of 100 tasks of 40 rows, one input, two hidden layers of 40.
 *
 * Prints meta-iterations per second of processor time (median of several
 * runs), what that is in floating-point operations, and beside it the rate of
 * BLAS in the same run.  Optional argument: seconds per measurement.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mlp/mlp.h"
#include "core/mlp/mlp_internal.h"

#define POOL 2000
#define BATCH 100
#define ROWS 40
#define WIDTH 40
#define TARGET_ROWS 10
#define RUNS 5

static double seconds = 1.0;

static double
processor_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* ---- the tasks ---- */

static double x[POOL * ROWS];
static double y[POOL * ROWS];
static int64_t start[POOL + 1];
static double target_x[TARGET_ROWS];
static double target_y[TARGET_ROWS];

static void
make_sine(double amplitude, double phase, int rows, uint64_t key, double *to_x, double *to_y)
{
	for (int i = 0; i < rows; i++)
	{
		to_x[i] = 10.0 * wmlc_random_half_open(wmlc_random_at(key, (uint64_t) i)) - 5.0;
		to_y[i] = amplitude * sin(to_x[i] + phase);
	}
}

static void
make_tasks(void)
{
	for (int j = 0; j < POOL; j++)
	{
		uint64_t	key = wmlc_random_at(1, (uint64_t) j);
		double		amplitude = -0.5 * log1p(-wmlc_random_half_open(wmlc_random_at(key, 1000)));
		double		phase = M_PI * wmlc_random_half_open(wmlc_random_at(key, 1001));

		start[j] = (int64_t) j * ROWS;
		make_sine(amplitude, phase, ROWS, key, x + start[j], y + start[j]);
	}
	start[POOL] = (int64_t) POOL * ROWS;
	make_sine(6.0, 1.0, TARGET_ROWS, 2, target_x, target_y);
}

/* ---- training ---- */

static double stop_at;

static bool
time_is_up(void)
{
	return processor_time() >= stop_at;
}

static void
remember_iteration(void *argument, const WmlcMlpRecord *now)
{
	*(int64_t *) argument = now->iteration;
}

static double
iterations_per_second(const WmlcMlpOptions *options)
{
	WmlcMlp		net = {.inputs = 1, .depth = 2, .width = {WIDTH, WIDTH}};
	WmlcMlpTasks sources = {x, y, start, POOL};
	WmlcMlpRows target = {target_x, target_y, TARGET_ROWS};
	double	   *theta = malloc(wmlc_mlp_parameters(&net) * sizeof(double));
	void	   *work = malloc(wmlc_mlp_train_workspace(&net, options, &sources, &target));
	int64_t		iterations = 0;
	int			recorded;
	double		begin;

	wmlc_mlp_init(&net, 0, theta);
	begin = processor_time();
	stop_at = begin + seconds;
	wmlc_mlp_train(&net, options, &sources, &target, theta, NULL, 0, &recorded,
				   remember_iteration, &iterations, time_is_up, work);
	begin = processor_time() - begin;
	free(theta);
	free(work);
	return (double) iterations / begin;
}

static int
by_size(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return (left > right) - (left < right);
}

static double
median_rate(const WmlcMlpOptions *options)
{
	double		rate[RUNS];

	for (int i = 0; i < RUNS; i++)
		rate[i] = iterations_per_second(options);
	qsort(rate, RUNS, sizeof(double), by_size);
	return rate[RUNS / 2];
}

/*
 * Operations of one second-order iteration with one inner step, all tasks
 * used.  A hidden layer takes twelve products (two passes of three, six for
 * the Hessian), half of them where the layer's input is fixed.
 */
static double
operations_per_iteration(void)
{
	return 2.0 * BATCH * ROWS * (6.0 * WIDTH + 12.0 * WIDTH * WIDTH + 12.0 * WIDTH);
}

/* ---- products ---- */

typedef void (*Multiply) (int n, double *memory);

static void
multiply_double(int n, double *memory)
{
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, memory, n,
				memory + n * n, n, 0.0, memory + 2 * n * n, n);
}

static void
multiply_float(int n, double *memory)
{
	float	   *numbers = (float *) memory;

	cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, numbers, n,
				numbers + n * n, n, 0.0f, numbers + 2 * n * n, n);
}

static void
multiply_here(int n, double *memory)
{
	WmlcMlpProduct product = {
		.rows = n, .columns = n, .depth = n,
		.a = memory, .a_row = n, .a_step = 1,
		.b = memory + n * n, .b_stride = n,
		.c = memory + 2 * n * n, .c_stride = n
	};

	wmlc_mlp_loops(0)->product(&product);
}

static double
operations_per_second(Multiply multiply, int n)
{
	double	   *memory = malloc(3 * (size_t) n * n * sizeof(double));
	double		begin = processor_time();
	double		spent;
	int64_t		count = 0;

	/* zeros might be skipped */
	for (int i = 0; i < 3 * n * n; i++)
		memory[i] = 1.0;
	do
	{
		for (int i = 0; i < 1 + 1000000 / (n * n * n); i++, count++)
			multiply(n, memory);
		spent = processor_time() - begin;
	} while (spent < 0.3 * seconds);
	free(memory);
	return 2.0 * n * n * n * (double) count / spent;
}

static void
print_products(const char *name, Multiply multiply)
{
	printf("%-28s %9.1f %9.1f\n", name, 1e-9 * operations_per_second(multiply, WIDTH),
		   1e-9 * operations_per_second(multiply, 512));
}

int
main(int argc, char **argv)
{
	WmlcMlpOptions options = {
		.objective = WMLC_MAML, .iterations = INT64_MAX, .batch = BATCH, .inner_rate = 0.01, .inner_steps = 1,
		.outer_rate = 0.001
	};
	double		rate;

	if (argc > 1)
		seconds = atof(argv[1]);
	make_tasks();

	printf("meta-iterations per second of processor time\n");
	options.weighting = WMLC_UNIFORM;
	rate = median_rate(&options);
	printf("%-28s %9.0f   (%.1f Gflop/s)\n", "uniform, second order", rate,
		   1e-9 * rate * operations_per_iteration());
	options.weighting = WMLC_MIXTURE;
	printf("%-28s %9.0f\n", "mixture, second order", median_rate(&options));
	options.weighting = WMLC_CLOSEST;
	printf("%-28s %9.0f\n", "closest, second order", median_rate(&options));
	options.weighting = WMLC_MLP_BOUND;
	printf("%-28s %9.0f\n", "bound, second order", median_rate(&options));
	options.weighting = WMLC_MIXTURE;
	options.shrink = 3.0;
	options.whiten = true;
	printf("%-28s %9.0f\n", "mixture, shrink and whiten", median_rate(&options));

	printf("\nGflop/s of square products       n = %d   n = 512\n", WIDTH);
	print_products("own loops, double", multiply_here);
	print_products("dgemm", multiply_double);
	print_products("sgemm", multiply_float);
	return 0;
}
