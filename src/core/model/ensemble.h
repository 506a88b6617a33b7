/*
 * ensemble.h
 *	  What many tasks have in common, and what each of them is beside it.
 *
 * A task knows its coefficients only up to sampling error.  Drawn towards those
 * that all tasks have in common, by as much as sampling error explains of the
 * difference (James and Stein 1961), they are better: the shrunken coefficients.
 */
#ifndef WMLC_ENSEMBLE_H
#define WMLC_ENSEMBLE_H

#include "core/gram/gram.h"
#include "core/base/status.h"

/* What the tasks have in common. */
typedef struct WmlcEnsemble
{
	double	   *coefficients;	/* of joint training with equal weights; d numbers */
	double		noise;			/* variance of residuals */
	double		degrees;		/* of freedom that the noise was estimated with */

	/*
	 * As many degrees of freedom is the common noise worth to a task that has an
	 * estimate of its own: few where noise differs from task to task, and
	 * infinitely many where it does not, as far as the estimates tell.
	 */
	double		lent;
} WmlcEnsemble;

/* Bytes of workspace for each of the functions below. */
extern size_t wmlc_ensemble_workspace(int d);

/*
 * The caller sets ensemble->coefficients.  Where degrees is 0, no task has more
 * rows than coefficients: then nothing is known of noise, which is 0.
 */
extern WmlcStatus wmlc_ensemble(WmlcEnsemble *ensemble, int d, size_t count,
								const WmlcGram *const *sources, void *work, WmlcPoll poll);

/* Least squares on one task. */
typedef struct WmlcTaskFit
{
	double	   *coefficients;
	double		squares;		/* sum of squared residuals */
	double		degrees;		/* their freedom */
	int			rank;
} WmlcTaskFit;

/* The caller sets task->coefficients. */
extern WmlcStatus wmlc_task_fit(const WmlcGram *gram, WmlcTaskFit *task, void *work, WmlcPoll poll);

/* The ensemble of all tasks but one, `left_out`, each of them fitted before; count: of all. */
extern WmlcStatus wmlc_ensemble_of_fits(WmlcEnsemble *ensemble, int d, size_t count,
										const WmlcGram *const *sources, const WmlcTaskFit *tasks,
										size_t left_out, void *work, WmlcPoll poll);

/* The shrunken coefficients of a task that has been fitted; they may be in its place. */
extern void wmlc_ensemble_shrink(const WmlcEnsemble *ensemble, const WmlcGram *gram,
								 const WmlcTaskFit *task, double *coefficients, double *noise);

/* A task's shrunken coefficients, and its noise as it is estimated without bias. */
extern WmlcStatus wmlc_ensemble_member(const WmlcEnsemble *ensemble, const WmlcGram *gram,
									   double *coefficients, double *noise, void *work,
									   WmlcPoll poll);

/* The coefficients that the rows of a task tell: least squares, of least norm. */
extern WmlcStatus wmlc_task_coefficients(const WmlcGram *gram, double *coefficients, void *work,
										 WmlcPoll poll);

#endif							/* WMLC_ENSEMBLE_H */
