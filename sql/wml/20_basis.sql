-- Basis functions

CREATE FUNCTION wml_rff(x float8[], features int, lengthscale float8, seed bigint) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_rff(float8[], int, float8, bigint) IS 'random Fourier features of x, the same everywhere for the same seed';

CREATE FUNCTION wml_poly(x float8[], degree int) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_poly(float8[], int) IS 'all monomials of x up to the degree, constant first';

CREATE FUNCTION wml_fourier(t float8, period float8, harmonics int) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_fourier(float8, float8, int) IS 'constant and seasonal harmonics: 1, cos, sin, cos of twice the angle, ...';
