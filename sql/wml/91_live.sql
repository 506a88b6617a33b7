-- Task sets that keep themselves
--
-- Triggers on the rows write into the task table in one way only: one INSERT ... ON CONFLICT with the tasks in order, so
-- that statements lock tasks in the same order.  What came is in the column gram of the new row, what went in removed;
-- rows at rest have NULL there.  live.c says why a statement may have to wait for its other triggers.

CREATE FUNCTION wml_live_check(s wml_task_set) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	member regclass;
BEGIN
	IF EXISTS (SELECT FROM pg_class WHERE oid = @extschema@.wml_task_source(s) AND relkind NOT IN ('r', 'p')) THEN
		RAISE EXCEPTION '% is not a table', s.relation
			USING ERRCODE = 'wrong_object_type', DETAIL = 'Triggers can follow only the rows of tables.', HINT = 'Learn from it without live.';
	ELSIF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
		RAISE EXCEPTION 'a live task set cannot be counted in a % transaction', current_setting('transaction_isolation')
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'It would not see rows that others have written since the transaction began.',
			HINT = 'Call it in a READ COMMITTED transaction.';
	END IF;
	FOR member IN SELECT * FROM @extschema@.wml_task_relations(s) LOOP
		IF row_security_active(member) THEN
			RAISE EXCEPTION 'row security hides rows of % from you', member
				USING ERRCODE = 'insufficient_privilege', DETAIL = 'A live task set would count rows that you cannot read.';
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_live_check(wml_task_set) IS 'checks that triggers can follow the rows of a task set';

-- Adds a query of task, added and removed to the tasks.  Fills wml_again and wml_gone.
CREATE FUNCTION wml_live_change(s wml_task_set, delta text, first text DEFAULT '') RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format($sql$WITH %4$sdelta AS (%1$s), changed AS (
			INSERT INTO %2$s AS kept (%3$I, gram, removed)
			SELECT task, added, removed FROM delta WHERE task IS NOT NULL ORDER BY task
			ON CONFLICT (%3$I) DO UPDATE SET
				gram = %5$s,
				peaks = %6$s,
				removed = NULL
			RETURNING %3$I, gram, removed)
		SELECT array_agg(%3$I) FILTER (WHERE gram IS NULL OR removed IS NOT NULL),
			array_agg(%3$I) FILTER (WHERE removed IS NULL AND @extschema@.wml_n(gram) = 0 AND @extschema@.wml_skipped(gram) = 0)
		INTO wml_again, wml_gone FROM changed$sql$, delta, @extschema@.wml_task_name(s), s.key, first,
	CASE WHEN s.family = 'gaussian' THEN '@extschema@.wml_gram_change(kept.gram, kept.peaks, excluded.gram, excluded.removed)' ELSE 'NULL' END,
	CASE WHEN s.family = 'gaussian' THEN '@extschema@.wml_gram_peaks(kept.gram, kept.peaks, excluded.gram, excluded.removed)' ELSE 'NULL' END)
$$;
COMMENT ON FUNCTION wml_live_change(wml_task_set, text, text) IS 'statement that applies added and removed rows to the tasks';

-- The tasks of wml_again are counted anew, those of wml_gone are gone.
CREATE FUNCTION wml_live_mend(s wml_task_set) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format($sql$	IF wml_again IS NOT NULL THEN
		WITH counted AS (DELETE FROM %6$s WHERE task %5$s ANY (wml_again))
		INSERT INTO %1$s AS kept (%2$I, gram)
		SELECT task, %3$s FROM %4$s WHERE task %5$s ANY (wml_again) GROUP BY task ORDER BY task
		ON CONFLICT (%2$I) DO UPDATE SET gram = excluded.gram, peaks = NULL, removed = NULL;
		DELETE FROM %1$s WHERE %2$I %5$s ANY (wml_again) AND (gram IS NULL OR removed IS NOT NULL);
	END IF;
	IF wml_gone IS NOT NULL THEN
		DELETE FROM %1$s WHERE %2$I %5$s ANY (wml_gone);
	END IF;
$sql$, @extschema@.wml_task_name(s), s.key, @extschema@.wml_task_gram(s), @extschema@.wml_task_name(s, '_rows'), s.equality,
	@extschema@.wml_task_name(s, '_pending'))
$$;
COMMENT ON FUNCTION wml_live_mend(wml_task_set) IS 'statements that recount tasks and remove empty ones';

CREATE FUNCTION wml_live_function(s wml_task_set, suffix text, returns text, body text) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('CREATE OR REPLACE FUNCTION %s() RETURNS %s LANGUAGE plpgsql SECURITY DEFINER '
	'SET search_path = pg_catalog, pg_temp AS %s', @extschema@.wml_task_name(s, suffix), returns,
	CASE WHEN body LIKE '%$wml$%' THEN quote_literal(body) ELSE '$wml$' || body || '$wml$' END)
$$;
COMMENT ON FUNCTION wml_live_function(wml_task_set, text, text, text) IS 'statement that creates a function of a live task set';

CREATE FUNCTION wml_live_columns(s wml_task_set) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	name text := @extschema@.wml_task_name(s);
	pending text := @extschema@.wml_task_name(s, '_pending');
BEGIN
	EXECUTE format('ALTER TABLE %s ADD removed @extschema@.wml_gram, ADD peaks float8[]', name);
	EXECUTE format('ALTER TABLE %s ALTER gram SET STORAGE external', name);
	-- The count left half of each page empty, so that updates stay on the page.  The server prunes a page whenever it is
	-- fuller than its fillfactor: with 50, at nearly every update; with 75, once in several.
	EXECUTE format('ALTER TABLE %s SET (fillfactor = 75)', name);
	EXECUTE format('COMMENT ON COLUMN %s.removed IS %L', name, 'NULL, except on its way into the table');
	EXECUTE format('COMMENT ON COLUMN %s.peaks IS %L', name, 'largest values of the sums since the task was counted');
	EXECUTE format('CREATE TABLE %s (task %s, added @extschema@.wml_gram, removed @extschema@.wml_gram)', pending, s.key_type);
	EXECUTE format('COMMENT ON TABLE %s IS %L', pending, 'pending changes of the task set');
END $$;
COMMENT ON FUNCTION wml_live_columns(wml_task_set) IS 'creates what the triggers of a live task set write to';

-- What has the name that something of a task set would have is not the task set's for that.
CREATE FUNCTION wml_made_function(s wml_task_set, suffix text) RETURNS bool
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
	WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'x' AND e.extname = 'wml')
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = s.schema_name AND p.proname = s.set_name || suffix AND p.pronargs = 0
$$;
COMMENT ON FUNCTION wml_made_function(wml_task_set, text) IS 'whether a function is that of a live task set; NULL if there is none';

CREATE FUNCTION wml_made_relation(s wml_task_set, suffix text, kind "char", col name, type regtype) RETURNS bool
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
	WHERE c.oid = @extschema@.wml_task_relation(s, suffix) AND c.relkind = kind AND a.attname = col AND a.atttypid = type)
$$;
COMMENT ON FUNCTION wml_made_relation(wml_task_set, text, "char", name, regtype) IS 'whether a table or view is that of a task set, which has such a column';

-- The triggers of a task set go with their functions.
CREATE FUNCTION wml_live_remove(s wml_task_set, suffixes text[]) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
	suffix text;
BEGIN
	FOREACH suffix IN ARRAY suffixes LOOP
		IF @extschema@.wml_made_function(s, suffix) THEN
			EXECUTE format('DROP FUNCTION %s() CASCADE', @extschema@.wml_task_name(s, suffix));
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_live_remove(wml_task_set, text[]) IS 'drops the functions and triggers of a live task set';

-- Nobody can write rows once the triggers are there, until the transaction ends; so they come before the count.
-- PL/pgSQL keeps what it compiles to check a body until the session ends, also of functions that are gone by then.
CREATE FUNCTION wml_live_install(s wml_task_set) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning SET check_function_bodies = off AS $$
DECLARE
	name text := @extschema@.wml_task_name(s);
	pending text := @extschema@.wml_task_name(s, '_pending');
	gram text := @extschema@.wml_task_gram(s);
	came text := @extschema@.wml_task_rows(s, 'wml_new');
	went text := @extschema@.wml_task_rows(s, 'wml_old');
	-- of other families than the gaussian, tasks that change are counted anew
	exact bool := s.family = 'gaussian';
	nothing text := 'NULL::@extschema@.wml_gram';
	inserted text := format('SELECT task, %s AS added, %s AS removed FROM (%s) AS came GROUP BY task',
		CASE WHEN exact THEN gram ELSE nothing END, nothing, came);
	deleted text := format('SELECT task, %s AS added, %s AS removed FROM (%s) AS went GROUP BY task',
		nothing, CASE WHEN exact THEN gram ELSE nothing END, went);
	updated text := format('SELECT task, %1$s AS added, %2$s AS removed '
		'FROM (SELECT true AS is_new, * FROM (%3$s) AS came UNION ALL SELECT false, * FROM (%4$s) AS went) AS changed GROUP BY task',
		CASE WHEN exact THEN gram || ' FILTER (WHERE is_new)' ELSE nothing END,
		CASE WHEN exact THEN gram || ' FILTER (WHERE NOT is_new)' ELSE nothing END, came, went);
	truncated text := format('INSERT INTO %s (task, added, removed) SELECT task, NULL, %s FROM (%s) AS went WHERE task IS NOT NULL GROUP BY task',
		pending, CASE WHEN exact THEN gram ELSE nothing END, @extschema@.wml_task_rows(s, 'ONLY wml_truncated'));
	declarations text := format(E'\n#variable_conflict use_column\nDECLARE\n	wml_again %1$s[];\n	wml_gone %1$s[];\n', s.key_type);
	gone text := format($sql$	IF @extschema@.wml_trigger_schema(TG_RELID, TG_NAME) IS DISTINCT FROM %1$L OR to_regclass(%2$L) IS NULL THEN
		PERFORM @extschema@.wml_task_gone(%1$L, %3$L, @extschema@.wml_trigger_schema(TG_RELID, TG_NAME));
$sql$, s.schema_name, CASE WHEN s.live = 'append' THEN pending ELSE name END, s.set_name);
	is_simple bool;
	guard text;
	wait text;
	body text;
	suffix text;
	member regclass;
BEGIN
	truncated := replace(replace(truncated, '%', '%%'), 'ONLY wml_truncated', 'ONLY %s');
	SELECT count(*) = 1 INTO is_simple FROM @extschema@.wml_task_relations(s);
	FOREACH suffix IN ARRAY '{_keep,_enter,_fold}'::text[] LOOP
		IF NOT @extschema@.wml_made_function(s, suffix) THEN
			RAISE EXCEPTION 'function %() already exists', @extschema@.wml_task_name(s, suffix)
				USING ERRCODE = 'duplicate_function', HINT = 'A live task set needs a function of this name. Choose another name for the task set.';
		END IF;
	END LOOP;
	PERFORM @extschema@.wml_live_remove(s, '{_keep,_enter}');
	-- adds what waits
	EXECUTE @extschema@.wml_live_function(s, '_fold', 'void', declarations || format(E'BEGIN\n	%s;\n%sEND ',
		@extschema@.wml_live_change(s, 'SELECT task, @extschema@.wml_merge(added) AS added, @extschema@.wml_merge(removed) AS removed FROM waiting GROUP BY task',
			format('waiting AS (DELETE FROM %s RETURNING task, added, removed), ', pending)),
		@extschema@.wml_live_mend(s)));
	-- before a statement
	EXECUTE @extschema@.wml_live_function(s, '_enter', 'trigger',
		format(E'\nBEGIN\n	PERFORM @extschema@.wml_live_enter(%L);\n	RETURN NULL;\nEND ', name));
	-- after it
	guard := format($sql$	IF to_regclass(%L) IS NULL THEN
		RAISE EXCEPTION 'task set %% can no longer be kept current', %L
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'A column that it needs has been dropped.',
			HINT = 'Drop it with wml_drop, or learn it again with replace => true.';
	END IF;
$sql$, @extschema@.wml_task_name(s, '_rows'), name);
	wait := format($sql$	IF TG_OP = 'INSERT' THEN
		INSERT INTO %1$s (task, added, removed) SELECT task, added, removed FROM (%2$s) AS delta WHERE task IS NOT NULL;
	ELSIF TG_OP = 'UPDATE' THEN
		INSERT INTO %1$s (task, added, removed) SELECT task, added, removed FROM (%3$s) AS delta WHERE task IS NOT NULL;
	ELSE
		INSERT INTO %1$s (task, added, removed) SELECT task, added, removed FROM (%4$s) AS delta WHERE task IS NOT NULL;
	END IF;
$sql$, pending, inserted, updated, deleted);
	IF s.live = 'append' THEN
		body := format($sql$
#variable_conflict use_column
BEGIN
%s		RETURN NULL;
	END IF;
%s	IF TG_OP = 'TRUNCATE' THEN
		EXECUTE format(%L, TG_RELID::regclass);
		RETURN NULL;
	END IF;
%s	RETURN NULL;
END $sql$, gone, guard, truncated, wait);
	ELSE
		body := declarations || format($sql$	wml_step text;
BEGIN
%10$s		IF TG_OP <> 'TRUNCATE' THEN
			PERFORM @extschema@.wml_live_leave(%1$L, true);
		END IF;
		RETURN NULL;
	END IF;
%2$s	IF TG_OP = 'TRUNCATE' THEN
		IF TG_WHEN = 'BEFORE' THEN
			%3$s
		ELSE
			PERFORM %4$s();
		END IF;
		RETURN NULL;
	END IF;
	wml_step := @extschema@.wml_live_leave(%1$L);
	IF wml_step = 'alone' THEN
		IF TG_OP = 'INSERT' THEN
%5$s
		ELSIF TG_OP = 'UPDATE' THEN
		%6$s;
		ELSE
		%7$s;
		END IF;
%8$s		RETURN NULL;
	END IF;

	-- one of several changes that one statement makes
%9$s	IF wml_step = 'last' THEN
		PERFORM %4$s();
	END IF;
	RETURN NULL;
END $sql$, name, guard,
			CASE WHEN is_simple THEN format('DELETE FROM %s;', name)
				ELSE format('EXECUTE format(%L, TG_RELID::regclass);', truncated) END,
			@extschema@.wml_task_name(s, '_fold'),
			CASE WHEN exact THEN format($sql$			INSERT INTO %1$s AS kept (%2$I, gram)
			SELECT task, %3$s FROM (%4$s) AS came WHERE task IS NOT NULL GROUP BY task ORDER BY task
			ON CONFLICT (%2$I) DO UPDATE SET gram = kept.gram OPERATOR(@extschema@.+) excluded.gram;
			RETURN NULL;$sql$, name, s.key, gram, came) ELSE '		' || @extschema@.wml_live_change(s, inserted) || ';' END,
			@extschema@.wml_live_change(s, updated), @extschema@.wml_live_change(s, deleted), @extschema@.wml_live_mend(s), wait, gone);
	END IF;
	EXECUTE @extschema@.wml_live_function(s, '_keep', 'trigger', body);

	FOR member IN SELECT * FROM @extschema@.wml_task_relations(s) LOOP
		IF s.live = 'yes' THEN
			EXECUTE format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
				s.set_name || '_enter', member, @extschema@.wml_task_name(s, '_enter'));
		END IF;
		EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS wml_new FOR EACH STATEMENT EXECUTE FUNCTION %s()',
			s.set_name || '_insert', member, @extschema@.wml_task_name(s, '_keep'));
		EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %s REFERENCING OLD TABLE AS wml_old NEW TABLE AS wml_new FOR EACH STATEMENT EXECUTE FUNCTION %s()',
			s.set_name || '_update', member, @extschema@.wml_task_name(s, '_keep'));
		EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %s REFERENCING OLD TABLE AS wml_old FOR EACH STATEMENT EXECUTE FUNCTION %s()',
			s.set_name || '_delete', member, @extschema@.wml_task_name(s, '_keep'));
		EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
			s.set_name || '_truncate', member, @extschema@.wml_task_name(s, '_keep'));
		-- tasks that lost some of their rows are looked at when these are gone
		IF s.live = 'yes' AND NOT is_simple THEN
			EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
				s.set_name || '_truncated', member, @extschema@.wml_task_name(s, '_keep'));
		END IF;
	END LOOP;
	-- nobody else may put them on rows of their own
	EXECUTE format('REVOKE ALL ON FUNCTION %s(), %s(), %s() FROM PUBLIC', @extschema@.wml_task_name(s, '_enter'),
		@extschema@.wml_task_name(s, '_keep'), @extschema@.wml_task_name(s, '_fold'));
	EXECUTE format('ALTER FUNCTION %s() DEPENDS ON EXTENSION wml', @extschema@.wml_task_name(s, '_enter'));
	EXECUTE format('ALTER FUNCTION %s() DEPENDS ON EXTENSION wml', @extschema@.wml_task_name(s, '_keep'));
	EXECUTE format('ALTER FUNCTION %s() DEPENDS ON EXTENSION wml', @extschema@.wml_task_name(s, '_fold'));
END $$;
COMMENT ON FUNCTION wml_live_install(wml_task_set) IS 'creates the functions and triggers of a live task set';

CREATE FUNCTION wml_fold_made(s wml_task_set) RETURNS bigint
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	waiting bigint := 0;
BEGIN
	IF s.live = 'append' THEN
		EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', @extschema@.wml_task_name(s, '_pending'));
		EXECUTE format('SELECT count(*) FROM %s', @extschema@.wml_task_name(s, '_pending')) INTO waiting;
		EXECUTE format('SELECT %s()', @extschema@.wml_task_name(s, '_fold'));
	END IF;
	RETURN waiting;
END $$;
COMMENT ON FUNCTION wml_fold_made(wml_task_set) IS 'adds pending changes to the tasks';

CREATE FUNCTION wml_fold(name text) RETURNS bigint
	LANGUAGE sql AS $$
SELECT @extschema@.wml_fold_made(@extschema@.wml_find_task_set(name, pg_catalog.current_schemas(true)))
$$;
COMMENT ON FUNCTION wml_fold(text) IS 'adds pending changes to the tasks, and returns their number';

-- The view follows renamed columns; triggers and forecasts know them by the names that they had.
CREATE FUNCTION wml_require_names(s wml_task_set) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	EXECUTE format('SELECT FROM (%s) AS named LIMIT 0', @extschema@.wml_task_rows(s, s.relation));
EXCEPTION WHEN undefined_column THEN
	RAISE EXCEPTION 'a column that task set % needs has been renamed', s.set_name
		USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('For %s: %s.', s.relation, SQLERRM),
		HINT = 'Learn it again with replace => true, or give the column its old name.';
END $$;
COMMENT ON FUNCTION wml_require_names(wml_task_set) IS 'raises an error if a column that a task set knows by name has another one now';

CREATE FUNCTION wml_refresh_make(s wml_task_set, OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner regrole := (SELECT relowner FROM pg_class WHERE oid = @extschema@.wml_task_relation(s));
	mark text := substring(obj_description(@extschema@.wml_task_relation(s), 'pg_class') FROM '^task set .* of wml: ');
BEGIN
	PERFORM @extschema@.wml_require_rows(s);
	-- as after two schemas exchanged their names
	IF mark <> @extschema@.wml_task_mark(s) AND EXISTS (SELECT FROM @extschema@.wml_task_set AS t WHERE @extschema@.wml_task_mark(t) = mark) THEN
		RAISE EXCEPTION 'table % belongs to another task set', @extschema@.wml_task_name(s)
			USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Its comment begins "%s".', mark),
			HINT = 'Learn it again with replace => true, or give its schema the old name.';
	END IF;
	IF @extschema@.wml_task_source(s) IS NOT NULL THEN
		s.relation := @extschema@.wml_qualified_name(@extschema@.wml_task_source(s));
	END IF;
	IF s.live <> 'no' OR s.family <> 'gaussian' THEN
		PERFORM @extschema@.wml_require_names(s);
	END IF;
	IF s.live <> 'no' THEN
		-- the triggers run what the description says with the rights of whoever makes them
		IF owner <> quote_ident(current_user)::regrole THEN
			RAISE EXCEPTION 'must be owner of task set %', s.set_name
				USING ERRCODE = 'insufficient_privilege', DETAIL = format('It is live, and its triggers run with the privileges of their owner, %s.', owner),
				HINT = format('Use SET ROLE %s.', owner);
		END IF;
		PERFORM @extschema@.wml_live_check(s);
		PERFORM @extschema@.wml_live_install(s);
		EXECUTE format('DELETE FROM %s', @extschema@.wml_task_name(s, '_pending'));
	END IF;
	IF s.family <> 'gaussian' THEN
		s.prior := @extschema@.wml_learn_prior(s);
		UPDATE @extschema@.wml_task_set AS t SET prior = s.prior WHERE (t.schema_name, t.set_name) = (s.schema_name, s.set_name);
	END IF;
	-- a table of its own, since INSERT does not count in parallel
	EXECUTE format('CREATE TABLE %s AS SELECT task, %s AS gram FROM %s WHERE task IS NOT NULL GROUP BY task',
		@extschema@.wml_task_name(s, '_counted'), @extschema@.wml_task_gram(s), @extschema@.wml_task_name(s, '_rows'));
	EXECUTE format('DELETE FROM %s', @extschema@.wml_task_name(s));
	EXECUTE format('INSERT INTO %s (%I, gram) SELECT task, gram FROM %s', @extschema@.wml_task_name(s), s.key, @extschema@.wml_task_name(s, '_counted'));
	EXECUTE format('DROP TABLE %s', @extschema@.wml_task_name(s, '_counted'));
	EXECUTE format('COMMENT ON TABLE %s IS %L', @extschema@.wml_task_name(s), @extschema@.wml_task_mark(s) || 'grams of the rows of ' || s.relation);
	EXECUTE format('SELECT count(*), coalesce(sum(@extschema@.wml_n(gram)), 0), coalesce(sum(@extschema@.wml_skipped(gram)), 0) FROM %s',
		@extschema@.wml_task_name(s)) INTO tasks, rows, skipped;
	UPDATE @extschema@.wml_task_set AS t SET learned = now(), relation = s.relation WHERE (t.schema_name, t.set_name) = (s.schema_name, s.set_name);
	PERFORM @extschema@.wml_rehearse_if_asked(s, CASE WHEN coalesce((s.method ->> 'automatic')::bool, true) THEN NULL ELSE (s.method ->> 'known')::int END);
END $$;
COMMENT ON FUNCTION wml_refresh_make(wml_task_set) IS 'counts all tasks of a task set again and recreates its triggers';

CREATE FUNCTION wml_refresh(name text, OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint)
	LANGUAGE sql AS $$
SELECT @extschema@.wml_follow_schema(name, pg_catalog.current_schemas(true));
SELECT r.tasks, r."rows", r.skipped FROM @extschema@.wml_refresh_make(@extschema@.wml_find_task_set(name, pg_catalog.current_schemas(true))) AS r
$$;
COMMENT ON FUNCTION wml_refresh(text) IS 'counts all tasks of a task set again and recreates its triggers';

CREATE FUNCTION wml_drop_made(s wml_task_set) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
BEGIN
	IF @extschema@.wml_task_moved(s) IS NOT NULL THEN
		RAISE WARNING 'the table of task set % is kept', s.set_name
			USING DETAIL = format('It has been renamed to %s.', @extschema@.wml_qualified_name(@extschema@.wml_task_moved(s))), HINT = 'Drop it with DROP TABLE.';
		EXECUTE format('COMMENT ON TABLE %s IS NULL', @extschema@.wml_qualified_name(@extschema@.wml_task_moved(s)));
	END IF;
	-- the description goes first: only the owner of the table may delete it
	DELETE FROM @extschema@.wml_task_set AS t WHERE (t.schema_name, t.set_name) = (s.schema_name, s.set_name);
	PERFORM @extschema@.wml_live_remove(s, '{_keep,_enter,_fold}');
	IF @extschema@.wml_made_relation(s, '_rows', 'v', 'x', 'float8[]') THEN
		EXECUTE format('DROP VIEW %s', @extschema@.wml_task_name(s, '_rows'));
	END IF;
	IF @extschema@.wml_made_relation(s, '_pending', 'r', 'added', '@extschema@.wml_gram') THEN
		EXECUTE format('DROP TABLE %s', @extschema@.wml_task_name(s, '_pending'));
	END IF;
	IF @extschema@.wml_made_relation(s, '', 'r', 'gram', '@extschema@.wml_gram') THEN
		EXECUTE format('DROP TABLE %s', @extschema@.wml_task_name(s));
	END IF;
END $$;
COMMENT ON FUNCTION wml_drop_made(wml_task_set) IS 'drops a task set and everything that belongs to it';

CREATE FUNCTION wml_drop(name text) RETURNS void
	LANGUAGE sql AS $$
SELECT @extschema@.wml_follow_schema(name, pg_catalog.current_schemas(true));
SELECT @extschema@.wml_drop_made(@extschema@.wml_find_task_set(name, pg_catalog.current_schemas(true)))
$$;
COMMENT ON FUNCTION wml_drop(text) IS 'drops a task set and everything that belongs to it, except the rows';

-- Looking at task sets

CREATE FUNCTION wml_task_current(s wml_task_set) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN s.live = 'append' THEN format($sql$SELECT task, CASE WHEN waits AND gram IS NULL THEN (SELECT %4$s FROM %5$s AS r WHERE r.task %6$s now.task) ELSE gram END AS gram
	FROM (SELECT coalesce(t.%2$I, p.task) AS task, p.task IS NOT NULL AS waits,
			%7$s AS gram
		FROM %1$s AS t FULL JOIN (SELECT task, @extschema@.wml_merge(added) AS added, @extschema@.wml_merge(removed) AS removed
			FROM %3$s GROUP BY task) AS p ON p.task %6$s t.%2$I) AS now
	WHERE gram IS NULL OR @extschema@.wml_n(gram) OPERATOR(pg_catalog.>) 0 OR @extschema@.wml_skipped(gram) OPERATOR(pg_catalog.>) 0$sql$,
		@extschema@.wml_task_name(s), s.key, @extschema@.wml_task_name(s, '_pending'), @extschema@.wml_task_gram(s),
		@extschema@.wml_task_name(s, '_rows'), s.equality,
		CASE WHEN s.family = 'gaussian' THEN '@extschema@.wml_gram_change(t.gram, t.peaks, p.added, p.removed)' ELSE 'CASE WHEN p.task IS NULL THEN t.gram END' END)
	ELSE format('SELECT %I AS task, gram FROM %s', s.key, @extschema@.wml_task_name(s)) END
$$;
COMMENT ON FUNCTION wml_task_current(wml_task_set) IS 'query of the tasks and their grams, with pending changes';

CREATE FUNCTION wml_check_made(s wml_task_set)
	RETURNS TABLE (task text, kept_rows bigint, counted_rows bigint, kept wml_gram, counted wml_gram)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM @extschema@.wml_require_rows(s);
	RETURN QUERY EXECUTE format($sql$
		SELECT coalesce(k.task, c.task)::text, @extschema@.wml_n(k.gram), @extschema@.wml_n(c.gram), k.gram, c.gram
		FROM (%s) AS k FULL JOIN (SELECT task, %s AS gram FROM %s WHERE task IS NOT NULL GROUP BY task) AS c ON k.task %s c.task
		WHERE coalesce(k.gram OPERATOR(@extschema@.<>) c.gram, true) AND NOT (k.gram IS NULL AND c.gram IS NULL) ORDER BY coalesce(k.task, c.task)$sql$,
		@extschema@.wml_task_current(s), @extschema@.wml_task_gram(s), @extschema@.wml_task_name(s, '_rows'), s.equality);
END $$;
COMMENT ON FUNCTION wml_check_made(wml_task_set) IS 'tasks whose gram is not that of a recount';

CREATE FUNCTION wml_check(name text)
	RETURNS TABLE (task text, kept_rows bigint, counted_rows bigint, kept wml_gram, counted wml_gram)
	LANGUAGE sql STABLE AS $$
SELECT c.task, c.kept_rows, c.counted_rows, c.kept, c.counted
FROM @extschema@.wml_check_made(@extschema@.wml_find_task_set(name, pg_catalog.current_schemas(true))) AS c
$$;
COMMENT ON FUNCTION wml_check(text) IS 'tasks whose gram differs from a recount; none if the task set is current';

-- Whoever lists task sets has not asked to run what their owners wrote: a view or a policy in the table's place stays unread.
CREATE FUNCTION wml_is_plain_table(relation oid, grams name) RETURNS bool
	LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT c.relkind = 'r' AND NOT row_security_active(c.oid) AND has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.oid = relation AND a.attname = grams AND a.atttypid = '@extschema@.wml_gram'::regtype AND a.attgenerated = ''
$$;
COMMENT ON FUNCTION wml_is_plain_table(oid, name) IS 'whether the caller can read a table of grams without running code of its owner';

-- Descriptions are written by anybody: what is no number in one must not keep the others from being read.
CREATE FUNCTION wml_method_number(method jsonb, field text) RETURNS float8
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN abs(n) BETWEEN 1e-300 AND 1e300 THEN n::float8 WHEN n = 0 THEN 0 END
FROM (SELECT CASE WHEN jsonb_typeof(method -> field) = 'number' THEN (method ->> field)::numeric END AS n) AS given
$$;
COMMENT ON FUNCTION wml_method_number(jsonb, text) IS 'a number in the description of a method; NULL if it is not a number';

CREATE FUNCTION wml_list_task_sets()
	RETURNS TABLE (schema_name text, set_name text, relation text, tasks bigint, "rows" bigint, skipped bigint, features int,
				   live text, size bigint, waiting bigint, learned timestamptz, family text, method text,
				   against_all_alike float8, against_task_alone float8)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	s @extschema@.wml_task_set;
	kept oid;
BEGIN
	FOR s IN SELECT * FROM @extschema@.wml_task_set AS t ORDER BY t.schema_name, t.set_name LOOP
		kept := @extschema@.wml_task_relation(s);
		schema_name := s.schema_name;
		set_name := s.set_name;
		relation := coalesce(@extschema@.wml_qualified_name(@extschema@.wml_task_source(s)), s.relation);
		features := cardinality(s.features);
		live := CASE WHEN kept IS NULL THEN 'dropped' ELSE s.live END;
		learned := s.learned;
		family := s.family;
		method := @extschema@.wml_method_name(s.method);
		against_all_alike := @extschema@.wml_method_number(s.method, 'against_all_alike');
		against_task_alone := @extschema@.wml_method_number(s.method, 'against_task_alone');
		size := pg_total_relation_size(kept);
		tasks := NULL;
		rows := NULL;
		skipped := NULL;
		waiting := NULL;
		IF @extschema@.wml_is_plain_table(kept, 'gram') THEN
			EXECUTE format('SELECT count(*), coalesce(sum(@extschema@.wml_n(gram)), 0), coalesce(sum(@extschema@.wml_skipped(gram)), 0) FROM ONLY %s',
				@extschema@.wml_task_name(s)) INTO tasks, rows, skipped;
			IF @extschema@.wml_is_plain_table(@extschema@.wml_task_relation(s, '_pending'), 'added') THEN
				EXECUTE format('SELECT count(*) FROM ONLY %s', @extschema@.wml_task_name(s, '_pending')) INTO waiting;
			END IF;
		END IF;
		RETURN NEXT;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_list_task_sets() IS 'all task sets';

CREATE VIEW wml_task_sets AS
SELECT schema_name, set_name, relation, tasks, "rows", skipped, features, family, live, waiting, method, against_all_alike, against_task_alone,
	pg_catalog.pg_size_pretty(size) AS size, pg_catalog.now() OPERATOR(pg_catalog.-) learned AS age
FROM wml_list_task_sets();
COMMENT ON VIEW wml_task_sets IS 'all task sets: tasks and rows (NULL without the privilege to read them), live or not, pending changes, the method of forecasts and its error in rehearsals, size, and age of the last count';
GRANT SELECT ON wml_task_sets TO PUBLIC;
