/*
 * gram_kernel_vector.h
 *	  The kernels of gram_kernel.c for one vector instruction set.  Included
 *	  once per set, with these macros defined:
 *
 *	  KERNEL(part)	names of the functions
 *	  TARGET		the target attribute's argument
 *	  LANES			doubles in a vector
 *	  TILE_VECTORS	how many vectors of columns a tile has: 2 or 4, by the registers
 *	  VECTOR		the vector type
 *	  LOAD, STORE, BROADCAST, ADD, SUB, MUL, FMADD, FMSUB
 *	  UNLESS_NAN	UNLESS_NAN(t, a, b): a, but b in the lanes where t is NaN
 *	  LARGER_SIZE	LARGER_SIZE(a, b): |a| or b >= 0, whichever is larger
 *	  MASK, MASK_BETWEEN, MASK_LOAD, MASK_STORE
 *					MASK_BETWEEN(from, to): the lanes k with from <= k < to
 *
 * Rows of the triangle are contiguous and of every length, so the last vector
 * of a row usually reaches into the beginning of the next one.  There it meets
 * the zeros behind z, adds nothing, and writes back what it read.  A load that
 * overlaps a store still in flight stalls the processor; taking the even rows
 * first and the odd ones after keeps neighbours apart.
 */

/* *sum + *error += a + a_error; a sum that is not finite keeps no error */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_add) (VECTOR *sum, VECTOR *error, VECTOR a, VECTOR a_error)
{
	VECTOR		new_sum = ADD(*sum, a);
	VECTOR		part = SUB(new_sum, *sum);
	VECTOR		sum_error = ADD(SUB(*sum, SUB(new_sum, part)), SUB(a, part));
	VECTOR		new_error = ADD(*error, ADD(sum_error, a_error));
	VECTOR		total = ADD(new_sum, new_error);

	new_error = SUB(new_error, SUB(total, new_sum));
	*sum = UNLESS_NAN(new_error, total, new_sum);
	*error = UNLESS_NAN(new_error, new_error, BROADCAST(0.0));
}

/* The same for sums in memory, and there only for the lanes from <= k < to. */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_add_between) (int from, int to, VECTOR a, VECTOR a_error, double *hi, double *lo)
{
	VECTOR		sum,
				error;

	if (from <= 0 && to >= LANES)
	{
		sum = LOAD(hi);
		error = LOAD(lo);
		KERNEL(_add) (&sum, &error, a, a_error);
		STORE(hi, sum);
		STORE(lo, error);
	}
	else
	{
		MASK		inside = MASK_BETWEEN(from, to);

		sum = MASK_LOAD(hi, inside);
		error = MASK_LOAD(lo, inside);
		KERNEL(_add) (&sum, &error, a, a_error);
		MASK_STORE(hi, inside, sum);
		MASK_STORE(lo, inside, error);
	}
}

/* Row i of the triangle, which starts at hi and lo, from one row of data. */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_row) (int p, int i, const double *z, double weight, bool weighted, double *hi, double *lo)
{
	double		wz = weighted ? weight * z[i] : z[i];
	VECTOR		factor = BROADCAST(wz);
	VECTOR		factor_error = BROADCAST(weighted ? __builtin_fma(weight, z[i], -wz) : 0.0);

	/* infinity times the zeros behind z would be NaN */
	if (__builtin_expect(!isfinite(wz), 0))
	{
		plain_row(p, i, z, weight, hi, lo);
		return;
	}
	for (int j = i; j < p; j += LANES)
	{
		VECTOR		zj = LOAD(z + j);
		VECTOR		product = MUL(factor, zj);
		VECTOR		product_error = FMSUB(factor, zj, product);
		VECTOR		sum = LOAD(hi + j - i);
		VECTOR		error = LOAD(lo + j - i);

		if (weighted)
			product_error = ADD(product_error, MUL(factor_error, zj));
		KERNEL(_add) (&sum, &error, product, product_error);
		STORE(hi + j - i, sum);
		STORE(lo + j - i, error);
	}
}

/* Where the accumulators of row i and the columns from j on start. */
__attribute__((target(TARGET), always_inline))
static inline VECTOR
KERNEL(_bias) (const double *bound, int i, int j)
{
	return MUL(BROADCAST(BIAS * bound[i]), LOAD(bound + j));
}

/*
 * The same from several rows of data: a tile of two rows of the triangle and
 * up to TILE_VECTORS vectors of columns, which share the two factors that have
 * to be broadcast.  Each product is added to an accumulator that starts at a
 * bias so large that the error of the addition is exact and takes two
 * operations where a general two-sum takes six: s = acc + f z, rounded; then
 * s - acc is exact, and f z - (s - acc) is the rest.
 */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_tile) (int vectors, int p, int first, int column, int end, int count,
			   const double *rows, int stride, const double *factors, int step,
			   const double *factor_errors, const double *bound, double *hi, double *lo)
{
	VECTOR		sum[2 * TILE_VECTORS];
	VECTOR		error[2 * TILE_VECTORS];

#pragma GCC unroll 8
	for (int k = 0; k < 2 * vectors; k++)
	{
		sum[k] = KERNEL(_bias) (bound, first + k / vectors, column + k % vectors * LANES);
		error[k] = BROADCAST(0.0);
	}
	for (int r = 0; r < count; r++)
	{
		const double *z = rows + (ptrdiff_t) r * stride + column;
		const double *factor = factors + (ptrdiff_t) r * step;

#pragma GCC unroll 8
		for (int k = 0; k < 2 * vectors; k++)
		{
			VECTOR		f = BROADCAST(factor[k / vectors]);
			VECTOR		zk = LOAD(z + k % vectors * LANES);
			VECTOR		new_sum = FMADD(f, zk, sum[k]);
			VECTOR		rest = FMSUB(f, zk, SUB(new_sum, sum[k]));

			if (factor_errors != NULL)
				rest = FMADD(BROADCAST(factor_errors[r * 2 + k / vectors]), zk, rest);
			error[k] = ADD(error[k], rest);
			sum[k] = new_sum;
		}
	}

	/* Unrolled as well: arrays with constant indexes live in registers. */
#pragma GCC unroll 8
	for (int k = 0; k < 2 * vectors; k++)
	{
		int			i = first + k / vectors;
		int			j = column + k % vectors * LANES;
		ptrdiff_t	start = (ptrdiff_t) wmlc_triangle_index(p, i, i) + j - i;

		/* the rows of the next tile are on their way from memory meanwhile */
		__builtin_prefetch(hi + start + 2 * p);
		__builtin_prefetch(lo + start + 2 * p);
		if (i < p)
			KERNEL(_add_between) (i - j, end - j, SUB(sum[k], KERNEL(_bias) (bound, i, j)), error[k],
								  hi + start, lo + start);
	}
}

/*
 * Two rows of the triangle.  The columns go from the right to the left, so that
 * only the vector at the diagonal has lanes in vain; the left edge of the matrix
 * moves it in.
 */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_block_rows) (int p, int first, int count, const double *rows, int stride,
					 const double *weights, bool weighted, const double *bound,
					 double *hi, double *lo)
{
	double		scaled[2 * WMLC_KERNEL_ROWS];
	double		scaled_error[2 * WMLC_KERNEL_ROWS];
	const double *factors = weighted ? scaled : rows + first;
	const double *factor_errors = weighted ? scaled_error : NULL;
	int			step = weighted ? 2 : stride;

	for (int n = 0; weighted && n < 2 * count; n++)
	{
		double		weight = weights[n / 2];
		double		z = rows[n / 2 * stride + first + n % 2];

		scaled[n] = weight * z;
		scaled_error[n] = __builtin_fma(weight, z, -scaled[n]);
	}
	for (int end = p; end > first;)
	{
		int			vectors = (end - first + LANES - 1) / LANES;
		int			column;

		vectors = vectors < TILE_VECTORS ? vectors : TILE_VECTORS;
		column = end < vectors * LANES ? 0 : end - vectors * LANES;
#define TILE(n) \
		KERNEL(_tile) (n, p, first, column, end, count, rows, stride, factors, step, factor_errors, \
					   bound, hi, lo)
		if (vectors == 1)
			TILE(1);
		else if (vectors == 2)
			TILE(2);
#if TILE_VECTORS > 2
		else if (vectors == 3)
			TILE(3);
		else
			TILE(4);
#endif
#undef TILE
		end -= vectors * LANES;
	}
}

/* The largest |root z| of each column; NaN counts as larger than anything. */
__attribute__((target(TARGET)))
static void
KERNEL(_column_sizes) (int p, int count, const double *rows, int stride,
					   const double *roots, double *sizes)
{
	for (int column = 0; column < p; column += LANES)
	{
		VECTOR		largest = BROADCAST(0.0);

		for (int r = 0; r < count; r++)
			largest = LARGER_SIZE(MUL(BROADCAST(roots[r]), LOAD(rows + r * stride + column)), largest);
		STORE(sizes + column, largest);
	}
}

/* The last few entries of the triangle, where no whole vector fits. */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_corner) (int p, int first, const double *z, double weight, double *hi, double *lo)
{
	for (int i = first; i < p; i++)
	{
		double		wz = weight * z[i];
		double		wz_error = __builtin_fma(weight, z[i], -wz);

		for (int j = i; j < p; j++, hi++, lo++)
		{
			double		product = wz * z[j];
			double		product_error = __builtin_fma(wz, z[j], -product) + wz_error * z[j];

			add_entry(hi, lo, product, product_error);
		}
	}
}

/* Rows of the triangle whose overhanging vector still ends inside it. */
static inline int
KERNEL(_fitting_rows) (int p)
{
	int			last = 1;		/* length of the last such row */

	while (last * (last + 1) / 2 < LANES)
		last++;
	return p < last ? 0 : p - last + 1;
}

__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_triangle) (int p, const double *z, double weight, bool weighted, double *hi, double *lo)
{
	int			fitting = KERNEL(_fitting_rows) (p);
	size_t		start;

	for (int parity = 0; parity < 2; parity++)
	{
		for (int i = parity; i < fitting; i += 2)
		{
			start = wmlc_triangle_index(p, i, i);
			KERNEL(_row) (p, i, z, weight, weighted, hi + start, lo + start);
		}
	}
	start = wmlc_triangle_index(p, fitting, fitting);
	KERNEL(_corner) (p, fitting, z, weight, hi + start, lo + start);
}

__attribute__((target(TARGET)))
static void
KERNEL(_single) (int p, const double *z, double weight, double *hi, double *lo)
{
	if (weight == 1.0)
		KERNEL(_triangle) (p, z, weight, false, hi, lo);
	else
		KERNEL(_triangle) (p, z, weight, true, hi, lo);
}

/* The common case with constants, so that the compiler unrolls it. */
__attribute__((target(TARGET)))
static void
KERNEL(_block) (int p, int count, const double *rows, int stride, const double *weights,
				bool weighted, const double *bound, double *hi, double *lo)
{
	for (int i = 0; i < p; i += 2)
	{
		if (weighted)
			KERNEL(_block_rows) (p, i, count, rows, stride, weights, true,
								 bound, hi, lo);
		else
			KERNEL(_block_rows) (p, i, count, rows, stride, weights, false,
								 bound, hi, lo);
	}
}

#undef KERNEL
#undef TARGET
#undef LANES
#undef TILE_VECTORS
#undef VECTOR
#undef LOAD
#undef STORE
#undef BROADCAST
#undef ADD
#undef SUB
#undef MUL
#undef FMADD
#undef FMSUB
#undef UNLESS_NAN
#undef LARGER_SIZE
#undef MASK
#undef MASK_BETWEEN
#undef MASK_LOAD
#undef MASK_STORE
