-- Errors of the type wml_gram, its aggregates and functions: SQLSTATE, message, detail and hint.
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
\pset expanded on
\pset tuples_only on

-- collecting
SELECT * FROM pg_temp.error_of('SELECT wml_gram(x, 1) FROM (VALUES (ARRAY[1, 2]), (ARRAY[1, 2, 3])) AS t (x)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(x, 1) FROM (VALUES (ARRAY[1, 2]), (ARRAY[1])) AS t (x)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(x, 1) FROM (SELECT array_agg(j) AS x FROM generate_series(30, 31) AS i, generate_series(1, i) AS j GROUP BY i ORDER BY i) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[1, 2], 1, w) FROM (VALUES (1), (-0.5)) AS t (w)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[1, 2], 1, ''-Infinity'')');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[[1, 2], [3, 4]], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[[1, 2, NULL]], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(''{}''::float8[], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(array_fill(1::float8, ARRAY[1025]), 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(array_fill(NULL::float8, ARRAY[1025]), 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_merge(gram) FROM (SELECT wml_gram(array_fill(1::float8, ARRAY[d]), 1) AS gram FROM generate_series(2, 3) AS d GROUP BY d ORDER BY d) AS t');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[1, 2], 1) OVER (ROWS 1 PRECEDING) - wml_gram(ARRAY[1, 2], 1, -1) OVER (ROWS 1 PRECEDING)');
-- the functions behind the aggregates are not for anything else
SELECT * FROM pg_temp.error_of('SELECT wml_gram_accum(NULL, ARRAY[1, 2], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram_accum_moving(NULL, ARRAY[1, 2], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram_retract(NULL, ARRAY[1, 2], 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram_combine(NULL, NULL)');

-- operators
CREATE TEMP TABLE task AS
SELECT d, n, wml_gram(x, 1 / r) AS gram
FROM (VALUES (2, 3), (3, 3), (2, 5)) AS size (d, n), generate_series(1, n) AS i,
	 LATERAL (SELECT i + 0.1 AS r) AS row, LATERAL (SELECT array_fill(r, ARRAY[d]) AS x) AS features
GROUP BY d, n;
CREATE FUNCTION pg_temp.task(d int, n int) RETURNS wml_gram AS 'SELECT gram FROM task WHERE task.d = $1 AND task.n = $2' LANGUAGE sql;
SELECT * FROM pg_temp.error_of('SELECT pg_temp.task(2, 3) + pg_temp.task(3, 3)');
SELECT * FROM pg_temp.error_of('SELECT pg_temp.task(2, 3) - pg_temp.task(3, 3)');
SELECT * FROM pg_temp.error_of('SELECT pg_temp.task(2, 3) - pg_temp.task(2, 5)');
SELECT * FROM pg_temp.error_of('SELECT pg_temp.task(2, 5) - wml_gram(ARRAY[1000, 1], 1)');
SELECT * FROM pg_temp.error_of('SELECT pg_temp.task(2, 3) - wml_gram(ARRAY[i, i], i) FROM generate_series(1, 3) AS i');
SELECT * FROM pg_temp.error_of('SELECT pg_temp.task(2, 3) - wml_gram(NULL, 1)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[1, 2], 1) - wml_gram(ARRAY[1, 2], 1, 0)');
SELECT * FROM pg_temp.error_of('SELECT wml_gram(ARRAY[0, 0], 0, 1) - wml_gram(ARRAY[0, 0], 0, 2)');

-- changes of basis
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[[1, 0], [0, 1]])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[[1, 0, 0]])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[1, 0, 0])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ''{}'')');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[[[1]]])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[[1, 0, NULL], [0, 0, 1]])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[[1, 0, ''NaN''], [0, 0, 1]]::float8[])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), ARRAY[[1, 0, ''Infinity''], [0, 0, 1]]::float8[])');
SELECT * FROM pg_temp.error_of('SELECT wml_transform(pg_temp.task(2, 3), array_fill(1::float8, ARRAY[1026, 3]))');
SELECT * FROM pg_temp.error_of('SELECT wml_standardize(pg_temp.task(2, 3), pg_temp.task(2, 3))');
SELECT * FROM pg_temp.error_of('SELECT wml_standardize(pg_temp.task(2, 3), wml_gram(ARRAY[1, 2, 3], 1))');
SELECT * FROM pg_temp.error_of('SELECT wml_standardize(pg_temp.task(2, 3), wml_gram(NULL, 1))');
SELECT * FROM pg_temp.error_of('SELECT wml_standardize(pg_temp.task(2, 3), wml_gram(ARRAY[1, 2], 1, 0))');
SELECT * FROM pg_temp.error_of('SELECT wml_standardize(pg_temp.task(2, 3), wml_gram(ARRAY[1, ''NaN''::float8], 1))');

-- counts too large for bigint
\set limit '{v=1 d=1 n=9223372036854775807 skipped=0 weightless=0 constant=1 weight=1 weight2=1 q=25 h=4 norm2=1 response=2 sums=[1 2; 4]}'
\set skips '{v=1 d=0 n=0 skipped=9223372036854775807 weightless=0 constant=0 weight=0 weight2=0 q=0 h=0 norm2=0 response=0 sums=[]}'
SELECT * FROM pg_temp.error_of(format('SELECT %L::wml_gram + wml_gram(ARRAY[1], 1)', :'limit'));
SELECT * FROM pg_temp.error_of(format('SELECT wml_merge(gram) FROM (VALUES (%L::wml_gram), (%1$L)) AS t (gram)', :'limit'));
SELECT * FROM pg_temp.error_of(format('SELECT wml_merge(gram) FROM (VALUES (%L::wml_gram), (%1$L)) AS t (gram)', :'skips'));
SELECT * FROM pg_temp.error_of(format('SELECT %L::wml_gram + %1$L::wml_gram', :'skips'));
