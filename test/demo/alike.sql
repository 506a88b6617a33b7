-- A case where tasks are alike: the age groups of the diabetes data.
\i test/data/diabetes.sql
CREATE TABLE patient AS
SELECT width_bucket(age, ARRAY[29, 39, 49, 53, 59, 64]) AS ages, md5(diabetes::text) AS id, ARRAY[1, sex, bmi, bp, s1, s2, s3, s4, s5, s6]::float8[] AS x, y FROM diabetes;

WITH old AS (
	SELECT array_agg(gram ORDER BY ages) AS sources FROM (SELECT ages, wml_gram(x, y) AS gram FROM patient WHERE ages <> 3 GROUP BY ages) AS s
), new AS (
	SELECT choice, wml_folds(x, y) FILTER (WHERE place <= 20) AS folds, wml_gram(x, y) FILTER (WHERE place <= 20) AS known,
		wml_gram(x, y) FILTER (WHERE place > 20) AS unknown
	FROM (SELECT choice, x, y, row_number() OVER (PARTITION BY choice ORDER BY md5(id || choice)) AS place
		  FROM patient, generate_series(1, 20) AS choice WHERE ages = 3) AS shuffled GROUP BY choice
)
SELECT round(avg(wml_rmse(unknown, wml_coef(known)))::numeric, 1) AS "the twenty alone",
	round(avg(wml_rmse(unknown, (SELECT wml_erm(gram, 1) FROM unnest(sources) AS gram)))::numeric, 1) AS "all groups alike",
	round(avg(wml_rmse(unknown, (SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(sources, known)) AS s (gram, alpha))))::numeric, 1) AS "weights",
	round(avg(wml_rmse(unknown, (wml_tune(sources, folds)).coef))::numeric, 1) AS "wml_tune"
FROM old, new;
