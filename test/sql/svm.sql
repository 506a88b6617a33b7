-- wml_svm_train: support vector machines on the rows of a query.
CREATE FUNCTION pg_temp.error_of(query text) RETURNS TABLE (state text, message text, detail text, hint text) AS $$
BEGIN
	BEGIN
		EXECUTE query;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
			detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	END;
	RETURN NEXT;
END
$$ LANGUAGE plpgsql;

CREATE TABLE svm_row AS
SELECT i, ARRAY[1, cos(i * 0.7) * 2, sin(i * i) * 3] AS x,
	   CASE WHEN cos(i * 0.7) + sin(i * i) + 0.5 * sin(i * 1.7) > 0.1 THEN 1 ELSE -1 END AS y, 0.5 + (i % 3) AS weight
FROM generate_series(1, 150) AS i;

-- the objective is what the definition says, and no step in any direction lowers it
CREATE FUNCTION pg_temp.objective(w float8[], cost float8, weighted bool) RETURNS float8 AS $$
	SELECT (SELECT sum(v * v) / 2 FROM unnest(w) AS u (v)) +
		   cost * sum(CASE WHEN weighted THEN weight ELSE 1 END * greatest(0, 1 - y * wml_predict(w, x)))
	FROM svm_row
$$ LANGUAGE sql;
SELECT n, skipped, gap <= 1e-9 * objective AS converged, abs(objective - pg_temp.objective(coef, 0.3, false)) < 1e-9 AS objective,
	   (SELECT min(pg_temp.objective(ARRAY[w1 + h1, w2 + h2, w3 + h3], 0.3, false)) >= objective - 1e-9 * objective
		FROM (SELECT coef[1] AS w1, coef[2] AS w2, coef[3] AS w3) AS w,
			 unnest(ARRAY[-0.1, -0.001, 0, 0.001, 0.1]) AS h1, unnest(ARRAY[-0.1, -0.001, 0, 0.001, 0.1]) AS h2,
			 unnest(ARRAY[-0.1, -0.001, 0, 0.001, 0.1]) AS h3) AS minimum
FROM wml_svm_train('SELECT x, y FROM svm_row', cost => 0.3, tolerance => 1e-9, passes => 100000);
SELECT gap <= 1e-9 * objective AS converged, abs(objective - pg_temp.objective(coef, 0.3, true)) < 1e-9 AS objective
FROM wml_svm_train('SELECT x, y, weight FROM svm_row', cost => 0.3, tolerance => 1e-9, passes => 100000);

-- a row of weight 2 is two rows; weight 0 is none; the order of the rows and the seed do not matter
SELECT abs(a.objective - b.objective) < 1e-7 AS twice, abs(a.objective - c.objective) < 1e-7 AS other_order,
	   abs(a.objective - d.objective) < 1e-7 AS other_seed, e.objective = a.objective AS same_bits
FROM wml_svm_train('SELECT x, y, 2 FROM svm_row UNION ALL SELECT ARRAY[9, 9, 9], -1, 0', 0.3, 1e-9, 100000) AS a,
	 wml_svm_train('SELECT x, y FROM svm_row, generate_series(1, 2)', 0.3, 1e-9, 100000) AS b,
	 wml_svm_train('SELECT x, y::numeric, 2::real FROM svm_row ORDER BY i DESC', 0.3, 1e-9, 100000) AS c,
	 wml_svm_train('SELECT x, y, 2 FROM svm_row', 0.3, 1e-9, 100000, seed => 42) AS d,
	 wml_svm_train('SELECT x, y, 2 FROM svm_row UNION ALL SELECT ARRAY[9, 9, 9], -1, 0', 0.3, 1e-9, 100000) AS e;

-- features of unlike size, with a large offset: no warning, and the gap is small
SELECT gap <= 1e-6 * objective AS converged, objective < 0.9 * n AS learned
FROM wml_svm_train('SELECT ARRAY[1, 1000 + 100 * x[2], x[3] / 100], y FROM svm_row');

-- rows with NULL are skipped; many rows come in batches
SELECT n, skipped FROM wml_svm_train('SELECT x, y FROM svm_row UNION ALL VALUES (NULL::float8[], 1), (ARRAY[1, NULL, 2], 1), (ARRAY[1, 2, 3], NULL)');
SELECT n FROM wml_svm_train('SELECT x, y, 0.01 FROM svm_row, generate_series(1, 31)');
-- numbers of any kind
SELECT n FROM wml_svm_train($$SELECT ARRAY[1, i], y::numeric FROM svm_row$$);
-- no cost: no coefficients; a row of zeros is lost whatever happens
SELECT coef, objective FROM wml_svm_train('SELECT x, y FROM svm_row', cost => 0);
SELECT coef, objective, gap FROM wml_svm_train('SELECT ARRAY[0, 0]::float8[], 1', cost => 2);
-- by hand: x = 2 and y = 1 want w = 1/2
SELECT coef, objective, support FROM wml_svm_train('SELECT ARRAY[2]::float8[], 1', cost => 10);

-- running out of passes is a warning
SELECT passes_taken, gap > 0 AS not_converged FROM wml_svm_train('SELECT x, y FROM svm_row', tolerance => 0, passes => 1);

-- with the caller's rights
CREATE ROLE wml_svm_reader;
SET ROLE wml_svm_reader;
SELECT n FROM wml_svm_train('SELECT x, y FROM svm_row');
RESET ROLE;
GRANT SELECT ON svm_row TO wml_svm_reader;
SET ROLE wml_svm_reader;
SELECT n FROM wml_svm_train('SELECT x, y FROM svm_row');
RESET ROLE;

-- functions in the query cannot write either; afterwards the transaction can again, also after an error
CREATE SEQUENCE svm_sequence;
CREATE FUNCTION pg_temp.writing() RETURNS float8 LANGUAGE sql VOLATILE AS 'INSERT INTO svm_row VALUES (0) RETURNING 1.0::float8';
CREATE FUNCTION pg_temp.allowing() RETURNS float8 LANGUAGE sql VOLATILE AS 'SELECT length(set_config(''transaction_read_only'', ''off'', true))::float8';
BEGIN;
SAVEPOINT s;
SELECT n FROM wml_svm_train('SELECT ARRAY[pg_temp.writing()], 1');
ROLLBACK TO s;
SELECT n FROM wml_svm_train('SELECT ARRAY[nextval(''svm_sequence'')], 1');
ROLLBACK TO s;
SELECT n FROM wml_svm_train('SELECT ARRAY[pg_temp.allowing()], 1');
ROLLBACK TO s;
SHOW transaction_read_only;
INSERT INTO svm_row SELECT 0, x, y, weight FROM svm_row WHERE i = 1;
SELECT n FROM wml_svm_train('SELECT x, y FROM svm_row');
SHOW transaction_read_only;
DELETE FROM svm_row WHERE i = 0;
COMMIT;
DROP SEQUENCE svm_sequence;

-- one row, also where the query is NULL
SELECT v, (wml_svm_train(CASE WHEN v > 1 THEN 'SELECT ARRAY[2]::float8[], 1' END)).n FROM generate_series(1, 2) AS v ORDER BY v;

-- errors
\pset expanded on
\pset tuples_only on
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT i, y FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT ARRAY[i::text], y FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y, weight, i FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y::text FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, i FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y, -weight FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row UNION ALL SELECT ARRAY[1], 1'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT ARRAY[x], y FROM svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT ARRAY[1, ''''Infinity'''']::float8[], 1'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT ARRAY[1e200]::float8[], 1'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row WHERE false'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row; SELECT 1'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''DROP TABLE svm_row'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''DELETE FROM svm_row RETURNING x, y'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM nowhere'')');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row'', cost => NULL)');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row'', cost => -1)');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row'', passes => 0)');
SELECT * FROM pg_temp.error_of('SELECT wml_svm_train(''SELECT x, y FROM svm_row'', tolerance => ''NaN'')');

DROP TABLE svm_row;
DROP ROLE wml_svm_reader;
