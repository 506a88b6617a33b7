/*
 * mlp_pass.c
 *	  Passes over a tile of rows: reading it, forward, backward, and the
 *	  product of the loss's Hessian with a vector.
 *
 * The Hessian product is the derivative of the backward pass along a direction
 * of the parameters (Pearlmutter 1994).  ReLU'' is 0, so the masks of the
 * forward pass serve the tangents as they are; but each layer is bilinear in
 * its weights and its input, and that leaves products of the direction with
 * the activations and the derivatives of the layers around it.
 */
#include <math.h>
#include <string.h>

#include "core/mlp/mlp_internal.h"

/* ---- reading rows ---- */

WmlcMlpReader
wmlc_mlp_read_all(const WmlcMlpRows *rows)
{
	return (WmlcMlpReader) {.rows = *rows, .part = WMLC_MLP_ALL};
}

/* Both parts get at least a row; a task of one row cannot be split. */
WmlcMlpReader
wmlc_mlp_read_part(const WmlcMlpRows *rows, WmlcMlpPart part, double support, uint64_t key)
{
	WmlcMlpReader reader = {.rows = *rows, .part = part, .key = key};

	if (support == 0.0 || rows->count == 1)
		return wmlc_mlp_read_all(rows);
	reader.support = (int64_t) round(support * (double) rows->count);
	if (reader.support < 1)
		reader.support = 1;
	if (reader.support > rows->count - 1)
		reader.support = rows->count - 1;
	return reader;
}

int64_t
wmlc_mlp_reader_rows(const WmlcMlpReader *reader)
{
	switch (reader->part)
	{
		case WMLC_MLP_SUPPORT:
			return reader->support;
		case WMLC_MLP_QUERY:
			return reader->rows.count - reader->support;
		default:
			return reader->rows.count;
	}
}

/*
 * Is the next row in the reader's part?  Going through the rows once and
 * choosing each with probability (still wanted) / (still left) draws every
 * subset of the right size alike (Knuth, TAOCP 3.4.2, algorithm S), needs no
 * memory, and can be repeated for the other part.
 */
static bool
wanted(WmlcMlpReader *reader)
{
	double		left = (double) (reader->rows.count - reader->next);
	double		missing = (double) (reader->support - reader->chosen);
	bool		in_support;

	if (reader->part == WMLC_MLP_ALL)
		return true;
	in_support = left * wmlc_random_half_open(wmlc_random_at(reader->key, (uint64_t) reader->next)) < missing;
	reader->chosen += in_support;
	return in_support == (reader->part == WMLC_MLP_SUPPORT);
}

static void
read_row(const WmlcMlp *net, const WmlcMlpRows *rows, int64_t row, double *h, double *y)
{
	const double *x = rows->x + row * net->inputs;

	if (net->scale == NULL)
	{
		memcpy(h, x, net->inputs * sizeof(double));
		*y = rows->y[row];
		return;
	}
	for (int i = 0; i < net->inputs; i++)
		h[i] = (x[i] - net->shift[i]) / net->scale[i];
	*y = (rows->y[row] - net->shift[net->inputs]) / net->scale[net->inputs];
}

/* At the end the tile keeps what it has. */
bool
wmlc_mlp_read_tile(const WmlcMlpEngine *engine, WmlcMlpReader *reader, WmlcMlpTile *tile)
{
	int			stride = engine->layer[0].in_stride;
	int			inputs = engine->net->inputs;
	int			rows = 0;

	for (; reader->next < reader->rows.count && rows < engine->tile_rows; reader->next++)
	{
		double	   *h = tile->h[0] + (size_t) rows * stride;

		if (!wanted(reader))
			continue;
		read_row(engine->net, &reader->rows, reader->next, h, &tile->y[rows]);
		memset(h + inputs, 0, (stride - inputs) * sizeof(double));
		rows++;
	}
	if (rows == 0)
	{
		reader->next = 0;
		reader->chosen = 0;
		return false;
	}
	tile->rows = rows;
	return true;
}

/* ---- building blocks, all on padded rows ---- */

static const double one = 1.0;

/* to[rows x out] = h W + start, then ReLU or mask */
static void
through_layer(const WmlcMlpEngine *engine, const WmlcMlpLayer *layer, int rows,
			  const double *h, const double *weights,
			  const double *start, int start_stride, bool relu, const double *mask, double *to)
{
	WmlcMlpProduct product = {
		.rows = rows, .columns = layer->out_stride, .depth = layer->in,
		.a = h, .a_row = layer->in_stride, .a_step = 1,
		.b = weights, .b_stride = layer->out_stride,
		.c = to, .c_stride = layer->out_stride,
		.start = start, .start_stride = start_stride,
		.relu = relu, .mask = mask
	};

	engine->loops->product(&product);
}

/* to[rows x in] = d W' (+ to), then mask */
static void
back_through_layer(const WmlcMlpEngine *engine, const WmlcMlpLayer *layer, int rows,
				   const double *d, const double *transposed, bool add,
				   const double *mask, double *to)
{
	WmlcMlpProduct product = {
		.rows = rows, .columns = layer->in_stride, .depth = layer->out,
		.a = d, .a_row = layer->out_stride, .a_step = 1,
		.b = transposed, .b_stride = layer->in_stride,
		.c = to, .c_stride = layer->in_stride,
		.start = add ? to : NULL, .start_stride = layer->in_stride,
		.mask = mask
	};

	engine->loops->product(&product);
}

/* to[in x out] += h' d, the weights' part of a gradient */
static void
add_weight_gradient(const WmlcMlpEngine *engine, const WmlcMlpLayer *layer, int rows,
					const double *h, const double *d, double *to)
{
	WmlcMlpProduct product = {
		.rows = layer->in, .columns = layer->out_stride, .depth = rows,
		.a = h, .a_row = 1, .a_step = layer->in_stride,
		.b = d, .b_stride = layer->out_stride,
		.c = to, .c_stride = layer->out_stride,
		.start = to, .start_stride = layer->out_stride
	};

	engine->loops->product(&product);
}

/* to[columns] += sum over rows of factor_i m_i; factor_step 0: one factor for all */
static void
add_weighted_rows(const WmlcMlpEngine *engine, int rows, int columns,
				  const double *factor, int factor_step, const double *m, double *to)
{
	WmlcMlpProduct product = {
		.rows = 1, .columns = columns, .depth = rows,
		.a = factor, .a_step = factor_step,
		.b = m, .b_stride = columns,
		.c = to, .c_stride = columns,
		.start = to
	};

	engine->loops->product(&product);
}

/* to[rows x columns] = column row' (+ to), then mask */
static void
outer_product(const WmlcMlpEngine *engine, int rows, int columns,
			  const double *column, const double *row, bool add, const double *mask, double *to)
{
	WmlcMlpProduct product = {
		.rows = rows, .columns = columns, .depth = 1,
		.a = column, .a_row = 1,
		.b = row,
		.c = to, .c_stride = columns,
		.start = add ? to : NULL, .start_stride = columns,
		.mask = mask
	};

	engine->loops->product(&product);
}

static double
sum(const double *values, int count)
{
	double		total = 0.0;

	for (int i = 0; i < count; i++)
		total += values[i];
	return total;
}

void
wmlc_mlp_combine(const WmlcMlpEngine *engine, const double *base, double factor,
				 const double *step, double *to)
{
	WmlcMlpProduct product = {
		.rows = 1, .columns = (int) engine->parameters, .depth = 1,
		.a = &factor, .b = step, .c = to, .start = base
	};

	engine->loops->product(&product);
}

/* ---- passes ---- */

void
wmlc_mlp_transpose(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights)
{
	for (int l = 1; l < engine->depth; l++)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];

		engine->loops->transpose(layer->in, layer->out,
								  weights->w + layer->weights, layer->out_stride,
								  weights->transposed + layer->transposed, layer->in_stride);
	}
}

void
wmlc_mlp_hidden(const WmlcMlpEngine *engine, const double *w, WmlcMlpTile *tile)
{
	for (int l = 0; l < engine->depth; l++)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];

		through_layer(engine, layer, tile->rows, tile->h[l], w + layer->weights,
					  w + layer->bias, 0, true, NULL, tile->h[l + 1]);
	}
}

double
wmlc_mlp_forward(const WmlcMlpEngine *engine, const double *w, WmlcMlpTile *tile)
{
	const WmlcMlpLayer *output = &engine->layer[engine->depth];
	double		squares = 0.0;

	wmlc_mlp_hidden(engine, w, tile);
	for (int i = 0; i < tile->rows; i++)
		tile->delta[i] = w[output->bias] - tile->y[i];
	engine->loops->dots(tile->rows, output->in_stride, tile->h[engine->depth],
						 w + output->weights, tile->delta);
	for (int i = 0; i < tile->rows; i++)
		squares += tile->delta[i] * tile->delta[i];
	return squares;
}

void
wmlc_mlp_backward(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights,
				  WmlcMlpTile *tile, double scale, double *gradient)
{
	int			depth = engine->depth;
	const WmlcMlpLayer *output = &engine->layer[depth];

	for (int i = 0; i < tile->rows; i++)
		tile->delta[i] *= scale;
	if (gradient != NULL)
	{
		add_weighted_rows(engine, tile->rows, output->in_stride, tile->delta, 1,
						  tile->h[depth], gradient + output->weights);
		gradient[output->bias] += sum(tile->delta, tile->rows);
	}
	if (depth > 0)
		outer_product(engine, tile->rows, output->in_stride, tile->delta,
					  weights->w + output->weights, false, tile->h[depth], tile->d[depth]);
	for (int l = depth - 1; l >= 0; l--)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];
		const double *d = tile->d[l + 1];

		if (gradient != NULL)
		{
			add_weight_gradient(engine, layer, tile->rows, tile->h[l], d, gradient + layer->weights);
			add_weighted_rows(engine, tile->rows, layer->out_stride, &one, 0, d, gradient + layer->bias);
		}
		if (l > 0)
			back_through_layer(engine, layer, tile->rows, d, weights->transposed + layer->transposed,
							   false, tile->h[l], tile->d[l]);
	}
}

/*
 * Tangents of the activations and of the prediction.  The input has none, so
 * the first layer's activations move by the direction alone.
 */
static void
forward_tangents(const WmlcMlpEngine *engine, const double *w, const double *v,
				 const WmlcMlpTile *tile, double scale, WmlcMlpTile *tangent)
{
	const WmlcMlpLayer *output = &engine->layer[engine->depth];
	int			rows = tile->rows;

	for (int l = 0; l < engine->depth; l++)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];
		const double *mask = tile->h[l + 1];
		double	   *to = tangent->h[l + 1];

		through_layer(engine, layer, rows, tile->h[l], v + layer->weights,
					  v + layer->bias, 0, false, l == 0 ? mask : NULL, to);
		if (l > 0)
			through_layer(engine, layer, rows, tangent->h[l], w + layer->weights,
						  to, layer->out_stride, false, mask, to);
	}
	for (int i = 0; i < rows; i++)
		tangent->delta[i] = v[output->bias];
	engine->loops->dots(rows, output->in_stride, tile->h[engine->depth],
						 v + output->weights, tangent->delta);
	if (engine->depth > 0)
		engine->loops->dots(rows, output->in_stride, tangent->h[engine->depth],
							 w + output->weights, tangent->delta);
	for (int i = 0; i < rows; i++)
		tangent->delta[i] *= scale;
}

void
wmlc_mlp_hessian_product(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights,
						 const WmlcMlpWeights *direction, const WmlcMlpTile *tile,
						 double scale, WmlcMlpTile *tangent, double *product)
{
	int			depth = engine->depth;
	int			rows = tile->rows;
	const WmlcMlpLayer *output = &engine->layer[depth];

	forward_tangents(engine, weights->w, direction->w, tile, scale, tangent);
	add_weighted_rows(engine, rows, output->in_stride, tangent->delta, 1,
					  tile->h[depth], product + output->weights);
	product[output->bias] += sum(tangent->delta, rows);
	if (depth == 0)
		return;

	add_weighted_rows(engine, rows, output->in_stride, tile->delta, 1,
					  tangent->h[depth], product + output->weights);
	outer_product(engine, rows, output->in_stride, tangent->delta,
				  weights->w + output->weights, false, NULL, tangent->d[depth]);
	outer_product(engine, rows, output->in_stride, tile->delta,
				  direction->w + output->weights, true, tile->h[depth], tangent->d[depth]);
	for (int l = depth - 1; l >= 0; l--)
	{
		const WmlcMlpLayer *layer = &engine->layer[l];
		const double *d = tile->d[l + 1];
		const double *tangent_d = tangent->d[l + 1];

		add_weight_gradient(engine, layer, rows, tile->h[l], tangent_d, product + layer->weights);
		add_weighted_rows(engine, rows, layer->out_stride, &one, 0, tangent_d, product + layer->bias);
		if (l == 0)
			continue;
		add_weight_gradient(engine, layer, rows, tangent->h[l], d, product + layer->weights);
		back_through_layer(engine, layer, rows, tangent_d, weights->transposed + layer->transposed,
						   false, NULL, tangent->d[l]);
		back_through_layer(engine, layer, rows, d, direction->transposed + layer->transposed,
						   true, tile->h[l], tangent->d[l]);
	}
}

/* ---- whole tasks ---- */

WmlcStatus
wmlc_mlp_gradient(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights,
				  WmlcMlpReader *reader, WmlcMlpTile *tile,
				  double scale, double *gradient, double *sum_of_squares)
{
	*sum_of_squares = 0.0;
	while (wmlc_mlp_read_tile(engine, reader, tile))
	{
		if (wmlc_interrupted(engine->poll))
			return WMLC_INTERRUPTED;
		*sum_of_squares += wmlc_mlp_forward(engine, weights->w, tile);
		wmlc_mlp_backward(engine, weights, tile, scale, gradient);
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_mlp_residuals(const WmlcMlpEngine *engine, const double *w,
				   WmlcMlpReader *reader, WmlcMlpTile *tile, double *sum_of_squares)
{
	*sum_of_squares = 0.0;
	while (wmlc_mlp_read_tile(engine, reader, tile))
	{
		if (wmlc_interrupted(engine->poll))
			return WMLC_INTERRUPTED;
		*sum_of_squares += wmlc_mlp_forward(engine, w, tile);
	}
	return WMLC_OK;
}
