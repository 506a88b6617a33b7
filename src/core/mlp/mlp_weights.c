/*
 * mlp_weights.c
 *	  The weights of a batch of tasks under the current network: embeddings of
 *	  tasks and target in the basis, and the mixture of tasks nearest to the
 *	  target.
 *
 * For the square loss the kernel distance between tasks is the Euclidean
 * distance between their mean second moments of z = (psi, y), as for linear
 * models.  Differences from the target are formed before any product: products
 * of moments are of the fourth order in the activations, and would lose the
 * digits that tell tasks apart.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/linalg/tolerance.h"
#include "core/mlp/mlp_internal.h"

static const char *const weighting_words[] = {"bound"};

const WmlcWords wmlc_mlp_weighting_words = WMLC_MORE_WORDS(&wmlc_rule_words, weighting_words);

void
wmlc_mlp_embedding(WmlcMlpEmbedding *embedding, WmlcMlpMeta *meta, size_t batch,
				   WmlcArena *arena)
{
	const WmlcMlpEngine *engine = &meta->engine;
	const WmlcMlpOptions *options = meta->options;
	int			p = wmlc_mlp_basis(engine->net) + 1;
	size_t		stride = wmlc_mlp_padded(p);
	size_t		matrix = p * stride;
	size_t		tile = engine->tile_rows * stride;

	*embedding = (WmlcMlpEmbedding) {
		.meta = meta, .p = p, .stride = (int) stride,
		.dims = wmlc_triangle_size(p), .batch = batch,
		.weighting = {
			.rule = options->weighting == WMLC_MLP_BOUND ? WMLC_MIXTURE : (WmlcRule) options->weighting,
			.shrink = options->shrink, .whiten = options->whiten
		}
	};
	embedding->z = wmlc_arena_doubles(arena, tile);
	embedding->moment = wmlc_arena_doubles(arena, matrix);
	embedding->target = wmlc_arena_doubles(arena, embedding->dims);
	embedding->points = wmlc_arena_doubles(arena, batch * embedding->dims);
	embedding->mixture = wmlc_arena_doubles(arena, embedding->dims);
	if (options->whiten)
	{
		embedding->white_z = wmlc_arena_doubles(arena, tile);
		embedding->factor = wmlc_arena_doubles(arena, matrix);
		embedding->basis = wmlc_arena_doubles(arena, matrix);
	}
	if (options->weighting == WMLC_MLP_BOUND)
	{
		embedding->omega = wmlc_arena_doubles(arena, stride);
		embedding->omega_square = wmlc_arena_doubles(arena, embedding->dims);
	}
	embedding->sizes = wmlc_arena_doubles(arena, batch);
	embedding->solver = wmlc_arena_take(arena, 1, wmlc_weigh_workspace(&embedding->weighting, batch,
																	   embedding->dims));
}

/* The next tile of a reader as rows z; false at the end. */
static bool
embed_tile(WmlcMlpEmbedding *embedding, WmlcMlpReader *reader)
{
	WmlcMlpMeta *meta = embedding->meta;
	WmlcMlpEngine *engine = &meta->engine;
	WmlcMlpTile *tile = &engine->first;
	const WmlcMlpLayer *output = &engine->layer[engine->depth];
	int			width = output->in;

	if (!wmlc_mlp_read_tile(engine, reader, tile))
		return false;
	wmlc_mlp_hidden(engine, meta->theta.w, tile);
	for (int i = 0; i < tile->rows; i++)
	{
		double	   *z = embedding->z + (size_t) i * embedding->stride;

		memcpy(z, tile->h[engine->depth] + (size_t) i * output->in_stride, width * sizeof(double));
		z[width] = 1.0;
		z[width + 1] = tile->y[i];
		memset(z + width + 2, 0, (embedding->stride - width - 2) * sizeof(double));
	}
	return true;
}

/* The tile's rows in the basis where the pooled moment is the identity. */
static const double *
whitened(WmlcMlpEmbedding *embedding, int rows)
{
	WmlcMlpProduct product = {
		.rows = rows, .columns = embedding->stride, .depth = embedding->p,
		.a = embedding->z, .a_row = embedding->stride, .a_step = 1,
		.b = embedding->basis, .b_stride = embedding->stride,
		.c = embedding->white_z, .c_stride = embedding->stride
	};

	embedding->meta->engine.loops->product(&product);
	return embedding->white_z;
}

/* to[p x p] += z'z for rows of z, the lower triangle at least */
static void
add_moment(const WmlcMlpLoops *loops, const double *z, size_t rows, int p, size_t stride,
		   double *to)
{
	for (int i = 0; i < p; i += WMLC_MLP_PAD)
	{
		double	   *c = to + i * stride;
		WmlcMlpProduct product = {
			.rows = p - i < WMLC_MLP_PAD ? p - i : WMLC_MLP_PAD,
			.columns = i + WMLC_MLP_PAD, .depth = (int) rows,
			.a = z + i, .a_row = 1, .a_step = stride,
			.b = z, .b_stride = stride,
			.c = c, .c_stride = stride,
			.start = c, .start_stride = stride
		};

		loops->product(&product);
	}
}

static double
sum_of_fourth_powers(const double *z, int rows, int p, int stride)
{
	double		sum = 0.0;

	for (int i = 0; i < rows; i++, z += stride)
	{
		double		square = 0.0;

		for (int j = 0; j < p; j++)
			square += z[j] * z[j];
		sum += square * square;
	}
	return sum;
}

/* Add a task's sum of zz' to the moment; `fourth`, unless NULL, gets the sum of |z|^4. */
static WmlcStatus
add_task(WmlcMlpEmbedding *embedding, const WmlcMlpRows *task, bool white, double *fourth)
{
	const WmlcMlpEngine *engine = &embedding->meta->engine;
	WmlcMlpReader reader = wmlc_mlp_read_all(task);

	while (embed_tile(embedding, &reader))
	{
		int			rows = engine->first.rows;
		const double *z = white ? whitened(embedding, rows) : embedding->z;

		if (wmlc_interrupted(engine->poll))
			return WMLC_INTERRUPTED;
		add_moment(engine->loops, z, rows, embedding->p, embedding->stride, embedding->moment);
		if (fourth != NULL)
			*fourth += sum_of_fourth_powers(z, rows, embedding->p, embedding->stride);
	}
	return WMLC_OK;
}

static void
clear_moment(WmlcMlpEmbedding *embedding)
{
	memset(embedding->moment, 0, (size_t) embedding->p * embedding->stride * sizeof(double));
}

/* packed = lower triangle of factor * moment, off-diagonals times sqrt(2), minus base */
static void
pack(const WmlcMlpEmbedding *embedding, double factor, const double *base, double *packed)
{
	double		off_diagonal = M_SQRT2 * factor;
	size_t		k = 0;

	for (int i = 0; i < embedding->p; i++)
	{
		const double *row = embedding->moment + (size_t) i * embedding->stride;

		for (int j = 0; j < i; j++, k++)
			packed[k] = off_diagonal * row[j] - base[k];
		packed[k] = factor * row[i] - base[k];
		k++;
	}
}

static double
dot(const double *a, const double *b, size_t n)
{
	return cblas_ddot((int) n, a, 1, b, 1);
}

/*
 * Cholesky factor of the pooled moment, and its inverse transposed.  Units
 * that are silent on the whole batch, and whatever else depends linearly on
 * the coordinates before it, drop out: their columns of the factor and of the
 * basis are zero.  LAPACK has no factor that goes on in order behind a zero
 * pivot, and the bound needs it triangular in the order of the units.
 */
static WmlcStatus
factor_moment(WmlcMlpEmbedding *embedding, double rows)
{
	int			p = embedding->p;
	double		scale = 1.0 / rows;
	double		tolerance = wmlc_zero_pivot_double(p * rows);
	size_t		stride = embedding->stride;
	double	   *factor = embedding->factor;
	double	   *basis = embedding->basis;

	memset(factor, 0, p * stride * sizeof(double));
	memset(basis, 0, p * stride * sizeof(double));
	for (int i = 0; i < p; i++)
	{
		double	   *row = factor + i * stride;
		const double *moment = embedding->moment + i * stride;
		double		diagonal = scale * moment[i];
		double		pivot;

		if (wmlc_interrupted(embedding->meta->engine.poll))
			return WMLC_INTERRUPTED;
		for (int j = 0; j < i; j++)
		{
			const double *other = factor + j * stride;

			if (other[j] > 0.0)
				row[j] = (scale * moment[j] - dot(row, other, j)) / other[j];
		}
		pivot = diagonal - dot(row, row, i);
		row[i] = pivot > tolerance * diagonal ? sqrt(pivot) : 0.0;
	}

	/* column i of the basis is row i of the inverse */
	for (int i = 0; i < p; i++)
	{
		const double *row = factor + i * stride;

		if (row[i] == 0.0)
			continue;
		for (int k = 0; k < i; k++)
			basis[k * stride + i] = -dot(basis + k * stride + k, row + k, i - k) / row[i];
		basis[i * stride + i] = 1.0 / row[i];
	}
	return WMLC_OK;
}

static WmlcStatus
find_whitening(WmlcMlpEmbedding *embedding, const WmlcMlpRows *tasks, size_t count)
{
	int64_t		rows = 0;

	clear_moment(embedding);
	for (size_t j = 0; j < count; j++)
	{
		WmlcStatus	status = add_task(embedding, &tasks[j], false, NULL);

		if (status != WMLC_OK)
			return status;
		rows += tasks[j].count;
	}
	return factor_moment(embedding, (double) rows);
}

/* v = (mean |z|^4 - |M|^2) / (n - 1), the variance of a mean of n zz' */
static WmlcStatus
embed_target(WmlcMlpEmbedding *embedding, const WmlcMlpRows *target)
{
	const WmlcMlpOptions *options = embedding->meta->options;
	double		rows = (double) target->count;
	double		fourth = 0.0;
	double		excess;
	WmlcStatus	status;

	clear_moment(embedding);
	status = add_task(embedding, target, options->whiten, options->shrink > 0.0 ? &fourth : NULL);
	memset(embedding->target, 0, embedding->dims * sizeof(double));
	pack(embedding, 1.0 / rows, embedding->target, embedding->target);
	excess = fourth / rows - dot(embedding->target, embedding->target, embedding->dims);
	embedding->variance = target->count > 1 ? fmax(excess, 0.0) / (rows - 1.0) : NAN;
	return status;
}

static WmlcStatus
embed_tasks(WmlcMlpEmbedding *embedding, const WmlcMlpRows *tasks, size_t count,
			const WmlcMlpRows *target)
{
	bool		whiten = embedding->meta->options->whiten;
	WmlcStatus	status = WMLC_OK;

	if (whiten)
		status = find_whitening(embedding, tasks, count);
	if (status == WMLC_OK)
		status = embed_target(embedding, target);
	for (size_t j = 0; j < count && status == WMLC_OK; j++)
	{
		clear_moment(embedding);
		status = add_task(embedding, &tasks[j], whiten, NULL);
		pack(embedding, 1.0 / (double) tasks[j].count, embedding->target,
			 embedding->points + j * embedding->dims);
	}
	return status;
}

WmlcStatus
wmlc_mlp_weigh_points(WmlcMlpEmbedding *embedding, size_t count, double *alpha)
{
	WmlcSimplexReport report;
	WmlcCandidates candidates = {
		.points = embedding->points, .count = count,
		.dims = embedding->dims, .stride = embedding->dims,
		.sizes = embedding->sizes, .variance = embedding->variance
	};

	return wmlc_weigh(&embedding->weighting, &candidates, alpha, &report, embedding->solver,
					  embedding->meta->engine.poll);
}

void
wmlc_mlp_mix(WmlcMlpEmbedding *embedding, size_t count, const double *alpha)
{
	memset(embedding->mixture, 0, embedding->dims * sizeof(double));
	for (size_t j = 0; j < count; j++)
	{
		const double *point = embedding->points + j * embedding->dims;

		if (alpha[j] > 0.0)
			for (size_t k = 0; k < embedding->dims; k++)
				embedding->mixture[k] += alpha[j] * point[k];
	}
	embedding->distance = sqrt(dot(embedding->mixture, embedding->mixture, embedding->dims));
}

/* The bound shrinks like a mixture, and like it needs a variance for that. */
static bool
minimizes_bound(const WmlcMlpEmbedding *embedding)
{
	return embedding->meta->options->weighting == WMLC_MLP_BOUND &&
		isfinite(wmlc_weighting_ridge(&embedding->weighting, embedding->variance));
}

WmlcStatus
wmlc_mlp_weigh(WmlcMlpEmbedding *embedding, const WmlcMlpRows *tasks, size_t count,
			   const WmlcMlpRows *target, bool distance_wanted, double *alpha)
{
	WmlcStatus	status;

	for (size_t j = 0; j < count; j++)
		embedding->sizes[j] = (double) tasks[j].count;
	embedding->distance = NAN;
	if (!distance_wanted && !wmlc_rule_is_spatial(embedding->weighting.rule))
		return wmlc_mlp_weigh_points(embedding, count, alpha);
	status = embed_tasks(embedding, tasks, count, target);
	if (status != WMLC_OK)
		return status;
	if (minimizes_bound(embedding))
		return wmlc_mlp_bound_weights(embedding, count, alpha);
	status = wmlc_mlp_weigh_points(embedding, count, alpha);
	if (status == WMLC_OK)
		wmlc_mlp_mix(embedding, count, alpha);
	return status;
}
