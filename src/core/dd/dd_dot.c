/*
 * dd_dot.c
 *	  Dot products of double-double vectors with twofold and threefold
 *	  compensation.
 *
 * Ogita, Rump, Oishi, "Accurate sum and dot product" (SIAM J. Sci. Comput. 26,
 * 2005): add with two_sum, keep the rounding errors in a second accumulator,
 * and for the residual the errors of that one in a third.  Nothing is
 * renormalised inside the loop, which makes it several times cheaper than a
 * chain of double-double additions and lets it run in vector registers.
 *
 * Every loop works in four lanes, element i in lane i mod 4, and adds the
 * lanes up in the same order.  two_prod is exact with or without fused
 * multiply-add, so plain C and AVX2 agree to the last bit.
 *
 * BLAS has no such products: its ddot, in plain doubles, takes 6 to 11 ns for 64
 * terms, and twice the digits take 41 to 47 ns (test/bench/bench_loops.c).
 */
#include "core/base/machine.h"
#include "core/dd/dd_dot.h"

#ifdef WMLC_VECTORS
#include <immintrin.h>
#endif

#define LANES 4

/* Accumulators of one lane, each a correction of the one before. */
typedef struct TripleSum
{
	double		s0;
	double		s1;
	double		s2;
} TripleSum;

/* Add the lanes of a twofold sum. */
static WmlcDd
fold_dot(const double s[LANES], const double error[LANES])
{
	WmlcDd		lane[LANES];

	for (int k = 0; k < LANES; k++)
		lane[k] = wmlc_two_sum(s[k], error[k]);
	return wmlc_dd_add(wmlc_dd_add(lane[0], lane[1]),
					   wmlc_dd_add(lane[2], lane[3]));
}

static inline void
triple_add_second(TripleSum *sum, double a)
{
	WmlcDd		t = wmlc_two_sum(sum->s1, a);

	sum->s1 = t.hi;
	sum->s2 += t.lo;
}

static inline void
triple_add_first(TripleSum *sum, double a)
{
	WmlcDd		t = wmlc_two_sum(sum->s0, a);

	sum->s0 = t.hi;
	triple_add_second(sum, t.lo);
}

/* b minus the lanes of a threefold sum; s0 and s1 cancel almost entirely. */
static WmlcDd
fold_residual(WmlcDd b, const double s0[LANES], const double s1[LANES],
			  const double s2[LANES])
{
	TripleSum	sum = {b.hi, b.lo, 0.0};
	WmlcDd		head;

	for (int k = 0; k < LANES; k++)
	{
		triple_add_first(&sum, -s0[k]);
		triple_add_first(&sum, -s1[k]);
		sum.s2 -= s2[k];
	}
	head = wmlc_two_sum(sum.s0, sum.s1);
	return wmlc_two_sum(head.hi, head.lo + sum.s2);
}

static WmlcDd
dot_plain(int n, WmlcDdSpan x, WmlcDdSpan y)
{
	double		s[LANES] = {0.0};
	double		error[LANES] = {0.0};

	for (int i = 0; i < n; i++)
	{
		int			k = i % LANES;
		WmlcDd		p = wmlc_two_prod(x.hi[i], y.hi[i]);
		WmlcDd		t = wmlc_two_sum(s[k], p.hi);

		s[k] = t.hi;
		error[k] += t.lo + (p.lo + (x.hi[i] * y.lo[i] + x.lo[i] * y.hi[i]));
	}
	return fold_dot(s, error);
}

static WmlcDd
residual_plain(WmlcDd b, int n, WmlcDdSpan x, WmlcDdSpan y)
{
	TripleSum	sum[LANES] = {{0.0, 0.0, 0.0}};
	double		s0[LANES],
				s1[LANES],
				s2[LANES];

	for (int i = 0; i < n; i++)
	{
		TripleSum  *lane = &sum[i % LANES];
		WmlcDd		high = wmlc_two_prod(x.hi[i], y.hi[i]);
		WmlcDd		mixed1 = wmlc_two_prod(x.hi[i], y.lo[i]);
		WmlcDd		mixed2 = wmlc_two_prod(x.lo[i], y.hi[i]);

		triple_add_first(lane, high.hi);
		triple_add_second(lane, high.lo);
		triple_add_second(lane, mixed1.hi);
		triple_add_second(lane, mixed2.hi);
		lane->s2 += (mixed1.lo + mixed2.lo) + x.lo[i] * y.lo[i];
	}
	for (int k = 0; k < LANES; k++)
	{
		s0[k] = sum[k].s0;
		s1[k] = sum[k].s1;
		s2[k] = sum[k].s2;
	}
	return fold_residual(b, s0, s1, s2);
}

const WmlcDdLoops wmlc_dd_loops_plain = {dot_plain, residual_plain};

#ifdef WMLC_VECTORS

#define AVX2 __attribute__((target("avx2,fma")))

/*
 * A call from here into code without AVX is slow by 150 ns unless the upper
 * halves of the registers are cleared first, which gcc omits before a call to a
 * static function.
 */

/* Four double-doubles in registers. */
typedef struct VectorDd
{
	__m256d		hi;
	__m256d		lo;
} VectorDd;

AVX2 static inline VectorDd
vector_two_sum(__m256d a, __m256d b)
{
	__m256d		s = _mm256_add_pd(a, b);
	__m256d		bb = _mm256_sub_pd(s, a);

	return (VectorDd) {s, _mm256_add_pd(_mm256_sub_pd(a, _mm256_sub_pd(s, bb)),
										_mm256_sub_pd(b, bb))};
}

AVX2 static inline VectorDd
vector_two_prod(__m256d a, __m256d b)
{
	__m256d		p = _mm256_mul_pd(a, b);

	return (VectorDd) {p, _mm256_fmsub_pd(a, b, p)};
}

AVX2 static inline VectorDd
vector_load(WmlcDdSpan x, int i)
{
	return (VectorDd) {_mm256_loadu_pd(x.hi + i), _mm256_loadu_pd(x.lo + i)};
}

/* The last, incomplete vector: missing lanes are zero and change no sum. */
AVX2 static inline VectorDd
vector_load_tail(WmlcDdSpan x, int i, __m256i mask)
{
	return (VectorDd) {_mm256_maskload_pd(x.hi + i, mask),
					   _mm256_maskload_pd(x.lo + i, mask)};
}

AVX2 static inline __m256i
tail_mask(int count)
{
	return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count),
							  _mm256_set_epi64x(3, 2, 1, 0));
}

AVX2 static inline void
vector_dot_step(VectorDd x, VectorDd y, __m256d *s, __m256d *error)
{
	VectorDd	p = vector_two_prod(x.hi, y.hi);
	VectorDd	t = vector_two_sum(*s, p.hi);
	__m256d		mixed = _mm256_add_pd(_mm256_mul_pd(x.hi, y.lo),
									  _mm256_mul_pd(x.lo, y.hi));

	*s = t.hi;
	*error = _mm256_add_pd(*error, _mm256_add_pd(t.lo, _mm256_add_pd(p.lo, mixed)));
}

AVX2 static WmlcDd
dot_avx2(int n, WmlcDdSpan x, WmlcDdSpan y)
{
	__m256d		s = _mm256_setzero_pd();
	__m256d		error = _mm256_setzero_pd();
	double		lane_s[LANES],
				lane_error[LANES];
	int			i = 0;

	for (; i + LANES <= n; i += LANES)
		vector_dot_step(vector_load(x, i), vector_load(y, i), &s, &error);
	if (i < n)
	{
		__m256i		mask = tail_mask(n - i);

		vector_dot_step(vector_load_tail(x, i, mask),
						vector_load_tail(y, i, mask), &s, &error);
	}
	_mm256_storeu_pd(lane_s, s);
	_mm256_storeu_pd(lane_error, error);
	_mm256_zeroupper();
	return fold_dot(lane_s, lane_error);
}

typedef struct VectorTripleSum
{
	__m256d		s0;
	__m256d		s1;
	__m256d		s2;
} VectorTripleSum;

AVX2 static inline void
vector_add_second(VectorTripleSum *sum, __m256d a)
{
	VectorDd	t = vector_two_sum(sum->s1, a);

	sum->s1 = t.hi;
	sum->s2 = _mm256_add_pd(sum->s2, t.lo);
}

AVX2 static inline void
vector_residual_step(VectorDd x, VectorDd y, VectorTripleSum *sum)
{
	VectorDd	high = vector_two_prod(x.hi, y.hi);
	VectorDd	mixed1 = vector_two_prod(x.hi, y.lo);
	VectorDd	mixed2 = vector_two_prod(x.lo, y.hi);
	VectorDd	t = vector_two_sum(sum->s0, high.hi);

	sum->s0 = t.hi;
	vector_add_second(sum, t.lo);
	vector_add_second(sum, high.lo);
	vector_add_second(sum, mixed1.hi);
	vector_add_second(sum, mixed2.hi);
	sum->s2 = _mm256_add_pd(sum->s2,
							_mm256_add_pd(_mm256_add_pd(mixed1.lo, mixed2.lo),
										  _mm256_mul_pd(x.lo, y.lo)));
}

AVX2 static WmlcDd
residual_avx2(WmlcDd b, int n, WmlcDdSpan x, WmlcDdSpan y)
{
	VectorTripleSum sum = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()};
	double		s0[LANES],
				s1[LANES],
				s2[LANES];
	int			i = 0;

	for (; i + LANES <= n; i += LANES)
		vector_residual_step(vector_load(x, i), vector_load(y, i), &sum);
	if (i < n)
	{
		__m256i		mask = tail_mask(n - i);

		vector_residual_step(vector_load_tail(x, i, mask),
							 vector_load_tail(y, i, mask), &sum);
	}
	_mm256_storeu_pd(s0, sum.s0);
	_mm256_storeu_pd(s1, sum.s1);
	_mm256_storeu_pd(s2, sum.s2);
	_mm256_zeroupper();
	return fold_residual(b, s0, s1, s2);
}

static const WmlcDdLoops loops_avx2 = {dot_avx2, residual_avx2};

#endif							/* WMLC_VECTORS */

const WmlcDdLoops *
wmlc_dd_loops(void)
{
#ifdef WMLC_VECTORS
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &loops_avx2;
#endif
	return &wmlc_dd_loops_plain;
}
