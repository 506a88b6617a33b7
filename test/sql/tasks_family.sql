-- Task sets of yes or no and of counts: what the functions beneath say, by name and in one statement
SET client_min_messages = warning;
\set SHOW_CONTEXT never

CREATE FUNCTION noise(VARIADIC int[]) RETURNS float8 LANGUAGE sql IMMUTABLE
AS $$ SELECT ('x' || left(md5($1::text), 8))::bit(32)::int / 2147483648.0 $$;
CREATE TABLE family_visit AS
SELECT shop, day, a, (ARRAY['app', 'card'])[1 + day % 2] AS paid, 1 + day % 3 AS hours,
	1 / (1 + exp(-(noise(shop, 9) + (1 + 0.5 * noise(shop, 8)) * a))) > (1 + noise(shop, day, 3)) / 2 AS buys,
	floor(-ln((1.0000001 + noise(shop, day, 5)) / 2) * exp(0.5 + noise(shop, 9) + 0.5 * a) * (1 + day % 3))::int AS visits
FROM generate_series(1, 20) AS shop, generate_series(1, 30) AS day, LATERAL (SELECT 2 * noise(shop, day, 1) AS a) AS property
WHERE shop <> 7 OR day <= 10;
CREATE INDEX ON family_visit (shop);

-- yes or no

SELECT * FROM wml_learn('family_shops', 'family_visit', task => 'shop', response => 'buys', features => 'a, paid', along => 'day', family => 'Binomial', live => true);
CREATE TABLE family_prior AS SELECT wml_glm_prior('SELECT shop, ARRAY[1, a, (paid = ''card'')::int]::float8[], buys::int::float8 FROM family_visit', method => 'reml', evenness => 3) AS prior;
CREATE TABLE family_asked AS SELECT shop, day, day / 2.0 - 1 AS a, (ARRAY['app', 'card'])[1 + day % 2] AS paid FROM generate_series(6, 21, 5) AS shop, generate_series(1, 4) AS day;
SELECT count(*) AS rows, max(abs(f.estimate - p.probability) + abs(f.lower - p.lower) + abs(f.upper - p.upper)) < 1e-6 AS same,
	bool_and(0 <= f.lower AND f.lower < f.estimate AND f.estimate < f.upper AND f.upper <= 1) AS probabilities,
	bool_and(f.mean = f.estimate AND f.mean_lower = f.lower AND f.mean_upper = f.upper) AS one_interval, string_agg(DISTINCT f.status, ', ') AS status
FROM wml_forecast('family_shops', 'family_asked', level => 0.8) WITH ORDINALITY AS f (task, "row", estimate, lower, upper, mean_lower, mean_upper, mean, model, status, n)
	JOIN (SELECT row_number() OVER () AS n, * FROM family_asked) AS r USING (n), family_prior,
	LATERAL (SELECT wml_target_gram(ARRAY[1, v.a, (v.paid = 'card')::int], v.buys::int, prior) AS gram FROM family_visit AS v WHERE v.shop = r.shop) AS own,
	wml_predict_probability(prior, gram, ARRAY[1, a, (paid = 'card')::int], 0.8) AS p;
SELECT task, estimate IS NOT NULL AS estimated, model, status
FROM wml_forecast('family_shops', $$SELECT * FROM (VALUES (7, 0.5, 'app'), (7, NULL, 'app'), (7, 0.5, 'cash'), (99, 0.5, 'app'), (7, 'NaN', 'app')) AS v (shop, a, paid)$$);
SELECT part, item, value IS NOT NULL AS value, error IS NOT NULL AS error, shared IS NOT NULL AS shared FROM wml_explain('family_shops', 7) WHERE part <> 'source';
SELECT bool_and(abs(r.value / exp(c.value) - 1) < 1e-12 AND abs(r.shared / exp(c.shared) - 1) < 1e-12 AND abs(r.error / (r.value * c.error) - 1) < 1e-12) AS ratios, count(*)
FROM wml_explain('family_shops', 7) AS c JOIN wml_explain('family_shops', 7) AS r USING (item) WHERE c.part = 'coefficient' AND r.part = 'odds ratio';
-- in units so large that no float8 holds the odds ratio of one
SELECT tasks FROM wml_learn('family_units', 'family_visit', task => 'shop', response => 'buys', features => 'a / 1e5 AS a', family => 'binomial');
SELECT abs(c.value) > 300 AS large, r.value IS NULL AND r.error IS NULL AND r.shared IS NULL AS unknown
FROM wml_explain('family_units', 7) AS c JOIN wml_explain('family_units', 7) AS r USING (item) WHERE c.part = 'coefficient' AND r.part = 'odds ratio';
SELECT count(*) > 1 AS sources, bool_and(value > 0 AND item <> '7') AS others, sum(value) <= 1 + 1e-9 AS shares FROM wml_explain('family_shops', 7) WHERE part = 'source';
SELECT family, method, against_all_alike BETWEEN 0.5 AND 1.1 AS against_all_alike, against_task_alone < 1 AS against_task_alone, live FROM wml_task_sets WHERE set_name = 'family_shops';

-- live: what changes is counted anew under the prior that was learned
CREATE FUNCTION family_state(OUT tasks bigint, OUT "rows" bigint, OUT skipped bigint, OUT wrong bigint) LANGUAGE sql AS $$
SELECT count(*), sum(wml_n(gram)), sum(wml_skipped(gram)), (SELECT count(*) FROM wml_check('family_shops')) FROM family_shops
$$;
INSERT INTO family_visit VALUES (7, 11, 0.5, 'app', 1, true, 3), (30, 1, 0.5, 'card', 1, false, 0);
SELECT * FROM family_state();
UPDATE family_visit SET shop = 31 WHERE shop = 30;
UPDATE family_visit SET buys = NOT buys WHERE shop = 7 AND day < 4;
DELETE FROM family_visit WHERE shop = 3;
INSERT INTO family_visit VALUES (31, 2, 'NaN', 'card', 1, false, 0), (31, 3, 0, 'cash', 1, false, 0), (32, 4, NULL, 'card', 1, false, 0);
SELECT * FROM family_state();
WITH gone AS (DELETE FROM family_visit WHERE shop = 31), more AS (INSERT INTO family_visit SELECT 31, day, a, paid, hours, buys, visits FROM family_visit WHERE shop = 4)
UPDATE family_visit SET buys = true WHERE shop = 7;
SELECT * FROM family_state();
-- rows that no model can be made of stop nobody, and leave without a trace
INSERT INTO family_visit VALUES (7, 12, 1e100, 'app', 1, true, 3), (8, 12, -1e200, 'app', 1, true, 3), (9, 12, 1e308, 'card', 1, false, 0);
SELECT * FROM family_state();
SELECT task, status FROM wml_forecast('family_shops', 'SELECT shop, 0 AS a, ''app'' AS paid FROM generate_series(7, 10) AS shop') WHERE status <> 'rows not finite';
DELETE FROM family_visit WHERE abs(a) > 1e99;
SELECT * FROM family_state();
SELECT DISTINCT status FROM wml_forecast('family_shops', 'SELECT shop, 0 AS a, ''app'' AS paid FROM generate_series(7, 10) AS shop');
CREATE TABLE family_before AS SELECT prior FROM wml_task_set WHERE set_name = 'family_shops';
SELECT tasks, rows FROM wml_refresh('family_shops');
SELECT * FROM family_state();
SELECT s.prior::text <> b.prior::text AS learned_anew FROM wml_task_set AS s, family_before AS b WHERE set_name = 'family_shops';

-- counts, with what they were taken over
SELECT tasks, rows, skipped FROM wml_learn('family_counts', 'family_visit', task => 'shop', response => 'visits', features => 'a', exposure => 'hours', family => 'poisson', append => true);
-- counts that are beyond belief
SELECT task, estimate < 1e100 AS estimated, model, status FROM wml_forecast('family_counts', 'SELECT shop, a, 1 AS hours FROM (VALUES (1, 0.5), (1, 1e4), (1, -1e4), (99, 1e300)) AS v (shop, a)');
SELECT bool_and(f.status = 'ok') AS ok, max(abs(f.estimate - p.rate) + abs(f.mean_lower - p.lower) + abs(f.mean_upper - p.upper)) < 1e-9 AS same,
	bool_and(f.lower = floor(f.lower) AND f.upper = floor(f.upper) AND f.lower >= 0 AND f.lower <= f.mean_lower AND f.upper >= f.mean_upper) AS counts
FROM wml_forecast('family_counts', 'SELECT shop, 0.5 AS a, 1 + shop % 3 AS hours FROM generate_series(5, 9) AS shop') AS f, wml_task_set AS s,
	LATERAL (SELECT gram FROM family_counts WHERE shop = f.task::int) AS known, wml_predict_rate(s.prior, gram, '{1,0.5}', 0.95, ("row" ->> 'hours')::float8) AS p WHERE set_name = 'family_counts';
SELECT a.estimate / b.estimate AS thrice FROM wml_forecast('family_counts', 'SELECT 7 AS shop, 0.5 AS a, 3 AS hours') AS a, wml_forecast('family_counts', 'SELECT 7 AS shop, 0.5 AS a') AS b;
SELECT hours, status FROM wml_forecast('family_counts', 'SELECT 7 AS shop, 0.5 AS a, hours FROM (VALUES (1), (0), (NULL)) AS v (hours)'), LATERAL (SELECT "row" ->> 'hours' AS hours) AS h;
INSERT INTO family_visit VALUES (7, 12, 0.5, 'app', 1, true, 3), (40, 1, 0.5, 'card', 1, false, 0), (40, 2, 0.5, 'card', 1, false, -1), (40, 3, 0.5, 'card', 0, false, 1);
DELETE FROM family_visit WHERE shop = 5;
SELECT count(*) AS wrong FROM wml_check('family_counts');
SELECT wml_n(gram), wml_skipped(gram) FROM family_counts WHERE shop = 40;
SELECT status FROM wml_forecast('family_counts', 'SELECT 40 AS shop, 0 AS a');
SELECT wml_fold('family_counts');
SELECT wml_n(gram), wml_skipped(gram) FROM family_counts WHERE shop = 40;
SELECT count(*) AS wrong FROM wml_check('family_counts');
SELECT DISTINCT part FROM wml_explain('family_counts', 7) ORDER BY part;
DELETE FROM family_visit WHERE visits < 0 OR hours = 0;
SELECT tasks FROM wml_learn('family_more', 'family_visit', task => 'shop', response => 'visits', features => 'a', weight => 'hours', family => 'negative_binomial', rehearse => 0);
SELECT wml_family(prior) LIKE 'negative_binomial(%)' AS family, method FROM wml_task_set WHERE set_name = 'family_more';
SELECT bool_and(upper > mean_upper AND lower >= 0) AS wider FROM wml_forecast('family_more', 'SELECT 7 AS shop, a FROM generate_series(-2, 2) AS a');
SELECT DISTINCT part FROM wml_explain('family_more', 7) ORDER BY part;
SELECT model, against_all_alike > 0 AS rehearsed FROM wml_rehearse('family_more', 6);
-- successes out of trials
CREATE VIEW family_grouped AS SELECT shop, paid, sum(a) AS a, count(*) FILTER (WHERE buys) AS bought, count(*) AS came FROM family_visit WHERE a IS NOT NULL GROUP BY shop, paid;
SELECT tasks, rows FROM wml_learn('family_trials', 'family_grouped', task => 'shop', response => 'bought', exposure => 'came', features => 'paid', family => 'binomial', levels => '{"paid": ["app", "card"]}');
SELECT bool_and(estimate BETWEEN 0 AND 1) AS probabilities FROM wml_forecast('family_trials', 'SELECT shop, ''card'' AS paid FROM generate_series(1, 25) AS shop');

-- what is refused leaves nothing behind
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'hours', 'a', family => 'binomial');
SELECT wml_learn('family_bad', 'family_visit', 'shop', '-visits', 'a', family => 'poisson');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'paid', 'a', family => 'binomial');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'buys', 'a, 3 AS three', family => 'binomial');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'buys OR true', 'a', family => 'binomial');
SELECT wml_learn('family_bad', 'family_visit', '1', 'buys', 'a', family => 'binomial');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'buys', 'a', family => 'binomial', inverse => 'exp(y)');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'visits', 'a', exposure => 'hours');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'visits', 'a', family => 'poisson', exposure => 'paid');
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'visits', 'a', rehearse => -1);
SELECT wml_learn('family_bad', 'family_visit', 'shop', 'visits', 'a', family => NULL);
SELECT count(*) AS left_behind FROM pg_class WHERE relname LIKE 'family\_bad%';
SELECT wml_forecast('family_shops', 'family_asked', method => 'tune');

-- the functions beneath
SELECT family, y, estimate, exposure, abs(wml_deviance(family, y, estimate, exposure) - deviance) < 1e-12 AS right
FROM (VALUES ('binomial', 1, 0.25, 1, -2 * ln(0.25)), ('binomial', 0, 0.25, 1, -2 * ln(0.75)), ('binomial', 1, 0.5, 2, 0), ('poisson', 3, 2, 1, 2 * (3 * ln(1.5) - 1)),
	('poisson', 0, 2, 4, 4), ('gaussian', 3, 1, 1, 4)) AS v (family, y, estimate, exposure, deviance);
SELECT wml_deviance('negative_binomial', 1, 1);
SELECT wml_deviance('binomial', 1, 1.5);
SELECT wml_deviance('poisson', 1, -1);
SELECT wml_deviance('binomial', 2, 0.5);
SELECT wml_deviance('binomial', 1, 0) < 1000 AS bounded;
SELECT wml_possible_response('poisson', 3, 1, 1) AS three, wml_possible_response('poisson', -3, 1, 1) AS negative, wml_possible_response('binomial', 2, 1, 1) AS two,
	wml_possible_response('binomial', 'NaN', 1, 1) AS not_a_number, wml_possible_response('poisson', 1, 0, 1) AS no_exposure;
CREATE TABLE family_grams AS SELECT wml_gram(ARRAY[1, a], visits) AS gram FROM family_visit WHERE a IS NOT NULL AND a <> 'NaN' GROUP BY shop HAVING count(*) > 5;
SELECT wml_family(prior), max(abs(r.estimate - i.estimate) + abs(r.lower - i.lower) + abs(r.upper - i.upper) + abs(r.mean_lower - i.mean_lower) + abs(r.mean_upper - i.mean_upper)) < 1e-6 AS the_interval
FROM (SELECT wml_prior(array_agg(gram), evenness => 2) AS prior FROM family_grams) AS p, family_grams, wml_predict_interval(prior, gram, '{1,1}') AS i, wml_predict_response(prior, gram, '{1,1}') AS r
GROUP BY 1;
SELECT wml_predict_response(prior, NULL, '{1,1,1}', 0.9, -1) FROM family_prior;
SELECT wml_finite_features('{1,2}'), wml_finite_features('{1,NaN}'), wml_finite_features('{1,NULL}');

SELECT wml_drop(set_name) FROM wml_task_set WHERE set_name LIKE 'family%' ORDER BY set_name;
DROP VIEW family_grouped;
DROP TABLE family_visit, family_prior, family_asked, family_before, family_grams;
DROP FUNCTION noise, family_state;
