-- Keys of tasks are compared by the equality of their type, not by their text
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE TABLE keyed AS
SELECT g::numeric(10, 2) AS number, timestamptz '2026-03-01 12:00+00' + g * interval '1 day' AS time, date '2026-03-01' + g AS day,
	'Shop ' || chr(64 + g) AS name, ('s' || g)::varchar(4) AS short, g / 3.0::float8 AS real, i,
	sin(g * 12.9898 + i * 78.233) AS p, g % 3 + sin(g * 12.9898 + i * 78.233) + cos(g * 3 + i * 5) / 4 AS y
FROM generate_series(1, 8) AS g, generate_series(1, 12) AS i;
CREATE FUNCTION known(name text, key text) RETURNS float8 LANGUAGE sql AS $$ SELECT value FROM wml_explain(name, key) WHERE part = 'rows' $$;
CREATE FUNCTION models(name text, rows text) RETURNS text LANGUAGE sql AS
$$ SELECT string_agg(DISTINCT CASE split_part(model, ' ', 1) WHEN 'prior' THEN 'prior' ELSE 'tuned' END || ' ' || status, ', ') FROM wml_forecast(name, rows, method => 'erm') $$;

SELECT tasks FROM wml_learn('k', 'keyed', task => 'number', response => 'y', features => 'p', along => 'i');
SELECT known('k', '3'), known('k', '3.0'), known('k', '3.000'), known('k', '3.001') AS none;
SELECT value FROM wml_explain('k', 3) WHERE part = 'rows';
SELECT value FROM wml_explain('k', 3.0) WHERE part = 'rows';
SELECT (SELECT array_agg(item) FROM wml_explain('k', 3) WHERE part = 'source') = (SELECT array_agg(item) FROM wml_explain('k', '3.00') WHERE part = 'source') AS same;
SELECT models('k', 'SELECT 3 AS number, 1 AS p');
SELECT wml_explain('k', 'three');
SELECT wml_drop('k');

-- times under other settings
SET timezone = 'UTC';
SELECT tasks FROM wml_learn('k', 'keyed', task => 'time', response => 'y', features => 'p', along => 'i');
SET timezone = 'Asia/Kolkata';
SET DateStyle = 'German';
SELECT known('k', '03.03.2026 17:30:00'), known('k', '03.03.2026 12:00:00+00'), known('k', '03.03.2026 12:00:00') AS none;
SELECT value FROM wml_explain('k', timestamptz '2026-03-03 12:00+00') WHERE part = 'rows';
SELECT models('k', 'SELECT DISTINCT time, 1 AS p FROM keyed');
SELECT wml_drop('k');
SELECT tasks FROM wml_learn('k', 'keyed', task => 'day', response => 'y', features => 'p');
SELECT known('k', '03.03.2026');
SELECT models('k', 'SELECT DISTINCT day, 1 AS p FROM keyed');
SELECT wml_drop('k');
RESET timezone;
RESET DateStyle;

-- digits
SET extra_float_digits = -10;
SELECT tasks FROM wml_learn('k', 'keyed', task => 'real', response => 'y', features => 'p');
SELECT models('k', 'SELECT DISTINCT real, 1 AS p FROM keyed');
RESET extra_float_digits;
SELECT wml_drop('k');

-- text without a length: what is longer is another key
SELECT tasks FROM wml_learn('k', 'keyed', task => 'short', response => 'y', features => 'p');
SELECT known('k', 's3'), known('k', 's3      ') AS none;
SELECT wml_drop('k');
