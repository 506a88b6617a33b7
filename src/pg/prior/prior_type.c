/*
 * prior_type.c
 *	  Text and binary form of wml_prior, and its accessors.
 */
#include "postgres.h"

#include <math.h>

#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "core/gram/gram.h"
#include "core/linalg/definite.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/prior/prior.h"
#include "pg/base/srf.h"
#include "pg/base/text.h"

/* What is left of a variance below this share is rounding. */
#define NO_VARIANCE 1e-13

PG_FUNCTION_INFO_V1(wml_prior_in);
PG_FUNCTION_INFO_V1(wml_prior_out);
PG_FUNCTION_INFO_V1(wml_prior_send);
PG_FUNCTION_INFO_V1(wml_prior_recv);
PG_FUNCTION_INFO_V1(wml_prior_mean);
PG_FUNCTION_INFO_V1(wml_prior_covariance);
PG_FUNCTION_INFO_V1(wml_prior_mean_error);
PG_FUNCTION_INFO_V1(wml_prior_noise);
PG_FUNCTION_INFO_V1(wml_prior_info);

static const char *const family_names[WMLC_FAMILIES] = {
	[WMLC_GAUSSIAN] = "gaussian",
	[WMLC_BINOMIAL] = "binomial",
	[WMLC_POISSON] = "poisson",
	[WMLC_NEGATIVE_BINOMIAL] = "negative_binomial"
};

/* Mean, factor, factor of the covariance of the mean. */
static Size
prior_numbers(int dims, int descriptors)
{
	Size		d = dims;
	Size		means = d * descriptors;

	return means + d * d + means * means;
}

static Size
prior_size(int dims, int descriptors)
{
	return offsetof(WmlPrior, numbers) + prior_numbers(dims, descriptors) * sizeof(double);
}

WmlPrior *
wml_prior_create(int dims, int descriptors)
{
	Size		size = prior_size(dims, descriptors);
	WmlPrior   *prior = (WmlPrior *) palloc0(size);

	SET_VARSIZE(prior, size);
	prior->version = WML_PRIOR_VERSION;
	prior->dims = dims;
	prior->descriptors = (uint16) descriptors;
	return prior;
}

WmlcPrior
wml_prior_view(WmlPrior *prior)
{
	Size		square = (Size) prior->dims * prior->dims;
	Size		means = (Size) prior->dims * prior->descriptors;

	return (WmlcPrior) {
		.dims = prior->dims,
		.mean = prior->numbers,
		.factor = prior->numbers + means,
		.mean_factor = prior->numbers + means + square,
		.noise = prior->noise,
		.noise_shape = prior->noise_shape,
		.noise_power = prior->noise_power,
		.noise_limit = prior->noise_limit,
		.spread_degrees = prior->spread_degrees,
		.dispersion = prior->dispersion,
		.smooth_sd = prior->smooth_sd,
		.smooth_degrees = prior->smooth_degrees,
		.restricted = (prior->flags & WML_PRIOR_REML) != 0,
		.evenness = prior->evenness,
		.unevenness = prior->unevenness,
		.family = (WmlcFamily) prior->family,
		.descriptors = prior->descriptors,
		.parameters = prior->parameters,
		.tasks = prior->tasks,
		.effective_tasks = prior->effective_tasks,
		.rows = prior->rows,
		.noise_degrees = prior->noise_degrees,
		.loglik = prior->loglik,
		.iterations = prior->iterations,
		.rank = prior->rank,
		.design_rank = prior->design_rank,
		.converged = (prior->flags & WML_PRIOR_CONVERGED) != 0,
		.singular = (prior->flags & WML_PRIOR_SINGULAR) != 0,
		.saturated = (prior->flags & WML_PRIOR_SATURATED) != 0
	};
}

void
wml_prior_fill(WmlPrior *prior, const WmlcPrior *fitted, int flags)
{
	prior->flags = flags | (fitted->converged ? WML_PRIOR_CONVERGED : 0) |
		(fitted->singular ? WML_PRIOR_SINGULAR : 0) |
		(fitted->saturated ? WML_PRIOR_SATURATED : 0);
	prior->rank = fitted->rank;
	prior->iterations = fitted->iterations;
	prior->design_rank = fitted->design_rank;
	prior->family = (uint16) fitted->family;
	prior->noise = fitted->noise;
	prior->noise_shape = fitted->noise_shape;
	prior->noise_power = fitted->noise_power;
	prior->noise_limit = fitted->noise_limit;
	prior->spread_degrees = fitted->spread_degrees;
	prior->dispersion = fitted->dispersion;
	prior->smooth_sd = fitted->smooth_sd;
	prior->smooth_degrees = fitted->smooth_degrees;
	prior->evenness = fitted->evenness;
	prior->unevenness = fitted->unevenness;
	prior->parameters = fitted->parameters;
	prior->tasks = fitted->tasks;
	prior->effective_tasks = fitted->effective_tasks;
	prior->rows = fitted->rows;
	prior->noise_degrees = fitted->noise_degrees;
	prior->loglik = fitted->loglik;
}

/* Are features and descriptors of a number that a prior may have? */
static bool
valid_dims(int64 dims, int64 descriptors)
{
	return dims >= 1 && dims <= WMLC_MAX_DIMS && descriptors >= 1 &&
		descriptors <= WMLC_MAX_DIMS && dims * descriptors <= WMLC_MAX_DIMS;
}

/*
 * Versions 1 and 2 had the covariance of the mean, which is turned into its factor here.  Why that cannot
 * be, or NULL.
 */
static const char *
factor_old_covariance(WmlPrior *prior)
{
	int			means = prior->dims * prior->descriptors;
	double	   *matrix = wml_prior_view(prior).mean_factor;

	if (prior->version >= 3)
		return NULL;
	prior->version = WML_PRIOR_VERSION;
	for (Size j = 0; j < (Size) means; j++)
	{
		if (!(matrix[j * means + j] >= 0.0))
			return "a variance or a count is out of range";
		for (Size i = 0; i < j; i++)
		{
			if (!(matrix[j * means + i] == matrix[i * means + j]))
				return "the covariance of its mean is not symmetric";
		}
	}
	wml_check(wmlc_semidefinite_factor(means, matrix, means, NO_VARIANCE, wml_poll));
	/* by rows so far */
	for (Size i = 0; i < (Size) means; i++)
	{
		for (Size j = 0; j < i; j++)
		{
			matrix[j * means + i] = matrix[i * means + j];
			matrix[i * means + j] = 0.0;
			if (!isfinite(matrix[j * means + i]))
				return "it contains NaN or infinity";
		}
	}
	return NULL;
}

/* A stored prior of an old version, whose header is so long, in today's form; NULL if it is none. */
static WmlPrior *
upgrade_prior(const WmlPrior *old, Size header)
{
	int			descriptors = old->version == 1 ? 1 : old->descriptors;
	WmlPrior   *prior;
	Size		bytes;

	if (VARSIZE(old) < header || !valid_dims(old->dims, descriptors))
		return NULL;
	bytes = prior_numbers(old->dims, descriptors) * sizeof(double);
	if (VARSIZE(old) != header + bytes)
		return NULL;
	prior = wml_prior_create(old->dims, descriptors);
	prior->flags = old->flags;
	prior->rank = old->rank;
	prior->iterations = old->iterations;
	if (old->version > 1)
		prior->family = old->family;
	memcpy(&prior->noise, &old->noise, header - offsetof(WmlPrior, noise));
	memcpy(prior->numbers, (const char *) old + header, bytes);
	prior->version = old->version;
	return factor_old_covariance(prior) == NULL ? prior : NULL;
}

WmlPrior *
wml_prior_from_datum(Datum datum)
{
	WmlPrior   *prior = (WmlPrior *) PG_DETOAST_DATUM(datum);

	if (VARSIZE(prior) >= WML_PRIOR_V1_HEADER && prior->version == 1)
		prior = upgrade_prior(prior, WML_PRIOR_V1_HEADER);
	else if (VARSIZE(prior) >= WML_PRIOR_V1_HEADER && prior->version == 2)
		prior = upgrade_prior(prior, WML_PRIOR_V2_HEADER);
	if (prior == NULL || VARSIZE(prior) < offsetof(WmlPrior, numbers) ||
		prior->version != WML_PRIOR_VERSION || !valid_dims(prior->dims, prior->descriptors) ||
		prior->family >= WMLC_FAMILIES ||
		VARSIZE(prior) != prior_size(prior->dims, prior->descriptors))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored prior has an unknown version or a wrong length")));
	return prior;
}

/* Why this is no prior, or NULL when it is one; nothing in it is trusted. */
static const char *
prior_invalid(WmlPrior *prior)
{
	WmlcPrior	view = wml_prior_view(prior);

	if ((prior->flags & ~WML_PRIOR_ALL_FLAGS) != 0 || prior->reserved != 0)
		return "it has unknown flags";
	return wmlc_prior_problem(&view);
}

/* The lower triangle of a matrix stored by columns, row by row. */
static void
append_triangle(StringInfo out, const char *name, const double *matrix, int d)
{
	appendStringInfo(out, " %s=[", name);
	for (int i = 0; i < d; i++)
	{
		for (int j = 0; j <= i; j++)
		{
			if (i > 0)
				appendStringInfoString(out, j == 0 ? "; " : " ");
			wml_append_double(out, matrix[j * d + i]);
		}
	}
	appendStringInfoChar(out, ']');
}

Datum
wml_prior_out(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = PG_GETARG_PRIOR(0);
	WmlcPrior	view = wml_prior_view(prior);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "{v=%d d=%d descriptors=%d family=%s flags=%d rank=%d iterations=%d",
					 WML_PRIOR_VERSION, prior->dims, prior->descriptors,
					 family_names[prior->family], prior->flags, prior->rank, prior->iterations);
	wml_append_number(&out, "noise", view.noise);
	wml_append_number(&out, "tasks", view.tasks);
	wml_append_number(&out, "effective", view.effective_tasks);
	wml_append_number(&out, "rows", view.rows);
	wml_append_number(&out, "degrees", view.noise_degrees);
	wml_append_number(&out, "loglik", view.loglik);
	wml_append_number(&out, "parameters", view.parameters);
	wml_append_number(&out, "shape", view.noise_shape);
	wml_append_number(&out, "power", view.noise_power);
	wml_append_number(&out, "limit", view.noise_limit);
	wml_append_number(&out, "spread", view.spread_degrees);
	wml_append_number(&out, "dispersion", view.dispersion);
	wml_append_number(&out, "smooth", view.smooth_sd);
	wml_append_number(&out, "smooth_degrees", view.smooth_degrees);
	appendStringInfo(&out, " design_rank=%d", prior->design_rank);
	wml_append_number(&out, "evenness", view.evenness);
	wml_append_number(&out, "unevenness", view.unevenness);
	appendStringInfoString(&out, " mean=[");
	wml_append_doubles(&out, view.mean, view.dims * view.descriptors);
	appendStringInfoChar(&out, ']');
	append_triangle(&out, "factor", view.factor, view.dims);
	append_triangle(&out, "mean_factor", view.mean_factor, view.dims * view.descriptors);
	appendStringInfoChar(&out, '}');
	PG_RETURN_CSTRING(out.data);
}

/* The entry at row i and column j, and its mirror image when symmetric. */
static bool
scan_triangle(const char **at, const char *name, double *matrix, int d, bool symmetric)
{
	if (!wml_scan_word(at, name))
		return false;
	for (int i = 0; i < d; i++)
	{
		for (int j = 0; j <= i; j++)
		{
			(void) wml_scan_word(at, ";");
			wml_scan_space(at);
			if (!wml_scan_double(at, &matrix[j * d + i]))
				return false;
			if (symmetric)
				matrix[i * d + j] = matrix[j * d + i];
		}
	}
	return wml_scan_word(at, "]");
}

/* What versions 2 and 3 added. */
static bool
scan_new_numbers(const char **at, int64 version, WmlPrior *prior)
{
	int64		design_rank;

	if (!wml_scan_number(at, "parameters=", &prior->parameters) ||
		!wml_scan_number(at, "shape=", &prior->noise_shape) ||
		!wml_scan_number(at, "power=", &prior->noise_power) ||
		!wml_scan_number(at, "limit=", &prior->noise_limit) ||
		!wml_scan_number(at, "spread=", &prior->spread_degrees) ||
		!wml_scan_number(at, "dispersion=", &prior->dispersion) ||
		!wml_scan_number(at, "smooth=", &prior->smooth_sd) ||
		!wml_scan_number(at, "smooth_degrees=", &prior->smooth_degrees) ||
		!wml_scan_count(at, "design_rank=", &design_rank) || design_rank > WMLC_MAX_DIMS)
		return false;
	prior->design_rank = (int32) design_rank;
	return version < 3 || (wml_scan_number(at, "evenness=", &prior->evenness) &&
						   wml_scan_number(at, "unevenness=", &prior->unevenness));
}

static bool
scan_arrays(const char **at, WmlPrior *prior)
{
	WmlcPrior	view = wml_prior_view(prior);
	int			means = prior->dims * prior->descriptors;

	return wml_scan_word(at, "mean=[") && wml_scan_doubles(at, view.mean, means) && wml_scan_word(at, "]") &&
		scan_triangle(at, "factor=[", view.factor, prior->dims, false) &&
		(prior->version < 3 ? scan_triangle(at, "mean_covariance=[", view.mean_factor, means, true)
		 : scan_triangle(at, "mean_factor=[", view.mean_factor, means, false)) && wml_scan_end(at);
}

/* All of the text but its head, which told the dims. */
static bool
scan_body(const char **at, WmlPrior *prior, int64 version)
{
	int64		flags,
				rank,
				iterations;

	if (!wml_scan_count(at, "flags=", &flags) || flags > WML_PRIOR_ALL_FLAGS ||
		!wml_scan_count(at, "rank=", &rank) || rank > prior->dims ||
		!wml_scan_count(at, "iterations=", &iterations) || iterations > PG_INT32_MAX ||
		!wml_scan_number(at, "noise=", &prior->noise) ||
		!wml_scan_number(at, "tasks=", &prior->tasks) ||
		!wml_scan_number(at, "effective=", &prior->effective_tasks) ||
		!wml_scan_number(at, "rows=", &prior->rows) ||
		!wml_scan_number(at, "degrees=", &prior->noise_degrees) ||
		!wml_scan_number(at, "loglik=", &prior->loglik) ||
		(version > 1 && !scan_new_numbers(at, version, prior)))
		return false;
	prior->flags = (uint16) flags;
	prior->rank = (int32) rank;
	prior->iterations = (int32) iterations;
	return scan_arrays(at, prior);
}

static bool
scan_family(const char **at, int *family)
{
	if (!wml_scan_word(at, "family="))
		return false;
	/* None of the names begins with another. */
	for (*family = 0; *family < WMLC_FAMILIES; (*family)++)
	{
		if (wml_scan_word(at, family_names[*family]))
			return true;
	}
	return false;
}

/* A prior from its text, or NULL. */
static WmlPrior *
scan_prior(const char *at)
{
	int64		version,
				dims,
				descriptors = 1;
	int			family = WMLC_GAUSSIAN;
	WmlPrior   *prior;

	if (!wml_scan_word(&at, "{") || !wml_scan_count(&at, "v=", &version) ||
		version < 1 || version > WML_PRIOR_VERSION || !wml_scan_count(&at, "d=", &dims))
		return NULL;
	if (version > 1 &&
		(!wml_scan_count(&at, "descriptors=", &descriptors) || !scan_family(&at, &family)))
		return NULL;
	if (!valid_dims(dims, descriptors))
		return NULL;
	prior = wml_prior_create((int) dims, (int) descriptors);
	prior->version = (uint16) version;
	prior->family = (uint16) family;
	return scan_body(&at, prior, version) ? prior : NULL;
}

Datum
wml_prior_in(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = scan_prior(PG_GETARG_CSTRING(0));
	const char *problem;

	if (prior == NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid input syntax for type %s", "wml_prior"),
						 errhint("Use the function wml_prior to make priors; their text form begins with {v=%d d=.",
								 WML_PRIOR_VERSION)));
	problem = factor_old_covariance(prior);
	if (problem == NULL)
		problem = prior_invalid(prior);
	if (problem != NULL)
		wml_input_error(fcinfo,
						(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
						 errmsg("invalid value for type %s", "wml_prior"),
						 errdetail("The prior is not valid: %s.", problem)));
	PG_RETURN_POINTER(prior);
}

Datum
wml_prior_send(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = PG_GETARG_PRIOR(0);
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendint16(&buffer, WML_PRIOR_VERSION);
	pq_sendint16(&buffer, prior->flags);
	pq_sendint32(&buffer, prior->dims);
	pq_sendint32(&buffer, prior->rank);
	pq_sendint32(&buffer, prior->iterations);
	pq_sendint16(&buffer, prior->family);
	pq_sendint16(&buffer, prior->descriptors);
	pq_sendfloat8(&buffer, prior->noise);
	pq_sendfloat8(&buffer, prior->tasks);
	pq_sendfloat8(&buffer, prior->effective_tasks);
	pq_sendfloat8(&buffer, prior->rows);
	pq_sendfloat8(&buffer, prior->noise_degrees);
	pq_sendfloat8(&buffer, prior->loglik);
	pq_sendfloat8(&buffer, prior->parameters);
	pq_sendfloat8(&buffer, prior->noise_shape);
	pq_sendfloat8(&buffer, prior->noise_power);
	pq_sendfloat8(&buffer, prior->noise_limit);
	pq_sendfloat8(&buffer, prior->spread_degrees);
	pq_sendfloat8(&buffer, prior->dispersion);
	pq_sendfloat8(&buffer, prior->smooth_sd);
	pq_sendfloat8(&buffer, prior->smooth_degrees);
	pq_sendint32(&buffer, prior->design_rank);
	pq_sendfloat8(&buffer, prior->evenness);
	pq_sendfloat8(&buffer, prior->unevenness);
	wml_send_doubles(&buffer, prior->numbers, prior_numbers(prior->dims, prior->descriptors));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

Datum
wml_prior_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	int			version = pq_getmsgint(buffer, 2);
	int			flags = pq_getmsgint(buffer, 2);
	int32		dims = (int32) pq_getmsgint(buffer, 4);
	int32		rank = (int32) pq_getmsgint(buffer, 4);
	int32		iterations = (int32) pq_getmsgint(buffer, 4);
	int			family = version > 1 ? pq_getmsgint(buffer, 2) : WMLC_GAUSSIAN;
	int			descriptors = version > 1 ? pq_getmsgint(buffer, 2) : 1;
	WmlPrior   *prior;
	const char *problem;

	if (version < 1 || version > WML_PRIOR_VERSION || !valid_dims(dims, descriptors))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("unsupported version or size of type %s", "wml_prior")));
	prior = wml_prior_create(dims, descriptors);
	prior->version = (uint16) version;
	prior->flags = (uint16) flags;
	prior->rank = rank;
	prior->iterations = iterations;
	prior->family = (uint16) family;
	prior->noise = pq_getmsgfloat8(buffer);
	prior->tasks = pq_getmsgfloat8(buffer);
	prior->effective_tasks = pq_getmsgfloat8(buffer);
	prior->rows = pq_getmsgfloat8(buffer);
	prior->noise_degrees = pq_getmsgfloat8(buffer);
	prior->loglik = pq_getmsgfloat8(buffer);
	if (version > 1)
	{
		prior->parameters = pq_getmsgfloat8(buffer);
		prior->noise_shape = pq_getmsgfloat8(buffer);
		prior->noise_power = pq_getmsgfloat8(buffer);
		prior->noise_limit = pq_getmsgfloat8(buffer);
		prior->spread_degrees = pq_getmsgfloat8(buffer);
		prior->dispersion = pq_getmsgfloat8(buffer);
		prior->smooth_sd = pq_getmsgfloat8(buffer);
		prior->smooth_degrees = pq_getmsgfloat8(buffer);
		prior->design_rank = (int32) pq_getmsgint(buffer, 4);
	}
	if (version > 2)
	{
		prior->evenness = pq_getmsgfloat8(buffer);
		prior->unevenness = pq_getmsgfloat8(buffer);
	}
	wml_receive_doubles(buffer, prior->numbers, prior_numbers(dims, descriptors));
	pq_getmsgend(buffer);
	problem = factor_old_covariance(prior);
	if (problem == NULL)
		problem = prior_invalid(prior);
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type %s", "wml_prior"),
				 errdetail("The prior is not valid: %s.", problem)));
	PG_RETURN_POINTER(prior);
}

/* Numbers of the mean: a vector, or with descriptors one column for each */
static ArrayType *
mean_array(const WmlPrior *prior, double **element)
{
	if (prior->descriptors == 1)
		return wml_array_new_vector(prior->dims, element);
	return wml_array_new_matrix(prior->dims, prior->descriptors, element);
}

Datum
wml_prior_mean(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = PG_GETARG_PRIOR(0);
	WmlcPrior	view = wml_prior_view(prior);
	double	   *element;
	ArrayType  *result = mean_array(prior, &element);

	for (int i = 0; i < prior->dims; i++)
		for (int k = 0; k < prior->descriptors; k++)
			*element++ = view.mean[i + (Size) k * prior->dims];
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_prior_covariance(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = PG_GETARG_PRIOR(0);
	WmlcPrior	view = wml_prior_view(prior);
	double	   *element;
	ArrayType  *result = wml_array_new_matrix(prior->dims, prior->dims, &element);

	wml_check(wmlc_prior_covariance(&view, element, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}

/* Standard errors of the mean: what lme4 prints beside its fixed effects. */
Datum
wml_prior_mean_error(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = PG_GETARG_PRIOR(0);
	WmlcPrior	view = wml_prior_view(prior);
	double	   *element;
	ArrayType  *result = mean_array(prior, &element);

	for (int i = 0; i < prior->dims; i++)
		for (int k = 0; k < prior->descriptors; k++)
		{
			Size		at = i + (Size) k * prior->dims;

			*element++ = sqrt(wmlc_mean_covariance(&view, at, at));
		}
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_prior_noise(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_PRIOR(0)->noise);
}

Datum
wml_prior_info(PG_FUNCTION_ARGS)
{
	WmlPrior   *prior = PG_GETARG_PRIOR(0);
	WmlcPrior	view = wml_prior_view(prior);
	Datum		values[] = {
		Int32GetDatum(view.dims),
		Float8GetDatum(view.tasks),
		Float8GetDatum(view.effective_tasks),
		Float8GetDatum(view.loglik),
		Int32GetDatum(view.iterations),
		BoolGetDatum(view.converged),
		BoolGetDatum(view.singular),
		Int32GetDatum(view.rank),
		BoolGetDatum(view.saturated),
		CStringGetTextDatum((prior->flags & WML_PRIOR_REML) ? "reml" : "ml"),
		CStringGetTextDatum((prior->flags & WML_PRIOR_DIAGONAL) ? "diagonal" : "full"),
		CStringGetTextDatum(family_names[prior->family]),
		Int32GetDatum(view.descriptors - 1),
		Float8GetDatum(view.parameters),
		Float8GetDatum(view.rows),
		Float8GetDatum(view.noise_shape),
		Float8GetDatum(view.spread_degrees),
		Int32GetDatum(view.design_rank),
		Float8GetDatum(view.smooth_sd),
		Float8GetDatum(view.smooth_degrees),
		Float8GetDatum(view.noise_power)
	};
	bool		nulls[lengthof(values)] = {false};

	nulls[15] = nulls[20] = view.noise_shape == 0.0;
	nulls[16] = view.spread_degrees == 0.0;
	return wml_composite(fcinfo, values, nulls);
}
