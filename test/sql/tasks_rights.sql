-- What one role writes about task sets, another one must not run unasked.
\set SHOW_CONTEXT never
CREATE ROLE rights_owner;
CREATE ROLE rights_stranger;
CREATE SCHEMA rights_owner AUTHORIZATION rights_owner;
CREATE SCHEMA rights_stranger AUTHORIZATION rights_stranger;
GRANT USAGE ON SCHEMA rights_owner, rights_stranger TO PUBLIC;
CREATE TABLE sprung (role text, what text);
GRANT INSERT ON sprung TO PUBLIC;
CREATE TABLE rights_owner.sales AS SELECT i % 5 AS shop, sin(i) AS price, cos(i) AS units FROM generate_series(1, 100) AS i;
ALTER TABLE rights_owner.sales OWNER TO rights_owner;

SET ROLE rights_stranger;
CREATE FUNCTION rights_stranger.spring(what text) RETURNS int LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO sprung VALUES (current_user, what); RETURN 1; END $$;
CREATE FUNCTION rights_stranger.describe(schema_name text, set_name text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO wml_task_set (schema_name, set_name, relation, key, key_type, equality, task, response, features, expression, parts, columns, live, family, learned)
	VALUES (schema_name, set_name, 'pg_class', 'shop', 'int', 'OPERATOR(pg_catalog.=)', 'rights_stranger.spring(''task'')', '1', '{constant}',
		'wml_features(rights_stranger.spring(''features''))', '[]', '{"price": "float8"}', 'no', 'gaussian', now())
$$;

-- a description where the stranger could not make the table
SELECT rights_stranger.describe('rights_owner', 'shops');
SELECT rights_stranger.describe('pg_catalog', 'shops');
-- where nobody can: not kept
SELECT rights_stranger.describe('no_such', 'shops');
SELECT count(*) FROM wml_task_set;
-- nor is one moved there
SELECT rights_stranger.describe('rights_stranger', 'shops');
UPDATE wml_task_set SET schema_name = 'rights_owner';
UPDATE wml_task_set SET schema_name = 'no_such';

-- in the place of a table: a view, a table whose rows a function chooses, a column of another type
CREATE VIEW rights_stranger.shops AS SELECT rights_stranger.spring('view') AS shop, NULL::wml_gram AS gram;
SELECT rights_stranger.describe('rights_stranger', 'policy');
CREATE TABLE rights_stranger.policy (shop int, gram wml_gram);
INSERT INTO rights_stranger.policy SELECT 1, wml_gram(ARRAY[1], 1);
ALTER TABLE rights_stranger.policy ENABLE ROW LEVEL SECURITY;
CREATE POLICY trap ON rights_stranger.policy USING (rights_stranger.spring('policy') = 1);
SELECT rights_stranger.describe('rights_stranger', 'cast');
CREATE TYPE rights_stranger.other AS (n int);
CREATE FUNCTION rights_stranger.other_gram(rights_stranger.other) RETURNS wml_gram LANGUAGE sql AS $$SELECT NULL::wml_gram FROM rights_stranger.spring('cast')$$;
CREATE CAST (rights_stranger.other AS wml_gram) WITH FUNCTION rights_stranger.other_gram AS IMPLICIT;
CREATE TABLE rights_stranger.cast AS SELECT 1 AS shop, '(1)'::rights_stranger.other AS gram;
GRANT SELECT ON ALL TABLES IN SCHEMA rights_stranger TO PUBLIC;
-- descriptions that could not be read
UPDATE wml_task_set SET method = '{"against_all_alike": "none", "against_task_alone": 1e400}' WHERE set_name = 'policy';
UPDATE wml_task_set SET method = '{"against_all_alike": 1e-400, "against_task_alone": 0.5}' WHERE set_name = 'cast';
UPDATE wml_task_set SET method = '[3]' WHERE set_name = 'shops';
UPDATE wml_task_set SET learned = 'infinity' WHERE set_name = 'policy';
RESET ROLE;
SELECT schema_name, set_name, tasks, "rows", against_all_alike, against_task_alone FROM wml_task_sets;
SET ROLE rights_owner;
SELECT schema_name, set_name, tasks, "rows" FROM wml_task_sets;
-- in a schema that is nobody else's
SET ROLE rights_stranger;
REVOKE USAGE ON SCHEMA rights_stranger FROM PUBLIC;
SET ROLE rights_owner;
SELECT schema_name, set_name, tasks, "rows", live FROM wml_task_sets;
SET ROLE rights_stranger;
GRANT USAGE ON SCHEMA rights_stranger TO PUBLIC;
RESET ROLE;
SELECT * FROM sprung;

-- a table that is one can be listed
SET ROLE rights_owner;
SET search_path = rights_owner, public;
SELECT tasks FROM wml_learn('shops', 'sales', 'shop', 'units', 'price', live => true);
SELECT schema_name, set_name, tasks, "rows", waiting FROM wml_task_sets WHERE schema_name = 'rights_owner';
GRANT SELECT, INSERT ON rights_owner.sales TO rights_stranger;

-- who may write rows cannot keep them from the task set
SET ROLE rights_stranger;
BEGIN;
SELECT wml_live_enter('rights_owner.shops');
ROLLBACK;
SELECT wml_live_leave('rights_owner.shops');
SELECT wml_live_leave('rights_owner.shops', true);
INSERT INTO rights_owner.sales VALUES (1, 2, 3);
SET ROLE rights_owner;
SELECT count(*) AS wrong FROM wml_check('shops');

-- nor do their triggers become somebody else's who has more rights
RESET ROLE;
SELECT wml_refresh('rights_owner.shops');

-- operators that are found before the server's do not run
SET ROLE rights_stranger;
CREATE FUNCTION rights_stranger.compare(float8, float8) RETURNS bool LANGUAGE sql AS $$SELECT rights_stranger.spring('float8') = 1$$;
CREATE FUNCTION rights_stranger.compare(int, int) RETURNS bool LANGUAGE sql AS $$SELECT rights_stranger.spring('int') OPERATOR(pg_catalog.=) 1$$;
CREATE FUNCTION rights_stranger.compare(text, text) RETURNS bool LANGUAGE sql AS $$SELECT rights_stranger.spring('text') OPERATOR(pg_catalog.=) 1$$;
CREATE FUNCTION rights_stranger.compare(float8, numeric) RETURNS bool LANGUAGE sql AS $$SELECT rights_stranger.spring('numeric') OPERATOR(pg_catalog.=) 1$$;
CREATE OPERATOR rights_stranger.< (LEFTARG = float8, RIGHTARG = numeric, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.< (LEFTARG = float8, RIGHTARG = float8, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.> (LEFTARG = float8, RIGHTARG = float8, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.= (LEFTARG = int, RIGHTARG = int, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.= (LEFTARG = text, RIGHTARG = text, FUNCTION = rights_stranger.compare);
CREATE FUNCTION rights_stranger.compare(varchar, varchar) RETURNS bool LANGUAGE sql AS $$SELECT rights_stranger.spring('varchar') OPERATOR(pg_catalog.=) 1$$;
CREATE OPERATOR rights_stranger.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.<= (LEFTARG = float8, RIGHTARG = float8, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.> (LEFTARG = int, RIGHTARG = int, FUNCTION = rights_stranger.compare);
CREATE OPERATOR rights_stranger.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = rights_stranger.compare);
-- nor do types
CREATE FUNCTION rights_stranger.check_type(anyelement) RETURNS bool LANGUAGE sql AS $$SELECT rights_stranger.spring('type') OPERATOR(pg_catalog.=) 1$$;
CREATE DOMAIN rights_stranger.text AS pg_catalog.text CHECK (rights_stranger.check_type(VALUE));
CREATE DOMAIN rights_stranger.float8 AS pg_catalog.float8 CHECK (rights_stranger.check_type(VALUE));
CREATE DOMAIN rights_stranger.jsonb AS pg_catalog.jsonb CHECK (rights_stranger.check_type(VALUE));
SET ROLE rights_owner;
SET search_path = rights_stranger, rights_owner, public, pg_catalog;
SET client_min_messages = error;
SELECT status FROM wml_forecast('rights_owner.shops', 'SELECT 1 AS shop, 0.5 AS price');
SELECT status FROM wml_forecast('rights_owner.shops', 'SELECT 1 AS shop, NULL::pg_catalog.float8 AS price');
SELECT status FROM wml_forecast('rights_owner.shops', 'SELECT 1 AS shop, 0.5 AS price', method => 'tune');
SELECT status FROM wml_forecast('rights_owner.shops', '{"shop": 1, "price": 0.5}'::pg_catalog.jsonb);
SELECT part FROM wml_explain('rights_owner.shops', '1') LIMIT 1;
SELECT (wml_prior_info(wml_glm_prior($$SELECT shop, ARRAY[1, price], (units OPERATOR(pg_catalog.>) 0)::int FROM sales$$, reread => true, iterations => 3))).dims;
CALL wml_glm_iterate('rights_owner.iterated', 'rights_owner.sales', 'shop::varchar', 'ARRAY[1, price]', '(units OPERATOR(pg_catalog.>) 0)::int', iterations => 2);
SELECT tasks FROM wml_refresh('rights_owner.shops');
SELECT count(*) AS wrong FROM wml_check('rights_owner.shops');
RESET search_path;
RESET client_min_messages;
SELECT wml_drop('rights_owner.shops');
RESET ROLE;
SELECT * FROM sprung;

-- what only has the name of something of a task set stays
SET ROLE rights_owner;
SET search_path = rights_owner, public;
CREATE FUNCTION rights_owner.depot_fold() RETURNS void LANGUAGE sql AS '';
CREATE TABLE rights_owner.depot_pending AS SELECT 'mine' AS content;
SELECT tasks FROM wml_learn('depot', 'sales', 'shop', 'units', 'price', live => true);
SELECT tasks FROM wml_learn('depot', 'sales', 'shop', 'units', 'price');
SELECT tasks FROM wml_learn('depot', 'sales', 'shop', 'units', 'price', replace => true);
DROP VIEW depot_rows;
CREATE VIEW depot_rows AS SELECT 'mine' AS content;
SELECT wml_drop('depot');
SELECT content, to_regclass('depot') IS NULL AS dropped, to_regprocedure('depot_fold()') FROM depot_pending JOIN depot_rows USING (content);
DROP TABLE depot_pending;
DROP VIEW depot_rows;
SELECT tasks FROM wml_learn('depot', 'sales', 'shop', 'units', 'price');
DROP TABLE depot;
CREATE TABLE depot AS SELECT 'mine' AS content;
SELECT tasks FROM wml_learn('depot', 'sales', 'shop', 'units', 'price', replace => true);
SELECT wml_drop('depot');
SELECT content, to_regclass('depot_rows') FROM depot;
RESET search_path;
RESET ROLE;

DROP SCHEMA rights_owner, rights_stranger CASCADE;
-- what is left of a schema can be deleted by anyone, and be written again by none
SET ROLE rights_owner;
SELECT count(*) FROM wml_task_set;
DELETE FROM wml_task_set;
RESET ROLE;
DROP TABLE sprung;
DROP ROLE rights_owner, rights_stranger;
