/*
 * test_window.c
 *	  What a source has beside its window: to the last bit the gram of the other
 *	  rows; and windows that are no part of their source.
 */
#include "core/gram/window.h"

#include "gram/gram_fixture.h"

static WmlcStatus
rest_of(const WmlcGram *source, const WmlcGram *window, WmlcGram *rest)
{
	void	   *work = malloc(wmlc_window_workspace(source->dims));
	WmlcStatus	status = wmlc_window_rest(source, window, rest, work, NULL);

	free(work);
	return status;
}

/* The first `known` rows, in any order of adding them up, leave the gram of the others. */
static void
check_rest(const Rows *rows, int known, int block, uint64_t *seed)
{
	int		   *order = malloc(rows->count * sizeof(int));
	WmlcGram   *source,
			   *window = gram_of_part(rows, NULL, 0, known, 1);
	WmlcGram   *others = gram_of_part(rows, NULL, known, rows->count, 1);
	WmlcGram   *rest = gram_new(rows->dims);

	shuffle(order, rows->count, seed);
	source = gram_of_part(rows, order, 0, rows->count, block);
	CHECK(rest_of(source, window, rest) == WMLC_OK, "%d features, %d of %d rows known", rows->dims,
		  known, rows->count);
	CHECK(same_figures(rest, others), "%d features, %d of %d rows known", rows->dims, known, rows->count);
	CHECK(valid(rest), "%d features, %d of %d rows known", rows->dims, known, rows->count);
	free(order);
	free(source);
	free(window);
	free(others);
	free(rest);
}

static void
test_exact(void)
{
	uint64_t	seed = 51;

	for (int dims = 1; dims <= 40; dims += 13)
	{
		Rows		rows = rows_random(dims, 60, &seed);

		for (int known = 1; known < rows.count; known += 7)
			check_rest(&rows, known, 1 + known % 8, &seed);
		rows_weigh(&rows, &seed);
		rows.weights[0] = rows.weights[59] = 1.0;
		check_rest(&rows, 20, 4, &seed);
		rows_free(&rows);
	}
}

/* A year that is not centred, and its powers: what is left of them has all digits. */
static void
test_uncentred(void)
{
	uint64_t	seed = 52;
	Rows		rows = rows_new(4, 40);

	for (int r = 0; r < rows.count; r++)
	{
		double		year = 1980.0 + r;
		double	   *z = rows_at(&rows, r);

		z[0] = 1.0;
		z[1] = year;
		z[2] = year * year;
		z[3] = year * year * year;
		z[4] = 1e6 + check_normal(&seed);
	}
	for (int known = 1; known < rows.count; known++)
		check_rest(&rows, known, 1, &seed);
	rows_free(&rows);
}

/* All rows: nothing is left, not even a constant. */
static void
test_whole(void)
{
	uint64_t	seed = 53;
	Rows		rows = rows_random(3, 20, &seed);
	WmlcGram   *source = gram_of(&rows);
	WmlcGram   *rest = gram_new(3);

	CHECK(rest_of(source, source, rest) == WMLC_OK, "whole");
	CHECK(rest->rows == 0 && wmlc_gram_weighted_rows(rest) == 0, "%d rows left", (int) rest->rows);
	free(source);
	free(rest);
	rows_free(&rows);
}

/* Rows of another task, too many rows, other weights. */
static void
test_not_contained(void)
{
	uint64_t	seed = 54;
	int			refused = 0;
	WmlcGram   *rest = gram_new(3);

	for (int trial = 0; trial < 200; trial++)
	{
		Rows		rows = rows_random(3, 12, &seed);
		Rows		others = rows_random(3, 12, &seed);
		WmlcGram   *source = gram_of(&rows);
		WmlcGram   *foreign = gram_of_part(&others, NULL, 0, 8, 1);
		WmlcGram   *larger = gram_of_part(&rows, NULL, 0, 12, 1);

		refused += rest_of(source, foreign, rest) == WMLC_NOT_CONTAINED;
		wmlc_gram_add_row(larger, rows_at(&others, 0), 1.0);
		CHECK(rest_of(source, larger, rest) == WMLC_NOT_CONTAINED, "more rows than the source");
		free(source);
		free(foreign);
		free(larger);
		rows_free(&rows);
		rows_free(&others);
	}

	/* sums cannot tell each time: eight rows may look as if they were among twelve others */
	CHECK(refused >= 180, "%d of 200 foreign windows refused", refused);
	free(rest);
}

int
main(void)
{
	test_exact();
	test_uncentred();
	test_whole();
	test_not_contained();
	return check_summary();
}
