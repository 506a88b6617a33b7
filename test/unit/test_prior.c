/*
 * test_prior.c
 *	  The random-coefficient model fitted from sums: against published values,
 *	  against the multivariate normal density, and against what the mathematics
 *	  says must hold.
 */
#include "prior_fixture.h"

/*
 * Reaction times (ms) of 18 subjects on days 0 to 9 of sleep restriction:
 * Belenky et al., "Patterns of performance degradation and restoration during
 * sleep restriction and subsequent recovery", J. Sleep Res. 12 (2003) 1-12, the
 * 3-hour group.
 */
static const double reaction[18][10] = {
	{249.5600, 258.7047, 250.8006, 321.4398, 356.8519, 414.6901, 382.2038, 290.1486, 430.5853, 466.3535},
	{222.7339, 205.2658, 202.9778, 204.7070, 207.7161, 215.9618, 213.6303, 217.7272, 224.2957, 237.3142},
	{199.0539, 194.3322, 234.3200, 232.8416, 229.3074, 220.4579, 235.4208, 255.7511, 261.0125, 247.5153},
	{321.5426, 300.4002, 283.8565, 285.1330, 285.7973, 297.5855, 280.2396, 318.2613, 305.3495, 354.0487},
	{287.6079, 285.0000, 301.8206, 320.1153, 316.2773, 293.3187, 290.0750, 334.8177, 293.7469, 371.5811},
	{234.8606, 242.8118, 272.9613, 309.7688, 317.4629, 309.9976, 454.1619, 346.8311, 330.3003, 253.8644},
	{283.8424, 289.5550, 276.7693, 299.8097, 297.1710, 338.1665, 332.0265, 348.8399, 333.3600, 362.0428},
	{265.4731, 276.2012, 243.3647, 254.6723, 279.0244, 284.1912, 305.5248, 331.5229, 335.7469, 377.2990},
	{241.6083, 273.9472, 254.4907, 270.8021, 251.4519, 254.6362, 245.4523, 235.3110, 235.7541, 237.2466},
	{312.3666, 313.8058, 291.6112, 346.1222, 365.7324, 391.8385, 404.2601, 416.6923, 455.8643, 458.9167},
	{236.1032, 230.3167, 238.9256, 254.9220, 250.7103, 269.7744, 281.5648, 308.1020, 336.2806, 351.6451},
	{256.2968, 243.4543, 256.2046, 255.5271, 268.9165, 329.7247, 379.4445, 362.9184, 394.4872, 389.0527},
	{250.5265, 300.0576, 269.8939, 280.5891, 271.8274, 304.6336, 287.7466, 266.5955, 321.5418, 347.5655},
	{221.6771, 298.1939, 326.8785, 346.8555, 348.7402, 352.8287, 354.4266, 360.4326, 375.6406, 388.5417},
	{271.9235, 268.4369, 257.2424, 277.6566, 314.8222, 317.2135, 298.1353, 348.1229, 340.2800, 366.5131},
	{225.2640, 234.5235, 238.9008, 240.4730, 267.5373, 344.1937, 281.1481, 347.5855, 365.1630, 372.2288},
	{269.8804, 272.4428, 277.8989, 281.7895, 279.1705, 284.5120, 259.2658, 304.6306, 350.7807, 369.4692},
	{269.4117, 273.4740, 297.5968, 310.6316, 287.1726, 329.6076, 334.4818, 343.2199, 369.1417, 364.1236},
};

static TaskSet
sleepstudy(void)
{
	int			rows[18];
	TaskSet		set;

	for (int j = 0; j < 18; j++)
		rows[j] = 10;
	set = new_tasks(2, 18, rows);
	for (int j = 0; j < 18; j++)
		for (int i = 0; i < 10; i++)
		{
			set.data[j][3 * i] = 1.0;
			set.data[j][3 * i + 1] = i;
			set.data[j][3 * i + 2] = reaction[j][i];
		}
	sum_tasks(&set);
	return set;
}

/* Published to four digits or more by Bates et al., J. Stat. Softw. 67 (2015). */
static void
test_sleepstudy(void)
{
	TaskSet		set = sleepstudy();
	WmlcPrior	reml = fitted(&set, WMLC_PRIOR_REML, WMLC_PRIOR_FULL, 0.0);
	WmlcPrior	ml = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	double		sd0 = sqrt(covariance_entry(&reml, 0, 0));
	double		sd1 = sqrt(covariance_entry(&reml, 1, 1));

	CHECK_NEAR(reml.mean[0], 251.405, 4e-6);
	CHECK_NEAR(reml.mean[1], 10.467, 4e-5);
	CHECK_NEAR(sd0, 24.741, 4e-5);
	CHECK_NEAR(sd1, 5.922, 1e-4);
	CHECK_NEAR(covariance_entry(&reml, 0, 1) / (sd0 * sd1), 0.066, 5e-4);
	CHECK_NEAR(sqrt(reml.noise), 25.592, 4e-5);
	CHECK_NEAR(sqrt(reml.mean_covariance[0]), 6.825, 1e-4);
	CHECK_NEAR(sqrt(reml.mean_covariance[3]), 1.546, 3e-4);
	CHECK_NEAR(-2.0 * reml.loglik, 1743.6, 3e-5);
	CHECK_NEAR(ml.loglik, -875.97, 1e-5);
	CHECK_NEAR(ml.noise, 654.94, 1e-5);
	CHECK(ml.converged && reml.converged && !ml.singular && ml.rank == 2, "rank %d", ml.rank);
	CHECK(ml.iterations <= 12 && reml.iterations <= 12, "%d and %d iterations", ml.iterations,
		  reml.iterations);
	CHECK(ml.tasks == 18.0 && ml.rows == 180.0, "%g tasks, %g rows", ml.tasks, ml.rows);
	free_prior(&reml);
	free_prior(&ml);
	free_tasks(&set);
}

/* ---- the likelihood against the density of all rows at once ---- */

/*
 * log |V|, r'V^-1 r and X'V^-1 X of one task with V = s2 I + X S X', from its
 * rows; the last is added.
 */
static void
dense_task(const TaskSet *set, int j, const double *mean, const double *s, double noise,
		   double *log_det, double *quadratic, double *information)
{
	int			n = (int) set->rows[j];
	int			d = set->dims;
	double	   *v = calloc((size_t) n * n + 1, sizeof(double));
	double	   *x = calloc((size_t) n * (d + 1) + 1, sizeof(double));	/* by columns */

	for (int a = 0; a < n; a++)
	{
		const double *row_a = set->data[j] + (size_t) a * (d + 1);

		x[d * n + a] = row_a[d];
		for (int i = 0; i < d; i++)
		{
			x[i * n + a] = row_a[i];
			x[d * n + a] -= row_a[i] * mean[i];
		}
		for (int b = 0; b < n; b++)
		{
			const double *row_b = set->data[j] + (size_t) b * (d + 1);

			v[a * n + b] = a == b ? noise : 0.0;
			for (int i = 0; i < d; i++)
				for (int k = 0; k < d; k++)
					v[a * n + b] += row_a[i] * s[i * d + k] * row_b[k];
		}
	}
	CHECK(dense_cholesky(n, v), "task %d", j);
	for (int i = 0; i <= d; i++)
		dense_forward(n, v, x + (size_t) i * n);
	for (int a = 0; a < n; a++)
	{
		*log_det += 2.0 * log(v[a * n + a]);
		*quadratic += x[d * n + a] * x[d * n + a];
		for (int i = 0; i < d; i++)
			for (int k = 0; k < d; k++)
				information[i * d + k] += x[i * n + a] * x[k * n + a];
	}
	free(v);
	free(x);
}

static double
dense_loglik(const TaskSet *set, const double *mean, const double *s, double noise, bool reml)
{
	int			d = set->dims;
	double	   *information = calloc((size_t) d * d, sizeof(double));
	double		log_det = 0.0,
				quadratic = 0.0,
				rows = reml ? -d : 0.0;

	for (int j = 0; j < set->count; j++)
	{
		dense_task(set, j, mean, s, noise, &log_det, &quadratic, information);
		rows += set->rows[j];
	}
	if (reml)
	{
		CHECK(dense_cholesky(d, information), "information");
		for (int i = 0; i < d; i++)
			log_det += 2.0 * log(information[i * d + i]);
	}
	free(information);
	return -0.5 * (log_det + quadratic + rows * log(2.0 * M_PI));
}

static double
dense_loglik_of(const TaskSet *set, const WmlcPrior *prior, bool reml)
{
	int			d = set->dims;
	double	   *s = calloc((size_t) d * d, sizeof(double));
	double		loglik;

	wmlc_prior_covariance(prior, s);
	loglik = dense_loglik(set, prior->mean, s, prior->noise, reml);
	free(s);
	return loglik;
}

static double
given_loglik(const TaskSet *set, const WmlcPrior *prior)
{
	WmlcPriorTasks tasks = as_tasks(set);
	void	   *work = malloc(wmlc_prior_loglik_workspace(set->dims, set->count));
	double		loglik = NAN;
	WmlcStatus	status = wmlc_prior_loglik(prior, &tasks, NULL, &loglik, work);

	CHECK(status == WMLC_OK, "status %d", status);
	free(work);
	return loglik;
}

/*
 * At a maximum no change of the parameters helps, on the boundary neither: mu
 * and s2 up and down, S towards and away from any other direction.
 */
static void
check_maximum(const TaskSet *set, const WmlcPrior *prior, bool reml, bool diagonal)
{
	int			d = set->dims;
	double	   *s = calloc((size_t) d * d, sizeof(double));
	double	   *mean = calloc(d, sizeof(double));
	double		best = dense_loglik_of(set, prior, reml);
	double		slack = 1e-6;
	uint64_t	state = 99;

	for (int trial = 0; trial < 60; trial++)
	{
		double		scale = trial % 2 == 0 ? 1e-3 : 0.1;
		double		noise = prior->noise * (trial % 5 == 0 ? 1.0 + scale * check_normal(&state) : 1.0);
		double		loglik;

		wmlc_prior_covariance(prior, s);
		for (int i = 0; i < d; i++)
		{
			double		se = sqrt(prior->mean_covariance[i + i * d]);

			mean[i] = prior->mean[i] + (trial % 3 == 0 ? scale * se * check_normal(&state) : 0.0);
		}
		if (trial % 5 != 0)
		{
			double		v[16];

			for (int i = 0; i < d; i++)
				v[i] = sqrt(scale * d * prior->tasks * prior->mean_covariance[i + i * d])
					* check_normal(&state);
			for (int i = 0; i < d; i++)
				for (int k = 0; k < d; k++)
					if (!diagonal || i == k)
						s[i * d + k] += v[i] * v[k];
		}
		if (trial % 4 == 0)
			for (int i = 0; i < d * d; i++)
				s[i] *= 1.0 - scale;
		if (noise <= 0.0)
			continue;
		loglik = dense_loglik(set, mean, s, noise, reml);
		CHECK(loglik <= best + slack, "trial %d: %.9f beats %.9f", trial, loglik, best);
	}
	free(s);
	free(mean);
}

static void
test_likelihood(void)
{
	const double mean[3] = {1.0, -2.0, 0.5};
	const double factor[9] = {1.0, 0.0, 0.0, 0.5, 0.8, 0.0, -0.3, 0.2, 0.4};
	const double singular[9] = {1.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.5, 0.0, 0.0};
	uint64_t	state = 7;

	for (int round = 0; round < 16; round++)
	{
		bool		reml = round % 2 != 0;
		bool		diagonal = round / 2 % 2 != 0;
		bool		flat = round / 4 % 2 != 0;
		TaskSet		set = draw_tasks(3, round < 8 ? 9 : 25, 1, 8, mean, flat ? singular : factor,
									 0.7, &state);
		WmlcPrior	prior = fitted(&set, reml ? WMLC_PRIOR_REML : WMLC_PRIOR_ML,
								   diagonal ? WMLC_PRIOR_DIAGONAL : WMLC_PRIOR_FULL, 0.0);

		CHECK(prior.converged && prior.iterations <= 60, "round %d: %d iterations", round,
			  prior.iterations);
		CHECK_NEAR(given_loglik(&set, &prior), dense_loglik_of(&set, &prior, false), 1e-10);
		CHECK_NEAR(prior.loglik, dense_loglik_of(&set, &prior, reml), 1e-10);
		check_maximum(&set, &prior, reml, diagonal);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/* ---- how the fit goes ---- */

typedef struct Path
{
	double		last;
	int			steps;
	bool		decreased;
} Path;

static void
follow(void *arg, int iteration, double objective)
{
	Path	   *path = arg;

	if (iteration > 1 && objective < path->last - 1e-12 * fabs(path->last))
		path->decreased = true;
	path->last = objective;
	path->steps = iteration;
}

static void
test_monotone(void)
{
	const double mean[4] = {5.0, 0.0, 1.0, -1.0};
	uint64_t	state = 11;

	for (int round = 0; round < 40; round++)
	{
		double		factor[16];
		TaskSet		set;
		WmlcPriorTasks tasks;
		WmlcPrior	prior = new_prior(4);
		Path		path = {0};
		WmlcPriorOptions options = {.method = round % 2, .covariance = round / 2 % 2,
			.shrink = round / 4 % 2 * 2.0, .trace = follow, .trace_arg = &path};

		for (int i = 0; i < 16; i++)
			factor[i] = check_normal(&state) * pow(10.0, 2.0 * check_random(&state) - 1.0);
		set = draw_tasks(4, 3 + round, 1, 12, mean, factor, 1.0, &state);
		tasks = as_tasks(&set);
		CHECK(fit_tasks(&tasks, options, &prior) == WMLC_OK, "round %d", round);
		CHECK(!path.decreased && path.steps == prior.iterations, "round %d", round);
		if (options.shrink == 0.0)
			CHECK_NEAR(path.last, prior.loglik, 1e-12);
		free_prior(&prior);
		free_tasks(&set);
	}
}

static void
test_recovery(void)
{
	const double mean[3] = {10.0, -3.0, 0.25};
	const double factor[9] = {2.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, -0.2, 0.1};
	uint64_t	state = 5;
	TaskSet		set = draw_tasks(3, 3000, 2, 12, mean, factor, 1.5, &state);
	WmlcPrior	prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);

	for (int i = 0; i < 3; i++)
	{
		double		se = sqrt(prior.mean_covariance[i + 3 * i]);

		CHECK(fabs(prior.mean[i] - mean[i]) < 4.0 * se, "mean %d: %g", i, prior.mean[i]);
		for (int j = 0; j <= i; j++)
		{
			double		truth = 0.0;
			double		scale = prior.tasks * sqrt(prior.mean_covariance[i + 3 * i]
												   * prior.mean_covariance[j + 3 * j]);

			for (int k = 0; k < 3; k++)
				truth += factor[3 * i + k] * factor[3 * j + k];
			/* The scale is the variance of a task's own estimate. */
			CHECK(fabs(covariance_entry(&prior, i, j) - truth) < 6.0 * scale / sqrt(3000.0),
				  "covariance %d %d: %g not %g", i, j, covariance_entry(&prior, i, j), truth);
		}
	}
	CHECK(fabs(prior.noise - 2.25) < 0.12, "noise %g", prior.noise);
	CHECK(prior.iterations < 20, "%d iterations", prior.iterations);
	free_prior(&prior);
	free_tasks(&set);
}

/* ---- invariances ---- */

/*
 * If every row's features become C psi and the response a y + b.psi, then
 * w becomes C'^-1 (a w + b).  Compare two priors through that: C'w_new = a w + b.
 */
static void
check_same(const WmlcPrior *old, const WmlcPrior *new, const double *c, double a, const double *b,
		   double tolerance)
{
	int			d = old->dims;

	for (int i = 0; i < d; i++)
	{
		double		mean = 0.0;
		double		se = a * sqrt(old->mean_covariance[i + i * d]);

		for (int k = 0; k < d; k++)
			mean += c[k * d + i] * new->mean[k];
		CHECK(fabs(mean - (a * old->mean[i] + b[i])) <= tolerance * (se + fabs(mean)),
			  "mean %d: %.12g instead of %.12g", i, mean, a * old->mean[i] + b[i]);
		for (int j = 0; j < d; j++)
		{
			double		scale = a * a * old->tasks * sqrt(old->mean_covariance[i + i * d]
														  * old->mean_covariance[j + j * d]);
			double		s = 0.0;

			/* C'S C through the factor, which an offset spoils less. */
			for (int l = 0; l < d; l++)
			{
				double		left = 0.0,
							right = 0.0;

				for (int k = 0; k < d; k++)
				{
					left += c[k * d + i] * new->factor[k + l * d];
					right += c[k * d + j] * new->factor[k + l * d];
				}
				s += left * right;
			}
			CHECK(fabs(s - a * a * covariance_entry(old, i, j)) <= tolerance * scale,
				  "covariance %d %d: %.12g instead of %.12g", i, j, s,
				  a * a * covariance_entry(old, i, j));
		}
	}
	CHECK_NEAR(new->noise / (a * a * old->noise), 1.0, tolerance);
	CHECK(old->rank == new->rank, "rank %d and %d", old->rank, new->rank);
}

static void
transform_rows(TaskSet *set, const double *c, double a, const double *b)
{
	int			d = set->dims;

	for (int j = 0; j < set->count; j++)
		for (int i = 0; i < (int) set->rows[j]; i++)
		{
			double	   *z = set->data[j] + (size_t) i * (d + 1);
			double		x[8];

			memcpy(x, z, d * sizeof(double));
			z[d] *= a;
			for (int k = 0; k < d; k++)
			{
				z[d] += b[k] * x[k];
				z[k] = 0.0;
				for (int l = 0; l < d; l++)
					z[k] += c[k * d + l] * x[l];
			}
		}
	sum_tasks(set);
}

static void
test_invariance(void)
{
	const double mean[3] = {1.0, 2.0, 3.0};
	const double factor[9] = {1.0, 0.0, 0.0, 0.3, 0.5, 0.0, -0.3, 0.2, 0.4};
	const double singular[9] = {1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5};
	const double units[9] = {1.0, 0, 0, 0, 1e6, 0, 0, 0, 1e-9};
	const double order[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
	const double basis[9] = {1, 2, 0, -1, 0.5, 3, 0.25, 1, 1};
	const double offset[9] = {1, 0, 0, 1e6, 1, 0, -3e5, 0, 1};
	const double none[3] = {0};
	const double shift[3] = {1e6, -4.0, 7.0};
	uint64_t	state = 3;

	for (int round = 0; round < 8; round++)
	{
		WmlcPriorMethod method = round % 2;
		double		shrink = round / 2 % 2;
		const double *spread = round < 4 ? factor : singular;
		TaskSet		set = draw_tasks(3, 20, 3, 12, mean, spread, 0.5, &state);
		WmlcPrior	full = fitted(&set, method, WMLC_PRIOR_FULL, shrink);
		WmlcPrior	diagonal = fitted(&set, method, WMLC_PRIOR_DIAGONAL, shrink);
		const struct
		{
			const double *c;
			double		a;
			const double *b;
			bool		keeps_axes;
			double		tolerance;
		}			cases[] = {
			{units, 1e-3, none, true, 1e-6}, {order, 1.0, none, true, 1e-6},
			{basis, 2.0, none, false, 1e-6}, {offset, 1.0, shift, false, 1e-5},
		};

		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		{
			TaskSet		other = draw_tasks(3, 20, 3, 12, mean, spread, 0.5, &(uint64_t) {state});
			WmlcPrior	prior;

			/* The same rows, transformed. */
			for (int j = 0; j < set.count; j++)
			{
				free(other.data[j]);
				other.rows[j] = set.rows[j];
				other.data[j] = malloc((set.rows[j] * 4 + 1) * sizeof(double));
				memcpy(other.data[j], set.data[j], set.rows[j] * 4 * sizeof(double));
			}
			transform_rows(&other, cases[k].c, cases[k].a, cases[k].b);
			prior = fitted(&other, method, WMLC_PRIOR_FULL, shrink);
			check_same(&full, &prior, cases[k].c, cases[k].a, cases[k].b, cases[k].tolerance);
			free_prior(&prior);
			if (cases[k].keeps_axes)
			{
				prior = fitted(&other, method, WMLC_PRIOR_DIAGONAL, shrink);
				check_same(&diagonal, &prior, cases[k].c, cases[k].a, cases[k].b, cases[k].tolerance);
				free_prior(&prior);
			}
			free_tasks(&other);
		}
		free_prior(&full);
		free_prior(&diagonal);
		free_tasks(&set);
	}
}

static void
test_order_of_tasks(void)
{
	const double mean[2] = {1.0, 2.0};
	const double factor[4] = {1.0, 0.0, 0.3, 0.5};
	const double same[4] = {1, 0, 0, 1};
	const double none[2] = {0};
	uint64_t	state = 31;
	TaskSet		set = draw_tasks(2, 301, 1, 9, mean, factor, 0.5, &state);
	WmlcPrior	one = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	WmlcPrior	two;

	for (int j = 0; j < set.count / 2; j++)
	{
		int			k = set.count - 1 - j;
		double	   *data = set.data[j];
		double		rows = set.rows[j];

		set.data[j] = set.data[k];
		set.rows[j] = set.rows[k];
		set.data[k] = data;
		set.rows[k] = rows;
	}
	sum_tasks(&set);
	two = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	check_same(&one, &two, same, 1.0, none, 1e-7);
	CHECK_NEAR(one.loglik, two.loglik, 1e-13);
	free_prior(&one);
	free_prior(&two);
	free_tasks(&set);
}

/* Weights 1 and 0 choose tasks; only ratios of weights matter; tempering evens them out. */
static void
test_weights(void)
{
	const double mean[2] = {1.0, 2.0};
	const double factor[4] = {1.0, 0.0, 0.3, 0.5};
	const double same[4] = {1, 0, 0, 1};
	const double none[2] = {0};
	uint64_t	state = 17;
	TaskSet		set = draw_tasks(2, 24, 3, 9, mean, factor, 0.5, &state);
	WmlcPriorTasks tasks = as_tasks(&set);
	WmlcPriorOptions reml = {.method = WMLC_PRIOR_REML};
	WmlcPrior	a = new_prior(2),
				b = new_prior(2);
	double		alpha[24];

	for (int j = 0; j < 24; j++)
		alpha[j] = j < 15 ? 3.5 : 0.0;
	tasks.alpha = alpha;
	CHECK(fit_tasks(&tasks, reml, &a) == WMLC_OK, "weights");
	tasks.alpha = NULL;
	tasks.count = 15;
	CHECK(fit_tasks(&tasks, reml, &b) == WMLC_OK, "subset");
	check_same(&b, &a, same, 1.0, none, 1e-7);
	CHECK_NEAR(a.loglik, b.loglik, 1e-12);
	CHECK(a.tasks == 15.0 && fabs(a.effective_tasks - 15.0) < 1e-12, "%g", a.effective_tasks);

	tasks.count = 24;
	tasks.alpha = alpha;
	tasks.temper = 1.0;
	CHECK(fit_tasks(&tasks, reml, &a) == WMLC_OK, "tempered");
	tasks.alpha = NULL;
	CHECK(fit_tasks(&tasks, reml, &b) == WMLC_OK, "all");
	check_same(&b, &a, same, 1.0, none, 1e-7);

	/* Halfway there is the mean of both. */
	for (int j = 0; j < 24; j++)
		alpha[j] = j * j;
	tasks.alpha = alpha;
	tasks.temper = 0.5;
	CHECK(fit_tasks(&tasks, reml, &a) == WMLC_OK, "half tempered");
	for (int j = 0; j < 24; j++)
		alpha[j] = 0.5 * j * j / 4324.0 + 0.5 / 24.0;
	tasks.temper = 0.0;
	CHECK(fit_tasks(&tasks, reml, &b) == WMLC_OK, "mixed");
	check_same(&b, &a, same, 1.0, none, 1e-7);
	CHECK_NEAR(a.effective_tasks, b.effective_tasks, 1e-12);
	tasks.alpha = NULL;

	/* A task of weight two is a task that is there twice. */
	for (int j = 0; j < 12; j++)
		memcpy(set.moments + (12 + j) * triangle(3), set.moments + j * triangle(3),
			   triangle(3) * sizeof(double));
	memcpy(set.moments_lo + 12 * triangle(3), set.moments_lo, 12 * triangle(3) * sizeof(double));
	memcpy(set.rows + 12, set.rows, 12 * sizeof(double));
	for (int j = 6; j < 12; j++)
		set.rows[j + 12] = 0.0;
	for (int j = 0; j < 12; j++)
		alpha[j] = j < 6 ? 2.0 : 1.0;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &a) == WMLC_OK, "twice");
	tasks.count = 12;
	tasks.alpha = alpha;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &b) == WMLC_OK, "weight two");
	for (int i = 0; i < 2; i++)
		CHECK_NEAR(a.mean[i], b.mean[i], 1e-7);
	CHECK_NEAR(covariance_entry(&a, 1, 1), covariance_entry(&b, 1, 1), 1e-7);
	CHECK_NEAR(a.noise, b.noise, 1e-7);
	CHECK_NEAR(b.effective_tasks, 18.0 * 18.0 / 30.0, 1e-12);
	free_prior(&a);
	free_prior(&b);
	free_tasks(&set);
}

/* A penalty draws towards equal spread: its limit is a multiple of the inverse moment. */
static void
test_shrink(void)
{
	const double mean[3] = {0};
	const double factor[9] = {1.0, 0, 0, 0.9, 0.1, 0, 0.5, 0, 0.7};
	uint64_t	state = 23;
	TaskSet		set = draw_tasks(3, 8, 20, 20, mean, factor, 1.0, &state);
	WmlcPrior	exact = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	double		last = exact.loglik;

	for (double shrink = 0.5; shrink < 1e7; shrink *= 10.0)
	{
		WmlcPrior	prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, shrink);

		CHECK(prior.converged && prior.rank == 3, "shrink %g", shrink);
		CHECK(prior.loglik <= last + 1e-7, "shrink %g", shrink);
		CHECK_NEAR(prior.loglik, dense_loglik_of(&set, &prior, false), 1e-10);
		last = prior.loglik;
		if (shrink > 1e6)
		{
			/* S G, G the pooled moment, is a multiple of the identity. */
			double		g[9] = {0},
						sg[9] = {0};

			for (int j = 0; j < 8; j++)
				for (int i = 0; i < 3; i++)
					for (int k = 0; k < 3; k++)
						g[3 * i + k] += set.moments[j * 10 + (i < k ? i * 4 - i * (i - 1) / 2 + k - i
															  : k * 4 - k * (k - 1) / 2 + i - k)];
			for (int i = 0; i < 3; i++)
				for (int k = 0; k < 3; k++)
					for (int l = 0; l < 3; l++)
						sg[3 * i + k] += covariance_entry(&prior, i, l) * g[3 * l + k];
			for (int i = 0; i < 9; i++)
				CHECK(fabs(sg[i] / sg[0] - (i % 4 == 0)) < 1e-3, "%d: %g", i, sg[i] / sg[0]);
		}
		free_prior(&prior);
	}
	free_prior(&exact);
	free_tasks(&set);
}

/* ---- singular and degenerate ---- */

static void
check_finite(const WmlcPrior *prior)
{
	int			d = prior->dims;

	for (int i = 0; i < d * d; i++)
		CHECK(isfinite(prior->factor[i]) && isfinite(prior->mean_covariance[i]), "entry %d", i);
	for (int i = 0; i < d; i++)
	{
		CHECK(isfinite(prior->mean[i]), "mean %d", i);
		for (int k = i; k < d; k++)
			CHECK(k == i ? prior->factor[i + k * d] >= 0.0 : prior->factor[i + k * d] == 0.0,
				  "factor %d %d: %g", i, k, prior->factor[i + k * d]);
	}
	CHECK(isfinite(prior->noise) && prior->noise >= 0.0 && !isnan(prior->loglik), "noise %g",
		  prior->noise);
}

/* No spread at all, no spread of one coefficient, perfect correlation. */
static void
test_boundary(void)
{
	const double mean[2] = {1.0, 2.0};
	const double nothing[4] = {0};
	const double one[4] = {2.0, 0.0, 0.0, 0.0};
	const double line[4] = {2.0, 0.0, -1.0, 0.0};
	uint64_t	state = 41;
	int			flat = 0,
				single = 0;

	for (int round = 0; round < 10; round++)
	{
		TaskSet		set = draw_tasks(2, 40, 8, 8, mean, nothing, 1.0, &state);
		WmlcPrior	prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);

		check_finite(&prior);
		CHECK(prior.converged && prior.singular == (prior.rank < 2), "rank %d", prior.rank);
		flat += prior.rank == 0;
		check_maximum(&set, &prior, false, false);
		free_prior(&prior);
		free_tasks(&set);

		set = draw_tasks(2, 40, 8, 8, mean, one, 1.0, &state);
		prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_DIAGONAL, 0.0);
		CHECK(prior.converged && prior.factor[0] > 1.0 && prior.factor[1] == 0.0, "%g", prior.factor[0]);
		single += prior.rank == 1 && prior.factor[3] == 0.0;
		check_maximum(&set, &prior, false, true);
		free_prior(&prior);
		free_tasks(&set);

		set = draw_tasks(2, 40, 8, 8, mean, line, 0.01, &state);
		prior = fitted(&set, WMLC_PRIOR_REML, WMLC_PRIOR_FULL, 0.0);
		CHECK(prior.converged, "round %d", round);
		CHECK(covariance_entry(&prior, 0, 1) / sqrt(covariance_entry(&prior, 0, 0)
													 * covariance_entry(&prior, 1, 1)) < -0.999,
			  "round %d", round);
		free_prior(&prior);
		free_tasks(&set);
	}
	CHECK(flat >= 1 && flat <= 8 && single >= 2, "%d flat, %d single", flat, single);
}

/*
 * Draws on which the iteration loses a direction too early, found by search: the
 * slope at the end must bring it back.
 */
static void
test_revival(void)
{
	const double mean[6] = {1, 2, 3, 4, 5, 6};
	const struct
	{
		int			seed;
		WmlcPriorMethod method;
	}			cases[] = {{263, WMLC_PRIOR_REML}, {547, WMLC_PRIOR_REML}, {2703, WMLC_PRIOR_ML}};

	for (int c = 0; c < 3; c++)
	{
		uint64_t	state = cases[c].seed;
		int			d = 2 + cases[c].seed % 4;
		double		factor[36];
		int			last,
					tasks,
					rows;
		double		noise_sd;
		TaskSet		set;
		WmlcPrior	prior;

		(void) check_random(&state);
		(void) check_random(&state);
		last = (int) (check_random(&state) * d);
		for (int i = 0; i < d; i++)
			for (int k = 0; k < d; k++)
			{
				double		g = k <= last ? check_normal(&state) : 0.0;

				factor[i * d + k] = k <= last ? g * pow(10.0, check_random(&state) * 2.0 - 1.5) : 0.0;
			}
		tasks = 3 + (int) (check_random(&state) * 15.0);
		rows = 3 + (int) (check_random(&state) * 15.0);
		noise_sd = pow(10.0, check_random(&state) * 2.0 - 1.5);
		set = draw_tasks(d, tasks, 1, rows, mean, factor, noise_sd, &state);
		prior = fitted(&set, cases[c].method, WMLC_PRIOR_DIAGONAL, 0.0);
		CHECK(prior.converged, "seed %d", cases[c].seed);
		check_maximum(&set, &prior, cases[c].method == WMLC_PRIOR_REML, true);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/* More features than tasks, fewer rows than features, tasks without rows. */
static void
test_small(void)
{
	const double mean[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint64_t	state = 51;

	for (int round = 0; round < 60; round++)
	{
		int			d = 1 + round % 8;
		double		square[64] = {0};
		TaskSet		set;
		WmlcPrior	prior;

		for (int i = 0; i < d; i++)
			square[i * (d + 1)] = 0.5;
		set = draw_tasks(d, 1 + round % 5, round % 3 == 0 ? 0 : 1, 1 + round % 11, mean, square,
						 0.3, &state);
		for (int k = 0; k < 4; k++)
		{
			prior = fitted(&set, k % 2, k / 2, round % 2);
			check_finite(&prior);
			if (prior.tasks == 1.0)
				CHECK(prior.rank == 0 && prior.converged, "rank %d of one task", prior.rank);
			if (prior.tasks > 0.0 && prior.noise > 0.0)
				CHECK_NEAR(given_loglik(&set, &prior), dense_loglik_of(&set, &prior, false), 1e-6);
			free_prior(&prior);
		}
		free_tasks(&set);
	}
}

/*
 * A feature that repeats another, one that is zero, one that is the sum of two:
 * predictions are those without it, coefficients the smallest that give them.
 */
static void
test_collinear(void)
{
	const double mean[2] = {1.0, -2.0};
	const double factor[4] = {1.0, 0.0, 0.4, 0.6};
	uint64_t	state = 61;
	TaskSet		two = draw_tasks(2, 30, 1, 9, mean, factor, 0.5, &state);
	int			rows[30];
	TaskSet		five;
	WmlcPrior	small,
				large;

	for (int j = 0; j < 30; j++)
		rows[j] = (int) two.rows[j];
	five = new_tasks(5, 30, rows);
	for (int j = 0; j < 30; j++)
		for (int i = 0; i < rows[j]; i++)
		{
			const double *z = two.data[j] + 3 * i;
			double	   *w = five.data[j] + 6 * i;

			w[0] = z[1];
			w[1] = 0.0;
			w[2] = z[0];
			w[3] = z[1] * 3.0;
			w[4] = z[0] + z[1];
			w[5] = z[2];
		}
	sum_tasks(&five);
	for (int k = 0; k < 2; k++)
	{
		small = fitted(&two, k, WMLC_PRIOR_FULL, 0.0);
		large = fitted(&five, k, WMLC_PRIOR_FULL, 0.0);
		check_finite(&large);
		CHECK(large.converged && large.rank == 2 && large.singular, "rank %d", large.rank);
		CHECK_NEAR(large.noise, small.noise, 1e-8);
		for (int i = 0; i < 3; i++)
		{
			const double x[3][2] = {{1, 0}, {0, 1}, {1, 1}};
			double		p[5] = {x[i][1], 0.0, x[i][0], 3.0 * x[i][1], x[i][0] + x[i][1]};
			double		mean_small = 0.0,
						mean_large = 0.0,
						variance_small = 0.0,
						variance_large = 0.0;

			for (int a = 0; a < 2; a++)
			{
				mean_small += x[i][a] * small.mean[a];
				for (int b = 0; b < 2; b++)
					variance_small += x[i][a] * x[i][b] * covariance_entry(&small, a, b);
			}
			for (int a = 0; a < 5; a++)
			{
				mean_large += p[a] * large.mean[a];
				for (int b = 0; b < 5; b++)
					variance_large += p[a] * p[b] * covariance_entry(&large, a, b);
			}
			CHECK_NEAR(mean_large, mean_small, 1e-7);
			CHECK_NEAR(variance_large, variance_small, 1e-6);
		}
		/* Least norm in standardised units: 1 and 3 share their effect evenly. */
		CHECK_NEAR(large.mean[3] * 3.0, large.mean[0], 1e-7);
		CHECK(large.mean[1] == 0.0, "%g", large.mean[1]);
		if (k == 0)
			CHECK_NEAR(large.loglik, small.loglik, 1e-10);
		free_prior(&small);
		free_prior(&large);

		/* A diagonal S gives every feature its own spread. */
		large = fitted(&five, k, WMLC_PRIOR_DIAGONAL, 0.0);
		check_finite(&large);
		CHECK(large.converged, "diagonal");
		free_prior(&large);
	}
	free_tasks(&two);
	free_tasks(&five);
}

/* Responses that are constant, zero, or exactly linear, in each task or in all. */
static void
test_exact_responses(void)
{
	const double mean[2] = {3.0, -1.0};
	const double none[4] = {0};
	const double factor[4] = {1.0, 0.0, 0.5, 0.5};
	uint64_t	state = 71;

	for (int k = 0; k < 4; k++)
	{
		TaskSet		set = draw_tasks(2, 12, 4, 9, mean, k < 3 ? none : factor, 0.0, &state);
		WmlcPrior	prior;

		if (k < 2)
			for (int j = 0; j < 12; j++)
				for (int i = 0; i < (int) set.rows[j]; i++)
					set.data[j][3 * i + 2] = k == 0 ? 0.0 : 42.0;
		sum_tasks(&set);
		for (int option = 0; option < 4; option++)
		{
			prior = fitted(&set, option % 2, option / 2, 0.0);
			check_finite(&prior);
			if (k < 3)
			{
				CHECK_NEAR(prior.mean[0], k == 0 ? 0.0 : k == 1 ? 42.0 : 3.0, 1e-12);
				CHECK_NEAR(prior.mean[1], k < 2 ? 0.0 : -1.0, 1e-12);
				CHECK(prior.rank == 0, "rank %d", prior.rank);
			}
			else
			{
				/* Every w_j is known: S is their covariance about their mean. */
				CHECK(prior.noise < 1e-6, "noise %g", prior.noise);
				CHECK(prior.saturated, "noise %g", prior.noise);
				if (option == 0)
					CHECK(fabs(sqrt(covariance_entry(&prior, 0, 0)) - 1.0) < 0.6, "%g",
						  covariance_entry(&prior, 0, 0));
			}
			free_prior(&prior);
		}
		free_tasks(&set);
	}
}

/* Features that are all zero: noise is all there is. */
static void
test_no_features(void)
{
	const double mean[2] = {0};
	const double none[4] = {0};
	uint64_t	state = 77;
	TaskSet		set = draw_tasks(2, 10, 3, 6, mean, none, 2.0, &state);
	double		squares = 0.0,
				rows = 0.0;

	for (int j = 0; j < 10; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			set.data[j][3 * i] = set.data[j][3 * i + 1] = 0.0;
			squares += set.data[j][3 * i + 2] * set.data[j][3 * i + 2];
			rows += 1.0;
		}
	sum_tasks(&set);
	for (int option = 0; option < 4; option++)
	{
		WmlcPrior	prior = fitted(&set, option % 2, option / 2, 0.0);

		check_finite(&prior);
		CHECK(prior.converged && prior.rank == 0 && prior.mean[0] == 0.0, "rank %d", prior.rank);
		CHECK_NEAR(prior.noise, squares / rows, 1e-12);
		free_prior(&prior);
	}
	free_tasks(&set);
}

/* Offsets that leave plain sums of squares without a digit. */
static void
test_offsets(void)
{
	const double mean[2] = {1.0, 2.0};
	const double factor[4] = {1.0, 0.0, 0.3, 0.5};
	uint64_t	state = 81;
	TaskSet		set = draw_tasks(2, 25, 3, 9, mean, factor, 0.5, &state);
	WmlcPrior	near = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	WmlcPrior	far;

	for (int j = 0; j < 25; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			/* Powers of two, so that the shift rounds nothing away. */
			set.data[j][3 * i + 1] = ldexp(rint(ldexp(set.data[j][3 * i + 1], 20)), -20);
			set.data[j][3 * i + 2] = ldexp(rint(ldexp(set.data[j][3 * i + 2], 20)), -20);
		}
	sum_tasks(&set);
	free_prior(&near);
	near = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	for (int j = 0; j < 25; j++)
		for (int i = 0; i < (int) set.rows[j]; i++)
		{
			set.data[j][3 * i + 1] += 0x1p30;
			set.data[j][3 * i + 2] += 0x1p31;
		}
	sum_tasks(&set);
	far = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	CHECK_NEAR(far.loglik, near.loglik, 1e-8);
	CHECK_NEAR(far.noise, near.noise, 1e-8);
	CHECK_NEAR(far.mean[1], near.mean[1], 1e-8);
	CHECK_NEAR(covariance_entry(&far, 1, 1), covariance_entry(&near, 1, 1), 1e-7);
	free_prior(&near);
	free_prior(&far);
	free_tasks(&set);
}

/* Without low parts the same answer, as far as the sums allow. */
static void
test_plain_sums(void)
{
	TaskSet		set = sleepstudy();
	WmlcPriorTasks tasks = as_tasks(&set);
	WmlcPrior	exact = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	WmlcPrior	plain = new_prior(2);

	tasks.moments_lo = NULL;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &plain) == WMLC_OK, "plain");
	CHECK_NEAR(plain.loglik, exact.loglik, 1e-10);
	CHECK_NEAR(plain.noise, exact.noise, 1e-8);
	free_prior(&exact);
	free_prior(&plain);
	free_tasks(&set);
}

/* ---- refusals ---- */

static bool
always(void)
{
	return true;
}

static void
test_refusals(void)
{
	TaskSet		set = sleepstudy();
	WmlcPriorTasks tasks = as_tasks(&set);
	WmlcPrior	prior = new_prior(2);
	double		kept;

	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {.poll = always}, &prior) == WMLC_INTERRUPTED, "poll");
	kept = set.moments[7];
	set.moments[7] = NAN;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &prior) == WMLC_NOT_FINITE, "NaN");
	set.moments[7] = INFINITY;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &prior) == WMLC_NOT_FINITE, "infinity");
	set.moments[7] = 1e6 * kept;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &prior) == WMLC_NOT_POSITIVE, "indefinite");
	set.moments[7] = kept;
	set.rows[3] = -1.0;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &prior) == WMLC_NOT_POSITIVE, "rows");
	set.rows[3] = 10.0;
	tasks.count = 0;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &prior) == WMLC_OK && prior.tasks == 0.0, "none");
	tasks.count = 18;
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {.max_iterations = 1}, &prior) == WMLC_OK
		  && !prior.converged && prior.iterations == 1, "one iteration");
	check_finite(&prior);
	free_prior(&prior);
	free_tasks(&set);
}

int
main(void)
{
	test_sleepstudy();
	test_likelihood();
	test_monotone();
	test_recovery();
	test_invariance();
	test_order_of_tasks();
	test_weights();
	test_shrink();
	test_boundary();
	test_revival();
	test_small();
	test_collinear();
	test_exact_responses();
	test_no_features();
	test_offsets();
	test_plain_sums();
	test_refusals();
	return check_summary();
}
