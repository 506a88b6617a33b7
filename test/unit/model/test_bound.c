/*
 * test_bound.c
 *	  The terms of the bounds against their definitions, the bounds themselves on
 *	  tasks whose distribution is known, and direct optimisation against brute
 *	  force.
 */
#include "core/model/bound.h"
#include "core/model/minimize_bound.h"
#include "core/linalg/trust_region.h"

#include "gram/gram_fixture.h"

static double
dot(const double *a, const double *b, int n)
{
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Rows uniform in a box of the unit ball, labels -1 and 1 or a response of them. */
static Rows
rows_of_task(int dims, int count, const double *w, double noise, bool labels, uint64_t *seed)
{
	Rows		rows = rows_new(dims, count);

	for (int r = 0; r < count; r++)
	{
		double	   *z = rows_at(&rows, r);

		for (int i = 0; i < dims; i++)
			z[i] = (2.0 * check_random(seed) - 1.0) / sqrt(dims);
		z[dims] = dot(z, w, dims) + noise * (2.0 * check_random(seed) - 1.0);
		if (labels)
			z[dims] = z[dims] > 0.0 ? 1.0 : -1.0;
	}
	return rows;
}

static double
risk_of_rows(const Rows *rows, WmlcLoss loss, const double *w)
{
	double		sum = 0.0;

	for (int r = 0; r < rows->count; r++)
	{
		const double *z = rows_at(rows, r);
		double		prediction = dot(z, w, rows->dims);

		sum += loss == WMLC_HINGE ? fmax(0.0, 1.0 - z[rows->dims] * prediction)
			: (z[rows->dims] - prediction) * (z[rows->dims] - prediction) / 2.0;
	}
	return sum / rows->count;
}

/* A point of the ball, and sometimes of its surface. */
static void
random_w(double *w, int dims, double radius, uint64_t *seed)
{
	double		length;

	for (int i = 0; i < dims; i++)
		w[i] = check_normal(seed);
	length = sqrt(dot(w, w, dims)) / radius;
	if (check_random(seed) < 0.5)
		length /= check_random(seed);
	for (int i = 0; i < dims; i++)
		w[i] /= length;
}

static void
test_risk(void)
{
	uint64_t	seed = 1;
	double		truth[3] = {0.5, -0.3, 0.2};
	double		w[3];

	for (int round = 0; round < 20; round++)
	{
		Rows		rows = rows_of_task(3, 40, truth, 0.3, round % 2 == 0, &seed);
		WmlcGram   *gram = gram_of(&rows);
		WmlcLoss	loss = round % 2 == 0 ? WMLC_HINGE : WMLC_SQUARE;

		random_w(w, 3, 1.0, &seed);
		CHECK_NEAR(wmlc_risk(gram, loss, w), risk_of_rows(&rows, loss, w), 1e-14);
		rows_free(&rows);
		free(gram);
	}
}

/* |sum_i sigma_i phi(z_i)| / n in the kernel's space, over random signs */
static double
rademacher_by_signs(const Rows *rows, WmlcLoss loss, int draws, uint64_t *seed)
{
	int			p = rows->dims + 1;
	double		total = 0.0;

	for (int draw = 0; draw < draws; draw++)
	{
		double		sum[5][5] = {{0.0}};
		double		square = 0.0;

		for (int r = 0; r < rows->count; r++)
		{
			const double *z = rows_at(rows, r);
			double		sign = check_random(seed) < 0.5 ? -1.0 : 1.0;

			for (int i = 0; i < p && loss == WMLC_SQUARE; i++)
				for (int j = 0; j < p; j++)
					sum[i][j] += sign * z[i] * z[j];
			for (int i = 0; i < p && loss == WMLC_HINGE; i++)
				sum[0][i] += sign * (i < rows->dims ? z[i] * z[rows->dims] : 1.0);
		}
		for (int i = 0; i < p; i++)
			square += dot(sum[i], sum[i], p);
		total += sqrt(square) / rows->count;
	}
	return total / draws;
}

/* By Jensen the term bounds the expectation over signs, by Khintchine closely. */
static void
test_rademacher(void)
{
	uint64_t	seed = 2;
	double		truth[3] = {0.5, -0.3, 0.2};

	for (int loss = WMLC_SQUARE; loss <= WMLC_HINGE; loss++)
	{
		Rows		rows = rows_of_task(3, 30, truth, 0.3, loss == WMLC_HINGE, &seed);
		WmlcGram   *gram = gram_of(&rows);
		double		term = wmlc_rademacher(gram, loss);
		double		drawn = rademacher_by_signs(&rows, loss, 4000, &seed);

		CHECK(drawn <= term * 1.01, "loss %d: %g drawn, term %g", loss, drawn, term);
		CHECK(drawn >= term / sqrt(2.0) * 0.99, "loss %d: %g drawn, term %g", loss, drawn, term);
		rows_free(&rows);
		free(gram);
	}
}

/* Twice the weight of every row changes nothing. */
static void
test_rademacher_weight(void)
{
	uint64_t	seed = 3;
	double		truth[3] = {0.5, -0.3, 0.2};
	Rows		rows = rows_of_task(3, 30, truth, 0.3, true, &seed);
	WmlcGram   *plain = gram_of(&rows);
	WmlcGram   *doubled;

	for (int r = 0; r < rows.count; r++)
		rows.weights[r] = 2.0;
	doubled = gram_of(&rows);
	for (int loss = WMLC_SQUARE; loss <= WMLC_HINGE; loss++)
		CHECK_NEAR(wmlc_rademacher(doubled, loss), wmlc_rademacher(plain, loss), 1e-15);
	rows_free(&rows);
	free(plain);
	free(doubled);
}

/* gamma(alpha), from the embeddings */
static double
mixture_distance(WmlcGram *const *sources, int count, const double *alpha, const WmlcGram *target,
				 WmlcLoss loss)
{
	size_t		dims = wmlc_embedding_dims(loss, target->dims);
	double	   *sum = malloc(dims * sizeof(double));
	double	   *point = malloc(dims * sizeof(double));
	double		square = 0.0;

	wmlc_embedding(target, loss, sum);
	for (size_t k = 0; k < dims; k++)
		sum[k] = -sum[k];
	for (int j = 0; j < count; j++)
	{
		wmlc_embedding(sources[j], loss, point);
		for (size_t k = 0; k < dims; k++)
			sum[k] += alpha[j] * point[k];
	}
	for (size_t k = 0; k < dims; k++)
		square += sum[k] * sum[k];
	free(sum);
	free(point);
	return sqrt(square);
}

/*
 * Many draws of a target of 10 rows from a known distribution: the bound of its
 * true risk by the sources' risks holds for all w tried, but for a share
 * epsilon of the draws; and so does the part without the deviation for the
 * risk on the target's own rows, without exception.
 */
static void
test_coverage(WmlcLoss loss)
{
	uint64_t	seed = 4 + loss;
	const double range = 2.0;
	const double epsilon = 0.1;
	double		truth[3][2] = {{0.8, 0.1}, {-0.2, 0.7}, {0.5, 0.4}};
	Rows		everything = rows_of_task(2, 10000, truth[2], 0.2, loss == WMLC_HINGE, &seed);
	WmlcGram   *population = gram_of(&everything);
	WmlcGram   *sources[2];
	const double ball = wmlc_loss_ball(loss, 1.0);
	int			broken = 0;
	int			draws = 200;

	for (int j = 0; j < 2; j++)
	{
		Rows		rows = rows_of_task(2, 300, truth[j], 0.2, loss == WMLC_HINGE, &seed);

		sources[j] = gram_of(&rows);
		rows_free(&rows);
	}
	for (int draw = 0; draw < draws; draw++)
	{
		Rows		rows = rows_of_task(2, 10, truth[2], 0.2, loss == WMLC_HINGE, &seed);
		WmlcGram   *target = gram_of(&rows);
		double		weight = check_random(&seed);
		double		alpha[2] = {weight, 1.0 - weight};
		double		distance = ball * mixture_distance(sources, 2, alpha, target, loss);
		double		slack = 2.0 * ball * wmlc_rademacher(target, loss) +
			wmlc_deviation(range, epsilon, 10.0);
		bool		holds = true;
		bool		own_holds = true;

		for (int k = 0; k < 50; k++)
		{
			double		w[2];
			double		mixed;

			random_w(w, 2, 1.0, &seed);
			mixed = alpha[0] * wmlc_risk(sources[0], loss, w) + alpha[1] * wmlc_risk(sources[1], loss, w);
			own_holds &= wmlc_risk(target, loss, w) <= mixed + distance + 1e-12;
			holds &= wmlc_risk(population, loss, w) <= mixed + distance + slack;
		}
		CHECK(own_holds, "loss %d, draw %d: the distance does not bound the target's rows", loss, draw);
		broken += !holds;
		rows_free(&rows);
		free(target);
	}
	CHECK(broken <= epsilon * draws, "loss %d: %d of %d draws break the bound", loss, broken, draws);
	rows_free(&everything);
	free(population);
	free(sources[0]);
	free(sources[1]);
}

/* The deviation's formula, and that the bound is not empty: many rows, close to 0. */
static void
test_deviation(void)
{
	CHECK_NEAR(wmlc_deviation(1.0, 2.0 * exp(-2.0), 1.0), 3.0, 1e-14);
	CHECK_NEAR(wmlc_deviation(2.0, 0.05, 100.0), wmlc_deviation(1.0, 0.05, 25.0), 1e-14);
	CHECK_NEAR(wmlc_loss_ball(WMLC_SQUARE, 2.0), 2.5, 0.0);
	CHECK_NEAR(wmlc_loss_ball(WMLC_HINGE, 1.0), sqrt(2.0), 1e-15);
}

/* 1/2 w'A w - b.w over the ball: the optimality conditions, also of singular A. */
static void
test_trust_region(void)
{
	uint64_t	seed = 7;
	int			on_surface = 0;
	int			rounds = 200;

	for (int round = 0; round < rounds; round++)
	{
		int			d = 1 + round % 6;
		int			rank = 1 + (int) (check_random(&seed) * d);
		double		radius = pow(10.0, 3.0 * check_random(&seed) - 2.0);
		double		a[36] = {0.0};
		double		copy[36];
		double		b[6] = {0.0};
		double		w[6];
		double		multiplier;
		double		scale = 0.0;
		double		length;
		void	   *work = malloc(wmlc_trust_region_workspace(d));

		for (int r = 0; r < rank; r++)
		{
			double		row[6];
			double		y = check_normal(&seed);

			for (int i = 0; i < d; i++)
				row[i] = check_normal(&seed) * pow(10.0, i % 3 - 1);
			for (int i = 0; i < d; i++)
			{
				b[i] += row[i] * y;
				for (int k = 0; k < d; k++)
					a[i * d + k] += row[i] * row[k];
			}
		}
		memcpy(copy, a, sizeof(a));
		CHECK(wmlc_trust_region(d, a, b, radius, w, &multiplier, work, NULL) == WMLC_OK, "round %d", round);
		length = sqrt(dot(w, w, d));
		for (int i = 0; i < d; i++)
			scale = fmax(scale, fabs(b[i]));
		for (int i = 0; i < d; i++)
		{
			double		left = dot(copy + i * d, w, d) + multiplier * w[i];

			CHECK(fabs(left - b[i]) <= 1e-9 * scale, "round %d: row %d is off by %g", round, i, left - b[i]);
		}
		CHECK(multiplier >= 0.0 && length <= radius * (1.0 + 1e-12), "round %d: length %g of %g", round,
			  length, radius);
		CHECK(multiplier == 0.0 || length >= radius * (1.0 - 1e-12), "round %d: multiplier %g", round,
			  multiplier);
		on_surface += multiplier > 0.0;
		free(work);
	}
	CHECK(on_surface > 20 && on_surface < rounds - 20, "%d on the surface", on_surface);
}

typedef struct Case
{
	WmlcBoundProblem problem;
	WmlcGram   *sources[3];
	WmlcGram   *target;
} Case;

static Case
random_case(int count, WmlcLoss loss, double radius, uint64_t *seed)
{
	Case		c = {.problem = {.loss = loss,.radius = radius,.count = count}};

	for (int j = 0; j <= count; j++)
	{
		double		truth[2];
		Rows		rows;

		random_w(truth, 2, 1.5, seed);
		rows = rows_of_task(2, j < count ? 40 : 8, truth, 0.1, loss == WMLC_HINGE, seed);
		if (j < count)
			c.sources[j] = gram_of(&rows);
		else
			c.target = gram_of(&rows);
		rows_free(&rows);
	}
	return c;
}

static void
case_attach(Case *c)
{
	c->problem.sources = (const WmlcGram *const *) c->sources;
	c->problem.target = c->target;
}

static void
case_free(Case *c)
{
	for (size_t j = 0; j < c->problem.count; j++)
		free(c->sources[j]);
	free(c->target);
}

/* F, from definitions */
static double
objective(const Case *c, const double *alpha, const double *w)
{
	double		value = wmlc_loss_ball(c->problem.loss, c->problem.radius) *
		mixture_distance(c->sources, (int) c->problem.count, alpha, c->target, c->problem.loss);

	for (size_t j = 0; j < c->problem.count; j++)
		value += alpha[j] * wmlc_risk(c->sources[j], c->problem.loss, w);
	return value;
}

/* sum_j alpha_j risk_j(w), the least over the grid of w */
static double
least_risk(double (*risk)[3], int points, const double *alpha, int count)
{
	double		least = INFINITY;

	for (int k = 0; k < points; k++)
		least = fmin(least, dot(alpha, risk[k], count));
	return least;
}

/* The least F over a grid of weights and of w on the disc. */
static double
brute_force(const Case *c, int grid)
{
	int			count = (int) c->problem.count;
	int			points = grid * 21;
	double		(*risk)[3] = malloc(points * sizeof(*risk));
	double		least = INFINITY;

	for (int k = 0; k < points; k++)
	{
		double		angle = 6.283185307179586 * (k / 21) / grid;
		double		length = c->problem.radius * (k % 21) / 20.0;
		double		w[2] = {length * cos(angle), length * sin(angle)};

		for (int j = 0; j < count; j++)
			risk[k][j] = wmlc_risk(c->sources[j], c->problem.loss, w);
	}
	for (int i = 0; i <= grid; i++)
	{
		for (int m = 0; m <= (count == 3 ? grid - i : 0); m++)
		{
			double		alpha[3] = {(double) i / grid, (double) m / grid, 0.0};

			alpha[count - 1] = 1.0 - alpha[0] - (count == 3 ? alpha[1] : 0.0);
			least = fmin(least, least_risk(risk, points, alpha, count) +
						 wmlc_loss_ball(c->problem.loss, c->problem.radius) *
						 mixture_distance(c->sources, count, alpha, c->target, c->problem.loss));
		}
	}
	free(risk);
	return least;
}

static void
check_simplex(const double *alpha, size_t count)
{
	double		sum = 0.0;

	for (size_t j = 0; j < count; j++)
	{
		CHECK(alpha[j] >= 0.0, "weight %g", alpha[j]);
		sum += alpha[j];
	}
	CHECK_NEAR(sum, 1.0, 1e-12);
}

static void
test_minimize_joint(void)
{
	uint64_t	seed = 8;
	int			inside = 0;

	for (int round = 0; round < 24; round++)
	{
		WmlcLoss	loss = round % 3 == 2 ? WMLC_HINGE : WMLC_SQUARE;
		Case		c = random_case(2 + round % 2, loss, round % 3 == 1 ? 0.3 : 1.0, &seed);
		double		alpha[3];
		double		w[2];
		WmlcBoundMinimum joint;
		WmlcBoundMinimum weighted;
		double		least;
		void	   *work;

		case_attach(&c);
		work = malloc(wmlc_minimize_bound_workspace(&c.problem));
		CHECK(wmlc_minimize_weighted(&c.problem, alpha, w, &weighted, work, NULL) == WMLC_OK, "round %d", round);
		CHECK(wmlc_minimize_joint(&c.problem, 3, 1000, alpha, w, &joint, work, NULL) == WMLC_OK, "round %d", round);
		check_simplex(alpha, c.problem.count);
		CHECK_NEAR(joint.objective, objective(&c, alpha, w), 1e-12);
		CHECK_NEAR(joint.source_risk + wmlc_loss_ball(loss, c.problem.radius) * joint.distance,
				   joint.objective, 1e-13);
		CHECK(joint.objective <= weighted.objective + 1e-12, "round %d: joint %g, weighted %g", round,
			  joint.objective, weighted.objective);
		CHECK(joint.gap <= 1e-9 * joint.objective, "round %d: gap %g of %g after %d steps", round,
			  joint.gap, joint.objective, joint.steps);
		CHECK(joint.residual <= 1e-12, "round %d: residual %g", round, joint.residual);
		CHECK(sqrt(dot(w, w, 2)) <= c.problem.radius * (1.0 + 1e-12), "round %d", round);
		least = brute_force(&c, 40);
		CHECK(joint.objective <= least + 1e-12, "round %d: %.10g, by brute force %.10g", round,
			  joint.objective, least);
		CHECK(joint.objective >= least - 0.02, "round %d: %.10g, by brute force %.10g", round,
			  joint.objective, least);
		for (size_t j = 0; j < c.problem.count; j++)
			inside += alpha[j] > 0.01 && alpha[j] < 0.99;
		free(work);
		case_free(&c);
	}
	CHECK(inside > 4, "only %d weights are neither 0 nor 1", inside);
}

/* The looser variant: no source and no w of a grid does better. */
static void
test_minimize_weighted(void)
{
	uint64_t	seed = 9;

	for (int round = 0; round < 20; round++)
	{
		WmlcLoss	loss = round % 2 == 0 ? WMLC_SQUARE : WMLC_HINGE;
		Case		c = random_case(3, loss, round % 4 < 2 ? 0.4 : 1.0, &seed);
		double		alpha[3];
		double		w[2];
		double		least = INFINITY;
		WmlcBoundMinimum minimum;
		void	   *work;

		case_attach(&c);
		work = malloc(wmlc_minimize_bound_workspace(&c.problem));
		CHECK(wmlc_minimize_weighted(&c.problem, alpha, w, &minimum, work, NULL) == WMLC_OK, "round %d", round);
		check_simplex(alpha, 3);
		CHECK_NEAR(dot(alpha, alpha, 3), 1.0, 0.0);
		CHECK_NEAR(minimum.objective, objective(&c, alpha, w), 1e-12);
		for (int j = 0; j < 3; j++)
		{
			double		one[3] = {j == 0, j == 1, j == 2};

			for (int k = 0; k < 500; k++)
			{
				double		v[2];

				random_w(v, 2, c.problem.radius, &seed);
				least = fmin(least, objective(&c, one, v));
			}
		}
		CHECK(minimum.objective <= least + 1e-12, "round %d: %g, by brute force %g", round, minimum.objective, least);
		CHECK(minimum.objective >= least - 0.01, "round %d: %g, by brute force %g", round, minimum.objective, least);
		free(work);
		case_free(&c);
	}
}

/* More turns never make it worse, from any start. */
static void
test_descent_is_monotone(void)
{
	uint64_t	seed = 10;
	int			moved = 0;

	for (int round = 0; round < 12; round++)
	{
		Case		c = random_case(3, round % 2 == 0 ? WMLC_SQUARE : WMLC_HINGE, 1.0, &seed);
		double		a = check_random(&seed);
		double		before = INFINITY;
		void	   *work;

		case_attach(&c);
		work = malloc(wmlc_minimize_bound_workspace(&c.problem));
		for (int steps = 0; steps < 8; steps++)
		{
			double		alpha[3] = {a, (1.0 - a) / 2.0, (1.0 - a) / 2.0};
			double		w[2];
			WmlcBoundMinimum minimum;

			CHECK(wmlc_descend_bound(&c.problem, steps, alpha, w, &minimum, work, NULL) == WMLC_OK, "round %d", round);
			CHECK(minimum.objective <= before, "round %d: %g after %g", round, minimum.objective, before);
			CHECK(minimum.steps <= steps, "round %d: %d steps", round, minimum.steps);
			moved += steps > 0 && minimum.objective < before;
			before = minimum.objective;
		}
		free(work);
		case_free(&c);
	}
	CHECK(moved > 12, "only %d steps lead down", moved);
}

/* A target that is one of the sources: all distances can vanish. */
static void
test_target_inside(void)
{
	uint64_t	seed = 11;

	for (int round = 0; round < 6; round++)
	{
		Case		c = random_case(3, round % 2 == 0 ? WMLC_SQUARE : WMLC_HINGE, 1.0, &seed);
		double		alpha[3];
		double		w[2];
		WmlcBoundMinimum minimum;
		void	   *work;

		free(c.target);
		c.target = gram_copy(c.sources[0]);
		if (round >= 2)
			CHECK(wmlc_gram_merge(c.target, c.sources[1]) == WMLC_OK, "round %d", round);
		case_attach(&c);
		work = malloc(wmlc_minimize_bound_workspace(&c.problem));
		CHECK(wmlc_minimize_joint(&c.problem, 3, 1000, alpha, w, &minimum, work, NULL) == WMLC_OK, "round %d", round);
		CHECK(minimum.gap <= 1e-7 * minimum.objective, "round %d: gap %g of %g", round, minimum.gap, minimum.objective);
		CHECK(minimum.objective <= brute_force(&c, 20) + 1e-7, "round %d", round);
		free(work);
		case_free(&c);
	}
}

int
main(void)
{
	test_risk();
	test_rademacher();
	test_rademacher_weight();
	test_coverage(WMLC_SQUARE);
	test_coverage(WMLC_HINGE);
	test_deviation();
	test_trust_region();
	test_minimize_joint();
	test_minimize_weighted();
	test_descent_is_monotone();
	test_target_inside();
	return check_summary();
}
