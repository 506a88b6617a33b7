/*
 * query.h
 *	  Rows of tasks from a query that the user gives as text.
 */
#ifndef WML_QUERY_H
#define WML_QUERY_H

#include "postgres.h"

/* Columns beside x and y. */
typedef enum WmlQueryColumns
{
	WML_QUERY_PLAIN,			/* (x, y) */
	WML_QUERY_TASKS,			/* (task, x, y) */
	WML_QUERY_WEIGHTS,			/* (x, y) or (x, y, weight) */
	WML_QUERY_EXPOSURES,		/* (x, y), (x, y, exposure) or (x, y, exposure, weight) */
	WML_QUERY_TASK_EXPOSURES	/* the same behind a task, and a last one (.., alpha) */
} WmlQueryColumns;

/* Rows, those of a task side by side; x has `inputs` numbers per row. */
typedef struct WmlQueryRows
{
	int			inputs;
	int64		count;
	double	   *x;
	double	   *y;
	double	   *exposure;		/* NULL unless the query gives exposures */
	double	   *weight;			/* NULL unless the query gives weights */
	double	   *alpha;			/* of each row's task; NULL unless the query gives it */
	int64		tasks;
	int64	   *start;			/* task j: rows start[j] up to start[j + 1] */
	int64		skipped;		/* rows left out because something was NULL */
} WmlQueryRows;

/*
 * Run the query with the caller's rights and read its rows, which without a
 * column `task` are one task.  Rows with a NULL are skipped, NaN and infinities
 * are errors.  Tasks come in the order in which they first appear.  `role` names
 * the query in errors.
 */
extern WmlQueryRows wml_query_rows(const char *query, WmlQueryColumns columns, const char *role);

/*
 * Check that the query is one that could be read so, without running it.  Returns
 * it with its columns cast, as a SELECT to be put in parentheses, and the number
 * of its columns.
 */
extern char *wml_query_check(const char *query, WmlQueryColumns columns, const char *role,
							 int *count);

/*
 * Between these, the second of which gets what the first returns, the
 * transaction only reads: a volatile function in the query cannot change tables or
 * sequences either.  An error takes the setting back with the (sub)transaction; and
 * nobody can set it off after the first snapshot.
 */
extern bool wml_begin_read_only(void);
extern void wml_end_read_only(bool before);

/* The operator as a query names it, wherever the search_path leads: OPERATOR(pg_catalog.=) */
extern char *wml_query_operator(Oid operator);

#endif							/* WML_QUERY_H */
