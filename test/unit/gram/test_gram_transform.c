/*
 * test_gram_transform.c
 *	  The change of basis and the standardizer, against the same thing done to
 *	  the rows in quadruple precision.
 */
#include "gram/gram_fixture.h"
#include "quad.h"

static WmlcGram *
transform(const WmlcGram *gram, const WmlcDd *matrix, int m)
{
	WmlcGram   *result = gram_new(m - 1);
	void	   *work = malloc(wmlc_gram_transform_workspace(gram->dims, m));

	CHECK(wmlc_gram_transform(gram, matrix, m, result, work, NULL) == WMLC_OK, "transform");
	CHECK(wmlc_gram_invalid(result, wmlc_gram_bytes(m - 1)) == NULL, "a transformed gram is valid");
	free(work);
	return result;
}

/* Entry i of T z; *size gets what it would be if nothing cancelled. */
static Quad
image(const WmlcDd *matrix, int p, int i, const double *z, double *size)
{
	Quad		sum = 0;

	*size = 0.0;
	for (int k = 0; k < p; k++)
	{
		sum += ((Quad) matrix[i * p + k].hi + matrix[i * p + k].lo) * z[k];
		*size += fabs(matrix[i * p + k].hi * z[k]);
	}
	return sum;
}

/* Compare with the gram of the transformed rows. */
static void
check_against_rows(const WmlcGram *result, const Rows *rows, const WmlcDd *matrix)
{
	int			m = result->dims + 1;
	int			p = rows->dims + 1;

	for (int i = 0; i < m; i++)
	{
		for (int j = i; j < m; j++)
		{
			double		figure = wmlc_gram_figure(result, i, j);
			double		size = 0.0,
						size_i,
						size_j;
			Quad		sum = 0;

			for (int r = 0; r < rows->count; r++)
			{
				Quad		zi = image(matrix, p, i, rows_at(rows, r), &size_i);
				Quad		zj = image(matrix, p, j, rows_at(rows, r), &size_j);

				sum += zi * zj * rows->weights[r];
				size += size_i * size_j * rows->weights[r];
			}
			CHECK(fabs((double) (figure - sum)) <= 0x1p-53 * fabs((double) sum) + 0x1p-88 * size,
				  "(%d, %d) is %.17g instead of %.17g", i, j, figure, (double) sum);
		}
	}
}

static void
test_any_matrix(void)
{
	uint64_t	seed = 41;

	for (int dims = 1; dims <= 9; dims++)
	{
		for (int m = 2; m <= 12; m++)
		{
			int			p = dims + 1;
			Rows		rows = rows_random(dims, 30, &seed);
			WmlcDd	   *matrix = malloc((size_t) m * p * sizeof(WmlcDd));
			WmlcGram   *gram,
					   *result;

			rows_weigh(&rows, &seed);
			for (int k = 0; k < m * p; k++)
				matrix[k] = wmlc_two_sum(check_normal(&seed), 0x1p-60 * check_normal(&seed));
			gram = gram_of(&rows);
			gram->skipped = 5;
			result = transform(gram, matrix, m);
			check_against_rows(result, &rows, matrix);
			CHECK(result->rows == gram->rows && result->skipped == 5 &&
				  result->weightless == gram->weightless &&
				  result->weight.hi == gram->weight.hi &&
				  result->weight_squares.lo == gram->weight_squares.lo, "counts and weights");
			CHECK(isnan(result->q.hi) && isnan(result->h.hi) && isinf(result->max_norm_square) &&
				  isinf(result->max_response), "what a change of basis loses");
			CHECK(result->constant == -1, "constant %d", result->constant);
			free(matrix);
			free(gram);
			free(result);
			rows_free(&rows);
		}
	}
}

/* Columns selected and rearranged keep every bit, and the constant feature. */
static void
test_selection(void)
{
	uint64_t	seed = 42;

	for (int trial = 0; trial < 300; trial++)
	{
		int			dims = 2 + trial % 6;
		int			m = 2 + (int) (check_random(&seed) * 7);
		Rows		rows = rows_random(dims, 30, &seed);
		WmlcDd	   *matrix = calloc((size_t) m * (dims + 1), sizeof(WmlcDd));
		int			second = 1 + (int) (check_random(&seed) * (dims - 1));
		int			from[9];
		int			constant = -1;
		WmlcGram   *gram,
				   *result;

		for (int r = 0; r < rows.count; r++)
			rows_at(&rows, r)[second] = 1.0;
		for (int i = 0; i < m; i++)
		{
			from[i] = (int) (check_random(&seed) * (dims + 1));
			matrix[i * (dims + 1) + from[i]] = wmlc_dd(1.0);
			if (constant < 0 && i < m - 1 && (from[i] == 0 || from[i] == second))
				constant = i;
		}
		gram = gram_of(&rows);
		result = transform(gram, matrix, m);
		CHECK(result->constant == constant, "trial %d: constant %d instead of %d",
			  trial, result->constant, constant);
		for (int i = 0; i < m; i++)
		{
			for (int j = 0; j < m; j++)
			{
				WmlcDd		a = wmlc_gram_sum(result, i, j);
				WmlcDd		b = wmlc_gram_sum(gram, from[i], from[j]);

				CHECK(a.hi == b.hi && a.lo == b.lo, "trial %d, entry (%d, %d)", trial, i, j);
			}
		}
		free(matrix);
		free(gram);
		free(result);
		rows_free(&rows);
	}
}

/* Mean 0 and variance 1 over the reference's own rows, also far from the origin. */
static void
test_standardizer(void)
{
	uint64_t	seed = 43;

	for (int trial = 0; trial < 60; trial++)
	{
		int			dims = 3 + trial % 8;
		int			p = dims + 1;
		double		offset = trial % 3 == 0 ? 0.0 : pow(10.0, trial % 6);
		Rows		rows = rows_random(dims, 50, &seed);
		WmlcDd	   *matrix = malloc((size_t) p * p * sizeof(WmlcDd));
		WmlcGram   *gram,
				   *result;

		if (trial % 2 == 0)
			rows_weigh(&rows, &seed);
		for (int r = 0; r < rows.count; r++)
		{
			for (int i = 2; i <= dims; i++)
				rows_at(&rows, r)[i] += offset;
			rows_at(&rows, r)[1] = 0.1; /* does not vary */
		}
		gram = gram_of(&rows);
		wmlc_gram_standardizer(gram, matrix);
		CHECK(matrix[p + 1].hi == 1.0, "a column that does not vary is multiplied by %g", matrix[p + 1].hi);
		result = transform(gram, matrix, p);
		check_against_rows(result, &rows, matrix);
		CHECK(result->constant == 0, "constant %d", result->constant);
		for (int i = 1; i < p; i++)
		{
			double		mean = wmlc_dd_value(wmlc_gram_moment(result, i, 0));
			double		square = wmlc_dd_value(wmlc_gram_moment(result, i, i));

			CHECK(mean == 0.0, "column %d, offset %g: mean %g", i, offset, mean);
			if (i == 1)
				CHECK(square == 0.0, "offset %g: a constant column has variance %g", offset, square);
			else
				CHECK_NEAR(square, 1.0, 0x1p-52);
		}
		free(matrix);
		free(gram);
		free(result);
		rows_free(&rows);
	}
}

/* The image of a gram has the same figures, whatever the order of its rows. */
static void
test_order(void)
{
	uint64_t	seed = 44;
	int			order[80];

	for (int trial = 0; trial < 50; trial++)
	{
		Rows		rows = rows_random(4, 80, &seed);
		WmlcGram   *gram = gram_of(&rows);
		WmlcGram   *other;
		WmlcDd		matrix[25];
		WmlcDd		other_matrix[25];
		WmlcGram   *a,
				   *b;

		shuffle(order, rows.count, &seed);
		other = gram_of_part(&rows, order, 0, rows.count, WMLC_LOOP_ROWS);
		wmlc_gram_standardizer(gram, matrix);
		wmlc_gram_standardizer(other, other_matrix);
		a = transform(gram, matrix, 5);
		b = transform(other, other_matrix, 5);
		CHECK(wmlc_gram_equal(a, b), "trial %d", trial);
		free(gram);
		free(other);
		free(a);
		free(b);
		rows_free(&rows);
	}
}

static void
test_empty(void)
{
	WmlcGram   *gram = gram_new(2);
	WmlcDd		matrix[6] = {{1.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {1.0, 0.0}};
	WmlcGram   *result;

	gram->rows = gram->weightless = 3;
	gram->skipped = 4;
	result = transform(gram, matrix, 2);
	CHECK(result->rows == 3 && result->weightless == 3 && result->skipped == 4, "counts");
	CHECK(result->q.hi == 0.0 && result->max_response == 0.0, "nothing is lost of nothing");
	free(gram);
	free(result);
}

/* Columns that are not finite spoil their images and nothing else. */
static void
test_not_finite(void)
{
	static const double special[] = {INFINITY, NAN, 1e200};
	static const WmlcDd matrix[16] = {
		{1.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0},
		{1.0, 0.0}, {2.0, 0.0}, {0.0, 0.0}, {0.0, 0.0},
		{0.0, 0.0}, {0.0, 0.0}, {1.0, 0.0}, {0.0, 0.0},
		{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.5, 0.0}
	};

	for (int kind = 0; kind < 3; kind++)
	{
		uint64_t	seed = 46;
		Rows		rows = rows_random(3, 10, &seed);
		WmlcGram   *gram,
				   *result;

		rows_at(&rows, 3)[2] = special[kind];
		gram = gram_of(&rows);
		result = transform(gram, matrix, 4);
		CHECK(wmlc_gram_figure(result, 0, 3) == 0.5 * wmlc_gram_figure(gram, 0, 3), "%g", special[kind]);
		CHECK(!isfinite(wmlc_gram_figure(result, 2, 2)), "%g", special[kind]);
		CHECK(isnan(wmlc_gram_figure(result, 2, 1)) && isnan(wmlc_gram_figure(result, 0, 2)), "%g", special[kind]);
		CHECK(result->exceptions == 1 && isfinite(wmlc_gram_figure(result, 1, 1)), "%g", special[kind]);
		free(gram);
		free(result);
		rows_free(&rows);
	}
}

static int	polls;

static bool
stop_at_third(void)
{
	return ++polls == 3;
}

static void
test_interrupt(void)
{
	uint64_t	seed = 45;
	Rows		rows = rows_random(4, 10, &seed);
	WmlcGram   *gram = gram_of(&rows);
	WmlcGram   *result = gram_new(4);
	WmlcDd		matrix[25];
	void	   *work = malloc(wmlc_gram_transform_workspace(4, 5));

	wmlc_gram_standardizer(gram, matrix);
	CHECK(wmlc_gram_transform(gram, matrix, 5, result, work, stop_at_third) == WMLC_INTERRUPTED,
		  "not interrupted");
	free(work);
	free(gram);
	free(result);
	rows_free(&rows);
}

int
main(void)
{
	test_any_matrix();
	test_selection();
	test_standardizer();
	test_order();
	test_empty();
	test_not_finite();
	test_interrupt();
	return check_summary();
}
