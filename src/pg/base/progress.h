/*
 * progress.h
 *	  Telling the user how a long computation goes on, when wml.progress says so, and what to
 *	  look at in its result, when wml.warnings does.
 */
#ifndef WML_PROGRESS_H
#define WML_PROGRESS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* The settings wml.progress and wml.warnings. */
extern bool wml_progress;
extern bool wml_warnings;

/* Of results that are usable but deserve a look.  Neither client nor log hears of them if they are not wanted. */
#define WML_WARNING (wml_warnings ? WARNING : DEBUG1)

/* Start from zero. */
typedef struct WmlProgress
{
	TimestampTz last;			/* when something was said, or the start */
} WmlProgress;

/* True every few seconds: time to say something with ereport(NOTICE). */
extern bool wml_progress_due(WmlProgress *progress);

#endif							/* WML_PROGRESS_H */
