/*
 * family.c
 *	  Families from text, checks of responses, rows kept by aggregates.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "core/gram/gram.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/glm/glm.h"

#define FIRST_CAPACITY 16

/* The number in "name(number)"; the name is cut off before it. */
static double
split_dispersion(char *name)
{
	char	   *open = strchr(name, '(');
	char	   *end;
	double		dispersion;

	if (open == NULL)
		return NAN;
	dispersion = strtod(open + 1, &end);
	if (end == open + 1 || strcmp(end, ")") != 0 || !(dispersion >= 0.0) || isinf(dispersion))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dispersion of the family must be a finite number and not negative: \"%s\"", name),
				 errhint("Write it as negative_binomial(0.5).")));
	*open = '\0';
	return dispersion;
}

WmlcLikelihood
wml_likelihood_from_text(text *name)
{
	char	   *word = text_to_cstring(name);
	WmlcLikelihood likelihood = {.dispersion = split_dispersion(word)};

	likelihood.family = (WmlcFamily) wml_arg_word(cstring_to_text(word), &wmlc_families, "family");
	if (likelihood.family == WMLC_NEGATIVE_BINOMIAL)
		return likelihood;
	if (!isnan(likelihood.dispersion))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("family \"%s\" has no dispersion", word)));
	likelihood.dispersion = 0.0;
	return likelihood;
}

const WmlcLikelihood *
wml_check_dispersion(const WmlcLikelihood *likelihood)
{
	if (isnan(likelihood->dispersion))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the negative binomial family needs a dispersion here"),
				 errhint("Write it as negative_binomial(0.5); wml_glm_train estimates it.")));
	return likelihood;
}

WmlcLikelihood
wml_likelihood_known(text *name)
{
	WmlcLikelihood likelihood = wml_likelihood_from_text(name);

	return *wml_check_dispersion(&likelihood);
}

const WmlcLikelihood *
wml_likelihood_cached(WmlFamilyCache *cache, MemoryContext context, text *name)
{
	Size		size = VARSIZE_ANY(name);

	if (cache->name == NULL || cache->size != size || memcmp(cache->name, name, size) != 0)
	{
		cache->likelihood = wml_likelihood_from_text(name);
		if (cache->name != NULL)
			pfree(cache->name);
		cache->name = (char *) MemoryContextAlloc(context, size);
		memcpy(cache->name, name, size);
		cache->size = size;
	}
	return &cache->likelihood;
}

void
wml_check_response(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	switch (wmlc_response_error(likelihood, row))
	{
		case WMLC_RESPONSE_FINE:
			return;
		case WMLC_RESPONSE_NOT_FINITE:
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("response, exposure and weight must be finite"),
					 errdetail("They are %g, %g and %g.", row->y, row->exposure, row->weight)));
			break;
		case WMLC_RESPONSE_BAD_EXPOSURE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("exposure must be positive: %g", row->exposure),
					 errhint("An offset o is the exposure exp(o).")));
			break;
		case WMLC_RESPONSE_BAD_WEIGHT:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight must not be negative: %g", row->weight)));
			break;
		case WMLC_RESPONSE_NEGATIVE:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("count must not be negative: %g", row->y)));
			break;
		case WMLC_RESPONSE_BEYOND:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("successes must be between 0 and the number of trials, %g: %g",
							row->exposure, row->y),
					 errhint("Without an exposure, a row is one trial with response 0 or 1.")));
			break;
		case WMLC_RESPONSE_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("counts and trials must not exceed %.0f: %g", WMLC_LARGEST_COUNT,
							likelihood->family == WMLC_BINOMIAL ? row->exposure : row->y),
					 errhint("Count in a larger unit.")));
			break;
	}
}

/* Weights change what chance does to a row. */
bool
wml_excess_can_be_told(const WmlcLikelihood *likelihood, const WmlcGlmRows *rows)
{
	if (likelihood->family != WMLC_POISSON)
		return false;
	for (Size i = 0; i < rows->count && rows->weight != NULL; i++)
		if (rows->weight[i] != 1.0)
			return false;
	return true;
}

void
wml_warn_of_excess(const WmlcExcess *excess, const char *hint)
{
	if (wmlc_excess_is_clear(excess))
		ereport(WML_WARNING,
				(errmsg("counts vary more than a Poisson distribution allows"),
				 errdetail("Their variance about the model's rates is %.1f times what chance explains, so intervals are too narrow.",
						   1.0 + excess->excess / excess->mean),
				 errhint("%s", hint)));
}

/* Argument `exposure`, and `exposure` + 1 for the weight, where there are such. */
bool
wml_get_response(FunctionCallInfo fcinfo, int y, int exposure, WmlcResponse *row)
{
	if (PG_ARGISNULL(y))
		return false;
	*row = (WmlcResponse) {PG_GETARG_FLOAT8(y), 1.0, 1.0};
	if (PG_NARGS() > exposure)
	{
		if (PG_ARGISNULL(exposure))
			return false;
		row->exposure = PG_GETARG_FLOAT8(exposure);
	}
	if (PG_NARGS() > exposure + 1)
	{
		if (PG_ARGISNULL(exposure + 1))
			return false;
		row->weight = PG_GETARG_FLOAT8(exposure + 1);
	}
	return true;
}

void
wml_check_feature_count(int features, int coefficients)
{
	if (features != coefficients)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("features do not match the coefficients"),
				 errdetail("There are %d features and %d coefficients.", features, coefficients)));
}

static void *
resize(const WmlKeptRows *rows, void *values, Size row_size)
{
	Size		size = rows->capacity * row_size;

	return values == NULL ? MemoryContextAllocHuge(rows->context, size)
		: repalloc_huge(values, size);
}

static void
reserve_row(WmlKeptRows *rows)
{
	if (rows->count < rows->capacity)
		return;
	rows->capacity = Max(2 * rows->capacity, FIRST_CAPACITY);
	rows->x = (double *) resize(rows, rows->x, rows->dims * sizeof(double));
	rows->y = (double *) resize(rows, rows->y, sizeof(double));
	rows->exposure = (double *) resize(rows, rows->exposure, sizeof(double));
	rows->weight = (double *) resize(rows, rows->weight, sizeof(double));
}

bool
wml_keep_row(WmlKeptRows *rows, ArrayType *x, const WmlcResponse *response)
{
	double	   *elements;
	int			count;

	if (array_contains_nulls(x))
	{
		rows->skipped++;
		return false;
	}
	elements = wml_array_vector(x, "features", &count);
	if (count < 1 || count > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there must be 1 to %d features: %d", WMLC_MAX_DIMS, count)));
	if (rows->dims == 0)
		rows->dims = count;
	if (count != rows->dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows must have the same number of features"),
				 errdetail("One row has %d features, an earlier one %d.", count, rows->dims)));
	wml_array_check_finite(elements, count, "features");
	reserve_row(rows);
	memcpy(rows->x + rows->count * rows->dims, elements, count * sizeof(double));
	rows->y[rows->count] = response->y;
	rows->exposure[rows->count] = response->exposure;
	rows->weight[rows->count] = response->weight;
	rows->count++;
	return true;
}

WmlcGlmRows
wml_kept_rows_view(const WmlKeptRows *rows)
{
	return (WmlcGlmRows) {
		.dims = rows->dims,
		.count = rows->count,
		.x = rows->x,
		.y = rows->y,
		.exposure = rows->exposure,
		.weight = rows->weight
	};
}

WmlcGlmRows
wml_query_rows_view(const WmlQueryRows *rows)
{
	return (WmlcGlmRows) {
		.dims = rows->inputs,
		.count = rows->count,
		.x = rows->x,
		.y = rows->y,
		.exposure = rows->exposure,
		.weight = rows->weight
	};
}
