/*
 * step.c
 *	  The SQL type wml_step, options of a model by name: wml_step(eta => 0.1,
 *	  steps => 5).
 *
 * PostgreSQL knows named arguments and defaults for functions, not for
 * aggregates; so aggregates take them as one value, and what is not given stays
 * what the model makes of it.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/text.h"
#include "pg/model/hinge.h"
#include "pg/model/step.h"

PG_FUNCTION_INFO_V1(wml_step);
PG_FUNCTION_INFO_V1(wml_step_in);
PG_FUNCTION_INFO_V1(wml_step_out);
PG_FUNCTION_INFO_V1(wml_step_send);
PG_FUNCTION_INFO_V1(wml_step_recv);

#define STEP_VERSION 1

/* On disk; INTERNALLENGTH in the script is its size. */
typedef struct WmlStep
{
	int16		version;
	int16		given;			/* bits of WmlcModelOption */
	int32		reserved;
	WmlcModelOptions options;
} WmlStep;

StaticAssertDecl(sizeof(WmlStep) == 48, "size of wml_step must be that of the install script");

/* The options in the order of their text form, and of the arguments of wml_step. */
typedef enum FieldKind
{
	NUMBER,
	COUNT,
	SCALE
} FieldKind;

static const struct
{
	const char *name;
	WmlcModelOption bit;
	FieldKind	kind;
	size_t		offset;
}			fields[] = {
	{"eta", WMLC_OPTION_ETA, NUMBER, offsetof(WmlcModelOptions, eta)},
	{"steps", WMLC_OPTION_STEPS, COUNT, offsetof(WmlcModelOptions, steps)},
	{"ridge", WMLC_OPTION_RIDGE, NUMBER, offsetof(WmlcModelOptions, ridge)},
	{"scale", WMLC_OPTION_SCALE, SCALE, offsetof(WmlcModelOptions, scale)},
	{"radius", WMLC_OPTION_RADIUS, NUMBER, offsetof(WmlcModelOptions, radius)},
	{"share", WMLC_OPTION_SHARE, NUMBER, offsetof(WmlcModelOptions, share)}
};

#define NUMBER_OF(step, i) (*(double *) ((char *) &(step)->options + fields[i].offset))
#define COUNT_OF(step, i) (*(int *) ((char *) &(step)->options + fields[i].offset))

static bool
is_not_negative(double value)
{
	return value >= 0.0 && !isinf(value);
}

const char *
wml_options_invalid(const WmlcModelOptions *options)
{
	if (!is_not_negative(options->eta))
		return "eta is negative or not finite";
	if (!(options->share >= 0.0 && options->share <= 1.0))
		return "share does not lie between 0 and 1";
	if (options->share > 0.0 && options->eta != 0.0)
		return "eta and share exclude each other";
	if (!is_not_negative(options->ridge))
		return "ridge is negative or not finite";
	if (!is_not_negative(options->radius) || options->radius == 0.0)
		return "radius is not positive or not finite";
	if (options->steps < 0 || options->steps > WML_MAX_STEPS)
		return "steps are out of range";
	if (options->scale != WMLC_SCALE_MEAN && options->scale != WMLC_SCALE_SUM)
		return "scale is out of range";
	return NULL;
}

static const char *
step_invalid(const WmlStep *step)
{
	if (step->version != STEP_VERSION)
		return "its version is unknown";
	if ((step->given & ~WMLC_ALL_OPTIONS) != 0 || step->reserved != 0)
		return "it has unknown options";
	return wml_options_invalid(&step->options);
}

void
wml_set_step_size(WmlcModelOptions *options, double eta, double share)
{
	if (!isnan(eta) && !isnan(share))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("eta and share exclude each other"),
				 errhint("Specify either the step size or its share of the largest stable step.")));
	options->eta = isnan(eta) ? 0.0 : wml_check_not_negative(eta, "eta");
	options->share = !isnan(eta) ? 0.0 : isnan(share) ? WMLC_DEFAULT_SHARE : share;
	if (isnan(eta) && !(options->share > 0.0 && options->share <= 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("share must be larger than 0 and at most 1: %g", share)));
}

static WmlStep *
create_step(void)
{
	WmlStep    *step = (WmlStep *) palloc0(sizeof(WmlStep));

	step->version = STEP_VERSION;
	step->options = wmlc_default_options;
	return step;
}

double
wml_get_number(FunctionCallInfo fcinfo, int position, const char *name)
{
	if (PG_ARGISNULL(position))
		return NAN;
	if (isnan(PG_GETARG_FLOAT8(position)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be NaN", name)));
	return PG_GETARG_FLOAT8(position);
}

/* wml_step(eta, steps, ridge, scale, radius, share); NULL is not given */
Datum
wml_step(PG_FUNCTION_ARGS)
{
	WmlStep    *step = create_step();

	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		if (!PG_ARGISNULL(i))
			step->given |= fields[i].bit;
	}
	wml_set_step_size(&step->options, wml_get_number(fcinfo, 0, "eta"),
					  wml_get_number(fcinfo, 5, "share"));
	if (!PG_ARGISNULL(1))
		step->options.steps = wml_check_steps(PG_GETARG_INT32(1));
	if (!PG_ARGISNULL(2))
		step->options.ridge = wml_check_not_negative(PG_GETARG_FLOAT8(2), "ridge");
	if (!PG_ARGISNULL(3))
		step->options.scale = wml_arg_word(PG_GETARG_TEXT_PP(3), &wmlc_scale_words, "scale");
	if (!PG_ARGISNULL(4))
		step->options.radius = wml_check_radius(PG_GETARG_FLOAT8(4));
	PG_RETURN_POINTER(step);
}

static const char *
list_options(unsigned bits)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		if ((bits & fields[i].bit) != 0)
			appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ", fields[i].name);
	}
	return list.data;
}

WmlcModelOptions
wml_step_options(Datum datum, int kind)
{
	const WmlStep *step = (const WmlStep *) DatumGetPointer(datum);
	const char *problem = step_invalid(step);
	unsigned	unknown;

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value of type %s is not valid: %s", "wml_step", problem)));
	unknown = step->given & ~wmlc_model_knows(kind);
	if (unknown != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("model \"%s\" does not have this option: %s",
						wmlc_word(&wmlc_model_words, kind), list_options(unknown)),
				 errhint("Its options are: %s.", list_options(wmlc_model_knows(kind)))));
	return step->options;
}

/* The options that are given: {eta=0.1 steps=5} */
Datum
wml_step_out(PG_FUNCTION_ARGS)
{
	WmlStep    *step = (WmlStep *) PG_GETARG_POINTER(0);
	StringInfoData out;

	if (step_invalid(step) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored value of type %s is not valid: %s", "wml_step", step_invalid(step))));
	initStringInfo(&out);
	appendStringInfoChar(&out, '{');
	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		if ((step->given & fields[i].bit) == 0)
			continue;
		appendStringInfo(&out, "%s%s=", out.len > 1 ? " " : "", fields[i].name);
		if (fields[i].kind == NUMBER)
			wml_append_double(&out, NUMBER_OF(step, i));
		else if (fields[i].kind == COUNT)
			appendStringInfo(&out, "%d", COUNT_OF(step, i));
		else
			appendStringInfoString(&out, wmlc_word(&wmlc_scale_words, COUNT_OF(step, i)));
	}
	appendStringInfoChar(&out, '}');
	PG_RETURN_CSTRING(out.data);
}

static bool
scan_value(const char **at, WmlStep *step, int i)
{
	int64		count;

	switch (fields[i].kind)
	{
		case NUMBER:
			return wml_scan_double(at, &NUMBER_OF(step, i));
		case COUNT:
			if (!wml_scan_count(at, "", &count) || count > WML_MAX_STEPS)
				return false;
			COUNT_OF(step, i) = (int) count;
			return true;
		case SCALE:
			for (int value = 0; value < wmlc_words_count(&wmlc_scale_words); value++)
			{
				if (wml_scan_word(at, wmlc_word(&wmlc_scale_words, value)))
				{
					COUNT_OF(step, i) = value;
					return true;
				}
			}
	}
	return false;
}

/* name=value of any option that was not yet given */
static bool
scan_option(const char **at, WmlStep *step)
{
	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		const char *start = *at;

		if ((step->given & fields[i].bit) == 0 && wml_scan_word(at, fields[i].name) &&
			**at == '=')
		{
			(*at)++;
			step->given |= fields[i].bit;
			return scan_value(at, step, i);
		}
		*at = start;
	}
	return false;
}

Datum
wml_step_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *at = text;
	WmlStep    *step = create_step();
	bool		valid = wml_scan_word(&at, "{");
	const char *problem;

	while (valid && !wml_scan_word(&at, "}"))
		valid = scan_option(&at, step);
	wml_scan_space(&at);
	if (!valid || *at != '\0')
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s: \"%.80s\"", "wml_step", text),
						 errhint("Options look like {eta=0.1 steps=5}.")));
	if ((step->given & WMLC_OPTION_ETA) != 0 && (step->given & WMLC_OPTION_SHARE) == 0)
		step->options.share = 0.0;
	problem = wml_options_invalid(&step->options);
	if (problem != NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid value for type %s", "wml_step"),
						 errdetail("The options are not valid: %s.", problem)));
	PG_RETURN_POINTER(step);
}

Datum
wml_step_send(PG_FUNCTION_ARGS)
{
	WmlStep    *step = (WmlStep *) PG_GETARG_POINTER(0);
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint16(&buffer, STEP_VERSION);
	pq_sendint16(&buffer, step->given);
	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		if (fields[i].kind == NUMBER)
			pq_sendfloat8(&buffer, NUMBER_OF(step, i));
		else
			pq_sendint32(&buffer, COUNT_OF(step, i));
	}
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

Datum
wml_step_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	WmlStep    *step = create_step();
	const char *problem;

	step->version = (int16) pq_getmsgint(buffer, 2);
	step->given = (int16) pq_getmsgint(buffer, 2);
	for (int i = 0; i < (int) lengthof(fields); i++)
	{
		if (fields[i].kind == NUMBER)
			NUMBER_OF(step, i) = pq_getmsgfloat8(buffer);
		else
			COUNT_OF(step, i) = (int) pq_getmsgint(buffer, 4);
	}
	pq_getmsgend(buffer);
	problem = step_invalid(step);
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type %s", "wml_step"),
				 errdetail("The options are not valid: %s.", problem)));
	PG_RETURN_POINTER(step);
}
