/*
 * prior_point.c
 *	  Points that the iteration passes: Lambda, and the best mu and s2 for it.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/prior/prior_internal.h"

void
wmlc_point_layout(WmlcPriorPoint *point, size_t d, WmlcArena *arena)
{
	point->lambda = wmlc_arena_doubles(arena, d * d + WMLC_PRIOR_TILE);
	point->feature = wmlc_arena_take(arena, d, sizeof(int));
	point->mean = wmlc_arena_doubles(arena, d);
	point->precision = wmlc_arena_doubles(arena, d * d);
	point->precision_factor = wmlc_arena_doubles(arena, d * d);
}

WmlcStatus
wmlc_point_evaluate(WmlcPriorFit *fit, WmlcPriorPoint *point)
{
	const WmlcReduced *reduced = &fit->reduced;
	int			r = reduced->rank;
	int			stride = r > 0 ? r : 1;
	double		log_det,
				squares,
				rss,
				objective;
	WmlcStatus	status = wmlc_sweep_value(&fit->sweep, point, fit->pull, &log_det, &squares);

	if (status != WMLC_OK)
		return status;
	if (fit->smooth.count > 0)
		wmlc_smooth_add(&fit->smooth, reduced, point, fit->pull, &squares);
	point->objective = INFINITY;
	memcpy(point->precision_factor, point->precision, (size_t) r * r * sizeof(double));
	if (r > 0 && LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, point->precision_factor, r) != 0)
		return WMLC_OK;
	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, point->precision_factor,
				stride, fit->pull, 1);
	rss = reduced->within + fmax(squares - cblas_ddot(r, fit->pull, 1, fit->pull, 1), 0.0);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, point->precision_factor,
				stride, fit->pull, 1);
	cblas_daxpy(r, 1.0, fit->pull, 1, point->mean, 1);

	point->noise = reduced->fixed_noise > 0.0 ? reduced->fixed_noise
		: fmax(rss / fit->degrees, reduced->floor);
	objective = log_det + fit->degrees * log(2.0 * M_PI * point->noise) + rss / point->noise;
	if (fit->options->method == WMLC_PRIOR_REML)
		for (int i = 0; i < r; i++)
			objective += 2.0 * log(point->precision_factor[i + (size_t) i * r]);
	if (fit->smooth.count > 0)
		objective -= fit->smooth.count * log(fit->smooth.penalty);
	objective += wmlc_model_penalty(&fit->model, reduced, point, fit->options->evenness);
	if (isfinite(objective))
		point->objective = objective;
	return WMLC_OK;
}

void
wmlc_points_swap(WmlcPriorFit *fit)
{
	WmlcPriorPoint point = fit->current;

	fit->current = fit->trial;
	fit->trial = point;
}

void
wmlc_point_copy(const WmlcPriorFit *fit, const WmlcPriorPoint *from, WmlcPriorPoint *to)
{
	size_t		r = fit->reduced.rank;

	to->directions = from->directions;
	to->noise = from->noise;
	to->objective = from->objective;
	memcpy(to->feature, from->feature, from->directions * sizeof(int));
	memcpy(to->lambda, from->lambda, r * from->directions * sizeof(double));
	memcpy(to->mean, from->mean, r * sizeof(double));
	memcpy(to->precision, from->precision, r * r * sizeof(double));
	memcpy(to->precision_factor, from->precision_factor, r * r * sizeof(double));
}

void
wmlc_point_start(WmlcPriorFit *fit)
{
	const WmlcReduced *reduced = &fit->reduced;
	WmlcPriorPoint *point = &fit->current;
	int			r = reduced->rank;
	int			d = reduced->dims;
	int			m = 0;

	memset(point->mean, 0, r * sizeof(double));
	memset(point->lambda, 0, ((size_t) d * d + WMLC_PRIOR_TILE) * sizeof(double));
	point->directions = fit->options->covariance == WMLC_PRIOR_FULL ? reduced->height : 0;
	for (int k = 0; k < point->directions; k++)
	{
		point->lambda[k + (size_t) k * point->directions] = 1.0;
		point->feature[k] = k;
	}
	if (fit->options->covariance == WMLC_PRIOR_FULL)
		return;

	/* One column for each feature that is not zero throughout. */
	for (int k = 0; k < fit->feature_count; k++)
		point->directions +=
			cblas_dasum(r, reduced->loadings + (size_t) fit->features[k] * r, 1) > 0.0;
	for (int k = 0; k < fit->feature_count; k++)
	{
		const double *loading = reduced->loadings + (size_t) fit->features[k] * r;
		double		norm = cblas_dnrm2(r, loading, 1);

		if (norm == 0.0)
			continue;
		for (int i = 0; i < r; i++)
			point->lambda[(size_t) i * point->directions + m] = loading[i] / norm;
		point->feature[m++] = k;
	}
}

void
wmlc_point_start_near(WmlcPriorFit *fit, const WmlcPrior *near)
{
	const WmlcReduced *reduced = &fit->reduced;
	WmlcPriorPoint *point = &fit->current;
	int			r = reduced->rank;
	int			d = reduced->dims;
	bool		full = fit->options->covariance == WMLC_PRIOR_FULL;
	double		sd = reduced->response_unit * sqrt(reduced->fixed_noise);

	if (full)
		point->directions = d;
	for (int m = 0; m < point->directions; m++)
	{
		int			column = full ? m : fit->features[point->feature[m]];

		for (int i = 0; i < r; i++)
			point->lambda[(size_t) i * point->directions + m] = 0.0;
		for (int k = column; k < d; k++)
		{
			double		entry = near->factor[k + (size_t) column * d] / sd
				* reduced->scale[d] / reduced->scale[k];

			for (int i = 0; i < reduced->height && (full || k == column); i++)
				point->lambda[(size_t) i * point->directions + m] += entry
					* reduced->loadings[i + (size_t) k * r];
		}
	}
}
