/*
 * test_svm.c
 *	  The support vector machine against another solver in two dimensions, and
 *	  by its certificate, computed from the definitions, in more.
 */
#include <stdlib.h>
#include <string.h>

#include "core/model/svm.h"

#include "check.h"

typedef struct Data
{
	size_t		rows;
	int			dims;
	double	   *x;
	double	   *y;
	double	   *cost;
} Data;

static Data
data_random(size_t rows, int dims, double cost, uint64_t *seed)
{
	Data		data = {.rows = rows,.dims = dims};

	data.x = malloc(rows * dims * sizeof(double));
	data.y = malloc(rows * sizeof(double));
	data.cost = malloc(rows * sizeof(double));
	for (size_t i = 0; i < rows; i++)
	{
		double		score = 0.5 * check_normal(seed);

		for (int k = 0; k < dims; k++)
		{
			data.x[i * dims + k] = k == 0 ? 1.0 : check_normal(seed);
			score += data.x[i * dims + k] * (k % 3 - 0.6);
		}
		data.y[i] = score > 0.0 ? 1.0 : -1.0;
		data.cost[i] = check_random(seed) < 0.1 ? 0.0 : 2.0 * cost * check_random(seed);
	}
	return data;
}

static void
data_free(Data *data)
{
	free(data->x);
	free(data->y);
	free(data->cost);
}

static double
primal(const Data *data, const double *w)
{
	double		sum = 0.0;

	for (int k = 0; k < data->dims; k++)
		sum += w[k] * w[k] / 2.0;
	for (size_t i = 0; i < data->rows; i++)
	{
		double		margin = 0.0;

		for (int k = 0; k < data->dims; k++)
			margin += data->y[i] * data->x[i * data->dims + k] * w[k];
		sum += data->cost[i] * fmax(0.0, 1.0 - margin);
	}
	return sum;
}

/* Golden sections of a convex function, over the first `dims` coordinates of w. */
static double
search(const Data *data, double *w, int dims)
{
	const double golden = 0.6180339887498949;
	double		low = -20.0;
	double		high = 20.0;
	double		a,
				b,
				value_a,
				value_b;

	if (dims == 0)
		return primal(data, w);
#define AT(position) (w[dims - 1] = (position), search(data, w, dims - 1))
	a = high - golden * (high - low);
	b = low + golden * (high - low);
	value_a = AT(a);
	value_b = AT(b);
	for (int step = 0; step < 60; step++)
	{
		if (value_a < value_b)
		{
			high = b;
			b = a;
			value_b = value_a;
			a = high - golden * (high - low);
			value_a = AT(a);
		}
		else
		{
			low = a;
			a = b;
			value_a = value_b;
			b = low + golden * (high - low);
			value_b = AT(b);
		}
	}
#undef AT
	return fmin(value_a, value_b);
}

/* As many passes as the gap needs, at most so many. */
static int
train(WmlcSvm *svm, const Data *data, double tolerance, int passes, void *work)
{
	int			pass = 0;

	CHECK(wmlc_svm_start(svm, data->x, data->y, data->cost, data->rows, data->dims, 1, work) == WMLC_OK, "start");
	do
	{
		CHECK(wmlc_svm_pass(svm, NULL) == WMLC_OK, "pass %d", pass);
		CHECK(wmlc_svm_certify(svm, NULL, NULL) == WMLC_OK, "pass %d", pass);
	} while (++pass < passes && svm->gap > tolerance * svm->objective);
	return pass;
}

static void
test_against_search(void)
{
	uint64_t	seed = 1;

	for (int round = 0; round < 9; round++)
	{
		Data		data = data_random(60, 2, pow(10.0, round % 3 - 1), &seed);
		void	   *work = malloc(wmlc_svm_workspace(data.rows, data.dims));
		double		w[2];
		double		least = search(&data, w, 2);
		WmlcSvm		svm;

		train(&svm, &data, 1e-9, 100000, work);
		CHECK(svm.gap <= 1e-9 * svm.objective, "round %d: gap %g of %g", round, svm.gap, svm.objective);
		CHECK(fabs(svm.objective - least) <= 1e-8 * least, "round %d: %.12g, by search %.12g", round,
			  svm.objective, least);
		free(work);
		data_free(&data);
	}
}

/* P and D from the definitions, feasibility, and that D only rises. */
static void
test_certificate(void)
{
	uint64_t	seed = 2;

	for (int round = 0; round < 6; round++)
	{
		Data		data = data_random(300, 3 + 4 * round, 0.1, &seed);
		void	   *work = malloc(wmlc_svm_workspace(data.rows, data.dims));
		double	   *w = malloc(data.dims * sizeof(double));
		double		dual_before = 0.0;
		WmlcSvm		svm;

		memset(data.x + 5 * data.dims, 0, data.dims * sizeof(double));
		for (int passes = 1; passes <= 64; passes *= 4)
		{
			double		dual = 0.0;
			size_t		support = 0;

			train(&svm, &data, 0.0, passes, work);
			memset(w, 0, data.dims * sizeof(double));
			for (size_t i = 0; i < data.rows; i++)
			{
				CHECK(svm.dual[i] >= 0.0 && svm.dual[i] <= data.cost[i], "row %zu: %g of %g", i, svm.dual[i],
					  data.cost[i]);
				dual += svm.dual[i];
				support += svm.dual[i] > 1e-6 * data.cost[i];
				for (int k = 0; k < data.dims; k++)
					w[k] += svm.dual[i] * data.y[i] * data.x[i * data.dims + k];
			}
			for (int k = 0; k < data.dims; k++)
			{
				CHECK_NEAR(svm.w[k], w[k], 1e-12);
				dual -= w[k] * w[k] / 2.0;
			}
			CHECK_NEAR(svm.objective, primal(&data, w), 1e-12);
			CHECK_NEAR(svm.gap, primal(&data, w) - dual, 1e-11);
			CHECK(svm.support == support, "%zu instead of %zu", svm.support, support);
			CHECK(dual >= dual_before, "round %d: %g after %g", round, dual, dual_before);
			dual_before = dual;
		}
		CHECK(train(&svm, &data, 1e-6, 1000, work) < 1000, "round %d: gap %g of %g", round, svm.gap, svm.objective);
		free(w);
		free(work);
		data_free(&data);
	}
}

/* A row may be split into two that share its weight; equal seeds give equal bits. */
static void
test_weights(void)
{
	uint64_t	seed = 3;
	Data		data = data_random(40, 3, 1.0, &seed);
	Data		twice = data_random(80, 3, 1.0, &seed);
	void	   *work = malloc(wmlc_svm_workspace(80, 3));
	void	   *other_work = malloc(wmlc_svm_workspace(80, 3));
	WmlcSvm		svm;
	WmlcSvm		other;

	for (size_t i = 0; i < 80; i++)
	{
		memcpy(twice.x + i * 3, data.x + i / 2 * 3, 3 * sizeof(double));
		twice.y[i] = data.y[i / 2];
		twice.cost[i] = data.cost[i / 2] * (i % 2 == 0 ? 0.25 : 0.75);
	}
	train(&svm, &data, 1e-9, 100000, work);
	train(&other, &twice, 1e-9, 100000, other_work);
	CHECK(fabs(svm.objective - other.objective) <= 1e-8 * svm.objective, "%g and %g", svm.objective, other.objective);
	train(&svm, &data, 0.0, 10, work);
	train(&other, &data, 0.0, 10, other_work);
	CHECK(memcmp(svm.w, other.w, 3 * sizeof(double)) == 0, "equal seeds, other coefficients");
	free(work);
	free(other_work);
	data_free(&data);
	data_free(&twice);
}

static bool
always(void)
{
	return true;
}

/*
 * The interior-point method, on features of sizes from 1e-2 to 1e3: the gap from
 * the definitions is small, and in two dimensions the other solver agrees.
 */
static void
test_interior(void)
{
	uint64_t	seed = 5;

	for (int round = 0; round < 12; round++)
	{
		int			dims = round < 6 ? 2 : 4 + round;
		Data		data = data_random(150, dims, pow(10.0, round % 3 - 1), &seed);
		void	   *work = malloc(wmlc_svm_workspace(data.rows, dims));
		void	   *more = malloc(wmlc_svm_interior_workspace(data.rows, dims));
		double		w[2];
		double		dual = 0.0;
		WmlcSvm		svm;

		memset(data.x + 5 * dims, 0, dims * sizeof(double));
		for (size_t i = 0; i < data.rows && round >= 6; i++)
		{
			for (int k = 1; k < dims; k++)
				data.x[i * dims + k] = (data.x[i * dims + k] + k % 4) * pow(10.0, k % 6 - 2);
		}
		CHECK(wmlc_svm_start(&svm, data.x, data.y, data.cost, data.rows, dims, 1, work) == WMLC_OK, "start");
		CHECK(wmlc_svm_interior(&svm, 1e-9, more, NULL) == WMLC_OK, "round %d", round);
		CHECK(svm.gap <= 1e-9 * svm.objective, "round %d: gap %g of %g", round, svm.gap, svm.objective);
		for (size_t i = 0; i < data.rows; i++)
		{
			CHECK(svm.dual[i] >= 0.0 && svm.dual[i] <= data.cost[i], "round %d, row %zu", round, i);
			dual += svm.dual[i];
		}
		for (int k = 0; k < dims; k++)
		{
			double		sum = 0.0;

			for (size_t i = 0; i < data.rows; i++)
				sum += svm.dual[i] * data.y[i] * data.x[i * dims + k];
			dual -= sum * sum / 2.0;
		}
		CHECK(primal(&data, svm.w) - dual <= 1.1e-9 * svm.objective, "round %d: %g and %g", round,
			  primal(&data, svm.w), dual);
		if (dims == 2)
			CHECK_NEAR(svm.objective, search(&data, w, 2), 1e-8);
		CHECK(wmlc_svm_interior(&svm, 1e-9, more, always) == WMLC_INTERRUPTED, "interrupt");
		free(work);
		free(more);
		data_free(&data);
	}
}

static void
test_interrupt_and_overflow(void)
{
	uint64_t	seed = 4;
	Data		data = data_random(10, 2, 1.0, &seed);
	void	   *work = malloc(wmlc_svm_workspace(10, 2));
	WmlcSvm		svm;

	train(&svm, &data, 1e-6, 10, work);
	CHECK(wmlc_svm_pass(&svm, always) == WMLC_INTERRUPTED, "pass");
	CHECK(wmlc_svm_certify(&svm, NULL, always) == WMLC_INTERRUPTED, "certify");
	data.x[3] = 1e200;
	CHECK(wmlc_svm_start(&svm, data.x, data.y, data.cost, 10, 2, 1, work) == WMLC_NOT_FINITE, "start");
	free(work);
	data_free(&data);
}

int
main(void)
{
	test_against_search();
	test_certificate();
	test_weights();
	test_interior();
	test_interrupt_and_overflow();
	return check_summary();
}
