-- Linear classifiers under hinge loss.
CREATE FUNCTION pg_temp.error_of(query text) RETURNS TABLE (state text, message text, detail text, hint text) AS $$
BEGIN
	BEGIN
		EXECUTE query;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
			detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	END;
	RETURN NEXT;
END
$$ LANGUAGE plpgsql;
CREATE FUNCTION pg_temp.length(float8[]) RETURNS float8 AS 'SELECT sqrt(sum(v * v)) FROM unnest($1) AS u (v)' LANGUAGE sql;

-- into the unit ball
SELECT wml_unit(ARRAY[3, 4], 10) AS inside, wml_unit(ARRAY[3, 4], 2.5) AS outside, wml_unit(ARRAY[0, 0], 1) AS zero,
	   wml_unit(ARRAY[1, NULL], 1) IS NULL AS with_null, wml_unit(NULL, 1) IS NULL AS is_null;
SELECT bool_and(pg_temp.length(wml_unit(ARRAY[sin(i), cos(i * i), i], 3)) <= 1 + 1e-15) AS in_ball FROM generate_series(1, 100) AS i;
SELECT abs(pg_temp.length(wml_unit(ARRAY[1e300, -1e300], 1)) - 1) < 1e-15 AS of_huge;

-- tasks whose classes are told apart along different directions
CREATE TABLE hinge_row AS
SELECT task, i, wml_unit(ARRAY[cos(i * 0.7 + task), sin(i * i + task)], 1.5) AS x,
	   CASE WHEN cos(i * 0.7 + task) + (task - 2) * sin(i * i + task) > 0.1 THEN 1 ELSE -1 END AS y
FROM generate_series(1, 3) AS task, generate_series(1, 40 + 10 * task) AS i;
CREATE TABLE hinge_task AS SELECT task, task / 6.0 AS alpha, wml_gram(x, y) AS gram FROM hinge_row GROUP BY task;

-- the direction is the weighted mean of class times features, whatever the length
WITH mean AS (
	SELECT ARRAY[sum(alpha * b1), sum(alpha * b2)] AS b
	FROM hinge_task, LATERAL (SELECT avg(y * x[1]) AS b1, avg(y * x[2]) AS b2 FROM hinge_row AS r WHERE r.task = hinge_task.task) AS b
), fit AS (
	SELECT wml_hinge(gram, alpha) AS one, wml_hinge(gram, alpha, wml_step(radius => 0.5)) AS half, wml_hinge(gram, 100 * alpha) AS rescaled FROM hinge_task
)
SELECT bool_and(abs(one[k] - b[k] / pg_temp.length(b)) < 1e-14) AS direction, bool_and(half[k] = one[k] / 2) AS radius,
	   bool_and(abs(rescaled[k] - one[k]) < 1e-15) AS only_proportions_matter
FROM mean, fit, generate_series(1, 2) AS k;

-- no direction of a grid has a lower weighted hinge loss, computed from the rows
CREATE FUNCTION pg_temp.loss(w float8[]) RETURNS float8 AS $$
	SELECT sum(alpha * loss) FROM hinge_task
		   JOIN (SELECT task, avg(greatest(0, 1 - y * wml_predict(w, x))) AS loss FROM hinge_row GROUP BY task) AS loss USING (task)
$$ LANGUAGE sql;
SELECT least >= best AS optimal, least - best < 1e-3 AS near
FROM (SELECT pg_temp.loss(wml_hinge(gram, alpha)) AS best FROM hinge_task) AS fit,
	 (SELECT min(pg_temp.loss(ARRAY[cos(radians(a)), sin(radians(a))])) AS least FROM generate_series(0, 359, 2) AS a) AS grid;

-- MAML goes along the same direction until the surface stops it
SELECT step, abs(wml_predict(maml, erm) - pg_temp.length(maml)) < 1e-14 AS same_direction,
	   round(pg_temp.length(maml)::numeric, 4) < 1 AS inside, abs(maml[1] - erm[1]) < 1e-15 AS arrived
FROM (SELECT step, wml_hinge(gram, alpha) AS erm, wml_hinge_maml(gram, alpha, wml_step(eta => 0.5, steps => step)) AS maml
	  FROM hinge_task, generate_series(0, 6, 2) AS step GROUP BY step) AS fit ORDER BY step;
SELECT wml_hinge_maml(gram, alpha, wml_step(eta => 0.5)) = wml_hinge_maml(gram, alpha, wml_step(eta => 0.5, steps => 1)) AS one_step,
	   wml_hinge_maml(gram, alpha, wml_step(eta => 0.5, steps => 1)) = wml_hinge_maml(gram, alpha, wml_step(eta => 0.25, steps => 2, radius => 1)) AS two_halves,
	   abs(pg_temp.length(wml_hinge_maml(gram, alpha, wml_step(eta => 0.5, steps => 100, radius => 0.25))) - 0.25) < 1e-15 AS radius
FROM hinge_task;

-- adaptation: from one task's classifier to another's
SELECT step, round(loss::numeric, 4) <= lag(round(loss::numeric, 4), 1, 2.0) OVER (ORDER BY step) AS lower,
	   pg_temp.length(w) <= 1 + 1e-15 AS in_ball, abs(w[1] - target[1]) < 1e-6 AS arrived
FROM (SELECT step, wml_hinge_adapt(t.gram, first.w, 0.5, step) AS w, target.w AS target,
			 1 - wml_predict(wml_hinge_adapt(t.gram, first.w, 0.5, step), (SELECT ARRAY[avg(y * x[1]), avg(y * x[2])] FROM hinge_row WHERE task = 3)) AS loss
	  FROM (SELECT wml_hinge(gram, 1) AS w FROM hinge_task WHERE task = 1) AS first,
		   (SELECT wml_hinge(gram, 1) AS w FROM hinge_task WHERE task = 3) AS target,
		   (SELECT gram FROM hinge_task WHERE task = 3) AS t, unnest(ARRAY[0, 1, 3, 10, 300]) AS step) AS path ORDER BY step;

-- nothing to learn from; NULLs; tasks without weight
SELECT wml_hinge(gram, 1) IS NULL AS nothing FROM hinge_task WHERE false;
SELECT wml_hinge(gram, CASE WHEN task = 1 THEN 1 END) = (SELECT wml_hinge(gram, 1) FROM hinge_task WHERE task = 1) AS null_weight FROM hinge_task;
SELECT wml_hinge(gram, weight) = (SELECT wml_hinge(gram, 1) FROM hinge_task WHERE task = 1) AS broken_but_weightless
FROM (SELECT gram, 1 AS weight FROM hinge_task WHERE task = 1 UNION ALL SELECT wml_gram(ARRAY[5, 'NaN'::float8], 1), 0 UNION ALL SELECT wml_gram(NULL, 1), 0) AS t;
-- opposite classes cancel: every direction is as good
SELECT wml_hinge(wml_gram, 1) FROM (SELECT wml_gram(ARRAY[0.5, 0.5], y) FROM (VALUES (-1), (1)) AS t (y)) AS g;

-- in parallel
CREATE TABLE hinge_many AS SELECT copy AS i, wml_gram(x, y) AS gram FROM hinge_row, generate_series(1, 60) AS copy GROUP BY copy, task;
ALTER TABLE hinge_many SET (parallel_workers = 2);
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT wml_hinge(gram, i) FROM hinge_many;
SELECT wml_hinge(gram, i) AS w, wml_hinge_maml(gram, i, wml_step(eta => 0.1)) AS v FROM hinge_many \gset parallel_
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT wml_hinge(gram, i) = :'parallel_w' AS same, wml_hinge_maml(gram, i, wml_step(eta => 0.1)) = :'parallel_v' AS same_maml FROM hinge_many;
COMMIT;

-- without a step size: a share of the way to the edge, from zero and from elsewhere
SELECT abs(pg_temp.length(wml_hinge_maml(gram, alpha, wml_step(steps => 4))) - 0.2) < 1e-15 AS maml,
	   abs(pg_temp.length(wml_hinge_adapt(min(gram::text)::wml_gram, '{0,0}', steps => 3, share => 0.25)) - 0.75) < 1e-15 AS adapt
FROM hinge_task;
SELECT wml_hinge_adapt(gram, NULL) FROM hinge_task LIMIT 1;

-- errors
\pset expanded on
\pset tuples_only on
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(wml_gram, 1) FROM (SELECT wml_gram(ARRAY[3, 4], 1)) AS g');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(wml_gram, 1) FROM (SELECT wml_gram(ARRAY[0.5, 0.5], 2)) AS g');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, 1, wml_step(radius => 3)) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(wml_transform(gram, ARRAY[[1, 0, 0], [0, 1, 0], [0, 0, 1]]), 1) FROM hinge_task');
-- what was taken away still counts
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(g - h, 1) FROM (SELECT wml_gram(ARRAY[i], 1) AS g, wml_gram(ARRAY[i], 1) FILTER (WHERE i = 2) AS h FROM generate_series(1, 2) AS i) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, 0) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, -1) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, 1, wml_step(radius => 1.0 / task)) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, 1, wml_step(radius => -1)) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, 1, NULL) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge_maml(gram, 1, wml_step(eta => -0.1)) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge_maml(gram, 1, wml_step(eta => 0.1, steps => -1)) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge(gram, 1) FROM (SELECT gram FROM hinge_task UNION ALL SELECT wml_gram(ARRAY[1], 1)) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_hinge_adapt(gram, ARRAY[1], 0.1, 1) FROM hinge_task');
SELECT * FROM pg_temp.error_of('SELECT wml_unit(ARRAY[1, ''NaN''::float8], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_unit(ARRAY[1], 0)');
SELECT * FROM pg_temp.error_of('SELECT wml_model_accum(NULL, NULL, 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_model_final(''{v=1 model=hinge}'')');

DROP TABLE hinge_row, hinge_task, hinge_many;
