-- Rehearsals of task sets, and families other than the gaussian

-- What is known of the tasks

-- A full covariance of many features has too many parameters for most sets of tasks, and its fit takes the fourth power in
-- memory and more in time.
CREATE FUNCTION wml_related_features() RETURNS int
	LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 40 $$;
COMMENT ON FUNCTION wml_related_features() IS 'largest number of features of which a task set learns a full covariance, and tries all methods by default';

-- Where there are too many features, levels of categories, of which most tasks know but a few, become the same in all
-- tasks, drawn towards zero as far as the data say; the largest categories first, until few enough features are left.
CREATE FUNCTION wml_task_prior_options(s wml_task_set, OUT covariance text, OUT evenness float8, OUT smooth text)
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
WITH part AS (
	SELECT kind, size, sum(size) OVER (ORDER BY n) + 1 AS last, sum(size) OVER (PARTITION BY kind IN ('category', 'enum') ORDER BY size DESC, n) - size AS larger
	FROM (SELECT p ->> 'kind' AS kind, (p ->> 'size')::int AS size, n FROM jsonb_array_elements(s.parts) WITH ORDINALITY AS e (p, n)) AS described),
shared AS (
	SELECT coalesce(sum(size), 0)::int AS features, string_agg(format('%s-%s', last - size + 1, last), ',' ORDER BY last) AS places
	FROM part
	WHERE kind IN ('category', 'enum') AND s.family = 'gaussian' AND cardinality(s.features) - larger > @extschema@.wml_related_features())
SELECT CASE WHEN related THEN 'full' ELSE 'diagonal' END, CASE WHEN related THEN cardinality(s.features) - features ELSE 0 END, '{' || places || '}'
FROM (SELECT *, cardinality(s.features) - features <= @extschema@.wml_related_features() AS related FROM shared) AS r
$$;
COMMENT ON FUNCTION wml_task_prior_options(wml_task_set) IS 'what the prior of a task set is learned with';

-- Tasks that do not belong show under a robust prior of all tasks; five hundred of them tell as much as more would.  If
-- they are more than one in five, the prior is no guide.
CREATE FUNCTION wml_task_strangers(s wml_task_set, OUT keys text[], OUT deviations float8[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET wml.warnings = off SET extra_float_digits = 3 SET DateStyle = ISO AS $$
BEGIN
	IF s.family = 'gaussian' AND cardinality(s.features) <= @extschema@.wml_related_features() THEN
		EXECUTE format($sql$
			WITH known AS MATERIALIZED (SELECT task, gram FROM (%1$s) AS kept WHERE @extschema@.wml_usable(gram)),
			learned AS MATERIALIZED (SELECT CASE WHEN count(*) >= 4 AND sum(@extschema@.wml_n(gram)) > %2$s THEN
					@extschema@.wml_prior(array_agg(gram ORDER BY task), method => 'reml', evenness => %2$s, noise => 'own', tasks => 't') END AS prior
				FROM (SELECT task, gram FROM known ORDER BY md5(task::text), task LIMIT 500) AS sample)
			SELECT array_agg(task::text ORDER BY task), array_agg(sqrt(f.noise) ORDER BY task)
			FROM learned, known, @extschema@.wml_task_fit(prior, gram) AS f WHERE NOT f.belongs
			HAVING count(*) = 1 OR 5 * count(*) <= (SELECT count(*) FROM known)$sql$,
			@extschema@.wml_task_current(s), cardinality(s.features)) INTO keys, deviations;
	END IF;
END $$;
COMMENT ON FUNCTION wml_task_strangers(wml_task_set) IS 'tasks that do not belong to the others, and the standard deviation of their rows';

-- With no more rows than coefficients, any responses would be explained exactly, and nothing is known of noise.  Tasks that
-- do not belong are left out, and since there are such tasks, the prior is robust.
CREATE FUNCTION wml_task_prior(s wml_task_set, method text, OUT prior wml_prior, OUT model text, OUT strangers text[], OUT trouble text)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
DECLARE
	o record := @extschema@.wml_task_prior_options(s);
	robust bool;
BEGIN
	prior := s.prior;
	model := 'prior';
	trouble := 'too few tasks';
	IF s.family = 'gaussian' THEN
		strangers := (@extschema@.wml_task_strangers(s)).keys;
		robust := strangers IS NOT NULL OR coalesce(coalesce(method, s.method ->> 'model') = 'robust', false);
		model := CASE WHEN robust THEN 'robust' ELSE 'prior' END;
		EXECUTE format('SELECT CASE WHEN trouble IS NULL THEN @extschema@.wml_prior(grams, method => ''reml'', covariance => %4$L, evenness => %5$s, smooth => %6$L, noise => %7$L, tasks => %8$L) END, trouble '
			'FROM (SELECT array_agg(gram ORDER BY task) AS grams, '
				'CASE WHEN count(*) < 2 THEN %3$L WHEN sum(@extschema@.wml_n(gram)) <= %1$s THEN ''too few rows'' END AS trouble '
				'FROM (%2$s) AS known WHERE @extschema@.wml_usable(gram) AND task::text <> ALL (%9$L::text[])) AS learned',
			cardinality(s.features), @extschema@.wml_task_current(s), trouble, o.covariance, o.evenness, o.smooth,
			CASE WHEN robust THEN 'own' ELSE 'common' END, CASE WHEN robust THEN 't' ELSE 'normal' END, coalesce(strangers, '{}')) INTO prior, trouble;
	END IF;
END $$;
COMMENT ON FUNCTION wml_task_prior(wml_task_set, text) IS 'prior learned from all tasks of a task set, plain or robust; without one, why';

-- Forecasts may come every second, and those who read them cannot change the prior.  wml_explain warns.
CREATE FUNCTION wml_task_prior_again(s wml_task_set, method text, OUT prior wml_prior, OUT model text, OUT strangers text[], OUT trouble text)
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET wml.warnings = off AS $$
SELECT p.prior, p.model, p.strangers, p.trouble FROM @extschema@.wml_task_prior(s, method) AS p
$$;
COMMENT ON FUNCTION wml_task_prior_again(wml_task_set, text) IS 'the same without warnings';

-- Keys are told apart by the equality of their type, not by their text.  As text they are handed on under settings that
-- keep all digits; '3.0' and '3.00' are one number.
CREATE FUNCTION wml_key_type(s wml_task_set) RETURNS text
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format_type(to_regtype(s.key_type), -1)
$$;
COMMENT ON FUNCTION wml_key_type(wml_task_set) IS 'type of the keys, without a length or precision, which a cast would cut keys to';

CREATE FUNCTION wml_key_text(key anyelement) RETURNS text
	LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
SELECT key::text
$$;
COMMENT ON FUNCTION wml_key_text(anyelement) IS 'a key as text from which it can be read again';

-- What the user wrote is read under the user's own settings.
CREATE FUNCTION wml_given_key(s wml_task_set, given text) RETURNS text
	LANGUAGE plpgsql STABLE AS $$
DECLARE
	result pg_catalog.text;
BEGIN
	EXECUTE pg_catalog.format('SELECT @extschema@.wml_key_text($1::%s)', @extschema@.wml_key_type(s)) INTO result USING given;
	RETURN result;
END $$;
COMMENT ON FUNCTION wml_given_key(wml_task_set, text) IS 'a key that the user gave as text';

CREATE FUNCTION wml_task_key(s wml_task_set, key text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
DECLARE
	kept text;
BEGIN
	EXECUTE format('SELECT task::text FROM (%s) AS known WHERE task %s $1::%s', @extschema@.wml_task_current(s), s.equality, @extschema@.wml_key_type(s))
		INTO kept USING key;
	RETURN coalesce(kept, key);
END $$;
COMMENT ON FUNCTION wml_task_key(wml_task_set, text) IS 'a key as the task set spells it';

-- With a column that tells which rows correspond, the windows are those of the given task's own rows.  What tasks of
-- other families have in common shows in their working grams at the mean of all.
CREATE FUNCTION wml_task_sources(s wml_task_set, wanted text, strangers text[], OUT keys text[], OUT grams wml_gram[], OUT windows wml_gram[])
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
DECLARE
	relation text := @extschema@.wml_task_name(s, '_rows');
	within text := 'task IS NOT NULL';
	current text := format('SELECT task, gram FROM (%s) AS kept WHERE (task::text <> ALL (%L::text[]) OR task::text = %L) AND @extschema@.wml_usable(gram)',
		@extschema@.wml_task_current(s), coalesce(strangers, '{}'), wanted);
	first text;
	last text;
BEGIN
	IF s.family <> 'gaussian' OR s.along IS NOT NULL THEN
		PERFORM @extschema@.wml_require_rows(s);
	END IF;
	-- as constants, so that the planner knows how many rows there are between them
	IF s.along IS NOT NULL THEN
		EXECUTE format('SELECT min(along)::text, max(along)::text FROM %s WHERE task %s $1::%s', relation, s.equality, @extschema@.wml_key_type(s)) INTO first, last USING wanted;
		within := within || format(' AND along BETWEEN %L AND %L', first, last);
	END IF;
	IF s.family <> 'gaussian' THEN
		EXECUTE format($sql$
			SELECT array_agg(task::text ORDER BY task), array_agg(gram ORDER BY task)
			FROM (SELECT task, @extschema@.wml_working_gram(x, y, $1, $2, %s) AS gram FROM %s AS r WHERE %s GROUP BY task) AS known
			WHERE @extschema@.wml_usable(gram)$sql$, @extschema@.wml_task_exposure(s), relation, within)
			INTO keys, grams USING @extschema@.wml_family(s.prior), @extschema@.wml_prior_mean(s.prior);
	ELSIF s.along IS NULL THEN
		EXECUTE format('SELECT array_agg(task::text ORDER BY task), array_agg(gram ORDER BY task) FROM (%s) AS known', current) INTO keys, grams;
	ELSE
		EXECUTE format($sql$
			SELECT array_agg(task::text), array_agg(gram), array_agg(window_gram)
			FROM (SELECT known.task, known.gram, w.gram AS window_gram
				FROM (%s) AS known JOIN (SELECT task, %s AS gram FROM %s WHERE %s GROUP BY task) AS w ON w.task %s known.task
				WHERE @extschema@.wml_usable(w.gram) ORDER BY known.task) AS sorted$sql$,
			current, @extschema@.wml_task_gram(s), relation, within, s.equality)
			INTO keys, grams, windows;
	END IF;
END $$;
COMMENT ON FUNCTION wml_task_sources(wml_task_set, text, text[]) IS 'all tasks that can be learned from, and their grams over the window of one of them';

-- Rehearsals

-- Every method tunes each target by itself, but for the prior.  Of larger task sets than this, the prior serves all.
CREATE FUNCTION wml_rehearsed_tasks() RETURNS int
	LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT 300 $$;
COMMENT ON FUNCTION wml_rehearsed_tasks() IS 'largest number of tasks that a rehearsal looks at, and for which all methods are tried by default';

-- As many rows as the tasks with the fewest have, but not more than half of what is usual, nor than tell much.
CREATE FUNCTION wml_rehearsed_rows(s wml_task_set) RETURNS int
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	result int;
BEGIN
	EXECUTE format('SELECT CASE WHEN count(*) >= 5 THEN greatest(1, least(percentile_disc(0.1) WITHIN GROUP (ORDER BY n), '
		'percentile_disc(0.5) WITHIN GROUP (ORDER BY n) / 2, greatest(8, 2 * %s))) END '
		'FROM (SELECT @extschema@.wml_n(gram) AS n FROM (%s) AS known WHERE @extschema@.wml_usable(gram)) AS sizes',
		cardinality(s.features), @extschema@.wml_task_current(s)) INTO result;
	RETURN result;
END $$;
COMMENT ON FUNCTION wml_rehearsed_rows(wml_task_set) IS 'number of rows of a task that rehearsals take as known; NULL if there are too few tasks';

-- Rows with their number within the task, of some tasks; half tells the tasks apart by turns.
CREATE FUNCTION wml_rehearsed_query(s wml_task_set, known int) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT format($sql$SELECT r.*, row_number() OVER (PARTITION BY r.task ORDER BY %1$s) AS number, chosen.half
	FROM %2$s AS r JOIN (
		SELECT task, place %% 2 AS half
		FROM (SELECT task, row_number() OVER turn AS place, sum(@extschema@.wml_n(gram)) OVER turn AS size
			FROM (%3$s) AS kept WHERE @extschema@.wml_usable(gram) AND @extschema@.wml_n(gram) > %4$s
			WINDOW turn AS (ORDER BY md5(task::text), task)) AS turns
		WHERE place <= @extschema@.wml_rehearsed_tasks() AND (size <= 1000000 OR place <= 10)) AS chosen ON r.task %5$s chosen.task
	WHERE r.x IS NOT NULL AND r.y IS NOT NULL$sql$,
	CASE WHEN s.along IS NULL THEN 'md5(x::text || y::text)' ELSE 'along' END, @extschema@.wml_task_name(s, '_rows'),
	@extschema@.wml_task_current(s), known, s.equality)
$$;
COMMENT ON FUNCTION wml_rehearsed_query(wml_task_set, int) IS 'query of the rows that a rehearsal uses';

-- Weights make no difference to priors.
CREATE FUNCTION wml_tuned_method(t wml_tuned) RETURNS jsonb
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT jsonb_build_object('model', t.model, 'weights', CASE WHEN t.model NOT IN ('prior', 'robust') THEN t.weights END, 'eta', t.eta, 'ridge', t.ridge,
	'shrink', t.shrink, 'evenness', t.evenness, 'whiten', t.whiten, 'adapt_steps', t.adapt_steps, 'source_rows', t.source_rows::text)
$$;
COMMENT ON FUNCTION wml_tuned_method(wml_tuned) IS 'the method of a tuned model, as task sets keep it';

CREATE FUNCTION wml_method_name(method jsonb) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
SELECT coalesce(nullif(concat_ws(' ', method ->> 'model', method ->> 'weights'), ''), 'prior')
$$;
COMMENT ON FUNCTION wml_method_name(jsonb) IS 'model and weights of a method; without one, the prior';

CREATE FUNCTION wml_rehearse_gaussian(s wml_task_set, known int, models text[], OUT tuned wml_tuned, OUT tasks int)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 3 SET DateStyle = ISO AS $$
DECLARE
	strangers text[] := (@extschema@.wml_task_strangers(s)).keys;
	sources @extschema@.wml_gram[];
	windows @extschema@.wml_gram[];
BEGIN
	EXECUTE format($sql$
		SELECT array_agg(gram ORDER BY task), array_agg(known ORDER BY task)
		FROM (SELECT task, %1$s AS gram, %1$s FILTER (WHERE number <= %2$s) AS known FROM (%3$s) AS numbered GROUP BY task) AS collected
		WHERE @extschema@.wml_usable(gram) AND @extschema@.wml_usable(known) AND @extschema@.wml_n(gram) > @extschema@.wml_n(known)
			AND task::text <> ALL ($1)$sql$,
		@extschema@.wml_task_gram(s), known, @extschema@.wml_rehearsed_query(s, known)) INTO sources, windows USING coalesce(strangers, '{}');
	tasks := coalesce(cardinality(sources), 0);
	IF tasks >= 3 THEN
		tuned := @extschema@.wml_tune(sources[2:], windows[1], windows[2:], models => models);
	END IF;
END $$;
COMMENT ON FUNCTION wml_rehearse_gaussian(wml_task_set, int, text[]) IS 'the method that forecasts tasks best from their first rows';

-- Each half of the tasks learns from the other one.  Errors are deviances of the rows that are not known.
CREATE FUNCTION wml_rehearse_family(s wml_task_set, known int, OUT tasks int, OUT against_all_alike float8, OUT against_task_alone float8)
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET wml.warnings = off AS $$
DECLARE
	numbered text := @extschema@.wml_rehearsed_query(s, known);
	columns text := @extschema@.wml_task_exposure(s);
	family text := @extschema@.wml_family(s.prior);
	prior @extschema@.wml_prior;
	o record := @extschema@.wml_task_prior_options(s);
	alike float8[];
	sums float8[] := '{0,0,0}';
	added float8[];
BEGIN
	EXECUTE format('SELECT count(DISTINCT task) FROM (%s) AS numbered WHERE number > %s', numbered, known) INTO tasks;
	IF tasks < 4 THEN
		RETURN;
	END IF;
	FOR part IN 0 .. 1 LOOP
		prior := @extschema@.wml_glm_prior(format('SELECT task, x, y, %s FROM (%s) AS numbered WHERE half <> %s', columns, numbered, part),
			family, covariance => o.covariance, method => 'reml', evenness => o.evenness);
		alike := (@extschema@.wml_glm_train(format('SELECT x, y, %s FROM (%s) AS numbered WHERE half <> %s', columns, numbered, part), family)).coef;
		EXECUTE format($sql$
			WITH numbered AS MATERIALIZED (SELECT task, x, y, %1$s, number FROM (%2$s) AS n WHERE half = %3$s),
			own AS MATERIALIZED (SELECT task, @extschema@.wml_target_gram(x, y, $1, exposure, weight) AS gram, (@extschema@.wml_glm(x, y, $3, exposure, weight)).coef
				FROM numbered WHERE number <= %4$s GROUP BY task)
			SELECT ARRAY[sum(weight * @extschema@.wml_deviance($3, y, p.estimate, exposure)), sum(weight * @extschema@.wml_deviance($3, y, %5$s, exposure)),
				sum(weight * @extschema@.wml_deviance($3, y, %6$s, exposure))]
			FROM numbered JOIN own USING (task), @extschema@.wml_predict_response($1, gram, x, 0.9, exposure) AS p WHERE number > %4$s$sql$,
			replace(replace(columns, '1::double precision, ', '1::double precision AS exposure, '), ', 1::double precision', ', 1::double precision AS weight'),
			numbered, part, known,
			CASE WHEN family = 'binomial' THEN '@extschema@.wml_predict_probability($2, x)' ELSE '@extschema@.wml_predict_rate($2, x, exposure)' END,
			CASE WHEN family = 'binomial' THEN '@extschema@.wml_predict_probability(coef, x)' ELSE '@extschema@.wml_predict_rate(coef, x, exposure)' END)
			INTO added USING prior, alike, family;
		sums := ARRAY(SELECT a + coalesce(b, 0) FROM unnest(sums, added) AS u (a, b));
	END LOOP;
	against_all_alike := sums[1] / nullif(sums[2], 0);
	against_task_alone := sums[1] / nullif(sums[3], 0);
END $$;
COMMENT ON FUNCTION wml_rehearse_family(wml_task_set, int) IS 'how well the prior forecasts tasks from their first rows, as shares of other models'' deviance';

CREATE FUNCTION wml_rehearse_under(s wml_task_set, known int, automatic bool,
								   OUT model text, OUT weights text, OUT against_all_alike float8, OUT against_task_alone float8)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	t @extschema@.wml_tuned;
	r record;
	tasks int;
	size bigint;
BEGIN
	PERFORM @extschema@.wml_require_rows(s);
	IF known IS NULL OR known < 1 THEN
		RAISE EXCEPTION 'number of known rows in rehearsals must be positive: %', known USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF s.family = 'gaussian' THEN
		EXECUTE format('SELECT count(*) FROM %s', @extschema@.wml_task_name(s)) INTO size;
		SELECT * INTO r FROM @extschema@.wml_rehearse_gaussian(s, known,
			CASE WHEN automatic AND size > @extschema@.wml_rehearsed_tasks() THEN '{prior,robust}'::text[] END);
		t := r.tuned;
		tasks := r.tasks;
	ELSE
		SELECT * INTO r FROM @extschema@.wml_rehearse_family(s, known);
		tasks := r.tasks;
		t.model := 'prior';
		t.rehearsal := r.against_all_alike;
		t.against_target := r.against_task_alone;
	END IF;
	IF t.rehearsal IS NULL THEN
		RAISE EXCEPTION 'too few tasks for rehearsals: %', tasks
			USING ERRCODE = 'data_exception', DETAIL = format('At least %s tasks must have more than %s rows.', CASE WHEN s.family = 'gaussian' THEN 'three' ELSE 'four' END, known);
	END IF;
	model := t.model;
	weights := @extschema@.wml_tuned_method(t) ->> 'weights';
	against_all_alike := t.rehearsal;
	against_task_alone := t.against_target;
	UPDATE @extschema@.wml_task_set AS d
	SET method = jsonb_build_object('automatic', automatic, 'known', known, 'tasks', tasks, 'against_all_alike', t.rehearsal, 'against_task_alone', t.against_target)
		|| @extschema@.wml_tuned_method(t)
	WHERE (d.schema_name, d.set_name) = (s.schema_name, s.set_name);
END $$;
COMMENT ON FUNCTION wml_rehearse_under(wml_task_set, int, bool) IS 'chooses the method of forecasts by rehearsal';

-- NULL: as it seems best, and not at all where that is impossible.  0: never.
CREATE FUNCTION wml_rehearse_if_asked(s wml_task_set, known int) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	usual int;
	strangers text[];
BEGIN
	SELECT d.* INTO s FROM @extschema@.wml_task_set AS d WHERE (d.schema_name, d.set_name) = (s.schema_name, s.set_name);
	strangers := (@extschema@.wml_task_strangers(s)).keys;
	IF strangers IS NOT NULL THEN
		RAISE NOTICE 'tasks that do not belong to the others: %', concat_ws(', ', VARIADIC strangers[:10]) || CASE WHEN cardinality(strangers) > 10 THEN ', ...' ELSE '' END
			USING DETAIL = format('There are %s. Forecasts of other tasks do not learn from them.', cardinality(strangers)),
				HINT = 'Perhaps some of their rows are mistyped, or in other units.';
	END IF;
	IF known > 0 THEN
		PERFORM @extschema@.wml_rehearse_under(s, known, false);
	ELSIF known = 0 THEN
		UPDATE @extschema@.wml_task_set AS d SET method = '{"automatic": false, "known": 0}' WHERE (d.schema_name, d.set_name) = (s.schema_name, s.set_name);
	ELSE
		usual := @extschema@.wml_rehearsed_rows(s);
		IF usual IS NOT NULL AND cardinality(s.features) > @extschema@.wml_related_features() THEN
			RAISE NOTICE 'methods were not rehearsed: % features', cardinality(s.features)
				USING HINT = format('Forecasts use the prior. With more than %s features other methods take long; wml_rehearse tries them all.', @extschema@.wml_related_features());
		ELSIF usual IS NOT NULL THEN
			BEGIN
				PERFORM @extschema@.wml_rehearse_under(s, usual, true);
			EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
				RAISE NOTICE 'methods were not rehearsed: %', SQLERRM
					USING HINT = 'Forecasts use the prior. wml_rehearse tries again.';
			END;
		END IF;
	END IF;
END $$;
COMMENT ON FUNCTION wml_rehearse_if_asked(wml_task_set, int) IS 'the rehearsal of a task set that was just counted';

CREATE FUNCTION wml_rehearse(name text, known int DEFAULT NULL,
							 OUT model text, OUT weights text, OUT against_all_alike float8, OUT against_task_alone float8)
	LANGUAGE sql AS $$
SELECT r.model, r.weights, r.against_all_alike, r.against_task_alone
FROM @extschema@.wml_find_task_set(name, pg_catalog.current_schemas(true)) AS s,
	@extschema@.wml_rehearse_under(s, coalesce(known, @extschema@.wml_rehearsed_rows(s), 1), false) AS r
$$;
COMMENT ON FUNCTION wml_rehearse(text, int) IS 'chooses the method of forecasts by forecasting every task from its first rows';

-- Families

CREATE FUNCTION wml_learn_family(family text, inverse text, exposure text, rehearse int) RETURNS void
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM @extschema@.wml_possible_response(family, 0, 1, 1);		-- knows the families
	IF family = 'gaussian' AND exposure IS NOT NULL THEN
		RAISE EXCEPTION 'the gaussian family has no exposure'
			USING ERRCODE = 'invalid_parameter_value', HINT = 'It has weights.';
	ELSIF family <> 'gaussian' AND inverse IS NOT NULL THEN
		RAISE EXCEPTION 'the % family has an inverse of its own', family
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Give the response as it was counted. Forecasts are probabilities or counts.';
	ELSIF rehearse < 0 THEN
		RAISE EXCEPTION 'number of known rows in rehearsals must not be negative: %', rehearse USING ERRCODE = 'invalid_parameter_value';
	END IF;
END $$;
COMMENT ON FUNCTION wml_learn_family(text, text, text, int) IS 'checks the arguments of wml_learn that depend on the family';

CREATE FUNCTION wml_learn_prior(s wml_task_set) RETURNS wml_prior
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	tasks bigint;
	pooled @extschema@.wml_gram;
	bad float8;
	o record := @extschema@.wml_task_prior_options(s);
BEGIN
	EXECUTE format('SELECT (%1$s)::double precision FROM %2$s WHERE (%3$s) IS NOT NULL AND (%1$s) IS NOT NULL AND (%4$s) IS NOT NULL AND (%5$s) IS NOT NULL '
		'AND @extschema@.wml_possible_response(%6$L, %1$s, %4$s, %5$s) IS NULL LIMIT 1',
		s.response, s.relation, s.task, coalesce(s.exposure, '1'), coalesce(s.weight, '1'), s.family) INTO bad;
	IF bad IS NOT NULL AND s.prior IS NULL THEN
		RAISE EXCEPTION 'response % is not one of the % family', bad, s.family
			USING ERRCODE = 'data_exception', HINT = CASE WHEN s.family = 'binomial'
				THEN 'It is true or false, 1 or 0, or successes out of so many trials, which are the exposure.'
				ELSE 'It is a count, not negative, over a positive exposure.' END;
	END IF;
	EXECUTE format('SELECT count(*), @extschema@.wml_merge(gram) FROM (SELECT task, @extschema@.wml_gram(x, y) AS gram FROM %s '
		'WHERE task IS NOT NULL GROUP BY task) AS known WHERE @extschema@.wml_n(gram) > 0', @extschema@.wml_task_name(s, '_rows')) INTO tasks, pooled;
	IF tasks < 2 THEN
		IF s.prior IS NOT NULL THEN
			RETURN s.prior;
		END IF;
		RAISE EXCEPTION 'too few tasks to learn from: %', tasks
			USING ERRCODE = 'data_exception', DETAIL = format('What tasks have in common, which the %s family needs, shows in at least two.', s.family);
	END IF;
	PERFORM @extschema@.wml_learn_constant(s, pooled);
	-- rows that do not fit into a gigabyte are read again and again
	RETURN @extschema@.wml_glm_prior(format('SELECT task, x, y, %s FROM %s', @extschema@.wml_task_exposure(s), @extschema@.wml_task_name(s, '_rows')),
		s.family, covariance => o.covariance, method => 'reml', evenness => o.evenness,
		reread => s.family <> 'negative_binomial' AND @extschema@.wml_n(pooled) * (cardinality(s.features) + 3) > 1.3e8);
END $$;
COMMENT ON FUNCTION wml_learn_prior(wml_task_set) IS 'prior of a task set of a family other than gaussian, learned from its rows';
