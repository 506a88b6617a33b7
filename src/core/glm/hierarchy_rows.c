/*
 * hierarchy_rows.c
 *	  Working grams of tasks whose rows are in memory, and the dispersion of their
 *	  counts.
 */
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/glm/hierarchy.h"
#include "core/glm/hierarchy_correct.h"

#define FIRST_DISPERSION 0.5
#define LEAST_LOG_DISPERSION -16.0
#define LARGEST_LOG_DISPERSION 6.0

typedef struct Space
{
	WmlcGram   *gram;
	double	   *rows;			/* of a batch */
	WmlcWorkingRow *kept;		/* of all rows */
	double	   *corrections;	/* d x d and d of each task, or NULL */
} Space;

static size_t
rows_layout(int dims, size_t count, size_t tasks, Space *space, void *work)
{
	WmlcArena	arena = {work, 0};

	space->gram = wmlc_arena_take(&arena, 1, wmlc_gram_bytes(dims));
	space->rows = wmlc_arena_doubles(&arena, wmlc_row_batch_doubles(dims));
	space->kept = wmlc_arena_take(&arena, count, sizeof(WmlcWorkingRow));
	space->corrections = dims > WMLC_MOST_CORRECTED_DIMS ? NULL
		: wmlc_arena_doubles(&arena, tasks * ((size_t) dims * dims + dims));
	return arena.used;
}

size_t
wmlc_hierarchy_rows_workspace(int dims, size_t count, size_t tasks)
{
	Space		space;

	return rows_layout(dims, count, tasks, &space, NULL);
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

/*
 * The predictor that all rows together have, to start from; none for counts, or
 * for points instead of distributions.
 */
static double
first_predictor(const WmlcGlmRows *rows, const WmlcHierarchy *hierarchy)
{
	double		successes = 0.5,
				failures = 0.5;

	if (hierarchy->likelihood.family != WMLC_BINOMIAL || hierarchy->covariance == NULL)
		return NAN;
	for (size_t i = 0; i < rows->count; i++)
	{
		WmlcResponse response = wmlc_glm_response(rows, i);

		successes += response.weight * response.y;
		failures += response.weight * (response.exposure - response.y);
	}
	return log(successes / failures);
}

/* Find the working rows of a task at its posterior, or around `start`. */
static void
queue_task(WmlcRowQueue *queue, const WmlcGlmRows *rows, size_t first, size_t end,
		   const double *coef, const double *covariance, double start, WmlcWorkingRow *kept)
{
	int			d = rows->dims;

	for (size_t i = first; i < end; i++)
	{
		const double *x = rows->x + i * d;
		WmlcResponse response = wmlc_glm_response(rows, i);

		if (coef == NULL)
			wmlc_row_queue_start(queue, &response, start, &kept[i]);
		else
			wmlc_row_queue_add(queue, &response, wmlc_predictor(d, x, coef),
							   covariance == NULL ? 0.0
							   : wmlc_predictor_variance(d, x, covariance), &kept[i]);
	}
}

/* The correction of task j, which may be all zeros. */
static WmlcCorrection
task_correction(const Space *space, int d, size_t j)
{
	double	   *start = space->corrections + j * ((size_t) d * d + d);

	return (WmlcCorrection) {start, start + (size_t) d * d};
}

/* Correct the gram of a task of not too many rows; what that adds to the evidence. */
static double
correct_task(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, size_t j, const Space *space)
{
	int			d = hierarchy->dims;
	size_t		first = rows->start[j];
	int64_t		count = rows->start[j + 1] - rows->start[j];
	WmlcCorrection correction;
	double	   *sums = space->gram->sums;
	double	   *low = sums + wmlc_triangle_size(d + 1);
	double		squares,
				evidence;
	int			at = 0;

	if (space->corrections == NULL)
		return 0.0;
	correction = task_correction(space, d, j);
	if (!hierarchy->correct || hierarchy->careful || count > WMLC_MOST_CORRECTED_ROWS)
	{
		memset(correction.precision, 0, ((size_t) d * d + d) * sizeof(double));
		return 0.0;
	}
	evidence = wmlc_correction_find(d, (int) count, rows->rows.x + first * d, space->kept + first,
									task_coef(hierarchy, j), task_covariance(hierarchy, j),
									&correction, &squares);
	for (int i = 0; i <= d; i++)
		for (int k = i; k <= d; k++, at++)
		{
			WmlcDd		sum = wmlc_dd_add_d((WmlcDd) {sums[at], low[at]},
											i == d ? squares : k == d ? correction.pull[i]
											: 0.5 * (correction.precision[i * d + k] + correction.precision[k * d + i]));

			sums[at] = sum.hi;
			low[at] = sum.lo;
		}
	return evidence;
}

/* The gram of a task's working rows. */
static WmlcStatus
gather_task(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, size_t j, const Space *space)
{
	size_t		d = hierarchy->dims;
	size_t		entries = wmlc_triangle_size(hierarchy->dims + 1);
	WmlcRowBatch batch = {.gram = space->gram, .rows = space->rows};
	double		log_scale = 0.0;

	wmlc_gram_init(space->gram, hierarchy->dims);
	for (int64_t i = rows->start[j]; i < rows->start[j + 1]; i++)
	{
		wmlc_row_batch_add(&batch, rows->rows.x + i * d, space->kept[i].response,
						   space->kept[i].weight);
		log_scale += space->kept[i].log_scale;
	}
	wmlc_row_batch_flush(&batch);
	log_scale += correct_task(rows, hierarchy, j, space);
	hierarchy->log_scale += task_alpha(hierarchy, j) * log_scale;
	memcpy(hierarchy->moments + j * entries, space->gram->sums, entries * sizeof(double));
	memcpy(hierarchy->moments_lo + j * entries, space->gram->sums + entries,
		   entries * sizeof(double));
	hierarchy->rows[j] = (double) wmlc_gram_weighted_rows(space->gram);
	return wmlc_gram_is_finite(space->gram) ? WMLC_OK : WMLC_NOT_FINITE;
}

/* Tasks are done in groups of so many rows, so that small ones share lanes. */
#define GROUP_ROWS 2048

static WmlcStatus
collect_tasks(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, const Space *space)
{
	WmlcRowQueue queue = {
		.likelihood = &hierarchy->likelihood,
		.again = hierarchy->covariance != NULL && !hierarchy->careful
	};
	size_t		gathered = 0;
	double		start = hierarchy->started ? NAN : first_predictor(&rows->rows, hierarchy);

	for (size_t j = 0; j < hierarchy->tasks; j++)
	{
		if (hierarchy->correct && space->corrections != NULL)
		{
			WmlcCorrection correction = task_correction(space, hierarchy->dims, j);
			size_t		d = hierarchy->dims;

			wmlc_correction_undo(hierarchy->dims, &correction, hierarchy->coef + j * d,
								 hierarchy->covariance + j * d * d);
		}
		queue_task(&queue, &rows->rows, rows->start[j], rows->start[j + 1],
				   task_coef(hierarchy, j), task_covariance(hierarchy, j), start, space->kept);
		if (rows->start[j + 1] - rows->start[gathered] < GROUP_ROWS && j + 1 < hierarchy->tasks)
			continue;
		wmlc_row_queue_flush(&queue);
		if (wmlc_interrupted(rows->poll))
			return WMLC_INTERRUPTED;
		for (; gathered <= j; gathered++)
		{
			WmlcStatus	status = gather_task(rows, hierarchy, gathered, space);

			if (status != WMLC_OK)
				return status;
		}
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_hierarchy_collect_rows(void *arg, WmlcHierarchy *hierarchy)
{
	const WmlcHierarchyRows *rows = arg;
	Space		space;

	(void) rows_layout(hierarchy->dims, rows->rows.count, hierarchy->tasks, &space, rows->work);
	if (space.corrections != NULL && !hierarchy->started)
		memset(space.corrections, 0, hierarchy->tasks * ((size_t) hierarchy->dims * hierarchy->dims + hierarchy->dims) * sizeof(double));
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
	return collect_tasks(rows, hierarchy, &space);
}
