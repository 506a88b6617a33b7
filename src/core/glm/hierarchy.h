/*
 * hierarchy.h
 *	  The hierarchical generalised linear model: coefficients of tasks from a
 *	  common normal distribution, w_j ~ N(mu, S), responses of some family.
 *
 * Given every task's working gram the model is the linear one of prior.h with
 * noise 1, and given mu and S every task has a posterior, at which the next
 * working gram is taken.  Both in turn until nothing changes:
 *
 *	- with working grams at the posteriors' means alone this is penalised
 *	  quasi-likelihood (Breslow, Clayton 1993), whose spread is too small where
 *	  tasks have a few yes-or-no rows each;
 *	- with working grams over the posteriors (working.h) it is expectation
 *	  propagation for the tasks' coefficients, and maximum likelihood for mu and S
 *	  under the evidence that it finds.
 *
 * The rows themselves are the business of a callback, so that they may be in
 * memory or read anew in each iteration.
 */
#ifndef WMLC_HIERARCHY_H
#define WMLC_HIERARCHY_H

#include "core/glm/working.h"
#include "core/prior/prior.h"

typedef struct WmlcHierarchy WmlcHierarchy;

/* Told after every iteration how far the prior moved, in its own units. */
typedef void (*WmlcHierarchyTrace) (void *arg, int iteration, double change);

/*
 * Fill in the tasks' working grams (moments, rows) and log_scale, at coef and
 * covariance, or at no coefficients yet when hierarchy->started is false.
 */
typedef WmlcStatus (*WmlcCollect) (void *arg, WmlcHierarchy *hierarchy);

typedef struct WmlcHierarchyOptions
{
	WmlcPriorOptions prior;		/* the noise is fixed here */
	const double *alpha;		/* weights of tasks, or NULL */
	double		temper;
	bool		points;			/* penalised quasi-likelihood */
	bool		corrected;		/* beyond expectation propagation: see hierarchy_correct.h */
	double		tolerance;		/* 0: WMLC_HIERARCHY_TOLERANCE */
	int			max_iterations; /* 0: WMLC_HIERARCHY_ITERATIONS */
	WmlcHierarchyTrace trace;	/* or NULL */
	void	   *trace_arg;
	WmlcCollect collect;
	void	   *collect_arg;
} WmlcHierarchyOptions;

/* Change of the prior, in units of its spread and error, at which the iteration ends. */
#define WMLC_HIERARCHY_TOLERANCE 1e-3
#define WMLC_HIERARCHY_ITERATIONS 50

struct WmlcHierarchy
{
	WmlcLikelihood likelihood;
	bool		find_dispersion;	/* the callback is to estimate it */
	int			dims;
	size_t		tasks;
	bool		started;
	bool		correct;		/* so near the end that grams are to be corrected */
	bool		careful;		/* it does not settle by itself: take no steps from the last pass */
	const double *alpha;		/* what tasks count, their sum the effective number; or NULL */
	const WmlcPrior *used;		/* what coef and covariance are posteriors under */
	double	   *coef;			/* d per task */
	double	   *covariance;		/* d x d per task, or NULL for points */

	/* From the callback; triangles as in prior.h. */
	double	   *moments;
	double	   *moments_lo;
	double	   *rows;
	double		log_scale;
	double		dispersion_change;	/* of its logarithm, where it matters */
	double		last_log_dispersion;	/* before the last one, NAN at first, */
	double		last_dispersion_move;	/* and from there to what was best then */

	/* How it went. */
	int			iterations;
	double		change;
	bool		converged;
};

extern size_t wmlc_hierarchy_workspace(int dims, size_t tasks,
									   const WmlcHierarchyOptions *options);

/*
 * Fit the prior, whose arrays the caller has set.  hierarchy->likelihood and
 * find_dispersion are the caller's too; the rest is set up in `work`.  prior->loglik
 * is the evidence of all tasks, up to the constants of the responses.
 */
extern WmlcStatus wmlc_hierarchy_fit(WmlcHierarchy *hierarchy, int dims, size_t tasks,
									 const WmlcHierarchyOptions *options, WmlcPrior *prior,
									 void *work);

/* The working grams as tasks of the linear model. */
extern WmlcPriorTasks wmlc_hierarchy_tasks(const WmlcHierarchy *hierarchy,
										   const WmlcHierarchyOptions *options);

/* Rows in memory, those of a task side by side. */
typedef struct WmlcHierarchyRows
{
	WmlcGlmRows rows;
	const int64_t *start;		/* task j: rows start[j] up to start[j + 1] */
	void	   *work;			/* wmlc_hierarchy_rows_workspace */
	WmlcPoll	poll;
} WmlcHierarchyRows;

extern size_t wmlc_hierarchy_rows_workspace(int dims, size_t count, size_t tasks);

/* The callback for them. */
extern WmlcStatus wmlc_hierarchy_collect_rows(void *arg, WmlcHierarchy *hierarchy);

/*
 * The working gram of one task under a given prior, of the family it says: at
 * the posterior that the gram itself leads to.  *converged tells whether it
 * came so far.  Features of 1e77 and beyond are WMLC_NOT_FINITE.
 */
extern size_t wmlc_target_gram_workspace(int dims);
extern WmlcStatus wmlc_target_gram(const WmlcPrior *prior, const WmlcGlmRows *rows, bool points,
								   WmlcGram *gram, bool *converged, void *work, WmlcPoll poll);

#endif							/* WMLC_HIERARCHY_H */
