/*
 * hierarchy_rows.c
 *	  The hierarchical model of rows that a query returns once and that are kept in
 *	  memory.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "core/glm/excess.h"
#include "core/glm/hierarchy_correct.h"
#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/glm/glm.h"
#include "pg/glm/hierarchy.h"

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
	wml_check_variety(likelihood, any_low, any_high);
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

			sum += alpha * response.weight
				* wmlc_likelihood_constant(&hierarchy->likelihood, &response);
		}
	}
	return sum;
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
			wml_check_same_alpha(alpha[j], read->alpha[i]);
	}
	return alpha;
}

WmlPrior *
wml_hierarchy_from_rows(WmlHierarchyCall *call)
{
	WmlcHierarchy *hierarchy = &call->hierarchy;
	WmlcHierarchyOptions *options = &call->options;
	WmlQueryRows read = wml_query_rows(call->query, WML_QUERY_TASK_EXPOSURES, "tasks");
	WmlcHierarchyRows rows = {
		.rows = wml_query_rows_view(&read),
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
	rows.work = wml_allocate(wmlc_hierarchy_rows_workspace(read.inputs, read.count, read.tasks),
							 1);
	options->collect = wmlc_hierarchy_collect_rows;
	options->collect_arg = &rows;
	options->alpha = get_row_alphas(&read);
	result = wml_hierarchy_fit(call, read.inputs, read.tasks);
	result->loglik += response_constants(&rows, hierarchy);
	if (wml_excess_can_be_told(&hierarchy->likelihood, &rows.rows))
	{
		WmlcExcess	excess;

		wml_check(wmlc_excess_of_tasks(&excess, &rows, hierarchy));
		wml_warn_of_excess(&excess, "Use family => 'negative_binomial'.");
	}
	return result;
}
