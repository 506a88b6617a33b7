/*
 * dd_vector_template.h
 *	  The loops of dd_vector.c for one vector instruction set.
 *
 * Included once per set, with
 *
 *		LANES		doubles in a register
 *		VECTOR		the type of one
 *		TARGET		attribute of the functions made
 *		NAME(f)		their names
 *		LOAD, STORE, BROADCAST, FMSUB
 *		LOAD_FIRST(p, n), STORE_FIRST(p, n, v)
 *					the same for the first n < LANES doubles only
 *
 * Whole vectors go first: loads would have to wait for a store of part of one to
 * reach memory.
 */

#define VectorDd NAME(VectorDd)

typedef struct VectorDd
{
	VECTOR		hi;
	VECTOR		lo;
} VectorDd;

TARGET static inline VectorDd
NAME(load) (WmlcDdSpan x, size_t j)
{
	return (VectorDd) {LOAD(x.hi + j), LOAD(x.lo + j)};
}

TARGET static inline VectorDd
NAME(load_first) (WmlcDdSpan x, size_t j, int n)
{
	return (VectorDd) {LOAD_FIRST(x.hi + j, n), LOAD_FIRST(x.lo + j, n)};
}

TARGET static inline void
NAME(store) (WmlcDdSpan x, size_t j, VectorDd v)
{
	STORE(x.hi + j, v.hi);
	STORE(x.lo + j, v.lo);
}

TARGET static inline void
NAME(store_first) (WmlcDdSpan x, size_t j, int n, VectorDd v)
{
	STORE_FIRST(x.hi + j, n, v.hi);
	STORE_FIRST(x.lo + j, n, v.lo);
}

TARGET static inline VectorDd
NAME(broadcast) (WmlcDd a)
{
	return (VectorDd) {BROADCAST(a.hi), BROADCAST(a.lo)};
}

TARGET static inline VectorDd
NAME(two_sum) (VECTOR a, VECTOR b)
{
	VECTOR		s = a + b;
	VECTOR		bb = s - a;

	return (VectorDd) {s, (a - (s - bb)) + (b - bb)};
}

TARGET static inline VectorDd
NAME(quick_two_sum) (VECTOR a, VECTOR b)
{
	VECTOR		s = a + b;

	return (VectorDd) {s, b - (s - a)};
}

/* The product's error, with the parts that lo contributes, not yet folded. */
TARGET static inline VectorDd
NAME(loose_product) (VectorDd a, VectorDd b)
{
	VECTOR		p = a.hi * b.hi;

	return (VectorDd) {p, FMSUB(a.hi, b.hi, p) + (a.hi * b.lo + a.lo * b.hi)};
}

TARGET static inline VectorDd
NAME(mul) (VectorDd a, VectorDd b)
{
	VectorDd	p = NAME(loose_product) (a, b);

	return NAME(quick_two_sum) (p.hi, p.lo);
}

TARGET static inline VectorDd
NAME(add) (VectorDd a, VectorDd b)
{
	VectorDd	s = NAME(two_sum) (a.hi, b.hi);
	VectorDd	t = NAME(two_sum) (a.lo, b.lo);

	s = NAME(quick_two_sum) (s.hi, s.lo + t.hi);
	return NAME(quick_two_sum) (s.hi, s.lo + t.lo);
}

/* c x + s y */
TARGET static inline VectorDd
NAME(mix) (VectorDd c, VectorDd x, VectorDd s, VectorDd y)
{
	return NAME(add) (NAME(mul) (c, x), NAME(mul) (s, y));
}

TARGET static void
NAME(add_multiple) (int n, WmlcDd a, WmlcDdSpan x, WmlcDdSpan y)
{
	VectorDd	factor = NAME(broadcast) (a);
	int			j = 0;

	for (; j + LANES <= n; j += LANES)
		NAME(store) (y, j, NAME(add) (NAME(load) (y, j), NAME(mul) (factor, NAME(load) (x, j))));
	if (j < n)
	{
		VectorDd	product = NAME(mul) (factor, NAME(load_first) (x, j, n - j));

		NAME(store_first) (y, j, n - j, NAME(add) (NAME(load_first) (y, j, n - j), product));
	}
}

TARGET static void
NAME(rotate) (int n, WmlcDd c, WmlcDd s, WmlcDdSpan x, WmlcDdSpan y)
{
	VectorDd	cosine = NAME(broadcast) (c);
	VectorDd	sine = NAME(broadcast) (s);
	VectorDd	minus_sine = NAME(broadcast) (wmlc_dd_neg(s));
	int			j = 0;

	for (; j + LANES <= n; j += LANES)
	{
		VectorDd	xj = NAME(load) (x, j);
		VectorDd	yj = NAME(load) (y, j);

		NAME(store) (x, j, NAME(mix) (cosine, xj, sine, yj));
		NAME(store) (y, j, NAME(mix) (cosine, yj, minus_sine, xj));
	}
	if (j < n)
	{
		VectorDd	xj = NAME(load_first) (x, j, n - j);
		VectorDd	yj = NAME(load_first) (y, j, n - j);

		NAME(store_first) (x, j, n - j, NAME(mix) (cosine, xj, sine, yj));
		NAME(store_first) (y, j, n - j, NAME(mix) (cosine, yj, minus_sine, xj));
	}
}

/* `count` columns, at most LANES; to be a constant where it is LANES */
TARGET static inline __attribute__((always_inline)) void
NAME(combine_columns) (int rows, WmlcDdSpan weights, WmlcDdSpan matrix, int stride,
					   int count, WmlcDdSpan result)
{
	VectorDd	total = NAME(broadcast) (wmlc_dd(0.0));

	for (int k = 0; k < rows; k++)
	{
		size_t		row = (size_t) k * stride;
		VectorDd	m = count == LANES ? NAME(load) (matrix, row)
			: NAME(load_first) (matrix, row, count);
		VectorDd	p = NAME(loose_product) (NAME(broadcast) (wmlc_dd_get(weights, k)), m);
		VectorDd	t = NAME(two_sum) (total.hi, p.hi);

		total = (VectorDd) {t.hi, total.lo + (t.lo + p.lo)};
	}
	total = NAME(two_sum) (total.hi, total.lo);
	if (count == LANES)
		NAME(store) (result, 0, total);
	else
		NAME(store_first) (result, 0, count, total);
}

TARGET static void
NAME(combine) (int rows, WmlcDdSpan weights, WmlcDdSpan matrix, int stride,
			   int n, WmlcDdSpan result)
{
	int			j = 0;

	for (; j + LANES <= n; j += LANES)
		NAME(combine_columns) (rows, weights, wmlc_dd_from(matrix, j), stride, LANES,
							   wmlc_dd_from(result, j));
	if (j < n)
		NAME(combine_columns) (rows, weights, wmlc_dd_from(matrix, j), stride, n - j,
							   wmlc_dd_from(result, j));
}

#undef VectorDd
