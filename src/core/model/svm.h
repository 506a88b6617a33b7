/*
 * svm.h
 *	  Linear support vector machines whose rows have weights:
 *
 *		minimise	P(w) = 1/2 |w|^2 + sum_i cost_i max(0, 1 - y_i w.x_i)
 *
 * by coordinate descent in the dual (Hsieh, Chang, Lin, Keerthi, Sundararajan,
 * "A dual coordinate descent method for large-scale linear SVM", 2008),
 *
 *		maximise	D(a) = sum_i a_i - 1/2 |w|^2,	w = sum_i a_i y_i x_i,	0 <= a_i <= cost_i
 *
 * one row at a time, in a random order that is the same for the same seed.
 * D(a) <= min P <= P(w), so the gap P(w) - D(a) says how far w is from the
 * minimum, at most.
 */
#ifndef WMLC_SVM_H
#define WMLC_SVM_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

typedef struct WmlcSvm
{
	const double *x;			/* rows, `dims` numbers each */
	const double *y;			/* -1 or 1 */
	const double *cost;			/* >= 0 */
	size_t		rows;
	int			dims;
	double	   *w;				/* the coefficients */
	double	   *dual;			/* a */
	double	   *square;			/* |x_i|^2 */
	size_t	   *order;
	uint64_t	random;

	/* set by wmlc_svm_certify */
	double		objective;		/* P(w) */
	double		gap;			/* P(w) - D(a) */
	size_t		support;		/* rows with a_i > 0, up to rounding */
} WmlcSvm;

extern size_t wmlc_svm_workspace(size_t rows, int dims);

/* `work` belongs to the machine, and the rows must outlive it.  Starts at w = 0. */
extern WmlcStatus wmlc_svm_start(WmlcSvm *svm, const double *x, const double *y, const double *cost,
								 size_t rows, int dims, uint64_t seed, void *work);

/* One pass over all rows. */
extern WmlcStatus wmlc_svm_pass(WmlcSvm *svm, WmlcPoll poll);

/*
 * Objective and gap from the rows, after w is computed anew from a; or for the
 * candidate, if there is one and it has the lower objective.
 */
extern WmlcStatus wmlc_svm_certify(WmlcSvm *svm, const double *candidate, WmlcPoll poll);

/*
 * Another method, from a start of its own, that stops when the gap is at most
 * `tolerance` times the objective, or can get no smaller.  It takes rows x dims^2
 * operations a step and some 20 steps, however unlike the features are in size.
 */
extern size_t wmlc_svm_interior_workspace(size_t rows, int dims);
extern WmlcStatus wmlc_svm_interior(WmlcSvm *svm, double tolerance, void *work, WmlcPoll poll);

#endif							/* WMLC_SVM_H */
