-- make demo: children per woman in a country of which four surveys are known.
--
-- Variables: picture, the file to write the forecast to.
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
SET client_min_messages = notice;
CREATE EXTENSION wml;
\i test/data/gapminder.sql

\echo
\echo 'CHILDREN PER WOMAN in 62 countries, every five years from 1955 to 2005'
\echo '(Gapminder Foundation, CC BY 4.0). Suppose we know only four surveys of Kenya, up to 1970,'
\echo 'but all surveys of the others. What happens next in Kenya?'
\echo
\echo '    CREATE TABLE known AS SELECT * FROM survey WHERE country <> ''Kenya'' OR year <= 1970;'
\echo
\echo '    SELECT tasks, rows'
\echo '    FROM wml_learn(''countries'', ''known'', task => ''country'', response => ''fertility'','
\echo '                   range => ''[0,)'', along => ''year'', rehearse => 4,'
\echo '                   features => ''wml_poly(ARRAY[(year - 1980) / 20.0], 2) AS trend'');'
\echo
CREATE TABLE known AS SELECT * FROM survey WHERE country <> 'Kenya' OR year <= 1970;
SELECT tasks, rows FROM wml_learn('countries', 'known', task => 'country', response => 'fertility', range => '[0,)',
	features => 'wml_poly(ARRAY[(year - 1980) / 20.0], 2) AS trend', along => 'year', rehearse => 4);

\echo '    SELECT row ->> ''year'' AS year, estimate, lower, upper'
\echo '    FROM wml_forecast(''countries'', level => 0.9, rows => $$'
\echo '             SELECT ''Kenya'' AS country, year FROM generate_series(1975, 2005, 5) AS year'
\echo '         $$);'
\echo
SELECT clock_timestamp() AS started \gset
CREATE TABLE forecast AS
SELECT (row ->> 'year')::int AS year, estimate, lower, upper, model
FROM wml_forecast('countries', 'SELECT ''Kenya'' AS country, year FROM generate_series(1975, 2005, 5) AS year', level => 0.9);
SELECT round(extract(epoch FROM clock_timestamp() - :'started') * 1000) AS ms \gset
SELECT year, round(estimate::numeric, 2) AS estimate, round(lower::numeric, 2) AS lower, round(upper::numeric, 2) AS upper, fertility AS "what happened"
FROM forecast JOIN (SELECT * FROM survey WHERE country = 'Kenya') AS truth USING (year) ORDER BY year;

\echo 'Which countries did it learn from?'
\echo
\echo '    SELECT item AS country, value AS weight'
\echo '    FROM wml_explain(''countries'', ''Kenya'') WHERE part = ''source'';'
\echo
SELECT item AS country, round(value::numeric, 2) AS weight FROM wml_explain('countries', 'Kenya') WHERE part = 'source' AND value > 0.005 ORDER BY value DESC;

\echo 'The forecast took' :ms 'ms.  # known, o forecast, = its 90 % interval, X what happened:'
\echo
\ir plot.sql

\echo
\echo 'Each of the 62 countries in turn, with its surveys up to 1970 known; the RMSE of the later ones:'
\echo
\ir errors.sql

\echo 'Where all tasks are alike, weights cannot help, and wml_tune finds out: of 442 diabetes'
\echo 'patients, those aged 49 to 52 are the new task, with twenty of them known, in 20 random'
\echo 'draws. The RMSE of the others:'
\echo
\ir alike.sql

\ir picture.sql
\echo 'The forecast as a picture:' :picture
\echo 'Next: docs/tutorial.md takes a sales table to next week''s forecast in four statements.'
\echo
