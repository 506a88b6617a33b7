-- The table survey, from test/data/gapminder.csv; run from the top of the tree.
CREATE TABLE survey (
	country text,
	year integer,
	fertility float8,
	life_expectancy float8,
	population float8
);
\copy survey FROM 'test/data/gapminder.csv' WITH (FORMAT csv, HEADER)
ANALYZE survey;
