/*
 * simplex_fixture.h
 *	  Certificates of weights recomputed from the raw points, in long double,
 *	  and the checks that every answer of the weight solver must pass.
 */
#ifndef WML_UNIT_SIMPLEX_FIXTURE_H
#define WML_UNIT_SIMPLEX_FIXTURE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/simplex/simplex.h"

typedef struct Certificate
{
	long double objective;
	long double gap;			/* relative to the largest squared distance, with ridge */
	long double slackness;		/* largest |g_j - f| on the support, likewise */
	long double sum;
	bool		nonnegative;
	size_t		support;
} Certificate;

static inline Certificate
certify(const WmlcSimplex *p, const double *alpha)
{
	Certificate c = {.nonnegative = true};
	long double *x = calloc(p->dims + 1, sizeof(long double));
	long double largest = 0.0L;
	long double lowest = INFINITY;
	long double scale;

	for (size_t j = 0; j < p->count; j++)
	{
		const double *e = p->points + j * p->stride;
		long double square = 0.0L;

		for (size_t i = 0; i < p->dims; i++)
		{
			square += (long double) e[i] * e[i];
			x[i] += (long double) alpha[j] * e[i];
		}
		largest = square > largest ? square : largest;
		c.objective += (long double) p->ridge * alpha[j] * alpha[j];
		c.sum += alpha[j];
		c.nonnegative = c.nonnegative && alpha[j] >= 0.0;
		c.support += alpha[j] > 0.0;
	}
	for (size_t i = 0; i < p->dims; i++)
		c.objective += x[i] * x[i];
	scale = largest + p->ridge > 0.0L ? largest + p->ridge : 1.0L;
	for (size_t j = 0; j < p->count; j++)
	{
		long double price = (long double) p->ridge * alpha[j];

		for (size_t i = 0; i < p->dims; i++)
			price += x[i] * p->points[j * p->stride + i];
		lowest = price < lowest ? price : lowest;
		if (alpha[j] > 0.0 && fabsl(price - c.objective) / scale > c.slackness)
			c.slackness = fabsl(price - c.objective) / scale;
	}
	c.gap = 2.0L * (c.objective - lowest) / scale;
	free(x);
	return c;
}

static inline WmlcStatus
solve(const WmlcSimplex *problem, double *alpha, WmlcSimplexReport *report)
{
	size_t		bytes = wmlc_simplex_workspace(problem->count, problem->dims, problem->ridge);
	void	   *work = malloc(bytes);
	WmlcStatus	status;

	/* A workspace full of NaN: what is read before it is written shows. */
	memset(work, 0xff, bytes);
	status = wmlc_simplex_solve(problem, alpha, report, work, NULL);
	free(work);
	return status;
}

static inline WmlcSimplexReport
gap_report(const WmlcSimplex *problem, const double *alpha)
{
	void	   *work = malloc(wmlc_simplex_workspace(problem->count, problem->dims, problem->ridge));
	WmlcSimplexReport report;

	CHECK(wmlc_simplex_gap(problem, alpha, &report, work, NULL) == WMLC_OK, "gap");
	free(work);
	return report;
}

/* Solve, check everything the solver promises, and return the certificate. */
static inline Certificate
check_solution(const WmlcSimplex *problem, double *alpha, const char *what)
{
	WmlcSimplexReport report;
	WmlcStatus	status = solve(problem, alpha, &report);
	Certificate c = certify(problem, alpha);

	CHECK(status == WMLC_OK, "%s: status %d", what, status);
	CHECK(c.nonnegative, "%s: negative weight", what);
	CHECK(fabsl(c.sum - 1.0L) <= 1e-13L, "%s: sum - 1 = %Lg", what, c.sum - 1.0L);
	CHECK(c.gap <= 1e-14L, "%s: gap %Lg", what, c.gap);
	CHECK(c.slackness <= 1e-12L, "%s: slackness %Lg", what, c.slackness);
	CHECK(c.support == report.support, "%s: support %zu, reported %zu", what, c.support, report.support);
	CHECK(report.relative_gap <= 1e-14 && report.relative_gap >= c.gap - 1e-14L,
		  "%s: gap %Lg, reported %g", what, c.gap, report.relative_gap);
	CHECK(fabsl(report.objective - c.objective) <= 1e-13L * (report.largest + problem->ridge),
		  "%s: objective %Lg, reported %g", what, c.objective, report.objective);
	return c;
}

static inline void
fill_normal(double *points, size_t n, uint64_t *seed)
{
	for (size_t i = 0; i < n; i++)
		points[i] = check_normal(seed);
}

#endif							/* WML_UNIT_SIMPLEX_FIXTURE_H */
