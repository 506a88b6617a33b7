/*
 * test_gram.c
 *	  Grams: the same figures to the last bit however the rows came together,
 *	  and right ones; what subtraction and the constant feature do.
 */
#include "gram/gram_fixture.h"
#include "quad.h"

static bool
same_zeros(const WmlcGram *a, const WmlcGram *b)
{
	for (size_t k = 0; k < wmlc_gram_entries(a->dims); k++)
	{
		if ((a->sums[k] == 0.0) != (b->sums[k] == 0.0))
			return false;
	}
	return true;
}

/* Every figure against the same sum in quadruple precision. */
static void
test_figures(void)
{
	uint64_t	seed = 11;

	for (int dims = 1; dims <= 40; dims += 3)
	{
		Rows		rows = rows_random(dims, 100, &seed);
		WmlcGram   *gram;
		Quad		weight = 0,
					weight_squares = 0,
					q = 0,
					h = 0;
		int			wrong = 0;

		rows_weigh(&rows, &seed);
		gram = gram_of_part(&rows, NULL, 0, rows.count, 1 + dims % WMLC_LOOP_ROWS);
		for (int r = 0; r < rows.count; r++)
		{
			const double *z = rows_at(&rows, r);
			Quad		w = rows.weights[r];
			Quad		y_square = (Quad) z[dims] * z[dims];
			Quad		norm_square = 0;

			for (int i = 0; i < dims; i++)
				norm_square += (Quad) z[i] * z[i];
			weight += w;
			weight_squares += w * w;
			q += w * (norm_square + y_square) * (norm_square + y_square);
			h += w * norm_square * y_square;
		}
		for (int i = 0; i <= dims; i++)
		{
			for (int j = 0; j <= dims; j++)
			{
				Quad		sum = 0;

				for (int r = 0; r < rows.count; r++)
					sum += (Quad) rows.weights[r] * rows_at(&rows, r)[i] * rows_at(&rows, r)[j];
				wrong += wmlc_gram_figure(gram, i, j) != (double) sum;
				wrong += wmlc_dd_value(wmlc_gram_moment(gram, i, j)) != (double) (sum / weight);
			}
		}
		CHECK(wrong == 0, "%d features: %d wrong figures", dims, wrong);
		CHECK(wmlc_dd_value(gram->weight) == (double) weight, "%d features", dims);
		CHECK(wmlc_dd_value(gram->q) == (double) q, "%d features", dims);
		CHECK(wmlc_dd_value(gram->h) == (double) h, "%d features", dims);
		CHECK(wmlc_gram_effective_rows(gram) == (double) (weight * weight / weight_squares),
			  "%d features", dims);
		CHECK(valid(gram), "%d features", dims);
		free(gram);
		rows_free(&rows);
	}
}

/* Orders, blocks and partial grams: all the same. */
static void
test_invariance(void)
{
	uint64_t	seed = 12;
	int			order[120];

	for (int trial = 0; trial < 100; trial++)
	{
		int			dims = 1 + trial % 37;
		Rows		rows = rows_random(dims, 120, &seed);
		WmlcGram   *expected;

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		expected = gram_of(&rows);
		for (int block = 1; block <= WMLC_LOOP_ROWS; block += 3)
		{
			int			split = (int) (check_random(&seed) * 121);
			WmlcGram   *whole,
					   *left,
					   *right;

			shuffle(order, rows.count, &seed);
			whole = gram_of_part(&rows, order, 0, rows.count, block);
			left = gram_of_part(&rows, order, 0, split, block);
			right = gram_of_part(&rows, order, split, rows.count, block);
			CHECK(same_figures(whole, expected), "%d features, blocks of %d", dims, block);
			CHECK(wmlc_gram_merge(left, right) == WMLC_OK, "merge");
			CHECK(same_figures(left, expected), "%d features, blocks of %d, split at %d",
				  dims, block, split);
			CHECK(left->max_norm_square == expected->max_norm_square &&
				  left->max_response == expected->max_response, "bounds");
			CHECK(wmlc_gram_subtract(left, right) == WMLC_OK, "take back");
			free(whole);
			whole = gram_of_part(&rows, order, 0, split, 1);
			CHECK(split == 0 || split == rows.count || same_figures(left, whole),
				  "%d features, %d of %d rows left", dims, split, rows.count);
			CHECK(valid(left), "%d features, %d of %d rows left", dims, split, rows.count);
			free(whole);
			free(left);
			free(right);
		}
		free(expected);
		rows_free(&rows);
	}
}

/*
 * a + b - b = a, for a b of other magnitudes and with features that a does not
 * use.  A b that is much larger takes digits along, but leaves no noise behind.
 */
static void
test_retract_part(void)
{
	uint64_t	seed = 13;
	int			order[60];

	for (int trial = 0; trial < 1000; trial++)
	{
		int			dims = 3 + trial % 9;
		int			kept = 1 + (int) (check_random(&seed) * 59);
		int			unused = 1 + (int) (check_random(&seed) * (dims - 1));
		double		factor = pow(10.0, trial % 4);
		Rows		rows = rows_random(dims, 60, &seed);
		WmlcGram   *whole,
				   *part,
				   *rest;

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		rows.weights[0] = rows.weights[59] = 1.0;
		for (int r = 0; r < rows.count; r++)
		{
			for (int i = 1; i <= dims && r >= kept; i++)
				rows_at(&rows, r)[i] *= factor;
			/* sums of short numbers often lie halfway between two doubles */
			for (int i = 1; i < dims && r < kept && trial % 3 == 0; i++)
				rows_at(&rows, r)[i] = 1.0;
			if (r < kept)
				rows_at(&rows, r)[unused] = 0.0;
		}
		shuffle(order, rows.count, &seed);
		whole = gram_of_part(&rows, order, 0, rows.count, 1);
		part = gram_of_part(&rows, NULL, kept, rows.count, 1);
		rest = gram_of_part(&rows, NULL, 0, kept, 1);
		CHECK(wmlc_gram_subtract(whole, part) == WMLC_OK, "trial %d", trial);
		CHECK(factor > 10.0 || same_figures(whole, rest), "trial %d, factor %g", trial, factor);
		CHECK(same_zeros(whole, rest), "trial %d, factor %g", trial, factor);
		CHECK(valid(whole), "trial %d", trial);
		CHECK(wmlc_gram_subtract(whole, rest) == WMLC_OK, "trial %d", trial);
		CHECK(whole->rows == 0 && whole->weight.hi == 0.0 && whole->q.hi == 0.0 &&
			  whole->constant == -1 && valid(whole), "trial %d: something is left of nothing", trial);
		free(whole);
		free(part);
		free(rest);
		rows_free(&rows);
	}
}

/* Products of the rest that cancel are zero again, also after much larger rows have left. */
static void
test_retract_noise(void)
{
	uint64_t	seed = 22;
	int			order[50];

	for (int trial = 0; trial < 200; trial++)
	{
		Rows		rows = rows_random(2, 50, &seed);
		WmlcGram   *whole,
				   *part;

		for (int r = 0; r < 20; r += 2)
		{
			for (int i = 0; i <= 2; i++)
				rows_at(&rows, r + 1)[i] = rows_at(&rows, r)[i] * (i == 1 ? -1.0 : 1.0);
		}
		for (int r = 20; r < rows.count; r++)
		{
			for (int i = 0; i <= 2; i++)
				rows_at(&rows, r)[i] *= 1e4 * check_normal(&seed);
		}
		shuffle(order, rows.count, &seed);
		whole = gram_of_part(&rows, order, 0, rows.count, 1);
		part = gram_of_part(&rows, NULL, 20, rows.count, 1);
		CHECK(wmlc_gram_subtract(whole, part) == WMLC_OK, "trial %d", trial);
		CHECK(wmlc_gram_figure(whole, 0, 1) == 0.0 && wmlc_gram_figure(whole, 1, 2) == 0.0,
			  "trial %d: %g, %g", trial, wmlc_gram_figure(whole, 0, 1), wmlc_gram_figure(whole, 1, 2));
		free(whole);
		free(part);
		rows_free(&rows);
	}
}

/* A feature that only some rows used is gone with them, whatever left before. */
static void
test_retract_feature(void)
{
	uint64_t	seed = 24;

	for (int trial = 0; trial < 400; trial++)
	{
		int			first = 10 + trial;
		Rows		rows = rows_random(3, first + 40, &seed);
		WmlcGram   *whole,
				   *part;

		for (int r = 0; r < rows.count; r++)
		{
			if (r < first || r >= first + 20)
				rows_at(&rows, r)[2] = 0.0;
		}
		whole = gram_of_part(&rows, NULL, 0, rows.count, 24);
		for (int from = 0; from <= first; from += first)
		{
			part = gram_of_part(&rows, NULL, from, from == 0 ? first : first + 20, 24);
			CHECK(wmlc_gram_subtract(whole, part) == WMLC_OK, "trial %d", trial);
			free(part);
		}
		for (int i = 0; i <= 3; i++)
			CHECK(wmlc_gram_figure(whole, i, 2) == 0.0, "trial %d: %g", trial, wmlc_gram_figure(whole, i, 2));
		free(whole);
		rows_free(&rows);
	}
}

/* However little remains, it is something that rows could have. */
static void
test_retract_almost_all(void)
{
	uint64_t	seed = 23;

	for (int trial = 0; trial < 400; trial++)
	{
		Rows		rows = rows_random(3, 30, &seed);
		WmlcGram   *whole,
				   *part;

		for (int r = 20; r < rows.count; r++)
		{
			for (int i = 1; i <= 3; i++)
				rows_at(&rows, r)[i] *= pow(10.0, -0.1 * trial);
		}
		whole = gram_of(&rows);
		part = gram_of_part(&rows, NULL, 0, 20, 1);
		CHECK(wmlc_gram_subtract(whole, part) == WMLC_OK, "trial %d", trial);
		CHECK(valid(whole), "trial %d", trial);
		for (int i = 0; i <= 3; i++)
		{
			for (int j = 0; j < i; j++)
			{
				double		limit = sqrt(wmlc_gram_figure(whole, i, i)) * sqrt(wmlc_gram_figure(whole, j, j));

				CHECK(limit > 0.0 || wmlc_gram_figure(whole, i, j) == 0.0,
					  "trial %d: entry (%d, %d) is %g", trial, i, j, wmlc_gram_figure(whole, i, j));
			}
		}
		free(whole);
		free(part);
		rows_free(&rows);
	}
}

/* What was never added cannot be subtracted. */
static void
test_not_contained(void)
{
	uint64_t	seed = 14;
	Rows		rows = rows_random(3, 20, &seed);
	WmlcGram   *whole,
			   *part,
			   *gram;

	rows.weights[19] = 0.0;
	whole = gram_of(&rows);
	whole->skipped = 2;
	part = gram_of_part(&rows, NULL, 0, 5, 1);

#define REFUSED(change, what) \
	do { \
		WmlcGram *a = gram_copy(whole); \
		WmlcGram *b = gram_copy(part); \
		change; \
		CHECK(wmlc_gram_subtract(a, b) == WMLC_NOT_CONTAINED, what); \
		free(a); \
		free(b); \
	} while (0)

	REFUSED(b->rows = 21, "more rows");
	REFUSED(b->skipped = 3, "more skipped rows");
	REFUSED((b->weightless = 2, b->rows = 7), "more rows without weight");
	REFUSED((b->rows = 19, a->weightless = 2), "more rows with weight");
	REFUSED(b->weight.hi = 21.0, "more weight");
	REFUSED(b->weight.hi = 19.0, "all the weight, but not all the rows");
	REFUSED(b->weight_squares.hi = 21.0, "more squared weight");
	REFUSED(b->q.hi = 2.0 * a->q.hi, "larger q");
	REFUSED(b->h.hi = 2.0 * a->h.hi, "larger h");
	for (int i = 0; i <= 3; i++)
		REFUSED(b->sums[wmlc_triangle_index(4, i, i)] = 2.0 * wmlc_gram_sum(a, i, i).hi, "larger sum");
	REFUSED((b->rows = 19, b->sums[1] *= 1.0 + 1e-9), "as many rows, but others");
	REFUSED((b->rows = 20, b->weightless = 1, memcpy(b->sums, a->sums, 20 * sizeof(double))),
			"the same sums under another weight");
#undef REFUSED

	gram = gram_new(4);
	CHECK(wmlc_gram_subtract(whole, gram) == WMLC_DIMENSION_MISMATCH, "other features");
	CHECK(wmlc_gram_merge(whole, gram) == WMLC_DIMENSION_MISMATCH, "other features");
	free(gram);
	free(whole);
	free(part);
	rows_free(&rows);
}

/* The first feature that is 1 in all rows with weight, recomputed. */
static int
constant_of(const Rows *rows, int from, int to)
{
	for (int i = 0; i < rows->dims; i++)
	{
		bool		constant = false;

		for (int r = from; r < to; r++)
		{
			if (rows->weights[r] == 0.0)
				continue;
			constant = rows_at(rows, r)[i] == 1.0;
			if (!constant)
				break;
		}
		if (constant)
			return i;
	}
	return -1;
}

/* Features are often 1: the known constant breaks, and another one takes over. */
static void
test_constant(void)
{
	static const double values[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, -1.0, 2.0, 1.0 + 0x1p-40, 0.1};
	uint64_t	seed = 15;
	int			found[8] = {0};

	for (int trial = 0; trial < 3000; trial++)
	{
		Rows		rows = rows_new(6, 1 + (int) (check_random(&seed) * 12));
		int			split = (int) (check_random(&seed) * (rows.count + 1));
		int			block = 1 + (int) (check_random(&seed) * WMLC_LOOP_ROWS);
		int			expected;
		WmlcGram   *left,
				   *right,
				   *whole;

		for (int r = 0; r < rows.count; r++)
		{
			for (int i = 0; i <= rows.dims; i++)
				rows_at(&rows, r)[i] = values[(int) (check_random(&seed) * (i < 4 ? 11 : 8))];
			rows.weights[r] = trial % 3 == 0 ? 1.0 : floor(check_random(&seed) * 4.0) / 3.0;
		}
		expected = constant_of(&rows, 0, rows.count);
		found[expected + 1]++;
		whole = gram_of_part(&rows, NULL, 0, rows.count, block);
		left = gram_of_part(&rows, NULL, 0, split, block);
		right = gram_of_part(&rows, NULL, split, rows.count, block);
		CHECK(left->constant == constant_of(&rows, 0, split), "trial %d", trial);
		CHECK(whole->constant == expected, "trial %d: %d instead of %d", trial, whole->constant, expected);
		wmlc_gram_merge(left, right);
		CHECK(left->constant == expected, "merge, trial %d: %d instead of %d",
			  trial, left->constant, expected);
		/* what one part has broken is whole again without it */
		CHECK(wmlc_gram_subtract(left, right) == WMLC_OK &&
			  left->constant == constant_of(&rows, 0, split), "taken away, trial %d: %d instead of %d",
			  trial, left->constant, constant_of(&rows, 0, split));
		if (expected >= 0)
		{
			for (int i = 0; i <= rows.dims; i++)
			{
				Quad		sum = 0,
							weight = 0;

				for (int r = 0; r < rows.count; r++)
				{
					sum += (Quad) rows.weights[r] * rows_at(&rows, r)[i];
					weight += rows.weights[r];
				}
				CHECK_NEAR(wmlc_dd_value(wmlc_gram_moment(whole, i, expected)), (double) (sum / weight),
						   0x1p-52);
			}
		}
		free(whole);
		free(left);
		free(right);
		rows_free(&rows);
	}
	for (int i = 0; i < 7; i++)
		CHECK(found[i] > 20, "feature %d was constant %d times only", i, found[i]);
}

/* Noise around a sum that is zero is not a figure. */
static void
test_noise(void)
{
	uint64_t	seed = 17;
	Rows		rows = rows_new(2, 64);
	int			order[64];

	for (int r = 0; r < rows.count; r += 2)
	{
		for (int i = 0; i < 3; i++)
		{
			double		value = check_normal(&seed);

			rows_at(&rows, r)[i] = value;
			rows_at(&rows, r + 1)[i] = i == 0 ? value : -value;
		}
	}
	for (int trial = 0; trial < 50; trial++)
	{
		WmlcGram   *gram;

		shuffle(order, rows.count, &seed);
		gram = gram_of_part(&rows, order, 0, rows.count, 1);
		CHECK(wmlc_gram_figure(gram, 0, 1) == 0.0 && wmlc_gram_figure(gram, 2, 0) == 0.0,
			  "%g, %g", wmlc_gram_figure(gram, 0, 1), wmlc_gram_figure(gram, 2, 0));
		CHECK(wmlc_dd_value(wmlc_gram_moment(gram, 1, 0)) == 0.0, "mean of noise");
		CHECK(wmlc_gram_figure(gram, 1, 2) != 0.0, "no noise");
		free(gram);
	}
	rows_free(&rows);
}

/* Rows without weight count as rows and as nothing else. */
static void
test_weightless(void)
{
	uint64_t	seed = 18;
	Rows		rows = rows_random(3, 10, &seed);
	WmlcGram   *gram,
			   *expected;

	for (int r = 0; r < 10; r++)
		rows.weights[r] = r < 5 ? 0.0 : 2.0;
	rows_at(&rows, 0)[1] = INFINITY;
	rows_at(&rows, 1)[2] = NAN;
	gram = gram_of_part(&rows, NULL, 0, 5, 4);
	CHECK(gram->rows == 5 && wmlc_gram_weighted_rows(gram) == 0 && gram->weight.hi == 0.0, "counts");
	CHECK(wmlc_gram_is_finite(gram) && gram->constant == -1 && valid(gram), "nothing else");
	CHECK(wmlc_gram_effective_rows(gram) == 0.0, "effective rows");
	free(gram);
	gram = gram_of(&rows);
	expected = gram_of_part(&rows, NULL, 5, 10, 1);
	CHECK(gram->rows == 10 && gram->weightless == 5 && gram->constant == 0, "counts");
	CHECK(!wmlc_gram_equal(gram, expected), "rows without weight are rows");
	CHECK(wmlc_gram_effective_rows(gram) == 5.0, "effective rows");
	gram->rows = 5;
	gram->weightless = 0;
	CHECK(same_figures(gram, expected), "everything else is the same");
	free(gram);
	free(expected);
	rows_free(&rows);
}

/*
 * The same gram merged k times, as when the server aggregates before a join, is
 * that of the rows k times over.
 */
static void
test_repeated(void)
{
	uint64_t	seed = 25;

	for (int trial = 0; trial < 60; trial++)
	{
		int			dims = 1 + trial % 12;
		int			times = 1 + trial % 17;
		Rows		rows = rows_random(dims, 30, &seed);
		WmlcGram   *once,
				   *merged = gram_new(dims),
				   *collected = gram_new(dims);

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		if (trial % 3 == 0)
			rows_at(&rows, 5)[trial % (dims + 1)] = NAN;
		once = gram_of_part(&rows, NULL, 0, rows.count, 24);
		for (int k = 0; k < times; k++)
		{
			CHECK(wmlc_gram_merge(merged, once) == WMLC_OK, "merge");
			for (int r = 0; r < rows.count; r++)
				wmlc_gram_add_row(collected, rows_at(&rows, r), rows.weights[r]);
		}
		CHECK(wmlc_gram_equal(merged, collected), "trial %d: %d times", trial, times);
		CHECK(merged->constant == collected->constant && valid(merged), "trial %d", trial);
		free(once);
		free(merged);
		free(collected);
		rows_free(&rows);
	}
}

/* A multiple is the gram of the rows with their weights multiplied, in every magnitude. */
static void
test_scale(void)
{
	uint64_t	seed = 30;

	for (int trial = 0; trial < 300; trial++)
	{
		int			dims = 1 + trial % 9;
		double		factor = ldexp(1.0 + (trial % 3 == 0 ? 0.0 : check_random(&seed)), trial % 2 == 0 ? trial - 150 : 4 * (trial - 150));
		Rows		rows = rows_random(dims, 20, &seed);
		WmlcGram   *gram,
				   *expected;

		rows_weigh(&rows, &seed);
		gram = gram_of(&rows);
		for (int r = 0; r < rows.count; r++)
			rows.weights[r] *= trial % 3 == 0 ? factor : 1.0;
		expected = gram_of(&rows);
		CHECK(wmlc_gram_scale(gram, factor) == WMLC_OK && valid(gram), "times %g", factor);
		CHECK(gram->rows == expected->rows && gram->constant == expected->constant, "times %g", factor);
		CHECK(fabs(wmlc_gram_effective_rows(gram) - wmlc_gram_effective_rows(expected)) <=
			  1e-14 * wmlc_gram_effective_rows(expected), "times %g", factor);
		/* a power of two changes no digit */
		CHECK(trial % 3 > 0 || same_figures(gram, expected), "times %g", factor);
		for (int i = 0; i <= dims && trial % 3 > 0; i++)
			CHECK_NEAR(wmlc_gram_figure(gram, i, i), factor * wmlc_gram_figure(expected, i, i), 0x1p-51);
		free(gram);
		free(expected);
		rows_free(&rows);
	}
}

int
main(void)
{
	test_figures();
	test_invariance();
	test_retract_part();
	test_retract_noise();
	test_retract_feature();
	test_retract_almost_all();
	test_not_contained();
	test_constant();
	test_noise();
	test_weightless();
	test_repeated();
	test_scale();
	return check_summary();
}
