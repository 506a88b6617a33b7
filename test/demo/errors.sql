-- Errors of the ways to forecast, each country in turn the target; and the time of each for one country.
CREATE TABLE task AS
SELECT country, wml_gram(x, y) AS gram, wml_gram(x, y) FILTER (WHERE year <= 1970) AS early, wml_gram(x, y) FILTER (WHERE year > 1970) AS late,
	max(y) FILTER (WHERE year = 1970) AS last
FROM (SELECT country, year, wml_poly(ARRAY[(year - 1980) / 20.0], 2) AS x, fertility AS y FROM survey) AS row GROUP BY country;

CREATE TABLE question AS
SELECT t.country, t.early, t.late, t.last, sources, windows
FROM task AS t, LATERAL (SELECT array_agg(gram ORDER BY country) AS sources, array_agg(early ORDER BY country) AS windows
	FROM task AS s WHERE s.country <> t.country) AS s;

CREATE TABLE tuned (country text, tuned wml_tuned);
CREATE FUNCTION keep(country text, tuned wml_tuned) RETURNS float8[] LANGUAGE sql AS 'INSERT INTO tuned VALUES (country, tuned) RETURNING (tuned).coef';
CREATE TABLE answer (rank int, method text, country text, coef float8[], took interval);
CREATE PROCEDURE answer(rank int, method text, formula text) LANGUAGE plpgsql AS $$
DECLARE
	question question;
	coef float8[];
	started timestamptz;
	said timestamptz := clock_timestamp();
	done int := 0;
BEGIN
	FOR question IN SELECT * FROM question ORDER BY country LOOP
		started := clock_timestamp();
		EXECUTE 'SELECT ' || formula || ' FROM (SELECT ($1).*) AS q' USING question INTO coef;
		INSERT INTO answer VALUES (rank, method, question.country, coef, clock_timestamp() - started);
		done := done + 1;
		IF clock_timestamp() > said + interval '4 s' THEN
			RAISE INFO '%: % of 62 countries', method, done;
			said := clock_timestamp();
		END IF;
	END LOOP;
END
$$;
CALL answer(1, 'the country alone', 'wml_coef(early)');
CALL answer(2, 'its last survey, unchanged', 'ARRAY[last, 0, 0]');
CALL answer(3, 'all countries alike', '(SELECT wml_erm(gram, 1) FROM unnest(sources) AS gram)');
CALL answer(4, 'a prior (mixed model)', 'wml_posterior_coef(wml_prior(sources), early)');
CALL answer(5, 'weights, over the same years', '(SELECT wml_erm(gram, alpha) FROM unnest(sources, wml_alpha(windows, early, whiten => true)) AS s (gram, alpha))');
CALL answer(6, 'the choice of wml_tune', 'keep(country, wml_tune(sources, early, windows))');

SELECT method, round(avg(wml_rmse(late, coef))::numeric, 2) AS "error, children", round(avg(extract(epoch FROM took) * 1000)::numeric, 1) AS "ms for a country"
FROM answer JOIN question USING (country) GROUP BY rank, method ORDER BY rank;

SELECT format('Kenya is a typical case, not a hand-picked one: its error is %s;' || E'\n%s countries have smaller errors and %s have larger ones.',
	round(own::numeric, 2), count(*) FILTER (WHERE rmse < own), count(*) FILTER (WHERE rmse > own)) AS line
FROM (SELECT country, wml_rmse(late, coef) AS rmse, max(wml_rmse(late, coef)) FILTER (WHERE country = 'Kenya') OVER () AS own
	  FROM answer JOIN question USING (country) WHERE rank = 6) AS e GROUP BY own \gset
\echo :line
SELECT format('Of the %s surveys after 1970, %s (%s %%) lie in their 90 %% intervals.', count(*), count(*) FILTER (WHERE inside),
	round(100.0 * count(*) FILTER (WHERE inside) / count(*))) AS line
FROM (SELECT fertility BETWEEN lower AND upper AS inside
	  FROM survey JOIN tuned USING (country), wml_predict_interval(tuned, wml_poly(ARRAY[(year - 1980) / 20.0], 2), 0.9) WHERE year > 1970) AS i \gset
\echo :line
\echo
