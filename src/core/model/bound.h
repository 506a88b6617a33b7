/*
 * bound.h
 *	  Bounds of the target's risk by the weighted risk of the sources, from
 *	  grams alone (Cai, Sheth, Mackey, Fusi, "Weighted Meta-Learning", 2020).
 *
 * The risk of coefficients w on a task is half the mean squared error for
 * square loss and 1 - w.b for hinge loss.  For all |w| <= radius the losses lie
 * in a ball of the kernel's space, and with probability 1 - epsilon over the
 * target's n rows
 *
 *	  risk of w on the target's distribution <= sum_j alpha_j risk_j(w)
 *		  + ball * gamma(alpha) + 2 R + 3 range sqrt(log(2 / epsilon) / (2 n))
 *
 * for all these w and all alpha at once: the kernel distance bounds what the
 * target's rows can differ from the sources' mixture, whatever w and alpha;
 * the rest is the uniform deviation of the target's rows from their
 * distribution, R their empirical Rademacher complexity.  The corollary has
 * sum_j alpha_j gamma_j, which is larger, in place of gamma(alpha).
 */
#ifndef WMLC_BOUND_H
#define WMLC_BOUND_H

#include "core/weights/embedding.h"
#include "core/gram/gram.h"

/*
 * Largest norm of a loss with |w| <= radius in the kernel's space.  Square:
 * half of (y - w.psi)^2 is half of <v v', z z'> with v = (w, -1).  Hinge:
 * 1 - y w.psi is <(-w, 1), (y psi, 1)>.
 */
extern double wmlc_loss_ball(WmlcLoss loss, double radius);

/* The risk of w on a task. */
extern double wmlc_risk(const WmlcGram *gram, WmlcLoss loss, const double *w);

/*
 * Upper bound of the empirical Rademacher complexity of the kernel's unit ball
 * on n rows of equal weight: sqrt(sum of k(z, z)) / n.  NaN where a change of
 * basis has lost that sum.
 */
extern double wmlc_rademacher(const WmlcGram *target, WmlcLoss loss);

/* 3 range sqrt(log(2 / epsilon) / (2 n)) */
extern double wmlc_deviation(double range, double epsilon, double rows);

#endif							/* WMLC_BOUND_H */
