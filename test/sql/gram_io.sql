-- Text and binary form of wml_gram: both keep every bit and refuse everything else.
CREATE TEMP TABLE task AS
SELECT kind, wml_gram(x, y, w) AS gram
FROM (SELECT 'plain' AS kind, ARRAY[1, sin(i), 1.0 / i] AS x, cos(i) AS y, 1 AS w FROM generate_series(1, 50) AS i
	  UNION ALL
	  SELECT 'weighted', ARRAY[sin(i), 1], cos(i), exp(sin(i)) FROM generate_series(1, 50) AS i
	  UNION ALL
	  SELECT 'magnitudes', ARRAY[10::float8 ^ (i * 2.3), 10::float8 ^ (-i * 1.7)], sqrt(i + 26), 1 FROM generate_series(-25, 25) AS i WHERE i <> 0
	  UNION ALL
	  SELECT 'integers', ARRAY[1, i], i * i, 2 FROM generate_series(1, 5) AS i
	  UNION ALL
	  SELECT 'NaN', ARRAY[1, 'NaN'::float8, 2], i, 1 FROM generate_series(1, 5) AS i
	  UNION ALL
	  SELECT 'infinite', ARRAY[1, '-Infinity'::float8, 1e200], i, 1 FROM generate_series(1, 5) AS i
	  UNION ALL
	  SELECT 'weightless', ARRAY[1, i], i, 0 FROM generate_series(1, 5) AS i
	  UNION ALL
	  SELECT 'skipped', NULL, i, 1 FROM generate_series(1, 5) AS i
	  UNION ALL
	  SELECT 'one feature', ARRAY[0.1::float8 * i], -0.3::float8 * i, 1 FROM generate_series(1, 5) AS i) AS example
GROUP BY kind;
INSERT INTO task
SELECT 'transformed', wml_transform(gram, ARRAY[[1, 0.1, 0], [0, 1, 0.3], [0, 0, 1]]) FROM task WHERE kind = 'weighted';
INSERT INTO task
SELECT 'wide', wml_gram(x, 1)
FROM (SELECT array_agg(sin(i * j)) AS x FROM generate_series(1, 20) AS i, generate_series(1, 100) AS j GROUP BY i) AS example;
SELECT gram FROM task WHERE kind IN ('integers', 'one feature', 'infinite', 'NaN', 'weightless', 'skipped') ORDER BY kind;

-- the text form does not depend on settings, and comes back as the same bytes
CREATE TEMP TABLE text_form AS SELECT kind, gram::text FROM task;
CREATE FUNCTION pg_temp.check_text() RETURNS TABLE (kind text, digits text, same_text bool, same_bits bool) AS $$
	SELECT kind, current_setting('extra_float_digits'), task.gram::text = text_form.gram,
		   wml_gram_send(text_form.gram::wml_gram) = wml_gram_send(task.gram)
	FROM task JOIN text_form USING (kind) ORDER BY kind
$$ LANGUAGE sql;
SET extra_float_digits = -15;
SELECT * FROM pg_temp.check_text();
SET extra_float_digits = 0;
SELECT digits, bool_and(same_text), bool_and(same_bits) FROM pg_temp.check_text() GROUP BY digits;
SET extra_float_digits = 3;
SELECT digits, bool_and(same_text), bool_and(same_bits) FROM pg_temp.check_text() GROUP BY digits;
RESET extra_float_digits;
SELECT bool_and(task.gram = text_form.gram::wml_gram) FROM task JOIN text_form USING (kind);
SELECT bool_and(gram::text::wml_gram::text = gram::text) FROM task;
SELECT bool_and(wml_second_moment(gram::text::wml_gram) IS NOT DISTINCT FROM wml_second_moment(gram)) FROM task;

-- numbers are written as float8 writes them: doubles of all magnitudes, then the sums of double-doubles
SET extra_float_digits = 1;
SELECT count(*), bool_and(substring(gram::text, 'sums=.1 (.*); 1') = value::text)
FROM (SELECT value, format('{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1 weight2=1 q=1 h=1 norm2=1 response=1 sums=[1 %s; 1]}', value)::wml_gram AS gram
	  FROM (SELECT (-1) ^ i * ('x' || substr(md5(i::text), 1, 13))::bit(52)::bigint * 2::float8 ^ (i * 7 % 2046 - 1074) FROM generate_series(1, 4092) AS i
			UNION ALL SELECT i * 10::float8 ^ (i % 600 - 300) FROM generate_series(1, 2000) AS i
			UNION ALL SELECT i * 0.125::float8 * 3 ^ (i % 40) FROM generate_series(1, 2000) AS i
			UNION ALL SELECT unnest('{0, -0, NaN, Infinity, -Infinity, 5e-324, 1e23, 1.7976931348623157e308}'::float8[])) AS number (value)) AS example;
SELECT count(*) > 10000, bool_and(match[1] = match[1]::float8::text) FROM task, regexp_matches(gram::text, '-?[0-9.]+(?:e[+-][0-9]+)?', 'g') AS match;
RESET extra_float_digits;

-- space is free, and so are the semicolons
SELECT E'\t { v=1   d=2\n n=5 skipped=0 weightless=0 constant=1 weight=10 weight2=20 q=2424 h=1234 norm2=26 response=25\n sums=[10 30 110 110 450 1958 ] }  '::wml_gram;
-- decimal forms that we do not write ourselves
SELECT '{v=1 d=1 n=1 skipped=0 weightless=0 constant=0 weight=1.0 weight2=1e0 q=1 h=1 norm2=0x10 response=2E+2 sums=[4.00+1e-17 -8; 16]}'::wml_gram;

-- anything else is an error
CREATE FUNCTION pg_temp.problem(input text) RETURNS text AS $$
DECLARE
	detail text;
BEGIN
	PERFORM input::wml_gram;
	RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN detail <> '' THEN ' (' || detail || ')' ELSE '' END;
END
$$ LANGUAGE plpgsql;
\set good '{v=1 d=1 n=2 skipped=0 weightless=0 constant=1 weight=2 weight2=2 q=145 h=14 norm2=1 response=3 sums=[2 5; 13]}'
SELECT pg_temp.problem(:'good');
SELECT what, pg_temp.problem(replace(:'good', what, instead))
FROM (VALUES ('{', ''), ('{', '['), ('}', ''), ('}', '}}'), ('}', '} x'),
			 ('v=1', 'v=2'), ('v=1', 'v=-1'), ('v=1', 'v=99999999999999999999'), ('v=1 ', ''),
			 ('d=1', 'd=0'), ('d=1', 'd=2'), ('d=1', 'd=1025'), ('d=1', 'd=-1'), ('d=1', 'd=4294967297'), ('d=1', 'd='),
			 ('n=2', 'n=0'), ('n=2', 'n=-2'), ('n=2', 'n=2.5'), ('n=2', 'n=9223372036854775808'), ('n=2', 'N=2'),
			 ('skipped=0', 'skipped=-1'), ('skipped=0', 'skipped=x'),
			 ('weightless=0', 'weightless=3'), ('weightless=0', 'weightless=2'),
			 ('constant=1', 'constant=2'), ('constant=1', 'constant=-1'),
			 ('weight=2', 'weight=0'), ('weight=2', 'weight=-2'), ('weight=2', 'weight=2+1'), ('weight=2', 'weight=2+NaN'),
			 ('weight=2', 'weight=1e999'), ('weight=2', 'weight=2++1e-20'), ('weight=2', 'weight=nan'), ('weight=2', 'weight= 2'),
			 ('weight2=2', 'weight2=-2'), ('q=145', 'q=-1'), ('q=145', 'q=Infinity+1'), ('h=14', 'h=-1'), ('h=14', 'h='),
			 ('norm2=1', 'norm2=-1'), ('norm2=1', 'norm2=NaN'), ('norm2=1', 'norm2=1+1e-20'), ('response=3', 'response=-3'),
			 ('[2', '[-2'), ('13]', '-13]'), ('[2', '[2+0.5'), ('5;', '5-NaN;'), ('5;', ';'), ('5;', '5; 6;'), ('5;', '5,'),
			 ('13]', '13'), ('13]', ']'), ('13]', '13;]'), ('sums=', ''), ('[2', '2')) AS change (what, instead);
SELECT pg_temp.problem(input)
FROM unnest(ARRAY['', ' ', '{', '{}', 'NULL', '{v=1', '{v=1 d=1024 n=1', repeat('{', 5000), repeat(E'\u00e9', 100)]) AS input;

-- the version of today: the same in other places
\set good '{v=2 d=1 n=2 skipped=0 weightless=0 weight=2 weight2=2 q=145 h=14 norm2=1 response=3 not1=[0] exceptions=1 bad=[0 1 0] sums=[2 0; 0]}'
SELECT pg_temp.problem(:'good');
SELECT what, instead, pg_temp.problem(replace(:'good', what, instead))
FROM (VALUES ('not1=[0] ', ''), ('[0] ', ''), ('not1=[0]', 'not1=[3]'), ('not1=[0]', 'not1=[-1]'), ('not1=[0]', 'not1=[]'), ('not1=[0]', 'not1=[0 0]'),
			 ('not1=[0]', 'not1=[?]'), ('not1=[0]', 'not1=[2]'), ('d=1 n=2', 'd=0 n=0'),
			 ('exceptions=1', 'exceptions=0'), ('exceptions=1', 'exceptions=3'), ('exceptions=1', 'exceptions=x'), ('exceptions=1 ', ''),
			 ('[0 1 0]', '[0 1]'), ('[0 1 0]', '[0 1 0 0]'), ('[0 1 0]', '[0 ? 0]'), ('[0 1 0]', '[0 7 0]'), ('[0 1 0]', '[0 1 2]'), ('[0 1 0]', '[0 0 0]'),
			 (' bad=[0 1 0]', ''), ('weight2=2', 'weight2=2*4^640'), ('weight2=2', 'weight2=2*4^-640'), ('weight2=2', 'weight2=2*4^1'), ('weight2=2', 'weight2=2*4^'),
			 ('weight2=2', 'weight2=2*2^640'), ('weightless=0', 'weightless=0 constant=1'), ('v=2', 'v=3')) AS change (what, instead);
-- a NaN keeps its sign
SELECT gram, gram::text::wml_gram::text = gram::text AS same_text, wml_gram_send(gram::text::wml_gram) = wml_gram_send(gram) AS same_bits
FROM (SELECT unnest(ARRAY['-NaN', 'NaN', 'Infinity']) AS q) AS number,
	 LATERAL (SELECT format('{v=2 d=1 n=2 skipped=0 weightless=0 weight=2 weight2=2 q=%s h=14 norm2=1 response=3 not1=[0] sums=[2 %1$s; 4]}', q)::wml_gram AS gram) AS example;

-- binary: what send writes, in words, and what recv says to other bytes is for the TAP tests
SELECT wml_gram_send(gram) FROM task WHERE kind = 'one feature';
SELECT bool_and(length(wml_gram_send(gram)) = 136 - 4 + CASE wml_dims(gram) WHEN 0 THEN 0 ELSE (wml_dims(gram) + 1) * (wml_dims(gram) + 4) * 8 END)
FROM task;

-- stored: inline, short, compressed, out of line
CREATE TEMP TABLE stored AS SELECT kind, gram FROM task;
SELECT bool_and(wml_gram_send(stored.gram) = wml_gram_send(task.gram)) FROM stored JOIN task USING (kind);
SELECT DISTINCT pg_column_size(gram) FROM stored WHERE kind = 'skipped';
ALTER TABLE stored ALTER gram SET STORAGE EXTERNAL;
UPDATE stored SET gram = gram + gram;
SELECT bool_and(stored.gram = task.gram + task.gram) FROM stored JOIN task USING (kind);

-- NULL in, NULL out
SELECT NULL::wml_gram, wml_n(NULL), wml_second_moment(NULL), NULL::wml_gram + NULL::wml_gram, wml_transform(NULL, NULL);
