-- Forecasts from task sets

-- What is known of the tasks

CREATE FUNCTION wml_task_prior(s wml_task_set) RETURNS wml_prior
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	result @extschema@.wml_prior;
BEGIN
	EXECUTE format('SELECT CASE WHEN count(*) > 1 THEN @extschema@.wml_prior(array_agg(gram ORDER BY task), method => ''reml'', evenness => %s) END '
		'FROM (%s) AS known WHERE @extschema@.wml_usable(gram)', cardinality(s.features), @extschema@.wml_task_current(s)) INTO result;
	RETURN result;
END $$;
COMMENT ON FUNCTION wml_task_prior(wml_task_set) IS 'prior learned from all tasks of a task set; NULL if there are fewer than two';

-- The others are the sources.  With a column that tells which rows correspond, the windows are those of the task's own rows.
CREATE FUNCTION wml_task_sources(s wml_task_set, wanted text,
								 OUT target wml_gram, OUT keys text[], OUT sources wml_gram[], OUT windows wml_gram[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	EXECUTE format('SELECT gram FROM (%s) AS known WHERE task::text = $1 AND @extschema@.wml_usable(gram)', @extschema@.wml_task_current(s))
		INTO target USING wanted;
	IF s.along IS NULL OR target IS NULL THEN
		EXECUTE format('SELECT array_agg(task::text ORDER BY task), array_agg(gram ORDER BY task) FROM (%s) AS known '
			'WHERE task::text <> $1 AND @extschema@.wml_usable(gram)', @extschema@.wml_task_current(s)) INTO keys, sources USING wanted;
	ELSE
		EXECUTE format($sql$
			SELECT array_agg(known.task::text ORDER BY known.task), array_agg(known.gram ORDER BY known.task), array_agg(w.gram ORDER BY known.task)
			FROM (%1$s) AS known JOIN (
				SELECT r.task, %2$s AS gram FROM %3$s AS r, (SELECT min(along) AS first, max(along) AS last FROM %3$s WHERE task::text = $1) AS own
				WHERE along BETWEEN own.first AND own.last GROUP BY r.task) AS w ON w.task %4$s known.task
			WHERE known.task::text <> $1 AND @extschema@.wml_usable(known.gram) AND @extschema@.wml_usable(w.gram)$sql$,
			@extschema@.wml_task_current(s), @extschema@.wml_task_gram(s), @extschema@.wml_task_name(s, '_rows'), s.equality)
			INTO keys, sources, windows USING wanted;
	END IF;
END $$;
COMMENT ON FUNCTION wml_task_sources(wml_task_set, text) IS 'a task''s gram, all other tasks, and their grams over the same window';

CREATE FUNCTION wml_task_tune(s wml_task_set, wanted text, method text) RETURNS wml_tuned
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	m jsonb := s.method;
	known record;
BEGIN
	SELECT * INTO known FROM @extschema@.wml_task_sources(s, wanted);
	IF known.target IS NULL OR coalesce(cardinality(known.sources), 0) < 2 THEN
		RETURN NULL;
	ELSIF method IS NULL AND m IS NOT NULL AND m ->> 'model' <> 'target' THEN
		RETURN @extschema@.wml_tune(known.sources, known.target, known.windows, models => ARRAY[m ->> 'model'],
			weights => array_remove(ARRAY[m ->> 'weights'], NULL), etas => array_remove(ARRAY[(m ->> 'eta')::float8], NULL),
			ridges => array_remove(ARRAY[(m ->> 'ridge')::float8], NULL), shrinks => array_remove(ARRAY[(m ->> 'shrink')::float8], NULL),
			evennesses => array_remove(ARRAY[(m ->> 'evenness')::float8], NULL), whitens => array_remove(ARRAY[(m ->> 'whiten')::bool], NULL),
			adapt_steps => array_remove(ARRAY[(m ->> 'adapt_steps')::int], NULL),
			source_rows => array_remove(ARRAY[(m ->> 'source_rows')::float8], NULL));
	END IF;
	RETURN @extschema@.wml_tune(known.sources, known.target, known.windows,
		models => CASE WHEN coalesce(method, 'tune') <> 'tune' THEN ARRAY[method] END);
END $$;
COMMENT ON FUNCTION wml_task_tune(wml_task_set, text, text) IS 'the method that forecasts a task best, fitted to it';

-- Rehearsals

CREATE FUNCTION wml_rehearse_under(s wml_task_set, known int,
								   OUT model text, OUT weights text, OUT against_all_alike float8, OUT against_task_alone float8)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	t @extschema@.wml_tuned;
	sources @extschema@.wml_gram[];
	windows @extschema@.wml_gram[];
BEGIN
	IF known IS NULL OR known < 1 THEN
		RAISE EXCEPTION 'number of known rows in rehearsals must be positive: %', known USING ERRCODE = 'invalid_parameter_value';
	END IF;
	EXECUTE format($sql$
		SELECT array_agg(gram ORDER BY task), array_agg(known ORDER BY task)
		FROM (SELECT task, %1$s AS gram, %1$s FILTER (WHERE number <= %2$s) AS known
			FROM (SELECT *, row_number() OVER (PARTITION BY task ORDER BY %3$s) AS number FROM %4$s WHERE task IS NOT NULL) AS numbered
			GROUP BY task) AS collected
		WHERE @extschema@.wml_usable(gram) AND @extschema@.wml_usable(known) AND @extschema@.wml_n(gram) > @extschema@.wml_n(known)$sql$,
		@extschema@.wml_task_gram(s), known, CASE WHEN s.along IS NULL THEN 'md5(x::text || y::text)' ELSE 'along' END,
		@extschema@.wml_task_name(s, '_rows')) INTO sources, windows;
	IF coalesce(cardinality(sources), 0) < 3 THEN
		RAISE EXCEPTION 'too few tasks for rehearsals: %', coalesce(cardinality(sources), 0)
			USING ERRCODE = 'data_exception', DETAIL = format('At least three tasks must have more than %s rows.', known);
	END IF;
	t := @extschema@.wml_tune(sources[2:], windows[1], windows[2:]);
	model := t.model;
	weights := t.weights;
	against_all_alike := t.rehearsal;
	against_task_alone := t.against_target;
	UPDATE @extschema@.wml_task_set AS d
	SET method = jsonb_build_object('known', known, 'tasks', cardinality(sources), 'model', t.model, 'weights', t.weights, 'eta', t.eta, 'ridge', t.ridge,
		'shrink', t.shrink, 'evenness', t.evenness, 'whiten', t.whiten, 'adapt_steps', t.adapt_steps, 'source_rows', t.source_rows::text,
		'against_all_alike', t.rehearsal, 'against_task_alone', t.against_target)
	WHERE (d.schema_name, d.set_name) = (s.schema_name, s.set_name);
END $$;
COMMENT ON FUNCTION wml_rehearse_under(wml_task_set, int) IS 'chooses the method of forecasts by rehearsal';

CREATE FUNCTION wml_rehearse(name text, known int,
							 OUT model text, OUT weights text, OUT against_all_alike float8, OUT against_task_alone float8)
	LANGUAGE sql AS $$
SELECT r.model, r.weights, r.against_all_alike, r.against_task_alone
FROM @extschema@.wml_rehearse_under(@extschema@.wml_find_task_set(name, pg_catalog.current_schemas(true)), known) AS r
$$;
COMMENT ON FUNCTION wml_rehearse(text, int) IS 'chooses the method of forecasts by forecasting every task from its first rows';

-- Forecasts

-- Reads $1: the prior, $2: the level, $3 and $4: tasks and what was tuned for them.
CREATE FUNCTION wml_forecast_query(s wml_task_set, query text, given text[]) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	missing text;
	casts text;
	why text;
	answer text := 'SELECT ARRAY[p.estimate, p.lower, p.upper, p.mean_lower, p.mean_upper]::pg_catalog.float8[] FROM @extschema@.wml_predict_interval';
	own text := coalesce('(SELECT ' || replace(s.inverse, '%', '%%') || ' FROM (SELECT answer[%s] AS y) AS own)', 'answer[%s]');
	mean text := 'estimate';
	low text := coalesce(lower(s.response_range)::float8::text, '-Infinity');
	high text := coalesce(upper(s.response_range)::float8::text, 'Infinity');
BEGIN
	SELECT string_agg(c, ', ' ORDER BY c) INTO missing FROM jsonb_object_keys(s.columns) AS c WHERE NOT c = ANY (given);
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION 'rows have no column %', missing
			USING ERRCODE = 'undefined_column', DETAIL = format('Forecasts of task set %s need the columns %s.', s.set_name,
				(SELECT string_agg(c, ', ' ORDER BY c) FROM jsonb_object_keys(s.columns) AS c));
	END IF;
	SELECT string_agg(format('(wml_query.%I)::%s AS %1$I', c, t), ', ') INTO casts FROM jsonb_each_text(s.columns) AS e (c, t);
	SELECT coalesce(string_agg(format('CASE WHEN (%s) IS NULL THEN CASE WHEN (%s) IS NULL THEN %L ELSE %L END END', p ->> 'value', p ->> 'expression',
		'missing value: ' || (p ->> 'name'), 'unknown category: ' || (p ->> 'name')), ', '), 'NULL') INTO why FROM jsonb_array_elements(s.parts) AS p;
	IF s.inverse IS NOT NULL THEN
		-- the mean of the inverse, by Gauss and Hermite
		mean := format('(SELECT pg_catalog.sum(share OPERATOR(pg_catalog.*) (%s)) FROM (SELECT answer[1] OPERATOR(pg_catalog.+) (deviation OPERATOR(pg_catalog.*) node) AS y, share '
			'FROM (VALUES (0::pg_catalog.float8, 0.4571428571428571::pg_catalog.float8), (1.1544053947399682, 0.2401231786050127), (-1.1544053947399682, 0.2401231786050127), '
			'(2.3667594107345416, 0.03075712396758652), (-2.3667594107345416, 0.03075712396758652), (3.7504397177257425, 0.0005482688559722179), '
			'(-3.7504397177257425, 0.0005482688559722179)) AS nodes (node, share)) AS own)', s.inverse);
	END IF;
	RETURN format($sql$
		WITH asked AS MATERIALIZED (
			SELECT wml_position, wml_row, %1$s AS task, wml_x AS x,
				CASE WHEN wml_x IS NULL THEN coalesce(CASE WHEN pg_catalog.concat_ws(', ', %2$s) OPERATOR(pg_catalog.<>) '' THEN pg_catalog.concat_ws(', ', %2$s) END, 'missing value')
					WHEN NOT @extschema@.wml_finite(wml_x) THEN 'not finite' END AS trouble
			FROM (SELECT *, %3$s AS wml_x
				FROM (SELECT %4$s, pg_catalog.to_jsonb(wml_query) AS wml_row, pg_catalog.row_number() OVER () AS wml_position
					FROM (%5$s
					) AS wml_query) AS wml_cast OFFSET 0) AS wml_expressed),
		met AS MATERIALIZED (
			SELECT asked.*, known.gram, tuned.tuned,
				coalesce(trouble, CASE WHEN $1 IS NULL THEN 'too few tasks' WHEN known.gram IS NOT NULL AND @extschema@.wml_n(known.gram) OPERATOR(pg_catalog.>) 0
					AND NOT @extschema@.wml_usable(known.gram) THEN 'rows not finite' END) AS why
			FROM asked LEFT JOIN (%6$s) AS known ON known.task %7$s asked.task
				LEFT JOIN (SELECT u.task, ($4)[u.i] AS tuned FROM pg_catalog.unnest($3) WITH ORDINALITY AS u (task, i)) AS tuned
					ON tuned.task OPERATOR(pg_catalog.=) asked.task::text
			ORDER BY asked.task, wml_position),
		answered AS MATERIALIZED (
			SELECT met.*, CASE WHEN why IS NULL THEN CASE WHEN (tuned).coef IS NOT NULL THEN (%8$s(tuned, x, $2) AS p) ELSE (%8$s($1, gram, x, $2) AS p) END END AS answer%9$s
			FROM met),
		own AS (
			SELECT answered.*, %10$s AS estimate, %11$s AS bound_1, %12$s AS bound_2, %13$s AS mean_1, %14$s AS mean_2 FROM answered)
		SELECT task::text, wml_row, %15$s, %16$s, %17$s, %18$s, %19$s, %20$s,
			CASE WHEN why IS NOT NULL THEN NULL WHEN (tuned).coef IS NOT NULL THEN pg_catalog.concat_ws(' ', (tuned).model, (tuned).weights) ELSE 'prior' END,
			coalesce(why, CASE WHEN gram IS NULL OR @extschema@.wml_n(gram) OPERATOR(pg_catalog.=) 0 THEN 'new task' ELSE 'ok' END)
		FROM own ORDER BY wml_position$sql$,
		s.task, why, s.expression, casts, query, @extschema@.wml_task_current(s), s.equality,
		answer,
		CASE WHEN s.inverse IS NULL THEN '' ELSE format(', CASE WHEN why IS NULL THEN CASE WHEN (tuned).coef IS NOT NULL THEN (SELECT (p.upper OPERATOR(pg_catalog.-) p.lower) OPERATOR(pg_catalog./) 2::pg_catalog.float8 '
			'FROM @extschema@.wml_predict_interval(tuned, x, 0.6826894921370859) AS p) ELSE (SELECT (p.upper OPERATOR(pg_catalog.-) p.lower) OPERATOR(pg_catalog./) 2::pg_catalog.float8 '
			'FROM @extschema@.wml_predict_interval($1, gram, x, 0.6826894921370859) AS p) END END AS deviation') END,
		format(own, 1), format(own, 2), format(own, 3), format(own, 4), format(own, 5),
		@extschema@.wml_within('estimate', low, high), @extschema@.wml_within('least(bound_1, bound_2)', low, high),
		@extschema@.wml_within('greatest(bound_1, bound_2)', low, high), @extschema@.wml_within('least(mean_1, mean_2)', low, high),
		@extschema@.wml_within('greatest(mean_1, mean_2)', low, high), @extschema@.wml_within(mean, low, high));
END $$;
COMMENT ON FUNCTION wml_forecast_query(wml_task_set, text, text[]) IS 'statement that forecasts the rows of a query';

CREATE FUNCTION wml_within(expression text, low text, high text) RETURNS text
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
SELECT CASE WHEN low = '-Infinity' AND high = 'Infinity' THEN expression
	ELSE format('CASE WHEN answer IS NOT NULL THEN greatest(%L::pg_catalog.float8, least(%L::pg_catalog.float8, %s)) END', low, high, expression) END
$$;
COMMENT ON FUNCTION wml_within(text, text, text) IS 'expression limited to a range';

CREATE FUNCTION wml_forecast_tunes(s wml_task_set, method text) RETURNS bool
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT coalesce(method, s.method ->> 'model', 'prior') <> 'prior'
$$;
COMMENT ON FUNCTION wml_forecast_tunes(wml_task_set, text) IS 'false if the prior serves all tasks at once';

CREATE FUNCTION wml_forecast_tune(s wml_task_set, wanted text[], method text, OUT tasks text[], OUT tuned wml_tuned[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	task text;
	t @extschema@.wml_tuned;
	said timestamptz := clock_timestamp();
BEGIN
	FOREACH task IN ARRAY coalesce(wanted, '{}') LOOP
		t := @extschema@.wml_task_tune(s, task, method);
		IF t.coef IS NOT NULL THEN
			tasks := tasks || task;
			tuned := tuned || t;
		END IF;
		IF clock_timestamp() > said + interval '5 seconds' AND current_setting('wml.progress', true)::bool THEN
			RAISE NOTICE 'tuned % of % tasks', cardinality(tasks), cardinality(wanted);
			said := clock_timestamp();
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION wml_forecast_tune(wml_task_set, text[], text) IS 'tunes each task that is forecast';

CREATE FUNCTION wml_forecast_tasks(s wml_task_set, query text) RETURNS text
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format('SELECT pg_catalog.array_agg(DISTINCT (%s)::text) FROM (SELECT %s FROM (%s
	) AS wml_query) AS wml_cast', s.task, (SELECT string_agg(format('(wml_query.%I)::%s AS %1$I', c, t), ', ') FROM jsonb_each_text(s.columns) AS e (c, t)), query)
$$;
COMMENT ON FUNCTION wml_forecast_tasks(wml_task_set, text) IS 'statement that finds the tasks of a query';

CREATE FUNCTION wml_check_level(level float8, method text) RETURNS void
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF level IS NULL OR NOT (level > 0 AND level < 1) THEN
		RAISE EXCEPTION 'level must be between 0 and 1: %', level USING ERRCODE = 'invalid_parameter_value';
	ELSIF method NOT IN ('prior', 'tune', 'erm', 'maml', 'fomaml', 'reptile') THEN
		RAISE EXCEPTION 'unknown method: "%"', method
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Available values: prior, tune, erm, maml, fomaml, reptile.';
	END IF;
END $$;
COMMENT ON FUNCTION wml_check_level(float8, text) IS 'checks the arguments of a forecast';

CREATE FUNCTION wml_forecast(name text, "rows" text, level float8 DEFAULT 0.9, method text DEFAULT NULL)
	RETURNS TABLE (task text, "row" jsonb, estimate float8, lower float8, upper float8, mean_lower float8, mean_upper float8,
				   mean float8, model text, status text)
	LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
	s @extschema@.wml_task_set;
	asked record;
	statement text;
	wanted text[];
	tuned record;
BEGIN
	PERFORM @extschema@.wml_check_level($3, $4);
	s := @extschema@.wml_find_task_set($1, pg_catalog.current_schemas(true));
	asked := @extschema@.wml_asked_rows($2);
	statement := @extschema@.wml_forecast_query(s, asked.query, asked.columns);
	-- what is executed names everything in full, but for what the user wrote
	IF @extschema@.wml_forecast_tunes(s, $4) THEN
		EXECUTE @extschema@.wml_forecast_tasks(s, asked.query) INTO wanted;
	END IF;
	tuned := @extschema@.wml_forecast_tune(s, wanted, $4);
	RETURN QUERY EXECUTE statement USING @extschema@.wml_task_prior(s), $3, tuned.tasks, tuned.tuned;
END $$;
COMMENT ON FUNCTION wml_forecast(text, text, float8, text) IS 'forecasts of rows in the units of the response, with bounds for an observation and for the mean';

-- Explanations

CREATE FUNCTION wml_explain_under(s wml_task_set, wanted text)
	RETURNS TABLE (part text, item text, value float8, error float8, shared float8, moved float8)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	known record;
	tuned @extschema@.wml_tuned;
BEGIN
	SELECT * INTO known FROM @extschema@.wml_task_sources(s, wanted);
	IF coalesce(cardinality(known.sources), 0) < 2 THEN
		RAISE EXCEPTION 'too few tasks to learn from: %', coalesce(cardinality(known.sources), 0) USING ERRCODE = 'data_exception';
	END IF;
	tuned := @extschema@.wml_task_tune(s, wanted, CASE WHEN s.method IS NULL THEN 'prior' END);
	RETURN QUERY SELECT 'rows', 'known', coalesce(@extschema@.wml_n(known.target), 0)::float8, NULL::float8, NULL::float8, NULL::float8;
	-- the errors and the prior's own figures for the prior, the method's where it is another
	RETURN QUERY SELECT 'coefficient', p.feature, coalesce(tuned.coef[p."position"], p.coefficient),
			coalesce(sqrt(tuned.covariance[p."position"][p."position"]), p.sd), p.prior_mean,
			CASE WHEN p.prior_sd > 0 THEN (coalesce(tuned.coef[p."position"], p.coefficient) - p.prior_mean) / p.prior_sd END
		FROM @extschema@.wml_posterior(@extschema@.wml_task_prior(s), known.target, s.features) AS p ORDER BY p."position";
	IF known.target IS NULL THEN
		RETURN;
	END IF;
	IF tuned.weights IN ('mixture', 'closest', 'stacked') THEN
		RETURN QUERY SELECT 'source', known.keys[w.i], w.a, NULL::float8, NULL::float8, NULL::float8
			FROM unnest(tuned.sources, tuned.alpha) AS w (i, a) WHERE a > 0.001 ORDER BY a DESC, i LIMIT 10;
	ELSE
		RETURN QUERY SELECT 'source', k, a, NULL::float8, NULL::float8, NULL::float8
			FROM unnest(known.keys, @extschema@.wml_alpha(coalesce(known.windows, known.sources), known.target, shrink => 0.1, whiten => true)) AS w (k, a)
			WHERE a > 0.001 ORDER BY a DESC, k LIMIT 10;
	END IF;
	RETURN QUERY SELECT 'rehearsal', n, v, NULL::float8, NULL::float8, NULL::float8
		FROM (VALUES (1, concat_ws(' ', tuned.model, tuned.weights) || ' against all tasks alike', tuned.rehearsal),
			(2, concat_ws(' ', tuned.model, tuned.weights) || ' against the task alone', tuned.against_target)) AS r (o, n, v)
		WHERE v IS NOT NULL ORDER BY o;
END $$;
COMMENT ON FUNCTION wml_explain_under(wml_task_set, text) IS 'explanation of the forecasts of a task';

CREATE FUNCTION wml_explain(name text, task text)
	RETURNS TABLE (part text, item text, value float8, error float8, shared float8, moved float8)
	LANGUAGE sql STABLE AS $$
SELECT e.part, e.item, e.value, e.error, e.shared, e.moved
FROM @extschema@.wml_explain_under(@extschema@.wml_find_task_set($1, pg_catalog.current_schemas(true)), $2) AS e
$$;
COMMENT ON FUNCTION wml_explain(text, text) IS 'explains the forecasts of a task: coefficients, sources with their weights, and errors in rehearsals';

CREATE FUNCTION wml_explain(name text, task bigint)
	RETURNS TABLE (part text, item text, value float8, error float8, shared float8, moved float8)
	LANGUAGE sql STABLE AS $$
SELECT e.part, e.item, e.value, e.error, e.shared, e.moved FROM @extschema@.wml_explain($1, $2::pg_catalog.text) AS e
$$;
COMMENT ON FUNCTION wml_explain(text, bigint) IS 'the same, for tasks with numbers as keys';
