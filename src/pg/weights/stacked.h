/*
 * stacked.h
 *	  Stacked weights from grams.
 */
#ifndef WML_STACKED_H
#define WML_STACKED_H

#include "postgres.h"

#include "core/weights/stacked.h"
#include "pg/weights/alpha.h"

/* As wml_alpha_solve: weights into alpha, NaN for sources that take no part. */
extern void wml_alpha_stacked(const WmlSources *sources, const WmlcGram *target,
							  const WmlcWeighting *weighting, double *alpha);

#endif							/* WML_STACKED_H */
