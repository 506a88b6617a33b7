/*
 * calibrate.h
 *	  How far off predictions may be, learned from rehearsals.
 *
 * In a rehearsal the coefficients that a method found can be compared with those
 * of the whole task.  Their differences have a second moment C, and rows lie
 * about the whole task's model with variance s2: the squared error of a
 * prediction at x is
 *
 *	  v(x) = s2 + x'C x
 *
 * on average over tasks and rows, however the method works.  Some tasks are
 * harder than others, and their known rows may tell: where the squared error on
 * these is k times what v says, and rehearsals have k = 1 on average, n known rows
 * make the squared error on the unknown ones
 *
 *	  c = (a + n k) / (a + n)
 *
 * times as large.  This is the mean of a variance with an inverse gamma prior that
 * counts as `a` rows, after n normal residuals.  The rehearsals show a, from 0 (known
 * rows tell all) to infinity (nothing), and C and s2 are what they are with c = 1.
 * A row that happens to be fitted exactly says little: c >= a / (a + n).
 * Beyond that, r's squared error is u_r times what was expected.  A prediction
 * for the target is taken to come from any of the rehearsals, so that its error is
 * a mixture, in equal parts, of Student's t with variances u_r c v(x), and the
 * interval of some level is what the rehearsals would have needed.
 */
#ifndef WMLC_CALIBRATE_H
#define WMLC_CALIBRATE_H

#include "core/compare/compare.h"
#include "core/base/status.h"

typedef struct WmlcCalibration
{
	double	   *covariance;		/* c C, c that of the target; d x d */
	double		noise;			/* c s2 */
	double	   *surprises;		/* u_r, one for each rehearsal */
	size_t		count;			/* how many; 0: nothing is known */
	double		degrees;		/* of freedom of Student's t */
} WmlcCalibration;

/* Bytes of workspace. */
extern size_t wmlc_calibrate_workspace(int d, size_t count);

/* What one method found in its trials. */
typedef struct WmlcRehearsed
{
	int			d;
	size_t		count;			/* of rehearsals */
	double		actors;			/* different tasks that acted in them */
	bool		made_up;		/* their rows are drawn from normal distributions */
	const WmlcTrial *trials;
	const double *coefficients; /* d numbers for each trial, every `stride` */
	size_t		stride;
	const WmlcGram *target;		/* its known rows, and what was found for them */
	const double *target_coefficients;
} WmlcRehearsed;

/* The caller sets covariance and surprises. */
extern WmlcStatus wmlc_calibrate(WmlcCalibration *calibration, const WmlcRehearsed *rehearsed,
								 void *work, WmlcPoll poll);

/*
 * How many times sqrt(v) an error stays below with probability `level`; NaN where
 * there were no rehearsals.
 */
extern double wmlc_calibrated_bound(const WmlcCalibration *calibration, double level);

/* x'C x */
extern double wmlc_calibrated_variance(const WmlcCalibration *calibration, int d, const double *x);

#endif							/* WMLC_CALIBRATE_H */
