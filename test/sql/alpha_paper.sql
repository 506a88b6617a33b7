-- What the paper shows: nine Gaussian tasks, and the age groups of the diabetes data.

-- Nine isotropic tasks of variance 1 in the plane, centred on a grid; rows at a distance of 1 from the centre along
-- both axes have exactly these moments.
CREATE FUNCTION pg_temp.gaussian(a float8, b float8) RETURNS wml_gram LANGUAGE sql AS $$
	SELECT wml_gram(ARRAY[1, a + u], b + v) FROM unnest(ARRAY[-1, 1]) AS u, unnest(ARRAY[-1, 1]) AS v
$$;
CREATE TEMP TABLE source AS
SELECT a, b, pg_temp.gaussian(a, b) AS gram FROM generate_series(-1, 1) AS a, generate_series(-1, 1) AS b;
CREATE TEMP TABLE target AS
SELECT a, b, pg_temp.gaussian(a, b) AS gram FROM generate_series(-1, 1, 0.1) AS a, generate_series(-1, 1, 0.1) AS b;

-- a target between the centres learns from those around it, one on a centre from that task alone
CREATE TEMP TABLE weighted AS
SELECT t.a AS target_a, t.b AS target_b, s.a, s.b, wml_alpha(s.gram, t.gram) OVER (PARTITION BY t.a, t.b) AS alpha
FROM source AS s, target AS t;
SELECT target_a, target_b, b, string_agg(to_char(alpha, '0.999'), ' ' ORDER BY a) AS "weights at a = -1, 0, 1"
FROM weighted WHERE (target_a, target_b) IN ((0.5, 0.5), (0.3, 0.4), (-0.4, 0.9), (1, 0.5), (0, 0))
GROUP BY target_a, target_b, b ORDER BY target_a, target_b, b DESC;
SELECT count(DISTINCT (target_a, target_b)) AS targets,
	max(alpha) FILTER (WHERE greatest(abs(a - target_a), abs(b - target_b)) >= 1) = 0 AS none_from_afar,
	min(alpha) FILTER (WHERE greatest(abs(a - target_a), abs(b - target_b)) < 0.2) > 0.5 AS most_from_the_nearest,
	bool_and(alpha = 1) FILTER (WHERE a = target_a AND b = target_b) AS all_from_itself
FROM weighted;
-- a target outside learns from the nearest corner
SELECT a, b, wml_alpha(gram, pg_temp.gaussian(3, -2)) OVER () AS alpha FROM source ORDER BY alpha DESC LIMIT 1;

-- Diabetes: the patients of 49 to 52 years learn from those of 39 to 48 and 64 to 79, hardly from the young.
CREATE TEMP TABLE diabetes (
	age int, sex int, bmi float8, bp float8, s1 float8, s2 float8, s3 float8, s4 float8, s5 float8, s6 float8, y float8
);
\copy diabetes FROM 'test/data/diabetes_raw.csv' WITH (FORMAT csv, HEADER)
CREATE TEMP TABLE age_group AS
SELECT min(age) || '-' || max(age) AS ages, count(*) AS patients, wml_gram(ARRAY[1, sex, bmi, bp, s1, s2, s3, s4, s5, s6], y) AS gram
FROM diabetes GROUP BY width_bucket(age, ARRAY[29, 39, 49, 53, 59, 64]);
SELECT ages, patients, round(alpha::numeric, 3) AS alpha, repeat('#', round(40 * alpha)::int) AS bar
FROM (SELECT s.ages, s.patients, wml_alpha(s.gram, t.gram) OVER () AS alpha
	  FROM age_group AS s, age_group AS t WHERE s.ages <> '49-52' AND t.ages = '49-52') AS weighted
ORDER BY ages;
SELECT round(sum(alpha) FILTER (WHERE ages IN ('39-48', '64-79'))::numeric, 1) AS mostly, max(alpha) FILTER (WHERE ages = '19-28') < 0.01 AS young
FROM (SELECT s.ages, wml_alpha(s.gram, t.gram) OVER () AS alpha
	  FROM age_group AS s, age_group AS t WHERE s.ages <> '49-52' AND t.ages = '49-52') AS weighted;
