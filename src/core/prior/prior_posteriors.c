/*
 * prior_posteriors.c
 *	  Posteriors of all the tasks that a prior has just been fitted to, under
 *	  that prior or another one.
 *
 * With w = mu + L v, v ~ N(0, I), a compressed task has the responses
 * beta = R (mu + L v) plus noise, all in internal units, and so
 *
 *	  M = I + Y'Y,	 Y = R L / sd,	 E v = M^-1 Y' (beta - R mu) / sd,	 cov v = M^-1.
 *
 * Only mu and L have to be known in internal units; the way back is theirs in
 * the caller's.  posterior.c does the same for one task, from its sums.
 */
#include "core/prior/prior_lanes.h"

/* The prior in internal units. */
typedef struct Inner
{
	int			columns;		/* of the factor; those behind are zero */
	double	   *spread;			/* L / sd, r x columns by rows, with room for a tile */
	double	   *mean;			/* r */
	double		inverse_sd;
} Inner;

/* internal coefficients of caller's ones, into out */
static void
to_internal(const WmlcReduced *reduced, const double *unit, const double *w, double factor,
			double *out, size_t step)
{
	int			r = reduced->rank;

	for (int i = 0; i < r; i++)
		out[i * step] = 0.0;
	for (int k = 0; k < reduced->dims; k++)
		for (int i = 0; i < r; i++)
			out[i * step] += factor * w[k] / unit[k] * reduced->loadings[i + (size_t) k * r];
}

static void
set_inner(const WmlcReduced *reduced, const WmlcPrior *prior, double *shifted, Inner *inner)
{
	int			d = reduced->dims;
	const double *unit = reduced->scale;	/* of features, in those of the response */
	double		response = reduced->response_unit > 0.0 ? reduced->response_unit : 1.0;
	double		sd = sqrt(prior->noise) * reduced->scale[d];

	inner->columns = 0;
	for (int k = 0; k < d; k++)
		for (int i = k; i < d; i++)
			if (prior->factor[i + (size_t) k * d] != 0.0)
				inner->columns = k + 1;
	inner->inverse_sd = response / sd;
	memcpy(shifted, prior->mean, d * sizeof(double));
	for (int i = 0; i < reduced->rank; i++)
		shifted[reduced->kept[i]] -= reduced->center[i] * unit[reduced->kept[i]];
	to_internal(reduced, unit, shifted, 1.0 / response, inner->mean, 1);
	for (int k = 0; k < inner->columns; k++)
		to_internal(reduced, unit, prior->factor + (size_t) k * d, 1.0 / sd, inner->spread + k,
					inner->columns);
}

/* M's factor G (lower, its diagonal inverted) and G^-1 Y' (beta - R mu) / sd to `score` */
ALWAYS_INLINE void
solve_block(WmlcSweep *sweep, const WmlcLanes *task, const Inner *inner)
{
	int			r = sweep->reduced->rank;
	int			h = sweep->reduced->height;
	int			m = inner->columns;
	const WmlcLanes *beta = task + wmlc_triangle_size(r);
	WmlcLanes  *y = sweep->spread;
	WmlcLanes  *factor = sweep->factor;
	WmlcLanes  *residual = sweep->white;

	multiply(sweep, h, h, m, r, task, 0, inner->spread, y);
	for (int i = 0; i < h; i++)
	{
		const WmlcLanes *row = task + wmlc_triangle_index(r, i, i) - i;

		residual[i] = beta[i];
		for (int j = i; j < r; j++)
			residual[i] -= row[j] * inner->mean[j];
		residual[i] *= inner->inverse_sd;
	}
	for (int k = 0; k < m; k++)
	{
		WmlcLanes	sum = {0.0};

		listen(sweep, k, m);
		for (int i = 0; i < h; i++)
			sum += y[(size_t) i * m + k] * residual[i];
		for (int l = 0; l <= k; l++)
		{
			WmlcLanes	entry = {0.0};

			for (int i = 0; i < h; i++)
				entry += y[(size_t) i * m + k] * y[(size_t) i * m + l];
			if (l == k)
				entry += 1.0;
			for (int i = 0; i < l; i++)
				entry -= factor[(size_t) k * m + i] * factor[(size_t) l * m + i];
			factor[(size_t) k * m + l] = l < k ? entry * factor[(size_t) l * m + l]
				: 1.0 / lanes_sqrt(entry);
			if (l < k)
				sum -= factor[(size_t) k * m + l] * sweep->score[l];
		}
		sweep->score[k] = sum * factor[(size_t) k * m + k];
	}
}

/* L G^-T in the caller's units, d x m by rows, to `response`: L L' = S, and so S after the rows */
ALWAYS_INLINE void
spread_block(WmlcSweep *sweep, const WmlcPrior *prior, int m)
{
	int			d = prior->dims;
	const WmlcLanes *factor = sweep->factor;

	for (int i = 0; i < d; i++)
	{
		WmlcLanes  *row = sweep->response + (size_t) i * m;

		listen(sweep, i, m);
		for (int k = 0; k < m; k++)
		{
			WmlcLanes	entry = {0.0};

			if (k <= i)
				entry += prior->factor[i + (size_t) k * d];
			for (int l = 0; l < k; l++)
				entry -= factor[(size_t) k * m + l] * row[l];
			row[k] = entry * factor[(size_t) k * m + k];
		}
	}
}

/* One lane's coefficients and covariance. */
static void
write_lane(const WmlcSweep *sweep, const WmlcPrior *prior, int m, int lane, double *coef,
		   double *covariance)
{
	int			d = prior->dims;
	const WmlcLanes *rows = sweep->response;

	for (int i = 0; i < d; i++)
	{
		coef[i] = prior->mean[i];
		for (int k = 0; k < m; k++)
			coef[i] += rows[(size_t) i * m + k][lane] * sweep->score[k][lane];
		for (int j = 0; j <= i && covariance != NULL; j++)
		{
			double		sum = 0.0;

			for (int k = 0; k < m; k++)
				sum += rows[(size_t) i * m + k][lane] * rows[(size_t) j * m + k][lane];
			covariance[i + (size_t) j * d] = covariance[j + (size_t) i * d] = sum;
		}
	}
}

ALWAYS_INLINE void
posterior_block_body(WmlcSweep *sweep, const WmlcPrior *prior, const WmlcLanes *task,
					 const Inner *inner)
{
	solve_block(sweep, task, inner);
	spread_block(sweep, prior, inner->columns);
}

LANES_FUNCTION(posterior_block,
			   (WmlcSweep *sweep, const WmlcPrior *prior, const WmlcLanes *task, const Inner *inner),
			   (sweep, prior, task, inner))

/* A task that took no part has the prior for its posterior. */
static void
write_prior(const WmlcPrior *prior, double *coef, double *covariance)
{
	memcpy(coef, prior->mean, prior->dims * sizeof(double));
	if (covariance != NULL)
		(void) wmlc_prior_covariance(prior, covariance, NULL);
}

WmlcStatus
wmlc_fit_posteriors(WmlcPriorFit *fit, const WmlcPriorWeights *weights, const WmlcPrior *prior,
					size_t count, double *coef, double *covariance)
{
	const WmlcReduced *reduced = &fit->reduced;
	size_t		d = reduced->dims;
	Inner		inner = {.spread = fit->phi, .mean = fit->pull};
	size_t		slot = 0;

	set_inner(reduced, prior, fit->scratch, &inner);
	for (size_t j = 0; j < count; j++)
	{
		double	   *own = covariance == NULL ? NULL : covariance + j * d * d;
		size_t		block = slot / WMLC_PRIOR_LANES;

		if (weights->alpha[j] == 0.0)
		{
			write_prior(prior, coef + j * d, own);
			continue;
		}
		if (block % WMLC_PRIOR_BATCH_BLOCKS == 0 && wmlc_interrupted(fit->sweep.poll))
			return WMLC_INTERRUPTED;
		if (slot % WMLC_PRIOR_LANES == 0)
			posterior_block(&fit->sweep, prior,
							reduced->tasks + block * wmlc_reduced_stride(reduced->rank), &inner);
		if (fit->sweep.interrupted)
			return WMLC_INTERRUPTED;
		write_lane(&fit->sweep, prior, inner.columns, slot++ % WMLC_PRIOR_LANES, coef + j * d,
				   own);
	}
	for (size_t i = 0; i < count * d; i++)
		if (!isfinite(coef[i]))
			return WMLC_NOT_FINITE;
	return WMLC_OK;
}
