/*
 * hinge.h
 *	  Linear classifiers under the hinge loss, from grams alone.
 *
 * While |psi| <= 1, |y| <= 1 and |w| <= radius with radius |psi| |y| <= 1, no
 * margin y w.psi exceeds 1, and the hinge loss max(0, 1 - y w.psi) is the
 * linear function 1 - y w.psi (Cai, Sheth, Mackey, Fusi, "Weighted
 * Meta-Learning", 2020).  The risk of task j is then 1 - w.b_j with b_j the mean
 * of y psi, and the best w of the ball under weights alpha is
 * radius b_alpha / |b_alpha|, b_alpha = sum_j alpha_j b_j.
 */
#ifndef WMLC_HINGE_H
#define WMLC_HINGE_H

#include "core/gram/gram.h"

/* x / max(radius, |x|): into the unit ball, onto it where x is too long. */
extern void wmlc_unit(const double *x, int dims, double radius, double *result);

/* Is the hinge loss linear on all rows of the gram, up to rounding? */
extern bool wmlc_hinge_is_linear(const WmlcGram *gram, double radius);

/*
 * sum alpha and sum alpha b of the tasks so far, as double-double, in an array
 * of wmlc_hinge_doubles(dims) that starts with zeros.
 */
static inline size_t
wmlc_hinge_doubles(int dims)
{
	return 2 + 2 * (size_t) dims;
}

extern void wmlc_hinge_add(double *sums, const WmlcGram *gram, double alpha);
extern void wmlc_hinge_merge(double *sums, const double *other, int dims);

/* The minimiser of the weighted risk; zero where every w is as good. */
extern void wmlc_hinge_erm(const double *sums, int dims, double radius, double *w);

/*
 * Gradient descent on the objective of MAML from w = 0, projected on the ball.
 * Inner steps on a linear loss shift each task's risk by a constant, so that
 * the gradient is -b_alpha wherever w is and whatever the number of inner
 * steps: `length` is the step size times the number of steps.
 */
extern void wmlc_hinge_maml(const double *sums, int dims, double length, double radius, double *w);

/* Steps of size eta down the risk of a task, each projected on the ball. */
extern WmlcStatus wmlc_hinge_adapt(double *w, const WmlcGram *gram, double eta, int steps,
								   double radius, WmlcPoll poll);

#endif							/* WMLC_HINGE_H */
