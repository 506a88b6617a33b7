/*
 * window.h
 *	  The argument `windows`: for each source the gram of those of its rows that
 *	  correspond to the rows known of the target.
 */
#ifndef WML_WINDOW_H
#define WML_WINDOW_H

#include "postgres.h"

#include "core/gram/window.h"

/* There must be as many windows as sources, NULL or not. */
extern void wml_window_check_count(int64 windows, int64 sources);

/*
 * What a source has beside its window: a new gram, or NULL where that is
 * nothing.  Errors name the window by its position, from 1: a NULL one, one without
 * rows, one that is not a part of its source.
 */
extern WmlcGram *wml_window_rest(const WmlcGram *source, const WmlcGram *window, int64 position);
extern void wml_window_free(WmlcGram *rest);

#endif							/* WML_WINDOW_H */
