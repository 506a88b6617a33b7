/*
 * gram_check.c
 *	  Grams from outside: are they any, and what did an earlier version of the
 *	  format leave unsaid?
 */
#include <string.h>

#include "core/gram/gram.h"
#include "core/gram/gram_internal.h"

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
	if (gram->rows < 0 || gram->skipped < 0 || gram->weightless < 0 || gram->weightless > gram->rows ||
		gram->exceptions < 0 || gram->exceptions > wmlc_gram_weighted_rows(gram))
		return "its row counts are out of range";
	if (gram->weight_exponent != 0 && gram->weight_exponent != WMLC_WEIGHT_EXPONENT &&
		gram->weight_exponent != -WMLC_WEIGHT_EXPONENT)
		return "the unit of its squared weights is unknown";
	if ((gram->dims == 0) != (gram->rows == 0))
		return "it has rows without features or features without rows";
	return NULL;
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

static const char *
counts_invalid(const WmlcGram *gram)
{
	const int64_t *not_one = wmlc_gram_not_one(gram);
	const int64_t *bad = wmlc_gram_bad(gram);

	if (gram->dims == 0)
		return NULL;
	for (int i = 0; i < gram->dims; i++)
	{
		if (not_one[i] > wmlc_gram_weighted_rows(gram) || (wmlc_gram_weighted_rows(gram) == 0 && not_one[i] != 0))
			return "a feature differs from 1 in more rows than there are";
	}
	for (int i = 0; i <= gram->dims + 1; i++)
	{
		if (bad[i] < 0 || (bad[i] > 0 && gram->exceptions == 0))
			return "its counts of values that are not finite are out of range";
	}
	if (bad[gram->dims + 1] > gram->exceptions)
		return "its counts of values that are not finite are out of range";
	if (gram->constant != wmlc_gram_find_constant(gram))
		return "its constant feature is not 1 in every row";
	return NULL;
}

const char *
wmlc_gram_invalid(const WmlcGram *gram, size_t bytes)
{
	const char *problem = wmlc_gram_head_invalid(gram, bytes);
	int64_t		weighted;

	if (problem == NULL)
		problem = counts_invalid(gram);
	if (problem != NULL)
		return problem;
	if (!is_positive_dd(gram->weight) || !is_positive_dd(gram->weight_squares) ||
		!is_positive_dd(gram->q) || !is_positive_dd(gram->h) ||
		!(gram->max_norm_square >= 0.0) || !(gram->max_response >= 0.0))
		return "a sum of squares or weights is not a non-negative double-double number";

	/* rows that have a part in the sums */
	weighted = wmlc_gram_weighted_rows(gram);
	if (gram->exceptions > 0)
		weighted -= wmlc_gram_bad(gram)[gram->dims + 1];
	if (weighted == 0 && (gram->weight.hi != 0.0 || gram->weight_squares.hi != 0.0))
		return "it has weights but no rows";
	if (weighted > 0 && gram->weight.hi == 0.0)
		return "it has rows but no weight";
	for (int i = 0; i <= gram->dims && gram->dims > 0; i++)
	{
		for (int j = i; j <= gram->dims; j++)
		{
			WmlcDd		sum = wmlc_gram_sum(gram, i, j);

			if (!(i == j ? is_positive_dd(sum) : is_normal_dd(sum.hi, sum.lo)))
				return "a sum is not a double-double number";
			if (weighted == 0 && sum.hi != 0.0)
				return "it has sums but no rows";
		}
	}
	return NULL;
}

/* As the first version stored it. */
typedef struct GramVersion1
{
	int32_t		dims;
	int32_t		constant;
	int64_t		rows;
	int64_t		skipped;
	int64_t		weightless;
	WmlcDd		weight;
	WmlcDd		weight_squares;
	WmlcDd		q;
	WmlcDd		h;
	double		max_norm_square;
	double		max_response;
	double		sums[];
} GramVersion1;

int
wmlc_gram_dims_version_1(const void *bytes, size_t length)
{
	const GramVersion1 *old = bytes;

	if (length < sizeof(GramVersion1) || old->dims < 0 || old->dims > WMLC_MAX_DIMS ||
		length != sizeof(GramVersion1) + wmlc_gram_entries(old->dims) * 2 * sizeof(double))
		return -1;
	return old->dims;
}

void
wmlc_gram_from_version_1(const void *bytes, WmlcGram *result)
{
	const GramVersion1 *old = bytes;

	wmlc_gram_init(result, old->dims);
	result->constant = old->constant;
	result->rows = old->rows;
	result->skipped = old->skipped;
	result->weightless = old->weightless;
	result->weight = old->weight;
	result->weight_squares = old->weight_squares;
	result->q = old->q;
	result->h = old->h;
	result->max_norm_square = old->max_norm_square;
	result->max_response = old->max_response;
	memcpy(result->sums, old->sums, wmlc_gram_entries(old->dims) * 2 * sizeof(double));
}

/*
 * Is feature i equal to 1 in every row, given that feature c is?  Exactly when
 * sum w (x_i - x_c)^2 = G_ii - 2 G_ic + G_cc vanishes.
 */
static bool
is_constant_too(const WmlcGram *gram, int i, int c)
{
	WmlcDd		difference;

	if (i == c)
		return true;
	difference = wmlc_dd_add(wmlc_gram_sum(gram, i, i), wmlc_gram_sum(gram, c, c));
	difference = wmlc_dd_sub(difference, wmlc_dd_scale(wmlc_gram_sum(gram, i, c), 2.0));
	return fabs(wmlc_dd_value(difference)) <= 0x1p-100 * wmlc_dd_value(gram->weight);
}

const char *
wmlc_gram_upgrade(WmlcGram *gram)
{
	int			c = gram->constant;
	int64_t    *not_one = wmlc_gram_not_one(gram);

	if (c < -1 || c >= gram->dims)
		return "its constant feature is out of range";
	if (gram->rows < 0 || gram->weightless < 0 || gram->weightless > gram->rows)
		return "its row counts are out of range";
	if (wmlc_gram_weighted_rows(gram) == 0)
		return c == -1 ? NULL : "it has weights but no rows";
	for (int i = 0; i < gram->dims; i++)
		not_one[i] = c >= 0 && is_constant_too(gram, i, c) ? 0 : WMLC_UNKNOWN_COUNT;
	gram->constant = wmlc_gram_find_constant(gram);
	return NULL;
}
