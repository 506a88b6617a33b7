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

#include "core/linalg/definite.h"
#include "core/linalg/tolerance.h"
#include "core/mlp/mlp_internal.h"

static const char *const weighting_words[] = {"bound"};

const WmlcWords wmlc_mlp_weighting_words = WMLC_MORE_WORDS(&wmlc_rule_words, weighting_words);

/* Numbers of z that are kept for a second pass over the tasks: 16 MB. */
#define MOST_KEPT ((size_t) 1 << 21)

/* Rows z, of which only the first p numbers are ever written: what pads them stays zero. */
static double *
take_tiles(WmlcArena *arena, size_t count, size_t tile)
{
	double	   *z = wmlc_arena_doubles(arena, count * tile);

	if (z != NULL)
		memset(z, 0, count * tile * sizeof(double));
	return z;
}

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
	embedding->z = take_tiles(arena, 1, tile);
	embedding->moment = wmlc_arena_doubles(arena, matrix);
	embedding->target = wmlc_arena_doubles(arena, embedding->dims);
	embedding->points = wmlc_arena_doubles(arena, batch * embedding->dims);
	embedding->mixture = wmlc_arena_doubles(arena, embedding->dims);
	if (options->whiten)
	{
		embedding->kept_tasks = batch * tile < MOST_KEPT ? batch : MOST_KEPT / tile;
		embedding->kept = take_tiles(arena, embedding->kept_tasks, tile);
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

/* The next tile of a reader as rows of z; false at the end. */
static bool
embed_tile(WmlcMlpEmbedding *embedding, WmlcMlpReader *reader, double *z)
{
	WmlcMlpMeta *meta = embedding->meta;
	WmlcMlpEngine *engine = &meta->engine;
	WmlcMlpTile *tile = &engine->first;
	const WmlcMlpLayer *output = &engine->layer[engine->depth];
	int			width = output->in;

	if (!wmlc_mlp_read_tile(engine, reader, tile))
		return false;
	wmlc_mlp_hidden(engine, meta->theta.w, tile);
	for (int i = 0; i < tile->rows; i++, z += embedding->stride)
	{
		memcpy(z, tile->h[engine->depth] + (size_t) i * output->in_stride, width * sizeof(double));
		z[width] = 1.0;
		z[width + 1] = tile->y[i];
	}
	return true;
}

/* The tile's rows in the basis where the pooled moment is the identity. */
static const double *
whitened(WmlcMlpEmbedding *embedding, const double *z, int rows)
{
	WmlcMlpProduct product = {
		.rows = rows, .columns = embedding->stride, .depth = embedding->p,
		.a = z, .a_row = embedding->stride, .a_step = 1,
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
		double		square = cblas_ddot(p, z, 1, z, 1);

		sum += square * square;
	}
	return sum;
}

/* Add the sum of zz' over rows to the moment; `fourth`, unless NULL, gets the sum of |z|^4. */
static void
add_rows(WmlcMlpEmbedding *embedding, const double *z, int rows, bool white, double *fourth)
{
	if (white)
		z = whitened(embedding, z, rows);
	add_moment(embedding->meta->engine.loops, z, rows, embedding->p, embedding->stride, embedding->moment);
	if (fourth != NULL)
		*fourth += sum_of_fourth_powers(z, rows, embedding->p, embedding->stride);
}

/* Likewise over a task, whose rows pass through z, a tile. */
static WmlcStatus
add_task(WmlcMlpEmbedding *embedding, const WmlcMlpRows *task, double *z, bool white, double *fourth)
{
	const WmlcMlpEngine *engine = &embedding->meta->engine;
	WmlcMlpReader reader = wmlc_mlp_read_all(task);

	while (embed_tile(embedding, &reader, z))
	{
		if (wmlc_interrupted(engine->poll))
			return WMLC_INTERRUPTED;
		add_rows(embedding, z, engine->first.rows, white, fourth);
	}
	return WMLC_OK;
}

/* Where whitening keeps the rows of task j; NULL if it does not. */
static double *
kept_rows(const WmlcMlpEmbedding *embedding, size_t j, const WmlcMlpRows *task)
{
	int			most = embedding->meta->engine.tile_rows;

	if (j >= embedding->kept_tasks || task->count > most)
		return NULL;
	return embedding->kept + j * most * embedding->stride;
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
 * basis are zero.  The bound needs it triangular in the order of the units.
 */
static WmlcStatus
factor_moment(WmlcMlpEmbedding *embedding, double rows)
{
	int			p = embedding->p;
	int			stride = embedding->stride;
	WmlcStatus	status;

	memset(embedding->factor, 0, (size_t) p * stride * sizeof(double));
	memset(embedding->basis, 0, (size_t) p * stride * sizeof(double));
	for (int i = 0; i < p; i++)
		cblas_daxpy(i + 1, 1.0 / rows, embedding->moment + (size_t) i * stride, 1,
					embedding->factor + (size_t) i * stride, 1);
	status = wmlc_semidefinite_factor(p, embedding->factor, stride, wmlc_zero_pivot_double(p * rows),
									  embedding->meta->engine.poll);
	if (status == WMLC_OK)
		wmlc_semidefinite_inverse(p, embedding->factor, stride, embedding->basis);
	return status;
}

static WmlcStatus
find_whitening(WmlcMlpEmbedding *embedding, const WmlcMlpRows *tasks, size_t count)
{
	int64_t		rows = 0;

	clear_moment(embedding);
	for (size_t j = 0; j < count; j++)
	{
		double	   *kept = kept_rows(embedding, j, &tasks[j]);
		WmlcStatus	status = add_task(embedding, &tasks[j], kept == NULL ? embedding->z : kept, false,
									  NULL);

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
	status = add_task(embedding, target, embedding->z, options->whiten, options->shrink > 0.0 ? &fourth : NULL);
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
		const double *kept = kept_rows(embedding, j, &tasks[j]);

		clear_moment(embedding);
		if (kept == NULL)
			status = add_task(embedding, &tasks[j], embedding->z, whiten, NULL);
		else
			add_rows(embedding, kept, (int) tasks[j].count, true, NULL);
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
			cblas_daxpy((int) embedding->dims, alpha[j], point, 1, embedding->mixture, 1);
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
