/*
 * prior_fixture.h
 *	  Tasks and priors for the unit tests: rows are drawn or given, kept for
 *	  oracles that need them, and summed up as grams are.
 */
#ifndef WML_UNIT_PRIOR_FIXTURE_H
#define WML_UNIT_PRIOR_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/dd/dd.h"
#include "core/prior/prior.h"

/* All rows of task j are the `rows[j]` runs of dims + 1 numbers at data[j]. */
typedef struct TaskSet
{
	int			dims;
	int			count;
	double	  **data;
	double	   *rows;
	double	   *moments;
	double	   *moments_lo;
} TaskSet;

static inline size_t
triangle(int n)
{
	return (size_t) n * (n + 1) / 2;
}

/* Add the products of one row to the sums of a task. */
static inline void
sum_row(int dims, const double *z, double *hi, double *lo)
{
	size_t		k = 0;

	for (int i = 0; i <= dims; i++)
		for (int j = i; j <= dims; j++, k++)
		{
			WmlcDd		sum = wmlc_dd_add((WmlcDd) {hi[k], lo[k]}, wmlc_two_prod(z[i], z[j]));

			hi[k] = sum.hi;
			lo[k] = sum.lo;
		}
}

static inline TaskSet
new_tasks(int dims, int count, const int *rows)
{
	TaskSet		set = {.dims = dims, .count = count};
	size_t		p = dims + 1;

	set.data = calloc(count, sizeof(double *));
	set.rows = calloc(count, sizeof(double));
	set.moments = calloc(count * triangle(p), sizeof(double));
	set.moments_lo = calloc(count * triangle(p), sizeof(double));
	for (int j = 0; j < count; j++)
	{
		set.rows[j] = rows[j];
		set.data[j] = calloc(rows[j] * p + 1, sizeof(double));
	}
	return set;
}

/* After the rows have been filled in or changed. */
static inline void
sum_tasks(TaskSet *set)
{
	size_t		size = triangle(set->dims + 1);

	memset(set->moments, 0, set->count * size * sizeof(double));
	memset(set->moments_lo, 0, set->count * size * sizeof(double));
	for (int j = 0; j < set->count; j++)
		for (int i = 0; i < (int) set->rows[j]; i++)
			sum_row(set->dims, set->data[j] + (size_t) i * (set->dims + 1),
					set->moments + j * size, set->moments_lo + j * size);
}

static inline void
free_tasks(TaskSet *set)
{
	for (int j = 0; j < set->count; j++)
		free(set->data[j]);
	free(set->data);
	free(set->rows);
	free(set->moments);
	free(set->moments_lo);
}

/* w = mean + factor g, g standard normal; the factor is dims x dims by rows */
static inline void
draw_coefficients(int dims, const double *mean, const double *factor, uint64_t *state, double *w)
{
	memcpy(w, mean, dims * sizeof(double));
	for (int k = 0; k < dims; k++)
	{
		double		g = check_normal(state);

		for (int i = 0; i < dims; i++)
			w[i] += factor[i * dims + k] * g;
	}
}

/* A row with an intercept, standard normal covariates and normal noise. */
static inline void
draw_row(int dims, const double *w, double noise_sd, uint64_t *state, double *z)
{
	double		y = noise_sd * check_normal(state);

	for (int i = 0; i < dims; i++)
	{
		z[i] = i == 0 ? 1.0 : check_normal(state);
		y += z[i] * w[i];
	}
	z[dims] = y;
}

/* Tasks from the model itself. */
static inline TaskSet
draw_tasks(int dims, int count, int least_rows, int most_rows, const double *mean,
		   const double *factor, double noise_sd, uint64_t *state)
{
	int		   *rows = calloc(count, sizeof(int));
	double	   *w = calloc(dims, sizeof(double));
	TaskSet		set;

	for (int j = 0; j < count; j++)
		rows[j] = least_rows + (int) (check_random(state) * (most_rows - least_rows + 1));
	set = new_tasks(dims, count, rows);
	for (int j = 0; j < count; j++)
	{
		draw_coefficients(dims, mean, factor, state, w);
		for (int i = 0; i < rows[j]; i++)
			draw_row(dims, w, noise_sd, state, set.data[j] + (size_t) i * (dims + 1));
	}
	free(rows);
	free(w);
	sum_tasks(&set);
	return set;
}

static inline WmlcPriorTasks
as_tasks(const TaskSet *set)
{
	return (WmlcPriorTasks) {set->dims, set->count, set->moments, set->moments_lo, set->rows, NULL, 0.0, NULL};
}

static inline WmlcPrior
new_prior(int dims)
{
	WmlcPrior	prior = {.dims = dims, .descriptors = 1};

	prior.mean = calloc(dims, sizeof(double));
	prior.factor = calloc((size_t) dims * dims, sizeof(double));
	prior.mean_factor = calloc((size_t) dims * dims, sizeof(double));
	return prior;
}

static inline void
free_prior(WmlcPrior *prior)
{
	free(prior->mean);
	free(prior->factor);
	free(prior->mean_factor);
}

static inline WmlcStatus
fit_tasks(const WmlcPriorTasks *tasks, WmlcPriorOptions options, WmlcPrior *prior)
{
	void	   *work = malloc(wmlc_prior_fit_workspace(tasks->dims, tasks->count, &options));
	WmlcStatus	status = wmlc_prior_fit(tasks, &options, prior, work);

	free(work);
	return status;
}

/* Fit or fail the test; the caller frees. */
static inline WmlcPrior
fitted(const TaskSet *set, WmlcPriorMethod method, WmlcPriorCovariance covariance, double evenness)
{
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPrior	prior = new_prior(set->dims);
	WmlcStatus	status = fit_tasks(&tasks, (WmlcPriorOptions) {.method = method,
								   .covariance = covariance, .evenness = evenness}, &prior);

	CHECK(status == WMLC_OK, "status %d", status);
	return prior;
}

static inline double
covariance_entry(const WmlcPrior *prior, int i, int j)
{
	double		sum = 0.0;

	for (int k = 0; k < prior->dims; k++)
		sum += prior->factor[i + k * prior->dims] * prior->factor[j + k * prior->dims];
	return sum;
}

/* ---- dense linear algebra for oracles, matrices by rows ---- */

/* Lower Cholesky factor in place; false if not positive definite. */
static inline bool
dense_cholesky(int n, double *a)
{
	for (int k = 0; k < n; k++)
	{
		for (int j = 0; j < k; j++)
			a[k * n + k] -= a[k * n + j] * a[k * n + j];
		if (!(a[k * n + k] > 0.0))
			return false;
		a[k * n + k] = sqrt(a[k * n + k]);
		for (int i = k + 1; i < n; i++)
		{
			for (int j = 0; j < k; j++)
				a[i * n + k] -= a[i * n + j] * a[k * n + j];
			a[i * n + k] /= a[k * n + k];
		}
	}
	return true;
}

/* x = L^-1 x */
static inline void
dense_forward(int n, const double *l, double *x)
{
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < i; j++)
			x[i] -= l[i * n + j] * x[j];
		x[i] /= l[i * n + i];
	}
}

/* x = L'^-1 x */
static inline void
dense_backward(int n, const double *l, double *x)
{
	for (int i = n - 1; i >= 0; i--)
	{
		for (int j = i + 1; j < n; j++)
			x[i] -= l[j * n + i] * x[j];
		x[i] /= l[i * n + i];
	}
}

/* ---- the likelihood from the density of all rows at once ---- */

/*
 * log |V|, r'V^-1 r and X'V^-1 X of one task with V = s2 I + X S X', from its
 * rows; the last is added.
 */
static inline void
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

static inline double
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

static inline double
dense_loglik_of(const TaskSet *set, const WmlcPrior *prior, bool reml)
{
	int			d = set->dims;
	double	   *s = calloc((size_t) d * d, sizeof(double));
	double		loglik;

	wmlc_prior_covariance(prior, s, NULL);
	loglik = dense_loglik(set, prior->mean, s, prior->noise, reml);
	free(s);
	return loglik;
}

static inline double
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
static inline void
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

		wmlc_prior_covariance(prior, s, NULL);
		for (int i = 0; i < d; i++)
		{
			double		se = sqrt(wmlc_mean_covariance(prior, i, i));

			mean[i] = prior->mean[i] + (trial % 3 == 0 ? scale * se * check_normal(&state) : 0.0);
		}
		if (trial % 5 != 0)
		{
			double		v[16];

			for (int i = 0; i < d; i++)
				v[i] = sqrt(scale * d * prior->tasks * wmlc_mean_covariance(prior, i, i))
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

/* No NaN, no infinity, and a triangle with nothing negative on its diagonal. */
static inline void
check_finite(const WmlcPrior *prior)
{
	int			d = prior->dims;

	for (int i = 0; i < d * d; i++)
		CHECK(isfinite(prior->factor[i]) && isfinite(prior->mean_factor[i]), "entry %d", i);
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

#endif							/* WML_UNIT_PRIOR_FIXTURE_H */
