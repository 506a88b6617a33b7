/*
 * window.c
 *	  Rows of a source that correspond to those known of a target.
 */
#include "core/gram/window.h"

#include <string.h>

#include "core/linalg/solve.h"

size_t
wmlc_window_workspace(int d)
{
	return wmlc_solve_workspace(d + 1);
}

WmlcStatus
wmlc_window_rest(const WmlcGram *source, const WmlcGram *window, WmlcGram *rest, void *work,
				 WmlcPoll poll)
{
	int			p = source->dims + 1;
	WmlcSolver	solver;
	WmlcStatus	status;

	memcpy(rest, source, wmlc_gram_bytes(source->dims));
	status = wmlc_gram_subtract(rest, window);
	if (status != WMLC_OK || wmlc_gram_weighted_rows(rest) == 0)
		return status;

	/* Kish's number of rows is at least 1 and at most what was counted */
	if (wmlc_gram_effective_rows(rest) < 1.0 - 1e-9 ||
		wmlc_gram_effective_rows(rest) > (double) wmlc_gram_weighted_rows(rest) * (1.0 + 1e-9))
		return WMLC_NOT_CONTAINED;

	/* other rows of as much weight rarely leave a matrix that rows can have */
	status = wmlc_solve_factor(&solver, p, p, wmlc_gram_hi(rest), wmlc_gram_lo(rest),
							   (double) source->rows, 0.0, work, poll);
	return status == WMLC_NOT_POSITIVE ? WMLC_NOT_CONTAINED : status;
}
