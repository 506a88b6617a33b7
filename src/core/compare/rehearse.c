/*
 * rehearse.c
 *	  Sources that play the target, to see how methods do on tasks that are
 *	  known well.
 */
#include "core/compare/rehearse.h"

#include <lapacke.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/random.h"
#include "core/basis/basis.h"
#include "core/linalg/tolerance.h"

/*
 * What the functions of this file work with, one at a time in the same place.
 */

/* A normal distribution of z = (psi, y). */
typedef struct Normal
{
	int			p;
	int			rank;
	double	   *mean;
	double	   *deviation;
	double	   *factor;			/* of the correlations, p x rank, by columns */
	double	   *scratch;		/* of LAPACK; then the standard normals of a row */
	double	   *z;
	int		   *order;			/* row i of the factor stands for entry order[i] - 1 of z */
} Normal;

static size_t
lay_out_normal(Normal *normal, int p, double *space)
{
	normal->p = p;
	normal->mean = space;
	normal->deviation = normal->mean + p;
	normal->factor = normal->deviation + p;
	normal->scratch = normal->factor + (size_t) p * p;
	normal->z = normal->scratch + 2 * p;
	normal->order = (int *) (normal->z + p + WMLC_ROW_PADDING);
	return (((size_t) p + 5) * p + WMLC_ROW_PADDING) * sizeof(double) + p * sizeof(int);
}

size_t
wmlc_rehearse_workspace(int d)
{
	double		nothing;
	Normal		normal;
	size_t		role_bytes = d * sizeof(double) + wmlc_ensemble_workspace(d);
	size_t		normal_bytes = lay_out_normal(&normal, d + 1, &nothing);

	return wmlc_larger(role_bytes, normal_bytes);
}

/*
 * Roles
 */

static void
set_sum(WmlcGram *gram, int i, int j, WmlcDd value)
{
	size_t		k = wmlc_triangle_index(gram->dims + 1, i, j);

	wmlc_gram_hi(gram)[k] = value.hi;
	wmlc_gram_lo(gram)[k] = value.lo;
}

/* Give the rows behind the gram other responses: w.psi and noise. */
static void
replace_responses(WmlcGram *gram, const double *w, double noise)
{
	int			d = gram->dims;
	WmlcDd		squares = wmlc_dd_mul_d(gram->weight, noise);

	for (int i = 0; i < d; i++)
	{
		WmlcDd		product = {0.0, 0.0};

		for (int k = 0; k < d; k++)
			product = wmlc_dd_add(product, wmlc_dd_mul_d(wmlc_gram_sum(gram, i, k), w[k]));
		set_sum(gram, i, d, product);
		squares = wmlc_dd_add(squares, wmlc_dd_mul_d(product, w[i]));
	}
	set_sum(gram, d, d, squares);
}

WmlcStatus
wmlc_rehearse_role(const WmlcEnsemble *ensemble, const WmlcGram *source, WmlcGram *role,
				   void *work, WmlcPoll poll)
{
	int			d = source->dims;
	double	   *w = (double *) work;
	double		noise;
	WmlcStatus	status = wmlc_ensemble_member(ensemble, source, w, &noise, w + d, poll);

	if (status != WMLC_OK)
		return status;
	memcpy(role, source, wmlc_gram_bytes(d));
	replace_responses(role, w, noise);
	return WMLC_OK;
}

/*
 * Rows
 */

/* Mean, standard deviations and correlations, the latter into the factor. */
static void
read_moments(Normal *normal, const WmlcGram *role)
{
	int			p = normal->p;

	for (int i = 0; i < p; i++)
	{
		WmlcDd		square = wmlc_gram_moment(role, i, i);
		double		mean = role->constant < 0 ? 0.0
			: wmlc_dd_value(wmlc_gram_moment(role, i, role->constant));
		double		variance = wmlc_dd_value(wmlc_dd_sub(square, wmlc_two_prod(mean, mean)));

		normal->mean[i] = mean;
		normal->deviation[i] = variance > WMLC_DEPENDENT_DRAW * WMLC_DEPENDENT_DRAW * square.hi ? sqrt(variance) : 0.0;
	}
	for (int i = 0; i < p; i++)
	{
		for (int j = 0; j < p; j++)
		{
			double		scale = normal->deviation[i] * normal->deviation[j];
			WmlcDd		covariance = wmlc_dd_sub(wmlc_gram_moment(role, i, j),
												 wmlc_two_prod(normal->mean[i], normal->mean[j]));

			normal->factor[(size_t) j * p + i] = scale > 0.0 ? wmlc_dd_value(covariance) / scale : 0.0;
		}
	}
}

static WmlcStatus
create_normal(Normal *normal, const WmlcGram *role)
{
	int			info;

	read_moments(normal, role);
	info = LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'L', normal->p, normal->factor, normal->p,
							   normal->order, &normal->rank, WMLC_DEPENDENT_DRAW, normal->scratch);
	return info < 0 ? WMLC_NOT_FINITE : WMLC_OK;
}

static double
uniform(uint64_t *state)
{
	return wmlc_random_open(wmlc_random_next(state));
}

/* Box and Muller 1958 */
static double
standard_normal(uint64_t *state)
{
	double		radius = sqrt(-2.0 * wmlc_log(uniform(state)));
	double		sine,
				cosine;

	wmlc_sincos_turns(wmlc_dd(uniform(state)), &sine, &cosine);
	return radius * cosine;
}

static void
draw_row(const Normal *normal, uint64_t *state)
{
	int			p = normal->p;
	double	   *standard = normal->scratch;

	for (int k = 0; k < normal->rank; k++)
		standard[k] = standard_normal(state);
	for (int i = 0; i < p; i++)
	{
		int			entry = normal->order[i] - 1;
		double		value = 0.0;

		for (int k = 0; k <= i && k < normal->rank; k++)
			value += normal->factor[(size_t) k * p + i] * standard[k];
		normal->z[entry] = normal->mean[entry] + normal->deviation[entry] * value;
	}
}

#define POLL_ROWS 16

WmlcStatus
wmlc_rehearse_rows(const WmlcGram *role, int64_t rows, uint64_t seed, WmlcGram *result,
				   void *work, WmlcPoll poll)
{
	Normal		normal;
	int			p = role->dims + 1;
	uint64_t	state = seed;
	WmlcStatus	status;

	lay_out_normal(&normal, p, work);
	status = create_normal(&normal, role);
	wmlc_gram_init(result, role->dims);
	memset(normal.z, 0, (p + WMLC_ROW_PADDING) * sizeof(double));
	for (int64_t i = 0; i < rows && status == WMLC_OK; i++)
	{
		if (i % POLL_ROWS == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		draw_row(&normal, &state);
		wmlc_gram_add_row(result, normal.z, 1.0);
	}
	return status;
}
