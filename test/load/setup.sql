-- Tasks whose grams many clients keep up to date at once, and the rows to recount them from.
CREATE EXTENSION wml;
CREATE TABLE seen (task int, x float8[], y float8);
CREATE TABLE task (task int PRIMARY KEY, gram wml_gram) WITH (fillfactor = 50);
INSERT INTO seen SELECT i % 20 + 1, ARRAY[1, sin(i), cos(i)], i % 20 + sin(i) FROM generate_series(1, 400) AS i;
INSERT INTO task SELECT task, wml_gram(x, y) FROM seen GROUP BY task;
