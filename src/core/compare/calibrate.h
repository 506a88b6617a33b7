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
 * these is k times what v says, that on the unknown rows is about k^b times as
 * large.  The rehearsals show b, from 0 (known rows tell nothing) to 1, and C and
 * s2 are what they are with k = 1.  Beyond that, r's squared error is u_r times
 * what was expected.  A prediction for the target is taken to come from any of
 * the rehearsals, so that its error is a mixture, in equal parts, of Student's t
 * with variances u_r k^b v(x), and the interval of some level is what the
 * rehearsals would have needed.
 */
#ifndef WMLC_CALIBRATE_H
#define WMLC_CALIBRATE_H

#include "core/compare/compare.h"
#include "core/base/status.h"

typedef struct WmlcCalibration
{
	double	   *covariance;		/* k^b C, k that of the target; d x d */
	double		noise;			/* k^b s2 */
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
