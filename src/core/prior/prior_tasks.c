/*
 * prior_tasks.c
 *	  What each task has of its own beside its coefficients: a noise variance,
 *	  and a scale of how far from the mean its coefficients may lie.
 *
 * The model is
 *
 *	  y = psi.w_j + e,	e ~ N(0, v_j),	w_j ~ N(mu, S / tau_j)
 *	  1 / v_j ~ gamma(a, b),	tau_j ~ gamma(nu / 2, nu / 2)
 *
 * so that w_j has Student's t of nu degrees of freedom.  A fit alternates.  Given
 * v and tau it is the plain model again, of rows scaled by 1 / sqrt(v tau) whose
 * residuals count tau times.  Given mu and S, with the scores u and the
 * information Q of prior_newton.c along Lambda, a task has used up q = tr Q of
 * its rows, is left with
 *
 *	  residual squares r = (y'y - beta'beta) + (|rho|^2 - s2 |u|^2) / scaling,	n - q degrees,
 *
 * and stands |u|^2 from the mean, where q is expected.  Then
 *
 *	  v = (2 b + r) / (2 a + n - q),		tau = (nu + q) / (nu + |u|^2 / tau_before)
 *
 * are the fixed points of variational Bayes, and its gamma distributions of
 * 1 / v_j and tau_j are learned from r and |u|^2 with v_j and tau_j integrated out
 * (for the noise, Smyth 2004): with h degrees halved and x squares halved,
 *
 *	  sum alpha (a log b - log gamma(a) + log gamma(a + h) - (a + h) log(b + x)).
 *
 * A mistyped row gives a task a noise that no distribution of the others explains, and
 * would make the distribution so wide that it tells nothing of a new task.  So tasks count
 * by how likely it is that one of all is as noisy, b / (b + x) having a beta
 * distribution of shapes a and h; at first by the median and the median deviation.  Only
 * the loudest tenth of the tasks may count less, lest the others be taken for the rule where
 * there are two kinds; and as little as a task counts, its noise is drawn towards theirs.
 */
#include <stdlib.h>

#include "core/base/gamma.h"
#include "core/base/student.h"
#include "core/prior/prior_lanes.h"

/* Shapes that make no difference any more, and the least. */
#define LARGEST_SHAPE 1e5
#define LEAST_SHAPE 0.25

/* Degrees of freedom of the spread that can be learned. */
#define LEAST_DEGREES 1.0
#define LARGEST_DEGREES 1e3
#define FIRST_DEGREES 8.0

/*
 * Few tasks know little of nu: a gamma distribution of shape 2 and mean 20 before
 * the data (Juarez, Steel 2010), as a penalty.
 */
#define DEGREES_RATE 0.1

/* Noises that are expected less often than this in all tasks count less. */
#define UNLIKELY 0.1
#define LOUD 3.0				/* and are this many times the typical one at the least */
#define LOUDEST 0.1				/* share of tasks that may count less, one at the least */

/* The median deviation of a normal variable */
#define MEDIAN_DEVIATION 0.6745

/* A task dominates with more than this share in the spread, and with this probability by chance. */
#define MOST_OF 0.5
#define LARGEST_SHARE 0.9999
#define CHANCE 1e-3

/* Precisions change by no more than this factor at once. */
#define LARGEST_CHANGE 100.0

/* Newton steps for a gamma distribution in one update. */
#define GAMMA_STEPS 4

/* No noise is smaller than this share of the pooled one. */
#define LEAST_NOISE 1e-10

enum
{
	NOISE_DEGREES,				/* halves of n - q, r, q, |u|^2 / tau */
	NOISE_SQUARES,
	SPREAD_DEGREES,
	SPREAD_SQUARES,
	NOISE_LOUD,					/* 1 of the loudest tasks, else 0 */
	NOISE_BELIEF,				/* what the task counts in the distribution of noises */
	STATISTICS
};

void
wmlc_task_layout(WmlcTaskPrior *prior, size_t count, const WmlcPriorOptions *options,
				 WmlcArena *arena)
{
	size_t		blocks = (count + LANES - 1) / LANES;

	prior->own_noise = options->own_noise;
	prior->student = options->student;
	prior->noise_shape = prior->noise_rate = prior->degrees = 0.0;
	prior->fixed_degrees = false;
	prior->correction = 0.0;
	prior->statistics = wmlc_arena_take(arena, blocks * STATISTICS, sizeof(WmlcLanes));
	prior->sorted = wmlc_arena_doubles(arena, options->own_noise ? count : 0);
}

/* ---- gamma distributions ---- */

double
wmlc_gamma_evidence(double shape, double rate, double x, double information)
{
	return shape * log(rate * x) - rate * x - lgamma(shape) + 0.5 * log(2.0 * M_PI / information);
}

/* The sum to maximise, and derivatives with respect to log a and log(b / a). */
typedef struct GammaSums
{
	double		value;
	double		slope[2];
	double		curvature[3];	/* (1, 1), (1, 2), (2, 2) */
} GammaSums;

/* log gamma(a + h) - log gamma(a); the two nearly cancel for large a */
static double
log_gamma_step(double a, double h)
{
	double		x = a + h;

	if (a < 1e3)
		return lgamma(x) - lgamma(a);
	return (x - 0.5) * log1p(h / a) + h * log(a) - h + (1.0 / x - 1.0 / a) / 12.0;
}

static GammaSums
sum_gamma(const WmlcReduced *reduced, const WmlcLanes *statistics, int degrees, double a, double b)
{
	GammaSums	sums = {0};
	double		digamma_a = wmlc_digamma(a);
	double		trigamma_a = wmlc_trigamma(a);

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		size_t		block = j / LANES;
		int			lane = j % LANES;
		double		alpha = wmlc_reduced_numbers(reduced, block)[WMLC_TASK_ALPHA][lane];
		double		h = statistics[block * STATISTICS + degrees][lane];
		double		x = statistics[block * STATISTICS + degrees + 1][lane];
		double		share = b / (b + x);
		double		f_a,
					f_b,
					f_bb;

		if (degrees == NOISE_DEGREES)
			alpha *= statistics[block * STATISTICS + NOISE_BELIEF][lane];
		if (alpha == 0.0 || h <= 0.0)
			continue;
		f_a = a * (log(share) + wmlc_digamma(a + h) - digamma_a);
		f_b = a - (a + h) * share;
		f_bb = f_b - a + (a + h) * share * share;
		sums.value += alpha * (a * log(share) + log_gamma_step(a, h) - h * log(b + x));
		sums.slope[0] += alpha * (f_a + f_b);
		sums.slope[1] += alpha * f_b;
		sums.curvature[0] += alpha * (a * a * (wmlc_trigamma(a + h) - trigamma_a) + f_a
									  + 2.0 * a * (1.0 - share) + f_bb);
		sums.curvature[1] += alpha * (a * (1.0 - share) + f_bb);
		sums.curvature[2] += alpha * f_bb;
	}
	return sums;
}

/* What is believed of nu = 2 a beforehand. */
static void
add_degrees_prior(GammaSums *sums, double a)
{
	double		nu = 2.0 * a;

	sums->value += 2.0 * log(nu) - DEGREES_RATE * nu;
	sums->slope[0] += 2.0 - DEGREES_RATE * nu;
	sums->curvature[0] -= DEGREES_RATE * nu;
}

static double
clamp(double x, double least, double most)
{
	return fmin(fmax(x, least), most);
}

/* The Newton step, or one uphill where the sum is not concave. */
static void
find_step(const GammaSums *sums, bool tied, double step[2])
{
	double		a = fmin(sums->curvature[0], -1e-3 - 0.1 * fabs(sums->slope[0]));
	double		c = fmin(sums->curvature[2], -1e-3 - 0.1 * fabs(sums->slope[1]));
	double		b = tied ? 0.0 : sums->curvature[1];
	double		determinant = a * c - b * b;

	if (determinant <= 1e-12 * a * c)
	{
		b = 0.0;
		determinant = a * c;
	}
	step[0] = clamp(-(c * sums->slope[0] - b * sums->slope[1]) / determinant, -2.0, 2.0);
	step[1] = tied ? 0.0 : clamp(-(a * sums->slope[1] - b * sums->slope[0]) / determinant, -2.0, 2.0);
}

/* Learn a and b, or a = b if tied. */
static void
learn_gamma(const WmlcReduced *reduced, const WmlcLanes *statistics, int degrees, bool tied,
			double *a, double *b)
{
	double		least = tied ? 0.5 * LEAST_DEGREES : LEAST_SHAPE;
	double		most = tied ? 0.5 * LARGEST_DEGREES : LARGEST_SHAPE;
	GammaSums	sums = sum_gamma(reduced, statistics, degrees, *a, *b);

	if (tied)
		add_degrees_prior(&sums, *a);
	for (int k = 0; k < GAMMA_STEPS; k++)
	{
		double		step[2];
		double		shrink = 1.0;
		GammaSums	next;
		double		next_a = *a;
		double		next_b = *b;

		find_step(&sums, tied, step);
		for (int halvings = 0; halvings < 8; halvings++, shrink *= 0.25)
		{
			next_a = clamp(*a * exp(shrink * step[0]), least, most);
			next_b = tied ? next_a : next_a * (*b / *a) * exp(shrink * step[1]);
			next = sum_gamma(reduced, statistics, degrees, next_a, next_b);
			if (tied)
				add_degrees_prior(&next, next_a);
			if (next.value >= sums.value)
				break;
		}
		if (!(next.value >= sums.value))
			return;
		*a = next_a;
		*b = next_b;
		if (next.value - sums.value < 1e-9)
			return;
		sums = next;
	}
}

/* ---- the tasks ---- */

/* Everything else follows from the precisions. */
static void
set_task(WmlcLanes *numbers, int lane, double noise, double tau)
{
	numbers[WMLC_TASK_SCALE][lane] = 1.0 / sqrt(noise * tau);
	numbers[WMLC_TASK_GAIN][lane] = sqrt(tau);
}

static double
task_noise(const WmlcLanes *numbers, int lane)
{
	double		root = numbers[WMLC_TASK_SCALE][lane] * numbers[WMLC_TASK_GAIN][lane];

	return 1.0 / (root * root);
}

/* Residual squares that no model of these features explains, each by its own noise. */
static void
sum_within(WmlcReduced *reduced)
{
	WmlcDd		within = wmlc_dd(0.0);

	for (size_t b = 0; b < reduced->blocks; b++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, b);

		for (int lane = 0; lane < LANES; lane++)
			if (numbers[WMLC_TASK_ALPHA][lane] > 0.0)
				within = wmlc_dd_add_d(within, numbers[WMLC_TASK_ALPHA][lane]
									   * numbers[WMLC_TASK_WITHIN][lane]
									   / task_noise(numbers, lane));
	}
	reduced->within = wmlc_dd_value(within);
}

static int
triangle_rank(const WmlcReduced *reduced, size_t block, int lane)
{
	const WmlcLanes *task = reduced->tasks + block * wmlc_reduced_stride(reduced->rank);
	int			rank = 0;

	for (int i = 0; i < reduced->rank; i++)
		rank += task[wmlc_triangle_index(reduced->rank, i, i)][lane] != 0.0;
	return rank;
}

static int
by_size(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double
median(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(double), by_size);
	return 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]);
}

/* The shape whose logarithm of a gamma variable has this variance, trigamma(a) */
static double
shape_of_variance(double variance)
{
	double		low = LEAST_SHAPE;
	double		high = LARGEST_SHAPE;

	for (int k = 0; k < 60; k++)
	{
		double		middle = sqrt(low * high);

		if (wmlc_trigamma(middle) > variance)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * A first distribution of noises that a few mistyped tasks do not move: median and
 * median deviation of their logarithms, less what chance adds to the latter.
 */
static void
guess_noises(WmlcTaskPrior *prior, const WmlcReduced *reduced, WmlcLanes *statistics)
{
	double		chance = 0.0;
	double		middle,
				deviation,
				loud;
	size_t		count = 0;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		const WmlcLanes *own = statistics + j / LANES * STATISTICS;
		double		h = own[NOISE_DEGREES][j % LANES];

		if (wmlc_reduced_numbers(reduced, j / LANES)[WMLC_TASK_ALPHA][j % LANES] == 0.0 || h < 0.5)
			continue;
		prior->sorted[count++] = log(fmax(own[NOISE_SQUARES][j % LANES] / h, LEAST_NOISE));
		chance += wmlc_trigamma(h);
	}
	prior->noise_shape = 2.0;
	prior->noise_rate = 2.0;
	if (count == 0)
	{
		for (size_t b = 0; b < reduced->blocks; b++)
			statistics[b * STATISTICS + NOISE_LOUD] = (WmlcLanes) {0.0};
		return;
	}
	middle = median(prior->sorted, count);
	loud = prior->sorted[count - 1 - (size_t) fmin(fmax(LOUDEST * count, 1.0), count - 1.0)];
	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		WmlcLanes  *own = statistics + j / LANES * STATISTICS;
		double		h = own[NOISE_DEGREES][j % LANES];

		own[NOISE_LOUD][j % LANES] = h >= 0.5 && log(own[NOISE_SQUARES][j % LANES] / h) > loud;
	}
	for (size_t j = 0; j < count; j++)
		prior->sorted[j] = fabs(prior->sorted[j] - middle);
	deviation = median(prior->sorted, count) / MEDIAN_DEVIATION;
	prior->noise_shape = clamp(shape_of_variance(fmax(deviation * deviation - chance / count, 1e-3)), LEAST_SHAPE, 100.0);
	prior->noise_rate = prior->noise_shape * exp(middle);
}

/* What each task counts under the distribution of noises as it is: see above. */
static void
believe_noises(const WmlcTaskPrior *prior, const WmlcReduced *reduced, WmlcLanes *statistics)
{
	double		a = prior->noise_shape;
	double		b = prior->noise_rate;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		WmlcLanes  *own = statistics + j / LANES * STATISTICS;
		double		h = own[NOISE_DEGREES][j % LANES];
		double		x = own[NOISE_SQUARES][j % LANES];
		double		belief = 1.0;

		if (own[NOISE_LOUD][j % LANES] > 0.0 && x / h > LOUD * b / a)
		{
			/* the tail of the beta distribution, but for a factor near one */
			double		tail = a * log(b / (b + x)) - log(a) - lgamma(a) - lgamma(h) + lgamma(a + h);

			belief = fmin(1.0, exp(tail) * reduced->weight / UNLIKELY);
		}
		own[NOISE_BELIEF][j % LANES] = belief;
	}
}

void
wmlc_task_start(WmlcTaskPrior *prior, WmlcReduced *reduced, const WmlcPriorOptions *options)
{
	WmlcLanes  *statistics = (WmlcLanes *) prior->statistics;

	prior->degrees = options->spread_degrees > 0.0 ? options->spread_degrees : FIRST_DEGREES;
	prior->fixed_degrees = options->spread_degrees > 0.0;
	prior->correction = 0.0;
	if (!prior->own_noise)
		return;
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, b);

		for (int lane = 0; lane < LANES; lane++)
		{
			double		h = 0.5 * fmax(numbers[WMLC_TASK_ROWS][lane]
									   - triangle_rank(reduced, b, lane), 0.0);
			double		x = 0.5 * numbers[WMLC_TASK_WITHIN][lane];

			statistics[b * STATISTICS + NOISE_DEGREES][lane] = h;
			statistics[b * STATISTICS + NOISE_SQUARES][lane] = x;
		}
	}
	guess_noises(prior, reduced, statistics);
	believe_noises(prior, reduced, statistics);
	learn_gamma(reduced, statistics, NOISE_DEGREES, false, &prior->noise_shape, &prior->noise_rate);
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		WmlcLanes  *numbers = wmlc_reduced_numbers(reduced, b);

		for (int lane = 0; lane < LANES; lane++)
			if (numbers[WMLC_TASK_ALPHA][lane] > 0.0)
				set_task(numbers, lane,
						 fmax((statistics[b * STATISTICS + NOISE_BELIEF][lane] * prior->noise_rate
							   + statistics[b * STATISTICS + NOISE_SQUARES][lane])
							  / (statistics[b * STATISTICS + NOISE_BELIEF][lane] * prior->noise_shape
								 + statistics[b * STATISTICS + NOISE_DEGREES][lane]),
							  LEAST_NOISE), 1.0);
	}
	sum_within(reduced);
}

/* tr Q, |u|^2 and the squares of rho, also where T does not reach; r not yet scaled */
ALWAYS_INLINE void
task_blocks_body(WmlcSweep *sweep, const WmlcPriorPoint *point, WmlcLanes *statistics, size_t first,
				 size_t end)
{
	const WmlcReduced *reduced = sweep->reduced;
	int			r = reduced->rank;
	int			h = reduced->height;
	int			m = point->directions;

	for (size_t b = first; b < end; b++)
	{
		const WmlcLanes *task = reduced->tasks + b * wmlc_reduced_stride(r);
		const WmlcLanes *beta = task + wmlc_triangle_size(r);
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, b);
		WmlcLanes	weight = numbers[WMLC_TASK_GAIN] * numbers[WMLC_TASK_GAIN] / point->noise;
		WmlcLanes	information = {0.0};
		WmlcLanes	squares = {0.0};
		WmlcLanes	distance = {0.0};

		(void) whiten(sweep, task, point);
		multiply(sweep, h, h, m, 0, sweep->white, r + 1, point->lambda, sweep->response);
		for (int i = 0; i < h; i++)
		{
			WmlcLanes	rho = sweep->white[(size_t) i * (r + 1) + r];

			squares += rho * rho;
			for (int k = 0; k < m; k++)
				information += sweep->response[(size_t) i * m + k]
					* sweep->response[(size_t) i * m + k];
		}
		for (int k = 0; k < m; k++)
		{
			WmlcLanes	score = {0.0};

			for (int i = 0; i < h; i++)
				score += sweep->response[(size_t) i * m + k]
					* sweep->white[(size_t) i * (r + 1) + r];
			distance += score * score;
		}
		for (int i = h; i < r; i++)
		{
			const WmlcLanes *row = task + wmlc_triangle_index(r, i, i) - i;
			WmlcLanes	residual = beta[i];

			for (int j = i; j < r; j++)
				residual -= row[j] * point->mean[j];
			residual *= numbers[WMLC_TASK_SCALE];
			squares += residual * residual;
		}
		statistics[b * STATISTICS + NOISE_SQUARES] = weight * (squares - distance);
		statistics[b * STATISTICS + SPREAD_DEGREES] = information;
		statistics[b * STATISTICS + SPREAD_SQUARES] = weight * distance;
	}
}

LANES_FUNCTION(task_blocks, (WmlcSweep *sweep, const WmlcPriorPoint *point, WmlcLanes *statistics, size_t first, size_t end),
			   (sweep, point, statistics, first, end))

static WmlcStatus
find_statistics(WmlcSweep *sweep, const WmlcPriorPoint *point, WmlcLanes *statistics)
{
	size_t		blocks = sweep->reduced->blocks;

	for (size_t first = 0; first < blocks; first += WMLC_PRIOR_BATCH_BLOCKS)
	{
		size_t		end = first + WMLC_PRIOR_BATCH_BLOCKS;

		if (end > blocks)
			end = blocks;
		if (wmlc_interrupted(sweep->poll))
			return WMLC_INTERRUPTED;
		task_blocks(sweep, point, statistics, first, end);
		if (sweep->interrupted)
			return WMLC_INTERRUPTED;
	}
	return WMLC_OK;
}

/* From the sums of a sweep to halved degrees and squares in internal units. */
static void
scale_statistics(const WmlcReduced *reduced, double s2, WmlcLanes *statistics)
{
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, b);
		WmlcLanes  *own = statistics + b * STATISTICS;

		for (int lane = 0; lane < LANES; lane++)
		{
			double		q = own[SPREAD_DEGREES][lane];
			double		tau = numbers[WMLC_TASK_GAIN][lane] * numbers[WMLC_TASK_GAIN][lane];

			if (numbers[WMLC_TASK_ALPHA][lane] == 0.0)
				continue;
			own[NOISE_DEGREES][lane] = 0.5 * fmax(numbers[WMLC_TASK_ROWS][lane] - q, 0.0);
			own[NOISE_SQUARES][lane] = 0.5 * (numbers[WMLC_TASK_WITHIN][lane]
											  + fmax(own[NOISE_SQUARES][lane], 0.0) * s2
											  * task_noise(numbers, lane));
			own[SPREAD_DEGREES][lane] = 0.5 * q;
			own[SPREAD_SQUARES][lane] = 0.5 * own[SPREAD_SQUARES][lane] / tau;
		}
	}
}

/* One task; how much its precisions change, and what the likelihood gains by integrating. */
static double
update_task(const WmlcTaskPrior *prior, WmlcLanes *numbers, const WmlcLanes *own, int lane,
			double *correction)
{
	double		noise = task_noise(numbers, lane);
	double		tau = numbers[WMLC_TASK_GAIN][lane] * numbers[WMLC_TASK_GAIN][lane];
	double		next_noise = noise;
	double		next_tau = tau;
	double		half = 0.5 * prior->degrees;

	if (prior->own_noise)
	{
		double		belief = own[NOISE_BELIEF][lane];
		double		information = belief * prior->noise_shape + own[NOISE_DEGREES][lane];

		next_noise = fmax((belief * prior->noise_rate + own[NOISE_SQUARES][lane]) / information,
						  LEAST_NOISE);
		*correction += wmlc_gamma_evidence(prior->noise_shape, prior->noise_rate,
										   1.0 / next_noise, information)
			- 0.5 * numbers[WMLC_TASK_ROWS][lane] * log(next_noise);
	}
	if (prior->student)
	{
		double		information = half + own[SPREAD_DEGREES][lane];

		next_tau = information / (half + own[SPREAD_SQUARES][lane]);
		next_tau = clamp(next_tau, tau / LARGEST_CHANGE, tau * LARGEST_CHANGE);
		*correction += wmlc_gamma_evidence(half, half, next_tau, information);
	}
	set_task(numbers, lane, next_noise, next_tau);
	return fmax(fabs(log(next_noise / noise)), fabs(log(next_tau / tau)));
}

/*
 * The share of the farthest task in the spread along its direction, if it is most of it
 * and one fit of normal tasks in a thousand has such a one (Wilks 1963).  `largest` is
 * the distance of a task that is all of it.
 */
static double
find_dominance(const WmlcReduced *reduced, const WmlcLanes *statistics, double tasks, double largest)
{
	double		most = 0.0;
	double		height = reduced->height;
	double		rest = tasks - height - 1.0;
	double		share;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		const WmlcLanes *own = statistics + j / LANES * STATISTICS;

		if (wmlc_reduced_numbers(reduced, j / LANES)[WMLC_TASK_ALPHA][j % LANES] > 0.0)
			most = fmax(most, own[SPREAD_SQUARES][j % LANES]);
	}
	share = fmin(most / largest, LARGEST_SHARE);
	if (rest < 1.0 || !(share > MOST_OF))
		return 0.0;
	return tasks * wmlc_f_tail(share / (1.0 - share) * rest / height, height, rest) < CHANCE ? share : 0.0;
}

/*
 * Tasks farther from the mean than normal coefficients are: beyond a bound of
 * chi-square that one normal task in a thousand fits exceeds (Laurent, Massart 2000).
 */
WmlcStatus
wmlc_count_outlying(WmlcTaskPrior *prior, WmlcSweep *sweep, const WmlcPriorPoint *point,
					double tasks, double largest, double *outlying, double *dominance)
{
	const WmlcReduced *reduced = sweep->reduced;
	WmlcLanes  *statistics = (WmlcLanes *) prior->statistics;
	double		rarity = log(tasks) + 7.0;
	WmlcStatus	status = find_statistics(sweep, point, statistics);

	*outlying = *dominance = 0.0;
	if (status == WMLC_OK)
		*dominance = find_dominance(reduced, statistics, tasks, largest);
	for (size_t j = 0; j < reduced->blocks * LANES && status == WMLC_OK; j++)
	{
		const WmlcLanes *own = statistics + j / LANES * STATISTICS;
		double		q = own[SPREAD_DEGREES][j % LANES];

		if (wmlc_reduced_numbers(reduced, j / LANES)[WMLC_TASK_ALPHA][j % LANES] > 0.0
			&& own[SPREAD_SQUARES][j % LANES] > q + 2.0 * sqrt(q * rarity) + 2.0 * rarity)
			*outlying += 1.0;
	}
	return status;
}

WmlcStatus
wmlc_task_update(WmlcTaskPrior *prior, WmlcSweep *sweep, WmlcReduced *reduced,
				 const WmlcPriorPoint *point, double *change)
{
	WmlcLanes  *statistics = (WmlcLanes *) prior->statistics;
	WmlcStatus	status = find_statistics(sweep, point, statistics);
	double		half = 0.5 * prior->degrees;
	double		other_half = half;

	*change = 0.0;
	if (status != WMLC_OK)
		return status;
	scale_statistics(reduced, prior->own_noise ? 1.0 : point->noise, statistics);
	if (prior->own_noise)
	{
		believe_noises(prior, reduced, statistics);
		learn_gamma(reduced, statistics, NOISE_DEGREES, false, &prior->noise_shape,
					&prior->noise_rate);
	}
	if (prior->student && !prior->fixed_degrees)
	{
		learn_gamma(reduced, statistics, SPREAD_DEGREES, true, &half, &other_half);
		prior->degrees = 2.0 * half;
	}
	prior->correction = 0.0;
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		WmlcLanes  *numbers = wmlc_reduced_numbers(reduced, b);

		for (int lane = 0; lane < LANES; lane++)
		{
			double		alpha = numbers[WMLC_TASK_ALPHA][lane];
			double		correction = 0.0;

			if (alpha == 0.0)
				continue;
			*change = fmax(*change, update_task(prior, numbers, statistics + b * STATISTICS,
												lane, &correction));
			prior->correction += alpha * correction;
		}
	}
	if (prior->own_noise)
		sum_within(reduced);
	return wmlc_sum_fixed(reduced, sweep->poll);
}
