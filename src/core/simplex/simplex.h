/*
 * simplex.h
 *	  Weights of sources: a quadratic minimised over the simplex.
 *
 *		minimise	f(alpha) = | sum_j alpha_j e_j |^2 + ridge |alpha|^2
 *		subject to	alpha_j >= 0, sum_j alpha_j = 1
 *
 * where e_j is the embedding of source j minus the embedding of the target.
 * The caller forms these differences (before any product, so that nothing
 * cancels).  Without ridge this is the projection of the target on the convex
 * hull of the sources.  No matrix of J x J is ever formed, and E is only read.
 *
 * The certificate.  With x = sum_j alpha_j e_j and the prices
 * g_j = e_j.x + ridge alpha_j (half the gradient of f), every alpha whose sum
 * is 1 has
 *
 *		gap(alpha) = 2 (f(alpha) - min_j g_j)  >=  f(alpha) - min f  >=  0
 *
 * by convexity: it is the duality gap, zero exactly at the minimum.  It is
 * judged against the largest squared distance, max_j |e_j|^2 + ridge (a ridge
 * is a coordinate of its own, of size sqrt(ridge), for every point).
 *
 * What the solver promises: alpha_j >= 0 exactly, and exactly 0 outside the
 * support; the sum 1 to rounding; a relative gap of at most WMLC_SIMPLEX_GAP,
 * or else the status WMLC_NO_CONVERGENCE with the best weights found (usual is
 * 1e-16; more than 1e-13 has not been seen).  Equal problems give equal
 * weights to the last bit; without ridge on every machine, with ridge on those
 * where BLAS and the instruction set are the same.  Ties go to the point that
 * comes first, so that without ridge the first of equal points takes the weight
 * of all; with ridge they share it equally.
 */
#ifndef WMLC_SIMPLEX_H
#define WMLC_SIMPLEX_H

#include <stddef.h>

#include "core/base/status.h"

/* The largest acceptable gap, relative to the largest squared distance. */
#define WMLC_SIMPLEX_GAP 1e-10

typedef struct WmlcSimplex
{
	const double *points;		/* e_j is the dims numbers at points + j * stride */
	size_t		count;			/* J, at least 1 */
	size_t		dims;			/* D */
	size_t		stride;			/* at least dims */
	double		ridge;			/* >= 0 */
} WmlcSimplex;

typedef struct WmlcSimplexReport
{
	double		objective;		/* f(alpha) */
	double		gap;			/* an upper bound of f(alpha) - min f */
	double		largest;		/* max_j |e_j|^2 */
	double		relative_gap;	/* gap / (largest + ridge), computed without overflow */
	size_t		support;		/* number of alpha_j > 0 */
	int			steps;			/* active-set steps without ridge */
	double		passes;			/* full passes over the points in these */
} WmlcSimplexReport;

/* Bytes of workspace for either function below: O(J + D^2). */
extern size_t wmlc_simplex_workspace(size_t count, size_t dims, double ridge);

/*
 * Solve.  NaN, infinities and distances beyond the range of a double give
 * WMLC_NOT_FINITE, no points WMLC_EMPTY, a negative ridge WMLC_OUT_OF_RANGE.
 */
extern WmlcStatus wmlc_simplex_solve(const WmlcSimplex *problem, double *alpha,
									 WmlcSimplexReport *report, void *work, WmlcPoll poll);

/*
 * The certificate of anybody's alpha, from the points alone.  The caller
 * checks alpha >= 0 and sum = 1.  Fields steps and passes are set to 0.
 */
extern WmlcStatus wmlc_simplex_gap(const WmlcSimplex *problem, const double *alpha,
								   WmlcSimplexReport *report, void *work, WmlcPoll poll);

#endif							/* WMLC_SIMPLEX_H */
