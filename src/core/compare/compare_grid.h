/*
 * compare_grid.h
 *	  The methods of a comparison, as the product of options.
 */
#ifndef WMLC_COMPARE_GRID_H
#define WMLC_COMPARE_GRID_H

#include "core/compare/compare.h"
#include "core/compare/compare_choice.h"

/* Lists of options; what is NULL takes the default. */
typedef struct WmlcGridOptions
{
	const int *models;
	int			model_count;
	const WmlcRule *weights;
	int			weights_count;
	const double *etas;
	int			eta_count;
	const double *ridges;
	int			ridge_count;
	const double *shrinks;
	int			shrink_count;
	const double *evennesses;
	int			evenness_count;
	const bool *whitens;
	int			whiten_count;
	const int  *adapt_steps;
	int			adapt_steps_count;
	const double *source_rows;
	int			source_rows_count;

	int			smooth;			/* features of a smooth part that tasks share, of all d */
	int			d;				/* features; of very many there is no prior by default */
	bool		windows;		/* are there windows? by default, weights are then refined */

	/*
	 * Default step sizes are a share of 1 / curvature: the largest eigenvalue of
	 * the features' second moment over all sources.
	 */
	double		curvature;
} WmlcGridOptions;

/* The first methods of every grid. */
#define WMLC_BASELINE_UNIFORM 0 /* joint training of equally weighted sources */
#define WMLC_BASELINE_TARGET 1	/* the target alone */

/* Lists that the caller provides, of at least these lengths. */
typedef struct WmlcGrid
{
	int			learner_count;
	WmlcLearner *learners;
	int			weighting_count;
	WmlcWeighting *weightings;
	int			method_count;
	WmlcMethod *methods;
} WmlcGrid;

/*
 * Upper bounds of the counts, as doubles because users may ask for more than
 * there are integers.
 */
extern void wmlc_grid_bounds(const WmlcGridOptions *options, double *learners,
							 double *weightings, double *methods);

/* What a method is to the choice, where nothing bars it. */
extern WmlcStanding wmlc_grid_standing(const WmlcGrid *grid, int method);

/* Some of the methods, in the same order; the lists are as long as those of the grid. */
extern void wmlc_grid_select(const WmlcGrid *grid, const bool *wanted, WmlcGrid *selection);

/* Fill the lists.  Methods that options make equal appear once. */
extern void wmlc_grid_build(const WmlcGridOptions *options, WmlcGrid *grid);

#endif							/* WMLC_COMPARE_GRID_H */
