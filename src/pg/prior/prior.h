/*
 * prior.h
 *	  The SQL type wml_prior: its bytes on disk, and how functions receive it.
 */
#ifndef WML_PRIOR_H
#define WML_PRIOR_H

#include "postgres.h"

#include "fmgr.h"

#include "core/prior/prior.h"
#include "pg/base/compat.h"

#define WML_PRIOR_VERSION 3

/* How the prior was fitted, and how the fit ended. */
#define WML_PRIOR_CONVERGED 1
#define WML_PRIOR_SINGULAR 2
#define WML_PRIOR_SATURATED 4
#define WML_PRIOR_REML 8
#define WML_PRIOR_DIAGONAL 16
#define WML_PRIOR_ALL_FLAGS 31

/*
 * On disk.  Matrices are whole and by columns, so that they are used in place.
 * Version 1 ends with loglik and version 2 with reserved; what is new since was zero, or is not known.
 */
typedef struct WmlPrior
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint16		version;
	uint16		flags;
	int32		dims;
	int32		rank;
	int32		iterations;
	uint16		family;			/* WmlcFamily */
	uint16		descriptors;	/* columns of the mean; zero in version 1 */
	double		noise;
	double		tasks;
	double		effective_tasks;
	double		rows;
	double		noise_degrees;
	double		loglik;
	double		parameters;
	double		noise_shape;
	double		noise_power;
	double		noise_limit;
	double		spread_degrees;
	double		dispersion;
	double		smooth_sd;
	double		smooth_degrees;
	int32		design_rank;	/* zero if not known */
	int32		reserved;		/* zero */
	double		evenness;
	double		unevenness;
	double		numbers[FLEXIBLE_ARRAY_MEMBER]; /* mean, factor, covariance of the mean */
} WmlPrior;

#define WML_PRIOR_V1_HEADER offsetof(WmlPrior, parameters)
#define WML_PRIOR_V2_HEADER offsetof(WmlPrior, evenness)

extern WmlPrior *wml_prior_create(int dims, int descriptors);

/* Take over from the core what does not lie in the arrays. */
extern void wml_prior_fill(WmlPrior *prior, const WmlcPrior *fitted, int flags);

/* The arrays of a prior where they lie, for the core. */
extern WmlcPrior wml_prior_view(WmlPrior *prior);

/* The prior behind a datum, aligned and with its version checked. */
extern WmlPrior *wml_prior_from_datum(Datum datum);

#define PG_GETARG_PRIOR(n) wml_prior_from_datum(PG_GETARG_DATUM(n))

#endif							/* WML_PRIOR_H */
