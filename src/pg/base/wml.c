/*
 * wml.c
 *	  The loadable module and its settings.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "pg/base/progress.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomBoolVariable("wml.progress",
							 "Reports the progress of long computations as notices.",
							 NULL,
							 &wml_progress,
							 true,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);
	DefineCustomBoolVariable("wml.warnings",
							 "Warns of results that are usable but deserve a look.",
							 NULL,
							 &wml_warnings,
							 true,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("wml");
#else
	EmitWarningsOnPlaceholders("wml");
#endif
}
