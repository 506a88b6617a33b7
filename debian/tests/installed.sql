CREATE EXTENSION wml;
CREATE TABLE task AS
SELECT i % 5 AS task, wml_gram(ARRAY[1, sin(i), cos(i)], i % 5 + 2 * sin(i)) AS gram FROM generate_series(1, 200) AS i GROUP BY 1;
DO $$
DECLARE
	sources wml_gram[] := (SELECT array_agg(gram ORDER BY task) FROM task WHERE task > 0);
	target wml_gram := (SELECT gram FROM task WHERE task = 0);
BEGIN
	ASSERT abs((SELECT sum(a) FROM unnest(wml_alpha(sources, target)) AS a) - 1) < 1e-9, 'weights';
	ASSERT abs((SELECT wml_erm(gram, 1) FROM task WHERE task = 3)[2] - 2) < 1e-9, 'coefficients';
	ASSERT substring(pg_read_file('/proc/self/status') FROM 'Threads:\s+(\d+)') = '1', 'threads';
END
$$;
