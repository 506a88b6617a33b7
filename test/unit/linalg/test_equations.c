/*
 * test_equations.c
 *	  Eigenvectors of grams, and least squares with weights of very different
 *	  size.
 */
#include <stdlib.h>

#include "core/linalg/equations.h"
#include "core/linalg/spectral.h"
#include "core/gram/task.h"

#include "check.h"
#include "quad.h"

#define MAX_DIMS 24

static uint64_t seed = 99;

/* A p x p square (A, b; b', c) of `rows` random rows whose features have sizes. */
static int
random_square(int d, int rows, const double *sizes, int size_count, double *space, WmlcDdSpan *square)
{
	int			p = d + 1;
	int			stride = wmlc_dd_stride(p);

	*square = (WmlcDdSpan) {space, space + p * stride};
	memset(space, 0, 2 * p * stride * sizeof(double));
	for (int r = 0; r < rows; r++)
	{
		double		z[MAX_DIMS + 1];

		for (int i = 0; i <= d; i++)
			z[i] = sizes[i % size_count] * check_normal(&seed);
		for (int i = 0; i <= d; i++)
		{
			for (int j = 0; j <= d; j++)
				wmlc_dd_set(*square, i * stride + j,
							wmlc_dd_add(wmlc_dd_get(*square, i * stride + j),
										wmlc_two_prod(z[i], z[j])));
		}
	}
	return stride;
}

/* The rows are orthogonal to each other and add up to the gram again. */
static void
test_spectral_rows(int d, int rows, const double *sizes, int size_count, bool orthogonal)
{
	static double space[2][2 * (MAX_DIMS + 1) * (MAX_DIMS + 4)];
	void	   *work = malloc(wmlc_spectral_workspace(d));
	WmlcDdSpan	square,
				original;
	int			stride = random_square(d, rows, sizes, size_count, space[0], &square);
	int			rank = -1;
	WmlcStatus	status;

	memcpy(space[1], space[0], sizeof(space[0]));
	original = (WmlcDdSpan) {space[1], space[1] + (d + 1) * stride};
	status = wmlc_spectral_rows(d, stride, square, rows, orthogonal, &rank, work, NULL);
	CHECK(status == WMLC_OK && rank == (rows < d ? rows : d), "status %d, rank %d of %d", status,
		  rank, d);
	for (int i = 0; i < d; i++)
	{
		for (int j = 0; j <= d; j++)
		{
			Quad		sum = 0;
			WmlcDd		entry = wmlc_dd_get(original, i * stride + j);
			double		scale = sqrt(original.hi[i * stride + i] * original.hi[j * stride + j]);

			for (int k = 0; k < rank; k++)
				sum += ((Quad) square.hi[k * stride + i] + square.lo[k * stride + i]) *
					((Quad) square.hi[k * stride + j] + square.lo[k * stride + j]);
			CHECK(quad_abs(sum - entry.hi - entry.lo) <= scale * 1e-28,
				  "entry %d, %d off by %g of %g", i, j, (double) (sum - entry.hi - entry.lo), scale);
		}
	}
	for (int i = 0; i < rank && orthogonal; i++)
	{
		for (int k = 0; k < i; k++)
		{
			WmlcDdSpan	x = wmlc_dd_from(square, i * stride);
			WmlcDdSpan	y = wmlc_dd_from(square, k * stride);
			double		xx = wmlc_dd_loops()->dot(d, x, x).hi;
			double		yy = wmlc_dd_loops()->dot(d, y, y).hi;

			CHECK(fabs(wmlc_dd_loops()->dot(d, x, y).hi) <= 1e-28 * sqrt(xx) * sqrt(yy),
				  "rows %d and %d are not orthogonal", i, k);
		}
	}
	free(work);
}

static void
test_indefinite(void)
{
	double		space[2 * 3 * 4] = {1.0, 2.0, 0.0, 0.0, 2.0, 1.0};
	void	   *work = malloc(wmlc_spectral_workspace(2));
	int			rank;

	CHECK(wmlc_spectral_rows(2, 4, (WmlcDdSpan) {space, space + 12}, 0, true, &rank, work, NULL) ==
		  WMLC_NOT_POSITIVE, "a negative eigenvalue goes unnoticed");
	free(work);
}

static WmlcEquations
empty_equations(int d)
{
	static double triangle[(MAX_DIMS + 1) * (MAX_DIMS + 2)];
	static double scale[MAX_DIMS];

	memset(triangle, 0, sizeof(triangle));
	for (int i = 0; i < d; i++)
		scale[i] = i % 2 ? 0.25 : 2.0;
	return (WmlcEquations) {
		d, scale, {triangle, triangle + wmlc_triangle_size(d + 1)}, 0
	};
}

static void
add_row(const WmlcEquations *equations, const double *row)
{
	double		hi[MAX_DIMS + 1],
				lo[MAX_DIMS + 1] = {0.0};

	memcpy(hi, row, (equations->d + 1) * sizeof(double));
	CHECK(wmlc_equations_add(equations, (WmlcDdSpan) {hi, lo}) == WMLC_OK, "add");
}

/*
 * Heavy equations fix d - 1 directions, light ones that contradict each other
 * the last: w is where the heavy ones meet, on the line between the light ones.
 * In whatever order they come, whatever their weight.
 */
static void
test_weights(double heavy, int order)
{
	/* x - y = 1, y + z = 5 heavily; x + z = 2 and x + z = 4, y + 2z = 9 lightly */
	const double rows[5][4] = {{1, -1, 0, 1}, {0, 1, 1, 5}, {1, 0, 1, 2}, {1, 0, 1, 4}, {0, 1, 2, 9}};
	WmlcEquations equations = empty_equations(3);
	QuadMatrix	a = {.n = 3};
	Quad		w[3] = {0};
	WmlcDd		solution[3];
	int			rank;

	for (int k = 0; k < 5; k++)
	{
		int			r = (k * 2 + order) % 5;
		double		weight = r < 2 ? heavy : 1.0;
		double		row[4];

		for (int j = 0; j < 4; j++)
			row[j] = weight * rows[r][j];
		add_row(&equations, row);
	}
	CHECK(wmlc_equations_solve(&equations, solution, &rank) == WMLC_OK && rank == 3, "rank %d", rank);

	/*
	 * Heavy ones alone: (x, y, z) = (1 + u, u, 5 - u).  Then x + z = 6 whatever u
	 * is, and y + 2z = 10 - u.
	 */
	if (heavy >= 1e20)
	{
		w[0] = 2;
		w[1] = 1;
		w[2] = 4;
	}
	else
	{
		for (int r = 0; r < 5; r++)
		{
			Quad		square = r < 2 ? (Quad) heavy * heavy : 1;

			for (int i = 0; i < 3; i++)
			{
				for (int j = 0; j < 3; j++)
					a.at[i][j] += square * rows[r][i] * rows[r][j];
				w[i] += square * rows[r][i] * rows[r][3];
			}
		}
		quad_solve(&a, w);
	}
	for (int i = 0; i < 3; i++)
		CHECK_NEAR(wmlc_dd_value(solution[i]), (double) w[i], 1e-14);
}

static void
test_rank_and_merge(void)
{
	const double rows[3][4] = {{1, 2, 3, 14}, {2, 4, 6, 28}, {0, 0, 1, 3}};
	WmlcEquations equations = empty_equations(3);
	WmlcDd		w[3];
	int			rank;
	static double other_triangle[20];
	const double other_scale[3] = {4.0, 1.0, 0.5};
	WmlcEquations other = {3, other_scale, {other_triangle, other_triangle + 10}, 0};
	double		scratch[8];

	for (int r = 0; r < 3; r++)
		add_row(&equations, rows[r]);
	CHECK(wmlc_equations_solve(&equations, w, &rank) == WMLC_OK && rank == 2, "rank %d", rank);
	CHECK(wmlc_dd_value(w[1]) == 0.0, "an undetermined unknown");
	CHECK_NEAR(wmlc_dd_value(w[0]), 5.0, 1e-15);
	CHECK_NEAR(wmlc_dd_value(w[2]), 3.0, 1e-15);

	CHECK(wmlc_equations_merge(&other, &equations, wmlc_dd(7.0),
							   (WmlcDdSpan) {scratch, scratch + 4}, NULL) == WMLC_OK, "merge");
	CHECK(wmlc_equations_solve(&other, w, &rank) == WMLC_OK && rank == 2, "rank %d", rank);
	CHECK_NEAR(wmlc_dd_value(w[0]), 5.0, 1e-15);
	CHECK_NEAR(wmlc_dd_value(w[2]), 3.0, 1e-15);
	CHECK(wmlc_equations_add(&other, (WmlcDdSpan) {
			(double[]) {1.0, INFINITY, 0.0, 0.0}, (double[]) {0.0, 0.0, 0.0, 0.0}
		}) == WMLC_NOT_FINITE, "infinity");
}

int
main(void)
{
	const double one[] = {1.0};
	const double raw[] = {1.0, 1e-3, 1e5};

	for (int d = 1; d <= MAX_DIMS - 1; d += 3)
	{
		for (int orthogonal = 0; orthogonal < 2; orthogonal++)
		{
			test_spectral_rows(d, 2 * d, one, 1, orthogonal);
			test_spectral_rows(d, d + 1, raw, 3, orthogonal);
			test_spectral_rows(d, (d + 1) / 2, raw, 3, orthogonal);
		}
	}
	test_indefinite();
	for (int order = 0; order < 5; order++)
	{
		test_weights(1.0, order);
		test_weights(1e5, order);
		test_weights(1e-5, order);
		test_weights(1e20, order);
		test_weights(1e100, order);
	}
	test_rank_and_merge();
	return check_summary();
}
