/*
 * gram_read.c
 *	  Reading and comparing grams.
 */
#include "core/gram/gram.h"
#include "core/gram/gram_internal.h"

#include <string.h>

#include "core/base/random.h"

/* Entry (i, j) of the finite part of G. */
static double
finite_figure(const WmlcGram *gram, int i, int j)
{
	double		value = wmlc_dd_value(wmlc_gram_sum(gram, i, j));
	double		scale = sqrt(wmlc_gram_sum(gram, i, i).hi) * sqrt(wmlc_gram_sum(gram, j, j).hi);

	return i != j && isfinite(scale) && fabs(value) < WMLC_GRAM_NOISE * scale ? 0.0 : value;
}

static inline bool
has_bad_weights(const WmlcGram *gram)
{
	return gram->exceptions > 0 && wmlc_gram_bad(gram)[gram->dims + 1] > 0;
}

/* Is there a row without a finite part in entry (i, j)? */
static inline bool
is_bad(const WmlcGram *gram, int i, int j)
{
	const int64_t *bad = wmlc_gram_bad(gram);

	return gram->exceptions > 0 && (bad[i] > 0 || bad[j] > 0 || bad[gram->dims + 1] > 0);
}

double
wmlc_gram_figure(const WmlcGram *gram, int i, int j)
{
	return is_bad(gram, i, j) ? NAN : finite_figure(gram, i, j);
}

WmlcDd
wmlc_gram_moment(const WmlcGram *gram, int i, int j)
{
	WmlcDd		sum = wmlc_gram_sum(gram, i, j);

	if (is_bad(gram, i, j))
		return wmlc_dd(NAN);
	if (!wmlc_dd_is_finite(sum) || !wmlc_dd_is_finite(gram->weight))
		return wmlc_dd(sum.hi / gram->weight.hi);
	if (finite_figure(gram, i, j) == 0.0)
		return wmlc_dd(0.0);
	return wmlc_dd_div(sum, gram->weight);
}

WmlcDd
wmlc_gram_weight(const WmlcGram *gram)
{
	return has_bad_weights(gram) ? wmlc_dd(NAN) : gram->weight;
}

WmlcDd
wmlc_gram_q(const WmlcGram *gram)
{
	return gram->exceptions > 0 ? wmlc_dd(NAN) : gram->q;
}

WmlcDd
wmlc_gram_h(const WmlcGram *gram)
{
	return gram->exceptions > 0 ? wmlc_dd(NAN) : gram->h;
}

bool
wmlc_gram_is_finite(const WmlcGram *gram)
{
	size_t		entries = wmlc_gram_entries(gram->dims);
	size_t		quads = entries / 4 * 4;
	double		zero = 0.0 * gram->weight.hi;
	double		zeros[4] = {0.0, 0.0, 0.0, 0.0};

	for (int i = 0; i <= gram->dims + 1 && gram->exceptions > 0; i++)
	{
		if (wmlc_gram_bad(gram)[i] > 0)
			return false;
	}
	/* anything not finite turns the sum of zeros into NaN; four sums need not wait for each other */
	for (size_t k = 0; k < quads; k += 4)
	{
		for (int i = 0; i < 4; i++)
			zeros[i] += 0.0 * gram->sums[k + i];
	}
	for (size_t k = quads; k < entries; k++)
		zero += 0.0 * gram->sums[k];
	return zero + zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0.0;
}

double
wmlc_gram_effective_rows(const WmlcGram *gram)
{
	double		rows = (double) wmlc_gram_weighted_rows(gram);
	WmlcDd		weight = wmlc_dd_ldexp(wmlc_gram_weight(gram), -gram->weight_exponent);

	if (rows == 0.0 || !wmlc_dd_is_finite(weight))
		return rows == 0.0 ? 0.0 : NAN;
	/* never more than the rows, though much heavier ones that left may have taken digits along */
	if (gram->weight_squares.hi == 0.0)
		return rows;
	return fmin(rows, wmlc_dd_value(wmlc_dd_div(wmlc_dd_mul(weight, weight), gram->weight_squares)));
}

static inline int
compare_counts(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static inline int
compare_doubles(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

/* The same sum of squares may stand in two units; as a fraction and an exponent it has one form. */
static void
split_weight_squares(const WmlcGram *gram, double *fraction, double *exponent)
{
	double		value = wmlc_dd_value(gram->weight_squares);
	int			power = 0;

	*fraction = isfinite(value) ? frexp(value, &power) : value;
	*exponent = *fraction == 0.0 || !isfinite(value) ? 0.0 : power + 2.0 * gram->weight_exponent;
}

/* All but the triangle, with zeros and NaN in one form each. */
static void
key_head(const WmlcGram *gram, double key[WMLC_GRAM_KEY_HEAD])
{
	int			n = 0;

	key[n++] = gram->dims;
	key[n++] = (double) gram->rows;
	key[n++] = (double) gram->skipped;
	key[n++] = (double) gram->weightless;
	key[n++] = (double) gram->exceptions;
	key[n++] = gram->constant;
	key[n++] = wmlc_dd_value(gram->weight);
	split_weight_squares(gram, &key[n], &key[n + 1]);
	n += 2;
	key[n++] = wmlc_dd_value(gram->q);
	key[n++] = wmlc_dd_value(gram->h);
}

/* Zeros of both signs are equal, and so are all NaN. */
static inline double
one_form(double value)
{
	return isnan(value) ? (double) NAN : value + 0.0;
}

void
wmlc_gram_key(const WmlcGram *gram, double *key)
{
	int			n = WMLC_GRAM_KEY_HEAD;

	key_head(gram, key);
	for (int i = 0; i <= gram->dims && gram->dims > 0; i++)
	{
		for (int j = i; j <= gram->dims; j++)
			key[n++] = finite_figure(gram, i, j);
	}
	for (int k = 0; k < n; k++)
		key[k] = one_form(key[k]);
}

static uint64_t
mix_in(uint64_t lot, double value)
{
	uint64_t	bits;

	value = one_form(value);
	memcpy(&bits, &value, sizeof(bits));
	return wmlc_random_mix(lot ^ wmlc_random_mix(bits + WMLC_RANDOM_STEP));
}

uint64_t
wmlc_gram_lot(const WmlcGram *gram)
{
	double		head[WMLC_GRAM_KEY_HEAD];
	uint64_t	lot = 0;

	key_head(gram, head);
	for (int k = 0; k < WMLC_GRAM_KEY_HEAD; k++)
		lot = mix_in(lot, head[k]);
	for (int i = 0; i <= gram->dims && gram->dims > 0; i++)
	{
		for (int j = i; j <= gram->dims; j++)
			lot = mix_in(lot + WMLC_RANDOM_STEP, finite_figure(gram, i, j));
	}
	return lot;
}

/* Counts beyond 2^53 are not told apart as doubles. */
static int
compare_all_counts(const WmlcGram *a, const WmlcGram *b)
{
	int			order = compare_counts(a->rows, b->rows);

	order = order != 0 ? order : compare_counts(a->skipped, b->skipped);
	order = order != 0 ? order : compare_counts(a->weightless, b->weightless);
	order = order != 0 ? order : compare_counts(a->exceptions, b->exceptions);
	for (int i = 0; i <= a->dims + 1 && a->exceptions > 0 && order == 0; i++)
		order = compare_counts(wmlc_gram_bad(a)[i], wmlc_gram_bad(b)[i]);
	return order;
}

int
wmlc_gram_compare(const WmlcGram *a, const WmlcGram *b)
{
	double		head_a[WMLC_GRAM_KEY_HEAD];
	double		head_b[WMLC_GRAM_KEY_HEAD];
	int			order;

	if (a->dims != b->dims)
		return a->dims < b->dims ? -1 : 1;
	order = compare_all_counts(a, b);
	if (order != 0)
		return order;
	key_head(a, head_a);
	key_head(b, head_b);
	for (int k = 0; k < WMLC_GRAM_KEY_HEAD && order == 0; k++)
		order = compare_doubles(head_a[k], head_b[k]);
	for (int i = 0; i <= a->dims && a->dims > 0; i++)
	{
		for (int j = i; j <= a->dims && order == 0; j++)
			order = compare_doubles(finite_figure(a, i, j), finite_figure(b, i, j));
	}
	return order;
}
