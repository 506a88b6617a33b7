/*
 * alpha_window.c
 *	  wml_alpha as a window function: J rows of a partition in, J weights out.
 *
 * The first call in a partition reads all its rows, solves, and keeps the
 * weights in the partition's memory; the others look theirs up.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "core/weights/stacked.h"
#include "pg/weights/alpha.h"
#include "pg/gram/gram.h"

PG_FUNCTION_INFO_V1(wml_alpha_window);

enum
{
	ARG_SOURCE,
	ARG_TARGET,
	ARG_WEIGHTS,
	ARG_LOSS,
	ARG_SHRINK,
	ARG_WHITEN
};

/* What the partition remembers between its rows; zero at the start. */
typedef struct PartitionWeights
{
	double	   *alpha;			/* NULL until solved */
} PartitionWeights;

typedef struct PartitionReader
{
	WindowObject window;
	const WmlcGram *target;
	int64		checked;		/* rows whose target has been compared */
	MemoryContext row_context;	/* reset for each row */
} PartitionReader;

/* An argument at a row of the partition, by its number. */
static Datum
argument_at(WindowObject window, int argument, int64 row, bool *isnull)
{
	bool		outside;

	return WinGetFuncArgInPartition(window, argument, (int) row, WINDOW_SEEK_HEAD, false,
									isnull, &outside);
}

static void
check_same_target(const PartitionReader *reader, Datum datum, bool isnull)
{
	const WmlcGram *target;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("target must not be NULL")));
	target = wml_gram_from_datum(datum);
	if (!wml_same_target(target, reader->target))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("target differs between rows of one partition"),
				 errhint("Solve for several targets with PARTITION BY the target's key.")));
}

static const WmlcGram *
source_of_partition(void *arg, int64 i)
{
	PartitionReader *reader = (PartitionReader *) arg;
	MemoryContext old_context;
	Datum		datum;
	const WmlcGram *source = NULL;
	bool		isnull;

	MemoryContextReset(reader->row_context);
	old_context = MemoryContextSwitchTo(reader->row_context);
	if (i >= reader->checked)
	{
		datum = argument_at(reader->window, ARG_TARGET, i, &isnull);
		check_same_target(reader, datum, isnull);
		reader->checked = i + 1;
	}
	datum = argument_at(reader->window, ARG_SOURCE, i, &isnull);
	if (!isnull)
		source = wml_gram_from_datum(datum);
	MemoryContextSwitchTo(old_context);
	return source;
}

/* The target of the partition's first row, in memory that stays. */
static const WmlcGram *
copy_target(WindowObject window)
{
	bool		isnull;
	Datum		datum = argument_at(window, ARG_TARGET, 0, &isnull);
	const WmlcGram *target;
	Size		size;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("target must not be NULL")));
	target = wml_gram_from_datum(datum);
	size = wmlc_gram_bytes(target->dims);
	return (const WmlcGram *) memcpy(palloc(size), target, size);
}

/* Texts are copied, since reading the next argument may free the row that they lie in. */
static WmlcWeighting
options_at(WindowObject window, int64 row, MemoryContext row_context)
{
	NullableDatum options[ARG_WHITEN - ARG_WEIGHTS + 1];
	MemoryContext old_context;
	WmlcWeighting result;

	MemoryContextReset(row_context);
	old_context = MemoryContextSwitchTo(row_context);
	for (int i = 0; i < (int) lengthof(options); i++)
	{
		options[i].value = argument_at(window, ARG_WEIGHTS + i, row, &options[i].isnull);
		if (ARG_WEIGHTS + i <= ARG_LOSS && !options[i].isnull)
			options[i].value = PointerGetDatum(PG_DETOAST_DATUM_COPY(options[i].value));
	}
	result = wml_get_weighting(options, &wmlc_weighting_words);
	MemoryContextSwitchTo(old_context);
	return result;
}

/* Options that are columns, not constants, must be the same in every row. */
static void
check_same_options(WindowObject window, const WmlcWeighting *options, int64 rows,
				   MemoryContext row_context)
{
	for (int64 row = 1; row < rows; row++)
	{
		WmlcWeighting other = options_at(window, row, row_context);

		CHECK_FOR_INTERRUPTS();
		if (!wml_same_weighting(&other, options))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("options differ between rows of one partition"),
					 errhint("Compare options with PARTITION BY the options.")));
	}
}

static bool
has_constant_options(FmgrInfo *flinfo)
{
	for (int argument = ARG_WEIGHTS; argument <= ARG_WHITEN; argument++)
	{
		if (!get_fn_expr_arg_stable(flinfo, argument))
			return false;
	}
	return true;
}

/* Solve for the partition; only the weights outlive this call. */
static double *
solve_partition(WindowObject window, bool constant_options, MemoryContext result_context)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "wml_alpha partition",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old_context = MemoryContextSwitchTo(context);
	PartitionReader reader = {
		.window = window,
		.row_context = AllocSetContextCreate(context, "wml_alpha row", ALLOCSET_DEFAULT_SIZES)
	};
	WmlcWeighting options = options_at(window, 0, reader.row_context);
	WmlSources	sources = {
		.count = WinGetPartitionRowCount(window),
		.source = source_of_partition,
		.arg = &reader
	};
	double	   *alpha = (double *) MemoryContextAllocHuge(result_context,
														  sources.count * sizeof(double));

	if (!constant_options)
		check_same_options(window, &options, sources.count, reader.row_context);
	reader.target = copy_target(window);
	wml_alpha_solve(&sources, reader.target, &options, alpha);
	MemoryContextSwitchTo(old_context);
	MemoryContextDelete(context);
	return alpha;
}

Datum
wml_alpha_window(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	PartitionWeights *weights = (PartitionWeights *)
		WinGetPartitionLocalMemory(window, sizeof(PartitionWeights));
	double		alpha;

#if PG_VERSION_NUM >= 190000
	/* a source that is NULL has no weight anyway; IGNORE NULLS is refused */
	WinCheckAndInitializeNullTreatment(window, false, fcinfo);
#endif

	if (weights->alpha == NULL)
		weights->alpha = solve_partition(window, has_constant_options(fcinfo->flinfo),
										 GetMemoryChunkContext(weights));
	alpha = weights->alpha[WinGetCurrentPosition(window)];
	if (isnan(alpha))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(alpha);
}
