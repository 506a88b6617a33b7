/*
 * args.c
 *	  Checks of arguments that many functions take.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "pg/base/args.h"

MemoryContext
wml_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate function called in non-aggregate context")));
	return context;
}

Datum
wml_unchanged_state(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

bool
wml_pair_is_skipped(FunctionCallInfo fcinfo)
{
	wml_aggregate_context(fcinfo);
	return PG_ARGISNULL(1) || PG_ARGISNULL(2);
}

void
wml_require_arg(FunctionCallInfo fcinfo, int position, const char *name)
{
	if (PG_ARGISNULL(position))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be NULL", name)));
}

static const char *
list_words(const WmlcWords *words)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < wmlc_words_count(words); i++)
		appendStringInfo(&list, "%s%s", i == 0 ? "" : ", ", wmlc_word(words, i));
	return list.data;
}

int
wml_arg_word(text *word, const WmlcWords *words, const char *what)
{
	int			value = wmlc_word_value(words, VARDATA_ANY(word), VARSIZE_ANY_EXHDR(word));

	if (value < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized %s: \"%.*s\"", what, (int) VARSIZE_ANY_EXHDR(word), VARDATA_ANY(word)),
				 errhint("Available values: %s.", list_words(words))));
	return value;
}

double
wml_check_not_negative(double value, const char *name)
{
	if (!(value >= 0.0) || isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a finite number and not negative: %g", name, value)));
	return value;
}

int
wml_check_steps(int steps)
{
	if (steps < 0 || steps > WML_MAX_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("steps must be between 0 and %d: %d", WML_MAX_STEPS, steps)));
	return steps;
}
