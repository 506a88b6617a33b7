/*
 * window.c
 *	  The argument `windows`: for each source the gram of those of its rows that
 *	  correspond to the rows known of the target.
 */
#include "postgres.h"

#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/gram/window.h"

void
wml_window_check_count(int64 windows, int64 sources)
{
	if (windows != sources)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("there must be one window for each source"),
				 errdetail("There are " INT64_FORMAT " windows and " INT64_FORMAT " sources.",
						   windows, sources)));
}

static void
refuse_window(int64 position, const char *problem, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("window " INT64_FORMAT " %s", position, problem),
			 errhint("%s", hint)));
}

WmlcGram *
wml_window_rest(const WmlcGram *source, const WmlcGram *window, int64 position)
{
	WmlGram    *rest;
	void	   *work;
	WmlcStatus	status;

	if (window == NULL)
		refuse_window(position, "is NULL", "Leave out sources without rows to compare with the target's.");
	if (wmlc_gram_weighted_rows(window) == 0)
		refuse_window(position, "has no rows", "Leave out sources without rows to compare with the target's.");
	if (!wmlc_gram_is_finite(window))
		refuse_window(position, "is not finite", "Filter out rows with NaN or infinity before collecting the gram.");
	wml_gram_check_same_dims(window, source);
	rest = wml_gram_create(source->dims);
	work = palloc(wmlc_window_workspace(source->dims));
	status = wmlc_window_rest(source, window, &rest->body, work, wml_poll);
	if (status == WMLC_NOT_CONTAINED)
		refuse_window(position, "is not a part of its source",
					  "Collect both from the same rows and in the same order: wml_gram(x, y), and wml_gram(x, y) FILTER (WHERE ...).");
	wml_check(status);
	pfree(work);
	if (wmlc_gram_weighted_rows(&rest->body) > 0)
		return &rest->body;
	pfree(rest);
	return NULL;
}

void
wml_window_free(WmlcGram *rest)
{
	pfree((char *) rest - offsetof(WmlGram, body));
}
