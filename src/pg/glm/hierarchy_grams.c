/*
 * hierarchy_grams.c
 *	  One step of an iteration that SQL runs: the prior that working grams lead to,
 *	  wml_glm_prior of an array, and the posteriors' covariances.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "core/prior/posterior.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/glm/glm.h"
#include "pg/glm/hierarchy.h"
#include "pg/gram/gram.h"
#include "pg/weights/alpha.h"

PG_FUNCTION_INFO_V1(wml_glm_prior_grams);
PG_FUNCTION_INFO_V1(wml_posterior_covariance);

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
	static const char *const names[] = {
		"sources", "family", NULL, "covariance", "method", "evenness"
	};
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
		wml_arg_word(PG_GETARG_TEXT_PP(GRAMS_COVARIANCE), &wmlc_prior_covariance_words,
					 "covariance");
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
	{
		Size		bytes = wmlc_prior_widen_workspace(tasks.dims, &options);

		wml_check(wmlc_prior_widen(&prior, work, wml_allocate(bytes, 1)));
	}
	prior.family = likelihood.family;
	prior.dispersion = likelihood.dispersion;
	wml_prior_fill(result, &prior, wml_hierarchy_flags(&options));
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
