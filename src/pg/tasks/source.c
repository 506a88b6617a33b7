/*
 * source.c
 *	  Where things are by now: the relation that a task set's rows come from, and
 *	  the functions of its triggers.  The view of the rows knows the former, for a
 *	  view follows what it reads.  Triggers follow their functions, which know
 *	  what they write to by the name that it had.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_FUNCTION_INFO_V1(wml_view_source);
PG_FUNCTION_INFO_V1(wml_trigger_schema);

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

/*
 * wml_trigger_schema(relation oid, trigger name): the schema of the function that
 * a trigger calls.  NULL if there is no such trigger.  Taken from what the server
 * keeps of the relation: every statement on the rows asks.
 */
Datum
wml_trigger_schema(PG_FUNCTION_ARGS)
{
	Relation	relation = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	const char *trigger = NameStr(*PG_GETARG_NAME(1));
	char	   *schema = NULL;

	if (relation == NULL)
		PG_RETURN_NULL();
	for (int i = 0; relation->trigdesc != NULL && i < relation->trigdesc->numtriggers; i++)
	{
		const Trigger *one = &relation->trigdesc->triggers[i];

		if (strcmp(one->tgname, trigger) == 0)
			schema = get_namespace_name(get_func_namespace(one->tgfoid));
	}
	relation_close(relation, AccessShareLock);
	if (schema == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(DirectFunctionCall1(namein, CStringGetDatum(schema)));
}
