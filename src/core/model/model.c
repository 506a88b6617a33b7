/*
 * model.c
 *	  The table of models that are fitted to weighted grams; see model.h.
 */
#include "core/model/model.h"

#include "core/model/hinge.h"

#define STEPPING (WMLC_OPTION_ETA | WMLC_OPTION_SHARE | WMLC_OPTION_STEPS)
#define SQUARED (WMLC_OPTION_RIDGE | WMLC_OPTION_SCALE)

/* How tasks add up: as quadratic objectives, or as mean vectors. */
typedef struct Family
{
	size_t		(*doubles) (int kind, int d);
	size_t		(*workspace) (int kind, int d);
	const char *(*invalid) (int kind, int d, const double *sum);
	WmlcStatus	(*add) (int kind, const WmlcModelOptions *options, const WmlcGram *gram,
						double alpha, double *sum, void *work, WmlcPoll poll);
	WmlcStatus	(*merge) (int kind, int d, double *sum, const double *other, void *work,
						  WmlcPoll poll);
	WmlcStatus	(*fit) (int kind, const WmlcModelOptions *options, int d, const double *sum,
						double *w, void *work, WmlcPoll poll);
} Family;

static WmlcObjectiveSum
attached(int kind, int d, const double *sum)
{
	WmlcObjectiveSum result;

	wmlc_objective_attach(&result, kind, d, (double *) sum);
	return result;
}

static size_t
objective_doubles(int kind, int d)
{
	return wmlc_objective_doubles(kind, d);
}

static size_t
objective_workspace(int kind, int d)
{
	return wmlc_objective_workspace(kind, d);
}

static const char *
objective_invalid(int kind, int d, const double *sum)
{
	WmlcObjectiveSum parts = attached(kind, d, sum);

	return wmlc_objective_invalid(&parts);
}

static WmlcStatus
objective_add(int kind, const WmlcModelOptions *options, const WmlcGram *gram, double alpha,
			  double *sum, void *work, WmlcPoll poll)
{
	WmlcObjectiveSum parts = attached(kind, gram->dims, sum);
	WmlcObjective objective = {
		.kind = kind,
		.scale = options->scale,
		.eta = options->eta,
		.share = options->share,
		.steps = options->steps
	};

	return wmlc_objective_add(&parts, &objective, gram, alpha, work, poll);
}

static WmlcStatus
objective_merge(int kind, int d, double *sum, const double *other, void *work, WmlcPoll poll)
{
	WmlcObjectiveSum parts = attached(kind, d, sum);
	WmlcObjectiveSum other_parts = attached(kind, d, other);

	return wmlc_objective_merge(&parts, &other_parts, 1.0, work, poll);
}

static WmlcStatus
objective_fit(int kind, const WmlcModelOptions *options, int d, const double *sum, double *w,
			  void *work, WmlcPoll poll)
{
	WmlcObjectiveSum parts = attached(kind, d, sum);
	int			rank;

	return wmlc_objective_fit(&parts, options->ridge, w, &rank, work, poll);
}

static const Family quadratic = {
	objective_doubles, objective_workspace, objective_invalid,
	objective_add, objective_merge, objective_fit
};

static size_t
hinge_doubles(int kind, int d)
{
	(void) kind;
	return wmlc_hinge_doubles(d);
}

static size_t
hinge_workspace(int kind, int d)
{
	(void) kind;
	(void) d;
	return 1;
}

static const char *
hinge_invalid(int kind, int d, const double *sum)
{
	(void) kind;
	(void) d;
	return sum[0] < 0.0 ? "its sum of weights is negative" : NULL;
}

static WmlcStatus
hinge_add(int kind, const WmlcModelOptions *options, const WmlcGram *gram, double alpha,
		  double *sum, void *work, WmlcPoll poll)
{
	(void) kind;
	(void) options;
	(void) work;
	(void) poll;
	wmlc_hinge_add(sum, gram, alpha);
	return WMLC_OK;
}

static WmlcStatus
hinge_merge(int kind, int d, double *sum, const double *other, void *work, WmlcPoll poll)
{
	(void) poll;
	(void) kind;
	(void) work;
	wmlc_hinge_merge(sum, other, d);
	return WMLC_OK;
}

/* A share of the way to the edge is joint training on a smaller ball. */
static WmlcStatus
hinge_fit(int kind, const WmlcModelOptions *options, int d, const double *sum, double *w,
		  void *work, WmlcPoll poll)
{
	(void) work;
	(void) poll;
	if (kind == WMLC_MODEL_HINGE)
		wmlc_hinge_erm(sum, d, options->radius, w);
	else if (options->share > 0.0)
		wmlc_hinge_erm(sum, d, fmin(options->share * options->steps, 1.0) * options->radius, w);
	else
		wmlc_hinge_maml(sum, d, options->eta * options->steps, options->radius, w);
	return WMLC_OK;
}

static const Family linear = {
	hinge_doubles, hinge_workspace, hinge_invalid, hinge_add, hinge_merge, hinge_fit
};

static const struct
{
	const Family *family;
	unsigned	knows;
}			models[] = {
	[WMLC_ERM] = {&quadratic, SQUARED},
	[WMLC_MAML] = {&quadratic, STEPPING | SQUARED},
	[WMLC_FOMAML] = {&quadratic, STEPPING | SQUARED},
	[WMLC_REPTILE] = {&quadratic, STEPPING | SQUARED},
	[WMLC_MODEL_HINGE] = {&linear, WMLC_OPTION_RADIUS},
	[WMLC_MODEL_HINGE_MAML] = {&linear, STEPPING | WMLC_OPTION_RADIUS}
};

/* What they are called beside the objectives. */
static const char *const hinge_words[] = {
	[WMLC_MODEL_HINGE - WMLC_MODEL_HINGE] = "hinge",
	[WMLC_MODEL_HINGE_MAML - WMLC_MODEL_HINGE] = "hinge_maml"
};

const WmlcWords wmlc_model_words = WMLC_MORE_WORDS(&wmlc_objective_words, hinge_words);

const WmlcModelOptions wmlc_default_options = {
	.share = WMLC_DEFAULT_SHARE,
	.steps = 1,
	.radius = 1.0,
	.scale = WMLC_SCALE_MEAN
};

unsigned
wmlc_model_knows(int kind)
{
	return models[kind].knows;
}

bool
wmlc_model_is_hinge(int kind)
{
	return models[kind].family == &linear;
}

size_t
wmlc_model_doubles(int kind, int d)
{
	return models[kind].family->doubles(kind, d);
}

size_t
wmlc_model_workspace(int kind, int d)
{
	return models[kind].family->workspace(kind, d);
}

const char *
wmlc_model_invalid(int kind, int d, const double *sum)
{
	return models[kind].family->invalid(kind, d, sum);
}

/* Multiplied by zero, what is finite leaves no trace. */
bool
wmlc_model_is_finite(int kind, int d, const double *sum)
{
	size_t		count = wmlc_model_doubles(kind, d);
	double		trace[4] = {0.0};
	size_t		i = 0;

	for (; i + 4 <= count; i += 4)
	{
		for (int k = 0; k < 4; k++)
			trace[k] += sum[i + k] * 0.0;
	}
	for (; i < count; i++)
		trace[0] += sum[i] * 0.0;
	return trace[0] + trace[1] + trace[2] + trace[3] == 0.0;
}

WmlcStatus
wmlc_model_add(int kind, const WmlcModelOptions *options, const WmlcGram *gram, double alpha,
			   double *sum, void *work, WmlcPoll poll)
{
	return models[kind].family->add(kind, options, gram, alpha, sum, work, poll);
}

WmlcStatus
wmlc_model_merge(int kind, int d, double *sum, const double *other, void *work, WmlcPoll poll)
{
	return models[kind].family->merge(kind, d, sum, other, work, poll);
}

WmlcStatus
wmlc_model_fit(int kind, const WmlcModelOptions *options, int d, const double *sum, double *w,
			   void *work, WmlcPoll poll)
{
	WmlcStatus	status = models[kind].family->fit(kind, options, d, sum, w, work, poll);

	for (int i = 0; i < d && status == WMLC_OK; i++)
	{
		if (!isfinite(w[i]))
			status = WMLC_NOT_FINITE;
	}
	return status;
}
