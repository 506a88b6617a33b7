/*
 * prior_span.c
 *	  Fixed features: a basis in which T acts on the first coordinates alone.
 *
 * If only some features have coefficients that differ between tasks, T lives
 * in the span of their loadings.  Internal bases are orthonormal over the pooled
 * tasks, and remain so under a rotation that turns this span to the first
 * `height` coordinates.  Triangles are made triangular again; then V of
 * prior_internal.h is the identity below row `height`, and all that the rows
 * below contribute is a sum that no longer depends on T.  What grows with the
 * number of fixed features is the square of it, for each task and sweep.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/linalg/panels.h"
#include "core/prior/prior_internal.h"

int
wmlc_count_random(int dims, const WmlcPriorOptions *options)
{
	int			count = 0;

	for (int k = 0; k < dims; k++)
		count += options->random == NULL || options->random[k];
	return count;
}

void
wmlc_span_layout(WmlcSpan *span, int dims, const WmlcPriorOptions *options, WmlcArena *arena)
{
	size_t		d = wmlc_count_random(dims, options) < dims ? dims : 0;

	span->columns = wmlc_arena_doubles(arena, d * d);
	span->rotation = wmlc_arena_doubles(arena, d * d);
	span->task = wmlc_arena_doubles(arena, d * (d + 1));
	span->product = wmlc_arena_doubles(arena, d * (d + 1));
	span->tau = wmlc_arena_doubles(arena, d);
	span->lapack = wmlc_arena_doubles(arena, 64 * (d + 1));
	span->pivots = wmlc_arena_take(arena, d, sizeof(int));
}

/*
 * Independent features among the random ones, each time the one that the span so
 * far explains the least of; their loadings to span->columns.
 */
static int
choose_features(WmlcSpan *span, const WmlcReduced *reduced, const int *features, int count)
{
	int			r = reduced->rank;
	double	   *left = span->task;	/* what is not explained, r x count */
	int			rank = 0;

	for (int k = 0; k < count; k++)
	{
		const double *loading = reduced->loadings + (size_t) features[k] * r;
		double		norm = cblas_dnrm2(r, loading, 1);

		memset(left + (size_t) k * r, 0, r * sizeof(double));
		if (norm > 0.0)
			cblas_daxpy(r, 1.0 / norm, loading, 1, left + (size_t) k * r, 1);
		memcpy(span->product + (size_t) k * r, left + (size_t) k * r, r * sizeof(double));
	}
	while (rank < r && rank < count)
	{
		int			best = 0;
		double		longest = 0.0;
		double	   *direction;

		for (int k = 0; k < count; k++)
		{
			double		norm = cblas_dnrm2(r, left + (size_t) k * r, 1);

			if (norm > longest)
			{
				longest = norm;
				best = k;
			}
		}
		if (!(longest > WMLC_DEPENDENT_LOADING))
			break;
		direction = span->tau;
		cblas_dcopy(r, left + (size_t) best * r, 1, direction, 1);
		cblas_dscal(r, 1.0 / longest, direction, 1);
		for (int k = 0; k < count; k++)
			cblas_daxpy(r, -cblas_ddot(r, direction, 1, left + (size_t) k * r, 1), direction, 1,
						left + (size_t) k * r, 1);
		memset(left + (size_t) best * r, 0, r * sizeof(double));
		memcpy(span->columns + (size_t) rank * r, span->product + (size_t) best * r,
			   r * sizeof(double));
		span->pivots[rank++] = features[best];
	}
	return rank;
}

/* The rotation: its first columns span the loadings of the random features. */
static int
find_rotation(WmlcSpan *span, const WmlcReduced *reduced, const int *features, int count,
			  WmlcPoll poll)
{
	int			r = reduced->rank;
	int			size = 64 * (reduced->dims + 1);
	int			rank = choose_features(span, reduced, features, count);

	(void) wmlc_panel_qr(r, rank, span->columns, span->tau, span->lapack, size, poll);
	memset(span->rotation, 0, (size_t) r * r * sizeof(double));
	memcpy(span->rotation, span->columns, (size_t) r * rank * sizeof(double));
	(void) LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, r, r, rank, span->rotation, r, span->tau,
							   span->lapack, size);
	return rank;
}

/* matrix (r x n by columns) = rotation' matrix, or matrix rotation for the basis */
static void
rotate_bases(WmlcSpan *span, WmlcReduced *reduced, WmlcPoll poll)
{
	int			r = reduced->rank;
	int			d = reduced->dims;

	for (int k = 0; k < d; k++)
	{
		double	   *loading = reduced->loadings + (size_t) k * r;

		cblas_dcopy(r, loading, 1, span->tau, 1);
		cblas_dgemv(CblasColMajor, CblasTrans, r, r, 1.0, span->rotation, r, span->tau, 1, 0.0,
					loading, 1);
	}
	memcpy(span->task, reduced->basis, (size_t) r * r * sizeof(double));
	(void) wmlc_panel_product(r, span->task, span->rotation, reduced->basis, poll);
}

static WmlcStatus
rotate_task(WmlcSpan *span, WmlcReduced *reduced, size_t block, int lane, WmlcPoll poll)
{
	int			r = reduced->rank;
	WmlcLanes  *task = reduced->tasks + block * wmlc_reduced_stride(r);
	WmlcLanes  *beta = task + wmlc_triangle_size(r);

	memset(span->task, 0, (size_t) r * r * sizeof(double));
	for (int i = 0; i < r; i++)
	{
		for (int j = i; j < r; j++)
			span->task[i + (size_t) j * r] = task[wmlc_triangle_index(r, i, j)][lane];
		span->product[i + (size_t) r * r] = beta[i][lane];
	}
	if (wmlc_panel_product(r, span->task, span->rotation, span->product, poll) != WMLC_OK ||
		wmlc_panel_qr(r, r + 1, span->product, span->tau, span->lapack, 64 * (reduced->dims + 1), poll) != WMLC_OK)
		return WMLC_INTERRUPTED;
	for (int i = 0; i < r; i++)
	{
		for (int j = i; j < r; j++)
			task[wmlc_triangle_index(r, i, j)][lane] = span->product[i + (size_t) j * r];
		beta[i][lane] = span->product[i + (size_t) r * r];
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_span_rotate(WmlcSpan *span, WmlcReduced *reduced, const int *features, int count,
				 WmlcPoll poll)
{
	int			r = reduced->rank;

	if (count == reduced->dims || r == 0)
		return WMLC_OK;
	reduced->height = find_rotation(span, reduced, features, count, poll);
	rotate_bases(span, reduced, poll);
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int lane = 0; lane < WMLC_PRIOR_LANES; lane++)
		{
			if (rotate_task(span, reduced, b, lane, poll) != WMLC_OK)
				return WMLC_INTERRUPTED;
		}
	}
	return WMLC_OK;
}

/*
 * The sums over the rows that T does not reach, which change with the tasks'
 * numbers only.
 */
WmlcStatus
wmlc_sum_fixed(WmlcReduced *reduced, WmlcPoll poll)
{
	int			r = reduced->rank;
	int			h = reduced->height;

	if (h == r)
		return WMLC_OK;
	memset(reduced->fixed_precision, 0, wmlc_triangle_size(r) * sizeof(double));
	memset(reduced->fixed_pull, 0, r * sizeof(double));
	reduced->fixed_squares = 0.0;
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		const WmlcLanes *task = reduced->tasks + b * wmlc_reduced_stride(r);
		const WmlcLanes *beta = task + wmlc_triangle_size(r);
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, b);
		WmlcLanes	root = numbers[WMLC_TASK_SCALE] * numbers[WMLC_TASK_GAIN];
		WmlcLanes	weight = numbers[WMLC_TASK_ALPHA] * root * root;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (weight[0] == 0.0 && weight[1] == 0.0 && weight[2] == 0.0 && weight[3] == 0.0)
			continue;
		for (int i = h; i < r; i++)
		{
			const WmlcLanes *row = task + wmlc_triangle_index(r, i, i) - i;
			WmlcLanes	squares = weight * beta[i] * beta[i];

			for (int j = i; j < r; j++)
			{
				WmlcLanes	left = weight * row[j];
				WmlcLanes	pull = left * beta[i];

				for (int l = 0; l < WMLC_PRIOR_LANES; l++)
					reduced->fixed_pull[j] += pull[l];
				for (int k = j; k < r; k++)
				{
					WmlcLanes	product = left * row[k];

					reduced->fixed_precision[wmlc_triangle_index(r, j, k)] +=
						product[0] + product[1] + product[2] + product[3];
				}
			}
			for (int l = 0; l < WMLC_PRIOR_LANES; l++)
				reduced->fixed_squares += squares[l];
		}
	}
	return WMLC_OK;
}

void
wmlc_add_fixed(const WmlcReduced *reduced, WmlcPriorPoint *point, double *pull, double *squares)
{
	int			r = reduced->rank;
	int			h = reduced->height;
	double		sum = reduced->fixed_squares;

	for (int i = h; i < r; i++)
	{
		double		product = 0.0;

		for (int j = h; j < r; j++)
		{
			double		entry = reduced->fixed_precision[i <= j ? wmlc_triangle_index(r, i, j)
														 : wmlc_triangle_index(r, j, i)];

			point->precision[i + (size_t) j * r] += entry;
			product += entry * point->mean[j];
		}
		pull[i] += reduced->fixed_pull[i] - product;
		sum += point->mean[i] * (product - 2.0 * reduced->fixed_pull[i]);
	}
	*squares += fmax(sum, 0.0);
}

/*
 * The columns of Lambda in the random features themselves: C of
 * Lambda = loadings C, of which a dependent feature has none.
 */
void
wmlc_span_solve(const WmlcSpan *span, const WmlcReduced *reduced, const WmlcPriorPoint *point,
				double *columns)
{
	int			r = reduced->rank;
	int			d = reduced->dims;
	int			h = reduced->height;
	int			m = point->directions;

	for (int k = 0; k < m; k++)
	{
		double	   *c = span->tau;

		for (int i = 0; i < h; i++)
			c[i] = point->lambda[(size_t) i * m + k];
		cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, h, span->columns, r,
					c, 1);
		memset(columns + (size_t) k * d, 0, d * sizeof(double));
		for (int i = 0; i < h; i++)
		{
			int			feature = span->pivots[i];

			columns[feature + (size_t) k * d] = c[i]
				/ cblas_dnrm2(r, reduced->loadings + (size_t) feature * r, 1);
		}
	}
}
