/*
 * test_compare_prior.c
 *	  Sources that do not belong to the others.  Coefficients of priors are tested
 *	  by test_compare.c.
 */
#include "compare/compare_fixture.h"

#include "core/compare/compare_prior.h"

#define D 3
#define MOST 12

typedef struct Sources
{
	size_t		count;
	const WmlcGram *grams[MOST];
	bool		belongs[MOST];
} Sources;

/* So many sources, of which the first few have a response that is a hundred times as large. */
static Sources
draw_sources(size_t count, size_t wrong, int d)
{
	uint64_t	seed = 7;
	Sources		sources = {.count = count};
	double	   *w = calloc(d, sizeof(double));

	for (size_t j = 0; j < count; j++)
	{
		Rows		rows;

		for (int i = 0; i < d; i++)
			w[i] = 5.0 + i + check_normal(&seed);
		rows = task_rows(w, d, d + 12, 0.5, &seed);
		if (j < wrong)
			rows_at(&rows, 0)[d] *= 100.0;
		sources.grams[j] = gram_of(&rows);
		rows_free(&rows);
	}
	free(w);
	return sources;
}

static void
free_sources(Sources *sources)
{
	for (size_t j = 0; j < sources->count; j++)
		free((void *) sources->grams[j]);
}

static WmlcStatus
screen(Sources *sources, const bool *smooth, WmlcPoll poll)
{
	WmlcComparison comparison = {
		.d = sources->grams[0]->dims, .source_count = sources->count, .sources = sources->grams, .smooth = smooth
	};
	void	   *work = malloc(wmlc_compare_screen_workspace(&comparison) + 1);
	WmlcStatus	status = wmlc_compare_screen(&comparison, sources->belongs, work, poll);

	free(work);
	return status;
}

static void
check_strangers(size_t count, size_t wrong, size_t expected, int d, const bool *smooth, const char *what)
{
	Sources		sources = draw_sources(count, wrong, d);

	CHECK(screen(&sources, smooth, NULL) == WMLC_OK, "%s", what);
	for (size_t j = 0; j < count; j++)
		CHECK(sources.belongs[j] == (j >= expected), "%s: source %zu", what, j);
	free_sources(&sources);
}

static void
test_screen(void)
{
	bool		smooth[45] = {false};

	check_strangers(12, 0, 0, D, NULL, "clean sources");
	check_strangers(12, 1, 1, D, NULL, "one of twelve");
	check_strangers(12, 2, 2, D, NULL, "two of twelve");
	check_strangers(12, 3, 0, D, NULL, "three of twelve are too many");
	check_strangers(4, 1, 1, D, NULL, "one of four");
	check_strangers(3, 1, 0, D, NULL, "three sources are too few");
	check_strangers(8, 1, 0, 45, NULL, "too many features");

	/* of which most are smooth */
	for (int i = D; i < 45; i++)
		smooth[i] = true;
	check_strangers(8, 1, 1, 45, smooth, "many smooth features");
}

static bool
stop(void)
{
	return true;
}

static void
test_cancel(void)
{
	Sources		sources = draw_sources(12, 1, D);

	CHECK(screen(&sources, NULL, stop) == WMLC_INTERRUPTED, "a cancel");
	free_sources(&sources);
}

int
main(void)
{
	test_screen();
	test_cancel();
	return check_summary();
}
