/*
 * fuzz.h
 *	  Taking values off the bytes that libFuzzer gives.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/status.h"

typedef struct Bytes
{
	const uint8_t *at;
	size_t		left;
} Bytes;

/* So many bytes into `result`; zeros when there are no more. */
static inline void
take(Bytes *bytes, void *result, size_t size)
{
	size_t		have = size < bytes->left ? size : bytes->left;

	memset(result, 0, size);
	if (have > 0)
		memcpy(result, bytes->at, have);
	bytes->at += have;
	bytes->left -= have;
}

static inline uint8_t
take_byte(Bytes *bytes)
{
	uint8_t		result;

	take(bytes, &result, 1);
	return result;
}

static inline double
take_double(Bytes *bytes)
{
	double		result;

	take(bytes, &result, sizeof(result));
	return result;
}

/* The rest of the bytes says which words of a valid value are changed, and to what. */
static inline void
change_words(Bytes *bytes, void *value, size_t size)
{
	while (bytes->left > 0 && size >= sizeof(uint64_t))
	{
		uint16_t	place;

		take(bytes, &place, sizeof(place));
		take(bytes, (uint8_t *) value + place % (size / sizeof(uint64_t)) * sizeof(uint64_t), sizeof(uint64_t));
	}
}

/* Memory of exactly this size, so that a sanitizer sees the first byte beyond. */
static inline void *
allocate(size_t size)
{
	void	   *result = calloc(1, size > 0 ? size : 1);

	if (result == NULL)
		abort();
	return result;
}

/* What must hold does not. */
static inline void
require(int holds, const char *what)
{
	if (!holds)
	{
		fprintf(stderr, "broken: %s\n", what);
		abort();
	}
}

/* Iterations over hostile numbers may take long; they hear this after a while. */
static int	fuzz_polls;

static inline bool
fuzz_poll(void)
{
	return ++fuzz_polls > 1000;
}

#endif							/* FUZZ_H */
