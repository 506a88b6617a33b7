-- Mistyped rows in one set of tasks; see mistyped.
CREATE TEMP TABLE wrong AS
SELECT id, task FROM (SELECT task, id, row_number() OVER (PARTITION BY task ORDER BY md5('row ' || id)) AS place, count(*) OVER (PARTITION BY task) AS size FROM example) AS r
	JOIN (SELECT task, row_number() OVER (ORDER BY md5('task ' || task)) AS place, count(*) OVER () AS size FROM example GROUP BY task) AS t USING (task)
WHERE t.place <= greatest(1, round(0.05 * t.size)) AND r.place <= greatest(1, round(0.02 * r.size));
CREATE TEMP TABLE source AS
SELECT part, task, task IN (SELECT task FROM wrong) AS bad, cardinality(min(u)) + 1 AS d, wml_gram(1 || u, y) AS clean, wml_gram(1 || u, y * CASE WHEN id IN (SELECT id FROM wrong) THEN 100 ELSE 1 END) AS typed
FROM example GROUP BY part, task;
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
INSERT INTO mistyped_result
SELECT :'name', known, m.model, sqrt(avg(square) FILTER (WHERE error.model = 'plain' AND NOT typed)), sqrt(avg(square) FILTER (WHERE error.model = 'plain' AND typed)),
	sqrt(avg(square) FILTER (WHERE error.model = m.model AND NOT typed)), sqrt(avg(square) FILTER (WHERE error.model = m.model AND typed)), sqrt(avg(square) FILTER (WHERE error.model = 'told')), min(ratio_error), min(typical), min(typical_error)
FROM error JOIN chance AS m USING (known) GROUP BY known, m.model;
SELECT format('%-18s %5s  %s (%s)   %s %s (%s +- %s, typical task %s +- %s, %s; %s)', set, known, to_char(plain, 'FM99990.0000'), round((plain_typed / plain)::numeric, 2), model, to_char(robust, 'FM99990.0000'),
	round((robust / plain)::numeric, 3), round(ratio_error::numeric, 3), round(exp(typical)::numeric, 3), round(typical_error::numeric, 3), round((robust_typed / robust)::numeric, 3), round((told / robust)::numeric, 3)) FROM mistyped_result WHERE set = :'name' ORDER BY known, model DESC;

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
