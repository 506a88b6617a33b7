/*
 * gram_powers.c
 *	  The fourth powers of rows: see gram_powers.h.
 *
 * With AVX2 four rows are added up side by side, with AVX-512 eight, which is
 * several times faster than one row whose additions have to wait for each other.
 */
#include <stddef.h>

#include "core/base/machine.h"
#include "core/gram/gram_internal.h"
#include "core/gram/gram_powers.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

#define ONE_BY_ONE
#define NAME(part) plain_##part
#define TARGET
#define REAL double
#define PRODUCT_ERROR(a, b, product) wmlc_two_prod(a, b).lo
#include "core/gram/gram_powers_template.h"

WmlcPowers
wmlc_gram_powers_plain(int dims, int count, const double *rows, int stride,
					   const double *weights)
{
	return plain_one_by_one(dims, count, rows, stride, weights);
}

#ifdef WMLC_VECTORS

#define FOUR __attribute__((target("avx2,fma"), always_inline))
#define EIGHT __attribute__((target("avx512f,avx2,fma"), always_inline))

/* The place of a row where there is none. */
static const double no_row[WMLC_MAX_DIMS + 1];

#define ONE_BY_ONE
#define NAME(part) fused_##part
#define TARGET FOUR
#define REAL double
#define PRODUCT_ERROR(a, b, product) __builtin_fma(a, b, -(product))
#include "core/gram/gram_powers_template.h"

/* The larger of each lane, but NaN, once it has come, stays. */
FOUR
static inline __m256d
larger_of_four(__m256d largest, __m256d value)
{
	__m256d		has_nan = _mm256_cmp_pd(largest, value, _CMP_UNORD_Q);

	return _mm256_or_pd(_mm256_max_pd(largest, value), has_nan);
}

EIGHT
static inline __m512d
larger_of_eight(__m512d largest, __m512d value)
{
	__mmask8	has_nan = _mm512_cmp_pd_mask(largest, value, _CMP_UNORD_Q);

	return _mm512_mask_add_pd(_mm512_max_pd(largest, value), has_nan, largest, value);
}

FOUR
static inline __m256d
first_of_four(const double *address, int count)
{
	__m256i		inside = _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));

	return _mm256_maskload_pd(address, inside);
}

#define NAME(part) four_##part
#define TARGET FOUR
#define REAL __m256d
#define PRODUCT_ERROR(a, b, product) _mm256_fmsub_pd(a, b, product)
#define LANES 4
#define LOAD(address) _mm256_loadu_pd(address)
#define LOAD_FIRST(address, count) first_of_four(address, count)
#define ZERO _mm256_setzero_pd()
#define LARGER(a, b) larger_of_four(a, b)
#define ABSOLUTE(a) _mm256_andnot_pd(_mm256_set1_pd(-0.0), a)
#define EVEN(a, b) _mm256_unpacklo_pd(a, b)
#define ODD(a, b) _mm256_unpackhi_pd(a, b)
#define EVEN_PAIRS(a, b) _mm256_permute2f128_pd(a, b, 0x20)
#define ODD_PAIRS(a, b) _mm256_permute2f128_pd(a, b, 0x31)
#include "core/gram/gram_powers_template.h"

#define NAME(part) eight_##part
#define TARGET EIGHT
#define REAL __m512d
#define PRODUCT_ERROR(a, b, product) _mm512_fmsub_pd(a, b, product)
#define LANES 8
#define LOAD(address) _mm512_loadu_pd(address)
#define LOAD_FIRST(address, count) _mm512_maskz_loadu_pd((__mmask8) ((1 << (count)) - 1), address)
#define ZERO _mm512_setzero_pd()
#define LARGER(a, b) larger_of_eight(a, b)
#define ABSOLUTE(a) _mm512_abs_pd(a)
#define EVEN(a, b) _mm512_unpacklo_pd(a, b)
#define ODD(a, b) _mm512_unpackhi_pd(a, b)
#define EVEN_PAIRS(a, b) _mm512_shuffle_f64x2(a, b, 0x88)
#define ODD_PAIRS(a, b) _mm512_shuffle_f64x2(a, b, 0xdd)
#include "core/gram/gram_powers_template.h"

__attribute__((target("avx2,fma")))
static WmlcPowers
powers_avx2(int dims, int count, const double *rows, int stride, const double *weights)
{
	return count == 1 ? fused_one_by_one(dims, count, rows, stride, weights)
		: four_side_by_side(dims, count, rows, stride, weights);
}

__attribute__((target("avx512f,avx2,fma")))
static WmlcPowers
powers_avx512(int dims, int count, const double *rows, int stride, const double *weights)
{
	return eight_side_by_side(dims, count, rows, stride, weights);
}
#endif

WmlcPowers
wmlc_gram_powers(int dims, int count, const double *rows, int stride, const double *weights)
{
#ifdef WMLC_VECTORS
	bool		fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");

	if (count > 1 && fused && __builtin_cpu_supports("avx512f"))
		return powers_avx512(dims, count, rows, stride, weights);
	if (fused)
		return powers_avx2(dims, count, rows, stride, weights);
#endif
	return wmlc_gram_powers_plain(dims, count, rows, stride, weights);
}
