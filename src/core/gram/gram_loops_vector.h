/*
 * gram_loops_vector.h
 *	  The loops of gram_loops.c for one vector instruction set.  Included
 *	  once per set, with these macros defined:
 *
 *	  LOOPS(part)	names of the functions
 *	  TARGET		the target attribute's argument
 *	  LANES			doubles in a vector
 *	  TILE_VECTORS	how many vectors of columns a tile has: 2 or 4, by the registers
 *	  VECTOR		the vector type
 *	  LOAD, STORE, BROADCAST, ADD, SUB, MUL, FMADD, FMSUB, SQRT
 *	  UNLESS_NAN	UNLESS_NAN(t, a, b): a, but b in the lanes where t is NaN
 *	  MIDDLE_ABOVE	MIDDLE_ABOVE(a): 1.5 * 2^k with the least 2^k above a > 0
 *	  MASK, MASK_BETWEEN, MASK_LOAD, MASK_STORE
 *					MASK_BETWEEN(from, to): the lanes k with from <= k < to
 *	  COUNTS, NO_COUNTS, COUNT_UNEQUAL, MASK_ADD_COUNTS
 *					an integer for each lane
 *
 * Rows of the triangle are contiguous and of every length, so the last vector
 * of a row usually reaches into the beginning of the next one.  With a single
 * row of data it meets the zeros behind z there, adds nothing, and writes back
 * what it read; with several, masks keep it away.  A load that
 * overlaps a store still in flight stalls the processor; taking the even rows
 * first and the odd ones after keeps neighbours apart.
 */

/* *sum + *error += a + a_error; a sum that is not finite keeps no error */
__attribute__((target(TARGET), always_inline))
static inline void
LOOPS(_add) (VECTOR *sum, VECTOR *error, VECTOR a, VECTOR a_error)
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
LOOPS(_add_between) (int from, int to, VECTOR a, VECTOR a_error, double *hi, double *lo)
{
	VECTOR		sum,
				error;

	if (from <= 0 && to >= LANES)
	{
		sum = LOAD(hi);
		error = LOAD(lo);
		LOOPS(_add) (&sum, &error, a, a_error);
		STORE(hi, sum);
		STORE(lo, error);
	}
	else
	{
		MASK		inside = MASK_BETWEEN(from, to);

		sum = MASK_LOAD(hi, inside);
		error = MASK_LOAD(lo, inside);
		LOOPS(_add) (&sum, &error, a, a_error);
		MASK_STORE(hi, inside, sum);
		MASK_STORE(lo, inside, error);
	}
}

/* Row i of the triangle, which starts at hi and lo, from one row of data. */
__attribute__((target(TARGET), always_inline))
static inline void
LOOPS(_row) (int p, int i, const double *z, double weight, bool weighted, double *hi, double *lo)
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
		LOOPS(_add) (&sum, &error, product, product_error);
		STORE(hi + j - i, sum);
		STORE(lo + j - i, error);
	}
}

/*
 * Where the accumulators of row i and the columns from j on start: at a bias of
 * 1.5 * 2^k, where no sum of products exceeds 2^(k-1).  So an accumulator stays
 * between 2^k and 2^(k+1).  (A little more than twice the sizes, for these are
 * rounded.)
 */
__attribute__((target(TARGET), always_inline))
static inline VECTOR
LOOPS(_bias) (const double *size, int i, int j)
{
	return MIDDLE_ABOVE(MUL(BROADCAST((2.0 + 0x1p-30) * size[i]), LOAD(size + j)));
}

/*
 * The same from several rows of data: a tile of two rows of the triangle and
 * up to TILE_VECTORS vectors of columns, which share the two factors that have
 * to be broadcast.  Each product is added to an accumulator whose last bit has
 * always the same worth, so that the error of the addition is exact and takes
 * two operations where a general two-sum takes six: s = acc + f z, rounded; then
 * s - acc is exact, and f z - (s - acc) is the rest.
 *
 * The rests are added up in the 53 bits behind that last bit.  Seen from the
 * block's sum, these begin some bits higher than the lo of a normalised sum
 * would, and what is lost grows with the number of rows.  On the other hand the
 * block is one addition to the sums in memory, where its rows would be many:
 * over some hundred rows that makes good what the rests have lost.
 */
__attribute__((target(TARGET), always_inline))
static inline void
LOOPS(_tile) (int vectors, int p, int first, int column, int end, int count,
			   const double *rows, int stride, const double *factors, int step,
			   const double *factor_errors, const double *size, double *hi, double *lo)
{
	VECTOR		sum[2 * TILE_VECTORS];
	VECTOR		error[2 * TILE_VECTORS];

#pragma GCC unroll 8
	for (int k = 0; k < 2 * vectors; k++)
	{
		sum[k] = LOOPS(_bias) (size, first + k / vectors, column + k % vectors * LANES);
		error[k] = BROADCAST(0.0);
	}
	for (int r = 0; r < count; r++)
	{
		const double *z = rows + (ptrdiff_t) r * stride + column;
		const double *factor = factors + (ptrdiff_t) r * step;
		VECTOR		rest[2 * TILE_VECTORS];

		/* step by step for all vectors: the units for sums and for products are then both busy */
#pragma GCC unroll 8
		for (int k = 0; k < 2 * vectors; k++)
		{
			rest[k] = sum[k];
			sum[k] = FMADD(BROADCAST(factor[k / vectors]), LOAD(z + k % vectors * LANES), sum[k]);
		}
#pragma GCC unroll 8
		for (int k = 0; k < 2 * vectors; k++)
			rest[k] = SUB(sum[k], rest[k]);
#pragma GCC unroll 8
		for (int k = 0; k < 2 * vectors; k++)
			rest[k] = FMSUB(BROADCAST(factor[k / vectors]), LOAD(z + k % vectors * LANES), rest[k]);
#pragma GCC unroll 8
		for (int k = 0; k < 2 * vectors; k++)
		{
			if (factor_errors != NULL)
				rest[k] = FMADD(BROADCAST(factor_errors[r * 2 + k / vectors]),
								LOAD(z + k % vectors * LANES), rest[k]);
			error[k] = ADD(error[k], rest[k]);
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
			LOOPS(_add_between) (i - j, end - j, SUB(sum[k], LOOPS(_bias) (size, i, j)), error[k],
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
LOOPS(_block_rows) (int p, int first, int count, const double *rows, int stride,
					 const double *weights, const double *size, double *hi, double *lo)
{
	double		scaled[2 * WMLC_LOOP_ROWS];
	double		scaled_error[2 * WMLC_LOOP_ROWS];
	const double *factors = weights == NULL ? rows + first : scaled;
	const double *factor_errors = weights == NULL ? NULL : scaled_error;
	int			step = weights == NULL ? stride : 2;

	for (int n = 0; weights != NULL && n < 2 * count; n++)
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
		LOOPS(_tile) (n, p, first, column, end, count, rows, stride, factors, step, factor_errors, \
					   size, hi, lo)
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

/* sum + |weight| z^2, where no weights means 1 */
__attribute__((target(TARGET), always_inline))
static inline VECTOR
LOOPS(_add_square) (VECTOR sum, const double *z, const double *weights, int r)
{
	VECTOR		factor = LOAD(z);

	return FMADD(weights == NULL ? factor : MUL(BROADCAST(fabs(weights[r])), factor), factor, sum);
}

/*
 * The root of the sum of |weight| z^2 for each column: as four sums, which need not
 * wait for each other.
 */
__attribute__((target(TARGET)))
static void
LOOPS(_column_sizes) (int p, int count, const double *rows, int stride,
					   const double *weights, double *sizes)
{
	for (int column = 0; column < p; column += LANES)
	{
		VECTOR		sum[4] = {BROADCAST(0.0), BROADCAST(0.0), BROADCAST(0.0), BROADCAST(0.0)};
		int			fours = count / 4 * 4;

		for (int r = 0; r < fours; r += 4)
		{
#pragma GCC unroll 4
			for (int k = 0; k < 4; k++)
				sum[k] = LOOPS(_add_square) (sum[k], rows + (ptrdiff_t) (r + k) * stride + column, weights, r + k);
		}
		for (int r = fours; r < count; r++)
			sum[0] = LOOPS(_add_square) (sum[0], rows + (ptrdiff_t) r * stride + column, weights, r);
		STORE(sizes + column, SQRT(ADD(ADD(sum[0], sum[1]), ADD(sum[2], sum[3]))));
	}
}

/* The last few entries of the triangle, where no whole vector fits. */
__attribute__((target(TARGET), always_inline))
static inline void
LOOPS(_corner) (int p, int first, const double *z, double weight, double *hi, double *lo)
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
LOOPS(_fitting_rows) (int p)
{
	int			last = 1;		/* length of the last such row */

	while (last * (last + 1) / 2 < LANES)
		last++;
	return p < last ? 0 : p - last + 1;
}

__attribute__((target(TARGET), always_inline))
static inline void
LOOPS(_triangle) (int p, const double *z, double weight, bool weighted, double *hi, double *lo)
{
	int			fitting = LOOPS(_fitting_rows) (p);
	size_t		start;

	for (int parity = 0; parity < 2; parity++)
	{
		for (int i = parity; i < fitting; i += 2)
		{
			start = wmlc_triangle_index(p, i, i);
			LOOPS(_row) (p, i, z, weight, weighted, hi + start, lo + start);
		}
	}
	start = wmlc_triangle_index(p, fitting, fitting);
	LOOPS(_corner) (p, fitting, z, weight, hi + start, lo + start);
}

__attribute__((target(TARGET)))
static void
LOOPS(_single) (int p, const double *z, const double *weight, double *hi, double *lo)
{
	if (weight == NULL)
		LOOPS(_triangle) (p, z, 1.0, false, hi, lo);
	else
		LOOPS(_triangle) (p, z, *weight, true, hi, lo);
}

/* The common case with a constant, so that the compiler leaves out what it does not need. */
__attribute__((target(TARGET)))
static void
LOOPS(_block) (int p, int count, const double *rows, int stride, const double *weights,
				const double *size, double *hi, double *lo)
{
	for (int i = 0; i < p; i += 2)
	{
		if (weights == NULL)
			LOOPS(_block_rows) (p, i, count, rows, stride, NULL, size, hi, lo);
		else
			LOOPS(_block_rows) (p, i, count, rows, stride, weights, size, hi, lo);
	}
}

__attribute__((target(TARGET)))
static void
LOOPS(_add_sums) (size_t entries, const double *other_hi, const double *other_lo,
				   double *hi, double *lo)
{
	size_t		whole = entries / LANES * LANES;
	MASK		rest = MASK_BETWEEN(0, (int) (entries - whole));

	for (size_t k = 0; k < whole; k += LANES)
		LOOPS(_add_between) (0, LANES, LOAD(other_hi + k), LOAD(other_lo + k), hi + k, lo + k);
	if (whole < entries)
		LOOPS(_add_between) (0, (int) (entries - whole), MASK_LOAD(other_hi + whole, rest),
							  MASK_LOAD(other_lo + whole, rest), hi + whole, lo + whole);
}

/* Rows of several grams side by side: see wmlc_gram_add_lanes. */
__attribute__((target(TARGET)))
static void
LOOPS(_lanes) (int p, int count, const double *rows, double *hi, double *lo)
{
	for (int lane = 0; lane < WMLC_GRAM_LANES; lane += LANES)
	{
		const double *z = rows + lane;

		for (int r = 0; r < count; r++, z += (p + 1) * WMLC_GRAM_LANES)
		{
			VECTOR		weight = LOAD(z + p * WMLC_GRAM_LANES);
			double	   *entry_hi = hi + lane;
			double	   *entry_lo = lo + lane;

			for (int i = 0; i < p; i++)
			{
				VECTOR		zi = LOAD(z + i * WMLC_GRAM_LANES);
				VECTOR		factor = MUL(weight, zi);
				VECTOR		factor_error = FMSUB(weight, zi, factor);

				for (int j = i; j < p; j++)
				{
					VECTOR		zj = LOAD(z + j * WMLC_GRAM_LANES);
					VECTOR		product = MUL(factor, zj);
					VECTOR		sum = LOAD(entry_hi);
					VECTOR		error = LOAD(entry_lo);

					LOOPS(_add) (&sum, &error, product,
								 FMADD(factor_error, zj, FMSUB(factor, zj, product)));
					STORE(entry_hi, sum);
					STORE(entry_lo, error);
					entry_hi += WMLC_GRAM_LANES;
					entry_lo += WMLC_GRAM_LANES;
				}
			}
		}
	}
}

/* The vectors at the end reach into the response and the padding, but count nothing there. */
__attribute__((target(TARGET)))
static void
LOOPS(_count_not_one) (int d, int count, const double *rows, int stride, int64_t *counts)
{
	for (int column = 0; column < d; column += LANES)
	{
		MASK		inside = MASK_BETWEEN(0, d - column);
		COUNTS		more = NO_COUNTS;

		for (int r = 0; r < count; r++)
			more = COUNT_UNEQUAL(more, LOAD(rows + (ptrdiff_t) r * stride + column), BROADCAST(1.0));
		MASK_ADD_COUNTS(counts + column, inside, more);
	}
}

#undef LOOPS
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
#undef SQRT
#undef MIDDLE_ABOVE
#undef MASK
#undef MASK_BETWEEN
#undef MASK_LOAD
#undef MASK_STORE
#undef COUNTS
#undef NO_COUNTS
#undef COUNT_UNEQUAL
#undef MASK_ADD_COUNTS
