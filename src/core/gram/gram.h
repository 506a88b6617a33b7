/*
 * gram.h
 *	  The gram of one task: everything the method needs to know of its rows.
 *
 * A row is z = (psi, y) with psi in R^d and p = d + 1.  The gram holds
 *
 *	  G = sum w z z'			the upper triangle, row by row
 *	  W = sum w, sum w^2		for means and the effective sample size
 *	  q = sum w (|psi|^2 + y^2)^2,	h = sum w y^2 |psi|^2
 *
 * as double-double sums, so that a figure rounded to double does not depend on
 * the order in which rows were added, merged or taken away.
 *
 * The sums are of finite numbers.  What is not finite, or too large to be
 * squared, is left out of them and counted, by column, so that it can be taken
 * away again; while it is there, the figures that it is part of are NaN.
 */
#ifndef WMLC_GRAM_H
#define WMLC_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "core/dd/dd.h"
#include "core/gram/gram_loops.h"
#include "core/base/status.h"

/* A gram of this many features takes 8.4 MB and its model seconds. */
#define WMLC_MAX_DIMS 1024

/* Doubles that hold any row together with its padding. */
#define WMLC_ROW_SIZE (WMLC_MAX_DIMS + 1 + WMLC_ROW_PADDING)

typedef struct WmlcGram
{
	int32_t		dims;			/* d; 0 while no row has been counted */
	int32_t		constant;		/* the first feature that is 1 in every row, or -1 */
	int64_t		rows;			/* rows counted */
	int64_t		skipped;		/* rows left out because something was NULL */
	int64_t		weightless;		/* rows counted whose weight was zero */
	int64_t		exceptions;		/* rows that have no finite part in q and h */
	int64_t		weight_exponent;	/* weight_squares counts in units of 4^this: see gram_internal.h */
	WmlcDd		weight;
	WmlcDd		weight_squares;
	WmlcDd		q;				/* NaN when a change of basis lost it */
	WmlcDd		h;				/* likewise */

	/*
	 * Upper bounds of |psi|^2 and |y| over the rows, exact until rows are
	 * taken away, infinite when a change of basis lost them.
	 */
	double		max_norm_square;
	double		max_response;
	double		sums[];			/* hi of the triangle, then lo, then the counts below */
} WmlcGram;

static inline size_t
wmlc_gram_entries(int dims)
{
	return dims == 0 ? 0 : wmlc_triangle_size(dims + 1);
}

/* How many counts a gram has behind its sums. */
static inline size_t
wmlc_gram_counts(int dims)
{
	return dims == 0 ? 0 : 2 * (size_t) dims + 2;
}

static inline size_t
wmlc_gram_bytes(int dims)
{
	return sizeof(WmlcGram) + wmlc_gram_entries(dims) * 2 * sizeof(double) +
		wmlc_gram_counts(dims) * sizeof(int64_t);
}

/*
 * For each feature the number of rows with weight in which it is not 1.  Any
 * negative number means that this is not known, but that the feature is not
 * constant as far as anybody knows: after a change of basis, or in a gram from
 * the first version of the format.
 */
#define WMLC_UNKNOWN_COUNT (INT64_MIN / 2)

static inline int64_t *
wmlc_gram_not_one(const WmlcGram *gram)
{
	return (int64_t *) (gram->sums + 2 * wmlc_gram_entries(gram->dims));
}

/*
 * For each of the p entries of z the number of rows with weight in which it is
 * not finite or too large to be squared; last, the number of rows whose weight
 * is not finite.
 */
static inline int64_t *
wmlc_gram_bad(const WmlcGram *gram)
{
	return wmlc_gram_not_one(gram) + gram->dims;
}

static inline double *
wmlc_gram_hi(WmlcGram *gram)
{
	return gram->sums;
}

static inline double *
wmlc_gram_lo(WmlcGram *gram)
{
	return gram->sums + wmlc_gram_entries(gram->dims);
}

/* Entry (i, j) of G, in either order. */
static inline WmlcDd
wmlc_gram_sum(const WmlcGram *gram, int i, int j)
{
	size_t		k = i <= j ? wmlc_triangle_index(gram->dims + 1, i, j)
		: wmlc_triangle_index(gram->dims + 1, j, i);

	return (WmlcDd) {gram->sums[k], gram->sums[wmlc_gram_entries(gram->dims) + k]};
}

/* Rows that carry weight. */
static inline int64_t
wmlc_gram_weighted_rows(const WmlcGram *gram)
{
	return gram->rows - gram->weightless;
}

/* The first feature that is 1 in every row, from feature i on, or -1. */
static inline int
wmlc_gram_next_constant(const WmlcGram *gram, int i)
{
	const int64_t *not_one = wmlc_gram_not_one(gram);

	for (; i < gram->dims; i++)
	{
		if (not_one[i] == 0)
			return i;
	}
	return -1;
}

/* The same from scratch: without rows, no feature is 1 in them. */
static inline int
wmlc_gram_find_constant(const WmlcGram *gram)
{
	return wmlc_gram_weighted_rows(gram) == 0 ? -1 : wmlc_gram_next_constant(gram, 0);
}

extern void wmlc_gram_init(WmlcGram *gram, int dims);

/* The same for what is before the sums, which may hold anything until wmlc_gram_forget_rows. */
extern void wmlc_gram_init_head(WmlcGram *gram, int dims);

/* The counts of rows stay and nothing else: those that have weight are gone. */
extern void wmlc_gram_forget_rows(WmlcGram *gram);

/*
 * Add rows z = (psi, y) that lie `stride` apart.  None of their weights is 0, and
 * no weights at all means that all are 1.  WMLC_ROW_PADDING zeros follow the last
 * row, of which there are at most WMLC_LOOP_ROWS.
 */
extern WmlcStatus wmlc_gram_add_rows(WmlcGram *gram, const double *rows, int stride,
									 const double *weights, int count);

/* Add one row, followed by WMLC_ROW_PADDING zeros; its weight may be 0. */
extern WmlcStatus wmlc_gram_add_row(WmlcGram *gram, const double *z, double weight);

/*
 * What a moving window remembers beside its gram: the largest values that its
 * sums have had, for a sum that was much larger has lost digits.
 */
typedef struct WmlcGramWatch
{
	int64_t		changes;		/* rows with weight that came or went */
	double		weight;
	double		weight_squares;
	int64_t		weight_exponent;	/* as in the gram */
	double		q;
	double		h;
	double		diagonal[];		/* p of them */
} WmlcGramWatch;

static inline size_t
wmlc_gram_watch_bytes(int dims)
{
	return sizeof(WmlcGramWatch) + (dims + 1) * sizeof(double);
}

/* Start to watch a gram; take note of a row that has just been added to it. */
extern void wmlc_gram_watch(WmlcGramWatch *watch, const WmlcGram *gram);
extern void wmlc_gram_watch_row(WmlcGramWatch *watch, const WmlcGram *gram, double weight);

/*
 * Take one row away again.  False when that cannot be done without a residue:
 * a sum has overflowed, or what remains is so much smaller than it was that its
 * digits are gone.  The gram is then spoilt and must be built anew.
 */
extern bool wmlc_gram_retract(WmlcGram *gram, const double *z, double weight,
							  WmlcGramWatch *watch);

/*
 * Remove the noise that rows which have left may have left behind.  This is
 * for a copy that is to be read: the gram itself goes on with all its bits.
 */
extern void wmlc_gram_settle(WmlcGram *gram, const WmlcGramWatch *watch);

/*
 * gram += other or gram -= other, which has the same dims or 0.  A gram that no
 * row is left in has dims 0.
 */
extern WmlcStatus wmlc_gram_merge(WmlcGram *gram, const WmlcGram *other);
extern WmlcStatus wmlc_gram_subtract(WmlcGram *gram, const WmlcGram *other);

/*
 * Multiply the weights of all rows by a finite number that is not negative.  By
 * zero, no row has weight.
 */
extern WmlcStatus wmlc_gram_scale(WmlcGram *gram, double factor);

/*
 * Below 0, 0 or above 0: a total order in which grams are equal when every
 * figure, rounded to double, is the same.  NaN comes last and equals NaN.
 */
extern int	wmlc_gram_compare(const WmlcGram *a, const WmlcGram *b);

static inline bool
wmlc_gram_equal(const WmlcGram *a, const WmlcGram *b)
{
	return wmlc_gram_compare(a, b) == 0;
}

/*
 * A lot that a gram draws by its figures: equal grams have the same, and in the
 * order of their lots grams stand as if they were shuffled, however they came.
 */
extern uint64_t wmlc_gram_lot(const WmlcGram *gram);

/* Numbers that equal grams have in common to the last bit. */
#define WMLC_GRAM_KEY_HEAD 11
extern void wmlc_gram_key(const WmlcGram *gram, double *key);

static inline size_t
wmlc_gram_key_size(int dims)
{
	return WMLC_GRAM_KEY_HEAD + wmlc_gram_entries(dims);
}

/* Entry (i, j) of G rounded to double; noise of cancelled sums is zero. */
extern double wmlc_gram_figure(const WmlcGram *gram, int i, int j);

/* Entry (i, j) of M = G / W. */
extern WmlcDd wmlc_gram_moment(const WmlcGram *gram, int i, int j);

/* W, q and h: NaN where a row has no finite part in them. */
extern WmlcDd wmlc_gram_weight(const WmlcGram *gram);
extern WmlcDd wmlc_gram_q(const WmlcGram *gram);
extern WmlcDd wmlc_gram_h(const WmlcGram *gram);

/* True when all of G and W are finite, and what the fields say is what there is. */
extern bool wmlc_gram_is_finite(const WmlcGram *gram);

/* (sum w)^2 / sum w^2 */
extern double wmlc_gram_effective_rows(const WmlcGram *gram);

/*
 * Grams of the first version of the format.  The number of features of a gram
 * in these bytes, or -1 when they hold none; its fields and sums in `result`,
 * which has as many; and, for a gram that came in any such form, what only its
 * `constant` and its sums tell about the counts: NULL, or why it is no gram.
 */
extern int	wmlc_gram_dims_version_1(const void *bytes, size_t length);
extern void wmlc_gram_from_version_1(const void *bytes, WmlcGram *result);
extern const char *wmlc_gram_upgrade(WmlcGram *gram);

/*
 * Why these bytes are no gram, or NULL when they are one.  The first looks at
 * what serves as an index, a size or a count, which is quickly done; the second
 * at all sums, too.
 */
extern const char *wmlc_gram_head_invalid(const WmlcGram *gram, size_t bytes);
extern const char *wmlc_gram_invalid(const WmlcGram *gram, size_t bytes);

/*
 * The gram of the rows T z, T an m x p matrix given by rows; `result` has
 * dims m - 1.
 */
static inline size_t
wmlc_gram_transform_workspace(int dims, int m)
{
	return (size_t) m * ((dims + 1) * sizeof(WmlcDd) + sizeof(double));
}
extern WmlcStatus wmlc_gram_transform(const WmlcGram *gram, const WmlcDd *matrix, int m,
									  WmlcGram *result, void *work, WmlcPoll poll);

/*
 * The p x p matrix that gives z mean 0 and variance 1 over the rows of the
 * reference, whose constant feature it leaves alone.  The reference must have
 * one.
 */
extern void wmlc_gram_standardizer(const WmlcGram *reference, WmlcDd *matrix);

#endif							/* WMLC_GRAM_H */
