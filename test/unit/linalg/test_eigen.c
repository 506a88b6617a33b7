/*
 * test_eigen.c
 *	  Eigenvectors: A v = lambda v, orthogonal, in order; by LAPACK and by our own
 *	  iteration, also where eigenvalues coincide or spread far.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/linalg/eigen.h"

static int	polls_left;

static bool
stop_soon(void)
{
	return polls_left-- <= 0;
}

typedef enum Kind
{
	RANDOM,
	LOW_RANK,					/* most eigenvalues are zero */
	GRADED,						/* over twenty orders of magnitude */
	DIAGONAL,
	ZERO
} Kind;

static double *
create(int n, Kind kind)
{
	uint64_t	seed = n + 7 * kind;
	double	   *a = calloc((size_t) n * n, sizeof(double));

	for (int j = 0; j < n; j++)
		for (int i = 0; i <= j && kind != ZERO; i++)
		{
			double		entry = check_normal(&seed);

			if (kind == LOW_RANK)
				entry = cos(i) * cos(j) + 0.3 * sin(2 * i) * sin(2 * j);
			if (kind == GRADED)
				entry *= pow(10.0, -10.0 * (i + j) / n);
			if (kind == DIAGONAL && i < j)
				entry = 0.0;
			a[i + (size_t) j * n] = a[j + (size_t) i * n] = entry;
		}
	return a;
}

static void
test_vectors(int n, Kind kind)
{
	double	   *a = create(n, kind);
	double	   *v = malloc((size_t) n * n * sizeof(double));
	double	   *product = malloc((size_t) n * n * sizeof(double));
	double	   *values = malloc(n * sizeof(double));
	double	   *work = malloc(wmlc_eigen_work(n) * sizeof(double));
	double		norm = cblas_dnrm2(n * n, a, 1);
	double		worst = 0.0;

	memcpy(v, a, (size_t) n * n * sizeof(double));
	CHECK(wmlc_eigen(n, v, values, work, NULL) == WMLC_OK, "%d, kind %d", n, kind);
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a, n, v, n, 0.0, product, n);
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			worst = fmax(worst, fabs(product[i + (size_t) k * n] - values[k] * v[i + (size_t) k * n]));
	CHECK(worst <= 1e-15 * n * norm, "%d, kind %d: A v - lambda v is %g of %g", n, kind, worst, norm);
	cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, n, n, 1.0, v, n, v, n, 0.0, product, n);
	worst = 0.0;
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			worst = fmax(worst, fabs(product[i + (size_t) k * n] - (i == k)));
	CHECK(worst <= 1e-14 * n, "%d, kind %d: v'v is off by %g", n, kind, worst);
	for (int k = 1; k < n; k++)
		CHECK(values[k - 1] <= values[k], "%d, kind %d: in order", n, kind);
	free(a);
	free(v);
	free(product);
	free(values);
	free(work);
}

static void
test_interrupt(void)
{
	int			n = 300;
	double	   *a = create(n, RANDOM);
	double	   *values = malloc(n * sizeof(double));
	double	   *work = malloc(wmlc_eigen_work(n) * sizeof(double));

	polls_left = 50;
	CHECK(wmlc_eigen(n, a, values, work, stop_soon) == WMLC_INTERRUPTED, "in the middle of its iteration");
	free(a);
	free(values);
	free(work);
}

int
main(void)
{
	for (Kind kind = RANDOM; kind <= ZERO; kind++)
	{
		test_vectors(1, kind);
		test_vectors(20, kind);
		test_vectors(300, kind);
	}
	test_interrupt();
	return check_summary();
}
