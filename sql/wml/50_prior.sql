-- A prior learned from the sources

COMMENT ON TYPE wml_prior IS 'where the coefficients of tasks lie, how they spread, and how noisy rows are';

CREATE FUNCTION wml_prior(sources wml_gram[], alpha float8[] DEFAULT NULL, covariance text DEFAULT 'full',
						  method text DEFAULT 'ml', temper float8 DEFAULT 0, evenness float8 DEFAULT 0,
						  noise text DEFAULT 'common', tasks text DEFAULT 'normal', degrees float8 DEFAULT NULL,
						  fixed text[] DEFAULT NULL, smooth text[] DEFAULT NULL, features text[] DEFAULT NULL,
						  descriptors float8[] DEFAULT NULL)
	RETURNS wml_prior
	AS 'MODULE_PATHNAME', 'wml_prior_fit' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_prior(wml_gram[], float8[], text, text, float8, float8, text, text, float8, text[], text[], text[], float8[]) IS 'prior over coefficients, learned from the sources';

CREATE FUNCTION wml_prior_options(INOUT covariance text DEFAULT 'full', INOUT method text DEFAULT 'ml',
								  INOUT temper float8 DEFAULT 0, INOUT evenness float8 DEFAULT 0,
								  INOUT noise text DEFAULT 'common', INOUT tasks text DEFAULT 'normal',
								  INOUT degrees float8 DEFAULT NULL, INOUT fixed text[] DEFAULT NULL,
								  INOUT smooth text[] DEFAULT NULL, INOUT features text[] DEFAULT NULL)
	RETURNS record
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_options(text, text, float8, float8, text, text, float8, text[], text[], text[]) IS 'options for the aggregate wml_prior';

CREATE FUNCTION wml_prior_accum(internal, wml_gram) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_prior_accum(internal, wml_gram, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_prior_accum(internal, wml_gram, float8, record) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_prior_accum(internal, wml_gram, float8, record, float8[]) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_prior_final(internal) RETURNS wml_prior
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;

CREATE AGGREGATE wml_prior(gram wml_gram) (
	SFUNC = wml_prior_accum, STYPE = internal, SSPACE = 100000, FINALFUNC = wml_prior_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_prior(wml_gram) IS 'prior over coefficients, learned from the grams';

CREATE AGGREGATE wml_prior(gram wml_gram, alpha float8) (
	SFUNC = wml_prior_accum, STYPE = internal, SSPACE = 100000, FINALFUNC = wml_prior_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_prior(wml_gram, float8) IS 'prior over coefficients, learned from weighted grams';

CREATE AGGREGATE wml_prior(gram wml_gram, alpha float8, options record) (
	SFUNC = wml_prior_accum, STYPE = internal, SSPACE = 100000, FINALFUNC = wml_prior_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_prior(wml_gram, float8, record) IS 'prior over coefficients, with options from wml_prior_options';

CREATE AGGREGATE wml_prior(gram wml_gram, alpha float8, options record, descriptor float8[]) (
	SFUNC = wml_prior_accum, STYPE = internal, SSPACE = 100000, FINALFUNC = wml_prior_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_prior(wml_gram, float8, record, float8[]) IS 'prior over coefficients whose mean follows descriptors of the tasks';

CREATE FUNCTION wml_prior_mean(prior wml_prior) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_mean(wml_prior) IS 'mean of the tasks'' coefficients';

CREATE FUNCTION wml_prior_mean_error(prior wml_prior) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_mean_error(wml_prior) IS 'standard errors of the mean of the tasks'' coefficients';

CREATE FUNCTION wml_prior_covariance(prior wml_prior) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_covariance(wml_prior) IS 'covariance of the tasks'' coefficients';

CREATE FUNCTION wml_prior_noise(prior wml_prior) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_noise(wml_prior) IS 'variance of rows around their task''s model';

CREATE FUNCTION wml_prior_info(prior wml_prior, OUT dims int, OUT tasks float8, OUT effective_tasks float8, OUT loglik float8,
		OUT iterations int, OUT converged bool, OUT singular bool, OUT rank int, OUT saturated bool, OUT method text,
		OUT covariance text, OUT family text, OUT descriptors int, OUT parameters float8, OUT rows float8,
		OUT noise_shape float8, OUT spread_degrees float8, OUT design_rank int, OUT smooth_sd float8,
		OUT smooth_degrees float8, OUT noise_power float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_prior_info(wml_prior) IS 'how the prior was fitted and how the fit ended';

CREATE FUNCTION wml_loglik(prior wml_prior) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_loglik_of_fit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_loglik(wml_prior) IS 'log-likelihood of the sources that the prior was learned from';

CREATE FUNCTION wml_loglik(prior wml_prior, sources wml_gram[], alpha float8[] DEFAULT NULL, descriptors float8[] DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION wml_loglik(wml_prior, wml_gram[], float8[], float8[]) IS 'log-likelihood of any tasks under the prior';

CREATE FUNCTION wml_posterior_coef(prior wml_prior, gram wml_gram, descriptor float8[] DEFAULT NULL) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_posterior_coef(wml_prior, wml_gram, float8[]) IS 'posterior mean of the task''s coefficients; the prior mean without rows';

CREATE FUNCTION wml_posterior(prior wml_prior, gram wml_gram, features text[] DEFAULT NULL, descriptor float8[] DEFAULT NULL)
	RETURNS TABLE ("position" int, feature text, coefficient float8, sd float8, error float8, prior_mean float8,
		prior_sd float8, moved float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100 ROWS 10;
COMMENT ON FUNCTION wml_posterior(wml_prior, wml_gram, text[], float8[]) IS 'posterior of the task''s coefficients, and how far the data moved them in prior standard deviations';

CREATE FUNCTION wml_predict_interval(prior wml_prior, gram wml_gram, x float8[], level float8 DEFAULT 0.95,
		descriptor float8[] DEFAULT NULL, OUT estimate float8, OUT lower float8, OUT upper float8,
		OUT mean_lower float8, OUT mean_upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION wml_predict_interval(wml_prior, wml_gram, float8[], float8, float8[]) IS 'prediction at x with bounds for a new observation and for its mean';

CREATE FUNCTION wml_task_fit(prior wml_prior, gram wml_gram, descriptor float8[] DEFAULT NULL, OUT weight float8,
		OUT noise float8, OUT distance float8, OUT expected float8, OUT belongs bool)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_task_fit(wml_prior, wml_gram, float8[]) IS 'whether the task fits the prior: its weight, its noise, and how far its coefficients are from those of the others';

CREATE FUNCTION wml_prior_test(smaller wml_prior, larger wml_prior, OUT statistic float8, OUT degrees float8, OUT p_value float8,
		OUT aic_smaller float8, OUT aic_larger float8, OUT bic_smaller float8, OUT bic_larger float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_prior_test(wml_prior, wml_prior) IS 'likelihood ratio and information criteria of two priors, where the first is a special case of the second';

CREATE FUNCTION wml_prior_mean_test(prior wml_prior, features text[] DEFAULT NULL, level float8 DEFAULT 0.95)
	RETURNS TABLE ("position" int, feature text, descriptor int, mean float8, std_error float8, degrees float8, t float8,
		p_value float8, lower float8, upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10 ROWS 10;
COMMENT ON FUNCTION wml_prior_mean_test(wml_prior, text[], float8) IS 'the mean of the tasks'' coefficients with standard errors, p-values and intervals';
