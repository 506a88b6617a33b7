/*
 * adapt.c
 *	  Fast adaptation, mean squared error and R^2 from a gram.
 *
 * All in double-double: a response around 1e9 with errors around 1 leaves
 * nothing of c - 2 w.b + w'A w in plain doubles.
 */
#include "core/model/adapt.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/linalg/eigenvalue.h"
#include "core/linalg/spectral.h"

/* Relative rounding of sums over rows, and of what is computed from them. */
#define ROW_ROUNDING 0x1p-106
#define ROUNDING 0x1p-96

/* So many times d steps take as long as finding the eigenvectors. */
#define MANY_STEPS 100

/* Eigenvalues in double are right to about this. */
#define EIGENVALUE_ROUNDING 1e-12

static double
rounding_of(const WmlcGram *gram)
{
	return ROUNDING + ROW_ROUNDING * (double) wmlc_gram_weighted_rows(gram);
}

/* sum (y - w.psi)^2 = v'G v with v = (-w, 1) */
static WmlcStatus
squared_errors(const WmlcGram *gram, const double *w, WmlcDd *result)
{
	int			d = gram->dims;
	const double *hi = gram->sums;
	const double *lo = hi + wmlc_gram_entries(d);
	WmlcDd		total = wmlc_dd(0.0);
	double		magnitude = 0.0;

	if (!wmlc_gram_has_means(gram))
		return WMLC_NOT_FINITE;
	for (int i = 0; i <= d; i++)
	{
		double		v_i = i < d ? -w[i] : 1.0;
		WmlcDd		row = wmlc_dd(0.0);
		double		row_magnitude = 0.0;

		for (int j = i; j <= d; j++, hi++, lo++)
		{
			double		v_j = (j < d ? -w[j] : 1.0) * (i == j ? 1.0 : 2.0);
			WmlcDd		term = wmlc_dd_mul_d((WmlcDd) {*hi, *lo}, v_j);

			row = wmlc_dd_add(row, term);
			row_magnitude += fabs(term.hi);
		}
		total = wmlc_dd_add(total, wmlc_dd_mul_d(row, v_i));
		magnitude += row_magnitude * fabs(v_i);
	}
	if (!isfinite(total.hi) || !isfinite(magnitude))
		return WMLC_NOT_FINITE;
	if (total.hi < -magnitude * rounding_of(gram))
		return WMLC_NOT_POSITIVE;
	*result = total.hi < 0.0 ? wmlc_dd(0.0) : total;
	return WMLC_OK;
}

WmlcStatus
wmlc_mse(const WmlcGram *gram, const double *w, double *mse)
{
	WmlcDd		errors;
	WmlcStatus	status = squared_errors(gram, w, &errors);

	if (status != WMLC_OK)
		return status;
	*mse = wmlc_dd_value(wmlc_dd_div(errors, gram->weight));
	return isfinite(*mse) ? WMLC_OK : WMLC_NOT_FINITE;
}

WmlcStatus
wmlc_r2(const WmlcGram *gram, const double *w, int constant, double *r2)
{
	int			d = gram->dims;
	WmlcDd		errors;
	WmlcDd		variation;
	WmlcStatus	status = squared_errors(gram, w, &errors);

	if (status != WMLC_OK)
		return status;
	variation = wmlc_gram_sum(gram, d, d);
	if (constant >= 0)
	{
		WmlcDd		total = wmlc_gram_sum(gram, constant, d);

		variation = wmlc_dd_sub(variation, wmlc_dd_div(wmlc_dd_mul(total, total),
													   wmlc_gram_sum(gram, constant, constant)));
	}
	if (variation.hi > rounding_of(gram) * wmlc_gram_sum(gram, d, d).hi)
		*r2 = wmlc_dd_value(wmlc_dd_sub(wmlc_dd(1.0), wmlc_dd_div(errors, variation)));
	else
		*r2 = NAN;
	return WMLC_OK;
}

/* Behind the task: vectors of a descent, or what LAPACK needs to work on blocks. */
static size_t
scratch_doubles(int d)
{
	size_t		vectors = 8 * (size_t) (d + 1);
	size_t		lapack = WMLC_EIGENVALUE_WORK * (size_t) d;

	return wmlc_larger(vectors, lapack);
}

size_t
wmlc_adapt_workspace(int d)
{
	return (wmlc_task_doubles(d) + scratch_doubles(d)) * sizeof(double)
		+ wmlc_spectral_workspace(d);
}

WmlcStatus
wmlc_largest_stable_eta(const WmlcGram *gram, double *eta, void *work)
{
	WmlcTask	task;
	double		eigenvalue;
	WmlcStatus	status;

	if (!wmlc_gram_has_means(gram))
		return WMLC_NOT_FINITE;
	wmlc_task_load(&task, gram, work);
	status = wmlc_largest_eigenvalue(task.d, task.sums.hi, task.stride,
									 (double *) work + wmlc_task_doubles(gram->dims),
									 scratch_doubles(gram->dims), &eigenvalue);
	if (status == WMLC_OK)
		*eta = eigenvalue > 0.0 ? 2.0 * wmlc_dd_value(gram->weight) / eigenvalue : INFINITY;
	return status;
}

WmlcStatus
wmlc_adaptation_diverges(const WmlcGram *gram, double eta, bool *diverges, void *work)
{
	WmlcTask	task;
	double		stable;
	WmlcStatus	status;

	if (!wmlc_gram_has_means(gram))
		return WMLC_NOT_FINITE;
	*diverges = false;
	wmlc_task_load(&task, gram, work);
	if (eta * wmlc_task_norm(&task) <= 2.0 * gram->weight.hi)
		return WMLC_OK;
	status = wmlc_largest_stable_eta(gram, &stable, work);
	if (status == WMLC_OK)
		*diverges = eta > stable * (1.0 + EIGENVALUE_ROUNDING);
	return status;
}

WmlcStatus
wmlc_descent_start(WmlcDescent *descent, const WmlcGram *gram, double eta, const double *w,
				   void *work)
{
	int			d = gram->dims;
	double	   *vector = (double *) work + wmlc_task_doubles(d);

	if (!wmlc_gram_has_means(gram))
		return WMLC_NOT_FINITE;
	wmlc_task_load(&descent->task, gram, work);
	descent->rate = wmlc_dd_div(wmlc_dd(eta), gram->weight);
	descent->w = (WmlcDdSpan) {vector, vector + d};
	memcpy(descent->w.hi, w, d * sizeof(double));
	memset(descent->w.lo, 0, d * sizeof(double));
	return WMLC_OK;
}

static WmlcStatus
read_coefficients(int d, WmlcDdSpan w, double *result)
{
	bool		finite = true;

	for (int i = 0; i < d; i++)
	{
		result[i] = wmlc_dd_value(wmlc_dd_get(w, i));
		finite &= isfinite(result[i]);
	}
	return finite ? WMLC_OK : WMLC_NOT_FINITE;
}

WmlcStatus
wmlc_descent_step(WmlcDescent *descent, double *w)
{
	wmlc_task_step(&descent->task, descent->rate, descent->w);
	return read_coefficients(descent->task.d, descent->w, w);
}

/*
 * Many steps at once: along each eigenvector g of A, as in spectral.h, the error
 * e = g.w - h shrinks by the factor t = 1 - eta |g|^2 / W in every step, so w moves
 * by -(1 - t^steps) e / |g|^2 g.
 */
static WmlcStatus
descend_far(WmlcDescent *descent, const WmlcGram *gram, int steps, WmlcPoll poll)
{
	const WmlcTask *task = &descent->task;
	const WmlcDdLoops *loops = wmlc_dd_loops();
	int			d = task->d;
	int			rank;
	WmlcStatus	status = wmlc_spectral_rows(d, task->stride, task->sums,
											(double) wmlc_gram_weighted_rows(gram), true, &rank,
											descent->w.lo + d, poll);

	for (int i = 0; i < rank && status == WMLC_OK; i++)
	{
		WmlcDdSpan	g = wmlc_task_row(task, i);
		WmlcDd		square = loops->dot(d, g, g);
		WmlcDd		error = wmlc_dd_sub(loops->dot(d, g, descent->w), wmlc_dd_get(g, d));
		WmlcDd		t = wmlc_dd_sub(wmlc_dd(1.0), wmlc_dd_mul(descent->rate, square));
		WmlcDd		way = wmlc_dd_sub(wmlc_dd_power(t, steps), wmlc_dd(1.0));

		task->loops->add_multiple(d, wmlc_dd_div(wmlc_dd_mul(way, error), square), g, descent->w);
	}
	return status;
}

WmlcStatus
wmlc_adapt(const WmlcGram *gram, double eta, int steps, const double *w, double *result,
		   void *work, WmlcPoll poll)
{
	WmlcDescent descent;
	WmlcStatus	status = wmlc_descent_start(&descent, gram, eta, w, work);

	if (status == WMLC_OK && steps > MANY_STEPS * gram->dims)
	{
		status = descend_far(&descent, gram, steps, poll);
		steps = 0;
	}
	for (int i = 0; i < steps && status == WMLC_OK; i++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		wmlc_task_step(&descent.task, descent.rate, descent.w);
	}
	return status == WMLC_OK ? read_coefficients(gram->dims, descent.w, result) : status;
}
