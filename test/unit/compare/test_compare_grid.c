/*
 * test_compare_grid.c
 *	  The methods of a comparison: the default ones, the user's own, and none
 *	  of them twice.
 */
#include "compare/compare_fixture.h"

static void
check_baselines(const WmlcGrid *grid)
{
	const WmlcMethod *uniform = &grid->methods[WMLC_BASELINE_UNIFORM];
	const WmlcMethod *target = &grid->methods[WMLC_BASELINE_TARGET];

	CHECK(grid->learners[uniform->learner].kind == WMLC_ERM &&
		  grid->weightings[uniform->weighting].rule == WMLC_UNIFORM &&
		  isinf(uniform->source_rows) && uniform->ridge == 0.0 && uniform->adapt_steps == 0,
		  "the first method is not joint training with uniform weights");
	CHECK(grid->learners[target->learner].kind == WMLC_ERM && target->source_rows == 0.0 &&
		  target->ridge == 0.0 && target->adapt_steps == 0, "the second method is not the target alone");
}

static bool
is_same(const WmlcGrid *grid, const WmlcMethod *a, const WmlcMethod *b)
{
	const WmlcLearner *la = &grid->learners[a->learner];
	const WmlcLearner *lb = &grid->learners[b->learner];
	const WmlcWeighting *wa = &grid->weightings[a->weighting];
	const WmlcWeighting *wb = &grid->weightings[b->weighting];

	return la->kind == lb->kind && la->eta == lb->eta && la->evenness == lb->evenness &&
		la->whiten == lb->whiten && wa->rule == wb->rule && wa->shrink == wb->shrink &&
		wa->whiten == wb->whiten && a->ridge == b->ridge && a->source_rows == b->source_rows &&
		a->adapt_steps == b->adapt_steps;
}

/* No method twice; methods of one learner together, as the comparison wants them. */
static void
check_order(const WmlcGrid *grid)
{
	int			pairs = 0;
	int			changes = 0;

	for (int i = 0; i < grid->method_count; i++)
	{
		for (int j = i + 1; j < grid->method_count; j++)
			pairs += is_same(grid, &grid->methods[i], &grid->methods[j]);
		changes += i > 0 && grid->methods[i].learner != grid->methods[i - 1].learner;
	}
	CHECK(pairs == 0, "%d methods appear twice", pairs);
	CHECK(changes < 2 * grid->learner_count, "learners change %d times", changes);
}

static int
count_kind(const WmlcGrid *grid, int kind)
{
	int			count = 0;

	for (int i = 0; i < grid->method_count; i++)
		count += grid->learners[grid->methods[i].learner].kind == kind;
	return count;
}

/* How many methods are joint training under such weights, and with how many numbers of rows. */
static int
count_joint(const WmlcGrid *grid, WmlcRule kind, bool finite)
{
	int			count = 0;

	for (int i = 0; i < grid->method_count; i++)
	{
		const WmlcMethod *method = &grid->methods[i];

		count += grid->learners[method->learner].kind == WMLC_ERM &&
			grid->weightings[method->weighting].rule == kind && method->source_rows > 0.0 &&
			!isfinite(method->source_rows) == !finite;
	}
	return count;
}

static void
test_default(void)
{
	WmlcGridOptions options = {.d = 5, .curvature = 4.0};
	WmlcGrid	grid = grid_new(&options);

	check_baselines(&grid);
	check_order(&grid);
	CHECK(count_kind(&grid, WMLC_LEARN_PRIOR) == 1, "one prior by default");
	CHECK(count_kind(&grid, WMLC_LEARN_ROBUST) == 1, "and one that is robust");

	/* plain and whitened, shrunk or not; sizes know neither */
	CHECK(count_joint(&grid, WMLC_MIXTURE, false) == 4, "mixtures");
	CHECK(count_joint(&grid, WMLC_CLOSEST, false) == 2, "closest sources");
	CHECK(count_joint(&grid, WMLC_UNIFORM, false) == 1, "uniform weights");
	CHECK(count_joint(&grid, WMLC_POOLED, false) == 1, "pooled rows");
	CHECK(count_joint(&grid, WMLC_UNIFORM, true) == 7, "with the target's rows");
	for (int i = 0; i < grid.learner_count; i++)
	{
		const WmlcLearner *learner = &grid.learners[i];

		if (learner->kind == WMLC_MAML)
			CHECK_NEAR(learner->eta, learner->whiten ? 0.1 : 0.1 / 4.0, 1e-15);
		if (learner->kind == WMLC_LEARN_PRIOR)
			CHECK(learner->evenness == 5.0, "a prior of evenness %g", learner->evenness);
	}
	grid_free(&grid);

	/* over the same rows, mixtures are refined as well */
	options.windows = true;
	grid = grid_new(&options);
	check_baselines(&grid);
	check_order(&grid);
	CHECK(count_joint(&grid, WMLC_MIXTURE, false) == 6, "mixtures over windows");
	for (int i = 0; i < grid.method_count; i++)
	{
		double		shrink = grid.weightings[grid.methods[i].weighting].shrink;
		bool		prior = grid.learners[grid.methods[i].learner].kind == WMLC_LEARN_PRIOR;
		WmlcStanding expected = i == WMLC_BASELINE_UNIFORM || prior ? WMLC_INCUMBENT
			: shrink == 0.1 ? WMLC_REFINEMENT : WMLC_CANDIDATE;

		CHECK(wmlc_grid_standing(&grid, i) == expected, "method %d", i);
	}
	grid_free(&grid);

	options.windows = false;
	options.d = 200;
	grid = grid_new(&options);
	CHECK(count_kind(&grid, WMLC_LEARN_PRIOR) + count_kind(&grid, WMLC_LEARN_ROBUST) == 0,
		  "a prior of very many features by default");
	CHECK(count_kind(&grid, WMLC_MAML) > 0, "nothing else is left out");
	grid_free(&grid);
}

/* Everything given, much of it more than once or without effect. */
static void
test_repetitions(void)
{
	const int models[] = {
		WMLC_MAML, WMLC_ERM, WMLC_LEARN_PRIOR, WMLC_REPTILE, WMLC_FOMAML,
		WMLC_ERM, WMLC_LEARN_PRIOR
	};
	const double numbers[] = {0.0, 0.5, 0.5};
	const double rows[] = {0.0, INFINITY, 0.0};
	const int	steps[] = {0, 2, 0};
	WmlcGridOptions options = {
		.models = models, .model_count = 7, .etas = numbers, .eta_count = 3,
		.ridges = numbers, .ridge_count = 3, .shrinks = numbers, .shrink_count = 3,
		.evennesses = numbers, .evenness_count = 3,
		.adapt_steps = steps, .adapt_steps_count = 3, .source_rows = rows, .source_rows_count = 3,
		.d = 200, .curvature = 1.0
	};
	WmlcGrid	grid = grid_new(&options);

	check_baselines(&grid);
	check_order(&grid);
	CHECK(count_kind(&grid, WMLC_LEARN_PRIOR) == 2, "priors of two evennesses, as they were asked for");
	grid_free(&grid);
}

/* One of everything: the baselines and the method asked for. */
static void
test_single(void)
{
	const int joint[] = {WMLC_ERM};
	const int prior[] = {WMLC_LEARN_PRIOR};
	const int robust[] = {WMLC_LEARN_ROBUST};
	const WmlcRule mixture[] = {WMLC_MIXTURE};
	const double shrinks[] = {0.5};
	const double rows[] = {INFINITY};
	const bool	whiten[] = {true};
	WmlcGridOptions options = {
		.models = joint, .model_count = 1, .weights = mixture, .weights_count = 1,
		.shrinks = shrinks, .shrink_count = 1,
		.evennesses = shrinks, .evenness_count = 1, .whitens = whiten, .whiten_count = 1,
		.source_rows = rows, .source_rows_count = 1, .d = 5, .curvature = 1.0
	};
	WmlcGrid	grid = grid_new(&options);

	CHECK(grid.method_count == 3, "baselines and one method, not %d", grid.method_count);
	CHECK(grid.weightings[grid.methods[2].weighting].rule == WMLC_MIXTURE &&
		  grid.weightings[grid.methods[2].weighting].shrink == 0.5 &&
		  grid.weightings[grid.methods[2].weighting].whiten &&
		  !grid.learners[grid.methods[2].learner].whiten,
		  "joint training with whitened weights, in whatever basis");
	grid_free(&grid);

	/* a prior takes all sources alike, in no special basis */
	options.models = prior;
	grid = grid_new(&options);
	CHECK(grid.method_count == 3, "baselines and one prior, not %d", grid.method_count);
	CHECK(grid.learners[grid.methods[2].learner].kind == WMLC_LEARN_PRIOR &&
		  grid.learners[grid.methods[2].learner].evenness == 0.5 &&
		  !grid.learners[grid.methods[2].learner].whiten &&
		  grid.weightings[grid.methods[2].weighting].rule == WMLC_UNIFORM,
		  "the prior is not the one asked for");
	grid_free(&grid);

	/* one that is robust has to beat a plain one only where that is there */
	options.models = robust;
	grid = grid_new(&options);
	CHECK(grid.method_count == 3 && wmlc_grid_standing(&grid, 2) == WMLC_INCUMBENT, "a robust prior alone");
	grid_free(&grid);
}

/* Some methods of a grid are what they were in it, in the same order. */
static void
test_select(void)
{
	WmlcGridOptions options = {.d = 5, .curvature = 4.0, .windows = true};
	WmlcGrid	grid = grid_new(&options);
	WmlcGrid	few = grid_new(&options);
	bool	   *wanted = calloc(grid.method_count, sizeof(bool));
	int			count = 0;

	for (int i = 0; i < grid.method_count; i += 7)
		wanted[i] = true;
	wmlc_grid_select(&grid, wanted, &few);
	for (int i = 0; i < grid.method_count; i++)
	{
		const WmlcMethod *a = &grid.methods[i];
		const WmlcMethod *b = &few.methods[count];

		if (!wanted[i])
			continue;
		CHECK(memcmp(&grid.learners[a->learner], &few.learners[b->learner], sizeof(WmlcLearner)) == 0 &&
			  memcmp(&grid.weightings[a->weighting], &few.weightings[b->weighting], sizeof(WmlcWeighting)) == 0 &&
			  a->ridge == b->ridge && a->source_rows == b->source_rows && a->adapt_steps == b->adapt_steps,
			  "method %d", i);
		count++;
	}
	CHECK(count == few.method_count, "%d", count);
	CHECK(few.weighting_count < grid.weighting_count, "no weighting that nobody wants");
	free(wanted);
	grid_free(&grid);
	grid_free(&few);
}

int
main(void)
{
	test_select();
	test_default();
	test_repetitions();
	test_single();
	return check_summary();
}
