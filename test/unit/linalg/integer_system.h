/*
 * integer_system.h
 *	  Systems A w = b of integers, for tests of the solver: b is made from w, so
 *	  the answer is known exactly.
 */
#ifndef WML_UNIT_INTEGER_SYSTEM_H
#define WML_UNIT_INTEGER_SYSTEM_H

#include <stdlib.h>
#include <string.h>

#include "core/gram/gram_loops.h"
#include "core/linalg/solve.h"

#include "check.h"

typedef __int128 Integer;

#define MAX_D 160
#define MAX_ROWS 200

/* A system, its integer matrix, and what the solver says of it. */
typedef struct System
{
	int			d;
	int			rows;
	int64_t		x[MAX_ROWS][MAX_D];
	Integer		a[MAX_D][MAX_D];
	double		hi[(MAX_D + 1) * (MAX_D + 2) / 2];
	double		lo[(MAX_D + 1) * (MAX_D + 2) / 2];
	void	   *work;
	WmlcSolver	solver;
} System;

static System sys;

static uint64_t seed = 20240607;

static inline int
random_integer(int limit)
{
	return (int) floor(check_random(&seed) * (2 * limit + 1)) - limit;
}

/* Exact when the number has at most 106 bits. */
static inline WmlcDd
from_integer(Integer v)
{
	WmlcDd		a = {(double) v, 0.0};

	a.lo = (double) (v - (Integer) a.hi);
	if ((Integer) a.hi + (Integer) a.lo != v)
		CHECK(false, "an integer of the test is too long");
	return a;
}

static inline WmlcStatus
factor(double ridge)
{
	free(sys.work);
	sys.work = malloc(wmlc_solve_workspace(sys.d));
	return wmlc_solve_factor(&sys.solver, sys.d, sys.d + 1, sys.hi, sys.lo, sys.rows, ridge,
							 sys.work, NULL);
}

static inline void
set_entry(int i, int j, WmlcDd value)
{
	size_t		k = wmlc_triangle_index(sys.d + 1, i, j);

	sys.hi[k] = value.hi;
	sys.lo[k] = value.lo;
}

static inline void
pack_integers(void)
{
	for (int i = 0; i < sys.d; i++)
		for (int j = i; j < sys.d; j++)
			set_entry(i, j, from_integer(sys.a[i][j]));
}

/* A = X'X of the rows in sys.x */
static inline void
sum_rows(int d, int rows)
{
	sys.d = d;
	sys.rows = rows;
	for (int i = 0; i < d; i++)
		for (int j = 0; j < d; j++)
		{
			sys.a[i][j] = 0;
			for (int r = 0; r < rows; r++)
				sys.a[i][j] += (Integer) sys.x[r][i] * sys.x[r][j];
		}
	pack_integers();
}

static inline void
multiply(const Integer *w, Integer *b)
{
	for (int i = 0; i < sys.d; i++)
	{
		b[i] = 0;
		for (int j = 0; j < sys.d; j++)
			b[i] += sys.a[i][j] * w[j];
	}
}

static inline void
solve_integers(const Integer *b, WmlcDd *w)
{
	WmlcDd		rhs[MAX_D];
	WmlcStatus	status;

	for (int i = 0; i < sys.d; i++)
		rhs[i] = from_integer(b[i]);
	status = wmlc_solve(&sys.solver, rhs, w, NULL);
	CHECK(status == WMLC_OK, "status %d", status);
}

/* Solve A w = b for b made from w: every digit must come back. */
static inline void
check_recovers(const char *name, const Integer *expected, int rank)
{
	Integer		b[MAX_D];
	WmlcDd		w[MAX_D];
	WmlcStatus	status = factor(0.0);
	double		worst = 0.0;

	CHECK(status == WMLC_OK, "%s: status %d", name, status);
	CHECK(sys.solver.factor.rank == rank, "%s: rank %d", name, sys.solver.factor.rank);
	multiply(expected, b);
	solve_integers(b, w);
	for (int i = 0; i < sys.d; i++)
	{
		double		error = fabs(wmlc_dd_value(w[i]) - (double) expected[i]);

		worst = fmax(worst, expected[i] == 0 ? error : error / fabs((double) expected[i]));
	}
	CHECK(worst <= 0x1p-52, "%s: relative error %g, smallest pivot %g", name, worst,
		  sys.solver.factor.smallest_pivot);
}

static inline void
fill_powers(int first, int last, int degree)
{
	for (int t = first; t <= last; t++)
		for (int k = 0; k <= degree; k++)
			sys.x[t - first][k] = k == 0 ? 1 : sys.x[t - first][k - 1] * t;
	sum_rows(degree + 1, last - first + 1);
}

/* X of `rank` random columns, the others sums and differences of two of them */
static inline void
fill_random(int d, int rank, int rows)
{
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < d; i++)
			sys.x[r][i] = i < rank ? random_integer(50) :
				sys.x[r][(7 * i) % rank] + (i % 3 - 1) * sys.x[r][(3 * i + 1) % rank];
	sum_rows(d, rows);
}

#endif							/* WML_UNIT_INTEGER_SYSTEM_H */
