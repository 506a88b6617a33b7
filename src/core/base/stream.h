/*
 * stream.h
 *	  Writing a row past the caches, for rows that will be read again only when
 *	  they would have left the caches anyway.
 */
#ifndef WMLC_STREAM_H
#define WMLC_STREAM_H

#include <string.h>

#include "core/base/machine.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

#define WMLC_CACHE_LINE 64

#ifdef WMLC_VECTORS
/* Line by line: with fewer stores, fewer wait for the memory. */
__attribute__((target("avx512f")))
static inline void
wmlc_stream_lines(double *z, const char *features, int lines)
{
	for (int i = 0; i < lines; i++)
		_mm512_stream_pd(z + 8 * i, _mm512_loadu_pd((const double *) features + 8 * i));
}
#endif

/*
 * Write the row (features, response) to `z`, which is the start of a cache line,
 * and zeros up to the end of its last line, so that no line has to be fetched.
 * The features may lie anywhere.
 */
static inline void
wmlc_stream_row(double *z, const char *features, int dims, double response)
{
#ifdef WMLC_VECTORS
	const int	line = WMLC_CACHE_LINE / sizeof(double);
	double		last[2] = {response, 0.0};
	int			i = 0;

	if (__builtin_cpu_supports("avx512f"))
	{
		wmlc_stream_lines(z, features, dims / line);
		i = dims / line * line;
	}
	for (; i + 2 <= dims; i += 2)
		_mm_stream_pd(z + i, _mm_loadu_pd((const double *) features + i));
	if (i < dims)
	{
		memcpy(last, features + i * sizeof(double), sizeof(double));
		last[1] = response;
	}
	_mm_stream_pd(z + i, _mm_loadu_pd(last));
	for (i += 2; i % line != 0; i += 2)
		_mm_stream_pd(z + i, _mm_setzero_pd());
#else
	memcpy(z, features, dims * sizeof(double));
	z[dims] = response;
#endif
}

#endif							/* WMLC_STREAM_H */
