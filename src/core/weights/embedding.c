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
#include "core/linalg/factor.h"
#include "core/linalg/tolerance.h"

#define ROOT_TWO 1.4142135623730951

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
	WmlcDd		scale_a = moment_scale(a);
	WmlcDd		scale_b = moment_scale(b);
	WmlcDd		sum = {0.0, 0.0};

	for (int i = 0; i < moment_rows(loss, d); i++)
	{
		for (int j = first_column(loss, d, i); j <= d; j++)
		{
			/* sums first: of the largest, the unit may leave a scale no digits */
			WmlcDd		t = term(wmlc_dd_mul(wmlc_dd_scale(wmlc_gram_sum(a, i, j), 1.0 / unit), scale_a),
								 wmlc_dd_mul(wmlc_dd_scale(wmlc_gram_sum(b, i, j), 1.0 / unit), scale_b));

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
	return largest > 0x1p-1000 && isfinite(largest) ? ldexp(1.0, ilogb(largest)) : 1.0;
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

static void
lay_out_whitener(WmlcWhitener *whitener, WmlcFactor *factor, WmlcDdSpan *column, int size,
				 WmlcArena *arena)
{
	size_t		n = size;

	whitener->size = size;
	whitener->matrix = wmlc_arena_span(arena, n * n);
	whitener->transposed = wmlc_arena_span(arena, n * wmlc_dd_stride(size));
	wmlc_factor_layout(factor, size, false, arena);
	*column = wmlc_arena_span(arena, n);

	/* which is only needed later */
	factor->square = (WmlcSquare) {wmlc_dd_stride(size), whitener->transposed};
}

size_t
wmlc_whitener_workspace(int dims)
{
	WmlcArena	arena = {NULL, 0};
	WmlcWhitener whitener;
	WmlcFactor	factor;
	WmlcDdSpan	column;

	lay_out_whitener(&whitener, &factor, &column, dims + 1, &arena);
	return arena.used;
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

/* The sums W P = L L' with pivoting; R is sqrt(W) times the inverse of L. */
WmlcStatus
wmlc_whitener_create(WmlcWhitener *whitener, const WmlcGram *pooled, WmlcLoss loss,
					 void *work, WmlcPoll poll)
{
	int			d = pooled->dims;
	int			size = moment_rows(loss, d);
	WmlcDd		unit = wmlc_dd_sqrt(pooled->weight);
	WmlcArena	arena = {work, 0};
	WmlcFactor	factor;
	WmlcDdSpan	column;
	WmlcStatus	status;

	lay_out_whitener(whitener, &factor, &column, size, &arena);
	factor.by_share = true;
	wmlc_factor_load(&factor, d + 1, pooled->sums, pooled->sums + wmlc_gram_entries(d), 0.0);
	status = wmlc_factor(&factor, wmlc_zero_pivot(size, (double) wmlc_gram_weighted_rows(pooled)), poll);
	whitener->rank = factor.rank;
	if (status != WMLC_OK)
		return status;
	wmlc_factor_inverse(&factor, (WmlcSquare) {size, whitener->matrix}, column);
	for (size_t k = 0; k < (size_t) factor.rank * size; k++)
		wmlc_dd_set(whitener->matrix, k, wmlc_dd_mul(wmlc_dd_get(whitener->matrix, k), unit));
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

static void
lay_out_frame(WmlcEmbeddingFrame *frame, int dims, WmlcArena *arena)
{
	size_t		p = (size_t) dims + 1;
	size_t		stride = wmlc_dd_stride(dims + 1);

	frame->target_moments = wmlc_arena_span(arena, wmlc_triangle_size(dims + 1));
	frame->sums = wmlc_arena_span(arena, wmlc_triangle_size(dims + 1));
	frame->difference = wmlc_arena_span(arena, wmlc_triangle_size(dims + 1));
	frame->square = wmlc_arena_span(arena, p * stride);
	frame->product = wmlc_arena_span(arena, stride);
	frame->row = wmlc_arena_span(arena, stride);
}

size_t
wmlc_embedding_frame_workspace(int dims)
{
	WmlcArena	arena = {NULL, 0};
	WmlcEmbeddingFrame frame;

	lay_out_frame(&frame, dims, &arena);
	return arena.used;
}

void
wmlc_embedding_frame_create(WmlcEmbeddingFrame *frame, WmlcLoss loss, const WmlcGram *target,
							const WmlcWhitener *whitener, void *work, WmlcPoll poll)
{
	WmlcArena	arena = {work, 0};
	WmlcDd		scale = moment_scale(target);

	lay_out_frame(frame, target->dims, &arena);
	frame->loss = loss;
	frame->target = target;
	frame->whitener = whitener;
	frame->poll = poll;
	frame->loops = wmlc_dd_vector_loops();
	frame->moments = loss == WMLC_HINGE ? (size_t) target->dims : wmlc_gram_entries(target->dims);
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
