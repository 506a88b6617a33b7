/*
 * gram.c
 *	  Counting rows into a gram, merging grams, reading and validating them.
 */
#include <string.h>

#include "core/gram/gram.h"
#include "core/gram/gram_internal.h"
#include "core/gram/gram_powers.h"

void
wmlc_gram_init(WmlcGram *gram, int dims)
{
	memset(gram, 0, wmlc_gram_bytes(dims));
	gram->dims = dims;
	gram->constant = -1;
}

/*
 * Is feature i equal to 1 in every row, given that the gram's constant feature
 * c is?  Exactly when sum w (x_i - x_c)^2 = G_ii - 2 G_ic + G_cc vanishes.
 */
bool
wmlc_gram_is_constant(const WmlcGram *gram, int i)
{
	int			c = gram->constant;
	WmlcDd		difference;

	if (c < 0 || i == c)
		return i == c;
	difference = wmlc_dd_add(wmlc_gram_sum(gram, i, i), wmlc_gram_sum(gram, c, c));
	difference = wmlc_dd_sub(difference, wmlc_dd_scale(wmlc_gram_sum(gram, i, c), 2.0));
	return fabs(wmlc_dd_value(difference)) <= 0x1p-100 * wmlc_dd_value(gram->weight);
}

static bool
all_ones(const double *rows, int stride, int count, int i)
{
	for (int r = 0; r < count; r++)
	{
		if (rows[(ptrdiff_t) r * stride + i] != 1.0)
			return false;
	}
	return true;
}

/* Keep `constant`, the first such feature, true when rows join; the gram holds all rows before them. */
static void
follow_constant(WmlcGram *gram, const double *rows, int stride, int count)
{
	bool		first = wmlc_gram_weighted_rows(gram) == 0;

	if (!first && gram->constant < 0)
		return;
	for (int i = first ? 0 : gram->constant; i < gram->dims; i++)
	{
		if (all_ones(rows, stride, count, i) && (first || wmlc_gram_is_constant(gram, i)))
		{
			gram->constant = i;
			return;
		}
	}
	gram->constant = -1;
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
	if (weights == NULL)
	{
		gram->weight = add_positive(gram->weight, wmlc_dd(count));
		gram->weight_squares = add_positive(gram->weight_squares, wmlc_dd(count));
		return;
	}
	for (int r = 0; r < count; r++)
	{
		gram->weight = add_positive(gram->weight, wmlc_dd(weights[r]));
		gram->weight_squares = add_positive(gram->weight_squares,
											wmlc_two_prod(weights[r], weights[r]));
	}
}

void
wmlc_gram_add_rows(WmlcGram *gram, const double *rows, int stride, const double *weights, int count)
{
	WmlcPowers	powers = wmlc_gram_powers(gram->dims, count, rows, stride, weights);

	follow_constant(gram, rows, stride, count);
	gram->rows += count;
	add_weights(gram, weights, count);
	gram->q = add_positive(gram->q, powers.q);
	gram->h = add_positive(gram->h, powers.h);
	gram->max_norm_square = wmlc_larger_bound(gram->max_norm_square, powers.max_norm_square);
	gram->max_response = wmlc_larger_bound(gram->max_response, powers.max_response);
	wmlc_gram_add_products(gram->dims + 1, count, rows, stride, weights,
					 wmlc_gram_hi(gram), wmlc_gram_lo(gram));
}

void
wmlc_gram_add_row(WmlcGram *gram, const double *z, double weight)
{
	if (weight == 0.0)
	{
		gram->rows++;
		gram->weightless++;
	}
	else
		wmlc_gram_add_rows(gram, z, 0, weight == 1.0 ? NULL : &weight, 1);
}

static int
merged_constant(const WmlcGram *a, const WmlcGram *b)
{
	if (wmlc_gram_weighted_rows(a) == 0)
		return b->constant;
	if (wmlc_gram_weighted_rows(b) == 0)
		return a->constant;
	for (int i = 0; i < a->dims; i++)
	{
		if (wmlc_gram_is_constant(a, i) && wmlc_gram_is_constant(b, i))
			return i;
	}
	return -1;
}

/* False when the sum of the counts is too large. */
static inline bool
add_count(int64_t *count, int64_t other)
{
	return !__builtin_add_overflow(*count, other, count);
}

WmlcStatus
wmlc_gram_merge(WmlcGram *gram, const WmlcGram *other)
{
	size_t		entries = wmlc_gram_entries(other->dims);
	WmlcStatus	status = wmlc_gram_check_dims(gram, other);

	if (status != WMLC_OK)
		return status;
	gram->constant = merged_constant(gram, other);
	if (!add_count(&gram->rows, other->rows) ||
		!add_count(&gram->skipped, other->skipped) ||
		!add_count(&gram->weightless, other->weightless))
		return WMLC_COUNT_OVERFLOW;
	gram->weight = wmlc_add_or_propagate(gram->weight, other->weight);
	gram->weight_squares = wmlc_add_or_propagate(gram->weight_squares, other->weight_squares);
	gram->q = wmlc_add_or_propagate(gram->q, other->q);
	gram->h = wmlc_add_or_propagate(gram->h, other->h);
	gram->max_norm_square = wmlc_larger_bound(gram->max_norm_square, other->max_norm_square);
	gram->max_response = wmlc_larger_bound(gram->max_response, other->max_response);
	wmlc_gram_add_sums(entries, other->sums, other->sums + entries,
					   wmlc_gram_hi(gram), wmlc_gram_lo(gram));
	return WMLC_OK;
}

double
wmlc_gram_figure(const WmlcGram *gram, int i, int j)
{
	double		value = wmlc_dd_value(wmlc_gram_sum(gram, i, j));
	double		scale = sqrt(wmlc_gram_sum(gram, i, i).hi) * sqrt(wmlc_gram_sum(gram, j, j).hi);

	return i != j && isfinite(scale) && fabs(value) < WMLC_GRAM_NOISE * scale ? 0.0 : value;
}

WmlcDd
wmlc_gram_moment(const WmlcGram *gram, int i, int j)
{
	WmlcDd		sum = wmlc_gram_sum(gram, i, j);

	if (!wmlc_dd_is_finite(sum) || !wmlc_dd_is_finite(gram->weight))
		return wmlc_dd(sum.hi / gram->weight.hi);
	if (wmlc_gram_figure(gram, i, j) == 0.0)
		return wmlc_dd(0.0);
	return wmlc_dd_div(sum, gram->weight);
}

bool
wmlc_gram_is_finite(const WmlcGram *gram)
{
	size_t		entries = wmlc_gram_entries(gram->dims);
	double		zero = 0.0 * gram->weight.hi;

	/* anything not finite turns the sum of zeros into NaN */
	for (size_t k = 0; k < entries; k++)
		zero += 0.0 * gram->sums[k];
	return zero == 0.0;
}

double
wmlc_gram_effective_rows(const WmlcGram *gram)
{
	if (wmlc_gram_weighted_rows(gram) == 0)
		return 0.0;
	return wmlc_dd_value(wmlc_dd_div(wmlc_dd_mul(gram->weight, gram->weight), gram->weight_squares));
}

static inline bool
same_double(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static inline bool
same_value(WmlcDd a, WmlcDd b)
{
	return same_double(wmlc_dd_value(a), wmlc_dd_value(b));
}

bool
wmlc_gram_equal(const WmlcGram *a, const WmlcGram *b)
{
	if (a->dims != b->dims || a->rows != b->rows || a->skipped != b->skipped ||
		a->weightless != b->weightless ||
		!same_value(a->weight, b->weight) ||
		!same_value(a->weight_squares, b->weight_squares) ||
		!same_value(a->q, b->q) || !same_value(a->h, b->h))
		return false;
	for (int i = 0; i <= a->dims && a->dims > 0; i++)
	{
		for (int j = i; j <= a->dims; j++)
		{
			if (!same_double(wmlc_gram_figure(a, i, j), wmlc_gram_figure(b, i, j)))
				return false;
		}
	}
	return true;
}

/* A double-double from outside: normalised, and hi alone when not finite. */
static bool
is_normal_dd(double hi, double lo)
{
	return isfinite(hi) ? isfinite(lo) && hi + lo == hi : lo == 0.0;
}

/* The same for a sum that cannot be negative. */
static bool
is_positive_dd(WmlcDd a)
{
	return is_normal_dd(a.hi, a.lo) && !(a.hi < 0.0);
}

const char *
wmlc_gram_head_invalid(const WmlcGram *gram, size_t bytes)
{
	if (bytes < sizeof(WmlcGram))
		return "it is too short";
	if (gram->dims < 0 || gram->dims > WMLC_MAX_DIMS)
		return "its number of features is out of range";
	if (bytes != wmlc_gram_bytes(gram->dims))
		return "its length does not fit its number of features";
	if (gram->constant < -1 || gram->constant >= gram->dims)
		return "its constant feature is out of range";
	if (gram->rows < 0 || gram->skipped < 0 || gram->weightless < 0 || gram->weightless > gram->rows)
		return "its row counts are out of range";
	if ((gram->dims == 0) != (gram->rows == 0))
		return "it has rows without features or features without rows";
	return NULL;
}

const char *
wmlc_gram_invalid(const WmlcGram *gram, size_t bytes)
{
	const char *problem = wmlc_gram_head_invalid(gram, bytes);
	bool		empty;

	if (problem != NULL)
		return problem;
	if (!is_positive_dd(gram->weight) || !is_positive_dd(gram->weight_squares) ||
		!is_positive_dd(gram->q) || !is_positive_dd(gram->h) ||
		!(gram->max_norm_square >= 0.0) || !(gram->max_response >= 0.0))
		return "a sum of squares or weights is not a non-negative double-double number";

	empty = wmlc_gram_weighted_rows(gram) == 0;
	if (empty && (gram->weight.hi != 0.0 || gram->weight_squares.hi != 0.0 ||
				  gram->constant != -1))
		return "it has weights but no rows";
	if (!empty && gram->weight.hi == 0.0)
		return "it has rows but no weight";
	for (int i = 0; i <= gram->dims && gram->dims > 0; i++)
	{
		for (int j = i; j <= gram->dims; j++)
		{
			WmlcDd		sum = wmlc_gram_sum(gram, i, j);

			if (!(i == j ? is_positive_dd(sum) : is_normal_dd(sum.hi, sum.lo)))
				return "a sum is not a double-double number";
			if (empty && sum.hi != 0.0)
				return "it has sums but no rows";
		}
	}
	return NULL;
}
