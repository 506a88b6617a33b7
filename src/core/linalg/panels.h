/*
 * panels.h
 *	  What BLAS and LAPACK do with a large matrix at one go, in parts between which
 *	  it can be interrupted.  A matrix of one part is theirs as it is.
 *
 * Matrices stand by columns.
 */
#ifndef WMLC_PANELS_H
#define WMLC_PANELS_H

#include <cblas.h>

#include "core/base/status.h"

/* Columns, or rows, between two polls. */
#define WMLC_PANEL 128

/* b = op(a)^-1 b, and b = op(a) b: the triangle a is n x n, and b is n x m */
extern WmlcStatus wmlc_panel_solve(CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a, int m,
								   double *b, WmlcPoll poll);
extern WmlcStatus wmlc_panel_multiply(CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a, int m,
									  double *b, WmlcPoll poll);

/* b = b op(a)^-1, b being m x n */
extern WmlcStatus wmlc_panel_solve_right(CBLAS_UPLO half, CBLAS_TRANSPOSE op, int n, const double *a,
										 int m, double *b, WmlcPoll poll);

/* c = a b, all of them n x n */
extern WmlcStatus wmlc_panel_product(int n, const double *a, const double *b, double *c, WmlcPoll poll);

/* result = a a', a being n x k; symmetric to the last bit */
extern WmlcStatus wmlc_panel_outer(int n, int k, const double *a, double *result, WmlcPoll poll);

/* dgeqrf of rows x n numbers; `work` has `size` of them, 33 n at least. */
extern WmlcStatus wmlc_panel_qr(int rows, int n, double *a, double *tau, double *work, int size,
								WmlcPoll poll);

#endif							/* WMLC_PANELS_H */
