/*
 * window.h
 *	  Rows of a source that correspond to those known of a target: the first
 *	  weeks, say, of many.  What the source has beside them can judge forecasts.
 */
#ifndef WMLC_WINDOW_H
#define WMLC_WINDOW_H

#include "core/gram/gram.h"
#include "core/base/status.h"

/* Bytes of workspace. */
extern size_t wmlc_window_workspace(int d);

/*
 * The rows of the source that are not in its window; none at all where both are
 * the same.  WMLC_NOT_CONTAINED: the window has rows that the source does not
 * have, so far as sums tell: what is left would be no gram of any rows.
 */
extern WmlcStatus wmlc_window_rest(const WmlcGram *source, const WmlcGram *window,
								   WmlcGram *rest, void *work, WmlcPoll poll);

#endif							/* WMLC_WINDOW_H */
