/*
 * gram_powers.c
 *	  The fourth powers of rows: see gram_powers.h.
 *
 * With AVX2 four rows are added up side by side, which is several times faster
 * than one row whose additions have to wait for each other.
 */
#include <stddef.h>

#include "core/gram/gram_internal.h"
#include "core/gram/gram_powers.h"

#ifdef __x86_64__
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

#ifdef __x86_64__

#define FOUR __attribute__((target("avx2,fma"), always_inline))

#define ONE_BY_ONE
#define NAME(part) fused_##part
#define TARGET FOUR
#define REAL double
#define PRODUCT_ERROR(a, b, product) __builtin_fma(a, b, -(product))
#include "core/gram/gram_powers_template.h"

#define NAME(part) four_##part
#define TARGET FOUR
#define REAL __m256d
#define PRODUCT_ERROR(a, b, product) _mm256_fmsub_pd(a, b, product)
#include "core/gram/gram_powers_template.h"

/* The larger of each lane, but NaN, once it has come, stays. */
FOUR
static inline __m256d
four_larger(__m256d largest, __m256d value)
{
	__m256d		has_nan = _mm256_cmp_pd(largest, value, _CMP_UNORD_Q);

	return _mm256_or_pd(_mm256_max_pd(largest, value), has_nan);
}

FOUR
static inline double
largest_lane(double largest, __m256d a)
{
	for (int k = 0; k < 4; k++)
		largest = wmlc_larger_bound(largest, a[k]);
	return largest;
}

FOUR
static inline WmlcDd
add_lanes(WmlcDd sum, four_Sum a)
{
	fused_Sum	total = {sum.hi, sum.lo};

	for (int k = 0; k < 4; k++)
		total = fused_add(total, (fused_Sum) {a.hi[k], a.lo[k]});
	return (WmlcDd) {total.hi, total.lo};
}

__attribute__((target("avx2,fma")))
static WmlcPowers
powers_avx2(int dims, int count, const double *rows, int stride, const double *weights)
{
	int			fours = count / 4 * 4;
	four_Powers sum = {.q = {_mm256_setzero_pd(), _mm256_setzero_pd()}};
	__m256d		max_norm_square = _mm256_setzero_pd();
	__m256d		max_response = _mm256_setzero_pd();
	WmlcPowers	rest = fused_one_by_one(dims, count - fours, rows + (ptrdiff_t) fours * stride, stride,
										weights == NULL ? NULL : weights + fours);

	if (fours == 0)
		return rest;
	for (int r = 0; r < fours; r += 4)
	{
		const double *z = rows + (ptrdiff_t) r * stride;
		four_Sum	norm_square = {_mm256_setzero_pd(), _mm256_setzero_pd()};
		__m256d		weight,
					y;

		/* the next four rows are on their way from memory meanwhile */
		for (int i = 4 * stride; i < 8 * stride; i += 8)
			__builtin_prefetch(z + i);
#define COLUMN(i) _mm256_setr_pd(z[i], z[stride + (i)], z[2 * stride + (i)], z[3 * stride + (i)])
		for (int i = 0; i < dims; i++)
		{
			__m256d		x = COLUMN(i);

			norm_square = four_add(norm_square, four_product(x, x));
		}
		y = COLUMN(dims);
#undef COLUMN
		if (weights != NULL)
			weight = _mm256_loadu_pd(weights + r);
		four_add_powers(&sum, norm_square, y, weights == NULL ? NULL : &weight);
		max_norm_square = four_larger(max_norm_square, norm_square.hi + norm_square.lo);
		max_response = four_larger(max_response, _mm256_andnot_pd(_mm256_set1_pd(-0.0), y));
	}
	return (WmlcPowers) {
		.q = add_lanes(rest.q, sum.q),
		.h = add_lanes(rest.h, sum.h),
		.max_norm_square = largest_lane(rest.max_norm_square, max_norm_square),
		.max_response = largest_lane(rest.max_response, max_response)
	};
}
#endif

WmlcPowers
wmlc_gram_powers(int dims, int count, const double *rows, int stride, const double *weights)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return powers_avx2(dims, count, rows, stride, weights);
#endif
	return wmlc_gram_powers_plain(dims, count, rows, stride, weights);
}
