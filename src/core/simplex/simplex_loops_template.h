/*
 * simplex_loops_template.h
 *	  The loops of simplex_loops.c for one width of vector registers.
 *
 * Included once per instruction set, with
 *
 *		WIDTH		doubles in a register: 2, 4 or 8
 *		TOGETHER	points whose inner products are taken together
 *		TARGET		attribute of the functions made
 *		FMA(a, b, c)	a * b + c, rounded once where the processor can
 *		NAME(f)		their names
 *
 * Whatever the width, prices and sums are the outcome of the same additions in
 * the same order.
 */

/* Loads and stores need no alignment. */
typedef double NAME(Vector) __attribute__((vector_size(8 * WIDTH), aligned(8)));

#define Vector NAME(Vector)
#define PARTS (LANES / WIDTH)
#define LOAD(p) (*(const Vector *) (p))

/* Add the upper half of the lanes to the lower until one is left. */
static inline __attribute__((always_inline)) TARGET double
NAME(sum_lanes) (Vector *part)
{
	double		lane[WIDTH];

#pragma GCC unroll 4
	for (int n = PARTS / 2; n >= 1; n /= 2)
	{
#pragma GCC unroll 4
		for (int i = 0; i < n; i++)
			part[i] += part[i + n];
	}
#pragma GCC unroll 8
	for (int i = 0; i < WIDTH; i++)
		lane[i] = part[0][i];
#pragma GCC unroll 4
	for (int n = WIDTH / 2; n >= 1; n /= 2)
	{
#pragma GCC unroll 4
		for (int i = 0; i < n; i++)
			lane[i] += lane[i + n];
	}
	return lane[0];
}

/* Inner products of n (a constant, at most TOGETHER) points with z[k]. */
static inline __attribute__((always_inline)) TARGET void
NAME(dot_together) (const double *const *p, const double *const *z, size_t dims, const int n, double *out)
{
	Vector		part[TOGETHER][PARTS] = {{{0}}};
	size_t		i = 0;

	for (; i + LANES <= dims; i += LANES)
	{
#pragma GCC unroll 2
		for (int k = 0; k < n; k++)
		{
#pragma GCC unroll 8
			for (int q = 0; q < PARTS; q++)
				part[k][q] += LOAD(p[k] + i + q * WIDTH) * LOAD(z[k] + i + q * WIDTH);
		}
	}
	if (i + LANES / 2 <= dims)
	{
#pragma GCC unroll 2
		for (int k = 0; k < n; k++)
		{
#pragma GCC unroll 4
			for (int q = 0; q < PARTS / 2; q++)
				part[k][q] += LOAD(p[k] + i + q * WIDTH) * LOAD(z[k] + i + q * WIDTH);
		}
		i += LANES / 2;
	}
#pragma GCC unroll 2
	for (int k = 0; k < n; k++)
	{
		double		tail = 0.0;

		for (size_t t = i; t < dims; t++)
			tail += p[k][t] * z[k][t];
		out[k] = NAME(sum_lanes) (part[k]) + tail;
	}
}

/* z = NULL: every point with itself. */
static TARGET void
NAME(dots) (const double *at, size_t stride, size_t dims, const size_t *list, size_t first,
			size_t count, const double *z, double *out)
{
	const double *p[TOGETHER];
	const double *zs[TOGETHER];
	size_t		k = 0;

	for (; k + TOGETHER <= count; k += TOGETHER)
	{
#pragma GCC unroll 2
		for (int i = 0; i < TOGETHER; i++)
		{
			p[i] = at + (list ? list[k + i] : first + k + i) * stride;
			zs[i] = z ? z : p[i];
		}
		NAME(dot_together) (p, zs, dims, TOGETHER, out + k);
	}
	for (; k < count; k++)
	{
		p[0] = at + (list ? list[k] : first + k) * stride;
		zs[0] = z ? z : p[0];
		NAME(dot_together) (p, zs, dims, 1, out + k);
	}
}

/* sum += sum_k w_k p_k; the order of the points is the order of the additions. */
static inline __attribute__((always_inline)) TARGET void
NAME(combine_together) (const double *const *p, const double *w, size_t dims, const int n, double *sum)
{
	size_t		i = 0;

	for (; i + WIDTH <= dims; i += WIDTH)
	{
		Vector		total = LOAD(sum + i);

#pragma GCC unroll 4
		for (int k = 0; k < n; k++)
			total += w[k] * LOAD(p[k] + i);
		*(Vector *) (sum + i) = total;
	}
	for (; i < dims; i++)
	{
		for (int k = 0; k < n; k++)
			sum[i] += w[k] * p[k][i];
	}
}

/* Points without weight are not read, unless among others. */
static TARGET void
NAME(combine) (const double *at, size_t stride, size_t dims, const size_t *list, size_t first,
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
			NAME(combine_together) (p, weight + k, dims, ADDED, sum);
	}
	for (; k < count; k++)
	{
		p[0] = at + (list ? list[k] : first + k) * stride;
		if (weight[k] != 0.0)
			NAME(combine_together) (p, weight + k, dims, 1, sum);
	}
}

/* A tile of the matrix stays in registers for all columns. */
static TARGET void
NAME(scatter) (const double *columns, size_t stride, size_t count, double *matrix)
{
	for (size_t i = 0; i < stride; i += WMLC_SCATTER_TILE)
	{
		for (size_t j = 0; j < i + WMLC_SCATTER_TILE; j += WIDTH)
		{
			Vector		sum[WMLC_SCATTER_TILE] = {{0}};

			for (size_t k = 0; k < count; k++)
			{
				const double *a = columns + k * stride;

#pragma GCC unroll 8
				for (int r = 0; r < WMLC_SCATTER_TILE; r++)
					sum[r] = FMA(a[i + r] - (Vector) {0}, LOAD(a + j), sum[r]);
			}
#pragma GCC unroll 8
			for (int r = 0; r < WMLC_SCATTER_TILE; r++)
				*(Vector *) (matrix + (i + r) * stride + j) += sum[r];
		}
	}
}

#undef Vector
#undef PARTS
#undef LOAD
#undef WIDTH
#undef TOGETHER
#undef TARGET
#undef FMA
#undef NAME
