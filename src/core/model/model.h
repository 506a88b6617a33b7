/*
 * model.h
 *	  The models that are fitted to weighted grams, as one table: what each is
 *	  called, which options it knows, and how tasks add up to it.
 *
 * What the tasks so far add up to is an array of doubles that the caller owns,
 * copies and stores as it likes; all zeros is the empty sum.  To add a model, add
 * a row to the table in model.c.
 */
#ifndef WMLC_MODEL_H
#define WMLC_MODEL_H

#include "core/base/status.h"
#include "core/base/words.h"
#include "core/gram/gram.h"
#include "core/model/objective.h"

/* The objectives of objective.h come first, with the same numbers. */
typedef enum WmlcModelKind
{
	WMLC_MODEL_HINGE = WMLC_REPTILE + 1,
	WMLC_MODEL_HINGE_MAML
} WmlcModelKind;

#define WMLC_MODELS (WMLC_MODEL_HINGE_MAML + 1)

extern const WmlcWords wmlc_model_words;

/* Options, as bits. */
typedef enum WmlcModelOption
{
	WMLC_OPTION_ETA = 1,
	WMLC_OPTION_SHARE = 2,
	WMLC_OPTION_STEPS = 4,
	WMLC_OPTION_RIDGE = 8,
	WMLC_OPTION_SCALE = 16,
	WMLC_OPTION_RADIUS = 32
} WmlcModelOption;

#define WMLC_ALL_OPTIONS 63

typedef struct WmlcModelOptions
{
	double		eta;			/* step size, >= 0; unless share is positive */
	double		share;			/* of the largest step that makes sense, or 0 */
	double		ridge;			/* >= 0 */
	double		radius;			/* > 0, of the ball that coefficients lie in */
	int			steps;			/* >= 0 */
	WmlcScale	scale;
} WmlcModelOptions;

/*
 * The step size unless one is given, as a share of the largest that makes sense.
 * For squared error that is the largest stable one on the task, 2 / the largest
 * eigenvalue of its second moments: whatever the units, the error shrinks by a
 * tenth per step where it shrinks fastest.  Hinge loss is linear on the ball, where
 * every step is stable; there it is the one that leads from zero to the edge.
 */
#define WMLC_DEFAULT_SHARE 0.05

extern const WmlcModelOptions wmlc_default_options;

/* The options that a model knows. */
extern unsigned wmlc_model_knows(int kind);

/* Does the model rely on a hinge loss that is linear on all rows? */
extern bool wmlc_model_is_hinge(int kind);

/* Doubles in the sum, and bytes of workspace for all of the below. */
extern size_t wmlc_model_doubles(int kind, int d);
extern size_t wmlc_model_workspace(int kind, int d);

/*
 * Why an array cannot be the sum of any tasks, or NULL: nothing in it is trusted.
 * Numbers that are not finite are left to wmlc_model_is_finite, since sums of
 * honest tasks may overflow.
 */
extern const char *wmlc_model_invalid(int kind, int d, const double *sum);
extern bool wmlc_model_is_finite(int kind, int d, const double *sum);

/* The sum of the weights. */
static inline double
wmlc_model_alpha(const double *sum)
{
	return sum[0];
}

/* Add alpha times a task; alpha is finite and not negative. */
extern WmlcStatus wmlc_model_add(int kind, const WmlcModelOptions *options, const WmlcGram *gram,
								 double alpha, double *sum, void *work, WmlcPoll poll);

/* sum += other, of the same kind and dimension */
extern WmlcStatus wmlc_model_merge(int kind, int d, double *sum, const double *other, void *work,
								   WmlcPoll poll);

/* The coefficients; the sum of the weights is positive. */
extern WmlcStatus wmlc_model_fit(int kind, const WmlcModelOptions *options, int d,
								 const double *sum, double *w, void *work, WmlcPoll poll);

#endif							/* WMLC_MODEL_H */
