/*
 * compare_fixture.h
 *	  Families of tasks and grids of methods for the tests of comparisons.
 */
#ifndef WML_UNIT_COMPARE_FIXTURE_H
#define WML_UNIT_COMPARE_FIXTURE_H

#include "core/compare/compare_grid.h"

#include "gram/gram_fixture.h"

/* Rows with coefficients w, a constant, other features about 2, and noise. */
static inline Rows
task_rows(const double *w, int d, int count, double noise, uint64_t *seed)
{
	Rows		rows = rows_new(d, count);

	for (int r = 0; r < count; r++)
	{
		double	   *z = rows_at(&rows, r);

		z[0] = 1.0;
		z[d] = w[0] + noise * check_normal(seed);
		for (int i = 1; i < d; i++)
		{
			z[i] = 2.0 + check_normal(seed);
			z[d] += w[i] * z[i];
		}
	}
	return rows;
}

static inline WmlcGram *
task_gram(const double *w, int d, int count, double noise, uint64_t *seed)
{
	Rows		rows = task_rows(w, d, count, noise, seed);
	WmlcGram   *gram = gram_of(&rows);

	rows_free(&rows);
	return gram;
}

static inline WmlcGrid
grid_new(const WmlcGridOptions *options)
{
	WmlcGrid	grid;
	double		learners,
				weightings,
				methods;

	wmlc_grid_bounds(options, &learners, &weightings, &methods);
	grid.learners = malloc((size_t) learners * sizeof(WmlcLearner));
	grid.weightings = malloc((size_t) weightings * sizeof(WmlcWeighting));
	grid.methods = malloc((size_t) methods * sizeof(WmlcMethod));
	wmlc_grid_build(options, &grid);
	CHECK(grid.learner_count <= learners && grid.weighting_count <= weightings &&
		  grid.method_count <= methods, "%d learners, %d weightings, %d methods",
		  grid.learner_count, grid.weighting_count, grid.method_count);
	return grid;
}

static inline void
grid_free(WmlcGrid *grid)
{
	free(grid->learners);
	free(grid->weightings);
	free(grid->methods);
}

#endif							/* WML_UNIT_COMPARE_FIXTURE_H */
