-- Bounds of the target's risk, and their direct minimisation

CREATE FUNCTION wml_bound(sources wml_gram[], alpha float8[], target wml_gram, loss_range float8, epsilon float8,
						  loss text DEFAULT 'square', radius float8 DEFAULT 1, coef float8[] DEFAULT NULL)
	RETURNS TABLE (kernel_distance float8, weighted_distance float8, ball float8, rademacher float8, deviation float8,
				   theorem float8, corollary float8, source_risk float8, risk_bound float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_bound(wml_gram[], float8[], wml_gram, float8, float8, text, float8, float8[]) IS 'terms of the bounds of the target''s risk by the weighted risk of the sources';

CREATE FUNCTION wml_minimize_bound(sources wml_gram[], target wml_gram, variant text DEFAULT 'joint',
								   radius float8 DEFAULT 1, loss text DEFAULT 'square', starts int DEFAULT 8,
								   steps int DEFAULT 1000)
	RETURNS TABLE (alpha float8[], coefficients float8[], objective float8, source_risk float8, distance float8,
				   ball float8, gap float8, residual float8, steps_taken int)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_minimize_bound(wml_gram[], wml_gram, text, float8, text, int, int) IS 'weights and coefficients that together minimise the bound of the target''s risk';
