/*
 * minimize_bound.c
 *	  Weights and coefficients that minimise the bound: wml_minimize_bound.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/model/bound.h"
#include "core/model/minimize_bound.h"
#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/model/hinge.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_minimize_bound);

enum
{
	ARG_SOURCES,
	ARG_TARGET,
	ARG_VARIANT,
	ARG_LOSS,
	ARG_RADIUS,
	ARG_STARTS,
	ARG_STEPS
};

static const char *const argument_names[] = {
	"sources", "target", "variant", "loss", "radius", "starts", "steps"
};

typedef enum Variant
{
	JOINT,
	WEIGHTED
} Variant;

static const char *const variants[] = {
	[JOINT] = "joint",
	[WEIGHTED] = "weighted"
};

static const WmlcWords variant_words = WMLC_WORDS(variants);

static void
check_gram(const WmlcGram *gram, const WmlcBoundProblem *problem, const char *role)
{
	wml_gram_check_solvable(gram, role);
	wml_gram_check_same_dims(gram, problem->target);
	if (problem->loss == WMLC_HINGE)
		wml_check_unit_ball(gram, problem->radius, role);
}

/* Which of the sources take part: all but the NULLs. */
static void
collect_sources(const WmlSources *sources, WmlcBoundProblem *problem)
{
	const WmlcGram **present = (const WmlcGram **) palloc(Max(sources->count, 1) * sizeof(WmlcGram *));

	problem->sources = present;
	problem->count = 0;
	for (int64 i = 0; i < sources->count; i++)
	{
		const WmlcGram *source = sources->source(sources->arg, i);

		CHECK_FOR_INTERRUPTS();
		if (source == NULL)
			continue;
		check_gram(source, problem, "source");
		present[problem->count++] = source;
	}
	if (problem->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("there are no sources to learn from")));
}

/* Weights as float8[], NULL for the sources that took no part. */
static Datum
weights_datum(const WmlSources *sources, const double *alpha)
{
	Datum	   *datums = (Datum *) palloc(sources->count * sizeof(Datum));
	bool	   *nulls = (bool *) palloc(sources->count * sizeof(bool));
	int			count = (int) sources->count;
	int			lower_bound = 1;

	for (int i = 0; i < count; i++)
	{
		nulls[i] = sources->source(sources->arg, i) == NULL;
		datums[i] = nulls[i] ? (Datum) 0 : Float8GetDatum(*alpha++);
	}
	return PointerGetDatum(construct_md_array(datums, nulls, 1, &count, &lower_bound, FLOAT8OID,
											  sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static int
check_starts(int starts)
{
	if (starts < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("starts must not be negative: %d", starts)));
	return starts;
}

Datum
wml_minimize_bound(PG_FUNCTION_ARGS)
{
	WmlSources	sources;
	WmlcBoundProblem problem;
	WmlcBoundMinimum minimum = {0};
	Variant		variant;
	double	   *alpha;
	double	   *w;
	ArrayType  *coefficients;
	void	   *work;

	if (PG_ARGISNULL(ARG_SOURCES) || PG_ARGISNULL(ARG_TARGET))
		PG_RETURN_NULL();
	for (int i = ARG_VARIANT; i <= ARG_STEPS; i++)
		wml_require_arg(fcinfo, i, argument_names[i]);
	variant = wml_arg_word(PG_GETARG_TEXT_PP(ARG_VARIANT), &variant_words, "variant");
	problem.radius = wml_check_radius(PG_GETARG_FLOAT8(ARG_RADIUS));
	problem.loss = wml_arg_word(PG_GETARG_TEXT_PP(ARG_LOSS), &wmlc_loss_words, "loss");
	problem.target = PG_GETARG_GRAM(ARG_TARGET);
	check_gram(problem.target, &problem, "target");
	sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_SOURCES));
	collect_sources(&sources, &problem);

	alpha = (double *) palloc0(problem.count * sizeof(double));
	coefficients = wml_array_new_vector(problem.target->dims, &w);
	work = MemoryContextAllocHuge(CurrentMemoryContext, wmlc_minimize_bound_workspace(&problem));
	if (variant == WEIGHTED)
		wml_check(wmlc_minimize_weighted(&problem, alpha, w, &minimum, work, wml_poll));
	else
		wml_check(wmlc_minimize_joint(&problem, check_starts(PG_GETARG_INT32(ARG_STARTS)),
									  wml_check_steps(PG_GETARG_INT32(ARG_STEPS)), alpha, w, &minimum,
									  work, wml_poll));
	{
		Datum		values[9] = {
			weights_datum(&sources, alpha),
			PointerGetDatum(coefficients),
			Float8GetDatum(minimum.objective),
			Float8GetDatum(minimum.source_risk),
			Float8GetDatum(minimum.distance),
			Float8GetDatum(wmlc_loss_ball(problem.loss, problem.radius)),
			Float8GetDatum(minimum.gap),
			Float8GetDatum(minimum.residual),
			Int32GetDatum(minimum.steps)
		};

		return wml_composite(fcinfo, values, NULL);
	}
}
