-- The adaptive basis: a small network

COMMENT ON TYPE wml_mlp IS 'a trained network with the history of its training';

CREATE FUNCTION wml_mlp_train(sources text, target text, hidden int[] DEFAULT '{40,40}', objective text DEFAULT 'maml',
							  weights text DEFAULT 'mixture', iterations int DEFAULT 10000, batch int DEFAULT 100,
							  eta float8 DEFAULT 0.01, steps int DEFAULT 1, outer_eta float8 DEFAULT 0.001,
							  seed bigint DEFAULT 0, support float8 DEFAULT 0, shrink float8 DEFAULT 0,
							  whiten bool DEFAULT false, standardize bool DEFAULT false)
	RETURNS wml_mlp
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION wml_mlp_train(text, text, int[], text, text, int, int, float8, int, float8, bigint, float8, float8, bool, bool) IS 'network meta-trained on the rows (task, x, y) of one query for the target rows (x, y) of another';

CREATE FUNCTION wml_mlp_history(model wml_mlp)
	RETURNS TABLE (iteration bigint, rmse float8, distance float8, sources int)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1000;
COMMENT ON FUNCTION wml_mlp_history(wml_mlp) IS 'learning curve of a network';

CREATE FUNCTION wml_embed(model wml_mlp, x float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_mlp_embed' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_embed(wml_mlp, float8[]) IS 'basis of the network at x: its last hidden layer and a constant';

CREATE FUNCTION wml_predict(model wml_mlp, x float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_mlp_predict' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_predict(wml_mlp, float8[]) IS 'prediction of a network';

CREATE FUNCTION wml_adapt(model wml_mlp, x float8[], y float8[], eta float8, steps int) RETURNS wml_mlp
	AS 'MODULE_PATHNAME', 'wml_mlp_adapt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_adapt(wml_mlp, float8[], float8[], float8, int) IS 'network after some gradient steps on the rows';

CREATE FUNCTION wml_adapt_path(model wml_mlp, x float8[], y float8[], eta float8, steps int)
	RETURNS TABLE (step int, mse float8)
	AS 'MODULE_PATHNAME', 'wml_mlp_adapt_path' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION wml_adapt_path(wml_mlp, float8[], float8[], float8, int) IS 'error of a network at each step of wml_adapt, from step 0 on';
