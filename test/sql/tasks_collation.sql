-- Keys that are equal in any case
SELECT NOT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i') AS without_icu \gset
\if :without_icu
\quit
\endif
SET client_min_messages = warning;
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE shop_in_any_case AS
SELECT ((CASE WHEN i % 2 = 0 THEN 'shop ' ELSE 'SHOP ' END) || g) COLLATE any_case AS name, i, sin(g * 12.9898 + i * 78.233) AS p,
	g % 3 + sin(g * 12.9898 + i * 78.233) + cos(g * 3 + i * 5) / 4 AS y
FROM generate_series(1, 8) AS g, generate_series(1, 12) AS i;
SELECT tasks FROM wml_learn('any_shop', 'shop_in_any_case', task => 'name', response => 'y', features => 'p', along => 'i');
SELECT value FROM wml_explain('any_shop', 'Shop 3') WHERE part = 'rows';
SELECT split_part(model, ' ', 1) <> 'prior' AS tuned, status FROM wml_forecast('any_shop', 'SELECT ''Shop 3'' AS name, 1 AS p', method => 'erm');
SELECT wml_drop('any_shop');
