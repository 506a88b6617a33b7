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
#include "core/dd.h"
#include "core/prior.h"

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
	return (WmlcPriorTasks) {set->dims, set->count, set->moments, set->moments_lo, set->rows, NULL, 0.0};
}

static inline WmlcPrior
new_prior(int dims)
{
	WmlcPrior	prior = {.dims = dims};

	prior.mean = calloc(dims, sizeof(double));
	prior.factor = calloc((size_t) dims * dims, sizeof(double));
	prior.mean_covariance = calloc((size_t) dims * dims, sizeof(double));
	return prior;
}

static inline void
free_prior(WmlcPrior *prior)
{
	free(prior->mean);
	free(prior->factor);
	free(prior->mean_covariance);
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
fitted(const TaskSet *set, WmlcPriorMethod method, WmlcPriorCovariance covariance, double shrink)
{
	WmlcPriorTasks tasks = as_tasks(set);
	WmlcPrior	prior = new_prior(set->dims);
	WmlcStatus	status = fit_tasks(&tasks, (WmlcPriorOptions) {.method = method,
								   .covariance = covariance, .shrink = shrink}, &prior);

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

#endif							/* WML_UNIT_PRIOR_FIXTURE_H */
