/*
 * test_simplex.c
 *	  The weight solver against certificates recomputed here from the raw
 *	  points, in long double, and against enumeration of all supports.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/simplex.h"
#include "check.h"

typedef struct Certificate
{
	long double objective;
	long double gap;			/* relative to the largest squared distance, with ridge */
	long double slackness;		/* largest |g_j - f| on the support, likewise */
	long double sum;
	bool		nonnegative;
	size_t		support;
} Certificate;

static Certificate
certify(const WmlcSimplex *p, const double *alpha)
{
	Certificate c = {.nonnegative = true};
	long double *x = calloc(p->dims + 1, sizeof(long double));
	long double largest = 0.0L;
	long double lowest = INFINITY;
	long double scale;

	for (size_t j = 0; j < p->count; j++)
	{
		const double *e = p->points + j * p->stride;
		long double square = 0.0L;

		for (size_t i = 0; i < p->dims; i++)
		{
			square += (long double) e[i] * e[i];
			x[i] += (long double) alpha[j] * e[i];
		}
		largest = square > largest ? square : largest;
		c.objective += (long double) p->ridge * alpha[j] * alpha[j];
		c.sum += alpha[j];
		c.nonnegative = c.nonnegative && alpha[j] >= 0.0;
		c.support += alpha[j] > 0.0;
	}
	for (size_t i = 0; i < p->dims; i++)
		c.objective += x[i] * x[i];
	scale = largest + p->ridge > 0.0L ? largest + p->ridge : 1.0L;
	for (size_t j = 0; j < p->count; j++)
	{
		long double price = (long double) p->ridge * alpha[j];

		for (size_t i = 0; i < p->dims; i++)
			price += x[i] * p->points[j * p->stride + i];
		lowest = price < lowest ? price : lowest;
		if (alpha[j] > 0.0 && fabsl(price - c.objective) / scale > c.slackness)
			c.slackness = fabsl(price - c.objective) / scale;
	}
	c.gap = 2.0L * (c.objective - lowest) / scale;
	free(x);
	return c;
}

static WmlcStatus
solve(const WmlcSimplex *problem, double *alpha, WmlcSimplexReport *report)
{
	size_t		bytes = wmlc_simplex_workspace(problem->count, problem->dims, problem->ridge);
	void	   *work = malloc(bytes);
	WmlcStatus	status;

	/* A workspace full of NaN: what is read before it is written shows. */
	memset(work, 0xff, bytes);
	status = wmlc_simplex_solve(problem, alpha, report, work, NULL);
	free(work);
	return status;
}

static WmlcSimplexReport
gap_report(const WmlcSimplex *problem, const double *alpha)
{
	void	   *work = malloc(wmlc_simplex_workspace(problem->count, problem->dims, problem->ridge));
	WmlcSimplexReport report;

	CHECK(wmlc_simplex_gap(problem, alpha, &report, work, NULL) == WMLC_OK, "gap");
	free(work);
	return report;
}

/* Solve, check everything the solver promises, and return the certificate. */
static Certificate
check_solution(const WmlcSimplex *problem, double *alpha, const char *what)
{
	WmlcSimplexReport report;
	WmlcStatus	status = solve(problem, alpha, &report);
	Certificate c = certify(problem, alpha);

	CHECK(status == WMLC_OK, "%s: status %d", what, status);
	CHECK(c.nonnegative, "%s: negative weight", what);
	CHECK(fabsl(c.sum - 1.0L) <= 1e-13L, "%s: sum - 1 = %Lg", what, c.sum - 1.0L);
	CHECK(c.gap <= 1e-14L, "%s: gap %Lg", what, c.gap);
	CHECK(c.slackness <= 1e-12L, "%s: slackness %Lg", what, c.slackness);
	CHECK(c.support == report.support, "%s: support %zu, reported %zu", what, c.support, report.support);
	CHECK(report.relative_gap <= 1e-14 && report.relative_gap >= c.gap - 1e-14L,
		  "%s: gap %Lg, reported %g", what, c.gap, report.relative_gap);
	CHECK(fabsl(report.objective - c.objective) <= 1e-13L * (report.largest + problem->ridge),
		  "%s: objective %Lg, reported %g", what, c.objective, report.objective);
	return c;
}

static void
fill_normal(double *points, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++)
		points[i] = check_normal(seed);
}

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

/* ---------- shapes ---------- */

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

static void
test_ties(void)
{
	enum {COUNT = 60, DIMS = 7, COPIES = 3, DISTINCT = COUNT / COPIES};
	uint64_t	seed = 2;
	double		points[COUNT * DIMS];
	double		alpha[COUNT];
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};

	for (double shift = 0.0; shift <= 2.0; shift += 1.0)
	{
		fill_normal(points, DISTINCT * DIMS, &seed);
		for (size_t i = 0; i < DISTINCT * DIMS; i++)
			points[i] += shift;
		for (size_t i = DISTINCT * DIMS; i < COUNT * DIMS; i++)
			points[i] = points[i - DISTINCT * DIMS];

		p.ridge = 0.0;
		check_solution(&p, alpha, "copies");
		for (size_t j = DISTINCT; j < COUNT; j++)
			CHECK(alpha[j] == 0.0, "copy %zu has weight %g", j, alpha[j]);
		for (p.ridge = 10.0; p.ridge > 1e-8; p.ridge /= 100.0)
		{
			check_solution(&p, alpha, "copies, ridge");
			for (size_t j = DISTINCT; j < COUNT; j++)
				CHECK(alpha[j] == alpha[j - DISTINCT], "ridge %g: copies have %g and %g", p.ridge,
					  alpha[j], alpha[j - DISTINCT]);
		}
	}

	for (size_t i = DIMS; i < COUNT * DIMS; i++)
		points[i] = points[i - DIMS];
	p.ridge = 0.0;
	check_solution(&p, alpha, "all equal");
	CHECK(alpha[0] == 1.0, "the first takes all, not %g", alpha[0]);
	p.ridge = 1e-3;
	check_solution(&p, alpha, "all equal, ridge");
	for (size_t j = 0; j < COUNT; j++)
		CHECK_NEAR(alpha[j], 1.0 / COUNT, 1e-14);
}

/* More copies than there are candidates: the first must be among these. */
static void
test_candidate_ties(void)
{
	enum {COUNT = 3000, DIMS = 5, DISTINCT = 20};
	uint64_t	seed = 16;
	double	   *points = malloc(COUNT * DIMS * sizeof(double));
	double	   *alpha = malloc(COUNT * sizeof(double));
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};

	for (int t = 0; t < 20; t++)
	{
		fill_normal(points, DISTINCT * DIMS, &seed);
		for (size_t i = 0; i < DISTINCT * DIMS; i++)
			points[i] += 1.0;
		for (size_t i = DISTINCT * DIMS; i < COUNT * DIMS; i++)
			points[i] = points[i - DISTINCT * DIMS];
		check_solution(&p, alpha, "more copies than candidates");
		for (size_t j = DISTINCT; j < COUNT; j++)
			CHECK(alpha[j] == 0.0, "copy %zu has weight %g", j, alpha[j]);
	}
	free(points);
	free(alpha);
}

/* The target is one of the sources: exactly that one, exactly. */
static void
test_target_among_sources(void)
{
	enum {COUNT = 200, DIMS = 20};
	uint64_t	seed = 3;
	double		points[COUNT * DIMS];
	double		alpha[COUNT];
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};
	Certificate c;

	fill_normal(points, COUNT * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 0.8;
	memset(points + 70 * DIMS, 0, DIMS * sizeof(double));
	memset(points + 90 * DIMS, 0, DIMS * sizeof(double));
	c = check_solution(&p, alpha, "target among sources");
	CHECK(alpha[70] == 1.0 && c.objective == 0.0L, "%g, %Lg", alpha[70], c.objective);

	/* Here Newton's method gives up for small ridges. */
	for (p.ridge = 100.0; p.ridge > 1e-13; p.ridge /= 10.0)
	{
		c = check_solution(&p, alpha, "target among sources, ridge");
		CHECK(c.gap <= 1e-10L * c.objective / p.ridge, "ridge %g: gap %Lg", p.ridge, c.gap);
	}
	CHECK_NEAR(alpha[70], 0.5, 1e-6);

}

/*
 * Many copies of everything, the target included: Newton's method is slow for
 * small ridges, its successor runs out of room, and at last the ridge is lost.
 */
static void
test_many_copies(void)
{
	enum {COUNT = 1500, DIMS = 20, COPIES = 30, DISTINCT = COUNT / COPIES};
	uint64_t	seed = 13;
	double	   *points = malloc(COUNT * DIMS * sizeof(double));
	double	   *alpha = malloc(COUNT * sizeof(double));
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};

	fill_normal(points, COUNT * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 0.9;
	memset(points, 0, DIMS * sizeof(double));
	for (size_t j = DISTINCT; j < COUNT; j++)
		memcpy(points + j * DIMS, points + j % DISTINCT * DIMS, DIMS * sizeof(double));
	for (p.ridge = 100.0; p.ridge > 1e-17; p.ridge /= 10.0)
		check_solution(&p, alpha, "copies of everything");

	fill_normal(points, COUNT * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 1.0;
	for (size_t j = 0; j < 400; j++)
		memset(points + 2 * j * DIMS, 0, DIMS * sizeof(double));
	for (p.ridge = 100.0; p.ridge > 1e-17; p.ridge /= 10.0)
		check_solution(&p, alpha, "copies of the target");
	free(points);
	free(alpha);
}

/* A source far away is of no use, and must do no harm to the digits either. */
static void
test_far_source(void)
{
	enum {COUNT = 50, DIMS = 6};
	uint64_t	seed = 14;
	double		points[(COUNT + 1) * DIMS];
	double		near[COUNT + 1];
	double		alpha[COUNT + 1];

	fill_normal(points, (COUNT + 1) * DIMS, &seed);
	for (size_t i = 0; i < COUNT * DIMS; i++)
		points[i] += 1.0;
	for (double ridge = 0.0; ridge < 10.0; ridge = 3.0 * ridge + 0.1)
	{
		WmlcSimplex p = {points, COUNT, DIMS, DIMS, ridge};

		check_solution(&p, near, "near sources");
		for (double far = 1e10; far < 1e100; far *= 1e15)
		{
			for (size_t i = 0; i < DIMS; i++)
				points[COUNT * DIMS + i] = far * (double) (i + 1);
			p.count = COUNT + 1;
			check_solution(&p, alpha, "a far source");
			CHECK(alpha[COUNT] == 0.0, "weight %g", alpha[COUNT]);
			for (size_t j = 0; j < COUNT; j++)
				CHECK_NEAR(alpha[j], near[j], 1e-13);
		}
	}
}

static void
test_inside_hull(void)
{
	enum {COUNT = 400, DIMS = 12};
	uint64_t	seed = 4;
	double		points[COUNT * DIMS];
	double		alpha[COUNT];
	WmlcSimplex p = {points, COUNT, DIMS, DIMS, 0.0};
	Certificate c;

	fill_normal(points, COUNT * DIMS, &seed);
	c = check_solution(&p, alpha, "inside the hull");
	CHECK(c.objective <= 1e-28L, "objective %Lg", c.objective);
	CHECK(c.support <= DIMS + 1, "support %zu", c.support);
	for (p.ridge = 1.0; p.ridge > 1e-14; p.ridge /= 100.0)
	{
		c = check_solution(&p, alpha, "inside the hull, ridge");
		CHECK(c.support > COUNT / 2, "ridge %g: support %zu", p.ridge, c.support);
	}
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

/* ---------- many ---------- */

/* Deform normal points in one of many unpleasant ways. */
static void
deform(double *e, size_t count, size_t dims, int kind, uint64_t *seed)
{
	for (size_t j = 0; j < count; j++)
	{
		double	   *p = e + j * dims;
		double		stretch = exp(10.0 * check_normal(seed));
		uint64_t	axis = 17;
		double		length = 0.0;
		size_t		copied = (size_t) (check_random(seed) * (double) (count / 3 + 1));

		for (size_t i = 0; i < dims; i++)
			length += p[i] * p[i];
		for (size_t i = 0; i < dims; i++)
		{
			switch (kind)
			{
				case 1:			/* coordinates of all sizes */
					p[i] *= i % 2 ? 1e12 : 1e-6;
					break;
				case 2:			/* copies */
					p[i] = e[copied * dims + i];
					break;
				case 3:			/* the target among the sources */
					p[i] = j == count / 2 ? 0.0 : p[i];
					break;
				case 4:			/* all on one side */
					p[i] += 1.5;
					break;
				case 5:			/* all equal */
					p[i] = e[i];
					break;
				case 6:			/* nearly on a line */
					p[i] = j == 0 ? p[i] : e[i] + (double) (j % 7 * (1 + i)) + 1e-13 * p[i];
					break;
				case 7:			/* a lattice, full of ties */
					p[i] = floor(3.0 * check_random(seed));
					break;
				case 8:			/* points of all lengths */
					p[i] *= stretch;
					break;
				case 9:			/* a thin plate far away */
					p[i] = i == 0 ? 1.0 : 1e-8 * p[i];
					break;
				case 10:		/* rank one but for a little */
					p[i] = i == 0 ? p[i] : p[i - 1] * (1.0 + 1e-9 * (double) i);
					break;
				case 11:		/* copies but for the last bits */
					p[i] = e[copied * dims + i] * (1.0 + 3e-16 * floor(4.0 * check_random(seed)));
					break;
				case 12:		/* a sphere that nearly touches the target */
					p[i] = p[i] / sqrt(length) + (i == 0 ? 1.0 + 1e-9 : 0.0);
					break;
				case 14:		/* coordinates of random sizes */
					p[i] *= exp(20.0 * (check_random(&axis) - 0.5));
					break;
				case 13:		/* far beyond the range of squares */
					p[i] = (p[i] + 0.3) * 1e200;
					break;
				default:
					break;
			}
		}
	}
}

static void
test_many(void)
{
	uint64_t	seed = 8;
	double	   *points = malloc(600 * 70 * sizeof(double));
	double		alpha[600];

	for (int t = 0; t < 1000; t++)
	{
		int			kind = t % 15;
		size_t		dims = 1 + (size_t) (check_random(&seed) * (t % 5 ? 12 : 70));
		size_t		count = 1 + (size_t) (check_random(&seed) * (t % 7 ? t % 3 ? 60 : 8 : 600));
		WmlcSimplex p = {points, count, dims, dims, 0.0};
		WmlcSimplexReport report;
		double		largest;
		char		what[64];

		fill_normal(points, count * dims, &seed);
		deform(points, count, dims, kind, &seed);
		snprintf(what, sizeof(what), "kind %d, %zu points, %zu dimensions", kind, count, dims);
		if (kind == 13)
		{
			/* Squares are out of range here, for the report as well. */
			CHECK(solve(&p, alpha, &report) == WMLC_OK, "%s", what);
			CHECK(certify(&p, alpha).gap <= 1e-14L, "%s", what);
			continue;
		}
		check_solution(&p, alpha, what);
		CHECK(certify(&p, alpha).support <= dims + 1, "%s: support %zu", what, certify(&p, alpha).support);
		largest = gap_report(&p, alpha).largest;
		p.ridge = largest * pow(10.0, 2.0 - 18.0 * check_random(&seed));
		check_solution(&p, alpha, what);
	}
	free(points);
}

/* Points or coordinates of all sizes: the corral's columns lose their independence. */
static void
test_sizes(void)
{
	enum {MOST = 100, MOST_DIMS = 50};
	uint64_t	seed = 15;
	double		points[MOST * MOST_DIMS];
	double		alpha[MOST];

	for (int t = 0; t < 2000; t++)
	{
		size_t		dims = 1 + (size_t) (check_random(&seed) * MOST_DIMS);
		size_t		count = 1 + (size_t) (check_random(&seed) * MOST);
		WmlcSimplex p = {points, count, dims, dims, 0.0};

		fill_normal(points, count * dims, &seed);
		deform(points, count, dims, t % 2 ? 8 : 14, &seed);
		check_solution(&p, alpha, "sizes");
		p.ridge = gap_report(&p, alpha).largest * pow(10.0, -16.0 * check_random(&seed));
		check_solution(&p, alpha, "sizes, ridge");
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

/* ---------- own kernels ---------- */

static WmlcStatus
kernel_points(const double *kernel, size_t count, double *points, size_t *dims)
{
	void	   *work = malloc(wmlc_kernel_points_workspace(count));
	WmlcStatus	status = wmlc_kernel_points(kernel, count, points, dims, work, NULL);

	free(work);
	return status;
}

/* Inner products of the points, the last of them the target. */
static void
form_kernel(const double *points, size_t count, size_t dims, double *kernel)
{
	for (size_t i = 0; i < count; i++)
	{
		for (size_t j = 0; j < count; j++)
		{
			kernel[i * count + j] = 0.0;
			for (size_t d = 0; d < dims; d++)
				kernel[i * count + j] += points[i * dims + d] * points[j * dims + d];
		}
	}
}

static void
test_kernel(void)
{
	enum {MOST = 81};
	uint64_t	seed = 11;
	double		points[MOST * MOST];
	double		kernel[MOST * MOST];
	double		embedded[MOST * MOST];
	double		alpha[MOST];
	double		beta[MOST];

	for (int t = 0; t < 60; t++)
	{
		size_t		count = 2 + (size_t) (check_random(&seed) * (MOST - 1));
		size_t		sources = count - 1;
		size_t		dims = 1 + (size_t) (check_random(&seed) * (t % 2 ? MOST : 10));
		size_t		rank;
		WmlcSimplex p = {points, sources, dims, dims, t % 3 ? 0.0 : 0.1};
		WmlcSimplex q = {embedded, sources, 0, count, p.ridge};
		Certificate c;
		Certificate k;

		fill_normal(points, count * dims, &seed);
		for (size_t i = 0; i < sources * dims; i++)
			points[i] += t % 4;
		if (t % 5 == 0 && sources > 2)
			memcpy(points + dims, points, dims * sizeof(double));
		form_kernel(points, count, dims, kernel);
		CHECK(kernel_points(kernel, count, embedded, &rank) == WMLC_OK, "kernel points");
		CHECK(t % 5 || sources <= 2 || memcmp(embedded, embedded + count, count * sizeof(double)) == 0,
			  "copies are different points");
		CHECK(rank <= dims && rank <= count, "rank %zu of %zu points in %zu dimensions", rank, count, dims);
		for (size_t i = 0; i < count; i++)
		{
			for (size_t j = 0; j < count; j++)
			{
				double		inner = 0.0;

				for (size_t d = 0; d < rank; d++)
					inner += embedded[i * count + d] * embedded[j * count + d];
				CHECK(fabs(inner - kernel[i * count + j]) <=
					  1e-13 * sqrt(kernel[i * count + i] * kernel[j * count + j]), "entry %zu, %zu", i, j);
			}
		}

		/* Distances from the target, both ways: the same problem. */
		for (size_t j = 0; j < sources; j++)
		{
			for (size_t i = 0; i < dims; i++)
				points[j * dims + i] -= points[sources * dims + i];
			for (size_t i = 0; i < rank; i++)
				embedded[j * count + i] -= embedded[sources * count + i];
		}
		q.dims = rank;
		c = check_solution(&p, alpha, "points");
		k = check_solution(&q, beta, "kernel");
		CHECK(fabsl(c.objective - k.objective) <= 1e-12L * (1.0L + c.objective), "%Lg and %Lg",
			  c.objective, k.objective);
		CHECK(certify(&p, beta).gap <= 1e-12L, "gap %Lg", certify(&p, beta).gap);
		if (t % 5 == 0 && sources > 2)
			CHECK(p.ridge > 0.0 ? beta[0] == beta[1] : beta[1] == 0.0, "copies have %g and %g", beta[0], beta[1]);
	}
}

static void
test_kernel_refusals(void)
{
	double		points[16];
	size_t		dims;
	double		indefinite[] = {1, 2, 2, 1};
	double		hollow[] = {0, 1, 1, 0};
	double		negative[] = {1, 0, 0, -1e-3};
	double		slightly[] = {1, 1 + 1e-9, 1 + 1e-9, 1};
	double		rounded[] = {1, 1 + 4e-16, 1 + 4e-16, 1};
	double		late[] = {1, 0, 0, 0, 1e-3, 2e-3, 0, 2e-3, 1e-3};
	double		uneven[] = {1e20, 0, 0, 1e-20};
	double		nothing[4] = {0};
	double		broken[] = {1, NAN, NAN, 1};
	double		endless[] = {1, 0, 0, INFINITY};

	CHECK(kernel_points(indefinite, 2, points, &dims) == WMLC_NOT_POSITIVE, "indefinite");
	CHECK(kernel_points(hollow, 2, points, &dims) == WMLC_NOT_POSITIVE, "hollow");
	CHECK(kernel_points(negative, 2, points, &dims) == WMLC_NOT_POSITIVE, "negative");
	CHECK(kernel_points(slightly, 2, points, &dims) == WMLC_NOT_POSITIVE, "slightly");
	CHECK(kernel_points(late, 3, points, &dims) == WMLC_NOT_POSITIVE, "late");
	CHECK(kernel_points(rounded, 2, points, &dims) == WMLC_OK && dims == 1, "rounding is forgiven");
	CHECK(kernel_points(uneven, 2, points, &dims) == WMLC_OK && dims == 2, "small rows count");
	CHECK(kernel_points(nothing, 2, points, &dims) == WMLC_OK && dims == 0, "all at the origin");
	CHECK(kernel_points(broken, 2, points, &dims) == WMLC_NOT_FINITE, "NaN");
	CHECK(kernel_points(endless, 2, points, &dims) == WMLC_NOT_FINITE, "infinity");
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
	CHECK(solve(&p, alpha, &report) == WMLC_DIMENSION_MISMATCH, "negative ridge");
	p.ridge = NAN;
	CHECK(solve(&p, alpha, &report) == WMLC_NOT_FINITE, "ridge NaN");
	p = (WmlcSimplex) {points, 0, 2, 2, 0.0};
	CHECK(solve(&p, alpha, &report) == WMLC_DIMENSION_MISMATCH, "no points");
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
	test_ties();
	test_candidate_ties();
	test_target_among_sources();
	test_many_copies();
	test_far_source();
	test_inside_hull();
	test_equal_bits();
	test_permutation();
	test_ridge_limits();
	test_many();
	test_sizes();
	test_large();
	test_gap();
	test_kernel();
	test_kernel_refusals();
	test_refusals();
	test_interrupts();
	return check_summary();
}
