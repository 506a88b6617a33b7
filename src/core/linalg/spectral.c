/*
 * spectral.c
 *	  Eigenvectors of a gram in double-double, with small relative errors even
 *	  where eigenvalues are small.
 *
 * Cholesky factorisation with diagonal pivoting, then one-sided Jacobi
 * rotations of the factor's rows until they are orthogonal (Veselic and Hari,
 * "A note on a one-sided Jacobi algorithm", 1989; Demmel and Veselic, "Jacobi's
 * method is more accurate than QR", 1992).  Rotating whole equations (g_i, h_i)
 * leaves what they say untouched, so even rounding in the angles is harmless.
 */
#include "core/linalg/spectral.h"

#include <string.h>

#include "core/linalg/factor.h"
#include "core/linalg/tolerance.h"

/* Two rows are orthogonal when their cosine is below d times this. */
#define ORTHOGONAL 0x1p-100

/* The method doubles the digits with every sweep, after four or five. */
#define MAX_SWEEPS 60

typedef struct Rows
{
	int			d;
	int			stride;
	int			rank;
	WmlcDdSpan	rows;			/* at first the matrix */
	WmlcDdSpan	squares;		/* squared lengths of the rows */
	WmlcDdSpan	spare;			/* a row */
} Rows;

static inline WmlcDdSpan
get_row(const Rows *rows, int i)
{
	return wmlc_dd_from(rows->rows, (size_t) i * rows->stride);
}

static void
lay_out(Rows *rows, WmlcFactor *factor, int d, WmlcArena *arena)
{
	wmlc_factor_layout(factor, d, true, arena);
	rows->squares = wmlc_arena_span(arena, d);
	rows->spare = wmlc_arena_span(arena, d + 1);
}

size_t
wmlc_spectral_workspace(int d)
{
	WmlcArena	arena = {NULL, 0};
	WmlcFactor	factor;
	Rows		rows;

	lay_out(&rows, &factor, d, &arena);
	return arena.used;
}

/* Row k of L', back in the caller's columns and units. */
static void
restore_row(const Rows *rows, const WmlcFactor *factor, int k)
{
	WmlcDdSpan	row = get_row(rows, k);

	for (int i = 0; i <= rows->d; i++)
	{
		WmlcDd		entry = i < k ? wmlc_dd(0.0) : wmlc_factor_entry(factor, i, k);

		wmlc_dd_set(rows->spare, factor->column[i], wmlc_dd_scale(entry, 1.0 / factor->scale[i]));
	}
	memcpy(row.hi, rows->spare.hi, (rows->d + 1) * sizeof(double));
	memcpy(row.lo, rows->spare.lo, (rows->d + 1) * sizeof(double));
}

static void
measure_row(Rows *rows, int i)
{
	WmlcDdSpan	row = get_row(rows, i);

	wmlc_dd_set(rows->squares, i, wmlc_dd_loops()->dot(rows->d, row, row));
}

/* The squared length of row i changes; measure anew when digits have cancelled. */
static void
change_square(Rows *rows, int i, WmlcDd change)
{
	WmlcDd		old = wmlc_dd_get(rows->squares, i);
	WmlcDd		new = wmlc_dd_add(old, change);

	wmlc_dd_set(rows->squares, i, new);
	if (!(new.hi > 0x1p-20 * old.hi))
		measure_row(rows, i);
}

/*
 * The tangent of the angle by which to rotate rows with these squared lengths
 * and overlap, so that they become orthogonal: the smaller root of t^2 - 2 zeta
 * t - 1 = 0.
 */
static double
jacobi_tangent(WmlcDd x_square, WmlcDd y_square, WmlcDd overlap)
{
	double		zeta = wmlc_dd_sub(y_square, x_square).hi / (2.0 * overlap.hi);
	double		magnitude = fabs(zeta);
	double		tangent = magnitude < 0x1p100
		? 1.0 / (magnitude + sqrt(1.0 + magnitude * magnitude)) : 0.5 / magnitude;

	return zeta >= 0.0 ? -tangent : tangent;
}

static void
rotate_rows(Rows *rows, int i, int k, WmlcDd overlap)
{
	double		tangent = jacobi_tangent(wmlc_dd_get(rows->squares, i),
										 wmlc_dd_get(rows->squares, k), overlap);
	WmlcDd		square = wmlc_dd_add_d(wmlc_two_prod(tangent, tangent), 1.0);
	WmlcDd		change = wmlc_dd_mul_d(overlap, tangent);
	double		guess = 1.0 / sqrt(square.hi);
	WmlcDd		error;
	WmlcDd		c;

	/*
	 * Any angle will do, but the rotation must be one to the last digit: a
	 * Newton step takes the cosine, 1 / sqrt(1 + tangent^2), from 53 bits to 106.
	 */
	error = wmlc_dd_sub(wmlc_dd(1.0), wmlc_dd_mul(square, wmlc_two_prod(guess, guess)));
	c = wmlc_quick_two_sum(guess, 0.5 * guess * error.hi);
	wmlc_dd_vector_loops()->rotate(rows->d + 1, c, wmlc_dd_mul_d(c, tangent),
									 get_row(rows, i), get_row(rows, k));
	change_square(rows, i, change);
	change_square(rows, k, wmlc_dd_neg(change));
}

/* One sweep over all pairs; *done turns true when nothing was left to do. */
static WmlcStatus
sweep(Rows *rows, bool *done, WmlcPoll poll)
{
	const WmlcDdLoops *loops = wmlc_dd_loops();
	double		tolerance = rows->d * ORTHOGONAL;
	const double *squares = rows->squares.hi;

	*done = true;
	for (int i = 0; i < rows->rank; i++)
		measure_row(rows, i);
	for (int i = 0; i < rows->rank; i++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int k = i + 1; k < rows->rank; k++)
		{
			WmlcDd		overlap = loops->dot(rows->d, get_row(rows, i),
											   get_row(rows, k));

			if (fabs(overlap.hi) > tolerance * sqrt(squares[i]) * sqrt(squares[k]))
			{
				rotate_rows(rows, i, k, overlap);
				*done = false;
			}
		}
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_spectral_rows(int d, int stride, WmlcDdSpan square, double count, bool orthogonal,
				   int *rank, void *work, WmlcPoll poll)
{
	Rows		rows = {.d = d, .stride = stride, .rows = square};
	WmlcFactor	factor;
	WmlcArena	arena = {work, 0};
	bool		done = !orthogonal;
	WmlcStatus	status;

	lay_out(&rows, &factor, d, &arena);
	factor.square = (WmlcSquare) {stride, square};
	status = wmlc_factor(&factor, wmlc_zero_pivot(d, count), poll);
	*rank = rows.rank = factor.rank;
	for (int i = 0; i < factor.rank && status == WMLC_OK; i++)
		restore_row(&rows, &factor, i);
	for (int i = 0; status == WMLC_OK && !done; i++)
		status = i < MAX_SWEEPS ? sweep(&rows, &done, poll) : WMLC_NO_CONVERGENCE;
	return status;
}
