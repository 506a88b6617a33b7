-- A prior learned from the sources

CREATE FUNCTION wml_prior(sources wml_gram[], alpha float8[] DEFAULT NULL, covariance text DEFAULT 'full',
						  method text DEFAULT 'ml', temper float8 DEFAULT 0, evenness float8 DEFAULT 0)
	RETURNS wml_prior
	AS 'MODULE_PATHNAME', 'wml_prior_fit' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION wml_prior(wml_gram[], float8[], text, text, float8, float8) IS 'prior over coefficients, learned from the sources';

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
COMMENT ON FUNCTION wml_prior_noise(wml_prior) IS 'variance of a row about its task''s model';

CREATE FUNCTION wml_prior_info(prior wml_prior)
	RETURNS TABLE (dims int, tasks float8, effective_tasks float8, loglik float8, iterations int, converged bool,
		singular bool, rank int, saturated bool, method text, covariance text)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_prior_info(wml_prior) IS 'how the prior was fitted and how the fit ended';

CREATE FUNCTION wml_loglik(prior wml_prior) RETURNS float8
	AS 'MODULE_PATHNAME', 'wml_loglik_of_fit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_loglik(wml_prior) IS 'log-likelihood of the sources that the prior was learned from';

CREATE FUNCTION wml_loglik(prior wml_prior, sources wml_gram[], alpha float8[] DEFAULT NULL) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_loglik(wml_prior, wml_gram[], float8[]) IS 'log-likelihood of any tasks under the prior';

CREATE FUNCTION wml_posterior_coef(prior wml_prior, gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_posterior_coef(wml_prior, wml_gram) IS 'posterior mean of the task''s coefficients; the prior mean without rows';

CREATE FUNCTION wml_posterior(prior wml_prior, gram wml_gram, features text[] DEFAULT NULL)
	RETURNS TABLE ("position" int, feature text, coefficient float8, sd float8, prior_mean float8, prior_sd float8,
		moved float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 10;
COMMENT ON FUNCTION wml_posterior(wml_prior, wml_gram, text[]) IS 'posterior of the task''s coefficients, and how far the data moved them in prior standard deviations';

CREATE FUNCTION wml_predict_interval(prior wml_prior, gram wml_gram, x float8[], level float8 DEFAULT 0.95)
	RETURNS TABLE (estimate float8, lower float8, upper float8, mean_lower float8, mean_upper float8)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 1;
COMMENT ON FUNCTION wml_predict_interval(wml_prior, wml_gram, float8[], float8) IS 'prediction at x with bounds for a new observation and for its mean';
