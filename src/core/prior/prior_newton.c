/*
 * prior_newton.c
 *	  The local quadratic model of the objective, and steps from it.
 *
 * The objective f = -2 log-likelihood, with mu and s2 at their best values, is
 * a function of T = Lambda Lambda'.  A point moves as Lambda -> Lambda (I + E):
 * such moves stay positive semidefinite, and a direction without spread ends
 * with -1 on the diagonal of E, which Newton's method reaches quadratically.
 * Rotations of Lambda leave T alone, so an upper triangular E is enough, and if
 * the columns of Lambda are sorted by size it is the right half: a large column
 * turns by taking in some of a small one, never the other way round.  For the
 * same reason directions that have died out remain in the frame Phi: they have
 * no column of their own, but others turn towards them.
 *
 * Write X = E + E' + E E' for the change of T in the coordinates of the frame,
 * and for a task Q = Phi'Z'Z Phi, u = Phi'Z'rho / s, N = F^-1 Z'Z Phi with
 * F F' = P, W = u u' for ML and u u' + N'N for REML.  Then
 *
 *	  f(X) = f + <G, X> + 1/2 B(X, X) + ...,		G = sum alpha (Q - W)
 *	  B(X, X) = sum alpha (2 tr W X Q X - tr Q X Q X)
 *				- |sum alpha N X N'|^2 (REML only)
 *				- 2 |sum alpha N X u|^2 - (sum alpha u'X u)^2 / degrees
 *
 * where the last two terms are what mu and s2 take up by following T.  That is
 * what Newton's method needs close to the optimum.  Far away it is a poor guide
 * (B need not even be positive) and its expectation over data from the model at
 * hand is much better: Fisher's scoring,
 *
 *	  B(X, X) = sum alpha tr Q X Q X - (sum alpha tr Q X)^2 / degrees
 *
 * with Q - N'N in place of Q for REML.
 *
 * In E the slope contributes <G, E E'> to the curvature, which is what makes the
 * boundary attract.  Where G is negative T ought to grow, and this term would
 * only make the model concave, so it is left out there; in scoring it is left
 * out altogether.  The step then is one in T, and Lambda takes its root.
 *
 * Damping.  EM, which can never make things worse, is the step with
 * 4 sum alpha I as the Hessian.  Levenberg and Marquardt's method leads from
 * Newton to a relative of EM, weighted by the information along each direction
 * so that directions close to the boundary keep their pace.
 */
#include <cblas.h>
#include <lapacke.h>

#include "core/linalg/definite.h"
#include "core/linalg/eigen.h"
#include "core/prior/prior_internal.h"

/* Bounds of one step: what is left of a column, by how much T grows. */
#define LEAST_LEFT 0.01
#define LARGEST_GROWTH 1e4

/* Far from the optimum no direction may die: the share of information it keeps. */
#define LEAST_SHARE 1e-3

void
wmlc_model_layout(WmlcPriorModel *model, int dims, const WmlcPriorOptions *options,
				  WmlcArena *arena)
{
	size_t		d = dims;
	size_t		q = wmlc_count_random(dims, options);
	bool		full = options->covariance == WMLC_PRIOR_FULL;
	size_t		parameters = full ? wmlc_triangle_size((int) q) : q;

	model->covariance = options->covariance;
	model->poll = options->poll;
	model->interrupted = false;
	model->gradient = wmlc_arena_doubles(arena, parameters);
	model->hessian = wmlc_arena_doubles(arena, parameters * parameters);
	model->damping = wmlc_arena_doubles(arena, parameters);
	/* before it is a factor it maps parameters to the mean */
	model->factor = wmlc_arena_doubles(arena, parameters * (parameters > d ? parameters : d));
	model->unit = wmlc_arena_doubles(arena, parameters);
	model->step = wmlc_arena_doubles(arena, parameters);
	model->slope = wmlc_arena_doubles(arena, d * d);
	model->uphill = wmlc_arena_doubles(arena, d * d);
	model->gram = wmlc_arena_doubles(arena, d * d);
	model->change = wmlc_arena_doubles(arena, d * d);
	model->vectors = wmlc_arena_doubles(arena, d * d);
	model->values = wmlc_arena_doubles(arena, d);
	model->size = wmlc_arena_doubles(arena, d);
	model->metric = wmlc_arena_doubles(arena, d);
	model->least = wmlc_arena_doubles(arena, d);
	model->lapack = wmlc_arena_doubles(arena, 64 * d + 64);
}

/* Beyond so many columns, LAPACK takes too long at one go. */
#define LARGE_EIGEN 256

void
wmlc_model_eigen(WmlcPriorModel *model, int n, double *matrix, double *values)
{
	/* dsyev scales matrices that are close to overflow, which larger ones never are */
	if (n > LARGE_EIGEN)
		model->interrupted |= wmlc_eigen(n, matrix, values, model->lapack, model->poll) == WMLC_INTERRUPTED;
	else if (n > 0)
		(void) LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', n, matrix, n, values,
								  model->lapack, 64 * n + 64);
}

/* Lambda'Lambda; off the diagonal it plays no part in a diagonal model. */
static double
find_gram(WmlcPriorModel *model, int r, const WmlcPriorPoint *point)
{
	int			m = point->directions;
	double		trace = 0.0;

	/* Lambda by rows is its transpose by columns. */
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, r, 1.0, point->lambda, m,
				point->lambda, m, 0.0, model->gram, m);
	for (int k = 0; k < m; k++)
		trace += model->gram[k + (size_t) k * m];
	if (model->covariance == WMLC_PRIOR_DIAGONAL)
		for (int k = 0; k < m; k++)
			for (int l = 0; l < m; l++)
				if (k != l)
					model->gram[k + (size_t) l * m] = 0.0;
	return trace;
}

double
wmlc_model_penalty(WmlcPriorModel *model, const WmlcReduced *reduced,
				   const WmlcPriorPoint *point, double evenness)
{
	int			m = point->directions;
	double		trace,
				log_det = 0.0;

	if (evenness == 0.0 || m == 0)
		return 0.0;
	trace = find_gram(model, reduced->rank, point);
	if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', m, model->gram, m) != 0)
		return INFINITY;
	for (int k = 0; k < m; k++)
		log_det += 2.0 * log(model->gram[k + (size_t) k * m]);
	return evenness * (m * log(trace / m) - log_det);
}

double
wmlc_model_unevenness(WmlcPriorModel *model, const WmlcReduced *reduced, const WmlcPriorPoint *point)
{
	int			m = point->directions;
	double		trace = find_gram(model, reduced->rank, point);
	double		squares = cblas_ddot(m * m, model->gram, 1, model->gram, 1);

	return trace > 0.0 ? fmax(m * squares / (trace * trace) - 1.0, 0.0) : 0.0;
}

void
wmlc_model_slope(WmlcPriorModel *model, const WmlcPriorSlope *slope,
				 const WmlcPriorPoint *point, const WmlcReduced *reduced, double evenness)
{
	int			m = model->directions;
	double		trace = evenness == 0.0 ? 1.0 : find_gram(model, reduced->rank, point);

	for (int k = 0; k < m; k++)
	{
		model->size[k] = sqrt(slope->information[wmlc_triangle_index(m, k, k)]);
		for (int l = k; l < m; l++)
		{
			size_t		at = wmlc_triangle_index(m, k, l);
			double		g = slope->information[at] - slope->excess[at];

			/* A penalty lets nothing die, so the frame is Lambda. */
			if (evenness != 0.0)
				g += evenness * (m * model->gram[k + (size_t) l * m] / trace - (k == l));
			model->slope[k + (size_t) l * m] = model->slope[l + (size_t) k * m] = g;
		}
	}
}

/* The positive part of G, its directions scaled to equal information. */
static void
find_uphill(WmlcPriorModel *model)
{
	int			m = model->directions;
	double	   *vectors = model->vectors;

	if (model->covariance == WMLC_PRIOR_DIAGONAL)
	{
		for (int k = 0; k < m; k++)
			model->uphill[k + (size_t) k * m] = fmax(model->slope[k + (size_t) k * m], 0.0);
		return;
	}
	for (int k = 0; k < m; k++)
		for (int l = 0; l < m; l++)
			vectors[k + (size_t) l * m] = model->slope[k + (size_t) l * m]
				/ (model->size[k] * model->size[l]);
	wmlc_model_eigen(model, m, vectors, model->values);
	memset(model->uphill, 0, (size_t) m * m * sizeof(double));
	for (int k = 0; k < m; k++)
		if (model->values[k] > 0.0)
			cblas_dger(CblasColMajor, m, m, model->values[k], vectors + (size_t) k * m, 1,
					   vectors + (size_t) k * m, 1, model->uphill, m);
	for (int k = 0; k < m; k++)
		for (int l = 0; l < m; l++)
			model->uphill[k + (size_t) l * m] *= model->size[k] * model->size[l];
}

/*
 * The parameters are the elements (k, l), k <= l, of E in columns l that are
 * not dead; of a diagonal E only those with k = l.
 */
static inline int
column_start(const WmlcPriorModel *model, int l)
{
	return model->covariance == WMLC_PRIOR_FULL ? 0 : l;
}

static inline size_t
parameter(const WmlcPriorModel *model, int k, int l)
{
	if (model->covariance == WMLC_PRIOR_DIAGONAL)
		return l;
	return wmlc_triangle_size(l) - wmlc_triangle_size(model->dead) + k;
}

/* ---- the Hessian, full covariance ---- */

/* Entry (i, j) of the upper triangle, wherever asked for. */
static inline double
upper(const double *matrix, size_t n, size_t i, size_t j)
{
	return i <= j ? matrix[i + j * n] : matrix[j + i * n];
}

static inline size_t
pair(int m, int k, int l)
{
	return k <= l ? wmlc_triangle_index(m, k, l) : wmlc_triangle_index(m, l, k);
}

/* Between the parts of a large Hessian; whoever sees it first says so. */
static bool
stop(WmlcPriorModel *model)
{
	model->interrupted = model->interrupted || wmlc_interrupted(model->poll);
	return model->interrupted;
}

/* sum alpha (2 tr W X Q X - tr Q X Q X), gathered from the outer products */
static void
set_trace_terms(WmlcPriorModel *model, const double *curvature)
{
	int			m = model->directions;
	size_t		n = model->parameters;
	size_t		size = wmlc_triangle_size(m);

	for (int l = model->dead; l < m; l++)
		for (int k = 0; k <= l && !stop(model); k++)
			for (int b = model->dead; b < m; b++)
				for (int a = 0; a <= b; a++)
					model->hessian[parameter(model, k, l) + n * parameter(model, a, b)] = 2.0
						* (upper(curvature, size, pair(m, l, a), pair(m, k, b))
						   + upper(curvature, size, pair(m, k, a), pair(m, l, b)));
}

/* Columns of the Hessian, and rows of what is multiplied, between two polls. */
#define POLL_COLUMNS 256
#define POLL_ROWS 512

/* hessian -= factor map'map, map having so many rows */
static void
subtract_square(WmlcPriorModel *model, int rows, double factor, const double *map)
{
	int			n = (int) model->parameters;

	for (int first = 0; first < n && !stop(model); first += POLL_COLUMNS)
	{
		int			width = n - first < POLL_COLUMNS ? n - first : POLL_COLUMNS;

		for (int row = 0; row < rows && !stop(model); row += POLL_ROWS)
			cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, width,
						rows - row < POLL_ROWS ? rows - row : POLL_ROWS, -factor, map + row, rows,
						map + row + (size_t) first * rows, rows, 1.0, model->hessian + (size_t) first * n, n);
	}
}

/* hessian -= factor x x', x being model->step */
static void
subtract_outer(WmlcPriorModel *model, double factor)
{
	int			n = (int) model->parameters;

	for (int first = 0; first < n && !stop(model); first += POLL_COLUMNS)
		cblas_dger(CblasColMajor, n, n - first < POLL_COLUMNS ? n - first : POLL_COLUMNS, -factor,
				   model->step, 1, model->step + first, 1, model->hessian + (size_t) first * n, n);
}

/* - 2 |sum alpha N X u|^2 */
static void
subtract_mean_terms(WmlcPriorModel *model, int r, const double *coupling)
{
	int			m = model->directions;
	size_t		step = (size_t) r * m;
	double	   *map = model->factor;	/* r x n, free until the factorisation */

	for (int l = model->dead; l < m; l++)
		for (int k = 0; k <= l; k++)
			for (int a = 0; a < r; a++)
				map[a + r * parameter(model, k, l)] = coupling[(size_t) a * m + k + step * l]
					+ coupling[(size_t) a * m + l + step * k];
	subtract_square(model, r, 2.0, map);
}

/* 2 <G, E E'> */
static void
add_slope_terms(WmlcPriorModel *model)
{
	int			m = model->directions;
	size_t		n = model->parameters;

	for (int l = model->dead; l < m; l++)
		for (int a = 0; a <= l; a++)
			for (int b = 0; b <= l; b++)
				model->hessian[parameter(model, a, l) + n * parameter(model, b, l)] +=
					2.0 * model->uphill[a + (size_t) b * m];
}

/*
 * - |sum alpha N X N'|^2.  As N = F^-1 Phi^-T Q and the frame is orthogonal in
 * the metric P, this is the sum of (sum alpha Q X Q)_ab^2 / (P_aa P_bb).
 */
static void
subtract_reml_terms(WmlcPriorModel *model, const double *products)
{
	int			m = model->directions;
	size_t		size = wmlc_triangle_size(m);
	double	   *map = model->factor;	/* size x n */

	for (int l = model->dead; l < m; l++)
		for (int k = 0; k <= l && !stop(model); k++)
			for (int a = 0; a < m; a++)
				for (int b = a; b < m; b++)
					map[wmlc_triangle_index(m, a, b) + size * parameter(model, k, l)] =
						(a == b ? 1.0 : M_SQRT2) / (model->metric[a] * model->metric[b])
						* (upper(products, size, pair(m, a, k), pair(m, b, l))
						   + upper(products, size, pair(m, a, l), pair(m, b, k)));
	subtract_square(model, (int) size, 1.0, map);
}

static void
build_full(WmlcPriorModel *model, const WmlcPriorSlope *slope, int r)
{
	set_trace_terms(model, slope->curvature);
	if (model->scoring)
		return;
	add_slope_terms(model);
	subtract_mean_terms(model, r, slope->coupling);
	if (slope->products != NULL)
		subtract_reml_terms(model, slope->products);
}

/* ---- the Hessian, diagonal covariance ---- */

static void
build_diagonal(WmlcPriorModel *model, const WmlcPriorSlope *slope, int r)
{
	int			m = model->directions;

	for (int k = 0; k < m; k++)
	{
		for (int l = 0; l < m; l++)
			model->hessian[k + (size_t) l * m] = 4.0 * slope->curvature[pair(m, k, l)];
		if (!model->scoring)
			model->hessian[k + (size_t) k * m] += 2.0 * model->uphill[k + (size_t) k * m];
	}
	if (model->scoring)
		return;
	/* The coupling by rows, r x m, is its transpose by columns. */
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, r, -8.0, slope->coupling, m,
				slope->coupling, m, 1.0, model->hessian, m);
	if (slope->products == NULL)
		return;
	for (int k = 0; k < m; k++)
		for (int l = 0; l < m; l++)
		{
			const double *x = slope->products + k * wmlc_triangle_size(r);
			const double *y = slope->products + l * wmlc_triangle_size(r);

			for (int a = 0; a < r; a++)
				for (int b = a; b < r; b++)
					model->hessian[k + (size_t) l * m] -= (a == b ? 4.0 : 8.0)
						* x[wmlc_triangle_index(r, a, b)] * y[wmlc_triangle_index(r, a, b)];
		}
}

/* ---- both ---- */

/* - (sum alpha u'X u)^2 / degrees, or in expectation with Q in place of u u' */
static void
subtract_noise_terms(WmlcPriorModel *model, const WmlcPriorSlope *slope, double degrees)
{
	int			m = model->directions;

	for (int l = model->dead; l < m; l++)
		for (int k = column_start(model, l); k <= l; k++)
		{
			size_t		at = wmlc_triangle_index(m, k, l);
			double		score = slope->score[at];

			if (model->scoring)
				score += slope->information[at] - slope->excess[at];
			model->step[parameter(model, k, l)] = score;
		}
	subtract_outer(model, 4.0 / degrees);
}

/*
 * The penalty is evenness (m log tr Lambda (I + E)(I + E)' Lambda' - 2 log |I + E|)
 * with triangular E.
 */
static void
add_penalty_terms(WmlcPriorModel *model, double evenness)
{
	int			m = model->directions;
	size_t		n = model->parameters;
	double		trace = 0.0;

	for (int k = 0; k < m; k++)
		trace += model->gram[k + (size_t) k * m];
	for (int l = 0; l < m; l++)
		for (int k = column_start(model, l); k <= l; k++)
		{
			size_t		at = parameter(model, k, l);

			model->step[at] = model->gram[k + (size_t) l * m] / trace;
			model->hessian[at + n * at] += (k == l ? 4.0 : 2.0) * evenness;
		}
	subtract_outer(model, 4.0 * evenness * m);
}

void
wmlc_model_build(WmlcPriorModel *model, const WmlcPriorSlope *slope, const WmlcPriorPoint *point,
				 const WmlcReduced *reduced, double degrees, double evenness)
{
	int			m = model->directions;
	bool		full = model->covariance == WMLC_PRIOR_FULL;

	model->scoring = slope->kind == WMLC_SLOPE_EXPECTED;
	model->parameters = full ? wmlc_triangle_size(m) - wmlc_triangle_size(model->dead) : (size_t) m;
	if (!model->scoring)
		find_uphill(model);
	if (full)
		build_full(model, slope, reduced->rank);
	else
		build_diagonal(model, slope, reduced->rank);

	/* A fixed s2 stays where it is and takes up nothing. */
	if (wmlc_noise_is_free(reduced, point))
		subtract_noise_terms(model, slope, degrees);
	if (evenness != 0.0)
		add_penalty_terms(model, evenness);

	for (int l = model->dead; l < m; l++)
	{
		double		share = model->size[l] * model->size[l] / reduced->weight;
		double		left = LEAST_LEFT;

		if (model->scoring)
			left = fmax(left, sqrt(fmin(LEAST_SHARE / share, 1.0)));
		model->least[l] = model->scoring ? 0.5 * (left * left - 1.0) : left - 1.0;
		for (int k = column_start(model, l); k <= l; k++)
		{
			size_t		at = parameter(model, k, l);

			model->gradient[at] = 2.0 * model->slope[k + (size_t) l * m];
			model->damping[at] = (k == l ? 4.0 : 2.0) * model->size[k] * model->size[k];
		}
	}
}

/* Keep the step within bounds. */
static void
clip_step(WmlcPriorModel *model)
{
	for (int l = model->dead; l < model->directions; l++)
		for (int k = column_start(model, l); k <= l; k++)
		{
			double	   *step = &model->step[parameter(model, k, l)];
			double		most = 0.5 * LARGEST_GROWTH * model->size[l] / model->size[k];
			double		least = k == l ? model->least[l] : -most;

			*step = fmin(fmax(*step, least), most);
		}
}

/*
 * J + E.  Growth on the diagonal, and in scoring every change there, is meant
 * for T, so Lambda gets its root.
 */
static void
unpack_step(WmlcPriorModel *model)
{
	int			n = model->directions;
	double	   *column = model->change;

	memset(model->change, 0, (size_t) n * n * sizeof(double));
	for (int l = model->dead; l < n; l++, column += n)
		for (int k = column_start(model, l); k <= l; k++)
		{
			double		step = model->step[parameter(model, k, l)];

			if (k == l)
				step = step > 0.0 || model->scoring ? sqrt(1.0 + 2.0 * step) : 1.0 + step;
			column[k] = step;
		}
}

/* A square of so many entries fits into fast memory both by rows and by columns. */
#define SQUARE 64

/* The lower triangle of the Hessian, scaled to a diagonal of ones, by rows to the factor. */
static bool
scale_hessian(WmlcPriorModel *model)
{
	size_t		n = model->parameters;
	const double *unit = model->unit;

	for (size_t rows = 0; rows < n && !stop(model); rows += SQUARE)
		for (size_t columns = 0; columns <= rows; columns += SQUARE)
			for (size_t i = rows; i < n && i < rows + SQUARE; i++)
				for (size_t j = columns; j <= i && j < columns + SQUARE; j++)
					model->factor[i * n + j] = i == j ? 1.0
						: model->hessian[i + n * j] * unit[i] * unit[j];
	return !model->interrupted;
}

/* model->step = (hessian + damping)^-1 gradient, if that matrix is positive definite */
static bool
solve_damped(WmlcPriorModel *model, double damping)
{
	size_t		n = model->parameters;
	WmlcStatus	status;

	for (size_t i = 0; i < n; i++)
	{
		double		diagonal = model->hessian[i + n * i] + damping * model->damping[i];

		if (!(diagonal > 0.0))
			return false;
		model->unit[i] = 1.0 / sqrt(diagonal);
		model->step[i] = -model->gradient[i] * model->unit[i];
	}
	if (!scale_hessian(model))
		return false;
	status = wmlc_definite_factor((int) n, model->factor, (int) n, model->poll);
	model->interrupted = model->interrupted || status == WMLC_INTERRUPTED;
	if (status != WMLC_OK)
		return false;
	wmlc_definite_solve((int) n, model->factor, (int) n, model->step);
	for (size_t i = 0; i < n; i++)
		model->step[i] *= model->unit[i];
	return true;
}

bool
wmlc_model_newton(WmlcPriorModel *model, double damping, double *expected)
{
	size_t		n = model->parameters;

	if (!solve_damped(model, damping) || stop(model))
		return false;
	clip_step(model);
	unpack_step(model);
	cblas_dsymv(CblasColMajor, CblasLower, n, 0.5, model->hessian, n, model->step, 1, 0.0,
				model->unit, 1);
	*expected = -(cblas_ddot(n, model->gradient, 1, model->step, 1)
				  + cblas_ddot(n, model->unit, 1, model->step, 1));
	return *expected >= 0.0;
}
