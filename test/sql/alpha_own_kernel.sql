-- Weights from a kernel of one's own.
CREATE TEMP TABLE example AS
SELECT task, i, ARRAY[1, sin(task) + sin(1.7 * task * i), cos(2 * task) + cos(i)] AS x, cos(3 * task) * sin(i) + sin(task * i) AS y
FROM generate_series(1, 13) AS task, generate_series(1, 4 + task) AS i;
CREATE TEMP TABLE task AS SELECT task, wml_gram(x, y) AS gram FROM example GROUP BY task;
ANALYZE example, task;

-- sums of the kernel over all pairs of rows of two tasks, the target last
CREATE FUNCTION pg_temp.sums(loss text, factor float8 DEFAULT 1) RETURNS float8[] LANGUAGE sql AS $$
	SELECT array_agg(sums ORDER BY task)
	FROM (SELECT a.task, array_agg(factor * wml_kernel(a.gram, b.gram, loss) * wml_n(a.gram) * wml_n(b.gram) ORDER BY b.task) AS sums
		  FROM task AS a, task AS b GROUP BY a.task) AS by_row
$$;
CREATE TEMP TABLE size AS SELECT array_agg(wml_n(gram)::float8 ORDER BY task) AS sizes FROM task;
ANALYZE size;
CREATE FUNCTION pg_temp.distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT max(abs(s - t)) FROM unnest(a, b) AS weight (s, t)
$$;

-- the kernels of the two losses give the weights of the other two forms
SELECT loss, weights, pg_temp.distance(own, by_array) < 1e-9 AS as_by_array, pg_temp.distance(own, by_window) < 1e-9 AS as_by_window,
	pg_temp.distance(own, wml_alpha_kernel(pg_temp.sums(loss, 1e9), sizes, weights)) < 1e-9 AS whatever_the_unit
FROM size, unnest(ARRAY['square', 'hinge']) AS loss, unnest(ARRAY['mixture', 'closest', 'uniform', 'pooled']) AS weights,
	LATERAL (SELECT wml_alpha_kernel(pg_temp.sums(loss), sizes, weights) AS own) AS own,
	LATERAL (SELECT wml_alpha(array_agg(gram ORDER BY task) FILTER (WHERE task < 13), (SELECT gram FROM task WHERE task = 13), weights, loss) AS by_array
			 FROM task) AS by_array,
	LATERAL (SELECT array_agg(alpha ORDER BY task) AS by_window
			 FROM (SELECT s.task, wml_alpha(s.gram, t.gram, weights, loss) OVER () AS alpha
				   FROM task AS s, task AS t WHERE s.task < 13 AND t.task = 13) AS weighted) AS by_window
ORDER BY loss DESC, weights;

-- any other kernel: a Gaussian one, summed over the rows, and its conditions of optimality
WITH kernel AS (
	SELECT array_agg(sums ORDER BY task) AS k
	FROM (SELECT task, array_agg(total ORDER BY other) AS sums
		  FROM (SELECT a.task, b.task AS other,
					sum(exp(-((a.x[2] - b.x[2]) ^ 2 + (a.x[3] - b.x[3]) ^ 2 + (a.y - b.y) ^ 2) / 2)) AS total
				FROM example AS a, example AS b GROUP BY a.task, b.task) AS pair
		  GROUP BY task) AS by_row
), solved AS (
	SELECT shrink, k, sizes, alpha, array_agg(a / sizes[j] ORDER BY j) || -1 / sizes[13] AS v, shrink * k[13][13] / sizes[13] ^ 3 AS ridge
	FROM kernel, size, unnest(ARRAY[0, 2.5]) AS shrink, LATERAL (SELECT wml_alpha_kernel(k, sizes, 'mixture', shrink) AS alpha) AS solved,
		unnest(alpha) WITH ORDINALITY AS weight (a, j)
	GROUP BY shrink, k, sizes, alpha
), price AS (
	SELECT shrink, i, alpha[i] AS a, ridge * alpha[i] + (SELECT sum((k[i][j] / sizes[i] - k[13][j] / sizes[13]) * v[j]) FROM generate_series(1, 13) AS j) AS price
	FROM solved, generate_series(1, 12) AS i
)
SELECT shrink, min(a) >= 0 AND abs(sum(a) - 1) <= 1e-12 AS on_simplex, sum(a * price) - min(price) <= 1e-10 AS gap,
	max(price) FILTER (WHERE a > 0) - min(price) <= 1e-10 AS slackness, count(*) FILTER (WHERE a > 0) > 1 AS mixed
FROM price GROUP BY shrink ORDER BY shrink;

-- a large shrink means equal weights, and copies share; without, the first takes it all
SELECT pg_temp.distance(wml_alpha_kernel(pg_temp.sums('square'), sizes, 'mixture', 1e9), array_fill(1 / 12.0::float8, ARRAY[12])) < 1e-6 AS uniform FROM size;
WITH copies AS (
	SELECT ARRAY[[2, 2, 0, 1], [2, 2, 0, 1], [0, 0, 2, 1], [1, 1, 1, 1]]::float8[] AS k, ARRAY[1, 1, 1, 1]::float8[] AS sizes
)
SELECT pg_temp.distance(wml_alpha_kernel(k, sizes), ARRAY[0.5, 0, 0.5]) < 1e-15 AS first,
	pg_temp.distance(wml_alpha_kernel(k, sizes, 'mixture', 3), ARRAY[5 / 17.0, 5 / 17.0, 7 / 17.0]) < 1e-15 AS shared
FROM copies;
-- one source; a target like a source; closest of equals is the first
SELECT wml_alpha_kernel(ARRAY[[1, 0], [0, 1]], ARRAY[1, 1]) AS one,
	wml_alpha_kernel(ARRAY[[1, 0, 0], [0, 1, 1], [0, 1, 1]], ARRAY[1, 1, 1]) AS among,
	wml_alpha_kernel(ARRAY[[1, 0, 0], [0, 1, 0], [0, 0, 1]], ARRAY[1, 1, 1], 'closest') AS closest,
	wml_alpha_kernel(ARRAY[[0, 0, 0], [0, 0, 0], [0, 0, 0]], ARRAY[1, 1, 1]) AS nothing;
-- sizes matter: sums over 4 x 4, 4 x 1 and 1 x 1 pairs of the same row
SELECT wml_alpha_kernel(ARRAY[[16, 0, 4], [0, 9, 0], [4, 0, 1]], ARRAY[4, 3, 1]) AS alpha;
-- rounding is no asymmetry and no indefiniteness
SELECT pg_temp.distance(wml_alpha_kernel(ARRAY[[1, 1e-17, 0.5], [-1e-17, 1, 0.5], [0.5, 0.5, 0.5]], ARRAY[1, 1, 1]), ARRAY[0.5, 0.5]) < 1e-15 AS symmetric,
	wml_alpha_kernel(ARRAY[[1, 1, 1], [1, 1 - 1e-15, 1], [1, 1, 1]], ARRAY[1, 1, 1]) IS NOT NULL AS semidefinite;
