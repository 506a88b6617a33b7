-- Near-singular designs: regression, model and prior agree on how many features are independent.  Where all
-- are, there is one answer, and all give it; else the model's is the shortest in the units of the features,
-- the prior's in standard units.
SET client_min_messages = error;

WITH year(t, noise) AS (
	SELECT t::float8, sin(t * t) FROM generate_series(1950, 2020) AS t
), design(name, x, y) AS (
	SELECT 'cubic in the year', ARRAY[1, t, t^2, t^3], t + noise FROM year
	UNION ALL
	SELECT 'quintic in the year', ARRAY[1, t, t^2, t^3, t^4, t^5], t + noise FROM year
	UNION ALL
	SELECT 'a, b, and a + b as rounded', ARRAY[1, t / 7, sin(t), t / 7 + sin(t)], t + noise FROM year
	UNION ALL
	SELECT 'price, and price with tax', ARRAY[1, t / 7, t / 7 * 1.19], t + noise FROM year
	UNION ALL
	SELECT 'equal to nine digits', ARRAY[1, t, t + sin(t) * 1e-6], t + noise FROM year
	UNION ALL
	SELECT 'fewer rows than features', ARRAY[1, t, sin(t), cos(t)], t + noise FROM year WHERE t < 1952
), task AS (
	SELECT name, wml_gram(x, y) AS gram FROM design GROUP BY name
), model AS (
	SELECT name, gram, wml_prior_mean(wml_prior(ARRAY[gram])) AS prior, coef
	FROM task JOIN (SELECT name, wml_erm(gram, 1) AS coef FROM task GROUP BY name) AS erm USING (name)
)
SELECT name, wml_dims(gram) AS dims, (SELECT rank FROM wml_linregr_summary(gram)) AS rank,
	(SELECT max(abs(a - b)) <= 1e-3 * max(abs(a)) FROM unnest(coef, prior) AS c(a, b)) AS one_answer,
	abs(wml_mse(gram, coef) - wml_mse(gram, prior)) < 1e-6 AS same_fit
FROM model ORDER BY name;
