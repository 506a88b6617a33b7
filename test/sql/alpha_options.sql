-- The options shrink and whiten.
CREATE TEMP TABLE example AS
SELECT task, i, ARRAY[1, 2 * sin(task) + sin(1.7 * task * i), cos(2 * task) + cos(i)] AS x, cos(3 * task) * sin(i) + sin(task * i) + task % 3 AS y
FROM generate_series(1, 21) AS task, generate_series(1, 6 + task % 5) AS i;
CREATE TEMP TABLE task AS SELECT task, wml_gram(x, y) AS gram FROM example GROUP BY task;
ANALYZE example, task;
-- one problem, of 20 sources with 3 features
CREATE TEMP TABLE problem AS
SELECT array_agg(gram ORDER BY task) FILTER (WHERE task < 21) AS sources, (SELECT gram FROM task WHERE task = 21) AS target FROM task;
ANALYZE problem;

CREATE FUNCTION pg_temp.distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT max(abs(s - t)) FROM unnest(a, b) AS weight (s, t)
$$;
-- Lowest price of the sources with and without weight, relative to the scale; see alpha_exact.
CREATE FUNCTION pg_temp.is_optimal(sources wml_gram[], target wml_gram, alpha float8[], loss text, ridge float8) RETURNS bool LANGUAGE sql AS $$
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
	SELECT min(a) >= 0 AND abs(sum(a) - 1) <= 1e-12 AND max(price) FILTER (WHERE a > 0) - min(price) <= 1e-10 * max(square)
	FROM price
$$;

-- shrink adds shrink times the sampling variance of the target's embedding, here from its rows
WITH variance AS (
	SELECT loss, (avg(CASE loss WHEN 'square' THEN (features + y * y) ^ 2 ELSE y * y * features + 1 END)
				  - wml_kernel((SELECT target FROM problem), (SELECT target FROM problem), loss)) / (count(*) - 1) AS variance
	FROM (SELECT y, (SELECT sum(f * f) FROM unnest(x) AS f) AS features FROM example WHERE task = 21) AS row, unnest(ARRAY['square', 'hinge']) AS loss
	GROUP BY loss
)
SELECT loss, shrink, pg_temp.is_optimal(sources, target, alpha, loss, shrink * variance) AS optimal,
	shrink = 0 OR NOT pg_temp.is_optimal(sources, target, alpha, loss, 1.001 * shrink * variance) AS and_no_other
FROM problem, variance, unnest(ARRAY[0, 0.01, 1, 3, 30]) AS shrink, LATERAL (SELECT wml_alpha(sources, target, 'mixture', loss, shrink) AS alpha) AS solved
ORDER BY loss DESC, shrink;

-- the more, the more equal, up to uniform weights; copies share
SELECT bool_and(squares < previous) AS falls, min(squares) < 1 / 19.9999 AS to_uniform
FROM (SELECT squares, lag(squares, 1, 1::float8) OVER (ORDER BY shrink) AS previous
	  FROM problem, unnest(ARRAY[0, 0.01, 0.1, 1, 10, 100, 1e6]) AS shrink,
		LATERAL (SELECT sum(a * a) AS squares FROM unnest(wml_alpha(sources, target, shrink => shrink)) AS a) AS solved) AS shrunk;
SELECT pg_temp.distance(wml_alpha(sources, target, shrink => 1e30), wml_alpha(sources, target, 'uniform')) < 1e-12 AS uniform,
	pg_temp.distance(alpha[1:20], alpha[21:40]) < 1e-15 AS shared, pg_temp.distance(alpha[1:20], (SELECT array_agg(a / 2 ORDER BY j) FROM unnest(wml_alpha(sources, target, shrink => 1)) WITH ORDINALITY AS weight (a, j))) < 1e-9 AS halved
FROM problem, LATERAL (SELECT wml_alpha(sources || sources, target, shrink => 2) AS alpha) AS solved;
-- equal rows have no variance, so there is nothing to shrink for
SELECT wml_alpha(sources, known, shrink => 5) = wml_alpha(sources, known) AS same
FROM problem, (SELECT wml_gram(ARRAY[1, 0.5, 2], 3) AS known FROM generate_series(1, 4)) AS sure;
-- other weights take no notice
SELECT weights, wml_alpha(sources, target, weights, shrink => 5) = wml_alpha(sources, target, weights) AS same
FROM problem, unnest(ARRAY['closest', 'uniform', 'pooled']) AS weights ORDER BY weights;

-- whiten: as if the grams had been transformed by the inverse of the Cholesky factor of the pooled second moments
CREATE FUNCTION pg_temp.whitener(m float8[]) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	n int := array_length(m, 1);
	l float8[] := array_fill(0::float8, ARRAY[n, n]);
	r float8[] := array_fill(0::float8, ARRAY[n, n]);
	s float8;
BEGIN
	FOR i IN 1 .. n LOOP
		FOR j IN 1 .. i LOOP
			s := m[i][j];
			FOR k IN 1 .. j - 1 LOOP s := s - l[i][k] * l[j][k]; END LOOP;
			l[i][j] := CASE WHEN i = j THEN sqrt(s) ELSE s / l[j][j] END;
		END LOOP;
	END LOOP;
	FOR j IN 1 .. n LOOP
		FOR i IN j .. n LOOP
			s := CASE WHEN i = j THEN 1 ELSE 0 END;
			FOR k IN j .. i - 1 LOOP s := s - l[i][k] * r[k][j]; END LOOP;
			r[i][j] := s / l[i][i];
		END LOOP;
	END LOOP;
	RETURN r;
END
$$;
CREATE FUNCTION pg_temp.transformed(sources wml_gram[], matrix float8[]) RETURNS wml_gram[] LANGUAGE sql AS $$
	SELECT array_agg(wml_transform(gram, matrix) ORDER BY j) FROM unnest(sources) WITH ORDINALITY AS source (gram, j)
$$;
SELECT weights, shrink, pg_temp.distance(wml_alpha(sources, target, weights, shrink => shrink, whiten => true),
		wml_alpha(pg_temp.transformed(sources, r), wml_transform(target, r), weights, shrink => shrink)) < 1e-9 AS same
FROM problem, LATERAL (SELECT pg_temp.whitener(wml_second_moment(wml_merge(gram))) AS r FROM unnest(sources) AS gram) AS whitener,
	(VALUES ('mixture', 0), ('mixture', 3), ('closest', 0), ('pooled', 0), ('uniform', 0)) AS option (weights, shrink)
ORDER BY weights, shrink;
-- hinge loss: the features alone
SELECT shrink, pg_temp.distance(wml_alpha(sources, target, loss => 'hinge', shrink => shrink, whiten => true),
		wml_alpha(pg_temp.transformed(sources, r), wml_transform(target, r), loss => 'hinge', shrink => shrink)) < 1e-9 AS same
FROM problem, unnest(ARRAY[0, 3]) AS shrink,
	LATERAL (SELECT pg_temp.whitener(ARRAY[[m[1][1], m[1][2], m[1][3], 0], [m[2][1], m[2][2], m[2][3], 0], [m[3][1], m[3][2], m[3][3], 0], [0, 0, 0, 1]]) AS r
			 FROM (SELECT wml_second_moment(wml_merge(gram)) AS m FROM unnest(sources) AS gram) AS pooled) AS whitener
ORDER BY shrink;

-- No change of basis makes a difference, also when it is drastic; without whitening it does, unless it is orthogonal.
CREATE TEMP TABLE basis (name text, loss text, keeps_constant bool, matrix float8[]);
INSERT INTO basis VALUES
	('units', 'square', true, '{{1, 0, 0, 0}, {0, 1e6, 0, 0}, {0, 0, 1e-3, 0}, {0, 0, 0, 1e3}}'),
	('offsets', 'square', true, '{{1, 0, 0, 0}, {1e6, 1, 0, 0}, {-1e6, 0, 1, 0}, {1e6, 0, 0, 1}}'),
	('all together', 'square', true, '{{1, 0, 0, 0}, {1e6, 3, 1e-3, 0.5}, {1000, -1e-3, 2e-3, 1e-3}, {1e6, 1e5, -1e6, 1e4}}'),
	('without constant', 'square', false, '{{2, 1, 0, 1}, {-1, 3, 1, 0}, {0, 1, -2, 1}, {1, 1, 1, 5}}'),
	('permutation', 'square', false, '{{0, 0, 0, 1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}}'),
	('units', 'hinge', true, '{{1, 0, 0, 0}, {0, 1e6, 0, 0}, {0, 0, 1e-3, 0}, {0, 0, 0, 1}}'),
	('offsets', 'hinge', true, '{{1, 0, 0, 0}, {1e6, 1, 0, 0}, {-1e6, 2, 3, 0}, {0, 0, 0, 1}}'),
	('rotation', 'hinge', true, '{{1, 0, 0, 0}, {0, 0.8, 0.6, 0}, {0, -0.6, 0.8, 0}, {0, 0, 0, 1}}');
SELECT loss, name, max(difference) FILTER (WHERE whiten) < 1e-9 AS invariant, min(difference) FILTER (WHERE NOT whiten) > 1e-3 AS would_matter
FROM (SELECT basis.*, whiten, pg_temp.distance(
			wml_alpha(pg_temp.transformed(sources, matrix), wml_transform(target, matrix), weights, loss, shrink, whiten),
			wml_alpha(sources, target, weights, loss, shrink, whiten)) AS difference
	  FROM problem, basis, unnest(ARRAY[false, true]) AS whiten, (VALUES ('mixture', 0), ('mixture', 3), ('closest', 0)) AS option (weights, shrink)
	  WHERE whiten AND (shrink = 0 OR keeps_constant) OR NOT whiten AND weights = 'mixture' AND shrink = 0) AS compared
GROUP BY loss, name ORDER BY loss DESC, name;

-- columns that depend on others are left out, and so is what only the target has
SELECT pg_temp.distance(wml_alpha(pg_temp.transformed(sources, matrix), wml_transform(target, matrix), whiten => true, shrink => shrink),
		wml_alpha(sources, target, whiten => true, shrink => shrink)) < 1e-9 AS as_without
FROM problem, unnest(ARRAY[0, 3]) AS shrink,
	(VALUES ('{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}, {1, 2, -3, 0.5}, {0, 0, 0, 1}}'::float8[])) AS dependent (matrix)
ORDER BY shrink;
SELECT pg_temp.distance(wml_alpha(wide, wide_target, whiten => true), wml_alpha(sources, target, whiten => true)) < 1e-12 AS as_without
FROM problem, (SELECT array_agg(gram ORDER BY task) AS wide FROM (SELECT task, wml_gram(ARRAY[x[1], x[2], 0, x[3]], y) AS gram FROM example WHERE task < 21 GROUP BY task) AS task) AS sources_of,
	(SELECT wml_gram(ARRAY[x[1], x[2], i, x[3]], y) AS wide_target FROM example WHERE task = 21) AS target_of;
SELECT wml_alpha(array_fill(wml_gram(ARRAY[0, 0], 0), ARRAY[3]), wml_gram(ARRAY[i, 1], 2), whiten => true) AS nothing_to_whiten FROM generate_series(1, 2) AS i;

-- weighted rows: an integer weight is like so many rows for the embedding, but not for the variance
SELECT pg_temp.distance(wml_alpha(sources, weighted), wml_alpha(sources, repeated)) < 1e-12 AS same_place,
	pg_temp.distance(wml_alpha(sources, weighted, shrink => 1), wml_alpha(sources, repeated, shrink => 1)) > 1e-3 AS less_sure
FROM problem, (SELECT wml_gram(x, y, 3) AS weighted FROM example WHERE task = 21) AS w,
	(SELECT wml_gram(x, y) AS repeated FROM example, generate_series(1, 3) WHERE task = 21) AS r;
