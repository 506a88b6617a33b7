-- The forecast of demo.sql as a picture, for light and dark backgrounds alike.
\pset tuples_only on
\pset format unaligned
\o :picture
WITH point AS (
	SELECT s.year, 60 + (s.year - 1955) * 11.2 AS x, 270 - 26 * fertility AS truth, 270 - 26 * estimate AS guess, 270 - 26 * lower AS low, 270 - 26 * upper AS high
	FROM (SELECT * FROM survey WHERE country = 'Kenya') AS s LEFT JOIN forecast USING (year)
)
SELECT '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 320" font-family="sans-serif" font-size="13">'
	|| '<title>Children per woman in Kenya: four surveys, the forecast with its 90 % interval, and what happened</title>'
UNION ALL
SELECT format('<line x1="60" y1="%s" x2="630" y2="%1$s" stroke="#808080" stroke-opacity="0.35"/><text x="50" y="%s" text-anchor="end" fill="#808080">%s</text>', 270 - 26 * n, 274 - 26 * n, n)
FROM generate_series(0, 9) AS n
UNION ALL
SELECT format('<text x="%s" y="290" text-anchor="middle" fill="#808080">%s</text>', x, year) FROM point WHERE year % 10 = 5
UNION ALL
SELECT format('<polygon points="%s %s" fill="#3b82c4" fill-opacity="0.28"/>', string_agg(x || ',' || round(high::numeric, 1), ' ' ORDER BY year),
	string_agg(x || ',' || round(low::numeric, 1), ' ' ORDER BY year DESC)) FROM point WHERE guess IS NOT NULL
UNION ALL
SELECT format('<polyline points="%s" fill="none" stroke="#3b82c4" stroke-width="2.5"/>', string_agg(x || ',' || round(guess::numeric, 1), ' ' ORDER BY year)) FROM point WHERE guess IS NOT NULL
UNION ALL
SELECT format('<circle cx="%s" cy="%s" r="5" %s/>', x, round(truth::numeric, 1), CASE WHEN guess IS NULL THEN 'fill="#3b82c4"' ELSE 'fill="none" stroke="#e07b39" stroke-width="2.5"' END) FROM point
UNION ALL
VALUES ('<text x="60" y="18" fill="#808080">Children per woman in Kenya, learned from 61 other countries</text>'),
	('<circle cx="70" cy="311" r="5" fill="#3b82c4"/><text x="84" y="315" fill="#808080">known: 1955 to 1970</text>'),
	('<rect x="232" y="304" width="24" height="14" fill="#3b82c4" fill-opacity="0.28"/><path d="M232 311h24" stroke="#3b82c4" stroke-width="2.5"/>'),
	('<text x="264" y="315" fill="#808080">forecast, 90 % interval</text>'),
	('<circle cx="430" cy="311" r="5" fill="none" stroke="#e07b39" stroke-width="2.5"/><text x="444" y="315" fill="#808080">what happened</text></svg>');
\o
\pset tuples_only off
\pset format aligned
