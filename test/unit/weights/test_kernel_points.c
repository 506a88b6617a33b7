/*
 * test_kernel_points.c
 *	  Points from kernel matrices: they have the kernel's inner products, give
 *	  the weights that the original points give, and are refused where there
 *	  are none.
 */
#include "core/weights/kernel_points.h"
#include "simplex/simplex_fixture.h"

static WmlcStatus
kernel_points(const double *kernel, size_t count, double *points, size_t *dims)
{
	void	   *work = malloc(wmlc_kernel_points_workspace(count));
	WmlcStatus	status = wmlc_kernel_points(kernel, count, points, dims, work, NULL);

	free(work);
	return status;
}

/* Inner products of the points, the last of them the target. */
static void
form_kernel(const double *points, size_t count, size_t dims, double *kernel)
{
	for (size_t i = 0; i < count; i++)
	{
		for (size_t j = 0; j < count; j++)
		{
			kernel[i * count + j] = 0.0;
			for (size_t d = 0; d < dims; d++)
				kernel[i * count + j] += points[i * dims + d] * points[j * dims + d];
		}
	}
}

static void
test_kernel(void)
{
	enum {MOST = 81};
	uint64_t	seed = 11;
	double		points[MOST * MOST];
	double		kernel[MOST * MOST];
	double		embedded[MOST * MOST];
	double		alpha[MOST];
	double		beta[MOST];

	for (int t = 0; t < 60; t++)
	{
		size_t		count = 2 + (size_t) (check_random(&seed) * (MOST - 1));
		size_t		sources = count - 1;
		size_t		dims = 1 + (size_t) (check_random(&seed) * (t % 2 ? MOST : 10));
		size_t		rank;
		WmlcSimplex p = {points, sources, dims, dims, t % 3 ? 0.0 : 0.1};
		WmlcSimplex q = {embedded, sources, 0, count, p.ridge};
		Certificate c;
		Certificate k;

		fill_normal(points, count * dims, &seed);
		for (size_t i = 0; i < sources * dims; i++)
			points[i] += t % 4;
		if (t % 5 == 0 && sources > 2)
			memcpy(points + dims, points, dims * sizeof(double));
		form_kernel(points, count, dims, kernel);
		CHECK(kernel_points(kernel, count, embedded, &rank) == WMLC_OK, "kernel points");
		CHECK(t % 5 || sources <= 2 || memcmp(embedded, embedded + count, count * sizeof(double)) == 0,
			  "copies are different points");
		CHECK(rank <= dims && rank <= count, "rank %zu of %zu points in %zu dimensions", rank, count, dims);
		for (size_t i = 0; i < count; i++)
		{
			for (size_t j = 0; j < count; j++)
			{
				double		inner = 0.0;

				for (size_t d = 0; d < rank; d++)
					inner += embedded[i * count + d] * embedded[j * count + d];
				CHECK(fabs(inner - kernel[i * count + j]) <=
					  1e-13 * sqrt(kernel[i * count + i] * kernel[j * count + j]), "entry %zu, %zu", i, j);
			}
		}

		/* Distances from the target, both ways: the same problem. */
		for (size_t j = 0; j < sources; j++)
		{
			for (size_t i = 0; i < dims; i++)
				points[j * dims + i] -= points[sources * dims + i];
			for (size_t i = 0; i < rank; i++)
				embedded[j * count + i] -= embedded[sources * count + i];
		}
		q.dims = rank;
		c = check_solution(&p, alpha, "points");
		k = check_solution(&q, beta, "kernel");
		CHECK(fabsl(c.objective - k.objective) <= 1e-12L * (1.0L + c.objective), "%Lg and %Lg",
			  c.objective, k.objective);
		CHECK(certify(&p, beta).gap <= 1e-12L, "gap %Lg", certify(&p, beta).gap);
		if (t % 5 == 0 && sources > 2)
			CHECK(p.ridge > 0.0 ? beta[0] == beta[1] : beta[1] == 0.0, "copies have %g and %g", beta[0], beta[1]);
	}
}

static void
test_kernel_refusals(void)
{
	double		points[16];
	size_t		dims;
	double		indefinite[] = {1, 2, 2, 1};
	double		hollow[] = {0, 1, 1, 0};
	double		negative[] = {1, 0, 0, -1e-3};
	double		slightly[] = {1, 1 + 1e-9, 1 + 1e-9, 1};
	double		rounded[] = {1, 1 + 4e-16, 1 + 4e-16, 1};
	double		late[] = {1, 0, 0, 0, 1e-3, 2e-3, 0, 2e-3, 1e-3};
	double		uneven[] = {1e20, 0, 0, 1e-20};
	double		nothing[4] = {0};
	double		broken[] = {1, NAN, NAN, 1};
	double		endless[] = {1, 0, 0, INFINITY};

	CHECK(kernel_points(indefinite, 2, points, &dims) == WMLC_NOT_POSITIVE, "indefinite");
	CHECK(kernel_points(hollow, 2, points, &dims) == WMLC_NOT_POSITIVE, "hollow");
	CHECK(kernel_points(negative, 2, points, &dims) == WMLC_NOT_POSITIVE, "negative");
	CHECK(kernel_points(slightly, 2, points, &dims) == WMLC_NOT_POSITIVE, "slightly");
	CHECK(kernel_points(late, 3, points, &dims) == WMLC_NOT_POSITIVE, "late");
	CHECK(kernel_points(rounded, 2, points, &dims) == WMLC_OK && dims == 1, "rounding is forgiven");
	CHECK(kernel_points(uneven, 2, points, &dims) == WMLC_OK && dims == 2, "small rows count");
	CHECK(kernel_points(nothing, 2, points, &dims) == WMLC_OK && dims == 0, "all at the origin");
	CHECK(kernel_points(broken, 2, points, &dims) == WMLC_NOT_FINITE, "NaN");
	CHECK(kernel_points(endless, 2, points, &dims) == WMLC_NOT_FINITE, "infinity");
}

int
main(void)
{
	test_kernel();
	test_kernel_refusals();
	return check_summary();
}
