-- Kernels, distances and embeddings of tasks.
CREATE TEMP TABLE example AS
SELECT task, ARRAY[1, sin(task + 1.7 * i), cos(0.9 * task * i)] AS x, sin(i) + cos(task * i) AS y
FROM generate_series(1, 4) AS task, generate_series(1, 5 + 3 * task) AS i;
CREATE TEMP TABLE task AS SELECT task, wml_gram(x, y) AS gram FROM example GROUP BY task;
ANALYZE example, task;

-- the mean over all pairs of rows: of (z.z')^2 for square loss, of y y' psi.psi' + 1 for hinge loss
WITH pair AS (
	SELECT a.task AS a, b.task AS b, a.y * b.y AS responses,
		(SELECT sum(s * t) FROM unnest(a.x, b.x) AS feature (s, t)) AS features
	FROM example AS a, example AS b
), by_rows AS (
	SELECT a, b, avg((features + responses) ^ 2) AS square, avg(features * responses + 1) AS hinge
	FROM pair GROUP BY a, b
)
SELECT count(*) AS pairs,
	max(abs(wml_kernel(a.gram, b.gram) / square - 1)) < 1e-13 AS square,
	max(abs(wml_kernel(a.gram, b.gram, 'hinge') - hinge)) < 1e-13 AS hinge
FROM by_rows JOIN task AS a ON a = a.task JOIN task AS b ON b = b.task;

-- the distance is the Euclidean one of the embeddings, and belongs to the kernel
SELECT loss, count(*) AS pairs, min(cardinality(wml_embedding(a.gram, loss))) AS dims,
	max(abs(wml_distance(a.gram, b.gram, loss) - euclidean)) < 1e-13 AS is_euclidean,
	max(abs(wml_distance(a.gram, b.gram, loss) ^ 2 - (wml_kernel(a.gram, a.gram, loss)
		- 2 * wml_kernel(a.gram, b.gram, loss) + wml_kernel(b.gram, b.gram, loss)))) < 1e-13 AS of_kernel,
	bool_and(wml_distance(a.gram, b.gram, loss) = wml_distance(b.gram, a.gram, loss)) AS symmetric,
	bool_and((wml_distance(a.gram, b.gram, loss) = 0) = (a.task = b.task)) AS zero_for_itself
FROM task AS a, task AS b, unnest(ARRAY['square', 'hinge']) AS loss,
	LATERAL (SELECT sqrt(sum((s - t) ^ 2)) AS euclidean
			 FROM unnest(wml_embedding(a.gram, loss), wml_embedding(b.gram, loss)) AS place (s, t)) AS embedded
GROUP BY loss ORDER BY loss DESC;

-- the operator, which is its own commutator
SELECT bool_and(a.gram <-> b.gram = wml_distance(a.gram, b.gram)) AS same FROM task AS a, task AS b;
SELECT oprcom = oid AS commutes FROM pg_operator WHERE oprname = '<->' AND oprleft = 'wml_gram'::regtype;

-- figures that can be worked out by hand: one row (1, 2 | 3), and rows of weight 1 and 3
SELECT wml_embedding(wml_gram(ARRAY[1, 2], 3)) AS square, wml_embedding(wml_gram(ARRAY[1, 2], 3), 'hinge') AS hinge;
SELECT wml_kernel(a, b) AS square, wml_kernel(a, b, 'hinge') AS hinge,
	wml_distance(a, b) ^ 2 AS square_distance, wml_distance(a, b, 'hinge') ^ 2 AS hinge_distance
FROM (SELECT wml_gram(ARRAY[x], y, w) AS a, wml_gram(ARRAY[2], 1) AS b
	  FROM (VALUES (1, 0, 1), (1, 4, 3)) AS row (x, y, w)) AS task;

-- the same rows in another order have distance 0, also when columns have very different sizes
SELECT forwards <-> backwards AS square, wml_distance(forwards, backwards, 'hinge') AS hinge
FROM (SELECT wml_gram(x, y ORDER BY i) AS forwards, wml_gram(x, y ORDER BY i DESC) AS backwards
	  FROM (SELECT i, ARRAY[1, 1e6 + sin(i), 1e-3 * cos(i)] AS x, 1e6 * sin(i * i) AS y
			FROM generate_series(1, 1000) AS i) AS example) AS task;
-- and every digit of a small change is there
SELECT abs((a <-> b) / (sqrt(2 + 2 * 1e12 + (2e6 + 2 ^ -20) ^ 2) * 2 ^ -20 / 1000) - 1) < 1e-12 AS exact
FROM (SELECT wml_gram(ARRAY[1, 1e6], 1e6 + CASE i WHEN 7 THEN 2 ^ -20 ELSE 0 END) AS a,
		wml_gram(ARRAY[1, 1e6], 1e6) AS b
	  FROM generate_series(1, 1000) AS i) AS task;

-- NULL
SELECT wml_kernel(NULL, gram) IS NULL AND wml_kernel(gram, gram, NULL) IS NULL AND wml_distance(gram, NULL) IS NULL
	AND gram <-> NULL IS NULL AND wml_embedding(NULL) IS NULL AND wml_embedding(gram, NULL) IS NULL AS nulls
FROM task WHERE task = 1;
