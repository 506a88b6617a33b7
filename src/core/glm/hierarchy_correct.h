/*
 * hierarchy_correct.h
 *	  What expectation propagation leaves out of a task's posterior.
 *
 * It makes the posterior q normal.  The true one is q times 1 + e_i for each
 * row, e_i being what the row's likelihood has beside its parabola.  By the choice
 * of parabolas e_i begins with the third and fourth Hermite polynomials of the
 * row's predictor, with the skewness a_i and the excess b_i of the distribution that has the
 * likelihood itself; so single rows leave mean and variance of q as they are, and
 * pairs do not (Opper, Paquet, Winther 2013).  With r the correlation of two rows' predictors,
 * summed over pairs i, j of different rows,
 *
 *	  covariance	+ (a_i a_j r^2 / 2 + b_i b_j r^3 / 6) Cov(w, t_i) Cov(w, t_j)'
 *	  mean			+ a_i b_j r^3 / 6 Cov(w, t_j)
 *	  log evidence	+ (a_i a_j r^3 / 6 + b_i b_j r^4 / 24) / 2
 *
 * t_i being the standardised predictor.  Maximum likelihood depends on tasks through
 * their means and covariances alone, so that the correction can be made in the
 * task's working gram.  With ten rows a task and rare events it takes away nine tenths of
 * the error of spreads, which is 3 %.
 */
#ifndef WMLC_HIERARCHY_CORRECT_H
#define WMLC_HIERARCHY_CORRECT_H

#include "core/glm/working.h"

/*
 * Pairs cost the square of the rows, and of many rows there is nothing to
 * correct.
 */
#define WMLC_MOST_CORRECTED_ROWS 128
#define WMLC_MOST_CORRECTED_DIMS 16

/* What was added to a task's gram: d x d to X'X, and d to X'y. */
typedef struct WmlcCorrection
{
	double	   *precision;
	double	   *pull;
} WmlcCorrection;

/* From the posterior of a corrected gram to that of the gram itself, in place. */
extern void wmlc_correction_undo(int d, const WmlcCorrection *correction, double *coef,
								 double *covariance);

/*
 * The correction of rows x, count of them, with these working rows at N(coef,
 * covariance), and what to add to y'y; returns what the task adds to the log
 * evidence.
 */
extern double wmlc_correction_find(int d, int count, const double *x, const WmlcWorkingRow *rows,
								   const double *coef, const double *covariance,
								   WmlcCorrection *correction, double *squares);

#endif							/* WMLC_HIERARCHY_CORRECT_H */
