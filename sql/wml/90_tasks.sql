-- Task sets: a table of grams that describes and keeps itself
--
-- Functions that the user calls run with the caller's rights.  Those without a search_path of their own only hand on
-- what the caller's is, and contain no operators and no names that are not qualified; all others work under a fixed one.

-- Features from the columns of a row

CREATE FUNCTION wml_features(VARIADIC features "any") RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_features("any") IS 'features from numbers, booleans and arrays; NULL if any of them is NULL';

CREATE FUNCTION wml_category(value text, levels text[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_category(text, text[]) IS 'indicators of all levels but the first: 1 for the level of the value, 0 for the others; NULL for an unknown value';

-- What the functions below are made of

CREATE FUNCTION wml_expressions(relation regclass, list text, path text)
	RETURNS TABLE (name text, expression text, type regtype, type_name text, kind text, volatility text, columns text[],
				   basis text)
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_expressions(regclass, text, text) IS 'meaning of a list of expressions over a relation, with every name qualified';

CREATE FUNCTION wml_equality(type regtype) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_equality(regtype) IS 'equality operator of a key type';

CREATE FUNCTION wml_usable(gram wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_usable(wml_gram) IS 'the gram has rows, and no NaN or infinity';

CREATE FUNCTION wml_constant_features(gram wml_gram) RETURNS int[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_constant_features(wml_gram) IS 'places of the features that have the same value in all rows';

CREATE FUNCTION wml_finite(x float8[]) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_finite(float8[]) IS 'no element is NaN, infinite or NULL';

CREATE FUNCTION wml_finite_features(x float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_finite_features(float8[]) IS 'the features, NULL when one of them is NaN, infinite or NULL';

CREATE FUNCTION wml_asked_rows("rows" text, OUT query text, OUT columns text[], OUT types regtype[])
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION wml_asked_rows(text) IS 'the query that a text is or the relation that it names, and its columns';

CREATE FUNCTION wml_first_failure(statements text[], VARIADIC "values" "any") RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION wml_first_failure(text[], "any") IS 'number of the first statement that fails for these values, its $1, $2 and so on; NULL if none does';

CREATE FUNCTION wml_view_source(view oid) RETURNS oid
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_view_source(oid) IS 'the relation that a view reads, if it is but one';

CREATE FUNCTION wml_trigger_schema(relation oid, trigger name) RETURNS name
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_trigger_schema(oid, name) IS 'schema of the function that a trigger calls';

CREATE FUNCTION wml_live_enter(task_set text) RETURNS void
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION wml_live_enter(text) IS 'called by triggers: a statement on the rows of a live task set begins';

CREATE FUNCTION wml_live_leave(task_set text, forget bool DEFAULT false) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION wml_live_leave(text, bool) IS 'called by triggers: the statement ends; alone, wait or last';

CREATE FUNCTION wml_gram_change(gram wml_gram, peaks float8[], added wml_gram, removed wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_change(wml_gram, float8[], wml_gram, wml_gram) IS 'gram after rows were added and removed; NULL if it takes a recount';

CREATE FUNCTION wml_gram_peaks(gram wml_gram, peaks float8[], added wml_gram, removed wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_peaks(wml_gram, float8[], wml_gram, wml_gram) IS 'largest values that the sums of a gram have had, including that change';

-- The descriptions

CREATE TABLE wml_task_set (
	schema_name text NOT NULL,
	set_name text NOT NULL,
	relation text NOT NULL,
	key text NOT NULL,
	key_type text NOT NULL,
	equality text NOT NULL,
	task text NOT NULL,
	response text NOT NULL,
	inverse text,
	response_range numrange,
	weight text,
	exposure text,
	exposure_columns jsonb,
	along text,
	features text[] NOT NULL,
	expression text NOT NULL,
	parts jsonb NOT NULL,
	columns jsonb NOT NULL,
	live text NOT NULL CHECK (live IN ('no', 'yes', 'append')),
	family text NOT NULL,
	prior wml_prior,
	method jsonb,
	learned timestamptz NOT NULL CHECK (pg_catalog.isfinite(learned)),
	PRIMARY KEY (schema_name, set_name)
);
COMMENT ON TABLE wml_task_set IS 'descriptions of task sets: what their grams were collected from, and how';
COMMENT ON COLUMN wml_task_set.relation IS 'where the rows were when they were counted; the view of the rows knows where they are';
COMMENT ON COLUMN wml_task_set.key IS 'column of the task table that holds the task';
COMMENT ON COLUMN wml_task_set.task IS 'expression that gives a row''s task';
COMMENT ON COLUMN wml_task_set.along IS 'expression that tells which rows of different tasks correspond';
COMMENT ON COLUMN wml_task_set.features IS 'names of the coefficients';
COMMENT ON COLUMN wml_task_set.expression IS 'expression that gives a row''s feature array';
COMMENT ON COLUMN wml_task_set.parts IS 'what the features are made from';
COMMENT ON COLUMN wml_task_set.columns IS 'columns that the task and the features need, with their types';
COMMENT ON COLUMN wml_task_set.exposure IS 'expression that gives a row''s trials, or what its count was taken over';
COMMENT ON COLUMN wml_task_set.exposure_columns IS 'columns that the exposure needs, with their types';
COMMENT ON COLUMN wml_task_set.prior IS 'for families other than gaussian: the prior under which the tasks were counted';
COMMENT ON COLUMN wml_task_set.method IS 'method of forecasts that was chosen in rehearsal, and how good it was';

SELECT pg_catalog.pg_extension_config_dump('wml_task_set', '');

-- A description says what others run with their own rights, so only whoever owns the task table may change it.  Where
-- there is no table, it takes the right to create one.
CREATE FUNCTION wml_owns_task_set(schema_name text, set_name text) RETURNS bool
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN c.oid IS NULL THEN has_schema_privilege(n.oid, 'CREATE') ELSE pg_has_role(c.relowner, 'USAGE') END
FROM pg_namespace AS n LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = set_name
WHERE n.nspname = schema_name
$$;
COMMENT ON FUNCTION wml_owns_task_set(text, text) IS 'whether the caller owns the table, or could create it; NULL without such a schema';

CREATE FUNCTION wml_guard_task_set() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	may_replace bool := TG_OP = 'INSERT' OR @extschema@.wml_owns_task_set(OLD.schema_name, OLD.set_name);
	may_write bool := TG_OP = 'DELETE' OR @extschema@.wml_owns_task_set(NEW.schema_name, NEW.set_name);
BEGIN
	-- what is left of a schema that is gone may be deleted, and comes back from no dump
	IF TG_OP = 'INSERT' AND may_write IS NULL THEN
		RETURN NULL;
	ELSIF NOT may_replace OR may_write IS NOT TRUE THEN
		RAISE EXCEPTION 'must be owner of task set %', CASE WHEN TG_OP = 'INSERT' THEN NEW.set_name ELSE OLD.set_name END
			USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
COMMENT ON FUNCTION wml_guard_task_set() IS 'lets only the owner of a task set change its description';

CREATE TRIGGER wml_guard_task_set BEFORE INSERT OR UPDATE OR DELETE ON wml_task_set
	FOR EACH ROW EXECUTE FUNCTION wml_guard_task_set();
GRANT SELECT, INSERT, UPDATE, DELETE ON wml_task_set TO PUBLIC;

CREATE FUNCTION wml_find_task_set(name text, schemas name[]) RETURNS wml_task_set
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	path text[] := parse_ident(name);
	described @extschema@.wml_task_set;
BEGIN
	-- a task set is found as its table would be, also when that is gone
	SELECT s.* INTO described FROM @extschema@.wml_task_set AS s
	WHERE s.set_name = path[cardinality(path)]
		AND CASE WHEN cardinality(path) > 1 THEN s.schema_name = path[cardinality(path) - 1] ELSE s.schema_name = ANY (schemas) END
	ORDER BY array_position(schemas::text[], s.schema_name) LIMIT 1;
	IF described.set_name IS NULL THEN
		RAISE EXCEPTION 'task set "%" does not exist', name
			USING ERRCODE = 'undefined_object', HINT = 'wml_learn creates task sets, and the view wml_task_sets lists them.';
	END IF;
	RETURN described;
END $$;
COMMENT ON FUNCTION wml_find_task_set(text, name[]) IS 'description of a task set, found in the schemas like a table';

-- The table by its name, in schemas that the caller may not use as well, where to_regclass would be an error.
CREATE FUNCTION wml_task_relation(s wml_task_set, suffix text DEFAULT '') RETURNS oid
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = s.schema_name AND c.relname = s.set_name || suffix
$$;
COMMENT ON FUNCTION wml_task_relation(wml_task_set, text) IS 'a task set''s table, or what belongs to it; NULL if there is none';

-- The comment on a task set's table tells what it is, also after it was renamed or moved.
CREATE FUNCTION wml_task_mark(s wml_task_set) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('task set %I.%I of wml: ', s.schema_name, s.set_name)
$$;
COMMENT ON FUNCTION wml_task_mark(wml_task_set) IS 'beginning of the comment on a task set''s table';

CREATE FUNCTION wml_task_moved(s wml_task_set) RETURNS oid
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT c.oid FROM pg_description AS d JOIN pg_class AS c ON c.oid = d.objoid
WHERE d.classoid = 'pg_class'::regclass AND d.objsubid = 0 AND starts_with(d.description, @extschema@.wml_task_mark(s))
	AND c.relkind = 'r' AND c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)	-- others can write comments, too
	AND @extschema@.wml_task_relation(s) IS NULL
ORDER BY c.oid LIMIT 1
$$;
COMMENT ON FUNCTION wml_task_moved(wml_task_set) IS 'a task set''s table, if it has another name or schema than when it was learned';

-- Called by triggers that do not find what they write to, or whose schema has another name than when they were made: they
-- know the tables by name.  When the task table was dropped, there is nothing to keep current.
CREATE FUNCTION wml_task_gone(schema_name text, set_name text, home name) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	s @extschema@.wml_task_set;
	moved oid;
BEGIN
	s.set_name := set_name;
	s.schema_name := home;
	moved := @extschema@.wml_task_relation(s);
	s.schema_name := schema_name;
	IF moved = @extschema@.wml_task_relation(s) THEN
		RAISE EXCEPTION 'task set %.% can no longer be kept current', quote_ident(schema_name), quote_ident(set_name)
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Table %s is missing.', @extschema@.wml_task_name(s, '_pending')),
			HINT = 'Drop it with wml_drop, or learn it again with replace => true.';
	END IF;
	moved := coalesce(moved, @extschema@.wml_task_moved(s));
	IF moved IS NOT NULL THEN
		RAISE EXCEPTION 'task set %.% can no longer be kept current', quote_ident(schema_name), quote_ident(set_name)
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Its table has been renamed to %s.', @extschema@.wml_qualified_name(moved)),
			HINT = CASE WHEN to_regnamespace(quote_ident(schema_name)) IS NULL THEN format('Call wml_refresh(%L).', @extschema@.wml_qualified_name(moved))
				ELSE 'Give it its old name again, or drop the task set with wml_drop.' END;
	END IF;
END $$;
COMMENT ON FUNCTION wml_task_gone(text, text, name) IS 'called by triggers: raises an error if a task set''s table is still there, under this or another name';

-- What a task set is made of goes along when its schema is renamed, but for the description.
CREATE FUNCTION wml_follow_schema(name text, schemas name[]) RETURNS void
	LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
UPDATE @extschema@.wml_task_set AS t SET schema_name = n.nspname
FROM (SELECT parse_ident(name) AS path) AS p, pg_class AS c, pg_namespace AS n
WHERE n.oid = c.relnamespace AND c.relname = path[cardinality(path)] AND c.oid = @extschema@.wml_task_moved(t)
	AND t.set_name = c.relname AND to_regnamespace(quote_ident(t.schema_name)) IS NULL
	AND CASE WHEN cardinality(path) > 1 THEN n.nspname = path[cardinality(path) - 1] ELSE n.nspname = ANY (schemas) END
$$;
COMMENT ON FUNCTION wml_follow_schema(text, name[]) IS 'gives a description the new name of the schema that its table is in';

-- The statements about a task set, as text

CREATE FUNCTION wml_task_name(task_set wml_task_set, suffix text DEFAULT '') RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('%I.%I', task_set.schema_name, task_set.set_name || suffix)
$$;
COMMENT ON FUNCTION wml_task_name(wml_task_set, text) IS 'qualified name of a task set''s table, or of what belongs to it';

CREATE FUNCTION wml_task_rows(task_set wml_task_set, source text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('SELECT %s AS task, %s AS x, %s AS y%s%s%s FROM %s', task_set.task,
			  CASE WHEN task_set.family = 'gaussian' THEN task_set.expression
			  ELSE format('@extschema@.wml_finite_features(%s)', task_set.expression) END,
			  CASE WHEN task_set.family = 'gaussian' THEN format('(%s)::double precision', task_set.response)
			  ELSE format('@extschema@.wml_possible_response(%L, %s, %s, %s)', task_set.family, task_set.response,
						  coalesce(task_set.exposure, '1'), coalesce(task_set.weight, '1')) END,
			  ', (' || task_set.exposure || ')::double precision AS exposure',
			  ', (' || task_set.weight || ')::double precision AS weight', ', ' || task_set.along || ' AS along', source)
$$;
COMMENT ON FUNCTION wml_task_rows(wml_task_set, text) IS 'query that turns rows into task, features and response';

CREATE FUNCTION wml_task_exposure(task_set wml_task_set) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN task_set.exposure IS NULL THEN '1::double precision' ELSE 'exposure' END || ', '
	|| CASE WHEN task_set.weight IS NULL THEN '1::double precision' ELSE 'weight' END
$$;
COMMENT ON FUNCTION wml_task_exposure(wml_task_set) IS 'a row''s exposure and weight, for functions that take both';

CREATE FUNCTION wml_task_gram(task_set wml_task_set) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN task_set.family <> 'gaussian' THEN
	-- at the posterior under the prior as it is now; the order of rows makes the last digit the same each time
	format('coalesce(@extschema@.wml_kept_gram(x, y, (SELECT d.prior FROM @extschema@.wml_task_set AS d WHERE '
		   'd.schema_name OPERATOR(pg_catalog.=) %L AND d.set_name OPERATOR(pg_catalog.=) %L), %s ORDER BY y, x), @extschema@.wml_gram(x, y))',
		   task_set.schema_name, task_set.set_name, @extschema@.wml_task_exposure(task_set))
	WHEN task_set.weight IS NULL THEN '@extschema@.wml_gram(x, y)' ELSE '@extschema@.wml_gram(x, y, weight)' END
$$;
COMMENT ON FUNCTION wml_task_gram(wml_task_set) IS 'aggregate that collects a task''s gram';

-- The view follows the relation when that is renamed or moved, and pg_dump knows it.
CREATE FUNCTION wml_task_source(s wml_task_set) RETURNS regclass
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT @extschema@.wml_view_source(@extschema@.wml_task_relation(s, '_rows'))::regclass
$$;
COMMENT ON FUNCTION wml_task_source(wml_task_set) IS 'the relation with the rows; NULL if there is no view of them';

CREATE FUNCTION wml_qualified_name(relation oid) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('%I.%I', nspname, relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = relation
$$;
COMMENT ON FUNCTION wml_qualified_name(oid) IS 'name of a relation with its schema';

CREATE FUNCTION wml_task_relations(task_set wml_task_set) RETURNS SETOF regclass
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
WITH RECURSIVE member AS (
	SELECT @extschema@.wml_task_source(task_set) AS relation
	UNION
	SELECT inhrelid::regclass FROM member JOIN pg_inherits ON inhparent = relation)
SELECT relation FROM member WHERE relation IS NOT NULL
$$;
COMMENT ON FUNCTION wml_task_relations(wml_task_set) IS 'the relation with the rows, and all its partitions and children';

-- The view of the rows goes with any column that it needs.
CREATE FUNCTION wml_require_rows(s wml_task_set) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF @extschema@.wml_task_relation(s) IS NULL THEN
		PERFORM @extschema@.wml_task_gone(s.schema_name, s.set_name, NULL);
	END IF;
	IF to_regclass(@extschema@.wml_task_name(s, '_rows')) IS NULL THEN
		RAISE EXCEPTION 'rows of task set "%" can no longer be read', s.set_name
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('The view %s is missing, which is dropped with any column that it needs.', @extschema@.wml_task_name(s, '_rows')),
			HINT = 'Drop the task set with wml_drop, or learn it again with replace => true.';
	END IF;
END $$;
COMMENT ON FUNCTION wml_require_rows(wml_task_set) IS 'raises an error if the rows of a task set cannot be read';

-- Learning

CREATE FUNCTION wml_category_levels(source text, expression text, type regtype, kind text, given jsonb) RETURNS text[]
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	levels text[];
BEGIN
	IF given IS NOT NULL THEN
		SELECT pg_catalog.array_agg(l ORDER BY n) INTO levels
		FROM pg_catalog.jsonb_array_elements_text(given) WITH ORDINALITY AS e (l, n);
	ELSE
		EXECUTE pg_catalog.format('SELECT pg_catalog.array_agg(level ORDER BY level COLLATE "C") FROM '
			'(SELECT DISTINCT (%s)::text AS level FROM %s LIMIT 1002) AS levels WHERE level IS NOT NULL', expression, source)
			INTO levels;
		IF kind = 'enum' THEN
			SELECT pg_catalog.array_agg(l ORDER BY enumsortorder) INTO levels
			FROM pg_catalog.unnest(levels) AS l JOIN pg_catalog.pg_enum ON enumtypid = type AND enumlabel::text = l;
		END IF;
	END IF;
	RETURN levels;
END $$;
COMMENT ON FUNCTION wml_category_levels(text, text, regtype, text, jsonb) IS 'levels of a category, reference first';

CREATE FUNCTION wml_learn_features(relation regclass, list text, path text, levels jsonb, live bool,
								   OUT features text[], OUT expression text, OUT parts jsonb, OUT columns text[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	part record;
	source text := format('%s', relation);
	known text[];
	size int;
	piece text;
	pieces text[] := '{1}';
BEGIN
	features := '{constant}';
	parts := '[]';
	columns := '{}';
	-- none leave the constant alone
	FOR part IN SELECT e.* FROM (SELECT list AS written WHERE list ~ '\S') AS given, @extschema@.wml_expressions(relation, written, path) AS e LOOP
		known := NULL;
		size := 1;
		piece := part.expression;
		IF part.volatility = 'volatile' OR (live AND part.volatility <> 'immutable') THEN
			RAISE EXCEPTION 'feature "%" is %', part.name, part.volatility
				USING ERRCODE = 'invalid_object_definition', DETAIL = format('Its expression is %s.', part.expression),
				HINT = 'Features of live task sets must be immutable, others at least stable. AT TIME ZONE makes expressions of timestamp with time zone immutable, a cast to text those with ||.';
		ELSIF part.kind = 'time' THEN
			RAISE EXCEPTION 'feature "%" is of type %', part.name, part.type_name
				USING ERRCODE = 'datatype_mismatch', DETAIL = 'A time is not a number.',
				HINT = format(CASE WHEN part.type_name ~ '^(interval|time )' THEN 'Use extract(epoch FROM %1$s) or the like.'
					ELSE 'Use extract(epoch FROM %1$s) or the like for a trend, wml_fourier(extract(doy FROM %1$s), 365.25, 2) for a season.' END, part.expression);
		ELSIF part.kind IN ('category', 'enum') THEN
			known := @extschema@.wml_category_levels(source, part.expression, part.type, part.kind, levels -> part.name);
			IF coalesce(pg_catalog.cardinality(known), 0) < 2 THEN
				RAISE EXCEPTION 'feature "%" has % levels', part.name, coalesce(pg_catalog.cardinality(known), 0)
					USING ERRCODE = 'data_exception', DETAIL = 'A category needs at least two.',
					HINT = 'Omit it, or list its levels in levels.';
			ELSIF pg_catalog.cardinality(known) > 1000 THEN
				RAISE EXCEPTION 'feature "%" has more than 1000 different values', part.name
					USING ERRCODE = 'program_limit_exceeded', HINT = 'Omit it, or make it a number or a coarser category.';
			END IF;
			size := pg_catalog.cardinality(known) - 1;
			piece := format('@extschema@.wml_category((%s)::text, %L::text[])', part.expression, known);
		ELSIF part.kind = 'array' THEN
			EXECUTE format('SELECT pg_catalog.cardinality(%s) FROM %s WHERE %1$s IS NOT NULL LIMIT 1', part.expression, source)
				INTO size;
			IF coalesce(size, 0) = 0 THEN
				RAISE EXCEPTION 'feature "%" has no elements', part.name
					USING ERRCODE = 'data_exception', DETAIL = 'No row shows how many features it has.';
			END IF;
			-- the constant comes but once
			IF part.basis IS NOT NULL THEN
				size := size - 1;
				piece := format('(%s)[2:]', part.expression);
			ELSIF part.type <> 'pg_catalog.float8[]'::regtype THEN
				piece := format('(%s)::double precision[]', part.expression);
			END IF;
		ELSIF part.kind NOT IN ('number', 'boolean') THEN
			RAISE EXCEPTION 'feature "%" is of type %', part.name, part.type_name
				USING ERRCODE = 'datatype_mismatch', DETAIL = 'Features are numbers, booleans, categories or arrays of numbers.';
		END IF;
		features := features || CASE
			WHEN known IS NOT NULL THEN ARRAY(SELECT part.name || '=' || l FROM pg_catalog.unnest(known[2:]) AS l)
			WHEN part.basis = 'wml_fourier' THEN ARRAY(SELECT format('%s_%s%s', part.name, kind, h)
				FROM pg_catalog.generate_series(1, size / 2) AS h, (VALUES (1, 'cos'), (2, 'sin')) AS k (o, kind) ORDER BY h, o)
			WHEN part.kind = 'array' THEN ARRAY(SELECT format('%s_%s', part.name, i) FROM pg_catalog.generate_series(1, size) AS i)
			ELSE ARRAY[part.name] END;
		pieces := pieces || piece;
		columns := columns || part.columns;
		parts := parts || pg_catalog.jsonb_build_object('name', part.name, 'expression', part.expression, 'value', piece,
			'kind', part.kind, 'levels', known, 'given', levels -> part.name IS NOT NULL, 'columns', part.columns, 'size', size);
	END LOOP;
	SELECT k INTO piece FROM pg_catalog.jsonb_object_keys(levels) AS k
	WHERE NOT EXISTS (SELECT FROM pg_catalog.jsonb_array_elements(parts) AS p WHERE p ->> 'name' = k AND p ->> 'kind' IN ('category', 'enum')) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'there is no category "%" that levels could be those of', piece
			USING ERRCODE = 'undefined_column', DETAIL = format('The features are %s.', concat_ws(', ', VARIADIC features));
	END IF;
	SELECT pg_catalog.array_agg(f) INTO known FROM (SELECT f FROM pg_catalog.unnest(features) AS f GROUP BY f HAVING pg_catalog.count(*) > 1) AS twice;
	IF known IS NOT NULL THEN
		RAISE EXCEPTION 'more than one feature is called "%"', known[1]
			USING ERRCODE = 'duplicate_column', HINT = 'Name features with AS.';
	END IF;
	expression := format('@extschema@.wml_features(%s)', pg_catalog.array_to_string(pieces, ', '));
END $$;
COMMENT ON FUNCTION wml_learn_features(regclass, text, text, jsonb, bool) IS 'meaning of a list of features: names, expression, parts';

-- Not known when forecasts are asked for, and of no use for a new task, respectively.  A task that is a number, such as
-- an age, may well be a feature.
CREATE FUNCTION wml_learn_given(parts jsonb, response text, task text) RETURNS void
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	part record;
BEGIN
	FOR part IN SELECT p ->> 'name' AS name, p ->> 'expression' AS expression, p ->> 'kind' AS kind FROM jsonb_array_elements(parts) AS p LOOP
		IF part.expression = response OR (part.kind = 'boolean' AND format('(%s)::integer', part.expression) = response) THEN
			RAISE EXCEPTION 'feature "%" is the response', part.name
				USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It explains itself, and forecasts would need what they are asked for.',
				HINT = 'Omit it. A feature may be an earlier value of the response, as a column of its own.';
		ELSIF part.expression = task AND part.kind IN ('category', 'enum') THEN
			RAISE EXCEPTION 'feature "%" is the task', part.name
				USING ERRCODE = 'invalid_parameter_value', DETAIL = 'Each task has coefficients of its own without it, and a new task would be an unknown category.',
				HINT = 'Omit it.';
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_learn_given(jsonb, text, text) IS 'refuses the response as a feature, and the task as a category';

CREATE FUNCTION wml_learn_scalar(relation regclass, what text, given text, path text, live bool) RETURNS jsonb
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	part record;
BEGIN
	IF given IS NULL THEN
		RETURN NULL;
	END IF;
	SELECT pg_catalog.count(*) OVER (), e.* INTO part FROM @extschema@.wml_expressions(relation, given, path) AS e LIMIT 1;
	IF part.count > 1 THEN
		RAISE EXCEPTION '% must be one expression: "%"', what, given USING ERRCODE = 'syntax_error';
	ELSIF part.volatility = 'volatile' OR (live AND part.volatility <> 'immutable') THEN
		RAISE EXCEPTION '% is %', what, part.volatility
			USING ERRCODE = 'invalid_object_definition', DETAIL = format('Its expression is %s.', part.expression),
			HINT = 'Expressions of live task sets must be immutable, others at least stable. AT TIME ZONE makes expressions of timestamp with time zone immutable, a cast to text those with ||.';
	ELSIF what IN ('response', 'weight', 'exposure') AND part.kind NOT IN ('number', 'boolean') THEN
		RAISE EXCEPTION '% "%" is of type %', what, given, part.type_name
			USING ERRCODE = 'datatype_mismatch', DETAIL = 'It must be a number.';
	END IF;
	RETURN pg_catalog.jsonb_build_object('name', part.name, 'type', part.type_name, 'oid', part.type, 'columns', part.columns,
		'expression', CASE WHEN part.kind = 'boolean' AND what <> 'task' THEN format('(%s)::integer', part.expression)
			ELSE part.expression END);
END $$;
COMMENT ON FUNCTION wml_learn_scalar(regclass, text, text, text, bool) IS 'meaning of the expression of a task, response, weight or place';

-- One element, as an expression over a column y.
CREATE TYPE wml_response AS (y float8);
COMMENT ON TYPE wml_response IS 'argument of the inverse of a response';

CREATE FUNCTION wml_learn_under(path text, schemas name[], name text, relation regclass, task text, response text, features text,
								along text, weight text, inverse text, "range" numrange, levels jsonb, live bool, append bool,
								family text, exposure text, replace bool, rehearse int,
								OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint, OUT coefficients text[])
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	parts text[] := pg_catalog.parse_ident(name);
	s @extschema@.wml_task_set;
	described record;
	task_is jsonb;
	response_is jsonb;
	weight_is jsonb;
	along_is jsonb;
	inverse_is jsonb;
	exposure_is jsonb;
BEGIN
	IF name IS NULL OR relation IS NULL OR task IS NULL OR response IS NULL OR live IS NULL OR append IS NULL OR family IS NULL THEN
		RAISE EXCEPTION 'name, relation, task, response, live, append and family must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	ELSIF pg_catalog.cardinality(parts) > 2 THEN
		RAISE EXCEPTION 'name of a task set must be a table name: "%"', name USING ERRCODE = 'invalid_name';
	ELSIF pg_catalog.octet_length(parts[pg_catalog.cardinality(parts)] || '_pending') > current_setting('max_identifier_length')::int THEN
		RAISE EXCEPTION 'name of task set "%" is too long', parts[pg_catalog.cardinality(parts)]
			USING ERRCODE = 'name_too_long', HINT = 'Tables and functions that belong to it have longer names, such as NAME_pending.';
	ELSIF parts[1] = 'pg_temp' OR (SELECT relpersistence = 't' FROM pg_catalog.pg_class WHERE oid = relation) THEN
		RAISE EXCEPTION 'task sets cannot be temporary, nor learn from temporary tables' USING ERRCODE = 'feature_not_supported';
	ELSIF pg_catalog.isempty(range) THEN
		RAISE EXCEPTION 'range must not be empty' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	s.family := pg_catalog.lower(family);
	PERFORM @extschema@.wml_learn_family(s.family, inverse, exposure, rehearse);
	live := live OR append;
	s.set_name := parts[pg_catalog.cardinality(parts)];
	s.schema_name := CASE WHEN pg_catalog.cardinality(parts) = 2 THEN parts[1] ELSE (SELECT n::text FROM unnest(schemas) WITH ORDINALITY AS u (n, i) WHERE n <> 'pg_catalog' ORDER BY i LIMIT 1) END;
	IF replace THEN
		PERFORM @extschema@.wml_drop_made(t) FROM @extschema@.wml_task_set AS t
		WHERE t.set_name = s.set_name AND t.schema_name = s.schema_name;
	END IF;
	task_is := @extschema@.wml_learn_scalar(relation, 'task', task, path, live);
	response_is := @extschema@.wml_learn_scalar(relation, 'response', response, path, live);
	weight_is := @extschema@.wml_learn_scalar(relation, 'weight', weight, path, live);
	exposure_is := @extschema@.wml_learn_scalar(relation, 'exposure', exposure, path, live);
	along_is := @extschema@.wml_learn_scalar(relation, 'along', along, path, live);
	inverse_is := @extschema@.wml_learn_scalar('@extschema@.wml_response'::regclass, 'inverse', inverse, path, false);
	IF features IS NULL THEN
		SELECT pg_catalog.string_agg(pg_catalog.quote_ident(attname), ', ' ORDER BY attnum) INTO features
		FROM pg_catalog.pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
			AND NOT coalesce(task_is -> 'columns' ? attname::text OR response_is -> 'columns' ? attname::text
				OR weight_is -> 'columns' ? attname::text OR exposure_is -> 'columns' ? attname::text OR along_is -> 'columns' ? attname::text, false);
	END IF;
	SELECT * INTO described FROM @extschema@.wml_learn_features(relation, coalesce(features, ''), path, levels, live);
	IF described.columns = '{}' AND task_is -> 'columns' = '[]' THEN
		RAISE EXCEPTION 'neither the task nor a feature uses a column of %', relation USING ERRCODE = 'invalid_parameter_value';
	END IF;
	PERFORM @extschema@.wml_learn_given(described.parts, response_is ->> 'expression', task_is ->> 'expression');

	s.relation := @extschema@.wml_qualified_name(relation);
	s.key := CASE WHEN task_is ->> 'name' IN ('gram', 'removed', 'peaks', '?column?') THEN 'task' ELSE task_is ->> 'name' END;
	s.key_type := task_is ->> 'type';
	s.equality := @extschema@.wml_equality((task_is ->> 'oid')::regtype);
	s.task := task_is ->> 'expression';
	s.response := response_is ->> 'expression';
	s.weight := weight_is ->> 'expression';
	s.exposure := exposure_is ->> 'expression';
	s.along := along_is ->> 'expression';
	s.inverse := inverse_is ->> 'expression';
	s.response_range := range;
	s.features := described.features;
	s.expression := described.expression;
	s.parts := described.parts;
	SELECT pg_catalog.jsonb_object_agg(attname, format_type(atttypid, atttypmod)) INTO s.columns
	FROM pg_catalog.pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
		AND (attname::text = ANY (described.columns) OR task_is -> 'columns' ? attname::text);
	SELECT pg_catalog.jsonb_object_agg(attname, format_type(atttypid, atttypmod)) INTO s.exposure_columns
	FROM pg_catalog.pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND exposure_is -> 'columns' ? attname::text;
	s.live := CASE WHEN append THEN 'append' WHEN live THEN 'yes' ELSE 'no' END;
	s.learned := pg_catalog.now();
	SELECT * INTO tasks, rows, skipped FROM @extschema@.wml_learn_make(s);
	coefficients := s.features;
	PERFORM @extschema@.wml_rehearse_if_asked(s, rehearse);
END $$;
COMMENT ON FUNCTION wml_learn_under(text, name[], text, regclass, text, text, text, text, text, text, numrange, jsonb, bool, bool, text, text, bool, int) IS 'wml_learn in a given search_path';

CREATE FUNCTION wml_learn(name text, relation regclass, task text, response text, features text DEFAULT NULL,
						  along text DEFAULT NULL, weight text DEFAULT NULL, inverse text DEFAULT NULL,
						  "range" numrange DEFAULT NULL, levels jsonb DEFAULT NULL, live bool DEFAULT false,
						  append bool DEFAULT false, family text DEFAULT 'gaussian', exposure text DEFAULT NULL,
						  replace bool DEFAULT false, rehearse int DEFAULT NULL,
						  OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint, OUT coefficients text[])
	LANGUAGE sql AS $$
SELECT l.tasks, l."rows", l.skipped, l.coefficients
FROM @extschema@.wml_learn_under(pg_catalog.current_setting('search_path'), pg_catalog.current_schemas(false), name, relation, task, response,
	features, along, weight, inverse, "range", levels, live, append, family, exposure, replace, rehearse) AS l
$$;
COMMENT ON FUNCTION wml_learn(text, regclass, text, text, text, text, text, text, numrange, jsonb, bool, bool, text, text, bool, int) IS 'creates a task set: a table with the gram of each task, and its description';

-- Features whose value is the same in all rows of all tasks teach nothing.  Levels that the user named may come later.
CREATE FUNCTION wml_learn_constant(s wml_task_set, pooled wml_gram) RETURNS void
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	constant text;
BEGIN
	SELECT s.features[i] INTO constant
	FROM (SELECT (p ->> 'given')::bool AS given, sum((p ->> 'size')::int) OVER (ORDER BY n) + 1 AS last, (p ->> 'size')::int AS size
		FROM jsonb_array_elements(s.parts) WITH ORDINALITY AS part (p, n)) AS part, generate_series(last - size + 1, last) AS i
	WHERE NOT given AND i = ANY (@extschema@.wml_constant_features(pooled)) ORDER BY i LIMIT 1;
	IF constant IS NOT NULL THEN
		RAISE EXCEPTION 'feature "%" is constant', constant
			USING ERRCODE = 'data_exception', DETAIL = 'It has the same value in all rows of all tasks, so it explains nothing.',
			HINT = 'Omit it. The features already include a constant.';
	END IF;
END $$;
COMMENT ON FUNCTION wml_learn_constant(wml_task_set, wml_gram) IS 'refuses features that are the same in all rows';

CREATE FUNCTION wml_learn_make(s wml_task_set, OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	started timestamptz := clock_timestamp();
	pooled @extschema@.wml_gram;
	described bool;
BEGIN
	SELECT EXISTS (SELECT FROM @extschema@.wml_task_set AS t WHERE (t.schema_name, t.set_name) = (s.schema_name, s.set_name)) INTO described;
	IF @extschema@.wml_task_relation(s) IS NOT NULL THEN
		RAISE EXCEPTION 'relation "%" already exists', s.set_name
			USING ERRCODE = 'duplicate_table', HINT = CASE WHEN described THEN 'Drop the task set with wml_drop, or learn it again with replace => true.'
				ELSE 'It is no task set. Choose another name for the task set.' END;
	ELSIF described THEN
		RAISE EXCEPTION 'task set "%" already exists', s.set_name
			USING ERRCODE = 'duplicate_object', DETAIL = 'Its description stayed when its table was dropped.',
			HINT = 'Drop the task set with wml_drop, or learn it again with replace => true.';
	END IF;
	EXECUTE format('CREATE VIEW %s AS %s', @extschema@.wml_task_name(s, '_rows'), @extschema@.wml_task_rows(s, s.relation));
	IF s.live <> 'no' THEN
		PERFORM @extschema@.wml_live_check(s);
		PERFORM @extschema@.wml_live_install(s);
	END IF;
	IF s.family <> 'gaussian' THEN
		s.prior := @extschema@.wml_learn_prior(s);
	END IF;
	INSERT INTO @extschema@.wml_task_set SELECT s.*;
	EXECUTE format('CREATE TABLE %s%s AS SELECT task AS %I, %s AS gram FROM %s WHERE task IS NOT NULL GROUP BY task',
		@extschema@.wml_task_name(s), CASE WHEN s.live = 'no' THEN '' ELSE ' WITH (fillfactor = 50)' END, s.key,
		@extschema@.wml_task_gram(s), @extschema@.wml_task_name(s, '_rows'));
	EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (%I)', @extschema@.wml_task_name(s), s.key);
	EXECUTE format('COMMENT ON TABLE %s IS %L', @extschema@.wml_task_name(s), @extschema@.wml_task_mark(s) || 'grams of the rows of ' || s.relation);
	EXECUTE format('COMMENT ON VIEW %s IS %L', @extschema@.wml_task_name(s, '_rows'), 'rows of the task set: task, features, response');
	EXECUTE format('ANALYZE %s', @extschema@.wml_task_name(s));

	EXECUTE format('SELECT count(*), coalesce(sum(@extschema@.wml_n(gram)), 0), coalesce(sum(@extschema@.wml_skipped(gram)), 0), '
		'@extschema@.wml_merge(gram) FILTER (WHERE @extschema@.wml_usable(gram)) FROM %s',
		@extschema@.wml_task_name(s)) INTO tasks, rows, skipped, pooled;
	PERFORM @extschema@.wml_learn_constant(s, pooled);
	IF s.live <> 'no' THEN
		PERFORM @extschema@.wml_live_columns(s);
	END IF;
	IF clock_timestamp() > started + interval '5 seconds' AND current_setting('wml.progress', true)::bool THEN
		RAISE NOTICE 'collected % tasks from % rows in % s', tasks, rows, round(extract(epoch FROM clock_timestamp() - started)::numeric, 1);
	END IF;
END $$;
COMMENT ON FUNCTION wml_learn_make(wml_task_set) IS 'creates the table, the view and the triggers of a task set';
