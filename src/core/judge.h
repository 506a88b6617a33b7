/*
 * judge.h
 *	  How well coefficients predict the rows behind a gram, without the rows.
 */
#ifndef WMLC_JUDGE_H
#define WMLC_JUDGE_H

#include "gram.h"

/*
 * Weighted mean of (y - w.psi)^2.  It is a small difference of large sums when
 * the response or the features are far from zero, hence double-double.
 */
extern WmlcDd wmlc_mean_square_error(const WmlcGram *gram, const double *w);

/*
 * Mean square of the response, around its mean where a constant feature tells
 * it and around zero otherwise, as in R's lm.
 */
extern WmlcDd wmlc_response_variance(const WmlcGram *gram);

/* 1 - error / variance; NaN when the response does not vary. */
extern double wmlc_r_squared(const WmlcGram *gram, const double *w);

#endif							/* WMLC_JUDGE_H */
