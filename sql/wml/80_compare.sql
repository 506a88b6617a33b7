-- Choosing a method by cross-validation

CREATE FUNCTION wml_compare(sources wml_gram[], folds wml_gram[], models text[] DEFAULT NULL,
							weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL, ridges float8[] DEFAULT NULL,
							shrinks float8[] DEFAULT NULL, evennesses float8[] DEFAULT NULL, whitens bool[] DEFAULT NULL,
							adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL)
	RETURNS TABLE (rank int, model text, weights text, eta float8, ridge float8, shrink float8, evenness float8, whiten bool,
				   adapt_steps int, source_rows float8, rmse float8, spread float8, rehearsal float8, chosen bool)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000 ROWS 100;
COMMENT ON FUNCTION wml_compare(wml_gram[], wml_gram[], text[], text[], float8[], float8[], float8[], float8[], bool[], int[], float8[]) IS 'cross-validated error of every method on the target, the best first';

CREATE FUNCTION wml_tune(sources wml_gram[], folds wml_gram[], models text[] DEFAULT NULL,
						 weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL, ridges float8[] DEFAULT NULL,
						 shrinks float8[] DEFAULT NULL, evennesses float8[] DEFAULT NULL, whitens bool[] DEFAULT NULL,
						 adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL)
	RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION wml_tune(wml_gram[], wml_gram[], text[], text[], float8[], float8[], float8[], float8[], bool[], int[], float8[]) IS 'coefficients of the method that wml_compare marks as chosen, fitted with the whole target';
