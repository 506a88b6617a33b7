/*
 * prior.c
 *	  The likelihood of grams under a prior: wml_loglik.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "core/prior/prior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/prior/prior_fit.h"
#include "pg/weights/alpha.h"

PG_FUNCTION_INFO_V1(wml_loglik);
PG_FUNCTION_INFO_V1(wml_loglik_of_fit);

/* The user's weights; a NULL is a task that takes no part. */
double *
wml_task_weights(FunctionCallInfo fcinfo, int argument, int64 expected)
{
	return PG_ARGISNULL(argument) ? NULL
		: wml_array_weights(PG_GETARG_ARRAYTYPE_P(argument), expected);
}

/* wml_loglik(prior): at the fit */
Datum
wml_loglik_of_fit(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_PRIOR(0)->loglik);
}

/* Descriptors with the constant before them, one row per task */
static double *
complete_descriptors(const WmlcPrior *prior, const double *given, int count, Size tasks)
{
	int			g = prior->descriptors;
	double	   *descriptors = (double *) wml_allocate(tasks, g * sizeof(double));

	if (count + 1 != g)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("descriptors do not match the prior"),
				 errdetail("There are %d, the prior has %d.", count, g - 1)));
	for (Size j = 0; j < tasks; j++)
	{
		descriptors[j * g] = 1.0;
		if (count > 0)
			memcpy(descriptors + j * g + 1, given + j * count, count * sizeof(double));
	}
	return descriptors;
}

/* wml_loglik(prior, sources, alpha, descriptors): of any tasks */
Datum
wml_loglik(PG_FUNCTION_ARGS)
{
	WmlcPrior	prior;
	WmlSources	sources;
	WmlTasks	gathered;
	WmlcPriorTasks tasks;
	double	   *alpha;
	double	   *given;
	int			count;
	double		loglik;

	wml_require_arg(fcinfo, 0, "prior");
	wml_require_arg(fcinfo, 1, "sources");
	prior = wml_prior_view(PG_GETARG_PRIOR(0));
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(1));
	alpha = wml_task_weights(fcinfo, 2, sources.count);
	given = wml_descriptors(PG_GETARG_DATUM(3), PG_ARGISNULL(3), sources.count, &count);
	wml_tasks_begin(&gathered, CurrentMemoryContext, 0);
	for (int64 j = 0; j < sources.count; j++)
	{
		wml_poll();
		wml_tasks_add(&gathered, sources.source(sources.arg, j), alpha == NULL ? 1.0 : alpha[j],
					  NULL);
	}
	tasks = wml_tasks_view(&gathered);
	if (tasks.dims != prior.dims)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("grams do not match the prior"),
				 errdetail("The grams have %d features, the prior %d.", tasks.dims, prior.dims)));
	tasks.descriptors = complete_descriptors(&prior, given, count, tasks.count);
	wml_check(wmlc_prior_loglik(&prior, &tasks, wml_poll, &loglik,
								wml_allocate(wmlc_prior_loglik_workspace(tasks.dims, tasks.count), 1)));
	PG_RETURN_FLOAT8(loglik);
}
