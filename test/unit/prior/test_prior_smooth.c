/*
 * test_prior_smooth.c
 *	  A smooth part shared by all tasks, against the density of all rows at once.
 */
#include "prior_fixture.h"

#define DIMS 8
#define FREE 3					/* one, x, and a fixed z; the rest is smooth */
#define SMOOTH (DIMS - FREE)

static const bool random_features[DIMS] = {true, true};
static const bool smooth_features[DIMS] = {false, false, false, true, true, true, true, true};

/* y = a + b x + z / 2 + curve cos(3 x + 2) + noise, and cosines of x in other units */
static TaskSet
draw_curves(int count, int rows, double curve, double noise, double unit, uint64_t *state)
{
	int			sizes[64];
	TaskSet		set;

	for (int j = 0; j < count; j++)
		sizes[j] = rows + j % 3;
	set = new_tasks(DIMS, count, sizes);
	for (int j = 0; j < count; j++)
	{
		double		a = check_normal(state);
		double		b = 1.0 + 0.5 * a + 0.3 * check_normal(state);

		for (int i = 0; i < sizes[j]; i++)
		{
			double	   *z = set.data[j] + (size_t) i * (DIMS + 1);
			double		x = 4.0 * check_random(state) - 2.0;

			z[0] = 1.0;
			z[1] = x;
			z[2] = check_normal(state);
			for (int k = 0; k < SMOOTH; k++)
				z[FREE + k] = 10.0 * unit + unit * cos((1.0 + k) * x + k);
			z[DIMS] = a + b * x + 0.5 * z[2] + curve * cos(3.0 * x + 2.0) + noise * check_normal(state);
		}
	}
	sum_tasks(&set);
	return set;
}

static WmlcPrior
fit_curves(const TaskSet *set, bool robust)
{
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPrior	prior = new_prior(DIMS);
	WmlcStatus	status = fit_tasks(&tasks, (WmlcPriorOptions) {.method = WMLC_PRIOR_REML,
		.random = random_features, .smooth = smooth_features, .own_noise = robust}, &prior);

	CHECK(status == WMLC_OK && prior.converged, "status %d", status);
	return prior;
}

/* All rows, one below the other: features, responses, tasks. */
typedef struct Rows
{
	int			n;
	double	   *x;				/* n x DIMS by columns */
	double	   *y;
	int		   *task;
	double		square[DIMS];	/* of smooth features, beside the others */
} Rows;

/* Gram-Schmidt: what the free features leave of each smooth one. */
static void
find_squares(Rows *rows)
{
	int			n = rows->n;
	double	   *q = calloc((size_t) n * DIMS, sizeof(double));

	memcpy(q, rows->x, (size_t) n * DIMS * sizeof(double));
	for (int twice = 0; twice < 2; twice++)
		for (int k = 0; k < DIMS; k++)
			for (int l = 0; l < FREE && l < k; l++)
			{
				double		dot = 0.0,
							square = 0.0;

				for (int i = 0; i < n; i++)
				{
					dot += q[l * n + i] * q[k * n + i];
					square += q[l * n + i] * q[l * n + i];
				}
				for (int i = 0; i < n; i++)
					q[k * n + i] -= dot / square * q[l * n + i];
			}
	for (int k = 0; k < DIMS; k++)
	{
		rows->square[k] = 0.0;
		for (int i = 0; i < n; i++)
			rows->square[k] += q[k * n + i] * q[k * n + i] / n;
	}
	free(q);
}

static Rows
collect(const TaskSet *set)
{
	Rows		rows = {0};
	int			i = 0;

	for (int j = 0; j < set->count; j++)
		rows.n += (int) set->rows[j];
	rows.x = calloc((size_t) rows.n * DIMS, sizeof(double));
	rows.y = calloc(rows.n, sizeof(double));
	rows.task = calloc(rows.n, sizeof(int));
	for (int j = 0; j < set->count; j++)
		for (int a = 0; a < (int) set->rows[j]; a++, i++)
		{
			for (int k = 0; k < DIMS; k++)
				rows.x[k * rows.n + i] = set->data[j][a * (DIMS + 1) + k];
			rows.y[i] = set->data[j][a * (DIMS + 1) + DIMS];
			rows.task[i] = j;
		}
	find_squares(&rows);
	return rows;
}

/*
 * The restricted log-likelihood with the smooth part as one more random effect,
 * and its best prediction.
 */
static double
dense_smooth(const Rows *rows, const double s[4], double noise, double sd, double *mean)
{
	int			n = rows->n;
	double	   *v = calloc((size_t) n * n, sizeof(double));
	double	   *white = calloc((size_t) n * (DIMS + 1), sizeof(double));
	double		information[FREE * FREE] = {0};
	double		best[FREE] = {0};
	double		loglik = 0.0,
				rss = 0.0;

	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++)
		{
			double		entry = a == b ? noise : 0.0;

			for (int k = 0; k < 4 && rows->task[a] == rows->task[b]; k++)
				entry += rows->x[k / 2 * n + a] * s[k] * rows->x[k % 2 * n + b];
			for (int k = FREE; k < DIMS; k++)
				entry += sd * sd / (SMOOTH * rows->square[k]) * rows->x[k * n + a] * rows->x[k * n + b];
			v[a * n + b] = entry;
		}
	CHECK(dense_cholesky(n, v), "covariance");
	memcpy(white, rows->x, (size_t) n * DIMS * sizeof(double));
	memcpy(white + (size_t) n * DIMS, rows->y, n * sizeof(double));
	for (int k = 0; k <= DIMS; k++)
		dense_forward(n, v, white + (size_t) n * k);
	for (int a = 0; a < n; a++)
		loglik -= log(v[a * n + a]);
	for (int i = 0; i < FREE; i++)
		for (int a = 0; a < n; a++)
		{
			best[i] += white[i * n + a] * white[DIMS * n + a];
			for (int k = 0; k < FREE; k++)
				information[i * FREE + k] += white[i * n + a] * white[k * n + a];
		}
	CHECK(dense_cholesky(FREE, information), "information");
	dense_forward(FREE, information, best);
	dense_backward(FREE, information, best);
	for (int i = 0; i < FREE; i++)
		loglik -= log(information[i * FREE + i]);
	for (int a = 0; a < n; a++)
	{
		for (int i = 0; i < FREE; i++)
			white[DIMS * n + a] -= white[i * n + a] * best[i];
		rss += white[DIMS * n + a] * white[DIMS * n + a];
	}
	for (int k = 0; k < DIMS && mean != NULL; k++)
	{
		mean[k] = k < FREE ? best[k] : 0.0;
		for (int a = 0; a < n && k >= FREE; a++)
			mean[k] += sd * sd / (SMOOTH * rows->square[k]) * white[k * n + a] * white[DIMS * n + a];
	}
	free(v);
	free(white);
	return loglik - 0.5 * (rss + (n - FREE) * log(2.0 * M_PI));
}

static void
free_rows(Rows *rows)
{
	free(rows->x);
	free(rows->y);
	free(rows->task);
}

/*
 * The likelihood is that of the model, at its maximum for a smooth part that is not
 * larger than its best, and the mean is the best prediction.
 */
static void
test_likelihood(void)
{
	uint64_t	state = 3;

	for (int round = 0; round < 6; round++)
	{
		TaskSet		set = draw_curves(7 + round, 5 + 2 * round, round % 3 * 0.8, 0.5,
									  round % 2 == 0 ? 1.0 : 1e6, &state);
		WmlcPrior	prior = fit_curves(&set, false);
		Rows		rows = collect(&set);
		double		mean[DIMS];
		double		s[4] = {covariance_entry(&prior, 0, 0), covariance_entry(&prior, 0, 1),
		covariance_entry(&prior, 1, 0), covariance_entry(&prior, 1, 1)};
		double		best = dense_smooth(&rows, s, prior.noise, prior.smooth_sd, mean);

		CHECK(fabs(prior.loglik - best) <= 1e-7 * fabs(best), "round %d", round);
		for (int k = 0; k < DIMS; k++)
			CHECK(fabs(prior.mean[k] - mean[k]) <= 1e-5 * (fabs(mean[k]) + 1e-3 * fabs(mean[0])), "round %d: %d", round, k);
		for (int trial = 0; trial < 24; trial++)
		{
			double		other[4];
			double		scale = trial % 2 == 0 ? 1e-3 : 0.2;
			double		noise = prior.noise * exp(trial % 3 == 0 ? scale * check_normal(&state) : 0.0);
			double		sd = prior.smooth_sd * sqrt(noise / prior.noise)
				* exp(trial % 3 == 1 ? -scale * fabs(check_normal(&state)) : 0.0);
			double		factor = exp(trial % 3 == 2 ? scale * check_normal(&state) : 0.0);

			for (int k = 0; k < 4; k++)
				other[k] = s[k] * factor;
			CHECK(dense_smooth(&rows, other, noise, sd, NULL) <= best + 1e-6, "round %d, trial %d", round, trial);
		}
		CHECK(prior.smooth_degrees >= 0.0 && prior.smooth_degrees <= SMOOTH, "%g", prior.smooth_degrees);
		CHECK(covariance_entry(&prior, 4, 4) == 0.0 && covariance_entry(&prior, 2, 2) == 0.0, "fixed");
		free_rows(&rows);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/* Curves that are another one in each task are no reason to expect them of the next. */
static void
test_own_curves(void)
{
	uint64_t	state = 29;
	TaskSet		set = draw_curves(24, 20, 0.0, 0.2, 1.0, &state);
	WmlcPrior	prior;

	for (int j = 0; j < set.count; j++)
	{
		double		own = check_normal(&state);

		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			double	   *z = set.data[j] + (size_t) i * (DIMS + 1);

			z[DIMS] += own * z[FREE + 2];
		}
	}
	sum_tasks(&set);
	prior = fit_curves(&set, false);
	CHECK(prior.smooth_sd < 0.05, "%g", prior.smooth_sd);
	free_prior(&prior);
	free_tasks(&set);
}

/*
 * A curve of the few large tasks is much to them, and a disturbance to the many small ones, which a
 * sum of squares does not notice.  One that small tasks have, too, each in its own size, is found.
 */
static void
test_large_tasks(void)
{
	for (int all = 0; all < 2; all++)
	{
		uint64_t	state = 37;
		TaskSet		set = draw_curves(48, 20, 0.0, 0.1, 1.0, &state);
		WmlcPrior	prior;

		for (int j = 0; j < set.count; j++)
			for (int i = 0; i < (int) set.rows[j]; i++)
			{
				double	   *z = set.data[j] + (size_t) i * (DIMS + 1);
				double		size = all ? 1.0 + j % 3 : j % 4 == 0 ? 10.0 : 1.0;

				z[DIMS] += all || j % 4 == 0 ? 0.1 * size * cos(3.0 * z[1] + 2.0) : 0.0;
			}
		sum_tasks(&set);
		prior = fit_curves(&set, false);

		/* those of the tasks have sizes from 0.1 to 0.3 */
		if (all)
			CHECK(prior.mean[FREE + 2] > 0.1 && prior.mean[FREE + 2] < 0.3, "%g", prior.mean[FREE + 2]);
		else
			CHECK(prior.smooth_sd < 0.01, "%g", prior.smooth_sd);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/* Neither the order of tasks nor the units of features matter. */
static void
test_order(void)
{
	uint64_t	state = 31;
	TaskSet		set = draw_curves(30, 8, 0.6, 0.4, 1.0, &state);
	WmlcPrior	prior = fit_curves(&set, false);
	WmlcPrior	other;

	for (int j = 0; j < set.count / 2; j++)
	{
		double	   *data = set.data[j];
		double		rows = set.rows[j];

		set.data[j] = set.data[set.count - 1 - j];
		set.rows[j] = set.rows[set.count - 1 - j];
		set.data[set.count - 1 - j] = data;
		set.rows[set.count - 1 - j] = rows;
	}
	for (int j = 0; j < set.count; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
			set.data[j][(size_t) i * (DIMS + 1) + FREE] *= 1e5;
	sum_tasks(&set);
	other = fit_curves(&set, false);
	CHECK_NEAR(other.loglik, prior.loglik, 1e-7);
	CHECK_NEAR(other.smooth_sd / prior.smooth_sd, 1.0, 1e-5);
	CHECK_NEAR(other.mean[FREE] * 1e5, prior.mean[FREE], 1e-5);
	CHECK_NEAR(other.mean[FREE + 1], prior.mean[FREE + 1], 1e-5);
	free_prior(&prior);
	free_prior(&other);
	free_tasks(&set);
}

/* A curve is found, and none where there is none. */
static void
test_size(void)
{
	uint64_t	state = 11;
	TaskSet		bent = draw_curves(40, 12, 1.0, 0.3, 1.0, &state);
	TaskSet		straight = draw_curves(40, 12, 0.0, 0.3, 1.0, &state);
	WmlcPrior	prior = fit_curves(&bent, false);
	WmlcPrior	robust = fit_curves(&bent, true);
	WmlcPrior	flat = fit_curves(&straight, false);

	CHECK(prior.smooth_degrees > 3.0 && prior.smooth_sd > 0.15, "%g %g", prior.smooth_degrees, prior.smooth_sd);
	CHECK(fabs(prior.noise - 0.09) <= 0.02, "noise");
	CHECK(fabs(robust.noise - 0.09) <= 0.02, "own noise");
	CHECK(fabs(robust.smooth_sd - prior.smooth_sd) <= 0.2 * prior.smooth_sd, "own noise");
	CHECK(flat.smooth_degrees < 2.0 && flat.smooth_sd < 0.1, "%g %g", flat.smooth_degrees, flat.smooth_sd);
	free_prior(&prior);
	free_prior(&robust);
	free_prior(&flat);
	free_tasks(&bent);
	free_tasks(&straight);
}

/*
 * Of a few tasks a curve may explain all that differs between them, before those that are left out judge
 * it.  If it then goes, what is left is the prior of the plain features, with its spread.
 */
static void
test_vanished(void)
{
	int			vanished = 0;

	for (int round = 0; round < 24; round++)
	{
		uint64_t	state = 100 + round;
		TaskSet		set = draw_curves(3, 8, 0.0, 0.1, 1.0, &state);
		WmlcPriorTasks tasks;
		WmlcPriorOptions options = {.method = WMLC_PRIOR_REML, .random = random_features, .smooth = smooth_features, .evenness = 2.0};
		WmlcPrior	curved = new_prior(DIMS);
		WmlcPrior	plain = new_prior(DIMS);

		/* a constant for two of them, and x */
		for (int j = 0; j < set.count; j++)
			for (int i = 0; i < (int) set.rows[j]; i++)
			{
				double	   *z = set.data[j] + (size_t) i * (DIMS + 1);

				for (int k = 0; k < SMOOTH; k++)
					z[FREE + k] = j < 2 && k == j ? 1.0 : j < 2 && k == j + 2 ? z[1] : 0.0;
			}
		sum_tasks(&set);
		tasks = as_tasks(&set);
		CHECK(fit_tasks(&tasks, options, &curved) == WMLC_OK, "round %d", round);
		for (int j = 0; j < set.count; j++)
			for (int i = 0; i < (int) set.rows[j]; i++)
				memset(set.data[j] + (size_t) i * (DIMS + 1) + FREE, 0, SMOOTH * sizeof(double));
		sum_tasks(&set);
		tasks = as_tasks(&set);
		options.smooth = NULL;
		CHECK(fit_tasks(&tasks, options, &plain) == WMLC_OK, "round %d", round);
		if (curved.smooth_sd == 0.0)
		{
			vanished++;
			CHECK(fabs(curved.noise / plain.noise - 1.0) < 1e-3 && fabs(curved.factor[0] / plain.factor[0] - 1.0) < 1e-2,
				  "round %d: noise %g, not %g; spread %g, not %g", round, curved.noise, plain.noise, curved.factor[0], plain.factor[0]);
		}
		free_prior(&curved);
		free_prior(&plain);
		free_tasks(&set);
	}
	CHECK(vanished > 12, "in %d rounds", vanished);
}

/* Features that are copies of each other, of a free one, or zero throughout. */
static void
test_dependent(void)
{
	uint64_t	state = 5;
	TaskSet		set = draw_curves(12, 9, 0.8, 0.4, 1.0, &state);
	WmlcPrior	prior;

	for (int j = 0; j < set.count; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			double	   *z = set.data[j] + (size_t) i * (DIMS + 1);

			z[FREE + 1] = z[FREE];
			z[FREE + 2] = 3.0 * z[1] - z[0];
			z[FREE + 3] = 0.0;
		}
	sum_tasks(&set);
	prior = fit_curves(&set, false);
	check_finite(&prior);
	CHECK(fabs(prior.mean[FREE] - prior.mean[FREE + 1]) <= 1e-6, "copies share");
	CHECK(prior.mean[FREE + 3] == 0.0, "%g", prior.mean[FREE + 3]);
	free_prior(&prior);

	/* One task shows no spread, but a curve. */
	set.count = 1;
	prior = fit_curves(&set, false);
	check_finite(&prior);
	CHECK(prior.rank == 0, "rank %d", prior.rank);
	set.count = 12;
	free_prior(&prior);
	free_tasks(&set);
}

int
main(void)
{
	test_likelihood();
	test_size();
	test_vanished();
	test_own_curves();
	test_large_tasks();
	test_order();
	test_dependent();
	return check_summary();
}
