/*
 * prior_lanes.h
 *	  Small dense algebra on WMLC_PRIOR_LANES tasks side by side, one task per
 *	  lane of a vector.
 *
 * Everything is inlined into the sweeps, which are compiled once for every
 * processor feature that pays.  Loops work on tiles of four columns, to load
 * the other operand once for four products; operands may be read up to a tile
 * beyond their end, results are not written there.
 *
 * Matrices of a task are too small for LAPACK: with 8 features it takes 1000 ns
 * for the factor, the triangular system and the product of one task, and these
 * loops take 250 ns (test/bench/bench_loops.c).
 */
#ifndef WMLC_PRIOR_LANES_H
#define WMLC_PRIOR_LANES_H

#include "core/base/machine.h"
#include "core/prior/prior_internal.h"

#define LANES WMLC_PRIOR_LANES
#define TILE WMLC_PRIOR_TILE

/* Pivots of V are at least one; this many are multiplied before a log is taken. */
#define PIVOTS_PER_LOG 6

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/*
 * The function `name`, which does what the inlined name_body does, compiled once
 * for every processor feature that pays.
 */
#define LANES_VERSION(name, version, attributes, parameters, arguments) \
	attributes static void name##version parameters { name##_body arguments; }

#ifdef WMLC_VECTORS
#define LANES_FUNCTION(name, parameters, arguments) \
	LANES_VERSION(name, _plain, , parameters, arguments) \
	LANES_VERSION(name, _avx2, __attribute__((target("avx2"))), parameters, arguments) \
	static void name parameters \
	{ \
		if (__builtin_cpu_supports("avx2")) \
			name##_avx2 arguments; \
		else \
			name##_plain arguments; \
	}
#else
#define LANES_FUNCTION(name, parameters, arguments) LANES_VERSION(name, , , parameters, arguments)
#endif

/* Vectors are passed between inlined functions only: no calling convention matters. */
#pragma GCC diagnostic ignored "-Wpsabi"

/*
 * A row of many columns takes long enough to ask now and then whether to stop.  The
 * answer is taken down, for the loops to end as usual.
 */
#define LONG_ROW 64
#define POLL_ROWS 8

ALWAYS_INLINE void
listen(WmlcSweep *sweep, int row, int columns)
{
	if (columns >= LONG_ROW && row % POLL_ROWS == 0 && wmlc_interrupted(sweep->poll))
		sweep->interrupted = true;
}

/* sum_t = sum over i < n of a_i b_(i, t), t < TILE */
ALWAYS_INLINE void
dot_tile(int n, const WmlcLanes *a, size_t a_step, const WmlcLanes *b, size_t b_step,
		 size_t tile_step, WmlcLanes sum[TILE])
{
	WmlcLanes	s0 = {0.0},
				s1 = {0.0},
				s2 = {0.0},
				s3 = {0.0};

	for (int i = 0; i < n; i++)
	{
		WmlcLanes	x = a[i * a_step];
		const WmlcLanes *y = b + i * b_step;

		s0 += x * y[0];
		s1 += x * y[tile_step];
		s2 += x * y[2 * tile_step];
		s3 += x * y[3 * tile_step];
	}
	sum[0] = s0;
	sum[1] = s1;
	sum[2] = s2;
	sum[3] = s3;
}

/*
 * result (n x m by rows) = a (n x k by rows) b.  If upper, a is the first k
 * columns of a packed triangle of that size, zero before the diagonal.
 */
ALWAYS_INLINE void
multiply(WmlcSweep *sweep, int n, int k, int m, int upper, const WmlcLanes *a, size_t a_stride,
		 const double *b, WmlcLanes *result)
{
	for (int i = 0; i < n; i++)
	{
		/* Rows of a packed triangle get shorter from one to the next. */
		const WmlcLanes *row = upper ? a + wmlc_triangle_index(upper, i, i) : a + i * a_stride;
		int			first = upper ? i : 0;

		listen(sweep, i, m);
		for (int c = 0; c < m; c += TILE)
		{
			int			width = m - c < TILE ? m - c : TILE;
			WmlcLanes	s0 = {0.0},
						s1 = {0.0},
						s2 = {0.0},
						s3 = {0.0};
			WmlcLanes  *out = result + (size_t) i * m + c;

			for (int l = first; l < k; l++)
			{
				const double *y = b + (size_t) l * m + c;
				WmlcLanes	x = row[l - first];

				s0 += x * y[0];
				s1 += x * y[1];
				s2 += x * y[2];
				s3 += x * y[3];
			}
			out[0] = s0;
			if (width > 1)
				out[1] = s1;
			if (width > 2)
				out[2] = s2;
			if (width > 3)
				out[3] = s3;
		}
	}
}

/* packed += weight a'a, a being n x m by rows */
ALWAYS_INLINE void
add_gram(WmlcSweep *sweep, int n, int m, const WmlcLanes *a, size_t stride, WmlcLanes weight,
		 WmlcLanes *packed)
{
	for (int i = 0; i < m; i++)
	{
		listen(sweep, i, m);
		for (int j = i; j < m; j += TILE)
		{
			WmlcLanes	sum[TILE];

			dot_tile(n, a + i, stride, a + j, stride, 1, sum);
			for (int t = 0; t < TILE && j + t < m; t++)
				packed[wmlc_triangle_index(m, i, j + t)] += weight * sum[t];
		}
	}
}

ALWAYS_INLINE WmlcLanes
lanes_sqrt(WmlcLanes x)
{
	for (int l = 0; l < LANES; l++)
		x[l] = sqrt(x[l]);
	return x;
}

ALWAYS_INLINE WmlcLanes
lanes_log(WmlcLanes x)
{
	for (int l = 0; l < LANES; l++)
		x[l] = log(x[l]);
	return x;
}

/* Row i of K from row i of V, and with it row i of Z and rho. */
ALWAYS_INLINE WmlcLanes
whiten_row(int r, int i, WmlcLanes *factor, WmlcLanes *white)
{
	size_t		stride = r + 1;
	WmlcLanes  *row = factor + (size_t) i * r;
	WmlcLanes	pivot = row[i];
	WmlcLanes	inverse;

	for (int k = 0; k < i; k++)
	{
		WmlcLanes	entry = row[k];
		const WmlcLanes *other = factor + (size_t) k * r;

		for (int l = 0; l < k; l++)
			entry -= row[l] * other[l];
		row[k] = entry * other[k];	/* the diagonal holds inverses */
		pivot -= row[k] * row[k];
	}
	inverse = 1.0 / lanes_sqrt(pivot);
	row[i] = inverse;
	for (int j = 0; j <= r; j += TILE)
	{
		WmlcLanes	sum[TILE];

		dot_tile(i, row, 1, white + j, stride, 1, sum);
		for (int t = 0; t < TILE && j + t <= r; t++)
			white[i * stride + j + t] = (white[i * stride + j + t] - sum[t]) * inverse;
	}
	return pivot;
}

/* K, Z and rho of a block of tasks; the answer is log |V|. */
ALWAYS_INLINE WmlcLanes
whiten(WmlcSweep *sweep, const WmlcLanes *task, const WmlcPriorPoint *point)
{
	int			r = sweep->reduced->rank;
	int			h = sweep->reduced->height;
	int			m = point->directions;
	const WmlcLanes *beta = task + wmlc_triangle_size(r);
	WmlcLanes	scale = beta[r + WMLC_TASK_SCALE];
	WmlcLanes	log_det = {0.0};
	WmlcLanes	product = {0.0};

	product += 1.0;
	multiply(sweep, h, h, m, r, task, 0, point->lambda, sweep->spread);
	for (int i = 0; i < h * m; i++)
		sweep->spread[i] *= scale;
	for (int i = 0; i < h; i++)
	{
		WmlcLanes  *row = sweep->factor + (size_t) i * r;
		WmlcLanes  *white = sweep->white + (size_t) i * (r + 1);
		const WmlcLanes *triangle = task + wmlc_triangle_index(r, i, i);
		WmlcLanes	residual = beta[i];

		listen(sweep, i, r);
		for (int k = 0; k <= i; k += TILE)
		{
			WmlcLanes	sum[TILE];

			dot_tile(m, sweep->spread + (size_t) i * m, 1, sweep->spread + (size_t) k * m, 1, m,
					 sum);
			for (int t = 0; t < TILE && k + t <= i; t++)
				row[k + t] = sum[t];
		}
		row[i] += 1.0;

		for (int j = 0; j < i; j++)
			white[j] = (WmlcLanes) {0.0};
		for (int j = i; j < r; j++)
		{
			white[j] = scale * triangle[j - i];
			residual -= triangle[j - i] * point->mean[j];
		}
		white[r] = scale * residual;

		product *= whiten_row(r, i, sweep->factor, sweep->white);
		if (i % PIVOTS_PER_LOG == PIVOTS_PER_LOG - 1 || i == h - 1)
		{
			log_det += lanes_log(product);
			product = (WmlcLanes) {0.0} + 1.0;
		}
	}
	return log_det;
}

#endif							/* WMLC_PRIOR_LANES_H */
