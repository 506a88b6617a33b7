-- Models under task weights: aggregates over (gram, alpha [, options])

CREATE TYPE wml_step;

CREATE FUNCTION wml_step_in(cstring) RETURNS wml_step
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_step_out(wml_step) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_step_recv(internal) RETURNS wml_step
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_step_send(wml_step) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE wml_step (
	INPUT = wml_step_in,
	OUTPUT = wml_step_out,
	RECEIVE = wml_step_recv,
	SEND = wml_step_send,
	INTERNALLENGTH = 48,
	ALIGNMENT = double,
	STORAGE = plain
);
COMMENT ON TYPE wml_step IS 'options of a model';

CREATE FUNCTION wml_step(eta float8 DEFAULT NULL, steps int DEFAULT NULL, ridge float8 DEFAULT NULL,
						 scale text DEFAULT NULL, radius float8 DEFAULT NULL, share float8 DEFAULT NULL)
	RETURNS wml_step
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_step(float8, int, float8, text, float8, float8) IS 'options of a model, by name; NULL is the default';

CREATE TYPE wml_model_state;

CREATE FUNCTION wml_model_state_in(cstring) RETURNS wml_model_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_model_state_out(wml_model_state) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_model_state_recv(internal) RETURNS wml_model_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_model_state_send(wml_model_state) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE wml_model_state (
	INPUT = wml_model_state_in,
	OUTPUT = wml_model_state_out,
	RECEIVE = wml_model_state_recv,
	SEND = wml_model_state_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = extended
);
COMMENT ON TYPE wml_model_state IS 'state of a model''s aggregate';

CREATE FUNCTION wml_model_accum(wml_model_state, wml_gram, float8) RETURNS wml_model_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION wml_model_accum(wml_model_state, wml_gram, float8, wml_step) RETURNS wml_model_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION wml_model_combine(wml_model_state, wml_model_state) RETURNS wml_model_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION wml_model_final(wml_model_state) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;

-- The functions above serve all models: INITCOND names the one.

CREATE AGGREGATE wml_erm(gram wml_gram, alpha float8) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 1200,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=erm}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_erm(wml_gram, float8) IS 'coefficients of the alpha-weighted least-squares model';

CREATE AGGREGATE wml_erm(gram wml_gram, alpha float8, options wml_step) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 1200,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=erm}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_erm(wml_gram, float8, wml_step) IS 'coefficients of the alpha-weighted least-squares model';

CREATE AGGREGATE wml_maml(gram wml_gram, alpha float8) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 3500,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=maml}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_maml(wml_gram, float8) IS 'coefficients of the alpha-weighted MAML model';

CREATE AGGREGATE wml_maml(gram wml_gram, alpha float8, options wml_step) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 3500,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=maml}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_maml(wml_gram, float8, wml_step) IS 'coefficients of the alpha-weighted MAML model';

CREATE AGGREGATE wml_fomaml(gram wml_gram, alpha float8) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 4600,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=fomaml}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_fomaml(wml_gram, float8) IS 'coefficients of the alpha-weighted first-order MAML model';

CREATE AGGREGATE wml_fomaml(gram wml_gram, alpha float8, options wml_step) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 4600,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=fomaml}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_fomaml(wml_gram, float8, wml_step) IS 'coefficients of the alpha-weighted first-order MAML model';

CREATE AGGREGATE wml_reptile(gram wml_gram, alpha float8) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 4600,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=reptile}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_reptile(wml_gram, float8) IS 'coefficients of the alpha-weighted Reptile model';

CREATE AGGREGATE wml_reptile(gram wml_gram, alpha float8, options wml_step) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 4600,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=reptile}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_reptile(wml_gram, float8, wml_step) IS 'coefficients of the alpha-weighted Reptile model';

-- Weights and model in one call

CREATE FUNCTION wml_fit(sources wml_gram[], target wml_gram, model text DEFAULT 'maml',
						weights text DEFAULT 'mixture', eta float8 DEFAULT NULL, steps int DEFAULT 1,
						ridge float8 DEFAULT 0, shrink float8 DEFAULT 3, whiten bool DEFAULT true,
						windows wml_gram[] DEFAULT NULL, features text[] DEFAULT NULL)
	RETURNS TABLE ("position" int, feature text, coefficient float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION wml_fit(wml_gram[], wml_gram, text, text, float8, int, float8, float8, bool, wml_gram[], text[]) IS 'model learned from the sources for the target, one row per coefficient';

CREATE FUNCTION wml_fit_weights(sources wml_gram[], target wml_gram, model text DEFAULT 'maml',
								weights text DEFAULT 'mixture', eta float8 DEFAULT NULL, steps int DEFAULT 1,
								ridge float8 DEFAULT 0, shrink float8 DEFAULT 3, whiten bool DEFAULT true,
								windows wml_gram[] DEFAULT NULL)
	RETURNS TABLE (source int, alpha float8, distance float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000 ROWS 100;
COMMENT ON FUNCTION wml_fit_weights(wml_gram[], wml_gram, text, text, float8, int, float8, float8, bool, wml_gram[]) IS 'weights that wml_fit uses with the same arguments, one row per source';

-- Regression of one task

CREATE FUNCTION wml_coef(gram wml_gram, ridge float8 DEFAULT 0) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION wml_coef(wml_gram, float8) IS 'least-squares coefficients of one task';

CREATE FUNCTION wml_linregr(gram wml_gram, features text[] DEFAULT NULL, level float8 DEFAULT 0.95)
	RETURNS TABLE ("position" int, feature text, coefficient float8, std_error float8, t float8, p_value float8,
		lower float8, upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2000 ROWS 10;
COMMENT ON FUNCTION wml_linregr(wml_gram, text[], float8) IS 'linear regression of one task, one row per coefficient';

CREATE FUNCTION wml_linregr_clustered(sources wml_gram[], features text[] DEFAULT NULL, level float8 DEFAULT 0.95)
	RETURNS TABLE ("position" int, feature text, coefficient float8, std_error float8, t float8, p_value float8,
		lower float8, upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION wml_linregr_clustered(wml_gram[], text[], float8) IS 'linear regression of all tasks together, with standard errors that allow for dependent rows within a task';

CREATE FUNCTION wml_chow(a wml_gram, b wml_gram, OUT f float8, OUT numerator float8, OUT denominator float8, OUT p_value float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION wml_chow(wml_gram, wml_gram) IS 'Chow''s test of whether two tasks have the same coefficients';

CREATE FUNCTION wml_linregr_summary(gram wml_gram, OUT n bigint, OUT rank int, OUT freedom bigint, OUT r2 float8,
									OUT residual_std_error float8, OUT condition float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION wml_linregr_summary(wml_gram) IS 'summary of the linear regression of one task';

-- Using and judging a model

CREATE FUNCTION wml_predict(coef float8[], x float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_predict(float8[], float8[]) IS 'prediction of a linear model: coefficients times features';

CREATE FUNCTION wml_mse(gram wml_gram, coef float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_mse(wml_gram, float8[]) IS 'mean squared error of the coefficients on the rows of the gram';

CREATE FUNCTION wml_rmse(gram wml_gram, coef float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_rmse(wml_gram, float8[]) IS 'root mean squared error of the coefficients on the rows of the gram';

CREATE FUNCTION wml_r2(gram wml_gram, coef float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_r2(wml_gram, float8[]) IS 'share of the response''s variance that the coefficients explain on the rows of the gram';

-- Adapting a model to a task

CREATE FUNCTION wml_adapt(gram wml_gram, coef float8[], eta float8 DEFAULT NULL, steps int DEFAULT 1,
						  share float8 DEFAULT NULL)
	RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_adapt(wml_gram, float8[], float8, int, float8) IS 'coefficients after some gradient steps on the gram''s squared error';

CREATE FUNCTION wml_adapt_path(gram wml_gram, coef float8[], eta float8 DEFAULT NULL, steps int DEFAULT 1,
							   share float8 DEFAULT NULL)
	RETURNS TABLE (step int, coef float8[], mse float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION wml_adapt_path(wml_gram, float8[], float8, int, float8) IS 'coefficients and their error at each step of wml_adapt, from step 0 on';

CREATE FUNCTION wml_unstandardize(reference wml_gram, coef float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_unstandardize(wml_gram, float8[]) IS 'coefficients fitted to grams of wml_standardize, in the units of the reference';
