/*
 * prior_loglik.c
 *	  The likelihood of tasks under a given prior.
 *
 * A task's responses have covariance s2 V, V = I + R S R' / s2, and with the
 * posterior of its coefficients at hand
 *
 *	  log |V| = log |M|,		e'V^-1 e = |e - X m|^2 / s2 + (m - mu)'S^-1(m - mu)
 *
 * in the notation of posterior.h.  Where tasks have noises and scales of their
 * own, these are at their best values and integrated out by Laplace's method.
 */
#include "core/prior/posterior.h"
#include "core/prior/prior_internal.h"

/* Responses that the prior's mean leaves this share of are explained exactly. */
#define EXACT 1e-18

size_t
wmlc_prior_loglik_workspace(int dims, size_t count)
{
	WmlcArena	arena = {NULL, 0};

	(void) wmlc_arena_doubles(&arena, count);
	return arena.used + wmlc_posterior_workspace(dims);
}

/* Without noise there is no density: it is infinite, or there is none at all. */
static double
exact_loglik(const WmlcPosterior *posterior, double squares)
{
	return posterior->residual_squares <= EXACT * squares ? INFINITY : -INFINITY;
}

WmlcStatus
wmlc_prior_loglik(const WmlcPrior *prior, const WmlcPriorTasks *tasks, WmlcPoll poll,
				  double *loglik, void *work)
{
	WmlcArena	arena = {work, 0};
	WmlcPriorWeights weights = {.alpha = wmlc_arena_doubles(&arena, tasks->count)};
	void	   *posterior_work = arena.base + arena.used;
	int			d = prior->dims;
	size_t		size = wmlc_triangle_size(d + 1);
	WmlcDd		total = wmlc_dd(0.0);
	WmlcStatus	status;

	if (tasks->dims != d)
		return WMLC_DIMENSION_MISMATCH;
	status = wmlc_prior_weigh(tasks, &weights);
	if (status != WMLC_OK)
		return status;
	for (size_t j = 0; j < tasks->count; j++)
	{
		const double *moments = tasks->moments + j * size;
		WmlcTarget	target = {
			.moments = moments,
			.moments_lo = tasks->moments_lo == NULL ? NULL : tasks->moments_lo + j * size,
			.rows = tasks->rows[j],
			.poll = poll,
			.mean_only = true,
			.descriptor = tasks->descriptors == NULL ? NULL
			: tasks->descriptors + j * prior->descriptors
		};
		WmlcPosterior posterior;

		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (weights.alpha[j] == 0.0)
			continue;
		status = wmlc_posterior_of(prior, &target, &posterior, posterior_work);
		if (status != WMLC_OK)
			return status;
		if (!(prior->noise > 0.0))
		{
			*loglik = exact_loglik(&posterior, moments[size - 1]);
			if (*loglik < 0.0)
				return WMLC_OK;
			continue;
		}
		total = wmlc_dd_add(total, wmlc_two_prod(weights.alpha[j],
												 wmlc_posterior_loglik(&posterior, tasks->rows[j])));
	}
	if (prior->noise > 0.0)
		*loglik = wmlc_dd_value(total);
	return isfinite(*loglik) || prior->noise == 0.0 ? WMLC_OK : WMLC_NOT_FINITE;
}

bool
wmlc_prior_is_worth(const WmlcPrior *larger, const WmlcPrior *smaller)
{
	/* what is explained exactly has no likelihood to compare */
	return larger->noise > 0.0 && smaller->noise > 0.0 && !smaller->saturated &&
		larger->loglik - smaller->loglik > larger->parameters - smaller->parameters;
}
