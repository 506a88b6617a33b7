/*
 * auc.h
 *	  Area under the receiver operating characteristic.
 */
#ifndef WMLC_AUC_H
#define WMLC_AUC_H

#include <stddef.h>

#include "core/base/status.h"

/*
 * The share of pairs (positive, negative) in which the positive one has the
 * larger score, ties counted half: exact up to the last rounding.  Both arrays
 * are sorted, neither is empty, and there are fewer than 2^62 pairs.
 */
extern WmlcStatus wmlc_auc(const double *positive, size_t positives, const double *negative,
						   size_t negatives, double *area, WmlcPoll poll);

#endif							/* WMLC_AUC_H */
