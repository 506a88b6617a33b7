-- Eager aggregation (PostgreSQL 19): grams are collected below a join, and one and the same is combined
-- as often as the join repeats its rows.  Elsewhere the settings do not exist, and the join comes first.

CREATE TABLE seen (place int, x float8[], y float8);
INSERT INTO seen SELECT i % 10, ARRAY[1, sin(i), i * 1e3], cos(i) * 1e4 FROM generate_series(1, 20000) AS i;
CREATE TABLE label (place int, name text);
INSERT INTO label SELECT i % 10, 'label ' || i % 3 FROM generate_series(1, 200) AS i;
ANALYZE seen, label;

CREATE FUNCTION eager_plan(query text) RETURNS bool AS $$
DECLARE
	line text;
	joined bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		joined := joined OR line ~ 'Join|Nested Loop';
		IF joined AND line ~ 'Partial' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$ LANGUAGE plpgsql;

SET max_parallel_workers_per_gather = 0;
CREATE TABLE late AS SELECT false AS eager, name, wml_gram(x, y) AS gram FROM seen JOIN label USING (place) WHERE false GROUP BY name;
SELECT count(set_config(name, 'off', false)) >= 0 AS set FROM pg_settings WHERE name = 'enable_eager_aggregate';
INSERT INTO late SELECT false, name, wml_gram(x, y) FROM seen JOIN label USING (place) GROUP BY name;
SELECT count(set_config(name, value, false)) >= 0 AS set
FROM pg_settings JOIN (VALUES ('enable_eager_aggregate', 'on'), ('min_eager_agg_group_size', '0')) AS wanted (name, value) USING (name);
INSERT INTO late SELECT true, name, wml_gram(x, y) FROM seen JOIN label USING (place) GROUP BY name;

SELECT eager_plan('SELECT name, wml_gram(x, y) FROM seen JOIN label USING (place) GROUP BY name') = (current_setting('server_version_num')::int >= 190000) AS as_expected;
-- the state of wml_auc grows with the rows, so that the server must not
SELECT eager_plan('SELECT name, wml_auc(y, y > 0) FROM seen JOIN label USING (place) GROUP BY name') AS auc;

-- every figure, from so many combinations of one gram
SELECT name, l.gram = e.gram AS same, wml_n(e.gram) FROM late AS l JOIN late AS e USING (name) WHERE NOT l.eager AND e.eager ORDER BY name;
SELECT name, l.gram = repeated.gram AS same
FROM late AS l JOIN (
	SELECT name, wml_merge(gram) AS gram
	FROM (SELECT place, wml_gram(x, y) AS gram FROM seen GROUP BY place) AS by_place JOIN label USING (place) GROUP BY name) AS repeated USING (name)
WHERE NOT eager ORDER BY name;

DROP TABLE late, seen, label;
DROP FUNCTION eager_plan;
