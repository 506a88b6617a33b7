/*
 * compare_grid.c
 *	  The methods of a comparison, as the product of options.
 */
#include "core/compare/compare_grid.h"
#include "core/compare/compare_prior.h"

#include <math.h>

/*
 * The default grid.  It was chosen by held-out error on real and synthetic
 * families of tasks: more weightings, step sizes or rows in between change the
 * error of the method chosen by less than 1 %.
 */
static const int default_models[] = {
	WMLC_ERM, WMLC_MAML, WMLC_LEARN_STACK, WMLC_LEARN_PRIOR, WMLC_LEARN_ROBUST
};

/* The last of these, which may be left out. */
#define DEFAULT_PRIORS 2

/* With features of a smooth part, of which there are many, the priors alone. */
static const int smooth_models[] = {WMLC_LEARN_PRIOR, WMLC_LEARN_SMOOTH};
static const WmlcRule default_weights[] = {
	WMLC_UNIFORM, WMLC_POOLED, WMLC_CLOSEST, WMLC_MIXTURE
};
static const double default_ridges[] = {0.0};

/* over the same rows, weights are worth more, and the last refines them */
static const double default_shrinks[] = {0.0, 3.0, 0.1};
static const double default_stack_shrinks[] = {1.0, 3.0};
static const bool default_whitens[] = {false, true};
static const double default_source_rows[] = {INFINITY, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1};
static const int default_adapt_steps[] = {0, 1, 3, 10, 30};
static const int no_steps[] = {0};

/* Default step size, as a share of 1 / curvature. */
#define DEFAULT_ETA 0.1

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define USE_DEFAULT(list, count, array) \
	do { \
		if ((list) == NULL) \
		{ \
			(list) = (array); \
			(count) = COUNT(array); \
		} \
	} while (0)

/* The defaults that all models have in common. */
static WmlcGridOptions
complete(const WmlcGridOptions *given)
{
	WmlcGridOptions options = *given;

	if (options.models == NULL && options.smooth > 0)
	{
		options.models = smooth_models;
		options.model_count = COUNT(smooth_models);
	}
	if (options.models == NULL)
	{
		options.models = default_models;
		options.model_count = COUNT(default_models) - (options.d > WMLC_MOST_PRIOR_DIMS ? DEFAULT_PRIORS : 0);
	}
	USE_DEFAULT(options.weights, options.weights_count, default_weights);
	USE_DEFAULT(options.ridges, options.ridge_count, default_ridges);
	USE_DEFAULT(options.whitens, options.whiten_count, default_whitens);
	USE_DEFAULT(options.source_rows, options.source_rows_count, default_source_rows);
	return options;
}

/* Joint training adapts by letting the target take part, unless told to descend. */
static void
steps_of(const WmlcGridOptions *options, int kind, const int **steps, int *count)
{
	*steps = options->adapt_steps;
	*count = options->adapt_steps_count;
	if (kind == WMLC_ERM)
		USE_DEFAULT(*steps, *count, no_steps);
	else
		USE_DEFAULT(*steps, *count, default_adapt_steps);
}

static bool
any_positive(const int *list, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (list[i] > 0)
			return true;
	}
	return false;
}

void
wmlc_grid_bounds(const WmlcGridOptions *given, double *learners, double *weightings,
				 double *methods)
{
	WmlcGridOptions options = complete(given);
	double		steps = fmax(options.adapt_steps_count, COUNT(default_adapt_steps));
	double		shrinks = fmax(options.shrink_count, COUNT(default_shrinks));
	double		stacks = fmax(options.shrink_count, COUNT(default_stack_shrinks));
	double		evennesses = fmax(options.evenness_count, 1.0);
	double		objectives;

	/* joint training comes without and with a step size; the baselines come on top */
	objectives = 1.0 + (double) options.model_count * (1.0 + fmax(options.eta_count, 1.0)) *
		options.whiten_count;
	*weightings = 1.0 + (double) options.weights_count * shrinks * options.whiten_count;
	*learners = objectives + WMLC_KINDS_OF_PRIORS * evennesses + 1.0;
	*methods = 2.0 + WMLC_KINDS_OF_PRIORS * evennesses + stacks + objectives * *weightings * options.ridge_count *
		(options.source_rows_count + steps);
	*weightings += stacks;
}

static int
add_learner(WmlcGrid *grid, WmlcLearner learner)
{
	for (int i = 0; i < grid->learner_count; i++)
	{
		if (grid->learners[i].kind == learner.kind && grid->learners[i].eta == learner.eta &&
			grid->learners[i].evenness == learner.evenness &&
			grid->learners[i].whiten == learner.whiten)
			return i;
	}
	grid->learners[grid->learner_count] = learner;
	return grid->learner_count++;
}

static int
add_weighting(WmlcGrid *grid, WmlcWeighting weighting)
{
	for (int i = 0; i < grid->weighting_count; i++)
	{
		if (grid->weightings[i].rule == weighting.rule &&
			grid->weightings[i].shrink == weighting.shrink &&
			grid->weightings[i].whiten == weighting.whiten)
			return i;
	}
	grid->weightings[grid->weighting_count] = weighting;
	return grid->weighting_count++;
}

static bool
is_equal(const WmlcMethod *a, const WmlcMethod *b)
{
	return a->learner == b->learner && a->weighting == b->weighting && a->ridge == b->ridge &&
		a->source_rows == b->source_rows && a->adapt_steps == b->adapt_steps;
}

static void
add_method(WmlcGrid *grid, WmlcMethod method)
{
	/* equal methods have equal learners, which mostly stand together */
	for (int i = grid->method_count; i-- > 0;)
	{
		if (is_equal(&grid->methods[i], &method))
			return;
	}
	grid->methods[grid->method_count++] = method;
}

static bool
counts_by_size(WmlcRule kind)
{
	return kind == WMLC_UNIFORM || kind == WMLC_POOLED;
}

/*
 * Add the method in its simplest form: options that make no difference to it
 * are as in the baselines.
 */
static void
add_simplified(WmlcGrid *grid, WmlcLearner learner, WmlcWeighting weighting, WmlcMethod method)
{
	bool		basis_matters = learner.kind != WMLC_ERM || method.ridge > 0.0 ||
		method.adapt_steps > 0;

	if (method.source_rows == 0.0)
		weighting.rule = WMLC_UNIFORM;
	if (counts_by_size(weighting.rule))
		weighting.whiten = false;
	learner.whiten = learner.whiten && basis_matters;
	if (weighting.rule != WMLC_MIXTURE && weighting.rule != WMLC_STACKED)
		weighting.shrink = 0.0;
	method.learner = add_learner(grid, learner);
	method.weighting = add_weighting(grid, weighting);
	add_method(grid, method);
}

/* All methods of one learner under one weighting. */
static void
add_variants(WmlcGrid *grid, const WmlcGridOptions *options, WmlcLearner learner,
			 WmlcWeighting weighting)
{
	bool		joint = learner.kind == WMLC_ERM;
	const int  *steps;
	int			step_count;

	steps_of(options, learner.kind, &steps, &step_count);
	for (int r = 0; r < options->ridge_count; r++)
	{
		WmlcMethod	method = {.ridge = options->ridges[r], .source_rows = INFINITY};

		/* joint training has a step size only to adapt */
		for (int i = 0; i < options->source_rows_count && joint && learner.eta == 0.0; i++)
		{
			method.source_rows = options->source_rows[i];
			add_simplified(grid, learner, weighting, method);
		}
		method.source_rows = INFINITY;
		for (int i = 0; i < step_count; i++)
		{
			if (joint && (steps[i] > 0) != (learner.eta > 0.0))
				continue;
			method.adapt_steps = steps[i];
			add_simplified(grid, learner, weighting, method);
		}
	}
}

static void
add_learner_variants(WmlcGrid *grid, const WmlcGridOptions *options, WmlcLearner learner)
{
	const double *shrinks = options->shrinks;
	int			shrink_count = options->shrink_count;

	if (shrinks == NULL)
	{
		shrinks = default_shrinks;
		shrink_count = COUNT(default_shrinks) - !options->windows;
	}
	for (int w = 0; w < options->weights_count; w++)
	{
		for (int s = 0; s < shrink_count; s++)
			add_variants(grid, options, learner, (WmlcWeighting) {
				.rule = options->weights[w],
				.shrink = shrinks[s],
				.whiten = learner.whiten
			});
	}
}

/* All priors.  Weights, bases, ridges and steps make no difference to them. */
static void
add_priors(WmlcGrid *grid, const WmlcGridOptions *options, int kind)
{
	WmlcWeighting uniform = {.rule = WMLC_UNIFORM};
	const double *evennesses = options->evennesses;
	int			evenness_count = options->evenness_count;
	double		default_evenness = options->d - options->smooth;

	/*
	 * As many tasks' worth as there are features: fewer tasks than that leave
	 * directions in which no spread was seen, and where it may yet be.
	 */
	if (evennesses == NULL)
	{
		evennesses = &default_evenness;
		evenness_count = 1;
	}
	for (int s = 0; s < evenness_count; s++)
	{
		WmlcLearner learner = {.kind = kind, .evenness = evennesses[s]};

		add_simplified(grid, learner, uniform, (WmlcMethod) {.source_rows = INFINITY});
	}
}

/* All stacks.  Only the penalty of their weights makes a difference to them. */
static void
add_stacks(WmlcGrid *grid, const WmlcGridOptions *options)
{
	const double *shrinks = options->shrinks;
	int			shrink_count = options->shrink_count;

	USE_DEFAULT(shrinks, shrink_count, default_stack_shrinks);
	for (int s = 0; s < shrink_count; s++)
		add_simplified(grid, (WmlcLearner) {.kind = WMLC_LEARN_STACK},
					   (WmlcWeighting) {.rule = WMLC_STACKED, .shrink = shrinks[s]},
					   (WmlcMethod) {.source_rows = INFINITY});
}

/* All methods of one other model in one basis. */
static void
add_model(WmlcGrid *grid, const WmlcGridOptions *options, int kind, bool whiten)
{
	WmlcLearner learner = {.kind = kind, .whiten = whiten};
	double		default_eta = whiten ? DEFAULT_ETA : DEFAULT_ETA / options->curvature;
	const double *etas = options->etas;
	int			eta_count = options->eta_count;
	const int  *steps;
	int			step_count;

	if (etas == NULL)
	{
		etas = &default_eta;
		eta_count = 1;
	}
	steps_of(options, kind, &steps, &step_count);
	if (kind == WMLC_ERM)
	{
		add_learner_variants(grid, options, learner);
		if (!any_positive(steps, step_count))
			return;
	}
	for (int i = 0; i < eta_count; i++)
	{
		learner.eta = etas[i];
		add_learner_variants(grid, options, learner);
	}
}

void
wmlc_grid_build(const WmlcGridOptions *given, WmlcGrid *grid)
{
	WmlcGridOptions options = complete(given);
	WmlcLearner joint = {.kind = WMLC_ERM};
	WmlcWeighting uniform = {.rule = WMLC_UNIFORM};

	grid->learner_count = grid->weighting_count = grid->method_count = 0;
	add_simplified(grid, joint, uniform, (WmlcMethod) {.source_rows = INFINITY});
	add_simplified(grid, joint, uniform, (WmlcMethod) {.source_rows = 0.0});
	for (int m = 0; m < options.model_count; m++)
	{
		if (wmlc_learns_prior(options.models[m]))
			add_priors(grid, &options, options.models[m]);
		if (options.models[m] == WMLC_LEARN_STACK)
			add_stacks(grid, &options);
		for (int i = 0; i < options.whiten_count && options.models[m] < WMLC_OBJECTIVES; i++)
			add_model(grid, &options, options.models[m], options.whitens[i]);
	}
}

void
wmlc_grid_select(const WmlcGrid *grid, const bool *wanted, WmlcGrid *selection)
{
	selection->learner_count = selection->weighting_count = selection->method_count = 0;
	for (int i = 0; i < grid->method_count; i++)
	{
		WmlcMethod	method = grid->methods[i];

		if (!wanted[i])
			continue;
		method.learner = add_learner(selection, grid->learners[method.learner]);
		method.weighting = add_weighting(selection, grid->weightings[method.weighting]);
		selection->methods[selection->method_count++] = method;
	}
}

static bool
has_learner(const WmlcGrid *grid, int kind)
{
	for (int i = 0; i < grid->learner_count; i++)
	{
		if (grid->learners[i].kind == kind)
			return true;
	}
	return false;
}

WmlcStanding
wmlc_grid_standing(const WmlcGrid *grid, int method)
{
	double		shrink = grid->weightings[grid->methods[method].weighting].shrink;
	int			kind = grid->learners[grid->methods[method].learner].kind;

	/* a robust prior has noises and tails to learn on top of the plain one: beside that, it must show what for */
	if (method == WMLC_BASELINE_UNIFORM ||
		(wmlc_learns_prior(kind) && !(kind == WMLC_LEARN_ROBUST && has_learner(grid, WMLC_LEARN_PRIOR))))
		return WMLC_INCUMBENT;

	/* a slight penalty tells two sources from each other that are equally good */
	return shrink > 0.0 && shrink < 1.0 ? WMLC_REFINEMENT : WMLC_CANDIDATE;
}
