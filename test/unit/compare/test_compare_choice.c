/*
 * test_compare_choice.c
 *	  Which method is chosen: by hand where that is possible, by planting
 *	  better and worse methods where chance plays a part.
 */
#include "core/compare/compare_choice.h"

#include "compare/compare_fixture.h"

static const WmlcStanding all_candidates[64] = {WMLC_INCUMBENT, [1 ... 63] = WMLC_CANDIDATE};

/* Numbers small enough to follow: three methods, four folds, two rehearsals. */
static void
test_by_hand(void)
{
	const double fold_errors[] = {4, 1, 9, 5, 2, 1, 3, 2, 1, 6, 1, 1};
	const double shares[] = {0.25, 0.25, 0.25, 0.25};
	const double responses[] = {10, 10, 10, 10};
	const double rehearsal_errors[] = {2, 1, 4, 4, 2, 2};
	WmlcStanding standings[] = {WMLC_INCUMBENT, WMLC_CANDIDATE, WMLC_CANDIDATE};
	WmlcErrors	folds = {
		.trials = 4, .size = 8.0, .errors = fold_errors, .shares = shares, .responses = responses
	};
	WmlcErrors	rehearsals = {
		.trials = 2, .size = 2.0, .errors = rehearsal_errors, .responses = responses
	};
	WmlcErrors	none = {.trials = 0};
	WmlcVerdict verdicts[3];

	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, standings, verdicts) == 1, "the best in both");
	CHECK_NEAR(verdicts[0].rmse, sqrt(18.0 / 4.0), 1e-15);
	CHECK_NEAR(verdicts[0].spread, sqrt(5.0 / 3.0 / 4.0) / (2.0 * sqrt(4.5)), 1e-15);
	CHECK_NEAR(verdicts[1].rehearsal, sqrt(0.5), 1e-15);
	CHECK_NEAR(verdicts[2].rehearsal, 1.0, 1e-15);

	/* the leader is compared with itself: only its rehearsals count; 8 rows against 120 */
	CHECK_NEAR(verdicts[1].score, 120.0 / 128.0 * log(0.5), 1e-14);

	/* the baseline is compared with itself there, and is 3 times worse in the folds */
	CHECK_NEAR(verdicts[0].score, 8.0 / 128.0 * (log(3.0) + sqrt(80.0 / 81.0 / 16.0 * 4.0 / 3.0)), 1e-14);

	standings[1] = WMLC_BARRED;
	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, standings, verdicts) == 0,
		  "a method that is as good in rehearsals, and not clearly better in folds");
	standings[0] = standings[2] = WMLC_BARRED;
	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, standings, verdicts) == 0,
		  "the baseline is always eligible");
	CHECK(wmlc_choose(3, 0, &folds, &none, all_candidates, verdicts) == 1, "folds alone");
	CHECK(isnan(verdicts[1].rehearsal), "no rehearsal");
	CHECK_NEAR(verdicts[0].score, 0.0, 1e-15);
}

/* What beats the baseline must also be clearly better than a prior that beats it. */
static void
test_incumbent(void)
{
	const double fold_errors[] = {4, 1, 1, 5, 1, 1, 3, 1, 1};
	const double shares[] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
	const double responses[] = {10, 10, 10, 10};
	const double rehearsal_errors[] = {8, 2, 1.5, 8, 2, 2.5, 8, 2, 1.5, 8, 2, 2.4};
	const WmlcStanding prior[] = {WMLC_INCUMBENT, WMLC_INCUMBENT, WMLC_CANDIDATE};
	const WmlcStanding not_the_prior[] = {WMLC_INCUMBENT, WMLC_BARRED, WMLC_CANDIDATE};
	WmlcErrors	folds = {
		.trials = 3, .size = 3.0, .errors = fold_errors, .shares = shares, .responses = responses
	};
	WmlcErrors	rehearsals = {
		.trials = 4, .size = 4.0, .errors = rehearsal_errors, .responses = responses
	};
	WmlcVerdict verdicts[3];

	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, prior, verdicts) == 1, "the prior");
	CHECK(verdicts[2].rehearsal < verdicts[1].rehearsal, "by luck another is a little better");
	CHECK_NEAR(verdicts[1].rehearsal, 0.5, 1e-15);
	CHECK_NEAR(verdicts[1].score, 0.0, 1e-15);
	CHECK(verdicts[0].score > 1.0, "the baseline is not: %g", verdicts[0].score);
	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, not_the_prior, verdicts) == 2,
		  "a prior that may not be chosen");
}

/* By how much a method must be better in rehearsals: two standard errors of the mean log ratio. */
static void
test_caution(void)
{
	enum
	{
		Q = 9
	};
	const double responses[Q] = {[0 ... Q - 1] = 10.0};
	const WmlcErrors none = {.trials = 0};
	WmlcVerdict verdicts[2];
	double		errors[Q * 2];
	WmlcErrors	rehearsals = {.trials = Q, .size = Q, .errors = errors, .responses = responses};

	/* log ratios with mean `better` and standard deviation 0.3: a standard error of 0.1 */
	for (int k = 15; k <= 25; k++)
	{
		double		better = -0.01 * k;

		for (int i = 0; i < Q; i++)
		{
			errors[i * 2] = 1.0 + i;
			errors[i * 2 + 1] = (1.0 + i) * exp(better + (i - 4) * 0.3 / sqrt(7.5));
		}
		CHECK(wmlc_choose(2, 0, &none, &rehearsals, all_candidates, verdicts) == (k > 20), "better by %g", better);
		CHECK_NEAR(verdicts[1].score, better + 0.2, 1e-14);
	}

	/* three quarters of one where rows are made up */
	rehearsals.made_up = true;
	CHECK(wmlc_choose(2, 0, &none, &rehearsals, all_candidates, verdicts) == 1, "made up");
	CHECK_NEAR(verdicts[1].score, -0.25 + 0.075, 1e-14);
}

/* A refinement must be clearly better than the best of the others, not than the incumbent. */
static void
test_refinement(void)
{
	const WmlcStanding standings[] = {WMLC_INCUMBENT, WMLC_CANDIDATE, WMLC_REFINEMENT};
	const double responses[] = {10, 10, 10, 10};
	const double by_luck[] = {8, 2, 1.5, 8, 2, 2.5, 8, 2, 1.5, 8, 2, 2.4};
	const double clearly[] = {8, 2, 1.5, 8, 2, 1.6, 8, 2, 1.5, 8, 2, 1.6};
	const WmlcErrors none = {.trials = 0};
	WmlcErrors	rehearsals = {.trials = 4, .size = 4.0, .errors = by_luck, .responses = responses};
	WmlcVerdict verdicts[3];

	CHECK(wmlc_choose(3, 0, &none, &rehearsals, standings, verdicts) == 1, "not a refinement by luck");
	CHECK_NEAR(verdicts[1].score, log(0.25), 1e-14);
	CHECK(verdicts[2].rehearsal < verdicts[1].rehearsal, "though it is a little better");
	CHECK(wmlc_choose(3, 0, &none, &rehearsals, all_candidates, verdicts) == 1, "nor as a candidate");
	rehearsals.errors = clearly;
	CHECK(wmlc_choose(3, 0, &none, &rehearsals, standings, verdicts) == 2, "a refinement that is better");
	CHECK(verdicts[2].score < verdicts[1].score, "%g and %g", verdicts[2].score, verdicts[1].score);
}

/* Of methods that are as good as equal the first one, whatever rounding says. */
static void
test_equal(void)
{
	const double responses[] = {10, 10, 10};
	const WmlcErrors none = {.trials = 0};
	double		errors[] = {8, 2, 1.9999, 8, 3, 2.9999, 8, 4, 3.9998};
	WmlcErrors	rehearsals = {.trials = 3, .size = 3.0, .errors = errors, .responses = responses};
	WmlcVerdict verdicts[3];

	CHECK(wmlc_choose(3, 0, &none, &rehearsals, all_candidates, verdicts) == 1, "the first");
	CHECK(verdicts[2].score < verdicts[1].score, "though the second is better by a hair");
	errors[2] = 1.98;
	errors[5] = 2.97;
	errors[8] = 3.96;
	CHECK(wmlc_choose(3, 0, &none, &rehearsals, all_candidates, verdicts) == 2, "one per cent is no hair");
}

/* Six tasks of zeros, which the second method hits exactly, do not outweigh twenty real ones. */
static void
test_zeros(void)
{
	enum
	{
		Q = 26,
		ZEROS = 6
	};
	double		responses[Q];
	double		errors[Q * 3];
	const WmlcErrors none = {.trials = 0};
	WmlcErrors	rehearsals = {.trials = Q, .size = Q, .errors = errors, .responses = responses};
	WmlcVerdict verdicts[3];

	for (int i = 0; i < Q; i++)
	{
		bool		zero = i < ZEROS;

		responses[i] = zero ? 0.0 : 10.0;
		errors[i * 3] = zero ? 0.01 : 4.0 + i;
		errors[i * 3 + 1] = zero ? 0.0 : 4.0 + i;
		errors[i * 3 + 2] = zero ? 0.01 : 0.5 * (4.0 + i);
	}
	CHECK(wmlc_choose(3, 0, &none, &rehearsals, all_candidates, verdicts) == 1, "zeros decide");
	rehearsals = wmlc_rehearsal_errors(3, Q, Q, errors, responses, NULL, false);
	CHECK_NEAR(rehearsals.immaterial, 1e-3 * 0.5 * (20 * 4.0 + (6 + 25) * 10) / Q, 1e-12);
	CHECK(wmlc_choose(3, 0, &none, &rehearsals, all_candidates, verdicts) == 2, "zeros no longer decide");
	CHECK(verdicts[1].rehearsal > 0.9, "and the other is hardly better for them: %g", verdicts[1].rehearsal);

	/* a trial that all failed tells nothing */
	errors[0] = errors[1] = errors[2] = INFINITY;
	rehearsals = wmlc_rehearsal_errors(3, Q, Q, errors, responses, NULL, false);
	CHECK_NEAR(rehearsals.immaterial, 1e-3 * 0.5 * (20 * 4.0 + (6 + 25) * 10) / Q, 1e-12);
}

/* The second method suits small tasks and the third one large ones, of which there are fewer. */
static void
test_likeness(void)
{
	enum
	{
		Q = 30,
		LARGE = 10
	};
	const WmlcErrors none = {.trials = 0};
	double		responses[Q];
	double		errors[Q * 3];
	double		likeness[Q];
	WmlcVerdict verdicts[3];

	for (int size = 0; size < 2; size++)
	{
		for (int i = 0; i < Q; i++)
		{
			bool		large = i < LARGE;
			double		error = (large ? 100.0 : 1.0) * (1.0 + 0.01 * i);

			responses[i] = 10.0 * error;
			errors[i * 3] = error;
			errors[i * 3 + 1] = error * (large ? 0.9 : 0.6);
			errors[i * 3 + 2] = error * (large ? 0.75 : 0.8);
			likeness[i] = wmlc_likeness(size == 1 ? 1200.0 : 12.0, responses[i]);
			CHECK(likeness[i] > 0.0 && likeness[i] <= 1.0 && (likeness[i] > 0.5) == (large == (size == 1)),
				  "likeness %g", likeness[i]);
		}
		for (int alike = 0; alike < 2; alike++)
		{
			WmlcErrors	rehearsals = wmlc_rehearsal_errors(3, Q, Q, errors, responses, alike ? NULL : likeness, false);
			int			chosen = wmlc_choose(3, 0, &none, &rehearsals, all_candidates, verdicts);

			CHECK(chosen == (alike || size == 0 ? 1 : 2), "method %d for size %d", chosen, size);
			CHECK_NEAR(verdicts[1].rehearsal, sqrt(exp((10 * log(0.9) + 20 * log(0.6)) / 30)), 1e-12);
		}
	}
	CHECK_NEAR(wmlc_likeness(4.0, 1.0), 0.5, 1e-12);
	CHECK_NEAR(wmlc_likeness(1.0, 4.0), 0.5, 1e-12);
	CHECK(wmlc_likeness(0.0, 0.0) == 1.0 && wmlc_likeness(0.0, 1.0) > 0.0, "zeros");
}

/* A barred baseline is what others are compared with, and chosen only for want of others. */
static void
test_barred_baseline(void)
{
	const double errors[] = {
		1.0, 3.0, 2.0,
		1.0, 3.0, 2.0,
		1.0, 3.0, 2.0
	};
	const double failures[] = {
		1.0, INFINITY, INFINITY,
		1.0, INFINITY, INFINITY,
		1.0, INFINITY, INFINITY
	};
	const double responses[] = {1.0, 1.0, 1.0};
	const WmlcStanding barred[] = {WMLC_BARRED, WMLC_CANDIDATE, WMLC_INCUMBENT};
	const WmlcErrors none = {.trials = 0};
	WmlcErrors	rehearsals = wmlc_rehearsal_errors(3, 3, 3.0, errors, responses, NULL, false);
	WmlcVerdict verdicts[3];

	CHECK(wmlc_choose(3, 0, &none, &rehearsals, barred, verdicts) == 2, "the best that is not barred");
	CHECK_NEAR(verdicts[2].rehearsal, sqrt(2.0), 1e-12);
	rehearsals = wmlc_rehearsal_errors(3, 3, 3.0, failures, responses, NULL, false);
	CHECK(wmlc_choose(3, 0, &none, &rehearsals, barred, verdicts) == 0, "all others failed");
}

/* Failures and perfection have no logarithms. */
static void
test_extreme_errors(void)
{
	const double fold_errors[] = {1, INFINITY, 0, 1, 1, 0};
	const double shares[] = {0.5, 0.5};
	const double responses[] = {10, 10};
	const double rehearsal_errors[] = {1, 0.1, 0, 1, 0.1, 0};
	WmlcStanding standings[] = {WMLC_INCUMBENT, WMLC_CANDIDATE, WMLC_CANDIDATE};
	WmlcErrors	folds = {
		.trials = 2, .size = 2.0, .errors = fold_errors, .shares = shares, .responses = responses
	};
	WmlcErrors	rehearsals = {
		.trials = 2, .size = 2.0, .errors = rehearsal_errors, .responses = responses
	};
	WmlcVerdict verdicts[3];

	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, standings, verdicts) == 2, "perfection");
	CHECK(isinf(verdicts[1].rmse) && isinf(verdicts[1].spread), "failure");
	CHECK(verdicts[2].rmse == 0.0 && verdicts[2].spread == 0.0, "perfection");
	CHECK(isfinite(verdicts[2].score), "a score for perfection");

	standings[2] = WMLC_BARRED;
	CHECK(wmlc_choose(3, 0, &folds, &rehearsals, standings, verdicts) == 0, "a failure");
	CHECK(isfinite(verdicts[0].score), "who fails cannot lead");
}

/*
 * Squared residuals of normal errors: `count` trials of methods whose mean squared
 * errors are scale times those given.  Trials share their luck, in part.
 */
static void
draw_errors(int methods, int count, const double *mean, double scale, double *errors, uint64_t *seed)
{
	for (int i = 0; i < count; i++)
	{
		double		common = check_normal(seed);

		for (int k = 0; k < methods; k++)
		{
			double		own = 0.8 * common + 0.6 * check_normal(seed);

			errors[i * methods + k] = scale * mean[k] * own * own;
		}
	}
}

/* Rehearsals are judged by all rows of their actor: some tasks are easier than others. */
static void
draw_rehearsals(int methods, int count, const double *mean, double *errors, uint64_t *seed)
{
	for (int i = 0; i < count; i++)
	{
		double		task = exp(0.3 * check_normal(seed));

		for (int k = 0; k < methods; k++)
			errors[i * methods + k] = mean[k] * task * exp(0.2 * check_normal(seed));
	}
}

#define METHODS 40
#define ROWS 10
#define REHEARSALS 32

/*
 * How often each of 40 methods is chosen for 400 targets with ten rows, given
 * their true errors on targets, on sources, and how much worse the targets are.
 */
static void
choose_often(const double *target, const double *sources, double scale, int *counts)
{
	uint64_t	seed = 99;
	double		shares[ROWS];
	double		responses[REHEARSALS];
	double		fold_errors[ROWS * METHODS];
	double		rehearsal_errors[REHEARSALS * METHODS];
	WmlcErrors	folds = {
		.trials = ROWS, .size = ROWS, .errors = fold_errors, .shares = shares,
		.responses = responses
	};
	WmlcErrors	rehearsals = {
		.trials = REHEARSALS, .size = REHEARSALS, .errors = rehearsal_errors,
		.responses = responses
	};
	WmlcVerdict verdicts[METHODS];

	memset(counts, 0, METHODS * sizeof(int));
	for (int i = 0; i < REHEARSALS; i++)
		responses[i] = 10.0;
	for (int i = 0; i < ROWS; i++)
		shares[i] = 1.0 / ROWS;
	for (int i = 0; i < 400; i++)
	{
		draw_errors(METHODS, ROWS, target, scale, fold_errors, &seed);
		draw_rehearsals(METHODS, REHEARSALS, sources, rehearsal_errors, &seed);
		counts[wmlc_choose(METHODS, 0, &folds, &rehearsals, all_candidates, verdicts)]++;
	}
}

static void
test_planted(void)
{
	double		equal[METHODS];
	double		one_better[METHODS];
	double		other_better[METHODS];
	int			counts[METHODS];

	for (int k = 0; k < METHODS; k++)
		equal[k] = one_better[k] = other_better[k] = 1.0;
	one_better[7] = 0.6;
	other_better[31] = 0.02;

	/* better on sources and target: found although forty compete for ten rows */
	choose_often(one_better, one_better, 1.0, counts);
	CHECK(counts[7] > 360, "the best method was chosen %d times", counts[7]);

	/* nobody is better: the baseline stays more often than any other */
	choose_often(equal, equal, 1.0, counts);
	for (int k = 1; k < METHODS; k++)
		CHECK(counts[k] < counts[0], "method %d instead of the baseline", k);

	/*
	 * A target unlike the sources: what was best there is no guide, and a method
	 * that is much better on the target is found.
	 */
	choose_often(other_better, one_better, 40.0, counts);
	CHECK(counts[31] > 360, "on a strange target the best method was chosen %d times", counts[31]);
}

/* More rows of the target count more. */
static void
test_rows(void)
{
	const double fold_errors[] = {1.0, 1.3, 1.0, 1.3, 1.0, 1.3};
	const double shares[] = {0.3, 0.3, 0.4};
	const double responses[] = {10, 10, 10, 10};
	const double rehearsal_errors[] = {1.0, 0.8, 1.1, 0.88, 0.9, 0.72, 1.2, 0.96};
	WmlcErrors	folds = {
		.trials = 3, .errors = fold_errors, .shares = shares, .responses = responses
	};
	WmlcErrors	rehearsals = {
		.trials = 4, .size = 4.0, .errors = rehearsal_errors, .responses = responses
	};
	WmlcVerdict verdicts[2];

	folds.size = 5.0;
	CHECK(wmlc_choose(2, 0, &folds, &rehearsals, all_candidates, verdicts) == 1, "five rows");
	folds.size = 5000.0;
	CHECK(wmlc_choose(2, 0, &folds, &rehearsals, all_candidates, verdicts) == 0, "many rows");
}

/* Another order of folds and rehearsals, or of methods, changes nothing. */
static void
test_order(void)
{
	enum
	{
		K = 5, F = 6, Q = 8
	};
	uint64_t	seed = 5;
	const double mean[K] = {1.0, 0.9, 1.2, 0.7, 0.8};
	double		fold_errors[2][F * K];
	double		rehearsal_errors[2][Q * K];
	double		shares[2][F];
	double		responses[Q];
	WmlcVerdict verdicts[2][K];
	int			chosen[2];

	draw_errors(K, F, mean, 1.0, fold_errors[0], &seed);
	draw_rehearsals(K, Q, mean, rehearsal_errors[0], &seed);
	for (int i = 0; i < Q; i++)
		responses[i] = 10.0;
	for (int i = 0; i < F; i++)
		shares[1][F - 1 - i] = shares[0][i] = (i + 1) / 21.0;

	/* trials backwards; methods, but for the baseline, backwards too */
	for (int k = 0; k < K; k++)
	{
		int			to = k == 0 ? 0 : K - k;

		for (int i = 0; i < F; i++)
			fold_errors[1][(F - 1 - i) * K + to] = fold_errors[0][i * K + k];
		for (int i = 0; i < Q; i++)
			rehearsal_errors[1][(Q - 1 - i) * K + to] = rehearsal_errors[0][i * K + k];
	}
	for (int way = 0; way < 2; way++)
	{
		WmlcErrors	folds = {
			.trials = F, .size = F, .errors = fold_errors[way], .shares = shares[way],
			.responses = responses
		};
		WmlcErrors	rehearsals = {
			.trials = Q, .size = Q, .errors = rehearsal_errors[way], .responses = responses
		};

		chosen[way] = wmlc_choose(K, 0, &folds, &rehearsals, all_candidates, verdicts[way]);
	}
	CHECK(chosen[1] == (chosen[0] == 0 ? 0 : K - chosen[0]), "%d and %d", chosen[0], chosen[1]);
	for (int k = 0; k < K; k++)
	{
		int			to = k == 0 ? 0 : K - k;

		CHECK_NEAR(verdicts[1][to].rmse, verdicts[0][k].rmse, 1e-14);
		CHECK_NEAR(verdicts[1][to].spread, verdicts[0][k].spread, 1e-14);
		CHECK_NEAR(verdicts[1][to].rehearsal, verdicts[0][k].rehearsal, 1e-14);
		CHECK_NEAR(verdicts[1][to].score, verdicts[0][k].score, 1e-13);
	}
}

static void
test_plausible(void)
{
	const double w[] = {1.0, -2.0, 0.5};
	const double absurd[] = {1.0, -2.0, 500.0};
	const double broken[] = {1.0, NAN, 0.5};
	uint64_t	seed = 5;
	WmlcGram   *sources = task_gram(w, 3, 100, 1.0, &seed);
	WmlcGram   *target = task_gram(w, 3, 5, 1.0, &seed);

	CHECK(wmlc_is_plausible(sources, target, w), "the truth");
	CHECK(!wmlc_is_plausible(sources, target, absurd), "the absurd");
	CHECK(!wmlc_is_plausible(sources, target, broken), "NaN");
	free(sources);
	free(target);
}

/* Who meets further rehearsals: incumbents, the one chosen, and whoever is not clearly worse. */
static void
test_finalists(void)
{
	enum
	{
		K = 60, Q = 16
	};
	const WmlcErrors none = {.trials = 0};
	WmlcStanding standings[K] = {WMLC_INCUMBENT, WMLC_INCUMBENT, WMLC_BARRED, [3 ... K - 1] = WMLC_CANDIDATE};
	double		errors[Q * K];
	double		responses[Q];
	bool		finalists[K];
	WmlcErrors	rehearsals = {.trials = Q, .size = Q, .errors = errors, .responses = responses};
	WmlcVerdict verdicts[K];
	int			chosen;

	/* method 3 is the best; 4 is a little worse, but varies; 5 is clearly worse; 2 is barred; the rest hopeless */
	for (int i = 0; i < Q; i++)
	{
		const double own[] = {8.0, 4.0, 1.0, 1.0, i % 2 == 0 ? 0.8 : 1.4, 1.2};

		responses[i] = 10.0;
		for (int k = 0; k < K; k++)
			errors[i * K + k] = (1.0 + i) * (k < 6 ? own[k] : 3.0);
	}
	chosen = wmlc_choose(K, 0, &none, &rehearsals, standings, verdicts);
	CHECK(chosen == 3, "%d", chosen);
	CHECK(wmlc_find_finalists(K, 0, chosen, &rehearsals, standings, verdicts, finalists) == 4, "four");
	CHECK(finalists[0] && finalists[1] && !finalists[2] && finalists[3] && finalists[4] && !finalists[5],
		  "baseline, prior, the best and its rival");

	/* those that fail over the folds cannot win */
	verdicts[4].rmse = INFINITY;
	CHECK(wmlc_find_finalists(K, 0, chosen, &rehearsals, standings, verdicts, finalists) == 3, "three");
	CHECK(!finalists[4], "one that fails");

	/* of many that are alike a few will do, the best of them: the last; but one varies as the very last does */
	for (int i = 0; i < Q; i++)
	{
		for (int k = 3; k < K; k++)
			errors[i * K + k] = (1.0 + i) * ((7 * i + 5 * k) % 16 < 8 ? 0.5 : 2.0) * (1.0 + 2e-3 * (K - k));
	}
	chosen = wmlc_choose(K, 0, &none, &rehearsals, standings, verdicts);
	CHECK(wmlc_find_finalists(K, 0, chosen, &rehearsals, standings, verdicts, finalists) == 27, "few");
	CHECK(chosen == K - 1, "%d", chosen);
	for (int k = 3; k < K; k++)
		CHECK(finalists[k] == (k >= K - 26 && k != K - 17), "method %d", k);
}

/* A method that knows a feature from hardly any rows goes astray where others have it. */
static void
test_strays(void)
{
	const double w[] = {1.0, -2.0, 0.5};
	const double coefficients[] = {1.0, -2.0, 0.5, 1.0, -2.0, 4.5, 1.2, -2.1, 0.6, NAN, NAN, NAN};
	const double errors[] = {1.0, 1.0, 1.0, INFINITY, 1.5, 1.5, 1.5, INFINITY};
	const double fold_errors[] = {1.0, 1.0, 1.0, 1.0, 500.0, 1.0, 1.0, 1.0};
	const double shares[] = {0.5, 0.5};
	const double responses[] = {10.0, 10.0};
	const WmlcStanding free_all[] = {WMLC_INCUMBENT, WMLC_CANDIDATE, WMLC_REFINEMENT, WMLC_CANDIDATE};
	const double near[] = {1.0, 1.0, 1.0, INFINITY};
	const double far_off[] = {200.0, 1.0, 1.0, INFINITY};
	bool		misfits[4] = {false};
	WmlcFits	fits = {.target = near, .misfits = misfits};
	WmlcStanding standings[4];
	uint64_t	seed = 5;
	WmlcGram   *sources = task_gram(w, 3, 100, 1.0, &seed);
	const WmlcErrors none = {.trials = 0};
	WmlcErrors	folds = {
		.trials = 2, .size = 2.0, .errors = fold_errors, .shares = shares, .responses = responses
	};
	WmlcErrors	rehearsals = {
		.trials = 2, .size = 2.0, .errors = errors, .responses = responses, .made_up = true
	};

	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_strays(4, 0, &none, &rehearsals, &fits, sources, coefficients, standings);
	CHECK(standings[0] == WMLC_INCUMBENT && standings[2] == WMLC_REFINEMENT, "who stays near");
	CHECK(standings[1] == WMLC_BARRED, "who strays by 4 x, x about 2");

	/* where the incumbent itself errs that much over the folds, it is no measure */
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_strays(4, 0, &folds, &rehearsals, &fits, sources, coefficients, standings);
	CHECK(standings[1] == WMLC_CANDIDATE, "a strange target");

	/* nor where it errs that much on the known rows, or does not suit the target at all */
	fits.target = far_off;
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_strays(4, 0, &none, &rehearsals, &fits, sources, coefficients, standings);
	CHECK(standings[1] == WMLC_CANDIDATE, "an incumbent that errs on known rows");
	fits.target = near;
	misfits[0] = true;
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_strays(4, 0, &none, &rehearsals, &fits, sources, coefficients, standings);
	CHECK(standings[1] == WMLC_CANDIDATE, "an incumbent that does not suit");
	misfits[0] = false;

	/* real rows tell themselves */
	rehearsals.made_up = false;
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_strays(4, 0, &none, &rehearsals, &fits, sources, coefficients, standings);
	CHECK(memcmp(standings, free_all, sizeof(standings)) == 0, "forecasts");
	free(sources);
}

/* Who errs on the rows that a target knows as it did on no source's does not suit it. */
static void
test_misfits(void)
{
	enum
	{
		K = 4,
		TRIALS = 30
	};
	const WmlcStanding free_all[] = {WMLC_INCUMBENT, WMLC_INCUMBENT, WMLC_CANDIDATE, WMLC_BARRED};
	const double usual[] = {2.0, 2.0, 2.0, 2.0};
	const double odd[] = {400.0, 2.0, 400.0, 2.0};
	const double all_odd[] = {400.0, 400.0, 400.0, 2.0};
	const double exact[] = {400.0, 1e-9, 1.0, 2.0};
	double		errors[TRIALS * K],
				known[TRIALS * K],
				responses[TRIALS];
	bool		misfits[K];
	WmlcFits	fits = {.rehearsed = known, .target = usual, .misfits = misfits};
	WmlcErrors	rehearsals = {
		.trials = TRIALS, .size = TRIALS, .errors = errors, .responses = responses
	};
	WmlcStanding standings[K];

	for (int i = 0; i < TRIALS; i++)
	{
		responses[i] = 10.0;
		for (int k = 0; k < K; k++)
		{
			known[i * K + k] = exp(sin(1.0 + i));
			errors[i * K + k] = 2.0 * known[i * K + k];
		}
	}
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_misfits(K, &rehearsals, &fits, standings);
	CHECK(memcmp(standings, free_all, sizeof(standings)) == 0, "a target like any other");

	fits.target = odd;
	wmlc_bar_misfits(K, &rehearsals, &fits, standings);
	CHECK(misfits[0] && !misfits[1] && misfits[2], "who suits the target");
	CHECK(standings[0] == WMLC_BARRED && standings[1] == WMLC_INCUMBENT &&
		  standings[2] == WMLC_BARRED, "only who suits it competes");

	/* one that is barred does not count */
	fits.target = all_odd;
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_misfits(K, &rehearsals, &fits, standings);
	CHECK(memcmp(standings, free_all, sizeof(standings)) == 0 && misfits[0], "a target that suits nobody");

	/* a method that goes through the known rows of sources need not do so on the target */
	for (int i = 0; i < TRIALS; i++)
		known[i * K + 1] = known[i * K + 2] = 1e-20;
	fits.target = exact;
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_misfits(K, &rehearsals, &fits, standings);
	CHECK(misfits[0] && !misfits[1] && !misfits[2], "errors below those on unknown rows");

	/* without rehearsals nothing is usual */
	rehearsals.trials = 0;
	memcpy(standings, free_all, sizeof(standings));
	wmlc_bar_misfits(K, &rehearsals, &fits, standings);
	CHECK(memcmp(standings, free_all, sizeof(standings)) == 0 && !misfits[0], "no rehearsals");
}

int
main(void)
{
	test_misfits();
	test_finalists();
	test_strays();
	test_by_hand();
	test_incumbent();
	test_caution();
	test_refinement();
	test_equal();
	test_zeros();
	test_likeness();
	test_barred_baseline();
	test_extreme_errors();
	test_planted();
	test_rows();
	test_order();
	test_plausible();
	return check_summary();
}
