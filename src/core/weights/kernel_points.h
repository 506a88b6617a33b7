/*
 * kernel_points.h
 *	  Points from a kernel matrix, so that own kernels use the weight solver.
 */
#ifndef WMLC_KERNEL_POINTS_H
#define WMLC_KERNEL_POINTS_H

#include <stddef.h>

#include "core/base/status.h"

/*
 * Embeddings from a kernel matrix (symmetric, count x count): points u_j with
 * u_i.u_j = kernel_ij, so that own kernels use the solver above.  Point j is
 * written at points + j * count, its first *dims numbers used; points holds
 * count x count.  Where the target is one of the rows, subtract its point from
 * the others to get the e_j.  A matrix that is indefinite beyond rounding
 * gives WMLC_NOT_POSITIVE.  Only the rows of pivots are read, so symmetry is
 * for the caller to check.
 */
extern size_t wmlc_kernel_points_workspace(size_t count);
extern WmlcStatus wmlc_kernel_points(const double *kernel, size_t count, double *points,
									 size_t *dims, void *work, WmlcPoll poll);

#endif							/* WMLC_KERNEL_POINTS_H */
