/*
 * auc_state.c
 *	  Text and binary form of wml_auc_state.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/text.h"
#include "pg/model/auc_state.h"

PG_FUNCTION_INFO_V1(wml_auc_state_in);
PG_FUNCTION_INFO_V1(wml_auc_state_out);
PG_FUNCTION_INFO_V1(wml_auc_state_send);
PG_FUNCTION_INFO_V1(wml_auc_state_recv);

WmlAucState *
wml_auc_state_create(int64 capacity)
{
	Size		size = offsetof(WmlAucState, scores) + capacity * sizeof(double);
	WmlAucState *state = (WmlAucState *) palloc(size);

	memset(state, 0, offsetof(WmlAucState, scores));
	SET_VARSIZE(state, size);
	state->version = WML_AUC_STATE_VERSION;
	return state;
}

WmlAucState *
wml_auc_state_from_datum(Datum datum)
{
	WmlAucState *state = (WmlAucState *) wml_aligned_value(datum);
	Size		size = VARSIZE(state);

	if (size < offsetof(WmlAucState, scores) || size % sizeof(double) != 0 ||
		state->version != WML_AUC_STATE_VERSION ||
		state->positives < 0 || state->negatives < 0 ||
		(int64) state->positives + state->negatives > wml_auc_capacity(state))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of wml_auc has an unknown version or a wrong length")));
	return state;
}

static bool
has_nan(const double *scores, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (isnan(scores[i]))
			return true;
	}
	return false;
}

void
wml_auc_state_check_scores(WmlAucState *state)
{
	if (has_nan(state->scores, state->positives) ||
		has_nan(wml_auc_negatives(state), state->negatives))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of wml_auc is not valid: a score is NaN")));
}

/* {v=1 positives=2 negatives=1 scores=[0.5 1; 0.25]} */
Datum
wml_auc_state_out(PG_FUNCTION_ARGS)
{
	WmlAucState *state = wml_auc_state_from_datum(PG_GETARG_DATUM(0));
	StringInfoData out;

	wml_auc_state_check_scores(state);
	initStringInfo(&out);
	appendStringInfo(&out, "{v=%d positives=%d negatives=%d scores=[", WML_AUC_STATE_VERSION,
					 state->positives, state->negatives);
	wml_append_doubles(&out, state->scores, state->positives);
	appendStringInfoString(&out, "; ");
	wml_append_doubles(&out, wml_auc_negatives(state), state->negatives);
	appendStringInfoString(&out, "]}");
	PG_RETURN_CSTRING(out.data);
}

/* The state in a text, or NULL. */
static WmlAucState *
scan_state(const char *at)
{
	int64		version,
				positives,
				negatives;
	WmlAucState *state;

	if (!wml_scan_word(&at, "{") || !wml_scan_count(&at, "v=", &version) ||
		version != WML_AUC_STATE_VERSION ||
		!wml_scan_count(&at, "positives=", &positives) || positives > WML_AUC_MAX_SCORES ||
		!wml_scan_count(&at, "negatives=", &negatives) || negatives > WML_AUC_MAX_SCORES ||
		!wml_scan_word(&at, "scores=["))
		return NULL;

	/* a score takes at least a digit and what separates it from the next */
	if (positives + negatives > (int64) strlen(at))
		return NULL;
	state = wml_auc_state_create(positives + negatives);
	state->positives = (int32) positives;
	state->negatives = (int32) negatives;
	if (!wml_scan_doubles(&at, state->scores, positives) || !wml_scan_word(&at, ";") ||
		!wml_scan_doubles(&at, state->scores + positives, negatives) ||
		!wml_scan_word(&at, "]") || !wml_scan_end(&at) || has_nan(state->scores, positives + negatives))
		return NULL;
	return state;
}

Datum
wml_auc_state_in(PG_FUNCTION_ARGS)
{
	WmlAucState *state = scan_state(PG_GETARG_CSTRING(0));

	if (state == NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s", "wml_auc_state"),
						 errhint("The aggregate wml_auc makes states.")));
	PG_RETURN_POINTER(state);
}

Datum
wml_auc_state_send(PG_FUNCTION_ARGS)
{
	WmlAucState *state = wml_auc_state_from_datum(PG_GETARG_DATUM(0));
	StringInfoData buffer;

	wml_auc_state_check_scores(state);
	pq_begintypsend(&buffer);
	pq_sendint32(&buffer, WML_AUC_STATE_VERSION);
	pq_sendint32(&buffer, state->positives);
	pq_sendint32(&buffer, state->negatives);
	wml_send_doubles(&buffer, state->scores, state->positives);
	wml_send_doubles(&buffer, wml_auc_negatives(state), state->negatives);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

Datum
wml_auc_state_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	int			version = (int) pq_getmsgint(buffer, 4);
	int64		positives = (int32) pq_getmsgint(buffer, 4);
	int64		negatives = (int32) pq_getmsgint(buffer, 4);
	int64		count = (buffer->len - buffer->cursor) / (int64) sizeof(double);
	WmlAucState *state;

	if (version != WML_AUC_STATE_VERSION || positives < 0 || negatives < 0 ||
		positives + negatives != count || count > WML_AUC_MAX_SCORES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("unsupported version or wrong length of type %s", "wml_auc_state")));
	state = wml_auc_state_create(count);
	state->positives = (int32) positives;
	state->negatives = (int32) negatives;
	wml_receive_doubles(buffer, state->scores, count);
	pq_getmsgend(buffer);
	if (has_nan(state->scores, count))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type %s", "wml_auc_state"),
				 errdetail("A score is NaN.")));
	PG_RETURN_POINTER(state);
}
