/*
 * alpha.c
 *	  Which tasks to learn from: the weights of sources for a target.
 *
 * The SQL forms differ only in where the sources come from: a window
 * partition, an array, or the user's own kernel.  The core (weights.h) knows
 * the rules; here sources are read and checked, and what the core keeps of
 * them is stored.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/weights/alpha.h"
#include "pg/weights/stacked.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"

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
	const WmlcWeighting *weighting;
	double	   *alpha;			/* NaN of sources that take no part, else 0 */
	int64		present;		/* sources that take part */
	WmlGram    *pooled;
	WmlcWhitener whitener;
	WmlcWeigher weigher;
	double	   *kept;			/* what the weigher keeps of those present */
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
		problem->alpha[i] = NAN;
		if (source == NULL)
			continue;
		wml_gram_check_solvable(source, "source");
		wml_gram_check_same_dims(source, problem->target);
		problem->alpha[i] = 0.0;
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
	wml_check(wmlc_whitener_create(&problem->whitener, &problem->pooled->body, problem->weighting->loss,
								   wml_allocate(wmlc_whitener_workspace(dims), 1), wml_poll));
	return &problem->whitener;
}

static void
keep_source(Problem *problem, const WmlcGram *source)
{
	wml_check(wmlc_weigher_keep(&problem->weigher, source,
								problem->kept + problem->present * problem->weigher.width));
}

/* All sources, as far as their weights depend on them. */
static WmlcCandidates
get_candidates(Problem *problem, const WmlSources *sources, const WmlcGram *target,
			   const WmlcWeighting *weighting, double *alpha)
{
	const WmlcWhitener *whitener;

	memset(problem, 0, sizeof(*problem));
	problem->sources = sources;
	problem->target = target;
	problem->weighting = weighting;
	problem->alpha = alpha;
	wml_gram_check_solvable(target, "target");
	whitener = wmlc_weighting_whitens(weighting) ? create_whitener(problem) : NULL;
	wml_check(wmlc_weigher_create(&problem->weigher, weighting, target, whitener,
								  wml_allocate(wmlc_weigher_workspace(weighting, target->dims), 1),
								  wml_poll));
	problem->kept = (double *) wml_allocate(sources->count, problem->weigher.width * sizeof(double));
	visit_sources(problem, keep_source);
	return wmlc_weigher_candidates(&problem->weigher, problem->kept, problem->present);
}

/* The solver promises a gap; say so where it was not reached. */
static void
warn_if_not_best(const WmlcSimplexReport *report)
{
	if (report->relative_gap > WMLC_SIMPLEX_GAP)
		ereport(WML_WARNING,
				(errmsg("weights may not be optimal to full precision"),
				 errdetail("Their objective is %g, at most %g above the minimum.",
						   report->objective, report->gap)));
}

void
wml_weigh(const WmlcWeighting *weighting, const WmlcCandidates *candidates, double *alpha)
{
	WmlcSimplexReport report;
	void	   *work;

	if (candidates->count == 0)
		return;
	work = wml_allocate(wmlc_weigh_workspace(weighting, candidates->count, candidates->dims), 1);
	wml_check(wmlc_weigh(weighting, candidates, alpha, &report, work, wml_poll));
	warn_if_not_best(&report);
	pfree(work);
}

void
wml_alpha_solve(const WmlSources *sources, const WmlcGram *target, const WmlcWeighting *weighting,
				double *alpha)
{
	MemoryContext solve_context = AllocSetContextCreate(CurrentMemoryContext, "wml_alpha",
														ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(solve_context);

	if (weighting->rule == WMLC_STACKED)
		wml_alpha_stacked(sources, target, weighting, alpha);
	else
	{
		Problem		problem;
		WmlcCandidates candidates = get_candidates(&problem, sources, target, weighting, alpha);
		double	   *present = (double *) wml_allocate(candidates.count, sizeof(double));

		wml_weigh(weighting, &candidates, present);
		for (int64 i = 0; i < sources->count; i++)
		{
			if (!isnan(alpha[i]))
				alpha[i] = *present++;
		}
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

ArrayType *
wml_weights_to_array(const double *alpha, int64 count)
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

WmlcWeighting
wml_get_weighting(const NullableDatum *args, const WmlcWords *rules)
{
	static const char *const names[] = {"weights", "loss", "shrink", "whiten"};

	for (int i = 0; i < (int) lengthof(names); i++)
	{
		if (args[i].isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be NULL", names[i])));
	}
	return (WmlcWeighting) {
		.rule = rules == NULL ? WMLC_MIXTURE : wml_arg_word(DatumGetTextPP(args[0].value), rules, "weights"),
		.loss = wml_arg_word(DatumGetTextPP(args[1].value), &wmlc_loss_words, "loss"),
		.shrink = wml_check_not_negative(DatumGetFloat8(args[2].value), "shrink"),
		.whiten = DatumGetBool(args[3].value)
	};
}

/* wml_alpha(sources, target, weights, loss, shrink, whiten) */
Datum
wml_alpha_array(PG_FUNCTION_ARGS)
{
	WmlSources	sources;
	WmlcWeighting options;
	const WmlcGram *target;
	double	   *alpha;

	wml_require_arg(fcinfo, 0, "sources");
	wml_require_arg(fcinfo, 1, "target");
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	target = PG_GETARG_GRAM(1);
	options = wml_get_weighting(&fcinfo->args[2], &wmlc_weighting_words);
	alpha = (double *) palloc(Max(sources.count, 1) * sizeof(double));
	wml_alpha_solve(&sources, target, &options, alpha);
	PG_RETURN_ARRAYTYPE_P(wml_weights_to_array(alpha, sources.count));
}

/* The user's weights of the present sources, checked to lie on the simplex. */
static double *
get_simplex_weights(ArrayType *array, const Problem *problem)
{
	int64		count = problem->sources->count;
	double	   *alpha = wml_array_weights(array, count);
	double	   *next = alpha;

	for (int64 i = 0; i < count; i++)
	{
		if (!isnan(problem->alpha[i]))
			*next++ = alpha[i];
		else if (alpha[i] != 0.0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("source " INT64_FORMAT " is NULL but has a weight", i + 1)));
	}
	(void) wml_check_weights_sum(alpha, next - alpha);
	return alpha;
}

/* wml_alpha_gap(sources, target, alpha, loss, shrink, whiten) */
Datum
wml_alpha_gap(PG_FUNCTION_ARGS)
{
	WmlSources	sources;
	WmlcWeighting options;
	Problem		problem;
	WmlcCandidates candidates;
	double	   *alpha;
	double		gap;

	wml_require_arg(fcinfo, 0, "sources");
	wml_require_arg(fcinfo, 1, "target");
	wml_require_arg(fcinfo, 2, "alpha");
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	options = wml_get_weighting(&fcinfo->args[2], NULL);
	candidates = get_candidates(&problem, &sources, PG_GETARG_GRAM(1), &options,
								(double *) palloc(Max(sources.count, 1) * sizeof(double)));
	if (candidates.count == 0)
		PG_RETURN_NULL();
	alpha = get_simplex_weights(PG_GETARG_ARRAYTYPE_P(2), &problem);
	wml_check(wmlc_weigh_gap(&options, &candidates, alpha, &gap,
							 wml_allocate(wmlc_weigh_gap_workspace(&candidates), 1), wml_poll));
	PG_RETURN_FLOAT8(gap);
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
		CHECK_FOR_INTERRUPTS();
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

/* wml_alpha_kernel(kernel, sizes, weights, shrink) */
Datum
wml_alpha_kernel(PG_FUNCTION_ARGS)
{
	int			rows,
				columns,
				count;
	double	   *kernel = wml_array_matrix(PG_GETARG_ARRAYTYPE_P(0), "kernel", &rows, &columns);
	double	   *sizes = wml_array_vector(PG_GETARG_ARRAYTYPE_P(1), "sizes", &count);
	WmlcWeighting weighting = {
		.rule = wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_rule_words, "weights"),
		.shrink = wml_check_not_negative(PG_GETARG_FLOAT8(3), "shrink")
	};
	WmlcSimplexReport report;
	WmlcStatus	status;
	double	   *alpha;
	ArrayType  *result;

	if (rows != columns || rows != count || rows < 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("kernel matrix and sizes do not match"),
				 errdetail("The matrix is %d x %d, and there are %d sizes.", rows, columns, count),
				 errhint("For J sources the matrix is (J+1) x (J+1) with J+1 sizes; the target comes last.")));
	result = wml_array_new_vector(count - 1, &alpha);
	status = wmlc_weigh_kernel(&weighting, mean_kernel(kernel, sizes, count), sizes, count, alpha, &report,
							   wml_allocate(wmlc_weigh_kernel_workspace(&weighting, count), 1), wml_poll);
	if (status == WMLC_NOT_POSITIVE)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("kernel matrix is not positive semidefinite"),
				 errdetail("No kernel has these sums over pairs of rows.")));
	wml_check(status);
	warn_if_not_best(&report);
	PG_RETURN_ARRAYTYPE_P(result);
}
