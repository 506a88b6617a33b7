/*
 * working.c
 *	  Working rows, one by one: see working.h.
 */
#include <math.h>
#include <string.h>

#include "core/glm/lanes.h"
#include "core/glm/working.h"

/*
 * A row's weight is never below this times the row's own, so that z stays
 * within bounds; the parabola's slope is right for any weight.
 */
#define LEAST_WEIGHT WMLC_LEAST_WORKING_WEIGHT

/*
 * Nor below the slope divided by this, and a bit more over wide distributions.  A row on the
 * far side of where it should be hardly bends, and a working response further
 * away than this would throw the coefficients about; no fit has many such rows.
 */
#define FARTHEST_RESPONSE WMLC_FARTHEST_RESPONSE

/* Below this, weight times variance, a parabola at the mean of the slopes will do. */
#define NARROW WMLC_NARROW
#define MOST_STEPS 30

/*
 * A wider distribution is narrow to a row only if the likelihood does not bend within so
 * many standard deviations.  Of counts the mean curvature may not be so many times as large
 * as NARROW either; a probability's bend is bounded, and may be missed for longer.
 */
#define WIDE_SD 3.0
#define WIDE_BINOMIAL_SD 30.0
#define FAR_BEND 5.0
#define LARGEST_RATIO 10.0

/*
 * In units of eta's standard deviation the parabola bends less than the distribution, which
 * it is a part of; or not much more while the two do not agree yet.  Tails of a wide one
 * know nothing of that.
 */
#define LARGEST_CURVATURE 2.0
#define USUAL_CURVATURE 0.5

/*
 * A step from the parabola of the last pass must leave something of the distribution
 * without it, and lead to one that the nodes can tell from it.
 */
#define LARGEST_SHARE 0.9
#define LEAST_SPREAD 0.1
#define FARTHEST_STEP 3.0
#define TOLERANCE 1e-10

/*
 * Nodes and weights for means over N(0, 1).  A likelihood bends within about one
 * unit of eta.  Where eta varies little, seven nodes of Gauss-Hermite will do;
 * otherwise nodes stand side by side, as closely as the likelihood's singularities
 * in the complex plane ask for: then the sum converges exponentially, and how many
 * nodes there are makes no difference that could keep an iteration from settling.
 * Where eta varies so much that this would take too many, they stand close where the
 * likelihood bends, and further and further apart on both sides.
 */
#define MOST_NODES 513
#define MOST_PADDED (MOST_NODES + LANES - 1)

typedef struct Nodes
{
	int			count;			/* nodes of weight 0 follow, up to whole vectors */
	double		t[MOST_PADDED];
	double		weight[MOST_PADDED];
} Nodes;

static const double three_t[] = {0.0, -1.7320508075688773, 1.7320508075688773};
static const double three_weight[] = {
	0.66666666666666667, 0.16666666666666667, 0.16666666666666667
};

static const double seven_t[] = {
	0.0, -1.1544053947399682, 1.1544053947399682, -2.3667594107345413, 2.3667594107345413,
	-3.7504397177257423, 3.7504397177257423
};
static const double seven_weight[] = {
	0.45714285714285714, 0.24012317860501272, 0.24012317860501272, 0.030757123967586497,
	0.030757123967586497, 0.00054826885597221793, 0.00054826885597221793
};

#define SEVEN_VARIANCE 0.1
#define WIDEST_NODE 8.5
#define LARGEST_DISTANCE 0.8

/* Nodes c + BEND sinh(u), u being this far apart or as far as there is room for. */
#define BEND 1.5
#define SPREADING_DISTANCE 0.09

/* Nodes t = i h; phi((i + 1) h) / phi(i h) shrinks by the same factor each time. */
static void
even_nodes(double h, Nodes *nodes)
{
	int			half = (int) fmin(WIDEST_NODE / h, (MOST_NODES - 1) / 2);
	double		ratio = exp(-0.5 * h * h);
	double		shrink = ratio * ratio;
	double		weight = 1.0,
				total = 1.0;

	nodes->count = 2 * half + 1;
	nodes->t[0] = 0.0;
	nodes->weight[0] = 1.0;
	for (int i = 1; i <= half; i++)
	{
		weight *= ratio;
		ratio *= shrink;
		nodes->t[2 * i - 1] = -i * h;
		nodes->t[2 * i] = i * h;
		nodes->weight[2 * i - 1] = nodes->weight[2 * i] = weight;
		total += 2.0 * weight;
	}
	for (int i = 0; i < nodes->count; i++)
		nodes->weight[i] /= total;
}

/* Around the bend, in standard deviations from the mean; all within WIDEST_NODE. */
static void
spreading_nodes(double bend, double sd, Nodes *nodes)
{
	double		center = fmax(fmin(bend, WIDEST_NODE), -WIDEST_NODE);
	double		unit = BEND / sd;
	double		low = asinh((-WIDEST_NODE - center) / unit);
	double		high = asinh((WIDEST_NODE - center) / unit);
	int			count = (int) fmin(ceil((high - low) / SPREADING_DISTANCE), MOST_NODES);
	double		total = 0.0;

	nodes->count = count;
	for (int i = 0; i < count; i++)
	{
		double		u = low + (high - low) * (i + 0.5) / count;
		double		t = center + unit * sinh(u);

		nodes->t[i] = t;
		total += nodes->weight[i] = exp(-0.5 * t * t) * cosh(u);
	}
	for (int i = 0; i < count; i++)
		nodes->weight[i] /= total;
}

/* For means of functions of eta as smooth as the likelihood, which bends there. */
static void
choose_nodes(const WmlcLikelihood *likelihood, double eta, double variance, double bend,
			 Nodes *nodes)
{
	double		reach = likelihood->family == WMLC_BINOMIAL ? 1.4 : 0.7;
	double		sd = sqrt(variance);

	if (reach / sd < 2.0 * WIDEST_NODE / (MOST_NODES - 1))
		spreading_nodes((bend - eta) / sd, sd, nodes);
	else if (variance >= SEVEN_VARIANCE)
		even_nodes(fmin(LARGEST_DISTANCE, reach / sd), nodes);
	else
	{
		nodes->count = 7;
		memcpy(nodes->t, seven_t, sizeof(seven_t));
		memcpy(nodes->weight, seven_weight, sizeof(seven_weight));
	}
	for (int i = nodes->count; i % LANES != 0; i++)
		nodes->t[i] = nodes->weight[i] = 0.0;
}

/* Where a row's likelihood goes over from one straight line to another. */
static double
bend_of(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	return likelihood->family == WMLC_BINOMIAL ? 0.0
		: log((row->y + 1.0 / (1.0 + likelihood->dispersion)) / row->exposure);
}

/* The parabola through slope and curvature about eta. */
static WmlcWorkingRow
from_derivatives(double eta, double score, double curvature, const WmlcResponse *row)
{
	double		weight = row->weight * fmax(curvature, LEAST_WEIGHT);

	return (WmlcWorkingRow) {
		.response = weight > 0.0 ? eta + row->weight * score / weight : eta,
		.weight = weight
	};
}

/* Mean slope and mean curvature over a narrow distribution. */
static WmlcWorkingRow
narrow_row(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta, double sd)
{
	WmlcLocal	mean = {0.0, 0.0, 0.0};

	for (int i = 0; i < 3; i++)
	{
		WmlcLocal	local = wmlc_likelihood_local(likelihood, row, eta + three_t[i] * sd);

		mean.score += three_weight[i] * local.score;
		mean.curvature += three_weight[i] * local.curvature;
	}
	mean.curvature = fmax(mean.curvature, fabs(mean.score) / FARTHEST_RESPONSE);
	return from_derivatives(eta, mean.score, mean.curvature, row);
}

/* Slope and curvature at eta. */
static WmlcWorkingRow
point_row(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta, double variance)
{
	WmlcLocal	local = wmlc_likelihood_local(likelihood, row, eta);

	if (variance < 0.0 || likelihood->family == WMLC_BINOMIAL)
		return from_derivatives(eta, local.score, local.information, row);
	return from_derivatives(eta, local.score,
							fmax(local.curvature, fabs(local.score) / FARTHEST_RESPONSE), row);
}

/*
 * Slope and curvature of the parabola, in units of eta's standard deviation, are
 * the b and k that minimise
 *
 *	  log E exp (h(t) - b t + k (t^2 - 1) / 2),		t ~ N(0, 1)
 *
 * h being the log-likelihood: there, the tilted distribution has mean 0 and
 * variance 1.  Newton's method, halving the step where it leads upwards.
 */
typedef struct Parabola
{
	double		b;
	double		k;
	double		value;
	double		gradient[2];
	double		hessian[3];		/* bb, bk, kk */
} Parabola;

/* What is this much less likely than the likeliest node adds nothing. */
#define LEAST_EXPONENT -700.0

ALWAYS_INLINE double
total(Lanes x)
{
	double		sum = 0.0;

	for (int l = 0; l < LANES; l++)
		sum += x[l];
	return sum;
}

ALWAYS_INLINE void
tilt_body(const Nodes *nodes, const double *h, Parabola *parabola)
{
	double		exponent[MOST_PADDED];
	Lanes		largest = all(-INFINITY),
				sums[5] = {0};
	double		top,
				sum[5],
				bk,
				kk;

	for (int i = 0; i < nodes->count; i += LANES)
	{
		Lanes		t = load(nodes->t + i);
		Lanes		value = load(h + i) - parabola->b * t + 0.5 * parabola->k * (t * t - 1.0);

		store(exponent + i, value);
		largest = larger(value, largest);
	}
	top = largest[0];
	for (int l = 1; l < LANES; l++)
		top = fmax(top, largest[l]);
	for (int i = 0; i < nodes->count; i += LANES)
	{
		Lanes		t = load(nodes->t + i);
		Lanes		share = load(nodes->weight + i)
			* exponential(larger(load(exponent + i) - top, all(LEAST_EXPONENT)));

		for (int power = 0; power < 5; power++, share *= t)
			sums[power] += share;
	}
	sum[0] = total(sums[0]);
	for (int power = 1; power < 5; power++)
		sum[power] = total(sums[power]) / sum[0];
	parabola->value = top + log(sum[0]);
	parabola->gradient[0] = -sum[1];
	parabola->gradient[1] = 0.5 * (sum[2] - 1.0);
	bk = -0.5 * (sum[3] - sum[1] * sum[2]);
	kk = 0.25 * (sum[4] - sum[2] * sum[2]);
	parabola->hessian[0] = sum[2] - sum[1] * sum[1];
	parabola->hessian[1] = bk;
	parabola->hessian[2] = kk;
}

LANES_FUNCTION(static, void, tilt, (const Nodes *nodes, const double *h, Parabola *parabola),
			   (nodes, h, parabola))

/* y sd t - mu (exp(sd t) - 1) for weight 1, mu being the mean in the middle. */
ALWAYS_INLINE void
poisson_shapes_body(const WmlcResponse *row, double mu, double sd, const Nodes *nodes, double *h)
{
	for (int i = 0; i < nodes->count; i += LANES)
	{
		Lanes		move = sd * load(nodes->t + i);

		store(h + i, row->weight * (row->y * move - mu * (exponential(move) - 1.0)));
	}
}

LANES_FUNCTION(static, void, poisson_shapes,
			   (const WmlcResponse *row, double mu, double sd, const Nodes *nodes, double *h),
			   (row, mu, sd, nodes, h))

/* The log-likelihood at the nodes about eta, less what it is at eta. */
static void
node_shapes(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta, double sd,
			const Nodes *nodes, double *h)
{
	double		center;

	if (likelihood->family == WMLC_POISSON
		&& fabs(eta) + WIDEST_NODE * sd <= WMLC_LARGEST_PREDICTOR)
	{
		poisson_shapes(row, row->exposure * exp(eta), sd, nodes, h);
		return;
	}
	center = wmlc_likelihood_shape(likelihood, row, eta);
	for (int i = 0; i < nodes->count; i++)
		h[i] = row->weight
			* (wmlc_likelihood_shape(likelihood, row, eta + sd * nodes->t[i]) - center);
	for (int i = nodes->count; i % LANES != 0; i++)
		h[i] = 0.0;
}

/* Newton's step; false where the Hessian is singular to rounding. */
static bool
newton_step(const Parabola *parabola, double *db, double *dk)
{
	const double *h = parabola->hessian;
	const double *g = parabola->gradient;
	double		det = h[0] * h[2] - h[1] * h[1];

	if (!(det > 1e-14 * h[0] * h[2]))
		return false;
	*db = -(h[2] * g[0] - h[1] * g[1]) / det;
	*dk = -(h[0] * g[1] - h[1] * g[0]) / det;
	return true;
}

static bool
find_parabola(const Nodes *nodes, const double *h, double largest, Parabola *parabola)
{
	tilt(nodes, h, parabola);
	for (int step = 0; step < MOST_STEPS; step++)
	{
		Parabola	next;
		double		db,
					dk,
					share = 1.0;

		if (fabs(parabola->gradient[0]) + fabs(parabola->gradient[1]) <= TOLERANCE)
			return true;
		if (!newton_step(parabola, &db, &dk))
			return false;
		for (;; share *= 0.5)
		{
			next.b = parabola->b + share * db;
			next.k = parabola->k + share * dk;
			tilt(nodes, h, &next);
			if ((next.k < largest && next.value <= parabola->value) || share < 1e-3)
				break;
		}

		/* as good as rounding allows */
		if (!(next.value < parabola->value) && share < 1.0)
			return fabs(parabola->gradient[0]) + fabs(parabola->gradient[1]) < 1e-6;
		*parabola = next;
	}
	return fabs(parabola->gradient[0]) + fabs(parabola->gradient[1]) < 1e-6;
}

/* In standard deviations; a distribution that a likelihood cuts off is about one of its own away. */
static double
farthest(double sd)
{
	return FARTHEST_RESPONSE / sd + 2.0;
}

/*
 * The parabola that the row is best off with where it is not to be found: its own at the
 * mode if it tells eta more exactly than the distribution does, otherwise one with the mean
 * slope that bends no more than the distribution.
 */
static WmlcWorkingRow
rough_row(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta, double sd,
		  double slope, double curvature)
{
	double		bend = bend_of(likelihood, row);
	double		own = row->weight * wmlc_likelihood_local(likelihood, row, bend).curvature;

	if (likelihood->family != WMLC_BINOMIAL && row->y > 0.0 && own * sd * sd > 1.0)
		return from_derivatives(bend, 0.0, own / row->weight, row);
	slope = fmax(fmin(slope, 1.0), -1.0);
	curvature = fmax(fmin(curvature, USUAL_CURVATURE), fabs(slope) / farthest(sd));
	return from_derivatives(eta, slope / sd / row->weight, curvature / (sd * sd) / row->weight,
							row);
}

static WmlcWorkingRow
wide_row(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta, double sd)
{
	Nodes		nodes;
	double		h[MOST_PADDED];
	Parabola	parabola = {0};
	WmlcWorkingRow result;
	double		slope = 0.0,
				curvature = 0.0,
				center = wmlc_likelihood_shape(likelihood, row, eta);
	double		least = LEAST_WEIGHT * sd * sd * row->weight;
	bool		found;

	choose_nodes(likelihood, eta, sd * sd, bend_of(likelihood, row), &nodes);
	node_shapes(likelihood, row, eta, sd, &nodes, h);
	for (int i = 0; i < nodes.count; i++)
	{
		double		t = nodes.t[i];

		slope += nodes.weight[i] * h[i] * t;
		curvature -= nodes.weight[i] * h[i] * (t * t - 1.0);
	}

	/* that of the mean slope and mean curvature is near, unless tails have most of these */
	if (curvature < 1.0)
	{
		parabola.b = slope;
		parabola.k = curvature;
	}
	else
		parabola.k = USUAL_CURVATURE;
	found = find_parabola(&nodes, h, sd <= WIDE_SD ? INFINITY : LARGEST_CURVATURE, &parabola);
	if (found)
	{
		double		k = fmax(parabola.k, fmax(least, fabs(parabola.b) / farthest(sd)));

		result = from_derivatives(eta, parabola.b / sd / row->weight,
								  k / (sd * sd) / row->weight, row);
		found = k == parabola.k;
	}
	else
		result = rough_row(likelihood, row, eta, sd, slope, curvature);
	if (!found)
	{
		parabola.b = result.weight * sd * (result.response - eta);
		parabola.k = result.weight * sd * sd;
		tilt(&nodes, h, &parabola);
	}

	/* the exponential of the parabola is 1 where it is largest, at z */
	result.log_scale = parabola.value + 0.5 * parabola.k
		+ 0.5 * parabola.b * parabola.b / parabola.k + row->weight * center;
	if (found)
	{
		/* mean 0 and variance 1 leave these of the Hessian */
		result.skew = -2.0 * parabola.hessian[1];
		result.excess = 4.0 * parabola.hessian[2] - 2.0;
	}
	return result;
}

/* Is the likelihood next to straight wherever eta is? */
static bool
is_narrow(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta, double variance)
{
	WmlcLocal	local = wmlc_likelihood_local(likelihood, row, eta);
	double		wide = likelihood->family == WMLC_BINOMIAL ? WIDE_BINOMIAL_SD : WIDE_SD;

	if (row->weight * fmax(local.curvature, local.information) * variance > NARROW)
		return false;
	return variance <= wide * wide
		|| fabs(bend_of(likelihood, row) - eta) > FAR_BEND * sqrt(variance);
}

WmlcWorkingRow
wmlc_working_row_alone(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta,
					   double variance)
{
	WmlcWorkingRow result;
	double		difference;

	if (variance > 0.0 && row->weight > 0.0)
	{
		if (!is_narrow(likelihood, row, eta, variance))
			return wide_row(likelihood, row, eta, sqrt(variance));
		result = narrow_row(likelihood, row, eta, sqrt(variance));
		if (likelihood->family != WMLC_BINOMIAL && result.weight * variance > LARGEST_RATIO * NARROW)
			return wide_row(likelihood, row, eta, sqrt(variance));
	}
	else
		result = point_row(likelihood, row, eta, variance);
	difference = eta - result.response;
	result.log_scale = row->weight * wmlc_likelihood_shape(likelihood, row, eta)
		+ 0.5 * result.weight * difference * difference;
	return result;
}

/*
 * In units of eta's standard deviation the distribution without the row has
 * precision 1 - k and mean -b / (1 - k); with the likelihood, mean m and variance s.
 */
bool
wmlc_working_row_step(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta,
					  double variance, WmlcWorkingRow *place)
{
	Nodes		nodes;
	double		h[MOST_PADDED];
	double		sd = sqrt(variance);
	double		center = wmlc_likelihood_shape(likelihood, row, eta);
	Parabola	tilted = {
		.b = place->weight * sd * (place->response - eta),
		.k = place->weight * variance
	};
	double		rest = 1.0 - tilted.k,
				m,
				second,
				third,
				s,
				b,
				k,
				far;

	if (!(tilted.k > NARROW && tilted.k < LARGEST_SHARE))
		return false;
	choose_nodes(likelihood, eta, variance, bend_of(likelihood, row), &nodes);
	node_shapes(likelihood, row, eta, sd, &nodes, h);
	tilt(&nodes, h, &tilted);
	m = -tilted.gradient[0];
	second = 2.0 * tilted.gradient[1] + 1.0;
	third = m * second - 2.0 * tilted.hessian[1];
	s = tilted.hessian[0];
	if (!(s > LEAST_SPREAD && s < 1.0 / LEAST_SPREAD && fabs(m) < FARTHEST_STEP))
		return false;
	k = tilted.k + 1.0 / s - 1.0;
	b = tilted.b + m / s;
	if (!(k > NARROW))
		return false;
	far = b / k + tilted.b / rest;
	place->response = eta + sd * b / k;
	place->weight = k / variance;
	place->log_scale = row->weight * center + tilted.value + 0.5 * tilted.k
		+ 0.5 * log(rest + k) - 0.5 * tilted.b * tilted.b / rest
		+ 0.5 * far * far * k * rest / (rest + k);
	place->skew = (third - m * (3.0 * second - 2.0 * m * m)) / (s * sqrt(s));
	place->excess = (4.0 * tilted.hessian[2] + second * second - 4.0 * m * third
					 + m * m * (6.0 * second - 3.0 * m * m)) / (s * s) - 3.0;
	return true;
}

WmlcWorkingRow
wmlc_working_row(const WmlcLikelihood *likelihood, const WmlcResponse *row, double eta,
				 double variance)
{
	WmlcWorkingLanes lanes;

	if (!(variance > 0.0) || !wmlc_is_single(likelihood, row))
		return wmlc_working_row_alone(likelihood, row, eta, variance);
	for (int l = 0; l < WMLC_WORKING_LANES; l++)
		wmlc_set_lane(&lanes, l, row->y, eta, variance);
	if (wmlc_working_lanes(&lanes) != 0)
		return wmlc_working_row_alone(likelihood, row, eta, variance);
	return (WmlcWorkingRow) {
		lanes.response[0], lanes.weight[0], lanes.log_scale[0], lanes.skew[0], lanes.excess[0]
	};
}

WmlcWorkingRow
wmlc_working_start(const WmlcLikelihood *likelihood, const WmlcResponse *row)
{
	return wmlc_working_row(likelihood, row, wmlc_likelihood_start(likelihood, row), WMLC_POINT);
}

double
wmlc_likelihood_expected_mean(const WmlcLikelihood *likelihood, double eta, double variance)
{
	Nodes		nodes;
	double		sum = 0.0;
	double		sd = sqrt(variance);

	if (likelihood->family == WMLC_GAUSSIAN)
		return eta;
	if (likelihood->family != WMLC_BINOMIAL)
		return wmlc_likelihood_mean(likelihood, eta + 0.5 * fmin(variance, WMLC_MOST_RATE_VARIANCE));
	choose_nodes(likelihood, eta, variance, 0.0, &nodes);
	for (int i = 0; i < nodes.count; i++)
		sum += nodes.weight[i] * wmlc_likelihood_mean(likelihood, eta + sd * nodes.t[i]);
	return fmin(sum, 1.0);
}
