/*
 * progress.h
 *	  Telling the user how a long computation goes on, when wml.progress says so.
 */
#ifndef WML_PROGRESS_H
#define WML_PROGRESS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/* The setting wml.progress. */
extern bool wml_progress;

/* Start from zero. */
typedef struct WmlProgress
{
	TimestampTz last;			/* when something was said, or the start */
} WmlProgress;

/* True every few seconds: time to say something with ereport(NOTICE). */
extern bool wml_progress_due(WmlProgress *progress);

#endif							/* WML_PROGRESS_H */
