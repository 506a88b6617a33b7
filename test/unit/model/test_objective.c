/*
 * test_objective.c
 *	  The meta-objectives: against their definitions on rows, against closed
 *	  forms in quadruple precision, and where even that is too short against
 *	  problems whose answer is known.
 */
#include "core/model/adapt.h"
#include "core/model/objective.h"

#include "check.h"
#include "quad.h"

#define MAX_ROWS 160
#define MAX_TASKS 8

static const char *const kind_name[] = {"ERM", "MAML", "FOMAML", "Reptile"};

static uint64_t seed = 20240611;

/* A number of tasks, as rows and as grams. */
typedef struct Tasks
{
	int			d;
	int			count;
	int			rows[MAX_TASKS];
	double		alpha[MAX_TASKS];
	double		x[MAX_TASKS][MAX_ROWS][QUAD_MAX + WMLC_ROW_PADDING + 1];
	WmlcGram   *gram[MAX_TASKS];
} Tasks;

static Tasks tasks;

static void
build_grams(void)
{
	for (int t = 0; t < tasks.count; t++)
	{
		free(tasks.gram[t]);
		tasks.gram[t] = malloc(wmlc_gram_bytes(tasks.d));
		wmlc_gram_init(tasks.gram[t], tasks.d);
		for (int r = 0; r < tasks.rows[t]; r++)
		{
			double	   *z = tasks.x[t][r];

			for (int i = 0; i < WMLC_ROW_PADDING; i++)
				z[tasks.d + 1 + i] = 0.0;
			wmlc_gram_add_row(tasks.gram[t], z, 1.0);
		}
	}
}

/* Random tasks with a constant feature and others of the given sizes in turn. */
static void
random_tasks(int count, int d, int rows, const double *sizes, int size_count)
{
	tasks.d = d;
	tasks.count = count;
	for (int t = 0; t < count; t++)
	{
		double		w[QUAD_MAX];

		tasks.rows[t] = rows;
		tasks.alpha[t] = 0.1 + check_random(&seed);
		for (int i = 0; i < d; i++)
			w[i] = check_normal(&seed);
		for (int r = 0; r < rows; r++)
		{
			double	   *z = tasks.x[t][r];

			z[d] = check_normal(&seed);
			for (int i = 0; i < d; i++)
			{
				double		size = i == 0 ? 1.0 : sizes[i % size_count];

				z[i] = i == 0 ? 1.0 : size * (1.0 + check_normal(&seed));
				z[d] += w[i] * z[i] / size;
			}
		}
	}
	build_grams();
}

/* What the library answers. */
static WmlcStatus
fit(WmlcObjective objective, double ridge, double factor, double *w, int *rank)
{
	int			d = tasks.d;
	double	   *array = calloc(wmlc_objective_doubles(objective.kind, d), sizeof(double));
	void	   *work = malloc(wmlc_objective_workspace(objective.kind, d));
	WmlcObjectiveSum sum;
	WmlcStatus	status = WMLC_OK;

	wmlc_objective_attach(&sum, objective.kind, d, array);
	for (int t = 0; t < tasks.count && status == WMLC_OK; t++)
		status = wmlc_objective_add(&sum, &objective, tasks.gram[t], factor * tasks.alpha[t],
									work, NULL);
	if (status == WMLC_OK)
		status = wmlc_objective_fit(&sum, ridge, w, rank, work, NULL);
	free(array);
	free(work);
	return status;
}

/* (A, b) of a task, from its rows. */
static void
quad_moments(int t, WmlcScale scale, QuadMatrix *a, Quad *b)
{
	int			d = tasks.d;
	Quad		n = scale == WMLC_SCALE_MEAN ? tasks.rows[t] : 1;

	a->n = d;
	for (int i = 0; i < d; i++)
	{
		b[i] = 0;
		for (int j = 0; j < d; j++)
			a->at[i][j] = 0;
		for (int r = 0; r < tasks.rows[t]; r++)
		{
			const double *z = tasks.x[t][r];

			for (int j = 0; j < d; j++)
				a->at[i][j] += (Quad) z[i] * z[j] / n;
			b[i] += (Quad) z[i] * z[d] / n;
		}
	}
}

/* P(T) by its definition. */
static void
quad_factor(WmlcObjective objective, const QuadMatrix *a, QuadMatrix *factor)
{
	static QuadMatrix t,
				power,
				next;
	int			n = a->n;
	int			degree = objective.kind == WMLC_MAML ? 2 * objective.steps : objective.steps;

	quad_identity(&t, n);
	quad_identity(&power, n);
	quad_identity(factor, n);
	if (objective.kind == WMLC_ERM)
		return;
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			t.at[i][j] -= objective.eta * a->at[i][j];
	}
	if (objective.kind == WMLC_REPTILE)
		memset(factor->at, 0, sizeof(factor->at));
	for (int k = 0; k < degree; k++)
	{
		for (int i = 0; i < n && objective.kind == WMLC_REPTILE; i++)
		{
			for (int j = 0; j < n; j++)
				factor->at[i][j] += power.at[i][j];
		}
		quad_multiply(&power, &t, &next);
		power = next;
	}
	if (objective.kind != WMLC_REPTILE)
		*factor = power;
}

static void
quad_fit(WmlcObjective objective, double ridge, Quad *w)
{
	static QuadMatrix system,
				a,
				factor,
				product;
	Quad		b[QUAD_MAX],
				factor_b[QUAD_MAX];
	Quad		total = 0;
	int			d = tasks.d;

	memset(&system, 0, sizeof(system));
	system.n = d;
	for (int i = 0; i < d; i++)
		w[i] = 0;
	for (int t = 0; t < tasks.count; t++)
	{
		quad_moments(t, objective.scale, &a, b);
		quad_factor(objective, &a, &factor);
		quad_multiply(&factor, &a, &product);
		quad_apply(&factor, b, factor_b);
		for (int i = 0; i < d; i++)
		{
			for (int j = 0; j < d; j++)
				system.at[i][j] += tasks.alpha[t] * product.at[i][j];
			w[i] += tasks.alpha[t] * factor_b[i];
		}
		total += tasks.alpha[t];
	}
	for (int i = 0; i < d; i++)
		system.at[i][i] += total * ridge;
	quad_solve(&system, w);
}

static double
distance(const double *w, const double *expected, int d)
{
	double		difference = 0.0;
	double		size = 0.0;

	for (int i = 0; i < d; i++)
	{
		difference = fmax(difference, isfinite(w[i]) ? fabs(w[i] - expected[i]) : INFINITY);
		size = fmax(size, fabs(expected[i]));
	}
	return difference / size;
}

/* The same objective by the library and in quadruple precision. */
static void
compare_with_quad(WmlcObjective objective, double ridge, double tolerance)
{
	Quad		exact[QUAD_MAX];
	double		expected[QUAD_MAX],
				w[QUAD_MAX];
	int			rank = -1;
	WmlcStatus	status = fit(objective, ridge, 1.0, w, &rank);

	quad_fit(objective, ridge, exact);
	for (int i = 0; i < tasks.d; i++)
		expected[i] = (double) exact[i];
	CHECK(status == WMLC_OK && rank == tasks.d && distance(w, expected, tasks.d) <= tolerance,
		  "%s, scale %d, eta %g, %d steps, ridge %g, %d tasks of %d features: "
		  "status %d, rank %d, error %g",
		  kind_name[objective.kind], objective.scale, objective.eta, objective.steps, ridge,
		  tasks.count, tasks.d, status, rank, distance(w, expected, tasks.d));
}

/* All kinds, steps, scales; step sizes from tiny to far beyond stability. */
static void
test_closed_forms(void)
{
	const double one[] = {1.0};
	const double mixed[] = {1.0, 10.0, 0.1};
	const double etas[] = {1e-6, 1e-3, 0.02, 0.2, 0.9, 3.0};

	for (int round = 0; round < 8; round++)
	{
		int			d = (const int[]) {1, 2, 3, 5, 8, 12, 16, 20}[round];

		random_tasks(1 + round % 4, d, 3 * d + 4, round % 2 ? mixed : one, round % 2 ? 3 : 1);
		for (int kind = WMLC_ERM; kind <= WMLC_REPTILE; kind++)
		{
			for (int e = 0; e < 6; e++)
			{
				WmlcObjective objective = {kind, WMLC_SCALE_MEAN, etas[e], 1 + (round + e) % 5, 0.0};

				/* beyond, quadruple precision is too short to tell */
				if (etas[e] * objective.steps > (round % 2 ? 0.3 : 3.0))
					continue;
				compare_with_quad(objective, 0.0, 1e-12);
				compare_with_quad(objective, 0.01, 1e-12);
				objective.scale = WMLC_SCALE_SUM;
				objective.eta /= 3 * d + 4;
				compare_with_quad(objective, 0.01, 1e-12);
			}
		}
	}
}

/* Many features: products in plain double for small, in double-double for large eta. */
static void
test_many_features(void)
{
	const double sizes[] = {1.0, 100.0, 0.01};

	random_tasks(2, 40, 150, sizes, 3);
	for (int t = 0; t < 2; t++)
	{
		for (int r = 0; r < 150; r++)
		{
			for (int i = 1; i < 40; i++)
				tasks.x[t][r][i] -= sizes[i % 3];	/* well conditioned */
		}
	}
	build_grams();
	for (int kind = WMLC_ERM; kind <= WMLC_REPTILE; kind++)
	{
		compare_with_quad((WmlcObjective) {kind, WMLC_SCALE_MEAN, 1e-8, 3, 0.0}, 0.0, 1e-11);
		compare_with_quad((WmlcObjective) {kind, WMLC_SCALE_MEAN, 1e-6, 2, 0.0}, 0.0, 1e-11);
		compare_with_quad((WmlcObjective) {kind, WMLC_SCALE_MEAN, 2e-5, 2, 0.0}, 0.0, 1e-12);
	}

	/* all is well in the first task, but the second, much larger, knows better */
	for (int r = 0; r < 150; r++)
	{
		for (int i = 0; i <= 40; i++)
			tasks.x[0][r][i] *= 1e-4;
		tasks.x[1][r][6] = tasks.x[1][r][3] + 1e-6 * check_normal(&seed);
	}
	build_grams();
	for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
		compare_with_quad((WmlcObjective) {kind, WMLC_SCALE_MEAN, 1e-6, 2, 0.0}, 0.0, 1e-11);

	/* nearly the same feature twice: plain double would not do */
	for (int t = 0; t < 2; t++)
	{
		for (int r = 0; r < 150; r++)
			tasks.x[t][r][6] = tasks.x[t][r][3] + 1e-6 * check_normal(&seed);
	}
	build_grams();
	for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
		compare_with_quad((WmlcObjective) {kind, WMLC_SCALE_MEAN, 1e-6, 2, 0.0}, 0.0, 1e-11);
}

/* k steps of gradient descent on the rows of a task, from w. */
static void
descend(int t, double eta, int steps, const Quad *w, Quad *u)
{
	int			d = tasks.d;

	memcpy(u, w, d * sizeof(*u));
	for (int k = 0; k < steps; k++)
	{
		Quad gradient[QUAD_MAX] = {0};

		for (int r = 0; r < tasks.rows[t]; r++)
		{
			const double *z = tasks.x[t][r];
			Quad error = -z[d];

			for (int i = 0; i < d; i++)
				error += u[i] * z[i];
			for (int i = 0; i < d; i++)
				gradient[i] += error * z[i] / tasks.rows[t];
		}
		for (int i = 0; i < d; i++)
			u[i] -= eta * gradient[i];
	}
}

/* Half the mean squared error of u on the rows of a task. */
static Quad
loss(int t, const Quad *u)
{
	Quad sum = 0;

	for (int r = 0; r < tasks.rows[t]; r++)
	{
		const double *z = tasks.x[t][r];
		Quad error = -z[tasks.d];

		for (int i = 0; i < tasks.d; i++)
			error += u[i] * z[i];
		sum += error * error;
	}
	return sum / (2 * tasks.rows[t]);
}

/*
 * What each objective wants to vanish, in direction i, by its definition on the
 * rows: MAML the derivative of the loss after k steps, first-order MAML the
 * gradient there, Reptile the way to there.
 */
static Quad
rows_gradient(WmlcObjective objective, const double *w, int i)
{
	const Quad h = 1e-4;
	Quad sum = 0;

	for (int t = 0; t < tasks.count; t++)
	{
		Quad at[3][QUAD_MAX];
		Quad u[3][QUAD_MAX];

		for (int side = 0; side < 3; side++)
		{
			for (int j = 0; j < tasks.d; j++)
				at[side][j] = w[j] + (j == i ? (side - 1) * h : 0);
			descend(t, objective.eta, objective.steps, at[side], u[side]);
		}
		if (objective.kind == WMLC_MAML)
			sum += tasks.alpha[t] * (loss(t, u[2]) - loss(t, u[0])) / (2 * h);
		else if (objective.kind == WMLC_REPTILE)
			sum += tasks.alpha[t] * (at[1][i] - u[1][i]) / objective.eta;
		else
		{
			u[0][i] = u[2][i] = u[1][i];
			memcpy(u[0], u[1], sizeof(u[0]));
			memcpy(u[2], u[1], sizeof(u[2]));
			u[0][i] -= h;
			u[2][i] += h;
			sum += tasks.alpha[t] * (loss(t, u[2]) - loss(t, u[0])) / (2 * h);
		}
	}
	return sum;
}

static void
test_gradient_on_rows(void)
{
	const double one[] = {1.0};

	random_tasks(4, 5, 30, one, 1);
	for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
	{
		for (int steps = 1; steps <= 3; steps++)
		{
			WmlcObjective objective = {kind, WMLC_SCALE_MEAN, 0.05, steps, 0.0};
			double		w[QUAD_MAX];
			int			rank;

			CHECK(fit(objective, 0.0, 1.0, w, &rank) == WMLC_OK, "%s", kind_name[kind]);
			for (int i = 0; i < tasks.d; i++)
			{
				double		g = (double) rows_gradient(objective, w, i);

				CHECK(fabs(g) < 1e-12, "%s, %d steps: gradient %g", kind_name[kind], steps, g);
			}
			w[0] += 1e-3;
			CHECK(fabs((double) rows_gradient(objective, w, 0)) > 1e-5, "the gradient sees nothing");
		}
	}
}

/* With P = 1 all objectives are joint training, to the bit. */
static void
test_without_steps(void)
{
	const double raw[] = {1.0, 1000.0, 1e-3};
	double		expected[QUAD_MAX],
				w[QUAD_MAX];
	int			rank;

	random_tasks(3, 7, 20, raw, 3);
	fit((WmlcObjective) {WMLC_ERM, WMLC_SCALE_MEAN, 0.1, 2, 0.0}, 0.3, 1.0, expected, &rank);
	for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
	{
		fit((WmlcObjective) {kind, WMLC_SCALE_MEAN, 0.0, 1, 0.0}, 0.3, 1.0, w, &rank);
		CHECK(memcmp(w, expected, sizeof(double) * 7) == 0, "%s with eta 0", kind_name[kind]);
		fit((WmlcObjective) {kind, WMLC_SCALE_MEAN, 0.5, kind == WMLC_REPTILE, 0.0}, 0.3, 1.0, w, &rank);
		CHECK(memcmp(w, expected, sizeof(double) * 7) == 0, "%s without steps", kind_name[kind]);
	}
	fit((WmlcObjective) {WMLC_ERM, WMLC_SCALE_MEAN, 0.0, 0, 0.0}, 0.0, 1.0, expected, &rank);
	fit((WmlcObjective) {WMLC_REPTILE, WMLC_SCALE_MEAN, 0.0, 5, 0.0}, 0.0, 1.0, w, &rank);
	CHECK(distance(w, expected, 7) < 1e-14, "Reptile's limit for eta to 0");
	fit((WmlcObjective) {WMLC_REPTILE, WMLC_SCALE_MEAN, 1e-18, 5, 0.0}, 0.0, 1.0, w, &rank);
	CHECK(distance(w, expected, 7) < 1e-10, "Reptile near its limit");
}

/*
 * One task alone has the same answer for every objective, as long as T is
 * regular: P(T) cancels.  With raw features P(T) spans up to 80 orders of
 * magnitude here, more than any sum of matrices could hold.
 */
static void
test_one_task_any_eta(void)
{
	const double raw[] = {1.0, 10.0, 100.0, 1000.0};
	const double etas[] = {1e-7, 1e-4, 3e-3, 0.37, 1.0, 50.0, 1e5};

	for (int round = 0; round < 6; round++)
	{
		int			d = 4 + 2 * round;
		int			rows = round < 4 ? d + 3 : d - 2;	/* the last ones leave w open */
		double		expected[QUAD_MAX],
					w[QUAD_MAX];
		int			rank;

		random_tasks(1, d, rows, raw, 4);
		fit((WmlcObjective) {WMLC_ERM, WMLC_SCALE_MEAN, 0.0, 0, 0.0}, 0.0, 1.0, expected, &rank);
		for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
		{
			for (int e = 0; e < 7; e++)
			{
				for (int steps = 1; steps <= 5; steps++)
				{
					WmlcObjective objective = {kind, WMLC_SCALE_MEAN, etas[e], steps, 0.0};
					WmlcStatus	status = fit(objective, 0.0, 1.0, w, &rank);

					CHECK(status == WMLC_OK && rank == (rows < d ? rows : d) &&
						  distance(w, expected, d) < 1e-13,
						  "%s, eta %g, %d steps, %d rows of %d features: status %d, rank %d, error %g",
						  kind_name[kind], etas[e], steps, rows, d, status, rank,
						  distance(w, expected, d));
				}
			}
		}
	}
}

static Quad
quad_power(Quad x, int n)
{
	Quad		power = 1;

	while (n-- > 0)
		power *= x;
	return power;
}

/* P as a function of one eigenvalue of T. */
static Quad
scalar_factor(WmlcObjective objective, Quad t)
{
	Quad		sum = 0;

	if (objective.kind != WMLC_REPTILE)
		return quad_power(t, objective.kind == WMLC_MAML ? 2 * objective.steps : objective.steps);
	for (int k = 0; k < objective.steps; k++)
		sum += quad_power(t, k);
	return sum;
}

/*
 * Tasks that share their eigenvectors, the columns of a Hadamard matrix: each
 * direction is a problem of its own, solved in closed form.
 */
static void
compare_with_directions(WmlcObjective objective, const double size[][4])
{
	double		expected[4] = {0.0},
				w[4];
	int			rank;
	WmlcStatus	status = fit(objective, 0.0, 1.0, w, &rank);

	for (int r = 0; r < 4; r++)
	{
		Quad		numerator = 0,
					denominator = 0;

		for (int t = 0; t < tasks.count; t++)
		{
			Quad		eigenvalue = (Quad) size[t][r] * size[t][r] / 4;
			Quad		p = scalar_factor(objective, 1 - objective.eta * eigenvalue);

			numerator += tasks.alpha[t] * p * eigenvalue * tasks.x[t][r][4] / size[t][r];
			denominator += tasks.alpha[t] * p * eigenvalue;
		}
		for (int i = 0; i < 4; i++)
			expected[i] += (double) (numerator / denominator) *
				(__builtin_popcount(r & i) % 2 ? -0.5 : 0.5);
	}
	CHECK(status == WMLC_OK && rank == 4 && distance(w, expected, 4) < 1e-11,
		  "%s, eta %g, %d steps, %d tasks: status %d, rank %d, error %g",
		  kind_name[objective.kind], objective.eta, objective.steps, tasks.count, status, rank,
		  distance(w, expected, 4));
}

/*
 * The same direction is heavy in one task and light in another, and P spans up
 * to 60 orders of magnitude.  Many differences vanish but for rounding, which
 * in the heavy rows is larger than everything in the light ones.
 */
static void
test_shared_eigenvectors(void)
{
	const double size[2][3][4] = {
		{{1.1, 33.3, 0.27, 8.7}, {64.7, 1.2, 2.3, 0.55}, {0.51, 17.1, 131.3, 2.9}},
		{{64.7, 0.061, 0.052, 0.073}, {0.055, 0.081, 131.3, 0.066}}
	};
	const double etas[] = {1e-6, 0.25, 3.0, 1000.0};

	for (int table = 0; table < 2; table++)
	{
		tasks.d = 4;
		tasks.count = 3 - table;
		for (int t = 0; t < tasks.count; t++)
		{
			tasks.rows[t] = 4;
			tasks.alpha[t] = (t + 1) / 8.0;
			for (int r = 0; r < 4; r++)
			{
				double		s = size[table][t][r];

				for (int i = 0; i < 4; i++)
					tasks.x[t][r][i] = __builtin_popcount(r & i) % 2 ? -0.5 * s : 0.5 * s;
				tasks.x[t][r][4] = s * (1 + (7 * t + 3 * r) % 5);
			}
		}
		build_grams();
		for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
		{
			for (int e = 0; e < 4; e++)
			{
				for (int steps = 1; steps <= 5; steps++)
					compare_with_directions((WmlcObjective) {kind, WMLC_SCALE_MEAN, etas[e], steps, 0.0},
											size[table]);
			}
		}
	}
}

/*
 * A few rows spread over several tasks that one w can meet exactly: it does,
 * with the least norm of all that do, whatever the objective.
 */
static void
test_underdetermined(void)
{
	const double raw[] = {1.0, 30.0, 1000.0};
	double		expected[QUAD_MAX],
				w[QUAD_MAX];
	int			rank;

	for (int d = 8; d <= 40; d += 32)
	{
		random_tasks(3, d, 2, raw, 3);
		fit((WmlcObjective) {WMLC_ERM, WMLC_SCALE_MEAN, 0.0, 0, 0.0}, 0.0, 1.0, expected, &rank);
		CHECK(rank == 6, "rank %d", rank);
		for (int kind = WMLC_MAML; kind <= WMLC_REPTILE; kind++)
		{
			for (int steps = 1; steps <= 5; steps += 2)
			{
				for (double eta = 1e-9; eta < 1.0; eta *= 1e3)
				{
					WmlcObjective objective = {kind, WMLC_SCALE_MEAN, eta, steps, 0.0};
					WmlcStatus	status = fit(objective, 0.0, 1.0, w, &rank);

					CHECK(status == WMLC_OK && rank == 6 && distance(w, expected, d) < 1e-12,
						  "%s, %d steps, eta %g, d %d: status %d, rank %d, error %g", kind_name[kind],
						  steps, eta, d, status, rank, distance(w, expected, d));
				}
			}
		}
	}
}

/* Merging partial sums, with and without a factor, is adding all tasks. */
static void
test_merge(void)
{
	const double raw[] = {1.0, 10.0, 300.0};
	const double etas[] = {0.0, 1e-7, 1e-4, 0.1};
	double		expected[QUAD_MAX],
				w[QUAD_MAX];
	int			rank;

	random_tasks(6, 6, 9, raw, 3);
	for (int kind = WMLC_ERM; kind <= WMLC_REPTILE; kind++)
	{
		for (int e = 0; e < 4; e++)
		{
			WmlcObjective objective = {kind, WMLC_SCALE_MEAN, etas[e], 2 + e, 0.0};
			size_t		doubles = wmlc_objective_doubles(kind, 6);
			double	   *arrays = calloc(7 * doubles, sizeof(double));
			void	   *work = malloc(wmlc_objective_workspace(kind, 6));
			WmlcObjectiveSum total,
						part;
			WmlcStatus	status = fit(objective, 0.5, 1.0, expected, &rank);

			wmlc_objective_attach(&total, kind, 6, arrays);
			for (int t = 0; t < 6 && status == WMLC_OK; t++)
			{
				wmlc_objective_attach(&part, kind, 6, arrays + (t + 1) * doubles);
				status = wmlc_objective_add(&part, &objective, tasks.gram[t], 1.0, work, NULL);
				if (status == WMLC_OK)
					status = wmlc_objective_merge(&total, &part, tasks.alpha[t], work, NULL);
			}
			if (status == WMLC_OK)
				status = wmlc_objective_fit(&total, 0.5, w, &rank, work, NULL);
			CHECK(status == WMLC_OK && distance(w, expected, 6) < 1e-14,
				  "%s, eta %g: status %d, error %g", kind_name[kind], objective.eta, status,
				  distance(w, expected, 6));

			fit(objective, 0.5, 1e-3, w, &rank);
			CHECK(distance(w, expected, 6) < 1e-13, "%s: scaled weights change the answer by %g",
				  kind_name[kind], distance(w, expected, 6));
			free(arrays);
			free(work);
		}
	}
}

static bool
always(void)
{
	return true;
}

static void
test_refusals(void)
{
	const double one[] = {1.0};
	WmlcObjective objective = {WMLC_MAML, WMLC_SCALE_MEAN, 1e300, 5, 0.0};
	double		w[QUAD_MAX];
	int			rank;
	double	   *array = calloc(wmlc_objective_doubles(WMLC_MAML, 4), sizeof(double));
	void	   *work = malloc(wmlc_objective_workspace(WMLC_MAML, 4));
	WmlcObjectiveSum sum;

	random_tasks(2, 4, 9, one, 1);
	CHECK(fit(objective, 0.0, 1.0, w, &rank) == WMLC_NOT_FINITE, "overflow of T^k");
	wmlc_objective_attach(&sum, WMLC_MAML, 4, array);
	objective.eta = 0.1;
	CHECK(wmlc_objective_fit(&sum, 0.0, w, &rank, work, NULL) == WMLC_EMPTY, "no task");
	CHECK(wmlc_objective_add(&sum, &objective, tasks.gram[0], 1.0, work, always) == WMLC_INTERRUPTED,
		  "an interrupt goes unheard");
	tasks.gram[1]->sums[2] = NAN;
	CHECK(wmlc_objective_add(&sum, &objective, tasks.gram[1], 1.0, work, NULL) == WMLC_NOT_FINITE,
		  "NaN");
	CHECK(wmlc_objective_add(&sum, &objective, tasks.gram[1], 0.0, work, NULL) == WMLC_OK,
		  "weight 0");
	wmlc_gram_init(tasks.gram[1], 4);
	CHECK(wmlc_objective_add(&sum, &objective, tasks.gram[1], 1.0, work, NULL) == WMLC_NOT_FINITE,
		  "a gram without rows");
	random_tasks(1, 3, 9, one, 1);
	CHECK(wmlc_objective_add(&sum, &objective, tasks.gram[0], 1.0, work, NULL) ==
		  WMLC_DIMENSION_MISMATCH, "dimensions");
	free(array);
	free(work);
}

int
main(void)
{
	test_closed_forms();
	test_many_features();
	test_gradient_on_rows();
	test_without_steps();
	test_one_task_any_eta();
	test_shared_eigenvectors();
	test_underdetermined();
	test_merge();
	test_refusals();
	for (int t = 0; t < MAX_TASKS; t++)
		free(tasks.gram[t]);
	return check_summary();
}
