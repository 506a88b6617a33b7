/*
 * count_lanes.c
 *	  Working rows of counts side by side: see count_lanes.h.
 *
 * As in working_lanes.c everything is inlined, and no operation is contracted.
 */
#include <math.h>

#include "core/glm/count_lanes.h"
#include "core/glm/family.h"
#include "core/glm/lanes.h"
#include "core/glm/working_lanes.h"

_Static_assert(LANES == WMLC_COUNT_LANES, "rows come in whole vectors");

/* How far nodes are apart, in eta at the most and in its standard deviations, and reach. */
#define COUNT_REACH 0.7
#define LARGEST_DISTANCE 0.8
#define WIDEST_NODE 7.5
#define WIDEST_SD 10.0

/* What the old row must leave of the distribution, and how far the step may lead. */
#define LARGEST_SHARE 0.9
#define LEAST_SPREAD 0.1
#define FARTHEST_STEP 3.0

/* Larger means are known too exactly for differences of rates. */
#define LARGEST_MEAN 1e9
#define LARGEST_EXPONENT 700.0

/* log(1 + x) for x >= 0, also where 1 + x is rounded */
ALWAYS_INLINE Lanes
logarithm_plus(Lanes x)
{
	Lanes		sum = 1.0 + x;
	Lanes		rounded = sum - 1.0;
	Bits		whole = (Bits) (rounded > 0.0);

	return choose(whole, logarithm(sum) * (x / choose(whole, rounded, all(1.0))), x);
}

/* What does not change from node to node. */
typedef struct Counts
{
	Lanes		mean;			/* in the middle, times the weight */
	Lanes		power;			/* of a negative binomial */
	Lanes		ratio;			/* dispersion times the mean */
	Lanes		middle;			/* log (1 + ratio) */
} Counts;

/* What the log-likelihood loses, beside its linear part, where the rate is `rate` times that in the middle. */
ALWAYS_INLINE Lanes
loss(const Counts *counts, double dispersion, Lanes rate)
{
	if (dispersion > 0.0)
		return counts->power * (logarithm_plus(counts->ratio * rate) - counts->middle);
	return counts->mean * (rate - 1.0);
}

ALWAYS_INLINE Lanes
bounded_exponential(Lanes x)
{
	return exponential(smaller(larger(x, all(-LARGEST_EXPONENT)), all(LARGEST_EXPONENT)));
}

/*
 * Moments of the distribution with the likelihood in place of the parabola; t is
 * eta in standard deviations from its mean.
 */
typedef struct Moments
{
	Lanes		total;
	Lanes		mean;
	Lanes		second;
	Lanes		third;
	Lanes		fourth;
} Moments;

/* `slope` and `bend` are of the exponent's part that is a parabola. */
ALWAYS_INLINE void
tilted_moments(const Counts *counts, double dispersion, Lanes sd, Lanes slope, Lanes bend,
			   Moments *moments)
{
	Lanes		h = smaller(all(LARGEST_DISTANCE), COUNT_REACH / sd);
	Lanes		step = exponential(sd * h);
	Lanes		back = 1.0 / step,
				up = all(1.0),
				down = all(1.0);
	PowerSums	sums = start_powers(all(1.0));
	int			half = (int) ceil(WIDEST_NODE / -largest_lane(-h));

	slope *= h;
	bend *= h * h;
	for (int i = 1; i <= half; i++)
	{
		double		t = i;
		Lanes		above,
					below;

		up *= step;
		down *= back;
		above = bounded_exponential(t * (slope + t * bend) - loss(counts, dispersion, up));
		below = bounded_exponential(t * (t * bend - slope) - loss(counts, dispersion, down));
		add_powers(&sums, t, above, below);
	}
	moments->total = sums.zeroth * h * 0.39894228040143268;
	moments->mean = sums.first * (h / sums.zeroth);
	moments->second = sums.second * (h * h / sums.zeroth);
	moments->third = sums.third * (h * h * h / sums.zeroth);
	moments->fourth = sums.fourth * (h * h * h * h / sums.zeroth);
}

/* The new row where the step is fine, what is there elsewhere. */
ALWAYS_INLINE void
keep(double *place, Bits fine, Lanes x)
{
	store(place, choose(fine, x, load(place)));
}

/*
 * In units of eta's standard deviation, the parabola has slope b and curvature k;
 * without it, the distribution has precision 1 - k and mean -b / (1 - k), and with
 * the likelihood, mean m and variance s.
 */
ALWAYS_INLINE unsigned
wmlc_count_lanes_step_body(WmlcCountLanes *rows, double dispersion)
{
	Lanes		eta = load(rows->eta),
				variance = load(rows->variance),
				y = load(rows->y),
				row_weight = load(rows->row_weight),
				k = load(rows->weight) * variance,
				sd = square_root(variance),
				b = load(rows->weight) * sd * (load(rows->response) - eta),
				mean,
				m,
				s,
				new_b,
				new_k,
				far,
				lost;
	Bits		fine = (Bits) (k > WMLC_NARROW) & (Bits) (k < LARGEST_SHARE)
		& (Bits) (sd <= WIDEST_SD)
		& (Bits) (absolute(eta) + WIDEST_NODE * sd <= WMLC_LARGEST_PREDICTOR);
	Counts		counts;
	Moments		moments;
	unsigned	hard = 0;

	variance = choose(fine, variance, all(1.0));
	sd = choose(fine, sd, all(1.0));
	eta = choose(fine, eta, all(0.0));
	k = choose(fine, k, all(0.5));
	b = choose(fine, b, all(0.0));
	mean = load(rows->exposure) * exponential(eta);
	fine &= (Bits) (row_weight * mean < LARGEST_MEAN);
	counts.mean = lost = row_weight * mean;
	if (dispersion > 0.0)
	{
		counts.power = row_weight * (y + 1.0 / dispersion);
		counts.ratio = dispersion * mean;
		counts.middle = logarithm_plus(counts.ratio);
		lost = counts.power * counts.middle;
	}
	tilted_moments(&counts, dispersion, sd, row_weight * y * sd - b, 0.5 * k - 0.5, &moments);
	m = moments.mean;
	s = moments.second - m * m;
	fine &= (Bits) (s > LEAST_SPREAD) & (Bits) (s < 1.0 / LEAST_SPREAD)
		& (Bits) (absolute(m) < FARTHEST_STEP);
	s = choose(fine, s, all(1.0));
	new_k = k + 1.0 / s - 1.0;
	new_b = b + m / s;
	fine &= (Bits) (new_k > WMLC_NARROW);
	new_k = choose(fine, new_k, k);
	far = new_b / new_k + b / (1.0 - k);
	keep(rows->response, fine, eta + sd * new_b / new_k);
	keep(rows->weight, fine, new_k / variance);

	/* where the parabola is largest, its exponential is 1 */
	store(rows->log_scale, row_weight * y * eta - lost + logarithm(moments.total)
		  + 0.5 * logarithm(1.0 - k + new_k) - 0.5 * b * b / (1.0 - k)
		  + 0.5 * far * far * new_k * (1.0 - k) / (1.0 - k + new_k));
	store(rows->skew, (moments.third - m * (3.0 * moments.second - 2.0 * m * m))
		  / (s * square_root(s)));
	store(rows->excess, (moments.fourth - 4.0 * m * moments.third
						 + m * m * (6.0 * moments.second - 3.0 * m * m)) / (s * s) - 3.0);
	for (int l = 0; l < LANES; l++)
		hard |= fine[l] == 0 ? 1U << l : 0U;
	return hard;
}

LANES_FUNCTION(, unsigned, wmlc_count_lanes_step, (WmlcCountLanes *rows, double dispersion),
			   (rows, dispersion))
