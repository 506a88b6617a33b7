/*
 * mlp.h
 *	  The adaptive basis: a small ReLU network whose last hidden layer is the
 *	  basis, meta-trained under task weights solved anew in every iteration
 *	  (Cai, Sheth, Mackey, Fusi 2020, "Weighted Meta-Learning", section 5 and
 *	  appendix).
 *
 * The network.  h_0 = x, h_{l+1} = max(0, h_l W_l + b_l), prediction
 * h_L . w + c.  The basis is psi(x) = (h_L, 1): the constant belongs to it,
 * because the output's intercept c is a coefficient like any other, and the
 * theory weighs tasks by what a linear model on the basis can tell apart.  So
 * the prediction is psi . (w, c), a row is embedded as z = (h_L, 1, y), and
 * wml_gram over the basis gives linear models with an intercept.  Without a
 * hidden layer the network is the linear model on (x, 1).
 *
 * The loss of a task is half the mean squared residual, as for the linear
 * models (gradient A w - b).  A rate of 0.02 here is therefore a rate of 0.01
 * in a framework whose loss is the plain mean of squares.  What is reported to
 * people is the mean squared error itself.
 *
 * One meta-iteration draws a batch of tasks without replacement, embeds them
 * and the target with the current network, solves for the weights alpha and
 * takes one Adam step (Kingma, Ba 2015) along the gradient of
 *
 *	  erm		sum_j alpha_j L_j(theta)
 *	  maml		sum_j alpha_j L_j(theta_j), where theta_j comes from theta by
 *				inner_steps steps down task j's own gradient (the appendix's
 *				form), differentiated through those steps exactly
 *	  fomaml	the same without differentiating through the steps
 *	  reptile	sum_j alpha_j (theta - theta_j) / inner_rate
 *
 * A task whose weight is 0 costs nothing beyond its embedding.
 *
 * Numbers are taken as they are unless the network carries a shift and scale
 * for inputs and response (see wmlc_mlp_standardize).
 */
#ifndef WMLC_MLP_H
#define WMLC_MLP_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/model/objective.h"
#include "core/weights/weights.h"

#define WMLC_MLP_MAX_INPUTS 1024
#define WMLC_MLP_MAX_DEPTH 8
#define WMLC_MLP_MAX_WIDTH 1024

typedef struct WmlcMlp
{
	int			inputs;
	int			depth;			/* hidden layers */
	int			width[WMLC_MLP_MAX_DEPTH];

	/*
	 * The network sees (value - shift) / scale.  inputs + 1 entries each, the
	 * last for the response; both NULL for values as they are.
	 */
	const double *shift;
	const double *scale;
} WmlcMlp;

/* x has `inputs` numbers per row, rows one after another. */
typedef struct WmlcMlpRows
{
	const double *x;
	const double *y;
	int64_t		count;
} WmlcMlpRows;

/* Task j is the rows start[j] up to, not including, start[j + 1]. */
typedef struct WmlcMlpTasks
{
	const double *x;
	const double *y;
	const int64_t *start;		/* count + 1 entries */
	int64_t		count;
} WmlcMlpTasks;

/*
 * How the tasks of a batch are weighed: by a rule (WmlcRule), or by direct
 * optimisation of the bound on the target's risk,
 * sum_j alpha_j L_j + 1/2 (|w|^2 + c^2 + 1) gamma(alpha), in turns: alpha minimises
 * it exactly for the current network (L_j before adaptation), then the network
 * takes its step with alpha held.
 */
enum
{
	WMLC_MLP_BOUND = WMLC_RULES
};

extern const WmlcWords wmlc_mlp_weighting_words;

typedef struct WmlcMlpOptions
{
	WmlcObjectiveKind objective;
	int			weighting;
	int64_t		iterations;
	int64_t		batch;			/* tasks per iteration; all if there are fewer */
	double		inner_rate;
	int			inner_steps;	/* at least 1; erm takes none */
	double		outer_rate;
	uint64_t	seed;			/* of batches and splits */

	/*
	 * Share of a task's rows that maml and fomaml adapt on, drawn anew in each
	 * iteration; the loss is measured on the others.  0: both on all rows.
	 */
	double		support;

	/*
	 * As for the weights of linear models: the penalty shrink * v |alpha|^2,
	 * where v is the sampling variance of the target's embedding, and the
	 * distance after a change of basis that
	 * makes the batch's pooled second moment the identity.
	 */
	double		shrink;
	bool		whiten;
} WmlcMlpOptions;

/* One iteration of the training, as it is remembered. */
typedef struct WmlcMlpRecord
{
	int64_t		iteration;		/* from 1 */
	double		mse;			/* weighted, after adaptation unless erm */
	double		distance;		/* gamma(alpha), before the step */
	int			sources;		/* tasks with a positive weight */
} WmlcMlpRecord;

/*
 * Called after every iteration; the distance is NaN where it was not needed.
 * Must be cheap: a caller that talks looks at the clock first.
 */
typedef void (*WmlcMlpProgress) (void *argument, const WmlcMlpRecord *now);

/*
 * Number of parameters.  They lie layer by layer: W_l (one row per input of
 * the layer), then b_l; at the end w and c.
 */
extern size_t wmlc_mlp_parameters(const WmlcMlp *net);

/* Is the shape within the limits, with no width beyond its depth? */
extern bool wmlc_mlp_shape_valid(const WmlcMlp *net);

/* Why the numbers of such a network are none of a network's, or NULL when they are. */
extern const char *wmlc_mlp_problem(const WmlcMlp *net, const double *theta);

/* Entries of the basis, with the constant: width of the last layer + 1. */
extern int	wmlc_mlp_basis(const WmlcMlp *net);

/*
 * Mean and standard deviation (1 for a constant) over all rows of all tasks,
 * inputs + 1 entries each, the last for the response.
 */
extern void wmlc_mlp_standardize(int inputs, const WmlcMlpTasks *tasks, double *shift, double *scale);

/* Random parameters, uniform in +-1/sqrt(inputs) of their layer. */
extern void wmlc_mlp_init(const WmlcMlp *net, uint64_t seed, double *theta);

/* psi(x), wmlc_mlp_basis() entries; work holds as many bytes as told. */
extern size_t wmlc_mlp_predict_workspace(const WmlcMlp *net);
extern void wmlc_mlp_embed(const WmlcMlp *net, const double *theta, const double *x,
						   double *psi, void *work);
extern double wmlc_mlp_predict(const WmlcMlp *net, const double *theta, const double *x, void *work);

/*
 * Meta-train theta in place.  History gets at most `capacity` records, evenly
 * spaced and with the last iteration; *recorded is always set.
 *
 * WMLC_NOT_FINITE with nothing recorded and theta unchanged: NaN or infinity
 * in the data.  Otherwise: the training diverged, and theta is from before the
 * step that broke it.  WMLC_EMPTY: no task, an empty one, or no
 * target rows.  After WMLC_INTERRUPTED theta is that of the last whole
 * iteration.
 */
extern size_t wmlc_mlp_train_workspace(const WmlcMlp *net, const WmlcMlpOptions *options,
									   const WmlcMlpTasks *sources, const WmlcMlpRows *target);
extern WmlcStatus wmlc_mlp_train(const WmlcMlp *net, const WmlcMlpOptions *options,
								 const WmlcMlpTasks *sources, const WmlcMlpRows *target,
								 double *theta,
								 WmlcMlpRecord *history, int capacity, int *recorded,
								 WmlcMlpProgress progress, void *argument,
								 WmlcPoll poll, void *work);

/*
 * Fast adaptation: `steps` steps of gradient descent on all rows.
 *
 * mse (unless NULL, steps + 1 entries) gets the mean squared error before the
 * first step and after each, on `judge`, or on the rows themselves if that is
 * NULL.  A descent that ends with the rows' own error above where it started,
 * or on the way rises above a hundred times that, has diverged: theta is then
 * the best iterate met, *diverged_at the step that gave it away, and mse after
 * that NaN.
 * Otherwise *diverged_at is 0.
 */
extern size_t wmlc_mlp_adapt_workspace(const WmlcMlp *net);
extern WmlcStatus wmlc_mlp_adapt(const WmlcMlp *net, double *theta, const WmlcMlpRows *rows,
								 double rate, int steps, const WmlcMlpRows *judge,
								 double *mse, int *diverged_at, WmlcPoll poll, void *work);

#endif							/* WMLC_MLP_H */
