/*
 * gram_retract.c
 *	  Taking rows away from a gram: one by one from a moving window, or all rows
 *	  of another gram at once.
 *
 * Double-double sums have bits enough to give back what was added, but a trace
 * of rounding stays in the last ones, relative to what the sum once was.  So
 * what has become too small is not trusted, and the trace is removed.
 */
#include <string.h>

#include "core/gram/gram.h"
#include "core/gram/gram_internal.h"
#include "core/gram/gram_powers.h"

/*
 * A sum that shrinks to this fraction of what it was in a moving window has
 * lost too many digits: of the 106 bits, 53 belong to the figure, and with 10
 * less the rest still makes it all but certain that rounding finds the same.
 */
#define RETRACT_LIMIT 0x1p-10

static WmlcDd
subtract(WmlcDd a, WmlcDd b)
{
	return wmlc_add_or_propagate(a, wmlc_dd_neg(b));
}

static void
subtract_weight(WmlcGram *gram, double weight)
{
	int64_t		exponent = wmlc_weight_exponent(weight);
	WmlcDd		square = wmlc_align_weight_squares(gram, wmlc_weight_square(weight, exponent), exponent);

	gram->weight = subtract(gram->weight, wmlc_dd(weight));
	gram->weight_squares = subtract(gram->weight_squares, square);
}

/* Take the row out of all sums, or what is finite of it. */
static void
subtract_row(WmlcGram *gram, const double *z, double weight)
{
	WmlcPowers	powers = wmlc_gram_powers(gram->dims, 1, z, 0, &weight);
	double		negative = -weight;
	double		finite[WMLC_ROW_SIZE];

	if (isfinite(powers.q.hi))
	{
		gram->q = subtract(gram->q, powers.q);
		gram->h = subtract(gram->h, powers.h);
	}
	else if (wmlc_gram_count_exception(gram, z, weight, -1, finite))
		z = finite;
	else
		return;
	subtract_weight(gram, weight);
	wmlc_gram_add_products(gram->dims + 1, 1, z, 0, &negative, wmlc_gram_hi(gram), wmlc_gram_lo(gram));
}

/*
 * What rounding may leave where a difference should be zero, as a fraction of
 * the sum it was taken from: the errors of as many additions, of random signs,
 * and much to spare.
 */
static double
difference_noise(int64_t additions)
{
	return 0x1p-103 * sqrt((double) additions);
}

/*
 * A difference without the bits in which there is only noise.  Sums of short
 * numbers often lie halfway between two doubles, and then noise would decide
 * which of them the figure is.  Where noise reaches up to the figure's own
 * bits, they are all there is and stay.
 */
static WmlcDd
drop_noise(WmlcDd a, double noise)
{
	int			exponent;
	double		shifter;

	if (!isfinite(noise) || !isfinite(a.hi))
		return a;
	if (fabs(a.hi) <= noise)
		return wmlc_dd(0.0);
	if (noise < DBL_MIN || noise > 0x1p-60 * fabs(a.hi))
		return a;
	(void) frexp(noise, &exponent);
	shifter = ldexp(1.5, exponent + 52);	/* its last bit is worth 2^exponent */
	return wmlc_two_sum(a.hi, (a.lo + shifter) - shifter);
}

static inline void
raise_peak(double *peak, double value)
{
	if (!(value <= *peak))
		*peak = value;
}

/* The gram's squared weights may have got another unit. */
static void
align_watch(WmlcGramWatch *watch, const WmlcGram *gram)
{
	watch->weight_squares = ldexp(watch->weight_squares,
								  (int) (2 * (watch->weight_exponent - gram->weight_exponent)));
	watch->weight_exponent = gram->weight_exponent;
}

static void
raise_peaks(WmlcGramWatch *watch, const WmlcGram *gram)
{
	align_watch(watch, gram);
	raise_peak(&watch->weight, gram->weight.hi);
	raise_peak(&watch->weight_squares, gram->weight_squares.hi);
	raise_peak(&watch->q, gram->q.hi);
	raise_peak(&watch->h, gram->h.hi);
	for (int i = 0; i <= gram->dims; i++)
		raise_peak(&watch->diagonal[i], wmlc_gram_sum(gram, i, i).hi);
}

void
wmlc_gram_watch(WmlcGramWatch *watch, const WmlcGram *gram)
{
	memset(watch, 0, wmlc_gram_watch_bytes(gram->dims));
	raise_peaks(watch, gram);
}

void
wmlc_gram_watch_row(WmlcGramWatch *watch, const WmlcGram *gram, double weight)
{
	if (weight == 0.0)
		return;
	watch->changes++;
	raise_peaks(watch, gram);
}

/* A row goes, and features may become constant. */
static void
uncount_row(WmlcGram *gram, const double *z)
{
	int64_t    *not_one = wmlc_gram_not_one(gram);

	for (int i = 0; i < gram->dims; i++)
		not_one[i] -= z[i] != 1.0;
	gram->constant = wmlc_gram_find_constant(gram);
}

static inline bool
has_digits(double value, double peak)
{
	return isfinite(value) && value >= RETRACT_LIMIT * peak;
}

/* Entries off the diagonal are covered by those on it, by Cauchy and Schwarz. */
static bool
all_have_digits(const WmlcGram *gram, const WmlcGramWatch *watch)
{
	for (int i = 0; i <= gram->dims; i++)
	{
		if (!has_digits(wmlc_gram_sum(gram, i, i).hi, watch->diagonal[i]))
			return false;
	}
	return has_digits(gram->weight.hi, watch->weight) &&
		has_digits(gram->weight_squares.hi, watch->weight_squares) &&
		has_digits(gram->q.hi, watch->q) && has_digits(gram->h.hi, watch->h);
}

/* A row that never came can leave counts that no rows have. */
static bool
counts_are_possible(const WmlcGram *gram)
{
	int64_t		weighted = wmlc_gram_weighted_rows(gram);

	if (gram->weightless < 0 || weighted < 0 || gram->exceptions < 0 || gram->exceptions > weighted)
		return false;
	for (int i = 0; i < gram->dims; i++)
	{
		if (wmlc_gram_not_one(gram)[i] > weighted)
			return false;
	}
	for (int i = 0; i <= gram->dims + 1; i++)
	{
		int64_t		bad = wmlc_gram_bad(gram)[i];

		if (bad < 0 || (bad > 0 && gram->exceptions == 0))
			return false;
	}
	return wmlc_gram_bad(gram)[gram->dims + 1] <= gram->exceptions;
}

bool
wmlc_gram_retract(WmlcGram *gram, const double *z, double weight, WmlcGramWatch *watch)
{
	if (gram->rows == 0)
		return false;
	gram->rows--;
	if (weight == 0.0)
	{
		gram->weightless--;
		return counts_are_possible(gram);
	}
	if (wmlc_gram_weighted_rows(gram) == 0)
	{
		wmlc_gram_forget_rows(gram);
		wmlc_gram_watch(watch, gram);
		return true;
	}
	subtract_row(gram, z, weight);
	align_watch(watch, gram);
	uncount_row(gram, z);
	watch->changes++;
	return counts_are_possible(gram) && all_have_digits(gram, watch);
}

void
wmlc_gram_settle(WmlcGram *gram, const WmlcGramWatch *watch)
{
	double		noise = difference_noise(watch->changes);
	double	   *hi = wmlc_gram_hi(gram);
	double	   *lo = wmlc_gram_lo(gram);

	gram->weight = drop_noise(gram->weight, noise * watch->weight);
	gram->weight_squares = drop_noise(gram->weight_squares, noise * watch->weight_squares);
	gram->q = drop_noise(gram->q, noise * watch->q);
	gram->h = drop_noise(gram->h, noise * watch->h);
	for (int i = 0; i <= gram->dims; i++)
	{
		double		noise_i = noise * sqrt(watch->diagonal[i]);

		for (int j = i; j <= gram->dims; j++)
		{
			size_t		k = wmlc_triangle_index(gram->dims + 1, i, j);
			WmlcDd		sum = drop_noise((WmlcDd) {hi[k], lo[k]},
										 noise_i * sqrt(watch->diagonal[j]));

			hi[k] = sum.hi;
			lo[k] = sum.lo;
		}
	}
}

/*
 * a - b for sums that cannot be negative.  A difference that rounding alone
 * explains, be it of a subtraction before this one, is zero; *contained turns
 * false when b was clearly no part of a.
 */
static WmlcDd
subtract_part(WmlcDd a, WmlcDd b, double noise, bool *contained)
{
	WmlcDd		rest = subtract(a, b);

	if (rest.hi < -WMLC_GRAM_NOISE * a.hi)
		*contained = false;
	return rest.hi <= WMLC_GRAM_NOISE * a.hi ? wmlc_dd(0.0) : drop_noise(rest, noise * a.hi);
}

/* The triangle of a - b.  Features that only the rows of b used vanish. */
static void
subtract_triangle(WmlcGram *gram, const WmlcGram *other, double noise, bool *contained)
{
	int			p = gram->dims + 1;
	double	   *hi = wmlc_gram_hi(gram);
	double	   *lo = wmlc_gram_lo(gram);

	for (int i = 0; i < p; i++)
	{
		size_t		k = wmlc_triangle_index(p, i, i);
		WmlcDd		rest = subtract_part(wmlc_gram_sum(gram, i, i), wmlc_gram_sum(other, i, i),
										 noise, contained);

		hi[k] = rest.hi;
		lo[k] = rest.lo;
	}
	for (int i = 0; i < p; i++)
	{
		double		rest_i = wmlc_gram_sum(gram, i, i).hi;
		double		sum_i = rest_i + wmlc_gram_sum(other, i, i).hi;

		for (int j = i + 1; j < p; j++)
		{
			size_t		k = wmlc_triangle_index(p, i, j);
			double		rest_j = wmlc_gram_sum(gram, j, j).hi;
			double		sum_j = rest_j + wmlc_gram_sum(other, j, j).hi;
			WmlcDd		rest = subtract(wmlc_gram_sum(gram, i, j), wmlc_gram_sum(other, i, j));

			rest = rest_i == 0.0 || rest_j == 0.0 ? wmlc_dd(0.0)
				: drop_noise(rest, noise * sqrt(sum_i) * sqrt(sum_j));
			hi[k] = rest.hi;
			lo[k] = rest.lo;
		}
	}
}

/*
 * Equal but for rounding.  A gram that once held much larger rows has lost
 * digits, but other data would hardly agree in twelve.
 */
static bool
nearly_equal(WmlcDd a, WmlcDd b, double scale)
{
	return !(fabs(wmlc_dd_sub(a, b).hi) > 0x1p-40 * scale);
}

/* Is b the same data as a?  Then nothing remains. */
static bool
same_sums(const WmlcGram *a, const WmlcGram *b, WmlcDd weight_squares)
{
	if (!nearly_equal(a->weight, b->weight, a->weight.hi) ||
		!nearly_equal(a->weight_squares, weight_squares, a->weight_squares.hi))
		return false;
	for (int i = 0; i <= a->dims && a->dims > 0; i++)
	{
		for (int j = i; j <= a->dims; j++)
		{
			double		scale = sqrt(wmlc_gram_sum(a, i, i).hi) * sqrt(wmlc_gram_sum(a, j, j).hi);

			if (!nearly_equal(wmlc_gram_sum(a, i, j), wmlc_gram_sum(b, i, j), scale))
				return false;
		}
	}
	return true;
}

/* Do the rows that are left have weight, if that is a finite one? */
static bool
has_weight(const WmlcGram *gram)
{
	return gram->weight.hi != 0.0 ||
		wmlc_gram_weighted_rows(gram) == wmlc_gram_bad(gram)[gram->dims + 1];
}

/* All counts of a - b; false when one would be negative, or some row is left but all are gone. */
static bool
subtract_counts(WmlcGram *gram, const WmlcGram *other)
{
	int64_t    *not_one = wmlc_gram_not_one(gram);
	const int64_t *other_not_one = wmlc_gram_not_one(other);
	int64_t    *bad = wmlc_gram_bad(gram);
	const int64_t *other_bad = wmlc_gram_bad(other);
	bool		contained = gram->rows >= other->rows && gram->skipped >= other->skipped &&
		gram->weightless >= other->weightless && gram->exceptions >= other->exceptions &&
		wmlc_gram_weighted_rows(gram) >= wmlc_gram_weighted_rows(other);

	if (!contained)
		return false;
	gram->rows -= other->rows;
	gram->skipped -= other->skipped;
	gram->weightless -= other->weightless;
	gram->exceptions -= other->exceptions;
	for (int i = 0; i < other->dims; i++)
	{
		if (not_one[i] < 0 || other_not_one[i] < 0)
			not_one[i] = WMLC_UNKNOWN_COUNT;
		else
		{
			not_one[i] -= other_not_one[i];
			contained &= not_one[i] >= 0 && not_one[i] <= wmlc_gram_weighted_rows(gram);
		}
	}
	for (int i = 0; i <= other->dims + 1 && other->dims > 0; i++)
	{
		if (other_bad[i] < 0 || bad[i] < other_bad[i])
			return false;
		bad[i] -= other_bad[i];
		contained &= bad[i] == 0 || gram->exceptions > 0;
	}
	return contained && gram->exceptions <= wmlc_gram_weighted_rows(gram);
}

WmlcStatus
wmlc_gram_subtract(WmlcGram *gram, const WmlcGram *other)
{
	double		noise = difference_noise(gram->rows);
	bool		contained = true;
	WmlcDd		squares;
	WmlcStatus	status = wmlc_gram_check_dims(gram, other);

	if (status != WMLC_OK)
		return status;
	if (!subtract_counts(gram, other))
		return WMLC_NOT_CONTAINED;
	if (wmlc_gram_weighted_rows(other) > 0)
	{
		squares = wmlc_align_weight_squares(gram, other->weight_squares, other->weight_exponent);
		if (wmlc_gram_weighted_rows(gram) == 0)
		{
			if (!same_sums(gram, other, squares))
				return WMLC_NOT_CONTAINED;
			wmlc_gram_forget_rows(gram);
		}
		else
		{
			gram->constant = wmlc_gram_find_constant(gram);
			gram->weight = subtract_part(gram->weight, other->weight, noise, &contained);
			gram->weight_squares = subtract_part(gram->weight_squares, squares, noise, &contained);
			gram->q = subtract_part(gram->q, other->q, noise, &contained);
			gram->h = subtract_part(gram->h, other->h, noise, &contained);
			subtract_triangle(gram, other, noise, &contained);
			contained &= has_weight(gram);
		}
	}
	if (gram->rows == 0)
		gram->dims = 0;
	return contained ? WMLC_OK : WMLC_NOT_CONTAINED;
}
