/*
 * test_embedding.c
 *	  Kernels, distances, whitening and sampling variances, against the rows
 *	  themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/weights/embedding.h"

#define MAX_DIMS 8

/* Rows z = (psi, y) with weights, and their gram. */
typedef struct Sample
{
	int			dims;
	int			count;
	double	   *rows;			/* WIDTH apart */
	double	   *weights;
	WmlcGram   *gram;
} Sample;

#define WIDTH (MAX_DIMS + 1 + WMLC_ROW_PADDING)

static Sample
create_sample(int dims, int count)
{
	Sample		sample = {.dims = dims, .count = count};

	sample.rows = calloc((size_t) count * WIDTH, sizeof(double));
	sample.weights = malloc(count * sizeof(double));
	sample.gram = malloc(wmlc_gram_bytes(dims));
	for (int i = 0; i < count; i++)
		sample.weights[i] = 1.0;
	return sample;
}

static void
free_sample(Sample *sample)
{
	free(sample->rows);
	free(sample->weights);
	free(sample->gram);
}

static double *
row_of(const Sample *sample, int i)
{
	return sample->rows + (size_t) i * WIDTH;
}

/* Add up the rows, the last one first when asked to. */
static void
collect(Sample *sample, bool backwards)
{
	wmlc_gram_init(sample->gram, sample->dims);
	for (int k = 0; k < sample->count; k++)
	{
		int			i = backwards ? sample->count - 1 - k : k;

		wmlc_gram_add_row(sample->gram, row_of(sample, i), sample->weights[i]);
	}
}

/* A constant, normal features around centres, and a linear response. */
static Sample
create_task(int dims, int count, uint64_t seed)
{
	Sample		sample = create_sample(dims, count);
	double		centre[MAX_DIMS];
	double		w[MAX_DIMS];

	for (int k = 0; k < dims; k++)
	{
		centre[k] = check_normal(&seed);
		w[k] = check_normal(&seed);
	}
	for (int i = 0; i < count; i++)
	{
		double	   *z = row_of(&sample, i);

		z[dims] = check_normal(&seed);
		for (int k = 0; k < dims; k++)
		{
			z[k] = k == 0 ? 1.0 : centre[k] + check_normal(&seed);
			z[dims] += w[k] * z[k];
		}
	}
	collect(&sample, false);
	return sample;
}

/* ---- kernels and distances ---- */

static double
kernel_of_rows(const Sample *a, const Sample *b, WmlcLoss loss)
{
	long double sum = 0.0;
	long double weight = 0.0;

	for (int i = 0; i < a->count; i++)
	{
		for (int j = 0; j < b->count; j++)
		{
			const double *z = row_of(a, i);
			const double *other = row_of(b, j);
			long double features = 0.0;
			long double response = (long double) z[a->dims] * other[a->dims];
			long double pair = (long double) a->weights[i] * b->weights[j];

			for (int k = 0; k < a->dims; k++)
				features += (long double) z[k] * other[k];
			sum += pair * (loss == WMLC_HINGE ? features * response + 1.0
						   : (features + response) * (features + response));
			weight += pair;
		}
	}
	return (double) (sum / weight);
}

static void
test_kernel(WmlcLoss loss)
{
	for (int dims = 1; dims <= MAX_DIMS; dims++)
	{
		Sample		a = create_task(dims, 20, 10 + dims);
		Sample		b = create_task(dims, 7, 20 + dims);
		size_t		size = wmlc_embedding_dims(loss, dims);
		double	   *at_a = malloc(size * sizeof(double));
		double	   *at_b = malloc(size * sizeof(double));
		double		kernel = 0.0;
		double		square = 0.0;

		for (int i = 0; i < a.count; i++)
			a.weights[i] = 0.5 + i;
		collect(&a, false);
		CHECK_NEAR(wmlc_kernel(a.gram, b.gram, loss), kernel_of_rows(&a, &b, loss), 1e-15);
		CHECK(wmlc_kernel(a.gram, b.gram, loss) == wmlc_kernel(b.gram, a.gram, loss), "not symmetric");
		CHECK(wmlc_distance(a.gram, b.gram, loss) == wmlc_distance(b.gram, a.gram, loss),
			  "not symmetric");

		wmlc_embedding(a.gram, loss, at_a);
		wmlc_embedding(b.gram, loss, at_b);
		for (size_t k = 0; k < size; k++)
		{
			kernel += at_a[k] * at_b[k];
			square += (at_a[k] - at_b[k]) * (at_a[k] - at_b[k]);
		}
		CHECK_NEAR(kernel, wmlc_kernel(a.gram, b.gram, loss), 1e-13);
		CHECK_NEAR(sqrt(square), wmlc_distance(a.gram, b.gram, loss), 1e-13);
		square = kernel_of_rows(&a, &a, loss) - 2.0 * kernel_of_rows(&a, &b, loss) +
			kernel_of_rows(&b, &b, loss);
		CHECK_NEAR(sqrt(square), wmlc_distance(a.gram, b.gram, loss), 1e-13);
		free(at_a);
		free(at_b);
		free_sample(&a);
		free_sample(&b);
	}
}

/* Squares of moments would overflow or underflow, their root does not. */
static void
test_range(WmlcLoss loss)
{
	for (int power = -300; power <= 300; power += 600)
	{
		Sample		a = create_task(4, 9, 25);
		Sample		b = create_task(4, 9, 26);
		double		distance = wmlc_distance(a.gram, b.gram, loss);

		for (int i = 0; i < a.count; i++)
		{
			for (int k = 0; k <= a.dims; k++)
			{
				row_of(&a, i)[k] = ldexp(row_of(&a, i)[k], power);
				row_of(&b, i)[k] = ldexp(row_of(&b, i)[k], power);
			}
		}
		collect(&a, false);
		collect(&b, false);
		CHECK(wmlc_distance(a.gram, b.gram, loss) == ldexp(distance, 2 * power), "%g instead of %g times 2^%d",
			  wmlc_distance(a.gram, b.gram, loss), distance, 2 * power);
		free_sample(&a);
		free_sample(&b);
	}
}

/* ---- frames ---- */

typedef struct Frame
{
	WmlcWhitener whitener;
	WmlcEmbeddingFrame frame;
	void	   *whitener_work;
	void	   *frame_work;
} Frame;

static void
create_frame(Frame *frame, WmlcLoss loss, const WmlcGram *target, const WmlcGram *pooled)
{
	int			dims = target->dims;

	frame->whitener_work = malloc(wmlc_whitener_workspace(dims));
	frame->frame_work = malloc(wmlc_embedding_frame_workspace(dims));
	if (pooled != NULL)
		CHECK(wmlc_whitener_create(&frame->whitener, pooled, loss, frame->whitener_work, NULL) == WMLC_OK,
			  "status");
	wmlc_embedding_frame_create(&frame->frame, loss, target, pooled ? &frame->whitener : NULL,
								frame->frame_work, NULL);
}

static void
free_frame(Frame *frame)
{
	free(frame->whitener_work);
	free(frame->frame_work);
}

static double *
create_difference(const Frame *frame, const WmlcGram *source)
{
	double	   *result = malloc((wmlc_difference_dims(&frame->frame) + 1) * sizeof(double));

	CHECK(wmlc_difference(&frame->frame, source, result) == WMLC_OK, "status");
	return result;
}

static double
dot(const double *a, const double *b, size_t count)
{
	double		sum = 0.0;

	for (size_t k = 0; k < count; k++)
		sum += a[k] * b[k];
	return sum;
}

/* ---- differences ---- */

static void
test_difference(WmlcLoss loss)
{
	for (int dims = 1; dims <= MAX_DIMS; dims++)
	{
		Sample		source = create_task(dims, 30, 30 + dims);
		Sample		target = create_task(dims, 6, 40 + dims);
		size_t		size = wmlc_embedding_dims(loss, dims);
		double	   *at_source = malloc(size * sizeof(double));
		double	   *at_target = malloc(size * sizeof(double));
		Frame		frame;
		double	   *difference;

		create_frame(&frame, loss, target.gram, NULL);
		difference = create_difference(&frame, source.gram);
		wmlc_embedding(source.gram, loss, at_source);
		wmlc_embedding(target.gram, loss, at_target);
		CHECK(wmlc_difference_dims(&frame.frame) == size - (loss == WMLC_HINGE), "dims");
		for (size_t k = 0; k < wmlc_difference_dims(&frame.frame); k++)
			CHECK_NEAR(difference[k], at_source[k] - at_target[k], 1e-13);
		free(difference);
		free(at_source);
		free(at_target);
		free_frame(&frame);
		free_sample(&source);
		free_sample(&target);
	}
}

/*
 * Large and nearly equal: one response among rows with an offset of 1e6 is
 * changed a little, and all digits of what this does are there.
 */
static void
test_cancellation(void)
{
	Sample		a = create_task(3, 50, 50);
	Sample		b = create_task(3, 50, 50);
	double		step = 0x1p-20;
	double		y = row_of(&a, 17)[3];
	double		square = 0.0;
	Frame		frame;
	double	   *difference;

	for (int i = 0; i < 50; i++)
	{
		row_of(&a, i)[1] += 1e6;
		row_of(&a, i)[3] += 1e6;
		memcpy(row_of(&b, i), row_of(&a, i), WIDTH * sizeof(double));
	}
	y = row_of(&a, 17)[3];
	row_of(&a, 17)[3] = y + step;
	collect(&a, false);
	collect(&b, true);
	create_frame(&frame, WMLC_SQUARE, b.gram, NULL);
	difference = create_difference(&frame, a.gram);
	for (int i = 0; i < 4; i++)
	{
		for (int j = i; j < 4; j++)
		{
			double		factor = j < 3 ? 0.0 : i < 3 ? sqrt(2.0) * row_of(&a, 17)[i] : 2.0 * y + step;
			double		expected = factor * step / 50.0;
			double		actual = difference[wmlc_triangle_index(4, i, j)];

			CHECK(fabs(actual - expected) <= 1e-15 * fabs(expected) + 1e-17,
				  "%.17g instead of %.17g", actual, expected);
			square += expected * expected;
		}
	}
	CHECK_NEAR(wmlc_distance(a.gram, b.gram, WMLC_SQUARE) / sqrt(square), 1.0, 1e-15);
	free(difference);
	free_frame(&frame);
	free_sample(&a);
	free_sample(&b);
}

/* The same rows in another order are the same task, exactly. */
static void
test_order_of_rows(WmlcLoss loss)
{
	for (int whitened = 0; whitened <= 1; whitened++)
	{
		Sample		forwards = create_task(5, 1000, 60);
		Sample		backwards = create_task(5, 1000, 60);
		Sample		other = create_task(5, 100, 61);
		Frame		frame;
		double	   *difference;
		size_t		size;

		for (int i = 0; i < 1000; i++)
		{
			row_of(&forwards, i)[1] = row_of(&backwards, i)[1] *= 1e6;
			row_of(&forwards, i)[2] = row_of(&backwards, i)[2] *= 1e-3;
		}
		collect(&forwards, false);
		collect(&backwards, true);
		CHECK(memcmp(forwards.gram->sums, backwards.gram->sums,
					 2 * wmlc_gram_entries(5) * sizeof(double)) != 0, "the order left no trace");
		CHECK(wmlc_distance(forwards.gram, backwards.gram, loss) == 0.0, "not 0");
		create_frame(&frame, loss, backwards.gram, whitened ? other.gram : NULL);
		size = wmlc_difference_dims(&frame.frame);
		difference = create_difference(&frame, forwards.gram);
		CHECK(dot(difference, difference, size) == 0.0, "not 0");
		free(difference);

		/* the slightest change of one row is another task */
		row_of(&forwards, 500)[5] = nextafter(row_of(&forwards, 500)[5], 100.0);
		collect(&forwards, false);
		difference = create_difference(&frame, forwards.gram);
		CHECK(dot(difference, difference, size) > 0.0, "0");
		CHECK(wmlc_distance(forwards.gram, backwards.gram, loss) > 0.0, "0");
		free(difference);
		free_frame(&frame);
		free_sample(&forwards);
		free_sample(&backwards);
		free_sample(&other);
	}
}

/* ---- whitening ---- */

/* R P R' = I, in as many directions as there are. */
static void
check_whitener(const WmlcWhitener *whitener, const WmlcGram *pooled, int rank)
{
	int			n = whitener->size;

	CHECK(whitener->rank == rank, "%d instead of %d", whitener->rank, rank);
	for (int i = 0; i < whitener->rank; i++)
	{
		for (int j = 0; j < whitener->rank; j++)
		{
			WmlcDd		sum = {0.0, 0.0};

			for (int k = 0; k < n; k++)
			{
				for (int l = 0; l < n; l++)
				{
					WmlcDd		product = wmlc_dd_mul(wmlc_dd_get(whitener->matrix, i * n + k),
													  wmlc_dd_get(whitener->matrix, j * n + l));

					sum = wmlc_dd_add(sum, wmlc_dd_mul(product, wmlc_gram_moment(pooled, k, l)));
				}
			}
			CHECK_NEAR(wmlc_dd_value(sum), i == j ? 1.0 : 0.0, 1e-12);
			CHECK(wmlc_dd_get(whitener->matrix, i * n + j).hi ==
				  wmlc_dd_get(whitener->transposed, j * wmlc_dd_stride(whitener->rank) + i).hi,
				  "not transposed");
		}
	}
}

static void
test_whitener(WmlcLoss loss)
{
	int			full = loss == WMLC_HINGE ? MAX_DIMS : MAX_DIMS + 1;
	Sample		task = create_task(MAX_DIMS, 40, 70);
	Frame		frame;

	create_frame(&frame, loss, task.gram, task.gram);
	check_whitener(&frame.whitener, task.gram, full);
	free_frame(&frame);

	/* offsets and scales */
	for (int i = 0; i < task.count; i++)
	{
		double	   *z = row_of(&task, i);

		z[1] = 1e6 + z[1];
		z[2] *= 1e6;
		z[3] *= 1e-3;
		z[4] = 1e-3 * z[4] + 1e3;
		z[MAX_DIMS] = 1e6 + z[MAX_DIMS];
	}
	collect(&task, false);
	create_frame(&frame, loss, task.gram, task.gram);
	check_whitener(&frame.whitener, task.gram, full);
	free_frame(&frame);

	/* a zero, a copy and a sum, rounded */
	for (int i = 0; i < task.count; i++)
	{
		double	   *z = row_of(&task, i);

		z[5] = 0.0;
		z[6] = z[4];
		z[7] = z[1] + z[3];
	}
	collect(&task, false);
	create_frame(&frame, loss, task.gram, task.gram);
	check_whitener(&frame.whitener, task.gram, full - 3);
	free_frame(&frame);

	/* fewer rows than dimensions */
	task.count = 2;
	collect(&task, false);
	create_frame(&frame, loss, task.gram, task.gram);
	check_whitener(&frame.whitener, task.gram, 2);
	free_frame(&frame);

	/* nothing at all */
	memset(task.rows, 0, task.count * WIDTH * sizeof(double));
	collect(&task, false);
	create_frame(&frame, loss, task.gram, task.gram);
	check_whitener(&frame.whitener, task.gram, 0);
	CHECK(wmlc_difference_dims(&frame.frame) == 0, "dims");
	free_frame(&frame);
	free_sample(&task);
}

#define SOURCES 4
#define BASIS_DIMS 4

/* Inner products of all whitened differences, which no rotation changes. */
static void
products_of_differences(Sample *sources, const Sample *target, WmlcLoss loss, double *products)
{
	WmlcGram   *pooled = malloc(wmlc_gram_bytes(BASIS_DIMS));
	double	   *difference[SOURCES];
	Frame		frame;

	wmlc_gram_init(pooled, BASIS_DIMS);
	for (int j = 0; j < SOURCES; j++)
		CHECK(wmlc_gram_merge(pooled, sources[j].gram) == WMLC_OK, "status");
	create_frame(&frame, loss, target->gram, pooled);
	for (int j = 0; j < SOURCES; j++)
		difference[j] = create_difference(&frame, sources[j].gram);
	for (int i = 0; i < SOURCES; i++)
	{
		for (int j = 0; j < SOURCES; j++)
			products[i * SOURCES + j] = dot(difference[i], difference[j],
											wmlc_difference_dims(&frame.frame));
	}
	CHECK(wmlc_sampling_variance(&frame.frame, &products[SOURCES * SOURCES]) == WMLC_OK, "status");
	for (int j = 0; j < SOURCES; j++)
		free(difference[j]);
	free_frame(&frame);
	free(pooled);
}

/* Change z to T z in every row; features have integers, so nothing rounds. */
static void
change_basis(Sample *sample, double matrix[BASIS_DIMS + 1][BASIS_DIMS + 1])
{
	for (int i = 0; i < sample->count; i++)
	{
		double	   *z = row_of(sample, i);
		double		old[BASIS_DIMS + 1];

		memcpy(old, z, sizeof(old));
		for (int k = 0; k <= BASIS_DIMS; k++)
			z[k] = dot(matrix[k], old, BASIS_DIMS + 1);
	}
	collect(sample, false);
}

static void
test_invariance(WmlcLoss loss)
{
	/* the constant stays; the second is for hinge loss, which leaves y alone */
	double		shear[BASIS_DIMS + 1][BASIS_DIMS + 1] = {
		{1, 0, 0, 0, 0},
		{1000000, 1, 0, 0, 0},
		{-3, 5, 1000000, 0, 2},
		{7, 1, -1, 0x1p-10, 0},
		{1000000, 3, 0, 1, 1}
	};
	double		scales[BASIS_DIMS + 1][BASIS_DIMS + 1] = {
		{1, 0, 0, 0, 0},
		{0, 1000000, 0, 0, 0},
		{0, 0, 0x1p-10, 0, 0},
		{-1000000, 0, 0, 3, 0},
		{0, 0, 0, 0, 1}
	};
	Sample		sources[SOURCES];
	Sample		target = create_task(BASIS_DIMS, 6, 80);
	double		before[SOURCES * SOURCES + 1];
	double		after[SOURCES * SOURCES + 1];

	for (int j = 0; j <= SOURCES; j++)
	{
		Sample	   *sample = j < SOURCES ? &sources[j] : &target;

		if (j < SOURCES)
			sources[j] = create_task(BASIS_DIMS, 12, 81 + j);
		for (int i = 0; i < sample->count; i++)
		{
			for (int k = 1; k <= BASIS_DIMS; k++)
				row_of(sample, i)[k] = round(16.0 * row_of(sample, i)[k]);
		}
		collect(sample, false);
	}
	products_of_differences(sources, &target, loss, before);
	for (int j = 0; j < SOURCES; j++)
		change_basis(&sources[j], loss == WMLC_HINGE ? scales : shear);
	change_basis(&target, loss == WMLC_HINGE ? scales : shear);
	products_of_differences(sources, &target, loss, after);
	for (int k = 0; k <= SOURCES * SOURCES; k++)
		CHECK_NEAR(after[k], before[k], 1e-13);
	CHECK(before[0] > 1e-3 && before[SOURCES * SOURCES] > 1e-3, "nothing to compare");
	for (int j = 0; j < SOURCES; j++)
		free_sample(&sources[j]);
	free_sample(&target);
}

/* ---- sampling variance ---- */

/* E |phi(z)|^2 - |E phi(z)|^2 over the weighted rows, divided by n - 1 */
static double
variance_of_rows(const Sample *sample, WmlcLoss loss)
{
	int			p = sample->dims + 1;
	long double moment[(MAX_DIMS + 1) * (MAX_DIMS + 1)] = {0.0};
	long double weight = 0.0;
	long double squares = 0.0;
	long double fourth = 0.0;
	long double product = 0.0;

	for (int i = 0; i < sample->count; i++)
	{
		const double *z = row_of(sample, i);
		long double w = sample->weights[i];
		long double norm = 0.0;
		long double y = z[sample->dims];

		for (int k = 0; k < p; k++)
		{
			norm += (long double) z[k] * z[k];
			for (int l = 0; l < p; l++)
				moment[k * p + l] += w * z[k] * z[l];
		}
		weight += w;
		squares += w * w;
		fourth += w * (loss == WMLC_HINGE ? y * y * (norm - y * y) : norm * norm);
	}
	for (int k = 0; k < p; k++)
	{
		for (int l = 0; l < p; l++)
		{
			long double m = moment[k * p + l] / weight;

			if (loss == WMLC_SQUARE || (k < sample->dims && l == sample->dims))
				product += m * m;
		}
	}
	return (double) ((fourth / weight - product) / (weight * weight / squares - 1.0));
}

static double
variance_of(const WmlcGram *target, WmlcLoss loss, const WmlcGram *pooled)
{
	Frame		frame;
	double		variance;

	create_frame(&frame, loss, target, pooled);
	CHECK(wmlc_sampling_variance(&frame.frame, &variance) == WMLC_OK, "status");
	free_frame(&frame);
	return variance;
}

static void
test_variance(WmlcLoss loss)
{
	Sample		task = create_task(5, 9, 90);
	double		exact = variance_of_rows(&task, loss);

	CHECK_NEAR(variance_of(task.gram, loss, NULL) / exact, 1.0, 1e-14);
	for (int i = 0; i < task.count; i++)
		task.weights[i] = 1.0 + i % 4;
	collect(&task, false);
	exact = variance_of_rows(&task, loss);
	CHECK_NEAR(variance_of(task.gram, loss, NULL) / exact, 1.0, 1e-14);

	/* equal rows have none, one row an unknown one */
	for (int i = 0; i < task.count; i++)
		memcpy(row_of(&task, i), row_of(&task, 0), WIDTH * sizeof(double));
	collect(&task, false);
	exact = variance_of(task.gram, loss, NULL);
	CHECK(exact >= 0.0 && exact < 1e-25, "%g", exact);
	task.count = 1;
	collect(&task, false);
	CHECK(isnan(variance_of(task.gram, loss, NULL)), "not NaN");
	CHECK(isnan(variance_of(task.gram, loss, task.gram)), "not NaN");
	free_sample(&task);
}

/*
 * Rows that have all moments of a normal distribution up to the fifth: the
 * nodes of Gauss and Hermite, 0 and +-sqrt 3 with weights 4 and 1, in three
 * dimensions.  On them, the formula for normal rows is exact.
 */
static Sample
create_normal(bool constant, double mean)
{
	Sample		sample = create_sample(constant ? 3 : 2, 27);

	for (int i = 0; i < 27; i++)
	{
		int			node[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
		double	   *z = row_of(&sample, i);
		double		u[3];

		for (int k = 0; k < 3; k++)
		{
			u[k] = sqrt(3.0) * node[k];
			sample.weights[i] *= node[k] == 0 ? 4.0 : 1.0;
		}
		if (constant)
			*z++ = 1.0;
		z[0] = mean + u[0];
		z[1] = -2.0 * mean + 0.5 * u[0] + 2.0 * u[1];
		z[2] = 3.0 * mean - u[0] + u[1] + 0.1 * u[2];
	}
	collect(&sample, false);
	return sample;
}

/* The rows R z, or (R psi, y). */
static Sample
create_whitened(const Sample *sample, const WmlcWhitener *whitener)
{
	Sample		result = create_sample(sample->dims, sample->count);

	memcpy(result.weights, sample->weights, sample->count * sizeof(double));
	for (int i = 0; i < sample->count; i++)
	{
		double	   *z = row_of(&result, i);

		z[sample->dims] = row_of(sample, i)[sample->dims];
		for (int k = 0; k < whitener->size; k++)
		{
			WmlcDdSpan	row = wmlc_dd_from(whitener->matrix, (size_t) k * whitener->size);

			z[k] = 0.0;
			for (int l = 0; l < whitener->size; l++)
				z[k] += row.hi[l] * row_of(sample, i)[l];
		}
	}
	return result;
}

static void
test_normal_variance(WmlcLoss loss, bool constant, double mean)
{
	Sample		sample = create_normal(constant, mean);
	Sample		other = create_task(sample.dims, 20, 95);
	double		exact = variance_of_rows(&sample, loss);
	Sample		whitened;
	Frame		frame;

	create_frame(&frame, loss, sample.gram, other.gram);
	whitened = create_whitened(&sample, &frame.whitener);
	CHECK_NEAR(variance_of(sample.gram, loss, NULL) / exact, 1.0, 1e-14);
	CHECK_NEAR(variance_of(sample.gram, loss, other.gram) / variance_of_rows(&whitened, loss), 1.0, 1e-12);
	sample.gram->q = sample.gram->h = wmlc_dd(NAN);
	CHECK_NEAR(variance_of(sample.gram, loss, NULL) / exact, 1.0, 1e-13);
	free_frame(&frame);
	free_sample(&whitened);
	free_sample(&sample);
	free_sample(&other);
}

/* ---- interrupts ---- */

static bool
stop(void)
{
	return true;
}

static void
test_interrupts(void)
{
	Sample		source = create_task(3, 10, 98);
	Sample		target = create_task(3, 10, 99);
	Frame		frame;
	double		result[10];
	double		variance;

	create_frame(&frame, WMLC_SQUARE, target.gram, source.gram);
	frame.frame.poll = stop;
	CHECK(wmlc_difference(&frame.frame, source.gram, result) == WMLC_INTERRUPTED, "went on");
	CHECK(wmlc_sampling_variance(&frame.frame, &variance) == WMLC_INTERRUPTED, "went on");
	CHECK(wmlc_whitener_create(&frame.whitener, source.gram, WMLC_SQUARE, frame.whitener_work, stop) ==
		  WMLC_INTERRUPTED, "went on");
	free_frame(&frame);
	free_sample(&source);
	free_sample(&target);
}

int
main(void)
{
	for (WmlcLoss loss = WMLC_SQUARE; loss <= WMLC_HINGE; loss++)
	{
		test_kernel(loss);
		test_range(loss);
		test_difference(loss);
		test_order_of_rows(loss);
		test_whitener(loss);
		test_invariance(loss);
		test_variance(loss);
		test_normal_variance(loss, false, 0.0);
		test_normal_variance(loss, true, 0.0);
		test_normal_variance(loss, true, 1.5);
	}
	test_cancellation();
	test_interrupts();
	return check_summary();
}
