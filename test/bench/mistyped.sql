-- Mistyped rows in one set of tasks; see mistyped.
CREATE TEMP TABLE wrong AS
SELECT id, task FROM (SELECT task, id, row_number() OVER (PARTITION BY task ORDER BY md5('row ' || id)) AS place, count(*) OVER (PARTITION BY task) AS size FROM example) AS r
	JOIN (SELECT task, row_number() OVER (ORDER BY md5('task ' || task)) AS place, count(*) OVER () AS size FROM example GROUP BY task) AS t USING (task)
WHERE t.place <= greatest(1, round(0.05 * t.size)) AND r.place <= greatest(1, round(0.02 * r.size));
-- 100 times a covariate is not 100 times u, which is in standard units
\getenv covariates covariates
CREATE TEMP TABLE mistyped AS
SELECT id, CASE WHEN :covariates = 0 THEN u ELSE ARRAY(SELECT CASE WHEN i <= :covariates THEN 100 * v + 99 * mean / sd ELSE v END FROM unnest(u) WITH ORDINALITY AS t (v, i)
	JOIN (SELECT mean, sd, row_number() OVER (ORDER BY k) AS i FROM unit) AS unit USING (i) ORDER BY i) END AS u,
	y * CASE WHEN :covariates = 0 THEN 100 ELSE 1 END AS y
FROM wrong JOIN example USING (id, task);
CREATE TEMP TABLE source AS
SELECT part, task, bool_or(m.id IS NOT NULL) AS bad, cardinality(min(e.u)) + 1 AS d, wml_gram(1 || e.u, e.y) AS clean, wml_gram(1 || coalesce(m.u, e.u), coalesce(m.y, e.y)) AS typed
FROM example AS e LEFT JOIN mistyped AS m USING (id) GROUP BY part, task;
-- does wml_prior warn of a covariate?
SET client_min_messages = warning;
\o /dev/null
\warn clean
SELECT wml_prior(array_agg(clean ORDER BY task), method => 'reml', evenness => min(d)) FROM source;
\warn mistyped
SELECT wml_prior(array_agg(typed ORDER BY task), method => 'reml', evenness => min(d)) FROM source;
\o
SET client_min_messages = error;
CREATE TEMP TABLE learned AS
SELECT part.part, model, f.typed, wml_prior(CASE WHEN f.typed THEN source.typed ELSE clean END, (part.part <> source.part)::int,
	wml_prior_options(method => 'reml', evenness => d, noise => noise, tasks => tasks) ORDER BY task) AS prior
FROM source, (SELECT DISTINCT part FROM example) AS part, (VALUES ('plain', 'common', 'normal'), ('robust', 'own', 't'), ('auto', 'auto', 'auto')) AS m (model, noise, tasks), unnest('{f,t}'::bool[]) AS f (typed)
GROUP BY part.part, model, f.typed;
-- what a prior can do at best that is told which tasks are mistyped
INSERT INTO learned
SELECT part.part, 'told', true, wml_prior(clean, (part.part <> source.part AND NOT bad)::int, wml_prior_options(method => 'reml', evenness => d, noise => 'own', tasks => 't') ORDER BY task)
FROM source, (SELECT DISTINCT part FROM example) AS part GROUP BY part.part;
CREATE TEMP TABLE target AS
SELECT part, task, repeat, known, wml_gram(1 || u, y) FILTER (WHERE place <= known) AS gram, wml_gram(1 || u, y) FILTER (WHERE place > known) AS rest
FROM lot JOIN example USING (id, task), unnest('{5,10}'::int[]) AS known WHERE size >= known + 3 GROUP BY part, task, repeat, known;
CREATE TEMP TABLE error AS
SELECT known, model, typed, task, avg(wml_mse(rest, coef)) AS square, avg(ln(nullif(wml_rmse(rest, coef), 0))) AS log FROM target JOIN learned USING (part), LATERAL (SELECT wml_posterior_coef(prior, gram) AS coef OFFSET 0) AS c GROUP BY known, model, typed, task;
-- the standard error of log(robust / plain), tasks being drawn at random, by the delta method; and the same of a typical task
CREATE TEMP TABLE chance AS
SELECT known, r.model, sqrt(sum((r.square / r.mean - p.square / p.mean) ^ 2)) / 2 / count(*) AS ratio_error, avg(r.log - p.log) AS typical, stddev(r.log - p.log) / sqrt(count(*)) AS typical_error
FROM (SELECT *, avg(square) OVER (PARTITION BY known) AS mean FROM error WHERE model = 'plain' AND NOT typed) AS p
	JOIN (SELECT *, avg(square) OVER (PARTITION BY known, model) AS mean FROM error WHERE model IN ('robust', 'auto') AND NOT typed) AS r USING (known, task) GROUP BY known, r.model;
ANALYZE target, lot, example, learned;
-- 90 % intervals, and who is said not to belong
CREATE TEMP TABLE interval AS
SELECT known, model, avg((y BETWEEN c.lower AND c.upper)::int) AS cover, avg((y BETWEEN t.lower AND t.upper)::int) AS cover_typed, percentile_cont(0.5) WITHIN GROUP (ORDER BY (t.upper - t.lower) / nullif(c.upper - c.lower, 0)) AS wider
FROM (SELECT known, model, y, gram, u, c.prior AS clean, t.prior AS typed
	  FROM target JOIN lot USING (task, repeat) JOIN example USING (part, task, id) JOIN learned AS c USING (part) JOIN learned AS t USING (part, model)
	  WHERE repeat = 1 AND place BETWEEN known + 1 AND known + 10 AND t.typed AND NOT c.typed ORDER BY model, task, known OFFSET 0) AS p,
	wml_predict_interval(clean, gram, 1 || u, 0.9) AS c, wml_predict_interval(typed, gram, 1 || u, 0.9) AS t GROUP BY known, model;
CREATE TEMP TABLE named AS
SELECT model, avg((NOT belongs)::int) FILTER (WHERE typed AND bad) AS found, avg((NOT belongs)::int) FILTER (WHERE typed AND NOT bad) AS others, avg((NOT belongs)::int) FILTER (WHERE NOT typed) AS others_clean
FROM (SELECT model, l.typed, bad, (wml_task_fit(prior, CASE WHEN l.typed THEN source.typed ELSE clean END)).belongs FROM learned AS l JOIN source ON source.part <> l.part WHERE model <> 'told') AS fit GROUP BY model;
INSERT INTO mistyped_result
SELECT :'name', known, m.model, sqrt(avg(square) FILTER (WHERE error.model = 'plain' AND NOT typed)), sqrt(avg(square) FILTER (WHERE error.model = 'plain' AND typed)),
	sqrt(avg(square) FILTER (WHERE error.model = m.model AND NOT typed)), sqrt(avg(square) FILTER (WHERE error.model = m.model AND typed)), sqrt(avg(square) FILTER (WHERE error.model = 'told')), min(ratio_error), min(typical), min(typical_error),
	min(i.cover), min(i.cover_typed), min(i.wider), min(found), min(others), min(others_clean), min(p.cover_typed), min(p.wider)
FROM error JOIN chance AS m USING (known) JOIN interval AS i USING (known) JOIN interval AS p USING (known) JOIN named ON named.model = m.model WHERE i.model = m.model AND p.model = 'plain' GROUP BY known, m.model;
SELECT format('%-18s %5s  %s (%s)   %s %s (%s +- %s, typical task %s +- %s, %s; %s; intervals cover %s, mistyped %s, %s times as wide; do not belong %s, others %s, of clean sources %s)', set, known, to_char(plain, 'FM99990.0000'), round((plain_typed / plain)::numeric, 2), model, to_char(robust, 'FM99990.0000'),
	round((robust / plain)::numeric, 3), round(ratio_error::numeric, 3), round(exp(typical)::numeric, 3), round(typical_error::numeric, 3), round((robust_typed / robust)::numeric, 3), round((told / robust)::numeric, 3),
	round(cover::numeric, 2), round(cover_typed::numeric, 2), round(wider::numeric, 2), round(found::numeric, 2), round(others::numeric, 3), round(others_clean::numeric, 3)) FROM mistyped_result WHERE set = :'name' ORDER BY known, model DESC;

\getenv tune tune
\if :tune
-- the same of wml_tune, for 16 targets by lot that are not mistyped, from 200 sources at the most
CREATE TEMP TABLE few AS
SELECT * FROM source WHERE task IN (SELECT task FROM source ORDER BY md5(task) LIMIT 200);
CREATE TEMP TABLE tuned AS
SELECT known, typed, task, gram, rest, wml_tune(grams, gram) AS tuned, names
FROM target AS t, unnest('{f,t}'::bool[]) AS f (typed), LATERAL (
	SELECT array_agg(CASE WHEN f.typed THEN few.typed ELSE clean END ORDER BY task) AS grams, array_agg(task ORDER BY task) AS names FROM few WHERE few.task <> t.task) AS s
WHERE repeat = 1 AND task IN (SELECT task FROM few WHERE NOT bad ORDER BY md5('target ' || task) LIMIT 16);
INSERT INTO mistyped_tuned
SELECT :'name', known, sqrt(avg(square) FILTER (WHERE NOT typed)), sqrt(avg(square) FILTER (WHERE typed)), avg(cover) FILTER (WHERE NOT typed), avg(cover) FILTER (WHERE typed),
	avg(found) FILTER (WHERE typed), avg(others) FILTER (WHERE typed), avg(others) FILTER (WHERE NOT typed)
FROM (SELECT known, typed, wml_mse(rest, (tuned).coef) AS square,
		(SELECT avg((y BETWEEN lower AND upper)::int) FROM lot JOIN example USING (id, task), wml_predict_interval(tuned, 1 || u, 0.9) WHERE lot.task = tuned.task AND repeat = 1 AND place > known) AS cover,
		(SELECT avg((names[i] = ANY (ARRAY(SELECT task FROM few WHERE bad)))::int * cardinality((tuned).left_out)) FROM unnest((tuned).left_out) AS i) / nullif((SELECT count(*) FROM few WHERE bad), 0) AS found,
		(SELECT count(*) FROM unnest((tuned).left_out) AS i WHERE NOT typed OR names[i] <> ALL (ARRAY(SELECT task FROM few WHERE bad))) AS others
	FROM tuned) AS judged GROUP BY known;
SELECT format('%-18s %5s  %s   wml_tune (mistyped / clean %s; 90 %% intervals cover %s, mistyped %s; mistyped sources left out %s, others %s, of clean ones %s)', set, known, to_char(clean, 'FM99990.0000'),
	round((typed / clean)::numeric, 3), round(cover::numeric, 2), round(cover_typed::numeric, 2), round(found::numeric, 2), round(others::numeric, 2), round(others_clean::numeric, 2)) FROM mistyped_tuned WHERE set = :'name' ORDER BY known;
\endif
