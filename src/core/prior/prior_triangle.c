/*
 * prior_triangle.c
 *	  The triangle of a task: the Cholesky factor of its sums, which may well be
 *	  singular, in double-double.
 *
 * For a positive semidefinite matrix a zero pivot means a zero row, so no
 * pivoting is needed to go on behind it.  In double-double the factor has the
 * digits that a QR factorisation of the rows themselves would have in double.
 * LAPACK knows neither: for 8 features dpotrf takes 0.3 us and these digits
 * 2.7 us (test/bench/bench_loops.c), once for each task of a fit.
 */
#include <lapacke.h>

#include "core/linalg/panels.h"
#include "core/prior/prior_internal.h"

/* Columns between two polls. */
#define POLL_COLUMNS 16

/* By how much the tolerance rises where something comes out negative, and how far. */
#define NEXT_TOLERANCE 0x1p13
#define HIGHEST_TOLERANCE 1e-13

void
wmlc_triangle_layout(WmlcTriangle *triangle, int size, WmlcArena *arena)
{
	triangle->loops = wmlc_dd_loops();
	triangle->size = size;
	triangle->square.stride = size;
	triangle->square.span = wmlc_arena_span(arena, (size_t) size * size);
	triangle->remainder = wmlc_arena_span(arena, size);
}

static WmlcStatus
load(WmlcTriangle *triangle, const WmlcTriangleSource *source)
{
	int			p = source->p;
	const double *hi = source->hi;
	const double *lo = source->lo;
	const int  *index = source->index;
	const double *scale = source->scale;

	for (int i = 0; i < triangle->size; i++)
	{
		WmlcDdSpan	row = wmlc_square_row(triangle->square, i);
		int			a = index == NULL ? i : index[i];

		for (int k = 0; k <= i; k++)
		{
			int			b = index == NULL ? k : index[k];
			size_t		at = a <= b ? wmlc_triangle_index(p, a, b) : wmlc_triangle_index(p, b, a);
			double		unit = scale == NULL ? 1.0 : scale[a] * scale[b];
			WmlcDd		entry = {hi[at], lo == NULL ? 0.0 : lo[at]};

			entry = wmlc_dd_scale(wmlc_dd_normalize(entry), unit);
			if (!wmlc_dd_is_finite(entry))
				return WMLC_NOT_FINITE;
			wmlc_dd_set(row, k, entry);
		}
		wmlc_dd_set(triangle->remainder, i, wmlc_dd_get(row, i));
	}
	return WMLC_OK;
}

/* Column k of the factor, and with it row k of R, is zero. */
static void
clear_column(WmlcTriangle *triangle, int k)
{
	WmlcDdSpan	row_k = wmlc_square_row(triangle->square, k);

	for (int i = k; i < triangle->size; i++)
	{
		wmlc_dd_set(wmlc_square_row(triangle->square, i), k, wmlc_dd(0.0));
		wmlc_dd_set(row_k, i, wmlc_dd(0.0));
	}
}

/*
 * Has column k explained more of some later entry than there was?
 */
static bool
column_exceeds(const WmlcTriangle *triangle, int k)
{
	for (int i = k + 1; i < triangle->size; i++)
		if (triangle->remainder.hi[i] < -WMLC_NEGATIVE_UNPIVOTED * wmlc_triangle_get(triangle, i, i).hi)
			return true;
	return false;
}

static void
take_back_column(WmlcTriangle *triangle, int k)
{
	for (int i = k + 1; i < triangle->size; i++)
	{
		WmlcDd		entry = wmlc_triangle_get(triangle, i, k);

		wmlc_dd_set(triangle->remainder, i, wmlc_dd_add(wmlc_dd_get(triangle->remainder, i),
														wmlc_dd_mul(entry, entry)));
	}
	clear_column(triangle, k);
}

static WmlcStatus
factor(WmlcTriangle *triangle, double tolerance, WmlcPoll poll)
{
	for (int k = 0; k < triangle->size; k++)
	{
		double		diagonal = wmlc_triangle_get(triangle, k, k).hi;
		double		pivot = triangle->remainder.hi[k];

		if (k % POLL_COLUMNS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (!isfinite(pivot))
			return WMLC_NOT_FINITE;
		if (diagonal < 0.0 || pivot < -WMLC_INDEFINITE_UNPIVOTED * diagonal)
			return WMLC_NOT_POSITIVE;
		if (!(pivot > tolerance * diagonal))
		{
			clear_column(triangle, k);
			continue;
		}
		wmlc_cholesky_column(triangle->loops, triangle->square, k, triangle->size,
							 triangle->remainder);
		if (pivot < WMLC_SMALL_UNPIVOTED * diagonal && column_exceeds(triangle, k))
			take_back_column(triangle, k);
	}
	return WMLC_OK;
}

/*
 * A task of few rows has features that depend on each other but for the rounding
 * of their values.  What that leaves of a pivot is above the rounding of the sums
 * by little, so it is wrong by much, and the column that it divides is worse than
 * none: it may explain more of a later feature than there is.  Where something
 * comes out negative, pivots must stand higher above rounding, up to where those
 * of honest sums do.
 */
WmlcStatus
wmlc_triangle_read(WmlcTriangle *triangle, const WmlcTriangleSource *source, WmlcPoll poll)
{
	double		tolerance = wmlc_triangle_tolerance(triangle->size, source->rows,
													source->lo != NULL);
	WmlcStatus	status;

	for (;;)
	{
		status = load(triangle, source);
		if (status == WMLC_OK)
			status = factor(triangle, tolerance, poll);
		if (status != WMLC_NOT_POSITIVE || tolerance > HIGHEST_TOLERANCE)
			return status;
		tolerance *= NEXT_TOLERANCE;
	}
}

/*
 * From a QR factorisation of Y stacked on I: forming I + Y'Y would lose the I
 * beside a large Y.
 */
WmlcStatus
wmlc_root(int n, const double *y, double *root, double *work, WmlcPoll poll)
{
	int			rows = 2 * n;
	double	   *tau = work + (size_t) rows * n;

	for (int k = 0; k < n; k++)
	{
		memcpy(work + (size_t) k * rows, y + (size_t) k * n, n * sizeof(double));
		memset(work + (size_t) k * rows + n, 0, n * sizeof(double));
		work[(size_t) k * rows + n + k] = 1.0;
	}
	if (wmlc_panel_qr(rows, n, work, tau, tau + n, 32 * n, poll) != WMLC_OK)
		return WMLC_INTERRUPTED;
	memset(root, 0, (size_t) n * n * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		double		sign = work[i + (size_t) i * rows] < 0.0 ? -1.0 : 1.0;

		for (int k = i; k < n; k++)
			root[k + (size_t) i * n] = sign * work[i + (size_t) k * rows];
	}
	return WMLC_OK;
}
