/*
 * mlp_loops.c
 *	  Small dense products for training a network, for the vector instructions
 *	  the processor turns out to have.
 *
 * The body is written once, in mlp_loops_vector.h, in the compiler's generic
 * vectors; only the fused multiply-add is spelled out, because the build
 * forbids the compiler to fuse on its own.
 */
#include <stdint.h>

#include "core/base/fma.h"
#include "core/base/machine.h"
#include "core/mlp/mlp_loops.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

/*
 * Vectors of B held in registers.  A layer of 40 is a whole number of panels
 * of 5, whatever the vectors' width, and 5 sums hide most of the latency of an
 * addition even where C has but one row.
 */
#define PANEL 5

/* Up to this share of numbers that are not 0, skipping the others pays. */
#define SPARSE 0.75

/* Calls with the width, 1 to PANEL, as a constant. */
#define WITH_CONSTANT(width, call) \
	switch (width) \
	{ \
		case 1: call(1); break; \
		case 2: call(2); break; \
		case 3: call(3); break; \
		case 4: call(4); break; \
		case 5: call(5); break; \
	}

/* Clang unrolls loops with constant bounds by itself, and worse when told. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/*
 * Two by two, so that whole vectors are read and written: one at a time it
 * takes a third of the time of the product it is for.
 */
static void
transpose(int rows, int columns, const double *from, ptrdiff_t from_stride,
		  double *to, ptrdiff_t to_stride)
{
	typedef double Pair __attribute__((vector_size(2 * sizeof(double)),
									   aligned(sizeof(double)), may_alias));
	int			even_columns = columns - columns % 2;
	int			i = 0;

	for (; i + 2 <= rows; i += 2)
	{
		const double *upper = from + i * from_stride;
		const double *lower = upper + from_stride;
		double	   *out = to + i;

		for (int j = 0; j < even_columns; j += 2)
		{
			Pair		u = *(const Pair *) (upper + j);
			Pair		l = *(const Pair *) (lower + j);

			*(Pair *) (out + j * to_stride) = (Pair) {u[0], l[0]};
			*(Pair *) (out + (j + 1) * to_stride) = (Pair) {u[1], l[1]};
		}
	}
	for (int j = even_columns; j < columns; j++)
		for (int k = 0; k < i; k++)
			to[j * to_stride + k] = from[k * from_stride + j];
	for (; i < rows; i++)
		for (int j = 0; j < columns; j++)
			to[j * to_stride + i] = from[i * from_stride + j];
}

#define LOOPS(part) loops_plain##part
#define TARGET
#define LANES 2
#define ROWS 2
#define SKIP_ZEROS true
#ifdef WMLC_FAST_FMA
#define FMA(a, b, c) \
	((VECTOR) {__builtin_fma((a)[0], (b)[0], (c)[0]), __builtin_fma((a)[1], (b)[1], (c)[1])})
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif
#include "core/mlp/mlp_loops_vector.h"

#ifdef WMLC_VECTORS

#define LOOPS(part) loops_avx2##part
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define ROWS 2
#define SKIP_ZEROS true
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#include "core/mlp/mlp_loops_vector.h"

#define LOOPS(part) loops_avx512##part
#define TARGET __attribute__((target("avx512f,fma")))
#define LANES 8
#define ROWS 4
#define SKIP_ZEROS false
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#include "core/mlp/mlp_loops_vector.h"

#endif							/* WMLC_VECTORS */

const WmlcMlpLoops *
wmlc_mlp_loops(int rank)
{
	const WmlcMlpLoops *usable[3];
	int			count = 0;

#ifdef WMLC_VECTORS
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma"))
		usable[count++] = &loops_avx512_table;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		usable[count++] = &loops_avx2_table;
#endif
	usable[count++] = &loops_plain_table;
	return rank < count ? usable[rank] : NULL;
}
