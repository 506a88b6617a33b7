/*
 * stacked.h
 *	  Stacked weights: the convex combination of the sources' models that errs
 *	  least on the target's rows.
 *
 *	  minimise	mean over the target's rows of (y - psi.w)^2 + ridge |alpha|^2,
 *				w = sum_j alpha_j m_j
 *
 * over the simplex, m_j being the coefficients of source j.  With M the target's
 * second moment of z = (psi, y) and R'R = M, the squared error of w is
 * |R (w, -1)|^2, and since the alpha_j sum to 1, that is |sum_j alpha_j e_j|^2 with
 * the points e_j = R (m_j, -1): the solver is that of mixtures.  Only the target's
 * features count, so sources may have theirs anywhere.
 */
#ifndef WMLC_STACKED_H
#define WMLC_STACKED_H

#include "core/gram/gram.h"
#include "core/base/status.h"
#include "core/weights/weights.h"

/*
 * The rule among the others, for those who know the sources' models: the words
 * are theirs and "stacked".
 */
#define WMLC_STACKED ((WmlcRule) WMLC_RULES)

extern const WmlcWords wmlc_weighting_words;

/* R by rows, in double, which is enough for points. */
typedef struct WmlcStacked
{
	int			d;
	int			rank;			/* rows of R, at most d + 1 */
	double	   *matrix;
	double	   *z;				/* scratch */
} WmlcStacked;

/* Bytes of workspace. */
extern size_t wmlc_stacked_workspace(int d);

/* R of a target; `work` belongs to it from then on. */
extern WmlcStatus wmlc_stacked_create(WmlcStacked *stacked, const WmlcGram *target, void *work,
									  WmlcPoll poll);

/* The point of a model: `rank` numbers. */
extern void wmlc_stacked_point(const WmlcStacked *stacked, const double *coefficients,
							   double *point);

/*
 * The penalty for shrink = 1: what sampling error makes of the target's d
 * coefficients, with noise of variance s2.
 */
extern double wmlc_stacked_variance(const WmlcGram *target, double noise);

#endif							/* WMLC_STACKED_H */
