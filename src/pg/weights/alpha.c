/*
 * alpha.c
 *	  Which tasks to learn from: the weights of sources for a target.
 *
 * The three SQL forms differ only in where the sources come from: a window
 * partition, an array, or the user's own kernel.  Embeddings of sources minus
 * that of the target are laid out as one matrix of doubles, and the core
 * projects onto their convex hull.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/simplex/simplex.h"
#include "core/weights/kernel_points.h"
#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"

PG_FUNCTION_INFO_V1(wml_alpha_array);
PG_FUNCTION_INFO_V1(wml_alpha_gap);
PG_FUNCTION_INFO_V1(wml_alpha_kernel);

/*
 * One problem.  The sources are read in one pass, two where they are whitened;
 * each pass settles which of them take part.
 */
typedef struct Problem
{
	const WmlSources *sources;
	const WmlcGram *target;
	const WmlAlphaOptions *options;
	double	   *weight;			/* W_j of the sources that take part, NaN of others */
	int64		present;		/* sources that take part */
	WmlGram    *pooled;
	WmlcWhitener whitener;
	WmlcEmbeddingFrame frame;
	size_t		dims;			/* of a point */
	double		ridge;
	double	   *points;			/* differences of the present sources, one row each */
	double		least;			/* distance of the closest */
	int64		closest;		/* its place among the present */
} Problem;

/*
 * Read all sources, check them, and give those that take part to `use` one by
 * one; `present` counts those before it.
 */
static void
visit_sources(Problem *problem, void (*use) (Problem *problem, const WmlcGram *source))
{
	const WmlSources *sources = problem->sources;

	problem->present = 0;
	for (int64 i = 0; i < sources->count; i++)
	{
		const WmlcGram *source;

		CHECK_FOR_INTERRUPTS();
		source = sources->source(sources->arg, i);
		problem->weight[i] = NAN;
		if (source == NULL)
			continue;
		wml_gram_check_solvable(source, "source");
		wml_gram_check_same_dims(source, problem->target);
		problem->weight[i] = wmlc_dd_value(source->weight);
		if (use != NULL)
			use(problem, source);
		problem->present++;
	}
}

static void
pool_source(Problem *problem, const WmlcGram *source)
{
	wml_check(wmlc_gram_merge(&problem->pooled->body, source));
}

/* The whitener from a first pass over the sources; none when none takes part. */
static const WmlcWhitener *
create_whitener(Problem *problem)
{
	int			dims = problem->target->dims;

	problem->pooled = wml_gram_create(dims);
	visit_sources(problem, pool_source);
	if (problem->present == 0)
		return NULL;
	wml_check(wmlc_whitener_create(&problem->whitener, &problem->pooled->body, problem->options->loss,
								   wml_allocate(wmlc_whitener_workspace(dims), 1), wml_poll));
	return &problem->whitener;
}

static double
get_ridge(const Problem *problem)
{
	double		variance;

	if (problem->options->shrink == 0.0)
		return 0.0;
	wml_check(wmlc_sampling_variance(&problem->frame, &variance));
	if (isnan(variance))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("shrink needs a target of at least two rows"),
				 errdetail("The sampling variance of a single row is unknown."),
				 errhint("Use shrink = 0, or collect more rows.")));
	return problem->options->shrink * variance;
}

/* All but the pass over the sources that reads their points or weights. */
static void
start_problem(Problem *problem, const WmlSources *sources, const WmlcGram *target,
			  const WmlAlphaOptions *options)
{
	const WmlcWhitener *whitener;

	memset(problem, 0, sizeof(*problem));
	problem->sources = sources;
	problem->target = target;
	problem->options = options;
	problem->weight = (double *) wml_allocate(sources->count, sizeof(double));
	wml_gram_check_solvable(target, "target");
	if (options->rule == WMLC_UNIFORM || options->rule == WMLC_POOLED)
		return;
	whitener = options->whiten ? create_whitener(problem) : NULL;
	wmlc_embedding_frame_create(&problem->frame, options->loss, target, whitener,
								wml_allocate(wmlc_embedding_frame_workspace(target->dims), 1), wml_poll);
	problem->dims = wmlc_difference_dims(&problem->frame);
}

static void
add_point(Problem *problem, const WmlcGram *source)
{
	wml_check(wmlc_difference(&problem->frame, source,
							  problem->points + problem->present * problem->dims));
}

/* The differences of all present sources. */
static WmlcSimplex
create_points(Problem *problem)
{
	WmlcSimplex simplex;

	simplex.ridge = get_ridge(problem);
	problem->points = (double *) wml_allocate(problem->sources->count, problem->dims * sizeof(double));
	visit_sources(problem, add_point);
	simplex.points = problem->points;
	simplex.count = problem->present;
	simplex.dims = problem->dims;
	simplex.stride = problem->dims;
	return simplex;
}

static void *
simplex_workspace(const WmlcSimplex *simplex)
{
	return wml_allocate(wmlc_simplex_workspace(simplex->count, simplex->dims, simplex->ridge), 1);
}

/* Spread weights of the present sources over all, NaN for the others. */
static void
spread(const Problem *problem, const double *present, double *alpha)
{
	for (int64 i = 0; i < problem->sources->count; i++)
		alpha[i] = isnan(problem->weight[i]) ? NAN : *present++;
}

static void
solve_mixture(Problem *problem, double *alpha)
{
	WmlcSimplex simplex = create_points(problem);
	double	   *present = (double *) wml_allocate(simplex.count, sizeof(double));
	WmlcSimplexReport report;

	if (simplex.count > 0)
		wml_check(wmlc_simplex_solve(&simplex, present, &report, simplex_workspace(&simplex), wml_poll));
	spread(problem, present, alpha);
}

static void
compare_distance(Problem *problem, const WmlcGram *source)
{
	double		distance;

	if (!problem->options->whiten)
		distance = wmlc_distance(source, problem->target, problem->options->loss);
	else
	{
		double		square = 0.0;

		wml_check(wmlc_difference(&problem->frame, source, problem->points));
		for (size_t k = 0; k < problem->dims; k++)
			square += problem->points[k] * problem->points[k];
		distance = sqrt(square);
	}
	if (problem->present == 0 || distance < problem->least)
	{
		problem->least = distance;
		problem->closest = problem->present;
	}
}

static void
solve_closest(Problem *problem, double *alpha)
{
	double	   *present;

	problem->points = (double *) wml_allocate(problem->dims, sizeof(double));
	visit_sources(problem, compare_distance);
	present = (double *) wml_allocate(problem->present, sizeof(double));
	for (int64 i = 0; i < problem->present; i++)
		present[i] = i == problem->closest ? 1.0 : 0.0;
	spread(problem, present, alpha);
}

static void
solve_by_size(Problem *problem, double *alpha)
{
	double		total = 0.0;

	visit_sources(problem, NULL);
	for (int64 i = 0; i < problem->sources->count; i++)
	{
		alpha[i] = problem->options->rule == WMLC_UNIFORM && !isnan(problem->weight[i])
			? 1.0 : problem->weight[i];
		total += isnan(alpha[i]) ? 0.0 : alpha[i];
	}
	for (int64 i = 0; i < problem->sources->count; i++)
		alpha[i] /= total;
}

void
wml_alpha_solve(const WmlSources *sources, const WmlcGram *target,
				const WmlAlphaOptions *options, double *alpha)
{
	MemoryContext solve_context = AllocSetContextCreate(CurrentMemoryContext, "wml_alpha",
														ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(solve_context);
	Problem		problem;

	start_problem(&problem, sources, target, options);
	switch (options->rule)
	{
		case WMLC_MIXTURE:
			solve_mixture(&problem, alpha);
			break;
		case WMLC_CLOSEST:
			solve_closest(&problem, alpha);
			break;
		case WMLC_UNIFORM:
		case WMLC_POOLED:
			solve_by_size(&problem, alpha);
			break;
	}
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(solve_context);
}

static const WmlcGram *
source_of_array(void *arg, int64 i)
{
	Datum		datum = ((Datum *) arg)[i];

	return datum == (Datum) 0 ? NULL : wml_gram_from_datum(datum);
}

WmlSources
wml_sources_from_array(ArrayType *array)
{
	WmlSources	sources = {.source = source_of_array};
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *datums;
	bool	   *nulls;
	int			count;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("sources must be a one-dimensional array")));
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &datums, &nulls, &count);
	for (int i = 0; i < count; i++)
		datums[i] = nulls[i] ? (Datum) 0 : PointerGetDatum(PG_DETOAST_DATUM(datums[i]));
	sources.count = count;
	sources.arg = datums;
	return sources;
}

/* Weights as float8[], NULL for sources that took no part. */
static ArrayType *
weights_to_array(const double *alpha, int64 count)
{
	Datum	   *datums = (Datum *) palloc(Max(count, 1) * sizeof(Datum));
	bool	   *nulls = (bool *) palloc(Max(count, 1) * sizeof(bool));
	int			dims = (int) count;
	int			lower_bound = 1;

	for (int64 i = 0; i < count; i++)
	{
		datums[i] = Float8GetDatum(alpha[i]);
		nulls[i] = isnan(alpha[i]);
	}
	return construct_md_array(datums, nulls, count == 0 ? 0 : 1, &dims, &lower_bound,
							  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
}

/* The options behind the third argument: loss, shrink, whiten. */
static WmlAlphaOptions
get_options(FunctionCallInfo fcinfo, WmlcRule rule)
{
	WmlAlphaOptions options = {.rule = rule};

	wml_require_arg(fcinfo, 3, "loss");
	wml_require_arg(fcinfo, 4, "shrink");
	wml_require_arg(fcinfo, 5, "whiten");
	options.loss = wml_arg_word(PG_GETARG_TEXT_PP(3), &wmlc_loss_words, "loss");
	options.shrink = wml_check_not_negative(PG_GETARG_FLOAT8(4), "shrink");
	options.whiten = PG_GETARG_BOOL(5);
	return options;
}

/* wml_alpha(sources, target, weights, loss, shrink, whiten) */
Datum
wml_alpha_array(PG_FUNCTION_ARGS)
{
	WmlSources	sources;
	WmlAlphaOptions options;
	const WmlcGram *target;
	double	   *alpha;

	wml_require_arg(fcinfo, 0, "sources");
	wml_require_arg(fcinfo, 1, "target");
	wml_require_arg(fcinfo, 2, "weights");
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	target = PG_GETARG_GRAM(1);
	options = get_options(fcinfo, wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_rule_words, "weights"));
	alpha = (double *) palloc(Max(sources.count, 1) * sizeof(double));
	wml_alpha_solve(&sources, target, &options, alpha);
	PG_RETURN_ARRAYTYPE_P(weights_to_array(alpha, sources.count));
}

/* The user's weights of the present sources, checked to lie on the simplex. */
static double *
get_simplex_weights(ArrayType *array, const Problem *problem)
{
	double	   *present = (double *) palloc(Max(problem->present, 1) * sizeof(double));
	double	   *next = present;
	double		sum = 0.0;
	Datum	   *datums;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &datums, &nulls, &count);
	if (count != problem->sources->count)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one weight for each source"),
				 errdetail("There are %d weights for " INT64_FORMAT " sources.",
						   count, problem->sources->count)));
	for (int i = 0; i < count; i++)
	{
		double		alpha = nulls[i] ? 0.0 : DatumGetFloat8(datums[i]);

		if (isnan(problem->weight[i]))
		{
			if (alpha != 0.0)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_EXCEPTION),
						 errmsg("source %d is NULL but has a weight", i + 1)));
			continue;
		}
		*next++ = wml_check_not_negative(alpha, "weight");
		sum += alpha;
	}
	if (!(fabs(sum - 1.0) <= 1e-6))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights must sum to 1"),
				 errdetail("They sum to %g.", sum)));
	return present;
}

/* wml_alpha_gap(sources, target, alpha, loss, shrink, whiten) */
Datum
wml_alpha_gap(PG_FUNCTION_ARGS)
{
	WmlSources	sources;
	WmlAlphaOptions options;
	Problem		problem;
	double	   *alpha;
	WmlcSimplex simplex;
	WmlcSimplexReport report;

	wml_require_arg(fcinfo, 0, "sources");
	wml_require_arg(fcinfo, 1, "target");
	wml_require_arg(fcinfo, 2, "alpha");
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	options = get_options(fcinfo, WMLC_MIXTURE);
	start_problem(&problem, &sources, PG_GETARG_GRAM(1), &options);
	simplex = create_points(&problem);
	if (simplex.count == 0)
		PG_RETURN_NULL();
	alpha = get_simplex_weights(PG_GETARG_ARRAYTYPE_P(2), &problem);
	wml_check(wmlc_simplex_gap(&simplex, alpha, &report, simplex_workspace(&simplex), wml_poll));
	PG_RETURN_FLOAT8(report.gap);
}

/* Check a kernel matrix of sums and divide it by the sizes: means. */
static double *
mean_kernel(const double *kernel, const double *sizes, int n)
{
	double	   *mean = (double *) wml_allocate((Size) n * n, sizeof(double));

	for (int i = 0; i < n; i++)
	{
		if (!(sizes[i] > 0.0) || isinf(sizes[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("sizes must be finite numbers and positive: %g", sizes[i])));
	}
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
		{
			double		a = kernel[(Size) i * n + j];
			double		b = kernel[(Size) j * n + i];
			double		scale = sqrt(fabs(kernel[(Size) i * n + i])) * sqrt(fabs(kernel[(Size) j * n + j]));

			if (!isfinite(a))
				ereport(ERROR,
						(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
						 errmsg("kernel matrix is not finite"),
						 errdetail("Entry (%d,%d) is %g.", i + 1, j + 1, a)));
			/* by Cauchy and Schwarz, the scale of what the entries were added up from */
			if (fabs(a - b) > 1e-9 * scale)
				ereport(ERROR,
						(errcode(ERRCODE_DATA_EXCEPTION),
						 errmsg("kernel matrix is not symmetric"),
						 errdetail("Entry (%d,%d) is %g, entry (%d,%d) is %g.",
								   i + 1, j + 1, a, j + 1, i + 1, b)));
			mean[(Size) i * n + j] = (a + b) / 2.0 / sizes[i] / sizes[j];
		}
	}
	return mean;
}

/* Points of the sources minus that of the target, which is the last. */
static WmlcSimplex
points_from_kernel(const double *mean, int n)
{
	WmlcSimplex simplex;
	double	   *points = (double *) wml_allocate((Size) n * n, sizeof(double));
	size_t		dims;
	WmlcStatus	status;

	status = wmlc_kernel_points(mean, n, points, &dims, wml_allocate(wmlc_kernel_points_workspace(n), 1), wml_poll);
	if (status == WMLC_NOT_POSITIVE)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("kernel matrix is not positive semidefinite"),
				 errdetail("No kernel has these sums over pairs of rows.")));
	wml_check(status);
	for (int i = 0; i < n - 1; i++)
	{
		for (size_t k = 0; k < dims; k++)
			points[(Size) i * n + k] -= points[(Size) (n - 1) * n + k];
	}
	simplex.points = points;
	simplex.count = n - 1;
	simplex.dims = dims;
	simplex.stride = n;
	simplex.ridge = 0.0;
	return simplex;
}

static void
closest_point(const WmlcSimplex *simplex, double *alpha)
{
	double		least = INFINITY;
	size_t		closest = 0;

	for (size_t i = 0; i < simplex->count; i++)
	{
		double		square = 0.0;

		for (size_t k = 0; k < simplex->dims; k++)
			square += simplex->points[i * simplex->stride + k] * simplex->points[i * simplex->stride + k];
		if (square < least)
		{
			least = square;
			closest = i;
		}
		alpha[i] = 0.0;
	}
	alpha[closest] = 1.0;
}

/* wml_alpha_kernel(kernel, sizes, weights, shrink) */
Datum
wml_alpha_kernel(PG_FUNCTION_ARGS)
{
	int			rows,
				columns,
				count;
	double	   *kernel = wml_array_matrix(PG_GETARG_ARRAYTYPE_P(0), "kernel", &rows, &columns);
	double	   *sizes = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "sizes", &count);
	WmlcRule	rule = wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_rule_words, "weights");
	double		shrink = wml_check_not_negative(PG_GETARG_FLOAT8(3), "shrink");
	double	   *mean;
	double	   *alpha;
	ArrayType  *result;
	WmlcSimplex simplex;
	WmlcSimplexReport report;

	if (rows != columns || rows != count || rows < 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("kernel matrix and sizes do not match"),
				 errdetail("The matrix is %d x %d, and there are %d sizes.", rows, columns, count),
				 errhint("For J sources the matrix is (J+1) x (J+1) with J+1 sizes; the target comes last.")));
	mean = mean_kernel(kernel, sizes, count);
	simplex = points_from_kernel(mean, count);
	result = wml_array_new_vector(count - 1, &alpha);
	switch (rule)
	{
		case WMLC_MIXTURE:
			simplex.ridge = shrink * mean[(Size) count * count - 1] / sizes[count - 1];
			wml_check(wmlc_simplex_solve(&simplex, alpha, &report, simplex_workspace(&simplex), wml_poll));
			break;
		case WMLC_CLOSEST:
			closest_point(&simplex, alpha);
			break;
		case WMLC_UNIFORM:
		case WMLC_POOLED:
			{
				double		total = 0.0;

				for (int i = 0; i < count - 1; i++)
				{
					alpha[i] = rule == WMLC_UNIFORM ? 1.0 : sizes[i];
					total += alpha[i];
				}
				for (int i = 0; i < count - 1; i++)
					alpha[i] /= total;
			}
			break;
	}
	PG_RETURN_ARRAYTYPE_P(result);
}
