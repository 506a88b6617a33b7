/*
 * gram_kernel_vector.h
 *	  The kernels of gram_kernel.c for one vector instruction set.  Included
 *	  once per set, with these macros defined:
 *
 *	  KERNEL(part)	names of the functions
 *	  TARGET		the target attribute's argument
 *	  LANES			doubles in a vector
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

/*
 * The same from several rows of data, for four rows of the triangle at once so
 * that each piece of z is loaded once for all of them.  Each product is added
 * to an accumulator that starts at a bias so large that the error of the
 * addition is exact and takes two operations where a general two-sum takes
 * six: s = acc + f z, rounded; then s - acc is exact, and f z - (s - acc) is
 * the rest.
 *
 * The columns go from the right to the left, so that only the vector at the
 * diagonal has lanes in vain; the left edge of the matrix moves it in.
 */
__attribute__((target(TARGET), always_inline))
static inline void
KERNEL(_block_rows) (int p, int first, int count, const double *rows, int stride,
					 const double *weights, bool weighted, const double *bound,
					 double *hi, double *lo)
{
	double		scaled[4 * WMLC_KERNEL_ROWS];
	double		scaled_error[4 * WMLC_KERNEL_ROWS];
	const double *factors = weighted ? scaled : rows + first;
	int			step = weighted ? 4 : stride;

	for (int n = 0; weighted && n < 4 * count; n++)
	{
		double		weight = weights[n / 4];
		double		z = rows[n / 4 * stride + first + n % 4];

		scaled[n] = weight * z;
		scaled_error[n] = __builtin_fma(weight, z, -scaled[n]);
	}
	for (int end = p; end > first; end -= LANES)
	{
		int			column = end < LANES ? 0 : end - LANES;
		VECTOR		column_bound = LOAD(bound + column);
		VECTOR		bias[4];
		VECTOR		sum[4];
		VECTOR		error[4];

#pragma GCC unroll 4
		for (int k = 0; k < 4; k++)
		{
			bias[k] = MUL(BROADCAST(BIAS * bound[first + k]), column_bound);
			sum[k] = bias[k];
			error[k] = BROADCAST(0.0);
		}
		for (int r = 0; r < count; r++)
		{
			VECTOR		z = LOAD(rows + r * stride + column);

#pragma GCC unroll 4
			for (int k = 0; k < 4; k++)
			{
				VECTOR		f = BROADCAST(factors[r * step + k]);
				VECTOR		new_sum = FMADD(f, z, sum[k]);
				VECTOR		rest = FMSUB(f, z, SUB(new_sum, sum[k]));

				if (weighted)
					rest = FMADD(BROADCAST(scaled_error[r * 4 + k]), z, rest);
				error[k] = ADD(error[k], rest);
				sum[k] = new_sum;
			}
		}

		/*
		 * Unrolled as well: arrays with constant indexes live in registers.  The
		 * next four rows are on their way from memory meanwhile.
		 */
#pragma GCC unroll 4
		for (int k = 0; k < 4; k++)
		{
			int			i = first + k;
			ptrdiff_t	start = (ptrdiff_t) wmlc_triangle_index(p, i, i) + column - i;

			__builtin_prefetch(hi + start + 4 * p);
			__builtin_prefetch(lo + start + 4 * p);
			if (i < p)
				KERNEL(_add_between) (i - column, end - column, SUB(sum[k], bias[k]), error[k],
									  hi + start, lo + start);
		}
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
	for (int i = 0; i < p; i += 4)
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
