/*
 * gram.c
 *	  Counting rows into a gram, and merging grams.
 */
#include <string.h>

#include "core/gram/gram.h"
#include "core/gram/gram_internal.h"
#include "core/gram/gram_powers.h"

void
wmlc_gram_init_head(WmlcGram *gram, int dims)
{
	memset(gram, 0, sizeof(WmlcGram));
	gram->dims = dims;
	gram->constant = -1;
}

void
wmlc_gram_init(WmlcGram *gram, int dims)
{
	wmlc_gram_init_head(gram, dims);
	memset(gram->sums, 0, wmlc_gram_bytes(dims) - sizeof(WmlcGram));
}

void
wmlc_gram_forget_rows(WmlcGram *gram)
{
	int64_t		rows = gram->rows;
	int64_t		skipped = gram->skipped;
	int64_t		weightless = gram->weightless;

	wmlc_gram_init(gram, gram->dims);
	gram->rows = rows;
	gram->skipped = skipped;
	gram->weightless = weightless;
}

/* Rows join: they are counted, and features may cease to be constant. */
static void
count_rows(WmlcGram *gram, const double *rows, int stride, int count)
{
	bool		first = wmlc_gram_weighted_rows(gram) == 0;

	gram->rows += count;
	wmlc_gram_count_not_one(gram->dims, count, rows, stride, wmlc_gram_not_one(gram));
	if (first)
		gram->constant = wmlc_gram_next_constant(gram, 0);
	else if (gram->constant >= 0 && wmlc_gram_not_one(gram)[gram->constant] != 0)
		gram->constant = wmlc_gram_next_constant(gram, gram->constant + 1);
}

/* a + b for terms that are not negative, where a shorter sum is as exact. */
static inline WmlcDd
add_positive(WmlcDd a, WmlcDd b)
{
	WmlcDd		sum = wmlc_two_sum(a.hi, b.hi);

	return isfinite(sum.hi) ? wmlc_quick_two_sum(sum.hi, sum.lo + (a.lo + b.lo)) : wmlc_dd(sum.hi);
}

static void
add_weights(WmlcGram *gram, const double *weights, int count)
{
	WmlcDd		squares;

	if (weights == NULL)
	{
		gram->weight = add_positive(gram->weight, wmlc_dd(count));
		squares = wmlc_align_weight_squares(gram, wmlc_dd(count), 0);
		gram->weight_squares = add_positive(gram->weight_squares, squares);
		return;
	}
	for (int r = 0; r < count; r++)
	{
		int64_t		exponent = wmlc_weight_exponent(weights[r]);

		gram->weight = add_positive(gram->weight, wmlc_dd(weights[r]));
		squares = wmlc_align_weight_squares(gram, wmlc_weight_square(weights[r], exponent), exponent);
		gram->weight_squares = add_positive(gram->weight_squares, squares);
	}
}

static void
raise_bounds(WmlcGram *gram, const WmlcPowers *powers)
{
	gram->max_norm_square = wmlc_larger_bound(gram->max_norm_square, powers->max_norm_square);
	gram->max_response = wmlc_larger_bound(gram->max_response, powers->max_response);
}

/* Rows whose powers are finite; then so is every product in them. */
static void
add_finite_rows(WmlcGram *gram, const double *rows, int stride, const double *weights, int count,
				const WmlcPowers *powers)
{
	count_rows(gram, rows, stride, count);
	add_weights(gram, weights, count);
	gram->q = add_positive(gram->q, powers->q);
	gram->h = add_positive(gram->h, powers->h);
	raise_bounds(gram, powers);
	wmlc_gram_add_products(gram->dims + 1, count, rows, stride, weights,
					 wmlc_gram_hi(gram), wmlc_gram_lo(gram));
}

bool
wmlc_gram_count_exception(WmlcGram *gram, const double *z, double weight, int change,
						  double *finite)
{
	int			p = gram->dims + 1;
	int64_t    *bad = wmlc_gram_bad(gram);

	gram->exceptions += change;
	memcpy(finite, z, p * sizeof(double));
	memset(finite + p, 0, WMLC_ROW_PADDING * sizeof(double));
	if (!isfinite(weight))
	{
		bad[p] += change;
		return false;
	}
	for (int i = 0; i < p; i++)
	{
		/* when all squares are finite, so are the products */
		if (isfinite(weight * z[i] * z[i]))
			continue;
		bad[i] += change;
		finite[i] = 0.0;
	}
	return true;
}

/* Rows that are not finite are rare, and time is of no concern then. */
static __attribute__((noinline)) void
add_one_by_one(WmlcGram *gram, const double *rows, int stride, const double *weights, int count)
{
	for (int r = 0; r < count; r++)
	{
		const double *z = rows + (ptrdiff_t) r * stride;
		double		weight = weights == NULL ? 1.0 : weights[r];
		WmlcPowers	powers = wmlc_gram_powers(gram->dims, 1, z, 0, &weight);
		double		finite[WMLC_ROW_SIZE];

		if (isfinite(powers.q.hi))
		{
			memcpy(finite, z, (gram->dims + 1) * sizeof(double));
			memset(finite + gram->dims + 1, 0, WMLC_ROW_PADDING * sizeof(double));
			add_finite_rows(gram, finite, 0, &weight, 1, &powers);
		}
		else
		{
			bool		something_left = wmlc_gram_count_exception(gram, z, weight, 1, finite);

			/* what is bad is not 1, and neither is the zero in its place */
			count_rows(gram, finite, 0, 1);
			if (!something_left)
				continue;
			add_weights(gram, &weight, 1);
			powers = wmlc_gram_powers(gram->dims, 1, finite, 0, &weight);
			raise_bounds(gram, &powers);
			wmlc_gram_add_products(gram->dims + 1, 1, finite, 0, &weight,
								   wmlc_gram_hi(gram), wmlc_gram_lo(gram));
		}
	}
}

WmlcStatus
wmlc_gram_add_rows(WmlcGram *gram, const double *rows, int stride, const double *weights, int count)
{
	WmlcPowers	powers = wmlc_gram_powers(gram->dims, count, rows, stride, weights);

	if (gram->rows > INT64_MAX - count)
		return WMLC_COUNT_OVERFLOW;
	if (isfinite(powers.q.hi))
		add_finite_rows(gram, rows, stride, weights, count, &powers);
	else
		add_one_by_one(gram, rows, stride, weights, count);
	return WMLC_OK;
}

WmlcStatus
wmlc_gram_add_row(WmlcGram *gram, const double *z, double weight)
{
	if (weight != 0.0)
		return wmlc_gram_add_rows(gram, z, 0, weight == 1.0 ? NULL : &weight, 1);
	if (gram->rows == INT64_MAX)
		return WMLC_COUNT_OVERFLOW;
	gram->rows++;
	gram->weightless++;
	return WMLC_OK;
}

/* The counts behind the sums; those that are not known on one side are not known. */
static bool
add_counts(WmlcGram *gram, const WmlcGram *other)
{
	int64_t    *not_one = wmlc_gram_not_one(gram);
	const int64_t *other_not_one = wmlc_gram_not_one(other);
	int64_t    *bad = wmlc_gram_bad(gram);
	const int64_t *other_bad = wmlc_gram_bad(other);

	for (int i = 0; i < other->dims; i++)
	{
		if (not_one[i] < 0 || other_not_one[i] < 0)
			not_one[i] = WMLC_UNKNOWN_COUNT;
		else if (!wmlc_add_count(&not_one[i], other_not_one[i]))
			return false;
	}
	for (int i = 0; i <= other->dims + 1 && other->exceptions > 0; i++)
	{
		if (!wmlc_add_count(&bad[i], other_bad[i]))
			return false;
	}
	return true;
}

WmlcStatus
wmlc_gram_merge(WmlcGram *gram, const WmlcGram *other)
{
	size_t		entries = wmlc_gram_entries(other->dims);
	WmlcStatus	status = wmlc_gram_check_dims(gram, other);
	WmlcDd		squares;

	if (status != WMLC_OK)
		return status;
	if (!wmlc_add_count(&gram->rows, other->rows) ||
		!wmlc_add_count(&gram->skipped, other->skipped) ||
		!wmlc_add_count(&gram->weightless, other->weightless) ||
		!wmlc_add_count(&gram->exceptions, other->exceptions) ||
		!add_counts(gram, other))
		return WMLC_COUNT_OVERFLOW;
	gram->constant = wmlc_gram_find_constant(gram);
	gram->weight = wmlc_add_or_propagate(gram->weight, other->weight);
	squares = wmlc_align_weight_squares(gram, other->weight_squares, other->weight_exponent);
	gram->weight_squares = wmlc_add_or_propagate(gram->weight_squares, squares);
	gram->q = wmlc_add_or_propagate(gram->q, other->q);
	gram->h = wmlc_add_or_propagate(gram->h, other->h);
	gram->max_norm_square = wmlc_larger_bound(gram->max_norm_square, other->max_norm_square);
	gram->max_response = wmlc_larger_bound(gram->max_response, other->max_response);
	wmlc_gram_add_sums(entries, other->sums, other->sums + entries,
					   wmlc_gram_hi(gram), wmlc_gram_lo(gram));
	return WMLC_OK;
}

/* The sum of squares times factor^2, in a unit in which it has all its digits. */
static void
scale_weight_squares(WmlcGram *gram, double factor)
{
	static const int64_t units[] = {0, WMLC_WEIGHT_EXPONENT, -WMLC_WEIGHT_EXPONENT};
	int			power;
	double		fraction = frexp(factor, &power);
	WmlcDd		squares = wmlc_dd_mul_d(wmlc_dd_mul_d(gram->weight_squares, fraction), fraction);

	for (int i = 0; i < 3; i++)
	{
		WmlcDd		scaled = wmlc_dd_ldexp(squares, 2 * (power + gram->weight_exponent - units[i]));

		if (!(scaled.hi > 0x1p-800 && scaled.hi < 0x1p900) && i < 2)
			continue;
		gram->weight_squares = scaled;
		gram->weight_exponent = units[i];
		return;
	}
}

/* A product that overflows, or the loss of all weight, is an error; what was not finite stays so. */
static bool
scale_sum(double *hi, double *lo, double factor)
{
	WmlcDd		product = wmlc_dd_normalize(wmlc_dd_mul_d((WmlcDd) {*hi, *lo}, factor));
	bool		overflow = isfinite(*hi) && !isfinite(product.hi);

	if (isfinite(*hi))
	{
		*hi = product.hi;
		*lo = product.lo;
	}
	return !overflow;
}

WmlcStatus
wmlc_gram_scale(WmlcGram *gram, double factor)
{
	size_t		entries = wmlc_gram_entries(gram->dims);
	double	   *hi = wmlc_gram_hi(gram);
	double	   *lo = wmlc_gram_lo(gram);
	bool		had_weight = gram->weight.hi > 0.0;
	bool		fits;

	if (factor == 0.0)
	{
		gram->weightless = gram->rows;
		wmlc_gram_forget_rows(gram);
		return WMLC_OK;
	}
	scale_weight_squares(gram, factor);
	fits = scale_sum(&gram->weight.hi, &gram->weight.lo, factor) &&
		scale_sum(&gram->q.hi, &gram->q.lo, factor) &&
		scale_sum(&gram->h.hi, &gram->h.lo, factor);
	for (size_t k = 0; k < entries && fits; k++)
		fits = scale_sum(&hi[k], &lo[k], factor);
	return fits && (gram->weight.hi > 0.0 || !had_weight) ? WMLC_OK : WMLC_NOT_FINITE;
}
