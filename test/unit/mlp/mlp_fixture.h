/*
 * mlp_fixture.h
 *	  What the tests of the adaptive basis share: random tasks, a network in
 *	  memory of its own, losses from predictions alone, finite differences.
 */
#ifndef WML_UNIT_MLP_FIXTURE_H
#define WML_UNIT_MLP_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/mlp/mlp_internal.h"

#define FD_STEP 2e-5
#define FD_TOLERANCE 1e-6

typedef struct Data
{
	int			inputs;
	int64_t		tasks;
	double	   *x;
	double	   *y;
	int64_t    *start;
	double	   *target_x;
	double	   *target_y;
	int64_t		target_rows;
} Data;

/* Task j has rows[j % 3] rows of its own smooth function of x. */
static inline Data
make_data(int inputs, int64_t tasks, const int *rows, int64_t target_rows, uint64_t seed)
{
	Data		data = {.inputs = inputs, .tasks = tasks, .target_rows = target_rows};
	int64_t		total = 0;

	data.start = malloc((tasks + 1) * sizeof(int64_t));
	for (int64_t j = 0; j < tasks; j++)
	{
		data.start[j] = total;
		total += rows[j % 3];
	}
	data.start[tasks] = total;
	data.x = malloc(total * inputs * sizeof(double));
	data.y = malloc(total * sizeof(double));
	data.target_x = malloc(target_rows * inputs * sizeof(double));
	data.target_y = malloc(target_rows * sizeof(double));
	for (int64_t j = 0; j <= tasks; j++)
	{
		bool		target = j == tasks;
		int64_t		count = target ? target_rows : data.start[j + 1] - data.start[j];
		double	   *x = target ? data.target_x : data.x + data.start[j] * inputs;
		double	   *y = target ? data.target_y : data.y + data.start[j];
		double		size = target ? 1.5 : 0.2 + 2.0 * check_random(&seed);
		double		phase = 3.0 * check_random(&seed);

		for (int64_t i = 0; i < count; i++)
		{
			double		sum = phase;

			for (int k = 0; k < inputs; k++)
				sum += x[i * inputs + k] = check_normal(&seed);
			y[i] = size * sin(sum) + 0.1 * check_normal(&seed);
		}
	}
	return data;
}

static inline void
free_data(Data *data)
{
	free(data->x);
	free(data->y);
	free(data->start);
	free(data->target_x);
	free(data->target_y);
}

static inline WmlcMlpRows
task_rows(const Data *data, int64_t j)
{
	return (WmlcMlpRows) {
		data->x + data->start[j] * data->inputs, data->y + data->start[j],
		data->start[j + 1] - data->start[j]
	};
}

static inline WmlcMlpRows
target_rows(const Data *data)
{
	return (WmlcMlpRows) {data->target_x, data->target_y, data->target_rows};
}

static inline WmlcMlpTasks
all_tasks(const Data *data)
{
	return (WmlcMlpTasks) {data->x, data->y, data->start, data->tasks};
}

static inline WmlcMlp
make_net(int inputs, int depth)
{
	return (WmlcMlp) {.inputs = inputs, .depth = depth, .width = {7, 10, 5}};
}

/* A meta and an embedding in memory of their own. */
typedef struct Bench
{
	WmlcMlpMeta meta;
	WmlcMlpEmbedding embedding;
	double	   *theta;			/* compact */
	double	   *gradient;		/* compact */
	double	   *padded;
	size_t		parameters;
	void	   *work;
} Bench;

static inline void
lay_out(Bench *bench, const WmlcMlp *net, const WmlcMlpOptions *options, int64_t max_rows,
		size_t batch, WmlcArena *arena)
{
	wmlc_mlp_meta(&bench->meta, net, options, max_rows, NULL, arena);
	wmlc_mlp_embedding(&bench->embedding, &bench->meta, batch, arena);
	bench->padded = wmlc_arena_doubles(arena, bench->meta.engine.parameters);
}

static inline void
open_bench(Bench *bench, const WmlcMlp *net, const WmlcMlpOptions *options, int64_t max_rows,
		   size_t batch, uint64_t seed)
{
	WmlcArena	arena = {NULL, 0};

	lay_out(bench, net, options, max_rows, batch, &arena);
	bench->work = malloc(wmlc_arena_aligned_size(&arena));
	arena = wmlc_arena_aligned(bench->work);
	lay_out(bench, net, options, max_rows, batch, &arena);
	bench->parameters = wmlc_mlp_parameters(net);
	bench->theta = malloc(bench->parameters * sizeof(double));
	bench->gradient = malloc(bench->parameters * sizeof(double));
	wmlc_mlp_init(net, seed, bench->theta);
}

static inline void
close_bench(Bench *bench)
{
	free(bench->theta);
	free(bench->gradient);
	free(bench->work);
}

/* Parameters into the meta, as training does before each iteration. */
static inline void
load_theta(Bench *bench, const double *theta)
{
	wmlc_mlp_pad(&bench->meta.engine, theta, bench->meta.theta.w);
	wmlc_mlp_transpose(&bench->meta.engine, &bench->meta.theta);
}

/* Gradient into bench->gradient; returns the loss. */
static inline double
task_gradient(Bench *bench, const double *theta, const WmlcMlpRows *task, double weight)
{
	double		mse;

	load_theta(bench, theta);
	memset(bench->padded, 0, bench->meta.engine.parameters * sizeof(double));
	wmlc_mlp_task_gradient(&bench->meta, task, 42, weight, bench->padded, &mse);
	wmlc_mlp_unpad(&bench->meta.engine, bench->padded, bench->gradient);
	return 0.5 * weight * mse;
}

/* Half the mean squared error, from predictions alone. */
static inline double
naive_loss(const WmlcMlp *net, const double *theta, const WmlcMlpRows *rows)
{
	void	   *work = malloc(wmlc_mlp_predict_workspace(net));
	double		sum = 0.0;

	for (int64_t i = 0; i < rows->count; i++)
	{
		double		residual = wmlc_mlp_predict(net, theta, rows->x + i * net->inputs, work)
			- rows->y[i];

		sum += residual * residual;
	}
	free(work);
	return 0.5 * sum / (double) rows->count;
}

/* |a - b| / |b| */
static inline double
relative_distance(const double *a, const double *b, size_t n)
{
	double		difference = 0.0;
	double		size = 0.0;

	for (size_t i = 0; i < n; i++)
	{
		difference += (a[i] - b[i]) * (a[i] - b[i]);
		size += b[i] * b[i];
	}
	return sqrt(difference / size);
}

/* Central differences of a function of the parameters. */
typedef double (*Function) (const double *theta, void *argument);

static inline double *
numeric_gradient(Function function, void *argument, const double *theta, size_t parameters)
{
	double	   *result = malloc(parameters * sizeof(double));
	double	   *moved = malloc(parameters * sizeof(double));

	memcpy(moved, theta, parameters * sizeof(double));
	for (size_t i = 0; i < parameters; i++)
	{
		double		up,
					down;

		moved[i] = theta[i] + FD_STEP;
		up = function(moved, argument);
		moved[i] = theta[i] - FD_STEP;
		down = function(moved, argument);
		moved[i] = theta[i];
		result[i] = (up - down) / (2.0 * FD_STEP);
	}
	free(moved);
	return result;
}

#endif							/* WML_UNIT_MLP_FIXTURE_H */
