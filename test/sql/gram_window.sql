-- wml_gram as a moving window: every frame is the same as an aggregate over its rows, to the last bit.
CREATE TEMP TABLE row (series text, t int, x float8[], y float8, w float8);
INSERT INTO row
SELECT series, t, x, y, 1 + sin(t) / 2
FROM generate_series(1, 300) AS t,
	 LATERAL (VALUES
		('tame', ARRAY[1, sin(t), t + cos(t)], exp(sin(t))),
		('outliers', ARRAY[1, CASE WHEN t % 40 = 0 THEN 1e12 ELSE sin(t) END, 1.0 / t], cos(t)),
		('mild outliers', ARRAY[1, sin(t), 1.0 / t], cos(t) * CASE WHEN t % 40 = 0 THEN 3e4 ELSE 1 END),
		('outlying response', ARRAY[1, sin(t), 2], CASE WHEN t % 30 = 0 THEN 10.0 ^ (t / 10) ELSE cos(t) END),
		('not finite', ARRAY[1, CASE t % 50 WHEN 1 THEN 'NaN' WHEN 11 THEN 'Infinity' WHEN 21 THEN '-Infinity' WHEN 31 THEN 1e200 ELSE sin(t) END, 2],
		 CASE WHEN t % 70 = 0 THEN 'NaN' ELSE cos(t) END),
		('nulls', CASE WHEN t % 5 = 0 OR t BETWEEN 100 AND 120 THEN NULL WHEN t % 7 = 0 THEN ARRAY[1, NULL, 2] ELSE ARRAY[1, sin(t), 2] END,
		 CASE WHEN t % 3 = 0 THEN NULL ELSE cos(t) END),
		('constant', ARRAY[CASE WHEN t % 9 < 2 THEN 2 ELSE 1 END, CASE WHEN t % 23 = 0 THEN 0.5 ELSE 1 END, sin(t)], cos(t)),
		('vanishing', ARRAY[1, CASE WHEN t / 20 % 2 = 0 THEN sin(t) ELSE 0 END, CASE WHEN t / 13 % 2 = 0 THEN 1.0 / t ELSE 0 END],
		 CASE WHEN t / 30 % 2 = 0 THEN cos(t) ELSE 0 END),
		-- sums of short numbers often lie halfway between two doubles, where any residue would show
		('short numbers', ARRAY[CASE WHEN t * t % 7 = 1 THEN sin(t) ELSE 1 END, CASE WHEN t * t % 5 = 1 THEN cos(t) ELSE 1 END, CASE WHEN t % 6 = 1 THEN sqrt(t) ELSE 1 END],
		 CASE WHEN t % 4 = 1 THEN exp(sin(t)) ELSE 1 END),
		('decaying', ARRAY[1, exp(-t / 4.0), exp(-t / 2.0)], exp(-t / 3.0))
	 ) AS series (series, x, y);
UPDATE row SET w = 0 WHERE t % 11 < 3;
UPDATE row SET w = NULL WHERE t % 31 = 0;
UPDATE row SET w = 1e8 WHERE t % 37 = 0;
CREATE INDEX ON row (series, t);
ANALYZE row;

-- Frames that move at both ends, by rows and by value, and frames that are empty at times.  Parts of
-- the result besides the figures: whether there is a mean.
CREATE FUNCTION pg_temp.compare(frame text, lower_t text, upper_t text)
RETURNS TABLE (series text, frames bigint, equal bool, moments bool, means bool) AS $$
BEGIN
	RETURN QUERY EXECUTE format($query$
		WITH moving AS MATERIALIZED (
			SELECT series, t, wml_gram(x, y) OVER w AS plain, wml_gram(x, y, w) OVER w AS weighted
			FROM row WINDOW w AS (PARTITION BY series ORDER BY t %s)
		), fresh AS MATERIALIZED (
			SELECT series, t, f.*
			FROM row AS r, LATERAL (
				SELECT wml_gram(x, y) AS plain, wml_gram(x, y, w) AS weighted
				FROM row WHERE row.series = r.series AND row.t BETWEEN %s AND %s) AS f
		)
		SELECT series, count(m.plain),
			   bool_and((m.plain = f.plain AND m.weighted = f.weighted) IS NOT FALSE AND
						(m.plain IS NULL) = (f.plain IS NULL) AND (m.weighted IS NULL) = (f.weighted IS NULL)),
			   bool_and(wml_second_moment(m.plain) IS NOT DISTINCT FROM wml_second_moment(f.plain) AND
						wml_second_moment(m.weighted) IS NOT DISTINCT FROM wml_second_moment(f.weighted)),
			   bool_and(wml_mean(m.plain) IS NOT DISTINCT FROM wml_mean(f.plain) AND
						wml_mean(m.weighted) IS NOT DISTINCT FROM wml_mean(f.weighted))
		FROM moving AS m JOIN fresh AS f USING (series, t)
		GROUP BY series ORDER BY series $query$, frame, lower_t, upper_t);
END
$$ LANGUAGE plpgsql;

SELECT * FROM pg_temp.compare('ROWS 9 PRECEDING', 'r.t - 9', 'r.t');
SELECT * FROM pg_temp.compare('ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING', 'r.t - 1', 'r.t + 1');
SELECT * FROM pg_temp.compare('ROWS BETWEEN CURRENT ROW AND CURRENT ROW', 'r.t', 'r.t');
SELECT * FROM pg_temp.compare('RANGE BETWEEN 25 PRECEDING AND 5 PRECEDING', 'r.t - 25', 'r.t - 5');
SELECT * FROM pg_temp.compare('ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'r.t', '300');
-- no row ever leaves this one
SELECT * FROM pg_temp.compare('ROWS UNBOUNDED PRECEDING', '1', 'r.t');

-- every frame can be stored, and read again
CREATE TEMP TABLE stored AS
SELECT series, t, wml_gram(x, y, w) OVER (PARTITION BY series ORDER BY t ROWS 7 PRECEDING) AS gram FROM row;
SELECT count(*), bool_and(gram = gram::text::wml_gram) FROM stored;
-- a frame that is kept while the window moves on does not change
SELECT bool_and(lag IS NOT DISTINCT FROM gram::text)
FROM (SELECT gram, lead(lag) OVER (PARTITION BY series ORDER BY t) AS lag, lead(t) OVER (PARTITION BY series ORDER BY t) AS t
	  FROM (SELECT series, t, gram, lag(gram) OVER (PARTITION BY series ORDER BY t)::text AS lag FROM stored) AS a) AS b
WHERE t IS NOT NULL;

-- many features
CREATE TEMP TABLE wide AS
SELECT t, array_agg(sin(t * i) ORDER BY i) AS x, cos(t) AS y FROM generate_series(1, 40) AS t, generate_series(1, 40) AS i GROUP BY t;
SELECT count(*), bool_and(m.gram = f.gram)
FROM (SELECT t, wml_gram(x, y) OVER (ORDER BY t ROWS 6 PRECEDING) AS gram FROM wide) AS m,
	 LATERAL (SELECT wml_gram(x, y) AS gram FROM wide WHERE t BETWEEN m.t - 6 AND m.t) AS f;
-- rows of another length may follow when those before have left, and only then
SELECT t, wml_dims(wml_gram(array_fill(1, ARRAY[1 + t / 3]), t) OVER (ORDER BY t ROWS 0 PRECEDING)) FROM generate_series(1, 6) AS t;
SELECT t, wml_dims(wml_gram(array_fill(1, ARRAY[1 + t / 3]), t) OVER (ORDER BY t ROWS 1 PRECEDING)) FROM generate_series(1, 6) AS t;

-- wml_merge over a window, and an aggregate over the window's result
SELECT t, wml_n(wml_merge(gram) OVER (ORDER BY t ROWS 1 PRECEDING))
FROM (SELECT t % 3 AS t, wml_gram(ARRAY[1, t], t) AS gram FROM generate_series(1, 10) AS t GROUP BY 1) AS task ORDER BY t;
SELECT wml_n(wml_merge(gram)) FROM (SELECT wml_gram(ARRAY[1, t], t) OVER (ORDER BY t ROWS 2 PRECEDING) AS gram FROM generate_series(1, 10) AS t) AS frames;
