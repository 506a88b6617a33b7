/*
 * prior_fit.h
 *	  Tasks gathered for a prior, the options of its fit, and the fit.
 */
#ifndef WML_PRIOR_FIT_H
#define WML_PRIOR_FIT_H

#include "postgres.h"

#include "fmgr.h"

#include "core/gram/gram.h"
#include "core/prior/prior.h"
#include "pg/prior/prior.h"

/*
 * The sums of tasks side by side, as the core wants them.  Tasks that are NULL
 * or have no rows are kept as tasks without rows, so that weights stay in step.
 */
typedef struct WmlTasks
{
	MemoryContext context;
	int			dims;			/* 0 until a task with rows has come */
	int			descriptors;	/* of each task, the constant not counted */
	Size		count;
	Size		capacity;
	double	   *hi;
	double	   *lo;
	double	   *rows;
	double	   *alpha;
	double	   *descriptor;		/* count x descriptors */
	bool	   *constant;		/* features that are 1 in every row */
} WmlTasks;

typedef struct WmlPriorOptions
{
	WmlcPriorOptions core;		/* own_noise and student are off where they are chosen by the fit */
	bool		choose_noise;
	bool		choose_tasks;
	double		temper;
	Datum	   *fixed;			/* texts: positions, ranges of them or names */
	int			fixed_count;
	Datum	   *smooth;			/* likewise */
	int			smooth_count;
	Datum	   *features;		/* names of all features, or NULL */
	int			feature_count;
} WmlPriorOptions;

extern void wml_tasks_begin(WmlTasks *tasks, MemoryContext context, int descriptors);

/* A NULL gram is a task without rows; descriptor has as many numbers as promised. */
extern void wml_tasks_add(WmlTasks *tasks, const WmlcGram *gram, double alpha,
						  const double *descriptor);

/* What the core sees of them, and a check that there is something to learn from. */
extern WmlcPriorTasks wml_tasks_view(const WmlTasks *tasks);

extern WmlPrior *wml_tasks_fit(const WmlTasks *tasks, WmlPriorOptions *options);

/* Options by their values; those of a NULL keep the default. */
#define WML_PRIOR_OPTION_COUNT 10
extern void wml_prior_options_read(const Datum *values, const bool *nulls,
								   WmlPriorOptions *options);

/* Set marks of features that words name by position, range or name. */
extern void wml_mark_features(const Datum *words, int count, const Datum *names, int name_count,
							  int dims, bool mark, bool *marks);

/* The options of wml_prior_options. */
extern void wml_prior_options_from_record(Datum record, WmlPriorOptions *options);

/* The weights of an array argument, NULL for a NULL one; a NULL weight is zero. */
extern double *wml_task_weights(FunctionCallInfo fcinfo, int argument, int64 tasks);

/* One row per task, one column per descriptor; NULL if there are none. */
extern double *wml_descriptors(Datum array, bool isnull, int64 tasks, int *count);

#endif							/* WML_PRIOR_FIT_H */
