/*
 * bound.c
 *	  Bounds of the target's risk: wml_bound.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "core/model/bound.h"
#include "pg/weights/alpha.h"
#include "pg/base/args.h"
#include "pg/base/array.h"
#include "pg/base/error.h"
#include "pg/gram/gram.h"
#include "pg/model/hinge.h"
#include "pg/base/srf.h"

PG_FUNCTION_INFO_V1(wml_bound);

enum
{
	ARG_SOURCES,
	ARG_TARGET,
	ARG_ALPHA,
	ARG_LOSS_RANGE,
	ARG_EPSILON,
	ARG_LOSS,
	ARG_RADIUS,
	ARG_COEF
};

static const char *const argument_names[] = {
	"sources", "target", "alpha", "loss_range", "epsilon", "loss", "radius"
};

/* Everything the arguments ask for. */
typedef struct Question
{
	WmlSources	sources;
	double	   *alpha;			/* on the simplex, 0 for NULL sources */
	const WmlcGram *target;
	double		range;
	double		epsilon;
	WmlcLoss	loss;
	double		radius;
	double	   *w;				/* or NULL */
} Question;

/* The user's weights, checked to lie on the simplex and scaled onto it. */
static double *
get_weights(ArrayType *array, int64 sources)
{
	double	   *alpha = wml_array_weights(array, sources);
	double		sum = wml_check_weights_sum(alpha, sources);

	for (int64 i = 0; i < sources; i++)
		alpha[i] /= sum;
	return alpha;
}

/* The coefficients, which must lie in the ball that the bound speaks of. */
static double *
get_coefficients(ArrayType *array, const Question *question)
{
	int			count;
	double	   *w = wml_array_vector(array, "coefficients", &count);
	double		square = 0.0;

	wml_gram_check_coefficients(question->target, count);
	wml_array_check_finite(w, count, "coefficients");
	for (int i = 0; i < count; i++)
		square += w[i] * w[i];
	if (sqrt(square) > question->radius * (1.0 + 1e-9))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("coefficients do not lie in the ball of the given radius"),
				 errdetail("Their length is %g, the radius %g.", sqrt(square), question->radius)));
	return w;
}

/* The theorem speaks of rows that count alike, whose fourth powers are known. */
static void
check_target(const WmlcGram *target, WmlcLoss loss)
{
	double		rows = (double) wmlc_gram_weighted_rows(target);

	wml_gram_check_solvable(target, "target");
	if (fabs(wmlc_gram_effective_rows(target) - rows) > 1e-9 * rows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("rows of the target must have equal weights"),
				 errdetail("The bounds hold for rows drawn independently from one distribution.")));
	if (isnan(wmlc_rademacher(target, loss)))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("fourth moments of the target are not known"),
				 errdetail("A change of basis has lost them."),
				 errhint("Transform the rows before you collect them.")));
}

static Question
get_question(FunctionCallInfo fcinfo)
{
	Question	question;

	for (int i = ARG_SOURCES; i <= ARG_RADIUS; i++)
		wml_require_arg(fcinfo, i, argument_names[i]);
	question.sources = wml_sources_from_array(PG_GETARG_ARRAYTYPE_P(ARG_SOURCES));
	question.alpha = get_weights(PG_GETARG_ARRAYTYPE_P(ARG_ALPHA), question.sources.count);
	question.target = PG_GETARG_GRAM(ARG_TARGET);
	question.range = wml_check_not_negative(PG_GETARG_FLOAT8(ARG_LOSS_RANGE), "loss_range");
	question.epsilon = PG_GETARG_FLOAT8(ARG_EPSILON);
	if (!(question.epsilon > 0.0 && question.epsilon < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must lie between 0 and 1: %g", question.epsilon)));
	question.loss = wml_arg_word(PG_GETARG_TEXT_PP(ARG_LOSS), &wmlc_loss_words, "loss");
	question.radius = wml_check_radius(PG_GETARG_FLOAT8(ARG_RADIUS));
	check_target(question.target, question.loss);
	if (question.loss == WMLC_HINGE)
		wml_check_unit_ball(question.target, question.radius, "target");
	question.w = PG_ARGISNULL(ARG_COEF) ? NULL
		: get_coefficients(PG_GETARG_ARRAYTYPE_P(ARG_COEF), &question);
	return question;
}

/* What the sources say: distances of the mixture and in the mean, and the risk. */
typedef struct Mixture
{
	double		distance;
	double		mean_distance;
	double		risk;
} Mixture;

static const WmlcGram *
get_source(const Question *question, int64 i)
{
	const WmlcGram *source = question->sources.source(question->sources.arg, i);

	if (source == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("source %d is NULL but has a weight", (int) i + 1)));
	wml_gram_check_solvable(source, "source");
	wml_gram_check_same_dims(source, question->target);
	if (question->loss == WMLC_HINGE)
		wml_check_unit_ball(source, question->radius, "source");
	return source;
}

static Mixture
mix(const Question *question)
{
	Mixture		mixture = {0.0, 0.0, 0.0};
	WmlcEmbeddingFrame frame;
	double		square = 0.0;
	double	   *difference;
	double	   *sum;
	size_t		dims;

	wmlc_embedding_frame_create(&frame, question->loss, question->target, NULL,
								palloc(wmlc_embedding_frame_workspace(question->target->dims)), wml_poll);
	dims = wmlc_difference_dims(&frame);
	difference = (double *) palloc(dims * sizeof(double));
	sum = (double *) palloc0(dims * sizeof(double));
	for (int64 i = 0; i < question->sources.count; i++)
	{
		const WmlcGram *source;
		double		alpha = question->alpha[i];

		CHECK_FOR_INTERRUPTS();
		if (alpha == 0.0)
			continue;
		source = get_source(question, i);
		wml_check(wmlc_difference(&frame, source, difference));
		for (size_t k = 0; k < dims; k++)
			sum[k] += alpha * difference[k];
		mixture.mean_distance += alpha * wmlc_distance(source, question->target, question->loss);
		if (question->w != NULL)
			mixture.risk += alpha * wmlc_risk(source, question->loss, question->w);
	}
	for (size_t k = 0; k < dims; k++)
		square += sum[k] * sum[k];
	mixture.distance = sqrt(square);
	if (!isfinite(square) || !isfinite(mixture.mean_distance))
		wml_check(WMLC_NOT_FINITE);
	return mixture;
}

Datum
wml_bound(PG_FUNCTION_ARGS)
{
	Question	question;
	Mixture		mixture;
	double		ball,
				rademacher,
				deviation,
				theorem,
				corollary;
	bool		no_risk;

	if (PG_ARGISNULL(ARG_SOURCES) || PG_ARGISNULL(ARG_TARGET) || PG_ARGISNULL(ARG_ALPHA))
		PG_RETURN_NULL();
	question = get_question(fcinfo);
	mixture = mix(&question);
	ball = wmlc_loss_ball(question.loss, question.radius);
	rademacher = ball * wmlc_rademacher(question.target, question.loss);
	deviation = wmlc_deviation(question.range, question.epsilon,
							   (double) wmlc_gram_weighted_rows(question.target));
	theorem = ball * mixture.distance + 2.0 * rademacher + deviation;
	corollary = ball * mixture.mean_distance + 2.0 * rademacher + deviation;
	if (!isfinite(theorem) || !isfinite(corollary) || !isfinite(mixture.risk))
		wml_check(WMLC_NOT_FINITE);
	no_risk = question.w == NULL;
	return wml_composite(fcinfo, (Datum[9]) {
		Float8GetDatum(mixture.distance),
		Float8GetDatum(mixture.mean_distance),
		Float8GetDatum(ball),
		Float8GetDatum(rademacher),
		Float8GetDatum(deviation),
		Float8GetDatum(theorem),
		Float8GetDatum(corollary),
		Float8GetDatum(mixture.risk),
		Float8GetDatum(mixture.risk + theorem)
	}, (bool[9]) {[7] = no_risk,[8] = no_risk});
}
