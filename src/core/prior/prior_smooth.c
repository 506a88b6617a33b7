/*
 * prior_smooth.c
 *	  One smooth function shared by all tasks: fixed features, hundreds of them
 *	  perhaps, whose coefficients are drawn towards zero.
 *
 * The coefficients gamma of the smooth features are normal about zero, the same
 * for all tasks, with variances s2 / (lambda m): m is the mean square that a
 * feature has beside what the features without penalty explain, so units do not
 * matter.  Given V of prior_internal.h, and with A = lambda diag(m) on gamma,
 *
 *	  -2 log-likelihood = sum alpha log |V| + log |P + A| - log |A|
 *						  + min over mu and gamma of (squares + gamma'A gamma) / s2 + ...
 *
 * is that of REML with gamma integrated out, too.  So the penalty joins P and the
 * squares, and all else stays: derivatives with respect to T have P + A for P.
 * In internal coordinates gamma_i sqrt(m_i) = b_i . mu + o_i.
 *
 * For given T the best lambda is found exactly.  With F F' = P + lambda_0 A and
 * E = F^-1 B B'F^-T, made tridiagonal once, log |P + lambda A| and the squares are
 * sums of a few operations for each coordinate at any lambda.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/base/golden.h"
#include "core/prior/prior_internal.h"

/* Lambda as a multiple of all rows: no penalty to speak of, and no smooth part. */
#define LEAST_PENALTY 1e-7
#define FIRST_PENALTY 1e-2
#define LARGEST_PENALTY 1e7

/* Steps of log lambda in the search, and where it ends. */
#define SEARCH_STEP 0.5
#define SEARCH_END 1e-7

/* A block of LAPACK's reductions. */
#define LAPACK_BLOCK 64

void
wmlc_smooth_layout(WmlcSmooth *smooth, int dims, const WmlcPriorOptions *options, WmlcArena *arena)
{
	size_t		d = options->smooth == NULL ? 0 : dims;
	size_t		count = 0;

	for (size_t k = 0; k < d; k++)
		count += options->smooth[k];
	smooth->count = 0;
	smooth->penalty = smooth->volume = 0.0;
	smooth->direction = wmlc_arena_doubles(arena, d * count);
	smooth->offset = wmlc_arena_doubles(arena, count);
	smooth->value = wmlc_arena_doubles(arena, count);
	smooth->matrix = wmlc_arena_doubles(arena, d * count);
	smooth->square = wmlc_arena_doubles(arena, d * d);
	smooth->diagonal = wmlc_arena_doubles(arena, 3 * d);
	smooth->pull = wmlc_arena_doubles(arena, d);
	smooth->lapack_size = LAPACK_BLOCK * (int) d;
	smooth->lapack = wmlc_arena_doubles(arena, smooth->lapack_size);
}

void
wmlc_smooth_start(WmlcSmooth *smooth, const WmlcReduced *reduced)
{
	int			r = reduced->rank;
	double		unit = reduced->response_unit > 0.0 ? reduced->response_unit : 1.0;

	smooth->count = 0;
	smooth->volume = 0.0;
	smooth->penalty = FIRST_PENALTY * reduced->rows;
	for (int i = 0; i < r; i++)
	{
		double		square = reduced->smooth[reduced->kept[i]];
		double		root = sqrt(square);
		double	   *direction = smooth->direction + (size_t) smooth->count * r;

		if (square == 0.0)
			continue;
		for (int j = 0; j < r; j++)
			direction[j] = root * reduced->basis[i + (size_t) j * r];

		/* coefficients of random features are no part of them, not even by rounding */
		memset(direction, 0, reduced->height * sizeof(double));
		smooth->offset[smooth->count++] = root * reduced->center[i] / unit;
		smooth->volume += log(square) - 2.0 * log(reduced->scale[reduced->kept[i]]);
	}
}

void
wmlc_smooth_values(WmlcSmooth *smooth, int r, const double *mean)
{
	cblas_dcopy(smooth->count, smooth->offset, 1, smooth->value, 1);
	cblas_dgemv(CblasColMajor, CblasTrans, r, smooth->count, 1.0, smooth->direction, r, mean, 1,
				1.0, smooth->value, 1);
}

void
wmlc_smooth_add(WmlcSmooth *smooth, const WmlcReduced *reduced, WmlcPriorPoint *point,
				double *pull, double *squares)
{
	int			r = reduced->rank;

	wmlc_smooth_values(smooth, r, point->mean);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, smooth->count, smooth->penalty,
				smooth->direction, r, 1.0, point->precision, r);
	for (int j = 0; j < r; j++)
		for (int i = j + 1; i < r; i++)
			point->precision[j + (size_t) i * r] = point->precision[i + (size_t) j * r];
	cblas_dgemv(CblasColMajor, CblasNoTrans, r, smooth->count, -smooth->penalty, smooth->direction,
				r, smooth->value, 1, 1.0, pull, 1);
	*squares += smooth->penalty * cblas_ddot(smooth->count, smooth->value, 1, smooth->value, 1);
}

/* matrix = F^-1 B */
static void
whiten_directions(WmlcSmooth *smooth, int r, const WmlcPriorPoint *point)
{
	memcpy(smooth->matrix, smooth->direction, (size_t) r * smooth->count * sizeof(double));
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, r, smooth->count,
				1.0, point->precision_factor, r, smooth->matrix, r);
}

/* E = Q times a tridiagonal matrix times Q'; the pull becomes Q'F^-1 B value. */
static void
make_tridiagonal(WmlcSmooth *smooth, int r, const WmlcPriorPoint *point)
{
	double	   *diagonal = smooth->diagonal;
	double	   *off = diagonal + r;
	double	   *tau = off + r;
	double	   *square = smooth->square;

	wmlc_smooth_values(smooth, r, point->mean);
	whiten_directions(smooth, r, point);
	cblas_dgemv(CblasColMajor, CblasNoTrans, r, smooth->count, 1.0, smooth->matrix, r,
				smooth->value, 1, 0.0, smooth->pull, 1);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, smooth->count, 1.0, smooth->matrix, r,
				0.0, square, r);
	(void) LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', r, square, r, diagonal, off, tau,
							   smooth->lapack, smooth->lapack_size);

	/* reflectors stand below the subdiagonal, each with a one that is not stored */
	for (int k = 0; k + 1 < r; k++)
	{
		double	   *below = square + (k + 2) + (size_t) k * r;
		double	   *rest = smooth->pull + k + 1;
		double		step = tau[k] * (rest[0] + cblas_ddot(r - k - 2, below, 1, rest + 1, 1));

		rest[0] -= step;
		cblas_daxpy(r - k - 2, -step, below, 1, rest + 1, 1);
	}
}

/* What the objective changes by from the penalty at hand to another. */
typedef struct Change
{
	const WmlcSmooth *smooth;
	const WmlcPriorPoint *point;
	int			r;
	double		degrees;
	bool		free_noise;
	double		squares;		/* value'value */
} Change;

static double
objective_change(const Change *change, double penalty)
{
	const WmlcSmooth *smooth = change->smooth;
	const double *diagonal = smooth->diagonal;
	const double *off = diagonal + change->r;
	double		step = penalty - smooth->penalty;
	double		log_det = 0.0;
	double		quadratic = 0.0;
	double		pivot = 1.0;
	double		z = 0.0;
	double		rss;

	for (int i = 0; i < change->r; i++)
	{
		double		link = i == 0 ? 0.0 : step * off[i - 1];

		z = smooth->pull[i] - link / pivot * z;
		pivot = 1.0 + step * diagonal[i] - link * link / pivot;
		if (!(pivot > 0.0))
			return INFINITY;
		log_det += log(pivot);
		quadratic += z * z / pivot;
	}
	log_det -= smooth->count * log(penalty / smooth->penalty);
	rss = (step * change->squares - step * step * quadratic) / change->point->noise;
	if (!change->free_noise)
		return log_det + rss;
	return rss > -change->degrees ? log_det + change->degrees * log1p(rss / change->degrees) : INFINITY;
}

static double
objective_at(void *arg, double log_penalty)
{
	return objective_change(arg, exp(log_penalty));
}

double
wmlc_smooth_choose(WmlcSmooth *smooth, const WmlcReduced *reduced, const WmlcPriorPoint *point,
				   double degrees)
{
	double		least = log(LEAST_PENALTY * reduced->rows);
	double		most = log(wmlc_smooth_most(reduced));
	double		best = log(smooth->penalty);
	double		best_change = 0.0;
	Change		change = {
		.smooth = smooth,
		.point = point,
		.r = reduced->rank,
		.degrees = degrees,
		.free_noise = wmlc_noise_is_free(reduced, point)
	};

	make_tridiagonal(smooth, reduced->rank, point);
	change.squares = cblas_ddot(smooth->count, smooth->value, 1, smooth->value, 1);
	for (double at = least; at <= most; at += SEARCH_STEP)
	{
		double		value = objective_change(&change, exp(at));

		if (value < best_change)
		{
			best_change = value;
			best = at;
		}
	}
	return exp(wmlc_golden_section(objective_at, &change, fmax(best - SEARCH_STEP, least),
								   fmin(best + SEARCH_STEP, most), SEARCH_END, NULL));
}

double
wmlc_smooth_most(const WmlcReduced *reduced)
{
	return LARGEST_PENALTY * reduced->rows;
}

double
wmlc_smooth_degrees(WmlcSmooth *smooth, const WmlcReduced *reduced, const WmlcPriorPoint *point)
{
	int			r = reduced->rank;

	if (smooth->count == 0)
		return 0.0;
	whiten_directions(smooth, r, point);
	return fmax(smooth->count - smooth->penalty
				* cblas_ddot(r * smooth->count, smooth->matrix, 1, smooth->matrix, 1), 0.0);
}

/* lambda = s2 count / variance, the variance being that of the smooth part in a typical row */
double
wmlc_smooth_sd(const WmlcSmooth *smooth, const WmlcReduced *reduced, const WmlcPriorPoint *point)
{
	if (smooth->count == 0 || smooth->penalty > 0.5 * wmlc_smooth_most(reduced))
		return 0.0;
	return sqrt(point->noise * smooth->count / smooth->penalty);
}
