-- One set of tasks for shared, coverage and mistyped, from the table read, which has the task, covariates and the response, all as text:
-- example with covariates in standard units, in four parts; and lot, which draws known rows of tasks :repeats times.
CREATE TEMP TABLE record AS
SELECT field[1] AS task, field[2:cardinality(field) - 1]::float8[] AS x, field[cardinality(field)]::float8 AS y, row_number() OVER () AS id
FROM (SELECT ARRAY(SELECT value FROM json_each_text(row_to_json(read))) AS field FROM read) AS r;

-- covariates in standard units, as random Fourier features want them
CREATE TEMP TABLE unit AS
SELECT k, avg(v) AS mean, stddev(v) AS sd FROM record, unnest(x) WITH ORDINALITY AS u (v, k) GROUP BY k HAVING stddev(v) > 0;
CREATE TEMP TABLE example AS
SELECT task, id, y, abs(hashtext(task)) % 4 AS part, array_agg((v - mean) / sd ORDER BY k) AS u
FROM record, unnest(x) WITH ORDINALITY AS w (v, k) JOIN unit USING (k) GROUP BY task, id, y;
CREATE TEMP TABLE lot AS
SELECT id, task, repeat, row_number() OVER (PARTITION BY task, repeat ORDER BY md5(repeat || ' ' || id)) AS place, count(*) OVER (PARTITION BY task, repeat) AS size
FROM example, generate_series(1, :repeats) AS repeat;
