-- make demo: learn from the age groups of the diabetes data.
\set ON_ERROR_STOP on
\pset footer off

\echo '442 diabetes patients; each age group is a task of its own.'
CREATE EXTENSION wml;
\i test/data/diabetes.sql

SELECT width_bucket(age, ARRAY[19, 29, 39, 49, 53, 59, 64]) AS task, min(age) AS youngest, max(age) AS oldest,
	count(*) AS patients, round(avg(y)) AS mean_progression
FROM diabetes GROUP BY task ORDER BY task;
