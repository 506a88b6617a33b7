-- Diabetes: the patients of 49 to 52 years are the target, 20 of them known; the other age groups are the sources.
--
-- Run from the top of the tree.  Variables: splits (200).
\ir common.sql
\if :{?splits} \else \set splits 200 \endif
\set name diabetes
\set known 20
\set eta 0.00001
\set digits 1
\i test/data/diabetes.sql

CREATE TEMP TABLE patient AS
SELECT CASE WHEN age BETWEEN 49 AND 52 THEN '49-52' ELSE
		(ARRAY['19-28', '29-38', '39-48', '53-58', '59-63', '64-79'])[width_bucket(age, ARRAY[19, 29, 39, 53, 59, 64])]
	END AS ages, md5(diabetes::text) AS id, ARRAY[1, sex, bmi, bp, s1, s2, s3, s4, s5, s6] AS x, y
FROM diabetes;

CREATE TEMP TABLE source AS
SELECT ages AS task, wml_gram(x, y) AS gram FROM patient WHERE ages <> '49-52' GROUP BY ages;

CREATE TEMP TABLE target_row AS
SELECT id, x, y FROM patient WHERE ages = '49-52';

CREATE TEMP TABLE paper (method, printed) AS VALUES
	('target', 92.31), ('erm uniform', 50.31), ('erm mixture', 49.24), ('maml uniform', 50.44), ('maml mixture', 49.36);

\ir splits.sql
