/*
 * step.h
 *	  The SQL type wml_step: options of a model.
 */
#ifndef WML_STEP_H
#define WML_STEP_H

#include "postgres.h"

#include "fmgr.h"

#include "core/model/model.h"

/* The options behind an argument, when the model knows all that are given. */
extern WmlcModelOptions wml_step_options(Datum datum, int kind);

/* Why these are no options, or NULL; nothing in them is trusted. */
extern const char *wml_options_invalid(const WmlcModelOptions *options);

/* A float8 argument, NaN when it is NULL; it may not be NaN itself. */
extern double wml_get_number(FunctionCallInfo fcinfo, int position, const char *name);

/* Step size or share, of which at most one is given: NaN stands for none. */
extern void wml_set_step_size(WmlcModelOptions *options, double eta, double share);

#endif							/* WML_STEP_H */
