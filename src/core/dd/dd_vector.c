/*
 * dd_vector.c
 *	  Vector operations on double-doubles, with the same bits on every machine.
 *
 * Every element goes through the same sequence of operations whatever the
 * width of the vectors, and products are exact with or without fused
 * multiply-add, so the choice of loop shows in the time alone.
 */
#include "core/base/machine.h"
#include "core/dd/dd_vector.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

static void
add_multiple_plain(int n, WmlcDd a, WmlcDdSpan x, WmlcDdSpan y)
{
	for (int j = 0; j < n; j++)
		wmlc_dd_set(y, j, wmlc_dd_add(wmlc_dd_get(y, j),
									  wmlc_dd_mul(a, wmlc_dd_get(x, j))));
}

static void
rotate_plain(int n, WmlcDd c, WmlcDd s, WmlcDdSpan x, WmlcDdSpan y)
{
	for (int j = 0; j < n; j++)
	{
		WmlcDd		xj = wmlc_dd_get(x, j);
		WmlcDd		yj = wmlc_dd_get(y, j);

		wmlc_dd_set(x, j, wmlc_dd_add(wmlc_dd_mul(c, xj), wmlc_dd_mul(s, yj)));
		wmlc_dd_set(y, j, wmlc_dd_sub(wmlc_dd_mul(c, yj), wmlc_dd_mul(s, xj)));
	}
}

/*
 * Errors of products and sums are collected in lo and folded in at the end
 * (Dot2 of Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005).
 */
static void
combine_plain(int rows, WmlcDdSpan weights, WmlcDdSpan matrix, int stride,
			  int n, WmlcDdSpan result)
{
	for (int j = 0; j < n; j++)
	{
		double		sum = 0.0;
		double		error = 0.0;

		for (int k = 0; k < rows; k++)
		{
			WmlcDd		m = wmlc_dd_get(matrix, (size_t) k * stride + j);
			WmlcDd		p = wmlc_two_prod(weights.hi[k], m.hi);
			WmlcDd		t = wmlc_two_sum(sum, p.hi);

			sum = t.hi;
			error += t.lo + (p.lo + (weights.hi[k] * m.lo + weights.lo[k] * m.hi));
		}
		wmlc_dd_set(result, j, wmlc_two_sum(sum, error));
	}
}

const WmlcDdVectorLoops wmlc_dd_vector_loops_plain = {
	add_multiple_plain, rotate_plain, combine_plain
};

#ifdef WMLC_VECTORS

/* The first n lanes of four. */
#define FIRST(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_set_epi64x(3, 2, 1, 0))

#define LANES 4
#define VECTOR __m256d
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(f) f##_avx2
#define LOAD _mm256_loadu_pd
#define STORE _mm256_storeu_pd
#define BROADCAST _mm256_set1_pd
#define FMSUB _mm256_fmsub_pd
#define LOAD_FIRST(p, n) _mm256_maskload_pd(p, FIRST(n))
#define STORE_FIRST(p, n, v) _mm256_maskstore_pd(p, FIRST(n), v)
#include "core/dd/dd_vector_template.h"

static const WmlcDdVectorLoops loops_avx2 = {
	add_multiple_avx2, rotate_avx2, combine_avx2
};

#undef FIRST
#undef LANES
#undef VECTOR
#undef TARGET
#undef NAME
#undef LOAD
#undef STORE
#undef BROADCAST
#undef FMSUB
#undef LOAD_FIRST
#undef STORE_FIRST

#define FIRST(n) ((__mmask8) ((1 << (n)) - 1))

#define LANES 8
#define VECTOR __m512d
#define TARGET __attribute__((target("avx512f,avx2,fma")))
#define NAME(f) f##_avx512
#define LOAD _mm512_loadu_pd
#define STORE _mm512_storeu_pd
#define BROADCAST _mm512_set1_pd
#define FMSUB _mm512_fmsub_pd
#define LOAD_FIRST(p, n) _mm512_maskz_loadu_pd(FIRST(n), p)
#define STORE_FIRST(p, n, v) _mm512_mask_storeu_pd(p, FIRST(n), v)
#include "core/dd/dd_vector_template.h"

static const WmlcDdVectorLoops loops_avx512 = {
	add_multiple_avx512, rotate_avx512, combine_avx512
};

#endif							/* WMLC_VECTORS */

const WmlcDdVectorLoops *
wmlc_dd_vector_loops(void)
{
#ifdef WMLC_VECTORS
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return __builtin_cpu_supports("avx512f") ? &loops_avx512 : &loops_avx2;
#endif
	return &wmlc_dd_vector_loops_plain;
}
