/*
 * test_weights.c
 *	  Rules for weights: certificates from the points as they were, odd cases, and
 *	  grams and points that agree.  The SQL test weights_forms compares the forms.
 */
#include <stdlib.h>

#include "core/weights/weights.h"
#include "simplex/simplex_fixture.h"

/* Weigh in a workspace full of NaN, exactly as large as asked for. */
static WmlcStatus
weigh(const WmlcWeighting *weighting, const WmlcCandidates *candidates, double *alpha,
	  WmlcSimplexReport *report)
{
	size_t		bytes = wmlc_weigh_workspace(weighting, candidates->count, candidates->dims);
	void	   *work = malloc(bytes + 1);
	WmlcStatus	status;

	memset(work, 0xff, bytes);
	status = wmlc_weigh(weighting, candidates, alpha, report, work, NULL);
	free(work);
	return status;
}

static double
gap_of(const WmlcWeighting *weighting, const WmlcCandidates *candidates, const double *alpha)
{
	void	   *work = malloc(wmlc_weigh_gap_workspace(candidates));
	double		gap;

	CHECK(wmlc_weigh_gap(weighting, candidates, alpha, &gap, work, NULL) == WMLC_OK, "gap");
	free(work);
	return gap;
}

/* A mixture of points of any scale: optimal for the points themselves, reduced or not. */
static void
check_mixture(size_t count, size_t dims, double shrink, double scale, uint64_t seed)
{
	double	   *points = malloc(count * dims * sizeof(double));
	double	   *alpha = malloc(count * sizeof(double));
	WmlcWeighting weighting = {.rule = WMLC_MIXTURE, .shrink = shrink};
	WmlcCandidates candidates = {
		.count = count, .points = points, .dims = dims, .stride = dims,
		.variance = 0.7 * scale * scale
	};
	WmlcSimplex problem = {
		.points = points, .count = count, .dims = dims, .stride = dims,
		.ridge = shrink * 0.7 * scale * scale
	};
	WmlcSimplexReport report;
	Certificate c;

	fill_normal(points, count * dims, &seed);
	for (size_t i = 0; i < count * dims; i++)
		points[i] = scale * (points[i] + 1.0);
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK, "%zu x %zu", count, dims);
	c = certify(&problem, alpha);
	CHECK(c.gap <= 1e-12L && c.nonnegative && fabsl(c.sum - 1.0L) <= 1e-13L,
		  "%zu x %zu, shrink %g, scale %g: gap %Lg", count, dims, shrink, scale, c.gap);
	CHECK(report.relative_gap <= 1e-12, "reported gap %g", report.relative_gap);
	CHECK(gap_of(&weighting, &candidates, alpha) <= 1e-12 * (double) (report.largest + problem.ridge),
		  "gap %g", gap_of(&weighting, &candidates, alpha));
	free(points);
	free(alpha);
}

static void
test_mixture(void)
{
	static const double shrinks[] = {0.0, 1e-6, 1.0, 100.0};
	static const double scales[] = {1.0, 1e-140, 1e140};

	for (int s = 0; s < 4; s++)
	{
		for (int k = 0; k < 3; k++)
		{
			check_mixture(1, 40, shrinks[s], scales[k], 1);
			check_mixture(5, 700, shrinks[s], scales[k], 2);
			check_mixture(30, 100, shrinks[s], scales[k], 3);
			check_mixture(200, 20, shrinks[s], scales[k], 4);
		}
	}
}

/* A few sources of many features ask for little memory, with and without shrink. */
static void
test_memory(void)
{
	WmlcWeighting weighting = {.rule = WMLC_MIXTURE};

	for (int i = 0; i < 2; i++)
	{
		size_t		bytes = wmlc_weigh_workspace(&weighting, 3, wmlc_embedding_dims(WMLC_SQUARE, 1000));

		CHECK(bytes < 100000000, "shrink %g: %zu bytes", weighting.shrink, bytes);
		weighting.shrink = 1.0;
	}
}

/* What suffices for many candidates suffices for fewer, and for fewer dims. */
static void
test_enough_for_fewer(void)
{
	WmlcWeighting weighting = {.rule = WMLC_MIXTURE};

	for (int i = 0; i < 2; i++)
	{
		for (size_t count = 1; count < 40; count++)
		{
			for (size_t dims = 1; dims < 60; dims++)
			{
				size_t		bytes = wmlc_weigh_workspace(&weighting, count, dims);

				CHECK(bytes <= wmlc_weigh_workspace(&weighting, count + 1, dims) &&
					  bytes <= wmlc_weigh_workspace(&weighting, count, dims + 1),
					  "shrink %g: %zu x %zu", weighting.shrink, count, dims);
			}
		}
		weighting.shrink = 1.0;
	}
}

/* Points that are equal, or zero, or depend on each other. */
static void
test_reduced_degenerate(void)
{
	double		points[4 * 50] = {0.0};
	double		alpha[4];
	WmlcWeighting weighting = {.rule = WMLC_MIXTURE, .shrink = 2.0};
	WmlcCandidates candidates = {.count = 4, .points = points, .dims = 50, .stride = 50, .variance = 1.0};
	WmlcSimplexReport report;

	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK, "zero");
	for (int j = 0; j < 4; j++)
		CHECK_NEAR(alpha[j], 0.25, 1e-15);
	for (int j = 0; j < 4; j++)
		points[j * 50 + 7] = j < 2 ? 1.0 : 2.0;
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK, "dependent");
	CHECK(alpha[0] == alpha[1] && alpha[2] == alpha[3] && alpha[0] > alpha[2], "%g %g %g %g",
		  alpha[0], alpha[1], alpha[2], alpha[3]);
	points[7] = INFINITY;
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_NOT_FINITE, "infinite");
}

static void
test_unknown_variance(void)
{
	double		points[3] = {1.0, 2.0, -1.0};
	double		alpha[3];
	double		other[3] = {0.5, 0.25, 0.25};
	WmlcWeighting weighting = {.rule = WMLC_MIXTURE, .shrink = 1.0};
	WmlcCandidates candidates = {.count = 3, .points = points, .dims = 1, .stride = 1, .variance = NAN};
	WmlcSimplexReport report;

	for (int i = 0; i < 2; i++)
	{
		CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK, "variance %g", candidates.variance);
		CHECK(alpha[0] == 1.0 / 3.0 && alpha[1] == alpha[0] && alpha[2] == alpha[0], "not equal");
		CHECK(gap_of(&weighting, &candidates, alpha) == 0.0, "the best there are");
		CHECK(isinf(gap_of(&weighting, &candidates, other)), "not the best");
		candidates.variance = 1e308;
		weighting.shrink = 1e10;
	}
	weighting.shrink = 0.0;
	candidates.variance = NAN;
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK &&
		  fabs(alpha[0] * 1.0 + alpha[1] * 2.0 - alpha[2]) < 1e-15, "no variance needed");
}

static void
test_closest(void)
{
	double		points[8] = {1e200, 1e200, 3e199, -3e199, 1e308, 1e308, 3e199, 3e199};
	double		distances[3] = {INFINITY, 2.0, INFINITY};
	double		alpha[4];
	WmlcWeighting weighting = {.rule = WMLC_CLOSEST};
	WmlcCandidates candidates = {.count = 4, .points = points, .dims = 2, .stride = 2};
	WmlcSimplexReport report;

	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK, "large");
	CHECK(alpha[0] == 0.0 && alpha[1] == 1.0 && alpha[2] == 0.0 && alpha[3] == 0.0, "the first of equals");
	candidates.distances = distances;
	candidates.count = 3;
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK && alpha[1] == 1.0, "one is finite");
	distances[1] = INFINITY;
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_NOT_FINITE, "nobody knows");
}

static void
test_sizes(void)
{
	double		sizes[3] = {1.5e308, 1.5e308, 0.75e308};
	double		alpha[3];
	WmlcWeighting weighting = {.rule = WMLC_POOLED};
	WmlcCandidates candidates = {.count = 3, .sizes = sizes};
	WmlcSimplexReport report;

	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK, "pooled");
	CHECK_NEAR(alpha[0], 0.4, 1e-15);
	CHECK_NEAR(alpha[2], 0.2, 1e-15);
	weighting.rule = WMLC_UNIFORM;
	CHECK(weigh(&weighting, &candidates, alpha, &report) == WMLC_OK && alpha[2] == 1.0 / 3.0, "uniform");
}

enum
{
	TASKS = 7, D = 3
};

/* Tasks, the target last. */
static void
make_grams(WmlcGram **grams)
{
	uint64_t	seed = 9;

	for (int j = 0; j <= TASKS; j++)
	{
		double		row[D + 1 + WMLC_ROW_PADDING] = {0.0};

		grams[j] = malloc(wmlc_gram_bytes(D));
		wmlc_gram_init(grams[j], D);
		for (int i = 0; i < 5 + j; i++)
		{
			for (int k = 0; k <= D; k++)
				row[k] = check_normal(&seed) + 0.2 * j;
			wmlc_gram_add_row(grams[j], row, 1.0);
		}
	}
}

/* What is kept of a source, whitened before it is rounded or after. */
static void
check_whitened(WmlcGram **grams, const WmlcWhitener *whitener, WmlcRule rule, WmlcLoss loss)
{
	WmlcWeighting weighting = {.rule = rule, .loss = loss, .whiten = true};
	WmlcWeighting plain_weighting = {.rule = WMLC_MIXTURE, .loss = loss};
	void	   *work = malloc(wmlc_weigher_workspace(&weighting, D));
	void	   *plain_work = malloc(wmlc_weigher_workspace(&plain_weighting, D));
	WmlcWeigher weigher,
				plain;
	double		kept[10],
				again[10];

	CHECK(wmlc_weigher_create(&weigher, &weighting, grams[TASKS], whitener, work, NULL) == WMLC_OK &&
		  wmlc_weigher_create(&plain, &plain_weighting, grams[TASKS], NULL, plain_work, NULL) == WMLC_OK,
		  "create");
	CHECK(weigher.width <= plain.width, "%zu numbers from %zu", weigher.width, plain.width);
	for (int j = 0; j <= TASKS; j++)
	{
		CHECK(wmlc_weigher_keep(&weigher, grams[j], kept) == WMLC_OK &&
			  wmlc_weigher_keep(&plain, grams[j], again) == WMLC_OK &&
			  wmlc_weigher_keep_point(&weigher, again, again) == WMLC_OK, "keep");
		for (size_t k = 0; k < weigher.width; k++)
			CHECK_NEAR(again[k], kept[k], 1e-13);
	}
	free(work);
	free(plain_work);
}

static void
test_whitened(void)
{
	WmlcGram   *grams[TASKS + 1];
	WmlcGram   *pooled = malloc(wmlc_gram_bytes(D));
	void	   *work = malloc(wmlc_whitener_workspace(D));

	make_grams(grams);
	wmlc_gram_init(pooled, D);
	for (int j = 0; j < TASKS; j++)
		wmlc_gram_merge(pooled, grams[j]);
	for (int loss = WMLC_SQUARE; loss <= WMLC_HINGE; loss++)
	{
		WmlcWhitener whitener;

		CHECK(wmlc_whitener_create(&whitener, pooled, loss, work, NULL) == WMLC_OK, "loss %d", loss);
		check_whitened(grams, &whitener, WMLC_MIXTURE, loss);
		check_whitened(grams, &whitener, WMLC_CLOSEST, loss);
	}
	for (int j = 0; j <= TASKS; j++)
		free(grams[j]);
	free(pooled);
	free(work);
}

/* Weights of grams are those of their differences, sizes and distances. */
static void
test_weigher(void)
{
	WmlcGram   *grams[TASKS + 1];
	double		points[TASKS * 10];
	double		sizes[TASKS];
	double		kept[TASKS * 10];
	WmlcEmbeddingFrame frame;
	void	   *frame_work = malloc(wmlc_embedding_frame_workspace(D));

	make_grams(grams);
	wmlc_embedding_frame_create(&frame, WMLC_SQUARE, grams[TASKS], NULL, frame_work, NULL);
	for (int j = 0; j < TASKS; j++)
	{
		wmlc_difference(&frame, grams[j], points + 10 * j);
		sizes[j] = 5.0 + j;
	}
	for (int rule = 0; rule < WMLC_RULES; rule++)
	{
		WmlcWeighting weighting = {.rule = rule, .shrink = 1.5};
		WmlcCandidates ready = {.count = TASKS, .points = points, .dims = 10, .stride = 10, .sizes = sizes};
		WmlcCandidates candidates;
		WmlcWeigher weigher;
		WmlcSimplexReport report;
		void	   *work = malloc(wmlc_weigher_workspace(&weighting, D) + 1);
		double		alpha[TASKS];
		double		other[TASKS];

		wmlc_sampling_variance(&frame, &ready.variance);
		CHECK(weigh(&weighting, &ready, alpha, &report) == WMLC_OK, "rule %d", rule);
		CHECK(wmlc_weigher_create(&weigher, &weighting, grams[TASKS], NULL, work, NULL) == WMLC_OK,
			  "rule %d", rule);
		for (int j = 0; j < TASKS; j++)
			CHECK(wmlc_weigher_keep(&weigher, grams[j], kept + j * weigher.width) == WMLC_OK, "keep");
		candidates = wmlc_weigher_candidates(&weigher, kept, TASKS);
		CHECK(weigh(&weighting, &candidates, other, &report) == WMLC_OK, "rule %d", rule);
		CHECK(memcmp(alpha, other, sizeof(alpha)) == 0, "rule %d: weights differ", rule);
		free(work);
	}
	for (int j = 0; j <= TASKS; j++)
		free(grams[j]);
	free(frame_work);
}

int
main(void)
{
	test_mixture();
	test_memory();
	test_enough_for_fewer();
	test_reduced_degenerate();
	test_unknown_variance();
	test_closest();
	test_sizes();
	test_weigher();
	test_whitened();
	return check_summary();
}
