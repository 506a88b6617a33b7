/*
 * contest.h
 *	  All methods tried on a target, from the arguments of wml_compare and
 *	  wml_tune.
 */
#ifndef WML_CONTEST_H
#define WML_CONTEST_H

#include "postgres.h"

#include "fmgr.h"

#include "core/compare/compare.h"
#include "core/compare/compare_choice.h"
#include "core/compare/compare_grid.h"
#include "pg/base/progress.h"

/* A comparison and all that it came to. */
typedef struct WmlContest
{
	WmlcComparison comparison;
	const WmlcGram **sources;	/* those that are not NULL */
	int		   *positions;		/* their places in the argument, from 1 */
	int		   *left_out;		/* places of sources that do not belong and take no part, in order */
	int			left_out_count;
	const WmlcGram **windows;	/* of the sources, or NULL */
	const WmlcGram **rests;		/* what the sources have beside their windows, or NULL */
	const WmlcGram **folds;
	int			fold_count;		/* 0 where the target came as a whole */
	bool		baselines_compete;	/* or are there to compare with */
	WmlcGram   *pooled;			/* all sources */
	const WmlcGram *target;		/* all folds */
	size_t		rehearsal_count;
	size_t		actors;			/* different sources in the rehearsals */
	WmlcTrial  *trials;			/* the folds, the whole target, the rehearsals */
	WmlcGrid	grid;
	WmlProgress progress;
	const char *what;			/* is compared, as progress is told */
	double	   *coefficients;
	double	   *errors;
	WmlcStatus *statuses;
	void	   *work;
	WmlcVerdict *verdicts;
	bool	   *finalists;		/* methods that took part in the finals, or NULL: there were none */
	int			chosen;
} WmlContest;

/* Hold the contest that the arguments ask for; the target comes in folds or as a whole. */
extern WmlContest *wml_hold_contest(FunctionCallInfo fcinfo, bool in_folds);

/* The arguments, checked: target, sources, windows, and what the grid is to have. */
extern void wml_read_contest(FunctionCallInfo fcinfo, bool in_folds, WmlContest *contest,
							 WmlcGridOptions *options);

/*
 * Where more sources can forecast than have rehearsed, let those methods that could
 * still win meet them, and choose again among these.  rehearsals are the errors so
 * far.
 */
extern void wml_hold_finals(WmlContest *contest, const WmlcErrors *rehearsals,
							const WmlcStanding *standings);

/* The trial in which a source forecasts from its window what it has beside it. */
extern WmlcTrial wml_contest_forecast(const WmlContest *contest, size_t source);

/* Try the methods of the grid in the trials; says how far it is in comparing `what`. */
extern void wml_run_contest(WmlContest *contest, const char *what);

/* Mean squares of the responses that are to be forecast in some trials, and what each says of the target. */
extern void wml_contest_sizes(const WmlContest *contest, const WmlcTrial *trials, size_t count,
							  double *responses, double *likeness);

/* Coefficients of a method that learned from the whole target. */
extern const double *wml_contest_coefficients(const WmlContest *contest, int method);

/* The first rehearsal among the trials. */
static inline size_t
wml_contest_rehearsals(const WmlContest *contest)
{
	return contest->fold_count + 1;
}

#endif							/* WML_CONTEST_H */
