-- Forecasts from task sets: those of the functions beneath, by name, with a status for each row
SET client_min_messages = warning;
\set SHOW_CONTEXT never

CREATE TABLE cast_sales AS
SELECT product, week, (ARRAY['a', 'b', 'c'])[1 + week % 3] AS kind, product % 5 + (product % 4) * 3 * sin(week / 8.0) + (week % 3) + 0.3 * sin(product * 12.9898 + week * 78.233) AS units
FROM generate_series(1, 20) AS product, generate_series(1, 50) AS week
UNION ALL
SELECT 21, week, (ARRAY['a', 'b', 'c'])[1 + week % 3], 2 + 6 * sin(week / 8.0) + (week % 3) + 0.3 * sin(21 * 12.9898 + week * 78.233) FROM generate_series(1, 8) AS week;
SELECT tasks, rows FROM wml_learn('cast_products', 'cast_sales', task => 'product', response => 'units', features => 'kind, sin(week / 8.0) AS season', along => 'week', live => true);

-- the same by hand
CREATE TABLE cast_rows AS SELECT product, week, (ARRAY['a', 'b', 'c'])[1 + week % 3] AS kind FROM generate_series(18, 22) AS product, generate_series(51, 53) AS week;
CREATE TABLE cast_prior AS SELECT wml_prior(array_agg(gram ORDER BY product), method => 'reml', evenness => 4) AS prior FROM cast_products;
SELECT count(*) AS rows, count(*) FILTER (WHERE f.status = 'new task') AS new, bool_and(f.model = 'prior') AS by_prior,
	max(abs(f.estimate - p.estimate) + abs(f.lower - p.lower) + abs(f.upper - p.upper) + abs(f.mean_lower - p.mean_lower) + abs(f.mean_upper - p.mean_upper)) < 1e-9 AS same,
	bool_and(f.mean = f.estimate) AS no_inverse
FROM wml_forecast('cast_products', 'cast_rows', level => 0.8) WITH ORDINALITY AS f (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n)
	JOIN (SELECT row_number() OVER () AS n, * FROM cast_rows) AS r USING (n) LEFT JOIN cast_products AS k ON k.product = r.product,
	cast_prior, wml_predict_interval(prior, gram, ARRAY[1, (kind = 'b')::int, (kind = 'c')::int, sin(week / 8.0)], 0.8) AS p
WHERE f.task = r.product::text AND f."row" ->> 'week' = week::text;

-- a status for each row instead of an error
INSERT INTO cast_sales VALUES (30, 1, 'a', 'NaN');
SELECT task, round(estimate::numeric, 2) IS NOT NULL AS estimated, lower < upper AS bounds, model, status
FROM wml_forecast('cast_products', $$
	VALUES (21, 9, 'a'), (21, NULL, 'a'), (21, 9, NULL), (21, 9, 'z'), (NULL, 9, 'a'), (99, 9, 'b'), (30, 9, 'a'), (21, NULL, 'z')
$$::text);
SELECT task, estimate IS NOT NULL AS estimated, model, status
FROM wml_forecast('cast_products', $$SELECT * FROM (VALUES (21, 9, 'a'), (21, NULL, 'a'), (21, 9, NULL), (21, 9, 'z'), (NULL, 9, 'a'), (99, 9, 'b'), (30, 9, 'a'), (21, NULL, 'z')) AS v (product, week, kind); -- these$$);
DELETE FROM cast_sales WHERE product = 30;

-- rows as objects
SELECT bool_and(o.estimate = q.estimate AND o.upper = q.upper AND o.status = q.status AND o."row" = q."row") AS same, count(*)
FROM wml_forecast('cast_products', (SELECT jsonb_agg(r) FROM cast_rows AS r)) WITH ORDINALITY AS o (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n)
	JOIN wml_forecast('cast_products', 'cast_rows') WITH ORDINALITY AS q (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n) USING (n);
SELECT task, "row", estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_products', '[{"product": 21, "week": 9, "kind": "a", "a \"note\"": {"b": [1]}}, {"product": 21, "week": 9}, {"product": "21", "week": "9", "kind": "z"}]'::jsonb);
SELECT task, status FROM wml_forecast('cast_products', '{"product": 21, "week": 9, "kind": "a"}'::jsonb, level => 0.5);
SELECT count(*) FROM wml_forecast('cast_products', '[]'::jsonb);
SELECT wml_forecast('cast_products', '[{"product": 21, "week": 9}]'::jsonb);
SELECT wml_forecast('cast_products', '[1]'::jsonb);
SELECT wml_forecast('cast_products', '"SELECT 1"'::jsonb);
SELECT wml_forecast('cast_products', NULL::jsonb);
SELECT wml_forecast('cast_products', '{"product": "x", "week": 9, "kind": "a"}'::jsonb);

-- a value that cannot be computed is the matter of its row alone
CREATE DOMAIN cast_week AS int CHECK (VALUE < 100);
CREATE TYPE cast_size AS ENUM ('small', 'large');
CREATE TABLE cast_typed AS SELECT product, week::cast_week, kind, (ARRAY['small', 'large'])[1 + week % 2]::cast_size AS size, (week + 1)::numeric AS age, units FROM cast_sales;
SELECT tasks FROM wml_learn('cast_values', 'cast_typed', task => 'product', response => 'units', features => 'kind, size, week, ln(age) AS log_age', rehearse => 8);
CREATE TABLE cast_asked (n int, product text, week text, kind text, size text, age text);
INSERT INTO cast_asked VALUES (1, '1', '9', 'a', 'small', '10'), (2, 'one', '9', 'a', 'small', '10'), (3, '2', '1000', 'a', 'small', '10'), (4, '2', '9', 'a', 'small', '-1'),
	(5, '2', '9', 'a', 'small', 'old'), (6, '2', '1e400', 'a', 'small', '10'), (7, '2', '9', 'z', 'tiny', '10'), (8, '2', NULL, 'a', 'small', '10'), (9, NULL, '9', 'a', 'large', '10'), (10, '1', ' 9 ', 'a', 'small', '1e1');
SELECT n, f.task, (f."row" ->> 'n')::int = n AS in_order, estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_values', 'SELECT * FROM cast_asked ORDER BY n') WITH ORDINALITY AS f (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n) ORDER BY n;
-- whatever the method; what can be computed is what it is without the other rows
SELECT method, count(*) AS rows, count(f.estimate) AS estimated, bool_and(f.estimate IS NOT DISTINCT FROM alone.estimate AND f.upper IS NOT DISTINCT FROM alone.upper) AS same
FROM unnest('{prior,tune,erm}'::text[]) AS method, wml_forecast('cast_values', 'SELECT * FROM cast_asked ORDER BY n', method => method) AS f
	LEFT JOIN LATERAL wml_forecast('cast_values', 'SELECT * FROM cast_asked WHERE n IN (1, 9, 10) ORDER BY n', method => method) AS alone ON alone."row" = f."row" GROUP BY method ORDER BY method;
-- objects, where a number may be text
SELECT task, estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_values', '[{"product": 1, "week": 9, "kind": "a", "size": "small", "age": 10}, {"product": 1.5, "week": 9, "kind": "a", "size": "small", "age": 10},
	{"product": "1", "week": "9", "kind": "a", "size": "small", "age": "10"}, {"product": 1, "week": true, "kind": "a", "size": "small", "age": 10},
	{"product": 1, "week": {}, "kind": "a", "size": "small", "age": 10}, {"product": 1, "week": 9, "kind": ["a"], "size": "small", "age": 10}, {"product": 1, "kind": "a", "size": 3, "age": null}]');
SELECT count(*) FROM wml_forecast('cast_values', ' {"product": 1, "week": 9, "kind": "a", "size": "small", "age": 10}');
SELECT wml_forecast('cast_values', '[{}]');
SELECT wml_forecast('cast_values', '[{}]'::jsonb);
SELECT wml_forecast('cast_values', '[');
-- not of one row: a column without a cast, and what the query itself does
SELECT wml_forecast('cast_values', 'SELECT 1 AS product, point(1, 2) AS week, ''a'' AS kind, ''small'' AS size, 10 AS age');
SELECT wml_forecast('cast_values', 'SELECT 1 AS product, 1 / 0 AS week, ''a'' AS kind, ''small'' AS size, 10 AS age');
-- an exposure, too
CREATE TABLE cast_counts AS SELECT product, week, 10 AS days, (product + week) % 5 AS sold FROM cast_sales;
SELECT tasks FROM wml_learn('cast_rates', 'cast_counts', task => 'product', response => 'sold', features => 'week', family => 'poisson', exposure => 'sqrt(days)', rehearse => 0);
SELECT task, estimate IS NOT NULL AS estimated, status FROM wml_forecast('cast_rates', 'SELECT 1 AS product, 9 AS week, days FROM (VALUES (''10''), (''x''), (''-4''), (''0''), (NULL)) AS v (days)');
SELECT wml_drop('cast_values'), wml_drop('cast_rates');
DROP TABLE cast_typed, cast_asked, cast_counts;
DROP TYPE cast_week, cast_size;

-- the function behind it: errors about values only, and its statements may change
SELECT n, wml_first_failure(ARRAY['SELECT $1', 'SELECT 1 / $1', 'SELECT sqrt($2)'], n, x) AS first FROM (VALUES (1, 4.0::float8), (0, 4), (1, -1), (NULL, NULL)) AS v (n, x);
SELECT wml_first_failure(ARRAY['SELECT 1 / ($1 - ' || i || ')'], i % 2) AS first FROM generate_series(0, 3) AS i;
SELECT wml_first_failure(NULL, 1), wml_first_failure('{}', 1);
SELECT wml_first_failure(ARRAY[NULL], 1);
SELECT wml_first_failure(ARRAY['SELECT $1'], 'unknown');
-- the hint is the server's, which has changed it
\set VERBOSITY terse
SELECT wml_first_failure(ARRAY['SELECT cast_nowhere($1)'], 1);
\set VERBOSITY default
SELECT wml_first_failure(ARRAY['DELETE FROM cast_sales WHERE product = $1'], 1);
CREATE FUNCTION cast_refuse(int) RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'not about values'; END$$;
SELECT wml_first_failure(ARRAY['SELECT cast_refuse($1)'], 1);
DROP FUNCTION cast_refuse;

-- refused
SELECT wml_forecast('cast_products', 'SELECT 21 AS product');
SELECT wml_forecast('cast_products', 'cast_nowhere');
SELECT wml_forecast('cast_products', 'DELETE FROM cast_sales RETURNING *');
SELECT wml_forecast('cast_products', 'WITH d AS (DELETE FROM cast_sales RETURNING *) SELECT * FROM d');
SELECT wml_forecast('cast_products', 'SELECT * FROM cast_rows; DELETE FROM cast_sales');
SELECT wml_forecast('cast_products', 'SELECT * FROM cast_rows) AS q; DELETE FROM cast_sales; --');
SELECT wml_forecast('cast_products', 'cast_rows', level => 1);
SELECT wml_forecast('cast_products', 'cast_rows', level => 'NaN');
SELECT wml_forecast('cast_products', 'cast_rows', method => 'magic');
SELECT wml_forecast('cast_nothing', 'cast_rows');
SELECT wml_rehearse('cast_products', 0);
SELECT wml_rehearse('cast_products', 1000);
SELECT count(*) AS still_there FROM cast_sales;

-- tuned by target, and by rehearsal
SELECT f.task, f.model = concat_ws(' ', t.model, CASE WHEN t.model NOT IN ('prior', 'robust') THEN t.weights END) AS model, abs(f.estimate - p.estimate) < 1e-9 AS estimate, abs(f.upper - p.upper) < 1e-9 AS upper, status
FROM wml_forecast('cast_products', 'SELECT 21 AS product, 9 AS week, ''a'' AS kind', method => 'tune') AS f,
	(SELECT array_agg(gram ORDER BY product) AS sources FROM cast_products WHERE product < 21) AS s,
	(SELECT array_agg(gram ORDER BY product) AS windows FROM (SELECT product, wml_gram(ARRAY[1, (kind = 'b')::int, (kind = 'c')::int, sin(week / 8.0)], units) AS gram
		FROM cast_sales WHERE product < 21 AND week <= 8 GROUP BY product) AS w) AS w,
	(SELECT gram AS target FROM cast_products WHERE product = 21) AS k, wml_tune(sources, target, windows) AS t, wml_predict_interval(t, ARRAY[1, 0, 0, sin(9 / 8.0)]) AS p;
SELECT task, model, status FROM wml_forecast('cast_products', 'SELECT 21 AS product, 9 AS week, ''a'' AS kind', method => 'stack');
SELECT model IS NOT NULL AS model, against_all_alike < 1 AS better_than_all_alike, against_task_alone > 0 AS against_task_alone FROM wml_rehearse('cast_products', 8);
SELECT method ->> 'known' AS known, method ->> 'tasks' AS tasks FROM wml_task_set WHERE set_name = 'cast_products';
SELECT task, abs(estimate - (2 + 6 * sin(week / 8.0) + week % 3)) < 2 AS near, status
FROM wml_forecast('cast_products', 'SELECT * FROM cast_rows WHERE product > 20 AND week = 51'), LATERAL (SELECT ("row" ->> 'week')::int AS week) AS w;
SELECT part, count(*) > 0 AS some, count(value) = count(*) AS valued FROM wml_explain('cast_products', 21) GROUP BY part ORDER BY part;
SELECT bool_and(value > 0) AS positive, sum(value) <= 1 + 1e-9 AS shares FROM wml_explain('cast_products', '21') WHERE part = 'source';
SELECT item, error > 0 AS error, shared IS NOT NULL AS shared FROM wml_explain('cast_products', 21) WHERE part = 'coefficient';
SELECT part, item FROM wml_explain('cast_products', '-1');

-- rehearsed without being asked, as far as that is sensible
SELECT tasks FROM wml_learn('cast_again', 'cast_sales', task => 'product', response => 'units', features => 'kind, sin(week / 8.0) AS season', along => 'week', replace => true);
SELECT method ->> 'automatic' AS automatic, method ->> 'known' AS known, method ->> 'tasks' AS tasks FROM wml_task_set WHERE set_name = 'cast_again';
SELECT v.method = concat_ws(' ', s.method ->> 'model', s.method ->> 'weights') AS method, v.against_all_alike < 1 AS better_than_all_alike, v.against_task_alone > 0 AS against_task_alone
FROM wml_task_sets AS v JOIN wml_task_set AS s USING (set_name) WHERE set_name = 'cast_again';
UPDATE wml_task_set SET method = jsonb_set(method, '{known}', '"3"') WHERE set_name = 'cast_again';
SELECT tasks FROM wml_refresh('cast_again');
SELECT method ->> 'known' AS known FROM wml_task_set WHERE set_name = 'cast_again';
-- the method that was rehearsed for a target with few rows, any for one with many
UPDATE wml_task_set SET method = jsonb_build_object('known', 8, 'model', 'stack', 'weights', 'stacked') WHERE set_name = 'cast_again';
SELECT task, model, status FROM wml_forecast('cast_again', 'SELECT * FROM cast_rows WHERE product IN (20, 21, 22) AND week = 51');
SELECT DISTINCT item FROM wml_explain('cast_again', 21) WHERE part = 'rehearsal';
-- those with many rows share a choice, which depends neither on who else is forecast nor on whether it is explained
UPDATE wml_task_set SET method = jsonb_build_object('known', 2, 'model', 'stack', 'weights', 'stacked') WHERE set_name = 'cast_again';
CREATE VIEW cast_asked AS SELECT * FROM cast_rows WHERE product < 22 AND week = 51;
SELECT count(*) AS forecasts, bool_and(a.model = alone.model AND a.estimate = alone.estimate AND a.upper = alone.upper) AS same_alone, bool_and(e.item LIKE a.model || ' against%') AS same_explained
FROM wml_forecast('cast_again', 'cast_asked') AS a, wml_forecast('cast_again', 'SELECT * FROM cast_asked WHERE product = ' || a.task) AS alone,
	LATERAL (SELECT item FROM wml_explain('cast_again', a.task) WHERE part = 'rehearsal' LIMIT 1) AS e;
SELECT count(DISTINCT c.choice) AS choices, bool_and(c.choice = wml_tuned_method(wml_tune(known.grams[2:], known.grams[1], known.windows[2:]))) AS best_for_the_first
FROM (SELECT d FROM wml_task_set AS d WHERE set_name = 'cast_again') AS s, wml_task_sources(d, '1', NULL) AS known, unnest(known.keys) AS key, wml_task_choice(d, key, known.keys, known.grams, known.windows, '{}') AS c;
DROP VIEW cast_asked;
SELECT tasks FROM wml_learn('cast_again', 'cast_sales', task => 'product', response => 'units', features => 'kind', along => 'week', replace => true, rehearse => 0);
SELECT tasks FROM wml_refresh('cast_again');
SELECT v.method, v.against_all_alike, s.method FROM wml_task_sets AS v JOIN wml_task_set AS s USING (set_name) WHERE set_name = 'cast_again';
CREATE TABLE cast_many AS SELECT task, sin(task * 7 + i) AS z, task % 11 + (task % 3) * sin(task * 7 + i) + 0.3 * sin(task * 78.233 + i * 12.9898) AS y FROM generate_series(1, 301) AS task, generate_series(1, 12) AS i;
SELECT tasks FROM wml_learn('cast_again', 'cast_many', task => 'task', response => 'y', replace => true);
SELECT method ->> 'model' AS model, method ->> 'tasks' AS tasks, (method ->> 'against_all_alike')::float8 < 0.5 AS better FROM wml_task_set WHERE set_name = 'cast_again';
SELECT count(*), min(model) AS model FROM wml_forecast('cast_again', 'cast_many');
SELECT tasks FROM wml_learn('cast_again', 'cast_many', task => 'task % 4', response => 'y', features => 'z', replace => true);
SELECT v.method, s.method FROM wml_task_sets AS v JOIN wml_task_set AS s USING (set_name) WHERE set_name = 'cast_again';
SELECT wml_drop('cast_again');
DROP TABLE cast_many;

-- the inverse of the response, its mean, and a range
CREATE TABLE cast_log AS SELECT i % 8 AS task, sin(i) AS z, exp(1 + 0.1 * (i % 8) + sin(i) * 0.5 + 0.3 * sin(i * 78.233 + cos(i))) AS y, 0.1 * sin(i * 37.1) AS small FROM generate_series(1, 400) AS i;
SELECT tasks FROM wml_learn('cast_logs', 'cast_log', task => 'task', response => 'ln(y)', inverse => 'exp(y)', features => 'z', range => '[0,4.5]');
SELECT tasks FROM wml_learn('cast_plain', 'cast_log', task => 'task', response => 'ln(y)', features => 'z');
SELECT bool_and(abs(l.estimate - least(exp(p.estimate), 4.5)) < 1e-9) AS median, bool_and(abs(l.lower - least(exp(p.lower), 4.5)) < 1e-9) AS lower, bool_and(l.upper <= 4.5) AS range,
	bool_and(l.mean = 4.5 OR abs(l.mean / exp(p.estimate + ((s.upper - s.lower) / 2) ^ 2 / 2) - 1) < 1e-6) AS mean, count(*) FILTER (WHERE l.upper = 4.5) > 0 AS bounded
FROM wml_forecast('cast_logs', 'SELECT * FROM cast_log LIMIT 100') WITH ORDINALITY AS l (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n)
	JOIN wml_forecast('cast_plain', 'SELECT * FROM cast_log LIMIT 100') WITH ORDINALITY AS p (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n) USING (n)
	JOIN wml_forecast('cast_plain', 'SELECT * FROM cast_log LIMIT 100', level => 0.6826894921370859) WITH ORDINALITY AS s (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n) USING (n);
-- a decreasing inverse
SELECT tasks FROM wml_learn('cast_plain', 'cast_log', task => 'task', response => '1 / y', inverse => '1 / y', features => 'z', replace => true);
SELECT bool_and(lower <= estimate AND estimate <= upper AND mean_lower <= estimate AND estimate <= mean_upper) AS ordered
FROM wml_forecast('cast_plain', 'SELECT * FROM cast_log LIMIT 100') WHERE lower > 0 AND upper < 20;
-- one task is too few
SELECT tasks FROM wml_learn('cast_plain', 'cast_log', task => '1', response => 'y', features => 'z', replace => true);
SELECT task, estimate, status FROM wml_forecast('cast_plain', 'SELECT 1 AS z');

-- too few rows to tell anything
CREATE TABLE cast_few (key uuid, a int, b int, y int, day int);
INSERT INTO cast_few VALUES (md5('1')::uuid, 1, 2, 3, 1), (md5('2')::uuid, 2, 1, 4, 1), (md5('1')::uuid, 2, 2, 5, 2);
SELECT tasks FROM wml_learn('cast_keys', 'cast_few', task => 'key', response => 'y', features => 'a, b');
SELECT task, estimate, model, status FROM wml_forecast('cast_keys', 'SELECT md5(''1'')::uuid AS key, 1 AS a, 2 AS b');
SELECT count(*) FROM wml_explain('cast_keys', md5('1')::uuid);

-- keys of any type, words in any case, rows that are none, and a column that is gone
INSERT INTO cast_few SELECT md5((i % 8)::text)::uuid, i % 5, i % 3, i % 7 + 3 * (i % 8), i FROM generate_series(1, 80) AS i;
SELECT tasks FROM wml_learn('cast_keys', 'cast_few', task => 'key', response => 'y', features => 'a, b', along => 'day', replace => true);
SELECT count(*) FILTER (WHERE part = 'rows' AND value = 12) AS known, count(*) FILTER (WHERE part = 'source') > 0 AS learned FROM wml_explain('cast_keys', md5('1')::uuid);
SELECT model FROM wml_forecast('cast_keys', 'cast_few', method => 'PRIOR') LIMIT 1;
SELECT count(*) FROM wml_forecast('cast_keys', NULL::text);
SELECT count(*) FROM wml_forecast('cast_keys', '');
ALTER TABLE cast_few DROP b CASCADE;
SELECT count(*) FROM wml_forecast('cast_keys', 'SELECT md5(''1'')::uuid AS key, 1 AS a, 2 AS b', method => 'erm');
SELECT wml_drop('cast_keys');
DROP TABLE cast_few;

-- rights, and a hostile search_path
CREATE ROLE cast_reader;
GRANT SELECT ON cast_products, cast_rows TO cast_reader;
SET ROLE cast_reader;
SELECT count(estimate) FROM wml_forecast('cast_products', 'cast_rows', method => 'prior');
SELECT count(estimate) FROM wml_forecast('cast_logs', 'SELECT 1 AS task, 1 AS z', method => 'prior');
RESET ROLE;
CREATE SCHEMA cast_trap;
CREATE FUNCTION cast_trap.spring(text, text) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''sprung''; END';
CREATE OPERATOR cast_trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = cast_trap.spring);
CREATE OPERATOR cast_trap.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = cast_trap.spring);
CREATE FUNCTION cast_trap.join_text(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''sprung''; END';
CREATE OPERATOR cast_trap.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = cast_trap.join_text);
CREATE FUNCTION cast_trap.format(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''sprung''; END';
CREATE FUNCTION cast_trap.wml_n(wml_gram) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''sprung''; END';
SET search_path = cast_trap, public, pg_catalog;
SELECT tasks FROM wml_learn('public.cast_again', 'cast_sales', task => 'product', response => 'units', features => 'kind, week', live => true, rehearse => 8);
INSERT INTO cast_sales VALUES (21, 9, 'a', 8);
SELECT count(*) FROM wml_check('cast_again');
SELECT status FROM wml_forecast('cast_again', 'SELECT 21 AS product, 10 AS week, ''a''::text AS kind', method => 'tune');
SELECT count(*) > 0 AS explained FROM wml_explain('cast_again', 21);
SELECT tasks FROM wml_refresh('cast_again');
SELECT count(*) FROM wml_task_sets;
SELECT wml_fold('cast_again');
SELECT wml_drop('cast_again');
RESET search_path;
DROP SCHEMA cast_trap CASCADE;

SELECT wml_drop(set_name) FROM wml_task_set WHERE set_name LIKE 'cast%';
DROP TABLE cast_sales, cast_rows, cast_prior, cast_log;
DROP ROLE cast_reader;

-- an interval has no day of the year
CREATE TABLE cast_span (task int, span interval, clock time, y float8);
SELECT wml_learn('cast_never', 'cast_span', task => 'task', response => 'y', features => 'span');
SELECT wml_learn('cast_never', 'cast_span', task => 'task', response => 'y', features => 'clock');
DROP TABLE cast_span;

-- the level is that of all other intervals
CREATE TABLE cast_level AS SELECT task, i, task % 3 + i * 0.5 + sin(task * 12.9898 + i * 78.233) AS y FROM generate_series(1, 320) AS task, generate_series(1, 5) AS i;
SELECT tasks FROM wml_learn('cast_levels', 'cast_level', task => 'task', response => 'y', features => 'i', along => 'i');
SELECT by_default.lower = explicit.lower AND by_default.upper = explicit.upper AS same
FROM wml_forecast('cast_levels', 'SELECT 1 AS task, 6 AS i') AS by_default, wml_forecast('cast_levels', 'SELECT 1 AS task, 6 AS i', level => 0.95) AS explicit;
SELECT wml_drop('cast_levels');

-- with more tasks than are tuned one by one, the prior serves all, even where they are alike and joint training does as well
UPDATE cast_level SET y = i * 0.5 + sin(task * 12.9898 + i * 78.233);
SELECT tasks FROM wml_learn('cast_alike', 'cast_level', task => 'task', response => 'y', features => 'i', along => 'i');
SELECT method FROM wml_task_sets WHERE set_name = 'cast_alike';
SELECT wml_drop('cast_alike');
DROP TABLE cast_level;

-- labels that an enum does not know have a status, as unknown categories do; other rows are forecast
CREATE TYPE cast_size AS ENUM ('small', 'large');
CREATE TABLE cast_sized AS SELECT t AS task, i, (ARRAY['small', 'large'])[1 + i % 2]::cast_size AS size, t % 4 + i % 2 + sin(t * 12.9898 + i * 78.233) AS y
FROM generate_series(1, 8) AS t, generate_series(1, 12) AS i;
SELECT coefficients FROM wml_learn('cast_sizes', 'cast_sized', task => 'task', response => 'y', features => 'size');
SELECT task, estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_sizes', $$SELECT * FROM (VALUES (1, 'small'), (1, 'huge'), (1, NULL), (9, 'large')) AS v (task, size)$$);
SELECT task, estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_sizes', jsonb '[{"task": 1, "size": "small"}, {"task": 1, "size": "huge"}, {"task": 1, "size": null}]');
SELECT count(*) AS estimated FROM wml_forecast('cast_sizes', 'SELECT * FROM cast_sized WHERE task = 1') WHERE status = 'ok';
-- a task that does not exist is explained as a new one, and that is said
SET client_min_messages = notice;
SELECT part, item, value FROM wml_explain('cast_sizes', 9) WHERE part = 'rows';
SELECT part, item, value FROM wml_explain('cast_sizes', 8) WHERE part = 'rows';
RESET client_min_messages;
SELECT wml_drop('cast_sizes');

-- arrays of another length or of more dimensions than those that were learned; an object's key that names no column
CREATE TABLE cast_listed AS SELECT t AS task, i, ARRAY[i % 3, cos(i)] AS list, t % 4 + i % 3 + sin(t * 12.9898 + i * 78.233) AS y
FROM generate_series(1, 8) AS t, generate_series(1, 12) AS i;
SELECT coefficients FROM wml_learn('cast_lists', 'cast_listed', task => 'task', response => 'y', features => 'list');
SELECT row ->> 'list' AS list, estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_lists', $$SELECT 1 AS task, list::float8[] FROM unnest('{"{1,2}", "{1}", "{1,2,3}", "{}", NULL, "{1,NULL}", "{1,NaN}"}'::text[]) AS list$$);
SELECT row -> 'list' AS list, estimate IS NOT NULL AS estimated, status
FROM wml_forecast('cast_lists', '[{"task": 1, "list": [1, 2], "": 3}, {"task": 1, "list": [[1, 2], [3, 4]]}, {"task": 1, "list": [1]}, {"task": 1, "list": 1}]');
SELECT wml_drop('cast_lists');
DROP TABLE cast_listed;

-- answers that nobody can hold in the response's own units
CREATE TABLE cast_grown AS SELECT t AS task, i, exp(3 * t + sin(t * i) + i / 10.0 * t)::float8 AS y, (7 * t * i) % 5 AS count, 1.0 AS hours
FROM generate_series(1, 4) AS t, generate_series(1, 12) AS i;
SELECT tasks FROM wml_learn('cast_sizes', 'cast_grown', task => 'task', response => 'ln(y)', features => 'i', inverse => 'exp(y)', range => '[0,)');
SELECT task, estimate IS NOT NULL AS estimated, mean IS NOT NULL AS has_mean, status
FROM wml_forecast('cast_sizes', '[{"task": 1, "i": 5}, {"task": 1, "i": 1e4}, {"task": 9, "i": -1e4}, {"task": 1, "i": "x"}, {"task": 9, "i": 5}]');
SELECT wml_drop('cast_sizes');
SELECT tasks FROM wml_learn('cast_sizes', 'cast_grown', task => 'task', response => 'count', features => 'i', family => 'poisson', exposure => 'hours');
SELECT task, estimate IS NOT NULL AS estimated, upper IS NOT NULL AS bounded, status
FROM wml_forecast('cast_sizes', '[{"task": 1, "i": 5, "hours": 1}, {"task": 1, "i": 5, "hours": 1e308}, {"task": 1, "i": "x", "hours": 1}, {"task": 1, "hours": 1}]');
SELECT wml_drop('cast_sizes');
DROP TABLE cast_grown;

-- neither the response nor, as a category, the task is a feature; a number may be both task and feature
SELECT wml_learn('cast_self', 'cast_sized', task => 'task', response => 'y', features => 'size, y');
SELECT wml_learn('cast_self', 'cast_sized', task => 'task', response => 'y + 1', features => 'size, y + 1 AS next');
SELECT wml_learn('cast_self', 'cast_sized', task => 'task', response => 'y > 1', features => 'size, y > 1 AS more', family => 'binomial');
SELECT wml_learn('cast_self', 'cast_sized', task => 'task::text', response => 'y', features => 'size, task::text');
SELECT coefficients FROM wml_learn('cast_self', 'cast_sized', task => 'task', response => 'y', features => 'size, task, sin(y) AS other');
SELECT wml_drop('cast_self');
DROP TABLE cast_sized;
DROP TYPE cast_size;

-- many levels: the same in all tasks, the largest categories first; the forecast is that of the prior made by hand
CREATE TABLE level_sale AS
SELECT i % 9 AS shop, 'c' || i * i % 47 AS kind, 'd' || i % 6 AS size, i % 7 / 7.0 AS price,
	sin(i % 9) * (i % 7) + cos(i * i % 47) + sin(i * 0.7) AS units
FROM generate_series(1, 900) AS i;
SET client_min_messages = notice;
SET wml.progress = off;
SELECT tasks, rows, cardinality(coefficients) FROM wml_learn('level_set', 'level_sale', task => 'shop', response => 'units', features => 'size, kind, price', levels => (SELECT jsonb_build_object('kind', jsonb_agg(DISTINCT 'c' || i)) FROM generate_series(0, 46) AS i));
SELECT o.* FROM wml_task_set AS s, wml_task_prior_options(s) AS o WHERE set_name = 'level_set';
SET client_min_messages = warning;
SELECT count(*) >= 20 AS found, max(abs(f.estimate - p.estimate)) < 1e-9 AS same_estimates, max(abs(f.upper - p.upper)) < 1e-9 AS same_bounds
FROM wml_forecast('level_set', 'SELECT * FROM level_sale LIMIT 20') AS f,
	(SELECT wml_prior(array_agg(gram ORDER BY shop), method => 'reml', evenness => 7, smooth => '{7-52}') AS prior FROM level_set) AS fit,
	level_set AS known JOIN level_set_rows AS r ON r.task = known.shop,
	wml_predict_interval(prior, gram, r.x, 0.95) AS p
WHERE known.shop = f.task::int AND r.x = wml_features(1, wml_category(f.row ->> 'size', '{d0,d1,d2,d3,d4,d5}'), wml_category(f.row ->> 'kind', (SELECT array_agg(DISTINCT 'c' || i) FROM generate_series(0, 46) AS i)), (f.row ->> 'price')::float8)
	AND (f.row ->> 'units')::float8 = r.y;
-- of too many features of another kind, each varies by itself
SELECT cardinality(coefficients) FROM wml_learn('wave_set', 'level_sale', task => 'shop', response => 'units', features => 'wml_rff(ARRAY[price, units], 45, 1, 1) AS wave, size', rehearse => 0);
SELECT o.* FROM wml_task_set AS s, wml_task_prior_options(s) AS o WHERE set_name = 'wave_set';
SELECT wml_drop('level_set');
SELECT wml_drop('wave_set');
DROP TABLE level_sale;

-- a task that is larger than all others is not forecast from these alike: its own rows tell what suits it
CREATE TABLE large_rows AS
SELECT task, week, (20 + 5 * task) * exp(CASE WHEN task % 2 = 0 THEN 0.02 ELSE -0.02 END * week) + sin(task * 12.9898 + week * 78.233) AS y
FROM generate_series(1, 30) AS task, generate_series(1, 40) AS week
UNION ALL
SELECT 99, week, 900 * exp(0.02 * week) + 9 * sin(week * 78.233) FROM generate_series(1, 36, 5) AS week;
SELECT tasks FROM wml_learn('large_set', 'large_rows', task => 'task', response => 'y', features => 'week / 40.0 AS week', rehearse => 8);
SELECT method, abs(estimate / (900 * exp(0.4)) - 1) < 0.25 AS near
FROM unnest(ARRAY[NULL, 'erm', 'prior']) AS method, wml_forecast('large_set', 'SELECT 99 AS task, 20 AS week', 0.9, method);
-- a temporary table of the user's has the name of a pseudo-type
CREATE TEMP TABLE record (task int);
SELECT status FROM wml_forecast('large_set', 'SELECT 99 AS task, 20 AS week');
DROP TABLE record;
SELECT wml_drop('large_set');
DROP TABLE large_rows;
