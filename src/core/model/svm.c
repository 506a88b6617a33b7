/*
 * svm.c
 *	  Linear support vector machines by dual coordinate descent; see svm.h.
 */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/base/random.h"
#include "core/model/svm.h"

/* Numbers read between two looks at the poll: about a millisecond. */
#define POLL_NUMBERS 1000000

/* Below this share of its cost, an a_i stands for zero. */
#define SUPPORT 1e-6

size_t
wmlc_svm_workspace(size_t rows, int dims)
{
	return (dims + 2 * rows) * sizeof(double) + rows * sizeof(size_t);
}

static double
dot(const double *a, const double *b, int n)
{
	return cblas_ddot(n, a, 1, b, 1);
}

static inline const double *
row_of(const WmlcSvm *svm, size_t i)
{
	return svm->x + i * svm->dims;
}

static void
add_row(WmlcSvm *svm, size_t i, double factor)
{
	cblas_daxpy(svm->dims, factor, row_of(svm, i), 1, svm->w, 1);
}

WmlcStatus
wmlc_svm_start(WmlcSvm *svm, const double *x, const double *y, const double *cost, size_t rows,
			   int dims, uint64_t seed, void *work)
{
	svm->x = x;
	svm->y = y;
	svm->cost = cost;
	svm->rows = rows;
	svm->dims = dims;
	svm->w = work;
	svm->dual = svm->w + dims;
	svm->square = svm->dual + rows;
	svm->order = (size_t *) (svm->square + rows);
	svm->random = seed;
	memset(svm->w, 0, dims * sizeof(double));
	for (size_t i = 0; i < rows; i++)
	{
		svm->square[i] = dot(row_of(svm, i), row_of(svm, i), dims);
		if (!isfinite(svm->square[i]) || !isfinite(cost[i]))
			return WMLC_NOT_FINITE;
		svm->order[i] = i;

		/* no w changes the loss of a row of zeros: its best a is known */
		svm->dual[i] = svm->square[i] > 0.0 ? 0.0 : cost[i];
	}
	return WMLC_OK;
}

/* A number below n (Steele, Lea and Flood, "Fast splittable generators", 2014). */
static size_t
random_below(WmlcSvm *svm, size_t n)
{
	return (size_t) (wmlc_random_next(&svm->random) % n);
}

/* The best a_i while all others stay. */
static void
improve(WmlcSvm *svm, size_t i)
{
	double		old = svm->dual[i];
	double		slope = svm->y[i] * dot(svm->w, row_of(svm, i), svm->dims) - 1.0;
	double		best = fmin(fmax(old - slope / svm->square[i], 0.0), svm->cost[i]);

	if (best == old)
		return;
	svm->dual[i] = best;
	add_row(svm, i, (best - old) * svm->y[i]);
}

static inline size_t
rows_between_polls(const WmlcSvm *svm)
{
	return POLL_NUMBERS / svm->dims + 1;
}

WmlcStatus
wmlc_svm_pass(WmlcSvm *svm, WmlcPoll poll)
{
	size_t		patience = rows_between_polls(svm);

	for (size_t k = 0; k < svm->rows; k++)
	{
		size_t		other = k + random_below(svm, svm->rows - k);
		size_t		i = svm->order[other];

		svm->order[other] = svm->order[k];
		svm->order[k] = i;
		if (svm->square[i] > 0.0 && svm->cost[i] > 0.0)
			improve(svm, i);
		if (k % patience == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* P(w) */
static WmlcStatus
find_objective(const WmlcSvm *svm, const double *w, double *objective, WmlcPoll poll)
{
	size_t		patience = rows_between_polls(svm);

	*objective = dot(w, w, svm->dims) / 2.0;
	for (size_t i = 0; i < svm->rows; i++)
	{
		*objective += svm->cost[i] * fmax(0.0, 1.0 - svm->y[i] * dot(w, row_of(svm, i), svm->dims));
		if (i % patience == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	return isfinite(*objective) ? WMLC_OK : WMLC_NOT_FINITE;
}

WmlcStatus
wmlc_svm_certify(WmlcSvm *svm, const double *candidate, WmlcPoll poll)
{
	size_t		patience = rows_between_polls(svm);
	double		dual = 0.0;
	double		other;
	WmlcStatus	status;

	memset(svm->w, 0, svm->dims * sizeof(double));
	svm->support = 0;
	for (size_t i = 0; i < svm->rows; i++)
	{
		dual += svm->dual[i];
		svm->support += svm->dual[i] > SUPPORT * svm->cost[i];
		if (svm->dual[i] > 0.0)
			add_row(svm, i, svm->dual[i] * svm->y[i]);
		if (i % patience == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
	}
	dual -= dot(svm->w, svm->w, svm->dims) / 2.0;
	status = find_objective(svm, svm->w, &svm->objective, poll);
	if (status == WMLC_OK && candidate != NULL)
	{
		status = find_objective(svm, candidate, &other, poll);
		if (status == WMLC_OK && other < svm->objective)
		{
			svm->objective = other;
			memcpy(svm->w, candidate, svm->dims * sizeof(double));
		}
	}
	svm->gap = fmax(0.0, svm->objective - dual);
	return status;
}
