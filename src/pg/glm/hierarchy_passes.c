/*
 * hierarchy_passes.c
 *	  The hierarchical model of a query that is run again in each iteration, so that
 *	  only the tasks' grams are kept.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/query.h"
#include "pg/glm/glm.h"
#include "pg/glm/hierarchy.h"
#include "pg/gram/gram.h"

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
 * The covariance of a task's coefficients.  Where they are a point it is 0, which matters to
 * the negative binomial alone: without any covariance its curvature would be the expected one.
 */
static const char *
pass_covariance(const Passes *passes)
{
	int			d = passes->hierarchy->dims;

	if (!passes->points)
		return psprintf("%s.wml_posterior_covariance($3, gram)", passes->schema);
	if (passes->hierarchy->likelihood.family != WMLC_NEGATIVE_BINOMIAL)
		return "NULL::pg_catalog.float8[]";
	return psprintf("pg_catalog.array_fill(0::pg_catalog.float8, ARRAY[%d, %d])", d, d);
}

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
						 "WITH last AS MATERIALIZED ("
						 "SELECT task, %s.wml_posterior_coef($3, gram, %s) AS coef, %s AS covariance "
						 "FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) "
						 "AS last (task, gram)) ",
						 passes->schema, no_array, pass_covariance(passes));
	appendStringInfo(&sql,
					 "SELECT query.task, %s.wml_working_gram(query.x, query.y, %s, %s, %s, %s, %s)",
					 passes->schema, passes->family, first ? no_array : "last.coef", exposure,
					 weight, first ? no_array : "last.covariance");
	if (first)
		appendStringInfo(&sql,
						 ", pg_catalog.bool_or(query.y OPERATOR(pg_catalog.<) %s)"
						 ", pg_catalog.bool_or(query.y OPERATOR(pg_catalog.>) 0::pg_catalog.float8)",
						 exposure);
	if (first && passes->columns > 5)
		appendStringInfoString(&sql,
							   ", pg_catalog.min(query.alpha), pg_catalog.max(query.alpha)");
	if (scaled)
		appendStringInfo(&sql,
						 ", pg_catalog.sum(%s.wml_working_scale("
						 "query.x, query.y, %s, last.coef, %s, %s, last.covariance))",
						 passes->schema, passes->family, exposure, weight);
	appendStringInfo(&sql,
					 " FROM (%s\n) AS query (task, x, y%s%s%s) %s WHERE query.task IS NOT NULL "
					 "GROUP BY query.task ORDER BY query.task",
					 passes->query, passes->columns > 3 ? ", exposure" : "",
					 passes->columns > 4 ? ", weight" : "", passes->columns > 5 ? ", alpha" : "",
					 first ? "" : psprintf("JOIN last ON last.task %s query.task",
										   passes->equality));
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

		/* more tasks than before are an error as soon as they are all there */
		if ((Size) j >= passes->hierarchy->tasks)
			return;
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
		wml_check_same_alpha(passes->alpha[j], DatumGetFloat8(SPI_getbinval(tuple, descriptor, 6, &is_null)));
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
find_evidence(Passes *passes, WmlcHierarchy *hierarchy, const WmlcHierarchyOptions *options,
			  WmlPrior *result)
{
	WmlcPrior	prior = wml_prior_view(result);
	WmlcPriorTasks tasks = wmlc_hierarchy_tasks(hierarchy, options);

	take_over_moments(passes, hierarchy);
	run_pass(passes, result, true);
	passes->is_new = true;
	wml_check(collect_pass(passes, hierarchy));
	wml_check(wmlc_prior_loglik(&prior, &tasks, wml_poll, &result->loglik,
								wml_allocate(wmlc_prior_loglik_workspace(tasks.dims, tasks.count), 1)));
	result->loglik += 0.5 * prior.rows * log(2.0 * M_PI) + passes->log_scale;
}

WmlPrior *
wml_hierarchy_from_passes(WmlHierarchyCall *call)
{
	WmlcHierarchy *hierarchy = &call->hierarchy;
	WmlcHierarchyOptions *options = &call->options;
	char	   *family = quote_literal_cstr(text_to_cstring(call->family));
	char	   *schema = get_namespace_name(get_func_namespace(call->function));
	Passes		passes = {
		.schema = quote_identifier(schema),
		.family = psprintf("%s::pg_catalog.text", family),
		.points = options->points,
		.prior_type = get_func_rettype(call->function),
		.hierarchy = hierarchy,
		.outer = CurrentMemoryContext,
		.context = AllocSetContextCreate(CurrentMemoryContext, "wml pass", ALLOCSET_DEFAULT_SIZES)
	};
	WmlPrior   *result;

	if (isnan(hierarchy->likelihood.dispersion))
		hierarchy->likelihood = wml_likelihood_known(call->family);
	passes.query = wml_query_check(call->query, WML_QUERY_TASK_EXPOSURES, "tasks", &passes.columns);
	run_pass(&passes, NULL, false);
	if (passes.tasks == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query returned no rows to learn from")));
	wml_check_variety(&hierarchy->likelihood, passes.any_low, passes.any_high);
	passes.is_new = true;
	options->points = true;		/* the posteriors' covariances are found in the query */
	options->alpha = passes.alpha;
	options->collect = collect_pass;
	options->collect_arg = &passes;
	result = wml_hierarchy_fit(call, wml_gram_from_datum(passes.gram[0])->dims, passes.tasks);
	find_evidence(&passes, hierarchy, options, result);
	return result;
}
