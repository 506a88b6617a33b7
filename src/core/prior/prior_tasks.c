/*
 * prior_tasks.c
 *	  What each task has of its own beside its coefficients: a noise variance,
 *	  and a scale of how far from the mean its coefficients may lie.
 *
 * The model is
 *
 *	  y = psi.w_j + e,	e ~ N(0, v_j),	w_j ~ N(mu, S (v_j / v)^rho / tau_j),	v = b / a
 *	  1 / v_j ~ gamma(a, b),	tau_j ~ gamma(nu / 2, nu / 2)
 *
 * so that w_j has Student's t of nu degrees of freedom.  With rho = 1 the tasks differ in
 * scale, as products that sell much or little do, and its noise does not tell how far the
 * rows of a task are to be trusted; with rho = 0 it does.  A fit alternates.  Given
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
 */
#include "core/base/student.h"
#include "core/prior/prior_lanes.h"

/* A task dominates with more than this share in the spread, and with this probability by chance. */
#define MOST_OF 0.5
#define LARGEST_SHARE 0.9999
#define CHANCE 1e-3

/* Noises have so many rounds to take up mistyped rows before scales may. */
#define EARLY_ROUNDS 5

/* Precisions change by no more than this factor at once. */
#define LARGEST_CHANGE 100.0

void
wmlc_task_layout(WmlcTaskPrior *prior, size_t count, const WmlcPriorOptions *options,
				 WmlcArena *arena)
{
	size_t		blocks = (count + LANES - 1) / LANES;

	prior->own_noise = options->own_noise;
	prior->student = options->student;
	prior->full = options->covariance == WMLC_PRIOR_FULL;
	prior->noise_shape = prior->noise_rate = prior->noise_power = prior->degrees = 0.0;
	prior->fixed_degrees = false;
	prior->correction = prior->used = 0.0;
	prior->statistics = wmlc_arena_take(arena, blocks * WMLC_TASK_STATISTICS, sizeof(WmlcLanes));
	prior->sorted = wmlc_arena_doubles(arena, options->own_noise ? count : 0);
}

/* Everything else follows from the precisions; tau goes with a power of the noise. */
static void
set_task(const WmlcTaskPrior *prior, WmlcLanes *numbers, WmlcLanes *own, int lane, double noise,
		 double tau)
{
	own[WMLC_SPREAD_WEIGHT][lane] = tau;
	if (prior->noise_power > 0.0)
		tau *= pow(noise * prior->noise_shape / prior->noise_rate,
				   -prior->noise_power * own[WMLC_NOISE_BELIEF][lane]);
	numbers[WMLC_TASK_SCALE][lane] = 1.0 / sqrt(noise * tau);
	numbers[WMLC_TASK_GAIN][lane] = sqrt(tau);
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
									   / wmlc_task_noise(numbers, lane));
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

/* v as the task's own squares and its belief in those of others have it */
static double
believed_noise(const WmlcTaskPrior *prior, const WmlcLanes *own, int lane)
{
	double		belief = own[WMLC_NOISE_BELIEF][lane];

	return fmax((belief * prior->noise_rate + own[WMLC_NOISE_SQUARES][lane])
				/ (belief * prior->noise_shape + own[WMLC_NOISE_DEGREES][lane]), WMLC_LEAST_NOISE);
}

void
wmlc_task_start(WmlcTaskPrior *prior, WmlcReduced *reduced, const WmlcPriorOptions *options)
{
	WmlcLanes  *statistics = (WmlcLanes *) prior->statistics;

	wmlc_guess_degrees(prior, options->spread_degrees);
	prior->correction = prior->used = 0.0;
	prior->rounds = 0;
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		statistics[b * WMLC_TASK_STATISTICS + WMLC_SPREAD_WEIGHT] = (WmlcLanes) {0.0} + 1.0;
		statistics[b * WMLC_TASK_STATISTICS + WMLC_NOISE_BELIEF] = (WmlcLanes) {0.0} + 1.0;
	}
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

			statistics[b * WMLC_TASK_STATISTICS + WMLC_NOISE_DEGREES][lane] = h;
			statistics[b * WMLC_TASK_STATISTICS + WMLC_NOISE_SQUARES][lane] = x;
		}
	}
	wmlc_guess_noises(prior, reduced, statistics);
	wmlc_believe_noises(prior, reduced, statistics);
	wmlc_learn_noises(prior, reduced, statistics);
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		WmlcLanes  *numbers = wmlc_reduced_numbers(reduced, b);
		WmlcLanes  *own = statistics + b * WMLC_TASK_STATISTICS;

		for (int lane = 0; lane < LANES; lane++)
			if (numbers[WMLC_TASK_ALPHA][lane] > 0.0)
				set_task(prior, numbers, own, lane, believed_noise(prior, own, lane), 1.0);
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
		statistics[b * WMLC_TASK_STATISTICS + WMLC_NOISE_SQUARES] = weight * (squares - distance);
		statistics[b * WMLC_TASK_STATISTICS + WMLC_SPREAD_DEGREES] = information;
		statistics[b * WMLC_TASK_STATISTICS + WMLC_SPREAD_SQUARES] = weight * distance;
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
		WmlcLanes  *own = statistics + b * WMLC_TASK_STATISTICS;

		for (int lane = 0; lane < LANES; lane++)
		{
			double		q = own[WMLC_SPREAD_DEGREES][lane];

			if (numbers[WMLC_TASK_ALPHA][lane] == 0.0)
				continue;
			own[WMLC_NOISE_DEGREES][lane] = 0.5 * fmax(numbers[WMLC_TASK_ROWS][lane] - q, 0.0);
			own[WMLC_NOISE_SQUARES][lane] = 0.5 * (numbers[WMLC_TASK_WITHIN][lane]
											  + fmax(own[WMLC_NOISE_SQUARES][lane], 0.0) * s2
											  * wmlc_task_noise(numbers, lane));
			own[WMLC_SPREAD_DEGREES][lane] = 0.5 * q;
			own[WMLC_SPREAD_SQUARES][lane] *= 0.5 / own[WMLC_SPREAD_WEIGHT][lane];
		}
	}
}

/*
 * With g = log v, the terms rho q / 2 g + |u|^2 / 2 exp(-rho g) of minus the log-likelihood are to be
 * degrees * g + squares * exp(-g).  A task so far away that the degrees would be
 * negative adds squares alone, which get the slope right.
 */
void
wmlc_add_distance(double power, double noise, double used, double distance, double *degrees,
				  double *squares)
{
	double		more = power * (used - (1.0 - power) * distance);

	*degrees += fmax(more, 0.0);
	*squares += noise * (power * power * distance - fmin(more, 0.0));
}

static void
add_distances(const WmlcTaskPrior *prior, const WmlcReduced *reduced, WmlcLanes *statistics)
{
	for (size_t j = 0; j < reduced->blocks * LANES; j++)
	{
		const WmlcLanes *numbers = wmlc_reduced_numbers(reduced, j / LANES);
		WmlcLanes  *own = statistics + j / LANES * WMLC_TASK_STATISTICS;
		int			lane = j % LANES;
		double		degrees = own[WMLC_NOISE_DEGREES][lane];
		double		squares = own[WMLC_NOISE_SQUARES][lane];

		if (numbers[WMLC_TASK_ALPHA][lane] == 0.0)
			continue;
		wmlc_add_distance(prior->noise_power * own[WMLC_NOISE_BELIEF][lane], wmlc_task_noise(numbers, lane),
						  own[WMLC_SPREAD_DEGREES][lane],
						  own[WMLC_SPREAD_SQUARES][lane] * own[WMLC_SPREAD_WEIGHT][lane], &degrees, &squares);
		own[WMLC_NOISE_DEGREES][lane] = degrees;
		own[WMLC_NOISE_SQUARES][lane] = squares;
	}
}

/* In early rounds, large squares are the noise's, not that of coefficients far away. */
static bool
is_early(const WmlcTaskPrior *prior)
{
	return prior->own_noise && prior->student && prior->rounds < EARLY_ROUNDS;
}

/* One task; how much its precisions change, and what the likelihood gains by integrating. */
static double
update_task(const WmlcTaskPrior *prior, WmlcLanes *numbers, WmlcLanes *own, int lane,
			double *correction)
{
	double		noise = wmlc_task_noise(numbers, lane);
	double		tau = own[WMLC_SPREAD_WEIGHT][lane];
	double		next_noise = noise;
	double		next_tau = tau;
	double		half = 0.5 * prior->degrees;

	if (prior->own_noise)
	{
		double		information = own[WMLC_NOISE_BELIEF][lane] * prior->noise_shape
			+ own[WMLC_NOISE_DEGREES][lane];

		next_noise = believed_noise(prior, own, lane);
		*correction += wmlc_noise_evidence(prior->noise_shape, prior->noise_rate,
										   own[WMLC_NOISE_BELIEF][lane], 1.0 / next_noise, information)
			- 0.5 * numbers[WMLC_TASK_ROWS][lane] * log(next_noise);
	}
	if (prior->student && !is_early(prior))
	{
		double		information = half + own[WMLC_SPREAD_DEGREES][lane];

		next_tau = information / (half + own[WMLC_SPREAD_SQUARES][lane]);
		next_tau = wmlc_clamp(next_tau, tau / LARGEST_CHANGE, tau * LARGEST_CHANGE);
		*correction += wmlc_gamma_evidence(half, half, next_tau, information);
	}
	set_task(prior, numbers, own, lane, next_noise, next_tau);
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
		const WmlcLanes *own = statistics + j / LANES * WMLC_TASK_STATISTICS;

		if (wmlc_reduced_numbers(reduced, j / LANES)[WMLC_TASK_ALPHA][j % LANES] > 0.0)
			most = fmax(most, own[WMLC_SPREAD_SQUARES][j % LANES]);
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
		const WmlcLanes *own = statistics + j / LANES * WMLC_TASK_STATISTICS;
		double		q = own[WMLC_SPREAD_DEGREES][j % LANES];

		if (wmlc_reduced_numbers(reduced, j / LANES)[WMLC_TASK_ALPHA][j % LANES] > 0.0
			&& own[WMLC_SPREAD_SQUARES][j % LANES] > q + 2.0 * sqrt(q * rarity) + 2.0 * rarity)
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
	double		squares = 0.0;

	*change = 0.0;
	if (status != WMLC_OK)
		return status;
	scale_statistics(reduced, prior->own_noise ? 1.0 : point->noise, statistics);
	if (prior->own_noise)
	{
		wmlc_believe_noises(prior, reduced, statistics);
		add_distances(prior, reduced, statistics);
		wmlc_learn_noises(prior, reduced, statistics);
		*change = wmlc_learn_power(prior, reduced, statistics);
	}
	if (prior->student && !prior->fixed_degrees && !is_early(prior))
		wmlc_learn_degrees(prior, reduced, statistics);
	prior->correction = prior->used = 0.0;
	for (size_t b = 0; b < reduced->blocks; b++)
	{
		WmlcLanes  *numbers = wmlc_reduced_numbers(reduced, b);

		for (int lane = 0; lane < LANES; lane++)
		{
			double		alpha = numbers[WMLC_TASK_ALPHA][lane];
			double		correction = 0.0;
			double		moved;

			if (alpha == 0.0)
				continue;
			moved = update_task(prior, numbers, statistics + b * WMLC_TASK_STATISTICS, lane,
								&correction);
			squares += alpha * moved * moved;
			prior->correction += alpha * correction;
			prior->used += 2.0 * alpha * statistics[b * WMLC_TASK_STATISTICS + WMLC_SPREAD_DEGREES][lane];
		}
	}
	*change = is_early(prior) ? INFINITY : fmax(*change, sqrt(squares / reduced->weight));
	prior->rounds++;
	if (prior->own_noise)
		sum_within(reduced);
	return wmlc_sum_fixed(reduced, sweep->poll);
}
