/*
 * test_model.c
 *	  The table of models: every row adds up, merges and fits; what its options
 *	  mean; and sums that no tasks can have are found out.
 */
#include "core/model/adapt.h"
#include "core/model/model.h"

#include "gram/gram_fixture.h"

#define D 3
#define TASKS 4

static WmlcGram *
task_gram(uint64_t *seed)
{
	Rows		rows = rows_new(D, 12);
	WmlcGram   *gram;

	for (int r = 0; r < rows.count; r++)
	{
		double	   *z = rows_at(&rows, r);

		for (int i = 0; i <= D; i++)
			z[i] = (check_random(seed) - 0.5) * 0.9;
	}
	gram = gram_of(&rows);
	rows_free(&rows);
	return gram;
}

static double *
new_sum(int kind)
{
	return calloc(wmlc_model_doubles(kind, D), sizeof(double));
}

/* All tasks in one sum, and in two that are merged, give the same model. */
static void
test_rows(void)
{
	uint64_t	seed = 11;
	WmlcGram   *grams[TASKS];

	for (int t = 0; t < TASKS; t++)
		grams[t] = task_gram(&seed);
	for (int kind = 0; kind < WMLC_MODELS; kind++)
	{
		WmlcModelOptions options = wmlc_default_options;
		void	   *work = malloc(wmlc_model_workspace(kind, D));
		double	   *whole = new_sum(kind);
		double	   *part[2] = {new_sum(kind), new_sum(kind)};
		double		w[D],
					v[D];

		options.steps = 4;
		for (int t = 0; t < TASKS; t++)
		{
			CHECK(wmlc_model_add(kind, &options, grams[t], 1.0 + t, whole, work, NULL) == WMLC_OK, "add");
			CHECK(wmlc_model_add(kind, &options, grams[t], 1.0 + t, part[t % 2], work, NULL) == WMLC_OK, "add");
		}
		CHECK(wmlc_model_alpha(whole) == 10.0, "%s: alpha", wmlc_word(&wmlc_model_words, kind));
		CHECK(wmlc_model_merge(kind, D, part[0], part[1], work, NULL) == WMLC_OK, "merge");
		CHECK(wmlc_model_is_finite(kind, D, whole) && wmlc_model_invalid(kind, D, whole) == NULL, "valid");
		CHECK(wmlc_model_fit(kind, &options, D, whole, w, work, NULL) == WMLC_OK, "fit");
		CHECK(wmlc_model_fit(kind, &options, D, part[0], v, work, NULL) == WMLC_OK, "fit");
		for (int i = 0; i < D; i++)
			CHECK(fabs(w[i] - v[i]) <= 1e-13 * fabs(w[i]), "%s: %g %g", wmlc_word(&wmlc_model_words, kind), w[i], v[i]);
		free(whole);
		free(part[0]);
		free(part[1]);
		free(work);
	}
	for (int t = 0; t < TASKS; t++)
		free(grams[t]);
}

/* A share of the largest stable step is that step; of the way to the ball's edge, that way. */
static void
test_share(void)
{
	uint64_t	seed = 12;
	WmlcGram   *gram = task_gram(&seed);
	void	   *adapt_work = malloc(wmlc_adapt_workspace(D));
	double		stable;

	CHECK(wmlc_largest_stable_eta(gram, &stable, adapt_work) == WMLC_OK, "stable");
	for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
	{
		WmlcModelOptions options[2] = {wmlc_default_options, wmlc_default_options};
		void	   *work = malloc(wmlc_model_workspace(kind, D));
		double		w[2][D];

		for (int i = 0; i < 2; i++)
		{
			double	   *sum = new_sum(kind);

			options[i].steps = 3;
			options[i].ridge = 0.01;
			options[i].share = i == 0 ? 0.2 : 0.0;
			options[i].eta = i == 0 ? 0.0 : 0.2 * stable;
			CHECK(wmlc_model_add(kind, &options[i], gram, 1.0, sum, work, NULL) == WMLC_OK, "add");
			CHECK(wmlc_model_fit(kind, &options[i], D, sum, w[i], work, NULL) == WMLC_OK, "fit");
			free(sum);
		}
		for (int i = 0; i < D; i++)
			CHECK(fabs(w[0][i] - w[1][i]) <= 1e-12 * fabs(w[0][i]), "%g %g", w[0][i], w[1][i]);
		free(work);
	}
	{
		WmlcModelOptions options = wmlc_default_options;
		double	   *sum = new_sum(WMLC_MODEL_HINGE);
		double		w[D];
		double		square = 0.0;

		options.steps = 3;
		options.share = 0.1;
		options.radius = 2.0;
		CHECK(wmlc_model_add(WMLC_MODEL_HINGE_MAML, &options, gram, 1.0, sum, NULL, NULL) == WMLC_OK, "add");
		CHECK(wmlc_model_fit(WMLC_MODEL_HINGE_MAML, &options, D, sum, w, NULL, NULL) == WMLC_OK, "fit");
		for (int i = 0; i < D; i++)
			square += w[i] * w[i];
		CHECK_NEAR(sqrt(square), 0.6, 1e-15);
		free(sum);
	}
	free(gram);
	free(adapt_work);
}

/* Flags and counts that do not fit the model. */
static void
test_invalid(void)
{
	for (int kind = 0; kind < WMLC_MODELS; kind++)
	{
		bool		quadratic = !wmlc_model_is_hinge(kind);
		size_t		doubles = wmlc_model_doubles(kind, D);
		double	   *sum = new_sum(kind);

		CHECK(wmlc_model_invalid(kind, D, sum) == NULL, "the empty sum is valid");
		for (size_t i = 0; i < doubles; i++)
		{
			sum[i] = i % 2 == 0 ? NAN : INFINITY;
			CHECK(!wmlc_model_is_finite(kind, D, sum), "%zu", i);
			sum[i] = 0.0;
		}
		sum[0] = -1.0;
		CHECK(wmlc_model_invalid(kind, D, sum) != NULL, "negative weight");
		sum[0] = 1.0;
		for (int flag = 3; flag <= 4 && quadratic; flag++)
		{
			bool		has = kind == WMLC_FOMAML || kind == WMLC_REPTILE || (kind == WMLC_MAML && flag == 4);

			sum[flag] = 0.5;
			CHECK(wmlc_model_invalid(kind, D, sum) != NULL, "no flag");
			sum[flag] = 1.0;

			/* equations have a scale */
			CHECK((wmlc_model_invalid(kind, D, sum) == NULL) == (has && flag == 3), "%s, flag %d", wmlc_word(&wmlc_model_words, kind), flag);
			sum[flag] = 0.0;
		}
		if (kind != WMLC_ERM && quadratic)
		{
			sum[doubles - 1] = 1.0;
			CHECK(wmlc_model_invalid(kind, D, sum) != NULL, "equations without the flag");
		}
		free(sum);
	}
}

int
main(void)
{
	test_rows();
	test_share();
	test_invalid();
	return check_summary();
}
