/*
 * test_stacked.c
 *	  Stacked weights: points whose squared length is the error on the target's
 *	  rows, and weights that satisfy the conditions of optimality as rows tell
 *	  them.
 */
#include "core/simplex/simplex.h"
#include "core/weights/stacked.h"

#include "gram/gram_fixture.h"

#define MODELS 7

typedef long double Real;

/* Prediction error of coefficients w on row r. */
static Real
residual(const Rows *rows, int r, const Real *w)
{
	const double *z = rows_at(rows, r);
	Real		error = -(Real) z[rows->dims];

	for (int i = 0; i < rows->dims; i++)
		error += w[i] * z[i];
	return error;
}

/* Mean over the rows of the product of two models' errors, weighted. */
static Real
mean_product(const Rows *rows, const Real *v, const Real *w)
{
	Real		sum = 0.0L;
	Real		weight = 0.0L;

	for (int r = 0; r < rows->count; r++)
	{
		sum += rows->weights[r] * residual(rows, r, v) * residual(rows, r, w);
		weight += rows->weights[r];
	}
	return sum / weight;
}

static void
draw_models(const Rows *rows, double *models, uint64_t *seed)
{
	for (int j = 0; j < MODELS; j++)
	{
		for (int i = 0; i < rows->dims; i++)
			models[j * rows->dims + i] = 1.0 + check_normal(seed);
	}
}

static void
widen(int d, const double *w, Real *wide)
{
	for (int i = 0; i < d; i++)
		wide[i] = w[i];
}

/*
 * Karush, Kuhn and Tucker: half the slope of the objective towards each source is
 * the same for all that have weight, and not less for the others.
 */
static void
check_optimal(const Rows *rows, const double *models, const double *alpha, double ridge)
{
	int			d = rows->dims;
	Real		w[64] = {0};
	Real		square = 0.0L;
	Real		largest = 0.0L;
	Real		value;
	double		sum = 0.0;

	for (int j = 0; j < MODELS; j++)
	{
		for (int i = 0; i < d; i++)
			w[i] += (Real) alpha[j] * models[j * d + i];
		square += (Real) alpha[j] * alpha[j];
		sum += alpha[j];
		CHECK(alpha[j] >= 0.0, "weight %g", alpha[j]);
	}
	CHECK_NEAR(sum, 1.0, 1e-12);
	value = mean_product(rows, w, w) + ridge * square;
	for (int j = 0; j < MODELS; j++)
	{
		Real		m[64];
		Real		own;

		widen(d, models + j * d, m);
		own = mean_product(rows, m, m) + ridge;
		largest = own > largest ? own : largest;
	}
	for (int j = 0; j < MODELS; j++)
	{
		Real		m[64];
		Real		slope;

		widen(d, models + j * d, m);
		slope = mean_product(rows, m, w) + ridge * alpha[j];
		CHECK(slope >= value - 1e-10L * largest, "source %d would lower the error by %Lg", j, value - slope);
		CHECK(alpha[j] == 0.0 || fabsl(slope - value) <= 1e-10L * largest,
			  "source %d has weight %g and slope %Lg, not %Lg", j, alpha[j], slope, value);
	}
}

/* Points by squared length against errors of rows; then weights. */
static void
check_stacked(const Rows *rows, int rank, double ridge, uint64_t *seed)
{
	int			d = rows->dims;
	WmlcGram   *target = gram_of(rows);
	double		models[MODELS * 64];
	double		points[MODELS * 65];
	double		alpha[MODELS];
	WmlcStacked stacked;
	WmlcSimplexReport report;
	WmlcSimplex problem = {.points = points, .count = MODELS, .ridge = ridge};
	void	   *work = malloc(wmlc_stacked_workspace(d));
	void	   *solver = malloc(wmlc_simplex_workspace(MODELS, d + 1, ridge));

	draw_models(rows, models, seed);
	CHECK(wmlc_stacked_create(&stacked, target, work, NULL) == WMLC_OK, "%d features", d);
	CHECK(stacked.rank == rank, "rank %d instead of %d", stacked.rank, rank);
	problem.dims = problem.stride = stacked.rank;
	for (int j = 0; j < MODELS; j++)
	{
		double	   *point = points + j * stacked.rank;
		double		square = 0.0;
		Real		m[64];
		Real		error;

		wmlc_stacked_point(&stacked, models + j * d, point);
		for (int k = 0; k < stacked.rank; k++)
			square += point[k] * point[k];
		widen(d, models + j * d, m);
		error = mean_product(rows, m, m);
		CHECK(fabsl(square - error) <= 1e-12L * error, "%g instead of %Lg", square, error);
	}
	CHECK(wmlc_simplex_solve(&problem, alpha, &report, solver, NULL) == WMLC_OK, "weights");
	check_optimal(rows, models, alpha, ridge);
	free(target);
	free(work);
	free(solver);
}

static void
test_optimal(void)
{
	uint64_t	seed = 61;

	for (int trial = 0; trial < 60; trial++)
	{
		int			d = 1 + trial % 6;
		int			count = 1 + trial % 17;
		Rows		rows = rows_random(d, count, &seed);

		if (trial % 3 == 0 && count > 2 * d + 8)
			rows_weigh(&rows, &seed);
		check_stacked(&rows, count < d + 1 ? count : d + 1, trial % 2 == 0 ? 0.0 : check_random(&seed), &seed);
		rows_free(&rows);
	}
}

/* Features that follow from others are no directions of their own. */
static void
test_dependent(void)
{
	uint64_t	seed = 62;
	Rows		rows = rows_random(4, 30, &seed);

	for (int r = 0; r < rows.count; r++)
		rows_at(&rows, r)[3] = 2.0 * rows_at(&rows, r)[1] - rows_at(&rows, r)[0];
	check_stacked(&rows, 4, 0.0, &seed);
	check_stacked(&rows, 4, 0.5, &seed);
	rows_free(&rows);
}

/* The penalty is the noise of as many coefficients, per effective row. */
static void
test_variance(void)
{
	uint64_t	seed = 63;
	Rows		rows = rows_random(3, 20, &seed);
	WmlcGram   *plain = gram_of(&rows);
	WmlcGram   *weighted;

	CHECK_NEAR(wmlc_stacked_variance(plain, 2.0), 2.0 * 3.0 / 20.0, 1e-14);
	for (int r = 0; r < rows.count; r++)
		rows.weights[r] = r < 10 ? 5.0 : 0.0;
	weighted = gram_of(&rows);
	CHECK_NEAR(wmlc_stacked_variance(weighted, 2.0), 2.0 * 3.0 / 10.0, 1e-14);
	free(plain);
	free(weighted);
	rows_free(&rows);
}

int
main(void)
{
	test_optimal();
	test_dependent();
	test_variance();
	return check_summary();
}
