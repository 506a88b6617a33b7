/*
 * gram_loops_short.h
 *	  The loops of gram_loops.c for one short row, with AVX-512.
 *
 * Rows of a small triangle are shorter than a vector, so here vectors run over
 * the whole triangle instead.  The row is in two registers, from which each
 * entry picks its two factors.
 */

#define SHORT_ROW 16
#define SHORT_TRIANGLE (SHORT_ROW * (SHORT_ROW + 1) / 2)
#define SHORT_TARGET "avx512f,avx2,fma"

/*
 * The columns of the factors of each entry.  A smaller triangle is the end of
 * this one, so a shorter row must end at the last column.  The 7 more bytes are
 * for the load of the last entry.
 */
static const uint8_t left_factor[SHORT_TRIANGLE + 7] = {
	[0 ... 15] = 0, [16 ... 30] = 1, [31 ... 44] = 2, [45 ... 57] = 3,
	[58 ... 69] = 4, [70 ... 80] = 5, [81 ... 90] = 6, [91 ... 99] = 7,
	[100 ... 107] = 8, [108 ... 114] = 9, [115 ... 120] = 10, [121 ... 125] = 11,
	[126 ... 129] = 12, [130 ... 132] = 13, [133 ... 134] = 14, [135 ... 135] = 15,
};
static const uint8_t right_factor[SHORT_TRIANGLE + 7] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	7, 8, 9, 10, 11, 12, 13, 14, 15,
	8, 9, 10, 11, 12, 13, 14, 15,
	9, 10, 11, 12, 13, 14, 15,
	10, 11, 12, 13, 14, 15,
	11, 12, 13, 14, 15,
	12, 13, 14, 15,
	13, 14, 15,
	14, 15,
	15,
};

/* Eight double-double sums in registers. */
typedef struct Sums512
{
	__m512d		hi;
	__m512d		lo;
} Sums512;

__attribute__((target(SHORT_TARGET), always_inline))
static inline Sums512
load_sums(const double *hi, const double *lo, __mmask8 mask)
{
	return (Sums512) {_mm512_maskz_loadu_pd(mask, hi), _mm512_maskz_loadu_pd(mask, lo)};
}

__attribute__((target(SHORT_TARGET), always_inline))
static inline void
store_sums(double *hi, double *lo, __mmask8 mask, Sums512 sums)
{
	_mm512_mask_storeu_pd(hi, mask, sums.hi);
	_mm512_mask_storeu_pd(lo, mask, sums.lo);
}

/* The row of up to SHORT_ROW columns in two registers, and its weight. */
typedef struct ShortRow512
{
	__m512d		low;
	__m512d		high;
	__m512d		weight;
	bool		weighted;
} ShortRow512;

__attribute__((target(SHORT_TARGET), always_inline))
static inline __m512d
columns_of(const ShortRow512 *row, const uint8_t *columns)
{
	__m512i		index = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *) columns));

	return _mm512_permutex2var_pd(row->low, index, row->high);
}

/* Eight entries of the SHORT_TRIANGLE more. */
__attribute__((target(SHORT_TARGET), always_inline))
static inline Sums512
add_entries(Sums512 sums, const ShortRow512 *row, int entry)
{
	__m512d		a = columns_of(row, left_factor + entry);
	__m512d		b = columns_of(row, right_factor + entry);
	__m512d		factor = row->weighted ? _mm512_mul_pd(row->weight, a) : a;
	__m512d		product = _mm512_mul_pd(factor, b);
	__m512d		error = _mm512_fmsub_pd(factor, b, product);

	if (row->weighted)
		error = _mm512_add_pd(error, _mm512_mul_pd(_mm512_fmsub_pd(row->weight, a, factor), b));
	loops_avx512_add(&sums.hi, &sums.lo, product, error);
	return sums;
}

/*
 * The last vector, which may be partial, reaches from hi into lo, where the
 * first one is.  The processor sees that they overlap but not that the mask
 * keeps them apart, so both are loaded before either is stored.
 */
__attribute__((target(SHORT_TARGET), always_inline))
static inline void
short_row_avx512(int p, const double *z, double weight, bool weighted, double *hi, double *lo)
{
	unsigned	columns = 0xffffu << (SHORT_ROW - p);
	ShortRow512 row = {
		.low = _mm512_maskz_expandloadu_pd(columns, z),
		.high = _mm512_maskz_expandloadu_pd(columns >> 8, p > 8 ? z + p - 8 : z),
		.weight = _mm512_set1_pd(weight),
		.weighted = weighted
	};
	int			entries = p * (p + 1) / 2;
	int			start = SHORT_TRIANGLE - entries;
	int			last = (entries - 1) / 8 * 8;
	__mmask8	first_mask = last > 0 ? 0xff : 0;
	__mmask8	last_mask = 0xff >> (8 - (entries - last));
	Sums512		first_sums = load_sums(hi, lo, first_mask);
	Sums512		last_sums = load_sums(hi + last, lo + last, last_mask);

	store_sums(hi, lo, first_mask, add_entries(first_sums, &row, start));
	store_sums(hi + last, lo + last, last_mask, add_entries(last_sums, &row, start + last));
	for (int k = 8; k < last; k += 8)
		store_sums(hi + k, lo + k, 0xff, add_entries(load_sums(hi + k, lo + k, 0xff), &row, start + k));
}

__attribute__((target(SHORT_TARGET)))
static void
loops_avx512_short(int p, const double *z, const double *weight, double *hi, double *lo)
{
	if (weight == NULL)
		short_row_avx512(p, z, 1.0, false, hi, lo);
	else
		short_row_avx512(p, z, *weight, true, hi, lo);
}
