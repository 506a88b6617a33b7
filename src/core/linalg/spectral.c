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

/*
 * A pivot is what is left of a diagonal entry.  At or below this share of it,
 * times d, the column depends on the ones before; the same as in solve.c.
 */
#define ZERO_PIVOT 0x1p-95
#define ROW_NOISE 0x1p-107

/* A diagonal below minus this share of what it was is no rounding error. */
#define CLEARLY_NEGATIVE 0x1p-26

/* Two rows are orthogonal when their cosine is below d times this. */
#define ORTHOGONAL 0x1p-100

/* The method doubles the digits with every sweep, after four or five. */
#define MAX_SWEEPS 60

typedef struct Factor
{
	int			d;
	int			stride;
	int			rank;
	WmlcDdSpan	rows;			/* at first the matrix */
	WmlcDdSpan	squares;		/* squared lengths of the rows */
	double	   *diagonal;		/* of the matrix, by column */
	int		   *order;			/* row k belongs to column order[k] */
	double		zero_pivot;
} Factor;

static inline WmlcDdSpan
factor_row(const Factor *factor, int i)
{
	return wmlc_dd_from(factor->rows, (size_t) i * factor->stride);
}

static void
swap_rows(int n, WmlcDdSpan x, WmlcDdSpan y)
{
	for (int j = 0; j < n; j++)
	{
		WmlcDd		t = wmlc_dd_get(x, j);

		wmlc_dd_set(x, j, wmlc_dd_get(y, j));
		wmlc_dd_set(y, j, t);
	}
}

/* The row with the largest diagonal left, or -1 when only noise is left. */
static WmlcStatus
choose_pivot(const Factor *factor, int *choice)
{
	double		largest = 0.0;

	*choice = -1;
	for (int k = factor->rank; k < factor->d; k++)
	{
		int			column = factor->order[k];
		double		left = factor_row(factor, k).hi[column];

		if (left < -CLEARLY_NEGATIVE * factor->diagonal[column])
			return WMLC_NOT_POSITIVE;
		if (left > factor->zero_pivot * factor->diagonal[column] && left > largest)
		{
			largest = left;
			*choice = k;
		}
	}
	return WMLC_OK;
}

/* Turn row `rank` into one of the factor and take it off the rows behind it. */
static void
eliminate(Factor *factor)
{
	const WmlcDdVectorLoops *loops = wmlc_dd_vector_loops();
	int			d = factor->d;
	int			column = factor->order[factor->rank];
	WmlcDdSpan	row = factor_row(factor, factor->rank);
	WmlcDd		root = wmlc_dd_sqrt(wmlc_dd_get(row, column));

	for (int j = 0; j <= d; j++)
		wmlc_dd_set(row, j, wmlc_dd_div(wmlc_dd_get(row, j), root));
	for (int k = factor->rank + 1; k < d; k++)
	{
		WmlcDdSpan	other = factor_row(factor, k);

		loops->add_multiple(d + 1, wmlc_dd_neg(wmlc_dd_get(row, factor->order[k])), row, other);
		wmlc_dd_set(other, column, wmlc_dd(0.0));
	}
}

/* Rows change places, columns stay where they are. */
static WmlcStatus
factor_pivoted(Factor *factor, WmlcPoll poll)
{
	for (int k = 0; k < factor->d; k++)
	{
		factor->order[k] = k;
		factor->diagonal[k] = factor_row(factor, k).hi[k];
	}
	for (factor->rank = 0; factor->rank < factor->d; factor->rank++)
	{
		int			column = factor->order[factor->rank];
		int			pivot;
		WmlcStatus	status = choose_pivot(factor, &pivot);

		if (status != WMLC_OK || pivot < 0)
			return status;
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		swap_rows(factor->d + 1, factor_row(factor, factor->rank), factor_row(factor, pivot));
		factor->order[factor->rank] = factor->order[pivot];
		factor->order[pivot] = column;
		eliminate(factor);
	}
	return WMLC_OK;
}

static void
measure_row(Factor *factor, int i)
{
	WmlcDdSpan	row = factor_row(factor, i);

	wmlc_dd_set(factor->squares, i, wmlc_dd_loops()->dot(factor->d, row, row));
}

/* The squared length of row i changes; measure anew when digits have cancelled. */
static void
change_square(Factor *factor, int i, WmlcDd change)
{
	WmlcDd		old = wmlc_dd_get(factor->squares, i);
	WmlcDd		new = wmlc_dd_add(old, change);

	wmlc_dd_set(factor->squares, i, new);
	if (!(new.hi > 0x1p-20 * old.hi))
		measure_row(factor, i);
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
rotate_rows(Factor *factor, int i, int k, WmlcDd overlap)
{
	double		tangent = jacobi_tangent(wmlc_dd_get(factor->squares, i),
										 wmlc_dd_get(factor->squares, k), overlap);
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
	wmlc_dd_vector_loops()->rotate(factor->d + 1, c, wmlc_dd_mul_d(c, tangent),
									 factor_row(factor, i), factor_row(factor, k));
	change_square(factor, i, change);
	change_square(factor, k, wmlc_dd_neg(change));
}

/* One sweep over all pairs; *done turns true when nothing was left to do. */
static WmlcStatus
sweep(Factor *factor, bool *done, WmlcPoll poll)
{
	const WmlcDdLoops *loops = wmlc_dd_loops();
	double		tolerance = factor->d * ORTHOGONAL;
	const double *squares = factor->squares.hi;

	*done = true;
	for (int i = 0; i < factor->rank; i++)
		measure_row(factor, i);
	for (int i = 0; i < factor->rank; i++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int k = i + 1; k < factor->rank; k++)
		{
			WmlcDd		overlap = loops->dot(factor->d, factor_row(factor, i),
											   factor_row(factor, k));

			if (fabs(overlap.hi) > tolerance * sqrt(squares[i]) * sqrt(squares[k]))
			{
				rotate_rows(factor, i, k, overlap);
				*done = false;
			}
		}
	}
	return WMLC_OK;
}

WmlcStatus
wmlc_spectral_rows(int d, int stride, WmlcDdSpan square, double count, bool orthogonal,
				   int *rank, double *work, WmlcPoll poll)
{
	Factor		factor = {
		.d = d,
		.stride = stride,
		.rows = square,
		.squares = {work, work + d},
		.diagonal = work + 2 * d,
		.order = (int *) (work + 3 * d),
		.zero_pivot = d * (ZERO_PIVOT + count * ROW_NOISE)
	};
	bool		done = !orthogonal;
	WmlcStatus	status = factor_pivoted(&factor, poll);

	*rank = factor.rank;
	for (int i = 0; status == WMLC_OK && !done; i++)
		status = i < MAX_SWEEPS ? sweep(&factor, &done, poll) : WMLC_NO_CONVERGENCE;
	return status;
}
