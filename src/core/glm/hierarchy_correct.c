/*
 * hierarchy_correct.c
 *	  Posteriors beyond expectation propagation: see hierarchy_correct.h.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/glm/hierarchy_correct.h"

#define DIMS WMLC_MOST_CORRECTED_DIMS
#define ROWS WMLC_MOST_CORRECTED_ROWS	/* whole vectors */

/* At the most this share of a row's weight is taken back. */
#define LARGEST_SHARE 0.5

#define LANES 8
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef double Lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef uint64_t Bits __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Vectors are passed between inlined functions only: no calling convention matters. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* The rows of a task, standardised, and zeros up to whole vectors. */
typedef struct Pairs
{
	int			d;
	int			count;
	int			vectors;
	Lanes		along[DIMS][ROWS / LANES];	/* features over the predictor's standard deviation */
	double		covariance[ROWS][DIMS]; /* of coefficients with it */
	Lanes		skew[ROWS / LANES];
	Lanes		excess[ROWS / LANES];
	double		weight[ROWS];	/* times the predictor's variance */

	/* M = sum w_ij x_i x_j' and g = sum s_i x_i, over pairs; and the least weight that a row has left. */
	double		spread[DIMS * DIMS];
	double		pull[DIMS];
	double		shift[ROWS];
	double		evidence;
	double		share;
} Pairs;

static void
standardise(Pairs *pairs, const double *x, const WmlcWorkingRow *rows, const double *covariance)
{
	int			d = pairs->d;

	pairs->vectors = (pairs->count + LANES - 1) / LANES;
	for (int i = 0; i < pairs->vectors * LANES; i++)
	{
		bool		is_row = i < pairs->count;
		double		variance = 0.0,
					unit;

		for (int k = 0; k < d && is_row; k++)
		{
			double		sum = 0.0;

			for (int l = 0; l < d; l++)
				sum += covariance[k * d + l] * x[i * d + l];
			pairs->covariance[i][k] = sum;
			variance += sum * x[i * d + k];
		}
		unit = variance > 0.0 ? 1.0 / sqrt(variance) : 0.0;
		for (int k = 0; k < d; k++)
		{
			pairs->along[k][i / LANES][i % LANES] = is_row ? x[i * d + k] * unit : 0.0;
			if (is_row)
				pairs->covariance[i][k] *= unit;
		}
		pairs->skew[i / LANES][i % LANES] = is_row ? rows[i].skew : 0.0;
		pairs->excess[i / LANES][i % LANES] = is_row ? rows[i].excess : 0.0;
		if (is_row)
			pairs->weight[i] = rows[i].weight * variance;
	}
}

ALWAYS_INLINE double
total(Lanes x)
{
	return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
}

ALWAYS_INLINE Lanes
absolute(Lanes x)
{
	return (Lanes) ((Bits) x & UINT64_C(0x7fffffffffffffff));
}

/* Row i against all others.  No row may lose more of its weight than a share. */
ALWAYS_INLINE void
pair_row(Pairs *pairs, int i)
{
	int			d = pairs->d;
	double		a = pairs->skew[i / LANES][i % LANES],
				b = pairs->excess[i / LANES][i % LANES],
				taken;
	Lanes		shift = {0.0},
				evidence = {0.0},
				sizes = {0.0},
				others[DIMS] = {{0.0}};

	for (int v = 0; v < pairs->vectors; v++)
	{
		Lanes		r = {0.0},
					square,
					skews = a * pairs->skew[v],
					excesses,
					spread;

		for (int k = 0; k < d; k++)
			r += pairs->covariance[i][k] * pairs->along[k][v];
		if (v == i / LANES)
			r[i % LANES] = 0.0;
		square = r * r;
		excesses = b * pairs->excess[v] * r;
		spread = square * (skews * (1.0 / 2.0) + excesses * (1.0 / 6.0));
		shift += square * r * pairs->skew[v];
		evidence += square * r * (skews * (1.0 / 6.0) + excesses * (1.0 / 24.0));
		sizes += absolute(spread);
		for (int k = 0; k < d; k++)
			others[k] += spread * pairs->along[k][v];
	}
	pairs->shift[i] = total(shift) * b / 6.0;
	pairs->evidence += 0.5 * total(evidence);
	taken = total(sizes);
	if (taken * pairs->share > LARGEST_SHARE * pairs->weight[i])
		pairs->share = LARGEST_SHARE * pairs->weight[i] / taken;
	for (int k = 0; k < d; k++)
	{
		double		along = pairs->along[k][i / LANES][i % LANES];

		pairs->pull[k] += along * pairs->shift[i];
		for (int l = 0; l < d; l++)
			pairs->spread[k * d + l] += along * total(others[l]);
	}
}

ALWAYS_INLINE void
pair_rows(Pairs *pairs)
{
	memset(pairs->spread, 0, pairs->d * pairs->d * sizeof(double));
	memset(pairs->pull, 0, pairs->d * sizeof(double));
	pairs->evidence = 0.0;
	pairs->share = 1.0;
	for (int i = 0; i < pairs->count; i++)
		pair_row(pairs, i);
}

static void
pair_rows_plain(Pairs *pairs)
{
	pair_rows(pairs);
}

#ifdef __x86_64__
__attribute__((target("avx2")))
static void
pair_rows_avx2(Pairs *pairs)
{
	pair_rows(pairs);
}

__attribute__((target("avx512f")))
static void
pair_rows_avx512(Pairs *pairs)
{
	pair_rows(pairs);
}
#endif

static void
find_pairs(Pairs *pairs)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f"))
	{
		pair_rows_avx512(pairs);
		return;
	}
	if (__builtin_cpu_supports("avx2"))
	{
		pair_rows_avx2(pairs);
		return;
	}
#endif
	pair_rows_plain(pairs);
}

/* result = a b, d x d by rows */
static void
multiply(int d, const double *a, const double *b, double *result)
{
	for (int i = 0; i < d; i++)
		for (int j = 0; j < d; j++)
		{
			double		sum = 0.0;

			for (int k = 0; k < d; k++)
				sum += a[i * d + k] * b[k * d + j];
			result[i * d + j] = sum;
		}
}

static double
form(int d, const double *a, const double *x, const double *y)
{
	double		sum = 0.0;

	for (int i = 0; i < d; i++)
		for (int j = 0; j < d; j++)
			sum += x[i] * a[i * d + j] * y[j];
	return sum;
}

/* log det (I + a c) to second order */
static double
log_change(int d, const double *a, const double *c)
{
	double		product[DIMS * DIMS],
				trace = 0.0;

	multiply(d, a, c, product);
	for (int k = 0; k < d; k++)
	{
		trace += product[k * d + k];
		for (int l = 0; l < d; l++)
			trace -= 0.5 * product[k * d + l] * product[l * d + k];
	}
	return trace;
}

/* What y'y needs on top so that the corrected sums are still those of rows. */
static double
find_slack(const Pairs *pairs, const double *x, const WmlcWorkingRow *rows, const double *coef)
{
	double		slack = 1.0;

	for (int i = 0; i < pairs->count; i++)
	{
		double		miss = wmlc_predictor(pairs->d, x + i * pairs->d, coef) - rows[i].response;

		slack += 3.0 * rows[i].weight * miss * miss;
		if (pairs->weight[i] > 0.0)
			slack += 4.0 * pairs->shift[i] * pairs->shift[i] / pairs->weight[i];
	}
	return slack;
}

/*
 * To X'X goes A = -(M - M C M), which makes C + C M C of the covariance C but for terms of third order,
 * and to X'y what then moves the mean by C g.  y'y gets what keeps the sums those of
 * rows, which is a constant like any other and taken off the evidence.
 */
double
wmlc_correction_find(int d, int count, const double *x, const WmlcWorkingRow *rows,
					 const double *coef, const double *covariance, WmlcCorrection *correction,
					 double *squares)
{
	Pairs		pairs;
	double		product[DIMS * DIMS],
				g[DIMS],
				slack,
				moved = 0.0;

	pairs.d = d;
	pairs.count = count;
	standardise(&pairs, x, rows, covariance);
	find_pairs(&pairs);
	for (int k = 0; k < d * d; k++)
		pairs.spread[k] *= pairs.share;
	multiply(d, pairs.spread, covariance, product);
	multiply(d, product, pairs.spread, correction->precision);
	for (int k = 0; k < d * d; k++)
		correction->precision[k] -= pairs.spread[k];
	for (int k = 0; k < d; k++)
	{
		g[k] = pairs.share * (pairs.pull[k] - wmlc_predictor(d, product + k * d, pairs.pull));
		correction->pull[k] = g[k] + wmlc_predictor(d, correction->precision + k * d, coef);
		moved += g[k] * coef[k];
	}
	slack = find_slack(&pairs, x, rows, coef);
	*squares = form(d, correction->precision, coef, coef) + 2.0 * moved + slack;
	return pairs.share * pairs.evidence
		+ 0.5 * (log_change(d, correction->precision, covariance) + slack - form(d, covariance, g, g));
}

/* Solve (I - C A) X = C by elimination with pivoting, X and C being d x d, into C. */
static void
remove_precision(int d, const double *a, double *c)
{
	double		left[DIMS * DIMS];

	multiply(d, c, a, left);
	for (int i = 0; i < d; i++)
		for (int j = 0; j < d; j++)
			left[i * d + j] = (i == j) - left[i * d + j];
	for (int k = 0; k < d; k++)
	{
		int			best = k;

		for (int i = k + 1; i < d; i++)
			if (fabs(left[i * d + k]) > fabs(left[best * d + k]))
				best = i;
		for (int j = 0; j < d; j++)
		{
			double		t = left[k * d + j];

			left[k * d + j] = left[best * d + j];
			left[best * d + j] = t;
			t = c[k * d + j];
			c[k * d + j] = c[best * d + j];
			c[best * d + j] = t;
		}
		for (int i = 0; i < d; i++)
		{
			double		factor = i == k ? 0.0 : left[i * d + k] / left[k * d + k];

			for (int j = 0; j < d && factor != 0.0; j++)
			{
				left[i * d + j] -= factor * left[k * d + j];
				c[i * d + j] -= factor * c[k * d + j];
			}
		}
	}
	for (int k = 0; k < d; k++)
		for (int j = 0; j < d; j++)
			c[k * d + j] /= left[k * d + k];
}

void
wmlc_correction_undo(int d, const WmlcCorrection *correction, double *coef, double *covariance)
{
	double		rest[DIMS],
				move[DIMS];

	for (int k = 0; k < d; k++)
	{
		rest[k] = -correction->pull[k];
		for (int l = 0; l < d; l++)
			rest[k] += correction->precision[k * d + l] * coef[l];
	}
	remove_precision(d, correction->precision, covariance);
	for (int k = 0; k < d; k++)
	{
		move[k] = 0.0;
		for (int l = 0; l < d; l++)
			move[k] += covariance[k * d + l] * rest[l];
	}
	for (int k = 0; k < d; k++)
		coef[k] += move[k];
}
