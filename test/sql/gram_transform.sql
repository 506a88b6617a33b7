-- Changes of basis: the gram of transformed rows from the gram of the rows.
SET extra_float_digits = 1;
CREATE TEMP TABLE sale (price float8, promo float8, units float8);
INSERT INTO sale VALUES (1, 0, 10), (2, 1, 14), (4, 0, 6), (5, 1, 2);
CREATE TEMP TABLE task AS SELECT wml_gram(ARRAY[1, price, promo], units) AS gram FROM sale;

-- what can be read does not change when nothing is changed
SELECT wml_second_moment(same) = wml_second_moment(gram) AS moments, wml_mean(same) = wml_mean(gram) AS means,
	   wml_n(same) = wml_n(gram) AS n, wml_weight(same) = wml_weight(gram) AS weight
FROM task, LATERAL (SELECT wml_transform(gram, ARRAY[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]) AS same) AS t;
-- columns can be left out, swapped, repeated, scaled and combined; the last row makes the response
SELECT wml_second_moment(wml_transform(gram, matrix)) = wml_second_moment(direct) AS moments,
	   wml_mean(wml_transform(gram, matrix)) IS NOT DISTINCT FROM wml_mean(direct) AS means, matrix
FROM task, (VALUES
	(ARRAY[[0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], (SELECT wml_gram(ARRAY[promo, price], units) FROM sale)),
	(ARRAY[[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], (SELECT wml_gram(ARRAY[price, 1, price], units) FROM sale)),
	(ARRAY[[1, 0, 0, 0], [-3, 2, 0.5, 0], [0, 0, -1, 0.25]], (SELECT wml_gram(ARRAY[1, -3 + 2 * price + promo / 2], units / 4 - promo) FROM sale)),
	(ARRAY[[2, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]], (SELECT wml_gram(ARRAY[2, units], price) FROM sale)),
	(ARRAY[[0, 0, 0, 1], [1, 0, 0, 0]], (SELECT wml_gram(ARRAY[units], 1) FROM sale)),
	(ARRAY[[0, 0, 0, 0], [0, 0, 0, 1]], (SELECT wml_gram(ARRAY[0], units) FROM sale))
) AS example (matrix, direct);
-- a feature that is always 1 stays known when it is copied, whichever of several
SELECT wml_mean(wml_transform(wml_gram(ARRAY[1, price, 1], units), ARRAY[[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])) FROM sale;
-- one change of basis after the other is their product
SELECT wml_second_moment(wml_transform(wml_transform(gram, ARRAY[[1, 0, 0, 0], [1, 2, 0, 0], [0, 0, 0, 1]]), ARRAY[[1, 1, 0], [0, 4, -1]])) =
	   wml_second_moment(wml_transform(gram, ARRAY[[2, 2, 0, 0], [4, 8, 0, -1]]))
FROM task;
-- weights, skipped rows and rows without weight come along
SELECT wml_transform(wml_gram(x, y, w), ARRAY[[1, -1, 0], [0, 0, 2]])
FROM (VALUES (ARRAY[1, 2], 3, 0.5), (ARRAY[1, 5], 7, 0), (NULL, 1, 1)) AS t (x, y, w);
-- a task that has no rows has nothing to change
SELECT wml_transform(empty, ARRAY[[1, 0, 0, 0], [0, 0, 0, 1]]) = empty, wml_standardize(empty, gram) = empty
FROM (SELECT wml_gram(NULL, units) AS empty FROM sale) AS t, task;
-- what is not finite spoils what it goes into
SELECT wml_second_moment(wml_transform(wml_gram(ARRAY[1, 'NaN'::float8, 2], 3), ARRAY[[1, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]));

-- standardized: mean 0 and variance 1 over the rows of the reference
SELECT wml_mean(std), wml_second_moment(std) FROM task, LATERAL (SELECT wml_standardize(gram, gram) AS std) AS t;
-- the same by hand
CREATE FUNCTION pg_temp.close(a float8[], b float8[]) RETURNS bool AS $$
	SELECT bool_and(abs(x - y) < 1e-12) FROM unnest(a, b) AS t (x, y)
$$ LANGUAGE sql;
SELECT pg_temp.close(wml_second_moment(wml_standardize(gram, gram)), wml_second_moment(by_hand))
FROM task, (SELECT wml_gram(ARRAY[1, (price - m_price) / s_price, (promo - m_promo) / s_promo], (units - m_units) / s_units) AS by_hand
			FROM sale, (SELECT avg(price) AS m_price, stddev_pop(price) AS s_price, avg(promo) AS m_promo, stddev_pop(promo) AS s_promo,
							   avg(units) AS m_units, stddev_pop(units) AS s_units FROM sale) AS scale) AS direct;
-- another task in the units of the first
SELECT wml_mean(wml_standardize(task, reference))
FROM (SELECT wml_gram(ARRAY[1, price], units) AS reference FROM sale) AS a, (SELECT wml_gram(ARRAY[1, 3 + 1.5], 8) AS task) AS b;
-- a feature that does not vary is centred, its noise is not blown up; the constant may stand anywhere
SELECT wml_second_moment(wml_standardize(gram, gram))
FROM (SELECT wml_gram(ARRAY[0.1, price, 1], units) AS gram FROM sale) AS t;
-- far from the origin the variance keeps its digits
SELECT pg_temp.close(wml_second_moment(wml_standardize(far.gram, far.gram)), wml_second_moment(wml_standardize(near.gram, near.gram)))
FROM (SELECT wml_gram(ARRAY[1, 1.7e9 + price], 1e9 + units) AS gram FROM sale) AS far, (SELECT wml_gram(ARRAY[1, price], units) AS gram FROM sale) AS near;
-- with weights
SELECT wml_mean(std), (wml_second_moment(std))[2][2] FROM (SELECT wml_standardize(gram, gram) AS std FROM (SELECT wml_gram(ARRAY[1, price], units, 1 + promo) AS gram FROM sale) AS t) AS s;
-- the order of the rows does not matter
SELECT wml_standardize(a, b) = wml_standardize(b, a), wml_second_moment(wml_standardize(a, a)) = wml_second_moment(wml_standardize(b, b))
FROM (SELECT wml_gram(ARRAY[1, sin(i), sqrt(i)], ln(i) ORDER BY i) AS a, wml_gram(ARRAY[1, sin(i), sqrt(i)], ln(i) ORDER BY i DESC) AS b
	  FROM generate_series(1, 1000) AS i) AS t;
