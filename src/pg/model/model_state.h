/*
 * model_state.h
 *	  The SQL type wml_model_state: what a model's aggregate has added up.
 */
#ifndef WML_MODEL_STATE_H
#define WML_MODEL_STATE_H

#include "postgres.h"

#include "fmgr.h"

#include "core/model/model.h"

/*
 * On disk.  Before the first task there is only the kind of model: no features,
 * no options and no sums.
 */
typedef struct WmlModelState
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int16		version;
	int16		kind;			/* place in wmlc_model_words */
	int32		dims;
	int32		reserved;
	WmlcModelOptions options;	/* the same for all tasks */
	double		sums[FLEXIBLE_ARRAY_MEMBER];
} WmlModelState;

StaticAssertDecl(offsetof(WmlModelState, sums) % sizeof(double) == 0,
				 "sums of wml_model_state must be aligned");

/*
 * The state behind an argument.  Its bytes may be hostile whatever its type: one
 * that no aggregate can have come to is an error here.
 */
extern WmlModelState *wml_model_state_from_datum(Datum datum);

/*
 * The same of a transition, which only adds to the sums: what they are is left to
 * whoever reads them, and not looked at again with every task.
 */
extern WmlModelState *wml_model_state_own(Datum datum);

/* A new one without tasks, ready for those with so many features. */
extern WmlModelState *wml_model_state_create(int kind, int dims, const WmlcModelOptions *options);

#endif							/* WML_MODEL_STATE_H */
