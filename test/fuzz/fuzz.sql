-- Random calls of everything that the extension has.
--
-- What to call comes from the catalog, so a new function, aggregate, operator or type is covered as soon
-- as it exists.  fuzz.step(seed) makes some calls; the same seed makes the same calls.  What it finds is
-- in fuzz.failure.  Each call is rolled back.
--
-- What a call costs beside the call itself decides how many there are, so whatever is drawn has a number and
-- is found by it, counts are written once a step, and mutated inputs pass through functions with a plan.

CREATE SCHEMA fuzz;

CREATE TABLE fuzz.failure (seed bigint, state text, problem text, call text);
CREATE TABLE fuzz.count (what text, state text, calls bigint);

-- Text forms of values of the extension's types, to start from.
CREATE TABLE fuzz.pool (type regtype, place int, value text, PRIMARY KEY (type, place));
CREATE UNIQUE INDEX ON fuzz.pool (type, md5(value));
-- How many there are, and how many of the first are kin: of three features, so that they can meet.
CREATE TABLE fuzz.size (type regtype PRIMARY KEY, total int DEFAULT 0, kin int DEFAULT 0);

-- Rows for functions that read a query or a table.
CREATE TABLE fuzz.rows AS
SELECT i % 7 AS task, i AS week, ARRAY[1, sin(i), cos(i * i)] AS x, 2 + sin(i) + 0.1 * cos(7 * i) AS y, (i % 3 - 1)::float8 AS sign,
	   i % 4 AS many, i % 2 = 0 AS yes, ('{red,green,blue}'::text[])[i % 3 + 1] AS colour
FROM generate_series(1, 140) AS i;

CREATE TABLE fuzz.sources AS SELECT array_agg(gram) AS sources FROM (SELECT wml_gram(x, y) AS gram FROM fuzz.rows GROUP BY task) AS t;

-- Members of the extension that can be called in SQL.
CREATE TABLE fuzz.target AS
WITH member AS (
	SELECT classid, objid FROM pg_depend
	WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'wml') AND deptype = 'e'
), routine AS (
	SELECT p.oid, p.prokind, p.proretset, p.proname, p.prorettype, p.pronargs - p.pronargdefaults AS required,
		   p.proargtypes::oid[] AS types, n.nspname
	FROM member JOIN pg_proc AS p ON p.oid = objid AND classid = 'pg_proc'::regclass JOIN pg_namespace AS n ON n.oid = p.pronamespace
	WHERE p.prokind <> 'p' AND p.prorettype NOT IN ('trigger'::regtype, 'internal'::regtype, 'event_trigger'::regtype) AND
		  NOT EXISTS (SELECT FROM unnest(p.proargtypes) AS t (type) WHERE type IN ('internal'::regtype, 'cstring'::regtype))
)
SELECT *, CASE WHEN kind IN ('input', 'made') THEN kind ELSE 'call' END AS lot,
	   row_number() OVER (PARTITION BY CASE WHEN kind IN ('input', 'made') THEN kind ELSE 'call' END ORDER BY kind, name, types)::int AS place
FROM (SELECT prokind::text AS kind, format('%I.%I', nspname, proname) AS name, required, types, prorettype AS result, proretset AS set FROM routine
	  UNION ALL
	  SELECT 'operator', format('OPERATOR(%I.%s)', nspname, oprname), 2, ARRAY[oprleft, oprright], oprresult, false
	  FROM member JOIN pg_operator AS o ON o.oid = objid AND classid = 'pg_operator'::regclass JOIN pg_namespace AS n ON n.oid = o.oprnamespace
	  WHERE oprleft <> 0
	  UNION ALL
	  -- what anyone may make of our functions: an aggregate
	  SELECT 'made', format('%I.%I', nspname, proname), required, types, prorettype, false FROM routine
	  WHERE prokind = 'f' AND NOT proretset AND types[0] = prorettype AND required > 1
	  UNION ALL
	  SELECT 'input', format('%I.%I', nspname, typname), 1, ARRAY[t.oid], t.oid, false
	  FROM member JOIN pg_type AS t ON t.oid = objid AND classid = 'pg_type'::regclass JOIN pg_namespace AS n ON n.oid = t.typnamespace
	  WHERE typtype = 'b' AND typelem = 0) AS t;
ALTER TABLE fuzz.target ADD PRIMARY KEY (lot, place);
CREATE INDEX ON fuzz.target (result);

-- Per type of the extension, a function that reads a text and writes the value again, and one that does so
-- once more, which must change nothing.
DO $$
DECLARE
	target fuzz.target;
BEGIN
	FOR target IN SELECT * FROM fuzz.target WHERE kind = 'input' LOOP
		EXECUTE format('CREATE FUNCTION fuzz.input_%s(value text) RETURNS text AS %L LANGUAGE plpgsql VOLATILE',
					   target.place, format('BEGIN RETURN value::%s::text; END', target.name));
	END LOOP;
END
$$;

-- What must hold of results; %s is the call.
CREATE TABLE fuzz.invariant (name text, query text);
INSERT INTO fuzz.invariant VALUES
	('wml_alpha', 'SELECT count(v) = 0 OR min(v) >= 0 AND abs(sum(v) - 1) < 1e-6 FROM unnest(%s) AS v'),
	('wml_alpha_kernel', 'SELECT count(v) = 0 OR min(v) >= 0 AND abs(sum(v) - 1) < 1e-6 FROM unnest(%s) AS v'),
	('wml_alpha_gap', 'SELECT %s >= 0 IS NOT FALSE'),
	('wml_distance', 'SELECT %s >= 0 IS NOT FALSE'),
	('wml_mse', 'SELECT %s >= 0 IS NOT FALSE'),
	('wml_prior_covariance',
	 'SELECT bool_and(s[i][i] >= 0 AND s[i][j] = s[j][i] AND s[i][j] ^ 2 <= s[i][i] * s[j][j] * (1 + 1e-9) + 1e-290) IS NOT FALSE
	  FROM (SELECT %s AS s) AS t, generate_subscripts(s, 1) AS i, generate_subscripts(s, 1) AS j WHERE abs(s[i][j]) < 1e150'),
	('wml_posterior', 'SELECT bool_and(sd <= prior_sd * (1 + 1e-9)) IS NOT FALSE FROM %s');

CREATE FUNCTION fuzz.pick(choices text[]) RETURNS text AS $$
BEGIN
	RETURN choices[1 + floor(random() * cardinality(choices))::int];
END
$$ LANGUAGE plpgsql VOLATILE;

CREATE FUNCTION fuzz.number() RETURNS text AS $$
BEGIN
	RETURN CASE floor(random() * 4)::int
		WHEN 0 THEN fuzz.pick('{0,-0,1,-1,2,0.5,1e-3,3,10,100}')
		WHEN 1 THEN fuzz.pick('{NaN,Infinity,-Infinity,1e308,-1e308,1.7e308,5e-324,1e-308,1e154,1e-154,1e80,-1e80,1e16,1e200,9007199254740993}')
		ELSE ((random() * 2 - 1) * 10 ^ floor(random() * 3))::text END;
END
$$ LANGUAGE plpgsql VOLATILE;

CREATE FUNCTION fuzz.whole(lowest numeric, highest numeric) RETURNS text AS $$
BEGIN
	RETURN CASE floor(random() * 8)::int WHEN 0 THEN lowest::text WHEN 1 THEN highest::text WHEN 2 THEN '-1' ELSE floor(random() * 12)::text END;
END
$$ LANGUAGE plpgsql VOLATILE;

-- '{1,2,NULL}', now and then of two dimensions or none
CREATE FUNCTION fuzz.numbers() RETURNS text AS $$
DECLARE
	n int := CASE WHEN random() < 0.6 THEN 3 ELSE floor(random() * 5) END;
	m int := CASE WHEN random() < 0.2 THEN 1 + floor(random() * 5) END;
	wild bool := random() < 0.3;
BEGIN
	RETURN (SELECT CASE WHEN m IS NULL THEN '{' || coalesce(string_agg(row, ',') FILTER (WHERE j = 1), '') || '}' ELSE '{' || string_agg('{' || row || '}', ',') || '}' END
			FROM (SELECT j, string_agg(CASE WHEN wild AND random() < 0.1 THEN 'NULL' WHEN wild THEN fuzz.number() ELSE (random() * 4 - 2)::text END, ',') AS row
				  FROM generate_series(1, coalesce(m, 1)) AS j, generate_series(1, greatest(n, (m > 0)::int)) AS i GROUP BY j) AS t);
END
$$ LANGUAGE plpgsql VOLATILE;

CREATE FUNCTION fuzz.word() RETURNS text AS $$
BEGIN
	RETURN (SELECT CASE floor(random() * 10)::int
			WHEN 0 THEN fuzz.pick(ARRAY['', ' ', 'x', repeat('long ', 1000), E'\u00e4\n''"\\', '%s%n', 'Mixture', 'UNIFORM'])
			WHEN 1 THEN fuzz.pick(ARRAY['SELECT x, sign FROM fuzz.rows', 'SELECT task, x, y FROM fuzz.rows', 'SELECT x, y FROM fuzz.rows', 'SELECT 1',
										'SELECT', 'SELECT task, x, yes::int::float8 FROM fuzz.rows', 'SELECT x, many::float8 FROM fuzz.rows', 'DELETE FROM fuzz.rows',
										'SELECT NULL::float8[], NULL::float8', 'SELECT task, ARRAY[y], NULL::float8 FROM fuzz.rows'])
			WHEN 2 THEN fuzz.pick('{fuzz.rows,task,week,x,y,colour,many,yes,sign,ln(y),pg_class,no_such}')
			ELSE fuzz.pick('{mixture,closest,uniform,pooled,stacked,square,hinge,erm,maml,fomaml,reptile,prior,target,mean,sum,ml,reml,full,diagonal,joint,single,
							 gaussian,binomial,poisson,negbinomial,bound,common,own,normal,t}') END);
END
$$ LANGUAGE plpgsql VOLATILE;

CREATE FUNCTION fuzz.pooled(wanted oid) RETURNS text AS $$
DECLARE
	size fuzz.size;
	chosen int;
BEGIN
	SELECT * INTO size FROM fuzz.size WHERE type = wanted;
	chosen := 1 + floor(random() * CASE WHEN random() < 0.7 AND size.kin > 0 THEN size.kin ELSE size.total END);
	RETURN (SELECT value FROM fuzz.pool WHERE type = wanted AND place = chosen);
END
$$ LANGUAGE plpgsql VOLATILE;

-- Adds a value to the pool.  Those of kin come first.
CREATE FUNCTION fuzz.add(wanted oid, given text, is_kin bool DEFAULT false) RETURNS void AS $$
DECLARE
	new_place int;
BEGIN
	IF given IS NULL OR EXISTS (SELECT FROM fuzz.pool WHERE type = wanted AND md5(value) = md5(given)) THEN
		RETURN;
	END IF;
	INSERT INTO fuzz.size (type, total, kin) VALUES (wanted, 1, is_kin::int)
	ON CONFLICT (type) DO UPDATE SET total = size.total + 1, kin = size.kin + is_kin::int
	RETURNING CASE WHEN is_kin THEN kin ELSE total END INTO new_place;
	UPDATE fuzz.pool SET place = (SELECT total FROM fuzz.size WHERE type = wanted) WHERE type = wanted AND place = new_place;
	INSERT INTO fuzz.pool VALUES (wanted, new_place, given);
END
$$ LANGUAGE plpgsql VOLATILE;

-- One of the targets of a lot.
CREATE FUNCTION fuzz.draw(wanted text) RETURNS fuzz.target AS $$
DECLARE
	target fuzz.target;
	chosen int := 1 + floor(random() * (SELECT max(place) FROM fuzz.target WHERE lot = wanted));
BEGIN
	SELECT * INTO target FROM fuzz.target WHERE lot = wanted AND place = chosen;
	RETURN target;
END
$$ LANGUAGE plpgsql VOLATILE;

-- The text form of a random value, NULL for NULL.
CREATE FUNCTION fuzz.value(type oid) RETURNS text AS $$
DECLARE
	element oid;
BEGIN
	IF random() < 0.03 THEN
		RETURN NULL;
	ELSIF type = 'float8[]'::regtype THEN
		RETURN fuzz.numbers();
	ELSIF type > 1000 AND right(format_type(type, NULL), 2) = '[]' THEN
		element := (SELECT typelem FROM pg_type WHERE oid = type);
		RETURN (SELECT array_agg(fuzz.value(element))::text FROM generate_series(1, floor(random() * 6)::int));
	END IF;
	RETURN CASE
		WHEN type IN ('float8'::regtype, 'float4'::regtype, 'numeric'::regtype) THEN fuzz.number()
		WHEN type = 'int2'::regtype THEN fuzz.whole(-32768, 32767)
		WHEN type = 'int4'::regtype THEN fuzz.whole(-2147483648, 2147483647)
		WHEN type = 'int8'::regtype THEN fuzz.whole(-9223372036854775808, 9223372036854775807)
		WHEN type = 'bool'::regtype THEN fuzz.pick('{t,f}')
		WHEN type IN ('text'::regtype, 'name'::regtype, 'varchar'::regtype, 'unknown'::regtype) THEN fuzz.word()
		WHEN type = 'regclass'::regtype THEN fuzz.pick('{fuzz.rows,pg_class}')
		WHEN type = 'bytea'::regtype THEN '\x' || substr(md5(random()::text), 1, 2 * floor(random() * 16)::int)
		WHEN type IN ('json'::regtype, 'jsonb'::regtype) THEN fuzz.pick(ARRAY['{}', '[]', '{"a": 1}', 'null', '{"level": 2, "x": [1, "y"]}'])
		WHEN type IN ('record'::regtype, 'anyelement'::regtype, 'anycompatible'::regtype) THEN NULL
		ELSE fuzz.pooled(type) END;
END
$$ LANGUAGE plpgsql VOLATILE;

CREATE FUNCTION fuzz.literal(type oid) RETURNS text AS $$
BEGIN
	RETURN format('%L::%s', fuzz.value(type), CASE WHEN type IN ('anyelement'::regtype, 'anycompatible'::regtype, 'record'::regtype) THEN 'text' ELSE format_type(type, NULL) END);
END
$$ LANGUAGE plpgsql VOLATILE;

-- A text with something changed.
CREATE FUNCTION fuzz.mutated(value text) RETURNS text AS $$
DECLARE
	at int := 1 + floor(random() * length(value));
	run int := 1 + floor(random() * 4);
BEGIN
	RETURN overlay(value PLACING
		CASE floor(random() * 4)::int
			WHEN 0 THEN ''
			WHEN 1 THEN fuzz.number()
			WHEN 2 THEN fuzz.pick(ARRAY['-', '.', 'e', '9', ' ', ';', '{', '}', '[', ']', 'NaN', '-0', E'\u00e4', '99999999999999999999'])
			ELSE substr(value, 1 + floor(random() * length(value))::int, run) END
		FROM at FOR run);
END
$$ LANGUAGE plpgsql VOLATILE;

-- A list of arguments: between the required ones and all.
CREATE FUNCTION fuzz.arguments(target fuzz.target) RETURNS text[] AS $$
BEGIN
	RETURN (SELECT coalesce(array_agg(fuzz.literal(type) ORDER BY place), '{}')
		FROM unnest(target.types) WITH ORDINALITY AS t (type, place),
			 (SELECT target.required + floor(random() * (cardinality(target.types) - target.required + 1)) AS given) AS n
		WHERE place <= given);
END
$$ LANGUAGE plpgsql VOLATILE;

-- VALUES of some rows, each column now and then constant, with names a1, a2, ...
CREATE FUNCTION fuzz.table_of(types oid[]) RETURNS text AS $$
DECLARE
	fixed text[] := ARRAY(SELECT CASE WHEN random() < 0.3 THEN fuzz.literal(type) END FROM unnest(types) WITH ORDINALITY AS t (type, place) ORDER BY place);
BEGIN
	RETURN (SELECT '(VALUES ' || string_agg('(' || i || row || ')', ', ') || ') AS t (i' || coalesce((SELECT string_agg(', a' || k, '') FROM generate_series(1, cardinality(types)) AS k), '') || ')'
			FROM (SELECT i, coalesce((SELECT string_agg(', ' || coalesce(fixed[place], fuzz.literal(type)), '' ORDER BY place)
									  FROM unnest(types) WITH ORDINALITY AS t (type, place)), '') AS row
				  FROM generate_series(1, 1 + floor(random() * 6)::int) AS i) AS r);
END
$$ LANGUAGE plpgsql VOLATILE;

-- Statements to run, one after the other; the last gives one text.
CREATE FUNCTION fuzz.statements(target fuzz.target) RETURNS text[] AS $$
DECLARE
	given oid[] := (target.types::oid[])[0:target.required + floor(random() * (cardinality(target.types) - target.required + 1))::int - 1];
	columns text := (SELECT string_agg('a' || k, ', ') FROM generate_series(1, cardinality(given)) AS k);
	value text;
	final text;
BEGIN
	CASE target.kind
		WHEN 'f' THEN
			RETURN ARRAY[format('SELECT left(string_agg(r::text, '';''), 100000) FROM %s(%s) AS r', target.name, array_to_string(fuzz.arguments(target), ', '))];
		WHEN 'operator' THEN
			RETURN ARRAY[format('SELECT (%s %s %s)::text', fuzz.literal(target.types[1]), target.name, fuzz.literal(target.types[2]))];
		WHEN 'a' THEN
			RETURN ARRAY[format(fuzz.pick(ARRAY['SELECT %s(%s)::text FROM %s',
												'SELECT %s(%s ORDER BY i DESC)::text FROM %s',
												'SELECT string_agg(v, '';'') FROM (SELECT (%s(%s) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING))::text AS v FROM %s) AS w']),
								target.name, columns, fuzz.table_of(given))];
		WHEN 'w' THEN
			RETURN ARRAY[format('SELECT string_agg(v, '';'') FROM (SELECT (%s(%s) OVER (%s))::text AS v FROM %s) AS w',
								target.name, columns, fuzz.pick(ARRAY['', 'ORDER BY i', 'PARTITION BY i % 2', 'ROWS 1 PRECEDING']), fuzz.table_of(given))];
		WHEN 'made' THEN
			final := (SELECT ', FINALFUNC = ' || name FROM fuzz.target AS f
					  WHERE f.kind = 'f' AND NOT f.set AND f.required = 1 AND f.types[array_lower(f.types, 1)] = target.result AND cardinality(f.types) = 1 ORDER BY random() LIMIT 1);
			value := fuzz.value(target.result);
			IF random() < 0.5 THEN
				value := fuzz.mutated(value);
			END IF;
			RETURN ARRAY[
				format('CREATE AGGREGATE pg_temp.made(%s) (SFUNC = %s, STYPE = %s%s%s)',
					   (SELECT string_agg(format_type(type, NULL), ', ' ORDER BY place) FROM unnest(target.types) WITH ORDINALITY AS t (type, place) WHERE place > 1),
					   target.name, format_type(target.result, NULL), coalesce(final, ''), CASE WHEN value IS NULL OR random() < 0.3 THEN '' ELSE format(', INITCOND = %L', value) END),
				format('SELECT pg_temp.made(%s)::text FROM %s',
					   (SELECT string_agg('a' || k, ', ') FROM generate_series(2, cardinality(target.types)) AS k), fuzz.table_of(target.types))];
		ELSE
			RETURN NULL;
	END CASE;
END
$$ LANGUAGE plpgsql VOLATILE;

-- A value in binary form with some bytes changed.
CREATE FUNCTION fuzz.mutated_binary(bytes bytea) RETURNS bytea AS $$
BEGIN
	FOR i IN 1 .. 1 + floor(random() * 4)::int LOOP
		bytes := set_byte(bytes, floor(random() * least(length(bytes), CASE WHEN random() < 0.7 THEN 64 ELSE 1000000 END))::int,
						  CASE WHEN random() < 0.7 THEN fuzz.pick('{0,1,2,3,4,127,128,254,255}')::int ELSE floor(random() * 256)::int END);
	END LOOP;
	IF random() < 0.1 THEN
		bytes := substr(bytes, 1, 1 + floor(random() * length(bytes))::int);
	END IF;
	RETURN bytes;
END
$$ LANGUAGE plpgsql VOLATILE;

-- What ended in an error that should not be, or NULL.
CREATE FUNCTION fuzz.internal(ended text) RETURNS bool AS $$
BEGIN
	RETURN ended ~ '^XX' AND ended <> 'XX001' OR ended = 'P0004';
END
$$ LANGUAGE plpgsql IMMUTABLE;

-- Mutations of one value of a type, as text; returns how each ended.  What is read must be the same again.
CREATE FUNCTION fuzz.try_text(seed bigint, target fuzz.target, times int) RETURNS text[] AS $$
DECLARE
	value text := fuzz.value(target.result);
	reader text := 'SELECT fuzz.input_' || target.place || '($1)';
	given text;
	result text;
	again text;
	ended text;
	message text;
	states text[];
BEGIN
	FOR i IN 1 .. CASE WHEN value IS NULL THEN 0 ELSE times END LOOP
		given := fuzz.mutated(value);
		BEGIN
			EXECUTE reader INTO result USING given;
			EXECUTE reader INTO again USING result;
			ended := '00000';
			IF result <> again THEN
				INSERT INTO fuzz.failure VALUES (seed, NULL, 'text and back is another value', given);
			END IF;
		EXCEPTION WHEN query_canceled OR assert_failure OR others THEN
			GET STACKED DIAGNOSTICS ended = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
			IF fuzz.internal(ended) THEN
				INSERT INTO fuzz.failure VALUES (seed, ended, message, format('%s: %s', target.name, given));
			END IF;
		END;
		states := states || ended;
	END LOOP;
	RETURN states;
END
$$ LANGUAGE plpgsql VOLATILE;

-- The same in binary form, read as COPY BINARY reads it, from a file that test/fuzz/run removes.  It is in memory where
-- possible: some file systems write to disk at once what is written over a file.
CREATE FUNCTION fuzz.try_binary(seed bigint, target fuzz.target, times int) RETURNS text[] AS $$
DECLARE
	file text := format('%s/%s.%s', CASE WHEN pg_stat_file('/dev/shm', true) IS NULL THEN current_setting('data_directory') ELSE '/dev/shm' END,
						current_database(), pg_backend_pid());
	relation text := 'fuzz_binary_' || target.place;
	good bytea;
	bytes bytea;
	result text;
	ended text;
	message text;
	states text[];
BEGIN
	EXECUTE format('SELECT %s($1::%s)', (SELECT typsend FROM pg_type WHERE oid = target.result), target.name) INTO good USING fuzz.pooled(target.result);
	IF to_regclass('pg_temp.' || relation) IS NULL THEN
		EXECUTE format('CREATE TEMPORARY TABLE %s (value %s)', relation, target.name);
	END IF;
	FOR i IN 1 .. CASE WHEN good IS NULL THEN 0 ELSE times END LOOP
		bytes := fuzz.mutated_binary(good);
		EXECUTE format('COPY (SELECT %L::bytea) TO %L BINARY', bytes, file);
		BEGIN
			EXECUTE format('COPY %s FROM %L BINARY', relation, file);
			EXECUTE format('SELECT string_agg(value::text, '';'') FROM %s', relation) INTO result;
			EXECUTE format('SELECT fuzz.input_%s($1)', target.place) USING result;
			RAISE SQLSTATE 'FUZZ0';
		EXCEPTION
			WHEN SQLSTATE 'FUZZ0' THEN
				ended := '00000';
			WHEN query_canceled OR assert_failure OR others THEN
				GET STACKED DIAGNOSTICS ended = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
				IF fuzz.internal(ended) THEN
					INSERT INTO fuzz.failure VALUES (seed, ended, message, format('%s: %s', target.name, bytes));
				END IF;
		END;
		states := states || ended;
	END LOOP;
	RETURN states;
END
$$ LANGUAGE plpgsql VOLATILE;

-- Make a call and take it back; returns how it ended.  A result of one of the extension's types may enter the pool.
CREATE FUNCTION fuzz.try(seed bigint, target fuzz.target, statements text[], keep bool) RETURNS text AS $$
DECLARE
	statement text;
	result text;
	ended text;
	message text;
	started timestamptz := clock_timestamp();
	check_query text;
	holds bool;
BEGIN
	BEGIN
		FOREACH statement IN ARRAY statements LOOP
			IF statement ~ '^(SELECT|WITH)' THEN
				EXECUTE statement INTO result;
			ELSE
				EXECUTE statement;
			END IF;
		END LOOP;
		IF target.kind = 'f' THEN
			FOR check_query IN SELECT query FROM fuzz.invariant WHERE name = split_part(target.name, '.', 2) LOOP
				EXECUTE format(check_query, substring(statement FROM ' FROM (.*) AS r$')) INTO holds;
				EXIT WHEN NOT holds;
			END LOOP;
		END IF;
		RAISE SQLSTATE 'FUZZ0';
	EXCEPTION
		WHEN SQLSTATE 'FUZZ0' THEN
			ended := '00000';
		WHEN query_canceled OR assert_failure OR others THEN
			GET STACKED DIAGNOSTICS ended = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
	END;
	IF fuzz.internal(ended) THEN
		INSERT INTO fuzz.failure VALUES (seed, ended, message, array_to_string(statements, '; '));
	ELSIF NOT holds THEN
		INSERT INTO fuzz.failure VALUES (seed, NULL, 'an invariant is broken', array_to_string(statements, '; '));
	ELSIF clock_timestamp() - started > interval '30 s' THEN
		INSERT INTO fuzz.failure VALUES (seed, ended, 'did not hear the timeout', array_to_string(statements, '; '));
	ELSIF keep AND ended = '00000' AND length(result) < 20000 AND statement !~ ' OVER ' AND target.kind IN ('f', 'a') AND NOT target.set AND
		  EXISTS (SELECT FROM fuzz.target AS t WHERE target.result = ANY (t.types) AND target.result >= 16384) THEN
		PERFORM fuzz.add(target.result, result);
	END IF;
	RETURN ended;
END
$$ LANGUAGE plpgsql VOLATILE;

-- Some calls and about as many mutated inputs.  With trace, each is logged before it is made: what the server dies of
-- is the last.  A timeout ends the step: it comes once.
CREATE FUNCTION fuzz.step(seed bigint, calls int DEFAULT 20, keep bool DEFAULT false, trace bool DEFAULT false) RETURNS void AS $$
DECLARE
	target fuzz.target;
	statements text[];
	chosen float8;
	lots text[] := '{}';
	states text[] := '{}';
	ended text[];
BEGIN
	PERFORM setseed(((seed * 2654435761) % 1000003) / 1000003.0);
	FOR i IN 1 .. calls LOOP
		chosen := random();
		target := fuzz.draw(CASE WHEN chosen < 0.5 THEN 'call' WHEN chosen < 0.6 THEN 'made' ELSE 'input' END);
		IF target.kind = 'input' THEN
			IF trace THEN
				RAISE LOG 'fuzz %: %', seed, target;
			END IF;
			ended := CASE WHEN chosen < 0.8 THEN fuzz.try_text(seed, target, 3) ELSE fuzz.try_binary(seed, target, 2) END;
			lots := lots || array_fill(CASE WHEN chosen < 0.8 THEN 'text' ELSE 'binary' END, ARRAY[coalesce(cardinality(ended), 0)]);
		ELSE
			statements := fuzz.statements(target);
			CONTINUE WHEN array_position(statements, NULL) IS NOT NULL;
			IF trace THEN
				RAISE LOG 'fuzz %: %', seed, array_to_string(statements, '; ');
			END IF;
			ended := ARRAY[fuzz.try(seed, target, statements, keep)];
			lots := lots || target.kind;
		END IF;
		states := states || ended;
		EXIT WHEN '57014' = ANY (ended);
	END LOOP;
	INSERT INTO fuzz.count SELECT what, state, count(*) FROM unnest(lots, states) AS t (what, state) GROUP BY what, state;
END
$$ LANGUAGE plpgsql VOLATILE;

-- What this backend holds in kB, by its own books; NULL before PostgreSQL 14.
CREATE FUNCTION fuzz.memory() RETURNS int AS $$
DECLARE
	result int;
BEGIN
	IF to_regclass('pg_catalog.pg_backend_memory_contexts') IS NOT NULL THEN
		EXECUTE 'SELECT sum(total_bytes) / 1024 FROM pg_catalog.pg_backend_memory_contexts' INTO result;
	END IF;
	RETURN result;
END
$$ LANGUAGE plpgsql VOLATILE;

-- Calls of what chance rarely calls with success.
CREATE TABLE fuzz.example (call text, makes_tables bool GENERATED ALWAYS AS (call ~ 'wml_(learn|refresh)\(') STORED);
INSERT INTO fuzz.example (call) VALUES
	('SELECT wml_glm_train(''SELECT x, yes::int FROM fuzz.rows'')'),
	('SELECT wml_glm_prior(''SELECT task, x, many FROM fuzz.rows'', ''poisson'', iterations => 2)'),
	('SELECT wml_glm_prior(''SELECT task, x, many FROM fuzz.rows'', ''poisson'', reread => true, iterations => 2)'),
	('SELECT wml_svm_train(''SELECT x, sign FROM fuzz.rows WHERE sign <> 0'')'),
	('SELECT wml_mlp_train(''SELECT task, x, y FROM fuzz.rows'', ''SELECT x, y FROM fuzz.rows'', ''{3}'', iterations => 2)'),
	('SELECT wml_transform(wml_gram(x, y), ''{{1,0,0,0},{0,1,0,0},{0,0,2,0},{0,0,0,1}}'') FROM fuzz.rows'),
	('SELECT count(*) FROM fuzz.sources, wml_fit(sources, sources[1]), wml_fit_weights(sources, sources[1])'),
	('SELECT wml_alpha_gap(sources, sources[1], wml_alpha(sources, sources[1])) FROM fuzz.sources'),
	('SELECT count(*) FROM fuzz.sources, wml_compare(sources[2:], sources[1])'),
	('SELECT wml_tune(sources[2:], sources[1], sources[2:]) FROM fuzz.sources'),
	('SELECT wml_prior(sources, noise => ''own'', tasks => ''t'') FROM fuzz.sources'),
	('SELECT wml_hinge(gram, 1) FROM (SELECT wml_gram(wml_unit(x, 9), sign) AS gram FROM fuzz.rows WHERE sign <> 0 GROUP BY task) AS t'),
	('SELECT wml_working_gram(x, yes::int, ''binomial'', ''{0,1,0}'') FROM fuzz.rows'),
	('SELECT wml_learn(''fuzz.set'', ''fuzz.rows'', ''task'', ''y'', ''week, many, colour'', live => true, replace => true)'),
	('SELECT count(*) FROM wml_forecast(''fuzz.set'', ''SELECT * FROM fuzz.rows LIMIT 9'')'),
	('SELECT count(*) FROM wml_explain(''fuzz.set'', ''1'')'),
	('SELECT count(*) FROM wml_check(''fuzz.set'')'),
	('UPDATE fuzz.rows SET y = y + 1 WHERE week = 7'),
	('SELECT wml_refresh(''fuzz.set'')');

-- For each function and aggregate a call that succeeds, made again and again: how many kB more there are then.  What
-- makes tables is only called once: a transaction remembers those that it dropped.
CREATE FUNCTION fuzz.leaks(wanted int) RETURNS TABLE (name text, repeats int, growth int, call text) AS $$
DECLARE
	target fuzz.target;
	made record;
	before int;
	started timestamptz;
BEGIN
	FOR made IN
		SELECT t AS target, NULL AS example, false AS makes_tables FROM fuzz.target AS t WHERE t.lot = 'call'
		UNION ALL SELECT NULL, e.call, e.makes_tables FROM fuzz.example AS e
	LOOP
		IF made.makes_tables THEN
			EXECUTE made.example;
			CONTINUE;
		END IF;
		target := made.target;
		call := made.example;
		name := coalesce(target.name, 'example');
		FOR i IN 1 .. CASE WHEN call IS NULL THEN 20 ELSE 0 END LOOP
			call := (fuzz.statements(target))[1];
			BEGIN
				EXECUTE call;
				EXIT;
			EXCEPTION WHEN others THEN
				call := NULL;
			END;
		END LOOP;
		CONTINUE WHEN call IS NULL;
		repeats := 0;
		started := clock_timestamp();
		WHILE repeats < wanted AND clock_timestamp() < started + interval '1 s' LOOP
			-- the first calls fill caches
			IF repeats = wanted / 5 THEN
				before := fuzz.memory();
			END IF;
			EXECUTE call;
			repeats := repeats + 1;
		END LOOP;
		growth := CASE WHEN repeats > wanted / 5 THEN fuzz.memory() - before END;
		RETURN NEXT;
	END LOOP;
END
$$ LANGUAGE plpgsql VOLATILE;

-- A first pool: grams of many kinds, and whatever functions make of them.
SELECT fuzz.add('wml_gram'::regtype, gram::text, wml_dims(gram) = 3) FROM (
	SELECT wml_gram(x, y) AS gram FROM fuzz.rows GROUP BY task
	UNION ALL SELECT wml_gram(x, y, many) FROM fuzz.rows GROUP BY task
	UNION ALL SELECT wml_gram(ARRAY[1, week], y) FROM fuzz.rows GROUP BY task
	UNION ALL SELECT wml_gram(ARRAY[x[2] * scale], y * scale) FROM fuzz.rows, unnest('{1e80,1e-80,1e150,1e-160,1e12}'::float8[]) AS scale GROUP BY scale
	UNION ALL SELECT wml_gram(x || x[2], y) FROM fuzz.rows
	UNION ALL SELECT wml_gram(x, sign) FROM fuzz.rows GROUP BY task
	UNION ALL SELECT wml_gram(x, y) FROM fuzz.rows WHERE week = 3
	UNION ALL SELECT wml_gram(x, CASE WHEN week = 5 THEN 'NaN' ELSE y END) FROM fuzz.rows
	UNION ALL SELECT wml_gram(x, CASE WHEN week = 5 THEN 'Infinity' ELSE y END) FROM fuzz.rows
	UNION ALL SELECT wml_gram(NULL, 1)
	UNION ALL SELECT wml_gram(ARRAY[1, 0, 0], 0)
	UNION ALL SELECT wml_gram(ARRAY[1, 1, 1], 1, 0)
	UNION ALL SELECT wml_gram((SELECT array_agg(sin(week * k)) FROM generate_series(1, 30) AS k), y) FROM fuzz.rows) AS t;
SELECT fuzz.add('wml_prior'::regtype, wml_prior(array_agg(gram))::text, true) FROM (SELECT wml_gram(x, y) AS gram FROM fuzz.rows GROUP BY task) AS t;
SELECT fuzz.add('wml_mlp'::regtype, wml_mlp_train('SELECT task, x, y FROM fuzz.rows', 'SELECT x, y FROM fuzz.rows', '{3}', iterations => 3)::text, true);
DO $$
BEGIN
	IF EXISTS (SELECT FROM fuzz.invariant AS i WHERE NOT EXISTS (SELECT FROM fuzz.target WHERE split_part(target.name, '.', 2) = i.name)) THEN
		RAISE 'an invariant names no function';
	END IF;
END
$$;
SET statement_timeout = '60s';
SELECT count(fuzz.step(-n, 10, keep => true)) AS "first calls" FROM generate_series(1, 200) AS n;
