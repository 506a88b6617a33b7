/*
 * test_gram_read.c
 *	  Reading grams: when they are equal, in which order they are otherwise, rows
 *	  that are not finite, and weights of every magnitude.
 */
#include "gram/gram_fixture.h"
#include "quad.h"

static void
test_equal(void)
{
	uint64_t	seed = 19;
	Rows		rows = rows_random(2, 10, &seed);
	WmlcGram   *gram = gram_of(&rows);

#define DIFFERENT(change) \
	do { \
		WmlcGram *other = gram_copy(gram); \
		CHECK(wmlc_gram_equal(gram, other), "a copy"); \
		change; \
		CHECK(!wmlc_gram_equal(gram, other), "%s", #change); \
		CHECK(!wmlc_gram_equal(other, gram), "%s", #change); \
		free(other); \
	} while (0)

	DIFFERENT(other->rows++);
	DIFFERENT(other->skipped++);
	DIFFERENT(other->weightless++);
	DIFFERENT(other->exceptions++);
	DIFFERENT(other->constant = -1);
	DIFFERENT(other->weight.hi = nextafter(other->weight.hi, 0.0));
	DIFFERENT(other->weight_squares.hi = nextafter(other->weight_squares.hi, 0.0));
	DIFFERENT(other->q.hi = nextafter(other->q.hi, 0.0));
	DIFFERENT(other->h.hi = NAN);
	for (int k = 0; k < 6; k++)
		DIFFERENT(other->sums[k] = nextafter(other->sums[k], INFINITY));
#undef DIFFERENT

	for (int k = 0; k < 6; k++)
	{
		WmlcGram   *other = gram_copy(gram);

		other->sums[6 + k] += 0x1p-105 * other->sums[k];
		CHECK(wmlc_gram_equal(gram, other), "the last bits of entry %d", k);
		free(other);
	}
	free(gram);
	rows_free(&rows);
}

/* NaN spoils the figures of its column and nothing else, and so does what cannot be squared. */
static void
test_not_finite(void)
{
	static const double special[] = {INFINITY, -INFINITY, NAN, 1e200, -1e200};

	for (int kind = 0; kind < 5; kind++)
	{
		for (int column = 0; column < 3; column++)
		{
			uint64_t	seed = 16;
			Rows		rows = rows_random(2, 10, &seed);
			WmlcGram   *gram,
					   *left,
					   *right;

			rows_at(&rows, 4)[column] = special[kind];
			gram = gram_of(&rows);
			left = gram_of_part(&rows, NULL, 0, 5, 4);
			right = gram_of_part(&rows, NULL, 5, 10, 4);
			wmlc_gram_merge(left, right);
			CHECK(!wmlc_gram_is_finite(gram) && gram->exceptions == 1, "column %d is %g", column, special[kind]);
			CHECK(valid(gram) && valid(left), "column %d is %g", column, special[kind]);
			CHECK(wmlc_gram_equal(gram, left), "column %d is %g", column, special[kind]);
			CHECK(isnan(wmlc_gram_q(gram).hi) && isnan(wmlc_gram_h(gram).hi), "powers");
			CHECK(gram->constant == (column == 0 ? -1 : 0), "constant");
			for (int i = 0; i < 3; i++)
			{
				for (int j = 0; j < 3; j++)
				{
					double		figure = wmlc_gram_figure(gram, i, j);
					double		moment = wmlc_dd_value(wmlc_gram_moment(gram, i, j));
					double		plain = 0.0;

					for (int r = 0; r < rows.count; r++)
						plain += rows_at(&rows, r)[i] * rows_at(&rows, r)[j];
					CHECK(i == column || j == column ? isnan(figure) && isnan(moment)
						  : fabs(figure - plain) <= 1e-14 * fabs(plain) &&
						  fabs(moment - plain / 10.0) <= 1e-14 * fabs(plain),
						  "(%d, %d) is %g, its mean %g, instead of %g", i, j, figure, moment, plain);
				}
			}
			CHECK(gram->max_norm_square >= 1.0 && gram->max_response >= 0.0, "bounds");
			free(gram);
			free(left);
			free(right);
			rows_free(&rows);
		}
	}
}

/* Rows that are not finite come and go without a trace, in whichever way. */
static void
test_exceptions_leave(void)
{
	static const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 1e160, 1e300, 1e80};
	uint64_t	seed = 27;
	int			order[40];

	for (int trial = 0; trial < 2000; trial++)
	{
		int			dims = 1 + trial % 6;
		Rows		rows = rows_random(dims, 40, &seed);
		int			kept = 1 + (int) (check_random(&seed) * 30);
		WmlcGram   *whole,
				   *part,
				   *rest;

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		rows.weights[0] = 1.0;
		for (int r = kept; r < rows.count; r++)
		{
			if (check_random(&seed) < 0.5)
				rows_at(&rows, r)[(int) (check_random(&seed) * (dims + 1))] = special[(int) (check_random(&seed) * 7)];
			if (check_random(&seed) < 0.1)
				rows.weights[r] = special[(int) (check_random(&seed) * 3)];
		}
		/* some of those that stay, too */
		for (int r = 0; r < kept && trial % 5 == 0; r += 3)
			rows_at(&rows, r)[r % (dims + 1)] = special[r % 7];
		shuffle(order, rows.count, &seed);
		whole = gram_of_part(&rows, order, 0, rows.count, 1 + trial % WMLC_LOOP_ROWS);
		part = gram_of_part(&rows, NULL, kept, rows.count, 1 + trial % 7);
		rest = gram_of_part(&rows, NULL, 0, kept, 1);
		CHECK(valid(whole) && valid(part), "trial %d", trial);
		CHECK(wmlc_gram_subtract(whole, part) == WMLC_OK, "trial %d", trial);
		/* numbers of 1e80 are finite, and take the digits of the others along */
		CHECK(memcmp(wmlc_gram_not_one(whole), wmlc_gram_not_one(rest),
					 wmlc_gram_counts(dims) * sizeof(int64_t)) == 0 &&
			  whole->exceptions == rest->exceptions && whole->constant == rest->constant,
			  "trial %d: counts", trial);
		CHECK(valid(whole), "trial %d", trial);
		CHECK(wmlc_gram_is_finite(whole) == wmlc_gram_is_finite(rest), "trial %d", trial);
		free(whole);
		free(part);
		free(rest);
		rows_free(&rows);
	}
}

/* To the last bit, where all that left was not finite or of the same magnitude. */
static void
test_exceptions_leave_nothing(void)
{
	static const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 1e160, 1e300};
	uint64_t	seed = 28;

	for (int trial = 0; trial < 1000; trial++)
	{
		int			dims = 2 + trial % 6;
		Rows		rows = rows_random(dims, 40, &seed);
		WmlcGram   *whole,
				   *part,
				   *rest;

		for (int r = 20; r < rows.count; r++)
			rows_at(&rows, r)[(int) (check_random(&seed) * (dims + 1))] = special[(int) (check_random(&seed) * 6)];
		whole = gram_of_part(&rows, NULL, 0, rows.count, 24);
		part = gram_of_part(&rows, NULL, 20, rows.count, 1);
		rest = gram_of_part(&rows, NULL, 0, 20, 1);
		CHECK(wmlc_gram_subtract(whole, part) == WMLC_OK && same_figures(whole, rest), "trial %d", trial);
		CHECK(whole->max_norm_square >= rest->max_norm_square && isfinite(whole->max_norm_square), "bounds");
		CHECK(wmlc_gram_subtract(whole, part) == WMLC_NOT_CONTAINED, "not twice");
		free(whole);
		free(part);
		free(rest);
		rows_free(&rows);
	}
}

/* (sum w)^2 / sum w^2 for weights of any magnitude, and of two. */
static void
test_effective_rows(void)
{
	for (int exponent = -1070; exponent <= 1000; exponent += 7)
	{
		double		unit = ldexp(1.0, exponent);
		Rows		rows = rows_new(1, 6);
		WmlcGram   *gram,
				   *left,
				   *right;

		for (int r = 0; r < 6; r++)
		{
			rows.weights[r] = unit * (r + 1);
			rows_at(&rows, r)[0] = 1.0;
		}
		gram = gram_of_part(&rows, NULL, 0, 6, 6);
		CHECK(wmlc_gram_effective_rows(gram) == (double) ((Quad) 441 / 91), "2^%d: %.17g", exponent,
			  wmlc_gram_effective_rows(gram));
		CHECK(valid(gram), "2^%d", exponent);
		left = gram_of_part(&rows, NULL, 0, 3, 1);
		right = gram_of_part(&rows, NULL, 3, 6, 1);
		CHECK(wmlc_gram_merge(left, right) == WMLC_OK && wmlc_gram_equal(left, gram), "2^%d", exponent);
		CHECK(wmlc_gram_subtract(left, right) == WMLC_OK &&
			  wmlc_gram_effective_rows(left) == (double) ((Quad) 36 / 14), "2^%d: %.17g", exponent,
			  wmlc_gram_effective_rows(left));
		free(right);

		/* rows of another magnitude count for nothing, or for all */
		right = gram_new(1);
		wmlc_gram_add_row(right, rows_at(&rows, 0), 3.0);
		wmlc_gram_merge(right, gram);
		if (abs(exponent) > 60)
			CHECK_NEAR(wmlc_gram_effective_rows(right), exponent < 0 ? 1.0 : 441.0 / 91.0, 1e-15);
		free(gram);
		free(left);
		free(right);
		rows_free(&rows);
	}
}

/* A total order, by which equal grams have equal keys. */
static void
test_order(void)
{
	static const double values[] = {0.0, -0.0, 1.0, 1.0, -1.0, NAN, INFINITY, 1e-200};
	enum
	{
		GRAMS = 60
	};
	WmlcGram   *gram[GRAMS];
	uint64_t	seed = 29;
	int			equal = 0;
	int			alike = 0;

	for (int g = 0; g < GRAMS; g++)
	{
		Rows		rows = rows_new(1 + g % 2, 1 + g % 3);

		for (int r = 0; r < rows.count; r++)
		{
			for (int i = 0; i <= rows.dims; i++)
				rows_at(&rows, r)[i] = values[(int) (check_random(&seed) * 8)];
			rows.weights[r] = g % 5 == 0 ? 1e-300 : 1.0;
		}
		gram[g] = gram_of(&rows);
		if (g % 7 == 0)
			gram[g]->q = wmlc_dd(NAN);
		rows_free(&rows);
	}
	for (int a = 0; a < GRAMS; a++)
	{
		for (int b = 0; b < GRAMS; b++)
		{
			int			order = wmlc_gram_compare(gram[a], gram[b]);

			CHECK((order > 0) - (order < 0) == (wmlc_gram_compare(gram[b], gram[a]) < 0) -
				  (wmlc_gram_compare(gram[b], gram[a]) > 0), "%d and %d", a, b);
			CHECK(a != b || order == 0, "%d and itself", a);
			if (order == 0)
			{
				size_t		size = wmlc_gram_key_size(gram[a]->dims);
				double	   *keys = malloc(2 * size * sizeof(double));

				equal += a != b;
				wmlc_gram_key(gram[a], keys);
				wmlc_gram_key(gram[b], keys + size);
				CHECK(gram[a]->dims == gram[b]->dims && memcmp(keys, keys + size, size * sizeof(double)) == 0,
					  "%d and %d", a, b);
				free(keys);
			}
			CHECK(order != 0 || wmlc_gram_lot(gram[a]) == wmlc_gram_lot(gram[b]), "%d and %d", a, b);
			alike += order != 0 && wmlc_gram_lot(gram[a]) == wmlc_gram_lot(gram[b]);
			for (int c = 0; c < GRAMS; c++)
			{
				CHECK(order > 0 || wmlc_gram_compare(gram[b], gram[c]) > 0 ||
					  wmlc_gram_compare(gram[a], gram[c]) <= 0, "%d, %d and %d", a, b, c);
			}
		}
	}
	CHECK(equal > 0, "some are equal");
	CHECK(alike < GRAMS, "%d pairs that differ drew the same lot", alike);
	for (int g = 0; g < GRAMS; g++)
		free(gram[g]);
}

int
main(void)
{
	test_equal();
	test_not_finite();
	test_exceptions_leave();
	test_exceptions_leave_nothing();
	test_effective_rows();
	test_order();
	return check_summary();
}
