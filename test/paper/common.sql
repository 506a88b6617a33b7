-- What the experiments share: settings, the extension, and reproducible chance.
--
-- test/paper/run runs them; one alone, from the top of the tree, for instance by
--
--     test/bin/with-postgres psql -X -v out=/tmp -f test/paper/diabetes.sql
--
-- They write tables for the page (*.table) and data for the figures (*.csv) to the folder "out".
\set ON_ERROR_STOP on
\set QUIET on
\pset footer off
\pset format csv
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS wml;

-- Random numbers that are the same everywhere, from a hash of their names: uniform on (0, 1), and standard normal
CREATE FUNCTION pg_temp.uniform(VARIADIC names text[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT (('x' || md5(array_to_string(names, ' ')))::bit(52)::bigint + 0.5) / 2::float8 ^ 52
$$;
CREATE FUNCTION pg_temp.normal(VARIADIC names text[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT sqrt(-2 * ln(pg_temp.uniform(VARIADIC names || text 'length'))) * cos(2 * pi() * pg_temp.uniform(VARIADIC names || text 'angle'))
$$;

-- The weights to compare: those of the paper, and those with options beyond it
CREATE TEMP TABLE choice (choice, weights, shrink, whiten) AS VALUES
	('uniform', 'uniform', 0, false),
	('mixture', 'mixture', 0, false),
	('closest', 'closest', 0, false),
	('shrink', 'mixture', 3, false),
	('whiten', 'mixture', 0, true),
	('whiten and shrink', 'mixture', 3, true);

-- For tables: mean and standard deviation
CREATE FUNCTION pg_temp.mean_and_spread(sample float8[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT round(avg(value)::numeric, 2) || ' ± ' || round(stddev(value)::numeric, 2) FROM unnest(sample) AS value
$$;
