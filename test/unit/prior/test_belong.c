/*
 * test_belong.c
 *	  Which tasks belong: hardly any family of clean tasks has a stranger, and a
 *	  mistyped row or coefficients of another kind make one.
 */
#include "prior/prior_fixture.h"

#include "core/prior/belong.h"

#define DIMS 3
#define TASKS 30

static const double mean[DIMS] = {10.0, -1.0, 2.0};
static const double factor[DIMS * DIMS] = {2.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.3, 0.5};

typedef struct Kind
{
	const char *name;
	double		noise_sd;		/* of the logarithm of tasks' noises, as standard deviations */
	double		degrees;		/* of the coefficients' Student's t; infinite for normal ones */
	int			most_alarms;	/* in 150 clean families */
	int			least_found;	/* of 50 families in which tasks are mistyped, all of these and none else */
	int			least_found_of_few;	/* where there are five tasks */
} Kind;

static const Kind kinds[] = {
	{"one noise, normal coefficients", 0.0, INFINITY, 3, 48, 48},
	{"noises differ", 0.5, INFINITY, 3, 48, 40},
	{"noises differ much", 1.0, INFINITY, 12, 30, 15},
	{"heavy tails", 0.5, 4.0, 3, 48, 40}
};

#define KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))

/* sqrt(degrees / chi-square), for whole degrees */
static double
heaviness(double degrees, uint64_t *state)
{
	double		sum = 0.0;

	if (isinf(degrees))
		return 1.0;
	for (int k = 0; k < (int) degrees; k++)
	{
		double		g = check_normal(state);

		sum += g * g;
	}
	return sqrt(degrees / sum);
}

static TaskSet
draw_kind(const Kind *kind, int tasks, uint64_t *state)
{
	int		   *rows = calloc(tasks, sizeof(int));
	TaskSet		set;

	for (int j = 0; j < tasks; j++)
		rows[j] = 8 + j % 23;
	set = new_tasks(DIMS, tasks, rows);
	free(rows);
	for (int j = 0; j < tasks; j++)
	{
		double		heavy = heaviness(kind->degrees, state);
		double		noise = exp(kind->noise_sd * check_normal(state));
		double		spread[DIMS * DIMS];
		double		w[DIMS];

		for (int i = 0; i < DIMS * DIMS; i++)
			spread[i] = heavy * factor[i];
		draw_coefficients(DIMS, mean, spread, state, w);
		for (int i = 0; i < (int) set.rows[j]; i++)
			draw_row(DIMS, w, noise, state, set.data[j] + (size_t) i * (DIMS + 1));
	}
	sum_tasks(&set);
	return set;
}

/* Bits of the tasks that do not belong, under a robust prior of them all or a plain one. */
static uint64_t
find_strangers(const TaskSet *set, bool robust)
{
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .evenness = DIMS, .own_noise = robust, .student = robust};
	WmlcPrior	prior = new_prior(DIMS);
	void	   *work = malloc(wmlc_posterior_workspace(DIMS));
	uint64_t	strangers = 0;

	CHECK(fit_tasks(&tasks, options, &prior) == WMLC_OK, "fit");
	CHECK((prior.noise_limit > 0.0) == robust, "limit %g", prior.noise_limit);
	for (int j = 0; j < set->count; j++)
	{
		WmlcTarget	target = {.moments = set->moments + j * triangle(DIMS + 1),
			.moments_lo = set->moments_lo + j * triangle(DIMS + 1), .rows = set->rows[j]};
		WmlcPosterior posterior;

		CHECK(wmlc_posterior_of(&prior, &target, &posterior, work) == WMLC_OK, "task %d", j);
		strangers |= (uint64_t) !wmlc_belongs(&posterior) << j;
	}
	free(work);
	free_prior(&prior);
	return strangers;
}

/*
 * At one in a thousand for the noise and for the coefficients each, 150 families have 0.3
 * alarms; where noises differ by orders of magnitude, thirty tasks tell less of how they do.
 */
static void
test_clean(void)
{
	for (int k = 0; k < KINDS; k++)
	{
		uint64_t	state = 100 + k;
		int			alarms = 0;

		for (int i = 0; i < 150; i++)
		{
			TaskSet		set = draw_kind(&kinds[k], TASKS, &state);

			alarms += find_strangers(&set, true) != 0;
			free_tasks(&set);
		}
		CHECK(alarms <= kinds[k].most_alarms, "%s: %d families of 150 have strangers", kinds[k].name, alarms);
	}
}

/*
 * A response that is a hundred times as large, in two tasks of thirty or in one of five.  Where noises differ
 * much, that can be a task's own noise.
 */
static void
test_mistyped(void)
{
	for (int k = 0; k < KINDS; k++)
	{
		for (int few = 0; few < 2; few++)
		{
			uint64_t	state = 200 + 10 * k + few;
			uint64_t	wrong = few ? 1 : 3;
			int			found = 0;

			for (int i = 0; i < 50; i++)
			{
				TaskSet		set = draw_kind(&kinds[k], few ? 5 : TASKS, &state);

				for (int j = 0; wrong >> j != 0; j++)
					set.data[j][DIMS] *= 100.0;
				sum_tasks(&set);
				found += find_strangers(&set, true) == wrong;
				free_tasks(&set);
			}
			CHECK(found >= (few ? kinds[k].least_found_of_few : kinds[k].least_found),
				  "%s, %s tasks: found in %d families of 50", kinds[k].name, few ? "few" : "many", found);
		}
	}
}

/* A task of another kind: its rows are as the others', but its coefficients are not. */
static void
test_far(void)
{
	const double other[DIMS] = {200.0, 100.0, -100.0};
	uint64_t	state = 300;
	int			found = 0;

	for (int i = 0; i < 50; i++)
	{
		TaskSet		set = draw_kind(&kinds[1], TASKS, &state);

		for (int r = 0; r < (int) set.rows[4]; r++)
			draw_row(DIMS, other, 1.0, &state, set.data[4] + (size_t) r * (DIMS + 1));
		sum_tasks(&set);
		found += find_strangers(&set, true) == 1 << 4;
		free_tasks(&set);
	}
	CHECK(found >= 48, "found in %d families of 50", found);
}

/* Units make no difference; a plain prior does not judge. */
static void
test_units(void)
{
	uint64_t	state = 400;
	TaskSet		set = draw_kind(&kinds[3], TASKS, &state);
	uint64_t	strangers;

	set.data[7][DIMS] *= 100.0;
	sum_tasks(&set);
	strangers = find_strangers(&set, true);
	CHECK(strangers == 1 << 7, "strangers %llx", (unsigned long long) strangers);
	CHECK(find_strangers(&set, false) == 0, "a plain prior");
	for (int j = 0; j < set.count; j++)
		for (int r = 0; r < (int) set.rows[j]; r++)
		{
			set.data[j][(size_t) r * (DIMS + 1) + DIMS] *= 1e9;
			set.data[j][(size_t) r * (DIMS + 1) + 1] *= 1e-5;
		}
	sum_tasks(&set);
	CHECK(find_strangers(&set, true) == strangers, "in other units");
	free_tasks(&set);
}

int
main(void)
{
	test_clean();
	test_mistyped();
	test_far();
	test_units();
	return check_summary();
}
