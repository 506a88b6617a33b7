/*
 * hierarchy.c
 *	  The hierarchical model of many tasks: wml_glm_prior, from the rows of a query
 *	  that are kept in memory, from a query that is run again in each iteration, or
 *	  from working grams; and wml_posterior_covariance.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/glm/hierarchy.h"
#include "core/glm/hierarchy_correct.h"
#include "core/prior/posterior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/base/query.h"
#include "pg/glm/glm.h"
#include "pg/gram/gram.h"
#include "pg/prior/prior.h"
#include "pg/weights/alpha.h"

PG_FUNCTION_INFO_V1(wml_glm_prior);
PG_FUNCTION_INFO_V1(wml_glm_prior_grams);
PG_FUNCTION_INFO_V1(wml_posterior_covariance);

/* How the likelihood of a task is taken into account. */
enum
{
	APPROXIMATION_CORRECTED,
	APPROXIMATION_EP,
	APPROXIMATION_PQL
};

static const char *const approximations[] = {"corrected", "ep", "pql"};
static const WmlcWords approximation_words = WMLC_WORDS(approximations);

enum
{
	ARG_QUERY,
	ARG_FAMILY,
	ARG_COVARIANCE,
	ARG_METHOD,
	ARG_EVENNESS,
	ARG_APPROXIMATION,
	ARG_REREAD,
	ARG_TOLERANCE,
	ARG_ITERATIONS,
	ARG_FIXED
};

static const char *const argument_names[] = {
	"query", "family", "covariance", "method", "evenness", "approximation", "reread", "tolerance",
	"iterations"
};

static void
report_iteration(void *arg, int iteration, double change)
{
	if (wml_progress_due((WmlProgress *) arg))
		ereport(NOTICE,
				(errmsg("iteration %d: the prior moved by %.2g of its spread", iteration, change)));
}

/* Corrections take the rows of a task together, which no pass of a query has. */
static int
get_approximation(FunctionCallInfo fcinfo)
{
	bool		reread = PG_GETARG_BOOL(ARG_REREAD);
	int			approximation = reread ? APPROXIMATION_EP : APPROXIMATION_CORRECTED;

	if (!PG_ARGISNULL(ARG_APPROXIMATION))
		approximation = wml_arg_word(PG_GETARG_TEXT_PP(ARG_APPROXIMATION), &approximation_words,
									 "approximation");
	if (reread && approximation == APPROXIMATION_CORRECTED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("corrections need the rows in memory"),
				 errhint("Use approximation => 'ep', or do without reread.")));
	return approximation;
}

static void
get_options(FunctionCallInfo fcinfo, WmlcHierarchyOptions *options)
{
	int			approximation;

	for (int i = ARG_QUERY; i <= ARG_ITERATIONS; i++)
		if (i != ARG_APPROXIMATION)
			wml_require_arg(fcinfo, i, argument_names[i]);
	approximation = get_approximation(fcinfo);
	options->prior.poll = wml_poll;
	options->prior.covariance = (WmlcPriorCovariance)
		wml_arg_word(PG_GETARG_TEXT_PP(ARG_COVARIANCE), &wmlc_prior_covariance_words, "covariance");
	options->prior.method = (WmlcPriorMethod)
		wml_arg_word(PG_GETARG_TEXT_PP(ARG_METHOD), &wmlc_prior_method_words, "method");
	options->prior.evenness = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_EVENNESS), "evenness");
	options->points = approximation == APPROXIMATION_PQL;
	options->corrected = approximation == APPROXIMATION_CORRECTED;
	options->tolerance = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_TOLERANCE), "tolerance");
	options->max_iterations = PG_GETARG_INT32(ARG_ITERATIONS);
	if (options->max_iterations < 1 || options->max_iterations > WML_MAX_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("iterations must be between 1 and %d: %d", WML_MAX_STEPS, options->max_iterations)));
}

/* Positions of features that have the same coefficient in all tasks, as a mask of the others. */
static const bool *
get_random(FunctionCallInfo fcinfo, int dims)
{
	bool	   *random;
	Datum	   *positions;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(ARG_FIXED))
		return NULL;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_FIXED), INT4OID, sizeof(int32), true, TYPALIGN_INT,
					  &positions, &nulls, &count);
	random = (bool *) palloc(dims * sizeof(bool));
	memset(random, true, dims * sizeof(bool));
	for (int i = 0; i < count; i++)
	{
		int			position = nulls[i] ? 0 : DatumGetInt32(positions[i]);

		if (position < 1 || position > dims)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("fixed must have positions of features, 1 to %d: %d", dims, position)));
		random[position - 1] = false;
	}
	return random;
}

static int
prior_flags(const WmlcPriorOptions *options)
{
	return (options->method == WMLC_PRIOR_REML ? WML_PRIOR_REML : 0) |
		(options->covariance == WMLC_PRIOR_DIAGONAL ? WML_PRIOR_DIAGONAL : 0);
}

/* The workspace of all tasks together. */
static void *
allocate_fit(int dims, Size tasks, const WmlcHierarchyOptions *options)
{
	Size		bytes = wmlc_hierarchy_workspace(dims, tasks, options);
	void	   *work = wml_allocate_if_possible(bytes);

	if (work == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory for a prior of %d features", dims),
				 errdetail("Its fit takes %.0f MB.", bytes / 1e6),
				 errhint("Use fewer features, or covariance => 'diagonal'.")));
	return work;
}

/* Fit, and tell how it ended. */
static WmlPrior *
fit_prior(WmlcHierarchy *hierarchy, int dims, Size tasks, const WmlcHierarchyOptions *options)
{
	WmlPrior   *result = wml_prior_create(dims, 1);
	WmlcPrior	prior = wml_prior_view(result);

	wml_check(wmlc_hierarchy_fit(hierarchy, dims, tasks, options, &prior,
								 allocate_fit(dims, tasks, options)));
	if (prior.tasks == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks or rows are zero")));
	if (!hierarchy->converged)
		ereport(WARNING,
				(errmsg("prior stopped after %d iterations", hierarchy->iterations),
				 errdetail("In the last one it moved by %.2g of its spread.", hierarchy->change),
				 errhint("Increase iterations. If the features separate the responses perfectly, drop some.")));
	wml_prior_fill(result, &prior, prior_flags(&options->prior));
	return result;
}

/* ---- rows in memory ---- */

/* When there is one kind of responses only, no coefficient is small or large enough. */
static void
check_variety(const WmlcLikelihood *likelihood, bool any_low, bool any_high)
{
	if (likelihood->family == WMLC_GAUSSIAN || (any_high && (any_low || likelihood->family != WMLC_BINOMIAL)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("responses of all tasks are the same"),
			 errdetail(any_high ? "There are successes only." :
					   likelihood->family == WMLC_BINOMIAL ? "There is no success." : "All counts are zero.")));
}

static void
check_responses(const WmlcGlmRows *rows, const WmlcLikelihood *likelihood)
{
	bool		any_low = false;
	bool		any_high = false;

	for (Size i = 0; i < rows->count; i++)
	{
		WmlcResponse response = wmlc_glm_response(rows, i);

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		wml_check_response(likelihood, &response);
		if (response.weight == 0.0)
			continue;
		any_low |= response.y < response.exposure;
		any_high |= response.y > 0.0;
	}
	check_variety(likelihood, any_low, any_high);
}

/* What the log-likelihoods of responses have beside what depends on coefficients. */
static double
response_constants(const WmlcHierarchyRows *rows, const WmlcHierarchy *hierarchy)
{
	double		sum = 0.0;

	for (Size j = 0; j < hierarchy->tasks; j++)
	{
		double		alpha = hierarchy->alpha == NULL ? 1.0 : hierarchy->alpha[j];

		CHECK_FOR_INTERRUPTS();
		for (int64 i = rows->start[j]; i < rows->start[j + 1]; i++)
		{
			WmlcResponse response = wmlc_glm_response(&rows->rows, i);

			sum += alpha * response.weight * wmlc_likelihood_constant(&hierarchy->likelihood, &response);
		}
	}
	return sum;
}

/* A task has one weight. */
static void
check_same_alpha(double alpha, double other)
{
	wml_check_not_negative(alpha, "alpha");
	if (alpha != other)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of a task have different alphas: %g and %g", alpha, other),
				 errhint("Alpha weighs the task as a whole. Weights of rows stand in the column before it.")));
}

/* Weights of tasks from those in their rows. */
static double *
get_row_alphas(const WmlQueryRows *read)
{
	double	   *alpha;

	if (read->alpha == NULL)
		return NULL;
	alpha = (double *) wml_allocate(read->tasks, sizeof(double));
	for (int64 j = 0; j < read->tasks; j++)
	{
		CHECK_FOR_INTERRUPTS();
		alpha[j] = read->alpha[read->start[j]];
		for (int64 i = read->start[j]; i < read->start[j + 1]; i++)
			check_same_alpha(alpha[j], read->alpha[i]);
	}
	return alpha;
}

static WmlPrior *
prior_from_rows(FunctionCallInfo fcinfo, const char *query, WmlcHierarchy *hierarchy,
				WmlcHierarchyOptions *options)
{
	WmlQueryRows read = wml_query_rows(query, WML_QUERY_TASK_EXPOSURES, "tasks");
	WmlcHierarchyRows rows = {
		.rows = {
			.dims = read.inputs,
			.count = read.count,
			.x = read.x,
			.y = read.y,
			.exposure = read.exposure,
			.weight = read.weight
		},
		.start = read.start,
		.poll = wml_poll
	};
	WmlPrior   *result;

	if (read.count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query returned no rows to learn from"),
				 errdetail("It returned " INT64_FORMAT " rows with NULL.", read.skipped)));
	if (read.inputs > WMLC_MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many features: %d", read.inputs),
				 errdetail("The maximum is %d.", WMLC_MAX_DIMS)));
	check_responses(&rows.rows, &hierarchy->likelihood);
	hierarchy->find_dispersion = isnan(hierarchy->likelihood.dispersion);
	options->corrected &= hierarchy->likelihood.family != WMLC_GAUSSIAN
		&& read.inputs <= WMLC_MOST_CORRECTED_DIMS;
	rows.work = wml_allocate(wmlc_hierarchy_rows_workspace(read.inputs, read.count, read.tasks), 1);
	options->collect = wmlc_hierarchy_collect_rows;
	options->collect_arg = &rows;
	options->prior.random = get_random(fcinfo, read.inputs);
	options->alpha = get_row_alphas(&read);
	result = fit_prior(hierarchy, read.inputs, read.tasks, options);
	result->loglik += response_constants(&rows, hierarchy);
	return result;
}

/* ---- a query that is run again and again ---- */

/*
 * The tasks and their grams of the last pass are arrays, and arguments of the
 * next one: it takes each task's posterior from them.
 */
typedef struct Passes
{
	const char *schema;			/* of our functions, quoted */
	const char *query;
	const char *family;			/* quoted, and cast to text */
	bool		points;
	int			columns;		/* of the query */
	Oid			task_type;
	const char *equality;		/* operator of that type */
	Oid			gram_type;
	Oid			prior_type;
	MemoryContext context;		/* of the last pass */
	MemoryContext outer;		/* of all of them */
	int64		tasks;
	Datum	   *task;
	Datum	   *gram;
	double	   *alpha;			/* of the first pass, for all; or NULL */
	const WmlcHierarchy *hierarchy; /* has what they count */
	double		log_scale;		/* of all rows, where it was asked for */
	bool		any_low;		/* some response is below its trials; of the first pass */
	bool		any_high;		/* and some above 0 */
	bool		is_new;			/* the first pass, not yet asked for */
} Passes;

/*
 * The query of a pass; $1 and $2 are the tasks' arrays, $3 the prior.  The first
 * one also finds out what responses there are, and `scaled` asks for the sum of the
 * rows' scales.
 */
static char *
pass_query(const Passes *passes, bool first, bool scaled)
{
	StringInfoData sql;
	const char *exposure = passes->columns > 3 ? "query.exposure" : "1::pg_catalog.float8";
	const char *weight = passes->columns > 4 ? "query.weight" : "1::pg_catalog.float8";
	const char *no_array = "NULL::pg_catalog.float8[]";

	initStringInfo(&sql);
	if (!first)
		appendStringInfo(&sql,
						 "WITH last AS MATERIALIZED (SELECT task, %s.wml_posterior_coef($3, gram, NULL::pg_catalog.float8[]) AS coef, %s AS covariance "
						 "FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS last (task, gram)) ",
						 passes->schema, passes->points ? no_array
						 : psprintf("%s.wml_posterior_covariance($3, gram)", passes->schema));
	appendStringInfo(&sql,
					 "SELECT query.task, %s.wml_working_gram(query.x, query.y, %s, %s, %s, %s, %s)",
					 passes->schema, passes->family, first ? no_array : "last.coef", exposure, weight,
					 first ? no_array : "last.covariance");
	if (first)
		appendStringInfo(&sql, ", pg_catalog.bool_or(query.y OPERATOR(pg_catalog.<) %s), pg_catalog.bool_or(query.y OPERATOR(pg_catalog.>) 0::pg_catalog.float8)%s",
						 exposure, passes->columns > 5 ? ", pg_catalog.min(query.alpha), pg_catalog.max(query.alpha)" : "");
	if (scaled)
		appendStringInfo(&sql,
						 ", pg_catalog.sum(%s.wml_working_scale(query.x, query.y, %s, last.coef, %s, %s, last.covariance))",
						 passes->schema, passes->family, exposure, weight);
	appendStringInfo(&sql,
					 " FROM (%s\n) AS query (task, x, y%s%s%s) %s WHERE query.task IS NOT NULL GROUP BY query.task ORDER BY query.task",
					 passes->query,
					 passes->columns > 3 ? ", exposure" : "", passes->columns > 4 ? ", weight" : "", passes->columns > 5 ? ", alpha" : "",
					 first ? "" : psprintf("JOIN last ON last.task %s query.task", passes->equality));
	return sql.data;
}

/* What a pass gave beside tasks and grams. */
static void
read_extras(Passes *passes, HeapTuple tuple, TupleDesc descriptor)
{
	bool		is_null;

	int64		j = passes->tasks - 1;

	if (descriptor->natts == 3)
	{
		const double *alpha = passes->hierarchy->alpha;

		passes->log_scale += (alpha == NULL ? 1.0 : alpha[j])
			* DatumGetFloat8(SPI_getbinval(tuple, descriptor, 3, &is_null));
		return;
	}
	if (descriptor->natts < 4)
		return;
	passes->any_low |= DatumGetBool(SPI_getbinval(tuple, descriptor, 3, &is_null));
	passes->any_high |= DatumGetBool(SPI_getbinval(tuple, descriptor, 4, &is_null));
	if (passes->alpha != NULL)
	{
		passes->alpha[j] = DatumGetFloat8(SPI_getbinval(tuple, descriptor, 5, &is_null));
		if (is_null)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("alpha of a task is NULL")));
		check_same_alpha(passes->alpha[j], DatumGetFloat8(SPI_getbinval(tuple, descriptor, 6, &is_null)));
	}
}

/* Keep the tasks and grams that the pass gave. */
static void
keep_pass(Passes *passes)
{
	MemoryContext old_context;
	int16		length;
	bool		by_value;

	get_typlenbyval(passes->task_type, &length, &by_value);
	MemoryContextReset(passes->context);
	old_context = MemoryContextSwitchTo(passes->context);
	if (SPI_tuptable->tupdesc->natts == 6)
		passes->alpha = (double *) MemoryContextAllocHuge(passes->outer, (SPI_processed + 1) * sizeof(double));
	passes->tasks = 0;
	passes->log_scale = 0.0;
	passes->task = (Datum *) MemoryContextAllocHuge(passes->context, (SPI_processed + 1) * sizeof(Datum));
	passes->gram = (Datum *) MemoryContextAllocHuge(passes->context, (SPI_processed + 1) * sizeof(Datum));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		is_null;
		Datum		task = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null);
		Datum		gram = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2, &is_null);

		if (is_null || wml_gram_from_datum(gram)->dims == 0)
			continue;
		passes->task[passes->tasks] = datumCopy(task, by_value, length);
		passes->gram[passes->tasks++] = PointerGetDatum(PG_DETOAST_DATUM_COPY(gram));
		read_extras(passes, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
	}
	MemoryContextSwitchTo(old_context);
}

static Datum
array_of(Datum *values, int64 count, Oid type)
{
	int16		length;
	bool		by_value;
	char		alignment;

	if (count > INT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many tasks: " INT64_FORMAT, count)));
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	return PointerGetDatum(construct_array(values, (int) count, type, length, by_value, alignment));
}

/* The operator by which GROUP BY tells tasks apart, in the memory that lasts. */
static const char *
task_equality(const Passes *passes)
{
	MemoryContext old_context = MemoryContextSwitchTo(MemoryContextGetParent(passes->context));
	Oid			operator;
	const char *name;

	get_sort_group_operators(passes->task_type, false, true, false, NULL, &operator, NULL, NULL);
	name = wml_query_operator(operator);
	MemoryContextSwitchTo(old_context);
	return name;
}

/* One pass over the rows, at the prior or at no coefficients yet. */
static void
run_pass(Passes *passes, WmlPrior *prior, bool scaled)
{
	Oid			types[3] = {get_array_type(passes->task_type), get_array_type(passes->gram_type),
	passes->prior_type};
	bool		was_read_only = wml_begin_read_only();
	int			result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (prior == NULL)
		result = SPI_execute_with_args(pass_query(passes, true, false), 0, NULL, NULL, NULL, true, 0);
	else
	{
		Datum		values[3] = {
			array_of(passes->task, passes->tasks, passes->task_type),
			array_of(passes->gram, passes->tasks, passes->gram_type),
			PointerGetDatum(prior)
		};

		result = SPI_execute_with_args(pass_query(passes, false, scaled), 3, types, values, NULL, true, 0);
	}
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed: %s", SPI_result_code_string(result));
	if (!OidIsValid(passes->task_type))
	{
		passes->task_type = SPI_gettypeid(SPI_tuptable->tupdesc, 1);
		passes->gram_type = SPI_gettypeid(SPI_tuptable->tupdesc, 2);
		if (!OidIsValid(get_array_type(passes->task_type)))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("tasks of type %s cannot be put into an array", format_type_be(passes->task_type)),
					 errhint("Cast the tasks to text.")));
		passes->equality = task_equality(passes);
	}
	keep_pass(passes);
	SPI_finish();
	wml_end_read_only(was_read_only);
}

/*
 * The core may have mixed the grams of the last pass with those before; that is
 * what the next one has to start from.
 */
static void
take_over_moments(Passes *passes, const WmlcHierarchy *hierarchy)
{
	Size		entries = wmlc_gram_entries(hierarchy->dims);

	for (int64 j = 0; j < passes->tasks; j++)
	{
		const WmlcGram *old = wml_gram_from_datum(passes->gram[j]);
		MemoryContext old_context = MemoryContextSwitchTo(passes->context);
		WmlGram    *gram = wml_gram_create(hierarchy->dims);

		MemoryContextSwitchTo(old_context);
		memcpy(&gram->body, old, wmlc_gram_bytes(hierarchy->dims));
		memcpy(gram->body.sums, hierarchy->moments + j * entries, entries * sizeof(double));
		memcpy(gram->body.sums + entries, hierarchy->moments_lo + j * entries, entries * sizeof(double));
		pfree(DatumGetPointer(passes->gram[j]));
		passes->gram[j] = PointerGetDatum(gram);
	}
}

/* The callback of the core: its tasks are those of the pass. */
static WmlcStatus
collect_pass(void *arg, WmlcHierarchy *hierarchy)
{
	Passes	   *passes = (Passes *) arg;
	Size		entries = wmlc_gram_entries(hierarchy->dims);

	if (!passes->is_new)
	{
		Size		d = hierarchy->dims;
		WmlPrior   *prior = wml_prior_create(hierarchy->dims, 1);

		memcpy(prior->numbers, hierarchy->used->mean, d * sizeof(double));
		memcpy(prior->numbers + d, hierarchy->used->factor, d * d * sizeof(double));
		prior->noise = 1.0;
		prior->tasks = prior->effective_tasks = (double) passes->tasks;
		prior->noise_degrees = 1.0;
		prior->family = (uint16) hierarchy->likelihood.family;
		prior->dispersion = hierarchy->likelihood.dispersion;
		take_over_moments(passes, hierarchy);
		run_pass(passes, prior, false);
		pfree(prior);
	}
	passes->is_new = false;
	if ((Size) passes->tasks != hierarchy->tasks)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query returned different tasks when it was run again"),
				 errhint("It must not depend on random numbers or the time.")));
	for (int64 j = 0; j < passes->tasks; j++)
	{
		const WmlcGram *gram = wml_gram_from_datum(passes->gram[j]);

		if (gram->dims != hierarchy->dims)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("rows of the tasks must have the same number of inputs"),
					 errdetail("One task has %d inputs, another one %d.", gram->dims, hierarchy->dims)));
		if (!wmlc_gram_is_finite(gram))
			return WMLC_NOT_FINITE;
		memcpy(hierarchy->moments + j * entries, gram->sums, entries * sizeof(double));
		memcpy(hierarchy->moments_lo + j * entries, gram->sums + entries, entries * sizeof(double));
		hierarchy->rows[j] = (double) wmlc_gram_weighted_rows(gram);
	}
	hierarchy->log_scale = 0.0;
	return WMLC_OK;
}

/* The evidence, at the price of one more pass. */
static void
find_evidence(Passes *passes, WmlcHierarchy *hierarchy, WmlPrior *result)
{
	WmlcPrior	prior = wml_prior_view(result);
	WmlcPriorTasks tasks = {
		.dims = hierarchy->dims,
		.count = hierarchy->tasks,
		.moments = hierarchy->moments,
		.moments_lo = hierarchy->moments_lo,
		.rows = hierarchy->rows,
		.alpha = passes->alpha
	};

	take_over_moments(passes, hierarchy);
	run_pass(passes, result, true);
	passes->is_new = true;
	wml_check(collect_pass(passes, hierarchy));
	wml_check(wmlc_prior_loglik(&prior, &tasks, wml_poll, &result->loglik,
								wml_allocate(wmlc_prior_loglik_workspace(tasks.dims, tasks.count), 1)));
	result->loglik += 0.5 * prior.rows * log(2.0 * M_PI) + passes->log_scale;
}

static WmlPrior *
prior_from_passes(FunctionCallInfo fcinfo, const char *query, WmlcHierarchy *hierarchy,
				  WmlcHierarchyOptions *options)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	Passes		passes = {
		.schema = quote_identifier(get_namespace_name(get_func_namespace(function))),
		.family = psprintf("%s::pg_catalog.text", quote_literal_cstr(text_to_cstring(PG_GETARG_TEXT_PP(ARG_FAMILY)))),
		.points = options->points,
		.prior_type = get_func_rettype(function),
		.hierarchy = hierarchy,
		.outer = CurrentMemoryContext,
		.context = AllocSetContextCreate(CurrentMemoryContext, "wml pass", ALLOCSET_DEFAULT_SIZES)
	};
	WmlPrior   *result;

	if (isnan(hierarchy->likelihood.dispersion))
		hierarchy->likelihood = wml_likelihood_known(PG_GETARG_TEXT_PP(ARG_FAMILY));
	passes.query = wml_query_check(query, WML_QUERY_TASK_EXPOSURES, "tasks", &passes.columns);
	run_pass(&passes, NULL, false);
	if (passes.tasks == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query returned no rows to learn from")));
	check_variety(&hierarchy->likelihood, passes.any_low, passes.any_high);
	passes.is_new = true;
	options->points = true;		/* the posteriors' covariances are found in the query */
	options->alpha = passes.alpha;
	options->collect = collect_pass;
	options->collect_arg = &passes;
	options->prior.random = get_random(fcinfo, wml_gram_from_datum(passes.gram[0])->dims);
	result = fit_prior(hierarchy, wml_gram_from_datum(passes.gram[0])->dims, passes.tasks, options);
	find_evidence(&passes, hierarchy, result);
	return result;
}

/* wml_glm_prior(query, family, covariance, method, evenness, approximation, reread, tolerance, iterations, fixed) */
Datum
wml_glm_prior(PG_FUNCTION_ARGS)
{
	WmlProgress progress = {0};
	WmlcHierarchyOptions options = {.trace = report_iteration, .trace_arg = &progress};
	WmlcHierarchy hierarchy = {0};
	char	   *query;

	get_options(fcinfo, &options);
	hierarchy.likelihood = wml_likelihood_from_text(PG_GETARG_TEXT_PP(ARG_FAMILY));
	query = text_to_cstring(PG_GETARG_TEXT_PP(ARG_QUERY));
	wml_progress_due(&progress);
	if (PG_GETARG_BOOL(ARG_REREAD))
		PG_RETURN_POINTER(prior_from_passes(fcinfo, query, &hierarchy, &options));
	PG_RETURN_POINTER(prior_from_rows(fcinfo, query, &hierarchy, &options));
}

/* ---- one step of an iteration that the user runs ---- */

enum
{
	GRAMS,
	GRAMS_FAMILY,
	GRAMS_ALPHA,
	GRAMS_COVARIANCE,
	GRAMS_METHOD,
	GRAMS_EVENNESS
};

/* The weights, one for each task, all of them known. */
static double *
get_task_weights(ArrayType *array, Size tasks)
{
	int			count;
	double	   *alpha = wml_array_vector(array, "alpha", &count);

	if ((Size) count != tasks)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one weight for each source"),
				 errdetail("There are %d weights for %zu sources.", count, tasks)));
	for (int i = 0; i < count; i++)
		wml_check_not_negative(alpha[i], "alpha");
	return alpha;
}

/* The grams side by side as the core wants them. */
static WmlcPriorTasks
get_grams(ArrayType *array)
{
	WmlSources	sources = wml_sources_from_array(array);
	WmlcPriorTasks tasks = {.count = sources.count};
	double	   *hi = NULL;
	double	   *lo = NULL;
	double	   *rows = (double *) wml_allocate(sources.count, sizeof(double));
	Size		entries = 0;

	for (int64 j = 0; j < sources.count; j++)
	{
		const WmlcGram *gram = sources.source(sources.arg, j);

		CHECK_FOR_INTERRUPTS();
		rows[j] = 0.0;
		if (gram == NULL || wmlc_gram_weighted_rows(gram) == 0)
			continue;
		wml_gram_check_solvable(gram, "source");
		if (hi == NULL)
		{
			tasks.dims = gram->dims;
			entries = wmlc_gram_entries(gram->dims);
			hi = (double *) wml_allocate(sources.count, entries * sizeof(double));
			lo = (double *) wml_allocate(sources.count, entries * sizeof(double));
			memset(hi, 0, sources.count * entries * sizeof(double));
			memset(lo, 0, sources.count * entries * sizeof(double));
		}
		wml_check_feature_count(gram->dims, tasks.dims);
		rows[j] = (double) wmlc_gram_weighted_rows(gram);
		memcpy(hi + j * entries, gram->sums, entries * sizeof(double));
		memcpy(lo + j * entries, gram->sums + entries, entries * sizeof(double));
	}
	if (hi == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from"),
				 errdetail("All grams are NULL or without rows.")));
	tasks.moments = hi;
	tasks.moments_lo = lo;
	tasks.rows = rows;
	return tasks;
}

/* wml_glm_prior(sources, family, alpha, covariance, method, evenness) */
Datum
wml_glm_prior_grams(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"sources", "family", NULL, "covariance", "method", "evenness"};
	WmlcPriorOptions options = {.poll = wml_poll, .fixed_noise = 1.0};
	WmlcLikelihood likelihood;
	WmlcPriorTasks tasks;
	WmlPrior   *result;
	WmlcPrior	prior;
	void	   *work;

	for (int i = GRAMS; i <= GRAMS_EVENNESS; i++)
	{
		if (i != GRAMS_ALPHA)
			wml_require_arg(fcinfo, i, names[i]);
	}
	likelihood = wml_likelihood_known(PG_GETARG_TEXT_PP(GRAMS_FAMILY));
	options.covariance = (WmlcPriorCovariance)
		wml_arg_word(PG_GETARG_TEXT_PP(GRAMS_COVARIANCE), &wmlc_prior_covariance_words, "covariance");
	options.method = (WmlcPriorMethod)
		wml_arg_word(PG_GETARG_TEXT_PP(GRAMS_METHOD), &wmlc_prior_method_words, "method");
	options.evenness = wml_check_not_negative(PG_GETARG_FLOAT8(GRAMS_EVENNESS), "evenness");
	tasks = get_grams(PG_GETARG_ARRAYTYPE_P(GRAMS));
	if (!PG_ARGISNULL(GRAMS_ALPHA))
		tasks.alpha = get_task_weights(PG_GETARG_ARRAYTYPE_P(GRAMS_ALPHA), tasks.count);
	result = wml_prior_create(tasks.dims, 1);
	prior = wml_prior_view(result);
	work = wml_allocate(wmlc_prior_fit_workspace(tasks.dims, tasks.count, &options), 1);
	wml_check(wmlc_prior_fit(&tasks, &options, &prior, work));
	if (prior.tasks == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	if (likelihood.family != WMLC_GAUSSIAN)
		wml_check(wmlc_prior_widen(&prior, work, wml_allocate(wmlc_prior_widen_workspace(tasks.dims, &options), 1)));
	prior.family = likelihood.family;
	prior.dispersion = likelihood.dispersion;
	wml_prior_fill(result, &prior, prior_flags(&options));
	PG_RETURN_POINTER(result);
}

/* wml_posterior_covariance(prior, gram) */
Datum
wml_posterior_covariance(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlcPosterior posterior;
	ArrayType  *result;
	double	   *covariance;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	wml_get_posterior(&prior, PG_ARGISNULL(1) ? NULL : PG_GETARG_GRAM(1), &posterior);
	result = wml_array_new_matrix(prior.dims, prior.dims, &covariance);
	wml_check(wmlc_posterior_covariance(&posterior, covariance));
	PG_RETURN_ARRAYTYPE_P(result);
}
