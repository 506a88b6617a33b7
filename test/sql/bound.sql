-- wml_bound and wml_minimize_bound.
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

CREATE TABLE bound_row AS
SELECT task, i, x, y, CASE WHEN y > 0.1 THEN 1 ELSE -1 END AS class
FROM generate_series(0, 3) AS task, generate_series(1, CASE task WHEN 0 THEN 12 ELSE 60 END) AS i,
	 LATERAL (SELECT wml_unit(ARRAY[cos(i * 0.7 + task), sin(i * i + task)], 1.5) AS x) AS features,
	 LATERAL (SELECT x[1] * (0.6 + 0.1 * task) + x[2] * (0.4 - 0.4 * task) + 0.1 * sin(i * 1.3 + task) AS y) AS response;
CREATE TABLE bound_task AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task > 0) AS sources, (array_agg(gram) FILTER (WHERE task = 0))[1] AS target,
	   array_agg(classes ORDER BY task) FILTER (WHERE task > 0) AS class_sources, (array_agg(classes) FILTER (WHERE task = 0))[1] AS class_target
FROM (SELECT task, wml_gram(x, y) AS gram, wml_gram(x, class) AS classes FROM bound_row GROUP BY task) AS task;

-- square loss: each term from the rows
WITH term AS (
	SELECT (bound).* FROM (SELECT wml_bound(sources, target, ARRAY[0.2, 0.3, 0.5], 3, 0.05, radius => 2, coef => ARRAY[0.5, -1]) AS bound FROM bound_task) AS b
), moment AS (
	SELECT task, avg(x[1] * x[1]) AS m11, avg(x[1] * x[2]) AS m12, avg(x[2] * x[2]) AS m22, avg(x[1] * y) AS m13, avg(x[2] * y) AS m23,
		   avg(y * y) AS m33, avg((y - 0.5 * x[1] + x[2]) ^ 2) / 2 AS risk, sum((x[1] ^ 2 + x[2] ^ 2 + y ^ 2) ^ 2) AS q
	FROM bound_row GROUP BY task
), mixed AS (
	SELECT sqrt(sum(a * m11) ^ 2 + sum(a * m22) ^ 2 + sum(a * m33) ^ 2 + 2 * (sum(a * m12) ^ 2 + sum(a * m13) ^ 2 + sum(a * m23) ^ 2)) AS distance,
		   sum(CASE WHEN task > 0 THEN a * risk END) AS risk, max(CASE WHEN task = 0 THEN q END) AS q
	FROM moment JOIN (VALUES (0, -1), (1, 0.2), (2, 0.3), (3, 0.5)) AS weight (task, a) USING (task)
)
SELECT abs(kernel_distance - distance) < 1e-14 AS distance,
	   abs(weighted_distance - (SELECT sum(a * (s <-> target)) FROM bound_task, unnest(sources, ARRAY[0.2, 0.3, 0.5]) AS u (s, a))) < 1e-14 AS weighted,
	   ball = 2.5 AS ball, abs(rademacher - 2.5 * sqrt(q) / 12) < 1e-14 AS rademacher,
	   abs(deviation - 3 * sqrt(9 * ln(2 / 0.05) / 24)) < 1e-14 AS deviation,
	   abs(theorem - (2.5 * distance + 2 * rademacher + deviation)) < 1e-13 AS theorem,
	   abs(corollary - (2.5 * weighted_distance + 2 * rademacher + deviation)) < 1e-13 AS corollary,
	   abs(source_risk - risk) < 1e-14 AS source_risk, abs(risk_bound - source_risk - theorem) < 1e-14 AS risk_bound
FROM term, mixed;

-- hinge loss: ball sqrt 2, and the fourth powers of class times features
SELECT abs(kernel_distance - wml_distance(class_sources[2], class_target, 'hinge')) < 1e-14 AS distance, abs(kernel_distance - weighted_distance) < 1e-14 AS single,
	   abs(ball - sqrt(2)) < 1e-15 AS ball,
	   abs(rademacher - sqrt(2) * sqrt((SELECT sum(x[1] ^ 2 + x[2] ^ 2 + 1) FROM bound_row WHERE task = 0)) / 12) < 1e-14 AS rademacher,
	   abs(source_risk - (SELECT avg(greatest(0, 1 - class * x[1])) FROM bound_row WHERE task = 2)) < 1e-14 AS risk
FROM bound_task, wml_bound(class_sources, class_target, ARRAY[0, 1, 0], 2, 0.05, 'hinge', 1, ARRAY[1, 0]);

-- the theorem is never looser than the corollary, and the mixture's weights make it least
SELECT bool_and(theorem <= corollary) AS tighter, min(theorem) >= (SELECT theorem - 1e-14 FROM bound_task, wml_bound(sources, target, wml_alpha(sources, target), 3, 0.05)) AS least
FROM bound_task, generate_series(0, 10) AS i, generate_series(0, 10 - i) AS j,
	 wml_bound(sources, target, ARRAY[i / 10.0, j / 10.0, (10 - i - j) / 10.0], 3, 0.05);
-- without coefficients there is no risk; a NULL source needs no weight
SELECT source_risk, risk_bound FROM bound_task, wml_bound(sources, target, ARRAY[0.2, 0.3, 0.5], 3, 0.05);
SELECT a.theorem = b.theorem AS null_source
FROM bound_task, wml_bound(sources, target, ARRAY[0, 0.5, 0.5], 3, 0.05) AS a, wml_bound(NULL::wml_gram || sources[2:3], target, ARRAY[NULL, 0.5, 0.5], 3, 0.05) AS b;

-- coverage: targets of 8 rows drawn from a population; the bound of its risk holds
SELECT count(*) AS draws, bool_and(wml_mse(population, w) / 2 <= risk_bound) AS holds
FROM (SELECT wml_gram(x, y) AS population FROM bound_row WHERE task = 1) AS p, bound_task,
	 generate_series(1, 50) AS draw, LATERAL (SELECT ARRAY[cos(draw), sin(draw)] AS w) AS model,
	 LATERAL (SELECT wml_gram(x, y) AS drawn FROM (SELECT x, y FROM bound_row WHERE task = 1 ORDER BY md5(i || ' ' || draw) LIMIT 8) AS sample) AS sample,
	 wml_bound(sources[2:3], drawn, wml_alpha(sources[2:3], drawn), 2, 0.1, coef => w);

-- a question without sources, target or weights has one answer, NULL
SELECT wml_bound(s, target, a, 3, 0.05) IS NULL AS bound, wml_minimize_bound(s, target) IS NULL AS minimum
FROM bound_task, LATERAL (VALUES (NULL::wml_gram[], ARRAY[0.2, 0.3, 0.5]), (sources, NULL)) AS v (s, a);

-- direct optimisation: parts, certificate, and what a grid of weights and coefficients finds
CREATE FUNCTION pg_temp.least(sources wml_gram[], target wml_gram, weighted bool) RETURNS float8 AS $$
	SELECT min(source_risk + ball * CASE WHEN weighted THEN weighted_distance ELSE kernel_distance END)
	FROM generate_series(0, 10) AS i, generate_series(0, 10 - i) AS j, generate_series(0, 345, 15) AS angle, unnest(ARRAY[0.25, 0.5, 0.75, 1]) AS length,
		 wml_bound(sources, target, ARRAY[i / 10.0, j / 10.0, (10 - i - j) / 10.0], 1, 0.5, coef => ARRAY[length * cos(radians(angle)), length * sin(radians(angle))])
$$ LANGUAGE sql;
SELECT abs(objective - source_risk - ball * distance) < 1e-14 AS parts, gap <= 1e-10 * objective AS certificate, residual < 1e-12 AS stationary,
	   abs(distance - kernel_distance) < 1e-14 AS distance, abs(source_risk - b.risk) < 1e-14 AS risk,
	   objective <= pg_temp.least(sources, target, false) AS no_grid_point_is_better, objective > pg_temp.least(sources, target, false) - 0.01 AS near
FROM bound_task, wml_minimize_bound(sources, target) AS m,
	 LATERAL (SELECT kernel_distance, source_risk AS risk FROM wml_bound(sources, target, m.alpha, 1, 0.5, coef => m.coef)) AS b;
-- the looser variant: one source, and no grid point is better
SELECT alpha, gap, abs(objective - source_risk - ball * distance) < 1e-14 AS parts, residual < 1e-12 AS stationary,
	   objective <= pg_temp.least(sources, target, true) AS no_grid_point_is_better, objective > pg_temp.least(sources, target, true) - 0.01 AS near
FROM bound_task, wml_minimize_bound(sources, target, 'weighted');
-- the joint variant is at most the looser one; a smaller ball costs risk; coefficients stay inside
SELECT radius, loss, j.objective <= w.objective + 1e-12 AS tighter, sqrt((SELECT sum(v * v) FROM unnest(j.coef) AS u (v))) <= radius * (1 + 1e-12) AS inside,
	   j.gap <= 1e-9 * j.objective AS certificate
FROM bound_task, unnest(ARRAY[0.1, 0.5, 1]) AS radius, unnest(ARRAY['square', 'hinge']) AS loss,
	 LATERAL (SELECT CASE loss WHEN 'hinge' THEN class_sources ELSE sources END AS s, CASE loss WHEN 'hinge' THEN class_target ELSE target END AS t) AS chosen,
	 wml_minimize_bound(s, t, 'joint', loss, radius) AS j, wml_minimize_bound(s, t, 'weighted', loss, radius) AS w
ORDER BY loss, radius;
-- more turns never raise the objective
SELECT bool_and(objective <= before) AS monotone
FROM (SELECT objective, lag(objective, 1, 1e9::float8) OVER (ORDER BY turns) AS before
	  FROM bound_task, generate_series(0, 5) AS turns, wml_minimize_bound(sources, target, starts => 0, steps => turns)) AS t;
-- NULL sources take no part
SELECT a.objective = b.objective AS same, b.alpha[1] IS NULL AS missing
FROM bound_task, wml_minimize_bound(sources, target) AS a, wml_minimize_bound(NULL::wml_gram || sources, target) AS b;

-- errors
\pset expanded on
\pset tuples_only on
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0.5, 0.5], 1, 0.05) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0.5, 0.5, 0.5], 1, 0.05) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[-1, 1, 1], 1, 0.05) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(NULL::wml_gram || sources[2:3], target, ARRAY[0.5, 0.5, 0], 1, 0.05) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], 1, 1) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], -1, 0.05) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], 1, 0.05, ''log'') FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], 1, 0.05, radius => 0) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], 1, 0.05, coef => ARRAY[3, 4]) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], 1, 0.05, coef => ARRAY[1]) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, target, ARRAY[0, 0, 1], NULL, 0.05) FROM bound_task');
-- an overflow is an error, and nothing is left unsaid
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(ARRAY[g, g + g], wml_transform(g, ARRAY[[1, 0, 0], [0, 2, 0], [0, 0, 3]])) FROM (SELECT wml_gram(ARRAY[1e80 * sin(i), 1e80], 1e80 * cos(i)) AS g FROM generate_series(1, 5) AS i) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(ARRAY[g], g + g, ARRAY[1], 1e308, 0.05, radius => 1e200) FROM (SELECT wml_gram(ARRAY[1e70 * sin(i), 1e70], 1e70 * cos(i)) AS g FROM generate_series(1, 5) AS i) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(sources, wml_transform(target, ARRAY[[1, 0, 0], [0, 1, 0], [0, 0, 1]]), ARRAY[0, 0, 1], 1, 0.05) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(ARRAY[g], g, ARRAY[1], 1, 0.05) FROM (SELECT wml_gram(x, y, i) AS g FROM bound_row) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_bound(ARRAY[g], g, ARRAY[1], 1, 0.05, ''hinge'') FROM (SELECT wml_gram(ARRAY[x[1], 2], class) AS g FROM bound_row) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(sources, target, ''loose'') FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(sources, target, radius => -1) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(''{}'', target) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(sources, target, starts => -1) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(sources, target, steps => -1) FROM bound_task');
SELECT * FROM pg_temp.error_of('SELECT wml_minimize_bound(ARRAY[g], g, loss => ''hinge'') FROM (SELECT wml_gram(ARRAY[x[1], 2], class) AS g FROM bound_row) AS t');

DROP TABLE bound_row, bound_task;
