-- Errors of kernels, distances and weights: SQLSTATE, message, detail and hint.
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

CREATE TEMP TABLE task AS
SELECT name, wml_gram(x, y, w) AS gram
FROM generate_series(1, 4) AS i, LATERAL (VALUES
	('good', ARRAY[1, i]::float8[], i * i::float8, 1), ('other', ARRAY[1, i], -i, 1), ('three features', ARRAY[1, i, 2], i, 1),
	('empty', NULL, 1, 1), ('weightless', ARRAY[1, i], i, 0), ('nan', ARRAY[1, 'NaN'::float8], i, 1), ('infinite', ARRAY[1, i], '-Infinity', 1),
	('overflow', ARRAY[1, 1e200], i, 1), ('large', ARRAY[1, i * 1e100], i, 1)) AS row (name, x, y, w)
GROUP BY name
UNION ALL SELECT 'one row', wml_gram(ARRAY[1, 2], 3);
CREATE FUNCTION pg_temp.task(text) RETURNS wml_gram LANGUAGE sql AS 'SELECT gram FROM task WHERE name = $1';

-- grams that no kernel can use
SELECT name, error.* FROM unnest(ARRAY['empty', 'weightless', 'nan', 'infinite', 'overflow', 'three features']) WITH ORDINALITY AS bad (name, i),
	pg_temp.error_of(format('SELECT wml_kernel(pg_temp.task(''good''), pg_temp.task(%L))', name)) AS error ORDER BY i;
SELECT function, error.* FROM unnest(ARRAY['wml_distance(bad, good)', 'wml_distance(bad, good, ''hinge'')', 'bad <-> good', 'good <-> bad', 'wml_embedding(bad)']) WITH ORDINALITY AS f (function, i),
	pg_temp.error_of(format('SELECT %s FROM (SELECT pg_temp.task(''good'') AS good, pg_temp.task(''nan'') AS bad) AS task', function)) AS error ORDER BY i;
-- squares that overflow, and those that only nearly do
SELECT function, error.* FROM unnest(ARRAY['wml_kernel(large, large)', 'wml_alpha(ARRAY[large], large, shrink => 1)']) WITH ORDINALITY AS f (function, i),
	pg_temp.error_of(format('SELECT %s FROM (SELECT pg_temp.task(''good'') AS good, pg_temp.task(''large'') AS large) AS task', function)) AS error ORDER BY i;

SELECT wml_alpha(ARRAY[pg_temp.task('large'), pg_temp.task('other')], pg_temp.task('good'), 'closest') AS closest,
	wml_alpha(ARRAY[pg_temp.task('large'), pg_temp.task('other')], pg_temp.task('good')) AS mixture,
	abs((pg_temp.task('large') <-> pg_temp.task('good')) / 7.5e200 - 1) < 1e-15 AS distance;

-- grams that no weights can use: as source and as target, in both forms, whatever the weights
SELECT role, name, string_agg(DISTINCT state, ', ') AS state, string_agg(DISTINCT message, ', ') AS message
FROM unnest(ARRAY['empty', 'weightless', 'nan', 'infinite', 'overflow', 'three features']) WITH ORDINALITY AS bad (name, i),
	(VALUES ('source', 'good', 'bad'), ('target', 'bad', 'good')) AS part (role, target, source),
	unnest(ARRAY['mixture', 'closest', 'uniform', 'pooled']) AS weights, unnest(ARRAY[false, true]) AS whiten,
	unnest(ARRAY['SELECT wml_alpha(ARRAY[good, %s], %s, %L, whiten => %L) FROM (SELECT pg_temp.task(''good'') AS good, pg_temp.task(%L) AS bad) AS task',
				 'SELECT wml_alpha(source, %2$s, %3$L, whiten => %4$L) OVER () FROM (SELECT pg_temp.task(''good'') AS good, pg_temp.task(%5$L) AS bad) AS task, unnest(ARRAY[good, %1$s]) AS source']) AS query,
	pg_temp.error_of(format(query, source, target, weights, whiten, name)) AS error
GROUP BY role, name, i ORDER BY role, i;
SELECT * FROM pg_temp.error_of('SELECT wml_alpha_gap(ARRAY[pg_temp.task(''nan'')], pg_temp.task(''good''), ARRAY[1])');

-- targets
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(gram, gram) OVER (ORDER BY name) FROM task WHERE name IN (''good'', ''other'')');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(pg_temp.task(''good''), gram) OVER (ORDER BY name) FROM task WHERE name IN (''good'', ''three features'')');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(gram, CASE name WHEN ''good'' THEN gram END) OVER (ORDER BY name) FROM task WHERE name IN (''good'', ''other'')');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(gram, NULL) OVER () FROM task WHERE name IN (''good'', ''other'')');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(NULL::wml_gram, NULL) OVER ()');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(NULL::wml_gram[], pg_temp.task(''good''))');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(ARRAY[pg_temp.task(''good'')], NULL)');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(ARRAY[ARRAY[pg_temp.task(''good'')]], pg_temp.task(''good''))');

-- options
SELECT option, error.*
FROM unnest(ARRAY['weights => ''mixtures''', 'weights => NULL', 'loss => ''log''', 'loss => NULL', 'shrink => -1', 'shrink => ''NaN''', 'shrink => ''Infinity''', 'shrink => NULL', 'whiten => NULL']) WITH ORDINALITY AS bad (option, i),
	pg_temp.error_of(format('SELECT wml_alpha(ARRAY[pg_temp.task(''other'')], pg_temp.task(''good''), %s)', option)) AS error ORDER BY i;
SELECT option, (SELECT (state, message) FROM pg_temp.error_of(format('SELECT wml_alpha(pg_temp.task(''other''), pg_temp.task(''good''), %s) OVER ()', option))) AS window,
	(SELECT (state, message) FROM pg_temp.error_of(format('SELECT wml_alpha_gap(ARRAY[pg_temp.task(''other'')], pg_temp.task(''good''), ARRAY[1], %s)', option)) WHERE option !~ 'weights') AS gap
FROM unnest(ARRAY['weights => ''mixtures''', 'weights => NULL', 'loss => ''log''', 'loss => NULL', 'shrink => -1', 'shrink => ''NaN''', 'shrink => ''Infinity''', 'shrink => NULL', 'whiten => NULL']) WITH ORDINALITY AS bad (option, i) ORDER BY i;
SELECT * FROM pg_temp.error_of('SELECT wml_kernel(gram, gram, ''absolute'') FROM task WHERE name = ''good''');

-- not a window function, and one
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(pg_temp.task(''good''), pg_temp.task(''good''))');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha(ARRAY[pg_temp.task(''good'')], pg_temp.task(''good'')) OVER ()');

-- weights to find the gap of
SELECT alpha, error.*
FROM unnest(ARRAY['{0.5, 0.4}', '{1.5, -0.5}', '{NaN, 1}', '{1}', '{0.5, 0.25, 0.25}', '{}', '{NULL, NULL}']) WITH ORDINALITY AS bad (alpha, i),
	pg_temp.error_of(format('SELECT wml_alpha_gap(ARRAY[pg_temp.task(''good''), pg_temp.task(''other'')], pg_temp.task(''one row''), %L)', alpha)) AS error ORDER BY i;
SELECT * FROM pg_temp.error_of('SELECT wml_alpha_gap(ARRAY[pg_temp.task(''good''), NULL], pg_temp.task(''one row''), ARRAY[0.5, 0.5])');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha_gap(ARRAY[pg_temp.task(''good'')], pg_temp.task(''one row''), NULL)');

-- own kernels
SELECT kernel, sizes, error.*
FROM (VALUES
	(1, '{{1, 0.5, 0}, {0.4, 1, 0}, {0, 0, 1}}', '{1, 1, 1}'),
	(2, '{{1, 0, 0}, {0, 1, 0}}', '{1, 1}'),
	(3, '{{1, 0}, {0, 1}}', '{1, 1, 1}'),
	(4, '{{1}}', '{1}'),
	(5, '{1, 2, 3}', '{1}'),
	(6, '{{1, 0}, {0, 1}}', '{{1, 1}}'),
	(7, '{{1, NULL}, {0, 1}}', '{1, 1}'),
	(8, '{{1, NaN}, {NaN, 1}}', '{1, 1}'),
	(9, '{{1, 0}, {0, Infinity}}', '{1, 1}'),
	(10, '{{1, 0}, {0, 1}}', '{1, 0}'),
	(11, '{{1, 0}, {0, 1}}', '{NaN, 1}'),
	(12, '{{1, 0}, {0, 1}}', '{1, Infinity}'),
	(13, '{{1, 2}, {2, 1}}', '{1, 1}'),
	(14, '{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}}', '{1, 1, 1}'),
	(15, '{{1, 0.9, 0}, {0.9, 1, 0.9}, {0, 0.9, 1}}', '{1, 1, 1}'),
	(16, '{{0, 1}, {1, 1}}', '{1, 1}')
) AS bad (i, kernel, sizes), pg_temp.error_of(format('SELECT wml_alpha_kernel(%L, %L)', kernel, sizes)) AS error ORDER BY i;
SELECT * FROM pg_temp.error_of('SELECT wml_alpha_kernel(ARRAY[[1, 0], [0, 1]], ARRAY[1, 1], ''best'')');
SELECT * FROM pg_temp.error_of('SELECT wml_alpha_kernel(ARRAY[[1, 0], [0, 1]], ARRAY[1, 1], ''mixture'', -1)');
SELECT wml_alpha_kernel(NULL, ARRAY[1, 1]) IS NULL AS null_kernel;
