/*
 * gram_kernel.c
 *	  Adding rows to a triangle of double-double sums, as fast as the machine
 *	  allows.
 *
 * The plain loops are Dot2 of Ogita, Rump and Oishi (SIAM J. Sci. Comput. 26,
 * 2005): the exact errors of products and sums are collected beside the sum.
 * With fused multiply-add the same is done on vectors; see
 * gram_kernel_vector.h and, for short rows, gram_kernel_short.h.
 */
#include <stdint.h>
#include <string.h>

#include "gram.h"
#include "gram_kernel.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Rows shorter than this leave most of a wide vector empty. */
#define WIDE_ROW 9

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

/* Bounds outside this range could overflow in a product, or its error vanish. */
#define LEAST_BOUND 0x1p-450
#define LARGEST_BOUND 0x1p450

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

/* Bit patterns of positive numbers are ordered like integers, NaN on top. */
__attribute__((target("avx2"), always_inline))
static inline __m256d
larger_size_avx2(__m256d a, __m256d b)
{
	__m256i		size = _mm256_and_si256(_mm256_castpd_si256(a), _mm256_set1_epi64x(INT64_MAX));
	__m256i		other = _mm256_castpd_si256(b);

	return _mm256_castsi256_pd(_mm256_blendv_epi8(other, size, _mm256_cmpgt_epi64(size, other)));
}

__attribute__((target("avx512f"), always_inline))
static inline __m512d
larger_size_avx512(__m512d a, __m512d b)
{
	__m512i		size = _mm512_and_si512(_mm512_castpd_si512(a), _mm512_set1_epi64(INT64_MAX));

	return _mm512_castsi512_pd(_mm512_max_epi64(size, _mm512_castpd_si512(b)));
}

#define KERNEL(part) kernel_avx2##part
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
#define LARGER_SIZE(a, b) larger_size_avx2(a, b)
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
#define LARGER_SIZE(a, b) larger_size_avx512(a, b)
#define MASK __mmask8
#define MASK_BETWEEN(from, to) \
	_mm512_cmplt_epi64_mask(lanes_avx512(), _mm512_set1_epi64(to)) & \
	_mm512_cmpge_epi64_mask(lanes_avx512(), _mm512_set1_epi64(from))
#define MASK_LOAD(address, mask) _mm512_maskz_loadu_pd(mask, address)
#define MASK_STORE(address, mask, v) _mm512_mask_storeu_pd(address, mask, v)
#include "gram_kernel_vector.h"

#include "gram_kernel_short.h"

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

/* A power of two above |x|, or infinity; above 0 the least bound. */
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
 * For each column a power of two above all sqrt(weight) |z|, so that no product
 * weight z_i z_j exceeds the product of two bounds.  False when they could
 * overflow, or the errors of small products vanish.
 */
static bool
block_bounds(int p, int count, const double *rows, int stride, const double *weights,
			 double *bound)
{
	double		roots[WMLC_KERNEL_ROWS];
	bool		in_range = true;

	/* a little more than the root, since it and its product are rounded */
	for (int r = 0; r < count; r++)
		roots[r] = weights[r] == 1.0 ? 1.0 : sqrt(fabs(weights[r])) * (1.0 + 0x1p-50);
	if (has_avx512())
		kernel_avx512_column_sizes(p, count, rows, stride, roots, bound);
	else
		kernel_avx2_column_sizes(p, count, rows, stride, roots, bound);
	memset(bound + p, 0, WMLC_ROW_PADDING * sizeof(double));
	for (int i = 0; i < p + WMLC_ROW_PADDING; i++)
	{
		in_range &= bound[i] >= LEAST_BOUND || bound[i] == 0.0;
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
	bool		weighted = false;

	for (int r = 0; r < count; r++)
		weighted |= weights[r] != 1.0;
	if (!block_bounds(p, count, rows, stride, weights, bound))
		wmlc_gram_kernel_plain(p, count, rows, stride, weights, hi, lo);
	else if (has_avx512())
		kernel_avx512_block(p, count, rows, stride, weights, weighted, bound, hi, lo);
	else
		kernel_avx2_block(p, count, rows, stride, weights, weighted, bound, hi, lo);
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
		else if (has_avx512() && p <= SHORT_ROW)
			kernel_avx512_short(p, rows, weights[0], hi, lo);
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
 * The powers of a row.  None of the terms is negative, so nothing cancels and
 * the errors can be added up plainly.  They are not folded into hi, which the
 * sums that take up the powers do anyway.  A long row has four running sums, which
 * give the processor independent work, combined in a fixed order, so that the
 * bits are the same everywhere.
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

	return (WmlcDd) {hi, lo + (a.hi * b.lo + a.lo * b.hi)};
}

static inline __attribute__((always_inline)) WmlcDd
positive_sum(WmlcDd a, WmlcDd b)
{
	WmlcDd		sum = wmlc_two_sum(a.hi, b.hi);

	return (WmlcDd) {sum.hi, sum.lo + (a.lo + b.lo)};
}

/* The rest of the powers from |psi|^2. */
static inline __attribute__((always_inline)) WmlcRowPowers
powers_of(WmlcDd norm_square, double y, bool fused)
{
	WmlcDd		y_square = {y * y, product_error(y, y, y * y, fused)};
	WmlcDd		total = positive_sum(norm_square, y_square);

	return (WmlcRowPowers) {
		.norm_square = norm_square,
		.q = product(total, total, fused),
		.h = product(y_square, norm_square, fused)
	};
}

static inline __attribute__((always_inline)) WmlcDd
sum_of_four(const double *hi, const double *lo)
{
	return positive_sum(positive_sum((WmlcDd) {hi[0], lo[0]}, (WmlcDd) {hi[1], lo[1]}),
						positive_sum((WmlcDd) {hi[2], lo[2]}, (WmlcDd) {hi[3], lo[3]}));
}

static inline __attribute__((always_inline)) WmlcRowPowers
short_row_powers(const double *z, int dims, bool fused)
{
	double		hi = 0.0;
	double		lo = 0.0;

	for (int i = 0; i < dims; i++)
	{
		double		square = z[i] * z[i];
		WmlcDd		sum = wmlc_two_sum(hi, square);

		lo += sum.lo + product_error(z[i], z[i], square, fused);
		hi = sum.hi;
	}
	return powers_of((WmlcDd) {hi, lo}, z[dims], fused);
}

WmlcRowPowers
wmlc_row_powers_plain(const double *z, int dims)
{
	double		hi[4] = {0.0};
	double		lo[4] = {0.0};

	if (dims < WIDE_ROW)
		return short_row_powers(z, dims, false);
	for (int i = 0; i < dims; i++)
	{
		WmlcDd		square = wmlc_two_prod(z[i], z[i]);
		WmlcDd		sum = wmlc_two_sum(hi[i % 4], square.hi);

		lo[i % 4] += sum.lo + square.lo;
		hi[i % 4] = sum.hi;
	}
	return powers_of(sum_of_four(hi, lo), z[dims], false);
}

#ifdef __x86_64__
__attribute__((target("avx2,fma")))
static WmlcRowPowers
row_powers_avx2(const double *z, int dims)
{
	__m256d		sum = _mm256_setzero_pd();
	__m256d		error = _mm256_setzero_pd();
	double		hi[4],
				lo[4];

	if (dims < WIDE_ROW)
		return short_row_powers(z, dims, true);
	for (int i = 0; i < dims; i += 4)
	{
		/* the entry behind the last feature is y, not padding */
		__m256i		inside = _mm256_cmpgt_epi64(_mm256_set1_epi64x(dims - i), lanes_avx2());
		__m256d		x = _mm256_and_pd(_mm256_loadu_pd(z + i), _mm256_castsi256_pd(inside));
		__m256d		square = _mm256_mul_pd(x, x);
		__m256d		new_sum = _mm256_add_pd(sum, square);
		__m256d		part = _mm256_sub_pd(new_sum, sum);
		__m256d		sum_error = _mm256_add_pd(_mm256_sub_pd(sum, _mm256_sub_pd(new_sum, part)),
											  _mm256_sub_pd(square, part));

		error = _mm256_add_pd(error, _mm256_add_pd(sum_error, _mm256_fmsub_pd(x, x, square)));
		sum = new_sum;
	}
	_mm256_storeu_pd(hi, sum);
	_mm256_storeu_pd(lo, error);
	return powers_of(sum_of_four(hi, lo), z[dims], true);
}
#endif

WmlcRowPowers
wmlc_row_powers(const double *z, int dims)
{
#ifdef __x86_64__
	if (has_avx2())
		return row_powers_avx2(z, dims);
#endif
	return wmlc_row_powers_plain(z, dims);
}
