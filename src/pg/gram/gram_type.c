/*
 * gram_type.c
 *	  Text and binary form of wml_gram.
 *
 * Both forms carry every bit, whatever extra_float_digits says, and both are
 * untrusted on the way in: one validator in the core serves them.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"

#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/text.h"

PG_FUNCTION_INFO_V1(wml_gram_in);
PG_FUNCTION_INFO_V1(wml_gram_out);
PG_FUNCTION_INFO_V1(wml_gram_send);
PG_FUNCTION_INFO_V1(wml_gram_recv);

WmlGram *
wml_gram_create(int dims)
{
	Size		size = wml_gram_size(dims);
	WmlGram    *gram = (WmlGram *) palloc0(size);

	SET_VARSIZE(gram, size);
	gram->version = WML_GRAM_VERSION;
	wmlc_gram_init(&gram->body, dims);
	return gram;
}

/* How many bytes of a text to quote in a message. */
static int
quoted_length(const char *text)
{
	return pg_mbcliplen(text, strlen(text), 80);
}

static void
append_dd(StringInfo out, const char *label, WmlcDd value)
{
	appendStringInfoString(out, label);
	enlargeStringInfo(out, WML_DD_LENGTH);
	out->len += wml_write_dd(out->data + out->len, value);
	out->data[out->len] = '\0';
}

static void
append_double(StringInfo out, const char *label, double value)
{
	appendStringInfoString(out, label);
	wml_append_double(out, value);
}

/* The triangle row by row: a space between entries, "; " between rows. */
static void
append_sums(StringInfo out, const WmlcGram *gram)
{
	size_t		entries = wmlc_gram_entries(gram->dims);
	size_t		k = 0;
	char	   *at;

	/* Once for all entries; 1024 features take 27 MB. */
	enlargeStringInfo(out, (int) (entries * (WML_DD_LENGTH + strlen("; "))));
	at = out->data + out->len;
	for (int i = 0; k < entries; i++)
	{
		if (i > 0)
			*at++ = ';';
		for (int j = i; j <= gram->dims; j++, k++)
		{
			if (k > 0)
				*at++ = ' ';
			at += wml_write_dd(at, (WmlcDd) {gram->sums[k], gram->sums[entries + k]});
		}
	}
	out->len = (int) (at - out->data);
	out->data[out->len] = '\0';
}

/* A count that is not known is a question mark. */
static void
append_counts(StringInfo out, const char *label, const int64 *counts, int n)
{
	appendStringInfoString(out, label);
	appendStringInfoChar(out, '[');
	for (int i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoChar(out, ' ');
		if (counts[i] < 0)
			appendStringInfoChar(out, '?');
		else
			appendStringInfo(out, INT64_FORMAT, counts[i]);
	}
	appendStringInfoChar(out, ']');
}

/* What hardly any gram has is left out where there is none of it. */
Datum
wml_gram_out(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "{v=%d d=%d n=" INT64_FORMAT " skipped=" INT64_FORMAT
					 " weightless=" INT64_FORMAT,
					 WML_GRAM_VERSION, gram->dims, gram->rows, gram->skipped, gram->weightless);
	append_dd(&out, " weight=", gram->weight);
	append_dd(&out, " weight2=", gram->weight_squares);
	if (gram->weight_exponent != 0)
		appendStringInfo(&out, "*4^%d", (int) gram->weight_exponent);
	append_dd(&out, " q=", gram->q);
	append_dd(&out, " h=", gram->h);
	append_double(&out, " norm2=", gram->max_norm_square);
	append_double(&out, " response=", gram->max_response);
	append_counts(&out, " not1=", wmlc_gram_not_one(gram), gram->dims);
	if (gram->exceptions != 0)
	{
		appendStringInfo(&out, " exceptions=" INT64_FORMAT, gram->exceptions);
		append_counts(&out, " bad=", wmlc_gram_bad(gram), gram->dims + 2);
	}
	appendStringInfoString(&out, " sums=[");
	append_sums(&out, gram);
	appendStringInfoString(&out, "]}");
	PG_RETURN_CSTRING(out.data);
}

/* Reading text. */
static bool
scan_dd(const char **at, WmlcDd *value)
{
	value->lo = 0.0;
	if (!wml_scan_double(at, &value->hi))
		return false;
	if (**at == '-' || **at == '+')
		return wml_scan_double(at, &value->lo);
	return true;
}

/* The unit of the squared weights, if it is not 1. */
static bool
scan_exponent(const char **at, int64 *exponent)
{
	bool		negative;

	*exponent = 0;
	if (**at != '*')
		return true;
	if (!wml_scan_word(at, "*4^"))
		return false;
	negative = **at == '-';
	if (negative)
		(*at)++;
	if (!wml_scan_count(at, "", exponent))
		return false;
	if (negative)
		*exponent = -*exponent;
	return true;
}

static bool
scan_counts(const char **at, const char *label, int64 *counts, int n)
{
	if (!wml_scan_word(at, label) || !wml_scan_word(at, "["))
		return false;
	for (int i = 0; i < n; i++)
	{
		if (wml_scan_word(at, "?"))
			counts[i] = WMLC_UNKNOWN_COUNT;
		else if (!wml_scan_count(at, "", &counts[i]))
			return false;
	}
	return wml_scan_word(at, "]");
}

/* All up to the arrays; the version before this one told the constant feature here. */
static bool
scan_header(const char **at, WmlcGram *header, int64 *version)
{
	int64		dims,
				constant = 0;

	if (!wml_scan_word(at, "{") || !wml_scan_count(at, "v=", version) ||
		*version < 1 || *version > WML_GRAM_VERSION ||
		!wml_scan_count(at, "d=", &dims) || dims > WMLC_MAX_DIMS ||
		!wml_scan_count(at, "n=", &header->rows) ||
		!wml_scan_count(at, "skipped=", &header->skipped) ||
		!wml_scan_count(at, "weightless=", &header->weightless) ||
		(*version == 1 && (!wml_scan_count(at, "constant=", &constant) || constant > dims)))
		return false;
	header->dims = (int32) dims;
	header->constant = (int32) constant - 1;
	return wml_scan_word(at, "weight=") && scan_dd(at, &header->weight) &&
		wml_scan_word(at, "weight2=") && scan_dd(at, &header->weight_squares) &&
		(*version == 1 || scan_exponent(at, &header->weight_exponent)) &&
		wml_scan_word(at, "q=") && scan_dd(at, &header->q) &&
		wml_scan_word(at, "h=") && scan_dd(at, &header->h) &&
		wml_scan_word(at, "norm2=") && wml_scan_double(at, &header->max_norm_square) &&
		wml_scan_word(at, "response=") && wml_scan_double(at, &header->max_response);
}

/* The counts behind the sums come before them, because they are short. */
static bool
scan_all_counts(const char **at, WmlcGram *gram)
{
	if (!scan_counts(at, "not1=", wmlc_gram_not_one(gram), gram->dims))
		return false;
	if (!wml_scan_word(at, "exceptions="))
		return true;
	return wml_scan_count(at, "", &gram->exceptions) &&
		gram->dims > 0 && scan_counts(at, "bad=", wmlc_gram_bad(gram), gram->dims + 2);
}

/* Entries are separated by space, rows by a semicolon that may be left out. */
static bool
scan_sums(const char **at, WmlcGram *gram)
{
	size_t		entries = wmlc_gram_entries(gram->dims);

	if (!wml_scan_word(at, "sums=["))
		return false;
	for (size_t k = 0; k < entries; k++)
	{
		WmlcDd		sum;

		(void) wml_scan_word(at, ";");
		wml_scan_space(at);
		if (!scan_dd(at, &sum))
			return false;
		gram->sums[k] = sum.hi;
		gram->sums[entries + k] = sum.lo;
	}
	if (!wml_scan_word(at, "]") || !wml_scan_word(at, "}"))
		return false;
	wml_scan_space(at);
	return **at == '\0';
}

/* What is left to find, and to check. */
static const char *
complete(WmlcGram *gram, int version)
{
	const char *problem = NULL;

	if (version == 1)
		problem = wmlc_gram_upgrade(gram);
	return problem != NULL ? problem : wmlc_gram_invalid(gram, wmlc_gram_bytes(gram->dims));
}

Datum
wml_gram_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	const char *at = text;
	int64		version;
	WmlcGram	header;
	WmlGram    *gram;
	const char *problem;

	memset(&header, 0, sizeof(header));
	if (!scan_header(&at, &header, &version))
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s: \"%.*s\"", "wml_gram",
								quoted_length(text), text),
						 errhint("Use the aggregate wml_gram to make grams; their text form begins with {v=%d d=.",
								 WML_GRAM_VERSION)));
	gram = wml_gram_create(header.dims);
	memcpy(&gram->body, &header, sizeof(header));
	if ((version > 1 && !scan_all_counts(&at, &gram->body)) || !scan_sums(&at, &gram->body))
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s: \"%.*s\"", "wml_gram",
								quoted_length(text), text),
						 errdetail("A gram of %d features has exactly %d sums.",
								   header.dims, (int) wmlc_gram_entries(header.dims))));
	if (version > 1)
		gram->body.constant = wmlc_gram_find_constant(&gram->body);
	problem = complete(&gram->body, (int) version);
	if (problem != NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid value for type %s", "wml_gram"),
						 errdetail("The gram is not valid: %s.", problem)));
	PG_RETURN_GRAM(gram);
}

static void
send_dd(StringInfo buffer, WmlcDd value)
{
	pq_sendfloat8(buffer, value.hi);
	pq_sendfloat8(buffer, value.lo);
}

Datum
wml_gram_send(PG_FUNCTION_ARGS)
{
	const WmlcGram *gram = PG_GETARG_GRAM(0);
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint16(&buffer, WML_GRAM_VERSION);
	pq_sendint16(&buffer, 0);
	pq_sendint32(&buffer, gram->dims);
	pq_sendint32(&buffer, gram->constant);
	pq_sendint64(&buffer, gram->rows);
	pq_sendint64(&buffer, gram->skipped);
	pq_sendint64(&buffer, gram->weightless);
	pq_sendint64(&buffer, gram->exceptions);
	pq_sendint64(&buffer, gram->weight_exponent);
	send_dd(&buffer, gram->weight);
	send_dd(&buffer, gram->weight_squares);
	send_dd(&buffer, gram->q);
	send_dd(&buffer, gram->h);
	pq_sendfloat8(&buffer, gram->max_norm_square);
	pq_sendfloat8(&buffer, gram->max_response);
	for (size_t k = 0; k < 2 * wmlc_gram_entries(gram->dims); k++)
		pq_sendfloat8(&buffer, gram->sums[k]);
	for (size_t k = 0; k < wmlc_gram_counts(gram->dims); k++)
		pq_sendint64(&buffer, Max(wmlc_gram_not_one(gram)[k], -1));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

/* Of a NaN only the sign is kept, which is all that the text form tells. */
static double
receive_double(StringInfo buffer)
{
	double		value = pq_getmsgfloat8(buffer);

	return isnan(value) ? copysign(NAN, value) : value;
}

static WmlcDd
receive_dd(StringInfo buffer)
{
	WmlcDd		value;

	value.hi = receive_double(buffer);
	value.lo = receive_double(buffer);
	return value;
}

/* All behind the number of features. */
static void
receive_body(StringInfo buffer, WmlcGram *gram, int version)
{
	gram->constant = (int32) pq_getmsgint(buffer, 4);
	gram->rows = pq_getmsgint64(buffer);
	gram->skipped = pq_getmsgint64(buffer);
	gram->weightless = pq_getmsgint64(buffer);
	if (version > 1)
	{
		gram->exceptions = pq_getmsgint64(buffer);
		gram->weight_exponent = pq_getmsgint64(buffer);
	}
	gram->weight = receive_dd(buffer);
	gram->weight_squares = receive_dd(buffer);
	gram->q = receive_dd(buffer);
	gram->h = receive_dd(buffer);
	gram->max_norm_square = receive_double(buffer);
	gram->max_response = receive_double(buffer);
	for (size_t k = 0; k < 2 * wmlc_gram_entries(gram->dims); k++)
		gram->sums[k] = receive_double(buffer);
	for (size_t k = 0; version > 1 && k < wmlc_gram_counts(gram->dims); k++)
	{
		int64		count = pq_getmsgint64(buffer);

		wmlc_gram_not_one(gram)[k] = count < 0 ? WMLC_UNKNOWN_COUNT : count;
	}
}

Datum
wml_gram_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	int			version = pq_getmsgint(buffer, 2);
	int			flags = pq_getmsgint(buffer, 2);
	int32		dims = (int32) pq_getmsgint(buffer, 4);
	WmlGram    *gram;
	const char *problem;

	if (version < 1 || version > WML_GRAM_VERSION || flags != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("unsupported version of type %s", "wml_gram"),
				 errdetail("The value has version %d and flags %d; this is version %d.",
						   version, flags, WML_GRAM_VERSION)));
	if (dims < 0 || dims > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("number of features of type %s is out of range: %d", "wml_gram", dims)));

	gram = wml_gram_create(dims);
	receive_body(buffer, &gram->body, version);
	pq_getmsgend(buffer);

	problem = complete(&gram->body, version);
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type %s", "wml_gram"),
				 errdetail("The gram is not valid: %s.", problem)));
	PG_RETURN_GRAM(gram);
}
