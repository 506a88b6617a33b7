/*
 * bench_prior.c
 *	  What priors are worth on simulated tasks: errors of predicted means, and how
 *	  often intervals for new rows cover, as rows of the tables in docs/prior.md.
 *
 *	  make -f test/unit/Makefile OUT=/tmp/wml /tmp/wml/bench_prior && /tmp/wml/bench_prior [WORLDS]
 *
 * A world is a set of sources and TARGETS targets of the same kind.  Coverage is the
 * probability of an interval at POINTS random places under the true distribution of new
 * rows, so that only the draw of worlds is left to chance.  The best is the robust prior
 * of many clean sources: what the known rows of a target can tell.  Errors are those of
 * targets that belong.
 */
#include <stdlib.h>

#include "check.h"
#include "core/prior/posterior.h"
#include "prior/prior_fixture.h"

#define RANDOM 4				/* features that differ between tasks, the constant first */
#define CURVE 20				/* those of a curve */
#define GROUP 2					/* descriptors of a task */
#define MOST (RANDOM + CURVE)
#define TARGETS 20
#define POINTS 20
#define BEST_SOURCES 1000

typedef struct Scene
{
	const char *what;
	int			sources;
	double		noise_spread;	/* sd of the logarithm of tasks' noise sd */
	bool		together;		/* the spread goes with the noise */
	double		strangers;		/* share of tasks 15 times as far away */
	double		degrees;		/* of Student's t of the coefficients, or 0: normal */
	int			fixed;			/* so many of the last random features are the same everywhere */
	bool		descriptors;
	bool		curve;
	double		evenness;
} Scene;

typedef struct Task
{
	double		w[RANDOM];
	double		sd;
	double		group[GROUP];
	bool		strange;
} Task;

typedef enum Model
{
	PLAIN, ROBUST, BEST, MODELS
} Model;

static const double levels[] = {0.5, 0.9, 0.95};

#define LEVELS 3

static WmlcStudentTable tables[LEVELS];

/* Of one scene, number of known rows and model */
typedef struct Sums
{
	double		squares;
	double		belong;
	double		covered[LEVELS];
	double		quiet,
				noisy;			/* of 90 % intervals */
	double		quiet_tasks,
				noisy_tasks,
				tasks;
} Sums;

static int
features(const Scene *scene)
{
	return RANDOM + (scene->curve ? CURVE : 0);
}

/* Student's t of two degrees and others come from a gamma variable by sums of squares. */
static double
draw_scale(double degrees, uint64_t *seed)
{
	double		sum = 0.0;

	if (degrees == 0.0)
		return 1.0;
	for (int k = 0; k < (int) degrees; k++)
	{
		double		z = check_normal(seed);

		sum += z * z;
	}
	return sqrt(degrees / sum);
}

static Task
draw_task(const Scene *scene, uint64_t *seed)
{
	static const double mean[RANDOM] = {2.0, 1.0, -1.0, 0.0};
	static const double sd[RANDOM] = {1.0, 0.8, 0.7, 0.7};
	Task		task = {.sd = exp(scene->noise_spread * check_normal(seed))};
	double		far = draw_scale(scene->degrees, seed);
	double		shared = check_normal(seed);

	task.strange = check_random(seed) < scene->strangers;
	if (task.strange)
		far *= 15.0;
	if (scene->together)
		far *= task.sd;
	for (int k = 0; k < GROUP; k++)
		task.group[k] = check_normal(seed);
	for (int k = 0; k < RANDOM; k++)
	{
		double		z = k == 0 ? shared : k == 2 ? sqrt(0.5) * (shared + check_normal(seed)) : check_normal(seed);

		task.w[k] = mean[k] + (k < RANDOM - scene->fixed ? far * sd[k] * z : 0.0);
		if (scene->descriptors)
			task.w[k] += 0.7 * task.group[k % GROUP];
	}
	return task;
}

/* Features of a random place; the mean of rows there. */
static double
draw_place(const Scene *scene, const Task *task, double *x, uint64_t *seed)
{
	double		mean = 0.0;

	for (int k = 0; k < RANDOM; k++)
	{
		x[k] = k == 0 ? 1.0 : check_normal(seed);
		mean += x[k] * task->w[k];
	}
	if (!scene->curve)
		return mean;
	for (int k = 0; k < CURVE / 2; k++)
	{
		x[RANDOM + 2 * k] = sin(0.6 * (k + 1) * x[1]);
		x[RANDOM + 2 * k + 1] = cos(0.6 * (k + 1) * x[1]);
	}
	return mean + 2.0 * sin(2.0 * x[1]);
}

static void
fill_rows(const Scene *scene, const Task *task, int rows, double *data, uint64_t *seed)
{
	int			d = features(scene);

	for (int i = 0; i < rows; i++, data += d + 1)
	{
		data[d] = draw_place(scene, task, data, seed);
		data[d] += task->sd * check_normal(seed);
	}
}

/* ---- the fit ---- */

/* The same task with products of features and descriptors, the constant first. */
static void
expand_rows(const Scene *scene, const Task *task, const TaskSet *from, int j, TaskSet *to)
{
	int			d = features(scene);
	int			n = d * (GROUP + 1);

	for (int i = 0; i < (int) from->rows[j]; i++)
	{
		const double *x = from->data[j] + (size_t) i * (d + 1);
		double	   *z = to->data[j] + (size_t) i * (n + 1);

		for (int k = 0; k < n; k++)
			z[k] = x[k % d] * (k < d ? 1.0 : task->group[k / d - 1]);
		z[n] = x[d];
	}
}

/* A prior as the extension keeps it: all means, the spread of the features. */
static WmlcPrior
fit_scene(const Scene *scene, const TaskSet *set, bool robust)
{
	int			d = features(scene);
	int			n = set->dims;
	bool	   *random = calloc(n, sizeof(bool));
	bool	   *smooth = calloc(n, sizeof(bool));
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPrior	prior = new_prior(n);
	WmlcPriorOptions options = {
		.method = WMLC_PRIOR_REML, .own_noise = robust, .student = robust, .random = random,
		.smooth = scene->curve ? smooth : NULL, .evenness = scene->evenness
	};
	WmlcStatus	status;

	for (int k = 0; k < RANDOM - scene->fixed; k++)
		random[k] = true;
	for (int k = RANDOM; k < d; k++)
		smooth[k] = true;
	status = fit_tasks(&tasks, options, &prior);
	CHECK(status == WMLC_OK, "%s: %d", scene->what, status);
	for (int k = 1; k < d; k++)
		memmove(prior.factor + k * d, prior.factor + (size_t) k * n, d * sizeof(double));
	prior.dims = d;
	prior.descriptors = n / d;
	free(random);
	free(smooth);
	return prior;
}

/* Sources of a world, and what a model learns from them. */
static void
learn(const Scene *scene, uint64_t *seed, WmlcPrior *plain, WmlcPrior *robust)
{
	int		   *rows = calloc(scene->sources, sizeof(int));
	int			d = features(scene);
	TaskSet		set,
				expanded;

	for (int j = 0; j < scene->sources; j++)
		rows[j] = 10 + (int) (11.0 * check_random(seed));
	set = new_tasks(d, scene->sources, rows);
	expanded = new_tasks(scene->descriptors ? d * (GROUP + 1) : d, scene->sources, rows);
	for (int j = 0; j < scene->sources; j++)
	{
		Task		task = draw_task(scene, seed);

		fill_rows(scene, &task, rows[j], set.data[j], seed);
		if (scene->descriptors)
			expand_rows(scene, &task, &set, j, &expanded);
	}
	sum_tasks(&set);
	sum_tasks(&expanded);
	if (plain != NULL)
		*plain = fit_scene(scene, scene->descriptors ? &expanded : &set, false);
	*robust = fit_scene(scene, scene->descriptors ? &expanded : &set, true);
	free_tasks(&set);
	free_tasks(&expanded);
	free(rows);
}

/* ---- the targets ---- */

static double
normal_below(double x)
{
	return 0.5 * erfc(-x / sqrt(2.0));
}

/* One target of a model: its error and coverage at all places. */
static void
judge(const Scene *scene, const WmlcPrior *prior, const TaskSet *known, const Task *task,
	  uint64_t seed, Sums *sums)
{
	int			d = features(scene);
	double		descriptor[GROUP + 1] = {1.0, task->group[0], task->group[1]};
	WmlcTarget	target = {
		.moments = known->rows[0] > 0 ? known->moments : NULL,
		.moments_lo = known->moments_lo,
		.rows = known->rows[0],
		.descriptor = scene->descriptors ? descriptor : NULL
	};
	WmlcPosterior posterior;
	void	   *work = malloc(wmlc_posterior_workspace(d));
	double		covered = 0.0;
	WmlcBounds	bounds[LEVELS];

	CHECK(wmlc_posterior_of(prior, &target, &posterior, work) == WMLC_OK, "%s", scene->what);
	for (int l = 0; l < LEVELS; l++)
		bounds[l] = wmlc_posterior_look_up(&posterior, &tables[l]);
	for (int i = 0; i < POINTS; i++)
	{
		double		x[MOST];
		double		truth = draw_place(scene, task, x, &seed);

		for (int l = 0; l < LEVELS; l++)
		{
			WmlcPrediction p;
			double		share;

			wmlc_posterior_predict(&posterior, x, &bounds[l], &p);
			share = normal_below((p.upper - truth) / task->sd) - normal_below((p.lower - truth) / task->sd);
			sums->covered[l] += share / POINTS;
			if (l == 0 && !task->strange)
				sums->squares += (p.estimate - truth) * (p.estimate - truth) / POINTS;
			if (levels[l] == 0.9)
				covered += share / POINTS;
		}
	}
	sums->tasks += 1.0;
	sums->belong += !task->strange;
	if (task->sd < exp(-0.8416 * scene->noise_spread))
	{
		sums->quiet += covered;
		sums->quiet_tasks += 1.0;
	}
	if (task->sd > exp(0.8416 * scene->noise_spread))
	{
		sums->noisy += covered;
		sums->noisy_tasks += 1.0;
	}
	free(work);
}

static const int known_rows[] = {0, 3, 6, 12};

#define KNOWN 4

static void
run_world(const Scene *scene, WmlcPrior *priors, uint64_t *seed, Sums sums[KNOWN][MODELS])
{
	for (int j = 0; j < TARGETS; j++)
	{
		Task		task = draw_task(scene, seed);
		uint64_t	places = *seed + 1000003;

		for (int k = 0; k < KNOWN; k++)
		{
			TaskSet		known = new_tasks(features(scene), 1, &known_rows[k]);

			fill_rows(scene, &task, known_rows[k], known.data[0], seed);
			sum_tasks(&known);
			for (Model model = PLAIN; model < MODELS; model++)
				judge(scene, &priors[model], &known, &task, places, &sums[k][model]);
			free_tasks(&known);
		}
	}
}

static double
error(const Sums *sums)
{
	return sqrt(sums->squares / sums->belong);
}

static double
covered(const Sums *sums, int level)
{
	return sums->covered[level] / sums->tasks;
}

/* A cell: a number for each count of known rows */
static void
print_cell(Sums sums[KNOWN][MODELS], Model model, int level)
{
	printf(" |");
	for (int k = 0; k < KNOWN; k++)
		printf(level < 0 ? " %.2f" : " %.3f", level < 0 ? error(&sums[k][model]) : covered(&sums[k][model], level));
}

static void
print_coverage(const Scene *scene, Sums sums[KNOWN][MODELS])
{
	printf("| %s | %d", scene->what, scene->sources);
	print_cell(sums, PLAIN, 1);
	for (int l = 0; l < LEVELS; l++)
		print_cell(sums, ROBUST, l);
	print_cell(sums, BEST, 1);
	printf(" |\n");
	fflush(stdout);
}

static void
print_errors(const Scene *scene, Sums sums[KNOWN][MODELS])
{
	printf("| %s | %d", scene->what, scene->sources);
	for (Model model = PLAIN; model < MODELS; model++)
		print_cell(sums, model, -1);
	printf(" |\n");
}

static void
print_fifths(const Scene *scene, Sums sums[KNOWN][MODELS])
{
	printf("%s: 90 %% intervals in the quietest and the noisiest fifth of tasks\n", scene->what);
	for (int k = 0; k < KNOWN; k++)
	{
		printf("| %d", known_rows[k]);
		for (Model model = PLAIN; model < MODELS; model++)
			printf(" | %.2f, %.2f", sums[k][model].quiet / sums[k][model].quiet_tasks,
				   sums[k][model].noisy / sums[k][model].noisy_tasks);
		printf(" |\n");
	}
}

static void
run(const Scene *scene, int worlds, uint64_t seed, Sums sums[KNOWN][MODELS])
{
	Scene		clean = *scene;
	WmlcPrior	priors[MODELS];

	clean.sources = BEST_SOURCES;
	clean.strangers = 0.0;
	learn(&clean, &seed, NULL, &priors[BEST]);

	/* few sources vary more, and take less time */
	for (int world = 0; world < (scene->sources < 60 ? 2 * worlds : worlds); world++)
	{
		learn(scene, &seed, &priors[PLAIN], &priors[ROBUST]);
		run_world(scene, priors, &seed, sums);
		free_prior(&priors[PLAIN]);
		free_prior(&priors[ROBUST]);
	}
	free_prior(&priors[BEST]);
}

/* Of fits with hardly any tasks, by REML */
static void
print_memory(void)
{
	const int	sizes[] = {10, 50, 100, 200, 500};

	printf("MB of memory for a fit of so many features:\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		WmlcPriorOptions full = {.method = WMLC_PRIOR_REML};
		WmlcPriorOptions diagonal = {.method = WMLC_PRIOR_REML, .covariance = WMLC_PRIOR_DIAGONAL};

		printf("| %d | %.1f | %.1f |\n", sizes[i], wmlc_prior_fit_workspace(sizes[i], 1, &full) / 1e6,
			   wmlc_prior_fit_workspace(sizes[i], 1, &diagonal) / 1e6);
	}
}

int
main(int argc, char **argv)
{
	const Scene scenes[] = {
		{.what = "as the model has it", .sources = 60},
		{.what = "noises differ", .sources = 60, .noise_spread = 0.7},
		{.what = "noises differ more", .sources = 60, .noise_spread = 1.0},
		{.what = "noises and spreads differ", .sources = 60, .noise_spread = 0.7, .together = true},
		{.what = "10 % do not belong", .sources = 60, .strangers = 0.1},
		{.what = "heavy tails", .sources = 60, .degrees = 2},
		{.what = "fixed features", .sources = 60, .fixed = 2},
		{.what = "descriptors", .sources = 60, .descriptors = true},
		{.what = "a shared curve", .sources = 60, .curve = true},
		{.what = "20 tasks", .sources = 20},
		{.what = "10 tasks", .sources = 10},
		{.what = "5 tasks", .sources = 5},
		{.what = "5 tasks, 2 features fixed", .sources = 5, .fixed = 2},
		{.what = "3 tasks, 3 features fixed", .sources = 3, .fixed = 3},
		{.what = "5 tasks, evenness 4", .sources = 5, .evenness = 4},
		{.what = "3 tasks", .sources = 3},
		{.what = "3 tasks, evenness 4", .sources = 3, .evenness = 4},
		{.what = "2 tasks, 3 features fixed", .sources = 2, .fixed = 3},
		{.what = "2 tasks", .sources = 2},
		{.what = "2 tasks, evenness 4", .sources = 2, .evenness = 4}
	};
	const int	count = sizeof(scenes) / sizeof(scenes[0]);
	Sums		(*sums)[KNOWN][MODELS] = calloc(count, sizeof(*sums));
	int			worlds = argc > 1 ? atoi(argv[1]) : 100;

	for (int l = 0; l < LEVELS; l++)
		wmlc_student_table(levels[l], &tables[l]);
	printf("Coverage with 0, 3, 6 and 12 known rows:\n| tasks | sources | plain, 90 %% | robust, 50 %% | 90 %% | 95 %% | best, 90 %% |\n");
	for (int i = 0; i < count; i++)
	{
		run(&scenes[i], worlds, 100 + i, sums[i]);
		print_coverage(&scenes[i], sums[i]);
	}
	printf("Errors:\n| tasks | sources | plain | robust | best |\n");
	for (int i = 0; i < count; i++)
		print_errors(&scenes[i], sums[i]);
	for (int i = 0; i < count; i++)
		if (scenes[i].noise_spread > 0.0)
			print_fifths(&scenes[i], sums[i]);
	free(sums);
	print_memory();
	return check_summary();
}
