/*
 * belong.h
 *	  Whether a task belongs to those that a robust prior was learned from.
 *
 * A row that was mistyped shows as noise, and another kind of task in its coefficients.
 * A task does not belong if hardly any of so many tasks would have as much noise
 * (wmlc_noise_limit), or be as far from the mean, where
 *
 *	  |u|^2 / tau / q ~ F(q, nu)
 *
 * with q coefficients that the rows determine, and nu the degrees of freedom of Student's
 * t, but not fewer than four; and if it is far off besides: where tasks are large and much alike, the slightest
 * difference is hardly chance, and yet no reason to do without a task.
 */
#ifndef WMLC_BELONG_H
#define WMLC_BELONG_H

#include <stdbool.h>

#include "core/prior/posterior.h"

/* The probability that one of all tasks is that far off by chance; and in standard deviations, how far. */
#define WMLC_STRANGE 1e-3
#define WMLC_FAR_OFF 5.0

/* Of the task whose posterior it is; under a prior that is not robust, every task belongs. */
extern bool wmlc_belongs(const WmlcPosterior *posterior);

#endif							/* WMLC_BELONG_H */
