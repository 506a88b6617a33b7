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

#undef NAME
#undef TARGET
#undef REAL
#undef PRODUCT_ERROR
