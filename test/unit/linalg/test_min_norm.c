/*
 * test_min_norm.c
 *	  Least-squares solutions of least norm of singular systems.
 *
 * w = A v is in the range of A, so it is the minimum-norm solution of A w = b
 * for b = A (A v).
 */
#include "linalg/integer_system.h"

static void
test_random_singular(void)
{
	static const int shapes[][3] = {
		/* d, rank, rows */
		{2, 1, 9}, {4, 3, 20}, {10, 5, 5}, {10, 9, 30}, {40, 13, 60}, {120, 80, 100}, {150, 3, 9}
	};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
	{
		Integer		v[MAX_D];
		Integer		w[MAX_D];

		for (int i = 0; i < shapes[s][0]; i++)
			v[i] = random_integer(100);
		fill_random(shapes[s][0], shapes[s][1], shapes[s][2]);
		sys.rows = 0;
		multiply(v, w);
		check_recovers("random singular", w, shapes[s][1]);
	}
}

/* Dependent columns whose units differ by up to 2^20, in every order */
static void
test_singular_in_mixed_units(void)
{
	static const int shift[4] = {0, 6, 13, 20};

	for (int turn = 0; turn < 4; turn++)
	{
		Integer		v[6];
		Integer		w[6];

		for (int r = 0; r < 12; r++)
		{
			int			a = random_integer(9);
			int			b = random_integer(9);

			sys.x[r][0] = a;
			sys.x[r][1] = b;
			sys.x[r][2] = a + b;
			sys.x[r][3] = a - b;
			sys.x[r][4] = 0;
			sys.x[r][5] = random_integer(9);
			for (int i = 0; i < 6; i++)
				sys.x[r][i] *= INT64_C(1) << shift[(i + turn) % 4];
		}
		sum_rows(6, 12);
		for (int i = 0; i < 6; i++)
			v[i] = random_integer(1);
		multiply(v, w);
		check_recovers("mixed units", w, 3);
	}
}

/*
 * Two columns u and 3 u in a system of condition 1e26: of the effect c of u they
 * take c / 10 and 3 c / 10.
 */
static void
test_singular_and_ill_conditioned(void)
{
	const Integer effects[6] = {1000000000000000, -2000000000000, 1000000000, 3000000, -1000, 1};

	for (int u = 0; u < 5; u++)
	{
		Integer		w[7];

		fill_powers(930, 944, 5);
		for (int r = 0; r < sys.rows; r++)
			sys.x[r][6] = 3 * sys.x[r][u];
		sum_rows(7, sys.rows);
		memcpy(w, effects, sizeof(effects));
		w[6] = 3 * effects[u] / 10;
		w[u] = effects[u] / 10;
		check_recovers("degree 5 and a multiple", w, 6);
	}
}

/* b outside the range: the part orthogonal to it must not matter. */
static void
test_inconsistent(void)
{
	const Integer v[3] = {3, -1, 2};
	Integer		w[3];
	Integer		b[3];
	WmlcDd		answer[3];

	for (int r = 0; r < 10; r++)
	{
		sys.x[r][0] = random_integer(9);
		sys.x[r][1] = 1000 * sys.x[r][0];
		sys.x[r][2] = random_integer(9);
	}
	sum_rows(3, 10);
	CHECK(factor(0.0) == WMLC_OK, "inconsistent");
	multiply(v, w);
	multiply(w, b);
	b[0] += 1000 * 77;
	b[1] -= 77;
	solve_integers(b, answer);
	for (int i = 0; i < 3; i++)
		CHECK_NEAR(wmlc_dd_value(answer[i]), (double) w[i], 1e-15);
}

static void
test_zero(void)
{
	const Integer w[4] = {0, -4, 0, 11};
	WmlcDd		b[4] = {{1.0, 0.0}, {0.0, 0.0}, {2.0, 0.0}, {0.0, 0.0}};
	WmlcDd		answer[4];

	for (int r = 0; r < 10; r++)
	{
		sys.x[r][0] = sys.x[r][2] = 0;
		sys.x[r][1] = random_integer(9);
		sys.x[r][3] = random_integer(9);
	}
	sum_rows(4, 10);
	check_recovers("zero columns", w, 2);

	memset(sys.x, 0, sizeof(sys.x));
	sum_rows(4, 10);
	CHECK(factor(0.0) == WMLC_OK && sys.solver.factor.rank == 0, "zero matrix");
	CHECK(wmlc_solve(&sys.solver, b, answer, NULL) == WMLC_OK, "zero matrix");
	for (int i = 0; i < 4; i++)
		CHECK(answer[i].hi == 0.0 && answer[i].lo == 0.0, "%g", answer[i].hi);
}

/* Sums over doubles, as a gram makes them */
static void
sum_doubles(int d, int rows, void (*make_row) (int r, double *z))
{
	double		z[16 + WMLC_ROW_PADDING] = {0.0};

	sys.d = d;
	sys.rows = rows;
	memset(sys.hi, 0, sizeof(sys.hi));
	memset(sys.lo, 0, sizeof(sys.lo));
	for (int r = 0; r < rows; r++)
	{
		make_row(r, z);
		wmlc_gram_add_products(d + 1, 1, z, 0, NULL, sys.hi, sys.lo);
	}
}

static void
solve_gram(WmlcDd *w)
{
	WmlcDd		b[16];
	WmlcStatus	status = factor(0.0);

	CHECK(status == WMLC_OK, "status %d", status);
	for (int i = 0; i < sys.d; i++)
	{
		size_t		k = wmlc_triangle_index(sys.d + 1, i, sys.d);

		b[i] = (WmlcDd) {sys.hi[k], sys.lo[k]};
	}
	CHECK(wmlc_solve(&sys.solver, b, w, NULL) == WMLC_OK, "gram");
}

static void
row_with_rounded_sum(int r, double *z)
{
	(void) r;
	z[0] = 1.0;
	z[1] = check_normal(&seed);
	z[2] = 1e6 * check_normal(&seed);
	z[3] = 1e-3 * check_normal(&seed);
	z[4] = z[2] * 0.3 + 1e5 * z[1];
	z[5] = z[1] - 2e-6 * z[2] + 3.0 + 500.0 * z[3];
}

static void
row_with_price(int r, double *z)
{
	static const double price[3] = {0.99, 1.99, 4.95};

	z[0] = 1.0;
	z[1] = price[r % 7 % 3];
	z[2] = z[1] * 1.19;
	z[3] = 2.0 + 3.0 * z[1];
}

/* Columns that are dependent but for rounding are found so, whatever the rows. */
static void
test_dependent_up_to_rounding(void)
{
	WmlcDd		w[5];

	for (int trial = 0; trial < 20; trial++)
	{
		sum_doubles(5, 100, row_with_rounded_sum);
		sys.rows = trial % 2 == 0 ? 100 : 0;
		solve_gram(w);
		CHECK(sys.solver.factor.rank == 4, "rounded sum: rank %d", sys.solver.factor.rank);
		CHECK_NEAR(w[0].hi, 3.0, 1e-12);
		CHECK_NEAR(w[3].hi, 500.0, 1e-12);
		CHECK_NEAR(w[1].hi + 1e5 * w[4].hi, 1.0, 1e-10);
		CHECK_NEAR((w[2].hi + 0.3 * w[4].hi) / 2e-6, -1.0, 1e-10);
		CHECK_NEAR(1e5 * w[1].hi + 0.3 * w[2].hi - w[4].hi, 0.0, 1e-9);
	}
	for (int rows = 100; rows <= 1000000; rows *= 100)
	{
		sum_doubles(3, rows, row_with_price);
		solve_gram(w);
		CHECK(sys.solver.factor.rank == 2, "price with tax: rank %d, %d rows", sys.solver.factor.rank, rows);
		CHECK_NEAR(w[0].hi, 2.0, 1e-12);
		CHECK_NEAR(w[1].hi, 3.0 / (1.0 + 1.19 * 1.19), 1e-12);
		CHECK_NEAR(w[2].hi, 3.0 * 1.19 / (1.0 + 1.19 * 1.19), 1e-12);
	}
}

/*
 * Rounded to double, a singular matrix has remainders of 1e-17, most often some
 * of them negative; those betray the others.
 */
static void
test_matrix_rounded_to_double(void)
{
	int			found = 0;

	for (int trial = 0; trial < 20; trial++)
	{
		for (int r = 0; r < 5; r++)
			for (int i = 0; i < 10; i++)
				sys.x[r][i] = random_integer(1000000000);
		sum_rows(10, 5);
		memset(sys.lo, 0, sizeof(sys.lo));
		CHECK(factor(0.0) == WMLC_OK, "rounded matrix");
		found += sys.solver.factor.rank == 5;
	}
	CHECK(found >= 15, "only %d of 20", found);
}

/* The pseudoinverse of columns a, 2 a and b, which is orthogonal to a */
static void
test_pseudoinverse_diagonal(void)
{
	WmlcDd		inverse[3];

	memset(sys.x, 0, sizeof(sys.x));
	sys.x[0][0] = 3;
	sys.x[0][1] = 6;
	sys.x[1][2] = 7;
	sum_rows(3, 2);
	CHECK(factor(0.0) == WMLC_OK && sys.solver.factor.rank == 2, "pseudoinverse");
	CHECK(wmlc_solve_inverse_diagonal(&sys.solver, inverse, NULL) == WMLC_OK, "pseudoinverse");
	CHECK_NEAR(inverse[0].hi, 1.0 / 225.0, 1e-16);
	CHECK_NEAR(inverse[1].hi, 4.0 / 225.0, 1e-16);
	CHECK_NEAR(inverse[2].hi, 1.0 / 49.0, 1e-16);
}

int
main(void)
{
	test_random_singular();
	test_singular_in_mixed_units();
	test_singular_and_ill_conditioned();
	test_inconsistent();
	test_zero();
	test_dependent_up_to_rounding();
	test_matrix_rounded_to_double();
	test_pseudoinverse_diagonal();
	free(sys.work);
	return check_summary();
}
