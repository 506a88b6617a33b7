/*
 * mlp_internal.h
 *	  What the files of the network share: the padded layout of parameters, a
 *	  tile of rows with its activations, and the passes over it.
 *
 * A task is read in tiles of at most WMLC_MLP_TILE rows, so that memory does
 * not grow with the tasks and a tile's activations stay in the cache.  What
 * is needed again and no longer there, because the task has several tiles, is
 * computed again.
 */
#ifndef WMLC_MLP_INTERNAL_H
#define WMLC_MLP_INTERNAL_H

#include "core/base/arena.h"
#include "core/base/random.h"
#include "core/mlp/mlp.h"
#include "core/mlp/mlp_loops.h"

#define WMLC_MLP_TILE 128

/* ---- layout ---- */

/* A layer and where its parameters are in the padded vector. */
typedef struct WmlcMlpLayer
{
	int			in;
	int			out;
	int			in_stride;
	int			out_stride;
	size_t		weights;		/* in rows of out_stride */
	size_t		bias;			/* out_stride */
	size_t		transposed;		/* out rows of in_stride, in a vector apart */
} WmlcMlpLayer;

/* Activations of a tile, and the loss's derivatives with respect to them. */
typedef struct WmlcMlpTile
{
	int			rows;
	double	   *h[WMLC_MLP_MAX_DEPTH + 1];	/* h[0] is the input */
	double	   *d[WMLC_MLP_MAX_DEPTH + 1];	/* before the ReLU; d[0] unused */
	double	   *delta;			/* derivative with respect to the prediction */
	double	   *y;
} WmlcMlpTile;

/* Parameters in padded layout, and the transposes of their hidden weights. */
typedef struct WmlcMlpWeights
{
	double	   *w;
	double	   *transposed;
} WmlcMlpWeights;

typedef struct WmlcMlpEngine
{
	const WmlcMlp *net;
	const WmlcMlpLoops *loops;
	WmlcPoll	poll;
	int			depth;
	WmlcMlpLayer layer[WMLC_MLP_MAX_DEPTH + 1]; /* the last is the output */
	size_t		parameters;		/* length of a padded vector */
	size_t		transposed;		/* length of a vector of transposes */
	int			tile_rows;
	WmlcMlpTile first;
	WmlcMlpTile second;
} WmlcMlpEngine;

/* Lay out the network and its two tiles, for tasks of up to max_rows rows. */
extern void wmlc_mlp_engine(WmlcMlpEngine *engine, const WmlcMlp *net, int64_t max_rows,
							WmlcPoll poll, WmlcArena *arena);
extern void wmlc_mlp_pad(const WmlcMlpEngine *engine, const double *theta, double *padded);
extern void wmlc_mlp_unpad(const WmlcMlpEngine *engine, const double *padded, double *theta);
extern WmlcMlpWeights wmlc_mlp_take_weights(const WmlcMlpEngine *engine, WmlcArena *arena);

/* to = base + factor * step, on padded vectors; base may be NULL for 0. */
extern void wmlc_mlp_combine(const WmlcMlpEngine *engine, const double *base, double factor,
							 const double *step, double *to);

/* ---- reading rows ---- */

typedef enum WmlcMlpPart
{
	WMLC_MLP_ALL,
	WMLC_MLP_SUPPORT,
	WMLC_MLP_QUERY
} WmlcMlpPart;

typedef struct WmlcMlpReader
{
	WmlcMlpRows rows;
	WmlcMlpPart part;
	int64_t		support;		/* rows in the support */
	uint64_t	key;			/* of the split */
	int64_t		next;
	int64_t		chosen;			/* support rows among those before next */
} WmlcMlpReader;

/* A reader of all rows; a reader of one part of a random split. */
extern WmlcMlpReader wmlc_mlp_read_all(const WmlcMlpRows *rows);
extern WmlcMlpReader wmlc_mlp_read_part(const WmlcMlpRows *rows, WmlcMlpPart part,
										double support, uint64_t key);

/* How many rows the reader delivers in all. */
extern int64_t wmlc_mlp_reader_rows(const WmlcMlpReader *reader);

/* The next tile; false at the end, from where the next call starts again. */
extern bool wmlc_mlp_read_tile(const WmlcMlpEngine *engine, WmlcMlpReader *reader, WmlcMlpTile *tile);

/* ---- passes ---- */

extern void wmlc_mlp_transpose(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights);

/* h[1..depth] from h[0]. */
extern void wmlc_mlp_hidden(const WmlcMlpEngine *engine, const double *w, WmlcMlpTile *tile);

/* All of h; delta becomes the residuals; returns the sum of their squares. */
extern double wmlc_mlp_forward(const WmlcMlpEngine *engine, const double *w, WmlcMlpTile *tile);

/*
 * After forward: multiply delta by `scale`, find d and add the gradient of
 * scale/2 * (sum of squared residuals) to `gradient`, unless that is NULL.
 */
extern void wmlc_mlp_backward(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights,
							  WmlcMlpTile *tile, double scale, double *gradient);

/*
 * After backward: add the Hessian of the same function times `direction` to
 * `product`.  The tangents overwrite those of another tile.
 */
extern void wmlc_mlp_hessian_product(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights,
									 const WmlcMlpWeights *direction, const WmlcMlpTile *tile,
									 double scale, WmlcMlpTile *tangent, double *product);

/*
 * Over all rows of a reader: add the gradient of scale/2 * (sum of squared
 * residuals) to `gradient`, and report that sum.
 */
extern WmlcStatus wmlc_mlp_gradient(const WmlcMlpEngine *engine, const WmlcMlpWeights *weights,
									WmlcMlpReader *reader, WmlcMlpTile *tile,
									double scale, double *gradient, double *sum_of_squares);

/* Over all rows of a reader: the sum of squared residuals alone. */
extern WmlcStatus wmlc_mlp_residuals(const WmlcMlpEngine *engine, const double *w,
									 WmlcMlpReader *reader, WmlcMlpTile *tile,
									 double *sum_of_squares);

/* ---- one task's part of the meta-gradient ---- */

typedef struct WmlcMlpMeta
{
	WmlcMlpEngine engine;
	const WmlcMlpOptions *options;
	WmlcMlpWeights theta;		/* the parameters, transposed by the caller */
	double	   *path;			/* those after each inner step */
	double	   *path_transposed;	/* transposes of one of them */
	double	   *inner_gradient;
	double	   *task_gradient;
	WmlcMlpWeights direction;
} WmlcMlpMeta;

extern void wmlc_mlp_meta(WmlcMlpMeta *meta, const WmlcMlp *net, const WmlcMlpOptions *options,
						  int64_t max_rows, WmlcPoll poll, WmlcArena *arena);

/*
 * Add weight times the gradient of the task's objective to `total`.  The mean
 * squared error is the one the objective is about, in the network's units; the
 * key fixes the split of the rows.
 */
extern WmlcStatus wmlc_mlp_task_gradient(WmlcMlpMeta *meta, const WmlcMlpRows *task, uint64_t key,
										 double weight, double *total, double *mse);

/* ---- weights of a batch ---- */

/*
 * A row is embedded as zz', z = (h_depth, 1, y), and a task as the mean of
 * that; symmetric matrices are packed into p (p + 1) / 2 numbers with
 * off-diagonals times sqrt(2), so that distances are Euclidean.
 */
typedef struct WmlcMlpEmbedding
{
	WmlcMlpMeta *meta;
	WmlcWeighting weighting;	/* that of the points: for the bound, a mixture */
	int			p;				/* entries of z */
	int			stride;			/* of matrices with p columns */
	size_t		dims;			/* of a packed matrix */
	size_t		batch;			/* tasks at most */
	double	   *z;				/* rows of a tile */
	double	   *white_z;		/* the same after whitening */
	size_t		kept_tasks;		/* whitening needs rows twice: of so many tasks, */
	double	   *kept;			/* a tile each stays here */
	double	   *moment;			/* p rows: a task's mean of zz', lower triangle */
	double	   *factor;			/* p rows: whitening, L with LL' the pooled moment */
	double	   *basis;			/* p rows: its inverse transposed, white_z = z basis */
	double	   *target;			/* the target's moment, packed */
	double	   *points;			/* the tasks' differences from it, packed */
	double	   *mixture;		/* sum_j alpha_j points_j */
	double		variance;		/* of the target's embedding; NaN for a single row */
	double		distance;		/* |mixture| */
	double	   *omega;			/* for the bound: (w, c, -1), */
	double	   *omega_square;	/* and its outer product, packed */
	double	   *sizes;			/* rows of the tasks */
	void	   *solver;			/* workspace for weighing */
} WmlcMlpEmbedding;

extern void wmlc_mlp_embedding(WmlcMlpEmbedding *embedding, WmlcMlpMeta *meta, size_t batch,
							   WmlcArena *arena);

/*
 * The weights of `count` tasks for the target under meta->theta.  Sets
 * `distance` and `mixture`, whatever the weighting; `distance` is NaN where it is
 * neither wanted nor needed.
 */
extern WmlcStatus wmlc_mlp_weigh(WmlcMlpEmbedding *embedding, const WmlcMlpRows *tasks, size_t count,
								 const WmlcMlpRows *target, bool distance_wanted, double *alpha);

/* The weights of the points; wmlc_mlp_mix sets mixture and distance. */
extern WmlcStatus wmlc_mlp_weigh_points(WmlcMlpEmbedding *embedding, size_t count, double *alpha);
extern void wmlc_mlp_mix(WmlcMlpEmbedding *embedding, size_t count, const double *alpha);

/* The bound's weights; moves the points. */
extern WmlcStatus wmlc_mlp_bound_weights(WmlcMlpEmbedding *embedding, size_t count, double *alpha);

#endif							/* WMLC_MLP_INTERNAL_H */
