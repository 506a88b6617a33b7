/*
 * test_panels.c
 *	  BLAS and LAPACK in parts give what they give at one go, whatever the size,
 *	  and stop where they are told to.
 */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/linalg/panels.h"

static int	polls_left;

static bool
stop_soon(void)
{
	return polls_left-- <= 0;
}

static double *
copy_of(const double *from, size_t count)
{
	double	   *to = malloc(count * sizeof(double));

	return memcpy(to, from, count * sizeof(double));
}

static double *
random_numbers(size_t count, uint64_t *seed)
{
	double	   *numbers = malloc(count * sizeof(double));

	for (size_t i = 0; i < count; i++)
		numbers[i] = check_normal(seed);
	return numbers;
}

/* A triangle that can be solved by, and noise in its other half */
static double *
random_triangle(int n, uint64_t *seed)
{
	double	   *a = random_numbers((size_t) n * n, seed);

	for (int i = 0; i < n; i++)
		a[i + (size_t) i * n] = 2.0 * sqrt(n) + fabs(a[i + (size_t) i * n]);
	return a;
}

static double
difference(size_t count, const double *a, const double *b)
{
	double		largest = 0.0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(a[i] - b[i]) / (1.0 + fabs(b[i])));
	return largest;
}

static void
test_triangles(int n, int m)
{
	uint64_t	seed = n + 1000 * m;
	double	   *a = random_triangle(n, &seed);
	double	   *b = random_numbers((size_t) n * m, &seed);
	size_t		count = (size_t) n * m;
	double	   *one = copy_of(b, count);
	double	   *parts = copy_of(b, count);

	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, m, 1.0, a, n, one, n);
	CHECK(wmlc_panel_solve(CblasLower, CblasTrans, n, a, m, parts, NULL) == WMLC_OK, "%d x %d", n, m);
	CHECK(difference(count, parts, one) < 1e-12, "solve %d x %d", n, m);
	CHECK(wmlc_panel_multiply(CblasLower, CblasTrans, n, a, m, parts, NULL) == WMLC_OK, "%d x %d", n, m);
	CHECK(difference(count, parts, b) < 1e-11, "multiply %d x %d: %g", n, m, difference(count, parts, b));

	memcpy(one, b, count * sizeof(double));
	memcpy(parts, b, count * sizeof(double));
	cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, m, n, 1.0, a, n, one, m);
	CHECK(wmlc_panel_solve_right(CblasUpper, CblasNoTrans, n, a, m, parts, NULL) == WMLC_OK, "%d x %d", n, m);
	CHECK(difference(count, parts, one) < 1e-12, "solve from the right, %d x %d", n, m);
	free(a);
	free(b);
	free(one);
	free(parts);
}

static void
test_outer(int n, int k)
{
	uint64_t	seed = n + 1000 * k;
	double	   *a = random_numbers((size_t) n * k + 1, &seed);
	double	   *result = random_numbers((size_t) n * n, &seed);
	double		worst = 0.0;

	CHECK(wmlc_panel_outer(n, k, a, result, NULL) == WMLC_OK, "%d x %d", n, k);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
		{
			double		sum = cblas_ddot(k, a + i, n, a + j, n);

			worst = fmax(worst, fabs(result[i + (size_t) j * n] - sum));
			CHECK(result[i + (size_t) j * n] == result[j + (size_t) i * n], "symmetric");
		}
	CHECK(worst <= 1e-12 * (k + 1), "%d x %d: %g", n, k, worst);
	free(a);
	free(result);
}

static void
test_product(int n)
{
	uint64_t	seed = n;
	size_t		count = (size_t) n * n;
	double	   *a = random_numbers(count, &seed);
	double	   *b = random_numbers(count, &seed);
	double	   *one = random_numbers(count, &seed);
	double	   *parts = random_numbers(count, &seed);

	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a, n, b, n, 0.0, one, n);
	CHECK(wmlc_panel_product(n, a, b, parts, NULL) == WMLC_OK, "%d", n);
	CHECK(difference(count, parts, one) < 1e-11, "product of %d columns", n);
	free(a);
	free(b);
	free(one);
	free(parts);
}

/* R'R = A'A, and the reflections bring A to R. */
static void
test_qr(int rows, int n)
{
	uint64_t	seed = rows + 1000 * n;
	size_t		count = (size_t) rows * n;
	int			size = 33 * n;
	double	   *a = random_numbers(count, &seed);
	double	   *qr = copy_of(a, count);
	double	   *tau = malloc(n * sizeof(double));
	double	   *work = malloc(size * sizeof(double));
	double		worst = 0.0;

	CHECK(wmlc_panel_qr(rows, n, qr, tau, work, size, NULL) == WMLC_OK, "%d x %d", rows, n);
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++)
		{
			int			length = i < rows ? i + 1 : rows;
			double		left = cblas_ddot(length, qr + (size_t) i * rows, 1, qr + (size_t) j * rows, 1);
			double		right = cblas_ddot(rows, a + (size_t) i * rows, 1, a + (size_t) j * rows, 1);

			worst = fmax(worst, fabs(left - right));
		}
	CHECK(worst <= 1e-11 * rows, "%d x %d: %g", rows, n, worst);
	(void) LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', rows, n, n < rows ? n : rows, qr, rows, tau, a, rows,
							   work, size);
	worst = 0.0;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < rows; i++)
			worst = fmax(worst, fabs(a[i + (size_t) j * rows] - (i <= j ? qr[i + (size_t) j * rows] : 0.0)));
	CHECK(worst <= 1e-11 * sqrt(rows), "reflections of %d x %d: %g", rows, n, worst);
	free(a);
	free(qr);
	free(tau);
	free(work);
}

static void
test_interrupts(void)
{
	int			n = 3 * WMLC_PANEL;
	uint64_t	seed = 1;
	double	   *a = random_triangle(n, &seed);
	double	   *b = random_numbers((size_t) n * n, &seed);
	double	   *work = malloc(34 * n * sizeof(double));

	polls_left = 2;
	CHECK(wmlc_panel_solve(CblasLower, CblasNoTrans, n, a, n, b, stop_soon) == WMLC_INTERRUPTED, "solve");
	polls_left = 2;
	CHECK(wmlc_panel_multiply(CblasLower, CblasNoTrans, n, a, n, b, stop_soon) == WMLC_INTERRUPTED, "multiply");
	polls_left = 2;
	CHECK(wmlc_panel_solve_right(CblasLower, CblasNoTrans, n, a, n, b, stop_soon) == WMLC_INTERRUPTED, "right");
	polls_left = 2;
	CHECK(wmlc_panel_product(n, a, a, b, stop_soon) == WMLC_INTERRUPTED, "product");
	polls_left = 2;
	CHECK(wmlc_panel_outer(n, n, a, b, stop_soon) == WMLC_INTERRUPTED, "outer");
	polls_left = 2;
	CHECK(wmlc_panel_qr(n, n, b, work, work + n, 33 * n, stop_soon) == WMLC_INTERRUPTED, "qr");
	free(a);
	free(b);
	free(work);
}

int
main(void)
{
	test_triangles(1, 1);
	test_triangles(5, 3);
	test_triangles(WMLC_PANEL, WMLC_PANEL);
	test_triangles(40, 2 * WMLC_PANEL + 7);
	test_triangles(2 * WMLC_PANEL + 1, 33);
	test_product(3);
	test_product(WMLC_PANEL);
	test_product(2 * WMLC_PANEL + 9);
	test_outer(1, 1);
	test_outer(7, 0);
	test_outer(WMLC_PANEL, 20);
	test_outer(2 * WMLC_PANEL + 3, 11);
	test_qr(1, 1);
	test_qr(9, 4);
	test_qr(5, 9);
	test_qr(WMLC_PANEL, WMLC_PANEL);
	test_qr(3 * WMLC_PANEL + 5, 2 * WMLC_PANEL + 1);
	test_qr(WMLC_PANEL + 5, 2 * WMLC_PANEL + 1);
	test_interrupts();
	return check_summary();
}
