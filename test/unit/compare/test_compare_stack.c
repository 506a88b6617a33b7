/*
 * test_compare_stack.c
 *	  Stacked models in a comparison: weights by the conditions of optimality,
 *	  models as combinations of the sources' shrunken coefficients, and rehearsals
 *	  that know nothing of their actor.
 */
#include "core/compare/compare.h"
#include "core/model/adapt.h"
#include "core/model/ensemble.h"

#include "compare/compare_fixture.h"

#define D 3
#define TRIALS 3
#define ACTOR 2

/* A comparison of stacks, and what it came to. */
typedef struct Stacks
{
	int			source_count;
	const WmlcGram **sources;
	WmlcGram   *target;
	WmlcGram   *part;
	WmlcTrial	trials[TRIALS];
	WmlcGrid	grid;
	WmlcComparison comparison;
	double	   *coefficients;
	double	   *errors;
	WmlcStatus *statuses;
	void	   *work;
} Stacks;

/* The target, a fold of it, and a rehearsal. */
static void
compare_stacks(Stacks *stacks)
{
	static const int models[] = {WMLC_LEARN_STACK};
	static const double shrinks[] = {0.0, 1.0, 3.0};
	WmlcGridOptions options = {
		.models = models, .model_count = 1, .shrinks = shrinks, .shrink_count = 3, .d = D, .curvature = 1.0
	};
	int			methods;

	stacks->grid = grid_new(&options);
	methods = stacks->grid.method_count;
	CHECK(methods == 5, "two baselines and three stacks, not %d methods", methods);
	stacks->trials[0] = (WmlcTrial) {stacks->target, NULL, NULL, WMLC_NO_SOURCE};
	stacks->trials[1] = (WmlcTrial) {stacks->part, stacks->target, NULL, WMLC_NO_SOURCE};
	stacks->trials[2] = (WmlcTrial) {stacks->part, stacks->target, NULL, ACTOR};
	stacks->comparison = (WmlcComparison) {
		.d = D, .source_count = stacks->source_count, .sources = stacks->sources, .target = stacks->target,
		.learner_count = stacks->grid.learner_count, .learners = stacks->grid.learners,
		.weighting_count = stacks->grid.weighting_count, .weightings = stacks->grid.weightings,
		.method_count = methods, .methods = stacks->grid.methods,
		.trial_count = TRIALS, .trials = stacks->trials
	};
	stacks->coefficients = malloc(TRIALS * methods * D * sizeof(double));
	stacks->errors = malloc(TRIALS * methods * sizeof(double));
	stacks->statuses = malloc(methods * sizeof(WmlcStatus));
	stacks->work = malloc(wmlc_compare_workspace(&stacks->comparison));
	CHECK(wmlc_compare(&stacks->comparison, stacks->coefficients, stacks->errors, stacks->statuses,
					   stacks->work, NULL) == WMLC_OK, "compare");
}

static void
stacks_free(Stacks *stacks)
{
	grid_free(&stacks->grid);
	free(stacks->coefficients);
	free(stacks->errors);
	free(stacks->statuses);
	free(stacks->work);
}

static void
draw_sources(Stacks *stacks, int count, uint64_t *seed)
{
	const double truth[D] = {0.4, 0.8, -1.2};

	stacks->source_count = count;
	stacks->sources = malloc(count * sizeof(WmlcGram *));
	for (int j = 0; j < count; j++)
	{
		double		w[D] = {check_normal(seed), 1.0 + check_normal(seed), -1.0 + 0.3 * check_normal(seed)};

		stacks->sources[j] = task_gram(w, D, 6 + j % 20, 0.7, seed);
	}
	stacks->target = task_gram(truth, D, 8, 0.7, seed);
	stacks->part = task_gram(truth, D, 4, 0.7, seed);
}

static void
forget_sources(Stacks *stacks)
{
	for (int j = 0; j < stacks->source_count; j++)
		free((void *) stacks->sources[j]);
	free(stacks->sources);
	free(stacks->target);
	free(stacks->part);
}

/* The sources' shrunken coefficients, as a trial without `absent` knows them. */
static double
shrunken_models(const Stacks *stacks, size_t absent, double (*models)[D])
{
	double		common[D];
	double		noise;
	WmlcEnsemble ensemble = {.coefficients = common};
	WmlcTaskFit *fits = malloc(stacks->source_count * sizeof(WmlcTaskFit));
	void	   *work = malloc(wmlc_ensemble_workspace(D));

	for (int j = 0; j < stacks->source_count; j++)
	{
		fits[j].coefficients = models[j];
		wmlc_task_fit(stacks->sources[j], &fits[j], work, NULL);
	}
	wmlc_ensemble_of_fits(&ensemble, D, stacks->source_count, stacks->sources, fits, absent, work, NULL);
	for (int j = 0; j < stacks->source_count; j++)
		wmlc_ensemble_shrink(&ensemble, stacks->sources[j], &fits[j], models[j], &noise);
	free(fits);
	free(work);
	return ensemble.noise;
}

/* Half the slope of the squared error on the known rows, in the direction v of the coefficients. */
static double
slope_towards(const WmlcGram *known, const double *w, const double *v)
{
	double		sum = 0.0;

	for (int i = 0; i < D; i++)
	{
		double		gradient = -wmlc_dd_value(wmlc_gram_moment(known, i, D));

		for (int k = 0; k < D; k++)
			gradient += wmlc_dd_value(wmlc_gram_moment(known, i, k)) * w[k];
		sum += gradient * v[i];
	}
	return sum;
}

static void
check_optimal(const Stacks *stacks, int trial, int method, double noise, double (*models)[D])
{
	const WmlcComparison *c = &stacks->comparison;
	const WmlcGram *known = c->trials[trial].known;
	int			weighting = c->methods[method].weighting;
	const double *alpha = wmlc_compare_alpha(c, trial, weighting, stacks->work);
	const double *w = stacks->coefficients + (trial * c->method_count + method) * D;
	double		ridge = c->weightings[weighting].shrink * noise * D / (double) known->rows;
	double		square = 0.0;
	double		sum = 0.0;
	double		combined[D] = {0.0};

	for (int j = 0; j < stacks->source_count; j++)
	{
		CHECK(alpha[j] >= 0.0, "weight %g", alpha[j]);
		sum += alpha[j];
		square += alpha[j] * alpha[j];
		for (int i = 0; i < D; i++)
			combined[i] += alpha[j] * models[j][i];
	}
	CHECK_NEAR(sum, 1.0, 1e-12);
	for (int i = 0; i < D; i++)
		CHECK_NEAR(w[i], combined[i], 1e-10);
	for (int j = 0; j < stacks->source_count; j++)
	{
		double		v[D] = {models[j][0] - w[0], models[j][1] - w[1], models[j][2] - w[2]};
		double		slope = slope_towards(known, w, v) + ridge * (alpha[j] - square);

		if ((size_t) j == c->trials[trial].left_out)
		{
			CHECK(alpha[j] == 0.0, "the actor has weight %g", alpha[j]);
			continue;
		}
		CHECK(slope > -1e-9, "trial %d, method %d: source %d lowers the error by %g", trial, method, j, -slope);
		CHECK(alpha[j] == 0.0 || slope < 1e-9, "trial %d, method %d: source %d has too much weight: %g",
			  trial, method, j, slope);
	}
}

static void
test_optimal(void)
{
	uint64_t	seed = 91;

	for (int count = 4; count <= 40; count += 12)
	{
		Stacks		stacks;
		double		(*models)[D] = malloc(count * sizeof(double[D]));

		draw_sources(&stacks, count, &seed);
		compare_stacks(&stacks);
		for (int trial = 0; trial < TRIALS; trial++)
		{
			double		noise = shrunken_models(&stacks, stacks.trials[trial].left_out, models);

			for (int i = 2; i < 5; i++)
				check_optimal(&stacks, trial, i, noise, models);
		}
		free(models);
		stacks_free(&stacks);
		forget_sources(&stacks);
	}
}

/* Whatever the actor's rows are, its rehearsal comes to the same, and the target's does not. */
static void
test_actor(void)
{
	const double other[D] = {9.0, -7.0, 5.0};
	uint64_t	seed = 92;
	Stacks		stacks,
				changed;
	size_t		place = 2 * 5 * D;

	draw_sources(&stacks, 12, &seed);
	compare_stacks(&stacks);
	changed = stacks;
	changed.sources = malloc(12 * sizeof(WmlcGram *));
	memcpy(changed.sources, stacks.sources, 12 * sizeof(WmlcGram *));
	changed.sources[ACTOR] = task_gram(other, D, 30, 2.0, &seed);
	compare_stacks(&changed);
	CHECK(memcmp(stacks.coefficients + place + 2 * D, changed.coefficients + place + 2 * D, 3 * D * sizeof(double)) == 0,
		  "the rehearsal knows its actor");
	CHECK(memcmp(stacks.coefficients + 2 * D, changed.coefficients + 2 * D, 3 * D * sizeof(double)) != 0,
		  "the target does not know this source");
	free((void *) changed.sources[ACTOR]);
	free(changed.sources);
	stacks_free(&changed);
	stacks_free(&stacks);
	forget_sources(&stacks);
}

/* Of very many sources the actor is one in what all have in common, and still has no weight. */
static void
test_many(void)
{
	uint64_t	seed = 93;
	Stacks		stacks;
	double		(*models)[D] = malloc(150 * sizeof(double[D]));
	double		noise;

	draw_sources(&stacks, 150, &seed);
	compare_stacks(&stacks);
	noise = shrunken_models(&stacks, WMLC_NO_SOURCE, models);
	for (int trial = 0; trial < TRIALS; trial++)
	{
		for (int i = 2; i < 5; i++)
			check_optimal(&stacks, trial, i, noise, models);
	}
	free(models);
	stacks_free(&stacks);
	forget_sources(&stacks);
}

int
main(void)
{
	test_optimal();
	test_actor();
	test_many();
	return check_summary();
}
