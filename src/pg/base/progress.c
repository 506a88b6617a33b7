/*
 * progress.c
 *	  What the user is told beside results: see progress.h.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "pg/base/progress.h"

#define PROGRESS_INTERVAL_MS 3000

bool		wml_progress = true;
bool		wml_warnings = true;

bool
wml_progress_due(WmlProgress *progress)
{
	TimestampTz now;

	if (!wml_progress)
		return false;
	now = GetCurrentTimestamp();
	if (progress->last == 0)
		progress->last = now;
	if (!TimestampDifferenceExceeds(progress->last, now, PROGRESS_INTERVAL_MS))
		return false;
	progress->last = now;
	return true;
}
