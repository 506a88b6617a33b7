/*
 * simplex_vector.c
 *	  The passes over the points: inner products and weighted sums.
 *
 * These loops are bound by memory, so what matters beside speed is that a
 * result depends on the numbers alone.  Each inner product is accumulated in
 * the same 16 lanes, in the same order, with products rounded before they are
 * added, wherever the point stands in the list and whatever the instruction
 * set: equal points get equal prices, and every machine gets the same bits.
 * (BLAS promises neither.)
 */
#include "simplex_internal.h"

/* Eight doubles; compilers split it into what the machine has. */
typedef double Lanes __attribute__((vector_size(64), aligned(8)));

#define LANES 8
#define LOAD(p) (*(const Lanes *) (p))

/* Points handled together, to share the loads of z and hide latency. */
#define TOGETHER 2

static inline __attribute__((always_inline)) double
sum_lanes(const Lanes *even, const Lanes *odd)
{
	Lanes		v = *even + *odd;

	return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* Inner products of n (a constant, at most TOGETHER) points with z[k]. */
static inline __attribute__((always_inline)) void
dot_together(const double *const *p, const double *const *z, size_t dims, const int n, double *out)
{
	Lanes		even[TOGETHER] = {{0}};
	Lanes		odd[TOGETHER] = {{0}};
	size_t		i = 0;

	for (; i + 2 * LANES <= dims; i += 2 * LANES)
	{
#pragma GCC unroll 2
		for (int k = 0; k < n; k++)
		{
			even[k] += LOAD(p[k] + i) * LOAD(z[k] + i);
			odd[k] += LOAD(p[k] + i + LANES) * LOAD(z[k] + i + LANES);
		}
	}
	if (i + LANES <= dims)
	{
#pragma GCC unroll 2
		for (int k = 0; k < n; k++)
			even[k] += LOAD(p[k] + i) * LOAD(z[k] + i);
		i += LANES;
	}
#pragma GCC unroll 2
	for (int k = 0; k < n; k++)
	{
		double		tail = 0.0;

		for (size_t t = i; t < dims; t++)
			tail += p[k][t] * z[k][t];
		out[k] = sum_lanes(&even[k], &odd[k]) + tail;
	}
}

/* z = NULL: every point with itself. */
static inline __attribute__((always_inline)) void
dots_body(const double *at, size_t stride, size_t dims, const size_t *list, size_t first,
		  size_t count, const double *z, double *out)
{
	size_t		k = 0;

	for (; k + TOGETHER <= count; k += TOGETHER)
	{
		const double *p[TOGETHER];
		const double *zs[TOGETHER];

#pragma GCC unroll 2
		for (int i = 0; i < TOGETHER; i++)
		{
			p[i] = at + (list ? list[k + i] : first + k + i) * stride;
			zs[i] = z ? z : p[i];
		}
		dot_together(p, zs, dims, TOGETHER, out + k);
	}
	for (; k < count; k++)
	{
		const double *p = at + (list ? list[k] : first + k) * stride;
		const double *zk = z ? z : p;

		dot_together(&p, &zk, dims, 1, out + k);
	}
}

/* Points added together in a sum. */
#define ADDED 4

/* sum += sum_k w_k p_k; the order of the points is the order of the additions. */
static inline __attribute__((always_inline)) void
combine_together(const double *const *p, const double *w, size_t dims, const int n, double *sum)
{
	size_t		i = 0;

	for (; i + LANES <= dims; i += LANES)
	{
		Lanes		total = LOAD(sum + i);

#pragma GCC unroll 4
		for (int k = 0; k < n; k++)
			total += w[k] * LOAD(p[k] + i);
		*(Lanes *) (sum + i) = total;
	}
	for (; i < dims; i++)
	{
		for (int k = 0; k < n; k++)
			sum[i] += w[k] * p[k][i];
	}
}

/* Points without weight are not read, unless among others. */
static inline __attribute__((always_inline)) void
combine_body(const double *at, size_t stride, size_t dims, const size_t *list, size_t first,
			 size_t count, const double *weight, double *sum)
{
	const double *p[ADDED];
	size_t		k = 0;

	for (; k + ADDED <= count; k += ADDED)
	{
		bool		any = false;

		for (int i = 0; i < ADDED; i++)
		{
			p[i] = at + (list ? list[k + i] : first + k + i) * stride;
			any |= weight[k + i] != 0.0;
		}
		if (any)
			combine_together(p, weight + k, dims, ADDED, sum);
	}
	for (; k < count; k++)
	{
		p[0] = at + (list ? list[k] : first + k) * stride;
		if (weight[k] != 0.0)
			combine_together(p, weight + k, dims, 1, sum);
	}
}

/*
 * The lower triangle of matrix += sum_k a_k a_k', for columns a_k padded with
 * zeros to stride, a multiple of 2 LANES.  A tile of SCATTER_ROWS x 2 LANES
 * entries stays in registers for all columns.
 */
#define SCATTER_ROWS 4

static inline __attribute__((always_inline)) void
scatter_body(const double *columns, size_t stride, size_t count, double *matrix)
{
	for (size_t i = 0; i < stride; i += SCATTER_ROWS)
	{
		for (size_t j = 0; j < i + SCATTER_ROWS; j += 2 * LANES)
		{
			Lanes		even[SCATTER_ROWS] = {{0}};
			Lanes		odd[SCATTER_ROWS] = {{0}};

			for (size_t k = 0; k < count; k++)
			{
				const double *a = columns + k * stride;

#pragma GCC unroll 4
				for (int r = 0; r < SCATTER_ROWS; r++)
				{
					even[r] += a[i + r] * LOAD(a + j);
					odd[r] += a[i + r] * LOAD(a + j + LANES);
				}
			}
#pragma GCC unroll 4
			for (int r = 0; r < SCATTER_ROWS; r++)
			{
				*(Lanes *) (matrix + (i + r) * stride + j) += even[r];
				*(Lanes *) (matrix + (i + r) * stride + j + LANES) += odd[r];
			}
		}
	}
}

#define DOTS_VARIANT(name) \
static void \
name(const double *at, size_t stride, size_t dims, const size_t *list, size_t first, \
	 size_t count, const double *z, double *out) \
{ \
	dots_body(at, stride, dims, list, first, count, z, out); \
}

#define COMBINE_VARIANT(name) \
static void \
name(const double *at, size_t stride, size_t dims, const size_t *list, size_t first, \
	 size_t count, const double *weight, double *sum) \
{ \
	combine_body(at, stride, dims, list, first, count, weight, sum); \
}

#define SCATTER_VARIANT(name) \
static void \
name(const double *columns, size_t stride, size_t count, double *matrix) \
{ \
	scatter_body(columns, stride, count, matrix); \
}

DOTS_VARIANT(dots_plain)
COMBINE_VARIANT(combine_plain)
SCATTER_VARIANT(scatter_plain)

#ifdef __x86_64__
__attribute__((target("avx2"))) DOTS_VARIANT(dots_avx2)
__attribute__((target("avx2"))) COMBINE_VARIANT(combine_avx2)
__attribute__((target("avx2"))) SCATTER_VARIANT(scatter_avx2)
__attribute__((target("avx512f"))) DOTS_VARIANT(dots_avx512)
__attribute__((target("avx512f"))) COMBINE_VARIANT(combine_avx512)
__attribute__((target("avx512f"))) SCATTER_VARIANT(scatter_avx512)

#define DISPATCH(name, ...) \
	(__builtin_cpu_supports("avx512f") ? name##_avx512(__VA_ARGS__) : \
	 __builtin_cpu_supports("avx2") ? name##_avx2(__VA_ARGS__) : name##_plain(__VA_ARGS__))
#else
#define DISPATCH(name, ...) name##_plain(__VA_ARGS__)
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
