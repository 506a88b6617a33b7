/*
 * test_compare.c
 *	  Comparisons: every method in every trial against the same computed from
 *	  rows by the definitions, in long double; failures; and what must make no
 *	  difference.
 */
#include "core/compare/compare.h"
#include "core/prior/posterior.h"

#include "compare/compare_naive.h"

#define SOURCE_ROWS 12
#define TARGET_ROWS 7

static uint64_t seed = 4711;

/*
 * A family: sources, and a target in two parts
 */

typedef struct Family
{
	Rows		rows[SOURCES + 1];
	const WmlcGram *sources[SOURCES];
	WmlcGram   *parts[2];
	WmlcGram   *target;
	WmlcGram   *role;			/* rows that a rehearsal knows */
} Family;

static const int part_begin[] = {0, 4, TARGET_ROWS};

static Family
family_new(void)
{
	Family		family;

	for (int j = 0; j <= SOURCES; j++)
	{
		double		w[D] = {j, 1.0 + 0.3 * check_normal(&seed), -1.0};

		family.rows[j] = task_rows(w, D, j < SOURCES ? SOURCE_ROWS + j : TARGET_ROWS, 0.5, &seed);
		if (j < SOURCES)
			family.sources[j] = gram_of(&family.rows[j]);
	}
	for (int k = 0; k < 2; k++)
		family.parts[k] = gram_of_part(&family.rows[SOURCES], NULL, part_begin[k],
									   part_begin[k + 1], 1);
	family.target = gram_of(&family.rows[SOURCES]);
	family.role = gram_of_part(&family.rows[3], NULL, 0, 5, 1);
	return family;
}

static void
family_free(Family *family)
{
	for (int j = 0; j <= SOURCES; j++)
		rows_free(&family->rows[j]);
	for (int j = 0; j < SOURCES; j++)
		free((void *) family->sources[j]);
	free(family->parts[0]);
	free(family->parts[1]);
	free(family->target);
	free(family->role);
}

/* Two folds, the whole target, and a rehearsal of source 3 with five rows. */
#define TRIALS 4

static void
set_trials(const Family *family, WmlcTrial *trials)
{
	trials[0] = (WmlcTrial) {family->parts[1], family->parts[0], NULL, WMLC_NO_SOURCE};
	trials[1] = (WmlcTrial) {family->parts[0], family->parts[1], NULL, WMLC_NO_SOURCE};
	trials[2] = (WmlcTrial) {family->target, NULL, NULL, WMLC_NO_SOURCE};
	trials[3] = (WmlcTrial) {family->role, family->sources[3], NULL, 3};
}

static Problem
problem_of(const Family *family, int trial)
{
	Problem		problem = {.target = &family->rows[SOURCES], .from = 0, .to = TARGET_ROWS};

	for (int j = 0; j <= SOURCES; j++)
		problem.all[j] = moments_of(&family->rows[j], 0, family->rows[j].count);
	for (int j = 0; j < SOURCES; j++)
	{
		if (trial != 3 || j != 3)
			problem.sources[problem.count++] = problem.all[j];
	}
	if (trial < 2)
	{
		problem.from = part_begin[1 - trial];
		problem.to = part_begin[2 - trial];
	}
	if (trial == 3)
	{
		problem.target = &family->rows[3];
		problem.to = 5;
	}
	problem.known = moments_of(problem.target, problem.from, problem.to);
	return problem;
}

static WmlcComparison
comparison_of(const Family *family, const WmlcGrid *grid, const WmlcTrial *trials, size_t count)
{
	return (WmlcComparison) {
		.d = D, .source_count = SOURCES, .sources = family->sources, .target = family->target,
		.learner_count = grid->learner_count, .learners = grid->learners,
		.weighting_count = grid->weighting_count, .weightings = grid->weightings,
		.method_count = grid->method_count, .methods = grid->methods,
		.trial_count = count, .trials = trials
	};
}

typedef struct Outcome
{
	double	   *w;
	double	   *errors;
	WmlcStatus *statuses;
} Outcome;

static Outcome
compare(const WmlcComparison *comparison)
{
	size_t		places = comparison->trial_count * comparison->method_count;
	Outcome		outcome = {
		malloc(places * comparison->d * sizeof(double)), malloc(places * sizeof(double)),
		malloc(comparison->method_count * sizeof(WmlcStatus))
	};
	void	   *work = malloc(wmlc_compare_workspace(comparison));

	CHECK(wmlc_compare(comparison, outcome.w, outcome.errors, outcome.statuses, work, NULL) == WMLC_OK,
		  "comparison");
	free(work);
	return outcome;
}

static void
outcome_free(Outcome *outcome)
{
	free(outcome->w);
	free(outcome->errors);
	free(outcome->statuses);
}

/*
 * Tests
 */

/* A grid of everything that wmlc_compare is to do, but priors. */
static WmlcGrid
large_grid(void)
{
	static const int models[] = {
		WMLC_ERM, WMLC_MAML, WMLC_FOMAML, WMLC_REPTILE
	};
	static const double etas[] = {0.02, 0.3};
	static const double ridges[] = {0.0, 0.1};
	static const double shrinks[] = {0.0, 3.0};
	static const double source_rows[] = {INFINITY, 20.0, 0.5};
	static const int steps[] = {0, 3};
	WmlcGridOptions options = {
		.models = models, .model_count = 4, .etas = etas, .eta_count = 2,
		.ridges = ridges, .ridge_count = 2, .shrinks = shrinks, .shrink_count = 2,
		.adapt_steps = steps, .adapt_steps_count = 2,
		.source_rows = source_rows, .source_rows_count = 3, .d = D, .curvature = 1.0
	};

	return grid_new(&options);
}

/* Mean square of the residuals of w over rows. */
static Real
error_of(const Rows *rows, int from, int to, const double *w)
{
	Real		sum = 0;

	for (int r = from; r < to; r++)
	{
		Real		residual = rows_at(rows, r)[D];

		for (int i = 0; i < D; i++)
			residual -= (Real) w[i] * rows_at(rows, r)[i];
		sum += residual * residual;
	}
	return sum / (to - from);
}

static void
test_definitions(void)
{
	Family		family = family_new();
	WmlcGrid	grid = large_grid();
	WmlcTrial	trials[TRIALS];
	WmlcComparison comparison = comparison_of(&family, &grid, trials, TRIALS);
	Outcome		outcome;

	set_trials(&family, trials);
	outcome = compare(&comparison);
	CHECK(grid.method_count > 300, "only %d methods", grid.method_count);
	for (int t = 0; t < TRIALS; t++)
	{
		Problem		problem = problem_of(&family, t);
		const Rows *judges = t == 3 ? &family.rows[3] : &family.rows[SOURCES];
		int			from = t < 2 ? part_begin[t] : 0;
		int			to = t < 2 ? part_begin[t + 1] : judges->count;

		for (int i = 0; i < grid.method_count; i++)
		{
			const WmlcMethod *method = &grid.methods[i];
			const double *w = outcome.w + ((size_t) t * grid.method_count + i) * D;
			Real		expected[D];

			learn_naively(&problem, &grid.learners[method->learner],
						  &grid.weightings[method->weighting], method, expected);
			for (int k = 0; k < D; k++)
				CHECK_NEAR(w[k], (double) expected[k], 1e-9);
			if (t != 2)
				CHECK_NEAR(outcome.errors[t * grid.method_count + i],
						   (double) error_of(judges, from, to, w), 1e-12);
		}
	}
	outcome_free(&outcome);
	grid_free(&grid);
	family_free(&family);
}

/* The posterior mean, in long double, under the prior of all sources but some. */
static void
posterior_naively(const Family *family, const bool *absent, double evenness, const Moments *known,
				  Real *w)
{
	size_t		entries = wmlc_gram_entries(D);
	double		moments[SOURCES * P * (P + 1) / 2];
	double		rows[SOURCES];
	double		mean[D],
				factor[D * D],
				covariance[D * D];
	WmlcPrior	prior = {.mean = mean, .factor = factor, .mean_factor = covariance};
	WmlcPriorTasks tasks = {.dims = D, .moments = moments, .rows = rows};
	WmlcPriorOptions options = {
		.method = WMLC_PRIOR_REML, .covariance = WMLC_PRIOR_FULL, .evenness = evenness
	};
	Real		s[P][P] = {{0}};
	Real		a[P][P];
	Real		b[D];
	Real		v[D];
	void	   *work;

	for (int j = 0; j < SOURCES; j++)
	{
		if (absent[j])
			continue;
		memcpy(moments + tasks.count * entries, family->sources[j]->sums, entries * sizeof(double));
		rows[tasks.count++] = family->rows[j].count;
	}
	work = malloc(wmlc_prior_fit_workspace(D, tasks.count, &options));
	CHECK(wmlc_prior_fit(&tasks, &options, &prior, work) == WMLC_OK && prior.converged, "prior");
	free(work);
	for (int i = 0; i < D; i++)
	{
		for (int j = 0; j < D; j++)
		{
			for (int k = 0; k < D; k++)
				s[i][j] += (Real) factor[i + k * D] * factor[j + k * D];
		}
	}

	/* m = mu + S v with (s2 + A S) v = b - A mu */
	for (int i = 0; i < D; i++)
	{
		b[i] = known->rows * known->m[i][D];
		for (int j = 0; j < D; j++)
		{
			b[i] -= known->rows * known->m[i][j] * mean[j];
			a[i][j] = i == j ? prior.noise : 0;
			for (int k = 0; k < D; k++)
				a[i][j] += known->rows * known->m[i][k] * s[k][j];
		}
	}
	solve(D, a, b, v);
	for (int i = 0; i < D; i++)
	{
		w[i] = mean[i];
		for (int k = 0; k < D; k++)
			w[i] += s[i][k] * v[k];
	}
}

static void
test_priors(void)
{
	static const int models[] = {WMLC_LEARN_PRIOR};
	static const double evennesses[] = {0.0, 2.0};
	WmlcGridOptions options = {
		.models = models, .model_count = 1, .evennesses = evennesses, .evenness_count = 2,
		.d = D, .curvature = 1.0
	};
	WmlcGrid	grid = grid_new(&options);
	Family		family = family_new();
	WmlcTrial	trials[TRIALS];
	WmlcComparison comparison = comparison_of(&family, &grid, trials, TRIALS);
	Outcome		outcome;

	set_trials(&family, trials);
	outcome = compare(&comparison);
	CHECK(grid.method_count == 4, "%d methods", grid.method_count);
	for (int t = 0; t < TRIALS; t++)
	{
		bool		absent[SOURCES] = {[3] = t == 3};
		Problem		problem = problem_of(&family, t);

		for (int i = 2; i < 4; i++)
		{
			const double *w = outcome.w + (t * 4 + i) * D;
			Real		expected[D];

			posterior_naively(&family, absent, evennesses[i - 2], &problem.known, expected);
			for (int k = 0; k < D; k++)
				CHECK_NEAR(w[k], (double) expected[k], 1e-6);
		}
	}
	outcome_free(&outcome);
	family_free(&family);
	grid_free(&grid);
}

/*
 * Many sources: rehearsals share priors, which then know nothing of any actor in
 * the group; a prior that changes little with an eighth of the sources gives
 * nearly what each rehearsal would have by itself.
 */
static void
test_shared_priors(void)
{
	enum
	{
		MANY = 40, REHEARSALS = 10
	};
	static const int models[] = {WMLC_LEARN_PRIOR};
	WmlcGridOptions options = {.models = models, .model_count = 1, .d = D, .curvature = 1.0};
	WmlcGrid	grid = grid_new(&options);
	const WmlcGram *sources[MANY];
	WmlcTrial	trials[REHEARSALS];
	WmlcComparison comparison;
	Outcome		together;

	for (int j = 0; j < MANY; j++)
	{
		double		w[D] = {check_normal(&seed), 1.0 + 0.3 * check_normal(&seed), -1.0};

		sources[j] = task_gram(w, D, 15, 0.5, &seed);
	}
	comparison = comparison_of(&(Family) {.target = (WmlcGram *) sources[0]}, &grid, trials,
							   REHEARSALS);
	comparison.sources = sources;
	comparison.source_count = MANY;
	for (int t = 0; t < REHEARSALS; t++)
		trials[t] = (WmlcTrial) {sources[(t + 1) % MANY], sources[4 * t], NULL, 4 * t};
	together = compare(&comparison);

	for (int t = 0; t < REHEARSALS; t++)
	{
		WmlcComparison one = comparison;
		Outcome		alone;
		double		distance = 0.0;

		one.trials = &trials[t];
		one.trial_count = 1;
		alone = compare(&one);
		for (int k = 0; k < D; k++)
			distance += fabs(alone.w[2 * D + k] - together.w[(t * 3 + 2) * D + k]);
		CHECK(distance < 0.15, "rehearsal %d differs by %g", t, distance);
		outcome_free(&alone);
	}

	/* the third actor's own rows do not show in what the first two know, but the sixth's do */
	for (int change = 2; change <= 5; change += 3)
	{
		const WmlcGram *before = sources[4 * change];
		Outcome		changed;

		sources[4 * change] = task_gram((double[D]) {100.0, 50.0, 20.0}, D, 15, 0.5, &seed);
		changed = compare(&comparison);
		CHECK((memcmp(changed.w + 2 * D, together.w + 2 * D, D * sizeof(double)) == 0) == (change == 2),
			  "an actor of the group took part, or another source did not");
		outcome_free(&changed);
		free((void *) sources[4 * change]);
		sources[4 * change] = before;
	}
	outcome_free(&together);
	grid_free(&grid);
	for (int j = 0; j < MANY; j++)
		free((void *) sources[j]);
}

/* Sources in another order, and trials in another order, change nothing. */
static void
test_order(void)
{
	WmlcGridOptions options = {.d = D, .curvature = 8.0};
	WmlcGrid	grid = grid_new(&options);
	Family		family = family_new();
	WmlcTrial	trials[TRIALS];
	WmlcTrial	turned[TRIALS];
	WmlcComparison comparison = comparison_of(&family, &grid, trials, TRIALS);
	Outcome		before,
				after;

	set_trials(&family, trials);
	before = compare(&comparison);
	for (int j = 0; j < SOURCES / 2; j++)
	{
		const WmlcGram *other = family.sources[j];

		family.sources[j] = family.sources[SOURCES - 1 - j];
		family.sources[SOURCES - 1 - j] = other;
	}
	for (int t = 0; t < TRIALS; t++)
		turned[TRIALS - 1 - t] = trials[t];
	turned[0].left_out = SOURCES - 1 - 3;
	comparison.trials = turned;
	after = compare(&comparison);
	for (int t = 0; t < TRIALS; t++)
	{
		for (int i = 0; i < grid.method_count * D; i++)
			CHECK_NEAR(after.w[(TRIALS - 1 - t) * grid.method_count * D + i],
					   before.w[t * grid.method_count * D + i], 1e-7);
	}
	outcome_free(&before);
	outcome_free(&after);
	family_free(&family);
	grid_free(&grid);
}

/* A step size that overflows fails alone. */
static void
test_overflow(void)
{
	static const int models[] = {WMLC_MAML, WMLC_LEARN_PRIOR};
	static const double etas[] = {1e200};
	static const int steps[] = {3};
	WmlcGridOptions options = {
		.models = models, .model_count = 2, .etas = etas, .eta_count = 1,
		.adapt_steps = steps, .adapt_steps_count = 1, .d = D, .curvature = 1.0
	};
	WmlcGrid	grid = grid_new(&options);
	Family		family = family_new();
	WmlcTrial	trials[TRIALS];
	WmlcComparison comparison = comparison_of(&family, &grid, trials, TRIALS);
	Outcome		outcome;

	set_trials(&family, trials);
	outcome = compare(&comparison);
	for (int i = 0; i < grid.method_count; i++)
	{
		bool		fails = grid.learners[grid.methods[i].learner].kind == WMLC_MAML;

		CHECK(!isnan(outcome.w[i * D]) == !fails, "method %d", i);
		CHECK(!isinf(outcome.errors[i]) == !fails, "error of method %d", i);
	}
	outcome_free(&outcome);
	family_free(&family);
	grid_free(&grid);
}

/*
 * Smooth functions of time, of which twenty all but depend on each other: in a
 * whitened basis, directions that are mostly rounding must not take part.
 */
static void
test_nearly_dependent(void)
{
	enum
	{
		MANY = 20, TIMES = 52, TASKS = 3
	};
	WmlcGridOptions options = {.d = MANY, .curvature = 8.0};
	WmlcGrid	grid = grid_new(&options);
	Family		none = {.target = NULL};
	const WmlcGram *tasks[TASKS];
	WmlcTrial	trial;
	WmlcComparison comparison = comparison_of(&none, &grid, &trial, 1);
	Outcome		outcome;

	for (int j = 0; j < TASKS; j++)
	{
		Rows		rows = rows_new(MANY, TIMES);

		for (int t = 0; t < TIMES; t++)
		{
			double	   *z = rows_at(&rows, t);

			for (int i = 0; i < MANY; i++)
				z[i] = cos(0.01 * (i - 10) * t + i);
			z[MANY] = 5.0 + sin(0.1 * t + j) + 0.1 * check_normal(&seed);
		}
		tasks[j] = gram_of_part(&rows, NULL, 0, j == 0 ? 10 : TIMES, 1);
		rows_free(&rows);
	}
	trial = (WmlcTrial) {tasks[0], tasks[1], NULL, WMLC_NO_SOURCE};
	comparison.d = MANY;
	comparison.target = tasks[0];
	comparison.sources = tasks + 1;
	comparison.source_count = TASKS - 1;
	outcome = compare(&comparison);
	for (int i = 0; i < grid.method_count; i++)
	{
		if (grid.learners[grid.methods[i].learner].kind == WMLC_MAML)
			CHECK(outcome.errors[i] < 10.0, "error %g of method %d", outcome.errors[i], i);
	}
	outcome_free(&outcome);
	for (int j = 0; j < TASKS; j++)
		free((void *) tasks[j]);
	grid_free(&grid);
}

static bool
stop(void)
{
	return true;
}

static void
test_interrupt(void)
{
	WmlcGridOptions options = {.d = D, .curvature = 8.0};
	WmlcGrid	grid = grid_new(&options);
	Family		family = family_new();
	WmlcTrial	trials[TRIALS];
	WmlcComparison comparison = comparison_of(&family, &grid, trials, TRIALS);
	Outcome		outcome;
	void	   *work = malloc(wmlc_compare_workspace(&comparison));

	set_trials(&family, trials);
	outcome = compare(&comparison);
	CHECK(wmlc_compare(&comparison, outcome.w, outcome.errors, outcome.statuses, work, stop) == WMLC_INTERRUPTED,
		  "not interrupted");
	free(work);
	outcome_free(&outcome);
	family_free(&family);
	grid_free(&grid);
}

int
main(void)
{
	test_definitions();
	test_priors();
	test_shared_priors();
	test_order();
	test_overflow();
	test_nearly_dependent();
	test_interrupt();
	return check_summary();
}
