
-- Passes over a table

CREATE FUNCTION wml_prior_change(before wml_prior, after wml_prior) RETURNS float8
	LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT max(greatest(abs(new_mean - mean), abs(sqrt(new_cov[k][k]) - sqrt(cov[k][k])))
			   / coalesce(nullif(sqrt(new_cov[k][k] + error * error), 0), 1))
	FROM (SELECT @extschema@.wml_prior_covariance(before) AS cov, @extschema@.wml_prior_covariance(after) AS new_cov) AS c,
		 unnest(@extschema@.wml_prior_mean(before), @extschema@.wml_prior_mean(after), @extschema@.wml_prior_mean_error(after))
		 WITH ORDINALITY AS m (mean, new_mean, error, k)
$$;
COMMENT ON FUNCTION wml_prior_change(wml_prior, wml_prior) IS 'how far two priors are apart: the largest difference of means or standard deviations, in units of spread and error';

-- What users write is parsed before it is put into a statement: nothing but expressions over the columns get there.
CREATE FUNCTION wml_pass_rows(source regclass, path text, task text, x text, y text, exposure text, weight text, alpha text) RETURNS text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	names text[] := '{task,x,y,exposure,weight,alpha}';
	given text[] := ARRAY[task, x, y, exposure, weight, alpha];
	expressions text[];
	columns text[];
BEGIN
	FOR i IN 1 .. cardinality(names) LOOP
		expressions := ARRAY(SELECT e.expression FROM @extschema@.wml_expressions(source, given[i], path) AS e);
		IF cardinality(expressions) <> 1 THEN
			RAISE EXCEPTION '% must be one expression: "%"', names[i], given[i] USING ERRCODE = 'syntax_error';
		END IF;
		columns := columns || format('(%s)%s AS %I', expressions[1],
			CASE names[i] WHEN 'task' THEN '' WHEN 'x' THEN '::float8[]' ELSE '::float8' END, names[i]);
	END LOOP;
	RETURN format('SELECT %s FROM %s', array_to_string(columns, ', '), source);
END $$;
COMMENT ON FUNCTION wml_pass_rows(regclass, text, text, text, text, text, text, text) IS 'query of the rows of wml_glm_iterate, for the search_path pg_catalog';

-- A procedure that commits cannot have a search_path of its own.
CREATE FUNCTION wml_pass_run(statement text) RETURNS void
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	EXECUTE statement;
END $$;
COMMENT ON FUNCTION wml_pass_run(text) IS 'runs a statement of wml_glm_iterate in the search_path pg_catalog';

CREATE PROCEDURE wml_glm_iterate(state text, source regclass, task text, x text, y text, family text DEFAULT 'binomial',
								 exposure text DEFAULT '1', weight text DEFAULT '1', alpha text DEFAULT '1',
								 covariance text DEFAULT 'full', method text DEFAULT 'ml', evenness float8 DEFAULT 0,
								 approximation text DEFAULT 'ep', tolerance float8 DEFAULT 0.001, iterations int DEFAULT 50,
								 commits bool DEFAULT false)
	LANGUAGE plpgsql AS $$
DECLARE
	rows_of pg_catalog.text := @extschema@.wml_pass_rows(source, pg_catalog.current_setting('search_path'), task, x, y, exposure, weight, alpha);
	parts pg_catalog.text[] := pg_catalog.parse_ident(state);
	one_alpha pg_catalog.text := 'CASE WHEN pg_catalog.min(r.alpha) OPERATOR(pg_catalog.=) pg_catalog.max(r.alpha) THEN pg_catalog.min(r.alpha) END AS alpha';
	ragged pg_catalog.bool;
	fit pg_catalog.text;
	collect pg_catalog.text;
	prior @extschema@.wml_prior;
	found @extschema@.wml_prior;
	change pg_catalog.float8;
	equality pg_catalog.text;		-- of tasks, wherever the search_path would look
BEGIN
	IF approximation IS NULL OR approximation OPERATOR(pg_catalog.<>) ALL (ARRAY['ep'::pg_catalog.text, 'pql'::pg_catalog.text]) THEN
		RAISE EXCEPTION 'unrecognized approximation: "%"', approximation
			USING ERRCODE = 'invalid_parameter_value', HINT = 'Available values: ep, pql.';
	END IF;
	IF NOT coalesce(iterations OPERATOR(pg_catalog.>) 0 AND tolerance OPERATOR(pg_catalog.>=) 0::pg_catalog.float8, false) THEN
		RAISE EXCEPTION 'iterations must be positive, and tolerance not negative'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF pg_catalog.to_regclass(state) IS NULL THEN
		-- where CREATE TABLE would make it
		state := pg_catalog.format('%I.%I', CASE WHEN pg_catalog.cardinality(parts) OPERATOR(pg_catalog.>) 1 THEN parts[pg_catalog.cardinality(parts) OPERATOR(pg_catalog.-) 1] ELSE pg_catalog.current_schema() END,
								   parts[pg_catalog.cardinality(parts)]);
		PERFORM @extschema@.wml_pass_run(pg_catalog.format('CREATE TABLE %s AS SELECT r.task, @extschema@.wml_working_gram(r.x, r.y, %L, NULL, r.exposure, r.weight) AS gram, %s '
								  'FROM (%s) AS r WHERE r.task IS NOT NULL GROUP BY r.task', state, family, one_alpha, rows_of));
		-- or the planner takes the state for larger than it is, and the rows for what to keep in memory
		EXECUTE pg_catalog.format('ANALYZE %s (task)', state);
		IF commits THEN
			COMMIT;
		END IF;
	END IF;
	SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) INTO state FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
	WHERE c.oid OPERATOR(pg_catalog.=) state::pg_catalog.regclass;
	SELECT @extschema@.wml_equality(a.atttypid) INTO equality FROM pg_catalog.pg_attribute AS a
	WHERE a.attrelid OPERATOR(pg_catalog.=) state::pg_catalog.regclass AND a.attname OPERATOR(pg_catalog.=) 'task'::pg_catalog.name;
	fit := pg_catalog.format('SELECT @extschema@.wml_glm_prior(pg_catalog.array_agg(gram), %L, alpha => pg_catalog.array_agg(alpha), covariance => %L, method => %L, evenness => %L) FROM %s',
							 family, covariance, method, evenness, state);
	-- without any covariance the curvature of a negative binomial is the expected one
	collect := 'CREATE TEMPORARY TABLE wml_next_state AS '
		'SELECT r.task, @extschema@.wml_working_gram(r.x, r.y, %1$L, p.coef, r.exposure, r.weight, p.covariance) AS gram, %7$s '
		'FROM (%2$s) AS r JOIN (SELECT task, @extschema@.wml_posterior_coef(%3$L, gram) AS coef, '
		'CASE WHEN %4$L THEN @extschema@.wml_posterior_covariance(%3$L, gram) '
		'WHEN %8$L THEN pg_catalog.array_fill(0::pg_catalog.float8, ARRAY[@extschema@.wml_dims(gram), @extschema@.wml_dims(gram)]) END AS covariance FROM %5$s OFFSET 0) AS p '
		'ON p.task %6$s r.task GROUP BY r.task';
	EXECUTE pg_catalog.format('SELECT EXISTS (SELECT FROM %s WHERE alpha IS NULL)', state) INTO ragged;
	IF ragged THEN
		RAISE EXCEPTION 'alpha of a task is NULL or differs between its rows'
			USING ERRCODE = 'data_exception', HINT = 'Alpha weighs the task as a whole; weight is for rows.';
	END IF;
	EXECUTE fit INTO found;
	FOR pass IN 1 .. iterations LOOP
		prior := found;
		PERFORM @extschema@.wml_pass_run(pg_catalog.format(collect, family, rows_of, prior::pg_catalog.text, approximation OPERATOR(pg_catalog.=) 'ep'::pg_catalog.text, state, equality, one_alpha,
											   pg_catalog.starts_with(family, 'negative_binomial')));
		EXECUTE pg_catalog.format('DELETE FROM %s', state);
		EXECUTE pg_catalog.format('INSERT INTO %s (task, gram, alpha) SELECT task, gram, alpha FROM pg_temp.wml_next_state', state);
		DROP TABLE pg_temp.wml_next_state;
		EXECUTE fit INTO found;
		change := @extschema@.wml_prior_change(prior, found);
		IF commits THEN
			COMMIT;
		END IF;
		IF coalesce(pg_catalog.current_setting('wml.progress', true), 'on') OPERATOR(pg_catalog.<>) 'off'::pg_catalog.text THEN
			RAISE NOTICE 'pass %: the prior moved by % of its spread', pass, pg_catalog.btrim(pg_catalog.to_char(change, '9.9EEEE'));
		END IF;
		IF change OPERATOR(pg_catalog.<=) tolerance THEN
			RETURN;
		END IF;
	END LOOP;
	RAISE WARNING 'prior stopped after % iterations', iterations
		USING DETAIL = pg_catalog.format('In the last one it moved by %s of its spread.', pg_catalog.btrim(pg_catalog.to_char(change, '9.9EEEE'))),
			HINT = 'Call the procedure again: it goes on from the state.';
END $$;
COMMENT ON PROCEDURE wml_glm_iterate(text, regclass, text, text, text, text, text, text, text, text, text, float8, text, float8, int, bool) IS 'collects the tasks'' working grams of a hierarchical model in a table, by repeated passes over another table';
