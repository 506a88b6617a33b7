/*
 * error.h
 *	  From the core's status to PostgreSQL's errors.
 */
#ifndef WML_ERROR_H
#define WML_ERROR_H

#include "postgres.h"

#include "core/base/status.h"

/* The poll callback handed to the core. */
extern bool wml_poll(void);

/* Raise the error that a status stands for; WMLC_OK returns. */
extern void wml_check(WmlcStatus status);

/*
 * Report malformed input: softly where the server can (PostgreSQL 16), so
 * that pg_input_is_valid and COPY ... ON_ERROR work.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define wml_input_error(fcinfo, ...) ereturn((fcinfo)->context, (Datum) 0, __VA_ARGS__)
#else
#define wml_input_error(fcinfo, ...) ereport(ERROR, __VA_ARGS__)
#endif

#endif							/* WML_ERROR_H */
