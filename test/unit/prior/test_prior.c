/*
 * test_prior.c
 *	  The random-coefficient model fitted from sums: against published values,
 *	  against the multivariate normal density, and against what the mathematics
 *	  says must hold.
 */
#include "prior/prior_fixture.h"

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
	CHECK_NEAR(sqrt(wmlc_mean_covariance(&reml, 0, 0)), 6.825, 1e-4);
	CHECK_NEAR(sqrt(wmlc_mean_covariance(&reml, 1, 1)), 1.546, 3e-4);
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

/* ---- the likelihood ---- */

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
			.evenness = round / 4 % 2 * 2.0, .trace = follow, .trace_arg = &path};

		for (int i = 0; i < 16; i++)
			factor[i] = check_normal(&state) * pow(10.0, 2.0 * check_random(&state) - 1.0);
		set = draw_tasks(4, 3 + round, 1, 12, mean, factor, 1.0, &state);
		tasks = as_tasks(&set);
		CHECK(fit_tasks(&tasks, options, &prior) == WMLC_OK, "round %d", round);
		CHECK(!path.decreased && path.steps == prior.iterations, "round %d", round);
		if (options.evenness == 0.0)
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
		double		se = sqrt(wmlc_mean_covariance(&prior, i, i));

		CHECK(fabs(prior.mean[i] - mean[i]) < 4.0 * se, "mean %d: %g", i, prior.mean[i]);
		for (int j = 0; j <= i; j++)
		{
			double		truth = 0.0;
			double		scale = prior.tasks * sqrt(wmlc_mean_covariance(&prior, i, i)
												   * wmlc_mean_covariance(&prior, j, j));

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
		double		se = a * sqrt(wmlc_mean_covariance(old, i, i));

		for (int k = 0; k < d; k++)
			mean += c[k * d + i] * new->mean[k];
		CHECK(fabs(mean - (a * old->mean[i] + b[i])) <= tolerance * (se + fabs(mean)),
			  "mean %d: %.12g instead of %.12g", i, mean, a * old->mean[i] + b[i]);
		for (int j = 0; j < d; j++)
		{
			double		scale = a * a * old->tasks * sqrt(wmlc_mean_covariance(old, i, i)
														  * wmlc_mean_covariance(old, j, j));
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
		double		evenness = round / 2 % 2;
		const double *spread = round < 4 ? factor : singular;
		TaskSet		set = draw_tasks(3, 20, 3, 12, mean, spread, 0.5, &state);
		WmlcPrior	full = fitted(&set, method, WMLC_PRIOR_FULL, evenness);
		WmlcPrior	diagonal = fitted(&set, method, WMLC_PRIOR_DIAGONAL, evenness);
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
			prior = fitted(&other, method, WMLC_PRIOR_FULL, evenness);
			check_same(&full, &prior, cases[k].c, cases[k].a, cases[k].b, cases[k].tolerance);
			free_prior(&prior);
			if (cases[k].keeps_axes)
			{
				prior = fitted(&other, method, WMLC_PRIOR_DIAGONAL, evenness);
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
test_evenness(void)
{
	const double mean[3] = {0};
	const double factor[9] = {1.0, 0, 0, 0.9, 0.1, 0, 0.5, 0, 0.7};
	uint64_t	state = 23;
	TaskSet		set = draw_tasks(3, 8, 20, 20, mean, factor, 1.0, &state);
	WmlcPrior	exact = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, 0.0);
	double		last = exact.loglik;

	for (double evenness = 0.5; evenness < 1e7; evenness *= 10.0)
	{
		WmlcPrior	prior = fitted(&set, WMLC_PRIOR_ML, WMLC_PRIOR_FULL, evenness);

		CHECK(prior.converged && prior.rank == 3, "evenness %g", evenness);
		CHECK(prior.loglik <= last + 1e-7, "evenness %g", evenness);
		CHECK_NEAR(prior.loglik, dense_loglik_of(&set, &prior, false), 1e-10);
		last = prior.loglik;
		if (evenness > 1e6)
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
	CHECK(fit_tasks(&tasks, (WmlcPriorOptions) {0}, &prior) == WMLC_OUT_OF_RANGE, "rows");
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
	test_evenness();
	test_plain_sums();
	test_refusals();
	return check_summary();
}
