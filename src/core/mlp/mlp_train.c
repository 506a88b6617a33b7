/*
 * mlp_train.c
 *	  The training loop: draw a batch, weigh it, take one Adam step (Kingma, Ba
 *	  2015); and fast adaptation of a trained network to a task.
 *
 * Everything random is a hash of the seed, the iteration and the task, so a
 * seed gives one model, to the bit, on one machine.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/mlp/mlp_internal.h"

#define ADAM_MEAN_DECAY 0.9
#define ADAM_SQUARE_DECAY 0.999
#define ADAM_EPSILON 1e-8

typedef struct Training
{
	const WmlcMlp *net;
	const WmlcMlpOptions *options;
	const WmlcMlpTasks *sources;
	const WmlcMlpRows *target;
	WmlcMlpMeta meta;
	WmlcMlpEmbedding embedding;
	size_t		batch;
	uint32_t   *order;			/* the tasks; the first `batch` are drawn */
	WmlcMlpRows *tasks;			/* the batch */
	double	   *alpha;
	double	   *gradient;
	double	   *mean;			/* Adam's, of the gradient */
	double	   *square;			/* and of its square */
} Training;

static int64_t
longest_task(const WmlcMlpTasks *sources, const WmlcMlpRows *target)
{
	int64_t		longest = target->count;

	for (int64_t j = 0; j < sources->count; j++)
		if (sources->start[j + 1] - sources->start[j] > longest)
			longest = sources->start[j + 1] - sources->start[j];
	return longest;
}

static void
lay_out(Training *training, const WmlcMlp *net, const WmlcMlpOptions *options,
		const WmlcMlpTasks *sources, const WmlcMlpRows *target, WmlcPoll poll,
		WmlcArena *arena)
{
	WmlcMlpMeta *meta = &training->meta;

	training->net = net;
	training->options = options;
	training->sources = sources;
	training->target = target;
	training->batch = options->batch < sources->count ? options->batch : sources->count;
	wmlc_mlp_meta(meta, net, options, longest_task(sources, target), poll, arena);
	wmlc_mlp_embedding(&training->embedding, meta, training->batch, arena);
	training->order = wmlc_arena_take(arena, sources->count, sizeof(uint32_t));
	training->tasks = wmlc_arena_take(arena, training->batch, sizeof(WmlcMlpRows));
	training->alpha = wmlc_arena_doubles(arena, training->batch);
	training->gradient = wmlc_arena_doubles(arena, meta->engine.parameters);
	training->mean = wmlc_arena_doubles(arena, meta->engine.parameters);
	training->square = wmlc_arena_doubles(arena, meta->engine.parameters);
}

size_t
wmlc_mlp_train_workspace(const WmlcMlp *net, const WmlcMlpOptions *options,
						 const WmlcMlpTasks *sources, const WmlcMlpRows *target)
{
	WmlcArena	arena = {NULL, 0};
	Training	training;

	lay_out(&training, net, options, sources, target, NULL, &arena);
	return wmlc_arena_aligned_size(&arena);
}

static bool
all_finite(const double *values, int64_t count)
{
	/* 0 * x is 0 for finite x and NaN for all others */
	double		sum = 0.0;

	for (int64_t i = 0; i < count; i++)
		sum += 0.0 * values[i];
	return sum == 0.0;
}

static WmlcStatus
check_data(const WmlcMlp *net, const WmlcMlpOptions *options,
		   const WmlcMlpTasks *sources, const WmlcMlpRows *target)
{
	int64_t		first;
	int64_t		rows;

	if (sources->count > UINT32_MAX || options->batch < 1 || options->inner_steps < 1)
		return WMLC_OUT_OF_RANGE;
	if (sources->count < 1 || target->count < 1)
		return WMLC_EMPTY;
	for (int64_t j = 0; j < sources->count; j++)
		if (sources->start[j + 1] <= sources->start[j])
			return WMLC_EMPTY;
	first = sources->start[0];
	rows = sources->start[sources->count] - first;
	if (!all_finite(sources->x + first * net->inputs, rows * net->inputs)
		|| !all_finite(sources->y + first, rows)
		|| !all_finite(target->x, target->count * net->inputs)
		|| !all_finite(target->y, target->count))
		return WMLC_NOT_FINITE;
	return WMLC_OK;
}

/*
 * The first steps of a Fisher-Yates shuffle that goes on from where the last
 * batch left it.  All tasks: in their order.
 */
static void
draw_batch(Training *training, uint64_t key)
{
	const WmlcMlpTasks *sources = training->sources;
	uint64_t	count = (uint64_t) sources->count;

	for (size_t i = 0; i < training->batch; i++)
	{
		uint32_t	task = training->order[i];

		if (training->batch < count)
		{
			size_t		other = i + (((wmlc_random_at(key, i) >> 32) * (count - i)) >> 32);

			task = training->order[other];
			training->order[other] = training->order[i];
			training->order[i] = task;
		}
		training->tasks[i].x = sources->x + sources->start[task] * training->net->inputs;
		training->tasks[i].y = sources->y + sources->start[task];
		training->tasks[i].count = sources->start[task + 1] - sources->start[task];
	}
}

static WmlcStatus
weigh_batch(Training *training, bool distance_wanted, double *distance)
{
	WmlcStatus	status = wmlc_mlp_weigh(&training->embedding, training->tasks, training->batch,
										training->target, distance_wanted, training->alpha);

	*distance = training->embedding.distance;
	return status;
}

/* The gradient of the weighted objective; tasks without weight are left out. */
static WmlcStatus
find_gradient(Training *training, uint64_t key, WmlcMlpRecord *record)
{
	WmlcStatus	status = WMLC_OK;

	memset(training->gradient, 0, training->meta.engine.parameters * sizeof(double));
	record->mse = 0.0;
	record->sources = 0;
	for (size_t j = 0; j < training->batch && status == WMLC_OK; j++)
	{
		double		mse;

		if (training->alpha[j] == 0.0)
			continue;
		status = wmlc_mlp_task_gradient(&training->meta, &training->tasks[j],
										wmlc_random_at(~key, training->order[j]),
										training->alpha[j], training->gradient, &mse);
		record->mse += training->alpha[j] * mse;
		record->sources++;
	}
	if (training->net->scale != NULL)
		record->mse *= training->net->scale[training->net->inputs]
			* training->net->scale[training->net->inputs];
	return status;
}

/* False, with nothing changed, if the gradient or its squares are not finite. */
static bool
adam_step(Training *training, int64_t iteration)
{
	size_t		parameters = training->meta.engine.parameters;
	double	   *w = training->meta.theta.w;
	double		mean_scale = 1.0 / (1.0 - pow(ADAM_MEAN_DECAY, (double) iteration));
	double		square_scale = 1.0 / (1.0 - pow(ADAM_SQUARE_DECAY, (double) iteration));

	if (!isfinite(cblas_ddot((int) parameters, training->gradient, 1, training->gradient, 1)))
		return false;
	for (size_t i = 0; i < parameters; i++)
	{
		double		g = training->gradient[i];
		double		mean = ADAM_MEAN_DECAY * training->mean[i] + (1.0 - ADAM_MEAN_DECAY) * g;
		double		square = ADAM_SQUARE_DECAY * training->square[i]
			+ (1.0 - ADAM_SQUARE_DECAY) * g * g;

		training->mean[i] = mean;
		training->square[i] = square;
		w[i] -= training->options->outer_rate * (mean_scale * mean)
			/ (sqrt(square_scale * square) + ADAM_EPSILON);
	}
	return true;
}

static WmlcStatus
iterate(Training *training, bool recording, WmlcMlpRecord *record)
{
	uint64_t	key = wmlc_random_at(training->options->seed, (uint64_t) record->iteration);
	WmlcStatus	status;

	draw_batch(training, key);
	wmlc_mlp_transpose(&training->meta.engine, &training->meta.theta);
	status = weigh_batch(training, recording, &record->distance);
	if (status == WMLC_OK)
		status = find_gradient(training, key, record);
	if (status != WMLC_OK)
		return status;
	if (!isfinite(record->mse) || !adam_step(training, record->iteration))
		return WMLC_NOT_FINITE;
	return WMLC_OK;
}

WmlcStatus
wmlc_mlp_train(const WmlcMlp *net, const WmlcMlpOptions *options,
			   const WmlcMlpTasks *sources, const WmlcMlpRows *target,
			   double *theta, WmlcMlpRecord *history, int capacity, int *recorded,
			   WmlcMlpProgress progress, void *argument, WmlcPoll poll, void *work)
{
	WmlcArena	arena = wmlc_arena_aligned(work);
	Training	training;
	size_t		bytes;
	int64_t		interval = capacity > 0 ? (options->iterations + capacity - 1) / capacity : 0;
	WmlcStatus	status;

	*recorded = 0;
	status = check_data(net, options, sources, target);
	if (status != WMLC_OK)
		return status;
	lay_out(&training, net, options, sources, target, poll, &arena);
	bytes = training.meta.engine.parameters * sizeof(double);
	memset(training.mean, 0, bytes);
	memset(training.square, 0, bytes);
	for (int64_t j = 0; j < sources->count; j++)
		training.order[j] = (uint32_t) j;
	wmlc_mlp_pad(&training.meta.engine, theta, training.meta.theta.w);

	for (int64_t iteration = 1; iteration <= options->iterations; iteration++)
	{
		WmlcMlpRecord record = {.iteration = iteration};
		bool		recording = capacity > 0
			&& (iteration % interval == 0 || iteration == options->iterations);

		status = wmlc_interrupted(poll) ? WMLC_INTERRUPTED
			: iterate(&training, recording, &record);
		if (status != WMLC_OK)
			break;
		if (recording)
			history[(*recorded)++] = record;
		if (progress != NULL)
			progress(argument, &record);
	}
	wmlc_mlp_unpad(&training.meta.engine, training.meta.theta.w, theta);
	return status;
}

/* ---- fast adaptation ---- */

typedef struct Adaptation
{
	WmlcMlpEngine engine;
	WmlcMlpWeights weights;
	double	   *best;
	double	   *gradient;
} Adaptation;

static void
lay_out_adaptation(Adaptation *adaptation, const WmlcMlp *net, WmlcPoll poll, WmlcArena *arena)
{
	wmlc_mlp_engine(&adaptation->engine, net, WMLC_MLP_TILE, poll, arena);
	adaptation->weights = wmlc_mlp_take_weights(&adaptation->engine, arena);
	adaptation->best = wmlc_arena_doubles(arena, adaptation->engine.parameters);
	adaptation->gradient = wmlc_arena_doubles(arena, adaptation->engine.parameters);
}

size_t
wmlc_mlp_adapt_workspace(const WmlcMlp *net)
{
	WmlcArena	arena = {NULL, 0};
	Adaptation	adaptation;

	lay_out_adaptation(&adaptation, net, NULL, &arena);
	return wmlc_arena_aligned_size(&arena);
}

/* Mean squared error in the response's own units. */
static double
mean_square(const WmlcMlp *net, double squares, int64_t rows)
{
	double		scale = net->scale == NULL ? 1.0 : net->scale[net->inputs];

	return squares / (double) rows * scale * scale;
}

static WmlcStatus
judge_error(Adaptation *adaptation, const WmlcMlpRows *judge, double *mse)
{
	WmlcMlpReader reader = wmlc_mlp_read_all(judge);
	double		squares;
	WmlcStatus	status = wmlc_mlp_residuals(&adaptation->engine, adaptation->weights.w, &reader,
											&adaptation->engine.second, &squares);

	*mse = mean_square(adaptation->engine.net, squares, judge->count);
	return status;
}

/* The gradient and the mean squared error where we are. */
static WmlcStatus
look_around(Adaptation *adaptation, const WmlcMlpRows *rows, double *mse)
{
	const WmlcMlpEngine *engine = &adaptation->engine;
	WmlcMlpReader reader = wmlc_mlp_read_all(rows);
	double		squares;
	WmlcStatus	status;

	memset(adaptation->gradient, 0, engine->parameters * sizeof(double));
	wmlc_mlp_transpose(engine, &adaptation->weights);
	status = wmlc_mlp_gradient(engine, &adaptation->weights, &reader, &adaptation->engine.first,
							   1.0 / (double) rows->count, adaptation->gradient, &squares);
	*mse = mean_square(engine->net, squares, rows->count);
	return status;
}

/*
 * A large rate may overshoot and still come down again, so a step above the
 * start is no reason to give up until it is the last, or hopeless.  At the
 * minimum the error moves by rounding, which is no divergence.
 */
#define HOPELESS 100.0
#define ROUNDING 1e-9

static bool
has_diverged(double error, double first_error, bool last_step)
{
	return !(error <= first_error * (last_step ? 1.0 + ROUNDING : HOPELESS));
}

WmlcStatus
wmlc_mlp_adapt(const WmlcMlp *net, double *theta, const WmlcMlpRows *rows,
			   double rate, int steps, const WmlcMlpRows *judge,
			   double *mse, int *diverged_at, WmlcPoll poll, void *work)
{
	WmlcArena	arena = wmlc_arena_aligned(work);
	Adaptation	adaptation;
	WmlcMlpEngine *engine = &adaptation.engine;
	double	   *w;
	double		first_error = INFINITY;
	double		least_error = INFINITY;

	*diverged_at = 0;
	if (rows->count < 1 || (judge != NULL && judge->count < 1))
		return WMLC_EMPTY;
	if (!all_finite(rows->x, rows->count * net->inputs) || !all_finite(rows->y, rows->count))
		return WMLC_NOT_FINITE;
	lay_out_adaptation(&adaptation, net, poll, &arena);
	w = adaptation.weights.w;
	wmlc_mlp_pad(engine, theta, w);
	if (mse != NULL)
		for (int step = 0; step <= steps; step++)
			mse[step] = NAN;

	for (int step = 0; step <= steps; step++)
	{
		double		error;
		WmlcStatus	status;

		if (step > 0)
			wmlc_mlp_combine(engine, w, -rate, adaptation.gradient, w);
		status = look_around(&adaptation, rows, &error);
		if (status == WMLC_OK && mse != NULL)
		{
			mse[step] = error;
			if (judge != NULL)
				status = judge_error(&adaptation, judge, &mse[step]);
		}
		if (status != WMLC_OK)
			return status;
		if (step == 0)
		{
			if (!isfinite(error))
				return WMLC_NOT_FINITE;
			first_error = error;
		}
		if (has_diverged(error, first_error, step == steps))
		{
			*diverged_at = step;
			memcpy(w, adaptation.best, engine->parameters * sizeof(double));
			break;
		}
		if (error < least_error)
		{
			least_error = error;
			memcpy(adaptation.best, w, engine->parameters * sizeof(double));
		}
	}
	wmlc_mlp_unpad(engine, w, theta);
	return WMLC_OK;
}
