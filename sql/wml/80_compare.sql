-- Choosing a method by cross-validation and rehearsals

CREATE FUNCTION wml_folds_accum(internal, float8[], float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_folds_accum(internal, float8[], float8, int) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_folds_final(internal) RETURNS wml_gram[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE wml_folds(x float8[], y float8) (
	SFUNC = wml_folds_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_folds_final
);
COMMENT ON AGGREGATE wml_folds(float8[], float8) IS 'grams of ten folds, with rows assigned to the folds in turn';

CREATE AGGREGATE wml_folds(x float8[], y float8, count int) (
	SFUNC = wml_folds_accum,
	STYPE = internal,
	SSPACE = 10000,
	FINALFUNC = wml_folds_final
);
COMMENT ON AGGREGATE wml_folds(float8[], float8, int) IS 'grams of the given number of folds, with rows assigned to the folds in turn';

CREATE FUNCTION wml_compare(sources wml_gram[], target wml_gram, windows wml_gram[] DEFAULT NULL,
							models text[] DEFAULT NULL, weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL,
							ridges float8[] DEFAULT NULL, shrinks float8[] DEFAULT NULL, evennesses float8[] DEFAULT NULL,
							whitens bool[] DEFAULT NULL, adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL,
							smooth text[] DEFAULT NULL)
	RETURNS TABLE (rank int, model text, weights text, eta float8, ridge float8, shrink float8, evenness float8, whiten bool,
				   adapt_steps int, source_rows float8, rmse float8, spread float8, rehearsal float8, chosen bool, note text)
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000 ROWS 100;
COMMENT ON FUNCTION wml_compare(wml_gram[], wml_gram, wml_gram[], text[], text[], float8[], float8[], float8[], float8[], bool[], int[], float8[], text[]) IS 'error of every method in rehearsals, in which sources play the target';

CREATE FUNCTION wml_compare(sources wml_gram[], folds wml_gram[], windows wml_gram[] DEFAULT NULL,
							models text[] DEFAULT NULL, weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL,
							ridges float8[] DEFAULT NULL, shrinks float8[] DEFAULT NULL, evennesses float8[] DEFAULT NULL,
							whitens bool[] DEFAULT NULL, adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL,
							smooth text[] DEFAULT NULL)
	RETURNS TABLE (rank int, model text, weights text, eta float8, ridge float8, shrink float8, evenness float8, whiten bool,
				   adapt_steps int, source_rows float8, rmse float8, spread float8, rehearsal float8, chosen bool, note text)
	AS 'MODULE_PATHNAME', 'wml_compare_folds' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000 ROWS 100;
COMMENT ON FUNCTION wml_compare(wml_gram[], wml_gram[], wml_gram[], text[], text[], float8[], float8[], float8[], float8[], bool[], int[], float8[], text[]) IS 'cross-validated error of every method on the target, the best first';

CREATE TYPE wml_tuned AS (
	coef float8[],
	model text,
	weights text,
	eta float8,
	ridge float8,
	shrink float8,
	evenness float8,
	whiten bool,
	adapt_steps int,
	source_rows float8,
	rmse float8,
	rehearsal float8,
	against_target float8,
	sources int[],
	alpha float8[],
	left_out int[],
	covariance float8[],
	noise float8,
	degrees float8,
	surprises float8[]
);
COMMENT ON TYPE wml_tuned IS 'the method chosen for a target, its coefficients, and their uncertainty';

CREATE FUNCTION wml_tune(sources wml_gram[], target wml_gram, windows wml_gram[] DEFAULT NULL,
						 models text[] DEFAULT NULL, weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL,
						 ridges float8[] DEFAULT NULL, shrinks float8[] DEFAULT NULL, evennesses float8[] DEFAULT NULL,
						 whitens bool[] DEFAULT NULL, adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL,
							smooth text[] DEFAULT NULL)
	RETURNS wml_tuned
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION wml_tune(wml_gram[], wml_gram, wml_gram[], text[], text[], float8[], float8[], float8[], float8[], bool[], int[], float8[], text[]) IS 'the method that forecasts best in rehearsals, fitted to the target';

CREATE FUNCTION wml_tune(sources wml_gram[], folds wml_gram[], windows wml_gram[] DEFAULT NULL,
						 models text[] DEFAULT NULL, weights text[] DEFAULT NULL, etas float8[] DEFAULT NULL,
						 ridges float8[] DEFAULT NULL, shrinks float8[] DEFAULT NULL, evennesses float8[] DEFAULT NULL,
						 whitens bool[] DEFAULT NULL, adapt_steps int[] DEFAULT NULL, source_rows float8[] DEFAULT NULL,
							smooth text[] DEFAULT NULL)
	RETURNS wml_tuned
	AS 'MODULE_PATHNAME', 'wml_tune_folds' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000000;
COMMENT ON FUNCTION wml_tune(wml_gram[], wml_gram[], wml_gram[], text[], text[], float8[], float8[], float8[], float8[], bool[], int[], float8[], text[]) IS 'the method that wml_compare chooses, fitted with the whole target';

CREATE FUNCTION wml_predict_interval(tuned wml_tuned, x float8[], level float8 DEFAULT 0.95,
									 OUT estimate float8, OUT lower float8, OUT upper float8,
									 OUT mean_lower float8, OUT mean_upper float8)
	AS 'MODULE_PATHNAME', 'wml_predict_interval_tuned' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION wml_predict_interval(wml_tuned, float8[], float8) IS 'prediction of a tuned model at x with bounds for a new observation and for its mean';

-- Stacked models

CREATE FUNCTION wml_stack_accum(internal, wml_gram, float8) RETURNS internal
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION wml_stack_final(internal) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;

CREATE AGGREGATE wml_stack(gram wml_gram, alpha float8) (
	SFUNC = wml_stack_accum,
	STYPE = internal,
	SSPACE = 100000,
	FINALFUNC = wml_stack_final
);
COMMENT ON AGGREGATE wml_stack(wml_gram, float8) IS 'weighted mean of the tasks'' own coefficients, each drawn towards those common to all tasks';
