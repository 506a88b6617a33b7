/*
 * compare_weights.c
 *	  The weights of the sources in every trial of a comparison.
 */
#include "core/compare/compare_weights.h"

#include "core/weights/weights.h"

void
wmlc_compare_weights_lay_out(WmlcCompareWeights *weights, const WmlcComparison *c, WmlcArena *arena)
{
	size_t		embedding = wmlc_embedding_dims(WMLC_SQUARE, c->d);

	weights->comparison = c;
	weights->pooled = wmlc_arena_take(arena, wmlc_gram_bytes(c->d), 1);
	weights->whitener_work = wmlc_arena_take(arena, wmlc_whitener_workspace(c->d), 1);
	weights->sizes = wmlc_arena_doubles(arena, c->source_count);
	weights->alpha = wmlc_arena_doubles(arena, c->trial_count * c->weighting_count * c->source_count);
	weights->statuses = wmlc_arena_take(arena, c->trial_count * c->weighting_count,
										sizeof(WmlcStatus));
	for (int i = 0; i < WMLC_COMPARE_BASES; i++)
	{
		WmlcCompareSpace *space = &weights->spaces[i];

		space->frame_work = wmlc_arena_take(arena, wmlc_embedding_frame_workspace(c->d), 1);
		space->deviations = wmlc_arena_doubles(arena, c->source_count * embedding);
		space->place = wmlc_arena_doubles(arena, embedding);
		space->points = wmlc_arena_doubles(arena, c->source_count * embedding);
	}
}

size_t
wmlc_compare_weigh_workspace(const WmlcComparison *c)
{
	size_t		bytes = wmlc_embedding_frame_workspace(c->d);

	for (int i = 0; i < c->weighting_count; i++)
		bytes = wmlc_larger(bytes, wmlc_weigh_workspace(&c->weightings[i], c->source_count,
														wmlc_embedding_dims(WMLC_SQUARE, c->d)));
	return bytes;
}

WmlcStatus
wmlc_compare_pool(WmlcGram *pooled, int d, size_t count, const WmlcGram *const *grams,
				  WmlcPoll poll)
{
	WmlcStatus	status = WMLC_OK;

	wmlc_gram_init(pooled, d);
	for (size_t j = 0; j < count && status == WMLC_OK; j++)
	{
		if (j % WMLC_COMPARE_POLL_INTERVAL == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		status = wmlc_gram_merge(pooled, grams[j]);
	}
	return status;
}

static const WmlcGram *const *
windows_of(const WmlcComparison *c)
{
	return c->windows == NULL ? c->sources : c->windows;
}

/* What weights are whitened by is what they compare, as in wml_alpha. */
WmlcStatus
wmlc_compare_weights_prepare(WmlcCompareWeights *weights, WmlcPoll poll)
{
	const WmlcComparison *c = weights->comparison;
	WmlcCompareSpace *spaces = weights->spaces;
	WmlcStatus	status;

	spaces[0].is_ready = spaces[1].is_ready = false;
	spaces[0].whitener = NULL;
	spaces[1].whitener = &weights->whitener;
	status = wmlc_compare_pool(weights->pooled, c->d, c->source_count, windows_of(c), poll);
	if (status != WMLC_OK)
		return status;
	spaces[0].status = WMLC_OK;
	spaces[1].status = wmlc_whitener_create(&weights->whitener, weights->pooled, WMLC_SQUARE,
											weights->whitener_work, poll);
	return spaces[1].status == WMLC_INTERRUPTED ? WMLC_INTERRUPTED : WMLC_OK;
}

/* Find the places of all windows, once. */
static WmlcStatus
prepare_space(WmlcCompareWeights *weights, WmlcCompareSpace *space, WmlcPoll poll)
{
	const WmlcComparison *c = weights->comparison;
	size_t		dims;

	if (space->is_ready || space->status != WMLC_OK)
		return space->status;
	wmlc_embedding_frame_create(&space->frame, WMLC_SQUARE, weights->pooled, space->whitener,
								space->frame_work, poll);
	dims = wmlc_difference_dims(&space->frame);
	for (size_t j = 0; j < c->source_count && space->status == WMLC_OK; j++)
		space->status = wmlc_difference(&space->frame, windows_of(c)[j],
										space->deviations + j * dims);
	space->is_ready = true;
	return space->status;
}

static bool
any_shrinks(const WmlcComparison *c, bool whiten)
{
	for (int i = 0; i < c->weighting_count; i++)
	{
		if (c->weightings[i].whiten == whiten && c->weightings[i].shrink > 0.0)
			return true;
	}
	return false;
}

/* The differences of all sources that take part, in one basis. */
static WmlcStatus
create_points(WmlcCompareWeights *weights, const WmlcTrial *trial, WmlcCompareSpace *space,
			  WmlcCandidates *candidates, void *work, WmlcPoll poll)
{
	const WmlcComparison *c = weights->comparison;
	WmlcEmbeddingFrame frame;
	double	   *next = space->points;
	size_t		dims;
	WmlcStatus	status = prepare_space(weights, space, poll);

	if (status != WMLC_OK)
		return status;
	wmlc_embedding_frame_create(&frame, WMLC_SQUARE, trial->known, space->whitener, work, poll);
	if (any_shrinks(c, space->whitener != NULL))
		status = wmlc_sampling_variance(&frame, &candidates->variance);
	if (status == WMLC_OK)
		status = wmlc_difference(&space->frame, trial->known, space->place);
	if (status != WMLC_OK)
		return status;
	candidates->points = next;
	candidates->dims = candidates->stride = dims = wmlc_difference_dims(&frame);
	for (size_t j = 0; j < c->source_count; j++)
	{
		const double *from = space->deviations + j * dims;

		if (j % WMLC_COMPARE_POLL_INTERVAL == 0 && wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		if (!wmlc_takes_part(c, trial, j))
			continue;
		for (size_t k = 0; k < dims; k++)
			next[k] = from[k] - space->place[k];
		next += dims;
	}
	return WMLC_OK;
}

/* The sources that take part, without their points. */
static WmlcCandidates
create_candidates(const WmlcCompareWeights *weights, const WmlcTrial *trial)
{
	const WmlcComparison *c = weights->comparison;
	WmlcCandidates candidates = {.sizes = weights->sizes, .variance = NAN};

	for (size_t j = 0; j < c->source_count; j++)
	{
		if (wmlc_takes_part(c, trial, j))
			weights->sizes[candidates.count++] = wmlc_dd_value(c->sources[j]->weight);
	}
	return candidates;
}

/* Make room for the sources left out, with weight zero. */
static void
spread(const WmlcComparison *c, const WmlcTrial *trial, size_t count, double *alpha)
{
	for (size_t j = c->source_count; j-- > 0;)
		alpha[j] = wmlc_takes_part(c, trial, j) ? alpha[--count] : 0.0;
}

WmlcStatus
wmlc_compare_weigh(WmlcCompareWeights *weights, size_t number, void *work, WmlcPoll poll)
{
	const WmlcComparison *c = weights->comparison;
	const WmlcTrial *trial = &c->trials[number];
	WmlcCandidates all = create_candidates(weights, trial);
	WmlcCandidates candidates[WMLC_COMPARE_BASES] = {all, all};
	WmlcStatus	statuses[WMLC_COMPARE_BASES];

	for (int i = 0; i < c->weighting_count; i++)
	{
		const WmlcWeighting *weighting = &c->weightings[i];
		int			basis = weighting->whiten;
		double	   *alpha = wmlc_compare_weights_at(weights, number, i);
		WmlcStatus *status = &weights->statuses[number * c->weighting_count + i];
		WmlcSimplexReport solved;

		*status = WMLC_OK;
		if (weighting->rule == WMLC_STACKED)
			continue;			/* compare_stack.c does it */
		if (wmlc_rule_is_spatial(weighting->rule))
		{
			if (candidates[basis].points == NULL)
				statuses[basis] = create_points(weights, trial, &weights->spaces[basis],
												&candidates[basis], work, poll);
			*status = statuses[basis];
		}
		if (*status == WMLC_OK)
			*status = wmlc_weigh(weighting, &candidates[basis], alpha, &solved, work, poll);
		if (*status == WMLC_INTERRUPTED)
			return WMLC_INTERRUPTED;
		for (size_t j = 0; j < c->source_count && *status != WMLC_OK; j++)
			alpha[j] = NAN;
		if (*status == WMLC_OK)
			spread(c, trial, all.count, alpha);
	}
	return WMLC_OK;
}
