/*
 * task.c
 *	  A gram spread out for matrix work.
 */
#include "core/gram/task.h"

#include <string.h>

static void
mirror(int n, int stride, double *square)
{
	for (int i = 0; i < n; i++)
	{
		const double *row = square + (size_t) i * stride;
		double	   *column = square + i;

		for (int j = i + 1; j < n; j++)
			column[(size_t) j * stride] = row[j];
	}
}

void
wmlc_mirror_upper(int n, int stride, WmlcDdSpan square)
{
	mirror(n, stride, square.hi);
	mirror(n, stride, square.lo);
}

void
wmlc_unpack_triangle(int p, const double *hi, const double *lo, int stride, WmlcDdSpan square)
{
	for (int i = 0; i < p; i++)
	{
		WmlcDdSpan	row = wmlc_dd_from(square, (size_t) i * stride);

		memcpy(row.hi + i, hi, (p - i) * sizeof(double));
		memcpy(row.lo + i, lo, (p - i) * sizeof(double));
		memset(row.hi + p, 0, (stride - p) * sizeof(double));
		memset(row.lo + p, 0, (stride - p) * sizeof(double));
		hi += p - i;
		lo += p - i;
	}
	wmlc_mirror_upper(p, stride, square);
}

size_t
wmlc_task_doubles(int d)
{
	size_t		stride = (size_t) wmlc_dd_stride(d + 1);

	return 2 * (d + 1) * stride + 2 * stride;
}

void
wmlc_task_load(WmlcTask *task, const WmlcGram *gram, double *space)
{
	int			p = gram->dims + 1;
	int			stride = wmlc_dd_stride(p);

	task->loops = wmlc_dd_vector_loops();
	task->d = gram->dims;
	task->stride = stride;
	task->sums = (WmlcDdSpan) {space, space + (size_t) p * stride};
	space += 2 * (size_t) p * stride;
	task->product = (WmlcDdSpan) {space, space + stride};

	wmlc_unpack_triangle(p, gram->sums, gram->sums + wmlc_gram_entries(gram->dims), stride,
						 task->sums);
}

void
wmlc_task_step(const WmlcTask *task, WmlcDd rate, WmlcDdSpan w)
{
	task->loops->combine(task->d, w, task->sums, task->stride, task->stride, task->product);
	task->loops->add_multiple(task->d, wmlc_dd(-1.0), wmlc_task_row(task, task->d),
								task->product);
	task->loops->add_multiple(task->d, wmlc_dd_neg(rate), task->product, w);
}

double
wmlc_task_norm(const WmlcTask *task)
{
	double		largest_row = 0.0;
	double		squares = 0.0;

	for (int i = 0; i < task->d; i++)
	{
		const double *row = wmlc_task_row(task, i).hi;
		double		absolute = 0.0;

		for (int j = 0; j < task->d; j++)
		{
			absolute += fabs(row[j]);
			squares += row[j] * row[j];
		}
		largest_row = fmax(largest_row, absolute);
	}

	/* squares may overflow; then the other bound still holds */
	return fmin(largest_row, sqrt(squares));
}
