/*
 * dd_vector.c
 *	  Vector operations on double-doubles, with the same bits on every machine.
 *
 * Every element goes through the same sequence of operations whatever the
 * width of the vectors, and products are exact with or without fused
 * multiply-add, so the choice of kernel shows in the time alone.
 */
#include "dd_vector.h"

#ifdef __x86_64__
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

const WmlcDdVectorKernels wmlc_dd_vector_kernels_plain = {
	add_multiple_plain, rotate_plain, combine_plain
};

#ifdef __x86_64__

#define AVX2 __attribute__((target("avx2,fma")))

/* Four double-doubles in registers. */
typedef struct VectorDd
{
	__m256d		hi;
	__m256d		lo;
} VectorDd;

/* The first `count` lanes of a vector, all when count >= 4. */
AVX2 static inline __m256i
first_lanes(int count)
{
	return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0));
}

AVX2 static inline VectorDd
vector_load(WmlcDdSpan x, size_t j)
{
	return (VectorDd) {_mm256_loadu_pd(x.hi + j), _mm256_loadu_pd(x.lo + j)};
}

AVX2 static inline VectorDd
vector_load_lanes(WmlcDdSpan x, size_t j, __m256i lanes)
{
	return (VectorDd) {_mm256_maskload_pd(x.hi + j, lanes), _mm256_maskload_pd(x.lo + j, lanes)};
}

AVX2 static inline void
vector_store(WmlcDdSpan x, size_t j, VectorDd v)
{
	_mm256_storeu_pd(x.hi + j, v.hi);
	_mm256_storeu_pd(x.lo + j, v.lo);
}

AVX2 static inline void
vector_store_lanes(WmlcDdSpan x, size_t j, __m256i lanes, VectorDd v)
{
	_mm256_maskstore_pd(x.hi + j, lanes, v.hi);
	_mm256_maskstore_pd(x.lo + j, lanes, v.lo);
}

AVX2 static inline VectorDd
vector_broadcast(WmlcDd a)
{
	return (VectorDd) {_mm256_set1_pd(a.hi), _mm256_set1_pd(a.lo)};
}

AVX2 static inline VectorDd
vector_two_sum(__m256d a, __m256d b)
{
	__m256d		s = a + b;
	__m256d		bb = s - a;

	return (VectorDd) {s, (a - (s - bb)) + (b - bb)};
}

AVX2 static inline VectorDd
vector_quick_two_sum(__m256d a, __m256d b)
{
	__m256d		s = a + b;

	return (VectorDd) {s, b - (s - a)};
}

/* The product's error, with the parts that lo contributes, not yet folded. */
AVX2 static inline VectorDd
vector_loose_product(VectorDd a, VectorDd b)
{
	__m256d		p = a.hi * b.hi;

	return (VectorDd) {p, _mm256_fmsub_pd(a.hi, b.hi, p) + (a.hi * b.lo + a.lo * b.hi)};
}

AVX2 static inline VectorDd
vector_mul(VectorDd a, VectorDd b)
{
	VectorDd	p = vector_loose_product(a, b);

	return vector_quick_two_sum(p.hi, p.lo);
}

AVX2 static inline VectorDd
vector_add(VectorDd a, VectorDd b)
{
	VectorDd	s = vector_two_sum(a.hi, b.hi);
	VectorDd	t = vector_two_sum(a.lo, b.lo);

	s = vector_quick_two_sum(s.hi, s.lo + t.hi);
	return vector_quick_two_sum(s.hi, s.lo + t.lo);
}

AVX2 static inline VectorDd
vector_sub(VectorDd a, VectorDd b)
{
	return vector_add(a, (VectorDd) {-b.hi, -b.lo});
}

AVX2 static void
add_multiple_avx2(int n, WmlcDd a, WmlcDdSpan x, WmlcDdSpan y)
{
	VectorDd	factor = vector_broadcast(a);
	int			j = 0;

	for (; j + 4 <= n; j += 4)
		vector_store(y, j, vector_add(vector_load(y, j), vector_mul(factor, vector_load(x, j))));
	if (j < n)
	{
		__m256i		lanes = first_lanes(n - j);
		VectorDd	product = vector_mul(factor, vector_load_lanes(x, j, lanes));

		vector_store_lanes(y, j, lanes, vector_add(vector_load_lanes(y, j, lanes), product));
	}
}

/* Whole vectors first: loads have to wait for masked stores to reach memory. */
AVX2 static void
rotate_avx2(int n, WmlcDd c, WmlcDd s, WmlcDdSpan x, WmlcDdSpan y)
{
	VectorDd	cosine = vector_broadcast(c);
	VectorDd	sine = vector_broadcast(s);
	int			j = 0;

	for (; j + 4 <= n; j += 4)
	{
		VectorDd	xj = vector_load(x, j);
		VectorDd	yj = vector_load(y, j);

		vector_store(x, j, vector_add(vector_mul(cosine, xj), vector_mul(sine, yj)));
		vector_store(y, j, vector_sub(vector_mul(cosine, yj), vector_mul(sine, xj)));
	}
	if (j < n)
	{
		__m256i		lanes = first_lanes(n - j);
		VectorDd	xj = vector_load_lanes(x, j, lanes);
		VectorDd	yj = vector_load_lanes(y, j, lanes);

		vector_store_lanes(x, j, lanes,
						   vector_add(vector_mul(cosine, xj), vector_mul(sine, yj)));
		vector_store_lanes(y, j, lanes,
						   vector_sub(vector_mul(cosine, yj), vector_mul(sine, xj)));
	}
}

AVX2 static void
combine_avx2(int rows, WmlcDdSpan weights, WmlcDdSpan matrix, int stride,
			 int n, WmlcDdSpan result)
{
	for (int j = 0; j < n; j += 4)
	{
		VectorDd	total = vector_broadcast(wmlc_dd(0.0));

		for (int k = 0; k < rows; k++)
		{
			VectorDd	p = vector_loose_product(vector_broadcast(wmlc_dd_get(weights, k)),
												 vector_load(matrix, (size_t) k * stride + j));
			VectorDd	t = vector_two_sum(total.hi, p.hi);

			total = (VectorDd) {t.hi, total.lo + (t.lo + p.lo)};
		}
		vector_store(result, j, vector_two_sum(total.hi, total.lo));
	}
}

static const WmlcDdVectorKernels kernels_avx2 = {
	add_multiple_avx2, rotate_avx2, combine_avx2
};

/* The same with eight lanes, which pays only where matrices are multiplied. */
__attribute__((target("avx512f,avx2,fma")))
static void
combine_avx512(int rows, WmlcDdSpan weights, WmlcDdSpan matrix, int stride,
			   int n, WmlcDdSpan result)
{
	int			j = 0;

	for (; j + 8 <= n; j += 8)
	{
		__m512d		sum = _mm512_setzero_pd();
		__m512d		error = _mm512_setzero_pd();
		__m512d		total,
					part;

		for (int k = 0; k < rows; k++)
		{
			__m512d		weight = _mm512_set1_pd(weights.hi[k]);
			__m512d		weight_lo = _mm512_set1_pd(weights.lo[k]);
			__m512d		m = _mm512_loadu_pd(matrix.hi + (size_t) k * stride + j);
			__m512d		m_lo = _mm512_loadu_pd(matrix.lo + (size_t) k * stride + j);
			__m512d		p = weight * m;
			__m512d		p_error = _mm512_fmsub_pd(weight, m, p) + (weight * m_lo + weight_lo * m);

			total = sum + p;
			part = total - sum;
			error += ((sum - (total - part)) + (p - part)) + p_error;
			sum = total;
		}
		total = sum + error;
		part = total - sum;
		_mm512_storeu_pd(result.hi + j, total);
		_mm512_storeu_pd(result.lo + j, (sum - (total - part)) + (error - part));
	}
	combine_avx2(rows, weights, wmlc_dd_from(matrix, j), stride, n - j, wmlc_dd_from(result, j));
}

static const WmlcDdVectorKernels kernels_avx512 = {
	add_multiple_avx2, rotate_avx2, combine_avx512
};

#endif							/* __x86_64__ */

const WmlcDdVectorKernels *
wmlc_dd_vector_kernels(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return __builtin_cpu_supports("avx512f") ? &kernels_avx512 : &kernels_avx2;
#endif
	return &wmlc_dd_vector_kernels_plain;
}
