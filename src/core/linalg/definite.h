/*
 * definite.h
 *	  Cholesky's factors of matrices of plain doubles: of a definite one by LAPACK,
 *	  in blocks between which it can be interrupted, and of a semidefinite one.
 */
#ifndef WMLC_DEFINITE_H
#define WMLC_DEFINITE_H

#include "core/base/status.h"

/*
 * The lower triangle of the n x n matrix, by rows `stride` apart, becomes L with
 * L L' = matrix.  WMLC_NOT_POSITIVE: it is not definite to working precision.
 */
extern WmlcStatus wmlc_definite_factor(int n, double *matrix, int stride, WmlcPoll poll);

/* x = (L L')^-1 x */
extern void wmlc_definite_solve(int n, const double *factor, int stride, double *x);

/*
 * Likewise of a semidefinite matrix, in the order of its columns: one of which no
 * more than `tolerance` of its square is left counts as dependent on those before
 * it, and its column of the factor is zero.
 */
extern WmlcStatus wmlc_semidefinite_factor(int n, double *matrix, int stride, double tolerance,
										   WmlcPoll poll);

/*
 * B with B' (L L') B = I on the independent columns, by rows; dependent ones are
 * zero in it.  It must be zero before.
 */
extern void wmlc_semidefinite_inverse(int n, const double *factor, int stride, double *inverse);

#endif							/* WMLC_DEFINITE_H */
