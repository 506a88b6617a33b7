/*
 * test_gram_window.c
 *	  A gram whose rows come and go: after every step it is the gram of the rows
 *	  that are in the window, to the last bit.
 */
#include "gram/gram_fixture.h"

typedef struct Window
{
	WmlcGram   *gram;
	WmlcGramWatch *watch;
	int			rebuilt;
} Window;

static void
add(Window *window, const Rows *rows, int r)
{
	const double *z = rows_at(rows, r);
	double		weight = rows->weights[r];

	wmlc_gram_add_row(window->gram, z, weight);
	wmlc_gram_watch_row(window->watch, window->gram, weight);
}

static void
rebuild(Window *window, const Rows *rows, int from, int to)
{
	wmlc_gram_init(window->gram, rows->dims);
	wmlc_gram_watch(window->watch, window->gram);
	for (int r = from; r < to; r++)
		add(window, rows, r);
}

static bool
same_means(const WmlcGram *a, const WmlcGram *b)
{
	for (int i = 0; i <= a->dims && a->constant >= 0; i++)
	{
		double		mean_a = wmlc_dd_value(wmlc_gram_moment(a, i, a->constant));
		double		mean_b = wmlc_dd_value(wmlc_gram_moment(b, i, b->constant));

		if (mean_a != mean_b && !(isnan(mean_a) && isnan(mean_b)))
			return false;
	}
	return true;
}

/* Move a window of `width` rows over the rows; return how often it was rebuilt. */
static int
move(const Rows *rows, int width, const char *what)
{
	Window		window = {gram_new(rows->dims), malloc(wmlc_gram_watch_bytes(rows->dims)), 0};

	rebuild(&window, rows, 0, 0);
	for (int r = 0; r < rows->count; r++)
	{
		int			from = r < width ? 0 : r - width + 1;
		WmlcGram   *gram,
				   *fresh;

		if (from > 0 && !wmlc_gram_retract(window.gram, rows_at(rows, from - 1),
										   rows->weights[from - 1], window.watch))
		{
			rebuild(&window, rows, from, r);
			window.rebuilt++;
		}
		add(&window, rows, r);
		gram = gram_copy(window.gram);
		wmlc_gram_settle(gram, window.watch);
		fresh = gram_of_part(rows, NULL, from, r + 1, 1);
		CHECK(wmlc_gram_equal(gram, fresh), "%s, %d features, width %d, at row %d",
			  what, rows->dims, width, r);
		CHECK(gram->constant == fresh->constant && same_means(gram, fresh),
			  "%s, %d features, width %d, at row %d: constant %d instead of %d", what,
			  rows->dims, width, r, gram->constant, fresh->constant);
		CHECK(wmlc_gram_invalid(gram, wmlc_gram_bytes(rows->dims)) == NULL,
			  "%s, %d features, width %d, at row %d", what, rows->dims, width, r);
		CHECK(gram->max_norm_square >= fresh->max_norm_square &&
			  gram->max_response >= fresh->max_response, "%s: bounds", what);
		free(gram);
		free(fresh);
	}
	free(window.gram);
	free(window.watch);
	return window.rebuilt;
}

/* Ordinary data never has to be added up anew: that would be slow. */
static void
test_tame(void)
{
	uint64_t	seed = 31;

	for (int dims = 1; dims <= 40; dims += 13)
	{
		Rows		rows = rows_random(dims, 1000, &seed);

		CHECK(move(&rows, 100, "tame") == 0, "%d features", dims);
		rows_weigh(&rows, &seed);
		CHECK(move(&rows, 50, "weighted") == 0, "%d features", dims);
		rows_free(&rows);
	}
}

/* Rows of any size in any column: what they leave behind has every digit. */
static void
test_outliers(void)
{
	uint64_t	seed = 32;

	for (int trial = 0; trial < 30; trial++)
	{
		int			dims = 1 + trial % 5;
		Rows		rows = rows_random(dims, 300, &seed);
		int			rebuilt;

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		for (int r = 20; r < rows.count; r += 20)
			rows_at(&rows, r)[(int) (check_random(&seed) * (dims + 1))] *=
				pow(10.0, 15.0 * check_random(&seed));
		rebuilt = move(&rows, 1 + (int) (check_random(&seed) * 10), "outliers");
		CHECK(rebuilt <= 60, "rebuilt %d times for 14 outliers", rebuilt);
		rows_free(&rows);
	}
}

/*
 * Outliers that are just not large enough to be seen at once: were they allowed
 * to take more digits along, one frame in ten thousand would show it.
 */
static void
test_mild_outliers(void)
{
	uint64_t	seed = 38;
	Rows		rows = rows_random(1, 50000, &seed);

	for (int r = 0; r < rows.count; r += 4)
		rows_at(&rows, r)[1] *= 800.0;
	move(&rows, 3, "mild outliers");
	rows_free(&rows);
}

/* Rows with hardly any response or hardly any features: h nearly vanishes, all else does not. */
static void
test_small_product(void)
{
	uint64_t	seed = 39;
	Rows		rows = rows_random(2, 400, &seed);

	for (int r = 0; r < rows.count; r++)
	{
		for (int i = 0; i <= 2 && r % 10 > 0; i++)
		{
			if ((r % 2 == 0) == (i < 2))
				rows_at(&rows, r)[i] *= r % 20 < 10 ? 1e-9 : 0.0;
		}
	}
	move(&rows, 4, "small product");
	rows_free(&rows);
}

/* Weights of any size, on rows whose sums do not show them. */
static void
test_heavy_rows(void)
{
	uint64_t	seed = 33;
	Rows		rows = rows_new(2, 300);

	for (int r = 0; r < rows.count; r++)
	{
		bool		heavy = r % 20 == 7;

		for (int i = 0; i <= 2; i++)
			rows_at(&rows, r)[i] = heavy ? 0.0 : check_normal(&seed);
		rows.weights[r] = heavy ? pow(10.0, (double) r) : check_random(&seed);
	}
	move(&rows, 5, "heavy rows");
	rows_free(&rows);
}

/* Columns that are used at times only leave exact zeros. */
static void
test_vanishing(void)
{
	uint64_t	seed = 34;
	Rows		rows = rows_random(4, 400, &seed);

	for (int r = 0; r < rows.count; r++)
	{
		for (int i = 1; i <= 4; i++)
		{
			if (r / (10 * i) % 2 == 0)
				rows_at(&rows, r)[i] = 0.0;
		}
	}
	move(&rows, 7, "columns that vanish");
	move(&rows, 1, "columns that vanish");
	rows_free(&rows);
}

/* Products that cancel exactly over the window. */
static void
test_cancelling(void)
{
	uint64_t	seed = 35;
	Rows		rows = rows_new(2, 400);

	for (int r = 0; r < rows.count; r += 2)
	{
		for (int i = 0; i <= 2; i++)
		{
			double		value = check_normal(&seed);

			rows_at(&rows, r)[i] = value;
			rows_at(&rows, r + 1)[i] = i == 0 ? value : -value;
		}
	}
	move(&rows, 30, "cancelling products");
	rows_free(&rows);
}

static void
test_not_finite(void)
{
	static const double special[] = {NAN, INFINITY, -INFINITY, 1e200, 1e100, -0.0};
	uint64_t	seed = 36;
	Rows		rows = rows_random(3, 300, &seed);

	for (int r = 5; r < rows.count; r += 11)
		rows_at(&rows, r)[r % 4] = special[r % 6];
	for (int r = 8; r < rows.count; r += 37)
		rows.weights[r] = special[r % 2];
	move(&rows, 4, "not finite");
	rows_free(&rows);
}

/* What is not finite, or too large to be squared, goes as it came. */
static void
test_exceptions(void)
{
	static const double special[] = {NAN, INFINITY, -INFINITY, 1e200};
	uint64_t	seed = 40;
	Rows		rows = rows_random(3, 300, &seed);

	for (int r = 5; r < rows.count; r += 3)
		rows_at(&rows, r)[r % 4] = special[r / 3 % 4];
	for (int r = 8; r < rows.count; r += 37)
		rows.weights[r] = special[r % 2];
	CHECK(move(&rows, 20, "exceptions") == 0, "something was added up anew");
	rows_free(&rows);
}

/* Features become constant and cease to be. */
static void
test_constant(void)
{
	uint64_t	seed = 37;

	for (int trial = 0; trial < 20; trial++)
	{
		Rows		rows = rows_new(4, 300);

		for (int r = 0; r < rows.count; r++)
		{
			for (int i = 0; i <= 4; i++)
				rows_at(&rows, r)[i] = check_random(&seed) < 0.8 ? 1.0 : check_normal(&seed);
			if (trial % 2 == 0 && check_random(&seed) < 0.3)
				rows.weights[r] = 0.0;
		}
		move(&rows, 1 + trial % 7, "constant");
		rows_free(&rows);
	}
}

int
main(void)
{
	test_tame();
	test_outliers();
	test_mild_outliers();
	test_small_product();
	test_heavy_rows();
	test_vanishing();
	test_cancelling();
	test_not_finite();
	test_exceptions();
	test_constant();
	return check_summary();
}
