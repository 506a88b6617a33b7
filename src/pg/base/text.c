/*
 * text.c
 *	  Writing and reading the text and binary forms of our types.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "common/shortest_dec.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "pg/base/text.h"

/* The server's own NaN has no sign; strtod reads the one that ours has. */
static int
write_double(char *at, double value)
{
	if (isnan(value) && signbit(value))
	{
		memcpy(at, "-NaN", 4);
		return 4;
	}
	return double_to_shortest_decimal_bufn(value, at);
}

int
wml_write_dd(char *at, WmlcDd value)
{
	int			length = write_double(at, value.hi);

	if (value.lo == 0.0)
		return length;
	if (value.lo > 0.0)
		at[length++] = '+';
	return length + double_to_shortest_decimal_bufn(value.lo, at + length);
}

void
wml_append_double(StringInfo out, double value)
{
	enlargeStringInfo(out, DOUBLE_SHORTEST_DECIMAL_LEN);
	out->len += write_double(out->data + out->len, value);
	out->data[out->len] = '\0';
}

void
wml_append_number(StringInfo out, const char *name, double value)
{
	appendStringInfo(out, " %s=", name);
	wml_append_double(out, value);
}

void
wml_append_doubles(StringInfo out, const double *values, Size count)
{
	for (Size i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i > 0)
			appendStringInfoChar(out, ' ');
		wml_append_double(out, values[i]);
	}
}

void
wml_scan_space(const char **at)
{
	while (isspace((unsigned char) **at))
		(*at)++;
}

bool
wml_scan_word(const char **at, const char *word)
{
	size_t		length = strlen(word);

	wml_scan_space(at);
	if (strncmp(*at, word, length) != 0)
		return false;
	*at += length;
	return true;
}

bool
wml_scan_count(const char **at, const char *word, int64 *value)
{
	int64		result = 0;
	const char *start;

	if (!wml_scan_word(at, word))
		return false;
	for (start = *at; isdigit((unsigned char) **at); (*at)++)
	{
		int			digit = **at - '0';

		if (result > (PG_INT64_MAX - digit) / 10)
			return false;
		result = result * 10 + digit;
	}
	*value = result;
	return *at > start;
}

/* The backend's numeric locale is always C, so strtod reads what we write. */
bool
wml_scan_double(const char **at, double *value)
{
	const char *first = *at;
	char	   *end;

	if (*first == '-' || *first == '+')
		first++;
	if (!isdigit((unsigned char) *first) && *first != 'I' && *first != 'N')
		return false;
	errno = 0;
	*value = strtod(*at, &end);
	if (end == *at || (errno == ERANGE && isinf(*value)))
		return false;
	*at = end;
	return true;
}

bool
wml_scan_number(const char **at, const char *label, double *value)
{
	return wml_scan_word(at, label) && wml_scan_double(at, value);
}

bool
wml_scan_doubles(const char **at, double *values, Size count)
{
	for (Size i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		wml_scan_space(at);
		if (!wml_scan_double(at, &values[i]))
			return false;
	}
	return true;
}

bool
wml_scan_end(const char **at)
{
	if (!wml_scan_word(at, "}"))
		return false;
	wml_scan_space(at);
	return **at == '\0';
}

void
wml_send_doubles(StringInfo buffer, const double *values, Size count)
{
	for (Size i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		pq_sendfloat8(buffer, values[i]);
	}
}

void
wml_receive_doubles(StringInfo buffer, double *values, Size count)
{
	for (Size i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		values[i] = pq_getmsgfloat8(buffer);
	}
}
