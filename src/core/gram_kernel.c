/*
 * gram_kernel.c
 *	  Adding rows to a triangle of double-double sums, as fast as the machine
 *	  allows.
 *
 * The plain loops are Dot2 of Ogita, Rump and Oishi (SIAM J. Sci. Comput. 26,
 * 2005): the exact errors of products and sums are collected beside the sum.
 * With fused multiply-add the same is done on vectors; see
 * gram_kernel_vector.h.
 */
#include <stdint.h>
#include <string.h>

#include "gram.h"
#include "gram_kernel.h"

#ifdef __x86_64__
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
wmlc_gram_kernel_plain(int p, int count, const double *rows, int stride,
					   const double *weights, double *hi, double *lo)
{
	for (int r = 0; r < count; r++)
	{
		for (int i = 0; i < p; i++)
		{
			size_t		start = wmlc_triangle_index(p, i, i);

			plain_row(p, i, rows + r * stride, weights[r], hi + start, lo + start);
		}
	}
}

#ifdef __x86_64__

/*
 * The bias of a block, in units of the largest product that can occur in it:
 * an accumulator that starts at 1.5 * 2^k and moves by at most 2^(k-1) stays in
 * its binade; WMLC_KERNEL_ROWS products are 2^(k-1) when 2^k is twice as many.
 */
#define BIAS (1.5 * 2 * WMLC_KERNEL_ROWS)

/* Bounds outside this range could overflow or vanish in a product of three. */
#define LEAST_BOUND 0x1p-300
#define LARGEST_BOUND 0x1p300

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

#define KERNEL(part) kernel_avx2##part
#define TARGET "avx2,fma"
#define LANES 4
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
#define MASK __m256i
#define MASK_BETWEEN(from, to) \
	_mm256_andnot_si256(_mm256_cmpgt_epi64(_mm256_set1_epi64x(from), lanes_avx2()), \
						_mm256_cmpgt_epi64(_mm256_set1_epi64x(to), lanes_avx2()))
#define MASK_LOAD(address, mask) _mm256_maskload_pd(address, mask)
#define MASK_STORE(address, mask, v) _mm256_maskstore_pd(address, mask, v)
#include "gram_kernel_vector.h"

#define KERNEL(part) kernel_avx512##part
#define TARGET "avx512f,avx2,fma"
#define LANES 8
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
#define MASK __mmask8
#define MASK_BETWEEN(from, to) \
	_mm512_cmplt_epi64_mask(lanes_avx512(), _mm512_set1_epi64(to)) & \
	_mm512_cmpge_epi64_mask(lanes_avx512(), _mm512_set1_epi64(from))
#define MASK_LOAD(address, mask) _mm512_maskz_loadu_pd(mask, address)
#define MASK_STORE(address, mask, v) _mm512_mask_storeu_pd(address, mask, v)
#include "gram_kernel_vector.h"

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

/* A power of two above |x|, within the bounds, or infinity. */
static inline double
power_above(double x)
{
	uint64_t	bits;
	double		power;

	memcpy(&bits, &x, sizeof(bits));
	bits &= UINT64_C(0x7ff0000000000000);
	memcpy(&power, &bits, sizeof(power));
	power *= 2.0;
	return power < LEAST_BOUND ? LEAST_BOUND : power;
}

/*
 * For each column a power of two above all its entries, and one above all
 * weights.  False when they could overflow.
 */
static bool
block_bounds(int p, int count, const double *rows, int stride, const double *weights,
			 double *bound, double *weight_bound)
{
	bool		in_range;

	memset(bound, 0, (p + WMLC_ROW_PADDING) * sizeof(double));
	*weight_bound = 0.0;
	for (int r = 0; r < count; r++)
	{
		const double *z = rows + r * stride;

		for (int i = 0; i < p; i++)
		{
			double		size = fabs(z[i]);

			/* written so that NaN becomes the bound and stays it */
			bound[i] = size <= bound[i] ? bound[i] : size;
		}
		*weight_bound = fabs(weights[r]) <= *weight_bound ? *weight_bound : fabs(weights[r]);
	}
	*weight_bound = power_above(*weight_bound);
	in_range = *weight_bound <= LARGEST_BOUND;
	for (int i = 0; i < p + WMLC_ROW_PADDING; i++)
	{
		bound[i] = power_above(bound[i]);
		in_range &= bound[i] <= LARGEST_BOUND;
	}
	return in_range;
}

static void
block_kernel(int p, int count, const double *rows, int stride, const double *weights,
			 double *hi, double *lo)
{
	double		bound[WMLC_ROW_SIZE];
	double		weight_bound;
	bool		weighted = false;

	for (int r = 0; r < count; r++)
		weighted |= weights[r] != 1.0;
	if (!block_bounds(p, count, rows, stride, weights, bound, &weight_bound))
		wmlc_gram_kernel_plain(p, count, rows, stride, weights, hi, lo);
	else if (has_avx512())
		kernel_avx512_block(p, count, rows, stride, weights, weighted, bound, weight_bound, hi, lo);
	else
		kernel_avx2_block(p, count, rows, stride, weights, weighted, bound, weight_bound, hi, lo);
}

#endif							/* __x86_64__ */

void
wmlc_gram_kernel(int p, int count, const double *rows, int stride,
				 const double *weights, double *hi, double *lo)
{
#ifdef __x86_64__
	if (has_avx2())
	{
		if (count > 1)
			block_kernel(p, count, rows, stride, weights, hi, lo);
		else if (has_avx512())
			kernel_avx512_single(p, rows, weights[0], hi, lo);
		else
			kernel_avx2_single(p, rows, weights[0], hi, lo);
		return;
	}
#endif
	wmlc_gram_kernel_plain(p, count, rows, stride, weights, hi, lo);
}

/*
 * The powers of a row: four running sums, combined in a fixed order, give the
 * processor independent work and the same bits everywhere.  None of the terms
 * is negative, so nothing cancels and the errors can be added up plainly.
 */
static inline __attribute__((always_inline)) double
product_error(double a, double b, double product, bool fused)
{
	return fused ? __builtin_fma(a, b, -product) : wmlc_two_prod(a, b).lo;
}

static inline __attribute__((always_inline)) WmlcDd
product(WmlcDd a, WmlcDd b, bool fused)
{
	double		hi = a.hi * b.hi;
	double		lo = product_error(a.hi, b.hi, hi, fused);

	return wmlc_quick_two_sum(hi, lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline __attribute__((always_inline)) WmlcDd
positive_sum(WmlcDd a, WmlcDd b)
{
	WmlcDd		sum = wmlc_two_sum(a.hi, b.hi);

	return wmlc_quick_two_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

static inline __attribute__((always_inline)) WmlcRowPowers
row_powers(const double *z, int dims, bool fused)
{
	WmlcRowPowers powers;
	WmlcDd		part[4] = {{0.0, 0.0}};
	WmlcDd		y_square;
	WmlcDd		total;
	double		y = z[dims];

	for (int i = 0; i < dims; i += 4)
	{
		for (int k = 0; k < 4; k++)
		{
			/* the entry behind the last feature is y, not padding */
			double		x = i + k < dims ? z[i + k] : 0.0;
			double		square = x * x;
			WmlcDd		sum = wmlc_two_sum(part[k].hi, square);

			part[k].lo += sum.lo + product_error(x, x, square, fused);
			part[k].hi = sum.hi;
		}
	}
	powers.norm_square = positive_sum(positive_sum(part[0], part[1]),
									  positive_sum(part[2], part[3]));
	y_square.hi = y * y;
	y_square.lo = product_error(y, y, y_square.hi, fused);
	total = positive_sum(powers.norm_square, y_square);
	powers.q = product(total, total, fused);
	powers.h = product(y_square, powers.norm_square, fused);
	return powers;
}

WmlcRowPowers
wmlc_row_powers_plain(const double *z, int dims)
{
	return row_powers(z, dims, false);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma")))
static WmlcRowPowers
row_powers_fused(const double *z, int dims)
{
	return row_powers(z, dims, true);
}
#endif

WmlcRowPowers
wmlc_row_powers(const double *z, int dims)
{
#ifdef __x86_64__
	if (has_avx2())
		return row_powers_fused(z, dims);
#endif
	return wmlc_row_powers_plain(z, dims);
}
