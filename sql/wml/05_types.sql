-- The types whose values are stored.  They are the same since 0.1.0, so an upgrade leaves them alone.

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
COMMENT ON TYPE wml_gram IS 'summary of one task''s rows: exact sums of products';

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
COMMENT ON TYPE wml_mlp IS 'a trained network with the history of its training';
