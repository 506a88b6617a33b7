/*
 * decimal.h
 *	  The shortest decimal form of a double that reads back as the same bits.
 *
 * Character for character as PostgreSQL writes a float8, in less than half the
 * time.  Both functions return the length.  They write no NUL at the end, but
 * may overwrite as many bytes as the longest form has.
 */
#ifndef WMLC_DECIMAL_H
#define WMLC_DECIMAL_H

#include "dd.h"

/* -1.2345678901234567e-123 */
#define WMLC_DECIMAL_LENGTH 24
#define WMLC_DECIMAL_DD_LENGTH (2 * WMLC_DECIMAL_LENGTH + 1)

extern int	wmlc_decimal(double value, char *out);

/* A double-double as the sum that it is, or hi alone: 0.3-1.1e-17 */
extern int	wmlc_decimal_dd(WmlcDd value, char *out);

#endif							/* WMLC_DECIMAL_H */
