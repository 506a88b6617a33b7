/*
 * test_compare.c
 *	  Comparisons: every method in every trial against the same computed from
 *	  rows by the definitions, in long double; failures; and what must make no
 *	  difference.
 */
#include "core/compare.h"
#include "core/posterior.h"

#include "compare_fixture.h"

#define D 3
#define P (D + 1)
#define SOURCES 6
#define SOURCE_ROWS 12
#define TARGET_ROWS 7
#define EMBEDDING (P * P)

typedef long double Real;

/* A task as moments: M = sum z z' / n. */
typedef struct Moments
{
	int			rows;
	Real		m[P][P];
} Moments;

static uint64_t seed = 4711;

/*
 * Definitions
 */

static Moments
moments_of(const Rows *rows, int from, int to)
{
	Moments		result = {.rows = to - from};

	for (int r = from; r < to; r++)
	{
		for (int i = 0; i < P; i++)
		{
			for (int j = 0; j < P; j++)
				result.m[i][j] += (Real) rows_at(rows, r)[i] * rows_at(rows, r)[j] / result.rows;
		}
	}
	return result;
}

/* x = a^-1 b for a positive definite a of size n */
static void
solve(int n, Real a[P][P], const Real *b, Real *x)
{
	Real		work[P][P + 1];

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			work[i][j] = a[i][j];
		work[i][n] = b[i];
	}
	for (int k = 0; k < n; k++)
	{
		for (int i = 0; i < n; i++)
		{
			Real		factor = work[i][k] / work[k][k];

			for (int j = k; j <= n && i != k; j++)
				work[i][j] -= factor * work[k][j];
		}
	}
	for (int i = 0; i < n; i++)
		x[i] = work[i][n] / work[i][i];
}

/* The lower triangular R with R a R' = I, of the first n coordinates. */
static void
whitening_matrix(int n, Real a[P][P], Real r[P][P])
{
	Real		l[P][P] = {{0}};

	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j <= i; j++)
		{
			Real		rest = a[i][j];

			for (int k = 0; k < j; k++)
				rest -= l[i][k] * l[j][k];
			l[i][j] = i == j ? sqrtl(rest) : rest / l[j][j];
		}
	}
	for (int j = 0; j < n; j++)
	{
		for (int i = 0; i < n; i++)
		{
			Real		rest = i == j ? 1 : 0;

			for (int k = 0; k < i; k++)
				rest -= l[i][k] * r[k][j];
			r[i][j] = rest / l[i][i];
		}
	}
}

/* Moments of the rows r z; r is P x P. */
static Moments
transformed(const Moments *from, Real r[P][P])
{
	Moments		to = {.rows = from->rows};

	for (int i = 0; i < P; i++)
	{
		for (int j = 0; j < P; j++)
		{
			for (int k = 0; k < P; k++)
			{
				for (int l = 0; l < P; l++)
					to.m[i][j] += r[i][k] * from->m[k][l] * r[j][l];
			}
		}
	}
	return to;
}

static void
pool(int count, const Moments *tasks, Real m[P][P])
{
	Real		rows = 0;

	memset(m, 0, P * P * sizeof(Real));
	for (int t = 0; t < count; t++)
		rows += tasks[t].rows;
	for (int t = 0; t < count; t++)
	{
		for (int i = 0; i < P; i++)
		{
			for (int j = 0; j < P; j++)
				m[i][j] += tasks[t].rows / rows * tasks[t].m[i][j];
		}
	}
}

/*
 * min | sum alpha_j E_j - E_T |^2 + ridge |alpha|^2 over the simplex: weight goes
 * from the source with the steepest ascent to that with the steepest descent
 * until there is no difference left.
 */
static void
mixture(int count, Real e[SOURCES][EMBEDDING], Real ridge, Real *alpha)
{
	for (int j = 0; j < count; j++)
		alpha[j] = 1.0L / count;
	for (int step = 0; step < 200000; step++)
	{
		Real		sum[EMBEDDING] = {0};
		Real		gradient[SOURCES];
		int			down = 0;
		int			up = -1;
		Real		slope,
					curvature = 2 * ridge;

		for (int j = 0; j < count; j++)
		{
			for (int k = 0; k < EMBEDDING; k++)
				sum[k] += alpha[j] * e[j][k];
		}
		for (int j = 0; j < count; j++)
		{
			gradient[j] = ridge * alpha[j];
			for (int k = 0; k < EMBEDDING; k++)
				gradient[j] += sum[k] * e[j][k];
			if (gradient[j] < gradient[down])
				down = j;
			if (alpha[j] > 0 && (up < 0 || gradient[j] > gradient[up]))
				up = j;
		}
		slope = gradient[up] - gradient[down];
		if (slope <= 1e-17L * fabsl(gradient[up]))
			return;
		for (int k = 0; k < EMBEDDING; k++)
			curvature += (e[up][k] - e[down][k]) * (e[up][k] - e[down][k]);
		slope = slope / curvature < alpha[up] ? slope / curvature : alpha[up];
		alpha[up] -= slope;
		alpha[down] += slope;
	}
	CHECK(false, "no mixture found");
}

/*
 * Sampling variance of the mean embedding of rows: from fourth moments, or in a
 * whitened basis, where grams do not have them, (tr M)^2 + |M|^2 - 2 |m|^4, which
 * is right for normal z with mean m.
 */
static Real
sampling_variance(const Rows *rows, int from, int to, bool whitened, Real r[P][P])
{
	Real		n = to - from;
	Real		fourth = 0;
	Real		trace = 0;
	Real		norm = 0;
	Real		mean = 0;
	Moments		plain = moments_of(rows, from, to);
	Moments		moments = transformed(&plain, r);

	for (int i = 0; i < P; i++)
	{
		Real		entry = 0;

		for (int j = 0; j < P; j++)
		{
			entry += r[i][j] * plain.m[j][0];
			norm += moments.m[i][j] * moments.m[i][j];
		}
		mean += entry * entry;
		trace += moments.m[i][i];
	}
	if (whitened)
		return (trace * trace + norm - 2 * mean * mean) / (n - 1);
	for (int k = from; k < to; k++)
	{
		Real		length = 0;

		for (int i = 0; i < P; i++)
			length += (Real) rows_at(rows, k)[i] * rows_at(rows, k)[i];
		fourth += length * length;
	}
	return (fourth / n - norm) / (n - 1);
}

/* What one method makes of a trial, by its definition. */
typedef struct Problem
{
	int			count;			/* of sources that take part */
	Moments		sources[SOURCES];
	Moments		all[SOURCES + 1];	/* all sources, and the whole target */
	Moments		known;
	const Rows *target;
	int			from;			/* the known rows */
	int			to;
} Problem;

static void
weigh_naively(const Problem *problem, const WmlcWeighting *weighting, Real *alpha)
{
	Real		basis[P][P] = {{0}};
	Real		pooled[P][P];
	Real		e[SOURCES][EMBEDDING];
	Moments		target;
	int			closest = 0;
	Real		square[SOURCES] = {0};
	Real		rows = 0;

	for (int i = 0; i < P; i++)
		basis[i][i] = 1;
	pool(SOURCES, problem->all, pooled);
	if (weighting->whiten)
		whitening_matrix(P, pooled, basis);
	target = transformed(&problem->known, basis);
	for (int j = 0; j < problem->count; j++)
	{
		Moments		source = transformed(&problem->sources[j], basis);

		for (int k = 0; k < EMBEDDING; k++)
		{
			e[j][k] = (&source.m[0][0])[k] - (&target.m[0][0])[k];
			square[j] += e[j][k] * e[j][k];
		}
		if (square[j] < square[closest])
			closest = j;
		rows += problem->sources[j].rows;
	}
	for (int j = 0; j < problem->count; j++)
	{
		if (weighting->kind == WMLC_WEIGH_UNIFORM)
			alpha[j] = 1.0L / problem->count;
		else if (weighting->kind == WMLC_WEIGH_POOLED)
			alpha[j] = problem->sources[j].rows / rows;
		else
			alpha[j] = j == closest;
	}
	if (weighting->kind == WMLC_WEIGH_MIXTURE)
		mixture(problem->count, e, weighting->shrink == 0.0 ? 0 : weighting->shrink *
				sampling_variance(problem->target, problem->from, problem->to, weighting->whiten,
								  basis), alpha);
}

/* Add weight (P A, P b), P = T^power, T = I - eta A, to the equations. */
static void
add_naively(const Moments *task, Real weight, Real eta, int power, Real a[P][P], Real *b)
{
	Real		x[D][P];

	for (int i = 0; i < D; i++)
	{
		for (int j = 0; j < P; j++)
			x[i][j] = task->m[i][j];
	}
	for (; power > 0; power--)
	{
		Real		y[D][P];

		for (int i = 0; i < D; i++)
		{
			for (int j = 0; j < P; j++)
			{
				y[i][j] = x[i][j];
				for (int k = 0; k < D; k++)
					y[i][j] -= eta * task->m[i][k] * x[k][j];
			}
		}
		memcpy(x, y, sizeof(x));
	}
	for (int i = 0; i < D; i++)
	{
		for (int j = 0; j < D; j++)
			a[i][j] += weight * x[i][j];
		b[i] += weight * x[i][D];
	}
}

/* Of inner steps as in the objective: one, and none for joint training. */
static int
power_of(WmlcLearnerKind kind)
{
	return kind == WMLC_LEARN_MAML ? 2 : kind == WMLC_LEARN_FOMAML ? 1 : 0;
}

static void
learn_naively(const Problem *problem, const WmlcLearner *learner, const WmlcWeighting *weighting,
			  const WmlcMethod *method, Real *w)
{
	bool		joint = !isinf(method->source_rows);
	Real		alpha[SOURCES];
	Real		basis[P][P] = {{0}};
	Real		pooled[P][P];
	Real		a[P][P] = {{0}};
	Real		b[D] = {0};
	Real		v[D];
	Real		total = 0;
	Moments		known;

	for (int i = 0; i < P; i++)
		basis[i][i] = 1;
	pool(SOURCES + 1, problem->all, pooled);
	if (learner->whiten)
		whitening_matrix(D, pooled, basis);
	known = transformed(&problem->known, basis);
	weigh_naively(problem, weighting, alpha);
	for (int j = 0; j < problem->count && method->source_rows > 0; j++)
	{
		Moments		source = transformed(&problem->sources[j], basis);
		Real		weight = joint ? alpha[j] * method->source_rows : alpha[j];

		add_naively(&source, weight, learner->eta, power_of(learner->kind), a, b);
		total += weight;
	}
	if (joint)
	{
		add_naively(&known, known.rows, 0, 0, a, b);
		total += known.rows;
	}
	for (int i = 0; i < D; i++)
		a[i][i] += method->ridge * total;
	solve(D, a, b, v);
	for (int step = 0; step < method->adapt_steps; step++)
	{
		Real		gradient[D];

		for (int i = 0; i < D; i++)
		{
			gradient[i] = -known.m[i][D];
			for (int k = 0; k < D; k++)
				gradient[i] += known.m[i][k] * v[k];
		}
		for (int i = 0; i < D; i++)
			v[i] -= learner->eta * gradient[i];
	}
	for (int i = 0; i < D; i++)
	{
		w[i] = 0;
		for (int k = 0; k < D; k++)
			w[i] += basis[k][i] * v[k];
	}
}

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
	trials[0] = (WmlcTrial) {family->parts[1], family->parts[0], WMLC_NO_SOURCE};
	trials[1] = (WmlcTrial) {family->parts[0], family->parts[1], WMLC_NO_SOURCE};
	trials[2] = (WmlcTrial) {family->target, NULL, WMLC_NO_SOURCE};
	trials[3] = (WmlcTrial) {family->role, family->sources[3], 3};
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
} Outcome;

static Outcome
compare(const WmlcComparison *comparison)
{
	size_t		places = comparison->trial_count * comparison->method_count;
	Outcome		outcome = {
		malloc(places * comparison->d * sizeof(double)), malloc(places * sizeof(double))
	};
	void	   *work = malloc(wmlc_compare_workspace(comparison));

	CHECK(wmlc_compare(comparison, outcome.w, outcome.errors, work, NULL) == WMLC_OK,
		  "comparison");
	free(work);
	return outcome;
}

static void
outcome_free(Outcome *outcome)
{
	free(outcome->w);
	free(outcome->errors);
}

/*
 * Tests
 */

/* A grid of everything that wmlc_compare is to do, but priors. */
static WmlcGrid
large_grid(void)
{
	static const WmlcLearnerKind models[] = {
		WMLC_LEARN_ERM, WMLC_LEARN_MAML, WMLC_LEARN_FOMAML, WMLC_LEARN_REPTILE
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
posterior_naively(const Family *family, const bool *absent, double shrink, const Moments *known,
				  Real *w)
{
	size_t		entries = wmlc_gram_entries(D);
	double		moments[SOURCES * P * (P + 1) / 2];
	double		rows[SOURCES];
	double		mean[D],
				factor[D * D],
				covariance[D * D];
	WmlcPrior	prior = {.mean = mean, .factor = factor, .mean_covariance = covariance};
	WmlcPriorTasks tasks = {.dims = D, .moments = moments, .rows = rows};
	WmlcPriorOptions options = {
		.method = WMLC_PRIOR_ML, .covariance = WMLC_PRIOR_FULL, .shrink = shrink
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
	static const WmlcLearnerKind models[] = {WMLC_LEARN_PRIOR};
	static const double shrinks[] = {0.0, 2.0};
	WmlcGridOptions options = {
		.models = models, .model_count = 1, .shrinks = shrinks, .shrink_count = 2,
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

			posterior_naively(&family, absent, shrinks[i - 2], &problem.known, expected);
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
	static const WmlcLearnerKind models[] = {WMLC_LEARN_PRIOR};
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
		trials[t] = (WmlcTrial) {sources[(t + 1) % MANY], sources[4 * t], 4 * t};
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
	static const WmlcLearnerKind models[] = {WMLC_LEARN_MAML, WMLC_LEARN_PRIOR};
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
		bool		fails = grid.learners[grid.methods[i].learner].kind == WMLC_LEARN_MAML;

		CHECK(isnan(outcome.w[i * D]) == fails, "method %d", i);
		CHECK(isinf(outcome.errors[i]) == fails, "error of method %d", i);
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
	trial = (WmlcTrial) {tasks[0], tasks[1], WMLC_NO_SOURCE};
	comparison.d = MANY;
	comparison.target = tasks[0];
	comparison.sources = tasks + 1;
	comparison.source_count = TASKS - 1;
	outcome = compare(&comparison);
	for (int i = 0; i < grid.method_count; i++)
	{
		if (grid.learners[grid.methods[i].learner].kind == WMLC_LEARN_MAML)
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
	CHECK(wmlc_compare(&comparison, outcome.w, outcome.errors, work, stop) == WMLC_INTERRUPTED,
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
