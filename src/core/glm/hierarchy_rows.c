/*
 * hierarchy_rows.c
 *	  Working grams of tasks whose rows are in memory, and the dispersion of their
 *	  counts.
 */
#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/golden.h"
#include "core/glm/excess.h"
#include "core/glm/hierarchy.h"
#include "core/glm/hierarchy_correct.h"

#define FIRST_DISPERSION 0.5
#define LEAST_LOG_DISPERSION -16.0
#define LARGEST_LOG_DISPERSION 6.0
#define DISPERSION_WIDTH 1e-5
#define NEGLIGIBLE 1e-3

/* Near the end the secant goes up to so many times as far. */
#define MOST_SECANT_CHANGE 0.3
#define MOST_SECANT_MOVE 0.5
#define LARGEST_STRETCH 8.0

/*
 * Sums of tasks with so few features are found side by side, so many rows of each at a
 * time, unless the longest task leaves lanes empty for most of the time.
 */
#define MOST_LANE_DIMS 7
#define LANE_ROWS 32
#define LANE_WORTH 4

typedef struct Space
{
	double	   *rows;			/* of a batch, each with its response */
	double	   *lanes;			/* of a batch of tasks side by side, and their sums */
	double	   *sums;
	WmlcWorkingRow *kept;		/* of all rows */
	double	   *corrections;	/* d x d and d of each task, or NULL */
} Space;

/* Numbers of a task's correction. */
static inline size_t
correction_size(size_t d)
{
	return d * d + d;
}

static size_t
rows_layout(int dims, size_t count, size_t tasks, Space *space, void *work)
{
	WmlcArena	arena = {work, 0};

	space->rows = wmlc_arena_doubles(&arena, wmlc_row_batch_doubles(dims));
	space->lanes = wmlc_arena_doubles(&arena, dims > MOST_LANE_DIMS ? 0
									  : LANE_ROWS * WMLC_GRAM_LANES * (dims + 2));
	space->sums = wmlc_arena_doubles(&arena, dims > MOST_LANE_DIMS ? 0
									 : 2 * WMLC_GRAM_LANES * wmlc_triangle_size(dims + 1));
	space->kept = wmlc_arena_take(&arena, count, sizeof(WmlcWorkingRow));
	space->corrections = dims > WMLC_MOST_CORRECTED_DIMS ? NULL
		: wmlc_arena_doubles(&arena, tasks * correction_size(dims));
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

/* The rows and posteriors that a dispersion is to suit. */
typedef struct Dispersed
{
	const WmlcHierarchyRows *rows;
	const WmlcHierarchy *hierarchy;
} Dispersed;

/*
 * Minus the log-likelihood of all rows that may be expected under the tasks'
 * posteriors, by three nodes.
 */
static double
expected_loss(void *arg, double log_dispersion)
{
	const WmlcHierarchyRows *rows = ((const Dispersed *) arg)->rows;
	const WmlcHierarchy *hierarchy = ((const Dispersed *) arg)->hierarchy;
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

			sum -= task_alpha(hierarchy, j) * response.weight
				* (shape + wmlc_likelihood_constant(&likelihood, &response));
		}
	return sum;
}

/*
 * A dispersion that adds less than this share to the variance of a count of average
 * size is as good as none, however far its logarithm wanders.
 */
static double
negligible_dispersion(const WmlcGlmRows *rows)
{
	double		sum = 0.0;

	for (size_t i = 0; i < rows->count; i++)
		sum += rows->y[i];
	return NEGLIGIBLE * rows->count / sum;
}

/*
 * How far to go when the best dispersion is `move` away, in logarithms.  Posteriors
 * follow dispersions, so that what is best under them lags behind: the secant through
 * the last move says by how much.
 */
static double
dispersion_step(const WmlcHierarchy *hierarchy, double log_dispersion, double move)
{
	double		slope = (move - hierarchy->last_dispersion_move)
		/ (log_dispersion - hierarchy->last_log_dispersion);

	if (isnan(slope) || hierarchy->change > MOST_SECANT_CHANGE || fabs(move) > MOST_SECANT_MOVE)
		return move;
	return move * fmin(slope < 0.0 ? fmax(-1.0 / slope, 1.0) : LARGEST_STRETCH, LARGEST_STRETCH);
}

/* Go to the best dispersion under the tasks' posteriors. */
static void
update_dispersion(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy)
{
	Dispersed	dispersed = {rows, hierarchy};
	double		before = log(hierarchy->likelihood.dispersion);
	double		width = hierarchy->dispersion_change < 0.3 ? 1.0 : INFINITY;
	double		move = wmlc_golden_section(expected_loss, &dispersed,
										   fmax(before - width, LEAST_LOG_DISPERSION),
										   fmin(before + width, LARGEST_LOG_DISPERSION),
										   DISPERSION_WIDTH, rows->poll) - before;
	double		next = before + dispersion_step(hierarchy, before, move);
	double		least = negligible_dispersion(&rows->rows);

	next = fmin(fmax(next, LEAST_LOG_DISPERSION), LARGEST_LOG_DISPERSION);
	hierarchy->last_log_dispersion = before;
	hierarchy->last_dispersion_move = move;
	hierarchy->likelihood.dispersion = exp(next);
	hierarchy->dispersion_change = fabs(log((exp(next) + least) / (exp(before) + least)));
}

/*
 * The predictor that all rows together have, to start from; none for points instead
 * of distributions, and where exposures are too large to be added up.
 */
static double
first_predictor(const WmlcGlmRows *rows, const WmlcHierarchy *hierarchy)
{
	bool		binomial = hierarchy->likelihood.family == WMLC_BINOMIAL;
	double		sum = 0.5,
				rest = 0.5,
				predictor;

	if (hierarchy->likelihood.family == WMLC_GAUSSIAN || hierarchy->covariance == NULL)
		return NAN;
	for (size_t i = 0; i < rows->count; i++)
	{
		WmlcResponse response = wmlc_glm_response(rows, i);

		sum += response.weight * response.y;
		rest += response.weight * (binomial ? response.exposure - response.y : response.exposure);
	}
	predictor = log(sum / rest);
	return isfinite(predictor) ? predictor : NAN;
}

/* Rows from first up to end of a task with this posterior. */
static inline __attribute__((always_inline)) void
queue_rows(WmlcRowQueue *queue, const WmlcGlmRows *rows, int d, size_t first, size_t end,
		   const double *coef, const double *covariance, WmlcWorkingRow *kept)
{
	for (size_t i = first; i < end; i++)
	{
		const double *x = rows->x + i * d;
		WmlcResponse response = wmlc_glm_response(rows, i);

		wmlc_row_queue_add(queue, &response, wmlc_predictor(d, x, coef),
						   covariance == NULL ? 0.0 : wmlc_predictor_variance(d, x, covariance),
						   &kept[i]);
	}
}

/*
 * Find the working rows of a task at its posterior, or around `start`.  For a few features
 * loops over them take longer than what they do.
 */
static void
queue_task(WmlcRowQueue *queue, const WmlcGlmRows *rows, size_t first, size_t end,
		   const double *coef, const double *covariance, double start, WmlcWorkingRow *kept)
{
	if (coef == NULL)
		for (size_t i = first; i < end; i++)
		{
			WmlcResponse response = wmlc_glm_response(rows, i);

			wmlc_row_queue_start(queue, &response, start, &kept[i]);
		}
	else if (rows->dims == 2)
		queue_rows(queue, rows, 2, first, end, coef, covariance, kept);
	else if (rows->dims == 3)
		queue_rows(queue, rows, 3, first, end, coef, covariance, kept);
	else if (rows->dims == 4)
		queue_rows(queue, rows, 4, first, end, coef, covariance, kept);
	else
		queue_rows(queue, rows, rows->dims, first, end, coef, covariance, kept);
}

/* The correction of task j, which may be all zeros. */
static WmlcCorrection
task_correction(const Space *space, int d, size_t j)
{
	double	   *start = space->corrections + j * correction_size(d);

	return (WmlcCorrection) {start, start + (size_t) d * d};
}

/* Correct the sums of a task of not too many rows; what that adds to the evidence. */
static double
correct_task(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, size_t j, const Space *space,
			 double *hi, double *lo)
{
	int			d = hierarchy->dims;
	size_t		first = rows->start[j];
	int64_t		count = rows->start[j + 1] - rows->start[j];
	WmlcCorrection correction;
	double		squares,
				evidence;
	int			at = 0;

	if (space->corrections == NULL)
		return 0.0;
	correction = task_correction(space, d, j);
	if (!hierarchy->correct || hierarchy->careful || count > WMLC_MOST_CORRECTED_ROWS)
	{
		memset(correction.precision, 0, correction_size(d) * sizeof(double));
		return 0.0;
	}
	evidence = wmlc_correction_find(d, (int) count, rows->rows.x + first * d, space->kept + first,
									task_coef(hierarchy, j), task_covariance(hierarchy, j),
									&correction, &squares);
	for (int i = 0; i <= d; i++)
		for (int k = i; k <= d; k++, at++)
		{
			double		more = i == d ? squares : k == d ? correction.pull[i]
				: 0.5 * (correction.precision[i * d + k] + correction.precision[k * d + i]);
			WmlcDd		sum = wmlc_dd_add_d((WmlcDd) {hi[at], lo[at]}, more);

			hi[at] = sum.hi;
			lo[at] = sum.lo;
		}
	return evidence;
}

/*
 * Add up the products of a task's working rows, of which those that have weight count.
 * Nothing but these sums is wanted of their gram.
 */
static void
add_rows(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, size_t j, const Space *space)
{
	double		weights[WMLC_LOOP_ROWS];
	int			d = hierarchy->dims;
	int			p = d + 1;
	size_t		entries = wmlc_triangle_size(p);
	double	   *hi = hierarchy->moments + j * entries;
	double	   *lo = hierarchy->moments_lo + j * entries;
	int			waiting = 0;

	memset(hi, 0, entries * sizeof(double));
	memset(lo, 0, entries * sizeof(double));
	for (int64_t i = rows->start[j]; i < rows->start[j + 1]; i++)
	{
		const WmlcWorkingRow *row = &space->kept[i];
		double	   *z = space->rows + (size_t) waiting * p;

		if (row->weight != 0.0)
		{
			memcpy(z, rows->rows.x + i * d, d * sizeof(double));
			z[d] = row->response;
			weights[waiting++] = row->weight;
		}
		if (waiting == 0 || (waiting < WMLC_LOOP_ROWS && i + 1 < rows->start[j + 1]))
			continue;
		memset(space->rows + (size_t) waiting * p, 0, WMLC_ROW_PADDING * sizeof(double));
		wmlc_gram_add_products(p, waiting, space->rows, p, weights, hi, lo);
		waiting = 0;
	}
}

/* What the rows of a task lead to beside its sums of products, which are there. */
static WmlcStatus
finish_task(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, size_t j, const Space *space)
{
	size_t		entries = wmlc_triangle_size(hierarchy->dims + 1);
	double	   *hi = hierarchy->moments + j * entries;
	double	   *lo = hierarchy->moments_lo + j * entries;
	double		log_scale = 0.0;
	int64_t		count = 0;

	for (int64_t i = rows->start[j]; i < rows->start[j + 1]; i++)
	{
		log_scale += space->kept[i].log_scale;
		count += space->kept[i].weight != 0.0;
	}
	hierarchy->rows[j] = (double) count;
	log_scale += correct_task(rows, hierarchy, j, space, hi, lo);
	hierarchy->log_scale += task_alpha(hierarchy, j) * log_scale;
	for (size_t i = 0; i < entries; i++)
		if (!isfinite(hi[i]))
			return WMLC_NOT_FINITE;
	return WMLC_OK;
}

/* Tasks whose sums are found side by side. */
typedef struct Lanes
{
	size_t		first;
	int			count;
	int64_t		longest;		/* rows of a task */
} Lanes;

/*
 * The next tasks up to `end`, and whether lanes are worth while: rows must be short, and the tasks
 * of similar size.
 */
static bool
choose_lanes(const WmlcHierarchyRows *rows, int d, size_t first, size_t end, Lanes *lanes)
{
	lanes->first = first;
	lanes->count = end - first < WMLC_GRAM_LANES ? (int) (end - first) : WMLC_GRAM_LANES;
	lanes->longest = 0;
	for (int l = 0; l < lanes->count; l++)
	{
		int64_t		count = rows->start[first + l + 1] - rows->start[first + l];

		lanes->longest = count > lanes->longest ? count : lanes->longest;
	}
	return d <= MOST_LANE_DIMS && LANE_WORTH * lanes->longest
		< rows->start[first + lanes->count] - rows->start[first];
}

/* Rows of each lane from `row` on, at the most LANE_ROWS; where there are none, rows of no weight. */
static int
fill_lanes(const WmlcHierarchyRows *rows, int d, const Lanes *lanes, int64_t row,
		   const Space *space)
{
	int			count = lanes->longest - row < LANE_ROWS ? (int) (lanes->longest - row) : LANE_ROWS;

	for (int l = 0; l < WMLC_GRAM_LANES; l++)
	{
		double	   *to = space->lanes + l;
		int64_t		at = l < lanes->count ? rows->start[lanes->first + l] + row : 0;
		int64_t		end = l < lanes->count ? rows->start[lanes->first + l + 1] : 0;

		for (int r = 0; r < count; r++, at++)
		{
			const double *x = rows->rows.x + (size_t) at * d;

			for (int k = 0; k < d; k++, to += WMLC_GRAM_LANES)
				*to = at < end ? x[k] : 0.0;
			to[0] = at < end ? space->kept[at].response : 0.0;
			to[WMLC_GRAM_LANES] = at < end ? space->kept[at].weight : 0.0;
			to += 2 * WMLC_GRAM_LANES;
		}
	}
	return count;
}

/* Add up the products of the rows of tasks side by side. */
static void
add_lanes(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, const Lanes *lanes,
		  const Space *space)
{
	int			d = hierarchy->dims;
	size_t		entries = wmlc_triangle_size(d + 1);
	double	   *hi = space->sums;
	double	   *lo = hi + entries * WMLC_GRAM_LANES;

	memset(hi, 0, 2 * entries * WMLC_GRAM_LANES * sizeof(double));
	for (int64_t row = 0; row < lanes->longest; row += LANE_ROWS)
		wmlc_gram_add_lanes(d + 1, fill_lanes(rows, d, lanes, row, space), space->lanes, hi, lo);
	for (int l = 0; l < lanes->count; l++)
		for (size_t e = 0; e < entries; e++)
		{
			hierarchy->moments[(lanes->first + l) * entries + e] = hi[e * WMLC_GRAM_LANES + l];
			hierarchy->moments_lo[(lanes->first + l) * entries + e] = lo[e * WMLC_GRAM_LANES + l];
		}
}

/* The moments of tasks from first up to end. */
static WmlcStatus
gather_tasks(const WmlcHierarchyRows *rows, WmlcHierarchy *hierarchy, size_t first, size_t end,
			 const Space *space)
{
	for (size_t j = first; j < end;)
	{
		Lanes		lanes;

		if (choose_lanes(rows, hierarchy->dims, j, end, &lanes))
			add_lanes(rows, hierarchy, &lanes, space);
		else
			for (int l = 0; l < lanes.count; l++)
				add_rows(rows, hierarchy, j + l, space);
		for (int l = 0; l < lanes.count; l++, j++)
		{
			WmlcStatus	status = finish_task(rows, hierarchy, j, space);

			if (status != WMLC_OK)
				return status;
		}
	}
	return WMLC_OK;
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
		WmlcStatus	status;

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
		status = gather_tasks(rows, hierarchy, gathered, j + 1, space);
		if (status != WMLC_OK)
			return status;
		gathered = j + 1;
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
		memset(space.corrections, 0, hierarchy->tasks
			   * correction_size(hierarchy->dims) * sizeof(double));
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

/* Rows between two polls. */
#define EXCESS_ROWS 64

WmlcStatus
wmlc_excess_of_tasks(WmlcExcess *sums, const WmlcHierarchyRows *rows,
					 const WmlcHierarchy *hierarchy)
{
	Space		space;
	int			d = hierarchy->dims;

	memset(sums, 0, sizeof(WmlcExcess));
	(void) rows_layout(d, rows->rows.count, hierarchy->tasks, &space, rows->work);
	for (size_t j = 0; j < hierarchy->tasks && hierarchy->started; j++)
	{
		const double *covariance = task_covariance(hierarchy, j);

		for (int64_t i = rows->start[j]; i < rows->start[j + 1]; i++)
		{
			const double *x = rows->rows.x + (size_t) i * d;
			WmlcResponse row = wmlc_glm_response(&rows->rows, i);

			/* a row of many features takes a while, and a task may have most of the rows */
			if (i % EXCESS_ROWS == 0 && wmlc_interrupted(rows->poll))
				return WMLC_INTERRUPTED;
			wmlc_excess_add(sums, &row, &space.kept[i],
							wmlc_predictor(d, x, task_coef(hierarchy, j)),
							covariance == NULL ? 0.0 : wmlc_predictor_variance(d, x, covariance));
		}
	}
	return WMLC_OK;
}
