/*
 * test_factor.c
 *	  The pivoted factor: it gives the matrix back, its inverse whitens, and the
 *	  solver, the objectives and the prior read the same rank from it.
 */
#include "gram/gram_fixture.h"

#include "core/linalg/factor.h"
#include "core/linalg/solve.h"
#include "core/linalg/tolerance.h"
#include "core/model/objective.h"
#include "core/prior/prior.h"

#define MAX_DIMS 12

/* Fill z = (features, response) of row r. */
typedef void (*MakeRow) (int r, double *z, uint64_t *seed);

typedef struct Design
{
	const char *name;
	int			dims;
	int			rows;
	int			rank;
	MakeRow		make;
} Design;

static void
make_independent(int r, double *z, uint64_t *seed)
{
	z[0] = 1.0;
	for (int i = 1; i <= 4; i++)
		z[i] = check_normal(seed) * pow(10.0, 3.0 * (i - 2)) + (r == 0);
}

/* a, b and a + b as doubles have it */
static void
make_rounded_sum(int r, double *z, uint64_t *seed)
{
	make_independent(r, z, seed);
	z[3] = z[1] + z[2];
}

static void
make_temperature(int r, double *z, uint64_t *seed)
{
	make_independent(r, z, seed);
	z[1] = 20.0 + r % 17 * 0.7;
	z[2] = z[1] * 1.8 + 32.0;
	z[3] = z[4] * 0.0;
}

static void
make_powers(int r, double *z, int degree)
{
	z[0] = 1.0;
	for (int k = 1; k <= degree; k++)
		z[k] = z[k - 1] * (1950 + r);
	z[degree + 1] = r % 7;
}

static void
make_cubic(int r, double *z, uint64_t *seed)
{
	(void) seed;
	make_powers(r, z, 3);
}

/* The smallest pivot is 5e-23, and at 7e-34 the next degree is noise. */
static void
make_quintic(int r, double *z, uint64_t *seed)
{
	(void) seed;
	make_powers(r, z, 5);
}

/* Two columns whose difference is a share 1e-9, 1e-13 of them */
static void
make_close(int r, double *z, uint64_t *seed)
{
	make_independent(r, z, seed);
	z[2] = z[1] + 1e-9 * check_normal(seed);
}

static void
make_closer(int r, double *z, uint64_t *seed)
{
	make_independent(r, z, seed);
	z[1] = floor(1e3 * z[1]);
	z[2] = z[1] + 0x1p-38 * floor(10.0 * check_normal(seed));
}

static const Design designs[] = {
	{"independent", 4, 50, 4, make_independent},
	{"fewer rows than features", 4, 3, 3, make_independent},
	{"rounded sum", 4, 50, 3, make_rounded_sum},
	{"rounded sum, many rows", 4, 50000, 3, make_rounded_sum},
	{"Celsius and Fahrenheit", 4, 50, 2, make_temperature},
	{"cubic in the year", 4, 71, 4, make_cubic},
	{"quintic in the year", 6, 71, 6, make_quintic},
	{"nearly equal", 4, 50, 4, make_close},
	{"more nearly equal", 4, 50, 4, make_closer},
};

static WmlcGram *
collect(const Design *design)
{
	WmlcGram   *gram = gram_new(design->dims);
	uint64_t	seed = 5;
	double		z[MAX_DIMS + WMLC_ROW_PADDING] = {0};

	for (int r = 0; r < design->rows; r++)
	{
		design->make(r, z, &seed);
		wmlc_gram_add_row(gram, z, 1.0);
	}
	return gram;
}

static int
solver_rank(const WmlcGram *gram)
{
	int			d = gram->dims;
	void	   *work = malloc(wmlc_solve_workspace(d));
	WmlcSolver	solver;
	WmlcStatus	status = wmlc_solve_factor(&solver, d, d + 1, gram->sums,
										   gram->sums + wmlc_gram_entries(d),
										   (double) wmlc_gram_weighted_rows(gram), 0.0, work, NULL);

	free(work);
	return status == WMLC_OK ? solver.factor.rank : -1;
}

static int
objective_rank(const WmlcGram *gram)
{
	int			d = gram->dims;
	WmlcObjective objective = {.kind = WMLC_ERM};
	double	   *array = calloc(wmlc_objective_doubles(WMLC_ERM, d), sizeof(double));
	void	   *work = malloc(wmlc_objective_workspace(WMLC_ERM, d));
	double		w[MAX_DIMS];
	WmlcObjectiveSum sum;
	int			rank = -1;

	wmlc_objective_attach(&sum, WMLC_ERM, d, array);
	if (wmlc_objective_add(&sum, &objective, gram, 1.0, work, NULL) != WMLC_OK ||
		wmlc_objective_fit(&sum, 0.0, w, &rank, work, NULL) != WMLC_OK)
		rank = -1;
	free(array);
	free(work);
	return rank;
}

static int
prior_rank(const WmlcGram *gram)
{
	int			d = gram->dims;
	double		rows = (double) wmlc_gram_weighted_rows(gram);
	double		numbers[MAX_DIMS * (2 * MAX_DIMS + 1)];
	WmlcPriorTasks tasks = {.dims = d, .count = 1, .moments = gram->sums,
	.moments_lo = gram->sums + wmlc_gram_entries(d), .rows = &rows};
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .covariance = WMLC_PRIOR_FULL};
	WmlcPrior	prior = {.dims = d, .mean = numbers, .factor = numbers + d,
	.mean_factor = numbers + d * (d + 1)};
	void	   *work = malloc(wmlc_prior_fit_workspace(d, 1, &options));
	WmlcStatus	status = wmlc_prior_fit(&tasks, &options, &prior, work);

	free(work);
	return status == WMLC_OK ? prior.design_rank : -1;
}

/* Ranks agree, for the gram and for the gram in other units. */
static void
test_ranks(void)
{
	for (size_t k = 0; k < sizeof(designs) / sizeof(designs[0]); k++)
	{
		WmlcGram   *gram = collect(&designs[k]);

		CHECK(solver_rank(gram) == designs[k].rank, "%s: solver %d", designs[k].name, solver_rank(gram));
		CHECK(objective_rank(gram) == designs[k].rank, "%s: objective %d", designs[k].name,
			  objective_rank(gram));
		CHECK(prior_rank(gram) == designs[k].rank, "%s: prior %d", designs[k].name, prior_rank(gram));
		free(gram);
	}
}

/*
 * With the pivot between two columns ever smaller, until it is rounding: where
 * it stops to count is the same for all.
 */
static void
test_border(void)
{
	int			full = 0;

	for (int bits = 20; bits <= 60; bits++)
	{
		WmlcGram   *gram = gram_new(3);
		uint64_t	seed = 7;
		double		z[4 + WMLC_ROW_PADDING] = {0};
		int			rank;

		for (int r = 0; r < 40; r++)
		{
			z[0] = 1.0;
			z[1] = floor(1000.0 * check_random(&seed));
			z[2] = z[1] + ldexp(floor(8.0 * check_random(&seed)), -bits);
			z[3] = check_normal(&seed);
			wmlc_gram_add_row(gram, z, 1.0);
		}
		rank = solver_rank(gram);
		full += rank == 3;
		CHECK(rank == 3 || rank == 2, "rank %d", rank);
		CHECK(objective_rank(gram) == rank, "%d bits: objective", bits);
		CHECK(prior_rank(gram) == rank, "%d bits: prior %d instead of %d", bits, prior_rank(gram), rank);
		free(gram);
	}
	CHECK(full > 15 && full < 35, "%d of full rank", full);
}

/* L L' is the scaled matrix, and R A R' = I. */
static void
test_parts(const Design *design)
{
	WmlcGram   *gram = collect(design);
	int			d = gram->dims;
	const double *lo = gram->sums + wmlc_gram_entries(d);
	double	   *space = calloc(8 * (MAX_DIMS + 1) * MAX_DIMS + 4096, sizeof(double));
	WmlcArena	arena = {(char *) space, 0};
	WmlcFactor	f;
	WmlcSquare	inverse;
	WmlcStatus	status;

	wmlc_factor_layout(&f, d, true, &arena);
	f.square = (WmlcSquare) {d + 1, wmlc_arena_span(&arena, (d + 1) * (d + 1))};
	inverse = (WmlcSquare) {d, wmlc_arena_span(&arena, d * d)};
	wmlc_factor_load(&f, d + 1, gram->sums, lo, 0.0);
	status = wmlc_factor(&f, wmlc_zero_pivot(d, design->rows), NULL);
	CHECK(status == WMLC_OK && f.rank == design->rank, "%s: status %d", design->name, status);
	for (int i = 0; i <= d; i++)
		for (int j = 0; j <= i; j++)
		{
			/* a passenger has the square root of the noise beside a dependent column */
			double		tolerance = i == d && j >= f.rank && j < d ? sqrt(f.tolerance) : 4.0 * f.tolerance;
			WmlcDd		sum = j < d ? wmlc_dd(0.0) : wmlc_dd_get(f.remainder, d);
			WmlcDd		entry = wmlc_gram_sum(gram, f.column[i], f.column[j]);

			for (int k = 0; k <= j && k < f.rank; k++)
				sum = wmlc_dd_add(sum, wmlc_dd_mul(wmlc_factor_entry(&f, i, k),
												   wmlc_factor_entry(&f, j, k)));
			CHECK(fabs(wmlc_dd_sub(wmlc_dd_scale(wmlc_dd_scale(entry, f.scale[i]), f.scale[j]), sum).hi)
				  <= tolerance, "%s: entry (%d, %d)", design->name, i, j);
		}
	wmlc_factor_inverse(&f, inverse, wmlc_arena_span(&arena, d));
	for (int a = 0; a < f.rank; a++)
		for (int b = 0; b < f.rank; b++)
		{
			WmlcDd		sum = wmlc_dd(a == b ? -1.0 : 0.0);

			for (int i = 0; i < d; i++)
				for (int j = 0; j < d; j++)
					sum = wmlc_dd_add(sum, wmlc_dd_mul(wmlc_gram_sum(gram, i, j),
													   wmlc_dd_mul(wmlc_dd_get(wmlc_square_row(inverse, a), i),
																   wmlc_dd_get(wmlc_square_row(inverse, b), j))));
			CHECK(fabs(sum.hi) <= 0x1p-95 / f.smallest_pivot, "%s: whitened entry %g", design->name, sum.hi);
		}
	free(space);
	free(gram);
}

static void
test_refused(void)
{
	double		space[512];
	WmlcArena	arena = {(char *) space, 0};
	double		triangle[3] = {1.0, 2.0, 1.0};
	const double none[3] = {0.0, 0.0, 0.0};
	WmlcFactor	f;

	wmlc_factor_layout(&f, 2, false, &arena);
	f.square = (WmlcSquare) {2, wmlc_arena_span(&arena, 4)};
	wmlc_factor_load(&f, 2, triangle, none, 0.0);
	CHECK(wmlc_factor(&f, wmlc_zero_pivot(2, 0.0), NULL) == WMLC_NOT_POSITIVE, "indefinite");
	triangle[1] = INFINITY;
	wmlc_factor_load(&f, 2, triangle, none, 0.0);
	CHECK(wmlc_factor(&f, wmlc_zero_pivot(2, 0.0), NULL) == WMLC_NOT_FINITE, "infinite");
	triangle[1] = 0.5;
	wmlc_factor_load(&f, 2, triangle, none, -3.0);
	CHECK(wmlc_factor(&f, wmlc_zero_pivot(2, 0.0), NULL) == WMLC_NOT_POSITIVE, "negative diagonal");
}

int
main(void)
{
	test_ranks();
	test_border();
	for (size_t k = 0; k < sizeof(designs) / sizeof(designs[0]); k++)
		test_parts(&designs[k]);
	test_refused();
	return check_summary();
}
