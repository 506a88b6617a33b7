-- The forecast of demo.sql, drawn with characters: years down, children per woman across.
\pset tuples_only on
\pset format unaligned
SELECT '    children  0' || string_agg(repeat(' ', 7) || n, '' ORDER BY n) FROM generate_series(1, 8) AS n;
WITH scale AS (SELECT 8 AS per_child, 72 AS width),
mark AS (
	SELECT s.year, 1 + round(per_child * lower)::int AS low, 1 + round(per_child * upper)::int AS high,
		1 + round(per_child * estimate)::int AS guess, 1 + round(per_child * fertility)::int AS truth, width
	FROM scale, (SELECT * FROM survey WHERE country = 'Kenya') AS s LEFT JOIN forecast USING (year)
), band AS (
	SELECT *, CASE WHEN low IS NULL THEN repeat(' ', width) ELSE
		overlay(repeat(' ', width) PLACING repeat('=', least(high, width) - greatest(low, 1) + 1) FROM greatest(low, 1) FOR least(high, width) - greatest(low, 1) + 1) END AS line
	FROM mark
), guessed AS (
	SELECT *, CASE WHEN guess IS NULL THEN line ELSE overlay(line PLACING 'o' FROM guess) END AS second FROM band
)
SELECT '    ' || year || '     |' || rtrim(overlay(second PLACING CASE WHEN guess IS NULL THEN '#' ELSE 'X' END FROM truth)) FROM guessed ORDER BY year;
\pset tuples_only off
\pset format aligned
