-- Classification: hinge loss, support vector machines, the ROC curve

CREATE FUNCTION wml_unit(x float8[], radius float8) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_unit(float8[], float8) IS 'features in the unit ball: divided by the radius, or by their norm if that is larger';

CREATE AGGREGATE wml_hinge(gram wml_gram, alpha float8) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 250,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=hinge}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge(wml_gram, float8) IS 'coefficients of the alpha-weighted classifier under hinge loss';

CREATE AGGREGATE wml_hinge(gram wml_gram, alpha float8, options wml_step) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 250,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=hinge}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge(wml_gram, float8, wml_step) IS 'coefficients of the alpha-weighted classifier under hinge loss';

CREATE AGGREGATE wml_hinge_maml(gram wml_gram, alpha float8) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 250,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=hinge_maml}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge_maml(wml_gram, float8) IS 'coefficients after projected gradient steps on the alpha-weighted MAML objective under hinge loss';

CREATE AGGREGATE wml_hinge_maml(gram wml_gram, alpha float8, options wml_step) (
	SFUNC = wml_model_accum,
	STYPE = wml_model_state,
	SSPACE = 250,
	FINALFUNC = wml_model_final,
	COMBINEFUNC = wml_model_combine,
	INITCOND = '{v=1 model=hinge_maml}',
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_hinge_maml(wml_gram, float8, wml_step) IS 'coefficients after projected gradient steps on the alpha-weighted MAML objective under hinge loss';

CREATE FUNCTION wml_hinge_adapt(gram wml_gram, coef float8[], eta float8 DEFAULT NULL, steps int DEFAULT 1,
								radius float8 DEFAULT 1, share float8 DEFAULT NULL)
	RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_hinge_adapt(wml_gram, float8[], float8, int, float8, float8) IS 'coefficients after some projected gradient steps on the gram''s hinge loss';

CREATE TYPE wml_auc_state;

CREATE FUNCTION wml_auc_state_in(cstring) RETURNS wml_auc_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_auc_state_out(wml_auc_state) RETURNS cstring
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_auc_state_recv(internal) RETURNS wml_auc_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION wml_auc_state_send(wml_auc_state) RETURNS bytea
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE wml_auc_state (
	INPUT = wml_auc_state_in,
	OUTPUT = wml_auc_state_out,
	RECEIVE = wml_auc_state_recv,
	SEND = wml_auc_state_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = extended
);
COMMENT ON TYPE wml_auc_state IS 'state of wml_auc: the scores so far';

CREATE FUNCTION wml_auc_accum(wml_auc_state, float8, float8) RETURNS wml_auc_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_auc_accum(wml_auc_state, float8, bool) RETURNS wml_auc_state
	AS 'MODULE_PATHNAME', 'wml_auc_accum_bool' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_auc_combine(wml_auc_state, wml_auc_state) RETURNS wml_auc_state
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_auc_final(wml_auc_state) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;

CREATE AGGREGATE wml_auc(score float8, label float8) (
	SFUNC = wml_auc_accum,
	STYPE = wml_auc_state,
	SSPACE = 8000,
	FINALFUNC = wml_auc_final,
	COMBINEFUNC = wml_auc_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_auc(float8, float8) IS 'area under the ROC curve: how often a row with a positive label outscores one without';

CREATE AGGREGATE wml_auc(score float8, label bool) (
	SFUNC = wml_auc_accum,
	STYPE = wml_auc_state,
	SSPACE = 8000,
	FINALFUNC = wml_auc_final,
	COMBINEFUNC = wml_auc_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_auc(float8, bool) IS 'area under the ROC curve: how often a row with a true label outscores one with a false label';

-- From PostgreSQL 19 on a negative size says that the state grows with the rows, which must then not be
-- combined before a join.  Earlier versions would take it for no size at all.
UPDATE pg_catalog.pg_aggregate SET aggtransspace = -aggtransspace
WHERE aggfnoid IN ('wml_auc(float8, float8)'::pg_catalog.regprocedure, 'wml_auc(float8, bool)'::pg_catalog.regprocedure) AND
	  pg_catalog.current_setting('server_version_num')::int >= 190000;

CREATE FUNCTION wml_svm_train(query text, cost float8 DEFAULT 1, tolerance float8 DEFAULT 1e-6,
							  passes int DEFAULT 1000, seed bigint DEFAULT 0, OUT coef float8[], OUT objective float8,
							  OUT gap float8, OUT n bigint, OUT skipped bigint, OUT support bigint, OUT passes_taken int)
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION wml_svm_train(text, float8, float8, int, bigint) IS 'linear support vector machine on the rows of a query: features, class -1 or 1, and optionally weight';
