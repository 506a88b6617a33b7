/*
 * gram.c
 *	  Counting rows into a gram, merging and subtracting grams, reading them.
 */
#include <string.h>

#include "gram.h"

/*
 * Rounding leaves at most n 2^-105 sqrt(G_ii G_jj) in an entry, by Cauchy and
 * Schwarz.  A sum below this fraction of that scale is noise around zero: it
 * would depend on the order of the rows and tells nothing.
 */
#define NOISE 0x1p-90

/*
 * A sum that shrinks to this fraction of what it was in a moving window has
 * lost too many digits: of the 106 bits, 53 belong to the figure, and with 10
 * less the rest still makes it all but certain that rounding finds the same.
 */
#define RETRACT_LIMIT 0x1p-10

void
wmlc_gram_init(WmlcGram *gram, int dims)
{
	memset(gram, 0, wmlc_gram_bytes(dims));
	gram->dims = dims;
	gram->constant = -1;
}

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

/*
 * Is feature i equal to 1 in every row, given that the gram's constant feature
 * c is?  Exactly when sum w (x_i - x_c)^2 = G_ii - 2 G_ic + G_cc vanishes.
 */
static bool
is_constant(const WmlcGram *gram, int i)
{
	int			c = gram->constant;
	WmlcDd		difference;

	if (c < 0 || i == c)
		return i == c;
	difference = wmlc_dd_add(wmlc_gram_sum(gram, i, i), wmlc_gram_sum(gram, c, c));
	difference = wmlc_dd_sub(difference, wmlc_dd_scale(wmlc_gram_sum(gram, i, c), 2.0));
	return fabs(wmlc_dd_value(difference)) <= 0x1p-100 * wmlc_dd_value(gram->weight);
}

/* Keep `constant` true when a row joins; the gram holds all rows before it. */
static void
follow_constant(WmlcGram *gram, const double *z)
{
	bool		first = wmlc_gram_weighted_rows(gram) == 0;

	if (!first && (gram->constant < 0 || z[gram->constant] == 1.0))
		return;
	for (int i = 0; i < gram->dims; i++)
	{
		if (z[i] == 1.0 && (first || is_constant(gram, i)))
		{
			gram->constant = i;
			return;
		}
	}
	gram->constant = -1;
}

/* Like fmax, but NaN is no bound at all. */
static inline double
bound(double a, double b)
{
	return isnan(b) ? INFINITY : (a > b ? a : b);
}

/* a + b; what is not finite propagates as it does in plain doubles. */
static inline WmlcDd
add_or_propagate(WmlcDd a, WmlcDd b)
{
	double		plain = a.hi + b.hi;

	return isfinite(plain) ? wmlc_dd_add(a, b) : wmlc_dd(plain);
}

static inline WmlcDd
times_weight(WmlcDd a, double weight)
{
	return fabs(weight) == 1.0 ? wmlc_dd_scale(a, weight) : wmlc_dd_mul_d(a, weight);
}

/* The same for terms that are not negative, where a shorter sum is as exact. */
static inline WmlcDd
add_positive(WmlcDd a, WmlcDd b)
{
	WmlcDd		sum = wmlc_two_sum(a.hi, b.hi);

	return isfinite(sum.hi) ? wmlc_quick_two_sum(sum.hi, sum.lo + (a.lo + b.lo)) : wmlc_dd(sum.hi);
}

static inline void
add_scalar_sums(WmlcGram *gram, const double *z, double weight)
{
	WmlcRowPowers powers = wmlc_row_powers(z, gram->dims);

	if (weight == 1.0)
	{
		/* the common case; dd + 1 needs no products */
		gram->weight = add_positive(gram->weight, wmlc_dd(1.0));
		gram->weight_squares = add_positive(gram->weight_squares, wmlc_dd(1.0));
		gram->q = add_positive(gram->q, powers.q);
		gram->h = add_positive(gram->h, powers.h);
	}
	else
	{
		gram->weight = add_positive(gram->weight, wmlc_dd(weight));
		gram->weight_squares = add_positive(gram->weight_squares,
											wmlc_two_prod(weight, weight));
		gram->q = add_positive(gram->q, wmlc_dd_mul_d(powers.q, weight));
		gram->h = add_positive(gram->h, wmlc_dd_mul_d(powers.h, weight));
	}
	gram->max_norm_square = bound(gram->max_norm_square, wmlc_dd_value(powers.norm_square));
	gram->max_response = bound(gram->max_response, fabs(z[gram->dims]));
}

static void
subtract_scalar_sums(WmlcGram *gram, const double *z, double weight)
{
	WmlcRowPowers powers = wmlc_row_powers(z, gram->dims);

	gram->weight = add_or_propagate(gram->weight, wmlc_dd(-weight));
	gram->weight_squares = add_or_propagate(gram->weight_squares,
											times_weight(wmlc_dd(weight), -weight));
	gram->q = add_or_propagate(gram->q, times_weight(powers.q, -weight));
	gram->h = add_or_propagate(gram->h, times_weight(powers.h, -weight));
}

void
wmlc_gram_count(WmlcGram *gram, const double *z, double weight)
{
	if (weight == 0.0)
		gram->weightless++;
	else
	{
		follow_constant(gram, z);
		add_scalar_sums(gram, z, weight);
	}
	gram->rows++;
}

void
wmlc_gram_flush(WmlcGram *gram, const double *rows, int stride,
				const double *weights, int count)
{
	wmlc_gram_kernel(gram->dims + 1, count, rows, stride, weights,
					 wmlc_gram_hi(gram), wmlc_gram_lo(gram));
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
		watch->column[i].not_one = empty || is_constant(gram, i) ? 0 : 1;
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
	wmlc_gram_flush(gram, z, 0, &negative, 1);
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

/* Take over the dims of the other when no row has settled ours yet. */
static WmlcStatus
check_dims(const WmlcGram *gram, const WmlcGram *other)
{
	return gram->dims == other->dims || other->dims == 0 ? WMLC_OK : WMLC_DIMENSION_MISMATCH;
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
		if (is_constant(a, i) && is_constant(b, i))
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
	double	   *hi = wmlc_gram_hi(gram);
	double	   *lo = wmlc_gram_lo(gram);
	WmlcStatus	status = check_dims(gram, other);

	if (status != WMLC_OK)
		return status;
	gram->constant = merged_constant(gram, other);
	if (!add_count(&gram->rows, other->rows) ||
		!add_count(&gram->skipped, other->skipped) ||
		!add_count(&gram->weightless, other->weightless))
		return WMLC_NOT_FINITE;
	gram->weight = add_or_propagate(gram->weight, other->weight);
	gram->weight_squares = add_or_propagate(gram->weight_squares, other->weight_squares);
	gram->q = add_or_propagate(gram->q, other->q);
	gram->h = add_or_propagate(gram->h, other->h);
	gram->max_norm_square = bound(gram->max_norm_square, other->max_norm_square);
	gram->max_response = bound(gram->max_response, other->max_response);
	for (size_t k = 0; k < entries; k++)
	{
		WmlcDd		sum = add_or_propagate((WmlcDd) {hi[k], lo[k]},
										   (WmlcDd) {other->sums[k], other->sums[entries + k]});

		hi[k] = sum.hi;
		lo[k] = sum.lo;
	}
	return WMLC_OK;
}

/*
 * a - b for sums that cannot be negative.  A difference that rounding alone
 * explains is zero; *contained turns false when b was clearly no part of a.
 */
static WmlcDd
subtract_part(WmlcDd a, WmlcDd b, double noise, bool *contained)
{
	WmlcDd		rest = add_or_propagate(a, wmlc_dd_neg(b));

	if (rest.hi < -NOISE * a.hi)
		*contained = false;
	return rest.hi <= noise * a.hi ? wmlc_dd(0.0) : drop_noise(rest, noise * a.hi);
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
			WmlcDd		rest = add_or_propagate(wmlc_gram_sum(gram, i, j),
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
	WmlcStatus	status = check_dims(gram, other);

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

double
wmlc_gram_figure(const WmlcGram *gram, int i, int j)
{
	double		value = wmlc_dd_value(wmlc_gram_sum(gram, i, j));
	double		scale = sqrt(wmlc_gram_sum(gram, i, i).hi) * sqrt(wmlc_gram_sum(gram, j, j).hi);

	return i != j && isfinite(scale) && fabs(value) < NOISE * scale ? 0.0 : value;
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
wmlc_gram_invalid(const WmlcGram *gram, size_t bytes)
{
	bool		empty;

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
	if (!is_positive_dd(gram->weight) || !is_positive_dd(gram->weight_squares) ||
		!is_positive_dd(gram->q) || !is_positive_dd(gram->h) ||
		!(gram->max_norm_square >= 0.0) || !(gram->max_response >= 0.0))
		return "a sum of squares or weights is not a non-negative double-double number";

	empty = wmlc_gram_weighted_rows(gram) == 0;
	if ((gram->dims == 0) != (gram->rows == 0))
		return "it has rows without features or features without rows";
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

/* The first row of the matrix that copies a constant feature, the response aside. */
static int
transformed_constant(const WmlcGram *gram, const WmlcDd *matrix, int m)
{
	int			p = gram->dims + 1;

	for (int i = 0; i < m - 1; i++)
	{
		int			copied = copied_column(matrix + (size_t) i * p, p);

		if (copied >= 0 && copied < gram->dims && is_constant(gram, copied))
			return i;
	}
	return -1;
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
	result->q = wmlc_dd(NAN);
	result->h = wmlc_dd(NAN);
	result->max_norm_square = INFINITY;
	result->max_response = INFINITY;
	result->constant = transformed_constant(gram, matrix, m);

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
			double		noise = NOISE * size[i] * size[j];
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
		if (variance.hi > NOISE * square.hi)
			row[i] = wmlc_dd_div(row[i], wmlc_dd_sqrt(variance));
		row[c] = wmlc_dd_neg(wmlc_dd_mul(mean, row[i]));
	}
}
