/*
 * hierarchy.c
 *	  The hierarchical model of many tasks: wml_glm_prior, its options and its fit.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/base/progress.h"
#include "pg/glm/glm.h"
#include "pg/glm/hierarchy.h"

PG_FUNCTION_INFO_V1(wml_glm_prior);

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
				 errmsg("iterations must be between 1 and %d: %d",
						WML_MAX_STEPS, options->max_iterations)));
}

/* Positions of features that have the same coefficient in all tasks, as a mask of the others. */
static const bool *
random_features(ArrayType *fixed, int dims)
{
	bool	   *random;
	Datum	   *positions;
	bool	   *nulls;
	int			count;

	if (fixed == NULL)
		return NULL;
	deconstruct_array(fixed, INT4OID, sizeof(int32), true, TYPALIGN_INT, &positions, &nulls,
					  &count);
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

int
wml_hierarchy_flags(const WmlcPriorOptions *options)
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

WmlPrior *
wml_hierarchy_fit(WmlHierarchyCall *call, int dims, Size tasks)
{
	WmlcHierarchy *hierarchy = &call->hierarchy;
	WmlcHierarchyOptions *options = &call->options;
	WmlPrior   *result = wml_prior_create(dims, 1);
	WmlcPrior	prior = wml_prior_view(result);

	options->prior.random = random_features(call->fixed, dims);
	wml_check(wmlc_hierarchy_fit(hierarchy, dims, tasks, options, &prior,
								 allocate_fit(dims, tasks, options)));
	if (prior.tasks == 0.0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("weights of all tasks or rows are zero")));
	if (!hierarchy->converged)
		ereport(WML_WARNING,
				(errmsg("prior stopped after %d iterations", hierarchy->iterations),
				 errdetail("In the last one it moved by %.2g of its spread.", hierarchy->change),
				 errhint("Increase iterations. If the features separate the responses perfectly, "
						 "drop some.")));
	wml_prior_fill(result, &prior, wml_hierarchy_flags(&options->prior));
	return result;
}

void
wml_check_variety(const WmlcLikelihood *likelihood, bool any_low, bool any_high)
{
	bool		binomial = likelihood->family == WMLC_BINOMIAL;

	if (likelihood->family == WMLC_GAUSSIAN || (any_high && (any_low || !binomial)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("responses of all tasks are the same"),
			 errdetail(any_high ? "There are successes only." :
					   binomial ? "There is no success." : "All counts are zero.")));
}

void
wml_check_same_alpha(double alpha, double other)
{
	wml_check_not_negative(alpha, "alpha");
	if (alpha != other)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of a task have different alphas: %g and %g", alpha, other),
				 errhint("Alpha weighs the task as a whole. Weights of rows stand in the column "
						 "before it.")));
}

/*
 * wml_glm_prior(query, family, covariance, method, evenness, approximation, reread, tolerance,
 * iterations, fixed)
 */
Datum
wml_glm_prior(PG_FUNCTION_ARGS)
{
	WmlProgress progress = {0};
	WmlHierarchyCall call = {
		.function = fcinfo->flinfo->fn_oid,
		.options = {.trace = report_iteration, .trace_arg = &progress}
	};

	get_options(fcinfo, &call.options);
	call.family = PG_GETARG_TEXT_PP(ARG_FAMILY);
	call.hierarchy.likelihood = wml_likelihood_from_text(call.family);
	call.query = text_to_cstring(PG_GETARG_TEXT_PP(ARG_QUERY));
	call.fixed = PG_ARGISNULL(ARG_FIXED) ? NULL : PG_GETARG_ARRAYTYPE_P(ARG_FIXED);
	wml_progress_due(&progress);
	PG_RETURN_POINTER(PG_GETARG_BOOL(ARG_REREAD) ? wml_hierarchy_from_passes(&call)
					  : wml_hierarchy_from_rows(&call));
}
