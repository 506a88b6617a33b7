-- Rows with NaN, infinity or numbers too large to be squared come and go without a trace, and so do rows that break
-- the constant feature.
CREATE TEMP TABLE special AS SELECT * FROM unnest('{NaN, Infinity, -Infinity, 1e200, -1e300}'::float8[]) AS value;
CREATE FUNCTION pg_temp.finite() RETURNS wml_gram AS $$
	SELECT wml_gram(ARRAY[1, sin(i), 1.0 / i], cos(i), 1 + i % 3) FROM generate_series(1, 40) AS i
$$ LANGUAGE sql;
CREATE TEMP TABLE visitor AS
SELECT place, value, wml_gram(ARRAY[CASE place WHEN 1 THEN value ELSE 1 END, CASE place WHEN 2 THEN value ELSE 0.3 END, 7],
							  CASE place WHEN 3 THEN value ELSE 0.7 END, CASE place WHEN 4 THEN abs(value) ELSE 1.5 END) AS gram
FROM special, generate_series(1, 4) AS place GROUP BY place, value;

-- while they are there, what they are part of is NaN, and nothing else
SELECT place, value, wml_weight(gram), wml_n(gram), wml_second_moment(gram) FROM visitor WHERE value IN ('NaN', '1e200') ORDER BY place, value;
SELECT DISTINCT wml_mean(gram)::text FROM visitor ORDER BY 1;
SELECT DISTINCT place, wml_weight(home + gram), wml_mean(home + gram) IS NULL AS no_mean FROM visitor, pg_temp.finite() AS home ORDER BY 1, 2;

-- and afterwards everything is as it was
SELECT count(*), bool_and(home + gram - gram = home) AS equal, bool_and(wml_mean(home + gram - gram) = wml_mean(home)) AS mean,
	   bool_and(wml_second_moment(home + gram - gram) = wml_second_moment(home)) AS moments,
	   bool_and(wml_effective_n(home + gram - gram) = wml_effective_n(home)) AS effective_n
FROM visitor, pg_temp.finite() AS home WHERE place <> 4 OR NOT value BETWEEN -1e301 AND 1e301;
SELECT everyone - guests = home AS equal, everyone = home AS the_same_before, wml_n(everyone), wml_n(everyone - guests) AS n_after,
	   everyone - home = guests AS guests_alone
FROM pg_temp.finite() AS home, (SELECT wml_merge(gram) AS guests FROM visitor WHERE place < 4) AS v, LATERAL (SELECT home + guests AS everyone) AS sum;
-- what has never been there cannot leave
SELECT home - (SELECT gram FROM visitor WHERE place = 2 AND value = 'NaN') FROM pg_temp.finite() AS home;
SELECT a.gram - b.gram FROM visitor AS a, visitor AS b WHERE a.place = 2 AND a.value = 'NaN' AND b.place = 3 AND b.value = 'NaN';

-- the aggregate, its workers and its windows say the same
CREATE TEMP TABLE series AS
SELECT i, ARRAY[1, CASE WHEN i % 7 = 3 THEN 'NaN' WHEN i % 11 = 5 THEN 'Infinity' ELSE sin(i) END] AS x,
	   CASE WHEN i % 13 = 6 THEN -1e200 ELSE cos(i) END AS y FROM generate_series(1, 400) AS i;
SELECT wml_gram(x, y) = wml_gram(x, y ORDER BY i DESC) AS any_order,
	   wml_gram(x, y) = (SELECT wml_merge(part) FROM (SELECT wml_gram(x, y) AS part FROM series GROUP BY i % 5) AS p) AS merged,
	   wml_gram(x, y) - wml_gram(x, y) FILTER (WHERE NOT (x[2] BETWEEN -1 AND 1 AND y BETWEEN -1 AND 1)) =
	   wml_gram(x, y) FILTER (WHERE x[2] BETWEEN -1 AND 1 AND y BETWEEN -1 AND 1) AS taken_away
FROM series;
SELECT count(*), bool_and(moving = fresh) AS equal, bool_and(wml_mean(moving) IS NOT DISTINCT FROM wml_mean(fresh)) AS mean,
	   count(*) FILTER (WHERE wml_second_moment(moving)::text ~ 'NaN') AS not_finite
FROM (SELECT i, wml_gram(x, y) OVER (ORDER BY i ROWS 3 PRECEDING) AS moving FROM series) AS m
JOIN LATERAL (SELECT wml_gram(x, y) AS fresh FROM series AS s WHERE s.i BETWEEN m.i - 3 AND m.i) AS f ON true;

-- a constant feature comes back when the rows that broke it have left
SELECT k, wml_mean(one), wml_mean(one + other) AS broken, wml_mean(one + other - other) AS back, one + other - other = one AS equal
FROM (SELECT wml_gram(ARRAY[1, 5, 1], 7) AS one) AS a,
	 (SELECT k, wml_gram(x, 8) AS other FROM (VALUES (1, ARRAY[-1, 5, 1]), (2, ARRAY[1, 1, 1]), (3, ARRAY[2, 5, 2])) AS v (k, x) GROUP BY k) AS b
ORDER BY k;
-- of a changed basis, copies are known
SELECT wml_mean(wml_transform(one + other, m)) AS broken, wml_mean(wml_transform(one + other, m) - wml_transform(other, m)) AS back
FROM (SELECT wml_gram(ARRAY[1, 5], 7) AS one, wml_gram(ARRAY[2, 'NaN'::float8], 8) AS other, ARRAY[[0, 2, 0], [1, 0, 0], [0, 0, 1]]::float8[] AS m) AS t;

-- solvers refuse such a gram, and take it again
SELECT wml_erm(home + gram, 1) FROM pg_temp.finite() AS home, visitor WHERE place = 2 AND value = 'NaN';
SELECT count(DISTINCT wml_erm::text) FROM (SELECT wml_erm(home + gram - gram, 1) FROM pg_temp.finite() AS home, visitor WHERE place < 4 GROUP BY place, value) AS fit;

-- weights of every magnitude
SELECT w, wml_effective_n(wml_gram(ARRAY[1, i], i, w))
FROM unnest('{1e-300, 1e-200, 1e-162, 1e-154, 1, 1e153, 1e154, 1e200, 1e300}'::float8[]) AS w, generate_series(1, 3) AS i GROUP BY w ORDER BY w;
SELECT gram, gram::text::wml_gram = gram AS back FROM (SELECT wml_gram(ARRAY[1], 2, w) AS gram FROM unnest('{1e200, 3e200}'::float8[]) AS w) AS task;
-- numbers whose fourth powers overflow leave, too
SELECT big + small - big = small AS equal, wml_second_moment(big)
FROM (SELECT wml_gram(ARRAY[1], 1e80, 1e-150) AS big, wml_gram(ARRAY[1], 3) AS small) AS t;
