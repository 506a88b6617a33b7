/*
 * model_state.c
 *	  Text and binary form of wml_model_state.
 *
 * The state is a type of its own rather than internal, so that partial
 * aggregates travel between processes and to shards as they are; and not bytea, so
 * that what comes in from outside passes the validator.  A damaged page passes no
 * input function: so the aggregates ask the validator, too.  It reads the state
 * once, as every addition of a task does.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "pg/base/compat.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/text.h"
#include "pg/model/model_state.h"
#include "pg/model/step.h"

PG_FUNCTION_INFO_V1(wml_model_state_in);
PG_FUNCTION_INFO_V1(wml_model_state_out);
PG_FUNCTION_INFO_V1(wml_model_state_send);
PG_FUNCTION_INFO_V1(wml_model_state_recv);

#define MODEL_STATE_VERSION 1

static Size
sums_count(int kind, int dims)
{
	return dims == 0 ? 0 : wmlc_model_doubles(kind, dims);
}

static Size
state_size(int kind, int dims)
{
	return offsetof(WmlModelState, sums) + sums_count(kind, dims) * sizeof(double);
}

WmlModelState *
wml_model_state_create(int kind, int dims, const WmlcModelOptions *options)
{
	Size		size = state_size(kind, dims);
	WmlModelState *state = (WmlModelState *) palloc0(size);

	SET_VARSIZE(state, size);
	state->version = MODEL_STATE_VERSION;
	state->kind = kind;
	state->dims = dims;
	if (options != NULL)
		memcpy(&state->options, options, sizeof(WmlcModelOptions));
	return state;
}

/* Is the head one that a state can have, so that its size is known? */
static bool
head_is_valid(const WmlModelState *state)
{
	return state->version == MODEL_STATE_VERSION && state->reserved == 0 &&
		state->kind >= 0 && state->kind < WMLC_MODELS &&
		state->dims >= 0 && state->dims <= WMLC_MAX_DIMS;
}

/* Why a state of the right size is none, or NULL; *finite tells of its sums. */
static const char *
state_invalid(const WmlModelState *state, bool *finite)
{
	const char *problem;

	*finite = true;
	if (state->dims == 0)
		return NULL;
	problem = wml_options_invalid(&state->options);
	if (problem != NULL)
		return problem;
	*finite = wmlc_model_is_finite(state->kind, state->dims, state->sums);
	return *finite ? wmlc_model_invalid(state->kind, state->dims, state->sums) : NULL;
}

static void
check_valid(const char *problem)
{
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of a model is not valid: %s", problem)));
}

WmlModelState *
wml_model_state_own(Datum datum)
{
	WmlModelState *state = (WmlModelState *) wml_aligned_value(datum);
	Size		size = VARSIZE(state);

	if (size < offsetof(WmlModelState, sums) || !head_is_valid(state) ||
		size != state_size(state->kind, state->dims))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("state of a model has an unknown version or a wrong length")));
	if (state->dims > 0)
		check_valid(wml_options_invalid(&state->options));
	return state;
}

WmlModelState *
wml_model_state_from_datum(Datum datum)
{
	WmlModelState *state = wml_model_state_own(datum);
	bool		finite;

	check_valid(state_invalid(state, &finite));
	if (!finite)
		wml_check(WMLC_NOT_FINITE);
	return state;
}

/* {v=1 model=maml d=2 eta=0.1 ... sums=[...]}, or {v=1 model=maml} without tasks */
Datum
wml_model_state_out(PG_FUNCTION_ARGS)
{
	WmlModelState *state = wml_model_state_from_datum(PG_GETARG_DATUM(0));
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "{v=%d model=%s", MODEL_STATE_VERSION,
					 wmlc_word(&wmlc_model_words, state->kind));
	if (state->dims > 0)
	{
		appendStringInfo(&out, " d=%d steps=%d scale=%d", state->dims, state->options.steps,
						 state->options.scale);
		wml_append_number(&out, "eta", state->options.eta);
		wml_append_number(&out, "share", state->options.share);
		wml_append_number(&out, "ridge", state->options.ridge);
		wml_append_number(&out, "radius", state->options.radius);
		appendStringInfoString(&out, " sums=[");
		wml_append_doubles(&out, state->sums, sums_count(state->kind, state->dims));
		appendStringInfoChar(&out, ']');
	}
	appendStringInfoChar(&out, '}');
	PG_RETURN_CSTRING(out.data);
}

/* The longest word that is there; -1 without any. */
static int
scan_kind(const char **at)
{
	const char *start;
	size_t		length = 0;

	if (!wml_scan_word(at, "model="))
		return -1;
	start = *at;
	while ((start[length] >= 'a' && start[length] <= 'z') || start[length] == '_')
		length++;
	*at += length;
	return wmlc_word_value(&wmlc_model_words, start, length);
}

static bool
scan_options(const char **at, int64 *dims, WmlcModelOptions *options)
{
	int64		steps,
				scale;

	if (!wml_scan_count(at, "d=", dims) || *dims < 1 || *dims > WMLC_MAX_DIMS ||
		!wml_scan_count(at, "steps=", &steps) || steps > PG_INT32_MAX ||
		!wml_scan_count(at, "scale=", &scale) || scale > PG_INT32_MAX)
		return false;
	options->steps = (int) steps;
	options->scale = (WmlcScale) scale;
	return wml_scan_number(at, "eta=", &options->eta) && wml_scan_number(at, "share=", &options->share) &&
		wml_scan_number(at, "ridge=", &options->ridge) && wml_scan_number(at, "radius=", &options->radius);
}

/* The state in a text, or NULL; it has the form of one but may not be valid. */
static WmlModelState *
scan_state(const char *at)
{
	WmlcModelOptions options;
	WmlModelState *state;
	int64		version,
				dims;
	int			kind;

	memset(&options, 0, sizeof(options));
	if (!wml_scan_word(&at, "{") || !wml_scan_count(&at, "v=", &version) ||
		version != MODEL_STATE_VERSION)
		return NULL;
	kind = scan_kind(&at);
	if (kind < 0)
		return NULL;
	if (wml_scan_end(&at))
		return wml_model_state_create(kind, 0, NULL);
	if (!scan_options(&at, &dims, &options) || !wml_scan_word(&at, "sums=["))
		return NULL;
	state = wml_model_state_create(kind, (int) dims, &options);
	return wml_scan_doubles(&at, state->sums, sums_count(kind, (int) dims)) && wml_scan_word(&at, "]") &&
		wml_scan_end(&at) ? state : NULL;
}

Datum
wml_model_state_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	WmlModelState *state = scan_state(text);
	const char *problem;
	bool		finite;

	if (state == NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s", "wml_model_state"),
						 errhint("Aggregates make states; the text of one without tasks is {v=%d model=maml}.",
								 MODEL_STATE_VERSION)));
	problem = state_invalid(state, &finite);
	if (problem != NULL || !finite)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid value for type %s", "wml_model_state"),
						 errdetail("The state is not valid: %s.",
								   finite ? problem : "it contains NaN or infinity")));
	PG_RETURN_POINTER(state);
}

Datum
wml_model_state_send(PG_FUNCTION_ARGS)
{
	WmlModelState *state = wml_model_state_from_datum(PG_GETARG_DATUM(0));
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint16(&buffer, MODEL_STATE_VERSION);
	pq_sendint16(&buffer, state->kind);
	pq_sendint32(&buffer, state->dims);
	if (state->dims > 0)
	{
		pq_sendint32(&buffer, state->options.steps);
		pq_sendint32(&buffer, state->options.scale);
		pq_sendfloat8(&buffer, state->options.eta);
		pq_sendfloat8(&buffer, state->options.share);
		pq_sendfloat8(&buffer, state->options.ridge);
		pq_sendfloat8(&buffer, state->options.radius);
	}
	wml_send_doubles(&buffer, state->sums, sums_count(state->kind, state->dims));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

static WmlcModelOptions
receive_options(StringInfo buffer)
{
	WmlcModelOptions options;

	memset(&options, 0, sizeof(options));
	options.steps = (int) pq_getmsgint(buffer, 4);
	options.scale = (WmlcScale) pq_getmsgint(buffer, 4);
	options.eta = pq_getmsgfloat8(buffer);
	options.share = pq_getmsgfloat8(buffer);
	options.ridge = pq_getmsgfloat8(buffer);
	options.radius = pq_getmsgfloat8(buffer);
	return options;
}

Datum
wml_model_state_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	WmlModelState head = {.version = (int16) pq_getmsgint(buffer, 2)};
	WmlModelState *state;
	const char *problem;
	bool		finite;

	head.kind = (int16) pq_getmsgint(buffer, 2);
	head.dims = (int32) pq_getmsgint(buffer, 4);
	if (!head_is_valid(&head))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("unsupported version of type %s", "wml_model_state"),
				 errdetail("The value has version %d, model %d and %d features.",
						   head.version, head.kind, head.dims)));
	if (head.dims > 0)
		head.options = receive_options(buffer);
	state = wml_model_state_create(head.kind, head.dims, &head.options);
	wml_receive_doubles(buffer, state->sums, sums_count(head.kind, head.dims));
	pq_getmsgend(buffer);
	problem = state_invalid(state, &finite);
	if (problem != NULL || !finite)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type %s", "wml_model_state"),
				 errdetail("The state is not valid: %s.",
						   finite ? problem : "it contains NaN or infinity")));
	PG_RETURN_POINTER(state);
}
