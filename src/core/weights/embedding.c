/*
 * embedding.c
 *	  Kernels, distances and differences of grams; see embedding.h.
 *
 * Everything is computed in double-double up to the last rounding: tasks with
 * an offset of 1e6 in a feature are huge and nearly equal, and their difference
 * is all that counts.
 */
#include <string.h>

#include "core/weights/embedding.h"
#include "core/gram/task.h"

#define ROOT_TWO 1.4142135623730951

/* A pivot below this share of its column's square says the column depends. */
#define DEPENDENT_PIVOT 0x1p-90

/* Sums of the same rows in another order differ by less than this share. */
#define NOISE 0x1p-90

static const char *const loss_words[] = {
	[WMLC_SQUARE] = "square",
	[WMLC_HINGE] = "hinge"
};

const WmlcWords wmlc_loss_words = WMLC_WORDS(loss_words);

size_t
wmlc_embedding_dims(WmlcLoss loss, int dims)
{
	return loss == WMLC_HINGE ? (size_t) dims + 1 : wmlc_triangle_size(dims + 1);
}

void
wmlc_embedding(const WmlcGram *gram, WmlcLoss loss, double *result)
{
	int			d = gram->dims;

	if (loss == WMLC_HINGE)
	{
		for (int i = 0; i < d; i++)
			result[i] = wmlc_dd_value(wmlc_gram_moment(gram, i, d));
		result[d] = 1.0;
		return;
	}
	for (int i = 0; i <= d; i++)
	{
		for (int j = i; j <= d; j++)
		{
			double		moment = wmlc_dd_value(wmlc_gram_moment(gram, i, j));

			*result++ = i == j ? moment : ROOT_TWO * moment;
		}
	}
}

/*
 * The moments that a loss looks at are the entries (i, j) of M with
 * i < moment_rows() and first_column() <= j <= d: the upper triangle, or b.
 */
static inline int
moment_rows(WmlcLoss loss, int dims)
{
	return loss == WMLC_HINGE ? dims : dims + 1;
}

static inline int
first_column(WmlcLoss loss, int dims, int i)
{
	return loss == WMLC_HINGE ? dims : i;
}

/* 1 / W, which turns sums into moments */
static inline WmlcDd
moment_scale(const WmlcGram *gram)
{
	return wmlc_dd_div(wmlc_dd(1.0), gram->weight);
}

/* sum over the coordinates of the embedding of term(a_k / unit, b_k / unit) */
static WmlcDd
sum_over_coordinates(const WmlcGram *a, const WmlcGram *b, WmlcLoss loss, double unit,
					 WmlcDd (*term) (WmlcDd, WmlcDd))
{
	int			d = a->dims;
	WmlcDd		scale_a = wmlc_dd_scale(moment_scale(a), 1.0 / unit);
	WmlcDd		scale_b = wmlc_dd_scale(moment_scale(b), 1.0 / unit);
	WmlcDd		sum = {0.0, 0.0};

	for (int i = 0; i < moment_rows(loss, d); i++)
	{
		for (int j = first_column(loss, d, i); j <= d; j++)
		{
			WmlcDd		t = term(wmlc_dd_mul(wmlc_gram_sum(a, i, j), scale_a),
								 wmlc_dd_mul(wmlc_gram_sum(b, i, j), scale_b));

			sum = wmlc_dd_add(sum, loss == WMLC_HINGE || i == j ? t : wmlc_dd_scale(t, 2.0));
		}
	}
	return sum;
}

static WmlcDd
square_of_difference(WmlcDd a, WmlcDd b)
{
	WmlcDd		difference = wmlc_dd_sub(a, b);

	return wmlc_dd_mul(difference, difference);
}

double
wmlc_kernel(const WmlcGram *a, const WmlcGram *b, WmlcLoss loss)
{
	WmlcDd		product = sum_over_coordinates(a, b, loss, 1.0, wmlc_dd_mul);

	return wmlc_dd_value(loss == WMLC_HINGE ? wmlc_dd_add_d(product, 1.0) : product);
}

/* May a difference of the moments (i, j) from those of the gram be rounding? */
static inline bool
is_noise(double difference, const WmlcGram *gram, int i, int j)
{
	return fabs(difference) * gram->weight.hi <=
		NOISE * sqrt(wmlc_gram_sum(gram, i, i).hi) * sqrt(wmlc_gram_sum(gram, j, j).hi);
}

/* Are the tasks the same up to rounding?  The first real difference tells. */
static bool
same_moments(const WmlcGram *a, const WmlcGram *b, WmlcLoss loss)
{
	int			d = a->dims;
	WmlcDd		scale_a = moment_scale(a);
	WmlcDd		scale_b = moment_scale(b);

	for (int i = 0; i < moment_rows(loss, d); i++)
	{
		for (int j = first_column(loss, d, i); j <= d; j++)
		{
			WmlcDd		difference = wmlc_dd_sub(wmlc_dd_mul(wmlc_gram_sum(a, i, j), scale_a),
												 wmlc_dd_mul(wmlc_gram_sum(b, i, j), scale_b));

			if (!is_noise(difference.hi, a, i, j))
				return false;
		}
	}
	return true;
}

/*
 * A power of two near the largest moment, which is on the diagonal.  In this
 * unit, squares of differences stay within the range of a double.
 */
static double
moment_unit(const WmlcGram *a, const WmlcGram *b)
{
	double		largest = 0.0;

	for (int i = 0; i <= a->dims; i++)
	{
		largest = fmax(largest, wmlc_gram_sum(a, i, i).hi / a->weight.hi);
		largest = fmax(largest, wmlc_gram_sum(b, i, i).hi / b->weight.hi);
	}
	return largest > 0x1p-1000 && largest < 0x1p1000 ? ldexp(1.0, ilogb(largest)) : 1.0;
}

double
wmlc_distance(const WmlcGram *a, const WmlcGram *b, WmlcLoss loss)
{
	double		unit = moment_unit(a, b);
	WmlcDd		square;

	if (same_moments(a, b, loss))
		return 0.0;
	square = sum_over_coordinates(a, b, loss, unit, square_of_difference);
	return unit * wmlc_dd_value(wmlc_dd_sqrt(square));
}

/* Carve a span off a workspace. */
static WmlcDdSpan
take_span(double **space, size_t count)
{
	WmlcDdSpan	span = {*space, *space + count};

	*space += 2 * count;
	return span;
}

/* What the construction of a whitener keeps in mind beside it. */
typedef struct WhitenerBuilder
{
	WmlcWhitener *whitener;
	const WmlcGram *pooled;		/* of second moments P */
	WmlcDdSpan	images;			/* R P by rows */
	WmlcDdSpan	remainder;		/* of each column's square, not yet explained */
	double	   *total;			/* the column's square */
	int		   *used;
} WhitenerBuilder;

size_t
wmlc_whitener_workspace(int dims)
{
	size_t		p = (size_t) dims + 1;

	return (2 * p * p + 2 * p * wmlc_dd_stride(dims + 1) + 3 * p) * sizeof(double) + p * sizeof(int);
}

/* The column of which most is unexplained, or -1 when all are. */
static int
find_pivot(const WhitenerBuilder *builder)
{
	const double *remainder = builder->remainder.hi;
	const double *total = builder->total;
	int			pivot = -1;

	for (int i = 0; i < builder->whitener->size; i++)
	{
		if (!builder->used[i] && remainder[i] > DEPENDENT_PIVOT * total[i] &&
			(pivot < 0 || remainder[i] / total[i] > remainder[pivot] / total[pivot]))
			pivot = i;
	}
	return pivot;
}

/*
 * The pivot's unit vector minus its projection on the earlier rows of R, in
 * the inner product of P (modified Gram and Schmidt).
 */
static void
orthogonalize(const WhitenerBuilder *builder, int pivot, WmlcDdSpan row, WmlcDdSpan image)
{
	const WmlcDdLoops *dots = wmlc_dd_loops();
	const WmlcDdVectorLoops *vectors = wmlc_dd_vector_loops();
	int			size = builder->whitener->size;

	for (int k = 0; k < size; k++)
	{
		wmlc_dd_set(row, k, wmlc_dd(k == pivot ? 1.0 : 0.0));
		wmlc_dd_set(image, k, wmlc_gram_moment(builder->pooled, pivot, k));
	}
	for (int r = 0; r < builder->whitener->rank; r++)
	{
		WmlcDdSpan	earlier = wmlc_dd_from(builder->whitener->matrix, (size_t) r * size);
		WmlcDdSpan	earlier_image = wmlc_dd_from(builder->images, (size_t) r * size);
		WmlcDd		overlap = wmlc_dd_neg(dots->dot(size, earlier, image));

		vectors->add_multiple(size, overlap, earlier, row);
		vectors->add_multiple(size, overlap, earlier_image, image);
	}
}

/* Add a row to R for the pivot, unless nothing but rounding is left of it. */
static void
add_row(const WhitenerBuilder *builder, int pivot)
{
	WmlcWhitener *whitener = builder->whitener;
	size_t		first = (size_t) whitener->rank * whitener->size;
	WmlcDdSpan	row = wmlc_dd_from(whitener->matrix, first);
	WmlcDdSpan	image = wmlc_dd_from(builder->images, first);
	WmlcDd		variance;
	WmlcDd		scale;

	orthogonalize(builder, pivot, row, image);
	variance = wmlc_dd_loops()->dot(whitener->size, row, image);
	if (!(variance.hi > DEPENDENT_PIVOT * builder->total[pivot]))
		return;
	scale = wmlc_dd_div(wmlc_dd(1.0), wmlc_dd_sqrt(variance));
	for (int k = 0; k < whitener->size; k++)
	{
		WmlcDd		scaled = wmlc_dd_mul(wmlc_dd_get(image, k), scale);

		wmlc_dd_set(image, k, scaled);
		wmlc_dd_set(row, k, wmlc_dd_mul(wmlc_dd_get(row, k), scale));
		wmlc_dd_set(builder->remainder, k, wmlc_dd_sub(wmlc_dd_get(builder->remainder, k),
													   wmlc_dd_mul(scaled, scaled)));
	}
	whitener->rank++;
}

/* R' with zeros behind its rows. */
static void
transpose(const WmlcWhitener *whitener)
{
	int			stride = wmlc_dd_stride(whitener->rank);

	for (int k = 0; k < whitener->size; k++)
	{
		for (int i = 0; i < stride; i++)
			wmlc_dd_set(whitener->transposed, (size_t) k * stride + i,
						i < whitener->rank
						? wmlc_dd_get(whitener->matrix, (size_t) i * whitener->size + k)
						: wmlc_dd(0.0));
	}
}

/* A pivoted Cholesky factorisation P = L L', of which R is the inverse of L. */
WmlcStatus
wmlc_whitener_create(WmlcWhitener *whitener, const WmlcGram *pooled, WmlcLoss loss,
					 void *work, WmlcPoll poll)
{
	int			size = moment_rows(loss, pooled->dims);
	double	   *space = (double *) work;
	WhitenerBuilder builder = {.whitener = whitener, .pooled = pooled};
	int			pivot;

	whitener->size = size;
	whitener->rank = 0;
	whitener->matrix = take_span(&space, (size_t) size * size);
	whitener->transposed = take_span(&space, (size_t) size * wmlc_dd_stride(size));
	builder.images = whitener->transposed;	/* which is only needed later */
	builder.remainder = take_span(&space, size);
	builder.total = space;
	builder.used = (int *) (space + size);
	for (int i = 0; i < size; i++)
	{
		wmlc_dd_set(builder.remainder, i, wmlc_gram_moment(pooled, i, i));
		builder.total[i] = builder.remainder.hi[i];
		builder.used[i] = 0;
	}
	while ((pivot = find_pivot(&builder)) >= 0)
	{
		if (wmlc_interrupted(poll))
			return WMLC_INTERRUPTED;
		builder.used[pivot] = 1;
		add_row(&builder, pivot);
	}
	transpose(whitener);
	return WMLC_OK;
}

/* The sums whose moments the loss looks at. */
static void
gather_sums(const WmlcGram *gram, WmlcLoss loss, WmlcDdSpan sums)
{
	size_t		entries = wmlc_gram_entries(gram->dims);

	if (loss == WMLC_SQUARE)
	{
		memcpy(sums.hi, gram->sums, entries * sizeof(double));
		memcpy(sums.lo, gram->sums + entries, entries * sizeof(double));
		return;
	}
	for (int i = 0; i < gram->dims; i++)
		wmlc_dd_set(sums, i, wmlc_gram_sum(gram, i, gram->dims));
}

size_t
wmlc_embedding_frame_workspace(int dims)
{
	size_t		p = (size_t) dims + 1;
	size_t		stride = wmlc_dd_stride(dims + 1);

	return 2 * (3 * wmlc_triangle_size(dims + 1) + p * stride + 2 * stride) * sizeof(double);
}

void
wmlc_embedding_frame_create(WmlcEmbeddingFrame *frame, WmlcLoss loss, const WmlcGram *target,
							const WmlcWhitener *whitener, void *work, WmlcPoll poll)
{
	int			p = target->dims + 1;
	int			stride = wmlc_dd_stride(p);
	double	   *space = (double *) work;
	WmlcDd		scale = moment_scale(target);

	frame->loss = loss;
	frame->target = target;
	frame->whitener = whitener;
	frame->poll = poll;
	frame->loops = wmlc_dd_vector_loops();
	frame->moments = loss == WMLC_HINGE ? (size_t) target->dims : wmlc_gram_entries(target->dims);
	frame->target_moments = take_span(&space, wmlc_triangle_size(p));
	frame->sums = take_span(&space, wmlc_triangle_size(p));
	frame->difference = take_span(&space, wmlc_triangle_size(p));
	frame->square = take_span(&space, (size_t) p * stride);
	frame->product = take_span(&space, stride);
	frame->row = take_span(&space, stride);
	gather_sums(target, loss, frame->sums);
	for (size_t k = 0; k < frame->moments; k++)
		wmlc_dd_set(frame->target_moments, k, wmlc_dd_mul(wmlc_dd_get(frame->sums, k), scale));
}

size_t
wmlc_difference_dims(const WmlcEmbeddingFrame *frame)
{
	if (frame->whitener == NULL)
		return frame->moments;
	return frame->loss == WMLC_HINGE ? (size_t) frame->whitener->rank
		: wmlc_triangle_size(frame->whitener->rank);
}

/* row = R v */
static void
whiten_vector(const WmlcEmbeddingFrame *frame, WmlcDdSpan v)
{
	const WmlcWhitener *whitener = frame->whitener;
	int			stride = wmlc_dd_stride(whitener->rank);

	frame->loops->combine(whitener->size, v, whitener->transposed, stride, stride, frame->row);
}

/* product = row i of R times the square, whose rows are wmlc_dd_stride(size) apart */
static void
whiten_left(const WmlcEmbeddingFrame *frame, int i)
{
	const WmlcWhitener *whitener = frame->whitener;
	int			stride = wmlc_dd_stride(whitener->size);

	frame->loops->combine(whitener->size, wmlc_dd_from(whitener->matrix, (size_t) i * whitener->size),
							frame->square, stride, stride, frame->product);
}

/* Moments as coordinates of the embedding, in the basis of the whitener. */
static WmlcStatus
whiten(const WmlcEmbeddingFrame *frame, WmlcDdSpan moments, double *result)
{
	const WmlcWhitener *whitener = frame->whitener;
	int			p = frame->target->dims + 1;

	if (frame->loss == WMLC_HINGE)
	{
		whiten_vector(frame, moments);
		for (int i = 0; i < whitener->rank; i++)
			result[i] = wmlc_dd_value(wmlc_dd_get(frame->row, i));
		return WMLC_OK;
	}
	wmlc_unpack_triangle(p, moments.hi, moments.lo, wmlc_dd_stride(p), frame->square);
	for (int i = 0; i < whitener->rank; i++)
	{
		whiten_left(frame, i);
		whiten_vector(frame, frame->product);
		for (int j = i; j < whitener->rank; j++)
			*result++ = wmlc_dd_value(wmlc_dd_get(frame->row, j)) * (i == j ? 1.0 : ROOT_TWO);
		if (wmlc_interrupted(frame->poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* Moments as coordinates of the embedding, in the frame's basis. */
static WmlcStatus
pack(const WmlcEmbeddingFrame *frame, WmlcDdSpan moments, double *result)
{
	int			p = frame->target->dims + 1;

	if (frame->whitener != NULL)
		return whiten(frame, moments, result);
	for (size_t k = 0; k < frame->moments; k++)
		result[k] = (moments.hi[k] + moments.lo[k]) * (frame->loss == WMLC_HINGE ? 1.0 : ROOT_TWO);
	for (int i = 0; i < p && frame->loss == WMLC_SQUARE; i++)
	{
		size_t		k = wmlc_triangle_index(p, i, i);

		result[k] = moments.hi[k] + moments.lo[k];
	}
	return WMLC_OK;
}

/* Is the difference rounding throughout? */
static bool
is_zero(const WmlcEmbeddingFrame *frame)
{
	int			d = frame->target->dims;
	const double *next = frame->difference.hi;

	for (int i = 0; i < moment_rows(frame->loss, d); i++)
	{
		for (int j = first_column(frame->loss, d, i); j <= d; j++)
		{
			if (!is_noise(*next++, frame->target, i, j))
				return false;
		}
	}
	return true;
}

WmlcStatus
wmlc_difference(const WmlcEmbeddingFrame *frame, const WmlcGram *source, double *result)
{
	WmlcDdSpan	difference = frame->difference;

	gather_sums(source, frame->loss, frame->sums);
	for (size_t k = 0; k < frame->moments; k++)
	{
		difference.hi[k] = -frame->target_moments.hi[k];
		difference.lo[k] = -frame->target_moments.lo[k];
	}
	frame->loops->add_multiple((int) frame->moments, moment_scale(source), frame->sums, difference);
	if (is_zero(frame))
	{
		memset(result, 0, wmlc_difference_dims(frame) * sizeof(double));
		return WMLC_OK;
	}
	return pack(frame, difference, result);
}

WmlcStatus
wmlc_whiten_difference(const WmlcEmbeddingFrame *frame, const double *plain, double *result)
{
	int			p = frame->target->dims + 1;
	WmlcDdSpan	moments = frame->difference;

	for (size_t k = 0; k < frame->moments; k++)
	{
		moments.hi[k] = frame->loss == WMLC_HINGE ? plain[k] : plain[k] / ROOT_TWO;
		moments.lo[k] = 0.0;
	}
	for (int i = 0; i < p && frame->loss == WMLC_SQUARE; i++)
		moments.hi[wmlc_triangle_index(p, i, i)] = plain[wmlc_triangle_index(p, i, i)];
	return whiten(frame, moments, result);
}

/* Of column j of the target's M (its first rows, for hinge), |R M e_j|^2 */
static double
column_square(const WmlcEmbeddingFrame *frame, int j)
{
	int			rows = moment_rows(frame->loss, frame->target->dims);
	WmlcDdSpan	column = frame->difference;
	double		sum = 0.0;

	for (int i = 0; i < rows; i++)
		wmlc_dd_set(column, i, wmlc_gram_moment(frame->target, i, j));
	if (frame->whitener != NULL)
	{
		rows = frame->whitener->rank;
		whiten_vector(frame, column);
		column = frame->row;
	}
	for (int i = 0; i < rows; i++)
		sum += column.hi[i] * column.hi[i];
	return sum;
}

/*
 * Square loss: E |z|^4 - |M|^2 = (tr M)^2 + |M|^2 - 2 |m|^4 for z normal with
 * second moments M and mean m, in the basis of the frame.
 */
static WmlcStatus
normal_variance_square(const WmlcEmbeddingFrame *frame, double *variance)
{
	int			rows = frame->whitener ? frame->whitener->rank : frame->target->dims + 1;
	int			constant = frame->target->constant;
	double		mean_square = constant < 0 ? 0.0 : column_square(frame, constant);
	double	   *packed = frame->sums.hi;
	double		trace = 0.0;
	double		norm_square = 0.0;
	WmlcStatus	status = pack(frame, frame->target_moments, packed);

	for (size_t k = 0; k < wmlc_difference_dims(frame); k++)
		norm_square += packed[k] * packed[k];
	for (int i = 0; i < rows; i++)
		trace += packed[wmlc_triangle_index(rows, i, i)];
	*variance = trace * trace + norm_square - 2.0 * mean_square * mean_square;
	return status;
}

/* The trace of A, in the basis of the frame for hinge loss. */
static WmlcStatus
feature_trace(const WmlcEmbeddingFrame *frame, double *trace)
{
	const WmlcGram *target = frame->target;
	const WmlcWhitener *whitener = frame->whitener;
	int			d = target->dims;
	int			stride = wmlc_dd_stride(d);

	*trace = 0.0;
	for (int i = 0; i < d; i++)
	{
		*trace += wmlc_dd_value(wmlc_gram_moment(target, i, i));
		for (int j = 0; j < stride; j++)
			wmlc_dd_set(frame->square, (size_t) i * stride + j,
						j < d ? wmlc_gram_moment(target, i, j) : wmlc_dd(0.0));
	}
	if (whitener == NULL)
		return WMLC_OK;
	*trace = 0.0;
	for (int i = 0; i < whitener->rank; i++)
	{
		whiten_left(frame, i);
		*trace += wmlc_dd_value(wmlc_dd_loops()->dot(d, frame->product,
													   wmlc_dd_from(whitener->matrix, (size_t) i * d)));
		if (wmlc_interrupted(frame->poll))
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/*
 * Hinge loss: E y^2 |psi|^2 - |b|^2 = c tr A + |b|^2 - 2 (E y)^2 |E psi|^2 for
 * normal z.
 */
static WmlcStatus
normal_variance_hinge(const WmlcEmbeddingFrame *frame, double *variance)
{
	const WmlcGram *target = frame->target;
	int			d = target->dims;
	double		c = wmlc_dd_value(wmlc_gram_moment(target, d, d));
	double		trace;
	WmlcStatus	status = feature_trace(frame, &trace);

	*variance = c * trace + column_square(frame, d);
	if (target->constant >= 0)
	{
		double		mean_response = wmlc_dd_value(wmlc_gram_moment(target, target->constant, d));

		*variance -= 2.0 * mean_response * mean_response * column_square(frame, target->constant);
	}
	return status;
}

WmlcStatus
wmlc_sampling_variance(const WmlcEmbeddingFrame *frame, double *variance)
{
	const WmlcGram *target = frame->target;
	double		rows = wmlc_gram_effective_rows(target);
	WmlcDd		fourth = frame->loss == WMLC_HINGE ? wmlc_gram_h(target) : wmlc_gram_q(target);
	WmlcStatus	status = WMLC_OK;

	*variance = NAN;
	if (!(rows > 1.0))
		return WMLC_OK;
	if (frame->whitener == NULL && wmlc_dd_is_finite(fourth))
		*variance = wmlc_dd_value(wmlc_dd_sub(wmlc_dd_div(fourth, target->weight),
											  sum_over_coordinates(target, target, frame->loss, 1.0,
																   wmlc_dd_mul)));
	else if (frame->loss == WMLC_HINGE)
		status = normal_variance_hinge(frame, variance);
	else
		status = normal_variance_square(frame, variance);
	*variance = *variance <= 0.0 ? 0.0 : *variance / (rows - 1.0);
	return status == WMLC_OK && !isfinite(*variance) ? WMLC_NOT_FINITE : status;
}
