/*
 * gram.h
 *	  The SQL type wml_gram: its bytes on disk, its form in memory, and how
 *	  functions receive and return it.
 */
#ifndef WML_GRAM_H
#define WML_GRAM_H

#include "postgres.h"

#include "fmgr.h"

#include "core/gram/gram.h"
#include "pg/base/compat.h"

/* The version that is written; version 1 is read, too. */
#define WML_GRAM_VERSION 2

/* On disk.  The flags are reserved and zero. */
typedef struct WmlGram
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint16		version;
	uint16		flags;
	WmlcGram	body;
} WmlGram;

/* The body is read in place, so its doubles must be aligned. */
StaticAssertDecl(offsetof(WmlGram, body) == 8, "body of wml_gram must be aligned");

static inline Size
wml_gram_size(int dims)
{
	return offsetof(WmlGram, body) + wmlc_gram_bytes(dims);
}

/* A new gram without rows. */
extern WmlGram *wml_gram_create(int dims);

/* The sums behind an argument, flat, toasted or expanded; not to be changed. */
extern const WmlcGram *wml_gram_from_datum(Datum datum);

#define PG_GETARG_GRAM(n) wml_gram_from_datum(PG_GETARG_DATUM(n))
#define PG_RETURN_GRAM(gram) PG_RETURN_POINTER(gram)

/*
 * Refuse what no solver can use: a gram with NaN or infinity, or without any
 * weighted row.  `role` names the gram in the message ("source", "target").
 */
extern void wml_gram_check_solvable(const WmlcGram *gram, const char *role);

/* Both grams must have the same number of features. */
extern void wml_gram_check_same_dims(const WmlcGram *a, const WmlcGram *b);

/* Coefficients must match the gram's features. */
extern void wml_gram_check_coefficients(const WmlcGram *gram, int count);

/* A gram to standardise by must be able to tell means. */
extern void wml_gram_check_reference(const WmlcGram *reference);

#endif							/* WML_GRAM_H */
