/*
 * test_posterior.c
 *	  What a prior says about a task: against the textbook formula, at its limits,
 *	  and by how often its intervals hold.
 */
#include "core/prior/posterior.h"
#include "core/base/student.h"
#include "prior/prior_fixture.h"

/* ---- Student's t ---- */

static void
test_student(void)
{
	CHECK_NEAR(wmlc_student_bound(0.95, INFINITY), 1.959963984540054, 1e-14);
	CHECK_NEAR(wmlc_student_bound(0.5, INFINITY), 0.6744897501960817, 1e-14);
	CHECK_NEAR(wmlc_student_bound(1.0 - 0x1p-20, INFINITY), 4.900964207963194, 1e-12);
	CHECK(wmlc_student_bound(0.0, 3.0) == 0.0, "level 0");
	CHECK(isinf(wmlc_student_bound(1.0, 3.0)), "level 1");
	for (double level = 0.001; level < 1.0; level += 0.037)
	{
		/* One and two degrees have closed forms. */
		CHECK_NEAR(wmlc_student_bound(level, 1.0), tan(0.5 * M_PI * level), 1e-11);
		CHECK_NEAR(wmlc_student_bound(level, 2.0), level * sqrt(2.0 / (1.0 - level * level)), 1e-11);
		CHECK_NEAR(wmlc_student_bound(level, 1e9), wmlc_student_bound(level, INFINITY), 1e-8);
		/* The continued fraction and the expansion meet. */
		CHECK_NEAR(wmlc_student_bound(level, 99999.0), wmlc_student_bound(level, 100001.0), 1e-9);
		for (double degrees = 0.5; degrees < 1e9; degrees *= 3.7)
		{
			double		bound = wmlc_student_bound(level, degrees);

			CHECK_NEAR(2.0 * wmlc_student_tail(bound, degrees), 1.0 - level, 1e-12);
			CHECK(bound > wmlc_student_bound(level, degrees * 1.1), "%g degrees", degrees);
		}
	}
	/* The tail is the integral of the density: derivative by differences. */
	for (double x = 0.3; x < 6.0; x += 0.7)
	{
		double		density = tgamma(3.2) / (sqrt(5.4 * M_PI) * tgamma(2.7))
			* pow(1.0 + x * x / 5.4, -3.2);
		double		slope = (wmlc_student_tail(x - 1e-5, 5.4) - wmlc_student_tail(x + 1e-5, 5.4)) / 2e-5;

		CHECK_NEAR(slope, density, 1e-9);
	}
}

/* ---- the posterior ---- */

/* A prior of known parameters. */
static WmlcPrior
given_prior(int dims, int rank, double noise, uint64_t *state)
{
	WmlcPrior	prior = new_prior(dims);

	for (int i = 0; i < dims; i++)
	{
		prior.mean[i] = check_normal(state);
		for (int k = 0; k <= i && k < rank; k++)
			prior.factor[i + k * dims] = i == k ? 0.5 + check_random(state) : check_normal(state);
	}
	prior.noise = noise;
	prior.rank = rank;
	return prior;
}

/* Solve the n x n system a x = b, a positive definite; both are overwritten. */
static void
dense_solve(int n, double *a, double *x)
{
	CHECK(dense_cholesky(n, a), "positive definite");
	dense_forward(n, a, x);
	dense_backward(n, a, x);
}

static double
moment(const TaskSet *set, int i, int j)
{
	int			p = set->dims + 1;

	return i <= j ? set->moments[i * p - i * (i - 1) / 2 + j - i] : moment(set, j, i);
}

/* m and V by inverting S + extra I and the posterior precision. */
static void
textbook(const WmlcPrior *prior, const TaskSet *set, double extra, double *m, double *v)
{
	int			d = prior->dims;
	double	   *inverse = calloc((size_t) d * d, sizeof(double));
	double	   *a = calloc((size_t) d * d, sizeof(double));

	for (int k = 0; k < d; k++)
	{
		for (int i = 0; i < d; i++)
			for (int j = 0; j < d; j++)
				a[i * d + j] = covariance_entry(prior, i, j) + (i == j ? extra : 0.0);
		inverse[k * d + k] = 1.0;
		dense_solve(d, a, inverse + k * d);
	}
	for (int k = 0; k <= d; k++)
	{
		double	   *x = k < d ? v + k * d : m;

		for (int i = 0; i < d; i++)
		{
			x[i] = k < d ? i == k : moment(set, i, d) / prior->noise;
			for (int j = 0; j < d; j++)
			{
				a[i * d + j] = moment(set, i, j) / prior->noise + inverse[i * d + j];
				if (k == d)
					x[i] += inverse[i * d + j] * prior->mean[j];
			}
		}
		dense_solve(d, a, x);
	}
	free(inverse);
	free(a);
}

static void
test_formula(void)
{
	uint64_t	state = 5;

	for (int round = 0; round < 40; round++)
	{
		int			d = 1 + round % 5;
		bool		singular = round >= 20;
		WmlcPrior	prior = given_prior(d, singular ? d / 2 : d, 0.1 + check_random(&state), &state);
		double		zero[25] = {0},
					m[5] = {0},
					v[25] = {0},
					covariance[25];
		TaskSet		set = draw_tasks(d, 1, 1, 12, prior.mean, zero, 1.0, &state);
		void	   *work = malloc(wmlc_posterior_workspace(d));
		WmlcPosterior posterior;

		textbook(&prior, &set, singular ? 1e-9 : 0.0, m, v);
		CHECK(wmlc_posterior(&prior, set.moments, set.moments_lo, &posterior, work) == WMLC_OK,
			  "round %d", round);
		wmlc_posterior_covariance(&posterior, covariance);
		for (int i = 0; i < d; i++)
		{
			CHECK_NEAR(posterior.coef[i], m[i], singular ? 1e-6 : 1e-11);
			for (int j = 0; j < d; j++)
				CHECK_NEAR(covariance[i + j * d], v[i * d + j], singular ? 1e-6 : 1e-11);
		}
		free(work);
		free_prior(&prior);
		free_tasks(&set);
	}
}

/* No rows: the prior.  No noise: the rows.  Rows without end: least squares. */
static void
test_limits(void)
{
	uint64_t	state = 9;
	WmlcPrior	prior = given_prior(3, 3, 0.5, &state);
	double		zero[9] = {0},
				covariance[9],
				empty[10] = {0};
	TaskSet		few = draw_tasks(3, 1, 2, 2, prior.mean, prior.factor, 0.7, &state);
	TaskSet		many = draw_tasks(3, 1, 20000, 20000, zero, zero, 0.7, &state);
	void	   *work = malloc(wmlc_posterior_workspace(3));
	WmlcPosterior posterior;

	for (int k = 0; k < 2; k++)
	{
		CHECK(wmlc_posterior(&prior, k == 0 ? NULL : empty, NULL, &posterior, work) == WMLC_OK, "empty");
		wmlc_posterior_covariance(&posterior, covariance);
		for (int i = 0; i < 3; i++)
		{
			CHECK(posterior.coef[i] == prior.mean[i], "mean %d", i);
			for (int j = 0; j < 3; j++)
				CHECK_NEAR(covariance[i + 3 * j], covariance_entry(&prior, i, j), 1e-15);
		}
	}
	CHECK(wmlc_posterior(&prior, many.moments, many.moments_lo, &posterior, work) == WMLC_OK, "many");
	for (int i = 0; i < 3; i++)
		CHECK(fabs(posterior.coef[i]) < 0.03, "coefficient %d: %g", i, posterior.coef[i]);

	prior.noise = 0.0;
	CHECK(wmlc_posterior(&prior, few.moments, few.moments_lo, &posterior, work) == WMLC_OK, "exact");
	for (int i = 0; i < 2; i++)
	{
		const double *z = few.data[0] + 4 * i;
		double		fit = z[0] * posterior.coef[0] + z[1] * posterior.coef[1] + z[2] * posterior.coef[2];

		CHECK_NEAR(fit, z[3], 1e-6);
	}
	few.moments[0] = NAN;
	CHECK(wmlc_posterior(&prior, few.moments, few.moments_lo, &posterior, work) == WMLC_NOT_FINITE,
		  "NaN");
	free(work);
	free_prior(&prior);
	free_tasks(&few);
	free_tasks(&many);
}

/* A feature far from zero changes nothing once the prior is changed likewise. */
static void
test_offset(void)
{
	uint64_t	state = 13;
	const double far = 0x1p27;
	WmlcPrior	prior = given_prior(2, 2, 0.5, &state);
	WmlcPrior	moved = given_prior(2, 2, 0.5, &state);
	double		zero[4] = {0};
	TaskSet		set = draw_tasks(2, 1, 6, 6, prior.mean, zero, 0.7, &state);
	void	   *work = malloc(wmlc_posterior_workspace(2));
	void	   *work_moved = malloc(wmlc_posterior_workspace(2));
	WmlcPosterior posterior,
				posterior_moved;
	double		a,
				b,
				c;

	CHECK(wmlc_posterior(&prior, set.moments, set.moments_lo, &posterior, work) == WMLC_OK, "near");
	for (int i = 0; i < 6; i++)
		set.data[0][3 * i + 1] += far;
	sum_tasks(&set);

	/* w0 + w1 x = (w0 - far w1) + w1 (x + far); rotate the factor to a triangle again. */
	a = prior.factor[0] - far * prior.factor[1];
	b = -far * prior.factor[3];
	c = hypot(a, b);
	moved.mean[0] = prior.mean[0] - far * prior.mean[1];
	moved.mean[1] = prior.mean[1];
	moved.factor[0] = c;
	moved.factor[1] = (a * prior.factor[1] + b * prior.factor[3]) / c;
	moved.factor[3] = fabs(a * prior.factor[3] - b * prior.factor[1]) / c;
	CHECK(wmlc_posterior(&moved, set.moments, set.moments_lo, &posterior_moved, work_moved) == WMLC_OK,
		  "far");
	CHECK_NEAR(posterior_moved.coef[1], posterior.coef[1], 1e-6);
	CHECK_NEAR(posterior_moved.coef[0] + far * posterior_moved.coef[1], posterior.coef[0], 1e-6);
	free(work);
	free(work_moved);
	free_prior(&prior);
	free_prior(&moved);
	free_tasks(&set);
}

/* ---- predictions ---- */

/* S^-1 V, d x d by columns */
static void
left_of_prior(const WmlcPrior *prior, const double *v, double *columns)
{
	int			d = prior->dims;
	double		s[9];

	wmlc_prior_covariance(prior, s, NULL);
	CHECK(dense_cholesky(d, s), "S");
	for (int j = 0; j < d; j++)
	{
		for (int i = 0; i < d; i++)
			columns[i + d * j] = v[d * i + j];
		dense_forward(d, s, columns + d * j);
		dense_backward(d, s, columns + d * j);
	}
}

/* 1 - tr (S^-1 V)^3 / tr (S^-1 V)^2 */
static double
own_share(const WmlcPrior *prior, const double *v)
{
	double		left[9];
	double		squares = 0.0;
	double		cubes = 0.0;

	left_of_prior(prior, v, left);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
		{
			squares += left[i + 3 * j] * left[j + 3 * i];
			for (int k = 0; k < 3; k++)
				cubes += left[i + 3 * j] * left[j + 3 * k] * left[k + 3 * i];
		}
	return 1.0 - cubes / squares;
}

#define QUANTILES 20

/* Where the upper tail of chi-square is 1 - probability, by bisection */
static double
chi_square_quantile(double probability, double degrees)
{
	double		low = 0.0;
	double		high = 10.0 * degrees + 50.0;

	for (int k = 0; k < 60; k++)
	{
		double		middle = 0.5 * (low + high);

		if (wmlc_chi_square_tail(middle, degrees) > 1.0 - probability)
			low = middle;
		else
			high = middle;
	}
	return 0.5 * (low + high);
}

/* Quantiles of estimates of a variance of 1 */
static void
estimate_quantiles(double degrees, double estimates[QUANTILES])
{
	for (int i = 0; i < QUANTILES; i++)
		estimates[i] = chi_square_quantile((i + 0.5) / QUANTILES, degrees) / degrees;
}

/* How often bounds hold whose spread and noise, truly 1 and `noise`, are estimates. */
static double
coverage_of_sum(WmlcPrior *prior, double noise, const double *spreads, const double *noises,
				const WmlcStudentTable *table, void *work)
{
	double		inside = 0.0;

	for (int i = 0; i < QUANTILES * QUANTILES; i++)
	{
		WmlcPosterior posterior;
		WmlcBounds	bounds;
		WmlcPrediction p;
		double		x = 1.0;

		prior->factor[0] = sqrt(spreads[i % QUANTILES]);
		prior->noise = noise * noises[i / QUANTILES];
		CHECK(wmlc_posterior(prior, NULL, NULL, &posterior, work) == WMLC_OK, "ok");
		bounds = wmlc_posterior_look_up(&posterior, table);
		wmlc_posterior_predict(&posterior, &x, &bounds, &p);
		inside += erf(p.upper / sqrt(2.0 * (1.0 + noise))) / (QUANTILES * QUANTILES);
	}
	return inside;
}

/*
 * On average over sources the bound has the level it claims: within two points from two degrees of
 * freedom on, and within six from one.
 */
static void
test_sum_of_estimates(void)
{
	const double tasks[] = {1.0, 2.0, 4.0, 15.0, 1000.0};
	const double rows[] = {8.0, 30.0, 1000.0};
	const double levels[] = {0.5, 0.9, 0.95, 0.99};
	double		spreads[5][QUANTILES];
	double		noises[3][QUANTILES];
	WmlcStudentTable tables[4];
	WmlcPrior	prior = new_prior(1);
	void	   *work = malloc(wmlc_posterior_workspace(1));

	prior.rank = prior.descriptors = 1;
	for (int a = 0; a < 5; a++)
		estimate_quantiles(tasks[a], spreads[a]);
	for (int b = 0; b < 3; b++)
		estimate_quantiles(rows[b], noises[b]);
	for (int l = 0; l < 4; l++)
		wmlc_student_table(levels[l], &tables[l]);
	for (int a = 0; a < 5; a++)
		for (int b = 0; b < 3; b++)
			for (double noise = 0.1; noise < 12.0; noise *= 3.0)
				for (int l = 0; l < 4; l++)
				{
					double		inside;

					prior.effective_tasks = tasks[a] + 1.0;
					prior.noise_degrees = rows[b];
					inside = coverage_of_sum(&prior, noise, spreads[a], noises[b], &tables[l], work);
					CHECK(fabs(inside - levels[l]) < (tasks[a] < 2.0 ? 0.06 : 0.02),
						  "%g and %g degrees, noise %g, level %g: %g", tasks[a], rows[b], noise, levels[l], inside);
				}
	free(work);
	free_prior(&prior);
}

/*
 * Where the task's rows tell one coefficient exactly, the other follows as in a regression
 * on it over the sources, whose intervals are exact: n - 1 degrees of freedom, and the
 * error of its line.
 */
static void
test_regression(void)
{
	const int	sources = 7;
	uint64_t	state = 31;
	WmlcPrior	prior = new_prior(2);
	void	   *work = malloc(wmlc_posterior_workspace(2));
	const double x[2] = {0.0, 1.0};
	double		w[7][2];
	double		squares[3] = {0};
	double		known = 1.7;
	double		slope,
				rest,
				error,
				moments[6] = {0};
	WmlcPosterior posterior;
	WmlcBounds	bounds;
	WmlcPrediction p;

	for (int j = 0; j < sources; j++)
		for (int k = 0; k < 2; k++)
		{
			w[j][k] = check_normal(&state) + (k == 1 ? 0.5 * w[j][0] : 0.0);
			prior.mean[k] += w[j][k] / sources;
		}
	for (int j = 0; j < sources; j++)
	{
		double		a = w[j][0] - prior.mean[0];
		double		b = w[j][1] - prior.mean[1];

		squares[0] += a * a;
		squares[1] += a * b;
		squares[2] += b * b;
	}
	slope = squares[1] / squares[0];
	rest = squares[2] - slope * squares[1];
	error = sqrt(rest / (sources - 2) * (1.0 + 1.0 / sources + (known - prior.mean[0]) * (known - prior.mean[0]) / squares[0]));

	prior.factor[0] = sqrt(squares[0] / (sources - 1));
	prior.factor[1] = slope * prior.factor[0];
	prior.factor[3] = sqrt(rest / (sources - 1));
	for (int k = 0; k < 4; k++)
		prior.mean_factor[k] = prior.factor[k] / sqrt(sources);
	prior.noise = 1e-9;
	prior.rank = 2;
	prior.restricted = true;
	prior.descriptors = 1;
	prior.effective_tasks = sources;
	prior.noise_degrees = 1e9;
	moments[0] = 1.0;
	moments[2] = known;
	moments[5] = known * known;
	CHECK(wmlc_posterior(&prior, moments, NULL, &posterior, work) == WMLC_OK, "ok");
	bounds = wmlc_posterior_bounds(&posterior, 0.9);
	wmlc_posterior_predict(&posterior, x, &bounds, &p);
	CHECK_NEAR(p.estimate, prior.mean[1] + slope * (known - prior.mean[0]), 1e-6);
	CHECK_NEAR(p.upper - p.estimate, wmlc_student_bound(0.9, sources - 2) * error, 1e-5);
	free(work);
	free_prior(&prior);
}

/*
 * The variance from its definition: with K = V X'/s2 the error of m is
 * H (w - mu) - K e + H (mu - mean), H = I - K X.
 */
static void
test_variance(void)
{
	const double mean[3] = {1.0, -1.0, 0.5};
	const double factor[9] = {1.0, 0, 0, 0.3, 0.5, 0, -0.3, 0.2, 0.4};
	const double x[3] = {1.0, 0.7, -1.3};
	const double far_away[3] = {1e200, 0.7, -1.3};
	uint64_t	state = 19;
	TaskSet		sources = draw_tasks(3, 15, 4, 10, mean, factor, 0.6, &state);
	TaskSet		target = draw_tasks(3, 1, 5, 5, mean, factor, 0.6, &state);
	WmlcPrior	prior = fitted(&sources, WMLC_PRIOR_REML, WMLC_PRIOR_FULL, 1.0);
	double		m[3] = {0},
				v[9] = {0},
				h[3],
				variance = 0.0,
				left;
	void	   *work = malloc(wmlc_posterior_workspace(3));
	WmlcPosterior posterior;
	WmlcBounds	bounds,
				half_bounds;
	WmlcPrediction half,
				most;

	textbook(&prior, &target, 0.0, m, v);
	for (int i = 0; i < 3; i++)
	{
		h[i] = x[i];
		for (int j = 0; j < 3; j++)
		{
			variance += x[i] * v[3 * i + j] * x[j];
			for (int k = 0; k < 3; k++)
				h[i] -= moment(&target, i, j) * v[3 * j + k] * x[k] / prior.noise;
		}
	}
	CHECK(wmlc_posterior(&prior, target.moments, target.moments_lo, &posterior, work) == WMLC_OK, "ok");
	/* the own share, from its definition in the other basis */
	left = posterior.tasks_left;
	CHECK_NEAR(posterior.own_share, own_share(&prior, v), 1e-9);
	CHECK(left > 8.0 && left < 15.0, "%g degrees of freedom", left);
	/* what there is about the prior by definition, a test of its own says what it is */
	for (int k = 0; k < 3; k++)
	{
		double		sum = 0.0;

		for (int i = 0; i < 3; i++)
			sum += h[i] * posterior.mean_factor[i + 3 * k];
		variance += sum * sum;
	}

	half_bounds = wmlc_posterior_bounds(&posterior, 0.5);
	bounds = wmlc_posterior_bounds(&posterior, 0.95);
	wmlc_posterior_predict(&posterior, x, &half_bounds, &half);
	wmlc_posterior_predict(&posterior, x, &bounds, &most);
	CHECK_NEAR(half.estimate, x[0] * m[0] + x[1] * m[1] + x[2] * m[2], 1e-11);
	CHECK_NEAR(half.mean_variance, variance, 1e-10);
	CHECK_NEAR(half.variance, variance + prior.noise, 1e-10);
	CHECK_NEAR(0.5 * (half.lower + half.upper), half.estimate, 1e-12);
	CHECK_NEAR(bounds.spread, wmlc_student_bound(0.95, left), 1e-9);
	CHECK_NEAR(bounds.noise, wmlc_student_bound(0.95, prior.noise_degrees), 1e-12);
	CHECK(most.upper - most.estimate > wmlc_student_bound(0.95, INFINITY) * sqrt(most.variance)
		  && most.upper - most.estimate < wmlc_student_bound(0.95, left) * sqrt(most.variance), "%g", most.upper);
	CHECK(most.lower < half.lower && half.lower < half.mean_lower, "nested");
	CHECK(prior.noise_degrees < prior.rows - 3.0 && prior.noise_degrees > prior.rows - 48.0,
		  "%g degrees of noise", prior.noise_degrees);

	/* squares that overflow leave everything open */
	wmlc_posterior_predict(&posterior, far_away, &bounds, &most);
	CHECK(isfinite(most.estimate) && isinf(most.variance) && most.lower == -INFINITY && most.upper == INFINITY
		  && most.mean_lower == -INFINITY && most.mean_upper == INFINITY, "%g, %g", most.lower, most.mean_upper);
	free(work);
	free_prior(&prior);
	free_tasks(&sources);
	free_tasks(&target);
}

/* The more exactly rows tell a direction, the larger its own share, also beside directions without spread. */
static void
test_own_share(void)
{
	uint64_t	state = 23;
	double		before = 0.0;
	void	   *work = malloc(wmlc_posterior_workspace(3));

	for (double noise = 10.0; noise > 1e-30; noise *= 0.1)
	{
		uint64_t	same = 37;
		WmlcPrior	prior = given_prior(3, 2, noise, &same);
		double		zero[9] = {0};
		TaskSet		set = draw_tasks(3, 1, 20, 20, prior.mean, zero, 1.0, &state);
		WmlcPosterior posterior;

		CHECK(wmlc_posterior(&prior, set.moments, set.moments_lo, &posterior, work) == WMLC_OK, "noise %g", noise);
		CHECK(posterior.own_share > 0.99 * before && posterior.own_share <= 1.0, "%g, noise %g", posterior.own_share, noise);
		before = posterior.own_share;
		free_prior(&prior);
		free_tasks(&set);
	}
	CHECK_NEAR(before, 1.0, 1e-5);
	free(work);
}

/*
 * Two rows far from what is expected: where noises are known to be equal and coefficients to be far
 * away at times, the task is far away; in the reverse case it is noisy.
 */
static void
test_far_or_noisy(void)
{
	uint64_t	state = 41;
	WmlcPrior	prior = given_prior(3, 3, 1.0, &state);
	const int	rows = 2;
	TaskSet		set = new_tasks(3, 1, &rows);
	WmlcTarget	target = {.moments = set.moments, .moments_lo = set.moments_lo, .rows = rows};
	double		told[3];
	void	   *work = malloc(wmlc_posterior_workspace(3));
	WmlcPosterior posterior;

	for (int i = 0; i < rows; i++)
	{
		double	   *z = set.data[0] + 4 * i;

		z[0] = 1.0;
		z[1] = check_normal(&state);
		z[2] = check_normal(&state);
		z[3] = 50.0 + 5.0 * i;
	}
	sum_tasks(&set);

	prior.spread_degrees = 2.0;
	CHECK(wmlc_posterior_of(&prior, &target, &posterior, work) == WMLC_OK, "told");
	CHECK(posterior.weight < 0.01, "%g", posterior.weight);
	memcpy(told, posterior.coef, sizeof(told));
	prior.noise_shape = 1000.0;
	CHECK(wmlc_posterior_of(&prior, &target, &posterior, work) == WMLC_OK, "far");
	for (int i = 0; i < 3; i++)
		CHECK_NEAR(posterior.coef[i], told[i], 0.02 * fabs(told[i]));
	CHECK(posterior.sd < 2.0, "%g", posterior.sd);

	prior.spread_degrees = 200.0;
	prior.noise_shape = 0.5;
	CHECK(wmlc_posterior_of(&prior, &target, &posterior, work) == WMLC_OK, "noisy");
	CHECK(posterior.weight > 0.5 && posterior.sd > 10.0, "%g, %g", posterior.weight, posterior.sd);
	free(work);
	free_prior(&prior);
	free_tasks(&set);
}

/*
 * Over many draws of sources and target, 90 % intervals hold 85 to 95 % of the
 * time, and the posterior mean is a better model than the sources' common one
 * and than the target's own.
 */
static void
test_coverage(void)
{
	const double mean[3] = {1.0, -1.0, 0.5};
	const double factor[9] = {0.8, 0, 0, 0.2, 0.5, 0, -0.3, 0.2, 0.4};
	void	   *work = malloc(wmlc_posterior_workspace(3));
	uint64_t	state = 29;

	for (int method = 0; method < 2; method++)
		for (int shots = 0; shots <= 8; shots += 4)
		{
			double		covered = 0.0,
						covered_mean = 0.0,
						count = 0.0,
						error = 0.0,
						error_prior = 0.0;

			for (int draw = 0; draw < 120; draw++)
			{
				TaskSet		sources = draw_tasks(3, 25, 5, 15, mean, factor, 1.0, &state);
				WmlcPrior	prior = fitted(&sources, method, WMLC_PRIOR_FULL, 0.0);
				double		w[3];
				double		hi[10] = {0},
							lo[10] = {0};
				double		z[4];
				WmlcPosterior posterior;
				WmlcBounds	bounds;

				draw_coefficients(3, mean, factor, &state, w);
				for (int i = 0; i < shots; i++)
				{
					draw_row(3, w, 1.0, &state, z);
					sum_row(3, z, hi, lo);
				}
				CHECK(wmlc_posterior(&prior, hi, lo, &posterior, work) == WMLC_OK, "draw %d", draw);
				bounds = wmlc_posterior_bounds(&posterior, 0.9);
				for (int i = 0; i < 10; i++)
				{
					WmlcPrediction prediction;
					double		truth = 0.0,
								common = 0.0;

					draw_row(3, w, 1.0, &state, z);
					for (int k = 0; k < 3; k++)
					{
						truth += z[k] * w[k];
						common += z[k] * prior.mean[k];
					}
					wmlc_posterior_predict(&posterior, z, &bounds, &prediction);
					covered += prediction.lower <= z[3] && z[3] <= prediction.upper;
					covered_mean += prediction.mean_lower <= truth && truth <= prediction.mean_upper;
					error += (prediction.estimate - truth) * (prediction.estimate - truth);
					error_prior += (common - truth) * (common - truth);
					count += 1.0;
				}
				free_prior(&prior);
				free_tasks(&sources);
			}
			CHECK(covered / count > 0.85 && covered / count < 0.95, "%d shots: %g", shots,
				  covered / count);
			CHECK(covered_mean / count > 0.85 && covered_mean / count < 0.95, "%d shots: %g of means",
				  shots, covered_mean / count);
			if (shots > 0)
				CHECK(error < 0.6 * error_prior, "%d shots: %g and %g", shots, error, error_prior);
			else
				CHECK_NEAR(error / error_prior, 1.0, 1e-12);
		}
	free(work);
}

int
main(void)
{
	test_student();
	test_formula();
	test_limits();
	test_offset();
	test_sum_of_estimates();
	test_regression();
	test_variance();
	test_own_share();
	test_far_or_noisy();
	test_coverage();
	return check_summary();
}
