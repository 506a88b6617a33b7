/*
 * test_adapt.c
 *	  Fast adaptation, mean squared error and R^2: against the rows themselves.
 */
#include "core/model/adapt.h"

#include "check.h"
#include "quad.h"

#define ROWS 60
#define MAX_DIMS 40

static uint64_t seed = 77;
static int	d;
static int	row_count;
static double x[ROWS][MAX_DIMS + 1 + WMLC_ROW_PADDING];
static double weights[ROWS];
static WmlcGram *gram;
static void *work;

static void
build_gram(void)
{
	free(gram);
	free(work);
	gram = malloc(wmlc_gram_bytes(d));
	work = malloc(wmlc_adapt_workspace(d));
	wmlc_gram_init(gram, d);
	for (int r = 0; r < row_count; r++)
	{
		for (int i = 0; i < WMLC_ROW_PADDING; i++)
			x[r][d + 1 + i] = 0.0;
		wmlc_gram_add_row(gram, x[r], weights[r]);
	}
}

/* A constant, features of the given size, and a response around `offset`. */
static void
random_rows(int dims, int rows, double size, double offset)
{
	d = dims;
	row_count = rows;
	for (int r = 0; r < rows; r++)
	{
		weights[r] = 0.5 + check_random(&seed);
		x[r][0] = 1.0;
		x[r][d] = offset + check_normal(&seed);
		for (int i = 1; i < d; i++)
		{
			x[r][i] = size * check_normal(&seed);
			x[r][d] += x[r][i] / size;
		}
	}
	build_gram();
}

/* y - w.psi in row r */
static Quad
row_error(int r, const Quad *w)
{
	Quad		error = x[r][d];

	for (int i = 0; i < d; i++)
		error -= w[i] * x[r][i];
	return error;
}

static Quad
rows_mse(const Quad *w)
{
	Quad		sum = 0,
				weight = 0;

	for (int r = 0; r < row_count; r++)
	{
		Quad		error = row_error(r, w);

		sum += weights[r] * error * error;
		weight += weights[r];
	}
	return sum / weight;
}

/* One step down the gradient, row by row. */
static void
rows_step(Quad eta, Quad *w)
{
	Quad		gradient[MAX_DIMS] = {0},
				weight = 0;

	for (int r = 0; r < row_count; r++)
	{
		Quad		error = row_error(r, w);

		for (int i = 0; i < d; i++)
			gradient[i] -= weights[r] * error * x[r][i];
		weight += weights[r];
	}
	for (int i = 0; i < d; i++)
		w[i] -= eta * gradient[i] / weight;
}

/* Every step, its error, and the jump to the end, against the rows. */
static void
test_path(int dims, double size, double eta, int steps)
{
	double		w[MAX_DIMS],
				end[MAX_DIMS];
	Quad		exact[MAX_DIMS];
	WmlcDescent descent;

	random_rows(dims, ROWS, size, 5.0);
	for (int i = 0; i < d; i++)
		exact[i] = w[i] = check_normal(&seed);
	CHECK(wmlc_adapt(gram, eta, steps, w, end, work, NULL) == WMLC_OK, "adapt");
	CHECK(wmlc_descent_start(&descent, gram, eta, w, work) == WMLC_OK, "start");
	for (int step = 1; step <= steps; step++)
	{
		double		mse = -1.0;

		CHECK(wmlc_descent_step(&descent, w) == WMLC_OK, "step");
		rows_step(eta, exact);
		for (int i = 0; i < d; i++)
			CHECK_NEAR(w[i], (double) exact[i], 1e-15);
		CHECK(wmlc_mse(gram, w, &mse) == WMLC_OK, "mse");
		CHECK_NEAR(mse / (double) rows_mse(exact), 1.0, 1e-13);
	}
	for (int i = 0; i < d; i++)
		CHECK_NEAR(end[i], w[i], 1e-15);
}

/* So many steps that they are not taken one by one. */
static void
test_many_steps(void)
{
	for (int rows = 3; rows <= 30; rows += 27)
	{
		double		w[5],
					start[5];
		Quad		exact[5];
		double		eta = 0.5;
		int			steps = 3000;

		random_rows(5, rows, 0.1, 5.0);
		for (int i = 0; i < d; i++)
			exact[i] = start[i] = check_normal(&seed);
		CHECK(wmlc_adapt(gram, eta, steps, start, w, work, NULL) == WMLC_OK, "adapt");
		for (int step = 0; step < steps; step++)
			rows_step(eta, exact);
		for (int i = 0; i < d; i++)
			CHECK_NEAR(w[i], (double) exact[i], 1e-14);

		/* in the limit the gradient vanishes, and what rows do not see stays */
		CHECK(wmlc_adapt(gram, eta, 2000000000, start, w, work, NULL) == WMLC_OK, "adapt");
		for (int i = 0; i < d; i++)
			exact[i] = w[i];
		rows_step(1, exact);
		for (int i = 0; i < d; i++)
			CHECK_NEAR((double) exact[i], w[i], 1e-14);
	}
}

/* The largest stable step size: just below it errors shrink, just above they grow. */
static void
test_stability(void)
{
	double		stable = -1.0,
				w[MAX_DIMS] = {0.0},
				end[MAX_DIMS];
	double		mse[2];
	bool		diverges;

	random_rows(6, ROWS, 3.0, 0.0);
	CHECK(wmlc_largest_stable_eta(gram, &stable, work) == WMLC_OK, "largest stable eta");
	for (int above = 0; above < 2; above++)
	{
		double		eta = stable * (above ? 1.001 : 0.999);

		CHECK(wmlc_adaptation_diverges(gram, eta, &diverges, work) == WMLC_OK &&
			  diverges == (above == 1), "eta %g of %g", eta, stable);
		CHECK(wmlc_adapt(gram, eta, 500, w, end, work, NULL) == WMLC_OK, "adapt");
		wmlc_mse(gram, end, &mse[0]);
		CHECK(wmlc_adapt(gram, eta, 20000, w, end, work, NULL) == WMLC_OK, "adapt");
		wmlc_mse(gram, end, &mse[1]);
		CHECK((mse[1] > mse[0]) == (above == 1), "eta %g of %g: %g after %g", eta, stable, mse[1],
			  mse[0]);
	}
	CHECK(wmlc_adaptation_diverges(gram, 1e-6, &diverges, work) == WMLC_OK && !diverges, "tiny eta");
	CHECK(wmlc_adapt(gram, 100.0 * stable, 100, w, end, work, NULL) == WMLC_NOT_FINITE ||
		  isfinite(end[0]), "infinities");
	CHECK(wmlc_adapt(gram, 100.0 * stable, 400, w, end, work, NULL) == WMLC_NOT_FINITE, "overflow");
	CHECK(wmlc_adapt(gram, 100.0 * stable, 4000, w, end, work, NULL) == WMLC_NOT_FINITE, "overflow");

	for (int r = 0; r < ROWS; r++)
		x[r][0] = x[r][1] = x[r][2] = x[r][3] = x[r][4] = x[r][5] = 0.0;
	build_gram();
	CHECK(wmlc_largest_stable_eta(gram, &stable, work) == WMLC_OK && isinf(stable),
		  "without features every step is stable");
}

/* R^2 as in R, around the mean or around zero, also far from zero. */
static void
test_r2(void)
{
	for (double offset = 0.0; offset <= 1e9; offset = offset == 0.0 ? 1.0 : offset * 1e3)
	{
		double		w[4] = {offset, 0.3, 0.2, 0.4};
		Quad		exact[4] = {offset, 0.3, 0.2, 0.4};
		Quad		sum = 0,
					weight = 0,
					centred = 0,
					plain = 0;
		double		r2 = NAN;

		for (int i = 1; i < 4; i++)
			exact[i] = w[i];
		random_rows(4, ROWS, 2.0, offset);
		for (int r = 0; r < ROWS; r++)
		{
			sum += weights[r] * x[r][d];
			weight += weights[r];
		}
		for (int r = 0; r < ROWS; r++)
		{
			Quad		deviation = x[r][d] - sum / weight;

			centred += weights[r] * deviation * deviation;
			plain += weights[r] * (Quad) x[r][d] * x[r][d];
		}
		CHECK(wmlc_r2(gram, w, 0, &r2) == WMLC_OK, "r2");
		CHECK_NEAR(r2, (double) (1 - rows_mse(exact) * weight / centred), 1e-12);
		CHECK(wmlc_r2(gram, w, -1, &r2) == WMLC_OK, "r2");
		CHECK_NEAR(r2, (double) (1 - rows_mse(exact) * weight / plain), 1e-15);
	}
	for (int r = 0; r < ROWS; r++)
		x[r][d] = 1e9 / 3.0;
	build_gram();
	{
		double		w[4] = {1e9 / 3.0};
		double		mse = -1.0,
					r2 = 0.0;

		CHECK(wmlc_mse(gram, w, &mse) == WMLC_OK && mse >= 0.0 && mse < 1e-12, "mse %g", mse);
		CHECK(wmlc_r2(gram, w, 0, &r2) == WMLC_OK && isnan(r2), "r2 %g of a constant", r2);
	}
}

static void
test_refusals(void)
{
	double		w[3] = {0.0, INFINITY, 0.0};
	double		value;

	random_rows(3, 10, 1.0, 0.0);
	CHECK(wmlc_mse(gram, w, &value) == WMLC_NOT_FINITE, "infinite coefficient");
	w[1] = 0.0;
	gram->sums[wmlc_triangle_index(4, 3, 3)] = -1.0;
	CHECK(wmlc_mse(gram, w, &value) == WMLC_NOT_POSITIVE, "negative sum of squares");
	gram->sums[wmlc_triangle_index(4, 1, 2)] = NAN;
	CHECK(wmlc_mse(gram, w, &value) == WMLC_NOT_FINITE, "NaN");
	CHECK(wmlc_adapt(gram, 0.1, 3, w, w, work, NULL) == WMLC_NOT_FINITE, "NaN");
	CHECK(wmlc_largest_stable_eta(gram, &value, work) == WMLC_NOT_FINITE, "NaN");
	wmlc_gram_init(gram, 3);
	CHECK(wmlc_mse(gram, w, &value) == WMLC_NOT_FINITE, "a gram without rows");
}

int
main(void)
{
	test_path(1, 1.0, 0.7, 5);
	test_path(4, 1.0, 0.2, 10);
	test_path(10, 30.0, 1e-4, 10);
	test_path(40, 0.5, 0.3, 6);
	test_path(3, 10.0, 0.1, 12);	/* beyond stability, as asked */
	test_many_steps();
	test_stability();
	test_r2();
	test_refusals();
	free(gram);
	free(work);
	return check_summary();
}
