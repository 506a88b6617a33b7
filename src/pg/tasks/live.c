/*
 * live.c
 *	  How the triggers of a live task set know whether they are alone.
 *
 * One statement may fire several of them: an upsert changes rows and inserts
 * some, MERGE and data-modifying WITH do all sorts of things, and a trigger on a
 * row may write more rows.  If each changed the tasks by itself, the locks of one
 * statement would come in no order, and a task that has to be counted anew
 * would be counted while other changes of the statement, already in the table,
 * still wait to be added.  So every statement announces itself before it
 * starts, and only the trigger that finds no other one outstanding changes the
 * tasks, with all that has come together until then.
 *
 * Entries live as long as the transaction.  It cannot commit before all have
 * left and everything that waited has been added.  So that nobody else can claim
 * that, only the owner of the task set may call these functions, as its triggers do.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "pg/base/compat.h"

PG_FUNCTION_INFO_V1(wml_live_enter);
PG_FUNCTION_INFO_V1(wml_live_leave);

/* A task set, and the subtransaction in which something about it began. */
typedef struct Entry
{
	SubTransactionId subtransaction;
	char	   *set;
} Entry;

static List *entries = NIL;		/* statements on its rows that have not ended, the latest first */
static List *waiting = NIL;		/* task sets with changes still to be added */

static void
at_end(XactEvent event, void *argument)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			if (entries != NIL || waiting != NIL)
			{
				const char *set = ((Entry *) linitial(entries != NIL ? entries : waiting))->set;

				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						 errmsg("changes of rows have not reached task set \"%s\"", set),
						 errdetail("Some of its triggers are missing or disabled."),
						 errhint("Recreate them with wml_refresh('%s').", set)));
			}
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
		case XACT_EVENT_PREPARE:
			entries = NIL;
			waiting = NIL;
			break;
	}
	(void) argument;
}

/* What began in a subtransaction that is rolled back never was. */
static List *
without_subtransaction(List *list, SubTransactionId subtransaction)
{
	List	   *kept = NIL;
	ListCell   *cell;

	foreach(cell, list)
	{
		if (((Entry *) lfirst(cell))->subtransaction < subtransaction)
			kept = lappend(kept, lfirst(cell));
	}
	return kept;
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId subtransaction,
					  SubTransactionId parent, void *argument)
{
	MemoryContext old_context;

	(void) parent;
	(void) argument;
	if (event != SUBXACT_EVENT_ABORT_SUB || (entries == NIL && waiting == NIL))
		return;
	old_context = MemoryContextSwitchTo(TopTransactionContext);
	entries = without_subtransaction(entries, subtransaction);
	waiting = without_subtransaction(waiting, subtransaction);
	MemoryContextSwitchTo(old_context);
}

static void
watch_transactions(void)
{
	static bool watching = false;

	if (watching)
		return;
	RegisterXactCallback(at_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
	watching = true;
}

static List *
with_entry(List *list, const char *set)
{
	MemoryContext old_context = MemoryContextSwitchTo(TopTransactionContext);
	Entry	   *entry = (Entry *) palloc(sizeof(Entry));

	entry->subtransaction = GetCurrentSubTransactionId();
	entry->set = pstrdup(set);
	list = lcons(entry, list);
	MemoryContextSwitchTo(old_context);
	return list;
}

/* The latest entry of the task set, or NULL. */
static Entry *
find(List *list, const char *set)
{
	ListCell   *cell;

	foreach(cell, list)
	{
		Entry	   *entry = (Entry *) lfirst(cell);

		if (strcmp(entry->set, set) == 0)
			return entry;
	}
	return NULL;
}

/* The argument.  Only the owner of the table may go on, if there is one. */
static char *
get_own_set(FunctionCallInfo fcinfo)
{
	text	   *name = PG_GETARG_TEXT_PP(0);
	Oid			relation = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(name)),
											NoLock, true);

	if (OidIsValid(relation) && !pg_class_ownercheck(relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, text_to_cstring(name));
	return text_to_cstring(name);
}

/* wml_live_enter(set text): a statement on the rows of the task set begins. */
Datum
wml_live_enter(PG_FUNCTION_ARGS)
{
	char	   *set = get_own_set(fcinfo);

	watch_transactions();
	entries = with_entry(entries, set);
	PG_RETURN_VOID();
}

/* The list without the entry, which is freed: transactions may have millions. */
static List *
without(List *list, Entry *entry)
{
	if (entry == NULL)
		return list;
	list = list_delete_ptr(list, entry);
	pfree(entry->set);
	pfree(entry);
	return list;
}

/*
 * wml_live_leave(set text, forget bool): it ends; how does its trigger go on?
 * 'alone': change the tasks right away.  'wait': other triggers follow, so let
 * the changes wait.  'last': let them wait with the others, then add them all.
 * With `forget` nothing needs to be added, because the task set is gone.
 */
Datum
wml_live_leave(PG_FUNCTION_ARGS)
{
	char	   *set = get_own_set(fcinfo);
	Entry	   *entry = find(entries, set);
	const char *answer;

	if (entry == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no statement on the rows of task set \"%s\" is under way", set),
				 errdetail("Some of its triggers are missing or disabled."),
				 errhint("Recreate them with wml_refresh('%s').", set)));
	entries = without(entries, entry);
	if (PG_GETARG_BOOL(1))
	{
		waiting = without(waiting, find(waiting, set));
		answer = "alone";
	}
	else if (find(entries, set) != NULL)
	{
		if (find(waiting, set) == NULL)
			waiting = with_entry(waiting, set);
		answer = "wait";
	}
	else if (find(waiting, set) != NULL)
	{
		waiting = without(waiting, find(waiting, set));
		answer = "last";
	}
	else
		answer = "alone";
	PG_RETURN_TEXT_P(cstring_to_text(answer));
}
