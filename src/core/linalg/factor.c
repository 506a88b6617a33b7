/*
 * factor.c
 *	  Cholesky's factorisation with diagonal pivoting, in double-double.
 */
#include "core/linalg/factor.h"

#include <string.h>

#include "core/base/triangle.h"
#include "core/linalg/tolerance.h"

/*
 * Among pivots within this factor of the largest take the column that is
 * longest in the caller's units.  It keeps the rank as visible, and makes
 * dependent columns small multiples of independent ones, which the
 * minimum-norm solution wants.
 */
#define PIVOT_LEEWAY 16.0

/* A zero diagonal that underflowed has no larger neighbours than this. */
#define UNDERFLOWED 0x1p-536

void
wmlc_factor_layout(WmlcFactor *factor, int d, bool passenger, WmlcArena *arena)
{
	size_t		size = passenger ? d + 1 : d;

	*factor = (WmlcFactor) {.d = d, .size = (int) size, .loops = wmlc_dd_loops()};
	factor->remainder = wmlc_arena_span(arena, size);
	factor->scale = wmlc_arena_doubles(arena, size);
	factor->diagonal = wmlc_arena_doubles(arena, size);
	factor->column = wmlc_arena_take(arena, size, sizeof(int));
	factor->depends_on = wmlc_arena_take(arena, size, sizeof(int));
}

void
wmlc_factor_load(const WmlcFactor *factor, int p, const double *hi, const double *lo, double ridge)
{
	for (int i = 0; i < factor->size; i++)
	{
		WmlcDdSpan	row = wmlc_square_row(factor->square, i);
		size_t		first = wmlc_triangle_index(p, i, i);

		for (int j = i; j < factor->size; j++)
		{
			size_t		k = first + (j - i);
			WmlcDd		entry = wmlc_dd_normalize((WmlcDd) {hi[k], lo[k]});

			if (i == j)
				entry = wmlc_dd_add_d(entry, ridge);
			wmlc_dd_set(row, j, entry);
			wmlc_dd_set(wmlc_square_row(factor->square, j), i, entry);
		}
	}
}

double
wmlc_equilibrating_scale(double diagonal)
{
	return !(diagonal > 0.0) ? 1.0 : ldexp(1.0, -(int) floor((ilogb(diagonal) + 1) / 2.0));
}

static WmlcDd
scaled_entry(const WmlcFactor *factor, int i, int j)
{
	WmlcDd		entry = wmlc_dd_get(wmlc_square_row(factor->square, i), j);

	return wmlc_dd_scale(wmlc_dd_scale(entry, factor->scale[i]), factor->scale[j]);
}

/* Scale row i of the square right of the diagonal, and its mirror. */
static WmlcStatus
equilibrate_row(const WmlcFactor *factor, int i)
{
	for (int j = i + 1; j < factor->size; j++)
	{
		WmlcDd		entry = scaled_entry(factor, i, j);
		bool		empty = factor->diagonal[i] == 0.0 || factor->diagonal[j] == 0.0;

		if (!wmlc_dd_is_finite(wmlc_dd_get(wmlc_square_row(factor->square, i), j)))
			return WMLC_NOT_FINITE;

		/* the geometric mean of the two diagonal entries is below 2 */
		if (j < factor->d &&
			!(fabs(entry.hi) <= (empty ? UNDERFLOWED : 2.0 + WMLC_CLEARLY_NEGATIVE)))
			return WMLC_NOT_POSITIVE;
		wmlc_dd_set(wmlc_square_row(factor->square, i), j, entry);
		wmlc_dd_set(wmlc_square_row(factor->square, j), i, entry);
	}
	return WMLC_OK;
}

static WmlcStatus
equilibrate(const WmlcFactor *factor)
{
	WmlcStatus	status = WMLC_OK;

	for (int i = 0; i < factor->size; i++)
	{
		WmlcDdSpan	row = wmlc_square_row(factor->square, i);
		WmlcDd		entry = wmlc_dd_get(row, i);

		if (!wmlc_dd_is_finite(entry))
			return WMLC_NOT_FINITE;
		if (entry.hi < 0.0 && i < factor->d)
			return WMLC_NOT_POSITIVE;
		factor->column[i] = i;
		factor->scale[i] = wmlc_equilibrating_scale(entry.hi);
		entry = scaled_entry(factor, i, i);
		factor->diagonal[i] = entry.hi;
		wmlc_dd_set(row, i, entry);
		wmlc_dd_set(factor->remainder, i, entry);
	}
	for (int i = 0; i < factor->size && status == WMLC_OK; i++)
		status = equilibrate_row(factor, i);
	return status;
}

static void
copy_square(WmlcSquare from, WmlcSquare to, int n)
{
	for (int i = 0; i < n; i++)
	{
		memcpy(wmlc_square_row(to, i).hi, wmlc_square_row(from, i).hi, n * sizeof(double));
		memcpy(wmlc_square_row(to, i).lo, wmlc_square_row(from, i).lo, n * sizeof(double));
	}
}

static void
swap_doubles(double *a, double *b)
{
	double		t = *a;

	*a = *b;
	*b = t;
}

static void
swap_symmetric(WmlcSquare square, int n, int i, int j)
{
	WmlcDdSpan	row_i = wmlc_square_row(square, i);
	WmlcDdSpan	row_j = wmlc_square_row(square, j);

	for (int k = 0; k < n; k++)
	{
		swap_doubles(&row_i.hi[k], &row_j.hi[k]);
		swap_doubles(&row_i.lo[k], &row_j.lo[k]);
	}
	for (int k = 0; k < n; k++)
	{
		WmlcDdSpan	row = wmlc_square_row(square, k);

		swap_doubles(&row.hi[i], &row.hi[j]);
		swap_doubles(&row.lo[i], &row.lo[j]);
	}
}

/* Exchange two positions of the order of elimination. */
static void
exchange(WmlcFactor *factor, int i, int j)
{
	int			column = factor->column[i];

	if (i == j)
		return;
	factor->column[i] = factor->column[j];
	factor->column[j] = column;
	swap_doubles(&factor->scale[i], &factor->scale[j]);
	swap_doubles(&factor->diagonal[i], &factor->diagonal[j]);
	swap_doubles(&factor->remainder.hi[i], &factor->remainder.hi[j]);
	swap_doubles(&factor->remainder.lo[i], &factor->remainder.lo[j]);
	swap_symmetric(factor->square, factor->size, i, j);
	if (factor->matrix.span.hi != NULL)
		swap_symmetric(factor->matrix, factor->size, i, j);
}

/* What share of column i is left unexplained. */
static double
share_left(const WmlcFactor *factor, int i)
{
	return factor->diagonal[i] == 0.0 ? 0.0 : factor->remainder.hi[i] / factor->diagonal[i];
}

/*
 * After k columns, move candidates that they explain behind the `candidates`
 * that are left.  Returns the new number, or -1 when the matrix is indefinite.
 */
static int
set_aside_dependent(WmlcFactor *factor, int k, int candidates)
{
	for (int i = k; i < candidates; i++)
	{
		double		share = share_left(factor, i);

		if (share < -WMLC_CLEARLY_NEGATIVE)
			return -1;
		factor->tolerance = fmax(factor->tolerance, -WMLC_NOISE_MARGIN * share);
	}
	for (int i = candidates - 1; i >= k; i--)
	{
		if (share_left(factor, i) <= factor->tolerance)
		{
			candidates--;
			exchange(factor, i, candidates);
			factor->depends_on[candidates] = k;
		}
	}
	return candidates;
}

/* Is column i a better pivot than j, neither being much shorter than it was? */
static bool
comes_before(const WmlcFactor *factor, int i, int j)
{
	if (factor->scale[i] != factor->scale[j] && !factor->by_share)
		return factor->scale[i] < factor->scale[j];
	if (share_left(factor, i) != share_left(factor, j))
		return share_left(factor, i) > share_left(factor, j);
	return factor->column[i] < factor->column[j];
}

static int
choose_pivot(const WmlcFactor *factor, int k, int candidates)
{
	double		leeway = factor->by_share ? 1.0 : PIVOT_LEEWAY;
	double		largest = 0.0;
	int			choice = -1;

	for (int i = k; i < candidates; i++)
		largest = fmax(largest, share_left(factor, i));
	for (int i = k; i < candidates; i++)
	{
		if (share_left(factor, i) * leeway >= largest &&
			(choice < 0 || comes_before(factor, i, choice)))
			choice = i;
	}
	return choice;
}

/*
 * What the independent columns leave of the others must be noise off the
 * diagonal as it is on it, or the matrix is indefinite.
 */
static WmlcStatus
check_dependent(const WmlcFactor *factor, WmlcPoll poll)
{
	for (int i = factor->rank; i < factor->d; i++)
	{
		WmlcDdSpan	row = wmlc_square_row(factor->square, i);

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int j = factor->rank; j < i; j++)
		{
			int			n = factor->depends_on[i] < factor->depends_on[j] ?
				factor->depends_on[i] : factor->depends_on[j];
			WmlcDd		explained = factor->loops->dot(n, row, wmlc_square_row(factor->square, j));

			/* between dependent columns the square still holds the matrix */
			if (fabs(row.hi[j] - explained.hi) > WMLC_CLEARLY_NEGATIVE)
				return WMLC_NOT_POSITIVE;
		}
	}
	return WMLC_OK;
}

/* Columns beyond the candidates need no more of the factor, a passenger does. */
static void
eliminate(WmlcFactor *factor, int k, int candidates)
{
	wmlc_cholesky_column(factor->loops, factor->square, k, candidates, factor->remainder);
	if (factor->size > factor->d)
		wmlc_cholesky_entry(factor->loops, factor->square, k, factor->d, factor->remainder);
}

WmlcStatus
wmlc_factor(WmlcFactor *factor, double tolerance, WmlcPoll poll)
{
	int			candidates;
	WmlcStatus	status = equilibrate(factor);

	factor->rank = 0;
	factor->smallest_pivot = 1.0;
	factor->tolerance = tolerance;
	if (status != WMLC_OK)
		return status;
	if (factor->matrix.span.hi != NULL)
		copy_square(factor->square, factor->matrix, factor->size);
	candidates = set_aside_dependent(factor, 0, factor->d);
	while (factor->rank < candidates)
	{
		int			k = factor->rank;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		exchange(factor, k, choose_pivot(factor, k, candidates));
		factor->smallest_pivot = fmin(factor->smallest_pivot, share_left(factor, k));
		eliminate(factor, k, candidates);
		factor->rank = k + 1;
		candidates = set_aside_dependent(factor, k + 1, candidates);
		if (candidates < 0)
			return WMLC_NOT_POSITIVE;
	}
	return check_dependent(factor, poll);
}

void
wmlc_factor_inverse(const WmlcFactor *factor, WmlcSquare inverse, WmlcDdSpan column)
{
	int			rank = factor->rank;

	for (int i = 0; i < rank; i++)
	{
		memset(wmlc_square_row(inverse, i).hi, 0, factor->d * sizeof(double));
		memset(wmlc_square_row(inverse, i).lo, 0, factor->d * sizeof(double));
	}
	for (int k = 0; k < rank; k++)
	{
		for (int i = 0; i < rank; i++)
			wmlc_dd_set(column, i, wmlc_dd(i == k ? factor->scale[k] : 0.0));
		wmlc_cholesky_forward(factor->loops, factor->square, k, rank, column);
		for (int i = k; i < rank; i++)
			wmlc_dd_set(wmlc_square_row(inverse, i), factor->column[k], wmlc_dd_get(column, i));
	}
}
