/*
 * hierarchy_rows.c
 *	  Working grams of tasks whose rows are in memory, and the dispersion of their
 *	  counts.
 */
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/glm/hierarchy.h"

#define FIRST_DISPERSION 0.5
#define LEAST_LOG_DISPERSION -16.0
#define LARGEST_LOG_DISPERSION 6.0

static size_t
rows_layout(int dims, WmlcGram **gram, double **space, void *work)
{
	WmlcArena	arena = {work, 0};

	*gram = wmlc_arena_take(&arena, 1, wmlc_gram_bytes(dims));
	*space = wmlc_arena_doubles(&arena, wmlc_row_batch_doubles(dims));
	return arena.used;
}

size_t
wmlc_hierarchy_rows_workspace(int dims)
{
	WmlcGram   *gram;
	double	   *space;

	return rows_layout(dims, &gram, &space, NULL);
}

/* The posterior of task j, or NULL. */
static const double *
task_coef(const WmlcHierarchy *hierarchy, size_t j)
{
	return hierarchy->started ? hierarchy->coef + j * hierarchy->dims : NULL;
}

static const double *
task_covariance(const WmlcHierarchy *hierarchy, size_t j)
{
	size_t		d = hierarchy->dims;

	return hierarchy->started && hierarchy->covariance != NULL
		? hierarchy->covariance + j * d * d : NULL;
}

static double
task_alpha(const WmlcHierarchy *hierarchy, size_t j)
{
	return hierarchy->alpha == NULL ? 1.0 : hierarchy->alpha[j];
}

/*
 * The log-likelihood of all rows that may be expected under the tasks' posteriors,
 * by three nodes.
 */
static double
expected_loglik(const WmlcHierarchyRows *rows, const WmlcHierarchy *hierarchy, double log_dispersion)
{
	WmlcLikelihood likelihood = {hierarchy->likelihood.family, exp(log_dispersion)};
	int			d = hierarchy->dims;
	double		sum = 0.0;

	for (size_t j = 0; j < hierarchy->tasks && !wmlc_interrupted(rows->poll); j++)
		for (int64_t i = rows->start[j]; i < rows->start[j + 1]; i++)
		{
			const double *x = rows->rows.x + (size_t) i * d;
			WmlcResponse response = wmlc_glm_response(&rows->rows, i);
			const double *covariance = task_covariance(hierarchy, j);
			double		eta = wmlc_predictor(d, x, task_coef(hierarchy, j));
			double		reach = covariance == NULL ? 0.0
				: sqrt(3.0 * wmlc_predictor_variance(d, x, covariance));
			double		shape = 2.0 / 3.0 * wmlc_likelihood_shape(&likelihood, &response, eta)
				+ wmlc_likelihood_shape(&likelihood, &response, eta - reach) / 6.0
				+ wmlc_likelihood_shape(&likelihood, &response, eta + reach) / 6.0;

			sum += task_alpha(hierarchy, j) * response.weight * (shape + wmlc_likelihood_constant(&likelihood, &response));
		}
	return sum;
}

/* The best dispersion under the tasks' posteriors, by the golden section. */
static void
update_dispersion(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy)
{
	const double ratio = 0.6180339887498949;
	double		before = log(hierarchy->likelihood.dispersion);
	double		width = hierarchy->dispersion_change < 0.3 ? 1.0 : INFINITY;
	double		from = fmax(before - width, LEAST_LOG_DISPERSION);
	double		to = fmin(before + width, LARGEST_LOG_DISPERSION);
	double		a = to - ratio * (to - from);
	double		b = from + ratio * (to - from);
	double		at_a = expected_loglik(rows, hierarchy, a);
	double		at_b = expected_loglik(rows, hierarchy, b);

	while (to - from > 1e-5 && !wmlc_interrupted(rows->poll))
	{
		bool		left = at_a > at_b;

		if (left)
		{
			to = b;
			b = a;
			at_b = at_a;
			a = to - ratio * (to - from);
			at_a = expected_loglik(rows, hierarchy, a);
		}
		else
		{
			from = a;
			a = b;
			at_a = at_b;
			b = from + ratio * (to - from);
			at_b = expected_loglik(rows, hierarchy, b);
		}
	}
	hierarchy->likelihood.dispersion = exp(0.5 * (from + to));
	hierarchy->dispersion_change = fabs(0.5 * (from + to) - before);
}

WmlcStatus
wmlc_hierarchy_collect_rows(void *arg, WmlcHierarchy *hierarchy)
{
	const WmlcHierarchyRows *rows = arg;
	size_t		entries = wmlc_triangle_size(hierarchy->dims + 1);
	WmlcGram   *gram;
	double	   *space;

	(void) rows_layout(hierarchy->dims, &gram, &space, rows->work);
	if (hierarchy->find_dispersion)
	{
		if (hierarchy->started)
			update_dispersion(rows, hierarchy);
		else
		{
			hierarchy->likelihood.dispersion = FIRST_DISPERSION;
			hierarchy->dispersion_change = INFINITY;
		}
	}
	if (wmlc_interrupted(rows->poll))
		return WMLC_INTERRUPTED;
	hierarchy->log_scale = 0.0;
	for (size_t j = 0; j < hierarchy->tasks; j++)
	{
		double		log_scale = 0.0;
		WmlcStatus	status;

		status = wmlc_working_gram(&hierarchy->likelihood, &rows->rows, rows->start[j],
								   rows->start[j + 1], task_coef(hierarchy, j),
								   task_covariance(hierarchy, j), gram,
								   &log_scale, space, rows->poll);
		if (status != WMLC_OK)
			return status;
		hierarchy->log_scale += task_alpha(hierarchy, j) * log_scale;
		memcpy(hierarchy->moments + j * entries, gram->sums, entries * sizeof(double));
		memcpy(hierarchy->moments_lo + j * entries, gram->sums + entries,
			   entries * sizeof(double));
		hierarchy->rows[j] = (double) wmlc_gram_weighted_rows(gram);
	}
	return WMLC_OK;
}
