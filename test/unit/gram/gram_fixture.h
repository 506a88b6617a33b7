/*
 * gram_fixture.h
 *	  Rows for the tests of grams, and grams built from them the way the
 *	  aggregate does it.
 */
#ifndef WML_UNIT_GRAM_FIXTURE_H
#define WML_UNIT_GRAM_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "core/gram/gram.h"

#include "check.h"

/* Rows of (features, response), each with its padding, and their weights. */
typedef struct Rows
{
	int			dims;
	int			count;
	int			stride;
	double	   *z;
	double	   *weights;
} Rows;

static inline Rows
rows_new(int dims, int count)
{
	Rows		rows = {.dims = dims,.count = count,.stride = dims + 1 + WMLC_ROW_PADDING};

	rows.z = calloc((size_t) count * rows.stride, sizeof(double));
	rows.weights = malloc(count * sizeof(double));
	for (int r = 0; r < count; r++)
		rows.weights[r] = 1.0;
	return rows;
}

static inline void
rows_free(Rows *rows)
{
	free(rows->z);
	free(rows->weights);
}

static inline double *
rows_at(const Rows *rows, int r)
{
	return rows->z + (size_t) r * rows->stride;
}

/* A constant, features of several magnitudes, and a response that depends on them. */
static inline Rows
rows_random(int dims, int count, uint64_t *seed)
{
	Rows		rows = rows_new(dims, count);

	for (int r = 0; r < count; r++)
	{
		double	   *z = rows_at(&rows, r);

		z[0] = 1.0;
		z[dims] = check_normal(seed);
		for (int i = 1; i < dims; i++)
		{
			z[i] = (check_normal(seed) + i % 3) * pow(10.0, i % 7 - 3);
			z[dims] += z[i];
		}
	}
	return rows;
}

static inline void
rows_weigh(Rows *rows, uint64_t *seed)
{
	for (int r = 0; r < rows->count; r++)
		rows->weights[r] = check_random(seed) < 0.1 ? 0.0 : 3.0 * check_random(seed);
}

static inline WmlcGram *
gram_new(int dims)
{
	WmlcGram   *gram = malloc(wmlc_gram_bytes(dims));

	wmlc_gram_init(gram, dims);
	return gram;
}

static inline WmlcGram *
gram_copy(const WmlcGram *gram)
{
	size_t		bytes = wmlc_gram_bytes(gram->dims);

	return memcpy(malloc(bytes), gram, bytes);
}

/* Add the rows that wait side by side, as in the aggregate without weights when all are 1. */
static inline void
add_waiting(WmlcGram *gram, Rows *waiting, int pending)
{
	int			p = waiting->dims + 1;
	bool		weighted = false;

	for (int r = 0; r < pending; r++)
		weighted |= waiting->weights[r] != 1.0;
	memset(waiting->z + pending * p, 0, WMLC_ROW_PADDING * sizeof(double));
	if (pending > 0)
		wmlc_gram_add_rows(gram, waiting->z, p, weighted ? waiting->weights : NULL, pending);
}

/* Rows order[from], ..., order[to - 1], `block` of them in one pass over the sums. */
static inline WmlcGram *
gram_of_part(const Rows *rows, const int *order, int from, int to, int block)
{
	WmlcGram   *gram = gram_new(rows->dims);
	Rows		waiting = rows_new(rows->dims, block);
	int			pending = 0;

	for (int k = from; k < to; k++)
	{
		int			r = order != NULL ? order[k] : k;

		if (rows->weights[r] == 0.0)
		{
			wmlc_gram_add_row(gram, rows_at(rows, r), 0.0);
			continue;
		}
		memcpy(waiting.z + pending * (rows->dims + 1), rows_at(rows, r), (rows->dims + 1) * sizeof(double));
		waiting.weights[pending++] = rows->weights[r];
		if (pending == block)
		{
			add_waiting(gram, &waiting, pending);
			pending = 0;
		}
	}
	add_waiting(gram, &waiting, pending);
	rows_free(&waiting);
	return gram;
}

static inline WmlcGram *
gram_of(const Rows *rows)
{
	return gram_of_part(rows, NULL, 0, rows->count, 1);
}

/* A random order of n things. */
static inline void
shuffle(int *order, int n, uint64_t *seed)
{
	for (int k = 0; k < n; k++)
	{
		int			other = (int) (check_random(seed) * (k + 1));

		order[k] = order[other];
		order[other] = k;
	}
}

static inline bool
same_figures(const WmlcGram *a, const WmlcGram *b)
{
	if (!wmlc_gram_equal(a, b) || !wmlc_gram_equal(b, a) || a->constant != b->constant ||
		wmlc_gram_effective_rows(a) != wmlc_gram_effective_rows(b))
		return false;
	for (int i = 0; i <= a->dims; i++)
	{
		for (int j = 0; j <= a->dims; j++)
		{
			if (wmlc_dd_value(wmlc_gram_moment(a, i, j)) != wmlc_dd_value(wmlc_gram_moment(b, j, i)))
				return false;
		}
	}
	return true;
}

static inline bool
valid(const WmlcGram *gram)
{
	return wmlc_gram_invalid(gram, wmlc_gram_bytes(gram->dims)) == NULL;
}

#endif							/* WML_UNIT_GRAM_FIXTURE_H */
