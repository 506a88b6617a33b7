-- The table diabetes, from test/data/diabetes_raw.csv; run from the top of the tree.
CREATE TABLE diabetes (
	age integer,
	sex integer,
	bmi float8,
	bp float8,
	s1 float8,
	s2 float8,
	s3 float8,
	s4 float8,
	s5 float8,
	s6 float8,
	y float8
);
\copy diabetes FROM 'test/data/diabetes_raw.csv' WITH (FORMAT csv, HEADER)
ANALYZE diabetes;
