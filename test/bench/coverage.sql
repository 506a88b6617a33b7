-- Coverage in one set of tasks; see coverage.
CREATE TEMP TABLE learned AS
SELECT part, model, wml_prior(gram, (part <> own)::int, wml_prior_options(method => 'reml', evenness => d, noise => noise, tasks => tasks) ORDER BY task) AS prior
FROM (SELECT part AS own, task, cardinality(min(u)) + 1 AS d, wml_gram(1 || u, y) AS gram FROM example GROUP BY part, task) AS source, (SELECT DISTINCT part FROM example) AS part,
	(VALUES ('plain', 'common', 'normal'), ('robust', 'own', 't')) AS m (model, noise, tasks) GROUP BY part, model;
CREATE TEMP TABLE half AS SELECT id, row_number() OVER (PARTITION BY task ORDER BY md5('half ' || id)) % 2 = 0 AS first FROM example;
CREATE TEMP TABLE noise AS
SELECT task, ntile(5) OVER (ORDER BY wml_rmse(gram, wml_posterior_coef(prior, gram)), task) AS fifth
FROM (SELECT part, task, wml_gram(1 || u, y) AS gram FROM example JOIN half USING (id) WHERE first GROUP BY part, task) AS t JOIN learned USING (part) WHERE model = 'robust';

CREATE TEMP TABLE target AS
SELECT part, task, repeat, known, wml_gram(1 || u, y) FILTER (WHERE place <= known) AS gram
FROM lot JOIN example USING (id, task), unnest('{0,5,10,20}'::int[]) AS known
WHERE size >= known + 3 AND task IN (SELECT task FROM example GROUP BY task ORDER BY md5(task) LIMIT 100) GROUP BY part, task, repeat, known;
CREATE TEMP TABLE hit AS
SELECT model, known, task, level, avg((y BETWEEN lower AND upper)::int) AS covered, count(DISTINCT id) AS size, avg((y BETWEEN lower AND upper)::int) FILTER (WHERE NOT first) AS covered_half
FROM (SELECT * FROM target JOIN lot USING (task, repeat) JOIN example USING (part, task, id) JOIN half USING (id) JOIN learned USING (part), unnest('{0.5,0.9,0.95}'::float8[]) AS level
	  WHERE place BETWEEN known + 1 AND known + 30 ORDER BY model, task, repeat, known, level OFFSET 0) AS row_of, wml_predict_interval(prior, gram, 1 || u, level)
GROUP BY model, known, task, level;
INSERT INTO coverage_result
SELECT :'name', model, known, level, count(*), avg(covered), avg(covered_half) FILTER (WHERE fifth = 1), avg(covered_half) FILTER (WHERE fifth = 5),
	sqrt(greatest(0, var_samp(covered) - avg(covered * (1 - covered) / greatest(size - 1, 1))))
FROM hit JOIN noise USING (task) GROUP BY model, known, level;
SELECT format('%-18s %5s %5s  %s', :'name', max(tasks), known, string_agg(one, '   ' ORDER BY model))
FROM (SELECT known, model, max(tasks) AS tasks, format('%s: %s', model, string_agg(to_char(covered, 'FM0.000') || CASE level WHEN 0.9 THEN format(' [%s %s; %s]', to_char(quiet, 'FM0.00'), to_char(noisy, 'FM0.00'),
	to_char(spread, 'FM0.00')) ELSE '' END, ' ' ORDER BY level)) AS one FROM coverage_result WHERE set = :'name' GROUP BY known, model) AS line GROUP BY known ORDER BY known;
