-- Networks: training from queries, use, adaptation, text and binary form, errors.
\set VERBOSITY terse
SET wml.progress = off;

CREATE TEMP TABLE wave AS
SELECT task, ARRAY[x] AS x, (1 + task % 5) * sin(x + task % 3) AS y
FROM generate_series(1, 30) AS task, generate_series(-4.5, 4.5, 1.0) AS x;
CREATE TEMP TABLE few AS SELECT ARRAY[x] AS x, 4 * sin(x + 1) AS y FROM unnest('{-4,-2,-0.5,1,2.5,4}'::float8[]) AS x;
CREATE TEMP TABLE rows AS SELECT array_agg(x) AS x, array_agg(y) AS y FROM few;

-- the same seed gives the same bits, another seed another network
CREATE TEMP TABLE network AS
SELECT seed, run, wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', hidden => '{8,6}', iterations => 60,
	batch => 10, eta => 0.02, seed => seed) AS model
FROM (VALUES (1, 1), (1, 2), (2, 1)) AS run (seed, run);
SELECT a.model::text = b.model::text AS same_seed, a.model::text <> c.model::text AS other_seed
FROM network AS a, network AS b, network AS c WHERE (a.seed, a.run) = (1, 1) AND (b.seed, b.run) = (1, 2) AND (c.seed, c.run) = (2, 1);

-- columns of other numeric types are cast
SELECT wml_mlp_train('SELECT task::text, x::numeric[], y::real FROM wave', 'SELECT x, y FROM few', iterations => 3) IS NOT NULL AS cast_types;
-- a query may end as one does in psql
SELECT wml_mlp_train('SELECT task, x, y FROM wave ; ', 'SELECT x, y FROM few -- all;', iterations => 3) IS NOT NULL AS semicolon;
SELECT wml_mlp_train('SELECT task, x, y FROM wave; -- all', ' SELECT x, y FROM few /* ; */ ; /* all */ ', iterations => 3) IS NOT NULL AS comment;
-- rows with NULL are skipped
SELECT a::text = b::text AS nulls_skipped
FROM wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', iterations => 5, hidden => '{4}') AS a,
	wml_mlp_train('SELECT task, x, y FROM wave UNION ALL VALUES (1, NULL, 1), (2, ARRAY[1], NULL), (NULL, ARRAY[1], 1), (3, ARRAY[NULL::int], 1)',
		'SELECT x, y FROM few UNION ALL SELECT NULL, 1', iterations => 5, hidden => '{4}') AS b;

-- history, basis and prediction
SELECT count(*) AS records, max(iteration) AS last, bool_and(sources BETWEEN 1 AND 10) AS sources, bool_and(rmse > 0 AND distance >= 0) AS figures
FROM network, wml_mlp_history(model) WHERE (seed, run) = (1, 1);
SELECT cardinality(wml_embed(model, '{0.5}')) AS basis, (wml_embed(model, '{0.5}'))[7] AS constant, wml_embed(model, '{NULL}') AS null_input,
	wml_predict(model, '{NULL}') AS null_prediction FROM network WHERE (seed, run) = (1, 1);
-- the prediction is linear in the basis: least squares on the basis finds it
SELECT abs(wml_predict(model, '{0.3}') - wml_predict(coef, wml_embed(model, '{0.3}'))) < 1e-6 AS linear_in_basis
FROM network, LATERAL (SELECT wml_erm(gram, 1) AS coef FROM (SELECT wml_gram(wml_embed(model, ARRAY[x]), wml_predict(model, ARRAY[x])) AS gram
	FROM generate_series(-3, 3, 0.01) AS x) AS g) AS fit WHERE (seed, run) = (1, 1);

-- stored networks that take turns in one query are not mistaken for each other
CREATE TEMP TABLE turn AS
SELECT seed, wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', iterations => 1, seed => seed) AS model
FROM generate_series(1, 3) AS seed;
SELECT bool_and(wml_predict(model, ARRAY[x]) = wml_predict(model::text::wml_mlp, ARRAY[x])) AS predictions,
	bool_and(wml_embed(model, ARRAY[x]) = wml_embed(model::text::wml_mlp, ARRAY[x])) AS bases, count(DISTINCT wml_predict(model, ARRAY[x])) AS different
FROM (SELECT x, model FROM generate_series(1, 4) AS x, turn ORDER BY x, seed OFFSET 0) AS turns;

-- adaptation: the path starts at the network, decreases the error, and ends where wml_adapt does
SELECT bool_and(step = 0 OR mse < before) AS descends, max(step) AS steps
FROM (SELECT step, mse, lag(mse) OVER (ORDER BY step) AS before FROM network, rows, wml_adapt_path(model, x, y, 0.005, 5)
	WHERE (seed, run) = (1, 1)) AS path;
SELECT bool_and(abs(error - mse) < 1e-9 * mse) AS agree
FROM network, rows, LATERAL wml_adapt_path(model, x, y, 0.005, 5) AS path,
	LATERAL (SELECT avg((few.y - wml_predict(wml_adapt(model, rows.x, rows.y, 0.005, step), few.x)) ^ 2) AS error FROM few) AS judged
WHERE (seed, run) = (1, 1);
SELECT wml_predict(wml_adapt(model, x, y, 1000, 5), '{1}') IS NOT NULL AS guarded FROM network, rows WHERE (seed, run) = (1, 1);

-- every objective and weighting trains
SELECT objective, weights, wml_predict(wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', hidden => '{5}', objective => objective,
	weights => weights, iterations => 10, batch => 10, shrink => 1, whiten => true, standardize => true, support => 0.5), '{1}') IS NOT NULL AS trained
FROM unnest('{maml,fomaml,reptile,erm}'::text[]) AS objective, unnest('{mixture,closest,uniform,bound}'::text[]) AS weights ORDER BY 1, 2;

-- without a hidden layer it is the linear model on (x, 1): it learns the same, and weighs tasks alike
CREATE TEMP TABLE slope AS SELECT task, ARRAY[x * task / 5.0, 1] AS x, task % 4 * x + 3 - task AS y
FROM generate_series(1, 6) AS task, generate_series(-2, 2, 0.5) AS x;
CREATE TEMP TABLE slope_gram AS SELECT array_agg(gram ORDER BY task) AS sources, (SELECT wml_gram(ARRAY[x[1], 1], y) FROM few) AS target
FROM (SELECT task, wml_gram(x, y) AS gram FROM slope GROUP BY task) AS g;
SELECT objective, abs(wml_predict(model, '{0}') - coef[2]) < 1e-9 AND abs(wml_predict(model, '{1}') - coef[1] - coef[2]) < 1e-9 AS same_model
FROM (SELECT wml_maml(gram, 1, wml_step(eta => 0.3, steps => 2)) AS maml, wml_fomaml(gram, 1, wml_step(eta => 0.3, steps => 2)) AS fomaml, wml_reptile(gram, 1, wml_step(eta => 0.3, steps => 2)) AS reptile, wml_erm(gram, 1) AS erm
	FROM slope_gram, unnest(sources) AS gram) AS linear,
	LATERAL (VALUES ('maml', maml), ('fomaml', fomaml), ('reptile', reptile), ('erm', erm)) AS fit (objective, coef),
	wml_mlp_train('SELECT task, x[:1], y FROM slope', 'SELECT x, y FROM few', hidden => '{}', objective => objective, weights => 'uniform',
		iterations => 4000, outer_eta => 0.01, eta => 0.3, steps => 2) AS model;
SELECT weights, abs(distance - kernel_distance) < 1e-9 AS same_distance, history.sources - cardinality(array_remove(alpha, 0::float8)) AS more_sources
FROM slope_gram, unnest('{mixture,closest,uniform}'::text[]) AS weights, wml_alpha(sources, target, weights) AS alpha,
	wml_mlp_train('SELECT task, x[:1], y FROM slope', 'SELECT x, y FROM few', hidden => '{}', weights => weights, iterations => 1) AS model,
	wml_mlp_history(model) AS history, wml_bound(slope_gram.sources, target, alpha, 1, 0.1);

-- a text or binary round trip keeps every bit
SELECT bool_and(model::text::wml_mlp::text = model::text AND wml_mlp_send(model::text::wml_mlp) = wml_mlp_send(model)) AS exact FROM network;

-- errors
SELECT wml_mlp_train('SELECT x, y FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, y, x FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT y FROM few');
SELECT wml_mlp_train('DELETE FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('WITH gone AS (DELETE FROM wave RETURNING *) SELECT task, x, y FROM gone', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few FOR UPDATE');
SELECT wml_mlp_train('SELECT 1; SELECT task, x, y FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT (task, 1), x, y FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, y FROM wave WHERE false', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT 7, x, y FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few WHERE false');
SELECT wml_mlp_train('SELECT task, x || x, y FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, y FROM wave UNION ALL VALUES (1, ARRAY[1, 2], 3)', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, ''NaN''::float8 FROM wave', 'SELECT x, y FROM few');
SELECT wml_mlp_train('SELECT task, x, 1e200 * y FROM wave', 'SELECT x, y FROM few', iterations => 10);
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', hidden => '{0}');
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', steps => 2000000000);
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', objective => 'sgd');
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', weights => 'random');
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', iterations => 0);
SELECT wml_mlp_train('SELECT task, x, y FROM wave', 'SELECT x, y FROM few', support => 1);
SELECT wml_mlp_train(NULL, 'SELECT x, y FROM few');
SELECT wml_predict(model, '{1,2}') FROM network;
SELECT wml_adapt(model, '{{1},{2}}', '{1}', 0.1, 1) FROM network;
SELECT 'nonsense'::wml_mlp;
SELECT '{v=1 inputs=1 hidden=[] standardized=0 records=0 parameters=[1 Infinity] history=[]}'::wml_mlp;
-- iteration, mse, distance, sources
SELECT format('{v=1 inputs=1 hidden=[] standardized=0 records=1 parameters=[1 1] history=[%s]}', record)::wml_mlp IS NOT NULL AS valid
FROM unnest('{1 2 3 4,1 2 NaN 4}'::text[]) AS record;
SELECT '{v=1 inputs=1 hidden=[] standardized=0 records=1 parameters=[1 1] history=[NaN 2 3 4]}'::wml_mlp;
SELECT '{v=1 inputs=1 hidden=[] standardized=0 records=1 parameters=[1 1] history=[1 -2 3 4]}'::wml_mlp;
SELECT '{v=1 inputs=1 hidden=[] standardized=0 records=1 parameters=[1 1] history=[1 2 -3 4]}'::wml_mlp;
SELECT '{v=1 inputs=1 hidden=[] standardized=0 records=1 parameters=[1 1] history=[1 2 3 1e300]}'::wml_mlp;
SELECT wml_predict('{v=1 inputs=1 hidden=[] standardized=0 records=0 parameters=[2 3] history=[]}'::wml_mlp, '{5}') AS two_x_plus_three;
