-- Aggregates that collect grams

COMMENT ON TYPE wml_gram IS 'summary of one task''s rows: exact sums of products';

CREATE FUNCTION wml_gram_accum(wml_gram, float8[], float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_accum(wml_gram, float8[], float8, float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_accum_moving(wml_gram, float8[], float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_accum_moving(wml_gram, float8[], float8, float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_retract(wml_gram, float8[], float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_retract(wml_gram, float8[], float8, float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_columns_accum(wml_gram, float8, VARIADIC "any") RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_columns_accum_moving(wml_gram, float8, VARIADIC "any") RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_columns_retract(wml_gram, float8, VARIADIC "any") RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_gram_combine(wml_gram, wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- SSPACE: a gram of 10 features, with what a group of a few dozen rows has beside it.
CREATE AGGREGATE wml_gram(x float8[], y float8) (
	SFUNC = wml_gram_accum,
	STYPE = wml_gram,
	SSPACE = 1500,
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
	SSPACE = 1500,
	COMBINEFUNC = wml_gram_combine,
	MSFUNC = wml_gram_accum_moving,
	MINVFUNC = wml_gram_retract,
	MSTYPE = wml_gram,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_gram(float8[], float8, float8) IS 'gram of the rows with features x and response y, weighted';

CREATE AGGREGATE wml_gram_columns(y float8, VARIADIC x "any") (
	SFUNC = wml_gram_columns_accum,
	STYPE = wml_gram,
	SSPACE = 1500,
	COMBINEFUNC = wml_gram_combine,
	MSFUNC = wml_gram_columns_accum_moving,
	MINVFUNC = wml_gram_columns_retract,
	MSTYPE = wml_gram,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_gram_columns(float8, "any") IS 'gram of the rows with response y and the other arguments as features';

CREATE AGGREGATE wml_merge(gram wml_gram) (
	SFUNC = wml_gram_combine,
	STYPE = wml_gram,
	SSPACE = 1500,
	COMBINEFUNC = wml_gram_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE wml_merge(wml_gram) IS 'gram of all rows of the grams';

-- Operators on grams

CREATE FUNCTION wml_gram_add(wml_gram, wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_add(wml_gram, wml_gram) IS 'implementation of + operator';

CREATE FUNCTION wml_gram_subtract(wml_gram, wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_subtract(wml_gram, wml_gram) IS 'implementation of - operator';

CREATE FUNCTION wml_gram_eq(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_eq(wml_gram, wml_gram) IS 'implementation of = operator';

CREATE FUNCTION wml_gram_ne(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_ne(wml_gram, wml_gram) IS 'implementation of <> operator';

CREATE OPERATOR + (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_add,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (wml_gram, wml_gram) IS 'gram of the rows of both';

CREATE OPERATOR - (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_subtract
);
COMMENT ON OPERATOR - (wml_gram, wml_gram) IS 'gram of the left rows without the right ones';

CREATE OPERATOR = (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (wml_gram, wml_gram) IS 'equal: every figure agrees, rounded to double precision';

CREATE OPERATOR <> (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (wml_gram, wml_gram) IS 'not equal: a figure, rounded to double precision, differs';

CREATE FUNCTION wml_gram_hash(wml_gram) RETURNS int4
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_hash(wml_gram) IS 'hash';

CREATE FUNCTION wml_gram_hash_extended(wml_gram, int8) RETURNS int8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_hash_extended(wml_gram, int8) IS 'hash, with a seed';

-- Lets DISTINCT, GROUP BY, UNION, EXCEPT and joins compare grams.
CREATE OPERATOR CLASS wml_gram_hash_ops DEFAULT FOR TYPE wml_gram USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 wml_gram_hash(wml_gram),
	FUNCTION 2 wml_gram_hash_extended(wml_gram, int8);
COMMENT ON OPERATOR CLASS wml_gram_hash_ops USING hash IS 'equality of grams, for hashing';

CREATE FUNCTION wml_gram_lt(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_lt(wml_gram, wml_gram) IS 'implementation of < operator';

CREATE FUNCTION wml_gram_le(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_le(wml_gram, wml_gram) IS 'implementation of <= operator';

CREATE FUNCTION wml_gram_gt(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_gt(wml_gram, wml_gram) IS 'implementation of > operator';

CREATE FUNCTION wml_gram_ge(wml_gram, wml_gram) RETURNS bool
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_ge(wml_gram, wml_gram) IS 'implementation of >= operator';

CREATE FUNCTION wml_gram_cmp(wml_gram, wml_gram) RETURNS int4
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_cmp(wml_gram, wml_gram) IS 'less-equal-greater';

CREATE OPERATOR < (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (wml_gram, wml_gram) IS 'sorts before';

CREATE OPERATOR <= (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (wml_gram, wml_gram) IS 'sorts before or equal to';

CREATE OPERATOR > (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (wml_gram, wml_gram) IS 'sorts after';

CREATE OPERATOR >= (
	LEFTARG = wml_gram, RIGHTARG = wml_gram, FUNCTION = wml_gram_ge,
	COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (wml_gram, wml_gram) IS 'sorts after or equal to';

-- Without it, what the server does by sorting would fail.  The order means nothing.
CREATE OPERATOR CLASS wml_gram_btree_ops DEFAULT FOR TYPE wml_gram USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 wml_gram_cmp(wml_gram, wml_gram);
COMMENT ON OPERATOR CLASS wml_gram_btree_ops USING btree IS 'a total order of grams, for sorting';

CREATE FUNCTION wml_gram_scale(gram wml_gram, factor float8) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_scale(wml_gram, float8) IS 'implementation of * operator';

CREATE FUNCTION wml_gram_scale(factor float8, gram wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME', 'wml_gram_scale_commuted' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_gram_scale(float8, wml_gram) IS 'implementation of * operator';

CREATE OPERATOR * (
	LEFTARG = wml_gram, RIGHTARG = float8, FUNCTION = wml_gram_scale, COMMUTATOR = *
);
COMMENT ON OPERATOR * (wml_gram, float8) IS 'gram of the same rows with their weights multiplied';

CREATE OPERATOR * (
	LEFTARG = float8, RIGHTARG = wml_gram, FUNCTION = wml_gram_scale, COMMUTATOR = *
);
COMMENT ON OPERATOR * (float8, wml_gram) IS 'gram of the same rows with their weights multiplied';

CREATE FUNCTION wml_add(a wml_gram, b wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION wml_add(wml_gram, wml_gram) IS 'gram of the rows of both; NULL counts as a gram without rows';

-- Accessors

CREATE FUNCTION wml_n(gram wml_gram) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_n(wml_gram) IS 'number of rows counted';

CREATE FUNCTION wml_skipped(gram wml_gram) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_skipped(wml_gram) IS 'number of rows skipped because of a NULL';

CREATE FUNCTION wml_weight(gram wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_weight(wml_gram) IS 'sum of the rows'' weights';

CREATE FUNCTION wml_effective_n(gram wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_effective_n(wml_gram) IS 'effective number of rows: (sum of weights)^2 / sum of squared weights';

CREATE FUNCTION wml_dims(gram wml_gram) RETURNS int
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_dims(wml_gram) IS 'number of features';

CREATE FUNCTION wml_second_moment(gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_second_moment(wml_gram) IS 'weighted mean of z z'', z = (features, response)';

CREATE FUNCTION wml_mean(gram wml_gram) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_mean(wml_gram) IS 'weighted mean of z = (features, response); NULL without a constant feature';

CREATE FUNCTION wml_mean_response(gram wml_gram) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION wml_mean_response(wml_gram) IS 'weighted mean of the response; NULL without a constant feature';

-- Changes of basis

CREATE FUNCTION wml_transform(gram wml_gram, matrix float8[]) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_transform(wml_gram, float8[]) IS 'gram of the rows matrix * (features, response)';

CREATE FUNCTION wml_standardize(gram wml_gram, reference wml_gram) RETURNS wml_gram
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION wml_standardize(wml_gram, wml_gram) IS 'gram of the rows centred and scaled by the reference''s means and standard deviations';
