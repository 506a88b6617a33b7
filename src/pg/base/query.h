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
	WML_QUERY_WEIGHTS			/* (x, y) or (x, y, weight) */
} WmlQueryColumns;

/* Rows, those of a task side by side; x has `inputs` numbers per row. */
typedef struct WmlQueryRows
{
	int			inputs;
	int64		count;
	double	   *x;
	double	   *y;
	double	   *weight;			/* NULL unless the query gives weights */
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

#endif							/* WML_QUERY_H */
