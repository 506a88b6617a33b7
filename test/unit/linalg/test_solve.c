/*
 * test_solve.c
 *	  The solver of positive semidefinite systems, mostly against systems of
 *	  integers whose answer is known exactly.
 */
#include "linalg/integer_system.h"

static void
fill_epoch(int rows)
{
	for (int r = 0; r < rows; r++)
	{
		sys.x[r][0] = 1;
		sys.x[r][1] = 1700000000 + r;
		sys.x[r][2] = random_integer(1000);
	}
	sum_rows(3, rows);
}

static void
test_offset_columns(void)
{
	const Integer seconds[] = {-1700000123, 4, 17};
	const Integer ones[] = {1, 1, 1, 1, 1, 1};
	const Integer falling[] = {100000, 10000, 1000, 100, 10, 1};
	const Integer mixed[] = {3, -2, 0, 7, 1};
	const Integer steep[] = {1000000000000000, -2000000000000, 1000000000, 3000000, -1000, 1};

	fill_powers(0, 20, 5);
	check_recovers("Wampler 1", ones, 6);
	check_recovers("Wampler 2", falling, 6);
	fill_powers(1950, 2020, 3);
	check_recovers("cubic in the year", falling, 4);
	fill_powers(1950, 2020, 4);
	check_recovers("quartic in the year", mixed, 5);

	/* as hard as the year, and small enough for exact sums */
	fill_powers(930, 960, 5);
	check_recovers("degree 5", steep, 6);
	CHECK(sys.solver.factor.smallest_pivot < 1e-22, "degree 5 is too easy");

	fill_epoch(100);
	check_recovers("epoch seconds", seconds, 3);
}

/* Hilbert's matrix times the least common multiple of its denominators */
static void
test_hilbert(void)
{
	const int64_t multiple = INT64_C(144403552893600);	/* of 1 to 35 */
	Integer		w[18];

	sys.d = 18;
	sys.rows = 0;
	for (int i = 0; i < 18; i++)
	{
		w[i] = random_integer(1000);
		for (int j = 0; j < 18; j++)
			sys.a[i][j] = multiple / (i + j + 1);
	}
	pack_integers();
	check_recovers("Hilbert", w, 18);
}

/* Longley's data, the first regressor times 10; the fit as certified by NIST */
static void
test_longley(void)
{
	static const int64_t data[16][7] = {
		{60323, 830, 234289, 2356, 1590, 107608, 1947},
		{61122, 885, 259426, 2325, 1456, 108632, 1948},
		{60171, 882, 258054, 3682, 1616, 109773, 1949},
		{61187, 895, 284599, 3351, 1650, 110929, 1950},
		{63221, 962, 328975, 2099, 3099, 112075, 1951},
		{63639, 981, 346999, 1932, 3594, 113270, 1952},
		{64989, 990, 365385, 1870, 3547, 115094, 1953},
		{63761, 1000, 363112, 3578, 3350, 116219, 1954},
		{66019, 1012, 397469, 2904, 3048, 117388, 1955},
		{67857, 1046, 419180, 2822, 2857, 118734, 1956},
		{68169, 1084, 442769, 2936, 2798, 120445, 1957},
		{66513, 1108, 444546, 4681, 2637, 121950, 1958},
		{68655, 1126, 482704, 3813, 2552, 123366, 1959},
		{69564, 1142, 502601, 3931, 2514, 125368, 1960},
		{69331, 1157, 518173, 4806, 2572, 127852, 1961},
		{70551, 1169, 554894, 4007, 2827, 130081, 1962}
	};
	static const double certified[7] = {
		-3482258.63459582, 1.50618722713733, -0.358191792925910e-01, -2.02022980381683,
		-1.03322686717359, -0.511041056535807e-01, 1829.15146461355
	};
	static const double certified_error[7] = {
		890420.383607373, 84.9149257747669, 0.334910077722432e-01, 0.488399681651699,
		0.214274163161675, 0.226073200069370, 455.478499142212
	};
	const double residual_deviation = 304.854073561965;
	Integer		b[7] = {0};
	WmlcDd		w[7];
	WmlcDd		inverse[7];

	for (int r = 0; r < 16; r++)
	{
		sys.x[r][0] = 1;
		for (int k = 1; k < 7; k++)
			sys.x[r][k] = data[r][k];
	}
	sum_rows(7, 16);
	for (int r = 0; r < 16; r++)
		for (int k = 0; k < 7; k++)
			b[k] += sys.x[r][k] * data[r][0];
	CHECK(factor(0.0) == WMLC_OK, "Longley");
	solve_integers(b, w);
	CHECK(wmlc_solve_inverse_diagonal(&sys.solver, inverse, NULL) == WMLC_OK, "Longley");
	for (int k = 0; k < 7; k++)
	{
		double		error = residual_deviation * sqrt(inverse[k].hi) * (k == 1 ? 10.0 : 1.0);

		CHECK(fabs(wmlc_dd_value(w[k]) / certified[k] - 1.0) < 3e-15,
			  "coefficient %d: %.17g", k, w[k].hi);
		CHECK(fabs(error / certified_error[k] - 1.0) < 1e-14,
			  "standard error %d: %.17g", k, error);
	}
}

static void
test_random_regular(void)
{
	static const int sizes[] = {1, 2, 3, 4, 5, 8, 13, 33, 64, 150};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		Integer		w[MAX_D];

		for (int i = 0; i < sizes[s]; i++)
			w[i] = random_integer(1000000);
		fill_random(sizes[s], sizes[s], sizes[s] + 3);
		check_recovers("random", w, sizes[s]);
	}
}

static void
test_ridge(void)
{
	const Integer w[5] = {2, -7, 1, 30, 4};
	Integer		b[5];
	WmlcDd		answer[5];

	fill_random(5, 3, 8);
	multiply(w, b);
	for (int i = 0; i < 5; i++)
		b[i] += 3 * w[i];
	CHECK(factor(3.0) == WMLC_OK, "ridge");
	CHECK(sys.solver.factor.rank == 5, "rank %d", sys.solver.factor.rank);
	solve_integers(b, answer);
	for (int i = 0; i < 5; i++)
		CHECK(wmlc_dd_value(answer[i]) == (double) w[i], "%.17g", answer[i].hi);
}

/* Bareiss: the determinant of a minor, by divisions that leave no remainder */
static Integer
determinant_without(int skip)
{
	Integer		m[8][8];
	Integer		previous = 1;
	int			n = 0;

	for (int i = 0; i < sys.d; i++)
	{
		int			columns = 0;

		if (i == skip)
			continue;
		for (int j = 0; j < sys.d; j++)
			if (j != skip)
				m[n][columns++] = sys.a[i][j];
		n++;
	}
	for (int k = 0; k + 1 < n; k++)
	{
		for (int i = k + 1; i < n; i++)
			for (int j = k + 1; j < n; j++)
				m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) / previous;
		previous = m[k][k];
	}
	return m[n - 1][n - 1];
}

static void
test_inverse_diagonal(void)
{
	WmlcDd		inverse[6];

	/* an easy matrix, then one that takes refinement */
	for (int hard = 0; hard <= 1; hard++)
	{
		if (hard)
			fill_epoch(5);
		else
			fill_random(6, 6, 9);
		CHECK(factor(0.0) == WMLC_OK, "inverse");
		CHECK((sys.solver.factor.smallest_pivot < 1e-17) == hard, "%g", sys.solver.factor.smallest_pivot);
		CHECK(wmlc_solve_inverse_diagonal(&sys.solver, inverse, NULL) == WMLC_OK, "inverse");
		for (int i = 0; i < sys.d; i++)
		{
			double		expected = (double) determinant_without(i) / (double) determinant_without(-1);

			CHECK(fabs(inverse[i].hi / expected - 1.0) < 1e-15, "%.17g, not %.17g",
				  inverse[i].hi, expected);
		}
	}
}

static double
condition(void)
{
	void	   *work = malloc(wmlc_solve_condition_workspace(sys.d));
	double		result;

	CHECK(factor(0.0) == WMLC_OK, "factor");
	CHECK(wmlc_solve_condition(&sys.solver, &result, work, NULL) == WMLC_OK, "condition");
	free(work);
	return result;
}

static void
test_condition(void)
{
	/* Hilbert's matrices times the multiple of denominators; known by power iteration in 80 digits */
	static const double hilbert[] = {
		1.0, 19.281470067903971, 524.05677758606078, 15513.738738932589, 476607.25024256081,
		14951058.640131216, 475367354.98817897, 15257575741.646942, 493154926971.54211,
		16026286870216.883, 523067739242940.88, 17132289046970050, 5.6279423737600768e+17,
		1.8533817023471501e+19, 6.1165657916198407e+20
	};

	for (int d = 1; d <= (int) (sizeof(hilbert) / sizeof(hilbert[0])); d++)
	{
		sys.d = d;
		sys.rows = 0;
		for (int i = 0; i < d; i++)
			for (int j = 0; j < d; j++)
				sys.a[i][j] = INT64_C(144403552893600) / (i + j + 1);
		pack_integers();
		CHECK_NEAR(condition(), hilbert[d - 1], 1e-12);
	}

	/* in the features' own units */
	memset(sys.x, 0, sizeof(sys.x));
	sys.x[0][0] = 1;
	sys.x[1][1] = 1024;
	sum_rows(2, 2);
	CHECK_NEAR(condition(), 1024.0 * 1024.0, 1e-15);

	fill_random(4, 2, 9);
	CHECK(isinf(condition()), "singular");
}

/* Sums near the ends of the exponent range give the same answer. */
static void
test_extreme_units(void)
{
	static const double units[] = {0x1p-400, 0x1p+450};
	Integer		b[6];
	const Integer w[6] = {1, 2, -3, 4, -5, 6};

	for (size_t u = 0; u < 2; u++)
		for (int rank = 4; rank <= 6; rank += 2)
		{
			double		unit = units[u];
			WmlcDd		rhs[6];
			WmlcDd		plain[6];
			WmlcDd		extreme[6];

			fill_random(6, rank, 10);
			multiply(w, b);
			CHECK(factor(0.0) == WMLC_OK, "plain units");
			solve_integers(b, plain);
			for (size_t k = 0; k < wmlc_triangle_size(7); k++)
			{
				sys.hi[k] *= unit * unit;
				sys.lo[k] *= unit * unit;
			}
			for (int i = 0; i < 6; i++)
				rhs[i] = wmlc_dd_scale(from_integer(b[i]), unit * unit);
			CHECK(factor(0.0) == WMLC_OK && sys.solver.factor.rank == rank, "extreme units");
			CHECK(wmlc_solve(&sys.solver, rhs, extreme, NULL) == WMLC_OK, "extreme units");
			for (int i = 0; i < 6; i++)
				CHECK(extreme[i].hi == plain[i].hi, "%.17g instead of %.17g",
					  extreme[i].hi, plain[i].hi);
		}
}

static WmlcStatus
factor_small(int d, const double *entries)
{
	sys.d = d;
	sys.rows = 0;
	for (int i = 0; i < d; i++)
		for (int j = i; j < d; j++)
			set_entry(i, j, wmlc_dd(entries[i * d + j]));
	return factor(0.0);
}

static void
test_refusals(void)
{
	const double indefinite[] = {1, 2, 2, 1};
	const double negative[] = {1, 0, 0, -1e-9};
	const double hollow[] = {0, 1, 1, 1};
	const double hidden[] = {1, 1, 1, 1, 1, 0, 1, 0, 1};
	const double nan_inside[] = {1, NAN, NAN, 1};
	const double infinite[] = {1, 0, 0, INFINITY};
	const double fine[] = {2, 1, 1, 2};
	const double tiny[] = {1e-300, 0, 0, 1e-300};
	const double underflowed[] = {0, 1e-170, 1e-170, 1};
	WmlcDd		b[2] = {{1.0, 0.0}, {NAN, 0.0}};
	WmlcDd		w[2];

	CHECK(factor_small(2, indefinite) == WMLC_NOT_POSITIVE, "negative eigenvalue");
	CHECK(factor_small(2, negative) == WMLC_NOT_POSITIVE, "negative diagonal");
	CHECK(factor_small(2, hollow) == WMLC_NOT_POSITIVE, "zero diagonal");
	CHECK(factor_small(3, hidden) == WMLC_NOT_POSITIVE, "indefinite beside dependent columns");
	CHECK(factor_small(2, nan_inside) == WMLC_NOT_FINITE, "NaN");
	CHECK(factor_small(2, infinite) == WMLC_NOT_FINITE, "infinity");
	CHECK(factor_small(2, underflowed) == WMLC_OK && sys.solver.factor.rank == 1, "underflow");
	CHECK(factor_small(2, fine) == WMLC_OK, "fine");
	CHECK(factor(NAN) == WMLC_NOT_FINITE, "ridge NaN");
	CHECK(factor(0.0) == WMLC_OK, "fine");
	CHECK(wmlc_solve(&sys.solver, b, w, NULL) == WMLC_NOT_FINITE, "NaN in b");
	CHECK(factor_small(2, tiny) == WMLC_OK, "tiny");
	b[0] = b[1] = wmlc_dd(1e300);
	CHECK(wmlc_solve(&sys.solver, b, w, NULL) == WMLC_NOT_FINITE, "overflow of w");
}

static int	polls_left;

static bool
stop_soon(void)
{
	return polls_left-- == 0;
}

/* Whenever the poll says stop, every function does. */
static void
test_interrupts(void)
{
	WmlcDd		b[20] = {{1.0, 0.0}};
	WmlcDd		w[20];
	int			stops = 0;
	bool		done = false;

	fill_random(20, 12, 30);
	free(sys.work);
	sys.work = malloc(wmlc_solve_workspace(20));
	while (!done)
	{
		WmlcStatus	status;

		polls_left = stops;
		status = wmlc_solve_factor(&sys.solver, 20, 21, sys.hi, sys.lo, 30.0, 0.0, sys.work,
								   stop_soon);
		if (status == WMLC_OK)
			status = wmlc_solve(&sys.solver, b, w, stop_soon);
		if (status == WMLC_OK)
			status = wmlc_solve_inverse_diagonal(&sys.solver, w, stop_soon);
		done = polls_left >= 0;
		CHECK(status == (done ? WMLC_OK : WMLC_INTERRUPTED), "status %d after %d polls", status,
			  stops);
		stops++;
	}
	CHECK(stops > 60, "only %d polls", stops);

	fill_random(20, 20, 30);
	polls_left = 19;
	CHECK(wmlc_solve_factor(&sys.solver, 20, 21, sys.hi, sys.lo, 30.0, 0.0, sys.work,
							stop_soon) == WMLC_INTERRUPTED, "a poll per column");
}

int
main(void)
{
	test_offset_columns();
	test_hilbert();
	test_longley();
	test_random_regular();
	test_ridge();
	test_inverse_diagonal();
	test_condition();
	test_extreme_units();
	test_refusals();
	test_interrupts();
	free(sys.work);
	return check_summary();
}
