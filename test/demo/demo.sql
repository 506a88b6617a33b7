-- make demo: learn from the age groups of the diabetes data.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION wml;
\i test/data/diabetes.sql
SELECT setseed(0.2020) \g /dev/null

\echo
\echo '442 diabetes patients, ten measurements each, and how far the disease went in a year (y).'
\echo 'The patients of 49 to 52 years are the new task: 20 of them are known. The other age groups are'
\echo 'tasks with plenty of rows. Which of them should we learn from, and how much?'
\echo
\echo 'One pass over the table gives one gram, a summary of about a kilobyte, for each task:'
\echo
\echo '    SELECT age_group, wml_gram(ARRAY[1, sex, bmi, bp, s1, s2, s3, s4, s5, s6], y) FROM ... GROUP BY age_group'
\echo

CREATE TABLE patient AS
SELECT CASE WHEN age BETWEEN 49 AND 52 THEN '49-52' ELSE
		(ARRAY['19-28', '29-38', '39-48', '53-58', '59-63', '64-79'])[width_bucket(age, ARRAY[19, 29, 39, 53, 59, 64])]
	END AS age_group, ARRAY[1, sex, bmi, bp, s1, s2, s3, s4, s5, s6]::float8[] AS x, y
FROM diabetes;

CREATE TABLE source AS
SELECT age_group, wml_gram(x, y) AS gram FROM patient WHERE age_group <> '49-52' GROUP BY age_group;

-- 200 ways to know 20 of the target's patients and be judged by the others
CREATE TABLE target AS
SELECT split, wml_gram(x, y) FILTER (WHERE place <= 20) AS known, wml_gram(x, y) FILTER (WHERE place > 20) AS unknown
FROM (SELECT split, x, y, row_number() OVER (PARTITION BY split ORDER BY random()) AS place
	FROM patient, generate_series(1, 200) AS split WHERE age_group = '49-52') AS shuffled
GROUP BY split;
ALTER TABLE target ADD PRIMARY KEY (split);

\echo 'The weights alpha bring the mixture of age groups as close to the 20 patients as it can be'
\echo '(here the mean over 200 random choices of the 20):'
\echo
\echo '    SELECT age_group, wml_alpha(source.gram, target.gram) OVER () FROM source, target'
\echo

SELECT age_group, max(patients) AS patients, round(avg(uniform)::numeric, 3) AS uniform,
	round(avg(alpha)::numeric, 3) AS alpha, repeat('#', round(40 * avg(alpha))::int) AS "alpha, as a bar"
FROM (SELECT age_group, wml_n(gram) AS patients, wml_alpha(gram, known, 'uniform') OVER s AS uniform,
		wml_alpha(gram, known) OVER s AS alpha
	FROM source, target WINDOW s AS (PARTITION BY split)) AS weighted
GROUP BY age_group ORDER BY age_group;

\echo 'The weighted model, and how well each choice of weights predicts the patients not yet known'
\echo '(root mean squared error, median and quartiles over the 200 choices):'
\echo
\echo '    SELECT wml_rmse(unknown, wml_erm(gram, alpha)) FROM ... '
\echo

WITH weighted AS (
	SELECT split, gram,
		wml_alpha(gram, known, 'uniform') OVER s AS uniform,
		wml_alpha(gram, known) OVER s AS mixture,
		wml_alpha(gram, known, 'closest') OVER s AS closest,
		wml_alpha(gram, known, shrink => 3, whiten => true) OVER s AS careful
	FROM source, target WINDOW s AS (PARTITION BY split)
), judged AS (
	SELECT split, choice.*
	FROM (SELECT split,
			wml_erm(gram, uniform) AS uniform, wml_erm(gram, mixture) AS mixture,
			wml_erm(gram, closest) AS closest, wml_erm(gram, careful) AS careful
		FROM weighted GROUP BY split) AS fitted
	JOIN (SELECT split, unknown, wml_erm(known, 1) AS alone FROM target GROUP BY split) AS target USING (split),
	LATERAL (VALUES
		(1, 'the 20 patients alone', wml_rmse(unknown, alone)),
		(2, 'all groups alike (uniform)', wml_rmse(unknown, uniform)),
		(3, 'closest group', wml_rmse(unknown, closest)),
		(4, 'weights alpha (mixture)', wml_rmse(unknown, mixture)),
		(5, 'alpha, whiten and shrink 3', wml_rmse(unknown, careful))) AS choice (rank, learn_from, rmse)
)
SELECT learn_from, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY rmse)::numeric, 1) AS median_rmse,
	round(percentile_cont(0.25) WITHIN GROUP (ORDER BY rmse)::numeric, 1) AS lower_quartile,
	round(percentile_cont(0.75) WITHIN GROUP (ORDER BY rmse)::numeric, 1) AS upper_quartile
FROM judged GROUP BY rank, learn_from ORDER BY rank;

\echo 'The groups are much alike.  To learn from all of them is far better than from 20 patients alone;'
\echo 'weights that follow 20 patients give some of that away; with whiten and shrink nothing is lost.'
\echo 'Where tasks differ, weights are what helps: see docs/weights.md, and docs/compare.md for wml_tune,'
\echo 'which finds out what helps on your own data.'
