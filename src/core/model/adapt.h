/*
 * adapt.h
 *	  After the fit: fast adaptation of coefficients to a task, and how well
 *	  they do on it, from its gram alone.
 *
 * With A = sum psi psi' / W, b = sum psi y / W, c = sum y^2 / W the mean squared
 * error of w is c - 2 w.b + w'A w and its gradient 2 (A w - b); one step of size
 * eta is w <- w - eta (A w - b).
 */
#ifndef WMLC_ADAPT_H
#define WMLC_ADAPT_H

#include "core/gram/gram.h"
#include "core/base/status.h"
#include "core/gram/task.h"

/*
 * Mean squared error of w.  Never negative: what rounding explains is 0.
 *
 * WMLC_NOT_FINITE: gram or w hold NaN or infinities, or the gram no weight.
 * WMLC_NOT_POSITIVE: no rows can have this gram.
 */
extern WmlcStatus wmlc_mse(const WmlcGram *gram, const double *w, double *mse);

/*
 * Share of the response's variation that w explains, as R counts it: around the
 * mean when there is a constant feature (its index, else -1), around zero when
 * there is none.  NaN when the response does not vary.  Same statuses.
 */
extern WmlcStatus wmlc_r2(const WmlcGram *gram, const double *w, int constant, double *r2);

/*
 * The largest step size with which adaptation does not diverge, 2 / the largest
 * eigenvalue of A; infinite when A is 0.  Takes the workspace of adaptation.
 */
extern WmlcStatus wmlc_largest_stable_eta(const WmlcGram *gram, double *eta, void *work);

/*
 * Does adaptation with this step size diverge?  Cheaper than comparing with the
 * largest stable one when, as usual, a bound on the eigenvalue is enough.
 */
extern WmlcStatus wmlc_adaptation_diverges(const WmlcGram *gram, double eta, bool *diverges,
										   void *work);

/* Bytes of workspace for all of the above and below. */
extern size_t wmlc_adapt_workspace(int d);

/*
 * Adaptation step by step, for its curve.  Coefficients are kept in
 * double-double from step to step and rounded only when read.
 */
typedef struct WmlcDescent
{
	WmlcTask	task;
	WmlcDd		rate;			/* eta / W */
	WmlcDdSpan	w;
} WmlcDescent;

/* The descent lives in `work`. */
extern WmlcStatus wmlc_descent_start(WmlcDescent *descent, const WmlcGram *gram, double eta,
									 const double *w, void *work);

/* One step further; the coefficients go to w.  WMLC_NOT_FINITE: they overflowed. */
extern WmlcStatus wmlc_descent_step(WmlcDescent *descent, double *w);

/*
 * The coefficients after `steps` steps from w; w and result may be the same.
 * The number of steps hardly matters to the time.
 */
extern WmlcStatus wmlc_adapt(const WmlcGram *gram, double eta, int steps, const double *w,
							 double *result, void *work, WmlcPoll poll);

#endif							/* WMLC_ADAPT_H */
