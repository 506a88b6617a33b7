/*
 * mlp_train.c
 *	  Meta-training of a network on the rows of two queries: wml_mlp_train.
 */
#include "postgres.h"

#include <math.h>

#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "pg/base/args.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/mlp/mlp.h"
#include "pg/base/progress.h"
#include "pg/base/query.h"

PG_FUNCTION_INFO_V1(wml_mlp_train);

/* More points than this no learning curve needs. */
#define HISTORY_RECORDS 1000

enum
{
	ARG_SOURCES,
	ARG_TARGET,
	ARG_HIDDEN,
	ARG_OBJECTIVE,
	ARG_WEIGHTS,
	ARG_ITERATIONS,
	ARG_BATCH,
	ARG_INNER_RATE,
	ARG_INNER_STEPS,
	ARG_OUTER_RATE,
	ARG_SEED,
	ARG_SUPPORT,
	ARG_SHRINK,
	ARG_WHITEN,
	ARG_STANDARDIZE
};

static const char *const argument_names[] = {
	"sources", "target", "hidden", "objective", "weights", "iterations", "batch", "eta",
	"steps", "outer_eta", "seed", "support", "shrink", "whiten", "standardize"
};

static int
positive(FunctionCallInfo fcinfo, int argument)
{
	int			value = PG_GETARG_INT32(argument);

	if (value < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least 1: %d", argument_names[argument], value)));
	return value;
}

static WmlcMlpOptions
get_options(FunctionCallInfo fcinfo)
{
	WmlcMlpOptions options = {
		.objective = wml_arg_word(PG_GETARG_TEXT_PP(ARG_OBJECTIVE), &wmlc_objective_words, "objective"),
		.weighting = wml_arg_word(PG_GETARG_TEXT_PP(ARG_WEIGHTS), &wmlc_mlp_weighting_words, "weights"),
		.iterations = positive(fcinfo, ARG_ITERATIONS),
		.batch = positive(fcinfo, ARG_BATCH),
		.inner_rate = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_INNER_RATE), "eta"),
		.inner_steps = positive(fcinfo, ARG_INNER_STEPS),
		.outer_rate = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_OUTER_RATE), "outer_eta"),
		.seed = (uint64_t) PG_GETARG_INT64(ARG_SEED),
		.support = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_SUPPORT), "support"),
		.shrink = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_SHRINK), "shrink"),
		.whiten = PG_GETARG_BOOL(ARG_WHITEN)
	};

	if (options.support >= 1.0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("support must be at least 0 and below 1: %g", options.support)));
	if (options.inner_rate == 0.0 && options.objective == WMLC_REPTILE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("reptile needs a positive eta")));
	return options;
}

static WmlcMlp
get_shape(FunctionCallInfo fcinfo, int inputs)
{
	ArrayType  *hidden = PG_GETARG_ARRAYTYPE_P(ARG_HIDDEN);
	WmlcMlp		net = {.inputs = inputs};
	int			depth = ArrayGetNItems(ARR_NDIM(hidden), ARR_DIMS(hidden));
	int32	   *width = (int32 *) ARR_DATA_PTR(hidden);

	if (ARR_NDIM(hidden) > 1 || depth > WMLC_MLP_MAX_DEPTH || array_contains_nulls(hidden))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("hidden must list the widths of at most %d layers, none of them NULL", WMLC_MLP_MAX_DEPTH)));
	net.depth = depth;
	for (int l = 0; l < depth; l++)
	{
		if (width[l] < 1 || width[l] > WMLC_MLP_MAX_WIDTH)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("width of a hidden layer must be between 1 and %d: %d",
							WMLC_MLP_MAX_WIDTH, width[l])));
		net.width[l] = width[l];
	}
	return net;
}

typedef struct TrainProgress
{
	WmlProgress clock;
	TimestampTz start;
	int64		iterations;
	int64		done;
} TrainProgress;

static void
report_progress(void *argument, const WmlcMlpRecord *now)
{
	TrainProgress *progress = (TrainProgress *) argument;
	double		elapsed;

	progress->done = now->iteration;
	if (!wml_progress_due(&progress->clock))
		return;
	elapsed = (double) (GetCurrentTimestamp() - progress->start) / USECS_PER_SEC;
	ereport(NOTICE,
			(errmsg("iteration " INT64_FORMAT " of " INT64_FORMAT
					": rmse %.4g, %s%d sources in use, about %.0f s left",
					now->iteration, progress->iterations, sqrt(now->mse),
					isnan(now->distance) ? "" : psprintf("distance %.4g, ", now->distance), now->sources,
					elapsed / (double) now->iteration * (double) (progress->iterations - now->iteration))));
}

static void
check_rows(const WmlQueryRows *sources, const WmlQueryRows *target)
{
	if (sources->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query of the sources returns no rows to learn from"),
				 errdetail("Rows skipped because of NULL: " INT64_FORMAT ".", sources->skipped)));
	if (sources->tasks < 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query of the sources returns only one task"),
				 errdetail("All " INT64_FORMAT " rows have the same value in the first column.", sources->count),
				 errhint("The first column must distinguish at least two tasks.")));
	if (target->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("query of the target returns no rows"),
				 errdetail("Rows skipped because of NULL: " INT64_FORMAT ".", target->skipped)));
	if (sources->inputs != target->inputs)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("sources and target have different numbers of inputs"),
				 errdetail("The sources have %d inputs, the target %d.",
						   sources->inputs, target->inputs)));
	if (sources->inputs > WMLC_MLP_MAX_INPUTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a network has at most %d inputs", WMLC_MLP_MAX_INPUTS)));
}

/* What takes most of it are the embeddings of a batch, or the path of many inner steps. */
static void *
allocate_training(const WmlcMlp *net, const WmlcMlpOptions *options, const WmlcMlpTasks *sources,
				  const WmlcMlpRows *target)
{
	Size		bytes = wmlc_mlp_train_workspace(net, options, sources, target);
	void	   *work = wml_allocate_if_possible(bytes);

	if (work == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory to train this network"),
				 errdetail("In addition to the rows, training takes %.0f MB.", bytes / 1e6),
				 errhint("Use a smaller batch, a narrower last hidden layer, or fewer inner steps.")));
	return work;
}

/* The rows are finite, so it is the training that left the finite numbers. */
static void
check_training(WmlcStatus status, int64 iterations_done)
{
	if (status == WMLC_NOT_FINITE)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("training diverged in iteration " INT64_FORMAT, iterations_done + 1),
				 errhint("Use a smaller eta and outer_eta, or standardize => true.")));
	wml_check(status);
}

Datum
wml_mlp_train(PG_FUNCTION_ARGS)
{
	WmlcMlpOptions options;
	WmlQueryRows source_rows,
				target_rows;
	WmlcMlpTasks sources;
	WmlcMlpRows target;
	WmlcMlp		net;
	WmlcMlpRecord *history = (WmlcMlpRecord *) palloc(HISTORY_RECORDS * sizeof(WmlcMlpRecord));
	WmlMlp	   *mlp;
	WmlMlpView	view;
	TrainProgress progress = {.start = GetCurrentTimestamp()};
	bool		standardize;
	int			recorded;
	WmlcStatus	status;

	for (int i = ARG_SOURCES; i <= ARG_STANDARDIZE; i++)
		wml_require_arg(fcinfo, i, argument_names[i]);
	options = get_options(fcinfo);
	standardize = PG_GETARG_BOOL(ARG_STANDARDIZE);
	source_rows = wml_query_rows(text_to_cstring(PG_GETARG_TEXT_PP(ARG_SOURCES)), WML_QUERY_TASKS, "sources");
	target_rows = wml_query_rows(text_to_cstring(PG_GETARG_TEXT_PP(ARG_TARGET)), WML_QUERY_PLAIN, "target");
	check_rows(&source_rows, &target_rows);
	net = get_shape(fcinfo, source_rows.inputs);
	sources = (WmlcMlpTasks) {
		.x = source_rows.x,
		.y = source_rows.y,
		.start = source_rows.start,
		.count = source_rows.tasks
	};
	target = (WmlcMlpRows) {
		.x = target_rows.x,
		.y = target_rows.y,
		.count = target_rows.count
	};

	mlp = wml_mlp_create(&net, standardize, HISTORY_RECORDS);
	view = wml_mlp_view(mlp);
	if (standardize)
		wmlc_mlp_standardize(net.inputs, &sources, view.shift, view.scale);
	wmlc_mlp_init(&view.net, options.seed, view.theta);
	progress.iterations = options.iterations;
	(void) wml_progress_due(&progress.clock);
	status = wmlc_mlp_train(&view.net, &options, &sources, &target, view.theta,
							history, HISTORY_RECORDS, &recorded, report_progress, &progress, wml_poll,
							allocate_training(&view.net, &options, &sources, &target));
	check_training(status, progress.done);
	for (int r = 0; r < recorded; r++)
	{
		double	   *record = view.history + (Size) r * WML_MLP_RECORD_NUMBERS;

		record[0] = (double) history[r].iteration;
		record[1] = history[r].mse;
		record[2] = history[r].distance;
		record[3] = (double) history[r].sources;
	}
	mlp->records = recorded;
	SET_VARSIZE(mlp, VARSIZE(mlp) - (Size) (HISTORY_RECORDS - recorded) * WML_MLP_RECORD_NUMBERS * sizeof(double));
	PG_RETURN_POINTER(mlp);
}
