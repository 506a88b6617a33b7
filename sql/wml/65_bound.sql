-- Bounds of the target's risk, and their direct minimisation

CREATE FUNCTION wml_bound(sources wml_gram[], target wml_gram, alpha float8[], loss_range float8, epsilon float8,
						  loss text DEFAULT 'square', radius float8 DEFAULT 1, coef float8[] DEFAULT NULL,
						  OUT kernel_distance float8, OUT weighted_distance float8, OUT ball float8,
						  OUT rademacher float8, OUT deviation float8, OUT theorem float8, OUT corollary float8,
						  OUT source_risk float8, OUT risk_bound float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION wml_bound(wml_gram[], wml_gram, float8[], float8, float8, text, float8, float8[]) IS 'terms of the bounds on the target''s risk in terms of the weighted risk of the sources';

CREATE FUNCTION wml_minimize_bound(sources wml_gram[], target wml_gram, variant text DEFAULT 'joint',
								   loss text DEFAULT 'square', radius float8 DEFAULT 1, starts int DEFAULT 8,
								   steps int DEFAULT 1000, OUT alpha float8[], OUT coef float8[],
								   OUT objective float8, OUT source_risk float8, OUT distance float8,
								   OUT ball float8, OUT gap float8, OUT residual float8, OUT steps_taken int)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION wml_minimize_bound(wml_gram[], wml_gram, text, text, float8, int, int) IS 'weights and coefficients that together minimise the bound on the target''s risk';
