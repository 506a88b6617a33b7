/*
 * uncertainty.c
 *	  What the sources leave open about a prior: see uncertainty.h.
 *
 * All of this concerns the features that differ between tasks alone, so matrices are as small as
 * their number.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/base/arena.h"
#include "core/linalg/eigen.h"
#include "core/linalg/panels.h"
#include "core/prior/prior_internal.h"
#include "core/prior/uncertainty.h"

/* What is added to a covariance that may be singular, as a share of its diagonal. */
#define SINGULAR 1e-10

/* The information about coefficients is that at an S so many standard errors larger. */
#define STANDARD_ERRORS 2.0

/* Of a direction's S / T: see the exponent in uncertainty.h. */
#define HELD_TASKS 0.5
#define HELD_SHARE 0.5

/* Shares below this may be rounding. */
#define ROUNDED 1e-9

/* More descriptors than this are not looked into. */
#define MOST_DESCRIPTORS 32

typedef struct Uncertainty
{
	int			count;			/* p: features that differ */
	int		   *order;			/* these first */
	bool		diagonal;		/* S is */

	/* Numbers of uncertainty.h; those of one task have the shares q and k, and D. */
	double		tasks;			/* n */
	double		evenness;		/* e, with tasks that are missing, */
	double		missing;		/* so many of them */
	double		gain;			/* b */
	double		used;			/* q */
	double		distance;		/* D */

	double	   *mean;			/* the factor of C in the order of features, dims x dims by columns */
	double	   *chosen;			/* its corner for those that differ, K: it is their basis below */
	double	   *typical;		/* T, all of them count x count by columns */
	double	   *spread;			/* S, and what it is too small by */
	double	   *extra;			/* E */
	double	   *rows;			/* the task's, as a triangle; then Z, P = Z'Z */
	double	   *residual;		/* and their residuals */
	double	   *vectors;		/* eigenvectors of Z T Z' */
	double	   *shares;			/* and its values, k */
	double	   *images;			/* T Z' times vectors */
	double	   *work;			/* count x count more */
	double	   *wide;			/* dims x (dims + 1) */
	double	   *beside;			/* dims x 2 dims */
	double	   *tau;
	double	   *lapack;
} Uncertainty;

static size_t
uncertainty_layout(Uncertainty *u, int dims, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		square = (size_t) dims * dims;

	u->order = wmlc_arena_take(&arena, dims, sizeof(int));
	u->typical = wmlc_arena_doubles(&arena, square);
	u->spread = wmlc_arena_doubles(&arena, square);
	u->extra = wmlc_arena_doubles(&arena, square);
	u->rows = wmlc_arena_doubles(&arena, square);
	u->residual = wmlc_arena_doubles(&arena, dims);
	u->vectors = wmlc_arena_doubles(&arena, square);
	u->shares = wmlc_arena_doubles(&arena, dims);
	u->images = wmlc_arena_doubles(&arena, square);
	u->work = wmlc_arena_doubles(&arena, square);
	u->wide = wmlc_arena_doubles(&arena, square + dims);
	u->mean = wmlc_arena_doubles(&arena, square);
	u->beside = wmlc_arena_doubles(&arena, 2 * square);
	u->tau = wmlc_arena_doubles(&arena, dims + 1);
	u->lapack = wmlc_arena_doubles(&arena, wmlc_eigen_work(dims + 1));
	return arena.used;
}

size_t
wmlc_uncertainty_workspace(int dims)
{
	Uncertainty u;

	return uncertainty_layout(&u, dims, NULL);
}

double
wmlc_source_degrees(const WmlcPrior *prior)
{
	return fmax(prior->effective_tasks - prior->descriptors, 1.0);
}

/* ---- the prior ---- */

/* Is a factor diagonal?  Then a row of zeros may be a feature without spread. */
static bool
is_diagonal(int d, const double *factor)
{
	for (int j = 0; j < d; j++)
		for (int i = j + 1; i < d; i++)
			if (factor[i + (size_t) j * d] != 0.0)
				return false;
	return true;
}

static bool
has_spread(const WmlcPrior *prior, int feature)
{
	int			d = prior->dims;

	for (int j = 0; j <= feature; j++)
		if (prior->factor[feature + (size_t) j * d] != 0.0)
			return true;
	return false;
}

/*
 * Features without spread in a fit that found some are fixed, unless it is on the boundary of a
 * diagonal S, where one cannot know.
 */
static void
choose_features(Uncertainty *u, const WmlcPrior *prior)
{
	int			d = prior->dims;
	bool		diagonal = is_diagonal(d, prior->factor);
	bool		all = prior->rank == 0 || (prior->singular && diagonal);
	int			others = d;

	u->count = 0;
	u->diagonal = diagonal && prior->rank > 1;
	for (int i = d; i-- > 0;)
		if (!all && !has_spread(prior, i))
			u->order[--others] = i;
	for (int i = 0; i < d; i++)
		if (all || has_spread(prior, i))
			u->order[u->count++] = i;
}

/*
 * The factor of the covariance of this task's means, g standing for the descriptor: of sum g_k K_k,
 * K_k being the rows of descriptor k.  Features that differ come last, so that the corner of theirs is the
 * factor of what is left of their covariance once the others' are known.
 */
static void
find_mean_factor(Uncertainty *u, const WmlcPrior *prior, const double *descriptor)
{
	int			d = prior->dims;
	int			g = prior->descriptors > 1 ? prior->descriptors : 1;
	int			others = d - u->count;
	size_t		means = (size_t) d * g;

	for (int b = 0; b < g; b++)
	{
		double	   *target = b == 0 ? u->mean : u->beside + (size_t) d * d;

		for (int j = 0; j < d; j++)
			for (int i = 0; i < d; i++)
			{
				int			feature = u->order[i < others ? u->count + i : i - others];
				double		sum = 0.0;

				for (int k = b; k < g; k++)
					sum += (g == 1 ? 1.0 : descriptor[k])
						* prior->mean_factor[(size_t) k * d + feature + ((size_t) b * d + j) * means];
				target[i + (size_t) j * d] = sum;
			}
		if (b > 0)
			memcpy(u->beside, u->mean, (size_t) d * d * sizeof(double));
		else if (others == 0)
			continue;			/* it is a triangle already, or will be with the next one */
		(void) LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, d, b == 0 ? d : 2 * d, b == 0 ? u->mean : u->beside, d,
								   u->tau, u->lapack, (int) wmlc_eigen_work(d + 1));
		if (b > 0)
			memcpy(u->mean, u->beside, (size_t) d * d * sizeof(double));
		for (int j = 0; j < d; j++)
			memset(u->mean + (size_t) j * d, 0, j * sizeof(double));
	}
	u->chosen = u->mean + others + (size_t) others * d;
}

/* To the features' own order */
static void
write_mean_factor(const Uncertainty *u, int d, double *factor)
{
	int			others = d - u->count;

	for (int j = 0; j < d; j++)
		for (int i = 0; i < d; i++)
			factor[u->order[i < others ? u->count + i : i - others] + (size_t) j * d] = u->mean[i + (size_t) j * d];
}

/*
 * With descriptors g the covariance of Gamma g is g'B g T, where B, known up to a factor, is the inverse
 * of the sum of all g g'.  The first of g is 1, so the least of g'B g is 1 / J; this is how many
 * times as large it is.  Where tasks have different rows, B is not quite the same for all features.
 */
static double
find_leverage(const Uncertainty *u, const WmlcPrior *prior, int i)
{
	int			g = prior->descriptors;
	int			d = prior->dims;
	const double *row = u->mean + d - u->count + i;
	double		b[MOST_DESCRIPTORS * MOST_DESCRIPTORS];
	double		unit[MOST_DESCRIPTORS] = {1.0};

	if (g <= 1 || g > MOST_DESCRIPTORS)
		return 1.0;
	for (int k = 0; k < g; k++)
		for (int l = 0; l < g; l++)
			b[k + l * g] = wmlc_mean_covariance(prior, (size_t) k * d + u->order[i], (size_t) l * d + u->order[i]);
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', g, b, g) != 0)
		return 1.0;
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, g, b, g, unit, 1);
	return fmax(cblas_ddot(d, row, d, row, d) * cblas_ddot(g, unit, 1, unit, 1), 1.0);
}

/*
 * T and S of this task in the basis K, in which C is the identity; a feature that is a combination of
 * those before it has no length there
 */
static void
find_covariances(Uncertainty *u, const WmlcPosterior *posterior)
{
	const WmlcPrior *prior = posterior->prior;
	int			d = prior->dims;
	int			p = u->count;
	double	   *factor = u->wide;
	double	   *basis = u->beside;	/* which find_own_scales needs, too */
	double	   *scaled = u->images;

	for (int j = 0; j < p; j++)
	{
		memcpy(basis + (size_t) j * p, u->chosen + (size_t) j * d, p * sizeof(double));
		memcpy(scaled + (size_t) j * p, u->chosen + (size_t) j * d, p * sizeof(double));
		if (basis[j + (size_t) j * p] == 0.0)
			basis[j + (size_t) j * p] = 1.0;
	}
	for (int i = 0; i < p; i++)
		cblas_dscal(p, sqrt(prior->effective_tasks / (posterior->precision * find_leverage(u, prior, i))),
					scaled + i, p);
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, p, 1.0, basis, p,
				scaled, p);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, p, p, p, 1.0, scaled, p, scaled, p, 0.0,
				u->typical, p);
	for (int j = 0; j < d; j++)
		for (int i = 0; i < p; i++)
			factor[i + (size_t) j * p] = posterior->factor[u->order[i] + (size_t) j * d];
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, d, 1.0, basis, p,
				factor, p);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, p, p, d, 1.0, factor, p, factor, p, 0.0,
				u->spread, p);
}

/* What S is too small by, to E and T */
static void
restore_scale(Uncertainty *u, const WmlcPrior *prior)
{
	size_t		square = (size_t) u->count * u->count;
	double		uneven = fmin(prior->evenness / u->tasks * prior->unevenness, u->count);
	double		divided = prior->restricted ? 0.0 : fmax(prior->effective_tasks / u->tasks - 1.0, 0.0);

	for (size_t i = 0; i < square; i++)
	{
		u->extra[i] = uneven * u->spread[i] + divided * u->typical[i];
		u->typical[i] += u->extra[i];
	}
}

/* A diagonal noise as large as T for each feature */
static void
find_own_scales(Uncertainty *u, int stride, double *noise)
{
	int			p = u->count;
	const double *basis = u->beside;
	double	   *rows = u->beside + (size_t) p * p;

	for (int j = 0; j < p; j++)
		memcpy(rows + (size_t) j * p, u->chosen + (size_t) j * stride, p * sizeof(double));
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p, p, p, 1.0, rows, p, u->typical, p, 0.0,
				noise, p);
	for (int i = 0; i < p; i++)
	{
		double		square = cblas_ddot(p, noise + i, p, rows + i, p);

		for (int j = 0; j < p; j++)
			rows[i + (size_t) j * p] = 0.0;
		rows[i + (size_t) i * p] = sqrt(fmax(square, 0.0));
	}
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, p, 1.0, basis, p,
				rows, p);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, p, p, p, 1.0, rows, p, rows, p, 0.0, noise, p);
}

/*
 * The noise of a typical source, T - S, and tr noise^-1 T.  Robust fits may have an S that T does
 * not match; then the features' own scales are as good a guess.
 */
static double
find_noise(Uncertainty *u, int stride)
{
	int			p = u->count;
	double	   *noise = u->work;
	double	   *root = u->vectors;
	double	   *ratio = u->images;
	double		trace = 0.0;

	for (size_t i = 0; i < (size_t) p * p; i++)
		noise[i] = u->typical[i] - u->extra[i] - u->spread[i];
	for (int i = 0; i < p; i++)
		noise[i + (size_t) i * p] += SINGULAR * u->typical[i + (size_t) i * p];
	memcpy(root, noise, (size_t) p * p * sizeof(double));
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', p, root, p) != 0)
	{
		find_own_scales(u, stride, noise);
		return p;
	}
	memcpy(ratio, u->typical, (size_t) p * p * sizeof(double));
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, p, 1.0, root, p, ratio, p);
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, p, p, 1.0, root, p, ratio, p);
	for (int i = 0; i < p; i++)
		trace += ratio[i + (size_t) i * p];
	return trace;
}

/* As many tasks of even spread as are missing */
static void
add_missing(Uncertainty *u, int stride)
{
	int			p = u->count;
	double		share,
				scale;

	u->missing = u->diagonal ? 0.0 : fmax(p - u->tasks - u->evenness, 0.0);
	if (u->missing == 0.0)
		return;
	u->evenness += u->missing;
	share = u->missing / (u->tasks + u->evenness);
	scale = find_noise(u, stride) / p;
	if (!isfinite(scale))
		return;
	for (size_t i = 0; i < (size_t) p * p; i++)
	{
		double		change = share * (scale * u->work[i] - u->typical[i]);

		u->extra[i] += change;
		u->typical[i] += change;
	}
}

static void
describe_sources(Uncertainty *u, const WmlcPosterior *posterior)
{
	const WmlcPrior *prior = posterior->prior;

	u->tasks = wmlc_source_degrees(prior);
	u->evenness = prior->evenness;
	find_covariances(u, posterior);
	restore_scale(u, prior);
	add_missing(u, prior->dims);
	u->gain = (u->tasks - u->evenness) / (u->tasks + u->evenness);
}

/* ---- the task ---- */

/* The task's rows of the chosen features as a triangle, in units of its noise */
static WmlcStatus
read_rows(Uncertainty *u, const WmlcPosterior *posterior, const double *residual)
{
	int			d = posterior->prior->dims;
	int			p = u->count;
	double		scale = 1.0 / posterior->sd;

	for (int j = 0; j < p; j++)
		for (int i = 0; i < d; i++)
			u->wide[i + (size_t) j * d] = scale * posterior->triangle[i + (size_t) u->order[j] * d];
	cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, d, p, 1.0, u->chosen, d,
				u->wide, d);
	for (int i = 0; i < d; i++)
		u->wide[i + (size_t) p * d] = scale * residual[i];
	if (wmlc_panel_qr(d, p + 1, u->wide, u->tau, u->lapack, (int) wmlc_eigen_work(d + 1),
							   posterior->poll) != WMLC_OK)
		return WMLC_INTERRUPTED;
	for (int j = 0; j < p; j++)
		for (int i = 0; i < p; i++)
			u->rows[i + (size_t) j * p] = i <= j ? u->wide[i + (size_t) j * d] : 0.0;
	cblas_dcopy(p, u->wide + (size_t) p * d, 1, u->residual, 1);
	return WMLC_OK;
}

/* The root of I + R S R' for a share of T in place of S */
static bool
find_root(Uncertainty *u, double share, double *root)
{
	int			p = u->count;
	double	   *product = u->work;

	for (size_t i = 0; i < (size_t) p * p; i++)
		u->images[i] = (1.0 - share) * (u->spread[i] + u->extra[i]) + share * u->typical[i];
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, p, p, p, 1.0, u->images, p, u->rows, p, 0.0,
				product, p);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p, p, p, 1.0, u->rows, p, product, p, 0.0,
				root, p);
	for (int i = 0; i < p; i++)
		root[i + (size_t) i * p] += 1.0;
	return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', p, root, p) == 0;
}

/* Z, and the residuals likewise */
static bool
whiten_rows(Uncertainty *u)
{
	int			p = u->count;
	double		share = STANDARD_ERRORS * sqrt(2.0 / (u->tasks + u->evenness));
	double	   *root = u->vectors;

	if (!(find_root(u, fmin(share, 1.0), root) || find_root(u, 1.0, root)))
		return false;
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, p, 1.0, root, p,
				u->rows, p);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, p, root, p, u->residual, 1);
	return true;
}

/* D, q and k; numbers that overflow leave C as it is. */
static WmlcStatus
describe_task(Uncertainty *u, WmlcPoll poll)
{
	int			p = u->count;
	double	   *pull = u->tau;
	WmlcStatus	status;

	cblas_dgemv(CblasColMajor, CblasTrans, p, p, 1.0, u->rows, p, u->residual, 1, 0.0, pull, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, p, p, 1.0, u->typical, p, pull, 1, 0.0, u->residual, 1);
	u->distance = fmax(cblas_ddot(p, pull, 1, u->residual, 1), 0.0);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, p, p, p, 1.0, u->typical, p, u->rows, p, 0.0,
				u->work, p);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p, p, p, 1.0, u->rows, p, u->work, p, 0.0,
				u->vectors, p);
	for (size_t i = 0; i < (size_t) p * p; i++)
		if (!isfinite(u->vectors[i]))
			return WMLC_NOT_FINITE;
	status = wmlc_eigen(p, u->vectors, u->shares, u->lapack, poll);
	if (status != WMLC_OK)
		return status;
	u->used = 0.0;
	for (int i = 0; i < p; i++)
		u->used += u->shares[i] = fmax(u->shares[i], 0.0);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p, p, p, 1.0, u->work, p, u->vectors, p,
				0.0, u->images, p);
	return WMLC_OK;
}

/* ---- both ---- */

/* n less what directions with a share of q take */
static double
degrees_left(const Uncertainty *u, double degrees, double others)
{
	return fmax(degrees - (u->diagonal ? 0.0 : u->gain * others), 1.0);
}

/* E / T of a direction with share k */
static double
find_extra(const Uncertainty *u, double share)
{
	double		tasks = u->tasks + u->evenness;

	if (u->diagonal)
		return share > 0.0 ? (2.0 * u->distance / u->used + 3.0) * share / tasks : 0.0;
	return (tasks + u->distance + (u->gain + 2.0) * share) / degrees_left(u, tasks, u->used - share) - 1.0;
}

/* How many degrees of freedom the tails have: of all tasks in a direction of share k */
static double
find_tails(const Uncertainty *u, double share)
{
	double		degrees = u->tasks;

	if (u->evenness > 0.0)
		degrees = (u->tasks + u->evenness) / (1.0 + u->evenness / (u->tasks * u->count));
	return degrees_left(u, degrees, u->used - share) + share;
}

/* S / T in the directions of the eigenvectors, to `held`; Z is no longer needed then. */
static void
find_held(Uncertainty *u, double *held)
{
	int			p = u->count;
	double	   *weights = u->work;	/* Z'v, whose T has the length k */
	double	   *product = u->rows;

	cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p, p, p, 1.0, u->rows, p, u->vectors, p, 0.0,
				weights, p);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p, p, p, 1.0, u->spread, p, weights, p, 0.0,
				product, p);
	for (int i = 0; i < p; i++)
		held[i] = u->shares[i] > ROUNDED
			? wmlc_clamp(cblas_ddot(p, weights + (size_t) i * p, 1, product + (size_t) i * p, 1) / u->shares[i],
						 0.0, 1.0)
			: 1.0;
}

/*
 * E, and what is to be added to C: that of directions that the rows do not tell for all, and what
 * others have on top of it
 */
static void
find_all(Uncertainty *u, const WmlcPosterior *posterior)
{
	int			p = u->count;
	double		tasks = u->tasks + u->evenness;
	double		common = find_extra(u, 0.0);
	double		mean = (tasks / degrees_left(u, tasks, u->used - posterior->own_share) - 1.0)
		/ posterior->prior->effective_tasks;
	double		exponent = HELD_SHARE * (HELD_TASKS + u->missing) / tasks;
	double	   *held = u->tau;
	double	   *scaled = u->work;

	find_held(u, held);
	for (int k = 0; k < p; k++)
	{
		double		extra = find_extra(u, u->shares[k]) * pow(held[k], exponent);
		double		scale = u->shares[k] > ROUNDED ? (extra - common) / u->shares[k] : 0.0;

		for (int i = 0; i < p; i++)
			scaled[i + (size_t) k * p] = scale * u->images[i + (size_t) k * p];
	}
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, p, p, p, 1.0, scaled, p, u->images, p, 1.0,
				u->extra, p);
	cblas_daxpy(p * p, common + mean, u->typical, 1, u->extra, 1);
}

/* K times the root of I + E in the place of K: nothing of what is negative in E by rounding */
static WmlcStatus
add_extra(Uncertainty *u, int d, WmlcPoll poll)
{
	int			p = u->count;
	double	   *vectors = u->vectors;
	double	   *root = u->work;
	WmlcStatus	status;

	memcpy(vectors, u->extra, (size_t) p * p * sizeof(double));
	status = wmlc_eigen(p, vectors, u->shares, u->lapack, poll);
	if (status != WMLC_OK)
		return status;
	for (int k = 0; k < p; k++)
		cblas_dscal(p, sqrt(fmax(1.0 + u->shares[k], 0.0)), vectors + (size_t) k * p, 1);
	memcpy(root, vectors, (size_t) p * p * sizeof(double));
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, p, 1.0, u->chosen, d, root, p);
	for (int j = 0; j < p; j++)
		memcpy(u->chosen + (size_t) j * d, root + (size_t) j * p, p * sizeof(double));
	return WMLC_OK;
}

WmlcStatus
wmlc_add_uncertainty(WmlcPosterior *posterior, const double *residual, const double *descriptor, void *work)
{
	const WmlcPrior *prior = posterior->prior;
	int			d = prior->dims;
	Uncertainty u;
	WmlcStatus	status;

	(void) uncertainty_layout(&u, d, work);
	choose_features(&u, prior);
	find_mean_factor(&u, prior, descriptor);
	write_mean_factor(&u, d, posterior->mean_factor);
	if (u.count == 0 || !(prior->effective_tasks > 0.0))
		return WMLC_OK;
	describe_sources(&u, posterior);
	if (read_rows(&u, posterior, residual) != WMLC_OK)
		return WMLC_INTERRUPTED;
	if (!whiten_rows(&u))
		return WMLC_OK;
	status = describe_task(&u, posterior->poll);
	if (status == WMLC_OK)
	{
		find_all(&u, posterior);
		status = add_extra(&u, d, posterior->poll);
	}
	if (status != WMLC_OK)
		return status == WMLC_INTERRUPTED ? status : WMLC_OK;
	write_mean_factor(&u, d, posterior->mean_factor);
	posterior->tasks_left = find_tails(&u, posterior->own_share);
	return WMLC_OK;
}
