/*
 * definite.h
 *	  Cholesky's factor of a positive definite matrix of plain doubles, by LAPACK,
 *	  in blocks between which it can be interrupted.
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

#endif							/* WMLC_DEFINITE_H */
