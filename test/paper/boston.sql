-- Boston housing: the tracts of which 58.1 to 72.5 % of the houses are old are the target, 30 of them known; the
-- other groups of ages are the sources.
--
--     test/bin/with-postgres psql -X -v out=/tmp -f test/paper/boston.sql < boston.csv
--
-- The file has 13 covariates and medv.  Its column b encodes a racist assumption; the data serve only to reproduce
-- the paper's table.  Variables: splits (200).
\ir common.sql
\if :{?splits} \else \set splits 200 \endif
\set name boston
\set known 30
\set eta 0.000001
\set digits 2

CREATE TEMP TABLE boston (
	crim float8, zn float8, indus float8, chas float8, nox float8, rm float8, age float8, dis float8, rad float8,
	tax float8, ptratio float8, b float8, lstat float8, medv float8
);
\copy boston FROM pstdin WITH (FORMAT csv, HEADER)

CREATE TEMP TABLE tract AS
SELECT (ARRAY['3-29', '29-42', '42-58', '58-72', '72-84', '84-92', '92-100'])
		[width_bucket(age, ARRAY[2.9, 29.1, 42.3, 58.1, 72.5, 84.4, 92.4])] AS ages,
	md5(boston::text) AS id, ARRAY[1, crim, zn, indus, chas, nox, rm, dis, rad, tax, ptratio, b, lstat] AS x, medv AS y
FROM boston WHERE age < 100;

CREATE TEMP TABLE source AS
SELECT ages AS task, wml_gram(x, y) AS gram FROM tract WHERE ages <> '58-72' GROUP BY ages;

CREATE TEMP TABLE target_row AS
SELECT id, x, y FROM tract WHERE ages = '58-72';

CREATE TEMP TABLE paper (method, printed) AS VALUES
	('target', 15.47), ('erm uniform', 3.58), ('erm mixture', 3.32), ('maml uniform', 3.64), ('maml mixture', 3.59);

\ir splits.sql
