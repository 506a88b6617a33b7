/*
 * test_simplex_hard.c
 *	  The weight solver on what is unpleasant: ties, the target among the
 *	  sources or inside their hull, and points of every bad shape and size.
 */
#include "simplex/simplex_fixture.h"

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

int
main(void)
{
	test_ties();
	test_candidate_ties();
	test_target_among_sources();
	test_many_copies();
	test_far_source();
	test_inside_hull();
	test_many();
	test_sizes();
	return check_summary();
}
