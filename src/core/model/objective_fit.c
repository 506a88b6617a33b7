/*
 * objective_fit.c
 *	  From what objective.c has added up to the coefficients.
 *
 * Usually that is one positive semidefinite system.  Otherwise, with equations
 * of very different weights beside it, or with negative ones, everything becomes
 * equations.
 */
#include "core/model/objective.h"

#include <cblas.h>
#include <string.h>

#include "core/linalg/solve.h"
#include "core/linalg/spectral.h"
#include "core/gram/task.h"

/* Unknowns when a saddle point is solved for: see collect_indefinite. */
static int
max_unknowns(WmlcObjectiveKind kind, int d)
{
	return kind == WMLC_FOMAML || kind == WMLC_REPTILE ? 3 * d : d;
}

size_t
wmlc_objective_fit_workspace(WmlcObjectiveKind kind, int d)
{
	int			n = max_unknowns(kind, d);
	size_t		bytes = 10 * (size_t) (d + 1) * sizeof(double) + wmlc_solve_workspace(d);

	if (kind == WMLC_ERM)
		return bytes;
	return bytes + wmlc_spectral_workspace(d) +
		(wmlc_objective_matrix_doubles(d) + 2 * wmlc_triangle_size(n + 1) + 3 * (n + 1)) * sizeof(double);
}

/* The usual case: everything is in one positive semidefinite matrix. */
static WmlcStatus
solve_sums(const WmlcObjectiveSum *sum, double ridge, WmlcDd *w, int *rank, double *work,
		   WmlcPoll poll)
{
	int			d = sum->d;
	WmlcDd	   *b = (WmlcDd *) work;
	WmlcSolver	solver;
	WmlcStatus	status = wmlc_solve_factor(&solver, d, d + 1, sum->sums.hi, sum->sums.lo,
										   *sum->rows, ridge, b + d, poll);

	if (status != WMLC_OK)
		return status;
	for (int i = 0; i < d; i++)
		b[i] = wmlc_dd_get(sum->sums, wmlc_triangle_index(d + 1, i, d));
	*rank = solver.factor.rank;
	return wmlc_solve(&solver, b, w, poll);
}

/* What solve_equations works on. */
typedef struct Reduction
{
	const WmlcObjectiveSum *sum;
	const int  *columns;		/* independent features */
	int			rank;			/* how many */
	int			stride;
	WmlcDdSpan	square;			/* sums + ridge I */
	WmlcEquations equations;	/* for the coefficients of those features */
	WmlcDdSpan	row;
	double	   *scale;			/* of its columns */
	double	   *scratch;
	WmlcPoll	poll;
} Reduction;

/* Scales of the unknowns: auxiliary ones first, then the coefficients. */
static void
set_scale(const Reduction *reduction, int auxiliary)
{
	for (int k = 0; k < auxiliary; k++)
		reduction->scale[k] = 1.0;
	for (int k = 0; k < reduction->rank; k++)
	{
		int			i = reduction->columns[k];
		size_t		diagonal = wmlc_triangle_index(reduction->sum->d + 1, i, i);

		reduction->scale[auxiliary + k] =
			wmlc_equations_scale(reduction->sum->plain.hi[diagonal]);
	}
}

static WmlcStatus
add_equation(const Reduction *reduction, const WmlcEquations *equations)
{
	return wmlc_interrupted(reduction->poll) ? WMLC_INTERRUPTED
		: wmlc_equations_add(equations, reduction->row);
}

/* Row i of the sums, for the independent features and the right-hand side. */
static void
reduce_sums(const Reduction *reduction, int i, double factor, WmlcDdSpan reduced)
{
	WmlcDdSpan	row = wmlc_dd_from(reduction->square, (size_t) i * reduction->stride);

	for (int k = 0; k < reduction->rank; k++)
		wmlc_dd_set(reduced, k,
					wmlc_dd_scale(wmlc_dd_get(row, reduction->columns[k]), factor));
	wmlc_dd_set(reduced, reduction->rank,
				wmlc_dd_scale(wmlc_dd_get(row, reduction->sum->d), factor));
}

/* Coefficient j, or with j = d the right-hand side, of equation i of a set. */
static WmlcDd
coefficient(const WmlcEquations *equations, int i, int j)
{
	double		scale = j < equations->d ? 1.0 / equations->scale[j] : 1.0;

	return j < i ? wmlc_dd(0.0)
		: wmlc_dd_scale(wmlc_dd_get(wmlc_equations_row(equations, i), j - i), scale);
}

/* The same as reduce_sums for equation i of a set. */
static void
reduce_equation(const Reduction *reduction, const WmlcEquations *equations, int i, double factor,
				WmlcDdSpan reduced)
{
	for (int k = 0; k < reduction->rank; k++)
		wmlc_dd_set(reduced, k,
					wmlc_dd_scale(coefficient(equations, i, reduction->columns[k]), factor));
	wmlc_dd_set(reduced, reduction->rank,
				wmlc_dd_scale(coefficient(equations, i, equations->d), factor));
}

/*
 * Least squares: a positive semidefinite matrix is as many equations as its
 * factor has rows, which join the others.
 */
static WmlcStatus
collect_definite(Reduction *reduction)
{
	const WmlcObjectiveSum *sum = reduction->sum;
	int			count;
	WmlcStatus	status = wmlc_spectral_rows(sum->d, reduction->stride, reduction->square,
											*sum->rows, false, &count, reduction->scratch,
											reduction->poll);

	set_scale(reduction, 0);
	reduction->equations.d = reduction->rank;
	reduction->equations.scale = reduction->scale;
	for (int i = 0; i < count && status == WMLC_OK; i++)
	{
		reduce_sums(reduction, i, 1.0, reduction->row);
		status = add_equation(reduction, &reduction->equations);
	}
	for (int i = 0; i < sum->d && status == WMLC_OK; i++)
	{
		reduce_equation(reduction, &sum->equations[0], i, 1.0, reduction->row);
		status = add_equation(reduction, &reduction->equations);
	}
	return status;
}

/* Equations of both sets that are not empty: which set, which row, what size. */
typedef struct Entry
{
	int			set;
	int			i;
	double		unit;			/* a power of two that brings the row to size 1 */
} Entry;

/* The power of two, whose square exists, that brings a size close to 1. */
static double
about_one(double size)
{
	int			exponent = ilogb(size);

	return ldexp(1.0, exponent > 500 ? -500 : exponent < -500 ? 500 : -exponent);
}

static int
list_entries(const WmlcObjectiveSum *sum, Entry *entries)
{
	int			count = 0;

	for (int set = 0; set < sum->sets; set++)
	{
		for (int i = 0; i < sum->d; i++)
		{
			WmlcDdSpan	row = wmlc_equations_row(&sum->equations[set], i);
			double		size = fabs(row.hi[cblas_idamax(sum->d - i, row.hi, 1)]);

			if (size > 0.0)
				entries[count++] = (Entry) {set, i, about_one(size)};
		}
	}
	return count;
}

/*
 * A saddle point: solve C w - c + R'(R w - q) - N'(N w - n) = 0, where C, c are the
 * sums, R and N the equations with positive and negative P.  Their products
 * would lose the light rows, so take r = q - R w and s = n - N w as unknowns,
 *
 *	  r + R w = q,	s + N w = n,  R' r - N' s - C w = -c,
 *
 * with each row of R and N brought to size 1 and r, s scaled to match: a heavy
 * equation then has next to no r and becomes a constraint.  The unknowns w come
 * last, so that the last rows of the triangle are equations for w alone.
 */
static WmlcStatus
collect_indefinite(Reduction *reduction)
{
	const WmlcObjectiveSum *sum = reduction->sum;
	Entry	   *entries = (Entry *) reduction->scratch;
	int			count = list_entries(sum, entries);
	int			unknowns = count + reduction->rank;
	WmlcEquations all = {unknowns, reduction->scale, reduction->equations.triangle, count};
	WmlcDdSpan	row = reduction->row;
	WmlcDdSpan	tail = wmlc_dd_from(row, count);
	WmlcStatus	status = WMLC_OK;

	set_scale(reduction, count);
	for (int e = 0; e < count && status == WMLC_OK; e++)
	{
		double		unit = entries[e].unit;

		memset(row.hi, 0, count * sizeof(double));
		memset(row.lo, 0, count * sizeof(double));
		row.hi[e] = unit * unit;
		reduce_equation(reduction, &sum->equations[entries[e].set], entries[e].i, unit, tail);
		status = add_equation(reduction, &all);
	}
	for (int k = 0; k < reduction->rank && status == WMLC_OK; k++)
	{
		int			column = reduction->columns[k];

		for (int e = 0; e < count; e++)
		{
			double		factor = entries[e].set == 0 ? entries[e].unit : -entries[e].unit;

			wmlc_dd_set(row, e,
						wmlc_dd_scale(coefficient(&sum->equations[entries[e].set], entries[e].i,
												  column), factor));
		}
		reduce_sums(reduction, column, -1.0, tail);
		status = add_equation(reduction, &all);
	}
	reduction->equations = (WmlcEquations) {
		reduction->rank, reduction->scale + count,
		wmlc_dd_from(all.triangle, wmlc_triangle_index(unknowns + 1, count, count)), 0
	};
	return status;
}

/*
 * From a solution in terms of independent features to the one of least norm in
 * terms of all: w = pinv(S) S basic, S = sum_j alpha_j A_j.
 */
static WmlcStatus
spread_solution(const Reduction *reduction, WmlcSolver *solver, const WmlcDd *basic, WmlcDd *w)
{
	int			d = reduction->sum->d;
	WmlcDd	   *b = (WmlcDd *) reduction->scratch;

	for (int i = 0; i < d; i++)
	{
		b[i] = wmlc_dd(0.0);
		for (int k = 0; k < reduction->rank; k++)
		{
			int			j = reduction->columns[k];
			size_t		entry = i < j ? wmlc_triangle_index(d + 1, i, j)
				: wmlc_triangle_index(d + 1, j, i);

			b[i] = wmlc_dd_add(b[i], wmlc_dd_mul(wmlc_dd_get(reduction->sum->plain, entry),
												 basic[k]));
		}
	}
	return wmlc_solve(solver, b, w, reduction->poll);
}

/*
 * With equations beside the sums, or with sums that are indefinite.  Which
 * features depend on others is best seen without the weights: P(T) A has the
 * null space of A.  So the plain sum says which features are independent, and
 * the equations are solved for those.
 */
static WmlcStatus
solve_equations(const WmlcObjectiveSum *sum, double ridge, WmlcDd *w, int *rank, double *work,
				WmlcPoll poll)
{
	int			d = sum->d;
	int			n = max_unknowns(sum->kind, d);
	size_t		entries = wmlc_triangle_size(n + 1);
	Reduction	reduction = {.sum = sum, .stride = wmlc_dd_stride(d + 1), .poll = poll};
	WmlcDd	   *basic = (WmlcDd *) work;
	WmlcSolver	solver;
	WmlcStatus	status;

	work += 2 * d;
	reduction.row = (WmlcDdSpan) {work, work + n + 1};
	work += 2 * (n + 1);
	reduction.scale = work;
	work += n;
	reduction.scratch = work;
	work += 4 * d + wmlc_spectral_workspace(d) / sizeof(double);
	reduction.square = (WmlcDdSpan) {work, work + wmlc_objective_matrix_doubles(d) / 2};
	work += wmlc_objective_matrix_doubles(d);
	reduction.equations.triangle = (WmlcDdSpan) {work, work + entries};
	memset(work, 0, 2 * entries * sizeof(double));
	work += 2 * entries;

	status = wmlc_solve_factor(&solver, d, d + 1, sum->plain.hi, sum->plain.lo, *sum->rows, ridge,
							   work, poll);
	if (status != WMLC_OK)
		return status;
	reduction.columns = solver.factor.column;
	reduction.rank = solver.factor.rank;
	wmlc_unpack_triangle(d + 1, sum->sums.hi, sum->sums.lo, reduction.stride, reduction.square);
	for (int i = 0; i < d; i++)
	{
		size_t		k = (size_t) i * reduction.stride + i;

		wmlc_dd_set(reduction.square, k, wmlc_dd_add_d(wmlc_dd_get(reduction.square, k), ridge));
	}
	status = *sum->indefinite == 0.0 ? collect_definite(&reduction)
		: collect_indefinite(&reduction);
	if (status == WMLC_OK)
		status = wmlc_equations_solve(&reduction.equations, basic, rank);
	if (status == WMLC_OK && *rank < d)
		return spread_solution(&reduction, &solver, basic, w);
	for (int k = 0; k < d && status == WMLC_OK; k++)
		w[solver.factor.column[k]] = basic[k];
	return status;
}

WmlcStatus
wmlc_objective_fit(const WmlcObjectiveSum *sum, double ridge, double *w, int *rank, void *work,
				   WmlcPoll poll)
{
	WmlcDd	   *solution = work;
	double	   *rest = (double *) (solution + sum->d);
	double		alpha = wmlc_dd_value((WmlcDd) {sum->alpha[0], sum->alpha[1]});
	WmlcStatus	status;

	if (!isfinite(alpha))
		return WMLC_NOT_FINITE;
	if (!(alpha > 0.0))
		return WMLC_EMPTY;
	ridge = ridge * alpha / sum->unit[0];
	if (*sum->indefinite == 0.0 && *sum->has_equations == 0.0)
		status = solve_sums(sum, ridge, solution, rank, rest, poll);
	else
		status = solve_equations(sum, ridge, solution, rank, rest, poll);
	for (int i = 0; i < sum->d && status == WMLC_OK; i++)
		w[i] = wmlc_dd_value(solution[i]);
	return status;
}
