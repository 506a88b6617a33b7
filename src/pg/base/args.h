/*
 * args.h
 *	  Checks of arguments that many functions take.
 */
#ifndef WML_ARGS_H
#define WML_ARGS_H

#include "postgres.h"

#include "fmgr.h"

#include "core/base/words.h"
#include "pg/base/compat.h"

/* The memory context of the aggregate that calls; an error outside of one. */
extern MemoryContext wml_aggregate_context(FunctionCallInfo fcinfo);

/* Argument 0, the state of the aggregate, as it came: NULL or not. */
extern Datum wml_unchanged_state(FunctionCallInfo fcinfo);

/* Is argument 1 or 2 of an aggregate NULL?  Such rows are left out. */
extern bool wml_pair_is_skipped(FunctionCallInfo fcinfo);

/* The argument must not be NULL. */
extern void wml_require_arg(FunctionCallInfo fcinfo, int position, const char *name);

/* The value of an option's word in any case; an error lists the words. */
extern int	wml_arg_word(text *word, const WmlcWords *words, const char *what);

/* The value itself, when it is finite and not negative. */
extern double wml_check_not_negative(double value, const char *name);

/* More steps than this are a mistake, and would take forever. */
#define WML_MAX_STEPS 1000000

extern int	wml_check_steps(int steps);

#endif							/* WML_ARGS_H */
