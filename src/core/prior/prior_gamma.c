/*
 * prior_gamma.c
 *	  How the tasks' noises and scales are distributed: a, b, rho and nu of prior_tasks.c.
 *
 * A mistyped row gives a task a noise that no distribution of the others explains, and
 * would make the distribution so wide that it tells nothing of a new task.  So tasks count
 * by how likely it is that one of all is as noisy, b / (b + x) having a beta
 * distribution of shapes a and h, at first by the median and the median deviation; and
 * log x / h a normal one that the noises above the median show.  Only
 * the loudest tenth of the tasks may count less, lest the others be taken for the rule where
 * there are two kinds; and as little as a task counts, its noise is drawn towards theirs, and
 * its spread goes with its noise.
 */
#include <stdlib.h>

#include "core/base/gamma.h"
#include "core/base/student.h"
#include "core/prior/belong.h"
#include "core/prior/prior_internal.h"

#define LANES WMLC_PRIOR_LANES

/* Shapes that make no difference any more, and the least. */
#define LARGEST_SHAPE 1e5
#define LEAST_SHAPE 0.25

/* Degrees of freedom of the spread that can be learned. */
#define LEAST_DEGREES 1.0
#define LARGEST_DEGREES 1e3
#define FIRST_DEGREES 8.0

/* Newton steps for a gamma distribution in one update. */
#define GAMMA_STEPS 4

/*
 * Few tasks know little of nu: a gamma distribution of shape 2 and mean 20 before
 * the data (Juarez, Steel 2010), as a penalty.
 */
#define DEGREES_RATE 0.1

/*
 * They also know little of the noises: that these are equal, a = infinity, and that rho is 1, is
 * what is believed before, log densities being -SHAPE_RATE / a and -POWER_RATE (1 - rho)^2.
 */
#define SHAPE_RATE 1.0
#define POWER_RATE 8.0
#define FIRST_POWER 1.0

/* Noises that are expected less often than this in all tasks count less. */
#define UNLIKELY 0.1
#define LOUD 3.0				/* and are this many times the typical one at the least */
#define LOUDEST 0.1				/* share of tasks that may count less, one at the least */

/* What the likelihood grants a noise that no distribution of the others explains: so small a shape at the most */
#define LEAST_BELIEF 1e-6

/* The median deviation of a normal variable */
#define MEDIAN_DEVIATION 0.6745

/* A quarter of so many tasks tells little of the upper half of the noises. */
#define FEW_NOISES 5.0

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

/* Squares of `degrees`; those of all tasks together count `told` times */
static GammaSums
sum_gamma(const WmlcReduced *reduced, const WmlcLanes *statistics, int degrees, double told, double a, double b)
{
	GammaSums	sums = {0};
	double		digamma_a = wmlc_digamma(a);
	double		trigamma_a = wmlc_trigamma(a);

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		size_t		block = j / LANES;
		int			lane = j % LANES;
		double		alpha = told * wmlc_reduced_numbers(reduced, block)[WMLC_TASK_ALPHA][lane];
		double		h = statistics[block * WMLC_TASK_STATISTICS + degrees][lane];
		double		x = statistics[block * WMLC_TASK_STATISTICS + degrees + 1][lane];
		double		share = b / (b + x);
		double		f_a,
					f_b,
					f_bb;

		if (degrees == WMLC_NOISE_DEGREES)
			alpha *= statistics[block * WMLC_TASK_STATISTICS + WMLC_NOISE_BELIEF][lane];
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

/* What is believed beforehand of nu = 2 a if tied, else of a. */
static void
add_belief(GammaSums *sums, bool tied, double a)
{
	double		nu = 2.0 * a;

	if (!tied)
	{
		sums->value -= SHAPE_RATE / a;
		sums->slope[0] += SHAPE_RATE / a;
		sums->curvature[0] -= SHAPE_RATE / a;
		return;
	}
	sums->value += 2.0 * log(nu) - DEGREES_RATE * nu;
	sums->slope[0] += 2.0 - DEGREES_RATE * nu;
	sums->curvature[0] -= DEGREES_RATE * nu;
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
	step[0] = wmlc_clamp(-(c * sums->slope[0] - b * sums->slope[1]) / determinant, -2.0, 2.0);
	step[1] = tied ? 0.0 : wmlc_clamp(-(a * sums->slope[1] - b * sums->slope[0]) / determinant, -2.0, 2.0);
}

/*
 * The distances of few tasks tell little of how far tasks lie from each other, since it is these
 * that S was fitted to: in a full S, as many tasks as there are directions all lie equally far.
 */
static double
share_told(const WmlcReduced *reduced, bool full)
{
	return fmax(1.0 - (1.0 + (full ? reduced->height : 1.0)) / reduced->weight, 0.0);
}

/* Learn a and b, or a = b if tied. */
static void
learn_gamma(const WmlcReduced *reduced, const WmlcLanes *statistics, int degrees, bool tied,
			double told, double *a, double *b)
{
	double		least = tied ? 0.5 * LEAST_DEGREES : LEAST_SHAPE;
	double		most = tied ? 0.5 * LARGEST_DEGREES : LARGEST_SHAPE;
	GammaSums	sums = sum_gamma(reduced, statistics, degrees, told, *a, *b);

	add_belief(&sums, tied, *a);
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
			next_a = wmlc_clamp(*a * exp(shrink * step[0]), least, most);
			next_b = tied ? next_a : next_a * (*b / *a) * exp(shrink * step[1]);
			next = sum_gamma(reduced, statistics, degrees, told, next_a, next_b);
			add_belief(&next, tied, next_a);
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

static int
by_size(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

void
wmlc_sort(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(double), by_size);
}

static double
median(double *numbers, size_t count)
{
	wmlc_sort(numbers, count);
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

/* The standard deviation of a normal distribution whose upper quarter is that of the numbers */
static double
upper_spread(const double *sorted, size_t count)
{
	return (sorted[3 * (count - 1) / 4] - sorted[(count - 1) / 2]) / MEDIAN_DEVIATION * (1.0 + FEW_NOISES / (double) count);
}

double
wmlc_upper_limit(const double *sorted, size_t count, double far)
{
	return sorted[(count - 1) / 2]
		+ fmax(2.0 * log(far), upper_spread(sorted, count) * wmlc_student_bound(1.0 - 2.0 * WMLC_STRANGE / (double) count, INFINITY));
}

/*
 * The gamma distribution fits all noises, those of quiet tasks too, and where many of these are
 * all but without noise, hardly any noise is too large for it.  So the logarithms of those
 * above the median have a say of their own, as if they were the upper half of a normal
 * distribution, wide enough for all but the loudest: these are judged by the others.
 */
static void
describe_upper_half(WmlcTaskPrior *prior, size_t count, size_t loudest)
{
	const double *sorted = prior->sorted;
	double		beyond = wmlc_student_bound(1.0 - (2.0 * loudest + 1.0) / (double) count, INFINITY);

	prior->noise_middle = sorted[(count - 1) / 2];
	prior->noise_spread = upper_spread(sorted, count);
	if (beyond > MEDIAN_DEVIATION)
		prior->noise_spread = fmax(prior->noise_spread, (sorted[count - 1 - loudest] - prior->noise_middle) / beyond);
}

/*
 * A first distribution of noises that a few mistyped tasks do not move: median and
 * median deviation of their logarithms, less what chance adds to the latter.
 */
void
wmlc_guess_noises(WmlcTaskPrior *prior, const WmlcReduced *reduced, WmlcLanes *statistics)
{
	double		chance = 0.0;
	double		middle,
				deviation,
				loud;
	size_t		count = 0;
	size_t		loudest;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		const WmlcLanes *own = statistics + j / LANES * WMLC_TASK_STATISTICS;
		double		h = own[WMLC_NOISE_DEGREES][j % LANES];

		if (wmlc_reduced_numbers(reduced, j / LANES)[WMLC_TASK_ALPHA][j % LANES] == 0.0 || h < 0.5)
			continue;
		prior->sorted[count++] = log(fmax(own[WMLC_NOISE_SQUARES][j % LANES] / h, WMLC_LEAST_NOISE));
		chance += wmlc_trigamma(h);
	}
	prior->noise_shape = 2.0;
	prior->noise_rate = 2.0;
	prior->noise_middle = prior->noise_spread = 0.0;
	if (count == 0)
	{
		for (size_t b = 0; b < reduced->blocks; b++)
			statistics[b * WMLC_TASK_STATISTICS + WMLC_NOISE_LOUD] = (WmlcLanes) {0.0};
		return;
	}
	middle = median(prior->sorted, count);
	loudest = (size_t) fmin(fmax(LOUDEST * count, 1.0), count - 1.0);
	loud = prior->sorted[count - 1 - loudest];
	describe_upper_half(prior, count, loudest);
	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		WmlcLanes  *own = statistics + j / LANES * WMLC_TASK_STATISTICS;
		double		h = own[WMLC_NOISE_DEGREES][j % LANES];

		own[WMLC_NOISE_LOUD][j % LANES] = h >= 0.5 && log(own[WMLC_NOISE_SQUARES][j % LANES] / h) > loud;
	}
	for (size_t j = 0; j < count; j++)
		prior->sorted[j] = fabs(prior->sorted[j] - middle);
	deviation = median(prior->sorted, count) / MEDIAN_DEVIATION;
	prior->noise_shape = wmlc_clamp(shape_of_variance(fmax(deviation * deviation - chance / count, 1e-3)), LEAST_SHAPE, 100.0);
	prior->noise_rate = prior->noise_shape * exp(middle);
}

/* A noise that hardly any task exceeds, by the upper half of all as they are in the end */
double
wmlc_noise_limit(WmlcTaskPrior *prior, const WmlcReduced *reduced)
{
	size_t		count = 0;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, j / LANES);

		if (numbers[WMLC_TASK_ALPHA][j % LANES] > 0.0)
			prior->sorted[count++] = log(wmlc_task_noise(numbers, j % LANES));
	}
	if (count == 0)
		return 0.0;
	wmlc_sort(prior->sorted, count);
	return exp(wmlc_upper_limit(prior->sorted, count, WMLC_FAR_OFF));
}

static bool
is_loud(double a, double b, double h, double x)
{
	return h > 0.0 && x / h > LOUD * b / a;
}

/* The tail of the beta distribution, but for a factor near one */
static double
beta_tail(double a, double b, double h, double x)
{
	return exp(a * log(b / (b + x)) - log(a) - lgamma(a) - lgamma(h) + lgamma(a + h));
}

/* That of the upper half of the noises, of which chance makes more where rows are few */
static double
upper_tail(const WmlcTaskPrior *prior, double h, double x)
{
	double		variance = prior->noise_spread * prior->noise_spread + wmlc_trigamma(h);

	return 0.5 * erfc((log(x / h) - prior->noise_middle) / sqrt(2.0 * variance));
}

double
wmlc_noise_belief(double a, double b, double tasks, double h, double x)
{
	return is_loud(a, b, h, x) ? fmin(1.0, beta_tail(a, b, h, x) * tasks / UNLIKELY) : 1.0;
}

double
wmlc_noise_evidence(double shape, double rate, double belief, double precision, double information)
{
	double		share = fmax(belief, LEAST_BELIEF / fmax(shape, 1.0));

	return wmlc_gamma_evidence(share * shape, share * rate, precision, information);
}

/* What each task counts under the distribution of noises as it is: see above. */
void
wmlc_believe_noises(const WmlcTaskPrior *prior, const WmlcReduced *reduced, WmlcLanes *statistics)
{
	double		a = prior->noise_shape;
	double		b = prior->noise_rate;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		WmlcLanes  *own = statistics + j / LANES * WMLC_TASK_STATISTICS;
		double		h = own[WMLC_NOISE_DEGREES][j % LANES];
		double		x = own[WMLC_NOISE_SQUARES][j % LANES];
		double		belief = 1.0;

		if (own[WMLC_NOISE_LOUD][j % LANES] > 0.0 && is_loud(a, b, h, x))
			belief = fmin(1.0, fmin(beta_tail(a, b, h, x), upper_tail(prior, h, x)) * reduced->weight / UNLIKELY);
		own[WMLC_NOISE_BELIEF][j % LANES] = belief;
	}
}

/*
 * Rounds creep where tasks and their distributions draw each other along: a step that is a
 * constant share of the one before is continued to where the series of them ends.
 */
static double
hurry(double step, double *before)
{
	double		ratio = *before != 0.0 ? step / *before : 0.0;

	*before = step;
	if (!(ratio > 0.3 && ratio < 0.98))
		return step;
	*before = 0.0;
	return step / (1.0 - ratio);
}

/*
 * A Newton step for rho: the |u|^2 of tasks are expected to be q exp(s + rho g), g = log v, as in
 * a regression with gamma errors, s being the spread's.  What a larger rho makes more certain of v
 * Laplace's factor takes away again.
 */
static double
improve_power(const WmlcTaskPrior *prior, const WmlcReduced *reduced, const WmlcLanes *statistics)
{
	double		rho = prior->noise_power;
	double		slope = 2.0 * POWER_RATE * (1.0 - rho);
	double		curvature = 2.0 * POWER_RATE;
	double		slope_s = 0.0;
	double		cross = 0.0;
	double		curvature_s = 0.0;

	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		const WmlcLanes *own = statistics + j / LANES * WMLC_TASK_STATISTICS;
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, j / LANES);
		int			lane = j % LANES;
		double		count = numbers[WMLC_TASK_ALPHA][lane] * own[WMLC_NOISE_BELIEF][lane];
		double		q = own[WMLC_SPREAD_DEGREES][lane];
		double		excess,
					g;

		if (count == 0.0)
			continue;
		excess = own[WMLC_SPREAD_SQUARES][lane] * own[WMLC_SPREAD_WEIGHT][lane] - q;
		g = log(wmlc_task_noise(numbers, lane) * prior->noise_shape / prior->noise_rate);
		slope += count * (g * excess
						  - rho * q / (prior->noise_shape + own[WMLC_NOISE_DEGREES][lane]));
		slope_s += count * excess;
		cross += count * g * q;
		curvature += count * g * g * q;
		curvature_s += count * q;
	}
	if (curvature_s > 0.0)
	{
		slope -= slope_s * cross / curvature_s;
		curvature -= cross * cross / curvature_s;
	}
	return wmlc_clamp(rho + slope / curvature, 0.0, 1.0) - rho;
}

double
wmlc_learn_power(WmlcTaskPrior *prior, const WmlcReduced *reduced, const WmlcLanes *statistics)
{
	double		step = improve_power(prior, reduced, statistics);

	prior->noise_power = wmlc_clamp(prior->noise_power + hurry(step, &prior->power_step), 0.0, 1.0);
	return fabs(step);
}

void
wmlc_learn_noises(WmlcTaskPrior *prior, const WmlcReduced *reduced, const WmlcLanes *statistics)
{
	learn_gamma(reduced, statistics, WMLC_NOISE_DEGREES, false, 1.0, &prior->noise_shape,
				&prior->noise_rate);
}

void
wmlc_guess_degrees(WmlcTaskPrior *prior, double given)
{
	prior->degrees = given > 0.0 ? given : FIRST_DEGREES;
	prior->fixed_degrees = given > 0.0;
	prior->noise_power = prior->own_noise ? FIRST_POWER : 0.0;
	prior->power_step = prior->degrees_step = 0.0;
}

void
wmlc_learn_degrees(WmlcTaskPrior *prior, const WmlcReduced *reduced, const WmlcLanes *statistics)
{
	double		half = 0.5 * prior->degrees;
	double		other_half = half;
	double		step;

	learn_gamma(reduced, statistics, WMLC_SPREAD_DEGREES, true, share_told(reduced, prior->full), &half,
				&other_half);
	step = hurry(log(2.0 * half / prior->degrees), &prior->degrees_step);
	prior->degrees = wmlc_clamp(prior->degrees * exp(step), LEAST_DEGREES, LARGEST_DEGREES);
}
