/*
 * test_leverage.c
 *	  Features that vary too much in a few tasks: a mistyped covariate is found, and hardly
 *	  any family of clean tasks has one, whatever the covariates' distribution.
 */
#include "prior/prior_fixture.h"

#include "core/prior/leverage.h"

#define DIMS 4
#define FAMILIES 100

typedef struct Kind
{
	const char *name;
	uint8_t		tasks;
	double		tail;			/* covariates are exp(tail g), or normal if this is zero */
	double		scale_sd;		/* of the logarithm of tasks' scales */
	int			most_alarms;	/* in 100 clean families */
	int			least_found;	/* of 100 families with a mistyped covariate, exactly that */
} Kind;

static const Kind kinds[] = {
	{"normal covariates", 30, 0.0, 0.0, 0, 95},
	{"five tasks", 5, 0.0, 0.0, 0, 80},
	{"scales differ", 30, 0.0, 0.7, 2, 50},
	{"scales differ much", 30, 0.0, 1.5, 10, 0},
	{"skewed covariates", 30, 1.0, 0.0, 2, 60}
};

#define KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))

static TaskSet
draw_kind(const Kind *kind, uint64_t *state)
{
	int		   *rows = calloc(kind->tasks, sizeof(int));
	TaskSet		set;

	for (int j = 0; j < kind->tasks; j++)
		rows[j] = 8 + j % 23;
	set = new_tasks(DIMS, kind->tasks, rows);
	free(rows);
	for (int j = 0; j < kind->tasks; j++)
	{
		double		scale = exp(kind->scale_sd * check_normal(state));

		for (int r = 0; r < (int) set.rows[j]; r++)
		{
			double	   *z = set.data[j] + (size_t) r * (DIMS + 1);

			for (int i = 0; i <= DIMS; i++)
			{
				double		g = check_normal(state);

				z[i] = i == 0 ? 1.0 : scale * (kind->tail > 0.0 ? exp(kind->tail * g) : g);
			}
			z[3] = 7.0;			/* the same in all rows */
		}
		set.data[j][1] = scale;	/* lest what is mistyped be next to nothing */
	}
	sum_tasks(&set);
	return set;
}

static WmlcLeverage
judge(const WmlcPriorTasks *tasks)
{
	double	   *work = calloc(tasks->count, sizeof(double));
	bool	   *marked = malloc(tasks->count * sizeof(bool));
	WmlcLeverage leverage;

	CHECK(wmlc_leverage(tasks, 0, (WmlcPoll) {0}, work, marked, &leverage) == WMLC_OK, "status");
	for (size_t j = 0; j < tasks->count; j++)
		CHECK(!marked[j] || leverage.feature >= 0, "task %zu", j);
	CHECK(leverage.feature < 0 || marked[leverage.worst], "task %zu", leverage.worst);
	free(work);
	free(marked);
	return leverage;
}

static WmlcLeverage
judge_set(TaskSet *set)
{
	WmlcPriorTasks tasks;

	sum_tasks(set);
	tasks = as_tasks(set);
	return judge(&tasks);
}

static void
test_kinds(void)
{
	for (int k = 0; k < KINDS; k++)
	{
		uint64_t	state = 100 + k;
		int			alarms = 0;
		int			found = 0;

		for (int i = 0; i < FAMILIES; i++)
		{
			TaskSet		set = draw_kind(&kinds[k], &state);
			WmlcLeverage leverage;

			alarms += judge_set(&set).feature >= 0;
			set.data[4][1] *= 100.0;
			leverage = judge_set(&set);
			found += leverage.feature == 1 && leverage.tasks == 1 && leverage.worst == 4 && leverage.ratio > WMLC_LEVERAGE_FAR;
			free_tasks(&set);
		}
		CHECK(alarms <= kinds[k].most_alarms, "%s: %d alarms", kinds[k].name, alarms);
		CHECK(found >= kinds[k].least_found, "%s: found in %d", kinds[k].name, found);
	}
}

/* A long history among short ones varies much and is no mistake, nor are its squares. */
static void
test_history(void)
{
	int			rows[12];
	TaskSet		set;
	WmlcLeverage leverage;

	for (int j = 0; j < 12; j++)
		rows[j] = j == 7 ? 200 : 6 + j % 4;
	set = new_tasks(3, 12, rows);
	for (int j = 0; j < 12; j++)
		for (int r = 0; r < rows[j]; r++)
		{
			double	   *z = set.data[j] + 4 * r;

			z[0] = 1.0;
			z[1] = r;
			z[2] = r * r;
			z[3] = sin(r);
		}
	leverage = judge_set(&set);
	CHECK(leverage.feature < 0, "feature %d", leverage.feature);
	set.data[2][4 + 1] *= 1000.0;
	leverage = judge_set(&set);
	CHECK(leverage.feature == 1 && leverage.tasks == 1 && leverage.worst == 2, "feature %d", leverage.feature);
	free_tasks(&set);
}

/* Neither units nor offsets matter, and the ratio is that of standard deviations. */
static void
test_ratio(void)
{
	uint64_t	state = 200;
	TaskSet		set = draw_kind(&kinds[0], &state);
	WmlcLeverage first,
				second;

	set.data[2][2] = 3000.0;
	set.data[9][2] = 2000.0;
	first = judge_set(&set);
	CHECK(first.feature == 2 && first.tasks == 2 && first.worst == 2, "feature %d in %d tasks, worst %d", first.feature, (int) first.tasks, (int) first.worst);
	CHECK(first.ratio > 600.0 && first.ratio < 1100.0, "ratio %g", first.ratio);
	for (int j = 0; j < set.count; j++)
		for (int r = 0; r < (int) set.rows[j]; r++)
		{
			double	   *x = &set.data[j][(size_t) r * (DIMS + 1) + 2];

			*x = 1e-6 * *x - 1e3;
		}
	second = judge_set(&set);
	CHECK(second.feature == 2 && second.tasks == 2 && second.worst == 2 && fabs(second.ratio / first.ratio - 1.0) < 1e-6,
		  "ratio %.9g in other units for %.9g", second.ratio, first.ratio);
	free_tasks(&set);
}

/* Tasks that are left out have no say, and four tasks are too few. */
static void
test_few(void)
{
	uint64_t	state = 300;
	TaskSet		set = draw_kind(&kinds[1], &state);
	double		alpha[5] = {1.0, 1.0, 1.0, 1.0, 1.0};
	WmlcPriorTasks tasks;

	set.data[0][1] = 1000.0;
	CHECK(judge_set(&set).feature == 1, "five tasks");
	tasks = as_tasks(&set);
	tasks.alpha = alpha;
	CHECK(judge(&tasks).feature == 1, "five tasks with weights");
	alpha[3] = 0.0;
	CHECK(judge(&tasks).feature == -1, "four of them");
	set.rows[3] = 0.0;
	tasks.alpha = NULL;
	CHECK(judge(&tasks).feature == -1, "one has no rows");
	free_tasks(&set);
}

/* Where a feature is the same in all rows of most tasks, those where it is not are no mistake. */
static void
test_constant(void)
{
	uint64_t	state = 400;
	TaskSet		set = draw_kind(&kinds[0], &state);

	for (int j = 0; j < 3; j++)
		set.data[j][3] = 700.0;
	CHECK(judge_set(&set).feature == -1, "a feature that varies in three tasks only");
	free_tasks(&set);
}

int
main(void)
{
	test_kinds();
	test_history();
	test_ratio();
	test_few();
	test_constant();
	return check_summary();
}
