/*
 * hierarchy_correct.c
 *	  Posteriors beyond expectation propagation: see hierarchy_correct.h.
 */
#include <math.h>
#include <string.h>

#include "core/glm/hierarchy_correct.h"
#include "core/glm/lanes.h"

#define DIMS WMLC_MOST_CORRECTED_DIMS
#define ROWS WMLC_MOST_CORRECTED_ROWS	/* whole vectors */

/* At the most this share of a row's weight is taken back. */
#define LARGEST_SHARE 0.5

/* The rows of a task, standardised, and zeros up to whole vectors. */
typedef struct Pairs
{
	int			d;
	int			count;
	int			vectors;
	double		along[DIMS][ROWS];	/* features over the predictor's standard deviation */
	double		covariance[DIMS][ROWS]; /* of coefficients with it */
	double		skew[ROWS];
	double		excess[ROWS];
	double		weight[ROWS];	/* times the predictor's variance */

	/* Over pairs: M = sum w_ij x_i x_j' and g = sum s_i x_i; and how much of them is taken. */
	double		spread[DIMS * DIMS];
	double		pull[DIMS];
	double		shift[ROWS];
	double		taken[ROWS];	/* of a row's weight */
	double		evidence;
	double		share;
} Pairs;

ALWAYS_INLINE double
total(Lanes x)
{
	return ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
}

/* The rows of vector v; where there are none, or a row that does not vary, zeros. */
ALWAYS_INLINE void
standardise(Pairs *pairs, int d, int v, const double *x, const WmlcWorkingRow *rows,
			const double *covariance)
{
	int			first = v * LANES;
	Lanes		variance = {0.0},
				unit;

	for (int l = 0; l < LANES; l++)
	{
		bool		is_row = first + l < pairs->count;
		int			i = is_row ? first + l : 0;

		for (int k = 0; k < d; k++)
			pairs->along[k][first + l] = is_row ? x[i * d + k] : 0.0;
		pairs->skew[first + l] = is_row ? rows[i].skew : 0.0;
		pairs->excess[first + l] = is_row ? rows[i].excess : 0.0;
		pairs->weight[first + l] = is_row ? rows[i].weight : 0.0;
	}
	for (int k = 0; k < d; k++)
	{
		Lanes		sum = {0.0};

		for (int l = 0; l < d; l++)
			sum += covariance[k * d + l] * load(&pairs->along[l][first]);
		store(&pairs->covariance[k][first], sum);
		variance += sum * load(&pairs->along[k][first]);
	}
	store(&pairs->weight[first], load(&pairs->weight[first]) * variance);
	unit = (Lanes) ((Bits) (1.0 / square_root(variance)) & (Bits) (variance > 0.0));
	for (int k = 0; k < d; k++)
	{
		store(&pairs->along[k][first], load(&pairs->along[k][first]) * unit);
		store(&pairs->covariance[k][first], load(&pairs->covariance[k][first]) * unit);
	}
}

/*
 * The rows of vector v, one in each lane, against all others; what the sums over pairs
 * have of them.
 */
ALWAYS_INLINE void
pair_vector(Pairs *pairs, int d, int v)
{
	int			first = v * LANES;
	Lanes		shift = {0.0},
				evidence = {0.0},
				taken = {0.0},
				skew = load(&pairs->skew[first]),
				excess = load(&pairs->excess[first]),
				others[DIMS];

	for (int k = 0; k < d; k++)
		others[k] = (Lanes) {0.0};
	for (int i = 0; i < pairs->count; i++)
	{
		Lanes		r = {0.0},
					square,
					cube,
					skews = pairs->skew[i] * skew,
					excesses = pairs->excess[i] * excess,
					spread;

		for (int k = 0; k < d; k++)
			r += pairs->covariance[k][i] * load(&pairs->along[k][first]);
		if (i / LANES == v)
			r[i % LANES] = 0.0;
		square = r * r;
		cube = square * r;
		spread = square * skews * (1.0 / 2.0) + cube * excesses * (1.0 / 6.0);
		shift += cube * pairs->skew[i];
		evidence += cube * (skews * (1.0 / 6.0) + r * excesses * (1.0 / 24.0));
		taken += absolute(spread);
		for (int k = 0; k < d; k++)
			others[k] += spread * pairs->along[k][i];
	}
	shift *= excess * (1.0 / 6.0);
	store(&pairs->shift[first], shift);
	store(&pairs->taken[first], taken);
	pairs->evidence += 0.5 * total(evidence);
	for (int k = 0; k < d; k++)
	{
		Lanes		along = load(&pairs->along[k][first]);

		pairs->pull[k] += total(along * shift);
		for (int l = 0; l < d; l++)
			pairs->spread[k * d + l] += total(along * others[l]);
	}
}

ALWAYS_INLINE void
pair_rows_of(Pairs *pairs, int d, const double *x, const WmlcWorkingRow *rows,
			 const double *covariance)
{
	for (int v = 0; v < pairs->vectors; v++)
		standardise(pairs, d, v, x, rows, covariance);
	for (int v = 0; v < pairs->vectors; v++)
		pair_vector(pairs, d, v);
}

/* Sums stay in registers where the compiler knows how many there are. */
ALWAYS_INLINE void
pair_rows_body(Pairs *pairs, const double *x, const WmlcWorkingRow *rows, const double *covariance)
{
	switch (pairs->d)
	{
		case 1:
			pair_rows_of(pairs, 1, x, rows, covariance);
			break;
		case 2:
			pair_rows_of(pairs, 2, x, rows, covariance);
			break;
		case 3:
			pair_rows_of(pairs, 3, x, rows, covariance);
			break;
		case 4:
			pair_rows_of(pairs, 4, x, rows, covariance);
			break;
		default:
			pair_rows_of(pairs, pairs->d, x, rows, covariance);
	}
}

LANES_FUNCTION(static, void, pair_rows,
			   (Pairs *pairs, const double *x, const WmlcWorkingRow *rows,
				const double *covariance), (pairs, x, rows, covariance))

/* No row may lose more of its weight than a share. */
static void
find_share(Pairs *pairs)
{
	pairs->share = 1.0;
	for (int i = 0; i < pairs->count; i++)
		if (pairs->taken[i] * pairs->share > LARGEST_SHARE * pairs->weight[i])
			pairs->share = LARGEST_SHARE * pairs->weight[i] / pairs->taken[i];
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
 * To X'X goes A = -(M - M C M), which makes C + C M C of the covariance C but for terms of
 * third order, and to X'y what then moves the mean by C g.  y'y gets what keeps the sums those of
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
	pairs.vectors = (count + LANES - 1) / LANES;
	pairs.evidence = 0.0;
	memset(pairs.spread, 0, d * d * sizeof(double));
	memset(pairs.pull, 0, d * sizeof(double));
	pair_rows(&pairs, x, rows, covariance);
	find_share(&pairs);
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
		+ 0.5 * (log_change(d, correction->precision, covariance) + slack
				 - form(d, covariance, g, g));
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
