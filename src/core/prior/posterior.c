/*
 * posterior.c
 *	  What a learned prior says about one task: see posterior.h.
 *
 * As in the fit, the task's sums are first turned into the triangle R of a QR
 * factorisation, in double-double; what is left to do in double then is as
 * harmless as it would be with the rows themselves.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/linalg/panels.h"
#include "core/prior/posterior.h"
#include "core/prior/prior_internal.h"
#include "core/prior/uncertainty.h"

/* Noise and scale of a task: rounds at the most, and the relative change to stop at. */
#define MOST_ROUNDS 200
#define SETTLED 1e-10

/* A task whose noise comes out so many times as large as it began may be far away instead. */
#define NOISY 2.0
#define HELD_ROUNDS 20

/* A noise that fewer than one in so many tasks have is no matter of scale. */
#define RARE 1e5

/* What is left of a direction's variance, squared, may be rounding below this: the rows tell all. */
#define ROUNDED 1e-12

/* With more features than this, predictions are not prepared for. */
#define MOST_FORMS 64

typedef struct PosteriorMemory
{
	WmlcTriangle triangle;
	WmlcDdSpan	shift;			/* (-mu, 1) */
	double	   *mean;			/* of the prior, where descriptors move it */
	double	   *residual;		/* R (w_ols - mu) */
	double	   *left;			/* of it by the posterior mean */
	double		within;			/* residual squares of the task's own regression */
	double	   *root;			/* workspace */
	void	   *uncertainty;	/* workspace */
} PosteriorMemory;

static size_t
posterior_layout(int dims, WmlcPosterior *posterior, PosteriorMemory *memory, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;

	posterior->coef = wmlc_arena_doubles(&arena, d);
	posterior->factor = wmlc_arena_doubles(&arena, d * d);
	posterior->triangle = wmlc_arena_doubles(&arena, d * d);
	posterior->spread = wmlc_arena_doubles(&arena, d * d);
	posterior->inner = wmlc_arena_doubles(&arena, d * d);
	posterior->scratch = wmlc_arena_doubles(&arena, d * (d + 3));
	wmlc_triangle_layout(&memory->triangle, dims + 1, &arena);
	memory->shift = wmlc_arena_span(&arena, d + 1);
	posterior->wide = wmlc_arena_doubles(&arena, d);
	posterior->forms = wmlc_arena_doubles(&arena, dims <= MOST_FORMS ? 3 * d * d : 0);
	memory->mean = wmlc_arena_doubles(&arena, d);
	posterior->mean_factor = wmlc_arena_doubles(&arena, d * d);
	posterior->mean_rows = wmlc_arena_doubles(&arena, d * d);
	memory->residual = wmlc_arena_doubles(&arena, d);
	memory->left = wmlc_arena_doubles(&arena, d);
	memory->root = wmlc_arena_doubles(&arena, wmlc_root_work(dims));
	memory->uncertainty = wmlc_arena_take(&arena, 1, wmlc_uncertainty_workspace(dims));
	return arena.used;
}

size_t
wmlc_posterior_workspace(int dims)
{
	WmlcPosterior posterior;
	PosteriorMemory memory;

	return posterior_layout(dims, &posterior, &memory, NULL);
}

/* The prior's mean for this task, Gamma g */
static WmlcStatus
find_mean(const WmlcPrior *prior, const double *descriptor, WmlcPosterior *posterior,
		  PosteriorMemory *memory)
{
	posterior->mean = prior->mean;
	if (prior->descriptors <= 1)
		return WMLC_OK;
	if (descriptor == NULL)
		return WMLC_DIMENSION_MISMATCH;
	cblas_dgemv(CblasColMajor, CblasNoTrans, prior->dims, prior->descriptors, 1.0, prior->mean, prior->dims,
				descriptor, 1, 0.0, memory->mean, 1);
	posterior->mean = memory->mean;
	return WMLC_OK;
}

/* R, and R (w_ols - mu) with all its digits */
static WmlcStatus
read_task(const WmlcTarget *target, WmlcPosterior *posterior, PosteriorMemory *memory)
{
	WmlcTriangle *triangle = &memory->triangle;
	int			d = posterior->prior->dims;
	double		rest;
	WmlcTriangleSource source = {
		.p = d + 1,
		.hi = target->moments,
		.lo = target->moments_lo,
		.rows = target->rows
	};
	WmlcStatus	status = wmlc_triangle_read(triangle, &source, target->poll);

	if (status != WMLC_OK)
		return status;
	for (int i = 0; i <= d; i++)
		wmlc_dd_set(memory->shift, i, wmlc_dd(i < d ? -posterior->mean[i] : 1.0));
	for (int i = 0; i < d; i++)
	{
		WmlcDdSpan	row = wmlc_dd_from(wmlc_square_row(triangle->square, i), i);

		for (int j = i; j < d; j++)
			posterior->triangle[i + (size_t) j * d] = wmlc_dd_value(wmlc_dd_get(row, j - i));
		memory->residual[i] =
			wmlc_dd_value(triangle->loops->dot(d + 1 - i, row, wmlc_dd_from(memory->shift, i)));
	}
	rest = wmlc_triangle_get(triangle, d, d).hi;
	memory->within = rest * rest;
	return WMLC_OK;
}

/*
 * The noise's standard deviation; where it is zero the rows are believed
 * exactly, which is what a very small one does too.
 */
static double
noise_sd(double noise, int d, const double *spread)
{
	double		scale;

	if (noise > 0.0)
		return sqrt(noise);
	scale = cblas_dnrm2(d * d, spread, 1);
	return scale > 0.0 ? scale * sqrt(DBL_EPSILON) : 1.0;
}

/* The posterior given the task's noise and weight; coef holds L^-1 (m - mu) sqrt(precision). */
static WmlcStatus
solve_posterior(WmlcPosterior *posterior, PosteriorMemory *memory, double noise)
{
	int			d = posterior->prior->dims;
	size_t		square = (size_t) d * d;
	double		sd;
	WmlcStatus	status;

	posterior->precision = posterior->weight;
	if (posterior->power > 0.0)
		posterior->precision *= pow(noise / posterior->prior->noise, -posterior->power);
	memcpy(posterior->factor, posterior->prior->factor, square * sizeof(double));
	if (posterior->precision != 1.0)
		cblas_dscal(square, 1.0 / sqrt(posterior->precision), posterior->factor, 1);
	memcpy(posterior->spread, posterior->factor, square * sizeof(double));
	status = wmlc_panel_multiply(CblasUpper, CblasNoTrans, d, posterior->triangle, d, posterior->spread,
								 posterior->poll);
	if (status != WMLC_OK)
		return status;
	sd = posterior->sd = noise_sd(noise, d, posterior->spread);
	cblas_dscal(square, 1.0 / sd, posterior->spread, 1);
	status = wmlc_root(d, posterior->spread, posterior->inner, memory->root, posterior->poll);
	if (status != WMLC_OK)
		return status;
	cblas_dgemv(CblasColMajor, CblasTrans, d, d, 1.0 / sd, posterior->spread, d, memory->residual, 1,
				0.0, posterior->coef, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, posterior->inner, d,
				posterior->coef, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, posterior->inner, d,
				posterior->coef, 1);
	return WMLC_OK;
}

/* How many coefficients the rows rather than the prior determine: d - tr M^-1 */
static double
count_used(WmlcPosterior *posterior)
{
	int			d = posterior->prior->dims;
	double	   *inverse = posterior->scratch;
	double		trace = 0.0;

	memset(inverse, 0, (size_t) d * d * sizeof(double));
	for (int i = 0; i < d; i++)
		inverse[i + (size_t) i * d] = 1.0;
	(void) wmlc_panel_solve(CblasLower, CblasNoTrans, d, posterior->inner, d, inverse, posterior->poll);
	for (size_t i = 0; i < (size_t) d * d; i++)
		trace += inverse[i] * inverse[i];
	return fmax(d - trace, 0.0);
}

/*
 * k of posterior.h: the shares 1 - 1 / e, e being eigenvalues of M, weighted by what is left of
 * the directions' variance, 1 / e^2.  Directions without spread have e = 1.
 */
static double
find_own_share(WmlcPosterior *posterior, PosteriorMemory *memory)
{
	int			d = posterior->prior->dims;
	double		fixed = d - posterior->prior->rank;
	double	   *inverse = posterior->scratch;	/* left there by count_used */
	double	   *power = memory->root;
	double		squares,
				cubes;

	if (posterior->prior->rank == 0)
		return 0.0;
	memcpy(power, inverse, (size_t) d * d * sizeof(double));
	(void) wmlc_panel_multiply(CblasLower, CblasTrans, d, inverse, d, power, posterior->poll);
	squares = cblas_ddot(d * d, power, 1, power, 1) - fixed;
	(void) wmlc_panel_multiply(CblasLower, CblasNoTrans, d, inverse, d, power, posterior->poll);
	cubes = cblas_ddot(d * d, power, 1, power, 1) - fixed;
	return squares > ROUNDED * d ? wmlc_clamp(1.0 - cubes / squares, 0.0, 1.0) : 1.0;
}

/* r of prior_tasks.c */
static double
residual_squares(const WmlcPosterior *posterior, PosteriorMemory *memory)
{
	int			d = posterior->prior->dims;

	cblas_dcopy(d, memory->residual, 1, memory->left, 1);
	cblas_dgemv(CblasColMajor, CblasNoTrans, d, d, -posterior->sd, posterior->spread, d,
				posterior->coef, 1, 1.0, memory->left, 1);
	return memory->within + cblas_ddot(d, memory->left, 1, memory->left, 1);
}

/* What the distribution of noises says of a task, given halves of its degrees and squares, as in a fit */
static double
find_belief(WmlcPosterior *posterior, double degrees, double squares)
{
	const WmlcPrior *prior = posterior->prior;
	double		belief = wmlc_noise_belief(prior->noise_shape, prior->noise_shape * prior->noise,
										   RARE, degrees, squares);

	posterior->power = belief * prior->noise_power;
	return belief;
}

/*
 * One round for the task's noise and weight, as in prior_tasks.c; how much they
 * change.
 */
static double
update_task(const WmlcTarget *target, WmlcPosterior *posterior, PosteriorMemory *memory,
			double *noise)
{
	const WmlcPrior *prior = posterior->prior;
	double		half = 0.5 * prior->spread_degrees;
	double		old_noise = *noise;
	double		old_weight = posterior->weight;
	double		distance = cblas_ddot(prior->dims, posterior->coef, 1, posterior->coef, 1);

	posterior->used = count_used(posterior);
	posterior->distance = distance;
	posterior->evidence = 0.0;
	if (prior->noise_shape > 0.0 && target->rows > 0.0)
	{
		double		rate = prior->noise_shape * prior->noise;
		double		degrees = 0.5 * fmax(target->rows - posterior->used, 0.0);
		double		squares = 0.5 * residual_squares(posterior, memory);
		double		belief = find_belief(posterior, degrees, squares);
		double		shape;

		wmlc_add_distance(posterior->power, old_noise, 0.5 * posterior->used, 0.5 * distance,
						  &degrees, &squares);
		shape = belief * prior->noise_shape + degrees;
		*noise = (belief * rate + squares) / shape;
		posterior->noise_degrees = 2.0 * shape;
		posterior->evidence += wmlc_noise_evidence(prior->noise_shape, rate, belief, 1.0 / *noise, shape);
	}
	if (prior->spread_degrees > 0.0)
	{
		double		shape = half + 0.5 * posterior->used;

		posterior->weight = shape / (half + 0.5 * distance / old_weight);
		posterior->spread_degrees = 2.0 * shape;
		posterior->evidence += wmlc_gamma_evidence(half, half, posterior->weight, shape);
	}
	return fmax(fabs(log(*noise / old_noise)), fabs(log(posterior->weight / old_weight)));
}

/*
 * The noise to start from, as in a fit: that of the task's own regression; and what the spread goes
 * with, lest a mistyped row be taken for coefficients that are far away.
 */
static double
first_noise(const WmlcTarget *target, WmlcPosterior *posterior, const PosteriorMemory *memory)
{
	const WmlcPrior *prior = posterior->prior;
	int			d = prior->dims;
	int			rank = 0;
	double		degrees,
				belief;

	if (!(prior->noise_shape > 0.0 && target->rows > 0.0))
		return prior->noise;
	for (int i = 0; i < d; i++)
		rank += posterior->triangle[i + (size_t) i * d] != 0.0;
	degrees = 0.5 * fmax(target->rows - rank, 0.0);
	belief = find_belief(posterior, degrees, 0.5 * memory->within);
	return (belief * prior->noise_shape * prior->noise + 0.5 * memory->within)
		/ (belief * prior->noise_shape + degrees);
}

/* What the task's likelihood is made of. */
static void
measure_task(WmlcPosterior *posterior, PosteriorMemory *memory)
{
	int			d = posterior->prior->dims;

	posterior->residual_squares = residual_squares(posterior, memory);
	posterior->distance = cblas_ddot(d, posterior->coef, 1, posterior->coef, 1);
	posterior->log_det = 0.0;
	for (int i = 0; i < d; i++)
		posterior->log_det += 2.0 * log(posterior->inner[i + (size_t) i * d]);
}

double
wmlc_posterior_loglik(const WmlcPosterior *posterior, double rows)
{
	double		noise = posterior->sd * posterior->sd;
	double		deviance = rows * log(2.0 * M_PI * noise) + posterior->log_det
		+ posterior->residual_squares / noise + posterior->distance;

	return posterior->evidence - 0.5 * deviance;
}

/* What explains the rows of a task that are far from what is expected, and how likely they are then */
typedef struct Explanation
{
	double		noise;
	double		weight;
	double		power;
	double		loglik;
} Explanation;

/* Rounds for noise and weight until they settle; the weight alone for the first `held` of them. */
static WmlcStatus
settle_task(const WmlcTarget *target, WmlcPosterior *posterior, PosteriorMemory *memory, int held,
			Explanation *task)
{
	WmlcStatus	status;

	posterior->weight = task->weight;
	posterior->power = task->power;
	status = solve_posterior(posterior, memory, task->noise);
	for (int k = 0; k < MOST_ROUNDS && status == WMLC_OK; k++)
	{
		double		noise = task->noise;
		double		change = update_task(target, posterior, memory, &noise);

		if (k >= held)
			task->noise = noise;
		if (k >= held && !(change > SETTLED))
			break;
		status = solve_posterior(posterior, memory, task->noise);
	}
	task->weight = posterior->weight;
	task->power = posterior->power;
	if (status == WMLC_OK)
	{
		measure_task(posterior, memory);
		task->loglik = wmlc_posterior_loglik(posterior, target->rows);
	}
	return status;
}

/*
 * Few rows far from the mean come from a noisy task or from one whose coefficients are far away,
 * and rounds end with what they began with.  So they begin with either, and the likelihood decides.
 */
static WmlcStatus
explain_task(const WmlcTarget *target, WmlcPosterior *posterior, PosteriorMemory *memory)
{
	double		first = first_noise(target, posterior, memory);
	Explanation noisy = {.noise = first, .weight = 1.0, .power = posterior->power};
	Explanation far = noisy;
	WmlcStatus	status = settle_task(target, posterior, memory, 0, &noisy);

	if (status != WMLC_OK || !(posterior->prior->spread_degrees > 0.0 && noisy.noise > NOISY * first))
		return status;
	status = settle_task(target, posterior, memory, HELD_ROUNDS, &far);
	if (status != WMLC_OK || far.loglik > noisy.loglik)
		return status;
	return settle_task(target, posterior, memory, 0, &noisy);
}

/* What intervals need of the task. */
static WmlcStatus
finish_task(const WmlcTarget *target, WmlcPosterior *posterior, PosteriorMemory *memory)
{
	int			d = posterior->prior->dims;
	WmlcStatus	status;

	posterior->used = count_used(posterior);
	if (!target->mean_only)
		posterior->own_share = find_own_share(posterior, memory);
	measure_task(posterior, memory);
	if (target->mean_only)
		return WMLC_OK;
	status = wmlc_add_uncertainty(posterior, memory->residual, target->descriptor, memory->uncertainty);
	if (status != WMLC_OK)
		return status;
	memcpy(posterior->mean_rows, posterior->mean_factor, (size_t) d * d * sizeof(double));
	return wmlc_panel_multiply(CblasUpper, CblasNoTrans, d, posterior->triangle, d, posterior->mean_rows,
							   posterior->poll);
}

WmlcStatus
wmlc_posterior_of(const WmlcPrior *prior, const WmlcTarget *target, WmlcPosterior *posterior,
				  void *work)
{
	PosteriorMemory memory = {.within = 0.0};
	int			d = prior->dims;
	bool		robust = prior->noise > 0.0 && (prior->noise_shape > 0.0 || prior->spread_degrees > 0.0);
	WmlcStatus	status;

	(void) posterior_layout(d, posterior, &memory, work);
	posterior->prior = prior;
	posterior->poll = target->poll;
	posterior->weight = 1.0;
	posterior->power = robust && prior->noise_shape > 0.0 ? prior->noise_power : 0.0;
	posterior->evidence = posterior->used = posterior->distance = 0.0;
	posterior->noise_degrees = prior->noise_shape > 0.0 ? 2.0 * prior->noise_shape : INFINITY;
	posterior->spread_degrees = prior->spread_degrees > 0.0 ? prior->spread_degrees : INFINITY;
	posterior->prepared = false;
	posterior->own_share = 0.0;
	posterior->tasks_left = wmlc_source_degrees(prior);
	memset(posterior->triangle, 0, (size_t) d * d * sizeof(double));
	memset(memory.residual, 0, d * sizeof(double));
	status = find_mean(prior, target->descriptor, posterior, &memory);
	if (status == WMLC_OK && target->moments != NULL)
		status = read_task(target, posterior, &memory);
	if (status != WMLC_OK)
		return status;

	status = robust && target->moments != NULL ? explain_task(target, posterior, &memory)
		: solve_posterior(posterior, &memory, prior->noise);
	if (status == WMLC_OK)
		status = finish_task(target, posterior, &memory);
	if (status != WMLC_OK)
		return status;
	cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, posterior->factor, d,
				posterior->coef, 1);
	cblas_daxpy(d, 1.0, posterior->mean, 1, posterior->coef, 1);
	for (int i = 0; i < d; i++)
		if (!isfinite(posterior->coef[i]))
			return WMLC_NOT_FINITE;
	return WMLC_OK;
}

WmlcStatus
wmlc_posterior(const WmlcPrior *prior, const double *moments, const double *moments_lo,
			   WmlcPosterior *posterior, void *work)
{
	return wmlc_posterior_of(prior, &(WmlcTarget) {.moments = moments, .moments_lo = moments_lo},
							 posterior, work);
}

/* V = F F' with F = L K^-T */
WmlcStatus
wmlc_posterior_covariance(const WmlcPosterior *posterior, double *covariance)
{
	int			d = posterior->prior->dims;
	double	   *factor = posterior->scratch;

	memcpy(factor, posterior->factor, (size_t) d * d * sizeof(double));
	if (wmlc_panel_solve_right(CblasLower, CblasTrans, d, posterior->inner, d, factor,
							   posterior->poll) != WMLC_OK)
		return WMLC_INTERRUPTED;
	return wmlc_panel_outer(d, d, factor, covariance, posterior->poll);
}

/* What a variance is made of: parts that scale with S and with s2. */
typedef struct VarianceParts
{
	double		from_spread;
	double		from_noise;
} VarianceParts;

/*
 * L'x by K^-1, and by M^-1; F'H'x, H being dm/dmu.  The last is F'x - (R F)'(R L / s) M^-1 L'x / s, which
 * is not H'x by F': where features are nearly collinear F is large, and so would be the rounding of H'x.
 */
static void
apply_posterior(const WmlcPosterior *posterior, const double *x, double *a, double *b, double *from_mean)
{
	int			d = posterior->prior->dims;

	cblas_dcopy(d, x, 1, a, 1);
	cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, posterior->factor, d, a, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, posterior->inner, d,
				a, 1);
	cblas_dcopy(d, a, 1, b, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, d, posterior->inner, d, b, 1);

	cblas_dgemv(CblasColMajor, CblasNoTrans, d, d, 1.0 / posterior->sd, posterior->spread, d, b, 1,
				0.0, posterior->scratch, 1);
	cblas_dgemv(CblasColMajor, CblasTrans, d, d, 1.0, posterior->mean_factor, d, x, 1, 0.0, from_mean, 1);
	cblas_dgemv(CblasColMajor, CblasTrans, d, d, -1.0, posterior->mean_rows, d, posterior->scratch, 1,
				1.0, from_mean, 1);
}

/*
 * What apply_posterior makes of unit vectors.  Not their quadratic forms: where features are
 * nearly collinear, these have far larger numbers than what is left of them.
 */
void
wmlc_posterior_prepare(WmlcPosterior *posterior)
{
	int			d = posterior->prior->dims;
	size_t		square = (size_t) d * d;

	if (d > MOST_FORMS || posterior->prepared)
		return;
	for (int i = 0; i < d; i++)
	{
		double		unit[MOST_FORMS] = {0};
		double	   *column = posterior->forms + (size_t) i * d;

		unit[i] = 1.0;
		apply_posterior(posterior, unit, column, column + square, column + 2 * square);
	}
	posterior->prepared = true;
}

/* |E x|^2 */
static double
square_of(int d, const double *columns, const double *x)
{
	double		image[MOST_FORMS] = {0};
	double		sum = 0.0;

	for (int j = 0; j < d; j++)
		for (int i = 0; i < d; i++)
			image[i] += columns[i + (size_t) j * d] * x[j];
	for (int i = 0; i < d; i++)
		sum += image[i] * image[i];
	return sum;
}

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
	VarianceParts parts;
	double		whole,
				from_mean;

	if (posterior->prepared)
	{
		whole = square_of(d, posterior->forms, x);
		parts.from_spread = square_of(d, posterior->forms + (size_t) d * d, x);
		from_mean = square_of(d, posterior->forms + 2 * (size_t) d * d, x);
	}
	else
	{
		double	   *a = posterior->scratch + d;
		double	   *b = a + d;
		double	   *h = posterior->wide;

		apply_posterior(posterior, x, a, b, h);
		whole = cblas_ddot(d, a, 1, a, 1);
		parts.from_spread = cblas_ddot(d, b, 1, b, 1);
		from_mean = cblas_ddot(d, h, 1, h, 1);
	}
	parts.from_noise = fmax(whole - parts.from_spread, 0.0);
	if (prior->rank > 0 || prior->singular)
		parts.from_spread += from_mean;
	else
		parts.from_noise += from_mean;
	return parts;
}

/*
 * Each variance is known as well as all tasks together know it, and as the task's own share of it
 * is; that of the spread goes with a power of the noise.  These are 1 / degrees of freedom.
 */
typedef struct Tails
{
	double		estimated;
	double		own;
} Tails;

static Tails
spread_tails(const WmlcPosterior *posterior)
{
	return (Tails) {
		.estimated = 1.0 / posterior->tasks_left,
		.own = 1.0 / posterior->spread_degrees
			+ posterior->power * posterior->power / posterior->noise_degrees
	};
}

static Tails
noise_tails(const WmlcPosterior *posterior)
{
	return (Tails) {
		.estimated = 1.0 / fmax(posterior->prior->noise_degrees, 1.0),
		.own = 1.0 / posterior->noise_degrees
	};
}

/* e of posterior.h, fitted to exact bounds of sums */
static double
find_power(double level, double tails)
{
	return 2.0 - fmin(2.0 * (1.0 - level), 1.0) * tails / (1.1 + 0.45 * tails);
}

static double
find_student(const WmlcBounds *bounds, double degrees)
{
	return bounds->table != NULL ? wmlc_student_look_up(bounds->table, degrees)
		: wmlc_student_bound(bounds->level, degrees);
}

static WmlcBounds
start_bounds(const WmlcPosterior *posterior, double level, const WmlcStudentTable *table)
{
	Tails		spread = spread_tails(posterior);
	Tails		noise = noise_tails(posterior);
	double		tails = spread.estimated + spread.own + noise.estimated + noise.own;
	double		drawn = (spread.own + noise.own) / tails;
	double		tasks = wmlc_source_degrees(posterior->prior);
	WmlcBounds	bounds = {
		.level = level,
		.table = table,
		.spread_degrees = 1.0 / (spread.estimated + spread.own),
		.noise_degrees = 1.0 / (noise.estimated + noise.own),
		.power = find_power(level, tails),
		.drawn = drawn + (1.0 - drawn) * fmin(1.0 / (tasks * tasks), 0.5)
	};

	bounds.spread = find_student(&bounds, bounds.spread_degrees);
	bounds.noise = find_student(&bounds, bounds.noise_degrees);
	return bounds;
}

WmlcBounds
wmlc_posterior_bounds(const WmlcPosterior *posterior, double level)
{
	return start_bounds(posterior, level, NULL);
}

WmlcBounds
wmlc_posterior_look_up(const WmlcPosterior *posterior, const WmlcStudentTable *table)
{
	return start_bounds(posterior, table->level, table);
}

/* The bound of a sum whose parts have these variances: see posterior.h */
static double
find_bound(const WmlcBounds *bounds, VarianceParts parts)
{
	double		variance = parts.from_spread + parts.from_noise;
	double		share = variance > 0.0 ? parts.from_spread / variance : 0.0;
	double		rest = 1.0 - share;
	double		spread = bounds->spread * sqrt(share);
	double		noise = bounds->noise * sqrt(rest);
	double		most = fmax(spread, noise);
	double		welch,
				sum;

	/* of features whose squares overflow */
	if (!isfinite(variance))
		return variance;
	if (!(most > 0.0 && isfinite(most)))
		return most * variance;
	welch = find_student(bounds, 1.0 / (share * share / bounds->spread_degrees
										+ rest * rest / bounds->noise_degrees));
	sum = most * pow(1.0 + pow(fmin(spread, noise) / most, bounds->power), 1.0 / bounds->power);
	return sqrt(variance) * (welch + bounds->drawn * (sum - welch));
}

/*
 * With few tasks the mean has few degrees of freedom, and its bounds may come out
 * wider.  But an interval holds the mean at least as often as the mean with
 * symmetric noise on top (Anderson 1955).
 */
void
wmlc_posterior_predict(const WmlcPosterior *posterior, const double *x, const WmlcBounds *bounds,
					   WmlcPrediction *prediction)
{
	VarianceParts parts = estimate_variance(posterior, x);
	double		bound,
				mean_bound;

	prediction->estimate = 0.0;
	for (int i = 0; i < posterior->prior->dims; i++)
		prediction->estimate += x[i] * posterior->coef[i];
	prediction->mean_variance = parts.from_spread + parts.from_noise;
	mean_bound = find_bound(bounds, parts);
	parts.from_noise += posterior->prior->noise > 0.0 ? posterior->sd * posterior->sd : 0.0;
	prediction->variance = parts.from_spread + parts.from_noise;
	bound = find_bound(bounds, parts);
	mean_bound = fmin(mean_bound, bound);
	prediction->mean_lower = prediction->estimate - mean_bound;
	prediction->mean_upper = prediction->estimate + mean_bound;
	prediction->lower = prediction->estimate - bound;
	prediction->upper = prediction->estimate + bound;
}
