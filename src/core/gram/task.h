/*
 * task.h
 *	  A gram spread out for matrix work: both triangles, rows apart by a whole
 *	  number of vectors.
 */
#ifndef WMLC_TASK_H
#define WMLC_TASK_H

#include "core/dd/dd_vector.h"
#include "core/gram/gram.h"

typedef struct WmlcTask
{
	const WmlcDdVectorLoops *loops;
	int			d;
	int			stride;			/* at least d + 1 */

	/*
	 * Sums z z' of the d + 1 entries of z = (psi, y); what lies right of them
	 * is zero.  Row i < d is (A, b)_i times the weight, row d is (b', c).
	 */
	WmlcDdSpan	sums;
	WmlcDdSpan	product;		/* scratch, one row */
} WmlcTask;

/* Copy the upper triangle of the leading n x n block into the lower one. */
extern void wmlc_mirror_upper(int n, int stride, WmlcDdSpan square);

/* A packed triangle as a square with both triangles and zeros behind the rows. */
extern void wmlc_unpack_triangle(int p, const double *hi, const double *lo, int stride,
								 WmlcDdSpan square);

/* Doubles that wmlc_task_load takes. */
extern size_t wmlc_task_doubles(int d);

/* The gram's entries are finite. */
extern void wmlc_task_load(WmlcTask *task, const WmlcGram *gram, double *space);

/* Has the gram means, all of them finite?  It has none without any weight. */
static inline bool
wmlc_gram_has_means(const WmlcGram *gram)
{
	return gram->weight.hi > 0.0 && wmlc_gram_is_finite(gram);
}

static inline WmlcDdSpan
wmlc_task_row(const WmlcTask *task, int i)
{
	return wmlc_dd_from(task->sums, (size_t) i * task->stride);
}

/* One gradient step: w -= rate * (sum psi psi' w - sum psi y). */
extern void wmlc_task_step(const WmlcTask *task, WmlcDd rate, WmlcDdSpan w);

/* At least the largest eigenvalue of sum psi psi', at most sqrt(d) times it. */
extern double wmlc_task_norm(const WmlcTask *task);

#endif							/* WMLC_TASK_H */
