/*
 * solve.c
 *	  Symmetric positive semidefinite systems in double-double.
 *
 * 1. Scale rows and columns by powers of two, which is exact, to a diagonal of
 *	  about 1.  The condition number is then within a factor d of the least any
 *	  scaling can reach (van der Sluis 1969): units of features cost no digits.
 * 2. Cholesky with diagonal pivoting in double-double.  It finds the rank.
 * 3. Refine the solution with residuals in about 159 bits (Higham, "Accuracy
 *	  and Stability of Numerical Algorithms", chapter 12).  As long as the factor
 *	  is good to a few bits, that is for condition numbers up to about 1e28, the
 *	  solution becomes that of the sums as given, right to 15 digits or more; what
 *	  error is left is the error of the sums.
 * 4. Singular matrices continue in min_norm.c.
 */
#include "core/base/triangle.h"
#include "core/linalg/solve.h"

#include "core/linalg/min_norm.h"

/*
 * A pivot is the share of a column's squared length that is independent of the
 * columns before it.  At or below d (ZERO_PIVOT + rows * ROW_NOISE) it counts as
 * zero.
 *
 * Below lies noise.  Columns that are dependent but for the rounding of their
 * doubles (a + b, Celsius beside Fahrenheit) leave 1e-37 to 1e-32.  The sums of
 * n rows carry a relative error of at most n 2^-106: measured on such columns,
 * up to 8e-31 for 100 rows, 4e-29 for a million rows of random values, where
 * errors cancel, and 2e-33 n for columns of few distinct values (a price and
 * the price with tax), where they need not.  The factorisation added at most
 * 2e-28, at d = 200 and rank 100.
 *
 * Above lie honest problems.  The smallest pivot of a polynomial in the year
 * 1950 to 2020 is 1e-12 (cubic), 5e-23 (degree 5), 1e-27 (degree 6), that of
 * NIST's Filip 2e-18, of Longley 7e-9.
 */
#define ZERO_PIVOT 0x1p-95		/* 2.5e-29 */
#define ROW_NOISE 0x1p-107		/* 6.2e-33 */

/*
 * A remainder further below zero than this is no rounding error: half the digits
 * of a double, for a caller whose matrix was rounded to double on the way.
 */
#define CLEARLY_NEGATIVE 0x1p-26

/*
 * A remainder below zero can only be noise, and so measures the noise; others
 * up to this many times its size are not trusted either.
 */
#define NOISE_MARGIN 16.0

/*
 * Among pivots within this factor of the largest take the column that is
 * longest in the caller's units.  It keeps the rank as visible, and makes
 * dependent columns small multiples of independent ones, which the
 * minimum-norm solution wants.
 */
#define PIVOT_LEEWAY 16.0

/* Refinement ends with a correction this small relative to the solution. */
#define SMALL_CORRECTION 0x1p-80

/* From this pivot on the factor alone gives the inverse to 16 digits. */
#define EASY_PIVOT 0x1p-40

/* A zero diagonal that underflowed has no larger neighbours than this. */
#define UNDERFLOWED 0x1p-536

static WmlcDdSpan
carve(double **free_space, size_t n)
{
	WmlcDdSpan	span = {*free_space, *free_space + n};

	*free_space += 2 * n;
	return span;
}

size_t
wmlc_solve_workspace(int d)
{
	size_t		n = (size_t) d;

	return (3 * 2 * n * n + 5 * 2 * n + 2 * n) * sizeof(double) + 2 * n * sizeof(int);
}

static void
lay_out(WmlcSolver *solver, int d, void *work)
{
	double	   *space = work;
	size_t		n = (size_t) d;

	solver->d = d;
	solver->matrix = (WmlcSquare) {d, carve(&space, n * n)};
	solver->factor = (WmlcSquare) {d, carve(&space, n * n)};
	solver->overlap = (WmlcSquare) {d, carve(&space, n * n)};
	solver->remainder = carve(&space, n);
	solver->vector = carve(&space, n);
	solver->rhs = carve(&space, n);
	solver->solution = carve(&space, n);
	solver->correction = carve(&space, n);
	solver->scale = space;
	solver->diagonal = space + n;
	solver->column = (int *) (space + 2 * n);
	solver->depends_on = solver->column + n;
}

/* The power of two that brings a positive diagonal entry into [1/2, 2). */
static double
equilibrating_scale(double diagonal)
{
	return diagonal == 0.0 ? 1.0 : ldexp(1.0, -(int) floor((ilogb(diagonal) + 1) / 2.0));
}

/* Row i of the equilibrated matrix, right of the diagonal, and its mirror. */
static WmlcStatus
load_row(WmlcSolver *solver, int i, const double *hi, const double *lo)
{
	WmlcDdSpan	row = wmlc_square_row(solver->matrix, i);

	for (int j = i + 1; j < solver->d; j++)
	{
		WmlcDd		entry = wmlc_dd_normalize((WmlcDd) {hi[j - i], lo[j - i]});
		bool		empty = solver->diagonal[i] == 0.0 || solver->diagonal[j] == 0.0;

		if (!isfinite(entry.hi) || !isfinite(entry.lo))
			return WMLC_NOT_FINITE;
		entry = wmlc_dd_scale(entry, solver->scale[i]);
		entry = wmlc_dd_scale(entry, solver->scale[j]);

		/* the geometric mean of the two diagonal entries is below 2 */
		if (!(fabs(entry.hi) <= (empty ? UNDERFLOWED : 2.0 + CLEARLY_NEGATIVE)))
			return WMLC_NOT_POSITIVE;
		wmlc_dd_set(row, j, entry);
		wmlc_dd_set(wmlc_square_row(solver->matrix, j), i, entry);
	}
	return WMLC_OK;
}

/* Equilibrate A + ridge I into the square. */
static WmlcStatus
load(WmlcSolver *solver, int p, const double *hi, const double *lo, double ridge)
{
	int			d = solver->d;

	for (int i = 0; i < d; i++)
	{
		size_t		k = wmlc_triangle_index(p, i, i);
		WmlcDd		entry = wmlc_dd_normalize((WmlcDd) {hi[k], lo[k]});

		entry = wmlc_dd_add_d(entry, ridge);
		if (!isfinite(entry.hi) || !isfinite(entry.lo))
			return WMLC_NOT_FINITE;
		if (entry.hi < 0.0)
			return WMLC_NOT_POSITIVE;
		solver->column[i] = i;
		solver->scale[i] = equilibrating_scale(entry.hi);
		entry = wmlc_dd_scale(entry, solver->scale[i]);
		entry = wmlc_dd_scale(entry, solver->scale[i]);
		solver->diagonal[i] = entry.hi;
		wmlc_dd_set(wmlc_square_row(solver->matrix, i), i, entry);
		wmlc_dd_set(solver->remainder, i, entry);
	}
	for (int i = 0; i < d; i++)
	{
		size_t		k = wmlc_triangle_index(p, i, i);
		WmlcStatus	status = load_row(solver, i, hi + k, lo + k);

		if (status != WMLC_OK)
			return status;
	}
	return WMLC_OK;
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
exchange(WmlcSolver *solver, int i, int j)
{
	int			column = solver->column[i];

	if (i == j)
		return;
	solver->column[i] = solver->column[j];
	solver->column[j] = column;
	swap_doubles(&solver->scale[i], &solver->scale[j]);
	swap_doubles(&solver->diagonal[i], &solver->diagonal[j]);
	swap_doubles(&solver->remainder.hi[i], &solver->remainder.hi[j]);
	swap_doubles(&solver->remainder.lo[i], &solver->remainder.lo[j]);
	swap_symmetric(solver->matrix, solver->d, i, j);
	swap_symmetric(solver->factor, solver->d, i, j);
}

/* What share of column i is left unexplained. */
static double
share_left(const WmlcSolver *solver, int i)
{
	return solver->diagonal[i] == 0.0 ? 0.0 : solver->remainder.hi[i] / solver->diagonal[i];
}

/*
 * After k columns, move candidates that they explain behind the `candidates`
 * that are left.  Returns the new number, or -1 when the matrix is indefinite.
 */
static int
set_aside_dependent(WmlcSolver *solver, int k, int candidates)
{
	for (int i = k; i < candidates; i++)
	{
		double		share = share_left(solver, i);

		if (share < -CLEARLY_NEGATIVE)
			return -1;
		solver->tolerance = fmax(solver->tolerance, -NOISE_MARGIN * share);
	}
	for (int i = candidates - 1; i >= k; i--)
	{
		if (share_left(solver, i) <= solver->tolerance)
		{
			candidates--;
			exchange(solver, i, candidates);
			solver->depends_on[candidates] = k;
		}
	}
	return candidates;
}

/* Is column i a better pivot than j, neither being much shorter than it was? */
static bool
comes_before(const WmlcSolver *solver, int i, int j)
{
	if (solver->scale[i] != solver->scale[j])
		return solver->scale[i] < solver->scale[j];
	if (share_left(solver, i) != share_left(solver, j))
		return share_left(solver, i) > share_left(solver, j);
	return solver->column[i] < solver->column[j];
}

static int
choose_pivot(const WmlcSolver *solver, int k, int candidates)
{
	double		largest = 0.0;
	int			choice = -1;

	for (int i = k; i < candidates; i++)
		largest = fmax(largest, share_left(solver, i));
	for (int i = k; i < candidates; i++)
	{
		if (share_left(solver, i) * PIVOT_LEEWAY >= largest &&
			(choice < 0 || comes_before(solver, i, choice)))
			choice = i;
	}
	return choice;
}

/*
 * What the independent columns leave of the others must be noise off the
 * diagonal as it is on it, or the matrix is indefinite.
 */
static WmlcStatus
check_dependent(const WmlcSolver *solver, WmlcPoll poll)
{
	for (int i = solver->rank; i < solver->d; i++)
	{
		WmlcDdSpan	factor_i = wmlc_square_row(solver->factor, i);
		WmlcDdSpan	matrix_i = wmlc_square_row(solver->matrix, i);

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int j = solver->rank; j < i; j++)
		{
			int			n = solver->depends_on[i] < solver->depends_on[j] ?
				solver->depends_on[i] : solver->depends_on[j];
			WmlcDd		explained = solver->loops->dot(n, factor_i,
														 wmlc_square_row(solver->factor, j));

			if (fabs(matrix_i.hi[j] - explained.hi) > CLEARLY_NEGATIVE)
				return WMLC_NOT_POSITIVE;
		}
	}
	return WMLC_OK;
}

static WmlcStatus
factor_pivoted(WmlcSolver *solver, WmlcPoll poll)
{
	int			candidates = set_aside_dependent(solver, 0, solver->d);

	solver->rank = 0;
	solver->smallest_pivot = 1.0;
	while (solver->rank < candidates)
	{
		int			k = solver->rank;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		exchange(solver, k, choose_pivot(solver, k, candidates));
		solver->smallest_pivot = fmin(solver->smallest_pivot, share_left(solver, k));
		wmlc_cholesky_column(solver->loops, solver->factor, k, candidates, solver->remainder);
		solver->rank = k + 1;
		candidates = set_aside_dependent(solver, k + 1, candidates);
		if (candidates < 0)
			return WMLC_NOT_POSITIVE;
	}
	return check_dependent(solver, poll);
}

WmlcStatus
wmlc_solve_factor(WmlcSolver *solver, int d, int p, const double *hi, const double *lo,
				  double rows, double ridge, void *work, WmlcPoll poll)
{
	WmlcStatus	status;

	lay_out(solver, d, work);
	solver->loops = wmlc_dd_loops();
	solver->tolerance = d * (ZERO_PIVOT + rows * ROW_NOISE);
	status = load(solver, p, hi, lo, ridge);
	if (status != WMLC_OK)
		return status;
	for (size_t i = 0; i < (size_t) d * d; i++)
		wmlc_dd_set(solver->factor.span, i, wmlc_dd_get(solver->matrix.span, i));
	status = factor_pivoted(solver, poll);
	if (status == WMLC_OK && solver->rank < d)
		status = wmlc_min_norm_prepare(solver, poll);
	return status;
}

static double
largest_entry(int n, WmlcDdSpan x)
{
	double		largest = 0.0;

	for (int i = 0; i < n; i++)
		largest = fmax(largest, fabs(x.hi[i]));
	return largest;
}

/* Solution of the leading n x n block of the equilibrated matrix for `rhs`. */
static WmlcStatus
solve_refined(WmlcSolver *solver, int n, WmlcPoll poll)
{
	WmlcDdSpan	rhs = solver->rhs;
	WmlcDdSpan	x = solver->solution;
	WmlcDdSpan	correction = solver->correction;
	double		previous = INFINITY;

	for (int i = 0; i < n; i++)
	{
		wmlc_dd_set(x, i, wmlc_dd(0.0));
		wmlc_dd_set(correction, i, wmlc_dd_get(rhs, i));
	}
	for (;;)
	{
		double		size;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		wmlc_cholesky_solve(solver->loops, solver->factor, n, correction);
		size = largest_entry(n, correction);
		if (size > previous / 2.0)
			return WMLC_OK;		/* no more progress */
		for (int i = 0; i < n; i++)
			wmlc_dd_set(x, i, wmlc_dd_add(wmlc_dd_get(x, i), wmlc_dd_get(correction, i)));
		if (!(size > SMALL_CORRECTION * largest_entry(n, x)))
			return WMLC_OK;
		previous = size;
		for (int i = 0; i < n; i++)
			wmlc_dd_set(correction, i,
						solver->loops->residual(wmlc_dd_get(rhs, i), n,
												  wmlc_square_row(solver->matrix, i), x));
	}
}

WmlcStatus
wmlc_solve_leading(WmlcSolver *solver, int n, WmlcDdSpan v, WmlcPoll poll)
{
	WmlcStatus	status;

	for (int i = 0; i < n; i++)
		wmlc_dd_set(solver->rhs, i, wmlc_dd_scale(wmlc_dd_get(v, i), solver->scale[i]));
	status = solve_refined(solver, n, poll);
	for (int i = 0; i < n; i++)
		wmlc_dd_set(v, i, wmlc_dd_scale(wmlc_dd_get(solver->solution, i), solver->scale[i]));
	return status;
}

/* solver->vector = (A + ridge I)^-1 solver->vector */
static WmlcStatus
solve_vector(WmlcSolver *solver, WmlcPoll poll)
{
	if (solver->rank < solver->d)
		return wmlc_min_norm_solve(solver, solver->vector, poll);
	return wmlc_solve_leading(solver, solver->d, solver->vector, poll);
}

WmlcStatus
wmlc_solve(WmlcSolver *solver, const WmlcDd *b, WmlcDd *w, WmlcPoll poll)
{
	double		largest = 0.0;
	double		unit;
	WmlcStatus	status;

	for (int i = 0; i < solver->d; i++)
	{
		if (!isfinite(b[i].hi) || !isfinite(b[i].lo))
			return WMLC_NOT_FINITE;
		largest = fmax(largest, fabs(b[i].hi));
	}

	/* keep products of b away from underflow and overflow */
	unit = largest == 0.0 ? 1.0 : ldexp(1.0, ilogb(largest) < -1000 ? -1000 : ilogb(largest));
	for (int i = 0; i < solver->d; i++)
		wmlc_dd_set(solver->vector, i,
					wmlc_dd_scale(wmlc_dd_normalize(b[solver->column[i]]), 1.0 / unit));
	status = solve_vector(solver, poll);
	if (status != WMLC_OK)
		return status;
	for (int i = 0; i < solver->d; i++)
	{
		WmlcDd		value = wmlc_dd_scale(wmlc_dd_get(solver->vector, i), unit);

		if (!isfinite(value.hi) || !isfinite(value.lo))
			return WMLC_NOT_FINITE;
		w[solver->column[i]] = value;
	}
	return WMLC_OK;
}

/* Entry (i, i) of the inverse, from the factor alone or by refinement. */
static WmlcStatus
inverse_entry(WmlcSolver *solver, int i, WmlcDd *entry, WmlcPoll poll)
{
	WmlcDdSpan	v = solver->vector;
	WmlcStatus	status;

	for (int k = 0; k < solver->d; k++)
		wmlc_dd_set(v, k, wmlc_dd(k == i ? 1.0 : 0.0));
	if (solver->rank == solver->d && solver->smallest_pivot > EASY_PIVOT)
	{
		WmlcDdSpan	tail = wmlc_dd_from(v, i);

		/* the squared length of column i of L^-1 */
		wmlc_cholesky_forward(solver->loops, solver->factor, i, solver->d, v);
		*entry = solver->loops->dot(solver->d - i, tail, tail);
		*entry = wmlc_dd_scale(*entry, solver->scale[i]);
		*entry = wmlc_dd_scale(*entry, solver->scale[i]);
		return wmlc_interrupted(poll) ? WMLC_INTERRUPTED : WMLC_OK;
	}
	status = solve_vector(solver, poll);
	*entry = wmlc_dd_get(v, i);
	return status;
}

WmlcStatus
wmlc_solve_inverse_diagonal(WmlcSolver *solver, WmlcDd *diagonal, WmlcPoll poll)
{
	for (int i = 0; i < solver->d; i++)
	{
		WmlcDd	   *entry = &diagonal[solver->column[i]];
		WmlcStatus	status = inverse_entry(solver, i, entry, poll);

		if (status != WMLC_OK)
			return status;
		if (!isfinite(entry->hi) || !isfinite(entry->lo))
			return WMLC_NOT_FINITE;
	}
	return WMLC_OK;
}
