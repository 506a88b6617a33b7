/*
 * rows.c
 *	  The rows of a forecast, which a user gives as a query or as the name of a
 *	  relation, in the search_path of the caller.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

#include "pg/base/args.h"

PG_FUNCTION_INFO_V1(wml_asked_rows);

/* Does the text begin like a query? */
static bool
is_query(const char *text)
{
	static const char *const words[] = {"select", "with", "values", "table", "("};

	while (*text != '\0' && strchr(" \t\r\n\f", *text) != NULL)
		text++;
	for (int i = 0; i < (int) lengthof(words); i++)
	{
		int			length = (int) strlen(words[i]);

		if (pg_strncasecmp(text, words[i], length) == 0 &&
			(words[i][0] == '(' || (text[length] != '\0' && strchr(" \t\r\n\f(*'\"", text[length]) != NULL)))
			return true;
	}
	return text[0] == '-' || text[0] == '/';	/* a comment */
}

/* The query that the text is, or that reads the relation which it names. */
static char *
as_query(const char *text)
{
	Oid			relation;
	List	   *names;

	if (is_query(text))
		return pstrdup(text);
	if (!SplitIdentifierString(pstrdup(text), '.', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows must be a single SELECT, or the name of a relation"),
				 errdetail("It is neither: \"%s\".", text)));
	relation = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(text))),
								NoLock, false);
	return psprintf("SELECT * FROM %s",
					quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
											   get_rel_name(relation)));
}

/* The text of the one statement, without a semicolon and what follows it. */
static char *
statement_text(const char *text, const RawStmt *statement)
{
	const char *start = text + Max(statement->stmt_location, 0);

	return statement->stmt_len > 0 ? pnstrdup(start, statement->stmt_len) : pstrdup(start);
}

static Datum
column_names(TupleDesc descriptor)
{
	Datum	   *names = (Datum *) palloc(descriptor->natts * sizeof(Datum));

	for (int i = 0; i < descriptor->natts; i++)
		names[i] = CStringGetTextDatum(NameStr(TupleDescAttr(descriptor, i)->attname));
	return PointerGetDatum(construct_array(names, descriptor->natts, TEXTOID, -1, false, TYPALIGN_INT));
}

static Datum
column_types(TupleDesc descriptor)
{
	Datum	   *types = (Datum *) palloc(descriptor->natts * sizeof(Datum));

	for (int i = 0; i < descriptor->natts; i++)
		types[i] = ObjectIdGetDatum(TupleDescAttr(descriptor, i)->atttypid);
	return PointerGetDatum(construct_array(types, descriptor->natts, REGTYPEOID, sizeof(Oid), true, TYPALIGN_INT));
}

/*
 * wml_asked_rows(rows text, OUT query text, OUT columns text[], OUT types regtype[]):
 * a query that can stand as a subquery, and the names and types of its columns.
 */
Datum
wml_asked_rows(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext spi_context;
	char	   *sql;
	TupleDesc	result;
	SPIPlanPtr	plan;
	CachedPlanSource *source;
	Query	   *query;
	Datum		values[3];
	bool		nulls[3] = {false};

	wml_require_arg(fcinfo, 0, "rows");
	sql = as_query(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	if (get_call_result_type(fcinfo, NULL, &result) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	result = BlessTupleDesc(result);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare(sql, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	source = list_length(SPI_plan_get_plan_sources(plan)) == 1
		? (CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan)) : NULL;
	query = source != NULL && source->query_list != NIL ? linitial_node(Query, source->query_list) : NULL;
	if (query == NULL || query->commandType != CMD_SELECT || query->hasModifyingCTE || source->resultDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows must be a single SELECT, or the name of a relation"),
				 errdetail("The query changes data, returns no rows, or is more than one command.")));
	spi_context = MemoryContextSwitchTo(context);
	values[0] = CStringGetTextDatum(statement_text(sql, source->raw_parse_tree));
	values[1] = column_names(source->resultDesc);
	values[2] = column_types(source->resultDesc);
	MemoryContextSwitchTo(spi_context);
	SPI_finish();
	return HeapTupleGetDatum(heap_form_tuple(result, values, nulls));
}
