/*
 * gram_transform.c
 *	  The change of basis z -> T z of a gram, and the one that standardizes.
 */
#include <string.h>

#include "core/gram/gram.h"
#include "core/gram/gram_internal.h"

/* The column that a row of the matrix copies, or -1. */
static int
copied_column(const WmlcDd *row, int p)
{
	int			copied = -1;

	for (int k = 0; k < p; k++)
	{
		if (row[k].hi == 0.0)
			continue;
		if (copied >= 0 || row[k].hi != 1.0 || row[k].lo != 0.0)
			return -1;
		copied = k;
	}
	return copied;
}

/*
 * The counts of T z.  A feature that copies another one is 1 where that is; of
 * others nothing is known.  An entry is bad where one that is part of it is, and
 * counted as often: so the counts of sums of grams are the sums of their counts.
 */
static bool
transform_counts(const WmlcGram *gram, const WmlcDd *matrix, int m, WmlcGram *result)
{
	int			p = gram->dims + 1;
	int64_t    *not_one = wmlc_gram_not_one(result);
	int64_t    *bad = wmlc_gram_bad(result);

	for (int i = 0; i < m; i++)
	{
		const WmlcDd *row = matrix + (size_t) i * p;
		int			copied = copied_column(row, p);

		if (i < m - 1)
			not_one[i] = copied >= 0 && copied < gram->dims ? wmlc_gram_not_one(gram)[copied]
				: WMLC_UNKNOWN_COUNT;
		for (int k = 0; k < p && gram->exceptions > 0; k++)
		{
			if (row[k].hi != 0.0 && !wmlc_add_count(&bad[i], wmlc_gram_bad(gram)[k]))
				return false;
		}
	}
	bad[m] = wmlc_gram_bad(gram)[p];
	result->exceptions = gram->exceptions;
	result->constant = wmlc_gram_find_constant(result);
	return true;
}

/*
 * How large entry i of T z would be, over all rows, if nothing in it cancelled:
 * the scale of rounding errors in the transformed sums.
 */
static double
uncancelled_size(const WmlcGram *gram, const WmlcDd *row)
{
	double		size = 0.0;

	for (int k = 0; k <= gram->dims; k++)
	{
		if (row[k].hi != 0.0)
			size += fabs(row[k].hi) * sqrt(wmlc_gram_sum(gram, k, k).hi);
	}
	return size;
}

static WmlcDd
dot_with_column(const WmlcDd *row, const WmlcGram *gram, int column)
{
	WmlcDd		sum = {0.0, 0.0};

	for (int k = 0; k <= gram->dims; k++)
	{
		if (row[k].hi != 0.0)
			sum = wmlc_dd_add(sum, wmlc_dd_mul(row[k], wmlc_gram_sum(gram, k, column)));
	}
	return sum;
}

WmlcStatus
wmlc_gram_transform(const WmlcGram *gram, const WmlcDd *matrix, int m,
					WmlcGram *result, void *work, WmlcPoll poll)
{
	int			p = gram->dims + 1;
	WmlcDd	   *product = work; /* T G */
	double	   *size = (double *) (product + (size_t) m * p);
	double	   *hi;
	double	   *lo;

	wmlc_gram_init(result, m - 1);
	hi = wmlc_gram_hi(result);
	lo = wmlc_gram_lo(result);
	result->rows = gram->rows;
	result->skipped = gram->skipped;
	result->weightless = gram->weightless;
	if (wmlc_gram_weighted_rows(gram) == 0)
		return WMLC_OK;

	/* fourth moments and bounds do not follow a change of basis */
	result->weight = gram->weight;
	result->weight_squares = gram->weight_squares;
	result->weight_exponent = gram->weight_exponent;
	result->q = wmlc_dd(NAN);
	result->h = wmlc_dd(NAN);
	result->max_norm_square = INFINITY;
	result->max_response = INFINITY;
	if (!transform_counts(gram, matrix, m, result))
		return WMLC_COUNT_OVERFLOW;

	for (int i = 0; i < m; i++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		size[i] = uncancelled_size(gram, matrix + (size_t) i * p);
		for (int k = 0; k < p; k++)
			product[(size_t) i * p + k] = dot_with_column(matrix + (size_t) i * p, gram, k);
	}
	for (int i = 0; i < m; i++)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int j = i; j < m; j++)
		{
			size_t		k = wmlc_triangle_index(m, i, j);
			double		noise = WMLC_GRAM_NOISE * size[i] * size[j];
			WmlcDd		sum = {0.0, 0.0};

			for (int c = 0; c < p; c++)
			{
				WmlcDd		t = matrix[(size_t) j * p + c];

				if (t.hi != 0.0)
					sum = wmlc_dd_add(sum, wmlc_dd_mul(product[(size_t) i * p + c], t));
			}
			sum = wmlc_dd_normalize(sum);
			if ((isfinite(noise) && fabs(sum.hi) < noise) || (i == j && sum.hi < 0.0))
				sum = wmlc_dd(0.0);
			hi[k] = sum.hi;
			lo[k] = sum.lo;
		}
	}
	return WMLC_OK;
}

void
wmlc_gram_standardizer(const WmlcGram *reference, WmlcDd *matrix)
{
	int			p = reference->dims + 1;
	int			c = reference->constant;

	memset(matrix, 0, (size_t) p * p * sizeof(WmlcDd));
	for (int i = 0; i < p; i++)
	{
		WmlcDd	   *row = matrix + (size_t) i * p;
		WmlcDd		mean = wmlc_gram_moment(reference, i, c);
		WmlcDd		square = wmlc_gram_moment(reference, i, i);
		WmlcDd		variance = wmlc_dd_sub(square, wmlc_dd_mul(mean, mean));

		row[i] = wmlc_dd(1.0);
		if (i == c)
			continue;
		/* a column that does not vary is centred and keeps its unit */
		if (variance.hi > WMLC_GRAM_NOISE * square.hi)
			row[i] = wmlc_dd_div(row[i], wmlc_dd_sqrt(variance));
		row[c] = wmlc_dd_neg(wmlc_dd_mul(mean, row[i]));
	}
}
