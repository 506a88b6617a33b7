/*
 * mlp.c
 *	  The network as its users see it: parameters, first values, predictions;
 *	  and the padded layout the training works in.
 */
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/mlp/mlp_internal.h"

/* Inputs of hidden layer l, or of the output for l = depth. */
static int
layer_inputs(const WmlcMlp *net, int l)
{
	return l == 0 ? net->inputs : net->width[l - 1];
}

static int
layer_outputs(const WmlcMlp *net, int l)
{
	return l == net->depth ? 1 : net->width[l];
}

size_t
wmlc_mlp_parameters(const WmlcMlp *net)
{
	size_t		count = 0;

	for (int l = 0; l <= net->depth; l++)
		count += ((size_t) layer_inputs(net, l) + 1) * layer_outputs(net, l);
	return count;
}

int
wmlc_mlp_basis(const WmlcMlp *net)
{
	return layer_inputs(net, net->depth) + 1;
}

/* Two passes, so that a large mean does not drown the deviations. */
static void
mean_and_deviation(const double *values, int64_t count, int stride, double *mean, double *deviation)
{
	double		sum = 0.0;
	double		squares = 0.0;

	for (int64_t i = 0; i < count; i++)
		sum += values[i * stride];
	*mean = sum / (double) count;
	for (int64_t i = 0; i < count; i++)
		squares += (values[i * stride] - *mean) * (values[i * stride] - *mean);
	*deviation = sqrt(squares / (double) count);

	/* what a constant leaves is rounding, not variation */
	if (!(*deviation > 1e-13 * fabs(*mean)))
		*deviation = 1.0;
}

void
wmlc_mlp_standardize(int inputs, const WmlcMlpTasks *tasks, double *shift, double *scale)
{
	int64_t		first = tasks->start[0];
	int64_t		count = tasks->start[tasks->count] - first;

	for (int i = 0; i < inputs; i++)
		mean_and_deviation(tasks->x + first * inputs + i, count, inputs, &shift[i], &scale[i]);
	mean_and_deviation(tasks->y + first, count, 1, &shift[inputs], &scale[inputs]);
}

/*
 * All parameters of a layer uniform in +-1/sqrt(inputs).  Activations then
 * shrink somewhat from layer to layer, and should: distances between tasks are
 * of the fourth order in the basis, and under He's wider weights the basis
 * drowns the response that is to tell tasks apart.  Biases are not zero, or
 * with one input all units would bend at x = 0.
 */
void
wmlc_mlp_init(const WmlcMlp *net, uint64_t seed, double *theta)
{
	for (int l = 0; l <= net->depth; l++)
	{
		uint64_t	key = wmlc_random_at(seed, (uint64_t) l);
		size_t		count = ((size_t) layer_inputs(net, l) + 1) * layer_outputs(net, l);
		double		bound = 1.0 / sqrt(layer_inputs(net, l));

		for (size_t i = 0; i < count; i++)
			theta[i] = bound * (2.0 * wmlc_random_half_open(wmlc_random_at(key, i)) - 1.0);
		theta += count;
	}
}

static int
widest_layer(const WmlcMlp *net)
{
	int			widest = net->inputs;

	for (int l = 0; l < net->depth; l++)
		if (net->width[l] > widest)
			widest = net->width[l];
	return widest;
}

/* The layer's input and its output in turn. */
size_t
wmlc_mlp_predict_workspace(const WmlcMlp *net)
{
	return 2 * (size_t) widest_layer(net) * sizeof(double);
}

/* The last hidden layer, somewhere in work; *output gets the output's weights. */
static const double *
last_hidden(const WmlcMlp *net, const double *theta, const double *x, double *work,
			const double **output)
{
	double	   *h = work;
	double	   *next = work + widest_layer(net);

	for (int i = 0; i < net->inputs; i++)
		h[i] = net->scale == NULL ? x[i] : (x[i] - net->shift[i]) / net->scale[i];
	for (int l = 0; l < net->depth; l++)
	{
		int			in = layer_inputs(net, l);
		int			out = net->width[l];
		double	   *swap = h;

		memcpy(next, theta + (size_t) in * out, out * sizeof(double));
		for (int i = 0; i < in; i++, theta += out)
			for (int o = 0; o < out; o++)
				next[o] += h[i] * theta[o];
		theta += out;

		/* NaN stays NaN */
		for (int o = 0; o < out; o++)
			if (next[o] < 0.0)
				next[o] = 0.0;
		h = next;
		next = swap;
	}
	*output = theta;
	return h;
}

void
wmlc_mlp_embed(const WmlcMlp *net, const double *theta, const double *x, double *psi, void *work)
{
	int			width = layer_inputs(net, net->depth);
	const double *output;

	memcpy(psi, last_hidden(net, theta, x, work, &output), width * sizeof(double));
	psi[width] = 1.0;
}

double
wmlc_mlp_predict(const WmlcMlp *net, const double *theta, const double *x, void *work)
{
	int			width = layer_inputs(net, net->depth);
	const double *w;
	const double *h = last_hidden(net, theta, x, work, &w);
	double		sum = w[width] + cblas_ddot(width, h, 1, w, 1);

	return net->scale == NULL ? sum : sum * net->scale[net->inputs] + net->shift[net->inputs];
}

/* ---- padded layout ---- */

static void
take_tile(const WmlcMlpEngine *engine, WmlcMlpTile *tile, WmlcArena *arena)
{
	size_t		rows = engine->tile_rows;

	*tile = (WmlcMlpTile) {0};
	for (int l = 0; l <= engine->depth; l++)
	{
		size_t		size = rows * engine->layer[l].in_stride;

		tile->h[l] = wmlc_arena_doubles(arena, size);
		if (l > 0)
			tile->d[l] = wmlc_arena_doubles(arena, size);
	}
	tile->delta = wmlc_arena_doubles(arena, rows);
	tile->y = wmlc_arena_doubles(arena, rows);
}

/* The output's weights are a row of numbers; all others are rows of vectors. */
void
wmlc_mlp_engine(WmlcMlpEngine *engine, const WmlcMlp *net, int64_t max_rows,
				WmlcPoll poll, WmlcArena *arena)
{
	*engine = (WmlcMlpEngine) {
		.net = net,
		.loops = wmlc_mlp_loops(0),
		.poll = poll,
		.depth = net->depth,
		.tile_rows = max_rows < WMLC_MLP_TILE ? (int) max_rows : WMLC_MLP_TILE
	};
	for (int l = 0; l <= net->depth; l++)
	{
		WmlcMlpLayer *layer = &engine->layer[l];

		layer->in = layer_inputs(net, l);
		layer->out = layer_outputs(net, l);
		layer->in_stride = (int) wmlc_mlp_padded(layer->in);
		layer->out_stride = (int) wmlc_mlp_padded(layer->out);
		layer->weights = engine->parameters;
		layer->bias = layer->weights
			+ (l == net->depth ? (size_t) layer->in_stride : (size_t) layer->in * layer->out_stride);
		layer->transposed = engine->transposed;
		engine->parameters = layer->bias + layer->out_stride;
		if (l > 0 && l < net->depth)
			engine->transposed += (size_t) layer->out * layer->in_stride;
	}
	take_tile(engine, &engine->first, arena);
	take_tile(engine, &engine->second, arena);
}

/* The output's w is one row of `in` numbers, any other layer's W `in` rows of `out`. */
void
wmlc_mlp_pad(const WmlcMlpEngine *engine, const double *theta, double *padded)
{
	memset(padded, 0, engine->parameters * sizeof(double));
	for (int l = 0; l <= engine->depth; l++)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];
		bool		output = l == engine->depth;
		int			rows = output ? 1 : layer->in;
		int			columns = output ? layer->in : layer->out;

		for (int i = 0; i < rows; i++, theta += columns)
			memcpy(padded + layer->weights + (size_t) i * layer->out_stride,
				   theta, columns * sizeof(double));
		memcpy(padded + layer->bias, theta, layer->out * sizeof(double));
		theta += layer->out;
	}
}

void
wmlc_mlp_unpad(const WmlcMlpEngine *engine, const double *padded, double *theta)
{
	for (int l = 0; l <= engine->depth; l++)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];
		bool		output = l == engine->depth;
		int			rows = output ? 1 : layer->in;
		int			columns = output ? layer->in : layer->out;

		for (int i = 0; i < rows; i++, theta += columns)
			memcpy(theta, padded + layer->weights + (size_t) i * layer->out_stride,
				   columns * sizeof(double));
		memcpy(theta, padded + layer->bias, layer->out * sizeof(double));
		theta += layer->out;
	}
}

WmlcMlpWeights
wmlc_mlp_take_weights(const WmlcMlpEngine *engine, WmlcArena *arena)
{
	WmlcMlpWeights weights;

	weights.w = wmlc_arena_doubles(arena, engine->parameters);
	weights.transposed = wmlc_arena_doubles(arena, engine->transposed);
	return weights;
}
