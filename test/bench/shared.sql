-- The smooth part on one set of tasks; see shared.  The table example has the task, covariates u in standard units, and the response y.
CREATE TEMP TABLE variant (variant, x, smooth) AS
VALUES ('plain', '1 || u', NULL),
	('fourier', '1 || u || wml_rff(u, 100, 0.5 * sqrt(cardinality(u)), 1)', 100),
	('squares', '1 || u || (wml_poly(u, 2))[cardinality(u) + 2:]', (SELECT cardinality(wml_poly(u, 2)) - cardinality(u) - 1 FROM example LIMIT 1));
CREATE TEMP TABLE row_of (variant text, task text, id bigint, part int, x float8[], y float8);
SELECT format('INSERT INTO row_of SELECT %L, task, id, part, %s, y FROM example', variant, x) FROM variant \gexec

CREATE TEMP TABLE learned AS
SELECT part, variant, wml_prior(gram, (part <> own)::int, wml_prior_options(method => 'reml', evenness => random,
	smooth => CASE WHEN smooth > 0 THEN ARRAY[format('%s-%s', random + 1, random + smooth)] END)) AS prior,
	wml_erm(gram, (part <> own)::int) FILTER (WHERE variant = 'plain') AS joint
FROM (SELECT variant, part AS own, task, smooth, cardinality(min(row_of.x)) - coalesce(smooth, 0) AS random, wml_gram(row_of.x, y) AS gram
	  FROM row_of JOIN variant USING (variant) GROUP BY variant, part, task, smooth) AS source, (SELECT DISTINCT part FROM example) AS part
GROUP BY part, variant;

CREATE TEMP TABLE target AS
SELECT variant, part, task, repeat, known, wml_gram(x, y) FILTER (WHERE place <= known) AS gram, wml_gram(x, y) FILTER (WHERE place > known) AS rest
FROM lot JOIN row_of USING (id, task), unnest('{5,10,20}'::int[]) AS known
WHERE size >= known + 3 GROUP BY variant, part, task, repeat, known;
CREATE TEMP TABLE error AS
SELECT variant, known, task, repeat, wml_rmse(rest, wml_posterior_coef(prior, gram)) AS rmse, wml_rmse(rest, joint) AS uniform
FROM target JOIN learned USING (variant, part);
-- standard errors are those of the mean over tasks, which are drawn at random
INSERT INTO shared_result
SELECT :'name', variant, known, exp(avg(ratio)), coalesce(stddev(ratio) / sqrt(count(*)), 0), exp(avg(uniform))
FROM (SELECT a.variant, known, task, avg(ln(a.rmse / b.rmse)) AS ratio, avg(ln(b.rmse / b.uniform)) AS uniform
	  FROM error AS a JOIN error AS b USING (known, task, repeat) WHERE a.variant <> 'plain' AND b.variant = 'plain' AND b.rmse > 0 AND a.rmse > 0 GROUP BY a.variant, known, task) AS target
GROUP BY variant, known;
SELECT format('%-18s %6s %6s   %s', :'name', (SELECT count(DISTINCT task) FROM example), (SELECT count(*) FROM example),
	string_agg(format('%s: %s', variant, ratios), '   ' ORDER BY variant))
FROM (SELECT variant, string_agg(format('%s +- %s (%s)', round(ratio::numeric, 3), round(ratio_error::numeric, 3), round(uniform::numeric, 2)), ' ' ORDER BY known) AS ratios
	  FROM shared_result WHERE set = :'name' GROUP BY variant) AS result;
