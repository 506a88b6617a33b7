/*
 * test_mlp_train.c
 *	  The adaptive basis: weights of a batch, the bound, training, adaptation.
 *
 * Weights are judged by optimality conditions on embeddings built from
 * wmlc_mlp_embed alone.
 */
#include "core/simplex/simplex.h"
#include "mlp/mlp_fixture.h"

#define TASKS 12
#define MAX_P 16

/* ---- embeddings, the slow way ---- */

/* Mean of zz' over the rows, z = (psi, y) taken through basis' unless NULL. */
static void
naive_moment(const WmlcMlp *net, const double *theta, const WmlcMlpRows *rows,
			 const double *basis, int stride, double m[MAX_P][MAX_P])
{
	int			p = wmlc_mlp_basis(net) + 1;
	void	   *work = malloc(wmlc_mlp_predict_workspace(net));

	memset(m, 0, MAX_P * MAX_P * sizeof(double));
	for (int64_t r = 0; r < rows->count; r++)
	{
		double		z[MAX_P];
		double		white[MAX_P] = {0.0};
		const double *row = z;

		wmlc_mlp_embed(net, theta, rows->x + r * net->inputs, z, work);
		z[p - 1] = rows->y[r];
		if (basis != NULL)
		{
			for (int i = 0; i < p; i++)
				for (int k = 0; k < p; k++)
					white[i] += basis[k * stride + i] * z[k];
			row = white;
		}
		for (int i = 0; i < p; i++)
			for (int j = 0; j < p; j++)
				m[i][j] += row[i] * row[j] / (double) rows->count;
	}
	free(work);
}

typedef struct Weighing
{
	Data		data;
	WmlcMlp		net;
	WmlcMlpOptions options;
	Bench		bench;
	WmlcMlpRows tasks[TASKS];
	WmlcMlpRows target;
	double		alpha[TASKS];
	double		e[TASKS][MAX_P][MAX_P]; /* M_j - M_T */
	int			p;
} Weighing;

static const double *
basis_of(const Weighing *w)
{
	return w->options.whiten ? w->bench.embedding.basis : NULL;
}

static void
find_differences(Weighing *w, const double *theta)
{
	double		target[MAX_P][MAX_P];
	int			stride = w->bench.embedding.stride;

	naive_moment(&w->net, theta, &w->target, basis_of(w), stride, target);
	for (int j = 0; j < TASKS; j++)
	{
		naive_moment(&w->net, theta, &w->tasks[j], basis_of(w), stride, w->e[j]);
		for (int i = 0; i < w->p; i++)
			for (int k = 0; k < w->p; k++)
				w->e[j][i][k] -= target[i][k];
	}
}

static void
open_weighing(Weighing *w, int depth, int weighting, double shrink, bool whiten)
{
	int			sizes[3] = {9, 14, 30};

	w->data = make_data(2, TASKS, sizes, 6, 31);
	w->net = make_net(2, depth);
	w->options = (WmlcMlpOptions) {
		.objective = WMLC_MAML, .weighting = weighting, .inner_steps = 1, .inner_rate = 0.01,
		.shrink = shrink, .whiten = whiten
	};
	w->p = wmlc_mlp_basis(&w->net) + 1;
	open_bench(&w->bench, &w->net, &w->options, 30, TASKS, 3);
	for (int j = 0; j < TASKS; j++)
		w->tasks[j] = task_rows(&w->data, j);
	w->target = target_rows(&w->data);
	load_theta(&w->bench, w->bench.theta);
	CHECK(wmlc_mlp_weigh(&w->bench.embedding, w->tasks, TASKS, &w->target, true, w->alpha) == WMLC_OK,
		  "weighting %d", weighting);
	find_differences(w, w->bench.theta);
}

static void
close_weighing(Weighing *w)
{
	close_bench(&w->bench);
	free_data(&w->data);
}

/* x = sum alpha_j e_j */
static void
mix(const Weighing *w, double x[MAX_P][MAX_P])
{
	memset(x, 0, MAX_P * MAX_P * sizeof(double));
	for (int j = 0; j < TASKS; j++)
		for (int i = 0; i < w->p; i++)
			for (int k = 0; k < w->p; k++)
				x[i][k] += w->alpha[j] * w->e[j][i][k];
}

static double
inner(const Weighing *w, double a[MAX_P][MAX_P], double b[MAX_P][MAX_P])
{
	double		sum = 0.0;

	for (int i = 0; i < w->p; i++)
		for (int k = 0; k < w->p; k++)
			sum += a[i][k] * b[i][k];
	return sum;
}

static double
alpha_square(const Weighing *w)
{
	double		sum = 0.0;

	for (int j = 0; j < TASKS; j++)
		sum += w->alpha[j] * w->alpha[j];
	return sum;
}

/* The sampling variance of the target's embedding, by its definition. */
static double
naive_variance(const Weighing *w)
{
	double		mean[MAX_P][MAX_P];
	double		sum = 0.0;
	double		n = (double) w->target.count;

	naive_moment(&w->net, w->bench.theta, &w->target, basis_of(w), w->bench.embedding.stride, mean);
	for (int64_t r = 0; r < w->target.count; r++)
	{
		WmlcMlpRows row = {w->target.x + r * w->net.inputs, w->target.y + r, 1};
		double		m[MAX_P][MAX_P];

		naive_moment(&w->net, w->bench.theta, &row, basis_of(w), w->bench.embedding.stride, m);
		for (int i = 0; i < w->p; i++)
			for (int k = 0; k < w->p; k++)
				sum += (m[i][k] - mean[i][k]) * (m[i][k] - mean[i][k]);
	}
	return sum / (n * (n - 1.0));
}

static void
check_on_simplex(const Weighing *w)
{
	double		sum = 0.0;
	double		least = 0.0;

	for (int j = 0; j < TASKS; j++)
	{
		sum += w->alpha[j];
		least = fmin(least, w->alpha[j]);
	}
	CHECK_NEAR(sum, 1.0, 1e-12);
	CHECK(least == 0.0, "negative weight %g", least);
}

/* Prices of all tasks are at least, and of those in use exactly, the lowest one. */
static void
check_prices(const Weighing *w, const double *price, double scale, double tolerance)
{
	double		lowest = INFINITY;
	double		average = 0.0;

	check_on_simplex(w);
	for (int j = 0; j < TASKS; j++)
	{
		lowest = fmin(lowest, price[j]);
		average += w->alpha[j] * price[j];
	}
	CHECK(average - lowest <= tolerance * scale, "weighting %d, shrink %g, whiten %d: gap %g",
		  w->options.weighting, w->options.shrink, w->options.whiten, (average - lowest) / scale);
}

static void
test_mixture(int depth, double shrink, bool whiten)
{
	Weighing	w;
	double		x[MAX_P][MAX_P];
	double		price[TASKS];
	double		largest = 0.0;
	double		ridge;

	open_weighing(&w, depth, WMLC_MIXTURE, shrink, whiten);
	mix(&w, x);
	CHECK_NEAR(w.bench.embedding.distance, sqrt(inner(&w, x, x)), 1e-9);
	ridge = shrink == 0.0 ? 0.0 : shrink * naive_variance(&w);
	if (shrink > 0.0)
		CHECK_NEAR(shrink * w.bench.embedding.variance / ridge, 1.0, 1e-9);
	for (int j = 0; j < TASKS; j++)
	{
		price[j] = inner(&w, w.e[j], x) + ridge * w.alpha[j];
		largest = fmax(largest, inner(&w, w.e[j], w.e[j]));
	}
	check_prices(&w, price, largest, 1e-9);
	close_weighing(&w);
}

/*
 * Whitened, the batch's pooled second moment is the identity, but for a unit
 * that is silent on all of it.
 */
static void
test_whitening(void)
{
	Weighing	w;
	double		pooled[MAX_P][MAX_P];
	WmlcMlpRows all;
	const int	silent = 4;
	int			dropped = 0;

	open_weighing(&w, 2, WMLC_MIXTURE, 0.0, true);

	/* the last hidden layer's biases come before the output's weights and bias */
	w.bench.theta[w.bench.parameters - (w.p - 1) - (w.p - 2) + silent] = -100.0;
	load_theta(&w.bench, w.bench.theta);
	CHECK(wmlc_mlp_weigh(&w.bench.embedding, w.tasks, TASKS, &w.target, true, w.alpha) == WMLC_OK,
		  "a silent unit");
	check_on_simplex(&w);
	all = (WmlcMlpRows) {w.data.x, w.data.y, w.data.start[TASKS]};
	naive_moment(&w.net, w.bench.theta, &all, w.bench.embedding.basis, w.bench.embedding.stride,
				 pooled);
	for (int i = 0; i < w.p; i++)
		for (int k = 0; k < w.p; k++)
		{
			bool		zero = i != k || pooled[i][i] == 0.0;

			dropped += i == k && zero;
			CHECK(fabs(pooled[i][k] - (zero ? 0.0 : 1.0)) < 1e-8, "(%d, %d): %g", i, k, pooled[i][k]);
		}
	CHECK(pooled[silent][silent] == 0.0 && dropped < w.p / 2, "%d dropped", dropped);
	close_weighing(&w);
}

static void
test_closest_and_uniform(void)
{
	Weighing	w;
	double		x[MAX_P][MAX_P];
	double		least = INFINITY;

	open_weighing(&w, 2, WMLC_CLOSEST, 0.0, false);
	for (int j = 0; j < TASKS; j++)
		least = fmin(least, sqrt(inner(&w, w.e[j], w.e[j])));
	check_on_simplex(&w);
	CHECK(alpha_square(&w) == 1.0, "not one task");
	CHECK_NEAR(w.bench.embedding.distance, least, 1e-12);
	close_weighing(&w);

	open_weighing(&w, 2, WMLC_UNIFORM, 0.0, false);
	mix(&w, x);
	CHECK_NEAR(w.bench.embedding.distance, sqrt(inner(&w, x, x)), 1e-12);
	CHECK_NEAR(alpha_square(&w), 1.0 / TASKS, 1e-15);
	close_weighing(&w);
}

/* ---- the bound ---- */

/* omega' a omega, omega = (w, c, -1) from the end of theta, in z's own basis */
static double
omega_form(const Weighing *w, const double *theta, double a[MAX_P][MAX_P])
{
	const double *output = theta + wmlc_mlp_parameters(&w->net) - (w->p - 1);
	double		sum = 0.0;

	for (int i = 0; i < w->p; i++)
		for (int k = 0; k < w->p; k++)
			sum += (i < w->p - 1 ? output[i] : -1.0) * a[i][k] * (k < w->p - 1 ? output[k] : -1.0);
	return sum;
}

/* |omega|^2 in the basis of the distance: omega' LL' omega, or plain */
static double
omega_square(const Weighing *w, const double *theta)
{
	double		metric[MAX_P][MAX_P] = {{0.0}};
	const double *factor = w->bench.embedding.factor;
	int			stride = w->bench.embedding.stride;

	for (int i = 0; i < w->p; i++)
		for (int k = 0; k < w->p; k++)
		{
			if (!w->options.whiten)
				metric[i][k] = i == k;
			else
				for (int l = 0; l < w->p; l++)
					metric[i][k] += factor[i * stride + l] * factor[k * stride + l];
		}
	return omega_form(w, theta, metric);
}

/* Optimality of the bound's weights: B is convex, its derivatives are the prices. */
static void
test_bound_weights(double shrink, bool whiten)
{
	Weighing	w;
	double		x[MAX_P][MAX_P];
	double		price[TASKS];
	double		square,
				gamma,
				ridge;
	double		scale = 0.0;

	open_weighing(&w, 2, WMLC_MLP_BOUND, shrink, whiten);
	mix(&w, x);
	CHECK_NEAR(w.bench.embedding.distance, sqrt(inner(&w, x, x)), 1e-7);
	ridge = shrink == 0.0 ? 0.0 : shrink * naive_variance(&w);
	gamma = sqrt(inner(&w, x, x) + ridge * alpha_square(&w));
	square = omega_square(&w, w.bench.theta);
	for (int j = 0; j < TASKS; j++)
	{
		double		loss;

		price[j] = 0.5 * square * (inner(&w, w.e[j], x) + ridge * w.alpha[j]) / gamma;
		scale = fmax(scale, fabs(price[j]));
		loss = naive_loss(&w.net, w.bench.theta, &w.tasks[j]);
		price[j] += loss;
		scale = fmax(scale, loss);
	}
	check_prices(&w, price, scale, 1e-6);
	close_weighing(&w);
}

/* ---- training ---- */

static WmlcStatus
train(const WmlcMlp *net, const WmlcMlpOptions *options, const Data *data, double *theta,
	  WmlcMlpRecord *history, int capacity, int *recorded, WmlcPoll poll)
{
	WmlcMlpTasks sources = all_tasks(data);
	WmlcMlpRows target = target_rows(data);
	void	   *work = malloc(wmlc_mlp_train_workspace(net, options, &sources, &target));
	WmlcStatus	status = wmlc_mlp_train(net, options, &sources, &target, theta, history, capacity,
										recorded, NULL, NULL, poll, work);

	free(work);
	return status;
}

static WmlcMlpOptions
training_options(void)
{
	return (WmlcMlpOptions) {
		.objective = WMLC_MAML, .iterations = 300, .batch = 8, .inner_rate = 0.02, .inner_steps = 1,
		.outer_rate = 0.003, .seed = 5
	};
}

/* All settings train: the loss falls, and the same seed gives the same bits. */
static void
test_training(void)
{
	int			sizes[3] = {20, 25, 30};
	Data		data = make_data(1, 40, sizes, 10, 77);
	WmlcMlp		net = {.inputs = 1, .depth = 2, .width = {12, 12}};
	size_t		parameters = wmlc_mlp_parameters(&net);
	double	   *theta = malloc(parameters * sizeof(double));
	double	   *again = malloc(parameters * sizeof(double));
	WmlcMlpRecord history[30];
	int			recorded;

	for (int objective = 0; objective < WMLC_OBJECTIVES; objective++)
		for (int weighting = WMLC_MIXTURE; weighting <= WMLC_MLP_BOUND; weighting++)
		{
			WmlcMlpOptions options = training_options();
			double		early = 0.0;
			double		late = 0.0;

			options.objective = objective;
			options.weighting = weighting;
			options.support = objective == WMLC_FOMAML ? 0.5 : 0.0;
			options.whiten = objective == WMLC_ERM;
			options.shrink = objective == WMLC_REPTILE ? 1.0 : 0.0;
			wmlc_mlp_init(&net, 1, theta);
			memcpy(again, theta, parameters * sizeof(double));
			CHECK(train(&net, &options, &data, theta, history, 30, &recorded, NULL) == WMLC_OK,
				  "objective %d, weighting %d", objective, weighting);
			CHECK(recorded == 30 && history[29].iteration == 300, "%d records", recorded);
			for (int i = 0; i < 5; i++)
			{
				early += history[i].mse;
				late += history[25 + i].mse;
			}

			CHECK(late < early, "objective %d, weighting %d: from %g to %g",
				  objective, weighting, early, late);
			CHECK(isfinite(history[29].distance), "distance %g", history[29].distance);
			CHECK(weighting != WMLC_CLOSEST || history[3].sources == 1, "%d", history[3].sources);
			CHECK(weighting != WMLC_UNIFORM || history[3].sources == 8, "%d", history[3].sources);

			/* recording differently changes nothing but the record */
			CHECK(train(&net, &options, &data, again, history, 7, &recorded, NULL) == WMLC_OK
				  && recorded == 7 && history[6].iteration == 300, "%d records", recorded);
			CHECK(memcmp(theta, again, parameters * sizeof(double)) == 0, "other bits");
			options.seed++;
			wmlc_mlp_init(&net, 1, again);
			CHECK(train(&net, &options, &data, again, NULL, 0, &recorded, NULL) == WMLC_OK
				  && recorded == 0, "no history");
			CHECK(memcmp(theta, again, parameters * sizeof(double)) != 0, "same bits");
		}
	free(theta);
	free(again);
	free_data(&data);
}

/*
 * The linear network, trained on all tasks, arrives where the gradient of the
 * whole objective vanishes, but for the trembling of Adam's constant rate.
 */
static void
test_linear_training(void)
{
	int			sizes[3] = {20, 25, 30};
	Data		data = make_data(2, 6, sizes, 10, 78);
	WmlcMlp		net = {.inputs = 2};
	WmlcMlpOptions options = training_options();
	double		theta[3] = {1.0, 1.0, 1.0};
	double		total[3] = {0.0};
	int			recorded;
	Bench		bench;

	options.weighting = WMLC_UNIFORM;
	options.iterations = 20000;
	options.outer_rate = 0.001;
	CHECK(train(&net, &options, &data, theta, NULL, 0, &recorded, NULL) == WMLC_OK, "linear");
	open_bench(&bench, &net, &options, 30, 1, 1);
	for (int j = 0; j < 6; j++)
	{
		WmlcMlpRows task = task_rows(&data, j);

		task_gradient(&bench, theta, &task, 1.0 / 6.0);
		for (int i = 0; i < 3; i++)
			total[i] += bench.gradient[i];
	}
	for (int i = 0; i < 3; i++)
		CHECK(fabs(total[i]) < 1e-4, "gradient %g after training", total[i]);
	close_bench(&bench);
	free_data(&data);
}

/* Standardized, a change of units changes nothing. */
static void
test_standardized(void)
{
	int			sizes[3] = {20, 25, 30};
	Data		plain = make_data(1, 10, sizes, 8, 79);
	Data		other = make_data(1, 10, sizes, 8, 79);
	WmlcMlpTasks tasks = all_tasks(&plain);
	WmlcMlpOptions options = training_options();
	double		shift[2],
				scale[2],
				theta[100],
				moved[100];
	WmlcMlp		net = {.inputs = 1, .depth = 1, .width = {8}, .shift = shift, .scale = scale};
	void	   *work = malloc(wmlc_mlp_predict_workspace(&net));
	WmlcMlpRecord record[2];
	int			recorded;
	double		x = 0.3;
	double		first;

	wmlc_mlp_standardize(1, &tasks, shift, scale);
	wmlc_mlp_init(&net, 1, theta);
	wmlc_mlp_init(&net, 1, moved);
	CHECK(train(&net, &options, &plain, theta, &record[0], 1, &recorded, NULL) == WMLC_OK, "plain");
	first = wmlc_mlp_predict(&net, theta, &x, work);

	for (int64_t i = 0; i < other.start[10]; i++)
	{
		other.x[i] = 1000.0 + 64.0 * other.x[i];
		other.y[i] = -500.0 + 16.0 * other.y[i];
	}
	for (int i = 0; i < 8; i++)
	{
		other.target_x[i] = 1000.0 + 64.0 * other.target_x[i];
		other.target_y[i] = -500.0 + 16.0 * other.target_y[i];
	}
	tasks = all_tasks(&other);
	wmlc_mlp_standardize(1, &tasks, shift, scale);
	CHECK(train(&net, &options, &other, moved, &record[1], 1, &recorded, NULL) == WMLC_OK, "other");
	x = 1000.0 + 64.0 * x;
	CHECK_NEAR((wmlc_mlp_predict(&net, moved, &x, work) + 500.0) / 16.0, first, 1e-6);
	CHECK_NEAR(record[1].mse / (16.0 * 16.0), record[0].mse, 1e-6);

	/* a constant has no scale */
	for (int64_t i = 0; i < other.start[10]; i++)
		other.x[i] = 3.0;
	wmlc_mlp_standardize(1, &tasks, shift, scale);
	CHECK(shift[0] == 3.0 && scale[0] == 1.0, "%g, %g", shift[0], scale[0]);
	free(work);
	free_data(&plain);
	free_data(&other);
}

static int	polls_left;

static bool
stop_soon(void)
{
	return polls_left-- <= 0;
}

static void
test_refusals(void)
{
	int			sizes[3] = {20, 25, 30};
	Data		data = make_data(1, 10, sizes, 8, 80);
	WmlcMlp		net = {.inputs = 1, .depth = 2, .width = {9, 9}};
	WmlcMlpOptions options = training_options();
	double		theta[200],
				before[200];
	WmlcMlpRecord history[10];
	size_t		bytes = wmlc_mlp_parameters(&net) * sizeof(double);
	int			recorded;
	double		kept;
	int64_t		kept_start;
	WmlcStatus	status;

	wmlc_mlp_init(&net, 1, theta);
	memcpy(before, theta, bytes);

	/* stopped at the first chance, and on the way */
	polls_left = 0;
	CHECK(train(&net, &options, &data, theta, history, 10, &recorded, stop_soon) == WMLC_INTERRUPTED
		  && recorded == 0 && memcmp(theta, before, bytes) == 0, "not stopped");
	polls_left = 500;
	CHECK(train(&net, &options, &data, theta, history, 10, &recorded, stop_soon) == WMLC_INTERRUPTED
		  && memcmp(theta, before, bytes) != 0, "not stopped on the way");

	/* bad data */
	memcpy(theta, before, bytes);
	kept = data.y[17];
	data.y[17] = NAN;
	CHECK(train(&net, &options, &data, theta, history, 10, &recorded, NULL) == WMLC_NOT_FINITE
		  && recorded == 0 && memcmp(theta, before, bytes) == 0, "NaN accepted");
	data.y[17] = kept;
	kept = data.target_x[2];
	data.target_x[2] = INFINITY;
	CHECK(train(&net, &options, &data, theta, history, 10, &recorded, NULL) == WMLC_NOT_FINITE,
		  "infinity accepted");
	data.target_x[2] = kept;
	kept_start = data.start[4];
	data.start[4] = data.start[3];
	CHECK(train(&net, &options, &data, theta, history, 10, &recorded, NULL) == WMLC_EMPTY,
		  "empty task accepted");
	data.start[4] = kept_start;
	data.target_rows = 0;
	CHECK(train(&net, &options, &data, theta, history, 10, &recorded, NULL) == WMLC_EMPTY,
		  "empty target accepted");
	data.target_rows = 8;

	/* divergence: inner steps far too long, many of them */
	options.inner_rate = 1e30;
	options.inner_steps = 8;
	options.weighting = WMLC_UNIFORM;
	status = train(&net, &options, &data, theta, history, 10, &recorded, NULL);
	CHECK(status == WMLC_NOT_FINITE, "status %d", status);
	for (size_t i = 0; i < wmlc_mlp_parameters(&net); i++)
		CHECK(isfinite(theta[i]), "parameter %zu is %g", i, theta[i]);
	free_data(&data);
}

/* One row has no variance to tell: whatever it is multiplied by, weights are equal. */
static void
test_one_row_target(void)
{
	int			sizes[3] = {20, 1, 30};
	Data		data = make_data(1, 10, sizes, 1, 82);
	WmlcMlp		net = {.inputs = 1, .depth = 1, .width = {9}};
	WmlcMlpOptions options = training_options();
	double		theta[28],
				plain[28];
	int			recorded;

	options.iterations = 20;
	options.support = 0.5;
	wmlc_mlp_init(&net, 1, theta);
	wmlc_mlp_init(&net, 1, plain);
	options.weighting = WMLC_UNIFORM;
	CHECK(train(&net, &options, &data, plain, NULL, 0, &recorded, NULL) == WMLC_OK, "uniform");
	options.shrink = 3.0;
	for (int i = 0; i < 2; i++)
	{
		options.weighting = i == 0 ? WMLC_MIXTURE : WMLC_MLP_BOUND;
		wmlc_mlp_init(&net, 1, theta);
		CHECK(train(&net, &options, &data, theta, NULL, 0, &recorded, NULL) == WMLC_OK, "shrunk");
		CHECK(memcmp(theta, plain, sizeof(theta)) == 0, "%g", relative_distance(theta, plain, 28));
	}
	free_data(&data);
}

/* ---- adaptation ---- */

static void
test_adaptation(void)
{
	int			sizes[3] = {20, 25, 300};
	Data		data = make_data(1, 3, sizes, 8, 81);
	WmlcMlpRows rows = task_rows(&data, 2);
	WmlcMlpRows judge = task_rows(&data, 0);
	WmlcMlp		net = {.inputs = 1, .depth = 2, .width = {9, 9}};
	void	   *work = malloc(wmlc_mlp_adapt_workspace(&net));
	double		theta[200],
				start[200],
				mse[21],
				judged[21];
	size_t		bytes = wmlc_mlp_parameters(&net) * sizeof(double);
	int			diverged_at;

	wmlc_mlp_init(&net, 4, start);
	memcpy(theta, start, bytes);
	CHECK(wmlc_mlp_adapt(&net, theta, &rows, 0.01, 20, NULL, mse, &diverged_at, NULL, work) == WMLC_OK
		  && diverged_at == 0, "diverged at %d", diverged_at);
	CHECK_NEAR(mse[0], 2.0 * naive_loss(&net, start, &rows), 1e-12);
	CHECK_NEAR(mse[20], 2.0 * naive_loss(&net, theta, &rows), 1e-12);
	for (int i = 1; i <= 20; i++)
		CHECK(mse[i] < mse[i - 1], "step %d: %g after %g", i, mse[i], mse[i - 1]);

	/* judged on other rows, the steps are the same */
	memcpy(theta, start, bytes);
	wmlc_mlp_adapt(&net, theta, &rows, 0.01, 20, &judge, judged, &diverged_at, NULL, work);
	CHECK_NEAR(judged[20], 2.0 * naive_loss(&net, theta, &judge), 1e-12);
	CHECK_NEAR(2.0 * naive_loss(&net, theta, &rows), mse[20], 1e-15);

	/* diverging: the error is never worse than at the start */
	memcpy(theta, start, bytes);
	CHECK(wmlc_mlp_adapt(&net, theta, &rows, 30.0, 20, NULL, mse, &diverged_at, NULL, work) == WMLC_OK
		  && diverged_at > 0, "not diverged");
	CHECK(2.0 * naive_loss(&net, theta, &rows) <= mse[0] * (1.0 + 1e-12), "worse than at the start");
	CHECK(isnan(mse[20]) || diverged_at == 20, "path after divergence");

	polls_left = 1;
	CHECK(wmlc_mlp_adapt(&net, theta, &rows, 0.01, 20, NULL, mse, &diverged_at, stop_soon, work)
		  == WMLC_INTERRUPTED, "not stopped");
	free(work);
	free_data(&data);
}

int
main(void)
{
	for (int depth = 0; depth <= 3; depth++)
	{
		test_mixture(depth, 0.0, false);
		test_mixture(depth, 2.0, false);
		test_mixture(depth, 0.0, true);
		test_mixture(depth, 2.0, true);
	}
	test_whitening();
	test_closest_and_uniform();
	test_bound_weights(0.0, false);
	test_bound_weights(0.0, true);
	test_bound_weights(1.0, false);
	test_bound_weights(1.0, true);
	test_training();
	test_linear_training();
	test_standardized();
	test_refusals();
	test_one_row_target();
	test_adaptation();
	return check_summary();
}
