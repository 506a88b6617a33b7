-- wml_auc: area under the ROC curve.

-- worked out by hand: all right, all wrong, all tied, a tie of one pair in four
SELECT label, wml_auc(score, y) FROM (VALUES
	('right', 1, -1), ('right', 2, 1), ('right', 3, 1), ('wrong', 1, 1), ('wrong', 2, -1),
	('tied', 1, 1), ('tied', 1, -1), ('tied', 1, -1), ('one tie', 1, -1), ('one tie', 2, -1), ('one tie', 2, 1), ('one tie', 3, 1))
AS t (label, score, y) GROUP BY label ORDER BY label;

-- against the definition, pair by pair, with ties
CREATE TABLE auc_row AS
SELECT g, i, ((i * 7919 + g * 31) % (10 * g))::float8 AS score, (i * 104729 + g) % 7 < g AS label
FROM generate_series(1, 5) AS g, generate_series(1, 200) AS i;
SELECT g, wml_auc(score, label) = definition AS exact, wml_auc(score, CASE WHEN label THEN 1 ELSE -1 END) = definition AS by_number,
	   abs(wml_auc(-score, label) - (1 - definition)) < 1e-15 AS reversed, abs(wml_auc(score, NOT label) - (1 - definition)) < 1e-15 AS swapped,
	   wml_auc(exp(score / 100) * 5, label) = definition AS only_order_matters
FROM auc_row JOIN (
	SELECT g, avg(CASE WHEN p.score > n.score THEN 1 WHEN p.score = n.score THEN 0.5 ELSE 0 END)::float8 AS definition
	FROM auc_row AS p JOIN auc_row AS n USING (g) WHERE p.label AND NOT n.label GROUP BY g
) AS by_pairs USING (g) GROUP BY g, definition ORDER BY g;

-- as a window, after each row
SELECT bool_and(running = (SELECT wml_auc(score, label) FROM auc_row AS r WHERE g = 2 AND r.i <= w.i)) AS same
FROM (SELECT i, wml_auc(score, label) OVER (ORDER BY i) AS running FROM auc_row WHERE g = 2) AS w WHERE running IS NOT NULL;

-- infinite scores have an order; NULLs take no part; one class is not enough
SELECT wml_auc(score, y) FROM (VALUES ('-Infinity'::float8, -1), (0, -1), (0, 1), ('Infinity', 1)) AS t (score, y);
SELECT wml_auc(score, y) FROM (VALUES (1, -1), (2, 1), (NULL, 1), (0, NULL)) AS t (score, y);
SELECT wml_auc(1, true) IS NULL AS one_class, wml_auc(NULL, true) IS NULL AS no_score, wml_auc(1, NULL::bool) IS NULL AS no_label;
SELECT wml_auc(score, label) IS NULL AS nothing FROM auc_row WHERE false;
SELECT wml_auc('NaN', true);
SELECT wml_auc(1, 'NaN'::float8);
SELECT wml_auc_accum(NULL, 1, true);
SELECT wml_auc_final('{v=1 positives=0 negatives=0 scores=[;]}');

-- in parallel, with the same result
CREATE TABLE auc_many AS SELECT (i * 7919) % 1009 AS score, (i * 104729) % 13 < 5 AS label FROM generate_series(1, 20000) AS i;
ALTER TABLE auc_many SET (parallel_workers = 2);
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT wml_auc(score, label) FROM auc_many;
SELECT wml_auc(score, label) AS auc FROM auc_many \gset parallel_
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT wml_auc(score, label) = :parallel_auc AS same FROM auc_many;
COMMIT;
DROP TABLE auc_row, auc_many;

-- the state is a value: it survives text and combines
CREATE AGGREGATE pg_temp.auc_state(float8, bool) (SFUNC = wml_auc_accum, STYPE = wml_auc_state);
CREATE AGGREGATE pg_temp.auc_of(wml_auc_state) (SFUNC = wml_auc_combine, STYPE = wml_auc_state, FINALFUNC = wml_auc_final);
SELECT pg_temp.auc_of(state::text::wml_auc_state) = (SELECT wml_auc(sin(i), i % 3 = 0) FROM generate_series(1, 100) AS i) AS same
FROM (SELECT pg_temp.auc_state(sin(i), i % 3 = 0) AS state FROM generate_series(1, 100) AS i GROUP BY i % 7) AS parts;
SELECT pg_temp.auc_state(i, i > 2) FROM generate_series(1, 4) AS i;
SELECT '{v=1 positives=1 negatives=0 scores=[Infinity; ]}'::wml_auc_state;
SELECT '{v=1 positives=1 negatives=0 scores=[NaN; ]}'::wml_auc_state;
SELECT '{v=1 positives=100000000 negatives=0 scores=[1; ]}'::wml_auc_state;
SELECT '{v=1 positives=1 negatives=1 scores=[1; ]}'::wml_auc_state;
