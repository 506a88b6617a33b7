/*
 * test_glm.c
 *	  Generalised linear models: the score is zero at the fit, with Firth's penalty
 *	  and without, whatever the family; separation is told from its likes.
 */
#include <stdlib.h>

#include "check.h"
#include "core/glm/glm.h"

#define ROWS 200
#define DIMS 3

static double x[ROWS * DIMS];
static double y[ROWS];
static double exposure[ROWS];
static double weight[ROWS];

static void
make_rows(WmlcFamily family, uint64_t seed)
{
	for (int i = 0; i < ROWS; i++)
	{
		double		eta = 0.0;

		for (int k = 0; k < DIMS; k++)
		{
			x[i * DIMS + k] = k == 0 ? 1.0 : check_normal(&seed);
			eta += x[i * DIMS + k] * (0.3 + 0.2 * k);
		}
		exposure[i] = 1.0 + floor(3.0 * check_random(&seed));
		weight[i] = 0.5 + check_random(&seed);
		y[i] = floor(exposure[i] * exp(eta) * 2.0 * check_random(&seed));
		if (family == WMLC_BINOMIAL)
			y[i] = floor((exposure[i] + 1.0) * check_random(&seed));
	}
}

/* The largest entry of sum (score + leverage pull) x - ridge w. */
static double
largest_score(const WmlcGlmRows *rows, WmlcLikelihood likelihood, const WmlcGlm *model, double ridge)
{
	double		score[DIMS] = {0.0},
				largest = 0.0;

	for (size_t i = 0; i < rows->count; i++)
	{
		WmlcResponse response = wmlc_glm_response(rows, i);
		WmlcLocal	local = wmlc_likelihood_local(&likelihood, &response,
												  wmlc_predictor(DIMS, rows->x + i * DIMS, model->coef));

		for (int k = 0; k < DIMS; k++)
			score[k] += response.weight * local.score * rows->x[i * DIMS + k];
	}
	for (int k = 0; k < DIMS; k++)
		largest = fmax(largest, fabs(score[k] - ridge * model->coef[k]));
	return largest;
}

/* log-likelihood + log |X'VX| / 2 for two features */
static double
penalised(const WmlcGlmRows *rows, WmlcLikelihood likelihood, const double *w)
{
	double		a = 0.0,
				b = 0.0,
				c = 0.0,
				sum = 0.0;

	for (size_t i = 0; i < rows->count; i++)
	{
		const double *z = rows->x + i * 2;
		WmlcResponse response = wmlc_glm_response(rows, i);
		double		eta = wmlc_predictor(2, z, w);
		double		v = response.weight * wmlc_likelihood_local(&likelihood, &response, eta).information;

		sum += response.weight * wmlc_likelihood_shape(&likelihood, &response, eta);
		a += v * z[0] * z[0];
		b += v * z[0] * z[1];
		c += v * z[1] * z[1];
	}
	return sum + 0.5 * log(a * c - b * b);
}

static void
test_score(void)
{
	double		coef[DIMS],
				std_error[DIMS];
	WmlcGlm		model = {.coef = coef, .std_error = std_error};
	void	   *work = malloc(wmlc_glm_workspace(DIMS));
	WmlcGlmRows rows = {.dims = DIMS, .count = ROWS, .x = x, .y = y, .exposure = exposure, .weight = weight};

	for (int family = WMLC_GAUSSIAN; family < WMLC_FAMILIES; family++)
		for (int ridge = 0; ridge < 2; ridge++)
		{
			WmlcGlmOptions options = {.likelihood = {family, family == WMLC_NEGATIVE_BINOMIAL ? 0.7 : 0.0}, .ridge = ridge};

			make_rows(family, 7 + family);
			CHECK(wmlc_glm_fit(&rows, &options, &model, work) == WMLC_OK, "family %d", family);
			CHECK(model.converged && !model.separated && model.rank == DIMS, "family %d", family);
			CHECK_NEAR(largest_score(&rows, options.likelihood, &model, ridge), 0.0, 1e-9);
		}
	free(work);
}

/* The likelihood is stationary in the dispersion, too. */
static void
test_dispersion(void)
{
	double		coef[DIMS],
				std_error[DIMS],
				at[2];
	WmlcGlm		model = {.coef = coef, .std_error = std_error};
	WmlcGlmOptions options = {.likelihood = {WMLC_NEGATIVE_BINOMIAL, NAN}, .find_dispersion = true};
	WmlcGlmRows rows = {.dims = DIMS, .count = ROWS, .x = x, .y = y, .exposure = exposure};
	void	   *work = malloc(wmlc_glm_workspace(DIMS));

	make_rows(WMLC_NEGATIVE_BINOMIAL, 3);
	CHECK(wmlc_glm_fit(&rows, &options, &model, work) == WMLC_OK && model.converged, "fit");
	CHECK_NEAR(largest_score(&rows, (WmlcLikelihood) {WMLC_NEGATIVE_BINOMIAL, model.dispersion}, &model, 0.0), 0.0, 1e-8);
	for (int side = 0; side < 2; side++)
	{
		WmlcLikelihood likelihood = {WMLC_NEGATIVE_BINOMIAL, model.dispersion * (side == 0 ? 0.99 : 1.01)};

		at[side] = 0.0;
		for (int i = 0; i < ROWS; i++)
		{
			WmlcResponse response = wmlc_glm_response(&rows, i);

			at[side] += wmlc_likelihood_shape(&likelihood, &response, wmlc_predictor(DIMS, x + i * DIMS, coef))
				+ wmlc_likelihood_constant(&likelihood, &response);
		}
		CHECK(at[side] < model.loglik, "%.12g is not below %.12g", at[side], model.loglik);
	}
	CHECK_NEAR(at[0], at[1], 1e-4);
	free(work);
}

/* Perfectly told apart; under the penalty the fit is where it is largest. */
static void
test_separation(void)
{
	double		z[24],
				classes[12],
				coef[2],
				std_error[2];
	WmlcGlm		model = {.coef = coef, .std_error = std_error};
	WmlcGlmRows rows = {.dims = 2, .count = 12, .x = z, .y = classes};
	void	   *work = malloc(wmlc_glm_workspace(2));

	for (int family = WMLC_BINOMIAL; family <= WMLC_POISSON; family++)
	{
		WmlcGlmOptions options = {.likelihood = {family, 0.0}};
		double		best;

		for (int i = 0; i < 12; i++)
		{
			z[2 * i] = 1.0;
			z[2 * i + 1] = family == WMLC_POISSON ? i < 5 : 0.1 * i;
			classes[i] = i >= 5;
		}
		CHECK(wmlc_glm_fit(&rows, &options, &model, work) == WMLC_OK, "fit");
		CHECK(model.converged && model.separated, "family %d: %d %d", family, model.converged, model.separated);
		best = penalised(&rows, options.likelihood, coef);
		for (int k = 0; k < 2; k++)
			for (double move = -1e-3; move <= 1e-3; move += 2e-3)
			{
				double		other[2] = {coef[0], coef[1]};

				other[k] += move;
				CHECK(penalised(&rows, options.likelihood, other) < best, "feature %d, %g", k, move);
			}
	}

	/* one row on the wrong side, and it is not separated */
	for (int i = 0; i < 12; i++)
		z[2 * i + 1] = 0.1 * i;
	classes[2] = 1.0;
	CHECK(wmlc_glm_fit(&rows, &(WmlcGlmOptions) {.likelihood = {WMLC_BINOMIAL, 0.0}}, &model, work) == WMLC_OK, "fit");
	CHECK(model.converged && !model.separated, "not separated");
	free(work);
}

int
main(void)
{
	test_score();
	test_dispersion();
	test_separation();
	return check_summary();
}
