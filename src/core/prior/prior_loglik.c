/*
 * prior_loglik.c
 *	  The likelihood of tasks under a given prior.
 *
 * A task's responses have covariance s2 V, V = I + R S R' / s2, in the
 * compressed form of prior_internal.h, here in the caller's own basis.
 */
#include <cblas.h>

#include "core/prior/prior_internal.h"

/* Tasks between two polls. */
#define POLL_TASKS 256

typedef struct LoglikMemory
{
	WmlcPriorWeights weights;
	WmlcTriangle triangle;
	WmlcDdSpan	shift;			/* (-mu, 1) */
	double	   *spread;			/* (R L / s)', d x d */
	double	   *factor;			/* K, K K' = V */
	double	   *residual;		/* d */
	double	   *root;			/* workspace */
} LoglikMemory;

static size_t
loglik_layout(LoglikMemory *memory, int dims, size_t count, void *work)
{
	WmlcArena	arena = {work, 0};
	size_t		d = dims;

	memory->weights.alpha = wmlc_arena_doubles(&arena, count);
	wmlc_triangle_layout(&memory->triangle, dims + 1, &arena);
	memory->shift = wmlc_arena_span(&arena, d + 1);
	memory->spread = wmlc_arena_doubles(&arena, d * d);
	memory->factor = wmlc_arena_doubles(&arena, d * d);
	memory->residual = wmlc_arena_doubles(&arena, d);
	memory->root = wmlc_arena_doubles(&arena, wmlc_root_work(dims));
	return arena.used;
}

size_t
wmlc_prior_loglik_workspace(int dims, size_t count)
{
	LoglikMemory memory;

	return loglik_layout(&memory, dims, count, NULL);
}

/* log |V| + |V^-1/2 residual|^2 / s2 for the factored task */
static double
task_deviance(LoglikMemory *memory, const WmlcPrior *prior)
{
	const WmlcTriangle *triangle = &memory->triangle;
	int			d = prior->dims;
	double		sd = sqrt(prior->noise);
	double		rest = wmlc_triangle_get(triangle, d, d).hi / sd;
	double		sum = rest * rest;

	for (int i = 0; i < d; i++)
	{
		WmlcDdSpan	row = wmlc_dd_from(wmlc_square_row(triangle->square, i), i);
		WmlcDdSpan	shift = wmlc_dd_from(memory->shift, i);

		memory->residual[i] = wmlc_dd_value(triangle->loops->dot(d + 1 - i, row, shift)) / sd;
		for (int k = 0; k < d; k++)
		{
			double		entry = 0.0;

			for (int j = i > k ? i : k; j < d; j++)
				entry += row.hi[j - i] * prior->factor[j + (size_t) k * d];
			memory->spread[k + (size_t) i * d] = entry / sd;
		}
	}
	wmlc_root(d, memory->spread, memory->factor, memory->root);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, d, memory->factor, d,
				memory->residual, 1);
	sum += cblas_ddot(d, memory->residual, 1, memory->residual, 1);
	for (int i = 0; i < d; i++)
		sum += 2.0 * log(memory->factor[i + (size_t) i * d]);
	return sum;
}

WmlcStatus
wmlc_prior_loglik(const WmlcPrior *prior, const WmlcPriorTasks *tasks, WmlcPoll poll,
				  double *loglik, void *work)
{
	LoglikMemory memory;
	int			d = prior->dims;
	size_t		size = wmlc_packed_size(d + 1);
	WmlcDd		total = wmlc_dd(0.0);
	WmlcStatus	status;

	if (tasks->dims != d)
		return WMLC_DIMENSION_MISMATCH;
	if (!(prior->noise > 0.0))
		return WMLC_OUT_OF_RANGE;
	(void) loglik_layout(&memory, d, tasks->count, work);
	status = wmlc_prior_weigh(tasks, &memory.weights);
	if (status != WMLC_OK)
		return status;
	for (int i = 0; i <= d; i++)
		wmlc_dd_set(memory.shift, i, wmlc_dd(i < d ? -prior->mean[i] : 1.0));

	for (size_t j = 0; j < tasks->count; j++)
	{
		const double *lo = tasks->moments_lo == NULL ? NULL : tasks->moments_lo + j * size;
		double		term;

		if (j % POLL_TASKS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (memory.weights.alpha[j] == 0.0)
			continue;
		memory.triangle.tolerance = wmlc_triangle_tolerance(d + 1, tasks->rows[j], lo != NULL);
		status = wmlc_triangle_load(&memory.triangle, d + 1, tasks->moments + j * size, lo,
									NULL, NULL);
		if (status == WMLC_OK)
			status = wmlc_triangle_factor(&memory.triangle);
		if (status != WMLC_OK)
			return status;
		term = task_deviance(&memory, prior) + tasks->rows[j] * log(2.0 * M_PI * prior->noise);
		total = wmlc_dd_add(total, wmlc_two_prod(-0.5 * memory.weights.alpha[j], term));
	}
	*loglik = wmlc_dd_value(total);
	return isfinite(*loglik) ? WMLC_OK : WMLC_NOT_FINITE;
}
