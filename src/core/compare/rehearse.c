/*
 * rehearse.c
 *	  Sources that play the target, to see how methods do on tasks that are
 *	  known well.
 */
#include "core/compare/rehearse.h"

#include <lapacke.h>
#include <string.h>

#include "core/base/random.h"
#include "core/model/adapt.h"
#include "core/basis/basis.h"
#include "core/model/objective.h"

/* A direction with less than this share of a coordinate's variance is rounding. */
#define DEPENDENT 1e-10

/*
 * What the functions of this file work with, one at a time in the same place.
 */

/* Joint training of any number of tasks. */
typedef struct Fit
{
	double	   *array;
	double	   *w;
	void	   *work;
	WmlcObjectiveSum sum;
	int			rank;
} Fit;

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
lay_out_fit(Fit *fit, int d, double *space)
{
	size_t		objective = wmlc_objective_doubles(WMLC_ERM, d);

	fit->array = space;
	fit->w = space + objective;
	fit->work = fit->w + d;
	return (objective + d) * sizeof(double) + wmlc_objective_workspace(WMLC_ERM, d);
}

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
	Fit			fit;
	Normal		normal;
	size_t		fit_bytes = lay_out_fit(&fit, d, &nothing);
	size_t		normal_bytes = lay_out_normal(&normal, d + 1, &nothing);

	return fit_bytes > normal_bytes ? fit_bytes : normal_bytes;
}

/*
 * The ensemble and the roles
 */

static void
begin_fit(Fit *fit, int d, void *work)
{
	lay_out_fit(fit, d, work);
	memset(fit->array, 0, wmlc_objective_doubles(WMLC_ERM, d) * sizeof(double));
	wmlc_objective_attach(&fit->sum, WMLC_ERM, d, fit->array);
}

static WmlcStatus
add_to_fit(Fit *fit, const WmlcGram *gram, WmlcPoll poll)
{
	WmlcObjective joint = {.kind = WMLC_ERM, .scale = WMLC_SCALE_MEAN};

	return wmlc_objective_add(&fit->sum, &joint, gram, 1.0, fit->work, poll);
}

static WmlcStatus
finish_fit(Fit *fit, WmlcPoll poll)
{
	return wmlc_objective_fit(&fit->sum, 0.0, fit->w, &fit->rank, fit->work, poll);
}

/* Least squares on one task, with its sum of squared residuals and their freedom. */
static WmlcStatus
fit_task(Fit *fit, const WmlcGram *gram, void *work, double *squares, double *degrees,
		 WmlcPoll poll)
{
	double		rows = wmlc_gram_effective_rows(gram);
	WmlcStatus	status;

	begin_fit(fit, gram->dims, work);
	status = add_to_fit(fit, gram, poll);
	if (status == WMLC_OK)
		status = finish_fit(fit, poll);
	if (status == WMLC_OK)
		status = wmlc_mse(gram, fit->w, squares);
	if (status != WMLC_OK)
		return status;
	*squares *= rows;
	*degrees = fmax(rows - fit->rank, 0.0);
	return WMLC_OK;
}

WmlcStatus
wmlc_ensemble(WmlcEnsemble *ensemble, int d, size_t count, const WmlcGram *const *sources,
			  void *work, WmlcPoll poll)
{
	Fit			fit;
	double		total = 0.0;
	WmlcStatus	status = WMLC_OK;

	ensemble->degrees = 0.0;
	for (size_t j = 0; j < count && status == WMLC_OK; j++)
	{
		double		squares = 0.0;
		double		degrees = 0.0;

		status = fit_task(&fit, sources[j], work, &squares, &degrees, poll);
		if (degrees > 0.0)
			total += squares;
		ensemble->degrees += degrees;
	}
	ensemble->noise = ensemble->degrees > 0.0 ? total / ensemble->degrees : 0.0;

	begin_fit(&fit, d, work);
	for (size_t j = 0; j < count && status == WMLC_OK; j++)
		status = add_to_fit(&fit, sources[j], poll);
	if (status == WMLC_OK)
		status = finish_fit(&fit, poll);
	if (status == WMLC_OK)
		memcpy(ensemble->coefficients, fit.w, d * sizeof(double));
	return status;
}

WmlcStatus
wmlc_rehearse_truth(const WmlcGram *whole, double *coefficients, void *work, WmlcPoll poll)
{
	Fit			fit;
	double		squares,
				degrees;
	WmlcStatus	status = fit_task(&fit, whole, work, &squares, &degrees, poll);

	if (status == WMLC_OK)
		memcpy(coefficients, fit.w, whole->dims * sizeof(double));
	return status;
}

/* v'A v, A the second moment of the features */
static double
squared_length(const WmlcGram *gram, const double *v)
{
	double		sum = 0.0;

	for (int i = 0; i < gram->dims; i++)
	{
		for (int j = 0; j < gram->dims; j++)
			sum += v[i] * v[j] * wmlc_dd_value(wmlc_gram_moment(gram, i, j));
	}
	return fmax(sum, 0.0);
}

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
	double		rows = wmlc_gram_effective_rows(source);
	Fit			fit;
	double		squares,
				degrees,
				noise,
				distance,
				keep;
	WmlcStatus	status = fit_task(&fit, source, work, &squares, &degrees, poll);

	if (status != WMLC_OK)
		return status;

	/* the ensemble lends as many degrees of freedom as the coefficients took */
	noise = (squares + fit.rank * ensemble->noise) / (degrees + fit.rank);
	for (int i = 0; i < d; i++)
		fit.w[i] -= ensemble->coefficients[i];
	distance = squared_length(source, fit.w);
	keep = distance > 0.0 ? sqrt(fmax(1.0 - fit.rank * noise / rows / distance, 0.0)) : 0.0;
	for (int i = 0; i < d; i++)
		fit.w[i] = ensemble->coefficients[i] + keep * fit.w[i];
	memcpy(role, source, wmlc_gram_bytes(d));
	replace_responses(role, fit.w, noise);
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
		normal->deviation[i] = variance > DEPENDENT * DEPENDENT * square.hi ? sqrt(variance) : 0.0;
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
							   normal->order, &normal->rank, DEPENDENT, normal->scratch);
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

WmlcStatus
wmlc_rehearse_rows(const WmlcGram *role, int64_t rows, uint64_t seed, WmlcGram *result,
				   void *work)
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
		draw_row(&normal, &state);
		wmlc_gram_add_row(result, normal.z, 1.0);
	}
	return status;
}
