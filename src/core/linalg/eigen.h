/*
 * eigen.h
 *	  Eigenvalues and eigenvectors of a symmetric matrix, in steps between which the
 *	  computation can be interrupted.
 */
#ifndef WMLC_EIGEN_H
#define WMLC_EIGEN_H

#include <stddef.h>

#include "core/base/status.h"

static inline size_t
wmlc_eigen_work(int n)
{
	return 38 * (size_t) n;
}

/*
 * The eigenvectors of the n x n matrix a, of which the upper triangle by columns is
 * read, in its place, and their values from the least on.
 */
extern WmlcStatus wmlc_eigen(int n, double *a, double *values, double *work, WmlcPoll poll);

#endif							/* WMLC_EIGEN_H */
