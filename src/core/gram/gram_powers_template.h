/*
 * gram_powers_template.h
 *	  The arithmetic of gram_powers.c for one kind of numbers.  Included for
 *	  each, with these macros defined:
 *
 *	  NAME(part)	names of types and functions
 *	  TARGET		the attributes of the functions, if any
 *	  REAL			double, or a vector with one lane for each of several rows
 *	  PRODUCT_ERROR	PRODUCT_ERROR(a, b, product): a b - product, exactly
 *
 *	  and, for vectors, what several rows need:
 *
 *	  LANES			doubles in a vector
 *	  LOAD
 *	  LOAD_FIRST	LOAD_FIRST(address, count): the first of them, and zeros
 *	  ZERO, ABSOLUTE
 *	  LARGER		LARGER(a, b): the larger of each lane; NaN, once it has come, stays
 *	  EVEN, ODD		EVEN(a, b): a0 b0 a2 b2 ...; ODD(a, b): a1 b1 a3 b3 ...
 *	  EVEN_PAIRS, ODD_PAIRS
 *					likewise of pairs, those of a before those of b
 *
 * None of the terms is negative, so nothing cancels and the errors can be added
 * up plainly.  They are not folded into hi, which the sums that take up the
 * powers do anyway.
 */

/* hi + lo, not normalised */
typedef struct NAME(Sum)
{
	REAL		hi;
	REAL		lo;
} NAME(Sum);

/* q and h of rows. */
typedef struct NAME(Powers)
{
	NAME(Sum)	q;
	NAME(Sum)	h;
} NAME(Powers);

TARGET
static inline NAME(Sum)
NAME(product) (REAL a, REAL b)
{
	REAL		product = a * b;

	return (NAME(Sum)) {product, PRODUCT_ERROR(a, b, product)};
}

TARGET
static inline NAME(Sum)
NAME(add) (NAME(Sum) a, NAME(Sum) b)
{
	REAL		hi = a.hi + b.hi;
	REAL		part = hi - a.hi;
	REAL		error = (a.hi - (hi - part)) + (b.hi - part);

	return (NAME(Sum)) {hi, a.lo + (error + b.lo)};
}

TARGET
static inline NAME(Sum)
NAME(multiply) (NAME(Sum) a, NAME(Sum) b)
{
	NAME(Sum)	product = NAME(product) (a.hi, b.hi);

	product.lo += a.hi * b.lo + a.lo * b.hi;
	return product;
}

TARGET
static inline NAME(Sum)
NAME(scale) (NAME(Sum) a, REAL factor)
{
	NAME(Sum)	product = NAME(product) (a.hi, factor);

	product.lo += a.lo * factor;
	return product;
}

/* Add the powers of rows with this |psi|^2 and y, times their weight if there is one. */
TARGET
static inline void
NAME(add_powers) (NAME(Powers) *sum, NAME(Sum) norm_square, REAL y, const REAL *weight)
{
	NAME(Sum)	y_square = NAME(product) (y, y);
	NAME(Sum)	total = NAME(add) (norm_square, y_square);
	NAME(Sum)	q = NAME(multiply) (total, total);
	NAME(Sum)	h = NAME(multiply) (y_square, norm_square);

	sum->q = NAME(add) (sum->q, weight == NULL ? q : NAME(scale) (q, *weight));
	sum->h = NAME(add) (sum->h, weight == NULL ? h : NAME(scale) (h, *weight));
}

#ifdef ONE_BY_ONE
TARGET
static inline WmlcPowers
NAME(one_by_one) (int dims, int count, const double *rows, int stride, const double *weights)
{
	NAME(Powers) sum = {.q = {0.0, 0.0}};
	double		max_norm_square = 0.0;
	double		max_response = 0.0;

	for (int r = 0; r < count; r++)
	{
		const double *z = rows + (ptrdiff_t) r * stride;
		NAME(Sum)	norm_square = {0.0, 0.0};

		for (int i = 0; i < dims; i++)
			norm_square = NAME(add) (norm_square, NAME(product) (z[i], z[i]));
		NAME(add_powers) (&sum, norm_square, z[dims], weights == NULL ? NULL : weights + r);
		/* where hi has overflowed, hi + lo is NaN */
		max_norm_square = wmlc_larger_bound(max_norm_square, norm_square.hi + norm_square.lo);
		max_response = wmlc_larger_bound(max_response, fabs(z[dims]));
	}
	return (WmlcPowers) {
		.q = {sum.q.hi, sum.q.lo},
		.h = {sum.h.hi, sum.h.lo},
		.max_norm_square = max_norm_square,
		.max_response = max_response
	};
}
#undef ONE_BY_ONE
#endif

#ifdef LANES
/*
 * |psi|^2 of LANES rows, a lane for each.  Each row is added up in a vector of
 * its own.  Then two vectors at a time become one that has half as many lanes
 * of either, until one vector has one lane of each.
 */
TARGET
static inline NAME(Sum)
NAME(norm_squares) (int dims, const double *const *row)
{
	NAME(Sum)	sum[LANES];
	int			whole = dims / LANES * LANES;

#pragma GCC unroll 8
	for (int k = 0; k < LANES; k++)
	{
		REAL		x = LOAD_FIRST(row[k] + whole, dims - whole);

		sum[k] = NAME(product) (x, x);
	}
	for (int i = 0; i < whole; i += LANES)
	{
#pragma GCC unroll 8
		for (int k = 0; k < LANES; k++)
		{
			REAL		x = LOAD(row[k] + i);

			sum[k] = NAME(add) (sum[k], NAME(product) (x, x));
		}
	}
#define HALVE(count, even, odd) \
	for (int k = 0; k < (count) / 2; k++) \
	{ \
		NAME(Sum)	a = sum[2 * k], \
					b = sum[2 * k + 1]; \
		sum[k] = NAME(add) ((NAME(Sum)) {even(a.hi, b.hi), even(a.lo, b.lo)}, \
							(NAME(Sum)) {odd(a.hi, b.hi), odd(a.lo, b.lo)}); \
	}
#pragma GCC unroll 8
	HALVE(LANES, EVEN, ODD)
#pragma GCC unroll 8
	HALVE(LANES / 2, EVEN_PAIRS, ODD_PAIRS)
#if LANES > 4
#pragma GCC unroll 8
	HALVE(LANES / 4, EVEN_PAIRS, ODD_PAIRS)
#endif
#undef HALVE
	return sum[0];
}

TARGET
static inline WmlcDd
NAME(add_lanes) (NAME(Sum) a)
{
	fused_Sum	total = {0.0, 0.0};

	for (int k = 0; k < LANES; k++)
		total = fused_add(total, (fused_Sum) {a.hi[k], a.lo[k]});
	return (WmlcDd) {total.hi, total.lo};
}

TARGET
static inline double
NAME(largest_lane) (REAL a)
{
	double		largest = 0.0;

	for (int k = 0; k < LANES; k++)
		largest = wmlc_larger_bound(largest, a[k]);
	return largest;
}

/* Where there are no LANES rows left, rows of zeros take their places. */
TARGET
static inline WmlcPowers
NAME(side_by_side) (int dims, int count, const double *rows, int stride, const double *weights)
{
	NAME(Powers) sum = {.q = {ZERO, ZERO},.h = {ZERO, ZERO}};
	REAL		max_norm_square = ZERO;
	REAL		max_response = ZERO;

	for (int r = 0; r < count; r += LANES)
	{
		const double *row[LANES];
		NAME(Sum)	norm_square;
		REAL		weight = ZERO;
		REAL		y = ZERO;

		for (int k = 0; k < LANES; k++)
		{
			row[k] = r + k < count ? rows + (ptrdiff_t) (r + k) * stride : no_row;
			y[k] = row[k][dims];
			if (weights != NULL)
				weight[k] = r + k < count ? weights[r + k] : 0.0;
		}
		/* the next rows are on their way from memory meanwhile */
		for (int i = LANES * stride; i < 2 * LANES * stride; i += 8)
			__builtin_prefetch(row[0] + i);
		norm_square = NAME(norm_squares) (dims, row);
		NAME(add_powers) (&sum, norm_square, y, weights == NULL ? NULL : &weight);
		max_norm_square = LARGER(max_norm_square, norm_square.hi + norm_square.lo);
		max_response = LARGER(max_response, ABSOLUTE(y));
	}
	return (WmlcPowers) {
		.q = NAME(add_lanes) (sum.q),
		.h = NAME(add_lanes) (sum.h),
		.max_norm_square = NAME(largest_lane) (max_norm_square),
		.max_response = NAME(largest_lane) (max_response)
	};
}
#undef LANES
#undef LOAD
#undef LOAD_FIRST
#undef ZERO
#undef LARGER
#undef ABSOLUTE
#undef EVEN
#undef ODD
#undef EVEN_PAIRS
#undef ODD_PAIRS
#endif

#undef NAME
#undef TARGET
#undef REAL
#undef PRODUCT_ERROR
