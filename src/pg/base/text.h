/*
 * text.h
 *	  Writing and reading the text and binary forms of our types.
 *
 * Numbers keep every bit, whatever extra_float_digits says.  The scanner
 * functions move *at over what they accept, and return false when they cannot.
 */
#ifndef WML_TEXT_H
#define WML_TEXT_H

#include "postgres.h"

#include "common/shortest_dec.h"
#include "lib/stringinfo.h"

#include "core/dd/dd.h"

/*
 * A double-double as the sum that it is, or hi alone: 0.3-1.1e-17.  Returns the
 * length, without a NUL.
 */
#define WML_DD_LENGTH (2 * DOUBLE_SHORTEST_DECIMAL_LEN)
extern int	wml_write_dd(char *at, WmlcDd value);

/* The shortest decimals that read back as the same bits. */
extern void wml_append_double(StringInfo out, double value);

/* " name=value" */
extern void wml_append_number(StringInfo out, const char *name, double value);

/* With spaces between them. */
extern void wml_append_doubles(StringInfo out, const double *values, Size count);

extern void wml_scan_space(const char **at);

/* The word, after any white space. */
extern bool wml_scan_word(const char **at, const char *word);

/* The word and an integer without sign behind it. */
extern bool wml_scan_count(const char **at, const char *word, int64 *value);

extern bool wml_scan_double(const char **at, double *value);

/* The label and a number behind it. */
extern bool wml_scan_number(const char **at, const char *label, double *value);

extern bool wml_scan_doubles(const char **at, double *values, Size count);

/* The closing brace, and nothing behind it. */
extern bool wml_scan_end(const char **at);

extern void wml_send_doubles(StringInfo buffer, const double *values, Size count);
extern void wml_receive_doubles(StringInfo buffer, double *values, Size count);

#endif							/* WML_TEXT_H */
