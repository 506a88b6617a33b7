/*
 * test_simplex.c
 *	  The weight solver against enumeration of all supports, known answers,
 *	  invariances, limits of the ridge, and what it must refuse.
 */
#include "simplex/simplex_fixture.h"

/* ---------- the oracle ---------- */

#define ORACLE_POINTS 8

/* Solve a small dense system in place; false where it is singular. */
static bool
eliminate(long double a[ORACLE_POINTS + 1][ORACLE_POINTS + 2], int n)
{
	for (int k = 0; k < n; k++)
	{
		int			pivot = k;

		for (int i = k; i < n; i++)
			pivot = fabsl(a[i][k]) > fabsl(a[pivot][k]) ? i : pivot;
		if (fabsl(a[pivot][k]) < 1e-14L)
			return false;
		for (int j = 0; j <= n; j++)
		{
			long double t = a[k][j];

			a[k][j] = a[pivot][j];
			a[pivot][j] = t;
		}
		for (int i = 0; i < n; i++)
		{
			long double factor = a[i][k] / a[k][k];

			for (int j = k; i != k && j <= n; j++)
				a[i][j] -= factor * a[k][j];
		}
	}
	return true;
}

/* The minimum by trying every support; its weights where best is not NULL. */
static long double
oracle(const WmlcSimplex *p, long double *best)
{
	long double lowest = INFINITY;

	for (int mask = 1; mask < 1 << p->count; mask++)
	{
		long double a[ORACLE_POINTS + 1][ORACLE_POINTS + 2] = {{0}};
		long double alpha[ORACLE_POINTS] = {0};
		long double objective = 0.0L;
		bool		feasible = true;
		int			member[ORACLE_POINTS];
		int			n = 0;

		for (int j = 0; j < (int) p->count; j++)
		{
			if (mask >> j & 1)
				member[n++] = j;
		}
		for (int i = 0; i < n; i++)
		{
			for (int j = 0; j < n; j++)
			{
				for (size_t d = 0; d < p->dims; d++)
					a[i][j] += (long double) p->points[member[i] * p->stride + d] *
						p->points[member[j] * p->stride + d];
			}
			a[i][i] += p->ridge;
			a[i][n] = a[n][i] = 1.0L;
		}
		a[n][n + 1] = 1.0L;
		if (!eliminate(a, n + 1))
			continue;
		for (int i = 0; i < n; i++)
		{
			alpha[member[i]] = a[i][n + 1] / a[i][i];
			feasible = feasible && alpha[member[i]] >= -1e-15L;
		}
		if (!feasible)
			continue;
		for (size_t d = 0; d < p->dims; d++)
		{
			long double x = 0.0L;

			for (size_t j = 0; j < p->count; j++)
				x += alpha[j] * p->points[j * p->stride + d];
			objective += x * x;
		}
		for (size_t j = 0; j < p->count; j++)
			objective += p->ridge * alpha[j] * alpha[j];
		if (objective < lowest)
		{
			lowest = objective;
			if (best)
				memcpy(best, alpha, sizeof(alpha));
		}
	}
	return lowest;
}

static void
test_oracle(void)
{
	uint64_t	seed = 1;
	double		points[ORACLE_POINTS * 6];
	double		alpha[ORACLE_POINTS];
	long double best[ORACLE_POINTS];

	for (int t = 0; t < 400; t++)
	{
		size_t		count = 1 + (size_t) (check_random(&seed) * ORACLE_POINTS);
		size_t		dims = 1 + (size_t) (check_random(&seed) * 6);
		double		ridge = t % 2 ? 0.0 : pow(10.0, 3.0 - 9.0 * check_random(&seed));
		double		shift = t % 3;
		WmlcSimplex p = {points, count, dims, dims, ridge};
		long double lowest;
		Certificate c;

		fill_normal(points, count * dims, &seed);
		for (size_t i = 0; i < count * dims; i++)
			points[i] = t % 7 == 0 ? floor(points[i]) : points[i] + shift;
		lowest = oracle(&p, best);
		c = check_solution(&p, alpha, "oracle");
		CHECK(fabsl(c.objective - lowest) <= 1e-12L * (1.0L + lowest), "problem %d: %Lg, oracle %Lg",
			  t, c.objective, lowest);
		for (size_t j = 0; ridge > 1e-3 && j < count; j++)
			CHECK(fabsl(alpha[j] - best[j]) <= 1e-9L, "problem %d: weight %zu is %g, oracle %Lg",
				  t, j, alpha[j], best[j]);
	}
}

static void
test_known_answers(void)
{
	double		alpha[8];
	double		square[] = {1, 1, 1, -1, 3, 0};
	double		line[] = {-1, 2, 3, 2};
	double		single[] = {3, 4};
	double		nothing[] = {0};
	WmlcSimplex p = {square, 3, 2, 2, 0.0};

	check_solution(&p, alpha, "edge");
	CHECK_NEAR(alpha[0], 0.5, 1e-15);
	CHECK(alpha[2] == 0.0, "no part of the edge, but weight %g", alpha[2]);

	p = (WmlcSimplex) {line, 2, 2, 2, 0.0};
	check_solution(&p, alpha, "foot at a quarter");
	CHECK_NEAR(alpha[0], 0.75, 1e-15);
	CHECK_NEAR(alpha[1], 0.25, 1e-15);

	p = (WmlcSimplex) {single, 1, 2, 2, 0.0};
	CHECK_NEAR((double) check_solution(&p, alpha, "one point").objective, 25.0, 1e-15);
	CHECK(alpha[0] == 1.0, "%g", alpha[0]);
	p.ridge = 2.0;
	CHECK_NEAR((double) check_solution(&p, alpha, "one point, ridge").objective, 27.0, 1e-15);
	CHECK(alpha[0] == 1.0, "%g", alpha[0]);

	/* No dimensions at all: every mixture is at the target. */
	p = (WmlcSimplex) {nothing, 3, 0, 0, 0.0};
	check_solution(&p, alpha, "no dimensions");
	CHECK(alpha[0] == 1.0, "the first of equals, not %g", alpha[0]);
	p.ridge = 1.0;
	check_solution(&p, alpha, "no dimensions, ridge");
	CHECK_NEAR(alpha[2], 1.0 / 3.0, 1e-15);
}

/* ---------- invariances ---------- */

static void
test_equal_bits(void)
{
	enum {COUNT = 900, DIMS = 21, STRIDE = 25};
	uint64_t	seed = 5;
	double	   *points = malloc(COUNT * DIMS * sizeof(double));
	double	   *other = malloc(COUNT * STRIDE * sizeof(double));
	double		alpha[COUNT];
	double		again[COUNT];

	fill_normal(points, COUNT * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 0.5;
	for (double ridge = 0.0; ridge < 40.0; ridge = 4.0 * ridge + 0.5)
	{
		WmlcSimplex p = {points, COUNT, DIMS, DIMS, ridge};
		int			exponents[] = {0, -900, -300, 300, 900};

		check_solution(&p, alpha, "equal bits");
		for (int k = 0; k < 5; k++)
		{
			WmlcSimplex q = {other, COUNT, DIMS, STRIDE, ldexp(ridge, 2 * exponents[k])};
			WmlcSimplexReport report;
			WmlcStatus	status;

			/* The squared ridge must stay in range. */
			if (ridge > 0.0 && abs(exponents[k]) > 300)
				continue;
			for (size_t i = 0; i < COUNT * STRIDE; i++)
				other[i] = NAN;
			for (size_t j = 0; j < COUNT; j++)
			{
				for (size_t i = 0; i < DIMS; i++)
					other[j * STRIDE + i] = ldexp(points[j * DIMS + i], exponents[k]);
			}
			status = solve(&q, again, &report);
			CHECK(status == WMLC_OK, "status %d", status);
			CHECK(memcmp(alpha, again, sizeof(alpha)) == 0, "ridge %g times 2^%d: other bits", ridge,
				  exponents[k]);
		}
	}
	free(points);
	free(other);
}

static void
test_permutation(void)
{
	enum {COUNT = 500, DIMS = 15};
	uint64_t	seed = 6;
	double	   *points = malloc(COUNT * DIMS * sizeof(double));
	double	   *shuffled = malloc(COUNT * DIMS * sizeof(double));
	size_t		order[COUNT];
	double		alpha[COUNT];
	double		beta[COUNT];

	fill_normal(points, COUNT * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 1.0;
	for (size_t j = 0; j < COUNT; j++)
		order[j] = j;
	for (size_t j = COUNT - 1; j > 0; j--)
	{
		size_t		k = (size_t) (check_random(&seed) * (double) (j + 1));
		size_t		t = order[j];

		order[j] = order[k];
		order[k] = t;
	}
	for (size_t j = 0; j < COUNT; j++)
		memcpy(shuffled + j * DIMS, points + order[j] * DIMS, DIMS * sizeof(double));
	for (double ridge = 0.0; ridge < 100.0; ridge = 10.0 * ridge + 0.01)
	{
		WmlcSimplex p = {points, COUNT, DIMS, DIMS, ridge};
		WmlcSimplex q = {shuffled, COUNT, DIMS, DIMS, ridge};

		check_solution(&p, alpha, "permutation");
		check_solution(&q, beta, "permutation");
		for (size_t j = 0; j < COUNT; j++)
			CHECK_NEAR(beta[j], alpha[order[j]], 1e-10);
	}
	free(points);
	free(shuffled);
}

static void
test_ridge_limits(void)
{
	enum {COUNT = 120, DIMS = 30};
	uint64_t	seed = 7;
	double		points[COUNT * DIMS];
	double		none[COUNT];
	double		alpha[COUNT];
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};
	long double before;

	fill_normal(points, COUNT * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 1.0;
	check_solution(&p, none, "no ridge");
	for (p.ridge = 1e-6; p.ridge > 1e-18; p.ridge /= 100.0)
	{
		check_solution(&p, alpha, "small ridge");
		for (size_t j = 0; j < COUNT; j++)
			CHECK_NEAR(alpha[j], none[j], 10.0 * p.ridge + 1e-11);
	}
	for (p.ridge = 1e15; p.ridge < 1e300; p.ridge *= 1e70)
	{
		check_solution(&p, alpha, "large ridge");
		for (size_t j = 0; j < COUNT; j++)
			CHECK_NEAR(alpha[j], 1.0 / COUNT, 1e-12);
	}

	/* So large, in the scale of these points, that it has no number. */
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] = ldexp(points[i], -700);
	p.ridge = 1.0;
	check_solution(&p, alpha, "ridge beyond numbers");
	for (size_t j = 0; j < COUNT; j++)
		CHECK_NEAR(alpha[j], 1.0 / COUNT, 1e-12);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] = ldexp(points[i], 700);

	/* More ridge, more even weights, never a better fit. */
	before = 2.0L;
	for (p.ridge = 1e-3; p.ridge < 1e5; p.ridge *= 2.0)
	{
		long double square = 0.0L;

		check_solution(&p, alpha, "growing ridge");
		for (size_t j = 0; j < COUNT; j++)
			square += (long double) alpha[j] * alpha[j];
		CHECK(square < before * (1.0L + 1e-12L), "ridge %g: |alpha|^2 %Lg after %Lg", p.ridge, square, before);
		before = square;
	}
}

/* More points than one round of candidates; and a ridge with a dense support. */
static void
test_large(void)
{
	enum {COUNT = 20000, DIMS = 66};
	uint64_t	seed = 9;
	double	   *points = malloc((size_t) COUNT * DIMS * sizeof(double));
	double	   *alpha = malloc(COUNT * sizeof(double));
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};

	for (double shift = 0.0; shift <= 0.6; shift += 0.3)
	{
		fill_normal(points, (size_t) COUNT * DIMS, &seed);
		for (size_t j = 0; j < COUNT; j++)
		{
			for (size_t i = 0; i < DIMS; i++)
				points[j * DIMS + i] = (points[j * DIMS + i] + shift) * exp(-0.05 * (double) i);
		}
		p.ridge = 0.0;
		check_solution(&p, alpha, "large");
		for (p.ridge = 1000.0; p.ridge > 1e-3; p.ridge /= 100.0)
			check_solution(&p, alpha, "large, ridge");
	}
	free(points);
	free(alpha);
}

/* ---------- certificates of other weights ---------- */

static void
test_gap(void)
{
	enum {COUNT = 8, DIMS = 5};
	uint64_t	seed = 10;
	double		points[COUNT * DIMS];
	double		alpha[COUNT];

	for (int t = 0; t < 200; t++)
	{
		WmlcSimplex p = {points, COUNT, DIMS, DIMS, t % 2 ? 0.0 : 0.7};
		WmlcSimplexReport report;
		Certificate c;
		double		sum = 0.0;

		fill_normal(points, COUNT * DIMS, &seed);
		for (size_t j = 0; j < COUNT; j++)
		{
			alpha[j] = check_random(&seed) < 0.5 ? 0.0 : check_random(&seed);
			sum += alpha[j];
		}
		for (size_t j = 0; j < COUNT; j++)
			alpha[j] = sum > 0.0 ? alpha[j] / sum : 1.0 / COUNT;
		report = gap_report(&p, alpha);
		c = certify(&p, alpha);
		CHECK(fabsl(report.relative_gap - c.gap) <= 1e-14L, "%g instead of %Lg", report.relative_gap, c.gap);
		CHECK_NEAR(report.gap, (double) (c.gap * (report.largest + p.ridge)), 1e-13);
		CHECK_NEAR(report.objective, (double) c.objective, 1e-14);
		CHECK(report.support == c.support, "%zu instead of %zu", report.support, c.support);
		CHECK(report.gap >= c.objective - oracle(&p, NULL) - 1e-13L, "gap %g is no upper bound", report.gap);
	}
}

/* ---------- refusals and interrupts ---------- */

static void
test_refusals(void)
{
	double		points[] = {1, 2, 3, 4, 5, 6};
	double		alpha[3];
	WmlcSimplexReport report;
	WmlcSimplex p = {points, 3, 2, 2, 0.0};

	points[3] = NAN;
	CHECK(solve(&p, alpha, &report) == WMLC_NOT_FINITE, "NaN");
	points[3] = -INFINITY;
	CHECK(solve(&p, alpha, &report) == WMLC_NOT_FINITE, "infinity");
	points[2] = points[3] = 1.7e308;
	CHECK(solve(&p, alpha, &report) == WMLC_NOT_FINITE, "a length out of range");
	points[2] = points[3] = 4e-324;
	CHECK(solve(&p, alpha, &report) == WMLC_OK && alpha[1] == 1.0, "the smallest numbers are numbers");
	p.ridge = -1.0;
	CHECK(solve(&p, alpha, &report) == WMLC_OUT_OF_RANGE, "negative ridge");
	p.ridge = NAN;
	CHECK(solve(&p, alpha, &report) == WMLC_NOT_FINITE, "ridge NaN");
	p = (WmlcSimplex) {points, 0, 2, 2, 0.0};
	CHECK(solve(&p, alpha, &report) == WMLC_EMPTY, "no points");
	p = (WmlcSimplex) {points, 3, 2, 1, 0.0};
	CHECK(solve(&p, alpha, &report) == WMLC_DIMENSION_MISMATCH, "overlapping points");
}

static int	polls_left;

static bool
count_down(void)
{
	return polls_left-- <= 0;
}

/* Interrupted at whichever poll, the solver says so; left alone, it ends. */
static void
test_interrupts(void)
{
	enum {COUNT = 700, DIMS = 9};
	uint64_t	seed = 12;
	double		points[COUNT * DIMS];
	double		alpha[COUNT];

	fill_normal(points, COUNT * DIMS, &seed);
	memset(points, 0, DIMS * sizeof(double));
	for (double ridge = 0.0; ridge < 1.0; ridge = ridge * 1e4 + 1e-6)
	{
		WmlcSimplex p = {points + (ridge > 0.0 ? 0 : DIMS), COUNT - 1, DIMS, DIMS, ridge};
		void	   *work = malloc(wmlc_simplex_workspace(p.count, DIMS, ridge));
		WmlcSimplexReport report;
		WmlcStatus	status;
		int			most = 0;

		do
		{
			polls_left = most;
			status = wmlc_simplex_solve(&p, alpha, &report, work, count_down);
			CHECK(status == WMLC_OK || status == WMLC_INTERRUPTED, "status %d", status);
		} while (status == WMLC_INTERRUPTED && ++most < 100000);
		CHECK(most > 10 && most < 100000, "%d polls", most);
		polls_left = 1;
		CHECK(wmlc_simplex_gap(&p, alpha, &report, work, count_down) == WMLC_INTERRUPTED, "gap");
		free(work);
	}
}

int
main(void)
{
	test_oracle();
	test_known_answers();
	test_equal_bits();
	test_permutation();
	test_ridge_limits();
	test_large();
	test_gap();
	test_refusals();
	test_interrupts();
	return check_summary();
}
