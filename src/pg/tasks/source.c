/*
 * source.c
 *	  The relation that a task set's rows come from.  The view of the rows knows
 *	  it, whatever it is called by now: a view follows what it reads.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "rewrite/rewriteHandler.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(wml_view_source);

/*
 * wml_view_source(view oid): the only relation in the view's FROM.  NULL if
 * there is no such view, or if that is not all that it reads from.
 */
Datum
wml_view_source(PG_FUNCTION_ARGS)
{
	Relation	view = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	Oid			source = InvalidOid;
	int			count = 0;

	if (view == NULL)
		PG_RETURN_NULL();
	if (view->rd_rel->relkind == RELKIND_VIEW && view->rd_rel->relhasrules)
	{
		ListCell   *cell;

		foreach(cell, get_view_query(view)->rtable)
		{
			RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

			if (!entry->inFromCl)
				continue;
			count++;
			if (entry->rtekind == RTE_RELATION)
				source = entry->relid;
		}
	}
	relation_close(view, AccessShareLock);
	if (count != 1 || !OidIsValid(source))
		PG_RETURN_NULL();
	PG_RETURN_OID(source);
}
