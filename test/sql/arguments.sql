-- Arguments that change from call to call, that are longer than anybody would write them, or that outlive their row.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS wml;

-- PL/pgSQL keeps an expression from one round of a loop to the next, and what functions keep with it.
DO $$
DECLARE
	family text;
	levels text[];
	said text := '';
BEGIN
	FOREACH family IN ARRAY ARRAY['poisson', 'binomial', 'negative_binomial(0.5)', 'gaussian', 'poisson'] LOOP
		said := concat_ws(' ', said, round(wml_deviance(family, 1, 0.25)::numeric, 3), wml_possible_response(family, 2, 1, 1));
	END LOOP;
	FOREACH levels SLICE 1 IN ARRAY ARRAY[['a', 'b', 'c'], ['b', 'a', 'c'], ['c', 'b', 'd'], ['a', 'b', 'c']] LOOP
		said := concat_ws(' ', said, coalesce(wml_category('a', levels)::text, 'none'));
	END LOOP;
	RAISE WARNING '%', said;
END $$;
SELECT string_agg(round(wml_deviance(family, 1, 0.25)::numeric, 3)::text, ' ' ORDER BY place)
FROM unnest(ARRAY['poisson', 'binomial', 'negative_binomial(0.5)', 'gaussian', 'poisson']) WITH ORDINALITY AS f (family, place);

-- The aggregate keeps the options of its first row, which is gone when they are needed.
CREATE TEMP TABLE task AS
SELECT task, wml_gram(ARRAY[1, sin(i), cos(i * task), sin(i * i)], sin(i * task) + task) AS gram
FROM generate_series(1, 12) AS task, generate_series(1, 9) AS i GROUP BY task;
CREATE TEMP TABLE named AS
SELECT task, gram, array_fill(repeat('the second', 20), ARRAY[1]) AS fixed,
	   ARRAY[repeat('the first', 20), repeat('the second', 20), repeat('the third', 20), repeat('the fourth', 20)] AS names
FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(fixed => fixed || repeat('the fourth', 20 + task - task), features => names) ORDER BY task)::text =
	   (SELECT wml_prior(array_agg(gram ORDER BY task), fixed => '{2,4}')::text FROM task) AS kept
FROM named;

-- so many words, names and descriptors that only a mistake can have made them
SELECT wml_prior(array_agg(gram), fixed => array_fill('2'::text, ARRAY[100000])) IS NOT NULL AS marked FROM task;
SELECT wml_prior(array_agg(gram), fixed => array_fill('fourth'::text, ARRAY[100000]), features => '{first,second,third,fourth}') IS NOT NULL AS marked FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(), array_fill(0::float8, ARRAY[3000000])) FROM task;
SELECT wml_prior(gram, 1, wml_prior_options(), array_fill(0::float8, ARRAY[1000])) FROM task;
SELECT wml_prior(array_agg(gram), descriptors => array_fill(0::float8, ARRAY[12, 100000])) FROM task;

-- rows that no posterior can be found for are rows that are not finite
SELECT wml_n(gram), wml_usable(gram), wml_dims(gram)
FROM (SELECT wml_kept_gram(ARRAY[1, 1e150 * i], 1, '{v=2 d=2 descriptors=1 family=poisson flags=0 rank=2 iterations=1 noise=1 tasks=1 effective=1 rows=1 degrees=1 loglik=0 parameters=0 shape=0 power=0 limit=0 spread=0 dispersion=0 smooth=0 smooth_degrees=0 design_rank=0 mean=[1e300 1e300] factor=[1e300; 1e300 1e300] mean_covariance=[1; 0 1]}', 1, 1) AS gram
	  FROM generate_series(1, 5) AS i) AS kept;

-- more memory than any machine has is an error before it is taken
SELECT wml_glm_prior(ARRAY[gram], 'binomial') IS NULL
FROM (SELECT wml_gram(wml_rff(ARRAY[i::float8], 1000, 1, 1), 1) AS gram FROM generate_series(1, 3) AS i) AS wide;
