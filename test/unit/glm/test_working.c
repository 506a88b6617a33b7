/*
 * test_working.c
 *	  Families and working rows: derivatives against finite differences, and
 *	  working rows against what defines them, by brute-force integration.
 */
#include "check.h"
#include "core/glm/working.h"

static const struct
{
	WmlcLikelihood likelihood;
	WmlcResponse row;
}			cases[] = {
	{{WMLC_GAUSSIAN, 0}, {0.7, 1, 1}},
	{{WMLC_BINOMIAL, 0}, {0, 1, 1}},
	{{WMLC_BINOMIAL, 0}, {1, 1, 1}},
	{{WMLC_BINOMIAL, 0}, {3, 5, 1}},
	{{WMLC_BINOMIAL, 0}, {1, 1, 0.3}},
	{{WMLC_POISSON, 0}, {0, 1, 1}},
	{{WMLC_POISSON, 0}, {4, 2.5, 1}},
	{{WMLC_NEGATIVE_BINOMIAL, 0.8}, {0, 1, 1}},
	{{WMLC_NEGATIVE_BINOMIAL, 0.8}, {6, 2, 2}}
};

#define CASES ((int) (sizeof(cases) / sizeof(cases[0])))

static void
test_derivatives(void)
{
	for (int i = 0; i < CASES; i++)
	{
		const WmlcLikelihood *likelihood = &cases[i].likelihood;
		const WmlcResponse *row = &cases[i].row;

		for (double eta = -3.0; eta <= 3.0; eta += 0.7)
		{
			double		h = 1e-5;
			double		up = wmlc_likelihood_shape(likelihood, row, eta + h);
			double		down = wmlc_likelihood_shape(likelihood, row, eta - h);
			WmlcLocal	local = wmlc_likelihood_local(likelihood, row, eta);
			WmlcLocal	above = wmlc_likelihood_local(likelihood, row, eta + h);
			WmlcLocal	below = wmlc_likelihood_local(likelihood, row, eta - h);
			double		difference;

			CHECK_NEAR(local.score, (up - down) / (2 * h), 1e-8);
			CHECK_NEAR(local.curvature, (below.score - above.score) / (2 * h), 1e-8);
			CHECK(local.information > 0.0, "%g", local.information);

			/* the penalty is half of the logarithm of the information */
			if (likelihood->family != WMLC_GAUSSIAN)
				CHECK_NEAR(wmlc_likelihood_firth(likelihood, row, eta),
						   0.5 * (log(above.information) - log(below.information)) / (2 * h), 1e-8);

			/* differences of deviances are those of log-likelihoods */
			difference = wmlc_likelihood_deviance(likelihood, row, eta + h)
				- wmlc_likelihood_deviance(likelihood, row, eta - h);
			CHECK_NEAR(difference, -2.0 * row->weight * (up - down), 1e-9);
		}
	}
}

/* Probabilities of all counts add up to 1. */
static void
test_constants(void)
{
	for (int i = 0; i < CASES; i++)
	{
		WmlcLikelihood likelihood = cases[i].likelihood;
		WmlcResponse row = cases[i].row;
		double		sum = 0.0;

		if (likelihood.family == WMLC_GAUSSIAN)
			continue;
		for (row.y = 0; row.y <= (likelihood.family == WMLC_BINOMIAL ? row.exposure : 500); row.y++)
			sum += exp(wmlc_likelihood_shape(&likelihood, &row, 0.4)
					   + wmlc_likelihood_constant(&likelihood, &row));
		CHECK_NEAR(sum, 1.0, 1e-10);
	}
}

/*
 * N(eta, variance) divided by the parabola's exponential times the likelihood has
 * the same mean and variance, and the integral that log_scale says.
 */
static void
test_moments(void)
{
	const double variances[] = {0.01, 0.09, 0.3, 0.9, 2.0, 4.0};

	for (int i = 0; i < CASES; i++)
	{
		const WmlcLikelihood *likelihood = &cases[i].likelihood;
		const WmlcResponse *row = &cases[i].row;

		for (int k = 0; k < 6; k++)
		{
			double		eta = 0.3,
						variance = variances[k],
						step = sqrt(variance) / 200.0;
			double		sum[3] = {0.0};
			double		tolerance = variance > 1.0 ? 2e-3 : 1e-4;
			WmlcWorkingRow working = wmlc_working_row(likelihood, row, eta, variance);

			CHECK(working.weight > 0.0, "%g", working.weight);
			if (working.weight * variance > 0.8)
				continue;		/* what remains without the parabola is hardly a distribution */
			for (int t = -9 * 200; t <= 9 * 200; t++)
			{
				double		s = eta + t * step;
				double		term = exp(row->weight * wmlc_likelihood_shape(likelihood, row, s)
									   + 0.5 * working.weight * (s - working.response) * (s - working.response)
									   - 0.5 * (s - eta) * (s - eta) / variance)
					* step / sqrt(2.0 * M_PI * variance);

				sum[0] += term;
				sum[1] += term * (s - eta) / sqrt(variance);
				sum[2] += term * (s - eta) * (s - eta) / variance;
			}
			CHECK_NEAR(sum[1] / sum[0], 0.0, tolerance);
			CHECK_NEAR(sum[2] / sum[0], 1.0, tolerance);
			CHECK_NEAR(working.log_scale, log(sum[0]), tolerance);
		}
	}
}

/*
 * The same where eta is anywhere, and the likelihood of zeros, or of successes only, cuts
 * that off; the integral's steps are no longer than the likelihood bends.
 */
static void
test_wide_moments(void)
{
	static const struct
	{
		WmlcLikelihood likelihood;
		WmlcResponse row;
		double		side;			/* on which eta is */
	}			wide[] = {
		{{WMLC_BINOMIAL, 0}, {1, 1, 1}, 1.0},
		{{WMLC_BINOMIAL, 0}, {0, 4, 1}, -1.0},
		{{WMLC_POISSON, 0}, {0, 1, 1}, -1.0},
		{{WMLC_POISSON, 0}, {0, 300, 1}, -1.0},
		{{WMLC_NEGATIVE_BINOMIAL, 2.0}, {0, 1, 1}, -1.0}
	};
	const double sds[] = {6.0, 15.0, 40.0, 180.0, 2000.0};

	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++)
		{
			const WmlcLikelihood *likelihood = &wide[i].likelihood;
			const WmlcResponse *row = &wide[i].row;
			double		sd = sds[k],
						eta = wide[i].side * 1.4 * sd - log(row->exposure),
						step = fmin(0.05 / sd, 0.005);
			double		sum[3] = {0.0};
			WmlcWorkingRow working = wmlc_working_row(likelihood, row, eta, sd * sd);

			/* those of probabilities may be rough for longer */
			if (likelihood->family == WMLC_BINOMIAL && sd < 30.0)
				continue;
			CHECK(working.weight * sd * sd < 1.0, "%g", working.weight * sd * sd);
			for (double t = -12.0; t <= 12.0; t += step)
			{
				double		s = eta + t * sd;
				double		term = step / sqrt(2.0 * M_PI)
					* exp(wmlc_likelihood_shape(likelihood, row, s) - 0.5 * t * t
						  + 0.5 * working.weight * (s - working.response) * (s - working.response));

				sum[0] += term;
				sum[1] += term * t;
				sum[2] += term * t * t;
			}
			CHECK_NEAR(sum[1] / sum[0], 0.0, 1e-4);
			CHECK_NEAR(sum[2] / sum[0], 1.0, 1e-4);
			CHECK_NEAR(working.log_scale, log(sum[0]), 1e-4);
		}
}

/*
 * Without variance, or with hardly any, it is the parabola at eta; at a point, that with
 * the expected curvature.
 */
static void
test_points(void)
{
	for (int i = 0; i < CASES; i++)
	{
		const WmlcLikelihood *likelihood = &cases[i].likelihood;
		const WmlcResponse *row = &cases[i].row;
		WmlcLocal	local = wmlc_likelihood_local(likelihood, row, -0.4);
		WmlcWorkingRow point = wmlc_working_row(likelihood, row, -0.4, WMLC_POINT);
		WmlcWorkingRow none = wmlc_working_row(likelihood, row, -0.4, 0.0);
		WmlcWorkingRow narrow = wmlc_working_row(likelihood, row, -0.4, 1e-8);

		CHECK_NEAR(point.weight, row->weight * local.information, 1e-14);
		CHECK_NEAR(point.weight * (point.response + 0.4), row->weight * local.score, 1e-14);
		CHECK_NEAR(none.weight, row->weight * local.curvature, 1e-14);
		CHECK_NEAR(none.weight * (none.response + 0.4), row->weight * local.score, 1e-14);
		CHECK_NEAR(narrow.weight, none.weight, 1e-7);
		CHECK_NEAR(narrow.response, none.response, 1e-7);
	}
}

/* Far away everything stays finite. */
static void
test_extremes(void)
{
	for (int i = 0; i < CASES; i++)
		for (double eta = -1e6; eta <= 1e6; eta += 1e5)
			for (double variance = 0.0; variance <= 1e4; variance = variance * 100 + 1)
			{
				WmlcWorkingRow row = wmlc_working_row(&cases[i].likelihood, &cases[i].row, eta, variance);

				CHECK(isfinite(row.response) && isfinite(row.weight) && row.weight > 0.0,
					  "case %d at %g, %g: %g %g", i, eta, variance, row.response, row.weight);
			}
}

static void
test_responses(void)
{
	WmlcLikelihood binomial = {WMLC_BINOMIAL, 0};
	WmlcLikelihood poisson = {WMLC_POISSON, 0};

	CHECK(wmlc_response_error(&binomial, &(WmlcResponse) {2, 1, 1}) == WMLC_RESPONSE_BEYOND, "2 of 1");
	CHECK(wmlc_response_error(&binomial, &(WmlcResponse) {-1, 1, 1}) == WMLC_RESPONSE_BEYOND, "-1 of 1");
	CHECK(wmlc_response_error(&binomial, &(WmlcResponse) {2, 2, 1}) == WMLC_RESPONSE_FINE, "2 of 2");
	CHECK(wmlc_response_error(&poisson, &(WmlcResponse) {-1, 1, 1}) == WMLC_RESPONSE_NEGATIVE, "-1");
	CHECK(wmlc_response_error(&poisson, &(WmlcResponse) {1e16, 1, 1}) == WMLC_RESPONSE_TOO_LARGE, "1e16");
	CHECK(wmlc_response_error(&binomial, &(WmlcResponse) {1, 1e16, 1}) == WMLC_RESPONSE_TOO_LARGE, "1 of 1e16");
	CHECK(wmlc_response_error(&poisson, &(WmlcResponse) {1, 1e16, 1}) == WMLC_RESPONSE_FINE, "1 in 1e16");
	CHECK(wmlc_response_error(&poisson, &(WmlcResponse) {NAN, 1, 1}) == WMLC_RESPONSE_NOT_FINITE, "NaN");
	CHECK(wmlc_response_error(&poisson, &(WmlcResponse) {1, 0, 1}) == WMLC_RESPONSE_BAD_EXPOSURE, "0");
	CHECK(wmlc_response_error(&poisson, &(WmlcResponse) {1, 1, -1}) == WMLC_RESPONSE_BAD_WEIGHT, "-1");
}

/* The mean of a probability, by brute force. */
static void
test_expected_mean(void)
{
	WmlcLikelihood binomial = {WMLC_BINOMIAL, 0};

	for (double variance = 0.25; variance <= 9.0; variance *= 6.0)
	{
		double		sum = 0.0,
					total = 0.0;

		for (int i = -8000; i <= 8000; i++)
		{
			double		t = 0.001 * i;

			total += exp(-0.5 * t * t);
			sum += exp(-0.5 * t * t) / (1.0 + exp(-(1.2 + t * sqrt(variance))));
		}
		CHECK_NEAR(wmlc_likelihood_expected_mean(&binomial, 1.2, variance), sum / total, 1e-4);
	}
}

/* That of a rate is the log-normal distribution's, which is held where it would run away. */
static void
test_expected_rate(void)
{
	WmlcLikelihood poisson = {WMLC_POISSON, 0};

	CHECK_NEAR(wmlc_likelihood_expected_mean(&poisson, 0.4, 0.0), exp(0.4), 1e-14);
	CHECK_NEAR(wmlc_likelihood_expected_mean(&poisson, 0.4, 2.5), exp(0.4 + 1.25), 1e-14);
	for (double variance = 4.0; variance < 1e9; variance *= 10.0)
		CHECK_NEAR(wmlc_likelihood_expected_mean(&poisson, 0.4, variance), exp(2.4), 1e-13);
}

/*
 * Steps from one parabola to the next, without the rest of a posterior changing, end at
 * the parabola that is found anew.
 */
static void
test_steps(void)
{
	for (int i = 0; i < CASES; i++)
	{
		const WmlcLikelihood *likelihood = &cases[i].likelihood;
		WmlcRowQueue queue = {.likelihood = likelihood, .again = true};
		double		mean = 0.3,
					precision = 0.8;
		WmlcWorkingRow row = {.weight = 0.0},
					anew;

		for (int k = 0; k < 60; k++)
		{
			double		variance = 1.0 / (precision + row.weight);
			double		eta = variance * (precision * mean + row.weight * row.response);

			wmlc_row_queue_add(&queue, &cases[i].row, eta, variance, &row);
			wmlc_row_queue_flush(&queue);
			anew = wmlc_working_row(likelihood, &cases[i].row, eta, variance);
		}
		CHECK_NEAR(row.weight, anew.weight, 1e-5);
		CHECK_NEAR(row.response, anew.response, 1e-5);
		CHECK_NEAR(row.log_scale, anew.log_scale, 1e-5);
		CHECK_NEAR(row.skew, anew.skew, 1e-4);
		CHECK_NEAR(row.excess, anew.excess, 1e-4);
	}
}

int
main(void)
{
	test_derivatives();
	test_constants();
	test_moments();
	test_wide_moments();
	test_points();
	test_extremes();
	test_responses();
	test_expected_mean();
	test_expected_rate();
	test_steps();
	return check_summary();
}
