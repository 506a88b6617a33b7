/*
 * auc.c
 *	  Area under the receiver operating characteristic.
 */
#include <stdint.h>

#include "core/model/auc.h"

/* Scores between two looks at the poll. */
#define POLL_SCORES 65536

WmlcStatus
wmlc_auc(const double *positive, size_t positives, const double *negative, size_t negatives,
		 double *area, WmlcPoll poll)
{
	size_t		below = 0;		/* negatives below the present score */
	size_t		not_above = 0;
	uint64_t	twice = 0;		/* wins and half of the ties, times two */

	for (size_t i = 0; i < positives; i++)
	{
		if (i % POLL_SCORES == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		while (below < negatives && negative[below] < positive[i])
			below++;
		while (not_above < negatives && negative[not_above] <= positive[i])
			not_above++;
		twice += below + not_above;
	}
	*area = (double) twice / 2.0 / ((double) positives * (double) negatives);
	return WMLC_OK;
}
