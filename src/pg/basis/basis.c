/*
 * basis.c
 *	  Basis functions: wml_rff, wml_poly, wml_fourier.
 *
 * A feature array with a NULL gives NULL, which the aggregates then skip.
 */
#include "postgres.h"

#include "core/basis/basis.h"
#include "core/gram/gram.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"

PG_FUNCTION_INFO_V1(wml_rff);
PG_FUNCTION_INFO_V1(wml_poly);
PG_FUNCTION_INFO_V1(wml_fourier);

/* A frequency for each input and feature is kept: 128 MB at the most. */
#define MAX_INPUTS 16384

static void
check_features(int features, const char *name, int least)
{
	if (features < least || features > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s returns %d features", name, features),
				 errdetail("A gram has 1 to %d features.", WMLC_MAX_DIMS)));
}

static void
check_positive(double value, const char *name)
{
	if (!(value > 0.0) || isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a finite positive number: %g", name, value)));
}

/*
 * The frequencies of the last call, which the next call mostly wants, too.
 * They hang on the call site and go with it.
 */
typedef struct RffCache
{
	int			k;
	int			features;
	double		lengthscale;
	int64		seed;
	double		frequencies[FLEXIBLE_ARRAY_MEMBER];
} RffCache;

static const double *
get_frequencies(FmgrInfo *flinfo, int k, int features, double lengthscale, int64 seed)
{
	RffCache   *cache = (RffCache *) flinfo->fn_extra;

	if (cache == NULL || cache->k != k || cache->features != features ||
		cache->lengthscale != lengthscale || cache->seed != seed)
	{
		if (cache != NULL)
			pfree(cache);
		flinfo->fn_extra = NULL;
		cache = (RffCache *) MemoryContextAlloc(flinfo->fn_mcxt,
												offsetof(RffCache, frequencies) +
												wmlc_rff_doubles(k, features) * sizeof(double));
		cache->k = k;
		cache->features = features;
		cache->lengthscale = lengthscale;
		cache->seed = seed;
		wml_check(wmlc_rff_prepare(k, features, lengthscale, (uint64_t) seed, cache->frequencies,
								   wml_poll));
		flinfo->fn_extra = cache;
	}
	return cache->frequencies;
}

Datum
wml_rff(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int			features = PG_GETARG_INT32(1);
	double		lengthscale = PG_GETARG_FLOAT8(2);
	const double *frequencies;
	ArrayType  *result;
	double	   *x,
			   *out;
	int			k;

	if (array_contains_nulls(array))
		PG_RETURN_NULL();
	x = wml_array_vector(array, "x", &k);
	check_features(features, "wml_rff", 1);
	check_positive(lengthscale, "lengthscale");
	if (k > MAX_INPUTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("wml_rff takes at most %d inputs: %d", MAX_INPUTS, k)));
	frequencies = get_frequencies(fcinfo->flinfo, k, features, lengthscale, PG_GETARG_INT64(3));
	result = wml_array_new_vector(features, &out);
	wml_check(wmlc_rff_apply(k, x, features, frequencies, out, wml_poll));
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_poly(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int			degree = PG_GETARG_INT32(1);
	ArrayType  *result;
	double	   *x,
			   *out;
	int			k,
				count;

	if (array_contains_nulls(array))
		PG_RETURN_NULL();
	x = wml_array_vector(array, "x", &k);
	if (degree < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("degree must not be negative: %d", degree)));
	count = wmlc_poly_count(k, degree);
	if (count < 0 || count > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there are too many monomials of %d variables up to degree %d", k, degree),
				 errdetail("A gram has at most %d features.", WMLC_MAX_DIMS)));
	result = wml_array_new_vector(count, &out);
	wmlc_poly(k, x, degree, out);
	PG_RETURN_ARRAYTYPE_P(result);
}

Datum
wml_fourier(PG_FUNCTION_ARGS)
{
	double		t = PG_GETARG_FLOAT8(0);
	double		period = PG_GETARG_FLOAT8(1);
	int			harmonics = PG_GETARG_INT32(2);
	ArrayType  *result;
	double	   *out;

	check_positive(period, "period");
	if (harmonics < 0 || harmonics > (WMLC_MAX_DIMS - 1) / 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("harmonics must be between 0 and %d: %d", (WMLC_MAX_DIMS - 1) / 2, harmonics)));
	result = wml_array_new_vector(2 * harmonics + 1, &out);
	wmlc_fourier(t, period, harmonics, out);
	PG_RETURN_ARRAYTYPE_P(result);
}
