/*
 * prior_joint.c
 *	  What an error of S does to the error of mu.
 *
 * With normal responses the estimates of mu and S know nothing of each other, and
 * P is the precision of mu whether S is known or not.  In models whose working
 * responses are found along with mu and S they do: a larger spread goes with a mean
 * farther off.  How much is seen from the tasks' scores, a of mu and b of S: what
 * mu can be known by is not all of a but what b does not explain of it.
 *
 * In the metric of A = sum a a' that is I - R, R = A^-1/2 C B^-1 C' A^-1/2, the
 * squared canonical correlations of the two; by chance alone R would be the number
 * of b's entries over that of the tasks, which is taken off as from any share
 * explained.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/linalg/panels.h"
#include "core/prior/prior_lanes.h"

/* Fewer tasks than this, in all and for each parameter of mu and S, tell nothing. */
#define LEAST_TASKS 50.0
#define TASKS_PER_PARAMETER 3.0

/* No more than this of the precision is ever taken away. */
#define LEAST_LEFT 0.05

static size_t
count_parameters(const WmlcPriorFit *fit)
{
	int			m = fit->current.directions;

	return fit->options->covariance == WMLC_PRIOR_FULL ? wmlc_triangle_size(m) : (size_t) m;
}

/* Sums of products of scores, and one task's; n is the largest number of b's entries. */
typedef struct Scores
{
	double	   *a;				/* r x r */
	double	   *b;				/* n x n */
	double	   *c;				/* n x r */
	double	   *mean;			/* of one task: u, r */
	double	   *along;			/* Lambda'u, m */
	double	   *spread;			/* n */
	double	   *influence;		/* one row of Z Lambda, m */
} Scores;

static size_t
scores_layout(Scores *scores, size_t r, size_t n, void *work)
{
	WmlcArena	arena = {work, 0};

	scores->a = wmlc_arena_doubles(&arena, r * r);
	scores->b = wmlc_arena_doubles(&arena, n * n);
	scores->c = wmlc_arena_doubles(&arena, n * r);
	scores->mean = wmlc_arena_doubles(&arena, r);
	scores->along = wmlc_arena_doubles(&arena, r);
	scores->spread = wmlc_arena_doubles(&arena, n);
	scores->influence = wmlc_arena_doubles(&arena, r);
	return arena.used;
}

size_t
wmlc_joint_workspace(int dims, const WmlcPriorOptions *options)
{
	Scores		scores;
	int			q = wmlc_count_random(dims, options);

	return scores_layout(&scores, dims, options->covariance == WMLC_PRIOR_FULL
						 ? wmlc_triangle_size(q) : (size_t) q, NULL);
}

/* Entry (k, l) of b += value, for a diagonal S the entries on the diagonal alone */
static inline void
add_spread(const WmlcPriorFit *fit, double *spread, int k, int l, double value)
{
	if (fit->options->covariance == WMLC_PRIOR_FULL)
		spread[wmlc_triangle_index(fit->current.directions, k, l)] += value;
	else if (k == l)
		spread[k] += value;
}

/* The scores of the task in a lane of the block that has just been whitened. */
static void
score_task(const WmlcPriorFit *fit, const WmlcLanes *task, int lane, size_t n, Scores *scores)
{
	const WmlcSweep *sweep = &fit->sweep;
	const WmlcPriorPoint *point = &fit->current;
	int			r = sweep->reduced->rank;
	int			h = sweep->reduced->height;
	int			m = point->directions;
	double		inverse_sd = 1.0 / sqrt(point->noise);
	const WmlcLanes *beta = task + wmlc_triangle_size(r);

	memset(scores->mean, 0, r * sizeof(double));
	memset(scores->spread, 0, n * sizeof(double));
	for (int i = 0; i < r; i++)
	{
		const WmlcLanes *white = sweep->white + (size_t) i * (r + 1);
		const WmlcLanes *row = task + wmlc_triangle_index(r, i, i) - i;
		double		residual = i < h ? white[r][lane] : beta[i][lane];

		for (int j = i; j < r && i >= h; j++)
			residual -= row[j][lane] * point->mean[j];
		for (int j = i < h ? 0 : i; j < r; j++)
			scores->mean[j] += inverse_sd * residual * (i < h ? white[j][lane] : row[j][lane]);
		if (i >= h)
			continue;
		for (int k = 0; k < m; k++)
		{
			scores->influence[k] = 0.0;
			for (int j = 0; j < h; j++)
				scores->influence[k] += white[j][lane] * point->lambda[(size_t) j * m + k];
			for (int l = 0; l <= k; l++)
				add_spread(fit, scores->spread, l, k, -scores->influence[l] * scores->influence[k]);
		}
	}
	for (int k = 0; k < m; k++)
	{
		scores->along[k] = cblas_ddot(h, scores->mean, 1, point->lambda + k, m);
		for (int l = 0; l <= k; l++)
			add_spread(fit, scores->spread, l, k, scores->along[l] * scores->along[k]);
	}
}

static WmlcStatus
sum_scores(WmlcPriorFit *fit, size_t n, Scores *scores)
{
	const WmlcReduced *reduced = &fit->reduced;
	int			r = reduced->rank;
	int			p = (int) n;

	memset(scores->a, 0, (size_t) r * r * sizeof(double));
	memset(scores->b, 0, n * n * sizeof(double));
	memset(scores->c, 0, n * r * sizeof(double));
	for (size_t block = 0; block < reduced->blocks; block++)
	{
		const WmlcLanes *task = reduced->tasks + block * wmlc_reduced_stride(r);
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, block);

		if (wmlc_interrupted(fit->sweep.poll))
			return WMLC_INTERRUPTED;
		(void) whiten(&fit->sweep, task, &fit->current);
		if (fit->sweep.interrupted)
			return WMLC_INTERRUPTED;
		for (int lane = 0; lane < LANES; lane++)
		{
			double		alpha = numbers[WMLC_TASK_ALPHA][lane];

			if (alpha == 0.0)
				continue;
			score_task(fit, task, lane, n, scores);
			cblas_dsyr(CblasColMajor, CblasLower, r, alpha, scores->mean, 1, scores->a, r);
			cblas_dsyr(CblasColMajor, CblasLower, p, alpha, scores->spread, 1, scores->b, p);
			cblas_dger(CblasColMajor, p, r, alpha, scores->spread, 1, scores->mean, 1, scores->c, p);
		}
	}
	return WMLC_OK;
}

/* I - R to fit->scratch; false where a matrix is singular. */
static bool
find_left(WmlcPriorFit *fit, size_t n, Scores *scores)
{
	int			r = fit->reduced.rank;
	int			p = (int) n;
	double		ridge = 0.0;
	double	   *left = fit->scratch;

	for (int k = 0; k < p; k++)
		ridge += 1e-10 * scores->b[k + (size_t) k * p] / p;
	for (int k = 0; k < p; k++)
		scores->b[k + (size_t) k * p] += ridge;
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, scores->a, r) != 0
		|| LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', p, scores->b, p) != 0)
		return false;
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, p, r, 1.0,
				scores->b, p, scores->c, p);
	cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, p, r, 1.0,
				scores->a, r, scores->c, p);
	for (int i = 0; i < r; i++)
		for (int j = 0; j < r; j++)
			left[i + (size_t) j * r] = (i == j)
				- cblas_ddot(p, scores->c + (size_t) i * p, 1, scores->c + (size_t) j * p, 1);
	return true;
}

/* F to the factor of F (I - R) F', adjusted for chance. */
static void
scale_precision(WmlcPriorFit *fit, double adjustment, double *product)
{
	WmlcPriorPoint *point = &fit->current;
	double	   *values = fit->pull;
	double	   *vectors = fit->scratch;
	int			r = fit->reduced.rank;

	wmlc_model_eigen(&fit->model, r, vectors, values);
	for (int k = 0; k < r; k++)
		cblas_dscal(r, sqrt(fmax(fmin(adjustment * values[k], 1.0), LEAST_LEFT)),
					vectors + (size_t) k * r, 1);
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, r, r, 1.0,
				point->precision_factor, r, vectors, r);
	(void) wmlc_panel_outer(r, r, vectors, product, fit->sweep.poll);
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, product, r) == 0)
		memcpy(point->precision_factor, product, (size_t) r * r * sizeof(double));
}

WmlcStatus
wmlc_joint_precision(WmlcPriorFit *fit, void *work)
{
	size_t		n = count_parameters(fit);
	double		tasks = fit->reduced.weight;
	Scores		scores;
	WmlcStatus	status;

	if (n == 0 || fit->reduced.rank == 0 || tasks < LEAST_TASKS
		|| tasks < TASKS_PER_PARAMETER * (n + fit->reduced.rank))
		return WMLC_OK;
	(void) scores_layout(&scores, fit->reduced.rank, n, work);
	status = sum_scores(fit, n, &scores);
	if (status == WMLC_OK && find_left(fit, n, &scores))
		scale_precision(fit, tasks / (tasks - n), scores.a);
	return status;
}
