/*
 * test_stream.c
 *	  Rows written past the caches arrive whole, and nothing else changes.
 */
#include <string.h>

#include "core/base/stream.h"

#include "check.h"

#define MAX_DIMS 70
#define GUARD 1.2345e67

int
main(void)
{
	const int	line = WMLC_CACHE_LINE / sizeof(double);
	static _Alignas(WMLC_CACHE_LINE) double memory[MAX_DIMS + 1 + 3 * WMLC_CACHE_LINE / sizeof(double)];
	const int	size = sizeof(memory) / sizeof(double);
	double	   *z = memory + line;
	char		page[(MAX_DIMS + 1) * sizeof(double)];
	double		features[MAX_DIMS];
	uint64_t	seed = 1;

	for (int dims = 1; dims <= MAX_DIMS; dims++)
	{
		char	   *unaligned = page + dims % sizeof(double);
		int			lines_end = (dims + line) / line * line;
		int			changed = 0;

		for (int i = 0; i < size; i++)
			memory[i] = GUARD;
		for (int i = 0; i < dims; i++)
			features[i] = check_normal(&seed);
		memcpy(unaligned, features, dims * sizeof(double));
		wmlc_stream_row(z, unaligned, dims, 7.5);
		CHECK(memcmp(z, features, dims * sizeof(double)) == 0, "%d features", dims);
		CHECK(z[dims] == 7.5, "%d features", dims);
		for (int i = 0; i < line; i++)
			changed += z[-1 - i] != GUARD || z[lines_end + i] != GUARD;
		CHECK(changed == 0, "%d features: %d values around the row have changed", dims, changed);
	}
	return check_summary();
}
