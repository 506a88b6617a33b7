/*
 * hierarchy.h
 *	  What the ways to a prior of many tasks share: rows in memory, a query that is
 *	  run again and again, working grams.
 */
#ifndef WML_HIERARCHY_H
#define WML_HIERARCHY_H

#include "postgres.h"

#include "utils/array.h"

#include "core/glm/hierarchy.h"
#include "pg/prior/prior.h"

/* A call of wml_glm_prior. */
typedef struct WmlHierarchyCall
{
	const char *query;
	text	   *family;
	ArrayType  *fixed;			/* positions of features that tasks have in common, or NULL */
	Oid			function;		/* that was called */
	WmlcHierarchy hierarchy;
	WmlcHierarchyOptions options;
} WmlHierarchyCall;

/* Where the rows come from is known: fit, and tell how it ended. */
extern WmlPrior *wml_hierarchy_fit(WmlHierarchyCall *call, int dims, Size tasks);

extern WmlPrior *wml_hierarchy_from_rows(WmlHierarchyCall *call);
extern WmlPrior *wml_hierarchy_from_passes(WmlHierarchyCall *call);

/* What a prior says of the options that it was fitted with. */
extern int	wml_hierarchy_flags(const WmlcPriorOptions *options);

/* When there is one kind of responses only, no coefficient is small or large enough. */
extern void wml_check_variety(const WmlcLikelihood *likelihood, bool any_low, bool any_high);

/* A task has one weight. */
extern void wml_check_same_alpha(double alpha, double other);

#endif							/* WML_HIERARCHY_H */
