/*
 * gram_loops.c
 *	  Adding rows to a triangle of double-double sums, as fast as the machine
 *	  allows.
 *
 * The plain loops are Dot2 of Ogita, Rump and Oishi (SIAM J. Sci. Comput. 26,
 * 2005): the exact errors of products and sums are collected beside the sum.
 * With fused multiply-add the same is done on vectors; see
 * gram_loops_vector.h and, for short rows, gram_loops_short.h.
 *
 * BLAS has no such sums.  In plain doubles, its dsyrk takes 6 ns for a row of 4
 * features, where exact sums take 12 ns, and 150 ns for one of 64, where they
 * take 270 ns (test/bench/bench_loops.c).
 */
#include <stdint.h>
#include <string.h>

#include "core/base/machine.h"
#include "core/gram/gram.h"
#include "core/gram/gram_loops.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

/* hi + lo += a + a_error; a sum that is not finite keeps no error */
static inline __attribute__((always_inline)) void
add_entry(double *hi, double *lo, double a, double a_error)
{
	WmlcDd		sum = wmlc_two_sum(*hi, a);
	double		error = *lo + (sum.lo + a_error);
	double		total = sum.hi + error;

	error -= total - sum.hi;
	*hi = isnan(error) ? sum.hi : total;
	*lo = isnan(error) ? 0.0 : error;
}

/* Row i of the triangle, which starts at hi and lo, from one row of data. */
static void
plain_row(int p, int i, const double *z, double weight, double *hi, double *lo)
{
	WmlcDd		factor = wmlc_two_prod(weight, z[i]);

	for (int j = i; j < p; j++)
	{
		WmlcDd		product = wmlc_two_prod(factor.hi, z[j]);

		add_entry(hi + j - i, lo + j - i, product.hi, product.lo + factor.lo * z[j]);
	}
}

void
wmlc_gram_add_products_plain(int p, int count, const double *rows, int stride,
					   const double *weights, double *hi, double *lo)
{
	for (int r = 0; r < count; r++)
	{
		for (int i = 0; i < p; i++)
		{
			size_t		start = wmlc_triangle_index(p, i, i);

			plain_row(p, i, rows + (ptrdiff_t) r * stride, weights == NULL ? 1.0 : weights[r],
					  hi + start, lo + start);
		}
	}
}

static void
add_lanes_plain(int p, int count, const double *rows, double *hi, double *lo)
{
	for (int k = 0; k < count * WMLC_GRAM_LANES; k++)
	{
		int			lane = k % WMLC_GRAM_LANES;
		const double *z = rows + (size_t) (k - lane) * (p + 1) + lane;
		size_t		entry = lane;

		for (int i = 0; i < p; i++)
		{
			WmlcDd		factor = wmlc_two_prod(z[p * WMLC_GRAM_LANES], z[i * WMLC_GRAM_LANES]);

			for (int j = i; j < p; j++, entry += WMLC_GRAM_LANES)
			{
				WmlcDd		product = wmlc_two_prod(factor.hi, z[j * WMLC_GRAM_LANES]);

				add_entry(hi + entry, lo + entry, product.hi,
						  product.lo + factor.lo * z[j * WMLC_GRAM_LANES]);
			}
		}
	}
}

void
wmlc_gram_count_not_one_plain(int d, int count, const double *rows, int stride, int64_t *counts)
{
	for (int r = 0; r < count; r++)
	{
		for (int i = 0; i < d; i++)
			counts[i] += rows[(ptrdiff_t) r * stride + i] != 1.0;
	}
}

#ifdef WMLC_VECTORS

/* Larger or smaller numbers could overflow in a product, or its error vanish. */
#define LEAST_SIZE 0x1p-450
#define LARGEST_SIZE 0x1p450

__attribute__((target("avx2"), always_inline))
static inline __m256i
lanes_avx2(void)
{
	return _mm256_setr_epi64x(0, 1, 2, 3);
}

__attribute__((target("avx512f"), always_inline))
static inline __m512i
lanes_avx512(void)
{
	return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
}

/*
 * 1.5 * 2^k above a positive number, with 2^k as small as can be.  The exponent
 * is set apart and raised by one, and the first bit behind the point is set.
 */
__attribute__((target("avx2"), always_inline))
static inline __m256d
middle_above_avx2(__m256d a)
{
	__m256i		power = _mm256_and_si256(_mm256_castpd_si256(a), _mm256_set1_epi64x(INT64_C(0x7ff) << 52));

	return _mm256_castsi256_pd(_mm256_add_epi64(power, _mm256_set1_epi64x(INT64_C(3) << 51)));
}

__attribute__((target("avx512f"), always_inline))
static inline __m512d
middle_above_avx512(__m512d a)
{
	__m512i		power = _mm512_and_si512(_mm512_castpd_si512(a), _mm512_set1_epi64(INT64_C(0x7ff) << 52));

	return _mm512_castsi512_pd(_mm512_add_epi64(power, _mm512_set1_epi64(INT64_C(3) << 51)));
}

#define LOOPS(part) loops_avx2##part
#define TARGET "avx2,fma"
#define LANES 4
#define TILE_VECTORS 2
#define VECTOR __m256d
#define LOAD(address) _mm256_loadu_pd(address)
#define STORE(address, v) _mm256_storeu_pd(address, v)
#define BROADCAST(x) _mm256_set1_pd(x)
#define ADD(a, b) _mm256_add_pd(a, b)
#define SUB(a, b) _mm256_sub_pd(a, b)
#define MUL(a, b) _mm256_mul_pd(a, b)
#define FMADD(a, b, c) _mm256_fmadd_pd(a, b, c)
#define FMSUB(a, b, c) _mm256_fmsub_pd(a, b, c)
#define UNLESS_NAN(t, a, b) _mm256_blendv_pd(a, b, _mm256_cmp_pd(t, t, _CMP_UNORD_Q))
#define SQRT(a) _mm256_sqrt_pd(a)
#define MIDDLE_ABOVE(a) middle_above_avx2(a)
#define MASK __m256i
#define MASK_BETWEEN(from, to) \
	_mm256_andnot_si256(_mm256_cmpgt_epi64(_mm256_set1_epi64x(from), lanes_avx2()), \
						_mm256_cmpgt_epi64(_mm256_set1_epi64x(to), lanes_avx2()))
#define MASK_LOAD(address, mask) _mm256_maskload_pd(address, mask)
#define MASK_STORE(address, mask, v) _mm256_maskstore_pd(address, mask, v)
#define COUNTS __m256i
#define NO_COUNTS _mm256_setzero_si256()
#define COUNT_UNEQUAL(counts, a, b) \
	_mm256_sub_epi64(counts, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_NEQ_UQ)))
#define MASK_ADD_COUNTS(address, mask, counts) \
	_mm256_maskstore_epi64((long long *) (address), mask, \
						   _mm256_add_epi64(_mm256_maskload_epi64((const long long *) (address), mask), counts))
#include "core/gram/gram_loops_vector.h"

#define LOOPS(part) loops_avx512##part
#define TARGET "avx512f,avx2,fma"
#define LANES 8
#define TILE_VECTORS 4
#define VECTOR __m512d
#define LOAD(address) _mm512_loadu_pd(address)
#define STORE(address, v) _mm512_storeu_pd(address, v)
#define BROADCAST(x) _mm512_set1_pd(x)
#define ADD(a, b) _mm512_add_pd(a, b)
#define SUB(a, b) _mm512_sub_pd(a, b)
#define MUL(a, b) _mm512_mul_pd(a, b)
#define FMADD(a, b, c) _mm512_fmadd_pd(a, b, c)
#define FMSUB(a, b, c) _mm512_fmsub_pd(a, b, c)
#define UNLESS_NAN(t, a, b) _mm512_mask_mov_pd(a, _mm512_cmp_pd_mask(t, t, _CMP_UNORD_Q), b)
#define SQRT(a) _mm512_sqrt_pd(a)
#define MIDDLE_ABOVE(a) middle_above_avx512(a)
#define MASK __mmask8
#define MASK_BETWEEN(from, to) \
	_mm512_cmplt_epi64_mask(lanes_avx512(), _mm512_set1_epi64(to)) & \
	_mm512_cmpge_epi64_mask(lanes_avx512(), _mm512_set1_epi64(from))
#define MASK_LOAD(address, mask) _mm512_maskz_loadu_pd(mask, address)
#define MASK_STORE(address, mask, v) _mm512_mask_storeu_pd(address, mask, v)
#define COUNTS __m512i
#define NO_COUNTS _mm512_setzero_si512()
#define COUNT_UNEQUAL(counts, a, b) \
	_mm512_mask_add_epi64(counts, _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ), counts, _mm512_set1_epi64(1))
#define MASK_ADD_COUNTS(address, mask, counts) \
	_mm512_mask_storeu_epi64(address, mask, \
							 _mm512_add_epi64(_mm512_maskz_loadu_epi64(mask, address), counts))
#include "core/gram/gram_loops_vector.h"

#include "core/gram/gram_loops_short.h"

static inline bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static inline bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && has_avx2();
}

static bool
is_zero(int count, const double *column, int stride)
{
	for (int r = 0; r < count; r++)
	{
		if (column[(ptrdiff_t) r * stride] != 0.0)
			return false;
	}
	return true;
}

/*
 * For each column the root of the sum of weight z^2: by Cauchy and Schwarz no
 * sum of products exceeds the product of two sizes.  False when they could
 * overflow, or the errors of small products vanish.
 */
static bool
column_sizes(int p, int count, const double *rows, int stride, const double *weights, double *size)
{
	if (has_avx512())
		loops_avx512_column_sizes(p, count, rows, stride, weights, size);
	else
		loops_avx2_column_sizes(p, count, rows, stride, weights, size);
	memset(size + p, 0, WMLC_ROW_PADDING * sizeof(double));
	for (int i = 0; i < p; i++)
	{
		if (!(size[i] >= LEAST_SIZE && size[i] <= LARGEST_SIZE) && !is_zero(count, rows + i, stride))
			return false;
	}
	return true;
}

static void
block_loops(int p, int count, const double *rows, int stride, const double *weights,
			 double *hi, double *lo)
{
	double		size[WMLC_ROW_SIZE];

	if (!column_sizes(p, count, rows, stride, weights, size))
		wmlc_gram_add_products_plain(p, count, rows, stride, weights, hi, lo);
	else if (has_avx512())
		loops_avx512_block(p, count, rows, stride, weights, size, hi, lo);
	else
		loops_avx2_block(p, count, rows, stride, weights, size, hi, lo);
}

#endif							/* WMLC_VECTORS */

void
wmlc_gram_add_products(int p, int count, const double *rows, int stride,
				 const double *weights, double *hi, double *lo)
{
#ifdef WMLC_VECTORS
	if (has_avx2())
	{
		if (count > 1)
			block_loops(p, count, rows, stride, weights, hi, lo);
		else if (has_avx512() && p <= SHORT_ROW)
			loops_avx512_short(p, rows, weights, hi, lo);
		else if (has_avx512())
			loops_avx512_single(p, rows, weights, hi, lo);
		else
			loops_avx2_single(p, rows, weights, hi, lo);
		return;
	}
#endif
	wmlc_gram_add_products_plain(p, count, rows, stride, weights, hi, lo);
}

void
wmlc_gram_add_lanes(int p, int count, const double *rows, double *hi, double *lo)
{
#ifdef WMLC_VECTORS
	if (has_avx2())
	{
		if (has_avx512())
			loops_avx512_lanes(p, count, rows, hi, lo);
		else
			loops_avx2_lanes(p, count, rows, hi, lo);
		return;
	}
#endif
	add_lanes_plain(p, count, rows, hi, lo);
}

void
wmlc_gram_count_not_one(int d, int count, const double *rows, int stride, int64_t *counts)
{
#ifdef WMLC_VECTORS
	if (has_avx2())
	{
		if (has_avx512())
			loops_avx512_count_not_one(d, count, rows, stride, counts);
		else
			loops_avx2_count_not_one(d, count, rows, stride, counts);
		return;
	}
#endif
	wmlc_gram_count_not_one_plain(d, count, rows, stride, counts);
}

void
wmlc_gram_add_sums(size_t entries, const double *other_hi, const double *other_lo,
				   double *hi, double *lo)
{
#ifdef WMLC_VECTORS
	if (has_avx2())
	{
		if (has_avx512())
			loops_avx512_add_sums(entries, other_hi, other_lo, hi, lo);
		else
			loops_avx2_add_sums(entries, other_hi, other_lo, hi, lo);
		return;
	}
#endif
	for (size_t k = 0; k < entries; k++)
		add_entry(hi + k, lo + k, other_hi[k], other_lo[k]);
}
