/*
 * compare.h
 *	  Many ways to learn from the same sources, tried on the same targets.
 *
 * A method is a learner (what is fitted to the sources), a weighting (how much
 * each source counts) and what is then made of the target's own rows.  A trial
 * is a target whose rows are known in part: the method learns from the known
 * ones and is judged by the others.  Folds of cross-validation are such trials,
 * and so are rehearsals, in which a source plays the target (rehearse.h).
 *
 * Everything comes from grams.  What methods and trials have in common is
 * computed once: the weights per trial and weighting, the sources' objectives per
 * learner, a prior for all trials with the same sources.
 */
#ifndef WMLC_COMPARE_H
#define WMLC_COMPARE_H

#include "core/gram/gram.h"
#include "core/base/status.h"
#include "core/model/objective.h"
#include "core/weights/stacked.h"
#include "core/weights/weights.h"

/* What a learner is: an objective (WmlcObjectiveKind), or one of these. */
enum
{
	WMLC_LEARN_PRIOR = WMLC_OBJECTIVES, /* a prior; then the target's posterior mean */
	WMLC_LEARN_STACK,			/* the weighted mean of the sources' shrunken coefficients */
	WMLC_LEARN_SMOOTH,			/* a prior with a smooth part that tasks share */
	WMLC_LEARN_ROBUST			/* a prior whose tasks have their own noise, and some do not belong */
};

extern const WmlcWords wmlc_learner_words;

/*
 * What is fitted to the weighted sources.  With `whiten`, all of it (inner
 * steps, ridge, adaptation) happens in a basis of the features in which their
 * pooled second moment over sources and target is the identity.  A prior does
 * not depend on the basis; it takes all sources alike, whatever the weighting.
 */
typedef struct WmlcLearner
{
	int			kind;
	double		eta;			/* of the inner step and of adaptation */
	double		evenness;		/* of a prior */
	bool		whiten;
} WmlcLearner;

typedef struct WmlcMethod
{
	int			learner;		/* their numbers in the comparison */
	int			weighting;
	double		ridge;

	/*
	 * Joint training lets the target's known rows take part.  The sources
	 * together count as so many rows of the target: infinity leaves the target
	 * out, 0 the sources.  Other learners: infinity.
	 */
	double		source_rows;
	int			adapt_steps;	/* gradient steps on the known rows after the fit; prior: 0 */
} WmlcMethod;

#define WMLC_NO_SOURCE ((size_t) -1)

typedef struct WmlcTrial
{
	const WmlcGram *known;
	const WmlcGram *unknown;	/* or NULL: nobody is judged */
	const WmlcGram *whole;		/* rows that tell the task's true coefficients, or NULL */
	size_t		left_out;		/* a source that takes no part, or WMLC_NO_SOURCE */
} WmlcTrial;

/* Told now and then how far a comparison has come. */
typedef void (*WmlcCompareTrace) (void *arg, size_t done, size_t total);

/*
 * All grams have d features, finite sums and at least one weighted row; there
 * is a source in every trial.  Methods of one learner stand together, and among
 * these those of one weighting, for speed.
 */
typedef struct WmlcComparison
{
	int			d;
	size_t		source_count;
	const WmlcGram *const *sources;

	/*
	 * The rows of each source that correspond to those known of the target:
	 * weights compare these with them, models learn from the sources.  NULL:
	 * all rows of the sources.
	 */
	const WmlcGram *const *windows;
	const WmlcGram *target;		/* all its rows, for the whitened basis */

	/*
	 * Features of a smooth part that tasks share, d of them, or NULL: none.  A prior
	 * without it does not look at them.
	 */
	const bool *smooth;
	int			learner_count;
	const WmlcLearner *learners;
	int			weighting_count;
	const WmlcWeighting *weightings;
	int			method_count;
	const WmlcMethod *methods;
	size_t		trial_count;
	const WmlcTrial *trials;
	WmlcCompareTrace trace;		/* or NULL */
	void	   *trace_arg;
} WmlcComparison;

/* Rehearsals learn from at most so many sources, spread evenly over all. */
#define WMLC_MOST_REHEARSED 2000

/* Does a source take part in a trial? */
static inline bool
wmlc_takes_part(const WmlcComparison *comparison, const WmlcTrial *trial, size_t source)
{
	size_t		count = comparison->source_count;

	if (trial->left_out == WMLC_NO_SOURCE)
		return true;
	if (source == trial->left_out)
		return false;
	return count <= WMLC_MOST_REHEARSED ||
		source * WMLC_MOST_REHEARSED / count != (source + 1) * WMLC_MOST_REHEARSED / count;
}

/* Bytes of workspace. */
extern size_t wmlc_compare_workspace(const WmlcComparison *comparison);

/*
 * Coefficients of every method in every trial, trials x methods x d, in the
 * units of the grams, and mean squared errors on the unknown rows, trials x
 * methods.  A method that cannot be computed in some trial is no reason to stop:
 * its coefficients there are NaN, its error is infinite, and statuses, one for
 * each method, tells why.
 */
extern WmlcStatus wmlc_compare(const WmlcComparison *comparison, double *coefficients,
							   double *errors, WmlcStatus *statuses, void *work, WmlcPoll poll);

/*
 * After that: mean squared errors on the known rows beyond those of the method that
 * learns from them alone, trials x methods from a first trial on; infinite where a
 * method failed.
 */
extern WmlcStatus wmlc_compare_fits(const WmlcComparison *comparison, size_t first_trial, int alone,
									const double *coefficients, double *fits, WmlcPoll poll);

/*
 * After that: the weights of the sources in a trial, which stand in `work`; NaN
 * where they could not be computed.
 */
extern const double *wmlc_compare_alpha(const WmlcComparison *comparison, size_t trial,
										int weighting, void *work);

#endif							/* WMLC_COMPARE_H */
