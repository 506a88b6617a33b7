/*
 * prior.h
 *	  A prior over the coefficients of tasks, learned from the tasks' grams.
 *
 * The random-coefficient model (Laird, Ware 1982; what lme4 writes as
 * y ~ 0 + x + (0 + x | task)):
 *
 *	  w_j ~ N(mu, S),	y = psi.w_j + e,	e ~ N(0, s2)
 *
 * mu, S and s2 are fitted by maximum likelihood or restricted maximum
 * likelihood.  A task enters through the sums G_j = sum z z', z = (psi, y), and
 * its number of rows alone, so no row is ever looked at again.  The posterior
 * of a target is then its few-shot model, with intervals (posterior.h).
 *
 * What the fit promises:
 *	- the objective never gets worse from one iteration to the next;
 *	- S is positive semidefinite by construction; directions in which the tasks
 *	  show no spread get exactly zero, and the rank of S says so;
 *	- a change of units or order of the features changes the answer accordingly
 *	  and nothing else, and so does any change of basis when S is full.
 */
#ifndef WMLC_PRIOR_H
#define WMLC_PRIOR_H

#include <stddef.h>

#include "core/base/status.h"
#include "core/base/words.h"

typedef enum WmlcPriorMethod
{
	WMLC_PRIOR_ML,				/* maximum likelihood */
	WMLC_PRIOR_REML				/* restricted maximum likelihood */
} WmlcPriorMethod;

extern const WmlcWords wmlc_prior_method_words;

typedef enum WmlcPriorCovariance
{
	WMLC_PRIOR_FULL,
	WMLC_PRIOR_DIAGONAL			/* in the caller's features */
} WmlcPriorCovariance;

extern const WmlcWords wmlc_prior_covariance_words;

/*
 * What the responses are.  A prior of another family than the normal one lives
 * on the scale of its linear predictor, with noise 1; who fits it is not here
 * but in the layers above.
 */
typedef enum WmlcFamily
{
	WMLC_GAUSSIAN,
	WMLC_BINOMIAL,
	WMLC_POISSON,
	WMLC_NEGATIVE_BINOMIAL
} WmlcFamily;

#define WMLC_FAMILIES 4

/*
 * The tasks to learn from.  The upper triangle of G_j, row by row, with the
 * response last, stands at moments + j * p (p + 1) / 2, p = dims + 1.
 *
 * Weights alpha_j >= 0 multiply the tasks' log-likelihoods.  They matter up to
 * a factor: they are first mixed with uniform weights,
 * (1 - temper) alpha_j / sum alpha + temper / J, and then scaled so that their
 * sum is the effective number of tasks (sum alpha)^2 / sum alpha^2 (Kish), so
 * that weights 0 and 1 are the same as leaving tasks out.  Tasks without rows
 * are left out in any case.
 */
typedef struct WmlcPriorTasks
{
	int			dims;			/* d */
	size_t		count;			/* J */
	const double *moments;
	const double *moments_lo;	/* low parts of the sums, or NULL */
	const double *rows;			/* n_j, or the sum of the rows' weights */
	const double *alpha;		/* or NULL: all ones */
	double		temper;			/* 0 to 1 */
	const double *descriptors;	/* g_j one after the other, for wmlc_prior_loglik, or NULL */
} WmlcPriorTasks;

/* Told after every iteration; `objective` is the log-likelihood less penalty. */
typedef void (*WmlcPriorTrace) (void *arg, int iteration, double objective);

typedef struct WmlcPriorOptions
{
	WmlcPriorMethod method;
	WmlcPriorCovariance covariance;

	/*
	 * Draw S towards the same spread in all directions, measured by what the
	 * spread does to predictions: subtract evenness / 2 (d log tr T - log |T|)
	 * from the log-likelihood, T being S in the basis in which the tasks' mean
	 * second moment is the identity.  0 is the exact fit.  d is a good choice
	 * for few tasks, where an exact fit takes chance for correlation, and REML
	 * with it: while evenness < J, maximum likelihood leaves directions in which J
	 * tasks happen to agree next to nothing.
	 */
	double		evenness;

	/*
	 * 0: s2 is estimated.  Otherwise it is this number, in the caller's units: 1
	 * for working responses whose rows are weighted by their precision.
	 */
	double		fixed_noise;

	/* Features whose coefficients differ between tasks, d of them, or NULL: all. */
	const bool *random;

	/*
	 * Of the others, those that make up one smooth function shared by all tasks, or
	 * NULL: none.  Their coefficients are drawn towards zero, as if they were normal
	 * about it, and their variance is learned.  REML only; see prior_smooth.c.
	 */
	const bool *smooth;

	/*
	 * Robust fits, in which tasks have a noise each, learned from their own rows
	 * and from the distribution of noises over tasks; and Student's t instead of the
	 * normal distribution of coefficients, its degrees of freedom given or (0) learned,
	 * so that tasks that do not belong count little.  See prior_tasks.c.
	 */
	bool		own_noise;
	bool		student;
	double		spread_degrees;

	/* Expected gain in twice the log-likelihood at which the iteration ends; 0: WMLC_PRIOR_TOLERANCE. */
	double		tolerance;

	/*
	 * A prior that the one to be found is near, whose factor is where the iteration
	 * starts; or NULL.  If it is close, too, second derivatives are taken as they are from
	 * the first step on.
	 */
	const struct WmlcPrior *near;
	bool		close;
	int			max_iterations; /* 0: WMLC_PRIOR_ITERATIONS */
	WmlcPoll	poll;
	WmlcPriorTrace trace;		/* or NULL */
	void	   *trace_arg;
} WmlcPriorOptions;

/* Fits take 5 to 20 iterations; more than this means something is wrong. */
#define WMLC_PRIOR_ITERATIONS 200
#define WMLC_PRIOR_TOLERANCE 1e-9

/*
 * A learned prior.  Matrices are d x d by columns.  A singular S is stored
 * exactly through its factor; mu and S are of least norm, in standardised
 * units, where collinear features leave a choice.
 */
typedef struct WmlcPrior
{
	int			dims;
	double	   *mean;			/* mu */
	double	   *factor;			/* lower triangular L, S = L L' */
	double	   *mean_factor;	/* lower triangular K, K K' being the sampling covariance of all means */
	double		noise;			/* s2 */

	/*
	 * If positive, each task has a noise of its own, and 1 / s2_j has a gamma
	 * distribution of this shape and mean 1 / noise.
	 */
	double		noise_shape;
	double		noise_power;	/* and S is that of noise, and goes with this power of s2_j */
	double		noise_limit;	/* and a task with a larger s2_j does not belong: see belong.h */
	double		spread_degrees; /* if positive, w_j has Student's t, S its scale */
	double		dispersion;		/* of the family, where it has one */
	WmlcFamily	family;
	int			descriptors;	/* g >= 1: mu_j = Gamma g_j, mean is d x g by columns */
	double		smooth_sd;		/* how large the shared smooth part is, 0 if there is none */
	double		smooth_degrees; /* and how many coefficients it is worth */
	double		parameters;		/* that were fitted, for information criteria */
	double		tasks;			/* tasks with rows and a positive weight */
	double		effective_tasks;
	double		rows;			/* weighted sum of the tasks' rows */
	bool		restricted;		/* fitted by REML */
	double		evenness;		/* of the fit */
	double		unevenness;		/* squared coefficient of variation of T's eigenvalues in its basis */
	double		noise_degrees;	/* of freedom: rows less what mu and the w_j use up */
	double		loglik;			/* restricted log-likelihood under REML */
	int			iterations;
	int			rank;			/* of S */
	int			design_rank;	/* of the pooled features: how many are independent */
	double		outlying;		/* tasks too far from the others for normal coefficients; 0 with a fixed noise */
	double		dominance;		/* share of one task in the spread, if it is no chance, else 0 */
	bool		converged;
	bool		singular;		/* rank < dims: the optimum is on the boundary */

	/*
	 * The model can follow the responses exactly, so the likelihood has no
	 * maximum; the noise stays at a floor far below the response's variance.
	 */
	bool		saturated;
} WmlcPrior;

/* The sampling covariance of two means, of which descriptors times dims are counted. */
static inline double
wmlc_mean_covariance(const WmlcPrior *prior, size_t i, size_t j)
{
	size_t		means = (size_t) prior->dims * (prior->descriptors > 1 ? prior->descriptors : 1);
	double		sum = 0.0;

	for (size_t k = 0; k <= (i < j ? i : j); k++)
		sum += prior->mean_factor[i + k * means] * prior->mean_factor[j + k * means];
	return sum;
}

/*
 * Bytes of workspace of the functions below.  The fit keeps one triangle of
 * doubles per task; beside it a full S takes a little more than 6 d^4 bytes (REML
 * 8 d^4), which is what limits d: 51 MB for 50 features, 0.7 GB for 100.
 */
extern size_t wmlc_prior_fit_workspace(int dims, size_t count, const WmlcPriorOptions *options);
extern size_t wmlc_prior_loglik_workspace(int dims, size_t count);

/*
 * Fit.  The caller sets prior->mean (d numbers), factor and mean_factor
 * (d x d each).  Without a row of positive weight to learn from, tasks is 0 and
 * so is everything else.  NaN and infinities are WMLC_NOT_FINITE; a negative
 * n_j or alpha_j is WMLC_OUT_OF_RANGE, moments that no rows can have are
 * WMLC_NOT_POSITIVE.
 * An iteration that ran out of steps is WMLC_OK with converged = false: the
 * prior is usable, only not the best.
 */
extern WmlcStatus wmlc_prior_fit(const WmlcPriorTasks *tasks, const WmlcPriorOptions *options,
								 WmlcPrior *prior, void *work);

/*
 * After that, with the same workspace: the coefficients' posterior means (d per
 * task) and, unless NULL, covariances (d x d) of these tasks under a prior with
 * noise, the one just found or another.  Tasks without rows or weight have the prior's.
 * The fit was none with noises or scales of tasks.
 */
extern WmlcStatus wmlc_prior_posteriors(const WmlcPrior *prior, double *coef, double *covariance,
										void *work);

/*
 * Likewise after the fit, where the tasks' responses are working responses that
 * were found along with mu and S: widen mean_factor of the prior found by what
 * the two have to do with each other.  With fewer than 50 tasks, or three for each
 * parameter, it is left alone.
 */
extern size_t wmlc_prior_widen_workspace(int dims, const WmlcPriorOptions *options);
extern WmlcStatus wmlc_prior_widen(WmlcPrior *prior, void *work, void *more_work);

/*
 * Why the numbers are no prior's, or NULL when they are; nothing but dims and
 * descriptors is trusted.
 */
extern const char *wmlc_prior_problem(const WmlcPrior *prior);

/*
 * Is a fit with more parameters worth them, by Akaike's criterion?  Of the same tasks and features, by the
 * same method.
 */
extern bool wmlc_prior_is_worth(const WmlcPrior *larger, const WmlcPrior *smaller);

/* S = L L' */
extern WmlcStatus wmlc_prior_covariance(const WmlcPrior *prior, double *covariance, WmlcPoll poll);

/*
 * The weighted log-likelihood of tasks under a given prior, weights as in the
 * fit.  Without noise it is infinite, positive if the prior explains the responses
 * exactly.
 */
extern WmlcStatus wmlc_prior_loglik(const WmlcPrior *prior, const WmlcPriorTasks *tasks,
									WmlcPoll poll, double *loglik, void *work);

#endif							/* WMLC_PRIOR_H */
