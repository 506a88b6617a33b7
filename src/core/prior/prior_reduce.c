/*
 * prior_reduce.c
 *	  From grams to compressed tasks in a basis in which doubles are enough.
 *
 * Three steps, all in double-double:
 *	1. pool the second moments, sum alpha G / sum alpha;
 *	2. scale every feature and the response by a power of two, so that nothing
 *	   overflows and units do not matter, and factor into R'R.  The basis R^-1 makes the features orthonormal over the pooled tasks and the response
 *	   the residual of the pooled regression: offsets of any size are gone;
 *	3. factor each task and change its triangle to that basis.  A triangular
 *	   basis keeps triangles triangular, so this is one more product.
 * Only then are numbers rounded to double.
 */
#include "core/dd/dd_vector.h"
#include "core/prior/prior_internal.h"

/* Least noise variance, as a share of the pooled regression's. */
#define NOISE_FLOOR 1e-10

/*
 * Hundreds of smooth features depend on each other as closely as they like.  Only
 * for the basis, each gets so much of its own variance on top.
 */
#define BASIS_RIDGE 1e-6

/* What others leave of a smooth feature counts as this share of it at least: below is rounding. */
#define LEAST_OWN 1e-16

/* Mean squares of responses this many times the usual one are those of mistyped rows. */
#define FAR_LARGER 1e4

/* Tasks between two polls. */
#define POLL_TASKS 1024

/* Used while reducing only. */
typedef struct Reducer
{
	WmlcDdSpan	pooled;			/* packed p x p */
	WmlcFactor	whole;			/* of the pooled tasks; the response is a passenger */
	WmlcTriangle part;			/* kept features and the response, of one task */
	WmlcSquare	basis;			/* column j of the augmented basis in row j */
	WmlcDdSpan	column;
	int		   *index;			/* kept features, and the response */
	double	   *unit;			/* of features, powers of two */
} Reducer;

void
wmlc_prior_reduce_layout(WmlcReduced *reduced, int dims, size_t count, WmlcArena *arena)
{
	size_t		blocks = (count + WMLC_PRIOR_LANES - 1) / WMLC_PRIOR_LANES;
	size_t		d = dims;

	reduced->dims = dims;
	reduced->blocks = blocks;
	reduced->tasks = wmlc_arena_take(arena, blocks * wmlc_reduced_stride(dims), sizeof(WmlcLanes));
	reduced->kept = wmlc_arena_take(arena, d, sizeof(int));
	reduced->scale = wmlc_arena_doubles(arena, d + 1);
	reduced->basis = wmlc_arena_doubles(arena, d * d);
	reduced->loadings = wmlc_arena_doubles(arena, d * d);
	reduced->center = wmlc_arena_doubles(arena, d);
	reduced->fixed_precision = wmlc_arena_doubles(arena, wmlc_triangle_size(dims));
	reduced->fixed_pull = wmlc_arena_doubles(arena, d);
	reduced->smooth = wmlc_arena_doubles(arena, d);
}

static void
reducer_layout(Reducer *reducer, int dims, WmlcArena *arena)
{
	size_t		p = dims + 1;

	reducer->pooled = wmlc_arena_span(arena, wmlc_triangle_size(p));
	wmlc_factor_layout(&reducer->whole, dims, true, arena);
	reducer->whole.square = (WmlcSquare) {(int) p, wmlc_arena_span(arena, p * p)};
	wmlc_triangle_layout(&reducer->part, p, arena);
	reducer->basis.stride = p;
	reducer->basis.span = wmlc_arena_span(arena, p * p);
	reducer->column = wmlc_arena_span(arena, p);
	reducer->index = wmlc_arena_take(arena, p, sizeof(int));
	reducer->unit = wmlc_arena_doubles(arena, p);
}

size_t
wmlc_prior_reduce_scratch(int dims)
{
	WmlcArena	arena = {NULL, 0};
	Reducer		reducer;

	reducer_layout(&reducer, dims, &arena);
	return arena.used;
}

/* Mean square of a task's responses. */
static double
response_square(const WmlcPriorTasks *tasks, size_t j)
{
	size_t		size = wmlc_triangle_size(tasks->dims + 1);

	return tasks->rows[j] > 0.0 ? tasks->moments[j * size + size - 1] / tasks->rows[j] : 0.0;
}

/* Their geometric mean, which a few tasks do not move much; 0 if there is none. */
static double
usual_square(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights)
{
	double		sum = 0.0;
	size_t		count = 0;

	for (size_t j = 0; j < tasks->count; j++)
	{
		double		square = response_square(tasks, j);

		if (weights->alpha[j] > 0.0 && square > 0.0 && !isinf(square))
		{
			sum += log(square);
			count++;
		}
	}
	return count > 0 ? exp(sum / (double) count) : 0.0;
}

/*
 * pooled = sum alpha G / sum alpha, from which the basis comes.  Any basis will do, but for rounding: of a
 * robust fit, a mistyped row that is a billion times too large would make the noise of all others nothing
 * beside its own, so such tasks count less here.
 */
static WmlcStatus
pool(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights, bool robust, WmlcDdSpan pooled, WmlcPoll poll)
{
	size_t		size = wmlc_triangle_size(tasks->dims + 1);
	double		most = robust ? FAR_LARGER * usual_square(tasks, weights) : 0.0;
	const WmlcDdVectorLoops *loops = wmlc_dd_vector_loops();

	memset(pooled.hi, 0, size * sizeof(double));
	memset(pooled.lo, 0, size * sizeof(double));
	for (size_t j = 0; j < tasks->count; j++)
	{
		const double *hi = tasks->moments + j * size;
		const double *lo = tasks->moments_lo == NULL ? NULL : tasks->moments_lo + j * size;
		double		share = weights->alpha[j] / weights->total;

		if (j % POLL_TASKS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (share == 0.0)
			continue;
		if (most > 0.0 && response_square(tasks, j) > most)
			share *= most / response_square(tasks, j);
		if (lo != NULL)
		{
			loops->add_multiple((int) size, wmlc_dd(share), (WmlcDdSpan) {(double *) hi, (double *) lo}, pooled);
			continue;
		}
		for (size_t k = 0; k < size; k++)
		{
			WmlcDd		entry = wmlc_dd(hi[k]);

			wmlc_dd_set(pooled, k, wmlc_dd_add(wmlc_dd_get(pooled, k),
											   wmlc_dd_mul_d(entry, share)));
		}
	}
	return WMLC_OK;
}

/* Rows that the pooled sums hold the rounding of. */
static double
pooled_rows(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights)
{
	double		rows = 0.0;

	for (size_t j = 0; j < tasks->count; j++)
		rows += weights->alpha[j] > 0.0 ? tasks->rows[j] : 0.0;
	return rows;
}

/*
 * How much of a row's square each smooth feature has that the other features do
 * not explain, to reduced->smooth, in units of reducer->unit.
 */
static WmlcStatus
find_smooth(const WmlcPriorTasks *tasks, double rows, const bool *smooth, Reducer *reducer,
			WmlcReduced *reduced, WmlcPoll poll)
{
	WmlcTriangle *part = &reducer->part;
	int			d = reduced->dims;
	int			others = 0;
	WmlcStatus	status;

	memset(reduced->smooth, 0, d * sizeof(double));
	if (smooth == NULL)
		return WMLC_OK;
	for (int pass = 0, n = 0; pass < 2; pass++)
		for (int k = 0; k < d; k++)
			if (smooth[k] == (pass == 1))
			{
				reducer->index[n++] = k;
				others += pass == 0;
			}
	for (int k = 0; k < d; k++)
		reducer->unit[k] = wmlc_equilibrating_scale(reducer->pooled.hi[wmlc_triangle_index(d + 1, k, k)]);
	part->size = part->square.stride = d;
	status = wmlc_triangle_read(part, &(WmlcTriangleSource) {
		.p = d + 1,
		.hi = reducer->pooled.hi,
		.lo = tasks->moments_lo == NULL ? NULL : reducer->pooled.lo,
		.rows = rows,
		.index = reducer->index,
		.scale = reducer->unit
	}, poll);
	for (int i = others; i < d && status == WMLC_OK; i++)
	{
		int			feature = reducer->index[i];
		double		whole = reducer->pooled.hi[wmlc_triangle_index(d + 1, feature, feature)]
			* reducer->unit[feature] * reducer->unit[feature];
		double		own = 0.0;

		for (int k = others; k <= i; k++)
		{
			double		entry = wmlc_triangle_get(part, k, i).hi;

			own += entry * entry;
		}
		reduced->smooth[feature] = fmax(own, LEAST_OWN * whole) * reduced->weight / reduced->rows;
	}
	return status;
}

static void
add_basis_ridge(Reducer *reducer, WmlcReduced *reduced)
{
	for (int k = 0; k < reduced->dims; k++)
	{
		size_t		at = wmlc_triangle_index(reduced->dims + 1, k, k);
		double		ridge = BASIS_RIDGE * reduced->smooth[k] * reduced->rows / reduced->weight;

		if (reduced->smooth[k] > 0.0)
			wmlc_dd_set(reducer->pooled, at,
						wmlc_dd_add_d(wmlc_dd_get(reducer->pooled, at),
									  ridge / reducer->unit[k] / reducer->unit[k]));
	}
}

/*
 * Factor the pooled moment: the independent features carry the basis, and the
 * others hang on them by the rows of the factor.
 */
static WmlcStatus
factor_pooled(Reducer *reducer, WmlcReduced *reduced, double tolerance, WmlcPoll poll)
{
	WmlcFactor *whole = &reducer->whole;
	int			d = reduced->dims;
	WmlcStatus	status;

	wmlc_factor_load(whole, d + 1, reducer->pooled.hi, reducer->pooled.lo, 0.0);
	status = wmlc_factor(whole, tolerance, poll);
	if (status != WMLC_OK)
		return status;
	reduced->rank = whole->rank;
	for (int i = 0; i <= d; i++)
		reduced->scale[whole->column[i]] = whole->scale[i];
	for (int k = 0; k < d; k++)
		if (reduced->smooth[k] > 0.0)
			reduced->smooth[k] *= reduced->scale[k] / reducer->unit[k] * reduced->scale[k] / reducer->unit[k];
	return whole->diagonal[d] < 0.0 ||
		whole->remainder.hi[d] < -WMLC_CLEARLY_NEGATIVE * whole->diagonal[d]
		? WMLC_NOT_POSITIVE : WMLC_OK;
}

static void
choose_features(Reducer *reducer, WmlcReduced *reduced)
{
	const WmlcFactor *whole = &reducer->whole;
	int			d = reduced->dims;
	int			r = reduced->rank;

	for (int i = 0; i < r; i++)
		reducer->index[i] = reduced->kept[i] = whole->column[i];
	reducer->index[r] = d;

	reduced->log_volume = 0.0;
	for (int i = 0; i < d; i++)
	{
		double	   *loading = reduced->loadings + (size_t) whole->column[i] * r;

		for (int k = 0; k < r; k++)
			loading[k] = k <= i ? wmlc_dd_value(wmlc_factor_entry(whole, i, k)) : 0.0;
		if (i < r)
			reduced->log_volume += 2.0 * log(loading[i] / whole->scale[i]);
	}
}

/*
 * Invert the pooled triangle.  The response's column is -center and one, all
 * over the standard deviation of the pooled residual.
 */
static void
make_basis(Reducer *reducer, WmlcReduced *reduced, double response_pivot)
{
	WmlcTriangle *part = &reducer->part;
	int			r = reduced->rank;

	part->size = part->square.stride = reducer->basis.stride = r + 1;
	for (int i = 0; i <= r; i++)
		for (int k = 0; k <= i; k++)
			wmlc_dd_set(wmlc_square_row(part->square, i), k,
						i < r || k < r
						? wmlc_factor_entry(&reducer->whole, i < r ? i : reduced->dims, k)
						: wmlc_dd(1.0));

	for (int i = 0; i <= r; i++)
	{
		for (int j = 0; j <= r; j++)
			wmlc_dd_set(reducer->column, j, wmlc_dd(i == j ? 1.0 : 0.0));
		wmlc_cholesky_forward(part->loops, part->square, i, r + 1, reducer->column);
		for (int j = 0; j <= r; j++)
			wmlc_dd_set(wmlc_square_row(reducer->basis, j), i, wmlc_dd_get(reducer->column, j));
	}

	for (int j = 0; j < r; j++)
	{
		for (int i = 0; i < r; i++)
			reduced->basis[i + (size_t) j * r] =
				wmlc_dd_value(wmlc_dd_get(wmlc_square_row(reducer->basis, j), i));
		reduced->center[j] =
			-wmlc_dd_value(wmlc_dd_get(wmlc_square_row(reducer->basis, r), j));
	}
	reduced->response_unit = response_pivot > 0.0
		? response_pivot * sqrt(reduced->weight / reduced->rows) : 0.0;
}

/* The block of a task's lane. */
static WmlcLanes *
block_of(const WmlcReduced *reduced, size_t slot)
{
	return reduced->tasks + slot / WMLC_PRIOR_LANES * wmlc_reduced_stride(reduced->rank);
}

static double
response_unit(const WmlcReduced *reduced)
{
	return reduced->response_unit > 0.0 ? reduced->response_unit : 1.0;
}

/* The triangle of one task in the new basis, into its lane. */
static void
store_triangle(const Reducer *reducer, WmlcReduced *reduced, size_t slot)
{
	const WmlcTriangle *part = &reducer->part;
	int			r = reduced->rank;
	int			lane = slot % WMLC_PRIOR_LANES;
	WmlcLanes  *block = block_of(reduced, slot);

	for (int i = 0; i < r; i++)
	{
		WmlcDdSpan	row = wmlc_dd_from(wmlc_square_row(part->square, i), i);

		for (int j = i; j <= r; j++)
		{
			WmlcDdSpan	column = wmlc_dd_from(wmlc_square_row(reducer->basis, j), i);
			double		entry = wmlc_dd_value(part->loops->dot(j - i + 1, row, column));

			if (j < r)
				block[wmlc_triangle_index(r, i, j)][lane] = entry;
			else
				block[wmlc_triangle_size(r) + i][lane] = entry / response_unit(reduced);
		}
	}
}

/* What stands behind a task's triangle. */
static void
store_numbers(WmlcReduced *reduced, size_t slot, double alpha, double residual, double rows)
{
	int			lane = slot % WMLC_PRIOR_LANES;
	WmlcLanes  *numbers = block_of(reduced, slot) + wmlc_triangle_size(reduced->rank) + reduced->rank;

	numbers[WMLC_TASK_ALPHA][lane] = alpha;
	numbers[WMLC_TASK_SCALE][lane] = 1.0;
	numbers[WMLC_TASK_GAIN][lane] = 1.0;
	numbers[WMLC_TASK_WITHIN][lane] = residual * residual;
	numbers[WMLC_TASK_ROWS][lane] = rows;
}

/* Tasks for the lanes of one block. */
typedef struct Group
{
	int			count;
	size_t		task[WMLC_PRIOR_LANES];
} Group;

/* All lanes at once, where that will do; lanes left over do what the first one does. */
static void
read_group(const WmlcPriorTasks *tasks, const Reducer *reducer, WmlcReduced *reduced,
		   const Group *group, size_t slot, WmlcTriangleGroup *found)
{
	size_t		size = wmlc_triangle_size(tasks->dims + 1);

	*found = (WmlcTriangleGroup) {
		.p = tasks->dims + 1,
		.size = reduced->rank + 1,
		.index = reducer->index,
		.scale = reduced->scale,
		.basis = reducer->basis,
		.unit = response_unit(reduced),
		.hard = ~0U
	};
	if (found->size > WMLC_MOST_GROUP_SIZE)
		return;
	for (int l = 0; l < WMLC_PRIOR_LANES; l++)
	{
		size_t		at = group->task[l < group->count ? l : 0] * size;

		found->hi[l] = tasks->moments + at;
		found->lo[l] = tasks->moments_lo == NULL ? NULL : tasks->moments_lo + at;
	}
	wmlc_triangle_group(found, block_of(reduced, slot));
}

static WmlcStatus
reduce_group(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights, Reducer *reducer,
			 WmlcReduced *reduced, const Group *group, size_t slot, WmlcDd *within, WmlcPoll poll)
{
	size_t		size = wmlc_triangle_size(tasks->dims + 1);
	WmlcTriangleGroup found;

	read_group(tasks, reducer, reduced, group, slot, &found);
	for (int l = 0; l < group->count; l++, slot++)
	{
		size_t		j = group->task[l];
		double		residual = found.residual[l];

		if (found.hard & (1U << l))
		{
			WmlcStatus	status = wmlc_triangle_read(&reducer->part, &(WmlcTriangleSource) {
				.p = tasks->dims + 1,
				.hi = tasks->moments + j * size,
				.lo = tasks->moments_lo == NULL ? NULL : tasks->moments_lo + j * size,
				.rows = tasks->rows[j],
				.index = reducer->index,
				.scale = reduced->scale
			}, poll);

			if (status != WMLC_OK)
				return status;
			store_triangle(reducer, reduced, slot);
			residual = wmlc_triangle_get(&reducer->part, reduced->rank, reduced->rank).hi
				/ response_unit(reduced);
		}
		*within = wmlc_dd_add(*within, wmlc_dd_mul_d(wmlc_two_prod(residual, residual),
													 weights->alpha[j]));
		store_numbers(reduced, slot, weights->alpha[j], residual, tasks->rows[j]);
	}
	return WMLC_OK;
}

static WmlcStatus
reduce_tasks(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights, Reducer *reducer,
			 WmlcReduced *reduced, WmlcPoll poll)
{
	int			r = reduced->rank;
	size_t		slot = 0;
	Group		group = {.count = 0};
	WmlcDd		within = wmlc_dd(0.0);

	for (size_t j = 0; j < tasks->count; j++)
	{
		WmlcStatus	status;

		if (j % POLL_TASKS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (weights->alpha[j] != 0.0)
			group.task[group.count++] = j;
		if (group.count < WMLC_PRIOR_LANES && (group.count == 0 || j + 1 < tasks->count))
			continue;
		status = reduce_group(tasks, weights, reducer, reduced, &group, slot, &within, poll);
		if (status != WMLC_OK)
			return status;
		slot += group.count;
		group.count = 0;
	}
	reduced->within = wmlc_dd_value(within);
	reduced->height = r;

	/* Lanes left over in the last block weigh nothing. */
	reduced->blocks = (slot + WMLC_PRIOR_LANES - 1) / WMLC_PRIOR_LANES;
	for (; slot < reduced->blocks * WMLC_PRIOR_LANES; slot++)
		for (size_t k = 0; k < wmlc_reduced_stride(r); k++)
			block_of(reduced, slot)[k][slot % WMLC_PRIOR_LANES] = 0.0;
	return WMLC_OK;
}

WmlcStatus
wmlc_prior_reduce(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights,
				  const bool *smooth, bool robust, WmlcReduced *reduced, WmlcArena scratch, WmlcPoll poll)
{
	Reducer		reducer;
	int			d = tasks->dims;
	double		tolerance = tasks->moments_lo != NULL
		? wmlc_zero_pivot(d, pooled_rows(tasks, weights)) : wmlc_zero_pivot_double(d);
	double		residual;
	WmlcStatus	status;

	reducer_layout(&reducer, d, &scratch);
	reduced->weight = weights->total;
	reduced->rows = weights->rows;
	reduced->floor = NOISE_FLOOR;
	reduced->fixed_noise = 0.0;

	status = pool(tasks, weights, robust, reducer.pooled, poll);
	if (status == WMLC_OK)
		status = find_smooth(tasks, pooled_rows(tasks, weights), smooth, &reducer, reduced, poll);
	if (status != WMLC_OK)
		return status;
	add_basis_ridge(&reducer, reduced);
	status = factor_pooled(&reducer, reduced, tolerance, poll);
	if (status != WMLC_OK)
		return status;
	choose_features(&reducer, reduced);

	/* A response that the pooled regression explains to rounding has no noise. */
	residual = reducer.whole.remainder.hi[d];
	residual = residual > reducer.whole.tolerance * reducer.whole.diagonal[d] ? sqrt(residual) : 0.0;
	make_basis(&reducer, reduced, residual);
	return reduce_tasks(tasks, weights, &reducer, reduced, poll);
}
