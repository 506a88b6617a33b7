/*
 * compare_choice.h
 *	  Which method to trust, from few rows of the target and from rehearsals.
 *
 * The least error in cross-validation is mostly luck when a hundred methods
 * compete for ten rows.  But a method's error on other tasks tells much about
 * its error on this one, and other tasks there are plenty: in a rehearsal, a
 * source plays the target.  The choice rests on both, in proportion to what they
 * know, and each counts only as far as it goes beyond chance in the difference to
 * what is simple and mostly good: all sources alike, or a prior.  Where the target
 * turns out to be unlike any source, only its own rows count.
 */
#ifndef WMLC_COMPARE_CHOICE_H
#define WMLC_COMPARE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/gram/gram.h"

/* Mean squared errors of all methods in some trials. */
typedef struct WmlcErrors
{
	size_t		trials;
	double		size;			/* rows in all folds, or 0: the rehearsals alone decide; different
								 * sources in the rehearsals */
	const double *errors;		/* trials x methods; infinite where a method failed */
	const double *shares;		/* of the folds in their sum; rehearsals have none */
	const double *responses;	/* mean square of each trial's response */
	const double *likeness;		/* of the rehearsals: what each says of this target; NULL: all the same */
	double		immaterial;		/* squared errors below this count alike; 0 for folds */
	bool		made_up;		/* of rehearsals: their rows are drawn, and they judge exactly */
} WmlcErrors;

typedef struct WmlcVerdict
{
	double		rmse;			/* over the folds */
	double		spread;			/* its standard error */
	double		rehearsal;		/* RMSE relative to the baseline, geometric mean */
	double		score;			/* the least is the best */
} WmlcVerdict;

/* In which order methods may replace each other: each must beat the best of those above. */
typedef enum WmlcStanding
{
	WMLC_INCUMBENT,				/* few methods that fit most families of tasks */
	WMLC_CANDIDATE,
	WMLC_REFINEMENT,			/* a variant of candidates, next to them */
	WMLC_BARRED					/* not to be chosen */
} WmlcStanding;

/*
 * The errors of rehearsals.  Below a small share of the least error in a trial, on
 * average, they count alike: some tasks are too easy, such as a product that nobody
 * buys, and a method that hits their zeros is not a thousand times better for it.
 * Rehearsals are made here only, so that nobody forgets that share.
 */
extern WmlcErrors wmlc_rehearsal_errors(int method_count, size_t trials, double size,
										const double *errors, const double *responses,
										const double *likeness, bool made_up);

/*
 * What a rehearsal says of a target, 1 at the most, from mean squares of the responses that
 * are known of either: small tasks may want another method than large ones.
 */
extern double wmlc_likeness(double response, double other);

/*
 * Judge all methods against a baseline among them, an incumbent.  There are at
 * least two folds, or none; without rehearsals, cross-validation decides alone.
 * The method to choose is returned: the first of those with the least score.
 */
extern int	wmlc_choose(int method_count, int baseline, const WmlcErrors *folds,
						const WmlcErrors *rehearsals, const WmlcStanding *standings,
						WmlcVerdict *verdicts);

/*
 * Who could still win when more rehearsals follow: the incumbents, and the best of
 * those that are not clearly worse than the one chosen, few of them.  Returns how
 * many they are; finalists tells who.
 */
extern int	wmlc_find_finalists(int method_count, int baseline, int chosen,
								const WmlcErrors *rehearsals, const WmlcStanding *standings,
								const WmlcVerdict *verdicts, bool *finalists);

/*
 * How far off methods are on rows that they know, as mean squares, beyond the
 * method that learns from these rows alone.
 */
typedef struct WmlcFits
{
	const double *rehearsed;	/* of the rehearsals, trials x methods */
	const double *target;		/* of the target, one for each method */
	bool	   *misfits;		/* methods that wmlc_bar_misfits found not to suit the target */
} WmlcFits;

/*
 * Bar methods that do not suit the target: on the rows that it knows they err more
 * than in the rehearsals on rows that they did not know, and more than is usual on
 * known ones.  If that is so of all that compete, it tells nothing, and all remain.
 */
extern void wmlc_bar_misfits(int method_count, const WmlcErrors *rehearsals, const WmlcFits *fits,
							 WmlcStanding *standings);

/*
 * Bar methods that stray from the incumbent: their predictions for the target, over
 * the sources' rows, differ by more than the errors that both should have.  Rows
 * that are made up look like all others, and a task is judged by its own: such
 * rehearsals do not show what happens where a rare feature is known from one
 * source alone.  An incumbent that does not suit the target is no measure.
 * coefficients are those for the target, methods x d.
 */
extern void wmlc_bar_strays(int method_count, int baseline, const WmlcErrors *folds,
							const WmlcErrors *rehearsals, const WmlcFits *fits,
							const WmlcGram *pooled_sources, const double *coefficients,
							WmlcStanding *standings);

/*
 * Are the predictions of w over the sources' rows of the same order of magnitude
 * as the responses of sources or target?  A fit to few rows may go through all
 * of them and be absurd elsewhere.
 */
extern bool wmlc_is_plausible(const WmlcGram *pooled_sources, const WmlcGram *target,
							  const double *w);

#endif							/* WMLC_COMPARE_CHOICE_H */
