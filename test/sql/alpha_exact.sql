-- Weights are exact: certificates from the embeddings, oracles, and the cases in which solvers go wrong.

-- Is alpha on the simplex, and do all conditions of optimality hold?  With e_j the embedding of source j minus that
-- of the target, x = sum alpha_j e_j and prices e_j.x + ridge alpha_j: the sources with weight have the lowest price.
CREATE FUNCTION pg_temp.certificate(sources wml_gram[], target wml_gram, alpha float8[],
	loss text DEFAULT 'square', ridge float8 DEFAULT 0)
RETURNS TABLE (on_simplex bool, gap bool, slackness bool) LANGUAGE sql AS $$
	WITH difference AS (
		SELECT j, k, s - t AS e
		FROM unnest(sources) WITH ORDINALITY AS source (gram, j),
			unnest(wml_embedding(gram, loss), wml_embedding(target, loss)) WITH ORDINALITY AS place (s, t, k)
	), mixture AS (
		SELECT k, sum(alpha[j] * e) AS x FROM difference GROUP BY k
	), price AS (
		SELECT alpha[j] AS a, sum(e * x) + ridge * alpha[j] AS price, sum(e * e) AS square
		FROM difference JOIN mixture USING (k) GROUP BY j
	)
	SELECT min(a) >= 0 AND abs(sum(a) - 1) <= 1e-12,
		2 * ((SELECT sum(x * x) FROM mixture) + ridge * sum(a * a) - min(price)) <= 1e-10 * (max(square) + ridge),
		max(price) FILTER (WHERE a > 0) - min(price) <= 1e-10 * (max(square) + ridge)
	FROM price
$$;

-- The squared distance of the mixture.
CREATE FUNCTION pg_temp.square_of(sources wml_gram[], target wml_gram, alpha float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT sum(x * x)
	FROM (SELECT sum(alpha[j] * (s - t)) AS x
		  FROM unnest(sources) WITH ORDINALITY AS source (gram, j),
			unnest(wml_embedding(gram), wml_embedding(target)) WITH ORDINALITY AS place (s, t, k)
		  GROUP BY k) AS mixture
$$;

-- Sources and a target for each problem: linear tasks with `dims` features, of which the second and third may be
-- scaled.
CREATE FUNCTION pg_temp.task(problem int, task int, dims int, rows int, large float8 DEFAULT 1, small float8 DEFAULT 1)
RETURNS wml_gram LANGUAGE sql AS $$
	SELECT wml_gram(x, (SELECT sum(f * cos(task * k * 1.3 + problem)) FROM unnest(x) WITH ORDINALITY AS feature (f, k)) + sin(37 * i))
	FROM generate_series(1, rows) AS i,
		LATERAL (SELECT array_agg(CASE k WHEN 1 THEN 1 WHEN 2 THEN large WHEN 3 THEN small ELSE 1 END *
								  CASE WHEN k > 1 THEN sin(problem + task * k) + sin(problem * k + task * 3.1 + i * k * 1.7) ELSE 1 END ORDER BY k) AS x
				 FROM generate_series(1, dims) AS k) AS features
$$;

-- few and many sources, few and many features, well and badly scaled
CREATE TEMP TABLE problem AS
SELECT name, problem, array_agg(pg_temp.task(problem, task, dims, 5 + task % 7, large, small) ORDER BY task) AS sources,
	pg_temp.task(problem, 1000, dims, 6, large, small) AS target
FROM (VALUES
	(1, 'one source', 1, 3, 1.0, 1.0),
	(2, 'two sources', 2, 3, 1, 1),
	(3, 'fewer sources than features', 5, 12, 1, 1),
	(4, 'as many as dimensions', 10, 3, 1, 1),
	(5, 'more sources', 60, 4, 1, 1),
	(6, 'many sources, one feature', 300, 1, 1, 1),
	(7, 'columns of 1e6 and 1e-3', 40, 4, 1e6, 1e-3),
	(8, 'columns of 1e-3 and 1e6', 40, 4, 1e-3, 1e6)
) AS kind (problem, name, count, dims, large, small), generate_series(1, count) AS task
GROUP BY name, problem, dims, large, small;
SELECT name, certificate.*, wml_alpha_gap(sources, target, alpha) <= 1e-10 * largest AS own_gap
FROM problem, LATERAL (SELECT wml_alpha(sources, target) AS alpha) AS solved,
	LATERAL pg_temp.certificate(sources, target, alpha) AS certificate,
	LATERAL (SELECT max((gram <-> target) ^ 2) AS largest FROM unnest(sources) AS gram) AS size
ORDER BY problem;
SELECT bool_and(on_simplex AND gap AND slackness) AS hinge
FROM problem, LATERAL (SELECT wml_alpha(sources, target, loss => 'hinge') AS alpha) AS solved,
	LATERAL pg_temp.certificate(sources, target, alpha, 'hinge') AS certificate;

-- equal problems have equal bits
SELECT bool_and(wml_alpha(sources, target) = wml_alpha(sources::text::wml_gram[], target::text::wml_gram)) AS equal
FROM problem, generate_series(1, 3);

-- A brute-force oracle: of the exact solutions on the faces of the simplex (all subsets of the sources), the best
-- that is feasible.
CREATE FUNCTION pg_temp.solve_face(q float8[], face int[]) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	n int := cardinality(face);
	-- Q a = mu, sum a = 1, as rows of (n + 1) x (n + 2)
	a float8[] := array_fill(0::float8, ARRAY[n + 1, n + 2]);
	factor float8;
	pivot int;
	swap float8;
BEGIN
	FOR i IN 1 .. n LOOP
		FOR j IN 1 .. n LOOP a[i][j] := q[face[i]][face[j]]; END LOOP;
		a[i][n + 1] := 1;
		a[n + 1][i] := 1;
	END LOOP;
	a[n + 1][n + 2] := 1;
	FOR c IN 1 .. n + 1 LOOP
		pivot := c;
		FOR r IN c .. n + 1 LOOP IF abs(a[r][c]) > abs(a[pivot][c]) THEN pivot := r; END IF; END LOOP;
		IF a[pivot][c] = 0 THEN RETURN NULL; END IF;
		FOR k IN 1 .. n + 2 LOOP
			swap := a[c][k]; a[c][k] := a[pivot][k]; a[pivot][k] := swap;
		END LOOP;
		FOR r IN 1 .. n + 1 LOOP
			IF r <> c THEN
				factor := a[r][c] / a[c][c];
				FOR k IN c .. n + 2 LOOP a[r][k] := a[r][k] - factor * a[c][k]; END LOOP;
			END IF;
		END LOOP;
	END LOOP;
	RETURN (SELECT array_agg(a[i][n + 2] / a[i][i] ORDER BY i) FROM generate_series(1, n) AS i);
END
$$;
CREATE FUNCTION pg_temp.oracle(q float8[]) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	n int := array_length(q, 1);
	face int[];
	weights float8[];
	alpha float8[];
	value float8;
	least float8 := 'Infinity';
	best float8[];
BEGIN
	FOR subset IN 1 .. (1 << n) - 1 LOOP
		face := ARRAY(SELECT j FROM generate_series(1, n) AS j WHERE subset & (1 << (j - 1)) <> 0);
		weights := pg_temp.solve_face(q, face);
		CONTINUE WHEN weights IS NULL OR 0 > ANY (weights);
		alpha := array_fill(0::float8, ARRAY[n]);
		FOR i IN 1 .. cardinality(face) LOOP alpha[face[i]] := weights[i]; END LOOP;
		value := (SELECT sum(alpha[i] * alpha[j] * q[i][j]) FROM generate_series(1, n) AS i, generate_series(1, n) AS j);
		IF value < least THEN
			least := value;
			best := alpha;
		END IF;
	END LOOP;
	RETURN best;
END
$$;
-- ten problems of five sources; Q_ij = e_i.e_j, from kernels
WITH small AS (
	SELECT problem, array_agg(pg_temp.task(problem, task, 2, 8) ORDER BY task) AS sources, pg_temp.task(problem, 9, 2, 8) AS target
	FROM generate_series(1, 10) AS problem, generate_series(1, 5) AS task GROUP BY problem
), products AS (
	SELECT problem, i, array_agg(wml_kernel(sources[i], sources[j]) - wml_kernel(sources[i], target)
								 - wml_kernel(target, sources[j]) + wml_kernel(target, target) ORDER BY j) AS q_row
	FROM small, generate_series(1, 5) AS i, generate_series(1, 5) AS j GROUP BY problem, i
), solved AS (
	SELECT wml_alpha(sources, target) AS alpha, pg_temp.oracle(ARRAY(SELECT q_row FROM products WHERE products.problem = small.problem ORDER BY i)) AS oracle
	FROM small
)
SELECT count(*) AS weights, max(abs(a - b)) < 1e-9 AS agree, bool_and((a > 0) = (b > 0)) AS same_support,
	count(*) FILTER (WHERE a > 0) > 10 AS mixed
FROM solved, unnest(alpha, oracle) AS weight (a, b);

-- Copies: the first takes the weight of all, wherever the others stand.
SELECT weight[1:4] = alpha AS as_before, weight[5:12] = array_fill(0::float8, ARRAY[8]) AS rest_zero
FROM (SELECT wml_alpha(sources, target) AS alpha, wml_alpha(sources || sources || sources, target) AS weight
	  FROM (SELECT array_agg(pg_temp.task(3, task, 3, 9) ORDER BY task) AS sources, pg_temp.task(3, 5, 3, 9) AS target
			FROM generate_series(1, 4) AS task) AS few) AS solved;
SELECT wml_alpha(array_fill(pg_temp.task(1, 1, 3, 9), ARRAY[5]), pg_temp.task(1, 2, 3, 9)) AS identical,
	wml_alpha(array_fill(pg_temp.task(1, 1, 3, 9), ARRAY[5]), pg_temp.task(1, 2, 3, 9), 'closest') AS closest,
	wml_alpha(array_fill(pg_temp.task(1, 1, 3, 9), ARRAY[5]), pg_temp.task(1, 2, 3, 9), 'closest', whiten => true) AS whitened;

-- a target among the sources, also when its rows came in another order
SELECT wml_alpha(sources, sources[k]) AS alpha, wml_alpha_gap(sources, sources[k], wml_alpha(sources, sources[k])) AS gap
FROM (SELECT array_agg(pg_temp.task(2, task, 3, 9) ORDER BY task) AS sources FROM generate_series(1, 4) AS task) AS few,
	generate_series(1, 4) AS k ORDER BY k;
SELECT wml_alpha(ARRAY[pg_temp.task(2, 1, 3, 9), forwards, backwards], forwards) AS first,
	wml_alpha(ARRAY[backwards, backwards, forwards], forwards) AS only_copies
FROM (SELECT wml_gram(x, y ORDER BY i) AS forwards, wml_gram(x, y ORDER BY i DESC) AS backwards
	  FROM (SELECT i, ARRAY[1, 1e6 + sin(i), cos(i)] AS x, sin(i * i) AS y FROM generate_series(1, 100) AS i) AS example) AS task;

-- a target inside the hull: all rows together are the mixture in proportion to the rows
SELECT (SELECT max(abs(a - wml_n(gram) / wml_n(target)::float8)) FROM unnest(sources, alpha) AS source (gram, a)) < 1e-10 AS found,
	pg_temp.square_of(sources, target, alpha) <= 1e-24 * (SELECT max((gram <-> target) ^ 2) FROM unnest(sources) AS gram) AS at_distance_zero
FROM (SELECT sources, target, wml_alpha(sources, target) AS alpha
	  FROM (SELECT array_agg(gram) AS sources, wml_merge(gram) AS target
			FROM (SELECT pg_temp.task(4, task, 3, 5 + 2 * task) AS gram FROM generate_series(1, 6) AS task) AS task) AS few) AS solved;
-- with more sources than dimensions there are many such mixtures, and any will do
SELECT abs((SELECT sum(a) FROM unnest(alpha) AS a) - 1) < 1e-12 AS on_simplex,
	(SELECT count(*) FROM unnest(alpha) AS a WHERE a > 0) <= 11 AS few_dimensions,
	wml_alpha_gap(sources, target, alpha) <= 1e-10 * (SELECT max((gram <-> target) ^ 2) FROM unnest(sources) AS gram) AS gap
FROM (SELECT sources, target, wml_alpha(sources, target) AS alpha
	  FROM (SELECT array_agg(gram) AS sources, wml_merge(gram) AS target
			FROM (SELECT pg_temp.task(5, task, 3, 9) AS gram FROM generate_series(1, 100) AS task) AS task) AS many) AS solved;

-- sources along a line, with the target beside it: a mixture of the two ends, or of neighbours, is equally good
SELECT on_simplex, gap, slackness
FROM (SELECT array_agg(gram ORDER BY share) AS sources
	  FROM (SELECT share, wml_merge(gram) AS gram
			FROM generate_series(1, 9) AS share,
				LATERAL (SELECT pg_temp.task(6, 1, 3, 4) FROM generate_series(1, share)
						 UNION ALL SELECT pg_temp.task(6, 2, 3, 4) FROM generate_series(share, 9)) AS part (gram)
			GROUP BY share) AS line) AS solved,
	LATERAL pg_temp.certificate(sources, pg_temp.task(6, 3, 3, 4), wml_alpha(sources, pg_temp.task(6, 3, 3, 4))) AS certificate;

-- the gap of poor weights bounds what they lose
SELECT count(*) AS tried, bool_and(0 < excess AND excess <= gap) AS bounded
FROM (SELECT wml_alpha_gap(sources, target, weights) AS gap,
		pg_temp.square_of(sources, target, weights) - pg_temp.square_of(sources, target, wml_alpha(sources, target)) AS excess
	  FROM problem, unnest(ARRAY['uniform', 'pooled']) AS kind, LATERAL (SELECT wml_alpha(sources, target, kind) AS weights) AS poor
	  WHERE cardinality(sources) > 1) AS compared;
