/*
 * mlp_meta.c
 *	  One task's part of the meta-gradient, for each objective.
 *
 * With theta_0 = theta, theta_{i+1} = theta_i - rate g(theta_i) and the loss L
 * measured at theta_k, the chain rule gives
 *
 *	  dL/dtheta = (I - rate H(theta_0)) ... (I - rate H(theta_{k-1})) L'(theta_k),
 *
 * which is evaluated from the right, one Hessian product per inner step.  H
 * and g belong to the support rows, L to the query rows.
 */
#include <string.h>

#include "core/mlp/mlp_internal.h"

void
wmlc_mlp_meta(WmlcMlpMeta *meta, const WmlcMlp *net, const WmlcMlpOptions *options,
			  int64_t max_rows, WmlcPoll poll, WmlcArena *arena)
{
	WmlcMlpEngine *engine = &meta->engine;
	int			steps = options->objective == WMLC_ERM ? 0 : options->inner_steps;

	wmlc_mlp_engine(engine, net, max_rows, poll, arena);
	meta->options = options;
	meta->theta = wmlc_mlp_take_weights(engine, arena);
	meta->path = wmlc_arena_doubles(arena, steps * engine->parameters);
	meta->path_transposed = wmlc_arena_doubles(arena, engine->transposed);
	meta->inner_gradient = wmlc_arena_doubles(arena, engine->parameters);
	meta->task_gradient = wmlc_arena_doubles(arena, engine->parameters);
	meta->direction = wmlc_mlp_take_weights(engine, arena);
}

/* theta_i with its transposes, which share one place for all i > 0. */
static WmlcMlpWeights
path_point(const WmlcMlpMeta *meta, int i)
{
	WmlcMlpWeights point;

	if (i == 0)
		return meta->theta;
	point.w = meta->path + (i - 1) * meta->engine.parameters;
	point.transposed = meta->path_transposed;
	wmlc_mlp_transpose(&meta->engine, &point);
	return point;
}

/* The inner steps.  reptile's direction is the sum of their gradients. */
static WmlcStatus
take_inner_steps(WmlcMlpMeta *meta, WmlcMlpReader *support, double reptile_weight, double *total)
{
	const WmlcMlpEngine *engine = &meta->engine;
	double		scale = 1.0 / (double) wmlc_mlp_reader_rows(support);

	for (int i = 0; i < meta->options->inner_steps; i++)
	{
		WmlcMlpWeights point = path_point(meta, i);
		double		squares;
		WmlcStatus	status;

		memset(meta->inner_gradient, 0, engine->parameters * sizeof(double));
		status = wmlc_mlp_gradient(engine, &point, support, &meta->engine.first, scale,
								   meta->inner_gradient, &squares);
		if (status != WMLC_OK)
			return status;
		wmlc_mlp_combine(engine, point.w, -meta->options->inner_rate, meta->inner_gradient,
						 meta->path + i * engine->parameters);
		if (reptile_weight != 0.0)
			wmlc_mlp_combine(engine, total, reptile_weight, meta->inner_gradient, total);
	}
	return WMLC_OK;
}

/* task_gradient = (I - rate H(theta_i)) task_gradient */
static WmlcStatus
back_through_step(WmlcMlpMeta *meta, int i, WmlcMlpReader *support)
{
	WmlcMlpEngine *engine = &meta->engine;
	WmlcMlpWeights point = path_point(meta, i);
	int64_t		rows = wmlc_mlp_reader_rows(support);
	double		scale = 1.0 / (double) rows;

	wmlc_mlp_combine(engine, NULL, -meta->options->inner_rate, meta->task_gradient,
					 meta->direction.w);
	wmlc_mlp_transpose(engine, &meta->direction);

	/* the last inner step, on a single tile, has left all that is needed */
	if (i == meta->options->inner_steps - 1 && rows <= engine->tile_rows)
	{
		wmlc_mlp_hessian_product(engine, &point, &meta->direction, &engine->first, scale,
								 &engine->second, meta->task_gradient);
		return WMLC_OK;
	}
	while (wmlc_mlp_read_tile(engine, support, &engine->first))
	{
		if (wmlc_interrupted(engine->poll))
			return WMLC_INTERRUPTED;
		wmlc_mlp_forward(engine, point.w, &engine->first);
		wmlc_mlp_backward(engine, &point, &engine->first, scale, NULL);
		wmlc_mlp_hessian_product(engine, &point, &meta->direction, &engine->first, scale,
								 &engine->second, meta->task_gradient);
	}
	return WMLC_OK;
}

static WmlcStatus
maml_gradient(WmlcMlpMeta *meta, const WmlcMlpRows *task, uint64_t key,
			  double weight, double *total, double *squares, int64_t *rows)
{
	WmlcMlpEngine *engine = &meta->engine;
	const WmlcMlpOptions *options = meta->options;
	WmlcMlpReader support = wmlc_mlp_read_part(task, WMLC_MLP_SUPPORT, options->support, key);
	WmlcMlpReader query = wmlc_mlp_read_part(task, WMLC_MLP_QUERY, options->support, key);
	WmlcStatus	status = take_inner_steps(meta, &support, 0.0, NULL);
	WmlcMlpWeights adapted;

	if (status != WMLC_OK)
		return status;
	adapted = path_point(meta, options->inner_steps);
	*rows = wmlc_mlp_reader_rows(&query);
	memset(meta->task_gradient, 0, engine->parameters * sizeof(double));
	status = wmlc_mlp_gradient(engine, &adapted, &query, &engine->second,
							   weight / (double) *rows, meta->task_gradient, squares);
	if (options->objective == WMLC_MAML)
		for (int i = options->inner_steps - 1; i >= 0 && status == WMLC_OK; i--)
			status = back_through_step(meta, i, &support);
	if (status == WMLC_OK)
		wmlc_mlp_combine(engine, total, 1.0, meta->task_gradient, total);
	return status;
}

static WmlcStatus
reptile_direction(WmlcMlpMeta *meta, const WmlcMlpRows *task,
				  double weight, double *total, double *squares)
{
	WmlcMlpReader reader = wmlc_mlp_read_all(task);
	WmlcStatus	status = take_inner_steps(meta, &reader, weight, total);

	if (status != WMLC_OK)
		return status;
	return wmlc_mlp_residuals(&meta->engine, path_point(meta, meta->options->inner_steps).w,
							  &reader, &meta->engine.second, squares);
}

WmlcStatus
wmlc_mlp_task_gradient(WmlcMlpMeta *meta, const WmlcMlpRows *task, uint64_t key,
					   double weight, double *total, double *mse)
{
	WmlcMlpReader reader = wmlc_mlp_read_all(task);
	int64_t		rows = task->count;
	double		squares = 0.0;
	WmlcStatus	status;

	switch (meta->options->objective)
	{
		case WMLC_ERM:
			status = wmlc_mlp_gradient(&meta->engine, &meta->theta, &reader, &meta->engine.first,
									   weight / (double) rows, total, &squares);
			break;
		case WMLC_REPTILE:
			status = reptile_direction(meta, task, weight, total, &squares);
			break;
		default:
			status = maml_gradient(meta, task, key, weight, total, &squares, &rows);
			break;
	}
	*mse = squares / (double) rows;
	return status;
}
