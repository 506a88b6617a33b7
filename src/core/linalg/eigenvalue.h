/*
 * eigenvalue.h
 *	  The largest eigenvalue of a symmetric matrix.
 */
#ifndef WMLC_EIGENVALUE_H
#define WMLC_EIGENVALUE_H

#include <stddef.h>

#include "core/base/status.h"

/*
 * The lower triangle of the d x d matrix, whose columns lie `stride` apart, is
 * used up.  Infinite when something in it is not finite.  The workspace has at
 * least 4 d doubles; with WMLC_EIGENVALUE_WORK d of them LAPACK works on blocks.
 */
#define WMLC_EIGENVALUE_WORK 36
extern WmlcStatus wmlc_largest_eigenvalue(int d, double *matrix, int stride, double *work,
										  size_t work_doubles, double *eigenvalue);

#endif							/* WMLC_EIGENVALUE_H */
