/*
 * test_rehearse.c
 *	  Sources that play the target: the rows they are given have the moments
 *	  of their roles, and the roles the right share of noise.
 */
#include "core/model/adapt.h"
#include "core/compare/rehearse.h"

#include "compare/compare_fixture.h"

#define D 3

static const double truth[D] = {1.0, -2.0, 0.5};

/* Largest difference of second moments, relative to the lengths of the coordinates. */
static double
moment_distance(const WmlcGram *a, const WmlcGram *b)
{
	double		largest = 0.0;

	for (int i = 0; i <= a->dims; i++)
	{
		for (int j = i; j <= a->dims; j++)
		{
			double		scale = sqrt(wmlc_dd_value(wmlc_gram_moment(b, i, i)) *
									 wmlc_dd_value(wmlc_gram_moment(b, j, j)));
			double		difference = fabs(wmlc_dd_value(wmlc_gram_moment(a, i, j)) -
										  wmlc_dd_value(wmlc_gram_moment(b, i, j)));

			largest = fmax(largest, scale > 0.0 ? difference / scale : difference);
		}
	}
	return largest;
}

/* The more rows, the nearer their moments to those of the role. */
static void
check_rows_converge(const WmlcGram *role, int constant)
{
	WmlcGram   *rows = gram_new(role->dims);
	void	   *work = malloc(wmlc_rehearse_workspace(role->dims));
	double		distance = 0.0;

	for (int count = 100; count <= 40000; count *= 20)
	{
		double		sum = 0.0;

		for (int seed = 0; seed < 5; seed++)
		{
			CHECK(wmlc_rehearse_rows(role, count, seed, rows, work, NULL) == WMLC_OK, "rows");
			CHECK(rows->rows == count && rows->constant == constant, "%d rows", (int) rows->rows);
			sum += moment_distance(rows, role) / 5.0;
		}

		/* twenty times as many rows: 4.5 times nearer, in the mean */
		CHECK(distance == 0.0 || sum < distance / 2.5, "%g after %g", sum, distance);
		distance = sum;
	}
	CHECK(distance < 0.02, "%g apart after many rows", distance);
	free(rows);
	free(work);
}

static void
test_rows(void)
{
	uint64_t	seed = 1;
	Rows		rows = task_rows(truth, D, 50, 1.0, &seed);
	WmlcGram   *role = gram_of(&rows);
	WmlcGram   *few[2] = {gram_new(D), gram_new(D)};
	void	   *work = malloc(wmlc_rehearse_workspace(D));

	check_rows_converge(role, 0);
	wmlc_rehearse_rows(role, 20, 7, few[0], work, NULL);
	wmlc_rehearse_rows(role, 20, 7, few[1], work, NULL);
	CHECK(wmlc_gram_equal(few[0], few[1]), "the same seed gives other rows");
	wmlc_rehearse_rows(role, 20, 8, few[1], work, NULL);
	CHECK(!wmlc_gram_equal(few[0], few[1]), "another seed gives the same rows");
	free(role);

	/* without a constant; with a feature that follows from another */
	for (int r = 0; r < rows.count; r++)
	{
		rows_at(&rows, r)[0] = check_normal(&seed);
		rows_at(&rows, r)[2] = -3.0 * rows_at(&rows, r)[0];
	}
	role = gram_of(&rows);
	check_rows_converge(role, -1);
	wmlc_rehearse_rows(role, 20, 7, few[0], work, NULL);
	CHECK_NEAR(wmlc_dd_value(wmlc_gram_moment(few[0], 2, 2)),
			   9.0 * wmlc_dd_value(wmlc_gram_moment(few[0], 0, 0)), 1e-9);
	free(role);
	free(few[0]);
	free(few[1]);
	free(work);
	rows_free(&rows);
}

/* Least squares of one task. */
static void
fit_alone(const WmlcGram *task, double *w, void *work)
{
	WmlcEnsemble alone = {.coefficients = w};

	CHECK(wmlc_ensemble(&alone, task->dims, 1, &task, work, NULL) == WMLC_OK, "fit");
}

/*
 * Tasks of so many rows, with noise of variance 1 and intercepts that spread so
 * much.  Their own fits share out the squares wrongly: D / rows of the noise goes
 * to what is special about each.  Roles must undo most of this.
 */
static void
check_roles(int rows, double spread)
{
	enum
	{
		J = 1000
	};
	uint64_t	seed = 17;
	double		common[D];
	double		own[D];
	double		noise = 0.0;
	double		special = 0.0;
	double		wrong = (double) D / rows;
	WmlcEnsemble ensemble = {.coefficients = common};
	WmlcGram   *role = gram_new(D);
	void	   *work = malloc(wmlc_rehearse_workspace(D));
	const WmlcGram **tasks = malloc(J * sizeof(WmlcGram *));

	for (int j = 0; j < J; j++)
	{
		double		w[D] = {truth[0] + spread * check_normal(&seed), truth[1], truth[2]};

		tasks[j] = task_gram(w, D, rows, 1.0, &seed);
	}
	CHECK(wmlc_ensemble(&ensemble, D, J, tasks, work, NULL) == WMLC_OK, "ensemble");
	CHECK_NEAR(ensemble.degrees, J * (rows - D), 1e-12);
	CHECK_NEAR(ensemble.noise, 1.0, 0.05);
	for (int j = 0; j < J; j++)
	{
		double		residual,
					error;

		CHECK(wmlc_rehearse_role(&ensemble, tasks[j], role, work, NULL) == WMLC_OK, "role");
		fit_alone(role, own, work);
		wmlc_mse(role, own, &residual);
		wmlc_mse(role, common, &error);
		noise += residual / J;
		special += (error - residual) / J;
	}
	CHECK(fabs(noise - 1.0) < 0.1 * wrong + 0.03, "noise %g with %d rows", noise, rows);
	CHECK(fabs(special - spread * spread) < 0.5 * wrong, "special %g with %d rows", special, rows);
	for (int j = 0; j < J; j++)
		free((void *) tasks[j]);
	free(tasks);
	free(role);
	free(work);
}

/*
 * The limits of shrinking.  A task that differs from the ensemble by no more than
 * noise explains gets the ensemble's coefficients; one with next to no noise, or
 * with very many rows, keeps its own; and in between they are on the way from one
 * to the other.  Features stay as they are.
 */
static void
test_shrinking(void)
{
	uint64_t	seed = 31;
	const double far[D] = {6.0, -1.0, 2.0};
	double		common[D] = {1.0, -2.0, 0.5};
	double		own[D],
				played[D];
	WmlcEnsemble ensemble = {.coefficients = common, .noise = 1e6, .degrees = 100.0, .lent = D};
	WmlcGram   *task = task_gram(far, D, 10, 1.0, &seed);
	WmlcGram   *role = gram_new(D);
	void	   *work = malloc(wmlc_rehearse_workspace(D));
	double		share = 0.0;
	double		distance,
				residual;

	fit_alone(task, own, work);
	CHECK(wmlc_rehearse_role(&ensemble, task, role, work, NULL) == WMLC_OK, "much noise");
	fit_alone(role, played, work);
	for (int i = 0; i < D; i++)
		CHECK_NEAR(played[i], common[i], 1e-9);
	for (int i = 0; i < D; i++)
	{
		for (int j = i; j < D; j++)
			CHECK(wmlc_dd_value(wmlc_gram_sum(role, i, j)) == wmlc_dd_value(wmlc_gram_sum(task, i, j)),
				  "features changed");
	}

	wmlc_mse(task, common, &distance);
	wmlc_mse(task, own, &residual);
	distance -= residual;
	for (ensemble.noise = 300.0; ensemble.noise > 1e-9; ensemble.noise /= 10.0)
	{
		double		before = share;
		double		noise;

		wmlc_rehearse_role(&ensemble, task, role, work, NULL);
		fit_alone(role, played, work);
		share = (played[0] - common[0]) / (own[0] - common[0]);
		for (int i = 1; i < D; i++)
			CHECK_NEAR((played[i] - common[i]) / (own[i] - common[i]), share, 1e-7);
		CHECK(share > before && share < 1.0, "%g after %g", share, before);

		/* of the squared distance remains what sampling error does not explain */
		wmlc_mse(role, played, &noise);
		CHECK_NEAR(share * share, 1.0 - D * noise / 10.0 / distance, 1e-9);
	}
	free(task);

	task = task_gram(far, D, 100000, 1.0, &seed);
	ensemble.noise = 1.0;
	wmlc_rehearse_role(&ensemble, task, role, work, NULL);
	fit_alone(task, own, work);
	fit_alone(role, played, work);
	for (int i = 0; i < D; i++)
		CHECK_NEAR(played[i], own[i], 1e-5);
	free(task);
	free(role);
	free(work);
}

/* Tasks that leave no residual know nothing of noise. */
static void
test_exact_tasks(void)
{
	uint64_t	seed = 3;
	double		common[D];
	WmlcEnsemble ensemble = {.coefficients = common};
	const WmlcGram *tasks[2] = {task_gram(truth, D, 2, 1.0, &seed), task_gram(truth, D, 3, 1.0, &seed)};
	void	   *work = malloc(wmlc_rehearse_workspace(D));

	CHECK(wmlc_ensemble(&ensemble, D, 2, tasks, work, NULL) == WMLC_OK, "ensemble");
	CHECK(ensemble.degrees == 0.0 && ensemble.noise == 0.0, "%g degrees", ensemble.degrees);
	free((void *) tasks[0]);
	free((void *) tasks[1]);
	free(work);
}

int
main(void)
{
	test_rows();
	check_roles(5, 0.0);
	check_roles(6, 1.0);
	check_roles(20, 1.0);
	test_shrinking();
	test_exact_tasks();
	return check_summary();
}
