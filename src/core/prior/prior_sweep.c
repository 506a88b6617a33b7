/*
 * prior_sweep.c
 *	  Sums over all tasks at a given T = Lambda Lambda': where a fit spends its
 *	  time.
 *
 * WMLC_PRIOR_LANES tasks go side by side through the same small dense algebra,
 * one per lane of a vector.  Loops are written once, in GCC's vector types, and
 * compiled for what the processor has; every lane does the same operations in
 * the same order whichever version runs.
 */
#include "core/prior/prior_lanes.h"

/* Beyond so many numbers REML does without the last term of its Hessian. */
#define MOST_PRODUCTS ((size_t) 1 << 20)

bool
wmlc_keeps_products(int dims, const WmlcPriorOptions *options)
{
	int			random = wmlc_count_random(dims, options);

	if (options->method != WMLC_PRIOR_REML)
		return false;
	if (options->covariance == WMLC_PRIOR_FULL)
		return random == dims;
	return random * wmlc_triangle_size(dims) <= MOST_PRODUCTS;
}

static size_t
square_size(int dims)
{
	return (size_t) (dims + TILE) * (dims + TILE);
}

void
wmlc_sweep_layout(WmlcSweep *sweep, int dims, const WmlcPriorOptions *options, WmlcArena *arena)
{
	size_t		d = dims;
	size_t		q = wmlc_count_random(dims, options);
	size_t		packed = wmlc_triangle_size((int) q);
	size_t		square = square_size(dims);
	size_t		value_sums = wmlc_triangle_size(dims) + d + 2;
	size_t		slope_sums = 4 * packed + d * q;
	size_t		batch = options->covariance == WMLC_PRIOR_FULL ? WMLC_PRIOR_BATCH : 0;
	size_t		sums;

	sweep->covariance = options->covariance;
	sweep->keep_products = wmlc_keeps_products(dims, options);
	if (sweep->keep_products && options->covariance == WMLC_PRIOR_DIAGONAL)
		slope_sums += q * wmlc_triangle_size(dims);
	sums = value_sums > slope_sums ? value_sums : slope_sums;
	sweep->spread = wmlc_arena_take(arena, square, sizeof(WmlcLanes));
	sweep->factor = wmlc_arena_take(arena, square, sizeof(WmlcLanes));
	sweep->white = wmlc_arena_take(arena, square, sizeof(WmlcLanes));
	sweep->response = wmlc_arena_take(arena, square, sizeof(WmlcLanes));
	sweep->influence = wmlc_arena_take(arena, square, sizeof(WmlcLanes));
	sweep->score = wmlc_arena_take(arena, d + TILE, sizeof(WmlcLanes));
	sweep->task_information = wmlc_arena_take(arena, packed, sizeof(WmlcLanes));
	sweep->task_excess = wmlc_arena_take(arena, packed, sizeof(WmlcLanes));
	sweep->sums = wmlc_arena_take(arena, sums, sizeof(WmlcLanes));
	sweep->totals = wmlc_arena_span(arena, sums);
	sweep->batch_left = wmlc_arena_doubles(arena, packed * batch);
	sweep->batch_right = wmlc_arena_doubles(arena, packed * batch);
	sweep->batch_half = wmlc_arena_doubles(arena, sweep->keep_products ? packed * batch : 0);
	sweep->batch_influence = wmlc_arena_doubles(arena, d * q * batch);
	sweep->batch_score = wmlc_arena_doubles(arena, q * batch);
}

/*
 * Loops read beyond the end of their operands.  What stands there does not matter, but
 * if it were subnormal, each product would take a hundred times as long.
 */
void
wmlc_sweep_prepare(WmlcSweep *sweep)
{
	int			dims = sweep->reduced->dims;
	size_t		bytes = square_size(dims) * sizeof(WmlcLanes);

	sweep->interrupted = false;
	memset(sweep->spread, 0, bytes);
	memset(sweep->factor, 0, bytes);
	memset(sweep->white, 0, bytes);
	memset(sweep->response, 0, bytes);
	memset(sweep->influence, 0, bytes);
	memset(sweep->score, 0, (dims + TILE) * sizeof(WmlcLanes));
}

void
wmlc_sweep_clear(WmlcSweep *sweep, size_t count)
{
	memset(sweep->sums, 0, count * sizeof(WmlcLanes));
	memset(sweep->totals.hi, 0, count * sizeof(double));
	memset(sweep->totals.lo, 0, count * sizeof(double));
}

void
wmlc_sweep_fold(WmlcSweep *sweep, size_t count)
{
	for (size_t k = 0; k < count; k++)
	{
		WmlcDd		total = wmlc_dd_get(sweep->totals, k);

		for (int l = 0; l < LANES; l++)
			total = wmlc_dd_add_d(total, sweep->sums[k][l]);
		wmlc_dd_set(sweep->totals, k, total);
		sweep->sums[k] = (WmlcLanes) {0.0};
	}
}

void
wmlc_sweep_read(const WmlcSweep *sweep, size_t first, size_t count, double *values)
{
	for (size_t k = 0; k < count; k++)
		values[k] = wmlc_dd_value(wmlc_dd_get(sweep->totals, first + k));
}

/* Add the blocks from first to before end; sums are P, Z'rho, log |V|, |rho|^2. */
ALWAYS_INLINE void
value_batch_body(WmlcSweep *sweep, const WmlcPriorPoint *point, size_t first, size_t end)
{
	const WmlcReduced *reduced = sweep->reduced;
	int			r = reduced->rank;
	int			h = reduced->height;
	WmlcLanes  *precision = sweep->sums;
	WmlcLanes  *pull = precision + wmlc_triangle_size(r);
	WmlcLanes  *scalars = pull + r;

	for (size_t b = first; b < end; b++)
	{
		const WmlcLanes *task = reduced->tasks + b * wmlc_reduced_stride(r);
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, b);
		WmlcLanes	alpha = numbers[WMLC_TASK_ALPHA];
		WmlcLanes	gain = numbers[WMLC_TASK_GAIN];
		WmlcLanes  *white = sweep->white;
		size_t		stride = r + 1;

		if (alpha[0] == 0.0 && alpha[1] == 0.0 && alpha[2] == 0.0 && alpha[3] == 0.0)
			continue;
		scalars[0] += alpha * whiten(sweep, task, point);
		alpha *= gain * gain;
		add_gram(sweep, h, r, white, stride, alpha, precision);
		for (int i = 0; i < h; i++)
		{
			WmlcLanes	rho = white[i * stride + r];

			scalars[1] += alpha * (rho * rho);
			rho *= alpha;
			for (int j = 0; j < r; j++)
				pull[j] += rho * white[i * stride + j];
		}
	}
}

LANES_FUNCTION(value_batch, (WmlcSweep *sweep, const WmlcPriorPoint *point, size_t first, size_t end),
			   (sweep, point, first, end))

WmlcStatus
wmlc_sweep_value(WmlcSweep *sweep, WmlcPriorPoint *point, double *pull,
				 double *log_det, double *squares)
{
	const WmlcReduced *reduced = sweep->reduced;
	int			r = reduced->rank;
	size_t		packed = wmlc_triangle_size(r);
	size_t		count = packed + r + 2;

	wmlc_sweep_clear(sweep, count);
	for (size_t first = 0; first < reduced->blocks; first += WMLC_PRIOR_BATCH_BLOCKS)
	{
		size_t		end = first + WMLC_PRIOR_BATCH_BLOCKS;

		if (wmlc_interrupted(sweep->poll))
			return WMLC_INTERRUPTED;
		value_batch(sweep, point, first, end < reduced->blocks ? end : reduced->blocks);
		if (sweep->interrupted)
			return WMLC_INTERRUPTED;
		wmlc_sweep_fold(sweep, count);
	}

	for (int i = 0; i < r; i++)
		for (int j = i; j < r; j++)
		{
			double		entry = wmlc_dd_value(wmlc_dd_get(sweep->totals, wmlc_triangle_index(r, i, j)));

			point->precision[i + (size_t) j * r] = entry;
			point->precision[j + (size_t) i * r] = entry;
		}
	wmlc_sweep_read(sweep, packed, r, pull);
	wmlc_sweep_read(sweep, packed + r, 1, log_det);
	wmlc_sweep_read(sweep, packed + r + 1, 1, squares);
	if (reduced->height < r)
		wmlc_add_fixed(reduced, point, pull, squares);
	return WMLC_OK;
}
