/*
 * hinge.c
 *	  Linear classifiers under the hinge loss, from grams alone; see hinge.h.
 */
#include "core/model/hinge.h"

/* Vectors scaled to length 1 exceed it by less than this. */
#define ROUNDING 1e-9

/* Steps between two looks at the poll. */
#define POLL_STEPS 1000

/* |x|, without overflow on the way */
static double
length_of(const double *x, int dims)
{
	double		largest = 0.0;
	double		sum = 0.0;

	for (int i = 0; i < dims; i++)
		largest = fmax(largest, fabs(x[i]));
	if (largest == 0.0 || !isfinite(largest))
		return largest;
	for (int i = 0; i < dims; i++)
		sum += (x[i] / largest) * (x[i] / largest);
	return largest * sqrt(sum);
}

static void
project(double *w, int dims, double radius)
{
	double		length = length_of(w, dims);

	if (length <= radius)
		return;
	for (int i = 0; i < dims; i++)
		w[i] = w[i] / length * radius;
}

void
wmlc_unit(const double *x, int dims, double radius, double *result)
{
	double		length = length_of(x, dims);

	for (int i = 0; i < dims; i++)
		result[i] = x[i] / fmax(radius, length);
}

bool
wmlc_hinge_is_linear(const WmlcGram *gram, double radius)
{
	double		norm = sqrt(gram->max_norm_square);

	return norm <= 1.0 + ROUNDING && gram->max_response <= 1.0 + ROUNDING &&
		radius * norm * gram->max_response <= 1.0 + ROUNDING;
}

/* Entry i of the sums: sum alpha at 0, then sum alpha b. */
static inline WmlcDd
get_sum(const double *sums, int dims, int i)
{
	return (WmlcDd) {sums[i], sums[dims + 1 + i]};
}

static inline void
add_to_sum(double *sums, int dims, int i, WmlcDd value)
{
	WmlcDd		sum = wmlc_dd_add(get_sum(sums, dims, i), value);

	sums[i] = sum.hi;
	sums[dims + 1 + i] = sum.lo;
}

void
wmlc_hinge_add(double *sums, const WmlcGram *gram, double alpha)
{
	int			d = gram->dims;

	if (alpha == 0.0)
		return;
	add_to_sum(sums, d, 0, wmlc_dd(alpha));
	for (int i = 0; i < d; i++)
		add_to_sum(sums, d, i + 1, wmlc_dd_mul_d(wmlc_gram_moment(gram, i, d), alpha));
}

void
wmlc_hinge_merge(double *sums, const double *other, int dims)
{
	for (int i = 0; i <= dims; i++)
		add_to_sum(sums, dims, i, get_sum(other, dims, i));
}

/* b_alpha */
static void
mean_direction(const double *sums, int dims, double *b)
{
	WmlcDd		alpha = get_sum(sums, dims, 0);

	for (int i = 0; i < dims; i++)
		b[i] = wmlc_dd_value(wmlc_dd_div(get_sum(sums, dims, i + 1), alpha));
}

void
wmlc_hinge_erm(const double *sums, int dims, double radius, double *w)
{
	double		length;

	mean_direction(sums, dims, w);
	length = length_of(w, dims);
	for (int i = 0; i < dims; i++)
		w[i] = length > 0.0 ? w[i] / length * radius : 0.0;
}

void
wmlc_hinge_maml(const double *sums, int dims, double length, double radius, double *w)
{
	mean_direction(sums, dims, w);
	for (int i = 0; i < dims; i++)
		w[i] *= length;
	project(w, dims, radius);
}

WmlcStatus
wmlc_hinge_adapt(double *w, const WmlcGram *gram, double eta, int steps, double radius,
				 WmlcPoll poll)
{
	int			d = gram->dims;

	project(w, d, radius);
	for (int step = 0; step < steps; step++)
	{
		if (step % POLL_STEPS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		for (int i = 0; i < d; i++)
			w[i] += eta * wmlc_dd_value(wmlc_gram_moment(gram, i, d));
		project(w, d, radius);
	}
	return WMLC_OK;
}
