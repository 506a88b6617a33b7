/*
 * posterior.c
 *	  What a learned prior says about one task: see posterior.h.
 *
 * As in the fit, the task's sums are first turned into the triangle R of a QR
 * factorisation, in double-double; what is left to do in double then is as
 * harmless as it would be with the rows themselves.
 */
#include <cblas.h>

#include "core/prior/posterior.h"
#include "core/prior/prior_internal.h"
#include "core/base/student.h"

typedef struct PosteriorMemory
{
	WmlcTriangle triangle;
	WmlcDdSpan	shift;			/* (-mu, 1) */
	double	   *residual;		/* R (w_ols - mu) */
	double	   *root;			/* workspace */
} PosteriorMemory;

static size_t
posterior_layout(int dims, WmlcPosterior *posterior, PosteriorMemory *memory, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;

	posterior->coef = wmlc_arena_doubles(&arena, d);
	posterior->triangle = wmlc_arena_doubles(&arena, d * d);
	posterior->spread = wmlc_arena_doubles(&arena, d * d);
	posterior->inner = wmlc_arena_doubles(&arena, d * d);
	posterior->scratch = wmlc_arena_doubles(&arena, d * (d + 3));
	wmlc_triangle_layout(&memory->triangle, dims + 1, &arena);
	memory->shift = wmlc_arena_span(&arena, d + 1);
	memory->residual = wmlc_arena_doubles(&arena, d);
	memory->root = wmlc_arena_doubles(&arena, wmlc_root_work(dims));
	return arena.used;
}

size_t
wmlc_posterior_workspace(int dims)
{
	WmlcPosterior posterior;
	PosteriorMemory memory;

	return posterior_layout(dims, &posterior, &memory, NULL);
}

/* R, and R (w_ols - mu) with all its digits */
static WmlcStatus
read_task(const WmlcPrior *prior, const double *moments, const double *moments_lo,
		  WmlcPosterior *posterior, PosteriorMemory *memory)
{
	WmlcTriangle *triangle = &memory->triangle;
	int			d = prior->dims;
	WmlcStatus	status = wmlc_triangle_load(triangle, d + 1, moments, moments_lo, NULL, NULL);

	triangle->tolerance = wmlc_triangle_tolerance(d + 1, 0.0, moments_lo != NULL);
	if (status == WMLC_OK)
		status = wmlc_triangle_factor(triangle);
	if (status != WMLC_OK)
		return status;
	for (int i = 0; i <= d; i++)
		wmlc_dd_set(memory->shift, i, wmlc_dd(i < d ? -prior->mean[i] : 1.0));
	for (int i = 0; i < d; i++)
	{
		WmlcDdSpan	row = wmlc_dd_from(wmlc_square_row(triangle->square, i), i);

		for (int j = i; j < d; j++)
			posterior->triangle[i + (size_t) j * d] = wmlc_dd_value(wmlc_dd_get(row, j - i));
		memory->residual[i] =
			wmlc_dd_value(triangle->loops->dot(d + 1 - i, row, wmlc_dd_from(memory->shift, i)));
	}
	return WMLC_OK;
}

/*
 * The noise's standard deviation; where it is zero the rows are believed
 * exactly, which is what a very small one does too.
 */
static double
noise_sd(const WmlcPrior *prior, const double *spread)
{
	int			d = prior->dims;
	double		scale;

	if (prior->noise > 0.0)
		return sqrt(prior->noise);
	scale = cblas_dnrm2(d * d, spread, 1);
	return scale > 0.0 ? scale * sqrt(DBL_EPSILON) : 1.0;
}

WmlcStatus
wmlc_posterior(const WmlcPrior *prior, const double *moments, const double *moments_lo,
			   WmlcPosterior *posterior, void *work)
{
	PosteriorMemory memory;
	int			d = prior->dims;
	size_t		square = (size_t) d * d;
	double		sd;

	(void) posterior_layout(d, posterior, &memory, work);
	posterior->prior = prior;
	memset(posterior->triangle, 0, square * sizeof(double));
	memset(memory.residual, 0, d * sizeof(double));
	if (moments != NULL)
	{
		WmlcStatus	status = read_task(prior, moments, moments_lo, posterior, &memory);

		if (status != WMLC_OK)
			return status;
	}

	memcpy(posterior->spread, prior->factor, square * sizeof(double));
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, d, d, 1.0,
				posterior->triangle, d, posterior->spread, d);
	sd = posterior->sd = noise_sd(prior, posterior->spread);
	cblas_dscal(square, 1.0 / sd, posterior->spread, 1);
	wmlc_root(d, posterior->spread, posterior->inner, memory.root);

	cblas_dgemv(CblasColMajor, CblasTrans, d, d, 1.0 / sd, posterior->spread, d, memory.residual, 1,
				0.0, posterior->coef, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, posterior->inner, d,
				posterior->coef, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, posterior->inner, d,
				posterior->coef, 1);
	cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, prior->factor, d,
				posterior->coef, 1);
	cblas_daxpy(d, 1.0, prior->mean, 1, posterior->coef, 1);
	for (int i = 0; i < d; i++)
		if (!isfinite(posterior->coef[i]))
			return WMLC_NOT_FINITE;
	return WMLC_OK;
}

/* V = F F' with F = L K^-T */
void
wmlc_posterior_covariance(const WmlcPosterior *posterior, double *covariance)
{
	int			d = posterior->prior->dims;
	double	   *factor = posterior->scratch;

	memcpy(factor, posterior->prior->factor, (size_t) d * d * sizeof(double));
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, d, d, 1.0,
				posterior->inner, d, factor, d);
	wmlc_outer(d, d, factor, covariance);
}

/* What a variance is made of: parts that scale with S and with s2. */
typedef struct VarianceParts
{
	double		from_spread;
	double		from_noise;
} VarianceParts;

/*
 * The variance of x.m.  As a function of S and s2 it is homogeneous, so it is
 * the sum of its derivatives times S and s2; the first is x'H S H'x.  What the
 * uncertainty of mu and S adds goes with S if there is any.
 */
static VarianceParts
estimate_variance(const WmlcPosterior *posterior, const double *x)
{
	const WmlcPrior *prior = posterior->prior;
	int			d = prior->dims;
	double	   *a = posterior->scratch;
	double	   *b = a + d;
	double	   *h = b + d;
	VarianceParts parts;
	double		whole,
				from_mean;

	cblas_dcopy(d, x, 1, a, 1);
	cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, prior->factor, d, a, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, posterior->inner, d,
				a, 1);
	whole = cblas_ddot(d, a, 1, a, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, posterior->inner, d, a, 1);
	parts.from_spread = cblas_ddot(d, a, 1, a, 1);
	parts.from_noise = fmax(whole - parts.from_spread, 0.0);

	/* h = H'x = x - R' (R L / s) M^-1 L'x / s */
	cblas_dcopy(d, x, 1, h, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, d, d, 1.0 / posterior->sd, posterior->spread, d, a, 1,
				0.0, b, 1);
	cblas_dgemv(CblasColMajor, CblasTrans, d, d, -1.0, posterior->triangle, d, b, 1, 1.0, h, 1);
	cblas_dsymv(CblasColMajor, CblasLower, d, 1.0, prior->mean_covariance, d, h, 1, 0.0, b, 1);
	from_mean = (1.0 + sqrt(prior->effective_tasks)) * fmax(cblas_ddot(d, b, 1, h, 1), 0.0);
	if (prior->rank > 0)
		parts.from_spread += from_mean;
	else
		parts.from_noise += from_mean;
	return parts;
}

/* Degrees of freedom of a sum of independent variances. */
static double
satterthwaite(const WmlcPrior *prior, VarianceParts parts)
{
	double		total = parts.from_spread + parts.from_noise;
	double		uncertainty = parts.from_spread * parts.from_spread
		/ fmax(prior->effective_tasks - 1.0, 1.0)
		+ parts.from_noise * parts.from_noise / fmax(prior->noise_degrees, 1.0);

	return uncertainty > 0.0 ? total * total / uncertainty : INFINITY;
}

void
wmlc_posterior_predict(const WmlcPosterior *posterior, const double *x, double level,
					   WmlcPrediction *prediction)
{
	const WmlcPrior *prior = posterior->prior;
	VarianceParts parts = estimate_variance(posterior, x);
	double		mean_bound,
				bound;

	prediction->estimate = cblas_ddot(prior->dims, x, 1, posterior->coef, 1);
	prediction->mean_variance = parts.from_spread + parts.from_noise;
	prediction->mean_degrees = satterthwaite(prior, parts);
	mean_bound = wmlc_student_bound(level, prediction->mean_degrees)
		* sqrt(prediction->mean_variance);

	parts.from_noise += prior->noise;
	prediction->variance = parts.from_spread + parts.from_noise;
	prediction->degrees = satterthwaite(prior, parts);
	bound = wmlc_student_bound(level, prediction->degrees) * sqrt(prediction->variance);

	/*
	 * With few tasks the mean has few degrees of freedom, and its bounds may
	 * come out wider.  But an interval holds the mean at least as often as the
	 * mean with symmetric noise on top (Anderson 1955).
	 */
	mean_bound = fmin(mean_bound, bound);
	prediction->mean_lower = prediction->estimate - mean_bound;
	prediction->mean_upper = prediction->estimate + mean_bound;
	prediction->lower = prediction->estimate - bound;
	prediction->upper = prediction->estimate + bound;
}
