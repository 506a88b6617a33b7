/*
 * expression.c
 *	  What a user's expressions over a relation mean: each is parsed in the
 *	  caller's search_path and written out again with every name qualified, so
 *	  that it says the same wherever it is used later.
 *
 * The text must be a list of expressions as after SELECT and nothing else, so
 * it can be put into a statement without changing what that does.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parse_target.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "pg/base/query.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_expressions);
PG_FUNCTION_INFO_V1(wml_equality);

/* An error in the text points into the text, not into the statement around it. */
static void
point_into_text(void *argument)
{
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery((const char *) argument);
	}
}

static List *
raw_statements(const char *sql)
{
#if PG_VERSION_NUM >= 140000
	return raw_parser(sql, RAW_PARSE_DEFAULT);
#else
	return raw_parser(sql);
#endif
}

/* The targets of "SELECT list", which must have nothing but targets. */
static List *
parse_list(const char *sql)
{
	List	   *statements = raw_statements(sql);
	SelectStmt *select;

	if (list_length(statements) == 1 &&
		IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt))
	{
		select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
		if (select->targetList != NIL && select->op == SETOP_NONE &&
			select->distinctClause == NIL && select->intoClause == NULL &&
			select->fromClause == NIL && select->whereClause == NULL &&
			select->groupClause == NIL && select->havingClause == NULL &&
			select->windowClause == NIL && select->valuesLists == NIL &&
			select->sortClause == NIL && select->limitOffset == NULL &&
			select->limitCount == NULL && select->lockingClause == NIL &&
			select->withClause == NULL)
			return select->targetList;
	}
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("not a list of expressions: \"%s\"", sql + strlen("SELECT ")),
			 errhint("Write expressions as after SELECT, without FROM or later clauses.")));
}

/* The parser does not expect a star where it looks for an expression. */
static void
check_no_star(const ResTarget *target)
{
	if (IsA(target->val, ColumnRef) && IsA(llast(((ColumnRef *) target->val)->fields), A_Star))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("* is not an expression"),
				 errhint("Name the columns.")));
}

static void
check_one_row(const ParseState *pstate, const char *sql)
{
	if (pstate->p_hasAggs || pstate->p_hasWindowFuncs || pstate->p_hasSubLinks ||
		pstate->p_hasTargetSRFs)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an expression must be computed from one row alone: \"%s\"", sql + strlen("SELECT ")),
				 errdetail("It uses an aggregate, a window function, a subquery or a function that returns a set.")));
}

/* The names of the columns that the expression reads, as text[]. */
static Datum
used_columns(Relation relation, Node *expression)
{
	Bitmapset  *attributes = NULL;
	Datum	   *names = (Datum *) palloc(MaxHeapAttributeNumber * sizeof(Datum));
	int			count = 0;
	int			member = -1;

	pull_varattnos(expression, 1, &attributes);
	while ((member = bms_next_member(attributes, member)) >= 0)
	{
		AttrNumber	number = member + FirstLowInvalidHeapAttributeNumber;

		if (number <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("an expression must name the columns that it reads"),
					 errdetail("It uses the whole row, or a system column.")));
		names[count++] = CStringGetTextDatum(NameStr(TupleDescAttr(RelationGetDescr(relation),
																   number - 1)->attname));
	}
	return PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Until the nest level of settings ends. */
static void
set_path(const char *path)
{
	(void) set_config_option("search_path", path, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* The expression and its type as text, every name outside pg_catalog qualified. */
static void
write_out(Relation relation, Node *expression, Datum *text, Datum *type)
{
	List	   *context = deparse_context_for(RelationGetRelationName(relation),
											  RelationGetRelid(relation));
	int			nest_level = NewGUCNestLevel();

	set_path("pg_catalog, pg_temp");
	*text = CStringGetTextDatum(deparse_expression(expression, context, false, true));
	*type = CStringGetTextDatum(format_type_with_typemod(exprType(expression), exprTypmod(expression)));
	AtEOXact_GUC(true, nest_level);
}

/* What a value of this type can be to a model. */
static const char *
kind_of(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);

	if (OidIsValid(element))
		return TypeCategory(getBaseType(element)) == TYPCATEGORY_NUMERIC ? "array" : "other";
	switch (base)
	{
		case BOOLOID:
			return "boolean";
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return "number";
		case UNKNOWNOID:
			return "other";
	}
	switch (TypeCategory(base))
	{
		case TYPCATEGORY_STRING:
			return "category";
		case TYPCATEGORY_ENUM:
			return "enum";
		case TYPCATEGORY_DATETIME:
		case TYPCATEGORY_TIMESPAN:
			return "time";
		default:
			return "other";
	}
}

static const char *
volatility_of(Node *expression)
{
	if (contain_volatile_functions(expression))
		return "volatile";
	return contain_mutable_functions(expression) ? "stable" : "immutable";
}

/* The name of our basis function that the expression is, or NULL. */
static const char *
basis_of(FunctionCallInfo fcinfo, Node *expression)
{
	const char *name;

	if (!IsA(expression, FuncExpr))
		return NULL;
	if (get_func_namespace(((FuncExpr *) expression)->funcid) !=
		get_func_namespace(fcinfo->flinfo->fn_oid))
		return NULL;
	name = get_func_name(((FuncExpr *) expression)->funcid);
	return strcmp(name, "wml_fourier") == 0 || strcmp(name, "wml_poly") == 0 ? name : NULL;
}

static void
put_expression(FunctionCallInfo fcinfo, WmlRows *rows, Relation relation, ResTarget *target, Node *expression)
{
	Oid			type = exprType(expression);
	const char *name = target->name != NULL ? target->name : FigureColname(target->val);
	const char *basis = basis_of(fcinfo, expression);
	Datum		values[8];
	bool		nulls[8] = {false};

	values[0] = CStringGetTextDatum(name);
	write_out(relation, expression, &values[1], &values[3]);
	values[2] = ObjectIdGetDatum(type);
	values[4] = CStringGetTextDatum(kind_of(type));
	values[5] = CStringGetTextDatum(volatility_of(expression));
	values[6] = used_columns(relation, expression);
	values[7] = basis != NULL ? CStringGetTextDatum(basis) : (Datum) 0;
	nulls[7] = basis == NULL;
	wml_rows_put(rows, values, nulls);
}

/*
 * wml_expressions(relation regclass, list text, path text): one row for each
 * expression of the list, which is understood in the given search_path.
 */
Datum
wml_expressions(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *sql = psprintf("SELECT %s", text_to_cstring(PG_GETARG_TEXT_PP(1)));
	WmlRows		rows = wml_rows_begin(fcinfo);
	ErrorContextCallback callback = {.callback = point_into_text, .arg = sql};
	int			nest_level = NewGUCNestLevel();
	Relation	relation;
	ParseState *pstate;
	ListCell   *cell;

	set_path(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	relation = try_relation_open(relid, AccessShareLock);
	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	pstate = make_parsestate(NULL);
	pstate->p_sourcetext = sql;
	addNSItemToQuery(pstate,
					 addRangeTableEntryForRelation(pstate, relation, AccessShareLock, NULL, false, true),
					 true, true, true);
	foreach(cell, parse_list(sql))
	{
		ResTarget  *target = lfirst_node(ResTarget, cell);
		Node	   *expression;

		check_no_star(target);
		expression = transformExpr(pstate, target->val, EXPR_KIND_SELECT_TARGET);
		assign_expr_collations(pstate, expression);
		check_one_row(pstate, sql);
		put_expression(fcinfo, &rows, relation, target, expression);
	}
	error_context_stack = callback.previous;
	free_parsestate(pstate);
	relation_close(relation, AccessShareLock);
	AtEOXact_GUC(true, nest_level);
	return (Datum) 0;
}

/*
 * wml_equality(type regtype): the operator that tells keys of the type apart in
 * GROUP BY and unique indexes, written so that any search_path finds it.
 */
Datum
wml_equality(PG_FUNCTION_ARGS)
{
	Oid			type = PG_GETARG_OID(0);
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);

	if (!OidIsValid(entry->eq_opr) || !OidIsValid(entry->lt_opr) ||
		OidIsValid(get_element_type(getBaseType(type))))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s cannot be the key of tasks", format_type_be(type)),
				 errdetail("Keys must be sortable and must not be arrays."),
				 errhint("Cast it to text.")));
	PG_RETURN_TEXT_P(cstring_to_text(wml_query_operator(entry->eq_opr)));
}
