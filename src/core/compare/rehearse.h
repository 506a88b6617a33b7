/*
 * rehearse.h
 *	  Sources that play the target, to see how methods do on tasks that are
 *	  known well.
 *
 * A source knows its own coefficients only up to sampling error, and its
 * residuals are too small, having been fitted.  With few rows per source,
 * rehearsals on the grams as they are would praise methods that follow every
 * task's noise.  So its role is written first: shrunken coefficients, and noise as
 * it is estimated without bias (core/model/ensemble.h).
 * Then follow random rows, so many as the target has.
 */
#ifndef WMLC_REHEARSE_H
#define WMLC_REHEARSE_H

#include <stdint.h>

#include "core/gram/gram.h"
#include "core/base/status.h"
#include "core/model/ensemble.h"

/* Bytes of workspace for each of the functions below. */
extern size_t wmlc_rehearse_workspace(int d);

/*
 * The role of a source: a gram with the source's rows and features, and the
 * responses that it has after correction.
 */
extern WmlcStatus wmlc_rehearse_role(const WmlcEnsemble *ensemble, const WmlcGram *source,
									 WmlcGram *role, void *work, WmlcPoll poll);

/*
 * The gram of `rows` random rows from a normal distribution with the second
 * moments of the role (and its mean, where a constant feature tells it).  The
 * same seed gives the same rows.
 */
extern WmlcStatus wmlc_rehearse_rows(const WmlcGram *role, int64_t rows, uint64_t seed,
									 WmlcGram *result, void *work, WmlcPoll poll);

#endif							/* WMLC_REHEARSE_H */
