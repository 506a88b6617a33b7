-- Generalised linear models: yes or no, and counts

CREATE TYPE wml_glm AS (
	coef float8[],
	std_error float8[],
	deviance float8,
	loglik float8,
	dispersion float8,
	n bigint,
	skipped bigint,
	rank int,
	iterations int,
	converged bool,
	separated bool
);
COMMENT ON TYPE wml_glm IS 'a fitted generalised linear model';

CREATE FUNCTION wml_glm_train(query text, family text DEFAULT 'binomial', ridge float8 DEFAULT 0,
							  firth bool DEFAULT false)
	RETURNS wml_glm
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION wml_glm_train(text, text, float8, bool) IS 'generalised linear model of the rows of a query: features, response, and optionally exposure and weight';

CREATE FUNCTION wml_glm_accum(internal, float8[], float8, text) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_glm_accum(internal, float8[], float8, text, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_glm_accum(internal, float8[], float8, text, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_glm_final(internal) RETURNS wml_glm
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;

CREATE AGGREGATE wml_glm(x float8[], y float8, family text) (
	SFUNC = wml_glm_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_glm_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_glm(float8[], float8, text) IS 'generalised linear model of the rows with features x and response y';

CREATE AGGREGATE wml_glm(x float8[], y float8, family text, exposure float8) (
	SFUNC = wml_glm_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_glm_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_glm(float8[], float8, text, float8) IS 'generalised linear model of rows with a number of trials or an exposure';

CREATE AGGREGATE wml_glm(x float8[], y float8, family text, exposure float8, weight float8) (
	SFUNC = wml_glm_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_glm_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_glm(float8[], float8, text, float8, float8) IS 'generalised linear model of weighted rows';

-- Working grams

CREATE FUNCTION wml_working_gram_accum(wml_gram, float8[], float8, text, float8[])
	RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_working_gram_accum(wml_gram, float8[], float8, text, float8[], float8)
	RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_working_gram_accum(wml_gram, float8[], float8, text, float8[], float8, float8)
	RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_working_gram_accum(wml_gram, float8[], float8, text, float8[], float8, float8, float8[])
	RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_working_gram(x float8[], y float8, family text, coef float8[]) (
	SFUNC = wml_working_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_working_gram(float8[], float8, text, float8[]) IS 'gram of the working rows of a generalised linear model at the given coefficients';

CREATE AGGREGATE wml_working_gram(x float8[], y float8, family text, coef float8[], exposure float8) (
	SFUNC = wml_working_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_working_gram(float8[], float8, text, float8[], float8) IS 'gram of the working rows at the given coefficients, with trials or exposure';

CREATE AGGREGATE wml_working_gram(x float8[], y float8, family text, coef float8[], exposure float8, weight float8) (
	SFUNC = wml_working_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_working_gram(float8[], float8, text, float8[], float8, float8) IS 'gram of the working rows at the given coefficients, weighted';

CREATE AGGREGATE wml_working_gram(x float8[], y float8, family text, coef float8[], exposure float8, weight float8,
								  covariance float8[]) (
	SFUNC = wml_working_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1300,
	COMBINEFUNC = wml_gram_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_working_gram(float8[], float8, text, float8[], float8, float8, float8[]) IS 'gram of the working rows over a normal distribution of coefficients';

CREATE FUNCTION wml_working_scale(x float8[], y float8, family text, coef float8[], exposure float8, weight float8,
								  covariance float8[])
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_working_scale(float8[], float8, text, float8[], float8, float8, float8[]) IS 'contribution of a row to the log evidence beyond its working row';

CREATE FUNCTION wml_target_gram_accum(internal, float8[], float8, wml_prior) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_target_gram_accum(internal, float8[], float8, wml_prior, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_target_gram_accum(internal, float8[], float8, wml_prior, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_target_gram_final(internal) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;

CREATE AGGREGATE wml_target_gram(x float8[], y float8, prior wml_prior) (
	SFUNC = wml_target_gram_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_target_gram_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_target_gram(float8[], float8, wml_prior) IS 'working gram of a task''s rows at their own posterior under the prior';

CREATE AGGREGATE wml_target_gram(x float8[], y float8, prior wml_prior, exposure float8) (
	SFUNC = wml_target_gram_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_target_gram_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_target_gram(float8[], float8, wml_prior, float8) IS 'working gram at the posterior under the prior, with trials or exposure';

CREATE AGGREGATE wml_target_gram(x float8[], y float8, prior wml_prior, exposure float8, weight float8) (
	SFUNC = wml_target_gram_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_target_gram_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_target_gram(float8[], float8, wml_prior, float8, float8) IS 'working gram at the posterior under the prior, of weighted rows';

CREATE FUNCTION wml_kept_gram_final(internal) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;

CREATE AGGREGATE wml_kept_gram(x float8[], y float8, prior wml_prior, exposure float8, weight float8) (
	SFUNC = wml_target_gram_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_kept_gram_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_kept_gram(float8[], float8, wml_prior, float8, float8) IS 'wml_target_gram for task sets: a gram that is not finite if none can be computed';

-- Many tasks

CREATE FUNCTION wml_glm_prior(query text, family text DEFAULT 'binomial', covariance text DEFAULT 'full',
							  method text DEFAULT 'ml', evenness float8 DEFAULT 0, approximation text DEFAULT NULL,
							  reread bool DEFAULT false, tolerance float8 DEFAULT 0.001, iterations int DEFAULT 50,
							  fixed int[] DEFAULT NULL)
	RETURNS wml_prior
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION wml_glm_prior(text, text, text, text, float8, text, bool, float8, int, int[]) IS 'prior over coefficients, learned from the rows of a query: task, features, response of the family, and optionally exposure and weight';

CREATE FUNCTION wml_glm_prior(sources wml_gram[], family text, alpha float8[] DEFAULT NULL,
							  covariance text DEFAULT 'full', method text DEFAULT 'ml', evenness float8 DEFAULT 0)
	RETURNS wml_prior
	AS 'MODULE_PATHNAME', 'wml_glm_prior_grams' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_glm_prior(wml_gram[], text, float8[], text, text, float8) IS 'prior over coefficients, learned from the tasks'' working grams: one step of an iteration';

CREATE FUNCTION wml_posterior_covariance(prior wml_prior, gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_posterior_covariance(wml_prior, wml_gram) IS 'covariance of the task''s coefficients under the posterior; that of the prior without rows';

CREATE FUNCTION wml_predict_probability(prior wml_prior, gram wml_gram, x float8[], level float8 DEFAULT 0.95,
										OUT probability float8, OUT lower float8, OUT upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_predict_probability(wml_prior, wml_gram, float8[], float8) IS 'probability of yes at x under the task''s posterior, with bounds';

CREATE FUNCTION wml_predict_probability(coef float8[], x float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_predict_probability_coef' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_predict_probability(float8[], float8[]) IS 'probability of yes at x: the logistic function of the prediction';

CREATE FUNCTION wml_predict_rate(prior wml_prior, gram wml_gram, x float8[], level float8 DEFAULT 0.95,
								 exposure float8 DEFAULT 1, OUT rate float8, OUT lower float8, OUT upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_predict_rate(wml_prior, wml_gram, float8[], float8, float8) IS 'expected count at x over the exposure under the task''s posterior, with bounds';

CREATE FUNCTION wml_predict_rate(coef float8[], x float8[], exposure float8 DEFAULT 1) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_predict_rate_coef' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_predict_rate(float8[], float8[], float8) IS 'expected count at x over the exposure: the exponential of the prediction';

CREATE FUNCTION wml_predict_response(prior wml_prior, gram wml_gram, x float8[], level float8 DEFAULT 0.95,
									 exposure float8 DEFAULT 1, OUT estimate float8, OUT lower float8, OUT upper float8,
									 OUT mean_lower float8, OUT mean_upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION wml_predict_response(wml_prior, wml_gram, float8[], float8, float8) IS 'expected response at x in the units of the prior''s family, with bounds for a new observation and for the expectation';

CREATE FUNCTION wml_deviance(family text, y float8, estimate float8, exposure float8 DEFAULT 1) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_deviance(text, float8, float8, float8) IS 'loss of one response under its family: twice the log-likelihood by which the estimate falls short of the best possible one';

CREATE FUNCTION wml_possible_response(family text, y float8, exposure float8, weight float8) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_possible_response(text, float8, float8, float8) IS 'the response, or NULL if the family does not allow it';

CREATE FUNCTION wml_family(prior wml_prior) RETURNS text
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_family(wml_prior) IS 'family of the responses that the prior was learned from, with its dispersion';

CREATE FUNCTION wml_class_probabilities(probabilities float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_class_probabilities(float8[]) IS 'probabilities of all classes, from those of each later class against the first';

-- How good probabilities are

CREATE FUNCTION wml_log_loss_accum(float8[], float8, bool) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_log_loss_accum(float8[], float8[], int) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'wml_log_loss_accum_class' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_brier_accum(float8[], float8, bool) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_log_loss(probability float8, label bool) (
	SFUNC = wml_log_loss_accum,
	STYPE = float8[],
	INITCOND = '{0,0,0}',
	FINALFUNC = float8_avg,
	COMBINEFUNC = float8_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_log_loss(float8, bool) IS 'mean of -ln of the predicted probability of the actual outcome';

CREATE AGGREGATE wml_log_loss(probabilities float8[], class int) (
	SFUNC = wml_log_loss_accum,
	STYPE = float8[],
	INITCOND = '{0,0,0}',
	FINALFUNC = float8_avg,
	COMBINEFUNC = float8_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_log_loss(float8[], int) IS 'mean of -ln of the predicted probability of the actual class';

CREATE AGGREGATE wml_brier(probability float8, label bool) (
	SFUNC = wml_brier_accum,
	STYPE = float8[],
	INITCOND = '{0,0,0}',
	FINALFUNC = float8_avg,
	COMBINEFUNC = float8_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_brier(float8, bool) IS 'Brier score: mean squared error of probabilities';

CREATE TYPE wml_calibration_bin AS (
	lower float8,
	upper float8,
	n bigint,
	predicted float8,
	observed float8
);
COMMENT ON TYPE wml_calibration_bin IS 'a bin of a calibration table: mean probability and actual share of its rows';

CREATE FUNCTION wml_calibration_accum(float8[], float8, bool, int) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_calibration_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_calibration_final(float8[]) RETURNS wml_calibration_bin[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_calibration(probability float8, label bool, bins int) (
	SFUNC = wml_calibration_accum,
	STYPE = float8[],
	FINALFUNC = wml_calibration_final,
	COMBINEFUNC = wml_calibration_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_calibration(float8, bool, int) IS 'calibration table: rows in the given number of bins by predicted probability, one array element per bin';
