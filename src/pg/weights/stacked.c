/*
 * stacked.c
 *	  Stacked weights from grams: the combination of the sources' shrunken
 *	  coefficients that errs least on the target's rows.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/model/ensemble.h"
#include "pg/base/error.h"
#include "pg/base/memory.h"
#include "pg/gram/gram.h"
#include "pg/weights/stacked.h"

/* The sources that take part, copied: they are read more than once. */
static const WmlcGram **
read_sources(const WmlSources *sources, const WmlcGram *target, double *alpha, size_t *count)
{
	const WmlcGram **present = (const WmlcGram **) wml_allocate(Max(sources->count, 1), sizeof(WmlcGram *));

	*count = 0;
	for (int64 i = 0; i < sources->count; i++)
	{
		const WmlcGram *source;
		WmlGram    *copy;

		CHECK_FOR_INTERRUPTS();
		source = sources->source(sources->arg, i);
		alpha[i] = source == NULL ? NAN : 0.0;
		if (source == NULL)
			continue;
		wml_gram_check_solvable(source, "source");
		wml_gram_check_same_dims(source, target);
		copy = wml_gram_create(source->dims);
		wml_check(wmlc_gram_merge(&copy->body, source));
		present[(*count)++] = &copy->body;
	}
	return present;
}

/* The points of the sources, and the variance that shrink multiplies. */
static WmlcCandidates
create_candidates(const WmlcGram **sources, size_t count, const WmlcGram *target)
{
	int			d = target->dims;
	double	   *coefficients = (double *) palloc(d * sizeof(double));
	double	   *points;
	void	   *work = wml_allocate(wmlc_ensemble_workspace(d), 1);
	double		noise;
	WmlcEnsemble ensemble = {.coefficients = (double *) palloc(d * sizeof(double))};
	WmlcStacked stacked;

	wml_check(wmlc_ensemble(&ensemble, d, count, sources, work, wml_poll));
	wml_check(wmlc_stacked_create(&stacked, target, wml_allocate(wmlc_stacked_workspace(d), 1), wml_poll));
	points = (double *) wml_allocate(count, stacked.rank * sizeof(double));
	for (size_t j = 0; j < count; j++)
	{
		CHECK_FOR_INTERRUPTS();
		wml_check(wmlc_ensemble_member(&ensemble, sources[j], coefficients, &noise, work, wml_poll));
		wmlc_stacked_point(&stacked, coefficients, points + j * stacked.rank);
	}
	return (WmlcCandidates) {
		.count = count,
		.points = points,
		.dims = stacked.rank,
		.stride = stacked.rank,
		.variance = wmlc_stacked_variance(target, ensemble.noise)
	};
}

void
wml_alpha_stacked(const WmlSources *sources, const WmlcGram *target, const WmlcWeighting *weighting,
				  double *alpha)
{
	WmlcWeighting mixture = {.rule = WMLC_MIXTURE, .shrink = weighting->shrink};
	size_t		count;
	const WmlcGram **present;
	double	   *weights;
	WmlcCandidates candidates;

	if (weighting->loss != WMLC_SQUARE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("stacked weights are for square loss only")));
	wml_gram_check_solvable(target, "target");
	present = read_sources(sources, target, alpha, &count);
	if (count == 0)
		return;
	candidates = create_candidates(present, count, target);
	weights = (double *) wml_allocate(count, sizeof(double));
	wml_weigh(&mixture, &candidates, weights);
	for (int64 i = 0; i < sources->count; i++)
	{
		if (!isnan(alpha[i]))
			alpha[i] = *weights++;
	}
}
