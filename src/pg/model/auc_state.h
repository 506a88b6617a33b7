/*
 * auc_state.h
 *	  The SQL type wml_auc_state: the scores that wml_auc has seen.
 */
#ifndef WML_AUC_STATE_H
#define WML_AUC_STATE_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "pg/base/compat.h"

#define WML_AUC_STATE_VERSION 1

/*
 * On disk.  Scores of positive rows fill one array from its front, those of
 * negative rows from its end.
 */
typedef struct WmlAucState
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		version;
	int32		positives;
	int32		negatives;
	double		scores[FLEXIBLE_ARRAY_MEMBER];
} WmlAucState;

#define WML_AUC_MAX_SCORES \
	((int64) ((MaxAllocSize - offsetof(WmlAucState, scores)) / sizeof(double)))

static inline int64
wml_auc_capacity(const WmlAucState *state)
{
	return (VARSIZE(state) - offsetof(WmlAucState, scores)) / sizeof(double);
}

static inline double *
wml_auc_negatives(WmlAucState *state)
{
	return state->scores + wml_auc_capacity(state) - state->negatives;
}

/* One with room for so many scores, and none of them set. */
extern WmlAucState *wml_auc_state_create(int64 capacity);

/*
 * The state behind an argument.  Its bytes may be hostile whatever its type; here
 * only those are looked at that say where scores are, since every row would
 * otherwise look at all scores of those before it.
 */
extern WmlAucState *wml_auc_state_from_datum(Datum datum);

/* The scores must be numbers, too; for those who read them. */
extern void wml_auc_state_check_scores(WmlAucState *state);

#endif							/* WML_AUC_STATE_H */
