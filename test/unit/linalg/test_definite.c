/*
 * test_definite.c
 *	  Cholesky's factor in plain doubles: smaller and larger than a block, and
 *	  what it refuses.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/linalg/definite.h"

static int	polls_left;

static bool
stop_soon(void)
{
	return polls_left-- <= 0;
}

/* A = B B' + I, lower triangle by rows; what lies above the diagonal is noise. */
static double *
random_definite(int n, int stride, uint64_t *seed)
{
	double	   *b = malloc((size_t) n * n * sizeof(double));
	double	   *a = malloc((size_t) n * stride * sizeof(double));

	for (int i = 0; i < n * n; i++)
		b[i] = check_normal(seed);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < stride; j++)
		{
			a[(size_t) i * stride + j] = j == i ? 1.0 : j > i ? 1e300 : 0.0;
			for (int k = 0; k < n && j <= i; k++)
				a[(size_t) i * stride + j] += b[i * n + k] * b[j * n + k];
		}
	free(b);
	return a;
}

static void
test_solution(int n, int stride)
{
	uint64_t	seed = n;
	double	   *a = random_definite(n, stride, &seed);
	double	   *factor = malloc((size_t) n * stride * sizeof(double));
	double	   *x = malloc(n * sizeof(double));
	double	   *b = malloc(n * sizeof(double));
	double		worst = 0.0;

	memcpy(factor, a, (size_t) n * stride * sizeof(double));
	CHECK(wmlc_definite_factor(n, factor, stride, NULL) == WMLC_OK, "%d", n);
	for (int i = 0; i < n; i++)
		x[i] = b[i] = check_normal(&seed);
	wmlc_definite_solve(n, factor, stride, x);
	for (int i = 0; i < n; i++)
	{
		double		left = -b[i];
		double		size = fabs(b[i]);

		for (int j = 0; j < n; j++)
		{
			double		term = (i >= j ? a[(size_t) i * stride + j] : a[(size_t) j * stride + i]) * x[j];

			left += term;
			size += fabs(term);
		}
		worst = fmax(worst, fabs(left) / size);
	}
	CHECK(worst <= n * 1e-15, "%d unknowns: residual %g", n, worst);
	free(a);
	free(factor);
	free(x);
	free(b);
}

static void
test_refused(void)
{
	double		indefinite[4] = {1.0, 0.0, 2.0, 1.0};
	uint64_t	seed = 3;
	double	   *a = random_definite(300, 300, &seed);

	CHECK(wmlc_definite_factor(2, indefinite, 2, NULL) == WMLC_NOT_POSITIVE, "indefinite");
	/* at the first block, and at the rows behind it */
	for (int polls = 0; polls < 4; polls++)
	{
		polls_left = polls;
		CHECK(wmlc_definite_factor(300, a, 300, stop_soon) == WMLC_INTERRUPTED, "not interrupted at poll %d", polls);
		free(a);
		a = random_definite(300, 300, &seed);
	}
	free(a);
}

/* Column 2 is twice column 0 and column 4 is silent: both drop out, and L L' = A all the same. */
static void
test_semidefinite(void)
{
	enum
	{
		N = 6, STRIDE = 8
	};
	uint64_t	seed = 5;
	double		x[N][N];
	double		a[N * STRIDE] = {0.0};
	double		factor[N * STRIDE];
	double		inverse[N * STRIDE] = {0.0};

	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			x[i][k] = i == 4 ? 0.0 : i == 2 ? 2.0 * x[0][k] : check_normal(&seed);
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= i; j++)
			for (int k = 0; k < N; k++)
				a[i * STRIDE + j] += x[i][k] * x[j][k];
	memcpy(factor, a, sizeof(a));
	CHECK(wmlc_semidefinite_factor(N, factor, STRIDE, 1e-13, NULL) == WMLC_OK, "refused");
	wmlc_semidefinite_inverse(N, factor, STRIDE, inverse);
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= i; j++)
		{
			double		product = 0.0;
			double		identity = 0.0;

			for (int k = 0; k <= j; k++)
				product += factor[i * STRIDE + k] * factor[j * STRIDE + k];
			for (int k = j; k <= i; k++)
				identity += factor[i * STRIDE + k] * inverse[j * STRIDE + k];
			CHECK_NEAR(product, a[i * STRIDE + j], 1e-13);
			if (i != 2 && i != 4 && j != 2 && j != 4)
				CHECK_NEAR(identity, i == j ? 1.0 : 0.0, 1e-13);
			else
				CHECK(inverse[j * STRIDE + i] == 0.0, "(%d, %d) of a dependent column", j, i);
		}
	CHECK(factor[2 * STRIDE + 2] == 0.0 && factor[4 * STRIDE + 4] == 0.0, "not dropped");
	polls_left = 1;
	CHECK(wmlc_semidefinite_factor(N, a, STRIDE, 1e-13, stop_soon) == WMLC_INTERRUPTED, "not interrupted");
}

int
main(void)
{
	test_solution(1, 1);
	test_solution(2, 7);
	test_solution(66, 80);
	test_solution(128, 128);
	test_solution(700, 701);
	test_solution(300, 304);
	test_refused();
	test_semidefinite();
	return check_summary();
}
