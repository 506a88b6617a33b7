/*
 * prior_slope.c
 *	  Sums over all tasks for the first and second derivatives of the objective.
 *
 * In the notation of prior_internal.h and prior_newton.c, for each task
 *
 *	  Y = Z Phi,  u = Y' rho / s,  Q = Y'Y,	 N = F^-1 Z'Y,	W = u u' (+ N'N for REML)
 *
 * Second derivatives are sums over tasks of outer products of the packed Q and
 * W.  These are collected in batches and left to BLAS.
 */
#include <cblas.h>

#include "core/prior/prior_lanes.h"

typedef struct SlopeTask
{
	const WmlcPriorPoint *point;
	const double *phi;			/* by rows, a tile beyond */
	int			directions;
	WmlcSlopeKind kind;
	bool		reml;
	bool		keep_products;
} SlopeTask;

/* Where the running sums of each kind begin. */
typedef struct SumsLayout
{
	size_t		information;
	size_t		score;
	size_t		excess;
	size_t		curvature;
	size_t		coupling;
	size_t		products;
	size_t		count;
} SumsLayout;

/* Second derivatives of a full S are not among them. */
static SumsLayout
sums_layout(int r, const SlopeTask *what, WmlcPriorCovariance covariance)
{
	int			m = what->directions;
	size_t		packed = wmlc_triangle_size(m);
	SumsLayout	at = {.score = packed, .excess = 2 * packed, .curvature = 3 * packed};

	at.coupling = at.products = at.count = at.curvature;
	if (covariance == WMLC_PRIOR_FULL || what->kind == WMLC_SLOPE_FIRST)
		return at;
	at.coupling = at.products = at.count = at.curvature + packed;
	if (what->kind == WMLC_SLOPE_EXPECTED)
		return at;
	at.products = at.count = at.coupling + (size_t) r * m;
	if (what->keep_products)
		at.count = at.products + m * wmlc_triangle_size(r);
	return at;
}

/* N = F^-1 Z'Y, r x m by rows */
ALWAYS_INLINE void
find_influence(WmlcSweep *sweep, const WmlcPriorPoint *point, int m, WmlcLanes gain)
{
	int			r = sweep->reduced->rank;
	int			h = sweep->reduced->height;

	for (int a = 0; a < r; a++)
	{
		WmlcLanes  *row = sweep->influence + (size_t) a * m;
		double		inverse = 1.0 / point->precision_factor[a + (size_t) a * r];

		listen(sweep, a, r);
		for (int k = 0; k < m; k += TILE)
		{
			WmlcLanes	sum[TILE];

			dot_tile(h, sweep->white + a, r + 1, sweep->response + k, m, 1, sum);
			for (int t = 0; t < TILE && k + t < m; t++)
				row[k + t] = sum[t];
		}
		for (int c = 0; c < a; c++)
		{
			double		f = point->precision_factor[a + (size_t) c * r];
			const WmlcLanes *other = sweep->influence + (size_t) c * m;

			for (int k = 0; k < m; k++)
				row[k] -= f * other[k];
		}
		for (int k = 0; k < m; k++)
			row[k] *= inverse;
	}
	for (int k = 0; k < r * m; k++)
		sweep->influence[k] *= gain;
}

/* u, Q and W of a block, the last two packed */
ALWAYS_INLINE void
find_information(WmlcSweep *sweep, const SlopeTask *what, WmlcLanes gain)
{
	int			r = sweep->reduced->rank;
	int			h = sweep->reduced->height;
	int			m = what->directions;
	WmlcLanes	inverse_sd = gain / sqrt(what->point->noise);
	size_t		packed = wmlc_triangle_size(m);

	memset(sweep->task_information, 0, packed * sizeof(WmlcLanes));
	add_gram(sweep, h, m, sweep->response, m, (WmlcLanes) {0.0} + 1.0, sweep->task_information);
	for (int k = 0; k < m; k += TILE)
	{
		WmlcLanes	sum[TILE];

		dot_tile(h, sweep->white + r, r + 1, sweep->response + k, m, 1, sum);
		for (int t = 0; t < TILE && k + t < m; t++)
			sweep->score[k + t] = sum[t] * inverse_sd;
	}
	for (int k = 0; k < m; k++)
		for (int l = k; l < m; l++)
			sweep->task_excess[wmlc_triangle_index(m, k, l)] = sweep->score[k] * sweep->score[l];
}

/* Add a block to the sums for second derivatives of a diagonal S. */
ALWAYS_INLINE void
add_diagonal(WmlcSweep *sweep, const SlopeTask *what, SumsLayout at, WmlcLanes alpha)
{
	int			r = sweep->reduced->rank;
	int			m = what->directions;
	size_t		packed = wmlc_triangle_size(m);
	WmlcLanes  *curvature = sweep->sums + at.curvature;
	const WmlcLanes *left = sweep->task_information;
	const WmlcLanes *right = sweep->task_excess;
	const WmlcLanes *n = sweep->influence;

	for (size_t k = 0; k < packed; k++)
		curvature[k] += 2.0 * alpha * (left[k] * right[k]);
	if (what->kind == WMLC_SLOPE_EXPECTED)
		return;
	for (int a = 0; a < r; a++)
		for (int k = 0; k < m; k++)
			sweep->sums[at.coupling + (size_t) a * m + k] +=
				alpha * (n[(size_t) a * m + k] * sweep->score[k]);
	if (!what->keep_products)
		return;
	for (int k = 0; k < m; k++)
		for (int a = 0; a < r; a++)
			for (int b = a; b < r; b++)
				sweep->sums[at.products + k * wmlc_triangle_size(r) + wmlc_triangle_index(r, a, b)] +=
					alpha * (n[(size_t) a * m + k] * n[(size_t) b * m + k]);
}

/* Put a block's vectors into the batch, at the given column. */
ALWAYS_INLINE void
add_to_batch(WmlcSweep *sweep, const SlopeTask *what, WmlcLanes alpha, WmlcLanes gain,
			 size_t column)
{
	int			r = sweep->reduced->rank;
	int			m = what->directions;
	size_t		packed = wmlc_triangle_size(m);

	for (size_t k = 0; k < packed; k++)
	{
		WmlcLanes	q = sweep->task_information[k];
		size_t		at = k * WMLC_PRIOR_BATCH + column;

		*(WmlcLanes *) (sweep->batch_left + at) = alpha * q;
		*(WmlcLanes *) (sweep->batch_right + at) = sweep->task_excess[k];
		if (what->keep_products && what->kind == WMLC_SLOPE_OBSERVED)
			*(WmlcLanes *) (sweep->batch_half + at) = 0.5 * gain * gain * q;
	}
	if (what->kind == WMLC_SLOPE_EXPECTED)
		return;
	for (size_t k = 0; k < (size_t) r * m; k++)
		*(WmlcLanes *) (sweep->batch_influence + k * WMLC_PRIOR_BATCH + column) =
			sweep->influence[k];
	for (int k = 0; k < m; k++)
		*(WmlcLanes *) (sweep->batch_score + (size_t) k * WMLC_PRIOR_BATCH + column) =
			alpha * sweep->score[k];
}

/*
 * Add a block to the running sums.  On return task_information and task_excess
 * are the factors whose symmetric outer product is the curvature: Q and
 * W - Q / 2, or in expectation Q and Q / 2, from which under REML N'N is off.
 */
ALWAYS_INLINE void
add_sums(WmlcSweep *sweep, const SlopeTask *what, SumsLayout at, WmlcLanes alpha)
{
	int			r = sweep->reduced->rank;
	int			m = what->directions;
	size_t		packed = wmlc_triangle_size(m);
	WmlcLanes  *q = sweep->task_information;
	WmlcLanes  *w = sweep->task_excess;
	WmlcLanes	one = (WmlcLanes) {0.0} + 1.0;

	for (size_t k = 0; k < packed; k++)
	{
		sweep->sums[at.information + k] += alpha * q[k];
		sweep->sums[at.score + k] += alpha * w[k];
		if (what->kind == WMLC_SLOPE_EXPECTED)
			q[k] += w[k];
	}
	if (what->reml)
		add_gram(sweep, r, m, sweep->influence, m, one, w);
	for (size_t k = 0; k < packed; k++)
	{
		sweep->sums[at.excess + k] += alpha * w[k];
		if (what->kind == WMLC_SLOPE_EXPECTED)
		{
			q[k] -= w[k];
			w[k] = 0.5 * q[k];
		}
		else
			w[k] -= 0.5 * q[k];
	}
}

ALWAYS_INLINE void
slope_batch_body(WmlcSweep *sweep, const SlopeTask *what, size_t first, size_t end)
{
	int			r = sweep->reduced->rank;
	int			h = sweep->reduced->height;
	int			m = what->directions;
	SumsLayout	at = sums_layout(r, what, sweep->covariance);

	for (size_t b = first; b < end; b++)
	{
		const WmlcLanes *task = sweep->reduced->tasks + b * wmlc_reduced_stride(r);
		const WmlcLanes *numbers = wmlc_reduced_numbers(sweep->reduced, b);
		WmlcLanes	alpha = numbers[WMLC_TASK_ALPHA];
		WmlcLanes	gain = numbers[WMLC_TASK_GAIN];

		(void) whiten(sweep, task, what->point);
		multiply(sweep, h, h, m, 0, sweep->white, r + 1, what->phi, sweep->response);
		find_information(sweep, what, gain);
		if (what->reml || what->kind == WMLC_SLOPE_OBSERVED)
			find_influence(sweep, what->point, m, gain);
		add_sums(sweep, what, at, alpha);
		if (what->kind == WMLC_SLOPE_FIRST)
			continue;
		if (sweep->covariance == WMLC_PRIOR_FULL)
			add_to_batch(sweep, what, alpha, gain, (b - first) * LANES);
		else
			add_diagonal(sweep, what, at, alpha);
	}
}

LANES_FUNCTION(slope_batch, (WmlcSweep *sweep, const SlopeTask *what, size_t first, size_t end),
			   (sweep, what, first, end))

/* Columns of a product between two polls. */
#define POLL_COLUMNS 512

/*
 * target += sum over tasks of left right' + right left', the upper triangle, and
 * what of the lower one is in the same blocks.  An interrupt is answered by the
 * caller, who asks again.
 */
static void
add_products(int packed, size_t tasks, const double *left, const double *right, double *target,
			 WmlcPoll poll)
{
	for (int first = 0; first < packed && !wmlc_interrupted(poll); first += POLL_COLUMNS)
	{
		int			width = packed - first < POLL_COLUMNS ? packed - first : POLL_COLUMNS;
		double	   *block = target + (size_t) first * packed;

		cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, first, width, tasks, 1.0, left,
					WMLC_PRIOR_BATCH, right + (size_t) first * WMLC_PRIOR_BATCH, WMLC_PRIOR_BATCH,
					1.0, block, packed);
		cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, first, width, tasks, 1.0, right,
					WMLC_PRIOR_BATCH, left + (size_t) first * WMLC_PRIOR_BATCH, WMLC_PRIOR_BATCH,
					1.0, block, packed);
		cblas_dsyr2k(CblasColMajor, CblasUpper, CblasTrans, width, tasks, 1.0,
					 left + (size_t) first * WMLC_PRIOR_BATCH, WMLC_PRIOR_BATCH,
					 right + (size_t) first * WMLC_PRIOR_BATCH, WMLC_PRIOR_BATCH, 1.0,
					 block + first, packed);
	}
}

static void
add_outer_products(const WmlcSweep *sweep, const SlopeTask *what, size_t tasks,
				   WmlcPriorSlope *slope)
{
	WmlcPoll	poll = sweep->poll;
	int			r = sweep->reduced->rank;
	int			m = what->directions;
	int			packed = wmlc_triangle_size(m);

	add_products(packed, tasks, sweep->batch_left, sweep->batch_right, slope->curvature, poll);
	if (what->kind == WMLC_SLOPE_EXPECTED)
		return;
	cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r * m, m, tasks, 1.0,
				sweep->batch_influence, WMLC_PRIOR_BATCH, sweep->batch_score,
				WMLC_PRIOR_BATCH, 1.0, slope->coupling, r * m);
	if (what->keep_products)
		add_products(packed, tasks, sweep->batch_left, sweep->batch_half, slope->products, poll);
}

/* An interrupt is answered by the caller here, too. */
static void
clear_slope(const SlopeTask *what, int r, WmlcPriorSlope *slope, WmlcPoll poll)
{
	int			m = what->directions;
	size_t		packed = wmlc_triangle_size(m);

	memset(slope->coupling, 0, (size_t) r * m * m * sizeof(double));
	for (size_t k = 0; k < packed && !wmlc_interrupted(poll); k++)
	{
		memset(slope->curvature + k * packed, 0, packed * sizeof(double));
		if (what->keep_products)
			memset(slope->products + k * packed, 0, packed * sizeof(double));
	}
}

WmlcStatus
wmlc_sweep_slope(WmlcSweep *sweep, const WmlcPriorPoint *point, const double *phi,
				 int directions, WmlcPriorSlope *slope)
{
	const WmlcReduced *reduced = sweep->reduced;
	int			r = reduced->rank;
	size_t		packed = wmlc_triangle_size(directions);
	bool		full = sweep->covariance == WMLC_PRIOR_FULL;
	SlopeTask	what = {point, phi, directions, slope->kind, slope->reml, sweep->keep_products};
	SumsLayout	at = sums_layout(r, &what, sweep->covariance);

	wmlc_sweep_clear(sweep, at.count);
	if (full && slope->kind != WMLC_SLOPE_FIRST)
		clear_slope(&what, r, slope, sweep->poll);
	for (size_t first = 0; first < reduced->blocks; first += WMLC_PRIOR_BATCH_BLOCKS)
	{
		size_t		end = first + WMLC_PRIOR_BATCH_BLOCKS;

		if (end > reduced->blocks)
			end = reduced->blocks;
		if (wmlc_interrupted(sweep->poll))
			return WMLC_INTERRUPTED;
		slope_batch(sweep, &what, first, end);
		if (sweep->interrupted)
			return WMLC_INTERRUPTED;
		wmlc_sweep_fold(sweep, at.count);
		if (full && slope->kind != WMLC_SLOPE_FIRST)
			add_outer_products(sweep, &what, (end - first) * LANES, slope);
	}

	wmlc_sweep_read(sweep, at.information, packed, slope->information);
	wmlc_sweep_read(sweep, at.score, packed, slope->score);
	wmlc_sweep_read(sweep, at.excess, packed, slope->excess);
	if (!full)
	{
		wmlc_sweep_read(sweep, at.curvature, at.coupling - at.curvature, slope->curvature);
		wmlc_sweep_read(sweep, at.coupling, at.products - at.coupling, slope->coupling);
		wmlc_sweep_read(sweep, at.products, at.count - at.products, slope->products);
	}
	return WMLC_OK;
}
