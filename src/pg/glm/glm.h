/*
 * glm.h
 *	  What the functions for generalised linear models share: families from text,
 *	  checks of responses, rows kept by aggregates.
 */
#ifndef WML_GLM_H
#define WML_GLM_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "core/glm/excess.h"
#include "core/glm/working.h"
#include "core/prior/posterior.h"
#include "pg/base/query.h"

/*
 * The family that a text names, with its dispersion: negative_binomial(0.5).
 * Without a number the dispersion is NaN, to be estimated or refused.
 */
extern WmlcLikelihood wml_likelihood_from_text(text *name);

/* The same; where the dispersion cannot be estimated there must be one. */
extern WmlcLikelihood wml_likelihood_known(text *name);

/* The likelihood itself, once it has a dispersion. */
extern const WmlcLikelihood *wml_check_dispersion(const WmlcLikelihood *likelihood);

/* The family of the last call, mostly that of the next one. */
typedef struct WmlFamilyCache
{
	WmlcLikelihood likelihood;
	Size		size;
	char	   *name;			/* as it came, with its header */
} WmlFamilyCache;

extern const WmlcLikelihood *wml_likelihood_cached(WmlFamilyCache *cache, MemoryContext context,
												   text *name);

/* An error unless the family can have such a response. */
extern void wml_check_response(const WmlcLikelihood *likelihood, const WmlcResponse *row);

/* Could counts vary too much for the model, and could it be told? */
extern bool wml_excess_can_be_told(const WmlcLikelihood *likelihood, const WmlcGlmRows *rows);

/* Warn if they clearly do. */
extern void wml_warn_of_excess(const WmlcExcess *excess, const char *hint);

/* The optional arguments exposure and weight; false when one of them is NULL. */
extern bool wml_get_response(FunctionCallInfo fcinfo, int y, int exposure, WmlcResponse *row);

/* Coefficients must be as many as features. */
extern void wml_check_feature_count(int features, int coefficients);

/* A task's posterior; no gram, or one without rows, is the prior itself. */
extern void wml_get_posterior(const WmlcPrior *prior, const WmlcGram *gram,
							  WmlcPosterior *posterior);

/* The linear predictor of the arguments (prior, gram, x, level). */
extern void wml_predict_args(FunctionCallInfo fcinfo, const WmlcPrior *prior,
							 WmlcPrediction *prediction);

/* The exposure, if it is positive and finite. */
extern double wml_check_exposure(double exposure);

/* The rate times the exposure, if that is finite. */
extern double wml_times_exposure(double rate, double exposure);

/* Rows that an aggregate keeps. */
typedef struct WmlKeptRows
{
	MemoryContext context;
	int			dims;
	int64		count;
	int64		capacity;
	int64		skipped;
	double	   *x;
	double	   *y;
	double	   *exposure;
	double	   *weight;
} WmlKeptRows;

/* Add a row with features from an array; false, and counted, if one is NULL. */
extern bool wml_keep_row(WmlKeptRows *rows, ArrayType *x, const WmlcResponse *response);

/* For the core, such rows and those of a query. */
extern WmlcGlmRows wml_kept_rows_view(const WmlKeptRows *rows);
extern WmlcGlmRows wml_query_rows_view(const WmlQueryRows *rows);

#endif							/* WML_GLM_H */
