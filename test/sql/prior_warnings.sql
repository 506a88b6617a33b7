-- A prior that is usable but not what was hoped for says so; a clean one says nothing.
\set VERBOSITY terse
SELECT setseed(0.5);
CREATE FUNCTION pg_temp.normal() RETURNS float8 LANGUAGE sql VOLATILE
AS $$ SELECT sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;
CREATE TEMP TABLE example AS
SELECT task, i, x, e, a + b * x AS truth
FROM (SELECT task, pg_temp.normal() AS a, pg_temp.normal() AS b FROM generate_series(1, 60) AS task) AS t,
	LATERAL (SELECT i, pg_temp.normal() AS x, 0.3 * pg_temp.normal() AS e FROM generate_series(1, 8) AS i WHERE task = task) AS r;
CREATE FUNCTION pg_temp.warns(what text, response text, wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT wml_prior(gram, 1, wml_prior_options(method => ''reml'')) FROM (SELECT wml_gram(ARRAY[1, x], %s) AS gram FROM example WHERE %s GROUP BY task) AS g', response, wanted);
	RETURN what;
END $$;
SELECT pg_temp.warns('clean', 'truth + e', 'true');
SELECT pg_temp.warns('few tasks, clean', 'truth + e', 'task <= 5');
SELECT pg_temp.warns('no spread', 'x + e', 'true');
SELECT pg_temp.warns('no noise', 'truth', 'true');
SELECT pg_temp.warns('a single task', 'truth + e', 'task = 1');
SELECT pg_temp.warns('fewer tasks than directions and one', 'truth + e', 'task <= 2');
SELECT pg_temp.warns('one task of a few', 'truth * CASE WHEN task = 3 THEN 100 ELSE 1 END + e', 'task <= 10');
SELECT pg_temp.warns('one task of many', 'truth * CASE WHEN task = 3 THEN 100 ELSE 1 END + e', 'true');
SELECT pg_temp.warns('tasks that do not belong', 'truth + CASE WHEN task % 20 = 3 THEN 40 * (task - 23) ELSE 0 END + e', 'true');

-- a mistyped covariate has its way with its task, and shows in the variance of the feature alone
\set VERBOSITY default
CREATE FUNCTION pg_temp.warns_of(what text, x text, options text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT wml_prior(array_agg(gram ORDER BY task), method => ''reml'' %s) FROM (SELECT task, wml_gram(%s, 3 * cos(task) * x + 2 * sin(5 * task) + 0.1 * cos(9 * i * task)) AS gram
		FROM (SELECT task, i, 2 + sin(i * i + task) AS x FROM example) AS e GROUP BY task) AS g', options, x);
	RETURN what;
END $$;
SELECT pg_temp.warns_of('one row', 'ARRAY[1, CASE WHEN task = 7 AND i = 2 THEN 100 ELSE 1 END * x]', '');
SELECT pg_temp.warns_of('one row in three tasks, robust', 'ARRAY[1, CASE WHEN task <= 3 AND i = 2 THEN 100 ELSE 1 END * x]', ', noise => ''own'', tasks => ''t'', features => ''{one,price}''');
-- the robust prior does without these three, and without a tenth of all at the most
SET wml.warnings = off;
SELECT (wml_prior_info(wml_prior(gram, 1, wml_prior_options(tasks => word, noise => 'own')))).tasks, (wml_prior_info(wml_prior(more, 1, wml_prior_options(tasks => word, noise => 'own')))).tasks AS more,
	(wml_prior_info(wml_prior(gram, 1, wml_prior_options(tasks => word, noise => 'own', temper => 0.5)))).tasks AS tempered
FROM (SELECT task, wml_gram(ARRAY[1, CASE WHEN task <= 3 AND i = 2 THEN 100 ELSE 1 END * x], y) AS gram, wml_gram(ARRAY[1, CASE WHEN task <= 7 AND i = 2 THEN 100 ELSE 1 END * x], y) AS more
	  FROM (SELECT task, i, 2 + sin(i * i + task) AS x, sin(task) + cos(i * task) AS y FROM example) AS e GROUP BY task) AS g, unnest('{normal,t,auto}'::text[]) AS word GROUP BY word ORDER BY word;
RESET wml.warnings;
SELECT pg_temp.warns_of('not without a constant feature', 'ARRAY[2, CASE WHEN task = 7 AND i = 2 THEN 100 ELSE 1 END * x]', '');
SELECT pg_temp.warns_of('nor in a source that is left out', 'ARRAY[1, CASE WHEN task = 7 AND i = 2 THEN 100 ELSE 1 END * x]', ', alpha => ARRAY(SELECT (task <> 7)::int FROM generate_series(1, 60) AS task)');
SELECT pg_temp.warns_of('but if temper gives it a weight', 'ARRAY[1, CASE WHEN task = 7 AND i = 2 THEN 100 ELSE 1 END * x]', ', alpha => ARRAY(SELECT (task <> 7)::int FROM generate_series(1, 60) AS task), temper => 0.5');
SELECT pg_temp.warns_of('nor of tasks elsewhere', 'ARRAY[1, x + 1e6 * (task = 7)::int]', '');
SET wml.warnings = off;
SELECT pg_temp.warns_of('nor where nobody wants to know', 'ARRAY[1, CASE WHEN task = 7 AND i = 2 THEN 100 ELSE 1 END * x]', '');
RESET wml.warnings;

-- two tasks differ in one direction; with one that is fixed, that is enough
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml', evenness => 2)) IS NULL AS none, wml_prior(gram, 1, wml_prior_options(method => 'reml', fixed => '{2}')) IS NULL AS none,
	wml_prior(gram, 1, wml_prior_options(method => 'reml', covariance => 'diagonal')) IS NULL AS none
FROM (SELECT wml_gram(ARRAY[1, x], truth + task * (100 + 10 * x) + e) AS gram FROM example WHERE task <= 2 GROUP BY task) AS g;
SELECT wml_prior(gram, 1, wml_prior_options(method => 'reml'), ARRAY[task]::float8[]) IS NULL AS none
FROM (SELECT task, wml_gram(ARRAY[1, x], truth + e) AS gram FROM example WHERE task <= 3 GROUP BY task) AS g;

-- features that hang together but for rounding in tasks of few rows, by which the sums once seemed to be of no rows at all
SELECT setseed(0.03);
CREATE TEMP TABLE lv AS SELECT t, 1950 + 50 * random() AS yc, random() AS p1, random() AS p2, random() AS b FROM generate_series(1, 24) AS t;
CREATE TEMP TABLE built AS
SELECT t AS task, i, ARRAY[1, 4 + 0.1 * random(), 3 + 0.1 * random(), yr, round(2000 * random() * b), round(1 + 2 * random()), round(2 * random()),
	(e < 0.3)::int, (e BETWEEN 0.3 AND 0.6)::int, (e > 0.85)::int, (g < 0.1)::int, (g BETWEEN 0.1 AND 0.6)::int, (g > 0.9)::int]::float8[] AS x, 4 + yr / 1000 + 0.1 * b + 0.1 * random() AS y
FROM (SELECT t, i, b, round(least(2010, greatest(1950, yc + 15 * (random() - 0.5)))) AS yr, p1 * p1 + 0.5 * (random() - 0.5) AS e, p2 + 0.6 * (random() - 0.5) AS g
	  FROM lv, generate_series(1, 10 + t * 8) AS i) AS q;
SET client_min_messages = error;
SELECT model, converged, (SELECT bool_and(c <> 'NaN') FROM wml_posterior_coef(prior, few) AS w, unnest(w) AS c) AS finite
FROM (SELECT model, wml_prior(gram, 1, wml_prior_options(method => 'reml', evenness => evenness, noise => noise)) AS prior
	  FROM (SELECT wml_gram(x, y) AS gram FROM built WHERE task > 1 GROUP BY task) AS g,
		(VALUES ('plain', 0, 'common'), ('even', 13, 'common'), ('own', 0, 'own')) AS m (model, evenness, noise) GROUP BY model) AS fit,
	(SELECT wml_gram(x, y) AS few FROM built WHERE task = 1 AND i <= 4) AS t, wml_prior_info(prior) ORDER BY model;
