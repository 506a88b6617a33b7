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
 * harder than others: r's squared error is u_r times what v says of its rows.  A
 * prediction for the target is taken to come from any of them, so that its error
 * is a mixture, in equal parts, of Student's t with variances u_r v(x), and the
 * interval of some level is what the rehearsals would have needed.
 */
#ifndef WMLC_CALIBRATE_H
#define WMLC_CALIBRATE_H

#include "core/compare/compare.h"
#include "core/base/status.h"

typedef struct WmlcCalibration
{
	double	   *covariance;		/* C, d x d */
	double		noise;			/* s2 */
	double	   *surprises;		/* u_r, one for each rehearsal */
	size_t		count;			/* how many; 0: nothing is known */
	double		degrees;		/* of freedom of Student's t */
} WmlcCalibration;

/* Bytes of workspace. */
extern size_t wmlc_calibrate_workspace(int d, size_t count);

/*
 * From the rehearsals of one method: `count` trials with what they found, d
 * numbers every `stride`, and the number of different tasks that acted.  The caller
 * sets covariance and surprises.
 */
extern WmlcStatus wmlc_calibrate(WmlcCalibration *calibration, int d, size_t count,
								 const WmlcTrial *trials, const double *coefficients,
								 size_t stride, double actors, void *work, WmlcPoll poll);

/*
 * How many times sqrt(v) an error stays below with probability `level`; NaN where
 * there were no rehearsals.
 */
extern double wmlc_calibrated_bound(const WmlcCalibration *calibration, double level);

/* x'C x */
extern double wmlc_calibrated_variance(const WmlcCalibration *calibration, int d, const double *x);

#endif							/* WMLC_CALIBRATE_H */
