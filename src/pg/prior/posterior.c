/*
 * posterior.c
 *	  What a prior says about one task: wml_posterior, wml_posterior_coef,
 *	  wml_predict_interval and wml_task_fit.
 *
 * A NULL gram, or one without rows, is a task of which nothing is known yet:
 * the prior itself.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/prior/belong.h"
#include "core/prior/posterior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/srf.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior.h"

PG_FUNCTION_INFO_V1(wml_posterior);
PG_FUNCTION_INFO_V1(wml_posterior_coef);
PG_FUNCTION_INFO_V1(wml_predict_interval);
PG_FUNCTION_INFO_V1(wml_task_fit);

/* The task's descriptors, the constant before them. */
static const double *
get_descriptor(FunctionCallInfo fcinfo, int argument, const WmlcPrior *prior)
{
	double	   *given = NULL;
	double	   *descriptor;
	int			count = 0;

	if (!PG_ARGISNULL(argument))
		given = wml_array_vector(PG_GETARG_ARRAYTYPE_P(argument), "descriptor", &count);
	if (count + 1 != prior->descriptors)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("descriptors do not match the prior"),
				 errdetail("There are %d, the prior has %d.", count, prior->descriptors - 1)));
	if (count == 0)
		return NULL;
	wml_array_check_finite(given, count, "descriptor");
	descriptor = (double *) palloc((count + 1) * sizeof(double));
	descriptor[0] = 1.0;
	memcpy(descriptor + 1, given, count * sizeof(double));
	return descriptor;
}

/* The posterior of the arguments (prior, gram) and the descriptor's, with or without what bounds need. */
static void
get_posterior(FunctionCallInfo fcinfo, int descriptor, bool mean_only, WmlcPrior *prior,
			  WmlcPosterior *posterior)
{
	WmlcTarget	target = {.poll = wml_poll, .mean_only = mean_only};

	*prior = wml_prior_view(PG_GETARG_PRIOR(0));
	target.descriptor = get_descriptor(fcinfo, descriptor, prior);
	if (!PG_ARGISNULL(1))
	{
		const WmlcGram *gram = PG_GETARG_GRAM(1);

		if (wmlc_gram_weighted_rows(gram) > 0)
		{
			wml_gram_check_solvable(gram, "target");
			if (gram->dims != prior->dims)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_EXCEPTION),
						 errmsg("gram does not match the prior"),
						 errdetail("The gram has %d features, the prior %d.", gram->dims, prior->dims)));
			target.moments = gram->sums;
			target.moments_lo = gram->sums + wmlc_gram_entries(gram->dims);
			target.rows = (double) wmlc_gram_weighted_rows(gram);
		}
	}
	wml_check(wmlc_posterior_of(prior, &target, posterior,
								wml_allocate(wmlc_posterior_workspace(prior->dims), 1)));
}

Datum
wml_posterior_coef(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlcPosterior posterior;
	double	   *element;
	ArrayType  *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	get_posterior(fcinfo, 2, true, &prior, &posterior);
	result = wml_array_new_vector(prior.dims, &element);
	memcpy(element, posterior.coef, prior.dims * sizeof(double));
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_posterior(PG_FUNCTION_ARGS)
{
	WmlRows		rows = wml_rows_begin(fcinfo);
	WmlcPrior	prior;
	WmlcPosterior posterior;
	double	   *covariance;
	double	   *prior_covariance;
	double	   *unit;
	Datum	   *names;
	WmlcBounds	bounds;
	int			d;

	if (PG_ARGISNULL(0))
		return (Datum) 0;
	get_posterior(fcinfo, 3, false, &prior, &posterior);
	d = prior.dims;
	names = wml_feature_names(fcinfo, 2, d);
	covariance = (double *) palloc((Size) d * d * sizeof(double));
	prior_covariance = (double *) palloc((Size) d * d * sizeof(double));
	unit = (double *) palloc0(d * sizeof(double));
	wml_check(wmlc_posterior_covariance(&posterior, covariance));
	wml_check(wmlc_prior_covariance(&prior, prior_covariance, wml_poll));
	wmlc_posterior_prepare(&posterior);
	bounds = wmlc_posterior_bounds(&posterior, 0.95);
	for (int i = 0; i < d; i++)
	{
		double		prior_sd = sqrt(prior_covariance[(Size) i * d + i]);
		double		moved = (posterior.coef[i] - posterior.mean[i]) / prior_sd;
		WmlcPrediction one;
		Datum		values[8];
		bool		nulls[8] = {false, names == NULL, false, false, false, false, false, !isfinite(moved)};

		/* a coefficient is the mean response at its unit vector */
		CHECK_FOR_INTERRUPTS();
		unit[i] = 1.0;
		wmlc_posterior_predict(&posterior, unit, &bounds, &one);
		unit[i] = 0.0;
		values[0] = Int32GetDatum(i + 1);
		values[1] = names ? names[i] : (Datum) 0;
		values[2] = Float8GetDatum(posterior.coef[i]);
		values[3] = Float8GetDatum(sqrt(covariance[(Size) i * d + i]));
		values[4] = Float8GetDatum(sqrt(one.mean_variance));
		values[5] = Float8GetDatum(posterior.mean[i]);
		values[6] = Float8GetDatum(prior_sd);
		values[7] = Float8GetDatum(moved);
		wml_rows_put(&rows, values, nulls);
	}
	return (Datum) 0;
}

Datum
wml_task_fit(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlcPosterior posterior;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	get_posterior(fcinfo, 2, true, &prior, &posterior);
	{
		Datum		values[] = {
			Float8GetDatum(posterior.weight),
			Float8GetDatum(prior.noise > 0.0 ? posterior.sd * posterior.sd : 0.0),
			Float8GetDatum(posterior.distance),
			Float8GetDatum(posterior.used),
			BoolGetDatum(wmlc_belongs(&posterior))
		};

		return wml_composite(fcinfo, values, NULL);
	}
}

/*
 * Predictions of many rows mostly come with the same prior and gram: their
 * posterior is kept from call to call, under the bytes that it was made from.
 */
typedef struct PredictCache
{
	MemoryContext context;		/* of all below but the quantiles and the row type */
	struct varlena *key[3];		/* prior, gram and descriptor as they came; NULL for NULL */
	WmlcPrior	prior;
	WmlcPosterior posterior;
	WmlcStudentTable table;
	bool		has_table;
	WmlcBounds	bounds;
	TupleDesc	descriptor;
} PredictCache;

/* The arguments a posterior depends on. */
static const int key_argument[3] = {0, 1, 4};

/* May the bytes of this argument stand for its value? */
static bool
is_comparable(FunctionCallInfo fcinfo, int argument)
{
	struct varlena *value;

	if (PG_ARGISNULL(argument))
		return true;
	value = (struct varlena *) PG_GETARG_POINTER(argument);
	return !VARATT_IS_EXTERNAL(value) || VARATT_IS_EXTERNAL_ONDISK(value);
}

static bool
is_same(FunctionCallInfo fcinfo, const PredictCache *cache)
{
	for (int k = 0; k < 3; k++)
	{
		int			argument = key_argument[k];
		struct varlena *value = PG_ARGISNULL(argument) ? NULL
			: (struct varlena *) PG_GETARG_POINTER(argument);

		if (!is_comparable(fcinfo, argument) || (value == NULL) != (cache->key[k] == NULL))
			return false;
		if (value != NULL && (VARSIZE_ANY(value) != VARSIZE_ANY(cache->key[k]) ||
							  memcmp(value, cache->key[k], VARSIZE_ANY(value)) != 0))
			return false;
	}
	return true;
}

static void
fill_cache(FunctionCallInfo fcinfo, PredictCache *cache)
{
	MemoryContext old_context;
	bool		comparable = true;

	MemoryContextReset(cache->context);
	memset(cache->key, 0, sizeof(cache->key));
	cache->prior.dims = 0;
	old_context = MemoryContextSwitchTo(cache->context);
	get_posterior(fcinfo, 4, false, &cache->prior, &cache->posterior);
	wmlc_posterior_prepare(&cache->posterior);
	/* the view points into the argument, which may be gone by the next call */
	cache->posterior.prior = &cache->prior;
	cache->prior.mean = cache->prior.factor = cache->prior.mean_factor = NULL;
	for (int k = 0; k < 3; k++)
		comparable = comparable && is_comparable(fcinfo, key_argument[k]);
	for (int k = 0; k < 3 && comparable; k++)
	{
		if (!PG_ARGISNULL(key_argument[k]))
		{
			struct varlena *value = (struct varlena *) PG_GETARG_POINTER(key_argument[k]);

			cache->key[k] = (struct varlena *) palloc(VARSIZE_ANY(value));
			memcpy(cache->key[k], value, VARSIZE_ANY(value));
		}
	}
	MemoryContextSwitchTo(old_context);
}

static PredictCache *
get_cache(FunctionCallInfo fcinfo, double level)
{
	PredictCache *cache = (PredictCache *) fcinfo->flinfo->fn_extra;

	if (cache == NULL)
	{
		MemoryContext old_context = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		cache = (PredictCache *) palloc0(sizeof(PredictCache));
		cache->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "wml_predict_interval",
											   ALLOCSET_DEFAULT_SIZES);
		if (get_call_result_type(fcinfo, NULL, &cache->descriptor) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		cache->descriptor = BlessTupleDesc(CreateTupleDescCopy(cache->descriptor));
		fcinfo->flinfo->fn_extra = cache;
		MemoryContextSwitchTo(old_context);
	}
	if (cache->key[0] == NULL || !is_same(fcinfo, cache))
	{
		fill_cache(fcinfo, cache);
		cache->bounds.level = 0.0;
	}
	if (!cache->has_table || cache->table.level != level)
	{
		wmlc_student_table(level, &cache->table);
		cache->has_table = true;
	}
	if (cache->bounds.level != level)
		cache->bounds = wmlc_posterior_look_up(&cache->posterior, &cache->table);
	return cache;
}

/* wml_predict_interval(prior, gram, x, level, descriptor) */
Datum
wml_predict_interval(PG_FUNCTION_ARGS)
{
	PredictCache *cache;
	WmlcPrediction prediction;
	double	   *x;
	double		level;
	int			count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	wml_require_arg(fcinfo, 3, "level");
	level = PG_GETARG_FLOAT8(3);
	if (!(level > 0.0 && level < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level must be between 0 and 1: %g", level)));
	cache = get_cache(fcinfo, level);
	x = wml_array_vector(PG_GETARG_ARRAYTYPE_P(2), "features", &count);
	if (count != cache->prior.dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features do not match the prior"),
				 errdetail("There are %d features, the prior has %d.", count, cache->prior.dims)));
	wml_array_check_finite(x, count, "features");
	wmlc_posterior_predict(&cache->posterior, x, &cache->bounds, &prediction);
	{
		Datum		values[5] = {
			Float8GetDatum(prediction.estimate),
			Float8GetDatum(prediction.lower),
			Float8GetDatum(prediction.upper),
			Float8GetDatum(prediction.mean_lower),
			Float8GetDatum(prediction.mean_upper)
		};
		bool		nulls[5] = {false};

		PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(cache->descriptor, values, nulls)));
	}
}
