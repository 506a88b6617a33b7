-- Forecasts from task sets

-- The choice of a method, or where the task is of another kind, all tasks alike or the prior.  The prior takes part where
-- wml_tune tries it unasked.
CREATE FUNCTION wml_tune_as(choice jsonb, features int, sources wml_gram[], target wml_gram, windows wml_gram[]) RETURNS wml_tuned
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT @extschema@.wml_tune(sources, target, windows,
	models => array_remove(ARRAY[nullif(choice ->> 'model', 'target'), 'erm', CASE WHEN features <= 40 THEN 'prior' END], NULL),
	weights => ARRAY[coalesce(nullif(choice ->> 'weights', 'stacked'), 'uniform')],
	etas => nullif(array_remove(ARRAY[(choice ->> 'eta')::float8], NULL), '{}'), ridges => nullif(array_remove(ARRAY[(choice ->> 'ridge')::float8], NULL), '{}'),
	shrinks => nullif(array_remove(ARRAY[(choice ->> 'shrink')::float8], NULL), '{}'), evennesses => nullif(array_remove(ARRAY[(choice ->> 'evenness')::float8], NULL), '{}'),
	whitens => nullif(array_remove(ARRAY[(choice ->> 'whiten')::bool], NULL), '{}'), adapt_steps => nullif(array_remove(ARRAY[(choice ->> 'adapt_steps')::int], NULL), '{}'),
	source_rows => nullif(array_remove(ARRAY[(choice ->> 'source_rows')::float8], NULL), '{}'))
$$;
COMMENT ON FUNCTION wml_tune_as(jsonb, int, wml_gram[], wml_gram, wml_gram[]) IS 'the choice of a method fitted to another target';

-- Without a choice, all methods are tried, or all of the one that is named.
CREATE FUNCTION wml_task_tune(s wml_task_set, wanted text, method text, choice jsonb, keys text[], grams wml_gram[], windows wml_gram[]) RETURNS wml_tuned
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	place int := array_position(keys, wanted);
	sources @extschema@.wml_gram[] := grams[:place - 1] || grams[place + 1:];
	result @extschema@.wml_tuned;
BEGIN
	IF place IS NULL OR cardinality(grams) < 3 THEN
		RETURN NULL;
	END IF;
	windows := windows[:place - 1] || windows[place + 1:];
	result := CASE WHEN choice IS NOT NULL THEN @extschema@.wml_tune_as(choice, cardinality(s.features), sources, grams[place], windows)
		ELSE @extschema@.wml_tune(sources, grams[place], windows, models => CASE WHEN coalesce(method, 'tune') <> 'tune' THEN ARRAY[method] END) END;
	-- places among the sources become places among all
	result.sources := ARRAY(SELECT i + (i >= place)::int FROM unnest(result.sources) WITH ORDINALITY AS u (i, n) ORDER BY n);
	RETURN result;
END $$;
COMMENT ON FUNCTION wml_task_tune(wml_task_set, text, text, jsonb, text[], wml_gram[], wml_gram[]) IS 'the method that forecasts a task best, fitted to it';

-- The method that was rehearsed; for a task that has many more rows than were known then, what is best for the first task
-- with about as many rows: to the power of two.  choices are those that were made before.
CREATE FUNCTION wml_task_choice(s wml_task_set, wanted text, keys text[], grams wml_gram[], windows wml_gram[], INOUT choices jsonb, OUT choice jsonb)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	size bit(64) := @extschema@.wml_n(grams[array_position(keys, wanted)])::bit(64);
	first int;
BEGIN
	choice := s.method;
	-- nor is there one for a task whose rows are not finite
	IF (size::bigint < 2 * (choice ->> 'known')::int) IS NOT FALSE THEN
		RETURN;
	END IF;
	first := (SELECT min(i) FROM unnest(grams) WITH ORDINALITY AS u (gram, i)
		WHERE @extschema@.wml_n(gram) >= 2 * (choice ->> 'known')::int AND position('1' IN @extschema@.wml_n(gram)::bit(64)::text) = position('1' IN size::text));
	IF choices -> first::text IS NULL THEN
		choices := choices || jsonb_build_object(first, @extschema@.wml_tuned_method(@extschema@.wml_task_tune(s, keys[first], NULL, NULL, keys, grams, windows)));
	END IF;
	choice := choices -> first::text;
END $$;
COMMENT ON FUNCTION wml_task_choice(wml_task_set, text, text[], wml_gram[], wml_gram[], jsonb) IS 'method for a task that nobody named';

-- Forecasts

CREATE FUNCTION wml_is_enum(type text) RETURNS bool
	LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
SELECT coalesce((SELECT typtype = 'e' FROM pg_type WHERE oid = to_regtype(type)), false)
$$;
COMMENT ON FUNCTION wml_is_enum(text) IS 'whether a type is an enum';

-- A value of a row, as the type that a task set knows its column by.  An unknown label of an enum is NULL, and what is in
-- an object is read as jsonb_to_record reads it.
CREATE FUNCTION wml_forecast_cast(value text, given regtype, wanted text) RETURNS text
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format(CASE WHEN @extschema@.wml_is_enum(wanted)
		THEN '(SELECT label FROM pg_catalog.unnest(pg_catalog.enum_range(NULL::%3$s)) AS label WHERE label::pg_catalog.text OPERATOR(pg_catalog.=) %2$s)'
		WHEN given = 'jsonb'::regtype AND wanted <> 'jsonb'
		THEN '(SELECT v FROM pg_catalog.jsonb_to_record(pg_catalog.jsonb_build_object(''v'', %1$s)) AS r (v %3$s))'
		ELSE '(%1$s)::%3$s' END, value,
	format(CASE WHEN given = 'jsonb'::regtype THEN '(%s OPERATOR(pg_catalog.#>>) ''{}''::pg_catalog.text[])' ELSE '(%s)::pg_catalog.text' END, value), wanted)
$$;
COMMENT ON FUNCTION wml_forecast_cast(text, regtype, text) IS 'expression that casts a value of a query to the type that a task set knows it by';

-- Finds, for each row, the first of these that cannot be computed: the task, a column, a feature, the exposure.
CREATE FUNCTION wml_forecast_failure(s wml_task_set, columns text[], types regtype[], OUT failure text, OUT labels text[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	known text[] := ARRAY(SELECT c FROM jsonb_object_keys(s.columns) AS c ORDER BY c);
	casts text[] := ARRAY(SELECT @extschema@.wml_forecast_cast('$' || i, types[array_position(columns, c)], s.columns ->> c) FROM unnest(known) WITH ORDINALITY AS u (c, i) ORDER BY i);
	named text := (SELECT string_agg(format('%s AS %I', casts[i], known[i]), ', ' ORDER BY i) FROM generate_subscripts(known, 1) AS i);
	computed text := 'SELECT %s FROM (SELECT %s) AS wml_cast';
	statements text[];
BEGIN
	labels := s.key || known || ARRAY(SELECT p ->> 'name' FROM jsonb_array_elements(s.parts) WITH ORDINALITY AS e (p, n) ORDER BY n);
	statements := format(computed, s.task, named) || ARRAY(SELECT 'SELECT ' || c FROM unnest(casts) WITH ORDINALITY AS u (c, i) ORDER BY i)
		-- an array may be of more dimensions than features can be
		|| ARRAY(SELECT format(computed, format(CASE WHEN p ->> 'kind' = 'array' THEN '@extschema@.wml_features(%s)' ELSE '%s' END, p ->> 'value'), named)
			FROM jsonb_array_elements(s.parts) WITH ORDINALITY AS e (p, n) ORDER BY n);
	IF s.exposure_columns IS NOT NULL THEN
		labels := labels || 'exposure'::text;
		statements := statements || format(computed, s.exposure, named);
	END IF;
	failure := format('@extschema@.wml_first_failure(%L::pg_catalog.text[], %s)', statements,
		(SELECT string_agg(format('wml_query.%I', c), ', ' ORDER BY i) FROM unnest(known) WITH ORDINALITY AS u (c, i)));
END $$;
COMMENT ON FUNCTION wml_forecast_failure(wml_task_set, text[], regtype[]) IS 'expression that tells which of the values of a row cannot be computed, and what they are called';

-- The columns that a task set knows, wml_row, wml_position, wml_task and wml_trouble.  Checked, rows with values that
-- cannot be computed say so there, instead of raising an error.
CREATE FUNCTION wml_forecast_rows(s wml_task_set, query text, columns text[], types regtype[], checked bool) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	f record := @extschema@.wml_forecast_failure(s, columns, types);
	given text;
	casts text;
	guarded text;
BEGIN
	SELECT string_agg(format('wml_query.%I', c), ', ' ORDER BY c), string_agg(format('%s AS %I', v, c), ', ' ORDER BY c),
		string_agg(format('CASE WHEN wml_failed IS NULL THEN %s END AS %I', v, c), ', ' ORDER BY c)
	INTO given, casts, guarded
	FROM (SELECT c, @extschema@.wml_forecast_cast(format('wml_query.%I', c), types[array_position(columns, c)], t) AS v FROM jsonb_each_text(s.columns) AS e (c, t)) AS known;
	query := format(E'(SELECT %s, pg_catalog.to_jsonb(wml_query) AS wml_row, pg_catalog.row_number() OVER () AS wml_position, %s AS wml_failed FROM (%s\n) AS wml_query) AS wml_query',
		given, CASE WHEN checked THEN f.failure ELSE 'NULL' END, query);
	IF checked THEN
		RETURN format('SELECT CASE WHEN wml_failed OPERATOR(pg_catalog.=) 1 THEN NULL ELSE (SELECT %s FROM (SELECT %s) AS wml_cast) END AS wml_task, '
			'''invalid value: '' OPERATOR(pg_catalog.||) (%L::pg_catalog.text[])[wml_failed] AS wml_trouble, %s, wml_row, wml_position FROM %s', s.task, casts, f.labels, guarded, query);
	END IF;
	RETURN format('SELECT %s AS wml_task, NULL::pg_catalog.text AS wml_trouble, wml_cast.* FROM (SELECT %s, wml_row, wml_position FROM %s) AS wml_cast', s.task, casts, query);
END $$;
COMMENT ON FUNCTION wml_forecast_rows(wml_task_set, text, text[], regtype[], bool) IS 'query of the rows of another one as a task set knows them';

-- Rows that say nothing of an exposure have 1.
CREATE FUNCTION wml_forecast_columns(s wml_task_set, columns text[]) RETURNS wml_task_set
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	missing text;
BEGIN
	SELECT string_agg(c, ', ' ORDER BY c) INTO missing FROM jsonb_object_keys(s.columns) AS c WHERE NOT c = ANY (columns);
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION 'rows have no column %', missing
			USING ERRCODE = 'undefined_column', DETAIL = format('Forecasts of task set %s need the columns %s.', s.set_name,
				(SELECT string_agg(c, ', ' ORDER BY c) FROM jsonb_object_keys(s.columns) AS c));
	END IF;
	IF s.exposure_columns IS NOT NULL AND ARRAY(SELECT jsonb_object_keys(s.exposure_columns)) <@ columns THEN
		s.columns := s.columns || s.exposure_columns;
	ELSE
		s.exposure_columns := NULL;
	END IF;
	RETURN s;
END $$;
COMMENT ON FUNCTION wml_forecast_columns(wml_task_set, text[]) IS 'a description with the columns that forecasts of such rows read; an error if one is missing';

-- The server's error that there is no cast does not say for which column.
CREATE FUNCTION wml_forecast_refuse(s wml_task_set, columns text[], types regtype[]) RETURNS void
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT k AS name, types[array_position(columns, k)] AS given, t AS wanted FROM jsonb_each_text(s.columns) AS e (k, t) ORDER BY k LOOP
		BEGIN
			EXECUTE 'SELECT ' || @extschema@.wml_forecast_cast(format('NULL::%s', c.given), c.given, c.wanted);
		EXCEPTION WHEN cannot_coerce THEN
			RAISE EXCEPTION 'column "%" of the rows is of type %', c.name, c.given
				USING ERRCODE = 'cannot_coerce', DETAIL = format('Task set %s knows it as %s, and there is no cast.', s.set_name, c.wanted), HINT = 'Convert it in the query.';
		END;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_forecast_refuse(wml_task_set, text[], regtype[]) IS 'raises an error about a column whose type cannot be cast';

-- What each column of an answer is in the response's own units.  The mean of an inverse is found by Gauss and Hermite.
CREATE FUNCTION wml_forecast_own(s wml_task_set, OUT own text, OUT deviation text, OUT mean text)
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	half_width text := '(SELECT (p.upper OPERATOR(pg_catalog.-) p.lower) OPERATOR(pg_catalog./) 2::pg_catalog.float8 FROM @extschema@.wml_predict_interval(%s, x, 0.6826894921370859) AS p)';
BEGIN
	own := 'answer[%s]';
	deviation := '';
	mean := 'estimate';
	IF s.inverse IS NOT NULL THEN
		own := '(SELECT ' || replace(s.inverse, '%', '%%') || ' FROM (SELECT answer[%s] AS y) AS own)';
		deviation := format(', CASE WHEN why IS NULL THEN CASE WHEN (tuned).coef IS NOT NULL THEN %s ELSE %s END END AS deviation',
			format(half_width, 'tuned'), format(half_width, '$1, gram'));
		mean := format('(SELECT pg_catalog.sum(share OPERATOR(pg_catalog.*) (%s)) FROM (SELECT answer[1] OPERATOR(pg_catalog.+) (deviation OPERATOR(pg_catalog.*) node) AS y, share '
			'FROM (VALUES (0::pg_catalog.float8, 0.4571428571428571::pg_catalog.float8), (1.1544053947399682, 0.2401231786050127), (-1.1544053947399682, 0.2401231786050127), '
			'(2.3667594107345416, 0.03075712396758652), (-2.3667594107345416, 0.03075712396758652), (3.7504397177257425, 0.0005482688559722179), '
			'(-3.7504397177257425, 0.0005482688559722179)) AS nodes (node, share)) AS own)', s.inverse);
	END IF;
END $$;
COMMENT ON FUNCTION wml_forecast_own(wml_task_set) IS 'expressions that lead from answers to the response''s own units';

-- The rows as they are answered, and their answers as they are taken to the response's own units.  Checked, rows whose
-- answers are too large or too small for that say so.
CREATE FUNCTION wml_forecast_steps(s wml_task_set, checked bool, OUT met text, OUT answered text)
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	units record := @extschema@.wml_forecast_own(s);
BEGIN
	met := 'met';
	answered := 'answered';
	IF checked AND s.family <> 'gaussian' THEN
		met := format('(SELECT wml_position, wml_row, task, x, exposure, gram, tuned, coalesce(why, CASE WHEN @extschema@.wml_first_failure(ARRAY[%L], $1, gram, x, $2, exposure) IS NOT NULL '
			'THEN ''out of range'' END) AS why FROM met) AS met', 'SELECT p.estimate FROM @extschema@.wml_predict_response($1, $2, $3, $4, $5) AS p');
	ELSIF checked AND s.inverse IS NOT NULL THEN
		answered := format('(SELECT wml_position, wml_row, task, gram, tuned, deviation, CASE WHEN lost IS NULL THEN answer END AS answer, CASE WHEN lost IS NULL THEN why ELSE ''out of range'' END AS why '
			'FROM (SELECT *, CASE WHEN why IS NULL THEN @extschema@.wml_first_failure(ARRAY[%L], answer, deviation) END AS lost FROM answered OFFSET 0) AS answered) AS answered',
			format('SELECT %s, %s FROM (SELECT $1 AS answer, $2 AS deviation) AS answered', (SELECT string_agg(format(units.own, i), ', ') FROM generate_series(1, 5) AS i), units.mean));
	END IF;
END $$;
COMMENT ON FUNCTION wml_forecast_steps(wml_task_set, bool) IS 'sources of the last steps of a forecast';

-- Reads $1: the prior, $2: the level, $3 and $4: tasks and what was tuned for them, $5: why there is no prior,
-- $6: which prior it is.
CREATE FUNCTION wml_forecast_query(s wml_task_set, "rows" text, checked bool) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	why text;
	lengths text;
	-- rates as large as this are the largest that there are
	answer text := '(SELECT ARRAY[p.estimate, p.lower, p.upper, p.mean_lower, p.mean_upper]::pg_catalog.float8[] FROM @extschema@.%s AS p '
		'WHERE p.estimate OPERATOR(pg_catalog.<) ' || quote_literal(CASE WHEN s.family = 'gaussian' THEN 'Infinity' ELSE '1e100' END) || '::pg_catalog.float8)';
	exposure text := CASE WHEN s.exposure_columns IS NULL THEN '1::pg_catalog.float8' ELSE format('(%s)::pg_catalog.float8', s.exposure) END;
	units record := @extschema@.wml_forecast_own(s);
	steps record := @extschema@.wml_forecast_steps(s, checked);
	low text := coalesce(lower(s.response_range)::float8::text, '-Infinity');
	high text := coalesce(upper(s.response_range)::float8::text, 'Infinity');
BEGIN
	-- an enum that is NULL where the row had something has a label that is not known
	SELECT coalesce(string_agg(format('CASE WHEN (%s) IS NULL THEN CASE WHEN (%s) IS NULL%s THEN %L ELSE %L END END', p ->> 'value', p ->> 'expression',
		CASE WHEN p ->> 'kind' = 'enum' AND jsonb_array_length(p -> 'columns') = 1
			THEN format(' AND (wml_row OPERATOR(pg_catalog.->>) %L) IS NULL', p -> 'columns' ->> 0) END,
		'missing value: ' || (p ->> 'name'), 'unknown category: ' || (p ->> 'name')), ', '), 'NULL') INTO why FROM jsonb_array_elements(s.parts) AS p;
	SELECT string_agg(format('WHEN pg_catalog.cardinality(%s) OPERATOR(pg_catalog.<>) %s THEN %L', p ->> 'value', p ->> 'size', 'invalid value: ' || (p ->> 'name')), ' ') INTO lengths
	FROM jsonb_array_elements(s.parts) AS p WHERE p ->> 'kind' = 'array';
	RETURN format($sql$
		WITH asked AS MATERIALIZED (
			SELECT wml_position, wml_row, wml_task AS task, wml_x AS x, CASE WHEN wml_trouble IS NULL THEN %4$s END AS exposure,
				CASE WHEN wml_trouble IS NOT NULL THEN wml_trouble
					WHEN wml_x IS NULL THEN coalesce(CASE WHEN pg_catalog.concat_ws(', ', %2$s) OPERATOR(pg_catalog.<>) '' THEN pg_catalog.concat_ws(', ', %2$s) END, 'missing value')
					%22$s WHEN NOT @extschema@.wml_finite(wml_x) THEN 'not finite' END AS trouble
			FROM (SELECT *, CASE WHEN wml_trouble IS NULL THEN %3$s END AS wml_x FROM (%1$s) AS wml_cast OFFSET 0) AS wml_expressed),
		met AS MATERIALIZED (
			SELECT asked.*, known.gram, tuned.tuned,
				coalesce(trouble, CASE WHEN exposure IS NULL THEN 'missing value: exposure'
					WHEN NOT (exposure OPERATOR(pg_catalog.>) 0::pg_catalog.float8 AND exposure OPERATOR(pg_catalog.<) 'Infinity'::pg_catalog.float8) THEN 'exposure not positive'
					WHEN $1 IS NULL THEN $5 WHEN known.gram IS NOT NULL AND @extschema@.wml_n(known.gram) OPERATOR(pg_catalog.>) 0
					AND NOT @extschema@.wml_usable(known.gram) THEN 'rows not finite' END) AS why
			FROM asked LEFT JOIN (%6$s) AS known ON known.task %7$s asked.task
				LEFT JOIN (SELECT u.task, ($4)[u.i] AS tuned FROM pg_catalog.unnest($3) WITH ORDINALITY AS u (task, i)) AS tuned
					ON tuned.task::%5$s %7$s known.task
			ORDER BY asked.task, wml_position),
		answered AS MATERIALIZED (
			SELECT met.*, CASE WHEN why IS NULL THEN CASE WHEN (tuned).coef IS NOT NULL THEN %8$s ELSE %21$s END END AS answer%9$s
			FROM %23$s),
		own AS (
			SELECT answered.*, %10$s AS estimate, %11$s AS bound_1, %12$s AS bound_2, %13$s AS mean_1, %14$s AS mean_2 FROM %24$s)
		SELECT task::pg_catalog.text, wml_row, %15$s, %16$s, %17$s, %18$s, %19$s, %20$s,
			CASE WHEN why IS NOT NULL OR answer IS NULL THEN NULL WHEN (tuned).coef IS NOT NULL THEN @extschema@.wml_method_name(@extschema@.wml_tuned_method(tuned)) ELSE $6 END,
			coalesce(why, CASE WHEN answer IS NULL THEN 'out of range' WHEN gram IS NULL OR @extschema@.wml_n(gram) OPERATOR(pg_catalog.=) 0 THEN 'new task' ELSE 'ok' END)
		FROM own ORDER BY wml_position$sql$,
		rows, why, s.expression, exposure, @extschema@.wml_key_type(s), @extschema@.wml_task_current(s), s.equality,
		format(answer, 'wml_predict_interval(tuned, x, $2)'), units.deviation,
		format(units.own, 1), format(units.own, 2), format(units.own, 3), format(units.own, 4), format(units.own, 5),
		@extschema@.wml_within('estimate', low, high), @extschema@.wml_within('least(bound_1, bound_2)', low, high),
		@extschema@.wml_within('greatest(bound_1, bound_2)', low, high), @extschema@.wml_within('least(mean_1, mean_2)', low, high),
		@extschema@.wml_within('greatest(mean_1, mean_2)', low, high), @extschema@.wml_within(units.mean, low, high),
		format(answer, CASE WHEN s.family = 'gaussian' THEN 'wml_predict_interval($1, gram, x, $2)' ELSE 'wml_predict_response($1, gram, x, $2, exposure)' END), lengths, steps.met, steps.answered);
END $$;
COMMENT ON FUNCTION wml_forecast_query(wml_task_set, text, bool) IS 'statement that forecasts rows';

CREATE FUNCTION wml_within(expression text, low text, high text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN low = '-Infinity' AND high = 'Infinity' THEN expression
	ELSE format('CASE WHEN answer IS NOT NULL THEN greatest(%L::pg_catalog.float8, least(%L::pg_catalog.float8, %s)) END', low, high, expression) END
$$;
COMMENT ON FUNCTION wml_within(text, text, text) IS 'expression limited to a range';

CREATE FUNCTION wml_forecast_tunes(s wml_task_set, method text) RETURNS bool
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT s.family = 'gaussian' AND coalesce(method, s.method ->> 'model', 'prior') NOT IN ('prior', 'robust')
$$;
COMMENT ON FUNCTION wml_forecast_tunes(wml_task_set, text) IS 'false if the prior serves all tasks at once';

-- Tasks that are known over the same range of `along` share what is read for it.  What is best for others is not for one
-- that does not belong to them: its rows may be mistyped, and a robust prior can tell.
CREATE FUNCTION wml_forecast_tune(s wml_task_set, wanted anyarray, method text, strangers text[], OUT tasks text[], OUT tuned wml_tuned[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
DECLARE
	key text;
	w record;
	range text;
	known record;
	choices jsonb;
	choice jsonb;
	t @extschema@.wml_tuned;
	done int := 0;
	said timestamptz := clock_timestamp();
BEGIN
	IF wanted IS NULL THEN
		RETURN;
	END IF;
	IF s.along IS NOT NULL THEN
		PERFORM @extschema@.wml_require_rows(s);
	END IF;
	FOR w IN EXECUTE format('SELECT task::text AS task, %s AS range FROM %s WHERE task %s ANY ($1) GROUP BY task ORDER BY 2, 1',
		CASE WHEN s.along IS NULL THEN $q$''$q$ ELSE $q$concat_ws(' to ', min(along), max(along))$q$ END,
		CASE WHEN s.along IS NULL THEN format('(%s) AS known', @extschema@.wml_task_current(s)) ELSE @extschema@.wml_task_name(s, '_rows') END, s.equality) USING wanted
	LOOP
		key := @extschema@.wml_task_key(s, w.task);
		CONTINUE WHEN method IS NULL AND key = ANY (strangers);
		IF range IS DISTINCT FROM w.range THEN
			range := w.range;
			choices := '{}';
			SELECT * INTO known FROM @extschema@.wml_task_sources(s, key, strangers);
		END IF;
		IF method IS NULL THEN
			SELECT c.choices, c.choice INTO choices, choice FROM @extschema@.wml_task_choice(s, key, known.keys, known.grams, known.windows, choices) AS c;
		END IF;
		t := @extschema@.wml_task_tune(s, key, method, choice, known.keys, known.grams, known.windows);
		done := done + 1;
		IF t.coef IS NOT NULL THEN
			tasks := tasks || key;
			tuned := tuned || t;
		END IF;
		IF clock_timestamp() > said + interval '5 seconds' AND current_setting('wml.progress', true)::bool THEN
			RAISE NOTICE 'tuned % of % tasks', done, cardinality(wanted);
			said := clock_timestamp();
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_forecast_tune(wml_task_set, anyarray, text, text[]) IS 'tunes each task that is forecast';

CREATE FUNCTION wml_forecast_tasks("rows" text) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('SELECT t.tasks, t.tuned FROM (SELECT pg_catalog.array_agg(DISTINCT wml_task) AS wanted FROM (%s) AS wml_cast) AS w, '
	'@extschema@.wml_forecast_tune($1, w.wanted, $2, $3) AS t', rows)
$$;
COMMENT ON FUNCTION wml_forecast_tasks(text) IS 'statement that tunes the tasks of rows';

CREATE FUNCTION wml_check_forecast(s wml_task_set, level float8, method text) RETURNS void
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF level IS NULL OR NOT (level > 0 AND level < 1) THEN
		RAISE EXCEPTION 'level must be between 0 and 1: %', level USING ERRCODE = 'invalid_parameter_value';
	ELSIF s.family <> 'gaussian' AND method <> 'prior' THEN
		RAISE EXCEPTION 'the % family has no method "%"', s.family, method
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Its forecasts come from the prior.';
	ELSIF method NOT IN ('prior', 'robust', 'tune', 'stack', 'erm', 'maml', 'fomaml', 'reptile') THEN
		RAISE EXCEPTION 'unrecognized method: "%"', method
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Available values: prior, robust, tune, stack, erm, maml, fomaml, reptile.';
	END IF;
END $$;
COMMENT ON FUNCTION wml_check_forecast(wml_task_set, float8, text) IS 'checks the arguments of a forecast';

CREATE FUNCTION wml_forecast(name text, "rows" text, level float8 DEFAULT 0.95, method text DEFAULT NULL)
	RETURNS TABLE (task text, "row" jsonb, estimate float8, lower float8, upper float8, mean_lower float8, mean_upper float8,
				   mean float8, model text, status text)
	LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
	s @extschema@.wml_task_set;
	asked pg_catalog.record;
	checked pg_catalog.bool;
	statement pg_catalog.text;
	tasks pg_catalog.text[];
	tuned @extschema@.wml_tuned[];
	learned pg_catalog.record;
BEGIN
	s := @extschema@.wml_find_task_set($1, pg_catalog.current_schemas(true));
	$4 := pg_catalog.lower($4);
	PERFORM @extschema@.wml_check_forecast(s, $3, $4);
	-- no query and no name begins like that
	IF $2 OPERATOR(pg_catalog.~) '^\s*[[{]' THEN
		$2 := @extschema@.wml_object_rows(s, $2::pg_catalog.jsonb);
	END IF;
	asked := @extschema@.wml_asked_rows($2);
	s := @extschema@.wml_forecast_columns(s, asked.columns);
	learned := @extschema@.wml_task_prior_again(s, $4);
	-- what is executed names everything in full, but for what the user wrote
	FOREACH checked IN ARRAY ARRAY[false, true] LOOP
		BEGIN
			statement := @extschema@.wml_forecast_rows(s, asked.query, asked.columns, asked.types, checked);
			IF @extschema@.wml_forecast_tunes(s, $4) THEN
				EXECUTE @extschema@.wml_forecast_tasks(statement) INTO tasks, tuned USING s, $4, learned.strangers;
			END IF;
			RETURN QUERY EXECUTE @extschema@.wml_forecast_query(s, statement, checked) USING learned.prior, $3, tasks, tuned, learned.trouble, learned.model;
			EXIT;
		EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
			-- if it is a value of some row, the second try says so there
			IF checked THEN
				RAISE;
			END IF;
		WHEN cannot_coerce THEN
			PERFORM @extschema@.wml_forecast_refuse(s, asked.columns, asked.types);
			RAISE;
		END;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_forecast(text, text, float8, text) IS 'forecasts of rows in the units of the response, with bounds for an observation and for the mean';

-- Rows as objects.
CREATE FUNCTION wml_object_rows(s wml_task_set, "rows" jsonb) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	objects jsonb := CASE WHEN jsonb_typeof(rows) = 'object' THEN jsonb_build_array(rows) ELSE rows END;
	columns text;
BEGIN
	IF jsonb_typeof(objects) IS DISTINCT FROM 'array' OR jsonb_path_exists(objects, 'strict $[*] ? (@.type() != "object")') THEN
		RAISE EXCEPTION 'rows must be a JSON object or an array of objects' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT string_agg(format('wml_object OPERATOR(pg_catalog.->) %L::pg_catalog.text AS %1$I', k), ', ' ORDER BY k) INTO columns
	FROM (SELECT DISTINCT k FROM jsonb_array_elements(objects) AS o, jsonb_object_keys(o) AS k WHERE k <> ''	-- no name of a column
		UNION SELECT jsonb_object_keys(s.columns) WHERE jsonb_array_length(objects) = 0) AS keys;
	RETURN format('SELECT %s FROM pg_catalog.jsonb_array_elements(%L) WITH ORDINALITY AS wml_objects (wml_object, wml_number) ORDER BY wml_number', columns, objects);
END $$;
COMMENT ON FUNCTION wml_object_rows(wml_task_set, jsonb) IS 'query that returns rows given as JSON objects';

CREATE FUNCTION wml_forecast(name text, "rows" jsonb, level float8 DEFAULT 0.95, method text DEFAULT NULL)
	RETURNS TABLE (task text, "row" jsonb, estimate float8, lower float8, upper float8, mean_lower float8, mean_upper float8,
				   mean float8, model text, status text)
	LANGUAGE sql STABLE AS $$
SELECT f.task, f."row", f.estimate, f.lower, f.upper, f.mean_lower, f.mean_upper, f.mean, f.model, f.status
FROM @extschema@.wml_forecast($1, @extschema@.wml_object_rows(@extschema@.wml_find_task_set($1, pg_catalog.current_schemas(true)), $2), $3, $4) AS f
$$;
COMMENT ON FUNCTION wml_forecast(text, jsonb, float8, text) IS 'the same, for rows that are JSON objects';

-- Explanations

CREATE FUNCTION wml_explain_under(s wml_task_set, wanted text)
	RETURNS TABLE (part text, item text, value float8, error float8, shared float8, moved float8)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
#variable_conflict use_column
DECLARE
	learned record := @extschema@.wml_task_prior(s, NULL);
	known record := @extschema@.wml_task_sources(s, wanted, learned.strangers);
	prior @extschema@.wml_prior := learned.prior;
	target @extschema@.wml_gram;
	tuned @extschema@.wml_tuned;
	ratio text := CASE WHEN s.family = 'binomial' THEN 'odds ratio' WHEN s.family <> 'gaussian' THEN 'rate ratio' END;
	place int := array_position(known.keys, wanted);
BEGIN
	IF prior IS NULL THEN
		RAISE EXCEPTION 'cannot explain forecasts: %', learned.trouble USING ERRCODE = 'data_exception';
	END IF;
	EXECUTE format('SELECT gram FROM (%s) AS known WHERE task %s $1::%s', @extschema@.wml_task_current(s), s.equality, @extschema@.wml_key_type(s)) INTO target USING wanted;
	IF target IS NULL AND wanted IS NOT NULL THEN
		RAISE NOTICE 'task set % has no task "%"', s.set_name, wanted
			USING DETAIL = 'What follows is the forecast of a new task, which is what all tasks share.';
	ELSIF NOT @extschema@.wml_usable(target) THEN
		target := NULL;
	END IF;
	IF target IS NOT NULL AND @extschema@.wml_forecast_tunes(s, NULL) AND wanted = ANY (learned.strangers) IS NOT TRUE THEN
		tuned := @extschema@.wml_task_tune(s, wanted, NULL, (@extschema@.wml_task_choice(s, wanted, known.keys, known.grams, known.windows, '{}')).choice,
			known.keys, known.grams, known.windows);
	END IF;
	RETURN QUERY SELECT 'rows', 'known', coalesce(@extschema@.wml_n(target), 0)::float8, NULL::float8, NULL::float8, NULL::float8;
	-- the errors and the prior's own figures for the prior, the method's where it is another
	RETURN QUERY SELECT 'coefficient', p.feature, coalesce(tuned.coef[p."position"], p.coefficient),
			coalesce(sqrt(tuned.covariance[p."position"][p."position"]), p.error), p.prior_mean,
			CASE WHEN p.prior_sd > 0 THEN (coalesce(tuned.coef[p."position"], p.coefficient) - p.prior_mean) / p.prior_sd END
		FROM @extschema@.wml_posterior(prior, target, s.features) AS p ORDER BY p."position";
	IF ratio IS NOT NULL THEN
		-- exp fails where a float8 cannot hold the ratio, as with a feature in very large units
		RETURN QUERY SELECT ratio, p.feature, CASE WHEN p.holds THEN exp(p.coefficient) END, CASE WHEN p.holds THEN exp(p.coefficient) * p.error END,
				CASE WHEN abs(p.prior_mean) < 300 THEN exp(p.prior_mean) END, NULL::float8
			FROM (SELECT *, abs(coefficient) < 300 AND error < 1e100 AS holds FROM @extschema@.wml_posterior(prior, target, s.features)) AS p
			WHERE p."position" > 1 ORDER BY p."position";
	END IF;
	IF tuned.weights IN ('mixture', 'closest', 'stacked') THEN
		RETURN QUERY SELECT 'source', known.keys[i], a, NULL::float8, NULL::float8, NULL::float8
			FROM unnest(tuned.sources, tuned.alpha) AS w (i, a) WHERE a > 0.001 ORDER BY a DESC, i LIMIT 10;
	ELSIF place IS NOT NULL AND cardinality(known.keys) > 1 THEN
		RETURN QUERY SELECT 'source', k, a, NULL::float8, NULL::float8, NULL::float8
			FROM (SELECT @extschema@.wml_alpha(g[:place - 1] || g[place + 1:], g[place], shrink => 0.1, whiten => true) AS alpha
				FROM (SELECT coalesce(known.windows, known.grams) AS g) AS grams) AS weighed,
				unnest(known.keys[:place - 1] || known.keys[place + 1:], alpha) WITH ORDINALITY AS w (k, a, i)
			WHERE a > 0.001 ORDER BY a DESC, i LIMIT 10;
	END IF;
	RETURN QUERY SELECT 'left out', k, d, NULL::float8, NULL::float8, NULL::float8
		FROM @extschema@.wml_task_strangers(s) AS t, unnest(t.keys, t.deviations) AS u (k, d) WHERE k IS DISTINCT FROM wanted ORDER BY d DESC, k LIMIT 10;
	-- that of this target, or else that of the task set
	RETURN QUERY SELECT 'rehearsal', @extschema@.wml_method_name(CASE WHEN tuned.model IS NULL THEN s.method ELSE @extschema@.wml_tuned_method(tuned) END) || n, v, NULL::float8, NULL::float8, NULL::float8
		FROM (VALUES (1, ' against all tasks alike', coalesce(tuned.rehearsal, (s.method ->> 'against_all_alike')::float8)),
			(2, ' against the task alone', coalesce(tuned.against_target, (s.method ->> 'against_task_alone')::float8))) AS r (o, n, v)
		WHERE v IS NOT NULL ORDER BY o;
END $$;
COMMENT ON FUNCTION wml_explain_under(wml_task_set, text) IS 'explanation of the forecasts of a task';

CREATE FUNCTION wml_explain(name text, task text)
	RETURNS TABLE (part text, item text, value float8, error float8, shared float8, moved float8)
	LANGUAGE sql STABLE AS $$
SELECT e.part, e.item, e.value, e.error, e.shared, e.moved
FROM @extschema@.wml_find_task_set($1, pg_catalog.current_schemas(true)) AS s,
	@extschema@.wml_explain_under(s, @extschema@.wml_task_key(s, @extschema@.wml_given_key(s, $2))) AS e
$$;
COMMENT ON FUNCTION wml_explain(text, text) IS 'explains the forecasts of a task: coefficients, sources with their weights, and errors in rehearsals';

CREATE FUNCTION wml_explain(name text, task anyelement)
	RETURNS TABLE (part text, item text, value float8, error float8, shared float8, moved float8)
	LANGUAGE sql STABLE AS $$
SELECT e.part, e.item, e.value, e.error, e.shared, e.moved
FROM @extschema@.wml_find_task_set($1, pg_catalog.current_schemas(true)) AS s,
	@extschema@.wml_explain_under(s, @extschema@.wml_task_key(s, @extschema@.wml_key_text($2))) AS e
$$;
COMMENT ON FUNCTION wml_explain(text, anyelement) IS 'the same, for tasks with keys of any type';
