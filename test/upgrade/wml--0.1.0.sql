-- The script of version 0.1.0, for the test of the upgrade.  The library has most of its functions no more, and the server
-- looks for each, so all but those of types name one that there is.

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION wml" to load this file. \quit

-- The gram of one task

CREATE TYPE wml_gram;

CREATE FUNCTION wml_gram_in(cstring) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_gram_out(wml_gram) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_gram_recv(internal) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_gram_send(wml_gram) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE wml_gram (
	INPUT = wml_gram_in,
	OUTPUT = wml_gram_out,
	RECEIVE = wml_gram_recv,
	SEND = wml_gram_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = extended
);
COMMENT ON TYPE wml_gram IS 'second moments of one task''s rows, as exact sums';

-- Aggregates that collect grams

CREATE FUNCTION wml_gram_accum(wml_gram, float8[], float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_accum(wml_gram, float8[], float8, float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_accum_moving(wml_gram, float8[], float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_accum_moving(wml_gram, float8[], float8, float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_retract(wml_gram, float8[], float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_retract(wml_gram, float8[], float8, float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_combine(wml_gram, wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_gram(x float8[], y float8) (
	SFUNC = wml_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	MSFUNC = wml_gram_accum_moving,
	MINVFUNC = wml_gram_retract,
	MSTYPE = wml_gram,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_gram(float8[], float8) IS 'gram of the rows with features x and response y';

CREATE AGGREGATE wml_gram(x float8[], y float8, weight float8) (
	SFUNC = wml_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	MSFUNC = wml_gram_accum_moving,
	MINVFUNC = wml_gram_retract,
	MSTYPE = wml_gram,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_gram(float8[], float8, float8) IS 'gram of the rows with features x and response y, weighted';

CREATE AGGREGATE wml_merge(gram wml_gram) (
	SFUNC = wml_gram_combine,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_merge(wml_gram) IS 'gram of all rows behind the grams';

-- Operators on grams

CREATE FUNCTION wml_gram_add(wml_gram, wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_add(wml_gram, wml_gram) IS 'implementation of + operator';

CREATE FUNCTION wml_gram_subtract(wml_gram, wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_subtract(wml_gram, wml_gram) IS 'implementation of - operator';

CREATE FUNCTION wml_gram_eq(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_eq(wml_gram, wml_gram) IS 'implementation of = operator';

CREATE FUNCTION wml_gram_ne(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_ne(wml_gram, wml_gram) IS 'implementation of <> operator';

CREATE OPERATOR + (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_add,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (wml_gram, wml_gram) IS 'gram of the rows of both';

CREATE OPERATOR - (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_subtract
);
COMMENT ON OPERATOR - (wml_gram, wml_gram) IS 'gram of the rows of the left without those of the right';

CREATE OPERATOR = (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (wml_gram, wml_gram) IS 'every figure, rounded to double precision, is equal';

CREATE OPERATOR <> (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (wml_gram, wml_gram) IS 'some figure, rounded to double precision, differs';

CREATE FUNCTION wml_gram_hash(wml_gram) RETURNS int4
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_hash(wml_gram) IS 'hash';

CREATE FUNCTION wml_gram_hash_extended(wml_gram, int8) RETURNS int8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_hash_extended(wml_gram, int8) IS 'hash, with a seed';

-- Lets DISTINCT, GROUP BY, UNION, EXCEPT and joins compare grams.
CREATE OPERATOR CLASS wml_gram_hash_ops DEFAULT FOR TYPE wml_gram USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 wml_gram_hash(wml_gram),
	FUNCTION 2 wml_gram_hash_extended(wml_gram, int8);

-- Accessors

CREATE FUNCTION wml_n(gram wml_gram) RETURNS bigint
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_n(wml_gram) IS 'number of rows counted';

CREATE FUNCTION wml_skipped(gram wml_gram) RETURNS bigint
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_skipped(wml_gram) IS 'number of rows skipped because something in them was NULL';

CREATE FUNCTION wml_weight(gram wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_weight(wml_gram) IS 'sum of the rows'' weights';

CREATE FUNCTION wml_effective_n(gram wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_effective_n(wml_gram) IS 'effective number of rows: (sum of weights)^2 / sum of squared weights';

CREATE FUNCTION wml_dims(gram wml_gram) RETURNS int
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_dims(wml_gram) IS 'number of features';

CREATE FUNCTION wml_second_moment(gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_second_moment(wml_gram) IS 'weighted mean of z z'', z = (features, response)';

CREATE FUNCTION wml_mean(gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_mean(wml_gram) IS 'weighted mean of z = (features, response); NULL without a constant feature';

CREATE FUNCTION wml_mean_response(gram wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_mean_response(wml_gram) IS 'weighted mean of the response; NULL without a constant feature';

-- Changes of basis

CREATE FUNCTION wml_transform(gram wml_gram, matrix float8[]) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_transform(wml_gram, float8[]) IS 'gram of the rows matrix * (features, response)';

CREATE FUNCTION wml_standardize(gram wml_gram, reference wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_standardize(wml_gram, wml_gram) IS 'gram of the rows centred and scaled by the reference''s means and standard deviations';

-- Models under task weights: aggregates over (gram, alpha)

CREATE FUNCTION wml_model_combine(bytea, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_model_final(bytea) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_erm_accum(bytea, wml_gram, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_erm(gram wml_gram, alpha float8) (
	SFUNC = wml_erm_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_erm(wml_gram, float8) IS 'coefficients of the alpha-weighted least-squares model';

CREATE FUNCTION wml_erm_accum(bytea, wml_gram, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_erm(gram wml_gram, alpha float8, ridge float8) (
	SFUNC = wml_erm_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_erm(wml_gram, float8, float8) IS 'coefficients of the alpha-weighted least-squares model';

CREATE FUNCTION wml_erm_accum(bytea, wml_gram, float8, float8, text) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_erm(gram wml_gram, alpha float8, ridge float8, scale text) (
	SFUNC = wml_erm_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_erm(wml_gram, float8, float8, text) IS 'coefficients of the alpha-weighted least-squares model';

CREATE FUNCTION wml_maml_accum(bytea, wml_gram, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_maml(gram wml_gram, alpha float8, eta float8) (
	SFUNC = wml_maml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_maml(wml_gram, float8, float8) IS 'coefficients of the alpha-weighted MAML model';

CREATE FUNCTION wml_maml_accum(bytea, wml_gram, float8, float8, int) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_maml(gram wml_gram, alpha float8, eta float8, steps int) (
	SFUNC = wml_maml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_maml(wml_gram, float8, float8, int) IS 'coefficients of the alpha-weighted MAML model';

CREATE FUNCTION wml_maml_accum(bytea, wml_gram, float8, float8, int, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_maml(gram wml_gram, alpha float8, eta float8, steps int, ridge float8) (
	SFUNC = wml_maml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_maml(wml_gram, float8, float8, int, float8) IS 'coefficients of the alpha-weighted MAML model';

CREATE FUNCTION wml_maml_accum(bytea, wml_gram, float8, float8, int, float8, text) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_maml(gram wml_gram, alpha float8, eta float8, steps int, ridge float8, scale text) (
	SFUNC = wml_maml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_maml(wml_gram, float8, float8, int, float8, text) IS 'coefficients of the alpha-weighted MAML model';

CREATE FUNCTION wml_fomaml_accum(bytea, wml_gram, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_fomaml(gram wml_gram, alpha float8, eta float8) (
	SFUNC = wml_fomaml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_fomaml(wml_gram, float8, float8) IS 'coefficients of the alpha-weighted first-order MAML model';

CREATE FUNCTION wml_fomaml_accum(bytea, wml_gram, float8, float8, int) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_fomaml(gram wml_gram, alpha float8, eta float8, steps int) (
	SFUNC = wml_fomaml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_fomaml(wml_gram, float8, float8, int) IS 'coefficients of the alpha-weighted first-order MAML model';

CREATE FUNCTION wml_fomaml_accum(bytea, wml_gram, float8, float8, int, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_fomaml(gram wml_gram, alpha float8, eta float8, steps int, ridge float8) (
	SFUNC = wml_fomaml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_fomaml(wml_gram, float8, float8, int, float8) IS 'coefficients of the alpha-weighted first-order MAML model';

CREATE FUNCTION wml_fomaml_accum(bytea, wml_gram, float8, float8, int, float8, text) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_fomaml(gram wml_gram, alpha float8, eta float8, steps int, ridge float8, scale text) (
	SFUNC = wml_fomaml_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_fomaml(wml_gram, float8, float8, int, float8, text) IS 'coefficients of the alpha-weighted first-order MAML model';

CREATE FUNCTION wml_reptile_accum(bytea, wml_gram, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_reptile(gram wml_gram, alpha float8, eta float8) (
	SFUNC = wml_reptile_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_reptile(wml_gram, float8, float8) IS 'coefficients of the alpha-weighted Reptile model';

CREATE FUNCTION wml_reptile_accum(bytea, wml_gram, float8, float8, int) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_reptile(gram wml_gram, alpha float8, eta float8, steps int) (
	SFUNC = wml_reptile_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_reptile(wml_gram, float8, float8, int) IS 'coefficients of the alpha-weighted Reptile model';

CREATE FUNCTION wml_reptile_accum(bytea, wml_gram, float8, float8, int, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_reptile(gram wml_gram, alpha float8, eta float8, steps int, ridge float8) (
	SFUNC = wml_reptile_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_reptile(wml_gram, float8, float8, int, float8) IS 'coefficients of the alpha-weighted Reptile model';

CREATE FUNCTION wml_reptile_accum(bytea, wml_gram, float8, float8, int, float8, text) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_reptile(gram wml_gram, alpha float8, eta float8, steps int, ridge float8, scale text) (
	SFUNC = wml_reptile_accum,
	STYPE = bytea,
	SSPACE = 1300,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_reptile(wml_gram, float8, float8, int, float8, text) IS 'coefficients of the alpha-weighted Reptile model';

-- Weights and model in one call

CREATE FUNCTION wml_fit(sources wml_gram[], target wml_gram, model text DEFAULT 'maml',
						weights text DEFAULT 'mixture', eta float8 DEFAULT 0.0001, steps int DEFAULT 1,
						ridge float8 DEFAULT 0, shrink float8 DEFAULT 0, whiten bool DEFAULT false,
						features text[] DEFAULT NULL)
	RETURNS TABLE ("position" int, feature text, coefficient float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_fit(wml_gram[], wml_gram, text, text, float8, int, float8, float8, bool, text[]) IS 'model learned from the sources for the target, one row for each coefficient';

CREATE FUNCTION wml_fit_weights(sources wml_gram[], target wml_gram, model text DEFAULT 'maml',
								weights text DEFAULT 'mixture', eta float8 DEFAULT 0.0001, steps int DEFAULT 1,
								ridge float8 DEFAULT 0, shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS TABLE (source int, alpha float8, distance float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 100;
COMMENT ON FUNCTION wml_fit_weights(wml_gram[], wml_gram, text, text, float8, int, float8, float8, bool) IS 'weights behind wml_fit with the same arguments, one row for each source';

-- Regression of one task

CREATE FUNCTION wml_linregr(gram wml_gram, features text[] DEFAULT NULL)
	RETURNS TABLE ("position" int, feature text, coefficient float8, std_error float8, t float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_linregr(wml_gram, text[]) IS 'linear regression of one task, one row for each coefficient';

CREATE FUNCTION wml_linregr_summary(gram wml_gram)
	RETURNS TABLE (n bigint, rank int, freedom bigint, r2 float8, residual_std_error float8, condition float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_linregr_summary(wml_gram) IS 'summary of the linear regression of one task';

-- Using and judging a model

CREATE FUNCTION wml_predict(coef float8[], x float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_predict(float8[], float8[]) IS 'prediction of a linear model: coefficients times features';

CREATE FUNCTION wml_mse(gram wml_gram, coef float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_mse(wml_gram, float8[]) IS 'mean squared error of the coefficients on the rows behind the gram';

CREATE FUNCTION wml_rmse(gram wml_gram, coef float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_rmse(wml_gram, float8[]) IS 'root of the mean squared error of the coefficients on the rows behind the gram';

CREATE FUNCTION wml_r2(gram wml_gram, coef float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_r2(wml_gram, float8[]) IS 'share of the response''s variance that the coefficients explain on the rows behind the gram';

-- Adapting a model to a task

CREATE FUNCTION wml_adapt(coef float8[], gram wml_gram, eta float8, steps int) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_adapt(float8[], wml_gram, float8, int) IS 'coefficients after so many gradient steps on the gram''s squared error';

CREATE FUNCTION wml_adapt_path(coef float8[], gram wml_gram, eta float8, steps int)
	RETURNS TABLE (step int, coefficients float8[], mse float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_adapt_path(float8[], wml_gram, float8, int) IS 'coefficients and their error at each step of wml_adapt, from step 0 on';

CREATE FUNCTION wml_unstandardize(coef float8[], reference wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_unstandardize(float8[], wml_gram) IS 'coefficients fitted on grams of wml_standardize, in the units of the reference';

-- Basis functions

CREATE FUNCTION wml_rff(x float8[], features int, lengthscale float8, seed bigint) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_rff(float8[], int, float8, bigint) IS 'random Fourier features of x, the same for the same seed everywhere';

CREATE FUNCTION wml_poly(x float8[], degree int) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_poly(float8[], int) IS 'all monomials of x up to the degree, the constant first';

CREATE FUNCTION wml_fourier(t float8, period float8, harmonics int) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_fourier(float8, float8, int) IS 'constant and seasonal harmonics: 1, cos, sin, cos of twice the angle, ...';

-- Kernels and distances between tasks

CREATE FUNCTION wml_kernel(a wml_gram, b wml_gram, loss text DEFAULT 'square') RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_kernel(wml_gram, wml_gram, text) IS 'mean kernel of two tasks';

CREATE FUNCTION wml_distance(a wml_gram, b wml_gram, loss text DEFAULT 'square') RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_distance(wml_gram, wml_gram, text) IS 'kernel distance (MMD) of two tasks';

CREATE FUNCTION wml_gram_distance(wml_gram, wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_distance(wml_gram, wml_gram) IS 'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (wml_gram, wml_gram) IS 'kernel distance (MMD) for square loss';

CREATE FUNCTION wml_embedding(gram wml_gram, loss text DEFAULT 'square') RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_embedding(wml_gram, text) IS 'point whose Euclidean distances are the kernel distances';

-- Weights of source tasks

CREATE FUNCTION wml_alpha(source wml_gram, target wml_gram, weights text DEFAULT 'mixture',
						  loss text DEFAULT 'square', shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C WINDOW IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_alpha(wml_gram, wml_gram, text, text, float8, bool) IS 'weight of this row''s source for the target, among all sources of the partition';

CREATE FUNCTION wml_alpha(sources wml_gram[], target wml_gram, weights text DEFAULT 'mixture',
						  loss text DEFAULT 'square', shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_alpha(wml_gram[], wml_gram, text, text, float8, bool) IS 'weights of the sources for the target';

CREATE FUNCTION wml_alpha_gap(sources wml_gram[], target wml_gram, alpha float8[],
							  loss text DEFAULT 'square', shrink float8 DEFAULT 0, whiten bool DEFAULT false)
	RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_alpha_gap(wml_gram[], wml_gram, float8[], text, float8, bool) IS 'duality gap of the weights: how far their squared distance is from the least, at most';

CREATE FUNCTION wml_alpha_kernel(kernel float8[], sizes float8[], weights text DEFAULT 'mixture',
								 shrink float8 DEFAULT 0)
	RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_alpha_kernel(float8[], float8[], text, float8) IS 'weights of the sources from sums of any kernel, the target last';

-- A prior learned from the sources

CREATE TYPE wml_prior;

CREATE FUNCTION wml_prior_in(cstring) RETURNS wml_prior
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_prior_out(wml_prior) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_prior_recv(internal) RETURNS wml_prior
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_prior_send(wml_prior) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE wml_prior (
	INPUT = wml_prior_in,
	OUTPUT = wml_prior_out,
	RECEIVE = wml_prior_recv,
	SEND = wml_prior_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = extended
);
COMMENT ON TYPE wml_prior IS 'where the coefficients of tasks lie, how they spread, and how noisy rows are';

CREATE FUNCTION wml_prior(sources wml_gram[], alpha float8[] DEFAULT NULL, covariance text DEFAULT 'full',
						  method text DEFAULT 'ml', temper float8 DEFAULT 0, shrink float8 DEFAULT 0)
	RETURNS wml_prior
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_prior(wml_gram[], float8[], text, text, float8, float8) IS 'prior over coefficients, learned from the sources';

CREATE FUNCTION wml_prior_mean(prior wml_prior) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_mean(wml_prior) IS 'mean of the tasks'' coefficients';

CREATE FUNCTION wml_prior_mean_error(prior wml_prior) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_mean_error(wml_prior) IS 'standard errors of the mean of the tasks'' coefficients';

CREATE FUNCTION wml_prior_covariance(prior wml_prior) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_covariance(wml_prior) IS 'covariance of the tasks'' coefficients';

CREATE FUNCTION wml_prior_noise(prior wml_prior) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_noise(wml_prior) IS 'variance of a row about its task''s model';

CREATE FUNCTION wml_prior_info(prior wml_prior)
	RETURNS TABLE (dims int, tasks float8, effective_tasks float8, loglik float8, iterations int, converged bool,
		singular bool, rank int, saturated bool, method text, covariance text)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_prior_info(wml_prior) IS 'how the prior was fitted and how the fit ended';

CREATE FUNCTION wml_loglik(prior wml_prior) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_loglik(wml_prior) IS 'log-likelihood of the sources that the prior was learned from';

CREATE FUNCTION wml_loglik(prior wml_prior, sources wml_gram[], alpha float8[] DEFAULT NULL) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_loglik(wml_prior, wml_gram[], float8[]) IS 'log-likelihood of any tasks under the prior';

CREATE FUNCTION wml_posterior_coef(prior wml_prior, gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_posterior_coef(wml_prior, wml_gram) IS 'posterior mean of the task''s coefficients; the prior mean without rows';

CREATE FUNCTION wml_posterior(prior wml_prior, gram wml_gram, features text[] DEFAULT NULL)
	RETURNS TABLE ("position" int, feature text, coefficient float8, sd float8, prior_mean float8, prior_sd float8,
		moved float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_posterior(wml_prior, wml_gram, text[]) IS 'posterior of the task''s coefficients, and how far the data moved them in prior standard deviations';

CREATE FUNCTION wml_predict_interval(prior wml_prior, gram wml_gram, x float8[], level float8 DEFAULT 0.95)
	RETURNS TABLE (estimate float8, lower float8, upper float8, mean_lower float8, mean_upper float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_predict_interval(wml_prior, wml_gram, float8[], float8) IS 'prediction at x with bounds for a new observation and for its mean';

-- Hinge loss, bounds and direct optimisation

CREATE FUNCTION wml_unit(x float8[], radius float8) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_unit(float8[], float8) IS 'features divided by the radius, or by their length where that is larger: in the unit ball';

CREATE FUNCTION wml_hinge_combine(bytea, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_hinge_final(bytea) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_hinge_accum(bytea, wml_gram, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_hinge(gram wml_gram, alpha float8) (
	SFUNC = wml_hinge_accum,
	STYPE = bytea,
	FINALFUNC = wml_hinge_final,
	COMBINEFUNC = wml_hinge_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge(wml_gram, float8) IS 'coefficients of the alpha-weighted classifier under hinge loss, of length 1';

CREATE FUNCTION wml_hinge_accum(bytea, wml_gram, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_hinge(gram wml_gram, alpha float8, radius float8) (
	SFUNC = wml_hinge_accum,
	STYPE = bytea,
	FINALFUNC = wml_hinge_final,
	COMBINEFUNC = wml_hinge_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge(wml_gram, float8, float8) IS 'coefficients of the alpha-weighted classifier under hinge loss, of the given length';

CREATE FUNCTION wml_hinge_maml_accum(bytea, wml_gram, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_hinge_maml(gram wml_gram, alpha float8, eta float8) (
	SFUNC = wml_hinge_maml_accum,
	STYPE = bytea,
	FINALFUNC = wml_hinge_final,
	COMBINEFUNC = wml_hinge_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge_maml(wml_gram, float8, float8) IS 'coefficients after a projected gradient step on the alpha-weighted MAML objective under hinge loss';

CREATE FUNCTION wml_hinge_maml_accum(bytea, wml_gram, float8, float8, int) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_hinge_maml(gram wml_gram, alpha float8, eta float8, steps int) (
	SFUNC = wml_hinge_maml_accum,
	STYPE = bytea,
	FINALFUNC = wml_hinge_final,
	COMBINEFUNC = wml_hinge_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge_maml(wml_gram, float8, float8, int) IS 'coefficients after projected gradient steps on the alpha-weighted MAML objective under hinge loss';

CREATE FUNCTION wml_hinge_maml_accum(bytea, wml_gram, float8, float8, int, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_hinge_maml(gram wml_gram, alpha float8, eta float8, steps int, radius float8) (
	SFUNC = wml_hinge_maml_accum,
	STYPE = bytea,
	FINALFUNC = wml_hinge_final,
	COMBINEFUNC = wml_hinge_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge_maml(wml_gram, float8, float8, int, float8) IS 'coefficients after projected gradient steps on the alpha-weighted MAML objective under hinge loss';

CREATE FUNCTION wml_hinge_adapt(coef float8[], gram wml_gram, eta float8, steps int, radius float8 DEFAULT 1)
	RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_hinge_adapt(float8[], wml_gram, float8, int, float8) IS 'coefficients after so many projected gradient steps on the gram''s hinge loss';

CREATE FUNCTION wml_auc_accum(bytea, float8, float8) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_auc_accum(bytea, float8, bool) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_auc_combine(bytea, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_auc_final(bytea) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_auc(score float8, label float8) (
	SFUNC = wml_auc_accum,
	STYPE = bytea,
	SSPACE = 8000,
	FINALFUNC = wml_auc_final,
	COMBINEFUNC = wml_auc_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_auc(float8, float8) IS 'area under the ROC curve: how often a row with positive label has the larger score';

CREATE AGGREGATE wml_auc(score float8, label bool) (
	SFUNC = wml_auc_accum,
	STYPE = bytea,
	SSPACE = 8000,
	FINALFUNC = wml_auc_final,
	COMBINEFUNC = wml_auc_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_auc(float8, bool) IS 'area under the ROC curve: how often a row with a true label has the larger score';

CREATE FUNCTION wml_bound(sources wml_gram[], alpha float8[], target wml_gram, loss_range float8, epsilon float8,
						  loss text DEFAULT 'square', radius float8 DEFAULT 1, coef float8[] DEFAULT NULL)
	RETURNS TABLE (kernel_distance float8, weighted_distance float8, ball float8, rademacher float8, deviation float8,
				   theorem float8, corollary float8, source_risk float8, risk_bound float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_bound(wml_gram[], float8[], wml_gram, float8, float8, text, float8, float8[]) IS 'terms of the bounds of the target''s risk by the weighted risk of the sources';

CREATE FUNCTION wml_minimize_bound(sources wml_gram[], target wml_gram, variant text DEFAULT 'joint',
								   radius float8 DEFAULT 1, loss text DEFAULT 'square', starts int DEFAULT 8,
								   steps int DEFAULT 1000)
	RETURNS TABLE (alpha float8[], coefficients float8[], objective float8, source_risk float8, distance float8,
				   ball float8, gap float8, residual float8, steps_taken int)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_minimize_bound(wml_gram[], wml_gram, text, float8, text, int, int) IS 'weights and coefficients that together minimise the bound of the target''s risk';

CREATE FUNCTION wml_svm_train(query text, cost float8 DEFAULT 1, tolerance float8 DEFAULT 1e-6,
							  passes int DEFAULT 1000, seed bigint DEFAULT 0)
	RETURNS TABLE (coefficients float8[], objective float8, gap float8, n bigint, skipped bigint, support bigint,
				   passes_taken int)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION wml_svm_train(text, float8, float8, int, bigint) IS 'linear support vector machine on the rows of a query: features, class -1 or 1, and optionally weight';

-- The adaptive basis: a small network

CREATE TYPE wml_mlp;

CREATE FUNCTION wml_mlp_in(cstring) RETURNS wml_mlp
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_mlp_out(wml_mlp) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_mlp_recv(internal) RETURNS wml_mlp
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_mlp_send(wml_mlp) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE wml_mlp (
	INPUT = wml_mlp_in,
	OUTPUT = wml_mlp_out,
	RECEIVE = wml_mlp_recv,
	SEND = wml_mlp_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = extended
);
COMMENT ON TYPE wml_mlp IS 'a trained network and the history of its training';

CREATE FUNCTION wml_mlp_train(sources text, target text, hidden int[] DEFAULT '{40,40}', objective text DEFAULT 'maml',
							  weights text DEFAULT 'mixture', iterations int DEFAULT 10000, batch int DEFAULT 100,
							  inner_rate float8 DEFAULT 0.01, inner_steps int DEFAULT 1, outer_rate float8 DEFAULT 0.001,
							  seed bigint DEFAULT 0, support float8 DEFAULT 0, shrink float8 DEFAULT 0,
							  whiten bool DEFAULT false, standardize bool DEFAULT false)
	RETURNS wml_mlp
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION wml_mlp_train(text, text, int[], text, text, int, int, float8, int, float8, bigint, float8, float8, bool, bool) IS 'network meta-trained on the rows (task, x, y) of one query for the target rows (x, y) of another';

CREATE FUNCTION wml_mlp_history(model wml_mlp)
	RETURNS TABLE (iteration bigint, rmse float8, distance float8, sources int)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1000;
COMMENT ON FUNCTION wml_mlp_history(wml_mlp) IS 'the learning curve of a network';

CREATE FUNCTION wml_embed(model wml_mlp, x float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_embed(wml_mlp, float8[]) IS 'the network''s basis at x: its last hidden layer and a constant';

CREATE FUNCTION wml_predict(model wml_mlp, x float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_predict(wml_mlp, float8[]) IS 'prediction of a network';

CREATE FUNCTION wml_adapt(model wml_mlp, x float8[], y float8[], rate float8, steps int) RETURNS wml_mlp
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_adapt(wml_mlp, float8[], float8[], float8, int) IS 'network after so many gradient steps on the rows';

CREATE FUNCTION wml_adapt_path(model wml_mlp, x float8[], y float8[], rate float8, steps int)
	RETURNS TABLE (step int, mse float8)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_adapt_path(wml_mlp, float8[], float8[], float8, int) IS 'error of a network at each step of wml_adapt, from step 0 on';

-- Choosing a method by cross-validation

CREATE FUNCTION wml_compare(sources wml_gram[], folds wml_gram[], models text[] DEFAULT NULL,
							weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL, ridges float8[] DEFAULT NULL,
							shrinks float8[] DEFAULT NULL, whitens bool[] DEFAULT NULL,
							adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL)
	RETURNS TABLE (rank int, model text, weights text, eta float8, ridge float8, shrink float8, whiten bool,
				   adapt_steps int, source_rows float8, rmse float8, spread float8, rehearsal float8, chosen bool)
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000 ROWS 100;
COMMENT ON FUNCTION wml_compare(wml_gram[], wml_gram[], text[], text[], float8[], float8[], float8[], bool[], int[], float8[]) IS 'cross-validated error of every method on the target, the best first';

CREATE FUNCTION wml_tune(sources wml_gram[], folds wml_gram[], models text[] DEFAULT NULL,
						 weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL, ridges float8[] DEFAULT NULL,
						 shrinks float8[] DEFAULT NULL, whitens bool[] DEFAULT NULL,
						 adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL)
	RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_n' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION wml_tune(wml_gram[], wml_gram[], text[], text[], float8[], float8[], float8[], bool[], int[], float8[]) IS 'coefficients of the method that wml_compare marks as chosen, fitted with the whole target';
