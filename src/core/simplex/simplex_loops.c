/*
 * simplex_loops.c
 *	  The passes over the points: inner products and weighted sums.
 *
 * Prices and weighted sums are bound by memory, so what matters beside speed is
 * that a result depends on the numbers alone.  Each inner product is accumulated
 * in the same lanes, in the same order, with products rounded before they are
 * added, wherever the point stands in the list and whatever the instruction
 * set: equal points get equal prices, and every machine gets the same bits.
 * BLAS promises neither, cannot follow a list of points, and is no faster: of
 * 66 dimensions and 10000 points both take 18 ns per point.
 *
 * The scatter matrix is bound by arithmetic.  Equal columns give equal entries,
 * which BLAS does not promise either, in a third of the time of dsyrk
 * (test/bench/bench_loops.c).
 */
#include "core/base/machine.h"
#include "core/simplex/simplex_internal.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

/* Partial sums of an inner product. */
#define LANES 16

/* Points added together in a weighted sum. */
#define ADDED 4

#define WIDTH 2
#define TOGETHER 1
#define TARGET
#define FMA(a, b, c) ((a) * (b) + (c))
#define NAME(f) f##_plain
#include "core/simplex/simplex_loops_template.h"

#ifdef WMLC_VECTORS

#define WIDTH 4
#define TOGETHER 2
#define TARGET __attribute__((target("avx2,fma")))
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define NAME(f) f##_avx2
#include "core/simplex/simplex_loops_template.h"

#define WIDTH 8
#define TOGETHER 2
#define TARGET __attribute__((target("avx512f,fma")))
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define NAME(f) f##_avx512
#include "core/simplex/simplex_loops_template.h"

#define DISPATCH(f, ...) \
	(!__builtin_cpu_supports("fma") ? f##_plain(__VA_ARGS__) : \
	 __builtin_cpu_supports("avx512f") ? f##_avx512(__VA_ARGS__) : \
	 __builtin_cpu_supports("avx2") ? f##_avx2(__VA_ARGS__) : f##_plain(__VA_ARGS__))

#else

#define DISPATCH(f, ...) f##_plain(__VA_ARGS__)

#endif

void
wmlc_dots(const double *at, size_t stride, size_t dims, const size_t *list, size_t first,
		  size_t count, const double *z, double *out)
{
	DISPATCH(dots, at, stride, dims, list, first, count, z, out);
}

void
wmlc_squares(const double *at, size_t stride, size_t dims, size_t first, size_t count, double *out)
{
	DISPATCH(dots, at, stride, dims, NULL, first, count, NULL, out);
}

void
wmlc_combine(const double *at, size_t stride, size_t dims, const size_t *list, size_t first,
			 size_t count, const double *weight, double *sum)
{
	DISPATCH(combine, at, stride, dims, list, first, count, weight, sum);
}

void
wmlc_scatter(const double *columns, size_t stride, size_t count, double *matrix)
{
	DISPATCH(scatter, columns, stride, count, matrix);
}
