/*
 * test_hinge.c
 *	  The linear hinge loss against grid searches on the circle, and the area
 *	  under the ROC curve against its definition.
 */
#include "core/model/auc.h"
#include "core/model/bound.h"
#include "core/model/hinge.h"

#include "gram/gram_fixture.h"

/* Rows on and inside the unit circle, labels -1 and 1. */
static Rows
rows_on_disc(int count, double slant, uint64_t *seed)
{
	Rows		rows = rows_new(2, count);

	for (int r = 0; r < count; r++)
	{
		double	   *z = rows_at(&rows, r);
		double		x[2] = {check_normal(seed), check_normal(seed)};

		wmlc_unit(x, 2, 2.0, z);
		z[2] = z[0] + slant * z[1] + 0.2 * check_normal(seed) > 0.1 ? 1.0 : -1.0;
	}
	return rows;
}

/* sum alpha_j mean of max(0, 1 - y w.psi) */
static double
weighted_risk(const Rows *tasks, const double *alpha, int count, const double *w)
{
	double		risk = 0.0;

	for (int j = 0; j < count; j++)
	{
		for (int r = 0; r < tasks[j].count; r++)
		{
			const double *z = rows_at(&tasks[j], r);

			risk += alpha[j] / tasks[j].count * fmax(0.0, 1.0 - z[2] * (w[0] * z[0] + w[1] * z[1]));
		}
	}
	return risk;
}

/* No w of the disc has a lower weighted hinge loss, computed from the rows. */
static void
test_erm_against_grid(void)
{
	uint64_t	seed = 1;

	for (int round = 0; round < 10; round++)
	{
		double		radius = round % 2 == 0 ? 1.0 : 0.6;
		double		sums[6] = {0.0};
		double		alpha[3];
		Rows		tasks[3];
		double		w[2];
		double		least = INFINITY;

		for (int j = 0; j < 3; j++)
		{
			WmlcGram   *gram;

			alpha[j] = 3.0 * check_random(&seed);
			tasks[j] = rows_on_disc(50, j - 1.0, &seed);
			gram = gram_of(&tasks[j]);
			CHECK(wmlc_hinge_is_linear(gram, radius), "round %d", round);
			wmlc_hinge_add(sums, gram, alpha[j]);
			free(gram);
		}
		wmlc_hinge_erm(sums, 2, radius, w);
		CHECK_NEAR(sqrt(w[0] * w[0] + w[1] * w[1]), radius, 1e-14);
		for (int k = 0; k < 3600; k++)
		{
			double		length = radius * (k % 10 + 1) / 10.0;
			double		v[2] = {length * cos(k * 6.283185307179586 / 3600), length * sin(k * 6.283185307179586 / 3600)};

			least = fmin(least, weighted_risk(tasks, alpha, 3, v));
		}
		CHECK(weighted_risk(tasks, alpha, 3, w) <= least + 1e-12, "round %d", round);
		CHECK(weighted_risk(tasks, alpha, 3, w) >= least - 1e-3, "round %d", round);
		for (int j = 0; j < 3; j++)
			rows_free(&tasks[j]);
	}
}

/* Sums of parts, merged, are the sums of all. */
static void
test_merge(void)
{
	uint64_t	seed = 2;
	double		all[6] = {0.0};
	double		part[2][6] = {{0.0}};
	double		w[2],
				v[2];

	for (int j = 0; j < 6; j++)
	{
		Rows		rows = rows_on_disc(20, 0.3 * j, &seed);
		WmlcGram   *gram = gram_of(&rows);

		wmlc_hinge_add(all, gram, 0.1 + j);
		wmlc_hinge_add(part[j % 2], gram, 0.1 + j);
		rows_free(&rows);
		free(gram);
	}
	wmlc_hinge_merge(part[0], part[1], 2);
	wmlc_hinge_erm(all, 2, 1.0, w);
	wmlc_hinge_erm(part[0], 2, 1.0, v);
	CHECK(w[0] == v[0] && w[1] == v[1], "%g %g instead of %g %g", v[0], v[1], w[0], w[1]);
}

/*
 * MAML: descent along a numerical gradient of the meta-objective
 * sum_j alpha_j (1 - b_j.(w + inner b_j)), projected on the ball.
 */
static void
test_maml(void)
{
	uint64_t	seed = 3;
	const double eta = 0.3;
	const int	steps = 7;
	double		sums[6] = {0.0};
	double		weights[2] = {0.4, 0.6};
	WmlcGram   *tasks[2];
	double		w[2] = {0.0, 0.0};
	double		v[2];

	for (int j = 0; j < 2; j++)
	{
		Rows		rows = rows_on_disc(60, 0.5 * j, &seed);

		tasks[j] = gram_of(&rows);
		wmlc_hinge_add(sums, tasks[j], weights[j]);
		rows_free(&rows);
	}
	for (int step = 0; step < steps; step++)
	{
		double		gradient[2];
		double		length;

		for (int i = 0; i < 2; i++)
		{
			gradient[i] = 0.0;
			for (int j = 0; j < 2; j++)
			{
				for (int side = -1; side <= 1; side += 2)
				{
					double		moved[2] = {w[0], w[1]};

					moved[i] += side * 0.5;
					for (int k = 0; k < 2; k++)
						moved[k] += 0.25 * wmlc_dd_value(wmlc_gram_moment(tasks[j], k, 2));
					gradient[i] += side * weights[j] * wmlc_risk(tasks[j], WMLC_HINGE, moved);
				}
			}
		}
		for (int i = 0; i < 2; i++)
			w[i] -= eta * gradient[i];
		length = hypot(w[0], w[1]);
		for (int i = 0; i < 2 && length > 0.5; i++)
			w[i] *= 0.5 / length;

		wmlc_hinge_maml(sums, 2, eta * (step + 1), 0.5, v);
		CHECK_NEAR(v[0], w[0], 1e-14);
		CHECK_NEAR(v[1], w[1], 1e-14);
	}
	CHECK_NEAR(hypot(v[0], v[1]), 0.5, 1e-14);
	wmlc_hinge_erm(sums, 2, 0.5, w);
	CHECK_NEAR(v[0], w[0], 1e-14);
	free(tasks[0]);
	free(tasks[1]);
}

/* Adaptation lowers the task's risk, stays in the ball, and ends at its ERM. */
static void
test_adapt(void)
{
	uint64_t	seed = 4;
	Rows		rows = rows_on_disc(60, -1.0, &seed);
	WmlcGram   *gram = gram_of(&rows);
	double		sums[6] = {0.0};
	double		w[2] = {-3.0, 4.0};
	double		best[2];
	double		before = 2.0;

	for (int step = 0; step < 20; step++)
	{
		CHECK(wmlc_hinge_adapt(w, gram, 0.5, 1, 1.0, NULL) == WMLC_OK, "step %d", step);
		CHECK(hypot(w[0], w[1]) <= 1.0 + 1e-15, "step %d", step);
		CHECK(wmlc_risk(gram, WMLC_HINGE, w) < before, "step %d", step);
		before = wmlc_risk(gram, WMLC_HINGE, w);
	}
	CHECK(wmlc_hinge_adapt(w, gram, 0.5, 1000, 1.0, NULL) == WMLC_OK, "adapt");
	wmlc_hinge_add(sums, gram, 1.0);
	wmlc_hinge_erm(sums, 2, 1.0, best);
	CHECK_NEAR(w[0], best[0], 1e-12);
	CHECK_NEAR(w[1], best[1], 1e-12);
	rows_free(&rows);
	free(gram);
}

static void
test_assumption(void)
{
	Rows		rows = rows_new(2, 2);
	WmlcGram   *gram;
	double		x[2] = {3.0, 4.0};
	double		huge[2] = {1e300, 1e300};

	wmlc_unit(x, 2, 2.0, rows_at(&rows, 0));
	CHECK_NEAR(rows_at(&rows, 0)[0], 0.6, 1e-15);
	wmlc_unit(x, 2, 20.0, rows_at(&rows, 1));
	CHECK_NEAR(rows_at(&rows, 1)[1], 0.2, 1e-15);
	rows_at(&rows, 0)[2] = -1.0;
	rows_at(&rows, 1)[2] = 0.5;
	gram = gram_of(&rows);
	CHECK(wmlc_hinge_is_linear(gram, 1.0), "in the unit ball");
	CHECK(!wmlc_hinge_is_linear(gram, 1.1), "radius 1.1");
	free(gram);

	rows_at(&rows, 1)[2] = 1.1;
	gram = gram_of(&rows);
	CHECK(!wmlc_hinge_is_linear(gram, 0.1), "response 1.1");
	free(gram);
	rows_at(&rows, 1)[2] = 0.5;
	rows_at(&rows, 0)[0] = 0.7;
	gram = gram_of(&rows);
	CHECK(!wmlc_hinge_is_linear(gram, 0.1), "features too long");
	free(gram);

	wmlc_unit(huge, 2, 1.0, x);
	CHECK_NEAR(x[0], sqrt(0.5), 1e-15);
	rows_free(&rows);
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static void
test_auc(void)
{
	uint64_t	seed = 5;

	for (int round = 0; round < 50; round++)
	{
		double		score[2][30];
		int			count[2] = {1 + (int) (check_random(&seed) * 30), 1 + (int) (check_random(&seed) * 30)};
		double		wins = 0.0;
		double		area;

		/* few values, so that there are ties */
		for (int c = 0; c < 2; c++)
		{
			for (int i = 0; i < count[c]; i++)
				score[c][i] = floor(check_random(&seed) * (round + 1)) + c * 0.25 * (round % 3);
		}
		for (int i = 0; i < count[0]; i++)
		{
			for (int j = 0; j < count[1]; j++)
				wins += score[0][i] > score[1][j] ? 1.0 : score[0][i] == score[1][j] ? 0.5 : 0.0;
		}
		for (int c = 0; c < 2; c++)
			qsort(score[c], count[c], sizeof(double), compare);
		CHECK(wmlc_auc(score[0], count[0], score[1], count[1], &area, NULL) == WMLC_OK &&
			  area == wins / (count[0] * count[1]), "round %d", round);
	}
}

int
main(void)
{
	test_erm_against_grid();
	test_merge();
	test_maml();
	test_adapt();
	test_assumption();
	test_auc();
	return check_summary();
}
