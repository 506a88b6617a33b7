/*
 * test_ensemble.c
 *	  What tasks have in common and what each is beside it, against least squares
 *	  on the rows in long double.  How well it works: compare/test_rehearse.c.
 */
#include "core/base/gamma.h"
#include "core/model/ensemble.h"

#include "gram/gram_fixture.h"

#define D 3
#define TASKS 5

typedef long double Real;

/* Least squares of rows by Gauss and Jordan; each task's rows count 1 / their number. */
static void
solve_rows(const Rows *tasks, int count, int left_out, Real *w)
{
	Real		a[D][D + 1] = {{0}};

	for (int j = 0; j < count; j++)
	{
		for (int r = 0; r < tasks[j].count && j != left_out; r++)
		{
			const double *z = rows_at(&tasks[j], r);

			for (int i = 0; i < D; i++)
			{
				for (int k = 0; k <= D; k++)
					a[i][k] += (Real) z[i] * z[k] / tasks[j].count;
			}
		}
	}
	for (int k = 0; k < D; k++)
	{
		for (int i = 0; i < D; i++)
		{
			Real		factor = a[i][k] / a[k][k];

			for (int l = k; l <= D && i != k; l++)
				a[i][l] -= factor * a[k][l];
		}
	}
	for (int i = 0; i < D; i++)
		w[i] = a[i][D] / a[i][i];
}

/* Mean square over the rows of v.x - y, or with `linear` of v.x alone. */
static Real
mean_square(const Rows *rows, const Real *v, bool linear)
{
	Real		sum = 0.0L;

	for (int r = 0; r < rows->count; r++)
	{
		const double *z = rows_at(rows, r);
		Real		error = linear ? 0.0L : -(Real) z[D];

		for (int i = 0; i < D; i++)
			error += v[i] * z[i];
		sum += error * error / rows->count;
	}
	return sum;
}

typedef struct Family
{
	Rows		rows[TASKS];
	const WmlcGram *grams[TASKS];
	Real		own[TASKS][D];
	Real		squares[TASKS];
} Family;

/* Of 4, 7, 10, ... rows. */
static Family
family_new(uint64_t *seed)
{
	Family		family;

	for (int j = 0; j < TASKS; j++)
	{
		family.rows[j] = rows_new(D, 4 + 3 * j);
		for (int r = 0; r < family.rows[j].count; r++)
		{
			double	   *z = rows_at(&family.rows[j], r);

			z[0] = 1.0;
			z[1] = check_normal(seed);
			z[2] = 100.0 + check_normal(seed);
			z[D] = j + z[1] - 0.1 * j * z[2] + check_normal(seed);
		}
		family.grams[j] = gram_of(&family.rows[j]);
		solve_rows(&family.rows[j], 1, -1, family.own[j]);
		family.squares[j] = mean_square(&family.rows[j], family.own[j], false) * family.rows[j].count;
	}
	return family;
}

static void
family_free(Family *family)
{
	for (int j = 0; j < TASKS; j++)
	{
		rows_free(&family->rows[j]);
		free((void *) family->grams[j]);
	}
}

/* All tasks but `left_out`, which is TASKS where all take part. */
static void
check_common(const Family *family, const WmlcEnsemble *ensemble, int left_out)
{
	Real		common[D];
	Real		squares = 0.0L;
	int			degrees = 0;
	double		logs[TASKS];
	double		mean = 0.0;
	double		variance = 0.0;
	double		chance = 0.0;
	int			count = 0;

	for (int j = 0; j < TASKS; j++)
	{
		double		half = 0.5 * (family->rows[j].count - D);

		if (j == left_out)
			continue;
		squares += family->squares[j];
		degrees += family->rows[j].count - D;
		logs[count++] = log((double) family->squares[j] / 2.0) - wmlc_digamma(half);
		chance += wmlc_trigamma(half);
	}
	for (int j = 0; j < count; j++)
		mean += logs[j] / count;
	for (int j = 0; j < count; j++)
		variance += (logs[j] - mean) * (logs[j] - mean) / (count - 1);
	if (variance > chance / count)
		CHECK_NEAR(wmlc_trigamma(0.5 * ensemble->lent), variance - chance / count, 1e-9);
	else
		CHECK(isinf(ensemble->lent), "%g degrees lent", ensemble->lent);
	solve_rows(family->rows, TASKS, left_out, common);
	CHECK_NEAR(ensemble->degrees, degrees, 1e-12);
	CHECK_NEAR(ensemble->noise, (double) (squares / degrees), 1e-9);
	for (int i = 0; i < D; i++)
		CHECK_NEAR(ensemble->coefficients[i], (double) common[i], 1e-9);
}

/* The part that is kept, by the definition: 1 - rank noise / rows / distance, its root. */
static void
check_member(const Family *family, const WmlcEnsemble *ensemble, int j, const double *w, double noise)
{
	const Rows *rows = &family->rows[j];
	Real		lent = ensemble->lent;
	Real		expected_noise = isinf(ensemble->lent) ? (Real) ensemble->noise
		: (family->squares[j] + lent * (Real) ensemble->noise) / (rows->count - D + lent);
	Real		difference[D];
	Real		left;

	for (int i = 0; i < D; i++)
		difference[i] = family->own[j][i] - ensemble->coefficients[i];
	left = 1.0L - D * expected_noise / rows->count / mean_square(rows, difference, true);
	left = left > 0.0L ? sqrtl(left) : 0.0L;
	CHECK_NEAR(noise, (double) expected_noise, 1e-9);
	for (int i = 0; i < D; i++)
		CHECK_NEAR(w[i], (double) (ensemble->coefficients[i] + left * difference[i]), 1e-8);
}

static void
test_ensemble(void)
{
	uint64_t	seed = 71;
	Family		family = family_new(&seed);
	double		common[D],
				coefficients[TASKS][D],
				w[D],
				noise;
	WmlcEnsemble ensemble = {.coefficients = common};
	WmlcTaskFit fits[TASKS];
	void	   *work = malloc(wmlc_ensemble_workspace(D));

	CHECK(wmlc_ensemble(&ensemble, D, TASKS, family.grams, work, NULL) == WMLC_OK, "ensemble");
	check_common(&family, &ensemble, TASKS);
	for (int j = 0; j < TASKS; j++)
	{
		fits[j].coefficients = coefficients[j];
		CHECK(wmlc_task_fit(family.grams[j], &fits[j], work, NULL) == WMLC_OK, "fit");
		CHECK(fits[j].rank == D && fits[j].degrees == family.rows[j].count - D, "rank %d", fits[j].rank);
		CHECK_NEAR(fits[j].squares, (double) family.squares[j], 1e-8);
		CHECK(wmlc_task_coefficients(family.grams[j], w, work, NULL) == WMLC_OK, "coefficients");
		for (int i = 0; i < D; i++)
		{
			CHECK_NEAR(coefficients[j][i], (double) family.own[j][i], 1e-9);
			CHECK(w[i] == coefficients[j][i], "%g and %g", w[i], coefficients[j][i]);
		}
	}
	for (int left_out = 0; left_out <= TASKS; left_out++)
	{
		CHECK(wmlc_ensemble_of_fits(&ensemble, D, TASKS, family.grams, fits, left_out, work, NULL) == WMLC_OK,
			  "without %d", left_out);
		check_common(&family, &ensemble, left_out);
		for (int j = 0; j < TASKS; j++)
		{
			wmlc_ensemble_shrink(&ensemble, family.grams[j], &fits[j], w, &noise);
			check_member(&family, &ensemble, j, w, noise);
			CHECK(wmlc_ensemble_member(&ensemble, family.grams[j], w, &noise, work, NULL) == WMLC_OK, "member");
			check_member(&family, &ensemble, j, w, noise);
		}
	}
	free(work);
	family_free(&family);
}

/*
 * Five hundred tasks whose noise variances are 4 / chi-square(4), or all alike:
 * what the ensemble lends is 4 degrees of freedom, or very many.
 */
static void
test_lent(void)
{
	enum
	{
		J = 500
	};
	uint64_t	seed = 73;

	for (int alike = 0; alike < 2; alike++)
	{
		double		common[D];
		WmlcEnsemble ensemble = {.coefficients = common};
		const WmlcGram *grams[J];
		void	   *work = malloc(wmlc_ensemble_workspace(D));

		for (int j = 0; j < J; j++)
		{
			Rows		rows = rows_random(D, 9, &seed);
			double		variance = 0.0;

			for (int k = 0; k < 4; k++)
				variance += pow(check_normal(&seed), 2.0);
			for (int r = 0; r < rows.count; r++)
				rows_at(&rows, r)[D] = sqrt(alike ? 1.0 : 4.0 / variance) * check_normal(&seed);
			grams[j] = gram_of(&rows);
			rows_free(&rows);
		}
		CHECK(wmlc_ensemble(&ensemble, D, J, grams, work, NULL) == WMLC_OK, "ensemble");
		if (alike)
			CHECK(ensemble.lent > 40.0, "%g degrees lent", ensemble.lent);
		else
			CHECK(ensemble.lent > 3.0 && ensemble.lent < 5.5, "%g degrees lent", ensemble.lent);
		for (int j = 0; j < J; j++)
			free((void *) grams[j]);
		free(work);
	}
}

/* Fewer rows than features: no freedom left, and the least coefficients that fit. */
static void
test_few_rows(void)
{
	uint64_t	seed = 72;
	Rows		rows = rows_random(D, 2, &seed);
	WmlcGram   *gram = gram_of(&rows);
	double		coefficients[D];
	WmlcTaskFit fit = {.coefficients = coefficients};
	void	   *work = malloc(wmlc_ensemble_workspace(D));

	CHECK(wmlc_task_fit(gram, &fit, work, NULL) == WMLC_OK, "fit");
	CHECK(fit.rank == 2 && fit.degrees == 0.0, "rank %d, %g degrees", fit.rank, fit.degrees);
	for (int r = 0; r < rows.count; r++)
	{
		const double *z = rows_at(&rows, r);

		CHECK_NEAR(coefficients[0] * z[0] + coefficients[1] * z[1] + coefficients[2] * z[2], z[D], 1e-9);
	}
	free(gram);
	free(work);
	rows_free(&rows);
}

int
main(void)
{
	test_ensemble();
	test_lent();
	test_few_rows();
	return check_summary();
}
