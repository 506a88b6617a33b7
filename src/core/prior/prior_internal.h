/*
 * prior_internal.h
 *	  What the parts of the prior's fit share.
 *
 *	  prior_weights.c	what each task counts
 *	  prior_triangle.c	the triangle of one task
 *	  prior_reduce.c	grams to compressed tasks in a basis fit for doubles
 *	  prior_span.c		features whose coefficients are the same in all tasks
 *	  prior_smooth.c	features whose coefficients are drawn towards zero
 *	  prior_leave.c		how large these may be, judged by tasks left out
 *	  prior_tasks.c		the noise and the scale of each task
 *	  prior_gamma.c		and how these are distributed over tasks
 *	  prior_sweep.c		sums over all tasks at a given T: the objective
 *	  prior_slope.c		the same for its derivatives
 *	  prior_newton.c	the local quadratic model of the objective and its minimum
 *	  prior_point.c		a point of the iteration, and the objective there
 *	  prior_fit.c		the iteration
 *	  prior.c			in from the caller's units and out again
 *	  prior_posteriors.c	the tasks' coefficients under the prior
 *	  prior_joint.c		what an error of S does to that of mu
 *	  prior_loglik.c	the likelihood of a given prior
 *
 * Notation.  A task of whatever number of rows is compressed to the triangle R
 * of a QR factorisation of its rows: r x r for the features, beta for the
 * response, and what is left of y'y.  With T = S / s2 = Lambda Lambda', where
 * Lambda is r x m, the task's compressed responses have covariance
 * s2 V, V = I + R T R', and
 *
 *	  K K' = V,	 Z = K^-1 R,	rho = K^-1 (beta - R mu),	P = sum alpha Z'Z
 *
 * are all that is needed; nothing in it cancels.
 */
#ifndef WMLC_PRIOR_INTERNAL_H
#define WMLC_PRIOR_INTERNAL_H

#include <cblas.h>
#include <stddef.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/triangle.h"
#include "core/linalg/factor.h"
#include "core/linalg/tolerance.h"
#include "core/prior/prior.h"

/* This many tasks go through the sweeps side by side. */
#define WMLC_PRIOR_LANES 4

typedef double WmlcLanes __attribute__((vector_size(8 * WMLC_PRIOR_LANES), aligned(8), may_alias));

/* ---- prior_weights.c ---- */

/* Final weights of tasks; zero where a task has no rows or no weight. */
typedef struct WmlcPriorWeights
{
	double	   *alpha;
	double		tasks;
	double		total;			/* sum of alpha, the effective number of tasks */
	double		rows;			/* sum of alpha n */
} WmlcPriorWeights;

extern WmlcStatus wmlc_prior_weigh(const WmlcPriorTasks *tasks, WmlcPriorWeights *weights);

/* ---- prior_triangle.c ---- */

/*
 * The triangle R of a task, G = R'R, in double-double: for the sums of a task
 * it is what a QR factorisation is for its rows.  Row i of R stands in row i of
 * the square from the diagonal on.  A feature that depends on those before it
 * has a zero row.
 *
 * This is no WmlcFactor: the features must stay in the order of the pooled
 * basis, in which the triangle is changed to that basis by one product, and so
 * there is nothing to choose.
 */
typedef struct WmlcTriangle
{
	const WmlcDdLoops *loops;
	int			size;			/* features and response */
	WmlcSquare	square;
	WmlcDdSpan	remainder;		/* diagonal of what is not yet explained */
} WmlcTriangle;

/*
 * How much of a diagonal may be rounding, for sums of so many rows with and
 * without low parts.
 */
static inline double
wmlc_triangle_tolerance(int size, double rows, bool low_parts)
{
	return low_parts ? wmlc_zero_pivot(size, rows) : wmlc_zero_pivot_double(size);
}

extern void wmlc_triangle_layout(WmlcTriangle *triangle, int size, WmlcArena *arena);

/*
 * Where a triangle comes from: entries of the packed p x p sums.  Entry (i, k) is
 * scale_i scale_k G(index_i, index_k); a NULL index selects all, a NULL scale is
 * one.
 */
typedef struct WmlcTriangleSource
{
	int			p;
	const double *hi;
	const double *lo;			/* or NULL */
	double		rows;
	const int  *index;
	const double *scale;
} WmlcTriangleSource;

extern WmlcStatus wmlc_triangle_read(WmlcTriangle *triangle, const WmlcTriangleSource *source,
									 WmlcPoll poll);

/*
 * The lower triangular K with K K' = I + Y'Y, Y being n x n by columns.  The
 * workspace holds wmlc_root_work(n) numbers.
 */
extern WmlcStatus wmlc_root(int n, const double *y, double *root, double *work, WmlcPoll poll);

static inline size_t
wmlc_root_work(int n)
{
	return (size_t) n * (2 * n + 33);
}

static inline WmlcDd
wmlc_triangle_get(const WmlcTriangle *triangle, int i, int j)
{
	return wmlc_dd_get(wmlc_square_row(triangle->square, i), j);
}

/* ---- prior_triangle_lanes.c ---- */

/* Columns of such a group, at the most; pivots outside of these bounds are left to the careful way. */
#define WMLC_MOST_GROUP_SIZE 12
#define WMLC_LEAST_GROUP_PIVOT 1e-200
#define WMLC_LARGEST_GROUP_PIVOT 1e200

/*
 * Tasks whose triangles are found together, each one as by wmlc_triangle_read and
 * then times the basis.
 */
typedef struct WmlcTriangleGroup
{
	int			p;
	int			size;			/* kept features and the response */
	const double *hi[WMLC_PRIOR_LANES];	/* packed p x p sums */
	const double *lo[WMLC_PRIOR_LANES]; /* or NULL */
	const int  *index;
	const double *scale;
	WmlcSquare	basis;			/* column j in row j */
	double		unit;			/* of the response */

	/* Out: a bit for each lane that this is too coarse for, and roots of y'y - beta'beta. */
	unsigned	hard;
	WmlcLanes	residual;
} WmlcTriangleGroup;

extern void wmlc_triangle_group(WmlcTriangleGroup *group, WmlcLanes *block);

/* ---- prior_reduce.c ---- */

/*
 * Compressed tasks and the way back to the caller's units.  With scaled
 * features psi' = scale psi, the internal features are psi' restricted to the
 * `rank` kept ones times basis, and the internal response is
 * (scale y - psi' . center) / response_unit.
 */
typedef struct WmlcReduced
{
	int			dims;			/* d */
	int			rank;			/* r */
	size_t		blocks;			/* of WMLC_PRIOR_LANES tasks */
	WmlcLanes  *tasks;			/* per block: R packed, beta, then WMLC_TASK_... */

	/*
	 * T acts on the first `height` coordinates alone; r unless some features
	 * are fixed.  Rows of R below contribute sums that do not depend on T, at mu
	 * = 0: see prior_span.c.
	 */
	int			height;
	double	   *fixed_precision;	/* packed r x r */
	double	   *fixed_pull;		/* r */
	double		fixed_squares;

	/*
	 * Of smooth features, the mean square that is their own, in scaled units; zero of
	 * others: see prior_smooth.c.
	 */
	double	   *smooth;
	double		weight;			/* sum of alpha */
	double		rows;			/* sum of alpha n */
	double		within;			/* sum of alpha (y'y - beta'beta) */
	double		floor;			/* least noise variance, in internal units */
	double		fixed_noise;	/* in internal units, or 0 */
	double		response_unit;
	double		log_volume;		/* log |X'X| per task is this plus the internal one */
	int		   *kept;			/* r: the features the basis is built from */
	double	   *scale;			/* p powers of two */
	double	   *basis;			/* r x r upper triangle by columns */
	double	   *loadings;		/* r x d by columns: internal w = loadings . scaled w */
	double	   *center;			/* r */
} WmlcReduced;

/*
 * What stands behind beta.  With the noise v of a task in units of s2 and the
 * precision tau of its coefficients (both 1 in the plain model), rows are scaled
 * by 1 / sqrt(v tau) and residuals then count tau times:
 * see prior_tasks.c.
 */
enum
{
	WMLC_TASK_ALPHA,
	WMLC_TASK_SCALE,			/* 1 / sqrt(v tau) */
	WMLC_TASK_GAIN,				/* sqrt(tau) */
	WMLC_TASK_WITHIN,			/* y'y - beta'beta */
	WMLC_TASK_ROWS,				/* n */
	WMLC_TASK_NUMBERS
};

static inline size_t
wmlc_reduced_stride(int rank)
{
	return wmlc_triangle_size(rank) + rank + WMLC_TASK_NUMBERS;
}

/* Where the numbers of a block stand. */
static inline WmlcLanes *
wmlc_reduced_numbers(const WmlcReduced *reduced, size_t block)
{
	return reduced->tasks + block * wmlc_reduced_stride(reduced->rank)
		+ wmlc_triangle_size(reduced->rank) + reduced->rank;
}

extern void wmlc_prior_reduce_layout(WmlcReduced *reduced, int dims, size_t count,
									 WmlcArena *arena);
/* With `robust`, tasks whose responses are far larger than usual do not set the units. */
extern WmlcStatus wmlc_prior_reduce(const WmlcPriorTasks *tasks, const WmlcPriorWeights *weights,
									const bool *smooth, bool robust, WmlcReduced *reduced,
									WmlcArena scratch, WmlcPoll poll);
extern size_t wmlc_prior_reduce_scratch(int dims);

/* ---- prior_sweep.c ---- */

/* Tiled loops read their operands up to this far beyond the end. */
#define WMLC_PRIOR_TILE 4

/*
 * After this many blocks lanes are folded, outer products are added up and the
 * poll is asked.
 */
#define WMLC_PRIOR_BATCH_BLOCKS 32
#define WMLC_PRIOR_BATCH (WMLC_PRIOR_BATCH_BLOCKS * WMLC_PRIOR_LANES)

/* What a sweep over all tasks keeps in fast memory, and its running sums. */
typedef struct WmlcSweep
{
	const WmlcReduced *reduced;
	WmlcPriorCovariance covariance;
	bool		keep_products;	/* for the last term of prior_newton.c's Hessian */
	WmlcPoll	poll;
	bool		interrupted;	/* in the middle of a batch, which went on to its end */
	WmlcLanes  *spread;			/* R Lambda, r x m by rows */
	WmlcLanes  *factor;			/* K, r x r by rows */
	WmlcLanes  *white;			/* Z and in a last column rho, by rows */
	WmlcLanes  *response;		/* Z Phi, r x m by rows */
	WmlcLanes  *influence;		/* N, r x m by rows */
	WmlcLanes  *score;			/* u, m */
	WmlcLanes  *task_information;	/* Q, packed */
	WmlcLanes  *task_excess;	/* W, packed */
	WmlcLanes  *sums;
	WmlcDdSpan	totals;
	double	   *batch_left;		/* factors of outer products, one column per task */
	double	   *batch_right;
	double	   *batch_half;		/* Q / 2 likewise */
	double	   *batch_influence;	/* N likewise */
	double	   *batch_score;	/* u likewise */
} WmlcSweep;

/* A point T = Lambda Lambda' and the best mu and s2 there. */
typedef struct WmlcPriorPoint
{
	int			directions;		/* m */
	double	   *lambda;			/* r x m by rows */
	int		   *feature;		/* m: what each column belongs to if diagonal */
	double	   *mean;			/* mu, r */
	double	   *precision;		/* P, r x r */
	double	   *precision_factor;	/* lower triangular, P = F F', r x r by columns */
	double		noise;			/* s2 */
	double		objective;		/* -2 log-likelihood plus penalty, internal units */
} WmlcPriorPoint;

/* Does s2 follow T?  Not where it is given, nor at its floor. */
static inline bool
wmlc_noise_is_free(const WmlcReduced *reduced, const WmlcPriorPoint *point)
{
	return reduced->fixed_noise == 0.0 && point->noise > reduced->floor;
}

/* Which sums for derivatives: see prior_newton.c. */
typedef enum WmlcSlopeKind
{
	WMLC_SLOPE_FIRST,			/* for the gradient alone */
	WMLC_SLOPE_EXPECTED,		/* and for the expected second derivatives */
	WMLC_SLOPE_OBSERVED			/* and for the actual ones */
} WmlcSlopeKind;

/*
 * Sums for the derivatives of the objective along directions Phi (r x m), in
 * the notation of prior_newton.c.  Triangles are packed.
 */
typedef struct WmlcPriorSlope
{
	WmlcSlopeKind kind;
	bool		reml;
	double	   *information;	/* sum alpha Q */
	double	   *score;			/* sum alpha u u' */
	double	   *excess;			/* sum alpha W */
	double	   *curvature;		/* full: packed x packed; diagonal: packed */
	double	   *coupling;		/* observed.  full: r m x m; diagonal: r x m */
	double	   *products;		/* observed, REML, if kept.  full: packed x packed;
								 * diagonal: m x packed r */
} WmlcPriorSlope;

extern void wmlc_sweep_layout(WmlcSweep *sweep, int dims, const WmlcPriorOptions *options,
							  WmlcArena *arena);

/* Before the first sweep, once sweep->reduced is there. */
extern void wmlc_sweep_prepare(WmlcSweep *sweep);

/* Does a fit of these sizes have room for REML's last term? */
extern bool wmlc_keeps_products(int dims, const WmlcPriorOptions *options);

extern void wmlc_sweep_clear(WmlcSweep *sweep, size_t count);

/* Move the lanes of running sums to the totals, which lose nothing. */
extern void wmlc_sweep_fold(WmlcSweep *sweep, size_t count);
extern void wmlc_sweep_read(const WmlcSweep *sweep, size_t first, size_t count, double *values);

/*
 * The sums at point->lambda: P, sum alpha Z'rho at point->mean, sum alpha
 * log |V| and sum alpha |rho|^2.
 */
extern WmlcStatus wmlc_sweep_value(WmlcSweep *sweep, WmlcPriorPoint *point, double *pull,
								   double *log_det, double *squares);

/* ---- prior_span.c ---- */

typedef struct WmlcSpan
{
	double	   *columns;		/* loadings of random features, factored */
	double	   *rotation;		/* r x r by columns */
	double	   *task;			/* a task before and after */
	double	   *product;
	double	   *tau;
	double	   *lapack;
	int		   *pivots;			/* features whose loadings are the columns */
} WmlcSpan;

extern int	wmlc_count_random(int dims, const WmlcPriorOptions *options);
extern void wmlc_span_layout(WmlcSpan *span, int dims, const WmlcPriorOptions *options,
							 WmlcArena *arena);

/* Change basis so that T acts on the first coordinates. */
extern WmlcStatus wmlc_span_rotate(WmlcSpan *span, WmlcReduced *reduced, const int *features,
								   int count, WmlcPoll poll);
extern WmlcStatus wmlc_sum_fixed(WmlcReduced *reduced, WmlcPoll poll);
extern void wmlc_add_fixed(const WmlcReduced *reduced, WmlcPriorPoint *point, double *pull,
						   double *squares);

/* Lambda in terms of the random features, d x m by columns, in scaled units */
extern void wmlc_span_solve(const WmlcSpan *span, const WmlcReduced *reduced,
							const WmlcPriorPoint *point, double *columns);

/* ---- prior_smooth.c ---- */

typedef struct WmlcSmooth
{
	int			count;			/* features that are drawn towards zero */
	double		penalty;		/* lambda */
	double	   *direction;		/* B: b sqrt(m), r x count by columns */
	double	   *offset;			/* o sqrt(m) */
	double	   *value;			/* B'mu + o */
	double	   *matrix;			/* F^-1 B, r x count by columns */
	double	   *square;			/* r x r */
	double	   *diagonal;		/* of a tridiagonal matrix; then what is beside it; scratch */
	double	   *pull;			/* r */
	double	   *lapack;
	int			lapack_size;
	double		volume;			/* log of the product of all m, in the caller's units */
} WmlcSmooth;

extern void wmlc_smooth_layout(WmlcSmooth *smooth, int dims, const WmlcPriorOptions *options,
							   WmlcArena *arena);

/* Read the reduced tasks, after their basis has got its last turn. */
extern void wmlc_smooth_start(WmlcSmooth *smooth, const WmlcReduced *reduced);

/* Add the penalty to the sums of a sweep at point->mean. */
extern void wmlc_smooth_add(WmlcSmooth *smooth, const WmlcReduced *reduced, WmlcPriorPoint *point,
							double *pull, double *squares);

/*
 * The best penalty at a complete point, T staying as it is; the point is to be
 * evaluated again.
 */
extern double wmlc_smooth_choose(WmlcSmooth *smooth, const WmlcReduced *reduced,
								 const WmlcPriorPoint *point, double degrees);

/* How many coefficients the smooth part is worth at a complete point. */
extern double wmlc_smooth_degrees(WmlcSmooth *smooth, const WmlcReduced *reduced,
								  const WmlcPriorPoint *point);

/* The standard deviation of the smooth part over rows, in internal units. */
extern double wmlc_smooth_sd(const WmlcSmooth *smooth, const WmlcReduced *reduced,
							 const WmlcPriorPoint *point);

/* B'mu + o, to smooth->value */
extern void wmlc_smooth_values(WmlcSmooth *smooth, int r, const double *mean);

/* The penalty that leaves nothing of it. */
extern double wmlc_smooth_most(const WmlcReduced *reduced);

/* ---- prior_leave.c ---- */

/*
 * Tasks are left out in so many groups, if there are as many.  Penalties tried are
 * multiples of the likelihood's, and at last one that leaves no smooth part at all.
 */
#define WMLC_LEAVE_GROUPS 20
#define WMLC_LEAVE_PENALTIES 17

/* Penalties are judged by all squares, and by those of a typical task. */
enum
{
	WMLC_LEAVE_TOTAL,
	WMLC_LEAVE_TYPICAL,
	WMLC_LEAVE_VIEWS
};

typedef struct WmlcLeaveTask
{
	size_t		slot;
	double		squares;		/* a row's, at the mean of all */
} WmlcLeaveTask;

typedef struct WmlcLeave
{
	WmlcLeaveTask *order;
	int		   *group;			/* of each task, or -1 */
	double	   *alpha;			/* their weights */
	double	   *fixed_precision;	/* of the tasks at hand, as in WmlcReduced */
	double	   *fixed_pull;
	double	   *precision;		/* sums of all tasks, r x r and r */
	double	   *pull;
	double	   *part_precision; /* of a group */
	double	   *part_pull;
	double	   *matrix;
	double	   *steps;			/* of the mean, for each group and penalty */
	double		scores[WMLC_LEAVE_GROUPS][WMLC_LEAVE_PENALTIES][WMLC_LEAVE_VIEWS];
} WmlcLeave;

extern void wmlc_leave_layout(WmlcLeave *leave, int dims, size_t count,
							  const WmlcPriorOptions *options, WmlcArena *arena);

/*
 * Raise smooth->penalty to what predicts tasks best that are left out, at a
 * complete point, which is to be evaluated again.
 */
extern WmlcStatus wmlc_leave_choose(WmlcLeave *leave, WmlcSmooth *smooth, WmlcSweep *sweep,
									WmlcReduced *reduced, const WmlcPriorPoint *point);

/* ---- prior_tasks.c ---- */

/*
 * Gamma distributions of the tasks' precisions, of the noise (shape, and scale in
 * internal units) and of the spread (both nu / 2).
 */
typedef struct WmlcTaskPrior
{
	bool		own_noise;
	bool		student;
	bool		full;			/* the covariance */
	double		noise_shape;
	double		noise_rate;
	double		noise_middle;	/* of the logarithms of noises, at first: the median, */
	double		noise_spread;	/* and the standard deviation of a normal upper half */
	double		noise_power;	/* rho */
	double		degrees;		/* nu */
	bool		fixed_degrees;
	double		power_step;		/* of rho, and of log nu, in the round before */
	double		degrees_step;
	int			rounds;			/* so far */
	double		used;			/* sum of alpha q */
	double		correction;		/* of the log-likelihood, for what is integrated out */
	double	   *statistics;		/* WMLC_TASK_STATISTICS for each task */
	double	   *sorted;			/* one for each task */
} WmlcTaskPrior;

extern void wmlc_task_layout(WmlcTaskPrior *prior, size_t count, const WmlcPriorOptions *options,
							 WmlcArena *arena);

/* First noises, from the tasks' own regressions. */
extern void wmlc_task_start(WmlcTaskPrior *prior, WmlcReduced *reduced,
							const WmlcPriorOptions *options);

/*
 * Noise and scale of every task, given T and mu, and their distributions; the
 * relative change of a precision comes back, its root mean square.
 */
extern WmlcStatus wmlc_task_update(WmlcTaskPrior *prior, WmlcSweep *sweep, WmlcReduced *reduced,
								   const WmlcPriorPoint *point, double *change);

/*
 * How many tasks lie too far away for normal coefficients, and the share in the
 * spread of one that makes up most of it beyond chance, or 0.
 */
extern WmlcStatus wmlc_count_outlying(WmlcTaskPrior *prior, WmlcSweep *sweep,
									  const WmlcPriorPoint *point, double tasks,
									  double largest, double *outlying, double *dominance);

/*
 * What the distance of a task's coefficients from the mean tells of its noise: halves of
 * degrees and squares to add, so that slope and curvature of the log-likelihood in log v are right
 * at v = noise.  `used` is q / 2 and `distance` |u|^2 / 2.
 */
extern void wmlc_add_distance(double power, double noise, double used, double distance,
							  double *degrees, double *squares);

/* ---- prior_gamma.c ---- */

/*
 * What a task counts among the noises, gamma(shape, rate) in 1 / v, one of so many tasks, given
 * the halves of its degrees and squares.
 */
extern double wmlc_noise_belief(double shape, double rate, double tasks, double degrees,
								double squares);

/* log density of log x, x having a gamma distribution, with Laplace's factor */
extern double wmlc_gamma_evidence(double shape, double rate, double x, double information);

/*
 * The same of a task's noise, of what its precision counts among all: the density is taken to this
 * power, lest a mistyped row make the whole prior seem impossible.
 */
extern double wmlc_noise_evidence(double shape, double rate, double belief, double precision,
								  double information);

/* What is kept of each task from one round to the next */
enum
{
	WMLC_NOISE_DEGREES,			/* halves of n - q, r, q, |u|^2 / tau */
	WMLC_NOISE_SQUARES,
	WMLC_SPREAD_DEGREES,
	WMLC_SPREAD_SQUARES,
	WMLC_SPREAD_WEIGHT,			/* tau */
	WMLC_NOISE_LOUD,			/* 1 of the loudest tasks, else 0 */
	WMLC_NOISE_BELIEF,			/* what the task counts in the distribution of noises */
	WMLC_TASK_STATISTICS
};

/* No noise is smaller than this share of the pooled one. */
#define WMLC_LEAST_NOISE 1e-10

static inline double
wmlc_clamp(double x, double least, double most)
{
	return fmin(fmax(x, least), most);
}

static inline double
wmlc_task_noise(const WmlcLanes *numbers, int lane)
{
	double		root = numbers[WMLC_TASK_SCALE][lane] * numbers[WMLC_TASK_GAIN][lane];

	return 1.0 / (root * root);
}

/* Before anything is known: nu, unless it is given, and rho; then a and b, and the loudest tasks */
extern void wmlc_guess_degrees(WmlcTaskPrior *prior, double given);
extern void wmlc_guess_noises(WmlcTaskPrior *prior, const WmlcReduced *reduced,
							  WmlcLanes *statistics);

/* A noise that hardly any task exceeds, v in internal units */
extern double wmlc_noise_limit(WmlcTaskPrior *prior, const WmlcReduced *reduced);

extern void wmlc_sort(double *numbers, size_t count);

/* The same for the sorted logarithms of any variances; `far` standard deviations of the median are no less. */
extern double wmlc_upper_limit(const double *sorted, size_t count, double far);

/* What each task counts under the distribution of noises as it is */
extern void wmlc_believe_noises(const WmlcTaskPrior *prior, const WmlcReduced *reduced,
								WmlcLanes *statistics);

/* Steps for a and b, for rho, whose change comes back, and for nu */
extern void wmlc_learn_noises(WmlcTaskPrior *prior, const WmlcReduced *reduced,
							  const WmlcLanes *statistics);
extern double wmlc_learn_power(WmlcTaskPrior *prior, const WmlcReduced *reduced,
							   const WmlcLanes *statistics);
extern void wmlc_learn_degrees(WmlcTaskPrior *prior, const WmlcReduced *reduced,
							   const WmlcLanes *statistics);

/* ---- prior_slope.c ---- */

/* The sums of slope->kind at a complete point. */
extern WmlcStatus wmlc_sweep_slope(WmlcSweep *sweep, const WmlcPriorPoint *point,
								   const double *phi, int directions, WmlcPriorSlope *slope);

/* ---- prior_newton.c ---- */

/*
 * The objective near a point as a quadratic in E, Lambda -> Phi (J + E), where
 * the frame Phi consists of `dead` directions without spread and the columns
 * of Lambda.
 */
typedef struct WmlcPriorModel
{
	WmlcPriorCovariance covariance;
	int			directions;		/* columns of Phi: r, or m if S is diagonal */
	int			dead;
	bool		scoring;		/* expected second derivatives */
	size_t		parameters;
	double	   *gradient;
	double	   *hessian;		/* parameters x parameters, both triangles */
	double	   *damping;		/* diagonal of the metric steps are measured in */
	double	   *factor;			/* of the damped Hessian */
	double	   *unit;			/* its diagonal scaling */
	double	   *step;
	double	   *slope;			/* G */
	double	   *uphill;			/* its positive semidefinite part */
	double	   *gram;			/* Lambda' Lambda, m x m */
	double	   *change;			/* J + E, directions x m by columns */
	double	   *vectors;
	double	   *values;
	double	   *size;			/* root of the information along each direction */
	double	   *metric;			/* root of Phi'P Phi along each, the same unless tasks differ */
	WmlcPoll	poll;
	bool		interrupted;
	double	   *least;			/* lower bounds of the step on the diagonal */
	double	   *lapack;			/* 64 d + 64 */
} WmlcPriorModel;

extern void wmlc_model_layout(WmlcPriorModel *model, int dims, const WmlcPriorOptions *options,
							  WmlcArena *arena);

/* The penalty of prior.h at Lambda, zero for equal spread in all directions. */
extern double wmlc_model_penalty(WmlcPriorModel *model, const WmlcReduced *reduced,
								 const WmlcPriorPoint *point, double evenness);

/* The squared coefficient of variation of the spread's eigenvalues there */
extern double wmlc_model_unevenness(WmlcPriorModel *model, const WmlcReduced *reduced,
									const WmlcPriorPoint *point);

/* G alone, penalty included */
extern void wmlc_model_slope(WmlcPriorModel *model, const WmlcPriorSlope *slope,
							 const WmlcPriorPoint *point, const WmlcReduced *reduced,
							 double evenness);

/* Gradient, Hessian and damping; G must be there already. */
extern void wmlc_model_build(WmlcPriorModel *model, const WmlcPriorSlope *slope,
							 const WmlcPriorPoint *point, const WmlcReduced *reduced,
							 double degrees, double evenness);

/*
 * The damped Newton step to model->change, and the decrease the model expects
 * of it.  False if the damped Hessian is not positive definite.
 */
extern bool wmlc_model_newton(WmlcPriorModel *model, double damping, double *expected);

/* Eigenvalues (ascending) and vectors of a symmetric n x n matrix, in place. */
extern void wmlc_model_eigen(WmlcPriorModel *model, int n, double *matrix, double *values);

/* ---- the fit ---- */

typedef struct WmlcPriorFit
{
	const WmlcPriorOptions *options;	/* set by the layout */
	WmlcReduced reduced;
	WmlcSweep	sweep;
	WmlcPriorSlope slope;
	WmlcPriorModel model;
	WmlcPriorPoint current;
	WmlcPriorPoint trial;
	WmlcSpan	span;
	WmlcSmooth	smooth;
	bool		smooth_fixed;	/* its penalty stays as it is */
	WmlcLeave	leave;
	WmlcTaskPrior task_prior;
	int		   *features;		/* those with spread */
	int			feature_count;
	double	   *pull;			/* r */
	double	   *phi;			/* the frame, r x model.directions by rows */
	double	   *scratch;		/* r x r */
	double		degrees;		/* of freedom of the noise: n or n - r */
	double		offset;			/* objective in the caller's units less internal one */
	int			iterations;
	bool		converged;
} WmlcPriorFit;

/* ---- prior_point.c ---- */

extern void wmlc_point_layout(WmlcPriorPoint *point, size_t d, WmlcArena *arena);

/*
 * Complete the point whose lambda is given: the best mu and s2, and the
 * objective.  point->mean is a first guess of mu, from which the correction is
 * found, so that nothing cancels once the guess is good.
 */
extern WmlcStatus wmlc_point_evaluate(WmlcPriorFit *fit, WmlcPriorPoint *point);

extern void wmlc_points_swap(WmlcPriorFit *fit);
extern void wmlc_point_copy(const WmlcPriorFit *fit, const WmlcPriorPoint *from,
							WmlcPriorPoint *to);

/* The first Lambda: the identity, or one column for each feature that has spread. */
extern void wmlc_point_start(WmlcPriorFit *fit);

/*
 * Lambda of the prior that options->near names, in place of the first one: its
 * columns in internal units, or their lengths if S is diagonal.
 */
extern void wmlc_point_start_near(WmlcPriorFit *fit, const WmlcPrior *near);

/* ---- prior_fit.c ---- */

extern void wmlc_fit_layout(WmlcPriorFit *fit, int dims, size_t count,
							const WmlcPriorOptions *options, WmlcArena *arena);

/*
 * Fit the compressed tasks of fit->reduced; with S = 0 throughout unless spread
 * is allowed.
 */
extern WmlcStatus wmlc_fit_run(WmlcPriorFit *fit, bool spread);

/* ---- prior_posteriors.c ---- */

/* Behind wmlc_prior_posteriors, of the tasks in fit->reduced. */
extern WmlcStatus wmlc_fit_posteriors(WmlcPriorFit *fit, const WmlcPriorWeights *weights,
									  const WmlcPrior *prior, size_t count, double *coef,
									  double *covariance);

/* ---- prior_joint.c ---- */

/*
 * Make precision_factor of the point found that of mu where S is not known
 * either, with wmlc_joint_workspace bytes.
 */
extern size_t wmlc_joint_workspace(int dims, const WmlcPriorOptions *options);
extern WmlcStatus wmlc_joint_precision(WmlcPriorFit *fit, void *work);

#endif							/* WMLC_PRIOR_INTERNAL_H */
