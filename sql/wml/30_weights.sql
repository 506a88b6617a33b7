-- Kernels and distances between tasks

CREATE FUNCTION wml_kernel(a wml_gram, b wml_gram, loss text DEFAULT 'square') RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_kernel(wml_gram, wml_gram, text) IS 'mean kernel of two tasks';

CREATE FUNCTION wml_distance(a wml_gram, b wml_gram, loss text DEFAULT 'square') RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_distance(wml_gram, wml_gram, text) IS 'kernel distance (MMD) of two tasks';

CREATE FUNCTION wml_gram_distance(wml_gram, wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_gram_distance(wml_gram, wml_gram) IS 'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (wml_gram, wml_gram) IS 'kernel distance (MMD) for square loss';

CREATE FUNCTION wml_embedding(gram wml_gram, loss text DEFAULT 'square') RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_embedding(wml_gram, text) IS 'point whose Euclidean distances are the kernel distances';

-- Weights of source tasks

CREATE FUNCTION wml_alpha(source wml_gram, target wml_gram, weights text DEFAULT 'mixture',
						  loss text DEFAULT 'square', shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_alpha_window' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_alpha(wml_gram, wml_gram, text, text, float8, bool) IS 'weight of this row''s source for the target, among all sources of the partition';

CREATE FUNCTION wml_alpha(sources wml_gram[], target wml_gram, weights text DEFAULT 'mixture',
						  loss text DEFAULT 'square', shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_alpha_array' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_alpha(wml_gram[], wml_gram, text, text, float8, bool) IS 'weights of the sources for the target';

CREATE FUNCTION wml_alpha_gap(sources wml_gram[], target wml_gram, alpha float8[],
							  loss text DEFAULT 'square', shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION wml_alpha_gap(wml_gram[], wml_gram, float8[], text, float8, bool) IS 'duality gap of the weights, an upper bound on how far their objective exceeds its minimum';

CREATE FUNCTION wml_alpha_kernel(kernel float8[], sizes float8[], weights text DEFAULT 'mixture',
								 shrink float8 DEFAULT 0)
	RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_alpha_kernel(float8[], float8[], text, float8) IS 'weights of the sources from the sums of any kernel, with the target last';

-- The same weights as an aggregate, in the order of its rows

CREATE FUNCTION wml_weights_accum(internal, wml_gram, wml_gram) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_weights_accum(internal, wml_gram, wml_gram) IS 'transition function of wml_weights';

CREATE FUNCTION wml_weights_accum(internal, wml_gram, wml_gram, text, text, float8, bool) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_weights_accum(internal, wml_gram, wml_gram, text, text, float8, bool) IS 'transition function of wml_weights';

CREATE FUNCTION wml_weights_final(internal) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION wml_weights_final(internal) IS 'final function of wml_weights';

CREATE AGGREGATE wml_weights(source wml_gram, target wml_gram) (
	SFUNC = wml_weights_accum, STYPE = internal, SSPACE = 100000,
	FINALFUNC = wml_weights_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_weights(wml_gram, wml_gram) IS 'weights of the sources for the target, in the order of the rows';

CREATE AGGREGATE wml_weights(source wml_gram, target wml_gram, weights text, loss text, shrink float8, whiten bool) (
	SFUNC = wml_weights_accum, STYPE = internal, SSPACE = 100000,
	FINALFUNC = wml_weights_final, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_weights(wml_gram, wml_gram, text, text, float8, bool) IS 'weights of the sources for the target, in the order of the rows';
