/*
 * minimize_bound.h
 *	  Direct optimisation of the bound over weights and coefficients together
 *	  (Cai, Sheth, Mackey, Fusi, "Weighted Meta-Learning", 2020, appendix):
 *
 *		minimise	F(alpha, w) = sum_j alpha_j risk_j(w) + ball * gamma(alpha)
 *		subject to	alpha on the simplex, |w| <= radius
 *
 * or, as the looser variant, with sum_j alpha_j gamma_j for gamma(alpha).
 *
 * The looser one is linear in alpha, so one source takes all the weight, and
 * its best w is a quadratic (or linear) problem over a ball: exact.
 *
 * The joint one is convex in alpha and convex in w, though not in both.  From a
 * start, the two take turns at being minimised exactly, so that F never grows.
 * The end is certified: w minimises F given alpha, and no weights do better
 * than alpha by more than `gap` given w.  Since F minimised over w is smooth in
 * alpha but for gamma, that makes it a stationary point.  It need not be the
 * global minimum, hence several starts, of which the best is kept.
 */
#ifndef WMLC_MINIMIZE_BOUND_H
#define WMLC_MINIMIZE_BOUND_H

#include "core/weights/embedding.h"
#include "core/gram/gram.h"

/* Descent ends when weights cannot do better by more than this share of F. */
#define WMLC_BOUND_GAP 1e-10

typedef struct WmlcBoundProblem
{
	WmlcLoss	loss;
	double		radius;
	const WmlcGram *target;
	const WmlcGram *const *sources;	/* of the target's dims, all of them finite */
	size_t		count;			/* at least 1 */
} WmlcBoundProblem;

typedef struct WmlcBoundMinimum
{
	double		objective;		/* F */
	double		source_risk;	/* sum_j alpha_j risk_j(w) */
	double		distance;		/* gamma(alpha), or sum_j alpha_j gamma_j */
	double		gap;			/* F minus a lower bound of F(., w); see above */
	double		residual;		/* how far a projected gradient step moves w */
	int			steps;			/* turns taken from the start that won */
} WmlcBoundMinimum;

extern size_t wmlc_minimize_bound_workspace(const WmlcBoundProblem *problem);

/* The looser variant. */
extern WmlcStatus wmlc_minimize_weighted(const WmlcBoundProblem *problem, double *alpha, double *w,
										 WmlcBoundMinimum *minimum, void *work, WmlcPoll poll);

/*
 * The joint variant, at most so many turns from each start: the mixture closest
 * to the target, equal weights, and the single sources (at most `starts` of
 * them) with the lowest F.
 */
extern WmlcStatus wmlc_minimize_joint(const WmlcBoundProblem *problem, int starts, int steps,
									  double *alpha, double *w, WmlcBoundMinimum *minimum,
									  void *work, WmlcPoll poll);

/* The joint variant from the start that alpha gives. */
extern WmlcStatus wmlc_descend_bound(const WmlcBoundProblem *problem, int steps, double *alpha,
									 double *w, WmlcBoundMinimum *minimum, void *work,
									 WmlcPoll poll);

#endif							/* WMLC_MINIMIZE_BOUND_H */
