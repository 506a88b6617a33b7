/*
 * test_mlp.c
 *	  The adaptive basis: small products, and the gradient of every objective
 *	  against finite differences and against the closed form of the linear case.
 */
#include "mlp/mlp_fixture.h"

/* ---- the loops ---- */

#define LARGEST 136

static void
naive_product(const WmlcMlpProduct *p, double *c)
{
	for (int i = 0; i < p->rows; i++)
		for (int j = 0; j < p->columns; j++)
		{
			double		sum = p->start == NULL ? 0.0 : p->start[i * p->start_stride + j];

			for (int l = 0; l < p->depth; l++)
				sum += p->a[i * p->a_row + l * p->a_step] * p->b[l * p->b_stride + j];
			if (p->relu && sum < 0.0)
				sum = 0.0;
			if (p->mask != NULL && !(p->mask[i * p->c_stride + j] > 0.0))
				sum = 0.0;
			c[i * p->c_stride + j] = sum;
		}
}

static void
check_product(const WmlcMlpLoops *loops, int rows, int columns, int depth, bool transposed,
			  int start, bool relu, bool masked, bool zeros, uint64_t *seed)
{
	static double a[LARGEST * LARGEST],
				b[LARGEST * LARGEST],
				c[LARGEST * LARGEST],
				expected[LARGEST * LARGEST],
				mask[LARGEST * LARGEST];
	WmlcMlpProduct p = {
		.rows = rows, .columns = columns, .depth = depth,
		.a = a, .a_row = transposed ? 1 : depth, .a_step = transposed ? rows : 1,
		.b = b, .b_stride = columns, .c = c, .c_stride = columns,
		.start = start == 0 ? NULL : start == 1 ? mask : c,
		.start_stride = start == 1 ? 0 : columns,
		.relu = relu, .mask = masked ? mask : NULL
	};
	int			longest = rows > depth ? rows : depth;
	int			wrong = 0;

	for (int i = 0; i <= longest * (longest > columns ? longest : columns); i++)
	{
		a[i] = check_normal(seed);
		if (zeros && a[i] < 0.0)
			a[i] = 0.0;
		b[i] = check_normal(seed);
		mask[i] = check_normal(seed);
		c[i] = expected[i] = check_normal(seed);
	}
	naive_product(&p, expected);
	loops->product(&p);
	for (int i = 0; i < rows * columns; i++)
		wrong += !(fabs(c[i] - expected[i]) <= 1e-13 * depth);
	CHECK(wrong == 0, "%d x %d x %d: %d wrong", rows, columns, depth, wrong);
	CHECK(c[rows * columns] == expected[rows * columns], "wrote past the end");
}

static void
test_loops(const WmlcMlpLoops *loops)
{
	uint64_t	seed = 1;
	double		from[24 * 16],
				to[16 * 24],
				out[3],
				naive;

	for (int rows = 1; rows <= 9; rows++)
		for (int columns = 8; columns <= 56; columns += 8)
			for (int variant = 0; variant < 12; variant++)
				check_product(loops, rows, columns, 1 + (rows * columns + variant) % 13,
							  variant % 2, variant % 3, variant % 4 == 1, variant > 5, variant % 5 > 2, &seed);

	/* as in training, half of them zeros; and around the pieces a loop may cut them into */
	for (int k = 0; k < 6 * 6; k++)
		for (int columns = 8; columns <= 96; columns += 44 - k % 2 * 12)
		{
			static const int size[] = {4, 11, 40, 64, 65, 135};

			check_product(loops, size[k / 6], columns / 8 * 8, size[k % 6], k % 2, k % 3, k % 4 == 1, k % 5 < 2,
						  k % 7 > 0, &seed);
		}

	for (int i = 0; i < 24 * 16; i++)
		from[i] = check_normal(&seed);
	for (int rows = 1; rows <= 9; rows++)
		for (int columns = 1; columns <= 9; columns++)
		{
			int			wrong = 0;

			loops->transpose(rows, columns, from, 16, to, 24);
			for (int i = 0; i < rows; i++)
				for (int j = 0; j < columns; j++)
					wrong += to[j * 24 + i] != from[i * 16 + j];
			CHECK(wrong == 0, "transpose %d x %d", rows, columns);
		}

	for (int i = 0; i < 3; i++)
		out[i] = i;
	loops->dots(3, 16, from, from + 64, out);
	for (int i = 0; i < 3; i++)
	{
		naive = i;
		for (int j = 0; j < 16; j++)
			naive += from[i * 16 + j] * from[64 + j];
		CHECK_NEAR(out[i], naive, 1e-13);
	}
}

/* A NaN must survive the ReLU, or divergence would go unnoticed. */
static void
test_relu_keeps_nan(const WmlcMlpLoops *loops)
{
	double		a = NAN;
	double		b[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	double		c[8];
	WmlcMlpProduct p = {
		.rows = 1, .columns = 8, .depth = 1, .a = &a, .b = b, .c = c, .relu = true
	};

	loops->product(&p);
	CHECK(isnan(c[0]), "%g", c[0]);
}

/* ---- gradients ---- */

typedef struct GradientCase
{
	Bench	   *bench;
	const WmlcMlp *net;
	const WmlcMlpRows *rows;
} GradientCase;

static double
loss_from_predictions(const double *theta, void *argument)
{
	GradientCase *c = argument;

	return naive_loss(c->net, theta, c->rows);
}

static double
meta_loss(const double *theta, void *argument)
{
	GradientCase *c = argument;

	return task_gradient(c->bench, theta, c->rows, 1.0);
}

/* theta after the inner steps on all rows, by the public function */
static double *
adapted(const WmlcMlp *net, const double *theta, const WmlcMlpRows *rows, double rate, int steps)
{
	size_t		size = wmlc_mlp_parameters(net) * sizeof(double);
	double	   *result = malloc(size);
	void	   *work = malloc(wmlc_mlp_adapt_workspace(net));
	int			diverged_at;

	memcpy(result, theta, size);
	CHECK(wmlc_mlp_adapt(net, result, rows, rate, steps, NULL, NULL, &diverged_at, NULL, work) == WMLC_OK
		  && diverged_at == 0, "diverged at %d", diverged_at);
	free(work);
	return result;
}

/* What the gradient of the objective should be, without the code under test. */
static double *
expected_gradient(GradientCase *c, const WmlcMlpOptions *options)
{
	double	   *theta = c->bench->theta;
	size_t		parameters = c->bench->parameters;
	double	   *end;
	double	   *result;

	if (options->objective == WMLC_MAML)
		return numeric_gradient(meta_loss, c, theta, parameters);
	if (options->objective == WMLC_ERM)
		return numeric_gradient(loss_from_predictions, c, theta, parameters);
	end = adapted(c->net, theta, c->rows, options->inner_rate, options->inner_steps);
	if (options->objective == WMLC_FOMAML)
		result = numeric_gradient(loss_from_predictions, c, end, parameters);
	else
	{
		result = malloc(parameters * sizeof(double));
		for (size_t i = 0; i < parameters; i++)
			result[i] = (theta[i] - end[i]) / options->inner_rate;
	}
	free(end);
	return result;
}

static void
check_objective(int depth, int rows, const WmlcMlpOptions *options)
{
	int			sizes[3] = {rows, rows, rows};
	Data		data = make_data(3, 1, sizes, 5, 7 + depth);
	WmlcMlp		net = make_net(3, depth);
	WmlcMlpRows task = task_rows(&data, 0);
	Bench		bench;
	GradientCase c = {&bench, &net, &task};
	double	   *expected;
	double		error;

	open_bench(&bench, &net, options, rows, 1, 11 + depth);
	expected = expected_gradient(&c, options);
	task_gradient(&bench, bench.theta, &task, 1.0);
	error = relative_distance(bench.gradient, expected, bench.parameters);
	CHECK(error <= FD_TOLERANCE, "objective %d, depth %d, rows %d, steps %d, support %g: %g",
		  options->objective, depth, rows, options->inner_steps, options->support, error);

	/* the weight is a factor, and gradients are added to what is there */
	task_gradient(&bench, bench.theta, &task, 0.25);
	for (size_t i = 0; i < bench.parameters; i++)
		expected[i] *= 0.25;
	CHECK(relative_distance(bench.gradient, expected, bench.parameters) <= FD_TOLERANCE,
		  "objective %d weighted", options->objective);
	free(expected);
	close_bench(&bench);
	free_data(&data);
}

static void
test_gradients(void)
{
	WmlcMlpOptions options = {.batch = 1, .inner_rate = 0.05};

	for (int depth = 0; depth <= 3; depth++)
		for (int objective = 0; objective < WMLC_OBJECTIVES; objective++)
			for (int steps = 1; steps <= 3; steps++)
			{
				options.objective = objective;
				options.inner_steps = steps;
				check_objective(depth, 17, &options);
			}

	/* tasks of several tiles, and with a split */
	options.objective = WMLC_MAML;
	for (int steps = 1; steps <= 2; steps++)
	{
		options.inner_steps = steps;
		check_objective(2, 2 * WMLC_MLP_TILE + 9, &options);
		options.support = 0.3;
		check_objective(2, 2 * WMLC_MLP_TILE + 9, &options);
		check_objective(3, 20, &options);
		check_objective(1, 1, &options);
		options.support = 0.0;
	}
}

/* Loops differ in rounding only, and only the last one from the others. */
static void
test_loops_agree(void)
{
	int			sizes[3] = {33, 33, 33};
	Data		data = make_data(2, 1, sizes, 5, 3);
	WmlcMlp		net = make_net(2, 3);
	WmlcMlpOptions options = {.objective = WMLC_MAML, .inner_rate = 0.05, .inner_steps = 2};
	WmlcMlpRows task = task_rows(&data, 0);
	size_t		size = wmlc_mlp_parameters(&net) * sizeof(double);
	double	   *fastest = malloc(size);
	Bench		bench;

	open_bench(&bench, &net, &options, 33, 1, 5);
	task_gradient(&bench, bench.theta, &task, 1.0);
	memcpy(fastest, bench.gradient, size);
	for (int rank = 1; wmlc_mlp_loops(rank) != NULL; rank++)
	{
		bench.meta.engine.loops = wmlc_mlp_loops(rank);
		task_gradient(&bench, bench.theta, &task, 1.0);
		CHECK(relative_distance(bench.gradient, fastest, bench.parameters) < 1e-13, "rank %d", rank);
		CHECK(wmlc_mlp_loops(rank + 1) == NULL || memcmp(bench.gradient, fastest, size) == 0,
			  "loops %d have other bits", rank);
	}
	free(fastest);
	close_bench(&bench);
	free_data(&data);
}

/* Gaussian elimination with row exchanges, n <= 4. */
static void
solve_small(double a[4][4], double *b, int n)
{
	for (int k = 0; k < n; k++)
	{
		int			pivot = k;

		for (int i = k; i < n; i++)
			if (fabs(a[i][k]) > fabs(a[pivot][k]))
				pivot = i;
		for (int j = 0; j < n; j++)
		{
			double		swap = a[k][j];

			a[k][j] = a[pivot][j];
			a[pivot][j] = swap;
		}
		{
			double		swap = b[k];

			b[k] = b[pivot];
			b[pivot] = swap;
		}
		for (int i = k + 1; i < n; i++)
		{
			double		factor = a[i][k] / a[k][k];

			for (int j = k; j < n; j++)
				a[i][j] -= factor * a[k][j];
			b[i] -= factor * b[k];
		}
	}
	for (int k = n - 1; k >= 0; k--)
	{
		for (int j = k + 1; j < n; j++)
			b[k] -= a[k][j] * b[j];
		b[k] /= a[k][k];
	}
}

/* A_j and b_j of the linear model on (x, 1). */
static void
moments(const WmlcMlpRows *rows, int inputs, double a[4][4], double *b)
{
	memset(a, 0, 16 * sizeof(double));
	memset(b, 0, 4 * sizeof(double));
	for (int64_t r = 0; r < rows->count; r++)
		for (int i = 0; i <= inputs; i++)
		{
			double		xi = i < inputs ? rows->x[r * inputs + i] : 1.0;

			for (int j = 0; j <= inputs; j++)
				a[i][j] += xi * (j < inputs ? rows->x[r * inputs + j] : 1.0) / rows->count;
			b[i] += xi * rows->y[r] / rows->count;
		}
}

/* v = (I - rate A)^steps v */
static void
contract(double a[4][4], int n, double rate, int steps, double *v)
{
	for (int s = 0; s < steps; s++)
	{
		double		next[4];

		for (int i = 0; i < n; i++)
		{
			next[i] = v[i];
			for (int j = 0; j < n; j++)
				next[i] -= rate * a[i][j] * v[j];
		}
		memcpy(v, next, n * sizeof(double));
	}
}

/*
 * Without hidden layers the objective is quadratic, and its gradient vanishes
 * where sum alpha T^k A T^k w = sum alpha T^2k b.
 */
static void
test_linear_closed_form(void)
{
	int			sizes[3] = {12, 30, 21};
	double		alpha[3] = {0.5, 0.3, 0.2};
	Data		data = make_data(3, 3, sizes, 5, 23);
	WmlcMlp		net = make_net(3, 0);

	for (int steps = 1; steps <= 3; steps++)
	{
		WmlcMlpOptions options = {.objective = WMLC_MAML, .inner_rate = 0.2, .inner_steps = steps};
		Bench		bench;
		double		system[4][4] = {{0.0}};
		double		w[4] = {0.0};
		double		total[4] = {0.0};

		open_bench(&bench, &net, &options, 30, 1, 1);
		for (int j = 0; j < 3; j++)
		{
			WmlcMlpRows task = task_rows(&data, j);
			double		a[4][4];
			double		b[4];

			moments(&task, 3, a, b);
			contract(a, 4, options.inner_rate, 2 * steps, b);
			for (int i = 0; i < 4; i++)
			{
				double		column[4] = {a[0][i], a[1][i], a[2][i], a[3][i]};

				contract(a, 4, options.inner_rate, 2 * steps, column);
				for (int k = 0; k < 4; k++)
					system[k][i] += alpha[j] * column[k];
				w[i] += alpha[j] * b[i];
			}
		}
		solve_small(system, w, 4);
		for (int j = 0; j < 3; j++)
		{
			WmlcMlpRows task = task_rows(&data, j);

			task_gradient(&bench, w, &task, alpha[j]);
			for (int i = 0; i < 4; i++)
				total[i] += bench.gradient[i];
		}
		for (int i = 0; i < 4; i++)
			CHECK(fabs(total[i]) < 1e-14, "%d steps: gradient %g", steps, total[i]);
		close_bench(&bench);
	}
	free_data(&data);
}

/* Support and query are disjoint, of the right sizes, and drawn evenly. */
static void
test_split(void)
{
	double		x[20],
				y[20];
	int			times[20] = {0};
	int			wrong = 0;
	WmlcMlpRows rows = {x, y, 20};
	WmlcMlp		net = {.inputs = 1};
	WmlcMlpOptions options = {.objective = WMLC_MAML, .inner_steps = 1};
	Bench		bench;

	for (int i = 0; i < 20; i++)
		x[i] = y[i] = i;
	open_bench(&bench, &net, &options, 20, 1, 1);
	for (uint64_t key = 0; key < 1000; key++)
	{
		int			seen[20] = {0};
		WmlcMlpTile *tile = &bench.meta.engine.first;

		for (int part = WMLC_MLP_SUPPORT; part <= WMLC_MLP_QUERY; part++)
		{
			WmlcMlpReader reader = wmlc_mlp_read_part(&rows, part, 0.25, wmlc_random_at(9, key));
			int64_t		wanted = part == WMLC_MLP_SUPPORT ? 5 : 15;

			wrong += wmlc_mlp_reader_rows(&reader) != wanted
				|| !wmlc_mlp_read_tile(&bench.meta.engine, &reader, tile)
				|| tile->rows != wanted;
			for (int i = 0; i < tile->rows; i++)
			{
				seen[(int) tile->y[i]]++;
				times[(int) tile->y[i]] += part == WMLC_MLP_SUPPORT;
			}
			wrong += wmlc_mlp_read_tile(&bench.meta.engine, &reader, tile);
		}
		for (int i = 0; i < 20; i++)
			wrong += seen[i] != 1;
	}
	CHECK(wrong == 0, "%d wrong splits", wrong);
	for (int i = 0; i < 20; i++)
		CHECK(abs(times[i] - 250) < 70, "row %d in the support %d times of 1000", i, times[i]);
	close_bench(&bench);
}

int
main(void)
{
	for (int rank = 0; wmlc_mlp_loops(rank) != NULL; rank++)
	{
		test_loops(wmlc_mlp_loops(rank));
		test_relu_keeps_nan(wmlc_mlp_loops(rank));
	}
	test_loops_agree();
	test_gradients();
	test_linear_closed_form();
	test_split();
	return check_summary();
}
