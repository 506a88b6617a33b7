-- Live task sets: whatever happens to the rows, every gram is that of a recount
SET client_min_messages = warning;
\set SHOW_CONTEXT never

CREATE TABLE live_sales (id int PRIMARY KEY, shop int, week int, price float8, kind text, units float8);
INSERT INTO live_sales SELECT i, i % 10, i / 10, 3 + sin(i), (ARRAY['a', 'b', 'c'])[1 + i % 3], cos(i) FROM generate_series(1, 300) AS i;
CREATE INDEX ON live_sales (shop);
SELECT tasks, rows FROM wml_learn('live_shops', 'live_sales', task => 'shop', response => 'units', features => 'price, kind, week', live => true);
CREATE FUNCTION live_state(OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint, OUT wrong bigint, OUT pending bigint, OUT carried bigint) LANGUAGE sql AS $$
SELECT count(*), sum(wml_n(gram)), sum(wml_skipped(gram)), (SELECT count(*) FROM wml_check('live_shops')), (SELECT count(*) FROM live_shops_pending),
	count(removed) FROM live_shops
$$;

INSERT INTO live_sales VALUES (301, 1, 31, 2.5, 'a', 1), (302, 77, 31, 2.5, 'b', 1);
SELECT * FROM live_state();
-- the key, a NULL, a feature
UPDATE live_sales SET shop = 78 WHERE id IN (301, 302);
UPDATE live_sales SET shop = NULL WHERE id = 5;
UPDATE live_sales SET price = NULL WHERE id BETWEEN 20 AND 24;
UPDATE live_sales SET kind = 'unseen' WHERE id = 30;
SELECT * FROM live_state();
UPDATE live_sales SET price = 1.5 WHERE price IS NULL;
UPDATE live_sales SET kind = 'b', shop = coalesce(shop, 3) WHERE kind = 'unseen' OR shop IS NULL;
SELECT * FROM live_state();
DELETE FROM live_sales WHERE shop = 78;
SELECT * FROM live_state();
-- NaN, infinity and huge rows come and go
INSERT INTO live_sales VALUES (401, 1, 1, 'NaN', 'a', 1), (402, 2, 1, 1, 'a', 'Infinity'), (403, 3, 1, 1e12, 'a', -1e12), (404, 4, 1, 1e200, 'a', 1);
SELECT * FROM live_state();
UPDATE live_sales SET units = units + 0.25 WHERE shop < 5 AND id < 400;
DELETE FROM live_sales WHERE id > 400;
SELECT * FROM live_state();
SELECT bool_and(wml_second_moment(gram)::text !~ 'NaN|Inf') AS finite FROM live_shops;
-- a sum that falls little by little loses as many digits
INSERT INTO live_sales SELECT 500 + i, 1, 1, 10.0 ^ i, 'b', 0 FROM generate_series(1, 12) AS i;
DELETE FROM live_sales WHERE id = 512; DELETE FROM live_sales WHERE id = 511; DELETE FROM live_sales WHERE id = 510;
DELETE FROM live_sales WHERE id = 509; DELETE FROM live_sales WHERE id = 508; DELETE FROM live_sales WHERE id = 507;
DELETE FROM live_sales WHERE id > 500;
SELECT * FROM live_state();
-- upserts that change and insert, MERGE-like statements, with what has to be counted anew among it
INSERT INTO live_sales SELECT id + 200, (shop + 1) % 10, week, price + 1, kind, units FROM live_sales ON CONFLICT (id) DO UPDATE SET price = excluded.price, shop = excluded.shop;
SELECT * FROM live_state();
INSERT INTO live_sales SELECT id + 300, shop, week, 'NaN', kind, units FROM live_sales WHERE id > 150 ON CONFLICT (id) DO UPDATE SET price = excluded.price;
INSERT INTO live_sales SELECT id + 50, shop, week, 2, kind, units FROM live_sales WHERE price = 'NaN' ON CONFLICT (id) DO UPDATE SET price = 2.5;
SELECT * FROM live_state();
WITH gone AS (DELETE FROM live_sales WHERE id > 600 OR price = 'NaN'), new AS (INSERT INTO live_sales SELECT -i, i % 5, 3, 1e13, 'c', 1e13 FROM generate_series(1, 20) AS i),
	changed AS (UPDATE live_sales SET units = -units WHERE id BETWEEN 1 AND 100) SELECT;
SELECT * FROM live_state();
WITH gone AS (DELETE FROM live_sales WHERE id < 0), new AS (INSERT INTO live_sales SELECT 2000 + i, 50 + i, 3, 1, 'c', 3 FROM generate_series(1, 20) AS i),
	changed AS (UPDATE live_sales SET units = -units WHERE id BETWEEN 1 AND 100) SELECT;
SELECT * FROM live_state();
INSERT INTO live_sales SELECT 2000, 1, 1, 1, 'a', 1 WHERE false ON CONFLICT DO NOTHING;
-- rollbacks and savepoints
BEGIN;
INSERT INTO live_sales VALUES (3001, 1, 1, 1, 'a', 1);
SAVEPOINT one;
DELETE FROM live_sales WHERE shop = 1;
SELECT * FROM live_state();
ROLLBACK TO one;
UPDATE live_sales SET shop = 2 WHERE id = 3001;
INSERT INTO live_sales VALUES (3001, 1, 1, 1, 'a', 1);
ROLLBACK TO one;
TRUNCATE live_sales;
SELECT * FROM live_state();
ROLLBACK TO one;
SELECT * FROM live_state();
ROLLBACK;
SELECT * FROM live_state();
-- an upsert that fails between its triggers, caught
CREATE FUNCTION live_fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
CREATE TRIGGER live_shops_z AFTER UPDATE ON live_sales FOR EACH STATEMENT EXECUTE FUNCTION live_fail();
DO $$ BEGIN
	INSERT INTO live_sales SELECT id + 1, shop, week, price, kind, units FROM live_sales WHERE id < 20 ON CONFLICT (id) DO UPDATE SET price = 1;
EXCEPTION WHEN raise_exception THEN
	INSERT INTO live_sales VALUES (4001, 1, 1, 1, 'a', 1);
END $$;
DROP TRIGGER live_shops_z ON live_sales;
SELECT * FROM live_state();
-- a trigger of the user's that writes more rows, some to be counted anew
CREATE FUNCTION live_more() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.id < 10000 THEN
		DELETE FROM live_sales WHERE id = NEW.id - 5000;
		INSERT INTO live_sales VALUES (NEW.id + 10000, NEW.shop + 1, 1, 'NaN', 'a', 1);
		UPDATE live_sales SET price = 3 WHERE id = NEW.id + 10000;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER live_more AFTER INSERT ON live_sales FOR EACH ROW EXECUTE FUNCTION live_more();
INSERT INTO live_sales SELECT 5000 + i, i % 4, 1, 'NaN', 'a', 2 FROM generate_series(1, 30) AS i;
SELECT * FROM live_state();
DROP TRIGGER live_more ON live_sales;
DELETE FROM live_sales WHERE price = 'NaN';
SELECT * FROM live_state();
-- a cascade
CREATE TABLE live_shop AS SELECT DISTINCT shop FROM live_sales;
ALTER TABLE live_shop ADD PRIMARY KEY (shop);
ALTER TABLE live_sales ADD FOREIGN KEY (shop) REFERENCES live_shop ON DELETE CASCADE ON UPDATE CASCADE;
DELETE FROM live_shop WHERE shop IN (1, 2, 3);
UPDATE live_shop SET shop = shop + 1000;
SELECT * FROM live_state();
-- COPY
COPY live_sales FROM stdin;
9001	1004	1	2	a	3
9002	1005	1	2	a	3
\.
SELECT * FROM live_state();
-- a dropped column, a dropped table
ALTER TABLE live_sales DROP COLUMN price;
BEGIN;
ALTER TABLE live_sales DROP COLUMN price CASCADE;
SAVEPOINT dropped;
INSERT INTO live_sales VALUES (9003, 1004, 1, 'a', 3);
ROLLBACK TO dropped;
SELECT wml_check('live_shops');
ROLLBACK TO dropped;
SELECT wml_refresh('live_shops');
ROLLBACK TO dropped;
SELECT wml_rehearse('live_shops', 3);
ROLLBACK TO dropped;
SELECT wml_drop('live_shops');
INSERT INTO live_sales VALUES (9003, 1004, 1, 'a', 3);
ROLLBACK;
BEGIN;
DROP TABLE live_shops;
INSERT INTO live_sales VALUES (9003, 1004, 1, 2, 'a', 3) ON CONFLICT (id) DO UPDATE SET week = 2;
DELETE FROM live_sales WHERE id = 9003;
SELECT live FROM wml_task_sets;
SELECT wml_drop('live_shops');
ROLLBACK;
SELECT * FROM live_state();
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT wml_refresh('live_shops');
ROLLBACK;
-- a disabled trigger is found out
ALTER TABLE live_sales DISABLE TRIGGER live_shops_insert;
INSERT INTO live_sales VALUES (9004, 1004, 1, 2, 'a', 3);
ALTER TABLE live_sales ENABLE TRIGGER live_shops_insert;
TRUNCATE live_sales;
SELECT * FROM live_state();
INSERT INTO live_sales VALUES (1, 1004, 1, 2, 'a', 3);
SELECT * FROM live_state();
SELECT wml_drop('live_shops');

-- partitions, written through the root and by themselves
CREATE TABLE live_parted (shop int, week int, price float8, units float8) PARTITION BY RANGE (week);
CREATE TABLE live_p1 PARTITION OF live_parted FOR VALUES FROM (0) TO (10);
CREATE TABLE live_p2 PARTITION OF live_parted FOR VALUES FROM (10) TO (100) PARTITION BY LIST (shop);
CREATE TABLE live_p3 PARTITION OF live_p2 DEFAULT;
INSERT INTO live_parted SELECT i % 5, i % 40, sin(i), cos(i) FROM generate_series(1, 400) AS i;
SELECT tasks, rows FROM wml_learn('live_shops', 'live_parted', task => 'shop', response => 'units', features => 'price, week', live => true);
INSERT INTO live_parted VALUES (1, 5, 1, 1), (2, 50, 1, 1);
INSERT INTO live_p1 VALUES (1, 6, 1, 1), (7, 6, 1, 1);
INSERT INTO live_p2 VALUES (1, 16, 1, 1);
UPDATE live_parted SET week = week + 5, price = price * 2;
UPDATE live_p3 SET price = price + 1;
DELETE FROM live_p1 WHERE shop = 7;
SELECT * FROM live_state();
-- what is left of a task after a truncation may have to be counted anew
INSERT INTO live_p1 SELECT 1, i, 1e13, 1e13 FROM generate_series(1, 5) AS i;
TRUNCATE live_p1;
SELECT * FROM live_state();
CREATE TABLE live_p4 (LIKE live_parted);
INSERT INTO live_p4 VALUES (1, 105, 1, 1);
ALTER TABLE live_parted ATTACH PARTITION live_p4 FOR VALUES FROM (100) TO (200);
SELECT wrong FROM live_state();
SELECT * FROM wml_refresh('live_shops');
INSERT INTO live_p4 VALUES (1, 106, 1, 2);
SELECT * FROM live_state();
TRUNCATE live_parted;
SELECT * FROM live_state();
SELECT wml_drop('live_shops');

-- appended, then folded
TRUNCATE live_sales;
INSERT INTO live_sales SELECT i, NULL, i / 10, 3 + sin(i), (ARRAY['a', 'b', 'c'])[1 + i % 3], cos(i) FROM generate_series(1, 300) AS i;
ALTER TABLE live_sales DROP CONSTRAINT live_sales_shop_fkey;
UPDATE live_sales SET shop = id % 10;
SELECT tasks, rows FROM wml_learn('live_shops', 'live_sales', task => 'shop', response => 'units', features => 'price, kind, week', append => true);
INSERT INTO live_sales SELECT id + 200, (shop + 1) % 12, week, price + 1, kind, units FROM live_sales ON CONFLICT (id) DO UPDATE SET price = excluded.price, shop = excluded.shop;
UPDATE live_sales SET price = 'NaN' WHERE id = 7;
UPDATE live_sales SET price = 1 WHERE id = 7;
DELETE FROM live_sales WHERE shop = 4;
SELECT wrong, pending > 0 AS pending FROM live_state();
SELECT wml_fold('live_shops') > 0 AS folded;
SELECT * FROM live_state();
INSERT INTO live_sales VALUES (-1, 1, 1, 1e13, 'a', 1);
SELECT wml_fold('live_shops');
DELETE FROM live_sales WHERE id = -1;
SELECT wrong FROM live_state();
SELECT wml_fold('live_shops');
SELECT * FROM live_state();
TRUNCATE live_sales;
SELECT wml_fold('live_shops') > 0 AS folded;
SELECT * FROM live_state();
SELECT wml_drop('live_shops');

DROP TABLE live_sales, live_shop, live_parted;
DROP FUNCTION live_state, live_fail, live_more;
