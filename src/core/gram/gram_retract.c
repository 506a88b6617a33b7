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

static void
forget_rows(WmlcGram *gram)
{
	int64_t		rows = gram->rows;
	int64_t		skipped = gram->skipped;
	int64_t		weightless = gram->weightless;

	wmlc_gram_init(gram, gram->dims);
	gram->rows = rows;
	gram->skipped = skipped;
	gram->weightless = weightless;
}

static void
subtract_scalar_sums(WmlcGram *gram, const double *z, double weight)
{
	WmlcPowers	powers = wmlc_gram_powers(gram->dims, 1, z, 0, &weight);

	gram->weight = wmlc_add_or_propagate(gram->weight, wmlc_dd(-weight));
	gram->weight_squares = wmlc_add_or_propagate(gram->weight_squares,
												 wmlc_dd_neg(wmlc_two_prod(weight, weight)));
	gram->q = wmlc_add_or_propagate(gram->q, wmlc_dd_neg(powers.q));
	gram->h = wmlc_add_or_propagate(gram->h, wmlc_dd_neg(powers.h));
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

static void
raise_peaks(WmlcGramWatch *watch, const WmlcGram *gram)
{
	raise_peak(&watch->weight, gram->weight.hi);
	raise_peak(&watch->weight_squares, gram->weight_squares.hi);
	raise_peak(&watch->q, gram->q.hi);
	raise_peak(&watch->h, gram->h.hi);
	for (int i = 0; i <= gram->dims; i++)
		raise_peak(&watch->column[i].diagonal, wmlc_gram_sum(gram, i, i).hi);
}

void
wmlc_gram_watch(WmlcGramWatch *watch, const WmlcGram *gram)
{
	bool		empty = wmlc_gram_weighted_rows(gram) == 0;

	memset(watch, 0, wmlc_gram_watch_bytes(gram->dims));
	raise_peaks(watch, gram);
	for (int i = 0; i < gram->dims; i++)
		watch->column[i].not_one = empty || wmlc_gram_is_constant(gram, i) ? 0 : 1;
}

/* A row comes (change 1) or goes (-1), and features may cease or begin to be constant. */
static void
watch_constant(WmlcGramWatch *watch, WmlcGram *gram, const double *z, int change)
{
	gram->constant = -1;
	for (int i = gram->dims - 1; i >= 0; i--)
	{
		if (z[i] != 1.0)
			watch->column[i].not_one += change;
		if (watch->column[i].not_one == 0)
			gram->constant = i;
	}
}

void
wmlc_gram_watch_row(WmlcGramWatch *watch, WmlcGram *gram, const double *z, double weight)
{
	if (weight == 0.0)
		return;
	watch->changes++;
	raise_peaks(watch, gram);
	watch_constant(watch, gram, z, 1);
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
		if (!has_digits(wmlc_gram_sum(gram, i, i).hi, watch->column[i].diagonal))
			return false;
	}
	return has_digits(gram->weight.hi, watch->weight) &&
		has_digits(gram->weight_squares.hi, watch->weight_squares) &&
		has_digits(gram->q.hi, watch->q) && has_digits(gram->h.hi, watch->h);
}

bool
wmlc_gram_retract(WmlcGram *gram, const double *z, double weight, WmlcGramWatch *watch)
{
	double		negative = -weight;

	if (gram->rows == 0)
		return false;
	gram->rows--;
	if (weight == 0.0)
	{
		gram->weightless--;
		return true;
	}
	if (wmlc_gram_weighted_rows(gram) == 0)
	{
		forget_rows(gram);
		wmlc_gram_watch(watch, gram);
		return true;
	}
	subtract_scalar_sums(gram, z, weight);
	wmlc_gram_add_products(gram->dims + 1, 1, z, 0, &negative, wmlc_gram_hi(gram), wmlc_gram_lo(gram));
	watch->changes++;
	watch_constant(watch, gram, z, -1);
	return all_have_digits(gram, watch);
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
		double		noise_i = noise * sqrt(watch->column[i].diagonal);

		for (int j = i; j <= gram->dims; j++)
		{
			size_t		k = wmlc_triangle_index(gram->dims + 1, i, j);
			WmlcDd		sum = drop_noise((WmlcDd) {hi[k], lo[k]},
										 noise_i * sqrt(watch->column[j].diagonal));

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
	WmlcDd		rest = wmlc_add_or_propagate(a, wmlc_dd_neg(b));

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
			WmlcDd		rest = wmlc_add_or_propagate(wmlc_gram_sum(gram, i, j),
													 wmlc_dd_neg(wmlc_gram_sum(other, i, j)));

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
same_sums(const WmlcGram *a, const WmlcGram *b)
{
	if (!nearly_equal(a->weight, b->weight, a->weight.hi) ||
		!nearly_equal(a->weight_squares, b->weight_squares, a->weight_squares.hi))
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

WmlcStatus
wmlc_gram_subtract(WmlcGram *gram, const WmlcGram *other)
{
	double		noise = difference_noise(gram->rows);
	bool		contained = true;
	bool		nothing_left;
	WmlcStatus	status = wmlc_gram_check_dims(gram, other);

	if (status != WMLC_OK)
		return status;
	if (gram->rows < other->rows || gram->skipped < other->skipped ||
		gram->weightless < other->weightless ||
		wmlc_gram_weighted_rows(gram) < wmlc_gram_weighted_rows(other))
		return WMLC_NOT_CONTAINED;

	nothing_left = wmlc_gram_weighted_rows(gram) == wmlc_gram_weighted_rows(other);
	gram->rows -= other->rows;
	gram->skipped -= other->skipped;
	gram->weightless -= other->weightless;
	if (wmlc_gram_weighted_rows(other) == 0 || nothing_left)
	{
		if (wmlc_gram_weighted_rows(other) > 0)
		{
			if (!same_sums(gram, other))
				return WMLC_NOT_CONTAINED;
			forget_rows(gram);
		}
		if (gram->rows == 0)
			gram->dims = 0;
		return WMLC_OK;
	}

	gram->weight = subtract_part(gram->weight, other->weight, noise, &contained);
	gram->weight_squares = subtract_part(gram->weight_squares, other->weight_squares, noise, &contained);
	gram->q = subtract_part(gram->q, other->q, noise, &contained);
	gram->h = subtract_part(gram->h, other->h, noise, &contained);
	if (gram->weight.hi == 0.0)
		contained = false;
	subtract_triangle(gram, other, noise, &contained);
	return contained ? WMLC_OK : WMLC_NOT_CONTAINED;
}
