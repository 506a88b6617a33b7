/*
 * objective.h
 *	  The alpha-weighted meta-objectives as least-squares problems made from
 *	  grams alone.
 *
 * For task j let A = sum psi psi' / W, b = sum psi y / W (scale `sum`: without
 * the division) and T = I - eta A.  The stationary point of each objective
 * solves sum_j alpha_j P(T_j) (A_j w - b_j) = 0 with
 *
 *	  joint training	P = 1
 *	  MAML				P = T^2k
 *	  first-order MAML	P = T^k
 *	  Reptile			P = 1 + T + ... + T^(k-1)
 *
 * where MAML descends k steps of size eta from w on the task and minimises the
 * mean squared error there: after them w is T^k w + eta (1 + ... + T^(k-1)) b,
 * with gradient T^k (A T^k w - T^k b).  (Cai, Sheth, Mackey, Fusi, "Weighted
 * Meta-Learning", 2020, print T b where T^2 b minimises their objective.)
 * Reptile's (I - T^k) / eta is the same sum times A, and needs no division by
 * eta.
 */
#ifndef WMLC_OBJECTIVE_H
#define WMLC_OBJECTIVE_H

#include "core/linalg/equations.h"
#include "core/gram/gram.h"
#include "core/base/status.h"
#include "core/base/words.h"

typedef enum WmlcObjectiveKind
{
	WMLC_ERM,
	WMLC_MAML,
	WMLC_FOMAML,
	WMLC_REPTILE
} WmlcObjectiveKind;

#define WMLC_OBJECTIVES (WMLC_REPTILE + 1)

extern const WmlcWords wmlc_objective_words;

typedef enum WmlcScale
{
	WMLC_SCALE_MEAN,
	WMLC_SCALE_SUM
} WmlcScale;

extern const WmlcWords wmlc_scale_words;

typedef struct WmlcObjective
{
	WmlcObjectiveKind kind;
	WmlcScale	scale;
	double		eta;			/* >= 0 */
	int			steps;			/* k >= 0; Reptile with k = 0 says nothing */

	/*
	 * Where positive, eta is not used: on each task the step is this share of
	 * the largest stable one, 2 / the largest eigenvalue of A.
	 */
	double		share;
} WmlcObjective;

/*
 * What a number of tasks add up to, in an array of doubles that the caller
 * owns, copies and stores as it likes; all zeros is the empty sum.
 *
 * Tasks for which P(T) varies little go into `sums`; those where it spans so
 * many orders of magnitude that a sum would lose digits go into `equations`.
 */
typedef struct WmlcObjectiveSum
{
	int			d;
	WmlcObjectiveKind kind;

	/*
	 * sum_j alpha_j P(T_j) (A_j, b_j), in units of `unit`; the triangle of a p x
	 * p matrix with p = d + 1 as in a gram, so that b is its last column.
	 */
	WmlcDdSpan	sums;
	double	   *unit;			/* hi and lo; 0 while no task is in the sum */
	double	   *alpha;			/* hi and lo of sum_j alpha_j */
	double	   *rows;			/* how many rows the grams have */
	double	   *indefinite;		/* 1 when some P(T) may be negative */
	double	   *has_equations;	/* 1 when `equations` holds any */

	/*
	 * Objectives other than joint training have these, too: equations with
	 * positive and, where that can be, with negative P.
	 */
	int			sets;
	WmlcEquations equations[2];
	double	   *scale;			/* of the equations' columns */
	WmlcDdSpan	plain;			/* sum_j alpha_j (A_j, b_j), in the same units */

	/*
	 * At least what the columns of `plain` keep of their squared lengths when
	 * those before them are taken off.
	 */
	double	   *remainders;
} WmlcObjectiveSum;

/* Doubles in the array of a sum over tasks with d features. */
extern size_t wmlc_objective_doubles(WmlcObjectiveKind kind, int d);

/* Find the parts of a sum in its array. */
extern void wmlc_objective_attach(WmlcObjectiveSum *sum, WmlcObjectiveKind kind, int d,
								  double *array);

/*
 * Why this cannot be the sum of any tasks, or NULL: nothing in the array is
 * trusted, except that its numbers are finite.
 */
extern const char *wmlc_objective_invalid(const WmlcObjectiveSum *sum);

/* Bytes of workspace for each of the functions below, and for the fit alone. */
extern size_t wmlc_objective_workspace(WmlcObjectiveKind kind, int d);
extern size_t wmlc_objective_fit_workspace(WmlcObjectiveKind kind, int d);

/* Doubles in a matrix of d rows, or of d + 1: those of a task, or with a right-hand side. */
static inline size_t
wmlc_objective_matrix_doubles(int d)
{
	return 2 * (size_t) (d + 1) * wmlc_dd_stride(d + 1);
}

/*
 * Add alpha times the objective, of the sum's kind, of one task.  alpha is finite
 * and not negative; at 0 the gram may hold anything.
 *
 * WMLC_NOT_FINITE: the gram holds NaN or infinities or no weight, or eta and k
 * are so large that T^k overflows (which may show only in the fit).  The sum is
 * then spoilt.
 */
extern WmlcStatus wmlc_objective_add(const WmlcObjectiveSum *sum, const WmlcObjective *objective,
									 const WmlcGram *gram, double alpha,
									 void *work, WmlcPoll poll);

/*
 * sum += factor * other, of the same kind and dimension; factor is finite and
 * not negative.  With a sum for each task, made once with alpha = 1, many sets of
 * weights can be tried at little cost.
 */
extern WmlcStatus wmlc_objective_merge(const WmlcObjectiveSum *sum,
									   const WmlcObjectiveSum *other, double factor,
									   void *work, WmlcPoll poll);

/*
 * The coefficients: w with (sum_j alpha_j P_j A_j / sum_j alpha_j + ridge I) w =
 * sum_j alpha_j P_j b_j / sum_j alpha_j, of least norm where that leaves w
 * open.  Multiplying all alpha by a constant changes nothing.  *rank is the rank
 * of the matrix.
 *
 * WMLC_NOT_FINITE: something overflowed.  WMLC_EMPTY: all alpha are 0.
 * WMLC_NOT_POSITIVE: a gram is not one that rows can have.
 */
extern WmlcStatus wmlc_objective_fit(const WmlcObjectiveSum *sum, double ridge, double *w,
									 int *rank, void *work, WmlcPoll poll);

#endif							/* WMLC_OBJECTIVE_H */
