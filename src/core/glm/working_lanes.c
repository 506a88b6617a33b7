/*
 * working_lanes.c
 *	  Working rows of yes-or-no responses side by side: see working_lanes.h.
 *
 * Everything is inlined into functions that are compiled once for every set of
 * instructions that pays.  No operation is contracted, so all of them give the same
 * bits.
 */
#include <math.h>
#include <string.h>

#include "core/glm/family.h"
#include "core/glm/lanes.h"
#include "core/glm/working_lanes.h"

_Static_assert(LANES == WMLC_WORKING_LANES, "rows come in whole vectors");

/* Nodes reach this far; a wider distribution than WIDEST_SD would take too many of them. */
#define WIDEST_NODE 8.5
#define LARGEST_DISTANCE 0.8
#define LOGISTIC_REACH 1.4
#define WIDEST_SD 10.0
#define MOST_HALF 61

/*
 * Without a parabola to divide by, nodes need not reach as far; nor can it be left too
 * narrow, or far off.
 */
#define WIDEST_STEP_NODE 7.5
#define LARGEST_SHARE 0.9
#define FARTHEST_MEAN 5.0

/* From a gradient below this, one more step leaves nothing worth looking at. */
#define NEARLY_THERE 1e-5
#define MOST_TILTS 8

/* A parabola of almost the distribution's own curvature is left to the careful way. */
#define LARGEST_CURVATURE 0.95

ALWAYS_INLINE bool
all_set(Bits mask)
{
	for (int l = 0; l < LANES; l++)
		if (mask[l] == 0)
			return false;
	return true;
}

/* Likelihoods at nodes i h and -i h. */
typedef struct Nodes
{
	int			half;
	Lanes		h;
	Lanes		total;			/* of the normal weights */
	Lanes		up[MOST_HALF + 1];
	Lanes		down[MOST_HALF + 1];
} Nodes;

/*
 * The likelihoods at N(m, sd^2), m being counted towards the response; and their
 * mean slope and curvature in units of sd, which Stein's lemma says are those of
 * the best parabola but for terms of higher order.
 */
ALWAYS_INLINE void
place_nodes(Lanes m, Lanes sd, Nodes *nodes, Lanes *slope, Lanes *curvature)
{
	Lanes		h = smaller(all(LARGEST_DISTANCE), LOGISTIC_REACH / sd);
	Lanes		odds = exponential(-m);
	Lanes		step = exponential(-sd * h);
	Lanes		up = odds,
				down = odds,
				back = 1.0 / step,
				ratio = exponential(-0.5 * h * h),
				shrink = ratio * ratio,
				weight = all(1.0),
				sum = all(1.0),
				unlikely,
				bend;

	nodes->h = h;
	nodes->half = (int) ceil(WIDEST_NODE / -largest_lane(-h));
	nodes->up[0] = nodes->down[0] = 1.0 / (1.0 + odds);
	unlikely = odds * nodes->up[0];
	bend = unlikely * nodes->up[0];
	for (int i = 1; i <= nodes->half; i++)
	{
		Lanes		likely_up,
					likely_down;

		up *= step;
		down *= back;
		nodes->up[i] = likely_up = 1.0 / (1.0 + up);
		nodes->down[i] = likely_down = 1.0 / (1.0 + down);
		weight *= ratio;
		ratio *= shrink;
		sum += 2.0 * weight;
		unlikely += weight * (up * likely_up + down * likely_down);
		bend += weight * (up * likely_up * likely_up + down * likely_down * likely_down);
	}
	nodes->total = sum;
	*slope = sd * unlikely / sum;
	*curvature = sd * sd * bend / sum;
}

/* A parabola with slope b and curvature k, as in working.c, and Newton's step from it. */
typedef struct Tilted
{
	Lanes		sum;			/* E of likelihood over the parabola's exponential */
	Lanes		gradient_b;
	Lanes		gradient_k;
	Lanes		step_b;
	Lanes		step_k;
	Lanes		skew;			/* where the gradient is 0 */
	Lanes		excess;
} Tilted;

ALWAYS_INLINE void
tilt(const Nodes *nodes, Lanes b, Lanes k, Tilted *tilted)
{
	Lanes		h = nodes->h;
	Lanes		fall = exponential(-0.5 * (1.0 - k) * h * h);
	Lanes		slope = exponential(-b * h);
	Lanes		shrink = fall * fall,
				up_ratio = fall * slope,
				down_ratio = fall / slope,
				up = all(1.0),
				down = all(1.0);
	PowerSums	sums = start_powers(nodes->up[0]);
	Lanes		sum1,
				sum2,
				sum3,
				sum4,
				inverse,
				bb,
				bk,
				kk,
				det;

	for (int i = 1; i <= nodes->half; i++)
	{
		double		t = i;
		Lanes		above,
					below;

		up *= up_ratio;
		down *= down_ratio;
		up_ratio *= shrink;
		down_ratio *= shrink;
		above = up * nodes->up[i];
		below = down * nodes->down[i];
		add_powers(&sums, t, above, below);
	}
	tilted->sum = sums.zeroth / nodes->total;
	inverse = h / sums.zeroth;
	sum1 = sums.first * inverse;
	inverse *= h;
	sum2 = sums.second * inverse;
	inverse *= h;
	sum3 = sums.third * inverse;
	inverse *= h;
	sum4 = sums.fourth * inverse;
	bb = sum2 - sum1 * sum1;
	bk = -0.5 * (sum3 - sum1 * sum2);
	kk = 0.25 * (sum4 - sum2 * sum2);
	det = bb * kk - bk * bk;
	tilted->skew = sum3;
	tilted->excess = sum4 - 3.0;
	tilted->gradient_b = -sum1;
	tilted->gradient_k = 0.5 * (sum2 - 1.0);
	tilted->step_b = (bk * tilted->gradient_k - kk * tilted->gradient_b) / det;
	tilted->step_k = (bk * tilted->gradient_b - bb * tilted->gradient_k) / det;
}

/*
 * Newton's method for all lanes that are not done yet; those that leave the
 * region where it is safe are too hard.  *log_sum is log E at the end.
 */
ALWAYS_INLINE Bits
find_parabolas(const Nodes *nodes, Bits narrow, Lanes *b, Lanes *k, Lanes *log_sum, Lanes *skew,
			   Lanes *excess)
{
	Bits		done = narrow;
	Lanes		sum = nodes->up[0];
	Lanes		gain = all(0.0);
	Bits		safe = (Bits) {0} - 1;

	for (int i = 0; i < MOST_TILTS; i++)
	{
		Tilted		tilted;
		Lanes		size;
		Bits		last;

		tilt(nodes, *b, *k, &tilted);
		size = absolute(tilted.gradient_b) + absolute(tilted.gradient_k);
		last = (Bits) (size < NEARLY_THERE) & ~done;
		sum = choose(last, tilted.sum, sum);
		*skew = choose(last, tilted.skew, *skew);
		*excess = choose(last, tilted.excess, *excess);
		gain = choose(last, 0.5 * (tilted.gradient_b * tilted.step_b
								   + tilted.gradient_k * tilted.step_k + tilted.step_k), gain);
		*b += choose(done, all(0.0), tilted.step_b);
		*k += choose(done, all(0.0), tilted.step_k);
		done |= last;
		safe &= (Bits) (*k > 0.0) & (Bits) (*k < LARGEST_CURVATURE)
			& (Bits) (absolute(*b) < 10.0 * WIDEST_SD);
		*k = choose(safe, *k, all(0.5));
		*b = choose(safe, *b, all(0.0));
		if (largest_lane(choose(done | ~safe, all(0.0), all(1.0))) == 0.0)
			break;
	}
	*log_sum = logarithm(larger(sum, all(1e-300))) + gain;
	return safe & done & (Bits) (sum > 1e-290);
}

/*
 * The mean of the likelihood over N(m, sd^2), and mean and variance, in units of
 * sd, skewness and excess of the distribution that is their product.
 */
typedef struct Moments
{
	Lanes		total;
	Lanes		mean;
	Lanes		variance;
	Lanes		skew;
	Lanes		excess;
} Moments;

ALWAYS_INLINE void
likely_moments(Lanes m, Lanes sd, Moments *moments)
{
	Lanes		h = smaller(all(LARGEST_DISTANCE), LOGISTIC_REACH / sd);
	Lanes		odds = exponential(-m);
	Lanes		step = exponential(-sd * h);
	Lanes		up = odds,
				down = odds,
				back = 1.0 / step,
				ratio = exponential(-0.5 * h * h),
				shrink = ratio * ratio,
				weight = all(1.0),
				sum = all(1.0),
				sum1,
				sum2,
				sum3,
				sum4,
				center;
	PowerSums	sums = start_powers(1.0 / (1.0 + odds));
	int			half = (int) ceil(WIDEST_STEP_NODE / -largest_lane(-h));

	for (int i = 1; i <= half; i++)
	{
		double		t = i;
		Lanes		inverse,
					above,
					below;

		up *= step;
		down *= back;
		weight *= ratio;
		ratio *= shrink;
		sum += 2.0 * weight;
		inverse = weight / ((1.0 + up) * (1.0 + down));
		above = (1.0 + down) * inverse;
		below = (1.0 + up) * inverse;
		add_powers(&sums, t, above, below);
	}
	sum1 = sums.first * (h / sums.zeroth);
	sum2 = sums.second * (h * h / sums.zeroth);
	sum3 = sums.third * (h * h * h / sums.zeroth);
	sum4 = sums.fourth * (h * h * h * h / sums.zeroth);
	center = sum1 * sum1;
	moments->total = sums.zeroth / sum;
	moments->mean = sum1;
	moments->variance = sum2 - center;
	moments->skew = sum3 - sum1 * (3.0 * sum2 - 2.0 * center);
	moments->excess = sum4 - 4.0 * sum1 * sum3 + center * (6.0 * sum2 - 3.0 * center);
}

ALWAYS_INLINE unsigned
spread_rows(WmlcWorkingLanes *rows, Lanes m)
{
	Nodes		nodes;
	Lanes		sign,
				variance,
				sd,
				b,
				k,
				weight,
				log_sum,
				skew = all(0.0),
				excess = all(0.0);
	Bits		narrow,
				fine;
	unsigned	hard = 0;

	sign = load(rows->sign);
	variance = load(rows->variance);
	fine = (Bits) (variance <= WIDEST_SD * WIDEST_SD);
	variance = choose(fine, variance, all(1.0));
	sd = square_root(variance);
	place_nodes(m, sd, &nodes, &b, &k);
	narrow = (Bits) (nodes.up[0] * (1.0 - nodes.up[0]) * variance <= WMLC_NARROW);
	fine &= find_parabolas(&nodes, narrow, &b, &k, &log_sum, &skew, &excess);
	weight = k / variance;
	weight = choose(narrow, larger(larger(weight, absolute(b / sd) / WMLC_FARTHEST_RESPONSE),
								   all(WMLC_LEAST_WORKING_WEIGHT)), weight);
	fine &= (Bits) (weight >= WMLC_LEAST_WORKING_WEIGHT);
	k = weight * variance;

	/* the exponential of the parabola is 1 where it is largest, at the response */
	log_sum += 0.5 * b * b / k;
	m = sign * (m + b * sd / k);
	skew *= sign;
	store(rows->response, m);
	store(rows->weight, weight);
	store(rows->log_scale, log_sum);
	store(rows->skew, skew);
	store(rows->excess, excess);
	for (int l = 0; l < LANES; l++)
		hard |= fine[l] == 0 ? 1U << l : 0U;
	return hard;
}

/* Slope and curvature at a point. */
ALWAYS_INLINE void
point_rows(WmlcWorkingLanes *rows, Lanes m)
{
	Lanes		sign;
	Lanes		odds = exponential(-m);
	Lanes		likely = 1.0 / (1.0 + odds);
	Lanes		score = odds * likely;
	Lanes		weight = larger(score * likely, all(WMLC_LEAST_WORKING_WEIGHT));
	Lanes		move = score / weight;
	Lanes		log_scale = logarithm(likely) + 0.5 * score * move;

	sign = load(rows->sign);
	m = sign * (m + move);
	store(rows->response, m);
	store(rows->weight, weight);
	store(rows->log_scale, log_scale);
	store(rows->skew, all(0.0));
	store(rows->excess, all(0.0));
}

ALWAYS_INLINE unsigned
wmlc_working_lanes_body(WmlcWorkingLanes *rows)
{
	Lanes		m,
				sign;

	m = load(rows->eta);
	sign = load(rows->sign);
	m = larger(smaller(sign * m, all(WMLC_LARGEST_PREDICTOR)), all(-WMLC_LARGEST_PREDICTOR));
	if (rows->variance[0] > 0.0)
		return spread_rows(rows, m);
	point_rows(rows, m);
	return 0;
}

/*
 * The step.  Without the row, eta is N(m, sd^2); with its likelihood, it has mean
 * m + s1 sd and variance s2 sd^2.
 */
ALWAYS_INLINE bool
wmlc_working_lanes_step_body(WmlcWorkingLanes *rows)
{
	Lanes		eta,
				sign,
				variance,
				response,
				weight,
				share,
				m,
				sd,
				s1,
				s2,
				log_scale;
	Moments		moments;
	Bits		fine;

	eta = load(rows->eta);
	sign = load(rows->sign);
	variance = load(rows->variance);
	response = load(rows->response);
	weight = load(rows->weight);
	share = weight * variance;
	m = sign * (eta + share * (eta - response) / (1.0 - share));
	variance /= 1.0 - share;
	fine = (Bits) (share < LARGEST_SHARE) & (Bits) (variance > 0.0)
		& (Bits) (variance <= WIDEST_SD * WIDEST_SD)
		& (Bits) (absolute(m) < WMLC_LARGEST_PREDICTOR);
	if (!all_set(fine))
		return false;
	sd = square_root(variance);
	if (-largest_lane(-(m / sd)) < -FARTHEST_MEAN)
		return false;
	likely_moments(m, sd, &moments);
	s1 = moments.mean;
	s2 = moments.variance;
	fine = (Bits) (s2 > 0.0) & (Bits) ((1.0 - s2) > WMLC_NARROW * s2);
	if (!all_set(fine))
		return false;
	moments.skew *= sign / (s2 * square_root(s2));
	moments.excess = moments.excess / (s2 * s2) - 3.0;

	/* where the parabola is largest, its exponential is 1 */
	log_scale = logarithm(moments.total) - 0.5 * logarithm(s2) + 0.5 * s1 * s1 / (1.0 - s2);
	weight = (1.0 - s2) / (s2 * variance);
	response = sign * (m + sd * s1 / (1.0 - s2));
	store(rows->skew, moments.skew);
	store(rows->excess, moments.excess);
	store(rows->response, response);
	store(rows->weight, weight);
	store(rows->log_scale, log_scale);
	return true;
}

LANES_FUNCTION(, unsigned, wmlc_working_lanes, (WmlcWorkingLanes *rows), (rows))
LANES_FUNCTION(, bool, wmlc_working_lanes_step, (WmlcWorkingLanes *rows), (rows))
