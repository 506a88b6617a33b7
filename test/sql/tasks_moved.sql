-- Task sets whose rows, tables, columns or schemas get other names
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA moved;
SET search_path = moved, public;
CREATE TABLE sales AS SELECT shop, sin(shop * 7 + i) AS p, cos(shop + i * 3) AS y FROM generate_series(1, 10) AS shop, generate_series(1, 10) AS i;

-- another table takes the name: triggers stay with the rows that are counted
SELECT tasks FROM wml_learn('m', 'sales', task => 'shop', response => 'y', features => 'p', live => true);
CREATE TABLE sales_new (LIKE sales);
ALTER TABLE sales RENAME TO sales_old;
ALTER TABLE sales_new RENAME TO sales;
SELECT relation FROM wml_task_sets WHERE set_name = 'm';
SELECT tasks, rows FROM wml_refresh('m');
SELECT relation FROM public.wml_task_set WHERE set_name = 'm';
SELECT tgrelid::regclass, count(*) FROM pg_trigger WHERE tgname LIKE 'm\_%' GROUP BY 1;
INSERT INTO sales SELECT 99, 1, 1 FROM generate_series(1, 50);
INSERT INTO sales_old VALUES (1, 0.5, 1), (11, 0.5, 1);
SELECT shop, wml_n(gram) FROM m WHERE shop IN (1, 11, 99) ORDER BY shop;
SELECT count(*) AS wrong FROM wml_check('m');
SELECT wml_drop('m');
SELECT count(*) AS triggers FROM pg_trigger WHERE tgname LIKE 'm\_%';

-- columns: who renames one hears of it when rows are written, and when the task set is counted again
SELECT tasks FROM wml_learn('m', 'sales_old', task => 'shop', response => 'y', features => 'p', live => true);
ALTER TABLE sales_old RENAME y TO units;
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT wml_refresh('m');
ALTER TABLE sales_old RENAME units TO y;
SELECT rows FROM wml_refresh('m');

-- the schema: no row is lost in silence, and wml_refresh follows
ALTER SCHEMA moved RENAME TO moved_away;
SET search_path = moved_away, public;
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT relation FROM wml_task_sets WHERE set_name = 'm';
SELECT rows FROM wml_refresh('moved_away.m');
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT schema_name, relation, rows FROM wml_task_sets WHERE set_name = 'm';
SELECT count(*) AS wrong FROM wml_check('m');
-- and so does wml_drop
ALTER SCHEMA moved_away RENAME TO moved;
SET search_path = moved, public;
SELECT wml_drop('m');
SELECT count(*) AS left_behind FROM pg_class WHERE relname LIKE 'm\_%' AND relnamespace = 'moved'::regnamespace;
INSERT INTO sales_old VALUES (1, 0.5, 1);

-- the task table: rows are refused until it is clear what is wanted
SELECT tasks FROM wml_learn('m', 'sales_old', task => 'shop', response => 'y', features => 'p', live => true);
ALTER TABLE m RENAME TO n;
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT wml_drop('m');
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT count(*) FROM n;
DROP TABLE n;
-- one that was dropped needs nothing
SELECT tasks FROM wml_learn('m', 'sales_old', task => 'shop', response => 'y', features => 'p', live => true);
DROP TABLE m;
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT live, relation FROM wml_task_sets WHERE set_name = 'm';
SELECT wml_learn('m', 'sales_old', task => 'shop', response => 'y', features => 'p');
SELECT wml_drop('m');

-- what waits to be added has lost its place
SELECT tasks FROM wml_learn('m', 'sales_old', task => 'shop', response => 'y', features => 'p', append => true);
DROP TABLE m_pending;
INSERT INTO sales_old VALUES (1, 0.5, 1);
SELECT wml_drop('m');

-- the task table, and then the count
SELECT tasks FROM wml_learn('m', 'sales_old', task => 'shop', response => 'y', features => 'p');
ALTER TABLE m RENAME TO n;
SELECT wml_refresh('m');
ALTER TABLE n RENAME TO m;
SELECT tasks FROM wml_refresh('m');
SELECT wml_drop('m');

-- two schemas exchange their names: neither task set takes up the other's rows
CREATE SCHEMA moved_too;
CREATE TABLE moved_too.sales_old AS SELECT * FROM sales_old;
SELECT tasks FROM wml_learn('moved.m', 'moved.sales_old', task => 'shop', response => 'y', features => 'p', live => true);
SELECT tasks FROM wml_learn('moved_too.m', 'moved_too.sales_old', task => 'shop', response => 'y', features => 'p', append => true);
ALTER SCHEMA moved RENAME TO moved_away;
ALTER SCHEMA moved_too RENAME TO moved;
ALTER SCHEMA moved_away RENAME TO moved_too;
INSERT INTO moved.sales_old VALUES (1, 0.5, 1);
INSERT INTO moved_too.sales_old VALUES (1, 0.5, 1);
SELECT wml_refresh('moved.m');
SELECT tasks FROM wml_learn('moved.m', 'moved.sales_old', task => 'shop', response => 'y', features => 'p', live => true, replace => true);
INSERT INTO moved.sales_old VALUES (1, 0.5, 1);
SELECT count(*) AS wrong FROM wml_check('moved.m');
SELECT wml_drop('moved.m');
SELECT wml_drop('moved_too.m');
INSERT INTO moved_too.sales_old VALUES (1, 0.5, 1);
DROP SCHEMA moved_too CASCADE;
-- a schema that is renamed after the task table was dropped stops nobody, either
SELECT tasks FROM wml_learn('moved.m', 'moved.sales_old', task => 'shop', response => 'y', features => 'p', live => true);
DROP TABLE m;
ALTER SCHEMA moved RENAME TO moved_away;
INSERT INTO moved_away.sales_old VALUES (1, 0.5, 1);
ALTER SCHEMA moved_away RENAME TO moved;
SELECT wml_drop('m');

-- a task set without a column has nothing to forecast from
SELECT wml_learn('m', 'sales_old', task => '1', response => 'y', features => '');

DROP SCHEMA moved CASCADE;
