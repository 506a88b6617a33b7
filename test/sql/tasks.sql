-- Task sets: learning, features by name, what is refused
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SET extra_float_digits = 0;

CREATE TYPE task_size AS ENUM ('small', 'medium', 'large');
CREATE TABLE task_sales AS
SELECT shop, week, 10 + (shop * 7 + week * 3) % 5 + 0.49 AS price, week % 4 = 0 AS promo, (ARRAY['garden', 'home', 'toys'])[1 + (shop + week) % 3] AS kind,
	(ARRAY['small', 'medium', 'large'])[1 + (shop * week) % 3]::task_size AS size, date '2026-01-01' + week * 7 AS day,
	20 + shop % 7 + 3 * sin(week / 8.0) + sin(week * 12.9898 + shop * 78.233) AS units, 'x' AS same
FROM generate_series(1, 12) AS shop, generate_series(1, 60) AS week;

-- features

SELECT wml_features(1, 2::smallint, 3::bigint, 4.5::real, 5.25, 6::float8, true, false, '{7,8}'::float8[], '{}'::float8[]);
SELECT wml_features(1, NULL::int) IS NULL AS null_number, wml_features(1, '{1,NULL}'::float8[]) IS NULL AS null_element, wml_features(1, NULL::float8[]) IS NULL AS null_array;
SELECT wml_features('{}'::float8[], '{}'::float8[]);
SELECT wml_expressions(0::oid::regclass, '1', 'public');
SELECT wml_features(1, 'a'::text);
SELECT wml_features(1, now());
SELECT wml_features(VARIADIC ARRAY[1, 2]);
SELECT wml_features(1, '{{1,2},{3,4}}'::float8[]);
SELECT kind, wml_category(kind, '{home,garden,toys}') FROM (VALUES ('home'), ('garden'), ('toys'), ('other'), (NULL)) AS k (kind);
SELECT count(DISTINCT wml_category('c' || i % 30, levels)) AS different, bool_and((wml_category('c' || i % 30, levels))[i % 30] = 1 OR i % 30 = 0) AS in_place
FROM generate_series(1, 90) AS i, (SELECT array_agg('c' || l ORDER BY l) AS levels FROM generate_series(0, 29) AS l) AS l;
SELECT wml_category('a', '{a}');
SELECT wml_category('a', '{a,NULL}');
SELECT wml_category('a', '{b,a,a}');

-- a task set

SELECT * FROM wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units',
	features => 'price, promo, kind, size, ln(price) AS log_price, wml_fourier(week, 52, 2) AS season');
SELECT wml_features(1, price, promo, wml_category(kind, '{garden,home,toys}'), wml_category(size::text, '{small,medium,large}'), ln(price), (wml_fourier(week, 52, 2))[2:])
	= x AS by_name FROM task_shops_rows, task_sales WHERE task = 1 AND y = units LIMIT 1;
SELECT count(*) AS tasks, bool_and(gram = (SELECT wml_gram(ARRAY[1, price, promo::int, (kind = 'home')::int, (kind = 'toys')::int,
	(size = 'medium')::int, (size = 'large')::int, ln(price)]::float8[] || (wml_fourier(week, 52, 2))[2:], units) FROM task_sales AS s WHERE s.shop = t.shop)) AS same
FROM task_shops AS t;
SELECT set_name, relation, tasks, rows, skipped, features, live FROM wml_task_sets;
SELECT count(*) AS wrong FROM wml_check('task_shops');
INSERT INTO task_sales SELECT * FROM task_sales WHERE shop = 3;
SELECT task, kept_rows, counted_rows FROM wml_check('task_shops');
SELECT * FROM wml_refresh('task_shops');
SELECT count(*) AS wrong FROM wml_check('task_shops');

-- tasks are counted in parallel: a price that only workers see
CREATE FUNCTION task_in_worker(leader int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN (pg_backend_pid() <> leader)::int; END';
SELECT pg_backend_pid() AS leader \gset
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT tasks FROM wml_learn('task_parallel', 'task_sales', task => 'shop', response => 'units', features => format('task_in_worker(%s) * price AS price', :leader), rehearse => 0);
SELECT bool_and(gram = (SELECT wml_gram(ARRAY[1, price], units) FROM task_sales AS s WHERE s.shop = t.shop)) AS by_workers FROM task_parallel AS t;
SELECT tasks FROM wml_refresh('task_parallel');
SELECT bool_and(gram = (SELECT wml_gram(ARRAY[1, price], units) FROM task_sales AS s WHERE s.shop = t.shop)) AS by_workers FROM task_parallel AS t;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET parallel_leader_participation;
SELECT wml_drop('task_parallel');
DROP FUNCTION task_in_worker;

-- levels of one's own, a reference of one's own, all columns
SELECT wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units', features => 'price');
SELECT coefficients FROM wml_learn('task_shops', 'task_sales', task => 'shop', response => 'ln(units)', inverse => 'exp(y)', range => '[0,)', replace => true,
	features => 'kind', levels => '{"kind": ["toys", "home", "garden", "food"]}');
SELECT coefficients FROM wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units', features => 'kind', replace => true,
	levels => '{"kind": ["toys", "home", "garden"]}');
CREATE VIEW task_plain AS SELECT shop, price, promo, units FROM task_sales;
SELECT coefficients FROM wml_learn('task_shops', 'task_plain', task => 'shop', response => 'units', replace => true);

-- an unseen category and NULL: the row is skipped and counted
INSERT INTO task_sales SELECT shop, week, price, promo, 'food', size, day, units, same FROM task_sales WHERE shop = 1 AND week = 1;
INSERT INTO task_sales SELECT shop, week, NULL, promo, kind, size, day, units, same FROM task_sales WHERE shop = 2 AND week = 1;
INSERT INTO task_sales SELECT NULL, week, price, promo, kind, size, day, units, same FROM task_sales WHERE shop = 2 AND week = 2;
SELECT tasks, rows, skipped FROM wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units', features => 'price, kind', replace => true,
	levels => '{"kind": ["toys", "home", "garden"]}');
SELECT shop, wml_n(gram), wml_skipped(gram) FROM task_shops WHERE wml_skipped(gram) > 0 ORDER BY shop;
SELECT wml_drop('task_shops');
DELETE FROM task_sales WHERE kind = 'food' OR price IS NULL OR shop IS NULL;

-- a feature with little spread beside its size is not constant
SELECT coefficients FROM wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units',
	features => 'week + 20240100 AS ymd, (week + 1700000000::bigint) * 1000000 AS microseconds, 1e-9 * week + 1 AS near_one');
SELECT wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units', features => 'week, 0 * week + 20240100.1 AS ymd', replace => true);
SELECT wml_drop('task_shops');
-- without features the constant remains
SELECT coefficients FROM wml_learn('task_shops', 'task_sales', task => 'shop', response => 'units', features => ' ', live => true);
SELECT bool_and(gram = (SELECT wml_gram(ARRAY[1]::float8[], units) FROM task_sales AS s WHERE s.shop = t.shop)) AS same FROM task_shops AS t;
SELECT status, lower < estimate AND estimate < upper AS within FROM wml_forecast('task_shops', 'SELECT * FROM (VALUES (1), (99)) AS v (shop)');
SELECT part, item FROM wml_explain('task_shops', 1) WHERE part = 'coefficient';
SELECT wml_drop('task_shops');
CREATE TABLE task_bare AS SELECT shop, units FROM task_sales;
SELECT coefficients FROM wml_learn('task_shops', 'task_bare', task => 'shop', response => 'units');
SELECT wml_drop('task_shops');
DROP TABLE task_bare;

-- what is refused leaves nothing behind
SELECT wml_learn('task_bad', 'task_nowhere', 'shop', 'units', 'price');
SELECT wml_learn('task_bad', 'task_sales', 'shp', 'units', 'price');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'kind', 'price');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, day');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, same');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, 3 AS three');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, price * 2 AS price');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, ARRAY[day]');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'random()');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, date_part(''epoch'', now() - day)', live => true);
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price FROM task_sales; DROP TABLE task_sales');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price; DROP TABLE task_sales');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price), (1');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', '(SELECT 1)');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', '*');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'task_sales.*');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', '(ROW(price, 1)).*');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'max(price)');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'generate_series(1, 3)');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'task_sales');
SELECT wml_learn('task_bad', 'task_sales', 'ARRAY[shop]', 'units', 'price');
SELECT wml_learn('task_bad', 'task_sales', 'shop, week', 'units', 'price');
SELECT wml_learn('task_bad', 'task_sales', NULL, 'units', 'price');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price', family => 'poisson-ish');
SELECT wml_learn('task_sales', 'task_sales', 'shop', 'units', 'price');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price', range => 'empty');
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price, kind', levels => '{"knd": ["toys", "home"]}');
SELECT wml_learn('pg_temp.task_bad', 'task_sales', 'shop', 'units', 'price');
CREATE TEMP TABLE task_passing AS SELECT * FROM task_sales;
SELECT wml_learn('task_bad', 'task_passing', 'shop', 'units', 'price');
DROP TABLE task_passing;
SELECT wml_learn(repeat('x', 56), 'task_sales', 'shop', 'units', 'price');
SELECT wml_learn('task_bad', 'task_plain', 'shop', 'units', 'price', live => true);
SELECT wml_check('task_bad');
SELECT wml_drop('task_bad');
SELECT count(*) AS left_behind FROM pg_class WHERE relname LIKE 'task\_bad%';

-- names that need quoting
CREATE SCHEMA "Odd %s";
CREATE TABLE "Odd %s"."Sa""les" ("The %I" text, "select" int, "y y" float8);
INSERT INTO "Odd %s"."Sa""les" SELECT 'k' || i % 3, i % 7, sin(i) FROM generate_series(1, 60) AS i;
SELECT * FROM wml_learn('"Odd %s"."Ta''sks"', '"Odd %s"."Sa""les"', task => '"The %I"', response => '"y y"', features => '"select", "select" % 4 AS "re%st"', live => true);
INSERT INTO "Odd %s"."Sa""les" VALUES ('k9', 3, 0.5), ('k1', 2, 0.1);
UPDATE "Odd %s"."Sa""les" SET "y y" = "y y" + 1 WHERE "select" = 3;
SELECT count(*) AS wrong FROM wml_check('"Odd %s"."Ta''sks"');
SELECT wml_drop('"Odd %s"."Ta''sks"');
DROP SCHEMA "Odd %s" CASCADE;

-- rights
CREATE ROLE task_owner;
CREATE ROLE task_writer;
CREATE ROLE task_stranger;
GRANT CREATE ON SCHEMA public TO task_owner, task_stranger;
SET ROLE task_stranger;
SELECT wml_learn('task_bad', 'task_sales', 'shop', 'units', 'price');
RESET ROLE;
GRANT SELECT ON task_sales TO task_owner;
SET ROLE task_owner;
SELECT tasks FROM wml_learn('task_shops', 'task_sales', 'shop', 'units', 'price');
SELECT wml_drop('task_shops');
SELECT tasks FROM wml_learn('task_shops', 'task_sales', 'shop', 'units', 'price', live => true);
RESET ROLE;
GRANT TRIGGER ON task_sales TO task_owner;
SET ROLE task_owner;
SELECT tasks FROM wml_learn('task_shops', 'task_sales', 'shop', 'units', 'price', live => true);
RESET ROLE;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON task_sales TO task_writer;
SET ROLE task_writer;
SELECT count(*) FROM task_shops;
INSERT INTO task_sales (shop, price, units) VALUES (1, 10, 20), (99, 11, 21);
UPDATE task_sales SET price = price + 1 WHERE week = 7;
DELETE FROM task_sales WHERE week = 8;
SELECT task_shops_fold();
CREATE TEMP TABLE forged (LIKE task_sales);
CREATE TRIGGER forged AFTER INSERT ON forged REFERENCING NEW TABLE AS wml_new FOR EACH STATEMENT EXECUTE FUNCTION task_shops_keep();
SELECT wml_live_enter('public.task_shops');
UPDATE wml_task_set SET expression = 'hack()' WHERE set_name = 'task_shops';
DELETE FROM wml_task_set;
INSERT INTO wml_task_set SELECT * FROM wml_task_set;
SELECT wml_drop('task_shops');
RESET ROLE;
SELECT count(*) AS wrong FROM wml_check('task_shops');
SET ROLE task_owner;
BEGIN;
SELECT wml_live_enter('public.task_shops');
COMMIT;
SELECT wml_live_leave('public.task_shops');
SELECT wml_drop('task_shops');
RESET ROLE;
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'task_sales'::regclass;

DROP VIEW task_plain;
DROP TABLE task_sales;
DROP TABLE forged;
DROP TYPE task_size;
REVOKE CREATE ON SCHEMA public FROM task_owner, task_stranger;
DROP ROLE task_owner, task_writer, task_stranger;
