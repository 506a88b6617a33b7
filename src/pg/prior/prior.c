/*
 * prior.c
 *	  Learning a prior from the sources' grams, and the likelihood of grams
 *	  under a prior: wml_prior and wml_loglik.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "core/gram/gram.h"
#include "core/prior/prior.h"
#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/base/memory.h"
#include "pg/prior/prior.h"
#include "pg/base/progress.h"

PG_FUNCTION_INFO_V1(wml_prior_fit);
PG_FUNCTION_INFO_V1(wml_loglik);
PG_FUNCTION_INFO_V1(wml_loglik_of_fit);

/* The user's weights; a NULL is a task that takes no part. */
static double *
get_task_weights(ArrayType *array, int64 expected)
{
	double	   *alpha = (double *) wml_allocate(expected, sizeof(double));
	Datum	   *datums;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &datums, &nulls, &count);
	if (count != expected)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one weight for each source"),
				 errdetail("There are %d weights for " INT64_FORMAT " sources.", count, expected)));
	for (int i = 0; i < count; i++)
		alpha[i] = nulls[i] ? 0.0 : wml_check_not_negative(DatumGetFloat8(datums[i]), "alpha");
	return alpha;
}

/*
 * The grams side by side as the core wants them.  NULL grams and grams without
 * rows are kept as tasks without rows, so that weights stay in step.
 */
static WmlcPriorTasks
get_tasks(const WmlSources *sources, double *alpha)
{
	WmlcPriorTasks tasks = {.count = sources->count, .alpha = alpha};
	double	   *hi = NULL;
	double	   *lo = NULL;
	double	   *rows = (double *) wml_allocate(sources->count, sizeof(double));
	Size		entries = 0;

	for (int64 j = 0; j < sources->count; j++)
	{
		const WmlcGram *gram = sources->source(sources->arg, j);

		rows[j] = 0.0;
		if (gram == NULL || wmlc_gram_weighted_rows(gram) == 0)
			continue;
		wml_gram_check_solvable(gram, "source");
		if (hi == NULL)
		{
			tasks.dims = gram->dims;
			entries = wmlc_gram_entries(gram->dims);
			hi = (double *) wml_allocate(sources->count, entries * sizeof(double));
			lo = (double *) wml_allocate(sources->count, entries * sizeof(double));
			memset(hi, 0, sources->count * entries * sizeof(double));
			memset(lo, 0, sources->count * entries * sizeof(double));
		}
		else if (gram->dims != tasks.dims)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("grams have different numbers of features"),
					 errdetail("One has %d features, the other %d.", tasks.dims, gram->dims)));
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

/*
 * The workspace of a fit.  That of a full covariance grows with the fourth power
 * of the features, of which a few hundred make it too much for any machine.
 */
static void *
allocate_fit(const WmlcPriorTasks *tasks, const WmlcPriorOptions *options)
{
	Size		bytes = wmlc_prior_fit_workspace(tasks->dims, tasks->count, options);
	void	   *work = wml_allocate_if_possible(bytes);

	if (work == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory for a prior of %d features", tasks->dims),
				 errdetail("Its fit takes %.0f MB.", bytes / 1e6),
				 options->covariance == WMLC_PRIOR_FULL
				 ? errhint("Use covariance => 'diagonal', or fewer features.") : 0));
	return work;
}

/* A fit that explains everything has learned nothing of noise. */
static void
warn_if_saturated(const WmlcPrior *prior)
{
	if (prior->saturated)
		ereport(WARNING,
				(errmsg("the prior explains the responses of all sources exactly"),
				 errdetail("It finds no noise in %.0f rows of %.0f tasks with %d features, and takes new rows for exact, too.",
						   prior->rows, prior->tasks, prior->dims),
				 errhint("Use fewer features, covariance => 'diagonal', or sources with more rows.")));
}

static void
report_iteration(void *arg, int iteration, double objective)
{
	if (wml_progress_due((WmlProgress *) arg))
		ereport(NOTICE,
				(errmsg("prior: iteration %d, log-likelihood %.6g", iteration, objective)));
}

/* wml_prior(sources, alpha, covariance, method, temper, evenness) */
Datum
wml_prior_fit(PG_FUNCTION_ARGS)
{
	WmlProgress progress = {0};
	WmlcPriorOptions options = {
		.poll = wml_poll,
		.trace = report_iteration,
		.trace_arg = &progress
	};
	WmlSources	sources;
	WmlcPriorTasks tasks;
	WmlPrior   *result;
	WmlcPrior	prior;

	wml_require_arg(fcinfo, 0, "sources");
	wml_require_arg(fcinfo, 2, "covariance");
	wml_require_arg(fcinfo, 3, "method");
	wml_require_arg(fcinfo, 4, "temper");
	wml_require_arg(fcinfo, 5, "evenness");
	options.covariance = wml_arg_word(PG_GETARG_TEXT_PP(2), &wmlc_prior_covariance_words, "covariance");
	options.method = wml_arg_word(PG_GETARG_TEXT_PP(3), &wmlc_prior_method_words, "method");
	options.evenness = wml_check_not_negative(PG_GETARG_FLOAT8(5), "evenness");
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(0));
	tasks = get_tasks(&sources, PG_ARGISNULL(1) ? NULL :
					  get_task_weights(PG_GETARG_ARRAYTYPE_P(1), sources.count));
	tasks.temper = wml_check_not_negative(PG_GETARG_FLOAT8(4), "temper");
	if (tasks.temper > 1.0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("temper must be between 0 and 1: %g", tasks.temper)));

	result = wml_prior_create(tasks.dims, 1);
	prior = wml_prior_view(result);
	wml_progress_due(&progress);
	wml_check(wmlc_prior_fit(&tasks, &options, &prior, allocate_fit(&tasks, &options)));
	if (prior.tasks == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks are zero"),
				 errhint("At least one task needs a positive alpha.")));
	warn_if_saturated(&prior);
	wml_prior_fill(result, &prior,
				   (options.method == WMLC_PRIOR_REML ? WML_PRIOR_REML : 0) |
				   (options.covariance == WMLC_PRIOR_DIAGONAL ? WML_PRIOR_DIAGONAL : 0));
	PG_RETURN_POINTER(result);
}

/* wml_loglik(prior): at the fit */
Datum
wml_loglik_of_fit(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_PRIOR(0)->loglik);
}

/* wml_loglik(prior, sources, alpha): of any tasks */
Datum
wml_loglik(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlSources	sources;
	WmlcPriorTasks tasks;
	double		loglik;

	wml_require_arg(fcinfo, 0, "prior");
	wml_require_arg(fcinfo, 1, "sources");
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(1));
	tasks = get_tasks(&sources, PG_ARGISNULL(2) ? NULL :
					  get_task_weights(PG_GETARG_ARRAYTYPE_P(2), sources.count));
	if (tasks.dims != prior.dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("grams do not match the prior"),
				 errdetail("The grams have %d features, the prior %d.", tasks.dims, prior.dims)));
	wml_check(wmlc_prior_loglik(&prior, &tasks, wml_poll, &loglik,
								wml_allocate(wmlc_prior_loglik_workspace(tasks.dims, tasks.count), 1)));
	PG_RETURN_FLOAT8(loglik);
}
