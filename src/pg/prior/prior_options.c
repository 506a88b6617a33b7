/*
 * prior_options.c
 *	  The options of a prior's fit: wml_prior_options, and how they are read.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/srf.h"
#include "pg/prior/prior_fit.h"

PG_FUNCTION_INFO_V1(wml_prior_options);

/* In the order of arguments, everywhere. */
enum
{
	OPTION_COVARIANCE,
	OPTION_METHOD,
	OPTION_TEMPER,
	OPTION_EVENNESS,
	OPTION_NOISE,
	OPTION_TASKS,
	OPTION_DEGREES,
	OPTION_FIXED,
	OPTION_SMOOTH,
	OPTION_FEATURES
};

static const char *const covariance_words[] = {
	[WMLC_PRIOR_FULL] = "full",
	[WMLC_PRIOR_DIAGONAL] = "diagonal"
};
static const WmlcWords covariances = WMLC_WORDS(covariance_words);

static const char *const method_words[] = {
	[WMLC_PRIOR_ML] = "ml",
	[WMLC_PRIOR_REML] = "reml"
};
static const WmlcWords methods = WMLC_WORDS(method_words);

static const char *const noise_words[] = {"common", "own", "auto"};
static const WmlcWords noises = WMLC_WORDS(noise_words);

static const char *const task_words[] = {"normal", "t", "auto"};
static const WmlcWords task_kinds = WMLC_WORDS(task_words);

/* The second of words is true, the third to be chosen. */
static bool
read_choice(Datum value, const WmlcWords *words, const char *name, bool *choose)
{
	int			word = wml_arg_word(DatumGetTextPP(value), words, name);

	*choose = word == 2;
	return word == 1;
}

static Datum *
get_texts(Datum array, const char *name, int *count)
{
	Datum	   *texts;
	bool	   *nulls;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls,
					  count);
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not contain NULL", name)));
	}
	return texts;
}

/* Positions FIRST-LAST; false if the word is no such range. */
static bool
read_range(const char *word, int dims, int *first, int *last)
{
	char	   *end;
	long		from = strtol(word, &end, 10);
	long		to = from;

	if (end == word)
		return false;
	if (*end == '-')
	{
		word = end + 1;
		to = strtol(word, &end, 10);
	}
	if (end == word || *end != '\0' || from < 1 || to > dims || from > to)
		return false;
	*first = (int) from - 1;
	*last = (int) to - 1;
	return true;
}

static bool
is_equal(Datum a, Datum b)
{
	text	   *left = DatumGetTextPP(a);
	text	   *right = DatumGetTextPP(b);
	Size		length = VARSIZE_ANY_EXHDR(left);

	return VARSIZE_ANY_EXHDR(right) == length &&
		memcmp(VARDATA_ANY(left), VARDATA_ANY(right), length) == 0;
}

void
wml_mark_features(const Datum *words, int count, const Datum *names, int name_count, int dims,
				  bool mark, bool *marks)
{
	for (int i = 0; i < count; i++)
	{
		char	   *word = TextDatumGetCString(words[i]);
		int			first = dims;
		int			last = -1;

		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < name_count && last < 0; k++)
		{
			if (is_equal(words[i], names[k]))
				first = last = k;
		}
		if (last < 0 && !read_range(word, dims, &first, &last))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("there is no feature \"%s\"", word),
					 errdetail("Features have the positions 1 to %d, ranges of them are written as 4-10, and names are those given as features.",
							   dims)));
		for (int k = first; k <= last; k++)
			marks[k] = mark;
		pfree(word);
	}
}

void
wml_prior_options_read(const Datum *values, const bool *nulls, WmlPriorOptions *options)
{
	WmlcPriorOptions *core = &options->core;

	memset(options, 0, sizeof(*options));
	if (!nulls[OPTION_COVARIANCE])
		core->covariance = wml_arg_word(DatumGetTextPP(values[OPTION_COVARIANCE]), &covariances,
										"covariance");
	if (!nulls[OPTION_METHOD])
		core->method = wml_arg_word(DatumGetTextPP(values[OPTION_METHOD]), &methods, "method");
	if (!nulls[OPTION_TEMPER])
		options->temper = wml_check_not_negative(DatumGetFloat8(values[OPTION_TEMPER]), "temper");
	if (options->temper > 1.0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("temper must be between 0 and 1: %g", options->temper)));
	if (!nulls[OPTION_EVENNESS])
		core->evenness = wml_check_not_negative(DatumGetFloat8(values[OPTION_EVENNESS]),
												"evenness");
	if (!nulls[OPTION_NOISE])
		core->own_noise = read_choice(values[OPTION_NOISE], &noises, "noise", &options->choose_noise);
	if (!nulls[OPTION_TASKS])
		core->student = read_choice(values[OPTION_TASKS], &task_kinds, "tasks", &options->choose_tasks);
	if (!nulls[OPTION_DEGREES])
	{
		core->spread_degrees = DatumGetFloat8(values[OPTION_DEGREES]);
		if (!(core->spread_degrees >= 1.0 && core->spread_degrees <= 1e6))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("degrees must be between 1 and 1000000: %g", core->spread_degrees)));
	}
	if (!nulls[OPTION_FIXED])
		options->fixed = get_texts(values[OPTION_FIXED], "fixed", &options->fixed_count);
	if (!nulls[OPTION_SMOOTH])
		options->smooth = get_texts(values[OPTION_SMOOTH], "smooth", &options->smooth_count);
	if (options->smooth_count > 0 && core->method != WMLC_PRIOR_REML)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("smooth features need the restricted likelihood"),
				 errhint("Use method => 'reml'.")));
	if (!nulls[OPTION_FEATURES])
		options->features = get_texts(values[OPTION_FEATURES], "features",
									  &options->feature_count);
}

/*
 * The row of a record, which may be anybody's: is it one of ours?  The options point
 * into a copy of it in the current context, so they live as long as that does.
 */
void
wml_prior_options_from_record(Datum record, WmlPriorOptions *options)
{
	static const Oid types[WML_PRIOR_OPTION_COUNT] = {
		TEXTOID, TEXTOID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID, FLOAT8OID, TEXTARRAYOID,
		TEXTARRAYOID, TEXTARRAYOID
	};
	HeapTupleHeader header = (HeapTupleHeader) PG_DETOAST_DATUM_COPY(record);
	TupleDesc	descriptor = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
													HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {
		.t_len = HeapTupleHeaderGetDatumLength(header),
		.t_data = header
	};
	Datum		values[WML_PRIOR_OPTION_COUNT];
	bool		nulls[WML_PRIOR_OPTION_COUNT];
	bool		ours = descriptor->natts == WML_PRIOR_OPTION_COUNT;

	for (int i = 0; ours && i < WML_PRIOR_OPTION_COUNT; i++)
		ours = TupleDescAttr(descriptor, i)->atttypid == types[i];
	if (!ours)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options are not those of a prior"),
				 errhint("Use wml_prior_options.")));
	heap_deform_tuple(&tuple, descriptor, values, nulls);
	ReleaseTupleDesc(descriptor);
	wml_prior_options_read(values, nulls, options);
}

/* wml_prior_options(...): its arguments as a row, once they are valid */
Datum
wml_prior_options(PG_FUNCTION_ARGS)
{
	Datum		values[WML_PRIOR_OPTION_COUNT];
	bool		nulls[WML_PRIOR_OPTION_COUNT];
	WmlPriorOptions options;

	for (int i = 0; i < WML_PRIOR_OPTION_COUNT; i++)
	{
		values[i] = PG_GETARG_DATUM(i);
		nulls[i] = PG_ARGISNULL(i);
	}
	wml_prior_options_read(values, nulls, &options);
	return wml_composite(fcinfo, values, nulls);
}

double *
wml_descriptors(Datum array, bool isnull, int64 tasks, int *count)
{
	double	   *descriptors;
	int			rows;

	*count = 0;
	if (isnull)
		return NULL;
	descriptors = wml_array_matrix(DatumGetArrayTypeP(array), "descriptors", &rows, count);
	if (rows != tasks)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there must be one row of descriptors for each source"),
				 errdetail("There are %d rows for " INT64_FORMAT " sources.", rows, tasks)));
	wml_array_check_finite(descriptors, (int64) rows * *count, "descriptors");
	return descriptors;
}
